"""Keystroke latency of the language server, driven through its protocol like by an editor."""

from __future__ import annotations

import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tools.benchmark.specs import LINES, ROOT, long_spec

START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from clusterspec.__main__ import main; main()"
TYPED = "  recompute: selective   # to save memory"
"""A line of the layout that is typed, a character at a time."""
LIMIT = 50.0
"""Milliseconds to reach for a keystroke."""


class Editor:
    """A client on the server's standard input and output."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(ROOT), "lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0
        self.waiting: list[dict[str, Any]] = []
        self.shown: list[str] = []
        self.opened: list[str] = []
        self.ask("initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if message.get("method") == "window/showMessage":
            self.shown.append(message["params"]["message"])
        return message

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message.get("result")
            self.waiting.append(message)

    def tell(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def diagnostics(self) -> list[dict[str, Any]]:
        """The next findings that the server publishes."""
        while True:
            message = self.waiting.pop(0) if self.waiting else self._receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                found: list[dict[str, Any]] = message["params"]["diagnostics"]
                return found

    def open(self, path: Path, text: str) -> str:
        uri = path.as_uri()
        item = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})
        self.opened.append(uri)
        return uri

    def change(self, uri: str, version: int, text: str) -> None:
        changed = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", changed)

    def forget(self) -> None:
        """Close every open text."""
        while self.opened:
            self.tell("textDocument/didClose", {"textDocument": {"uri": self.opened.pop()}})

    def close(self) -> int:
        self.ask("shutdown", None)
        self.tell("exit", None)
        status = self.process.wait(timeout=30)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        return status


def keystrokes() -> None:
    """Processor milliseconds that the server takes for a keystroke in a spec of 500 lines."""
    if importlib.util.find_spec("pygls") is None:
        return
    quiet, _ = typing_seconds(0)
    seconds, waited = typing_seconds(len(TYPED))
    each = (seconds - quiet) / len(TYPED) * 1e3
    missed = "" if each <= LIMIT else "  missed"
    print(f"{f'a keystroke, {LINES} lines':28} {each:6.0f} ms (to reach: {LIMIT:.0f}){missed}")
    print(f"{'  until its findings are sent':28} {statistics.median(waited) * 1e3:6.0f} ms")


def typing_seconds(characters: int) -> tuple[float, list[float]]:
    """Processor seconds of a server while a line is typed, and how long each character waited for its findings."""
    text, before = long_spec(), resource.getrusage(resource.RUSAGE_CHILDREN)
    head, tail = text.split("  micro_batch: 1\n")
    waited = []
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(Path(folder))
        uri = editor.open(Path(folder) / "spec.yaml", text)
        editor.diagnostics()
        for count in range(1, characters + 1):
            start = time.perf_counter()
            editor.change(uri, count + 1, f"{head}  micro_batch: 1\n{TYPED[:count]}\n{tail}")
            editor.diagnostics()
            waited.append(time.perf_counter() - start)
        editor.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, waited
