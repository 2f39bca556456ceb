"""The quote does not offer the parts that all pools of a fleet need.

## What it finds

The rule compares the bills of all pools together with the lines of `quote`, by kind of part: nodes with spares,
switches, cables, transceivers and NICs. Fewer nodes than needed are an error. Where each line for nodes names its
accelerator, this holds for each accelerator: too many nodes with another one do not make up for it. If the quote has
lines for the network, a kind of part without a line is a warning. A shortage of network parts beyond the difference
between counting methods (15 %; a third of the spines) is also a warning. It is a note where the nodes of one pool are
quoted, and the description or a comment says that the others exist or are in another lot. Of a pool with a phase before
`as_of`, only the nodes that later phases add are compared. A line that is sold by the accelerator, node or rack is an
error if its quantity is the number of another of these units in some of the pools.

## Why it matters

Parts that a quote omits are ordered later, at list price and with their own lead time. A quote that lists several
machines together hides a forgotten pool, since no single pool can be compared with it.

## What to do

Ask the supplier for the missing line. Compare the quote with `clusterspec bom`, which lists each pool.

## When to ignore it

Ignore it for pools that the site has, or that another supplier delivers; leave those out of the fleet.

## Fires

```yaml procurement.quote[0].quantity
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX B200 system, quantity: 16, unit_price: 400000, price: 6400000}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

```yaml procurement.quote
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX B200 system, quantity: 18, unit_price: 400000, price: 7200000}
    - {part: DGX H200 system, quantity: 6, unit_price: 300000, price: 1800000}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-b200, nodes: 16}
  serve: {platform: dgx-h200, nodes: 8}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX B200 system, quantity: 16, unit_price: 400000, price: 6400000}
    - {part: DGX H200 system, quantity: 8, unit_price: 300000, price: 2400000}
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Sources

- A bill without optics: https://docs.google.com/spreadsheets/d/1Ft3RbeZ-w43kYSiLfYc1vxO41mK5lmJpcPC9GOYHAWc/edit
- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import product

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.finding import Problem
from clusterspec.procurement.bill import bill, may_have_fixed_ends
from clusterspec.procurement.offered import Offered, lines_of_pools
from clusterspec.procurement.part_names import ANY_SWITCH, WHOLE_NETWORK
from clusterspec.procurement.quotes import needed_parts, nodes_by_accelerator, without_fabric
from clusterspec.rules.knowledge.market import is_minor_cabling
from clusterspec.rules.knowledge.purchases import counted_kind, date_of_text, is_bought, name_of_kind, plural_of_kind
from clusterspec.rules.readers.purchases.orders import MOST_POOLS, are_elsewhere, bought_pools
from clusterspec.rules.readers.quotes.fabric import pool_has_no_fabric
from clusterspec.rules.readers.quotes.readings import doubt_about_cabling, with_doubt
from clusterspec.rules.readers.quotes.units import unit_of_line, units_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import sum_of

RULE = Rule.of(__name__, "error", "likely")
ENOUGH = {"spine_switch": 2 / 3, "core_switch": 2 / 3, "nic": 1.0}
"""For each kind of part, the share of the bill that a quote must contain; the bill counts a cable for every uplink."""
USUAL = 0.85
"""Share of the bill for other network parts below which another way of counting cannot explain the shortage."""
HELP = "compare the quote with `clusterspec bom`, pool by pool"


def check(fleet: Fleet, remarks: str) -> Iterator[Problem]:
    procurement = fleet.spec.procurement
    if procurement is None or not procurement.quote or len(fleet.pools) < 2:
        return
    pools = [pool for pool in fleet.pools.values() if pool.cluster is not None and pool.design is not None]
    if not pools or any(pool.cluster is None or not is_bought(procurement, pool.cluster) for pool in pools):
        return
    machines = [pool.cluster for pool in pools if pool.cluster is not None]
    every = lines_of_pools(procurement.quote, machines)
    by_pool = {pool.name: _needed_parts_of(pool, fleet, every) for pool in pools}
    by_pool |= _added_parts(by_pool, fleet, date_of_text(procurement.as_of))
    bought = bought_pools({name: parts.get("node", 0) for name, parts in by_pool.items()}, every, remarks)
    by_pool = {name: _with_one_switch(parts, every) for name, parts in by_pool.items() if name in bought}
    yield from _unit_problems(every, pools)
    lines = [line for line in every if line.kind != "other"]
    kinds = dict.fromkeys(kind for needed in by_pool.values() for kind in needed)
    offered = {kind for line in every for kind in line.covered_kinds}
    offered |= {kind for line in every if line.kind in {"node", *WHOLE_NETWORK} for kind in line.described_cabling}
    networked = not offered.isdisjoint(WHOLE_NETWORK)
    for kind in kinds:
        needed = {name: parts[kind] for name, parts in by_pool.items() if kind in parts}
        own = [line for line in lines if line.kind == kind or (kind == "switch" and line.kind in ANY_SWITCH)]
        if own:
            short = [*_shortage_problem(kind, needed, own, remarks)]
            yield from short
            if kind == "node" and not short:
                yield from _exchanged_node_problems(needed, fleet, every)
        elif kind == "node" and "accelerator" not in offered and lines:
            yield RULE.problem(
                "procurement.quote", f"the quote has no line for {_counted_parts_text(kind, needed)}", HELP
            )
        elif kind not in offered and kind not in {"node", "nic"} and networked:
            message = f"the quote has no line for {_counted_parts_text(kind, needed)}"
            fixed = kind == "transceiver" and all(_may_have_fixed_ends(fleet.pools[name]) for name in needed)
            minor = all(
                _is_minor({kind: count}, fleet.pools[name], by_pool[name], procurement)
                for name, count in needed.items()
            )
            problem = RULE.problem("procurement.quote", message, HELP, severity="note" if fixed or minor else "warning")
            yield with_doubt(problem, doubt_about_cabling({kind}, every))


def _is_minor(missing: Mapping[str, int], pool: Pool, needed: Mapping[str, int], procurement: ProcurementSpec) -> bool:
    """Whether the cables or modules of a pool are a minor part of the quote."""
    switches = sum(number for each, number in needed.items() if each in ANY_SWITCH)
    design = pool.design
    return design is not None and is_minor_cabling(missing, design, procurement, switches)


def _may_have_fixed_ends(pool: Pool) -> bool:
    """Whether the cables of a pool may have modules at their ends."""
    return pool.design is not None and may_have_fixed_ends(pool.design)


def _needed_parts_of(pool: Pool, fleet: Fleet, lines: Sequence[Offered]) -> dict[str, int]:
    """The parts that a pool needs; only its nodes if none of its jobs needs a fabric."""
    if pool.design is None:
        return {}
    counted = bill(pool.design)
    return needed_parts(without_fabric(counted) if pool_has_no_fabric(fleet, pool) else counted, lines)


def _added_parts(
    by_pool: Mapping[str, Mapping[str, int]], fleet: Fleet, today: date | None
) -> dict[str, dict[str, int]]:
    """The nodes that later phases add to pools whose first phase is already in place; the parts of their fabric are
    unknown.
    """
    added = {}
    for name, parts in by_pool.items():
        phases = fleet.pools[name].spec.phases or ()
        there = [each.nodes or 0 for each in phases if (day := date_of_text(each.date)) and today and day <= today]
        if there and 0 < max(there) < parts.get("node", 0):
            added[name] = {"node": parts["node"] - max(there)}
    return added


def _with_one_switch(needed: Mapping[str, int], lines: Sequence[Offered]) -> dict[str, int]:
    """The parts of a pool; all switches count as one kind if a quote line does not state the level of its switches."""
    kinds = {line.kind for line in lines} & {*ANY_SWITCH}
    if "switch" not in kinds or len(kinds) < 2:
        return {**needed}
    switches = sum(count for kind, count in needed.items() if kind in ANY_SWITCH)
    others = {kind: count for kind, count in needed.items() if kind not in ANY_SWITCH}
    return others | ({"switch": switches} if switches else {})


def _unit_problems(lines: Sequence[Offered], pools: Sequence[Pool]) -> Iterator[Problem]:
    """Problems of quote lines sold by one unit whose quantity is the number of another unit in some of the pools."""
    each = [
        units_of(pool.design, pool.cluster) for pool in pools if pool.design is not None and pool.cluster is not None
    ]
    if len(each) > MOST_POOLS:
        return
    counts = {
        unit: {sum_of(chosen) for chosen in product(*({0, *one[unit]} for one in each))} - {0} for unit in each[0]
    }
    for line in lines:
        unit, quantity = unit_of_line(line), line.line.quantity
        if not unit or quantity is None or quantity <= 1 or quantity in counts[unit] or not counts[unit]:
            continue
        if other := next((name for name, numbers in counts.items() if quantity in numbers), ""):
            message = f"`{line.line.part}` is sold per {unit}: the quote has {quantity:,.0f}, which is a number of {other}s; the pools have {max(counts[unit]):,.0f} {unit}s"
            at = quote_path(line.index, "quantity")
            yield RULE.problem(at, message, f"ask for {max(counts[unit]):,.0f}, or ask what the line covers")


def _shortage_problem(
    kind: str, needed: Mapping[str, int], lines: Sequence[Offered], remarks: str
) -> Iterator[Problem]:
    """The problem of a kind of part if the quote has fewer parts than all pools need. It is a note if the quote covers
    the nodes of some pools and the text says that the others come from elsewhere.
    """
    counted = [line for line in lines if line.quantity is not None]
    if len(counted) < len(lines) or any(line.has_own_units for line in lines):
        return
    total, wanted = sum_of(line.quantity or 0.0 for line in counted), sum_of(needed.values())
    least = wanted * (1.0 if kind == "node" else ENOUGH.get(kind, USUAL))
    if total >= least:
        return
    message = f"the quote has {counted_kind(kind, total)}, but all pools need {_counted_parts_text(kind, needed)}"
    message += f": {wanted - total:,.0f} are missing"
    place = quote_path(counted[0].index, "quantity")
    of_some = kind == "node" and total in needed.values() and are_elsewhere({"node": 1}, remarks)
    severity = "note" if of_some else "error" if kind == "node" else "warning"
    yield RULE.problem(place, message, HELP, severity=severity)


def _exchanged_node_problems(needed: Mapping[str, int], fleet: Fleet, lines: Sequence[Offered]) -> Iterator[Problem]:
    """Problems of missing nodes with one accelerator while the quote has too many nodes with another one."""
    pools = [fleet.pools[name] for name in needed]
    machines = {
        pool.name: (bill(pool.design), pool.cluster)
        for pool in pools
        if pool.design is not None and pool.cluster is not None
    }
    catalog = next((pool.design.catalog for pool in pools if pool.design is not None), None)
    parts = nodes_by_accelerator(machines, lines, catalog) if catalog is not None else ()
    if any(line.kind == "node" and line.quantity is None for line in lines):
        return
    if sum_of(part.needed or 0 for part in parts) != sum_of(needed.values()):
        return  # of a pool that grows, the later phases alone are compared
    for part in parts:
        if part.has_too_few and part.needed is not None:
            short = part.needed - (part.quoted or 0.0)
            message = f"the quote has {part.quoted or 0:,.0f} nodes of {part.kind.removesuffix(' node')}, but the pools need {part.needed:,}: {short:,.0f} {'is' if short == 1 else 'are'} missing"
            yield RULE.problem("procurement.quote", message, HELP)


def _counted_parts_text(kind: str, needed: Mapping[str, int]) -> str:
    """The needed parts by pool, as text."""
    each = " + ".join(f"{count:,} ({name})" for name, count in needed.items())
    total = sum_of(needed.values())
    parts = name_of_kind(kind) if total == 1 else plural_of_kind(kind)
    return f"{each} = {total:,} {parts}" if len(needed) > 1 else f"{each} {parts}"
