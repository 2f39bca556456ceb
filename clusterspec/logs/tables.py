"""Markdown tables of bus bandwidth by message size, as printed by `all_reduce_bench.py` and vendor pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.nccl_tests import MOST_ROWS, NotALogError
from clusterspec.logs.sizes import size_of

TOOL = "bandwidth table"
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*(?:GBps|GB/s)?")
_SIZE_HEAD = re.compile(r"payload|message size|^size", re.IGNORECASE)
_COLLECTIVES = (
    (re.compile(r"all_?\s?reduce", re.IGNORECASE), "all-reduce"),
    (re.compile(r"all_?\s?gather", re.IGNORECASE), "all-gather"),
    (re.compile(r"reduce_?\s?scatter", re.IGNORECASE), "reduce-scatter"),
    (re.compile(r"all_?\s?to_?\s?all", re.IGNORECASE), "all-to-all"),
)


def matches(head: str) -> bool:
    return any(_columns(_cells(line)) for line in head.split("\n") if line.lstrip().startswith("|"))


def read(text: str) -> Benchmark:
    """The series of the first table. Raises `NotALogError` if there is none."""
    points = tuple(_points(text))
    if not points:
        raise NotALogError("there is no table of bandwidths by message size")
    found = {name for pattern, name in _COLLECTIVES if pattern.search(text)}
    collective = found.pop() if len(found) == 1 else None
    ranks = _ranks(text)
    algorithm = "nvls" if re.search(r"\bNVLS\b", text) else None
    return Benchmark(TOOL, (Series(collective, ranks, None, points, algorithm),))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _columns(cells: list[str]) -> tuple[int, int] | None:
    """The columns of size and bus bandwidth; None if the cells are not a heading."""
    size = next((at for at, cell in enumerate(cells) if _SIZE_HEAD.search(cell)), None)
    if size is None or len(cells) < 2:
        return None
    bus = next((at for at, cell in enumerate(cells) if "busbw" in cell.lower()), None)
    if bus is None:
        bus = next((at for at, cell in enumerate(cells) if "GB/s" in cell and at != size), None)
    return None if bus is None else (size, bus)


def _points(text: str) -> Iterator[SizePoint]:
    columns, rows = None, 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith("|") or len(line) > 2_000:
            continue
        cells = _cells(line)
        if columns is None:
            columns = _columns(cells)
        elif len(cells) > max(columns):
            size, rate = size_of(cells[columns[0]]), _RATE.fullmatch(cells[columns[1]])
            rows += bool(size and rate)
            if rows > MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            if size and rate:
                yield SizePoint(size, None, float(rate[1]) * 1e9, number)


def _ranks(text: str) -> int | None:
    match = re.search(r"--nproc[_-]per[_-]node[= ]([0-9]{1,5})", text)
    nodes = re.search(r"--nnodes[= ]([0-9]{1,6})", text)
    return int(match[1]) * (int(nodes[1]) if nodes else 1) if match else None
