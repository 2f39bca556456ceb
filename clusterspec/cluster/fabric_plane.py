"""One plane of the scale-out fabric, counted from the scalar keys: nodes, NICs, ports, ratios, rails."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.clos import FoldedClos, Ports, ceiling, describe_spread, in_pods, parts, three_tiers, two_tiers
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class SwitchCount:
    """The switches and links of one plane.

    ``capacity`` is the number of endpoints that these tiers can connect (None where levels are listed individually),
    ``fits`` whether they connect these endpoints. The ``least_…`` numbers are the minimum if uplinks need not spread
    evenly and unused ports stay dark. ``how`` derives each number, by its name.
    """

    tiers: int
    ports: Ports
    leaves: int
    spines: int
    cores: int
    leaf_spine: int
    spine_core: int
    fits: bool
    capacity: int | None
    least_spines: int
    least_cores: int
    least_leaf_spine: int
    how: Mapping[str, str]
    pods: int = 1
    """Groups of leaves and spines below one row of cores; 1 where there is no such row."""


@dataclass(frozen=True, slots=True)
class _Demand:
    """The endpoints of one plane, and the switches available."""

    fabric: ScaleOut
    nodes: int
    """Nodes with spares."""
    ports: int
    leaf_ratio: float
    spine_ratio: float

    @property
    def rails(self) -> int:
        """Rails whose NICs never share a leaf; 1 for other topologies."""
        return self.fabric.rails if self.fabric.topology in RAIL_TOPOLOGIES else 1

    @property
    def nics_of_rail(self) -> int:
        """NICs of one node that share a leaf."""
        return parts(self.fabric.nics_per_node, self.rails)

    @property
    def endpoints(self) -> int:
        return self.nodes * self.fabric.nics_per_node + self.fabric.extra_endpoints

    def leaves(self, down: int) -> int:
        """Leaves with a given number of down ports; in a rail fabric one per rail for each block of nodes."""
        blocks = parts(self.nodes * self.nics_of_rail, down)
        return self.rails * max(1, blocks, parts(parts(self.endpoints, down), self.rails))

    def describe_leaves(self, down: int) -> str:
        if self.rails == 1:
            return f"{self.endpoints} endpoints / {down} ports down, rounded up"
        return f"{self.rails} rails × ({self.nodes} nodes × {self.nics_of_rail} NIC / {down} ports down, rounded up)"


def count_plane(cluster: Cluster, ports: int) -> SwitchCount:
    """Counts one fabric plane; ``ports`` are those of a switch at the rate of a plane."""
    fabric = cluster.scale_out
    assert fabric is not None
    demand = _demand(cluster, fabric, ports)
    tiers = _tiers(demand)
    if tiers == 1:
        return _one_tier(demand)
    leaf = Ports.split(ports, demand.leaf_ratio)
    tree = _tree(demand, leaf, tiers, cluster)
    up = ceiling(demand.endpoints / demand.leaf_ratio - 1e-9)
    spine = Ports.split(ports, demand.spine_ratio)
    two = tree.tiers == 2
    return SwitchCount(
        tiers=tree.tiers,
        ports=leaf,
        leaves=tree.leaves,
        spines=tree.spines,
        cores=tree.cores,
        leaf_spine=tree.leaf_spine,
        spine_core=tree.spine_core,
        fits=tree.fits,
        capacity=ports * leaf.down * (1 if two else spine.down),
        least_spines=parts(up, ports if two else spine.down),
        least_cores=0 if two else parts(ceiling(up / demand.spine_ratio - 1e-9), ports),
        least_leaf_spine=up,
        how=_how(demand, leaf, spine, tree),
        pods=tree.pods,
    )


def _demand(cluster: Cluster, fabric: ScaleOut, ports: int) -> _Demand:
    """The endpoints of a plane, and the ratios of leaf and spine; with a full-bandwidth pod, a single ratio applies
    above the pod.
    """
    nodes = cluster.all_nodes
    leaf, spine, *_ = (*fabric.oversubscription, 1.0, 1.0)
    if fabric.pod_nodes and len(fabric.oversubscription) == 1:
        leaf, spine = 1.0, leaf
    return _Demand(fabric, nodes, ports, leaf, spine)


def tiers_of(cluster: Cluster) -> int | None:
    """Switch tiers of the scale-out fabric by the scalar keys: as stated, else the fewest that connect the endpoints
    and have every stated ratio.

    None where the ports of a switch are not known, and where `levels` describe the fabric.
    """
    fabric = cluster.scale_out
    if fabric is None or fabric.levels or not fabric.switch_ports:
        return fabric.tiers if fabric is not None and not fabric.levels else None
    return _tiers(_demand(cluster, fabric, fabric.switch_ports))


def _tiers(demand: _Demand) -> int:
    """Tiers of a plane: one where the endpoints fit one switch, unless the spec states tiers or ratios that need more;
    n ratios need n + 1 tiers.
    """
    fabric = demand.fabric
    if fabric.tiers:
        return fabric.tiers
    if fabric.topology in {"single-switch", "rail-only"}:
        return 1
    stated = len(fabric.oversubscription) if len(fabric.oversubscription) > 1 else 0
    if not stated and demand.endpoints <= demand.ports:
        return 1
    if fabric.pod_nodes and demand.nodes > fabric.pod_nodes:
        return 3
    joined = 2 if demand.leaves(Ports.split(demand.ports, demand.leaf_ratio).down) <= demand.ports else 3
    return min(3, max(joined, stated + 1))


def _one_tier(demand: _Demand) -> SwitchCount:
    """Switches without uplinks: one for all, or one for each rail."""
    separate = demand.fabric.topology == "rail-only"
    single = demand.fabric.topology == "single-switch" or (demand.endpoints <= demand.ports and not separate)
    leaves = 1 if single else demand.leaves(demand.ports)
    held = "all endpoints on one switch" if single else demand.describe_leaves(demand.ports)
    capacity = demand.ports * (1 if single else demand.rails)
    joined = (single or demand.nodes * demand.nics_of_rail <= demand.ports) and demand.endpoints <= capacity
    absent = ("spine_switches", "core_switches", "leaf_spine", "spine_core")
    how = {"leaf_switches": held} | dict.fromkeys(absent, "one tier has none")
    return SwitchCount(1, Ports(demand.ports, 0), leaves, 0, 0, 0, 0, joined, capacity, 0, 0, 0, how)


def _tree(demand: _Demand, leaf: Ports, tiers: int, cluster: Cluster) -> FoldedClos:
    leaves = demand.leaves(leaf.down)
    if tiers == 2:
        return two_tiers(leaves, leaf, demand.ports)
    pod = demand.fabric.pod_nodes
    if pod is None:
        return three_tiers(leaves, leaf, demand.ports, demand.spine_ratio, demand.rails)
    of_pod = demand.rails * max(1, parts(pod * demand.nics_of_rail, leaf.down))
    return in_pods(leaves, leaf, demand.ports, demand.spine_ratio, of_pod)


def _how(demand: _Demand, leaf: Ports, spine: Ports, tree: FoldedClos) -> dict[str, str]:
    by_ports = parts(tree.leaf_spine, demand.ports)
    spread = describe_spread(tree.spines, by_ports, leaf.up)
    how = {
        "leaf_switches": demand.describe_leaves(leaf.down),
        "spine_switches": f"{tree.leaf_spine} uplinks / {demand.ports} ports: {spread}",
        "core_switches": "two tiers have none",
        "leaf_spine": f"{tree.leaves} leaves × {leaf.up} uplinks, cabled even where nodes are missing",
        "spine_core": "two tiers have none",
    }
    if tree.tiers == 3:
        of_pod = parts(tree.leaves, tree.pods)
        spread = describe_spread(tree.spines_of_pod, parts(of_pod * leaf.up, spine.down), leaf.up)
        how["spine_switches"] = (
            f"{tree.pods} pods × ({of_pod} leaves × {leaf.up} uplinks / {spine.down} ports down: {spread})"
        )
        up = tree.spine_core // tree.spines
        how["core_switches"] = f"{tree.spines} spines × {up} uplinks / {demand.ports} ports, rounded up"
        how["spine_core"] = f"{tree.spines} spines × {up} uplinks"
    return how
