"""`ib_write_bw`, `ib_read_bw` and `ib_send_bw`: one link of an RDMA network.

perftest prints ``MB/sec`` for 2²⁰ bytes and ``Gb/sec`` for 10⁹ bits (perftest, perftest_resources.c).
"""

from __future__ import annotations

import re

from clusterspec.logs.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.nccl_tests import MOST_ROWS, NotALogError

TOOL = "perftest"
_HEAD = re.compile(r"#bytes\s+#iterations\s+BW peak\[(MB/sec|MiB/sec|Gb/sec)\]\s+BW average\[(MB/sec|MiB/sec|Gb/sec)\]")
_ROW = re.compile(r"\s*([0-9]{1,12})\s+([0-9]{1,12})\s+([0-9.]{1,16})\s+([0-9.]{1,16})(?:\s+[0-9.]+)?\s*$")
_UNITS = {"MB/sec": 2.0**20, "MiB/sec": 2.0**20, "Gb/sec": 1e9 / 8}


def matches(head: str) -> bool:
    return bool(_HEAD.search(head))


def read(text: str) -> Benchmark:
    """The average by size, per direction. Raises `NotALogError` if there is no row."""
    unit, points = 0.0, list[SizePoint]()
    both = bool(re.search(r"Bidirectional BW Test", text))
    for number, line in enumerate(text.split("\n"), 1):
        if match := _HEAD.search(line):
            unit = _UNITS[match[2]]
        elif unit and (match := _ROW.match(line)):
            if len(points) >= MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            points.append(
                SizePoint(float(match[1]), None, _number(match[4], number) * unit / (2 if both else 1), number)
            )
    if not points:
        raise NotALogError("there is no row of bytes, iterations and bandwidths as perftest prints them")
    remarks = [("one NIC between two hosts: a node may have more", points[0].line)]
    if both:
        remarks.append(("the figure sums both directions; half of it is used", points[0].line))
    return Benchmark(TOOL, (Series("send-recv", 2, 2, tuple(points)),), remarks=tuple(remarks))


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise NotALogError(f"{text!r} is not a bandwidth", line) from None
