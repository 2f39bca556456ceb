"""The headline figures of an estimate as terms, so that each can be explained."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import accelerators_used
from clusterspec.cluster.model import Workload
from clusterspec.cluster.samples import Rl
from clusterspec.cost.plan import Communication, Plan
from clusterspec.cost.term import Term, named_count
from clusterspec.quantity import Figure
from clusterspec.source import Computed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.reinforcement.times import RlTimes

MODEL_FLOPS = "Chowdhery et al., arXiv 2204.02311, appendix B: no recomputation, attention counted as if unmasked"


def headline_terms(plan: Plan) -> Iterator[Term]:
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
    if work.rl is not None:
        yield from _rl_time_terms(plan, work, work.rl)
        return
    tokens = (named_count("global_batch", work.global_batch), named_count("sequence_length", work.sequence_length))
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


def _rl_time_terms(plan: Plan, work: Workload, rl: Rl) -> Iterator[Term]:
    """Tokens per second and the duration of the run in reinforcement learning, for the step of all roles; and the same
    for the trainer's update.
    """
    times, used, rate = plan.rl, accelerators_used(plan.design), plan.tokens_per_second_per_accelerator
    if times is not None:
        tokens = (named_count("samples", rl.samples), ("sample_tokens", _sample_tokens(rl)))
        step = ("rl_step", Figure(times.step, "s", Computed("the step of all roles")))
        each, machine = times.tokens_per_second_per_accelerator, named_count("accelerators", times.accelerators)
        formula = "samples * sample_tokens / (rl_step * accelerators)"
        yield Term("tokens per second", each, "1", formula, (*tokens, step, machine))
        if plan.time_to_train is not None and work.tokens:
            formula = "tokens / (samples * sample_tokens) * rl_step"
            whole = ("tokens", Figure(work.tokens, "1", Computed("workload.tokens")))
            yield Term("time to train", plan.time_to_train, "s", formula, (whole, *tokens, step))
    if rate is not None and used is not None:
        formula = "global_batch * filled_length / (update * accelerators_used)"
        seconds = ("update", Figure(plan.step_seconds or 0.0, "s", Computed("one optimizer step")))
        packed = Computed(f"mean tokens of the samples that a sequence of {work.sequence_length:,} holds")
        batch = (
            named_count("global_batch", work.global_batch),
            ("filled_length", Figure(work.filled_length, "1", packed)),
        )
        inputs = (*batch, seconds, named_count("accelerators_used", used))
        yield Term("tokens per second of updates", rate, "1", formula, inputs)


def _sample_tokens(rl: Rl) -> Figure:
    return Figure(rl.sample_tokens, "1", Computed("mean tokens of a prompt and its answer"))


def _utilization_terms(plan: Plan) -> Iterator[Term]:
    work, flops, mfu = plan.design.workload, plan.model_flops_per_accelerator, plan.mfu
    if work is None or work.peak is None or flops is None or mfu is None:
        return
    of_updates = " of updates" if plan.is_update else ""
    if plan.rl is not None and plan.rl.mfu is not None and plan.rl.peak:
        yield _rl_utilization(plan.rl)
    achieved = ("model_flops", Figure(flops, "FLOP/s", Computed("tokens per second × model FLOPs per token")))
    yield Term(f"MFU{of_updates}", mfu, "1", "model_flops / peak", (achieved, ("peak", work.peak)), source=MODEL_FLOPS)
    if plan.hfu is not None:
        again = ("recomputation", Figure(plan.hfu / mfu if mfu else 1.0, "1", Computed("all FLOPs over model FLOPs")))
        inputs = (("MFU", Figure(mfu, "1", Computed(f"MFU{of_updates}"))), again)
        yield Term("HFU", plan.hfu, "1", "MFU * recomputation", inputs)


def _rl_utilization(times: RlTimes) -> Term:
    """The MFU over the whole step: the FLOPs of all roles divided by the peak of all accelerators."""
    inputs = (
        ("flops", Figure(times.flops, "FLOP", Computed("generation, log-probabilities and training of a step"))),
        ("rl_step", Figure(times.step, "s", Computed("the step of all roles"))),
        named_count("accelerators", times.accelerators),
        ("peak", Figure(times.peak or 0.0, "FLOP/s", Computed("of one accelerator"))),
    )
    return Term("MFU", times.mfu or 0.0, "1", "flops / (rl_step * accelerators * peak)", inputs)


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
