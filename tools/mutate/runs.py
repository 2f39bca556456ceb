"""Runs of pytest in a copy of the project: one that records which blocks each test runs, one in a given order.

``python -m tools.mutate.runs record PACKAGE FILE …`` prints the recordings of test files as JSON. Every file runs in a
process of its own, forked before the program is imported: what one file leaves in caches changes no other recording.
``python -m tools.mutate.runs ordered SELECTION`` runs the tests that the file SELECTION lists, in its order, up to the
first that fails.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np  # noqa: F401  (imported once, before the processes of the test files are forked)
import pytest

from tools.mutate.blocks import Notes

Blocks = dict[str, list[int]]
"""The lines of blocks that ran, by file."""
PASSES = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
STARTS = {"subprocess.Popen", "os.fork", "os.posix_spawn"}
"""Audit events of a test that starts a process. Which blocks run in that process is not recorded."""


class Recorder:
    """A plugin of pytest: records of each test its seconds, the blocks that ran, and whether it starts processes or
    reads the source of modules below ``top``. What is read at collection does not count: Hypothesis reads all modules.
    """

    def __init__(self, notes: Notes, top: str) -> None:
        self.notes, self.top = notes, top
        self.starts = self.reads = False
        self.before: Blocks = {}
        self.tests: list[dict[str, object]] = []

    def heard(self, event: str, arguments: tuple[object, ...]) -> None:
        self.starts = self.starts or event in STARTS
        if event == "open" and not (self.reads or self.notes.imports):
            path = str(arguments[0])
            self.reads = path.startswith(self.top) and path.endswith(".py")

    def pytest_collection_finish(self) -> None:
        self.before = self.notes.newly_run_lines()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begun, self.starts, self.reads = time.process_time(), False, False
        result = yield
        found = {"seconds": time.process_time() - begun, "starts": self.starts, "reads": self.reads}
        self.tests.append({"name": item.nodeid, **found, "blocks": self.notes.newly_run_lines()})
        return result


class Order:
    """A plugin of pytest that selects tests by name and runs them in the order of the names."""

    def __init__(self, names: list[str]) -> None:
        self.place = {name: place for place, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )


def recorded_blocks(part: str, file: str) -> dict[str, object]:
    """The blocks of a part of the program that a test file runs, at collection and test by test; whether it passes."""
    notes = Notes()
    notes.listen(Path.cwd(), part)
    recorder = Recorder(notes, f"{Path.cwd() / part}/")
    sys.addaudithook(recorder.heard)
    # NOTE: pytest loads a module of the program that is named `test_…` itself where it rewrites assertions.
    status = pytest.main([*OPTIONS, "--assert=plain", file], plugins=[recorder])
    return {"passes": status in PASSES, "before": recorder.before, "tests": recorder.tests}


def recorded_blocks_in_fork(part: str, file: str) -> dict[str, object]:
    """`recorded_blocks` in a process of its own."""
    reading, writing = os.pipe()
    if not os.fork():
        os.dup2(2, 1)
        try:
            with os.fdopen(writing, "w") as answer:
                json.dump(recorded_blocks(part, file), answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.wait()
    return json.loads(text) if text else {"passes": False, "before": {}, "tests": []}


def main(arguments: list[str]) -> int:
    if arguments[0] == "record":
        print(json.dumps({file: recorded_blocks_in_fork(arguments[1], file) for file in arguments[2:]}))
        return 0
    names = json.loads(Path(arguments[1]).read_text("utf-8"))
    files = dict.fromkeys(name.partition("::")[0] for name in names)
    return int(pytest.main([*OPTIONS, "-x", *files], plugins=[Order(names)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
