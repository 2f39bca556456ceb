"""The server of ``clusterspec edit``: one page for one file, on the loopback interface, for the holder of a token.

It answers three kinds of requests: the fixed files of the page, which hold nothing of the spec; the requests of
`verbs`; and three verbs of its own, which read, watch and save the one file. Every request of the second and third kind
needs the token, which only the printed address has, behind ``#``, where no browser sends it to a server.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic

from clusterspec import document as documents
from clusterspec import resources
from clusterspec.cli import UsageFault
from clusterspec.cli.editor.verbs import Answer, Request, RequestFault, Session, text_of
from clusterspec.cli.inputs import read_bytes
from clusterspec.cli.output import write_whole

HOST = "127.0.0.1"
LARGEST_BODY = 12 * documents.LARGEST
"""Bytes of a request: two texts, with their characters escaped."""
PATIENCE = 20.0
"""Seconds that a request waits for a change of the file, and that an idle connection is kept open."""
LINE_END = re.compile(r"(\r\n|\r|\n)")
TOKEN_HEADER = "X-Clusterspec-Token"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2"}


def content_security_policy(report_script: str) -> str:
    """The policy of the page: nothing from elsewhere, and only the scripts of the page and of reports.

    A report is shown in a frame without an origin, which inherits this policy and has an additional, stricter one.
    """
    script = base64.b64encode(hashlib.sha256(report_script.encode("utf-8")).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self' 'sha256-{script}'; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; img-src 'self' data:; connect-src 'self'; frame-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def page_files() -> dict[str, tuple[str, bytes]]:
    """The files of the page by path, each with its media type; nothing else is served."""
    folder, fonts = resources.templates() / "editor", resources.templates() / "fonts"
    names = {"/": folder / "index.html", "/page.js": folder / "page.js", "/page.css": folder / "page.css"}
    names |= {f"/fonts/{path.name}": path for path in sorted(fonts.glob("*.woff2"))}
    return {name: (f"{TYPES[path.suffix]}; charset=utf-8", path.read_bytes()) for name, path in names.items()}


class EditedFile:
    """The edited file: reads its text, and saves it unless another program has changed it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self, _: Request) -> Answer:
        """The text on disk with the page's line ends, and its hash, by which the page detects a change."""
        data = self._bytes_on_disk()
        text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        return {"status": 0, "text": text, "state": hashlib.sha256(data).hexdigest()}

    def _bytes_on_disk(self) -> bytes:
        """The bytes on disk. Raises `UsageFault` for a file that the page could not write back."""
        if Path(self.path).exists() and not Path(self.path).is_file():
            raise UsageFault(f"{self.path} is not a regular file; the page can edit only those")
        data = read_bytes(self.path)
        if len(data) > documents.LARGEST:
            raise UsageFault(f"{self.path}: more than {documents.LARGEST >> 20} MiB")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as fault:
            line = data.count(b"\n", 0, fault.start) + 1
            raise UsageFault(f"{self.path}:{line}: not UTF-8; convert the file, for example with iconv") from None
        return data

    def watch(self, request: Request) -> Answer:
        """The text on disk, as soon as it differs from the page's text and at the latest after `PATIENCE` seconds."""
        seen, until = text_of(request, "state"), monotonic() + PATIENCE
        while True:
            found = self.read(request)
            if found["state"] != seen or monotonic() > until:
                return found if found["state"] != seen else {"status": 0, "state": seen}
            threading.Event().wait(0.5)

    def save(self, request: Request) -> Answer:
        """Writes the text of the editor, with the line ends of the file, unless that has changed since it was read.

        A file that was removed is written again.
        """
        text, seen, old = text_of(request), text_of(request, "state"), ""
        if os.path.lexists(self.path):
            now = self.read(request)
            if now["state"] != seen:
                return now | {"status": 1, "err": f"{self.path} has changed on disk; nothing was written\n"}
            old = self._bytes_on_disk().decode("utf-8")
        data = with_line_ends(text, old).encode("utf-8")
        if len(data) > documents.LARGEST:
            raise UsageFault(f"more than {documents.LARGEST >> 20} MiB; nothing was written")
        write_whole(Path(self.path), data)
        return self.read(request) | {"text": None}


