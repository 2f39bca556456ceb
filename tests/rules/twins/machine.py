"""Figures, parts and nodes: flaws and their near misses."""

from __future__ import annotations

from tests.rules.twins.pods import Twin

TWINS: list[Twin] = [
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
]
