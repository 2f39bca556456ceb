"""Steps that use a part of a job, settings that a configuration holds inline, and programs that train nothing."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown

JOB = "#BSUB -nnodes {nodes}\njsrun {sets} python3 own.py\n"


@pytest.mark.parametrize(
    ("nodes", "sets", "stated", "listed"),
    [
        (128, "-n1 -r1 -g1", {"layout.nodes": 1, "cluster.accelerators_per_node": 1}, "its step uses 1"),
        (8, "-n 4 -r 2 -g 3", {"layout.nodes": 2, "cluster.accelerators_per_node": 6}, "its step uses 2"),
        (4, "-n 4 -r 1 -g 6", {"layout.nodes": 4, "cluster.accelerators_per_node": 6}, ""),
        (4, "-n 3 -r 2 -g 1", {"layout.nodes": 4, "cluster.accelerators_per_node": None}, ""),
    ],
)
def test_a_step_on_fewer_nodes_than_its_job_has_those(
    nodes: int, sets: str, stated: dict[str, object], listed: str
) -> None:
    reading = read(JOB.format(nodes=nodes, sets=sets))
    assert {name: given(reading).get(name) for name in stated} == stated
    assert listed in unknown(reading)


def test_several_steps_may_run_side_by_side_on_all_nodes_of_their_job() -> None:
    text = JOB.format(nodes=2, sets="-n1 -r1 -g1") + "jsrun -n1 -r1 -g1 python3 own.py\n"
    assert given(read(text))["layout.nodes"] == 2


@pytest.mark.parametrize(
    ("inline", "stated"),
    [
        ("{zero_optimization: {stage: 3}}", {"layout.sharding": "fsdp"}),
        (
            "{zero_optimization: {stage: 2, overlap_comm: true}}",
            {"layout.sharding": "zero2", "layout.overlap.dp": True},
        ),
        (
            "{zero_optimization: {stage: 1, offload_optimizer: {device: cpu}}}",
            {"layout.sharding": "zero1", "layout.offload.optimizer": 1},
        ),
    ],
)
def test_settings_of_zero_may_stand_in_a_configuration_of_axolotl(inline: str, stated: dict[str, object]) -> None:
    text = f"base_model: Qwen/Qwen3-8B\nmicro_batch_size: 2\nsequence_len: 512\ndeepspeed: {inline}\n"
    expected = {"layout.framework": "deepspeed", **stated}
    keys = given(read(text, name="a.yaml"))
    assert {name: keys.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("option", "precision", "listed"),
    [("=fp16", "fp16", ""), (" bf16", "bf16", ""), ("=no", None, "GEMMs keep the precision")],
)
def test_a_line_of_accelerate_states_its_precision_without_a_kind(
    option: str, precision: str | None, listed: str
) -> None:
    reading = read(f"accelerate launch --num_processes=4 --num_machines=1 --mixed_precision{option} own.py\n")
    assert given(reading).get("workload.precision") == precision
    assert unknown(reading).count(listed or "mixed_precision") == bool(listed)


@pytest.mark.parametrize("program", ["merge_mp_partitions.py", "split_checkpoint.py", "checkpoint_util.py"])
def test_a_tool_that_divides_checkpoints_trains_nothing(program: str) -> None:
    options = "--tensor-model-parallel-size 2 --num-layers 24 --hidden-size 1024 --num-attention-heads 16"
    assert "converts a checkpoint" in unknown(read(f"python tools/{program} --model-type BERT {options}\n"))


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ("--tensor-parallel-size 8 openai/gpt-oss-20b --host 0.0.0.0", "gpt-oss-20b"),
        ("--tensor-parallel-size 8 /lustre/models/Qwen3-8B", "qwen3-8b"),
        ("--tensor-parallel-size 8 --enforce-eager --lora-modules a=x/y b=openai/gpt-oss-20b", None),
        ("--tensor-parallel-size 8 --served-model-name mine openai/gpt-oss-20b", None),
    ],
)
def test_the_model_of_a_server_may_follow_an_option_with_its_value(options: str, model: str | None) -> None:
    assert given(read(f"vllm serve {options}\n")).get("workload.model") == model


def test_a_configuration_of_several_models_describes_no_decoder() -> None:
    part = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 1000}
    text = json.dumps({"model_type": "deberta-v2", "generator": part, "discriminator": part})
    with pytest.raises(FormatError, match="several models"):
        read(text, name="config.json", kind="huggingface")


@pytest.mark.parametrize(("stage", "sharding"), [("1.0", "zero1"), ("2", "zero2"), ("3.0", "fsdp")])
def test_a_stage_of_zero_may_be_printed_with_its_decimals(stage: str, sharding: str) -> None:
    options = "--tensor-model-parallel-size 1 --micro-batch-size 4 --num-layers 2 --hidden-size 64"
    keys = given(read(f"torchrun --nproc-per-node 4 pretrain_gpt.py {options} --zero-stage {stage} --deepspeed\n"))
    assert keys["layout.sharding"] == sharding


LAUNCH = "--nproc-per-node 8 --nnodes 2"


@pytest.mark.parametrize(
    ("script", "nodes"),
    [
        ('"$ENV/bin/torchrun" {launch} own.py', 2),
        ('python "$ENV/bin/torchrun" {launch} own.py', 2),
        ('exec "$ENV/bin/python" -m torch.distributed.run {launch} own.py', 2),
        ('"${PYTHON_BIN}" -m torch.distributed.run {launch} own.py', 2),
        ('TORCHRUN="${TORCHRUN:-torchrun}"\n"$TORCHRUN" {launch} own.py', 2),
        ('LAUNCHER="torchrun {launch}"\nsrun bash -c "$LAUNCHER own.py"', 2),
        ('CMD="torchrun {launch} own.py"\neval $CMD', 2),
        ('CMD=(torchrun {launch} own.py)\n"${CMD[@]}"', 2),
        ('CMD=(\n  torchrun\n  {launch} own.py\n)\n"${CMD[@]}"', 2),
        ('case "$1" in\n  head) torchrun {launch} own.py ;;\nesac', 2),
        ('ROLE="${1:-}"\nif [ "$ROLE" = head ]; then\n  torchrun {launch} own.py\nelse\n  usage\n  exit 1\nfi', 2),
        ('"$ENV/bin/accelerate" launch --num_machines 2 --num_processes 16 own.py', 2),
        ("python -m accelerate.commands.launch --num_machines 2 --num_processes 16 own.py", 2),
        ('exec "$ENV/bin/python" "$ENV/bin/vllm" serve a/b --tensor-parallel-size 4', None),
        ("'vllm' serve a/b --tensor-parallel-size 4", None),
    ],
)
def test_a_launcher_may_stand_in_quotes_or_in_a_variable(script: str, nodes: int | None) -> None:
    keys = given(read(script.replace("{launch}", LAUNCH) + "\n", name="run.sh"))
    assert (keys.get("layout.nodes"), keys.get("layout.tp")) == (nodes, None if nodes else 4)


@pytest.mark.parametrize("script", ['CMD="torchrun {launch} own.py"\necho $CMD', 'echo "torchrun" {launch} own.py'])
def test_a_launcher_that_is_only_printed_starts_nothing(script: str) -> None:
    with pytest.raises(FormatError):
        read(script.replace("{launch}", LAUNCH) + "\n", name="run.sh")


@pytest.mark.parametrize(("packed", "length"), [("true", 4096), ("false", None)])
def test_samples_are_as_long_as_stated_only_if_they_are_packed(packed: str, length: int | None) -> None:
    text = f"model: a/b\nper_device_train_batch_size: 2\nlora: true\nsequence_len: 4096\nsample_packing: {packed}\n"
    assert given(read(text, name="sft.yaml")).get("workload.sequence_length") == length


@pytest.mark.parametrize(
    ("text", "seems"),
    [
        ("name: a\nresources:\n  slots_per_trial: 8\n", "Determined AI"),
        ("jobs:\n  a:\n    runs-on: ubuntu-latest\n", "GitHub Actions"),
        ("- hosts: all\n  tasks: []\n", "Ansible"),
        ("name: a\nchannels:\n  - conda-forge\n", "conda"),
        ("task: a\ndoc_to_text: b\n", "lm-evaluation-harness"),
        ("scrape_configs:\n  - job_name: a\n", "Prometheus"),
        ('{"panels": [{\n"gridPos": {"h": 1}}]}\n', "Grafana"),
        ("method: bayes\nparameters: {}\n", "Weights & Biases"),
        ('{"peft_type": "LORA", "r": 8}\n', "PEFT"),
        ('{"dim": 256, "n_layers": 8, "norm_eps": 1e-05}\n', "config.json of the model"),
        ('{"tokenizer_class": "A"}\n', "tokenizer"),
        ("fsdp_sharding_strategy: FULL_SHARD\n", "distributed_type"),
        ("defaults:\n  - model: a\n", "Hydra"),
        ("# kind: RayCluster\n# spec: 1\n", "only comments"),
    ],
)
def test_a_file_without_a_reader_is_refused_as_what_it_seems_to_be(text: str, seems: str) -> None:
    with pytest.raises(FormatError, match=seems):
        read(text, name="a.yaml")


def test_workers_that_ask_for_nothing_are_nodes_without_stated_accelerators() -> None:
    containers = "template: {spec: {containers: [{name: a, image: b}]}}"
    job = f"kind: MPIJob\nspec: {{mpiReplicaSpecs: {{Worker: {{replicas: 3, {containers}}}}}}}\n"
    reading = read("apiVersion: kubeflow.org/v2beta1\n" + job, name="a.yaml")
    assert given(reading) == {"layout.nodes": 3}
    assert "no container asks for accelerators" in unknown(reading)
