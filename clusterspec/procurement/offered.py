"""The lines of a quote: the kind of part that each offers, and the price of a unit of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.catalog import Catalog
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.procurement.amounts import line_price
from clusterspec.records import dataclass
from clusterspec.spec.model import QuoteLine
from clusterspec.standard import pattern

_SERVICES = (
    "support|warranty|care|license|licence|subscription|software|install|installation|freight|shipping|training|"
    "service|services|management|months"
)
"""Words of lines that offer work, licenses or time."""
WORDS: tuple[tuple[str, str], ...] = (
    (
        "other",
        f"{_SERVICES}|tax|vat|discount|rebate|rack|racks|pdu|cdu|storage|spare parts|frontend|out-of-band|oob|"
        "power|feed|feeds|store|chiller|ups|login|bastion|head|control|busbar|whip|whips|manifold|manifolds|bmc|"
        "ipmi|filer|nfs|lustre|weka|ceph|gpfs|ufm|prosupport|prodeploy|nbd",
    ),
    ("transceiver", "transceiver|transceivers|optic|optics|osfp|qsfp|qsfp56|qsfp112|module|modules"),
    ("cable", "cabling|cable|cables|dac|dacs|aoc|aocs|aec|aecs|acc|accs|fiber|fibers|fibre|fibres|mpo|mtp|"
        "jumper|jumpers|cord|cords|copper|twinax|trunk|trunks|splitter|splitters|breakout|breakouts|harness|lacc"),
    ("leaf_switch", "leaf|leaves"),
    ("spine_switch", "spine|spines"),
    ("core_switch", "core|superspine"),
    ("switch", "switch|switches"),
    ("nic", "nic|nics|adapter|adapters|hca|hcas|connectx|supernic|supernics|bluefield"),
    ("node", "node|nodes|server|servers|system|systems|dgx|hgx|tray|trays|machine|machines|sled|"
        "sleds|chassis|workstation|workstations|poweredge|thinksystem|proliant|hls"),
    ("accelerator", "gpu|gpus|accelerator|accelerators|oam|oams|rtx"),
)  # fmt: skip
"""The kind of part that a word names."""
_KINDS = {word: kind for kind, words in WORDS for word in words.split("|")}
_WORD = pattern(r"[a-z0-9][a-z0-9.\-]*")
_ORDER_CODE = pattern(r"m((?:qm|sn)\d{4})(?:-[a-z0-9]+)*$")
"""An order code of a Quantum or Spectrum switch, with its model."""
_KINDS_OF_CODES = (
    (pattern(r"(?:mma|mms)\d"), "transceiver"),
    (pattern(r"(?:mcp|mca|mfa|mfp|mfs)\d"), "cable"),
    (pattern(r"m?(?:qm|sn)\d{4}"), "switch"),
)
"""The first letters of NVIDIA's order codes of modules, of cables and of switches."""
_HEAD = pattern(r"\b(?:for|with|incl|including|per|each)\b|\bw/|[,;:(\[+]")
_SIDE_OR_EDITION = pattern(
    r"\b(?:switch|node|server|nic|host|leaf|spine)[- ]side\b|"
    r"\b(?:server|workstation) edition\b|\b(?:in|within)(?: the| one)? racks?\b"
)
"""Words for a place or a variant of a part, in which a noun names no part."""
_ENDS = pattern(
    r"\b(?:nodes?|servers?|hosts?|nics?|gpus?|adapters?|leaf|leaves|spines?|core|switch|switches|tor)\s*(?:-?to-?|->|[-–→/])\s*"
    r"(?:nodes?|servers?|hosts?|nics?|adapters?|leaf|leaves|spines?|core|switch|switches|tor)\b"
)
"""The two ends of a cable, such as `NIC to leaf`."""
_BUNDLE = pattern(r"\b(?:shuffles?|trunks?|harness(?:es)?|octopus|fan-?outs?)\b")
"""Cables that carry several links."""
_COMPLETE = pattern(r"\b(?:dac|aoc|aec|acc|lacc|connector|direct[- ]attach|active optical|copper)s?\b")
_WITHOUT = pattern(r"\b(?:without|no|not|excl|excluding)\b.*|\b(?:for|to)\b.*")
_FABRIC = pattern(r"\b(?:networks?|networking|fabrics?|infiniband|ethernet|interconnects?|turnkey|solution|cluster)\b")
_SIDE = pattern(r"\b(?:front-?end|storage|out-of-band|oob|management|support|service|installation|software)\b")
_BESIDE = pattern(r"\([^)]*\b(?:front-?end|storage|out-of-band|oob|in-band|management)\b[^)]*\)")
"""A remark in parentheses that a part belongs to another network than the fabric."""
LICENSED_PER_ACCELERATOR = pattern(r"\b(?:nvidia ai enterprise|nvaie|ai enterprise)\b")
"""Software that its vendor licenses by the accelerator."""
_ETHERNET = pattern(r"\b(?:ethernet|spectrum|sn\d{4}[a-z]*|base-?t)\b")
_ETHERNET_RATE = pattern(r"\b(\d{1,3}) ?(?:gb?e|gbase)\b")
_NOT_ETHERNET = frozenset({"infiniband", "omni-path", "slingshot"})
_NETWORK_CARD = pattern(r"\b(?:infiniband|ethernet|network|roce|ib)(?: interface| adapter)? cards?\b")
_LOT = pattern(r"\b(?:lot|lump|package|bundle|kit|set)\b")
_HOURS = pattern(r"\b(?:hours?|hourly|hrs?)\b")
_NUMBER_OF_HOURS = pattern(r"(?<![0-9.,])([1-9][0-9]{0,3}(?:,?[0-9]{3})?)[ -](?:node[ -])?(?:hours|hrs)\b")
_RACK = pattern(r"\bnvl ?\d{2,3}\b|\brack[- ]scale\b|\bhelios\b")
_SITE = {
    "storage": pattern(r"\b(?:storage|filer|lustre|weka|ceph|gpfs)\b"),
    "rack": pattern(r"\b(?:racks?|cabinets?)\b"),
}
"""Words for the storage system and for racks, which the bill has, and which quotes sell in many units."""
_STORAGE_MACHINE = pattern(r"(?<=\bstorage )(?:systems?|servers?|nodes?|chassis)\b")
_SERVICE = pattern(
    rf"\b(?:{_SERVICES}|licenses|licences|spares?|rent|month|monthly|annual|yearly|years?|maintenance|network|stack)\b"
)
"""The same, with words that name a part elsewhere: a line with `storage` or `rack` and one of them offers neither."""
SWITCHES = ("leaf_switch", "spine_switch", "core_switch")
NETWORKED = (*SWITCHES, "cable", "transceiver", "nic")
CABLING = ("cable", "transceiver")


