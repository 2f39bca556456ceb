"""Failure rates from a team's own logs: counts of failures over the part-years in which they were seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import exp, lgamma, log, sqrt

from clusterspec.analysis.failures.parts import faults
from clusterspec.analysis.merged_parts import merged_into, study_of_merged
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cost.interruptions import REPAIR
from clusterspec.exchange.failure_logs import FailureEvent, FailureLog, read_failure_log
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    UnresolvedSpec,
    Value,
)
from clusterspec.exchange.merge import MergedText
from clusterspec.quantity import YEAR
from clusterspec.results.diagnosis import FigureChange
from clusterspec.results.faults import FailureRateRow, FailureRates
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.studies import Study
from clusterspec.units import plural

SURE = 0.9
"""The probability of the interval of a rate."""
LEAST_FAILURES = 3
"""Minimum number of failures from which their times indicate the observed time."""
NAMED_AS = {
    "NIC": "nic",
    "leaf switch": "leaf",
    "spine switch": "spine",
    "core switch": "core",
    "rack": "rack",
    "power feed": "feed",
    "storage system": "store",
}
"""Key in `operations.failures` of each class of parts whose name differs."""


def poisson_interval(failures: int, exposure: float, share: float = SURE) -> tuple[float, float]:
    """The exact interval of a rate from a count of failures in an exposure.

    F. Garwood, Fiducial limits for the Poisson distribution, Biometrika 28 (1936): at the low end, this number of
    failures or more has the probability (1 - share) / 2; at the high end, this number or fewer. It covers the truth
    with at least the probability ``share``.

    >>> [round(end, 3) for end in poisson_interval(4, 2.0)]
    [0.683, 4.577]
    """
    tail = (1 - share) / 2
    low = _poisson_upper_mean(failures - 1, 1 - tail) if failures else 0.0
    return low / exposure, _poisson_upper_mean(failures, tail) / exposure


def _poisson_upper_mean(number: int, chance: float) -> float:
    """The mean of a Poisson variable that is at most ``number`` with a probability, by bisection."""
    low, high = 0.0, number + 20 + 10 * sqrt(number + 1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_of_at_most(number, middle) > chance else (low, middle)
    return low


def _probability_of_at_most(number: int, mean: float) -> float:
    """The probability that a Poisson variable with a mean above 0 is at most ``number``."""
    term = exp(number * log(mean) - mean - lgamma(number + 1))
    total = term
    for each in range(number, 0, -1):
        term *= each / mean
        total += term
        if each < mean and term < 1e-17 * total:
            break
    return total


def failure_rates_of(
    study: Study, files: Sequence[InputFile], *, period: float | None = None, nodes: int | None = None
) -> tuple[FailureRates, MergedText]:
    """The failure rates of logs on the machine of a spec, and the spec with them in `operations.failures`.

    ``period`` is the observed time in seconds if the logs do not state it. ``nodes`` is the number of observed nodes if
    it differs from the spec; the rates of fabric parts are then not known. Raises `FormatError` if a log cannot be
    read, the time observed is unknown or the rates cannot be inserted; `UnresolvedSpec` without a cluster.
    """
    design = study.design
    if design.cluster is None:
        raise UnresolvedSpec("the cluster cannot be resolved; `clusterspec check` reports the reason")
    machine = FailingMachine(design, None, None)
    logs = [(file.name, read_failure_log(file)) for file in files]
    counts = _counted_parts(machine, nodes)
    events = [event for _, log in logs for event in log.events]
    distinct = list(_distinct_failures(events, machine.repair.value))
    seconds = period or _observed_seconds([log for _, log in logs], distinct)
    if distinct and seconds * 1.01 < distinct[-1].time - distinct[0].time:
        raise FormatError("the failures span more than the stated period: give the log of that period alone")
    failures = _with_levels(Counter(event.part for event in distinct))
    rows = tuple(_rate_row(part, failures[part], number, seconds) for part, number in counts.items())
    unknown = [part for part in failures if part not in counts]
    notes = tuple(_counting_notes(machine, logs, unknown, len(events) - sum(failures.values()), nodes))
    name = " and ".join(name for name, _ in logs)
    merged = merged_into(study, _import_result_of_rates(rows, name))
    undecided = tuple((f"{name}:{line}", why) for name, log in logs for line, why in log.undecided)
    kept = tuple(f"{'.'.join(map(str, each.path))}: {stands}" for each, stands in merged.kept)
    moved = _goodput_change(study, merged)
    return FailureRates(study.settings.tool, study.input, rows, seconds, undecided, notes, moved, kept=kept), merged


def _goodput_change(study: Study, merged: MergedText) -> FigureChange | None:
    """The mean goodput without and with the rates; None without a job."""
    before = faults(study).goodput
    after = faults(study_of_merged(study, merged)).goodput
    return FigureChange(before.mean, after.mean) if before is not None and after is not None else None


def _counted_parts(machine: FailingMachine, nodes: int | None) -> dict[str, int]:
    """The parts of the whole machine, idle and spare nodes included, by their keys in `operations.failures`."""
    cluster = machine.cluster
    number = nodes or cluster.all_nodes
    own = number * cluster.accelerators_per_node
    found = {"accelerator": own, "node": number, "software": own}
    if cluster.scale_out is not None and number > 1:
        found["nic"] = number * cluster.scale_out.nics_per_node
    of_domain = nodes_of_domain(cluster)
    if of_domain > 1:
        found["domain"] = -(-number // of_domain)
        if cluster.scale_up.switches is not None:
            found["tray"] = cluster.scale_up.switches * found["domain"]
    return found if nodes else found | _parts_of_fabric(machine) | _parts_of_room(machine)


def _parts_of_fabric(machine: FailingMachine) -> dict[str, int]:
    """Switches, links and their optical modules, as cabled."""
    fabric = machine.fabric
    if fabric is None:
        return {}
    switches = {"leaf": fabric.leaf_switches, "spine": fabric.spine_switches, "core": fabric.core_switches}
    levels = {"NIC-leaf link": "node_leaf", "leaf-spine link": "leaf_spine", "spine-core link": "spine_core"}
    links = {name: fabric.links[key] for name, key in levels.items() if fabric.links.get(key)}
    modules = sum(2 * number for name, number in links.items() if not machine.has_fixed_ends(name))
    found = {"cable": sum(links.values()), "optic": modules, "switch": sum(switches.values()), **switches}
    return {part: number for part, number in found.items() if number}


def _parts_of_room(machine: FailingMachine) -> dict[str, int]:
    """Racks, power feeds and the storage system, where the spec states them; for the nodes of the job."""
    counted = {NAMED_AS[part.name]: part.count for part in machine.classes if part.name in NAMED_AS}
    return {key: counted[key] for key in ("rack", "feed", "store") if (counted.get(key) or 0) > 0}  # type: ignore[misc]


def _observed_seconds(logs: Sequence[FailureLog], distinct: Sequence[FailureEvent]) -> float:
    """The seconds from the first to the last line of logs that contain the failures, in order.

    A log that lists only failures ends with a failure: in a time T from the first to the last of n failures, n − 1
    follow an earlier one, so the observed time is T n / (n − 1). Raises `FormatError` where the time is unknown.
    """
    span = max(log.last for log in logs) - min(log.first for log in logs)
    number = len(distinct)
    if all(log.covers for log in logs) and span > 0:
        return span
    if number < LEAST_FAILURES or span <= 0 or any(log.kind == "sinfo" for log in logs):
        said = f"the time observed is unknown from {plural(number, 'failure')}"
        raise FormatError(f"{said}: state it, such as --period '90 days'")
    return max(span, (distinct[-1].time - distinct[0].time) * number / (number - 1))


def _with_levels(failures: Counter[str]) -> Counter[str]:
    """The failures. If some name only a switch, without its level, all switch failures are counted as one kind."""
    if failures["switch"]:
        failures["switch"] += sum(failures.pop(level, 0) for level in ("leaf", "spine", "core"))
    return failures


def _distinct_failures(events: Sequence[FailureEvent], repair: float) -> Iterator[FailureEvent]:
    """The failures, where repeated failures of one part within its repair time count once. Failures without a node name
    all count.
    """
    last = defaultdict[tuple[str, str, str], float](lambda: float("-inf"))
    for event in sorted(events, key=lambda each: each.time):
        one = event.part, event.node, event.one
        if not event.node or event.time - last[one] >= repair:
            yield event
            last[one] = event.time


def _rate_row(part: str, failures: int, parts: int, seconds: float) -> FailureRateRow:
    years = parts * seconds / YEAR
    low, high = poisson_interval(failures, years)
    return FailureRateRow(part, failures, parts, years, failures / years if failures else None, low, high)


def _import_result_of_rates(rows: Sequence[FailureRateRow], log: str) -> ImportResult:
    """The rates of parts that failed, to be written to the spec. A part without failures has only an upper limit and is
    not written.
    """
    builder = ImportBuilder("failures", log)
    for row in rows:
        if row.rate is not None:
            value: Value = {"afr": _rounded_rate(row.rate), "range": [_rounded_rate(row.low), _rounded_rate(row.high)]}
            builder.set(f"operations.failures.{row.part}", value)
    return builder.reading()


def _rounded_rate(rate: float) -> float:
    return float(f"{rate:.4g}")


def _counting_notes(
    machine: FailingMachine,
    logs: Sequence[tuple[str, FailureLog]],
    unknown: Sequence[str],
    repeated: int,
    nodes: int | None,
) -> Iterator[str]:
    """Notes on entries that are counted differently than expected."""
    for name, found in logs:
        yield from (f"{name}: {note}." for note in found.notes)
    if repeated:
        days = machine.repair.value / REPAIR.value
        yield f"Not counted: {plural(repeated, 'repetition')} of a failure within {days:.3g} days, the repair time."
    named = {node for _, found in logs for node in found.nodes}
    number = nodes or machine.cluster.all_nodes
    if len(named) > number:
        yield (
            f"The logs name {len(named):,} nodes, but {number:,} are counted: state the number of observed nodes by "
            "--nodes."
        )
    if unknown:
        yield f"No rate, since the number of parts is unknown: {', '.join(unknown)}."
    if any(event.part == "cable" for _, found in logs for event in found.events):
        yield "A failed link counts as its cable, as logs seldom say whether the cable or a module failed."
