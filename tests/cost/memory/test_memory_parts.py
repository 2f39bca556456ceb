"""Parts of training memory in bytes, worked out by hand for eight layers of width 1,024 at 2,048 tokens."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.memory import Job
from clusterspec.cost.memory.fullest import memory_use
from clusterspec.cost.memory.states import _gradient_shards
from clusterspec.records import replace
from tests.cost.memory.designs import design, experts, model
from tests.designs import TRAINED, changed, layout_of, study_of, work_of

TOKENS = 2048
LAYER = 1024 * (1024 + 2 * 512 + 1024) + 3 * 1024 * 4096
"""Weights of one layer's matrices: queries, keys, values and output, and three of the feed-forward network."""
TABLE = 32_000 * 1024
NORMS = 2 * 1024
WEIGHTS = 8 * (LAYER + NORMS) + 2 * TABLE + 1024


def leaves(of: Any = None, work: dict[str, Any] | None = None, **cut: Any) -> dict[str, float]:
    found, _ = memory_use(design(of or model(), work, **cut))
    assert found is not None
    return {term.name: term.value for term in found.total.walk() if not term.parts}


def test_states_of_mixed_precision_adam() -> None:
    """Two bytes of a weight, four of its gradient, four of its master copy and eight of two moments."""
    found = leaves(sharding="none", dp=4, framework="custom", software_year=2026)
    assert found["weights_dense"] == 2 * WEIGHTS
    assert found["gradients_dense"] == found["master_weights_dense"] == 4 * WEIGHTS
    assert found["moments_dense"] == 8 * WEIGHTS


@pytest.mark.parametrize(
    ("sharding", "weights", "gradients", "optimizer"),
    [("none", 1, 1, 1), ("zero1", 1, 1, 4), ("zero2", 1, 4, 4), ("fsdp", 4, 4, 4)],
)
def test_each_kind_of_sharding_divides_more(sharding: str, weights: int, gradients: int, optimizer: int) -> None:
    found = leaves(sharding=sharding, dp=4, framework="megatron-core", software_year=2026)
    assert found["weights_dense"] == 2 * WEIGHTS / weights
    assert found["gradients_dense"] == 4 * WEIGHTS / gradients
    assert found["moments_dense"] == 8 * WEIGHTS / optimizer


def test_experts_are_sharded_over_their_own_replicas() -> None:
    """Experts over ep 2 have half as many replicas to shard over: two of four."""
    found = leaves(experts(), sharding="zero1", dp=4, ep=2, framework="megatron-core", software_year=2026)
    expert = 7 * 16 / 2 * 3 * 1024 * 512
    assert found["weights_expert"] == 2 * expert
    assert found["moments_expert"] == 8 * expert / 2


def test_sharded_gradients_of_deepspeed_lie_where_the_optimizer_does() -> None:
    """6 B of gradients, 4 B where they are sharded, on 4 ranks; ZeRO-1 and other frameworks keep them on the device."""
    kept = [("megatron-deepspeed", "fsdp", 0.75, 4 / 6 * 0.25 / 4), ("megatron-deepspeed", "zero1", 0.75, 1.0)]
    for framework, sharding, share, left in [*kept, ("megatron-core", "fsdp", 0.75, 4 / 6 / 4)]:
        year = 2023 if "deepspeed" in framework else 2026
        found = leaves(sharding=sharding, dp=4, framework=framework, software_year=year, offload_optimizer=share)
        assert found["gradients_dense"] == pytest.approx(left * 6 * WEIGHTS), (framework, sharding)


def test_deepspeed_sums_bf16_gradients_in_additional_fp32_buffers() -> None:
    found = leaves(sharding="zero1", dp=4, framework="megatron-deepspeed", software_year=2023)
    assert found["gradients_dense"] == (2 + 4) * WEIGHTS
    assert found["widened_gradient"] == 4 * TABLE
    half = leaves(
        None,
        {"precision": "fp16", "parameter_precision": "fp16"},
        dp=4,
        framework="megatron-deepspeed",
        software_year=2023,
    )
    assert half["gradients_dense"] == 2 * WEIGHTS
    assert half["fp32_gradients_dense"] == 4 * WEIGHTS / 4


