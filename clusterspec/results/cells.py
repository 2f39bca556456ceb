"""Escaping of spreadsheet and CSV cells that would be executed as formulas."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings that spreadsheets take for a formula. Source: OWASP, CSV injection."""


def safe(cell: object) -> object:
    """A cell, with an apostrophe before text that starts like a formula.

    >>> safe("=1+1"), safe("node"), safe(-5), safe("-5 V")
    ("'=1+1", 'node', -5, "'-5 V")
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
