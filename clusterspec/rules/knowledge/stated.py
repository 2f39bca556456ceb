"""The figures that a spec states, each with the corresponding figures of the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.quantity import Direction, Figure, Quantity, Sparsity
from clusterspec.records import dataclass
from clusterspec.spec.model import AcceleratorSpec, ClusterSpec
from clusterspec.units import display, display_bits
from clusterspec.units.display import AGREES, agrees_within

BANDWIDTH, PEER_BANDWIDTH = "cluster.scale_up.bandwidth", "cluster.scale_up.peer_bandwidth"


@dataclass(frozen=True)
class CatalogFigure:
    """A figure of the catalog (bandwidths in B/s per direction), and the id of its entry."""

    value: float
    whose: str


@dataclass(frozen=True)
class OtherScope:
    """Another scope in which the bandwidth may be given: its ``factor`` relative to the required figure, and the rule
    that reports it.
    """

    factor: float
    what: str
    rule: str = "bandwidth-of-another-scope"


@dataclass(frozen=True)
class StatedFigure:
    """A stated figure, the catalog's figures to compare it with (in order), and the other scopes that it may have.

    ``kind`` is ``scale-up``, ``peer``, ``nic``, ``power`` or ``accelerator``; ``line_rate`` is the rate of one NIC
    according to its platform, switch or technology.
    """

    at: str
    kind: str
    quantity: Quantity
    known: tuple[CatalogFigure, ...]
    scopes: tuple[OtherScope, ...] = ()
    free: bool = False
    """Whether the catalog has only a usual figure, so that other figures may be correct too."""
    replaceable: bool = False
    """Whether the part is also sold with other figures, so that an unexplained difference is not a mistake."""
    line_rate: CatalogFigure | None = None
    over_tcp: bool = False
    """Whether the link may connect two sites, and so have any rate."""

    def counted_figure(self, figure: CatalogFigure) -> float:
        """The catalog's figure as the author counted: doubled for duplex and for sparse figures."""
        twice = self.quantity.direction is Direction.DUPLEX or self.quantity.sparsity is Sparsity.SPARSE
        return figure.value * (2 if twice else 1)

    def text_in_written_unit(self, value: float) -> str:
        """A figure in the bits or bytes and the direction that the author wrote."""
        direction = f" {self.quantity.direction}" if self.quantity.direction else ""
        return rate(value, self.quantity) + direction


def rate(value: float, quantity: Quantity) -> str:
    """A value as text in the unit of a written quantity, in bits if the quantity counts bits."""
    return display_bits(value) if quantity.bits else display(value, quantity.unit)


def stated_figures(written: ClusterSpec | None, cluster: Cluster | None, catalog: Catalog) -> Iterator[StatedFigure]:
    """Every stated figure that the catalog also has. A bandwidth without a direction is omitted; `missing-direction`
    reports it.
    """
    if written is None:
        return
    if cluster is not None:
        yield from _scale_up(written, cluster)
        yield from _nic_figures(written, cluster)
    yield from _power_figures(written, cluster)
    yield from _accelerator_figures(written, catalog)


def _scale_up(written: ClusterSpec, cluster: Cluster) -> Iterator[StatedFigure]:
    stated = written.scale_up
    for at, quantity in (
        (BANDWIDTH, stated.bandwidth if stated else None),
        (PEER_BANDWIDTH, stated.peer_bandwidth if stated else None),
    ):
        figure = bandwidth_figure(at, quantity, cluster) if quantity and quantity.direction else None
        if figure is not None:
            yield figure


def bandwidth_figure(at: str, quantity: Quantity, cluster: Cluster) -> StatedFigure | None:
    """A scale-up bandwidth at a key, with the catalog's; None for another key."""
    if at == BANDWIDTH:
        return StatedFigure(
            at, "scale-up", quantity, (*_total_link_figures(cluster), *_main_link_figures(cluster)), _scopes(cluster)
        )
    return StatedFigure(at, "peer", quantity, _peer_figures(cluster)) if at == PEER_BANDWIDTH else None


