"""The longest sequence of a training design that fits in memory with its layout."""

from __future__ import annotations

from math import lcm

from clusterspec.cluster.legality import refusals
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.estimate import plan_with_memory
from clusterspec.cost.plan import Plan
from clusterspec.results.machine import LongestSequence

STEP = 1024
"""Tried lengths are multiples of these tokens and of the context-parallel degree."""
MOST = 1 << 20
"""Tokens of the longest sequence that is tried."""


def longest_sequence(plan: Plan) -> LongestSequence | None:
    """The longest sequence in multiples of `STEP`, everything else as designed; the batch keeps its sequences.

    None for a design that trains nothing or whose memory is not known, and where not even the shortest length fits.
    Lengths beyond those of the model are not tried.
    """
    work, layout = plan.design.workload, plan.design.layout
    if work is None or layout is None or work.kind != "train" or work.rl is not None or plan.fits is None:
        return None
    step = lcm(STEP, layout.cp)
    known = work.model.max_sequence_length
    most = min(MOST, max(known, work.sequence_length)) if known else MOST
    low, high = 0, most // step + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(plan.design, middle * step) else (low, middle)
    if not low:
        return None
    reached = (low + 1) * step > most
    return LongestSequence(low * step, step, known if reached and known and most < MOST else None, reached)


def _fits(design: Design, tokens: int) -> bool:
    """Whether the design with sequences of this length is legal and fits in memory."""
    other = design_with_keys(design, {("workload", "sequence_length"): tokens})
    return not refusals(other) and plan_with_memory(other).fits is True
