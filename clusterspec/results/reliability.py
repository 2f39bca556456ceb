"""Goodput under interruptions, at the planned checkpoint interval and around it."""

from __future__ import annotations

from typing import Any

from clusterspec.cost.failures import interruptions
from clusterspec.cost.formulas.failures import goodput
from clusterspec.cost.plan import Plan
from clusterspec.records import asdict, dataclass

FACTORS = tuple(2.0 ** (power / 2) for power in range(-8, 9))
"""Multiples of the planned interval at which goodput is tabulated: from a sixteenth to sixteen times."""


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


def reliability(plan: Plan) -> Reliability | None:
    """The reliability of a training plan; None without a step time."""
    design = plan.design
    if design.cluster is None or design.layout is None or plan.step is None:
        return None
    networks = design.spec.cluster.networks if design.spec.cluster else None
    found = interruptions(
        design.cluster, design.layout, design.spec.operations, networks, plan.parameters, step=plan.step.seconds
    )
    between, interval = found.between.value, found.interval.value
    checkpoint, restart = found.checkpoint.value, found.restart.value
    curve = tuple(
        (each, max(0.0, float(goodput(each, between, checkpoint, restart))))
        for each in (interval * factor for factor in FACTORS)
    )
    whole = plan.time_to_train
    return Reliability(
        between=between,
        interval=interval,
        checkpoint=checkpoint,
        restart=restart,
        goodput=found.share,
        low=min(found.low, found.high),
        high=max(found.low, found.high),
        failures_per_day=86_400 / between,
        time_to_train=whole,
        with_interruptions=whole / found.share if whole and found.share > 0 else None,
        curve=curve,
        origins={name: str(figure.origin) for name, figure in found.figures},
    )
