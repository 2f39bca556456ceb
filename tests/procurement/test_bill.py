from __future__ import annotations

import pytest

from clusterspec.catalog import Catalog
from clusterspec.money import Money
from clusterspec.procurement.amounts import money_text, rounded_text
from clusterspec.procurement.bill import _node_name, bill, may_have_fixed_ends, port_count_at, sheet_rows
from clusterspec.procurement.items import Item
from clusterspec.records import replace
from tests.cluster.resolving import clean, resolve_text

POD = """
cluster:
  platform: dgx-h100
  nodes: 31
  spare_nodes: 1
  scale_out: {topology: rail-optimized}
procurement:
  currency: USD
  prices: {node: [280000, 340000], leaf_switch: 36000, spine_switch: 36000, cable: 900, transceiver: 1200.5, nic: 1500}
"""


def dollars(price: float | tuple[float, float]) -> Money:
    return Money.of(price, "USD")


def items(text: str) -> dict[tuple[str, str], Item]:
    return {(item.kind, item.part): item for item in bill(clean(text)).items}


def test_every_part_is_counted_once_and_says_how() -> None:
    found = items(POD)
    quantities = {kind: item.quantity for (kind, _), item in found.items() if kind != "cable"}
    assert quantities == {"node": 31, "spare_node": 1, "leaf_switch": 8, "spine_switch": 4, "transceiver": 512}
    cables = {part: item.quantity for (kind, part), item in found.items() if kind == "cable"}
    assert cables == {"node to leaf cable": 256, "leaf to spine cable": 256}
    assert all(item.derivation for item in found.values())


def test_prices_multiply_and_ranges_stay_ranges() -> None:
    found = items(POD)
    assert found["node", "dgx-h100"].price == dollars((31 * 280000, 31 * 340000))
    assert found["spare_node", "dgx-h100"].unit_price == dollars((280000, 340000))
    assert found["leaf_switch", "quantum-2-qm9700"].price == dollars(8 * 36000)
    assert found["transceiver", "transceiver module"].price_text == "614,656 USD"
    assert found["node", "dgx-h100"].price_text == "8,680,000 – 10,540,000 USD"


def test_a_line_without_a_price_has_none_rather_than_zero() -> None:
    line = items("cluster: {platform: dgx-h100, nodes: 4}")["node", "dgx-h100"]
    assert line.to_json() == {"kind": "node", "part": "dgx-h100", "quantity": 4, "derivation": "cluster.nodes"}
    assert line.price is None and line.price_text == ""
    priced = items(POD)["node", "dgx-h100"].to_json()
    assert (priced["unit_price"], priced["price"]) == ([280000, 340000], [31 * 280000, 31 * 340000])
    document = bill(clean(POD)).total_json()
    assert (document["currency"], document["complete"], document["unpriced"]) == ("USD", True, [])
    nothing = bill(clean("cluster: {platform: dgx-h100, nodes: 4}")).total_json()
    assert (nothing["price"], nothing["currency"], nothing["complete"]) == (None, None, False)


PAID = [  # how a part is paid, and the texts of its unit price and price, and whether it lacks one
    ({"unit_price": dollars(5)}, ("5 USD", "20 USD", False)),
    ({}, ("", "", True)),
    ({"rented": True}, ("rented", "rented", False)),
    ({"included": True}, ("with the nodes", "with the nodes", False)),
    ({"unit_price": dollars(5), "rented": True}, ("rented", "rented", False)),
]


def test_a_part_says_how_it_is_paid() -> None:
    for keys, told in PAID:
        item = Item("node", "dgx-h100", 4, "cluster.nodes", **keys)  # type: ignore[arg-type]
        assert (item.unit_price_text, item.price_text, item.unpriced) == told, keys


def test_a_price_sheet_leaves_the_columns_of_suppliers_empty() -> None:
    rows = list(sheet_rows([Item("node", "dgx-h100", 31, "cluster.nodes", dollars(1))]))
    assert rows == [("node", "dgx-h100", 31, "", "", "", "", "", "")]


ROUNDED = [
    (Money.of((21_940_000, 25_040_000), "USD"), "21.9 – 25 M USD"),
    (Money.of((900_000, 1_100_000), "USD"), "0.9 – 1.1 M USD"),
    (Money.of(999_400, "USD"), "999 k USD"),
    (Money.of(999_600, "USD"), "1 M USD"),
    (Money.of(2.5e9), "2.5 bn"),
    (Money.of((-1_200, 800), "EUR"), "−1.2 – 0.8 k EUR"),
    (Money.of(0, "EUR"), "0 EUR"),
]


def test_an_amount_of_a_sentence_has_three_digits_of_its_larger_end() -> None:
    for amount, text in ROUNDED:
        assert rounded_text(amount) == text
    assert [money_text(price, "USD") for price in (None, 5, dollars(7))] == ["", "5 USD", "7 USD"]


