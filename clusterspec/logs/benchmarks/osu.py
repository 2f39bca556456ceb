"""OSU micro-benchmarks: the bandwidth between two ranks, and the latency of collectives.

A collective prints neither its ranks nor its nodes; its launch command states them, if the log holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.logs.benchmarks.benchmark import Benchmark, ListedFigure, Series, SizePoint
from clusterspec.logs.benchmarks.launch_lines import Launch, launches_in
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, MOST_TABLES, NotALogError
from clusterspec.quantity import bus_factor
from clusterspec.records import dataclass, field
from clusterspec.units import size_text

OSU_TOOL = "osu"
_OSU = re.compile(
    r"^[ \t]{0,16}# OSU (MPI|NCCL|OpenSHMEM|UPC|xCCL)?(\S*) ?(.{3,60}?) Test(?: v([0-9.]{1,12}))?", re.MULTILINE
)
_BUFFERS = re.compile(r"^[ \t]{0,16}# Send Buffer on (\w{2,12}) .{0,20}Receive Buffer on (\w{2,12})", re.MULTILINE)
_COMMAND = re.compile(r"\bosu_\w{2,30}\b[^\n]{0,400}?\s([DHM]) ([DHM])(?=\s|$)")
"""The buffers of both ranks that a command states: device, host or managed memory; newer releases print no others."""
_ROW = re.compile(r"^([0-9]{1,13})\s+([0-9]{1,12}(?:\.[0-9]{1,6})?)(?:\s|$)")
_PROGRAM = re.compile(r"osu_\w{2,40}")
_BETWEEN_TWO = {"Bandwidth": "osu_bw", "Bi-Directional Bandwidth": "osu_bibw"}
_COLLECTIVES = {
    "allreduce": ("all-reduce", "osu_allreduce", False),
    "allgather": ("all-gather", "osu_allgather", True),
    "reduce_scatter": ("reduce-scatter", "osu_reduce_scatter", False),
    "all-to-all personalized exchange": ("all-to-all", "osu_alltoall", True),
    "broadcast": ("broadcast", "osu_bcast", False),
}
"""Collectives by their names in headings: our name, the program, and whether a size counts one rank's part
(osu_allgather.c sends it from each rank, and osu_reduce_scatter.c divides it by the ranks: yqin/osu-micro-benchmarks
b7fc8c57, c/mpi/collective/blocking, read 2026-11-25; osu_alltoall.c as recalled).
"""


def is_osu_test(head: str) -> bool:
    return bool(_OSU.search(head))


@dataclass(frozen=True)
class _Test:
    """A test: its name, whether its heading names the memory of accelerators, its library, its lines and its launch."""

    name: str
    on_devices: bool
    start: int
    end: int
    previous: int
    launch: Launch | None
    disagree: bool


@dataclass
class _Found:
    """What the tests of a file gave."""

    series: list[Series] = field(default_factory=list)
    listed: list[ListedFigure] = field(default_factory=list)
    remarks: list[tuple[str, int]] = field(default_factory=list)


def read_osu_test(text: str) -> Benchmark:
    """The bandwidth between two ranks, per direction, and the bandwidth of collectives whose ranks a launch line
    states.

    A megabyte is 10^6 bytes (osu_bw.c divides by 1e6). Collectives in host memory are listed; those without ranks,
    other latencies, and sums over pairs of ranks are passed over with a remark. Raises `NotALogError` if there is
    nothing else.
    """
    lines = text.split("\n")
    found = _Found()
    for test in _tests_of(text, len(lines)):
        if "Bandwidth" in test.name:
            _add_bandwidth(test, lines, found)
        else:
            _add_collective(test, lines, found)
    if not found.series and not found.listed:
        why = "there is no row of sizes and bandwidths as OSU prints them"
        raise NotALogError(*(found.remarks[0] if found.remarks else (why, 0)))
    return Benchmark(OSU_TOOL, tuple(found.series), remarks=tuple(found.remarks), listed=tuple(found.listed))


def _tests_of(text: str, count: int) -> list[_Test]:
    """The tests of a text of ``count`` lines. Raises `NotALogError` for more than `MOST_TABLES`."""
    heads = list(islice(_OSU.finditer(text), MOST_TABLES + 1))
    if len(heads) > MOST_TABLES:
        raise NotALogError(f"more than {MOST_TABLES} tests")
    launches = launches_in(text, _PROGRAM)
    starts, line, counted = [], 1, 0
    for head in heads:
        line, counted = line + text.count("\n", counted, head.start()), head.start()
        starts.append(line)
    tests = []
    for head, previous, start, end in zip(heads, [0, *starts], starts, [*starts[1:], count + 1], strict=False):
        name = head[3].strip()
        own = [each for each in launches if previous < each.line < start and _may_start(each, name)]
        disagree = len({(each.ranks, each.nodes) for each in own}) > 1
        on_devices = head[1] in {"NCCL", "xCCL"} or head[2].startswith(("-CUDA", "-ROCM", "-OPENACC"))
        tests.append(_Test(name, on_devices, start, end, previous, None if disagree or not own else own[-1], disagree))
    return tests


def _may_start(launch: Launch, name: str) -> bool:
    """Whether a launch can have started a test with this name in its heading."""
    title = name.removesuffix(" Latency").casefold()
    program = _BETWEEN_TWO.get(name) or (_COLLECTIVES[title][1] if title in _COLLECTIVES else "")
    return not program or re.sub(r"^osu_(?:nccl|xccl)_", "osu_", launch.program) == program


def _add_bandwidth(test: _Test, lines: list[str], found: _Found) -> None:
    name, start = test.name, test.start
    points = tuple(_size_points(lines, test, 2 if "Bi-Directional" in name else 1))
    if "Multiple Bandwidth" in name:
        shown = f": {points[-1].busbw / 1e9:.6g} GB/s at {points[-1].size:,.0f} B" if points else ""
        found.remarks.append((f"the OSU test {name} sums the bandwidths of several pairs of ranks{shown}", start))
    elif _has_host_buffer(lines, test):
        found.remarks.append((f"the OSU test {name} has a buffer in host memory: not between accelerators", start))
    elif points:
        nodes = test.launch.nodes if test.launch and test.launch.ranks == 2 else None
        series = Series("send-recv", 2, nodes, points)
        if nodes == 1 and not test.on_devices and not _has_device_buffer(lines, test):
            why = "is within one node, in host memory: not between accelerators"
            found.listed.append(listed_collective(series))
            found.remarks.append((f"the OSU test {name} {why}", start))
            return
        if nodes is None:
            found.remarks.append(("whether both ranks are on one node is not printed", start))
        if "Bi-Directional" in name:
            found.remarks.append(("the figure sums both directions; half of it is used", start))
        found.series.append(series)


def _add_collective(test: _Test, lines: list[str], found: _Found) -> None:
    """Add the bus bandwidth of a collective: its size over its mean time, times the factor of its ranks."""
    collective, _, of_part = _COLLECTIVES.get(test.name.removesuffix(" Latency").casefold(), ("", "", False))
    ranks, nodes = (test.launch.ranks, test.launch.nodes) if test.launch else (None, None)
    if not collective or not test.name.endswith("Latency"):
        found.remarks.append((f"the OSU test {test.name} prints times: no bus bandwidth", test.start))
        return
    if ranks is None:
        why = "and the launch lines before it disagree on it" if test.disagree else "and no launch line states it"
        shown = f"the OSU test {test.name} prints times without its number of ranks, {why}: no bus bandwidth"
        found.remarks.append((shown, test.start))
        return
    parts, factor = ranks if of_part else 1, bus_factor(collective, ranks)
    points = tuple(
        SizePoint(size * parts, time * 1e-6, factor * size * parts / (time * 1e-6), number)
        for number, size, time in _rows_of(lines, test)
    )
    if ranks > 1 and points and test.on_devices:
        found.series.append(Series(collective, ranks, nodes, points))
    elif ranks > 1 and points:
        found.listed.append(listed_collective(Series(collective, ranks, nodes, points)))
        found.remarks.append((f"the OSU test {test.name} is in host memory: not between accelerators", test.start))


def listed_collective(series: Series) -> ListedFigure:
    """The bandwidth of a collective in host memory at its largest size, with its ranks and nodes."""
    on = f" on {series.nodes} nodes" if series.nodes and series.nodes > 1 else " on one node" if series.nodes else ""
    at = series.largest
    name = f"bus bandwidth of {series.collective} of {series.ranks} ranks{on} at {size_text(at.size)}, in host memory"
    return ListedFigure(name, f"{at.busbw / 1e9:.6g} GB/s", at.line)


def _has_host_buffer(lines: Sequence[str], test: _Test) -> bool:
    """Whether a test copies between host and accelerator memory, according to its head or the command between it and
    the previous test.
    """
    if where := _BUFFERS.search("\n".join(lines[test.start : test.end][:8])):
        return "HOST" in where.groups()
    commands = _COMMAND.findall("\n".join(lines[test.previous : test.start - 1]))
    return bool(commands) and "H" in commands[-1] and "# OSU MPI-" in lines[test.start - 1]


def _has_device_buffer(lines: Sequence[str], test: _Test) -> bool:
    """Whether a test copies from or to the memory of an accelerator, as its head or the command before it says."""
    if where := _BUFFERS.search("\n".join(lines[test.start : test.end][:8])):
        return "HOST" not in where.groups()
    commands = _COMMAND.findall("\n".join(lines[test.previous : test.start - 1]))
    return bool(commands) and "H" not in commands[-1]


def _size_points(lines: Sequence[str], test: _Test, directions: int) -> Iterator[SizePoint]:
    """The rows of a test, their second column as MB/s that ``directions`` share. Raises `NotALogError` for more than
    `MOST_ROWS` lines.
    """
    for number, size, figure in _rows_of(lines, test):
        yield SizePoint(size, None, figure * 1e6 / directions, number)


def _rows_of(lines: Sequence[str], test: _Test) -> Iterator[tuple[int, float, float]]:
    """The lines, sizes in bytes and first figures of the rows of a test."""
    if test.end - test.start > MOST_ROWS:
        raise NotALogError(f"more than {MOST_ROWS:,} lines in one test", test.start)
    for number in range(test.start + 1, test.end):
        match = _ROW.match(lines[number - 1].strip())
        if match and float(match[1]) and float(match[2]):
            yield number, float(match[1]), float(match[2])
