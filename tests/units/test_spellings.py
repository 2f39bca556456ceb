"""The golden table of spellings: what people write, and what it means in SI."""

from __future__ import annotations

import pytest

from clusterspec.quantity import Direction, Sparsity
from clusterspec.units import read, symbol_and_words
from tests.effort import each

ONE_WAY, DUPLEX = Direction.ONE_WAY, Direction.DUPLEX

BANDWIDTHS = [
    ("400 Gb/s", 50e9, None),
    ("400Gb/s", 50e9, None),
    ("400Gbps", 50e9, None),
    ("400 Gbit/s", 50e9, None),
    ("400 Gbits/s", 50e9, None),
    ("400 gbit/s", 50e9, None),
    ("400 gigabits per second", 50e9, None),
    ("400 Gb per second", 50e9, None),
    ("400GbE", 50e9, None),
    ("0.4 Tb/s", 50e9, None),
    ("4e2 Gb/s", 50e9, None),
    ("400,000,000 kbit/s", 50e9, None),
    ("50 GB/s", 50e9, None),
    ("50 GBps", 50e9, None),
    ("50 GB / s", 50e9, None),
    ("50 GBytes/sec", 50e9, None),
    ("50 GBytes/secs", 50e9, None),
    ("50 gigabytes per second", 50e9, None),
    ("50\u00a0GB/s", 50e9, None),
    ("3.2 Tb/s", 400e9, None),
    ("1 Gib/s", 2**30 / 8, None),
    ("1 GiB/s", 2**30, None),
    ("100 Mbps", 12.5e6, None),
    ("100 b/s", 12.5, None),
    ("8 x 400 Gb/s", 400e9, None),
    ("8 × 400 Gb/s", 400e9, None),
    ("8x400Gb/s", 400e9, None),
    ("8* 400 Gb/s", 400e9, None),
    ("18 x 50 GB/s duplex", 900e9, DUPLEX),
    ("900 GB/s duplex", 900e9, DUPLEX),
    ("900 GB/s full duplex", 900e9, DUPLEX),
    ("900 GB/s full-duplex", 900e9, DUPLEX),
    ("900 GB/s bidirectional", 900e9, DUPLEX),
    ("900 GB/s Bi-Directional", 900e9, DUPLEX),
    ("900 GB/s bidir", 900e9, DUPLEX),
    ("900 GB/s both ways", 900e9, DUPLEX),
    ("900 GB/s both directions", 900e9, DUPLEX),
    ("900 GB/s (duplex)", 900e9, DUPLEX),
    ("900 GB/s, duplex", 900e9, DUPLEX),
    ("450 GB/s unidirectional", 450e9, ONE_WAY),
    ("450 GB/s uni", 450e9, ONE_WAY),
    ("450 GB/s one-way", 450e9, ONE_WAY),
    ("450 GB/s one way", 450e9, ONE_WAY),
    ("450 GB/s each way", 450e9, ONE_WAY),
    ("450 GB/s per direction", 450e9, ONE_WAY),
    ("450 GB/s in each direction", 450e9, ONE_WAY),
    ("800 Gb/s duplex", 100e9, DUPLEX),
]

