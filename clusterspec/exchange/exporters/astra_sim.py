"""Networks of ASTRA-sim 2 for its analytical back end: one dimension for each tier, the nearest first.

Grammar: astra-sim/astra-network-analytical 599a0473, common/network-parser/NetworkParser.cpp (``topology``,
``npus_count`` above 1, ``bandwidth``, ``latency``). A bandwidth is that of one link in one direction; for a switch, it
is the bandwidth of an NPU's link to the switch (congestion_aware/basic-topology), in units of 2^30 bytes
(common/NetworkFunction.cpp). A latency is that of one link in ns; a message over a switch crosses two
(congestion_unaware/basic-topology/Switch.cpp).
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cost.collectives.stack import TORUS_HOP
from clusterspec.cost.collectives.torus import torus_axes
from clusterspec.exchange.exporters.network_tiers import NetworkTiers, network_omissions, network_tiers
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable
from clusterspec.records import dataclass

GIBI = 2**30
HEAD = """\
# Network of {name} for the analytical back end of ASTRA-sim, the nearest dimension first.
# bandwidth: of one link in one direction at line rate, in GB of 2^30 bytes as the back end counts
# (here {rates} GB/s of 10^9 bytes)
# latency: of one link in ns, of which a message over a Switch crosses two; the hop of a small message in a collective
"""


@dataclass(frozen=True)
class Dimension:
    """A dimension: its building block, and line rate (B/s) and latency (s) of one link in one direction."""

    block: str
    npus: int
    bandwidth: float
    latency: float


def write(source: ExportInput) -> ExportedFile:
    """The network. Raises `NotExportable` if a tier is not a switch, a full mesh or rings."""
    tiers = network_tiers(source)
    dimensions = (*_near_dimensions(tiers), *_far_dimensions(tiers))
    rates = ", ".join(f"{each.bandwidth / 1e9:g}" for each in dimensions)
    head = HEAD.format(name=source.name, rates=rates)
    lines = (
        f"topology: {_flow_text(each.block for each in dimensions)}",
        f"npus_count: {_flow_text(each.npus for each in dimensions)}",
        f"bandwidth: {_flow_text(round(each.bandwidth / GIBI, 6) for each in dimensions)}  # GB/s",
        f"latency: {_flow_text(round(each.latency * 1e9, 3) for each in dimensions)}  # ns",
    )
    return ExportedFile(head + "\n".join(lines) + "\n", tuple(_omission_texts(tiers, dimensions)))


def _flow_text(values: Iterator[object]) -> str:
    return f"[ {', '.join(str(each) for each in values)} ]"


def _near_dimensions(tiers: NetworkTiers) -> Iterator[Dimension]:
    if tiers.inside is None:
        return
    up, inside = tiers.cluster.scale_up, tiers.inside
    if inside.tier == "scale-up" and up.topology == "torus":
        yield from _ring_dimensions(tiers)
    elif inside.tier == "scale-up" and up.topology == "full-mesh":
        yield Dimension("FullyConnected", tiers.near, inside.peer.value, tiers.near_hop)
    elif inside.tier == "host" or up.topology in {"switched", "pcie"}:
        yield Dimension("Switch", tiers.near, inside.line.value, tiers.near_hop / 2)
    else:
        raise NotExportable(f"a {up.topology} is neither a switch nor a full mesh nor rings")


def _ring_dimensions(tiers: NetworkTiers) -> Iterator[Dimension]:
    """A ring for each axis of a torus; two accelerators have one link."""
    for axis in torus_axes(tiers.cluster, contiguous_placement(tiers.cluster, tiers.near)):
        if not axis.wraps and axis.side > 2:
            raise NotExportable(f"an axis of {axis.side} accelerators is open; the target has closed rings")
        yield Dimension("Ring" if axis.wraps else "FullyConnected", axis.side, axis.link, TORUS_HOP.value)


def _far_dimensions(tiers: NetworkTiers) -> Iterator[Dimension]:
    if tiers.between is None:
        return
    islands, rest = divmod(tiers.cluster.accelerators, tiers.near)
    if rest:
        raise NotExportable(f"the last of {islands + 1} domains has {rest} of {tiers.near} accelerators")
    yield Dimension("Switch", islands, tiers.nic_bandwidth_per_accelerator, tiers.far_hop / 2)


def _omission_texts(tiers: NetworkTiers, dimensions: tuple[Dimension, ...]) -> Iterator[str]:
    inside, between = tiers.inside, tiers.between
    shares = [*([inside.ring] if inside else []), *([between.share] if between else [])]
    yield f"the share of line rate that rings achieve, by tier: {', '.join(f'{each.value:.3g}' for each in shares)}"
    yield from network_omissions(tiers)
    if inside is not None and inside.reduction is not None:
        yield "reduction in the switches of the domain"
    if any(each.block == "Ring" for each in dimensions):
        yield "traffic in both directions of a ring at once: a collective of the target uses one"
    if len(dimensions) > 1:
        yield "messages that cross several dimensions: the back end times only the nearest dimension"
        yield "congestion: the back end that counts it takes one dimension"
    yield "memory and compute rates, which are in other files of the target"
