"""Configurations of the HyperPod training adapter for NeMo, and names of models in charts and folders."""

from __future__ import annotations

import pytest

from clusterspec.exchange.merge import missing_machine
from tests.exchange.imports import counts, given, read, unknown

RUN = """\
use_smp_model: true
trainer: {{devices: 8, num_nodes: 4, precision: bf16}}
model:
  model_type: llama_v3
  train_batch_size: 2
  tensor_model_parallel_degree: {tp}
  expert_model_parallel_degree: {ep}
  context_parallel_degree: {cp}
  sharding_strategy: {strategy}
  shard_degree: {shard}
  activation_checkpointing: true
  fp8: {fp8}
  max_context_width: 4096
  max_position_embeddings: ${{.max_context_width}}
  num_hidden_layers: 4
  hidden_size: 64
  num_attention_heads: 4
  intermediate_size: 128
  num_key_value_heads: null
"""
PLAIN = {"tp": 1, "ep": 1, "cp": 1, "strategy": "hybrid_shard", "shard": 8, "fp8": False}


def test_samples_of_a_rank_are_those_of_all_ranks_that_share_no_sequence() -> None:
    """32 ranks: of two samples each 64, of 16 pairs of tensor ranks 32, and of 8 fours of both 16."""
    batches = {(1, 1): 64, (2, 1): 32, (2, 2): 16}
    for (tp, cp), batch in batches.items():
        found = given(read(RUN.format(**{**PLAIN, "tp": tp, "cp": cp})))
        assert (found["workload.global_batch"], found["layout.micro_batch"]) == (batch, 2)
    reading = read(RUN.format(**PLAIN))
    found = given(reading)
    assert (reading.kind, counts(reading)["ranks_per_node"], found["layout.nodes"]) == ("hyperpod-recipe", 8, 4)
    assert found["workload.model.max_sequence_length"] == found["workload.sequence_length"] == 4096
    assert (found["workload.model.ffn_hidden"], found["workload.model.gated_ffn"]) == (128, True)
    assert "workload.model.kv_heads" not in found


@pytest.mark.parametrize(
    ("change", "sharding", "group"),
    [
        ({}, "hsdp", 8),
        ({"shard": 32}, "fsdp", None),
        ({"shard": 16, "tp": 2}, "fsdp", None),
        ({"strategy": "full_shard"}, "hsdp", 8),
        ({"strategy": "full_shard", "shard": "null"}, "fsdp", None),
        ({"strategy": "shard_grad_op", "shard": "null"}, "zero2", None),
        ({"strategy": "no_shard", "shard": "null"}, "none", None),
    ],
)
def test_shards_are_all_ranks_or_groups(change: dict[str, object], sharding: str, group: int | None) -> None:
    found = given(read(RUN.format(**{**PLAIN, **change})))
    assert (found["layout.sharding"], found.get("layout.shard_group")) == (sharding, group)


def test_shards_with_spread_experts_are_listed() -> None:
    reading = read(RUN.format(**{**PLAIN, "ep": 2, "strategy": "full_shard"}))
    assert "layout.sharding" not in given(reading)
    assert "sharding_strategy: full_shard in groups of 8 ranks" in unknown(reading)


def test_fp8_is_the_precision_where_it_is_on_and_open_where_it_is_not_stated() -> None:
    assert given(read(RUN.format(**PLAIN)))["workload.precision"] == "bf16"
    assert given(read(RUN.format(**{**PLAIN, "fp8": True})))["workload.precision"] == "fp8"
    assert "computes in fp8 unless" in unknown(read(RUN.format(**PLAIN).replace("  fp8: False\n", "")))


def test_a_run_of_adapters_trains_these_and_cuts_its_sequences() -> None:
    tuned = RUN.format(**PLAIN).replace("  fp8", "  hf_model_name_or_path: Qwen/Qwen3-8B\n  do_finetune: true\n  fp8")
    reading = read(tuned + "  peft: {peft_type: lora, rank: 16, target_modules: [q_proj, v_proj]}\n")
    found = given(reading)
    assert (found["workload.model"], found["workload.trainable.rank"]) == ("qwen3-8b", 16)
    assert found["workload.trainable.modules"] == ["attention"]
    assert "workload.sequence_length" not in found and "sequences are cut at 4096" in unknown(reading)


def test_a_chart_names_its_model_in_many_ways() -> None:
    for key in ("modelReference", "modelUri", "hfModelId", "model_path"):
        values = f"image: {{repository: a/vllm, pullPolicy: Always}}\nconfiguration:\n  {key}: Qwen/Qwen3-8B\n"
        assert given(read(values, name="values.yaml"))["workload.model"] == "qwen3-8b", key


def test_accelerators_of_a_pod_are_not_those_of_the_platform_that_is_missing() -> None:
    values = "image: {repository: a/vllm, pullPolicy: Always}\nmodel: Qwen/Qwen3-8B\ngpuCount: 2\n"
    values += "resources: {limits: {nvidia.com/gpu: 2}}\n"
    shown = missing_machine(read(values, name="values.yaml"))
    assert "a platform with nodes (" in shown


def test_a_folder_of_a_variable_with_the_name_of_a_model_is_listed_as_nothing_else() -> None:
    launch = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path={} data.train_batch_size=8\n"
    reading = read(launch.format("${HOME}/models/Qwen3-8B"))
    assert given(reading)["workload.model"] == "qwen3-8b" and "model.path" not in unknown(reading)
    assert "${MODEL}" in unknown(read(launch.format("${MODEL}")))
