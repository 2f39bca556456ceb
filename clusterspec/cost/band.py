"""How far a predicted step may lie from the real one."""

from __future__ import annotations

from math import hypot

from clusterspec.cost.compute.software import Software
from clusterspec.cost.schedule.step import Step
from clusterspec.cost.traffic.wire import Wire

UNKNOWN_SPREAD = 0.25
"""Half-width, relative, where nothing was measured with a generation of software."""


def band(step: Step, software: Software, wire: Wire, experts: bool) -> tuple[float, float]:
    """Low and high seconds that should hold four in five real steps.

    Two uncertainties that have nothing to do with each other: how far published runs with this
    generation of software lie from their predictions (``spread``, and ``spread.experts`` where the
    model routes tokens), and how uncertain the communication is that nothing hides. The band is the
    same factor up and down, so it reaches further up in seconds.
    """
    name = "spread.experts" if experts else "spread"
    found = software.stack.achievable.get(name)
    spread = found.value if found else UNKNOWN_SPREAD
    seen = sum(row.exposed * wire.doubt(row.axis) for row in step.sent)
    width = 1 + hypot(spread, seen / step.total)
    return step.total / width, step.total * width
