"""Modules and cables of a quote do not make up a link.

## What it finds

A line of `procurement.quote` that offers

- a passive copper cable longer than any that is sold at its rate;
- a module, or a switch with cages, of a form that cannot carry its stated rate, such as 200 Gb/s in QSFP28;
- a divided cable whose ends add up to another rate than the one end, such as 400 Gb/s to two of 400 Gb/s;
- modules for the ports of all nodes of a lower rate than all modules that `scale_out.optics` states;
- words for multimode and for single-mode fiber at once, such as `OM4 single-mode` or `SR4 single-mode`;
- a length, a kind of light or of fiber, ends, a form, or a rate other than its order code stands for;
- modules for the NICs of another kind of light than those for the switches, such as DR4 and FR4;
- a module that fits the cages of neither the switches nor the NICs of the design, or has fins where they take flat ones;
- a cable with OSFP at every end for NICs whose lines name cages for QSFP112, or the reverse;
- a module with one port for switches whose cages carry two;
- enough modules in all, but too few for one end: flat modules for the nodes, or finned modules for the switches;
- fiber with pins at both ends (male), which the modules have themselves;
- fiber with LC ends where all modules have MPO ends, or the reverse: the quoted modules, else those of the design;
- a module for multimode fiber where all quoted fiber is single-mode, or the reverse.

## Why it matters

The parts arrive together and no link comes up: passive copper of lanes of 100 Gb/s reaches 3 m, and light of a DR4
module, four fibers in each direction, does not enter an FR4 module, which has one.

## What to do

Ask the supplier which of the two is meant, and correct the line.

## When to ignore it

Ignore it where a line is for links that the design does not describe.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 4, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 4, unit_price: 280000, price: 1120000}
    - {part: "DAC cable 400G, 7 m", quantity: 32, unit_price: 210, price: 6720}
```

```yaml procurement.quote[2].part
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 4, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 4, unit_price: 280000, price: 1120000}
    - {part: "800G 2xDR4 transceiver, switch side", quantity: 16, unit_price: 1300, price: 20800}
    - {part: "400G FR4 transceiver, NIC side", quantity: 32, unit_price: 900, price: 28800}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 4, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 4, unit_price: 280000, price: 1120000}
    - {part: "MFP7E30-N020 fiber cable, 50 m", quantity: 32, unit_price: 190, price: 6080}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 4, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: HGX H200 server, quantity: 4, unit_price: 280000, price: 1120000}
    - {part: "800G 2xDR4 transceiver, switch side", quantity: 16, unit_price: 1300, price: 20800}
    - {part: "400G DR4 transceiver, NIC side", quantity: 32, unit_price: 900, price: 28800}
    - {part: "MFP7E30-N020 fiber cable, 20 m", quantity: 32, unit_price: 190, price: 6080}
```

## Sources

- Copper cables and their lengths: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/copper-dac-and-lacc-cables-overview
- Ends of fiber cables: https://docs.nvidia.com/networking/display/mfp7e30nxxx
- Cages of a switch, and its modules: https://docs.nvidia.com/networking/display/QM97X0PUB/Interfaces
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Optics, Switch
from clusterspec.cluster.clos import ModuleCount
from clusterspec.cluster.fleet import Fleet
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.part_names import ANY_SWITCH, CABLING, plain_part
from clusterspec.procurement.quotes import lines_by_end, offered_quantity
from clusterspec.rules.knowledge.fabric_parts import FabricCount, connectors_of_node, fits_cage
from clusterspec.rules.readers.quotes.links import (
    FASTEST,
    LinkPart,
    ends_of_fiber,
    fiber_of,
    has_rate,
    length_of_code,
    light_of,
    link_part,
    modules_of_design,
    names_both_fibers,
    overloaded_form,
    standard_of,
    too_long_copper,
    unequal_ends,
)
from clusterspec.rules.readers.quotes.readings import lines_of_quote
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part, or_list
from clusterspec.spec.model import ProcurementSpec, ScaleOutSpec
from clusterspec.standard import pattern
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error", "likely", yields_to=("quote-text-off-design",))
ENOUGH = 0.98
"""Share of the needed modules at one end of the links below which another way of counting ports cannot explain the
shortage.
"""
_ENDS = {"SR": "parallel", "DR": "parallel", "FR": "duplex", "LR": "duplex"}
"""Connectors of a module's fiber by optical standard: SR and DR have a fiber per lane, FR and LR use wavelengths."""
_CONNECTORS = {"parallel": "MPO", "duplex": "LC"}
_SEVERAL_PORTS = pattern(
    r"\b(?:twin|dual|two|2|double|doppel\w*|dobl\w*|dupl\w*)[- ]?(?:ports?\b|port\w*|\d|bi-port)|\b[2-8] ?[x×]|\bports? (?:each|per)"
)
"""Pattern of words for a module with several ports, whose stated rate may be that of one port."""
_SINGLE_PORT = pattern(r"\bsingle[- ]port\b")
_FLAT = pattern(r"\bflat[- ]?top\b|\bflat\b")
_FINNED = pattern(r"\bfinned\b|\bfins\b|\bfinned[- ]top\b")
_PINS = pattern(
    r"(?<!fe)\bmale(?:[- /]?(?:to[- ])?male)\b|\bpinned\b|\bm/m\b|männlich/männlich|\bmacho[-/ ]macho\b|\bmâle[-/ ]mâle\b"
)
_ANGLED_MPO = "MFP7E"
"""Start of NVIDIA's order codes of fiber with MPO-12/APC connectors."""
_FLAT_ENDS = pattern(r"(?:\b|/)upc\b")
_LOT = pattern(r"(?i)^\W*(?:lots?|lotes?|lotto|los|perceel|część|item|system|phase|cluster) ?\w{1,3} ?:")
_PANEL = pattern(r"\b(?:cassettes?|panels?|trunks?|extension|couplers?|female)\b")
_FIBER = pattern(r"\b(?:fib(?:er|re)s?|mpo|mtp|lc|trunks?|patch|jumpers?|om[345]|os2)\b")


