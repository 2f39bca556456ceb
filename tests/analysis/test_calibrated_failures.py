"""Failure rates from logs: the interval covers the truth, counts are of distinct failures, and the spec takes them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from clusterspec import analysis
from clusterspec.analysis.failures.logged_rates import SURE, poisson_interval
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.results.faults import FailureRateRow, FailureRates
from clusterspec.studies import study_text
from tests.analysis.jobs import study_of
from tests.effort import telling

MACHINE = """
cluster: {platform: dgx-h100, nodes: 16, spare_nodes: 2, scale_out: {topology: fat-tree, switch_ports: 64}}
"""
JOB = MACHINE + "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512}\nlayout: {sharding: fsdp}\n"
START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 90


def log_of(*failures: tuple[float, str, str]) -> InputFile:
    """A log of failures: days since the start, part and node."""
    lines = [f"{(START + timedelta(days=day)).isoformat()},{part},{node}" for day, part, node in failures]
    return InputFile("own.csv", "\n".join(["time,part,node", *lines, ""]).encode())


def rates_of(*failures: tuple[float, str, str], period: float | None = DAYS * 86_400.0) -> FailureRates:
    return analysis.failure_rates_of(study_of(MACHINE), [log_of(*failures)], period=period)[0]


def row_of(report: FailureRates, part: str) -> FailureRateRow:
    return next(row for row in report.rows if row.part == part)


@telling(1)
@pytest.mark.parametrize("expected", [0.5, 3.0, 12.0])
def test_the_interval_covers_the_true_rate_as_often_as_it_says(expected: float) -> None:
    """Of 200 simulated periods; the exact interval errs to the wide side, the more the fewer the failures."""
    drawn, covered = random.Random(25), 0
    for _ in range(200):
        failures, time = 0, drawn.expovariate(expected)
        while time < 1:
            failures, time = failures + 1, time + drawn.expovariate(expected)
        low, high = poisson_interval(failures, 1.0)
        covered += low <= expected <= high
    assert covered / 200 >= SURE - 0.03


def test_a_log_of_failures_alone_gives_the_true_rate_on_average() -> None:
    drawn, found = random.Random(7), list[float]()
    for _ in range(6):
        times = sorted(drawn.uniform(0, DAYS) for _ in range(30))
        row = row_of(rates_of(*((day, "nic", f"n{at}") for at, day in enumerate(times)), period=None), "nic")
        assert row.rate is not None
        found.append(row.rate * row.parts * DAYS / 365.25)
    assert sum(found) / len(found) == pytest.approx(30, rel=0.08)


def test_rates_are_distinct_failures_over_all_parts_of_the_machine() -> None:
    again = [(1.0, "gpu", "n1"), (1.2, "gpu", "n1"), (5.0, "gpu", "n1"), (5.0, "gpu", "n2")]
    row = row_of(rates_of(*again), "accelerator")
    assert (row.failures, row.parts) == (3, 18 * 8)
    assert row.rate == pytest.approx(3 / (18 * 8 * DAYS / 365.25))
    assert row_of(rates_of(*again), "nic").rate is None


def test_a_switch_without_its_level_counts_all_switches_together() -> None:
    report = rates_of((1, "switch", ""), (2, "leaf", ""))
    assert (row_of(report, "switch").failures, row_of(report, "leaf").rate) == (2, None)


def test_the_spec_takes_the_rates_and_their_range_widens_that_of_the_goodput() -> None:
    study = study_of(JOB)
    report, merged = analysis.failure_rates_of(
        study, [log_of(*((day * 9.0, "gpu", f"n{day}") for day in range(10)))], period=DAYS * 86_400.0
    )
    again = study_text(merged.text, study.settings)
    written = again.spec.operations and again.spec.operations.failures
    assert written
    assert written.accelerator
    row = row_of(report, "accelerator")
    assert written.accelerator.range == pytest.approx((row.low, row.high), rel=1e-3)
    assert report.goodput
    assert analysis.faults(again).goodput.mean == report.goodput.after  # type: ignore[union-attr]
    without = study_text(merged.text.replace("range:", "# range:"), study.settings)
    wide, narrow = (plan_interruptions(each.plan) for each in (again, without) if each.plan)
    assert wide.low < narrow.low <= narrow.high < wide.high  # type: ignore[union-attr]
    assert analysis.failure_rates_of(again, [log_of((1, "gpu", "n1"))], period=86_400.0)[0].kept


def test_the_time_observed_is_stated_where_the_log_does_not_tell_it() -> None:
    with pytest.raises(FormatError, match="state it"):
        rates_of((1, "gpu", "n1"), (2, "gpu", "n2"), period=None)
    with pytest.raises(FormatError, match="span more"):
        rates_of((1, "gpu", "n1"), (9, "gpu", "n2"), period=86_400.0)


RACKS = """
cluster:
  platform: gb200-nvl72
  nodes: 36
  scale_out: {topology: fat-tree, switch_ports: 64}
  power: {nodes_per_rack: 18}
