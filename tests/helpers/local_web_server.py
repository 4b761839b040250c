"""A small web on this machine for the tests of what asks the web."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What the server does when an address is asked for.

    Attributes:
        body: of the file; a Range is obeyed where `ranges` says so.
        status: with which it answers.
        head: the status of an answer to HEAD, where that differs.
        location: where it sends on.
        delay: seconds before it answers.
        fails: how often it answers 503 before it does as it should.
        missing: how many bytes less than it announces it sends.
    """

    body: bytes = b"<html>hello</html>"
    status: int = 200
    head: int | None = None
    location: str = ""
    delay: float = 0.0
    fails: int = 0
    missing: int = 0
    ranges: bool = True


@dataclass
class Web:
    """The server; `replies` by path, `asked` what was asked for in order."""

    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Answer."""
                web.asked.append(f"{self.command} {self.path}")
                reply = web.replies.get(self.path, Reply(b"", 404))
                time.sleep(reply.delay)
                status, body = reply.status, reply.body
                if reply.fails:
                    reply.fails -= 1
                    status, body = 503, b""
                elif self.command == "HEAD" and reply.head:
                    status, body = reply.head, b""
                whole, asked = len(body), self.headers.get("Range", "")
                if status == 200 and reply.ranges and asked and self.command == "GET":
                    status, body = 206, body[: int(asked.rpartition("-")[2]) + 1]
                self.send_response(status)
                if status == 206:
                    self.send_header("Content-Range", f"bytes 0-{len(body) - 1}/{whole}")
                if reply.location:
                    self.send_header("Location", reply.location)
                self.send_header("Content-Length", str(len(body) + reply.missing))
                self.end_headers()
                if self.command == "GET":
                    with contextlib.suppress(ConnectionError):  # one that has waited long enough
                        self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.port = self._http.server_port
        self.address = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
