"""The formulas of kernels and schedules: one function for a float and for a thousand of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.formulas import compute, experts, failures, pipeline
from clusterspec.cost.formulas import pipeline as overlap
from tests.effort import ALL_CASES, each

COUNT = 1_000
DRAWN = numpy.random.default_rng(7)


def whole(low: int, high: int) -> Any:
    return DRAWN.integers(low, high, COUNT).astype(float)


def real(low: float, high: float) -> Any:
    return DRAWN.uniform(low, high, COUNT)


FORMULAS: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (compute.larger, (real(0, 9), real(0, 9))),
    (compute.smaller, (real(0, 9), real(0, 9))),
    (compute.positive_part, (real(-9, 9),)),
    (compute.rounded_up, (whole(1, 9999), whole(1, 300))),
    (compute.gemm_flops, (whole(1, 9999), whole(1, 9999), whole(1, 9999))),
    (compute.gemm_traffic, (whole(1, 9999), whole(1, 9999), whole(1, 9999), real(0.5, 4))),
    (compute.depth_fill, (whole(1, 9999), real(1, 99))),
    (partial(compute.tile_fill, units=132), (whole(1, 9999), whole(1, 9999), whole(64, 256), whole(64, 256))),
    (compute.kernel_time, (real(0, 9), real(1, 9), real(0, 9), real(1, 9))),
    (compute.launch_idle_time, (real(0, 9), real(0, 9))),
    (compute.launch_overhead, (whole(1, 99), real(0, 9), real(0, 9), real(0, 1))),
    (
        partial(
            compute.host_launch_time,
            collectives=4,
            collective_interval=2.0,
            expert_launches=3,
            expert_interval=0.5,
            shards=2,
            shard_interval=1.5,
        ),
        (whole(9, 99), real(0, 9)),
    ),
    (compute.causal_pairs, (whole(1, 9999), whole(1, 9999))),
    (compute.core_flops, (whole(1, 9999), whole(1, 99), whole(64, 256), whole(64, 256))),
    (compute.score_traffic, (whole(1, 9999), whole(1, 9999), whole(1, 99), real(1, 9))),
    (pipeline.fill_and_drain_idle, (real(5, 9), real(0, 5), whole(1, 9))),
    (pipeline.zero_bubble_idle, (whole(1, 64), real(0, 9), real(0, 9), real(0, 9))),
    (pipeline.dualpipe_idle, (whole(1, 64), real(0, 9), real(0, 9), real(0, 9))),
    (overlap.exposed_time, (real(0, 9), real(0, 9), real(0, 1))),
    (overlap.straggler_wait, (real(0, 0.1), real(0, 6), real(1, 99))),
    (overlap.expected_largest, (whole(1, 10**6),)),
    (overlap.expected_longest, (whole(1, 10**6),)),
    (experts.distinct_ranks, (whole(1, 99), whole(1, 16))),
    (experts.fullest_load, (whole(1, 99), whole(1, 99), real(0, 1))),
    (pipeline.idle_share, (whole(1, 64), whole(1, 512), whole(1, 8))),
    (pipeline.micro_batches_for, (real(0.01, 1), whole(1, 64), whole(1, 8))),
    (failures.best_interval, (real(60, 9e6), real(1, 900))),
    (failures.lost_share, (real(60, 9e4), real(60, 9e6), real(1, 900))),
)


@each(("formula", "inputs"), FORMULAS)
def test_one_call_with_arrays_is_a_thousand_calls_with_floats(
    formula: Callable[..., Any], inputs: tuple[Any, ...]
) -> None:
    some = [column[:: 1 if ALL_CASES else 8] for column in inputs]
    single = [float(formula(*(float(value) for value in row))) for row in zip(*some, strict=True)]
    assert formula(*some) == pytest.approx(single, rel=1e-9)


positive = st.floats(1e-6, 1e6)


@given(communication=positive, computation=positive, share=st.floats(0, 1))
def test_overlap_never_takes_longer_than_no_overlap(communication: float, computation: float, share: float) -> None:
    seen, rounding = overlap.exposed_time(communication, computation, share), 1e-12 * (communication + computation)
    assert -rounding <= seen <= communication + rounding
    assert seen >= overlap.exposed_time(communication, computation * 2, share) - rounding


@given(length=st.integers(1, 10**6), window=st.integers(1, 10**6))
def test_a_causal_mask_leaves_at_most_half(length: int, window: int) -> None:
    pairs = compute.causal_pairs(length, window)
    assert 0 < pairs <= length * length / 2


@given(m=st.integers(1, 10**5), n=st.integers(1, 10**5), batch=st.integers(1, 64))
def test_tiles_cover_at_least_the_product(m: int, n: int, batch: int) -> None:
    assert 0 < compute.tile_fill(m, n, 256, 128, batch=batch, units=132) <= 1


@given(ranks=st.integers(1, 1024), chosen=st.integers(1, 16))
def test_a_token_reaches_at_most_as_many_ranks_as_it_has_experts(ranks: int, chosen: int) -> None:
    reached = experts.distinct_ranks(ranks, chosen)
    assert 1 - 1e-9 <= reached <= min(ranks, chosen) + 1e-9


@given(stages=st.integers(1, 64), forward=positive, backward=positive)
def test_zero_bubble_never_idles_more_than_one_forward_one_backward(
    stages: int, forward: float, backward: float
) -> None:
    half = backward / 2
    plain = pipeline.fill_and_drain_idle(stages * (forward + backward), forward + backward)
    assert pipeline.zero_bubble_idle(stages, forward, half, half) <= plain * (1 + 1e-9)


@given(stages=st.integers(2, 128), many=st.integers(1, 4096), virtual=st.integers(1, 8))
def test_the_computed_batch_gives_the_wanted_idle_share(stages: int, many: int, virtual: int) -> None:
    idle = pipeline.idle_share(stages, many, virtual)
    assert pipeline.micro_batches_for(idle, stages, virtual) == pytest.approx(many)


@given(between=st.floats(60, 1e7), cost=st.floats(1, 3600), factor=st.floats(0.1, 10))
def test_no_interval_loses_less_than_the_optimum(between: float, cost: float, factor: float) -> None:
    best = failures.best_interval(between, cost)
    lost = failures.lost_share(best, between, cost)
    assert failures.lost_share(best * factor, between, cost) >= lost * (1 - 1e-12)


def test_a_pipeline_without_virtual_stages_idles_for_one_pass_of_each_other_stage() -> None:
    """Two stages and one micro-batch: each waits for the other half of the time; 8 s of which 2 s are its own: 6 s."""
    assert pipeline.idle_share(2, 1) == 1 / 2
    assert pipeline.fill_and_drain_idle(8.0, 2.0) == 6.0


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 64])
@pytest.mark.parametrize("mean", [0.05, 1.0, 7.5, 40.0])
def test_prompts_on_the_fullest_rank_are_the_mean_largest_of_poisson_numbers(mean: float, ranks: int) -> None:
    """Σ k (F(k)^r − F(k − 1)^r) over the numbers k that occur."""
    share, below, former, expected = exp(-mean), exp(-mean), exp(-mean) ** ranks, 0.0
    for number in range(1, 400):
        share *= mean / number
        below += share
        expected += number * (below**ranks - former)
        former = below**ranks
    assert experts.prompts_on_fullest(mean, ranks) == pytest.approx(expected, rel=1e-6)
