"""The bill of materials and the cost of designs, as text and CSV."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec import report as grid
from clusterspec.cost.term import Term
from clusterspec.procurement.amounts import money_text
from clusterspec.procurement.bill import SHEET, sheet_rows
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.items import Item, kind_words
from clusterspec.procurement.neighbor import Neighbor
from clusterspec.report import PLAIN, TextStyle, errors_text, paragraph, wrapped_lines
from clusterspec.report.estimate_rows import clock_text, value_text
from clusterspec.results import BillReport
from clusterspec.results.decision import CostReport
from clusterspec.units import display, percent, plain, plural, portion, years_text

FIELDS = ("kind", "part", "quantity", "derivation", "assumed", "unit_price", "price")


def bill_text(report: BillReport, style: TextStyle = PLAIN) -> str:
    """The parts with the derivation of each quantity, the total, the fabric in one line and omissions."""
    if not report.items:
        why = errors_text(report.findings, report.input.name, style)
        return "The spec states too little to count parts.\n\n" + fabric_text(report) + "\n" + why
    priced = report.bill.total is not None
    heads = ("part", "kind", "quantity", *(("unit price", "price") if priced else ()), "derivation")
    rows = [_bill_row(item, priced=priced) for item in report.items]
    if priced:
        rows.append((report.bill.total_title, "", "", "", money_text(report.bill.total, report.bill.currency), ""))
    right = (2, 3, 4) if priced else (2,)
    table = grid.text_table(heads, rows, right=right, wrap=(0, 1, len(heads) - 1), style=style)
    fabric = wrapped_lines(fabric_text(report), style.width, "", "  ")
    shown = "\n".join([table, *fabric, *_uncounted_texts(report, style)]) + "\n"
    return shown + errors_text(report.findings, report.input.name, style)


def _bill_row(item: Item, *, priced: bool) -> tuple[str, ...]:
    prices = (item.unit_price_text, item.price_text or "no price") if priced else ()
    part = f"{item.part} (assumed)" if item.assumed else item.part
    derivation = f"{item.derivation}; assumed: {item.assumed}" if item.assumed else item.derivation
    return (part, kind_words(item.kind), f"{item.quantity:,}", *prices, derivation)


def _uncounted_texts(report: BillReport, style: TextStyle) -> list[str]:
    lines = [part for line in report.bill.not_counted for part in wrapped_lines(line, style.width, "  ", "    ")]
    return ["Not counted:", *lines] if lines else []


def fabric_text(report: BillReport) -> str:
    """The fabric, or the reason why there is none to buy."""
    found = report.fabric
    if found is None:
        return f"No fabric to buy: {report.why}"
    counts = {"leaf": found.leaf_switches, "spine": found.spine_switches, "core": found.core_switches}
    switches = ", ".join(plural(count, f"{row} switch") for row, count in counts.items() if count)
    return f"Fabric: {plural(found.tiers, 'tier')}, {switches}"


def bill_csv(report: BillReport) -> str:
    """One row per item and one for the sum; unknown prices are empty."""
    rows = [item.to_json() for item in report.items]
    if report.bill.total is not None:
        kind = "total" if report.bill.complete else "partial_sum"
        whole = {"kind": kind, "part": report.bill.total_title, "price": report.bill.total_json()["price"]}
        rows.append(whole)
    return grid.csv_text(FIELDS, ([row.get(name, "") for name in FIELDS] for row in rows))


def price_sheet_csv(report: BillReport) -> str:
    """The bill without prices, for suppliers to fill in: one row per item."""
    return grid.csv_text(SHEET, sheet_rows(report.items))


# The cost of a design as text and CSV


def cost_text(report: CostReport, style: TextStyle = PLAIN) -> str:
    """The total with its parts, the cost by year, per run and per million tokens, and omissions."""
    cost = report.cost
    if cost is None:
        return "The cluster cannot be resolved; `clusterspec check` reports the reason.\n"
    parts = [_headline_text(cost, style)]
    if cost.total is not None:
        parts.append(style.paint("bold", "Parts") + "\n" + _parts_text(cost.total, cost.currency, style))
    if len(cost.by_year) > 1:
        parts.append(style.paint("bold", "By year") + "\n" + _years_text(cost, style))
    if report.neighbor is not None:
        parts.append(paragraph(_neighbor_text(report.neighbor, cost.currency), style))
    if cost.missing:
        parts.append(style.paint("bold", "Not counted") + "\n" + _indented_text(cost.missing, style))
    if cost.assumptions:
        lines = (f"{each[0]} = {value_text(each[1])}: {each[2]}" for each in cost.assumptions)
        parts.append(style.paint("bold", "Assumed") + "\n" + _indented_text(lines, style))
    return "\n".join(parts)


def _headline_text(cost: Cost, style: TextStyle) -> str:
    return grid.text_table(("", "", ""), list(_headline_rows(cost)), right=(1,), wrap=(2,), style=style).split("\n", 1)[
        1
    ]


def _headline_rows(cost: Cost) -> Iterator[tuple[str, str, str]]:
    when = f"prices of {cost.as_of}" if cost.as_of else "prices without a date"
    span = f"over {years_text(cost.years)}" if cost.years else "purchase only"
    running = "" if cost.years else ". For running costs add `procurement.term`"
    partial = ". Some prices are missing: see below" if cost.missing else ""
    if cost.total is None and not cost.as_of and not cost.currency:
        span, when, partial = "add `procurement.prices`", "`as_of` and `currency`", ""
    yield ("total", _amount_text(cost.total, cost.currency), f"{span}, {when}{running}{partial}")
    if cost.billed is not None and cost.has_other_jobs:
        least, most = map(_rounded_amount, cost.billed)
        span = "the term" if cost.share == 1 else f"{percent(cost.share or 0.0)} of the term"
        billed = money_text((least, most) if least < most else least, cost.currency)
        yield ("billed", billed, f"to this job, for its nodes and their energy over {span}; the total covers all jobs")
    part = cost.accelerators_used or 0
    used = f"{part:,.0f} of {cost.accelerators:,}" if part != cost.accelerators else f"all {part:,.0f}"
    used += " accelerators" if part else ""
    if part and part < cost.accelerators:
        charged = "all" if cost.charged_accelerators == cost.accelerators else f"{cost.charged_accelerators:,}"
        used += f"; pays for {charged}"
    yield from _run_rows(cost, used)
    if cost.per_million_tokens is not None:
        what = cost.per_million_tokens.name.removeprefix("per_").replace("_", " ")
        yield (f"a {what}", _amount_text(cost.per_million_tokens, cost.currency), f"uses {used}")
    for term in cost.by_kind:
        what = term.name.removeprefix("per_").replace("_", " ")
        share = next(figure.value for name, figure in term.inputs if name == "share")
        yield (
            f"  a {what}",
            f"{plain(term.value, 2)} {cost.currency}",
            f"{percent(share, 2)} of the accelerators' time",
        )
    yield from _day_rows(cost)
    if cost.goodput is not None:
        low, high = cost.goodput.low, cost.goodput.high
        spread = f"{percent(low)} to {percent(high)} over the published failure rates" if low and high else ""
        yield ("goodput", percent(cost.goodput.value), spread)
    if cost.watts.parts:
        yield (
            "power",
            display(cost.watts.value, "W"),
            "IT power at full load: " + cost.watts.formula.replace("_", " ") + _power_range_text(cost.watts),
        )


def _run_rows(cost: Cost, accelerators: str) -> Iterator[tuple[str, str, str]]:
    """The cost and the duration of a run, on the accelerators that ``accelerators`` describes."""
    if cost.run is None:
        return
    lasts, without = display(cost.run.value, "s"), f"{display(cost.run.inputs[0][1].value, 's')} without interruptions"
    if cost.per_run is not None:
        yield ("one run", _amount_text(cost.per_run, cost.currency), f"{lasts}; {without}; uses {accelerators}")
    else:
        yield ("one run", lasts, without)


def _day_rows(cost: Cost) -> Iterator[tuple[str, str, str]]:
    """The cost of a day whose load the spec states, and of a million of its output tokens."""
    if not cost.of_day:
        return
    day, constant, *token = cost.of_day
    hours = {term.name: term.inputs[-1][1].value for term in cost.of_day}
    all_engines = f"{_amount_text(constant, cost.currency)} with all engines at all hours"
    what = f"{plain(hours[day.name], 4)} accelerator-hours as the engines follow the load; {all_engines}"
    yield ("one day", _amount_text(day, cost.currency), what)
    for term in token:
        tokens = display(hours[term.name], "1")
        yield (
            "  a million output tokens",
            f"{plain(term.value, 2)} {cost.currency}",
            f"of the {tokens} tokens of that day",
        )
    for each in cost.of_hours:
        price = each.per_million_output_tokens
        million = f"; a million output tokens {plain(price, 2)} {cost.currency}" if price is not None else ""
        yield (
            f"  {clock_text(each.start)} to {clock_text(each.end)}",
            f"{each.amount:,.2f} {cost.currency}",
            f"{plural(round(each.accelerators), 'accelerator')}{million}",
        )


def _power_range_text(watts: Term) -> str:
    if watts.low is None or watts.high is None:
        return ""
    return f"; {display(watts.low, 'W')} to {display(watts.high, 'W')}, since the power of a node is assumed"


def _amount_text(term: Term | None, currency: str) -> str:
    """An amount with cents below 1,000, without above, with its range."""
    if term is None:
        return "not known"
    if term.low is None or term.high is None:
        return money_text(_rounded_amount(term.value), currency)
    return money_text((_rounded_amount(term.low), _rounded_amount(term.high)), currency)


def _rounded_amount(value: float) -> float:
    return round(value, 2) if abs(value) < 1000 else float(round(value))


def _parts_text(total: Term, currency: str, style: TextStyle) -> str:
    rows = []
    for part in (*total.parts, total):
        share = portion(part.value / total.value) if total.value else ""
        inputs = ", ".join(f"{name} {figure.value:,.10g}" for name, figure in part.inputs)
        how = f"{part.formula} ({inputs})" if inputs else part.formula
        rows.append((f"  {part.name}", _amount_text(part, currency), share, how))
    return grid.text_table(("  part", "amount", "share", "formula"), rows, right=(1, 2), wrap=(3,), style=style)


def _years_text(cost: Cost, style: TextStyle) -> str:
    names = [part.name for part in cost.total.parts] if cost.total else []
    rows = [
        (
            f"  {row.year}",
            *(money_text(_rounded_amount(row.parts[name])) for name in names),
            money_text(_rounded_amount(row.total)),
        )
        for row in cost.by_year
    ]
    return grid.text_table(("  year", *names, "total"), rows, right=range(1, len(names) + 2), style=style)


def _neighbor_text(neighbor: Neighbor, currency: str) -> str:
    levels = (
        f", {neighbor.tiers[0]} tiers instead of {neighbor.tiers[1]}" if neighbor.tiers[0] != neighbor.tiers[1] else ""
    )
    return (
        f"{neighbor.fewer_text} take {neighbor.switches[0]:,} switches instead of "
        f"{neighbor.switches[1]:,}{levels}: "
        f"{money_text(_rounded_amount(neighbor.saved_on_fabric), currency)} less for the fabric, "
        f"{money_text(_rounded_amount(neighbor.saved), currency)} less in all."
    )


def _indented_text(lines: Iterator[str] | tuple[str, ...], style: TextStyle) -> str:
    return "".join(f"  {part}\n" for line in lines for part in wrapped_lines(line, style.measure - 2, then="  "))


COST_FIELDS = ("part", "year", "amount", "low", "high", "currency", "formula")


def cost_csv(report: CostReport) -> str:
    """One row per part over the term, one per part and year, and the costs per run and per million tokens."""
    cost = report.cost
    return grid.csv_text(COST_FIELDS, [list(row) for row in _csv_rows(cost)] if cost else [])


def _csv_rows(cost: Cost) -> Iterator[tuple[object, ...]]:
    terms = (*(cost.total.parts if cost.total else ()), cost.total, cost.per_run, cost.per_million_tokens)
    for term in terms:
        if term is not None:
            low, high = (term.value if end is None else end for end in (term.low, term.high))
            yield (term.name, "", term.value, low, high, cost.currency, term.formula)
    for row in cost.by_year:
        for name, amount in row.parts.items():
            yield (name, row.year, amount, "", "", cost.currency, "")
        yield ("total", row.year, row.total, row.low, row.high, cost.currency, "")
