"""What accelerators do while a plan runs, in shares of time, and the power of each activity: low, middle and high.

The constants of the power are fitted to two sources: the power logs of MLPerf Training 4.0 (immersed nodes of eight
H100: GPT-3 on 64 nodes, Llama 2 70B LoRA on 1, 8 and 64), and of MLPerf Inference 4.1 (air-cooled nodes of eight H200
under caps); the idle power also to Inference 5.1. `tests/accuracy/power.csv` has the rows of these sources and of the
held-out sources.
"""

from __future__ import annotations

from clusterspec.cost.compute.power_cap import IDLE_SHARE
from clusterspec.cost.plan import Plan
from clusterspec.quantity import Figure, peak_name
from clusterspec.records import NamedTuple
from clusterspec.source import Assumed
from clusterspec.standard import sum_of

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
    if written is not None and written.implied_kind == "rl":
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
    """The dense FLOP/s of one rank in the precision of the plan, else in 16 bits; None if they are not known."""
    cluster, workload = plan.design.cluster, plan.design.workload
    if cluster is None:
        return None
    peaks = cluster.accelerator.peaks
    names = (peak_name(workload.precision, peaks) if workload is not None else None, "bf16", "fp16")
    found = next((peaks[name] for name in names if name is not None and name in peaks), None)
    return found.value / cluster.ranks_per_accelerator if found is not None else None


# Power by activity

SMC = (
    "power logs of Sustainable Metal Cloud in MLPerf Training 4.0, immersed HGX H100 "
    "(github.com/mlcommons/training_results_v4.0, smc-ac-power)"
)
MAXQ = (
    "power logs of NVIDIA in MLPerf Inference 4.1, air-cooled H200 at caps of 350 to 500 W "
    "(github.com/mlcommons/inference_results_v4.1, H200-SXM-141GBx8_TRT_MaxQ)"
)


def _assumed_range(name: str, values: tuple[float, float, float], why: str) -> tuple[Figure, Figure, Figure]:
    unit = "W" if name.endswith("watts") else "1"
    low, middle, high = (Figure(value, unit, Assumed(f"power.{name}", why)) for value in values)
    return low, middle, high


AT_PRODUCTS = _assumed_range(
    "at_products", (0.93, 1.0, 1.0), f"accelerators that run GEMMs reach their power limit; {SMC}: 7.0 to 7.3 kW"
)
ML_ENERGY = (
    "237 serving runs of vLLM on H100 and B200 (ML.ENERGY leaderboard 3.0, github.com/ml-energy/leaderboard 0cd52da, "
    "public/data/tasks)"
)
AT_MEMORY = _assumed_range(
    "at_memory", (0.65, 0.8, 1.0), f"kernels that stream weights and caches; {ML_ENERGY}: fitted at measured gaps"
)
AT_ARITHMETIC = _assumed_range(
    "at_arithmetic",
    (0.5, 1.0, 2.0),
    f"additional draw of memory-bound kernels if they also reached the matrix peak; {ML_ENERGY}: batches of 8 draw "
    "0.6 to 0.75 "
    "of the limit, of 500 up to 0.98",
)
AT_HOST = _assumed_range(
    "at_host",
    (0.2, 0.3, 0.5),
    f"an accelerator that waits for its host; {ML_ENERGY}: 0.29 of the limit where steps are seven times as long as "
    "their kernels",
)
AT_WAITING = _assumed_range(
    "at_waiting",
    (0.45, 0.65, 0.8),
    f"{SMC}: Llama 2 70B LoRA on 64 nodes, mostly communication, draws 0.76 of the limit",
)
AT_IDLE = _assumed_range(
    "at_idle", (0.07, IDLE_SHARE.value, 0.14), f"{SMC}: an idle node draws 1.9 to 2.3 kW, its accelerators 70 W each"
)
"""Idle power of an accelerator per watt of its limit, where the catalog has no measurement of the part."""
OF_IDLE = _assumed_range("of_idle", (0.9, 1.0, 1.1), "idle modules of one type read 131 to 146 W (MI300X of two sites)")
"""Idle power of an accelerator relative to the catalog figure, which was measured on one machine."""
HOST = _assumed_range("host", (0.24, 0.28, 0.32), f"{SMC}: 1.4 to 1.8 kW in addition to 8 × 700 W, without fans")
"""Watts of the rest of a node without fans, per watt of its accelerators' limit: low, middle, high."""
HOST_IDLE = _assumed_range(
    "host_idle_watts",
    (160.0, 196.0, 240.0),
    "W for each accelerator at most: idle nodes of 8 × H100, H200 and B200 draw 1.55 kW in addition to accelerators "
    "and fans, whatever the accelerators' limit (logs of MLPerf Training 4.0, Inference 4.1 and 5.1)",
)
"""Watts of the rest of an idle node without fans, for each accelerator, at most: low, middle, high."""
FANS = {
    "immersion": _assumed_range("fans", (0.0, 0.0, 0.0), "immersed nodes have no fans"),
    "liquid": _assumed_range("fans", (0.0, 0.0, 0.04), "cold plates carry the heat; some nodes keep small fans"),
    "air": _assumed_range(
        "fans",
        (0.1, 0.16, 0.2),
        "an air-cooled HGX H100 draws at most 8.4 kW in training, an immersed one 7.2 kW (arXiv:2412.08602); "
        f"{MAXQ}: 2.4 kW idle, 4.8 kW at 350 W, 6.2 kW at 500 W",
    ),
}
"""Watts of the fans of a node at full load per watt of its accelerators' limit, by cooling: low, middle, high."""
