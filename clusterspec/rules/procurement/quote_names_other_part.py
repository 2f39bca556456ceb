"""The quote offers another model than the design.

## What it finds

A line of the quote that names

- an accelerator, switch or NIC other than the design's, or a variant of the accelerator with another form factor or
  memory;
- where the design names no switch, a switch of another technology or with ports slower than the NICs;
- a module or cable whose order code or text names slower ports than the links of the fabric;
- a NIC of a slower rate (`NDR200`), or an Ethernet NIC in an InfiniBand fabric;
- parts of an older generation of InfiniBand (`HDR`);
- nodes, or modules for their NICs, with NICs of another generation;
- a switch whose ports, according to the text, have another total rate than the ports of its model.

## Why it matters

The supplier delivers the part that the quote names. An H100 in place of an H200 has 43 % less memory, and a QM8700 in
place of a QM9700 half the rate.

## What to do

Correct the line, or the design.

## When to ignore it

Ignore it where the text names the other part for comparison.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 640 GB, quantity: 68, unit_price: 310000, price: 21080000}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: H100 PCIe 80 GB GPU, quantity: 32, unit_price: 26000, price: 832000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-b300, nodes: 72, scale_out: {technology: infiniband-xdr}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX B300, quantity: 72, unit_price: 462000}
    - {part: "MMS4X00-NM transceiver, leaf to spine", quantity: 576, unit_price: 1540}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H200 1128 GB, quantity: 68, unit_price: 350000, price: 23800000}
```

## Sources

- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Nic, Optics, Switch
from clusterspec.catalog.names import ids_of_name
from clusterspec.catalog.names_of_parts import names_of_entry
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import ANY_SWITCH, CABLING, kind_of_part, plain_part, unit_of_hours
from clusterspec.procurement.product_names import counts_before, named_entries, switches_named
from clusterspec.rules.knowledge.ranges import GIGABIT
from clusterspec.rules.readers.quotes.links import GENERATIONS, rates_in
from clusterspec.rules.readers.quotes.support import sells_support
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import and_list, name_of_part
from clusterspec.spec.model import ProcurementSpec, ScaleOutSpec
from clusterspec.standard import pattern
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error", "likely")
_CODE = pattern(r"M[CFM][ASFP]\d[A-Z0-9]{2,}")
"""Pattern of the start of an order code of NVIDIA's modules and cables."""
_NIC_RATE = pattern(
    r"(?<![\w.])(?:(?P<rate>\d{2,3}) ?g(?:b?e|b/s|bps|bit/s|igabit)?|(?P<name>[hnx]dr)(?P<lanes>[1248]00)?)(?![\w])"
)
_PORTS = pattern(
    r"(?<![\w.])(\d{2,3})[- ]?(?:[x×]|ports?,? (?:of |at |à |de |mit )?) ?(\d{2,4}) ?g(?:b?e|b/s|bps)?\b(?![^,;(]{0,60}(?:transceiv|cable|optic|modul))"
)
"""Pattern of the ports of a switch, and of their rate in Gb/s."""
_SMALL_NIC = pattern(r"\bconnectx-?\d ?-?(?:lx|dx|vpi)\b|\b(?:ocp|25 ?gb?e?|10 ?gb?e?|management|front-?end|storage)\b")
"""Pattern of words in a line whose NICs may be for another network."""
_NIC_CODE = pattern(r"\bmcx[4-7][\da-z]{3,}-([cegnhv])[a-z0-9]{2,4}\b")
"""Pattern of the order code of a ConnectX card, with the letter for its rate."""
_RATE_OF_CODE = {"g": 50, "c": 100, "e": 100, "h": 200, "v": 200, "n": 400}
"""Port rate in Gb/s by the letter after the dash in a ConnectX order code."""
_GENERATION = pattern(r"(?<![\w-])(edr|hdr|ndr|xdr)(?![\w])")


