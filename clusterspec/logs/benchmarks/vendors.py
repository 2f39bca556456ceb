"""Readers of HCCL (Gaudi and Ascend) and `nccom-test` (AWS Neuron)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from math import isclose

from clusterspec.logs.benchmarks.benchmark import MOST_RANKS, Benchmark, Series, SizePoint, ranks_from_ratio
from clusterspec.logs.benchmarks.nccl_rows import MOST_ROWS, MOST_TABLES, RATE_TOLERANCE, NotALogError
from clusterspec.logs.text_lines import line_at
from clusterspec.quantity import bus_factor
from clusterspec.records import dataclass, field
from clusterspec.standard import DECIMAL

# The HCCL demo of Gaudi, and `hccl_test` of Ascend

HCCL_TOOL = "hccl"
_CALL = re.compile(r"\[BENCHMARK\]\s*hccl(\w+?)\s*\((.{0,400}?)(?:\)|$)", re.DOTALL)
_RATE = re.compile(r"\[BENCHMARK\]\s*(NW|Algo) Bandwidth\s*:\s*([0-9]{1,7}(?:\.[0-9]{1,9})?)\s*GB/s")
_SIZE = re.compile(r"(?:Input)?[sS]izeInBytes\s*=\s*([0-9]{1,15})|dataSize\s*=\s*([0-9]{1,15})")
_RANKS = re.compile(r"(?:--nranks|-np|--ranks|nranks|number of ranks)(?:\s*+[=:]\s*+|\s++)([0-9]{1,6})")
_ASCEND = re.compile(r"^[ \t]*([0-9]{1,15})\s*\|\s*" + DECIMAL + r"\s*\|\s*" + DECIMAL + r"\s*\|", re.MULTILINE)
_NAMES = {
    "AllReduce": "all-reduce",
    "AllGather": "all-gather",
    "ReduceScatter": "reduce-scatter",
    "AlltoAll": "all-to-all",
    "AllToAll": "all-to-all",
    "Broadcast": "broadcast",
    "SendRecv": "send-recv",
}


@dataclass
class _Call:
    name: str
    size: float
    line: int
    bus: float = 0.0
    algorithm: float = 0.0


def is_hccl_test(head: str) -> bool:
    return "[BENCHMARK]" in head or "alg_bandwidth(GB/s)" in head


def read_hccl_test(text: str) -> Benchmark:
    """The series of a log. Raises `NotALogError` if there is none."""
    if "alg_bandwidth(GB/s)" in text:
        return _ascend_benchmark(text)
    calls = list(_logged_calls(text))
    if not calls:
        raise NotALogError("there is no [BENCHMARK] line of a collective with its size and network bandwidth")
    stated = _RANKS.search(text)
    ranks = int(stated[1]) if stated else _rank_count(calls[-1])
    groups: dict[str, list[_Call]] = {}
    for call in calls:
        groups.setdefault(call.name, []).append(call)
    return Benchmark(
        HCCL_TOOL, tuple(Series(name, ranks, None, _size_points(each, ranks)) for name, each in groups.items())
    )


def _logged_calls(text: str) -> list[_Call]:
    found: list[_Call] = []
    starts = [*islice(_CALL.finditer(text), MOST_ROWS + 1)]
    if len(starts) > MOST_ROWS:
        raise NotALogError(f"more than {MOST_ROWS:,} calls")
    line, counted = 1, 0
    for at, match in enumerate(starts):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        size = _SIZE.search(match[2])
        name = _NAMES.get(match[1])
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        rates = {rate[1]: float(rate[2]) * 1e9 for rate in _RATE.finditer(text, match.end(), end)}
        if size and name and "NW" in rates:
            found.append(_Call(name, float(size[1] or size[2]), line, rates["NW"], rates.get("Algo", 0.0)))
    return found


def _rank_count(call: _Call) -> int | None:
    """The ranks n from the ratio of the bandwidths: 2 (n − 1) / n for an all-reduce, n − 1 if the input is a shard."""
    if call.algorithm <= 0:
        return None
    if call.name == "all-reduce":
        return ranks_from_ratio(call.algorithm, call.bus, 0.5)
    ratio = call.bus / call.algorithm
    whole = round(ratio) + 1
    return whole if call.name == "all-gather" and 1 < whole <= MOST_RANKS and abs(ratio - round(ratio)) < 0.01 else None


def _size_points(calls: list[_Call], ranks: int | None) -> tuple[SizePoint, ...]:
    times = ranks if ranks and calls[0].name == "all-gather" else 1
    return tuple(SizePoint(call.size * times, None, call.bus, call.line) for call in calls)


def _ascend_benchmark(text: str) -> Benchmark:
    """The algorithm bandwidths by size; collective and ranks are in the command."""
    named = re.search(r"\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast)_test\b", text)
    names = {
        "all_reduce": "all-reduce",
        "all_gather": "all-gather",
        "reduce_scatter": "reduce-scatter",
        "alltoall": "all-to-all",
        "broadcast": "broadcast",
    }
    collective = names[named[1]] if named else None
    stated = re.search(r"mpirun\s.{0,1000}?-n\s+([0-9]{1,6})", text)
    ranks = int(stated[1]) if stated else None
    if collective is None or ranks is None:
        raise NotALogError("the command with the collective and its ranks is missing")
    factor = bus_factor(collective, ranks)
    points = tuple(
        SizePoint(float(m[1]), float(m[2]) * 1e-6, float(m[3]) * 1e9 * factor, line_at(text, m.start(1)))
        for m in _ASCEND.finditer(text)
        if m[2].count(".") < 2 and m[3].count(".") < 2
    )
    if not points:
        raise NotALogError("there are no rows of data sizes, times and bandwidths")
    return Benchmark(HCCL_TOOL, (Series(collective, ranks, None, points),))


# `nccom-test` of AWS Neuron, whose releases use GB/s of 10⁹ or 2³⁰ bytes; size over time shows which

NCCOM_TOOL = "nccom-test"
_COLLECTIVES = {
    "allr": "all-reduce",
    "allg": "all-gather",
    "redsct": "reduce-scatter",
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send-recv",
    "permute": "send-recv",
}
"""Operations of `nccom-test` by their short and long names."""
_COMMAND = re.compile(r"nccom-test\b(.*)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def is_nccom_test(head: str) -> bool:
    return bool(re.search(r"size\(B\)\s+count\(elems\).{0,200}algbw", head)) or bool(
        re.search(r"nccom-test\b", head) and "busbw" in head
    )


def read_nccom_test(text: str) -> Benchmark:
    """The series of a log, one of each table. Raises `NotALogError` if it has no row, or rows that fit neither unit."""
    columns: list[str] = []
    tables: list[_Table] = []
    rows, unit, remarks = 0, 0.0, []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split() if len(line) < 2_000 else []
        if any(word.startswith("algbw") for word in words):
            columns = words
            if not tables or tables[-1].points:
                tables.append(_Table(number))
        elif columns and len(words) == len(columns) and words[0].isdecimal():
            row = dict(zip(columns, words, strict=True))
            size, seconds, algbw, busbw = _row_figures(row, number)
            rows += 1
            if rows > MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            found = _printed_gigabyte(size, seconds, algbw, number)
            if found and found != unit:
                unit = found
                remarks.append((f"GB/s means {'2^30' if unit > 1e9 else '10^9'} bytes here, by size over time", number))
            tables[-1].ratios.append((algbw, busbw))
            tables[-1].points.append(SizePoint(size, seconds, busbw * (unit or 1e9), number))
    if not rows:
        raise NotALogError("there is no row of sizes, times, algbw and busbw as nccom-test prints them")
    if len(tables) > MOST_TABLES:
        raise NotALogError(f"more than {MOST_TABLES:,} tables")
    return Benchmark(NCCOM_TOOL, tuple(_table_series(text, tables)), remarks=tuple(remarks))


@dataclass
class _Table:
    """The rows of a table, and their pairs of algorithm and bus bandwidth as printed; ``line`` applies to its head."""

    line: int
    points: list[SizePoint] = field(default_factory=list)
    ratios: list[tuple[float, float]] = field(default_factory=list)


def _table_series(text: str, tables: list[_Table]) -> Iterator[Series]:
    """The series of each table with rows, of the command that stands last before it (or of one after all tables)."""
    places, line, counted = [], 1, 0
    for match in islice(_COMMAND.finditer(text), MOST_ROWS):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        collective, ranks = _collective_and_ranks(match[1])
        if collective or ranks:
            places.append((line, collective, ranks))
    at = 0
    for table in tables:
        while at < len(places) and places[at][0] < table.line:
            at += 1
        _, collective, ranks = places[max(0, at - 1)] if places else (0, None, None)
        if table.points:
            if ranks is None and collective == "all-reduce":
                ranks = ranks_from_ratio(*max(table.ratios), 0.005)
            yield Series(collective, ranks, None, tuple(table.points))


def _row_figures(row: dict[str, str], line: int) -> tuple[float, float, float, float]:
    try:
        time, unit = next(
            (float(value), match[1])
            for key, value in row.items()
            if (match := re.fullmatch(r"time(?::avg)?\((us|ms|s)\)", key))
        )
        size = float(next(value for key, value in row.items() if key.startswith("size")))
        algbw, busbw = (
            float(next(value for key, value in row.items() if key.startswith(name))) for name in ("algbw", "busbw")
        )
    except (StopIteration, ValueError):
        raise NotALogError("a row whose figures cannot be read", line) from None
    return size, time * _UNITS[unit], algbw, busbw


def _printed_gigabyte(size: float, seconds: float, algbw: float, line: int) -> float:
    """The bytes of a printed GB implied by size over time; 0 if the printed digits fit both."""
    if seconds <= 0 or algbw < 0.5:
        return 0.0
    rate = size / seconds
    fits = [unit for unit in (1e9, 2.0**30) if isclose(algbw * unit, rate, rel_tol=RATE_TOLERANCE)]
    if not fits:
        raise NotALogError(
            f"{size:,.0f} B in {seconds * 1e6:g} us are {rate / 1e9:.4g} GB/s, but algbw is {algbw:g}", line
        )
    return fits[0] if len(fits) == 1 else 0.0


def _collective_and_ranks(options: str) -> tuple[str | None, int | None]:
    """The collective and the ranks that the options of a command state."""
    ranks = re.search(r"(?:-r|--nworkers)[ =]([0-9]{1,6})", options)
    named = next((_COLLECTIVES[word] for word in options[:400].split() if word in _COLLECTIVES), None)
    return named, int(ranks[1]) if ranks else None
