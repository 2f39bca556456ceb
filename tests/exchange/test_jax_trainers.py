"""Configurations of Levanter and launches of EasyLM: batches, meshes, and what JAX decides when it runs."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

RUN = """\
model:
  type: TYPE
  seq_len: 2048
  hidden_dim: 4096
  num_layers: 32
  num_heads: 32
SIZES
trainer:
  mp: p=f32,c=bfloat16
  train_batch_size: 2048
  num_train_steps: 750000
OPTIONS
optimizer:
  learning_rate: 3E-4
"""
LLAMA = "  intermediate_dim: 11008\n  num_kv_heads: 8\n"


def run(kind: str = "llama", sizes: str = LLAMA, options: str = "") -> str:
    return RUN.replace("TYPE", kind).replace("SIZES\n", sizes).replace("OPTIONS\n", options)


def test_a_configuration_of_levanter_states_model_batch_and_layout() -> None:
    options = "  per_device_parallelism: 4\n  model_axis_size: 2\n  tensor_parallel_axes: [mlp, heads]\n"
    reading = read(run(options=options), name="run.yaml")
    found = given(reading)
    assert reading.kind == "levanter"
    assert (found["workload.global_batch"], found["layout.micro_batch"], found["layout.tp"]) == (2048, 4, 2)
    assert (found["workload.sequence_length"], found["workload.precision"]) == (2048, "bf16")
    assert (found["layout.sharding"], found["layout.recompute"]) == ("fsdp", "full")
    # per layer: queries and output 2 x 4096 x 4096, keys and values 2 x 4096 x 1024, network 3 x 4096 x 11008, 2 norms
    layer = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 11008 + 2 * 4096
    assert counts(reading)["parameters_without_embeddings"] == 32 * layer + 4096


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        ("  replica_dcn_axis_size: 2\n", "layout.sharding", "hsdp"),
        ("  replica_dcn_axis_size: 1\n", "layout.sharding", "fsdp"),
        ("  fsdp_axis: null\n", "layout.sharding", "none"),
        ("  axis_resources: {token: data}\n", "layout.sharding", None),
        ("  model_axis_size: 4\n", "layout.tp", None),
        ("  model_axis_size: 1\n", "layout.tp", 1),
        ("  per_device_parallelism: -1\n", "layout.micro_batch", None),
    ],
)
def test_axes_of_levanter_give_sharding_and_degrees(options: str, key: str, value: object) -> None:
    assert given(read(run(options=options), name="run.yaml")).get(key) == value


def test_a_network_of_gpt2_is_four_times_as_wide() -> None:
    found = given(read(run("gpt2", "  gradient_checkpointing: false\n"), name="run.yaml"))
    assert (found["workload.model.ffn_hidden"], found["workload.model.kv_heads"]) == (16384, 32)
    assert (found["workload.model.gated_ffn"], found["workload.model.tied_embeddings"]) == (False, True)
    assert found["layout.recompute"] == "none"
    scaled = given(read(run("gpt2", "  mlp_scale: 2\n"), name="run.yaml"))
    assert scaled["workload.model.ffn_hidden"] == 8192


def test_experts_of_levanter_have_the_width_that_a_dense_network_has_elsewhere() -> None:
    experts = LLAMA + "  n_routed_experts: 8\n  num_experts_per_tok: 2\n"
    found = {
        key.rpartition(".")[2]: value for key, value in given(read(run("mixtral", experts), name="run.yaml")).items()
    }
    sizes = ("layers", "hidden", "heads", "kv_heads", "experts", "experts_per_token", "expert_ffn_hidden", "gated_ffn")
    assert [found[key] for key in sizes] == [32, 4096, 32, 8, 8, 2, 11008, True]
    assert "ffn_hidden" not in found, "each of its layers has experts"
    dense = given(read(run(), name="run.yaml"))
    assert dense["workload.model.ffn_hidden"] == 11008 and "workload.model.expert_ffn_hidden" not in dense


def test_sizes_that_levanter_takes_from_elsewhere_are_listed() -> None:
    absent = read(run(sizes="  intermediate_dim: 11008\n"), name="run.yaml")
    assert "num_kv_heads: not stated: the default of llama in the release" in unknown(absent)
    assert not {"parameters", "parameters_without_embeddings"} & counts(absent).keys()
    other = read(run("whisper", ""), name="run.yaml")
    assert not [key for key in given(other) if key.startswith("workload.model")]
    assert "model whisper: not a decoder whose network is known" in unknown(other)
    hub = read(run() + "initialize_from_hf: meta-llama/Llama-3.1-8B\nuse_hf_model_config: true\n", name="run.yaml")
    assert given(hub)["workload.model"] == "llama-3.1-8b"
    growing = run().replace("train_batch_size: 2048", "train_batch_size: [{start: 0, value: 64}, {start: 9, value: 8}]")
    assert "train_batch_size: changes with the steps" in unknown(read(growing, name="run.yaml"))


def test_an_evaluation_of_levanter_is_no_training() -> None:
    text = run().replace("  num_train_steps: 750000\n", "").partition("optimizer:")[0]
    with pytest.raises(FormatError, match="neither an optimizer nor steps"):
        read(text, name="run.yaml")


TRAIN = "python -m EasyLM.models.llama.llama_train --dtype=bf16 --load_llama_config='7b' --train_dataset.type=json "
DATA = "--train_dataset.json_dataset.seq_length=2048 --train_dataset.json_dataset.batch_size=512 "


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        ("1,8,1", {"dp": 8, "tp": 1, "sharding": "fsdp", "micro_batch": 64}),
        ("2,8,4", {"dp": 16, "tp": 4, "sharding": "hsdp", "shard_group": 8, "micro_batch": 32}),
        ("dp:2,fsdp:1,mp:4", {"dp": 2, "tp": 4, "sharding": "none", "micro_batch": 256}),
        ("1,4,2,8", {"dp": 4, "cp": 2, "tp": 8, "sharding": "fsdp", "micro_batch": 128}),
        ("-1,64,1", {"tp": 1}),
        ("1,-1,1", {"tp": 1, "sharding": "fsdp"}),
        ("$MESH", {}),
    ],
)
def test_a_mesh_of_easylm_gives_degrees(mesh: str, expected: dict[str, object]) -> None:
    reading = read(f"{TRAIN}{DATA}--mesh_dim='{mesh}'".replace("'$MESH'", '"$MESH"'))
    found = given(reading)
    assert reading.kind == "easylm"
    assert {key[7:]: value for key, value in found.items() if key.startswith("layout.")} == expected
    assert ("mesh_dim" in unknown(reading)) is ("dp" not in expected)
    assert (found["workload.model"], found["workload.precision"]) == ("llama-2-7b", "bf16")
    assert (found["workload.global_batch"], found["workload.sequence_length"]) == (512, 2048)


def test_accumulated_gradients_of_easylm_add_sequences_to_a_step() -> None:
    reading = read(f"{TRAIN}{DATA}--mesh_dim=1,8,1 --optimizer.accumulate_gradient_steps=4")
    assert (given(reading)["workload.global_batch"], given(reading)["layout.micro_batch"]) == (2048, 64)
    changed = read(f"{TRAIN}{DATA}--update_llama_config='dict(num_hidden_layers=4)' --mesh_dim=1,8,1")
    assert "update_llama_config: dict(num_hidden_layers=4)" in unknown(changed)


@pytest.mark.parametrize("program", ["llama_train_dpo", "llama_train_ppo", "llama_train_rm"])
def test_a_launch_of_easylm_with_rewards_is_refused(program: str) -> None:
    with pytest.raises(FormatError, match="rewards or pairs"):
        read(f"{TRAIN}{DATA}--mesh_dim=1,8,1".replace("llama_train", program))


def test_earlier_releases_of_levanter_have_one_model_and_their_rate_among_the_keys_of_the_trainer() -> None:
    """GPT-2 of 36 layers: networks of 4 × 1280 = 5120, one head of keys and values for each of 20."""
    text = """\
    model:
      hidden_dim: 1280
      num_heads: 20
      num_layers: 36
      seq_len: 1024
    trainer:
      mp: p=f32,c=bfloat16
      learning_rate: 2E-4
      model_axis_size: 1
      per_device_parallelism: 16
    """
    values = given(read(text, name="gpt2_large.yaml"))
    assert (values["workload.model.layers"], values["workload.model.ffn_hidden"]) == (36, 5120)
    assert (values["workload.model.kv_heads"], values["layout.micro_batch"], values["layout.tp"]) == (20, 16, 1)
    assert (values["layout.sharding"], values["workload.precision"]) == ("fsdp", "bf16")
    assert "workload.global_batch" not in values
