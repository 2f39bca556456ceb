"""`p2pBandwidthLatencyTest` and `nvbandwidth`: bandwidth between pairs of accelerators of one node."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.benchmark import Benchmark, PairTable
from clusterspec.logs.nccl_tests import NotALogError

TOOL = "pairs of accelerators"
_TITLE = re.compile(
    r"(?P<p2p>(?:Uni|Bi)directional P2P=(?:En|Dis)abled Bandwidth[^\n]{0,80}?Matrix \((?P<unit>[GM]B/s)\))"
    r"|(?P<nvb>memcpy (?:CE|SM) GPU\(row\) (?:<-|->|<->) GPU\(column\) .{0,80}?bandwidth \((?P<unit2>[GM]B/s)\))"
)
MOST_TABLES = 100
_RUNNING = re.compile(r"Running (\w+)\.?")
_SUM = re.compile(r"SUM (\w+) ([0-9]{1,9}(?:\.[0-9]{1,6})?)")
_NUMBER = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")


def matches(head: str) -> bool:
    return (
        bool(re.search(r"P2P=(En|Dis)abled Bandwidth", head)) or "GPU(column)" in head or "nvbandwidth Version" in head
    )


def read(text: str) -> Benchmark:
    """The tables of a log with peer access on. Raises `NotALogError` if there are none."""
    tables: list[PairTable] = []
    lines = text.split("\n")
    running = ""
    for number, line in enumerate(lines, 1):
        if match := _RUNNING.search(line[:200]):
            running = match[1]
        if (match := _TITLE.search(line[:400])) and "Disabled" not in line:
            unit = 1e6 if (match["unit"] or match["unit2"]) == "MB/s" else 1e9
            both = "Bidirectional" in line or "bidirectional" in running or "<->" in line
            if len(tables) >= MOST_TABLES:
                raise NotALogError(f"more than {MOST_TABLES} tables", number)
            name = "bidirectional" if both else "unidirectional"
            tables.append(_table(lines, number, running or f"p2p {name}", unit, both))
    hosts = tuple(_hosts(lines))
    if not tables and not hosts:
        raise NotALogError("there is no matrix of bandwidths between accelerators with peer access on")
    return Benchmark(TOOL, pairs=tuple(tables), remarks=hosts)


def _hosts(lines: list[str]) -> Iterator[tuple[str, int]]:
    """The bandwidths between host and accelerators of nvbandwidth, as remarks with their line."""
    running = ""
    for number, line in enumerate(lines, 1):
        if match := _RUNNING.search(line[:200]):
            running = match[1]
        if (match := _SUM.match(line[:200])) and "host" in running and match[1] == running:
            yield f"{running}: {match[2]} GB/s over all accelerators, between host and accelerators", number


def _table(lines: list[str], start: int, name: str, unit: float, both_ways: bool) -> PairTable:
    """The matrix whose title is on line ``start``. Raises `NotALogError` if it is truncated."""
    header: list[str] = []
    values: list[float] = []
    rows = 0
    for number, line in enumerate(lines[start : start + 600], start + 1):
        words = line.replace("D\\D", " ").split() if len(line) < 8_000 else []
        if not words:
            if header:
                break
            continue
        if not header:
            header = words
            continue
        if not words[0].isdecimal() or rows >= len(header):
            break
        if len(words) != len(header) + 1:
            raise NotALogError(
                f"a row of {len(words) - 1} values under {len(header)} accelerators: it is truncated", number
            )
        pairs = (word for column, word in enumerate(words[1:]) if column != rows)
        values += [float(word) * unit for word in pairs if _NUMBER.fullmatch(word)]
        rows += 1
    if rows != len(header) or not values:
        raise NotALogError(f"a matrix of {rows} rows and {len(header)} columns: it is truncated", start)
    return PairTable(name, rows, tuple(values), both_ways, start)
