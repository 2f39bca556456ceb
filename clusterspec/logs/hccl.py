"""The HCCL demo of Gaudi, and `hccl_test` of Ascend.

The demo prints the input size of one rank; sizes here are those of nccl-tests, the total gathered or scattered. Its
network bandwidth is the bus bandwidth.
"""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.logs.benchmark import Benchmark, Series, SizePoint
from clusterspec.logs.factors import MOST_RANKS, bus_factor, ranks_from_ratio
from clusterspec.logs.nccl_tests import MOST_ROWS, NotALogError
from clusterspec.records import dataclass

TOOL = "hccl"
_CALL = re.compile(r"\[BENCHMARK\]\s*hccl(\w+?)\s*\((.{0,400}?)(?:\)|$)", re.DOTALL)
_RATE = re.compile(r"\[BENCHMARK\]\s*(NW|Algo) Bandwidth\s*:\s*([0-9]{1,7}(?:\.[0-9]{1,9})?)\s*GB/s")
_SIZE = re.compile(r"(?:Input)?[sS]izeInBytes\s*=\s*([0-9]{1,15})|dataSize\s*=\s*([0-9]{1,15})")
_RANKS = re.compile(r"(?:--nranks|-np|--ranks|nranks|number of ranks)(?:\s*+[=:]\s*+|\s++)([0-9]{1,6})")
_ASCEND = re.compile(r"^[ \t]*([0-9]{1,15})\s*\|\s*([0-9.]{1,16})\s*\|\s*([0-9.]{1,16})\s*\|", re.MULTILINE)
_NAMES = {
    "AllReduce": "all-reduce",
    "AllGather": "all-gather",
    "ReduceScatter": "reduce-scatter",
    "AlltoAll": "all-to-all",
    "AllToAll": "all-to-all",
    "Broadcast": "broadcast",
    "SendRecv": "send-recv",
}


@dataclass(slots=True)
class _Call:
    name: str
    size: float
    line: int
    bus: float = 0.0
    algorithm: float = 0.0


def matches(head: str) -> bool:
    return "[BENCHMARK]" in head or "alg_bandwidth(GB/s)" in head


def read(text: str) -> Benchmark:
    """The series of a log. Raises `NotALogError` if there is none."""
    if "alg_bandwidth(GB/s)" in text:
        return _ascend(text)
    calls = list(_calls(text))
    if not calls:
        raise NotALogError("there is no [BENCHMARK] line of a collective with its size and network bandwidth")
    stated = _RANKS.search(text)
    ranks = int(stated[1]) if stated else _ranks(calls[-1])
    groups: dict[str, list[_Call]] = {}
    for call in calls:
        groups.setdefault(call.name, []).append(call)
    return Benchmark(TOOL, tuple(Series(name, ranks, None, _points(each, ranks)) for name, each in groups.items()))


def _calls(text: str) -> list[_Call]:
    found: list[_Call] = []
    starts = [*islice(_CALL.finditer(text), MOST_ROWS + 1)]
    if len(starts) > MOST_ROWS:
        raise NotALogError(f"more than {MOST_ROWS:,} calls")
    for at, match in enumerate(starts):
        size = _SIZE.search(match[2])
        name = _NAMES.get(match[1])
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        rates = {rate[1]: float(rate[2]) * 1e9 for rate in _RATE.finditer(text, match.end(), end)}
        if size and name and "NW" in rates:
            line = text.count("\n", 0, match.start()) + 1
            found.append(_Call(name, float(size[1] or size[2]), line, rates["NW"], rates.get("Algo", 0.0)))
    return found


def _ranks(call: _Call) -> int | None:
    """The ranks n from the ratio of the bandwidths: 2 (n − 1) / n for an all-reduce, n − 1 if the input is a shard."""
    if call.algorithm <= 0:
        return None
    if call.name == "all-reduce":
        return ranks_from_ratio(call.algorithm, call.bus, 0.5)
    ratio = call.bus / call.algorithm
    whole = round(ratio) + 1
    return whole if call.name == "all-gather" and 1 < whole <= MOST_RANKS and abs(ratio - round(ratio)) < 0.01 else None


def _points(calls: list[_Call], ranks: int | None) -> tuple[SizePoint, ...]:
    times = ranks if ranks and calls[0].name == "all-gather" else 1
    return tuple(SizePoint(call.size * times, None, call.bus, call.line) for call in calls)


def _ascend(text: str) -> Benchmark:
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
        SizePoint(float(m[1]), float(m[2]) * 1e-6, float(m[3]) * 1e9 * factor, text.count("\n", 0, m.start(1)) + 1)
        for m in _ASCEND.finditer(text)
        if m[2].count(".") < 2 and m[3].count(".") < 2
    )
    if not points:
        raise NotALogError("there are no rows of data sizes, times and bandwidths")
    return Benchmark(TOOL, (Series(collective, ranks, None, points),))
