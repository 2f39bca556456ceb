"""Terms in the text of a quote's lines and milestones, worked out by hand, each with a text that is sound."""

from __future__ import annotations

from clusterspec.procurement.part_names import kind_of_part, names_period, plain_part
from clusterspec.procurement.supplier_words import english_text
from clusterspec.spec.model import QuoteLine
from tests.effort import each

from .conftest import Check

QUOTE = """clusterspec: 1
description: {remarks}
cluster:
  platform: dgx-b200
  nodes: 16
  power: {{nodes_per_rack: 3}}
  networks: {{storage: {{capacity: 2.9 PB}}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  needed_by: 2027-06-30
  term: 3 years
  delivery: {{weeks: 22, milestones: [{milestone}]}}
  quote:
    - {{part: DGX B200, quantity: 16, unit_price: 490000}}
    - {{part: "{line}"}}
"""
PLAIN = {"remarks": "x", "milestone": "racks in week 10", "line": "rails"}


@each(
    ("changed", "rule", "words"),
    [
        ({"line": "CDU, lead time 22 weeks"}, "", ""),
        ({"line": "CDU, lead time 38 weeks"}, "delivery-misses-date", "arrives 38 weeks after the order"),
        ({"milestone": "switches in week 12, NCCL test in week 16"}, "", ""),
        ({"milestone": "'NCCL test in week 16', 'switches in week 20'"}, "delivery-misses-date", "arrive in week 20"),
        ({"line": "warranty 90 days from 2027-05-01"}, "", ""),
        ({"line": "warranty 90 days from the invoice of 2026-11-20"}, "warranty-shorter-than-term", "of 90 days from"),
        ({"line": "rack 42 U"}, "", ""),
        (
            {"line": "rack 28 U"},
            "nodes-off-rack",
            "3 nodes of 10 rack units take 30 units, but the quoted racks have 28",
        ),
        ({"line": 'storage, 24 x 15.36 TB each, 8+2", quantity: 10, part_of: "'}, "", ""),
        # 10 x 24 x 15.36 TB are 3.686 PB, of which an erasure code of 8+2 leaves 2.95 PB
        ({"line": 'storage, 24 x 15.36 TB (3.686 PB raw in all), 8+2", quantity: 10, x: "'}, "", ""),
        (
            {"line": 'storage, 24 x 15.36 TB (3.318 PB raw in all), 8+2", quantity: 9, x: "'},
            "quote-text-off-design",
            "states 2.65 PB for data",
        ),
        ({"line": 'storage, 2,900 TB for 24 months, per GB and month", quantity: 69600000, x: "'}, "", ""),
        (
            {"line": 'storage, 2,900 TB for 24 months, per GB and month", quantity: 69600, x: "'},
            "quote-unit-miscounted",
            "sold per GB, but 69,600 is its size in TB",
        ),
        ({"line": "vWS licenses, per concurrent user"}, "", ""),
        ({"line": "vWS licenses, one per GPU"}, "quote-unit-miscounted", "per concurrent user"),
        # 36 months at 1,000 that rise by 10 % a year: 12,000 x (1 + 1.1 + 1.21) = 39,720
        ({"line": 'line, 36 months", quantity: 36, unit_price: 1000, price: 36000, x: "'}, "", ""),
        (
            {"line": 'line, 36 months, increases by 10 % a year", quantity: 36, unit_price: 1000, price: 36000, x: "'},
            "quote-arithmetic",
            "3 years are 39,720 USD, not 36,000 USD",
        ),
        ({"line": 'line, 36 months, increases by 10 % a year", quantity: 1, price: 39720, x: "'}, "", ""),
        # 2 ports for 36 months are 72 months of a port
        ({"line": 'port, 2 ports x 36 months", quantity: 72, x: "'}, "", ""),
        ({"line": 'port, 2 ports x 12 months", quantity: 72, x: "'}, "quote-unit-miscounted", "which are 24, but its"),
        ({"line": 'store, 400 TB x 12 months = 4,800,000 GB-months", quantity: 4800000, x: "'}, "", ""),
        (
            {"line": 'store, 400 TB x 3 months = 4,800,000 GB-months", quantity: 4800000, x: "'},
            "quote-unit-miscounted",
            "is wrong: the product is 1,200",
        ),
        ({"line": 'remote hands, 5 years, per year", quantity: 5, x: "'}, "", ""),
        (
            {"line": 'remote hands, 2 years, per year", quantity: 5, x: "'},
            "quote-unit-miscounted",
            "for 2 years, but the",
        ),
        ({"line": 'access, 36 months, monthly", quantity: 36, x: "'}, "", ""),
        (
            {"line": 'access, 12 months, monthly", quantity: 24, x: "'},
            "quote-unit-miscounted",
            "the quote has 24 months",
        ),
        ({"line": 'training, priced in EUR", quantity: 1, price: 5000, x: "'}, "quote-arithmetic", "priced in EUR"),
        ({"line": 'training, priced in USD", quantity: 1, price: 5000, x: "'}, "", ""),
        ({"line": 'training, in Swiss francs", quantity: 1, price: 5000, x: "'}, "quote-arithmetic", "priced in CHF"),
        ({"line": 'training, in US dollars", quantity: 1, price: 5000, x: "'}, "", ""),
        ({"line": 'training, 1 EUR = 1.16 USD", quantity: 1, price: 5000, x: "'}, "", ""),
        ({"line": 'training, 1 USD = 1.16 EUR", quantity: 1, price: 5000, x: "'}, "quote-arithmetic", "is inverted"),
        ({"line": 'training, 1 JPY = 152 USD", quantity: 1, price: 5000, x: "'}, "quote-arithmetic", "is inverted"),
        ({"line": "valid until 2026-12-18", "remarks": "the board decides on 2026-12-10"}, "", ""),
        (
            {"line": "valid until 2026-12-18", "remarks": "the board decides on 2027-01-21"},
            "offer-expires-before-order",
            "valid until 2026-12-18, but the order follows on 2027-01-21",
        ),
        # 30 days from 18 November end on 18 December; 5 weeks on 23 December
        ({"line": "prices hold for 30 days from 2026-11-18", "remarks": "the board decides on 2026-12-18"}, "", ""),
        (
            {"line": "prices hold for 30 days from 2026-11-18", "remarks": "the board decides on 2026-12-19"},
            "offer-expires-before-order",
            "valid until 2026-12-18, but the order follows on 2026-12-19",
        ),
        ({"line": "offer of 2026-11-18; valid for 5 weeks", "remarks": "the board decides on 2026-12-23"}, "", ""),
        (
            {"line": "offer of 2026-11-18; valid for 5 weeks", "remarks": "the board decides on 2026-12-24"},
            "offer-expires-before-order",
            "valid until 2026-12-23, but the order follows on 2026-12-24",
        ),
        ({"line": "prices valid from 2026-11-18", "remarks": "the board decides on 2026-12-24"}, "", ""),
    ],
)
def test_terms_in_texts_are_compared(changed: dict[str, str], rule: str, words: str, check: Check) -> None:
    text = QUOTE.format(**(PLAIN | changed)).replace(', x: ""', "").replace(', part_of: ""', "")
    about = {
        *("delivery-misses-date", "warranty-shorter-than-term", "nodes-off-rack", "quote-text-off-design"),
        *("lease-off-formula", "quote-unit-miscounted", "quote-arithmetic", "offer-expires-before-order"),
    }
    found = [one for one in check(text) if one.rule in about and one.severity != "note"]
    assert [one.rule for one in found] == ([rule] if rule else [])
    assert all(words in one.message for one in found)


