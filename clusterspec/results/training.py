"""A training layout in a report: kernels, memory of stages, neighboring layouts, and goodput."""

from __future__ import annotations

from typing import Any

from clusterspec.records import asdict, dataclass


@dataclass(frozen=True, slots=True)
class KernelPoint:
    """A kernel, summed over the passes and layers of a micro-batch on the slowest stage: FLOPs, bytes and seconds."""

    name: str
    flops: float
    traffic: float
    seconds: float
    intensity: float
    rate: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """The kernels of one rank with the dense peak in FLOP/s and the memory bandwidth in B/s of that rank."""

    peak: float
    bandwidth: float
    kernels: tuple[KernelPoint, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LayoutCell:
    """A layout of the grid; None if it is not legal, for the reason in ``why``."""

    tp: int
    pp: int
    step_time: float | None
    memory: float | None
    fits: bool | None
    why: str = ""
    present: bool = False
    errors: tuple[str, ...] = ()
    """The rules that find an error in the layout."""


@dataclass(frozen=True, slots=True)
class LayoutGrid:
    """The cells by tp and pp; ``capacity`` is the memory of an accelerator in bytes."""

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cells: tuple[LayoutCell, ...]
    capacity: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Reliability:
    """Seconds between failures, between checkpoints, per checkpoint and per restart, each with its origin; ``goodput``
    is the fraction of productive time. ``curve`` is goodput over the checkpoint interval.
    """

    between: float
    interval: float
    checkpoint: float
    restart: float
    goodput: float
    low: float
    high: float
    failures_per_day: float
    time_to_train: float | None
    with_interruptions: float | None
    curve: tuple[tuple[float, float], ...]
    origins: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Memory in bytes of an accelerator of a pipeline stage; stages count from 1."""

    stage: int
    weights: float
    gradients: float
    activations: float
    optimizer: float
    other: float
    total: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
