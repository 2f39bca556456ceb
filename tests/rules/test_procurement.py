"""What is bought, and whether the papers add up: flaws beside their near misses."""

from __future__ import annotations

import pytest

from .conftest import Check
from .reports import Reported, one, reported

SOUND = """
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 2
  scale_out: {switch: quantum-2-qm9700, extra_endpoints: 4}
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, capacity: 2 PB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
operations: {burn_in: 72 h}
acceptance: [{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 330 GB/s, algorithm: ring}]
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 4 years
  prices: {node: 310000, leaf_switch: 36000, spine_switch: 36000, cable: 900, transceiver: 1200}
  electricity: 0.12
  pue: 1.3
  utilization: 0.85
"""
QUOTE = """\
  quote:
    - {part: node, quantity: 33, unit_price: 310000, price: 10230000}
    - {part: leaf switch, quantity: 9, unit_price: 36000, price: 324000}
"""


PRICES = "procurement.prices"
CASES: list[tuple[str, str, Reported]] = [
    ("", "", []),
    (", transceiver: 1200", "", one("unpriced-part", PRICES)),
    (", transceiver: 1200", ", transceiver: 0", []),
    (", leaf_switch: 36000", "", one("unpriced-part", PRICES)),
    ("310000", "[280000, 340000]", []),
    ("acceptance: ", "# ", one("procurement-without-acceptance", "procurement")),
    ("spare_nodes: 2", "spare_nodes: 0", one("procurement-without-spares", "cluster.spare_nodes")),
    ("1.3", "0.95", one("impossible-pue", "procurement.pue", "error")),
    ("1.3", "1", []),
    ("0.85", "85", one("impossible-utilization", "procurement.utilization", "error")),
    ("0.85", "0", one("impossible-utilization", "procurement.utilization", "error")),
    ("0.85", "0.96", one("full-utilization-assumed", "procurement.utilization", "note")),
    ("0.85", "0.95", []),
    ("  as_of: 2026-11-01\n", "", one("undated-prices", "procurement", "note")),
    ("  currency: USD\n", "", one("undated-prices", "procurement", "note")),
    ("  electricity: 0.12\n", "", one("incomplete-cost-inputs", "procurement", "note")),
    (", capacity: 2 PB", "", one("storage-clause-missing", "cluster.networks.storage", "warning")),
    ("node: 310000", "node: 3100", one("network-share-unusual", PRICES, "note")),
]


@pytest.mark.parametrize(("old", "new", "wanted"), CASES)
def test_a_procurement_is_judged(old: str, new: str, wanted: Reported, check: Check) -> None:
    assert old in SOUND
    assert reported(check, "procurement", SOUND.replace(old, new, 1) if old else SOUND) == wanted


@pytest.mark.parametrize(
    ("quote", "wanted"),
    [
        (QUOTE, []),
        (QUOTE + "  quoted_total: 10554000\n", []),
        (QUOTE + "  quoted_total: 11000000\n", one("quote-arithmetic", "procurement.quoted_total", "error")),
        (QUOTE.replace("10230000", "10320000"), one("quote-arithmetic", "procurement.quote[0].price", "error")),
        (QUOTE.replace(", price: 324000", "") + "  quoted_total: 10554000\n", []),
    ],
)
def test_the_arithmetic_of_a_quote_is_checked(quote: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "procurement", SOUND + quote) == wanted


def test_a_rented_machine_is_not_asked_for_the_parts_of_its_provider(check: Check) -> None:
    text = """
cluster:
  platform: aws-p5-48xlarge
  nodes: 16
  scale_out: {collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}
acceptance: [{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 320 GB/s, algorithm: ring}]
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 98}}
"""
    assert reported(check, "procurement", text) == []