@dataclass(frozen=True)
class Offered:
    """One line of a quote: its index, the kind of its part, and the number of units of the bill in one unit of the
    line.
    """

    index: int
    kind: str
    line: QuoteLine
    units: int = 1

    @property
    def quantity(self) -> float | None:
        """Parts of the bill that the line offers."""
        return None if self.line.quantity is None else self.line.quantity * self.units

    @property
    def is_lot(self) -> bool:
        """Whether the line may offer several parts as one lot: one of cables or modules, or what it calls a lot."""
        return self.line.quantity == 1 and (self.kind in CABLING or _LOT.search(plain_part(self.line)) is not None)

    @property
    def is_bundle(self) -> bool:
        """Whether the line offers cables that may carry several links each, such as trunks and shuffles."""
        return self.kind == "cable" and _BUNDLE.search(plain_part(self.line)) is not None

    @property
    def has_own_units(self) -> bool:
        """Whether its quantity does not count units of the bill: that of a lot, or of bundles."""
        return self.is_lot or self.is_bundle

    @property
    def covered_kinds(self) -> tuple[str, ...]:
        """The kinds of part that the line offers at one price: a whole network as one lot, optics in a lot of cabling
        or of installation with cabling, NICs in the description of a server; else its own kind.
        """
        if is_credit(self.line):
            return (self.kind,)
        text = plain_part(self.line)
        head = _head(text)
        whole = self.line.quantity in {None, 1} and {*_kinds_of_words(head)} <= {"other", "switch", *SWITCHES}
        whole = whole and not head.rstrip().endswith("switch")
        if whole and _FABRIC.search(text) is not None and _SIDE.search(text) is None:
            return NETWORKED
        if self.kind == "node" and "nic" in _kinds_of_words(text):
            return ("node", "nic")
        cabling = self.kind in CABLING or (self.kind == "other" and not {*CABLING}.isdisjoint(_kinds_of_words(text)))
        return CABLING if self.is_lot and cabling else (self.kind,)

    @property
    def site_kind(self) -> str | None:
        """`storage` or `rack` where the line offers the storage system or racks; None for all other lines."""
        text = plain_part(self.line)
        head = _STORAGE_MACHINE.sub("", _head(text))
        if (
            self.kind != "other"
            or is_credit(self.line)
            or _SERVICE.search(text)
            or {*_kinds_of_words(head)} - {"other"}
        ):
            return None
        named = [kind for kind, words in _SITE.items() if words.search(head)]
        return named[0] if len(named) == 1 else None

    @property
    def is_node_rent(self) -> bool:
        """Whether the line offers hours of nodes."""
        text = plain_part(self.line)
        return _HOURS.search(text) is not None and "node" in _kinds_of_words(text)

    @property
    def hours(self) -> float:
        """The hours of a node that the unit of a rent is for, where the line names them; else 1."""
        named = _NUMBER_OF_HOURS.search(plain_part(self.line))
        return float(named[1].replace(",", "")) if named is not None else 1.0

    @property
    def is_complete(self) -> bool:
        """Whether a cable comes with its ends, or with transceivers in its price, and takes no others."""
        text = plain_part(self.line)
        with_modules = self.kind == "cable" and "transceiver" in _kinds_of_words(_WITHOUT.sub("", text))
        return with_modules or _COMPLETE.search(text) is not None


