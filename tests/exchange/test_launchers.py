"""Launches of programs that no reader knows, and the messages that say what of a script was read."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown


@pytest.mark.parametrize(
    ("text", "nodes", "ranks", "told"),
    [
        ("torchrun --nnodes=4 --nproc-per-node=8 a/own.py --lr 1 --width=2\n", 4, 8, "are not read: --lr, --width"),
        ("deepspeed --num_gpus 4 --num_nodes 2 own.py\n", 2, 4, "own.py: no reader knows this program"),
        ("A=1 deepspeed --include a:0,1@b:0,1 own.py\n", 2, 2, "own.py: no reader knows"),
        ("torchrun --nproc_per_node 8 own.py\n", 1, 8, "own.py: no reader knows"),
        ("lightning run model --devices=8 --num-nodes=2 own.py --lr 1\n", 2, 8, "are not read: --lr"),
        ("fabric run --num_nodes 2 --devices auto own.py --devices 4\n", 2, None, "devices: auto: not a number"),
        ("python3 -m torch.distributed.run --nnodes 2 --nproc_per_node 8 -m own.train\n", 2, 8, "own.train: no reader"),
        ("srun torchrun --nnodes $N --nproc_per_node 8 own.py\n", None, 8, "nnodes: $N: not a number"),
        ("torchrun --nnodes 2 --nproc_per_node gpu own.py --nnodes 9\n", 2, None, "nproc_per_node: gpu: not a number"),
    ],
)
def test_the_launcher_of_an_unknown_program_states_nodes_and_ranks(
    text: str, nodes: int | None, ranks: int | None, told: str
) -> None:
    reading = read(text)
    assert reading.kind == "launcher"
    assert given(reading).get("layout.nodes") == nodes
    assert counts(reading).get("ranks_per_node") == ranks
    assert told in unknown(reading)


def test_different_launches_are_parts() -> None:
    with pytest.raises(SeveralParts, match="holds 2 launches"):
        read("torchrun --nproc_per_node 8 a.py\ntorchrun --nproc_per_node 4 b.py\n")
    reading = read("torchrun --nproc_per_node 8 a.py --x 1\ntorchrun --nproc_per_node 8 a.py --x 2\n")
    assert reading.kind == "launcher"


@pytest.mark.parametrize(
    "text",
    [
        "torchrun --nproc_per_node 2 -m pytest tests\n",
        "# torchrun --nproc_per_node 8 own.py\necho done\n",
        "the launch was: torchrun --nproc_per_node 8 own.py\n",
        "torchrun --nproc_per_node 8 own.py recipes=x  # \nRL2.trainer\n",
    ],
)
def test_tests_comments_and_prose_are_no_launch(text: str) -> None:
    with pytest.raises(FormatError):
        read(text)


JOB = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        ('P="/a/own.py"\nsrun torchrun \\\n  --nnodes=2 $P\n', "it starts own.py (line 6, without options)"),
        ("srun python own.py --lr 1 --width=2\n", "it starts own.py (line 4, with --lr, --width)"),
        ("bash tools/run.sh --x 1\n", "it starts run.sh (line 4): import that script"),
        ("apptainer run a.sif own-cli train b/c.yaml\n", "it starts own-cli with c.yaml (line 4): import that file"),
        ("source env.sh\npip install a\npython -m pip install b\n", "no launch of a framework that a reader knows"),
    ],
)
def test_a_job_names_the_program_that_no_reader_knows(commands: str, told: str) -> None:
    found = unknown(read(JOB + commands))
    assert told in found
    assert "it starts" in told or "it starts" not in found


def test_a_topology_alone_is_no_topology_of_slurm() -> None:
    with pytest.raises(FormatError, match="matches no import format"):
        read("hardware:\n  network:\n    topology: torus\n")


def test_the_module_of_a_launch_is_no_option_left_unread() -> None:
    found = unknown(read("python3 -m vllm.entrypoints.openai.api_server --model a/b --port 8000\n"))
    assert "not imported: port" in found
