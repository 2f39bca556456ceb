"""What fits in memory: larger machines for a job that does not fit on its own, and the longest sequence of a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import lcm

from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.studied import SearchOptions, StudyVariations, section_with_fixed_settings
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.estimate import plan_with_memory
from clusterspec.cost.plan import Plan
from clusterspec.records import NamedTuple
from clusterspec.results.machine import LongestSequence
from clusterspec.results.search import Section
from clusterspec.source import Path
from clusterspec.studies import Study, variation

GROWTH = (1, 2, 4, 8)
"""Multiples of the node count to try, smallest first, for a job that does not fit."""


class FittingMachine(NamedTuple):
    """The study of a machine with the fastest layout that surely fits and has no error, and that layout."""

    study: Study
    layout: Section


def fitting_machine(study: Study, changes_of: Callable[[int], Mapping[Path, object]]) -> Iterator[FittingMachine]:
    """The smallest multiple of a machine on which some layout of its job fits.

    None if the job fits as written, is reinforcement learning, or fits on none of the multiples. ``changes_of`` gives
    the keys that set a number of nodes.
    """
    work, cluster = study.design.workload, study.design.cluster
    if work is None or work.rl is not None or cluster is None or study.document is None:
        return
    if study.plan.surely_fits is not False:
        return
    for factor in GROWTH:
        sized = study if factor == 1 else variation.rewritten_study(study, changes_of(cluster.nodes * factor))
        for row in search(sized, SearchOptions(top=1, best_only=True)).layouts:
            if row.surely_fits and not row.errors:
                section = section_with_fixed_settings(sized, row.layout)
                yield FittingMachine(StudyVariations(sized).with_layout(section), row.layout)
                return


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
        low, high = (middle, high) if _is_legal_and_fits(plan.design, middle * step) else (low, middle)
    if not low:
        return None
    reached = (low + 1) * step > most
    return LongestSequence(low * step, step, known if reached and known and most < MOST else None, reached)


def _is_legal_and_fits(design: Design, tokens: int) -> bool:
    """Whether the design with sequences of this length is legal and fits in memory."""
    other = design_with_keys(design, {("workload", "sequence_length"): tokens})
    return not layout_error_rules(other) and plan_with_memory(other).fits is True
