"""The bill of materials of a machine or a fleet compared with a quote: quoted parts, missing parts, their value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.names_of_parts import accelerator_family
from clusterspec.cluster.clos import ModuleCount
from clusterspec.cluster.model import Cluster
from clusterspec.money import Money
from clusterspec.procurement.amounts import amount_with_terms, is_credit, line_price
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.items import PRICED_AS, Item, quantities_by_kind
from clusterspec.procurement.offered import Offered, lines_of_pools, offered_lines
from clusterspec.procurement.part_names import (
    ANY_SWITCH,
    CABLING,
    NETWORKED,
    SWITCHES,
    WHOLE_NETWORK,
    kinds_of_words,
    parsed_description,
    plain_part,
    words_in,
)
from clusterspec.procurement.product_names import named_entries
from clusterspec.procurement.supplier_words import english_text
from clusterspec.records import dataclass, replace
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.standard import pattern

_EXPANSION = pattern(
    r"(?i)\b(?:expan(?:d|ds|ded|sion)|exten(?:d|ds|ded|sion)|enlarge[sd]?|adds?|addition(?:al)?|grows?|in place|"
    r"installed|existing|already|on top of|phase (?:1|i|one)|first phase|"
    r"erweiter\w*|extension|ampliaci[oó]n|amplia[cç][aã]o|ampliamento|uitbreiding|utbyggnad|utökning|udvidelse|utvidelse|laajennus|rozbudow\w*)\b|擴充|扩容|扩建|擴建|增設|増設|拡張|증설|第[一二]期"
)
"""Words of a text about a machine that grows."""
_OF_NODES = pattern(r"\b(?:nodes?|servers?|systems?|nics?|connectx|hcas?|adapters?|flat)\b")
_OF_SWITCHES = pattern(r"\b(?:switch|switches|leaf|leaves|spines?|finned)\b")


def without_fabric(bill: Bill) -> Bill:
    """The bill of a machine that has no fabric: without the NICs, switches, cables and modules of one."""
    return replace(bill, items=tuple(item for item in bill.items if item.kind not in NETWORKED))


def with_included_parts(parts: Iterable[QuotedPart], *, fixed_ends: bool) -> tuple[QuotedPart, ...]:
    """The parts of a quote. NICs without a line are not missing, since servers include them; neither are modules if
    cables may have ``fixed_ends``.
    """
    included = {"nic", "transceiver"} if fixed_ends else {"nic"}
    return tuple(
        replace(part, state="elsewhere", missing=None) if part.state == "missing" and part.kind in included else part
        for part in parts
    )


def parts_with_terms(parts: Iterable[QuotedPart], procurement: ProcurementSpec) -> tuple[QuotedPart, ...]:
    """The parts, with the value of missing parts converted to the terms of the quoted total: discount deducted, tax
    added.
    """
    return tuple(
        part if part.missing is None else replace(part, missing=amount_with_terms(part.missing, procurement))
        for part in parts
    )


def needed_parts(bill: Bill, lines: Sequence[Offered]) -> dict[str, int]:
    """Nodes and parts of the network in a bill, by kind, counted as the quote counts them.

    Switches are one kind where a line of the quote does not name their tier. Cables with fixed ends need no
    transceivers, and servers whose description includes NICs need no further NICs. A cable that carries two links
    counts once, so that a quote may have half as many cables as links.
    """
    counted = quantities_by_kind(bill.items)
    needed = {kind: count for kind, count in counted.items() if kind == "node" or kind in NETWORKED}
    if any(line.kind == "switch" for line in lines):
        tiers = [kind for kind in SWITCHES if not any(line.kind == kind for line in lines)]
        needed["switch"] = sum(needed.pop(kind, 0) for kind in tiers)
    if any(line.kind == "node" and "nic" in line.covered_kinds for line in lines):
        needed.pop("nic", None)
    cables = [line for line in lines if line.kind == "cable"]
    if any(line.is_complete for line in cables):
        pieces, links = -(-needed.get("transceiver", 0) // 2), needed.get("cable", 0)
        if offered_quantity([line for line in lines if line.kind == "transceiver"]) != needed.get("transceiver"):
            needed.pop("transceiver", None)
        quoted = offered_quantity(cables)
        if 0 < pieces < links and all(line.is_complete for line in cables) and quoted < (pieces + links) / 2:
            needed["cable"] = pieces
        double = offered_quantity([line for line in cables if line.is_complete])
        if double < quoted < links <= quoted + double:
            needed["cable"] = round(quoted)
    return {kind: count for kind, count in needed.items() if count}


@dataclass(frozen=True)
class QuotedPart:
    """A kind of part in the bill, in the quote or in both.

    ``needed`` is None for parts that the bill does not contain, ``quoted`` for parts that the quote does not contain.
    ``price`` is the sum of the quoted lines. ``missing`` is the value of the units that are not quoted, at the unit
    price of the quote or of the spec; None if neither has a price. It is before discount and tax unless
    `parts_with_terms` made it. ``state`` is one of

    - ``quoted``, ``surplus``, ``short`` or ``missing``, for nodes and parts of the network;
    - ``in place``: the quote extends a machine, and the other units may be there;
    - ``no quantity``: the quote has a line without a number, or one lot;
    - ``elsewhere``: no line names a storage system, a rack or a part of another network, which may have another
      supplier;
    - ``not needed``: the bill has no such part.
    """

    kind: str
    needed: int | None
    quoted: float | None
    price: Money | None
    missing: Money | None
    state: str

    @property
    def has_too_few(self) -> bool:
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


def nodes_in_place(lines: Sequence[Offered], required: int, text: str) -> int:
    """The number of nodes in place by a text, if they and the quoted nodes are exactly ``required`` nodes; else 0."""
    offered = round(offered_quantity([line for line in lines if line.kind == "node"]))
    left = required - offered
    return left if 0 < offered < required and _is_in_place(left, text) else 0


def _is_in_place(count: int, text: str) -> bool:
    """Whether a text about an expansion names a number.

    >>> _is_in_place(31, "31 DGX B200 are in place; the order adds 31 more"), _is_in_place(31, "31 nodes and 2 spares")
    (True, False)
    """
    text = english_text(text.lower())
    named = pattern(rf"(?<![\d.,]){count}(?!\d|[.,]\d)")
    return _EXPANSION.search(text) is not None and named.search(text) is not None


def quoted_parts(bill: Bill, quote: tuple[QuoteLine, ...], cluster: Cluster, text: str = "") -> tuple[QuotedPart, ...]:
    """Every kind of part of a bill and of a quote, the bill's first; empty without a quote. ``text`` describes the
    machine, and may say that a part of it is in place.
    """
    return _parts_of_lines(bill, list(offered_lines(quote, cluster)), cluster.accelerators_per_node, text)


def _parts_of_lines(bill: Bill, lines: Sequence[Offered], per_node: int, text: str = "") -> tuple[QuotedPart, ...]:
    """The parts of a bill and of the lines of a quote; ``per_node`` are the accelerators of a node."""
    if not lines:
        return ()
    needed = needed_parts(bill, lines)
    if not any(line.kind == "node" for line in lines) and any(line.kind == "accelerator" for line in lines):
        needed = {"accelerator" if kind == "node" else kind: count for kind, count in needed.items()}
        needed["accelerator"] = needed.get("accelerator", 0) * per_node
    kinds = dict.fromkeys((*needed, *(line.kind for line in lines if line.kind != "other")))
    in_lots = {kind for line in lines for kind in line.covered_kinds if kind != line.kind}
    in_lots |= {kind for line in lines if line.kind in {"node", *WHOLE_NETWORK} for kind in line.described_cabling}
    found = [
        quoted_part(kind, needed.get(kind), [line for line in lines if line.kind == kind], bill, kind in in_lots)
        for kind in kinds
    ]
    if nodes_in_place(lines, needed.get("node", 0), text):
        found = [replace(part, state="in place", missing=None) if part.has_too_few else part for part in found]
    others = [line for line in lines if line.kind == "other"]
    needs = [item for item in bill.items if _is_of_site(item) and not item.rented and not item.included]
    sites = tuple(_site_part(item, others, bill.currency) for item in needs)
    taken = {line.index for line in others if any(_offers_separate_part(line, item.kind) for item in bill.items)}
    return (*found, *sites, *(_other_line(line, bill.currency) for line in others if line.index not in taken))


NETWORKS_OF_SITE = {
    "frontend": {"frontend", "front-end", "in-band", "inband", "north-south"},
    "out_of_band": {"out-of-band", "oob", "management", "bmc"},
}
"""The words that name networks other than the fabric in quotes."""


def _network_of(kind: str) -> str:
    return kind.removesuffix("_cable").removesuffix("_switch")


def _is_of_site(item: Item) -> bool:
    """Whether an item is the storage system, racks or a part of another network than the fabric."""
    return item.kind in {"storage", "rack"} or _network_of(item.kind) in NETWORKS_OF_SITE


def _offers_separate_part(line: Offered, kind: str) -> bool:
    """Whether a line offers a part of the storage system, the racks or another network. A line about another network
    that names only switches, or only cables, offers no other kind.
    """
    if words_in(plain_part(line.line)).isdisjoint(NETWORKS_OF_SITE.get(_network_of(kind), ())):
        return line.site_kind == kind
    text = plain_part(line.line)
    head = {*kinds_of_words(parsed_description(text).head)} - {"other"} or {*kinds_of_words(text)}
    named = {part for part, kinds in (("switch", ANY_SWITCH), ("cable", CABLING)) if not head.isdisjoint(kinds)}
    return len(named) != 1 or kind.endswith(named.pop())


def _site_part(item: Item, others: Sequence[Offered], currency: str) -> QuotedPart:
    """A part of the storage system, the racks or another network; quoted if a line offers it."""
    lines = [line for line in others if _offers_separate_part(line, item.kind)]
    if not lines:
        return QuotedPart(item.kind, item.quantity, None, None, item.price, "elsewhere")
    numbered = [line.quantity for line in lines if line.quantity is not None]
    quoted = float(sum(numbered)) if numbered else None
    return QuotedPart(item.kind, item.quantity, quoted, _price_of(lines, currency), None, "quoted")


def quoted_part(
    kind: str, required: int | None, lines: Sequence[Offered], bill: Bill, in_lot: bool = False
) -> QuotedPart:
    """A kind of part with its lines. ``in_lot`` is true if another line is a lot that covers the kind."""
    numbered = [line.quantity for line in lines if line.quantity is not None]
    lot = any(line.has_own_units for line in lines) or len(numbered) < len(lines) or (in_lot and not lines)
    quoted = float(sum(numbered)) if numbered else None
    price = _price_of(lines, bill.currency)
    if required is None:
        return QuotedPart(kind, None, quoted, price, None, "not needed")
    if lot and (quoted or 0.0) < required:
        return QuotedPart(kind, required, quoted, price, None, "no quantity")
    short = max(0.0, required - (quoted or 0.0))
    unit = _unit_price(kind, lines, bill)
    missing = unit * short if unit is not None and short else None
    state = "missing" if not lines else "short" if short else "surplus" if (quoted or 0.0) > required else "quoted"
    return QuotedPart(kind, required, quoted, price, missing, state)


def _other_line(line: Offered, currency: str) -> QuotedPart:
    return QuotedPart(line.line.part or "?", None, line.quantity, _price_of([line], currency), None, "not needed")


def _price_of(lines: Sequence[Offered], currency: str) -> Money | None:
    """The sum of the given lines; None if one has no price."""
    prices = [line_price(line.line) for line in lines]
    known = [price for price in prices if price is not None]
    return Money.of(float(sum(known)), currency) if known and len(known) == len(prices) else None


def _unit_price(kind: str, lines: Sequence[Offered], bill: Bill) -> Money | None:
    """The price of one unit: from the quote, else from the spec."""
    stated = [line.unit_price for line in lines if line.unit_price is not None]
    if stated:
        return Money.of(float(max(stated)), bill.currency)
    kinds = SWITCHES if kind == "switch" else (kind,)
    prices = [item.unit_price for item in bill.items if PRICED_AS.get(item.kind, item.kind) in kinds]
    known = [price for price in prices if price is not None]
    return known[0] if known and len(known) == len(prices) else None


# The bills of all pools of a fleet compared with the one quote for them

Machines = Mapping[str, tuple[Bill, Cluster]]


def joined_bill(machines: Machines) -> Bill:
    """One bill with the items of all pools, and with the uncounted parts of each pool's bill."""
    items = tuple(item for bill, _ in machines.values() for item in bill.items)
    lacking, unused = (
        tuple(f"{name}: {text}" for name, (bill, _) in machines.items() for text in getattr(bill, texts))
        for texts in ("not_counted", "unused")
    )
    currency = next((bill.currency for bill, _ in machines.values() if bill.currency), "")
    return Bill(items, not_counted=lacking, currency=currency, unused=unused)


