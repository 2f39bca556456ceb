"""The bill of materials for a terminal and for a spreadsheet."""

from __future__ import annotations

from clusterspec.report import grid
from clusterspec.report.ink import PLAIN, Ink
from clusterspec.results import BillReport
from clusterspec.units import plural

FIELDS = ("kind", "part", "quantity", "derivation", "unit_price", "price")


def text(report: BillReport, ink: Ink = PLAIN) -> str:
    """The parts with how each number came about, and the fabric in one line."""
    priced = any(item.price_text for item in report.items)
    heads = ("part", "kind", "quantity", *(("unit price", "price") if priced else ()), "how it was counted")
    rows = [
        (
            item.part,
            item.kind.replace("_", " "),
            f"{item.quantity:,}",
            *((item.unit_price_text, item.price_text) if priced else ()),
            item.derivation,
        )
        for item in report.items
    ]
    right = (2, 3, 4) if priced else (2,)
    if not rows:
        return "Nothing can be counted from what the spec says.\n\n" + fabric(report) + "\n"
    table = grid.grid(heads, rows, right=right, wrap=(0, len(heads) - 1), ink=ink)
    return table + "\n" + fabric(report) + "\n"


def fabric(report: BillReport) -> str:
    """The fabric, or why there is none to buy."""
    found = report.fabric
    if found is None:
        return f"No fabric to buy: {report.why}"
    switches = f"{found.leaf_switches:,} leaf, {found.spine_switches:,} spine and {found.core_switches:,} core switches"
    return f"Fabric: {plural(found.tiers, 'tier')}, {switches}"


def csv(report: BillReport) -> str:
    """One row an item; prices are empty where none is known."""
    rows = [item.to_json() for item in report.items]
    return grid.separated(FIELDS, ([row.get(name, "") for name in FIELDS] for row in rows))
