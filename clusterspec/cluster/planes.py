"""Switch and link counts of one plane of a scale-out fabric by the scalar keys, in whole switches and ports; and the
levels that groups of ranks cross.
"""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.clos import (
    FoldedClos,
    Ports,
    ceiling,
    clos_in_pods,
    parts_needed,
    spread_derivation,
    three_tier_clos,
    two_tier_clos,
)
from clusterspec.cluster.model import Cluster, Level, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import NamedTuple, dataclass, replace


@dataclass(frozen=True)
class SwitchCount:
    """The switches and links of one plane.

    ``capacity`` is the number of endpoints that these tiers can connect (None if levels are listed individually),
    ``fits`` says whether they connect these endpoints. The ``least_…`` numbers are the minimum if uplinks need not
    spread evenly and unused ports stay dark. ``how`` derives each number, by its name.
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
    """Groups of leaves and spines below one row of cores; 1 without such a row."""


class OrderedParts(NamedTuple):
    """Switches, and links between leaves and spines, as ordered; None if the spec does not say."""

    leaves: int | None = None
    spines: int | None = None
    leaf_spine: int | None = None

    def divided_parts(self, parts: int) -> OrderedParts:
        """The ordered parts of one of ``parts`` equal planes or rails."""
        return OrderedParts(*(number // parts if number else None for number in self))


@dataclass(frozen=True)
class _Demand:
    """The endpoints of one plane, and the switches available."""

    fabric: ScaleOut
    nodes: int
    """Nodes with spares."""
    ports: int
    leaf_ratio: float
    spine_ratio: float
    ordered: OrderedParts = OrderedParts()

    @property
    def rails(self) -> int:
        """Rails whose NICs never share a leaf; 1 for other topologies."""
        return self.fabric.rails if self.fabric.topology in RAIL_TOPOLOGIES else 1

    @property
    def nics_of_rail(self) -> int:
        """NICs of one node that share a leaf."""
        return parts_needed(self.fabric.nics_per_node, self.rails)

    @property
    def endpoints(self) -> int:
        return self.nodes * self.fabric.nics_per_node + self.fabric.extra_endpoints

    @property
    def minimum_uplinks(self) -> int:
        """The minimum number of uplinks over all leaves: the node ports divided by the oversubscription. Extra
        endpoints add none.
        """
        return ceiling((self.endpoints - self.fabric.extra_endpoints) / self.leaf_ratio - 1e-9)

    def leaves(self, down: int) -> int:
        """Leaves with a given number of down ports. A rail fabric has one leaf per rail for each block of nodes, unless
        fewer are ordered; rails then share leaves, and each leaf has several whole rails if no switch connects the
        leaves.
        """
        apart = self._separate_leaves(down)
        return min(apart, max(self.minimum_leaves(down), self.ordered.leaves or apart))

    def uplinks(self, leaves: int, leaf: Ports) -> int:
        """Number of links between leaves and spines: all up ports of the leaves, or the ordered number if it is smaller
        and suffices for the present endpoints. Ordered spines give every leaf the same number of uplinks if that
        suffices.
        """
        full, least = leaves * leaf.up, self.minimum_uplinks
        spines = self.ordered.spines or 0
        even, most = spines * (self.ports // leaves) * leaves, spines * self.ports // leaves * leaves
        ordered = self.ordered.leaf_spine or (even if even >= least else most)
        return ordered if least <= ordered < full else full

    def minimum_leaves(self, down: int) -> int:
        """The minimum number of leaves. Several rails with few NICs may share a leaf, but a rail is never split, and
        extra endpoints take any free port.
        """
        return max(self._shared_leaves(down), parts_needed(self.endpoints, down))

    def _shared_leaves(self, down: int) -> int:
        """Number of leaves if each leaf serves as many whole rails as its ports allow; a rail that needs several leaves
        shares none of them.
        """
        of_rail = self.nodes * self.nics_of_rail
        if of_rail > down:
            return self._separate_leaves(down)
        return parts_needed(self.rails, down // of_rail)

    def _separate_leaves(self, down: int) -> int:
        """Number of leaves if no leaf serves two rails. Extra endpoints take free ports first, then additional
        leaves.
        """
        return self._leaves_of_rails(down) + self._leaves_of_extras(down)

    def _leaves_of_rails(self, down: int) -> int:
        return self.rails * parts_needed(self.nodes * self.nics_of_rail, down)

    def _leaves_of_extras(self, down: int) -> int:
        extras = self.fabric.extra_endpoints
        free = self._leaves_of_rails(down) * down - (self.endpoints - extras)
        return parts_needed(max(0, extras - free), down)

    def describe_leaves(self, down: int) -> str:
        """The derivation of the leaves."""
        by_ports = f"{self.endpoints:,} endpoints / {down} ports down, rounded up"
        of_rail = f"{self.nodes:,} nodes × {self.nics_of_rail} NIC"
        if self.rails == 1:
            return by_ports
        if self.leaves(down) == self._separate_leaves(down):
            more = self._leaves_of_extras(down)
            added = f" + {more} for {self.fabric.extra_endpoints} extra endpoints" if more else ""
            return f"{self.rails} rails × ({of_rail} / {down} ports down, rounded up){added}"
        if self._shared_leaves(down) <= parts_needed(self.endpoints, down):
            return f"{by_ports}, where rails share leaves"
        return f"{self.rails} rails of {of_rail} that share leaves of {down} ports down"


def counted_plane(cluster: Cluster, ports: int, ordered: OrderedParts) -> SwitchCount:
    """Counts one fabric plane; ``ports`` belong to a switch at the rate of a plane.

    Rails that no switch connects have a tree each where the spec states several tiers.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    demand = replace(_plane_demand(cluster, fabric, ports), ordered=ordered)
    if fabric.topology == "rail-only" and _tier_count_of_demand(demand) > 1:
        return _count_of_rails(demand)
    return _demand_count(demand)


