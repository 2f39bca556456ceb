"""The bill of materials as text and CSV."""

from __future__ import annotations

from clusterspec.procurement.item import Item
from clusterspec.procurement.money import money
from clusterspec.report import grid
from clusterspec.report.failing import failing
from clusterspec.report.ink import PLAIN, Ink
from clusterspec.results import BillReport
from clusterspec.units import plural

FIELDS = ("kind", "part", "quantity", "derivation", "assumed", "unit_price", "price")


def text(report: BillReport, ink: Ink = PLAIN) -> str:
    """The parts with the derivation of each quantity, the total, the fabric in one line and omissions."""
    if not report.items:
        why = failing(report.findings, report.input.name, ink)
        return "The spec states too little to count parts.\n\n" + fabric(report) + "\n" + why
    priced = report.bill.total is not None
    heads = ("part", "kind", "quantity", *(("unit price", "price") if priced else ()), "derivation")
    rows = [_row(item, priced=priced) for item in report.items]
    if priced:
        rows.append((report.bill.total_title, "", "", "", money(report.bill.total, report.bill.currency), ""))
    right = (2, 3, 4) if priced else (2,)
    table = grid.grid(heads, rows, right=right, wrap=(0, len(heads) - 1), ink=ink)
    shown = "\n".join([table, fabric(report), *_left_out(report)]) + "\n"
    return shown + failing(report.findings, report.input.name, ink)


def _row(item: Item, *, priced: bool) -> tuple[str, ...]:
    prices = (item.unit_price_text, item.price_text or "no price") if priced else ()
    part = f"{item.part} (assumed)" if item.assumed else item.part
    derivation = f"{item.derivation}; assumed: {item.assumed}" if item.assumed else item.derivation
    return (part, item.kind.replace("_", " "), f"{item.quantity:,}", *prices, derivation)


def _left_out(report: BillReport) -> list[str]:
    return ["Not counted:", *(f"  {line}" for line in report.bill.not_counted)] if report.bill.not_counted else []


def fabric(report: BillReport) -> str:
    """The fabric, or the reason why there is none to buy."""
    found = report.fabric
    if found is None:
        return f"No fabric to buy: {report.why}"
    counts = {"leaf": found.leaf_switches, "spine": found.spine_switches, "core": found.core_switches}
    switches = ", ".join(plural(count, f"{row} switch") for row, count in counts.items() if count)
    return f"Fabric: {plural(found.tiers, 'tier')}, {switches}"


def csv(report: BillReport) -> str:
    """One row per item and one for the sum; unknown prices are empty."""
    rows = [item.to_json() for item in report.items]
    if report.bill.total is not None:
        kind = "total" if report.bill.complete else "partial_sum"
        whole = {"kind": kind, "part": report.bill.total_title, "price": report.bill.total_json()["price"]}
        rows.append(whole)
    return grid.separated(FIELDS, ([row.get(name, "") for name in FIELDS] for row in rows))
