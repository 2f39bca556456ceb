"""The section of docs/accuracy.md about reinforcement learning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from tools.accuracy.rl_cases import RlCase, is_ordered, ordered_pairs

HEAD = """## Reinforcement learning

Published steps (`tests/accuracy/rl.csv`), with the models, lengths, layouts and placements that their sources state.
The hash of a source's name decides whether constants may be fitted to it. A pair is two rows of one source that
differ in placement alone; its order is right if the placement predicted to be faster was faster. A weight transfer is
right within a factor of 1.5. Where a source does not state the mean length of outputs, a length is assumed and the
row counts for the order of placements only. The [notes](accuracy-notes.md#reinforcement-learning) list the sources on
each side, what is assumed for them and what is known of the worst rows.
"""
SIDES_HEAD = """
| sources | steps | median error | order of pairs right | transfers within 1.5 |
|---|---:|---:|---:|---:|
"""
ROWS = """
| row | model | accelerators | placement | staleness | published | predicted | error |
|---|---|---:|---|---:|---:|---:|---:|
"""


def section(rl_cases: Sequence[RlCase]) -> Iterator[str]:
    """The parts of the section."""
    yield HEAD
    yield SIDES_HEAD
    yield from (_summary(name, [case for case in rl_cases if case.held_out is held]) for name, held in SIDES.items())
    yield ROWS
    yield from map(_row, sorted(rl_cases, key=lambda case: -abs(case.shown_error or 0.0)))


SIDES = {"held out": True, "fitted side": False}
"""The name of each side, and whether its sources are held out."""


def _summary(name: str, rl_cases: Sequence[RlCase]) -> str:
    errors = [abs(case.error) for case in rl_cases if case.error is not None]
    (close, transfers), (right, pairs) = right_counts(rl_cases)
    middle = f"{100 * median(errors):.1f} %" if errors else ""
    return f"| {name} | {len(errors)} | {middle} | {right} of {pairs} | {close} of {transfers} |\n"


def right_counts(rl_cases: Sequence[RlCase]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Transfers of weights within a factor of 1.5 and pairs in the right order, each with the number of all."""
    ratios = [case.sync_ratio for case in rl_cases if case.sync_ratio is not None]
    pairs = ordered_pairs(list(rl_cases))
    close = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios)
    return (close, len(ratios)), (sum(map(is_ordered, pairs)), len(pairs))


def _row(case: RlCase) -> str:
    row, times = case.row, case.times
    seconds = times.step if times is not None else None
    published, what = case.published_seconds, row["placement"]
    error = f"{100 * case.error:+.0f} %" if case.error is not None else ""
    if published is None:
        published, seconds = float(row["sync_time"]), times.sync.seconds if times is not None else None
        what = f"transfer by {row['sync_method']}"
        error = f"{100 * (case.sync_ratio - 1):+.0f} %" if case.sync_ratio else ""
    accelerators = f"{times.accelerators:,.0f}" if times is not None else ""
    shown = f"{seconds:,.1f} s" if seconds is not None and (error or row["pair"]) else ""
    cells = (f"[{row['id']}]({row['url']})", row["model"], accelerators, what, row["staleness"])
    return f"| {' | '.join(cells)} | {published:,.1f} s | {shown} | {error} |\n"
