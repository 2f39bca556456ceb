"""Launches whose containers list each word of the command, and requests to schedulers other than Slurm."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.merge import missing_machine
from tests.exchange.imports import counts, given, read, unknown

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  template:
    spec:
      containers:
        - name: b
          image: c
%s          resources:
            limits:
              nvidia.com/gpu: "8"
"""
VERL = (
    "python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct"
    " actor_rollout_ref.rollout.tensor_model_parallel_size=2 actor_rollout_ref.rollout.name=vllm trainer.nnodes=1"
)
EASYR1 = (
    "python3 -m verl.trainer.main worker.actor.model.model_path=Qwen/Qwen2.5-7B-Instruct"
    " worker.rollout.tensor_parallel_size=2"
)
SKYRL = (
    "python -m skyrl_train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen2.5-7B-Instruct"
    " generator.inference_engine_tensor_parallel_size=2"
)
TUNE = "tune run --nproc_per_node 8 full_finetune_distributed --config=llama3/8B_full batch_size=2"
LITGPT = "litgpt finetune_full meta-llama/Llama-3.1-8B --devices 8 --train.micro_batch_size 2"
COLOSSAL = "colossalai run --nproc_per_node 8 train.py --plugin hybrid_parallel --tp 4 --pp 2 --batch_size 8"
NEURON = "torchrun --nproc_per_node 32 run_llama_nxd.py --model_path c --tensor_parallel_size 8 --use_zero_1 1"
MAXTEXT = "python3 -m MaxText.train base.yml model_name=llama2-7b ici_tensor_parallelism=4 max_target_length=2048"
VLLM = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2"


def listed(words: list[str], split: int) -> tuple[str, str, str]:
    """A command as a list in one line, as a list of lines, and as a command with arguments."""
    lines = [f"            - {json.dumps(word)}\n" for word in words]
    flow = f"          command: {json.dumps(words)}\n"
    block = "          command:\n" + "".join(lines)
    return flow, block, "".join(["          command:\n", *lines[:split], "          args:\n", *lines[split:]])


@pytest.mark.parametrize("launch", [VERL, EASYR1, SKYRL, TUNE, LITGPT, COLOSSAL, NEURON, MAXTEXT, VLLM])
def test_a_container_that_lists_the_words_of_a_launch_states_what_the_launch_states(launch: str) -> None:
    alone = given(read(f"#!/bin/bash\n{launch}\n"))
    for form in listed(launch.split(), 1):
        found = given(read(JOB % form, name="job.yaml"))
        assert {key: found.get(key) for key in alone} == alone, form
        assert found["cluster.accelerators_per_node"] == 8, form


def test_a_value_of_a_listed_launch_is_on_the_line_of_its_word() -> None:
    _, block, _ = listed(VERL.split(), 1)
    text = JOB % block
    place = next(each.at.line for each in read(text, name="job.yaml").given if each.path[-1] == "prompts_per_step")
    assert "data.train_batch_size=64" in text.split("\n")[place - 1]


def test_a_container_of_another_program_states_its_machine_alone() -> None:
    flow, _, _ = listed(["python", "serve.py", "data.train_batch_size=64"], 1)
    assert set(given(read(JOB % flow, name="job.yaml"))) == {"cluster.accelerators_per_node", "layout.nodes"}


MEGATRON = (
    "mpiexec python pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 4 --hidden-size 64"
    " --num-attention-heads 4 --seq-length 512 --micro-batch-size 1 --global-batch-size 8"
)


@pytest.mark.parametrize(
    ("directive", "request_", "accelerators"),
    [
        ("#PBS -l select=2:ncpus=64:ngpus=8", "select=2:ncpus=64:ngpus=8: its chunks may be on one host", 16),
        ("#PBS -l select=2:ngpus=4:mpiprocs=4+1:ngpus=2", "select=2:ngpus=4", 10),
        ("#PBS -l select=2:ngpus=4 -l place=vscatter", "select=2:ngpus=4: its chunks may be on one host", 8),
        ("#PBS -l ngpus=8", "ngpus=8: of the job", 8),
        ("#PJM -L gpu=4", "gpu=4: a share of a node", None),
        ("#BSUB -gpu num=4/task", "num=4/task: of a task", None),
        ("#PBS -l select=1\n#PBS -l select=2", "select=2: a request that another one", None),
        ("#PBS -l select=${N}:ngpus=8", "select=${N}:ngpus=8: a request to the scheduler, not read", None),
        ("#flux: -N 4 -g 2", "2 accelerators: of a slot", None),
        ("#COBALT -n 2 -q single-gpu", "single-gpu: a queue whose nodes are accelerators", None),
    ],
)
def test_requests_to_another_scheduler_that_count_no_nodes_are_listed(
    directive: str, request_: str, accelerators: int | None
) -> None:
    reading = read(f"#!/bin/bash\n{directive}\n{MEGATRON}\n")
    assert request_ in unknown(reading)
    assert "cluster.accelerators_per_node" not in given(reading) and "layout.nodes" not in given(reading)
    assert counts(reading).get("accelerators") == accelerators