"""


FED = MACHINE.replace(
    "spare_nodes: 2,",
    "spare_nodes: 2, power: {nodes_per_rack: 4, feeds: 2N}, networks: {storage: {bandwidth: 10 GB/s}},",
)


@pytest.mark.parametrize(
    ("machine", "nodes", "parts"),
    [
        (
            MACHINE,
            None,  # 18 nodes of 8; 144 / 32 leaves; 5 × 32 links to spines and two modules on every link
            {"accelerator": 144, "node": 18, "software": 144, "nic": 144, "cable": 304, "optic": 608}
            | {"switch": 9, "leaf": 5, "spine": 4},
        ),
        (MACHINE, 4, {"accelerator": 32, "node": 4, "software": 32, "nic": 32}),
        (MACHINE, 1, {"accelerator": 8, "node": 1, "software": 8}),
        (
            RACKS,
            None,  # two domains of 18 nodes with nine trays each
            {"accelerator": 144, "node": 36, "software": 144, "nic": 144, "domain": 2, "tray": 18}
            | {"cable": 304, "optic": 608, "switch": 9, "leaf": 5, "spine": 4, "rack": 2},
        ),
        (RACKS, 19, {"accelerator": 76, "node": 19, "software": 76, "nic": 76, "domain": 2, "tray": 18}),
        (
            FED,
            None,  # four racks of four nodes of the job, each with two feeds, and one storage system
            {"accelerator": 144, "node": 18, "software": 144, "nic": 144, "cable": 304, "optic": 608}
            | {"switch": 9, "leaf": 5, "spine": 4, "rack": 4, "feed": 8, "store": 1},
        ),
        (RACKS, 18, {"accelerator": 72, "node": 18, "software": 72, "nic": 72, "domain": 1, "tray": 9}),
    ],
)
def test_every_part_of_the_observed_nodes_is_counted_and_the_fabric_only_of_the_whole_machine(
    machine: str, nodes: int | None, parts: dict[str, int]
) -> None:
    report, _ = analysis.failure_rates_of(study_of(machine), [log_of((1, "gpu", "n1"))], period=86_400.0, nodes=nodes)
    assert {row.part: row.parts for row in report.rows} == parts
    assert {row.part: row.years for row in report.rows} == pytest.approx(
        {part: number / 365.25 for part, number in parts.items()}
    )


def test_failures_alone_are_observed_for_one_interval_more_than_they_span() -> None:
    """Three failures over 20 days are two intervals: 20 × 3 / 2 days; two failures do not tell the time."""
    assert rates_of(*((day, "gpu", "n1") for day in (0.0, 10.0, 20.0)), period=None).observed == 30 * 86_400.0
    with pytest.raises(FormatError, match="the time observed is unknown from 2 failures: state it, such as --period"):
        rates_of((0.0, "gpu", "n1"), (20.0, "gpu", "n1"), period=None)


@pytest.mark.parametrize(("days", "refused"), [(19.7, True), (19.9, False), (20.0, False)])
def test_failures_may_span_a_hundredth_more_than_the_stated_period(days: float, refused: bool) -> None:
    failures = ((0.0, "gpu", "n1"), (20.0, "gpu", "n2"))
    if not refused:
        assert rates_of(*failures, period=days * 86_400.0).observed == days * 86_400.0
        return
    with pytest.raises(FormatError, match="the failures span more than the stated period"):
        rates_of(*failures, period=days * 86_400.0)


def test_a_failure_of_one_part_of_a_node_repeats_until_its_repair() -> None:
    """Repairs take two days here: 47 h later it is the same failure, 48 h later another."""
    study = study_of(MACHINE + "operations: {repair_time: 2 days}\n")
    again, other = (1 + 47 / 24, "gpu", "n1"), ((3.0, "gpu", "n2"), (3.0, "nic", "n1"))
    events = ((1.0, "gpu", "n1"), again, (3.0, "gpu", "n1"), *other)
    report, _ = analysis.failure_rates_of(study, [log_of(*events)], period=DAYS * 86_400.0)
    assert (row_of(report, "accelerator").failures, row_of(report, "nic").failures) == (3, 1)
    assert "Not counted: 1 repetition of a failure within 2 days, the repair time." in report.notes


def test_notes_say_how_links_and_nodes_that_no_spec_counts_are_taken() -> None:
    report = rates_of((1, "cable", "n1"), *((2, "gpu", f"n{at}") for at in range(19)))
    assert report.notes == (
        "The logs name 19 nodes, but 18 are counted: state the number of observed nodes by --nodes.",
        "A failed link counts as its cable, as logs seldom say whether the cable or a module failed.",
    )
    assert not rates_of(*((2, "gpu", f"n{at}") for at in range(18))).notes


@pytest.mark.parametrize(
    ("failures", "low", "high"),
    [(0, 0.0, 2.9957), (1, 0.0513, 4.7439), (2, 0.3554, 6.2958), (10, 5.4254, 16.9622), (100, 84.139, 118.079)],
)
def test_the_interval_of_a_count_is_that_of_published_tables(failures: int, low: float, high: float) -> None:
    """Halves of quantiles of chi-squared at 5 % with 2 n, and at 95 % with 2 n + 2 degrees of freedom."""
    assert poisson_interval(failures, 1.0) == pytest.approx((low, high), rel=1e-3)
    assert poisson_interval(failures, 4.0) == pytest.approx((low / 4, high / 4), rel=1e-3)
