"""The JSON Schema of quantities accepts what the parser accepts."""

from __future__ import annotations

import random

import jsonschema
import pytest

from clusterspec.units import UnitFault, read
from clusterspec.units.json_schema import quantity_schema
from tests.effort import sampled

NUMBERS = ("400", "1.5", "8 x 400", "8×50", "1,000", "1,000,000", "1,000.5", "3e3", ".5", "2:1", "3 to 1", " 7 ", "4. ")
UNITS = (
    *("", "Gb/s", "GB/s", "gb/s", "Gbps", "GBps", "GbE", "kb/s", "kbit/s", "kib/s", "GiB/s", "GIB/s", "Yb/s", "b/s"),
    *("gigabytes per second", "GB per  sec", "gbits / sec", "MB / s", "B", "GB", "Gib", "gibibytes", "ZB", "kB", "kb"),
    *("TFLOP/s", "TFLOPS", "tflops/s", "teraflops", "gigaflop per second", "PFLOP", "PFLOPps", "W", "KW", "kilowatts"),
    *("s", "ms", "µs", "μs", "mins", "h", "hrs", "Hours", "DAYS", "d", "yr", "months", "tokens", "T", "K tokens", "M"),
    *("billion tokens", "thousand", "GT/s", "parsecs"),
)
QUALIFIERS = (
    *("", "duplex", "Unidirectional", "one-way", "each way", "(duplex)", "( both  directions)", ", per direction"),
    *("dense", "with 2:4 sparsity", "(dense)", "-duplex", "full-duplex", "non-sparse", "twice"),
)
KINDS = ("line_rate", "bandwidth", "rate", "bytes", "count", "time", "power", "peak", "ratio")
LOOSER = ("1,000.5", ".5", "1.5")
"""Fractions of a count, whose value the pattern does not know."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_is_valid_where_it_can_be_read(kind: str) -> None:
    chance, schema = random.Random(kind), jsonschema.Draft7Validator(quantity_schema(kind))
    seen = {True: 0, False: 0}
    for number in NUMBERS:
        for unit in sampled(UNITS, 2 * len(UNITS)):
            for qualifier in ("", *chance.sample(QUALIFIERS, 2)):
                text = f"{number}{chance.choice(('', ' ', '  '))}{unit} {qualifier}"
                sound = is_readable(text, kind)
                seen[sound] += 1
                if not (kind == "count" and not sound and number in LOOSER):
                    assert schema.is_valid(text) == sound, text
    assert seen[True] >= 10 and seen[False] > 100


def is_readable(text: str, kind: str) -> bool:
    """Whether a spec may have the text, which has a direction where one is required."""
    try:
        found = read(text, kind)
    except UnitFault:
        return False
    return kind != "bandwidth" or found.direction is not None


def test_a_number_without_a_unit_is_a_count_or_a_ratio_only() -> None:
    taken = {kind for kind in KINDS if jsonschema.Draft7Validator(quantity_schema(kind)).is_valid(400)}
    assert taken == {"count", "ratio"}
