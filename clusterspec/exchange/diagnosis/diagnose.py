"""Diagnosis of benchmark logs: each collective compared with the design, with the likely causes of low bandwidth."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.exchange.diagnosis.causes import causes
from clusterspec.exchange.diagnosis.compare import LogOverrides, NotComparable, PlacedRun, place
from clusterspec.exchange.import_result import ImportBuilder, ImportResult, Value
from clusterspec.logs.benchmark import Benchmark
from clusterspec.logs.sizes import size_text
from clusterspec.records import dataclass
from clusterspec.results.diagnosis import Compared


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The runs that were compared, and the logs that were not, with the reason."""

    runs: tuple[PlacedRun, ...]
    compared: tuple[Compared, ...]
    unread: tuple[tuple[str, str], ...]


def diagnose(cluster: Cluster, logs: Sequence[tuple[str, Benchmark]], stated: LogOverrides) -> Diagnosis:
    """The diagnosis of named logs on a cluster."""
    runs: list[PlacedRun] = []
    unread: list[tuple[str, str]] = []
    for log, benchmark in logs:
        if not benchmark.series:
            unread.append((log, "it measures pairs of accelerators, not a collective"))
        for series in benchmark.series:
            try:
                runs.append(place(cluster, benchmark, series, log, stated))
            except NotComparable as why:
                unread.append((log, str(why)))
    return Diagnosis(tuple(runs), tuple(map(_compared, runs)), tuple(unread))


def _compared(run: PlacedRun) -> Compared:
    algorithm = run.series.algorithm or ""
    return Compared(run.log, run.name, run.group.ranks, run.group.nodes, algorithm, run.rows, causes(run))


def calibration(runs: Sequence[PlacedRun]) -> ImportResult:
    """The `measured:` entries of runs, each at its largest size."""
    builder = ImportBuilder("diagnosis", "")
    for run in runs:
        last = run.series.largest
        entry: dict[str, Value] = {
            "collective": run.name,
            "nodes": run.group.nodes,
            "ranks": run.group.ranks,
            "size": size_text(last.size),
            "busbw": f"{run.largest.measured / 1e9:.6g} GB/s",
        }
        if run.series.algorithm:
            entry["algorithm"] = run.series.algorithm
        builder.file = run.log
        builder.append("measured", entry, last.line)
    return builder.reading()
