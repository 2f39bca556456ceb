"""Cells of spreadsheets and CSV files: text that a spreadsheet would run is kept from running."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings that spreadsheets take for a formula. Source: OWASP, CSV injection."""


def safe(cell: object) -> object:
    """A cell as it may be written; text that begins like a formula gets an apostrophe before it.

    >>> safe("=1+1"), safe("node"), safe(-5), safe("-5 V")
    ("'=1+1", 'node', -5, "'-5 V")
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
