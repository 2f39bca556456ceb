"""Launches behind programs that prepare or observe an interpreter, steps in variables, and recipes called by name."""

from __future__ import annotations

import pytest

from tests.exchange.imports import counts, given, read, unknown

# Steps that a variable holds

STEPS = """\
#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
MOUNTS=""
TRAIN="uv run --no-sync python scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config \\
    train.global_batch_size=64 train.micro_batch_size=2 model.seq_length=4096"
STEP="srun {options}--container-image=own.sqsh"
if [ -n "$MOUNTS" ]; then
    for each in $MOUNTS; do
        STEP="$STEP --container-mounts=$each"
    done
fi
$STEP bash -c "$TRAIN"
"""


@pytest.mark.parametrize(("options", "nodes"), [("", 4), ("--nodes=2 ", 2), ("-N 1 ", 1)])
def test_a_step_in_a_variable_runs_on_the_nodes_of_its_job_or_on_its_own(options: str, nodes: int) -> None:
    reading = read(STEPS.format(options=options), "megatron", "train.sh")
    assert given(reading)["layout.nodes"] == nodes
    assert counts(reading)["ranks_per_node"] == 8
    assert given(reading)["workload.global_batch"] == 64 and "layout.nodes" not in unknown(reading)
    assert "no_sync" not in unknown(reading)


def test_a_step_in_a_variable_that_starts_another_program_says_nothing_about_the_launch() -> None:
    other = STEPS.replace('$STEP bash -c "$TRAIN"', '$STEP hostname\nbash -c "$TRAIN"').format(options="")
    reading = read(other, "megatron", "train.sh")
    assert "layout.nodes" not in given(reading) and "layout.nodes: 4" in unknown(reading)


# Programs before the interpreter

TRAINING = "examples/train.py --tensor-model-parallel-size 2 --num-layers 4 --hidden-size 64 --num-attention-heads 4"


@pytest.mark.parametrize(
    "start",
    [
        "debugpy-run -p :5678 -m torch.distributed.run -- --nproc_per_node 2",
        "python -m debugpy --listen 0.0.0.0:5678 --wait-for-client -m torch.distributed.run --nproc_per_node 2",
        "uv run --no-sync --project /own python -m torch.distributed.run --nproc_per_node 2",
    ],
)
def test_a_launch_with_and_without_a_debugger_is_one(start: str) -> None:
    plain = f"python -m torch.distributed.run --nproc_per_node 2 {TRAINING}"
    script = f'#!/bin/bash\nif [ "$1" = "-d" ]; then\n  {start} {TRAINING}\nelse\n  {plain}\nfi\n'
    reading = read(script, "megatron", "train.sh")
    assert given(reading)["layout.tp"] == 2 and counts(reading)["ranks_per_node"] == 2
    assert not any(name in unknown(reading) for name in ("listen", "wait_for_client", "no_sync", "project", ": p"))


# Texts that start nothing

USAGE = """\
#!/usr/bin/bash
NGPU=${NGPU:-"8"}
: '
bash train.sh \\
  --job.config_file own/train.toml \\
  --training.batch_size 32 \\
  --training.tensor_parallel_degree 4
'
steps=$(grep -oP '(?<=--training.steps )[^ ]+' <<< "$*")
torchrun --nnodes=2 --nproc_per_node=$NGPU -m own.train "$@"
python -m own.convert --step $steps
"""


def test_the_words_of_the_null_command_start_nothing() -> None:
    reading = read(USAGE, name="train.sh")
    assert reading.kind == "launcher"
    assert given(reading) == {"layout.nodes": 2} and counts(reading) == {"ranks_per_node": 8}


def test_the_null_command_still_sets_its_defaults() -> None:
    reading = read(f': "${{N:=3}}"\ntorchrun --nnodes=$N --nproc_per_node=8 {TRAINING}\n', "megatron", "train.sh")
    assert given(reading)["layout.nodes"] == 3


