"""Laws of job scripts of schedulers other than Slurm that start an unknown program."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError

from .imports import counts, given, read, unknown

RUN = "mpiexec -n 8 ./simulate input.txt"


@pytest.mark.parametrize(
    ("directives", "nodes", "accelerators", "of_job"),
    [
        ("#PBS -l select=1:ngpus=4:host='a'+1:ngpus=4:host='b'", 2, 4, None),
        ("#PBS -l select=1:ngpus=4:host=a+1:ngpus=4:host=a", 1, 8, None),
        ("#PBS -l select=1:ncpus=2+2:ngpus=4 -l place=scatter", 2, 4, None),
        ("#PBS -l select=1:ngpus=4+1:ngpus=2,place=scatter", 2, None, 6),
        ("#PBS -lselect=4:ngpus=4", None, None, 16),
        ('#PBS -l "select=1:ngpus=4,walltime=1:00:00"', 1, 4, None),
        ("#PBS -l nodes=2:ppn=4:gpus=2:exclusive_process,mem=8gb", 2, 2, None),
        ("#PBS -l nodes=1:ppn=4,gpus=2", 1, 2, None),
        ("#PBS -l nodes=2:ppn=4,gpus=2", 2, None, 2),
        ("#PBS -l ngpus=16,ncpus=192", None, None, 16),
        ("#MSUB -l nodes=2:gpus=4", 2, 4, None),
        ("#BSUB -n 4\n#BSUB -gpu num=2/host:j_exclusive=yes", None, 2, None),
        ("#BSUB -n 20\n#BSUB -R 'select[a] span[ptile=8]'\n#BSUB -gpu gmodel=A100:num=4", 3, 4, None),
        ("#BSUB -n 8,16\n#BSUB -R 'span[ptile=8]'\n#BSUB -gpu num=4", None, 4, None),
        ("#flux: -N 4\n#flux: -n 8 -g 4", 4, 8, None),
        ("#FLUX: --nslots=6 --gpus-per-slot=1", None, None, 6),
        ("#OAR -l host=2/gpu=4/core=8,walltime=1", 2, 4, None),
        ("#OAR -l /gpu=2,walltime=1", None, None, 2),
        ("#BSUB -n 1\n#BSUB -R 'rusage[mem=4096,ngpus_physical=2]'", 1, 2, None),
        ("#$ -cwd\n#$ -l h_rt=10:00:00,gpu=4", 1, 4, None),
        ("#$ -l tmem=8G -l ngpus=2", 1, 2, None),
    ],
)
def test_a_job_states_the_nodes_and_accelerators_that_its_scheduler_would_give_it(
    directives: str, nodes: int | None, accelerators: int | None, of_job: int | None
) -> None:
    reading = read(f"#!/bin/bash\n{directives}\n{RUN}\n")
    found = given(reading)
    assert reading.kind == "batch-job"
    assert (found.get("layout.nodes"), found.get("cluster.accelerators_per_node")) == (nodes, accelerators)
    assert counts(reading).get("accelerators") == of_job
    assert (nodes is None or accelerators is None) <= bool(of_job or "of each host" in unknown(reading))


@pytest.mark.parametrize(
    "directives",
    [
        "#$ -l mem=10G\n#$ -pe smp 4",
        "#$ -pe smp 4\n#$ -l gpu=1",
        "#$ -l rt_F=4",
        "#PBS -l select=4:ncpus=64",
        "#BSUB -nnodes 4",
        "##PBS -l select=1:ngpus=8",
        "# PBS -l ngpus=8",
        "#COBALT -n 4",
    ],
)
def test_a_job_without_a_count_of_accelerators_is_not_read(directives: str) -> None:
    with pytest.raises(FormatError):
        read(f"#!/bin/bash\n{directives}\n{RUN}\n")


def test_a_launch_that_a_reader_knows_comes_before_its_job() -> None:
    text = "#!/bin/bash\n#PBS -l select=1:ngpus=4\ntorchrun --nproc_per_node=4 own.py\n"
    reading = read(text)
    assert reading.kind == "launcher" and given(reading)["cluster.accelerators_per_node"] == 4


RANKS = """\
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gres=gpu:4
if [[ -n "${SLURM_GPUS_ON_NODE:-}" ]]; then
  N="${SLURM_GPUS_ON_NODE}"
