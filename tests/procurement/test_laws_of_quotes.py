"""Unit prices of quotes, parts of other networks, names of cables and reserves of phases, by hand."""

from __future__ import annotations

import pytest

from clusterspec.cluster.model import Cluster
from clusterspec.cost.estimate import estimate
from clusterspec.money import Money
from clusterspec.procurement.amounts import amount_with_terms
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import cost
from clusterspec.procurement.growth import Phase, _with_reserves, growth
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.quoted_prices import quoted_unit_prices
from clusterspec.records import replace
from clusterspec.spec.model import PhaseSpec, ProcurementSpec, QuoteLine
from tests.cluster.resolving import clean

NODE, STORE = "server, 8x H100", "NAS, 16x NVMe"
OPTICAL, TRUNK = "AOC 400G", "MPO trunk cable, 12 fibers"


def cluster_of(scale_out: str, platform: str = "hgx-h100", nodes: int = 8) -> Cluster:
    found = clean(f"cluster: {{platform: {platform}, nodes: {nodes}, scale_out: {{{scale_out}}}}}").cluster
    assert found is not None
    return found


EIGHT = cluster_of("technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s")


@pytest.mark.parametrize(
    ("needed", "lines", "prices"),
    [
        # a lot is a price of its unit only if the bill has one; without one in the bill, of how many is unknown
        ({}, [("lot of AOC 400G", 1, None, 300.0)], {}),
        ({"cable": 8}, [("lot of AOC 400G", 1, None, 300.0)], {}),
        ({"cable": 1}, [("lot of AOC 400G", 1, None, 300.0)], {"cable": (300.0, 300.0)}),
        ({}, [("AOC 400G", 8, None, 320.0)], {"cable": (40.0, 40.0)}),
        ({}, [("AOC 400G", 8, 40.0, None), ("AOC 400G", 4, 30.0, None)], {"cable": (30.0, 40.0)}),
        # (6 × 200 + 2 × 180) / 8, where the lines have as many units as the bill
        ({"node": 8}, [(NODE, 6, 200.0, None), (NODE, 2, 180.0, None)], {"node": (195.0, 195.0)}),
        ({"node": 9}, [(NODE, 6, 200.0, None), (NODE, 2, 180.0, None)], {"node": (180.0, 200.0)}),
        ({"node": 8}, [(NODE, 8, None, 1600.0)], {"node": (200.0, 200.0)}),
        ({"node": 8}, [(NODE, 8, None, None)], {}),
        ({"node": 8}, [(f"lot of {NODE}", 1, None, 1600.0)], {}),  # eight nodes at a price of one lot
        ({"node": 1}, [(f"lot of {NODE}", 1, None, 1600.0)], {"node": (1600.0, 1600.0)}),
        ({"cable": 64}, [(OPTICAL, 1, None, 6400.0)], {}),
        ({"cable": 1}, [(OPTICAL, 1, None, 6400.0)], {"cable": (6400.0, 6400.0)}),
        ({"node": 8}, [(f"lease of {NODE}, per server and month", 288, 3480.0, None)], {}),
        ({"node": 8}, [(NODE, 8, 200.0, None), ("Installation", 1, 90.0, None)], {"node": (200.0, 200.0)}),
        # (8 × 800 + 32 × 100) / 64 links
        ({"cable": 64}, [(TRUNK, 8, 800.0, None), (OPTICAL, 32, 100.0, None)], {"cable": (150.0, 150.0)}),
        ({"cable": 64}, [(TRUNK, 8, 800.0, None), (OPTICAL, 32, None, None)], {"cable": (800.0, 800.0)}),
        ({}, [(TRUNK, 8, 800.0, None), (OPTICAL, 32, 100.0, None)], {"cable": (100.0, 800.0)}),
        # 2 × 50 + 70 for one store, and for two
        ({"storage": 1}, [(STORE, 2, 50.0, None), ("NAS", 1, 70.0, None)], {"storage": (170.0,) * 2}),
        ({"storage": 2}, [(STORE, 2, 50.0, None), ("NAS", 1, 70.0, None)], {"storage": (85.0,) * 2}),
        ({"storage": 1}, [(STORE, 2, 50.0, None), ("NAS", 1, None, None)], {}),
        ({}, [(STORE, 2, 50.0, None)], {}),
        ({"rack": 4}, [("rack 48U", 2, 5000.0, None), ("rack 42U", 2, 3000.0, None)], {"rack": (4000.0, 4000.0)}),
    ],
)  # fmt: skip
def test_a_quoted_price_is_that_of_one_unit_of_the_bill(
    needed: dict[str, int],
    lines: list[tuple[str, int, float | None, float | None]],
    prices: dict[str, tuple[float, float]],
) -> None:
    assert quoted_unit_prices([QuoteLine(*line) for line in lines], EIGHT, needed) == prices


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (("Installation", 1, 300), "cable"),
        (("Management switch 48x 1G", 1, 300), "other"),
        (("NAS, 16x 15.36 TB NVMe", 1, 300), "other"),
        (("Installation of the leaf level", 1, 300), "cable"),
        (("Management switch 48x 1G for the leaf level", 1, 300), "cable"),
    ],
)
def test_cables_sold_with_a_switch_or_a_store_of_another_network_are_not_of_the_fabric(
    other: tuple[str, int, float], kind: str
) -> None:
    slow = QuoteLine("AOC 100G QSFP28", 8, 300)
    assert [line.kind for line in offered_lines([slow, QuoteLine(*other)], EIGHT)] == [kind, "other"]


