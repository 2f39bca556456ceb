"""Numbers of texts with their scales and units, and the calculations between them, in SI and worked out by hand.

Each row of a table stands for a unit, a scale, a sign or a limit of the readers, with a text that only looks alike.
"""

from __future__ import annotations

import pytest

from clusterspec.quantity import HOUR, YEAR
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.rules.readers.results.equations import (
    ENERGY,
    MONEY,
    WATTS,
    equations_in,
    figures_of,
    is_wrong,
    other_numbers,
    priced_amounts,
)
from clusterspec.rules.readers.results.expressions import ExpressionParser, text_products
from clusterspec.rules.readers.tokens import (
    MOST_TOKENS,
    SCALES,
    UNITS,
    Dimensions,
    Token,
    plain_tokens,
    tokens_of,
)
from clusterspec.rules.readers.units import TIME_WORDS
from clusterspec.units.table import TABLE
from tests.effort import each

NONE, TIME, BYTE, RATE = (0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 0, -1, 1)


def numbers(text: str) -> list[Token]:
    return [token for token in tokens_of(text) if token.kind == "number"]


def si(token: Token) -> list[float]:
    """What a number is in SI, by the readings of its digits."""
    return [value * token.scale for value in token.values]


@each(
    "text, values, dimensions",
    [
        ("3 EUR", [3.0], MONEY),
        ("$3", [3.0], MONEY),
        ("3 kEUR", [3e3], MONEY),
        ("3 MUSD", [3e6], MONEY),
        ("3 W", [3.0], WATTS),
        ("3 kW", [3e3], WATTS),
        ("3 MW", [3e6], WATTS),
        ("3 GW", [3e9], WATTS),
        ("3 Wh", [10_800.0], ENERGY),
        ("3 kWh", [10_800e3], ENERGY),
        ("3 MWh", [10_800e6], ENERGY),
        ("3 GWh", [10_800e9], ENERGY),
        ("3 s", [3.0], TIME),
        ("3 min", [180.0], TIME),
        ("3 h", [10_800.0], TIME),
        ("3 Std", [10_800.0], TIME),
        ("3 days", [3 * 86_400.0], TIME),
        ("3 weeks", [21 * 86_400.0], TIME),
        ("3 months", [YEAR / 4], TIME),
        ("3 Jahre", [3 * YEAR], TIME),
        ("3 bytes", [3.0], BYTE),
        (" x 3 B =", [3.0], BYTE),
        ("3 B tokens", [3e9], NONE),
        ("3 kB", [3e3], BYTE),
        ("3 KiB", [3072.0], BYTE),
        ("3 MiB", [3 * 1024.0**2], BYTE),
        ("3 GiB", [3 * 1024.0**3], BYTE),
        ("3 TiB", [3 * 1024.0**4], BYTE),
        ("3 PiB", [3 * 1024.0**5], BYTE),
        ("3 EB", [3e18], BYTE),
        ("3 MB", [3e6], BYTE),
        ("3 GB", [3e9], BYTE),
        ("3 TB", [3e12], BYTE),
        ("3 PB", [3e15], BYTE),
        ("8 Gb", [1e9], BYTE),
        ("8 Tbit", [1e12], BYTE),
        ("8 Gbps", [1e9], RATE),
        ("8 Tbps", [1e12], RATE),
        ("3 %", [0.03], NONE),
        ("3 ‰", [0.003], NONE),
        ("3 nodes", [3.0], NONE),
        # for each of something: EUR/J, and of two things and a period
        ("0.36 EUR per kWh", [1e-7], (1, -1, -1, 0)),
        ("36 EUR/kW/h", [1e-5], (1, -1, -1, 0)),
        ("864 EUR per node and day", [0.01], (1, 0, -1, 0)),
        ("864 EUR per node per day per rack per hour", [0.01], (1, 0, -1, 0)),  # at most three
        ("864 EUR per node or day", [864.0], MONEY),
        ("864 EUR and day", [864.0], MONEY),
        ("5 % per year", [0.05], NONE),
        ("8.64 EUR im Monat", [8.64 * 12 / YEAR], (1, 0, -1, 0)),
        ("20 s im Speicher", [20.0], TIME),
        ("2 TB im Rack", [2e12], BYTE),
        # scales, of money and of counts
        ("2 k USD", [2e3], MONEY),
        ("2 m USD", [2e6], MONEY),
        ("2 mm USD", [2e6], MONEY),
        ("2 thousand EUR", [2e3], MONEY),
        ("2,5 Mio. EUR", [2.5e6], MONEY),
        ("2,5 Mrd. EUR", [2.5e9], MONEY),
        ("2 trillion EUR", [2e12], MONEY),
        ("2 crore ₹", [2e7], MONEY),
        ("2 lakh ₹", [2e5], MONEY),
        ("2 億 ¥", [2e8], MONEY),
        ("2 万 ¥", [2e4], MONEY),
        ("2 억 ₩", [2e8], MONEY),
        ("2 만 ₩", [2e4], MONEY),
        ("2 k tokens", [2e3], NONE),
        ("2 M tokens", [2e6], NONE),
        ("2 B tokens", [2e9], NONE),
        ("2 G tokens", [2e9], NONE),
        ("2 T tokens", [2e12], NONE),
        ("2 bn tokens", [2e9], NONE),
        ("2 T", [2e12], NONE),
        ("2 M of fiber", [2.0], NONE),
        ("2 m of fiber", [2.0], NONE),
        ("2 mm of fiber", [2.0], NONE),
        ("2 lakh nodes", [2e5], NONE),
        # digits of two readings, unless the text or the unit decides
        ("1.250 kW", [1.25e6, 1.25e3], WATTS),
        ("1.250 EUR", [1250.0], MONEY),
        ("1.250 EUR per kW", [1.25, 0.00125], (1, -1, 0, 0)),
        ("0.250 kW", [250.0], WATTS),
        ("1,23,456 ₹", [123_456.0], MONEY),
        ("1 234 567,89 EUR", [1_234_567.89], MONEY),
        ("1'234'567 CHF", [1_234_567.0], MONEY),
    ],
)
def test_a_number_has_its_scale_its_unit_and_what_it_is_for(
    text: str, values: list[float], dimensions: Dimensions
) -> None:
    (token,) = numbers(text)
    assert si(token) == pytest.approx(values)
    assert token.dimensions == dimensions


