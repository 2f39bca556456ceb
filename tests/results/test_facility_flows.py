"""The flows of air and water of a hall carry its heat at the rises of temperature that the report states."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.results.facility import RACK_UNITS
from clusterspec.studies import study_text
from tests.settings import SETTINGS

AIR_HEAT = 1.2 * 1005.0
"""J for a cubic meter and a kelvin: density of air at 20 °C and its heat capacity."""
WATER_HEAT = 998.0 * 4182.0


@pytest.mark.parametrize("platform", ["dgx-h100", "gb200-nvl72"])
def test_air_warms_by_15_kelvin_and_water_by_10(platform: str) -> None:
    nodes = 18 if platform == "gb200-nvl72" else 4
    one = study_text(f"clusterspec: 1\ncluster: {{platform: {platform}, nodes: {nodes}}}\n", SETTINGS)
    found = analysis.report(one, "design", live=False)
    hall, drawn = found.facility, found.estimate.drawn
    assert hall is not None and drawn is not None
    (heat,) = [each for each in drawn.supply.heat if each.of == "hall"]
    assert hall.air_flow is not None
    assert hall.air_flow * AIR_HEAT * 15.0 == pytest.approx(heat.air.value, rel=0.02)
    if platform == "gb200-nvl72":
        assert hall.liquid_flow is not None
        assert hall.liquid_flow * WATER_HEAT * 10.0 == pytest.approx(heat.liquid.value, rel=0.02)


def test_a_rack_holds_42_units() -> None:
    """Nodes of 8 units, five to a rack, without another limit."""
    one = study_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 11}\n", SETTINGS)
    hall = analysis.report(one, "design", live=False).facility
    assert hall is not None and (hall.nodes_at_most, hall.least_racks, RACK_UNITS) == (5, 3, 42)
