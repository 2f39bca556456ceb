"""Steps, throughput, checkpoints, interruptions and memory of a job, as the demands of texts bound them: from its plan."""

from __future__ import annotations

from clusterspec.rules.readers.demands.parts import Parts, Quantity, Value
from clusterspec.rules.readers.demands.places import number_of_key
from clusterspec.standard import sum_of
from clusterspec.units import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from clusterspec.cost.interruptions import Interruptions
    from clusterspec.cost.memory import MemoryLine
    from clusterspec.cost.storage import StorageUse


def _storage(parts: Parts) -> StorageUse | None:
    from clusterspec.cost.storage import storage_use

    return storage_use(parts.plan) if parts.work is not None else None


def kept_checkpoints(parts: Parts) -> Value | None:
    """The bytes of the checkpoints that are kept."""
    keep, each = number_of_key(parts.spec, "operations.checkpoint.keep"), size_of_checkpoint(parts)
    if not keep or each is None:
        return None
    return Value(keep * each.low, keep * each.high, f"{keep:g} of {display(each.high, 'B')}")


def size_of_checkpoint(parts: Parts) -> Value | None:
    """The bytes of a checkpoint."""
    from clusterspec.rules.knowledge.checkpoints import saved_bytes

    work = parts.work
    if work is None or work.kind != "train":
        return None
    size = saved_bytes(work.model, work)
    return Value(size, size, "weights, master copy and moments") if size else None


def free_storage(parts: Parts) -> Value | None:
    """The bytes of the storage system that kept checkpoints and the data set leave."""
    capacity, found = number_of_key(parts.spec, "cluster.networks.storage.capacity"), _storage(parts)
    if not capacity or found is None:
        return None
    data = found.data.whole.size.value if found.data is not None and found.data.whole is not None else 0.0
    kept = found.kept.value if found.kept is not None else 0.0
    free = capacity - kept - data
    if (not kept and not data) or free <= 0:
        return None
    how = f"{display(capacity, 'B')} less {display(kept, 'B')} of checkpoints and {display(data, 'B')} of data"
    return Value(free, free, how)


def share_of_pauses(parts: Parts) -> Value | None:
    """The share of the time that checkpoints pause the run, as stated."""
    pause = number_of_key(parts.spec, "operations.checkpoint.pause") or number_of_key(
        parts.spec, "operations.checkpoint_time"
    )
    interval = number_of_key(parts.spec, "operations.checkpoint.interval")
    if not pause or not interval:
        return None
    return Value(pause / interval, pause / interval, f"{display(pause, 's')} each {display(interval, 's')}")


def size_of_data(parts: Parts) -> Value | None:
    """The bytes of the data set."""
    found = _storage(parts)
    whole = found.data.whole if found is not None and found.data is not None else None
    return Value(whole.size.value, whole.size.value, "by its tokens") if whole is not None else None


def step_time(parts: Parts) -> Value | None:
    """The seconds of a step, over the range of the prediction."""
    plan = parts.plan
    if plan.is_update:
        return Value(*plan.rl.band, "predicted for a step of all roles") if plan.rl is not None else None
    steps = plan.step_time_range
    return Value(*steps, f"predicted {display(steps[0], 's')} to {display(steps[1], 's')}") if steps else None


def throughput(parts: Parts) -> Value | None:
    """The tokens of a second: trained ones, over the range of the step, or generated ones of a service."""
    plan, work = parts.plan, parts.work
    if plan.serving is not None:
        from clusterspec.cost.serving.latency import serving_range

        low, high = serving_range(plan.serving, "output_tokens_per_second")
        return Value(low, high, f"predicted {low:,.0f} to {high:,.0f}")
    steps = step_time(parts)
    if work is None or steps is None:
        return None
    tokens = work.rl.step_tokens if work.rl is not None else work.tokens_of_step
    if not tokens:
        return None
    return Value(tokens / steps.high, tokens / steps.low, f"{tokens:,.0f} tokens in a step, {steps.how}")


