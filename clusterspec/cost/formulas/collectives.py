"""Time and bandwidth of transfers, rings, trees, in-network reduction and links. Bytes, seconds, B/s per direction."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import smaller


@formula("latency + size / bandwidth")
def message_time(latency: float, size: float, bandwidth: float) -> float:
    """Seconds of one message: t = α + S / B.

    Source: Hockney, "The communication challenge for MPP", Parallel Computing 20(3), 1994.

    Range: bandwidth > 0.

    >>> message_time(2e-6, 50e9, 50e9)
    1.000002
    """
    return latency + size / bandwidth


@formula("latency * bandwidth")
def crossover_size(latency: float, bandwidth: float) -> float:
    """The message size whose latency equals its transmission time: S½ = α B, in bytes.

    >>> crossover_size(1e-6, 450e9), crossover_size(2e-6, 50e9)
    (450000.0, 100000.0)
    """
    return latency * bandwidth


@formula()
def parallel_sum(first: float, second: float) -> float:
    """Two rates or times in parallel: x y / (x + y), at most the smaller of the two; 0 if both are 0.

    >>> parallel_sum(2.0, 2.0), parallel_sum(0.0, 5.0), parallel_sum(0.0, 0.0)
    (1.0, 0.0, 0.0)
    """
    total = first + second
    return first * second / (total + (total == 0))


@formula("latency + sending + stages * sending * filling / (sending + filling)")
def pipelined_time(latency: float, sending: float, filling: float, stages: float = 1.0) -> float:
    """Seconds of a transfer in chunks, pipelined over its hops.

    t = α + b + d b q / (b + q), with α the latency of all hops, b = S / B the time to send all bytes, q the time to
    send the bytes of one full stage, and d the number of stages. A message much larger than the pipeline pays once for
    filling it (t → α + b + d q). A much smaller message travels as one chunk, and each stage adds its full sending time
    again (t → α + b + d b).

    Source: the two limits are those of a segmented pipeline (Sanders, Speck, Träff, "Two-tree
    algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12),
    2009, section 2); the harmonic mean joins them.

    >>> pipelined_time(1e-6, 0.0, 1e-4), round(pipelined_time(1e-6, 1.0, 1e-4), 6)
    (1e-06, 1.000101)
    """
    return latency + sending + stages * parallel_sum(sending, filling)


@formula("latency + sending - latency * sending / (latency + sending)")
def overlapped_time(latency: float, sending: float) -> float:
    """Seconds of a transfer whose latency overlaps with sending: t = α + b − α b / (α + b).

    Transports whose CPU threads keep many messages in flight behave like this.

    >>> overlapped_time(1.0, 0.0), overlapped_time(0.0, 1.0), overlapped_time(1.0, 1.0)
    (1.0, 1.0, 1.5)
    """
    return latency + sending - parallel_sum(latency, sending)


# The two bandwidths that nccl-tests prints. Floats or arrays; bytes, seconds, bytes per second


@formula("size / seconds")
def algorithm_bandwidth(size: float, seconds: float) -> float:
    """The rate seen by the caller: algbw = S / t.

    Range: seconds > 0.

    >>> algorithm_bandwidth(1e9, 0.01)
    100000000000.0
    """
    return size / seconds


@formula("2 * (ranks - 1) / ranks")
def all_reduce_factor(ranks: float) -> float:
    """Bytes that each rank sends per byte of a ring all-reduce: f = 2 (n − 1) / n.

    Range: ranks >= 1.

    >>> all_reduce_factor(8), all_reduce_factor(64), all_reduce_factor(1)
    (1.75, 1.96875, 0.0)
    """
    return 2 * (ranks - 1) / ranks


@formula("(ranks - 1) / ranks")
def gather_factor(ranks: float) -> float:
    """Bytes that each rank sends per byte of an all-gather, reduce-scatter or all-to-all: f = (n − 1) / n.

    Range: ranks >= 1.

    >>> gather_factor(8), gather_factor(1)
    (0.875, 0.0)
    """
    return (ranks - 1) / ranks


@formula("factor * size / seconds")
def bus_bandwidth(size: float, seconds: float, factor: float) -> float:
    """The rate on each link if the algorithm were a ring: busbw = f S / t.

    ``factor`` applies to the collective; it is 1 for a broadcast and a send. If switches reduce, or a tree spans two
    nodes, it exceeds the rate of every wire.

    Range: seconds > 0.

    >>> round(bus_bandwidth(17179869184, 0.127997, all_reduce_factor(8)) / 1e9, 2)
    234.89
    """
    return factor * size / seconds


@formula("factor * size / busbw")
def time_at_busbw(size: float, busbw: float, factor: float) -> float:
    """The time that a bus bandwidth represents: t = f S / busbw.

    Range: busbw > 0.

    >>> round(time_at_busbw(17179869184, 234.89e9, all_reduce_factor(8)), 4)
    0.128
    """
    return factor * size / busbw


# Ring algorithms. Floats or arrays; bytes, seconds, bytes per second and direction


@formula("ranks - 1")
def gather_steps(ranks: float) -> float:
    """Steps of a ring all-gather or reduce-scatter: n − 1.

    Range: ranks >= 1.

    >>> gather_steps(8)
    7
    """
    return ranks - 1


@formula("2 * (ranks - 1)")
def all_reduce_steps(ranks: float) -> float:
    """Steps of a ring all-reduce, a reduce-scatter and an all-gather: 2 (n − 1).

    Range: ranks >= 1.

    >>> all_reduce_steps(8)
    14
    """
    return 2 * (ranks - 1)


@formula("(ranks - 1) * latency + (ranks - 1) / ranks * size / bandwidth")
def gather_time(size: float, ranks: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of a ring all-gather or reduce-scatter: t = (n − 1) (α + S / (n B)).

    Range: ranks >= 1, bandwidth > 0.

    >>> gather_time(8e9, 8, 50e9)
    0.14
    """
    return gather_steps(ranks) * latency + gather_factor(ranks) * size / bandwidth