def with_line_ends(text: str, old: str) -> str:
    """A text of the page with the line ends of the file.

    Unchanged lines before and after the change keep their line ends; lines in between get the line end of the line
    above.
    """
    parts, lines = LINE_END.split(old), text.split("\n")
    was = list(zip(parts[:-1:2], parts[1::2], strict=True))
    if len({end for _, end in was}) < 2:
        return text.replace("\n", was[0][1] if was else "\n")
    kept = _equal_prefix_length(was, lines[:-1])
    last = _equal_prefix_length(was[kept:][::-1], lines[kept:-1][::-1])
    ends = [end for _, end in was]
    between = [ends[max(kept - 1, 0)]] * (len(lines) - 1 - kept - last)
    all_ends = [*ends[:kept], *between, *ends[len(ends) - last :]]
    return "".join(line + end for line, end in zip(lines, [*all_ends, ""], strict=True))


def _equal_prefix_length(was: Sequence[tuple[str, str]], lines: Sequence[str]) -> int:
    """The number of lines at the start that are equal."""
    pairs = enumerate(zip(was, lines, strict=False))
    return next((at for at, ((one, _), two) in pairs if one != two), min(len(was), len(lines)))


class Server(ThreadingHTTPServer):
    """The server: one address, one token, one file. The engine answers one request at a time."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, session: Session, path: str, port: int = 0) -> None:
        super().__init__((HOST, port), Handler)
        self.token = secrets.token_urlsafe(24)
        self.files = page_files()
        self.policy = content_security_policy((resources.templates() / "report.js").read_text("utf-8"))
        self.file = EditedFile(path)
        self.session = session
        session.more = {"read": self.file.read, "save": self.file.save}
        session.progress = self._report_progress
        self.engine = threading.Lock()
        self.done = (0, 0)
        self.cancelled = threading.Event()

    def handle_error(self, *_: object) -> None:
        """Write nothing: a closed connection is no error, and the page shows the errors of the engine."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """The address of the page with the token."""
        return f"http://{HOST}:{self.port}/#token={self.token}"

    def answer(self, request: Request) -> Answer:
        """The answer to a request. Requests that only wait or report progress do not wait for the engine."""
        verb = request.get("verb")
        if verb == "watch":
            return self.file.watch(request)
        if verb == "progress":
            return {"status": 0, "done": self.done[0], "total": self.done[1]}
        if verb == "cancel":
            self.cancelled.set()
            return {"status": 0}
        with self.engine:
            self.cancelled.clear()
            self.done = (0, 0)
            return self.session.answer(request)

    def _report_progress(self, done: int, total: int) -> bool:
        self.done = done, total
        return self.cancelled.is_set()


class Handler(BaseHTTPRequestHandler):
    """One connection. Unexpected requests are refused without a reason."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "clusterspec", ""
    timeout = PATIENCE + 10

    def do_GET(self) -> None:
        found = self.server.files.get(self.path)
        if not self._is_own_host() or found is None:
            self._send(404, "text/plain; charset=utf-8", b"")
        else:
            self._send(200, *found)

    def do_POST(self) -> None:
        body = self._request_body()
        if body is None or not self._is_own_host() or not self._is_own_page() or self.path != "/answer":
            self.close_connection = True
            self._send(403, "text/plain; charset=utf-8", b"")
            return
        try:
            request = json.loads(body)
            if not isinstance(request, dict):
                raise RequestFault("a request is a mapping")
            answer = self.server.answer(request)
        except (ValueError, RecursionError, RequestFault, UsageFault) as fault:
            answer = {"status": 2, "out": "", "err": f"clusterspec: {fault}\n"}
        self._send(200, "application/json", json.dumps(answer).encode("utf-8"))

    def _request_body(self) -> bytes | None:
        """The body of a request; None if its length is not stated or is too large."""
        stated = self.headers.get("Content-Length", "")
        if not (stated.isascii() and stated.isdigit() and len(stated) < 10) or int(stated) > LARGEST_BODY:
            return None
        return self.rfile.read(int(stated))

    def _is_own_host(self) -> bool:
        """Whether the request was addressed to this server's own address, not to a foreign name that resolves to it."""
        return self.headers.get_all("Host", []) in ([f"{HOST}:{self.server.port}"], [f"localhost:{self.server.port}"])

    def _is_own_page(self) -> bool:
        """Whether a request has the token, and comes from this page if the browser states its origin."""
        origin = self.headers.get("Origin")
        if origin not in (None, f"http://{self.headers.get('Host')}"):
            return False
        given = self.headers.get(TOKEN_HEADER, "")
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.server.token.encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", self.server.policy),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing: the terminal shows only the address of the page."""
