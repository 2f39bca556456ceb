"""What is refused, by which rule, and what the author is told to write."""

from __future__ import annotations

import pickle

import pytest

from clusterspec.units import KINDS, UnitFault, other_unit_fault, read
from clusterspec.units.symbols import quoted_text, text_of
from clusterspec.units.table import TABLE
from tests.effort import each

REFUSED = [
    # text, kind, rule, what the help offers
    ("400 gb/s", "line_rate", "ambiguous-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("400 gbps", "line_rate", "ambiguous-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("400 GBPS", "line_rate", "ambiguous-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("400 Gbs", "line_rate", "ambiguous-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("400 GB/S", "line_rate", "ambiguous-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("8 x 400gbps duplex", "line_rate", "ambiguous-unit", ("`8 x 400 Gb/s duplex`", "`8 x 400 GB/s duplex`")),
    ("80 gb", "bytes", "ambiguous-unit", ("`80 Gb`", "`80 GB`")),
    ("80 gib", "bytes", "ambiguous-unit", ("`80 Gib`", "`80 GiB`")),
    ("80 gb", "rate", "ambiguous-unit", ("`80 Gb/s`", "`80 GB/s`")),
    ("64 kb", "bytes", "ambiguous-unit", ("`64 kbit`", "`64 kB`")),
    ("80 gb", "power", "wrong-unit", ("kW",)),
    (400, "line_rate", "missing-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("400", "line_rate", "missing-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("400 G", "line_rate", "missing-unit", ("`400 Gb/s`", "`400 GB/s`")),
    ("900", "bandwidth", "missing-unit", ("`900 GB/s duplex`", "`900 GB/s unidirectional`")),
    ("2T", "bytes", "missing-unit", ("`2 TB`", "`2 TiB`")),
    ("32K", "bytes", "missing-unit", ("`32 KB`", "`32 KiB`")),
    (44, "power", "missing-unit", ("`44 kW`",)),
    ("30", "time", "missing-unit", ("`30 s`", "`30 min`")),
    (989e12, "peak", "missing-unit", ("dense", "sparse")),
    ("80 GB", "rate", "wrong-unit", ("`80 GB/s`",)),
    ("80 Gbit duplex", "bandwidth", "wrong-unit", ("`80 Gb/s duplex`",)),
    ("80 GB/s", "bytes", "wrong-unit", ("`80 GB`",)),
    ("80 GB duplex", "bytes", "wrong-unit", ("leave it out",)),
    ("80 GB/s dense", "bandwidth", "wrong-unit", ("leave",)),
    ("989 TFLOP/s duplex", "peak", "wrong-unit", ("leave it out",)),
    ("989 TFLOP dense", "peak", "wrong-unit", ("`989 TFLOP/s dense`",)),
    ("1979 TOPS dense", "peak", "wrong-unit", ("TFLOP/s",)),
    ("32 GT/s", "rate", "wrong-unit", ("lane", "32 Gb/s")),
    ("400 MHz", "rate", "wrong-unit", ("GB/s",)),
    ("10 kWh", "power", "wrong-unit", ("kW",)),
    ("10 kVA", "power", "wrong-unit", ("kW",)),
    ("40 %", "number", "wrong-unit", ("`0.4`",)),
    ("40%", "rate", "wrong-unit", ("GB/s",)),
    ("64 GB", "count", "wrong-unit", ("alone",)),
    ("2 s", "ratio", "wrong-unit", ("alone",)),
    ("989 TFLOP/s", "peak", "missing-sparsity", ("`989 TFLOP/s dense`", "`989 TFLOP/s sparse`")),
    ("1,5 GB", "bytes", "unreadable-quantity", ("`1.5 GB`", "`15 GB`")),
    ("1,500 GB", "bytes", "unreadable-quantity", ("`1.500 GB`", "`1500 GB`")),
    ("8 x 1,5 GB/s duplex", "bandwidth", "unreadable-quantity", ("`8 x 1.5 GB/s duplex`", "`8 x 15 GB/s duplex`")),
    ("5 m", "time", "unreadable-quantity", ("`5 min`", "`5 ms`")),
    ("3 H", "time", "unreadable-quantity", ("`3 h`",)),
    ("50 GBytes/sek", "rate", "unreadable-quantity", ("`50 GB/s`",)),
    ("32 gt/s", "transfer_rate", "unreadable-quantity", ("`32 GT/s`",)),
    ("32 gt/s", "rate", "wrong-unit", ("GB/s",)),
    ("10 mW", "power", "unreadable-quantity", ("`10 MW`",)),
    ("10 mw", "power", "unreadable-quantity", ("`10 MW`",)),
    ("900 GB/s per GPU", "bandwidth", "unreadable-quantity", ("duplex", "unidirectional")),
    ("900 GB/s half duplex", "bandwidth", "unreadable-quantity", ("duplex",)),
    ("1 h 30 min", "time", "unreadable-quantity", ("one unit",)),
    ("192 GB HBM3e", "bytes", "unreadable-quantity", ("leave them out: `192 GB`",)),
    ("1:0", "ratio", "unreadable-quantity", ("`2:1`",)),
    ("2/1", "ratio", "unreadable-quantity", ("`2:1`",)),
    ("1:1:1", "ratio", "unreadable-quantity", ("`2:1`",)),
    ("2.5", "count", "unreadable-quantity", ("whole",)),
    ("15t", "count", "unreadable-quantity", ("`15T`",)),
    ("0x10", "count", "unreadable-quantity", ("whole",)),
    ("-5 GB", "bytes", "unreadable-quantity", ("zero or more",)),
    ("−5 GB", "bytes", "unreadable-quantity", ("zero or more",)),
    (-5, "count", "unreadable-quantity", ("zero or more",)),
    ("0 Gb/s", "line_rate", "unreadable-quantity", ("above zero",)),
    ("0 TFLOP/s dense", "peak", "unreadable-quantity", ("above zero",)),
    ("", "bytes", "unreadable-quantity", ("begin with the number",)),
    ("GB", "bytes", "unreadable-quantity", ("begin with the number",)),
    ("about 5 GB", "bytes", "unreadable-quantity", ("begin with the number",)),
    ("nan", "number", "unreadable-quantity", ("number",)),
    ("inf GB", "bytes", "unreadable-quantity", ("number",)),
    (float("inf"), "number", "unreadable-quantity", ("number",)),
    (float("nan"), "count", "unreadable-quantity", ("number",)),
    ("1e400 B", "bytes", "unreadable-quantity", ("number",)),
    ("1e308 EB", "bytes", "unreadable-quantity", ("smaller",)),
    ("999999999 x 1e308 B", "bytes", "unreadable-quantity", ("smaller",)),
    ("1e-400 GB", "bytes", "unreadable-quantity", ("number",)),
    ("1e300:1e-300", "ratio", "unreadable-quantity", ("`2:1`",)),
    (10**400, "count", "unreadable-quantity", ("smaller",)),
    (10**5000, "count", "unreadable-quantity", ("smaller",)),
    ("9" * 101, "count", "unreadable-quantity", ("100 characters",)),
    (True, "count", "unreadable-quantity", ("number",)),
    ("٣ GB", "bytes", "unreadable-quantity", ("number",)),
    ("５ GB", "bytes", "unreadable-quantity", ("number",)),
    ("5 ＧB", "bytes", "unreadable-quantity", ("`5 B`",)),
]


@each(("text", "kind", "rule", "offered"), REFUSED)
def test_what_is_not_plain_is_refused_with_advice(
    text: str | int | float, kind: str, rule: str, offered: tuple[str, ...]
) -> None:
    with pytest.raises(UnitFault) as caught:
        read(text, kind)
    assert caught.value.rule == rule, caught.value
    for words in offered:
        assert words in caught.value.help, caught.value.help


@each(("text", "kind"), [(row[0], row[1]) for row in REFUSED if isinstance(row[0], str) and row[0]])
def test_the_message_holds_the_text_as_written(text: str, kind: str) -> None:
    with pytest.raises(UnitFault) as caught:
        read(text, kind)
    assert text.strip()[:40] in caught.value.message


@pytest.mark.parametrize("row", [row for row in REFUSED if row[2] in ("ambiguous-unit", "missing-sparsity")])
def test_what_the_help_offers_can_be_read(row: tuple[str, str, str, tuple[str, ...]]) -> None:
    for offered in row[3]:
        read(offered.strip("`"), row[1])


def test_messages_cannot_send_escape_sequences() -> None:
    with pytest.raises(UnitFault) as caught:
        read("5 \x1b[2J\u202e", "bytes")
    assert caught.value.message.isprintable()


def test_a_fault_survives_the_way_between_processes() -> None:
    fault = UnitFault("wrong-unit", "message", "help")
    copy = pickle.loads(pickle.dumps(fault))
    assert (copy.rule, copy.message, copy.help) == (fault.rule, fault.message, fault.help)


@each("name", [name for name, kind in KINDS.items() if kind.unit != "1"])
def test_suggested_values_can_be_read(name: str) -> None:
    for unit in KINDS[name].suggestions:
        assert read(f"7 {unit}", name).unit == KINDS[name].unit


@pytest.mark.parametrize("value", [True, False, None, [1], {"a": 1}])
def test_what_is_neither_text_nor_number_is_no_quantity(value: object) -> None:
    with pytest.raises(UnitFault, match="cannot read") as fault:
        read(value, "count")  # type: ignore[arg-type]
    assert str(value) in str(fault.value)


@pytest.mark.parametrize("value", [None, [1]])
def test_the_advice_for_what_is_no_scalar_names_number_and_unit(value: object) -> None:
    with pytest.raises(UnitFault, match="write a number and its unit"):
        text_of(value)


@pytest.mark.parametrize(("length", "shown"), [(48, "x" * 48), (49, "x" * 48 + "…"), (120, "x" * 48 + "…")])
def test_a_message_repeats_48_characters_of_a_text(length: int, shown: str) -> None:
    assert quoted_text("x" * length) == f"`{shown}`"


def test_messages_contain_no_control_characters() -> None:
    assert quoted_text("4\x1b[0m\n") == "`4\\u001b[0m\\u000a`"


@each("symbol", ["GT/s", "GB", "GB/s", "W", "s", "FLOP/s", "FLOP"])
def test_advice_on_another_unit_is_of_the_two_units_alone(symbol: str) -> None:
    """An amount becomes a rate of it and a rate an amount; lanes are named where GT/s stand for bytes per second."""
    unit = TABLE[symbol][0]
    for name, kind in KINDS.items():
        if kind.unit == unit:
            continue
        help_ = other_unit_fault(f"32 {symbol}", symbol, symbol, symbol, kind).help
        assert ("a lane of 32 GT/s" in help_) == (symbol == "GT/s" and kind.unit == "B/s"), name
        assert ("if it is the amount per second" in help_) == (kind.unit == f"{unit}/s"), name
        assert ("without the time" in help_) == (unit == f"{kind.unit}/s"), name
