"""The effect of each lever, one step up and one step down, with everything else as in the spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from clusterspec.cluster.model import Design
from clusterspec.cost.plan import Plan
from clusterspec.records import dataclass
from clusterspec.search.levers import LEVERS, WORDS, next_steps
from clusterspec.search.variation import Changes, Variations, divides

PlanOf = Callable[[Design], Plan]
Move = tuple[str, object, object, Changes]
"""A lever, its value before and after, and the changes to the spec."""
CostOf = Callable[[Design, Plan], float | None]
"""The cost of a run (or of the term, where no run is described) in the currency of the spec; None where not known."""


@dataclass(frozen=True, slots=True)
class Step:
    """One lever moved by one step; None where a number cannot be computed.

    Step time in seconds, of a serving plan the time per output token; memory in bytes on the fullest accelerator;
    cost in the currency of the spec. ``fits`` is of the plan with the lever moved.
    """

    key: str
    before: object
    after: object
    step_time: float | None
    memory: float | None
    cost: float | None
    fits: bool | None
    effect: float | None
    """The relative change of the time for a token."""


def sensitivity(
    design: Design, variations: Variations, plan_of: PlanOf, cost_of: CostOf, sold: Mapping[str, tuple[float, ...]]
) -> tuple[Step, ...]:
    """Every lever that the design has, one step each way; the largest effect on the time for a token first.

    ``sold`` has, by lever, the values that are sold for this machine, where they are not those of the lever.
    A step whose design cannot be resolved or whose layout no longer divides is left out.
    """
    base = _seconds_per_token(design, plan_of(design))
    moves = _moves(design, sold)
    steps = [step for step in _steps(moves, base, variations, plan_of, cost_of) if step.step_time is not None]
    return tuple(sorted(steps, key=lambda step: (-abs(step.effect or 0.0), step.key, str(step.after))))


def _seconds_per_token(design: Design, plan: Plan) -> float | None:
    """The time per token: for training, the step time over its tokens; for serving, the time per output token."""
    if plan.serving is not None:
        return plan.serving.tpot
    if plan.step_time is None or design.workload is None:
        return None
    return plan.step_time.value / (design.workload.global_batch * design.workload.sequence_length)


def _steps(
    moves: Iterable[Move], base: float | None, variations: Variations, plan_of: PlanOf, cost_of: CostOf
) -> Iterator[Step]:
    for key, before, after, changes in moves:
        varied = variations.design(changes)
        if not divides(varied):
            continue
        plan = plan_of(varied)
        memory, fits = plan.memory_bytes, plan.fits
        seconds = plan.serving.tpot if plan.serving is not None else plan.step_seconds
        each = _seconds_per_token(varied, plan)
        effect = each / base - 1 if each and base else None
        yield Step(key, before, after, seconds, memory, cost_of(varied, plan), fits, effect)


OF_TRAINING = frozenset({"global_batch", "sequence_length", "recompute", "micro_batch", "overlap.tp", "overlap.dp"})
"""Levers that move no serving plan."""


def _moves(design: Design, sold: Mapping[str, tuple[float, ...]]) -> Iterator[Move]:
    served = design.workload is not None and design.workload.serving is not None
    for lever in LEVERS.values():
        value = None if served and lever.name in OF_TRAINING else lever.value(design)
        if value is not None and value > 0:
            for step in next_steps(sold.get(lever.name, lever.steps), value):
                if step is not None:
                    yield lever.name, value, step, lever.changes(step)
    for name, (path, values, present) in WORDS.items():
        now = present(design)
        if now in values and not (served and name in OF_TRAINING):
            at = values.index(now)
            for index in (at - 1, at + 1):
                if 0 <= index < len(values):
                    yield name, now, values[index], {path: values[index]}
