"""Laws of reading and saying, over values and texts that nobody thought of."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clusterspec.quantity import Direction, Quantity
from clusterspec.units import KINDS, UnitFault, display, display_bits, percent, read
from clusterspec.units.readings import readings
from clusterspec.units.table import TABLE
from tests.effort import ALL_CASES, each, examples, steps

SIZES = st.floats(min_value=1e-3, max_value=1e26, allow_nan=False)
SAID = {"B/s": "rate", "B": "bytes", "FLOP": "work", "T/s": "transfer_rate", "W": "power"}
PIECES = st.sampled_from(
    [
        "400",
        "1,5",
        "8 x ",
        "1e9",
        " ",
        "G",
        "b",
        "B",
        "/s",
        "ps",
        "GB/s",
        "gb/s",
        "duplex",
        "dense",
        ":",
        "%",
        "kW",
        "T",
    ]
)
HOSTILE = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=12).map("".join))


def attempt(text: str, kind: str) -> Quantity | None:
    try:
        return read(text, kind)
    except UnitFault as fault:
        assert fault.rule in {
            "ambiguous-unit",
            "missing-unit",
            "wrong-unit",
            "missing-sparsity",
            "unreadable-quantity",
        }
        assert fault.message
        assert fault.help
        return None


@given(text=HOSTILE, kind=st.sampled_from(sorted(KINDS)))
@example(text="1" * 5000, kind="bytes")
@example(text="1,111" * 20, kind="bytes")
@settings(max_examples=examples(100), deadline=None)
def test_any_text_is_a_quantity_or_a_fault(text: str, kind: str) -> None:
    quantity = attempt(text, kind)
    if quantity is not None:
        assert math.isfinite(quantity.value)
        assert quantity.value >= 0
        assert quantity.unit == KINDS[kind].unit


PREFIXES = [
    *"kKmMgGtTpPeEzZyYn",
    "ki",
    "Ki",
    "Gi",
    "gI",
    "kilo",
    "Mega",
    "giga",
    "tera",
    "exa",
    "kibi",
    "Gibi",
    "u",
    "",
]
BASES = [
    "b",
    "B",
    "bit",
    "Bytes",
    "flop",
    "FLOPS",
    "watt",
    "Watts",
    "W",
    "s",
    "sec",
    "hour",
    "T",
    "bE",
    "Hz",
    "g",
    "V",
    "A",
    "volt",
    "Amps",
]


@pytest.mark.parametrize("base", BASES)
def test_every_prefix_on_every_base_is_a_unit_or_a_fault(base: str) -> None:
    """In `make test` each prefix with one or two endings and kinds in turn."""
    cases = list(product(PREFIXES, ("", "/s", "ps", " per second", "/S"), KINDS))
    for prefix, per, kind in cases if ALL_CASES else cases[::7]:
        attempt(f"7 {prefix}{base}{per}", kind)


@given(text=HOSTILE)
@settings(max_examples=examples(37), deadline=None)
def test_any_text_has_readings_or_a_fault(text: str) -> None:
    try:
        found = readings(text)
    except UnitFault:
        return
    assert found.rows


@pytest.mark.parametrize(
    "text",
    [
        "1" * 100,
        "1,111" * 20,
        "8 x " * 25,
        "1e" * 50,
        "5 " + "per " * 24,
        "(" * 100,
        "5 " + "k" * 98,
        "5 GB" + " " * 90,
    ],
)
def test_no_text_takes_much_work(text: str) -> None:
    assert steps(lambda: [attempt(text, kind) for kind in KINDS]) < 40_000


@given(value=SIZES, unit=st.sampled_from(sorted(SAID)), digits=st.integers(2, 8))
def test_displayed_values_are_read_back_to_their_digits(value: float, unit: str, digits: int) -> None:
    text = display(value, unit, digits)
    assert "e" not in text.split(" ")[0]
    assert read(text, SAID[unit]).value == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))


@given(value=st.floats(min_value=1e-9, max_value=1e11), digits=st.integers(2, 8))
def test_displayed_times_are_read_back(value: float, digits: int) -> None:
    assert read(display(value, "s", digits), "time").value == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))


@given(value=st.integers(0, 10**9 - 1))
def test_counts_below_a_billion_are_printed_in_full(value: int) -> None:
    assert read(display(value, "1", 12), "count").value == value


@given(value=SIZES)
def test_bits_are_bytes_times_eight(value: float) -> None:
    assert read(f"{8 * value!r} Gb/s", "rate").value == pytest.approx(read(f"{value!r} GB/s", "rate").value, rel=1e-14)
    assert read(display_bits(value, 9), "rate").value == pytest.approx(value, rel=1e-8)


@given(value=st.floats(1e-3, 1e9), unit=st.sampled_from(["Gb/s", "GB/s", "GiB/s", "Tb/s"]))
def test_duplex_halves(value: float, unit: str) -> None:
    both = read(f"{value!r} {unit} duplex", "bandwidth")
    one_way = read(f"{value!r} {unit} unidirectional", "bandwidth")
    assert both.value == one_way.value
    assert both.per_direction == one_way.per_direction / 2


@given(times=st.integers(1, 10_000), value=st.floats(1e-3, 1e6), sign=st.sampled_from([" x ", "x", "×", " * "]))
def test_times_is_multiplication(times: int, value: float, sign: str) -> None:
    single = read(f"{value!r} Gb/s", "rate").value
    assert read(f"{times}{sign}{value!r} Gb/s", "rate").value == pytest.approx(times * single, rel=1e-14)


def cases(word: str) -> set[str]:
    """Every way to write a word in capital and small letters, up to the first seven letters."""
    free = word[:7]
    return {"".join(letters) + word[7:] for letters in product(*((c.lower(), c.upper()) for c in free))}


@each("symbol", sorted(TABLE))
def test_letter_case_never_changes_a_value_in_silence(symbol: str) -> None:
    """Only b and B differ, which is their meaning; any other capital is the same value or refused."""
    kind = next(name for name, kind in KINDS.items() if kind.unit == TABLE[symbol][0])
    suffix = " dense" if kind == "peak" else ""
    read_values: dict[bool, set[float]] = {}
    for spelling in cases(symbol):
        quantity = attempt(f"7 {spelling}{suffix}", kind)
        if quantity is not None:
            read_values.setdefault("B" in spelling, set()).add(quantity.value)
    assert read_values
    for counted_in_bytes, values in read_values.items():
        assert len(values) == 1, (counted_in_bytes, values)


@given(value=st.floats(1e-3, 1e6), spaces=st.sampled_from(["", " ", "  ", "\t", "\u00a0"]))
def test_spaces_mean_nothing(value: float, spaces: str) -> None:
    assert (
        read(f"{spaces}{value!r}{spaces}GB/s{spaces or ' '}duplex", "bandwidth").value
        == read(f"{value!r} GB/s duplex", "bandwidth").value
    )


@given(value=st.floats(1e-3, 1e9))
def test_readings_and_read_agree_though_one_uses_pint_and_one_the_table(value: float) -> None:
    text = f"{value!r} GB/s duplex"
    rows = [row for row in readings(text).rows if row.label == "per direction"]
    assert {row.value for row in rows} == {read(text, "bandwidth").per_direction}
    for row in rows:
        shown = read(row.text, "rate").value
        assert shown == pytest.approx(row.value, rel=1e-5)


@given(fraction=st.floats(1e-6, 10))
def test_a_displayed_percentage_is_the_fraction(fraction: float) -> None:
    assert float(percent(fraction, 6).removesuffix(" %").replace(",", "")) == pytest.approx(100 * fraction, rel=1e-5)


def test_a_direction_is_never_invented() -> None:
    assert read("900 GB/s", "bandwidth").direction is None
    assert read("900 GB/s duplex", "bandwidth").direction is Direction.DUPLEX