@each(
    "text, values",
    [
        ("1,250 kW and 17.5 kW", [1250.0, 17.5]),
        ("1.250 kW and 17,5 kW", [1250.0, 17.5]),
        ("1,250 kW and 2,500,000.5 kW", [1250.0, 2_500_000.5]),
        ("1.250 kW and 2.500.000,5 kW", [1250.0, 2_500_000.5]),
        ("1.250 kW and 1.2345 kW", [1.25, 1.2345]),
        ("1,250 kW, 17.5 kW and 17,5 kW", [1250.0, 17.5, 17.5]),  # both signs before decimals: the first reading
    ],
)
def test_the_numbers_of_a_text_show_its_decimal_sign(text: str, values: list[float]) -> None:
    assert [token.values[0] for token in numbers(text)] == values


@each(
    "text, kinds",
    [
        ("a 8x9.5 kW = 76", "word number op number word op number"),
        ("8 x 9 − 3 ÷ 2 · 4", "number op number op number op number op number"),
        ("x = 3", "word op number"),
        ("a >= 3 != 4", "word other other number other other number"),
        ("on 2026-11-28, v1.2.3", "word date other word other other other"),
        ("€3 + €4", "sign number op sign number"),
        ("rack-mounted", "word"),
        ("EUR 3 for EUR each", "word number word word word"),
    ],
)
def test_a_text_is_words_numbers_dates_and_signs_of_calculations(text: str, kinds: str) -> None:
    assert [token.kind for token in plain_tokens(text)][: len(kinds.split())] == kinds.split()


def test_the_sign_of_money_before_a_number_is_its_unit() -> None:
    assert [(token.text, token.unit) for token in tokens_of("EUR 3 for EUR each")] == [
        ("3", "EUR"),
        ("for", ""),
        ("EUR", ""),
        ("each", ""),
    ]


def test_a_long_text_is_read_up_to_its_limit() -> None:
    assert len(plain_tokens("a " * (MOST_TOKENS + 1))) == len(plain_tokens("a " * MOST_TOKENS)) == 4000