# Recipes of NeMo 2

RECIPE = 'nemo llm {verb} --factory "{factory}" trainer.strategy.tensor_model_parallel_size=2 {more}\n'


def recipe(factory: str, more: str = "", verb: str = "pretrain") -> str:
    return RECIPE.format(factory=factory, more=more, verb=verb)


@pytest.mark.parametrize(
    ("launch", "nodes", "devices", "model"),
    [
        (recipe("llama3_8b(name='own',num_nodes=2,num_gpus_per_node=4)"), 2, 4, "llama-3-8b"),
        (recipe("llama3_8b(num_nodes=2)", "trainer.num_nodes=3 trainer.devices=8"), 3, 8, "llama-3-8b"),
        (recipe("llama3_8b", "model.config.seq_length=128"), None, None, "llama-3-8b"),
        (recipe("recipe(num_nodes=2)"), 2, None, None),
        (recipe("llama3_8b(num_nodes=$N)"), None, None, "llama-3-8b"),
    ],
)
def test_the_arguments_of_a_recipe_are_its_nodes_and_devices(
    launch: str, nodes: int | None, devices: int | None, model: str | None
) -> None:
    reading = read(launch, "megatron", "train.sh")
    assert given(reading).get("layout.nodes") == nodes
    assert counts(reading).get("ranks_per_node") == devices
    assert given(reading).get("workload.model") == model
    assert given(reading)["layout.tp"] == 2


def test_a_recipe_that_fine_tunes_trains_adapters_unless_it_says_none() -> None:
    assert "peft_scheme lora" in unknown(read(recipe("llama3_8b", verb="finetune"), "megatron", "train.sh"))
    assert "peft_scheme dora" in unknown(read(recipe("llama3_8b(peft_scheme='dora')"), "megatron", "train.sh"))
    none = recipe("llama3_8b(peft_scheme=None)", verb="finetune")
    assert "peft_scheme" not in unknown(read(none, "megatron", "train.sh"))


# Recomputation that a configuration sets to nothing

NEMO = """\
trainer:
  devices: 8
model:
  tensor_model_parallel_size: 8
  activations_checkpoint_granularity: {granularity}
  activations_checkpoint_method: {method}
"""


@pytest.mark.parametrize(
    ("granularity", "method", "recomputed"),
    [("null", "null", "none"), ("selective", "null", "selective"), ("null", "uniform", "full")],
)
def test_a_granularity_of_null_recomputes_nothing_without_a_method(
    granularity: str, method: str, recomputed: str
) -> None:
    reading = read(NEMO.format(granularity=granularity, method=method), "megatron", "own.yaml")
    assert given(reading)["layout.recompute"] == recomputed


@pytest.mark.parametrize("name", ["activation_checkpointing", "fsdp_activation_checkpointing"])
def test_fsdp_of_axolotl_recomputes_by_either_name_of_its_switch(name: str) -> None:
    batch = "base_model: own/model\nsequence_len: 512\nmicro_batch_size: 1\n"
    config = f"{batch}fsdp: [full_shard]\nfsdp_config:\n  {name}: {{}}\n"
    on = read(config.format("true"), "deepspeed", "own.yaml")
    assert given(on)["layout.recompute"] == "full" and name not in unknown(on)
    assert "layout.recompute" not in given(read(config.format("false"), "deepspeed", "own.yaml"))


# Launches that change the model of their recipe

BRIDGE = "torchrun --nproc_per_node=8 scripts/training/run_recipe.py --recipe llama3_8b_pretrain_config {}\n"
NAMED = "torchrun --nproc_per_node=8 pretrain_gpt.py --model_name llama3-8b --tensor-model-parallel-size 2 {}\n"


