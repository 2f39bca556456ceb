"""The layers of a configuration that have experts, and what in addition to the routed ones belongs to a layer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import given, read, unknown
from tests.exchange.test_huggingface import MIXTRAL

MODEL = "workload.model."
TEN = {key: value for key, value in MIXTRAL.items() if key != "model_type"} | {"num_hidden_layers": 10}


def model_keys(config: dict[str, Any]) -> dict[str, object]:
    found = given(read(json.dumps(config), "huggingface"))
    return {name.removeprefix(MODEL): value for name, value in found.items() if name.startswith(MODEL)}


@each(
    ("kind", "keys", "layers"),
    [
        ("mixtral", {}, 10),
        ("deepseek_v3", {"first_k_dense_replace": 3}, 7),
        ("deepseek_v3", {"first_k_dense_replace": 3, "moe_layer_freq": 2}, 3),  # 4, 6 and 8
        ("deepseek_v3", {"moe_layer_freq": 3}, 4),  # 0, 3, 6 and 9
        ("deepseek_v3", {"moe_layer_freq": [0, 1, 1, 0, 1, 0, 0, 0, 0, 1]}, 4),
        ("ernie4_5_moe", {"moe_layer_start_index": 1}, 9),
        ("ernie4_5_moe", {"moe_layer_start_index": 1, "moe_layer_interval": 2}, 5),  # 1, 3, 5, 7 and 9
        ("qwen3_moe", {"decoder_sparse_step": 1, "mlp_only_layers": []}, 10),
        ("qwen3_moe", {"decoder_sparse_step": 2, "mlp_only_layers": []}, 5),  # of each two the second
        ("qwen3_moe", {"decoder_sparse_step": 2, "mlp_only_layers": [1, 2]}, 4),  # 3, 5, 7 and 9
        ("qwen3_moe", {"decoder_sparse_step": 3}, 3),  # 2, 5 and 8
        ("some_moe", {"moe_layers": [1, 4, 7]}, 3),
    ],
)
def test_layers_with_experts_are_counted_by_the_rule_of_the_configuration(
    kind: str, keys: dict[str, object], layers: int
) -> None:
    found = model_keys(TEN | {"model_type": kind, "moe_intermediate_size": 2048} | keys)
    assert (found["layers"], found.get("moe_layers", 10)) == (10, layers)


@each(
    ("keys", "shared", "width"),
    [
        ({}, None, None),
        ({"n_shared_experts": 2}, 2, None),
        ({"num_shared_experts": [3, 3]}, 3, None),
        ({"shared_expert_intermediate_size": 5632}, 1, 5632),
        ({"shared_expert_intermediate_size": 2048}, 1, None),  # as wide as the routed ones
        ({"n_shared_experts": 2, "moe_shared_expert_intermediate_size": 4096}, 2, 4096),
    ],
)
def test_shared_experts_have_their_number_and_a_width_of_their_own(
    keys: dict[str, object], shared: int | None, width: int | None
) -> None:
    found = model_keys(TEN | {"model_type": "deepseek_v3", "moe_intermediate_size": 2048} | keys)
    assert (found.get("shared_experts"), found.get("shared_expert_ffn_hidden")) == (shared, width)
    assert (found["experts"], found["experts_per_token"], found["expert_ffn_hidden"]) == (8, 2, 2048)


def test_a_pattern_of_layers_that_is_not_known_is_refused() -> None:
    with pytest.raises(FormatError, match="which layers have experts is not known"):
        model_keys(TEN | {"model_type": "some_moe", "moe_every_n_layers": 3})


RECIPE = """\
grpo: {{num_prompts_per_step: 64, num_generations_per_prompt: 32{grpo}}}
policy:
  train_global_batch_size: {batch}{policy}
  {backend}: {{enabled: true, tensor_model_parallel_size: 4{trainer}}}
  generation:
    colocated: {{enabled: true}}
    vllm_cfg: {{tensor_parallel_size: 2{engines}}}
cluster: {{num_nodes: 2, gpus_per_node: 8}}
"""
PLAIN = {"grpo": "", "batch": 512, "policy": "", "backend": "megatron_cfg", "trainer": "", "engines": ""}


@each(
    ("changes", "stated", "listed"),
    [
        ({}, {"layout.framework": "megatron-core", "layout.tp": 4, "workload.rl.minibatches": 4}, ""),
        ({"batch": 500}, {"workload.rl.minibatches": None}, "train_global_batch_size: 500"),
        ({"policy": "\n  precision: bfloat16"}, {"workload.precision": "bf16"}, ""),
        ({"policy": "\n  train_micro_batch_size: 2"}, {"layout.micro_batch": 2}, ""),
        (
            {"policy": "\n  train_micro_batch_size: 2\n  sequence_packing: {enabled: true}"},
            {"layout.micro_batch": None},
            "filled up to a number of tokens",
        ),
        (
            {"policy": "\n  train_micro_batch_size: 2\n  dynamic_batching: {enabled: false}"},
            {"layout.micro_batch": 2},
            "",
        ),
        ({"trainer": ", sequence_parallel: true"}, {"layout.sequence_parallel": True}, ""),
        ({"trainer": ", activation_checkpointing: true"}, {"layout.recompute": "full"}, ""),
        ({"trainer": ", activation_checkpointing: false"}, {"layout.recompute": None}, ""),
        ({"trainer": ", optimizer: {use_distributed_optimizer: true}"}, {"layout.sharding": "zero1"}, ""),
        ({"trainer": ", optimizer: {use_distributed_optimizer: false}"}, {"layout.sharding": None}, ""),
        ({"engines": ", gpu_memory_utilization: 0.6"}, {"workload.rl.rollout.memory_fraction": 0.6}, ""),
        ({"engines": ", precision: fp8"}, {}, "of the engines, for the layers that take it"),
        ({"grpo": ", async_grpo: {enabled: true}"}, {"workload.rl.max_staleness": None}, "engines run ahead"),
    ],
)
def test_a_recipe_of_nemo_rl_states_its_trainer_and_its_engines(
    changes: dict[str, object], stated: dict[str, object], listed: str
) -> None:
    reading = read(RECIPE.format(**(PLAIN | changes)))
    found = given(reading)
    assert {name: found.get(name) for name in stated} == stated
    assert listed in unknown(reading)
    assert (found["workload.rl.placement"], found["layout.nodes"], found["workload.rl.rollout.tp"]) == (
        "colocated",
        2,
        2,
    )


def test_a_recipe_with_another_trainer_names_it_and_one_with_a_reward_model_leaves_the_nodes_open() -> None:
    other = read(RECIPE.format(**(PLAIN | {"backend": "dtensor_cfg"})))
    assert "layout.framework" not in given(other) and "NeMo RL with DTensor" in unknown(other)
    judged = read(RECIPE.format(**PLAIN) + "env:\n  reward_model: {enabled: true}\n")
    assert "layout.nodes" not in given(judged) and "a reward model may have nodes of its own" in unknown(judged)


def test_teachers_of_nemo_rl_with_devices_of_their_own_leave_the_nodes_of_the_trainer_open() -> None:
    teachers = "on_policy_distillation: {{enabled: true, non_colocated_teachers: {{enabled: {own}}}}}\n"
    for own, nodes, listed in (("true", None, "teachers have nodes of their own"), ("false", 2, "")):
        found = read(RECIPE.format(**PLAIN) + teachers.format(own=own))
        assert given(found).get("layout.nodes") == nodes
        assert listed in unknown(found)
