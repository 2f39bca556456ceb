"""Acceptance tests: the collectives to run on the delivered machine, per tier."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.records import dataclass

SIZE = float(8 << 30)
"""8 GiB in bytes, as the benchmark counts it: on the plateau of every fabric with published curves."""
NODES_OF_FABRIC_TEST = 4
"""Nodes, or domains of rack-scale machines, in a test across the fabric. Two are too few: the bus bandwidth of a tree
then exceeds the line rate of the NICs.
"""

TOOLS = {
    "xgmi": "rccl-tests",
    "ici": "jax-collective-bench",
    "neuronlink": "nccom-test",
    "gaudi": "hccl_demo",
}
"""The collective benchmark by family of the scale-up interconnect; nccl-tests for any other."""
PROGRAMS = {
    "all-reduce": "all_reduce_perf",
    "all-gather": "all_gather_perf",
    "reduce-scatter": "reduce_scatter_perf",
    "all-to-all": "alltoall_perf",
    "broadcast": "broadcast_perf",
    "send-recv": "sendrecv_perf",
}
"""The program of nccl-tests and rccl-tests for each collective."""
ITERATIONS = "-n 20 -w 5 -c 1"
"""Options of a test of nccl-tests and rccl-tests: timed and warm-up iterations, and a check of the results."""
_DIVIDED = {"all-gather", "reduce-scatter", "all-to-all", "gather", "scatter"}
"""Collectives whose benchmarks give each rank an equal part of the size."""


def printed_size(collective: str, size: int, ranks: int) -> int:
    """The size in bytes that nccl-tests and rccl-tests print. They give each rank an equal part, rounded down to whole
    units of 16 B.

    NVIDIA/nccl-tests at a0b82b22, ``src/all_gather.cu``, line 11 (and ``alltoall.cu``, ``reduce_scatter.cu``).

    >>> printed_size("all-gather", 8 << 30, 288), printed_size("all-reduce", 8 << 30, 288)
    (8589934080, 8589934592)
    """
    return size // ranks // 16 * 16 * ranks if collective in _DIVIDED else size


@dataclass(frozen=True)
class AcceptanceTest:
    """An acceptance test: ``collective`` over ``ranks`` on ``nodes`` with ``size`` bytes, run with ``tool``.
    ``tier`` is the outermost tier used: ``scale-up`` or ``scale-out``."""

    collective: str
    nodes: int
    ranks: int
    size: float
    tier: str
    tool: str


def benchmark_of(cluster: Cluster) -> str:
    """The collective benchmark for the accelerator's vendor."""
    interconnect = cluster.scale_up.interconnect
    family = interconnect.family if interconnect else ""
    if cluster.accelerator.vendor == "AMD":
        return "rccl-tests"
    return TOOLS.get(family, "nccl-tests")


def acceptance_tests(cluster: Cluster) -> tuple[AcceptanceTest, ...]:
    """The tests of a machine: one scale-up domain, two domains if a domain spans nodes, and the fabric.

    Empty for fewer than two accelerators.
    """
    if cluster.accelerators < 2:
        return ()
    return tuple(dict.fromkeys(_cluster_tests(cluster)))


def _cluster_tests(cluster: Cluster) -> Iterator[AcceptanceTest]:
    of_domain = nodes_of_domain(cluster)
    yield from _tier_tests(cluster, ("all-reduce",), min(of_domain, cluster.nodes), "scale-up")
    if cluster.nodes <= of_domain:
        yield from _tier_tests(cluster, ("all-gather", "all-to-all"), cluster.nodes, "scale-up")
        return
    if of_domain > 1:
        yield from _tier_tests(cluster, ("all-reduce",), min(2 * of_domain, cluster.nodes), "scale-out")
    across = min(NODES_OF_FABRIC_TEST * of_domain, cluster.nodes)
    yield from _tier_tests(cluster, ("all-reduce", "all-gather", "all-to-all"), across, "scale-out")


def _tier_tests(cluster: Cluster, collectives: tuple[str, ...], nodes: int, tier: str) -> Iterator[AcceptanceTest]:
    ranks, tool = nodes * cluster.ranks_per_node, benchmark_of(cluster)
    if ranks > 1:
        yield from (AcceptanceTest(name, nodes, ranks, SIZE, tier, tool) for name in collectives)


def printed_limit(busbw: float) -> float:
    """A limit in B/s, rounded down to the hundredths of GB/s that benchmarks print and exports write.

    >>> printed_limit(441.3367e9)
    441330000000.0
    """
    return float(f"{floor(busbw / 1e7) / 100:.2f}") * 1e9
