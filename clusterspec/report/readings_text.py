"""A quantity in every unit and direction, for a terminal."""

from __future__ import annotations

from itertools import groupby

from clusterspec.report.grid import grid
from clusterspec.report.ink import PLAIN, Ink, plain
from clusterspec.units import Readings


def text(found: Readings, ink: Ink = PLAIN) -> str:
    """The readings, set apart by what each assumes where the text leaves something open."""
    parts = [f"{ink.paint('bold', plain(found.written))}: {found.meaning}\n"]
    if found.ambiguous:
        parts.append(ink.paint("yellow", "It can be read in more than one way:") + "\n")
    for assuming, rows in groupby(found.rows, key=lambda row: row.assuming):
        head = f"if {assuming}" if assuming else ""
        cells = [(f"  {row.label}", row.text) for row in rows]
        parts.append("\n" + grid((f"  {head}".rstrip() or "  counting", ""), cells, right=(1,), ink=ink))
    return "".join(parts)
