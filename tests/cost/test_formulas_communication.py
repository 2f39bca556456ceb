"""Laws of the communication formulas; what they give on numbers worked by hand is in test_worked_examples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.formulas import collectives, experts, topologies

SIZES = st.floats(1.0, 1e12)
RANKS = st.integers(2, 4096)
RATES = st.floats(1e9, 2e12)


@given(SIZES, RANKS, RATES, st.floats(0, 1e-3))
def test_a_ring_all_reduce_is_a_reduce_scatter_and_an_all_gather(
    size: float, n: int, rate: float, alpha: float
) -> None:
    parts = 2 * collectives.gather_time(size, n, rate, alpha)
    assert collectives.all_reduce_time(size, n, rate, alpha) == pytest.approx(parts)


@given(SIZES, RATES, st.floats(0, 1e-3))
def test_one_rank_costs_nothing(size: float, rate: float, alpha: float) -> None:
    assert collectives.all_reduce_time(size, 1, rate, alpha) == 0
    assert collectives.gather_time(size, 1, rate, alpha) == 0
    assert topologies.all_reduce_time(size, 1, 1, rate, rate) == 0
    assert topologies.gather_time(size, 1, rate) == 0
    assert experts.traffic_inside(size, 1, 1) == experts.traffic_between(size, 1, 1) == 0
    assert collectives.island_traffic(size, 1) == 0


@given(SIZES, RANKS, RATES)
def test_reduction_in_the_switch_never_sends_more_than_a_ring_of_two_or_more(size: float, n: int, rate: float) -> None:
    assert (
        collectives.in_network_all_reduce_time(size, n, rate) <= collectives.all_reduce_time(size, n, rate) * (1 + 1e-9)
        or n == 2
    )


TIMES = st.floats(0, 1e3, allow_subnormal=False)


@given(st.floats(0, 1, allow_subnormal=False), TIMES, TIMES)
def test_a_pipeline_costs_between_its_parts_and_twice_its_parts(alpha: float, sending: float, filling: float) -> None:
    time = collectives.pipelined_time(alpha, sending, filling)
    assert alpha + sending <= time <= alpha + sending + min(sending, filling) * (1 + 1e-9)


@given(st.floats(0, 1), st.floats(0, 1e3))
def test_overlapped_time_is_at_least_the_longer_part(alpha: float, sending: float) -> None:
    assert collectives.overlapped_time(alpha, sending) >= max(alpha, sending) * (1 - 1e-9)


@given(SIZES, st.integers(1, 512), st.integers(1, 64))
def test_all_to_all_sends_every_part_but_its_own(size: float, islands: int, m: int) -> None:
    n = islands * m
    sent = experts.traffic_inside(size, n, m) + experts.traffic_between(size, n, m)
    assert sent == pytest.approx(collectives.gather_factor(n) * size)


@given(st.integers(2, 128), st.integers(1, 64))
def test_staging_needs_no_more_messages_than_sending_directly(islands: int, m: int) -> None:
    assert experts.staged_messages(m, islands) <= experts.direct_messages(islands * m)


@given(st.integers(2, 64), st.integers(1, 64), RATES)
def test_no_ring_beats_the_ceiling_of_its_islands(islands: int, m: int, rate: float) -> None:
    n = islands * m
    size = 1e9
    wire = topologies.inter_island_time(size, islands, m * rate)
    assert collectives.bus_bandwidth(size, wire, collectives.all_reduce_factor(n)) == pytest.approx(
        collectives.island_bandwidth_ceiling(n, islands, rate)
    )


@given(st.integers(1, 4096), st.integers(1, 4096))
def test_a_ring_crosses_between_islands_no_more_often_than_it_steps(islands: int, m: int) -> None:
    n = islands * m
    steps = collectives.all_reduce_steps(n)
    assert 0 <= collectives.crossing_steps(steps, n, islands) <= steps + 1e-9


@given(st.integers(1, 64))
def test_a_closed_axis_is_never_longer_than_an_open_one(side: int) -> None:
    assert topologies.farthest_hops(side, 1) <= topologies.farthest_hops(side, 0) or side == 1
    assert topologies.all_to_all_time(1.0, side, 2.0) <= topologies.all_to_all_time(1.0, side, 1.0)


def test_formulas_accept_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    sizes, ranks = numpy.array([1e6, 1e9]), numpy.array([8, 16])
    together = collectives.all_reduce_time(sizes, ranks, 450e9, 1e-6) + collectives.island_traffic(sizes, ranks) / 50e9
    alone = [(1e6, 8), (1e9, 16)]
    single = [
        collectives.all_reduce_time(s, n, 450e9, 1e-6) + collectives.island_traffic(s, n) / 50e9 for s, n in alone
    ]
    assert together.tolist() == pytest.approx(single)
    assert collectives.pipelined_time(1e-6, sizes, sizes).tolist() == [1e-6 + 1.5e6, 1e-6 + 1.5e9]