def _demand_count(demand: _Demand) -> SwitchCount:
    """The switch count of one plane, or of one rail of a plane."""
    tiers = _tier_count_of_demand(demand)
    if tiers == 1:
        return _single_tier_count(demand)
    ports = demand.ports
    leaf = Ports.from_ratio(ports, demand.leaf_ratio)
    tree = _clos_tree(demand, leaf, tiers)
    up = demand.minimum_uplinks
    spine = Ports.from_ratio(ports, demand.spine_ratio)
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
        least_spines=parts_needed(up, ports if two else spine.down),
        least_cores=0 if two else parts_needed(ceiling(up / demand.spine_ratio - 1e-9), ports),
        least_leaf_spine=up,
        how=_plane_derivations(demand, leaf, spine, tree),
        pods=tree.pods,
    )


def _count_of_rails(demand: _Demand) -> SwitchCount:
    """One tree for each rail, over its own NIC of every node."""
    fabric, rails = demand.fabric, demand.rails
    rail = replace(
        fabric,
        topology="fat-tree",
        rails=1,
        nics_per_node=demand.nics_of_rail,
        extra_endpoints=parts_needed(fabric.extra_endpoints, rails),
    )
    one = _demand_count(replace(demand, fabric=rail, ordered=demand.ordered.divided_parts(rails)))
    return replace(
        one,
        leaves=rails * one.leaves,
        spines=rails * one.spines,
        cores=rails * one.cores,
        leaf_spine=rails * one.leaf_spine,
        spine_core=rails * one.spine_core,
        capacity=rails * one.capacity if one.capacity else None,
        least_spines=rails * one.least_spines,
        least_cores=rails * one.least_cores,
        least_leaf_spine=rails * one.least_leaf_spine,
        how={name: f"{rails} rails × ({text})" for name, text in one.how.items()},
    )


def _plane_demand(cluster: Cluster, fabric: ScaleOut, ports: int) -> _Demand:
    """The endpoints of a plane, and the oversubscription ratios of leaves and spines. With pods of full bandwidth, a
    single stated ratio applies above the pod. A pod of exactly one leaf counts as that leaf, and the ratio applies to
    its uplinks.
    """
    nodes = cluster.all_nodes
    leaf, spine, *_ = (*fabric.oversubscription, 1.0, 1.0)
    if fabric.pod_nodes and len(fabric.oversubscription) == 1:
        if fabric.tiers != 3 and fabric.pod_nodes == _nodes_of_leaf(fabric):
            fabric = replace(fabric, pod_nodes=None)
        else:
            leaf, spine = 1.0, leaf
    return _Demand(fabric, nodes, ports, leaf, spine)


def tier_count(cluster: Cluster) -> int | None:
    """Switch tiers of the scale-out fabric by the scalar keys: as stated, else the fewest that connect the endpoints
    and have every stated ratio.

    None if the ports of a switch are not known, or if `levels` describe the fabric.
    """
    fabric = cluster.scale_out
    if fabric is None or fabric.levels or not fabric.switch_ports:
        return fabric.tiers if fabric is not None and not fabric.levels else None
    return _tier_count_of_demand(_plane_demand(cluster, fabric, fabric.switch_ports))


