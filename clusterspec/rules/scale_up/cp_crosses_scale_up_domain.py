"""Context-parallel groups span several scale-up domains.

## What it finds

cp above 1, and a context-parallel group, enumerated from `layout.order`, with members in two domains.

Severity follows the lost share of the step: a note below the half-width of the range of that difference, a warning
above it, and an error if even the low end of the range loses a quarter of the step. It is a note where the time is not
known.

## Why it matters

Ring attention sends keys and values to the next rank in each layer and pass, here over NICs. The transfers overlap with
attention where the sequence of a rank is long enough: attention grows with the square of its length, the traffic with
its length. On H100 with one 400 Gb/s NIC each, they overlap from some 4,000 to 8,000 tokens per rank on. The message
gives the prediction for this layout.

## What to do

Keep cp inside the domain (tp × cp at most its ranks), or use hierarchical context parallelism.

## When to ignore it

Ignore it where the message says that the traffic overlaps.

## Fires

```yaml layout.cp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 8, cp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 65536, global_batch: 64}
layout: {tp: 4, cp: 2}
```

## Sources

- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L395
- Ring attention: https://arxiv.org/abs/2310.01889
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE
from clusterspec.rules.knowledge.domains import straddling_groups
from clusterspec.rules.knowledge.shares import exposed_seconds, share_of_step, step_severity
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "note", yields_to=("rack-domain-misaligned",))


def check(placements: Placements, cluster: Cluster, layout: Layout, timed: Plan | None) -> Iterator[Problem]:
    placement = placements.of("cp") if layout.cp > 1 else None
    if placement is not None and placement.straddling:
        help_ = f"keep tp × cp to at most {plural(cluster.ranks_per_domain, 'rank')}, or use hierarchical context parallelism"
        lost = share_of_step(exposed_seconds(timed, {"cp"}), timed) if timed and timed.step else None
        yield RULE.problem(
            "layout.cp",
            straddling_groups(placement) + _exposed_text(timed),
            help_,
            severity=step_severity(lost, timed, "note"),
        )


def _exposed_text(plan: Plan | None) -> str:
    """The exposed communication of cp, as the end of a sentence."""
    if plan is None or plan.step is None:
        return " and communicate over NICs"
    seconds = exposed_seconds(plan, {"cp"})
    part = share_of_step(seconds, plan)
    if part <= NOTICEABLE:
        return f": predicted to overlap with attention except for {percent(part, 2)} of the step"
    return (
        f": {display(seconds, 's')} of their communication, {percent(part, 2)} of the step, is predicted to be exposed"
    )
