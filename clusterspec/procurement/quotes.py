"""The lines of a quote by part, and the items of the bill of materials that the quote omits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.money import Money
from clusterspec.patterns import pattern
from clusterspec.procurement.bill import PRICED_AS, Bill, Item
from clusterspec.records import dataclass
from clusterspec.spec.model import QuoteLine

WORDS: tuple[tuple[str, str], ...] = (
    (
        "other",
        "support|warranty|care|license|licence|subscription|software|install|installation|freight|shipping|training|"
        "service|services|tax|vat|discount|rebate|rack|racks|pdu|cdu|storage|spare parts|frontend|out-of-band|oob|"
        "management|power",
    ),
    ("transceiver", "transceiver|transceivers|optic|optics|osfp|qsfp|qsfp56|qsfp112|module|modules"),
    ("cable", "cabling|cable|cables|dac|dacs|aoc|aocs|aec|aecs|acc|accs|fiber|fibers|fibre|fibres|mpo|mtp|jumper"),
    ("leaf_switch", "leaf|leaves"),
    ("spine_switch", "spine|spines"),
    ("core_switch", "core|superspine"),
    ("switch", "switch|switches"),
    ("nic", "nic|nics|adapter|adapters|hca|hcas|connectx|supernic|supernics|bluefield"),
    ("node", "node|nodes|server|servers|system|systems|dgx|hgx|tray|trays|machine|machines"),
    ("accelerator", "gpu|gpus|accelerator|accelerators"),
)  # fmt: skip
"""The kind of part that a word names."""
_KINDS = {word: kind for kind, words in WORDS for word in words.split("|")}
_WORD = pattern(r"[a-z0-9][a-z0-9.\-]*")
_HEAD = pattern(r"\b(?:for|with|incl|including|per|each)\b|[,;:(\[+]")
_COMPLETE = pattern(r"\b(?:dac|aoc|aec|acc|lacc|direct[- ]attach|active optical|copper)s?\b")
_FABRIC = pattern(r"\b(?:networks?|networking|fabrics?|infiniband|ethernet|interconnects?|turnkey|solution|cluster)\b")
_SIDE = pattern(r"\b(?:front-?end|storage|out-of-band|oob|management|support|service|installation|software)\b")
_HOURS = pattern(r"\b(?:hours?|hourly|hrs?)\b")
_RACK = pattern(r"\bnvl ?\d{2,3}\b|\brack[- ]scale\b|\bhelios\b")
SWITCHES = ("leaf_switch", "spine_switch", "core_switch")
NETWORKED = (*SWITCHES, "cable", "transceiver", "nic")
CABLING = ("cable", "transceiver")


@dataclass(frozen=True)
class Offered:
    """One line of a quote: its index, the kind of its part, and how many units of the bill one of it makes."""

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
        """Whether the line may offer several parts as one lot."""
        return self.line.quantity == 1 and self.kind in {"cable", "transceiver"}

    @property
    def covers(self) -> tuple[str, ...]:
        """The kinds of part that the line offers at one price: all of a network as one lot, and the optics of a lot of
        cabling; else its own kind."""
        text = plain_part(self.line)
        whole = self.line.quantity in {None, 1} and {*_kinds_of_words(_head(text))} <= {"other", "switch", *SWITCHES}
        if whole and _FABRIC.search(text) is not None and _SIDE.search(text) is None:
            return NETWORKED
        return CABLING if self.is_lot else (self.kind,)

    @property
    def is_node_rent(self) -> bool:
        """Whether the line offers hours of nodes."""
        text = plain_part(self.line)
        return _HOURS.search(text) is not None and "node" in _kinds_of_words(text)

    @property
    def is_complete(self) -> bool:
        """Whether a cable comes with its ends, and takes no transceivers."""
        return _COMPLETE.search((self.line.part or "").lower()) is not None


def offered_lines(lines: tuple[QuoteLine, ...], cluster: Cluster) -> Iterator[Offered]:
    """The lines of a quote, each with the kind of its part; `other` where it is none of the bill's."""
    for index, line in enumerate(lines):
        text = plain_part(line)
        kind = kind_of_part(text)
        rack = (
            kind in {"node", "other"} and _RACK.search(text) is not None and "tray" not in text and "node" not in text
        )
        yield Offered(index, "node" if rack else kind, line, nodes_of_domain(cluster) if rack else 1)


def plain_part(line: QuoteLine) -> str:
    """The part of a line in lower case, with spaces for underscores."""
    return (line.part or "").lower().replace("_", " ")