else
  N="${N:-1}"
fi
START="srun %s torchrun --nproc_per_node=${N} $(which own)"
${START} --config x
"""


def test_a_launcher_in_a_variable_starts_the_ranks_that_slurm_sets() -> None:
    """The default of one rank applies only without Slurm."""
    assert counts(read(RANKS % "uv run"))["ranks_per_node"] == 4


def test_ranks_that_a_test_of_the_script_leaves_open_are_not_stated() -> None:
    text = (
        RANKS.replace('[[ -n "${SLURM_GPUS_ON_NODE:-}" ]]', "nvidia-smi -L | grep -q H100").replace(
            '"${SLURM_GPUS_ON_NODE}"', "2"
        )
        % "uv run"
    )
    assert "ranks_per_node" not in counts(read(text))


def test_whole_nodes_of_grid_engine_are_listed_with_a_launch_that_may_not_use_all() -> None:
    text = "#!/bin/bash\n#$ -l rt_AF=16\n#$ -l h_rt=1:00:00\nmpirun -np 128 python pretrain_gpt.py --num-layers 2 "
    reading = read(f"{text}--hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 4\n")
    assert given(reading)["layout.tp"] == 4
    assert "layout.nodes: 16: of the job" in unknown(reading)


def test_what_a_site_decides_of_a_request_is_listed_with_the_launch() -> None:
    run = "torchrun --nproc_per_node=4 own.py"
    reading = read(f"#!/bin/bash\n#$ -pe smp 8\n#$ -l gpu=1\n{run}\n")
    assert "of each of 8 slots, or of the job" in unknown(reading)
    assert "cluster.accelerators_per_node" not in given(reading)
    reading = read(f"#!/bin/bash\n#BSUB -n 4\n#BSUB -R 'rusage[ngpus_excl_p=2]'\n{run}\n")
    assert "ngpus_excl_p=2: of each host or of each task" in unknown(reading)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ClusterName=x\nSlurmctldHost=h\nPartitionName=gpu Nodes=ALL\n", "names no node"),
        ("#!/bin/bash\npython ./deepy.py train.py -d configs 13B.yml\n", "import the configurations that it names"),
        ("image: own/vllm-openai\nenv:\n  - {name: TENSOR_PARALLEL_SIZE, value: '4'}\n", "TENSOR_PARALLEL_SIZE 4"),
    ],
)
def test_what_a_file_without_a_count_lacks_is_told(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(text)


@pytest.mark.parametrize(
    ("command", "read_as_job"),
    [
        ("nvidia-smi\nmpiexec -n 8 --ppn 4 python own.py", True),
        ("mpiexec -n 8 ./set_affinity_gpu_polaris.sh python own.py", True),
        ("export CUDA_VISIBLE_DEVICES=0,1\nmpiexec -n 2 python own.py", True),
        ("mpiexec -n 8 ./simulate", False),
        ("# nvidia-smi\nmpiexec -n 8 ./simulate", False),
    ],
)
def test_a_job_of_whole_nodes_states_them_where_its_commands_use_accelerators(command: str, read_as_job: bool) -> None:
    job = f"#!/bin/bash\n#PBS -l select=2:system=polaris\n#PBS -l place=scatter\n{command}\n"
    if not read_as_job:
        with pytest.raises(FormatError):
            read(job)
        return
    found = read(job)
    assert given(found) == {"layout.nodes": 2}
    assert "cluster.accelerators_per_node: the job asks for none" in unknown(found)


def test_a_slurm_job_that_asks_for_no_accelerators_is_refused() -> None:
    with pytest.raises(FormatError, match="asks for no accelerators"):
        read("#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=0\npython own.py\n")
