"""Calculations, conversions, energies, damages, downtimes and dates in the sentences of a purchase, worked out by hand,
each with a text that is sound.
"""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.results.equations import equations_in, is_wrong
from clusterspec.rules.readers.tokens import tokens_of
from tests.effort import each

from .conftest import Check

SPEC = """clusterspec: 1
description: >-
  {text}
cluster: {{platform: gaudi3-hls, nodes: 8, power: {{node: 9.5 kW}}}}
procurement:
  currency: {currency}
  as_of: 2026-11-12
  electricity: 0.162
  pue: 1.32
  utilization: 0.85
  support: {{response: 5 days}}
  quote:
    - {{part: "Gaudi 3 server{line}", quantity: 8, unit_price: {price}, price: {sum}}}
    - {{part: "Switch{switch}", quantity: 3, unit_price: 30000, price: 90000}}
"""
TEXT_RULES = {
    "amount-off-terms",
    "arithmetic-does-not-close",
    "availability-off-arithmetic",
    "cost-off-rate",
    "duration-off-rate",
    "service-figures-contradict",
    "sum-off-items",
    "total-off-parts",
    "unit-cost-off-load",
}
"""Rules of which two may read one statement."""
RULES = {
    "amount-off-terms",
    "arithmetic-does-not-close",
    "availability-off-arithmetic",
    "conversion-off-rate",
    "cost-off-rate",
    "damages-off-cap",
    "date-off-calendar",
    "energy-off-pue",
    "percentage-off-count",
    "quote-arithmetic",
    "sum-off-items",
    "support-slower-than-repair",
}


def found(
    check: Check, text: str, line: str = "", price: float = 148000, currency: str = "EUR", switch: str = ""
) -> set[str]:
    spec = SPEC.format(text=text, line=line, price=price, sum=8 * price, currency=currency, switch=switch)
    return {each.rule for each in check(spec)} & RULES


