"""Remedies for a layout that does not fit in memory: changed layouts that fit, with memory and step time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog.stacks import SHARDS_GRADIENTS
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.nearby_layouts import neighbor_degrees
from clusterspec.cluster.variation import DEGREES
from clusterspec.cost.plan import Plan
from clusterspec.quantity import precision_width
from clusterspec.rules.advice.what_if import FULLEST, Alternative, WhatIf, fastest_fitting
from clusterspec.rules.knowledge.domains import used_domain
from clusterspec.units import display, percent, plural
from clusterspec.units.display import joined_words

SHOWN = 2
LARGER_CP = "add nodes and raise cp over them"
FEWER_STATES = "add nodes, or keep the states in fewer bytes or on the host"
Change = dict[str, object]


def may_fit(plan: Plan | None) -> bool:
    """Whether the lower end of the memory range is within the capacity."""
    memory = plan.memory if plan else None
    if plan is None or memory is None or memory.capacity is None:
        return False
    low = plan.memory_range[0] if plan.memory_range else memory.total.value
    return low <= memory.capacity.value


def advice_for_states(what_if: WhatIf, cluster: Cluster, layout: Layout) -> str:
    """Text with the changes that make the states fit, fastest first; if none does, how close the best one comes."""
    workload = what_if.design.workload
    return _fitting_layouts_text(
        what_if, list(_state_changes(cluster, workload, layout)) if workload else [], FEWER_STATES
    )


def advice_for_activations(what_if: WhatIf, cluster: Cluster, layout: Layout) -> str:
    """Text with the changes that make activations fit, fastest first; if none does, how close the best one comes."""
    workload = what_if.design.workload
    if workload is None:
        return _fewer_activations(layout)
    activations = _activation_changes(layout, workload.model.latent)
    otherwise, untried = LARGER_CP, _fewer_activations(layout)
    if _states_may_fit_with_activations(what_if):
        otherwise, untried = FEWER_STATES, f"{untried}; or {FEWER_STATES}"
    return _fitting_layouts_text(
        what_if, [*activations, *_state_changes(cluster, workload, layout)], otherwise, untried
    )


def _states_may_fit_with_activations(what_if: WhatIf) -> bool:
    """Whether activations and framework memory, without the states, take less than the share `FULLEST` of the memory."""
    memory = what_if.memory
    if memory is None or memory.capacity is None:
        return False
    return memory.activations.value + memory.other.value < FULLEST * memory.capacity.value


def _fewer_activations(layout: Layout) -> str:
    """Text with what makes activations smaller and the layout does not have yet."""
    ways = ["recompute activations (`recompute: full`)"] if layout.recompute != "full" else []
    ways.append(LARGER_CP)
    ways += ["lower micro_batch"] if layout.micro_batch > 1 else []
    return joined_words(ways, "or")


def _state_changes(cluster: Cluster, workload: Workload, layout: Layout) -> Iterator[Change]:
    """Changes that shard the states over more ranks; tp and pp take the same neighboring degrees as in the report of
    the design.
    """
    if layout.gradient_sync == "step" and layout.sharding in SHARDS_GRADIENTS:
        yield {"gradient_sync": "micro-batch"}
    if layout.sharding == "none":
        yield {"sharding": "zero1"}
    if layout.sharding in {"none", "zero1", "zero2"} and layout.pp == 1:
        yield {"sharding": "fsdp"}
    if layout.sharding == "hsdp":
        yield {"sharding": "fsdp", "shard_group": None}
    tps, pps = neighbor_degrees(cluster, workload, layout)
    widest = max(layout.tp, used_domain(cluster, layout), cluster.ranks_per_node)
    for tp in (each for each in tps if each <= widest):
        for pp in pps:
            if (tp, pp) != (layout.tp, layout.pp):
                yield _changed_degrees(layout, tp, pp)


def _changed_degrees(layout: Layout, tp: int, pp: int) -> Change:
    """The changed keys for other degrees of tp and pp; another pp also removes ``stage_layers``."""
    changes: Change = {"tp": tp} if tp != layout.tp else {}
    return changes | ({"pp": pp, "stage_layers": None} if pp != layout.pp else {})


def _activation_changes(layout: Layout, latent: bool) -> Iterator[Change]:
    """Changes that reduce activation memory. With latent attention, the latent projections are cheap to recompute."""
    if layout.recompute == "none":
        yield {"recompute": "selective"}
    if latent and layout.recompute != "full":
        yield {"recompute": ("norm", "activation", "latent")}
    if layout.recompute != "full":
        yield {"recompute": "full"}
    if layout.tp > 1 and not layout.sequence_parallel:
        yield {"sequence_parallel": True}
    if layout.micro_batch > 1:
        yield {"micro_batch": 1}
    if layout.micro_batch > 3:
        yield {"micro_batch": layout.micro_batch // 2}
    for factor in (2, 4, 8):
        yield {"cp": layout.cp * factor} | ({"recompute": "full"} if layout.recompute != "full" else {})


def _fitting_layouts_text(
    what_if: WhatIf, changes: Sequence[Change], otherwise: str, untried: str = FEWER_STATES
) -> str:
    """Text with layouts that fit, such as `these fit: recompute: full (61.2 GB, 3.4 s per step)`.

    If none fits, the text names the layout with the least memory, followed by ``otherwise``, the other remedies. The
    text is ``untried`` if no change could be estimated. If the present layout cannot run for another reason, changes
    that keep the degrees are judged by memory only.
    """
    if not what_if.advises:
        return untried
    estimated = what_if.estimated_alternatives(changes, most=None)
    if fitting := fastest_fitting(estimated):
        texts = (_alternative_text(each, timed=not what_if.refused) for each in fitting[:SHOWN])
        return "these fit: " + "; or ".join(texts)
    judged_by_memory = [each for each in estimated if what_if.refused and not DEGREES & each.changes.keys()]
    if leaner := [each for each in judged_by_memory if each.fits_in_memory]:
        texts = (_alternative_text(each, timed=False) for each in leaner[:SHOWN])
        return "by memory alone, before the other errors are corrected, these fit: " + "; or ".join(texts)
    judged = judged_by_memory or [each for each in estimated if not each.stored.refused]
    needs = [(each.memory_bytes, each.words) for each in judged if each.memory_bytes]
    if not needs:
        return untried
    least, words = min(needs)
    spare = percent(1 - FULLEST)
    tried = f"none of {plural(len(estimated), 'changed layout')} tried here leaves {spare} of the memory free"
    return f"{tried}; `{words}` needs the least memory ({display(least, 'B')}): {otherwise}"


def _alternative_text(alternative: Alternative, *, timed: bool) -> str:
    """The changed keys with their memory and, if ``timed``, their step time."""
    memory = display(alternative.memory_bytes, "B") if alternative.memory_bytes else ""
    time = f"{display(alternative.step_seconds, 's')} per step" if timed and alternative.plan.step else ""
    figures = ", ".join(part for part in (memory, time) if part)
    return f"`{alternative.words}`" + (f" ({figures})" if figures else "")


def with_narrower_weights(plan: Plan) -> str:
    """Advice on the bytes of weights: their precision, where the spec leaves it to the default and multiplies in fewer
    bits; otherwise fewer bytes in general.
    """
    workload = plan.design.workload
    written = plan.design.spec.workload
    assumed = written is None or written.parameter_precision is None
    if workload and assumed and precision_width(workload.precision) < precision_width(workload.parameter_precision):
        kept, work = workload.parameter_precision, workload.precision
        return f"write `parameter_precision: {work}` if the weights are kept in {work} ({kept} is assumed)"
    return "store weights in fewer bytes (`parameter_precision`)"
