"""Logs of collective libraries that end without an error, with words that indicate a hang and words that do not.

Published: NVIDIA/nccl issues 85, 417 and 719, NVIDIA/nccl-tests issues 117 and 152, noonghunna/club-3090 issue 873
(logs that end), NVIDIA/nccl issue 1329 (disabled peer access), NVIDIA/nccl issues 1672 and 1410 (multicast),
NVIDIA/nccl issues 1116, 750 and 2353 (releases that hang).
"""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.diagnosis.release_causes import published_faults
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.statements.unfinished import read_unfinished
from tests.analysis.test_diagnosis import cluster, diagnosed, names
from tests.settings import SETTINGS

NODES, ONE = "{platform: dgx-h100, nodes: 2}", "{platform: dgx-h100, nodes: 1}"
GB200 = "{platform: gb200-nvl72, nodes: 36}"
PCIE = "{accelerator: t4, accelerators_per_node: 4, nodes: 1, scale_up: {topology: pcie, domain: 4}}"
WARN = "n:1:2 [0] misc/socket.cc:50 NCCL WARN Net : Connection closed by remote peer n2<4001>"
CONNECTING = "n:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA"
DIRECT = "n:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"
CONNECTED = f"{CONNECTING}\nn:1:2 [0] NCCL INFO Connected all rings\nn:1:2 [0] NCCL INFO Connected all trees"
INIT = (
    "n:1:{0} [{0}] NCCL INFO ncclCommInitRank comm 0x7 rank {0} nranks 2 cudaDev 0 busId 64000 commId 0x4e - Init {1}"
)


def causes(machine: str, lines: str, ranks: int = 16) -> list[tuple[str, float, str]]:
    started = read_unfinished(f"# Rank {ranks - 1} Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{lines}\n")
    assert started is not None
    compared = diagnosed(cluster(machine), started)
    return [(cause.name, cause.weight, cause.evidence) for cause in compared.causes]


@pytest.mark.parametrize(
    ("machine", "ranks", "lines", "first", "further"),
    [
        (NODES, 16, CONNECTING, "unreachable-peer", "wrong-interface"),
        (NODES, 16, CONNECTED, "unreachable-peer", "ranks-diverge"),
        (PCIE, 4, DIRECT, "acs", "iommu-translation"),
    ],
)
def test_a_log_that_ends_with_a_line_of_a_communicator_hung(
    machine: str, ranks: int, lines: str, first: str, further: str
) -> None:
    found = causes(machine, lines, ranks)
    assert found[0][0] == first and further in [name for name, _, _ in found]
    assert all(weight < 1 for _, weight, _ in found), "a silent end proves none"


@pytest.mark.parametrize(
    ("machine", "ranks", "lines"),
    [
        (NODES, 16, f"{CONNECTED}\n{WARN}"),  # a warning that a run does not outlive
        (NODES, 16, f"{CONNECTED}\nn:1:2 [0] NCCL INFO comm 0x7 rank 0 nranks 2 cudaDev 0 busId 1 - Destroy COMPLETE"),
        (NODES, 16, f"{CONNECTED}\nepoch 1 done"),  # a line of the program follows
        (ONE, 8, DIRECT),  # links between the accelerators: neither access control nor an IOMMU
    ],
)
def test_other_last_lines_are_no_silent_end(machine: str, ranks: int, lines: str) -> None:
    found = causes(machine, lines, ranks)
    assert not any("the last line" in evidence for _, _, evidence in found)
    assert not {"acs", "iommu-translation", "absent-ranks"} & {name for name, _, _ in found}


def test_a_rank_that_was_not_initialized_is_told_by_its_number() -> None:
    lines = "\n".join((INIT.format(0, "START"), INIT.format(1, "START"), INIT.format(1, "COMPLETE")))
    assert any("rank 0 is not" in evidence for _, _, evidence in causes(NODES, lines))
    every = "\n".join((lines, INIT.format(0, "COMPLETE")))
    assert not any("is not" in evidence for _, _, evidence in causes(NODES, every))


def test_what_only_slows_a_run_comes_behind_what_stops_it() -> None:
    found = causes(NODES, CONNECTED.replace("/GDRDMA", ""))
    weights = {name: weight for name, weight, _ in found}
    assert weights["gdrdma" if "gdrdma" in weights else "gpudirect-off"] <= 0.25 < found[0][1]


DISABLED = "n:1:2 [0] NCCL INFO P2P is disabled between connected GPUs 1 and 0."
SAME = "n:1:2 [0] NCCL INFO P2P is enabled between connected GPUs 1 and 0."
NVLS = "n:1:2 [0] NCCL INFO transport/nvls.cc:329 -> 1"
REGISTERED = "n:1:2 [0] NCCL INFO transport/p2p.cc:329 -> 1"
OWN = "n:1:2 [0] enqueue.cc:42 NCCL WARN Cuda failure 1 'invalid argument'"
MINE = "RuntimeError: Cuda failure 1 'invalid argument'"


@pytest.mark.parametrize(
    ("machine", "hit", "near", "cause"),
    [
        (ONE, DISABLED, SAME, "peer-access-off"),
        (ONE, NVLS, REGISTERED, "fabric-manager"),
        (ONE, OWN, MINE, "library-release"),
    ],
)
def test_a_line_of_the_library_names_a_cause_and_one_like_it_does_not(
    machine: str, hit: str, near: str, cause: str
) -> None:
    assert cause in [name for name, _, _ in causes(machine, hit, 8)]
    assert causes(machine, near, 8)[:1] != causes(machine, hit, 8)[:1]


@pytest.mark.parametrize(
    "line",
    [
        "libfabric:1:1:efa:cq:rxr_cq_read():1<warn> No data available",
        "E0302 09:15:07.98 7 rdma_endpoint.cpp:370] [Handshake] Failed to modify QP to RTR",
        "Memory access fault by GPU node-2 (Agent handle: 0x5) on address 0x7f. Reason: Unknown.",
        "n:1:2 [0] transport/net_ib.cc:9 NCCL WARN NET/IB : Got completion from peer n2<1> with error 12, opcode 0",
    ],
)
def test_a_line_with_several_causes_proves_none(line: str) -> None:
    assert all(weight < 1 for _, weight, _ in causes(NODES, line))


def first_of_release(machine: str, lines: str) -> list[str]:
    host = cluster(machine)
    started = read_benchmark(lines) if "# Rank" in lines else read_unfinished(lines)
    assert started is not None
    overrides = LogOverrides(None, host.nodes * host.ranks_per_node)
    found = diagnosis_of(
        host, [("a.log", started)], overrides, published_faults(host, SETTINGS.catalog), SETTINGS.catalog
    )
    return names(found.compared[0])


@pytest.mark.parametrize(
    ("machine", "hit", "near"),
    [
        (GB200, "NCCL version 2.28.9+cuda13.0", "NCCL version 2.29.3+cuda13.0"),
        (NODES, "NCCL version 2.14.3+cuda11.7\nCUDA_LAUNCH_BLOCKING=1", "NCCL version 2.14.3+cuda11.7"),
        (
            NODES,
            "NCCL version 2.14.3+cuda11.7\nCUDA_LAUNCH_BLOCKING=1",
            "NCCL version 2.17.1+cuda12.0\nCUDA_LAUNCH_BLOCKING=1",
        ),
    ],
)
def test_a_release_that_hangs_is_named_for_a_log_that_ends(machine: str, hit: str, near: str) -> None:
    assert "release-fault" in first_of_release(machine, f"{hit}\n{CONNECTED}")
    assert "release-fault" not in first_of_release(machine, f"{near}\n{CONNECTED}")
