"""Figures are the same on every version of Python: floats are added from left to right."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from clusterspec.cli import run
from clusterspec.standard import sum_of
from tests.effort import ALL_CASES, FUZZING

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    ("check", "--format", "json"),
    ("estimate", "--format", "json"),
    ("bom", "--format", "json"),
    ("cost", "--format", "json"),
    ("report", "-o", "report.html"),
    *((("sensitivity", "--format", "json"),) if ALL_CASES else ()),
)
SPARED = f"{ROOT}/clusterspec/rules/"
"""Rules compare, and print figures rounded to three digits."""


def test_a_sum_rounds_after_every_addition() -> None:
    assert sum_of([1e16, 1.0, -1e16]) == 0.0
    assert sum_of([0.1] * 10) == 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1
    assert sum_of([1, 2], 3) == 6
    assert sum_of([]) == 0


TELLING = ("aws-p5-8b", *(("deepseek-v3-serving",) if ALL_CASES else ()))
"""A training spec, with a serving one in `make test-all`; `make fuzz` takes all examples."""


@pytest.mark.parametrize(
    "path",
    [path for path in sorted((ROOT / "examples").glob("*.yaml")) if FUZZING or path.stem in TELLING],
    ids=lambda path: path.stem,
)
def test_no_figure_comes_from_a_sum_that_differs_between_versions(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, seen = builtins.sum, set[str]()

    def watched(values: Iterable[Any], /, start: Any = 0) -> Any:
        held = list(values)
        frame = sys._getframe(1)
        caller = frame.f_code.co_filename
        if len(held) > 2 and caller.startswith(f"{ROOT}/clusterspec") and not caller.startswith(SPARED):
            seen.update(f"{caller}:{frame.f_lineno}" for value in held if type(value) is float)
        return whole(held, start)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(builtins, "sum", watched)
    one_job = ["--job", "pretrain"] if path.stem == "lab-fleet" else []
    for command, *words in COMMANDS:
        job = one_job if command == "sensitivity" else []  # it takes one design
        assert run([command, str(path), *words, *job]) in (0, 1)
    capsys.readouterr()
    assert not seen
