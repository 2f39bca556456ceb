"""The lines of a quote, and the kind of part that each offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.procurement.amounts import is_credit, line_price
from clusterspec.procurement.part_names import (
    ANY_SWITCH,
    CABLING,
    CAPACITY,
    HOURS,
    SERVICES,
    WHOLE_NETWORK,
    kind_of_part,
    kinds_of_words,
    names_accelerator,
    names_option,
    names_period,
    parsed_description,
    pieces_of_pack,
    plain_part,
)
from clusterspec.records import dataclass
from clusterspec.spec.model import QuoteLine
from clusterspec.standard import pattern, recent

SEVERAL_NICS = 4
"""Minimum NICs of a node from which cables in the number of all fabric NICs count as cables of the fabric."""
FAR_BELOW = 0.5
"""Fraction of a node's price below which another line labeled as a node is not a node of the machine."""
_BUNDLE = pattern(r"\b(?:shuffles?|trunks?|harness(?:es)?|octopus|fan-?outs?)\b")
"""Cables that carry several links."""
_PIECE_OF_LINK = pattern(r"\b(?:two|2) (?:a|per|for each) (?:link|trunk|channel)\b")
_COMPLETE = pattern(r"\b(?:dac|aoc|aec|acc|lacc|connector|direct[- ]attach|active optical|copper)s?\b")
_WITHOUT = pattern(r"\b(?:without|no|not|excl|excluding)\b.*|\b(?:for|to)\b.*")
_FABRIC = pattern(r"\b(?:networks?|networking|fabrics?|infiniband|ethernet|interconnects?|turnkey|solution|cluster)\b")
_NETWORK_OF_LEASE = pattern(r"\b(?:networks?|r[eé]seaux?|netzwerke?|red(?:es)?|fabric|switch(?:es)?|optics|cabling)\b")
_NODE_OF_LEASE = pattern(r"\b(?:leas(?:e|es|ing)|rental|rent) (?:[\w-]{1,16} ){0,4}?(?:servers?|nodes?|machines?)\b")
_OF_LEVEL = pattern(r"\b(?:leaf|leaves|spines?|nics?|rails?)\b")
_WITH_ENDS = pattern(
    r"\b(?:with|incl|including|mit|avec|con|com|med|met) (?:the )?(?:both|beiden|les deux|ambos|entrambi|begge|beide) "
    r"(?:ends?|modules?|enden|extrémités|extremos)\b"
)
"""Words of a cable that is sold with its modules."""
_SIDE = pattern(r"\b(?:front-?end|storage|out-of-band|oob|management|support|service|installation|software)\b")
_BOTH_TIERS = pattern(r"\b(?:leaf|leaves)\b.{0,40}\bspines?\b|\bspines?\b.{0,40}\b(?:leaf|leaves)\b")
"""Words of a line for the fabric, which may name other networks too."""
_KIT = pattern(r"\b(?:kits?|sets?|bundles?|packages?|complete|turn-?key)\b")
_NETWORK = pattern(r"\b(?:fabrics?|networks?|infiniband|interconnects?)\b")
_INSTALLATION = pattern(r"\binstallation\b")
"""A word of a service, and of a kit of the parts that are installed."""
_ETHERNET = pattern(r"\b(?:ethernet|spectrum|sn\d{4}[a-z]*|base-?t|qsfp-?dd|\d{1,3} ?(?:gb?e|gbase))\b")
_INFINIBAND = pattern(r"\b(?:infiniband|ib|[hnx]dr)\b")
_RATE = pattern(r"(?<![\d.])(\d{2,4}) ?(?:g|gb/s|gbps|gbit/s|gb?e|gbase[\w-]*)(?![\w])")
"""A rate in Gb/s."""
_SPLIT = pattern(r"\b(?:to|into)\b|\bsplitters?\b|\bbreak-?outs?\b|->|→")
"""Words of a cable whose ends have different rates."""
_WAYS = pattern(r"(?:\b(?:to|into|auf|in|a|en|vers|naar|till|na|em|su)|->|→) ?([248]) ?[x×] ?(?:\d{2,3} ?g|q?sfp|osfp)")
"""The ends of a divided cable on one side, in the languages of suppliers: `to 2x 200G`."""
_NOT_ETHERNET = frozenset({"infiniband", "omni-path", "slingshot"})
_LOT = pattern(r"\b(?:lot|lump|package|bundle|kit|set)\b")
_NUMBER_OF_HOURS = pattern(
    r"(?<![0-9a-z.,])(?:([1-9][0-9]{0,3}(?:,?[0-9]{3})?)[ -](?:node[ -])?(?:hours|hrs)\b(?! ?[x×*])|"
    r"([1-9][0-9]{0,2},?[0-9]{3}) ?h\b)"
)
"""A number of hours; with the sign `h` it has four digits or more, as no time of a service has."""
_UNIT_OF_HOURS = pattern(r"\bhours\b|\b\w+-hour\b")
_SPARE = pattern(
    r"(?<![\d%] )(?<!with )(?<!and )(?<!incl )(?<!incl\. )\bspares?\b"
    r"(?![^,;]{0,12}(?:を含|含む|included|inbegriffen|포함))"
)
_NODES = pattern(
    r"(?<![\w.-])(\d{1,4}) ?(?:[x×] ?)?(?:(?:nvidia|amd|supermicro|dell|hpe|lenovo|asus|gigabyte|poweredge|proliant|"
    r"thinksystem|cray) ){0,3}(?:(?:servers?|nodes?|systems?|trays?|dgx|hgx)\b|(?:sys|as|ars|esc|xe|xd|sr)-?\d{3,4})"
)
"""A number of nodes in a text: it stands before the word for nodes or the order code of a server, possibly with names
of makers in between.
"""
_RACK = pattern(r"\bnvl ?(?:36|72|144|576)\b|\brack[- ]scale\b|\bhelios\b")
_SITE = {
    "storage": pattern(
        r"\b(?:storage|object store|filer|nas|lustre|weka\w*|ceph|gpfs|beegfs|file ?systems?|file servers?|ai400\w*|"
        r"es400\w*|clusterstor|exascaler|vast|netapp|flashblade|powerscale|oceanstor|dss-g|minio|jbod|speicher|stockage|almacenamiento)\b|"
        + CAPACITY
    ),
    "rack": pattern(
        r"\b(?:\w*racks?|cabinets?|netshelter|\w*schrank|armoire|baie|armadio)\b|"
        r"\b\d\d ?u enclosure\b|\b\d\d ?(?:u|he) \d{3,4} ?x ?\d{3,4}"
    ),
}
"""Words for the storage system and for racks of the bill."""
_NETWORK_LABEL = pattern(r"[\w/&+ -]{3,30}:(?=.*\b(?:\w*switch|\w*kabel|cables?|dac|aoc|nic)\b)")
"""The name of a network before a colon, such as `Frontend/Storage:` of a switch."""
_STORAGE_MACHINE = pattern(r"(?<=\bstorage )(?:systems?|servers?|nodes?|chassis)\b|(?<=\bfile )servers?\b")
_SERVICE = pattern(
    rf"\b(?:{'|'.join(SERVICES.split())}|spares?|rent|month|monthly|annual|yearly|years?|maintenance|network|stack|weeks?|warehouse|integration|pdus?|rails?|cdus?|colo(?:cation)?|housing|hosting|busbars?|busways?|manifolds?|exchangers?|containment|doors?)\b"
)
"""Words for services, and words that name a part elsewhere: a line with `storage` or `rack` and such a word offers
neither.
"""


