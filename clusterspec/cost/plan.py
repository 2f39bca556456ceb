"""A plan: a layout on a cluster, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from clusterspec.cluster.model import Assumption, Design
from clusterspec.cost.record import StepRecord
from clusterspec.cost.tables import Tables
from clusterspec.cost.term import Communication, MemoryUse, Term


@dataclass(frozen=True)
class Plan:
    """What can be computed of a design. A number that could not be computed is ``None``.

    Times in seconds per optimizer step; rates per accelerator (package as sold). ``mfu`` and
    ``hfu`` are fractions of the dense peak, attention counted as if unmasked. ``step`` holds the
    numbers behind the step time; `step_time` explains them, and is made when it is first read.
    """

    design: Design
    parameters: float | None = None
    active_parameters: float | None = None
    step: StepRecord | None = None
    tables: Tables | None = field(default=None, repr=False, compare=False)
    """What an estimate of another layout of the same job may use again."""
    memory: MemoryUse | None = None
    communication: tuple[Communication, ...] = ()
    tokens_per_second_per_accelerator: float | None = None
    model_flops_per_accelerator: float | None = None
    mfu: float | None = None
    hfu: float | None = None
    time_to_train: float | None = None
    step_time_range: tuple[float, float] | None = None
    memory_range: tuple[float, float] | None = None
    assumptions: tuple[Assumption, ...] = field(default=())
    """Those of the design and those of the cost, in order, each once."""

    @property
    def step_seconds(self) -> float | None:
        """Seconds of one step."""
        return self.step.seconds if self.step else None

    @cached_property
    def step_time(self) -> Term | None:
        """The step as a term with its parts, their formulas and inputs."""
        if self.step is None:
            return None
        from clusterspec.cost.explain import explained

        return explained(self.step, self.step_time_range)
