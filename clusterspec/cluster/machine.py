"""Resolves the machine: accelerator, counts, scale-up domain, PCIe slots and power."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from clusterspec.catalog.entries import Accelerator, Interconnect, Platform, Switch
from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.model import Cluster, ScaleOut, ScaleUp
from clusterspec.cluster.resolution import Lookup, Parts, ResolutionLog, written_bandwidth, written_figure
from clusterspec.cluster.scaleout import resolve_scale_out
from clusterspec.origin import Computed, Written
from clusterspec.quantity import Bandwidth, Figure, Peak, Quantity
from clusterspec.records import dataclass, replace
from clusterspec.spec.model import (
    AcceleratorSpec,
    ClusterSpec,
    NetworkSpec,
    NetworksSpec,
    PcieSpec,
    PowerSpec,
    ScaleUpSpec,
)
from clusterspec.units import plural

NODE_SCALE = 16
"""Accelerators of the largest scale-up domain that is sold as one node (DGX-2, Trainium)."""
LARGEST_SHAPED = 1_000_000
"""Accelerators of the largest torus whose shape is derived when the spec does not state it."""
PCIE = "pcie"


@dataclass(frozen=True, slots=True)
class _DomainSources:
    """The sources that describe the domain: the spec, and the entries that supply absent keys."""

    parts: Parts
    section: ScaleUpSpec
    interconnect: Interconnect | None
    bus: Interconnect | None
    """The PCIe slot of the accelerator."""

    @property
    def topology(self) -> str:
        """The topology of a domain; ``pcie`` where only the host bus connects the accelerators."""
        sources = (self.parts.platform, self.parts.accelerator, self.interconnect)
        supplied = next((entry.topology for entry in sources if entry is not None and entry.topology), PCIE)
        on_bus = self.interconnect is None or self.interconnect.family == PCIE
        return self.section.topology or (PCIE if on_bus else supplied)


def resolve_scale_up(parts: Parts, pcie: int | None) -> ScaleUp | None:
    """The scale-up tier; None, with a problem, where no bandwidth is stated or known.

    ``pcie`` is the generation of the accelerators' slots.
    """
    section = parts.section.scale_up or ScaleUpSpec()
    sources = _DomainSources(parts, section, _interconnect(parts, section), parts.lookup.bus(pcie) if pcie else None)
    domain = _domain_size(sources)
    shape = _torus_shape(sources, domain)
    bandwidth = _accelerator_bandwidth(sources)
    if bandwidth is None:
        path, why = ("cluster", "scale_up", "bandwidth"), f"the catalog has no figure for {parts.accelerator.id}"
        parts.log.report_missing(path, why, "write it, with its direction")
        return None
    return ScaleUp(
        domain=domain,
        topology=sources.topology,
        bandwidth=bandwidth,
        peer_bandwidth=_peer_bandwidth(sources, bandwidth, domain),
        interconnect=sources.interconnect,
        shape=shape,
        axis_bandwidth=_axis_bandwidths(sources, shape),
        oversubscription=_oversubscription_ratio(section.oversubscription),
        in_network_reduction=_in_network_reduction(sources, domain),
    )


def _interconnect(parts: Parts, section: ScaleUpSpec) -> Interconnect | None:
    """The stated interconnect; that of the platform or the accelerator where none is stated or no such entry exists."""
    named = (parts.platform.interconnect if parts.platform else None, *parts.accelerator.interconnects)
    known = (parts.lookup.named_entry("interconnect", name) for name in named if name)
    usual = next((entry for entry in known if isinstance(entry, Interconnect)), None)
    if section.interconnect is None:
        return usual
    path = ("cluster", "scale_up", "interconnect")
    owner = f"{parts.accelerator.id} has `{usual.id}`" if usual else ""
    return parts.lookup.interconnect(section.interconnect, path, usual=owner) or usual


def _domain_size(sources: _DomainSources) -> int:
    """Accelerators of a domain: as stated, else the product of the shape, else that of the entry or the cluster.

    An entry with node-sized domains never extends beyond the node that the spec describes. A part that is also sold
    alone has the domain of the stated node, where such nodes are sold.
    """
    section = sources.section
    if section.domain:
        return section.domain
    if section.shape:
        return max(1, prod(section.shape))
    if sources.topology == PCIE:
        return 1
    sold = sources.parts.accelerator.domains or (1,)
    stated = sources.parts.section.accelerators_per_node
    usual = max(sold) if sources.topology == "torus" else stated if stated in sold and sold[0] == 1 else sold[0]
    largest = (sources.parts.platform.domain if sources.parts.platform else None) or usual
    reach = sources.parts.per_node if _stays_in_node(sources, largest) else sources.parts.accelerators
    return max(1, min(largest, reach))


def _stays_in_node(sources: _DomainSources, largest: int) -> bool:
    if sources.parts.platform is not None and sources.parts.platform.accelerators_per_node:
        return largest <= sources.parts.platform.accelerators_per_node
    torus_of_hosts = sources.topology == "torus" and largest > sources.parts.per_node
    return not torus_of_hosts and (largest <= NODE_SCALE or sources.parts.per_node in sources.parts.accelerator.domains)


def _accelerator_bandwidth(sources: _DomainSources) -> Bandwidth | None:
    """Bandwidth per accelerator and direction. The accelerator's figure precedes that of its interconnect: an H800 has
    400 of NVLink 4's 900 GB/s. A written figure without a direction is not used: a finding asks for it.
    """
    section = sources.section.bandwidth
    if section is not None and section.direction is not None:
        return written_bandwidth(section, "cluster.scale_up.bandwidth")
    if sources.topology == PCIE:
        return _slot_bandwidth(sources)
    return _first_known(
        sources.parts.platform.scale_up_bandwidth if sources.parts.platform else None,
        sources.parts.accelerator.scale_up_bandwidth,
        sources.interconnect.bandwidth if sources.interconnect else None,
    )


def _slot_bandwidth(sources: _DomainSources) -> Bandwidth | None:
    """The slower of the slot and the device in it: a PCIe 4 device in a PCIe 5 slot runs at 4."""
    own = sources.interconnect if sources.interconnect and sources.interconnect.family == PCIE else None
    known = (entry.bandwidth for entry in (own, sources.bus) if entry is not None)
    return min((rate for rate in known if rate is not None), default=None)


def _peer_bandwidth(sources: _DomainSources, bandwidth: Bandwidth, domain: int) -> Bandwidth:
    """The bandwidth between the slowest pair: meshes and tori divide the links, a switch does not."""
    section = sources.section.peer_bandwidth
    if section is not None and section.direction is not None:
        return written_bandwidth(section, "cluster.scale_up.peer_bandwidth")
    if sources.topology in {"switched", PCIE}:
        return bandwidth
    entry = sources.interconnect
    supplied = _first_known(sources.parts.accelerator.peer_bandwidth, entry.peer_bandwidth if entry else None)
    if supplied is not None:
        return supplied
    if sources.topology == "full-mesh" and domain > 1:
        return Bandwidth.one_way(bandwidth.value / (domain - 1), Computed("bandwidth / (domain - 1)"))
    if sources.topology in {"torus", "ring"} and entry is not None and entry.link_bandwidth is not None:
        return entry.link_bandwidth
    return bandwidth


def _torus_shape(sources: _DomainSources, domain: int) -> tuple[int, ...]:
    """The sides of a torus, in accelerators; as even as possible where no source states them."""
    if sources.topology != "torus":
        return ()
    if sources.section.shape:
        return sources.section.shape
    accelerator, platform = sources.parts.accelerator, sources.parts.platform
    for shape in (platform.shape if platform else (), accelerator.shape):
        if shape and prod(shape) == domain:
            return shape
    links = accelerator.links or (sources.interconnect.links if sources.interconnect else None)
    if not links or domain > LARGEST_SHAPED:
        return ()
    why = f"{domain} accelerators with {links} links each, as even as possible"
    return sources.parts.log.assume("cluster.scale_up.shape", even_shape(domain, max(1, links // 2)), why)


def even_shape(count: int, sides: int) -> tuple[int, ...]:
    """A box of ``count`` in ``sides`` dimensions with the smallest sum of sides, shortest side first.

    >>> even_shape(8960, 3)
    (16, 20, 28)
    """
    if sides == 1:
        return (count,)
    cuts = (side for side in range(1, int(count ** (1 / sides)) + 2) if count % side == 0)
    return min((tuple(sorted((side, *even_shape(count // side, sides - 1)))) for side in cuts), key=sum)


def _axis_bandwidths(sources: _DomainSources, shape: tuple[int, ...]) -> tuple[Bandwidth, ...]:
    """Bandwidth of one link, one direction, along each axis of a torus; empty where the axes do not differ or are not
    known.
    """
    written = sources.section.axis_bandwidth or ()
    if written and all(axis.direction is not None for axis in written):
        return tuple(written_bandwidth(axis, f"cluster.scale_up.axis_bandwidth[{i}]") for i, axis in enumerate(written))
    entry = sources.interconnect
    supplied = sources.parts.accelerator.axis_bandwidth or (entry.axis_bandwidth if entry else ())
    return supplied if len(supplied) == len(shape) else ()


def _oversubscription_ratio(section: Quantity | None) -> float:
    return section.value if section is not None and section.value > 0 else 1.0


def _in_network_reduction(sources: _DomainSources, domain: int) -> bool:
    if sources.section.in_network_reduction is not None:
        return sources.section.in_network_reduction
    entry = sources.interconnect
    able = entry is not None and entry.in_network_reduction and sources.topology == "switched" and domain > 1
    if entry is None or domain == 1:
        return False
    why = f"what {entry.id} can do" if able else f"{entry.id} has none here"
    return sources.parts.log.assume("cluster.scale_up.in_network_reduction", able, why)


def _first_known(*figures: Bandwidth | None) -> Bandwidth | None:
    return next((figure for figure in figures if figure is not None), None)


TRAY = 4
"""Accelerators of one tray or host in the rack-scale machines and slices sold (NVL72, TPU)."""
USUAL_NODE = 8
NETWORKS = ("frontend", "storage", "out_of_band")
"""The networks of a node other than the scale-out fabric."""


def resolve_cluster(section: ClusterSpec, lookup: Lookup) -> Cluster | None:
    """The cluster, or None where its accelerator or its number of nodes is not known."""
    log = lookup.log
    platform = lookup.platform(section.platform, ("cluster", "platform")) if section.platform else None
    accelerator = _accelerator(section, platform, lookup)
    per_node = _accelerators_per_node(section, platform, accelerator, log) if accelerator is not None else 0
    nodes = section.nodes or _node_count(section.accelerators, per_node, log)
    if nodes is None:
        why = "the size of the machine is not known"
        if section.accelerators and per_node:
            why = f"{section.accelerators:,} accelerators are no whole number of nodes of {per_node}"
        log.report_missing(("cluster", "nodes"), why, "state how many nodes run the job")
    if accelerator is None or nodes is None:
        return None
    parts = Parts(section, platform, accelerator, nodes, per_node, lookup)
    pcie = section.pcie or PcieSpec()
    host = pcie.host or (platform.pcie_host if platform else None) or accelerator.pcie
    scale_up = resolve_scale_up(parts, host)
    if scale_up is None:
        return None
    scale_out = resolve_scale_out(parts, scale_up.domain)
    return Cluster(
        accelerator=accelerator,
        nodes=nodes,
        spare_nodes=section.spare_nodes or 0,
        accelerators_per_node=parts.per_node,
        ranks_per_accelerator=section.ranks_per_accelerator or accelerator.ranks_per_accelerator,
        scale_up=scale_up,
        scale_out=scale_out,
        platform=platform,
        pcie_host=host,
        pcie_nic=_pcie_nic(section, pcie, platform, scale_out),
        host_memory=written_figure(section.host_memory, "cluster.host_memory") if section.host_memory else None,
        node_power=_node_power(section.power, parts),
        accelerator_cap=_accelerator_cap(section.power, accelerator),
        cloud=platform.cloud if platform else False,
        network_switches=tuple(_network_switches(section.networks, lookup)),
    )


def _network_switches(networks: NetworksSpec | None, lookup: Lookup) -> Iterator[tuple[str, Switch]]:
    """The switches that the networks other than the scale-out fabric name; unknown names become problems."""
    for name in NETWORKS:
        network: NetworkSpec | None = getattr(networks, name) if networks else None
        if network is None:
            continue
        path = ("cluster", "networks", name)
        if network.technology is not None:
            lookup.interconnect(network.technology, (*path, "technology"))
        switch = lookup.switch(network.switch, (*path, "switch")) if network.switch else None
        if switch is not None:
            yield name, switch


def _pcie_nic(section: ClusterSpec, pcie: PcieSpec, platform: Platform | None, fabric: ScaleOut | None) -> int | None:
    """PCIe generation of the NIC slots: as written, else that of the platform, else the one that the named NIC
    requires.
    """
    named = fabric.nic if fabric is not None and section.scale_out is not None and section.scale_out.nic else None
    return pcie.nic or (platform.pcie_nic if platform else None) or (named.pcie if named else None)


def _accelerator(section: ClusterSpec, platform: Platform | None, lookup: Lookup) -> Accelerator | None:
    wanted, path = section.accelerator, ("cluster", "accelerator")
    if isinstance(wanted, str):
        return lookup.accelerator(wanted, path)
    if wanted is not None and wanted.like is not None:
        like = lookup.accelerator(wanted.like, (*path, "like"))
        return adjusted_accelerator(like, wanted) if like else None
    if lookup.log.unreadable(path):
        return None
    supplied = lookup.named_entry("accelerator", platform.accelerator) if platform is not None else None
    if isinstance(supplied, Accelerator):
        return adjusted_accelerator(supplied, wanted) if wanted else supplied
    if wanted is not None and section.platform is None:
        start = "write `like: h100-sxm-80gb` for the nearest part"
        remedy = f"{start}, or make an entry with `clusterspec catalog new accelerator`"
        lookup.log.report_missing(
            (*path, "like"), "an accelerator described in place starts from a catalog entry", remedy
        )
    elif section.platform is None:
        remedy = "name a platform such as dgx-h100, or an accelerator such as h100-sxm-80gb"
        lookup.log.report_missing(("cluster", "platform"), "neither a platform nor an accelerator is named", remedy)
    return None


def adjusted_accelerator(entry: Accelerator, section: AcceleratorSpec) -> Accelerator:
    """The entry with the figures that the spec states instead."""
    key = "cluster.accelerator"
    written = {name: written_peak(value, f"{key}.peak.{name}") for name, value in (section.peak or {}).items()}
    return replace(
        entry,
        name=_adjusted_name(entry, section),
        memory_printed="" if section.memory else entry.memory_printed,
        memory=_written_or_default(section.memory, f"{key}.memory", entry.memory),
        memory_bandwidth=_written_or_default(
            section.memory_bandwidth, f"{key}.memory_bandwidth", entry.memory_bandwidth
        ),
        power=_written_or_default(section.power, f"{key}.power", entry.power),
        peaks={**entry.peaks, **{name: peak for name, peak in written.items() if peak is not None}},
    )


def _adjusted_name(entry: Accelerator, section: AcceleratorSpec) -> str:
    """The name of the entry with the figures that the spec states instead."""
    stated = {"memory": section.memory, "memory bandwidth": section.memory_bandwidth, "power": section.power}
    stated |= {f"{precision} peak": peak for precision, peak in (section.peak or {}).items()}
    changes = [f"{name} {quantity.written}" for name, quantity in stated.items() if quantity is not None]
    return f"{entry.name} with {', '.join(changes)}" if changes else entry.name


def written_peak(quantity: Quantity, key: str) -> Peak | None:
    """A written peak; None where its text states neither dense nor sparse, which a finding reports."""
    return None if quantity.sparsity is None else Peak.dense(quantity.dense, Written(key))


def _written_or_default(quantity: Quantity | None, key: str, otherwise: Figure | None) -> Figure | None:
    return otherwise if quantity is None else written_figure(quantity, key)


def _accelerators_per_node(
    section: ClusterSpec, platform: Platform | None, accelerator: Accelerator, log: ResolutionLog
) -> int:
    if section.accelerators_per_node:
        return section.accelerators_per_node
    key = "cluster.accelerators_per_node"
    if platform is not None and platform.accelerators_per_node:
        stated = (section.accelerators or 0) / (section.nodes or 1)
        if stated in platform.node_sizes and stated != platform.accelerators_per_node:
            on = plural(section.nodes or 1, "node")
            return log.assume(key, int(stated), f"{plural(section.accelerators or 0, 'accelerator')} on {on}")
        return platform.accelerators_per_node
    usual = accelerator.domains[0] if accelerator.domains else 1
    if accelerator.topology == "bridge" or max(accelerator.domains, default=1) == 1:
        return log.assume(key, USUAL_NODE, "the usual size of a node")
    if usual <= NODE_SCALE:
        return log.assume(key, usual, f"a node of {accelerator.id} is usually one scale-up domain")
    return log.assume(key, TRAY, f"a tray or host of a machine built of {accelerator.id} usually has {TRAY}")


def _node_count(accelerators: int | None, per_node: int, log: ResolutionLog) -> int | None:
    """Nodes of the stated total of accelerators; None where none is stated, or where it is no whole number of nodes."""
    if accelerators is None or not per_node or accelerators % per_node or log.unreadable(("cluster", "nodes")):
        return None
    return log.assume("cluster.nodes", accelerators // per_node, f"{accelerators:,} accelerators, {per_node} a node")


def _accelerator_cap(section: PowerSpec | None, accelerator: Accelerator) -> Figure | None:
    """The stated cap of an accelerator where it limits something: None at or above its own power."""
    cap, own = section.accelerator_cap if section else None, accelerator.power
    if cap is None or own is None or cap.value >= own.value:
        return None
    return written_figure(cap, "cluster.power.accelerator_cap")


def _node_power(section: PowerSpec | None, parts: Parts) -> Figure | None:
    """The power of one node: as written, else that of the platform with the accelerators that the spec describes, else
    the share of a node in its rack; None where none of these is known.
    """
    platform = parts.platform
    if section is not None and section.node is not None:
        return written_figure(section.node, "cluster.power.node")
    if platform is None or parts.per_node != (platform.accelerators_per_node or parts.per_node):
        return None
    if platform.power is not None:
        return _power_with_own_accelerators(platform.power, parts)
    nodes = nodes_of_rack(platform)
    if platform.rack_power is None or nodes == 1:
        return None
    return Figure(platform.rack_power.value / nodes, "W", Computed("rack_power / nodes_of_rack"))


def _power_with_own_accelerators(rated: Figure, parts: Parts) -> Figure | None:
    """The power of the platform's node with the accelerators of the spec; None where theirs is not known."""
    sold = parts.lookup.named_entry("accelerator", parts.platform.accelerator) if parts.platform else None
    own = parts.accelerator.power
    if not isinstance(sold, Accelerator) or sold.power is None or own is None or own.value == sold.power.value:
        return rated
    more = parts.per_node * (own.value - sold.power.value)
    return Figure(rated.value + more, "W", Computed("power of the platform, with the power of these accelerators"))
