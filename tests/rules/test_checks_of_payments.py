"""Instalments of leases and conversions of currencies in a quote: on both sides of each limit, by hand."""

from __future__ import annotations

from tests.effort import each

from .test_checks_of_quotes import judge

LEASE = "Price 1,000,000 EUR at 1 % a month"


def lease(instalment: float, *more: str) -> str:
    return "; ".join((f"Lease, monthly instalments | 12 | {instalment}", *more))


RESIDUAL = "Residual value | 1 | 100000"


@each(
    ("text", "lines", "keys", "words"),
    [
        # (1 - 1.01^-12) / 0.01 = 11.25508: 1,000,000 are 88,848.79 a month in arrears, and 87,969.10 in advance
        (
            f"{LEASE}, payable in advance.",
            lease(88848.79),
            "",
            "payments in arrears, but according to the text they are due in",
        ),
        (f"{LEASE}, payable in advance.", lease(88848.79), "", "in advance: 87,969.1 a month"),
        (f"{LEASE}, payable in advance.", lease(87969.10), "", ""),
        (f"{LEASE}, payable in advance.", lease(88930), "", "payments in arrears"),  # within a thousandth
        (f"{LEASE}, payable in advance.", lease(88945), "", ""),
        (f"{LEASE}, payable in arrears.", lease(88848.79), "", ""),
        ("Price 1,000,000 EUR at 1 % a month or 2 % a month, in advance.", lease(88848.79), "", ""),
        ("Price 1,000,000 EUR at 0 % a month, payable in advance.", lease(83333.33), "", ""),
        (f"{LEASE}, payable in advance.", "Lease, monthly instalments | 1 | 88848.79", "", ""),
        # with 100,000 at the end, 88,744.92 today: 80,963.91 in arrears, 80,162.29 in advance
        (f"{LEASE}.", lease(88848.79, RESIDUAL), "", "pays back all of 1,000,000, but 100,000 are paid at the end"),
        (f"{LEASE}.", lease(88848.79, RESIDUAL), "", "80,963.91 a month with this residual value"),
        (f"{LEASE}.", lease(87969.10, RESIDUAL), "", "80,162.29 a month"),
        (f"{LEASE}.", lease(89100, RESIDUAL), "", "80,963.91"),  # within three thousandths
        (f"{LEASE}.", lease(89150, RESIDUAL), "", ""),
        (f"{LEASE}.", lease(80963.91, RESIDUAL), "", ""),
        (f"{LEASE}.", lease(88848.79), "", ""),
        (f"{LEASE}.", lease(88848.79, "Residual value | 2 | 50000"), "", ""),
        (f"{LEASE}, payable in advance.", lease(80963.91, RESIDUAL), "", "in advance: 80,162.29 a month"),
        # 2.5 % a month of 1,190,000 are 29,750, and of 1,000,000 25,000
        ("1,000,000 EUR, 1,190,000 EUR gross, rate 2.5 %.", lease(29750), "tax: 0.19", "25,000 from the price without"),
        ("1,000,000 EUR, 1,190,000 EUR gross, rate 2.5 %.", lease(29775), "tax: 0.19", "is added to it again"),
        ("1,000,000 EUR, 1,190,000 EUR gross, rate 2.5 %.", lease(29785), "tax: 0.19", ""),
        ("1,000,000 EUR, 1,190,000 EUR gross, rate 2.5 %.", lease(25000), "tax: 0.19", ""),
        ("1,000,000 EUR, 1,190,000 EUR gross, rate 2.5 %.", lease(29750), "", ""),
        ("1,000,000 EUR, 1,192,000 EUR gross, rate 2.5 %.", lease(29750), "tax: 0.19", ""),
    ],
)
def test_an_instalment_is_that_of_its_terms(text: str, lines: str, keys: str, words: str) -> None:
    judge("lease-off-formula", words, lines, text, keys)


RATE = "Rate of the order: 1 EUR = 1.25 USD."


