"""Advice on spare nodes: how many can be bought, and the stated counts that grow with them."""

from __future__ import annotations

from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster
from clusterspec.records import replace
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ClusterSpec, ProcurementSpec
from clusterspec.units import plural

COUNTED = ("leaf_switches", "spine_switches", "core_switches", "links", "cables", "transceivers")
"""Keys of the fabric that state how many parts are ordered."""


def advice_to_add(
    few: int, many: int, cluster: Cluster, written: ClusterSpec | None, procurement: ProcurementSpec | None
) -> str:
    """Advice to raise the number of spare nodes from ``few`` to ``many``, in whole units of sale, and to adapt the keys
    that depend on it.
    """
    unit = unit_of_sale(cluster)
    least, most = (whole_units(cluster.all_nodes + number, unit) - cluster.all_nodes for number in (few, many))
    wanted = f"{least} to {most} spare nodes" if least < most else plural(most, "spare node")
    sold = f" (it is sold in units of {unit} nodes)" if unit > 1 else ""
    if not _have_ports(most, cluster, written):
        return f"keep {wanted} among the {cluster.nodes:,} nodes: the tiers of the fabric connect no more"
    where = "" if unit > 1 else " on the same spine"
    return f"add {wanted}{sold}{where}{_growing_counts_text(written, procurement)}"


def _have_ports(more: int, cluster: Cluster, written: ClusterSpec | None) -> bool:
    """Whether the tiers of the fabric can connect ``more`` nodes; also true if they cannot connect the present ones."""
    grown = replace(cluster, spare_nodes=cluster.spare_nodes + more)
    now, then = (fabric_of_cluster(each, written.scale_out if written else None) for each in (cluster, grown))
    return not isinstance(then, Fabric) or then.fits or not (isinstance(now, Fabric) and now.fits)


def unit_of_sale(cluster: Cluster) -> int:
    """Number of nodes that are sold together: as the platform states, else the nodes of its rack if it is rack-scale,
    else 1.
    """
    platform = cluster.platform
    if platform is None:
        return 1
    if platform.sold_nodes > 1:
        return platform.sold_nodes
    return nodes_of_rack(platform) if platform.form == "rack" and not cluster.cloud else 1


def whole_units(nodes: int, unit: int) -> int:
    """The smallest number of nodes that is a whole number of units and at least the given number.

    >>> whole_units(20, 18), whole_units(36, 18), whole_units(5, 1)
    (36, 36, 5)
    """
    return -(-nodes // unit) * unit


def _growing_counts_text(written: ClusterSpec | None, procurement: ProcurementSpec | None) -> str:
    """The clause that names the stated counts and limits that more nodes affect; empty if there are none."""
    fabric, power = (written.scale_out, written.power) if written else (None, None)
    grown = ["counts of the fabric"] if fabric and any(getattr(fabric, key) is not None for key in COUNTED) else []
    grown += ["the power budget"] if power and power.budget is not None else []
    grown += ["the lines of the quote"] if procurement and procurement.quote else []
    grown += ["the budget"] if procurement and procurement.budget is not None else []
    return f", and adapt {and_list(grown)} to them" if grown else ""