def throughput_of_device(parts: Parts) -> Value | None:
    """The tokens of a second for each accelerator that the job uses."""
    from clusterspec.procurement.unit_costs import used_accelerators

    found, used = throughput(parts), used_accelerators(parts.planned.design)
    return Value(found.low / used, found.high / used, found.how) if found is not None and used else None


def utilization_of_peak(parts: Parts) -> Value | None:
    """The model FLOPs utilization, over the range of the step."""
    found = parts.plan.mfu_range if not parts.plan.is_update else None
    return Value(*found, "predicted") if found is not None else None


def pipeline_bubble(parts: Parts) -> Value | None:
    """The share of a step in which the slowest stage waits for others."""
    step = parts.plan.step
    if step is None or parts.plan.is_update or parts.layout is None or parts.layout.pp == 1:
        return None
    share = step.times.bubble / step.times.total
    return Value(share, share, f"{parts.layout.pp} stages")


def exposed_communication(parts: Parts) -> Value | None:
    """The share of a step that communication takes without computation."""
    plan = parts.plan
    if plan.step is None or plan.is_update or not plan.step.times.total:
        return None
    share = sum_of(each.exposed for each in plan.communication) / plan.step.times.total
    return Value(share, share, "of the predicted step") if share else None


def _interruptions(parts: Parts) -> Interruptions | None:
    """The interruptions of a job whose rate the keys state."""
    from clusterspec.cost.interruptions import plan_interruptions

    stated = (number_of_key(parts.spec, f"operations.{each}") for each in ("node_mtbf", "mean_time_between_failures"))
    return plan_interruptions(parts.plan) if any(stated) and parts.work is not None else None


def time_between_interruptions(parts: Parts) -> Value | None:
    """The mean seconds between interruptions of the job."""
    found = _interruptions(parts)
    return Value(found.between.value, found.between.value, "by the stated rate") if found is not None else None


def interruptions_of_run(parts: Parts) -> Value | None:
    """The mean number of interruptions of the predicted run."""
    from clusterspec.rules.readers.demands.run_values import predicted_time

    found, run = _interruptions(parts), predicted_time(parts.plan)
    if found is None or run is None:
        return None
    between = found.between.value
    return Value(run.low / between, run.high / between, f"one in {display(between, 's')}, {run.how}")


def _restart(parts: Parts) -> float:
    """The seconds from a failure until training runs again, as the keys state them; 0 without a restart time."""
    restart = number_of_key(parts.spec, "operations.restart_time")
    return restart + number_of_key(parts.spec, "operations.detection_time") if restart else 0.0


def cost_of_interruption(parts: Parts) -> Value | None:
    """The mean seconds that an interruption costs: half an interval of checkpoints, the detection and the restart."""
    interval, restart = number_of_key(parts.spec, "operations.checkpoint.interval"), _restart(parts)
    if not interval or not restart:
        return None
    seconds = interval / 2 + restart
    return Value(seconds, seconds, f"half of {display(interval, 's')} and {display(restart, 's')} until it runs again")


def worst_interruption(parts: Parts) -> Value | None:
    """The most seconds that an interruption costs: the work since the last checkpoint, the detection and the restart."""
    from clusterspec.rules.readers.demands.run_values import lost_work

    lost, restart = lost_work(parts), _restart(parts)
    if lost is None or not restart:
        return None
    return Value(
        lost.low + restart, lost.high + restart, f"{lost.how}, and {display(restart, 's')} until it runs again"
    )


def _key_time(key: str, what: str) -> Quantity:
    """A time that a key states."""

    def value(parts: Parts) -> Value | None:
        seconds = number_of_key(parts.spec, key)
        return Value(seconds, seconds, f"`{key}`") if seconds else None

    return Quantity(key, what, "s", value)


