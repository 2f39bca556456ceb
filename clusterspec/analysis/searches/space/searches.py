"""The evaluation of the layouts of a design, in columns where NumPy is installed, and searches of several sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.analysis.searches.space.run import Evaluate, EvaluatedBlock, Limits, SearchResult
from clusterspec.analysis.searches.studied import SearchJob, Space
from clusterspec.cluster.model import Design


def evaluation(design: Design, job: SearchJob) -> Evaluate:
    """The fastest available evaluation of the layouts of a design; all evaluations give the same numbers."""
    try:
        from clusterspec.analysis.searches.space.columns import batched_evaluation
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        return sequential_evaluation(design, job)
    return batched_evaluation(design, job)


def sequential_evaluation(design: Design, job: SearchJob) -> Evaluate:
    """A function that estimates each layout separately, most promising first, so that a search that is stopped early
    has covered these.
    """
    from clusterspec.analysis.searches.space.without_numpy import EvaluationOrder  # no command with NumPy needs it

    def evaluate(space: Space) -> Iterator[EvaluatedBlock]:
        for batch in EvaluationOrder(design, job, space).batches():
            rows = sorted(batch, key=lambda one: (space.choice(one.number).recompute, one.number))
            if rows:
                yield EvaluatedBlock(*map(list, zip(*rows, strict=True)))

    return evaluate


def evaluation_of_sizes(design: Design, job: SearchJob) -> Evaluate | None:
    """An evaluation of the layouts of a job on any number of nodes, which keeps its tables; None without NumPy."""
    try:
        from clusterspec.analysis.searches.space.columns import batched_evaluation
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        return None
    return batched_evaluation(design, job)


def searches_of_sizes(spaces: Sequence[Space], limits: Limits, *, top: int, evaluate: Evaluate) -> list[SearchResult]:
    """The fastest layouts of one job for each number of nodes, as `search` finds them (`Found.complete_to`).
    ``evaluate`` comes from `evaluation_of_sizes` and evaluates all layouts together.
    """
    from clusterspec.analysis.searches.space.bounded import fastest_of_spaces
    from clusterspec.analysis.searches.space.columns import ColumnEvaluation, search_spaces

    if not isinstance(evaluate, ColumnEvaluation):
        return search_spaces(evaluate, spaces, limits, top=top)
    found = fastest_of_spaces(evaluate, spaces, limits, top=top)
    left = [space for space, one in zip(spaces, found, strict=True) if one is None]
    others = iter(search_spaces(evaluate, left, limits, top=top))
    return [one or next(others) for one in found]
