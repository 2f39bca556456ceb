"""Options of a buyer in words, in a table and in a picture, worked out from machines of round prices."""

from __future__ import annotations

import pytest

from clusterspec.money import Money
from clusterspec.quantity import DAY, HOUR
from clusterspec.records import replace
from clusterspec.report.paper.options import (
    _choice_picture,
    _choice_row,
    _work_heading,
    choice_name,
    difference_text,
    recommendation_text,
    slower_text,
)
from clusterspec.results.verdict import Choice, Choices
from tests.report.test_charts import number, shapes

DESIGN = Choice("this design", "design", 16, Money.of(10e6, "EUR"), 20 * DAY)
OTHER = Choice("b.yaml", "option", 12, Money.of(8e6, "EUR"), 30 * DAY)
FEWER = Choice("8 nodes", "size", 8, Money.of(5e6, "EUR"), 40 * DAY)
MORE = Choice("32 nodes", "size", 32, Money.of(21e6, "EUR"), 10 * DAY)
PLAN = Choice("best layout", "plan", 16, Money.of(10e6, "EUR"), 16 * DAY, settings={"pp": 2, "tp": 8, "dp": 4})
SERVED = Choice("this design", "design", 4, Money.of(1e6, "USD"), 1000.0)
SERVED_FEWER = Choice("2 nodes", "size", 2, Money.of(5e5, "USD"), 500.0)
SERVED_PLAN = Choice(
    "best engines", "plan", 4, Money.of(1e6, "USD"), 1200.0, engines={"both": {"tp": 8, "replicas": 4}}
)


def runs(*others: Choice, first: Choice = DESIGN, recommended: int | None = None) -> Choices:
    return Choices("s", (first, *others), recommended)


def served(
    *others: Choice, first: Choice = SERVED, recommended: int | None = None, load: float | None = None
) -> Choices:
    return Choices("1/s", (first, *others), recommended, load)


@pytest.mark.parametrize(
    ("found", "number", "said"),
    [
        (runs(OTHER), 1, "2 M EUR less, 10 days longer"),
        (runs(MORE), 1, "11 M EUR more, 10 days sooner"),
        (runs(PLAN), 1, "at the same price, 4 days sooner"),
        (runs(replace(FEWER, work=20 * DAY * 1.0009)), 1, "5 M EUR less, as fast"),
        (runs(replace(FEWER, work=20 * DAY * 1.002)), 1, "5 M EUR less, 0.04 days longer"),
        (runs(replace(OTHER, amount=Money.of(10e6 * 1.0009, "EUR"))), 1, "at the same price, 10 days longer"),
        (runs(replace(OTHER, amount=Money.of(10e6 * 1.002, "EUR"))), 1, "20 k EUR more, 10 days longer"),
        (runs(replace(OTHER, work=30 * HOUR), first=replace(DESIGN, work=20 * HOUR)), 1, "2 M EUR less, 10 h longer"),
        (runs(replace(OTHER, amount=Money(7e6, 9e6, "EUR"))), 1, "2 M EUR less, 10 days longer"),
        (served(SERVED_FEWER), 1, "500 k USD less, −50 % tokens"),
        (served(SERVED_PLAN), 1, "at the same price, +20 % tokens"),
    ],
)
def test_a_choice_is_printed_with_its_price_and_time(found: Choices, number: int, said: str) -> None:
    assert difference_text(found, found.rows[number]) == said


