"""Power of a machine at full load, added up by hand from nameplates; a figure that nobody states is a range."""

from __future__ import annotations

import pytest

from clusterspec.cost.nameplates import (
    PowerDraw,
    it_power,
    lowest_node_power,
    machine_watts,
    node_nameplates,
    power_draw,
    rack_power,
)
from clusterspec.quantity import Figure
from clusterspec.source import Computed
from clusterspec.spec.model import PowerSpec
from tests.cluster.resolving import clean
from tests.designs import changed

BARE = "{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 4, "
RACKS = [  # a cluster, and watts of a full rack
    ("{platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 4}}", 4 * 10200),
    ("{platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 4, node: 8 kW, rack_overhead: 500 W}}", 4 * 8000 + 500),
    ("{platform: dgx-h100, nodes: 8, power: {node: 8 kW}}", None),
    # a cap of 800 W takes 8 × 200 W off a node of 14.3 kW; a stated node is as stated
    ("{platform: dgx-b200, nodes: 8, power: {nodes_per_rack: 4, accelerator_cap: 800 W}}", 4 * 12700),
    ("{platform: dgx-b200, nodes: 8, power: {nodes_per_rack: 4, accelerator_cap: 800 W, node: 13 kW}}", 4 * 13000),
    # the rack of 132 kW less 18 × 5.4 kW is what it draws in addition to its trays, of which caps take 4 × 200 W each
    ("{platform: gb200-nvl72, nodes: 18, power: {nodes_per_rack: 18}}", 18 * 5400 + 22800),
    ("{platform: gb200-nvl72, nodes: 18, power: {nodes_per_rack: 18, accelerator_cap: 1 kW}}", 18 * 4600 + 22800),
    (BARE + "power: {nodes_per_rack: 2, accelerator_cap: 600 W}}", 2 * 1.4 * 4800),
    # 8 × 700 W and the least of the range for the rest of the node, 0.4 of them
    (BARE + "power: {nodes_per_rack: 2}}", 2 * 1.4 * 5600),
]


def section(text: str) -> PowerSpec:
    spec = clean(f"cluster: {text}\n").spec.cluster
    assert spec is not None and spec.power is not None
    return spec.power


def test_a_rack_is_its_nodes_and_its_overhead() -> None:
    for text, watts in RACKS:
        cluster = clean(f"cluster: {text}\n").cluster
        assert cluster is not None
        found = rack_power(cluster, section(text))
        assert found == (pytest.approx(watts) if watts else None), text


def test_a_machine_is_its_nodes_spares_switches_and_racks() -> None:
    """31 nodes and a spare of 10.2 kW, 12 switches of 1 kW and 8 racks of 500 W: 326.4 + 12 + 4 kW."""
    keys = "scale_out: {topology: rail-optimized}, power: {nodes_per_rack: 4, rack_overhead: 500 W, switch: 1 kW}"
    design = clean(f"cluster: {{platform: dgx-h100, nodes: 31, spare_nodes: 1, {keys}}}\n")
    assert machine_watts(design) == pytest.approx(32 * 10200 + 12 * 1000 + 8 * 500)
    assert design.cluster is not None
    without = it_power(design.cluster, None, None)
    assert without is not None and without[0] == pytest.approx(32 * 10200)


def test_a_server_without_a_nameplate_has_the_range_of_servers() -> None:
    """8 × 700 W and 0.4 to 1.1 of them."""
    cluster = clean(f"cluster: {BARE}spare_nodes: 1}}\n").cluster
    assert cluster is not None
    draw = power_draw(cluster, None, None)
    assert (draw.nodes, draw.racks) == (5, None)
    assert draw.node_range == pytest.approx((7840, 11760))
    assert lowest_node_power(cluster) == pytest.approx(7840)
    one = clean("cluster: {platform: gb200-nvl72, nodes: 36, power: {nodes_per_rack: 18}}\n").cluster
    assert one is not None and one.node_power is not None
    rack = rack_power(one, PowerSpec(nodes_per_rack=18))
    assert rack is not None
    overhead = rack - 18 * one.node_power.value
    assert overhead > 0
    assert rack_power(one, PowerSpec(nodes_per_rack=9)) == pytest.approx(9 * one.node_power.value), "no whole domain"


@pytest.mark.parametrize(
    ("accelerator", "power", "told"),
    [
        ("gh200-96gb", "", True),  # modules of 450 to 1,000 W
        ("gh200-96gb", ", power: {accelerator_cap: 600 W}", False),  # the spec says where the site limits them
        ("h100-sxm-80gb", "", False),
        ("h100-sxm-80gb", ", power: {accelerator_cap: 600 W}", False),
    ],
)
def test_a_limit_of_the_site_is_mentioned_where_modules_have_a_range_and_no_cap_is_stated(
    accelerator: str, power: str, told: bool
) -> None:
    cluster = clean(f"cluster: {{accelerator: {accelerator}, accelerators_per_node: 4, nodes: 2{power}}}\n").cluster
    assert cluster is not None
    found = node_nameplates(cluster)
    assert found is not None
    low, middle, high = found
    assert middle.value == pytest.approx((low.value + high.value) / 2) and low.value < high.value
    assert [("sites limit these modules" in str(each.origin)) for each in found] == [told] * 3


def watts(value: float) -> Figure:
    return Figure(value, "W", Computed("as given"))


NODE, SWITCH = "power of a node (`cluster.power.node`)", "power of a switch (`cluster.power.switch`)"
RACKS_LACK = "number of racks with an overhead (`cluster.power.nodes_per_rack`)"


@pytest.mark.parametrize(
    ("changes", "missing", "overhead"),
    [
        ({}, (), (2, 500.0)),
        ({"node": None}, (NODE,), (2, 500.0)),
        ({"node": None, "accelerator": "mtt-s5000"}, (f"{NODE}; the catalog has no power of mtt-s5000",), (2, 500.0)),
        ({"switch": None}, (SWITCH,), (2, 500.0)),
        ({"switch": None, "switches": 0}, (), (2, 500.0)),
        ({"racks": None}, (RACKS_LACK,), None),
        ({"racks": None, "rack_overhead": watts(0.0)}, (), None),
        ({"rack_overhead": watts(0.0)}, (), None),
        ({"domain_overhead": watts(22.8e3)}, (), (0, 22.8e3)),  # no domain counts unless it is stated
        ({"domain_overhead": watts(22.8e3), "domains": 3}, (), (3, 22.8e3)),
    ],
)
def test_power_lacks_what_nobody_states_and_has_the_overhead_of_racks_or_domains(
    changes: dict[str, object], missing: tuple[str, ...], overhead: tuple[int, float] | None
) -> None:
    draw = changed(PowerDraw(watts(10e3), 8, watts(1e3), 4, watts(500.0), 2), changes)
    assert draw.missing == missing
    found = draw.overhead
    assert (found and (found[0], found[1].value)) == overhead
