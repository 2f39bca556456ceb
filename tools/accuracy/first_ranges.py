"""The share of first predictions whose ranges held the run, by kind of software and by what was known of the chip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tools.fit import first_widths
from tools.fit.spread import Need, share_inside, share_inside_unseen, spreads

ALL = "all"
UNSEEN = "no earlier source on the chip"
GROUPS: Mapping[str, Callable[[Need], bool]] = {
    ALL: lambda one: True,
    "trainers with layers of their own": lambda one: not one.is_program,
    "programs whose users bring or change the layers": lambda one: one.is_program,
    "torchtitan": lambda one: one.stack.startswith("torchtitan"),
    "PyTorch FSDP and DeepSpeed": lambda one: one.stack.startswith(("fsdp", "deepspeed")),
    "programs that nothing was fitted to": lambda one: one.stack.startswith(("custom", "llm", "nanotron")),
    "dense": lambda one: not one.experts,
    "with experts": lambda one: one.experts,
    "framework and precision ran on the chip": lambda one: one.seen,
    "framework or precision new on the chip": lambda one: not one.seen,
    UNSEEN: lambda one: one.evidence == 0,
    "up to two earlier sources": lambda one: 0 < one.evidence <= 2,
    "more earlier sources": lambda one: one.evidence > 2,
}
"""Groups of first predictions."""


def shares(name: str) -> tuple[tuple[int, float], tuple[int, float]]:
    """The number of sources of a group and the share inside, of the fitted side and of the side held out."""
    fitted, held = first_widths.needs_of_side(held_out=False), first_widths.needs_of_side(held_out=True)
    ours, others = (list(filter(GROUPS[name], side)) for side in (fitted, held))
    found = share_inside_unseen(ours, fitted), share_inside(others, spreads(fitted))
    return (_source_count(ours), found[0]), (_source_count(others), found[1])


def _source_count(needs: Sequence[Need]) -> int:
    return len({one.source for one in needs})


def table() -> str:
    """The shares of all groups, as Markdown."""
    rows = [
        "| first predictions | fitted side: sources | inside | held out: sources | inside |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in GROUPS:
        cells = (cell for count, share in shares(name) for cell in (str(count), f"{100 * share:.0f} %"))
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"
