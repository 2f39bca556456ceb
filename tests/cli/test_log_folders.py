"""Folders of logs that launchers write: every file is read, within bounds; the first failing log is listed first."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import clusterspec
from clusterspec.analysis.diagnosis import log_folders
from clusterspec.exchange.import_result import LARGEST, FormatError
from tests.cli.conftest import Call

SPEC = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2}\n"
SYMPTOM = "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:1\n"
FAILURE = "OSError: [Errno 28] No space left on device: '/scratch/step_10'\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as torchrun writes it, next to a spec: rank 2 failed."""
    monkeypatch.chdir(tmp_path)
    Path("spec.yaml").write_text(SPEC)
    for rank in range(3):
        where = Path("logs/none_1/attempt_0") / str(rank)
        where.mkdir(parents=True)
        (where / "stderr.log").write_text(FAILURE if rank == 2 else SYMPTOM)
        (where / "stdout.log").write_text("" if rank == 2 else "step 3\n")
    return tmp_path / "logs"


def test_the_logs_of_all_ranks_are_read_and_the_first_failing_one_leads(call: Call, folder: Path) -> None:
    done = call("diagnose", "spec.yaml", "logs", "--format", "json")
    report = json.loads(done.out)
    assert done.status == 1
    assert [each["log"] for each in report["verdicts"]] == [
        f"logs/none_1/attempt_0/{rank}/stderr.log" for rank in (2, 0, 1)
    ]
    assert report["causes"][0]["name"] == "storage-full"
    assert [each["log"] for each in report["unread"]] == [f"logs/none_1/attempt_0/{rank}/stdout.log" for rank in (0, 1)]


def test_a_folder_and_its_files_give_the_same_diagnosis(call: Call, folder: Path) -> None:
    files = [f"logs/none_1/attempt_0/{rank}/stderr.log" for rank in (1, 2, 0)]
    named = json.loads(call("diagnose", "spec.yaml", *files, "--format", "json").out)
    whole = json.loads(call("diagnose", "spec.yaml", "logs", "--format", "json").out)
    assert named["causes"] == whole["causes"]


def test_the_library_reads_folders_as_the_command_does(call: Call, folder: Path) -> None:
    whole = json.loads(call("diagnose", "spec.yaml", "logs", "--format", "json").out)
    report = clusterspec.diagnose("spec.yaml", ["logs"]).to_json()
    assert report["causes"] == whole["causes"] and report["unread"] == whole["unread"]
    with pytest.raises(FormatError, match="no log is in it"):
        clusterspec.diagnose("spec.yaml", [_folder_with(folder.parent / "steps", "step 3\n")])


def _folder_with(where: Path, text: str) -> Path:
    where.mkdir()
    (where / "stdout.log").write_text(text)
    return where


def test_hidden_files_links_and_pipes_are_left_out(call: Call, folder: Path) -> None:
    (folder / ".hidden.log").write_text(FAILURE)
    (folder / "link.log").symlink_to("/etc/passwd")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.log")
    report = json.loads(call("diagnose", "spec.yaml", "logs", "--format", "json").out)
    seen = {each["log"] for each in (*report["verdicts"], *report["unread"])}
    assert seen and all(each.startswith("logs/none_1/") for each in seen)


def _refused(call: Call, why: str) -> None:
    done = call("diagnose", "spec.yaml", "logs")
    assert (done.status, done.out) == (2, "") and why in done.error and done.error.count("\n") == 1


def test_a_folder_without_a_log_is_refused_with_the_reason(call: Call, folder: Path) -> None:
    for file in folder.rglob("stderr.log"):
        file.unlink()
    _refused(call, "logs: no log is in it: logs/none_1/attempt_0/0/stdout.log: it is the output of none of")
    for file in folder.rglob("stdout.log"):
        file.write_text("")
    _refused(call, "logs: no log is in it: it has no file that is not empty")


def test_too_many_too_large_and_too_deep_folders_are_refused(call: Call, folder: Path) -> None:
    for number in range(log_folders.MOST_FILES + 1):
        (folder / f"{number}.log").write_text("")
    _refused(call, "logs: it has more than 1,024 files: name the logs to read")
    for number in range(log_folders.MOST_FILES + 1):
        (folder / f"{number}.log").unlink()
    for number in range(2):
        (folder / f"{number}.log").write_bytes(b"step\n" * (LARGEST // 9))
    _refused(call, "logs: its files have more than 32 MiB together: name the logs to read")
    for number in range(2):
        (folder / f"{number}.log").unlink()
    (folder / "/".join("abcdefg")).mkdir(parents=True)
    _refused(call, "logs: it is more than 6 folders deep: name the logs to read")


def test_files_of_one_name_are_told_apart(call: Call, folder: Path) -> None:
    done = call("diagnose", "spec.yaml", "logs/none_1/attempt_0/0/stderr.log", "logs/none_1/attempt_0/1/stderr.log")
    assert "logs/none_1/attempt_0/0/stderr.log: " in done.out and "logs/none_1/attempt_0/1/stderr.log: " in done.out
    assert call("diagnose", "spec.yaml", "logs/none_1/attempt_0/0/stderr.log").out.startswith("stderr.log: ")
