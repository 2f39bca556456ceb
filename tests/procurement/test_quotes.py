"""The lines of a quote compared with the bill of materials, worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.money import Money
from clusterspec.procurement.amounts import quoted_total
from clusterspec.procurement.bill import bill
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.part_names import WHOLE_NETWORK, kind_of_part
from clusterspec.procurement.product_names import named_entries
from clusterspec.procurement.quotes import QuotedPart, lines_by_end, quoted_parts, quoted_parts_of_pools
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from tests.cluster.resolving import catalog, clean

POD = """
cluster: {platform: dgx-h100, nodes: 31, spare_nodes: 1, scale_out: {topology: rail-optimized}}
procurement: {currency: USD, prices: {node: 300000, leaf_switch: 36000, spine_switch: 36000, cable: 900}}
"""
RACKS = "cluster: {platform: gb200-nvl72, nodes: 36}\nprocurement: {currency: USD, prices: {node: 200000}}\n"


def quoted(*lines: QuoteLine, spec: str = POD) -> dict[str, QuotedPart]:
    """The parts of a quote for 32 nodes, 8 leaves, 4 spines, 512 cables and 512 transceivers, by kind."""
    design = clean(spec)
    assert design.cluster is not None
    return {part.kind: part for part in quoted_parts(bill(design), lines, design.cluster)}


def quoted_of_pools(*lines: QuoteLine) -> list[tuple[str, float | None, float | None]]:
    """The nodes that a quote for four nodes of H100 and two of B200 has, with their number needed and quoted."""
    designs = {name: clean(f"cluster: {{platform: {name}, nodes: {nodes}}}\n") for name, nodes in FLEET.items()}
    machines = {name: (bill(each), each.cluster) for name, each in designs.items() if each.cluster is not None}
    found = quoted_parts_of_pools(machines, lines, catalog())
    return [(part.kind, part.needed, part.quoted) for part in found if part.kind.endswith("node")]


FLEET = {"dgx-h100": 4, "dgx-b200": 2}


def dollars(value: float) -> Money:
    return Money.of(value, "USD")


LINES = [  # a line, and its part: needed, quoted, price, value of what is missing, and state
    (QuoteLine("DGX H100", 32, 310000), ("node", 32, 32, 9_920_000, None, "quoted")),
    (QuoteLine("DGX H100", 30, 310000), ("node", 32, 30, 9_300_000, 620_000, "short")),
    (QuoteLine("DGX H100", 33, None, 9_900_000), ("node", 32, 33, 9_900_000, None, "surplus")),
    (QuoteLine("DGX H100", 30, None, 9_000_000), ("node", 32, 30, 9_000_000, 600_000, "short")),  # price of the spec
    (QuoteLine("DGX H100", None, 310000), ("node", 32, None, None, None, "no quantity")),
    (QuoteLine("leaf switch", 7, 40000), ("leaf_switch", 8, 7, 280_000, 40_000, "short")),
    (QuoteLine("QM9700 switch", 11), ("switch", 12, 11, None, 36_000, "short")),  # 8 leaves and 4 spines
    (QuoteLine("MPO cable", 512, 100), ("cable", 512, 512, 51_200, None, "quoted")),
    (QuoteLine("cabling", 1, None, 500_000), ("cable", 512, 1, 500_000, None, "no quantity")),  # one lot
    (QuoteLine("OSFP transceiver", 500, 1000), ("transceiver", 512, 500, 500_000, 12_000, "short")),
    (QuoteLine("ConnectX-7 NIC", 4, 1500), ("nic", None, 4, 6_000, None, "not needed")),
    (QuoteLine("installation", 1, None, 5_000), ("installation", None, 1, 5_000, None, "not needed")),
    (  # a credit offers no node
        QuoteLine("trade-in of DGX A100", 4, -30_000),
        ("trade-in of DGX A100", None, 4, -120_000, None, "not needed"),
    ),
    (QuoteLine("H100 GPU", 256), ("accelerator", 256, 256, None, None, "quoted")),  # 32 × 8, where no line has nodes
]


def test_a_line_offers_its_part_of_the_bill() -> None:
    for line, (kind, needed, number, price, missing, state) in LINES:
        found = quoted(line)[kind]
        assert (found.needed, found.quoted, found.state) == (needed, number, state), line
        assert found.price == (dollars(price) if price else None), line
        assert found.missing == (dollars(missing) if missing else None), line
        assert found.has_too_few == (state in {"short", "missing"})


def test_what_no_line_offers_is_missing() -> None:
    found = quoted(QuoteLine("DGX H100", 32, 310000), QuoteLine("DAC cable", 512, 80))
    assert found["leaf_switch"].state == "missing" and found["leaf_switch"].missing == dollars(8 * 36000)
    assert "transceiver" not in found, "cables with fixed ends take none"
    assert quoted(QuoteLine("MPO cable", 512, 80))["transceiver"].state == "missing", "nothing says that these have any"
    assert quoted() == {}
    tiers = quoted(QuoteLine("leaf switch", 8), QuoteLine("switch", 4))
    assert (tiers["leaf_switch"].needed, tiers["switch"].needed) == (8, 4), "unnamed switches are the other tiers"


SITE = POD.replace("scale_out:", "networks: {storage: {bandwidth: 100 GB/s}}, scale_out:").replace(
    "cable: 900", "cable: 900, storage: 500000"
)
STORES = [  # lines, and the store: quoted, price, price of the spec, and state
    ((), (None, None, 500_000, "elsewhere")),
    ((QuoteLine("NVMe storage", 2, 300_000),), (2, 600_000, None, "quoted")),
    ((QuoteLine("storage", 2, 300_000), QuoteLine("Storage support", None, None, 5_000)), (2, 600_000, None, "quoted")),
    ((QuoteLine("storage array", None, None, 9_000),), (None, 9_000, None, "quoted")),
]


def test_a_store_is_quoted_where_a_line_names_it() -> None:
    for lines, (number, price, elsewhere, state) in STORES:
        found = quoted(QuoteLine("DGX H100", 32, 310000), *lines, spec=SITE)["storage"]
        assert (found.quoted, found.state) == (number, state), lines
        assert found.price == (dollars(price) if price else None), lines
        assert found.missing == (dollars(elsewhere) if elsewhere else None), lines


SWITCHES_OF_SITE = [  # a fabric, a switch, and whether it belongs to another network
    ("infiniband-ndr", "", "QM9700 switch", False),
    ("infiniband-ndr", "", "SN4600C Ethernet switch", True),
    ("infiniband-ndr", "", "1GbE switch", True),
    ("roce-v2", "nic_bandwidth: 400 Gb/s", "400GbE switch", False),
    ("roce-v2", "nic_bandwidth: 400 Gb/s", "200GbE switch", True),
    ("roce-v2", "nic_bandwidth: 400 Gb/s, planes: 2", "200GbE switch", False),
    ("roce-v2", "nic_bandwidth: 400 Gb/s, planes: 2", "100GbE switch", True),
    ("roce-v2", "nic_bandwidth: 400 Gb/s", "switch", False),
]


def test_a_switch_slower_than_the_fabric_belongs_to_another_network() -> None:
    for technology, keys, part, beside in SWITCHES_OF_SITE:
        text = f"cluster: {{platform: dgx-h100, nodes: 4, scale_out: {{technology: {technology}, {keys}}}}}"
        cluster = clean(text).cluster
        assert cluster is not None
        lines = (QuoteLine(part, 2), QuoteLine("leaf switch", 2))
        assert next(offered_lines(lines, cluster)).kind == ("other" if beside else "switch"), (keys, part)


def test_hours_of_nodes_are_rent() -> None:
    cluster = clean(POD).cluster
    assert cluster is not None
    told = {"DGX node, hourly": True, "H100 node hours": True, "DGX node": False, "support hours": False}
    lines = tuple(QuoteLine(part, 1) for part in told)
    assert [one.is_node_rent for one in offered_lines(lines, cluster)] == [*told.values()]


def test_a_rack_holds_the_nodes_of_a_domain() -> None:
    for text, number in (("GB200 NVL72 rack", 36), ("GB200 NVL72 compute tray", 2)):
        assert quoted(QuoteLine(text, 2, 4e6), spec=RACKS)["node"].quoted == number
    lines = (QuoteLine("DGX H100", 10, 310_000), QuoteLine("DGX H100", 12, 300_000))
    assert quoted(*lines)["node"].missing == dollars(10 * 310_000), "at the highest price of the quote"
    short = quoted(QuoteLine("NVL72", 1, 3_600_000), spec=RACKS)["node"]
    assert (short.quoted, short.missing) == (18, dollars(18 * 200_000)), "3.6 million for 18 nodes"


def test_the_bill_takes_prices_that_only_the_quote_states() -> None:
    lines = (
        "[{part: HGX H100 server with 8 ConnectX-7, quantity: 31, price: 3100}, {part: QM9700 switch, unit_price: 7},"
    )
    lines += " {part: 1GbE switch, quantity: 2, unit_price: 1}, {part: cable, quantity: 9, unit_price: 2},"
    lines += " {part: long cable, quantity: 9, unit_price: 3}, {part: transceiver lot, quantity: 1, price: 900}]"
    spec = (
        "cluster: {platform: hgx-h100, nodes: 31}\nprocurement: {currency: USD, quote: %s, prices: {leaf_switch: 5}}\n"
    )
    items = bill(clean(spec % lines)).items
    assert {item.kind for item in items if item.included} == {"nic"}
    prices = {(item.kind, item.quoted): item.unit_price for item in items}
    assert prices == {
        ("node", True): dollars(100),  # 3,100 for 31
        ("nic", False): None,  # inside the servers
        ("leaf_switch", False): dollars(5),  # a stated price has precedence
        ("spine_switch", True): dollars(7),  # and not that of a switch of another network
        ("cable", True): Money.of((2, 3), "USD"),
        ("transceiver", False): None,  # a lot has no price of a unit
    }


def test_bundles_of_cables_cost_what_their_lines_cost() -> None:
    """256 links to leaves in 16 harnesses of 50 each: not 50 for each of the 504 cables."""
    lines = "{part: fiber harness NIC to leaf, quantity: 16, unit_price: 50},"
    lines += " {part: MPO cable, quantity: 256, unit_price: 2}"
    spec = "cluster: {platform: dgx-h100, nodes: 31}\nprocurement: {currency: USD, quote: [%s]}\n"
    cables = [item.price for item in bill(clean(spec % lines)).items if item.kind == "cable"]
    assert sum(price.low for price in cables if price is not None) == pytest.approx(16 * 50 + 256 * 2)


def test_a_rack_with_its_trays_is_all_nodes_of_a_domain_and_its_support_is_none() -> None:
    rack = QuoteLine("NVL72-GB200 rack-scale system, 18 compute trays, 9 switch trays", 4, 3_180_000)
    support = QuoteLine("Rack-scale hardware support, five years, lot", 1, 1_480_000)
    machine = clean(RACKS).cluster
    assert machine is not None
    assert [(line.kind, line.units) for line in offered_lines([rack, support], machine)] == [("node", 18), ("other", 1)]


def test_one_switch_that_names_its_network_is_no_whole_network() -> None:
    machine = clean(POD).cluster
    assert machine is not None
    (one,) = offered_lines([QuoteLine("QM9700 InfiniBand switch, P2C", 1, 44_800)], machine)
    (whole,) = offered_lines([QuoteLine("InfiniBand network, turnkey", 1, 448_000)], machine)
    assert one.covered_kinds == ("switch",)
    assert "cable" in whole.covered_kinds


def test_the_bill_sums_to_the_lines_of_a_complete_quote() -> None:
    """992 cables at two prices, a store and racks of two lines: the sum of each kind is that of its lines."""
    quote = [
        "{part: cable NIC to leaf, quantity: 248, unit_price: 2}",
        "{part: cable leaf to spine, quantity: 256, price: 768}",
        "{part: storage 2 PB, quantity: 2000, unit_price: 30}",
        "{part: 'storage, metadata shelf', quantity: 1, price: 500}",
        "{part: 'racks, with PDU', quantity: 8, unit_price: 900}",
        "{part: rack for switches, quantity: 1, unit_price: 800}",
        "{part: rack and stack, quantity: 1, price: 7000}",
        "{part: support of storage, quantity: 1, price: 600}",
    ]
    lines = ", ".join(quote)
    spec = f"""
