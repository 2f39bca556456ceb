"""A bound that the text sets is not kept by a key.

## What it finds

A sentence of the description or a comment that says what a contract, a site or the users demand, and a key with another value.
The sentence may state the figure, or a share of a count, an amount of each of a count, or an amount that is kept for a time:

- the share that is paid with the order or kept until acceptance, the discount, the time of delivery, the warranty, and the
  response time of support;
- targets of the time to the first token and between tokens, the share of requests that meets them, the requests in flight,
  and their rate;
- the interval between checkpoints, how many are kept or for how long, how long one pauses the run and is written, the time and
  the tokens of the run and of a step, the goodput, the burn-in, and the samples for each prompt;
- the accelerators or nodes of a license, the accelerators of an engine, the NICs of a node, and the racks;
- the commitment of a price, and the term;
- the nodes and the power of a rack, the racks of a row, the PUE, the distance between leaf and spine, the capacity and the rates of the storage
  system, and the memory of a host.

A demand is also compared with what follows from the keys:

- the heat to the liquid and to the air, the power without work, of a row, and with the cooling, and the energy, its price and
  the carbon of a year or of the term;
- the passes over the data, the steps, the computation and the time of the run, and the work that a failure costs, where a
  checkpoint counts once it is written;
- the times to read a checkpoint, to start an engine and to send it new weights, and the time of the acceptance tests;
- the accelerators, nodes, spare nodes and memory of the machine, and the money that is paid before delivery or acceptance;
- the power that stays free at full load, the load of a reserve supply, the fall of the power at the stop of a job, the energy and the
  carbon of the run, and the rows of racks;
- the rent of racks and nodes, the instalments, the costs of operation, of a run, of a million tokens and of an accelerator-hour, what
  the discount saves, the rest of the budget, and the price and the share of the network: with the discount and the tax as the
  sentence says;
- the time and the throughput of a step, its bubble and exposed communication, the memory of an accelerator, the size of checkpoints and
  of data, the storage that stays free, the interruptions of the run and what one costs;
- the first token, the gap between tokens, the places and the cache of a service, and the samples of a step, as the plan predicts them:
  only beyond the range of the prediction;
- the switches, cables and modules of the fabric, the rate of a node from the storage system, and the day by which all parts are
  delivered;
- the places for requests and the coolant units that are left when one node, engine or unit is out;
- the longest document, where the text says that none is cut, against `document_tokens.max` and the sequence;
- the longest request in words or pages, the servers of one or two kinds of groups, and the commitment for which a price is offered;
- the share of the price that is paid before acceptance, and the time to the last token by the targets, also where something cuts
  a longer answer;
- the length of a cable route, or the sum of its pieces, against the distances of the keys or the reach of the optics;
- the hours that may be lost in a month against the goodput, and the data of a day against the rate of the frontend network;
- the days from the start of the training to the day on which its result is due;
- the power that a rack or the machine leaves free of its limit, and the power of a site less the part of it that others keep;
- the money that is due with the order or after acceptance, and the rent of a month;
- the accelerator-hours of the run, the size of the kept checkpoints, the requests of an engine, and the power of a node;
- the answers of a step of reinforcement learning, and the time that a failure costs with its lost work;
- the longest prompt and its answer together against the context of the model, the racks against the positions that a site gives,
  and the term of a rented machine against the last day that somebody pays.

A condition is a demand where the text says what follows: `the permit ends if the machine uses more than 2 GWh a year`.

Also a release of a software, a branch of the driver, two feeds of a rack and physically separate networks that the text fixes
and a key contradicts, and
data that the storage system cannot write within the daily hours of the text.

Texts may be in English, German, French, Spanish, Italian, Dutch, Portuguese, Polish, Japanese, Chinese or Korean. Of the last three, a
figure is quoted with English words.

Sentences about another machine, order or offer, those that suppose something, and what an offer that was turned down asks for, are
not read.

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

```yaml workload.serving.concurrency
clusterspec: 1
description: The insurer has 850 assessors, and in the morning 30 % of them have a request running at the same moment.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, concurrency: 64}
layout: {framework: vllm, tp: 8}
```

```yaml operations.checkpoint.keep
clusterspec: 1
description: The auditors demand that all checkpoints of the last seven days can be read at any time.
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint: {interval: 3 h, keep: 8}}
```

```yaml layout.tp
clusterspec: 1
description: Each of the engines takes four cards.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, concurrency: 64}
layout: {framework: vllm, tp: 8}
```

```yaml workload.tokens
clusterspec: 1
description: The publishers agree that no text is shown to the model more than three times, otherwise the licence ends.
cluster: {platform: dgx-h100, nodes: 8}
workload: {kind: train, model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 500B, dataset_tokens: 120B}
layout: {framework: megatron-core, tp: 2, pp: 1, dp: 32, sharding: zero1, micro_batch: 1}
```

```yaml cluster.power.liquid_share
clusterspec: 1
description: The grant lapses if the district heating receives less than 70 kW.
cluster: {platform: hgx-b200, nodes: 6, power: {node: 13 kW, cooling: liquid, liquid_share: 0.8}}
```

```yaml workload.serving.max_sequences
clusterspec: 1
description: One node is patched every day at noon. The contract says that no call may wait while that happens.
cluster: {platform: dgx-h200, nodes: 4}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, concurrency: 100, load: closed, max_sequences: 30}
layout: {framework: vllm, tp: 8, dp: 4}
```

```yaml cluster.power.nodes_per_rack
clusterspec: 1
description: The landlord gives us ten rack positions for the nodes.
cluster: {platform: dgx-h100, nodes: 24, power: {nodes_per_rack: 2, rack_limit: 25 kW}}
```

## Silent

```yaml
clusterspec: 1
description: The terms of the grant allow an advance of at most 20 percent of the price. The old contract had a warranty of at least five years.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, warranty: 3 years, payment: {order: 0.2, acceptance: 0.8}}
```

```yaml
clusterspec: 1
description: The grant lapses if the district heating receives less than 60 kW. No text is shown to the model more than five times.
cluster: {platform: hgx-b200, nodes: 6, power: {node: 13 kW, cooling: liquid, liquid_share: 0.8}}
workload: {kind: train, model: llama-3.1-8b, sequence_length: 8192, global_batch: 48, tokens: 500B, dataset_tokens: 120B}
```

## Sources

- Comparison of the text with the keys.
- Formulas of the quantities: docs/formulas.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import PlannedDesign
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec

RULE = Rule.of(__name__, "error", "likely")
HELP = "correct the key, or the text if the demand has changed"
HELP_OF_DEMANDS = "change the design, or the text if the demand has changed"
OWNED = frozenset({"power", "prompt", "answer"})
"""Subjects whose demands other rules compare with the design."""


def check(
    statements: str | None, remarks: str, spec: Spec, planned: PlannedDesign | None, counts: FabricCount
) -> Iterator[Problem]:
    if not remarks:
        return
    if not statements or spec.pools or spec.jobs:
        yield from _problems_of_job(remarks, spec, planned, counts)
        return
    text = statements[:MOST_CHARACTERS]
    if _states_settings(spec):
        from clusterspec.rules.readers.statements.fixed_settings import other_settings  # few specs state these keys

        for setting in other_settings(text, spec):
            at = tuple(int(part) if part.isdigit() else part for part in setting.key.split("."))
            message = f"the text says `{setting.words}`, but `{setting.key.rstrip('.0123456789')}` is {setting.value}"
            yield RULE.problem(at, message, HELP)
    from clusterspec.rules.readers.demands.values import broken_demands  # for texts with figures alone

    for broken in broken_demands(text, spec, _owned_subjects(spec)):
        message = f"according to the text, {broken.what} {broken.bound} `{broken.demand.words}`, but `{broken.place.key}` is {broken.written}"
        yield RULE.problem(broken.place.key, message, HELP)
    if planned is not None:
        from clusterspec.rules.readers.demands.checks import other_broken_demands
        from clusterspec.rules.readers.demands.parts import Parts
        from clusterspec.rules.readers.demands.quantities import broken_quantities
        from clusterspec.rules.readers.statements.plain_findings import broken_ceilings

        parts = Parts(spec, planned, counts, text)
        found = [
            RULE.problem(each.quantity.key, each.message, HELP_OF_DEMANDS) for each in broken_quantities(text, parts)
        ]
        found += [RULE.problem(each.key, each.message, each.help) for each in other_broken_demands(text, parts)]
        yield from found
        for ceiling in broken_ceilings(text, parts):
            if not any(f"`{ceiling.words}`" in each.message for each in found):
                yield RULE.problem(ceiling.key, ceiling.message, HELP_OF_DEMANDS)


def _problems_of_job(remarks: str, spec: Spec, planned: PlannedDesign | None, counts: FabricCount) -> Iterator[Problem]:
    """The problem of new weights that a job of a fleet sends over a link between pools: no other job of the text sends any."""
    if planned is None or spec.workload is None or spec.workload.rl is None:
        return
    from clusterspec.rules.readers.demands.parts import Parts
    from clusterspec.rules.readers.demands.quantities import broken_quantities

    for each in broken_quantities(
        remarks[:MOST_CHARACTERS], Parts(spec, planned, counts), frozenset({"weight transfer"})
    ):
        yield RULE.problem(each.quantity.key, each.message, "share less of the link, or send fewer bytes")


def _owned_subjects(spec: Spec) -> frozenset[str]:
    """The subjects whose demands other rules compare with the design: the longest document of a training run is no prompt."""
    is_trained = spec.workload is not None and spec.workload.serving is None and spec.workload.rl is None
    return OWNED - {"prompt"} if is_trained else OWNED


def _states_settings(spec: Spec) -> bool:
    """Whether the spec states a setting that a text may fix otherwise."""
    machine, work = spec.cluster, spec.workload
    if (spec.layout is not None and spec.layout.software) or (
        work is not None and work.parameter_precision is not None
    ):
        return True
    if machine is None:
        return False
    networks = machine.networks
    stored = networks is not None and (networks.storage is not None or networks.out_of_band is not None)
    return bool(machine.software) or stored or (machine.power is not None and machine.power.feeds == "N")