def offered_lines(lines: Sequence[QuoteLine], cluster: Cluster) -> Iterator[Offered]:
    """The lines of a quote, each with the kind of its part; `other` where it is none of the bill's."""
    kinds = ["other" if is_credit(line) else kind_of_part(plain_part(line)) for line in lines]
    beside = {index for index, kind in enumerate(kinds) if kind == "switch" and _is_of_site(lines[index], cluster)}
    if len(beside) == sum(kind in {"switch", *SWITCHES} for kind in kinds):
        beside = set()  # the fabric has no other switches
    for index, line in enumerate(lines):
        text = plain_part(line)
        head = _head(text)
        kind = "other" if index in beside else kinds[index]
        rack = (
            not is_credit(line)
            and kind in {"node", "other"}
            and _RACK.search(text) is not None
            and _SERVICE.search(head) is None
            and "tray" not in head
            and "node" not in head
        )
        yield Offered(index, "node" if rack else kind, line, nodes_of_domain(cluster) if rack else 1)


def _is_of_site(line: QuoteLine, cluster: Cluster) -> bool:
    """Whether a switch belongs to the frontend, storage or out-of-band network: it names Ethernet, or a rate below that
    of the NICs, unlike the fabric.
    """
    fabric, text = cluster.scale_out, plain_part(line)
    if fabric is None:
        return False
    rates = [float(rate) * 1e9 / 8 for rate in _ETHERNET_RATE.findall(text)]
    if fabric.technology.family in _NOT_ETHERNET:
        return bool(rates) or _ETHERNET.search(text) is not None
    return bool(rates) and max(rates) < 0.99 * fabric.nic_bandwidth.value / max(1, fabric.planes)


def is_credit(line: QuoteLine) -> bool:
    """Whether a line takes an amount off the quote, such as a trade-in: it offers no part of the bill."""
    return min(line.price or 0, line.unit_price or 0) < 0


def is_service(line: QuoteLine) -> bool:
    """Whether a line is a credit, or names what the bill does not count: support, freight, a rack, storage."""
    return is_credit(line) or "other" in _kinds_of_words(plain_part(line))


def words_of(line: QuoteLine) -> set[str]:
    """The words of a line's part, in lower case."""
    return {*_WORD.findall((line.part or "").lower())}


def plain_part(line: QuoteLine) -> str:
    """The part of a line in lower case, with spaces for underscores, and network cards as NICs."""
    return _NETWORK_CARD.sub("nic", (line.part or "").lower().replace("_", " "))


def kind_of_part(text: str) -> str:
    """The kind of part that a description in lower case names: by the last noun before its purpose or contents.

    >>> kind_of_part("node to leaf cable"), kind_of_part("dgx h100 system with 8 gpus"), kind_of_part("osfp dac cable")
    ('cable', 'node', 'cable')
    >>> kind_of_part("transceiver for leaf switch"), kind_of_part("leaf switch"), kind_of_part("support per node")
    ('transceiver', 'leaf_switch', 'other')
    >>> kind_of_part("mpo cable nic to leaf"), kind_of_part("leaf to spine optics")
    ('cable', 'transceiver')
    >>> kind_of_part("gpu-server, 2 tb"), kind_of_part("mms4x00-ns400 400g dr4"), kind_of_part("optical modules leaf")
    ('node', 'transceiver', 'transceiver')
    >>> kind_of_part("out of band cable"), kind_of_part("node hour"), kind_of_part("switch, leaf and spine")
    ('other', 'other', 'switch')
    >>> kind_of_part("nvidia ai enterprise, per gpu")
    'other'
    """
    text = text.replace("out of band", "oob").replace("super spine", "superspine")
    text = _SIDE_OR_EDITION.sub(" ", text)
    head = _head(text)
    found = _kinds_of_words(_ENDS.sub(" ", head)) or _kinds_of_words(head) or _kinds_of_words(text)
    if _BESIDE.search(text) is not None:
        return "other"
    licensed = LICENSED_PER_ACCELERATOR.search(text) is not None
    if not found or licensed or "other" in found or _HOURS.search(text) is not None:
        return "other"
    if found[-1] == "switch":
        tiers = {kind for kind in _kinds_of_words(text) if kind in SWITCHES}
        return tiers.pop() if len(tiers) == 1 else "switch"
    cabling = [kind for kind in found if kind in CABLING]
    if cabling and found[-1] in {"transceiver", *SWITCHES}:  # the last noun is their form, or where they are
        return "cable" if "cable" in cabling else cabling[-1]
    return found[-1]


