"""Assumptions of the memory model for a design, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.framework_memory import Spread
from clusterspec.cluster.model import Assumption
from clusterspec.cost.memory.constants import COMMUNICATOR, ROUTING
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import MemoryLine
from clusterspec.cost.memory.peak_memory import RankMemory
from clusterspec.origin import Assumed


def assumptions(job: Job, rank: RankMemory) -> tuple[Assumption, ...]:
    """The assumed figures behind the lines of a rank."""
    names = {found.name for found in _lines(rank) if found.value}
    framework = job.framework
    by_name: tuple[tuple[str, Spread | None], ...] = (
        ("context", framework.context),
        ("communication buffers", COMMUNICATOR),
        ("fragmentation", framework.fragmentation),
        ("logits and loss", framework.logits),
        ("experts", ROUTING),
    )
    return tuple(_listed(spread) for name, spread in by_name if spread is not None and name in names)


def _listed(spread: Spread) -> Assumption:
    origin = spread.figure.origin
    if isinstance(origin, Assumed):
        return (origin.key, spread.figure, origin.why)
    return (str(origin), spread.figure, str(origin))


def _lines(rank: RankMemory) -> Iterator[MemoryLine]:
    peak = rank.peak
    for lines in (rank.weights, rank.gradients, rank.optimizer, rank.activations, rank.reserved):
        yield from lines
    for lines in peak:
        yield from lines
