"""Due dates of announcements, from the note of a status."""

from __future__ import annotations

import re
from datetime import date

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_QUARTER = re.compile(r"(first|second|third|fourth) quarter(?: of (\d{4}))?")
_HALF = re.compile(r"(first|second) half of (\d{4})")
_YEAR = re.compile(r"(?:expected in|roadmap,?|for|in) (\d{4})")


def due(note: str, year: int | None) -> date | None:
    """The last day of the period (quarter, half, year) that a note names, else of ``year``; None without either."""
    if quarter := _QUARTER.search(note):
        named = int(quarter[2]) if quarter[2] else year
        return _last_day(named, 3 * _ORDINALS[quarter[1]]) if named else None
    if half := _HALF.search(note):
        return _last_day(int(half[2]), 6 * _ORDINALS[half[1]])
    if plain := _YEAR.search(note):
        return _last_day(int(plain[1]), 12)
    return _last_day(year, 12) if year else None


def _last_day(year: int, month: int) -> date:
    return date(year, month, 30 if month in {6, 9} else 31)
