"""Counts of lists in scripts, variables of ConfigMaps, slices of tasks, tokens of runs, and files that state none."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.cli.conftest import Call, call  # noqa: F401
from tests.exchange.imports import counts, given, read, unknown

LIST = "GPUS=(0 1 2 3)\nexport CUDA_VISIBLE_DEVICES=0,1,5\n"
COUNTED = {
    "${#GPUS[@]}": 4,
    "$((${#GPUS[*]} * 2))": 8,
    "$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)": 3,
    "$(tr ',' ' ' <<< \"$CUDA_VISIBLE_DEVICES\" | wc -w)": 3,
    "$(echo \"$CUDA_VISIBLE_DEVICES\" | awk -F',' '{ print NF; }')": 3,
    "$(awk -F, '{print NF}' <<< \"$CUDA_VISIBLE_DEVICES\")": 3,
    "${#GPUS}": None,  # the characters of its first element
    "${#OTHERS[@]}": None,
    "$(echo $CUDA_VISIBLE_DEVICES | wc -c)": None,
    "$(echo $CUDA_VISIBLE_DEVICES | tr -d ',')": None,
}


@pytest.mark.parametrize("expression", COUNTED)
def test_the_elements_of_a_list_are_counted(expression: str) -> None:
    reading = read(f"{LIST}torchrun --nnodes 1 --nproc_per_node {expression} a.py\n", "launcher")
    assert counts(reading).get("ranks_per_node") == COUNTED[expression]
    assert (COUNTED[expression] is None) == ("nproc_per_node" in unknown(reading))


def test_a_list_that_a_loop_fills_is_not_counted() -> None:
    text = "A=()\nfor i in $(seq 0 $LAST); do A+=($i); done\ntorchrun --nnodes 1 --nproc_per_node ${#A[@]} a.py\n"
    assert "ranks_per_node" not in counts(read(text, "launcher"))


VERL = (
    "python3 -m verl.trainer.main_ppo data.train_batch_size=64 \\\n actor_rollout_ref.model.path=$LATEST \\\n"
    " actor_rollout_ref.actor.ppo_mini_batch_size=8 trainer.n_gpus_per_node=4 trainer.nnodes=1\n"
)


@pytest.mark.parametrize("command", ["$(ls -dt $DIR/step_* | head -n 1)", "`ls -dt a`", "$(find a -name b)"])
def test_the_options_of_a_command_whose_output_is_a_value_start_nothing(command: str) -> None:
    reading = read(f"LATEST={command}\n{VERL}", "verl")
    assert given(reading)["workload.rl.prompts_per_step"] == 64 and "workload.model" not in given(reading)


MAP = "kind: ConfigMap\nmetadata: {name: a}\ndata: {TP: '4', MODEL: Qwen/Qwen3-32B}\n---\n"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: vllm/vllm-openai\n"
    "%s    args: ['--model', $(MODEL), --tensor-parallel-size, $(TP)]\n"
    "    resources: {limits: {nvidia.com/gpu: 4}}\n"
)
KEYS = "    env:\n" + "".join(
    f"    - {{name: {name}, valueFrom: {{configMapKeyRef: {{name: a, key: {name}}}}}}}\n" for name in ("TP", "MODEL")
)
WHOLE = "    envFrom: [{configMapRef: {name: a}}]\n"


@pytest.mark.parametrize("taken", [KEYS, WHOLE])
def test_a_variable_of_a_container_has_the_text_of_the_config_map(taken: str) -> None:
    stated = given(read(MAP + POD % taken, "serving"))
    assert (stated["layout.tp"], stated["workload.model"]) == (4, "qwen3-32b")
    own = WHOLE + "    env: [{name: TP, value: '2'}]\n"
    assert given(read(MAP + POD % own, "serving"))["layout.tp"] == 2


@pytest.mark.parametrize("maps", ["", MAP + MAP, MAP.replace("name: a", "name: b")])
def test_a_map_that_the_file_lacks_or_has_twice_states_nothing(maps: str) -> None:
    assert "layout.tp" not in given(read(maps + POD % KEYS, "serving"))


@pytest.mark.parametrize(
    ("asked", "nodes", "chips"), [("tpu-v3-32", 1, 16), ("tpu-v6e-8", 2, 16), ("tpu-v5p-128", 1, 64)]
)
def test_a_task_on_a_slice_has_its_chips(asked: str, nodes: int, chips: int) -> None:
    """v3-32 and v5p-128 count cores, two in a chip; v6e-8 counts chips."""
    reading = read(f"resources:\n  accelerators: {asked}\nnum_nodes: {nodes}\nrun: python a.py\n", "task")
    stated = given(reading)
    assert stated["cluster.accelerators"] == chips and "cluster.accelerators_per_node" not in stated
    assert "layout.nodes" not in stated and counts(reading)["slices"] == nodes


def test_a_product_with_a_count_is_no_slice() -> None:
    text = "resources:\n  accelerators: tpu-v5-lite-podslice:4\nnum_nodes: 2\nrun: python a.py\n"
    assert given(read(text, "task"))["cluster.accelerators_per_node"] == 4


NANOTRON = (
    "parallelism: {dp: 2, pp: 1, tp: 4}\ntokens: {batch_accumulation_per_replica: 2, micro_batch_size: 3,"
    " sequence_length: 4096, train_steps: 500}\n"
)
NEOX = '{"pipe_parallel_size": 1, "num_layers": 2, "hidden_size": 64, "train_batch_size": 8, "seq_length": 16,%s}\n'
LITGPT = (
    "model_name: Llama-3.1-8B\ntrain:\n  global_batch_size: 8\n  micro_batch_size: 1\n  max_tokens: 1000\n"
    "num_nodes: 1\nlogger_name: csv\n"
)


@pytest.mark.parametrize(
    ("kind", "text", "tokens"),
    [
        ("nanotron", NANOTRON, 500 * 12 * 4096),
        ("nanotron", NANOTRON.replace("batch_accumulation_per_replica: 2, ", ""), None),
        ("gpt-neox", NEOX % '"train_iters": 10, "model_parallel_size": 1', 10 * 8 * 16),
        ("gpt-neox", NEOX % '"model_parallel_size": 1', None),
        ("litgpt", LITGPT, 1000),
        ("litgpt", LITGPT.replace("model_name: ", "checkpoint_dir: a/"), None),
    ],
)
def test_the_tokens_of_a_run_are_its_steps_times_its_batch(kind: str, text: str, tokens: int | None) -> None:
    assert given(read(text, kind)).get("workload.tokens") == tokens


RM = (
    "read -r -d '' training_commands <<EOF\n%s --micro_train_batch_size 2 --train_batch_size 64 \\\n"
    " --pretrain Qwen/Qwen3-8B --zero_stage 2\nEOF\nARGS='--nproc_per_node 8 --nnodes 2'\ntorchrun $ARGS %s\n"
)


@pytest.mark.parametrize(
    "program", ["../../examples/train_sft.py", "/data/x/examples/train_sft.py", "examples/train_sft.py"]
)
def test_a_program_of_a_fork_may_have_a_path(program: str) -> None:
    stated = given(read(RM % (program, "${training_commands}"), "openrlhf"))
    assert (stated["workload.global_batch"], stated["layout.sharding"]) == (64, "zero2")


def test_the_options_of_a_launcher_may_be_in_a_variable() -> None:
    reading = read(RM % ("openrlhf.cli.train_sft", "-m ${training_commands}"), "openrlhf")
    assert given(reading)["layout.nodes"] == 2 and counts(reading)["ranks_per_node"] == 8
    two = RM % ("openrlhf.cli.train_sft", "-m ${training_commands}") + "torchrun --nproc_per_node 4 -m ${other}\n"
    assert "layout.nodes" not in given(read(two, "openrlhf"))


def test_options_without_a_program_leave_the_defaults_open() -> None:
    """Another file starts them with options of its own, so an option that is not there states nothing."""
    text = "#!/bin/bash\nMODEL='--num-layers 36 --hidden-size 2048 --num-attention-heads 16 --swiglu'\n"
    stated = given(read(text, "megatron"))
    assert stated["workload.model.layers"] == 36 and "workload.model.tied_embeddings" not in stated


def test_options_of_two_engines_are_those_of_neither() -> None:
    text = "model_path: a/b\ntensor_parallel_size: 1\ngpu_memory_utilization: 0.9\nmax_model_len: 4096\n"
    with pytest.raises(FormatError):
        read(text, "serving")
    text = text.replace("gpu_memory_utilization: 0.9", "mem-fraction-static: 0.9")
    assert given(read(text, "serving"))["layout.framework"] == "sglang"


def test_a_file_that_states_nothing_is_no_import(call: Call) -> None:  # noqa: F811
    """It names what it was read as and what it found; the status is that of a finding."""
    machine = 'node_config {\n    machine_type = "e2-highmem-2"\n  }\n'
    Path("a.tf").write_text(f'resource "google_container_cluster" "a" {{\n  count = var.n\n  {machine}}}\n')
    done = call("import", "auto", "a.tf")
    assert (done.status, done.out) == (1, "")
    assert (
        "a.tf: read as terraform (" in done.error
        and "states nothing that a spec has; unknown: a: e2-highmem-2" in done.error
    )
    done = call("import", "a.tf", "--format", "json")
    assert done.status == 1 and '"spec": {' in done.out
    Path("own.yaml").write_text("clusterspec: 1\nname: mine\n")
    assert call("import", "a.tf", "--into", "own.yaml").status == 1
    assert Path("own.yaml").read_text() == "clusterspec: 1\nname: mine\n"


STAGE = (
    "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=%d \\\n"
    " data.micro_batch_size_per_gpu=2 model.partial_pretrain=Qwen/Qwen3-8B trainer.default_local_dir=%s optim.lr=1e-5\n"
)
TUNE = "tune run --nproc_per_node 8 full_finetune_distributed --config a.yaml batch_size=%d output_dir=%s\n"


@pytest.mark.parametrize(
    ("kind", "stage", "path"), [("verl", STAGE, "workload.global_batch"), ("torchtune", TUNE, "layout.micro_batch")]
)
def test_launches_that_differ_in_overrides_are_several(kind: str, stage: str, path: str) -> None:
    two = stage % (64, "a") + stage % (32, "b")
    with pytest.raises(SeveralParts):
        read(two, kind)
    assert [given(read(two, kind, part=part))[path] for part in (1, 2)] == [64, 32]
    assert given(read(stage % (64, "a") + stage % (64, "b"), kind))[path] == 64


def test_launches_of_two_models_are_several() -> None:
    first = STAGE.replace("partial_pretrain", "path") % (64, "a")
    with pytest.raises(SeveralParts):
        read(first + first.replace("Qwen3-8B", "Qwen3-32B"), "verl")


@pytest.mark.parametrize(
    "engine", ["vllm serve Qwen/Qwen3-8B", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"]
)
def test_a_file_of_options_leaves_the_degree_open(engine: str) -> None:
    reading = read(f"{engine} --config own.yaml\n", "serving")
    assert "layout.tp" not in given(reading) and "own.yaml: a separate file" in unknown(reading)
    stated = given(read(f"{engine} --config own.yaml --tensor-parallel-size 4\n", "serving"))
    assert stated["layout.tp"] == 4
