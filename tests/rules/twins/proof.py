"""What is measured, asked for, bought and run: flaws and their near misses."""

from __future__ import annotations

from tests.rules.twins.pods import Twin

TWINS: list[Twin] = [
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
        {"operations.checkpoint_time": "241 s"},
        "operations.checkpoint_time",
        {"operations.checkpoint_time": "240 s"},
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