@dataclass(frozen=True)
class Offered:
    """A line of a quote: its index, the kind of its part, and how many units of the bill one unit of the line has."""

    index: int
    kind: str
    line: QuoteLine
    units: int = 1

    @property
    def quantity(self) -> float | None:
        """Parts of the bill that the line offers; None where its quantity counts something else, such as months."""
        return None if self.line.quantity is None or self.is_periodic else self.line.quantity * self.units

    @property
    def unit_price(self) -> float | None:
        """The price of one part of the bill; None without one, and for the price of a month."""
        stated = self.line.unit_price
        return None if stated is None or self.is_periodic else stated / self.units

    @property
    def is_periodic(self) -> bool:
        """Whether the line offers the use of a part for a time: its price is for a month or another period."""
        return self.kind != "other" and self.counts_periods

    @property
    def counts_periods(self) -> bool:
        """Whether the quantity of the line counts months or years, or parts multiplied by months."""
        return names_period(plain_part(self.line))

    @property
    def is_spare(self) -> bool:
        """Whether the line offers parts of the network, or accelerators, as spares, which the bill does not count."""
        return self.kind in {*WHOLE_NETWORK, "accelerator"} and _SPARE.search(plain_part(self.line)) is not None

    @property
    def is_lot(self) -> bool:
        """Whether the line may offer several parts as one lot: it is called a lot, or it is one unit of cables or
        modules.
        """
        return self.line.quantity == 1 and (self.kind in CABLING or _LOT.search(plain_part(self.line)) is not None)

    @property
    def is_bundle(self) -> bool:
        """Whether the line offers cables that may carry several links each, such as trunks and shuffles."""
        return self.kind == "cable" and _BUNDLE.search(plain_part(self.line)) is not None

    @property
    def is_piece_of_link(self) -> bool:
        """Whether the line offers cables of which several are needed for one link."""
        return self.kind == "cable" and _PIECE_OF_LINK.search(plain_part(self.line)) is not None

    @property
    def ways(self) -> int:
        """The links of one cable, by the ends that its text counts: 2 for `400G to 2x 200G`; else 1."""
        found = _WAYS.search(plain_part(self.line)) if self.kind == "cable" else None
        return int(found[1]) if found is not None else 1

    def links_of_rate(self, rate: float) -> int:
        """The links of ``rate`` bytes/s per direction in one cable, by the rate in its text.

        At 400 Gb/s they are 2 for `OSFP cable 800G`; without a rate 1.
        """
        named = {int(each) for each in _RATE.findall(plain_part(self.line))} if self.kind == "cable" else set()
        times = named.pop() * 1e9 / 8 / rate if len(named) == 1 and rate else 1.0
        return round(times) if abs(times - 2) < 0.02 or abs(times - 4) < 0.02 else 1

    @property
    def has_own_units(self) -> bool:
        """Whether the quantity of the line does not count units of the bill, as for lots, bundles and pieces of
        links.
        """
        return self.is_lot or self.is_bundle or self.is_piece_of_link

    @property
    def covered_kinds(self) -> tuple[str, ...]:
        """The kinds of part that the price of the line covers. Usually this is its own kind; a network sold as one lot,
        a lot of cabling with optics, or a server described with NICs covers several.
        """
        if is_credit(self.line):
            return (self.kind,)
        text = plain_part(self.line)
        head = parsed_description(text).head
        whole = self.quantity in {None, 1} and {*kinds_of_words(head)} <= {"other", *ANY_SWITCH}
        whole = whole and not head.rstrip().endswith("switch")
        if whole and _FABRIC.search(text) and (_SIDE.search(text) is None or _BOTH_TIERS.search(text) is not None):
            return WHOLE_NETWORK
        leased = _NETWORK_OF_LEASE if self.kind == "node" else _NODE_OF_LEASE
        if self.is_periodic and leased.search(text) is not None:
            return ("node", *WHOLE_NETWORK)
        if self.is_periodic and len({*kinds_of_words(text)} & {*WHOLE_NETWORK}) > 1:
            return WHOLE_NETWORK
        if self.kind == "node" and "nic" in kinds_of_words(_WITHOUT.sub("", text)):
            return ("node", "nic")
        cabling = self.kind in CABLING or (self.kind == "other" and not {*CABLING}.isdisjoint(kinds_of_words(text)))
        whole = (whole and _is_kit_of_network(text)) or (self.kind == "cable" and _WITH_ENDS.search(text) is not None)
        return CABLING if whole or (self.is_lot and cabling) else (self.kind,)

    @property
    def described_cabling(self) -> set[str]:
        """Cables and modules that the description of another part names as its contents: `switch with transceivers`."""
        text = _WITHOUT.sub("", plain_part(self.line)) if not is_credit(self.line) else ""
        return {kind for kind in kinds_of_words(text) if kind in CABLING}

    @property
    def site_kind(self) -> str | None:
        """`storage` if the line offers the storage system, `rack` if it offers racks; else None."""
        text = _STORAGE_MACHINE.sub("", plain_part(self.line))
        named = parsed_description(text[label.end() :] if (label := _NETWORK_LABEL.match(text)) is not None else text)
        if self.kind != "other" or is_credit(self.line) or _SERVICE.search(named.head):
            return None
        pieces = (named.head, *(() if kinds_of_words(named.head) else named.appositions))
        found = {kind for piece in pieces for kind, words in _SITE.items() if words.search(piece)}
        others = {"other", "node"} if "storage" in found and not names_accelerator(named.head) else {"other"}
        names_part = {*kinds_of_words(named.head)} - others
        return found.pop() if len(found) == 1 and not names_part else None

    @property
    def is_node_rent(self) -> bool:
        """Whether the line offers hours of nodes."""
        text = plain_part(self.line)
        return HOURS.search(text) is not None and "node" in kinds_of_words(text)

    @property
    def hours(self) -> float:
        """The hours of a node that the unit of a rent is for, where the line names them; else 1."""
        text = plain_part(self.line)
        named = _NUMBER_OF_HOURS.search(text)
        if named is not None and named[2] and _UNIT_OF_HOURS.search(text) is not None:
            return 1.0  # the text explains the product of its node-hours
        return float((named[1] or named[2]).replace(",", "")) if named is not None else 1.0

    @property
    def is_complete(self) -> bool:
        """Whether a cable is sold with its ends or with transceivers, so that it needs no other transceivers."""
        text = plain_part(self.line)
        with_modules = self.kind == "cable" and "transceiver" in kinds_of_words(_WITHOUT.sub("", text))
        return with_modules or _COMPLETE.search(text) is not None


