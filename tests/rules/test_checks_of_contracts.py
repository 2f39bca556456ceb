"""Clauses of contracts and what they ask for: dates, energies and terms on both sides of each limit, by hand."""

from __future__ import annotations

from tests.effort import each

from .test_checks_of_quotes import judge

NODES = "DGX H200 node | 8 | 100"
SUPPORTED = f"{NODES}; Support of the nodes | 1 | 50"
RENEWS = "It ends on 2027-12-31. It renews unless notice is given 3 months before."
FRAMEWORK = "The framework agreement ends on 2027-01-31."
LINES = f"{NODES}; Support 2027-04-01 to 2028-03-31 | 1 | 5"


def plan(*milestones: str) -> str:
    return "delivery: {milestones: [" + ", ".join(f'"{each}"' for each in milestones) + "]}"


@each(
    ("text", "lines", "keys", "words"),
    [
        # three months before 2027-12-31 is 2027-09-30 or the day after, and months differ by three days
        (RENEWS, NODES, plan("notice 2027-10-03"), ""),
        (RENEWS, NODES, plan("notice 2027-10-04"), "3 months before its end, by 2027-10-01"),
        (RENEWS, NODES, plan("notice 2027-10-04", "notice 2027-10-05"), ""),
        (RENEWS.replace("It renews", "It stops"), NODES, plan("notice 2027-10-04"), ""),
        (RENEWS, NODES, plan("notice 2028-10-04"), ""),
        (f"{RENEWS} It extends with 2 months notice.", NODES, plan("notice 2027-10-04"), ""),
        # the present support until 31 March, the next from 1 April
        ("x", SUPPORTED, plan("present support ends 2027-03-31", "next support starts 2027-04-01"), ""),
        ("x", SUPPORTED, plan("present support ends 2027-03-31", "next support starts 2027-04-02"), "1 day without"),
        ("x", NODES, plan("present support ends 2027-03-31", "next support starts 2027-04-02"), ""),
        ("The present support ends on 2027-03-31.", LINES, "", ""),
        ("The present support ends on 2027-03-29.", LINES, "", "the next begins on 2027-04-01: 2 days without support"),
        ("The present lease ends on 2027-03-29.", LINES, "", ""),
        (
            "The present support ends on 2027-03-29.",
            SUPPORTED,
            plan("cover 2027-04-01 to 2028-03-31"),
            "2 days without",
        ),
        ("The present support ends on 2027-03-29.", NODES, plan("cover 2027-04-01 to 2028-03-31"), ""),
        # ten weeks and three years after 2026-11-02 is 2030-01-11, and a month may be missing
        (
            "x",
            f"{NODES}; Switch, end of support 2029-12-12 | 1 | 5",
            "delivery: {weeks: 10}; support: {term: 3 years}",
            "",
        ),
        (
            "x",
            f"{NODES}; Switch, end of support 2029-12-11 | 1 | 5",
            "delivery: {weeks: 10}; support: {term: 3 years}",
            "on 2029-12-11, but support is bought until 2030-01-11",
        ),
        (
            "Delivered on 2027-02-11.",
            f"{NODES}; Switch, supported until 2029-12-12 | 1 | 5",
            "delivery: {weeks: 10}; support: {term: 3 years}",
            "support is bought until 2030-02-1",
        ),
        ("x", f"{NODES}; Switch, end of support 2028-12-12 | 1 | 5", "delivery: {weeks: 10}", ""),
        ("x", f"{NODES}; Switch, end of support 2028-12-12 | 1 | 5", "support: {term: 3 years}", ""),
        (
            "x",
            f"{NODES}; Switch, end of support 2028-12-12 | 1 | 5",
            "needed_by: 2027-01-11; support: {term: 3 years}",
            "support is bought until 2030-01-11",
        ),
        # terms of delivery, and a line that pays for the rest
        ("Delivery DDP.", NODES, plan("week 5: servers, DAP"), "the delivery is DAP, but the description asks for DDP"),
        ("Delivery DAP.", NODES, plan("week 5: servers, DDP"), ""),
        ("Delivery DAP.", NODES, plan("week 5: servers, DAP"), ""),
        ("Delivery DDP.", "DGX H200 node, EXW | 8 | 100", "", "the delivery is EXW"),
        ("Delivery DDP.", "DGX H200 node, EXW | 8 | 100; Freight | 1 | 5", "", ""),
        ("Delivery DDP or DAP.", "DGX H200 node, EXW | 8 | 100", "", ""),
        # a call-off within the framework
        (FRAMEWORK, NODES, plan("order signed 2027-01-31"), ""),
        (FRAMEWORK, NODES, plan("order signed 2027-02-01"), "the order is signed on 2027-02-01, but the framework agr"),
        (FRAMEWORK, NODES, plan("servers 2027-02-01"), ""),
        (f"{FRAMEWORK} Another framework ends on 2028-01-31.", NODES, plan("order signed 2027-02-01"), ""),
        # 8 x 10.2 kW x 1.25 x 8,766 h = 894 MWh, a quarter more at full load, a tenth more at a stated utilization
        ("x", f"{NODES}; Power, minimum volume 1,117 MWh per year | 1 | 5", "pue: 1.25", ""),
        ("x", f"{NODES}; Power, minimum volume 1,118 MWh per year | 1 | 5", "pue: 1.25", "commits to 1,118 MWh a year"),
        ("x", f"{NODES}; Power, minimum volume 1.118 GWh per year | 1 | 5", "pue: 1.25", "takes 894 MWh at full load"),
        ("x", f"{NODES}; Power, minimum volume 491 MWh per year | 1 | 5", "pue: 1.25; utilization: 0.5", ""),
        (
            "x",
            f"{NODES}; Power, minimum volume 492 MWh per year | 1 | 5",
            "pue: 1.25; utilization: 0.5",
            "takes 447 MWh at a utilization of 50 %, with a PUE of 1.25",
        ),
        ("x", f"{NODES}; Power, volume 1,118 MWh per year | 1 | 5", "pue: 1.25", ""),
        ("x", f"{NODES}; Power, minimum volume 1,118 MWh per year | 1 | 5", "", ""),
        ("Committed consumption of 1,118 MWh per year.", NODES, "pue: 1.25", "the text commits to 1,118 MWh"),
        # what the provider may stop, from an availability of 99 % on
        ("An availability of 99 % is due.", f"{NODES}; Spot capacity | 1 | 5", "", "asks for an availability of 99 %"),
        ("An availability of 98.9 % is due.", f"{NODES}; Spot capacity | 1 | 5", "", ""),
        ("An availability of 98 % or 99.5 % is due.", f"{NODES}; Spot capacity | 1 | 5", "", "of 99.5 %"),
        ("A load of 99 % is due.", f"{NODES}; Spot capacity | 1 | 5", "", ""),
        # drives that go back
        ("No drive leaves the site.", f"{NODES}; Support, failed drives are returned | 1 | 5", "", "no medium leaves"),
        ("No drive leaves the site.", f"{NODES}; Support, failed fans are returned | 1 | 5", "", ""),
        ("Aucun disque ne sort du site.", f"{NODES}; Support de données est restitué | 1 | 5", "", "no medium leaves"),
        (
            "No drive leaves the site.",
            f"{NODES}; Support, failed drives are returned | 1 | 5; Drive retention | 1 | 5",
            "",
            "",
        ),
        ("No truck leaves the site.", f"{NODES}; Support, failed drives are returned | 1 | 5", "", ""),
    ],
)
def test_a_clause_of_a_contract_is_met(text: str, lines: str, keys: str, words: str) -> None:
    judge("contract-clause-unmet", words, lines, text, keys)
