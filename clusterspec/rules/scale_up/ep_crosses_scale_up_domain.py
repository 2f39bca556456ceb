"""Expert-parallel groups span several scale-up domains.

## What it finds

A model with experts, ep above 1, and an expert group, enumerated from `layout.order`, with members in two domains. The
rule is silent where the spec states that the all-to-all overlaps (`overlap: {ep: true}`, or a share above 0) and a group
fits into no domain.

Severity follows the share of the step that the exposed all-to-all takes: a note below the half-width of the range of
that difference, a warning above it, and an error if even the low end of the range loses a quarter of the step and
groups inside a domain, or another dispatcher, are faster. It is a warning where the time is not known, and a note for
serving, where `expert-exchange-exposed` reports the cost of the exchange. It is at least a warning where a group would
fit into one domain and crosses only because of its alignment. With a dispatcher that sends each token once per node
(`deepep`, `hybrid`), the severity follows the saving of the fastest layout with groups inside a domain; it is a note
where no such layout fits and is faster.

## Why it matters

Dispatch and combine are all-to-alls on the critical path, twice per layer in the forward and twice in the backward
pass. In a group of N ranks with g in its own domain, each accelerator sends (N − g)/N of the data through its NIC. The
message gives the predicted bus bandwidth and the exposed time.

## What to do

Keep ep inside the domain (with `expert_tp: 1` it can use the ranks of tp). Otherwise use a dispatcher that overlaps,
fp8 dispatch, and routing limited to a few nodes.

## When to ignore it

Ignore it for models with hundreds of experts that fit in no domain. DeepSeek-V3 used ep 64 over 8 nodes with its own
kernels; such a spec states `dispatcher: deepep`, `overlap: {ep: true}` and `routing`.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, ep: 8, expert_tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, ep: 8, expert_tp: 1}
```

## Sources

- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L84
- What users measure: https://github.com/NVIDIA/Megatron-LM/issues/1456 https://github.com/NVIDIA/nccl-tests/issues/130
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.rules.advice.what_if import NOTICEABLE, Alternative, WhatIf
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.domains import bandwidth_across, straddling_groups, used_domain
from clusterspec.rules.knowledge.shares import exposed_seconds, share_of_step, step_severity
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec, OverlapSpec
from clusterspec.units import display, percent

RULE = Rule.of(
    __name__,
    "warning",
    yields_to=("expert-exchange-exposed", "experts-wider-than-replica", "ep-not-dividing-ranks"),
)


def check(
    deviations: Deviations,
    placements: Placements,
    model: Model,
    cluster: Cluster,
    written_layout: LayoutSpec,
    workload: Workload,
    layout: Layout,
    timed: Plan | None,
    what_if: WhatIf,
) -> Iterator[Problem]:
    if model.experts == 0 or layout.ep == 1:
        return
    fits = layout.ep * max(1, layout.expert_tp) <= used_domain(cluster, layout)
    if _states_overlap(written_layout) and not fits:
        return
    placement = placements.of("ep")
    if placement is None or placement.straddling == 0:
        return
    compared = workload.kind == "train" and _needs_alternatives(what_if, layout, timed)
    inside = _fastest_inside(what_if, cluster, layout) if compared else None
    message = f"{straddling_groups(placement)}{bandwidth_across(deviations, cluster, placement, 'all-to-all')}{_exposed_text(timed)}"
    faster = _faster_dispatcher(what_if, layout) if compared else ""
    severity = "note" if workload.kind == "serve" else _severity(what_if, layout, timed, inside)
    if severity == "error" and inside is None and not faster:
        severity = "warning"  # the machine is as slow with every other layout
    if severity == "note" and fits:
        severity = "warning"  # the group fits into one domain, and crosses it only by its alignment
    inward = f"use `{inside.words}`" if inside else _degrees_inside(cluster, layout, what_if)
    help_ = "; or ".join(filter(None, (inward, faster or _overlap_text(what_if, written_layout))))
    yield RULE.problem("layout.ep", message + what_if.comparison(inside), help_, severity=severity)


def _needs_alternatives(what_if: WhatIf, layout: Layout, timed: Plan | None) -> bool:
    """Whether other layouts matter: for the remedies, or for whether the finding is an error."""
    return what_if.advises or _sends_once(layout) or _severity(what_if, layout, timed, None) == "error"


def _sends_once(layout: Layout) -> bool:
    """Whether the dispatcher sends each token once per node, however many of its experts are there."""
    return layout.dispatcher.kind != "all-to-all"


def _severity(what_if: WhatIf, layout: Layout, timed: Plan | None, inside: Alternative | None) -> str:
    """The severity in training.

    If the dispatcher sends each token once per node, it follows the time that groups inside a domain would save;
    otherwise it follows the exposed share of the step.
    """
    if timed is None or timed.step is None:
        return "warning"
    if _sends_once(layout):
        return what_if.severity(what_if.saved_share(inside)) if inside else "note"
    return step_severity(share_of_step(exposed_seconds(timed, {"ep"}), timed), timed, "warning")


def _fastest_inside(what_if: WhatIf, cluster: Cluster, layout: Layout) -> Alternative | None:
    """The fastest layout that fits with expert groups inside a domain, if it is noticeably faster; else None."""
    domain = used_domain(cluster, layout)
    degrees = [ep for ep in range(min(layout.ep, domain), 1, -1) if layout.ep % ep == 0 and domain % ep == 0][:2]
    deeper: dict[str, object] = {"stage_layers": None, "virtual_stages": None, "schedule": None}
    stages = [{}, *({"pp": layout.pp * times, **deeper} for times in (2, 4))]
    changes = ({"ep": ep, "expert_tp": 1, **change} for change in stages for ep in degrees)
    found = what_if.faster_alternatives(changes, NOTICEABLE)
    saving = what_if.saved_share(found[0]) if found else None
    return found[0] if saving is not None and saving > NOTICEABLE else None


def _faster_dispatcher(what_if: WhatIf, layout: Layout) -> str:
    """Advice to use a dispatcher that sends each token once per node, with the predicted step time; empty unless it is
    available and noticeably faster.
    """
    if _sends_once(layout):
        return ""
    found = what_if.faster_alternatives(({"dispatcher": kind} for kind in ("deepep", "hybrid")), NOTICEABLE)
    saving = what_if.saved_share(found[0]) if found else None
    if saving is None or saving <= NOTICEABLE:
        return ""
    return f"write `{found[0].words}` ({display(found[0].step_seconds, 's')} per step)"


def _overlap_text(what_if: WhatIf, written: LayoutSpec) -> str:
    """Advice to overlap the exchange; empty if the framework rejects it for this layout."""
    overlap = replace(written.overlap or OverlapSpec(), ep=True)
    plan = what_if.with_layout(overlap=overlap, dp=written.dp) if what_if.advises else None
    refused = plan is not None and bool(plan.refused) and not what_if.refused
    return "" if refused else "use a dispatcher that overlaps (`overlap: {ep: true}`)"


def _degrees_inside(cluster: Cluster, layout: Layout, what_if: WhatIf) -> str:
    """Text with the degrees that keep groups inside a domain; empty if each accelerator is a separate domain."""
    domain = used_domain(cluster, layout)
    most = domain // max(1, layout.expert_tp)
    if domain == 1:
        return ""
    expert_tp = ", or write `expert_tp: 1`" if layout.expert_tp > 1 else ""
    return f"use an ep of up to {most} whose groups divide the domain{expert_tp}{_aligned_nodes_text(cluster, layout, what_if)}"


def _aligned_nodes_text(cluster: Cluster, layout: Layout, what_if: WhatIf) -> str:
    """Text with the number of nodes per domain that keeps groups whole, if groups fit a domain but do not divide it;
    else empty.
    """
    domain, group = cluster.ranks_per_domain, layout.ep * max(1, layout.expert_tp)
    nodes = domain // group * group // cluster.ranks_per_node
    if layout.nodes_per_domain or cluster.scale_up.domain <= cluster.accelerators_per_node or domain % group == 0:
        return ""
    whole = f"{group} does not divide the {domain} ranks of a domain, so that some groups span two domains"
    found = what_if.estimated_alternatives([{"nodes_per_domain": nodes}]) if nodes and what_if.advises else []
    runs = [each for each in found if not each.stored.refused or what_if.refused]
    return f"; {whole}: use {nodes} nodes of each domain (`{runs[0].words}`)" if runs else f"; {whole}"


def _states_overlap(written: LayoutSpec) -> bool:
    """Whether the spec states that the all-to-all overlaps."""
    return bool(written.overlap and written.overlap.ep)


def _exposed_text(plan: Plan | None) -> str:
    """The exposed all-to-all, as the end of a sentence."""
    seconds = exposed_seconds(plan, {"ep"}) if plan else 0.0
    if plan is None or plan.step is None or seconds <= 0:
        return ""
    return f"; {display(seconds, 's')} per step ({percent(share_of_step(seconds, plan), 2)}) is exposed all-to-all"
