"""The bandwidth of the tiers of a machine: line rate, predicted, measured, and the ratio to the next tier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveRow, CollectiveUnavailableError, table
from clusterspec.records import asdict, dataclass, replace
from clusterspec.results.provenance import Provenance

LARGE = float(1 << 30)
"""Bytes of a message on the plateau of every tier."""
SMALL = 8.0
"""Bytes of a message that takes the latency alone."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier per accelerator, in B/s per direction, bytes and seconds; None if unknown.

    ``line_rate`` is nominal (memory: reads plus writes), ``predicted`` that of a long send-recv (a long all-gather in
    a domain), ``measured`` the same with measurements. ``crossover`` is the message size that takes twice the
    latency; ``fall`` is the ratio of the line rate to that of the next outer tier.
    """

    name: str
    kind: str
    accelerators: int
    line_rate: float
    duplex: float | None
    bits: float
    predicted: float | None
    measured: float | None
    latency: float | None
    crossover: float | None
    fall: float | None
    origin: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def tiers(cluster: Cluster, provenance: Provenance | None = None) -> tuple[Tier, ...]:
    """The tiers from memory outward."""
    found = list(_tiers(cluster, provenance or Provenance()))
    outward = [one.line_rate for one in found[1:]]
    falls = [one.line_rate / after if after else None for one, after in zip(found, outward, strict=False)]
    seen = {"scale-up": "scale-up", "network": "scale-out", "ring": "scale-up", "exchange": "scale-up"}
    shares = {seen.get(each.part, ""): each.share.value for each in cluster.measured}
    return tuple(
        replace(one, fall=fall, measured=shares[one.kind] * one.line_rate if one.kind in shares else None)
        for one, fall in zip(found, [*falls, None], strict=True)
    )


def _tiers(cluster: Cluster, provenance: Provenance) -> Iterator[Tier]:
    memory, up = cluster.accelerator.memory_bandwidth, cluster.scale_up
    if memory is not None:
        origin = provenance.text(memory.origin)
        nothing = {"predicted": None, "measured": None, "latency": None, "crossover": None, "fall": None}
        yield Tier("device memory", "memory", 1, memory.value, None, 8 * memory.value, **nothing, origin=origin)
    if up.domain > 1:
        rows = message_rows(cluster, min(up.domain, cluster.accelerators), "all-gather")
        name = up.interconnect.name if up.interconnect else "scale-up interconnect"
        origin = provenance.text(up.bandwidth.origin)
        yield _tier(f"scale-up ({name})", "scale-up", up.domain, up.bandwidth.value, rows=rows, origin=origin)
        if up.peer_bandwidth.value < up.bandwidth.value:
            origin = provenance.text(up.peer_bandwidth.origin)
            yield _tier(
                "scale-up, one peer", "peer", 2, up.peer_bandwidth.value, rows=message_rows(cluster, 2), origin=origin
            )
    yield from _scale_out(cluster, provenance)


def _scale_out(cluster: Cluster, provenance: Provenance) -> Iterator[Tier]:
    out, share = cluster.scale_out, cluster.nic_share
    if out is None or not share or cluster.nodes < 2:
        return
    each = cluster.accelerators_per_node
    apart = max(each, cluster.scale_up.domain)
    reach = [*(level.nodes or 1 for level in fabric_levels(cluster)), cluster.nodes]
    rows = message_rows(cluster, min(2 * apart, cluster.accelerators)) if cluster.accelerators > apart else ()
    origin = f"{out.nics_per_node} NICs × line rate / {each} accelerators; {provenance.text(out.nic_bandwidth.origin)}"
    yield _tier(
        f"scale-out ({out.technology.name})",
        "scale-out",
        min(reach[0], cluster.nodes) * each,
        share,
        rows=rows,
        origin=origin,
    )
    taper = 1.0
    for level, nodes in zip(fabric_levels(cluster), reach[1:], strict=True):
        taper *= level.oversubscription
        inside = level.nodes or 1
        if taper > 1 and cluster.nodes > inside:
            rows = message_rows(cluster, min(2 * inside, cluster.nodes) * each)
            why = f"share of one accelerator / {taper:g} where all accelerators send upward at once"
            yield _tier(f"above the {level.name}", "level", nodes * each, share / taper, rows=rows, origin=why)


def message_rows(cluster: Cluster, accelerators: int, collective: str = "send-recv") -> tuple[CollectiveRow, ...]:
    """The costs of a short and a long message in a group across the tier; empty if it is not connected."""
    ranks = accelerators * cluster.ranks_per_accelerator
    try:
        return table(cluster, collective, ranks, (SMALL, LARGE)) if ranks > 1 else ()
    except CollectiveUnavailableError:
        return ()


def _tier(name: str, kind: str, reach: int, rate: float, *, rows: tuple[CollectiveRow, ...], origin: str) -> Tier:
    latency = rows[0].seconds if rows else None
    predicted = rows[1].busbw if rows else None
    crossover = latency * predicted if latency and predicted else None
    return Tier(name, kind, reach, rate, 2 * rate, 8 * rate, predicted, None, latency, crossover, None, origin)
