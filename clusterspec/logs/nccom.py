"""`nccom-test` of AWS Neuron, whose releases use GB/s of 10⁹ or 2³⁰ bytes; size over time shows which."""

from __future__ import annotations

import re
from math import isclose

from clusterspec.logs.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.factors import ranks_from_ratio
from clusterspec.logs.nccl_tests import MOST_ROWS, NotALogError

TOOL = "nccom-test"
_COLLECTIVES = {
    "allr": "all-reduce",
    "allg": "all-gather",
    "redsct": "reduce-scatter",
    "alltoall": "all-to-all",
    "sendrecv": "send-recv",
    "permute": "send-recv",
}
_COMMAND = re.compile(r"nccom-test\b(.*)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
CLOSE = 0.02


def matches(head: str) -> bool:
    return bool(re.search(r"size\(B\)\s+count\(elems\).{0,200}algbw", head)) or bool(
        re.search(r"nccom-test\b", head) and "busbw" in head
    )


def read(text: str) -> Benchmark:
    """The series of a log. Raises `NotALogError` if it has no row, or rows that fit neither unit."""
    columns: list[str] = []
    points: list[SizePoint] = []
    ratios: list[tuple[float, float]] = []
    unit, remarks = 0.0, []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split() if len(line) < 2_000 else []
        if any(word.startswith("algbw") for word in words):
            columns = words
        elif columns and len(words) == len(columns) and words[0].isdecimal():
            row = dict(zip(columns, words, strict=True))
            size, seconds, algbw, busbw = _figures(row, number)
            if len(points) >= MOST_ROWS:
                raise NotALogError(f"more than {MOST_ROWS:,} rows", number)
            found = _unit(size, seconds, algbw, number)
            if found and found != unit:
                unit = found
                remarks.append((f"GB/s means {'2^30' if unit > 1e9 else '10^9'} bytes here, by size over time", number))
            ratios.append((algbw, busbw))
            points.append(SizePoint(size, seconds, busbw * (unit or 1e9), number))
    if not points:
        raise NotALogError("there is no row of sizes, times, algbw and busbw as nccom-test prints them")
    collective, ranks = _command(text)
    if ranks is None and collective == "all-reduce":
        ranks = ranks_from_ratio(*max(ratios), 0.005)
    return Benchmark(TOOL, (Series(collective, ranks, None, tuple(points)),), remarks=tuple(remarks))


def _figures(row: dict[str, str], line: int) -> tuple[float, float, float, float]:
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


def _unit(size: float, seconds: float, algbw: float, line: int) -> float:
    """The bytes of a printed GB implied by size over time; 0 if the printed digits fit both."""
    if seconds <= 0 or algbw < 0.5:
        return 0.0
    rate = size / seconds
    fits = [unit for unit in (1e9, 2.0**30) if isclose(algbw * unit, rate, rel_tol=CLOSE)]
    if not fits:
        raise NotALogError(
            f"{size:,.0f} B in {seconds * 1e6:g} us are {rate / 1e9:.4g} GB/s, but algbw is {algbw:g}", line
        )
    return fits[0] if len(fits) == 1 else 0.0


def _command(text: str) -> tuple[str | None, int | None]:
    match = _COMMAND.search(text)
    if not match:
        return None, None
    words = match[1][:400].split()
    ranks = re.search(r"(?:-r|--nworkers)[ =]([0-9]{1,6})", match[1])
    named = next((_COLLECTIVES[word] for word in words if word in _COLLECTIVES), None)
    return named, int(ranks[1]) if ranks else None