def _is_kit_of_network(text: str) -> bool:
    """Whether a text in lower case offers the parts that connect a fabric as one kit.

    >>> texts = "fabric installation kit, complete", "fabric installation", "storage network kit"
    >>> [_is_kit_of_network(text) for text in texts]
    [True, False, False]
    """
    named = _NETWORK.search(text) is not None and _KIT.search(text) is not None
    return named and _SIDE.search(_INSTALLATION.sub("", text)) is None


def offered_lines(lines: Sequence[QuoteLine], cluster: Cluster) -> Iterator[Offered]:
    """The lines of a quote, each with the kind of its part; `other` where the bill has no such kind."""
    return iter(_read_lines(cluster, tuple(lines)))


def lines_of_pools(lines: Sequence[QuoteLine], machines: Sequence[Cluster]) -> list[Offered]:
    """The lines of one quote for several machines. A line counts for the first machine for which it has a part; the
    machine with the largest scale-up domain comes first, since a rack belongs to that domain.
    """
    every = sorted(machines, key=nodes_of_domain, reverse=True)
    readings = [_read_lines(cluster, tuple(lines), alone=False) for cluster in every]
    return [next((each for each in line if each.kind != "other"), line[0]) for line in zip(*readings, strict=True)]


@recent(2)  # for all rules about a quote, and for its bill
def _read_lines(cluster: Cluster, lines: tuple[QuoteLine, ...], *, alone: bool = True) -> tuple[Offered, ...]:
    found = []
    kinds = ["other" if is_credit(line) or is_option(line) else kind_of_part(plain_part(line)) for line in lines]
    excluded: set[int] = set()
    for group in (ANY_SWITCH, {"cable"}, {"transceiver"}, {"nic"}):
        every = {index for index, kind in enumerate(kinds) if kind in group}
        others = {index for index in every if _is_of_other_network(lines[index], kinds[index], cluster)}
        excluded |= others if others < every else set()  # else the fabric would have no such part
    excluded |= _parts_of_another_network(lines, kinds, cluster)
    excluded |= _other_machines(lines, kinds, cluster) if alone else set()
    dearest = max(range(len(lines)), key=lambda index: line_price(lines[index]) or 0.0, default=0)
    for index, line in enumerate(lines):
        text = plain_part(line)
        head = parsed_description(text).head
        kind = "other" if index in excluded else kinds[index]
        rack = (
            not is_credit(line)
            and _RACK.search(head) is not None
            and _SERVICE.search(head) is None
            and HOURS.search(text) is None
            and "tray" not in head
            and {"node", *CABLING, *ANY_SWITCH}.isdisjoint(kinds_of_words(head))
        )
        by_the_node = line.quantity in {cluster.nodes, cluster.all_nodes}
        units = nodes_of_domain(cluster) if rack and not by_the_node else 1
        if kind == "node" and not by_the_node:
            units = _nodes_of_bundle(text, line.quantity, cluster) or units
        elif not rack and "node" not in kinds and index == dearest:
            units = _nodes_of_bundle(text, line.quantity, cluster)
            kind, units = ("node", units) if units else (kind, 1)
        elif kind in {*CABLING, "nic"}:
            units = pieces_of_pack(text)
        found.append(Offered(index, "node" if rack else kind, line, units))
    return tuple(found)


