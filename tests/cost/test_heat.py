"""Heat to liquid and to air, and units of a coolant loop, worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import CoolingUnits, cooling_units, heat_assumptions, heat_of, liquid_shares, loop_heat
from clusterspec.cost.term import Term
from clusterspec.quantity import Quantity
from clusterspec.spec.model import PowerSpec
from clusterspec.spec.model.cluster import CdusSpec
from tests.cluster.resolving import clean
from tests.effort import each

NODE = 10_200.0
"""Watts of a DGX H100."""


def machine(cooling: str = "") -> tuple[Cluster, PowerSpec | None]:
    """Four nodes with a cooling, and what the spec states of it."""
    power = f", power: {{cooling: {cooling}}}" if cooling else ""
    design = clean(f"cluster: {{platform: dgx-h100, nodes: 4{power}}}\n")
    assert design.cluster is not None and design.spec.cluster is not None
    return design.cluster, design.spec.cluster.power


@each(
    ("power", "shares"),
    [
        ("", (0.0, 0.0, 0.0)),
        ("air", (0.0, 0.0, 0.0)),
        ("liquid", (0.7, 0.85, 0.95)),
        ("immersion", (1.0, 1.0, 1.0)),
        ("liquid, liquid_share: 0.6", (0.6, 0.6, 0.6)),
    ],
)
def test_the_share_of_the_liquid_is_stated_or_assumed_by_the_cooling(power: str, shares: tuple[float, ...]) -> None:
    """The heat of 4 nodes without a fabric, over the range of the share; only a range of cold plates is assumed."""
    cluster, written = machine(power)
    found = liquid_shares(cluster, written)
    assert tuple(one.value for one in found) == shares
    assumed = heat_assumptions(cluster, written)
    assert [(key, figure.value) for key, figure, _ in assumed] == (
        [("cluster.power.liquid_share", 0.85)] if shares[0] == 0.7 else []
    )
    assert all("70 to 95 %" in why for _, _, why in assumed)
    assert loop_heat(cluster, None, written) == pytest.approx(tuple(4 * NODE * share for share in shares))


def test_heat_and_its_range_are_divided_between_liquid_and_air() -> None:
    """Of 100 kW of nodes 70 to 95 kW are taken up by the liquid; 10 kW of switches are cooled by air."""
    cluster, written = machine("liquid")
    found = heat_of("hall", Term("power", 100e3, "W", "given", ()), cluster, written, switches=10e3)
    assert found.of == "hall"
    assert found.to_json() == {
        "liquid": pytest.approx(85e3),
        "air": pytest.approx(25e3),
        "range": {
            "liquid": [pytest.approx(70e3), pytest.approx(95e3)],
            "air": [pytest.approx(15e3), pytest.approx(40e3)],
        },
    }
    assert (found.liquid.name, found.air.name) == ("heat_hall_liquid", "heat_hall_air")
    bare = heat_of("rack", Term("power", 100e3, "W", "given", ()), cluster, written)
    assert (bare.liquid.value, bare.air.value) == pytest.approx((85e3, 15e3))


@each(
    ("redundancy", "count", "spare"),
    [(None, 4, 0), ("N", 4, 0), ("N+1", 4, 1), ("2N", 4, 2), ("2N", 5, 2), ("2N", 1, 0)],
)
def test_units_of_a_loop_are_spare_by_their_redundancy(redundancy: str | None, count: int, spare: int) -> None:
    written = PowerSpec(cdus=CdusSpec(count, None, Quantity(300e3, "W", "300 kW"), redundancy))
    assert cooling_units(written) == CoolingUnits(count, 300e3, spare)


def test_units_are_known_only_with_their_number_and_capacity() -> None:
    capacity = Quantity(300e3, "W", "300 kW")
    for written in (None, PowerSpec(), *(PowerSpec(cdus=one) for one in (CdusSpec(4), CdusSpec(capacity=capacity)))):
        assert cooling_units(written) is None


def test_a_loop_takes_up_the_heat_of_the_units_that_run() -> None:
    units = CoolingUnits(4, 300e3, 1)
    assert [units.carried_watts(failed) for failed in (0, 1, 3, 4, 5)] == [1.2e6, 0.9e6, 0.3e6, 0.0, 0.0]


def test_switches_that_air_cools_give_no_heat_to_the_loop() -> None:
    """Sixteen nodes of 10.2 kW: the loop takes 70 to 95 % of their heat, whatever the switches draw."""
    keys = "platform: dgx-h100, nodes: 16, scale_out: {switch: quantum-2-qm9700, topology: fat-tree}"
    design = clean(f"cluster: {{{keys}, power: {{cooling: liquid}}}}\n")
    assert design.cluster is not None and design.spec.cluster is not None
    fabric = fabric_of_cluster(design.cluster, design.spec.cluster.scale_out)
    assert isinstance(fabric, Fabric) and fabric.leaf_switches > 0
    found = loop_heat(design.cluster, fabric, design.spec.cluster.power)
    assert found == pytest.approx([16 * NODE * share for share in (0.7, 0.85, 0.95)])
