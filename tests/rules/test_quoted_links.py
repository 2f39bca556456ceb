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
  host_memory: 2 TiB
  networks: {{storage: {{bandwidth: 40 GB/s, read: 80 GB/s, capacity: 1 PB}}}}
  power: {{cooling: air, node: 10 kW, nodes_per_rack: 4}}
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
ABOUT_WORDS = {"quote-cabling-unfit", "quote-names-other-part", "quote-text-off-design", "quote-text-off-part"}


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
        (INFINIBAND, "UFM license, 5 years", "UFM license, 3 years", "quote-text-off-design"),
        (INFINIBAND, "support, 4 h, 5 years", "support, return to depot, 5 years", "quote-text-off-design"),
        (INFINIBAND, "HGX H200 server, 2 TB", "HGX H200 server, 1 TB", "quote-text-off-design"),
        (INFINIBAND, "HGX H200 server, 32x 64GB DDR5", "HGX H200 server, 16x 64GB DDR5", "quote-text-off-design"),
        (INFINIBAND, "rear-door heat exchanger 45 kW", "rear-door heat exchanger 35 kW", "quote-text-off-design"),
        (INFINIBAND, "rack 48U, 45 kW", "rack 48U, 30 kW", "quote-text-off-design"),
        (INFINIBAND, "HGX H200 server, 8x H200 141 GB", "HGX H200 server, 8x H200 96 GB", "quote-text-off-part"),
        (
            INFINIBAND,
            "HGX H200 server, 8x H200 SXM5 141GB HBM3e",
            "HGX H200 server, 8x H200 SXM5 70GB HBM3e",
            "quote-text-off-part",
        ),
        (ETHERNET, "SN5600 Ethernet switch", "SN5600 InfiniBand switch", "quote-text-off-part"),
        (INFINIBAND, "QM9700 InfiniBand switch", "QM9700 Ethernet switch", "quote-text-off-part"),
        (INFINIBAND, "QM9700 switch, 32 OSFP cages, 64 ports", "QM9700 switch, 24 ports", "quote-text-off-part"),
        (INFINIBAND, "MQM9700-NS2F switch, P2C", "MQM9700-NS2F switch, C2P", "quote-text-off-part"),
        (
            INFINIBAND,
            "MQM9700-NS2R switch, port to power",
            "MQM9700-NS2R switch, power to port",
            "quote-text-off-part",
        ),
        (
            INFINIBAND,
            "HGX H200 server, 3.3 kW supplies, C19 cords",
            "HGX H200 server, 3.3 kW supplies, C13 cords",
            "quote-text-off-part",
        ),
        (INFINIBAND, "MFP7E30-N020 fiber, MPO-12/APC", "MFP7E30-N020 fiber, LC duplex", "quote-cabling-unfit"),
        (INFINIBAND, "cable MPO OM4 multimode", "cable MPO OM4 single-mode", "quote-cabling-unfit"),
        (INFINIBAND, "MMA4Z00-NS OSFP transceiver", "MMA4Z00-NS QSFP112 transceiver", "quote-cabling-unfit"),
        (INFINIBAND, "MMA4Z00-NS400 flat transceiver", "MMA4Z00-NS400 finned transceiver", "quote-cabling-unfit"),
        (INFINIBAND, "cable OSFP 2x400G", "cable QSFP112 2x400G", "quote-cabling-unfit"),
        (INFINIBAND, "HGX H200 server, 8x H200", "HGX H100 server, 8x H200", "quote-text-off-part"),
        (INFINIBAND, "HGX H200, 2 TB DDR5 (32x 64GB)", "HGX H200, 2 TB DDR5 (16x 64GB)", "quote-text-off-part"),
        (INFINIBAND, "support 24x7, 4 h, 5 years", "support 8x5, 4 h, 5 years", "quote-text-off-design"),
        (INFINIBAND, "transceiver 400G for the NICs", "transceiver 200G for the NICs", "quote-names-other-part"),
        (INFINIBAND, "MFP7E30-N020 fiber, MPO-12/APC", "MFP7E30-N020 fiber, MPO-12/UPC", "quote-cabling-unfit"),
        (
            INFINIBAND,
            "DAC 800G OSFP to 2x 400G QSFP112, 2 m",
            "DAC 400G OSFP to 2x 400G QSFP112, 2 m",
            "quote-cabling-unfit",
        ),
        (ETHERNET, "AOC 400G QSFP-DD to 4x 100G QSFP28", "AOC 400G QSFP-DD to 4x 200G QSFP56", "quote-cabling-unfit"),
        (ETHERNET, "800G 2xDR4 transceiver, OSFP", "800G 2xDR4 transceiver, QSFP112", "quote-cabling-unfit"),
        (ETHERNET, "SN5600 switch, 64x 800G OSFP", "SN5600 switch, 64x 800G QSFP112", "quote-cabling-unfit"),
        (
            INFINIBAND,
            "HGX H200 server, 8x ConnectX-7 400G",
            "HGX H200 server, 8x ConnectX-7 200G",
            "quote-text-off-design",
        ),
        (
            INFINIBAND,
            "HGX H200 server, 8x ConnectX-7 NDR",
            "HGX H200 server, 8x ConnectX-7 HDR",
            "quote-text-off-design",
        ),
        (
            INFINIBAND,
            "HGX H200 server, 8x ConnectX-7 dual-port 200G",
            "HGX H200 server, 8x ConnectX-7 200G, 2x 25G",
            "quote-text-off-design",
        ),
        (
            INFINIBAND,
            "HGX H200 server, 8x MCX75310AAS-NEAT",
            "HGX H200 server, 4x MCX75310AAS-NEAT",
            "quote-text-off-design",
        ),
        (INFINIBAND, "MCX653105A-HDAT NIC 400G", "MCX623105AN-VDAT NIC 400G", "quote-names-other-part"),
    ],
)
def test_a_changed_word_of_a_line_is_found(
    network: dict[str, str], sound: str, flawed: str, rule: str, check: Check
) -> None:
    assert lines_found(check, sound, network) == set()
    assert lines_found(check, flawed, network) == {rule}


