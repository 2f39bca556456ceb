"""Serving predictions against published plans: the goals that we hold ourselves to, in every test run."""

from __future__ import annotations

import pytest

from tests.effort import ALL_CASES
from tools.accuracy import board, serving_cases
from tools.accuracy.cases import Case
from tools.accuracy.figures import score
from tools.accuracy.serving_folds import GRID, value
from tools.accuracy.serving_page import family
from tools.accuracy.split import is_held_out


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(serving_cases.cases())


GOALS = {"tpot": (0.12, 0.30), "ttft": (0.26, 1.0), "throughput": (0.13, 0.40)}


@pytest.mark.parametrize("quantity", GOALS)
def test_serving_times_agree_with_published_runs(cases: list[Case], quantity: str) -> None:
    found = score(quantity, [case for case in cases if case.group.startswith(quantity)])
    median, p90 = GOALS[quantity]
    assert found.median <= median
    assert found.p90 <= p90
    assert abs(found.bias) <= 0.08


WIDTHS = {"tpot": 0.6, "ttft": 1.5, "throughput": 0.4}


@pytest.mark.parametrize("quantity", WIDTHS)
def test_most_published_serving_figures_are_within_the_predicted_range(cases: list[Case], quantity: str) -> None:
    found = score(quantity, [case for case in cases if case.group.startswith(quantity)])
    assert found.inside is not None and found.inside >= 0.8
    assert found.width is not None and found.width <= WIDTHS[quantity]


def test_four_in_five_figures_of_sources_that_set_no_range_are_within_it() -> None:
    """Every eighth plan of the sources of the held-out side, or every other; 80 % within 5 points."""
    held_out = [row["id"] for row in serving_cases.rows("new_serving") if is_held_out(row["source"])]
    chosen = frozenset(held_out[:: 2 if ALL_CASES else 8])
    found: dict[str, list[Case]] = {}
    for row, _, times in serving_cases.predicted_plans("new_serving", lambda row: row["id"] in chosen):
        for case in serving_cases.cases_of_plan(row, times):
            found.setdefault(case.group.partition(",")[0], []).append(case)
    assert set(found) == set(WIDTHS)
    for quantity, some in found.items():
        inside = score(quantity, some).inside
        assert inside is not None and 0.75 <= inside <= 0.9, (quantity, inside)


def test_every_published_plan_has_an_address_and_a_prediction(cases: list[Case]) -> None:
    assert len(cases) > 300
    assert all(case.predicted and case.source.startswith("https://") for case in cases)


def test_the_board_shows_what_is_predicted_now(cases: list[Case]) -> None:
    shown = {line.id: line for line in board.read() if line.area == "serving"}
    for case in cases:
        line = shown.pop(f"{case.id} {case.group.partition(',')[0]}")
        now, then = ((one.published, one.predicted, one.low, one.high) for one in (case, line))
        assert now == pytest.approx(then, rel=1e-4), f"{case.id}: run `python -m tools.accuracy`"
    assert not shown


def test_the_values_in_use_are_among_those_that_were_tried() -> None:
    assert all(min(values) <= value(name) <= max(values) for name, values in GRID.items())


@pytest.mark.parametrize(
    ("model", "of"), [("llama-3.3-70b", "llama"), ("qwen3-235b-a22b", "qwen"), ("gpt-oss-20b", "gpt")]
)
def test_a_model_belongs_to_a_family(model: str, of: str) -> None:
    assert family(model) == of


def test_no_measurement_is_entered_under_two_sources() -> None:
    """Two sources of one table would put it on both sides of the split: no two plans of a model on an accelerator have
    two equal figures.
    """
    figures = ("tpot", "ttft", "output_tokens_per_second")
    seen: dict[tuple[str, ...], str] = {}
    for row in (*serving_cases.rows(), *serving_cases.rows("new_serving")):
        stated = tuple(row[figure] for figure in figures)
        if sum(map(bool, stated)) >= 2:
            key = (row["accelerator"], row["model"], *stated)
            assert seen.setdefault(key, row["source"]) == row["source"], row["id"]
