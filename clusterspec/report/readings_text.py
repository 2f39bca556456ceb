"""The interpretations of a quantity as text."""

from __future__ import annotations

from itertools import groupby

from clusterspec.report.grid import grid
from clusterspec.report.ink import PLAIN, Ink, plain
from clusterspec.units import Reading, Readings


def text(readings: Readings, ink: Ink = PLAIN) -> str:
    """The interpretations, grouped by assumption if the text is ambiguous."""
    parts = [f"{ink.paint('bold', plain(readings.written))}: {readings.meaning}\n"]
    if readings.ambiguous:
        parts.append(ink.paint("yellow", "The text is ambiguous:") + "\n")
    for assuming, rows in groupby(readings.rows, key=lambda row: row.assuming):
        parts.append("\n" + (f"  if {assuming}\n" if assuming else "") + block(tuple(rows)))
    return "".join(parts)


def block(rows: tuple[Reading, ...]) -> str:
    """One line per convention, with units side by side."""
    lines = {label: [row.text for row in same] for label, same in groupby(rows, key=lambda row: row.label)}
    wide = max(map(len, lines.values()))
    cells = [(f"    {label}", *texts, *[""] * (wide - len(texts))) for label, texts in lines.items()]
    heads, *rest = cells
    return grid(heads, rest, right=range(1, wide + 1))
