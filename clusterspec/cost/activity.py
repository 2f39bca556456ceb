"""What accelerators do while a plan runs, as shares of the time: what their power follows from."""

from __future__ import annotations

import math

from clusterspec.cluster.requests import Serving
from clusterspec.cost.plan import Plan
from clusterspec.cost.serving.constants import LAUNCH, Part
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.precision import peak_name
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

COLLECTIVES = ("all_reduce", "expert_exchange")
"""Parts of a serving step that move data between accelerators."""
PHASES = ("forward", "backward", "recomputation", "optimizer")


class Activity(NamedTuple):
    """Shares of the time of accelerators, by what they do; the rest waits in collectives and for others.

    ``products`` are matrix products with attention, ``memory`` kernels bound by memory, ``host`` waits for the host
    that launches them, ``idle`` the time without a request. ``arithmetic`` is the share of the matrix peak that kernels
    bound by memory use while they run.
    """

    products: float
    memory: float
    host: float = 0.0
    idle: float = 0.0
    arithmetic: float = 0.0


def activity_of(plan: Plan) -> Activity | None:
    """The activity of a plan; None without times, and for reinforcement learning, whose roles do unlike work."""
    written = plan.design.spec.workload
    if written is not None and written.kind == "rl":
        return None
    workload = plan.design.workload
    if plan.serving is not None and workload is not None and workload.serving is not None:
        return serving_activity(plan.serving, _peak_of_rank(plan), workload.serving)
    step = plan.step_time
    if step is None or not step.value:
        return None
    products = memory = 0.0
    for phase in step.parts:
        if phase.name not in PHASES:
            continue
        inside = [part.value for part in phase.parts if part.name.endswith(("_matrix_products", "_attention"))]
        whole = sum_of(inside) if inside else (phase.value if phase.name == "recomputation" else 0.0)
        products += whole
        memory += max(0.0, phase.value - whole)
    return Activity(products / step.value, memory / step.value)


def serving_activity(times: ServingTimes, peak: float | None, load: Serving) -> Activity:
    """The activity of engines: prefill is products; a decode step reads memory, exchanges data, and waits for its host.

    ``peak`` is the dense FLOP/s of one rank. In an open load an engine that decodes has no request for
    ``exp(-requests)`` of the time, as requests of random arrival are Poisson distributed; separate prefill engines are
    idle while they have no prompt.
    """
    share, prefill = 0.0, min(1.0, max(0.0, times.prefill_share))
    if load.prefill is not None and load.decode is not None:
        prompts, answers = (side.replicas * side.ranks for side in (load.prefill, load.decode))
        share, prefill = prompts / (prompts + answers), 0.0
    requests = times.sequences * times.coupled_ranks + prefill
    idle = min(1.0 - prefill, math.exp(-requests)) if load.load == "open" else 0.0
    decoding = _decoding_activity(times, peak, 1.0 - prefill - idle)
    loaded = min(1.0, max(0.0, times.prompt_load))
    return Activity(
        share * loaded + (1 - share) * prefill,
        (1 - share) * decoding.memory,
        (1 - share) * decoding.host,
        share * (1 - loaded) + (1 - share) * idle,
        decoding.arithmetic,
    )


def _decoding_activity(times: ServingTimes, peak: float | None, working: float) -> Activity:
    """The activity of decode steps that take the share ``working`` of the time."""
    parts = times.decode.parts
    host, collectives = (
        sum_of(part.seconds for part in parts if part.name in names) for names in ((LAUNCH,), COLLECTIVES)
    )
    whole = sum_of(part.seconds for part in parts)
    kernels = whole - host - collectives
    if kernels <= 0:
        return Activity(0.0, working)
    arithmetic = min(1.0, sum_of(map(_flops_of, parts)) / (peak * kernels)) if peak else 0.0
    return Activity(0.0, working * kernels / whole, working * host / whole, 0.0, arithmetic)


def _flops_of(part: Part) -> float:
    return part.numbers.get("flops", 0.0) * part.numbers.get("calls", 1.0)


def _peak_of_rank(plan: Plan) -> float | None:
    """The dense FLOP/s of one rank in the precision of the plan, else in 16 bits; None where they are not known."""
    cluster, workload = plan.design.cluster, plan.design.workload
    if cluster is None:
        return None
    peaks = cluster.accelerator.peaks
    names = (peak_name(workload.precision, peaks) if workload is not None else None, "bf16", "fp16")
    found = next((peaks[name] for name in names if name is not None and name in peaks), None)
    return found.value / cluster.ranks_per_accelerator if found is not None else None
