"""The quote does not offer the parts that the design needs.

## What it finds

The rule compares each kind of part of `clusterspec bom` with the lines of `quote`.

The finding is an error for

- fewer nodes, leaf switches or NICs than needed;
- a third fewer spines than needed;
- 15 % fewer cables or transceivers than needed (any shortage, where `links` or `cables` states each level);
- a fabric without one kind of its parts;
- as many nodes as the design has accelerators.

It is a warning for

- switches without nodes;
- 2 % fewer cables or transceivers than needed;
- too few parts of a kind that the spec does not name;
- NICs or accelerators for at least half of the nodes, next to lines of nodes whose platform or accelerators include them, as
  suppliers also quote such nodes without them;
- fewer switches than the spec states;
- a quarter too many cables, where `cables` or `links_per_cable` states each level;
- more than 10 % too many nodes;
- four times the needed parts of another kind, with more than eight in excess.

It is a note for

- more than 10 % too many parts otherwise (cables: more than one for each link);
- a quote that lacks only NICs, which servers often contain;
- a quote without the fabric, where a serving design does not describe it, or where it is shared and may exist already
  (its topology is unknown, or the design serves);
- a quote without cabling that at usual prices costs less than 1 % of it, or less than 3 % for a single switch, without modules where
  cables may have fixed ends;
- nodes alone or with services, since the network may be another order;
- a quote without parts that, according to the description or a comment, come from elsewhere, such as another contract;
- fewer nodes, where the description or a comment says how many are in place: other lines of such an expansion are not
  compared;
- a number that another reading of the quote explains: lines of an unknown part, or packs of several parts, fill the
  gap, some lines of a kind have exactly the needed number, only the cabling of `extra_endpoints` is missing, or a line
  such as `installation and cabling` may include the cables and modules that no line names.

A divided cable (`400G to 2x 200G`) counts by its links, as does one of twice the rate of the NICs.

A line for a whole lot (`cabling`, `network`) counts as all parts of its kind, and `fabric installation kit` as cables
and modules; trunks and shuffles, which carry several links each, are not counted. A shortage of modules is reported at the end, nodes or switches, whose lines have too few.

## Why it matters

Parts that a quote omits are ordered later, at list price and with their own lead time, and the machine waits for them.
Optics are omitted most often.

## What to do

Ask the supplier for the missing line. Compare the quote with `clusterspec bom`, line by line.

## When to ignore it

Ignore it for parts that the site has, or that another supplier delivers.

## Fires

```yaml procurement.quote
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 62
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 63, unit_price: 310000, price: 19530000}
    - {part: QM9700 leaf switch, quantity: 16, unit_price: 36000, price: 576000}
    - {part: QM9700 spine switch, quantity: 8, unit_price: 36000, price: 288000}
    - {part: node to leaf cable, quantity: 508, unit_price: 300, price: 152400}
    - {part: leaf to spine cable, quantity: 512, unit_price: 300, price: 153600}
```

```yaml procurement.quote[0].quantity
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 62
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 60, unit_price: 310000, price: 18600000}
    - {part: QM9700 leaf switch, quantity: 16, unit_price: 36000, price: 576000}
    - {part: QM9700 spine switch, quantity: 8, unit_price: 36000, price: 288000}
    - {part: node to leaf cable, quantity: 508, unit_price: 300, price: 152400}
    - {part: leaf to spine cable, quantity: 512, unit_price: 300, price: 153600}
    - {part: transceiver, quantity: 1020, unit_price: 1200, price: 1224000}
```

```yaml procurement.quote[0].quantity
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 62
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 504, unit_price: 38750, price: 19530000}
    - {part: QM9700 leaf switch, quantity: 16, unit_price: 36000, price: 576000}
    - {part: QM9700 spine switch, quantity: 8, unit_price: 36000, price: 288000}
    - {part: node to leaf cable, quantity: 508, unit_price: 300, price: 152400}
    - {part: leaf to spine cable, quantity: 512, unit_price: 300, price: 153600}
    - {part: transceiver, quantity: 1020, unit_price: 1200, price: 1224000}
```

```yaml procurement.quote
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: leaf switch, quantity: 8, unit_price: 36000, price: 288000}
    - {part: spine switch, quantity: 4, unit_price: 36000, price: 144000}
    - {part: support for 3 years, quantity: 1, unit_price: 150000, price: 150000}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 62
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 63, unit_price: 310000, price: 19530000}
    - {part: QM9700 leaf switch, quantity: 16, unit_price: 36000, price: 576000}
    - {part: QM9700 spine switch, quantity: 8, unit_price: 36000, price: 288000}
    - {part: node to leaf cable, quantity: 508, unit_price: 300, price: 152400}
    - {part: leaf to spine cable, quantity: 512, unit_price: 300, price: 153600}
    - {part: transceiver, quantity: 1020, unit_price: 1200, price: 1224000}
```

## Sources

- A bill without optics: https://docs.google.com/spreadsheets/d/1Ft3RbeZ-w43kYSiLfYc1vxO41mK5lmJpcPC9GOYHAWc/edit
- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
- Cables and transceivers of a pod: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.bill import Bill, bill, may_have_fixed_ends
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import ANY_SWITCH, SWITCHES, WHOLE_NETWORK
from clusterspec.procurement.quotes import needed_parts, nodes_in_place, offered_quantity, shortest_end_first
from clusterspec.rules.knowledge.fabric_parts import (
    has_unknown_shape,
    is_far_surplus,
    may_have_no_fabric,
    states_cabling,
    states_links,
    states_modules,
)
from clusterspec.rules.knowledge.market import is_minor_cabling
from clusterspec.rules.knowledge.purchases import (
    counted_kind,
    is_bought,
    name_of_kind,
    plural_of_kind,
    surplus_question,
)
from clusterspec.rules.readers.purchases.orders import are_elsewhere
from clusterspec.rules.readers.quotes.fabric import is_quoted_without_fabric
from clusterspec.rules.readers.quotes.readings import (
    OF_ENDPOINT,
    doubt_about,
    doubt_about_cabling,
    doubted_problems,
    links_of,
    names_every_part,
    with_doubt,
    with_own_cables,
)
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
ENOUGH = {"cable": 0.98, "transceiver": 0.98, "spine_switch": 2 / 3, "core_switch": 2 / 3, "switch": 0.85}
"""Share of the bill that suffices, by kind; to spread uplinks evenly, it has up to half more spines than needed."""
FAR = 0.85
"""Share of the needed cables and modules below which another way of counting cannot explain the shortage."""
SURPLUS = 1.1
FAR_ABOVE = 1.25
"""Ratio to the bill above which cables are a warning, if the spec states the links per cable; spares are 2 to 10 %."""
INCLUDED = 0.5
"""Smallest share of the parts inside all nodes at which a line cannot be a stock of spare parts."""
HELP = "compare the quote with `clusterspec bom`, line by line"


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    if not procurement.quote or not is_bought(procurement, cluster):
        return
    lines = list(offered_lines(procurement.quote, cluster))
    counted = bill(design)
    needed = needed_parts(counted, lines)
    if is_quoted_without_fabric(design, cluster, lines) or has_unknown_shape(design):
        needed = {kind: count for kind, count in needed.items() if kind in {"node", "nic"}}
    if (added := _added_nodes_problem(lines, needed.get("node", 0), remarks)) is not None:
        yield added
        return
    nodes, own = needed.get("node", 0), [line for line in lines if line.kind == "node"]
    yield from doubted_problems(_node_problem(lines, nodes, cluster), nodes, own, lines)
    assumed = {item.kind for item in counted.items if item.assumed}
    exact, decided = states_links(design, counted.fabric), states_cabling(design, counted.fabric)
    links = sum(counted.fabric.links.values()) if counted.fabric is not None else 0
    extra = cluster.scale_out.extra_endpoints if cluster.scale_out is not None else 0
    rate = cluster.scale_out.nic_bandwidth.value if cluster.scale_out is not None else 0.0
    for kind, count in needed.items():
        if kind != "node":
            guessed = kind in assumed or (kind == "switch" and bool(assumed & {*SWITCHES}))
            offered = [line for line in lines if line.kind == kind]
            counts_modules = kind == "transceiver" and states_modules(design)
            surplus = "warning" if (kind == "cable" and decided) or counts_modules else "note"
            if kind == "transceiver" and counted.fabric is not None:
                offered = shortest_end_first(offered, counted.fabric.modules)
                if count - counted.fabric.modules.half_empty <= offered_quantity(offered) < count:
                    continue  # enough where no cage of a switch is half empty
            own = [line for line in offered if not line.is_spare]
            if kind == "cable" and not decided and count <= offered_quantity(own) <= links:
                continue  # up to a cable for each link, as ports with two connectors have
            by_link = kind == "cable" and not decided and links_of(offered, rate) >= count
            if not by_link or offered_quantity(own) >= count:
                found = _count_problem(kind, count, offered, guessed, exact, surplus)
                missing = count - offered_quantity(own)
                found = with_own_cables(found, missing, extra * OF_ENDPOINT.get(kind, 0))
                found = doubted_problems(found, count, own, lines)
                yield from (
                    with_doubt(problem, _note_on_parts_in_place(kind, missing, lines, remarks)) for problem in found
                )
    yield from _stated_switch_problems(lines, needed, design)
    yield from _included_part_problems(lines, cluster)
    yield from _missing_part_problems(lines, needed, counted, design, cluster, remarks)


def _note_on_parts_in_place(kind: str, missing: float, lines: Sequence[Offered], remarks: str) -> str:
    """The end of a message about missing parts that, by the text, exist or come from elsewhere; else empty."""
    texts = " # ".join([remarks, *(line.line.part or "" for line in lines if line.kind == kind)])
    in_place = missing > 0 and are_elsewhere({kind: round(missing)}, texts)
    return "; according to the text, some are in place, or come from elsewhere" if in_place else ""


def _added_nodes_problem(lines: Sequence[Offered], needed: int, remarks: str) -> Problem | None:
    """The note that a quote has only a part of the nodes, if by the text the others exist already; else None."""
    nodes = [line for line in lines if line.kind == "node" and line.quantity is not None]
    in_place = nodes_in_place(lines, needed, remarks)
    if not in_place:
        return None
    message = f"the quote offers {needed - in_place:,} of {plural(needed, 'node')}; according to the text, {in_place:,} are in place, so other lines are not compared"
    help_ = "compare the other lines with `clusterspec bom` of the machine before and after"
    return RULE.problem(quote_path(nodes[0].index, "quantity"), message, help_, severity="note")


def _node_problem(lines: Sequence[Offered], nodes: int, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a wrong number of nodes or, if the quote counts accelerators, of accelerators."""
    each = cluster.accelerators_per_node
    offered = [line for line in lines if line.kind == "node" and line.quantity is not None]
    if not offered:
        offered = [line for line in lines if line.kind == "accelerator" and line.quantity and not line.is_spare]
        total, needed, unit = offered_quantity(offered), nodes * each, "accelerators"
        if total == nodes and each > 1:
            message = (
                f"{total:g} accelerators are quoted, as many as the design has nodes; it has {needed:,} accelerators"
            )
            yield RULE.problem(
                quote_path(offered[0].index, "quantity"), message, f"ask for {needed:,}, or for a price per node"
            )
            return
    else:
        total, needed, unit = offered_quantity(offered), nodes, "nodes"
        if each > 1 and total in {nodes * each, cluster.nodes * each}:
            message = f"{total:,.0f} nodes are quoted, as many as the design has accelerators; it has {nodes:,} nodes of {each}"
            yield RULE.problem(
                quote_path(offered[0].index, "quantity"),
                message,
                f"ask for {plural(nodes, 'node')}, or for a price per accelerator",
            )
            return
    if offered:
        yield from _difference_problem(
            f"{total:,.0f} {unit}", total, needed, quote_path(offered[0].index, "quantity"), surplus="warning"
        )


