"""Predictions for collectives of a source, without constants or catalog figures that were chosen from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from clusterspec.catalog.entries import Interconnect
from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveCost, stack
from clusterspec.cost.collectives.predict import group_timing
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.source import Cited
from tools.accuracy.cases import Case, collective_spec, size_group, study, table
from tools.accuracy.split import COLLECTIVES_BEFORE

GRID: dict[str, tuple[float, ...]] = {
    "LAUNCH_PER_RANK": (1e-6, 1.5e-6, 2e-6, 2.5e-6),
    "LAUNCH_APART": (2e-6, 4e-6, 8e-6, 12e-6),
    "CHANNELS": (16.0, 24.0, 32.0),
    "OWN_COPY": (1.6, 2.2, 2.8),
    "SWITCH_STAGE": (0.2, 1 / 3, 0.5),
    "TREE_BETWEEN": (0.92, 0.95, 0.97),
    "SWITCH_TREE": (0.88, 0.92, 0.96),
}
"""The assumed constants on which the times of measured collectives depend, with the values to try."""


@dataclass(frozen=True)
class Series:
    """One published table: machine, collective, and the rows of one source."""

    name: str
    source: str
    cluster: Cluster
    collective: str
    ranks: int
    algorithm: str | None
    processes: str | None
    rows: Sequence[Mapping[str, str]]

    def costs(self, cluster: Cluster) -> Iterator[tuple[Mapping[str, str], CollectiveCost]]:
        """The prediction for each row, on this cluster."""
        group = contiguous_placement(cluster, self.ranks)
        timing = group_timing(cluster, self.collective, group, self.algorithm, processes=self.processes)
        return ((row, timing.cost(float(row["size"]))) for row in self.rows)


def folds(every_nth: int = 1) -> Iterator[tuple[str, list[Case]]]:
    """For one in ``every_nth`` of the sources used to choose constants: its cases, with constants chosen from all other
    sources, and without catalog figures that cite the source.
    """
    every = [each for each in series() if each.source in COLLECTIVES_BEFORE]
    before = {name: getattr(stack, name) for name in GRID}
    try:
        for source in sorted({each.source for each in every})[::every_nth]:
            choose([each for each in every if each.source != source])
            yield source, [case for each in every if each.source == source for case in _unseen_cases(each)]
    finally:
        for name, figure in before.items():
            setattr(stack, name, figure)


def series() -> Iterator[Series]:
    """Every published table of collectives."""
    rows: dict[str, list[dict[str, str]]] = {}
    for row in table("collectives.csv"):
        rows.setdefault(row["series"], []).append(row)
    for each in table("collective_series.csv"):
        name, cluster = each["series"], study(collective_spec(each)).design.cluster
        assert cluster is not None
        source = repository(rows[name][0]["source"])
        started = each["algorithm"] or None, each["processes"] or None
        yield Series(name, source, cluster, each["collective"], int(each["ranks"]), *started, rows[name])


def repository(source: str) -> str:
    """The repository of a source, without its version and path; an address as it is.

    >>> repository("aws-samples/awsome-distributed-training@7217859 README.md")
    'aws-samples/awsome-distributed-training'
    """
    return source if source.startswith("http") or "@" not in source else source.partition("@")[0]


def choose(some: Sequence[Series]) -> dict[str, float]:
    """Sets each constant in turn to the value of the grid that predicts some tables best, from the middle of each."""
    for name, values in GRID.items():
        _set_constant(name, values[len(values) // 2])
    for name, values in GRID.items():
        losses = {tried: _loss(some, name, tried) for tried in values}
        _set_constant(name, min(losses, key=lambda tried, losses=losses: losses[tried]))  # type: ignore[misc]
    return {name: getattr(stack, name).value for name in GRID}


def _loss(some: Sequence[Series], name: str, tried: float) -> float:
    """The mean over tables of the mean error of their rows, in logarithms: a long table counts as a short one."""
    _set_constant(name, tried)
    means = []
    for each in some:
        errors = [abs(log(cost.seconds / float(row["seconds"]))) for row, cost in each.costs(each.cluster)]
        means.append(sum(errors) / len(errors))
    return sum(means) / len(means)


def _set_constant(name: str, new: float) -> None:
    setattr(stack, name, replace(getattr(stack, name), value=new))


def _unseen_cases(table: Series) -> Iterator[Case]:
    for row, cost in table.costs(cluster_without_source(table.cluster, table.source)):
        yield Case(
            f"{table.name} {row['size']}",
            size_group(float(row["size"])),
            float(row["seconds"]),
            cost.seconds,
            cost.low,
            cost.high,
            row["source"],
        )


def cluster_without_source(cluster: Cluster, source: str) -> Cluster:
    """The cluster without the link figures that cite a source; assumptions for all links replace them."""
    up, out = cluster.scale_up, cluster.scale_out
    if up.interconnect is not None:
        up = replace(up, interconnect=_without_source(up.interconnect, source))
    if out is not None:
        out = replace(out, technology=_without_source(out.technology, source))
    return replace(cluster, scale_up=up, scale_out=out)


def _without_source(entry: Interconnect, source: str) -> Interconnect:
    kept = {name: figure for name, figure in entry.achievable.items() if not _cites(figure, source)}
    return replace(entry, achievable=kept)


def _cites(figure: Figure, source: str) -> bool:
    return isinstance(figure.origin, Cited) and source in figure.origin.url
