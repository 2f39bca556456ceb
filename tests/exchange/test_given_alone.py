"""Laws of defaults of variables that only an argument of the script sets, and of the ranks of job scripts."""

from __future__ import annotations

import pytest

from .imports import counts, given, read

LAUNCH = "python -m verl.trainer.main_ppo data.train_batch_size=32 actor_rollout_ref.rollout.n=$N trainer.nnodes=1\n"
LOOPS = (
    "while getopts ':n:' opt; do\n  case ${opt} in\n    n ) N=$OPTARG;;\n  esac\ndone\n",
    "while [[ $# -gt 0 ]]; do\n  case $1 in\n    --n) N=$2; shift 2;;\n  esac\ndone\n",
    "while [[ $# -gt 0 ]]; do\n  case $1 in\n    --many) N=64; shift;;\n  esac\ndone\n",
)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("default", ['N="${N:-8}"\n', ": ${N:=8}\n"])
def test_a_default_behind_the_loop_over_the_arguments_holds(loop: str, default: str) -> None:
    found = given(read(f"#!/bin/bash\n{loop}{default}{LAUNCH}"))
    assert found["workload.rl.samples_per_prompt"] == 8


@pytest.mark.parametrize("loop", LOOPS)
def test_without_a_default_the_value_is_open(loop: str) -> None:
    assert "workload.rl.samples_per_prompt" not in given(read(f"#!/bin/bash\n{loop}{LAUNCH}"))


def test_a_value_of_an_undecided_test_is_no_default() -> None:
    text = f"#!/bin/bash\nif [ -f $HOME/large ]; then\n  N=64\nfi\nN=${{N:-8}}\n{LAUNCH}"
    assert "workload.rl.samples_per_prompt" not in given(read(text))


JOB = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-task=4\n"


@pytest.mark.parametrize(
    ("commands", "ranks"),
    [
        ("srun deepspeed --no_ssh --num_gpus 4 own.py\n", 4),
        ("srun deepspeed --no_ssh \\\n  --num_gpus $SLURM_GPUS_ON_NODE own.py\n", 4),
        ("srun bash -c './env/bin/deepspeed --num_gpus ${SLURM_GPUS_ON_NODE} own.py'\n", 4),
        ("# srun deepspeed --num_gpus 4 own.py\nsrun python own.py\n", None),
        ("srun python own.py --deepspeed a.json --num_gpus 2\n", None),
        ("srun deepspeed own.py --num_gpus 2\n", None),
        ("srun --nodes=2 --ntasks-per-node=4 ./own -b 8\n", 4),
        ("srun --ntasks-per-node=1 ./own --world-size 8\n", None),
        ("srun --ntasks-per-node=4 ./own\nsrun --ntasks-per-node=2 ./own\n", None),
        ("srun --ntasks-per-node=4 ./own\nsrun ./own\n", None),
        ("if [ -f $HOME/a ]; then\n  srun --ntasks-per-node=4 ./own\nfi\n", None),
    ],
)
def test_the_ranks_of_a_job_are_those_of_its_launcher_or_its_steps(commands: str, ranks: int | None) -> None:
    assert counts(read(JOB + commands)).get("ranks_per_node") == ranks


@pytest.mark.parametrize(("stated", "stages"), [("0", 1), ("1", 1), ("4", 4)])
def test_no_pipeline_of_gpt_neox_is_one_stage(stated: str, stages: int) -> None:
    text = f'{{\n  "pipe_parallel_size": {stated},\n  "model_parallel_size": 1,\n  "num_layers": 4\n}}\n'
    assert given(read(text, name="own.yml"))["layout.pp"] == stages
