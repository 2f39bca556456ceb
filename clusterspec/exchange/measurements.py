"""Benchmark logs as readings: what was measured becomes entries of `measured:`."""

from __future__ import annotations

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal, Value
from clusterspec.logs.benchmark import Benchmark, PairTable, Series
from clusterspec.logs.evidence import hcas
from clusterspec.logs.nccl_tests import NoLog
from clusterspec.logs.readers import Reader
from clusterspec.logs.sizes import size_text


def suits(reader: Reader, file: InputFile) -> bool:
    return reader.suits(file.text[:200_000])


def read(reader: Reader, file: InputFile) -> Reading:
    """What a log measured. Raises `Refusal` where it is no log of this tool."""
    for number, line in enumerate(file.text.split("\n"), 1):
        if len(line) > 64 * 1024:
            raise Refusal(f"has {len(line):,} characters, more than any tool prints in a line", number)
    try:
        benchmark = reader.read(file.text)
    except NoLog as fault:
        raise Refusal(str(fault)) from None
    return reading_of(benchmark, reader.name, file.name)


def reading_of(benchmark: Benchmark, kind: str, name: str) -> Reading:
    """The entries of `measured:` that a log supports, one for each series at its largest size."""
    notes = Notes(kind, name)
    for series in benchmark.series:
        _series(series, notes)
    for table in benchmark.pairs:
        _pairs(table, notes)
    for said, line in benchmark.remarks:
        notes.unknown("remark", said, line)
    for each in benchmark.evidence:
        if each.name in {"version", "network", "socket", "no-plugin", "no-gdr", "nvls", "no-nvls", "environment"}:
            notes.count(f"{each.name} on line {each.line}", each.said, each.line)
    count = hcas(benchmark.evidence)
    notes.count("hcas", count, next((e.line for e in benchmark.evidence if e.name == "hcas"), 0))
    return notes.reading()


def _series(series: Series, notes: Notes) -> None:
    largest = series.largest
    first = series.points[0].line
    notes.count("rows", len(series.points), first)
    if series.wrong:
        notes.unknown(f"{series.wrong} wrong values", "the results of the collective came out wrong", first)
    if series.collective is None:
        notes.unknown("the collective", "neither a command nor the columns tell which one it is", first)
    if series.ranks is None:
        notes.unknown("the number of ranks", "neither the head of the log nor its columns tell", first)
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
        notes.unknown(
            f"{entry['size']} at {entry['busbw']}", "not written to measured: without a collective", largest.line
        )
    else:
        notes.append("measured", entry, largest.line)


def _pairs(table: PairTable, notes: Notes) -> None:
    notes.count("accelerators", table.accelerators, table.line)
    notes.count(f"{table.name} slowest pair, each way", f"{table.slowest / 1e9:.6g} GB/s", table.line)
    if table.both_ways:
        notes.unknown(f"{table.name}", "both directions together were printed; half of it is one direction", table.line)
        return
    entry: dict[str, Value] = {
        "collective": "send-recv",
        "nodes": 1,
        "ranks": 2,
        "busbw": f"{table.slowest / 1e9:.6g} GB/s",
    }
    notes.append("measured", entry, table.line)
    notes.unknown("the size of the copies", "the log does not print it: the entry calibrates nothing", table.line)
