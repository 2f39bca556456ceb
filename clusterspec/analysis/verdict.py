"""The verdict on a design as a whole: whether it works as written, and what was not judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.plan import Plan
from clusterspec.finding import Finding, Severity
from clusterspec.results.verdict import OF_PURCHASE, Verdict, VerdictStatus
from clusterspec.units import display, percent, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.document.waivers import WaivedFinding


def verdict(
    plan: Plan, findings: Sequence[Finding] = (), waived: Sequence[WaivedFinding] = (), *, words: bool = False
) -> Verdict:
    """The verdict from the open findings, the waived ones, the fit, and what could be computed.

    A waived error counts as an error: a waiver accepts it but does not remove it. A target that the prediction misses
    within its range is a reservation, though the finding is a note. Open warnings on a design whose step
    was not judged do not give "works with reservations". With ``words`` the reasons are messages of findings instead
    of names of rules.
    """
    errors = tuple(_messages(findings, Severity.ERROR) if words else _error_reasons(findings, waived))
    if words:
        errors += tuple(f"waived: {text}" for text in _messages([one.finding for one in waived], Severity.ERROR))
    unfit = (*_misfit_reasons(plan), *_refusal_reasons(plan, findings, waived, words=words))
    broken = (*errors, *unfit)
    close = tuple(_close_fit(plan))
    warned = tuple(_messages(findings, Severity.WARNING) if words else _warning_reasons(findings))
    narrow = [one for one in findings if one.severity is Severity.NOTE and one.rule in TARGETS_MISSED]
    missed = tuple(f"a target may be missed: {one.message}" for one in narrow)
    open_parts = tuple(unjudged_parts(plan, words=words))
    if broken:
        rules = {one.rule for one in (*findings, *(one.finding for one in waived)) if one.severity is Severity.ERROR}
        bought = not unfit and rules <= OF_PURCHASE
        return Verdict(VerdictStatus.FAILS, (*broken, *close, *warned), open_parts, bought)
    if close:
        return Verdict(VerdictStatus.RESERVATIONS, (*close, *missed, *warned), open_parts)
    if open_parts:
        return Verdict(VerdictStatus.NOT_JUDGED, warned, open_parts)
    reserved = (*missed, *warned)
    return Verdict(VerdictStatus.RESERVATIONS if reserved else VerdictStatus.CLEAR, reserved)


def reasons_of_findings(findings: Sequence[Finding], *, words: bool) -> tuple[str, ...]:
    """The reasons that errors and warnings give: rules by name, or messages with ``words``."""
    if words:
        return (*_messages(findings, Severity.ERROR), *_messages(findings, Severity.WARNING))
    return (*_error_reasons(findings, ()), *_warning_reasons(findings))


def validity_condition(plan: Plan) -> str:
    """The condition under which the figures of a plan apply if its memory does not fit; empty if it fits.

    Writers print it next to the step time, the throughput and derived figures. A layout that cannot run has no time.
    """
    return "if it fitted" if any(_misfit_reasons(plan)) else ""


def unjudged_parts(plan: Plan, *, words: bool = False) -> Iterator[str]:
    """The parts of a design that were not judged, each with the reason; ``words`` means no names of rules."""
    design = plan.design
    if design.cluster is None:
        yield "the cluster: its description cannot be resolved"
        return
    if design.workload is None:
        yield "memory and time: the spec has no workload that can be resolved"
        return
    if design.layout is None and design.spec.layout is None:
        yield "memory and time: the spec has no layout; `clusterspec search` finds the best ones"
        return
    if plan.memory is None:
        yield "memory: the layout cannot be resolved"
    elif plan.memory.capacity is None:
        yield "fit: the memory capacity of the accelerator is not known"
    if plan.step is None and not has_serving_times(plan):
        yield "time: " + no_time_reason(plan, words=words)


def has_serving_times(plan: Plan) -> bool:
    """Whether the times of a serving plan were computed."""
    return plan.serving is not None


def no_time_reason(plan: Plan, *, words: bool) -> str:
    design = plan.design
    assert design.workload is not None
    if design.workload.kind == "serve" and design.workload.serving is None:
        return "the spec states no load of the serving plan"
    if design.layout is None:
        return "the layout cannot be resolved"
    if plan.refused:
        return f"the layout cannot run: {_rule_list(sorted(plan.refused), words=words)}"
    if design.workload.kind == "serve":
        return _no_serving_times_reason(design)
    return _no_step_time_reason(design)


def _no_step_time_reason(design: Design) -> str:
    """The reason why a step has no time: a figure that the accelerator lacks, or the keys of the layout."""
    assert design.workload is not None
    if design.workload.peak is None:
        return f"the accelerator has no peak at {design.workload.precision}"
    if design.cluster is not None and design.cluster.accelerator.memory_bandwidth is None:
        return "the accelerator has no memory bandwidth"
    if design.layout is not None and design.layout.stage_layers and design.layout.micro_batches is not None:
        return "no network of known bandwidth connects the nodes of a group"
    return "the layout lacks keys that a step needs"


def _no_serving_times_reason(design: Design) -> str:
    """Why a serving plan has no times: the figure that the accelerator lacks."""
    assert design.cluster is not None
    accelerator = design.cluster.accelerator
    lacks = "memory bandwidth" if accelerator.memory_bandwidth is None else "peak of 16-bit products"
    return f"no {lacks} of {accelerator.name} is published"


OF_MEMORY = frozenset({"activations-exceed-memory", "states-exceed-memory"})
"""Rules whose messages would repeat the reason that memory does not fit."""
MOST_MESSAGES = 2


def _messages(findings: Sequence[Finding], severity: Severity) -> Iterator[str]:
    """The messages of the first findings of a severity, and how many more there are."""
    found = [one.message for one in findings if one.severity is severity and one.rule not in OF_MEMORY]
    yield from found[:MOST_MESSAGES]
    if len(found) > MOST_MESSAGES:
        yield f"{plural(len(found) - MOST_MESSAGES, f'more {severity}')} among the findings"


UNREAD = frozenset({"missing-unit", "unknown-choice", "unknown-key", "unreadable-quantity", "wrong-type", "wrong-unit"})
"""Rules about values that cannot be read; defaults replace these values."""
DESCRIBED = frozenset({"cluster", "jobs", "layout", "measured", "operations", "pools", "procurement", "workload"})
"""Sections whose values are figures of the design, its work, its operation or its price."""


def omitted_values(findings: Sequence[Finding]) -> str:
    """The keys with unreadable values, which no figure includes, such as `request_rate: 4/s`; empty if none."""
    unread = [one for one in findings if one.severity is Severity.ERROR and one.rule in UNREAD]
    keys = [
        f"`{one.path[-1]}: {one.written}`" if one.written else f"`{one.path[-1]}`"
        for one in unread
        if _concerns_design(one)
    ]
    more = f" and {plural(len(keys) - MOST_MESSAGES, 'more key')}" if len(keys) > MOST_MESSAGES else ""
    return ", ".join(keys[:MOST_MESSAGES]) + more


def _concerns_design(finding: Finding) -> bool:
    """Whether a finding is about a key of a section in `DESCRIBED`."""
    return len(finding.path) > 1 and finding.path[0] in DESCRIBED


def _error_reasons(findings: Sequence[Finding], waived: Sequence[WaivedFinding]) -> Iterator[str]:
    found = [finding.rule for finding in findings if finding.severity is Severity.ERROR]
    if found:
        yield f"{plural(len(found), 'open error')}: {_rule_list(found)}"
    if left_out := omitted_values(findings):
        yield f"not read, and left out of all figures: {left_out}"
    accepted = [one.finding.rule for one in waived if one.finding.severity is Severity.ERROR]
    if accepted:
        yield f"{plural(len(accepted), 'waived error')}: {_rule_list(accepted)}"


TARGETS_MISSED = frozenset({"target-missed-at-load", "run-longer-than-target", "low-goodput"})
"""Rules about targets that the prediction misses; within its range their findings are notes."""


def _warning_reasons(findings: Sequence[Finding]) -> Iterator[str]:
    found = [finding.rule for finding in findings if finding.severity is Severity.WARNING]
    if found:
        yield f"{plural(len(found), 'open warning')}: {_rule_list(found)}"


def _rule_list(names: Sequence[str], most: int = 6, *, words: bool = False) -> str:
    """The names of rules; with ``words``, the faults that they report, such as `heads not divisible`."""
    each = list(dict.fromkeys(names))
    rest = f" and {plural(len(each) - most, 'more rule')}" if len(each) > most else ""
    shown = [name.replace("-", " ") if words else name for name in each[:most]]
    return ", ".join(shown) + rest


def _misfit_reasons(plan: Plan) -> Iterator[str]:
    if plan.memory is None or plan.memory.capacity is None:
        return
    capacity = plan.memory.capacity.value
    low = plan.fullest_range[0] if plan.fullest_range else plan.fullest_phase(plan.memory.total.value)
    if low > capacity:
        yield f"does not fit: {fit_text(plan)}"


def _close_fit(plan: Plan) -> Iterator[str]:
    if plan.memory is None or plan.memory.capacity is None:
        return
    capacity, total = plan.memory.capacity.value, plan.fullest_phase(plan.memory.total.value)
    low, high = plan.fullest_range or (total, total)
    if low <= capacity < high:
        yield f"may not fit: {fit_text(plan)}"


def fit_text(plan: Plan) -> str:
    """The memory of the fullest accelerator compared with its capacity, with its range."""
    assert plan.memory is not None and plan.memory.capacity is not None
    total, capacity = plan.fullest_phase(plan.memory.total.value), plan.memory.capacity.value
    low, high = plan.fullest_range or (total, total)
    band = f" (range {display(low, 'B')} to {display(high, 'B')})" if high > low else ""
    return f"memory {display(total, 'B')}{band} is {percent(total / capacity)} of {plan.capacity_text}"


def _refusal_reasons(
    plan: Plan, findings: Sequence[Finding], waived: Sequence[WaivedFinding], *, words: bool
) -> Iterator[str]:
    """The reasons why the layout cannot run: a wrong number of ranks, and refusing rules without a finding."""
    yield from (unmatched := tuple(_rank_mismatch(plan.design)))
    named = {one.rule for one in (*findings, *(each.finding for each in waived)) if one.severity is Severity.ERROR}
    others = plan.refused - named - ({"world-size-mismatch"} if unmatched else set())
    if others:
        yield f"the layout cannot run: {_rule_list(sorted(others), words=words)}"


def _rank_mismatch(design: Design) -> Iterator[str]:
    """The reason why the ranks do not match the nodes, if they do not."""
    cluster, layout = design.cluster, design.layout
    if cluster is None or layout is None:
        return
    if layout.nodes > cluster.nodes:
        yield f"the layout uses {plural(layout.nodes, 'node')}; the cluster has {cluster.nodes:,}"
        return
    there = layout.nodes * cluster.ranks_per_node
    if design.workload is not None and design.workload.serving is not None:
        if layout.ranks > there:
            yield f"the engines have {layout.ranks:,} ranks; the nodes of the layout hold {there:,}"
        return
    wanted = layout.replica_ranks * _stated_or_derived_dp(design, cluster)
    if wanted != there:
        axes = "tp × attention_dp × cp × pp × dp" if layout.attention_dp > 1 else "tp × cp × pp × dp"
        yield f"the ranks do not match the nodes: {axes} is {wanted:,}; the nodes of the layout hold {there:,}"


def _stated_or_derived_dp(design: Design, cluster: Cluster) -> int:
    """The dp of the spec, else the dp derived from the ranks."""
    assert design.layout is not None
    layout = design.spec.layout.dp if design.spec.layout else None
    return design.layout.dp if layout is None else layout
