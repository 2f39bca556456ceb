"""Inputs that once crashed, hung or flooded a command, and those that `make fuzz` kept: every command answers them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from clusterspec.cli import run
from tests.cli.conftest import BASE, ROOT, Call
from tests.cli.test_harm import START
from tests.cli.test_written_files import FLAWED, MENDED
from tests.effort import diagonal, sampled, steps, thorough

CORPUS = sorted((ROOT / "tests" / "corpus").iterdir())
FORMS = [("check", "--format", "sarif"), ("estimate",), ("bom",)]
MOST_OUTPUT = 400_000
MOST_CALLS = 12_000_000


@pytest.mark.parametrize(("path", "words"), sampled(diagonal(len(CORPUS), CORPUS, FORMS), 2 * len(CORPUS)))
def test_no_file_crashes_a_command(words: tuple[str, ...], path: Path, call: Call) -> None:
    shutil.copy(path, "spec.yaml")
    done = []
    steps(lambda: done.append(call(words[0], "spec.yaml", *words[1:], "--debug")), most=MOST_CALLS)
    assert done[0].status in (0, 1), done[0].error
    assert len(done[0].out) < MOST_OUTPUT


@thorough
@pytest.mark.parametrize(("name", "status"), sampled([("ratio-per-level", 0), ("negative-model-states", 1)], 1))
def test_a_report_is_written_of_files_that_once_ended_it(name: str, status: int, call: Call) -> None:
    shutil.copy(ROOT / "tests" / "corpus" / f"{name}.yaml", "spec.yaml")
    assert call("report", "spec.yaml", "-o", "report.json", "--debug").status == status


def is_killed_at_call(number: int, words: tuple[str, ...]) -> bool:
    """Whether a command comes to the call of that number among those that write, at which it kills itself.

    A fork of this process, whose modules are loaded, takes a tenth of the time of a new one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads with a fork, from Python 3.12 on
        child = os.fork()
    if child == 0:
        left = [number]

        def watch(event: str, given: tuple[object, ...]) -> None:
            if event == "os.rename" or ".out." in str(given) or ".spec.yaml." in str(given):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            run([*words])
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize(
    "words", sampled([("check", "spec.yaml", "--fix"), ("check", "spec.yaml", "--write-baseline", "out")], 1)
)
def test_a_killed_process_leaves_the_old_file_or_the_new_one(words: tuple[str, ...], call: Call) -> None:
    """Killed by the program itself at each of the calls of the system that writing takes, and between them."""
    Path("base.yaml").write_text(FLAWED)
    call("check", "base.yaml", "--write-baseline", "new.json")
    new = Path("new.json").read_text().replace("base.yaml", "spec.yaml")
    for number in range(1, 12):
        Path("spec.yaml").write_text(FLAWED)
        Path("out").write_text("old")
        killed = is_killed_at_call(number, words)
        assert Path("spec.yaml").read_text() in (FLAWED, MENDED)
        assert Path("out").read_text() == "old" or '"findings"' in Path("out").read_text()
        if not killed:
            break
    assert number > 1
    assert new


@pytest.mark.parametrize(
    ("language", "zone"), sampled(diagonal(3, ["de_DE.ISO8859-1", "C", "C.UTF-8"], ["Pacific/Kiritimati", "UTC"]), 8)
)
def test_hash_seed_locale_time_zone_and_home_do_not_change_output(language: str, zone: str, call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    found = set()
    for seed in ("0", "77"):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": language, "TZ": zone, "PYTHONHASHSEED": seed}
        environment |= {"SOURCE_DATE_EPOCH": "1796083200", "HOME": "/nonexistent"}
        command = [sys.executable, "-c", START, str(ROOT), "check", "spec.yaml", "--format", "json"]
        found.add(subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60).stdout)
    assert found == {call("check", "spec.yaml", "--format", "json").out.encode()}


def test_ctrl_c_ends_quietly(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    start = "import sys, os, signal, threading; threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
    command = [sys.executable, "-c", start + START, str(ROOT), "check", *["spec.yaml"] * 1]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in (0, 130)
    assert "Traceback" not in done.stderr
