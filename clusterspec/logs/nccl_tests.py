"""Reads what nccl-tests and rccl-tests print, wherever it was cut out of.

A log may carry prefixes of launchers (``0:``, ``[1,0]<stdout>:``), lack its head, or have separators in its
numbers. What cannot be derived from it stays unknown. Source of columns and units: nccl-tests,
src/common.cu (``size`` in bytes, ``time`` in microseconds, ``algbw`` and ``busbw`` in 10⁹ bytes per second).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isclose

from clusterspec.records import dataclass

LARGEST = 4 * 1024 * 1024
"""Bytes of the largest log read; a sweep of thirty sizes on a thousand ranks has some 100 kB."""
MOST_ROWS = 10_000
DISAGREES = 0.02
"""By how much a row may contradict itself beyond the rounding of what is printed."""
PRINTED = 0.005e9
"""B/s by which a printed bandwidth may be rounded: two decimals of GB/s."""

_COLUMNS = ("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "wrong")
_NEEDED = {"size", "time", "algbw", "busbw"}
_PREFIX = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]\S{1,40}\s+)?"  # a time stamp
    r"(?:\[[^\]\s]{1,40}\](?:<std(?:out|err)>)?:?|[\w.-]{1,64}:(?=\s))?\s*#?\s*"  # whose line it is, and a comment sign
)
_WHOLE = re.compile(r"[0-9][0-9_]{0,20}")
_DECIMAL = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_RANK = re.compile(r"\bRank +([0-9]{1,8}) .{0,40}?\bPid +[0-9]+ on +(\S{1,255}) ")
_TEST = re.compile(r"\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|sendrecv)_perf\b")
_NAMES = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "sendrecv": "send-recv",
}


class NoLog(Exception):
    """Why a text cannot be taken for a log, in a few words; ``line`` counts from 1, 0 for the whole."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


@dataclass(frozen=True, slots=True)
class Line:
    """One printed size, out of place: bytes, seconds, B/s; the other columns as printed, empty where absent."""

    number: int
    size: float
    seconds: float
    algbw: float
    busbw: float
    count: str = ""
    type: str = ""
    redop: str = ""
    root: str = ""
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """What a log says by itself: its lines, and of the group what its head tells, None where it does not.

    ``tests`` are the collectives that it names, ``header`` the headings of its table up to busbw, ``wrong`` how many
    values came out wrong.
    """

    lines: tuple[Line, ...]
    tests: tuple[str, ...]
    header: tuple[str, ...]
    ranks: int | None
    nodes: int | None
    wrong: int


def read_log(text: str) -> Log:
    """The log in a text. Raises `NoLog` where there is none, or where its lines contradict themselves."""
    lines = tuple(_lines(text))
    if not lines:
        raise NoLog("there is no line of sizes, times, algbw and busbw as nccl-tests prints them")
    for line in lines:
        _consistent(line)
    ranks, nodes = _group(text)
    tests = tuple(dict.fromkeys(_NAMES[found] for found in _TEST.findall(text)))
    return Log(lines, tests, _header(text), ranks, nodes, sum(_wrong(line) for line in lines))


def _header(text: str) -> tuple[str, ...]:
    """The headings of the table up to busbw; empty where they are cut off."""
    for raw in text.splitlines():
        names = tuple(token.lstrip("#").lower() for token in raw.split()) if "busbw" in raw and len(raw) < 2_000 else ()
        if headings := _headings(names):
            return headings
    return ()


def _headings(names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns from size to busbw; empty where a line is no heading."""
    if not set(names) >= _NEEDED:
        return ()
    columns = names[names.index("size") : names.index("busbw") + 1]
    return columns if set(columns) >= _NEEDED else ()


def _lines(text: str) -> Iterator[Line]:
    """The rows of the table, whose header names the columns where it is there."""
    columns: tuple[str, ...] = _COLUMNS
    whole, rows = 0, 0
    for number, raw in enumerate(text.splitlines(), 1):
        if len(raw) >= 2_000 or "NCCL INFO" in raw:
            continue
        tokens = raw[_PREFIX.match(raw).end() :].split()  # type: ignore[union-attr]
        names = tuple(token.lstrip("#").lower() for token in tokens)
        if headings := _headings(names):
            columns = headings
            whole = len(names) - names.index("size")
        elif line := _row(number, tokens, columns, whole):
            rows += 1
            if rows > MOST_ROWS:
                raise NoLog(f"more than {MOST_ROWS:,} rows", number)
            yield line


def _row(number: int, tokens: list[str], columns: tuple[str, ...], whole: int) -> Line | None:
    """One row; an all-to-all of older releases leaves the operation blank under its heading."""
    tokens = tokens[next((at for at, token in enumerate(tokens[:2]) if _WHOLE.fullmatch(token)), 0) :]  # a host first
    if len(tokens) == whole - 1 and "redop" in columns:
        columns = tuple(name for name in columns if name != "redop")
    last = columns.index("busbw")
    if len(tokens) <= last:
        return None
    told = dict(zip(columns[: last + 1], tokens, strict=False))
    figures = (told["time"], told["algbw"], told["busbw"])
    if not _WHOLE.fullmatch(told["size"]) or not all(_DECIMAL.fullmatch(figure) for figure in figures):
        return None
    return Line(
        number,
        float(told["size"].replace("_", "")),
        float(told["time"]) * 1e-6,
        float(told["algbw"]) * 1e9,
        float(told["busbw"]) * 1e9,
        count=told.get("count", ""),
        type=told.get("type", ""),
        redop=told.get("redop", ""),
        root=told.get("root", ""),
        wrong=tuple(tokens[at] for at in (last + 1, last + 5) if at < len(tokens)),
    )


def _consistent(line: Line) -> None:
    """Size over time is algbw."""
    if line.size > 0 and line.seconds == 0:
        raise NoLog("a time of zero", line.number)
    rate = line.size / line.seconds if line.seconds else 0.0
    if not isclose(rate, line.algbw, rel_tol=DISAGREES, abs_tol=PRINTED * 1.01):
        said = f"{line.size:,.0f} B in {line.seconds * 1e6:g} us are {rate / 1e9:.4g} GB/s"
        raise NoLog(f"{said}, and algbw says {line.algbw / 1e9:g}", line.number)


def _wrong(line: Line) -> int:
    """Values that the check of the results found wrong; ``N/A`` where nothing was checked."""
    return sum(int(token) for token in line.wrong if token.isdecimal() and len(token) < 16)


def _group(text: str) -> tuple[int | None, int | None]:
    """Ranks and nodes, from the list of devices at the head of a log, which may be cut off."""
    found = [(int(match[1]), match[2]) for match in _RANK.finditer(text)]
    if not found:
        return None, None
    ranks = max(rank for rank, _ in found) + 1
    whole = len({rank for rank, _ in found}) == ranks
    return ranks, len({host for _, host in found}) if whole else None