def _parts_of_another_network(lines: Sequence[QuoteLine], kinds: Sequence[str], cluster: Cluster) -> set[int]:
    """The indices of all network lines of a quote that has no nodes, if its switches do not fit the fabric or belong to
    another network; else empty.
    """
    switches = {index for index, kind in enumerate(kinds) if kind in ANY_SWITCH}
    tiers = {kinds[index] for index in switches}
    texts = (plain_part(line) for line, kind in zip(lines, kinds, strict=True) if kind == "other")
    elsewhere = any(
        not ANY_SWITCH.isdisjoint(kinds_of_words(parsed_description(text).head)) or _SITE["storage"].search(text)
        for text in texts
    )
    elsewhere = elsewhere and not any(_OF_LEVEL.search(plain_part(line)) for line in lines)
    if "node" in kinds or (tiers != {"switch"} and (tiers or not elsewhere)):
        return set()
    if not all(_is_of_other_network(lines[index], kinds[index], cluster) for index in switches):
        return set()
    return {index for index, kind in enumerate(kinds) if kind in WHOLE_NETWORK}


def _other_machines(lines: Sequence[QuoteLine], kinds: Sequence[str], cluster: Cluster) -> set[int]:
    """The lines of kind `node` that are not nodes of the design, such as workstations and services. This is known if
    the most expensive lines add up exactly to the design's nodes; the rest is returned if much cheaper.
    """
    sold = [index for index, kind in enumerate(kinds) if kind == "node" and lines[index].unit_price is not None]
    nodes = [index for index in sold if not names_period(plain_part(lines[index]))]
    nodes.sort(key=lambda index: lines[index].unit_price or 0.0, reverse=True)
    total = 0.0
    for place, index in enumerate(nodes):
        total += lines[index].quantity or 0.0
        cheaper = nodes[place + 1 :]
        if total in {cluster.nodes, cluster.all_nodes} and cheaper:
            below = FAR_BELOW * (lines[index].unit_price or 0.0)
            return {each for each in cheaper if (lines[each].unit_price or 0.0) < below}
    return set()