@each(
    ("text", "lines", "words"),
    [
        # USD 1,250 at 1.25 are 1,000 EUR; multiplied 1,562.50, not converted 1,250; within half a percent
        (RATE, "A, USD 1,250 | 1 | 1000", ""),
        (RATE, "A, USD 1,250 | 1 | 1562.5", "converts 1,250 USD to 1,562.5 EUR; at the rate of the text, 1.25 USD for"),
        (RATE, "A, USD 1,250 | 1 | 1570", "it is 1,000 EUR"),
        (RATE, "A, USD 1,250 | 1 | 1571", ""),
        (RATE, "A, USD 1,250 | 1 | 1555", "it is 1,000 EUR"),
        (RATE, "A, USD 1,250 | 1 | 1554", ""),
        (RATE, "A, USD 1,250 | 1 | 1250", "it is 1,000 EUR"),
        (RATE, "A, USD 1,250 | 4 | 1250 | 5000", "it is 1,000 EUR"),
        (RATE, "A, USD 1,250 | 4 | 312.5 | 1250", "it is 1,000 EUR"),  # of the whole line
        (RATE, "A, USD 1,250 | 1 | 1300", ""),
        (RATE, "A, USD 1,250 and USD 1,300 | 1 | 1250", ""),
        (RATE, "A, JPY 1,250 | 1 | 1562.5", ""),
        (f"{RATE} The old rate: 1 EUR = 1.1 USD.", "A, USD 1,250 | 1 | 1562.5", ""),
        # nearly one: 1.02 tells the directions apart, 3 % the unconverted amount
        ("1 EUR = 1.03 USD.", "A, USD 1,030 | 1 | 1060.9", "it is 1,000 EUR"),
        ("1 EUR = 1.019 USD.", "A, USD 1,019 | 1 | 1038.4", ""),
        ("1 EUR = 1.04 USD.", "A, USD 1,040 | 1 | 1040", "it is 1,000 EUR"),
        ("1 EUR = 1.029 USD.", "A, USD 1,029 | 1 | 1029", ""),
        # without a rate: one line by another rate than most, by more than 1 %
        (
            "x",
            "A, USD 1,250 | 1 | 1000; B, USD 2,500 | 1 | 2000; C, USD 1,250 | 1 | 1020",
            "the rate of the 2 other lines",
        ),
        ("x", "A, USD 1,250 | 1 | 1000; B, USD 2,500 | 1 | 2000; C, USD 1,250 | 1 | 1009", ""),
        ("x", "A, USD 1,250 | 1 | 1000; B, USD 2,500 | 1 | 2000; C, USD 1,250 | 1 | 1012", "C, USD 1,250` converts"),
        ("x", "A, USD 1,250 | 1 | 1000; B, USD 2,500 | 1 | 2000; C, USD 1,250, net | 1 | 1020", ""),
        ("x", "A, USD 1,250 | 1 | 1000; C, USD 1,250 | 1 | 1020", ""),
        ("x", "A, USD 1,250 | 1 | 1000; B, USD 2,500 | 1 | 2100; C, USD 1,250 | 1 | 1020", ""),
        # in sentences: amounts from a hundred on, within 2 %
        (
            f"{RATE} The USD 1,250 of the switch are EUR 1,562.50.",
            "A | 1 | 5",
            "1,250 USD at `1 EUR = 1.25 USD` are 1,000",
        ),
        (f"{RATE} The USD 1,250 of the switch are EUR 1,000.", "A | 1 | 5", ""),
        (f"{RATE} The USD 1,250 of the switch are EUR 1,300.", "A | 1 | 5", ""),
        (f"{RATE} The USD 1,250 and USD 9,000 are EUR 1,562.50.", "A | 1 | 5", ""),
        (f"{RATE} The USD 99 of the cable are EUR 123.75.", "A | 1 | 5", ""),
        (f"{RATE} The USD 100 of the cable are EUR 125.", "A | 1 | 5", "100 USD at"),
    ],
)
def test_an_amount_is_converted_at_the_rate_of_its_text(text: str, lines: str, words: str) -> None:
    judge("conversion-off-rate", words, lines, text)


NODES = "DGX H200 node | 8 | 100"
ONLY = "The discount is given only on items 1 to 2."
HARDWARE = "The discount holds only for hardware."
THREE = "1 Server | 1 | 100; 2 Rack | 1 | 200; 3 Support | 1 | 300"
RISES = "Prices rise by 4 % each year."
MONTHS = "Colocation, months | 36 | 100"
RENTED = "needed_by: 2027-03-01; prices: {node_hour: 23.2}"


