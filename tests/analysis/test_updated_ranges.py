"""The ranges after a passed acceptance: they cover the machine that was measured, and hold its measurement."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from clusterspec import analysis
from clusterspec.exchange.import_result import FormatError
from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.studies import study_text
from tests.analysis.test_diagnosis import cluster, log
from tests.effort import thorough
from tests.settings import SETTINGS

MACHINE = "{platform: dgx-h100, nodes: 4}"
SPEC = f"clusterspec: 1\ncluster: {MACHINE}\n"
STATED = "acceptance:\n  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 200 GB/s}\n"
STUDY = study_text(SPEC + STATED, SETTINGS)
REPEATS = 0.02
"""The relative standard deviation of a run of the benchmark about the bandwidth of the machine; of the test."""


def run(scale: float) -> Benchmark:
    return replace(log(cluster(MACHINE), 32, scale=scale), sha256="0")


def ranges(scale: float) -> tuple[tuple[float, float], tuple[float, float], float]:
    logs = [("own.log", run(scale))]
    found, merged = analysis.accepted_ranges(STUDY, logs, analysis.accept(STUDY, logs)[0])
    assert "own.log" in merged.text
    assert found[0].measured
    return found[0].before, found[0].after, found[0].measured


@thorough
def test_the_range_after_an_acceptance_covers_the_machine_as_often_as_the_repeats_allow() -> None:
    """True bandwidths 12 % about the prediction, logs 2 % about the truth: the half-width of 4 % is two deviations."""
    drawn, covered, runs = random.Random(25), 0, 40
    usual = ranges(1.0)[2]
    for _ in range(runs):
        truth = drawn.uniform(0.88, 1.0)
        low, high = ranges(truth * drawn.gauss(1, REPEATS))[1]
        covered += low <= truth * usual <= high
    assert covered / runs >= 0.88


@pytest.mark.parametrize("scale", [0.9, 0.95, 1.0])
def test_the_range_is_narrower_and_holds_what_was_measured(scale: float) -> None:
    before, after, measured = ranges(scale)
    assert after[0] <= measured <= after[1]
    assert after[1] - after[0] < before[1] - before[0]


def test_a_failed_acceptance_changes_no_range() -> None:
    with pytest.raises(FormatError, match="a test failed"):
        ranges(0.3)
    with pytest.raises(FormatError, match="no log belongs"):
        analysis.accepted_ranges(STUDY, [], analysis.accept(STUDY, [])[0])
