"""The verdict on a design: whether it works as written, and which parts were not judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.plan import Plan
from clusterspec.document.waivers import Waived
from clusterspec.finding import Finding, Severity
from clusterspec.records import dataclass
from clusterspec.units import display, percent, plural


class VerdictStatus(StrEnum):
    """The four verdicts, as `estimate` prints them in JSON."""

    FAILS = "fails"
    RESERVATIONS = "reservations"
    CLEAR = "clear"
    NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status, the reasons for it, and the parts of the design that were not judged."""

    status: VerdictStatus
    reasons: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        return {"status": str(self.status), "reasons": list(self.reasons), "not_judged": list(self.not_judged)}


def verdict(plan: Plan, findings: Sequence[Finding] = (), waived: Sequence[Waived] = ()) -> Verdict:
    """The verdict from the open findings, the waived ones, the fit, and what could be computed.

    A waived error counts as an error: a waiver accepts it but does not remove it. Open warnings on a design
    whose step was not judged do not give "works with reservations".
    """
    broken = (*_errors(findings, waived), *_misfit(plan), *_ranks(plan.design))
    close = tuple(_close_fit(plan))
    warned = tuple(_warnings(findings))
    open_parts = tuple(unjudged(plan))
    if broken:
        return Verdict(VerdictStatus.FAILS, (*broken, *close, *warned), open_parts)
    if close:
        return Verdict(VerdictStatus.RESERVATIONS, (*close, *warned), open_parts)
    if open_parts:
        return Verdict(VerdictStatus.NOT_JUDGED, warned, open_parts)
    return Verdict(VerdictStatus.RESERVATIONS if warned else VerdictStatus.CLEAR, warned)


def condition(plan: Plan) -> str:
    """The condition under which the figures of a plan apply that cannot run as written; empty if it can.

    Writers print it next to the step time, the throughput and derived figures.
    """
    if any(_ranks(plan.design)):
        return "if the ranks matched the nodes"
    return "if it fitted" if any(_misfit(plan)) else ""


def used_text(design: Design, word: str = "accelerator") -> str:
    """``512 of 1,016 accelerators``; ``512 accelerators`` if the layout uses all; empty without a cluster.

    With an empty ``word``, only the counts.
    """
    if design.cluster is None:
        return ""
    there, used = design.cluster.accelerators, accelerators_used(design)
    if used is None or used == there:
        return plural(there, word) if word else f"{there:,}"
    return f"{used:,} of {plural(there, word)}" if word else f"{used:,} of {there:,}"


def accelerators_used(design: Design) -> int | None:
    """Accelerators on which the layout places ranks; None without a layout."""
    if design.layout is None or design.cluster is None:
        return None
    return -(-design.layout.ranks // design.cluster.ranks_per_accelerator)


def unjudged(plan: Plan) -> Iterator[str]:
    """The parts of a design that were not judged, each with the reason."""
    design = plan.design
    if design.cluster is None:
        yield "the cluster: its description cannot be resolved"
        return
    if design.workload is None:
        yield "memory and time: the spec has no workload that can be resolved"
        return
    if plan.memory is None:
        yield "memory: " + ("the spec has no layout" if design.layout is None else "the layout cannot be resolved")
    elif plan.memory.capacity is None:
        yield "fit: the memory capacity of the accelerator is not known"
    if plan.step is None and not served(plan):
        yield "time: " + _why_no_time(design)


def served(plan: Plan) -> bool:
    """Whether the times of a serving plan were computed."""
    return plan.serving is not None


def _why_no_time(design: Design) -> str:
    assert design.workload is not None
    if design.workload.kind == "serve" and design.workload.serving is None:
        return "the spec states no load of the serving plan"
    if design.layout is None:
        return "the spec has no layout"
    if design.workload.kind == "serve":
        return _why_not_served(design)
    if design.workload.peak is None:
        return f"the accelerator has no peak at {design.workload.precision}"
    return "the layout lacks what a step needs"


def _why_not_served(design: Design) -> str:
    """The figure of the accelerator that the times of a serving plan lack."""
    assert design.cluster is not None
    accelerator = design.cluster.accelerator
    lacks = "memory bandwidth" if accelerator.memory_bandwidth is None else "peak of 16-bit products"
    return f"no {lacks} of {accelerator.name} is published"


def _errors(findings: Sequence[Finding], waived: Sequence[Waived]) -> Iterator[str]:
    found = [finding.rule for finding in findings if finding.severity is Severity.ERROR]
    if found:
        yield f"{plural(len(found), 'open error')}: {_rules(found)}"
    accepted = [one.finding.rule for one in waived if one.finding.severity is Severity.ERROR]
    if accepted:
        yield f"{plural(len(accepted), 'waived error')}: {_rules(accepted)}"


def _warnings(findings: Sequence[Finding]) -> Iterator[str]:
    found = [finding.rule for finding in findings if finding.severity is Severity.WARNING]
    if found:
        yield f"{plural(len(found), 'open warning')}: {_rules(found)}"


def _rules(names: Sequence[str], most: int = 6) -> str:
    each = list(dict.fromkeys(names))
    rest = f" and {plural(len(each) - most, 'more rule')}" if len(each) > most else ""
    return ", ".join(each[:most]) + rest


def _misfit(plan: Plan) -> Iterator[str]:
    if plan.memory is None or plan.memory.capacity is None:
        return
    capacity = plan.memory.capacity.value
    low = plan.memory_range[0] if plan.memory_range else plan.memory.total.value
    if low > capacity:
        yield f"does not fit: {fit_text(plan)}"


def _close_fit(plan: Plan) -> Iterator[str]:
    if plan.memory is None or plan.memory.capacity is None:
        return
    capacity, total = plan.memory.capacity.value, plan.memory.total.value
    low, high = plan.memory_range or (total, total)
    if low <= capacity < high:
        yield f"may not fit: {fit_text(plan)}"


def fit_text(plan: Plan) -> str:
    """The memory of the fullest accelerator compared with its capacity, with its range."""
    assert plan.memory is not None and plan.memory.capacity is not None
    total, capacity = plan.memory.total.value, plan.memory.capacity.value
    low, high = plan.memory_range or (total, total)
    band = f" (range {display(low, 'B')} to {display(high, 'B')})" if high > low else ""
    return f"memory {display(total, 'B')}{band} is {percent(total / capacity)} of {plan.capacity_text}"


def ranks_match(design: Design) -> bool:
    """Whether the ranks of the layout match the nodes that it uses."""
    return not any(_ranks(design))


def _ranks(design: Design) -> Iterator[str]:
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
    wanted = layout.tp * layout.attention_dp * layout.cp * layout.pp * _stated_dp(design, cluster)
    if wanted != there:
        axes = "tp × attention_dp × cp × pp × dp" if layout.attention_dp > 1 else "tp × cp × pp × dp"
        yield f"the ranks do not match the nodes: {axes} is {wanted:,}; the nodes of the layout hold {there:,}"


def _stated_dp(design: Design, cluster: Cluster) -> int:
    """The dp of the spec, else the one derived from the ranks."""
    assert design.layout is not None
    layout = design.spec.layout.dp if design.spec.layout else None
    return design.layout.dp if layout is None else layout
