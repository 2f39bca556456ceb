"""A planted flaw is found at the right key by the right rule, and its near-miss twin stays silent."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from clusterspec.source import dotted

from .conftest import Check

Changes = dict[str, Any]

PODS: dict[str, dict[str, Any]] = {
    "h100": {
        "clusterspec": 1,
        "cluster": {"platform": "dgx-h100", "nodes": 16},
        "workload": {"model": "llama-3.1-70b", "sequence_length": 8192, "global_batch": 512},
        "layout": {"tp": 8, "pp": 2},
    },
    "moe": {
        "clusterspec": 1,
        "cluster": {"platform": "dgx-h100", "nodes": 8},
        "workload": {"model": "mixtral-8x7b", "sequence_length": 4096, "global_batch": 256},
        "layout": {"tp": 2, "ep": 4, "expert_tp": 1},
    },
    "rack": {
        "clusterspec": 1,
        "cluster": {"platform": "gb200-nvl72", "nodes": 36},
        "workload": {"model": "llama-3.1-70b", "sequence_length": 8192, "global_batch": 288},
        "layout": {"tp": 8, "pp": 2},
    },
    "mi250x": {
        "clusterspec": 1,
        "cluster": {"platform": "mi250x-4", "nodes": 16},
        "workload": {"model": "llama-3.1-8b", "sequence_length": 4096, "global_batch": 256},
        "layout": {"tp": 8},
    },
    "fabric": {
        "clusterspec": 1,
        "cluster": {
            "platform": "dgx-h100",
            "nodes": 64,
            "scale_out": {"technology": "infiniband-ndr", "switch": "quantum-2-qm9700", "topology": "rail-optimized"},
        },
    },
    "cloud": {
        "clusterspec": 1,
        "cluster": {
            "platform": "aws-p5-48xlarge",
            "nodes": 8,
            "scale_out": {"collective_plugin": "aws-ofi-nccl", "placement": "cluster-placement-group"},
        },
    },
    "slingshot": {
        "clusterspec": 1,
        "cluster": {"platform": "mi250x-4", "nodes": 16, "scale_out": {"technology": "slingshot-11"}},
    },
    "ops": {
        "clusterspec": 1,
        "cluster": {"platform": "dgx-h100", "nodes": 64, "spare_nodes": 6},
        "operations": {
            "checkpoint_interval": "40 min",
            "checkpoint_time": "60 s",
            "mean_time_between_failures": "12 h",
            "repair_time": "24 h",
            "burn_in": "72 h",
        },
    },
}

TWINS: list[tuple[str, str, Changes, str, Changes]] = [
    # rule, pod, what plants it, where it is told, what its twin has instead
    ("world-size-mismatch", "h100", {"layout.pp": 3}, "layout.pp", {"layout.pp": 4}),
    ("world-size-mismatch", "h100", {"layout.nodes": 17}, "layout.nodes", {"layout.nodes": 16}),
    (
        "world-size-mismatch",
        "h100",
        {"layout.nodes": 5, "layout.pp": 4},
        "layout.pp",
        {"layout.nodes": 8, "layout.pp": 4},
    ),
    ("world-size-mismatch", "h100", {"layout.dp": 16}, "layout.dp", {"layout.dp": 8}),
    ("world-size-mismatch", "mi250x", {"layout.tp": 8, "layout.dp": 8}, "layout.dp", {"layout.dp": 16}),
    ("world-size-mismatch", "rack", {"layout.pp": 32}, "layout.pp", {"layout.pp": 16, "layout.nodes_per_domain": 16}),
    ("heads-indivisible-by-tp", "h100", {"layout.tp": 6}, "layout.tp", {"layout.tp": 4}),
    (
        "heads-indivisible-by-tp",
        "h100",
        {"workload.kind": "serve", "layout.tp": 3, "cluster.nodes": 3},
        "layout.tp",
        {"workload.kind": "serve", "layout.tp": 2},
    ),
    (
        "kv-heads-indivisible-by-tp",
        "rack",
        {"layout.framework": "torchtitan", "layout.tp": 16, "layout.nodes_per_domain": 16},
        "layout.tp",
        {"layout.framework": "megatron-core", "layout.tp": 16, "layout.nodes_per_domain": 16},
    ),
    (
        "global-batch-indivisible",
        "h100",
        {"workload.global_batch": 500},
        "workload.global_batch",
        {"workload.global_batch": 504},
    ),
    ("global-batch-indivisible", "h100", {"layout.micro_batch": 3}, "workload.global_batch", {"layout.micro_batch": 4}),
    ("layers-indivisible-by-pp", "moe", {"layout.pp": 3, "cluster.nodes": 6}, "layout.pp", {"layout.pp": 4}),
    (
        "layers-indivisible-by-pp",
        "moe",
        {"layout.pp": 3, "cluster.nodes": 6},
        "layout.pp",
        {"layout.pp": 3, "cluster.nodes": 6, "layout.stage_layers": [11, 11, 10]},
    ),
    (
        "stage-layers-mismatch",
        "h100",
        {"layout.stage_layers": [40, 41]},
        "layout.stage_layers",
        {"layout.stage_layers": [41, 39]},
    ),
    (
        "stage-layers-mismatch",
        "h100",
        {"layout.stage_layers": [20, 20, 40]},
        "layout.stage_layers",
        {"layout.stage_layers": [20, 20, 20, 20], "layout.virtual_stages": 2},
    ),
    (
        "layers-indivisible-by-stages",
        "h100",
        {"layout.virtual_stages": 3},
        "layout.virtual_stages",
        {"layout.virtual_stages": 4},
    ),
    (
        "microbatches-indivisible-by-pp",
        "h100",
        {"layout.pp": 4, "layout.virtual_stages": 2, "workload.global_batch": 40},
        "workload.global_batch",
        {"layout.pp": 4, "layout.virtual_stages": 2, "workload.global_batch": 48},
    ),
    (
        "microbatches-indivisible-by-pp",
        "h100",
        {"layout.framework": "maxtext", "layout.sharding": "zero1", "layout.pp": 4, "workload.global_batch": 40},
        "workload.global_batch",
        {"layout.framework": "torchtitan", "layout.sharding": "zero1", "layout.pp": 4, "workload.global_batch": 40},
    ),
    (
        "schedule-stage-mismatch",
        "h100",
        {"layout.schedule": "1f1b", "layout.virtual_stages": 2},
        "layout.schedule",
        {"layout.schedule": "zero-bubble", "layout.virtual_stages": 2},
    ),
    (
        "sequence-indivisible-by-cp",
        "h100",
        {"layout.cp": 2, "workload.sequence_length": 8190},
        "workload.sequence_length",
        {"layout.cp": 2, "workload.sequence_length": 8192},
    ),
    (
        "sequence-indivisible-by-cp",
        "h100",
        {"layout.cp": 2, "workload.sequence_length": 8178},
        "workload.sequence_length",
        {"layout.cp": 2, "layout.cp_method": "all-to-all", "workload.sequence_length": 8208},
    ),
    (
        "sequence-indivisible-by-tp",
        "h100",
        {"workload.sequence_length": 8196},
        "workload.sequence_length",
        {"workload.sequence_length": 8196, "layout.sequence_parallel": False},
    ),
    (
        "shard-group-not-dividing-dp",
        "h100",
        {"layout.pp": 1, "layout.sharding": "hsdp", "layout.shard_group": 6},
        "layout.shard_group",
        {"layout.pp": 1, "layout.sharding": "hsdp", "layout.shard_group": 4},
    ),
    (
        "sharding-forbids-pipeline",
        "h100",
        {"layout.framework": "deepspeed", "layout.sharding": "zero2"},
        "layout.sharding",
        {"layout.framework": "deepspeed", "layout.sharding": "zero1"},
    ),
    ("experts-indivisible-by-ep", "moe", {"layout.ep": 16}, "layout.ep", {"layout.ep": 8}),
    ("ep-without-experts", "h100", {"layout.ep": 2}, "layout.ep", {"layout.ep": 1}),
    (
        "ep-not-dividing-ranks",
        "moe",
        {"cluster.nodes": 3, "layout.tp": 8, "layout.ep": 8, "layout.expert_tp": 4},
        "layout.ep",
        {"cluster.nodes": 3, "layout.tp": 8, "layout.ep": 8, "layout.expert_tp": 1},
    ),
    (
        "ep-not-dividing-ranks",
        "moe",
        {"layout.framework": "deepspeed", "layout.tp": 8, "layout.ep": 16},
        "layout.ep",
        {"layout.framework": "deepspeed", "layout.tp": 8, "layout.ep": 8},
    ),
    (
        "ep-tp-without-sequence-parallel",
        "moe",
        {"layout.sequence_parallel": False},
        "layout.sequence_parallel",
        {"layout.sequence_parallel": False, "layout.framework": "torchtitan"},
    ),
    ("tp-crosses-scale-up-domain", "h100", {"layout.tp": 16}, "layout.tp", {"layout.tp": 8}),
    ("tp-crosses-scale-up-domain", "mi250x", {"layout.tp": 16}, "layout.tp", {"layout.tp": 8}),
    (
        "tp-straddles-scale-up-domain",
        "rack",
        {"layout.tp": 16, "layout.pp": 1},
        "layout.tp",
        {"layout.tp": 16, "layout.pp": 1, "layout.nodes_per_domain": 16},
    ),
    (
        "tp-straddles-scale-up-domain",
        "h100",
        {"layout.pp": 1, "layout.order": ["dp", "tp", "cp", "ep", "pp"]},
        "layout.order",
        {"layout.pp": 1, "layout.order": ["tp", "dp", "cp", "ep", "pp"]},
    ),
    ("ep-crosses-scale-up-domain", "moe", {"layout.expert_tp": 4}, "layout.ep", {"layout.expert_tp": 2}),
    ("ep-crosses-scale-up-domain", "moe", {"layout.order": ["tp", "dp", "ep", "cp", "pp"]}, "layout.ep", {}),
    ("cp-crosses-scale-up-domain", "h100", {"layout.cp": 2}, "layout.cp", {"layout.cp": 2, "layout.tp": 4}),
    (
        "rack-domain-misaligned",
        "rack",
        {"layout.cp": 2},
        "layout.cp",
        {"layout.cp": 2, "layout.nodes_per_domain": 16},
    ),
    (
        "domain-not-whole-nodes",
        "rack",
        {"cluster.scale_up.domain": 70},
        "cluster.scale_up.domain",
        {"cluster.scale_up.domain": 64},
    ),
    (
        "partial-mesh-group",
        "h100",
        {"cluster.platform": "mi300x-ubb8", "layout.tp": 4},
        "layout.tp",
        {"cluster.platform": "mi300x-ubb8", "layout.tp": 8},
    ),
    (
        "partial-mesh-group",
        "h100",
        {"cluster.platform": "mi300x-ubb8", "layout": {"sharding": "hsdp", "shard_group": 4}},
        "layout.shard_group",
        {"cluster.platform": "mi300x-ubb8", "layout": {"sharding": "hsdp", "shard_group": 8}},
    ),
    (
        "tp-not-innermost",
        "h100",
        {"layout.tp": 4, "layout.cp": 2, "layout.order": ["cp", "tp", "ep", "dp", "pp"]},
        "layout.order",
        {"layout.tp": 4, "layout.cp": 2, "layout.order": ["tp", "cp", "ep", "dp", "pp"]},
    ),
    (
        "hsdp-mesh-inverted",
        "h100",
        {
            "layout": {
                "sharding": "hsdp",
                "shard_group": 8,
                "order": ["tp", "cp", "ep", "dp_replicate", "dp_shard", "pp"],
            }
        },
        "layout.order",
        {
            "layout": {
                "sharding": "hsdp",
                "shard_group": 8,
                "order": ["tp", "cp", "ep", "dp_shard", "dp_replicate", "pp"],
            }
        },
    ),
    ("pipeline-bubble", "h100", {"layout.pp": 16, "workload.global_batch": 64}, "layout.pp", {"layout.pp": 16}),
    (
        "fewer-microbatches-than-stages",
        "h100",
        {"workload.global_batch": 8},
        "layout.pp",
        {"workload.global_batch": 16},
    ),
    ("states-exceed-memory", "h100", {"layout.pp": 1, "layout.sharding": "none"}, "layout.sharding", {}),
    ("logits-fill-memory", "h100", {"layout.micro_batch": 32}, "layout.micro_batch", {"layout.micro_batch": 8}),
    (
        "dp-overlap-off",
        "h100",
        {"layout.overlap": {"dp": False}},
        "layout.overlap.dp",
        {"layout.overlap": {"dp": True}},
    ),
    (
        "precision-unsupported",
        "h100",
        {"workload.precision": "fp4"},
        "workload.precision",
        {"workload.precision": "fp8"},
    ),
    (
        "precision-unsupported",
        "h100",
        {"cluster.platform": "dgx-a100", "workload.precision": "fp8"},
        "workload.precision",
        {"cluster.platform": "dgx-a100", "workload.precision": "fp16"},
    ),
    (
        "accelerators-miscounted",
        "h100",
        {"cluster.accelerators": 120},
        "cluster.accelerators",
        {"cluster.accelerators": 128},
    ),
    (
        "accelerators-miscounted",
        "mi250x",
        {"cluster.accelerators": 128},
        "cluster.accelerators",
        {"cluster.accelerators": 64, "cluster.spare_nodes": 2},
    ),
    (
        "contradicts-platform",
        "h100",
        {"cluster.scale_up.domain": 4},
        "cluster.scale_up.domain",
        {"cluster.scale_up.domain": 8},
    ),
    ("contradicts-platform", "h100", {"cluster.pcie": 6}, "cluster.pcie", {"cluster.pcie": 5}),
    ("nics-not-of-instance", "cloud", {"cluster.scale_out.nics_per_node": 40}, "cluster.scale_out.nics_per_node", {}),
    (
        "fewer-nics-than-instance",
        "cloud",
        {"cluster.scale_out.nics_per_node": 4},
        "cluster.scale_out.nics_per_node",
        {"cluster.scale_out.nics_per_node": 32},
    ),
    (
        "missing-collective-plugin",
        "cloud",
        {"cluster.scale_out.collective_plugin": "nccl-fastrak"},
        "cluster.scale_out.collective_plugin",
        {},
    ),
    (
        "missing-collective-plugin",
        "slingshot",
        {"cluster.scale_out.collective_plugin": "aws-ofi-nccl"},
        "cluster.scale_out.collective_plugin",
        {"cluster.scale_out.collective_plugin": "aws-ofi-rccl"},
    ),
    ("no-placement-policy", "cloud", {"cluster.scale_out.placement": "none"}, "cluster.scale_out.placement", {}),
    (
        "no-placement-policy",
        "cloud",
        {"cluster": {"platform": "azure-nd-gb200-v6", "nodes": 36}},
        "cluster.scale_out.placement",
        {"cluster": {"platform": "azure-nd-gb200-v6", "nodes": 18}},
    ),
    (
        "endpoints-exceed-fabric",
        "fabric",
        {"cluster.scale_out.topology": "rail-only", "cluster.nodes": 65},
        "cluster.scale_out.topology",
        {"cluster.scale_out.topology": "rail-only", "cluster.nodes": 64},
    ),
    (
        "endpoints-exceed-fabric",
        "fabric",
        {"cluster.scale_out.topology": "single-switch", "cluster.nodes": 9},
        "cluster.scale_out.topology",
        {"cluster.scale_out.topology": "single-switch", "cluster.nodes": 8},
    ),
    (
        "endpoints-exceed-fabric",
        "fabric",
        {"cluster.scale_out.tiers": 2, "cluster.nodes": 257},
        "cluster.scale_out.tiers",
        {"cluster.scale_out.tiers": 2, "cluster.nodes": 384, "cluster.scale_out.oversubscription": "3:1"},
    ),
    (
        "too-few-switches",
        "fabric",
        {"cluster.scale_out.leaf_switches": 15},
        "cluster.scale_out.leaf_switches",
        {"cluster.scale_out.leaf_switches": 16},
    ),
    (
        "too-few-switches",
        "fabric",
        {"cluster.scale_out.spine_switches": 7},
        "cluster.scale_out.spine_switches",
        {"cluster.scale_out.spine_switches": 8},
    ),
    (
        "too-few-switches",
        "fabric",
        {"cluster.scale_out.planes": 2, "cluster.scale_out.leaf_switches": 8},
        "cluster.scale_out.leaf_switches",
        {"cluster.scale_out.planes": 2, "cluster.scale_out.leaf_switches": 16},
    ),
    (
        "too-few-cables",
        "fabric",
        {"cluster.scale_out.links": {"node_leaf": 511}},
        "cluster.scale_out.links.node_leaf",
        {"cluster.scale_out.links": {"node_leaf": 512}},
    ),
    (
        "too-few-cables",
        "fabric",
        {"cluster.scale_out.cables": {"leaf_spine": 256}},
        "cluster.scale_out.cables.leaf_spine",
        {"cluster.scale_out.cables": {"leaf_spine": 256}, "cluster.scale_out.links_per_cable": {"leaf_spine": 2}},
    ),
    (
        "uneven-spine-uplinks",
        "fabric",
        {"cluster.scale_out.leaf_switches": 16, "cluster.scale_out.spine_switches": 10},
        "cluster.scale_out.spine_switches",
        {"cluster.scale_out.leaf_switches": 16, "cluster.scale_out.spine_switches": 16},
    ),
    (
        "switch-of-another-technology",
        "fabric",
        {"cluster.scale_out.switch": "quantum-qm8700"},
        "cluster.scale_out.switch",
        {"cluster.scale_out.switch": "quantum-x800-q3400"},
    ),
    (
        "injection-called-bisection",
        "fabric",
        {"cluster.scale_out.bisection": "25.6 TB/s"},
        "cluster.scale_out.bisection",
        {"cluster.scale_out.bisection": "25.6 TB/s duplex"},
    ),
    (
        "injection-called-bisection",
        "fabric",
        {"cluster.scale_out.bisection": "12.8 TB/s", "cluster.scale_out.oversubscription": "2:1"},
        "cluster.scale_out.bisection",
        {"cluster.scale_out.bisection": "6.4 TB/s", "cluster.scale_out.oversubscription": "2:1"},
    ),
    (
        "no-port-for-fabric-manager",
        "fabric",
        {"cluster.scale_out.leaf_switches": 16},
        "cluster.nodes",
        {"cluster.scale_out.leaf_switches": 16, "cluster.nodes": 63},
    ),
    (
        "shared-nic",
        "fabric",
        {"cluster.scale_out.nics_per_node": 4},
        "cluster.scale_out.nics_per_node",
        {"cluster.scale_out.nics_per_node": 8},
    ),
    (
        "shared-nic",
        "slingshot",
        {"cluster.scale_out.nics_per_node": 2},
        "cluster.scale_out.nics_per_node",
        {"cluster.scale_out.nics_per_node": 4},
    ),
    (
        "oversubscribed-fabric",
        "h100",
        {"cluster.scale_out": {"oversubscription": "2:1"}},
        "cluster.scale_out.oversubscription",
        {"cluster.scale_out": {"oversubscription": "1:2"}},
    ),
    (
        "oversubscribed-fabric",
        "h100",
        {
            "cluster.nodes": 64,
            "layout.nodes": 32,
            "cluster.scale_out": {"levels": [{"nodes": 16, "oversubscription": "4:1"}, {"nodes": 64}]},
        },
        "cluster.scale_out.levels",
        {
            "cluster.nodes": 64,
            "layout.nodes": 16,
            "cluster.scale_out": {"levels": [{"nodes": 16, "oversubscription": "4:1"}, {"nodes": 64}]},
        },
    ),
    (
        "checkpoint-interval-off-optimum",
        "ops",
        {"operations.checkpoint_interval": "4 h"},
        "operations.checkpoint_interval",
        {"operations.checkpoint_interval": "70 min"},
    ),
    (
        "checkpoint-interval-off-optimum",
        "ops",
        {
            "operations.checkpoint_interval": "4 h",
            "operations.mean_time_between_failures": None,
            "operations.node_mtbf": "768 h",
        },
        "operations.checkpoint_interval",
        {
            "operations.checkpoint_interval": "40 min",
            "operations.mean_time_between_failures": None,
            "operations.node_mtbf": "768 h",
        },
    ),
    (
        "checkpoint-outlasts-interval",
        "ops",
        {"operations.checkpoint_time": "40 min"},
        "operations.checkpoint_time",
        {"operations.checkpoint_time": "39 min"},
    ),
    ("too-few-spares", "ops", {"cluster.spare_nodes": 4}, "cluster.spare_nodes", {"cluster.spare_nodes": 5}),
    (
        "rack-over-power-limit",
        "ops",
        {"cluster.power": {"rack_limit": "40 kW", "nodes_per_rack": 4}},
        "cluster.power.nodes_per_rack",
        {"cluster.power": {"rack_limit": "41 kW", "nodes_per_rack": 4}},
    ),
    (
        "acceptance-above-ceiling",
        "fabric",
        {"acceptance": [{"collective": "all-to-all", "nodes": 4, "size": "8 GiB", "busbw": "100 GB/s"}]},
        "acceptance[0].busbw",
        {"acceptance": [{"collective": "all-to-all", "nodes": 4, "size": "8 GiB", "busbw": "60 GB/s"}]},
    ),
    (
        "acceptance-above-ceiling",
        "fabric",
        {"acceptance": [{"collective": "all-gather", "nodes": 1, "size": "8 GiB", "busbw": "480 GB/s"}]},
        "acceptance[0].busbw",
        {"acceptance": [{"collective": "all-reduce", "nodes": 1, "size": "8 GiB", "busbw": "480 GB/s"}]},
    ),
    (
        "acceptance-above-ceiling",
        "fabric",
        {"acceptance": [{"collective": "all-reduce", "nodes": 4, "size": "8 GiB", "algbw": "340 GB/s"}]},
        "acceptance[0].algbw",
        {"acceptance": [{"collective": "all-reduce", "nodes": 4, "size": "8 GiB", "algbw": "180 GB/s"}]},
    ),
    (
        "acceptance-on-two-nodes",
        "fabric",
        {"acceptance": [{"collective": "all-reduce", "nodes": 2, "size": "8 GiB", "busbw": "340 GB/s"}]},
        "acceptance[0].nodes",
        {"acceptance": [{"collective": "all-gather", "nodes": 2, "size": "8 GiB", "busbw": "340 GB/s"}]},
    ),
]


def spec(pod: str, changes: Changes) -> str:
    """A pod with some keys changed, None deleting one, as JSON: every JSON document is YAML."""
    value = copy.deepcopy(PODS[pod])
    for path, new in changes.items():
        *parents, last = path.split(".")
        inner = value
        for key in parents:
            inner = inner.setdefault(key, {})
        if new is None:
            inner.pop(last, None)
        else:
            inner[last] = new
    return json.dumps(value, indent=1)


def places(text: str, rule: str, check: Check) -> list[str]:
    findings = check(text)
    assert not [finding for finding in findings if finding.rule in {"unknown-key", "wrong-type", "unknown-catalog-id"}]
    return [dotted(finding.path) for finding in findings if finding.rule == rule]


@pytest.mark.parametrize(("rule", "pod", "flaw", "at", "twin"), TWINS)
def test_a_flaw_is_told_and_its_twin_is_not(
    rule: str, pod: str, flaw: Changes, at: str, twin: Changes, check: Check
) -> None:
    assert places(spec(pod, flaw), rule, check) == [at]
    assert places(spec(pod, twin), rule, check) == []