TWICE = """clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 16}}
procurement:
  currency: USD
  quote:
    - {{part: "{first}", quantity: 16, unit_price: 6000, price: 96000}}
    - {{part: "{second}", quantity: 16, unit_price: 900, price: 14400}}
"""


@each(
    ("first", "second", "twice"),
    [
        ("DGX H200, NVIDIA AI Enterprise included", "NVIDIA AI Enterprise, per system", True),
        ("DGX H200 incl. NVAIE", "NVAIE 5 years", True),
        ("DGX H200 without NVAIE", "NVAIE 5 years", False),
        ("rack 48U incl. 2 PDUs", "rack PDU 415 V 60 A", True),
        ("rack 48U", "rack PDU 415 V 60 A", False),
        ("SN5600 switch, Cumulus Linux incl.", "Cumulus Linux license", True),
        ("DGX H200, delivery included", "freight and insurance", True),
        ("DGX H200, delivery included", "storage 1 PB", False),
        ("NVMe storage, 5 years support included", "support per system, 5 years", False),
        ("DGX H200, 24x7 support included", "upgrade of the support to 4 h", False),
    ],
)
def test_what_a_line_includes_is_not_sold_again(first: str, second: str, twice: bool, check: Check) -> None:
    rules = {one.rule for one in check(TWICE.format(first=first, second=second))}
    assert ("quote-pays-twice" in rules) == twice


