"""Result tables of nccl-tests and rccl-tests: their rows, and the statements in the head of a log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby, islice, pairwise
from math import isclose

from clusterspec.records import dataclass, replace
from clusterspec.standard import pattern

LARGEST = 4 * 1024 * 1024
"""Bytes of the largest log read; a sweep of thirty sizes on a thousand ranks has some 100 kB."""
MOST_ROWS = 10_000
MOST_TABLES = 100
SHORTEST = 7
"""Characters of the shortest row: a size, a time and two bandwidths of one digit each."""
RATE_TOLERANCE = 0.02
"""Relative difference up to which a printed bandwidth follows from the size and the time in its row, in addition to the
rounding of the bandwidth: times and ratios are rounded, too.
"""
PRINTED = 0.005e9
"""B/s by which a printed bandwidth may be rounded: two decimals of GB/s."""

_COLUMNS = ("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "wrong")
_NEEDED = {"size", "time", "algbw", "busbw"}
_PREFIX = pattern(
    r"^\s*(?:\d{4}-\d\d-\d\d[T ]\S{1,40}\s+)?"  # a time stamp
    r"(?:\[[^\]\s]{1,40}\](?:<std(?:out|err)>)?:?|[\w.-]{1,64}:(?=\s))?\s*#?\s*"  # the rank prefix and a comment sign
)
_WHOLE = pattern(r"[0-9][0-9_]{0,20}")
_DECIMAL = pattern(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_RANK = pattern(
    r"\bRank +([0-9]{1,8}) .{0,40}?\bPid +[0-9]+ on +(\S{1,255}) "
    r"(?: *device +[0-9]+ +\[([^\]\n]{1,40})\] ?([^\n]{0,80}))?"
)
_TEST = pattern(r"\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|sendrecv)_perf(?:_mpi)?\b")
_OTHERS = pattern(r"\b(reduce|gather|scatter|hypercube)_perf(?:_mpi)?\b")
"""Tests of nccl-tests that are no collective of a spec."""
NAMES = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "sendrecv": "send-recv",
}


class NotALogError(Exception):
    """Raised, with the reason, if a text is not a log; ``line`` counts from 1, 0 for the whole text."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


@dataclass(frozen=True)
class LogRow:
    """A row of out-of-place results: bytes, seconds, B/s; other columns as printed, empty if absent."""

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
    rounding: float = PRINTED
    """B/s by which the bandwidths may be rounded, from their printed decimals."""


@dataclass(frozen=True)
class NcclLog:
    """A parsed log: its rows, and the ranks, nodes and device stated in its head, None if it does not state them.

    ``tests`` are the collectives that it names, ``header`` the column headings up to busbw. ``wrong`` is the number of
    wrong values, ``buses`` has the bus addresses of the accelerators. ``tables`` has the log of each table where a file
    holds several. ``jobs`` copies of the benchmark ran side by side, each alone.
    """

    lines: tuple[LogRow, ...]
    tests: tuple[str, ...]
    header: tuple[str, ...]
    ranks: int | None
    nodes: int | None
    wrong: int
    device: str | None = None
    buses: frozenset[str] = frozenset()
    tables: tuple[NcclLog, ...] = ()
    jobs: int = 1

    @property
    def unchecked(self) -> bool:
        """Whether no row has a number of wrong values: nccl-tests prints ``N/A`` without a check (``-c 0``)."""
        return all(line.wrong and not any(map(str.isdecimal, line.wrong)) for line in self.lines)


def read_log(text: str) -> NcclLog:
    """The log in a text. Raises `NotALogError` if there is none, or a row contradicts itself."""
    tables = log_tables(text)
    whole = log_of_rows(text, tuple(row for _, rows, _ in tables for row in rows), 0)
    return replace(whole, tables=tuple(log_of_rows(*table) for table in tables)) if len(tables) > 1 else whole


_OUT_OF_BOUNDS = pattern(r"# Out of bounds values\s*:\s*([0-9]{1,15}) FAILED")


