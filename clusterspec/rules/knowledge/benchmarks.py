"""Predicted nccl-tests results, for figures in `measured` and `acceptance`."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.variation import with_values
from clusterspec.cost.collectives import NAMES, CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.algorithms import algorithm_names
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.cost.measured import Measurement
from clusterspec.quantity import bus_factor
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import display, percent

GIB = float(1 << 30)
PLATEAU = 16 * GIB
"""Bytes at which all published measurements have reached their plateau."""
RECOMMENDED = (0.80, 0.90)
"""Range of shares of the predicted bandwidth in which a threshold passes a sound machine and fails a faulty one."""
LEAST_OF_ADAPTER = 0.6
"""Smallest share of the NIC bandwidth at which a figure between two nodes measures the NICs."""
WIDE = 4
"""Smallest number of nodes at which a tree sends each byte through the NICs nearly as often as a ring."""
NEARLY = 0.9
"""Share of the bandwidth of a two-node test that a wider test must require to count as its repetition."""
SOCKETS = 0.15
"""Share of the NIC bandwidth that separates TCP sockets (below) from network plugins (above): aws-ofi-nccl issue 803
measured 5.4 GB/s and 122.6 GB/s.
"""


def ranks_of(stated: AcceptanceSpec, cluster: Cluster) -> int | None:
    """Ranks of the test: as stated, or all ranks of its nodes. None if neither is stated, or if the two contradict each
    other.
    """
    whole = stated.nodes * cluster.ranks_per_node if stated.nodes else None
    if stated.ranks is None:
        return whole
    fits = whole is None or (stated.ranks <= whole and stated.ranks % (stated.nodes or 1) == 0)
    return stated.ranks if fits else None


def nodes_of(stated: AcceptanceSpec, cluster: Cluster) -> int:
    """Nodes of the test: as stated, else the fewest that its ranks need."""
    return stated.nodes or cluster.nodes_of_ranks(stated.ranks or 1)


def bus_bandwidth(stated: AcceptanceSpec, cluster: Cluster) -> float | None:
    """The stated bus bandwidth in B/s; an algorithm bandwidth is multiplied by the factor of nccl-tests."""
    if stated.busbw is not None:
        return stated.busbw.per_direction
    ranks = ranks_of(stated, cluster)
    if stated.algbw is None or not ranks or stated.collective is None:
        return None
    return stated.algbw.per_direction * bus_factor(stated.collective, ranks)


def measures_adapters(stated: AcceptanceSpec, cluster: Cluster) -> bool:
    """Whether a point-to-point test between nodes of one scale-up domain demands the rate of the NICs, as a test with
    `ib_write_bw` does.
    """
    asked, share = bus_bandwidth(stated, cluster), cluster.nic_bandwidth_per_accelerator
    between = stated.collective == "send-recv" and nodes_of(stated, cluster) > 1
    return bool(between and asked and share and LEAST_OF_ADAPTER * share <= asked <= share)


def predicted_collective(stated: AcceptanceSpec, cluster: Cluster, size: float) -> CollectiveCost | None:
    """The predicted collective of a test at a size, without calibration; None if there is no prediction."""
    ranks, name = ranks_of(stated, cluster), stated.collective
    there = cluster.ranks_per_node * cluster.all_nodes
    if name not in NAMES or not ranks or not 1 < ranks <= there:
        return None
    algorithm = stated.algorithm if stated.algorithm in algorithm_names(name) else None
    try:
        bare = with_values(cluster, {("measured",): ()})
        return collective_cost(
            bare, name, contiguous_placement(cluster, ranks, nodes_of(stated, cluster)), size, algorithm
        )
    except CollectiveUnavailableError:
        return None


def is_repeated_wider(stated: AcceptanceSpec, acceptance: Iterable[AcceptanceSpec], cluster: Cluster) -> bool:
    """Whether the tests include an all-reduce over at least `WIDE` nodes that requires nearly the bandwidth of the
    given test.
    """
    over_fabric = [each for each in acceptance if each.collective == "all-reduce" and (each.nodes or 0) >= WIDE]
    asked, wide = bus_bandwidth(stated, cluster), [bus_bandwidth(each, cluster) or 0.0 for each in over_fabric]
    return bool(asked) and max(wide, default=0.0) >= NEARLY * (asked or inf)


def best_possible(cost: CollectiveCost) -> float:
    """B/s of bus bandwidth at the fast end of the uncertainty range of a prediction."""
    return cost.busbw * cost.seconds / cost.low if cost.low > 0 else cost.busbw


def demands_plateau_at_small_size(stated: AcceptanceSpec, cluster: Cluster) -> bool:
    """Whether a test demands the bandwidth of large messages at a size that does not reach it."""
    least = GIB if nodes_of(stated, cluster) > 1 else GIB / 4
    if stated.size is None or not 0 < stated.size.value < least:
        return False
    asked, plateau = bus_bandwidth(stated, cluster), predicted_collective(stated, cluster, PLATEAU)
    here = predicted_collective(stated, cluster, stated.size.value)
    if asked is None or plateau is None or here is None or asked <= here.busbw:
        return False
    return RECOMMENDED[0] * plateau.busbw <= asked <= plateau.ceiling_busbw


def recommended_threshold(best: CollectiveCost, stated: AcceptanceSpec) -> str:
    """A recommended threshold as text, in the bandwidth that the test states: `304 GB/s to 342 GB/s, 80 to 90 % of the
    predicted 380 GB/s`.
    """
    low, high = (display(share * in_stated_bandwidth(best.busbw, best, stated), "B/s") for share in RECOMMENDED)
    predicted = display(in_stated_bandwidth(best.busbw, best, stated), "B/s")
    kind = " of algorithm bandwidth" if metric_key(stated) == "algbw" else ""
    return (
        f"{low} to {high}{kind}, {RECOMMENDED[0] * 100:.0f} to {percent(RECOMMENDED[1])} of the predicted {predicted}"
    )


def in_stated_bandwidth(busbw: float, cost: CollectiveCost, stated: AcceptanceSpec) -> float:
    """A bus bandwidth in B/s, converted to the kind of bandwidth that the test states (algorithm or bus)."""
    return busbw * cost.algbw / cost.busbw if metric_key(stated) == "algbw" and cost.busbw else busbw


def metric_key(stated: AcceptanceSpec) -> str:
    """The key that states the figure."""
    return "busbw" if stated.busbw is not None or stated.algbw is None else "algbw"


def test_name(stated: AcceptanceSpec, cluster: Cluster) -> str:
    """The name of a test or a measurement: `all-reduce over 32 ranks`."""
    return f"{stated.collective} over {ranks_of(stated, cluster):,} ranks"


def measurement_name(measurement: Measurement) -> str:
    """The name of a test or a measurement: `all-reduce over 32 ranks`."""
    return f"{measurement.collective} over {measurement.ranks:,} ranks"
