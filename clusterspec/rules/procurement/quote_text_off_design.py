"""A figure in the text of a quote's line contradicts the design.

## What it finds

Lines of `procurement.quote` whose text states

- the amperes or volts of power distribution units, other than those of `power.pdus`;
- the heat that a coolant distribution unit takes up, less than the `capacity` of `power.cdus`;
- a time of support shorter than `support.term`: a duration, a range of years, or a price of one year times its
  quantity, where the text names no parts; and one for switches or a storage system alone;
- licenses of a file system for fewer terabytes than the quoted storage systems hold and `networks.storage.capacity`
  has; feed A alone where `power.feeds` is 2N;
- a bus bandwidth of a test below that of `acceptance` for the same collective;
- a storage system slower than the `bandwidth` or the `read` of `networks.storage`;
- less host memory of a node than `host_memory`;
- a rack, or the cooler in its door, for less power than a rack of the design draws;
- a response of support slower than `support.response`, such as the next business day where it is 4 hours;
- nodes cooled by air where `power.cooling` is liquid, or by liquid where it is air;
- accelerators or NICs of a node, by name or order code, in another number than the design has; NICs of a lower rate;
- bridges that join fewer or more accelerators than a domain has, fewer bridges than domains, or NVLink bridges for
  cards without NVLink;
- cables, all of them shorter than the longest stated `distance`, or those of a level shorter than its own;
- modules of the NICs in a form other than the cages of the NICs that a line names;
- multimode fiber where all transceivers are single-mode, or the reverse; MPO cables with flat ends (UPC) for
  single-mode modules, or for those of 400 Gb/s and above, whose ends are angled (APC);
- a storage system smaller than the `capacity` of `networks.storage`; of a raw size, or of drives (`24 x 15.36 TB`), the
  share counts that an erasure code (`8+2`) in the line, the description or a comment leaves for data.

## Why it matters

The supplier delivers the part in the line, not the part in the design. The difference appears on the day of
installation.

## What to do

Correct the line with the supplier, or the key.

## When to ignore it

Ignore it where a line describes a part for something else than the design.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 8
  power: {nodes_per_rack: 4, pdus: {count: 4, voltage: 415 V, current: 60 A, phases: 3}, feeds: 2N}
procurement:
  currency: USD
  quote:
    - {part: DGX H200 node, quantity: 8, unit_price: 300000, price: 2400000}
    - {part: "rack PDU 415 V, 30 A", quantity: 8, unit_price: 2100, price: 16800}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 8}
procurement:
  currency: USD
  term: 5 years
  support: {term: 5 years}
  quote:
    - {part: DGX H200 node, quantity: 8, unit_price: 300000, price: 2400000}
    - {part: "Support of 8 systems, 36 months", quantity: 1, unit_price: 300000, price: 300000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 4, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}
procurement:
  currency: USD
  quote:
    - {part: "server, HGX H200, 8x ConnectX-7 400G QSFP112", quantity: 4, unit_price: 270000}
    - {part: "MMS4X00-NS400 400G DR4 OSFP transceiver, adapter end", quantity: 32, unit_price: 860}
```

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster:
  accelerator: h200-nvl-141gb
  accelerators_per_node: 8
  nodes: 12
  scale_up: {bandwidth: 900 GB/s duplex, topology: bridge, domain: 4}
procurement:
  currency: USD
  quote:
    - {part: "server with 8x H200 NVL", quantity: 12, unit_price: 330000}
    - {part: "NVLink bridge 4-way, one piece for four cards", quantity: 12, unit_price: 2900}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 8
  power: {nodes_per_rack: 4, pdus: {count: 4, voltage: 415 V, current: 60 A, phases: 3}, feeds: 2N}
procurement:
  currency: USD
  term: 5 years
  support: {term: 5 years}
  quote:
    - {part: DGX H200 node with 8x H200, quantity: 8, unit_price: 300000, price: 2400000}
    - {part: "rack PDU 415 V, 60 A", quantity: 8, unit_price: 2100, price: 16800}
    - {part: "Support of 8 systems, 60 months", quantity: 1, unit_price: 500000, price: 500000}
```

## Sources

- L40S without NVLink: https://www.nvidia.com/en-us/data-center/l40s/
- Angled ends of multimode modules of 400 Gb/s: https://docs.nvidia.com/networking/display/MMA4Z00NS400T
- Single-mode and multimode fibers of one maker: https://docs.nvidia.com/networking/display/mfp7e30nxxx
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Optics
from clusterspec.catalog.names_of_parts import accelerator_family, names_of_entry
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.product_names import (
    counted_codes,
    counts_before,
    named_entries,
)
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.rules.knowledge.fabric_parts import link_rate
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.quotes.links import (
    SIDES,
    TWO_PORTS,
    fiber_of,
    optics_of_design,
    short_cables,
    slower_nics,
    weaker_tests,
)
from clusterspec.rules.readers.quotes.parts import (
    PDU,
    SAME,
    VOLTS,
    OtherFigure,
    power_figures,
    small_host_memory,
    weak_rack,
)
from clusterspec.rules.readers.quotes.stores import slower_stores, small_license, small_store
from clusterspec.rules.readers.quotes.support import lesser_support
from clusterspec.rules.readers.written_numbers import are_close, number_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import AcceptanceSpec, NetworksSpec, PowerSpec, ProcurementSpec, ScaleOutSpec
from clusterspec.standard import pattern
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error", "likely")
WITHOUT_NVLINK = 2022
"""Year from which NVIDIA cards with PCIe only have no NVLink connector: Ada dropped it."""
_MAINS = pattern(r"(?<![\w.,])(208|380|400|415|480) ?v(?:ac|olts?)?\b")
"""Pattern of a phase-to-phase mains voltage."""
MAINS = 0.06
"""Relative difference between the voltages of one grid: 380, 400 and 415 V."""
ANGLED = 50e9
"""Smallest link rate in B/s per direction at which multimode modules also need angled connectors, as MMA4Z00-NS400 does."""
_BRIDGE = pattern(r"\b(2|4|two|four)[- ]way\b")
_WAYS = {"two": 2, "four": 4}
_FIBERS = {"multimode": "multimode", "singlemode": "single-mode"}
"""Kind of fiber by the ``media`` of a module's catalog entry."""
_OTHER_FORM = {"OSFP": "QSFP", "QSFP": "OSFP"}
_NIC = pattern(r"\bconnectx|\bcx-?[6-9]\b|\bmcx\w*|\b(?:nics?|adapters?|pollara|thor2?|bluefield)\b")
_AIR = pattern(r"\bair[- ]?cool\w*|\bluftgekühlt\w*|\brefrigerad\w+ por aire\b|\brefroidi\w* (?:à|par) (?:l')?air\b")
_LIQUID = pattern(
    r"\b(?:direct[- ])?liquid[- ]?cool\w*|\bdlc\b|\bwater[- ]cool\w*|\bwassergekühlt\w*|\bflüssiggekühlt\w*"
)
_FLAT_ENDS = pattern(r"\b(?:mpo|mtp)[\w-]*/?[ -]?upc\b|\bupc\b.{0,20}\bm[pt][op]\b")
_OF_FEED = r"(?:feeds?|branch|path|strang|zweig|větev|voie|ramo|rama|tor|gałąź|syöttö|matning)"
_FEED_A = pattern(rf"\b{_OF_FEED} a\b|\ba[- ]feed\b")
_FEED_B = pattern(rf"\b{_OF_FEED} b\b|\bb[- ]feed\b|\ba ?(?:\+|/|&|and|und|et|e|y|og|och|i|a|en) ?b\b")
_FIBER = pattern(
    r"\b(?:fib(?:er|re|ra)s?|mpo-?\d*|mtp-?\d*|jumpers?|trunks?|mfp\d\w*|patch\w*|glasfaser\w*|glasvezel\w*|lwl\w*|fiber\w+|[oó]ptic[oa]s?|ottic[aeio]|"
    r"światłowód\w*|kuitu\w*)\b|光纖|光纤|光ファイバ|光ケーブル|광케이블"
)


