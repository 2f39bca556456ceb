"""Benchmark logs as entries of `measured:`, and the inputs of SimAI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from clusterspec.exchange.import_result import (
    LONGEST_LINE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    SeveralParts,
    Value,
    chosen_part,
)
from clusterspec.exchange.machines.links import accelerator_of_product
from clusterspec.exchange.written_documents import here_documents
from clusterspec.logs.benchmarks.benchmark import Benchmark, PairTable, Series, adapter_count
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.readers import LogReader
from clusterspec.units import plural, size_text

# Import of benchmark logs as entries of `measured:`


def matches_log(reader: LogReader, file: InputFile) -> bool:
    return reader.matches(file.text[:200_000])


def read_log(reader: LogReader, file: InputFile) -> ImportResult:
    """The measurements of a log. Raises `FormatError` if it is not a log of this tool."""
    for number, line in enumerate(file.text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise FormatError(f"has {len(line):,} characters in one line, the maximum is {LONGEST_LINE:,}", number)
    try:
        benchmark = reader.read(file.text)
    except NotALogError as fault:
        raise FormatError(str(fault)) from None
    if start := _line_of_printed(benchmark, file.text):
        raise FormatError("its tables are text that the script prints, not the log of a run", start)
    return reading_of(_chosen_part(benchmark, file.part), reader.name, file.name)


def _line_of_printed(benchmark: Benchmark, text: str) -> int:
    """The first line of the tables in a text if all tables are in here-documents of a script; else 0."""
    tables: list[Series | PairTable] = [*benchmark.series, *benchmark.pairs]
    lines = [_first_line(table) for table in tables]
    if not lines or "<<" not in text:
        return 0
    printed = [range(first + 1, first + 2 + body.count("\n")) for first, body, _ in here_documents(text)]
    return lines[0] if all(any(line in each for each in printed) for line in lines) else 0


def _chosen_part(benchmark: Benchmark, part: int | None) -> Benchmark:
    """One table of a log, or all of them. Raises `SeveralParts` if they are of different machines or runs."""
    tables: list[Series | PairTable] = sorted([*benchmark.series, *benchmark.pairs], key=_first_line)
    if part is None:
        apart = (
            "tables of different machines"
            if _has_several_machines(benchmark.series)
            else "several tests of two ranks"
            if benchmark.tool in {"osu", "imb", "perftest"}
            and sum(each.collective == "send-recv" for each in benchmark.series) > 1
            else "tables that contradict each other"
            if any(_tables_contradict(*both) for both in combinations(benchmark.series[:MOST_COMPARED], 2))
            else ""
        )
        if apart:
            named = (f"{series.points[0].line} ({series.description})" for series in benchmark.series[:12])
            raise SeveralParts(f"holds {apart}, on lines {', '.join(named)}: --part N chooses")
        return benchmark
    chosen = chosen_part(tables, part, plural(len(tables), "table"), "")
    start = _last_line(tables[part - 2]) if part > 1 else 0
    evidence = tuple(each for each in benchmark.evidence if start < each.line <= _last_line(chosen))
    series = (chosen,) if isinstance(chosen, Series) else ()
    pairs = (chosen,) if isinstance(chosen, PairTable) else ()
    return Benchmark(benchmark.tool, series, pairs, evidence, benchmark.remarks)


MOST_COMPARED = 30
APART = 1.5
"""If the bandwidths of two tables for the same collective and size differ by a larger factor, the tables are of
different machines or settings.
"""
LARGE = 16 << 20
"""From this number of bytes on, bandwidth limits the time, not latency."""


def _tables_contradict(one: Series, other: Series) -> bool:
    """Whether two tables of the same collective, ranks and nodes differ at their largest common size."""
    if (one.collective, one.ranks, one.nodes, one.algorithm) != (
        other.collective,
        other.ranks,
        other.nodes,
        other.algorithm,
    ):
        return False
    rates = {point.size: point.busbw for point in one.points if point.size >= LARGE}
    shared = [(point.size, rates[point.size], point.busbw) for point in other.points if point.size in rates]
    if not shared:
        return False
    _, first, second = max(shared)
    return min(first, second) * APART < max(first, second)


def _has_several_machines(tables: Sequence[Series]) -> bool:
    """Whether tables name different accelerators, or have sets of bus addresses of which neither contains the other."""
    buses = [series.buses for series in tables if series.buses]
    nested = all(one <= other or other <= one for one, other in combinations(set(buses), 2))
    return not nested or len({series.device for series in tables if series.device}) > 1


def _first_line(table: Series | PairTable) -> int:
    return table.points[0].line if isinstance(table, Series) else table.line


def _last_line(table: Series | PairTable) -> int:
    return table.points[-1].line if isinstance(table, Series) else table.line


def reading_of(benchmark: Benchmark, kind: str, name: str) -> ImportResult:
    """The `measured:` entries of a log, one per series at its largest size."""
    builder = ImportBuilder(kind, name)
    for series in benchmark.series:
        _record_series(series, builder)
    _set_device(benchmark.series, builder)
    for table in benchmark.pairs:
        _record_pairs(table, builder)
    for listed in benchmark.listed:
        builder.count(listed.name, listed.text, listed.line)
    for measured, line in benchmark.remarks:
        builder.unknown("remark", measured, line)
    for each in benchmark.evidence:
        if each.name in {"version", "network", "socket", "no-plugin", "no-gdr", "nvls", "no-nvls", "environment"}:
            builder.count(f"{each.name} on line {each.line}", each.text, each.line)
    count = adapter_count(benchmark.evidence)
    builder.count("hcas", count, next((e.line for e in benchmark.evidence if e.name == "hcas"), 0))
    return builder.reading()


def _set_device(tables: Sequence[Series], builder: ImportBuilder) -> None:
    """Set the accelerator if the ranks of all tables name the same product and the tables are measurements."""
    named = {series.device: series.points[0].line for series in reversed(tables) if series.device}
    for device, line in named.items():
        if len(named) == 1 and builder.given and (entry := accelerator_of_product(device)):
            builder.set("cluster.accelerator", entry, line)
        else:
            builder.count("device", device, line)


def _record_series(series: Series, builder: ImportBuilder) -> None:
    largest = series.largest
    first = series.points[0].line
    builder.count("rows", len(series.points), first)
    if series.wrong:
        builder.unknown(f"{series.wrong} wrong values", "the results of the collective are wrong", first)
    if series.collective is None:
        builder.unknown("the collective", "neither a command nor the columns identify it", first)
    if series.ranks is None:
        builder.unknown("the number of ranks", "neither the head of the log nor its columns state it", first)
    entry: dict[str, Value] = {
        "collective": series.collective,
        "nodes": series.nodes,
        "ranks": series.ranks,
        "size": size_text(largest.size),
        "busbw": f"{largest.busbw / 1e9:.6g} GB/s",
        "algorithm": series.algorithm,
    }
    entry = {key: value for key, value in entry.items() if value is not None}
    if series.ranks == 1 or not largest.busbw:
        builder.unknown("measured", "a collective of one rank, or without bandwidth, measures no link", largest.line)
    elif series.collective is None:
        builder.count("ranks", series.ranks, first)
        builder.count("nodes", series.nodes, first)
        builder.unknown(
            f"{entry['size']} at {entry['busbw']}", "not written to measured: without a collective", largest.line
        )
    else:
        builder.append("measured", entry, largest.line)


def _record_pairs(table: PairTable, builder: ImportBuilder) -> None:
    builder.count("accelerators", table.accelerators, table.line)
    builder.count(f"{table.name} slowest pair, each way", f"{table.slowest_bandwidth / 1e9:.6g} GB/s", table.line)
    if table.both_ways:
        builder.unknown(f"{table.name}", "the figure sums both directions; one direction is half of it", table.line)
        return
    if table.opposed:
        why = "one direction while the other is copied too: not written to measured"
        builder.unknown(f"{table.name}", why, table.line)
        return
    entry: dict[str, Value] = {
        "collective": "send-recv",
        "nodes": 1,
        "ranks": 2,
        "busbw": f"{table.slowest_bandwidth / 1e9:.6g} GB/s",
    }
    builder.append("measured", entry, table.line)
    builder.unknown(
        "the size of the copies", "the log lacks this value; the entry cannot be used for calibration", table.line
    )


# SimAI ``busbw.yaml``: the bus bandwidth inputs of its analytical simulator for each axis of a layout

SIMAI_BUSBW = "simai-busbw"
_AXIS = re.compile(r"\s*(TP|DP|EP|PP)\s*:\s*$")
_RATE = re.compile(
    r"\s*(allreduce|allgather|reducescatter|alltoall|busbw)\s*+,?\s*+:\s*+,?\s*+(null|[0-9.]{1,12})\s*+$"
)


def matches_simai_busbw(file: InputFile) -> bool:
    return bool(re.search(r"^[ \t]*(TP|DP)[ \t]*:[ \t]*$", file.head, re.MULTILINE)) and bool(
        re.search(r"^[ \t]*(allreduce|allgather)\s*,", file.head, re.MULTILINE)
    )


def read_simai_busbw(file: InputFile) -> ImportResult:
    """The bandwidths by axis, as counts. They are inputs of a simulator, not measurements."""
    builder, axis = ImportBuilder(SIMAI_BUSBW, file.name), ""
    for number, line in enumerate(file.lines, 1):
        if match := _AXIS.match(line):
            axis = match[1]
        elif (match := _RATE.match(line)) and axis and match[2] != "null":
            builder.count(f"{axis.lower()} {match[1]}", f"{match[2]} GB/s", number)
    if not builder.counts:
        raise FormatError("has no bandwidth by axis as SimAI reads it")
    why = "inputs of a simulator without sizes and ranks; `clusterspec collective` computes them from the spec"
    builder.unknown("measured", why, builder.counts[0].at.line)
    return builder.reading()