ACCEPTED = """clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 16}}
operations: {{burn_in: 21 days}}
procurement:
  currency: USD
  payment: {{order: 0.2, delivery: 0.4, acceptance: 0.4}}
  delivery: {{weeks: 12, milestones: ["{text}"]}}
"""


@each(
    ("text", "early"),
    [
        ("acceptance counts as given 10 days after delivery", True),
        ("the machine is deemed accepted 14 days after delivery", True),
        ("acceptance counts as given 20 days after delivery", True),
        ("acceptance counts as given 21 days after delivery", False),
        ("acceptance counts as given 30 days after delivery", False),
        ("acceptance after tests of 10 days", False),
        ("accepted automatically if no defect is reported within 7 days", True),
    ],
)
def test_no_machine_is_accepted_before_its_burn_in_ends(text: str, early: bool, check: Check) -> None:
    rules = {one.rule for one in check(ACCEPTED.format(text=text))}
    assert ("payment-before-acceptance" in rules) == early


LEASED = """clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 8, scale_out: {{technology: infiniband-ndr, switch: quantum-2-qm9700}}}}
procurement:
  currency: EUR
  quote:
    - {{part: "{first}", quantity: {quantity}, unit_price: 300000}}
    - {{part: "{second}", quantity: 8, unit_price: 9000}}
"""


@each(
    ("first", "quantity", "second", "rule", "severity"),
    [
        # a lease of a whole machine has its network in it
        ("monthly lease of servers, network and storage", 36, "support per server", "quote-off-bill", ""),
        ("monthly lease of 8 servers", 36, "QM9700 leaf switch", "quote-off-bill", "note"),
        # outlets of racks: the nodes have supplies of 3.3 kW
        ("DGX H200", 8, "rack PDU with 36 x C13 outlets", "quote-text-off-part", "error"),
        ("DGX H200", 8, "rack PDU with 24 x C13 and 12 x C19 outlets", "quote-text-off-part", ""),
        ("DGX H200", 8, "rack PDU with 36 x C13 outlets, no C19", "quote-text-off-part", "error"),
        # cords of the nodes; another part with the word has its own supply
        ("DGX H200", 8, "set of 6 power cords C13 to C14", "quote-text-off-part", "error"),
        ("DGX H200", 8, "set of 6 power cords C19 to C20", "quote-text-off-part", ""),
        ("DGX H200", 8, "out-of-band switch with C13 inlet", "quote-text-off-part", ""),
    ],
)
def test_what_leases_and_outlets_hold(
    first: str, quantity: int, second: str, rule: str, severity: str, check: Check
) -> None:
    written = LEASED.format(first=first, quantity=quantity, second=second)
    found = [str(one.severity) for one in check(written, rule) if one.rule == rule and one.path[-1] != "quantity"]
    assert found == [severity] * bool(severity)


@each(
    ("part", "amount", "wrong"),
    [
        ("rebate, 6 % of the nodes", 60000, False),
        ("rebate, 6 % of the nodes", 6000, True),
        ("rebate, 6 % of the nodes", 600000, True),
        ("rebate, 6 % of the nodes", 65400, False),  # of nodes and switches
        ("6 % consortium discount", 6000, True),
        ("rebate", 6000, False),
        ("rebate, 6 % of the nodes", 50000, False),  # of other parts of the lines
    ],
)
def test_a_rebate_is_its_percent_of_some_lines(part: str, amount: int, wrong: bool, check: Check) -> None:
    text = f"""clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 4}}
procurement:
  currency: USD
  quote:
    - {{part: DGX H200, quantity: 4, unit_price: 250000, price: 1000000}}
    - {{part: QM9700 switch, quantity: 2, unit_price: 45000, price: 90000}}
    - {{part: "{part}", quantity: 1, unit_price: -{amount}, price: -{amount}}}
"""
    assert any("takes off" in one.message for one in check(text)) == wrong


