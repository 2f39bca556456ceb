"""The diagnosis of logs: every collective in them compared with the design, with the causes of what is slow."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.exchange.diagnosis.causes import causes
from clusterspec.exchange.diagnosis.compare import NotComparable, Run, Stated, place
from clusterspec.exchange.reading import Notes, Reading, Value
from clusterspec.logs.benchmark import Benchmark
from clusterspec.logs.sizes import size_text
from clusterspec.records import dataclass
from clusterspec.results.diagnosis import Compared


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The runs that could be compared, and what could not, with why."""

    runs: tuple[Run, ...]
    compared: tuple[Compared, ...]
    unread: tuple[tuple[str, str], ...]


def diagnose(cluster: Cluster, logs: Sequence[tuple[str, Benchmark]], stated: Stated) -> Diagnosis:
    """Logs by name against a cluster."""
    runs: list[Run] = []
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


def _compared(run: Run) -> Compared:
    algorithm = run.series.algorithm or ""
    return Compared(run.log, run.name, run.group.ranks, run.group.nodes, algorithm, run.rows, causes(run))


def calibration(runs: Sequence[Run]) -> Reading:
    """The entries of `measured:` that the runs support: each at its largest size."""
    notes = Notes("diagnosis", "")
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
        notes.file = run.log
        notes.append("measured", entry, last.line)
    return notes.reading()
