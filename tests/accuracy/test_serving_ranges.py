"""The ranges of serving against the rule that the sources of the fitted side give."""

from __future__ import annotations

from math import exp, log

import pytest

from clusterspec.cost.serving.constants import RANGES
from tests.effort import ALL_CASES
from tools.accuracy import serving_ranges
from tools.accuracy.serving_ranges import Errors, fitted_errors, ranges_by_rule, recorded

BY_RULE = (
    "tpot",
    "tpot open",
    "tpot experts",
    "ttft",
    "output_tokens_per_second",
    "output_tokens_per_second experts",
    "output_tokens_per_second experts recent",
)


LAW = "`make test-all` predicts the 540 plans of the fitted side once more, of which the board has 318"


@pytest.fixture(scope="module")
def errors() -> Errors:
    return fitted_errors()


def test_the_record_has_the_ranges_in_use_and_near_them_those_said_to_follow_the_rule() -> None:
    record = recorded()
    assert set(record) == set(RANGES)
    for regime, (used, noted) in record.items():
        assert used == RANGES[regime]
        assert regime not in BY_RULE or noted == pytest.approx(used, abs=0.015)


@pytest.mark.skipif(not ALL_CASES, reason=LAW)
def test_the_record_has_the_ranges_in_use_and_those_of_the_rule(errors: Errors) -> None:
    """`python -m tools.accuracy.serving_ranges write` writes it anew where a prediction has changed."""
    rule = ranges_by_rule(errors)
    record = recorded()
    assert set(record) == set(RANGES) == set(rule)
    for regime, (used, noted) in record.items():
        assert used == RANGES[regime]
        assert noted == pytest.approx(rule[regime], abs=0.015), regime


@pytest.mark.skipif(not ALL_CASES, reason=LAW)
def test_ranges_said_to_follow_the_rule_do(errors: Errors) -> None:
    rule = ranges_by_rule(errors)
    for regime in BY_RULE:
        assert RANGES[regime] == pytest.approx(rule[regime], abs=0.015)


def test_a_range_holds_four_in_five_figures_of_a_source_left_out() -> None:
    """Four sources, each of which lies a tenth apart from the next and varies by a tenth."""
    spread = [place / 10 - 0.05 for place in range(11)]
    some: Errors = {"tpot": {name: [0.1 * (number + each) for each in spread] for number, name in enumerate("abcd")}}
    low, high = (log(end) for end in ranges_by_rule(some)["tpot"])
    every = sorted(each for errors in some["tpot"].values() for each in errors)
    assert every[0] - 0.2 < low < every[4] < every[-5] < high < every[-1] + 0.2
    held = []
    for left, errors in some["tpot"].items():
        others = {"tpot": {name: each for name, each in some["tpot"].items() if name != left}}
        margin = (high - serving_ranges.weighted_quantile(some["tpot"], 0.9)) * 2  # over the root of four sources
        least, most = serving_ranges._ranges(others, ["tpot"], margin)["tpot"]
        held.append(sum(least <= each <= most for each in errors) / len(errors))
    assert sum(held) / len(held) == pytest.approx(0.8, abs=0.05)


def test_few_sources_take_related_ones_and_throughput_the_inverse_of_times() -> None:
    some: Errors = {"tpot experts": {"a": [0.5], "b": [0.4], "c": [0.45]}, "tpot early": {"d": [0.1]}}
    found = ranges_by_rule(some)
    assert found["tpot early"][0] <= exp(0.1) and found["tpot early"][1] >= exp(0.45)
    low, high = found["output_tokens_per_second experts"]
    assert low <= exp(-0.45) and high < 1