@each(
    "text, results",
    [
        ("8 nodes x 9.5 kW", [76e3]),
        ("(1 + 2) x (3 + 4)", [21.0]),
        ("((((1 + 2) x 3))) x 2", [18.0]),  # four brackets inside each other
        ("(((((1 + 2) x 3)))) x 2", None),
        ("8 large aging green node racks x 3", None),
        ("8 large aging green nodes x 3", [24.0]),  # up to four words behind a number
        ("8 x our own 3", [24.0]),
        ("8 x all our own 3", None),  # and two words before one
        ("100 EUR + 19 %", [119.0]),
        ("100 EUR − 19 %", [81.0]),
        ("5 % of the price of 200 EUR", [10.0]),
        ("5 % of a b c d e f 200 EUR", [10.0]),  # six words up to what a share is of
        ("5 % of a b c d e f g 200 EUR", None),
        ("8 kW + 2 h", None),
        ("12 + 3 x 4", [24.0, 12.0]),  # with its first summand and without
        ("12 / 0", None),
        ("16 nodes at 4 EUR", [64.0]),
        ("16 nodes of 4 EUR", [64.0]),
        ("16 nodes at 4 kW", None),
        ("3 - 8", [8.0]),  # no value below zero
        ("2.500 x 1.500", [3.75e6, 3.75e3, 3.75e3, 3.75]),
    ],
)
def test_an_expression_has_its_value_in_si(text: str, results: list[float] | None) -> None:
    found = ExpressionParser(tokens_of(text)).results()
    assert (found and [one.value for one in found]) == (results and pytest.approx(results))


def test_digits_of_two_readings_are_tried_in_all_combinations_up_to_four() -> None:
    for count, combinations in ((1, 2), (3, 8), (4, 16), (5, 16)):
        found = ExpressionParser(tokens_of(" x ".join(["1.500"] * count))).results()
        assert found is not None and len(found) == combinations


def wrong(text: str) -> bool | None:
    """Whether the calculation of a text does not close; None without one."""
    found = [is_wrong(equation) for equation in equations_in(tokens_of(text), text)]
    return any(found) if found else None


@each(
    "text, expected",
    [
        # 1 % and the rounding of the last digit, 8 % where the text says about
        ("7 x 143.0 kW = 1010 kW", False),
        ("7 x 143.0 kW = 1021 kW", True),
        ("7 x 143.0 kW = 1000 kW", False),
        ("7 x 143.0 kW = about 1069 kW", False),
        ("7 x 143.0 kW ≈ 1069 kW", False),
        ("7 x 143.0 kW = 1069 kW", True),
        ("7 x 143.0 kW = about 1111 kW", True),
        ("7 x 143.0 kW = 1.0 MW", False),
        ("7 x 165.0 kW = 1.1 MW", False),  # 1,155 kW: half a digit is 50 kW of 1,100, and 1 %
        ("7 x 167.0 kW = 1.1 MW", True),
        ("7 x 136.0 kW = 900 kW", False),  # zeros that stand for rounded digits: 952 is within 50 + 9
        ("7 x 138.0 kW = 900 kW", True),
        ("7 x 158.0 kW = 1000 kW", False),  # and a tenth at most: 1,106 is within 100 + 10
        ("7 x 160.0 kW = 1000 kW", True),
        ("3 million x 1.51 = 5 million", False),  # a scaled number may be rounded itself: 2.5 to 3.5 million
        # a figure in two units of which one is not written
        ("8 x 50 GB = 3,200 Gbit", False),
        ("36 x 100 = 3,600 h", False),
        ("36 x 100 s = 1 h", False),
        ("12 x 50 = 600 months", False),
        ("48 EUR x 2 h = 4 EUR", False),  # of 24 hours
        ("8760 x 5 kW = 5 MWh", False),
        ("8766 h x 5 kW = 43,830 kWh", False),
        ("24 nodes x 365 = 24 years", False),
        ("5 x 17 kW = 170 kWh", True),
        ("2 x 43,200 = 1 day", False),
        ("7 x 86,400 = 7 days", False),
        ("4 x 2,300 = 21 kW", True),
        # both directions of a link, and bits for bytes
        ("8 x 50 GB per s = 800 GB per s", False),
        ("8 x 50 GB per s = 200 GB per s", False),
        ("8 x 50 GB per s = 3200 GB per s", False),
        ("8 x 50 GB per s = 1200 GB per s", True),
        ("8 x 100 Gbps = 1600 Gbps", False),
        ("8 x 100 Gbps = 400 Gbps", False),
        ("8 x 100 Gbps = 6400 Gbps", False),
        ("8 x 100 Gbps = 2400 Gbps", True),
        ("8 x 50 GB = 800 GB", True),
        ("8 x 50 h = 800 h", True),
        # for a period that the result names
        ("12 x 5,000 EUR = 60,000 EUR a year", False),
        ("12 x 5,000 EUR = 50,000 EUR a year", True),
        ("12 x 5 MUSD = 60 MUSD a year", False),
        ("12 x 5 MUSD = 50 MUSD a year", True),
        ("12 x 5,000 EUR = 720,000 EUR a year", True),
        ("12 x 5,000 EUR = 720,000 EUR per kWh", False),  # 12 hours or months, in units that are not written
        ("12 x 5,000 EUR = 720,000 EUR per kWh a year", False),
        # of summands without a unit some may be counts of other things
        ("8 + 9 = 20 kW", False),
        ("8 kW + 9 kW = 20 kW", True),
        ("8 x 11 = 21 kW", True),
        # counts of other things
        ("6 x 32 dies = 96 chips", False),
        ("6 x 32 dies = 90 chips", True),
        ("6 x 8 cards = 96 ports", False),
        ("6 x 8 cards = 96 racks", True),
        ("6 x 8 cards = 107 ports", True),
        # no calculation: an exchange rate, a range, a multiple, another number behind the result
        ("3 x 100 EUR = 351 USD", None),
        ("3 x 100 = 400 to 500", None),
        ("3 x 100 = 400 x 2", None),
        ("3 x 100 = 400 more", None),
        ("3 x 100 = 400 of our own racks x 2", None),
        ("3 x 100 = 400 of our own blue racks + 2", None),
        ("f(2 x 3) = 7", None),
        ("and 2 x 3 = 7", None),
        ("so 2 x 3 = 7", True),
        ("2 x 3 is 7", None),
        ("2 x 3 nodes is 7 nodes", True),
        ("2 x 3 EUR is 7 EUR", True),
        ("2 x 3 EUR is 0 EUR", False),
        (" + ".join(["1 EUR"] * 12) + " = 12 EUR", False),
        (" + ".join(["2 EUR"] * 14) + " = 90 EUR", None),  # at most twelve operands
    ],
)
def test_a_calculation_closes_within_the_rounding_of_its_figures(text: str, expected: bool | None) -> None:
    assert wrong(text) is expected