def _tier_count_of_demand(demand: _Demand) -> int:
    """Tiers of a plane. One tier is enough if the endpoints fit one switch and the spec states neither several ratios
    nor a tier count. n stated ratios need n + 1 tiers.
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
    joined = 2 if demand.leaves(Ports.from_ratio(demand.ports, demand.leaf_ratio).down) <= demand.ports else 3
    return min(3, max(joined, stated + 1))


def _single_tier_count(demand: _Demand) -> SwitchCount:
    """The count of a single tier of switches without uplinks: one switch for all endpoints, one for each rail, or one
    for several rails.
    """
    separate = demand.fabric.topology == "rail-only"
    single = demand.fabric.topology == "single-switch" or (demand.endpoints <= demand.ports and not separate)
    leaves = 1 if single else demand.leaves(demand.ports)
    held = "all endpoints on one switch" if single else demand.describe_leaves(demand.ports)
    capacity = demand.ports * (1 if single else min(demand.rails, leaves))
    joined = (single or demand.nodes * demand.nics_of_rail <= demand.ports) and demand.endpoints <= capacity
    absent = ("spine_switches", "core_switches", "leaf_spine", "spine_core")
    how = {"leaf_switches": held} | dict.fromkeys(absent, "one tier has none")
    return SwitchCount(1, Ports(demand.ports, 0), leaves, 0, 0, 0, 0, joined, capacity, 0, 0, 0, how)


def _clos_tree(demand: _Demand, leaf: Ports, tiers: int) -> FoldedClos:
    leaves = demand.leaves(leaf.down)
    if tiers == 2:
        return two_tier_clos(leaves, leaf, demand.ports, demand.uplinks(leaves, leaf))
    pod = demand.fabric.pod_nodes
    if pod is None:
        return three_tier_clos(leaves, leaf, demand.ports, demand.spine_ratio, demand.rails)
    of_pod = demand.rails * parts_needed(pod * demand.nics_of_rail, leaf.down)
    return clos_in_pods(leaves, leaf, demand.ports, demand.spine_ratio, of_pod)


def _plane_derivations(demand: _Demand, leaf: Ports, spine: Ports, tree: FoldedClos) -> dict[str, str]:
    by_ports = parts_needed(tree.leaf_spine, demand.ports)
    each = parts_needed(tree.leaf_spine, tree.leaves)
    spread = spread_derivation(tree.spines, by_ports, each)
    cabled = "cabled even where nodes are missing" if each == leaf.up else "as ordered"
    how = {
        "leaf_switches": demand.describe_leaves(leaf.down),
        "spine_switches": f"{tree.leaf_spine:,} uplinks / {demand.ports} ports: {spread}",
        "core_switches": "two tiers have none",
        "leaf_spine": f"{tree.leaves:,} leaves × {each} uplinks, {cabled}",
        "spine_core": "two tiers have none",
    }
    if tree.tiers == 3:
        of_pod = parts_needed(tree.leaves, tree.pods)
        spread = spread_derivation(tree.spines_of_pod, parts_needed(of_pod * leaf.up, spine.down), leaf.up)
        how["spine_switches"] = (
            f"{tree.pods} pods × ({of_pod} leaves × {leaf.up} uplinks / {spine.down} ports down: {spread})"
        )
        up = tree.spine_core // tree.spines
        how["core_switches"] = f"{tree.spines:,} spines × {up} uplinks / {demand.ports} ports, rounded up"
        how["spine_core"] = f"{tree.spines:,} spines × {up} uplinks"
    return how


# The switch levels of the fabric that groups of ranks cross


def fabric_levels(cluster: Cluster) -> tuple[Level, ...]:
    """The levels of the scale-out fabric from the leaf upward, each with the nodes under one block of it.

    The levels come from `levels` if the spec has this key. Else the level is the pod, if the spec states that the
    oversubscription is above it. Else there is one level per ratio, and a leaf has as many nodes as its ports allow. A
    level with an unknown number of nodes is assumed to be crossed by all traffic that crosses the level below it. A
    fabric of n tiers has n - 1 levels to cross; a fabric of cables only has none. The bill of materials counts the same
    way (`fabric_plane`).
    """
    fabric = cluster.scale_out
    if fabric is None:
        return ()
    if fabric.levels:
        return _levels_with_nodes(fabric.levels)
    tiers = tier_count(cluster)
    if tiers == 1 or fabric.topology == "direct":
        return ()
    if fabric.pod_nodes:
        return (Level("pod", fabric.pod_nodes, fabric.taper),)
    names = ("leaf", "spine", "core")
    built = fabric.oversubscription[: tiers - 1] if tiers else fabric.oversubscription
    leaf, *above = (Level(names[min(index, 2)], None, ratio) for index, ratio in enumerate(built))
    return _levels_with_nodes((Level(leaf.name, _nodes_of_leaf(fabric), leaf.oversubscription), *above))


def _nodes_of_leaf(fabric: ScaleOut) -> int:
    """Nodes that share a leaf; 1 if the ports of a switch are unknown, so that all traffic between nodes crosses the
    leaf.
    """
    if not fabric.switch_ports:
        return 1
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    per_leaf = parts_needed(fabric.nics_per_node, rails)
    return max(1, Ports.from_ratio(fabric.switch_ports, fabric.oversubscription[0]).down // per_leaf)


def _levels_with_nodes(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    bounded: list[Level] = []
    for level in levels:
        below = bounded[-1].nodes if bounded else 1
        nodes = level.nodes or below
        bounded.append(
            Level(level.name, nodes, level.oversubscription, level.switch_ports, level.uplink_bandwidth, level.count)
        )
    return tuple(bounded)