@formula("2 * (ranks - 1) * latency + 2 * (ranks - 1) / ranks * size / bandwidth")
def all_reduce_time(size: float, ranks: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of a ring all-reduce: t = 2 (n − 1) (α + S / (n B)).

    Range: ranks >= 1, bandwidth > 0.

    >>> round(all_reduce_time(50e6, 8, 450e9) * 1e6, 2), all_reduce_time(1e9, 1, 50e9)
    (194.44, 0.0)
    """
    return all_reduce_steps(ranks) * latency + all_reduce_factor(ranks) * size / bandwidth


@formula("2 * size / bandwidth")
def all_reduce_time_of_many(size: float, bandwidth: float) -> float:
    """The limit of many ranks: t → 2 S / B.

    Range: bandwidth > 0.

    >>> round(all_reduce_time_of_many(8e9, 300e9), 4)
    0.0533
    """
    return 2 * size / bandwidth


@formula("bandwidth * ranks / (2 * (ranks - 1))")
def all_reduce_rate(ranks: float, bandwidth: float) -> float:
    """The best algorithm bandwidth of a ring: B n / (2 (n − 1)).

    Range: ranks > 1.

    >>> round(all_reduce_rate(8, 450e9) / 1e9, 1), round(all_reduce_rate(4, 50e9) / 1e9, 1)
    (257.1, 33.3)
    """
    return bandwidth * ranks / (2 * (ranks - 1))


@formula("steps * (islands - 1) / max(ranks - 1, 1)")
def crossing_steps(steps: float, ranks: float, islands: float) -> float:
    """Steps of a ring over all ranks that wait for a hop between islands.

    Of the n hops of a ring, k leave an island, so the longest dependency chain of s steps crosses between islands s k /
    n times; with k = 1 the ring stays inside. NCCL counts the same: 2 (k − 1) of 2 (n − 1) steps.

    Source: NVIDIA, NCCL, src/graph/tuning.cc (nInterSteps).

    Range: ranks >= 1, islands >= 1, islands <= ranks.

    >>> crossing_steps(30, 16, 2), crossing_steps(14, 8, 1)
    (2.0, 0.0)
    """
    return steps * (islands - 1) / (ranks - 1 + (ranks == 1))


# Tree algorithms. Floats or arrays; bytes, seconds, bytes per second and direction


@formula("min(islands - 1, 2) * size")
def island_traffic(size: float, islands: float) -> float:
    """Bytes that an island sends, and receives, in an all-reduce over two complementary trees.

    Half of the data goes up each tree. With two islands, each is the root of one tree and a leaf of the other, and
    sends S. With more, an island is an inner node of one tree, with two children and a parent, and sends 2 S. Together:
    min(k − 1, 2) S.

    Range: islands >= 1.

    >>> island_traffic(1e9, 1), island_traffic(1e9, 2), island_traffic(1e9, 16)
    (0.0, 1000000000.0, 2000000000.0)
    """
    return smaller(islands - 1.0, 2.0) * size


@formula("2 * (ranks_in_island - 1 + levels)")
def tree_hops(ranks_in_island: float, levels: float) -> float:
    """Hops up a tree and down again, ``levels`` of islands and a chain of ranks in each: 2 (m − 1 + l).

    Range: ranks_in_island >= 1.

    >>> tree_hops(8, 1), tree_hops(8, 0)
    (16, 14)
    """
    return 2 * (ranks_in_island - 1 + levels)


@formula("2 * size")
def chain_traffic(size: float) -> float:
    """Bytes that a rank inside the chain of an island sends, up and down: 2 S.

    >>> chain_traffic(1e9)
    2000000000.0
    """
    return 2 * size


# Reduction in the switches. Floats or arrays; bytes, seconds, bytes per second and direction


@formula("size * (1 + 1 / ranks)")
def all_reduce_traffic(size: float, ranks: float) -> float:
    """Bytes over the link of each rank when its switch reduces and multicasts: (1 + 1 / n) S.

    Each rank sends its whole buffer once, then the reduced n-th part that it owns.

    Range: ranks >= 1.

    >>> all_reduce_traffic(8e9, 8)
    9000000000.0
    """
    return size * (1 + 1 / ranks)


@formula("latency + size * (1 + 1 / ranks) / bandwidth")
def in_network_all_reduce_time(size: float, ranks: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of an all-reduce in the switch of one domain: t = α + (1 + 1 / n) S / B.

    Range: ranks >= 1, bandwidth > 0.

    >>> in_network_all_reduce_time(8e9, 8, 450e9)
    0.02
    """
    return latency + all_reduce_traffic(size, ranks) / bandwidth


@formula("2 * ranks / (ranks + 1)")
def in_network_gain(ranks: float) -> float:
    """Traffic of a ring of many ranks divided by that of in-network reduction: 2 n / (n + 1).

    Range: ranks >= 1.

    >>> round(in_network_gain(8), 4), in_network_gain(1)
    (1.7778, 1.0)
    """
    return 2 * ranks / (ranks + 1)


@formula("2 * (ranks - 1) / ranks * bandwidth / (1 + 1 / ranks)")
def bus_bandwidth_ceiling(ranks: float, bandwidth: float) -> float:
    """The highest bus bandwidth that an all-reduce in the switch can show: 2 B (n − 1) / (n + 1).

    Range: ranks >= 1.

    >>> bus_bandwidth_ceiling(8, 450e9) / 1e9
    700.0
    """
    return all_reduce_factor(ranks) * bandwidth / (1 + 1 / ranks)


@formula("rank_bandwidth * (ranks - 1) / (islands - 1)")
def island_bandwidth_ceiling(ranks: float, islands: float, rank_bandwidth: float) -> float:
    """The highest bus bandwidth that ranks can show between islands: B (n − 1) / (k − 1).

    ``rank_bandwidth`` (B) is the share of one rank in the links of its island. It holds for an
    all-reduce, an all-gather and a reduce-scatter alike; k > 1.

    Range: ranks >= 1, islands > 1.

    >>> island_bandwidth_ceiling(16, 2, 50e9) / 1e9
    750.0
    """
    return rank_bandwidth * (ranks - 1) / (islands - 1)


# Bandwidth of links: between islands, of PCIe slots, of shared links. Floats or arrays; bytes per second and direction

PCIE_3_TRANSFERS = 8e9
"""Transfers per second and lane of PCIe 3; each generation since doubles them (PCI Express Base Specification)."""
PCIE_128B130B = 128 / 130
"""Share of the transfer rate that PCIe 3 to 5 leaves after its line code (PCI Express Base Specification)."""
PCIE_FLIT = 242 / 256
"""Share that PCIe 6 and 7 leave for transaction and data-link packets of a 256-byte flit (same source)."""
PCIE_FLIT_PAYLOAD = 236 / 256
"""Share of a flit for transaction packets only (same source)."""


@formula("rank_bandwidth * (ranks - 1) / (ranks - ranks_in_island)")
def exchange_bandwidth_ceiling(ranks: float, ranks_in_island: float, rank_bandwidth: float) -> float:
    """The highest bus bandwidth of an all-to-all between islands: B (n − 1) / (n − m), B the share of one rank; m < n.

    Range: ranks_in_island >= 1, ranks > ranks_in_island.

    >>> round(exchange_bandwidth_ceiling(16, 8, 50e9) / 1e9, 2)
    93.75
    """
    return rank_bandwidth * (ranks - 1) / (ranks - ranks_in_island)


@formula("transfers * lanes * share / 8")
def slot_bandwidth(transfers: float, lanes: float, share: float) -> float:
    """A PCIe slot: T × x × share / 8, with T in transfers per second and lane.

    >>> round(slot_bandwidth(32e9, 16, PCIE_128B130B) / 1e9, 3), slot_bandwidth(64e9, 16, PCIE_FLIT) / 1e9
    (63.015, 121.0)
    >>> slot_bandwidth(64e9, 16, PCIE_FLIT_PAYLOAD) / 1e9
    118.0
    """
    return transfers * lanes * share / 8


def slot_rate(generation: int) -> float:
    """An x16 slot of a PCIe generation, B/s in one direction; generations from 3 on.

    Range: generation <= 8.

    >>> round(slot_rate(5) / 1e9, 2), slot_rate(6) / 1e9
    (63.02, 121.0)
    """
    transfers = PCIE_3_TRANSFERS * 2 ** (generation - 3)
    return float(slot_bandwidth(transfers, 16, PCIE_FLIT if generation >= 6 else PCIE_128B130B))


@formula("bandwidth / (sharers * oversubscription)")
def shared_bandwidth(bandwidth: float, sharers: float, oversubscription: float = 1.0) -> float:
    """The bandwidth of one of several concurrent users of a link behind an oversubscribed level: B / (g o).

    Range: sharers >= 1, oversubscription >= 1.

    >>> shared_bandwidth(400e9, 8), shared_bandwidth(400e9, 1, 2.0)
    (50000000000.0, 200000000000.0)
    """
    return bandwidth / (sharers * oversubscription)
