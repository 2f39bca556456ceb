"""Time shares of what accelerators do while a plan runs, as input to their power draw."""

from __future__ import annotations

from clusterspec.cost.plan import Plan
from clusterspec.precision import peak_name
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

PHASES = ("forward", "backward", "recomputation", "optimizer")


class Activity(NamedTuple):
    """Shares of the accelerators' time by activity; the rest waits in collectives and for other ranks.

    ``products`` are matrix products and attention, ``memory`` memory-bound kernels, ``host`` waiting for kernel
    launches, ``idle`` time without a request. ``arithmetic`` is the share of the matrix peak that memory-bound kernels
    use while they run.
    """

    products: float
    memory: float
    host: float = 0.0
    idle: float = 0.0
    arithmetic: float = 0.0


def activity_of(plan: Plan) -> Activity | None:
    """The activity of a plan; None without times, and for reinforcement learning, whose roles do different work."""
    written = plan.design.spec.workload
    if written is not None and written.kind == "rl":
        return None
    workload = plan.design.workload
    if plan.serving is not None and workload is not None and workload.serving is not None:
        from clusterspec.cost.serving.activity import serving_activity  # a training plan needs none of its modules

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


def _peak_of_rank(plan: Plan) -> float | None:
    """The dense FLOP/s of one rank in the precision of the plan, else in 16 bits; None where they are not known."""
    cluster, workload = plan.design.cluster, plan.design.workload
    if cluster is None:
        return None
    peaks = cluster.accelerator.peaks
    names = (peak_name(workload.precision, peaks) if workload is not None else None, "bf16", "fp16")
    found = next((peaks[name] for name in names if name is not None and name in peaks), None)
    return found.value / cluster.ranks_per_accelerator if found is not None else None
