"""InfiniBand and RoCE for one machine differ by the latencies and the shares of the line that the catalog has."""

from __future__ import annotations

import json
from typing import Any

import pytest

import clusterspec
from clusterspec import analysis, studies
from clusterspec.analysis.networks import network_choices
from clusterspec.analysis.paths import pod_topology
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.report.paper.blocks import PaperTable, Text
from clusterspec.report.paper.network_rows import network_blocks
from clusterspec.results.estimate_json import Provenance
from clusterspec.results.full import NetworkChoice
from clusterspec.units import display
from tests.effort import thorough
from tests.settings import SETTINGS

GB = 1e9
OUT = {"nics_per_node": 8, "nic_bandwidth": "400 Gb/s", "topology": "fat-tree"}
WORK = (
    "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\nlayout: {tp: 8, pp: 2, micro_batch: 1}"
)
PRICES = "procurement: {currency: EUR, prices: {nic: 1500, leaf_switch: 30000}}"


def choices(**section: Any) -> tuple[NetworkChoice, ...]:
    design = studies.study_text(json.dumps({"clusterspec": 1, "cluster": section}), SETTINGS).design
    assert design.cluster is not None
    fabric = fabric_of_cluster(design.cluster)
    counted = fabric if isinstance(fabric, Fabric) else None
    return network_choices(design, SETTINGS.catalog, counted, Provenance())


def test_a_machine_with_either_network_has_both_rows_with_its_own_marked() -> None:
    """RoCE adds 10 µs to the crossing of InfiniBand, and achieves 94.5 % of the line instead of 96.5 %."""
    band, ether = choices(platform="dgx-h100", nodes=64)
    assert [(one.technology, one.present) for one in (band, ether)] == [("infiniband-ndr", True), ("roce-v2", False)]
    assert (band.wire, ether.wire) == (0.6e-6, 2e-6)
    assert band.near and band.far and ether.near and ether.far and band.predicted and ether.predicted
    assert ether.near - band.near == pytest.approx(10e-6, rel=1e-3) == ether.far - band.far
    assert band.far - band.near == pytest.approx(0.6e-6, rel=1e-3), "two switches more at 0.3 µs"
    assert ether.predicted / band.predicted == pytest.approx(0.945 / 0.965, rel=5e-3)
    assert (band.lossless, ether.lossless) == ("credits", "PFC and ECN")


def test_the_row_of_the_design_has_the_latencies_of_its_paths() -> None:
    found = clusterspec.load({"clusterspec": 1, "cluster": {"platform": "dgx-h100", "nodes": 64}}).cluster
    assert found is not None
    fabric = fabric_of_cluster(found)
    assert isinstance(fabric, Fabric)
    outside = [one for one in pod_topology(found, None, fabric).classes if "NIC" in one.parts]
    band, _ = choices(platform="dgx-h100", nodes=64)
    assert (band.near, band.far, band.predicted) == (outside[0].latency, outside[-1].latency, outside[-1].predicted)


@pytest.mark.parametrize(
    ("section", "technologies"),
    [
        (
            {
                "accelerator": "h100-sxm-80gb",
                "accelerators_per_node": 8,
                "nodes": 4,
                "scale_out": OUT | {"technology": "roce-v2"},
            },
            ["infiniband-ndr", "roce-v2"],
        ),
        ({"platform": "gb200-nvl72", "nodes": 36}, ["infiniband-ndr", "spectrum-x"]),
        ({"platform": "dgx-h100", "nodes": 1}, []),
        ({"platform": "gaudi3-hls", "nodes": 8}, []),
        ({"platform": "mi300x-ubb8", "nodes": 8}, ["infiniband-ndr", "roce-v2"]),
        ({"platform": "aws-p5-48xlarge", "nodes": 8}, []),
        ({"platform": "tpu-v5p", "nodes": 64}, []),
    ],
)
def test_only_what_can_be_bought_is_compared(section: dict[str, Any], technologies: list[str]) -> None:
    assert [one.technology for one in choices(**section)] == technologies


@thorough
def test_prices_are_those_of_the_spec_and_of_its_technology_alone() -> None:
    text = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 8}}\n{WORK}\n{PRICES}\n"
    report = analysis.report(studies.study_text(text, SETTINGS), "design", live=False)
    band, ether = report.networks
    assert (band.nic_price, band.leaf_price, ether.nic_price, ether.leaf_price) == ("1,500 EUR", "30,000 EUR", "", "")
    assert band.step == pytest.approx(report.estimate.plan.step_time.value)  # type: ignore[union-attr]
    assert ether.step is not None and band.step is not None and ether.step > band.step
    table, told = network_blocks(report.networks, None)
    assert isinstance(table, PaperTable) and isinstance(told, Text)
    own, other = table.rows
    assert own.cells[0] == "InfiniBand NDR, as designed" and own.cells[6] == display(band.step, "s")
    assert ", +" in other.cells[6] or "no change" in other.cells[6]
    assert "Prices come from the spec" in told.text
    hidden = analysis.report(studies.study_text(text, SETTINGS), "design", "tender", live=False)
    assert not any(one.nic_price or one.leaf_price for one in hidden.networks)
