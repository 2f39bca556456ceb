"""Power of the machine: no node is without its accelerators, and no rack without its switches."""

from __future__ import annotations

import pytest

from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import HOST_SHARES, power_draw
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost, cost
from clusterspec.source import Assumed
from tests.cluster.resolving import catalog, clean, cluster_of, resolve_text
from tests.effort import thorough

MONEY = """
procurement:
  {currency: USD, term: 4 years, electricity: 0.10, pue: 1.25, utilization: 0.8, prices: {node: 1}}
"""


def costs(cluster: str) -> Cost:
    design = clean(f"cluster: {{{cluster}}}{MONEY}")
    found = cost(design, None, bill(design))
    assert found is not None
    return found


def energy(found: Cost) -> float | None:
    assert found.total is not None
    return next((part.value for part in found.total.parts if part.name == "energy"), None)


def without_switches(found: Cost) -> float:
    return sum(part.value for part in found.watts.parts if part.name != "switches")


# 4 years are 35,064 h; at 0.8 × 1.25 × 0.10 a kW costs 3,506.40 USD.
KILOWATT = 35_064 * 0.8 * 1.25 * 0.10


def test_a_baseboard_draws_its_accelerators_and_a_share_for_the_server() -> None:
    """32 HGX B200: 256 × 1 kW, plus 40 to 110 % for the servers."""
    found = costs("platform: hgx-b200, nodes: 32")
    nodes = found.watts.parts[0]
    assert (nodes.low, nodes.value, nodes.high) == pytest.approx((358_400, 448_000, 537_600))
    assert energy(found) == pytest.approx(found.watts.value / 1_000 * KILOWATT)
    assert found.total is not None and found.watts.low is not None
    assert found.total.parts[-1].low == pytest.approx(found.watts.low / 1_000 * KILOWATT)
    [(_, figure, why)] = [row for row in found.assumptions if row[0] == "cluster.power.node"]
    assert isinstance(figure.origin, Assumed) and "0.4 to 1.1" in why


def test_a_rack_draws_what_its_platform_states() -> None:
    """Eight GB300 racks of 135 kW; eight GB200 racks of 18 trays of 5.4 kW and 22.8 kW for switches and conversion."""
    for platform, rack in (("gb300-nvl72", 135_000), ("gb200-nvl72", 120_000)):
        found = costs(f"platform: {platform}, nodes: 144")
        assert without_switches(found) == pytest.approx(8 * rack)
        assert found.watts.low is None
    half = 9 * 6_600 + (135_000 - 18 * 6_600)  # the switch trays of a half-filled rack run all the same
    assert without_switches(costs("platform: gb300-nvl72, nodes: 9")) == pytest.approx(half)
    split = costs("platform: gb200-nvl72, nodes: 9")
    assert without_switches(split) == pytest.approx(9 * 5_400 + 22_800)


def test_a_node_draws_what_is_written_and_the_accelerators_that_are_written() -> None:
    def node(text: str) -> float:
        power = cluster_of(f"cluster: {{platform: dgx-h100, nodes: 2, {text}}}").node_power
        assert power is not None
        return power.value

    assert node("power: {node: 9 kW}") == 9_000
    assert node("accelerator: {power: 500 W}") == 10_200 - 8 * 200
    assert node("accelerator: h200-sxm-141gb") == 10_200
    assert cluster_of("cluster: {platform: dgx-h100, accelerators_per_node: 4, nodes: 2}").node_power is None


def test_without_the_power_of_the_accelerator_there_is_no_energy_and_a_reason() -> None:
    found = costs("accelerator: tpu-v5p, nodes: 4")
    assert not found.watts.parts and energy(found) is None
    assert any("catalog has no power of tpu-v5p" in line for line in found.missing)


def test_switches_of_unknown_power_are_left_out_and_told() -> None:
    """The 40 endpoints of five nodes take one switch of 40 ports."""
    for power, watts in (("", None), (", power: {switch: 1 kW}", 1_000)):
        out = "scale_out: {technology: infiniband-ndr, switch_ports: 40, topology: fat-tree, tiers: 1}"
        found = costs(f"platform: dgx-h100, nodes: 5, {out}{power}")
        switches = [part.value for part in found.watts.parts if part.name == "switches"]
        told = any("power of a switch" in line for line in found.missing)
        assert (switches, told) == (([], True) if watts is None else ([watts], False))


def every_cluster() -> list[Cluster]:
    texts = [
        f"cluster: {{{kind}: {name}, nodes: 4}}" for kind in ("platform", "accelerator") for name in catalog().ids(kind)
    ]
    return [cluster for text in texts if (cluster := resolve_text(text)[0].cluster) is not None]


CAPPED = {"gh200-quad"}
"""Systems sold with accelerators at less than their highest rating: 680 W of a superchip's 1,000."""


@thorough
def test_no_cluster_draws_less_than_its_accelerators() -> None:
    clusters = every_cluster()
    assert len(clusters) > 100
    for cluster in clusters:
        drawn, each = power_draw(cluster, None, None), cluster.accelerator.power
        if each is None and cluster.node_power is None:
            assert drawn.node is None and drawn.missing
            continue
        assert drawn.node is not None
        if each is not None and (cluster.platform is None or cluster.platform.id not in CAPPED):
            low, high = drawn.node_range or (drawn.node.value, drawn.node.value)
            least = cluster.accelerator.power_lowest or each
            assert low >= cluster.accelerators_per_node * least.value, cluster.accelerator.id
            assert high >= cluster.accelerators_per_node * each.value, cluster.accelerator.id


def test_modules_with_processors_leave_less_for_the_rest_of_a_node() -> None:
    """Four GH200 with their processors, of 450 W to 1 kW as the site sets them: 1.98 to 5.6 kW, and 4.4 to 5.6 kW where
    all may take 1 kW; four H100 of 700 W without processors: 3.92 to 5.88 kW.
    """
    cases = (
        ("gh200-96gb", "", 1980, 5600),
        ("gh200-96gb", ", power: {accelerator_cap: 1 kW}", 4400, 5600),
        ("h100-sxm-80gb", "", 3920, 5880),
    )
    for accelerator, cap, low, high in cases:
        cluster = clean(f"cluster: {{accelerator: {accelerator}, accelerators_per_node: 4, nodes: 2{cap}}}\n").cluster
        assert cluster is not None
        drawn = power_draw(cluster, None, None)
        assert drawn.node is not None and drawn.node.value == pytest.approx((low + high) / 2)
        assert drawn.node_range == pytest.approx((low, high))


def test_the_rated_systems_lie_within_the_assumed_share() -> None:
    rated = ["dgx-1", "dgx-2", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300"]
    for name in rated:
        platform = catalog().find("platform", name)
        assert isinstance(platform, Platform) and platform.power is not None and platform.accelerators_per_node
        accelerator = catalog().find("accelerator", platform.accelerator)
        assert isinstance(accelerator, Accelerator) and accelerator.power is not None
        share = platform.power.value / (platform.accelerators_per_node * accelerator.power.value) - 1
        assert HOST_SHARES[0] <= share <= HOST_SHARES[1], (name, share)
