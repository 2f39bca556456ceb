"""The verdict by area: the binding constraint, its value, its limit, and the headroom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.cost.plan import Plan
from clusterspec.procurement.bill import Bill
from clusterspec.records import asdict, dataclass, replace
from clusterspec.results.machine import Rack
from clusterspec.results.verdict import condition
from clusterspec.summation import sum_of

REQUESTS = "requests"
"""The unit of a count of requests."""
CLOSE = 0.1
"""Headroom, relative to the limit, below which an area is tight."""


@dataclass(frozen=True, slots=True)
class Area:
    """An area: the binding ``constraint``, its ``value`` and ``limit``, both in ``unit``. ``headroom`` is the remaining
    fraction of the limit, negative if it is exceeded. ``state`` is ``good``, ``tight``, ``bad`` or ``open`` (not
    judged, for the reason in ``note``).
    """

    area: str
    constraint: str
    value: float | None
    limit: float | None
    unit: str
    headroom: float | None
    state: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def areas(plan: Plan, bill: Bill, rack: Rack | None) -> tuple[Area, ...]:
    """The areas that apply to a design with a cluster."""
    times = (*_links(plan), *_schedule(plan), *_requests(plan))
    return (*_memory(plan), *times, *_power(rack), *_storage(plan), *_budget(plan, bill))


def _area(area: str, constraint: str, value: float, limit: float, *, unit: str, note: str = "") -> Area:
    """An area with a limit; ``tight`` if within `CLOSE` of the limit."""
    headroom = 1 - value / limit if limit else None
    state = "open" if headroom is None else "bad" if headroom < 0 else "tight" if headroom < CLOSE else "good"
    return Area(area, constraint, value, limit, unit, headroom, state, note)


def _memory(plan: Plan) -> Iterator[Area]:
    use = plan.memory
    if use is None or use.capacity is None:
        yield Area("memory", "memory of one accelerator", None, None, "B", None, "open", "not judged")
        return
    parts = (use.weights, use.gradients, use.optimizer, use.activations, use.other)
    largest = max(parts, key=lambda part: part.value)
    found = _area(
        "memory", f"{largest.label} on the fullest accelerator", use.total.value, use.capacity.value, unit="B"
    )
    low, high = plan.memory_range or (use.total.value, use.total.value)
    state = "bad" if low > use.capacity.value else "tight" if high > use.capacity.value else found.state
    yield replace(found, state=state)


def _links(plan: Plan) -> Iterator[Area]:
    """The busy time of the links of a tier in a step; the busiest link bounds the step time from below.

    In a torus, the groups of different axes use different links.
    """
    if plan.step_time is None:
        return
    held, cluster = condition(plan), plan.design.cluster
    for tier in dict.fromkeys(row.tier for row in plan.communication):
        rows = [row for row in plan.communication if row.tier == tier]
        if tier == "scale-up" and cluster is not None and cluster.scale_up.topology == "torus":
            by_axis = [[row for row in rows if row.axis == axis] for axis in dict.fromkeys(row.axis for row in rows)]
            rows = max(by_axis, key=lambda part: sum_of(row.seconds for row in part))
        first = max(rows, key=lambda row: row.exposed)
        busy = sum_of(row.seconds for row in rows)
        if not busy:
            continue
        seen = sum_of(row.exposed for row in rows)
        note = f"exposed {100 * seen / plan.step_time.value:.0f} % of the step" + (f", {held}" if held else "")
        found = _area(
            f"{tier} links", f"{first.axis} {first.collective}", busy, plan.step_time.value, unit="s", note=note
        )
        yield found


def _schedule(plan: Plan) -> Iterator[Area]:
    work = plan.design.workload
    if plan.mfu is not None and work is not None and work.expected_mfu:
        yield _area("compute", "MFU stated in the plan", work.expected_mfu, plan.mfu, unit="1")
    if plan.step_time is None and plan.serving is None:
        yield Area("step time", "time of one step", None, None, "s", None, "open", "not judged")


def _requests(plan: Plan) -> Iterator[Area]:
    """Serving: latencies against the targets, and requests in flight against the KV cache capacity."""
    work, found = plan.design.workload, plan.serving
    if found is None or work is None or work.serving is None:
        return
    from clusterspec.cost.serving.explain import tpot_at, ttft_at

    load = work.serving
    at = f"percentile {load.percentile:g}"
    if load.ttft_target is not None:
        yield _area("first token", f"time to first token, {at}", ttft_at(found, load), load.ttft_target, unit="s")
    if load.tpot_target is not None:
        yield _area("output token", f"time per output token, {at}", tpot_at(found, load), load.tpot_target, unit="s")
    if load.load != "offline":
        yield _area("cache", "requests in flight", found.offered, found.kv_capacity_sequences, unit=REQUESTS)


def _power(rack: Rack | None) -> Iterator[Area]:
    if rack is None:
        return
    if rack.watts is not None and rack.limit is not None:
        yield _area("power", f"one rack of {rack.nodes} nodes", rack.watts, rack.limit, unit="W")
    elif rack.watts is not None:
        yield Area("power", f"one rack of {rack.nodes} nodes", rack.watts, None, "W", None, "open", "no limit stated")


def _storage(plan: Plan) -> Iterator[Area]:
    """The time to write a checkpoint, in seconds, against the checkpoint interval."""
    spec = plan.design.spec
    networks = spec.cluster.networks if spec.cluster and plan.serving is None else None
    store = networks.storage.bandwidth if networks and networks.storage else None
    interval = spec.operations.checkpoint_interval if spec.operations else None
    if store is None or interval is None or plan.parameters is None:
        return
    seconds = plan.parameters * CHECKPOINT_BYTES / store.per_direction
    yield _area("storage", "writing one checkpoint, 14 B per parameter", seconds, interval.value, unit="s")


CHECKPOINT_BYTES = 14.0
"""Checkpoint bytes per parameter: weights at 2, master weights and two moments at 4 each."""


def _budget(plan: Plan, bill: Bill) -> Iterator[Area]:
    procurement = plan.design.spec.procurement
    budget = getattr(procurement, "budget", None)
    if budget and bill.total is not None:
        note = "" if bill.complete else "some lines have no price"
        yield _area(
            "budget", bill.total_title.lower(), bill.total.high, float(budget), unit=bill.currency or "1", note=note
        )