cluster:
  platform: dgx-h100
  nodes: 31
  networks: {{storage: {{bandwidth: 100 GB/s, capacity: 2 PB}}}}
  power: {{nodes_per_rack: 4}}
procurement: {{currency: USD, quote: [{lines}]}}
"""
    sums: dict[str, float] = {}
    for item in bill(clean(spec)).items:
        if item.price is not None:
            sums[item.kind] = sums.get(item.kind, 0.0) + item.price.low
    assert sums == {"cable": 248 * 2 + 768, "storage": 60_000 + 500, "rack": 8 * 900 + 800}


def test_servers_with_network_cards_and_cables_with_connectors_lack_nothing() -> None:
    machine = "cluster: {platform: hgx-h100, nodes: 2, scale_out: {technology: infiniband-ndr, nics_per_node: 8}}\n"
    for cards in ("InfiniBand cards", "network interface cards", "ethernet adapter cards"):
        lines = (QuoteLine(f"H100 server with 8 {cards}", 2), QuoteLine("connectors and cables", 16))
        found = quoted(*lines, spec=machine)
        assert "nic" not in found and "transceiver" not in found, cards


@pytest.mark.parametrize(
    ("nodes", "line", "kind", "unit"),
    [
        (31, "{part: Optics and fibre package, quantity: 1, unit_price: 2310000, price: 2310000}", "cable", None),
        (31, "{part: cables, quantity: 1, unit_price: 90000}", "cable", None),
        (31, "{part: lot of 31 HGX H100 servers, quantity: 1, unit_price: 9300000}", "node", None),
        (31, "{part: HGX H100 server, quantity: 31, unit_price: 300000}", "node", 300_000),
        (1, "{part: HGX H100 server set, quantity: 1, unit_price: 300000}", "node", 300_000),  # one is needed
        (31, "{part: cable, quantity: 500, unit_price: 90}", "cable", 90),
    ],
)
def test_the_price_of_one_lot_is_not_that_of_each_of_its_parts(
    nodes: int, line: str, kind: str, unit: float | None
) -> None:
    """A package for 2.31 million was the price of each of 2,044 cables, and the bill 4.75 billion."""
    spec = f"cluster: {{platform: hgx-h100, nodes: {nodes}}}\nprocurement: {{currency: USD, quote: [{line}]}}\n"
    prices = {item.unit_price for item in bill(clean(spec)).items if item.kind == kind}
    assert prices == {None if unit is None else dollars(unit)}


PRICED = (QuoteLine("a", 2, 10), QuoteLine("b", 3, None, 45), QuoteLine("c", 4, 1, 5))
"""Of 20, 45 and 5; the stated price of the third holds, not its 4 × 1."""


@pytest.mark.parametrize(
    ("spec", "total"),
    [
        (ProcurementSpec(quote=PRICED), 70),
        (ProcurementSpec(quote=PRICED, quoted_total=60, discount=0.1, tax=0.2), 60),
        (ProcurementSpec(quote=PRICED, discount=0.1), 63),
        (ProcurementSpec(quote=PRICED, tax=0.2), 84),
        (ProcurementSpec(quote=PRICED, discount=0.1, tax=0.2), 75.6),
        (ProcurementSpec(quote=(QuoteLine("a", 2, 0),)), 0),
        (ProcurementSpec(quote=(*PRICED, QuoteLine("d", None, 7))), None),
        (ProcurementSpec(), None),
    ],
)
def test_a_quote_adds_up_where_every_line_has_a_price(spec: ProcurementSpec, total: float | None) -> None:
    assert quoted_total(spec, "USD") == (None if total is None else dollars(total))


KINDS = {
    "connectors and cables": "cable",
    "rack of 4 dgx h100": "other",
    "hgx h100 server, 8 gpus": "node",
    "8 gpus": "accelerator",
    "spine": "spine_switch",
    "core switch": "core_switch",
    "qm9700": "switch",
    "dgx h100 system 8x h100 80gb w/ 3-year enterprise support": "node",
    "dell poweredge xe9680, 8x h200 141gb sxm, 2x xeon 8568y+": "node",
    "workstation with 4x rtx pro 6000 max-q": "node",
    "nvidia rtx pro 6000 blackwell server edition": "accelerator",
    "amd instinct mi300x oam": "accelerator",
    "mqm9790-ns2f 64x ndr unmanaged": "switch",
    "leaf/tor switch 7060x6": "leaf_switch",
    "super spine 7060x6-64pe": "core_switch",
    "optics switch side (osfp)": "transceiver",
    "mms4x00-ns400 400g dr4": "transceiver",
    "mcp4y10-n002 passive copper osfp to osfp 800gb/s 2m": "cable",
    "fiber patch cords server - leaf": "cable",
    "lacc 800g splitter to 2x 400g, server to switch": "cable",
    "optical cable assemblies leaf/spine": "cable",
    "copper cables in rack 1.5 m": "cable",
    "login node": "other",
    "slingshot switch blade, 64 ports 200 gb/s (leaf)": "leaf_switch",
    "prosupport plus 36 months, 8 h mission critical, per server": "other",
    "ufm enterprise appliance incl. hca, 4 yr": "other",
    "dac 100g 3 m (frontend cable)": "other",
    "lustre system 5 pb": "other",
    "ndr cabling and installation on site": "other",
    "aoc module": "cable",
    "switch for leaf": "leaf_switch",
    "for the node": "node",
    "leaf-switches": "leaf_switch",
}


def test_a_description_names_its_part_and_its_entry() -> None:
    for text, kind in KINDS.items():
        assert kind_of_part(text) == kind, text
    assert named_entries("HGX H100/8 server", catalog(), "accelerator") == {"h100"}
    assert named_entries("ConnectX 7 adapter", catalog(), "nic") == {"connectx-7"}
    assert named_entries("QM9700", catalog(), "switch") == {"qm9700"}
    assert named_entries("MQM9700-NS2F", catalog(), "switch") == {"qm9700"}
    assert named_entries("MSN5600-CS2R", catalog(), "switch") == {"sn5600"}
    assert named_entries("DCS-7060X6-64PE-F", catalog(), "switch") == {"7060x6-64pe"}


COVERED = [
    (QuoteLine("InfiniBand network", 1, None, 900_000), set(WHOLE_NETWORK)),
    (QuoteLine("switch fabric"), set(WHOLE_NETWORK)),
    (QuoteLine("InfiniBand network", 2), {"other"}),
    (QuoteLine("storage network", 1), {"other"}),
    (QuoteLine("fabric with cables and modules", 1), set(WHOLE_NETWORK)),
    (QuoteLine("InfiniBand cables", 1), {"cable", "transceiver"}),
    (QuoteLine("cabling", 1), {"cable", "transceiver"}),
    (QuoteLine("cable", 512), {"cable"}),
    (QuoteLine("Installation and cabling package, lump sum", 1), {"cable", "transceiver"}),
    (QuoteLine("Installation, lump sum", 1), {"other"}),
    (QuoteLine("Installation of cables", 512), {"other"}),
    (QuoteLine("HGX H100 server, 8x ConnectX-7", 4), {"node", "nic"}),
]


CABLES = [  # cables of 512 links whose twin-port modules, 512 in all, end two links each, and what the quote needs
    (QuoteLine("cables with transceivers", 256, 1500), ("cable", 256, "quoted")),
    (QuoteLine("cables with transceivers", 255, 1500), ("cable", 256, "short")),
    (QuoteLine("AOC", 384, 900), ("cable", 512, "short")),  # nearer to one for each link
    (QuoteLine("DAC cable", 512, 80), ("cable", 512, "quoted")),
    (QuoteLine("MPO cable", 256, 100), ("cable", 512, "short")),
    (QuoteLine("cables without transceivers", 256, 100), ("cable", 512, "short")),
]


def test_a_cable_with_ends_may_carry_two_links() -> None:
    for line, (kind, needed, state) in CABLES:
        found = quoted(line)
        assert (found[kind].needed, found[kind].state) == (needed, state), line
        ends = "transceiver" not in found
        assert ends == (" with " in (line.part or "") or (line.part or "").startswith(("AOC", "DAC"))), line


@pytest.mark.parametrize(
    ("part", "covered"),
    [
        ("InfiniBand network, installed", {"leaf_switch", "spine_switch", "cable", "transceiver"}),
        ("Installation and cabling package, lump sum", {"cable", "transceiver"}),
        ("Installation, lump sum", set()),
    ],
)
def test_what_a_lot_covers_has_no_quantity_and_the_rest_is_missing(part: str, covered: set[str]) -> None:
    found = quoted(QuoteLine("DGX H100", 32, 310000), QuoteLine(part, 1, None, 900_000))
    network = {"leaf_switch", "spine_switch", "cable", "transceiver"}
    assert {kind for kind in network if found[kind].state == "no quantity"} == covered
    assert {kind for kind in network if found[kind].state == "missing"} == network - covered


def test_one_lot_may_cover_the_network_or_its_optics() -> None:
    cluster = clean(POD).cluster
    assert cluster is not None
    for line, kinds in COVERED:
        (offered,) = offered_lines((line,), cluster)
        assert set(offered.covered_kinds) == kinds, line


def test_a_quote_that_extends_a_machine_lacks_nothing_that_is_in_place() -> None:
    """16 of 32 nodes are offered; a text about an expansion has to name the other 16."""
    design = clean(POD)
    assert design.cluster is not None
    lines = (QuoteLine("DGX H100", 16, 310000), QuoteLine("leaf switch", 4, 36000))
    for text, state in (
        ("16 nodes are in place, and 16 are added", "in place"),
        ("15 nodes are in place", "short"),
        ("16 racks", "short"),
    ):
        found = {part.kind: part for part in quoted_parts(bill(design), lines, design.cluster, text)}
        assert (found["node"].state, found["leaf_switch"].state) == (state, state), text
        assert found["cable"].state == ("missing" if state == "short" else state)
        assert (found["node"].missing is None) == (state == "in place")


def test_copper_with_two_links_and_fibers_are_fewer_pieces_than_links() -> None:
    """256 fibers and 128 cables with fixed ends, of two links each, carry 512 links; 127 of them do not."""
    for copper, state in ((128, "quoted"), (127, "short")):
        fiber, pieces = QuoteLine("MPO fiber cable", 256, 100), QuoteLine("DAC cable 800G, copper", copper, 300)
        assert quoted(fiber, pieces)["cable"].state == state


def test_switches_and_cables_of_another_network_are_counted_apart() -> None:
    """A line that names neither offers both, and its units are none of theirs."""
    networks = "networks: {frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s, switch: spectrum-3-sn4600c}}"
    spec = POD.replace("scale_out:", f"{networks}, scale_out:")
    apart = quoted(
        QuoteLine("SN4600C frontend switch 100 GbE", 2, 17_500),
        QuoteLine("Frontend cable AOC QSFP28 15 m", 80, 260),
        spec=spec,
    )
    assert [(apart[kind].quoted, apart[kind].price) for kind in ("frontend_switch", "frontend_cable")] == [
        (2, dollars(35_000)),
        (80, dollars(20_800)),
    ]
    labeled = quoted(
        QuoteLine("Frontend/Storage: Ethernet-Switch SN3700", 2, 18_900),
        QuoteLine("Frontend: DAC-Kabel 200GbE QSFP56, 3 m", 14, 145),
        spec=spec,
    )
    assert (labeled["frontend_switch"].quoted, labeled["frontend_cable"].quoted) == (2, 14)
    alone = quoted(QuoteLine("SN4600C frontend switch 100 GbE", 2, 17_500), spec=spec)
    assert (alone["frontend_switch"].quoted, alone["frontend_cable"].state) == (2, "elsewhere")
    together = quoted(QuoteLine("Frontend network, turnkey", 1, 238_000), spec=spec)
    assert {together[kind].state for kind in ("frontend_switch", "frontend_cable")} == {"quoted"}


def test_nodes_of_unlike_pools_are_apart_where_every_line_for_nodes_names_its_accelerator() -> None:
    assert quoted_of_pools() == [], "without a quote nothing is missing from it"
    apart = quoted_of_pools(QuoteLine("DGX H100", 4, 310000), QuoteLine("DGX B200", 1, 400000))
    assert apart == [("H100 node", 4, 4), ("B200 node", 2, 1)]
    together = quoted_of_pools(QuoteLine("DGX system", 5, 310000))
    assert together == [("node", 6, 5)]


ENDS = [  # parts of lines, and how many are for nodes and for switches; none where a line does not name one end
    (("OSFP transceiver for nodes", "OSFP transceiver for switches"), (1, 1)),
    (("OSFP, finned", "OSFP, flat", "OSFP, flat top"), (2, 1)),
    (("OSFP transceiver, switch side",), (0, 1)),
    (("OSFP transceiver",), None),
    (("OSFP transceiver for nodes", "OSFP transceiver"), None),
    (("OSFP transceiver, finned", "OSFP transceiver"), None),
    (("OSFP transceiver for nodes and switches",), None),
    (("OSFP transceiver for nodes and switches", "OSFP transceiver"), None),
]


@pytest.mark.parametrize(("parts", "ends"), ENDS)
def test_lines_of_modules_are_of_an_end_where_each_names_one(
    parts: tuple[str, ...], ends: tuple[int, int] | None
) -> None:
    machine = clean(POD).cluster
    assert machine is not None
    found = lines_by_end([*offered_lines([QuoteLine(part, 4, 10) for part in parts], machine)])
    assert (found and tuple(map(len, found))) == ends