@each(
    ("text", "lines", "keys", "words"),
    [
        # 8 nodes, 64 accelerators, and what the quote has of nodes beyond them
        ("x", f"{NODES}; Rebate from 8 systems | 1 | -5", "", ""),
        ("x", f"{NODES}; Rebate from 9 systems | 1 | -5", "", "begins at 9 nodes, but the quote has 8"),
        ("x", f"{NODES}; Rebate from 64 GPUs | 1 | -5", "", ""),
        ("x", f"{NODES}; Rebate from 65 GPUs | 1 | -5", "", "begins at 65 accelerators, but the quote has 64"),
        ("x", f"{NODES}; Rebate, 9 servers or more | 1 | -5", "", "begins at 9 nodes"),
        ("x", f"{NODES}; Rebate, 65 GPUs or more | 1 | -5", "", "begins at 65 accelerators"),
        ("x", f"{NODES}; Fee from 9 systems | 1 | 5", "", ""),
        ("x", "DGX H200 node | 12 | 100; Rebate from 12 systems | 1 | -5", "", ""),
        ("x", "DGX H200 node | 12 | 100; Rebate from 13 systems | 1 | -5", "", "the quote has 12"),
        ("x", "Cable, minimum order 50 | 50 | 1", "", ""),
        ("x", "Cable, minimum order 50 | 49 | 1", "", "is ordered 49 times, but the least order is 50"),
        ("x", "Cable, minimum order 50 % | 49 | 1", "", ""),
        # 10 % off 600 are 540; off 300 of it 570
        (
            ONLY,
            THREE,
            "discount: 0.1; quoted_total: 540",
            "lines 1 to 2 only, but the total takes it off all lines: 570 EUR",
        ),
        (ONLY, THREE, "discount: 0.1; quoted_total: 570", ""),
        (ONLY, THREE, "discount: 0.1; tax: 0.1; quoted_total: 594", "627 EUR with it only on those"),
        (ONLY, THREE, "quoted_total: 600", ""),
        (ONLY, THREE, "discount: 0.1", ""),
        (ONLY.replace("2", "3"), THREE, "discount: 0.1; quoted_total: 540", ""),
        (ONLY.replace("1 to 2", "2 to 3"), THREE, "discount: 0.1; quoted_total: 540", "550 EUR with it"),
        (ONLY, "Server | 1 | 100; Rack | 1 | 200; Support | 1 | 300", "discount: 0.1; quoted_total: 540", "570 EUR"),
        (ONLY, "5 Server | 1 | 100; 6 Rack | 1 | 200; 7 Bolt | 1 | 300", "discount: 0.1; quoted_total: 540", "600 EUR"),
        # a discount from an amount on
        ("Discount of 5 % from 1,000,000 EUR.", "DGX H200 node | 8 | 125000", "discount: 0.05", ""),
        (
            "Discount of 5 % from 1,000,000 EUR.",
            "DGX H200 node | 8 | 124999",
            "discount: 0.05",
            "the discount begins at 1,000,000 EUR, but the lines sum to 999,992 EUR",
        ),
        (
            "Discount of 5 % from 1.5 million EUR.",
            "DGX H200 node | 8 | 125000",
            "discount: 0.05",
            "begins at 1,500,000",
        ),
        ("Discount of 5 % from 1,000,000 EUR.", NODES, "", ""),
        ("Delivery from 1,000,000 EUR.", NODES, "discount: 0.05", ""),
        # a price that has the discount in it
        (
            "x",
            "Server, net of 5 % | 1 | 100",
            "discount: 0.05",
            "is priced net of 5 %, but `discount` takes it off again",
        ),
        ("x", "Server, less 5 % discount | 1 | 100", "discount: 0.05", "net of 5 %"),
        ("x", "Server, net of 5 % | 1 | 100", "discount: 0.06", ""),
        ("x", "Server, net of 5 % | 1 | 100", "", ""),
        # 10 % off 1,000 are 900; off 800 of it 920
        (
            HARDWARE,
            f"{NODES}; Support, 3 years | 1 | 200",
            "discount: 0.1; quoted_total: 900",
            "200 EUR of services too: 920 EUR",
        ),
        (HARDWARE, f"{NODES}; Support, 3 years | 1 | 200", "discount: 0.1; quoted_total: 920", ""),
        (
            HARDWARE,
            f"{NODES}; Support, 3 years | 1 | 200",
            "discount: 0.1; tax: 0.1; quoted_total: 990",
            "1,012 EUR without",
        ),
        (HARDWARE, f"{NODES}; Cable | 1 | 200", "discount: 0.1; quoted_total: 900", ""),
        (HARDWARE, f"{NODES}; Support, 3 years | 1 | 200", "quoted_total: 1000", ""),
        # 36 months at 100: 3,600 x ((1 + 1.04 + 1.0816) / 3 - 1) = 145.92
        (
            RISES,
            MONTHS,
            "term: 3 years; quoted_total: 3600",
            "rise by 4 % a year, but the lines count 3 years at the price of",
        ),
        (RISES, MONTHS, "term: 3 years; quoted_total: 3600", "146 EUR are missing before tax"),
        (RISES, MONTHS, "term: 18 months; quoted_total: 3600", "count 2 years at the price of the first: 72 EUR"),
        (RISES, MONTHS, "term: 17 months; quoted_total: 3600", ""),
        (RISES, MONTHS, "term: 10 years; quoted_total: 3600", "count 10 years at the price of the first: 722 EUR"),
        (RISES, MONTHS, "term: 11 years; quoted_total: 3600", ""),
        (RISES, MONTHS, "term: 3 years", ""),
        (RISES, MONTHS, "quoted_total: 3600", ""),
        (RISES, NODES, "term: 3 years; quoted_total: 800", ""),
        (f"{RISES} Rents rise by 2 % each year.", MONTHS, "term: 3 years; quoted_total: 3600", ""),
        ("Prices rise by 4 %.", MONTHS, "term: 3 years; quoted_total: 3600", ""),
        ("The fixed prices contain the rise by 4 % each year.", MONTHS, "term: 3 years; quoted_total: 3600", ""),
        # a credit that ends before the machine is there
        (
            "x",
            "Credit for usage until 2027-02-28 | 1 | -45",
            RENTED,
            "ends on 2027-02-28, but the machine is needed on 2027",
        ),
        ("x", "Credit for usage until 2027-03-01 | 1 | -45", RENTED, ""),
        ("x", "Credit for usage until 2027-02-28 | 1 | 45", RENTED, ""),
        ("x", "Credit for usage until 2027-02-28 | 1 | -45", "needed_by: 2027-03-01; prices: {node: 9}", ""),
    ],
)
def test_a_condition_of_a_line_or_a_text_is_met(text: str, lines: str, keys: str, words: str) -> None:
    judge("quote-condition-unmet", words, lines, text, keys)
