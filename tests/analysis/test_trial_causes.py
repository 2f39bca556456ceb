"""Causes by what a report says that was tried: what helped, what was in vain, and where the run works."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clusterspec.logs.benchmarks.benchmark import Evidence
from tests.analysis.test_diagnosis import cluster, diagnosed, log, names
from tests.analysis.test_program_lines import PAIR, PCIE, read

HUNG = (
    "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/direct pointer\n"
    "h:1:2 [0] NCCL INFO comm 0x2 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 47000 commId 0x4 - Init COMPLETE\n"
)
LATE = (
    "[rank1]:[E723 09:51:12.1 ProcessGroupNCCL.cpp:683] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600060 milliseconds\n"
)


def _first(machine: str, text: str) -> str:
    found = read(machine, text, 4)
    assert found is not None
    return names(found)[0]


@pytest.mark.parametrize(
    ("machine", "text", "cause"),
    [
        (PCIE, f"{HUNG}With NCCL_P2P_DISABLE=1 it works.", "acs"),
        ("{platform: dgx-h100, nodes: 1}", f"{HUNG}With NCCL_P2P_DISABLE=1 it works.", "fabric-manager"),
        (PCIE, f"{HUNG}Disabling the IOMMU resolved it.", "iommu-translation"),
        (PAIR, f"{LATE}Replacing the NCCL of pip by the one of the system fixed it.", "library-release"),
        (PAIR, f"{LATE}NCCL_SOCKET_IFNAME=eth1 on both nodes solved this.", "wrong-interface"),
        (PAIR, f"{LATE}It works with --shm-size=16g.", "shared-memory"),
    ],
)
def test_what_helped_names_the_cause_that_it_circumvents_first(machine: str, text: str, cause: str) -> None:
    assert _first(machine, text) == cause


def test_a_report_of_what_helped_is_read_without_a_log() -> None:
    assert (
        _first(PCIE, "all_reduce_perf hangs. With iommu=pt on the kernel command line it works.") == "iommu-translation"
    )
    asked = read(PCIE, "all_reduce_perf hangs. Does it work with iommu=pt?", 4)
    assert asked is not None and not asked.is_decided and set(names(asked)[:2]) == {"acs", "iommu-translation"}


def test_what_changed_nothing_contradicts_the_causes_that_it_would_have_circumvented() -> None:
    before = read(PCIE, HUNG, 4)
    after = read(PCIE, f"{HUNG}NCCL_P2P_DISABLE=1 does not help.", 4)
    assert before is not None and after is not None
    assert names(before)[0] == "acs" and all(each.weight <= 0.1 for each in after.causes if each.name == "acs")


def test_a_cause_that_a_line_states_stays_where_a_remedy_was_in_vain() -> None:
    full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\nA smaller batch did not help."
    assert _first(PAIR, full) == "memory-full"


def test_a_run_that_works_on_one_node_has_a_cause_between_nodes() -> None:
    found = read(PAIR, f"{LATE}On a single node everything works.", 16)
    assert found is not None
    weights = {each.name: each.weight for each in found.causes}
    assert weights["unreachable-peer"] == pytest.approx(0.35)  # WEAK, and what the place adds


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.1.1", "gpudirect-refused"),
        ("nvidia_peermem is not loaded on node 2", "gpudirect-refused"),
        (
            "Call to cuMemCreate(&handle, bytes, &prop, 0) failed. (Cu failure: operation not permitted)",
            "fabric-manager",
        ),
        ("NvlinkTransport: cuMemCreate failed: 800", "fabric-manager"),
        ("Verification error @ element 1: val = 0.000000, ref = 4.000000", "iommu-translation"),
    ],
)
def test_a_fact_of_the_machine_names_its_cause(line: str, cause: str) -> None:
    assert _first(PAIR, line) == cause


def test_modules_that_are_loaded_and_calls_that_succeed_state_nothing() -> None:
    assert read(PAIR, "nvidia_peermem is loaded on node 2\ncuMemCreate of 800 bytes returned", 4) is None


def test_a_start_of_mpi_that_never_ends_is_of_its_library() -> None:
    start = "[TensorRT-LLM][INFO] Initializing MPI with thread mode 3"
    assert _first(PAIR, start) == "library-release"
    assert read(PAIR, f"{start}\n[TensorRT-LLM][INFO] MPI size: 1, rank: 0", 4) is None


def test_a_release_that_brought_wrong_values_is_their_cause() -> None:
    machine = cluster(PAIR)
    sound = log(machine, 16)
    wrong = replace(sound, series=(replace(sound.series[0], wrong=12),))
    begun = Evidence("trial helped release of library", "Starting from nccl-2.27.3 it fails", 1)
    assert names(diagnosed(machine, wrong))[0] == "wrong-results"
    assert names(diagnosed(machine, replace(wrong, evidence=(begun,))))[0] == "release-fault"
    assert names(diagnosed(machine, replace(sound, evidence=(begun,)))) == []  # nothing to explain


def test_a_setting_only_circumvents_what_a_release_is_told_to_bring() -> None:
    helping = "The job hangs at start. It starts with NCCL_MAX_NCHANNELS=20."
    told = "It happens with plugin 1.19.2 and 1.20.0, and not with plugin 1.4.0."
    assert _first(PAIR, helping) == "invalid-setting"
    assert _first(PAIR, f"{helping}\n{told}") == "library-release"


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("With NCCL 2.18 it works, with NCCL 2.19 it hangs.", "release-fault"),
        ("Downgrading RCCL from 2.20.5 to 2.18.3 fixed it.", "release-fault"),
        ("Downgrading torch from 2.3 to 2.2 (NCCL 2.20 to 2.19) fixed it.", "library-release"),  # either of two
        ("With vLLM 0.11 it works, with vLLM 0.12 it hangs.", "library-release"),
    ],
)
def test_another_release_of_the_collective_library_shows_a_fault_of_its_release(told: str, cause: str) -> None:
    found = read(PAIR, LATE + told, 16)
    assert found is not None and names(found)[0] == cause and "library-release" in names(found)[:2]
