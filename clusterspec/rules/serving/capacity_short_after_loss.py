"""By its own figures, a service cannot serve its peak after the loss that the text says it survives.

## What it finds

A text that says what one node, engine or accelerator carries (in requests or tokens a second, or users), and that the
peak is carried after the loss of a zone, a node or an engine, where the remaining parts carry less than the peak. The
remaining number is the stated one, else the number by the keys less the lost parts. The peak is the peak in the text,
else `request_rate`. The rule also reads a load in percent at the peak (`80 % busy`) with the loss of a part, and a
stated number of nodes or engines for a rate, where these carry less. Sentences that admit a lower load, a longer queue
or other capacity are not read.

## Why it matters

The redundancy that was promised does not exist. The first loss at the peak overloads the remaining parts: queues grow
without end, health checks fail, and these parts fail as well.

## What to do

Keep as many nodes as the peak needs after the loss, or say how much of the load is then shed.

## When to ignore it

Ignore it where the stated capacity already has the reserve.

## Fires

```yaml description
clusterspec: 1
description: One node held 14 requests/s inside the targets. The peak is 70 requests/s. When one of the six nodes is lost, the others carry the peak; when two are lost, the four nodes that are left still carry it.
cluster: {platform: dgx-h100, nodes: 6}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 70}}
layout: {framework: vllm, tp: 1}
```

```yaml description
clusterspec: 1
description: At the peak the three zones run at 75 % of their capacity, so the loss of one zone is covered.
cluster: {platform: dgx-h100, nodes: 6}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 70}}
layout: {framework: vllm, tp: 1}
```

```yaml description
clusterspec: 1
description: One node held 14 requests/s inside the targets. The peak of 90 requests/s needs six nodes.
cluster: {platform: dgx-h100, nodes: 8}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 90}}
layout: {framework: vllm, tp: 1}
```

## Silent

```yaml
clusterspec: 1
description: One node held 14 requests/s inside the targets. The peak is 70 requests/s. When one of the six nodes is lost, the others carry the peak.
cluster: {platform: dgx-h100, nodes: 6}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 70}}
layout: {framework: vllm, tp: 1}
```

```yaml
clusterspec: 1
description: At the peak the three zones run at 65 % of their capacity, so the loss of one zone is covered.
cluster: {platform: dgx-h100, nodes: 6}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 70}}
layout: {framework: vllm, tp: 1}
```

## Sources

- Capacity that is left after the loss of a zone: https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/static-stability.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.loads import MOST_CHARACTERS, place_of
from clusterspec.rules.readers.services.capacity import (
    Capacity,
    Claim,
    capacities_in,
    claims_of_loss,
    unit_counts_for_load,
)
from clusterspec.rules.readers.services.peaks import Peak, peak_in
from clusterspec.rules.readers.written_numbers import words_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.units import percent

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 0.02
"""Relative shortage that rounding explains."""

_RATES = (
    *("/s", "second", "sekunde", "seconde", "segundo", "qps", "rps", "user", "nutzer", "utilisateur", "usuario"),
    *("concurrent", "gleichzeitig", "simult", "session", "stream", "n+", "n +", "n-", "n -", "n−"),
)
"""Words for a load; a text about the capacity of a unit has at least one of them."""
_LOSSES = (
    *("los", "fail", "outage", "down", "offline", "surviv", "without", "shut", "switched", "powered", "away", "dark"),
    *(
        "gone",
        "repair",
        "maint",
        "wartung",
        "reparatur",
        "die",
        "crash",
        "break",
        "repair",
        "maint",
        "wartung",
        "reparatur",
        "ausf",
        "verl",
        "fällt",
        "pert",
        "perd",
        "panne",
        "tomb",
        "pérdid",
        "pierd",
        "cae",
        "caíd",
        "fall",
    ),
    *(f"n{space}{sign}{space}{lost}" for space in ("", " ") for sign in "-−+" for lost in "12"),
)
"""Words for a loss; a text about a loss has at least one of them."""


def check(
    own_remarks: str, spec: Spec, cluster: Cluster, layout: Layout | None, workload: Workload
) -> Iterator[Problem]:
    if not own_remarks or workload.serving is None:
        return
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _RATES) and not ("%" in folded and any(cue in folded for cue in _LOSSES)):
        return
    text, counts = own_remarks[:MOST_CHARACTERS], _counts(cluster, layout)
    found = capacities_in(text)
    peak = peak_in(text, workload.serving.request_rate)
    lost = any(cue in folded for cue in _LOSSES) or "out" in words_of(text)
    stated = claims_of_loss(text, counts) if lost else ()
    claims = [(each.sentence, _shortage_text(each, found, peak, counts)) for each in stated]
    needs = [
        (each.sentence, _shortage(each.capacity, each.number, each.load)) for each in unit_counts_for_load(text, found)
    ]
    for sentence, message in (*claims, *needs):
        if message:
            help_ = "keep as many as the load needs, after a loss too, or state the load that is then shed"
            yield RULE.problem(place_of(sentence, spec), message, help_)
            return


def _shortage_text(claim: Claim, found: Sequence[Capacity], peak: Peak | None, counts: Mapping[str, float]) -> str:
    """Text with the load and the capacity after a loss, if the load is larger; else empty."""
    if claim.load is not None:
        if claim.load <= claim.share_left * (1 + ROUNDED):
            return ""
        return f"according to the text, the load at the peak is {percent(claim.load, 3)} of the capacity, but after the loss {percent(claim.share_left, 3)} of the capacity is left"
    compared = claim.compared_load(peak)
    same = [each for each in found if compared is not None and each.kind == compared.kind]
    lefts = [(each, claim.units_left(each.unit, counts)) for each in same]
    short = (
        _shortage(each, left, compared.value, " are left and")
        for each, left in lefts
        if left is not None and compared is not None
    )
    return next(filter(None, short), "")


def _shortage(capacity: Capacity, count: float, load: float, are: str = "") -> str:
    """Text with the capacity of the units and their load, if the load is larger; else empty."""
    carried = count * capacity.value
    if carried >= load * (1 - ROUNDED):
        return ""
    units = f"{count:,.6g}{are} carry {carried:,.6g}"
    return f"according to the text, one {capacity.unit[:-1]} carries {capacity.value:,.6g} {capacity.load_unit}; {units}, but {load:,.6g} are required"


def _counts(cluster: Cluster, layout: Layout | None) -> dict[str, float]:
    """The numbers of nodes, engines and accelerators that the keys state."""
    found = {"nodes": float(cluster.nodes), "accelerators": float(cluster.accelerators)}
    if layout is not None and not layout.separate_engines:
        found["engines"] = float(layout.dp)
    return found
