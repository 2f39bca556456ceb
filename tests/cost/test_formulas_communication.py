"""Laws and worked examples of the communication formulas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.formulas import all_to_all, alpha_beta, bus, hierarchical, in_network, links, ring, torus, tree

SIZES = st.floats(1.0, 1e12)
RANKS = st.integers(2, 4096)
RATES = st.floats(1e9, 2e12)
GIGA = 1e9

WORKED = [
    ("NVLink to one NIC", links.accelerator_bandwidth(12.5, 2, 18) / links.bytes_per_second(400), 9.0),
    ("eight NICs of a node", links.node_bandwidth(8, links.bytes_per_second(400)), 400.0),
    ("32 NICs of 100", links.node_bandwidth(32, links.bytes_per_second(100)), 400.0),
    ("24 ports of 200", links.node_bandwidth(24, links.bytes_per_second(200)), 600.0),
    ("one all-reduce of 50 MB", ring.all_reduce_time(50e6, 8, 450e9) * 1e6, 194.44444444444443),
    ("the same, duplex taken for one way", ring.all_reduce_time(50e6, 8, 900e9) * 1e6, 97.22222222222221),
    ("320 of them", 320 * ring.all_reduce_time(50e6, 8, 450e9) * 1e3, 62.22222222222222),
    ("320 over one NIC", 320 * ring.all_reduce_time(50e6, 8, 50e9) * 1e3, 560.0),
    ("gradients, many ranks", ring.all_reduce_time_of_many(14e9, 50e9) * 1e3, 560.0),
    ("gradients, 32 ranks", ring.all_reduce_time(14e9, 32, 50e9) * 1e3, 542.5),
    ("pipeline sends", 16 * alpha_beta.transfer(0.0, 16e6, 50e9) * 1e3, 5.12),
    ("18 links, both ways", links.duplex(links.accelerator_bandwidth(12.5, 2, 18)), 900.0),
    ("ring of eight", ring.all_reduce_rate(8, 450), 257.14285714285717),
    ("ring of four", ring.all_reduce_rate(4, 50), 33.333333333333336),
    ("reduction in the switch", in_network.bus_bandwidth_ceiling(8, 450), 700.0),
    ("480 on the wire", in_network.wire_bandwidth(480, 8), 308.57142857142856),
    ("2 N sends to N + 1", in_network.gain(8), 1.7777777777777777),
    ("1 GB over eight", ring.all_reduce_time(1e9, 8, 50e9) * 1e3, 35.0),
    ("140 GB over eight", ring.all_reduce_time(140e9, 8, 400e9), 0.6125),
    ("crossover of NVLink", alpha_beta.crossover(1e-6, 450e9), 450e3),
    ("crossover of InfiniBand", alpha_beta.crossover(2e-6, 50e9), 100e3),
    ("two tiers, one phase after the other", 1 / hierarchical.all_reduce_time(1.0, 8, 4, 450, 400), 130.9090909090909),
    ("two tiers at once", 1 / hierarchical.pipelined_all_reduce_time(1.0, 8, 4, 450, 400), 257.14285714285717),
    ("steps of a ring of eight", ring.all_reduce_steps(8), 14),
    ("NVLink 1", links.accelerator_bandwidth(2.5, 8, 4), 80.0),
    ("NVLink 3", links.accelerator_bandwidth(6.25, 4, 12), 300.0),
    ("NVLink 5", links.accelerator_bandwidth(25, 2, 18), 900),
    ("PCIe 3 x16", links.slot_bandwidth(8, 16, links.PCIE_128B130B), 15.753846153846155),
    ("PCIe 4 x16", links.slot_bandwidth(16, 16, links.PCIE_128B130B), 31.50769230769231),
    ("PCIe 5 x16", links.slot_bandwidth(32, 16, links.PCIE_128B130B), 63.01538461538462),
    ("PCIe 6 x16", links.slot_bandwidth(64, 16, links.PCIE_FLIT), 121.0),
    ("PCIe 7 x16", links.slot_bandwidth(128, 16, links.PCIE_FLIT), 242.0),
    ("PCIe 6 x16, payload", links.slot_bandwidth(64, 16, links.PCIE_FLIT_PAYLOAD), 118.0),
    ("MI300X mesh", links.mesh_bandwidth(64, 8), 448),
    ("Gaudi 2 mesh", links.mesh_bandwidth(37.5, 8), 262.5),
    ("bisection of eight H100", links.duplex(links.bisection(8, 450e9)) / 1e12, 3.6),
    ("bisection of 256 H100 whose NVLink tapers 2:1", links.duplex(links.bisection(256, 225e9)) / 1e12, 57.6),
    ("factor of eight", bus.all_reduce_factor(8), 1.75),
    ("factor of 64", bus.all_reduce_factor(64), 1.96875),
    ("80 B parameters in fp32", alpha_beta.transfer(0.0, 80e9 * 4, links.bytes_per_second(200e9)), 12.8),
    ("a tensor, two all-reduces", 2 * ring.all_reduce_time(2**30, 8, 450e9) * 1e3, 8.351325297777779),
]


@pytest.mark.parametrize(("got", "want"), [case[1:] for case in WORKED], ids=[case[0] for case in WORKED])
def test_worked_examples_come_out_exactly(got: float, want: float) -> None:
    assert got == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(("size", "microseconds", "busbw"), [
    (32768, 43.83, 1.31), (524288, 80.4, 11.41), (16777216, 276.6, 106.15), (17179869184, 127997, 234.89),
])
def test_busbw_is_what_nccl_tests_prints(size: int, microseconds: float, busbw: float) -> None:
    printed = bus.bus_bandwidth(size, microseconds * 1e-6, bus.all_reduce_factor(8)) / GIGA
    assert printed == pytest.approx(busbw, abs=0.006)


@given(SIZES, RANKS, RATES, st.floats(0, 1e-3))
def test_a_ring_all_reduce_is_a_reduce_scatter_and_an_all_gather(
    size: float, n: int, rate: float, alpha: float
) -> None:
    parts = 2 * ring.gather_time(size, n, rate, alpha)
    assert ring.all_reduce_time(size, n, rate, alpha) == pytest.approx(parts)


@given(SIZES, RATES, st.floats(0, 1e-3))
def test_one_rank_costs_nothing(size: float, rate: float, alpha: float) -> None:
    assert ring.all_reduce_time(size, 1, rate, alpha) == 0
    assert ring.gather_time(size, 1, rate, alpha) == 0
    assert hierarchical.all_reduce_time(size, 1, 1, rate, rate) == 0
    assert torus.gather_time(size, 1, rate) == 0
    assert all_to_all.traffic_inside(size, 1, 1) == all_to_all.traffic_between(size, 1, 1) == 0
    assert tree.island_traffic(size, 1) == 0


@given(SIZES, RANKS, RATES)
def test_reduction_in_the_switch_never_sends_more_than_a_ring_of_two_or_more(size: float, n: int, rate: float) -> None:
    assert in_network.all_reduce_time(size, n, rate) <= ring.all_reduce_time(size, n, rate) * (1 + 1e-9) or n == 2


@given(st.floats(0, 1), st.floats(0, 1e3), st.floats(0, 1e3))
def test_a_pipeline_costs_between_its_parts_and_twice_its_parts(alpha: float, sending: float, filling: float) -> None:
    time = alpha_beta.pipelined(alpha, sending, filling)
    assert alpha + sending <= time <= alpha + sending + min(sending, filling) * (1 + 1e-9)


@given(st.floats(0, 1), st.floats(0, 1e3))
def test_overlap_never_beats_the_longer_part(alpha: float, sending: float) -> None:
    assert alpha_beta.overlapped(alpha, sending) >= max(alpha, sending) * (1 - 1e-9)


@given(SIZES, st.integers(1, 512), st.integers(1, 64))
def test_all_to_all_sends_every_part_but_its_own(size: float, islands: int, m: int) -> None:
    n = islands * m
    sent = all_to_all.traffic_inside(size, n, m) + all_to_all.traffic_between(size, n, m)
    assert sent == pytest.approx(bus.gather_factor(n) * size)


@given(st.integers(2, 128), st.integers(1, 64))
def test_staging_needs_no_more_messages_than_sending_directly(islands: int, m: int) -> None:
    assert all_to_all.staged_messages(m, islands) <= all_to_all.messages(islands * m)


@given(SIZES, st.integers(1, 64), st.integers(1, 64), RATES, RATES)
def test_phases_at_once_take_the_longest_of_them(size: float, m: int, k: int, inside: float, outside: float) -> None:
    together = hierarchical.pipelined_all_reduce_time(size, m, k, inside, outside)
    apart = hierarchical.all_reduce_time(size, m, k, inside, outside)
    assert together <= apart * (1 + 1e-9)
    assert apart <= 2 * together * (1 + 1e-9)


@given(st.integers(2, 64), st.integers(1, 64), RATES)
def test_no_ring_beats_the_ceiling_of_its_islands(islands: int, m: int, rate: float) -> None:
    n = islands * m
    size = 1e9
    wire = hierarchical.between_time(size, islands, m * rate)
    assert bus.bus_bandwidth(size, wire, bus.all_reduce_factor(n)) == pytest.approx(
        hierarchical.bus_bandwidth_ceiling(n, islands, rate)
    )


@given(st.integers(1, 4096), st.integers(1, 4096))
def test_a_ring_crosses_between_islands_no_more_often_than_it_steps(islands: int, m: int) -> None:
    n = islands * m
    steps = ring.all_reduce_steps(n)
    assert 0 <= ring.crossing_steps(steps, n, islands) <= steps + 1e-9


@given(st.integers(1, 64))
def test_a_closed_axis_is_never_longer_than_an_open_one(side: int) -> None:
    assert torus.steps(side, 1) <= torus.steps(side, 0) or side == 1
    assert torus.average_hops(side, 1) <= torus.average_hops(side, 0) + 0.26


def test_formulas_take_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    sizes, ranks = numpy.array([1e6, 1e9]), numpy.array([8, 16])
    together = ring.all_reduce_time(sizes, ranks, 450e9, 1e-6) + tree.island_traffic(sizes, ranks) / 50e9
    alone = [(1e6, 8), (1e9, 16)]
    single = [ring.all_reduce_time(s, n, 450e9, 1e-6) + tree.island_traffic(s, n) / 50e9 for s, n in alone]
    assert together.tolist() == pytest.approx(single)
    assert alpha_beta.pipelined(1e-6, sizes, sizes).tolist() == [1e-6 + 1.5e6, 1e-6 + 1.5e9]
