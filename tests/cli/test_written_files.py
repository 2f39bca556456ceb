"""What is written: whole, in its place, and nothing else changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from clusterspec import resources
from clusterspec.cli import UsageFault
from clusterspec.cli.output import write_whole
from tests.cli.conftest import BASE, ROOT, Call
from tests.effort import diagonal, thorough

FLAWED = BASE.replace("nodes: 4\n", "nodes: 4\n  scale_up:\n    bandwidth: 900 GB/s unidirectional  # as sold\n")
MENDED = FLAWED.replace("900 GB/s unidirectional", "900 GB/s duplex")
FORMS = {
    "plain": FLAWED.encode(),
    "crlf": FLAWED.replace("\n", "\r\n").encode(),
    "mark": b"\xef\xbb\xbf" + FLAWED.encode(),
    "mark and crlf": b"\xef\xbb\xbf" + FLAWED.replace("\n", "\r\n").encode(),
    "no last line end": FLAWED.rstrip("\n").encode(),
}


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_a_fix_changes_only_the_described_bytes(data: bytes, call: Call) -> None:
    Path("spec.yaml").write_bytes(data)
    assert call("check", "spec.yaml", "--fix").status == 0
    assert Path("spec.yaml").read_bytes() == data.replace(b"900 GB/s unidirectional", b"900 GB/s duplex")


@pytest.mark.parametrize("data", FORMS.values(), ids=FORMS.keys())
def test_fixing_is_idempotent(data: bytes, call: Call) -> None:
    Path("spec.yaml").write_bytes(data)
    call("check", "spec.yaml", "--fix")
    once = Path("spec.yaml").read_bytes()
    done = call("check", "spec.yaml", "--fix")
    assert done.error == "fixed 0 files\n"
    assert Path("spec.yaml").read_bytes() == once


def test_a_difference_is_shown_and_nothing_written(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    for words in (("--diff",), ("--diff", "--fix")):
        done = call("check", "spec.yaml", *words)
        assert done.status == 1
        assert "\n-    bandwidth: 900 GB/s unidirectional  # as sold\n+    bandwidth: 900 GB/s duplex" in done.out
    assert Path("spec.yaml").read_text() == FLAWED


def test_a_diff_is_written_to_the_stated_output(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    assert call("check", "spec.yaml", "--diff", "--output", "fix.patch").out == ""
    assert Path("fix.patch").read_text().startswith("--- a/spec.yaml\n+++ b/spec.yaml\n")


def test_a_fix_of_standard_input_is_printed_and_touches_no_file(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    done = call("check", "-", "--stdin-filename", "spec.yaml", "--fix", stdin=FLAWED.encode())
    assert (done.status, done.out) == (0, MENDED)
    assert "spec.yaml:7:16: fixed duplex-counted-as-one-way" in done.error
    assert Path("spec.yaml").read_text() == FLAWED


@thorough
@pytest.mark.parametrize("words", [(), ("--fix",), ("--diff",), ("--unsafe-fixes",), ("--fix", "--format", "json")])
@pytest.mark.parametrize("text", [FLAWED, BASE, FLAWED.replace("tp: 2", "tp: 3"), "a: [", ""], ids=range(5))
def test_standard_input_has_the_exit_status_of_a_file(text: str, words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(text)
    typed = call("check", "-", *words, stdin=text.encode())
    assert typed.status == call("check", "spec.yaml", *words).status
    if "--fix" in words:
        assert typed.out == Path("spec.yaml").read_text()


def test_the_difference_of_standard_input_is_that_of_a_file(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    of_file = call("check", "spec.yaml", "--diff")
    assert call("check", "-", "--stdin-filename", "spec.yaml", "--diff", stdin=FLAWED.encode()) == of_file


def test_a_fix_applies_to_the_base_of_a_spec_only_where_the_base_is_named(call: Call) -> None:
    Path("base.yaml").write_text(FLAWED)
    Path("spec.yaml").write_text("extends: base.yaml\nname: other\n")
    done = call("check", "spec.yaml", "--fix")
    assert (done.status, done.error, Path("base.yaml").read_text()) == (1, "fixed 0 files\n", FLAWED)
    assert call("check", "spec.yaml", "base.yaml", "--fix").status == 0
    assert Path("base.yaml").read_text() == MENDED


def test_fixing_preserves_a_symbolic_link(call: Call) -> None:
    Path("real.yaml").write_text(FLAWED)
    Path("spec.yaml").symlink_to("real.yaml")
    call("check", "spec.yaml", "--fix")
    assert Path("spec.yaml").is_symlink()
    assert Path("real.yaml").read_text() == MENDED


def test_output_to_a_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", b"findings")
    assert os.read(reader, 100) == b"findings"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "out.html"
    place.write_text("before")
    place.chmod(0o640)
    write_whole(place, b"after")
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("after", 0o640)


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    place = tmp_path / "out.html"
    place.write_text("before")
    monkeypatch.setattr("pathlib.Path.chmod", full)
    with pytest.raises(UsageFault, match=r"out\.html: No space left on device"):
        write_whole(place, b"after")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.html", "before")]


@pytest.mark.parametrize("name", ["spec.yaml", "./spec.yaml", "link.yaml"])
def test_a_spec_that_is_read_is_never_written_over(name: str, call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    Path("link.yaml").symlink_to("spec.yaml")
    done = call("check", "spec.yaml", "--output", name)
    assert (done.status, Path("spec.yaml").read_text()) == (2, FLAWED)


OUTPUTS = {
    "fix": ("check", "{}/spec.yaml", "--fix"),
    "unsafe fix": ("check", "{}/spec.yaml", "--fix", "--unsafe-fixes"),
    "report": ("report", "{top}/spec.yaml", "-o", "{}/out.html"),
    "check": ("check", "{top}/spec.yaml", "--format", "json", "--output", "{}/out.json"),
    "baseline": ("check", "{top}/spec.yaml", "--write-baseline", "{}/out.json"),
    "search": ("search", "{top}/spec.yaml", "--write", "{}/out.yaml"),
    "export": ("export", "megatron", "{top}/spec.yaml", "--output", "{}/out.sh"),
    "import": ("import", "auto", "{top}/log.txt", "--into", "{}/spec.yaml"),
}
WAYS = {
    "a folder": "{top}/link",
    "a folder in a folder": "{top}/link/inside",
    "a link to the link": "{top}/second",
    "a link from outside to the link": "{top}/../way",
    "the parent of a linked folder": "{top}/deep/..",
}


@pytest.mark.parametrize(("working", "writer", "way"), diagonal(15, ["/", "project", "linked"], [*OUTPUTS], [*WAYS]))
def test_no_command_leaves_a_project_through_the_link_of_a_folder(
    working: str, writer: str, way: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, outside = Path("project").absolute(), Path("outside").absolute()
    (outside / "inside").mkdir(parents=True)
    (top / ".git").mkdir(parents=True)
    (top / "spec.yaml").write_text(FLAWED)
    (top / "log.txt").write_text(LOG)
    (top / "link").symlink_to(outside)
    (top / "deep").symlink_to(outside / "inside")
    (top / "second").symlink_to("link")
    Path("way").symlink_to(top / "link")
    for folder in (outside, outside / "inside"):
        (folder / "spec.yaml").write_text(FLAWED)
    before = {path: path.read_text() for path in outside.rglob("*") if path.is_file()}
    monkeypatch.chdir({"/": Path("/"), "project": top, "linked": outside}[working])
    linked = WAYS[way].format(top=top)
    done = call(*(word.format(linked, top=top) for word in OUTPUTS[writer]))
    assert (done.status, "project" in done.error) == (2, True), done
    assert {path: path.read_text() for path in outside.rglob("*") if path.is_file()} == before


def test_a_link_within_a_project_is_followed_from_everywhere(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    top = Path("project").absolute()
    (top / "specs").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / "specs" / "spec.yaml").write_text(FLAWED)
    (top / "link").symlink_to("specs")
    Path("other").symlink_to(top)
    outer = Path("other").absolute()
    monkeypatch.chdir("/")
    assert call("check", f"{outer}/link/spec.yaml", "--fix").status == 0
    assert (top / "specs" / "spec.yaml").read_text() == MENDED


LOG = """\
#       size         count      type   redop    root     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1   4100.1  261.88  261.88      0
"""
WRITERS = {
    "check": ("check", "spec.yaml", "--format", "json", "--output"),
    "write-baseline": ("check", "spec.yaml", "--write-baseline"),
    "report": ("report", "spec.yaml", "-o"),
    "export": ("export", "megatron", "spec.yaml", "--output"),
    "search": ("search", "spec.yaml", "--write"),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    "name", ["base.json", "log.json", "spec.yaml", "clusterspec.toml", "policy/own.json", "hard.json"]
)
def test_no_command_writes_over_what_it_reads(name: str, writer: str, call: Call) -> None:
    if writer == "report" and not name.endswith(".json"):
        pytest.skip("the suffix already refuses it")
    Path("policy").mkdir()
    Path("policy/own.json").write_text("{}")
    Path("clusterspec.toml").write_text('rules = ["policy"]\n')
    Path("log.json").write_text(LOG)
    Path("base.json").write_text(BASE)
    Path("spec.yaml").write_text("clusterspec: 1\nextends: base.json\nmeasured: [{log: log.json}]\n")
    Path("hard.json").hardlink_to("base.json")
    before = Path(name).read_bytes()
    done = call(*WRITERS[writer], name)
    assert (done.status, len(done.error.splitlines())) == (2, 1), done
    assert Path(name).read_bytes() == before


WRITERS_OF_ALL_COMMANDS = WRITERS | {
    "import": ("import", "auto", "log.txt", "--into"),
    "catalog check": ("catalog", "check", "--format", "json", "--output"),
}


@pytest.mark.parametrize("writer", WRITERS_OF_ALL_COMMANDS)
@pytest.mark.parametrize("name", ["own/models/mine.json", "own/new.json", "team.json"])
def test_no_command_writes_into_a_catalog_or_a_configuration_of_the_call(name: str, writer: str, call: Call) -> None:
    Path("own/models").mkdir(parents=True)
    Path("own/models/mine.json").write_text("clusterspec: 1\n")
    Path("team.json").write_text('fail-on = "error"\n')
    Path("log.txt").write_text((ROOT / "tests" / "rules" / "logs" / "all-reduce-16-ranks.txt").read_text())
    Path("spec.yaml").write_text(BASE)
    before = Path(name).read_bytes() if Path(name).exists() else None
    done = call(*WRITERS_OF_ALL_COMMANDS[writer], name, "--catalog", "own", "--config", "team.json")
    assert (done.status, len(done.error.splitlines())) == (2, 1), done
    assert "an input" in done.error, done
    assert (Path(name).read_bytes() if Path(name).exists() else None) == before


def test_no_command_writes_into_the_shipped_catalog(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    target = resources.catalog() / "index.json"
    before = target.read_bytes()
    assert call("report", "spec.yaml", "-o", str(target)).status == 2
    assert target.read_bytes() == before
