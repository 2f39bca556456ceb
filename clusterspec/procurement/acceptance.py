"""The collectives that a buyer runs on the finished machine, one for each tier that the machine has."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.records import dataclass

SIZE = float(8 << 30)
"""8 GiB in bytes, as the benchmark counts it: on the plateau of every fabric with published curves."""
NODES_OF_FABRIC_TEST = 4
"""Nodes, or domains of a rack-scale machine, of a test across the fabric: on two, the bus bandwidth of a tree
exceeds the line rate of the NICs and proves nothing of the fabric."""

TOOLS = {
    "xgmi": "rccl-tests",
    "ici": "jax-collective-bench",
    "neuronlink": "nccom-test",
    "gaudi": "hccl_demo",
}
"""The collective benchmark by family of the scale-up interconnect; nccl-tests for any other."""


@dataclass(frozen=True, slots=True)
class AcceptanceTest:
    """One run: ``collective`` over ``ranks`` on ``nodes`` with ``size`` bytes, by ``tool``. ``tier`` is the
    outermost one that the run crosses: ``scale-up`` or ``scale-out``."""

    collective: str
    nodes: int
    ranks: int
    size: float
    tier: str
    tool: str


def benchmark_of(cluster: Cluster) -> str:
    """The benchmark of the accelerator's vendor that measures collectives."""
    interconnect = cluster.scale_up.interconnect
    family = interconnect.family if interconnect else ""
    if cluster.accelerator.vendor == "AMD":
        return "rccl-tests"
    return TOOLS.get(family, "nccl-tests")


def acceptance_tests(cluster: Cluster) -> tuple[AcceptanceTest, ...]:
    """The tests of a machine: one scale-up domain, two domains where a domain spans nodes, and the fabric.

    Empty for fewer than two accelerators.
    """
    if cluster.accelerators < 2:
        return ()
    return tuple(dict.fromkeys(_tests(cluster)))


def _tests(cluster: Cluster) -> Iterator[AcceptanceTest]:
    of_domain = nodes_of_domain(cluster)
    yield from _test(cluster, ("all-reduce",), min(of_domain, cluster.nodes), "scale-up")
    if cluster.nodes <= of_domain:
        yield from _test(cluster, ("all-gather", "all-to-all"), cluster.nodes, "scale-up")
        return
    if of_domain > 1:
        yield from _test(cluster, ("all-reduce",), min(2 * of_domain, cluster.nodes), "scale-out")
    across = min(NODES_OF_FABRIC_TEST * of_domain, cluster.nodes)
    yield from _test(cluster, ("all-reduce", "all-gather", "all-to-all"), across, "scale-out")


def _test(cluster: Cluster, collectives: tuple[str, ...], nodes: int, tier: str) -> Iterator[AcceptanceTest]:
    ranks, tool = nodes * cluster.ranks_per_node, benchmark_of(cluster)
    if ranks > 1:
        yield from (AcceptanceTest(name, nodes, ranks, SIZE, tier, tool) for name in collectives)
