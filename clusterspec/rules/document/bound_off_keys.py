"""A bound that the text sets is not kept by a key.

## What it finds

A sentence of the description or a comment that says what a contract, a site or the users allow at most, need at least or fix, and
a key with another value:

- the instalment with the order, the time of delivery, the warranty, and the response time of support;
- targets of the time to the first token and between tokens, and the requests in flight;
- the interval between checkpoints, and the time of the run;
- the nodes of a rack, the capacity of the storage system, and the memory of a host.

Also a release of a software, two feeds of a rack, a number of samples for each prompt, and a distance between leaf and spine that
the text fixes and a key contradicts, and data that the storage system cannot write within the daily hours of the text.

Sentences about another machine, order or offer, and those that suppose something, are not read.

## Why it matters

The text repeats what somebody demands. A plan that breaks it is refused at the tender, by the auditors or at the acceptance.

## What to do

Correct the key, or the text if the demand has changed.

## When to ignore it

Ignore it where the text states the bound of something else.

## Fires

```yaml procurement.payment.order
clusterspec: 1
description: The terms of the grant allow an advance of at most 20 percent of the price.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, payment: {order: 0.4, acceptance: 0.6}}
```

```yaml procurement.warranty
clusterspec: 1
description: The tender demands a warranty of at least five years.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, warranty: 3 years}
```

```yaml workload.serving.targets.ttft
clusterspec: 1
description: Nach dem Vertrag kommt das erste Token in höchstens 800 ms.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, request_rate: 0.5, targets: {ttft: {p99: 3 s}}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
description: The terms of the grant allow an advance of at most 20 percent of the price. The old contract had a warranty of at least five years.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, warranty: 3 years, payment: {order: 0.2, acceptance: 0.8}}
```

## Sources

- Comparison of the text with the keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.key_values import WEEK, values_of_keys
from clusterspec.rules.knowledge.text_loads import MOST_CHARACTERS
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "error", "likely")
CUES = (
    *(
        "most",
        "more than",
        "limit",
        "cap",
        "max",
        "allow",
        "permit",
        "within",
        "least",
        "less than",
        "fewer than",
        "minimum",
        "must",
        "has to",
        "have to",
    ),
    *(
        "demand",
        "require",
        "fix",
        "exactly",
        "höchstens",
        "begrenzt",
        "erlaubt",
        "binnen",
        "innerhalb",
        "mindestens",
        "wenigstens",
        "verlangt",
        "fordert",
    ),
    *(
        "au plus",
        "plus de",
        "limité",
        "autorise",
        "au moins",
        "exige",
        "como m",
        "más de",
        "permite",
        "menos",
        "al massimo",
        "entro",
        "almeno",
        "minstens",
    ),
)
"""Parts of the words of bounds; every text with a bound has at least one of them."""


def check(
    statements: str | None, spec: Spec, cluster: Cluster, layout: Layout | None, workload: Workload | None
) -> Iterator[Problem]:
    if not statements or spec.pools or spec.jobs:
        return
    folded = statements[:MOST_CHARACTERS].casefold()
    if _states_settings(spec):
        from clusterspec.rules.knowledge.fixed_settings import other_settings  # few specs state these keys

        for each in other_settings(statements[:MOST_CHARACTERS], spec):
            at = tuple(int(part) if part.isdigit() else part for part in each.key.split("."))
            message = f"the text says `{each.words}`, but `{each.key.rstrip('.0123456789')}` is {each.value}"
            yield RULE.problem(at, message, "correct the key, or the text if the demand has changed")
    if not any(cue in folded for cue in CUES):
        return
    from clusterspec.rules.knowledge.text_bounds import unkept_bounds  # few texts set bounds

    own = values_of_keys(spec, cluster, layout, workload, statements) | _further_values(spec)
    for bound in unkept_bounds(statements[:MOST_CHARACTERS], own):
        stated = _value_text(own[bound.key][0], bound.unit, is_share=bound.key.startswith("procurement.payment."))
        message = f"according to the text, it is {bound.words}, but `{bound.key}` is {stated}"
        yield RULE.problem(bound.key, message, "correct the key, or the text if the demand has changed")


def _states_settings(spec: Spec) -> bool:
    """Whether the spec states a setting that a text may fix otherwise."""
    machine, work = spec.cluster, spec.workload
    if (spec.layout is not None and spec.layout.software) or (work is not None and work.rl is not None):
        return True
    if machine is None:
        return False
    stored = machine.networks is not None and machine.networks.storage is not None
    run = machine.scale_out is not None and machine.scale_out.distance is not None
    return bool(machine.software) or stored or run or (machine.power is not None and machine.power.feeds == "N")


def _value_text(value: float, unit: str, *, is_share: bool) -> str:
    """The value of a key as a message prints it."""
    if is_share:
        return percent(value)
    return f"{plain(value / WEEK, 4)} weeks" if unit == "week" else display(value, unit)


def _further_values(spec: Spec) -> dict[str, Sequence[float]]:
    """The values in SI of keys that texts bound and never state otherwise."""
    operations, machine = spec.operations, spec.cluster
    store = machine.networks.storage if machine is not None and machine.networks is not None else None
    power = machine.power if machine is not None else None
    found: dict[str, object] = {
        "operations.targets.run_time": operations.targets.run_time if operations and operations.targets else None,
        "cluster.networks.storage.capacity": store.capacity if store is not None else None,
        "cluster.power.nodes_per_rack": power.nodes_per_rack if power is not None else None,
        "cluster.host_memory": machine.host_memory if machine is not None else None,
    }
    stated = {
        key: [each.value if isinstance(each, Quantity) else each] for key, each in found.items() if each is not None
    }
    return {key: [float(one) for one in each if isinstance(one, int | float)] for key, each in stated.items()}