def kind_of_part(text: str) -> str:
    """The kind of part that a description in lower case names: by the last noun before its purpose or contents.

    >>> kind_of_part("node to leaf cable"), kind_of_part("dgx h100 system with 8 gpus"), kind_of_part("osfp dac cable")
    ('cable', 'node', 'cable')
    >>> kind_of_part("transceiver for leaf switch"), kind_of_part("leaf switch"), kind_of_part("support per node")
    ('transceiver', 'leaf_switch', 'other')
    >>> kind_of_part("out of band cable"), kind_of_part("node hour")
    ('other', 'other')
    """
    text = text.replace("out of band", "oob")
    found = _kinds_of_words(_head(text)) or _kinds_of_words(text)
    if not found or "other" in found or _HOURS.search(text) is not None:
        return "other"
    if found[-1] == "switch":
        return next((kind for kind in _kinds_of_words(text) if kind in SWITCHES), "switch")
    return "cable" if "cable" in found and found[-1] == "transceiver" else found[-1]


def _head(text: str) -> str:
    """A description up to its purpose or contents."""
    return _HEAD.split(text, maxsplit=1)[0]


def _kinds_of_words(text: str) -> list[str]:
    """The kinds of part that the words of a text name, in their order."""
    return [kind for kind in map(_kind_of_word, _WORD.findall(text)) if kind]


def _kind_of_word(word: str) -> str | None:
    return _KINDS.get(word) or _KINDS.get(word.partition("-")[0])


def named_entries(text: str, catalog: Catalog, kind: str) -> set[str]:
    """The model names of catalog entries of a kind that a description holds: `h100`, `qm9700`, `connectx-7`."""
    words = set(_WORD.findall(text.lower().replace("_", " ").replace("/", " ")))
    joined = text.lower().replace(" ", "-")
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


# The quote compared with the bill of materials


def needed_parts(bill: Bill, lines: Sequence[Offered]) -> dict[str, int]:
    """Nodes and parts of the network in a bill, by kind, counted as the quote counts them.

    Switches are one kind where a line of the quote does not name their tier.
    Cables with fixed ends need no transceivers.
    """
    needed: dict[str, int] = {}
    for item in bill.items:
        kind = PRICED_AS.get(item.kind, item.kind)
        if kind == "node" or kind in NETWORKED:
            needed[kind] = needed.get(kind, 0) + item.quantity
    if any(line.kind == "switch" for line in lines):
        tiers = [kind for kind in SWITCHES if not any(line.kind == kind for line in lines)]
        needed["switch"] = sum(needed.pop(kind, 0) for kind in tiers)
    if any(line.kind == "cable" and line.is_complete for line in lines):
        needed.pop("transceiver", None)
    return {kind: count for kind, count in needed.items() if count}


@dataclass(frozen=True)
class QuotedPart:
    """A kind of part in the bill, in the quote or in both.

    ``needed`` is None for what the bill does not hold, ``quoted`` for what the quote does not. ``price`` is the sum of
    the quoted lines, ``missing`` the value of the units that are not quoted, at the unit price of the quote or of the
    spec; None where neither has a price. ``state`` is one of

    - ``quoted``, ``surplus``, ``short`` or ``missing``, for nodes and parts of the network;
    - ``no quantity``: the quote has a line without a number, or one lot;
    - ``elsewhere``: no line names a store, a rack or a part of another network, which may have another supplier;
    - ``not needed``: the bill has no such part.
    """

    kind: str
    needed: int | None
    quoted: float | None
    price: Money | None
    missing: Money | None
    state: str

    @property
    def lacks(self) -> bool:
        """Whether the quote lacks units that the design needs."""
        return self.state in {"short", "missing"}

    def to_json(self) -> dict[str, object]:
        return {
            "part": self.kind,
            "needed": self.needed,
            "quoted": self.quoted,
            "price": self.price.to_json() if self.price else None,
            "missing": self.missing.to_json() if self.missing else None,
            "state": self.state,
        }


