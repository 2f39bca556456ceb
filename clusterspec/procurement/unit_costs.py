"""The cost of a second, a run and a token of a design."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import own_accelerators
from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Serving
from clusterspec.cost.nameplates import charged_nodes
from clusterspec.cost.plan import Plan
from clusterspec.cost.serving.latency import ServingTimes, serving_range
from clusterspec.cost.term import Term, computed_term
from clusterspec.procurement.day import ranged_product, term_as_input
from clusterspec.procurement.parts import (
    cost_per_million_of_share,
    cost_per_million_output_tokens,
    cost_per_million_tokens,
    cost_per_second,
    run_cost,
)
from clusterspec.procurement.total import Inputs
from clusterspec.quantity import YEAR, Figure
from clusterspec.records import replace
from clusterspec.source import Computed
from clusterspec.standard import sum_of


def used_accelerators(design: Design) -> float | None:
    """The number of accelerators that the job runs on; None without a layout or a machine."""
    layout, cluster, work = design.layout, design.cluster, design.workload
    if work is not None and work.rl is not None:
        found = own_accelerators(design)
        return None if found is None else float(found)
    return layout.ranks / cluster.ranks_per_accelerator if layout and cluster else None


def cost_of_second(inputs: Inputs, whole: Term | None, plan: Plan | None) -> Term | None:
    """The cost of a second of the job, from the cost of its nodes over the term."""
    if whole is None or not inputs.years or plan is None or plan.design.layout is None:
        return None
    if not inputs.utilization.value:
        return None  # a machine that is never used has no cost per second of use
    cluster = inputs.cluster
    charged = float(charged_nodes(plan.design, cluster) * cluster.accelerators_per_node)
    whose = "nodes of the job * accelerators_per_node" if plan.design.shares_machine else "all, idle ones included"
    figures = (
        ("total", Figure(whole.value, whole.unit, Computed(whole.formula))),
        ("term", Figure(inputs.years * YEAR, "s", Computed("procurement.term"))),
        ("utilization", inputs.utilization),
        ("charged", Figure(charged, "1", Computed(whose))),
        ("accelerators", Figure(charged, "1", Computed(whose))),
    )
    term = computed_term("per_second", cost_per_second, whole.unit, figures)
    low, high = (
        term.value * (end if end is not None else whole.value) / whole.value if whole.value else 0.0
        for end in (whole.low, whole.high)
    )
    return replace(term, low=low, high=high)


def cost_of_run(second: Term | None, run: Term | None) -> Term | None:
    """The cost of a run, from the cost of a second of the job and the seconds of the run; None without one of them."""
    if second is None or run is None:
        return None
    return ranged_product(
        computed_term("per_run", run_cost, second.unit, (term_as_input(second), term_as_input(run))), second, run
    )


def cost_of_million_tokens(second: Term | None, plan: Plan | None, share: Term | None) -> Term | None:
    """The cost of a million tokens, of output tokens where the job serves, from the cost of a second. ``share`` is the
    part of the time in which training makes progress.
    """
    if plan is not None and plan.serving is not None:
        return _cost_of_million_output_tokens(second, plan.serving)
    rate = plan.whole_step.rate if plan else None
    used = used_accelerators(plan.design) if plan else None
    if second is None or share is None or share.value <= 0 or not rate or not used:
        return None
    tokens = Figure(rate * used, "1/s", Computed("tokens_per_second_per_accelerator * accelerators_used"))
    figures = (term_as_input(second), ("tokens_per_second", tokens), term_as_input(share))
    return ranged_product(computed_term("per_million_tokens", cost_per_million_tokens, second.unit, figures), second)


def _cost_of_million_output_tokens(second: Term | None, times: ServingTimes) -> Term | None:
    """The cost of a million output tokens. Interruptions are ignored, since a failed engine does not stop the other
    engines.
    """
    if second is None or times.output_tokens_per_second <= 0:
        return None
    rate = Figure(times.output_tokens_per_second, "1/s", Computed("concurrency * output_tokens / latency"))
    figures = (term_as_input(second), ("output_tokens_per_second", rate))
    term = computed_term("per_million_output_tokens", cost_per_million_output_tokens, second.unit, figures)
    slow, fast = serving_range(times, "output_tokens_per_second")
    token = 1 / times.output_tokens_per_second
    return ranged_product(term, second, Term("token", token, "s", "1 / rate", low=1 / fast, high=1 / slow))


def costs_by_kind(second: Term, plan: Plan) -> Iterator[Term]:
    """The cost of a million tokens of each kind: prompts take the time of prefill, outputs the rest.

    Cached input costs the time in which computed tokens attend to it; reading the cache takes no accelerator time.
    """
    times, load = plan.serving, plan.design.workload.serving if plan.design.workload else None
    if times is None or load is None or times.output_tokens_per_second <= 0:
        return
    prompts = _prompt_share(times, load)
    hit, outputs = times.prefix_hit, times.output_tokens_per_second
    inputs = outputs * load.input_tokens / load.output_tokens
    attention = sum_of(part.seconds for part in times.prefill.parts if part.name == "attention")
    each = times.prefill.total / times.prefill.steps
    cached = prompts * attention / each * hit / (1 - (1 - hit) / 2) if each else 0.0
    kinds = (
        ("input", prompts - cached, inputs * (1 - hit)),
        ("cached", cached, inputs * hit),
        ("generated", 1 - prompts, outputs),
    )
    for kind, share, rate in kinds:
        if rate > 0:
            figures = (
                term_as_input(second),
                ("share", Figure(share, "1", Computed("share of the accelerators' time"))),
                ("tokens_per_second", Figure(rate, "1/s", Computed("tokens of this kind per second"))),
            )
            yield computed_term(f"per_million_{kind}_tokens", cost_per_million_of_share, second.unit, figures)


def _prompt_share(times: ServingTimes, load: Serving) -> float:
    """The share of accelerator time that prefill takes. With separate engines this is the share of the accelerators
    that run prefill.
    """
    if load.prefill is None or load.decode is None:
        return min(1.0, times.prefill_share)
    prompts, answers = (side.replicas * side.ranks for side in (load.prefill, load.decode))
    return prompts / (prompts + answers)
