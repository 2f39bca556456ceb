"""The ranks that a command of nccl-tests states: its threads times its accelerators."""

from __future__ import annotations

import pytest

from clusterspec.logs.benchmarks.nccl_commands import ranks_of_command


@pytest.mark.parametrize(
    ("options", "ranks"),
    [
        ("-g 8", 8),
        ("-t 4 -g 2", 8),
        ("--nthreads=4 --ngpus 8", 32),
        ("-b 8", 1),  # one of each where none is stated
        ("-g 0", None),
        ("-g", None),
        ("-t x -g 8", None),
        ("-t 1000 -g 100", 100_000),  # the largest machine that is read
        ("-t 99 -g 1010", 99_990),
        ("-t 11 -g 9091", None),  # 100,001
        ("-g 1000000", None),
    ],
)
def test_a_command_states_its_ranks_up_to_those_of_the_largest_machine(options: str, ranks: int | None) -> None:
    assert ranks_of_command(f"$ ./build/all_reduce_perf -e 1G {options}\n") == ranks


def test_commands_that_disagree_state_no_ranks() -> None:
    line = "./all_gather_perf -g {} -e 1G\n"
    assert ranks_of_command(line.format(8) * 2) == 8
    assert ranks_of_command(line.format(8) + line.format(4)) is ranks_of_command("") is None
