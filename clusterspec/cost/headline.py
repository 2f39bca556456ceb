"""The headline figures of an estimate as terms, so that each can be explained."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import accelerators_used
from clusterspec.cost.plan import Communication, Plan
from clusterspec.cost.term import Term, named_count
from clusterspec.quantity import Figure
from clusterspec.source import Computed

MODEL_FLOPS = "Chowdhery et al., arXiv 2204.02311, appendix B: no recomputation, attention counted as if unmasked"


def headline(plan: Plan) -> Iterator[Term]:
    """The terms of all computed headline figures, named as printed."""
    yield from _time_terms(plan)
    yield from _utilization_terms(plan)
    if plan.serving is not None:
        from clusterspec.cost.serving.explain import serving_headline  # a training plan needs none of its modules

        yield from serving_headline(plan.serving)
    if plan.parameters is not None:
        yield Term("parameters", plan.parameters, "1", "weights of all layers, embeddings and the output layer")
    if plan.active_parameters is not None:
        active = "parameters − experts_not_routed_to"
        yield Term("active parameters", plan.active_parameters, "1", active)


def _time_terms(plan: Plan) -> Iterator[Term]:
    work, step, used = plan.design.workload, plan.step_time, accelerators_used(plan.design)
    if work is None or step is None or used is None:
        return
    tokens = (named_count("global_batch", work.global_batch), named_count("sequence_length", work.filled_length))
    seconds = ("step", Figure(step.value, "s", Computed("the step time")))
    rate = plan.tokens_per_second_per_accelerator
    if rate is not None:
        formula = "global_batch * sequence_length / (step * accelerators_used)"
        shared = (*tokens, seconds, named_count("accelerators_used", used))
        yield Term("tokens per second", rate, "1", formula, shared)
    if plan.time_to_train is not None and work.tokens:
        formula = "tokens / (global_batch * sequence_length) * step"
        inputs = (("tokens", Figure(work.tokens, "1", Computed("workload.tokens"))), *tokens, seconds)
        yield Term("time to train", plan.time_to_train, "s", formula, inputs)


def _utilization_terms(plan: Plan) -> Iterator[Term]:
    work, flops, mfu = plan.design.workload, plan.model_flops_per_accelerator, plan.mfu
    if work is None or work.peak is None or flops is None or mfu is None:
        return
    achieved = ("model_flops", Figure(flops, "FLOP/s", Computed("tokens per second × model FLOPs per token")))
    yield Term("MFU", mfu, "1", "model_flops / peak", (achieved, ("peak", work.peak)), source=MODEL_FLOPS)
    if plan.hfu is not None:
        again = ("recomputation", Figure(plan.hfu / mfu if mfu else 1.0, "1", Computed("all FLOPs over model FLOPs")))
        yield Term("HFU", plan.hfu, "1", "MFU * recomputation", (("MFU", Figure(mfu, "1", Computed("MFU"))), again))


def sent_term(row: Communication) -> Term:
    """The communication time of one collective of an axis in a step, in seconds, as a term."""
    inputs = (
        ("calls", Figure(row.calls, "1", Computed("calls in one step"))),
        ("bytes", Figure(row.bytes, "B", Computed("size as nccl-tests counts it, all calls"))),
        ("seconds_per_call", Figure(row.seconds / row.calls if row.calls else 0.0, "s", Computed("one call"))),
        named_count("ranks", row.ranks),
        ("exposed", Figure(row.exposed, "s", Computed("seconds not overlapped with computation"))),
    )
    return Term(f"{row.axis} {row.collective}", row.seconds, "s", "calls * seconds_per_call", inputs, source=row.tier)
