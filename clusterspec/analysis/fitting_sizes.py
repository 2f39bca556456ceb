"""Larger machines on which a job fits that does not fit on its own machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from clusterspec.analysis.layout_search import SearchOptions, search
from clusterspec.analysis.studied import Studied, section_with_fixed_settings
from clusterspec.records import NamedTuple
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
                yield FittingMachine(Studied(sized).with_layout(section), row.layout)
                return
