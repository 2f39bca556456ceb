"""Engines of two roles, prefill and decode, each with options of its own, as one serving plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clusterspec.exchange.import_result import (
    ImportBuilder,
    ImportedValue,
    ImportResult,
    SkippedPart,
    Value,
    shown_value,
)
from clusterspec.source import Path, dotted_path

_DEGREES = ("tp", "attention_dp", "ep", "pp")
_OF_PREFILL = ("workload", "serving", "chunk_tokens")
_OF_DECODE = (
    ("workload", "serving", "max_sequences"),
    ("workload", "serving", "captured_graphs"),
    ("workload", "serving", "receive_interval"),
    ("workload", "serving", "hold_steps"),
    ("workload", "serving", "speculative", "tokens"),
    ("workload", "serving", "speculative", "method"),
)


def set_roles(
    readings: Mapping[str, ImportResult], engines: Mapping[str, tuple[Value, int]], builder: ImportBuilder
) -> None:
    """Set the engines of prefill and decode: their number with its line, and their degrees.

    Other keys are set if both roles state the same value, or if they belong to one role.
    """
    base = "workload.serving.disaggregated"
    for role, reading in readings.items():
        builder.set(f"{base}.{role}.replicas", *engines[role])
        for axis in _DEGREES:
            for each in _values_at_key(("layout", axis), [reading]):
                builder.set(f"{base}.{role}.{axis}", each.value, each.at.line)
        builder.unknowns += [SkippedPart(f"{role}: {each.what}", each.why, each.at) for each in reading.unknown]
    _set_shared(readings, builder)


def _set_shared(readings: Mapping[str, ImportResult], builder: ImportBuilder) -> None:
    """Set values that both roles state alike, and limits that belong to one role; list differing values."""
    first, second = readings.values()
    for path in dict.fromkeys(each.path for each in (*first.given, *second.given) if each.path[0] != "layout"):
        owner = second if path in _OF_DECODE else first if path == _OF_PREFILL else None
        if owner is not None:
            builder.given += _values_at_key(path, [owner])
            continue
        found = _values_at_key(path, readings.values())
        if len({shown_value(each.value) for each in found}) == 1 and len(found) == 2:
            builder.given.append(found[0])
        else:
            shown = ", ".join(f"{role} {shown_value(reading.value(path))}" for role, reading in readings.items())
            builder.unknown(dotted_path(path), f"a plan has one value: {shown}", found[0].at.line)
    dispatchers = _values_at_key(("layout", "dispatcher"), readings.values())
    if len(dispatchers) == 2:
        builder.given.append(dispatchers[0])


def _values_at_key(path: Path, readings: Iterable[ImportResult]) -> list[ImportedValue]:
    """The values that some readings state for a key."""
    return [each for reading in readings for each in reading.given if each.path == path]
