"""Other readings of a quote: a number is a note, and no error, where lines that may be misread explain it.

The machine has 62 DGX H100 and one spare with 4 further endpoints: 508 links to 16 leaves, 512 to 8 spines, and
1,024 modules of two links each.
"""

from __future__ import annotations

from clusterspec.procurement.offered import Offered
from clusterspec.rules.readers.quotes.readings import lines_that_fill
from clusterspec.rules.readers.quotes.support import support_lines, years_supported
from clusterspec.source import dotted_path
from clusterspec.spec.model import QuoteLine
from tests.effort import each

from .conftest import Check

SPEC = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 62
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, extra_endpoints: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 system, quantity: 63}
    - {part: QM9700 leaf switch, quantity: 16}
    - {part: QM9700 spine switch, quantity: 8}
    - {part: node to leaf cable, quantity: 508}
    - {part: leaf to spine cable, quantity: 512}
"""
MODULES = "    - {part: transceiver, quantity: %d}\n"
UNKNOWN = "    - {part: PX-77 elements, quantity: %d}\n"


@each(
    ("lines", "severity", "words"),
    [
        (MODULES % 1020, "", ""),
        (MODULES % 508, "error", "516 are missing"),
        # a line without a known noun has as many as are missing, up to a tenth more than needed together
        (MODULES % 508 + UNKNOWN % 516, "note", "`PX-77 elements` may offer them"),
        (MODULES % 508 + UNKNOWN % 618, "note", "`PX-77 elements` may offer them"),
        (MODULES % 508 + UNKNOWN % 619, "error", "516 are missing"),
        (MODULES % 508 + UNKNOWN % 515, "error", "516 are missing"),
        (MODULES % 508 + UNKNOWN % 258 + UNKNOWN.replace("77", "78") % 258, "note", "`PX-77 elements` and `PX-78 elem"),
        # services and racks are known, and offer no modules
        (MODULES % 508 + "    - {part: support per module, quantity: 516}\n", "error", "516 are missing"),
        (MODULES % 508 + "    - {part: rack, quantity: 516}\n", "error", "516 are missing"),
        # a line without modules at all
        (UNKNOWN % 1024, "note", "no line for 1,024 transceivers, which the design needs; `PX-77 elements` may"),
        (UNKNOWN % 1023, "error", "no line for 1,024 transceivers"),
        # packs, which some count in pieces
        (MODULES.replace("transceiver", "transceiver (pack of 4)") % 256, "", ""),
        (MODULES.replace("transceiver", "transceiver (pack of 4)") % 128, "error", "has 512 transceivers"),
        (MODULES.replace("transceiver", "transceiver (pack of 4)") % 1024, "note", "some of the lines have 1,024"),
        (
            MODULES.replace("transceiver", "transceiver (8 in a tray)") % 128,
            "note",
            "`transceiver (8 in a tray)` may offer",
        ),
        (MODULES.replace("transceiver", "transceiver 8x 100G 8 m") % 128, "error", "896 are missing"),
        (MODULES.replace("transceiver", "transceiver (pack of 4)") % 1100, "warning", "has 4,400 transceivers"),
    ],
)
def test_lines_that_may_fill_a_shortage_make_it_a_note(lines: str, severity: str, words: str, check: Check) -> None:
    found = [
        one for one in check(SPEC + lines, "quote-off-bill") if one.rule == "quote-off-bill" and "need" in one.message
    ]
    assert [str(one.severity) for one in found] == ([severity] if severity else [])
    assert all(words in one.message for one in found)


@each(
    ("nodes", "severity"),
    [
        ((63,), ""),
        ((80,), "warning"),  # 17 more in one line
        ((63, 17), "note"),  # 63 and 17 others
        ((62, 18), "warning"),  # no line or sum of lines has the 63
        ((40, 23, 17), "note"),
    ],
)
def test_nodes_in_addition_to_those_needed_may_be_for_something_else(
    nodes: tuple[int, ...], severity: str, check: Check
) -> None:
    own = "    - {part: DGX H100 system, quantity: 63}\n"
    lines = "".join(own.replace("63", str(count)).replace("system", f"system {n}x") for n, count in enumerate(nodes))
    text = SPEC.replace(own, lines) + MODULES % 1020
    found = [one for one in check(text, "quote-off-bill") if one.rule == "quote-off-bill" and "nodes" in one.message]
    assert [str(one.severity) for one in found] == ([severity] if severity else [])


@each(
    ("parts", "years"),
    [
        ([("support for 3 years", 1)], 3),
        ([("support for 3 years", 1), ("maintenance years 4 and 5", 2)], 5),
        ([("maintenance years 4 and 5", 2)], 5),  # the first three are under warranty
        ([("support year 2 to year 5", 1)], 5),
        ([("maintenance years 1 and 2", 2)], 2),
        ([("support per year", 4)], 4),
        ([("support, 24x7", 1)], None),
        ([("tuki ja ylläpito, 60 kk", 1)], 5),
        ([("wartung, 36 monate", 1)], 3),
        ([("underhåll 4 år", 1)], 4),
        ([("三年维保 7x24, 每年", 3)], 3),
        ([("manutenzione 2 anni", 1)], 2),
        ([("support, one year", 3)], 3),
        ([("support for three years", 1)], 3),
        ([("support, one node for one year", 40)], None),  # the quantity multiplies nodes by years
        ([("support of servers for 5 years", 1), ("support of switches for 3 years", 1)], 5),
    ],
)
def test_periods_of_support_add_up(parts: list[tuple[str, int]], years: int | None) -> None:
    lines = [(Offered(0, "other", QuoteLine(part, quantity, 1000)), part) for part, quantity in parts]
    assert years_supported(support_lines(lines)) == years


@each(
    ("part", "quantity", "severity"),
    [
        ("support per server per year", 63, "warning"),
        ("support per server per year", 315, ""),
        ("support per server, 5 years", 63, ""),
        ("support per server per year", 126, "warning"),  # 2 of 5 years
        ("support per server per year", 130, "note"),
        ("licence per server per year", 63, ""),  # paid year by year
    ],
)
def test_support_by_the_year_is_bought_for_every_year(part: str, quantity: int, severity: str, check: Check) -> None:
    text = SPEC.replace("  quote:\n", "  support: {term: 5 years}\n  quote:\n")
    found = check(text + MODULES % 1024 + f"    - {{part: {part}, quantity: {quantity}, unit_price: 9000}}\n")
    assert [str(one.severity) for one in found if one.rule == "quote-unit-miscounted"] == [severity] * bool(severity)


@each(
    ("part", "term", "found"),
    [
        ("Capacity Block, 16x p5.48xlarge, 182 days", "1 year", False),
        ("Capacity Block, 16x p5.48xlarge, 26 weeks", "1 year", False),
        ("Capacity Block, 16x p5.48xlarge, 27 weeks", "1 year", True),
        ("Capacity Block, 16x p5.48xlarge", "6 months", False),
        ("Capacity Block, 16x p5.48xlarge", "7 months", True),
        ("Reserved instances, 16x p5.48xlarge", "7 months", False),
    ],
)
def test_a_capacity_block_is_no_contract_of_years(part: str, term: str, found: bool, check: Check) -> None:
    line = f'{{part: "{part}", quantity: 9000, unit_price: 31}}'
    text = f"""clusterspec: 1