def _count_problem(
    kind: str, needed: int, lines: Sequence[Offered], guessed: bool, exact: bool, surplus: str
) -> Iterator[Problem]:
    """The problem of a wrong number of parts of a kind; ``surplus`` is the severity of a number far above the bill."""
    counted = [line for line in lines if not line.is_spare and (line.quantity is not None or line.is_periodic)]
    if not counted or any(line.has_own_units or line.is_periodic for line in counted):
        return
    cabling = kind in {"cable", "transceiver"}
    least = needed * (1.0 if cabling and exact else ENOUGH.get(kind, 1.0))
    guessed = guessed or (cabling and not exact and offered_quantity(counted) >= FAR * needed)
    yield from _difference_problem(
        counted_kind(kind, offered_quantity(counted)),
        offered_quantity(counted),
        needed,
        quote_path(counted[0].index, "quantity"),
        least,
        guessed,
        _surplus_severity(offered_quantity(counted), needed, surplus),
    )


def _surplus_severity(total: float, needed: int, far: str) -> str:
    """The severity of a surplus; ``far`` applies from a quarter above the need on."""
    if is_far_surplus(total, needed):
        return "warning"
    return far if total > FAR_ABOVE * needed else "note"


def _difference_problem(
    counted: str,
    total: float,
    needed: int,
    at: tuple[str | int, ...],
    least: float | None = None,
    guessed: bool = False,
    surplus: str = "note",
) -> Iterator[Problem]:
    """The problem of a total below ``least``, or above the need with the severity ``surplus``."""
    if total < (needed if least is None else least):
        message = f"the quote has {counted}, but the design needs {needed:,}: {needed - total:,.0f} {'is' if needed - total == 1 else 'are'} missing"
        if guessed:
            message += "; the count rests on parts that the spec leaves open, or on a way of counting"
        yield RULE.problem(at, message, HELP, severity="warning" if guessed else "error")
    elif total > SURPLUS * needed:
        message = f"the quote has {counted}, but the design needs {needed:,}"
        yield RULE.problem(at, message, surplus_question(total - needed), severity=surplus)


