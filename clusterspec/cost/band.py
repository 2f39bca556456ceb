"""How far a predicted step may lie from the real one."""

from __future__ import annotations

from clusterspec.cost.compute.software import Software
from clusterspec.cost.schedule.step import Step

UNKNOWN_SPREAD = 0.25
"""Half-width, relative, where nothing was measured with a generation of software."""


def band(step: Step, software: Software, experts: bool) -> tuple[float, float]:
    """Low and high seconds that should hold four in five real steps.

    The relative spread is the stack's: how far published runs of its generation lie from their
    predictions (``spread``, and ``spread.experts`` where the model routes tokens). It is taken of
    the time and of the rate alike, so the band reaches further up than down.
    """
    name = "spread.experts" if experts else "spread"
    found = software.stack.achievable.get(name) or software.stack.achievable.get("spread")
    spread = found.value if found else UNKNOWN_SPREAD
    return step.total / (1 + spread), step.total * (1 + spread)
