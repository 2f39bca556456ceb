"""Kinds of sound designs that a rule of thumb would report, each with the flaw that is of the same kind."""

from __future__ import annotations

import pytest

from clusterspec.finding import Finding, Severity
from tests.effort import each, thorough

from .conftest import Check

DGX = "cluster: {{platform: dgx-h100, nodes: {nodes}, scale_out: {{technology: {technology}, {fabric}}}}}\n"
MOE = "workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}\n"
DENSE = "workload: {model: llama-3.1-8b, sequence_length: 12288, global_batch: 256}\n"
SERVED = (
    "workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, load: offline}}\n"
)


def of(rule: str, text: str, check: Check) -> list[Finding]:
    """The findings of a rule beside those of all others, which may say the same better."""
    return [finding for finding in check(f"clusterspec: 1\n{text}") if finding.rule == rule]


def ndr(fabric: str, nodes: int = 8, technology: str = "infiniband-ndr") -> str:
    return DGX.format(nodes=nodes, technology=technology, fabric=fabric)


def pcie(fabric: str, part: str = "l40s", nodes: int = 16, nics: int = 8) -> str:
    return (
        f"cluster: {{accelerator: {part}, accelerators_per_node: 8, nodes: {nodes}, scale_out: {{technology: roce-v2, "
        f"nics_per_node: {nics}, flow_control: {{pfc: true, ecn: true}}, {fabric}}}}}\n"
    )


