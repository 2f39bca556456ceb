"""The cabling of a fabric: runs between racks, rates of links, and the cages at both ends of a level."""

from __future__ import annotations

from clusterspec.cluster.fabric import Run, longest_runs, nodes_of_leaf
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.rules.knowledge.fabric_counts import FabricCount
from clusterspec.spec.model import ClusterSpec


def known_runs(counts: FabricCount, written: ClusterSpec, cluster: Cluster, scale_out: ScaleOut) -> dict[str, Run]:
    """The longest cable runs by level, stated or derived."""
    fabric = counts.fabric
    return longest_runs(cluster, written, nodes_of_leaf(scale_out, fabric.down_ports) if fabric else None)


def link_rate(scale_out: ScaleOut) -> float:
    """The rate of one link of a NIC, B/s per direction."""
    return scale_out.nic_bandwidth.value / scale_out.planes


def connector_of_node(cluster: Cluster, scale_out: ScaleOut) -> str:
    """The form of the cages of a node on the fabric; empty if unknown."""
    platform, nic = cluster.platform, scale_out.nic
    if platform is not None and platform.connector and platform.connector != ON_BOARD:
        return platform.connector
    own = nic.connector if nic is not None else None
    return own if own and own != ON_BOARD else ""


ON_BOARD = "on-board"
"""The connector of an adapter whose cages belong to the node."""
SAME_CAGE = {"QSFP112": ("QSFP56", "QSFP28"), "QSFP56": ("QSFP28",), "QSFP-DD": ("QSFP112", "QSFP56", "QSFP28")}
"""The older forms that a cage also takes."""


def fits_cage(cages: tuple[str, ...], cage: str) -> bool:
    """Whether a module or cable end of these forms fits a cage.

    >>> fits_cage(("QSFP56",), "QSFP112"), fits_cage(("OSFP",), "QSFP112")
    (True, False)
    """
    return not cages or not cage or cage in cages or any(form in SAME_CAGE.get(cage, ()) for form in cages)