def check(
    procurement: ProcurementSpec,
    cluster: Cluster,
    written_scale_out: ScaleOutSpec | None,
    power: PowerSpec | None,
    networks: NetworksSpec | None,
    acceptance: tuple[AcceptanceSpec, ...] | None,
    catalog: Catalog,
    texts: PurchaseTexts,
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_with_texts(procurement.quote, cluster)
    for line, text in lines:
        bridged = _BRIDGE.search(text)
        if bridged is not None and "bridge" in text and cluster.scale_up.topology == "bridge":
            ways = _WAYS.get(bridged[1]) or int(bridged[1])
            domains, quantity = cluster.all_nodes * cluster.accelerators_per_node // ways, line.line.quantity
            if ways != cluster.scale_up.domain:
                yield _problem(line, f"{ways}-way bridges", "scale_up.domain", str(cluster.scale_up.domain))
            elif line.kind == "other" and quantity is not None and 1 < quantity < domains:
                message = f"the quote has {quantity:g} bridges of {ways} accelerators, but the design has {domains:,} domains of {ways}"
                at = quote_path(line.index, "quantity")
                yield RULE.problem(at, message, f"ask for {domains:,} or more")
        if bridged is None and "bridge" in text and "nvlink" in text:
            yield from _bridge_problem(line, text, cluster, catalog)
        if line.kind == "node":
            yield from _node_problems(line, text, cluster)
            yield from _cooling_problem(line, text, power)
    yield from _mains_problem(lines, power, texts.description)
    store = networks.storage.capacity if networks is not None and networks.storage is not None else None
    for other in (
        *_other_figures(lines, procurement, cluster, power, networks),
        *weaker_tests(lines, acceptance or ()),
        *short_cables(lines, written_scale_out),
        *small_store(lines, store, texts),
        *small_license(lines, store, texts.sentences),
    ):
        yield _problem(other.line, other.states, other.key, other.design)
    yield from _cage_problem(lines)
    link = link_rate(cluster.scale_out) if cluster.scale_out is not None else None
    yield from _fiber_problem(lines, written_scale_out, catalog, link)
    yield from _single_feed_problem(lines, power)


def _other_figures(
    lines: Sequence[tuple[Offered, str]],
    procurement: ProcurementSpec,
    cluster: Cluster,
    power: PowerSpec | None,
    networks: NetworksSpec | None,
) -> Iterator[OtherFigure]:
    """Figures for support, storage, host memory and power in quote lines that differ from the design."""
    yield from lesser_support(lines, procurement)
    if networks is not None and networks.storage is not None:
        yield from slower_stores(lines, networks.storage)
    for line, text in lines:
        yield from small_host_memory(line, text, cluster)
        if power is not None:
            yield from power_figures(line, text, power)
            yield from weak_rack(line, text, cluster, power)


def _problem(line: Offered, states: str, key: str, design: str) -> Problem:
    """The problem of a line whose text states another value than a key of the design."""
    message = f"`{name_of_part(line.line.part)}` states {states}, but `{key}` is {design}"
    return RULE.problem(quote_path(line.index, "part"), message, "correct the line with the supplier, or the key")


def _bridge_problem(line: Offered, text: str, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    """The problem of NVLink bridges for cards without a connector: those in the text, else those of the design."""
    families = named_entries(text, catalog, "accelerator")
    named = [
        catalog.find("accelerator", id_) for id_ in catalog.ids("accelerator") if accelerator_family(id_) in families
    ]
    cards = [each for each in named if isinstance(each, Accelerator)] or [cluster.accelerator]
    if all(card.topology == "pcie" and (card.year or 0) >= WITHOUT_NVLINK for card in cards):
        message = f"`{name_of_part(line.line.part)}` is a bridge, but {cards[0].name} has no NVLink"
        at = quote_path(line.index, "part")
        yield RULE.problem(at, message, "remove the line: these cards communicate only over PCIe")


def _mains_problem(
    lines: Sequence[tuple[Offered, str]], power: PowerSpec | None, description: str
) -> Iterator[Problem]:
    """The problem of power distribution units with another voltage than that of the hall in the text."""
    volts = {float(each) for each in _MAINS.findall(description)}
    if len(volts) != 1 or (power is not None and power.pdus is not None and power.pdus.voltage is not None):
        return
    for line, text in lines:
        found = [number_in_text(each) for each in VOLTS.findall(text)] if PDU.search(text) is not None else []
        if found and not any(are_close(each, next(iter(volts)), MAINS) for each in found):
            yield _problem(line, f"{found[0]:g} V", "description", f"of a hall with {volts.pop():g} V")
            return


def _node_problems(line: Offered, text: str, cluster: Cluster) -> Iterator[Problem]:
    """Problems of the accelerators and NICs that a node's line counts by name, if they differ from the design."""
    accelerator = cluster.accelerator.id.split("-", maxsplit=1)[0]
    nodes = cluster.all_nodes
    whole = {cluster.accelerators_per_node, cluster.scale_up.domain, round(line.line.quantity or 0), nodes}
    whole |= {cluster.accelerators, cluster.accelerators_per_node * nodes}
    counts = counts_before(text, accelerator)
    if counts and not whole & {*counts, sum(counts)}:
        key, stated = "accelerators_per_node", str(cluster.accelerators_per_node)
        yield _problem(line, f"{counts[0]} {accelerator}", key, stated)
        return
    fabric = cluster.scale_out
    if fabric is None or not fabric.nics_per_node:
        return
    rate = fabric.nic_bandwidth.value
    if (slow := slower_nics(text, fabric.nics_per_node, rate)) is not None:
        yield _problem(line, f"{display_bits(slow[1])} for each NIC", "scale_out.nic_bandwidth", display_bits(rate))
        return
    if fabric.nic is None:
        return
    counts = [count for name in names_of_entry(fabric.nic.id, "nic") for count in counts_before(text, name)]
    if not counts and TWO_PORTS.search(text) is None:
        counts = [count for count, id_ in counted_codes(text, "nic") if id_ == fabric.nic.id]
    if counts and not {fabric.nics_per_node, nodes * fabric.nics_per_node} & {*counts, sum(counts)}:
        yield _problem(line, f"{counts[0]} {fabric.nic.id}", "scale_out.nics_per_node", str(fabric.nics_per_node))


def _cooling_problem(line: Offered, text: str, power: PowerSpec | None) -> Iterator[Problem]:
    """The problem of nodes with another cooling method than the racks of the design."""
    stated = power.cooling if power is not None else None
    air, liquid = _AIR.search(text) is not None, _LIQUID.search(text) is not None
    other = {"air": liquid and not air, "liquid": air and not liquid}
    if stated is not None and other.get(stated):
        yield _problem(line, f"{'air' if air else 'liquid'} cooling", "power.cooling", stated)


def _single_feed_problem(lines: Sequence[tuple[Offered, str]], power: PowerSpec | None) -> Iterator[Problem]:
    """The problem of a quote with only the first of the design's two power feeds."""
    first = [line for line, text in lines if _FEED_A.search(text) is not None]
    second = any(_FEED_B.search(text) is not None for _, text in lines)
    if power is not None and power.feeds == "2N" and len(first) == 1 and not second:
        yield _problem(first[0], "feed A alone", "power.feeds", power.feeds)


def _cage_problem(lines: Sequence[tuple[Offered, str]]) -> Iterator[Problem]:
    """The problem of NIC modules in OSFP size for NICs with QSFP cages, or the reverse."""
    cages = {
        form
        for line, text in lines
        if line.kind in {"node", "nic"} and _NIC.search(text)
        for form in _module_forms(text)
    }
    if len(cages) != 1:
        return
    (cage,) = cages
    for line, text in lines:
        if (
            line.kind == "transceiver"
            and SIDES["node"].search(text) is not None
            and _module_forms(text) == {_OTHER_FORM[cage]}
        ):
            message = (
                f"`{name_of_part(line.line.part)}` is {_OTHER_FORM[cage]}, but the quoted NICs have cages for {cage}"
            )
            help_ = "order modules that fit the cages"
            yield RULE.problem(quote_path(line.index, "part"), message, help_)
            return


def _module_forms(text: str) -> set[str]:
    """The sizes of modules and cages that a text names; OSFP and QSFP do not fit each other."""
    return {form for form in _OTHER_FORM if form.lower() in text}


def _fiber_problem(
    lines: Sequence[tuple[Offered, str]], written: ScaleOutSpec | None, catalog: Catalog, link: float | None
) -> Iterator[Problem]:
    """The problem of quoted fiber that none of the modules, quoted or designed, can use; ``link`` is the rate of a
    fabric link in B/s per direction.
    """
    named = optics_of_design(written)
    needed = _fibers_of_most(lines)
    if needed == {""} and named:
        needed = set()  # the quoted modules do not say
    for id_ in named:
        part = catalog.find("optics", id_)
        if isinstance(part, Optics) and part.type == "module":
            needed.add(_FIBERS.get(part.media, ""))
        elif part is None:
            needed.add(fiber_of(id_))
    if len(needed) != 1 or "" in needed:
        return
    flat = next((line for line, text in lines if line.kind == "cable" and _FLAT_ENDS.search(text)), None)
    fast = link is not None and link >= ANGLED * (1 - SAME)
    if flat is not None and ("single-mode" in needed or fast):
        what = "single-mode MPO modules" if "single-mode" in needed else f"MPO modules of {display_bits(link or 0.0)}"
        message = f"`{name_of_part(flat.line.part)}` has flat ends (UPC), but {what} take angled ones (APC)"
        yield RULE.problem(quote_path(flat.index, "part"), message, "order cables with MPO/APC ends")
    for line, text in lines:
        kind = fiber_of(text) if line.kind == "cable" and _FIBER.search(text) is not None else ""
        if kind and kind not in needed:
            message = f"`{name_of_part(line.line.part)}` is {kind} fiber, but all transceivers are {needed.pop()}"
            help_ = "order the fiber of the modules: light of one kind does not pass through the other"
            yield RULE.problem(quote_path(line.index, "part"), message, help_)
            return


def _fibers_of_most(lines: Sequence[tuple[Offered, str]]) -> set[str]:
    """The kinds of fiber of the quoted modules; one is empty if fewer than half of the modules state their kind."""
    modules = [(fiber_of(text), line.quantity or 0.0) for line, text in lines if line.kind == "transceiver"]
    named = sum(quantity for kind, quantity in modules if kind)
    known = {kind for kind, _ in modules if kind}
    return known if 2 * named >= sum(quantity for _, quantity in modules) else known | {""}
