"""The bill of materials, the cost and the differences of designs, as text, CSV and Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from clusterspec.cost.term import Term
from clusterspec.finding import Finding
from clusterspec.procurement.bill import SHEET, Item, kind_words, money_text, sheet_rows
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.neighbor import Neighbor
from clusterspec.report import ink as grid
from clusterspec.report.estimate_rows import clock_text, value_text
from clusterspec.report.findings_machines import markdown_cell
from clusterspec.report.ink import (
    PLAIN,
    Ink,
    errors_text,
    location_text,
    paragraph,
    plain_line,
    text_table,
    title_text,
    wrapped_lines,
)
from clusterspec.results import BillReport
from clusterspec.results.decision import PRICE, SHARE, CostReport, DiffReport, Effect
from clusterspec.source import dotted_path
from clusterspec.units import display, percent, plain, plural, portion, years_text

FIELDS = ("kind", "part", "quantity", "derivation", "assumed", "unit_price", "price")


def bill_text(report: BillReport, ink: Ink = PLAIN) -> str:
    """The parts with the derivation of each quantity, the total, the fabric in one line and omissions."""
    if not report.items:
        why = errors_text(report.findings, report.input.name, ink)
        return "The spec states too little to count parts.\n\n" + fabric_text(report) + "\n" + why
    priced = report.bill.total is not None
    heads = ("part", "kind", "quantity", *(("unit price", "price") if priced else ()), "derivation")
    rows = [_bill_row(item, priced=priced) for item in report.items]
    if priced:
        rows.append((report.bill.total_title, "", "", "", money_text(report.bill.total, report.bill.currency), ""))
    right = (2, 3, 4) if priced else (2,)
    table = grid.text_table(heads, rows, right=right, wrap=(0, 1, len(heads) - 1), ink=ink)
    fabric = wrapped_lines(fabric_text(report), ink.width, "", "  ")
    shown = "\n".join([table, *fabric, *_uncounted_texts(report, ink)]) + "\n"
    return shown + errors_text(report.findings, report.input.name, ink)


def _bill_row(item: Item, *, priced: bool) -> tuple[str, ...]:
    prices = (item.unit_price_text, item.price_text or "no price") if priced else ()
    part = f"{item.part} (assumed)" if item.assumed else item.part
    derivation = f"{item.derivation}; assumed: {item.assumed}" if item.assumed else item.derivation
    return (part, kind_words(item.kind), f"{item.quantity:,}", *prices, derivation)


def _uncounted_texts(report: BillReport, ink: Ink) -> list[str]:
    lines = [part for line in report.bill.not_counted for part in wrapped_lines(line, ink.width, "  ", "    ")]
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


def cost_text(report: CostReport, ink: Ink = PLAIN) -> str:
    """The total with its parts, the cost by year, per run and per million tokens, and omissions."""
    cost = report.cost
    if cost is None:
        return "The cluster cannot be resolved; `clusterspec check` reports the reason.\n"
    parts = [_headline_text(cost, ink)]
    if cost.total is not None:
        parts.append(ink.paint("bold", "Parts") + "\n" + _parts_text(cost.total, cost.currency, ink))
    if len(cost.by_year) > 1:
        parts.append(ink.paint("bold", "By year") + "\n" + _years_text(cost, ink))
    if report.neighbor is not None:
        parts.append(paragraph(_neighbor_text(report.neighbor, cost.currency), ink))
    if cost.missing:
        parts.append(ink.paint("bold", "Not counted") + "\n" + _indented_text(cost.missing, ink))
    if cost.assumptions:
        lines = (f"{each[0]} = {value_text(each[1])}: {each[2]}" for each in cost.assumptions)
        parts.append(ink.paint("bold", "Assumed") + "\n" + _indented_text(lines, ink))
    return "\n".join(parts)


def _headline_text(cost: Cost, ink: Ink) -> str:
    return grid.text_table(("", "", ""), list(_headline_rows(cost)), right=(1,), wrap=(2,), ink=ink).split("\n", 1)[1]


def _headline_rows(cost: Cost) -> Iterator[tuple[str, str, str]]:
    when = f"prices of {cost.as_of}" if cost.as_of else "prices without a date"
    span = f"over {years_text(cost.years)}" if cost.years else "purchase only"
    running = "" if cost.years else ". For running costs add `procurement.term`"
    partial = ". Some prices are missing: see below" if cost.missing else ""
    if cost.total is None and not cost.as_of and not cost.currency:
        span, when, partial = "add `procurement.prices`", "`as_of` and `currency`", ""
    yield ("total", _amount_text(cost.total, cost.currency), f"{span}, {when}{running}{partial}")
    part = cost.accelerators_used or 0
    used = f"{part:,.0f} of {cost.accelerators:,}" if part != cost.accelerators else f"all {part:,.0f}"
    used += " accelerators" if part else ""
    if cost.per_run is not None and cost.run is not None:
        without = f"{display(cost.run.inputs[0][1].value, 's')} without interruptions"
        yield (
            "one run",
            _amount_text(cost.per_run, cost.currency),
            f"{display(cost.run.value, 's')}; {without}; uses {used}",
        )
    elif cost.run is not None:
        yield (
            "one run",
            display(cost.run.value, "s"),
            f"{display(cost.run.inputs[0][1].value, 's')} without interruptions",
        )
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
            "IT power at full load: " + cost.watts.formula.replace("_", " ") + _power_range(cost.watts),
        )


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


def _power_range(watts: Term) -> str:
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


def _parts_text(total: Term, currency: str, ink: Ink) -> str:
    rows = []
    for part in (*total.parts, total):
        share = portion(part.value / total.value) if total.value else ""
        inputs = ", ".join(f"{name} {figure.value:,.10g}" for name, figure in part.inputs)
        how = f"{part.formula} ({inputs})" if inputs else part.formula
        rows.append((f"  {part.name}", _amount_text(part, currency), share, how))
    return grid.text_table(("  part", "amount", "share", "formula"), rows, right=(1, 2), wrap=(3,), ink=ink)


def _years_text(cost: Cost, ink: Ink) -> str:
    names = [part.name for part in cost.total.parts] if cost.total else []
    rows = [
        (
            f"  {row.year}",
            *(money_text(_rounded_amount(row.parts[name])) for name in names),
            money_text(_rounded_amount(row.total)),
        )
        for row in cost.by_year
    ]
    return grid.text_table(("  year", *names, "total"), rows, right=range(1, len(names) + 2), ink=ink)


def _neighbor_text(neighbor: Neighbor, currency: str) -> str:
    levels = (
        f", {neighbor.tiers[0]} tiers instead of {neighbor.tiers[1]}" if neighbor.tiers[0] != neighbor.tiers[1] else ""
    )
    return (
        f"{plural(neighbor.fewer, 'node')} fewer ({neighbor.nodes:,}) take {neighbor.switches[0]:,} switches instead "
        f"of {neighbor.switches[1]:,}{levels}: "
        f"{money_text(_rounded_amount(neighbor.saved_on_fabric), currency)} less for the fabric, "
        f"{money_text(_rounded_amount(neighbor.saved), currency)} less in all."
    )


def _indented_text(lines: Iterator[str] | tuple[str, ...], ink: Ink) -> str:
    return "".join(f"  {part}\n" for line in lines for part in wrapped_lines(line, ink.measure - 2, then="  "))


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


# The difference of two designs as text, and as Markdown for a pull request comment

LONGEST = 60
"""Characters of a value that are shown."""
BETTER_LESS = (
    "step time",
    "time ",
    "memory of",
    "checkpoint",
    "model, time",
    "power",
    "energy",
    "oversubscription",
    PRICE,
)
BETTER_MORE = ("tokens", "output tokens", "MFU", "goodput", "memory headroom", "concurrency", "bisection", "scale-")
"""How the names of effects begin of which less or more is better."""


def diff_as_text(report: DiffReport, ink: Ink = PLAIN) -> str:
    """The changed keys, their effects, and new and fixed findings."""
    parts = [f"{title_text(report.old.name)} -> {title_text(report.new.name)}\n"]
    rows = [(title_text(dotted_path(one.path)), shown_value(one.old), shown_value(one.new)) for one in report.changes]
    parts.append(text_table(("key", "old", "new"), rows, wrap=(1, 2), ink=ink) if rows else "No key differs.\n")
    effects = [
        (one.name, effect_figure(one, one.old), effect_figure(one, one.new), _colored_change(one, ink))
        for one in report.effects
    ]
    heads = ("effect", "old", "new", "change")
    parts.append(text_table(heads, effects, right=(1, 2), wrap=(0, 3), ink=ink) if effects else "No figure changes.\n")
    if report.caution:
        parts.append(paragraph(plain_line(report.caution), ink))
    for label, findings in _labeled_findings(report):
        parts += labeled_lines(label, findings, ink)
    return "\n".join(parts)


def labeled_lines(label: str, findings: Sequence[Finding], ink: Ink = PLAIN) -> list[str]:
    """A paragraph for each finding that differs, the most severe first."""
    lines = []
    for one in _ranked_findings(findings):
        what = f"{label} {one.severity}[{one.rule}]"
        text = f"{what} {location_text(one.span)}: {plain_line(one.message)}"
        shown = "\n".join(wrapped_lines(text, ink.measure, then="  ")) + "\n"
        style = ink.painter("green") if label == "fixed" else partial(ink.severity, one.severity)
        lines.append(shown.replace(what, style(what), 1) if shown.startswith(what) else shown)
    return lines


def diff_as_markdown(report: DiffReport) -> str:
    """The difference as Markdown tables."""
    parts = [
        f"**clusterspec diff**: `{title_text(report.old.name)}` to `{title_text(report.new.name)}`".replace("``", "`")
    ]
    rows = [
        (f"`{plain_line(dotted_path(one.path))}`", shown_value(one.old), shown_value(one.new)) for one in report.changes
    ]
    parts.append(markdown_table(("key", "old", "new"), rows) if rows else "No key differs.")
    effects = [
        (one.name, effect_figure(one, one.old), effect_figure(one, one.new), relative_change(one))
        for one in report.effects
    ]
    parts.append(markdown_table(("effect", "old", "new", "change"), effects) if effects else "No figure changes.")
    if report.caution:
        parts.append(plain_line(report.caution))
    found = [
        (label, *finding_cells(one)) for label, many in _labeled_findings(report) for one in _ranked_findings(many)
    ]
    if found:
        parts.append(markdown_table(("", "severity", "rule", "what"), found))
    return "\n\n".join(parts) + "\n"


def _labeled_findings(report: DiffReport) -> tuple[tuple[str, Sequence[Finding]], ...]:
    """The findings that differ, by what happened to them."""
    return ("new", report.found), ("fixed", report.fixed), ("no longer checked", report.unchecked)


def _ranked_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The most severe first."""
    return sorted(findings, key=lambda one: one.severity.rank)


