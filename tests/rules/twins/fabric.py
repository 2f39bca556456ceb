"""The networks of a machine: flaws and their near misses."""

from __future__ import annotations

from tests.rules.twins.pods import Twin

TWINS: list[Twin] = [
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
        {"cluster.scale_out.leaf_switches": 16, "cluster.scale_out.switch": "quantum-2-qm9790"},
        "cluster.nodes",
        {"cluster.scale_out.leaf_switches": 16},  # a managed switch runs the manager
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
]