def quoted_parts_of_pools(machines: Machines, quote: tuple[QuoteLine, ...], catalog: Catalog) -> tuple[QuotedPart, ...]:
    """Every kind of part of the bills of all pools and of the quote; empty without a quote.

    Nodes with different accelerators are separate if each line for nodes names one of these accelerators.
    """
    if not machines or not quote:
        return ()
    clusters = [cluster for _, cluster in machines.values()]
    lines = lines_of_pools(quote, clusters)
    nodes = nodes_by_accelerator(machines, lines, catalog)
    parts = _parts_of_lines(joined_bill(machines), lines, max(each.accelerators_per_node for each in clusters))
    if len(nodes) < 2:
        return parts
    return (*nodes, *(part for part in parts if part.kind != "node"))


def nodes_by_accelerator(machines: Machines, lines: Sequence[Offered], catalog: Catalog) -> tuple[QuotedPart, ...]:
    """The nodes of each accelerator in the bills and in the quote; empty if a line does not say which it offers."""
    items: dict[str, list[Item]] = {}
    for bill, cluster in machines.values():
        of_nodes = [item for item in bill.items if PRICED_AS.get(item.kind, item.kind) == "node"]
        items.setdefault(accelerator_family(cluster.accelerator.id), []).extend(of_nodes)
    offered: dict[str, list[Offered]] = {name: [] for name in items}
    for line in lines:
        if line.kind != "node":
            continue
        named = named_entries(line.line.part or "", catalog, "accelerator") & items.keys()
        if len(named) != 1:
            return ()
        offered[named.pop()].append(line)
    currency = next((bill.currency for bill, _ in machines.values() if bill.currency), "")
    return tuple(_node_part(name, items[name], offered[name], currency) for name in items)


