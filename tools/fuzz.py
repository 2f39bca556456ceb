"""``make fuzz``: an endless stream of hostile specs; those that reach new lines are kept in ``tests/corpus``.

What an input reaches is the set of lines of the program that run for it. Hypothesis draws the inputs; one that
reaches a line that no file of the corpus reaches is kept, and so is one that makes a command fail.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from clusterspec.cli import run
from tests.cli.hostile import HOSTILE

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "corpus"
COMMANDS = (("check", "--format", "json"), ("estimate",), ("bom",))
Line = tuple[str, int]


def executed_lines(data: bytes) -> tuple[set[Line], bool]:
    """The lines that the commands run for an input, and whether a command failed."""
    lines: set[Line] = set()
    package = str(ROOT / "clusterspec")

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(package):
            return None
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    Path("spec.yaml").write_bytes(data)
    failed = False
    for command, *words in COMMANDS:
        sys.settrace(trace)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                failed |= run([command, "spec.yaml", *words]) == 3
        finally:
            sys.settrace(None)
    return lines, failed


def add_to_corpus(data: bytes, why: str) -> None:
    """Adds an input to the corpus."""
    name = f"{why}-{hashlib.sha256(data).hexdigest()[:12]}.yaml"
    (CORPUS / name).write_bytes(data)
    print(f"kept {name}")


def fuzz(number: int) -> Iterator[str]:
    """Tries a number of inputs; yields a line for each that fails."""
    known: set[Line] = set()
    for path in CORPUS.iterdir():
        known |= executed_lines(path.read_bytes())[0]
    failures: list[str] = []

    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(HOSTILE)
    def one(data: bytes) -> None:
        lines, failed = executed_lines(data)
        if failed:
            failures.append(hashlib.sha256(data).hexdigest())
            add_to_corpus(data, "failed")
        elif lines - known:
            add_to_corpus(data, "reached")
        known.update(lines)

    one()
    yield from failures


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(bool(list(fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))))