cluster: {{platform: aws-p5-48xlarge, nodes: 16}}
procurement: {{currency: USD, as_of: 2026-11-01, term: {term}, quote: [{line}]}}
"""
    assert any(one.rule == "commitment-off-term" for one in check(text, "commitment-off-term")) is found


@each(
    ("electricity", "hours", "found"),
    [(0.12, 0.06, False), (0.12, 0.61, True), (0.12, 0.6, False), (0.5, 0.09, True), (0.5, 0.1, False)],
)
def test_prices_of_electricity_by_hour_are_of_one_size(
    electricity: float, hours: float, found: bool, check: Check
) -> None:
    text = f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 4}}
procurement:
  electricity: {electricity}
  tariff: [{{from: "22:00", to: "06:00", price: {hours}}}]
"""
    assert any(dotted_path(one.path) == "procurement.tariff[0].price" for one in check(text)) is found


def test_energy_with_a_rent_may_be_that_of_another_pool(check: Check) -> None:
    rent = "procurement: {currency: USD, as_of: 2026-11-01, electricity: 0.1, prices: {node_hour: 50}}\n"
    alone = check(f"clusterspec: 1\ncluster: {{platform: aws-p5-48xlarge, nodes: 4}}\n{rent}")
    fleet = check(
        "clusterspec: 1\npools:\n  own: {platform: dgx-h100, nodes: 4, prices: {node: 310000}}\n"
        "  cloud: {platform: aws-p5-48xlarge, nodes: 4, prices: {node_hour: 50}}\n"
        "procurement: {currency: USD, as_of: 2026-11-01, electricity: 0.1}\n"
    )
    for found, severity in ((alone, "warning"), (fleet, "note")):
        assert {str(one.severity) for one in found if one.rule == "energy-beside-rent"} == {severity}


