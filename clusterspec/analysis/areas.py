"""The areas of a verdict: what is used of each limit of a design, and the headroom that is left."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.verdict import no_time_reason, validity_condition
from clusterspec.cluster.model import Design
from clusterspec.cost.nameplates import lowest_machine_watts, machine_watts
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from clusterspec.results.verdict import CLOSE, REQUESTS, Area
from clusterspec.standard import sum_of
from clusterspec.units import display, plural, portion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.procurement.bill import Bill
    from clusterspec.results.machine import Rack

ALL_EQUIPMENT = "all IT equipment at full load"


def verdict_areas(plan: Plan, bill: Bill, rack: Rack | None) -> tuple[Area, ...]:
    """The areas that apply to a design with a cluster."""
    of_work = (*_memory_area(plan), *_link_area(plan), *_schedule_area(plan), *_request_areas(plan))
    return (*of_work, *_power_areas(plan.design, rack), *_storage_area(plan), *_budget_area(plan, bill))


def _limited_area(area: str, constraint: str, value: float, limit: float, *, unit: str, note: str = "") -> Area:
    """An area with a limit; ``tight`` if within `CLOSE` of the limit."""
    headroom = 1 - value / limit if limit else None
    state = "open" if headroom is None else "bad" if headroom < 0 else "tight" if headroom < CLOSE else "good"
    return Area(area, constraint, value, limit, unit, headroom, state, note)


def _memory_area(plan: Plan) -> Iterator[Area]:
    use = plan.memory
    if use is None or use.capacity is None:
        yield Area("memory", "memory of one accelerator", None, None, "B", None, "open", "not judged")
        return
    parts = (use.weights, use.gradients, use.optimizer, use.activations, use.other)
    largest = max(parts, key=lambda part: part.value)
    total, where = plan.fullest_phase(use.total.value), f"{largest.label} on the fullest accelerator"
    if total > use.total.value:
        where = "models and engines of all roles on an accelerator of the trainer"
    found = _limited_area("memory", where, total, use.capacity.value, unit="B")
    low, high = plan.fullest_range or (total, total)
    state = "bad" if low > use.capacity.value else "tight" if high > use.capacity.value else found.state
    if state == "tight" and plan.serving is not None and high <= use.capacity.value:
        yield replace(found, state="good", note="the cache takes what is left")
        return
    yield replace(found, state=state)


def _link_area(plan: Plan) -> Iterator[Area]:
    """The busy time of a tier's links in a step. The busiest link is a lower bound of the step time. A tier is also
    tight if its exposed communication takes more than `CLOSE` of the step.

    In a torus, the groups of different axes use different links.
    """
    if plan.step_time is None:
        return
    held, cluster = validity_condition(plan), plan.design.cluster
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
        note = f"exposed {portion(seen / plan.step_time.value)} of the step" + (f", {held}" if held else "")
        most = f"{first.axis} {first.collective}"
        if len({(row.axis, row.collective) for row in rows}) > 1:  # the times are those of all traffic of the tier
            most, note = f"{most} and other traffic", f"together {note}"
        found = _limited_area(f"{tier} links", most, busy, plan.step_time.value, unit="s", note=note)
        yield replace(found, state="tight") if found.state == "good" and seen > CLOSE * plan.step_time.value else found


def _schedule_area(plan: Plan) -> Iterator[Area]:
    work = plan.design.workload
    if plan.mfu is not None and work is not None and work.expected_mfu:
        yield _limited_area("compute", "MFU stated in the plan", work.expected_mfu, plan.mfu, unit="1")
    if plan.step_time is None and plan.serving is None:
        if work is not None and work.kind == "serve":
            times = "time to first token, time per output token"
            yield Area("token times", times, None, None, "s", None, "open", no_time_reason(plan, words=True))
        else:
            yield Area("step time", "time of one step", None, None, "s", None, "open", "not judged")


AREAS = {"ttft": "first token", "tpot": "output token", "itl": "token gap", "end_to_end": "whole request"}


def _request_areas(plan: Plan) -> Iterator[Area]:
    """Serving: latencies against the targets, and requests in flight against the KV cache capacity."""
    work, found = plan.design.workload, plan.serving
    if found is None or work is None or work.serving is None:
        return
    from clusterspec.cost.serving.percentiles import QUANTITIES
    from clusterspec.cost.serving.targets import target_results

    load = work.serving
    for result in target_results(found, load):
        target, seconds = result.target, result.seconds
        what = f"{QUANTITIES[target.quantity]}, percentile {target.percentile:g}"
        judged = _limited_area(AREAS[target.quantity], what, seconds, target.seconds, unit="s")
        if result.missed_in_queue:
            judged = replace(judged, state="bad", note="the queue grows without end")
        elif judged.state == "good" and (high := result.range[1]) > target.seconds:
            judged = replace(judged, state="tight", note=f"up to {display(high, 's')} within its range")
        yield judged
    if load.load != "offline":
        yield _limited_area("cache", "requests in flight", found.offered, found.places, unit=REQUESTS)


def _power_areas(design: Design, rack: Rack | None) -> Iterator[Area]:
    limits = [budget.value for _, budget in design.spec.power_budgets]
    watts = machine_watts(design) if limits else None
    if watts is not None:
        yield _power_area(ALL_EQUIPMENT, watts, lowest_machine_watts(design) or watts, min(limits))
    if rack is None:
        return
    if rack.watts is not None and rack.limit is not None:
        least = rack.watts if rack.least is None else rack.least
        yield _power_area(f"one rack of {plural(rack.nodes, 'node')}", rack.watts, least, rack.limit)
    elif rack.watts is not None:
        what = f"one rack of {plural(rack.nodes, 'node')}"
        yield Area("power", what, rack.watts, None, "W", None, "open", "no limit stated")


def _power_area(name: str, watts: float, least: float, limit: float) -> Area:
    """The area of a power and its limit; ``least`` is the power if nodes of assumed power draw the low end."""
    found = _limited_area("power", name, watts, limit, unit="W")
    if found.state == "bad" and least <= limit:
        note = f"at least {display(least, 'W')}, as the power of a node is assumed"
        return replace(found, state="tight", note=note)
    return found


def _storage_area(plan: Plan) -> Iterator[Area]:
    """The time to write a checkpoint, in seconds, against the checkpoint interval."""
    spec = plan.design.spec
    networks = spec.cluster.networks if spec.cluster and plan.serving is None else None
    store = networks.storage.bandwidth if networks and networks.storage else None
    interval = spec.operations.interval if spec.operations else None
    if store is None or interval is None or plan.parameters is None:
        return
    seconds = plan.parameters * CHECKPOINT_BYTES / store.per_direction
    yield _limited_area("storage", "writing one checkpoint, 14 B per parameter", seconds, interval.value, unit="s")


CHECKPOINT_BYTES = 14.0
"""Checkpoint bytes per parameter: weights at 2, master weights and two moments at 4 each."""


def _budget_area(plan: Plan, bill: Bill) -> Iterator[Area]:
    """The amount of the quote and the budget; without a quote, the priced lines of the bill."""
    procurement = plan.design.spec.procurement
    if procurement is None or not procurement.budget:
        return
    from clusterspec.procurement import amounts  # plans without a budget load nothing of procurement

    budget = procurement.budget
    quoted = amounts.quoted_total(procurement, bill.currency)
    if quoted is not None:
        yield _limited_area("budget", "quoted total", quoted.high, float(budget), unit=bill.currency or "1")
    elif bill.total is not None:
        note = "" if bill.complete else "some lines have no price"
        amount = amounts.amount_with_terms(bill.total, procurement)
        what = f"{bill.total_title.lower()}{amounts.terms_text(procurement)}"
        found = _limited_area("budget", what, amount.high, float(budget), unit=bill.currency or "1", note=note)
        yield replace(found, state="tight") if amount.low <= budget < amount.high else found
