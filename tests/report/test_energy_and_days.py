"""Rows of energy and of days, and notes on cases of a plan and on incomplete costs, from hand-made figures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clusterspec.cost.term import Term
from clusterspec.report import fleet_text
from clusterspec.report.estimate_rows import _day_rows
from clusterspec.report.paper.choices import _case_note
from clusterspec.report.power_rows import energy_row, swing_row

RUN, TOKENS = Term("of_run", 5000.0, "USD", "x"), Term("per_million_tokens", 0.5, "USD", "x")
CARBON = Term("of_run", 2000.0, "g", "x")


@pytest.mark.parametrize(
    ("drawn", "row"),
    [
        (None, None),
        ({"money": (), "carbon": (), "of_run": 1.0}, None),
        ({"money": (RUN, TOKENS), "carbon": (CARBON,), "of_run": 1.0}, ("of_run", 2)),
        ({"money": (RUN, TOKENS), "carbon": (), "of_run": 1.0}, ("of_run", 1)),
        ({"money": (RUN, TOKENS), "carbon": (), "of_run": None}, ("per_million_tokens", 1)),
        ({"money": (), "carbon": (CARBON,), "of_run": 1.0}, ("carbon", 1)),
    ],
)
def test_energy_is_that_of_the_run_else_of_a_million_tokens(drawn: Any, row: tuple[str, int] | None) -> None:
    report: Any = SimpleNamespace(drawn=SimpleNamespace(**drawn) if drawn is not None else None)
    found = energy_row(report)
    if row is None:
        assert found is None
        return
    assert found is not None and found[0] == "energy"
    of = "of a million tokens" if row[0] == "per_million_tokens" else "of the run"
    assert found[2].endswith(f"{of}, by the meter") and len(found[2].split(", ")) == row[1] + 1
    assert found[1].startswith({"of_run": "5", "per_million_tokens": "0.5", "carbon": "2"}[row[0]])
    assert ("CO2e" in found[1]) is (row[0] == "carbon") and ("CO2e" in found[2]) is (row == ("of_run", 2))


SWINGS = Term("step", 3e3, "W", "x"), Term("fall", 4e3, "W", "x"), Term("ramp", 6e3, "W/s", "x")


@pytest.mark.parametrize(
    ("swings", "rack", "step"), [(None, 1, 1), (SWINGS, None, 1), (SWINGS, 1, None), (SWINGS, 1, 1)]
)
def test_power_swings_in_a_job_of_known_steps_in_stated_racks(swings: Any, rack: Any, step: Any) -> None:
    drawn = SimpleNamespace(swings=swings, supply=SimpleNamespace(rack=rack))
    report: Any = SimpleNamespace(drawn=drawn, plan=SimpleNamespace(step_time=step))
    row = ("swing", "3 kW", "in each step, 6 kW/s at its edges, 4 kW where the job stops")
    assert swing_row(report) == (row if swings and rack and step else None)
    assert swing_row(SimpleNamespace(drawn=None)) is None  # type: ignore[arg-type]


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
    day: Any = SimpleNamespace(
        hours=[SimpleNamespace(prefill=prefill, replicas=replicas) for prefill, replicas in hours],
        accelerator_hours=1234.0,
        constant_accelerator_hours=2000.0,
    )
    (row,) = _day_rows(day)
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
    case: Any = SimpleNamespace(communication=2.0, exposed=0.5, bubble=bubble, fits=fits, memory=memory)
    assert _case_note(case) == said


def test_incomplete_costs_name_their_pools_and_parts() -> None:
    whole, unknown = SimpleNamespace(cost=1, missing=()), SimpleNamespace(cost=None, missing=("a",))
    part = SimpleNamespace(cost=1, missing=("no price for `leaf_switch`", "cables"))
    other = SimpleNamespace(cost=1, missing=("cables",))

    def told(**pools: Any) -> str:
        report: Any = SimpleNamespace(pools=pools, input=SimpleNamespace(name="my fleet.yaml"))
        return fleet_text.left_out(report)

    assert told(p=whole, q=unknown) == ""
    assert told(p=part) == (
        "The cost of p leaves out parts without a price (leaf switch): `clusterspec cost 'my fleet.yaml' --pool p`"
        " names them."
    )
    assert told(p=whole, q=other, r=other) == (
        "The costs of q and r leave out parts: `clusterspec cost 'my fleet.yaml' --pool q` names them."
    )
