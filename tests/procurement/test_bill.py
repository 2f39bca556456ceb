from __future__ import annotations

from clusterspec.procurement.bill import Item, bill
from tests.cluster.settling import clean, settle

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


def items(text: str) -> dict[tuple[str, str], Item]:
    return {(item.kind, item.part): item for item in bill(clean(text))[0]}


def test_every_part_is_counted_once_and_says_how() -> None:
    found = items(POD)
    quantities = {kind: item.quantity for (kind, _), item in found.items() if kind != "cable"}
    assert quantities == {"node": 31, "spare_node": 1, "leaf_switch": 8, "spine_switch": 4, "transceiver": 512}
    cables = {part: item.quantity for (kind, part), item in found.items() if kind == "cable"}
    assert cables == {"node to leaf cable": 256, "leaf to spine cable": 256}
    assert all(item.derivation for item in found.values())


def test_prices_multiply_and_ranges_stay_ranges() -> None:
    found = items(POD)
    assert found["node", "dgx-h100"].price == (31 * 280000, 31 * 340000)
    assert found["spare_node", "dgx-h100"].unit_price == (280000, 340000)
    assert found["leaf_switch", "quantum-2-qm9700"].price == 8 * 36000
    assert found["transceiver", "transceiver"].price_text == "614,656 USD"
    assert found["node", "dgx-h100"].price_text == "8,680,000 – 10,540,000 USD"


def test_a_line_without_a_price_has_none_rather_than_zero() -> None:
    line = items("cluster: {platform: dgx-h100, nodes: 4}")["node", "dgx-h100"]
    assert line.to_json() == {"kind": "node", "part": "dgx-h100", "quantity": 4, "derivation": "cluster.nodes"}
    assert line.price is None and line.price_text == ""


def test_nics_are_bought_where_no_platform_brings_them() -> None:
    bare = items("cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4, spare_nodes: 1}")
    assert bare["nic", "infiniband-ndr NIC, 400 Gb/s"].quantity == 40
    assert not [kind for kind, _ in items(POD) if kind == "nic"]


def test_a_rack_is_bought_node_by_node() -> None:
    found = items("cluster: {platform: gb200-nvl72, nodes: 36}")
    assert found["node", "gb200-nvl72, one of the 18 nodes of a domain"].quantity == 36


def test_rented_nodes_come_without_a_fabric() -> None:
    lines, fabric, why = bill(clean("cluster: {platform: aws-p5-48xlarge, nodes: 16}"))
    assert [line.kind for line in lines] == ["node"]
    assert fabric is None and "cloud" in why


def test_a_cluster_that_cannot_be_settled_has_an_empty_bill() -> None:
    design, _ = settle("cluster: {platform: dgx-h100}")
    assert bill(design)[:2] == ((), None)