def markdown_table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *(tuple(markdown_cell(text_) for text_ in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def finding_cells(one: Finding) -> tuple[str, str, str]:
    return str(one.severity), one.rule, one.message


def shown_value(given: Any) -> str:
    """A value of the spec on one line, shortened."""
    if given is None:
        return "absent"
    shown = plain_line(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


NEARLY_ALL = 0.9
"""A share above this is printed with one more digit."""


def _colored_change(effect: Effect, ink: Ink) -> str:
    """The relative change, green where it is for the better and red where it is for the worse beyond the ranges."""
    text = relative_change(effect)
    if effect.old is None or effect.new is None or effect.within_band:
        return text
    less, more = effect.name.startswith(BETTER_LESS), effect.name.startswith(BETTER_MORE)
    if not (less or more):
        return text
    return ink.paint("green" if (effect.new < effect.old) == less else "red", text)


def effect_figure(effect: Effect, number: float | None) -> str:
    """A figure with its unit."""
    if number is None:
        return "not known"
    if effect.unit in {"B", "B/s", "s", "W", "J"}:
        return display(number, effect.unit)
    if effect.unit == SHARE:
        return percent(number, 4 if number > NEARLY_ALL else 3)
    if effect.name == PRICE:
        return f"{number:,.0f} {effect.unit}".rstrip()
    return f"{number:,.4g}" if abs(number) < 10_000 else f"{number:,.0f}"


def relative_change(effect: Effect) -> str:
    """The relative change of a figure, and whether it is significant."""
    if effect.old is None or effect.new is None:
        return ""
    by = (
        f"{'+' if effect.new > effect.old else '−'}{percent(abs(effect.new / effect.old - 1), 2)}"
        if effect.old > 0
        else ""
    )
    return f"{by} (within the uncertainty of the model)".strip() if effect.within_band else by