def _stated_switch_problems(lines: Sequence[Offered], needed: Mapping[str, int], design: Design) -> Iterator[Problem]:
    """Problems of switches that suffice, but are fewer than the spec states: one of the two numbers is wrong."""
    out = design.spec.cluster.scale_out if design.spec.cluster else None
    for kind in SWITCHES:
        key = f"{kind}es"
        stated = getattr(out, key, None)
        offered = [line for line in lines if line.kind == kind and line.quantity is not None and not line.is_lot]
        total = offered_quantity(offered)
        if stated and offered and needed.get(kind, 0) <= total < stated:
            name = plural(round(total), kind.replace("_", " "))
            message = f"the quote has {name}, but `scale_out.{key}` states {stated:,}"
            yield RULE.problem(quote_path(offered[0].index, "quantity"), message, HELP, severity="warning")


def _included_part_problems(lines: Sequence[Offered], cluster: Cluster) -> Iterator[Problem]:
    """Problems of quoted parts that the nodes already include."""
    if not any(line.kind == "node" for line in lines):
        return
    for kind, each, owner in _included_parts(cluster):
        offered = [line for line in lines if line.kind == kind and line.quantity is not None and not line.is_lot]
        total = offered_quantity(offered)
        if each and offered and total >= INCLUDED * each * cluster.all_nodes:
            message = f"the quote has {counted_kind(kind, total)} in addition to the nodes, but {owner}"
            help_ = f"remove the line, unless the quote has nodes without {plural_of_kind(kind)}"
            if cluster.has_built_in_nics and kind == "nic":
                help_ = "remove the line, unless the NICs serve another network"
            yield RULE.problem(quote_path(offered[0].index, "quantity"), message, help_, severity="warning")