def log_of_rows(text: str, lines: tuple[LogRow, ...], start: int) -> NcclLog:
    """The log with these rows, from a text that begins after ``start`` lines of its file. Text after the rows belongs
    to another run.

    Raises `NotALogError` if there is no row, or a row contradicts itself.
    """
    if not lines:
        raise NotALogError("there is no row of sizes, times, algbw and busbw as nccl-tests prints them")
    for line in lines:
        _check_consistency(line)
    head = "\n".join(text.splitlines()[: lines[-1].number - start])
    ranks, nodes = ranks_and_nodes(head)
    device, buses = _device_and_buses(head)
    tests = _named_tests(head) or _named_tests(_concluded_test(text)) or _named_tests(text)
    failed = max((int(count) for count in _OUT_OF_BOUNDS.findall(text)), default=0)
    wrong = max(sum(_wrong_value_count(line) for line in lines), failed)
    jobs = max(separate_jobs(head), _listed_side_by_side(head, lines))
    if ranks is None and _rows_of_one_rank(lines):
        ranks, nodes, jobs = 1, 1, max(jobs, _printed_side_by_side(lines))
    return NcclLog(
        lines, tests, _table_columns(text), ranks, nodes if jobs == 1 else 1, wrong, device, buses, jobs=jobs
    )


SMALLEST_FACTOR = 0.5
"""The smallest factor of bus bandwidth to algorithm bandwidth of two ranks or more: (n - 1) / n of 2 (nccl-tests,
doc/PERFORMANCE.md). For one rank, which sends nothing, the factor of a collective is 0.
"""


def _is_of_one_rank(line: LogRow) -> bool:
    """Whether a row has a bus bandwidth of 0 and an algorithm bandwidth that two ranks would print above 0."""
    return line.busbw == 0 and SMALLEST_FACTOR * line.algbw > 2 * line.rounding


def _rows_of_one_rank(lines: tuple[LogRow, ...]) -> bool:
    """Whether a table is of one rank, or of jobs of one rank each (NVIDIA/nccl-tests issue 294)."""
    return any(map(_is_of_one_rank, lines)) and all(line.busbw == 0 for line in lines)


def _printed_side_by_side(lines: tuple[LogRow, ...]) -> int:
    """The number of copies of a benchmark whose rows are interleaved: the most consecutive rows of one size.

    A sweep of one size alone repeats it too (``-b`` is ``-e``, with cycles): it counts as one job.
    """
    runs = [sum(1 for _ in rows) for _, rows in groupby(lines, key=lambda line: line.size)]
    return max(runs) if len(runs) > 1 else 1


def _listed_side_by_side(head: str, lines: tuple[LogRow, ...]) -> int:
    """The copies of a benchmark of two ranks or more that list every rank equally often, and whose rows stand among
    each other; 1 where lists repeat without rows among each other, as of a run that was started anew.
    """
    listed = Counter(int(match[1]) for match in _RANK.finditer(head))
    copies = set(listed.values())
    if len(listed) > 1 and len(copies) == 1 and _printed_side_by_side(lines) == max(copies):
        return max(copies)
    return 1


_STARTED = pattern(r"^# Collective test starting: \w{1,30}$", re.MULTILINE)
"""nccl-tests since 2.17 names the test before its table, and again after it."""


_CONCLUDED = pattern(r"# Collective test concluded: (\w{1,30})")


def _concluded_test(text: str) -> str:
    """The name of the test that a text says has ended first; empty if it says none."""
    match = _CONCLUDED.search(text)
    return match[1] if match else ""


def _named_tests(text: str) -> tuple[str, ...]:
    """The tests that a text before a table names, or the test that started last according to it."""
    text = (_STARTED.findall(text) or [text])[-1]
    return tuple(dict.fromkeys([*(NAMES[found] for found in _TEST.findall(text)), *_OTHERS.findall(text)]))


def _table_columns(text: str) -> tuple[str, ...]:
    """The column headings up to busbw; empty if they are missing."""
    for raw in text.splitlines():
        names = tuple(token.lstrip("#").lower() for token in raw.split()) if "busbw" in raw and len(raw) < 2_000 else ()
        if headings := _heading_columns(names):
            return headings
    return ()


def _heading_columns(names: tuple[str, ...]) -> tuple[str, ...]:
    """The columns from size to busbw; empty if the line is not a heading."""
    if not set(names) >= _NEEDED:
        return ()
    columns = names[names.index("size") : names.index("busbw") + 1]
    return columns if set(columns) >= _NEEDED else ()


