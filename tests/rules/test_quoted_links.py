"""Words of a quote's line that no working link has: each line is sound in one spelling, and not in the other."""

from __future__ import annotations

import pytest

from clusterspec.source import dotted_path
from tests.effort import each

from .conftest import Check

QUOTE = """clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 16
  power: {{cooling: air}}
  scale_out: {{technology: {technology}, nic: connectx-7, nics_per_node: 8, nic_bandwidth: 400 Gb/s, switch: {switch}}}
procurement:
  currency: USD
  support: {{term: 5 years, response: 4 h}}
  quote:
    - {{part: "HGX H200 server, 8x ConnectX-7 400G", quantity: 16}}
    - {{part: "{line}", quantity: 128}}
"""
INFINIBAND = {"technology": "infiniband-ndr", "switch": "quantum-2-qm9700"}
ETHERNET = {"technology": "roce-v2", "switch": "spectrum-4-sn5600"}
ABOUT_WORDS = {"quote-cabling-unfit", "quote-names-other-part", "quote-text-off-design"}


def lines_found(check: Check, line: str, network: dict[str, str]) -> set[str]:
    """The rules about the words of the second line of the quote."""
    found = check(QUOTE.format(line=line, **network))
    return {
        one.rule
        for one in found
        if one.rule in ABOUT_WORDS and dotted_path(one.path).startswith("procurement.quote[1]")
    }


@each(
    ("network", "sound", "flawed", "rule"),
    [
        (INFINIBAND, "DAC 800G OSFP, 2 m", "DAC 800G OSFP, 4 m", "quote-cabling-unfit"),
        (INFINIBAND, "AEC 800G OSFP, 5 m", "passive copper 800G OSFP, 5 m", "quote-cabling-unfit"),
        (INFINIBAND, "MCP4Y10-N01A DAC 800G, 1.5 m", "MCP4Y10-N01A DAC 800G, 3 m", "quote-cabling-unfit"),
        (INFINIBAND, "MFP7E30-N050 fiber cable, SMF", "MFP7E30-N050 fiber cable, OM4", "quote-cabling-unfit"),
        (INFINIBAND, "MMS4X00-NS transceiver 2xDR4", "MMS4X00-NS transceiver 2xFR4", "quote-cabling-unfit"),
        (INFINIBAND, "MMA4Z00-NS transceiver 800G", "MMA4Z00-NS transceiver 1600G", "quote-cabling-unfit"),
        (
            INFINIBAND,
            "transceiver OSFP 800G, switch side",
            "transceiver QSFP112 400G, switch side",
            "quote-cabling-unfit",
        ),
        (
            INFINIBAND,
            "transceiver OSFP finned, switch side",
            "transceiver OSFP flat top, switch side",
            "quote-cabling-unfit",
        ),
        (INFINIBAND, "transceiver OSFP flat, NIC side", "transceiver OSFP finned, NIC side", "quote-cabling-unfit"),
        (ETHERNET, "AOC 400G QSFP112, 10 m", "AOC 400G QSFP56, 10 m", "quote-cabling-unfit"),
        (INFINIBAND, "NDR cable", "HDR cable", "quote-names-other-part"),
        (INFINIBAND, "cable 400G", "cable 200G", "quote-names-other-part"),
        (INFINIBAND, "QM9700 switch, 64x 400G", "QM9700 switch, 64x 200G", "quote-names-other-part"),
        (INFINIBAND, "transceiver 800G for ConnectX-7", "transceiver 800G for ConnectX-8", "quote-names-other-part"),
        (INFINIBAND, "support 24x7, 4 h, 5 years", "support next business day, 5 years", "quote-text-off-design"),
        (INFINIBAND, "switch support, 5 years", "switch support, 3 years", "quote-text-off-design"),
        (INFINIBAND, "server, air-cooled", "server, liquid-cooled", "quote-text-off-design"),
    ],
)
def test_a_changed_word_of_a_line_is_found(
    network: dict[str, str], sound: str, flawed: str, rule: str, check: Check
) -> None:
    assert lines_found(check, sound, network) == set()
    assert lines_found(check, flawed, network) == {rule}


@pytest.mark.parametrize(
    ("node", "wrong"),
    [
        ("8x ConnectX-7", []),
        ("8x ConnectX-6", ["procurement.quote[0].part"]),
        ("8x ConnectX-7, 1x ConnectX-6 Dx", []),
        ("1x ConnectX-6 Lx 25G", []),  # of another network
    ],
)
def test_nodes_are_sold_with_the_parts_of_the_design(node: str, wrong: list[str], check: Check) -> None:
    text = QUOTE.format(line="cable 400G", **INFINIBAND).replace("8x ConnectX-7 400G", node)
    found = [dotted_path(one.path) for one in check(text) if one.rule == "quote-names-other-part"]
    assert sorted({*found}) == wrong


FLEET = """clusterspec: 1
pools:
  old: {platform: dgx-h100, nodes: 4, scale_out: {technology: infiniband-ndr}}
  new: {platform: dgx-h200, nodes: 8, scale_out: {technology: infiniband-ndr}}
procurement:
  currency: USD
  as_of: 2026-11-01
  payment: {order: 1.0}
  quoted_total: 5000000
  quote:
    - {part: DGX H200, quantity: 8, unit_price: 310000, price: 2480000}
    - {part: DGX H100, quantity: 4, unit_price: 250000, price: 1000000}
    - {part: "MFP7E30-N020 fiber cable, 50 m", quantity: 96, unit_price: 190, price: 18240}
"""


def test_the_quote_of_several_pools_is_read_as_that_of_one(check: Check) -> None:
    """Lines that do not sum to the total, a payment before delivery, and a length unlike its order code."""
    rules = {one.rule for one in check(FLEET) if one.path[0] == "procurement" and one.severity != "note"}
    assert {"payment-before-acceptance", "quote-arithmetic", "quote-cabling-unfit"} <= rules