@each(
    ("nodes", "nics", "quantity", "wrong"),
    [
        (16, 8, ", quantity: 128", True),
        (16, 8, ", quantity: 127", False),  # fewer than the NICs may be those of another network
        (16, 8, "", False),
        (1, 1, ", quantity: 1", True),
        (1, 1, "", False),  # a line that states no number may be of fewer
    ],
)
def test_slow_cables_are_those_of_the_fabric_where_they_are_as_many_as_its_nics(
    nodes: int, nics: int, quantity: str, wrong: bool, check: Check
) -> None:
    text = QUOTE.format(line="cable 200G", **INFINIBAND).replace(", quantity: 128", quantity)
    text = text.replace("nodes: 16", f"nodes: {nodes}").replace("nics_per_node: 8", f"nics_per_node: {nics}")
    found = {
        dotted_path(one.path) for one in check(text, "quote-names-other-part") if one.rule == "quote-names-other-part"
    }
    assert found == ({"procurement.quote[1].part"} if wrong else set())


@each(
    ("switch", "line", "wrong"),
    [
        ("dell-z9864f-on", "leaf switch Dell Z9864F-ON", False),
        ("dell-z9864f-on", "leaf switch Z9864F, 64x 800G", False),
        ("dell-z9864f-on", "leaf switch 7060X6-64PE", True),
        ("arista-7060x6-64pe", "leaf switch Arista 7060X6-64PE", False),
        ("edgecore-ais800-64o", "leaf switch SN5600", True),
    ],
)
def test_switches_of_all_makers_are_known_by_their_models(switch: str, line: str, wrong: bool, check: Check) -> None:
    found = lines_found(check, line, {"technology": "roce-v2", "switch": switch})
    assert found == ({"quote-names-other-part"} if wrong else set())


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
    found = [
        dotted_path(one.path) for one in check(text, "quote-names-other-part") if one.rule == "quote-names-other-part"
    ]
    assert sorted({*found}) == wrong


@each(
    ("sound", "slow"),
    [
        ("store 1 PB, 80 GB/s read, 40 GB/s write", "store 1 PB, 80 GB/s read, 20 GB/s write"),
        ("NVMe storage 1 PB, 80/40 GB/s", "NVMe storage 1 PB, 60/40 GB/s"),
        ("file system 1 PB, 45 GB/s write", "file system 1 PB, 35 GB/s write"),
        ("archive 9 PB, and a store 1 PB", "file system 1 PB, 4 GB/s"),
    ],
)
def test_a_quoted_store_is_as_fast_as_that_of_the_design(sound: str, slow: str, check: Check) -> None:
    text = QUOTE.replace("quantity: 128", "quantity: 1")
    for line, rules in ((sound, set()), (slow, {"quote-text-off-design"})):
        found = check(text.format(line=line, **INFINIBAND))
        assert {one.rule for one in found if one.path[:3] == ("procurement", "quote", 1)} & ABOUT_WORDS == rules, line


