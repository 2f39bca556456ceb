"""Benchmarks that stopped amid their table: an error follows the last row, and the line that ends it is missing."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence
from clusterspec.logs.statements.first_failures import tells_a_stop
from clusterspec.records import replace

_END = ("Avg bus bandwidth", "Out of bounds values", "Out of bounds:")
"""What nccl-tests prints below the table of a run that ended (NVIDIA/nccl-tests, src/common.cu)."""


def stops_amid_table(text: str, benchmark: Benchmark, evidence: Iterable[Evidence]) -> bool:
    """Whether a run stopped before it ended its last table, so that its rows are no result of the run."""
    rows = [point.line for series in benchmark.series for point in series.points]
    if not rows or any(end in text for end in _END):
        return False
    return any(each.line > max(rows) and tells_a_stop(each.name) for each in evidence)


def with_stop(benchmark: Benchmark, stopped: Benchmark) -> Benchmark:
    """A benchmark whose last table is replaced by the run that stopped in it, with the evidence of that run."""
    last = max(benchmark.series, key=lambda series: max((point.line for point in series.points), default=0))
    kept = tuple(each for each in benchmark.series if each is not last)
    run = stopped.series[0]
    run = replace(run, ranks=run.ranks or last.ranks, nodes=run.nodes or last.nodes, hosts=run.hosts or last.hosts)
    return replace(stopped, series=(*kept, run))
