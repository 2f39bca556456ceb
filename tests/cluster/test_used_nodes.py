"""Accelerators and nodes that a plan uses, and the optics of a level, by hand."""

from __future__ import annotations

import pytest

from clusterspec.cluster.clos import ModuleCount
from clusterspec.cluster.degrees import accelerators_used, idle_nodes, nodes_of_engines, own_accelerators
from clusterspec.cluster.fabric import LevelOptics, cable_types, level_optics
from clusterspec.cluster.model import Design
from clusterspec.records import replace
from clusterspec.spec.model import Spec
from tests.cluster.resolving import catalog, clean, cluster_of

TRAIN = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}\n"
SERVE = "workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 900, output_tokens: 100{}}}}}\n"
APART = SERVE.format(", disaggregated: {prefill: {replicas: 3, tp: 2}, decode: {replicas: 1, tp: 4}}")

PLANS = [  # machine, work and layout; accelerators, nodes of engines, accelerators of the job, and idle nodes
    ("platform: dgx-h100, nodes: 4", TRAIN, "{tp: 2}", 32, 4, 32, 0),
    ("platform: dgx-h100, nodes: 4", TRAIN, "{tp: 2, nodes: 3}", 24, 3, 24, 1),
    ("platform: dgx-h100, nodes: 4", SERVE.format(""), "{tp: 2, dp: 5}", 10, 2, 10, 2),
    ("platform: dgx-h100, nodes: 4", SERVE.format(""), "{tp: 4, dp: 2}", 8, 1, 8, 3),
    ("platform: dgx-h100, nodes: 4", APART, "{}", 10, 2, 10, 2),
    ("platform: mi250x-4, nodes: 2", TRAIN, "{tp: 2}", 8, 2, 8, 0),  # two ranks of each accelerator
    ("platform: mi250x-4, nodes: 2", SERVE.format(""), "{tp: 1, dp: 9}", 5, 2, 5, 0),
]


@pytest.mark.parametrize(("machine", "work", "layout", "used", "engines", "own", "idle"), PLANS)
def test_a_plan_uses_the_accelerators_of_its_ranks_and_whole_nodes(
    machine: str, work: str, layout: str, used: int, engines: int, own: int, idle: int
) -> None:
    design = clean(f"cluster: {{{machine}}}\n{work}layout: {layout}")
    assert accelerators_used(design) == used
    assert nodes_of_engines(design) == engines
    assert (own_accelerators(design), idle_nodes(design)) == (own, idle)


def test_a_job_of_several_roles_uses_the_nodes_of_all() -> None:
    rl = "{prompts_per_step: 64, input_tokens: 512, output_tokens: 1000, rollout: {nodes: 2}, reference: {nodes: 1}}"
    design = clean(
        f"cluster: {{platform: dgx-h100, nodes: 8}}\nworkload: {{kind: rl, model: llama-3.1-8b, rl: {rl}}}\n"
        "layout: {tp: 2, nodes: 3}"
    )
    assert accelerators_used(design) == 24
    assert (own_accelerators(design), idle_nodes(design)) == (8 * (3 + 2 + 1), 2)


def test_a_design_without_a_layout_uses_nothing_that_is_known() -> None:
    bare = Design(Spec("x"))
    for counted in (accelerators_used, nodes_of_engines, own_accelerators, idle_nodes):
        assert counted(bare) is None
        assert counted(clean("cluster: {platform: dgx-h100, nodes: 2}")) is None


def test_a_level_has_one_cable_or_a_module_at_each_end() -> None:
    parts = [entry for name in catalog().ids("optics") if (entry := catalog().find("optics", name)) is not None]
    module = next(part for part in parts if getattr(part, "type", "") == "module")
    cable = next(part for part in parts if getattr(part, "type", "") in {"dac", "aoc", "acc", "aec"})
    out = cluster_of("cluster: {platform: dgx-h100, nodes: 4}").scale_out
    assert out is not None and level_optics(out) == ()
    named = replace(out, optics=(("node_leaf", (cable,)), ("leaf_spine", (module, cable))))  # type: ignore[arg-type]
    lower, upper = level_optics(named)
    assert (lower.level, lower.listed, lower.lower_end, lower.upper_end) == ("node_leaf", False, cable, cable)
    assert (upper.level, upper.listed, upper.lower_end, upper.upper_end) == ("leaf_spine", True, module, cable)
    assert (lower.cable_type, upper.cable_type) == (lower.lower_end.type, "fiber")
    assert cable_types(named, None) == {"node_leaf": lower.lower_end.type, "leaf_spine": "fiber"}
    assert cable_types(named, {"leaf_spine": "aoc"})["leaf_spine"] == "aoc"
    assert isinstance(lower, LevelOptics)


def test_modules_of_unknown_cages_may_be_half_as_many() -> None:
    for assumed, least in ((), 37), (("node",), 37 - 4), (("switch",), 37 - 14), (("node", "switch"), 37 - 18):
        found = ModuleCount(node=8, leaf=17, spine=8, core=4, assumed=assumed, how="")
        assert (found.total, found.minimum_modules) == (37, least), assumed


def test_ports_on_the_accelerators_are_no_nics() -> None:
    """Eight Gaudi 3 have 24 ports of 200 Gb/s, which six cages of 800 Gb/s join; other NICs stand in the host."""
    eight = "accelerator: gaudi3, accelerators_per_node: 8, nodes: 2"
    for text, own in (
        ("platform: gaudi2-hls, nodes: 2", True),
        ("platform: dgx-h100, nodes: 2", False),
        (eight, True),
        (eight + ", scale_out: {technology: roce-v2, nics_per_node: 16, nic_bandwidth: 200 Gb/s}", True),
        (eight + ", scale_out: {technology: roce-v2, nics_per_node: 32, nic_bandwidth: 200 Gb/s}", False),
        (eight + ", scale_out: {technology: roce-v2, nics_per_node: 6, nic_bandwidth: 800 Gb/s}", True),
        (eight + ", scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}", False),
        (eight + ", scale_out: {technology: infiniband-hdr, nics_per_node: 8, nic_bandwidth: 200 Gb/s}", False),
        (
            eight + ", scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 200 Gb/s, nic: connectx-6}",
            False,
        ),
        ("accelerator: mi300x, accelerators_per_node: 8, nodes: 2", False),
        ("platform: aws-dl1-24xlarge, nodes: 2", False),
    ):
        assert cluster_of(f"cluster: {{{text}}}").has_built_in_nics == own, text


def test_bandwidth_of_built_in_ports() -> None:
    """Three ports of 25 GB/s on each of eight Gaudi 3; an MI300X has none."""
    assert cluster_of("cluster: {platform: gaudi3-hls, nodes: 2}").built_in_bandwidth == 8 * 3 * 25e9
    assert cluster_of("cluster: {platform: dgx-h100, nodes: 2}").built_in_bandwidth == 0.0
