"""Readers of the results of health checks of sites: SuperBench, ROCm cvs, NVIDIA Cluster Readiness Engine.

Each follows the code of its tool that writes the file; the commit is named at the reader. All print bandwidths in GB/s
of 10^9 bytes, as nccl-tests does. Sites that run other checks give the log of nccl-tests itself.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clusterspec.logs.benchmarks.benchmark import MOST_RANKS, Benchmark, Series, SizePoint, ranks_from_ratio
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, MOST_TABLES, NotALogError
from clusterspec.logs.text_lines import line_at
from clusterspec.records import NamedTuple

ROUNDED = 0.005
"""Half of the last digit of the bandwidths, in GB/s."""
_NAMES = {
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "sendrecv": "send-recv",
}
_HALVED = {"all-gather", "reduce-scatter", "all-to-all"}
"""Collectives whose ratio of bus to algorithm bandwidth is half the ratio of an all-reduce."""


def _collective_name(text: object) -> str | None:
    """The collective of a name as these tools spell it: ``all_reduce``, ``AllReduce``, ``all_reduce_perf``."""
    word = str(text).lower().removesuffix("_perf").replace("_", "").replace("-", "")
    return _NAMES.get(word)


def _positive_number(value: object) -> float | None:
    """A positive finite number, also where it is written as text; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > 40:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < 1e15 and math.isfinite(number) else None


def _whole_number(value: object) -> int | None:
    number = _positive_number(value)
    return int(number) if number is not None and number == int(number) and number <= MOST_RANKS else None