@pytest.mark.parametrize(
    ("found", "row", "cells"),
    [
        (runs(OTHER), 0, ("this design", "10 M EUR", "20 days")),
        (runs(OTHER, recommended=1), 1, ("b.yaml (recommended)", "8 M EUR", "30 days")),
        (runs(OTHER, recommended=0), 0, ("this design (recommended)", "10 M EUR", "20 days")),
        (runs(PLAN), 1, ("best layout with the layout tp 8, pp 2", "10 M EUR", "16 days")),
        (served(SERVED_PLAN), 1, ("best engines with 4 × tp 8", "1 M USD", "1,200")),
        (runs(replace(OTHER, surely_fits=False)), 1, ("b.yaml (may not fit)", "8 M EUR", "30 days")),
        (
            runs(replace(OTHER, surely_fits=False, errors=("odd-tp",))),
            1,
            ("b.yaml (error: odd tp)", "8 M EUR", "30 days"),
        ),
        (
            runs(replace(OTHER, holds_load=False, errors=("odd-tp",), over_budget=True)),
            1,
            ("b.yaml (does not hold the load, over the budget)", "8 M EUR", "30 days"),
        ),
        (runs(replace(OTHER, rent="3 years")), 1, ("b.yaml (rent of 3 years)", "8 M EUR", "30 days")),
        (runs(OTHER, first=replace(DESIGN, rent="3 years")), 1, ("b.yaml (purchase)", "8 M EUR", "30 days")),
        (
            runs(replace(OTHER, rent="1 year"), first=replace(DESIGN, rent="1 year")),
            1,
            ("b.yaml", "8 M EUR", "30 days"),
        ),
        (
            runs(replace(OTHER, work=90.0), first=replace(DESIGN, work=30 * HOUR)),
            0,
            ("this design", "10 M EUR", "30 h"),
        ),
    ],
)
def test_a_row_of_choices_has_marks_price_and_work(found: Choices, row: int, cells: tuple[str, str, str]) -> None:
    made = _choice_row(found, row)
    assert (made.cells, made.field) == (cells, f"choices.rows[{row}]")


def test_the_head_of_the_work_says_what_it_counts() -> None:
    heads = [_work_heading(found) for found in (runs(), served(), replace(served(), of_targets=True))]
    assert heads == ["Run", "Tokens per second", "Tokens per second within the targets"]


RULE = ("odd-tp",)
NO_LOAD = replace(SERVED, holds_load=False)
WITHOUT = "Of the choices without errors that surely fit"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        # the other machine is recommended
        (runs(OTHER, recommended=1),
         f"Recommended: b.yaml (2 M EUR less, 10 days longer). {WITHOUT} it does the most work for its price."),
        (runs(FEWER, recommended=1),
         "Recommended: 8 nodes of this machine (5 M EUR less, 20 days longer). "
         f"{WITHOUT} it does the most work for its price."),
        (runs(PLAN, recommended=1),
         "Recommended: best layout of this machine with the layout tp 8, pp 2 (at the same price, 4 days sooner). "
         f"{WITHOUT} it does the most work for its price."),
        (runs(replace(OTHER, per_million=2.0), recommended=1),
         f"Recommended: b.yaml (2 M EUR less, 10 days longer). {WITHOUT} it has the lowest cost per token."),
        (runs(OTHER, replace(MORE, over_budget=True), recommended=1),
         "Recommended: b.yaml (2 M EUR less, 10 days longer). Of the choices without errors and within the budget that "
         "surely fit it does the most work for its price."),
        # rents and purchases do not compare
        (runs(replace(OTHER, rent="3 years"), recommended=0),
         "Of the purchases without errors that surely fit, this design does the most work for its price."),
        (runs(replace(OTHER, rent="3 years"), first=replace(DESIGN, rent="1 year"), recommended=0),
         "Of the rents of 1 year without errors that surely fit, this design does the most work for its price."),
        # the design is recommended
        (runs(OTHER, recommended=0), f"{WITHOUT}, this design does the most work for its price."),
        (runs(MORE, recommended=0),
         "Each other size of this machine is slower or more expensive than this design."),
        (runs(MORE, replace(MORE, errors=RULE), recommended=0),
         "Each other size of this machine without errors is slower or more expensive than this design."),
        (runs(FEWER, recommended=0),
         "Each other size of this machine is slower or more expensive than this design. 8 nodes would be cheaper and "
         "slower: 5 M EUR less, 20 days longer."),
        (runs(replace(FEWER, work=20 * DAY), recommended=0),
         f"{WITHOUT}, this design does the most work for its price."),
        (runs(OTHER, FEWER, recommended=0),
         f"{WITHOUT} and are neither slower nor more expensive, this design does the most work for its price. 8 nodes "
         "would be cheaper and slower: 5 M EUR less, 20 days longer."),
        # none is recommended
        (runs(replace(OTHER, errors=RULE), first=replace(DESIGN, errors=RULE)),
         "No choice is recommended: each of the choices has an error."),
        (runs(OTHER, first=replace(DESIGN, over_budget=True, surely_fits=False)),
         "No choice is recommended: each of the choices exceeds the budget or may not fit in memory."),
        (served(replace(SERVED_FEWER, holds_load=False), first=NO_LOAD),
         "No choice is recommended: each of the choices does not hold the load."),
        (served(SERVED_FEWER, load=400.0),
         "None is recommended, since the load needs less than this design. 2 nodes would hold the load for less, with "
         "less in reserve: 500 k USD less, −50 % tokens."),
        # a load
        (served(SERVED_FEWER, load=400.0, recommended=0),
         f"{WITHOUT} and are neither slower nor more expensive, this design does the most work for its price. 2 nodes "
         "would hold the load for less, with less in reserve: 500 k USD less, −50 % tokens."),
        (served(replace(SERVED_FEWER, holds_load=False), load=900.0, recommended=0),
         f"{WITHOUT} and hold the load, this design does the most work for its price."),
        (served(SERVED_PLAN, SERVED_FEWER, load=400.0, recommended=1),
         "Recommended: best engines of this machine with 4 × tp 8 (at the same price, +20 % tokens). "
         f"{WITHOUT} it does the most work for its price. 2 nodes would hold the load for less, with less in reserve: "
         "500 k USD less, −50 % tokens."),
        (served(SERVED_PLAN, SERVED_FEWER, recommended=1),
         "Recommended: best engines of this machine with 4 × tp 8 (at the same price, +20 % tokens). "
         f"{WITHOUT} it does the most work for its price."),
    ],
)  # fmt: skip
def test_a_recommendation_names_its_reason_and_the_cheaper_choice(found: Choices, said: str) -> None:
    assert recommendation_text(found) == said


