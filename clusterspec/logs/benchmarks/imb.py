"""Intel MPI Benchmarks (IMB-MPI1): the bandwidth between two ranks, and of collectives.

Format: intel/mpi-benchmarks 46e8757a (2021.11), src_c/IMB_output.c, ``IMB_display_times`` and ``IMB_print_header``,
read 2026-11-25. A megabyte is 10^6 bytes in the releases 2018.0 to 2021.11 (``MEGA = 1.0 / 1e6``); older ones are not
in the repository, so rates are computed from sizes and times. The time of a collective is the time of its slowest rank,
``t_max``. PingPong prints half of the time of a round trip (``scale_time = 0.5``, IMB_parse_name_mpi1.c).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.benchmarks.benchmark import MOST_RANKS, Benchmark, ListedFigure, Series, SizePoint
from clusterspec.logs.benchmarks.launch_lines import Launch, launches_in, placements_in
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, MOST_TABLES, NotALogError
from clusterspec.logs.benchmarks.osu import listed_collective
from clusterspec.quantity import bus_factor
from clusterspec.records import dataclass, replace
from clusterspec.units import plural

IMB_TOOL = "imb"
_TABLE = re.compile(
    r"^[ \t]{0,16}# Benchmarking (\S{2,40})[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]{0,16}# #processes = ([0-9]{1,6})",
    re.MULTILINE,
)
_RELEASE = re.compile(r"Intel ?\(R\) MPI Benchmarks ([0-9]{1,4})[^\n,]{0,40}, MPI-1 part( \(GPU\))?")
_MEMORY = re.compile(r"-mem_alloc_type[ \t]{1,4}(\w{2,10})")
_PROGRAM = re.compile(r"IMB-MPI1\S{0,10}")
_TWO = {"PingPong", "PingPongSpecificSource", "PingPongAnySource"}
_COLLECTIVES = {
    "Allreduce": ("all-reduce", False),
    "Allgather": ("all-gather", True),
    "Alltoall": ("all-to-all", True),
    "Bcast": ("broadcast", False),
    "Reduce_scatter": ("reduce-scatter", True),
}
"""Collectives by their names, and whether ``#bytes`` counts the part of one rank (IMB_allgather.c, IMB_alltoall.c;
IMB_reduce_scatter.c from 2019, where ``reccnt[i] = size / s_size``; releases before, and builds of
``IMB2018``, whose heading is 2018, divide the size by the ranks)."""


HEADING = 8_000
"""Characters after the name of the release within which the options of a run are printed."""


@dataclass(frozen=True)
class _Run:
    """A run of several tables: the line and the number of its release (a year from 2017 on, 0 if it is not printed),
    whether its buffers are in accelerator memory, and its launch.
    """

    line: int
    release: int
    on_devices: bool
    launch: Launch | None


@dataclass(frozen=True)
class _Table:
    """A table: its benchmark, its processes, its first line, the line after it, and its run."""

    name: str
    processes: int
    start: int
    end: int
    run: _Run


def is_imb(head: str) -> bool:
    return bool(_TABLE.search(head))


def read_imb(text: str) -> Benchmark:
    """The bandwidth of each table. Collectives in host memory are listed, and so are copies in the memory of one node;
    benchmarks of other traffic are skipped with a remark. Raises `NotALogError` if there is nothing else.
    """
    lines = text.split("\n")
    series: list[Series] = []
    listed: list[ListedFigure] = []
    remarks: list[tuple[str, int]] = []
    for table in _tables_of(text, len(lines)):
        collective, of_part, why = _traffic_of(table)
        points = tuple(_size_points(lines, table, collective, of_part)) if collective else ()
        if why or not points:
            remarks.append((f"the benchmark {table.name} {why or 'has no row of sizes and times'}", table.start))
            continue
        found = Series(collective, table.processes, _nodes_of(table), points)
        if table.run.on_devices or (collective == "send-recv" and found.nodes != 1):
            series.append(found)
        else:
            listed.append(listed_collective(found))
            where = "within one node, in host memory" if collective == "send-recv" else "in host memory"
            remarks.append((f"the benchmark {table.name} is {where}: not between accelerators", table.start))
        if collective == "send-recv" and found.nodes is None:
            remarks.append(("whether both ranks are on one node is not printed", table.start))
    if not series and not listed:
        raise NotALogError(*remarks[0])
    return Benchmark(IMB_TOOL, tuple(series), remarks=tuple(remarks), listed=tuple(listed))


def _tables_of(text: str, count: int) -> list[_Table]:
    """The tables of a text of ``count`` lines. Raises `NotALogError` for none, or more than `MOST_TABLES`."""
    heads = list(islice(_TABLE.finditer(text), MOST_TABLES + 1))
    if len(heads) > MOST_TABLES:
        raise NotALogError(f"more than {MOST_TABLES} tables")
    if not heads:
        raise NotALogError("there is no table as IMB-MPI1 prints it")
    runs = _runs_of(text)
    tables: list[_Table] = []
    run, line, counted = _Run(0, 0, False, None), 1, 0
    for head in heads:
        line, counted = line + text.count("\n", counted, head.start()), head.start()
        while runs and runs[0].line < line:
            run = runs.pop(0)
        tables.append(_Table(head[1], int(head[2]), line, count + 1, run))
    ends = [*(table.start for table in tables[1:]), count + 1]
    return [replace(table, end=end) for table, end in zip(tables, ends, strict=True)]


def _runs_of(text: str) -> list[_Run]:
    """The runs of a text, each with the launch that stands between the run before and its heading, and the nodes that
    Intel MPI prints there.
    """
    launches, placements = launches_in(text, _PROGRAM), placements_in(text)
    runs: list[_Run] = []
    line, counted, before = 1, 0, 0
    for head in islice(_RELEASE.finditer(text), MOST_TABLES):
        line, counted = line + text.count("\n", counted, head.start()), head.start()
        placed = [each for each in placements if before < each.line < line]
        own = placed[-1:] or [each for each in launches if before < each.line < line]
        agree = len({(each.ranks, each.nodes) for each in own}) == 1
        memory = _MEMORY.search(text, head.start(), head.start() + HEADING)
        on_devices = bool(head[2]) and (memory is None or memory[1] == "device")
        runs.append(_Run(line, int(head[1]), on_devices, own[-1] if agree else None))
        before = line
    return runs


def _traffic_of(table: _Table) -> tuple[str, bool, str]:
    """The collective of a table and whether its sizes count one rank's part, or the reason to skip it."""
    if table.name in _TWO and table.processes == 2:
        return "send-recv", False, ""
    if table.name not in _COLLECTIVES:
        return "", False, "is of traffic that no collective of `measured:` describes"
    if not 1 < table.processes <= MOST_RANKS:
        return "", False, f"ran on {plural(table.processes, 'process')}: it measures no link"
    collective, of_part = _COLLECTIVES[table.name]
    if table.name == "Reduce_scatter" and not table.run.release:
        return "", False, "counts its sizes as its release does, which the log does not state"
    return collective, of_part and not (table.name == "Reduce_scatter" and table.run.release < 2019), ""


