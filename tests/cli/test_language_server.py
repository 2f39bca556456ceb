"""The language server, spoken to in its protocol as an editor does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import BASE, ROOT
from tests.cli.test_written_files import FLAWED

pytest.importorskip("pygls")
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from clusterspec.__main__ import main; main()"


class Editor:
    """A client on the server's standard input and output."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(ROOT), "lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.number = 0
        self.waiting: list[dict[str, Any]] = []
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
        return uri

    def change(self, uri: str, version: int, text: str) -> None:
        changed = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", changed)

    def close(self) -> int:
        self.ask("shutdown", None)
        self.tell("exit", None)
        status = self.process.wait(timeout=30)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        return status


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    made = Editor(tmp_path)
    yield made
    assert made.close() == 0


def at(uri: str, text: str, mark: str, offset: int = 0) -> dict[str, Any]:
    """The position of a part of a text."""
    before = text[: text.index(mark) + offset]
    line, character = before.count("\n"), len(before.rsplit("\n", 1)[-1].encode("utf-16-le")) // 2
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def test_findings_follow_the_typing(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "spec.yaml", FLAWED)
    (found,) = editor.diagnostics()
    assert (found["code"], found["severity"], found["source"]) == ("duplex-counted-as-one-way", 1, "clusterspec")
    assert found["range"] == {"start": {"line": 6, "character": 15}, "end": {"line": 6, "character": 38}}
    assert "write `900 GB/s duplex`" in found["message"]
    editor.change(uri, 2, BASE)
    assert editor.diagnostics() == []
    editor.change(uri, 3, "clusterspec: 1\na: [\n")
    assert [one["code"] for one in editor.diagnostics()] == ["unreadable-yaml"]


def test_columns_count_utf_16_units(editor: Editor, tmp_path: Path) -> None:
    editor.open(tmp_path / "spec.yaml", 'clusterspec: 1\nlayout: {"🚀🚀": 1, zz: 2}\n')
    ranges = [one["range"]["start"]["character"] for one in editor.diagnostics() if one["code"] == "unknown-key"]
    assert ranges == [9, 20]


def test_a_fix_is_offered_and_mends(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "spec.yaml", FLAWED)
    (found,) = editor.diagnostics()
    asked = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    (action,) = editor.ask("textDocument/codeAction", asked)
    assert (action["kind"], action["isPreferred"]) == ("quickfix", True)
    (edit,) = action["edit"]["changes"][uri]
    assert edit == {"range": found["range"], "newText": "900 GB/s duplex"}


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("900 GB/s uni", "7200 Gb/s"),
        ("dgx-h100", "DGX H100"),
        ("llama-3.1-8b", "Llama 3.1 8B"),
        ("tp: 2", "**layout.tp**"),
        ("900 GB/s uni", "# duplex-counted-as-one-way"),
    ],
)
def test_a_hover_shows_readings_entries_keys_and_pages(mark: str, shown: str, editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "spec.yaml", FLAWED)
    assert shown in editor.ask("textDocument/hover", at(uri, FLAWED, mark, 1))["contents"]["value"]


@pytest.mark.parametrize(
    ("text", "offered", "withheld"),
    [
        (BASE + "  ", "micro_batch", "tp"),
        (BASE + "  schedule: ", "interleaved", "micro_batch"),
        (BASE.replace("dgx-h100", ""), "gb200-nvl72", "nodes"),
        (BASE.replace("nodes: 4", "nodes: 4\n  scale_up:\n    "), "interconnect", "platform"),
        (BASE.replace("nodes: 4", "nodes: 4\n  scale_up: {interconnect: "), "nvlink-4", "platform"),
        ("", "clusterspec", "tp"),
    ],
    ids=range(6),
)
def test_completion_offers_keys_words_and_ids(
    text: str, offered: str, withheld: str, editor: Editor, tmp_path: Path
) -> None:
    uri = editor.open(tmp_path / "spec.yaml", text)
    flawed = {
        "platform: \n": "platform: ",
        "scale_up:\n    \n": "scale_up:\n    ",
        "interconnect: \n": "interconnect: ",
    }
    mark = next((kept for part, kept in flawed.items() if part in text), text)
    found = [item["label"] for item in editor.ask("textDocument/completion", at(uri, text, mark, len(mark)))]
    assert offered in found
    assert withheld not in found


def test_extends_leads_to_the_base(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(FLAWED)
    text = "clusterspec: 1\nextends: base.yaml\n"
    uri = editor.open(tmp_path / "spec.yaml", text)
    (found,) = editor.diagnostics()
    assert found["range"]["start"] == {"line": 1, "character": 9}
    place = editor.ask("textDocument/definition", at(uri, text, "base.yaml", 2))
    assert place["uri"] == (tmp_path / "base.yaml").as_uri()
    outside = text.replace("base.yaml", "/etc/passwd")
    editor.change(uri, 2, outside)
    assert editor.ask("textDocument/definition", at(uri, outside, "/etc", 2)) is None


def test_nothing_that_is_typed_ends_the_server(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "spec.yaml", "clusterspec: 1\n")
    for number in range(0, len(FLAWED), 9):
        text = FLAWED[:number]
        editor.change(uri, number + 2, text)
        end = {"line": text.count("\n"), "character": len(text.rsplit("\n", 1)[-1])}
        for method in ("hover", "completion", "definition"):
            editor.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": end})
