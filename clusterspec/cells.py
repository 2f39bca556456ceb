"""Cells of tables that spreadsheets open: text that would be executed as a formula is escaped."""

from __future__ import annotations

from clusterspec.standard import pattern

_CONTROLS = pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NUMBER = pattern(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Beginnings that spreadsheets take for a formula, the last four where the locale is Japanese. Blanks before them do
not help. Source: OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection (2026-11-25).
"""


def escaped_cell(cell: object) -> object:
    """A cell, with an apostrophe before text that starts like a formula, and without control characters.

    A number stays as it is, also one that is written as text. A carriage return becomes a line feed: Python's CSV
    writer quotes only the signs that end its lines (CPython 3.11, Modules/_csv.c, ``join_append_data``), and text after
    a bare return would be a separate row.

    >>> [escaped_cell(cell) for cell in ("=1+1", "node", -5, "-5 V", "-5.2", " @A1")]
    ["'=1+1", 'node', -5, "'-5 V", '-5.2', "' @A1"]
    """
    if not isinstance(cell, str):
        return cell
    text = _CONTROLS.sub("\ufffd", cell.replace("\r\n", "\n").replace("\r", "\n"))
    begins = text.lstrip(" \xa0\u3000").startswith(FORMULA)
    return f"'{text}" if begins and not _NUMBER.fullmatch(text) else text