def _total_link_figures(cluster: Cluster) -> tuple[CatalogFigure, ...]:
    """The bandwidth of all links of one accelerator: of the accelerator, of the platform, and of the interconnect."""
    entry, platform, accelerator = cluster.scale_up.interconnect, cluster.platform, cluster.accelerator
    own = accelerator.scale_up_bandwidth
    if entry is not None and own is not None and entry.id in accelerator.interconnects[:1]:
        entry = None  # an export variant has fewer links than the interconnect's full number
    figures = [
        (own, accelerator.id),
        (platform.scale_up_bandwidth if platform else None, platform.id if platform else ""),
        (entry.bandwidth if entry else None, entry.id if entry else ""),
    ]
    return _present_figures(figures)


def _main_link_figures(cluster: Cluster) -> Iterator[CatalogFigure]:
    """Figures for more than half of an accelerator's links, in equal number to each peer of a full mesh; the other
    links lead to the host.
    """
    accelerator, peers = cluster.accelerator, cluster.scale_up.domain - 1
    own, links = accelerator.scale_up_bandwidth, accelerator.links or 0
    part = 1 < peers < max(accelerator.domains, default=0) - 1
    if cluster.scale_up.topology == "full-mesh" and own is not None and part:
        for used in range(links // 2 + 1, links):
            if used % peers == 0:
                yield CatalogFigure(own.value * used / links, f"{used} of the {links} links of {accelerator.id}")


def _peer_figures(cluster: Cluster) -> tuple[CatalogFigure, ...]:
    """The bandwidth between two accelerators: the accelerator's figure, else the interconnect's, else all links if they
    lead to a switch.
    """
    entry = cluster.scale_up.interconnect
    figures = [
        (cluster.accelerator.peer_bandwidth, cluster.accelerator.id),
        (entry.peer_bandwidth if entry else None, entry.id if entry else ""),
    ]
    return _present_figures(figures) or (
        _total_link_figures(cluster) if cluster.scale_up.topology == "switched" else ()
    )


def _present_figures(figures: Sequence[tuple[Figure | None, str]]) -> tuple[CatalogFigure, ...]:
    return tuple(CatalogFigure(figure.value, whose) for figure, whose in figures if figure is not None)


def _scopes(cluster: Cluster) -> tuple[OtherScope, ...]:
    """Other scopes of a figure for one accelerator: a link, a lane, a node or a domain."""
    entry = cluster.scale_up.interconnect
    links = entry.links if entry and entry.links else 0
    lanes = entry.lanes_per_link if entry and entry.lanes_per_link else 0
    per_node, domain = cluster.accelerators_per_node, cluster.scale_up.domain
    found = []
    if links > 1:
        found.append(OtherScope(1 / links, f"one of its {links} links"))
    if links and lanes:
        found.append(OtherScope(1 / (links * lanes), f"one lane ({lanes} to each of its {links} links)"))
    if per_node > 1:
        found.append(OtherScope(per_node, f"the {per_node} accelerators of a node together"))
    if domain > 1 and domain != per_node:
        found.append(OtherScope(domain, f"the {domain} accelerators of a domain together"))
    return tuple(found)


def _nic_figures(written: ClusterSpec, cluster: Cluster) -> Iterator[StatedFigure]:
    stated = written.scale_out.nic_bandwidth if written.scale_out else None
    if stated is None:
        return
    fabric, platform = cluster.scale_out, cluster.platform
    known = list(_present_figures([(platform.nic_bandwidth, platform.id)])) if platform is not None else []
    if fabric is not None:
        known += [CatalogFigure(port.value, fabric.technology.id) for port in fabric.technology.port_rates]
    free = not known
    if free and fabric is not None:
        known += _present_figures([(fabric.technology.bandwidth, fabric.technology.id)])
    if not known and fabric is not None and fabric.nic is not None:
        known += _present_figures([(fabric.nic.port_bandwidth, fabric.nic.id)])
    if not known:
        usual = cluster.accelerator
        known += _present_figures([(usual.nic_bandwidth, f"the NIC usual with {usual.id}")])
    at = "cluster.scale_out.nic_bandwidth"
    replaceable = fabric is not None and not (fabric.technology.port_rates or cluster.cloud)
    line_rate = _line_rate(written, cluster)
    over_tcp = fabric is not None and fabric.technology.family == "tcp"
    yield StatedFigure(at, "nic", stated, tuple(known), _nic_scopes(fabric), free, replaceable, line_rate, over_tcp)


def _line_rate(written: ClusterSpec, cluster: Cluster) -> CatalogFigure | None:
    """The line rate of one NIC; None if unknown.

    The first of these states it: the platform; a stated NIC with one port; the ports of the stated switch; a technology
    with fixed port rates, if its usual rate is also usual for the accelerator.
    """
    fabric, platform, usual = cluster.scale_out, cluster.platform, cluster.accelerator.nic_bandwidth
    if platform is not None and platform.nic_bandwidth is not None:
        return CatalogFigure(platform.nic_bandwidth.value, platform.id)
    if fabric is None:
        return None
    nic = fabric.nic if written.scale_out and written.scale_out.nic else None
    if nic is not None and nic.port_bandwidth is not None and nic.ports == 1:
        return CatalogFigure(nic.port_bandwidth.value, nic.id)
    port = fabric.switch.port_bandwidth if fabric.switch and written.scale_out and written.scale_out.switch else None
    if fabric.switch is not None and port is not None and fabric.planes == 1:
        return CatalogFigure(port.value, fabric.switch.id)
    rate = fabric.technology.bandwidth if fabric.technology.port_rates else None
    fits = rate is not None and (usual is None or agrees_within(rate.value, usual.value, AGREES))
    return CatalogFigure(rate.value, fabric.technology.id) if rate is not None and fits else None


def _nic_scopes(fabric: ScaleOut | None) -> tuple[OtherScope, ...]:
    """Other scopes of a NIC's figure: all NICs of a node, or one lane of an InfiniBand port."""
    if fabric is None:
        return ()
    entry, nics, found = fabric.technology, fabric.nics_per_node, []
    if nics > 1:
        found.append(OtherScope(nics, f"the {nics} NICs of a node together"))
    if entry.family == "infiniband" and entry.lane_rate and entry.bandwidth and entry.lanes_per_link:
        what = f"one of the {entry.lanes_per_link} lanes of a port"
        found.append(OtherScope(entry.lane_rate.value / entry.bandwidth.value, what, "lanes-counted-as-nics"))
    return tuple(found)


def _power_figures(written: ClusterSpec, cluster: Cluster | None) -> Iterator[StatedFigure]:
    platform = cluster.platform if cluster else None
    if written.power is None or written.power.node is None:
        return
    known = _present_figures([(platform.power, platform.id)]) if platform else ()
    yield StatedFigure("cluster.power.node", "power", written.power.node, known)


def _accelerator_figures(written: ClusterSpec, catalog: Catalog) -> Iterator[StatedFigure]:
    """The figures that a spec changes in an accelerator's entry."""
    own = written.accelerator
    if not isinstance(own, AcceleratorSpec) or own.like is None:
        return
    entry = catalog.find("accelerator", own.like)
    if not isinstance(entry, Accelerator):
        return
    changed: tuple[tuple[str, Quantity | None, Figure | None], ...] = (
        ("memory", own.memory, entry.memory),
        ("memory_bandwidth", own.memory_bandwidth, entry.memory_bandwidth),
        ("power", own.power, entry.power),
        *((f"peak.{name}", peak, entry.peaks.get(name)) for name, peak in (own.peak or {}).items()),
    )
    for key, quantity, figure in changed:
        if quantity is not None and figure is not None:
            known = (CatalogFigure(figure.value, entry.id),)
            yield StatedFigure(f"cluster.accelerator.{key}", "accelerator", quantity, known)
