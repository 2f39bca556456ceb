"""Racks and electrical power of a machine at full load, from the spec and the nameplates of its parts."""

from __future__ import annotations

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import domain_overhead, nodes_of_rack, rack_nodes
from clusterspec.cluster.fabric import Fabric, counted_fabric
from clusterspec.cluster.model import Cluster, Design
from clusterspec.quantity import Figure
from clusterspec.records import dataclass
from clusterspec.source import Assumed, Computed, Written
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import sum_of
from clusterspec.units import display, plural

HOST_SHARES = (0.4, 1.1)
"""Power of the rest of a node (processors, NICs, fans, conversion) per watt of its accelerators, lowest and highest.

The ratings of DGX-1, DGX-2 and DGX A100, H100, H200, B200 and B300 give 0.46 to 1.08. An HGX H100 measured at most
8.4 kW in training, that is 0.50 (Latif et al., Single-Node Power Demand During AI Training, IEEE Access 13, 2025).
"""
SUPERCHIP_SHARES = (0.1, 0.4)
"""The same as `HOST_SHARES` for superchips, where the accelerator's power includes the processor in its module.

El Capitan drew 29.6 MW in HPL on 11,136 nodes of four MI300A of 550 W, network and pumps included: 0.21
(https://top500.org/system/180307).
"""
SUPERCHIP_WHY = (
    "the power of the modules, processors included, plus 0.1 to 0.4 of it for the rest of the node: El Capitan drew"
    " 0.21 in HPL, network included; state the power of your server"
)
WHY = (
    "the power of the accelerators plus 0.4 to 1.1 of it for the rest of the node: DGX systems of seven generations are"
    " rated at 0.46 to 1.08, an HGX H100 measured 0.50; state the power of your server"
)

PARTS_COOLING = "parts above 1 kW are cooled by liquid, others by air"


