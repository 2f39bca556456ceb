"""Terms of a purchase and its parts, worked out by hand, each beside a change that makes it sound."""

from __future__ import annotations

from tests.effort import each

from .conftest import Check

PURCHASE = """clusterspec: 1
description: "{remarks}"
cluster:
  platform: hgx-h200
  nodes: 8
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic: connectx-7
    nic_bandwidth: 400 Gb/s
    topology: single-switch
    switch: quantum-2-qm9700
    leaf_switches: 1
    cables: {{node_leaf: 64}}
    links_per_cable: {{node_leaf: 1}}
    distance: {{node_leaf: 18 m, leaf_spine: 18 m}}
    optics: {{node_leaf: [mms4x00-ns400, mms4x00-ns]}}
procurement:
  currency: KRW
  as_of: 2026-11-02
  term: 3 years
  discount: {discount}
  quoted_total: {total}
  quote:
{lines}
"""
SERVER = '    - {part: "HGX H200 server", quantity: 8, unit_price: 1000, price: 8000}'


def line(part: str, quantity: int = 1, unit_price: float = 100) -> str:
    """A line of a quote with the product of its numbers."""
    price = quantity * unit_price
    return f'    - {{part: "{part}", quantity: {quantity}, unit_price: {unit_price}, price: {price}}}'


def purchase(*lines: str, remarks: str = "x", discount: float = 0, total: float = 0) -> str:
    return PURCHASE.format(remarks=remarks, discount=discount, total=total, lines="\n".join((SERVER, *lines)))


MODULES = "twin-port 800G transceiver"
RENT = "space in racks, 4 racks x 36 months"


@each(
    ("text", "rule", "words"),
    [
        # a price that is net of 12 %, from which 12 % are taken: 8,000 x 0.88 is counted twice
        (
            purchase(line("rails, net price after 12 % discount"), discount=0.12),
            "quote-condition-unmet",
            "net of 12 %, and",
        ),
        (purchase(line("rails, net price after 12 % discount"), discount=0.05), "quote-condition-unmet", ""),
        (purchase(line("rails, less the 12 % discount"), discount=0.12), "quote-condition-unmet", "net of 12 %, and"),
        (purchase(line("rails, incl. 12.5 % rebate"), discount=0.12), "quote-condition-unmet", ""),
        # (8,000 + 1,000) x 0.9 = 8,100; on equipment alone 8,000 x 0.9 + 1,000 = 8,200
        (
            purchase(
                line("installation", 1, 1000),
                remarks="The discount of 10 % is only for equipment.",
                discount=0.1,
                total=8100,
            ),
            "quote-condition-unmet",
            "8,200 KRW without",
        ),
        (
            purchase(
                line("installation", 1, 1000),
                remarks="The discount of 10 % is for equipment and services.",
                discount=0.1,
                total=8100,
            ),
            "quote-condition-unmet",
            "",
        ),
        # 144 months x 100 = 14,400; with 4 % twice (1 + 1.04 + 1.0816) / 3 = 1.04053, 584 more
        (
            purchase(line(RENT, 144), remarks="All rents rise by 4 % each year.", total=22400),
            "quote-condition-unmet",
            "584 KRW are missing before tax",
        ),
        (
            purchase(line(RENT, 144), remarks="All rents are fixed and rise by 0 % each year.", total=22400),
            "quote-condition-unmet",
            "",
        ),
        # 64 modules at the nodes; 64 ports of the switch, two to a module: 32
        (
            purchase(line(f"{MODULES}, flat top", 32), line(f"{MODULES}, finned", 64)),
            "quote-cabling-unfit",
            "offers 32 modules for the nodes, and the design needs 64",
        ),
        (purchase(line(f"{MODULES}, flat top", 64), line(f"{MODULES}, finned", 32)), "quote-cabling-unfit", ""),
        # breakout cables lead to the nodes, whose longest run has 18 m
        (
            purchase(line("AOC 800G to 2x 400G, 15 m", 32), line("AOC 800G, 30 m", 8)),
            "quote-text-off-design",
            "states 15 m, and",
        ),
        (purchase(line("AOC 800G to 2x 400G, 20 m", 32), line("AOC 800G, 30 m", 8)), "quote-text-off-design", ""),
        # 12 x 30 days are 360: 8 nodes x 5 days x 24 h = 960 hours are missing
        (
            purchase(line("node-hours, 8 VMs x 12 months x 30 days x 24 h", 69120)),
            "quote-unit-miscounted",
            "960 hours are missing",
        ),
        (purchase(line("node-hours, 8 VMs x 365 days x 24 h", 70080)), "quote-unit-miscounted", ""),
        (
            purchase(line("spare module (unit price USD)", 7), total=8700),
            "quote-arithmetic",
            "is priced in USD, and the quote",
        ),
        (purchase(line("spare module (unit price KRW)", 7), total=8700), "quote-arithmetic", ""),
        (
            purchase(remarks="The offer binds 21 days, until 3 December 2026. Order on 14 December 2026."),
            "offer-expires-before-order",
            "valid until 2026-12-03, and the order follows on 2026-12-14",
        ),
        (
            purchase(remarks="The offer binds 45 days, until 27 December 2026. Order on 14 December 2026."),
            "offer-expires-before-order",
            "",
        ),
        (
            purchase(line("H200 node hours, eu-north1"), line("shared file system 400 TB, eu-west1, one day")),
            "quote-for-another-region",
            "is for eu-west1, and the machine is in eu-north1",
        ),
        (
            purchase(line("H200 node hours, eu-north1"), line("shared file system 400 TB, eu-north1, one day")),
            "quote-for-another-region",
            "",
        ),
    ],
)
def test_a_term_of_a_purchase_is_judged_by_its_numbers(text: str, rule: str, words: str, check: Check) -> None:
    found = [one for one in check(text) if one.rule == rule and one.severity != "note"]
    assert [one.message for one in found if words and words in one.message] or (not words and not found), found
