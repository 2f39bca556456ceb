"""Escaping of spreadsheet and CSV cells that would be executed as formulas, or that no workbook may hold."""

from __future__ import annotations

from clusterspec.patterns import pattern

_CONTROLS = pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings that spreadsheets take for a formula. Source: OWASP, CSV injection."""


def safe(cell: object) -> object:
    """A cell, with an apostrophe before text that starts like a formula, and without control characters.

    >>> safe("=1+1"), safe("node"), safe(-5), safe("-5 V")
    ("'=1+1", 'node', -5, "'-5 V")
    """
    if not isinstance(cell, str):
        return cell
    text = _CONTROLS.sub("\ufffd", cell)
    return f"'{text}" if text.startswith(FORMULA) else text
