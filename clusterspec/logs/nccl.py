"""nccl-tests and rccl-tests: the table with what `NCCL_DEBUG` lines around it say."""

from __future__ import annotations

import re

from clusterspec.logs.benchmark import Benchmark, Point, Series
from clusterspec.logs.evidence import Evidence, evidence, group
from clusterspec.logs.inference import collective_of, ranks_of
from clusterspec.logs.nccl_tests import Log, NoLog, read_log

TOOL = "nccl-tests"
_ROW = re.compile(
    r"^.{0,160}?(?:^|\s)[0-9][0-9_]*\s+[0-9]+\s+(?:int8|uint8|half|float|double|bfloat16|u?int(?:32|64)|f?p?8\S*)\s+\S+\s+-?[0-9]+"
    r"\s+[0-9.]+\s+[0-9.]+\s+[0-9.]+",
    re.MULTILINE,
)
_ALGORITHMS = {"ring": "ring", "tree": "tree", "nvls": "nvls", "nvlstree": "nvls-tree"}


def suits(head: str) -> bool:
    """Whether a text looks like the output of nccl-tests."""
    titled = re.search(r"^.{0,80}\bsize\b.*\btime\b.*\balgbw\b.*\bbusbw\b", head, re.MULTILINE)
    return bool(titled and "size(B)" not in head) or bool(_ROW.search(head)) or "# nThread" in head


def read(text: str) -> Benchmark:
    """The series of a log. Raises `NoLog` where there is none, or where its rows contradict themselves."""
    log, said = read_log(text), evidence(text)
    collective = collective_of(log)
    ranks = log.ranks or group(said)[0] or ranks_of(log, collective)
    nodes = log.nodes or (group(said)[1] if group(said)[0] == ranks else None)
    points = _points(log)
    if not points:
        raise NoLog("every row has a size or a time of zero")
    series = Series(collective, ranks, nodes, points, _algorithm(said), log.wrong)
    return Benchmark(TOOL, (series,), evidence=said)


def _points(log: Log) -> tuple[Point, ...]:
    return tuple(
        Point(line.size, line.seconds, line.busbw, line.number) for line in log.lines if line.size and line.seconds
    )


def _algorithm(said: tuple[Evidence, ...]) -> str | None:
    """The algorithm that the environment forces; None where NCCL chose, or had several to choose from."""
    forced = {each.said.split()[-1].lower() for each in said if each.name == "environment" and "_ALGO " in each.said}
    return _ALGORITHMS.get(forced.pop()) if len(forced) == 1 else None
