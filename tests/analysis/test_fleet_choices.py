"""The choices and the assignments of a fleet, worked out by hand without a search for layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from clusterspec.analysis.fleets.options import (
    FleetSearchFault,
    misses_target_by_wait,
    with_figures,
    with_missed_limit,
    without_search,
)
from clusterspec.analysis.fleets.pool_sizes import pool_sizes_to_try
from clusterspec.analysis.fleets.search import Goal, Place, fleet_search, objective_of, places_of_jobs
from clusterspec.cluster.fabric import counted_fabric
from clusterspec.cost.power import drawn_power
from clusterspec.records import replace
from clusterspec.results.fleet_search import JobOption
from tests.analysis.test_fleet_search import FLEET, WORK
from tests.studies.test_fleets import study

OPTION = JobOption("a", "p", 4, layout={"tp": 8}, elapsed=10.0, cost=5.0, energy=7.0, least=8.0)
SERVED = JobOption("b", "p", 4, layout={"tp": 8}, cost=2.0, serving={"ttft": 1.0})


@pytest.mark.parametrize(
    ("options", "objective", "value"),
    [
        ((OPTION, OPTION), "time", 20.0),
        ((OPTION, SERVED), "time", 10.0),  # serving takes no time of its own
        ((OPTION, SERVED), "cost", 7.0),
        ((OPTION, SERVED), "energy", None),
        ((replace(OPTION, elapsed=None),), "time", None),
        ((), "cost", 0.0),
    ],
)
def test_an_assignment_is_worth_the_sum_of_its_jobs(
    options: Sequence[JobOption], objective: str, value: float | None
) -> None:
    assert objective_of(options, objective) == value


@pytest.mark.parametrize(
    ("nodes", "domain", "stated", "tried"),
    [
        (3, 1, (), [1, 2, 3]),
        (16, 1, (), [*range(1, 17)]),
        # of 20: powers of two, three times those, and what each of them leaves
        (20, 1, (), [1, 2, 3, 4, 6, 8, 12, 14, 16, 17, 18, 19, 20]),
        (20, 1, (5, 21), [1, 2, 3, 4, 5, 6, 8, 12, 14, 16, 17, 18, 19, 20]),
        (40, 18, (20,), [18, 36]),  # whole domains
        (10, 18, (), [10]),
        (0, 1, (), []),
    ],
)
def test_sizes_of_a_pool_are_whole_domains(nodes: int, domain: int, stated: tuple[int, ...], tried: list[int]) -> None:
    assert pool_sizes_to_try(nodes, domain, stated) == tried


def places(text: str = FLEET, **goal: Any) -> set[tuple[str, str, int]]:
    return {(" ".join(one.jobs), one.pool, one.nodes) for one in places_of_jobs(study(text), Goal(**goal))}


def test_jobs_are_tried_on_every_pool_and_a_serving_plan_on_the_whole_of_it() -> None:
    jobs, pools = ("short turn", "long"), ("big", "old")
    whole = {("chat", pool, 2) for pool in pools}
    assert places() == {(job, pool, nodes) for job in jobs for pool in pools for nodes in (1, 2)} | whole
    assert places(nodes=(2, 5)) == {(job, pool, 2) for job in jobs for pool in pools} | whole
    with pytest.raises(FleetSearchFault, match="no job is called 'shor'"):
        places(within={"shor": 1.0})
    assert places(within={"": 1.0}) == places()


def test_a_run_takes_at_least_its_products_at_the_peak_and_its_pauses() -> None:
    """Llama 3.1 8B multiplies 7.504 billion weights; 4 billion tokens at 6 FLOP take 16 B200 of 2.25 PFLOP/s 5,003 s.
    A billion on 8 of them takes 2,502 s, and twice as long at a share of a half.
    """
    one = study(FLEET)
    weights = 8_030_261_248 - 128_256 * 4_096 - 65 * 4_096  # without the input embeddings and the norms
    for place, tokens, share in (
        (Place(("long",), "big", 2), 4e9, 1.0),
        (Place(("short", "turn"), "big", 1), 1e9, 0.5),
    ):
        for option in without_search(one, place):
            wanted = 6 * weights * tokens / (place.nodes * 8 * 2.25e15) / share
            assert option.least == pytest.approx(wanted, rel=1e-4) and not option.is_usable
    assert [option.least for option in without_search(one, Place(("chat",), "big", 2))] == [0.0]


@pytest.mark.parametrize(
    ("limit", "before", "waiting"),
    [
        ({}, (), False),
        ({"a": 12.0}, (), False),
        ({"a": 10.0}, (), False),
        ({"a": 9.0}, (), True),
        ({"": 9.0}, (), True),
        ({"b": 1.0, "": 30.0}, (), False),
        ({"a": 8.0}, (), True),
        ({"a": 7.0}, ("run at least 8 s > 7 s",), True),
    ],
)
def test_a_limit_is_missed_by_a_run_that_is_longer(
    limit: dict[str, float], before: tuple[str, ...], waiting: bool
) -> None:
    """At the peak the run takes 8 s, with its layout 10 s."""
    assert with_missed_limit(OPTION, Goal(within=limit)).missed == before
    assert misses_target_by_wait(OPTION, Goal(within=limit)) is waiting
    assert not misses_target_by_wait(replace(SERVED, elapsed=99.0), Goal(within=limit)), "serving has no run"


PRICED = FLEET.replace("4 years", "2 years").replace("vllm, tp: 1", "vllm, tp: 4, dp: 1")


def test_an_option_has_the_share_of_its_job_in_time_money_and_energy() -> None:
    one = study(PRICED)
    parts = one.fleet
    assert parts is not None
    for name, nodes, share in (("long", 1, 1.0), ("short", 1, 0.5), ("chat", 2, 1.0)):
        placed = parts.job_study("old", name, nodes)
        made = with_figures(JobOption(name, "old", nodes), parts, placed, Goal(), alone=False)
        plan = placed.plan
        assert made.nodes == nodes and made.mfu == plan.mfu and made.surely_fits == plan.surely_fits
        if plan.time_to_train is not None:
            assert made.elapsed == plan.time_to_train / share
            kilowatts = (made.energy or 0.0) / plan.time_to_train / 1e3
        else:
            assert made.elapsed is None and name == "chat"
            # 2 nodes at 300,000 over the term of 2 years, and their energy of these years
            assert made.cost == pytest.approx(2 * 300_000)
            kilowatts = (made.energy or 0.0) / (2 * 365.25 * 86_400) / 1e3
        drawn = drawn_power(plan, counted_fabric(placed.design))
        assert drawn is not None and drawn.busy is not None
        assert kilowatts == pytest.approx(drawn.busy.value / 1e3), "what its nodes draw at work"
        assert 0.35 * 10.2 * nodes < kilowatts < 1.2 * 10.2 * nodes, "of the nodes of a DGX H100, with switches"
    tight = with_figures(
        JobOption("long", "old", 1), parts, parts.job_study("old", "long", 1), Goal(within={"long": 1.0}), alone=True
    )
    assert len(tight.missed) == 1 and tight.missed[0].endswith("> 1 s") and tight.missed[0].startswith("run ")
    alone = with_figures(JobOption("chat", "old", 2), parts, parts.job_study("old", "chat", 2), Goal(), alone=True)
    assert alone.nodes == 1, "one engine of tp 4 needs one of two nodes"
    assert alone.cost == pytest.approx(300_000)


def searched(text: str, goal: Goal, **told: Any) -> Any:
    """A search whose options are those of `OPTION` with ``told``, by pool and job."""

    def evaluate(groups: Sequence[Sequence[Place]]) -> list[list[list[JobOption]]]:
        return [[[option(job, place) for job in place.jobs] for place in group] for group in groups]

    def option(job: str, place: Place) -> JobOption:
        return replace(OPTION, job=job, pool=place.pool, nodes=place.nodes, **told.get(job, {}))

    return fleet_search(study(text), goal, evaluate)


TWO = FLEET[: FLEET.index("  short")]
NOTHING = {"layout": None, "elapsed": None}


@pytest.mark.parametrize(
    ("goal", "told", "why"),
    [
        (Goal(), {"why": "no layout fits in memory"} | NOTHING, "long: no layout fits in memory"),
        (
            Goal("cost"),
            {"cost": None},
            "long: its cost is not known: state `procurement.prices` and `procurement.term`",
        ),
        (Goal("energy"), {"energy": None}, "long: its energy is not known: state the power of a node"),
        (Goal(), {"elapsed": None}, "long: its time is not known: state `workload.tokens`"),
        (Goal(), {"missed": ("run 10 s > 1 s",)}, "long: run 10 s > 1 s at best, with 1 node of big"),
    ],
)
def test_a_fleet_without_an_assignment_is_told_why(goal: Goal, told: dict[str, Any], why: str) -> None:
    found = searched(TWO, goal, long=told)
    assert (found.assignments, found.why) == ((), why)


def test_the_assignments_are_those_of_least_value_and_at_most_as_many_as_are_asked_for() -> None:
    found = searched(TWO, Goal("cost", top=2, every=True))
    assert [one.objective for one in found.assignments] == [5.0, 5.0] and found.why == ""
    assert found.unit == found.currency == "USD"
    assert len(found.options) == 4, "one and two nodes of two pools"


def test_an_assignment_that_does_not_fit_says_how_many_nodes_its_jobs_take() -> None:
    short = TWO.replace("  big: {platform: dgx-b200, nodes: 2}\n", "").replace(
        "old: {platform: dgx-h100, nodes: 2}", "old: {platform: dgx-h100, nodes: 1}"
    )
    more = short + f"  again: {{pool: old, nodes: 1, {WORK}, layout: {{framework: megatron-core, tp: 2}}}}\n"
    found = searched(more, Goal())
    assert found.why == "every job fits alone, but not all together on 1 node: they need at least long 1, again 1 nodes"


def test_a_job_that_needs_two_nodes_fits_alone_although_one_node_is_too_few() -> None:
    three = TWO.replace("  big: {platform: dgx-b200, nodes: 2}\n", "").replace("h100, nodes: 2}", "h100, nodes: 3}")
    more = three + f"  again: {{pool: old, nodes: 1, {WORK}, layout: {{framework: megatron-core, tp: 2}}}}\n"

    def evaluate(groups: Sequence[Sequence[Place]]) -> list[list[list[JobOption]]]:
        return [[[option(job, place) for job in place.jobs] for place in group] for group in groups]

    def option(job: str, place: Place) -> JobOption:
        few: dict[str, Any] = {"why": "no layout fits in memory"} | NOTHING if place.nodes < 2 else {}
        return replace(OPTION, job=job, pool=place.pool, nodes=place.nodes, **few)

    found = fleet_search(study(more), Goal(every=True), evaluate)
    assert found.why == (
        "every job fits alone, but not all together on 3 nodes: they need at least long 2, again 2 nodes"
    )