def _table_lines(text: str) -> Iterator[tuple[int, LogRow | None]]:
    """The numbers of headings (with None) and of rows, with columns from the heading if there is one."""
    columns: tuple[str, ...] = _COLUMNS
    whole, rows = 0, 0
    from clusterspec.logs.benchmarks.nccl_lines import lines_with_whole_rows  # a stated measurement reads no log

    for number, raw in lines_with_whole_rows(text):
        if not SHORTEST <= len(raw) < 2_000:
            continue
        tokens = raw[_PREFIX.match(raw).end() :].split()  # type: ignore[union-attr]
        names = tuple(token.lstrip("#").lower() for token in tokens)
        if headings := _heading_columns(names):
            columns = headings
            whole = len(names) - names.index("size")
            yield number, None
        elif line := _parsed_row(number, tokens, columns, whole):
            rows += 1
            if rows > MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            yield number, line


def _parsed_row(number: int, tokens: list[str], columns: tuple[str, ...], whole: int) -> LogRow | None:
    """A row, or None; older releases leave the operation of an all-to-all blank."""
    tokens = tokens[next((at for at, token in enumerate(tokens[:2]) if _WHOLE.fullmatch(token)), 0) :]  # a host first
    if len(tokens) == whole - 1 and "redop" in columns:
        columns = tuple(name for name in columns if name != "redop")
    last = columns.index("busbw")
    if len(tokens) <= last:
        return None
    fields = dict(zip(columns[: last + 1], tokens, strict=False))
    figures = (fields["time"], fields["algbw"], fields["busbw"])
    if not _WHOLE.fullmatch(fields["size"]) or not all(_DECIMAL.fullmatch(figure) for figure in figures):
        return None
    if _DECIMAL.fullmatch(fields.get("type", "")):  # a row of numbers that another program prints
        return None
    return LogRow(
        number,
        float(fields["size"].replace("_", "")),
        float(fields["time"]) * 1e-6,
        float(fields["algbw"]) * 1e9,
        float(fields["busbw"]) * 1e9,
        count=fields.get("count", ""),
        type=fields.get("type", ""),
        redop=fields.get("redop", ""),
        root=fields.get("root", ""),
        wrong=tuple(tokens[at] for at in (last + 1, last + 5) if at < len(tokens)),
        rounding=max(0.5e9 / 10 ** len(figure.partition(".")[2]) for figure in figures[1:]),
    )


def _check_consistency(line: LogRow) -> None:
    """Raises `NotALogError` unless algbw equals size over time."""
    if line.size > 0 and line.seconds == 0:
        raise NotALogError("a time of zero", line.number)
    rate = line.size / line.seconds if line.seconds else 0.0
    if not isclose(rate, line.algbw, rel_tol=RATE_TOLERANCE, abs_tol=PRINTED * 1.01):
        ratio = f"{line.size:,.0f} B in {line.seconds * 1e6:g} us are {rate / 1e9:.4g} GB/s"
        raise NotALogError(f"{ratio}, but algbw is {line.algbw / 1e9:g}", line.number)


def _check_factor(rows: tuple[LogRow, ...]) -> None:
    """Raises `NotALogError` unless busbw is the same multiple of algbw in all rows of a table.

    The multiple follows only from the collective and its ranks (NVIDIA/nccl-tests, doc/PERFORMANCE.md).
    """
    best = max(rows, key=lambda row: row.algbw, default=None)
    if best is None or best.algbw <= 0 or best.busbw <= 0:
        return
    factor = best.busbw / best.algbw
    for row in rows:
        rounding = 2.02 * (1 + factor) * max(row.rounding, best.rounding)
        if not isclose(row.busbw, factor * row.algbw, rel_tol=RATE_TOLERANCE, abs_tol=rounding):
            why = f"busbw is {row.busbw / row.algbw if row.algbw else 0:.3g} times algbw, on line {best.number}"
            raise NotALogError(f"{why} {factor:.3g} times: one table has one factor", row.number)


def _wrong_value_count(line: LogRow) -> int:
    """The number of wrong values of a row; 0 if results were not checked (``N/A``)."""
    return sum(int(token) for token in line.wrong if token.isdecimal() and len(token) < 16)


def _listed_ranks(text: str) -> Iterator[re.Match[str]]:
    """The ranks in the list of devices; a look for a word is faster than a search for them."""
    return _RANK.finditer(text) if "Rank " in text and " Pid " in text else iter(())