def free_memory_of_device(parts: Parts) -> Value | None:
    """The bytes that the fullest accelerator has left, over the range of the prediction."""
    found, cluster = parts.plan.fullest_range, parts.cluster
    memory = cluster.accelerator.memory if cluster is not None else None
    if found is None or memory is None:
        return None
    free = (max(0.0, memory.value - found[1]), memory.value - found[0])
    return Value(*free, f"{display(memory.value, 'B')} less {display(found[0], 'B')}") if free[1] > 0 else None


def memory_of_device(parts: Parts) -> Value | None:
    """The bytes on the fullest accelerator, over the range of the prediction."""
    found = parts.plan.fullest_range
    return Value(*found, f"predicted {display(found[0], 'B')} to {display(found[1], 'B')}") if found else None


def _lines(parts: Parts, lines: Iterable[MemoryLine]) -> Value | None:
    from clusterspec.cost.memory import summed_bytes

    stored = parts.plan.stored
    size = summed_bytes(lines) * stored.ranks if stored is not None else 0.0
    return Value(size, size, "on the fullest accelerator") if size else None


def weights_on_device(parts: Parts) -> Value | None:
    """The bytes of weights on the fullest accelerator."""
    stored = parts.plan.stored
    return _lines(parts, stored.rank.weights) if stored is not None else None


def activations_on_device(parts: Parts) -> Value | None:
    """The bytes of activations on the fullest accelerator."""
    stored = parts.plan.stored
    return _lines(parts, stored.rank.activations) if stored is not None else None


_STORE, _MODEL = "cluster.networks.storage.capacity", "layout"
JOB_QUANTITIES = {
    "free storage": Quantity(_STORE, "the storage that stays free", "B", free_storage, 0.02),
    "size of kept checkpoints": Quantity("operations.checkpoint.keep", "the size of the kept checkpoints", "B", kept_checkpoints, 0.03),
    "size of a checkpoint": Quantity("workload.model", "the size of a checkpoint", "B", size_of_checkpoint, 0.03),
    "share of pauses": Quantity("operations.checkpoint.pause", "the share of the time that checkpoints take", "%", share_of_pauses, 0.02),
    "size of the data set": Quantity("workload.dataset_tokens", "the size of the data set", "B", size_of_data, 0.1),
    "step time": Quantity(_MODEL, "the time of a step", "s", step_time, 0.02),
    "throughput": Quantity(_MODEL, "the throughput", "tokens/s", throughput, 0.02),
    "throughput of a device": Quantity(_MODEL, "the throughput of each accelerator", "tokens/s", throughput_of_device, 0.02),
    "utilization of the peak": Quantity(_MODEL, "the model FLOPs utilization", "%", utilization_of_peak, 0.02),
    "pipeline bubble": Quantity("layout.schedule", "the pipeline bubble", "%", pipeline_bubble, 0.3),
    "exposed communication": Quantity(_MODEL, "the exposed communication", "%", exposed_communication, 0.3),
    "cost of an interruption": Quantity("operations.restart_time", "the mean time that an interruption costs", "s", cost_of_interruption, 0.02),
    "worst interruption": Quantity("operations.restart_time", "the most time that an interruption costs", "s", worst_interruption, 0.02),
    "interruptions of the run": Quantity("operations", "the mean number of interruptions of the run", "", interruptions_of_run, 0.05),
    "time between interruptions": Quantity("operations", "the mean time between interruptions", "s", time_between_interruptions, 0.02),
    "detection": _key_time("operations.detection_time", "the time until a failure is noticed"),
    "lead time of spares": _key_time("operations.stock.lead_time", "the lead time of spare parts"),
    "free memory of a device": Quantity(_MODEL, "the free memory of an accelerator", "B", free_memory_of_device, 0.02),
    "weights on a device": Quantity(_MODEL, "the weights on an accelerator", "B", weights_on_device, 0.08),
    "activations on a device": Quantity(_MODEL, "the activations on an accelerator", "B", activations_on_device, 0.3),
    "memory of a device": Quantity(_MODEL, "the memory that an accelerator uses", "B", memory_of_device, 0.02),
}  # fmt: skip
"""Quantities of a job by their subject."""
