"""Why no value of a key meets a condition, or why every value does."""

from __future__ import annotations

from clusterspec.analysis.levers.conditions import WHOLE, Condition, metric_unit
from clusterspec.analysis.levers.keys import OF_STORE, Lever
from clusterspec.analysis.levers.solutions import Probe, Solution
from clusterspec.cost.plan import Plan
from clusterspec.source import Written
from clusterspec.studies import Study
from clusterspec.units import display, metric_text, percent, plural

OF_CHECKPOINTS = ("stall", "goodput", "restore", "loading")
"""The metrics that the storage system moves."""
ALIKE = 1e-9
"""Relative difference of a metric below which all values of a lever count as equal."""
NEGLIGIBLE = 5e-4
"""Relative difference of a metric that is too small to decide a purchase."""
READS = ("restore", "loading")
"""The metrics among these that depend on reads."""


def misfit_reason(plan: Plan, best_layout: bool) -> str:
    """The reason that a fixed layout meets no condition because it does not fit; empty if it fits."""
    return "; the plan of the spec does not fit in memory" if plan.fits is False and not best_layout else ""


def unmoved_text(solution: Solution, study: Study) -> str:
    """Text that a lever does not affect a metric, if every value tried meets the condition with the metric of the spec;
    else empty.
    """
    own, lever = solution.condition.value(study.plan), solution.lever
    metrics = [probe.metric for probe in solution.probes if probe.value != lever.value(study.design)]
    if not solution.free or solution.condition.metric in WHOLE or own is None or not metrics:
        return ""
    if any(each is None or abs(each - own) > NEGLIGIBLE * abs(own) for each in metrics):
        return ""
    reached = metric_text(own, metric_unit(solution.condition.metric) or "1")
    return f"no value of `{lever.name}` changes the {reached} of the spec by {percent(NEGLIGIBLE)} or more"


def _refused_text(probe: Probe, metric: float, lever: Lever, condition: Condition) -> str:
    """A value that would meet the condition, and the errors that `check` finds there."""
    reached = metric_text(metric, metric_unit(condition.metric) or "1")
    errors = plural(len(probe.errors), "error")[2:]
    there = f"{lever.name} {lever.written(probe.value)} gives {reached}, with the {errors} {', '.join(probe.errors)}"
    return f"no value that `check` passes meets it: {there}"


def nearest_text(probes: tuple[Probe, ...], condition: Condition, study: Study, lever: Lever) -> str:
    """Text on the best that was found: a value of the lever that only `check` refuses, else the best value of the
    metric, else the reason why there is none.
    """
    metrics = [probe.metric for probe in probes if probe.metric is not None]
    if not metrics and study.has_figures and condition.value(study.plan) is None:
        return f"the plan of the spec has no `{condition.metric}`"
    if not metrics:
        return "no value that was tried gives a layout that divides"
    if condition.metric in WHOLE:
        return "no value that was tried meets it"
    refused = [(probe, probe.metric) for probe in probes if probe.errors and probe.metric is not None]
    if within := [each for each in refused if condition.admits(each[1])]:
        probe, metric = min(within, key=lambda each: abs(each[1] - condition.limit))
        return _refused_text(probe, metric, lever, condition)
    best = min(metrics) if condition.at_most else max(metrics)
    reached = metric_text(best, metric_unit(condition.metric) or "1")
    clients, setting = _clients_text(probes, condition, study, lever), _setting_text(condition, study, lever)
    if len(metrics) > 1 and max(metrics) - min(metrics) <= ALIKE * abs(best) and not clients:
        sets = f": it is set by {setting}" if setting else ""
        return f"not reachable: no value of `{lever.name}` changes the {reached}{sets}"
    note = f"; no value of `{lever.name}` changes {setting}" if setting and not clients else clients
    return f"not reachable: the best value is {reached}{note}"


def _setting_text(condition: Condition, study: Study, lever: Lever) -> str:
    """The stated key that determines a metric in place of the storage system's parameter; empty if there is none."""
    operations, cluster = study.design.spec.operations, study.design.spec.cluster
    store = cluster.networks.storage if cluster is not None and cluster.networks is not None else None
    if condition.metric not in OF_CHECKPOINTS or lever.name not in OF_STORE:
        return ""
    if condition.metric in READS:
        read = store.read if store is not None and lever.name == "storage.bandwidth" else None
        return f"`cluster.networks.storage.read` of {read.written}" if read is not None else ""
    pause = operations.pause if operations is not None else None
    if operations is None or pause is None:
        return ""
    from clusterspec.cost.storage import storage_use

    use = storage_use(study.plan)
    found = use.checkpoint.seconds.value if use is not None and use.checkpoint is not None else None
    instead = f"; without it, a checkpoint takes {display(found, 's')} at the stated bandwidth" if found else ""
    return f"`{operations.pause_key}` of {pause.written}{instead}"


def _clients_text(probes: tuple[Probe, ...], condition: Condition, study: Study, lever: Lever) -> str:
    """The reason why a faster storage system does not help: its clients cannot reach the highest rate that was tried.
    Empty if they can.
    """
    from clusterspec.cost.storage import storage_use

    if condition.metric not in OF_CHECKPOINTS or lever.name not in ("storage.bandwidth", "storage.read"):
        return ""
    use = storage_use(study.plan)
    moved = None if use is None else (use.load or use.restore) if condition.metric in READS else use.checkpoint
    if moved is None:
        return ""
    figures = dict(moved.rate.inputs)
    total, clients, each = figures["bandwidth"], figures["clients"], figures["per_client"]
    stated = isinstance(total.origin, Written) and total.origin.key == f"cluster.networks.{lever.name}"
    if not stated or not isinstance(each.origin, Written) or each.origin == total.origin:
        return ""  # another rate sets these transfers, or a client reaches all of it
    together = clients.value * each.value
    if together >= max(probe.value for probe in probes):
        return ""
    slots = "`slots` and " if isinstance(clients.origin, Written) else ""
    text = f"{plural(int(clients.value), 'client')} of {display(each.value, 'B/s')} reach {display(together, 'B/s')}"
    what = "the loading" if use is not None and use.load is not None else _client_limit_text(condition.metric)
    return f"; {text}: {slots}`{each.origin.key}` limit{'' if slots else 's'} {what}"


def _client_limit_text(metric: str) -> str:
    return "the reads after a failure" if metric == "restore" else "the checkpoints"
