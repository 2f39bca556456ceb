"""Plans for the tests of time: short specs, resolved and estimated."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.studies import study_text
from tests.settings import SETTINGS

LLAMA = "llama-3.1-8b"
MIXTRAL = "mixtral-8x7b"


def spec(cluster: dict[str, Any] | None = None, **sections: dict[str, Any]) -> dict[str, Any]:
    """Four DGX H100 that train Llama 3.1 8B, with some keys changed; a key set to None is left out."""
    whole: dict[str, dict[str, Any]] = {
        "cluster": {"platform": "dgx-h100", "nodes": 4},
        "workload": {"model": LLAMA, "sequence_length": 8192, "global_batch": 128},
        "layout": {"framework": "megatron-core", "software_year": 2025, "tp": 2, "micro_batch": 1},
    }
    for name, changes in {"cluster": cluster or {}, **sections}.items():
        merged = {**whole[name], **changes}
        whole[name] = {key: value for key, value in merged.items() if value is not None}
    return {"clusterspec": 1, "name": "test", **whole}


def design(described: dict[str, Any]) -> Design:
    """The design of a spec given as a mapping (JSON is YAML)."""
    return _design(json.dumps(described))


@cache
def _design(text: str) -> Design:
    found = study_text(text, SETTINGS).design
    assert found is not None
    return found


def plan(cluster: dict[str, Any] | None = None, **sections: dict[str, Any]) -> Plan:
    """The plan of `spec` with these changes."""
    return estimate(design(spec(cluster, **sections)))


def seconds(cluster: dict[str, Any] | None = None, **sections: dict[str, Any]) -> float:
    """Seconds of one step."""
    time = plan(cluster, **sections).step_time
    assert time is not None
    return time.value