@pytest.mark.parametrize(
    ("launch", "model"),
    [
        (BRIDGE.format("model.num_layers=4"), {"base": "llama-3-8b", "layers": 4}),
        (
            BRIDGE.format("model.num_layers=4 model.ffn_hidden_size=8192"),
            {"base": "llama-3-8b", "layers": 4, "ffn_hidden": 8192},
        ),
        (BRIDGE.format("model.num_layers=32 model.hidden_size=4096"), {"layers": 32, "hidden": 4096}),
        (BRIDGE.format("model.num_layers=32"), "llama-3-8b"),
        (BRIDGE.format("model.vision.num_layers=4"), "llama-3-8b"),
        (BRIDGE.format("model.num_attention_heads=16"), None),
        (BRIDGE.format("model.num_layers=$LAYERS"), None),
        (recipe("llama3_8b", "model.config.num_layers=4"), {"base": "llama-3-8b", "layers": 4}),
        (NAMED.format("--num-layers 16"), {"base": "llama-3-8b", "layers": 16}),
        (NAMED.format(""), "llama-3-8b"),
    ],
)
def test_a_change_of_a_named_model_is_never_the_model_itself(
    launch: str, model: dict[str, object] | str | None
) -> None:
    reading = read(launch, "megatron", "train.sh")
    found = given(reading)
    inner = {path.removeprefix("workload.model."): value for path, value in found.items() if ".model." in path}
    assert (found.get("workload.model") or inner or None) == model
    assert ("state workload.model with all of its sizes" in unknown(reading)) is (model is None)


VLLM = "vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2 OVERRIDES\n"
SGLANG = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 8 OVERRIDES\n"
VERL = (
    "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B trainer.n_gpus_per_node=8 "
    "trainer.nnodes=1 data.train_batch_size=128 actor_rollout_ref.rollout.n=4 "
    "+actor_rollout_ref.model.override_config.OVERRIDES\n"
)


@pytest.mark.parametrize(
    ("launch", "overrides", "model"),
    [
        (VLLM, """--hf-overrides '{"num_hidden_layers": 4}'""", {"base": "llama-3.1-8b", "layers": 4}),
        (VLLM, """--hf-overrides '{"text_config": {"num_hidden_layers": 4}}'""", {"base": "llama-3.1-8b", "layers": 4}),
        (VLLM, "--hf-overrides.num_hidden_layers 4", {"base": "llama-3.1-8b", "layers": 4}),
        (VLLM, """--hf-overrides '{"num_hidden_layers": 32}'""", "llama-3.1-8b"),
        (VLLM, """--hf-overrides '{"max_position_embeddings": 65536}'""", "llama-3.1-8b"),
        (VLLM, """--hf-overrides '{"hidden_size": 64}'""", None),
        (VLLM, """--hf-overrides '{"num_hidden_layers": '""", "llama-3.1-8b"),
        (SGLANG, """--json-model-override-args '{"num_hidden_layers": 5}'""", {"base": "deepseek-v3", "layers": 5}),
        (VERL, "num_hidden_layers=4", {"base": "qwen3-8b", "layers": 4}),
        (VERL, "attn_implementation=eager", "qwen3-8b"),
    ],
)
def test_an_overridden_config_of_a_model_is_a_change_of_it(
    launch: str, overrides: str, model: dict[str, object] | str | None
) -> None:
    reading = read(launch.replace("OVERRIDES", overrides), name="serve.sh")
    found = given(reading)
    inner = {path.removeprefix("workload.model."): value for path, value in found.items() if ".model." in path}
    assert (found.get("workload.model") or inner or None) == model
    assert ("state workload.model with all of its sizes" in unknown(reading)) is (model is None)


@pytest.mark.parametrize("switch", ["--skip-train", "--eval-only"])
def test_a_launch_that_only_evaluates_says_so(switch: str) -> None:
    plain = f"torchrun --nproc_per_node 2 {TRAINING}"
    assert "it only evaluates" in unknown(read(f"{plain} {switch}\n", "megatron", "train.sh"))
    assert "it only evaluates" not in unknown(read(f"{plain}\n", "megatron", "train.sh"))
