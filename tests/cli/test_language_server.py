"""The language server, spoken to in its protocol as an editor does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import BASE
from tests.cli.test_written_files import FLAWED
from tests.effort import sampled
from tools.benchmark.editor import Editor

pytest.importorskip("pygls")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    made = Editor(tmp_path_factory.mktemp("workspace"))
    yield made
    assert made.close() == 0


@pytest.fixture
def editor(server: Editor, tmp_path: Path) -> Iterator[Editor]:
    """The one server of these tests, each of which has a folder of its own; what one leaves is not read by the next."""
    yield server
    (tmp_path / "last.md").touch()
    server.forget()
    place = {"line": 0, "character": 0}
    server.ask("textDocument/hover", {"textDocument": {"uri": (tmp_path / "last.md").as_uri()}, "position": place})
    server.waiting.clear()
    server.shown.clear()


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


def test_markdown_is_checked_while_it_is_written(editor: Editor, tmp_path: Path) -> None:
    wrong = "# Plan\n\nEach H100 has 900 GB/s of NVLink bandwidth per direction.\n"
    uri = editor.open(tmp_path / "plan.md", wrong)
    (found,) = editor.diagnostics()
    assert (found["code"], found["range"]["start"]["line"]) == ("duplex-counted-as-one-way", 2)
    editor.change(uri, 2, wrong.replace("900", "450"))
    assert editor.diagnostics() == []


def test_columns_count_utf_16_units(editor: Editor, tmp_path: Path) -> None:
    editor.open(tmp_path / "spec.yaml", 'clusterspec: 1\nlayout: {"🚀🚀": 1, zz: 2}\n')
    ranges = [one["range"]["start"]["character"] for one in editor.diagnostics() if one["code"] == "unknown-key"]
    assert ranges == [9, 20]


def test_a_code_action_fixes_its_finding(editor: Editor, tmp_path: Path) -> None:
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
        (BASE + "measured:\n  - ", "busbw", "tp"),
        (BASE + "measured:\n  - collective: ", "all-reduce", "busbw"),
        (BASE + "# clusterspec: ignore[few", "few-spines", "cluster"),
    ],
    ids=range(9),
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
    related = found["relatedInformation"][0]
    assert related["message"] == "in the base" and related["location"]["uri"] == (tmp_path / "base.yaml").as_uri()
    place = editor.ask("textDocument/definition", at(uri, text, "base.yaml", 2))
    assert place["uri"] == (tmp_path / "base.yaml").as_uri()
    outside = text.replace("base.yaml", "/etc/passwd")
    editor.change(uri, 2, outside)
    assert editor.ask("textDocument/definition", at(uri, outside, "/etc", 2)) is None


def test_a_spec_with_the_key_of_its_base_alone_is_a_spec(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(FLAWED)
    editor.open(tmp_path / "derived.yaml", "extends: base.yaml\n")
    assert [one["code"] for one in editor.diagnostics()] == ["duplex-counted-as-one-way"]


def test_no_input_terminates_the_server(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "spec.yaml", "clusterspec: 1\n")
    for number in range(0, len(FLAWED), 9):
        text = FLAWED[:number]
        editor.change(uri, number + 2, text)
        end = {"line": text.count("\n"), "character": len(text.rsplit("\n", 1)[-1])}
        for method in ("hover", "completion", "definition"):
            editor.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, "position": end})


def test_a_text_of_another_program_gets_no_answer(editor: Editor, tmp_path: Path) -> None:
    text = "services:\n  web: {image: clusterspec}\nname: dgx-h100\n\n"
    uri = editor.open(tmp_path / "compose.yaml", text)
    assert editor.diagnostics() == []
    end = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 0}}
    assert editor.ask("textDocument/completion", end) == []
    assert editor.ask("textDocument/hover", at(uri, text, "name", 1)) is None


def test_the_configuration_counts_with_its_overrides_and_is_read_anew(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "clusterspec.toml").write_text('[[overrides]]\npaths = ["old/"]\nignore = ["units"]\n')
    (tmp_path / "old").mkdir()
    uri = editor.open(tmp_path / "old" / "spec.yaml", FLAWED)
    assert editor.diagnostics() == []
    (tmp_path / "clusterspec.toml").write_text("")
    editor.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
    assert [one["code"] for one in editor.diagnostics()] == ["duplex-counted-as-one-way"]


def test_a_refused_configuration_is_a_message_and_findings_go_on(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "clusterspec.toml").write_text('ignore = ["layot"]\n')
    editor.open(tmp_path / "spec.yaml", FLAWED)
    assert [one["code"] for one in editor.diagnostics()] == ["duplex-counted-as-one-way"]
    (said,) = editor.shown
    assert "did you mean layout?" in said


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("clusterspec: 1\nname: \ud83d\n", (1, 6)),
        ("clusterspec: 1\nname: a\udc12\n", (1, 7)),
        ("\ud83d: 1\nclusterspec: 1\n", (0, 0)),
        ("clusterspec: 1\rname: a\r", (0, 14)),
        ("# a\rclusterspec: 1\n", (0, 3)),
        ("clusterspec: 1\nname: a\rb\n", (1, 7)),
        ("clusterspec: 1\r\nname: a\r\nnotes: \0\r\n", (2, 7)),
        ("\ufeffclusterspec: 1\nname: \u2028\n", (1, 6)),
    ],
)
def test_a_character_that_yaml_refuses_is_shown_where_it_is(
    text: str, place: tuple[int, int], editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "spec.yaml", text)
    (found,) = editor.diagnostics()
    start = found["range"]["start"]
    assert (found["code"], (start["line"], start["character"])) == ("unreadable-yaml", place)


@pytest.mark.parametrize(("before", "line"), [("\ud83d\n\n", 2), ("a\r", 1), ("\r\n\r", 2), ("a\rb\n\r\n", 3)])
def test_any_line_end_and_surrogate_counts_in_markdown(before: str, line: int, editor: Editor, tmp_path: Path) -> None:
    editor.open(tmp_path / "plan.md", before + "NVLink 4 at 900 GB/s unidirectional.")
    (found,) = editor.diagnostics()
    assert (found["code"], found["range"]["start"]) == (
        "duplex-counted-as-one-way",
        {"line": line, "character": 12},
    )


@pytest.mark.parametrize(
    "stated",
    sampled([b"99999999999999", b"9" * 5000, b"1000000000", b"-1", b"x", b"", b"0"], 4),
    ids=lambda stated: stated[:12],
)
def test_a_wrong_length_costs_its_message_alone(stated: bytes, editor: Editor, tmp_path: Path) -> None:
    assert editor.process.stdin is not None
    editor.process.stdin.write(b"Content-Length: %s\r\n\r\n" % stated + b'{"jsonrpc": "2.0", "method": "lost"}')
    editor.open(tmp_path / "spec.yaml", FLAWED)
    assert [one["code"] for one in editor.diagnostics()] == ["duplex-counted-as-one-way"]
