"""Layers of multi-token prediction that a training run adds to its model."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost import parameters
from clusterspec.cost.layers import further_layers, stage_chunks
from clusterspec.cost.plan import Plan
from tests.cost.plans import design, plan, spec
from tests.effort import telling

H, FFN, V, L = 1024, 4096, 32000, 8
DENSE = {"layers": L, "hidden": H, "heads": 8, "kv_heads": 8, "ffn_hidden": FFN, "vocab": V, "gated_ffn": True}
LAYER = 4 * H * H + 3 * H * FFN
"""Weights of the matrices of one layer."""
JOIN = 2 * H * H
"""Weights that join a hidden state of H numbers and an embedding of as many."""


def of(predicted: int | None, model: Any = DENSE, **layout: Any) -> Plan:
    work: dict[str, Any] = {"model": model, "sequence_length": 4096, "global_batch": 64}
    return plan(workload=work | ({"predicted_layers": predicted} if predicted is not None else {}), layout=layout)


def test_a_layer_of_prediction_multiplies_with_a_join_a_layer_and_a_head() -> None:
    """6 operations for each weight, and the attention of one layer more than 8."""
    one, more = (of(n).design.workload for n in (0, 1))
    assert one and more
    plain, longer = (parameters.model_flops_per_token(each.model, 4096) for each in (one, more))
    assert longer - plain == pytest.approx(6 * (JOIN + LAYER + V * H) + 12 * 4096 * H)


def test_the_last_stage_holds_the_further_layers() -> None:
    """Four stages of two layers; the last one has three, the weights of the join, and norms: two inputs and the block
    of two, and the last one of the module.
    """
    whole = design(spec(workload={"model": DENSE, "predicted_layers": 1}, layout={"pp": 4, "tp": 1}))
    assert whole.workload and whole.layout
    model, chunks = whole.workload.model, stage_chunks(whole.workload.model, whole.layout)
    assert [sum(chunk.layers for chunk in held) for held in chunks] == [2, 2, 2, 3]
    assert len(further_layers(model)) == 1
    inner, last = (parameters.rank_share(model, whole.layout, chunks[stage]) for stage in (1, 3))
    assert last.dense == inner.dense * 1.5 + JOIN
    assert last.replicated == inner.replicated * 1.5 + (1 + 3) * H


@telling(1)
@pytest.mark.parametrize("model", [DENSE, "deepseek-v3", "nemotron-3-super", "qwen3-next-80b-a3b"])
@pytest.mark.parametrize("layout", [{"pp": 1}, {"pp": 2, "ep": 1}, {"sharding": "fsdp", "framework": "torchtitan"}])
def test_each_layer_of_prediction_takes_time_and_memory(model: Any, layout: dict[str, Any]) -> None:
    plans = [of(n, model, **layout) for n in (0, 1, 2)]
    steps = [found.step_seconds for found in plans]
    sizes = [found.memory.total.value for found in plans if found.memory]
    assert None not in steps
    assert steps == sorted(steps) and len(set(steps)) == 3  # type: ignore[type-var]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 3 or layout.get("pp", 1) > 1, "another stage may be the fullest"


def test_none_are_trained_where_the_spec_states_none() -> None:
    """An entry of the catalog names its layers of prediction; a run may leave them out, which is assumed."""
    silent, none = of(None, "nemotron-3-super"), of(0, "nemotron-3-super")
    assert silent.step_seconds == none.step_seconds
    paths = {each[0] for each in silent.design.assumptions}
    assert "workload.predicted_layers" in paths