def _included_parts(cluster: Cluster) -> Iterator[tuple[str, int, str]]:
    """The kinds of parts that each node includes, with their number and the words for what has them."""
    fabric, platform = cluster.scale_out, cluster.platform
    if fabric is not None and cluster.has_built_in_nics:
        yield "nic", fabric.nics_per_node, "the fabric uses the network ports of the accelerators themselves"
    if platform is None:
        return
    sold = platform.nics_per_node or 0
    adds_nics = fabric is None or fabric.nics_per_node > sold
    is_open = platform.form == "baseboard"  # the maker of the server decides
    if not (adds_nics or is_open or cluster.has_built_in_nics):
        yield "nic", sold, f"a {platform.name} includes {sold} NICs"
    each = cluster.accelerators_per_node
    yield "accelerator", each, f"a {platform.name} includes {each} {plural_of_kind('accelerator')}"


def _missing_part_problems(
    lines: Sequence[Offered], needed: Mapping[str, int], counted: Bill, design: Design, cluster: Cluster, remarks: str
) -> Iterator[Problem]:
    kinds = {kind for line in lines if line.kind != "accelerator" or not line.is_spare for kind in line.covered_kinds}
    kinds |= {kind for line in lines if line.kind in {"node", *WHOLE_NETWORK} for kind in line.described_cabling}
    whole = not kinds.isdisjoint(WHOLE_NETWORK)
    missing = {kind: count for kind, count in needed.items() if kind not in kinds and kind != "node"}
    if not kinds & {"node", "accelerator"}:
        if needed.get("node") and names_every_part(lines):
            message = f"the quote has no line for the {plural(needed['node'], 'node')} of the design"
            help_ = "ask for the line, name it `node`, or say in a waiver who delivers the nodes"
            texts = " # ".join([remarks, *(line.line.part or "" for line in lines)])
            there = are_elsewhere({"node": needed["node"]}, texts)
            yield RULE.problem("procurement.quote", message, help_, severity="note" if there else "warning")
        return
    if not missing:
        return
    named = and_list(plural(count, name_of_kind(kind)) for kind, count in missing.items())
    assumed = counted.fabric is not None and bool(counted.fabric.modules.assumed) and set(missing) == {"transceiver"}
    included = {"nic", "transceiver"} if may_have_fixed_ends(design) else {"nic"}  # servers are sold with their NICs
    elsewhere = set(missing) <= included or may_have_no_fabric(design, cluster) or are_elsewhere(missing, remarks)
    switches = sum(count for kind, count in needed.items() if kind in ANY_SWITCH)
    cabling = {kind: count for kind, count in missing.items() if kind not in included}
    few = is_minor_cabling(cabling, design, design.spec.procurement, switches)
    message = f"the quote has no line for {named}, which the design needs"
    help_ = "ask for the line, or say in a waiver who delivers the parts"
    if "transceiver" in missing and "transceiver" in included:
        help_ += "; state `cable_type` where cables have fixed ends"
    alone = {line.kind for line in lines} <= {
        "node",
        "other",
    }  # the network may be another order, which nothing here names
    severity = "note" if elsewhere or few or alone else "error" if whole and not assumed else "warning"
    doubts = [doubt_about(count, [], lines) for count in missing.values()]
    problem = RULE.problem("procurement.quote", message, help_, severity=severity)
    yield with_doubt(problem, doubts[0] if all(doubts) else doubt_about_cabling(missing, lines))
