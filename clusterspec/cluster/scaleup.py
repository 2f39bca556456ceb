"""Resolves the interconnect inside a domain: from the spec, the platform, the accelerator, in that order."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from clusterspec.catalog.entries import Interconnect
from clusterspec.cluster.model import ScaleUp
from clusterspec.cluster.parts import Parts
from clusterspec.cluster.resolution_log import written_bandwidth
from clusterspec.origin import Computed
from clusterspec.quantity import Bandwidth, Quantity
from clusterspec.spec.model import ScaleUpSpec

NODE_SCALE = 16
"""Accelerators of the largest scale-up domain that is sold as one node (DGX-2, Trainium)."""
LARGEST_SHAPED = 1_000_000
"""Accelerators of the largest torus whose shape is worked out when the spec does not say it."""
PCIE = "pcie"


@dataclass(frozen=True, slots=True)
class _Asked:
    """Everything that has a say about the domain."""

    parts: Parts
    said: ScaleUpSpec
    interconnect: Interconnect | None
    bus: Interconnect | None
    """The PCIe slot of the accelerator."""

    @property
    def topology(self) -> str:
        """How the accelerators of a domain are joined; ``pcie`` where nothing but the host bus does it."""
        sources = (self.parts.platform, self.parts.accelerator, self.interconnect)
        supplied = next((entry.topology for entry in sources if entry is not None and entry.topology), PCIE)
        on_bus = self.interconnect is None or self.interconnect.family == PCIE
        return self.said.topology or (PCIE if on_bus else supplied)


def resolve_scale_up(parts: Parts, pcie: int | None) -> ScaleUp | None:
    """The scale-up tier; None, with a problem, where no bandwidth is stated or known.

    ``pcie`` is the generation of the accelerators' slots.
    """
    said = parts.said.scale_up or ScaleUpSpec()
    asked = _Asked(parts, said, _interconnect(parts, said), parts.lookup.bus(pcie) if pcie else None)
    domain = _domain(asked)
    shape = _shape(asked, domain)
    bandwidth = _bandwidth(asked)
    if bandwidth is None:
        path, why = ("cluster", "scale_up", "bandwidth"), f"the catalog has no figure for {parts.accelerator.id}"
        parts.log.missing(path, why, "say it, with its direction")
        return None
    return ScaleUp(
        domain=domain,
        topology=asked.topology,
        bandwidth=bandwidth,
        peer_bandwidth=_peer_bandwidth(asked, bandwidth, domain),
        interconnect=asked.interconnect,
        shape=shape,
        axis_bandwidth=_axes(asked, shape),
        oversubscription=_ratio(said.oversubscription),
        in_network_reduction=_in_network_reduction(asked, domain),
    )


def _interconnect(parts: Parts, said: ScaleUpSpec) -> Interconnect | None:
    """The stated interconnect; that of the platform or the accelerator where none is, or none of that name exists."""
    named = (parts.platform.interconnect if parts.platform else None, *parts.accelerator.interconnects)
    known = (parts.lookup.known("interconnect", name) for name in named if name)
    usual = next((entry for entry in known if isinstance(entry, Interconnect)), None)
    if said.interconnect is None:
        return usual
    path = ("cluster", "scale_up", "interconnect")
    owner = f"{parts.accelerator.id} has `{usual.id}`" if usual else ""
    return parts.lookup.interconnect(said.interconnect, path, other_than="scale-out", usual=owner) or usual


def _domain(asked: _Asked) -> int:
    """Accelerators of a domain: as stated, else the product of the shape, else the entry's or the cluster's.

    An entry whose domains are node-sized never reaches beyond the node that the spec describes.
    """
    said = asked.said
    if said.domain:
        return said.domain
    if said.shape:
        return max(1, prod(said.shape))
    if asked.topology == PCIE:
        return 1
    sold = asked.parts.accelerator.domains or (1,)
    usual = max(sold) if asked.topology == "torus" else sold[0]
    largest = (asked.parts.platform.domain if asked.parts.platform else None) or usual
    reach = asked.parts.per_node if _stays_in_node(asked, largest) else asked.parts.accelerators
    return max(1, min(largest, reach))


def _stays_in_node(asked: _Asked, largest: int) -> bool:
    if asked.parts.platform is not None and asked.parts.platform.accelerators_per_node:
        return largest <= asked.parts.platform.accelerators_per_node
    torus_of_hosts = asked.topology == "torus" and largest > asked.parts.per_node
    return not torus_of_hosts and (largest <= NODE_SCALE or asked.parts.per_node in asked.parts.accelerator.domains)


def _bandwidth(asked: _Asked) -> Bandwidth | None:
    """Per accelerator and direction. The accelerator is asked before its interconnect: an H800 has 400 of
    NVLink 4's 900 GB/s. A written figure without a direction is not used: a finding asks for it.
    """
    said = asked.said.bandwidth
    if said is not None and said.direction is not None:
        return written_bandwidth(said, "cluster.scale_up.bandwidth")
    if asked.topology == PCIE:
        return _slot_bandwidth(asked)
    return _first(
        asked.parts.platform.scale_up_bandwidth if asked.parts.platform else None,
        asked.parts.accelerator.scale_up_bandwidth,
        asked.interconnect.bandwidth if asked.interconnect else None,
    )


def _slot_bandwidth(asked: _Asked) -> Bandwidth | None:
    """Of the slot or of the part in it, whichever is slower: a PCIe 4 part in a PCIe 5 slot runs at 4."""
    own = asked.interconnect if asked.interconnect and asked.interconnect.family == PCIE else None
    known = (entry.bandwidth for entry in (own, asked.bus) if entry is not None)
    return min((rate for rate in known if rate is not None), key=lambda rate: rate.value, default=None)


def _peer_bandwidth(asked: _Asked, bandwidth: Bandwidth, domain: int) -> Bandwidth:
    """Between the slowest pair: what a mesh or torus splits, and a switch does not."""
    said = asked.said.peer_bandwidth
    if said is not None and said.direction is not None:
        return written_bandwidth(said, "cluster.scale_up.peer_bandwidth")
    if asked.topology in {"switched", PCIE}:
        return bandwidth
    entry = asked.interconnect
    supplied = _first(asked.parts.accelerator.peer_bandwidth, entry.peer_bandwidth if entry else None)
    if supplied is not None:
        return supplied
    if asked.topology == "full-mesh" and domain > 1:
        return Bandwidth.one_way(bandwidth.value / (domain - 1), Computed("bandwidth / (domain - 1)"))
    if asked.topology in {"torus", "ring"} and entry is not None and entry.link_bandwidth is not None:
        return entry.link_bandwidth
    return bandwidth


def _shape(asked: _Asked, domain: int) -> tuple[int, ...]:
    """The sides of a torus, in accelerators; as even as possible where nobody says them."""
    if asked.topology != "torus":
        return ()
    if asked.said.shape:
        return asked.said.shape
    accelerator, platform = asked.parts.accelerator, asked.parts.platform
    for shape in (platform.shape if platform else (), accelerator.shape):
        if shape and prod(shape) == domain:
            return shape
    links = accelerator.links or (asked.interconnect.links if asked.interconnect else None)
    if not links or domain > LARGEST_SHAPED:
        return ()
    why = f"{domain} accelerators with {links} links each, as even as possible"
    return asked.parts.log.assume("cluster.scale_up.shape", even_shape(domain, max(1, links // 2)), why)


def even_shape(count: int, sides: int) -> tuple[int, ...]:
    """A box of ``count`` in ``sides`` dimensions with the smallest sum of sides, shortest side first.

    >>> even_shape(8960, 3)
    (16, 20, 28)
    """
    if sides == 1:
        return (count,)
    cuts = (side for side in range(1, int(count ** (1 / sides)) + 2) if count % side == 0)
    return min((tuple(sorted((side, *even_shape(count // side, sides - 1)))) for side in cuts), key=sum)


def _axes(asked: _Asked, shape: tuple[int, ...]) -> tuple[Bandwidth, ...]:
    """One link, one way, along each axis of a torus; empty where the axes do not differ or are not known."""
    written = asked.said.axis_bandwidth or ()
    if written and all(axis.direction is not None for axis in written):
        return tuple(written_bandwidth(axis, f"cluster.scale_up.axis_bandwidth[{i}]") for i, axis in enumerate(written))
    entry = asked.interconnect
    supplied = asked.parts.accelerator.axis_bandwidth or (entry.axis_bandwidth if entry else ())
    return supplied if len(supplied) == len(shape) else ()


def _ratio(said: Quantity | None) -> float:
    return said.value if said is not None and said.value > 0 else 1.0


def _in_network_reduction(asked: _Asked, domain: int) -> bool:
    if asked.said.in_network_reduction is not None:
        return asked.said.in_network_reduction
    entry = asked.interconnect
    able = entry is not None and entry.in_network_reduction and asked.topology == "switched" and domain > 1
    if entry is None or domain == 1:
        return False
    why = f"what {entry.id} can do" if able else f"{entry.id} has none here"
    return asked.parts.log.assume("cluster.scale_up.in_network_reduction", able, why)


def _first(*figures: Bandwidth | None) -> Bandwidth | None:
    return next((figure for figure in figures if figure is not None), None)
