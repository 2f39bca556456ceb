"""Engines of a job on another machine: their nodes, their accelerators and the link, worked by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.cluster.model import Design
from clusterspec.cluster.sites import (
    accelerators_away,
    design_on_pool,
    job_accelerators,
    link_to_named_pool,
    machine_of,
    prefill_design,
)
from clusterspec.records import replace
from tests.cluster.resolving import resolve_text
from tests.effort import each

POOLS = {"prompts": {"platform": "dgx-a100", "nodes": 9}, "own": {"platform": "dgx-h100", "nodes": 2}}


def serving(prefill: dict[str, Any] | None, decode: dict[str, Any] | None = None) -> Design:
    """Two decode engines of 8 ranks on two nodes of eight, and prefill engines as stated."""
    disaggregated = {"prefill": prefill, "decode": {"replicas": 2, "tp": 8} | (decode or {})}
    spec: dict[str, Any] = {
        "cluster": {"platform": "dgx-h100", "nodes": 2},
        "pools": POOLS,
        "pool_links": [
            {"between": ["own", "elsewhere"], "fabric": "shared"},
            {"between": ["decode", "prompts"], "bandwidth": "100 GB/s unidirectional"},
        ],
        "workload": {
            "kind": "serve",
            "model": "llama-3.1-8b",
            "serving": {"input_tokens": 1000, "output_tokens": 100, "request_rate": 1},
        },
        "layout": {"framework": "vllm", "nodes": 2, "tp": 8, "dp": 2},
    }
    if prefill is not None:
        spec["layout"] = {"framework": "vllm"}
        spec["workload"]["serving"]["disaggregated"] = disaggregated
    design, _ = resolve_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items()))
    assert design.layout is not None
    return design


@each(
    ("prefill", "ranks", "nodes", "machine"),
    [
        ({"replicas": 3, "tp": 4, "pool": "prompts"}, 12, 2, "dgx-a100"),  # 12 ranks on nodes of 8
        ({"replicas": 2, "tp": 4, "pool": "prompts"}, 8, 1, "dgx-a100"),
        ({"replicas": 5, "tp": 8, "pool": "prompts"}, 40, 5, "dgx-a100"),
    ],
)
def test_prefill_engines_of_a_pool_take_as_few_of_its_nodes_as_hold_them(
    prefill: dict[str, Any], ranks: int, nodes: int, machine: str
) -> None:
    design = serving(prefill)
    found = prefill_design(design)
    assert found is not None and found.cluster is not None and found.layout is not None
    assert found.cluster.platform is not None
    assert (found.cluster.platform.id, found.layout.ranks, found.layout.nodes) == (machine, ranks, nodes)
    assert accelerators_away(design) == {"prompts": ranks}
    assert job_accelerators(design) == 16 + ranks, "two decode engines of 8"


def test_prefill_engines_of_the_same_machine_are_not_away() -> None:
    design = serving({"replicas": 1, "tp": 4}, {"replicas": 1})
    found = prefill_design(design)
    assert found is not None and found.layout is not None and found.cluster is not None
    assert (found.layout.ranks, found.cluster.platform) == (4, design.cluster and design.cluster.platform)
    assert (accelerators_away(design), job_accelerators(design)) == ({}, 12)


def test_without_separate_engines_no_design_and_nothing_away() -> None:
    design = serving(None)
    assert prefill_design(design) is None
    assert design.workload is not None
    assert prefill_design(replace(design, workload=None)) is None
    assert prefill_design(replace(design, workload=replace(design.workload, serving=None))) is None
    assert (accelerators_away(design), job_accelerators(design)) == ({}, 16)


def test_a_pool_is_a_machine_of_the_spec_without_its_work() -> None:
    design = serving({"replicas": 1, "tp": 4, "pool": "prompts"})
    found = machine_of(design, "prompts")
    assert found is not None and found.platform is not None and found.platform.id == "dgx-a100"
    assert machine_of(design, "elsewhere") is None
    with pytest.raises(ValueError, match="no pool 'elsewhere'"):
        design_on_pool(design, "elsewhere", {})
    moved = design_on_pool(design, "own", {("cluster", "nodes"): 7})
    assert moved.cluster is not None and moved.cluster.nodes == 7
    assert moved.spec.pools is None and moved.spec.pool_links is None


def test_a_link_joins_the_pools_that_it_names() -> None:
    spec = serving({"replicas": 1, "tp": 4, "pool": "prompts"}).spec
    found = link_to_named_pool(spec, "prompts")
    assert found is not None and found.bandwidth is not None and found.bandwidth.per_direction == 100e9
    shared = link_to_named_pool(spec, "own")
    assert shared is not None and shared.bandwidth is None
    assert link_to_named_pool(spec, "nowhere") is None


def test_roles_on_pools_count_all_accelerators_of_their_nodes() -> None:
    """Rollout on three nodes of eight and a reward model on two others of the same pool."""
    rl = {"prompts_per_step": 60, "samples_per_prompt": 8, "input_tokens": 500, "output_tokens": {"mean": 1500}}
    spec = {
        "cluster": {"platform": "dgx-h100", "nodes": 4},
        "pools": POOLS,
        "workload": {
            "kind": "rl",
            "model": "qwen2.5-7b",
            "rl": rl
            | {
                "rollout": {"pool": "prompts", "nodes": 3},
                "reward": {"model": "llama-3.1-8b", "pool": "prompts", "nodes": 2},
            },
        },
        "layout": {"framework": "megatron-core", "tp": 2},
    }
    design, _ = resolve_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items()))
    assert accelerators_away(design) == {"prompts": 40}
    assert job_accelerators(design) == 32 + 40