RAILS = ndr("topology: rail-only")
QM = "topology: rail-only, switch_ports: 64, tiers: 2"
TAPERED = "topology: rail-optimized, switch_ports: 64, oversubscription: 4:1"
P5 = "cluster: {platform: aws-p5-48xlarge, nodes: 4, scale_out: {placement: cluster-placement-group}}\n"
H20 = "nic_bandwidth: 200 Gb/s"
AURORA = (
    "cluster: {{accelerator: mi300a, accelerators_per_node: 6, nodes: 8, "
    "scale_out: {{technology: slingshot-11, nics_per_node: {}}}}}\n"
)
VIRTUAL = (
    "workload: {{model: {{base: llama-3.1-405b, layers: {}}}, sequence_length: 8192, global_batch: 256}}\n"
    "layout: {{framework: megatron-core, tp: 8, pp: {}, virtual_stages: {}}}\n"
)
LORA = (
    "cluster: {{platform: dgx-h100, nodes: 1}}\n"
    "workload: {{model: llama-3.1-8b, sequence_length: 2048, global_batch: 64, parameter_precision: int4, "
    "trainable: {}}}\n"
    "layout: {{framework: fsdp, sharding: fsdp}}\n"
)
RACK = "cluster: {{platform: gb200-nvl72, nodes: {}}}\n"
MESH = "cluster: {platform: mi300x-ubb8, nodes: 1}\n"
SIXTY_FOUR = (
    "cluster: {{platform: dgx-h100, nodes: 128}}\n"
    "workload: {{model: deepseek-v3, sequence_length: 4096, global_batch: 8192, precision: fp8}}\n"
    "layout: {{framework: megatron-core, tp: 2, pp: 8, ep: 64, expert_tp: 1, virtual_stages: 4, recompute: selective,\n"
    "  dispatcher: {}}}\n"
)
KINDS = [
    # a dispatcher changes the rail over NVLink; a reduction of three nodes' halves does not
    ("cross-rail-without-spine", RAILS + MOE + "layout: {tp: 4, ep: 16, expert_tp: 1}\n", None),
    ("cross-rail-without-spine", RAILS + MOE + "layout: {tp: 4, ep: 8, expert_tp: 4}\n", None),
    ("cross-rail-without-spine", RAILS + DENSE + "layout: {tp: 8}\n", None),
    ("cross-rail-without-spine", RAILS + DENSE + "layout: {tp: 16}\n", None),
    ("cross-rail-without-spine", ndr("topology: rail-only", 12) + DENSE + "layout: {tp: 2, cp: 3}\n", "warning"),
    # rails without a domain never meet; neither do those of pairs
    ("cross-rail-without-spine", pcie("topology: rail-only, nic_bandwidth: 100 Gb/s"), "error"),
    ("cross-rail-without-spine", pcie("topology: rail-only, nic_bandwidth: 100 Gb/s", "h100-nvl-94gb"), "error"),
    ("cross-rail-without-spine", pcie("topology: rail-only, nic_bandwidth: 100 Gb/s", nics=1), None),
    ("cross-rail-without-spine", pcie("topology: rail-optimized, nic_bandwidth: 100 Gb/s"), None),
    # 64² / 2 = 2,048 endpoints on each of eight rails: 2,048 nodes
    ("endpoints-exceed-fabric", ndr(QM, 2048), None),
    ("endpoints-exceed-fabric", ndr(QM, 2049), "error"),
    ("endpoints-exceed-fabric", ndr("topology: rail-only, switch_ports: 64", 64), None),
    ("endpoints-exceed-fabric", ndr("topology: rail-only, switch_ports: 64", 65), "error"),
    # Ultra Ethernet is a matter of end points; InfiniBand is not
    ("switch-of-another-technology", ndr("switch: tomahawk-5, nic_bandwidth: 400 Gb/s", 8, "ultra-ethernet-1"), None),
    ("switch-of-another-technology", ndr("switch: spectrum-4-sn5600", 8, "roce-v2"), None),
    ("switch-of-another-technology", ndr("switch: tomahawk-5", 8, "infiniband-ndr"), "error"),
    ("switch-of-another-technology", ndr("switch: quantum-2-qm9700", 8, "ultra-ethernet-1"), "error"),
    # engines of one node form no group over the network; pipelines of two nodes do
    ("missing-collective-plugin", P5 + SERVED + "layout: {tp: 8}\n", None),
    ("missing-collective-plugin", P5 + SERVED + "layout: {tp: 8, pp: 2}\n", "note"),
    ("missing-collective-plugin", P5 + DENSE + "layout: {tp: 8}\n", "note"),
    # nor does it matter how far apart they are
    ("no-placement-policy", P5.replace("placement: cluster-placement-group", "") + SERVED + "layout: {tp: 8}\n", None),
    (
        "no-placement-policy",
        P5.replace("placement: cluster-placement-group", "") + DENSE + "layout: {tp: 8}\n",
        "note",
    ),
    # an H20 has 148 TFLOP/s, 15 % of an H100: 50 Gb/s are 83 % of what an H100 has for each FLOP, 25 Gb/s 41 %
    ("nic-starved-accelerators", pcie(H20, "h20-96gb", nics=2) + DENSE, None),
    ("nic-starved-accelerators", pcie(H20, "h20-96gb", nics=1) + DENSE, "warning"),
    ("nic-starved-accelerators", pcie(H20, "h100-sxm-80gb", nics=2) + DENSE, "warning"),
    ("shared-nic", pcie(H20, "h20-96gb", nics=4) + DENSE, None),
    ("shared-nic", pcie(H20, "h100-sxm-80gb", nics=4) + DENSE, None),  # nic-starved-accelerators says it
    ("shared-nic", P5.replace("nodes: 4", "nodes: 4, accelerators_per_node: 8") + SERVED + "layout: {tp: 8}\n", None),
    # 128 × 8 NICs take every port: a managed switch runs the subnet manager itself, an unmanaged one does not
    ("no-port-for-fabric-manager", ndr("topology: rail-optimized, switch: quantum-2-qm9700", 128), None),
    ("no-port-for-fabric-manager", ndr("topology: rail-optimized, switch: quantum-2-qm9790", 128), "error"),
    ("no-port-for-fabric-manager", ndr("topology: rail-optimized, switch_ports: 64", 128), "note"),
    (
        "no-port-for-fabric-manager",
        ndr("topology: rail-optimized, switch: quantum-2-qm9790, subnet_manager: host", 128),
        "note",
    ),
    # more NICs than accelerators starve none
    ("uneven-nics", AURORA.format(8), "note"),
    ("uneven-nics", AURORA.format(4), "warning"),
    # a leaf more is all that another rail costs under full bandwidth
    ("dp-group-off-rail", ndr("topology: rail-optimized", 12) + DENSE + "layout: {tp: 2, cp: 3}\n", "note"),
    (
        "dp-group-off-rail",
        ndr("topology: rail-optimized, switch_ports: 64, oversubscription: 4:1", 96)
        + DENSE
        + "layout: {tp: 2, cp: 3}\n",
        "warning",
    ),
    # logits of 4 and 7 sequences: 67 and 98 % of the memory with all else, and more with copies of the loss
    ("logits-fill-memory", "micro_batch: 4", None),
    ("logits-fill-memory", "micro_batch: 7", "note"),
    # embedding and head may be stages of their own: 126 layers and two ends fill 16 x 8 stages, 125 do not
    ("layers-indivisible-by-pp", ndr("nics_per_node: 8", 256) + VIRTUAL.format(126, 16, 8), "note"),
    ("layers-indivisible-by-pp", ndr("nics_per_node: 8", 256) + VIRTUAL.format(125, 16, 8), "error"),
    # Megatron Core refuses virtual stages of different lengths
    ("layers-indivisible-by-pp", ndr("nics_per_node: 8", 256) + VIRTUAL.format(121, 16, 4), "error"),
    # frozen weights of 4 bits below adapters, and a framework with a recipe for int8
    ("integer-training", LORA.format("{method: qlora, rank: 16}"), None),
    ("integer-training", LORA.format("{method: full}"), "error"),
    # chips of the virtual machines of slices: 4 in those of several machines, never 6
    ("accelerators-miscounted", "cluster: {platform: tpu-v6e, nodes: 64, accelerators: 256}\n", None),
    ("accelerators-miscounted", "cluster: {platform: tpu-v6e, nodes: 64, accelerators: 384}\n", "error"),
    # published runs use 16 of the 18 trays of a rack, and say so
    ("partial-unit-of-sale", RACK.format(16) + DENSE + "layout: {nodes_per_domain: 16}\n", "note"),
    ("partial-unit-of-sale", RACK.format(16) + DENSE, "note"),
    ("partial-unit-of-sale", RACK.format(20) + DENSE + "layout: {nodes_per_domain: 16}\n", "warning"),
    # NICs that nobody stated are none too many
    ("nics-exceed-slots", "cluster: {accelerator: trainium3, nodes: 2}\n", None),
    ("nics-exceed-slots", "cluster: {accelerator: trainium3, nodes: 2, scale_out: {nics_per_node: 8}}\n", "error"),
    # four of eight in a mesh are an engine as published, two leave six of seven links idle
    ("partial-mesh-group", MESH + SERVED + "layout: {tp: 4}\n", "note"),
    # two of eight for 32B lose a quarter of the throughput; for 70B one accelerator gives 3 % more
    ("partial-mesh-group", MESH + SERVED.replace("llama-3.1-70b", "qwen2.5-32b") + "layout: {tp: 2}\n", "warning"),
    ("partial-mesh-group", MESH + SERVED + "layout: {tp: 2}\n", "note"),
    # experts of a model that fits no domain, with a dispatcher that sends a token once to each node
    ("ep-crosses-scale-up-domain", SIXTY_FOUR.format("hybrid"), "note"),
    ("ep-crosses-scale-up-domain", SIXTY_FOUR.format("all-to-all"), "error"),
]
LOGITS = (
    "cluster: {{platform: dgx-h100, nodes: 1}}\n"
    "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 224}}\n"
    "layout: {{tp: 1, sharding: fsdp, recompute: full, {}}}\n"
)