OTHERS = [
    ("80 GB", "bytes", 80e9),
    ("80GB", "bytes", 80e9),
    ("80 GB\n", "bytes", 80e9),
    ("80 GiB", "bytes", 80 * 2**30),
    ("80 gibibytes", "bytes", 80 * 2**30),
    ("144384 MiB", "bytes", 144384 * 2**20),
    ("32 KB", "bytes", 32_000),
    ("32 kB", "bytes", 32_000),
    ("32 KiB", "bytes", 32_768),
    ("640 Gb", "bytes", 80e9),
    ("1,024.5 MB", "bytes", 1024.5e6),
    ("2 PB", "bytes", 2e15),
    ("0 B", "bytes", 0),
    ("10 kW", "power", 10_000),
    ("10.2kW", "power", 10_200),
    ("1.2 MW", "power", 1.2e6),
    ("700 watts", "power", 700),
    ("0 kW", "power", 0),
    ("415 V", "voltage", 415),
    ("0.48 kV", "voltage", 480),
    ("230 volts", "voltage", 230),
    ("63 A", "current", 63),
    ("16 amps", "current", 16),
    ("32 Ampere", "current", 32),
    ("2 us", "time", 2e-6),
    ("2 µs", "time", 2e-6),
    ("2 μs", "time", 2e-6),
    ("800 ns", "time", 800e-9),
    ("60 s", "time", 60),
    ("60 seconds", "time", 60),
    ("30 min", "time", 1800),
    ("30 minutes", "time", 1800),
    ("3 h", "time", 10_800),
    ("72h", "time", 259_200),
    ("1 hour", "time", 3600),
    ("2 days", "time", 172_800),
    ("4 years", "time", 4 * 365.25 * 86_400),
    ("48 months", "time", 4 * 365.25 * 86_400),
    ("15T", "count", 15e12),
    ("15 T", "count", 15e12),
    ("15T tokens", "count", 15e12),
    ("15 trillion tokens", "count", 15e12),
    ("1.5M", "count", 1_500_000),
    ("1.005k", "count", 1005),
    ("8.03B", "count", 8_030_000_000),
    ("70B", "count", 70e9),
    ("1,296", "count", 1296),
    ("1,048,576", "count", 1_048_576),
    (64, "count", 64),
    (1e15, "count", 10**15),
    (0.4, "number", 0.4),
    ("1.3", "number", 1.3),
    ("2:1", "ratio", 2),
    ("1:1", "ratio", 1),
    ("1:2", "ratio", 0.5),
    ("7 : 4", "ratio", 1.75),
    ("2 to 1", "ratio", 2),
    ("3", "ratio", 3),
    (3, "ratio", 3),
    ("0:1", "ratio", 0),
    ("32 GT/s", "transfer_rate", 32e9),
    ("3e25 FLOP", "work", 3e25),
]

PEAKS = [
    ("989 TFLOP/s dense", 989e12, Sparsity.DENSE),
    ("989 TFLOPS dense", 989e12, Sparsity.DENSE),
    ("989 TFLOPs dense", 989e12, Sparsity.DENSE),
    ("989 tflops dense", 989e12, Sparsity.DENSE),
    ("989 TFlop/s (dense)", 989e12, Sparsity.DENSE),
    ("989 teraflops without sparsity", 989e12, Sparsity.DENSE),
    ("1.98 PFLOP/s sparse", 1.98e15, Sparsity.SPARSE),
    ("1979 TFLOPS with sparsity", 1979e12, Sparsity.SPARSE),
]


@each(("text", "value", "direction"), BANDWIDTHS)
@each("kind", ["bandwidth", "line_rate", "rate"])
def test_a_bandwidth_is_read_as_its_author_counted_it(
    text: str, value: float, direction: Direction | None, kind: str
) -> None:
    quantity = read(text, kind)
    assert quantity.value == pytest.approx(value, rel=1e-15)
    assert (quantity.unit, quantity.direction) == ("B/s", direction)


@each(("text", "kind", "value"), OTHERS)
def test_a_quantity_is_read_in_si(text: str | int | float, kind: str, value: float) -> None:
    assert read(text, kind).value == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("text", "value", "sparsity"), PEAKS)
def test_a_peak_says_how_it_counts(text: str, value: float, sparsity: Sparsity) -> None:
    quantity = read(text, "peak")
    assert (quantity.value, quantity.unit, quantity.sparsity) == (value, "FLOP/s", sparsity)


def test_a_quantity_keeps_what_was_written_and_the_symbol_it_means() -> None:
    quantity = read(" 8 x 400 Gbit/s  duplex ", "line_rate")
    assert quantity.written == "8 x 400 Gbit/s  duplex"
    assert (quantity.symbol, quantity.bits) == ("Gb/s", True)
    assert not read("50 GB/s", "line_rate").bits
    assert read("15T", "count").symbol == "T"


def test_the_line_rate_of_a_nic_may_say_duplex_and_is_half_of_it_each_way() -> None:
    assert read("800 Gb/s duplex", "line_rate").per_direction == read("400 Gb/s", "line_rate").per_direction


@pytest.mark.parametrize(
    ("rest", "parts"),
    [
        ("floops each way", (None, "floops", "each way")),
        ("floops each, way (in both)", (None, "floops", "each, way (in both)")),
        ("GB per second each way", ("GB/s", "GB per second", "each way")),
        ("GB, per direction", ("GB", "GB", ", per direction")),
        ("GB(per direction)", ("GB", "GB", "(per direction)")),
        ("", (None, "", "")),
        (", GB", (None, "", ", GB")),  # nothing stands before the mark
        ("(GB)", (None, "", "(GB)")),
    ],
)
def test_what_follows_a_number_is_divided_into_unit_and_words(rest: str, parts: tuple[str | None, str, str]) -> None:
    assert symbol_and_words(rest) == parts
