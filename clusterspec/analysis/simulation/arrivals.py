"""Arrivals and lengths of simulated requests: drawn from a process, or read from a trace."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from math import isfinite, log
from pathlib import Path
from random import Random

from clusterspec.cluster.model import Lengths
from clusterspec.records import NamedTuple

MOST_BYTES = 64 * 2**20
"""The largest trace that is read."""
MOST_ROW_TOKENS = 10**9
COLUMNS = ("time", "input_tokens", "output_tokens")


class TraceFault(Exception):
    """A trace that cannot be read, with the reason."""


class Arrival(NamedTuple):
    """One request: seconds since the start, and tokens of its prompt and of its answer."""

    time: float
    prompt: int
    output: int


def drawn_times(seed: int, count: int, rate: float, cv: float) -> list[float]:
    """Times of requests that arrive at a rate per second, with a coefficient of variation ``cv`` between them.

    1 is a Poisson process, others are gamma-distributed: above 1 the requests come in bursts.
    """
    random, now, found = Random(seed), 0.0, []
    shape = 1 / (cv * cv)
    for _ in range(count):
        now += random.expovariate(rate) if cv == 1 else random.gammavariate(shape, cv * cv / rate)
        found.append(now)
    return found


def drawn_lengths(seed: str, count: int, mean: int, lengths: Lengths | None) -> list[int]:
    """Lengths in tokens: those of a distribution, or all equal to the mean."""
    if lengths is None:
        return [mean] * count
    random, sigma = Random(seed), lengths.sigma
    middle = log(lengths.mean) - sigma * sigma / 2
    most = lengths.most or MOST_ROW_TOKENS
    return [max(1, min(most, round(random.lognormvariate(middle, sigma)))) for _ in range(count)]


def trace_arrivals(path: Path) -> list[Arrival]:
    """The requests of a trace, by time. Raises `TraceFault` for a trace that cannot be read."""
    try:
        if not path.is_file():
            raise TraceFault(f"{path.name} is not an ordinary file" if path.exists() else f"no such file: {path.name}")
        if path.stat().st_size > MOST_BYTES:
            raise TraceFault(f"{path.name} is larger than 64 MiB")
        with path.open(encoding="utf-8-sig", newline="") as file:
            found = list(_trace_rows(path.name, csv.reader(file)))
    except OSError as fault:
        raise TraceFault(f"cannot read {path.name}: {fault.strerror or 'no such file'}") from None
    except (UnicodeDecodeError, csv.Error) as fault:
        raise TraceFault(f"{path.name} is not a CSV file in UTF-8: {fault}") from None
    if not found:
        raise TraceFault(f"{path.name} has no requests")
    first = min(each.time for each in found)
    return sorted(each._replace(time=each.time - first) for each in found)


def _trace_rows(name: str, rows: Iterator[list[str]]) -> Iterator[Arrival]:
    head = [each.strip() for each in next(rows, [])]
    missing = [each for each in COLUMNS if each not in head]
    if missing:
        raise TraceFault(f"{name} has no column {missing[0]}; its first line names {', '.join(COLUMNS)}")
    places = [head.index(each) for each in COLUMNS]
    for line, row in enumerate(rows, 2):
        if row:
            yield _trace_row(f"{name}, line {line}", row, places)


def _trace_row(place: str, row: Sequence[str], places: Sequence[int]) -> Arrival:
    """One row of a trace. Raises `TraceFault` for a value that is not a number in its range."""
    try:
        time, prompt, output = (float(row[each]) for each in places)
    except (ValueError, IndexError):
        raise TraceFault(f"{place}: time, input_tokens and output_tokens are numbers, one each") from None
    if not (isfinite(time) and 1 <= prompt <= MOST_ROW_TOKENS and 1 <= output <= MOST_ROW_TOKENS):
        raise TraceFault(f"{place}: the time is finite, and prompt and answer have at least one token")
    if prompt != int(prompt) or output != int(output):
        raise TraceFault(f"{place}: tokens are whole numbers")
    return Arrival(time, int(prompt), int(output))