def check(
    procurement: ProcurementSpec, cluster: Cluster, catalog: Catalog, written_scale_out: ScaleOutSpec | None
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = list(offered_lines(procurement.quote, cluster))
    covered = _covers_adapters([line for line in lines if line.kind == "nic"], cluster)
    for offered in lines:
        yield from _sibling_problem(offered, cluster, catalog)
        if offered.kind in ANY_SWITCH:
            yield from _other_switch_problem(offered, cluster, written_scale_out, catalog)
        if offered.kind in CABLING or (offered.kind == "nic" and not covered):
            yield from _slow_module_problem(offered, cluster, catalog)
        if offered.kind in {*CABLING, *ANY_SWITCH}:
            yield from _old_generation_problem(offered, cluster)
        if offered.kind in {"nic", "node"}:
            yield from _nic_of_other_network_problem(offered, cluster, catalog)
        if offered.kind in {*CABLING, "node"}:
            yield from _other_nic_problem(offered, cluster, catalog)
        if not is_credit(offered.line):
            yield from _switch_ports_problem(offered, catalog)
        kind, own = _expected_entry(offered, cluster, written_scale_out, catalog)
        if not own:
            continue
        named = named_entries(offered.line.part or "", catalog, kind)
        known = _own_names(own, catalog, kind)
        if named and not _names_own(named, known) and not _is_of_other_network(offered, lines, known, catalog):
            message = f"`{name_of_part(offered.line.part)}` is {and_list(sorted(named))}, but the design has {own}"
            help_ = "correct the line or the design"
            yield RULE.problem(quote_path(offered.index, "part"), message, help_)


def _is_of_other_network(offered: Offered, lines: Sequence[Offered], known: set[str], catalog: Catalog) -> bool:
    """Whether a line offers a switch for another network: without a tier, while another line has the designed one."""
    return offered.kind == "switch" and any(
        each.kind in ANY_SWITCH and _names_own(named_entries(each.line.part or "", catalog, "switch"), known)
        for each in lines
    )


def _own_names(own: str, catalog: Catalog, kind: str) -> set[str]:
    """The names by which lines may refer to the designed part with this id."""
    return {*names_of_entry(own, kind)} | named_entries(own, catalog, kind)


def _names_own(named: set[str], known: set[str]) -> bool:
    """Whether a name in the line is the end of a name of the designed part."""
    return any(one.endswith(other) for one in known for other in named)


def _slow_module_problem(offered: Offered, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a module, cable or NIC whose order code or rate is too slow for the links of the fabric."""
    fabric = cluster.scale_out
    parts = [catalog.find("optics", id_) for code in _order_codes(offered) for id_ in ids_of_name("optics", code)]
    rates = {part.bandwidth.value / part.ports for part in parts if isinstance(part, Optics) and part.bandwidth}
    if offered.kind == "nic":
        rates = set(_rates_of_nic(plain_part(offered.line)))
    elif not rates and fabric is not None and (offered.quantity or 0) >= cluster.nodes * fabric.nics_per_node:
        rates = set(rates_in(plain_part(offered.line)))  # fewer may be those of another network
    rate = fabric.nic_bandwidth.value / max(1, fabric.planes) if fabric is not None else 0.0
    if rates and max(rates) < rate * 0.99:
        name = name_of_part(offered.line.part)
        message = (
            f"`{name}` has ports of {display_bits(max(rates))}, but the links of the fabric run at {display_bits(rate)}"
        )
        at = quote_path(offered.index, "part")
        yield RULE.problem(at, message, "order modules and cables of the generation of the switches and the NICs")


def _covers_adapters(lines: Sequence[Offered], cluster: Cluster) -> bool:
    """Whether one line has all NICs that the nodes need, so that other lines with NICs are for other networks."""
    fabric = cluster.scale_out
    if fabric is None or len(lines) < 2:
        return False
    needed = {count * fabric.nics_per_node for count in (cluster.nodes, cluster.all_nodes)}
    return any(line.quantity in needed and _is_fast_enough(line, fabric.nic_bandwidth.value) for line in lines)


def _is_fast_enough(line: Offered, rate: float) -> bool:
    return max(_rates_of_nic(plain_part(line.line)), default=rate) >= rate * 0.99


def _rates_of_nic(text: str) -> Iterator[float]:
    """The rates in B/s that the description of a NIC states; without any, the rate of its order code.

    >>> [rate * 8 / 1e9 for rate in _rates_of_nic("connectx-7, ndr200, single-port")], [*_rates_of_nic("hca, dual-port")]
    ([200.0], [])
    >>> [rate * 8 / 1e9 for text in ("mcx75310aas-heat", "mcx75310aas-neat") for rate in _rates_of_nic(text)]
    [200.0, 400.0]
    """
    if _NIC_RATE.search(text) is None and (code := _NIC_CODE.search(text)) is not None:
        yield _RATE_OF_CODE[code[1]] * GIGABIT
    for found in _NIC_RATE.finditer(text):
        yield float(found["rate"] or found["lanes"] or GENERATIONS[found["name"]]) * GIGABIT


def _old_generation_problem(offered: Offered, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a fabric part if its text names only InfiniBand generations older than the links."""
    fabric = cluster.scale_out
    named = {name: GENERATIONS[name] for name in _GENERATION.findall(plain_part(offered.line))}
    own = fabric.nic_bandwidth.value / max(1, fabric.planes) / GIGABIT if fabric is not None else 0.0
    if fabric is not None and fabric.technology.family == "infiniband" and named and max(named.values()) < own * 0.99:
        name = name_of_part(offered.line.part)
        message = f"`{name}` is {max(named, key=named.__getitem__).upper()}, but the links of the fabric run at {display_bits(own * GIGABIT)}"
        yield RULE.problem(quote_path(offered.index, "part"), message, "correct the line or the design")


def _nic_of_other_network_problem(offered: Offered, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    """The problem of Ethernet-only NICs, by their order code, for the ports of all nodes in an InfiniBand fabric."""
    fabric = cluster.scale_out
    if fabric is None or fabric.technology.family != "infiniband":
        return
    codes = _NIC_CODE.finditer(plain_part(offered.line))
    ids = {id_ for code in codes for id_ in ids_of_name("nic", code[0])}
    cards = [card for id_ in ids if isinstance(card := catalog.find("nic", id_), Nic)]
    enough = offered.kind == "node" or (offered.quantity or 0) >= cluster.nodes * fabric.nics_per_node
    if cards and enough and all(card.families and "infiniband" not in card.families for card in cards):
        message = f"`{name_of_part(offered.line.part)}` is {cards[0].name}, an Ethernet-only NIC, but the fabric is {fabric.technology.name}"
        yield RULE.problem(quote_path(offered.index, "part"), message, "order cards of the fabric")


def _other_nic_problem(offered: Offered, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a line that names another NIC generation than the design's. The line is for nodes, or for modules
    and cables of their NICs; NICs of a node count if their number matches.
    """
    fabric, text = cluster.scale_out, plain_part(offered.line)
    if fabric is None or fabric.nic is None or fabric.nics_per_node < 2:
        return
    named, own = named_entries(text, catalog, "nic"), fabric.nic.id
    if not named or _names_own(named, _own_names(own, catalog, "nic")):
        return
    counted = [name for name in sorted(named) if fabric.nics_per_node in counts_before(text, name)]
    family = own.split("-", maxsplit=1)[0]
    alike = [name for name in sorted(named) if name.split("-")[0] == family and not counts_before(text, name)]
    if other := next(iter([*counted, *([] if _SMALL_NIC.search(text) else alike)]), ""):
        message = f"`{name_of_part(offered.line.part)}` is with {other}, but the design has {own}"
        yield RULE.problem(quote_path(offered.index, "part"), message, "correct the line or the design")


def _switch_ports_problem(offered: Offered, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a switch whose ports in the text have another total rate than its model's."""
    text = plain_part(offered.line)
    stated = [int(count) * float(rate) * GIGABIT for count, rate in _PORTS.findall(text)]
    entries = [catalog.find("switch", id_) for id_ in switches_named(text, catalog)]
    rates = [
        entry.ports * entry.port_bandwidth.value
        for entry in entries
        if isinstance(entry, Switch) and entry.ports and entry.port_bandwidth is not None
    ]
    if stated and rates and all(max(one, whole) > 1.9 * min(one, whole) for one in [max(stated)] for whole in rates):
        message = f"`{name_of_part(offered.line.part)}` has ports of {display_bits(max(stated))} together by its text, but its model {display_bits(max(rates))}"
        yield RULE.problem(quote_path(offered.index, "part"), message, "correct the model or the ports")


def _order_codes(offered: Offered) -> list[str]:
    """The order codes in a line, in upper case: words with both letters and digits."""
    return [word for word in (offered.line.part or "").upper().split() if _CODE.match(word) is not None]


def _expected_entry(
    offered: Offered, cluster: Cluster, written: ScaleOutSpec | None, catalog: Catalog
) -> tuple[str, str]:
    """The kind of catalog entry that a line should name, and the id of the design's entry; empty if the design states
    none.
    """
    fabric = cluster.scale_out
    hours = offered.kind == "other" and unit_of_hours(plain_part(offered.line)) != ""
    rent = offered.kind == "other" and _rents_nodes(offered, cluster, catalog)
    if offered.kind in {"node", "accelerator"} or hours or rent or _is_support_of_nodes(offered, cluster):
        return "accelerator", cluster.accelerator.id
    if offered.kind in ANY_SWITCH:
        stated = written is not None and written.switch is not None and fabric is not None and fabric.switch is not None
        return "switch", fabric.switch.id if stated and fabric and fabric.switch else ""
    if offered.kind == "nic" and fabric is not None and fabric.nic is not None:
        return "nic", fabric.nic.id
    return "", ""


def _rents_nodes(offered: Offered, cluster: Cluster, catalog: Catalog) -> bool:
    """Whether a line rents as many machines as the design has nodes, each with the same number of accelerators."""
    if offered.line.quantity not in {cluster.nodes, cluster.all_nodes} or is_credit(offered.line):
        return False
    text = plain_part(offered.line)
    named = named_entries(text, catalog, "accelerator")
    return any(cluster.accelerators_per_node in counts_before(text, name) for name in named)


def _is_support_of_nodes(offered: Offered, cluster: Cluster) -> bool:
    """Whether a line sells support for as many nodes as the design has, and is not a credit."""
    counted = offered.line.quantity in {cluster.nodes, cluster.all_nodes}
    return (
        offered.kind == "other" and counted and not is_credit(offered.line) and sells_support(plain_part(offered.line))
    )


def _sibling_problem(offered: Offered, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a quote line that names a sibling of the accelerator, with another form factor or memory size."""
    text = " ".join((offered.line.part or "").lower().replace("_", " ").replace("-", " ").split())
    if offered.kind not in {"node", "accelerator"} and kind_of_part(f"{text} gpu") != "accelerator":
        return
    base, *rest = cluster.accelerator.id.split("-")
    siblings = [id_.split("-")[1:] for id_ in catalog.ids("accelerator") if id_.split("-")[0] == base]
    if rest and (off := _other_variants(text, base, rest, siblings, cluster.accelerators_per_node)):
        message = f"`{name_of_part(offered.line.part)}` is the part with {and_list(off)}, but the design has {cluster.accelerator.name}"
        yield RULE.problem(quote_path(offered.index, "part"), message, "correct the line or the design")


def _other_variants(text: str, base: str, own: list[str], siblings: list[list[str]], of_node: int) -> list[str]:
    """The form factors and memory sizes in GB of a sibling that a text names: some mention of the family states them,
    and none states those of the designed part.

    ``own`` and ``siblings`` are the words of ids after the family's name; ``of_node`` is the number of accelerators
    whose memory a text may add up.

    >>> families = [["sxm", "80gb"], ["pcie", "80gb"], ["nvl", "94gb"]]
    >>> _other_variants("hgx h100 board, 8 x h100 pcie 80 gb", "h100", ["sxm", "80gb"], families, 8)
    ['pcie']
    >>> _other_variants("h100 sxm in place of h100 pcie", "h100", ["sxm", "80gb"], families, 8)
    []
    """
    named = [*pattern(rf"\b{base}(?: (\d+) ?gb)?(?: (sxm|pcie|nvl)\d?\b)?(?: (\d+) ?gb)?").finditer(text)]
    forms = dict.fromkeys(match[2] for match in named if match[2])
    off = [form for form in forms if any(form in each for each in siblings)] if forms.keys().isdisjoint(own) else []
    memories = dict.fromkeys(memory for match in named if (memory := match[1] or match[3]))
    sizes = {memory: {f"{memory}gb", f"{int(memory) // of_node}gb"} for memory in memories}
    if any(part.endswith("gb") for part in own) and not any(not size.isdisjoint(own) for size in sizes.values()):
        off += [f"{memory} GB" for memory, size in sizes.items() if any(not size.isdisjoint(each) for each in siblings)]
    return off


def _other_switch_problem(
    offered: Offered, cluster: Cluster, written: ScaleOutSpec | None, catalog: Catalog
) -> Iterator[Problem]:
    """The problem of a switch with another technology than the fabric or a slower rate, if the design names none."""
    fabric = cluster.scale_out
    if fabric is None or (written and written.switch):
        return
    for id_ in switches_named(offered.line.part or "", catalog):
        switch = catalog.find("switch", id_)
        if not isinstance(switch, Switch) or switch.port_bandwidth is None:
            continue
        family = fabric.technology.family
        rate = fabric.nic_bandwidth.value / fabric.planes
        if switch.families and family not in switch.families and family in {"infiniband", "omni-path", "slingshot"}:
            what = f"has no {fabric.technology.name}"
        elif switch.port_bandwidth.value < rate * 0.99:
            what = f"has ports of {display_bits(switch.port_bandwidth.value)}, but a NIC {display_bits(rate)}"
        else:
            continue
        yield RULE.problem(quote_path(offered.index, "part"), f"{switch.name} {what}", "correct the line or the design")
        return
