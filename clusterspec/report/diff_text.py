"""Text and Markdown of the differences between two specs: findings, changed figures, and prices."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from clusterspec.finding import Finding
from clusterspec.report import (
    PLAIN,
    TextStyle,
    location_text,
    paragraph,
    plain_line,
    text_table,
    title_text,
    wrapped_lines,
)
from clusterspec.report.findings_machines import markdown_cell
from clusterspec.results.decision import PRICE, SHARE, DiffReport, Effect
from clusterspec.source import dotted_path
from clusterspec.units import display, percent, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 60
"""Largest number of characters of a value that are shown."""
BETTER_LESS = (
    "step time",
    "time ",
    "rollout",
    "weight sync",
    "update of",
    "memory of",
    "checkpoint",
    "model, time",
    "power",
    "energy",
    "oversubscription",
    PRICE,
)
BETTER_MORE = ("tokens", "output tokens", "MFU", "goodput", "memory headroom", "concurrency", "bisection", "scale-")
"""Prefixes of the names of effects for which more, or less, is better."""
MANIFOLD = 10.0
"""Smallest factor at which a change is stated as a factor, by judgment: percentages beyond 900 are hard to read."""


def diff_as_text(report: DiffReport, style: TextStyle = PLAIN) -> str:
    """The changed keys, their effects, and new and fixed findings."""
    parts = [f"{title_text(report.old.name)} -> {title_text(report.new.name)}\n"]
    rows = [
        (title_text(dotted_path(one.path)), shown_value(one.old, one.new), shown_value(one.new, one.old))
        for one in report.changes
    ]
    parts.append(text_table(("key", "old", "new"), rows, wrap=(1, 2), style=style) if rows else "No key differs.\n")
    effects = [
        (effect_label(one), effect_figure(one, one.old), effect_figure(one, one.new), _colored_change_text(one, style))
        for one in report.effects
    ]
    unsure = any(one.within_band for one in report.effects)
    heads = ("effect", "old", "new", "change")
    parts.append(
        text_table(heads, effects, right=(1, 2), wrap=(0, 3), style=style) if effects else "No figure changes.\n"
    )
    if unsure:
        parts[-1] += paragraph(f"{UNSURE} within the uncertainty of the model", style)
    if report.caution:
        parts.append(paragraph(plain_line(report.caution), style))
    for label, findings in _labeled_findings(report):
        parts += labeled_lines(label, findings, style)
    return "\n".join(parts)


def labeled_lines(label: str, findings: Sequence[Finding], style: TextStyle = PLAIN) -> list[str]:
    """A paragraph for each finding that differs, the most severe first."""
    lines = []
    for one in _ranked_findings(findings):
        what = f"{label} {one.severity}[{one.rule}]"
        text = f"{what} {location_text(one.span)}: {plain_line(one.message)}"
        shown = "\n".join(wrapped_lines(text, style.measure, then="  ")) + "\n"
        colored = style.painter("green") if label == "fixed" else partial(style.severity, one.severity)
        lines.append(shown.replace(what, colored(what), 1) if shown.startswith(what) else shown)
    return lines


def diff_as_markdown(report: DiffReport) -> str:
    """The difference as Markdown tables."""
    parts = [
        f"**clusterspec diff**: `{title_text(report.old.name)}` to `{title_text(report.new.name)}`".replace("``", "`")
    ]
    rows = [
        (f"`{plain_line(dotted_path(one.path))}`", shown_value(one.old, one.new), shown_value(one.new, one.old))
        for one in report.changes
    ]
    parts.append(markdown_table(("key", "old", "new"), rows) if rows else "No key differs.")
    effects = [
        (effect_label(one), effect_figure(one, one.old), effect_figure(one, one.new), relative_change_text(one))
        for one in report.effects
    ]
    parts.append(markdown_table(("effect", "old", "new", "change"), effects) if effects else "No figure changes.")
    if any(one.within_band for one in report.effects):
        parts.append(f"{UNSURE} within the uncertainty of the model")
    if report.caution:
        parts.append(plain_line(report.caution))
    found = [
        (label, *finding_cells(one)) for label, many in _labeled_findings(report) for one in _ranked_findings(many)
    ]
    if found:
        parts.append(markdown_table(("", "severity", "rule", "what"), found))
    return "\n\n".join(parts) + "\n"


def _labeled_findings(report: DiffReport) -> tuple[tuple[str, Sequence[Finding]], ...]:
    """The findings that differ, labeled as new, fixed or no longer checked."""
    return ("new", report.found), ("fixed", report.fixed), ("no longer checked", report.unchecked)


def _ranked_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The most severe first."""
    return sorted(findings, key=lambda one: one.severity.rank)


