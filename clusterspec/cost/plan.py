"""A plan: a layout on a cluster, and what it costs. Rules judge it, reports tell it."""

from __future__ import annotations

from dataclasses import dataclass, field

from clusterspec.cluster.model import Assumption, Design
from clusterspec.cost.term import Communication, MemoryUse, Term


@dataclass(frozen=True, slots=True)
class Plan:
    """What can be said of a design. A number that could not be computed is ``None``.

    Times in seconds per optimizer step; rates per accelerator (package as sold). ``mfu`` and
    ``hfu`` are fractions of the dense peak, attention counted as if unmasked.
    """

    design: Design
    parameters: float | None = None
    active_parameters: float | None = None
    step_time: Term | None = None
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
