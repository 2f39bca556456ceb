"""Import of benchmark logs as entries of `measured:`."""

from __future__ import annotations

from clusterspec.exchange.import_result import LONGEST_LINE, FormatError, ImportBuilder, ImportResult, InputFile, Value
from clusterspec.logs.benchmark import Benchmark, PairTable, Series, adapter_count, size_text
from clusterspec.logs.nccl import NotALogError
from clusterspec.logs.readers import LogReader


def matches(reader: LogReader, file: InputFile) -> bool:
    return reader.matches(file.text[:200_000])


def read(reader: LogReader, file: InputFile) -> ImportResult:
    """The measurements of a log. Raises `FormatError` if it is not a log of this tool."""
    for number, line in enumerate(file.text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise FormatError(f"has {len(line):,} characters in one line, the maximum is {LONGEST_LINE:,}", number)
    try:
        benchmark = reader.read(file.text)
    except NotALogError as fault:
        raise FormatError(str(fault)) from None
    return reading_of(benchmark, reader.name, file.name)


def reading_of(benchmark: Benchmark, kind: str, name: str) -> ImportResult:
    """The `measured:` entries of a log, one per series at its largest size."""
    builder = ImportBuilder(kind, name)
    for series in benchmark.series:
        _record_series(series, builder)
    for table in benchmark.pairs:
        _record_pairs(table, builder)
    for measured, line in benchmark.remarks:
        builder.unknown("remark", measured, line)
    for each in benchmark.evidence:
        if each.name in {"version", "network", "socket", "no-plugin", "no-gdr", "nvls", "no-nvls", "environment"}:
            builder.count(f"{each.name} on line {each.line}", each.text, each.line)
    count = adapter_count(benchmark.evidence)
    builder.count("hcas", count, next((e.line for e in benchmark.evidence if e.name == "hcas"), 0))
    return builder.reading()


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
    if series.collective is None:
        builder.unknown(
            f"{entry['size']} at {entry['busbw']}", "not written to measured: without a collective", largest.line
        )
    else:
        builder.append("measured", entry, largest.line)


def _record_pairs(table: PairTable, builder: ImportBuilder) -> None:
    builder.count("accelerators", table.accelerators, table.line)
    builder.count(f"{table.name} slowest pair, each way", f"{table.slowest / 1e9:.6g} GB/s", table.line)
    if table.both_ways:
        builder.unknown(f"{table.name}", "the figure sums both directions; one direction is half of it", table.line)
        return
    entry: dict[str, Value] = {
        "collective": "send-recv",
        "nodes": 1,
        "ranks": 2,
        "busbw": f"{table.slowest / 1e9:.6g} GB/s",
    }
    builder.append("measured", entry, table.line)
    builder.unknown(
        "the size of the copies", "the log lacks this value; the entry cannot be used for calibration", table.line
    )
