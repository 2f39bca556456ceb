"""Readers of pairwise bandwidth tools and Markdown tables, and the registry of benchmark readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from clusterspec.logs.benchmarks import host_tests, imb, nccl, osu, perftest, site_results, vendors
from clusterspec.logs.benchmarks.benchmark import Benchmark, PairTable, Series, SizePoint, size_of
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, MOST_TABLES, NotALogError, table_texts
from clusterspec.records import dataclass, replace

# `p2pBandwidthLatencyTest` and `nvbandwidth`: bandwidth between pairs of accelerators of one node

PAIRS_TOOL = "pairs of accelerators"
_TITLE = re.compile(
    r"(?P<p2p>(?:Uni|Bi)directional P2P=(?:En|Dis)abled Bandwidth[^\n]{0,80}?Matrix \((?P<unit>[GM]B/s)\))"
    r"|(?P<nvb>memcpy (?:CE|SM) GPU\(row\) (?:<-|->|<->) GPU\(column\) .{0,80}?bandwidth \((?P<unit2>[GM]B/s)\))"
)
_RUNNING = re.compile(r"Running (\w+)\.?")
_ONE_OF_TWO = re.compile(r"GPU\(column\) (?:Read|Write)[12] bandwidth")
"""Titles of one direction of a bidirectional copy; nvbandwidth prints the sum of both as `Total bandwidth`."""
_HOST_TITLE = re.compile(r"memcpy (?:CE|SM) (?:CPU\(row\)|GPU\(row\) (?:<-|->|<->) CPU).{0,80}?bandwidth")
_NO_ACCESS = re.compile(r"Device=[0-9]{1,3} CANNOT Access Peer Device=[0-9]{1,3}")
_SUM = re.compile(r"SUM (\w+) ([0-9]{1,9}(?:\.[0-9]{1,6})?)")
_NUMBER = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")


def is_pair_matrix(head: str) -> bool:
    return (
        bool(re.search(r"P2P=(En|Dis)abled Bandwidth", head)) or "GPU(column)" in head or "nvbandwidth Version" in head
    )


def read_pair_matrix(text: str) -> Benchmark:
    """The bandwidths between pairs of devices that a log prints with peer access on. Raises `NotALogError` if it has
    none.
    """
    tables: list[PairTable] = []
    lines = text.split("\n")
    running = ""
    for number, line in enumerate(lines, 1):
        if match := _RUNNING.search(line[:200]):
            running = match[1]
        if (match := _TITLE.search(line[:400])) and "Disabled" not in line:
            unit = 1e6 if (match["unit"] or match["unit2"]) == "MB/s" else 1e9
            running = running if match["nvb"] else ""  # another tool prints this title
            both = _sums_both_directions(line, bool(match["p2p"]), running)
            if len(tables) >= MOST_TABLES:
                raise NotALogError(f"more than {MOST_TABLES} tables", number)
            name = "bidirectional" if both else "unidirectional"
            table = _pair_table(lines, number, running or f"p2p {name}", unit, both)
            tables.append(replace(table, opposed=bool(_ONE_OF_TWO.search(line[:400]))))
    hosts = tuple(_host_bandwidths(lines))
    if not tables and not hosts:
        raise NotALogError("there is no matrix of bandwidths between accelerators with peer access on")
    return Benchmark(PAIRS_TOOL, pairs=tuple(tables), remarks=(*hosts, *_pairs_without_peer_access(lines)))


def _sums_both_directions(title: str, is_p2p: bool, running: str) -> bool:
    """Whether the figures below a title are sums of both directions."""
    if is_p2p:
        return "Bidirectional" in title
    return not _ONE_OF_TWO.search(title) and ("bidirectional" in running or "<->" in title)


def _pairs_without_peer_access(lines: list[str]) -> Iterator[tuple[str, int]]:
    """The pairs of devices that p2pBandwidthLatencyTest finds without peer access, as one remark."""
    without = [number for number, line in enumerate(lines, 1) if _NO_ACCESS.match(line[:80])]
    if without:
        pairs = f"{len(without)} ordered pairs of devices"
        yield f"{pairs} have no peer access: their copies pass through host memory", without[0]


def _host_bandwidths(lines: list[str]) -> Iterator[tuple[str, int]]:
    """The bandwidths between host and accelerators of nvbandwidth, as remarks with their line."""
    running, summed = "", any(_SUM.match(line[:200]) for line in lines)
    for number, line in enumerate(lines, 1):
        if match := _RUNNING.search(line[:200]):
            running = match[1]
        if (match := _SUM.match(line[:200])) and match[1] == running and "host" in running and "latency" not in running:
            yield f"{running}: {match[2]} GB/s over all accelerators, between host and accelerators", number
        elif not summed and _HOST_TITLE.search(line[:200]):
            yield f"{running or 'a matrix'}: between host and accelerators, not a link of accelerators", number


def _pair_table(lines: list[str], start: int, name: str, unit: float, both_ways: bool) -> PairTable:
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


# Markdown tables of bus bandwidth by message size, as printed by `all_reduce_bench.py` and vendor pages

TABLE_TOOL = "bandwidth table"
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*(?:GBps|GB/s)?")
_SIZE_HEAD = re.compile(r"payload|message size|^size", re.IGNORECASE)
_COLLECTIVES = (
    (re.compile(r"all[-_ ]?reduce", re.IGNORECASE), "all-reduce"),
    (re.compile(r"all[-_ ]?gather", re.IGNORECASE), "all-gather"),
    (re.compile(r"reduce[-_ ]?scatter", re.IGNORECASE), "reduce-scatter"),
    (re.compile(r"all[-_ ]?to[-_ ]?all", re.IGNORECASE), "all-to-all"),
    (re.compile(r"broadcast", re.IGNORECASE), "broadcast"),
)


def is_markdown_table(head: str) -> bool:
    return any(_size_and_busbw_columns(_row_cells(line)) for line in head.split("\n") if line.lstrip().startswith("|"))


def read_markdown_table(text: str) -> Benchmark:
    """The series of each table. Raises `NotALogError` if there is none."""
    lines = text.split("\n")
    starts = _table_starts(lines)
    tables = zip(starts, table_texts(lines, starts), strict=True)
    every = [series for start, table in tables if (series := _series_of(table, start))]
    if not every:
        raise NotALogError("there is no table of bandwidths by message size")
    return Benchmark(TABLE_TOOL, tuple(every))


def _table_starts(lines: list[str]) -> list[int]:
    """The lines, counted from 0, at which the tables and the text before each begin."""
    starts, inside, ended = [0], False, 0
    for number, line in enumerate(lines):
        is_row = line.lstrip().startswith("|") and len(line) <= 2_000
        if is_row and not inside and ended and _size_and_busbw_columns(_row_cells(line)):
            starts.append(ended)
        inside, ended = is_row, number if inside and not is_row else ended
    return starts


def _series_of(text: str, start: int) -> Series | None:
    """The series of a table after ``start`` lines, with the settings stated above it; None if it has no rows."""
    points = tuple(_size_points(text, start))
    found = {name for pattern, name in _COLLECTIVES if pattern.search(text)}
    collective = found.pop() if len(found) == 1 else None
    algorithm = "nvls" if re.search(r"\bNVLS\b", text) else None
    return Series(collective, _rank_count(text), None, points, algorithm) if points else None


def _row_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _size_and_busbw_columns(cells: list[str]) -> tuple[int, int] | None:
    """The columns of size and bus bandwidth; None if the cells are not a heading."""
    size = next((at for at, cell in enumerate(cells) if _SIZE_HEAD.search(cell)), None)
    if size is None or len(cells) < 2:
        return None
    named = [at for at, cell in enumerate(cells) if "busbw" in cell.lower()]
    rates = [at for at, cell in enumerate(cells) if "GB/s" in cell and at != size]
    bus = named[0] if named else rates[0] if len(rates) == 1 else None  # several rates: of runs that are compared
    return None if bus is None else (size, bus)


def _size_points(text: str, start: int) -> Iterator[SizePoint]:
    columns, rows = None, 0
    for number, line in enumerate(text.split("\n"), start + 1):
        if not line.lstrip().startswith("|") or len(line) > 2_000:
            continue
        cells = _row_cells(line)
        if columns is None:
            columns = _size_and_busbw_columns(cells)
        elif len(cells) > max(columns):
            size, rate = size_of(cells[columns[0]]), _RATE.fullmatch(cells[columns[1]])
            rows += bool(size and rate)
            if rows > MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            if size and rate:
                yield SizePoint(size, None, float(rate[1]) * 1e9, number)


def _rank_count(text: str) -> int | None:
    match = re.search(r"--nproc[_-]per[_-]node[= ]([0-9]{1,5})", text)
    nodes = re.search(r"--nnodes[= ]([0-9]{1,6})", text)
    return int(match[1]) * (int(nodes[1]) if nodes else 1) if match else None


# Registry of benchmark log readers


@dataclass(frozen=True)
class LogReader:
    """A log reader: ``is_nccl_output`` tests the head of a text, ``read`` parses the text."""

    name: str
    title: str
    matches: Callable[[str], bool]
    read: Callable[[str], Benchmark]


READERS = (
    LogReader(
        "superbench", "results-summary.jsonl of SuperBench", site_results.is_superbench, site_results.read_superbench
    ),
    LogReader("cvs", "results of ROCm cvs, JSON of rccl-tests", site_results.is_cvs, site_results.read_cvs),
    LogReader(
        "nvcre",
        "BandwidthMeasurement of NVIDIA Cluster Readiness Engine (JSON)",
        site_results.is_readiness,
        site_results.read_readiness,
    ),
    LogReader("nccom-test", "nccom-test of AWS Neuron", vendors.is_nccom_test, vendors.read_nccom_test),
    LogReader("hccl", "HCCL demo of Gaudi, hccl_test of Ascend", vendors.is_hccl_test, vendors.read_hccl_test),
    LogReader("perftest", "ib_write_bw, ib_read_bw, ib_send_bw", perftest.is_perftest, perftest.read_perftest),
    LogReader(
        "perftest-latency",
        "ib_write_lat, ib_read_lat, ib_send_lat (listed, not imported)",
        host_tests.is_latency_test,
        host_tests.read_latency_test,
    ),
    LogReader("iperf3", "iperf3 -J (listed, not imported)", host_tests.is_iperf, host_tests.read_iperf),
    LogReader("fio", "fio as JSON (listed, not imported)", host_tests.is_fio, host_tests.read_fio),
    LogReader("p2p", "p2pBandwidthLatencyTest, nvbandwidth", is_pair_matrix, read_pair_matrix),
    LogReader("osu", "OSU micro-benchmarks between two ranks and of collectives", osu.is_osu_test, osu.read_osu_test),
    LogReader("imb", "Intel MPI Benchmarks", imb.is_imb, imb.read_imb),
    LogReader(
        "bandwidth-table", "Markdown tables of bus bandwidth by message size", is_markdown_table, read_markdown_table
    ),
    LogReader("nccl-tests", "nccl-tests and rccl-tests, with NCCL_DEBUG lines", nccl.is_nccl_output, nccl.read),
)
HEAD = 200_000
"""Characters from which the tool of a log is detected; NCCL_DEBUG lines of many ranks may precede the table."""


def reader_of(text: str) -> LogReader | None:
    """The reader of a text; None if no reader matches it."""
    head = text[:HEAD]
    return next((reader for reader in READERS if reader.matches(head)), None)


def read_benchmark(text: str) -> Benchmark:
    """The content of a log of any supported tool. Raises `NotALogError` if no reader matches it."""
    reader = reader_of(text)
    if reader is None:
        reader = READERS[-1] if len(text) > HEAD and "busbw" in text else None
    if reader is None:
        raise NotALogError("it is the output of none of " + ", ".join(each.name for each in READERS))
    return reader.read(text)
