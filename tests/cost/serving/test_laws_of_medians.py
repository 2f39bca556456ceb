"""The median wait of prompts of an open load, and the ends of ranges, by hand."""

from __future__ import annotations

from math import exp, log

import pytest

from clusterspec.cluster.requests import Lengths
from clusterspec.cost.serving.constants import LOSSES, RANGES, TAILS
from clusterspec.cost.serving.flight_times import _median_above_mean, _request_waits
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.preemption import FullCache
from clusterspec.records import replace
from tests.cost.serving.test_steady import APART, CLOSED, OPEN, STEADY, pools

STEP = 0.02 * (1 - exp(-8))
"""Seconds of a step in which one of 8 sequences decodes."""


@pytest.mark.parametrize(
    ("pools", "rate", "ahead", "median"),
    [
        # a prompt takes 0.2 s: a share of the rate × 0.2 of the prompts find another one, and wait 0.4 s in the mean
        (OPEN, 4.0, 0.0, (0.4 - 0.2 * STEP / 2) / 0.8 * log(1.6)),
        (OPEN, 4.0, 0.1, (0.3 - 0.2 * STEP / 2) / 0.8 * log(1.6)),
        (OPEN, 6.0, 0.0, 0.4 * log(2)),  # every prompt waits
        (OPEN, 6.0, 0.1, 0.3 * log(2)),
        (OPEN, 1.0, 0.0, STEP / 2 / 0.8),  # most wait for a part of the step that runs
        (OPEN, 0.0, 0.0, None),
        (CLOSED, 4.0, 0.0, None),
        (APART, 4.0, 0.0, None),
        (OPEN._replace(load=replace(OPEN.load, input_lengths=Lengths(2048, 8192, None))), 4.0, 0.0, None),
    ],
)
def test_half_of_the_prompts_of_an_open_load_wait_for_less_than_the_mean(
    pools: Pools, rate: float, ahead: float, median: float | None
) -> None:
    found = _median_above_mean(pools, STEADY._replace(rate=rate, ahead=ahead))
    assert found == pytest.approx(0.0 if median is None else median - (0.4 - ahead))


@pytest.mark.parametrize(
    ("pools", "median"), [(OPEN, 0.4 * log(2) - 0.4), (pools("concurrency: 8, load: static"), 0.0)]
)
def test_the_mean_first_token_of_open_and_static_loads_has_no_delay_of_its_own(pools: Pools, median: float) -> None:
    """Every prompt waits; a cache that preempts adds half a second and 10 ms for each of 12 requests."""
    _, _, (early, delay), run, later = _request_waits(pools, STEADY._replace(rate=6.0), 12.0, FullCache(0.5, 0.01))
    assert early == pytest.approx(median) and delay == 0.0 and run is None
    assert later == pytest.approx(0.62 if pools is OPEN else 0.0)


def test_each_range_contains_its_prediction_and_ends_within_the_errors_of_its_figure() -> None:
    """Throughput is off by less than half upwards, times by a factor of eight at most; ends are apart."""
    for name, (low, high) in {**RANGES, **LOSSES, **{f"tail {name}": ends for name, ends in TAILS.items()}}.items():
        most = 8.0 if "ttft" in name else 2.5 if "tpot" in name else 1.5
        assert 0.25 < low < 1.0 < high < most and high / low > 1.2, name
    (low, high), (lower, higher) = LOSSES[""], LOSSES["experts"]
    assert lower < low and high < higher, "the shares of experts are less certain"