@pytest.mark.parametrize(("rule", "design", "severity"), KINDS)
def test_a_kind_of_sound_design_is_not_reported_and_its_flaw_is(
    rule: str, design: str, severity: str | None, check: Check
) -> None:
    text = design if "\n" in design else LOGITS.format(design)
    assert [str(found.severity) for found in of(rule, text, check)] == ([severity] if severity else [])


def test_each_rail_of_several_tiers_has_a_tree_of_its_own(check: Check) -> None:
    """256 nodes: 256 endpoints a rail on 8 leaves of 32 ports down, and 256 uplinks on 4 spines of 64."""
    parts = "leaf_switches: {}, spine_switches: {}"
    design = ndr(QM + ", " + parts.format(64, 32), 256)
    assert [found.rule for found in check(f"clusterspec: 1\n{design}") if found.severity is Severity.ERROR] == []
    (found,) = of("too-few-switches", ndr(QM + ", " + parts.format(56, 32), 256), check)
    assert "64 needed" in found.message


WIDE = "workload: {model: qwen3-235b-a22b, sequence_length: 4096, global_batch: 4096}\n"
ONCE = [
    ("nic-starved-accelerators", "shared-nic", pcie(H20, "h100-sxm-80gb", nics=2) + DENSE),
    (
        "ep-crosses-scale-up-domain",
        "ep-all-to-all-exposed",
        ndr("nics_per_node: 8", 32) + WIDE + "layout: {tp: 1, ep: 64, pp: 2, recompute: full}\n",
    ),
    (
        "hot-axis-over-oversubscription",
        "fsdp-gather-exposed",
        ndr("topology: fat-tree, switch: quantum-2-qm9700, oversubscription: 4:1", 64)
        + "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512}\n"
        "layout: {tp: 1, sharding: fsdp, recompute: full}\n",
    ),
    (
        "stage-layers-mismatch",
        "uneven-pipeline-stages",
        ndr("nics_per_node: 8") + DENSE + "layout: {tp: 8, pp: 4, stage_layers: [12, 7, 7, 7]}\n",
    ),
    (
        "ep-not-dividing-ranks",
        "ep-crosses-scale-up-domain",
        ndr("nics_per_node: 8") + WIDE + "layout: {tp: 1, ep: 48}\n",
    ),
    (
        "no-port-for-fabric-manager",
        "no-room-to-grow",
        ndr("topology: single-switch, switch: quantum-2-qm9790"),
    ),
]


