"""nccl-tests and rccl-tests: the table of results and the `NCCL_DEBUG` lines around it."""

from __future__ import annotations

import re

from clusterspec.logs.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.evidence import Evidence, evidence, group
from clusterspec.logs.inference import collective_of, ranks_of
from clusterspec.logs.nccl_tests import NcclLog, NotALogError, read_log

TOOL = "nccl-tests"
_ROW = re.compile(
    r"^.{0,160}?(?:^|\s)[0-9][0-9_]*\s+[0-9]+\s+(?:int8|uint8|half|float|double|bfloat16|u?int(?:32|64)|f?p?8\S*)\s+\S+\s+-?[0-9]+"
    r"\s+[0-9.]+\s+[0-9.]+\s+[0-9.]+",
    re.MULTILINE,
)
_ALGORITHMS = {"ring": "ring", "tree": "tree", "nvls": "nvls", "nvlstree": "nvls-tree"}


def matches(head: str) -> bool:
    """Whether a text looks like the output of nccl-tests."""
    titled = re.search(r"^(?>.{0,80}?\bsize\b)(?>.*?\btime\b)(?>.*?\balgbw\b).*?\bbusbw\b", head, re.MULTILINE)
    return bool(titled and "size(B)" not in head) or bool(_ROW.search(head)) or "# nThread" in head


def read(text: str) -> Benchmark:
    """The series of a log. Raises `NotALogError` if there is none, or where its rows contradict themselves."""
    log, found = read_log(text), evidence(text)
    collective = collective_of(log)
    ranks = log.ranks or group(found)[0] or ranks_of(log, collective)
    nodes = log.nodes or (group(found)[1] if group(found)[0] == ranks else None)
    points = _points(log)
    if not points:
        raise NotALogError("every row has a size or a time of zero")
    series = Series(collective, ranks, nodes, points, _algorithm(found), log.wrong)
    return Benchmark(TOOL, (series,), evidence=found)


def _points(log: NcclLog) -> tuple[SizePoint, ...]:
    return tuple(
        SizePoint(line.size, line.seconds, line.busbw, line.number) for line in log.lines if line.size and line.seconds
    )


def _algorithm(evidence: tuple[Evidence, ...]) -> str | None:
    """The algorithm forced by the environment; None if NCCL chose it."""
    forced = {
        each.text.split()[-1].lower() for each in evidence if each.name == "environment" and "_ALGO " in each.text
    }
    return _ALGORITHMS.get(forced.pop()) if len(forced) == 1 else None