CLAUSES = """clusterspec: 1
description: {remarks}
cluster: {{platform: dgx-h200, nodes: 4}}
acceptance:
  - {{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 320 GB/s}}
procurement:
  currency: EUR
  as_of: 2026-11-02
  term: 3 years
  support: {{term: 3 years, response: 4 h}}
  prices: {{node_hour: 20}}
  delivery: {{weeks: 10, milestones: [{milestone}]}}
  quote:
    - {{part: "{line}", quantity: {quantity}, unit_price: {price}}}
    - {{part: "{second}", quantity: 1, unit_price: 420000}}
"""
RENT = {"line": "Leasingrate 4 x DGX H200 mit Netz, Monate 1 bis 48", "second": "Restwert am Ende", "quantity": 48}
OF_LEASE = "Anschaffungswert 2.800.000 EUR, Zins 0,45 % im Monat, Restwert 420.000 EUR"


@each(
    ("changed", "rule", "words"),
    [
        # as_of 2026-11-02 and ten weeks are 2027-01-11
        ({"line": "Bankbürgschaft bis 31.03.2027"}, "", ""),
        ({"line": "Bankbürgschaft bis 31.12.2026"}, "lapses-before-needed", "11 days before the last delivery"),
        ({"line": "leaf switch, end of support 2031-12-31"}, "", ""),
        ({"line": "leaf switch, end of support 2028-12-31"}, "contract-clause-unmet", "bought until 2030-01-1"),
        ({"remarks": "Die laufende Wartung endet am 2026-12-31", "line": "Wartung 2027-01-01 bis 2029-12-31"}, "", ""),
        (
            {"remarks": "Die laufende Wartung endet am 2026-12-31", "line": "Wartung 2027-02-01 bis 2030-01-31"},
            "contract-clause-unmet",
            "31 days without support",
        ),
        # v = 1.0045^-48 = 0.80613: (2,800,000 - 420,000 v) 0.0045 / (1 - v) = 57,132; without the residual 64,991
        (RENT | {"remarks": OF_LEASE, "price": 57132.01}, "", ""),
        (RENT | {"remarks": OF_LEASE, "price": 64990.60}, "lease-off-formula", "57,132.01 a month with this residual"),
        (RENT | {"remarks": OF_LEASE, "price": 56876.07}, "", ""),  # at the beginning of the month: over 1.0045
        ({"line": "NCCL all-reduce test, bus bandwidth 330 GB/s"}, "", ""),
        (
            {"line": "NCCL all-reduce test, bus bandwidth 320 Gb/s"},
            "quote-text-off-design",
            "320 Gb/s of bus bandwidth, but `acceptance.0.busbw` is 320 GB/s",
        ),
        ({"line": "Support, 4 systems x 36 months, system-months", "quantity": 144}, "", ""),
        (
            {"line": "Support, 4 systems x 60 months, system-months", "quantity": 240},
            "quote-text-off-design",
            "60 months for each part",
        ),
        # three years of four nodes have 4 x 26,298 hours
        ({"line": "node-hours of H200", "quantity": 105192, "price": 20}, "", ""),
        ({"line": "node-hours of H200", "quantity": 105192, "price": 25}, "quote-off-prices", "25.00 EUR for an hour"),
        (
            {"line": "power, B-feed, 40 kW", "remarks": "the second feed is included in the price of the rack"},
            "quote-pays-twice",
            "according to the description another price includes the second feed",
        ),
        ({"line": "power, B-feed, 40 kW", "remarks": "the second feed is charged as the first"}, "", ""),
        ({"line": "Wartung (TEUR)", "price": 1200}, "", ""),
        (
            {"line": "Wartung (TEUR)", "price": 96},
            "quote-unit-miscounted",
            "states its price in `teur`, but 96 is added",
        ),
        ({"line": "维保（单价：万元）", "price": 9.6}, "quote-unit-miscounted", "in `万元`, but 9.6 is added"),
        ({"milestone": "'Abnahme in Woche 14'"}, "", ""),
        ({"milestone": "'Server in Woche 14'"}, "delivery-misses-date", "is in week 14"),
    ],
)
def test_clauses_of_contracts_are_compared(
    changed: dict[str, str | int | float], rule: str, words: str, check: Check
) -> None:
    plain = {"remarks": "x", "milestone": "x", "line": "rails", "second": "rails", "quantity": 1, "price": 10}
    about = {
        *(
            "contract-clause-unmet",
            "lease-off-formula",
            "quote-pays-twice",
            "quote-text-off-design",
            "quote-off-prices",
        ),
        *("delivery-misses-date", "quote-unit-miscounted", "lapses-before-needed"),
    }
    found = [one for one in check(CLAUSES.format(**(plain | changed))) if one.rule in about and one.severity != "note"]
    assert [one.rule for one in found] == ([rule] if rule else [])
    assert all(words in one.message for one in found)


