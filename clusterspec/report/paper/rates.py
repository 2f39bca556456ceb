"""Bandwidths in one convention: the table of line rates and the chart of the tiers."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster
from clusterspec.quantity import Figure
from clusterspec.report.paper.blocks import Column, Picture, Section, Table
from clusterspec.report.paper.charts import PALETTE, Bar, bars
from clusterspec.units import bandwidth_readings, say

COLUMNS = (
    Column("Figure"),
    Column("one direction", "right"),
    Column("both directions", "right"),
    Column("in bits, one direction", "right"),
    Column("Where from"),
)


def section(cluster: Cluster) -> Section:
    """Every bandwidth per direction and duplex, in bytes and bits, with its origin."""
    return Section(
        "bandwidth",
        "Bandwidth",
        (tiers(cluster), Table(COLUMNS, tuple(rates(cluster)), caption="Line rates, normalized")),
        lead="Every figure in one convention: what one direction carries, beside what data sheets add up.",
    )


def rates(cluster: Cluster) -> list[tuple[str, ...]]:
    """The rows of the table, from the accelerator outward."""
    up, out = cluster.scale_up, cluster.scale_out
    share, tapered = cluster.nic_share, cluster.tapered_share
    rows = []
    if up.domain > 1:
        rows.append(rate("Scale-up, one accelerator, all links", up.bandwidth))
        if up.peer_bandwidth.value < up.bandwidth.value:
            rows.append(rate("Scale-up, between two accelerators", up.peer_bandwidth))
    if out is not None and share is not None and tapered is not None:
        rows.append(rate("Scale-out, one NIC", out.nic_bandwidth))
        rows.append(derived(f"Scale-out, one node ({out.nics_per_node} NICs)", out.node_bandwidth, "NICs × rate"))
        rows.append(derived("Scale-out, share of one accelerator", share, "node ÷ accelerators"))
        if out.taper > 1:
            label = f"The same above the taper ({out.taper:g}:1)"
            rows.append(derived(label, tapered, "share ÷ oversubscription"))
    return rows


def rate(label: str, figure: Figure) -> tuple[str, ...]:
    return derived(label, figure.value, str(figure.origin))


def derived(label: str, value: float, origin: str) -> tuple[str, ...]:
    ways = bandwidth_readings(value, 3)
    return (label, ways.one_way, ways.duplex, ways.one_way_bits, origin)


def tiers(cluster: Cluster) -> Picture:
    """What one accelerator can move on each tier, per direction."""
    share, tapered, memory = cluster.nic_share, cluster.tapered_share, cluster.accelerator.memory_bandwidth
    shown = [("Device memory", memory.value if memory else 0.0)]
    if cluster.scale_up.domain > 1:
        shown.append((f"Scale-up, domain of {cluster.scale_up.domain}", cluster.scale_up.bandwidth.value))
        if cluster.scale_up.peer_bandwidth.value < cluster.scale_up.bandwidth.value:
            shown.append(("Scale-up, one peer", cluster.scale_up.peer_bandwidth.value))
    if share is not None and tapered is not None:
        shown.append(("Scale-out, per accelerator", share))
        if tapered < share:
            shown.append(("Scale-out, above the taper", tapered))
    rows = [
        Bar(label, value, say(value, "B/s"), PALETTE[number % len(PALETTE)])
        for number, (label, value) in enumerate(shown)
        if value > 0
    ]
    said = "; ".join(f"{row.label}: {row.said}" for row in rows)
    return Picture(bars(rows, said, logarithmic=True), "What one accelerator can move on each tier, in one direction")
