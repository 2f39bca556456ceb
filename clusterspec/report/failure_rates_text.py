"""Failure rates from logs as text."""

from __future__ import annotations

from collections import Counter

from clusterspec.report import PLAIN, TextStyle, paragraph, plain_line, text_table
from clusterspec.results.faults import METHOD, FailureRates
from clusterspec.units import display, percent, plain, plural

SHOWN = 8
"""Reasons of undecided lines that are printed; JSON has all."""


def failure_rates_text(report: FailureRates, style: TextStyle = PLAIN) -> str:
    """A row for each kind of part, then the open points, and the effect on the goodput."""
    heads = ("part", "failures", "parts", "part-years", "per part and year", "at 90 % between")
    rows = [
        (
            row.part,
            f"{row.failures:,}",
            f"{row.parts:,}",
            plain(row.years, 4),
            _rate_text(row.rate),
            _range_text(row.low, row.high),
        )
        for row in report.rows
    ]
    table = text_table(heads, rows, right=(1, 2, 3, 4), style=style)
    return table + "\n" + "".join(paragraph(plain_line(each), style) for each in _rate_sentences(report))


def _rate_text(rate: float | None) -> str:
    return "–" if rate is None else plain(rate, 3)


def _range_text(low: float, high: float) -> str:
    return f"{plain(low, 3)} and {plain(high, 3)}" if low else f"0 and {plain(high, 3)}"


def _rate_sentences(report: FailureRates) -> list[str]:
    found = [f"Time observed: {display(report.observed, 's', 4)}. Method: {METHOD}"]
    if any(row.rate is None for row in report.rows):
        found.append("Parts without a failure have only an upper limit; their rates are not written.")
    reasons = Counter(why for _, why in report.undecided)
    found += [f"Not decided, {plural(number, 'line')}: {why}." for why, number in reasons.most_common(SHOWN)]
    if len(reasons) > SHOWN:
        found.append(f"Not decided: {len(reasons) - SHOWN:,} other reasons; --format json lists every line.")
    found += report.notes
    if report.goodput is not None and report.goodput.before is not None and report.goodput.after is not None:
        before, after = percent(report.goodput.before, 4), percent(report.goodput.after, 4)
        found.append(
            f"Goodput: {before} with the rates of the spec and of publications, {after} with the rates of the log."
        )
    found += [f"Not written: {each}" for each in report.kept]
    return found + [f"wrote {each}" for each in report.written]
