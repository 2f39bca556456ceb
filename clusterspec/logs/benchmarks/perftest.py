"""Reader of perftest (`ib_write_bw`, `ib_read_bw`, `ib_send_bw`): the bandwidth of one link of an RDMA network.

Output: linux-rdma/perftest, src/perftest_resources.h (``RESULT_FMT``, ``RESULT_FMT_G``). Server and client of one test
print the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.logs.benchmarks.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, MOST_TABLES, NotALogError
from clusterspec.logs.text_lines import lines_of
from clusterspec.records import dataclass, field
from clusterspec.standard import DECIMAL

PERFTEST_TOOL = "perftest"
IN_FLIGHT = 128
"""Messages that a test of bandwidth posts before it waits for one (``DEF_TX_BW``, its option ``-t``)."""
_HEAD = re.compile(r"#bytes\s+#iterations\s+BW peak\[(MB/sec|MiB/sec|Gb/sec)\]\s+BW average\[(MB/sec|MiB/sec|Gb/sec)\]")
LATENCY_HEAD = re.compile(r"#bytes\s+#iterations\s+(t_min\[usec\].*|t_avg\[usec\].*)")
"""The heading of a test of latencies, whose rows are no bandwidths."""
_ROW = re.compile(r"\s*([0-9]{1,12})\s+([0-9]{1,12})\s+" + DECIMAL + r"\s+" + DECIMAL + r"(?:\s+[0-9.]+)*\s*$")
_OWN_HOST = re.compile(r"^[^\n]{0,200}\bib_\w{1,20}_bw\b[^\n]{0,400}\s(?:localhost|127\.0\.0\.1|::1)\b", re.MULTILINE)
_SIDE = re.compile(r"\b(?:local|remote) address:")
_ADDRESS = re.compile(r"(?<=GID: )[0-9a-fA-F:. ]{2,80}|(?<=LID )0x0*[1-9a-fA-F][0-9a-fA-F]{0,5}")
_UNITS = {"MB/sec": 2.0**20, "MiB/sec": 2.0**20, "Gb/sec": 1e9 / 8}


@dataclass(frozen=True)
class _Test:
    """The rows of one test as printed, each with its line; ``unit`` is what one stands for, in B/s."""

    unit: float
    rows: list[tuple[int, str, re.Match[str]]] = field(default_factory=list)

    @property
    def printed(self) -> list[list[str]]:
        return [text.split() for _, text, _ in self.rows]


def is_perftest(head: str) -> bool:
    return bool(_HEAD.search(head))


def read_perftest(text: str) -> Benchmark:
    """The average by size, per direction, of each test. Raises `NotALogError` if there is no row."""
    tests = _separate_tests(lines_of(text))
    lines, after = text.split("\n"), 0
    series, remarks = list[Series](), list[tuple[str, int]]()
    for test in tests:
        end = test.rows[-1][0]
        series.append(_series(test, "\n".join(lines[after:end]), remarks))
        after = end
    return Benchmark(PERFTEST_TOOL, tuple(series), remarks=tuple(remarks))


def _separate_tests(lines: Iterable[str]) -> list[_Test]:
    """The tests of a file, those that both sides print once. Raises `NotALogError` without a row, or for too many."""
    found: dict[tuple[tuple[str, ...], ...], _Test] = {}
    for test in _printed_tests(lines):
        found.setdefault(tuple(map(tuple, test.printed)), test)
        if len(found) > MOST_TABLES:
            raise NotALogError(f"more than {MOST_TABLES} tests", test.rows[0][0])
    if not found:
        raise NotALogError("there is no row of bytes, iterations and bandwidths as perftest prints them")
    return list(found.values())


def _printed_tests(lines: Iterable[str]) -> Iterator[_Test]:
    """The tables with rows; two sides that print into one file at once have one table."""
    test, rows = None, 0
    for number, line in enumerate(lines, 1):
        if match := _HEAD.search(line):
            if test is None or test.rows:
                if test:
                    yield test
                test = _Test(_UNITS[match[2]])
        elif LATENCY_HEAD.search(line[:400]):
            if test and test.rows:
                yield test
            test = None
        elif test and (match := _ROW.match(line)):
            rows += 1
            if rows > MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            test.rows.append((number, line, match))
    if test and test.rows:
        yield test


def _series(test: _Test, text: str, remarks: list[tuple[str, int]]) -> Series:
    """The bandwidths of a test per direction; a port that sends to itself has no collective."""
    both, first = "Bidirectional BW Test" in text, test.rows[0][0]
    points = tuple(
        SizePoint(float(row[1]), None, float(row[4]) * test.unit / (2 if both else 1), number)
        for number, _, row in test.rows
    )
    loopback = _is_loopback(text)
    if not loopback:
        remarks.append(("one NIC between two hosts: a node may have more", first))
    if both:
        remarks.append(("the figure sums both directions; half of it is used", first))
    if loopback:
        remarks.append(("the port sends to itself: this is no bandwidth between two nodes", first))
    if loopback:
        return Series(None, 2, None, points)
    return Series("send-recv", 2, 2, points, in_flight=IN_FLIGHT)


def _is_loopback(text: str) -> bool:
    """Whether server and client are one port: its own host in the command, or equal addresses of both sides."""
    if _OWN_HOST.search(text):
        return True
    sides = [_ADDRESS.search(text, match.end()) for match in _SIDE.finditer(text)]
    identifiers = [re.sub(r"\s", "", side[0]) for side in sides if side]
    return len(identifiers) >= 2 and len(set(identifiers)) == 1