@each(
    ("asked", "offered", "line", "wrong"),
    [
        ("DDP Ankara", "Teslim EXW Hsinchu", "rails", True),
        ("DDP Ankara", "Teslim EXW Hsinchu", "navlun ve gümrük", False),  # freight and customs are a line
        ("DDP Ankara", "Teslim DDP Ankara", "rails", False),
        ("FCA Hsinchu", "delivery DAP Oslo", "rails", False),  # the seller does more
    ],
)
def test_the_terms_of_delivery_are_those_that_were_asked_for(
    asked: str, offered: str, line: str, wrong: bool, check: Check
) -> None:
    plain = {"line": line, "second": "rails", "quantity": 1, "price": 10}
    found = check(CLAUSES.format(remarks=f"delivered {asked}", milestone=f"'{offered}'", **plain))
    assert any("is left" in one.message or "are left" in one.message for one in found) == wrong


@each(
    ("part", "periods", "spare"),
    [
        ("Varaosa: virtalähde 3,3 kW, DGX H100", False, "other"),
        ("spare: DGX H100 board", False, "other"),
        ("spare node DGX H100", False, "node"),
        ("Wartung je DGX inkl. NVIDIA AI Enterprise", False, "other"),
    ],
)
def test_what_a_line_of_a_stock_names_is_no_machine(part: str, periods: bool, spare: str) -> None:
    text = plain_part(QuoteLine(part=part))
    assert (kind_of_part(text), names_period(text)) == (spare, periods)


def test_octets_are_bytes() -> None:
    assert english_text("24 ssd de 15,36 to, 4,42 po, 40 go/s") == "24 ssd de 15,36 tb, 4,42 pb, 40 gb/s"


STORE = """clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 4
  power: {{feeds: {feeds}}}
  networks: {{storage: {{capacity: 2 PB}}}}
procurement:
  currency: EUR
  quote:
    - {{part: "NVMe enclosure 24 x 30.72 TB, erasure code 8+2", quantity: 4}}
    - {{part: "{line}", quantity: 10}}
    - {{part: "{second}", quantity: 10}}
"""


@each(
    ("feeds", "line", "second", "states"),
    [
        # four enclosures have 2,949 TB, of which the code leaves 2,359 for data
        ("2N", "file system license, 2000 TB x 5 years", "rails", ""),
        ("2N", "file system license, 1200 TB x 5 years", "rails", "a license for 1.2 PB"),
        ("2N", "feed A, 63 A", "feed B, 63 A", ""),
        ("2N", "feed A, 63 A", "rails", "feed A alone"),
        ("2N", "feed A and B, 63 A", "rails", ""),
        ("N", "feed A, 63 A", "rails", ""),
    ],
)
def test_licenses_and_feeds_are_those_of_the_design(
    feeds: str, line: str, second: str, states: str, check: Check
) -> None:
    found = [
        one.message
        for one in check(STORE.format(feeds=feeds, line=line, second=second))
        if one.rule == "quote-text-off-design"
    ]
    assert len(found) == bool(states) and all(states in one for one in found)
