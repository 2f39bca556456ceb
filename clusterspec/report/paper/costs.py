"""Time, communication and memory: what the plan costs, drawn and tabled."""

from __future__ import annotations

from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Communication, MemoryUse, Term
from clusterspec.report import communication as traffic
from clusterspec.report.paper.blocks import Block, Column, Picture, Section, Table
from clusterspec.report.paper.charts import Slice, stack
from clusterspec.units import percent, say


def time(plan: Plan) -> Section | None:
    """Where the time of one optimizer step goes."""
    step = plan.step_time
    if step is None:
        return None
    parts = leaves_that_matter(step)
    picture = Picture(
        stack([Slice(part.label, part.value, say(part.value, "s")) for part in parts], written_of(parts, "s")),
        f"One optimizer step, {say(step.value, 's')}",
    )
    blocks: list[Block] = [picture]
    if plan.communication:
        blocks.append(communication(plan.communication))
    return Section("time", "Step time", tuple(blocks), lead=lead(plan))


def lead(plan: Plan) -> str:
    """The step in one sentence, with its band."""
    assert plan.step_time is not None
    said = f"One optimizer step is predicted to take {say(plan.step_time.value, 's')}"
    if plan.step_time_range:
        low, high = plan.step_time_range
        said += f", and between {say(low, 's')} and {say(high, 's')} given what is uncertain"
    return said + "."


def leaves_that_matter(term: Term, least: float = 0.005) -> tuple[Term, ...]:
    """The parts of a sum that are worth a colour; the small ones are put together."""
    parts = sorted((part for part in term.parts if part.value > 0), key=lambda part: -part.value)
    large = tuple(part for part in parts if part.value >= least * term.value)[:8]
    rest = tuple(part for part in parts if part not in large)
    return large + ((Term.total("the rest", rest, term.unit),) if rest else ())


def written_of(parts: tuple[Term, ...], unit: str) -> str:
    return "; ".join(f"{part.label}: {say(part.value, unit)}" for part in parts)


def communication(rows: tuple[Communication, ...]) -> Table:
    """What each axis sends in one step, and what of it nothing hides."""
    heads = enumerate(traffic.HEADS)
    columns = tuple(Column(head.capitalize(), "right" if k in traffic.NUMBERS else "left") for k, head in heads)
    cells = tuple(map(traffic.row, rows))
    return Table(columns, cells, caption="Communication in one step, per accelerator")


def memory(use: MemoryUse) -> Section:
    """What fills the fullest accelerator."""
    parts = (use.weights, use.gradients, use.optimizer, use.activations, use.other)
    capacity = use.capacity.value if use.capacity else None
    picture = Picture(
        stack(
            [Slice(part.label, part.value, say(part.value, "B")) for part in parts],
            written_of(parts, "B"),
            capacity=capacity,
            capacity_said=f"capacity {say(capacity, 'B')}" if capacity else "",
        ),
        f"The fullest accelerator, {say(use.total.value, 'B')}"
        + (f" of {say(capacity, 'B')} ({percent(use.total.value / capacity)})" if capacity else ""),
    )
    columns = (Column("Part"), Column("Bytes", "right"), Column("Formula"))
    rows = tuple((part.label, say(part.value, "B"), part.formula) for part in (*parts, use.total))
    return Section("memory", "Memory", (picture, Table(columns, rows, emphasis=(len(rows) - 1,))))
