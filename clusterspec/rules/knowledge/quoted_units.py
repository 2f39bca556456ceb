"""The units by which quotes sell licenses, support and services; parts that a text says come from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster, Design
from clusterspec.procurement.offered import Offered, is_credit, offered_lines
from clusterspec.procurement.part_names import HOURS, LICENSED_PER_ACCELERATOR, SWITCHES, plain_part
from clusterspec.source import Path
from clusterspec.spec.model import QuoteLine
from clusterspec.standard import pattern

_UNIT = pattern(
    r"(?:\b(?:per|each|every)[ -]|/ ?|\b(?:a|by the) )"
    r"(?:(?P<accelerator>gpu|accelerator|card|chip)|(?P<node>node|server|system|host|instance)|(?P<rack>rack))\b"
)


def units_of(design: Design, cluster: Cluster) -> dict[str, set[int]]:
    """The number of units of each name in the design: without its spare nodes, and with them; and for the nodes that
    its quote offers, which may extend those in place.
    """
    procurement = design.spec.procurement
    lines = offered_lines(procurement.quote or (), cluster) if procurement is not None else ()
    offered = round(sum(line.quantity or 0 for line in lines if line.kind == "node"))
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


_EXPANSION = pattern(
    r"(?i)\b(?:expan(?:d|ds|ded|sion)|exten(?:d|ds|ded|sion)|enlarge[sd]?|adds?|addition(?:al)?|grows?|in place|installed|"
    r"existing|already|on top of|phase (?:1|i|one)|first phase)\b"
)


def is_expansion(in_place: int, remarks: str) -> bool:
    """Whether a text says that a number of nodes is there already, so that a quote offers the others alone.

    >>> is_expansion(31, "31 DGX B200 are in place; the order adds 31 more"), is_expansion(31, "31 nodes and 2 spares")
    (True, False)
    """
    named = pattern(rf"(?<![\d.,]){in_place}(?!\d|[.,]\d)")
    return _EXPANSION.search(remarks) is not None and named.search(remarks) is not None


_FORMER_OWNER = pattern(r"\b(?:refurbished|second[- ]hand|used|pre-owned|recertified|ex-lease|remarketed)\b")


def had_an_owner(*texts: str) -> bool:
    """Whether one of some texts says that machines belonged to somebody else before."""
    return any(_FORMER_OWNER.search(text.lower()) is not None for text in texts)


_COLOCATION = pattern(r"\b(?:colo(?:cation)?|co-location|housing|hosting|contracted|it[- ]load)\b")
_KILOWATTS = pattern(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?) ?(kw|mw)\b")
_OF_A_RACK = pattern(r"\bracks?,? (?:of |at |with |up to )?\d|\b(?:per|each|/) ?racks?\b")


def contracted_power(lines: Sequence[QuoteLine]) -> list[tuple[Path, float]]:
    """The key and the watts of each line of a quote that contracts one number of kilowatts for the whole machine.

    >>> from clusterspec.spec.model import QuoteLine
    >>> [contracted_power([QuoteLine(part=part)]) for part in ("Colocation, 400 kW, per kW", "Colo rack 17 kW, per rack")]
    [[(('procurement', 'quote', 0, 'part'), 400000.0)], []]
    """
    found: list[tuple[Path, float]] = []
    for index, line in enumerate(lines):
        text = plain_part(line)
        watts = {float(number.replace(",", "")) * _WATTS[unit] for number, unit in _KILOWATTS.findall(text)}
        whole = _COLOCATION.search(text) is not None and _OF_A_RACK.search(text) is None
        if whole and len(watts) == 1 and not is_credit(line):
            found.append((("procurement", "quote", index, "part"), watts.pop()))
    return found


_WATTS = {"kw": 1e3, "mw": 1e6}
_SENTENCE_END = pattern(r"[.;#\n]\s*")
_ELSEWHERE = pattern(
    r"(?i)\b(?:re-?us(?:e|ed|es|ing)|used again|stays?|remains?|kept|exist(?:s|ing)?|already|in place|separate(?:ly)?"
    r"|(?:is|are) there|elsewhere|(?:from|on|in) (?:stock|store)|"
    r"(?:not|nor) (?:a )?(?:part of|in|on|included in|covered by) (?:this|the|our)"
    r"|contracts? of (?:its|their) own|(?:other|another|second|own|in the|from|in|under|by|with|see) (?:[\w'’-]+ ){0,3}?(?:contract|contractor|order|lot|quote|tender|agreement"
    r"|reseller|landlord|hall|building|purchase)s?|(?:supplied|provided|delivered|owned|bought|done|laid|ordered) (?:by|with))\b"
)
"""Words by which a text says that a part is there, or is bought with something else."""
_SWITCH_NAMES = pattern(r"(?i)\b(?:switch(?:es)?|fabrics?|networks?)\b")
_NAMES_OF = {
    "cable": pattern(r"(?i)\b(?:cables?|cabling|fib(?:er|re)s?)\b"),
    "transceiver": pattern(
        r"(?i)\b(?:optics|transceivers?|modules|structured cabling|(?:fib(?:er|re)|cabl(?:e|ing)) plant)\b"
    ),
    "nic": pattern(r"(?i)\b(?:nics?|adapters?|network cards)\b"),
    "switch": _SWITCH_NAMES,
    **dict.fromkeys(SWITCHES, _SWITCH_NAMES),
}
"""The words that name a kind of part in a text."""


def are_elsewhere(missing: Mapping[str, int], remarks: str) -> bool:
    """Whether the description or a comment says of each missing kind that it exists, or comes from elsewhere.

    >>> are_elsewhere({"cable": 1, "transceiver": 1}, "Fiber and modules are in the contract of the hall")
    True
    >>> are_elsewhere({"transceiver": 1}, "Modules come from the framework contract of the site, not this quote")
    True
    >>> are_elsewhere({"cable": 1, "transceiver": 1}, "the fiber plant runs under a contract of its own")
    True
    >>> are_elsewhere({"cable": 1, "spine_switch": 1}, "fiber stays from the old pod")
    False
    >>> are_elsewhere({"cable": 1}, "800 cables of 30 m, with a spare in each rack")
    False
    """
    sentences = [each for each in _SENTENCE_END.split(remarks) if _ELSEWHERE.search(each) is not None]
    return all(any(_NAMES_OF[kind].search(each) is not None for each in sentences) for kind in missing)