@each(
    ("text", "wrong"),
    [
        ("8 nodes x 9.5 kW = 76 kW", False),
        ("8 nodes x 9.5 kW = 67 kW", True),
        # 76 x 8,766 x 0.85 = 566,283.6
        ("76 kW x 8,766 h x 0.85 in use = 566,284 kWh a year", False),
        ("76 kW x 8,766 h x 0.85 in use = 566 MWh", False),
        ("76 kW x 8,766 h x 0.85 in use = 665 MWh", True),
        ("76 kW x 8.766 h x 0,85 = 566.284 kWh", False),
        ("76 kW × 8 766 h × 0,85 = 656 284 kWh", True),
        # 16 x 1,290,000 + 6 x 118,000 = 20,640,000 + 708,000
        ("16 x 1,290,000 + 6 x 118,000 = 21,348,000", False),
        ("16 x 1,290,000 + 6 x 118,000 = 22,348,000", True),
        ("total 16 servers x 412,000 GBP = 6.592 million GBP", False),
        ("16 Server zu je 412.000 EUR kosten 6,592 Mio. EUR", False),
        ("16 servers at 412,000 GBP each cost 6,592,000 GBP", False),
        ("16 servers at 412,000 GBP each cost 6,952,000 GBP", True),
        # 16 x 24 x 30 x 30 = 345,600
        ("16 nodes x 24 h x 30 days at $30 is $345,600", False),
        ("16 nodes x 24 h x 30 days at $30 is $115,200", True),
        ("16 nodes for 720 h at $30 cost $345,600", False),
        ("16 nodes for 720 h at $30 cost $115,200", True),
        ("16 nodes x 30 days at $30 are $345,600", False),
        ("12 servers of 412,000 EUR cost 4,944,000 EUR", False),
        ("12 servers of 412,000 EUR cost 4,494,000 EUR", True),
        ("48 monthly rates of 46,970 EUR are 2,254,560 EUR", False),
        ("48 Raten von 46.970 EUR ergeben 2.545.460 EUR", True),
        ("The 12 servers of the whole offer of 5,000,000 EUR are 4,944,000 EUR", False),
        # 0.5 % of 9,944,352 = 49,721.76
        ("0.5 % of the contract price of 9,944,352 GBP = 49,722 GBP", False),
        ("0.5 % of the contract price of 9,944,352 GBP = 497,218 GBP", True),
        ("0,5 % von 9.944.352 EUR sind 49.722 EUR", False),
        ("0,5 % von 9.944.352 EUR sind 4.972 EUR", True),
        # 388,000 / 1.17 = 331,623.9
        ("USD 388,000 / 1.17 = 331,624", False),
        ("USD 388,000 / 1.17 = 453,960", True),
        ("(1,884,200 - 84,200) x 1.2 = 2,160,000", False),
        ("(1,884,200 - 84,200) x 1.2 = 2,261,040", True),
        ("1,000,000 EUR + 19 % = 1,190,000 EUR", False),
        ("1,000,000 EUR + 19 % = 1,900,000 EUR", True),
        ("400 kW x 150 EUR/kW/month x 48 months = 2,880,000 EUR", False),
        ("400 kW x 150 EUR/kW/month x 36 months = 2,880,000 EUR", True),
        ("6 x 720 h x 136 = 5,87,520", False),
        ("6 x 720 h x 1,360 EUR = 5.88 mln EUR", False),
        ("430,000 at 1 EUR = 1.16 USD", False),
        ("24 nodes x 8 = 192 GPUs", False),
        ("24 nodes x 8 = 129 GPUs", True),
        # things of another kind, units that nobody reads here, and what stands before
        ("6 x 32 dies = 96 NPUs", False),
        ("3 drawers of 24 x 30.72 TB = 2,211.84 TB", False),
        ("64 x 800G = 128 x 400G", False),
        ("8 x 50 GB/s = 400 GB/s", False),
        ("sqrt(2 x 2 s x 43 h) = 787 s", False),
        ("130 and 14 x 1.1 and 4 x 2.4 = 155.0", False),
        ("8 x 27.20 x 26,298 h (3 x 8,766) = 5,722,445", False),
        ("64 x 5,000 tokens are 22.5 GB", False),
        ("--nodes=16 x TP=8", False),
        ("8+2 parity = 2359.3 TB", False),
        ("about 12 x 31 = 370", False),
    ],
)
def test_a_calculation_is_wrong_where_no_reading_of_its_figures_holds(text: str, wrong: bool) -> None:
    assert any(is_wrong(equation) for equation in equations_in(tokens_of(text), text)) == wrong


@each(
    ("text", "line", "price", "wrong"),
    [
        # USD 173,160 at 1.17 are 148,000 EUR, and multiplied 202,597.20 EUR
        ("The contract fixes 1.17 USD per EUR.", ", USD 173,160", 148000, False),
        ("The contract fixes 1.17 USD per EUR.", ", USD 173,160", 202597.20, True),
        ("Rate of the order: 1 EUR = 1.17 USD.", ", list USD 173,160.00", 202597.20, True),
        ("Rate of the order: EUR/USD 1.17.", ", 173,160 USD", 202597.20, True),
        ("Festkurs 1,17 USD/EUR.", ", USD 173.160", 202597.20, True),
        ("Converted at $1.17/€.", ", USD 173,160", 202597.20, True),
        ("Tipo de cambio 0,8547 EUR por USD.", ", USD 173.160", 202597.20, True),
        ("Tipo de cambio 0,8547 EUR por USD.", ", USD 173.160", 147999.85, False),
        ("Cours: 1 EUR = 1,17 USD.", ", 173 160 USD", 173160, True),  # not converted
        ("The contract fixes 1.17 USD per EUR.", ", list USD 173,160 less 10 %", 133200, False),
        ("The contract fixes 1.17 USD per EUR.", ", list USD 173,160", 150220, False),  # a fee of 1.5 %
        ("The contract fixes 1.17 USD per EUR.", ", list JPY 173,160", 202597.20, False),  # of another pair
        ("The hedge costs 1.17 USD per GPU.", ", USD 173,160", 202597.20, False),
    ],
)
def test_a_line_is_converted_in_the_direction_of_the_rate(
    text: str, line: str, price: float, wrong: bool, check: Check
) -> None:
    assert ("conversion-off-rate" in found(check, text, line, price)) == wrong


