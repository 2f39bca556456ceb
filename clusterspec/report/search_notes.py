"""Sentences about the results of a search, of layouts and of serving plans: findings, refusals, and comparisons."""

from __future__ import annotations

from clusterspec.report.ink import Ink, wrapped_lines
from clusterspec.results.search import Comparison, LayoutRow, SearchReport
from clusterspec.units import display, plural

PARTS = 4
"""Parts of a step that a comparison names."""


def paragraph(text: str, ink: Ink) -> str:
    """A wrapped paragraph; empty for an empty text."""
    return "\n".join(wrapped_lines(text, ink.measure)) + "\n" if text else ""


def memory_text(row: LayoutRow) -> str:
    """The memory of a layout. ``x`` marks a layout that does not fit, ``?`` one whose upper estimate does not fit."""
    if row.memory is None:
        return "?"
    mark = " x" if row.fits is False else " ?" if row.surely_fits is False else ""
    return display(row.memory, "B") + mark


def memory_note(rows: tuple[LayoutRow, ...]) -> str:
    """What the marks of memory mean, where there are any."""
    marks = {memory_text(row)[-2:] for row in rows}
    unsure = "? may not fit: the upper end of the memory range is above the memory." if " ?" in marks else ""
    return " ".join(each for each in (unsure, "x does not fit in memory." if " x" in marks else "") if each)


def refusing_rules_text(report: SearchReport, noun: str) -> str:
    """The rules that excluded results; empty if no rule did."""
    if not report.refused_by:
        return ""
    rules = ", ".join(f"{rule} ({count})" for rule, count in sorted(report.refused_by.items(), key=lambda one: -one[1]))
    return f"{plural(report.refused, noun)} dropped for an error: {rules}."


def findings_text(rows: tuple[LayoutRow, ...], noun: str) -> str:
    """The findings of the first row, then the additional findings of other rows."""
    own = rows[0].findings
    lines = [f"`check` reports with {noun} 1: {', '.join(own)}."] if own else []
    more: dict[str, list[int]] = {}
    for number, row in enumerate(rows, 1):
        for rule in row.findings:
            if rule not in own:
                more.setdefault(rule, []).append(number)
    other = "With {} {} also {}." if own else "`check` reports with {} {}: {}."
    lines += [other.format(noun, _number_ranges(numbers), rule) for rule, numbers in more.items()]
    return "\n".join(lines)


def _number_ranges(numbers: list[int]) -> str:
    """Some numbers, with runs as ranges.

    >>> _number_ranges([2, 3, 4, 7])
    '2–4, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def comparison_text(found: Comparison, noun: str, time: str) -> str:
    """Why the best result is faster, or what makes it slower, as a sentence."""
    other = f"{noun} 2" if found.other == "next" else f"the {noun} of the spec"
    sense = "shorter" if found.seconds < 0 else "longer"
    parts = [f"{label} {_signed_text(seconds, 's')}" for label, seconds in found.parts[:PARTS]]
    rest = sum(seconds for _, seconds in found.parts[PARTS:])
    parts += [f"all others {_signed_text(rest, 's')}"] if rest else []
    step = f"{time} {display(abs(found.seconds), 's')} {sense}" if found.seconds else f"{time} the same"
    return (
        f"{noun.capitalize()} 1 against {other}: {step} ({', '.join(parts)}), memory {_signed_text(found.memory, 'B')}."
    )


def _signed_text(value: float, unit: str) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{display(abs(value), unit)}"
