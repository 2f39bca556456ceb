"""The phases of a pool do not grow to its size.

## What it finds

Phases whose dates do not ascend, whose nodes do not increase, or whose last number of nodes is not the `nodes` of the pool; a
last phase that begins after the `term`, counted from the first; and a phase without a date or nodes: errors. A first phase after `procurement.needed_by` is a warning,
and so is a last one before the last delivery: that of the milestones, else `delivery.weeks` after the order or `as_of`. It is an
error where the delivery is surely that of the pool: of a fleet with one pool, or by a milestone that names its platform alone. A first
phase after the order and before the first delivery of servers is an error where the text gives the day of the order, else a
warning.

## Why it matters

The design, the checks and the prices use the `nodes` of the pool, which is the size after the last phase. In the first
phase, space, power and ports must be reserved for the difference.

## What to do

List the phases in the order of their dates, and end with the `nodes` of the pool. Spares are there from the first phase on.

## When to ignore it

Do not ignore it: correct the phases, or leave them out.

## Fires

```yaml pools.train.phases[1].nodes
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-03-01, nodes: 32}, {date: 2027-09-01, nodes: 96}]
jobs:
  a: {pool: train}
```

```yaml pools.train.phases[1].date
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-09-01, nodes: 32}, {date: 2027-03-01, nodes: 64}]
jobs:
  a: {pool: train}
```

```yaml pools.train.phases[0].date
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-09-01, nodes: 32}, {date: 2027-12-01, nodes: 64}]
jobs:
  a: {pool: train}
procurement: {needed_by: 2027-03-01}
```

```yaml pools.train.phases[0].date
clusterspec: 1
description: The order is signed on 2026-11-16.
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-02-15, nodes: 32}, {date: 2027-09-01, nodes: 64}]
jobs:
  a: {pool: train}
procurement: {delivery: {milestones: ["Week 16: the first 32 DGX B200", "Week 28: the other 32 DGX B200"]}}
```

## Silent

```yaml
clusterspec: 1
pools:
  train:
    platform: dgx-b200
    nodes: 64
    phases: [{date: 2027-03-01, nodes: 32}, {date: 2027-09-01, nodes: 64}]
jobs:
  a: {pool: train}
```

## Sources

- Pools and jobs: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.purchases import date_of_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.timeline import Timeline
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error")


def check(fleet: Fleet) -> Iterator[Problem]:
    phased = [pool for pool in fleet.pools.values() if pool.spec.phases]
    last = max(phased, key=lambda pool: max(each.date or "" for each in pool.spec.phases or ()), default=None)
    for pool in fleet.pools.values():
        if pool.spec.phases and not fleet.spec.unreadable(("pools", pool.name, "phases")):
            yield from _phase_problems(pool)
            yield from _late_problem(pool, fleet)
            buying = fleet.spec.procurement
            yield from _outlasting_problem(pool, buying)
            if buying is not None and len(pool.spec.phases) > 1 and pool is last:
                texts = PurchaseTexts(buying, fleet.spec.description or "")
                yield from _undelivered_problems(pool, texts, _platform_names(fleet))


def _undelivered_problems(pool: Pool, texts: PurchaseTexts, names: Mapping[str, str]) -> Iterator[Problem]:
    """Problems of a first phase that starts after the order but before the first delivery, and of a last phase that
    starts before the last delivery.
    """
    first, last = (pool.spec.phases or ())[0], (pool.spec.phases or ())[-1]
    timeline = Timeline.of(texts)
    start, arrival, order = date_of_text(first.date), timeline.first_delivery, timeline.order
    if start is not None and arrival is not None and order is not None and order < start < arrival:
        message = f"pool `{pool.name}` has {plural(first.nodes or 0, 'node')} from {start}, but the first servers come on {arrival}"
        at = ("pools", pool.name, "phases", 0, "date")
        severity = "error" if timeline.states_order else "warning"
        yield RULE.problem(at, message, "let the phase follow the delivery", severity=severity, confidence="likely")
    planned, delivery = date_of_text(last.date), timeline.delivery
    if planned is not None and delivery is not None and planned < delivery:
        message = f"pool `{pool.name}` has all its nodes from {planned}, but the last delivery is on {delivery}"
        at = ("pools", pool.name, "phases", len(pool.spec.phases or ()) - 1, "date")
        severity = "error" if len(names) == 1 or _names_alone(timeline, delivery, pool.name, names) else "warning"
        yield RULE.problem(at, message, "let the phase follow the delivery", severity=severity, confidence="likely")


def _names_alone(timeline: Timeline, day: date, pool: str, names: Mapping[str, str]) -> bool:
    """Whether the milestones of a day name the platform of a pool, and that of no other pool."""
    texts = [each.text.casefold() for each in timeline.clauses if day in each.days]
    named = {name for name, platform in names.items() if platform and any(platform in text for text in texts)}
    return named == {pool}


def _platform_names(fleet: Fleet) -> Mapping[str, str]:
    """The platform of each pool as milestones write it, by the name of the pool; empty where the spec names none."""
    return {name: (pool.spec.platform or "").replace("-", " ").casefold() for name, pool in fleet.pools.items()}


def _late_problem(pool: Pool, fleet: Fleet) -> Iterator[Problem]:
    """The problem of a pool that has no nodes on the date on which the machine must run."""
    buying = fleet.spec.procurement
    needed, first = buying.needed_by if buying else None, (pool.spec.phases or ())[0].date
    if needed is not None and first is not None and first > needed:
        message = f"the first nodes of pool `{pool.name}` are there on {first}, but the machine is needed by {needed}"
        at = ("pools", pool.name, "phases", 0, "date")
        yield RULE.problem(at, message, "change one of the two dates", severity="warning")


def _outlasting_problem(pool: Pool, buying: ProcurementSpec | None) -> Iterator[Problem]:
    """The problem of nodes that come after the term of the machine, counted from the first phase."""
    phases, term = pool.spec.phases or (), buying.term if buying is not None else None
    first, last = date_of_text(phases[0].date), date_of_text(phases[-1].date)
    if term is None or first is None or last is None or (last - first).days * DAY < term.value:
        return
    message = f"the last nodes of pool `{pool.name}` come on {last}, but the machine is kept for {term.written} from {first} on"
    at = ("pools", pool.name, "phases", len(phases) - 1, "date")
    yield RULE.problem(at, message, "correct the date or the term", confidence="likely")


def _phase_problems(pool: Pool) -> Iterator[Problem]:
    phases = pool.spec.phases or ()
    at = ("pools", pool.name, "phases")
    for index, phase in enumerate(phases):
        lacking = [key for key in ("date", "nodes") if getattr(phase, key) is None]
        if lacking:
            yield RULE.problem((*at, index), f"the phase has no `{lacking[0]}`", f"state its `{lacking[0]}`")
            return
    for index in range(1, len(phases)):
        earlier, later = phases[index - 1], phases[index]
        if (later.date or "") <= (earlier.date or ""):
            message = f"the phase of {later.date} follows that of {earlier.date}"
            yield RULE.problem((*at, index, "date"), message, "list the phases in the order of their dates")
        if (later.nodes or 0) <= (earlier.nodes or 0):
            message = f"the phase has {later.nodes} nodes, but the one before it {earlier.nodes}: a phase counts all nodes of its time"
            yield RULE.problem((*at, index, "nodes"), message, "state the number of nodes after each phase")
    last = phases[-1].nodes
    if pool.nodes is not None and last != pool.nodes:
        message = f"the last phase has {last} nodes, but the pool {pool.nodes}"
        help_ = "the pool is designed for the size after its last phase: make the two equal"
        yield RULE.problem((*at, len(phases) - 1, "nodes"), message, help_)