@each(
    ("text", "wrong"),
    [
        # USD 4,680,000 / 1.17 = 4,000,000; multiplied 5,475,600
        ("At 1.17 USD per EUR the USD 4,680,000 of the servers are EUR 4,000,000.", False),
        ("At 1.17 USD per EUR the USD 4,680,000 of the servers are EUR 5,475,600.", True),
        ("Bei 1 EUR = 1,17 USD sind 4.680.000 USD 5.475.600 EUR.", True),
        ("At 1.17 USD per EUR we pay USD 4,680,000 and EUR 900,000.", False),
    ],
)
def test_an_amount_of_a_sentence_is_converted_in_the_direction_of_the_rate(
    text: str, wrong: bool, check: Check
) -> None:
    assert ("conversion-off-rate" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        # USD 4,207,000 / 1.10 = 3,824,545
        ("They quote USD 4,207,000, without tax. At USD 1.10 per euro the quote is EUR 3.19 million.", True),
        ("They quote USD 4,207,000, without tax. At USD 1.10 per euro the quote is EUR 3.82 million.", False),
        ("Angebot: 4.207.000 USD. Wir zahlen in Euro. Der Preis beträgt bei diesem Kurs 3,19 Mio. EUR.", False),
        (
            "Angebot: 4.207.000 USD. Der Euro steht bei 1,10 USD je Euro, der Preis beträgt 3.190.000 EUR.",
            True,
        ),
        ("They quote USD 4,207,000. At USD 1.10 per euro and with a fee the quote is EUR 3.19 million.", False),
        ("They quote USD 4,207,000, a rival USD 3,509,000. At USD 1.10 per euro the quote is EUR 3.19 million.", False),
        ("They quote USD 4,207,000. At USD 1.10 per euro the grant leaves EUR 3.19 million.", False),
    ],
)
def test_a_price_is_converted_from_the_quote_of_an_earlier_sentence(text: str, wrong: bool, check: Check) -> None:
    assert ("conversion-off-rate" in found(check, text)) == wrong


def test_one_line_with_another_rate_than_the_others_is_found(check: Check) -> None:
    line = "    - {{part: 'Cable, USD {}', quantity: 9, unit_price: {}, price: {}}}\n"
    others = {"line": ", USD 173,160", "switch": ", USD 35,100", "price": 148000, "sum": 1184000}
    base = SPEC.format(text="x", currency="EUR", **others)
    for dollars, euros, wrong in (
        ("1,404", 1200, False),
        ("1,404", 1404, True),
        ("1,404", 1300, True),
        ("1,404", 1203, False),
    ):
        rules = {each.rule for each in check(base + line.format(dollars, euros, 9 * euros))}
        assert ("conversion-off-rate" in rules) == wrong, euros


