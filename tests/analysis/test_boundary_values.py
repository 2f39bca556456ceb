"""The boundary of a condition along a lever, where the metric is a function that is known."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

import pytest

from clusterspec.analysis.levers.conditions import parse
from clusterspec.analysis.levers.keys import Lever, lever_of
from clusterspec.analysis.levers.solutions import (
    Refusal,
    Solution,
    Trial,
    _counts_to_scan,
    boundary_of,
)
from clusterspec.cluster.model import Design
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from clusterspec.spec.model import Spec
from clusterspec.studies import study_text
from tests.settings import SETTINGS

TOLERANCE = 1e-3
DESIGN = Design(Spec("test"))
STEPS = (10.0, 20.0, 40.0, 80.0)
RATE = Lever("rate", ("cluster", "rate"), "B/s", STEPS, 1, lambda _: 20.0, lambda value: value)
"""Hardware of which more is better."""
TAPER = replace(RATE, name="taper", better=-1)
LOAD = replace(RATE, name="load", path=("workload", "load"))
COUNT = replace(RATE, name="count", whole=True, steps=(1.0, 2.0, 4.0, 8.0))
Metric = Callable[[float], float | None]


def boundary(
    lever: Lever, metric: Metric, present: float = 20.0, refused: dict[float, Refusal] | None = None, limit: str = "0.5"
) -> Solution:
    """The boundary of ``mfu>=limit``, where the metric of a value is that function; None: no layout can run."""

    def trial(value: float) -> Trial:
        found = metric(value)
        plan = None if found is None else Plan(DESIGN, mfu=found)
        return Trial(plan, lambda: (refused or {}).get(value, Refusal()))

    return boundary_of(lever, parse(f"mfu>={limit}"), trial, present)


def rising(limit: float) -> Metric:
    """0.5 at the limit, in proportion to the value."""
    return lambda value: 0.5 * value / limit


@pytest.mark.parametrize("limit", [10.5, 19.9, 20.0, 25.0, 40.0, 79.0])
def test_a_bisection_ends_at_the_first_value_that_meets_the_condition(limit: float) -> None:
    """Within a thousandth above the limit; the next sold value from there on is at or beyond it."""
    found = boundary(RATE, rising(limit))
    assert found.value is not None and limit <= found.value <= limit * (1 + TOLERANCE)
    assert found.catalog_step == min(step for step in STEPS if step >= limit * (1 - TOLERANCE))
    assert found.plan is not None and found.plan.mfu == rising(limit)(found.value)
    assert [probe.value for probe in found.probes] == sorted({probe.value for probe in found.probes})
    assert all(
        probe.holds == (probe.value >= limit) and probe.metric == rising(limit)(probe.value) for probe in found.probes
    )
    assert not found.free


@pytest.mark.parametrize("limit", [10.5, 25.0, 40.0, 79.0])
def test_where_less_is_better_the_highest_value_is_sought(limit: float) -> None:
    found = boundary(TAPER, lambda value: 0.5 * limit / value)
    assert found.value is not None and limit / (1 + TOLERANCE) <= found.value <= limit
    assert found.catalog_step == max(step for step in STEPS if step <= limit * (1 + TOLERANCE))


@pytest.mark.parametrize("limit", [10.5, 31.7316, 39.999])
def test_the_boundary_is_a_value_of_four_digits_that_meets_the_condition(limit: float) -> None:
    """31.7316 is no boundary that can be printed with four digits: 31.73 does not meet it, 31.74 does."""
    found = boundary(RATE, rising(limit))
    tried = [probe.value for probe in found.probes if probe.value not in (*STEPS, 20.0)]
    assert found.value is not None and found.value >= limit
    assert all(float(f"{value:.4g}") == value for value in (*tried, found.value))


def test_an_integer_is_bisected_as_an_integer() -> None:
    """With 86 requests the condition holds, with 87 it does not: 86.4 would be printed as 86 and be another value."""
    whole = replace(LOAD, written=int, better=-1)
    found = boundary(whole, lambda value: 0.5 * 86.5 / value)
    assert found.value == 86.0 and all(probe.value == int(probe.value) for probe in found.probes)
    assert [(probe.value, probe.holds) for probe in found.probes if 85 < probe.value < 88] == [(86, True), (87, False)]


def test_hardware_is_sought_among_what_is_sold_and_a_load_beyond_it() -> None:
    """A load may be 64 times beyond the usual values, down to 1; 10 / 64 is below it."""
    assert boundary(RATE, rising(81.0)).value is None
    assert boundary(RATE, rising(9.0)).value == 10.0
    found = boundary(RATE, rising(9.0))
    assert found.free and [probe.value for probe in found.probes] == [10.0]
    assert boundary(LOAD, rising(81.0)).value == pytest.approx(81.0, rel=TOLERANCE)
    assert boundary(LOAD, rising(5119.0)).value == pytest.approx(5119.0, rel=TOLERANCE)
    assert boundary(LOAD, rising(5121.0)).value is None
    assert boundary(LOAD, rising(0.5)).value == 1.0
    wide = replace(LOAD, steps=(640.0, 1280.0))
    assert boundary(wide, rising(0.5)).value == 10.0  # the least over 64


def test_a_value_outside_the_sold_ones_that_the_spec_has_is_tried_too() -> None:
    assert boundary(RATE, rising(90.0), present=100.0).value == pytest.approx(90.0, rel=TOLERANCE)
    assert boundary(RATE, rising(5.0), present=4.0).value == pytest.approx(5.0, rel=TOLERANCE)


def test_a_metric_that_is_not_monotone_is_bisected_at_its_first_crossing() -> None:
    """Half at 20 and from 60 on; none between: the search starts at the first of the sold values that holds."""
    found = boundary(RATE, lambda value: 0.5 if 15 <= value <= 25 or value >= 60 else 0.1)
    assert found.value == pytest.approx(15, rel=TOLERANCE) and found.catalog_step == 20


def test_a_value_that_a_rule_refuses_at_another_key_does_not_meet_the_condition() -> None:
    """One refused at its own key lies between two that are sold: it is the boundary, and no sold value itself."""
    others = Refusal(("over-budget",), of_others=True)
    found = boundary(RATE, rising(40.0), refused={40.0: others})
    assert found.value is not None and found.value > 40 and found.catalog_step == 80
    assert [probe.errors for probe in found.probes if probe.value == 40] == [("over-budget",)]
    own = Refusal(("unsold",), of_others=False)
    found = boundary(RATE, rising(40.0), refused={40.0: own})
    assert found.value == pytest.approx(40.0, rel=TOLERANCE) and found.catalog_step == 80
    assert boundary(RATE, rising(40.0), refused={40.0: own, 80.0: own}).catalog_step is None


def test_a_refusal_is_asked_for_only_where_the_condition_holds_or_nothing_runs() -> None:
    """A value at which no layout runs does not meet it; its errors are kept, those of a slow one are not asked for."""
    error = Refusal(("x",), of_others=False)
    found = boundary(RATE, lambda value: None if value == 10 else 0.5 * value / 40, refused=dict.fromkeys(STEPS, error))
    errors = {probe.value: probe.errors for probe in found.probes if probe.value in STEPS}
    assert errors == {10.0: ("x",), 20.0: (), 40.0: ("x",)} | {80.0: ("x",)} and found.catalog_step is None
    assert [probe.metric for probe in found.probes if probe.value == 10] == [None]


def test_a_count_is_scanned_from_its_least_favorable_end() -> None:
    """The multiples and the divisors of the present count, its sixteenths, and the usual values."""
    found = boundary(COUNT, rising(11.0), present=8.0)
    assert found.value == 11.0  # 8 × 22 / 16
    assert found.catalog_step is None
    assert boundary(COUNT, rising(3.5), present=8.0).value == 4.0
    assert boundary(COUNT, rising(65.0), present=8.0).value is None
    assert boundary(COUNT, rising(64.0), present=8.0).value == 64.0
    fewer = replace(COUNT, better=-1)
    assert boundary(fewer, lambda value: 0.5 * 11.0 / value, present=8.0).value == 11.0


@pytest.mark.parametrize("limit", [9.0, 13.0, 63.5, 64.0, 700.0, 8191.5])
def test_of_a_count_of_which_any_number_is_sold_the_exact_one_is_found(limit: float) -> None:
    nodes = replace(COUNT, every=True, steps=(1.0, 2.0, 4.0, 8.0, 16.0, 1024.0, 16384.0))
    assert boundary(nodes, rising(limit), present=4.0).value == float(ceil(limit))
    fewest = replace(nodes, better=-1)
    assert boundary(fewest, lambda value: 0.5 * limit / value, present=4.0).value == float(floor(limit))


def test_an_exact_count_is_one_that_a_layout_divides() -> None:
    nodes = replace(COUNT, every=True)
    assert boundary(nodes, lambda value: rising(9.5)(value) if value % 3 == 0 else None, present=4.0).value == 12.0


def test_counts_to_scan_are_whole_and_related_to_the_present_one() -> None:
    found = _counts_to_scan(COUNT, 12.0)
    quotients = {12.0, 6.0, 4.0, 3.0, 2.0, 1.0}
    multiples = {12.0 * factor for factor in range(1, 9)}
    sixteenths = {3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0}  # 12 × 4 / 16 and so on, up to 31 / 16
    assert set(found) == quotients | multiples | sixteenths | {8.0}
    assert list(found) == sorted(found)
    assert set(_counts_to_scan(COUNT, 12.0, 1000.5)) - set(found) == set(range(960, 1003))
    assert min(set(_counts_to_scan(COUNT, 1.0, 5.0))) == 1
    assert _counts_to_scan(replace(COUNT, steps=tuple(map(float, range(1, 1000)))), 1.0) == tuple(
        map(float, range(1, 401))
    )
    assert set(_counts_to_scan(COUNT, 4096.0)) >= {64.0, 256.0 * 31, 4096.0 * 8}
    assert 4096.0 * 9 not in _counts_to_scan(COUNT, 4096.0) and 256.0 * 33 not in _counts_to_scan(COUNT, 4096.0)


def test_no_value_above_the_largest_of_a_load_is_tried() -> None:
    """Without a limit the search goes 64 times beyond the last step; with one of 60 to that."""
    for most, highest in ((float("inf"), 80.0 * 64), (60.0, 60.0)):
        lever = replace(LOAD, better=-1, most=most)
        tried = [probe.value for probe in boundary(lever, lambda value: 10.0 / value).probes]
        assert max(tried) == highest, most


def test_a_prompt_is_at_most_as_long_as_the_context_leaves_room_for_an_answer() -> None:
    text = """
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 200, concurrency: 8}}
layout: {tp: 1}
"""
    design = study_text(text, SETTINGS).design
    assert lever_of("input_tokens", design).most == 131_072 - 200
    assert lever_of("concurrency", design).most == float("inf")
