"""The headline figures of a report, from changed results."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.records import replace
from clusterspec.report.paper.blocks import Card
from clusterspec.report.paper.cards import headline_cards
from clusterspec.results.full import FullReport
from clusterspec.units import display, percent
from tests.effort import thorough
from tests.report.test_estimate_text import SPEC
from tests.report.test_paper import SPECS, own_parts
from tests.report.test_paper_rows import ROLLOUT
from tests.report.test_paper_words import planned, trained


def cards(found: FullReport) -> dict[str, Card]:
    return {card.label: card for card in headline_cards(found)}


@thorough
def test_a_training_design_begins_with_its_step_and_ends_with_its_price() -> None:
    found = own_parts(SPECS["priced"], "design")
    assert list(cards(found)) == [
        *("Step time", "MFU", "Tokens per second", "Memory", "Run with interruptions"),
        *("Sum of the 6 priced lines", "Cost over the term"),
    ]
    bought = own_parts(SPECS["priced"], "procurement")
    assert list(cards(bought)) == [
        *("Sum of the 6 priced lines", "Cost over the term", "Memory", "Run with interruptions"),
    ]
    assert list(cards(trained())) == ["Step time", "MFU", "Tokens per second", "Memory"]
    assert list(cards(own_parts(SPECS["bare"]))) == []


def test_the_step_and_its_rates_stand_with_range_and_recomputation() -> None:
    plan = trained().estimate.plan
    assert plan.step_time and plan.step_time_range and plan.mfu and plan.hfu and plan.hfu > plan.mfu
    found = cards(trained())
    fast, slow = (display(end, "s") for end in plan.step_time_range)
    assert (found["Step time"].value, found["Step time"].note) == (
        display(plan.step_time.value, "s"),
        f"{fast} to {slow}",
    )
    assert (found["MFU"].value, found["MFU"].note) == (percent(plan.mfu), f"HFU {percent(plan.hfu)}")
    rate = plan.tokens_per_second_per_accelerator
    assert rate is not None
    assert (found["Tokens per second"].value, found["Tokens per second"].note) == (f"{rate:,.0f}", "per accelerator")


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ({"step_time": None}, ["MFU", "Tokens per second", "Memory"]),
        ({"mfu": None}, ["Step time", "Tokens per second", "Memory"]),
        ({"tokens_per_second_per_accelerator": None}, ["Step time", "MFU", "Memory"]),
        ({"hfu": None}, ["Step time", "MFU", "Tokens per second", "Memory"]),
        ({"memory": None}, ["Step time", "MFU", "Tokens per second"]),
    ],
)
def test_a_figure_that_is_not_known_has_no_card(given: dict[str, Any], labels: list[str]) -> None:
    changed = planned(**given) if given.keys() <= CHANGED else planned(given)
    assert list(cards(changed)) == labels
    assert "hfu" not in given or cards(changed)["MFU"].note == ""


CHANGED = {"mfu", "tokens_per_second_per_accelerator", "hfu"}
"""Fields of a plan; the others are worked out when they are read."""


def test_a_part_of_the_machine_is_named_with_its_time_and_rate() -> None:
    """512 ranks on a machine of 127 nodes of 8."""
    shown = cards(own_parts(SPEC))
    assert shown["Step time"].note.endswith(", on 512 of 1,016")
    assert shown["Tokens per second"].note == "per accelerator used"


def test_the_parts_of_reinforcement_learning_have_no_step_of_their_own() -> None:
    found = own_parts(ROLLOUT)
    times = found.estimate.plan.rl
    assert times is not None
    shown = cards(found)
    assert [label for label in shown if label in {"Step time", "Step, all roles", "MFU", "Tokens per second"}] == [
        *("Step, all roles", "Tokens per second", "MFU"),
    ]
    assert shown["Step, all roles"].value == display(times.step, "s")
    assert shown["Tokens per second"].note.startswith("per accelerator, all roles")
    assert shown["MFU"].field == "estimate.rl.mfu"
    plan = replace(found.estimate.plan)
    vars(plan)["rl"] = replace(times, peak=None)
    assert "MFU" not in cards(replace(found, estimate=replace(found.estimate, plan=plan)))


def with_plan(found: FullReport, **changes: Any) -> Any:
    return replace(found.estimate, plan=replace(found.estimate.plan, **changes))


def remembering(ends: tuple[float, float] | None) -> FullReport:
    """The training report with other ends of its range of memory, in parts of the capacity."""
    use = trained().estimate.plan.memory
    assert use is not None and use.capacity is not None
    low, high = (end * use.capacity.value for end in ends) if ends is not None else (None, None)
    return planned({"memory": replace(use, total=replace(use.total, low=low, high=high))})


@pytest.mark.parametrize(
    ("ends", "tone", "word"),
    [
        ((0.6, 1.0), "good", "fits"),
        ((0.6, 1.01), "fair", "may not fit"),
        ((1.0, 1.01), "fair", "may not fit"),
        ((1.01, 1.1), "bad", "does not fit"),
        (None, "good", "fits"),
    ],
)
def test_memory_is_told_by_the_ends_of_its_range(ends: tuple[float, float] | None, tone: str, word: str) -> None:
    found = remembering(ends)
    plan = found.estimate.plan
    assert plan.memory is not None and plan.memory.capacity is not None
    card = cards(found)["Memory"]
    assert (card.tone, card.note) == (
        tone,
        f"{word}: {display(plan.memory.total.value, 'B')} of {plan.capacity_text}",
    )
    assert card.value == percent(plan.memory.total.value / plan.memory.capacity.value)


def test_a_run_is_told_with_interruptions_where_they_are_known() -> None:
    found = own_parts(SPECS["priced"], "design")
    kept, plan = found.reliability, found.estimate.plan
    assert kept is not None and kept.with_interruptions is not None and plan.time_to_train is not None
    alone = display(plan.time_to_train, "s")
    assert cards(found)["Run with interruptions"].note.startswith(f"{alone} without interruptions")
    for unknown in (
        replace(found, reliability=None),
        replace(found, reliability=replace(kept, with_interruptions=None)),
    ):
        card = cards(unknown)["Run"]
        assert (card.value, card.field) == (alone, "estimate.time_to_train")
        assert card.note.startswith("without interruptions")
    assert not any(
        label.startswith("Run") for label in cards(replace(found, estimate=with_plan(found, time_to_train=None)))
    )


def test_times_of_serving_stand_for_a_plan_that_has_them() -> None:
    found = own_parts(SPECS["serving"])
    shown = cards(found)
    assert next(label for label in shown if label != "Memory") == "Time to first token"
    assert all(card.field.startswith("estimate.serving.") for label, card in shown.items() if label != "Memory")
    without = cards(replace(found, estimate=with_plan(found, serving=None)))
    assert not any(card.field.startswith("estimate.serving") for card in without.values())


@thorough
def test_prices_have_their_date_and_a_cost_its_term() -> None:
    found = own_parts(SPECS["priced"], "procurement")
    cost = found.cost.cost
    assert cost is not None and cost.total is not None
    shown = cards(found)
    assert shown["Sum of the 6 priced lines"].note == "prices of 2026-11-01"
    assert shown["Cost over the term"].note == "over 4 years, a partial sum"

    def costed(**changes: Any) -> dict[str, Card]:
        return cards(replace(found, cost=replace(found.cost, cost=replace(cost, **changes))))

    assert costed(as_of=None)["Sum of the 6 priced lines"].note == "prices without a date"
    assert costed(missing=())["Cost over the term"].note == "over 4 years"
    assert "Cost over the term" not in costed(total=None) and "Cost over the term" not in costed(years=0.0)
    token = replace(cost.total, value=0.25)
    assert "A million output tokens" not in costed(per_million_tokens=token), "a training job sells no tokens"
    serving = own_parts(SPECS["serving-pools"])
    assert cards(serving)["A million output tokens"].note == "at this load"