def test_stage_3_of_deepspeed_copies_gradients_where_activations_were() -> None:
    """4 B of each gradient of the rank's part, of 1e9 at most, in the optimizer step: with short sequences of a small
    model, what their activations and the layers that are gathered and reduced leave of it.
    """
    keys: dict[str, Any] = {"sharding": "fsdp", "dp": 4, "framework": "deepspeed", "software_year": 2023}
    short = {"sequence_length": 64, "global_batch": 4}
    stored = ("normalizations", "attention", "softmax", "feed_forward", "working_space")
    for precision in ("bf16", "fp32"):
        found = leaves(None, {"gradient_precision": precision} | short, **keys)
        freed = sum(found[name] for name in (*stored, "gathered_layers", "layer_being_reduced"))
        assert 0 < freed < 4 * WEIGHTS / 4
        assert found["fp32_gradients"] == pytest.approx(4 * WEIGHTS / 4 - freed), "joined, and widened if narrow"
        assert "fp32_gradients" not in leaves(None, {"gradient_precision": precision}, **keys)
    large = leaves(model(hidden=16384, ffn_hidden=65536), {"gradient_precision": "bf16"} | short, **keys)
    assert large["gradients_dense"] > 2 * 3e9 and "fp32_gradients" not in large, "4e9 B are less than 6.5e9 freed"


def test_muon_keeps_one_moment_of_matrices_and_two_of_tables() -> None:
    found = leaves(None, {"optimizer": "muon"}, sharding="none", framework="custom", software_year=2026)
    assert found["moments_dense"] == 4 * WEIGHTS
    assert found["moments_of_the_tables"] == 4 * 2 * TABLE


def test_half_of_the_optimizer_in_host_memory_is_half_on_the_device() -> None:
    found = leaves(sharding="none", offload_optimizer=0.75, framework="custom", software_year=2026)
    assert found["moments_dense"] == 8 * WEIGHTS / 4


def test_a_communicator_for_each_axis_and_one_of_all_ranks() -> None:
    assert leaves(tp=2, dp=2)["communication_buffers"] == 3 * 250e6
    assert leaves(tp=2, dp=2, cp=2, pp=2)["communication_buffers"] == 5 * 250e6
    assert "communication_buffers" not in leaves()
    deepspeed = leaves(tp=2, dp=2, framework="megatron-deepspeed", software_year=2023)
    assert deepspeed["communication_buffers"] == 7 * 250e6


def test_the_range_of_each_part_is_that_of_what_it_rests_on() -> None:
    """Weights are counted; buffers of a communicator have 0 to 600 MB for 250, logits 2 to 8 bytes for 6."""
    found, _ = memory_use(design(model(), None, tp=2, dp=2, software_year=2026))
    assert found is not None
    parts = [term for term in found.total.walk() if not term.parts and term.low is not None and term.high is not None]
    shares = {term.name: ((term.low or 0.0) / term.value, (term.high or 0.0) / term.value) for term in parts}
    for name, low, high in (
        ("weights_dense", 1, 1),
        ("placeholders", 0, 1),
        ("normalizations", 0.9, 1.1),
        ("logits_and_loss", 1 / 3, 4 / 3),
        ("context", 0, 2),
        ("communication_buffers", 0, 600 / 250),
        ("fragmentation", 0, 4),
    ):
        assert shares[name] == pytest.approx((low, high)), name


def test_fragmentation_is_a_share_of_what_is_allocated() -> None:
    found = leaves(tp=2, dp=2, software_year=2026)
    other = {"context", "communication_buffers", "fragmentation"}
    allocated = sum(value for name, value in found.items() if name not in other)
    assert found["fragmentation"] == pytest.approx(0.03 * allocated)


def test_tensors_allocated_once_are_not_fragmented_and_logits_written_over_have_one_copy() -> None:
    """llm.c: gradients of two bytes, and a gradient of the loss in the place of the logits."""
    found = leaves(sharding="none", framework="llm-c", software_year=2024)
    assert "fragmentation" not in found
    assert found["logits_and_loss"] == 2 * TOKENS * 32_000
    assert found["gradients_dense"] == 2 * WEIGHTS


def test_buckets_gather_gradients_and_weights() -> None:
    """Half a billion numbers each, or the weights where they are fewer."""
    found = leaves(dp=2, framework="megatron-deepspeed", software_year=2023)
    assert found["buckets"] == 2 * min(1e9, 2 * WEIGHTS)


def test_the_last_stage_of_torchtitan_keeps_two_copies_of_all_logits() -> None:
    found = leaves(model(vocab=512_000), pp=2, micro_batches=3, framework="torchtitan", software_year=2024)
    assert found["outputs_kept"] == 2 * 3 * TOKENS * 512_000 * 2


