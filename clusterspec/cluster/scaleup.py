"""Resolves the scale-up domain: its size and topology, and the bandwidth of its links."""

from __future__ import annotations

from math import prod

from clusterspec.catalog.entries import Interconnect
from clusterspec.cluster.model import ScaleUp
from clusterspec.cluster.resolution import Parts
from clusterspec.quantity import Bandwidth, Quantity
from clusterspec.records import dataclass
from clusterspec.source import Computed, Written
from clusterspec.spec.model import ScaleUpSpec

NODE_SCALE = 16
"""Accelerators of the largest scale-up domain that is sold as one node (DGX-2, Trainium)."""
LARGEST_SHAPED = 1_000_000
"""Accelerators of the largest torus whose shape is derived when the spec does not state it."""
PCIE = "pcie"


@dataclass(frozen=True)
class _DomainSources:
    """The sources that describe the domain: the spec, and the entries that supply absent keys."""

    parts: Parts
    section: ScaleUpSpec
    interconnect: Interconnect | None
    bus: Interconnect | None
    """The PCIe slot of the accelerator."""

    @property
    def topology(self) -> str:
        """The topology of a domain; ``pcie`` if the accelerators are connected only by the host bus."""
        sources = (self.parts.platform, self.parts.accelerator, self.interconnect)
        supplied = next((entry.topology for entry in sources if entry is not None and entry.topology), PCIE)
        on_bus = self.interconnect is None or self.interconnect.family == PCIE
        return self.section.topology or (PCIE if on_bus else supplied)


def resolve_scale_up(parts: Parts, pcie: int | None) -> ScaleUp | None:
    """The scale-up tier; None, with a problem, if no bandwidth is stated or known.

    ``pcie`` is the generation of the accelerators' slots.
    """
    section = parts.section.scale_up or ScaleUpSpec()
    sources = _DomainSources(
        parts, section, _resolved_interconnect(parts, section), parts.lookup.bus(pcie) if pcie else None
    )
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
        in_network_reduction=_has_in_network_reduction(sources, domain),
        switches=_switch_tray_count(sources, domain),
        switch_loss=section.switch_loss or (parts.platform.switch_loss if parts.platform else None) or "",
    )


def _resolved_interconnect(parts: Parts, section: ScaleUpSpec) -> Interconnect | None:
    """The stated interconnect. If none is stated or no such entry exists, the interconnect of the platform or the
    accelerator.
    """
    named = (parts.platform.interconnect if parts.platform else None, *parts.accelerator.interconnects)
    known = (parts.lookup.named_entry("interconnect", name) for name in named if name)
    usual = next((entry for entry in known if isinstance(entry, Interconnect)), None)
    if section.interconnect is None:
        return usual
    path = ("cluster", "scale_up", "interconnect")
    if usual is not None and usual.id in parts.lookup.catalog.family("interconnect", section.interconnect):
        from clusterspec.cluster.unknown_names import family_problem  # most specs name a generation

        parts.lookup.log.problems.append(family_problem(section.interconnect, usual.id, "the machine has", path))
        return usual
    owner = f"{parts.accelerator.id} has `{usual.id}`" if usual else ""
    return parts.lookup.interconnect(section.interconnect, path, usual=owner) or usual


def _domain_size(sources: _DomainSources) -> int:
    """Accelerators of a domain: as stated, else the product of the shape, else the smaller figure of entry and cluster.

    An entry with node-sized domains never extends beyond the node that the spec describes. A part that is also sold
    alone has the domain of the stated node, where such nodes are sold.
    """
    section = sources.section
    if section.domain:
        return section.domain
    if section.shape:
        return prod(section.shape)
    if sources.topology == PCIE:
        return 1
    sold = sources.parts.accelerator.domains or (1,)
    stated = sources.parts.section.accelerators_per_node
    usual = max(sold) if sources.topology == "torus" else stated if stated in sold and sold[0] == 1 else sold[0]
    largest = (sources.parts.platform.domain if sources.parts.platform else None) or usual
    reach = sources.parts.per_node if _stays_in_node(sources, largest) else sources.parts.accelerators
    return min(largest, reach)


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
        return Bandwidth.of(section, Written("cluster.scale_up.bandwidth"))
    if sources.topology == PCIE:
        return _slot_bandwidth(sources)
    return _catalog_bandwidth(sources)


