"""The bill of materials compared with the lines of a quote."""

from __future__ import annotations

from clusterspec.procurement.item import PRICED_AS
from clusterspec.procurement.money import money
from clusterspec.report.paper.blocks import PaperTable, TableColumn, TableRow, Tone
from clusterspec.results.full import FullReport
from clusterspec.spec.model import QuoteLine


def quote_table(report: FullReport) -> PaperTable | None:
    """Counted and quoted quantities by part; parts in only one of the two are marked."""
    procurement = report.estimate.design.spec.procurement
    if procurement is None or not procurement.quote:
        return None
    counted: dict[str, int] = {}
    for item in report.bill.items:
        kind = PRICED_AS.get(item.kind, item.kind)
        counted[kind] = counted.get(kind, 0) + item.quantity
    quoted = {_kind(line): line for line in procurement.quote}
    rows = [_row(kind, counted.get(kind), line, report.bill.bill.currency) for kind, line in quoted.items()]
    rows += [_row(kind, number, None, "") for kind, number in counted.items() if kind not in quoted]
    columns = (
        TableColumn("Part"),
        TableColumn("Needed", "right"),
        TableColumn("Quoted", "right"),
        TableColumn("Difference", "right"),
        TableColumn("Quoted price", "right"),
        TableColumn("Remark"),
    )
    return PaperTable(columns, tuple(rows), "bill.items", caption="Bill of materials against the quote")


def _kind(line: QuoteLine) -> str:
    return (line.part or "?").strip().lower().replace(" ", "_").replace("-", "_")


def _row(kind: str, needed: int | None, line: QuoteLine | None, currency: str) -> TableRow:
    quoted = line.quantity if line else None
    difference, remark, tone = "–", "", "plain"
    if line is None:
        remark, tone = "missing from the quote", "bad"
    elif needed is None:
        remark, tone = "not in the bill", "fair"
    elif quoted is None:
        remark, tone = "no quantity quoted", "fair"
    else:
        missing = float(quoted) - needed
        difference = f"{missing:+,.0f}" if missing else "0"
        remark, tone = (
            ("short", "bad") if missing < 0 else ("more than needed", "fair") if missing > 0 else ("", "good")
        )
    price = money(line.price, currency) if line and line.price is not None else "–"
    cells = (
        kind.replace("_", " "),
        f"{needed:,}" if needed is not None else "–",
        f"{quoted:,.0f}" if quoted is not None else "–",
        difference,
        price,
        remark,
    )
    shown: Tone = tone  # type: ignore[assignment]
    return TableRow(cells, "bill.items", shown)
