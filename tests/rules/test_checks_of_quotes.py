"""Checks within a rule that no example of its page shows: sums, shares, periods and units of quotes, by hand.

A row has the lines of a quote, what the rule says of them, and nothing where they are sound.
"""

from __future__ import annotations

from clusterspec import rules
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h200, nodes: 8}}
procurement:
  currency: EUR
  as_of: 2026-11-02
{keys}
  quote:
{lines}
"""


def said(rule: str, lines: str, text: str = "x", keys: str = "") -> list[str]:
    """What a rule says of lines that are parted by `;`, each a part, a quantity, a unit price and perhaps a price."""
    written = []
    for line in lines.split("; "):
        part, *numbers = line.split(" | ")
        names = zip(("quantity", "unit_price", "price"), numbers, strict=False)
        written.append(
            f'    - {{part: "{part}", ' + ", ".join(f"{name}: {value}" for name, value in names if value != "-") + "}"
        )
    given = "\n".join(f"  {key}" for key in keys.split("; ") if key)
    study = study_text(SPEC.format(text=text, keys=given, lines="\n".join(written)), SETTINGS)
    assert not study.loading, study.loading
    return [problem.message for problem in rules.run_rules(study.facts(), {rule}) if problem.rule == rule]


def judge(rule: str, words: str, lines: str, text: str = "x", keys: str = "") -> None:
    found = said(rule, lines, text, keys)
    if not words:
        assert found == []
    else:
        assert any(words in message for message in found), found


NODES = "DGX H200 node | 8 | 100"


@each(
    ("lines", "words"),
    [
        # a share of a sum: 18 % of the smallest other line, and not below it
        ("Lease | - | - | 1000; Service | - | - | 500; Option, 18 % of the sum | - | - | 89", "line alone are 90"),
        ("Lease | - | - | 1000; Service | - | - | 500; Option, 18 % of the sum | - | - | 90", ""),
        ("Lease | - | - | 1000; Rebate | - | - | -1; Option, 18 % of the sum | - | - | 179", "alone are 180"),
        ("Lease | - | - | 1000; Service | - | - | 1; Option, 18 % of the sum | - | - | 0.1", "smallest other line"),
        ("Lease | - | - | 1000; Option, 18 % of the sum | - | - | 0", ""),
        ("Lease | - | - | 1000; Option, 18.00 % of the sum | - | - | 179.9", ""),  # rounded
        # a rebate on all lines that is that of one: 5 % of 1,000, and of 1,500
        ("A | - | - | 1000; B | - | - | 500; 5 % off on all lines | - | - | -50", "all lines are 75"),
        ("A | - | - | 1000; B | - | - | 500; 5 % off on all lines | - | - | -25", "all lines are 75"),
        ("A | - | - | 1000; B | - | - | 500; 5 % off on all lines | - | - | -75", ""),
        ("A | - | - | 1000; B | - | - | 500; 5 % off on all lines | - | - | -60", ""),
        ("A | - | - | 1000; 5 % off on all lines | - | - | -50", ""),
        ("A | - | - | 1000; B | - | - | 0.5; 5 % off on all lines | - | - | -50", ""),
        # a list price less its percents, whole or rounded to a thousandth
        ("Gateway, list price 5,000 less 12 % | 2 | 4500", "leaves 4,400 EUR, but the price is 4,500"),
        ("Gateway, list price 5,000 less 12.5 % | 2 | 4375", ""),
        ("Gateway, list price 5,000 less 12 % | 2 | 4403", ""),
        ("Gateway, list price 5,000 less 12 % | 2 | 4407", "leaves 4,400"),
        ("Gateway, list price 5,000 less 12 % | 2 | 5000", ""),
        ("Gateway, list price 5,000 less 12 % | 2 | 0", ""),
        ("Special price reduction | - | - | 10", "is added to the others"),
        ("Special price reduction | - | - | -10", ""),
    ],
)
def test_a_price_is_that_of_its_text(lines: str, words: str) -> None:
    judge("price-off-text", words, lines)


RISES = "The price rises by 4 % in month 13 and month 25."


@each(
    ("text", "prices", "words"),
    [
        # 100, 104 and 108.16
        (RISES, (100, 104, 108.16), ""),
        (RISES, (100, 104, 108), ""),  # rounded to cents at each step
        (
            RISES,
            (100, 104, 107.5),
            "from month 25 the price is 108.16 EUR according to the text, but the line has 107.5 EUR",
        ),
        (RISES, (100, 102, 106.08), "from month 13 the price is 104 EUR"),
        (RISES, (100, 104), ""),  # another number of spans than the text has
        ("The price rises by 4 % in month 13.", (100, 103), "from month 13 the price is 104 EUR"),
        (f"{RISES} The rent rises by 2 % in month 13.", (100, 103, 105), ""),
        ("The price rises by 4 % in month 1 and month 13.", (100, 103, 105), ""),
    ],
)
def test_a_price_rises_by_the_steps_of_the_text(text: str, prices: tuple[float, ...], words: str) -> None:
    lines = [f"Colocation, months {12 * at + 1}-{12 * at + 12} | 12 | {price}" for at, price in enumerate(prices)]
    judge("price-off-text", words, "; ".join(lines), text)


@each(
    ("lines", "words", "keys"),
    [
        # product and total, to a cent or a millionth
        ("A | 3 | 100 | 310", "3 × 100 is 300 EUR, not 310 EUR", ""),
        ("A | 3 | 100 | 300.01", "", ""),
        ("A | 3 | 100 | 300.02", "is 300 EUR", ""),
        ("A | 3 | 100", "too little", "quoted_total: 299"),
        ("A | 3 | 100", "sum to 300 EUR, not 301 EUR: 1 EUR too much", "quoted_total: 301"),
        ("A | 3 | 100", "sum to 324.9 EUR, with discount and tax", "quoted_total: 300; discount: 0.05; tax: 0.14"),
        # a tax in a line and in the key: 19 % of 400 are 76, within 2 %
        ("A | 3 | 100; B | 1 | 100; VAT 19 % | 1 | 76", "`tax: 0.19` adds it again", "tax: 0.19"),
        ("A | 3 | 100; B | 1 | 100; VAT 19 % | 1 | 77.5", "adds it again", "tax: 0.19"),
        ("A | 3 | 100; B | 1 | 100; VAT 19 % | 1 | 78", "", "tax: 0.19"),
        ("A | 3 | 100; B | 1 | 100; VAT 19 % | 1 | 76", "", ""),
        # an inverted rate: 1.17 USD are one EUR, 0.85 EUR one USD
        ("A at 1 EUR = 0.9 USD | 1 | 5", "is inverted: about 1.11 USD are one EUR", ""),
        ("A at 1 EUR = 0.7 USD | 1 | 5", "", ""),  # as far from the inverse
        ("A at 1 EUR = 1.17 USD | 1 | 5", "", ""),
        ("A at 1 EUR = 0.97 USD | 1 | 5", "", ""),
        # 1,170 USD at 1.17 are 1,000 EUR, with a fee of 2 % at most
        ("A, 1,170 USD at 1 EUR = 1.17 USD | 1 | 1000", "", ""),
        ("A, 1,170 USD at 1 EUR = 1.17 USD | 1 | 1019", "", ""),
        ("A, 1,170 USD at 1 EUR = 1.17 USD | 1 | 1021", "1,170 USD at", ""),
        ("A, 1,170 USD at 1 EUR = 1.17 USD | 1 | 1369", "are 1,000 EUR, not 1,369 EUR", ""),
        # a trade-in as a credit and in the price
        ("A, less trade-in | 1 | 900; Trade-in of old nodes | 1 | -50", "has it in its price already", ""),
        ("A, less trade-in | 1 | 900; Trade-in of old nodes | 1 | 50", "", ""),
        ("A | 1 | 900; Trade-in of old nodes | 1 | -50", "", ""),
        ("A, with a trade-in | 1 | 900; Trade-in of old nodes | 1 | -50", "", ""),
        # 5 % of 1,000, of 1,500, or of 500, and ten times less or more
        ("A | 1 | 1000; B | 1 | 500; Rebate 5 % | 1 | -75", "", ""),
        ("A | 1 | 1000; B | 1 | 500; Rebate 5 % | 1 | -25", "", ""),
        (
            "A | 1 | 1000; B | 1 | 500; Rebate 5 % | 1 | -7.5",
            "takes off 7.5 EUR, but 5 % of these lines are 75 EUR",
            "",
        ),
        ("A | 1 | 1000; B | 1 | 500; Rebate 5 % | 1 | -750", "5 % of these lines are 75 EUR", ""),
        ("A | 1 | 1000; B | 1 | 500; Rebate 5 % | 1 | -60", "", ""),
        (
            "; ".join([*(f"A{at} | 1 | {1000 + at}" for at in range(38)), "B | 1 | 500", "Rebate 5 % | 1 | -2.5"]),
            "5 %",
            "",
        ),
        (
            "; ".join([*(f"A{at} | 1 | {1000 + at}" for at in range(39)), "B | 1 | 500", "Rebate 5 % | 1 | -2.5"]),
            "",
            "",
        ),
        # 3 years at 4 % more each: 100 x (1 + 1.04 + 1.0816) = 312.16
        ("Support, rising by 4 % every year, 36 months | 3 | 100", "3 years are 312 EUR, not 300 EUR", ""),
        ("Support per year, rising by 4 % per year | 3 | 100", "3 years are 312 EUR", ""),
        ("Support, rising by 4 % every year | 3 | 100", "3 years are 312 EUR", "term: 3 years"),
        ("Support, rising by 4 % every year | 3 | 100", "", "term: 1 year"),
        ("Support, rising by 4 % every year | 3 | 100", "", ""),
        ("Support per year, rising by 4 % per year | 11 | 100", "", ""),
        ("Support per year, rising by 4 % per year | 10 | 100", "10 years are 1,201 EUR", ""),
        ("Support per year, rising by 4 % per year | 1 | 100", "", ""),
        ("Support, rising by 4 % every year, 23 months | 3 | 100", "", ""),
        ("Support, rising by 4 % every year, 24 months | 3 | 100", "2 years are 306 EUR", ""),
        ("Support, rising by 4 % every year, 36 months | 3 | 100 | 312.16", "3 × 100 is 300", ""),
        # another currency, and a line twice
        ("A, USD 117 | 1 | 117", "USD 117 of the text stands as EUR", ""),
        ("A, USD 117 | 1 | 100", "", ""),
        ("A, priced in USD | 1 | 117", "is priced in USD, but the quote adds it up in EUR", ""),
        ("A, priced in EUR | 1 | 117", "", ""),
        ("A, price in £ | 1 | 117", "priced in GBP", ""),
        ("A | 1 | 5; B | 1 | 5; a | 1 | 5", "lines 1 and 3 have the same part", ""),
        ("A | 1 | 5; A | 2 | 5; A | 1 | 6", "", ""),
    ],
)
def test_the_amounts_of_a_quote_follow_from_each_other(lines: str, words: str, keys: str) -> None:
    judge("quote-arithmetic", words, lines, keys=keys)


LEFT_OUT = "Optional parts are not included in the order."


@each(
    ("text", "lines", "words"),
    [
        (LEFT_OUT, "A | 1 | 300; B (option) | 1 | 100", "`quoted_total` includes it: 300 EUR without it"),
        (LEFT_OUT, "A | 1 | 300; B (option, exercised) | 1 | 100", ""),
        (LEFT_OUT, "A | 1 | 400; B (option) | 1 | 0", ""),
        (LEFT_OUT, "B (option) | 1 | 400", ""),
        (LEFT_OUT, "A | 1 | 399.5; B (option) | 1 | 0.5", "includes it: 399.5 EUR"),
        ("x", "A | 1 | 300; B (option), not included | 1 | 100", "includes it: 300 EUR"),
        ("x", "A | 1 | 300; B (option) | 1 | 100", ""),
        ("Optional parts are not included in the order.", "A | 1 | 300; Cable | 1 | 100", ""),
    ],
)
def test_an_option_that_the_text_leaves_out_is_not_in_the_total(text: str, lines: str, words: str) -> None:
    judge("quote-arithmetic", words, lines, text, "quoted_total: 400")


FRAMEWORK = "The framework agreement is capped at 1,000,000 EUR"


@each(
    ("text", "keys", "words"),
    [
        # 800,000 asked
        (f"{FRAMEWORK}.", "", ""),
        (f"{FRAMEWORK}, of which 200,000 EUR are used.", "", ""),
        (
            f"{FRAMEWORK}, of which 201,000 EUR are used.",
            "",
            "the quote of 800,000 EUR is above the 799,000 EUR that are left",
        ),
        (f"{FRAMEWORK}, of which 201,000 EUR are for tests.", "", ""),
        (f"{FRAMEWORK}, of which 201,000 EUR and 100,000 EUR are used.", "", ""),
        (f"{FRAMEWORK}, of which 1,000,000 EUR are used.", "", ""),
        ("The framework agreement is capped at 799,000 EUR.", "", "above the 799,000 EUR"),
        ("The framework agreement is of 799,000 EUR.", "", ""),
        ("The budget is capped at 799,000 EUR.", "", ""),
        # 952,000 with 19 % of tax, 800,000 without
        (
            "The framework agreement is capped at 900,000 EUR.",
            "tax: 0.19",
            "the quote of 952,000 EUR is above the 900,000 EUR",
        ),
        ("The framework agreement is capped at 900,000 EUR net.", "tax: 0.19", ""),
        (
            "The framework agreement is capped at 799,000 EUR net.",
            "tax: 0.19",
            "the quote of 800,000 EUR without tax is above",
        ),
    ],
)
def test_a_quote_stays_within_what_is_left_of_a_framework(text: str, keys: str, words: str) -> None:
    judge("funding-short-of-quote", words, "DGX H200 node | 8 | 100000", text, keys)


REVERSE = "Reverse charge applies, and the 21 % cannot be deducted."


@each(
    ("text", "keys", "words"),
    [
        # 800 x 1.21 = 968
        (REVERSE, "budget: 968", ""),
        (REVERSE, "budget: 967", "owes 21 % of tax under the reverse charge and may not deduct it: 968 EUR in all"),
        (REVERSE, "budget: 967; tax: 0.1", ""),
        (REVERSE, "", ""),
        ("Reverse charge applies, 21 %.", "budget: 967", ""),
        ("Reverse charge applies. The 21 % cannot be deducted.", "budget: 967", "968 EUR in all"),
        ("The 21 % cannot be deducted.", "budget: 967", ""),
        ("Reverse charge applies. The 21 % or 9 % cannot be deducted.", "budget: 967", ""),
        (f"{REVERSE} The rebate is 9 %.", "budget: 967", "968 EUR in all"),
    ],
)
def test_a_budget_holds_the_tax_that_nobody_deducts(text: str, keys: str, words: str) -> None:
    judge("funding-short-of-quote", words, NODES, text, keys)


GRANT = "The grant excludes maintenance and support."


@each(
    ("text", "lines", "words"),
    [
        (
            GRANT,
            f"{NODES}; Support, 3 years | 1 | 50",
            "costs 50 EUR, but according to the text the funds exclude support",
        ),
        (GRANT, f"{NODES}; Support, 3 years | 1 | 0", ""),
        (GRANT, NODES, ""),
        ("Support is paid by the institute, as the grant excludes support.", f"{NODES}; Support | 1 | 50", ""),
        ("The contract excludes support.", f"{NODES}; Support, 3 years | 1 | 50", ""),
        ("The grant includes support.", f"{NODES}; Support, 3 years | 1 | 50", ""),
    ],
)
def test_what_funds_exclude_is_in_no_line(text: str, lines: str, words: str) -> None:
    judge("funding-short-of-quote", words, lines, text)


@each(
    ("line", "keys", "words"),
    [
        # 500 TB: sold by the terabyte, by the gigabyte, and for months; within 5 %
        ("Store 500 TB, price per TB | 500 | 9", "", ""),
        ("Store 500 TB, price per GB | 500000 | 9", "", ""),
        ("Store 500 TB, price per GB | 500 | 9", "", "is sold per GB, but 500 is its size in TB"),
        ("Store 500 TB, price per TB | 500000 | 9", "", "is sold per TB, but 500,000 is its size in GB"),
        ("Store 0.5 PB, price per GB | 500 | 9", "", "500 is its size in TB"),
        ("Store 500 TB, price per GB | 524 | 9", "", "524 is its size in TB"),
        ("Store 500 TB, price per GB | 530 | 9", "", ""),
        ("Store 500 TB, price per GB for 12 months | 6000 | 9", "", "6,000 is its size in TB"),
        ("Store 500 TB, price per GB for 24 months | 6000 | 9", "", ""),
        ("Store 500 TB, price per GB and time | 6000 | 9", "term: 1 year", "6,000 is its size in TB"),
        # a year in the months of the term, a month in its years
        ("Colocation per year | 36 | 9", "term: 3 years", "is sold per year, but 36 are the months of the term"),
        ("Colocation per year | 3 | 9", "term: 3 years", ""),
        ("Colocation per month | 3 | 9", "term: 3 years", "is sold per month, but 3 are the years of the term"),
        ("Colocation per month | 36 | 9", "term: 3 years", ""),
        ("Colocation per month | 1 | 9", "term: 1 year", ""),
        ("Colocation per month | 2 | 9", "term: 2 years", "the years of the term"),
        ("Colocation per year | 12 | 9", "term: 1 year", "the months of the term"),
        ("Colocation per month and year | 3 | 9", "term: 3 years", ""),
        ("Colocation per rack and year | 36 | 9", "term: 3 years", ""),
        *(
            (f"Colocation, {other} years, per year | {years} | 9", "term: 9 years", f"has {years} year")
            for years, other in ((1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 1))
        ),
        *(
            (f"Colocation, {other} months, per month | {months} | 9", "term: 9 years", f"has {months} months")
            for months, other in ((12, 24), (24, 36), (36, 48), (48, 60), (60, 72), (72, 84), (84, 12))
        ),
        ("Colocation, 3 years, per year | 3 | 9", "term: 9 years", ""),
        ("Colocation, 3 years, per year | 8 | 9", "term: 9 years", ""),
        ("Colocation, 8 years, per year | 3 | 9", "term: 9 years", ""),
        # products of units and periods
        ("Power, 4 racks x 36 months | 144 | 9", "", ""),
        ("Power, 4 racks x 36 months | 100 | 9", "", "which are 144, but its quantity is 100"),
        ("Power, 4 racks x 36 months | 148 | 9", "", ""),  # within 3 %
        ("Power, 4 racks x 36 months | 149 | 9", "", "which are 144"),
        ("Power, 4 racks x 36 months = 414 | 144 | 9", "", "the product is 144"),
        ("Power, 4 racks x 36 months | 7 | 144", "", ""),
        ("Power, 4 racks x 36 months | 1 | 9", "", ""),
        ("Hours, 4 nodes x 720 hours | 8640 | 9", "", ""),  # of three months
        ("Hours, 4 nodes x 720 hours | 8000 | 9", "", "which are 2,880"),
        # 12 x 30 days are 360, of 365
        ("Node-hours, 12 months x 30 days x 24 h | 8640 | 9", "", "360 days, but the calendar has 365: 120 hours are"),
        ("Node-hours, 11 months x 30 days x 24 h | 7920 | 9", "", ""),
        ("Node-hours, 24 months x 30 days x 24 h | 17280 | 9", "", "720 days, but the calendar has 730: 240 hours"),
        # prices in thousands and ten thousands
        ("Server, price in kEUR | 1 | 310", "", "states its price in `keur`, but 310 is added"),
        ("Server, price in kEUR | 1 | 1000", "", ""),
        ("Server, price in kEUR | 1 | 0.5", "", "0.5 is added"),
        ("Server (万元) | 1 | 9999", "", "states its price in `万元`"),
        ("Server (万元) | 1 | 10000", "", ""),
        # licenses by the user, hours of nodes: 8 x 8,766 = 70,128, of accelerators 561,024
        ("RTX vWS license per GPU | 64 | 9", "", "sold per concurrent user"),
        ("RTX vWS license per user | 64 | 9", "", ""),
        ("Compute, per GPU-hour | 561024 | 9", "term: 1 year", ""),
        ("Compute, per GPU-hour | 70128 | 9", "term: 1 year", "70,128 are the node-hours of the term"),
        ("Compute, per GPU-hour | 72000 | 9", "term: 1 year", "node-hours of the term"),
        ("Compute, per GPU-hour | 72300 | 9", "term: 1 year", ""),
        ("Compute, per GPU-hour | 70128 | 9", "", ""),
        # support and subscriptions of 8 nodes, or 64 accelerators, for years
        ("Support per node per year | 8 | 9", "support: {term: 3 years}", "8 are for one of the 3 years"),
        ("Support per node per year | 16 | 9", "support: {term: 3 years}", "16 are for 2 of the 3 years"),
        ("Support per node per year | 24 | 9", "support: {term: 3 years}", ""),
        ("Support per node per year | 8 | 9", "support: {term: 1 year}", ""),
        ("AI subscription per node per year | 8 | 9", "term: 3 years", "8 are for one of the 3 years"),
        ("AI subscription per node per year | 8 | 9", "support: {term: 2 years}", "8 are for one of the 2 years"),
        ("Software per node per year | 8 | 9", "term: 3 years", ""),
        # units of the design, and a tenth to spare
        ("License per GPU | 64 | 9", "", ""),
        ("License per GPU | 60 | 9", "", "the quote has 60, but the design has 64 accelerators"),
        ("License per GPU | 8 | 9", "", "8 is its number of nodes"),
        ("License per GPU | 70 | 9", "", ""),
        ("License per GPU | 71 | 9", "", "the quote has 71"),
        ("License per GPU | 1 | 9", "", ""),
        ("License per node | 64 | 9", "", "64 is its number of accelerators"),
    ],
)
def test_a_line_counts_the_unit_that_it_is_sold_by(line: str, keys: str, words: str) -> None:
    judge("quote-unit-miscounted", words, line, keys=keys)


FABRIC = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {{technology: infiniband-ndr, switch_ports: 64, topology: fat-tree, {kind}es: {stated}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: DGX H100, quantity: 64, unit_price: 300000}}
    - {{part: {part}, quantity: {quoted}, unit_price: 20000}}
"""
"""512 endpoints below 16 leaves of 32 + 32 ports, and 512 uplinks to 8 spines."""


@each(
    ("kind", "stated", "quoted", "reported"),
    [
        ("spine_switch", 10, 8, True),
        ("spine_switch", 10, 9, True),
        ("spine_switch", 10, 10, False),
        ("spine_switch", 8, 8, False),
        ("spine_switch", 10, 7, False),  # fewer than the design needs, which another finding is about
        ("leaf_switch", 18, 16, True),
        ("leaf_switch", 18, 18, False),
        ("leaf_switch", 18, 15, False),
    ],
)
def test_switches_that_suffice_are_as_many_as_the_spec_states(
    kind: str, stated: int, quoted: int, reported: bool
) -> None:
    part = kind.replace("_", " ")
    text = FABRIC.format(kind=kind, stated=stated, part=part, quoted=quoted)
    rule = "quote-off-bill"
    found = [one for one in rules.run_rules(study_text(text, SETTINGS).facts(), {rule}) if "states" in one.message]
    message = f"the quote has {quoted} {part}es, but `scale_out.{kind}es` states {stated}"
    at = ("procurement", "quote", 1, "quantity")
    assert [(one.message, one.path, one.severity) for one in found] == [(message, at, "warning")] * reported
