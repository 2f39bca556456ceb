"""The figures of reinforcement learning in the text of an estimate."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.report import TextStyle, text_table, wrapped_lines
from clusterspec.report.estimate_rows import joined_notes
from clusterspec.units import display, percent, portion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.reinforcement.memory import RlMemory
    from clusterspec.cost.reinforcement.times import RlTimes


def rl_rows(times: RlTimes, condition: str) -> Iterable[tuple[str, str, str]]:
    """The headline figures of reinforcement learning."""
    low, high = times.band
    yield "step time", display(times.step, "s"), joined_notes(f"{display(low, 's')} to {display(high, 's')}", condition)
    rate = f"{times.tokens_per_second_per_accelerator:,.0f}"
    mfu = f"MFU {percent(times.mfu)}" if times.mfu is not None else ""
    yield "tokens per second", rate, joined_notes("per accelerator, of all roles over the whole step", mfu, condition)


def role_remarks(times: RlTimes) -> dict[str, str]:
    """The remarks by role: the share of rollout that waits for the longest samples, and the weights sent."""
    sent, wire = display(times.sync.weights, "B"), display(times.sync.wire, "s")
    return {
        "rollout": f"{percent(times.rollout.idle_share, 2)} of it waiting for the longest samples",
        "weight sync": f"{sent} by {times.sync.method}; the transfer alone takes {wire}",
    }


def rl_text(times: RlTimes, style: TextStyle) -> str:
    """The roles with their seconds and the share of the step in which each role's accelerators wait; then the memory of
    an accelerator of the trainer by phase.
    """
    remarks = role_remarks(times)
    rows = [
        (
            f"  {(name := part.role.replace('_', ' '))}",
            display(part.seconds, "s"),
            portion(part.seconds / times.step),
            portion(part.idle_share),
            remarks.get(name, ""),
        )
        for part in times.parts
    ]
    if times.memory is not None:
        held = ", ".join(f"{name} {display(size, 'B')}" for name, size in phases_of(times.memory).items() if size)
        moved = (
            f"; {display(times.memory.offloaded, 'B')} of the trainer move to the host"
            if times.memory.offloaded
            else ""
        )
        note = f"(memory by phase: {held}{_models_text(times.memory)}{moved})"
    else:
        note = ""
    table = text_table(
        ("  role", "time", "of the step", "idle", "remark"), rows, right=(1, 2, 3), wrap=(4,), style=style
    )
    lines = wrapped_lines(note, style.measure, "  ", "   ") if note else []
    return table + "".join(style.paint("dim", line) + "\n" for line in lines)


def phases_of(memory: RlMemory) -> dict[str, float]:
    """Bytes on an accelerator of the trainer by phase of a step; the phase of scores where models score on it."""
    phases = {"rollout": memory.rollout, "training": memory.training, "sync": memory.sync}
    return phases | ({"scores": memory.scoring} if memory.scoring > memory.training else {})


def _models_text(memory: RlMemory) -> str:
    """The memory of models other than the trained one in training, as the end of a sentence."""
    models = [("the critic", memory.critic), ("the reference and the reward model", memory.scorers)]
    taken = " and ".join(f"{display(size, 'B')} of it {name}" for name, size in models if size)
    return f", {taken}" if taken else ""
