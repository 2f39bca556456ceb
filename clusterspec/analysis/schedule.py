"""The pipeline schedule of a training step, operation by operation, from the stage times of the estimate."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.plan import Plan
from clusterspec.cost.step import StepInputs
from clusterspec.records import NamedTuple
from clusterspec.results.machine import Operation, Schedule

MOST_OPERATIONS = 160
"""The maximum number of operations of a stage that are drawn. Further micro-batches repeat the steady state."""
SIMULATED = frozenset({"gpipe", "1f1b", "interleaved"})
"""Schedules whose order of operations is fixed by the number of stages, virtual stages and micro-batches."""


class Chunk(NamedTuple):
    """One pass of a micro-batch over a virtual stage."""

    backward: bool
    micro_batch: int
    chunk: int


def schedule(plan: Plan) -> Schedule | None:
    """The operations of each stage in seconds; None for one stage, and for schedules without a fixed order.

    The slowest stage is drawn last. The other stages are drawn with their mean time, so that the sums over all stages
    equal the estimate. With many micro-batches only some are drawn; the idle time does not depend on their number.
    """
    record = plan.step
    if record is None or record.inputs.stages < 2 or record.choices.schedule not in SIMULATED:
        return None
    inputs, name = record.inputs, record.choices.schedule
    stages, virtual, count = int(inputs.stages), int(inputs.virtual_stages), int(inputs.micro_batches)
    drawn = _drawn_micro_batches(count, stages, virtual)
    visible = 0.0 if record.choices.hides_sends else inputs.send
    orders = [_stage_order(name, stage, (stages, virtual, drawn)) for stage in range(stages)]
    operations = tuple(_timed_operations(orders, inputs, visible))
    return Schedule(
        name=name,
        stages=stages,
        virtual_stages=virtual,
        micro_batches=count,
        drawn=drawn,
        forward=inputs.stage.forward,
        recomputation=inputs.stage.recomputation,
        backward=inputs.stage.backward,
        idle=record.times.idle,
        predicted=record.times.idle + drawn * (inputs.stage.total + 2 * virtual * visible),
        simulated=max(one.end for one in operations),
        operations=operations,
    )


def _drawn_micro_batches(count: int, stages: int, virtual: int) -> int:
    """The number of micro-batches to draw: all, or as many as the limit allows in whole multiples of the number of
    stages.
    """
    most = max(stages, MOST_OPERATIONS // (2 * virtual) // stages * stages)
    return min(count, most)


def _stage_order(name: str, stage: int, size: tuple[int, int, int]) -> list[Chunk]:
    """The operations of a stage in order: warm-up, alternating forward and backward operations, and the remaining ones.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2 and figures 3 and 4; the warm-up of interleaved
    stages as in Megatron-LM, `schedules.py`.
    """
    stages, virtual, count = size
    groups = [range(first, min(count, first + stages)) for first in range(0, count, stages)]
    forward = [Chunk(False, batch, part) for group in groups for part in range(virtual) for batch in group]
    backward = [Chunk(True, one.micro_batch, virtual - 1 - one.chunk) for one in forward]
    if name == "gpipe":
        return forward + backward
    warm = stages - stage - 1 if virtual == 1 else 2 * (stages - stage - 1) + (virtual - 1) * stages
    warm = min(warm, len(forward))
    turns = [each for pair in zip(forward[warm:], backward, strict=False) for each in pair]
    return forward[:warm] + turns + backward[len(forward) - warm :]


def _timed_operations(orders: list[list[Chunk]], inputs: StepInputs, visible: float) -> Iterator[Operation]:
    """The operations with their times. Each starts when its stage is free and its inputs have arrived.

    The sending stage waits for ``visible`` seconds of each send; sends that overlap with computation take no time."""
    stages, virtual = len(orders), int(inputs.virtual_stages)
    others = (inputs.every / inputs.stage.total - 1) / (stages - 1)
    ends: dict[tuple[int, Chunk], float] = {}
    free, at = [0.0] * stages, [0] * stages
    while True:
        moved = False
        for stage, order in enumerate(orders):
            scale = (others if stage < stages - 1 else 1.0) / virtual
            while at[stage] < len(order):
                each = order[at[stage]]
                need = _awaited_operation(stage, each, stages, virtual)
                if need is not None and need not in ends:
                    break
                start = max(free[stage], ends[need] if need is not None else 0.0)
                busy = inputs.stage.backward_with_recompute if each.backward else inputs.stage.forward
                free[stage] = ends[stage, each] = start + busy * scale + visible
                at[stage] += 1
                moved = True
                yield Operation(stage, each.backward, each.micro_batch, each.chunk, start, free[stage])
        if not moved:
            return


def _awaited_operation(stage: int, operation: Chunk, stages: int, virtual: int) -> tuple[int, Chunk] | None:
    """The operation that must finish first: the same operation on the previous stage in its direction."""
    last = stages - 1
    if not operation.backward:
        if stage:
            return stage - 1, operation
        return (last, operation._replace(chunk=operation.chunk - 1)) if operation.chunk else None
    if stage < last:
        return stage + 1, operation
    if operation.chunk < virtual - 1:
        return 0, operation._replace(chunk=operation.chunk + 1)
    return stage, Chunk(False, operation.micro_batch, operation.chunk)
