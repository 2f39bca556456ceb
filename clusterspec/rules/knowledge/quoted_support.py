"""Lines of a quote for support: those of the nodes or of all parts, and their years."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import ANY_SWITCH, kinds_of_words
from clusterspec.standard import pattern

_SUPPORT = pattern(r"\b(?:\w*support|care|maintenance|wartung|soporte|suporte|assistenza|asistencia)\b|サポート|保守")
_BY_THE_YEAR = pattern(
    r"\b(?:per|a|each|every) year\b|\b(?:yearly|annual|annually)\b|/ ?(?:year|yr)\b|\byears? (?:\d(?!\d)|one|two)"
)
_RANGE_OF_YEARS = pattern(r"\b(?:years?|yrs?) (\d{1,2})(?: ?(?:to|-|–|until|through|and|&|\+) ?)(?:year )?(\d{1,2})\b")
_OF_EACH_PART = pattern(r"\b(?:nodes?|systems?|servers?|racks?|switch(?:es)?|gpus?|accelerators?|licen[cs]es?)\b")
"""Words of a line whose quantity may be that of parts, not of years."""
_DURATION = pattern(r"(?<![\w.,])(\d{1,2})(?:[.,]0)?[ -]?(years?|yrs?|y|months?|mo)\b")
_YEARS = {"y": 1.0, "m": 1 / 12}
_STORE = pattern(r"\b(?:storage|file ?system|flash|store|appliance)\b")


def sells_support(text: str) -> bool:
    """Whether a text in lower case names support or maintenance."""
    return _SUPPORT.search(text) is not None


def support_lines(lines: Sequence[tuple[Offered, str]]) -> list[tuple[Offered, str]]:
    """The lines for support with their texts; those of switches and stores cover no node, and are left where others
    name nodes.
    """
    sold = [(line, text) for line, text in lines if line.kind == "other" and sells_support(text)]
    if any("node" in kinds_of_words(text) for _, text in sold):
        sold = [(line, text) for line, text in sold if not _is_of_other_part(text)]
    return sold


def years_supported(sold: Sequence[tuple[Offered, str]]) -> float | None:
    """Years that lines for support cover together: several periods add up, and where all begin later than the first
    year, those before are under warranty. None if a line does not say its time.
    """
    periods = [years_of_support(line, text) for line, text in sold]
    known = [each for each in periods if each is not None]
    if not known or len(known) < len(periods):
        return None
    starts = [int(found[1]) for _, text in sold if (found := _RANGE_OF_YEARS.search(text)) is not None]
    return sum(known) + (min(starts) - 1.0 if len(starts) == len(known) else 0.0)


def _is_of_other_part(text: str) -> bool:
    """Whether a line on support names switches or a store, and no nodes."""
    kinds = {*kinds_of_words(text)}
    return "node" not in kinds and (not ANY_SWITCH.isdisjoint(kinds) or _STORE.search(text) is not None)


def years_of_support(line: Offered, text: str) -> float | None:
    """Years of support that a line sells: a range (years 1 to 3), a price of each year as often as its quantity, or the
    longest duration of its text; None if unknown.
    """
    ranged = _RANGE_OF_YEARS.search(text)
    if ranged is not None:
        return int(ranged[2]) - int(ranged[1]) + 1
    longest = max((int(number) * _YEARS[unit[0]] for number, unit in _DURATION.findall(text)), default=None)
    if _BY_THE_YEAR.search(text) is None:
        return longest
    if line.line.quantity is None or _OF_EACH_PART.search(text) is not None:
        return None
    return max(longest or 0.0, line.line.quantity)
