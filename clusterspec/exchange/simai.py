"""SimAI ``busbw.yaml``: the bus bandwidth inputs of its analytical simulator for each axis of a layout."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile

KIND = "simai-busbw"
_AXIS = re.compile(r"\s*(TP|DP|EP|PP)\s*:\s*$")
_RATE = re.compile(
    r"\s*(allreduce|allgather|reducescatter|alltoall|busbw)\s*+,?\s*+:\s*+,?\s*+(null|[0-9.]{1,12})\s*+$"
)


def matches(file: InputFile) -> bool:
    return bool(re.search(r"^[ \t]*(TP|DP)[ \t]*:[ \t]*$", file.head, re.MULTILINE)) and bool(
        re.search(r"^[ \t]*(allreduce|allgather)\s*,", file.head, re.MULTILINE)
    )


def read(file: InputFile) -> ImportResult:
    """The bandwidths by axis, as counts: they are simulator inputs, not measurements."""
    builder, axis = ImportBuilder(KIND, file.name), ""
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