@pytest.mark.parametrize(
    ("units", "price", "kind"),
    [
        ((8, 0, 4), 9_000, "other"),
        ((7, 0, 4), 9_000, "node"),  # no line makes up the eight nodes
        ((7, 1, 4), 9_000, "other"),
        ((8, None, 4), 9_000, "other"),  # a line without a quantity adds none
        ((8, 0, 4), 99_999, "other"),
        ((8, 0, 4), 100_000, "node"),  # half of the price
    ],
)
def test_a_server_below_half_of_the_price_of_the_nodes_is_no_node(
    units: tuple[int, int | None, int], price: int, kind: str
) -> None:
    lines = zip((NODE, NODE, "server 2x Xeon"), units, (200_000, 210_000, price), strict=True)
    assert [line.kind for line in offered_lines([QuoteLine(*line) for line in lines], EIGHT)][2] == kind


@pytest.mark.parametrize(
    ("optics", "name"),
    [
        ("aoc-800g-osfp", "node to leaf cable, {0}"),  # the cable has its ends
        ("mms4x00-ns", "node to leaf cable"),
    ],
)
def test_a_cable_is_named_by_the_part_that_it_is(optics: str, name: str) -> None:
    fabric = f"{{technology: infiniband-ndr, optics: {{node_leaf: {optics}}}}}"
    design = clean(f"cluster: {{platform: dgx-h100, nodes: 16, scale_out: {fabric}}}")
    cable = next(item.part for item in bill(design).items if item.kind == "cable")
    assert design.cluster is not None and design.cluster.scale_out is not None
    ((_, ends),) = design.cluster.scale_out.optics
    assert cable == name.format(ends[-1].name)


@pytest.mark.parametrize(
    ("listed", "discount", "tax", "paid"),
    [
        (100.0, None, None, 100.0),
        (0.125, None, None, 0.125),  # as listed, below a cent too
        (0.125, 0.5, 1.0, 0.125),  # half of twice the price
        (100.004, None, 1.0, 200.01),
        (100.0, 0.05, 0.2, 114.0),
        (100.0, 1.0, 0.2, 0.0),
    ],
)
def test_an_amount_with_terms_is_rounded_to_cents_where_terms_change_it(
    listed: float, discount: float | None, tax: float | None, paid: float
) -> None:
    found = amount_with_terms(Money.of((listed, 2 * listed), "EUR"), ProcurementSpec(discount=discount, tax=tax))
    assert (found.low, found.currency) == (paid, "EUR") and found.high == pytest.approx(2 * paid, abs=0.011)


def test_energy_of_nameplates_prints_the_draw_as_its_part_and_all_other_inputs() -> None:
    """Without a layout there is no power as drawn. The price of a kWh is 0.10."""
    design = clean(
        "cluster: {platform: dgx-h100, nodes: 8, power: {node: 10 kW}}\n"
        "procurement: {currency: USD, term: 1 year, electricity: 0.10, pue: 1.25, utilization: 0.5}"
    )
    found = cost(design, estimate(design), bill(design))
    assert found is not None and found.total is not None
    energy = next(part for part in found.total.parts if part.name == "energy")
    assert [name for name, _ in energy.inputs] == ["pue", "hours", "utilization", "electricity"]
    assert [part.name for part in energy.parts] == ["watts"]
    assert energy.value == pytest.approx(found.watts.value / 1_000 * 1.25 * 8_766 * 0.5 * 0.10)


def test_a_reserve_is_known_where_both_phases_are() -> None:
    small, large = Phase("2030-01-01", 4, racks=1, power=5e3), Phase("2031-01-01", 16, racks=4, power=20e3)
    unknown = Phase("2031-01-01", 16)
    assert (_with_reserves(small, large).reserved_racks, _with_reserves(small, large).reserved_power) == (3, 15e3)
    for pair in ((small, unknown), (unknown, large), (unknown, unknown)):
        assert _with_reserves(*pair).reserved_racks is _with_reserves(*pair).reserved_power is None


def test_a_phase_without_a_fabric_has_no_part_of_one() -> None:
    alone = replace(EIGHT, scale_out=None)
    (phase,) = growth(alone, None, [PhaseSpec(date="2030-01-01", nodes=4)])
    assert (phase.leaf_switches, phase.spine_switches, phase.core_switches, phase.cables) == (0, 0, 0, 0)
    assert (phase.free_leaf_ports, phase.reserved_ports, phase.moved_cables) == (0, 0, 0)


@pytest.mark.parametrize(
    ("others", "kinds"),
    [
        ([("server, 4x L40S", 2, 99.0)], ["node", "other"]),  # less than half of the price of the eight nodes
        ([("server, 4x L40S", 2, 100.0)], ["node", "node"]),
        ([("server, 4x L40S", 1, 20.0), ("server, 8x L40S", 1, 150.0)], ["node", "other", "node"]),
    ],
)
def test_servers_far_below_the_price_of_all_nodes_are_other_machines(
    others: list[tuple[str, int, float]], kinds: list[str]
) -> None:
    lines = [QuoteLine(NODE, 8, 200.0), *(QuoteLine(*each) for each in others)]
    assert [line.kind for line in offered_lines(lines, EIGHT)] == kinds
    fewer = [QuoteLine(NODE, 5, 200.0), *(QuoteLine(*each) for each in others)]
    assert {line.kind for line in offered_lines(fewer, EIGHT)} == {"node"}, "five are not the nodes of the machine"