def _nodes_of_bundle(text: str, quantity: float | None, cluster: Cluster) -> int:
    """The nodes in one unit of a line that states their number, such as `64 servers` of a scalable unit; 0 unless they
    add up to the nodes of the design.
    """
    for count in map(int, _NODES.findall(text)):
        if quantity is not None and count * quantity in {cluster.nodes, cluster.all_nodes}:
            return count
    return 0


def _is_of_other_network(line: QuoteLine, kind: str, cluster: Cluster) -> bool:
    """Whether a switch, cable, module or NIC belongs to the frontend, storage or out-of-band network. It does if it
    names Ethernet and the fabric is another technology, or if its rate is below that of the fabric's NICs. Cables or
    modules whose number matches the fabric's NICs belong to the fabric.
    """
    fabric, text = cluster.scale_out, plain_part(line)
    if fabric is None:
        return False
    ethernet = _ETHERNET.search(text) is not None and _INFINIBAND.search(text) is None
    if fabric.technology.family in _NOT_ETHERNET and ethernet:
        return True
    ends = {count * fabric.nics_per_node for count in (cluster.nodes, cluster.all_nodes)}
    if kind in CABLING and fabric.nics_per_node >= SEVERAL_NICS and line.quantity in ends:
        return False
    rates = [float(rate) * 1e9 / 8 for rate in _RATE.findall(text)]
    split = kind == "cable" and (_SPLIT.search(text) is not None or _WAYS.search(text) is not None)
    of_nodes = (min if split else max)(rates, default=0.0)
    return 0 < of_nodes < 0.99 * fabric.nic_bandwidth.value / max(1, fabric.planes)


def is_option(line: QuoteLine) -> bool:
    """Whether a line that adds nothing to the sum is an option or an alternative, which the quote only prices."""
    return not line.quantity and not line.price and names_option((line.part or "").lower())


def is_service(line: QuoteLine) -> bool:
    """Whether a line is a credit, or offers something that the bill does not count, such as support, freight, racks or
    storage.
    """
    return is_credit(line) or "other" in kinds_of_words(plain_part(line))


def servers_have_nics(lines: Sequence[QuoteLine], cluster: Cluster) -> bool:
    """Whether a quote describes its servers with NICs."""
    return any(offered.kind == "node" and "nic" in offered.covered_kinds for offered in offered_lines(lines, cluster))
