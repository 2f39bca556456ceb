"""The assumptions of a plan, with their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from clusterspec.cluster.model import Assumption
from clusterspec.cost.compute.fixed import FIXED, KERNELS
from clusterspec.cost.compute.index import SPARSE
from clusterspec.cost.compute.recurrence import RECURRENCE
from clusterspec.cost.constants import CONSTANTS
from clusterspec.cost.memory.assumptions import assumptions
from clusterspec.origin import Assumed
from clusterspec.quantity import Figure

if TYPE_CHECKING:
    from clusterspec.cost.plan import Plan


def assumptions_of(plan: Plan) -> tuple[Assumption, ...]:
    """The assumptions of the design, then those of memory and time, each key once."""
    found = list(plan.design.assumptions)
    parts: list[Iterable[Assumption]] = []
    if plan.stored is not None:
        parts.append(assumptions(plan.stored.job, plan.stored.rank))
    if plan.serving is not None:
        from clusterspec.cost.serving.constants import ASSUMED  # a training plan needs none of its modules

        parts.append(_assumed((one.origin.key, one) for one in ASSUMED if isinstance(one.origin, Assumed)))
    if plan.step is not None:
        parts.append((*plan.step.rates.assumptions, *_assumed(_of_time(plan)), *_assumed(_of_range(plan))))
    for part in parts:
        keys = {key for key, _, _ in found}
        found += [each for each in part if each[0] not in keys]
    return tuple(found)


def _of_time(plan: Plan) -> Iterator[tuple[str, Figure]]:
    """The figures of the accelerator, the software and the kernels."""
    cluster, workload, step = plan.design.cluster, plan.design.workload, plan.step
    assert cluster and workload and step  # what a timed plan has
    stack = step.software.stack
    yield from ((f"{cluster.accelerator.id} {name}", figure) for name, figure in step.rates.figures.items())
    yield from ((f"{stack.id} {name}", figure) for name, figure in stack.achievable.items())
    yield from ((f"{KERNELS} {name}", figure) for name, figure in FIXED.items() if not name.startswith("usual."))
    for group, held in ((RECURRENCE, workload.model.linear), (SPARSE, workload.model.sparse)):
        yield from ((f"{group} {name}", figure) for name, figure in CONSTANTS[group].items() if held)


def _of_range(plan: Plan) -> Iterator[tuple[str, Figure]]:
    """What the range of the step gains because no run like it is published."""
    from clusterspec.cost.uncertainty import record_of, unseen

    if (gained := unseen(plan.design)) is not None and plan.design.cluster is not None:
        yield f"{plan.design.cluster.accelerator.id} {record_of(plan.design)}", gained


def _assumed(figures: Iterable[tuple[str, Figure]]) -> Iterator[Assumption]:
    """Those of some figures that are assumed, each under its last value."""
    for key, figure in dict(figures).items():
        if isinstance(figure.origin, Assumed):
            yield key, figure, figure.origin.why
