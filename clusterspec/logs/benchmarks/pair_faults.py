"""What the matrices of p2pBandwidthLatencyTest and nvbandwidth say of faults: peer access that is slower than copies
through the host, copies that take milliseconds, and an accelerator whose pairs are slower than all others.

The program prints each matrix once with peer access off and once with it on (NVIDIA/cuda-samples,
`p2pBandwidthLatencyTest.cu`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.text_lines import lines_of
from clusterspec.records import NamedTuple
from clusterspec.standard import median

_TITLE = re.compile(
    r"\b(?P<kind>(?:Uni|Bi)directional )?P2P=(?P<on>En|Dis)abled (?P<what>Bandwidth|Latency)[^\n]{0,60}Matrix"
    r"|memcpy (?:CE|SM) GPU\(row\) (?:<-|->|<->) GPU\(column\) .{0,80}?bandwidth"
)
_CELL = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?|N/A")
MOST_TITLES, MOST_ROWS = 64, 600
SLOWER = 0.7
"""Share of the bandwidth without peer access below which peer access is at fault: direct copies are the faster ones."""
STALLED = 1_000.0
"""Microseconds above which a copy of a few bytes with peer access does not arrive: a sound copy takes 1 to 30; a copy
that the IOMMU translates, or that access control redirects to nowhere, takes 49,000 and more (NVIDIA/nccl issue 1285).
"""
APART = 0.6
"""Share of the median pair: an accelerator is called slower if all its pairs are below it."""
FEWEST = 4
"""Smallest number of accelerators at which one is compared with the others."""


OF_PAIRS = frozenset({"slow-peer-access", "stalled-peer-access", "slow-device", "slowest-pair"})
"""The names of what matrices state."""


class Matrix(NamedTuple):
    """A matrix: its title in parts, its line, and its rows, with None for missing figures."""

    kind: str
    enabled: bool
    latency: bool
    line: int
    rows: tuple[tuple[float | None, ...], ...]

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """The figures of different accelerators, with their numbers."""
        for row, values in enumerate(self.rows):
            yield from (
                (row, column, value) for column, value in enumerate(values) if value is not None and row != column
            )


def matrices_of(text: str) -> Iterator[Matrix]:
    """The matrices of a text, those that are cut left out."""
    if "P2P=" not in text and "GPU(column)" not in text:
        return
    lines = list(lines_of(text))
    titles = ((number, match) for number, line in enumerate(lines, 1) if (match := _TITLE.search(line[:400])))
    for number, match in islice(titles, MOST_TITLES):
        rows = tuple(_rows_below(lines[number : number + MOST_ROWS]))
        if rows and all(len(row) == len(rows) for row in rows):
            yield Matrix(match["kind"] or "", match["on"] != "Dis", match["what"] == "Latency", number, rows)


def _rows_below(lines: list[str]) -> Iterator[tuple[float | None, ...]]:
    """The rows below a title: the number of an accelerator and a figure for each one."""
    count = -1  # the heading
    for line in lines:
        words = line.replace("D\\D", " ").split()
        if count < 0 and words:
            count = 0
        elif not words or words[0] != str(count) or not all(map(_CELL.fullmatch, words)):
            return
        else:
            yield tuple(None if word == "N/A" else float(word) for word in words[1:])
            count += 1


def pair_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The faults that matrices of a text show, each with the figures of the worst pair and the line of its matrix."""
    found = tuple(matrices_of(text))
    yield from _slower_with_access(found)
    yield from _stalled_copies(found)
    for matrix in found:
        if matrix.enabled and not matrix.latency and (slow := _slow_accelerator(matrix)):
            yield "slow-device", slow, matrix.line
            break
    for matrix in found:
        if matrix.enabled and not matrix.latency and not matrix.kind.startswith("Bi"):
            row, column, rate = min(matrix.pairs(), key=lambda pair: pair[2], default=(0, 0, 0.0))
            if rate:
                yield "slowest-pair", f"{rate:g} GB/s between accelerators {row} and {column}", matrix.line
            break


def _slower_with_access(found: tuple[Matrix, ...]) -> Iterator[tuple[str, str, int]]:
    off = {each.kind: each for each in found if not each.enabled and not each.latency}
    for on in found:
        other = off.get(on.kind)
        if on.latency or not on.enabled or other is None or len(other.rows) != len(on.rows):
            continue
        both = [(rate, other.rows[row][column], row, column) for row, column, rate in on.pairs()]
        worse = [(rate / before, rate, before, row, column) for rate, before, row, column in both if before]
        share, rate, before, row, column = min(worse, default=(1.0, 0.0, 0.0, 0, 0))
        if share < SLOWER:
            shown = f"{rate:g} GB/s with peer access between accelerators {row} and {column}, {before:g} GB/s without"
            yield "slow-peer-access", shown, on.line
            return


def _stalled_copies(found: tuple[Matrix, ...]) -> Iterator[tuple[str, str, int]]:
    for matrix in found:
        if not matrix.latency or not matrix.enabled:
            continue
        row, column, time = max(matrix.pairs(), key=lambda pair: pair[2], default=(0, 0, 0.0))
        if time > STALLED:
            shown = f"{time:g} µs with peer access between accelerators {row} and {column}"
            yield "stalled-peer-access", shown, matrix.line
            return


def _slow_accelerator(matrix: Matrix) -> str:
    """The only accelerator whose pairs are all slower than the median of the other pairs; empty if there is none or
    more than one.

    >>> rows = tuple(tuple(20.0 if 3 in (a, b) else 200.0 for b in range(4)) for a in range(4))
    >>> _slow_accelerator(Matrix("", True, False, 1, rows))
    'all pairs of accelerator 3 reach at most 20 GB/s; the median of the other pairs is 200'
    """
    slow = []
    for device in range(len(matrix.rows)) if len(matrix.rows) >= FEWEST else ():
        own = [rate for row, column, rate in matrix.pairs() if device in (row, column)]
        others = [rate for row, column, rate in matrix.pairs() if device not in (row, column)]
        if own and others and max(own) < APART * median(others):
            shown = f"all pairs of accelerator {device} reach at most {max(own):g} GB/s"
            slow.append(f"{shown}; the median of the other pairs is {median(others):g}")
    return slow[0] if len(slow) == 1 else ""
