"""Configurations of Modalities: the components that a run builds, and the numbers that follow from them."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

HEAD = """\
settings:
  cuda_env:
    world_size: {world}
  step_profile:
    gradient_accumulation_steps: 3
    local_train_micro_batch_size: 8
    sequence_length: 4096
  training_target:
    num_target_tokens: 7340032000
device_mesh:
  component_key: device_mesh
  variant_key: default
  config:
    data_parallel_replicate_degree: {copies}
    data_parallel_shard_degree: {shard}
    tensor_parallel_degree: 2
    pipeline_parallel_degree: 1
    world_size: ${{settings.cuda_env.world_size}}
app_state:
  component_key: app_state
  variant_key: raw
  config:
    model:
      instance_key: fsdp_model
      pass_type: BY_REFERENCE
    optimizer:
      component_key: optimizer
      variant_key: adam_w
fsdp_model:
  component_key: model
  variant_key: fsdp2_wrapped
  config:
    model:
      instance_key: tp_model
      pass_type: BY_REFERENCE
    device_mesh:
      instance_key: device_mesh
      pass_type: BY_REFERENCE
    mixed_precision_settings:
      param_dtype: BF_16
      reduce_dtype: FP_32
tp_model:
  component_key: model
  variant_key: gpt2_tp
  config:
    model:
      instance_key: model_raw
      pass_type: BY_REFERENCE
"""
MODEL = """\
{name}:
  component_key: model
  variant_key: {variant}
  config:
    sequence_length: ${{settings.step_profile.sequence_length}}
    vocab_size: 50304
    n_layer: {layers}
    n_head_q: 16
    n_head_kv: 4
    n_embd: 2048
    ffn_hidden: 8192
    activation_type: {activation}
    use_weight_tying: false
