"""Starts of ranks in logs: on which device each begins, by NCCL, and on which node, by Intel MPI."""

from __future__ import annotations

import pytest

from clusterspec.logs.benchmarks import launch_lines
from clusterspec.logs.benchmarks.launch_lines import placements_in
from clusterspec.logs.statements import shared_devices
from clusterspec.logs.statements.shared_devices import ranks_on_one_device

START = "{host}:9:9 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 4 cudaDev 0 nvmlDev 0 busId {device} "


def start(rank: int, device: str = "1b000", host: str = "n1", communicator: str = "0xa", state: str = "START") -> str:
    return START.format(host=host, rank=rank, device=device) + f"commId {communicator} - Init {state}"


SHARED = "ranks {} and {} of one communicator start on the device 1b000 of n1"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([start(0), start(1)], (SHARED.format(0, 1), 2)),
        (["a line", start(2), "", start(0), start(1)], (SHARED.format(2, 0), 4)),  # in the order of the lines
        ([start(0), start(0)], None),  # one rank that prints its start twice
        ([start(0), start(0), start(1)], (SHARED.format(0, 1), 3)),
        ([start(0), start(1, device="1c000")], None),
        ([start(0), start(1, host="n2")], None),
        ([start(0), start(1, communicator="0xb")], None),
        ([start(0), start(1), start(1, state="COMPLETE")], None),  # partitions of a device
        ([start(0), start(1), start(3, communicator="0xb", state="COMPLETE")], (SHARED.format(0, 1), 2)),
        ([start(0), start(1, communicator="0xb"), start(2, communicator="0xb")], (SHARED.format(1, 2), 3)),
        ([start(0).rjust(1_000), start(1)], (SHARED.format(0, 1), 2)),
        ([start(0).rjust(1_001), start(1)], None),  # not among the first 1,000 characters
        ([start(0).replace("NCCL", "RCCL").replace("nranks", "nRanks"), start(1)], (SHARED.format(0, 1), 2)),
    ],
)
def test_two_ranks_of_a_communicator_start_on_one_device(lines: list[str], found: tuple[str, int] | None) -> None:
    assert ranks_on_one_device("\n".join(lines)) == found


def test_a_limited_number_of_starts_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [start(rank, device=f"{rank}c000") for rank in range(2)] + [start(2), start(3)]
    for most, found in ((4, (SHARED.format(2, 3), 4)), (3, None)):
        monkeypatch.setattr(shared_devices, "MOST_LINES", most)
        assert ranks_on_one_device("\n".join(lines)) == found


HEAD = "[0] MPI startup(): Rank    Pid      Node name       Pin cpu"


def row(rank: int, node: str) -> str:
    return f"[0] MPI startup(): {rank}       {900 + rank}      {node}  {rank}"


@pytest.mark.parametrize(
    ("lines", "placed"),
    [
        ([HEAD, row(0, "a1"), row(1, "a1"), row(2, "a2")], [(3, 2, 1)]),
        (["mpirun", HEAD, row(0, "a1"), "", HEAD, row(0, "a1"), row(1, "a2")], [(1, 1, 2), (2, 2, 5)]),
        ([HEAD], []),
        ([row(0, "a1")], []),  # without its heading
        (["[0] MPI startup(): Intel(R) MPI Library, Version 2021.11", HEAD, row(0, "a1")], [(1, 1, 2)]),
        ([HEAD, "[0] MPI startup(): library kind: release", row(0, "a1")], [(1, 1, 1)]),
    ],
)
def test_intel_mpi_prints_the_node_of_each_rank(lines: list[str], placed: list[tuple[int, int, int]]) -> None:
    found = placements_in("\n".join(lines))
    assert [(each.ranks, each.nodes, each.line) for each in found] == placed


def test_a_limited_number_of_placements_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_lines, "MOST_LAUNCHES", 2)
    text = "\n".join(f"{HEAD}\n{row(0, f'a{number}')}" for number in range(3))
    assert [each.line for each in placements_in(text)] == [1, 3]
