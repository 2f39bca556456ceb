"""Sound specs, and how to change some of their keys."""

from __future__ import annotations

import copy
import json
from typing import Any

Changes = dict[str, Any]
Twin = tuple[str, str, Changes, str, Changes]
"""A rule, a pod, the flaw planted in it, the key where it must be told of, and the change that must stay silent."""

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