def test_cables_may_come_with_their_ends_up_to_two_hundred_gigabits_a_port() -> None:
    pod = "cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 16, scale_out: {%s}}"
    for keys, may in (
        ("technology: infiniband-hdr, nic_bandwidth: 200 Gb/s", True),
        ("technology: infiniband-ndr, nic_bandwidth: 400 Gb/s", False),
        ("technology: roce-v2, nic_bandwidth: 400 Gb/s, planes: 2", True),
        ("technology: infiniband-hdr, nic_bandwidth: 200 Gb/s, cable_type: {node_leaf: aoc}", False),
    ):
        assert may_have_fixed_ends(clean(pod % keys)) is may, keys
    alone = "cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1}"
    assert not may_have_fixed_ends(clean(alone))


def test_nics_are_counted_without_a_platform() -> None:
    bare = items("cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4, spare_nodes: 1}")
    assert bare["nic", "infiniband-ndr NIC, 400 Gb/s"].quantity == 40
    assert not [kind for kind, _ in items(POD) if kind == "nic"]


@pytest.mark.parametrize(
    ("prices", "included", "price"),
    [("node: 250000", True, None), ("node: 250000, nic: 1200", False, 48_000), ("leaf_switch: 36000", False, None)],
)
def test_the_price_of_a_node_includes_nics_that_have_none(prices: str, included: bool, price: int | None) -> None:
    machine = "cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 5}"
    text = f"{machine}\nprocurement: {{currency: USD, prices: {{{prices}}}}}"
    nic = items(text)["nic", "infiniband-ndr NIC, 400 Gb/s"]
    assert (nic.included, nic.price) == (included, dollars(price) if price else None)
    assert nic.unpriced == (not included and price is None)


def test_a_rack_is_bought_node_by_node() -> None:
    found = items("cluster: {platform: gb200-nvl72, nodes: 36}")
    assert found["node", "gb200-nvl72, one of the 18 nodes of a domain"].quantity == 36


def test_rented_nodes_come_without_a_fabric() -> None:
    rented = bill(clean("cluster: {platform: aws-p5-48xlarge, nodes: 16}"))
    assert [line.kind for line in rented.items] == ["node"]
    assert rented.fabric is None and "cloud" in rented.why and not rented.not_counted


def test_a_cluster_that_cannot_be_settled_has_an_empty_bill() -> None:
    design, _ = resolve_text("cluster: {platform: dgx-h100}")
    empty = bill(design)
    assert (empty.items, empty.fabric, empty.total) == ((), None, None) and not empty.complete


def test_a_sum_is_a_total_only_where_every_line_has_a_price() -> None:
    # 31 + 1 nodes × 280,000–340,000, 8 leaves and 4 spines × 36,000, 512 cables × 900, 512 modules × 1,200.5
    whole = bill(clean(POD))
    rest = 12 * 36000 + 512 * 900 + 512 * 1200.5
    assert whole.total == dollars((32 * 280000 + rest, 32 * 340000 + rest))
    assert (whole.complete, whole.total_title) == (True, "Total")
    partial = bill(clean(POD.replace("cable: 900, ", "")))
    assert partial.total == dollars((32 * 280000 + rest - 512 * 900, 32 * 340000 + rest - 512 * 900))
    assert [item.part for item in partial.unpriced] == ["node to leaf cable", "leaf to spine cable"]
    assert (partial.complete, partial.total_title) == (False, "Sum of the 5 priced lines")
    racks = (
        "cluster: {platform: dgx-h100, nodes: 4, power: {nodes_per_rack: 2}}\nprocurement: {prices: {node: 1, %s: 9}}"
    )
    assert "rack" in {item.kind for item in bill(clean(racks % "storage")).unpriced}
    rented = bill(clean(racks % "rack_per_month"))
    assert [item.price_text for item in rented.items if item.kind == "rack"] == ["rented"]
    assert "rack" not in {item.kind for item in rented.unpriced}
    sold = bill(clean("cluster: {platform: gb200-nvl72, nodes: 54}\nprocurement: {prices: {node: 1}}"))
    assert [(item.quantity, item.price_text) for item in sold.items if item.kind == "rack"] == [(3, "with the nodes")]
    assert "rack" not in {item.kind for item in sold.unpriced} and sold.total == bill(clean(NODES)).total


def test_a_part_that_the_spec_does_not_name_is_marked() -> None:
    text = (
        "cluster: {platform: dgx-h100, nodes: 31, scale_out: {technology: infiniband-ndr, topology: rail-optimized%s}}"
    )
    assumed = items(text % "")["leaf_switch", "quantum-2-qm9700"]
    assert "the spec names none" in assumed.assumed and assumed.to_json()["assumed"]
    assert not items(text % ", switch: quantum-2-qm9700")["leaf_switch", "quantum-2-qm9700"].assumed


NODES = "cluster: {platform: gb200-nvl72, nodes: 54, power: {nodes_per_rack: 18}}\nprocurement: {prices: {node: 1}}"


