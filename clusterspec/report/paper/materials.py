"""What has to be bought: the fabric drawn, the bill tabled, and what the machine must show."""

from __future__ import annotations

from clusterspec.cluster.fabric import Fabric
from clusterspec.cost.collectives import CollectiveRow
from clusterspec.procurement.money import money
from clusterspec.report.paper.blocks import Block, Column, Picture, Section, Table, Text
from clusterspec.report.paper.charts import PALETTE, Row, levels
from clusterspec.results import BillReport
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import plural, say


def section(bill: BillReport, *, prices: bool) -> Section:
    """The fabric and every part, with how each number came about."""
    blocks: list[Block] = [drawing(bill.fabric, bill)] if bill.fabric else [Text(f"No fabric to buy: {bill.why}")]
    blocks.append(parts(bill, prices=prices))
    return Section("materials", "Bill of materials", tuple(blocks))


def drawing(fabric: Fabric, bill: BillReport) -> Picture:
    """The switch levels over the nodes."""
    nodes = sum(item.quantity for item in bill.items if item.kind in ("node", "spare_node"))
    shown = [
        Row("core switches", fabric.core_switches, "", PALETTE[4]),
        Row("spine switches", fabric.spine_switches, link_text(fabric.links.get("spine_core")), PALETTE[3]),
        Row("leaf switches", fabric.leaf_switches, link_text(fabric.links.get("leaf_spine")), PALETTE[1]),
        Row("nodes", int(nodes), link_text(fabric.links.get("node_leaf")), PALETTE[0]),
    ]
    rows = [row for row in shown if row.count]
    said = "; ".join(f"{row.count:,} {row.label}" for row in rows)
    return Picture(levels(rows, said), f"The scale-out fabric, {plural(fabric.tiers, 'switch level')}")


def link_text(links: int | None) -> str:
    return f"{links:,} links upward" if links else ""


def parts(bill: BillReport, *, prices: bool) -> Table:
    columns = [Column("Part"), Column("Kind"), Column("Quantity", "right"), Column("How it was counted")]
    rows = [(item.part, item.kind.replace("_", " "), f"{item.quantity:,}", item.derivation) for item in bill.items]
    if not prices:
        return Table(tuple(columns), tuple(rows))
    columns += [Column("Unit price", "right"), Column("Price", "right")]
    priced = [(*row, item.unit_price_text, item.price_text) for row, item in zip(rows, bill.items, strict=True)]
    whole = money(bill.bill.total, bill.bill.currency)
    return Table(tuple(columns), (*priced, (bill.bill.total_title, "", "", "", "", whole)), emphasis=(len(priced),))


PROVEN = (
    Column("Collective"),
    Column("Ranks", "right"),
    Column("Size", "right"),
    Column("Ceiling", "right"),
    Column("Expected", "right"),
    Column("Accept from", "right"),
    Column("Bound by"),
)
DEMANDED = (
    Column("Collective"),
    Column("Nodes", "right"),
    Column("Size", "right"),
    Column("At least", "right"),
    Column("Algorithm"),
    Column("Where"),
    Column("Passes"),
    Column("Duration", "right"),
)


def proofs(rows: tuple[CollectiveRow, ...], demanded: tuple[AcceptanceSpec, ...]) -> Section | None:
    """What the spec demands of a supplier, and what the finished machine should show in nccl-tests."""
    blocks: list[Block] = []
    if demanded:
        blocks.append(Table(DEMANDED, tuple(map(demand, demanded)), caption="What the spec demands"))
    if rows:
        blocks.append(Table(PROVEN, tuple(map(proof, rows)), caption="What this machine should show"))
    lead = (
        "Bus bandwidth as nccl-tests defines it, per direction. Accept from the lower end of the predicted band: "
        "below it something is wrong with the machine, not with the prediction."
    )
    return Section("acceptance", "Acceptance tests", tuple(blocks), lead=lead) if blocks else None


def proof(row: CollectiveRow) -> tuple[str, ...]:
    return (
        row.collective,
        f"{row.ranks:,}",
        written_size(row.size),
        say(row.ceiling_busbw, "B/s"),
        say(row.busbw, "B/s"),
        say(row.least_busbw, "B/s"),
        row.bound_by,
    )


def demand(one: AcceptanceSpec) -> tuple[str, ...]:
    """One acceptance test as the spec words it; what it leaves open is a dash."""
    metric, figure = ("algbw", one.algbw) if one.busbw is None else ("busbw", one.busbw)
    return (
        one.collective or "–",
        f"{one.nodes:,}" if one.nodes else "–",
        one.size.written if one.size else "–",
        f"{figure.written} {metric}" if figure else "–",
        one.algorithm or "any",
        (one.scope or "–").replace("-", " "),
        one.passes or "–",
        one.duration.written if one.duration else "–",
    )


def written_size(size: float) -> str:
    """A message size as nccl-tests users say it: binary where it is one.

    >>> written_size(float(8 << 30)), written_size(1e9)
    ('8 GiB', '1 GB')
    """
    gibi = size / (1 << 30)
    return f"{gibi:.0f} GiB" if gibi.is_integer() else say(size, "B")
