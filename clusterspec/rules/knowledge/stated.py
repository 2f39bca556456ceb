"""The figures that a spec states and the catalog also knows, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import ScaleOut
from clusterspec.quantity import Direction, Figure, Quantity
from clusterspec.rules.facts import Facts
from clusterspec.spec.model import AcceleratorSpec
from clusterspec.units import say, say_bits


@dataclass(frozen=True, slots=True)
class Known:
    """A figure of the catalog (bandwidths in B/s per direction) and whose it is."""

    value: float
    whose: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Another thing that the figure may be of: ``factor`` times the figure asked for, and the rule that tells of it."""

    factor: float
    what: str
    rule: str = "bandwidth-of-another-scope"


@dataclass(frozen=True, slots=True)
class Stated:
    """A figure as written at a key; what the catalog knows instead, the first asked first; what else it may count."""

    at: str
    kind: str
    quantity: Quantity
    known: tuple[Known, ...]
    scopes: tuple[Scope, ...] = ()
    free: bool = False
    """The catalog's figure is only what is usual: other figures are as right."""

    def counted(self, known: Known) -> float:
        """The known figure in the direction that the author counted."""
        return known.value * (2 if self.quantity.direction is Direction.DUPLEX else 1)

    def said(self, value: float) -> str:
        """A figure in the bits or bytes and the direction that the author wrote."""
        direction = f" {self.quantity.direction}" if self.quantity.direction else ""
        return rate(value, self.quantity) + direction


def rate(value: float, quantity: Quantity) -> str:
    """A value in the unit of a written quantity, in bits where that counts bits."""
    return say_bits(value) if quantity.bits else say(value, quantity.unit)


def stated_figures(facts: Facts) -> Iterator[Stated]:
    """Every stated figure that can be held against the catalog. One without a needed direction is left out:
    another finding asks for that.
    """
    yield from _scale_up(facts)
    yield from _nic(facts)
    yield from _power(facts)
    yield from _accelerator(facts)


def _scale_up(facts: Facts) -> Iterator[Stated]:
    said, cluster = facts.written_scale_up, facts.cluster
    if said is None or cluster is None:
        return
    if said.bandwidth is not None and said.bandwidth.direction is not None:
        yield Stated("cluster.scale_up.bandwidth", "scale-up", said.bandwidth, _all_links(facts), _scopes(facts))
    if said.peer_bandwidth is not None and said.peer_bandwidth.direction is not None:
        yield Stated("cluster.scale_up.peer_bandwidth", "peer", said.peer_bandwidth, _peer(facts))


def _all_links(facts: Facts) -> tuple[Known, ...]:
    """All links of one accelerator together: of the accelerator, the platform, the interconnect."""
    cluster = facts.cluster
    assert cluster is not None
    entry, platform = cluster.scale_up.interconnect, cluster.platform
    figures = [
        (cluster.accelerator.scale_up_bandwidth, cluster.accelerator.id),
        (platform.scale_up_bandwidth if platform else None, platform.id if platform else ""),
        (entry.bandwidth if entry else None, entry.id if entry else ""),
    ]
    return tuple(Known(figure.value, whose) for figure, whose in figures if figure is not None)


def _peer(facts: Facts) -> tuple[Known, ...]:
    """Between two accelerators: their own figure, else the interconnect's, else all links where a switch joins them."""
    cluster = facts.cluster
    assert cluster is not None
    entry = cluster.scale_up.interconnect
    figures = [
        (cluster.accelerator.peer_bandwidth, cluster.accelerator.id),
        (entry.peer_bandwidth if entry else None, entry.id if entry else ""),
    ]
    known = tuple(Known(figure.value, whose) for figure, whose in figures if figure is not None)
    return known or (_all_links(facts) if cluster.scale_up.topology == "switched" else ())


def _scopes(facts: Facts) -> tuple[Scope, ...]:
    """One link, one lane, a node, a domain."""
    cluster = facts.cluster
    assert cluster is not None
    entry = cluster.scale_up.interconnect
    links = entry.links if entry and entry.links else 0
    lanes = entry.lanes_per_link if entry and entry.lanes_per_link else 0
    per_node, domain = cluster.accelerators_per_node, cluster.scale_up.domain
    found = []
    if links > 1:
        found.append(Scope(1 / links, f"one of its {links} links"))
    if links and lanes:
        found.append(Scope(1 / (links * lanes), f"one lane ({lanes} to each of its {links} links)"))
    if per_node > 1:
        found.append(Scope(per_node, f"the {per_node} accelerators of a node together"))
    if domain > 1 and domain != per_node:
        found.append(Scope(domain, f"the {domain} accelerators of a domain together"))
    return tuple(found)


def _nic(facts: Facts) -> Iterator[Stated]:
    said, cluster = facts.written_scale_out, facts.cluster
    if said is None or said.nic_bandwidth is None or cluster is None:
        return
    fabric, platform = cluster.scale_out, cluster.platform
    known = []
    if platform is not None and platform.nic_bandwidth is not None:
        known.append(Known(platform.nic_bandwidth.value, platform.id))
    if fabric is not None:
        known += [Known(port.value, fabric.technology.id) for port in fabric.technology.port_rates]
    free = not known
    if free and fabric is not None and fabric.technology.bandwidth is not None:
        known.append(Known(fabric.technology.bandwidth.value, fabric.technology.id))
    if not known and cluster.accelerator.nic_bandwidth is not None:
        known.append(Known(cluster.accelerator.nic_bandwidth.value, f"the NIC usual with {cluster.accelerator.id}"))
    at = "cluster.scale_out.nic_bandwidth"
    yield Stated(at, "nic", said.nic_bandwidth, tuple(known), _nic_scopes(fabric), free)


def _nic_scopes(fabric: ScaleOut | None) -> tuple[Scope, ...]:
    """All NICs of a node, or one lane of an InfiniBand port."""
    if fabric is None:
        return ()
    entry, nics, found = fabric.technology, fabric.nics_per_node, []
    if nics > 1:
        found.append(Scope(nics, f"the {nics} NICs of a node together"))
    if entry.family == "infiniband" and entry.lane_rate and entry.bandwidth and entry.lanes_per_link:
        what = f"one of the {entry.lanes_per_link} lanes of a port"
        found.append(Scope(entry.lane_rate.value / entry.bandwidth.value, what, "lanes-counted-as-nics"))
    return tuple(found)


def _power(facts: Facts) -> Iterator[Stated]:
    power, platform = facts.power, facts.platform
    if power is None or power.node is None:
        return
    known = (Known(platform.power.value, platform.id),) if platform and platform.power else ()
    yield Stated("cluster.power.node", "power", power.node, known)


def _accelerator(facts: Facts) -> Iterator[Stated]:
    """The figures that a spec changes in an accelerator's entry."""
    said = facts.written_cluster.accelerator if facts.written_cluster else None
    if not isinstance(said, AcceleratorSpec) or said.like is None:
        return
    entry = facts.catalog.find("accelerator", said.like)
    if not isinstance(entry, Accelerator):
        return
    changed: tuple[tuple[str, Quantity | None, Figure | None], ...] = (
        ("memory", said.memory, entry.memory),
        ("memory_bandwidth", said.memory_bandwidth, entry.memory_bandwidth),
        ("power", said.power, entry.power),
        *((f"peak.{name}", peak, entry.peaks.get(name)) for name, peak in (said.peak or {}).items()),
    )
    for key, quantity, figure in changed:
        if quantity is not None and figure is not None:
            yield Stated(f"cluster.accelerator.{key}", "accelerator", quantity, (Known(figure.value, entry.id),))
