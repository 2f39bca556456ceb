"""What runs between the projections of queries and keys and the core: norms of heads and rotary embedding."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.compute import Shard, Work
from clusterspec.cost.compute.attention import position_work
from tests.cost.plans import design, spec


def work_of(model: str, **layout: Any) -> tuple[Work, float]:
    """The work, and the bytes of the queries and keys of a micro-batch."""
    found = design(spec(workload={"model": model, "sequence_length": 2048}, layout={"tp": 1, **layout}))
    assert found.workload and found.layout
    shard = Shard.of(found.workload, found.layout)
    return position_work(shard), 2 * 2048 * (shard.heads + shard.kv_heads) * shard.model.head_dim


@pytest.mark.parametrize("model", ["gpt3-175b", "mt-nlg-530b"])
def test_learned_positions_rotate_nothing(model: str) -> None:
    assert work_of(model)[0] == Work()


def test_rotation_reads_and_writes_queries_and_keys_once() -> None:
    work, moved = work_of("llama-3.1-8b")
    assert [(kernel.name, kernel.traffic) for kernel in work.forward] == [("rotary embedding", 2 * moved)]
    assert [kernel.traffic for kernel in work.backward] == [2 * moved]


def test_norms_of_heads_read_and_write_them_once_more() -> None:
    work, moved = work_of("qwen3-8b", framework="fsdp", fused_kernels=False)
    assert [kernel.traffic for kernel in work.forward] == [2 * moved, 2 * moved]
    assert [kernel.traffic for kernel in work.backward] == [3 * moved, 2 * moved]
    assert [kernel.launches for kernel in work.forward] == [2, 1]


@pytest.mark.parametrize(
    "layout", [{}, {"framework": "maxtext", "software_year": 2026}, {"framework": "torchtitan", "fused_kernels": True}]
)
def test_fitted_and_fused_kernels_include_norms_of_heads(layout: dict[str, Any]) -> None:
    work, moved = work_of("qwen3-8b", **layout)
    assert [kernel.traffic for kernel in work.forward] == [2 * moved]
