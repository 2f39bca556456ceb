"""Published runs really ran: hardly any is called impossible, and none is buried in warnings."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from pathlib import Path

import pytest

from clusterspec.finding import Finding, Severity

from .conftest import Check

RUNS = Path(__file__).parents[1] / "accuracy" / "runs.jsonl"
Judged = list[tuple[dict[str, str], list[Finding]]]


@pytest.fixture(scope="module")
def judged(check: Check) -> Judged:
    runs = (json.loads(line) for line in RUNS.read_text("utf-8").splitlines())
    return [(run, check(json.dumps(run["spec"]))) for run in runs if run["fits"]]


def of(findings: list[Finding], severity: Severity) -> list[Finding]:
    return [finding for finding in findings if finding.severity is severity]


def test_ninety_eight_in_a_hundred_runs_that_ran_raise_no_error(judged: Judged) -> None:
    wrong = [run["id"] for run, findings in judged if of(findings, Severity.ERROR)]
    assert len(judged) > 300
    assert len(wrong) <= 0.02 * len(judged), wrong


@pytest.mark.parametrize("key", ["source", "id"])
def test_every_source_has_a_median_of_two_warnings_or_fewer(judged: Judged, key: str) -> None:
    counts = defaultdict(list)
    for run, findings in judged:
        counts[run[key] if key == "source" else run["id"].split("-")[0]].append(len(of(findings, Severity.WARNING)))
    assert {source: many for source, many in counts.items() if statistics.median(many) > 2} == {}