@each(
    ("text", "wrong"),
    [
        # 76 kW x 8,766 h x 0.85 = 566,284 kWh; x 1.32 = 747,495; / 1.32 = 429,003
        ("IT load 566,284 kWh a year. With the PUE of 1.32 the meter of the site bills 429,003 kWh.", True),
        ("The site pays for 429 MWh a year, as the IT load of 566.284 MWh is divided by the PUE of 1.32.", True),
        ("Servers take 566,284 kWh; at PUE 1.32 the utility meters 429,003 kWh.", True),
        ("Die IT-Last braucht 566.284 kWh im Jahr, mit PUE 1,32 zeigt der Zähler 429.003 kWh.", True),
        ("La charge IT consomme 566 284 kWh, avec un PUE de 1,32 le compteur du site indique 429 003 kWh.", True),
        ("The nodes draw 76 kW, so that with a PUE of 1.32 the connection of the site needs 57.6 kW.", True),
        ("The nodes draw 76 kW, so that with a PUE of 1.32 the connection of the site needs 100.3 kW.", False),
        ("IT load 566,284 kWh a year. With the PUE of 1.32 the meter of the site bills 747,495 kWh.", False),
        ("The meter of the site counts 747,495 kWh; divided by the PUE of 1.32 the IT load is 566,284 kWh.", False),
        ("The meter of the site counts 566,284 kWh; divided by the PUE of 1.32 the IT load is 429,003 kWh.", False),
        ("The IT load takes 566,284 kWh; another site bills 431,000 kWh.", False),
        # 566,284 kWh x 0.162 = 91,738; with the PUE 121,094
        ("The electricity bill is 91,738 EUR a year.", True),
        ("The electricity bill is 121,094 EUR a year.", False),
        ("The electricity of the IT load only costs 91,738 EUR a year.", False),
        ("The energy costs 107,888 EUR at full load.", True),  # 76 x 8,766 = 666,216 kWh
        ("The servers cost 91,738 EUR.", False),
    ],
)
def test_the_site_takes_the_energy_of_the_nodes_times_the_pue(text: str, wrong: bool, check: Check) -> None:
    assert ("energy-off-pue" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        ("Egress of 200 TB a month at 0.05 USD per GB costs 10,000 USD a month", False),
        ("Egress of 200 TB a month at 0.05 USD per GB costs 1,000 USD a month", True),
        ("Egress: 0.05 USD/GB, 200 TB a month, 100,000 USD a month", True),
        ("The demand charge for 900 kW is 12 EUR per kW and month, which is 129,600 EUR a year", False),
        ("The demand charge for 900 kW is 12 EUR per kW and month, which is 10,800 EUR a year", True),
        ("Leistungspreis 12 EUR pro kW und Monat, 900 kW: 10.800 EUR im Monat", False),
        ("Leistungspreis 12 EUR pro kW und Monat, 900 kW: 108.000 EUR pro Monat", True),
        ("566,284 kWh at 0.162 EUR per kWh are 917,380 EUR", True),
        ("566,284 kWh at 0.162 EUR per kWh are 91,738 EUR", False),
        ("2 PB at 20 USD per TB and month cost 480,000 USD for 12 months", False),  # the months explain the factor
        ("200 TB at 0.05 USD per GB and 10 reads cost 100,000 USD", False),
        ("200 TB at 0.05 USD per GB and a base fee cost 13,000 USD", False),  # no slip of a prefix
    ],
)
def test_a_cost_is_its_quantity_times_its_rate(text: str, wrong: bool, check: Check) -> None:
    assert bool(found(check, text) & {"cost-off-rate", "arithmetic-does-not-close"}) == wrong


