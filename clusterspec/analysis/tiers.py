"""The bandwidth of the tiers of a machine, from memory outward, with the predicted rate and latency of messages."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, Level
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import CollectiveRow, collective_table
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.results.estimate_json import Provenance
from clusterspec.results.machine import Tier
from clusterspec.units import plural


def host_rate(cluster: Cluster) -> float | None:
    """Bytes per second and direction of the slot of an accelerator; None if its generation is not known."""
    if cluster.scale_up.topology == "pcie":
        return cluster.scale_up.bandwidth.value
    return slot_rate(cluster.pcie_host) if cluster.pcie_host else None


HOP = 0.3e-6
"""Seconds that each switch after the first adds to a message, assumed: resellers print 0.13 to 0.33 µs
from port to port of InfiniBand, Ethernet takes 0.5 to 1 µs. The latencies of the
cost model were measured below one leaf."""
SMALL = 8.0
"""Bytes of a message whose time is only the latency."""
LARGE = float(1 << 30)
"""Bytes of a message on the plateau of every tier."""


def levels_and_climbed_rows(cluster: Cluster, fabric: Fabric | None) -> tuple[tuple[Level, ...], tuple[int, ...]]:
    """The levels of the fabric, and the number of switch rows above the leaves that a path climbs: below the first
    level, between levels, and above the last. If the fabric has core switches that no stated level names, the pod is
    added as a level.
    """
    levels = fabric_levels(cluster)
    if fabric is not None and fabric.core_switches and len(levels) == 1:
        of_pod = -(-cluster.all_nodes // fabric.pods)
        if of_pod <= (levels[0].nodes or 1):
            return levels, (0, 2)
        levels = (*levels, Level("pod", of_pod, 1.0))
    return levels, tuple(min(number, 2) for number in range(len(levels) + 1))


def tiers(cluster: Cluster, provenance: Provenance | None = None, fabric: Fabric | None = None) -> tuple[Tier, ...]:
    """The tiers from memory outward; ``fabric`` has the counted switches."""
    found = list(_all_tiers(cluster, provenance or Provenance(), fabric))
    falls = [_rate_ratio(found, number) for number in range(len(found))]
    seen = {"scale-up": "scale-up", "network": "scale-out", "ring": "scale-up", "exchange": "scale-up"}
    shares = {seen.get(each.part, ""): each.share.value for each in cluster.measured}
    return tuple(
        replace(one, fall=fall, measured=shares[one.kind] * one.line_rate if one.kind in shares else None)
        for one, fall in zip(found, falls, strict=True)
    )


def _rate_ratio(tiers: list[Tier], number: int) -> float | None:
    """The ratio of a tier's line rate to the line rate of the next tier outward. Groups inside a scale-up domain skip
    the host tier.
    """
    has_domain = any(tier.kind == "scale-up" for tier in tiers)
    after = next((tier for tier in tiers[number + 1 :] if tier.kind != "host" or not has_domain), None)
    return tiers[number].line_rate / after.line_rate if after else None


def _all_tiers(cluster: Cluster, provenance: Provenance, fabric: Fabric | None) -> Iterator[Tier]:
    memory, up = cluster.accelerator.memory_bandwidth, cluster.scale_up
    chip = cluster.accelerator.on_chip_bandwidth
    if chip is not None:
        kind = cluster.accelerator.on_chip_name
        yield _memory_tier(f"on-chip memory ({kind})" if kind else "on-chip memory", "on-chip", chip, provenance)
    if memory is not None:
        yield _memory_tier("device memory", "memory", memory, provenance)
    if up.domain > 1:
        together = message_rows(cluster, min(up.domain, cluster.accelerators), "all-gather")
        name = up.interconnect.name if up.interconnect else "scale-up interconnect"
        origin, rows = provenance.text(up.bandwidth.origin), message_rows(cluster, 2)
        whole = _tier_of_message(
            f"scale-up ({name})", "scale-up", up.domain, up.bandwidth.value, rows=rows, origin=origin
        )
        yield replace(whole, predicted=together[1].busbw if together else None)
        if up.peer_bandwidth < up.bandwidth:
            origin = provenance.text(up.peer_bandwidth.origin)
            yield _tier_of_message(
                "scale-up, one peer", "peer", 2, up.peer_bandwidth.value, rows=message_rows(cluster, 2), origin=origin
            )
    slot = host_rate(cluster)
    if slot is not None and cluster.accelerators_per_node > 1:
        rows = message_rows(cluster, 2) if up.domain < 2 else ()
        origin = f"PCIe {cluster.pcie_host}, 16 lanes" if cluster.pcie_host else provenance.text(up.bandwidth.origin)
        yield _tier_of_message("host bus (PCIe)", "host", cluster.accelerators_per_node, slot, rows=rows, origin=origin)
    yield from _scale_out_tiers(cluster, provenance, fabric)


def _memory_tier(name: str, kind: str, rate: Figure, provenance: Provenance) -> Tier:
    """A memory of one accelerator, whose rate counts reads and writes together."""
    nothing = {"predicted": None, "measured": None, "latency": None, "crossover": None, "fall": None}
    return Tier(name, kind, 1, rate.value, None, 8 * rate.value, **nothing, origin=provenance.text(rate.origin))


def _scale_out_tiers(cluster: Cluster, provenance: Provenance, fabric: Fabric | None) -> Iterator[Tier]:
    out, share = cluster.scale_out, cluster.nic_bandwidth_per_accelerator
    if out is None or not share or cluster.nodes < 2:
        return
    each = cluster.accelerators_per_node
    apart = max(each, cluster.scale_up.domain)
    levels, climbed = levels_and_climbed_rows(cluster, fabric)
    reach = [*(level.nodes or 1 for level in levels), cluster.nodes]
    rows = message_rows(cluster, min(2 * apart, cluster.accelerators)) if cluster.accelerators > apart else ()
    alone = max(out.nic_bandwidth.value, share)
    shared = f"{plural(out.nics_per_node, 'NIC')} × line rate / {plural(each, 'accelerator')}"
    origin = f"{shared}; {provenance.text(out.nic_bandwidth.origin)}"
    yield _tier_of_message(
        f"scale-out ({out.technology.name})",
        "scale-out",
        _nodes_at_full_rate(cluster) * each,
        share,
        rows=rows,
        origin=origin,
        together=share / alone,
    )
    taper = 1.0
    for number, (level, nodes) in enumerate(zip(levels, reach[1:], strict=True), 1):
        taper *= level.oversubscription
        inside = level.nodes or 1
        if taper > 1 and cluster.nodes > inside:
            rows = message_rows(cluster, min(2 * inside, cluster.nodes) * each)
            why = f"share of one accelerator / {taper:g} where all accelerators send upward at once"
            name, rate = f"above the {level.name}", share / taper
            hops = 2 * climbed[number] * HOP
            together = rate / rows[1].ceiling_busbw if rows else 1.0  # one pair alone has its NICs' whole rate
            yield _tier_of_message(
                name, "level", nodes * each, rate, rows=rows, origin=why, together=together, hops=hops
            )


def _nodes_at_full_rate(cluster: Cluster) -> int:
    """The number of nodes whose accelerators can all use their share of the NIC rate at once: those below the first
    oversubscribed level, else all.
    """
    taper = 1.0
    for level in fabric_levels(cluster):
        taper *= level.oversubscription
        if taper > 1:
            return min(level.nodes or 1, cluster.nodes)
    return cluster.nodes


def message_rows(cluster: Cluster, accelerators: int, collective: str = "send-recv") -> tuple[CollectiveRow, ...]:
    """The costs of a short and a long message in a group across the tier; empty if it is not connected."""
    ranks = accelerators * cluster.ranks_per_accelerator
    try:
        return collective_table(cluster, collective, ranks, (SMALL, LARGE)) if ranks > 1 else ()
    except CollectiveUnavailableError:
        return ()


def _tier_of_message(
    name: str,
    kind: str,
    reach: int,
    rate: float,
    *,
    rows: tuple[CollectiveRow, ...],
    origin: str,
    together: float = 1.0,
    hops: float = 0.0,
) -> Tier:
    """A tier from the times of a message between two accelerators.

    ``together`` is the share of its bandwidth that is left for each accelerator when all send. ``hops`` are the seconds
    of the switches that the message passes after the first.
    """
    latency = rows[0].seconds + hops if rows else None
    alone = rows[1].busbw if rows else None
    crossover = latency * alone if latency and alone else None
    predicted = alone * together if alone else None
    return Tier(name, kind, reach, rate, 2 * rate, 8 * rate, predicted, None, latency, crossover, None, origin)
