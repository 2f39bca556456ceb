"""Rows of energy and of days, and notes on cases of a plan and on incomplete costs, from records of round figures."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.requests import Hours
from clusterspec.cost.energy import Supply
from clusterspec.cost.heat import Heat
from clusterspec.cost.plan import Plan
from clusterspec.cost.power import MachinePower
from clusterspec.cost.serving.day import DayPlan, HourPlan
from clusterspec.cost.swing import Swings
from clusterspec.cost.term import Term
from clusterspec.records import replace
from clusterspec.report import fleet_costs
from clusterspec.report.estimate_rows import _day_rows
from clusterspec.report.estimate_text import measurement_effect
from clusterspec.report.paper.choices import _case_note
from clusterspec.report.power_rows import energy_row, heat_row, power_row, supply_row, swing_row
from clusterspec.results import Input
from clusterspec.results.fleet import PoolUse
from clusterspec.results.survival import Curve, WireCase
from clusterspec.units import display
from tests.designs import TRAINED
from tests.report.plain_results import FLEET, POOL, estimate_of

RUN, TOKENS = Term("of_run", 5000.0, "USD", "x"), Term("per_million_tokens", 0.5, "USD", "x")
CARBON = Term("of_run", 2000.0, "g", "x")
JOULES = Term("of_run", 1.0, "J", "x")
DRAWN = MachinePower(None, Term("idle", 1e3, "W", "x"), None, None, None, ())


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


BUSY = Term("busy", 5e3, "W", "x", low=4e3, high=7e3)
TOKEN = Term("per_token", 2.0, "J", "x")


@pytest.mark.parametrize(
    ("drawn", "row"),
    [
        ({}, ("power, idle", "1 kW", "of the whole machine, without cooling")),
        ({"busy": BUSY, "per_token": TOKEN}, ("power", "5 kW", "4 kW to 7 kW, idle 1 kW, 2 J a token")),
        ({"busy": BUSY}, ("power", "5 kW", "4 kW to 7 kW, idle 1 kW")),
        ({"busy": replace(BUSY, low=None), "per_token": TOKEN}, ("power", "5 kW", "idle 1 kW, 2 J a token")),
        ({"busy": replace(BUSY, high=None)}, ("power", "5 kW", "idle 1 kW")),
    ],
)
def test_power_is_told_with_its_range_where_both_ends_are_known(drawn: dict[str, Any], row: tuple[str, ...]) -> None:
    report = estimate_of(TRAINED)
    assert power_row(replace(report, drawn=replace(DRAWN, **drawn))) == row
    assert power_row(replace(report, drawn=None)) is None


ROW, FEED = Term("row", 2e5, "W", "x"), Term("feed", 2.2e4, "W", "x")


@pytest.mark.parametrize(
    ("supply", "row"),
    [
        (None, None),
        (Supply(), None),
        (Supply(rack=RACK), ("rack", "40 kW", "full, at nameplates")),
        (Supply(rack=RACK, row=ROW), ("rack", "40 kW", "full, at nameplates, row 200 kW")),
        (Supply(rack=RACK, feed=FEED, feeds=2), ("rack", "40 kW", "full, at nameplates, 2 feeds of 22 kW")),
        (Supply(rack=RACK, feed=FEED), ("rack", "40 kW", "full, at nameplates")),
        (Supply(rack=RACK, feeds=2), ("rack", "40 kW", "full, at nameplates")),
        (
            Supply(rack=replace(RACK, low=3e4, high=6e4)),
            ("rack", "40 kW", "full, 30 kW to 60 kW as the power of a node is not stated"),
        ),
        (Supply(rack=replace(RACK, low=3e4)), ("rack", "40 kW", "full, at nameplates")),
    ],
)
def test_a_rack_is_told_with_its_row_and_its_feeds(supply: Supply | None, row: tuple[str, ...] | None) -> None:
    drawn = replace(DRAWN, supply=supply) if supply is not None else None
    assert supply_row(replace(estimate_of(TRAINED), drawn=drawn)) == row


def heat(of: str, liquid: float, air: float) -> Heat:
    return Heat(of, Term("liquid", liquid, "W", "x"), Term("air", air, "W", "x"))


@pytest.mark.parametrize(
    ("heats", "row"),
    [
        ((), None),
        ((heat("rack", 3e4, 1e4),), None),
        ((heat("hall", 0.0, 4e5),), None),
        ((heat("hall", 3e5, 1e5),), ("heat", "300 kW", "to liquid, 100 kW to air, at nameplates")),
        (
            (heat("rack", 3e4, 1e4), heat("hall", 3e5, 1e5)),
            ("heat", "300 kW", "to liquid, 100 kW to air, rack 30 kW and 10 kW, at nameplates"),
        ),
    ],
)
def test_heat_is_told_where_liquid_takes_some_of_that_of_the_hall(
    heats: tuple[Heat, ...], row: tuple[str, ...] | None
) -> None:
    report = estimate_of(TRAINED)
    assert heat_row(replace(report, drawn=replace(DRAWN, supply=Supply(heat=heats)))) == row
    assert heat_row(replace(report, drawn=None)) is None


@pytest.mark.parametrize(("factor", "change"), [(1.25, "+25 %"), (0.75, "−25 %"), (1.0, "+0 %")])
def test_measurements_change_the_step_time_by_a_share(factor: float, change: str) -> None:
    report = estimate_of(TRAINED)
    after = report.plan.step_seconds
    assert after is not None and measurement_effect(report) == ""
    before = after / factor
    said = f"  step time {change}: {display(before, 's')} without them, {display(after, 's')} with\n"
    assert measurement_effect(replace(report, unmeasured_step_time=before)) == said
    assert measurement_effect(replace(report, plan=Plan(report.design), unmeasured_step_time=before)) == ""


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