def _catalog_bandwidth(sources: _DomainSources) -> Bandwidth | None:
    """Bandwidth per accelerator and direction from catalog entries, without what the spec states."""
    return _first_stated_bandwidth(
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
    """The bandwidth between the two accelerators with the slowest connection. Meshes and tori divide the links among
    peers, a switch does not.
    """
    section = sources.section.peer_bandwidth
    if section is not None and section.direction is not None:
        return Bandwidth.of(section, Written("cluster.scale_up.peer_bandwidth"))
    if sources.topology in {"switched", PCIE}:
        return bandwidth
    entry = sources.interconnect
    supplied = _first_stated_bandwidth(
        sources.parts.accelerator.peer_bandwidth, entry.peer_bandwidth if entry else None
    )
    if supplied is not None:
        return _bandwidth_of_stated_links(sources, supplied)
    if sources.topology == "full-mesh" and domain > 1:
        return Bandwidth.one_way(bandwidth.value / (domain - 1), Computed("bandwidth / (domain - 1)"))
    if sources.topology in {"torus", "ring"} and entry is not None and entry.link_bandwidth is not None:
        return _bandwidth_of_stated_links(sources, entry.link_bandwidth)
    return bandwidth


def _bandwidth_of_stated_links(sources: _DomainSources, supplied: Bandwidth) -> Bandwidth:
    """The catalog's bandwidth of some links of an accelerator. If the spec states a different total for all links, it
    is scaled by the same factor.
    """
    stated, usual = sources.section.bandwidth, _catalog_bandwidth(sources)
    if stated is None or stated.direction is None or usual is None or not usual.value:
        return supplied
    whole = stated.per_direction
    if whole == usual.value:
        return supplied
    why = "the catalog's figure * cluster.scale_up.bandwidth / the catalog's bandwidth"
    return Bandwidth.one_way(supplied.value * whole / usual.value, Computed(why))


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
    """Bandwidth of one link, one direction, along each axis of a torus; empty if the axes do not differ or are not
    known.
    """
    written = sources.section.axis_bandwidth or ()
    if written and all(axis.direction is not None for axis in written):
        return tuple(
            Bandwidth.of(axis, Written(f"cluster.scale_up.axis_bandwidth[{i}]")) for i, axis in enumerate(written)
        )
    entry = sources.interconnect
    supplied = sources.parts.accelerator.axis_bandwidth or (entry.axis_bandwidth if entry else ())
    return tuple(_bandwidth_of_stated_links(sources, axis) for axis in supplied) if len(supplied) == len(shape) else ()


def _oversubscription_ratio(section: Quantity | None) -> float:
    return section.value if section is not None and section.value > 0 else 1.0


def _switch_tray_count(sources: _DomainSources, domain: int) -> int | None:
    """The number of switch trays of a domain that is larger than a node; None for domains within a node, whose switches
    are parts of the node.
    """
    platform = sources.parts.platform
    if sources.topology != "switched" or domain <= sources.parts.per_node:
        return None
    return sources.section.switches or (platform.scale_up_switches if platform else None)


def _has_in_network_reduction(sources: _DomainSources, domain: int) -> bool:
    if sources.section.in_network_reduction is not None:
        return sources.section.in_network_reduction
    entry = sources.interconnect
    if entry is None or domain == 1:
        return False
    able = entry.in_network_reduction and sources.topology == "switched"
    why = f"what {entry.id} can do" if able else f"{entry.id} has no in-network reduction in this topology"
    return sources.parts.log.assume("cluster.scale_up.in_network_reduction", able, why)


def _first_stated_bandwidth(*figures: Bandwidth | None) -> Bandwidth | None:
    return next((figure for figure in figures if figure is not None), None)
