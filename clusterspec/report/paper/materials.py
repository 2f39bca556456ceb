"""Sections for buyers: the bill compared with a quote, the bill of materials, and the cost by year."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.money import Money
from clusterspec.procurement.amounts import SCALES, money_text, rounded_text
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.items import Item, kind_words, quantities_by_kind
from clusterspec.procurement.quotes import QuotedPart
from clusterspec.report.charts.bars import StackPart, Year, yearly_chart
from clusterspec.report.charts.svg import cause_of
from clusterspec.report.paper.blocks import (
    Block,
    Bullets,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Text,
    Tone,
)
from clusterspec.report.paper.facility import energy_text
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Purchase
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural, portion, years_text

# The bill of materials compared with the lines of a quote


def quote_table(purchase: Purchase | None) -> PaperTable | None:
    """Required and quoted quantities by part, with the value of missing items."""
    parts = purchase.parts if purchase else ()
    if not parts:
        return None
    terms = purchase.terms if purchase is not None else ""
    columns = (
        TableColumn("Part", key="part"),
        TableColumn("Needed", "right", "needed"),
        TableColumn("Quoted", "right", "quoted"),
        TableColumn("Difference", "right", "quoted"),
        TableColumn("Quoted price", "right", "price"),
        TableColumn(f"Value missing{terms}", "right", "missing"),
        TableColumn("Remark", key="state"),
    )
    rows = tuple(_quote_row(part, number) for number, part in enumerate(parts))
    return PaperTable(columns, rows, "purchase.quote", caption="Bill of materials against the quote")


def _pieces_text(purchase: Purchase | None, bill: Bill) -> Iterator[Text]:
    """The reason why the comparison needs fewer cables than the bill lists; empty if it does not."""
    links = quantities_by_kind(bill.items).get("cable", 0)
    for number, part in enumerate(purchase.parts if purchase else ()):
        if part.kind == "cable" and part.needed is not None and part.needed < links:
            pieces, ends = plural(part.needed, "piece"), "do" if part.needed > 1 else "does"
            yield Text(
                f"The bill counts {links:,} links. The quote offers cables with fixed ends, which need no modules and "
                f"may carry two links each: {pieces} {ends} for all links.",
                f"purchase.quote[{number}]",
            )


REMARKS: dict[str, tuple[str, Tone]] = {
    "quoted": ("quoted", "good"),
    "surplus": ("more than needed", "fair"),
    "short": ("short", "bad"),
    "missing": ("missing from the quote", "bad"),
    "no quantity": ("no quantity quoted", "fair"),
    "in place": ("others exist", "good"),
    "elsewhere": ("no line; from another supplier?", "fair"),
    "not needed": ("not in the bill", "plain"),
}


def _quote_row(part: QuotedPart, number: int) -> TableRow:
    remark, tone = REMARKS[part.state]
    difference = "–"
    if part.needed is not None and part.quoted is not None:
        difference = f"{part.quoted - part.needed:+,.0f}".replace("-", "−") if part.quoted != part.needed else "0"
    cells = (
        kind_words(part.kind),
        f"{part.needed:,}" if part.needed is not None else "–",
        f"{part.quoted:,.0f}" if part.quoted is not None else "–",
        difference,
        str(part.price) if part.price else "–",
        str(part.missing) if part.missing else "–",
        remark,
    )
    return TableRow(cells, f"purchase.quote[{number}]", tone)


# Bill of materials with quotes, and cost by year


def materials_section(report: FullReport) -> Section | None:
    """The parts with derivation of quantity, price, and quote."""
    bill = report.bill.bill
    if not bill.items:
        return None
    priced = bill.total is not None
    blocks: list[Block] = [_parts_table(report, priced=priced)]
    if (table := quote_table(report.purchase)) is not None:
        blocks += [table, *_pieces_text(report.purchase, bill)]
    blocks += uncounted_bullets("bill.total.not_counted", bill.not_counted)
    neighbor = report.cost.neighbor
    if neighbor is not None:
        saved = money_text(neighbor.saved_on_fabric, bill.currency)
        text = (
            f"{neighbor.fewer_text} would save {saved} in addition to their price: "
            f"{plural(neighbor.switches[0], 'switch')} instead of {neighbor.switches[1]:,}."
        )
        blocks.append(Text(text, "cost.neighbor"))
    return Section("materials", "Bill of materials", tuple(blocks))


def uncounted_bullets(
    field: str, texts: Sequence[str], elsewhere: Sequence[str] = (), title: str = "Not counted"
) -> Iterator[Bullets]:
    """The parts that a sum omits. ``elsewhere`` names the parts that the page lists in another place."""
    items = tuple((text, f"{field}[{number}]") for number, text in enumerate(texts) if text not in elsewhere)
    if items:
        yield Bullets("Also not counted" if len(items) < len(texts) else title, items)


def _parts_table(report: FullReport, *, priced: bool) -> PaperTable:
    bill = report.bill.bill
    columns = [TableColumn("Part", key="part"), TableColumn("Quantity", "right", "quantity")]
    if priced:
        columns += [TableColumn("Unit price", "right", "unit_price"), TableColumn("Price", "right", "price")]
    columns.append(TableColumn("Derivation", key="derivation"))
    rows = [_part_row(item, number, priced=priced) for number, item in enumerate(bill.items)]
    if priced:
        whole = money_text(bill.total, bill.currency)
        rows.append(TableRow((bill.total_title, "", "", whole, ""), "bill.total", total=True, bare=True))
    return PaperTable(tuple(columns), tuple(rows), "bill.items")


def part_text(item: Item) -> str:
    """The part of a line of the bill, marked as a spare or as assumed."""
    marks = [mark for mark, held in (("spare", item.kind == "spare_node"), ("assumed", bool(item.assumed))) if held]
    return f"{item.part_label} ({', '.join(marks)})" if marks else item.part_label


def _part_row(item: Item, number: int, *, priced: bool) -> TableRow:
    prices = (item.unit_price_text or "no price", item.price_text or "no price") if priced else ()
    how = f"{item.derivation}; assumed: {item.assumed}" if item.assumed else item.derivation
    return TableRow((part_text(item), f"{item.quantity:,}", *prices, how), f"bill.items[{number}]")


def cost_section(report: FullReport) -> Section | None:
    """The cost over the term: by part, year, run and token."""
    found = report.cost.cost
    if found is None or found.total is None or not found.total.value:
        return None
    blocks: list[Block] = []
    if len(found.by_year) > 1:
        blocks.append(_yearly_picture(found))
    unit = _unit_costs_table(report, found)
    if unit is not None:
        blocks.append(unit)
    blocks += [] if (table := _uses_table(report)) is None else [table]
    blocks.append(_cost_terms_table(found))
    blocks += uncounted_bullets("cost.not_counted", found.missing, elsewhere=report.bill.bill.not_counted)
    if not report.tender:
        buying = report.estimate.design.spec.procurement
        blocks.append(Text(never_counted_text(buying)))
    over = f"over {years_text(found.years)}" if found.years else "purchase only, without a `procurement.term`"
    dated = f"prices of {found.as_of}" if found.as_of else "prices without a date"
    amounts = f"Amounts in {found.currency or 'the currency of the spec'}, {over}, {dated}."
    return Section("cost", "Cost", tuple(blocks), lead=amounts + _whole_machine_note(report))


def _whole_machine_note(report: FullReport) -> str:
    """A sentence that the cost also covers existing nodes, if the quote extends a machine; else empty."""
    if report.signing is None or not report.signing.added_nodes:
        return ""
    return " They cover the whole machine, existing parts included."


def never_counted_text(buying: ProcurementSpec | None) -> str:
    """A text on what the amounts of a report exclude. Taxes are excluded, except a stated tax in amounts of a quote."""
    if buying is None or not buying.tax:
        taxes = "No tax is stated, and no amount includes one."
    elif buying.quote or buying.quoted_total:
        taxes = f"Only amounts in the terms of the quote include the tax of {percent(buying.tax)}."
    else:
        taxes = f"No amount includes the tax of {percent(buying.tax)}, which applies to quotes."
    return f"{taxes} {NEVER_COUNTED}"


NEVER_COUNTED = (
    "No amount includes interest, insurance, staff, buildings, software licenses or a value at the end of the term: "
    "the spec has no keys for them."
)


def _uses_table(report: FullReport) -> PaperTable | None:
    """The cost of the work at other utilizations of the term."""
    found = report.cost.cost
    if found is None or not report.uses:
        return None
    runs = any(one.per_run is not None for one in report.uses)
    columns = (
        TableColumn("At work", "right", "share"),
        TableColumn(f"A million {'output' if report.serves else 'trained'} tokens", "right", "per_million_tokens"),
        *((TableColumn("One run", "right", "per_run"),) if runs else ()),
    )
    rows = tuple(
        TableRow(
            (
                f"{percent(one.share)}{' (stated)' if one.stated else ''}",
                rounded_text(Money.of(one.per_million_tokens, found.currency)),
                *((display(one.per_run or 0.0, found.currency),) if runs else ()),
            ),
            f"cost_by_use[{number}]",
        )
        for number, one in enumerate(report.uses)
    )
    return PaperTable(columns, rows, "cost_by_use", caption="Cost by the share of the term in which the machine works")


def _yearly_picture(cost: Cost) -> Picture:
    currency = cost.currency
    columns = [
        Year(
            f"year {row.year}",
            tuple(
                StackPart(name, cause_of(name), value, display(value, currency)) for name, value in row.parts.items()
            ),
            row.low,
            row.high,
        )
        for row in cost.by_year
    ]
    alt = "; ".join(f"{column.label}: {display(sum_of(p.value for p in column.parts), currency)}" for column in columns)
    drawn = yearly_chart(columns, lambda tick: _short_amount_text(tick, currency), alt)
    sums = [sum_of(part.value for part in column.parts) for column in columns]
    first = f": {portion(sums[0] / sum_of(sums))} falls in {columns[0].label}" if sum_of(sums) else ""
    return Picture(drawn, f"Cost by year, with the range of the prices{first}", "cost.by_year")


def _short_amount_text(amount: float, currency: str) -> str:
    """An amount for an axis: ``12.5 M USD``."""
    for scale, name in SCALES:
        if amount >= scale:
            return f"{plain(amount / scale)} {name} {currency}".rstrip()
    return f"{amount:g} {currency}".rstrip()


def _cost_terms_table(cost: Cost) -> PaperTable:
    assert cost.total is not None
    columns = (
        TableColumn("Part", key="name"),
        TableColumn("Amount", "right", "value"),
        TableColumn("Range", "right", "low"),
        TableColumn("Share", "right", "value"),
        TableColumn("Formula", key="formula"),
    )
    whole = cost.total
    rows = []
    for number, part in enumerate((*whole.parts, whole)):
        span = ""
        if part.low is not None and part.high is not None and part.high > part.low:
            span = f"{display(part.low, cost.currency)} to {display(part.high, cost.currency)}"
        last = number == len(whole.parts)
        field = "cost.terms[0]" if last else f"cost.parts[{number}]"
        share = portion(part.value / whole.value) if whole.value else ""
        rows.append(
            TableRow((part.label, display(part.value, cost.currency), span, share, part.formula), field, total=last)
        )
    return PaperTable(columns, tuple(rows), "cost.parts")


def _unit_costs_table(report: FullReport, cost: Cost) -> PaperTable | None:
    used = f", on {cost.accelerators_used:,.0f} of {cost.accelerators:,} accelerators" if cost.accelerators_used else ""
    if cost.accelerators_used and cost.accelerators_used < cost.charged_accelerators:
        used += f", which carries the cost of {cost.charged_accelerators:,}"
    buying = report.estimate.design.spec.procurement
    if buying is not None and buying.utilization is not None and buying.utilization < 1:
        used += f", at work {percent(buying.utilization)} of the term"
    if not cost.of_machine:
        used += ", of its operation alone"
    rows = tuple(_unit_cost_rows(report, cost))
    if not rows:
        return None
    columns = (TableColumn("Unit"), TableColumn("Cost", "right"))
    return PaperTable(columns, rows, "cost", caption=f"Cost of the work{used}")


def _unit_cost_rows(report: FullReport, cost: Cost) -> Iterator[TableRow]:
    """The cost of the run, of tokens, of an hour, and of the energy of a year."""
    if cost.per_run is not None and cost.run is not None:
        name = f"One run of {display(cost.run.value, 's')}"
        fields = ("cost.time_to_train_with_interruptions", "cost.per_run")
        yield TableRow((name, display(cost.per_run.value, cost.currency)), "cost.per_run", fields=fields)
    if cost.per_million_tokens is not None:
        each = rounded_text(Money.of(cost.per_million_tokens.value, cost.currency))
        what = "output" if report.serves else "trained"
        yield TableRow((f"A million {what} tokens", each), "cost.per_million_tokens")
    if cost.per_accelerator_hour is not None:
        each = rounded_text(Money.of(cost.per_accelerator_hour, cost.currency))
        yield TableRow(("An accelerator hour of the term, used or not", each), "cost.per_accelerator_hour")
    if cost.per_week is not None and cost.of_machine:
        each = rounded_text(Money.of(cost.per_week, cost.currency))
        yield TableRow(("A week of the machine, at work or delayed", each), "cost.per_week")
    if cost.rent_of_node is not None:
        each = rounded_text(Money.of(cost.rent_of_node, cost.currency))
        name = "Rent of a node over the term; buying is cheaper where node, network and operation cost less"
        yield TableRow((name, each), "cost.rent_of_node")
    bought = report.purchase is None or report.purchase.basis != "rent"
    if cost.per_hour_at_work is not None and bought and cost.of_machine:
        each = rounded_text(Money.of(cost.per_hour_at_work, cost.currency))
        name = "An accelerator hour with planned work; renting is cheaper below this price"
        yield TableRow((name, each), "cost.per_hour_at_work")
    energy = cost.by_year[0].parts.get("energy") if cost.by_year and (cost.years or 0.0) >= 1 else None
    if energy:
        hall = report.facility
        drawn = f", {energy_text(hall.energy_of_year)}" if hall and hall.energy_of_year else ""
        drawn = " of the pool with all its jobs" if cost.has_other_jobs else drawn
        yield TableRow((f"Energy of a year{drawn}", display(energy, cost.currency)), "cost.by_year[0].energy")