def _json_document(text: str, line: int = 0) -> Any:
    """A JSON document. Raises `NotALogError` if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        at = getattr(fault, "lineno", 1)
        raise NotALogError(f"is not a JSON document: {str(fault)[:120]}", line or at) from None


def _rank_count(collective: str, pairs: Sequence[tuple[float, float]]) -> int | None:
    """The number of ranks, from the ratio of algorithm to bus bandwidth (GB/s) at the largest size where it is
    decisive.
    """
    times = 2 if collective in _HALVED else 1
    if collective != "all-reduce" and times == 1:
        return None
    found = (ranks_from_ratio(algbw, times * busbw, times * ROUNDED) for algbw, busbw in reversed(pairs))
    return next((each for each in found if each is not None), None)


def _series(
    collective: str,
    points: Sequence[SizePoint],
    rates: Mapping[float, float],
    *,
    ranks: int | None = None,
    nodes: int | None = None,
    wrong: int = 0,
) -> Series:
    """A series in order of size; ``rates`` are algorithm bandwidths in GB/s by size, where the tool prints them."""
    ordered = tuple(sorted(points, key=lambda point: point.size))
    pairs = [(rates[point.size], point.busbw / 1e9) for point in ordered if point.size in rates]
    return Series(collective, ranks or _rank_count(collective, pairs), nodes, ordered, wrong=wrong)


# SuperBench: ``results-summary.jsonl``, one line for each node (microsoft/superbenchmark at 700d6501: names of metrics
# in ``cuda_nccl_bw_performance.py``, the file in ``runner.py``)

SUPERBENCH = "superbench"
_METRIC = re.compile(
    r"(?:nccl|rccl)-bw(?::(?P<annotation>[^/]{1,120}))?/(?P<operation>[a-z]{4,20})_(?:[0-9]{1,6}_[0-9]{1,6}:)?"
    r"(?P<size>[0-9]{1,15})_(?P<what>busbw|algbw|time)(?::(?P<rank>[0-9]{1,6}))?"
)
_NODES = re.compile(r"(?:^|[^0-9])([0-9]{1,5})-nodes?(?:$|[^a-z])")


def is_superbench(head: str) -> bool:
    return bool(re.search(r'"(?:nccl|rccl)-bw(?::[^"/]{1,120})?/[a-z]{4,20}_', head))


def read_superbench(text: str) -> Benchmark:
    """A series for each node, benchmark and operation. Raises `NotALogError` if there is none.

    The nodes follow from an annotation with ``N-nodes``, as `clusterspec export superbench` writes it.
    """
    found: list[Series] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            found += _node_series(_json_document(line, number), number)
        if len(found) > MOST_TABLES * 10:
            raise NotALogError(f"more than {MOST_TABLES * 10:,} series", number)
    if not found:
        raise NotALogError("has no metric of nccl-bw or rccl-bw with a size and a bus bandwidth")
    return Benchmark(SUPERBENCH, tuple(found))


def _node_series(metrics: object, line: int) -> Iterator[Series]:
    if not isinstance(metrics, dict):
        raise NotALogError("is not a mapping of metrics of a node", line)
    groups: dict[tuple[str, str, str], dict[str, dict[float, float]]] = {}
    for name, value in metrics.items():
        match, number = _METRIC.fullmatch(name), _positive_number(value)
        if match is None or number is None:
            continue
        key = match["annotation"] or "", match["operation"], match["rank"] or ""
        groups.setdefault(key, {}).setdefault(match["what"], {})[float(match["size"])] = number
    for (annotation, operation, _), figures in groups.items():
        collective, rates = _collective_name(operation), figures.get("busbw", {})
        if collective is None or not rates:
            continue
        times = figures.get("time", {})
        points = [
            SizePoint(size, times[size] / 1e6 if size in times else None, busbw * 1e9, line)
            for size, busbw in rates.items()
        ]
        stated = _NODES.search(annotation)
        yield _series(collective, points, figures.get("algbw", {}), nodes=int(stated[1]) if stated else None)


# ROCm cvs: ``rccl_result_file``, the JSON of rccl-tests (ROCm/cvs at dddd9143, ``cvs/schema/rccl.py`` and
# ``cvs/lib/rccl_lib.py``: in-place figures count, of an all-to-all those out of place), and its aggregation

CVS = "cvs"


class _Run(NamedTuple):
    """The fields by which the runs of one file differ."""

    collective: str
    nodes: int | None
    ranks: int | None
    type: str
    cycle: str


def is_cvs(head: str) -> bool:
    return '"inPlace"' in head and ('"busBw"' in head or '"busBw_mean"' in head)


def read_cvs(text: str) -> Benchmark:
    """A series for each collective, data type, number of ranks and cycle. Raises `NotALogError` if there is none."""
    rows = _json_document(text)
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        raise NotALogError(f"is not a list of at most {MOST_ROWS:,} results")
    lines = [line_at(text, match.start()) for match in re.finditer(r'"size"\s*:', text)]
    groups: dict[_Run, list[tuple[SizePoint, float | None, int]]] = {}
    for row, line in zip(rows, lines, strict=False):
        if not isinstance(row, dict):
            continue
        collective = _collective_name(row.get("name", row.get("collective")))
        size = _positive_number(row.get("size"))
        busbw = _positive_number(row.get("busBw", row.get("busBw_mean")))
        in_place = row.get("inPlace") == 1
        if collective is None or size is None or busbw is None or in_place == (collective == "all-to-all"):
            continue
        seconds = _positive_number(row.get("time", row.get("time_mean")))
        algbw = _positive_number(row.get("algBw", row.get("algBw_mean")))
        point = SizePoint(size, seconds / 1e6 if seconds else None, busbw * 1e9, line)
        counts = _whole_number(row.get("nodes")), _whole_number(row.get("ranks"))
        key = _Run(collective, *counts, str(row.get("type")), str(row.get("numCycle")))
        groups.setdefault(key, []).append((point, algbw, _whole_number(row.get("wrong")) or 0))
    if not groups:
        raise NotALogError("has no result of a collective with a size and a bus bandwidth")
    found = []
    for run, each in groups.items():
        rates = {point.size: algbw for point, algbw, _ in each if algbw is not None}
        wrong = sum(number for _, _, number in each)
        points = [point for point, _, _ in each]
        found.append(_series(run.collective, points, rates, ranks=run.ranks, nodes=run.nodes, wrong=wrong))
    return Benchmark(CVS, tuple(found))


# NVIDIA Cluster Readiness Engine: ``kubectl get bandwidthmeasurements -o json`` (NVIDIA/cluster-readiness-engine at
# 0326cc2a, ``api/v1alpha1/bandwidthmeasurement_types.go``: averages over the samples of a size, in GB/s, as text)

READINESS = "nvcre"


def is_readiness(head: str) -> bool:
    return '"busBW"' in head and '"sizeBytes"' in head


def read_readiness(text: str) -> Benchmark:
    """A series for each measurement. Raises `NotALogError` if there is none."""
    document = _json_document(text)
    items = document.get("items", [document]) if isinstance(document, dict) else None
    if not isinstance(items, list) or len(items) > MOST_TABLES:
        raise NotALogError(f"is no BandwidthMeasurement and no list of at most {MOST_TABLES}")
    lines = iter([line_at(text, match.start()) for match in re.finditer(r'"sizeBytes"\s*:', text)])
    found, unnamed = [], 0
    for item in items:
        spec, status = (item.get(key) if isinstance(item, dict) else None for key in ("spec", "status"))
        results = status.get("results") if isinstance(status, dict) else None
        collective = _collective_name(spec.get("testType")) if isinstance(spec, dict) else None
        points, rates = [], {}
        for row in results if isinstance(results, list) else ():
            line = next(lines, 0)
            size, busbw = (
                _positive_number(row.get(key)) if isinstance(row, dict) else None for key in ("sizeBytes", "busBW")
            )
            if size is None or busbw is None:
                continue
            points.append(SizePoint(size, None, busbw * 1e9, line))
            if (algbw := _positive_number(row.get("algBW"))) is not None:
                rates[size] = algbw
        if points and collective is not None:
            found.append(_series(collective, points, rates))
        unnamed += bool(points) and collective is None
    if not found:
        why = "names no collective in `spec.testType`" if unnamed else "has no result with a size and a bus bandwidth"
        raise NotALogError(why)
    remarks = ((f"{unnamed} measurements name no collective and are left out", 1),) if unnamed else ()
    return Benchmark(READINESS, tuple(found), remarks=remarks)