def ranks_and_nodes(text: str) -> tuple[int | None, int | None]:
    """Ranks and nodes from the list of devices in the head of a log; None if it is incomplete."""
    found = [(int(match[1]), match[2]) for match in _listed_ranks(text)]
    if not found:
        return None, None
    first = [at for at, (rank, _) in enumerate(found) if rank == 0]
    if len(first) > 1:
        found = found[first[-1] :]  # a list before it is of a run without a table
    ranks = max(rank for rank, _ in found) + 1
    whole = len({rank for rank, _ in found}) == ranks
    return ranks, len({host for _, host in found}) if whole else None


_HOST = pattern(r"^(?:\[[^\]\n]{1,60}\] ?)?([\w.-]{1,64}):[0-9]{1,9}:[0-9]{1,9} \[[0-9]{1,3}\] ", re.MULTILINE)
MOST_HOSTS = 200_000
"""Largest number of lines of libraries whose hosts are read."""


def hosts_of_lines(text: str) -> int:
    """The hosts whose processes print lines of NCCL or RCCL: `host:pid:tid [device]` before each (src/debug.cc)."""
    return len({match[1] for match in islice(_HOST.finditer(text), MOST_HOSTS)}) if " NCCL " in text else 0


_ALONE = pattern(r"^This test requires exactly two processes$", re.MULTILINE)
"""The line that rank 0 prints if a test of one pair has another number of ranks; NVSHMEM's, which every rank prints,
end with a space.
"""


def separate_jobs(text: str) -> int:
    """The jobs whose device lists are in the head of one table: copies of the benchmark that ran side by side.

    Each job starts at rank 0, on a separate host or as that job's only rank. A run that spans hosts lists rank 0 once.
    Of the OSU micro-benchmarks, rank 0 alone prints that it needs two processes (`osu_bw.c`; pmodels/mpich issue 7289).
    """
    alone = len(_ALONE.findall(text)) if "requires exactly two" in text else 0
    if alone > 1:
        return alone
    hosts: dict[str, list[int]] = {}
    for match in _listed_ranks(text):
        hosts.setdefault(match[2], []).append(int(match[1]))
    if not any(any(ranks) for ranks in hosts.values()):
        return max(1, sum(map(len, hosts.values())))
    whole = all(sorted(set(ranks)) == list(range(len(set(ranks)))) for ranks in hosts.values())
    return max(1, len(hosts)) if whole else 1


def _device_and_buses(text: str) -> tuple[str | None, frozenset[str]]:
    """The name of the accelerators in the head of a log, None if the names differ, and their bus addresses by node."""
    listed = [(match[3] or "", (match[4] or "").strip()) for match in _listed_ranks(text)]
    names = {name for _, name in listed} - {""}
    return names.pop() if len(names) == 1 else None, frozenset(bus for bus, _ in listed if bus)


def log_tables(text: str) -> list[tuple[str, tuple[LogRow, ...], int]]:
    """The text and the rows of each table, and the number of lines of the file before its text.

    A table ends with the last row before another heading, or before rows of another run without one.

    Raises `NotALogError` for more than `MOST_TABLES`.
    """
    tables: list[list[LogRow]] = [[]]
    headed = False
    for _, row in _table_lines(text):
        if row is None:
            headed = bool(tables[-1])
            continue
        if headed or (tables[-1] and _begins_another_run(tables[-1], row)):
            tables.append([])
        tables[-1].append(row)
        headed = False
    starts = [0, *(rows[-1].number for rows in tables[:-1])]
    for rows in tables:
        _check_factor(tuple(rows))
    texts = table_texts(text.splitlines(), starts)
    return [(part, tuple(rows), start) for part, rows, start in zip(texts, tables, starts, strict=True)]


def _begins_another_run(rows: list[LogRow], row: LogRow) -> bool:
    """Whether a row without a heading belongs to another run: its size falls, and it repeats no sweep line by line."""
    if _is_of_one_rank(row) and _is_of_one_rank(rows[-1]):
        return False  # jobs of one rank print among each other, in any order
    return row.size < rows[-1].size and (row.size != rows[0].size or row.number > rows[-1].number + 1)


def table_texts(lines: list[str], starts: list[int]) -> list[str]:
    """The text of each table, from the line (counted from 0) at which it starts to the start of the next.

    Raises `NotALogError` for more than `MOST_TABLES`.
    """
    if len(starts) > MOST_TABLES:
        raise NotALogError(f"more than {MOST_TABLES} tables", starts[MOST_TABLES] + 1)
    return ["\n".join(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