def _nodes_of(table: _Table) -> int | None:
    """The nodes of a table: those of the launch, where all of its ranks take part or are on one node."""
    launch = table.run.launch
    return launch.nodes if launch and (launch.ranks == table.processes or launch.nodes == 1) else None


def _size_points(lines: list[str], table: _Table, collective: str, of_part: bool) -> Iterator[SizePoint]:
    """The rows of a table. Raises `NotALogError` for more than `MOST_ROWS` lines."""
    if table.end - table.start > MOST_ROWS:
        raise NotALogError(f"more than {MOST_ROWS:,} lines in one table", table.start)
    columns: list[str] = []
    parts, factor = table.processes if of_part else 1, bus_factor(collective, table.processes)
    for number in range(table.start + 1, table.end):
        words = lines[number - 1][:400].split()
        if "#bytes" in words and "#repetitions" in words:
            columns = words
        elif columns and len(words) == len(columns) and all(re.fullmatch(r"[0-9]{1,13}(\.[0-9]+)?", w) for w in words):
            row = dict(zip(columns, map(float, words), strict=True))
            time = row.get("t_max[usec]", row.get("t[usec]", 0.0)) * 1e-6
            size = row["#bytes"] * parts
            if size and time:
                yield SizePoint(size, time, factor * size / time, number)
        elif columns and words[:1] == ["#"]:
            columns = []