@each(
    ("node_leaf", "leaf_spine", "short"),
    [
        ("cable 20 m, node to leaf", "cable 30 m, leaf to spine", ""),
        ("cable 10 m, node to leaf", "cable 30 m, leaf to spine", "node_leaf"),
        ("cable 20 m, node to leaf", "cable 20 m, leaf to spine", "leaf_spine"),
        ("cable 5 to 15 m, servers to leaf", "cable 30 m, leaf-spine", ""),
        ("cable 10 m", "cable 30 m", ""),
    ],
)
def test_the_cables_of_each_level_reach(node_leaf: str, leaf_spine: str, short: str, check: Check) -> None:
    text = QUOTE.replace("switch: {switch}", "switch: {switch}, distance: {{node_leaf: 15 m, leaf_spine: 30 m}}")
    text = text.format(line=node_leaf, **INFINIBAND) + f'    - {{part: "{leaf_spine}", quantity: 64}}\n'
    messages = [one.message for one in check(text, "quote-text-off-design") if one.rule == "quote-text-off-design"]
    assert [f"`scale_out.distance.{short}`" in message for message in messages] == [True] * bool(short), messages


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


@each(
    ("module", "fiber", "wrong"),
    [
        ("400G SR4 transceiver", "OM4 MPO-12/APC fiber cable", False),
        ("400G DR4 transceiver", "OM4 MPO-12/APC fiber cable", True),
        ("400G SR4 transceiver", "cavo in fibra MPO-12/APC monomodale", True),
        ("400G DR4 transceiver", "cavo in fibra MPO-12/APC monomodale", False),
        ("400G transceiver", "OM4 MPO-12/APC fiber cable", False),  # of unknown light
        ("400G DR4 transceiver", "MPO-12/APC fiber cable", False),
        ("400G DR4 transceiver", "AOC 400G SR4 cable", False),  # no fiber for modules
    ],
)
def test_every_module_has_its_kind_of_fiber(module: str, fiber: str, wrong: bool, check: Check) -> None:
    text = f"""clusterspec: 1
cluster: {{platform: hgx-h200, nodes: 16}}
procurement:
  currency: USD
  quote:
    - {{part: {module}, quantity: 64}}
    - {{part: {fiber}, quantity: 128}}
"""
    assert any("all quoted fiber is" in one.message for one in check(text)) == wrong


DESIGNED = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    optics: {{node_leaf: [{node}, {leaf}], leaf_spine: {leaf}}}
procurement:
  currency: USD
  quote:
    - {{part: DGX H100, quantity: 16}}
    - {{part: "{modules}", quantity: 256}}
    - {{part: "{cable}", quantity: 256}}
"""
SINGLE_MODE = {"node": "mms4x00-ns-flt", "leaf": "mms4x00-ns"}
MULTIMODE = {"node": "mma4z00-ns-flt", "leaf": "mma4z00-ns"}


@each(
    ("optics", "modules", "cable", "words"),
    [
        (SINGLE_MODE, "OSFP transceivers", "MPO-12 cable", ""),
        (SINGLE_MODE, "OSFP transceivers", "LC duplex fiber cable", "has LC ends, but all transceivers have MPO"),
        (SINGLE_MODE, "OSFP transceivers 800G", "MPO-12 cable", ""),
        (SINGLE_MODE, "OSFP transceivers 400G twin-port", "MPO-12 cable", ""),
        (SINGLE_MODE, "OSFP transceivers 400G", "MPO-12 cable", "has 400 Gb/s, but the modules of"),
        (MULTIMODE, "OSFP transceivers", "MPO-12/APC OM4 cable", ""),
        (MULTIMODE, "OSFP transceivers", "MPO-12/UPC OM4 cable", "MPO modules of 400 Gb/s take angled ones"),
    ],
)
def test_quoted_parts_fit_the_modules_of_the_design(
    optics: dict[str, str], modules: str, cable: str, words: str, check: Check
) -> None:
    found = [
        one.message for one in check(DESIGNED.format(modules=modules, cable=cable, **optics)) if one.rule in ABOUT_WORDS
    ]
    assert len(found) == bool(words) and all(words in one for one in found)
