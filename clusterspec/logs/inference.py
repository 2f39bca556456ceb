"""Inference of the collective and the number of ranks from the columns of a log that does not state them.

The element counts of nccl-tests are those of the call: an all-gather, a reduce-scatter and an all-to-all of n
ranks print the n-th part of the size (nccl-tests, src/*.cu, ``GetCollByteCount``); the ratio of the two
bandwidths is 2 (n − 1) / n for an all-reduce, (n − 1) / n for those three, and 1 for the others.
"""

from __future__ import annotations

from math import ceil, floor

from clusterspec.logs.nccl_tests import PRINTED, LogRow, NcclLog

_BYTES = {
    "int8": 1,
    "uint8": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "half": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float": 4,
    "int64": 8,
    "uint64": 8,
    "double": 8,
}
_MOST_RANKS = 100_000


def collective_of(log: NcclLog) -> str | None:
    """The collective that a log names, else the only one compatible with its columns, else None."""
    if log.tests:
        return log.tests[0] if len(log.tests) == 1 else None
    line = log.lines[-1]
    parts = _parts(line)
    if line.redop == "" and "type" in log.header:
        return _older(log.header)
    if line.redop not in {"", "none"}:
        return _reduction(line, parts)
    if line.redop == "none" and parts is not None:
        return _exchange(log) if parts > 1 else _one_to_one(line)
    return "all-reduce" if _ratio(line) > 1.02 else None


def _older(header: tuple[str, ...]) -> str:
    """The collective implied by the columns of releases before 2.11, which omit unused ones (nccl-tests, src/*.cu)."""
    if "redop" in header:
        return "all-to-all"
    return "broadcast" if "root" in header else "all-gather"


def _reduction(line: LogRow, parts: int | None) -> str | None:
    """The collective of a log with a reduction operation: all-reduce, reduce-scatter, or send, which prints no root."""
    if parts is not None and parts > 1:
        return "reduce-scatter"
    return "all-reduce" if _ratio(line) > 1.02 else None


def _exchange(log: NcclLog) -> str | None:
    """All-to-all or all-gather: only the latter is checked in place; None for unchecked logs."""
    checked = [line.wrong for line in log.lines if len(line.wrong) == 2 and line.wrong[0] != "N/A"]
    if not checked:
        return None
    return "all-to-all" if all(in_place == "N/A" for _, in_place in checked) else "all-gather"


def _one_to_one(line: LogRow) -> str | None:
    return "broadcast" if line.root not in {"", "-1"} else None


def ranks_of(log: NcclLog, collective: str | None) -> int | None:
    """The ranks that a log reports, else those implied by counts or bandwidths; None if ambiguous."""
    if log.ranks is not None:
        return log.ranks
    line = max(log.lines, key=lambda each: each.algbw)
    parts = _parts(line)
    if parts is not None and parts > 1:
        return parts
    return _from_ratio(line) if collective == "all-reduce" else None


def _from_ratio(line: LogRow) -> int | None:
    """The ranks n from busbw / algbw = 2 (n − 1) / n; None if the printed digits fit several."""
    if line.algbw <= 0 or line.busbw <= 0:
        return None
    ratio = _ratio(line)
    spread = ratio * (PRINTED / line.algbw + PRINTED / line.busbw)
    if ratio + spread >= 2:
        return None
    low, high = ceil(2 / (2 - ratio + spread)), floor(2 / (2 - ratio - spread))
    return low if low == high and 1 < low <= _MOST_RANKS else None


def _ratio(line: LogRow) -> float:
    return line.busbw / line.algbw if line.algbw > 0 else 0.0


def _parts(line: LogRow) -> int | None:
    """The number of shards of the buffer; None if the columns do not determine it."""
    width = _BYTES.get(line.type)
    if width is None or not line.count.isdecimal() or len(line.count) > 18 or int(line.count) == 0:
        return None
    parts = round(line.size / (int(line.count) * width))
    return parts if 1 <= parts <= _MOST_RANKS else None
