"""`check --watch`: a change of any file that was read brings another check, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from threading import Timer

from clusterspec.cli import UsageFault
from clusterspec.cli.watch import file_states, watch
from tests.cli.conftest import BASE, Call


def test_a_change_of_what_was_read_brings_another_check(tmp_path: Path) -> None:
    spec, base = tmp_path / "spec.yaml", tmp_path / "elsewhere" / "base.yaml"
    base.parent.mkdir()
    for file in (spec, base):
        file.write_text("one")
    checks: list[str] = []

    def check() -> tuple[int, list[str]]:
        checks.append(base.read_text())
        if len(checks) == 1:
            Timer(0.05, base.write_text, ["second"]).start()
            return 0, [str(base)]
        if len(checks) == 2:
            Timer(0.05, spec.write_text, ["third"]).start()
            raise UsageFault("a configuration that is being edited")
        raise KeyboardInterrupt

    assert watch(check, [str(spec)]) == 2
    assert checks == ["one", "second", "second"]


def test_files_of_a_folder_count_and_hidden_folders_do_not(tmp_path: Path) -> None:
    before = file_states([str(tmp_path)])
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_text("")
    assert set(file_states([str(tmp_path)])) == set(before)
    (tmp_path / "new.yaml").write_text("")
    assert set(file_states([str(tmp_path)])) - set(before) == {str(tmp_path / "new.yaml")}
    assert file_states([str(tmp_path / "absent")]) == {str(tmp_path / "absent"): None}


def test_what_cannot_be_watched_is_refused(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    for words in (("--fix",), ("--output", "x.json"), ("--write-baseline", "b.json"), ("-",), ("absent.yaml",)):
        done = call("check", "spec.yaml", "--watch", *words)
        assert (done.status, done.out) == (2, ""), words
        assert "--watch" in done.error
