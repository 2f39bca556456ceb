"""The failures of single parts as text and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.procurement.amounts import money_text, rounded_text
from clusterspec.quantity import Figure
from clusterspec.report import PLAIN, TextStyle, csv_text, paragraph, text_table
from clusterspec.results.faults import FaultRow, FaultsReport, FirstYear, PairRow, Stock, YearlyGoodput
from clusterspec.units import display, percent, plain

FIELDS = ("part", "count", "failures_per_year", "effect", "bandwidth_lost", "step_time", "hours_lost_per_year")
UNKNOWN = "–"
ROUNDED = 100
"""Numbers from this value on are printed as integers."""


def faults_as_text(report: FaultsReport, style: TextStyle = PLAIN) -> str:
    """A row for each class of parts, with counts, hours and money per year; the goodput; the assumptions, by key."""
    notes = "".join(paragraph(line, style) for line in (*result_sentences(report), *_assumed_keys(report)))
    if not report.rows:
        return notes
    return _failures_table(report, style) + "\n" + _pairs_table(report, style) + notes


def _failures_table(report: FaultsReport, style: TextStyle) -> str:
    priced = report.hour is not None
    heads = ("failed part", "count", "per year", "job", "step", "hours lost")
    money = (f"cost {report.currency}".rstrip(),) if priced else ()
    rows = [(*fault_cells(row), *((cost_text(row),) if priced else ()), row.why) for row in report.rows]
    right = (1, 2, 4, 5, 6) if priced else (1, 2, 4, 5)
    return text_table((*heads, *money, "why"), rows, right=right, wrap=(len(heads) + len(money),), style=style)


def _pairs_table(report: FaultsReport, style: TextStyle) -> str:
    """The pairs of parts; empty if they were not asked for."""
    if report.pairs is None:
        return ""
    if not report.pairs:
        return "No two parts of different kinds share a node, a leaf or a rack.\n\n"
    heads = ("failed pair", "they share", "pairs", "per year", "job", "step", "hours lost")
    rows = [
        (
            f"{row.parts[0]} and {row.parts[1]}",
            f"a {row.shared} {row.planes}".rstrip(),
            f"{row.count:,}",
            _number_text(row.failures),
            ("unaffected" if row.effect == "none" else row.effect) + (" *" if row.worse else ""),
            display(row.step_time, "s", 4) if row.step_time is not None else UNKNOWN,
            _hours_text(row.hours),
        )
        for row in report.pairs
    ]
    note = "* more than either failure alone\n" if any(row.worse for row in report.pairs) else ""
    return text_table(heads, rows, right=(2, 3, 5, 6), wrap=(0, 1), style=style) + note + "\n"


def fault_cells(row: FaultRow) -> tuple[str, ...]:
    """Part, number, failures a year, effect, step time and hours lost."""
    return (
        row.part,
        f"{row.count:,}" if row.count is not None else UNKNOWN,
        _number_text(row.failures),
        "unaffected" if row.effect == "none" else row.effect,
        display(row.step_time, "s", 4) if row.step_time is not None else UNKNOWN,
        _hours_text(row.hours),
    )


def _number_text(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value >= ROUNDED else plain(value, 3)


def _hours_text(hours: float | None) -> str:
    """Hours per year; values of a few seconds or less are printed as an upper bound."""
    return f"< {LEAST_HOURS:g}" if hours is not None and 0 < hours < LEAST_HOURS else _number_text(hours)


LEAST_HOURS = 0.001
LEAST_SLOWED = 0.1
"""Minimum hours of slowed steps per year that are reported in a sentence."""


def cost_text(row: FaultRow) -> str:
    """The cost of a year, without its currency."""
    return money_text(round(row.cost)) if row.cost is not None else UNKNOWN


def broken_sentences(report: FaultsReport) -> Iterator[str]:
    """For each target of the spec that single failures break, the parts."""
    for key in dict.fromkeys(key for row in report.rows for key in row.breaks):
        parts = ", ".join(row.part for row in report.rows if key in row.breaks)
        yield f"The plan meets `{key}` while nothing has failed, and misses it without one of these: {parts}."


def result_sentences(report: FaultsReport) -> Iterator[str]:
    """Targets that a failure breaks, step, goodput and cost of a year, spares, and notes."""
    yield from broken_sentences(report)
    if report.step_time is not None:
        yield f"A step takes {display(report.step_time, 's', 4)} without failures."
    if report.goodput is not None:
        yield _goodput_sentence(report.goodput)
    if report.slowed_hours and report.slowed_hours >= LEAST_SLOWED:
        yield f"Failures that only slow steps take another {plain(report.slowed_hours, 2)} h of the year."
    cost = report.cost_of_lost_hours
    if cost is not None:
        yield (
            f"Hours lost to failures and checkpoints cost {money_text(round(cost.mean))} {report.currency} "
            f"a year, in 95 % of the years at most {money_text(round(cost.p95))}."
        )
    if report.first_year is not None:
        yield _first_year_sentence(report, report.first_year)
    if report.repairs:
        waiting = [f"{number:,} × {part}" for part, number in report.repairs.items() if number]
        others = ", no others" if len(waiting) < len(report.repairs) else ""
        most = f"{', '.join(waiting)}{others}" if waiting else "none"
        yield f"Parts in repair at the same time (95th percentile): {most}."
    if report.stock is not None:
        listed = ", ".join(f"{part} {number:,}" for part, number in report.stock.parts.items())
        lead, sure = display(report.stock.lead_time, "s"), percent(report.stock.percentile)
        yield f"Stock that suffices {sure} of the time with a lead time of {lead}: {listed}."
        yield from _price_of_stock(report.stock)
    yield from report.notes


def assumptions_as_text(report: FaultsReport, style: TextStyle = PLAIN) -> str:
    """The keys that the spec does not state, with the assumed values and the reasons."""
    if not report.assumptions:
        return "The spec states every key that the failures depend on.\n"
    rows = [(key, assumed_value(value), why) for key, value, why in report.assumptions]
    return text_table(("key", "taken", "why"), rows, wrap=(1, 2), style=style)


def assumed_value(value: Figure | str) -> str:
    """A value that the spec does not state, as it is printed."""
    return display(value.value, value.unit) if isinstance(value, Figure) else value


def _assumed_keys(report: FaultsReport) -> Iterator[str]:
    """One sentence with the assumed keys, grouped by the section of the spec that would state them."""
    if not report.assumptions:
        return
    groups: dict[str, list[str]] = {}
    for key, value, _ in report.assumptions:
        above, _, name = key.rpartition(".")
        brief = re.sub(r" \(.*", "", assumed_value(value)).replace(" in a year", " a year")
        groups.setdefault(above, []).append(f"{name} {brief}")
    listed = "; ".join(f"{above}: {', '.join(names)}" if above else ", ".join(names) for above, names in groups.items())
    yield f"Assumed, with ranges and sources under `--assumptions`: {listed}."


def _price_of_stock(stock: Stock) -> Iterator[str]:
    """The cost of the stock of spare parts, and which parts have no price; empty if the spec has no prices."""
    without = f"no price for {', '.join(stock.unpriced)}" if stock.unpriced else ""
    if stock.price is not None:
        yield f"This stock costs {rounded_text(stock.price)}" + (f", and has {without}." if without else ".")
    elif without:
        yield f"The stock has {without}."


def _goodput_sentence(goodput: YearlyGoodput) -> str:
    low, middle, high = (percent(share, 4) for share in (goodput.p5, goodput.p50, goodput.p95))
    mean = f"Goodput with the failures of known rate that stop the job: {percent(goodput.mean, 4)} of the time"
    return f"{mean}; half of the years exceed {middle}; 9 of 10 years lie between {low} and {high}."


def _first_year_sentence(report: FaultsReport, year: FirstYear) -> str:
    low, high = percent(year.goodput.p5, 4), percent(year.goodput.p95, 4)
    more = f"In the first year hardware fails {plain(year.factor, 3)} times as often"
    text = f"{more}: goodput {percent(year.goodput.mean, 4)}, 9 of 10 machines between {low} and {high}"
    lost = report.lost_at_first
    if lost is None:
        return f"{text}."
    mean, most = (money_text(round(each)) for each in (lost.mean, lost.p95))
    return f"{text}; lost hours cost {mean} {report.currency}, at 95 % at most {most}."


def faults_csv(report: FaultsReport) -> str:
    """One row per class of parts, and of pairs where they were asked for; times of a step in seconds."""
    heads = (*FIELDS, "cost_per_year", "currency", "why")
    rows = [row.to_json() | {"currency": report.currency} for row in report.rows]
    rows += [_pair_fields(row) | {"currency": report.currency} for row in report.pairs or ()]
    return csv_text(heads, ([("" if row[name] is None else row[name]) for name in heads] for row in rows))


def _pair_fields(row: PairRow) -> dict[str, object]:
    """A pair as a row of the table of parts."""
    why = f"both share a {row.shared} {row.planes}".rstrip() + ("; more than either failure alone" if row.worse else "")
    return {"bandwidth_lost": None, **row.to_json(), "part": " and ".join(row.parts), "why": why}
