"""A local web server for tests of HTTP clients."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """The server's behaviour for one address.

    Attributes:
        body: content of the file; Range requests are honoured if `ranges` is set.
        status: status of the answer.
        head: status of the answer to HEAD, if different.
        location: target of a redirect.
        delay: seconds before the answer.
        fails: number of 503 answers before the normal one.
        missing: number of bytes missing from the announced length.
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
    """The server, with `replies` by path, and the requests in order in `asked`."""

    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Send the reply."""
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
                    with contextlib.suppress(ConnectionError):  # the client gave up
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
        """Stop the server."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