def test_a_reason_that_one_of_several_choices_has_is_named() -> None:
    """No choice is recommended where each has a reason, and not all have the same."""
    rows = (replace(DESIGN, errors=RULE), replace(OTHER, holds_load=False), replace(MORE, over_budget=True), OTHER)
    said = recommendation_text(runs(*rows[1:], first=rows[0]))
    assert said.endswith("each of the choices has an error or exceeds the budget or does not hold the load.")
    unfit = recommendation_text(runs(replace(OTHER, surely_fits=False)))
    assert unfit == "No choice is recommended: each of the choices may not fit in memory."


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ((FEWER,), True),
        ((OTHER,), False),  # another spec
        ((replace(FEWER, errors=RULE),), False),
        ((replace(FEWER, surely_fits=False),), False),
        ((replace(FEWER, holds_load=False),), False),
        ((replace(FEWER, work=19 * DAY),), False),  # faster
        ((replace(FEWER, work=20 * DAY),), False),  # as fast
        ((replace(FEWER, amount=DESIGN.amount),), False),  # as expensive
        ((replace(FEWER, name="12 nodes", amount=Money.of(7e6, "EUR")), FEWER), True),  # the cheapest
        ((replace(PLAN, name="8 nodes", work=40 * DAY, amount=Money.of(5e6, "EUR")),), True),
    ],
)
def test_only_a_sound_size_that_is_cheaper_and_slower_is_told(rows: tuple[Choice, ...], told: bool) -> None:
    said = slower_text(runs(*rows))
    assert (said != "") is told
    assert not told or said.endswith(" would be cheaper and slower: 5 M EUR less, 20 days longer.")
    assert not told or said.startswith(f" {choice_name(rows[0]) if rows[0].kind == 'plan' else '8 nodes'}")


