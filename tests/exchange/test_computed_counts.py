"""Laws of numbers that a script calculates by other programs, and of the nodes of a job that it counts."""

from __future__ import annotations

import pytest

from clusterspec.exchange.shell import script_of

from .imports import counts, given, read, unknown


@pytest.mark.parametrize(
    ("substitution", "value"),
    [
        ("$(expr $N \\* 8)", "32"),
        ("`expr $N + 1`", "5"),
        ('$(echo "$N * (8 - 2) / 3" | bc)', "8"),
        ("$(expr $N \\* $UNSET)", None),
        ('$(echo "10^9 / $N" | bc)', None),
        ('$(echo "1.5 * $N" | bc)', None),
        ("$(expr length $N)", None),
        ('$(echo "$N * 2" | tr 8 9)', None),
    ],
)
def test_programs_that_calculate_with_whole_numbers_give_a_number(substitution: str, value: str | None) -> None:
    """A power, a fraction and a function of text mean something else in Bash, or nothing."""
    word = script_of(f"N=4\nM={substitution}\nrun $M\n").commands[-1].words[-1].text
    assert word == (value or word) and word.isdecimal() == (value is not None)


JOB = """\
#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8
NODES=%s
srun accelerate launch --config_file c.yaml --num_machines $SLURM_NNODES --num_processes $((8 * NODES)) \\
  train.py --per_device_train_batch_size 2 --gradient_accumulation_steps 3
"""


@pytest.mark.parametrize(
    "hosts",
    [
        '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l)',
        "`scontrol show hostname $SLURM_NODELIST | wc -l`",
        "$(scontrol show hostnames | wc -l)",
    ],
)
def test_the_hosts_of_a_job_are_as_many_as_its_nodes(hosts: str) -> None:
    """4 nodes × 8 ranks × 2 sequences × 3 accumulated: 192."""
    reading = read(JOB % hosts)
    assert counts(reading)["ranks"] == 32
    assert given(reading)["workload.global_batch"] == 192


@pytest.mark.parametrize("hosts", ["$(cat hosts | wc -l)", "$(scontrol show hostnames $OTHER | wc -l)"])
def test_other_lists_of_hosts_are_not_counted(hosts: str) -> None:
    reading = read(JOB % hosts)
    assert "workload.global_batch" not in given(reading) and "num_processes" in unknown(reading)