def markdown_table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *(tuple(markdown_cell(text_) for text_ in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def finding_cells(finding: Finding) -> tuple[str, str, str]:
    return str(finding.severity), finding.rule, finding.message


def shown_value(written: Any, other: Any = None) -> str:
    """A value of the spec on one line, shortened. A list of mappings is shown by its first entry that ``other`` does
    not have.

    >>> shown_value([{"part": "node", "quantity": 2}], [{"part": "node", "quantity": 3}])
    '1 entry, the first: part node, quantity 2'
    """
    if written is None:
        return "absent"
    if isinstance(written, list) and written and all(isinstance(entry, dict) for entry in written):
        others = other if isinstance(other, list) else []
        at = next((at for at, entry in enumerate(written) if entry not in others), 0)
        words = ", ".join(f"{key} {value}" for key, value in written[at].items())
        which = "the first" if at == 0 else f"number {at + 1}"
        written = f"{plural(len(written), 'entry')}, {which}: {words}"
    shown = plain_line(written if isinstance(written, str) else json.dumps(written, ensure_ascii=False))
    if len(shown) <= LONGEST:
        return shown
    whole, _, _ = shown[: LONGEST - 1].rpartition(" ")
    return f"{whole} …" if whole else shown[: LONGEST - 1] + "…"


UNSURE = "≈"
"""The mark of a change within the uncertainty of the model."""
NEARLY_ALL = 0.9
"""A share above this is printed with one more digit."""


def _colored_change_text(effect: Effect, style: TextStyle) -> str:
    """The relative change, green if it is an improvement and red if it is a deterioration. A change within the ranges
    has no color.
    """
    text = relative_change_text(effect)
    if effect.old is None or effect.new is None or effect.within_band:
        return text
    less, more = effect.name.startswith(BETTER_LESS), effect.name.startswith(BETTER_MORE)
    if not (less or more):
        return text
    return style.paint("green" if (effect.new < effect.old) == less else "red", text)


def effect_label(effect: Effect) -> str:
    """The name of an effect for display: the number of a part is named by the part in the plural.

    >>> effect_label(Effect("leaf switch count", "", 4.0, 8.0)), effect_label(Effect("nic count", "", 8.0, 16.0))
    ('leaf switches', 'NICs')
    """
    part = effect.name.removesuffix(" count")
    if part == effect.name:
        return part
    return part.replace("nic", "NIC") + ("es" if part.endswith("switch") else "s")


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
    if effect.name == "oversubscription":
        return f"{number:,.4g}:1"
    return f"{number:,.4g}" if abs(number) < 10_000 else f"{number:,.0f}"


def relative_change_text(effect: Effect) -> str:
    """The relative change of a figure, marked where it is within the uncertainty of the model."""
    if effect.old is None or effect.new is None:
        return ""
    by = _change_text(effect.old, effect.new) if effect.old > 0 else ""
    return f"{by} {UNSURE}".strip() if effect.within_band else by


def _change_text(old: float, new: float) -> str:
    """A relative change in percent; from `MANIFOLD` times the old figure on, the factor.

    >>> _change_text(100.0, 138.0), _change_text(100.0, 38.0), _change_text(124.0, 3072.0)
    ('+38 %', '−62 %', '× 24.8')
    """
    if new >= MANIFOLD * old:
        return f"× {new / old:,.3g}"
    return f"{'+' if new > old else '−'}{percent(abs(new / old - 1), 2)}"
