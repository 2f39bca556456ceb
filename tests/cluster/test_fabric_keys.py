from __future__ import annotations

import pytest

from clusterspec.cluster.model import ScaleOut
from tests.cluster.resolving import assumed, clean, cluster_of, resolve_text


def scale_out(keys: str, machine: str = "platform: dgx-h100, nodes: 4") -> ScaleOut:
    fabric = cluster_of(f"cluster: {{{machine}, scale_out: {{{keys}}}}}").scale_out
    assert fabric is not None
    return fabric


def test_one_node_has_a_fabric_only_where_something_names_one() -> None:
    assert cluster_of("cluster: {accelerator: h100-sxm-80gb, nodes: 1}").scale_out is None
    assert cluster_of("cluster: {platform: dgx-h100, nodes: 1}").scale_out is not None
    written = "cluster: {accelerator: h100-sxm-80gb, nodes: 1, scale_out: {technology: infiniband-ndr}}"
    assert cluster_of(written).scale_out is not None


def test_several_nodes_that_name_none_get_the_typical_nic_as_an_assumption() -> None:
    design = clean("cluster: {accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 4}")
    assert design.cluster is not None and design.cluster.scale_out is not None
    assert design.cluster.scale_out.nic_bandwidth.value == 25e9
    keys = assumed(design)
    assert keys["cluster.scale_out.technology"] == "infiniband-hdr"
    assert keys["cluster.scale_out.nics_per_node"] == 8
    assert keys["cluster.scale_out.nic_bandwidth"].value == 25e9


def test_of_several_fabrics_the_first_is_filled_and_listed() -> None:
    assert assumed(clean("cluster: {platform: dgx-h100, nodes: 4}"))["cluster.scale_out.technology"] == "infiniband-ndr"
    only = assumed(clean("cluster: {platform: aws-p5-48xlarge, nodes: 4}"))
    assert "cluster.scale_out.technology" not in only


def test_a_technology_named_brings_its_usual_rate() -> None:
    fabric = scale_out("technology: infiniband-hdr", "accelerator: h100-sxm-80gb, nodes: 4")
    assert fabric.nic_bandwidth.value == 25e9


def test_a_line_rate_may_say_a_direction() -> None:
    assert scale_out("nic_bandwidth: 800 Gb/s duplex").nic_bandwidth.value == 50e9
    assert scale_out("nic_bandwidth: 400 Gb/s").nic_bandwidth.value == 50e9


PLUGINS = [
    ("platform: aws-p5-48xlarge, nodes: 2", "aws-ofi-nccl"),
    ("platform: dgx-h100, nodes: 2", "built-in"),
    ("platform: gcp-a3-megagpu-8g, nodes: 2", "nccl-fastrak"),
    ("platform: gaudi2-hls, nodes: 2", "hccl"),
]


@pytest.mark.parametrize(("machine", "plugin"), PLUGINS)
def test_the_plugin_that_belongs_to_the_technology_is_an_assumption(machine: str, plugin: str) -> None:
    design = clean(f"cluster: {{{machine}}}")
    assert design.cluster is not None and design.cluster.scale_out is not None
    assert design.cluster.scale_out.collective_plugin == plugin
    assert assumed(design)["cluster.scale_out.collective_plugin"] == plugin


def test_a_plugin_that_is_written_is_no_assumption() -> None:
    design = clean("cluster: {platform: aws-p5-48xlarge, nodes: 2, scale_out: {collective_plugin: none}}")
    assert design.cluster is not None and design.cluster.scale_out is not None
    assert design.cluster.scale_out.collective_plugin == "none"
    assert "cluster.scale_out.collective_plugin" not in assumed(design)


def test_rails_follow_the_nics_where_the_topology_has_rails() -> None:
    assert scale_out("topology: rail-optimized").rails == 8
    assert scale_out("topology: rail-only, rails: 4").rails == 4
    assert scale_out("topology: fat-tree").rails == 1


def test_ports_are_counted_after_breakout() -> None:
    assert scale_out("switch: quantum-2-qm9700").switch_ports == 64
    assert scale_out("switch: quantum-2-qm9700, nic_bandwidth: 200 Gb/s").switch_ports == 128
    assert scale_out("switch: spectrum-4-sn5600, planes: 2, nic_bandwidth: 800 Gb/s").switch_ports == 128
    assert scale_out("switch: quantum-2-qm9700, nic_bandwidth: 800 Gb/s").switch_ports is None
    assert scale_out("switch: quantum-2-qm9700, switch_ports: 40").switch_ports == 40


def test_the_usual_switch_is_an_assumption_and_only_where_one_would_be_bought() -> None:
    assert assumed(clean("cluster: {platform: dgx-h100, nodes: 4}"))["cluster.scale_out.switch"] == "quantum-2-qm9700"
    assert "cluster.scale_out.switch" not in assumed(clean("cluster: {platform: aws-p5-48xlarge, nodes: 4}"))
    written = "cluster: {platform: dgx-h100, nodes: 4, scale_out: {switch_ports: 40}}"
    assert "cluster.scale_out.switch" not in assumed(clean(written))


def test_levels_keep_their_stated_ratios() -> None:
    fabric = scale_out("levels: [{nodes: 2, oversubscription: 1:1}, {name: pod, nodes: 384, oversubscription: 7:1}]")
    assert [(level.name, level.nodes, level.oversubscription) for level in fabric.levels] == [
        ("leaf", 2, 1.0),
        ("pod", 384, 7.0),
    ]
    assert fabric.oversubscription == (1.0, 7.0)


def test_flow_control_comes_from_the_spec_then_from_the_provider() -> None:
    provider = cluster_of("cluster: {platform: gcp-a3-ultragpu-8g, nodes: 2}").scale_out
    assert provider is not None and provider.pfc is True
    written = cluster_of(
        "cluster: {platform: gcp-a3-ultragpu-8g, nodes: 2, scale_out: {flow_control: {pfc: false}}}"
    ).scale_out
    assert written is not None and written.pfc is False


def test_no_nic_is_assumed_without_a_catalog_entry() -> None:
    design, problems = resolve_text("cluster: {accelerator: rtx-4090, accelerators_per_node: 4, nodes: 2}")
    assert [(problem.rule, problem.path) for problem in problems] == [
        ("missing-key", ("cluster", "scale_out", "technology"))
    ]
    assert design.cluster is not None and design.cluster.scale_out is None
