"""Copies of the project in temporary folders, and the runs of tests in them."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tools.mutate.places import ROOT, TOP, Mutation

KILLED, SURVIVED, UNDECIDED = "killed", "survived", "undecided"
STOPPED = {-signal.SIGXCPU, -signal.SIGKILL}
"""Endings of tests that reach a limit of the operating system: processor time or memory."""
IGNORED = ("tests/report/browser", "tests/report/golden", "tests/test_generated.py", "tests/test_examples.py")
"""Tests that compare pages, and tests that need a browser."""
GOLDEN = "tests/golden.py", "assert text == path.read_text", "assert text or path.read_text"
"""The comparison with golden files, and its replacement: a stale page does not show an error."""


def kept_files() -> list[str]:
    """The files of the project that Git keeps or would keep."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def copy_of_project(folder: Path) -> Path:
    """The folder, with a copy of the project: all of it, since tests read the pages at the top too."""
    for name in kept_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    name, comparison, replacement = GOLDEN
    text = (folder / name).read_text("utf-8")
    assert comparison in text, f"{name} compares golden files in other words than {comparison!r}"
    (folder / name).write_text(text.replace(comparison, replacement), "utf-8")
    return folder


def files_of(package: str) -> list[str]:
    """The test files that should notice a change of the package; of the modules outside packages, those at the top."""
    place = ROOT / "tests"
    files = place.glob("test_*.py") if package == TOP else (place / package).rglob("test_*.py")
    names = sorted(path.relative_to(ROOT).as_posix() for path in files)
    return [name for name in names if not name.startswith(IGNORED)]


def call(folder: Path, arguments: Sequence[str], seconds: int) -> subprocess.CompletedProcess[str]:
    """A finished call of `tools.mutate.runs` in a copy, in ``seconds`` of processor time, ten times that of waiting."""
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    return subprocess.run(
        [sys.executable, "-m", "tools.mutate.runs", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (seconds, seconds + 1)),
        timeout=10 * seconds,
        check=False,
    )


def outcome(mutation: Mutation, folder: Path, tests: list[str], seconds: int) -> str:
    """Whether one of the tests fails on the mutation (`KILLED`), none does (`SURVIVED`), or the limits end the tests
    before that is known (`UNDECIDED`).
    """
    if not tests:
        return SURVIVED
    target, selection = folder / mutation.file.relative_to(ROOT), folder / "selection.json"
    original = target.read_text("utf-8")
    target.write_text(mutation.text, "utf-8")
    selection.write_text(json.dumps(tests), "utf-8")
    try:
        status = call(folder, ["ordered", selection.name], seconds).returncode
    except subprocess.TimeoutExpired:
        return UNDECIDED
    finally:
        target.write_text(original, "utf-8")
    return UNDECIDED if status in STOPPED else KILLED if status else SURVIVED