@each(
    ("text", "wrong"),
    [
        # 5 / 0.5 = 10
        ("Damages for delay: 0.5 % for each calendar day, capped at 5 %. The cap is reached after ten weeks.", True),
        ("Damages for delay: 0.5 % for each calendar day, capped at 5 %. The cap is reached after ten days.", False),
        ("Damages for delay: 0.5 % for each started week, capped at 5 %. The cap is reached after ten weeks.", False),
        ("LDs of 1 % per week, maximum 10 %, so the ceiling is hit after 10 days.", True),
        ("Penalty of 0.2 % per day up to 6 %: the maximum is reached after 30 days.", False),
        ("Penalty of 0.2 % per day up to 6 %: the maximum is reached after 3 months.", True),
        ("Vertragsstrafe 0,2 % pro Werktag, höchstens 5 %; der Höchstbetrag ist nach 5 Wochen erreicht.", False),
        ("Vertragsstrafe 0,5 % pro Woche, höchstens 5 %; der Höchstbetrag ist nach 20 Wochen erreicht.", True),
        ("Pénalités de 1 % par semaine, plafond de 10 % ; le plafond est atteint après 10 jours.", True),
        ("Pénalités de 1 % par semaine, plafond de 10 % ; le plafond est atteint après 10 semaines.", False),
        ("Delay damages are 1 % per week, capped at 10 %; six weeks late cost 6 %.", False),
        ("Delay damages are 1 % per week, capped at 10 %; six weeks late cost 12 %.", True),
        ("Delay damages are 1 % per week, capped at 10 %; fifteen weeks late cost 10 %.", False),
        ("Delay: 1 % per week, capped at 10 %, after a grace of two weeks; the cap is reached after 12 weeks.", False),
        ("Delay: 1 % per week, capped at 10 %. Rent rises 2 % a year.", False),
    ],
)
def test_damages_reach_their_cap_after_its_ratio_to_the_rate(text: str, wrong: bool, check: Check) -> None:
    assert ("damages-off-cap" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        # 7.2 + 1.3 + 0.8 = 9.3
        ("Hardware 7,200,000 EUR, support 1,300,000 EUR and the hall 800,000 EUR are 9,300,000 EUR in total", False),
        ("Hardware 7,200,000 EUR, support 1,300,000 EUR and the hall 800,000 EUR are 9,600,000 EUR in total", True),
        ("Total 9.6 M EUR: hardware 7.2 M EUR, support 1.3 M EUR, hall 0.8 M EUR", True),
        ("Insgesamt 9,3 Mio. EUR: Hardware 7,2 Mio. EUR, Support 1,3 Mio. EUR, Halle 0,8 Mio. EUR", False),
        ("Insgesamt 9,6 Mio. EUR: Hardware 7,2 Mio. EUR, Support 1,3 Mio. EUR, Halle 0,8 Mio. EUR", True),
        ("Au total 9,6 M€ : machines 7,2 M€, support 1,3 M€, salle 0,8 M€", True),
        ("In total 20,000,000 EUR are approved: 7,200,000 EUR, 1,300,000 EUR and 800,000 EUR are spent", False),
        ("Of the 9,600,000 EUR 7,200,000 EUR, 1,300,000 EUR and 800,000 EUR are spent", False),
        ("paid 30 % with the order, 40 % on delivery and 30 % after acceptance", False),
        ("paid 30 % with the order, 40 % on delivery and 40 % after acceptance", True),
        ("Zahlung: 30 % bei Bestellung, 40 % bei Lieferung, 20 % nach Abnahme", True),
        ("30 % of the orders, 40 % of the deliveries and 40 % of the acceptance tests are late", False),
        # 1,190,000 x 19 / 119 = 190,000, and x 0.19 = 226,100
        ("1,190,000 EUR including 19 % VAT, of which 190,000 EUR are VAT", False),
        ("1,190,000 EUR including 19 % VAT, of which 226,100 EUR are VAT", True),
        ("1.190.000 EUR inkl. 19 % MwSt, netto 963.900 EUR", True),
        ("1.190.000 EUR inkl. 19 % MwSt, netto 1.000.000 EUR", False),
        ("1,190,000 EUR plus 19 % VAT, with VAT of 226,100 EUR", False),
    ],
)
def test_a_total_is_the_sum_of_its_items(text: str, wrong: bool, check: Check) -> None:
    assert ("sum-off-items" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        # 5 % of 8 x 148,000 + 90,000 = 1,274,000 are 63,700
        ("The retention is 5 % of the contract price, 63,700 EUR", False),
        ("The retention is 5 % of the contract price, 6,370 EUR", True),
        ("Der Einbehalt ist 5 % des Auftragswerts, 637.000 EUR", True),
        ("La garantie est de 5 % du prix, soit 637 000 EUR", True),
        ("The retention is 5 % of the contract price, 61,000 EUR", False),  # of another price
        # 150,000 x (1 + 1.03 + 1.0609 + 1.0927 + 1.1255) = 796,370
        ("150,000 EUR a year, rises by 3 % per year: 796,370 EUR over five years", False),
        ("150,000 EUR a year, rises by 3 % per year: 750,000 EUR over five years", True),
        ("150.000 EUR, steigt um 3 % pro Jahr, 5 Jahre sind 750.000 EUR", True),
        ("150,000 EUR a year, fixed: 750,000 EUR over five years", False),
        # 19 % of 2,000,000 are 380,000, of 2,080,000 395,200
        ("Goods 2,000,000 EUR, duty of 4 % 80,000 EUR, import VAT of 19 % 395,200 EUR", False),
        ("Goods 2,000,000 EUR, duty of 4 % 80,000 EUR, import VAT of 19 % 380,000 EUR", True),
        ("Ware 2.000.000 EUR, Zoll 4 % 80.000 EUR, Einfuhrumsatzsteuer 19 % 380.000 EUR", True),
        # (0.2 x 16 + 0.12 x 8) / 24 = 0.1733
        ("0.20 EUR per kWh for 16 hours, 0.12 EUR per kWh for 8 hours, a mean of 0.173 EUR per kWh", False),
        ("0.20 EUR per kWh for 16 hours, 0.12 EUR per kWh for 8 hours, a mean of 0.16 EUR per kWh", True),
        ("0,20 EUR pro kWh für 16 h, 0,12 EUR pro kWh für 8 h, im Mittel 0,16 EUR pro kWh", True),
        ("0.20 EUR per kWh for 12 hours, 0.12 EUR per kWh for 12 hours, a mean of 0.16 EUR per kWh", False),
    ],
)
def test_an_amount_follows_from_the_terms_of_its_sentence(text: str, wrong: bool, check: Check) -> None:
    assert ("amount-off-terms" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        # 1 - 40 / 60 = 33 %, 60 / 40 - 1 = 50 %, 40 / 60 = 67 %
        ("Reserved is 40 USD per hour, against 60 USD per hour on demand, 33 % less", False),
        ("Reserved is 40 USD per hour, against 60 USD per hour on demand, 50 % less", True),
        ("Reserved is 40 USD per hour, against 60 USD per hour on demand, 67 % cheaper", True),
        ("On demand is 60 USD per hour, 50 % more than 40 USD per hour", False),
        ("On demand is 60 USD per hour, 33 % more than 40 USD per hour", True),
        ("40 USD per hour against 60 USD per hour: they break even at 67 % of use", False),
        ("40 USD per hour against 60 USD per hour: they break even at 33 % of use", True),
        ("Reserviert 40 EUR pro Stunde statt 60 EUR pro Stunde, 50 % günstiger", True),
        ("40 USD per hour against 60 USD per day, 50 % less", False),
        ("Reserved is 40 USD per hour, against 60 USD per hour on demand, at 50 % of use", False),
    ],
)
def test_percents_less_are_of_the_higher_price_and_percents_more_of_the_lower(
    text: str, wrong: bool, check: Check
) -> None:
    assert ("percentage-off-count" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        # 0.1 % of 8,766 h are 8.77 h, of 730.5 h 43.8 min, of 168 h 10.1 min
        ("The availability is 99.9 %, at most 8.8 h of downtime a year", False),
        ("The availability is 99.9 %, at most 8.8 h of downtime a month", True),
        ("An SLA of 99.9 % allows 44 minutes of outage per month", False),
        ("An SLA of 99.5 % allows 44 minutes of outage per month", True),
        ("Verfügbarkeit 99,9 %: 10 Minuten Ausfall pro Woche", False),
        ("Verfügbarkeit 99,9 %: 10 Minuten Ausfall pro Jahr", True),
        ("The availability is 99.9 %, with 8 h of planned maintenance a month", False),
        ("The accelerators are 99 % used for 10 h a day", False),
        ("The accelerators are 99 % used, for at most 10 h a day", False),
    ],
)
def test_a_downtime_is_the_rest_to_the_availability(text: str, wrong: bool, check: Check) -> None:
    assert ("availability-off-arithmetic" in found(check, text)) == wrong