@pytest.mark.parametrize(
    ("price", "head", "at"),
    [
        (2e9, "price, bn EUR", 2.0),
        (1e9, "price, bn EUR", 1.0),
        (3e6, "price, M EUR", 3.0),
        (1e3, "price, k EUR", 1.0),
        (1e6, "price, M EUR", 1.0),
        (9.0, "price, EUR", 9.0),
    ],
)
def test_prices_of_a_picture_are_in_the_unit_of_the_highest(price: float, head: str, at: float) -> None:
    """The axis goes from 0 to 1.08 times the highest price, on 62 to 414."""
    picture = _choice_picture(runs(first=replace(DESIGN, amount=Money.of(price, "EUR"))))
    texts = [(each["text"], number(each, "x")) for each in shapes(picture.svg, "text")]
    assert {head, "days of the run"} <= {text for text, _ in texts}
    for value, x in ((float(text), x) for text, x in texts if text.replace(".", "").isdigit() and x >= 62):
        assert x == pytest.approx(62 + 352 * value / (1.08 * at), abs=0.06)
    (mark,) = shapes(picture.svg, "circle")
    assert (number(mark, "cx"), number(mark, "cy")) == pytest.approx((62 + 352 / 1.08, 168 - 138 / 1.1), abs=0.06)


def test_a_picture_marks_designs_by_letters_and_machines_that_do_not_work_by_rings() -> None:
    slow = replace(OTHER, holds_load=False)
    picture = _choice_picture(runs(OTHER, replace(FEWER, errors=RULE), PLAN))
    texts = [each["text"] for each in shapes(picture.svg, "text")]
    assert {"t", "b", "8 nodes", "best layout, other layout"} <= {*texts} and "b.yaml" not in texts
    rings = [number(each, "cx") for each in shapes(picture.svg, "circle") if each["fill"] == "none"]
    assert rings == [pytest.approx(62 + 352 * 5 / 10.8, abs=0.06)], "the one with errors"
    assert picture.caption == "Price against time; the line is this machine in other sizes; hollow: has errors"
    (line,) = shapes(picture.svg, "polyline")
    assert len(line["points"].split()) == 2, "the design and its other size"
    captions = {
        runs(slow): "hollow: does not hold the load",
        runs(replace(slow, errors=RULE)): "hollow: does not hold the load",
        runs(replace(OTHER, errors=RULE), slow): "hollow: has errors or does not hold the load",
    }
    heights = sorted(number(each, "cy") for each in shapes(picture.svg, "circle") if each["fill"] == "none")
    assert heights == [pytest.approx(168 - 138 * 40 / 44, abs=0.06)], "40 days of at most 1.1 × 40"
    for found, ending in captions.items():
        assert _choice_picture(found).caption.endswith(f"sizes; {ending}")
    assert _choice_picture(runs(OTHER)).caption.endswith("in other sizes")
    idle = _choice_picture(runs(replace(FEWER, work=20 * DAY)))
    (line,) = shapes(idle.svg, "polyline")
    assert len(line["points"].split()) == 1, "a design whose other nodes have no work is none of the sizes"
    for size, count in ((20.03 * DAY, 3), (20.01 * DAY, 2)):
        one = _choice_picture(runs(replace(FEWER, work=size), MORE))
        (line,) = shapes(one.svg, "polyline")
        assert len(line["points"].split()) == count, "a thousandth of its time"


def test_a_picture_of_served_tokens_has_its_load_and_no_unit_of_time() -> None:
    """Tokens up to 1.1 × 1000 on 168 to 30: the load of 400 is at 117.8."""
    picture = _choice_picture(served(SERVED_FEWER, load=400.0))
    texts = {each["text"]: each for each in shapes(picture.svg, "text")}
    assert {"output tokens per second", "price, M USD", "load: 400"} <= texts.keys()
    (level,) = [line for line in shapes(picture.svg, "line") if "stroke-dasharray" in line]
    assert number(level, "y1") == pytest.approx(168 - 138 * 400 / 1100, abs=0.06)
    assert picture.caption.startswith("Price against throughput at equal load per accelerator; ")
    targets = _choice_picture(replace(served(), of_targets=True))
    assert targets.caption.startswith("Price against highest throughput within the targets; ")
    assert not [line for line in shapes(targets.svg, "line") if "stroke-dasharray" in line]
    hours = _choice_picture(runs(first=replace(DESIGN, work=30 * HOUR)))
    assert "hours of the run" in [each["text"] for each in shapes(hours.svg, "text")]
