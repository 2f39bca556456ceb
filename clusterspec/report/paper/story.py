"""The design in sentences: the place of each kind of parallelism with its figures, and the losses of a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clusterspec.report.paper.blocks import NumberedSentences, Section, StoryStep
from clusterspec.report.paper.choices import lever_text
from clusterspec.report.paper.link_drawings import areas_picture
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Tier
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural, portion

if TYPE_CHECKING:
    from clusterspec.cost.serving.latency import ServingTimes

OF_DOMAIN = frozenset({"scale-up", "peer"})
OF_NODES = frozenset({"scale-out", "level"})


NEXT_TO_FIGURE = 3
"""Number of sentences printed next to the figure at equal height."""


def story_section(report: FullReport) -> Section | None:
    """The sentences that can be said about a design; None for fewer than three."""
    steps = tuple(step for step in _story_steps(report) if step is not None)
    if len(steps) < 3:
        return None
    squares = areas_picture(report.tiers)
    if squares is None:
        return Section("story", "How this design works", (NumberedSentences(steps),))
    blocks = (
        squares,
        NumberedSentences(steps[:NEXT_TO_FIGURE]),
        *((NumberedSentences(steps[NEXT_TO_FIGURE:], NEXT_TO_FIGURE + 1),) if steps[NEXT_TO_FIGURE:] else ()),
    )
    return Section("story", "How this design works", blocks)


def _story_steps(report: FullReport) -> Iterator[StoryStep | None]:
    yield _compute_step(report)
    yield _domain_step(report)
    yield _latency_step(report)
    yield _memory_step(report)
    yield _pipeline_step(report)
    yield _gradient_step(report)
    yield _serving_step(report)
    yield _cache_step(report)
    yield _loss_step(report)
    yield _failure_step(report)


def _outer_tiers(report: FullReport) -> tuple[Tier | None, Tier | None]:
    """The fastest tier of a domain and of the network between nodes."""
    inner = max(
        (tier for tier in report.tiers if tier.kind in OF_DOMAIN), key=lambda tier: tier.line_rate, default=None
    )
    outer = next((tier for tier in report.tiers if tier.kind in OF_NODES), None)
    return inner, outer


def _compute_step(report: FullReport) -> StoryStep | None:
    work, memory = report.estimate.plan.design.workload, next((t for t in report.tiers if t.kind == "memory"), None)
    cluster = report.estimate.plan.design.cluster
    if work is None or work.peak is None or memory is None or cluster is None:
        return None
    peak = work.peak.value
    return StoryStep(
        f"An accelerator computes {display(peak, 'FLOP/s')} in {work.precision} and moves "
        f"{display(memory.line_rate, 'B/s')} to and from its memory: a kernel with fewer than "
        f"{plain(peak / memory.line_rate)} FLOPs for each byte waits for memory.",
        "tiers",
        "step" if report.roofline else "bandwidth",
    )


def _domain_step(report: FullReport) -> StoryStep | None:
    inner, outer = _outer_tiers(report)
    layout, cluster = report.estimate.plan.design.layout, report.estimate.plan.design.cluster
    if inner is None or outer is None or cluster is None:
        return None
    ratio = inner.line_rate / outer.line_rate
    domain = cluster.scale_up.domain
    beyond = "between domains" if domain > cluster.accelerators_per_node else "between nodes"
    text = (
        f"Inside a domain of {plural(domain, 'accelerator')} each has {display(inner.line_rate, 'B/s')} each way, "
        f"{beyond} {display(outer.line_rate, 'B/s')}, {plain(ratio, 2)} times less"
    )
    if cluster.accelerators <= domain:
        text = (
            f"One domain holds all {domain:,} accelerators, each with {display(inner.line_rate, 'B/s')} each way; "
            f"its network of {display(outer.line_rate, 'B/s')} is not used by the job"
        )
    degree = max(layout.tp, layout.ep) if layout else 1
    if layout is None or degree == 1:
        return StoryStep(f"{text}.", "tiers", "bandwidth")
    axis = "tensor" if layout.tp >= layout.ep else "expert"
    if cluster.accelerators <= domain:
        return StoryStep(f"{text}.", "tiers", "bandwidth")
    ranks = domain * cluster.ranks_per_accelerator
    inside = f": so {axis} parallelism over {plural(degree, 'rank')} stays inside"
    if (some := -(-degree // cluster.ranks_per_accelerator)) < domain and cluster.scale_up.topology == "full-mesh":
        rate = (some - 1) * cluster.scale_up.peer_bandwidth.value
        inside = f"; {axis} parallelism over {plural(degree, 'rank')} stays inside, where the links between {some}"
        inside += f" accelerators have {display(rate, 'B/s')}"
    crossing = f"; {axis} parallelism over {plural(degree, 'rank')} leaves the domain and runs at the lower rate"
    spread = max((row.domains for row in report.groups if row.axis == ("tp" if axis == "tensor" else "ep")), default=1)
    if degree <= ranks and spread > 1:  # groups of this size do not divide the ranks of a domain
        crossing = f"; {axis} parallelism over {plural(degree, 'rank')} would fit inside, but some of its groups span "
        crossing += f"{spread} domains and run at the lower rate"
    return StoryStep(f"{text}{inside if degree <= ranks and spread == 1 else crossing}.", "tiers", "bandwidth")


def _latency_step(report: FullReport) -> StoryStep | None:
    tier = _outer_tiers(report)[1]
    if tier is None or tier.latency is None or tier.crossover is None:
        return None
    return StoryStep(
        f"A short message between nodes takes {display(tier.latency, 's')}: one of {display(tier.crossover, 'B')} "
        "takes twice as long, and smaller ones are mostly latency, so many small ones cost more than a large one.",
        "tiers",
        "bandwidth",
    )


LEAST_FREE = 0.001
"""Free memory below this share is not mentioned, since serving plans fill the memory with cache."""


def _memory_step(report: FullReport) -> StoryStep | None:
    use, plan = report.estimate.plan.memory, report.estimate.plan
    if use is None or use.capacity is None or plan.memory_bytes is None:
        return None
    parts = sorted(
        (use.weights, use.gradients, use.activations, use.optimizer, use.other), key=lambda part: -part.value
    )
    first, second = (f"{part.label} {display(part.value, 'B')}" for part in parts[:2])
    share = plan.memory_bytes / use.capacity.value
    misfit = "the design does not fit" if report.estimate.condition else "the design may not fit"
    rest = f"{percent(1 - share, 2)} remain free" if 1 - share > LEAST_FREE else "nothing remains free"
    end = misfit if plan.surely_fits is False else rest
    shared = plan.rl.memory if plan.rl is not None else None
    who = "In an update the fullest accelerator" if plan.is_update else "The fullest accelerator"
    other = f" In rollout it holds {display(shared.rollout, 'B')}." if shared is not None and shared.rollout else ""
    if shared is not None and shared.fullest_bytes > max(shared.rollout, plan.memory_bytes):
        other += f" With the other models and engines it holds up to {display(shared.fullest_bytes, 'B')}."
    return StoryStep(
        f"{who} holds {display(plan.memory_bytes, 'B')}, most of it {first} and {second}, in "
        f"{plan.capacity_text}: {end}.{other}",
        "estimate.memory",
        "memory",
    )


def _pipeline_step(report: FullReport) -> StoryStep | None:
    layout, step = report.estimate.plan.design.layout, report.estimate.plan.step
    if layout is None or step is None or layout.pp < 2 or layout.micro_batches is None:
        return None
    virtual = f", each stage in {layout.virtual_stages} parts" if layout.virtual_stages > 1 else ""
    return StoryStep(
        f"{layout.pp} pipeline stages work on {plural(layout.micro_batches, 'micro-batch')} in turn{virtual}: filling "
        f"and draining the pipeline costs {portion(step.times.bubble / step.seconds)} of a step.",
        "schedule",
        "step",
    )


def _gradient_step(report: FullReport) -> StoryStep | None:
    plan = report.estimate.plan
    layout, rows = plan.design.layout, [row for row in plan.communication if "dp" in row.axis or "shard" in row.axis]
    if layout is None or plan.step is None or layout.dp < 2 or not rows:
        return None
    wire, exposed = sum_of(row.seconds for row in rows), sum_of(row.exposed for row in rows)
    hidden = (
        "all of it behind computation" if exposed < 5e-4 * plan.step.seconds else f"{display(exposed, 's')} exposed"
    )
    return StoryStep(
        f"Data parallelism over {plural(layout.dp, 'replica')} sends {display(sum_of(row.bytes for row in rows), 'B')} "
        f"a step, {display(wire, 's')} on the wire, {hidden}.",
        "estimate.communication",
        "step",
    )


def _serving_step(report: FullReport) -> StoryStep | None:
    times = report.estimate.plan.serving
    if times is None:
        return None
    return StoryStep(
        f"A request gets its first token after {display(times.ttft, 's')}{_queue_text(times)}, and another token every "
        f"{display(times.tpot, 's')}; all requests together get {display(times.output_tokens_per_second, '1')} tokens "
        "a second.",
        "estimate.serving",
        "serving",
    )


def _queue_text(times: ServingTimes) -> str:
    """Words on the queue before a prompt if requests arrive faster than the engines serve them; else empty."""
    return " in addition to its wait in a queue that grows without end" if times.queue_grows else ""


def _cache_step(report: FullReport) -> StoryStep | None:
    times = report.estimate.plan.serving
    if times is None or not times.kv_bytes_per_token:
        return None
    return StoryStep(
        f"The cache stores {display(times.kv_bytes_per_token, 'B')} of keys and values per token: the memory that the "
        f"weights leave holds {plain(times.kv_capacity_tokens / 1e6)} million tokens, enough for "
        f"{plural(times.places, 'request')}.",
        "estimate.serving",
        "serving",
    )


def _loss_step(report: FullReport) -> StoryStep | None:
    mfu, lost = report.estimate.plan.mfu, [loss for loss in report.losses if loss.share > 0]
    if mfu is None or not lost:
        return None
    worst = max(lost, key=lambda loss: loss.share)
    gain = report.gains[0] if report.gains else None
    more = ""
    if gain is not None:
        change = (
            f"{gain.key.replace('_', ' ')} {lever_text(gain.before, gain.unit)} → {lever_text(gain.after, gain.unit)}"
        )
        more = f"; the single change with the largest gain is {change}, {percent(-gain.share, 2)} less time"
    held = f" {report.estimate.condition}" if report.estimate.condition else ""
    held += " in an update" if report.estimate.plan.is_update else ""
    return StoryStep(
        f"The step reaches {percent(mfu)} of the peak{held}: the largest loss is {worst.label}, "
        f"{percent(worst.share, 2)}{more}.",
        "losses",
        "decision" if report.estimate.plan.rl is None else "step",
    )


def _failure_step(report: FullReport) -> StoryStep | None:
    kept = report.reliability
    if kept is None:
        return None
    held = f" {report.estimate.condition}" if report.estimate.condition else ""
    run = f", so the run takes {display(kept.with_interruptions, 's')}{held}" if kept.with_interruptions else ""
    return StoryStep(
        f"A failure stops the job every {display(kept.between, 's')}; with a checkpoint every "
        f"{display(kept.interval, 's')} {percent(kept.goodput)} of the time is kept{run}.",
        "reliability",
        "reliability",
    )