def _head(text: str) -> str:
    """A description up to its purpose or contents."""
    return _HEAD.split(text, maxsplit=1)[0]


def _kinds_of_words(text: str) -> list[str]:
    """The kinds of part that the words of a text name, in their order."""
    return [kind for word in _WORD.findall(text) for kind in _kinds_of_word(word)]


def _kinds_of_word(word: str) -> list[str]:
    """The kind that a word names; the kinds of its parts, such as those of `leaf-switch`; or that of an order code."""
    if word in _KINDS:
        return [_KINDS[word]]
    first, _, last = word.partition("-")
    named = [_KINDS[part] for part in ((first, last) if first in _KINDS else ()) if part in _KINDS]
    return named or [kind for code, kind in _KINDS_OF_CODES if code.match(word)]


def named_entries(text: str, catalog: Catalog, kind: str) -> set[str]:
    """The model names of catalog entries of a kind that a description holds: `h100`, `qm9700`, `connectx-7`; a switch
    by the order code of its maker, too (`MQM9700-NS2F`).
    """
    words = set(_WORD.findall(text.lower().replace("_", " ").replace("/", " ")))
    joined = text.lower().replace(" ", "-")
    if kind == "switch":
        words |= {match[1] for word in words if (match := _ORDER_CODE.match(word)) is not None}
    return {
        name for name in model_names(catalog, kind) if name in words or (name.startswith("connectx") and name in joined)
    }


def model_names(catalog: Catalog, kind: str) -> set[str]:
    return {name for id in catalog.ids(kind) for name in _model_names(id, kind)}  # noqa: A001


def _model_names(id: str, kind: str) -> Iterator[str]:  # noqa: A002
    """The names by which quotes call an entry: the first part of an accelerator's id, the number of a switch's."""
    parts = id.split("-")
    if kind == "nic":
        yield id
    elif kind == "accelerator":
        if any(sign.isdigit() for sign in parts[0]):
            yield parts[0]
    elif any(sign.isdigit() for sign in parts[-1]) and not parts[-1].isdigit():
        yield parts[-1]


def servers_have_nics(lines: Sequence[QuoteLine], cluster: Cluster) -> bool:
    """Whether a quote describes its servers with NICs."""
    return any(offered.kind == "node" and "nic" in offered.covered_kinds for offered in offered_lines(lines, cluster))


def quoted_unit_prices(
    lines: Sequence[QuoteLine], cluster: Cluster, needed: Mapping[str, int]
) -> Mapping[str, tuple[float, float]]:
    """The least and the greatest price of a unit of each kind of part that a quote offers by the unit.

    ``needed`` are the parts of the bill by kind: the price of one lot is no price of each of several. Where the lines
    of a kind have different prices and as many units as the bill, both are the mean, so that the sum is the quote's.
    """
    found: dict[str, tuple[float, float]] = {}
    sums: dict[str, tuple[float, float]] = {}
    every = list(offered_lines(lines, cluster))
    for offered in every:
        whole, quantity = line_price(offered.line), offered.line.quantity
        unit = offered.line.unit_price
        if unit is None and whole is not None and quantity:
            unit = whole / quantity
        if offered.is_lot and needed.get(offered.kind, 0) != 1:
            continue
        if unit is None or offered.kind == "other" or offered.covered_kinds == NETWORKED:
            continue
        each = float(unit) / offered.units
        low, high = found.get(offered.kind, (each, each))
        found[offered.kind] = (min(low, each), max(high, each))
        units, price = sums.get(offered.kind, (0.0, 0.0))
        number = offered.quantity or 0.0
        sums[offered.kind] = (units + number, price + number * each)
    for kind, (units, price) in sums.items():
        if units and units == needed.get(kind):
            found[kind] = (price / units, price / units)
    return found | _prices_over_bill(every, needed)


def _prices_over_bill(lines: Sequence[Offered], needed: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """The price of one unit of the bill of what quotes sell in units of their own: the storage system, racks and
    bundled cables. It is the price of all their lines over the units of the bill.
    """
    bundled = {line.kind for line in lines if line.is_bundle}
    prices: dict[str, list[float | None]] = {}
    for line in lines:
        if (kind := line.site_kind or (line.kind if line.kind in bundled else None)) is not None:
            prices.setdefault(kind, []).append(line_price(line.line))
    found = {}
    for kind, each in prices.items():
        known = [float(price) for price in each if price is not None]
        if len(known) == len(each) and needed.get(kind):
            found[kind] = (sum(known) / needed[kind], sum(known) / needed[kind])
    return found
