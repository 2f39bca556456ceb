"""Rows of energy and of days, and notes on cases of a plan and on incomplete costs, from records of round figures."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.requests import Hours
from clusterspec.cost.energy import Supply
from clusterspec.cost.plan import Plan
from clusterspec.cost.power import Drawn
from clusterspec.cost.serving.day import DayPlan, HourPlan
from clusterspec.cost.swing import Swings
from clusterspec.cost.term import Term
from clusterspec.records import replace
from clusterspec.report import fleet_costs
from clusterspec.report.estimate_rows import _day_rows
from clusterspec.report.paper.choices import _case_note
from clusterspec.report.power_rows import energy_row, swing_row
from clusterspec.results import Input
from clusterspec.results.fleet import PoolUse
from clusterspec.results.survival import Curve, WireCase
from tests.designs import TRAINED
from tests.report.plain_results import FLEET, POOL, estimate_of

RUN, TOKENS = Term("of_run", 5000.0, "USD", "x"), Term("per_million_tokens", 0.5, "USD", "x")
CARBON = Term("of_run", 2000.0, "g", "x")
JOULES = Term("of_run", 1.0, "J", "x")
DRAWN = Drawn(None, Term("idle", 1e3, "W", "x"), None, None, None, ())


@pytest.mark.parametrize(
    ("drawn", "row"),
    [
        (None, None),
        ({"of_run": JOULES}, None),
        ({"money": (RUN, TOKENS), "carbon": (CARBON,), "of_run": JOULES}, ("of_run", 2)),
        ({"money": (RUN, TOKENS), "of_run": JOULES}, ("of_run", 1)),
        ({"money": (RUN, TOKENS)}, ("per_million_tokens", 1)),
        ({"carbon": (CARBON,), "of_run": JOULES}, ("carbon", 1)),
    ],
)
def test_energy_is_that_of_the_run_else_of_a_million_tokens(
    drawn: dict[str, Any] | None, row: tuple[str, int] | None
) -> None:
    found = energy_row(replace(estimate_of(TRAINED), drawn=replace(DRAWN, **drawn) if drawn is not None else None))
    if row is None:
        assert found is None
        return
    assert found is not None and found[0] == "energy"
    of = "per million tokens" if row[0] == "per_million_tokens" else "for the run"
    assert found[2].endswith(f"{of}, at the meter") and len(found[2].split(", ")) == row[1] + 1
    assert found[1].startswith({"of_run": "5", "per_million_tokens": "0.5", "carbon": "2"}[row[0]])
    assert ("CO2e" in found[1]) is (row[0] == "carbon") and ("CO2e" in found[2]) is (row == ("of_run", 2))


SWINGS = Swings(Term("step", 3e3, "W", "x"), Term("fall", 4e3, "W", "x"), Term("ramp", 6e3, "W/s", "x"))
RACK = Term("rack", 4e4, "W", "x")


@pytest.mark.parametrize(
    ("swings", "rack", "timed"), [(None, RACK, True), (SWINGS, None, True), (SWINGS, RACK, False), (SWINGS, RACK, True)]
)
def test_power_swings_in_a_job_of_known_steps_in_stated_racks(
    swings: Swings | None, rack: Term | None, timed: bool
) -> None:
    report = replace(estimate_of(TRAINED), drawn=replace(DRAWN, swings=swings, supply=Supply(rack=rack)))
    if not timed:
        report = replace(report, plan=Plan(report.design))
    row = ("swing", "3 kW", "in each step, 6 kW/s at its edges, 4 kW where the job stops")
    assert swing_row(report) == (row if swings and rack and timed else None)
    assert swing_row(replace(report, drawn=None)) is None


@pytest.mark.parametrize(
    ("hours", "counts"),
    [
        (((0, 3),), "3 engines"),
        (((0, 1), (0, 1)), "1 engine"),
        (((1, 2), (2, 1)), "3 engines"),
        (((0, 1), (2, 1000), (0, 5)), "1 to 1,002 engines"),
    ],
)
def test_engines_of_a_day_are_told_from_the_fewest_to_the_most(hours: tuple[tuple[int, int], ...], counts: str) -> None:
    plans = [HourPlan(Hours(0, 60, 1.0), prefill, replicas, 8.0, None, True) for prefill, replicas in hours]
    (row,) = _day_rows(DayPlan(tuple(plans), 1234.0, 2000.0, 3600.0, 36000.0, ()))
    assert row[1:3] == ("1,234", f"a day, {counts}, 2000 with all engines at all hours")
    assert list(_day_rows(None)) == []


@pytest.mark.parametrize(
    ("bubble", "fits", "memory", "said"),
    [
        (0.0, True, 90e9, "2 s, 500 ms exposed"),
        (0.25, True, None, "2 s, 500 ms exposed, bubble 250 ms"),
        (0.0, False, 90e9, "2 s, 500 ms exposed; does not fit: 90 GB"),
        (0.0, False, None, "2 s, 500 ms exposed"),
        (0.0, None, 90e9, "2 s, 500 ms exposed"),
    ],
)
def test_a_case_says_what_is_exposed_and_whether_it_fits(
    bubble: float, fits: bool | None, memory: float | None, said: str
) -> None:
    curve = Curve((0.0,), (0.0,), (0.0,), joint=False, ratio=False, tables=(((0.0,),),))
    assert _case_note(WireCase("dp", 2, "m", 4.0, 2.0, 0.5, bubble, memory, fits, curve)) == said


def test_incomplete_costs_name_their_pools_and_parts() -> None:
    whole, unknown = replace(POOL, cost=1.0), replace(POOL, missing=("a",))
    part = replace(POOL, cost=1.0, missing=("no price for `leaf_switch`", "cables"))
    other = replace(POOL, cost=1.0, missing=("cables",))

    def told(**pools: PoolUse) -> str:
        return fleet_costs.omitted_items(replace(FLEET, pools=pools, input=Input("my fleet.yaml", b"")))

    assert told(p=whole, q=unknown) == ""
    assert told(p=part) == (
        "The cost of p leaves out parts without a price (leaf switch): `clusterspec cost 'my fleet.yaml' --pool p`"
        " names them."
    )
    assert told(p=whole, q=other, r=other) == (
        "The costs of q and r leave out parts: `clusterspec cost 'my fleet.yaml' --pool q` names them."
    )
