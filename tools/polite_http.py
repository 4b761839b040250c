"""Polite HTTP availability checks: few requests, with pauses and retries."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

AGENT = "course-link-check/1 (weekly; one request an address)"
OK, MOVED, REFUSED, BROKEN = "ok", "moved", "refused", "broken"
_NO_HEAD = (400, 403, 404, 405, 406, 429, 500, 501, 503)  # statuses of servers without HEAD
_REFUSES = (401, 403, 407, 418, 429, 451, 999)  # available, but not to programs
_LATER = (408, 429, 500, 502, 503, 504)
_PERMANENT = (301, 308)
FIRST_BYTES = 512


@dataclass(frozen=True)
class Answer:
    """The result of a request.

    Attributes:
        address: the requested address.
        verdict: "ok", "moved" (permanently, to another host), "refused" or "broken".
        says: the reason, in a few words.
        size: size of the whole file in bytes, or None if the server does not send it.
        kind: the content type that the server sends.
        start: the first bytes, if they were requested.
    """

    address: str
    verdict: str
    says: str
    size: int | None = None
    kind: str = ""
    start: bytes = b""


@dataclass
class Visitor:
    """Sends requests one after the other.

    Attributes:
        timeout: seconds to wait for an answer.
        tries: maximum number of tries if there is no answer or a temporary error.
        pause: seconds before the second try, doubled for each further one.
        between: minimum seconds between two requests to the same host.
    """

    timeout: float = 20.0
    tries: int = 3
    pause: float = 5.0
    between: float = 1.0

    def __post_init__(self) -> None:
        self._session = requests.Session()
        self._session.headers["User-Agent"] = AGENT
        self._last: dict[str, float] = {}

    def look(self, address: str) -> Answer:
        """Check whether a page exists, with HEAD, or with GET if HEAD is not supported."""
        response = self._patiently("HEAD", address, {})
        if isinstance(response, requests.Response) and response.status_code not in _NO_HEAD:
            return self._judge(address, response, b"")
        return self.begin(address)

    def begin(self, address: str) -> Answer:
        """Request the first bytes of a file."""
        response = self._patiently("GET", address, {"Range": f"bytes=0-{FIRST_BYTES - 1}"})
        if not isinstance(response, requests.Response):
            return Answer(address, BROKEN, response)
        with response:
            try:
                start = next(response.iter_content(FIRST_BYTES), b"")
            except requests.RequestException:
                return Answer(address, BROKEN, "connection closed at the beginning")
            return self._judge(address, response, start)

    def _patiently(
        self, method: str, address: str, headers: Mapping[str, str]
    ) -> requests.Response | str:
        """Return the response, or the reason why there is none."""
        says = ""
        for attempt in range(self.tries):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            self._wait_for(urlsplit(address).netloc)
            try:
                response = self._session.request(
                    method,
                    address,
                    headers={"Accept-Encoding": "identity", **headers},
                    timeout=self.timeout,
                    allow_redirects=True,
                    stream=True,
                )
            except requests.Timeout:
                says = f"no answer within {self.timeout:g} s"
            except requests.TooManyRedirects:
                return "redirects in a loop"
            except requests.RequestException as error:
                says = f"could not be reached ({type(error).__name__})"
            else:
                if response.status_code not in _LATER or attempt == self.tries - 1:
                    return response
                response.close()
        return says

    def _wait_for(self, host: str) -> None:
        free = self._last.get(host, float("-inf")) + self.between
        time.sleep(max(0.0, free - time.monotonic()))
        self._last[host] = time.monotonic()

    def _judge(self, address: str, response: requests.Response, start: bytes) -> Answer:
        status = response.status_code
        response.close()
        kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
        if status in _REFUSES:
            return Answer(
                address, REFUSED, f"status {status}: refuses automated requests", None, kind, start
            )
        if status >= 400:
            return Answer(address, BROKEN, f"status {status}", None, kind, start)
        first, last = urlsplit(address).hostname, urlsplit(response.url).hostname
        for_good = all(step.status_code in _PERMANENT for step in response.history)
        if response.history and for_good and first != last:
            return Answer(address, MOVED, f"moved to {response.url}", _size(response), kind, start)
        return Answer(address, OK, f"status {status}", _size(response), kind, start)


def _size(response: requests.Response) -> int | None:
    whole = response.headers.get("Content-Range", "").rpartition("/")[2]
    if not whole and response.status_code == 200:
        whole = response.headers.get("Content-Length", "")
    return int(whole) if whole.isdigit() else None


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    lines: list[list[object]] = [list(heads), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    cells = ([str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