@dataclass(frozen=True)
class PowerDraw:
    """The power of each part of the machine at full load in watts; None if unknown.

    ``nodes`` and ``switches`` are the installed numbers, including spares. ``node_range`` is the range of a node whose
    power is assumed. ``domain_overhead`` is the power of a rack-scale domain in addition to its nodes. ``racks`` is
    None if neither `cluster.power.nodes_per_rack` nor a rack-scale platform states one; racks with only switches are
    not counted.
    """

    node: Figure | None
    nodes: int
    switch: Figure | None
    switches: int
    rack_overhead: Figure
    racks: int | None
    domain_overhead: Figure | None = None
    domains: int = 0
    node_range: tuple[float, float] | None = None
    accelerator: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The figures missing from the sum."""
        lacking = []
        if self.node is None:
            why = f"; the catalog has no power of {self.accelerator}" if self.accelerator else ""
            lacking.append(f"power of a node (`cluster.power.node`){why}")
        if self.switch is None and self.switches:
            lacking.append("power of a switch (`cluster.power.switch`)")
        if self.racks is None and self.rack_overhead.value:
            lacking.append("number of racks with an overhead (`cluster.power.nodes_per_rack`)")
        return tuple(lacking)

    @property
    def overhead(self) -> tuple[int, Figure] | None:
        """The number of racks, or of rack-scale domains, and the watts that each draws in addition to its nodes; None
        if no such power is known.
        """
        if self.domain_overhead is not None:
            return self.domains, self.domain_overhead
        return (self.racks, self.rack_overhead) if self.racks and self.rack_overhead.value else None


def power_draw(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> PowerDraw:
    """The power of the machine from the spec, else from the catalog entries of platform and switch.

    A node without either is its accelerators and an assumed share for the rest.
    """
    per_rack = rack_nodes(cluster, written.nodes_per_rack if written else None)
    switches = fabric.leaf_switches + fabric.spine_switches + fabric.core_switches if fabric else 0
    stated = written.rack_overhead if written else None
    node = node_nameplates(cluster)
    return PowerDraw(
        node=node[1] if node else None,
        nodes=cluster.all_nodes,
        switch=switch_power(cluster, written),
        switches=switches,
        rack_overhead=Figure(stated.value if stated else 0.0, "W", Written("cluster.power.rack_overhead")),
        racks=parts_needed(cluster.all_nodes, per_rack) if per_rack else None,
        domain_overhead=_rack_overhead(cluster) if stated is None else None,
        domains=parts_needed(cluster.all_nodes, nodes_of_rack(cluster.platform) if cluster.platform else 1),
        node_range=(node[0].value, node[2].value) if node and cluster.node_power is None else None,
        accelerator=cluster.accelerator.id,
    )


def charged_nodes(design: Design, cluster: Cluster) -> int:
    """The nodes whose cost and energy a job pays for, without spares. This is the whole machine unless it is shared in
    a fleet; in a fleet, the nodes of the job.
    """
    if not design.shares_machine or design.layout is None:
        return cluster.nodes
    rl = design.workload.rl if design.workload is not None else None
    return min(cluster.nodes, rl.nodes if rl is not None else design.layout.nodes)


def node_cooling(cluster: Cluster, written: PowerSpec | None) -> tuple[str, str]:
    """How nodes are cooled (``air``, ``liquid`` or ``immersion``), and the reason if it is assumed."""
    if written is not None and written.cooling is not None:
        return written.cooling, ""
    own = cluster.accelerator.power
    for entry in (cluster.platform, cluster.accelerator):
        if entry is not None and len(entry.cooling) == 1:
            return entry.cooling[0], f"as {entry.id} is sold"
    return ("liquid" if own is not None and own.value > 1000 else "air"), PARTS_COOLING


def rack_power(cluster: Cluster, written: PowerSpec) -> float | None:
    """Watts of a full rack: its nodes, and the stated overhead or the switches of whole domains; None if not known.

    Nodes of unknown power count with the least that servers with their accelerators draw.
    """
    node = lowest_node_power(cluster)
    if node is None or written.nodes_per_rack is None:
        return None
    return node * written.nodes_per_rack + overhead_of_rack(cluster, written).value


def node_nameplates(cluster: Cluster) -> tuple[Figure, Figure, Figure] | None:
    """The power of a node at full load as stated or sold, else the assumed range with its middle: low, middle, high."""
    if cluster.node_power is not None:
        return cluster.node_power, cluster.node_power, cluster.node_power
    low, high = _assumed_range(cluster)
    if low is None or high is None:
        return None
    why = SUPERCHIP_WHY if has_processors(cluster) else WHY
    if cluster.accelerator.power_lowest and not cluster.accelerator_cap:
        why += (
            "; sites limit these modules to a power between their lowest and highest (`cluster.power.accelerator_cap`)"
        )
    ends = (Figure(value, "W", Assumed("cluster.power.node", why)) for value in (low, (low + high) / 2, high))
    least, middle, most = ends
    return least, middle, most


def lowest_node_power(cluster: Cluster) -> float | None:
    """Watts of a node at full load: as stated or sold, else the lowest of the assumed range; None if not known."""
    return cluster.node_power.value if cluster.node_power is not None else _assumed_range(cluster)[0]


def overhead_of_rack(cluster: Cluster, written: PowerSpec | None) -> Figure:
    """Watts of a rack excluding its nodes: as stated, else the overhead of the rack-scale domains that are entirely in
    it.
    """
    if written is not None and written.rack_overhead is not None:
        return Figure(written.rack_overhead.value, "W", Written("cluster.power.rack_overhead"))
    held = rack_nodes(cluster, written.nodes_per_rack if written else None)
    each = _rack_overhead(cluster)
    count = held // nodes_of_rack(cluster.platform) if cluster.platform is not None and held is not None else 0
    if each is None or not count:
        return Figure(0.0, "W", Computed("only the power of the nodes is known"))
    return each if count == 1 else Figure(count * each.value, "W", Computed(f"{count} times {each.origin}"))


def it_power(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> tuple[float, str] | None:
    """Watts of nodes, spares, switches, domains and racks at full load, and the sum as text; None if nodes have none.

    Parts of unknown power are left out, which the text says: the sum is then a lower bound.
    """
    draw = power_draw(cluster, fabric, written)
    if draw.node is None:
        return None
    parts = [(draw.nodes, "node", draw.node.value)]
    parts += [(draw.switches, "switch", draw.switch.value)] if draw.switch and draw.switches else []
    if draw.overhead is not None:
        racks, each = draw.overhead
        parts.append((racks, "rack-scale domain" if draw.domain_overhead else "rack", each.value))
    how = " + ".join(f"{plural(count, name)} of {display(each, 'W')}" for count, name, each in parts)
    how += f", without the {' and the '.join(draw.missing)}" if draw.missing else ""
    return sum_of(count * each for count, _, each in parts), how


def lowest_it_power(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> float | None:
    """The sum of `it_power` with the low end of the range for nodes whose power is assumed."""
    found, draw = it_power(cluster, fabric, written), power_draw(cluster, fabric, written)
    if found is None or draw.node is None or draw.node_range is None:
        return found[0] if found else None
    return found[0] - draw.nodes * (draw.node.value - draw.node_range[0])


def lowest_machine_watts(design: Design) -> float | None:
    """The result of `machine_watts`, with each node of assumed power at the low end of its range."""
    section = design.spec.cluster
    power = section.power if section else None
    return lowest_it_power(design.cluster, counted_fabric(design), power) if design.cluster is not None else None


def machine_watts(design: Design) -> float | None:
    """Watts of the machine of a design at full load, as `it_power` sums them; None if nodes have no power."""
    section = design.spec.cluster
    power = section.power if section else None
    found = it_power(design.cluster, counted_fabric(design), power) if design.cluster is not None else None
    return found[0] if found else None


def _assumed_range(cluster: Cluster) -> tuple[float, float] | tuple[None, None]:
    """The power of a node with an unknown server, as (low, high) in watts; None without the power of accelerators.

    Accelerators that are sold with a range of limits, as GH200 is, may have the lowest one.
    """
    if cluster.accelerator.power is None:
        return None, None
    most = cluster.accelerator_cap or cluster.accelerator.power
    least = cluster.accelerator_cap or cluster.accelerator.power_lowest or most
    shares = host_shares(cluster)
    low, high = (each.value * (1 + share) for each, share in zip((least, most), shares, strict=True))
    return cluster.accelerators_per_node * low, cluster.accelerators_per_node * high


def host_shares(cluster: Cluster) -> tuple[float, float]:
    """The lowest and the highest share of the accelerators' power for the rest of a node of unknown power."""
    return SUPERCHIP_SHARES if has_processors(cluster) else HOST_SHARES


def has_processors(cluster: Cluster) -> bool:
    return "processor" in cluster.accelerator.power_includes


def _rack_overhead(cluster: Cluster) -> Figure | None:
    watts = domain_overhead(cluster)
    if not watts or cluster.platform is None:
        return None
    nodes = nodes_of_rack(cluster.platform)
    return Figure(watts, "W", Computed(f"power of a rack less its {nodes} nodes, platform/{cluster.platform.id}"))


def switch_power(cluster: Cluster, written: PowerSpec | None) -> Figure | None:
    """Watts of one switch of the fabric, as stated or of the catalog."""
    if written is not None and written.switch is not None:
        return Figure(written.switch.value, "W", Written("cluster.power.switch"))
    switch = cluster.scale_out.switch if cluster.scale_out else None
    return switch.power if switch else None