@thorough
@pytest.mark.parametrize(("kept", "dropped", "design"), ONCE, ids=[kept for kept, _, _ in ONCE])
def test_one_cause_at_one_key_is_told_once(kept: str, dropped: str, design: str, check: Check) -> None:
    assert of(kept, design, check)
    assert not of(dropped, design, check)


@each(
    ("nodes", "ports", "leaves", "wrong"),
    [
        (27, 64, 4, False),  # two rails of 27 on each switch
        (27, 64, 3, True),  # three rails of 27 are 81 ports
        (32, 64, 4, False),
        (33, 64, 4, True),  # two rails of 33 are 66 ports
        (13, 40, 3, False),  # three, three and two rails of 13
        (13, 40, 2, True),
        (10, 64, 2, False),
    ],
)
def test_whole_rails_share_a_switch(nodes: int, ports: int, leaves: int, wrong: bool, check: Check) -> None:
    rails = "technology: infiniband-ndr, topology: rail-only, rails: 8, tiers: 1"
    fabric = f"{rails}, switch_ports: {ports}, leaf_switches: {leaves}"
    text = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: {nodes}, scale_out: {{{fabric}}}}}\n"
    assert any(one.rule == "too-few-switches" for one in check(text, "too-few-switches")) == wrong


@each(
    ("spines", "extra", "wrong"),
    [
        (3, 0, False),  # 24 down and 24 up of 64 ports, 192 uplinks = 3 x 64
        (3, 2, False),  # two hosts share the uplinks of the nodes
        (2, 2, True),  # 128 of 192 uplinks
    ],
)
def test_extra_endpoints_share_the_uplinks_of_the_nodes(spines: int, extra: int, wrong: bool, check: Check) -> None:
    rails = "technology: infiniband-ndr, topology: rail-optimized, rails: 8, switch_ports: 64, leaf_switches: 8"
    fabric = f"{rails}, spine_switches: {spines}, extra_endpoints: {extra}"
    text = f"clusterspec: 1\ncluster: {{platform: dgx-h200, nodes: 24, scale_out: {{{fabric}}}}}\n"
    assert any(one.rule == "too-few-switches" for one in check(text, "too-few-switches")) == wrong


ACS = (
    "clusterspec: 1\ncluster: {{accelerator: rtx-pro-6000, accelerators_per_node: 4, nodes: 1, host: {{acs: true}}}}\n"
    "workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 900, output_tokens: 9, concurrency: 4}}}}\n"
    "layout: {{framework: vllm, tp: {tp}, dp: {dp}}}\n"
)


@each(("tp", "dp", "wrong"), [(1, 4, False), (2, 2, True), (4, 1, True)])
def test_access_control_slows_only_accelerators_that_talk(tp: int, dp: int, wrong: bool, check: Check) -> None:
    found = check(ACS.format(tp=tp, dp=dp))
    assert any(one.rule == "peer-traffic-through-host" for one in found) == wrong


PAIRS = (
    "clusterspec: 1\ncluster: {{platform: mi300x-ubb8, nodes: 1}}\n"
    "workload:\n  kind: serve\n  model: llama-3.3-70b\n"
    "  serving: {{input_tokens: 2000, output_tokens: 500, concurrency: 64{targets}}}\n"
    "layout: {{framework: vllm, tp: 2, dp: 4}}\n"
)


@each(
    ("targets", "severity"),
    [("", "warning"), (", targets: {tpot: {p50: 500 ms}}", "note"), (", targets: {tpot: {p50: 5 ms}}", "warning")],
)
def test_pairs_of_a_mesh_that_meet_their_targets_are_noted(targets: str, severity: str, check: Check) -> None:
    found = check(PAIRS.format(targets=targets))
    assert [one.severity for one in found if one.rule == "partial-mesh-group"] == [severity]


TRAYS = (
    "clusterspec: 1\ncluster: {{platform: gb300-nvl72, nodes: 36}}\n"
    "workload: {{model: deepseek-v3, sequence_length: 4096, global_batch: 4096, precision: fp8}}\n"
    "layout: {{framework: megatron-core, nodes: 32, tp: 1, pp: 1, ep: 32, dispatcher: hybrid, micro_batch: 1{more}\n"
    "  overlap: {{ep: true}}}}\n"
)


@each(("more", "wrong"), [(",", True), (", nodes_per_domain: 16,", False)])  # 18 trays are 72 ranks, 16 are 64
def test_groups_that_fit_a_domain_do_not_straddle_two(more: str, wrong: bool, check: Check) -> None:
    found = check(TRAYS.format(more=more))
    loud = [one for one in found if one.rule == "ep-crosses-scale-up-domain" and one.severity != "note"]
    assert bool(loud) == wrong