"""


def written(*models: str, world: object = 16, copies: object = 1, shard: object = -1, more: str = "") -> str:
    head = HEAD.format(world=world, copies=copies, shard=shard)
    return head + "".join(models) + more


def network(name: str = "model_raw", variant: str = "gpt2", layers: int = 24, activation: str = "swiglu") -> str:
    return MODEL.format(name=name, variant=variant, layers=layers, activation=activation)


def test_a_configuration_of_modalities_states_its_model_batch_and_layout() -> None:
    reading = read(written(network()))
    assert given(reading) == {
        "workload.kind": "train",
        "workload.sequence_length": 4096,
        "workload.tokens": 7_340_032_000,
        "workload.global_batch": 8 * 3 * 8,  # 16 ranks over tp 2 leave 8 replicas
        "workload.precision": "bf16",
        "workload.optimizer": "adamw",
        "workload.model.layers": 24,
        "workload.model.hidden": 2048,
        "workload.model.heads": 16,
        "workload.model.kv_heads": 4,
        "workload.model.vocab": 50_304,
        "workload.model.max_sequence_length": 4096,
        "workload.model.gated_ffn": True,
        "workload.model.ffn_hidden": 5632,  # 2 × 8192 / 3 = 5461, the next multiple of 256
        "workload.model.tied_embeddings": False,
        "layout.framework": "fsdp",
        "layout.tp": 2,
        "layout.pp": 1,
        "layout.dp": 8,
        "layout.micro_batch": 8,
        "layout.sharding": "fsdp",
        "layout.sequence_parallel": True,
    }
    assert counts(reading)["ranks"] == 16


@each(
    ("world", "copies", "shard", "sharding", "group", "replicas"),
    [
        (16, 1, 8, "fsdp", None, 8),
        (16, 2, -1, "hsdp", 4, 8),
        (32, 4, 4, "hsdp", 4, 16),
        ("${cuda_env:WORLD_SIZE}", 1, -1, "fsdp", None, None),
        ("${cuda_env:WORLD_SIZE}", 2, 4, "hsdp", 4, 8),
        ("${cuda_env:WORLD_SIZE}", -1, 4, None, None, None),
    ],
)
def test_replicas_of_modalities_follow_from_the_ranks_where_these_are_stated(
    world: object, copies: object, shard: object, sharding: str | None, group: int | None, replicas: int | None
) -> None:
    reading = read(written(network(), world=world, copies=copies, shard=shard))
    found = [given(reading).get(f"layout.{name}") for name in ("sharding", "shard_group", "dp")]
    assert found == [sharding, group, replicas]
    assert given(reading).get("workload.global_batch") == (24 * replicas if replicas else None)
    assert ("layout.dp" in unknown(reading)) == (replicas is None)


def test_a_component_that_no_other_names_is_no_part_of_the_run() -> None:
    reading = read(written(network("model_other", layers=99), network(layers=12)))
    assert given(reading)["workload.model.layers"] == 12
    both = "second:\n  component_key: model\n  variant_key: compiled\n  config:\n    model: model_raw\n"
    assert "layout.fused_kernels" not in given(read(written(network(), more=both)))


@each(("activation", "gated", "width"), [("gelu", False, 8192), ("swiglu", True, 5632), ("relu_squared", None, None)])
def test_a_gated_network_of_modalities_has_two_thirds_of_its_width(
    activation: str, gated: bool | None, width: int | None
) -> None:
    reading = read(written(network(activation=activation)))
    keys = given(reading)
    assert (keys.get("workload.model.gated_ffn"), keys.get("workload.model.ffn_hidden")) == (gated, width)
    assert ("relu_squared" in unknown(reading)) == (gated is None)


def test_a_stated_multiple_rounds_the_width_of_a_gated_network() -> None:
    more = "    enforce_swiglu_hidden_dim_multiple_of: 64\n"
    assert given(read(written(network() + more)))["workload.model.ffn_hidden"] == 5504  # 86 × 64, above 5461


def test_another_network_of_modalities_is_listed() -> None:
    reading = read(written(network(variant="coca")))
    assert not [name for name in given(reading) if name.startswith("workload.model")]
    assert "model coca: not only a text decoder" in unknown(reading)


def test_a_pipeline_of_modalities_has_micro_batches_of_its_own() -> None:
    more = (
        "scheduled_pipeline:\n  component_key: pipeline\n  variant_key: scheduled\n  config:\n"
        "    pp_schedule_name: Interleaved1F1B\n    microbatch_size: 2\n"
    )
    reading = read(written(network(), more=more))
    assert given(reading)["layout.micro_batch"] == 2
    assert given(reading)["layout.schedule"] == "interleaved"
    assert given(reading)["workload.global_batch"] == 8 * 3 * 8


@each(
    ("variant", "lines", "mode", "listed"),
    [
        ("activation_checkpointed", "    ac_variant: full_activation_checkpointing\n", "full", ""),
        ("activation_checkpointed", "    ac_variant: selective_op_activation_checkpointing\n", "selective", ""),
        ("activation_checkpointed", "    ac_variant: selective_layer_activation_checkpointing\n", None, "no value"),
        ("activation_checkpointed_fsdp1", "    modules: [GPT2Block]\n", None, "state layout.recompute"),
    ],
)
def test_recomputation_of_modalities_is_that_of_its_component(
    variant: str, lines: str, mode: str | None, listed: str
) -> None:
    wrapped = network().replace("model_raw:", "bare:", 1)
    more = (
        f"model_raw:\n  component_key: model\n  variant_key: {variant}\n  config:\n"
        f"    model:\n      instance_key: bare\n{lines}"
    )
    reading = read(written(wrapped, more=more))
    assert given(reading).get("layout.recompute") == mode
    assert listed in unknown(reading)
    assert given(reading)["workload.model.layers"] == 24


def test_fsdp_of_the_first_kind_states_its_strategy_and_precision() -> None:
    text = written(network()).replace("fsdp2_wrapped", "fsdp1_wrapped").replace("param_dtype: BF_16", "x: 1")
    text = text.replace("    mixed_precision_settings:\n      x: 1\n      reduce_dtype: FP_32\n", "")
    text = text.replace(
        "fsdp_model:\n  component_key: model\n  variant_key: fsdp1_wrapped\n  config:\n",
        "fsdp_model:\n  component_key: model\n  variant_key: fsdp1_wrapped\n  config:\n"
        "    sharding_strategy: SHARD_GRAD_OP\n    mixed_precision_settings: FP_16\n",
    )
    keys = given(read(text))
    assert (keys["workload.precision"], keys["layout.framework"]) == ("fp16", "fsdp")
    assert keys["layout.sharding"] == "zero2"


def test_a_file_of_components_without_a_batch_is_refused() -> None:
    text = written(network()).replace("step_profile", "others")
    with pytest.raises(FormatError, match="local_train_micro_batch_size"):
        read(text, "modalities")
