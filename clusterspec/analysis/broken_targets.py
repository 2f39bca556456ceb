"""The targets of a spec that one failed part breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.conditions import TARGETS, Condition
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from clusterspec.results.faults import FaultRow
from clusterspec.rules.knowledge.failing_engines import ENGINES
from clusterspec.rules.knowledge.failing_parts import FailingMachine

SLOWDOWN = "operations.targets.max_single_failure_slowdown"
SERVED = "workload.serving.targets"


def with_broken_targets(machine: FailingMachine, rows: Iterable[FaultRow], plan: Plan | None) -> Iterator[FaultRow]:
    """The rows, each with the keys of the targets that the whole machine meets but the machine without the row's part
    misses.
    """
    stated = machine.operations.targets
    most = stated.max_single_failure_slowdown if stated is not None else None
    serves = plan is not None and _meets_targets(plan)
    tiers = {part.name: part.tier for part in machine.classes}
    met: dict[float, bool] = {}
    for row in rows:
        broken = []
        if most is not None and machine.step and row.step_time and row.step_time / machine.step - 1 > most:
            broken.append(SLOWDOWN)
        if serves and plan is not None and tiers.get(row.part) == ENGINES and row.lost:
            if row.lost not in met:
                met[row.lost] = row.lost < 1 and _meets_after_loss(plan, row.lost)
            broken += [] if met[row.lost] else [SERVED]
        yield replace(row, breaks=tuple(broken))


def _meets_targets(plan: Plan) -> bool:
    """Whether a serving plan has targets, and meets them; False for a plan that trains."""
    work = plan.design.workload
    if work is None or work.serving is None or not work.serving.targets or work.serving.prefill is not None:
        return False
    return Condition(TARGETS, TARGETS, at_most=False, limit=1.0).value(plan) == 1.0


def _meets_after_loss(plan: Plan, lost: float) -> bool:
    """Whether the engines that are left meet the targets under the load of all."""
    layout, cluster = plan.design.layout, plan.design.cluster
    assert layout is not None and cluster is not None
    left = layout.dp - round(lost * layout.dp)
    nodes = cluster.nodes_of_ranks(left * (layout.ranks // layout.dp))
    return _meets_targets(
        legal_estimate(design_with_keys(plan.design, {("layout", "dp"): left, ("layout", "nodes"): nodes}))
    )