def test_what_the_spec_does_not_describe_is_listed_as_not_counted() -> None:
    assert [line.split(":")[0] for line in bill(clean(POD)).not_counted] == [
        "frontend network",
        "out-of-band network",
        "storage",
        "racks",
        "NIC",  # of the nodes: their price has no line
    ]


RENTED = "cluster: {platform: aws-p5-48xlarge, nodes: 16}\nprocurement: {prices: {node_hour: 55, storage: 120000%s}}"


def test_a_stated_price_is_in_the_sum_or_named_as_not_counted() -> None:
    """Storage with rented nodes is paid; a price of racks that the cloud owns has no line."""
    rented = bill(clean(RENTED % ", rack: 9000"))
    assert [item.price_text for item in rented.items if item.kind == "storage"] == ["120,000"]
    assert "rack: the bill has none (`procurement.prices.rack`)" in rented.not_counted
    assert not any("node_hour" in line or "storage" in line for line in rented.not_counted)
    assert not any("prices" in line for line in bill(clean(RENTED % ", support_per_year: 5000")).not_counted)
    described = POD.replace(
        "  scale_out:",
        """  networks: {frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, switch: spectrum-4-sn5600},
             out_of_band: {nics_per_node: 1, nic_bandwidth: 1 Gb/s}, storage: {capacity: 2 PB}}
  power: {nodes_per_rack: 4}
  scale_out:""",
    )
    found = bill(clean(described))
    quantities = {item.kind: item.quantity for item in found.items[-5:]}
    # 32 nodes × 2 = 64 links of 200 Gb/s; an SN5600 has 64 × 800 = 256 × 200 Gb/s ports: 1 switch. 32 / 4 = 8 racks.
    assert quantities == {
        "frontend_cable": 64,
        "frontend_switch": 1,
        "out_of_band_cable": 32,
        "storage": 1,
        "rack": 8,
    }
    assert found.not_counted == (
        "out-of-band network switches: not stated (`networks.out_of_band.switch`)",
        "NIC: the bill has none (`procurement.prices.nic`)",  # those of the nodes are in their price
    )
    assert found.lacking == found.not_counted[:1], "the price of a part that the machine has not lacks nothing"
    joined = bill(clean(described.replace("storage: {", "storage: {nics_per_node: 2, nic_bandwidth: 200 Gb/s, ")))
    (store,) = (item for item in joined.items if item.kind == "storage")
    assert store.derivation.endswith("with the switches and cables of its 64 links to nodes"), "32 nodes of 2 NICs"


@pytest.mark.parametrize(
    ("domain", "name"), [(4, "x"), (8, "x, one of the 2 nodes of a domain"), (72, "x, one of the 18 nodes of a domain")]
)
def test_a_node_is_one_of_those_of_its_domain(domain: int, name: str) -> None:
    machine = clean("cluster: {platform: gb200-nvl72, nodes: 36}").cluster
    assert machine is not None and machine.accelerators_per_node == 4
    assert _node_name("x", replace(machine, scale_up=replace(machine.scale_up, domain=domain))) == name


@pytest.mark.parametrize(
    ("switch", "gbit", "ports"),
    [
        ("spectrum-4-sn5600", 800, 64),
        ("spectrum-4-sn5600", 400, 128),
        ("spectrum-4-sn5600", 200, 256),
        ("spectrum-4-sn5600", 100, 256),  # the switch ends at 256, though eight lanes of 64 cages were 512
        ("spectrum-sn2201", 1, 48),
        ("spectrum-sn2201", 0, 48),  # a rate that is not stated is that of a management port
        ("spectrum-sn2201", 10, 16),  # four lanes in each of four cages
        ("spectrum-sn2201", 100, 4),
        ("spectrum-sn2201", 400, 4),  # no port reaches it, which other rules report
        ("quantum-2-qm9700", 200, 128),
    ],
)
def test_a_switch_has_the_ports_that_its_splits_and_lanes_allow_at_a_rate(switch: str, gbit: float, ports: int) -> None:
    entry = Catalog.open().switch(switch)
    assert port_count_at(entry, gbit * 1e9 / 8) == ports


@pytest.mark.parametrize(("connector", "lanes"), [("OSFP", 8), ("QSFP-DD", 8), ("QSFP56", 4), (None, 4)])
def test_a_switch_without_a_stated_limit_splits_its_cages_into_their_lanes(connector: str | None, lanes: int) -> None:
    """64 ports of 800 Gb/s would be 1,024 of 50 Gb/s, and a port has a lane at least."""
    entry = replace(Catalog.open().switch("spectrum-4-sn5600"), splits=None, cages=None, connector=connector)
    assert port_count_at(entry, 50e9 / 8) == 64 * lanes
    assert port_count_at(replace(entry, cages=32), 50e9 / 8) == 32 * lanes