def _node_part(name: str, items: Sequence[Item], lines: Sequence[Offered], currency: str) -> QuotedPart:
    needed = sum(item.quantity for item in items)
    part = quoted_part("node", needed, lines, Bill(tuple(items), currency=currency))
    return replace(part, kind=f"{name.upper()} node")


def shortest_end_first(lines: Sequence[Offered], modules: ModuleCount) -> list[Offered]:
    """Lines of modules, with the link end that has too few modules first, if every line names its end."""
    ends = lines_by_end(lines)
    if ends is None:
        return list(lines)
    nodes, switches = ends
    short = offered_quantity(switches) < modules.leaf + modules.spine + modules.core
    return switches + nodes if short and offered_quantity(nodes) >= modules.node else nodes + switches


def lines_with_texts(quote: Sequence[QuoteLine], cluster: Cluster) -> list[tuple[Offered, str]]:
    """The lines of a quote that cost something, each with its part in lower case and in English."""
    return [(line, plain_part(line.line)) for line in offered_lines(quote, cluster) if not is_credit(line.line)]


def lines_by_end(lines: Sequence[Offered]) -> tuple[list[Offered], list[Offered]] | None:
    """The lines of modules for the nodes, and the lines of modules for the switches; None where a line does not name
    one end.
    """
    switches = [line for line in lines if _OF_SWITCHES.search(plain_part(line.line)) is not None]
    nodes = [line for line in lines if _OF_NODES.search(plain_part(line.line)) is not None]
    if len(switches) + len(nodes) != len(lines) or any(line in nodes for line in switches):
        return None
    return nodes, switches


def offered_quantity(lines: Sequence[Offered]) -> float:
    """The parts that some lines of a quote offer together; lines without a quantity count none."""
    return float(sum(line.quantity or 0 for line in lines))