SHIFTS = [8, 12, 24, 60, 100, 365, 3600, 8760, 86400, *(1000**n for n in (1, 2, 3)), *(1024**n for n in (1, 2, 3))]
"""Bits of a byte, months, hours, minutes, percents, days, seconds and hours of a year, seconds of a day, prefixes."""


@each("shift", SHIFTS)
def test_a_figure_may_be_written_in_two_units_of_which_one_is_absent(shift: int) -> None:
    assert wrong(f"11 x 23 = {253 * shift} kW") is wrong(f"11 x {23 * shift} = 253 kW") is False
    assert wrong(f"11 x 23 = {278 * shift} kW") is wrong(f"11 x {23 * shift} = 278 kW") is True


@each(
    "text, dimensions, values",
    [
        ("It takes 5 kWh a year at 3 kW.", ENERGY, [18e6]),
        ("It takes 5 kWh a year at 3 kW.", WATTS, [3e3]),
        ("It costs 5 EUR a month, 3 EUR per kW.", MONEY, [5.0]),
        ("It costs 1.500 EUR per h and 2 TEUR.", MONEY, [1500.0, 1.5, 2e3]),
    ],
)
def test_a_figure_has_the_dimensions_that_are_asked_for(text: str, dimensions: Dimensions, values: list[float]) -> None:
    assert [one.value for one in figures_of(text, dimensions)] == values


def test_the_words_of_a_figure_end_at_commas_and_numbers() -> None:
    (first, second) = figures_of("In May, the hall takes 5 kW of heat, then 3 h later the roof 7 kW net.", WATTS)
    assert (first.words, first.sentence) == ("the hall takes ; of heat", 0)
    assert second.words == "later the roof ; net."


@each(
    "text, right",
    [
        ("200 TB a month at 0.05 USD per GB are 1,000 USD a month", [10_000.0]),
        ("2 MWh at 150 EUR per MWh are 300 EUR", [300.0]),
        ("2 MWh at 150 EUR per MWh are 300 USD", []),
        ("2 MWh and 3 MWh at 150 EUR per MWh are 300 EUR", []),
        ("2 MWh at 150 EUR per MWh or 140 EUR per MWh are 300 EUR", []),
        ("2 MWh at 150 EUR per node are 300 EUR", []),
    ],
)
def test_a_cost_is_one_rate_times_one_quantity(text: str, right: list[float]) -> None:
    assert [one.right for one in priced_amounts(text)] == pytest.approx(right)


