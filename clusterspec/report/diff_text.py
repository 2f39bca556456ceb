"""The difference of two designs as text, and as Markdown for a pull request comment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clusterspec.finding import Finding
from clusterspec.report.findings_machines import cell
from clusterspec.report.ink import PLAIN, Ink, located, plain, text_table, titled, wrapped
from clusterspec.results.diff import PRICE, SHARE, DiffReport, Effect
from clusterspec.source import dotted
from clusterspec.units import display, percent

LONGEST = 60
"""Characters of a value that are shown."""


def text(report: DiffReport, ink: Ink = PLAIN) -> str:
    """The changed keys, their effects, and new and fixed findings."""
    parts = [f"{titled(report.old.name)} -> {titled(report.new.name)}\n"]
    rows = [(titled(dotted(one.path)), value(one.old), value(one.new)) for one in report.changes]
    parts.append(text_table(("key", "old", "new"), rows, wrap=(1, 2), ink=ink) if rows else "No key differs.\n")
    effects = [(one.name, figure(one, one.old), figure(one, one.new), change(one)) for one in report.effects]
    heads = ("effect", "old", "new", "change")
    parts.append(text_table(heads, effects, right=(1, 2), ink=ink) if effects else "No figure changes.\n")
    if report.caution:
        parts.append("\n".join(wrapped(plain(report.caution), ink.measure)) + "\n")
    for label, findings in _labeled(report):
        for one in _ranked(findings):
            line = f"{label} {one.severity}[{one.rule}] {located(one.span)}: {plain(one.message)}"
            parts.append("\n".join(wrapped(line, ink.measure, then="  ")) + "\n")
    return "\n".join(parts)


def markdown(report: DiffReport) -> str:
    """The difference as Markdown tables."""
    parts = [f"**clusterspec diff**: `{titled(report.old.name)}` to `{titled(report.new.name)}`".replace("``", "`")]
    rows = [(f"`{plain(dotted(one.path))}`", value(one.old), value(one.new)) for one in report.changes]
    parts.append(table(("key", "old", "new"), rows) if rows else "No key differs.")
    effects = [(one.name, figure(one, one.old), figure(one, one.new), change(one)) for one in report.effects]
    parts.append(table(("effect", "old", "new", "change"), effects) if effects else "No figure changes.")
    if report.caution:
        parts.append(plain(report.caution))
    found = [(label, *finding(one)) for label, many in _labeled(report) for one in _ranked(many)]
    if found:
        parts.append(table(("", "severity", "rule", "what"), found))
    return "\n\n".join(parts) + "\n"


def _labeled(report: DiffReport) -> tuple[tuple[str, Sequence[Finding]], ...]:
    """The findings that differ, by what happened to them."""
    return ("new", report.found), ("fixed", report.fixed), ("no longer checked", report.unchecked)


def _ranked(findings: Sequence[Finding]) -> list[Finding]:
    """The most severe first."""
    return sorted(findings, key=lambda one: one.severity.rank)


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *(tuple(cell(text_) for text_ in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def finding(one: Finding) -> tuple[str, str, str]:
    return str(one.severity), one.rule, one.message


def value(given: Any) -> str:
    """A value of the spec on one line, shortened."""
    if given is None:
        return "absent"
    shown = plain(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def figure(effect: Effect, number: float | None) -> str:
    """A figure with its unit."""
    if number is None:
        return "not known"
    if effect.unit in {"B", "B/s", "s"}:
        return display(number, effect.unit)
    if effect.unit == SHARE:
        return percent(number)
    if effect.name == PRICE:
        return f"{number:,.0f} {effect.unit}".rstrip()
    return f"{number:,.4g}" if abs(number) < 10_000 else f"{number:,.0f}"


def change(effect: Effect) -> str:
    """The relative change of a figure, and whether it is significant."""
    if effect.old is None or effect.new is None:
        return ""
    by = (
        f"{'+' if effect.new > effect.old else '−'}{percent(abs(effect.new / effect.old - 1), 2)}"
        if effect.old > 0
        else ""
    )
    return f"{by} (within the uncertainty of the model)".strip() if effect.within_band else by