STATEMENTS = [
    # one statement, one rule: by signs a calculation, by words what its rule reads
    ("The quota is 900 kW x 12 EUR per kW and month = 10,800 EUR a year.", "arithmetic-does-not-close"),
    ("The demand charge for 900 kW is 12 EUR per kW and month, which is 10,800 EUR a year.", "cost-off-rate"),
    ("600 M documents x 1,700 tokens per document = 1.2 T tokens.", "arithmetic-does-not-close"),
    ("600 M documents at 1,700 tokens per document are 1.2 T tokens.", "total-off-parts"),
    ("KV cache: 24,000 tokens x 0.33 MB = 786 MB.", "arithmetic-does-not-close"),
    ("Six nodes with 8 engines each: 6 x 8 = 40 engines.", "arithmetic-does-not-close"),
    ("A prompt of 24,000 tokens at 327,680 bytes has 786 MB of cache.", "service-figures-contradict"),
    ("An SLA of 99.5 % allows 44 minutes of outage per month.", "availability-off-arithmetic"),
]


@each(("text", "rule"), STATEMENTS)
def test_a_statement_is_reported_by_one_rule(text: str, rule: str, check: Check) -> None:
    spec = SPEC.format(text=text, currency="EUR", line="", switch="", price=148000, sum=1184000)
    assert [one.rule for one in check(spec) if one.rule in TEXT_RULES] == [rule]