def check(
    procurement: ProcurementSpec,
    cluster: Cluster | None,
    written_scale_out: ScaleOutSpec | None,
    fleet: Fleet | None,
    catalog: Catalog,
    counts: FabricCount,
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = [line for line in lines_of_quote(procurement.quote, cluster, fleet) if not is_credit(line.line)]
    if not lines:
        return
    every = [link_part(line, plain_part(line.line), catalog) for line in lines]
    for part in every:
        yield from _impossible_part_problem(part)
        if part.line.kind in CABLING and names_both_fibers(part.text_without_code):
            yield _problem(part, "names multimode and single-mode fiber", "ask which of the two is delivered")
        if part.code and part.line.kind in {*CABLING, "other"}:
            yield from _code_problem(part)
    modules = [part for part in every if part.line.kind == "transceiver"]
    if cluster is not None:
        yield from _cage_problems(modules, cluster)
    if counts.fabric is not None:
        yield from _uneven_ends_problem(modules, counts.fabric.modules)
    yield from _end_problem(every)
    yield from _optical_standard_problem(modules)
    cables = [part for part in every if part.line.kind == "cable"]
    designed = modules_of_design(written_scale_out, catalog)
    if cluster is not None:
        yield from _slower_module_problem(modules, cluster, designed)
    yield from _connector_problem(modules, cables, designed)
    yield from _module_without_fiber_problem(modules, cables)
    yield from _pin_problem(modules, cables)


def _problem(part: LinkPart, message: str, help_: str, severity: str = "error") -> Problem:
    at = quote_path(part.line.index, "part")
    return RULE.problem(at, f"`{name_of_part(part.line.line.part)}` {message}", help_, severity=severity)


def _impossible_part_problem(part: LinkPart) -> Iterator[Problem]:
    """The problem of a part that nobody makes, such as copper too long for its rate or a rate too high for its form."""
    if (copper := too_long_copper(part)) is not None:
        length, longest = copper
        message = f"has {length:g} m of passive copper, but cables of this rate are sold up to {longest:g} m"
        yield _problem(part, message, "order active copper (AEC) or optical cables (AOC), or correct the length")
    if part.line.kind in {*CABLING, *ANY_SWITCH, "other", "nic"} and (form := overloaded_form(part.text)) is not None:
        message = f"has {form[1]} Gb/s in {form[0]}, which carries at most {FASTEST[form[0]]} Gb/s"
        yield _problem(part, message, "correct the form or the rate")
    if part.line.kind in {*CABLING, "other"} and (ends := unequal_ends(part.text)) is not None:
        whole, number, each = ends
        message = f"divides {whole} Gb/s into {number} × {each} Gb/s, which are {number * each} Gb/s together"
        yield _problem(part, message, "correct one of the rates, or the number of ends")


def _code_problem(part: LinkPart) -> Iterator[Problem]:
    """The problem of a line whose words contradict its order code; the supplier ships the order code."""
    help_ = "ask which of the two is delivered: the supplier ships the order code"
    length = length_of_code(part.code)
    if length is not None and part.lengths and all(abs(each - length) > 0.26 for each in part.lengths):
        message = f"states {part.lengths[0]:g} m, but {part.code} is {length:g} m long"
        yield _problem(part, message, help_)
        return
    named, of_code = fiber_of(part.text_without_code), fiber_of(part.code.lower())
    if named and of_code and named != of_code:
        yield _problem(part, f"states {named} fiber, but {part.code} is {of_code}", help_)
        return
    if part.code.startswith(_ANGLED_MPO) and (other := _other_ends(part.text)):
        yield _problem(part, f"states {other} ends, but {part.code} has MPO-12/APC", help_)
        return
    entry = part.entry
    if entry is None or entry.type != "module":
        return
    own = standard_of(part)
    if own and part.standards and own not in part.standards:
        yield _problem(part, f"states {or_list(sorted(part.standards))}, but {part.code} is {own}", help_)
    elif (
        part.forms and entry.cages and not any(fits_cage((form,), cage) for form in part.forms for cage in entry.cages)
    ):
        yield _problem(
            part, f"states {or_list(sorted(part.forms))}, but {part.code} fits {or_list(entry.cages)}", help_
        )
    elif (entry.top == "flat" and _FINNED.search(part.text)) or (entry.top == "finned" and _FLAT.search(part.text)):
        own, stated = ("is flat", "fins") if entry.top == "flat" else ("has fins", "no fins")
        yield _problem(part, f"states {stated}, but {part.code} {own}", help_)
    elif entry.bandwidth is not None and part.rates:
        whole = entry.bandwidth.value
        if not has_rate(part, whole, whole / entry.ports):
            message = f"states {display_bits(part.rates[0])}, but {part.code} has {display_bits(whole)}"
            yield _problem(part, message, help_)


def _other_ends(text: str) -> str:
    """The connectors of a cable that a text names, unless they are angled MPO connectors or unnamed; else empty."""
    if ends_of_fiber(text) == "duplex":
        return "LC"
    return "flat (UPC)" if _FLAT_ENDS.search(text) is not None else ""


def _cage_problems(modules: Sequence[LinkPart], cluster: Cluster) -> Iterator[Problem]:
    """Problems of modules that fit no cage of the fabric, or whose ports or top do not suit their end."""
    fabric = cluster.scale_out
    if fabric is None:
        return
    switch = fabric.switch
    ends = {
        "node": connectors_of_node(cluster, fabric),
        "switch": (switch.connector,) if switch and switch.connector else (),
    }
    for part in modules:
        cages = ends[part.side] if part.side else (*ends["node"], *ends["switch"]) if all(ends.values()) else ()
        if part.forms and cages and not any(fits_cage((form,), cage) for form in part.forms for cage in cages):
            where = {"node": "the NICs", "switch": "the switches"}.get(part.side, "NICs and switches")
            message = f"is {or_list(sorted(part.forms))}, but the cages of {where} are {or_list(dict.fromkeys(cages))}"
            yield _problem(part, message, "order modules that fit the cages")
        elif part.side == "switch" and switch is not None and _has_one_port(part) and _ports_of_cage(switch) > 1:
            message = f"has one port, but a cage of {switch.name} carries {_ports_of_cage(switch)}"
            yield _problem(part, message, "order modules with as many ports as a cage")
        elif part.side == "node" and "OSFP" in ends["node"] and _FINNED.search(part.text) is not None:
            yield _problem(part, "has fins, but OSFP cages of nodes take flat modules", "order the flat part")
        elif part.side == "switch" and switch is not None and switch.module_top == "finned" and _FLAT.search(part.text):
            yield _problem(part, f"is flat, but {switch.id} takes finned modules", "order the finned part")


def _end_problem(parts: Sequence[LinkPart]) -> Iterator[Problem]:
    """The problem of a split cable whose ends do not fit the NICs of the nodes in the same lot (``Lot 2:``)."""
    lots: dict[str, list[LinkPart]] = {}
    for part in parts:
        lot = _LOT.match(part.line.line.part or "")
        lots.setdefault(lot[0] if lot is not None else "", []).append(part)
    for own in lots.values():
        cages = {form for part in own if part.line.kind in {"node", "nic"} for form in _sizes(part.text)}
        for part in own:
            ends = _sizes(part.text) if part.line.kind == "cable" and part.line.is_complete else set()
            if len(cages) == 1 and ends and part.line.ways > 1 and cages.isdisjoint(ends):
                message = (
                    f"has {or_list(sorted(ends))} at its ends, but the NICs have cages for {or_list(sorted(cages))}"
                )
                yield _problem(part, message, "order cables whose ends fit the NICs")


def _sizes(text: str) -> set[str]:
    """The cage sizes that a text names; OSFP and QSFP do not fit each other."""
    return {size for size in ("OSFP", "QSFP") if size.lower() in text}


def _has_one_port(part: LinkPart) -> bool:
    """Whether a module has one port, by its order code or its text."""
    return part.entry.ports == 1 if part.entry is not None else _SINGLE_PORT.search(part.text) is not None


def _ports_of_cage(switch: Switch) -> int:
    """Number of ports per cage of a switch; 1 if unknown."""
    return (switch.ports or 1) // switch.cages if switch.cages and switch.ports else 1


def _uneven_ends_problem(modules: Sequence[LinkPart], needed: ModuleCount) -> Iterator[Problem]:
    """The problem of modules that are enough in total, while one end of the links has too few."""
    parts = {part.line.index: part for part in modules if not part.line.is_spare}
    ends = lines_by_end([part.line for part in parts.values()])
    if ends is None or not all(ends) or needed.assumed:
        return
    offered = [round(offered_quantity(lines)) for lines in ends]
    of_switches = needed.leaf + needed.spine + needed.core
    if sum(offered) < needed.total - needed.half_empty:
        return
    least = (("nodes", needed.node), ("switches", of_switches - needed.half_empty))
    for lines, has, (name, enough) in zip(ends, offered, least, strict=True):
        if has < ENOUGH * enough:
            subject = "and lines like it offer" if len(lines) > 1 else "offers"
            message = f"{subject} {has:,} modules for the {name}, but the design needs {enough:,}; only all {sum(offered):,} together are enough"
            help_ = f"exchange {enough - has:,} modules for ones that fit the {name}"
            yield _problem(parts[lines[0].index], message, help_)


def _optical_standard_problem(modules: Sequence[LinkPart]) -> Iterator[Problem]:
    """The problem of NIC modules with an optical standard that no switch module has."""
    ends: dict[str, dict[str, LinkPart]] = {"node": {}, "switch": {}}
    for part in modules:
        for side in (part.side,) if part.side else ends:
            ends[side].setdefault(standard_of(part), part)
    own, other = ends["node"], ends["switch"]
    if own and other and "" not in own.keys() | other.keys() and own.keys().isdisjoint(other):
        light, part = next(iter(own.items()))
        message = f"is {light}, but the modules of the switches are {or_list(sorted(other))}"
        yield _problem(part, message, "order modules of one kind of light for both ends")


def _module_without_fiber_problem(modules: Sequence[LinkPart], cables: Sequence[LinkPart]) -> Iterator[Problem]:
    """The problem of modules for one kind of fiber if all quoted fiber is of the other kind."""
    fibers = {fiber_of(part.text) for part in cables if not part.line.is_complete}
    if len(fibers) != 1 or "" in fibers:
        return
    (fiber,) = fibers
    for part in modules:
        if fiber_of(part.text) not in {"", fiber}:
            message = f"uses {fiber_of(part.text)} fiber, but all quoted fiber is {fiber}"
            yield _problem(part, message, "order modules and fiber of one kind")
            return


def _pin_problem(modules: Sequence[LinkPart], cables: Sequence[LinkPart]) -> Iterator[Problem]:
    """The problem of fiber with pins at both ends: the receptacles of modules have pins too."""
    for part in cables if modules else ():
        if _PINS.search(part.text) is not None and _PANEL.search(part.text) is None:
            message = "has pins at both ends, and so have the receptacles of the modules"
            yield _problem(part, message, "order cables without pins (female)")


def _slower_module_problem(
    modules: Sequence[LinkPart], cluster: Cluster, designed: Sequence[Optics]
) -> Iterator[Problem]:
    """The problem of modules for most ports of the fabric that are slower than all modules in the design."""
    whole = {each.bandwidth.value for each in designed if each.bandwidth is not None}
    fabric = cluster.scale_out
    if fabric is None or len(whole) != 1 or any(part.entry is not None for part in modules):
        return
    for part in modules:
        count = part.line.quantity or 0
        several = _SEVERAL_PORTS.search(part.text) is not None or len({*part.rates}) != 1
        if count >= cluster.nodes * fabric.nics_per_node and not several and max(part.rates) < min(whole) * 0.99:
            message = f"has {display_bits(part.rates[0])}, but the modules of `scale_out.optics` have {display_bits(min(whole))}"
            yield _problem(
                part, message, "order modules with the rate of those of the design, or say how many ports each has"
            )


def _connector_problem(
    modules: Sequence[LinkPart], cables: Sequence[LinkPart], designed: Sequence[Optics]
) -> Iterator[Problem]:
    """The problem of fiber whose connectors fit none of the quoted modules or, if those do not state it, of the
    design's modules.
    """
    needed = {_ENDS.get(standard_of(part), "") for part in modules}
    if needed <= {""}:
        needed = {_ENDS.get(light_of(each), "") for each in designed}
    if len(needed) != 1 or "" in needed:
        return
    for part in cables:
        ends = ends_of_fiber(part.text)
        if ends and ends not in needed and _FIBER.search(part.text) is not None:
            message = f"has {_CONNECTORS[ends]} ends, but all transceivers have {_CONNECTORS[needed.pop()]}"
            yield _problem(part, message, "order fiber with the ends of the modules")
            return
