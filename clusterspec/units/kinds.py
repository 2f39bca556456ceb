"""Kinds of quantities of spec keys and catalog facts."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of quantity: its SI unit, its name for messages, and units to suggest.

    ``directed`` means that it may state a direction, ``zero`` that zero is allowed, ``whole`` that it
    must be an integer.
    """

    unit: str
    name: str
    suggestions: tuple[str, ...]
    directed: bool = False
    zero: bool = True
    whole: bool = False


KINDS = {
    "line_rate": Kind("B/s", "a line rate", ("Gb/s", "GB/s"), directed=True, zero=False),
    "bandwidth": Kind("B/s", "a bandwidth", ("GB/s duplex", "GB/s unidirectional"), directed=True, zero=False),
    "rate": Kind("B/s", "a rate", ("GB/s", "Gb/s"), directed=True, zero=False),
    "transfer_rate": Kind("T/s", "a transfer rate", ("GT/s",), zero=False),
    "bytes": Kind("B", "a size", ("GB", "GiB")),
    "count": Kind("1", "a count", ("",), whole=True),
    "number": Kind("1", "a number", ("",)),
    "ratio": Kind("1", "a ratio", (":1",)),
    "time": Kind("s", "a time", ("s", "min", "h")),
    "power": Kind("W", "a power", ("kW", "W")),
    "work": Kind("FLOP", "an amount of work", ("EFLOP",)),
    "peak": Kind("FLOP/s", "a peak", ("TFLOP/s dense", "TFLOP/s sparse"), zero=False),
}
"""The kinds of quantities, by name."""

MEANING = {
    "B/s": "a bandwidth",
    "B": "a size",
    "FLOP/s": "a rate of computing",
    "FLOP": "an amount of work",
    "T/s": "a transfer rate of one lane",
    "W": "a power",
    "s": "a time",
    "1": "a number",
}
"""What each SI unit measures, in a sentence."""