def quoted_parts(bill: Bill, quote: tuple[QuoteLine, ...], cluster: Cluster) -> tuple[QuotedPart, ...]:
    """Every kind of part of a bill and of a quote, those of the bill first; empty without a quote."""
    lines = list(offered_lines(quote, cluster))
    if not lines:
        return ()
    needed = needed_parts(bill, lines)
    if not any(line.kind == "node" for line in lines) and any(line.kind == "accelerator" for line in lines):
        needed = {"accelerator" if kind == "node" else kind: count for kind, count in needed.items()}
        needed["accelerator"] = needed.get("accelerator", 0) * cluster.accelerators_per_node
    kinds = dict.fromkeys((*needed, *(line.kind for line in lines if line.kind != "other")))
    found = [
        _quoted_part(kind, needed.get(kind), [line for line in lines if line.kind == kind], bill) for kind in kinds
    ]
    others = [line for line in lines if line.kind == "other"]
    sites = tuple(
        _site_part(item, others, bill.currency)
        for item in bill.items
        if _site_words(item.kind) and not item.rented and not item.included
    )
    taken = {word for item in bill.items for word in _site_words(item.kind)}
    rest = [line for line in others if not taken & {*_WORD.findall((line.line.part or "").lower())}]
    return (*found, *sites, *(_other_line(line, bill.currency) for line in rest))


_SITE_WORDS = {
    "storage": ("storage",),
    "rack": ("rack", "racks"),
    "frontend": ("frontend",),
    "out_of_band": ("out-of-band", "oob", "management"),
}
"""The words that name a store, racks and the other networks in quotes."""


def _site_words(kind: str) -> tuple[str, ...]:
    return _SITE_WORDS.get(kind.removesuffix("_cable").removesuffix("_switch"), ())


def _site_part(item: Item, others: Sequence[Offered], currency: str) -> QuotedPart:
    """A store, racks or a part of another network: quoted where a line names it."""
    words = {*_site_words(item.kind)}
    lines = [line for line in others if words & {*_WORD.findall((line.line.part or "").lower())}]
    if not lines:
        return QuotedPart(item.kind, item.quantity, None, None, item.price, "elsewhere")
    numbered = [line.quantity for line in lines if line.quantity is not None]
    quoted = float(sum(numbered)) if numbered else None
    return QuotedPart(item.kind, item.quantity, quoted, _price_of(lines, currency), None, "quoted")


def _quoted_part(kind: str, needed: int | None, lines: Sequence[Offered], bill: Bill) -> QuotedPart:
    numbered = [line.quantity for line in lines if line.quantity is not None]
    lot = any(line.is_lot for line in lines) or len(numbered) < len(lines)
    quoted = float(sum(numbered)) if numbered else None
    price = _price_of(lines, bill.currency)
    if needed is None:
        return QuotedPart(kind, None, quoted, price, None, "not needed")
    if lot and (quoted or 0.0) < needed:
        return QuotedPart(kind, needed, quoted, price, None, "no quantity")
    short = max(0.0, needed - (quoted or 0.0))
    unit = _unit_price(kind, lines, bill)
    missing = unit * short if unit is not None and short else None
    state = "missing" if not lines else "short" if short else "surplus" if (quoted or 0.0) > needed else "quoted"
    return QuotedPart(kind, needed, quoted, price, missing, state)


def _other_line(line: Offered, currency: str) -> QuotedPart:
    return QuotedPart(line.line.part or "?", None, line.quantity, _price_of([line], currency), None, "not needed")


def _price_of(lines: Sequence[Offered], currency: str) -> Money | None:
    """The sum of some lines; None if one has no price."""
    prices = [_line_price(line.line) for line in lines]
    known = [price for price in prices if price is not None]
    return Money.of(float(sum(known)), currency) if known and len(known) == len(prices) else None


def _line_price(line: QuoteLine) -> float | None:
    if line.price is not None:
        return float(line.price)
    return None if line.unit_price is None or line.quantity is None else float(line.unit_price * line.quantity)


def _unit_price(kind: str, lines: Sequence[Offered], bill: Bill) -> Money | None:
    """The price of one unit: that of the quote, else that of the spec."""
    stated = [line.line.unit_price / line.units for line in lines if line.line.unit_price is not None]
    if stated:
        return Money.of(float(max(stated)), bill.currency)
    kinds = SWITCHES if kind == "switch" else (kind,)
    prices = [item.unit_price for item in bill.items if PRICED_AS.get(item.kind, item.kind) in kinds]
    known = [price for price in prices if price is not None]
    return known[0] if known and len(known) == len(prices) else None


def quoted_total(quote: tuple[QuoteLine, ...], stated: float | None, currency: str) -> Money | None:
    """The amount of a quote: its stated total, else the sum of its lines; None if a line has no price."""
    if stated is not None:
        return Money.of(float(stated), currency)
    prices = [_line_price(line) for line in quote]
    known = [price for price in prices if price is not None]
    return Money.of(float(sum(known)), currency) if known and len(known) == len(prices) else None