def test_other_numbers_are_those_that_are_not_used() -> None:
    text = "8 nodes at 5 % of 300 kW"
    assert other_numbers(text, numbers(text)[:1]) == [0.05, 300.0]


@each(
    "text, value, result",
    [
        ("64 nodes x 504 h = 32,256 node-hours", 64 * 504 * HOUR, 32_256 * HOUR),
        ("64 nodes for 504 h are 32,256 node-hours", 64 * 504 * HOUR, 32_256 * HOUR),
        ("64 nodes for 504 h, 32,256 node-hours", 64 * 504 * HOUR, 32_256 * HOUR),
        ("2 T tokens / 4 M tokens = 500,000 steps", 5e5, 5e5),
        ("500,000 steps (2 T tokens / 4 M tokens)", 5e5, 5e5),
        ("1024 sequences x 8192 tokens = 8.4 M tokens", 8_388_608.0, 8.4e6),
        ("6 nodes and 8 GPUs, 48 GPUs", None, None),
        ("64 nodes x 504 h, 12 steps", None, None),
    ],
)
def test_a_product_is_written_with_its_result(text: str, value: float | None, result: float | None) -> None:
    hours = {"node hour": HOUR}
    found = text_products(text)
    assert [one.value for one in found] == pytest.approx([] if value is None else [value])
    assert [one.result.value * hours.get(one.result.unit, 1.0) for one in found] == pytest.approx(
        [] if result is None else [result]
    )


IN_SI = {
    0.001: "‰",
    0.01: "% cents",
    1.0: "€ $ £ ¥ ₹ ₩ euro euros dollar dollars pounds francs yen won zł kr kronor kroner W watt watts "
    "Dollar dólar dólares dollari dollaro dolarów dolary Franken franken franchi francos franków sterline "
    "złotych złote coroas coronas corone kronen Kronen"
    " byte bytes octet octets",
    1e3: "kEUR TEUR kUSD kGBP kCHF kW KW kB KB",
    3600.0: "Wh Std",
    1e6: "MEUR MUSD MGBP MCHF MW MB",
    3.6e6: "kWh KWh kwh",
    125e6: "Gb Gbit Gbps",
    1e9: "GW GB Go",
    3.6e9: "MWh mwh",
    125e9: "Tb Tbit Tbps",
    1e12: "TB To",
    3.6e12: "GWh gwh",
    1e15: "PB Po",
    1e18: "EB",
    1024.0: "KiB",
    1_048_576.0: "MiB",
    1_073_741_824.0: "GiB",
    1_099_511_627_776.0: "TiB",
    1_125_899_906_842_624.0: "PiB",
}
"""Units of texts by their value in SI units, aside from codes of currencies and words of times."""


def test_every_unit_of_texts_has_its_value_in_si() -> None:
    """A Gb is a billion bits, an eighth as many bytes; a Wh is 3,600 J. Units of specs are the same."""
    values = {name: value for value, names in IN_SI.items() for name in names.split()}
    assert {name: UNITS[name][0] for name in values} == values
    others = {*UNITS_PER_DOLLAR, *TIME_WORDS}
    assert {*UNITS} == {*values} | others
    assert {UNITS[name][0] for name in UNITS_PER_DOLLAR} == {1.0}
    shared = {name: factor / divisor for name, (_, factor, divisor) in TABLE.items() if name in UNITS}
    assert {name: UNITS[name][0] for name in shared} == shared and len(shared) > 20


@each(
    ("word", "scale"),
    [
        *((word, 1e3) for word in ("thousand", "tausend", "tsd", "mille", "mil", "k")),
        *((word, 1e4) for word in ("万", "만")),
        ("lakh", 1e5),
        *((word, 1e6) for word in ("million", "millions", "millionen", "millones", "milhões", "miljoen", "milioni")),
        *((word, 1e6) for word in ("mn", "mio", "mln", "mill", "m", "mm")),
        ("crore", 1e7),
        *((word, 1e8) for word in ("億", "억")),
        *((word, 1e9) for word in ("billion", "billions", "milliarden", "milliards", "mrd", "mld", "bn")),
        *((word, 1e12) for word in ("trillion", "billionen", "billones")),  # of the long scale of German and Spanish
    ],
)
def test_a_word_scales_the_number_before_it(word: str, scale: float) -> None:
    assert SCALES[word] == scale
    (number,) = [token for token in tokens_of(f"a total of 3 {word} EUR") if token.kind == "number"]
    assert number.values[0] == pytest.approx(3 * scale) and number.unit == "EUR"