def test_a_pipeline_engine_keeps_hidden_states_in_and_out() -> None:
    """A middle stage receives and sends for its two micro-batches in flight; the first only sends, for four; the
    last, which large tables make the fullest, only receives, for one.
    """
    each = 2 * TOKENS * 1024
    base: dict[str, Any] = {"pp": 4, "framework": "megatron-deepspeed", "software_year": 2023}
    middle = leaves(model(vocab=1000), micro_batches=2, stage_layers=(1, 3, 3, 1), **base)
    assert middle["pipeline_buffers"] == 2 * 2 * each
    assert leaves(model(vocab=1000), micro_batches=8, **base)["pipeline_buffers"] == 4 * each
    assert leaves(micro_batches=8, **base)["pipeline_buffers"] == each


def test_the_layer_at_work_has_its_gradients() -> None:
    """Three gradients of 4,096 numbers and two of 1,024, two bytes each; nothing is computed again."""
    found = leaves(model(vocab=1000), tp=1, framework="custom", software_year=2026)
    assert found["working_space"] == 2 * TOKENS * (3 * 4096 + 2 * 1024)
    again = leaves(model(vocab=1000), tp=1, framework="custom", software_year=2026, recompute="full")
    stored = leaves(model(vocab=1000), tp=1, framework="custom", software_year=2026)
    layer = sum(stored[name] for name in ("normalizations", "attention", "softmax", "feed_forward")) / 8
    assert again["working_space"] == found["working_space"] + layer - 2 * TOKENS * 1024


def test_experts_at_work_have_the_tokens_that_are_sent() -> None:
    """Two experts a token: 2 × 2,048 tokens × 3 × (512 + 2 × 1024 / 3) numbers with ep, 3 × 512 without."""
    base: dict[str, Any] = {"framework": "custom", "software_year": 2026, "dp": 2}
    of = experts(vocab=1000, moe_layers=8, expert_ffn_hidden=4096)
    alone, sent = leaves(of, ep=1, **base), leaves(of, ep=2, **base)
    assert alone["working_space"] == 2 * TOKENS * (3 * 2 * 4096 + 2 * 1024)
    assert sent["working_space"] == pytest.approx(2 * TOKENS * (3 * 2 * (4096 + 2 * 1024 / 3) + 2 * 1024))


def test_full_sharding_gathers_two_layers_and_reduces_one() -> None:
    found = leaves(model(vocab=1000), sharding="fsdp", dp=4, framework="torchtitan", software_year=2025)
    unit = LAYER + NORMS
    assert found["gathered_layers"] == 2 * 2 * unit
    assert found["layer_being_reduced"] == (2 + 4) * unit
    assert found["gathered_tables"] == 2 * 1000 * 1024
    assert found["weights_dense"] == 4 * (8 * unit + 2 * 1000 * 1024 + 1024) / 4  # fp32 weights are the master


@pytest.mark.parametrize(
    ("method", "size"), [("ring", 4 * 2 * 8), ("all-gather", 2 * 2 * 2 * 8), ("all-to-all", 2 * (2 * 8 + 2 * 16))]
)
def test_context_parallelism_has_keys_and_values_under_way(method: str, size: int) -> None:
    found = leaves(model(vocab=1000), cp=2, cp_method=method, framework="custom", software_year=2026)
    assert found["context_exchange"] == 2 * (TOKENS / 2) * size * 64


@pytest.mark.parametrize(
    ("sharding", "sync", "once", "batches", "shards"),
    [
        ("zero2", "micro-batch", 0.0, 4, (8.0, 2.0)),
        ("zero2", "micro-batch", 1.0, 4, (1.0, 1.0)),  # a pipeline that reduces at its end keeps whole gradients
        ("zero2", "step", 0.0, 4, (1.0, 1.0)),
        ("zero2", "step", 0.0, 1, (8.0, 2.0)),  # one micro-batch leaves nothing to accumulate
        ("zero1", "micro-batch", 0.0, 4, (1.0, 1.0)),
    ],
)
def test_gradients_are_sharded_unless_they_are_accumulated_whole(
    sharding: str, sync: str, once: float, batches: int, shards: tuple[float, float]
) -> None:
    """8 ranks shard them, and 2 those of experts."""
    degrees: dict[str, Any] = {"pp": 2, "dp": 8, "cp": 1, "expert_dp": 2, "shard_group": 8, "micro_batches": batches}
    layout = replace(layout_of(TRAINED), sharding=sharding, gradient_sync=sync, **degrees)
    job = Job.of(study_of(TRAINED).design, work_of(TRAINED), layout)
    job = changed(job, {"framework.kept_in_pipelines": bool(once)})
    assert job.synchronizes_once == once
    assert _gradient_shards(job) == shards
