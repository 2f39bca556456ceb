"""Lines on fleets and their assignments, from records of their use."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.fleet import FreeGroups
from clusterspec.cost.reinforcement.times import RlPart
from clusterspec.procurement.growth import Phase
from clusterspec.records import replace
from clusterspec.report import fleet_search_text as searched
from clusterspec.report import fleet_text
from clusterspec.report.fleet_search_text import fleet_search_text
from clusterspec.results.fleet import LinkUse
from clusterspec.results.fleet_search import Assignment, FleetSearchReport, JobOption
from tests.designs import REINFORCED, TRAINED, plan_of
from tests.report.plain_results import FLEET, JOB, POOL, estimate_of
from tests.report.test_result_texts import INPUT, TOOL, WIDE

ONE = JobOption("a", "p", 2, {"tp": 4}, elapsed=100.0, step_time=2.0)


def assigned(*waits: float, objective: float = 100.0) -> Assignment:
    """An assignment of jobs `a`, `b` … that wait for a store by these factors."""
    jobs = {name: replace(ONE, job=name, store_wait=wait) for name, wait in zip("abc", waits, strict=False)}
    return Assignment(jobs, objective, None)


def found(*assignments: Assignment, **changes: Any) -> FleetSearchReport:
    made = FleetSearchReport(TOOL, INPUT, "x", "time", "s", assignments, None, (ONE,))
    return replace(made, **changes)


def text_of(report: FleetSearchReport) -> str:
    return " ".join(fleet_search_text(report, WIDE).split())


LONGER = "runs are longer, because jobs wait for their common storage system"


def test_assignments_that_wait_alike_are_told_together() -> None:
    shown = text_of(found(assigned(1.5, 1.0), assigned(1.0), assigned(1.5), assigned(1.5, 2.25)))
    assert f"Number 1, 3: {LONGER}: a 1.5 times." in shown
    assert f"Number 4: {LONGER}: a 1.5 times, b 2.25 times." in shown
    assert "Number 2:" not in shown and "Number 2 by time: 100 s" in shown
    assert LONGER not in text_of(found(assigned(1.0, 1.0)))


@pytest.mark.parametrize(("count", "said"), [(40, None), (41, "1 more with --format"), (45, "5 more with --format")])
def test_forty_choices_are_printed_and_the_others_counted(count: int, said: str | None) -> None:
    options = tuple(replace(ONE, nodes=number + 1) for number in range(count))
    shown = fleet_search_text(found(assigned(1.0), options=options), WIDE)
    rows = [line.split() for line in shown.partition("Choices")[2].splitlines() if line.startswith("a ")]
    assert [int(row[2]) for row in rows] == list(range(1, min(count, 40) + 1))
    assert ("more with --format" in shown) is (said is not None) and (said is None or said in shown)


@pytest.mark.parametrize(
    ("changes", "layout"),
    [
        ({}, "tp 4"),
        ({"surely_fits": False}, "tp 4 ?"),
        ({"surely_fits": True}, "tp 4"),
        ({"layout": None, "as_written": True}, "as in the spec"),
        ({"as_written": True}, "tp 4; as in the spec"),
        ({"layout": {"tp": 4, "nodes": 2}}, "tp 4"),
        ({"rl": {"placement": "split", "rollout": {"nodes": 1, "tp": 2}, "max_staleness": 0}},
         "tp 4; rollout split on 1 node, tp 2"),
        ({"rl": {"placement": "colocated", "rollout": {"tp": 8}, "max_staleness": 1}},
         "tp 4; rollout colocated, tp 8, 1 step ahead"),
    ],
)  # fmt: skip
def test_a_layout_is_told_with_its_rollout_and_doubt(changes: dict[str, Any], layout: str) -> None:
    cells = searched._option_cells(replace(ONE, **changes))
    assert cells == ("a", "p", "2", layout, "2 s", "100 s")


def test_a_time_is_that_of_a_step_or_of_tokens() -> None:
    assert searched._time_text(replace(ONE, serving={"ttft": 1.0, "tpot": 0.02})) == "1 s / 20 ms"
    assert searched._time_text(replace(ONE, step_time=None)) == "–"
    assert searched._option_cells(replace(ONE, elapsed=None))[5] == "–"


@pytest.mark.parametrize(
    ("changes", "row", "said"),
    [
        ({}, replace(ONE), "best"),
        ({}, replace(ONE, nodes=3), ""),
        ({}, replace(ONE, nodes=3, missed=("ttft", "tpot")), "ttft; tpot"),
        ({}, replace(ONE, nodes=3, why="does not fit"), "does not fit"),
        ({"assignments": ()}, replace(ONE), ""),
    ],
)
def test_a_choice_is_the_best_or_has_its_reason(changes: dict[str, Any], row: JobOption, said: str) -> None:
    assert searched._option_row(found(assigned(1.0), **changes), row)[-1] == said


@pytest.mark.parametrize(
    ("objective", "best", "ends"),
    [
        (100.0, 99.9, "; the best one saves 0.1 %."),
        (100.0, 99.99, "; no assignment is better."),
        (100.0, 120.0, "; no assignment is better."),
        (0.0, 120.0, ": 0 s."),
        (100.0, None, ": 100 s."),
    ],
)
def test_the_spec_is_told_with_what_the_best_saves(objective: float, best: float | None, ends: str) -> None:
    report = found(*((assigned(1.0, objective=best),) if best is not None else ()))
    said = searched._present_text(report, assigned(1.0, objective=objective))
    assert said.startswith("The spec (a on 2 of p, with its own layouts): ") and said.endswith(ends)


def test_jobs_that_wait_for_a_store_or_share_a_link_are_listed() -> None:
    later, last = replace(JOB, store_wait=1.25, link_share=0.5), replace(JOB, store_wait=2.0, link_share=0.25)
    report = replace(FLEET, jobs={"a": JOB, "b": later, "c": last})
    assert fleet_text.wait_text(report).endswith(": b 1.25 times, c 2 times.")
    assert fleet_text._shared_link_text(report).endswith("of its rate: b 50 %, c 25 %.")
    alone = replace(FLEET, jobs={"a": JOB})
    assert fleet_text.wait_text(alone) == fleet_text._shared_link_text(alone) == ""


def test_a_link_is_told_with_its_bursts_and_latency() -> None:
    link = LinkUse(("p", "q"), 50e9, 0.0, {"a": 1e9, "b": 2e9}, {"a": 1e9, "b": 4e9})
    said = (
        "Between p and q caches and weights pass at 50 GB/s at most, each way{}. Sent on average: a 1 GB/s, "
        "b 2 GB/s (4 GB/s while it sends)."
    )
    assert fleet_text._sent_text(link) == said.format("")
    assert fleet_text._sent_text(replace(link, latency=0.01)) == said.format(", after 10 ms")


def test_roles_are_told_with_their_idle_shares() -> None:
    parts = (RlPart("rollout", 100.0, 0.25), RlPart("weight_sync", 2.0, 0.0))
    assert fleet_text._role_texts(parts) == "rollout 100 s (idle 25 %), weight sync 2 s"
    reports = {"a": estimate_of(REINFORCED), "b": estimate_of(TRAINED)}
    times = plan_of(REINFORCED).rl
    assert times is not None
    assert fleet_text.role_lines(replace(FLEET, estimates=reports)) == [f"a: {fleet_text._role_texts(times.parts)}."]


def test_free_nodes_are_told_with_the_gangs_that_fit() -> None:
    leaf = FreeGroups("leaf", size=4, whole=1000, largest=3)
    pools = {
        "p": replace(POOL, idle=5, free=(leaf,)),
        "q": replace(POOL, idle=1),
        "r": replace(POOL, idle=0, free=(leaf,)),
        "s": replace(POOL, idle=None),
    }
    assert fleet_text.free_text(replace(FLEET, pools=pools), WIDE).splitlines() == [
        "Free on p, jobs side by side: 5 nodes; a job of 3 nodes fits in one leaf of 4; 1,000 wholly free.",
        "Free on q, jobs side by side: 1 node.",
    ]


@pytest.mark.parametrize(
    ("changes", "racks", "power"),
    [
        ({}, "12", "100 kW"),
        ({"reserved_racks": 3, "reserved_power": 2e4}, "12 (+3)", "100 kW (+20 kW)"),
        ({"racks": None, "power": None}, "–", "–"),
    ],
)
def test_a_phase_has_its_parts_and_what_the_last_one_takes_beyond(
    changes: dict[str, Any], racks: str, power: str
) -> None:
    phase = Phase(
        "2027-01", 1024, leaf_switches=8, spine_switches=4, cables=2048, reserved_ports=128,
        racks=12, reserved_racks=0, power=1e5, reserved_power=0.0,
    )  # fmt: skip
    cells = ("2027-01", "1,024", "8", "4", "0", "2,048", "128", racks, power)
    assert fleet_text._growth_row(replace(phase, **changes)) == cells
