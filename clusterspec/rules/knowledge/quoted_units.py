"""The units by which quotes sell licenses, support and services, and the years of support in their lines."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster, Design
from clusterspec.procurement.offered import Offered, is_credit, offered_lines
from clusterspec.procurement.part_names import (
    ANY_SWITCH,
    HOURS,
    LICENSED_PER_ACCELERATOR,
    kinds_of_words,
    plain_part,
)
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.standard import pattern

_UNIT = pattern(
    r"(?:\b(?:per|each|every)[ -]|/ ?|\b(?:a|by the) )"
    r"(?:(?P<accelerator>gpu|accelerator|card|chip)|(?P<node>node|server|system|host|instance)|(?P<rack>rack))\b"
)
_SUPPORT = pattern(
    r"\b(?:\w*support|care|maintenance|wartung|soporte|suporte|assistenza|asistencia|manutenzione|mantenimiento|onderhoud|"
    r"underhåll|vedligehold\w*|vedlikehold|ylläpito|huolto|tuki|serwis|wsparcie)\b|サポート|保守|维保|维护|유지보수"
)
_BY_THE_YEAR = pattern(
    r"\b(?:per|a|each|every) year\b|\b(?:yearly|annual|annually)\b|/ ?(?:year|yr)\b|\byears? (?:\d(?!\d)|one|two)|"
    r"\b(?:per år|par an|pro jahr|je jahr|por año|all'anno|canone annuo|annuale|jährlich|vuodessa|rocznie)\b|每年|毎年|연간|/年"
)
_RANGE_OF_YEARS = pattern(r"\b(?:years?|yrs?) (\d{1,2})(?: ?(?:to|-|–|until|through|and|&|\+) ?)(?:year )?(\d{1,2})\b")
_OF_EACH_PART = pattern(r"\b(?:nodes?|systems?|servers?|racks?|switch(?:es)?|gpus?|accelerators?|licen[cs]es?)\b")
"""Words of a line whose quantity may be that of parts, not of years."""
_DURATION = pattern(
    r"(?<![\w.,])(\d{1,2})(?:[.,]0)?[ -]?(?:(years?|yrs?|y|jahre?n?|ans?|années|años?|anni|anno|år|vuotta|lat|lata|jaar|年|년)|"
    r"(months?|mo|monate?n?|mois|mes(?:es)?|mesi|mån(?:ader)?|måneder|mdr|kk|kuukautta|miesięcy|maanden|个月|か月|ヶ月|개월))"
    r"(?![a-zäöåéñ])"
)
"""A number of years, or of months, in the languages of suppliers."""
_STORE = pattern(r"\b(?:storage|file ?system|flash|store|appliance)\b")


def units_of(design: Design, cluster: Cluster) -> dict[str, set[int]]:
    """The number of units of each name in the design: without its spare nodes, and with them; and for the nodes that
    its quote offers, which may extend those in place.
    """
    procurement = design.spec.procurement
    lines = offered_lines(procurement.quote or (), cluster) if procurement is not None else ()
    offered = round(offered_quantity([line for line in lines if line.kind == "node"]))
    nodes = {cluster.nodes, cluster.all_nodes} | ({offered} if 0 < offered < cluster.nodes else set())
    power = design.spec.cluster.power if design.spec.cluster is not None else None
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power is not None else None)
    return {
        "accelerator": {count * cluster.accelerators_per_node for count in nodes},
        "node": nodes,
        "rack": {parts_needed(count, per_rack) for count in nodes} if per_rack else {0},
    }


def unit_of_line(offered: Offered) -> str:
    """The unit by which a line is sold: accelerator, node or rack; empty if its text does not say, or for parts of
    the bill, hours and credits.

    >>> from clusterspec.spec.model import QuoteLine
    >>> [unit_of_line(Offered(0, "other", QuoteLine(part=part))) for part in ("Support per node", "NVAIE, 3 years", "Freight")]
    ['node', 'accelerator', '']
    """
    text = plain_part(offered.line)
    if offered.kind != "other" or is_credit(offered.line) or HOURS.search(text) is not None:
        return ""
    if (found := _UNIT.search(text)) is not None and found.lastgroup is not None:
        return found.lastgroup
    return "accelerator" if LICENSED_PER_ACCELERATOR.search(text) is not None else ""


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
    named = [int(number) * (1.0 if years else 1 / 12) for number, years, _ in _DURATION.findall(text)]
    longest = max(named, default=None)
    if _BY_THE_YEAR.search(text) is None:
        return longest
    if line.line.quantity is None or _OF_EACH_PART.search(text) is not None:
        return None
    return max(longest or 0.0, line.line.quantity)
