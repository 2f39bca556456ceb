"""Tables of few rows and sentences of boundaries, from results made by hand."""

from __future__ import annotations

import csv
import io

import pytest

from clusterspec.cost.step import StepTimes
from clusterspec.records import replace
from clusterspec.report import PLAIN, faults_text, solve_text, sweep_text
from clusterspec.report.estimate_text import measurement_effect
from clusterspec.results import Input, Tool
from clusterspec.results.faults import FaultRow, FaultsReport, PairRow
from clusterspec.results.levers import SolveReport, SweepRow
from tests.designs import TRAINED
from tests.report.plain_results import estimate_of


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_table_of_a_sweep_has_the_axes_of_its_points_however_few(count: int) -> None:
    rows = [SweepRow({"cluster.nodes": 2**number, "tp": 8}, 1.5, cost=10.0) for number in range(count)]
    head, *lines = csv.reader(io.StringIO(sweep_text.sweep_csv(rows)))
    assert head[:3] == (["cluster.nodes", "tp", "step_time"] if count else ["step_time", "mfu", "memory"])
    assert [line[:3] for line in lines] == [[str(2**number), "8", "1.5"] for number in range(count)]


@pytest.mark.parametrize(
    ("path", "machine", "tried", "told"),
    [
        (("layout", "nodes"), 4, (2.0, 6.0), True),
        (("layout", "nodes"), 4, (2.0, 5.0, 4.0), True),
        (("layout", "nodes"), 4, (2.0, 4.0), False),  # none beyond the machine
        (("layout", "nodes"), None, (2.0, 6.0), False),
        (("cluster", "nodes"), 4, (2.0, 6.0), False),
        ((), 4, (2.0, 6.0), False),
    ],
)
def test_a_cluster_grows_with_a_job_where_a_value_exceeds_its_nodes(
    path: tuple[str, ...], machine: int | None, tried: tuple[float, ...], told: bool
) -> None:
    probes = tuple((value, value, True) for value in tried)
    report = SolveReport(
        *(Tool("1", "1"), Input("x.yaml", b""), "nodes", "1", "step_time<=9s", 3.0),
        path=path,
        machine=machine,
        probes=probes,
    )
    assert bool(solve_text._growth_sentence(report)) is told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (2.0, 2.5, "  step time +25 %: 2 s without them, 2.5 s with\n"),
        (2.0, 1.5, "  step time −25 %: 2 s without them, 1.5 s with\n"),
        (2.0, 2.0, "  step time +0 %: 2 s without them, 2 s with\n"),
        (None, 2.0, ""),
        (2.0, None, ""),
    ],
)
def test_the_effect_of_measurements_is_the_change_of_the_step(
    before: float | None, after: float | None, told: str
) -> None:
    report = estimate_of(TRAINED)
    assert report.plan.step is not None
    times = StepTimes(after or 0.0, *[0.0] * (len(report.plan.step.times) - 1))
    step = replace(report.plan.step, times=times) if after is not None else None
    report = replace(report, unmeasured_step_time=before, plan=replace(report.plan, step=step))
    assert measurement_effect(report) == told


def test_numbers_of_a_table_of_faults_end_below_each_other_and_words_begin_so() -> None:
    """The columns of counts, rates, times and hours; the effect on the job is a word."""
    short = PairRow(("NIC", "leaf"), "leaf", "", 1, 0.5, "stops", False, 2.0, 4.0, None)
    long = PairRow(("switch", "accelerator"), "rack", "same", 1_234, 1_500.0, "unaffected", True, None, 40.0, None)
    row = FaultRow("node", 8, 4.0, "stops", 0.0, None, 12.0, None, "why")
    report = FaultsReport(
        *(Tool("1", "1"), Input("x.yaml", b""), (row,), 2.0, None, "USD", None, {}, ()), pairs=(short, long)
    )
    head, *lines = faults_text._pairs_table(report, PLAIN).splitlines()[:3]
    for name, cells, right in (
        ("pairs", ("1", "1,234"), True),
        ("step", ("2 s", "–"), True),
        ("hours lost", ("4", "40"), True),
        ("job", ("stops", "unaffected"), False),
        ("they share", ("a leaf", "a rack"), False),
    ):
        at = head.index(name) + (len(name) if right else 0)
        for line, cell in zip(lines, cells, strict=True):
            assert line[:at].endswith(cell) if right else line[at:].startswith(cell), (name, line)