@each(
    ("part", "price", "rules"),
    [
        ("transceiver", 1_000, set()),
        ("transceiver", 8_000, {"quote-off-prices", "part-price-outside-market"}),
        ("transceiver (8 in a tray)", 8_000, set()),
        ("transceiver, pack of 8", 8_000, set()),
        ("transceiver (4 in a tray)", 8_000, {"quote-off-prices"}),  # 2,000 each
        ("transceiver 8x 100G", 8_000, {"quote-off-prices", "part-price-outside-market"}),
    ],
)
def test_the_price_of_several_modules_is_judged_by_one(part: str, price: int, rules: set[str], check: Check) -> None:
    text = SPEC.replace("  quote:\n", "  prices: {transceiver: 1000}\n  quote:\n")
    line = f'    - {{part: "{part}", quantity: 1024, unit_price: {price}}}\n'
    names = {"quote-off-prices", "part-price-outside-market"}
    assert {one.rule for one in check(text + line) if one.rule in names and "quote" in one.path} == rules


@each(
    ("part", "price", "tax", "found"),
    [
        ("VAT 19 %", 190_000, 0.19, True),
        ("Pos. 9 MwSt 19 %", 190_000, 0.19, True),
        ("IVA trasladado", 190_000, 0.19, True),
        ("IVA trasladado", 150_000, 0.19, False),  # of other lines, or another tax
        ("VAT 19 %", 190_000, 0, False),
        ("support without VAT", 190_000, 0.19, False),
    ],
)
def test_a_tax_is_added_once(part: str, price: int, tax: float, found: bool, check: Check) -> None:
    text = f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 4}}
procurement:
  currency: EUR
  tax: {tax}
  quote:
    - {{part: DGX H100, quantity: 4, unit_price: 250000}}
    - {{part: {part}, price: {price}}}
"""
    assert any("adds it again" in one.message for one in check(text)) is found


def test_lines_with_many_numbers_end_the_search_for_readings() -> None:
    """Each of 60 lines may be one of six numbers: their sums are not all tried, and no reading is named."""
    lines = [
        Offered(at, "cable", QuoteLine(f"cable set {2 + at} {70 + at} {200 + 3 * at} {500 + 7 * at}", 1 + at * at))
        for at in range(60)
    ]
    assert lines_that_fill(10_000_000, lines, []) == []


@each(
    ("lines", "severity"),
    [
        ("", "note"),
        ("    - {part: support 3 years, quantity: 1}\n    - {part: freight, quantity: 1}\n", "note"),
        ("    - {part: QM9700 leaf switch, quantity: 16}\n", "error"),
    ],
)
def test_nodes_with_services_alone_may_be_one_of_several_orders(lines: str, severity: str, check: Check) -> None:
    text = SPEC[: SPEC.index("    - {part: QM9700 leaf")] + lines
    found = {str(one.severity) for one in check(text) if "no line for" in one.message}
    assert found == {severity}