@each(
    ("text", "wrong"),
    [
        ("Acceptance is on Monday, 2027-05-10.", False),
        ("Acceptance is on Monday, 2027-05-11.", True),
        ("Abnahme am Dienstag, den 2027-05-11", False),
        ("Recette le lundi 2027-05-11", True),
        ("Needed in Q2 2027 (2027-05-10)", False),
        ("Needed in Q2 2027 (2027-07-05)", True),
        # 25 weeks are 175 days: 2026-11-16 + 175 = 2027-05-10
        ("2026-11-16 + 25 weeks = 2027-05-10", False),
        ("2026-11-16 + 25 weeks = 2027-05-14", False),  # the end of that week
        ("2026-11-16 + 25 weeks = 2027-06-10", True),
        ("25 weeks after the order of 2026-11-16, on 2027-04-12, all are there", True),
        ("six months after 2026-11-16 (2027-05-16)", False),
        ("six months after 2026-11-16 (2027-08-16)", True),
        ("25 weeks after 2026-11-16; the hall opens on 2027-08-01", False),
    ],
)
def test_a_date_is_on_its_day_and_as_far_away_as_the_text_says(text: str, wrong: bool, check: Check) -> None:
    assert ("date-off-calendar" in found(check, text)) == wrong


@each(
    ("text", "wrong"),
    [
        ("A failed node is back within 6 h.", True),
        ("A failed node is back within 6 h. Spare parts are kept on site.", False),
        ("A failed node is back within 6 h. No parts are kept on site.", True),
        ("A failed node is back within 6 h. There are no spare nodes, but spare parts on the shelf.", False),
        ("A broken server is replaced after 2 days by the supplier.", True),
        ("Ein defekter Knoten ist nach 6 h wieder da. Ersatzteile nicht vor Ort.", True),
        ("A failed node is back within 6 days.", False),
        ("A failed node drains its jobs; the job is back within 1 h.", False),
    ],
)
def test_a_node_is_not_back_before_the_support_answers(text: str, wrong: bool, check: Check) -> None:
    assert ("support-slower-than-repair" in found(check, text)) == wrong


@pytest.mark.parametrize("currency", ["EUR", "AED"])
def test_a_price_off_the_market_is_told_in_the_currency_of_the_spec(currency: str, check: Check) -> None:
    """100 TB for 36.7 million are 367,000 for one TB, and the range ends at 5,000 dollars: 18,350 AED."""
    spec = f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 8, networks: {{storage: {{capacity: 100 TB}}}}}}
procurement: {{currency: {currency}, as_of: 2026-11-01, prices: {{node: 1100000, storage: 36700000}}}}
"""
    (message,) = (
        each.message for each in check(spec, "part-price-outside-market") if each.rule == "part-price-outside-market"
    )
    usual = {"EUR": "7.2 to 4500 EUR", "AED": "29 to 18000 AED"}[currency]
    assert message == f"the price is 370000 {currency} for one TB; {usual} is usual"


@each(
    ("read", "wrong"),
    [("20 GB/s", True), ("100 GB/s", False)],  # 4 TB for each GB/s: 80 and 400 TB, of at most 5,000 USD
)
def test_a_store_of_few_drives_is_priced_by_its_rate(read: str, wrong: bool, check: Check) -> None:
    spec = f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 8, networks: {{storage: {{capacity: 100 TB, read: {read}}}}}}}
procurement: {{currency: USD, as_of: 2026-11-01, prices: {{node: 310000, storage: 1000000}}}}
"""
    assert ("part-price-outside-market" in {each.rule for each in check(spec)}) == wrong