@pytest.mark.parametrize(
    ("directives", "nodes", "accelerators"),
    [
        ("#PBS -l select=1:ncpus=64:ngpus=8,walltime=1:00:00", 1, 8),
        ("#PBS -l nodes=1:ppn=16:gpus=4", 1, 4),
        ("#BSUB -nnodes 1\n#BSUB -gpu 'num=6:mode=exclusive_process'", 1, 6),
        ("#PJM -L rscgrp=a,node=1", 1, None),
        ("#COBALT -n 1 -t 30", 1, None),
        ("#flux: -N 1", 1, None),
        ("# flux: --nodes=1 --nslots=4\n# flux: --gpus-per-slot=2", 1, 8),
        ("#PBS -l select=1:ngpus=8\n#PBS -l select=1:ngpus=8", 1, 8),
        ("#PBS -l select=2:ngpus=4,place=pack:excl", 1, 8),
        ("#PBS -l select=1:ngpus=8:host='gn1'", 1, 8),
        ("#BSUB -n 4\n#BSUB -R 'span[hosts=1] rusage[mem=4G]'\n#BSUB -gpu num=1/task:mode=shared", 1, 4),
        ("#OAR -l {gpu_model='A100'}/nodes=1/gpu=4,walltime=1:00:00", 1, 4),
        ("#OAR -l nodes=4/gpu=8,walltime=1:00:00", None, 8),
        ("#PBS -l nodes=gn1:ppn=8:gpus=2+gn2:ppn=8:gpus=2+2:gpus=2", None, 2),
        ("#BSUB -n 32\n#BSUB -R span[ptile=8]\n#BSUB -gpu num=8", None, 8),
        ("#PBS -l select=4:ngpus=8\n#PBS -l place=scatter:excl", None, 8),
        ("#PBS -l nodes=4:gpus=8", None, 8),
        ("#BSUB -nnodes 4", None, None),
        ("#PJM -L rscgrp=a,node=4,elapse=1:00:00", None, None),
    ],
)
def test_nodes_and_accelerators_that_another_scheduler_is_asked_for(
    directives: str, nodes: int | None, accelerators: int | None
) -> None:
    """A launch runs on the one node of a job, but need not run on all of several."""
    reading = read(f"#!/bin/bash\n{directives}\n{MEGATRON}\n")
    found = given(reading)
    assert (found.get("layout.nodes"), found.get("cluster.accelerators_per_node")) == (nodes, accelerators)
    assert ("layout.nodes: 4" in unknown(reading)) == (nodes is None)


def test_a_replica_that_takes_all_accelerators_runs_on_all_nodes_of_its_job() -> None:
    serve = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 8 --pipeline-parallel-size 2"
    found = given(read(f"#!/bin/bash\n#PBS -l nodes=2:gpus=8\n{serve}\n"))
    assert (found["layout.nodes"], found["cluster.accelerators_per_node"]) == (2, 8)


def test_a_launch_on_the_hosts_of_a_job_of_pbs_runs_on_all_of_them() -> None:
    launch = "uniq $PBS_NODEFILE > hosts\ndeepspeed --hostfile hosts train.py --per_device_train_batch_size 2 --bf16"
    found = given(read(f"#!/bin/bash\n#PBS -l select=2:ngpus=4,place=scatter\n{launch}\n"))
    assert (found["layout.nodes"], found["cluster.accelerators_per_node"]) == (2, 4)


@pytest.mark.parametrize("directive", ["#PBS -q gpu", "#PBS -l walltime=1:00:00", "# select=2 nodes", "#BSUB -W 2:00"])
def test_other_directives_and_comments_are_not(directive: str) -> None:
    assert "scheduler" not in unknown(read(f"#!/bin/bash\n{directive}\n{MEGATRON}\n"))


def test_the_platform_that_is_missing_has_the_accelerators_of_a_node_not_its_ranks() -> None:
    """Three of the four accelerators train; the fourth generates samples."""
    job = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\naccelerate launch --num_processes 3 train.py\n"
    reading = read(job)
    assert counts(reading)["ranks"] == 3
    assert "a platform with nodes of 4 accelerators" in missing_machine(reading)


BY_BRANCH = """\
if [ -x "$HOME/.venv/bin/vllm" ]; then
  VLLM_BIN="$HOME/.venv/bin/vllm"
elif command -v vllm; then
  VLLM_BIN="$(command -v vllm)"
fi
"""


@pytest.mark.parametrize(
    "command",
    [
        'VLLM="$HOME/.venv/bin/vllm"\nexec "${VLLM}" serve a/b',
        'VLLM=${VLLM:-vllm}\n$VLLM serve "$MODEL"',
        '"$VLLM_CMD" serve "$MODEL"',
        '"${VLLM_BIN:-/opt/vllm}" serve \\\n  a/b',
        '$(command -v vllm) serve "$MODEL"',
        f'{BY_BRANCH}exec "${{VLLM_BIN}}" serve "$MODEL"',
    ],
)
def test_a_variable_names_the_program_of_a_server(command: str) -> None:
    found = given(read(f"#!/bin/bash\n{command} --tensor-parallel-size 2 --kv-cache-dtype fp8\n"))
    assert (found["layout.framework"], found["layout.tp"]) == ("vllm", 2)


def test_a_variable_of_sglang_names_its_program() -> None:
    found = given(read('#!/bin/bash\n"$SGLANG_BIN" serve --model-path a/b --tp-size 4\n'))
    assert (found["layout.framework"], found["layout.tp"]) == ("sglang", 4)
