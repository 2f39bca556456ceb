"""Lines that leave the cause open: the family of causes, each with the measurement that decides."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.analysis.diagnosis.families import ANYWHERE, ONE_NODE, SEVERAL_NODES
from clusterspec.logs.statements.last_lines import PHASES
from clusterspec.logs.statements.raising_frames import OPERATIONS
from clusterspec.logs.statements.suggestions import FAMILIES
from tests.analysis.test_program_lines import PAIR, read

SYSTEM = "RuntimeError: NCCL error in: a.cpp:825, unhandled system error, NCCL version 2.7.8"
MEMBER = "initializing ddp: GLOBAL_RANK: {}, MEMBER: {}/8"
TRACE = "Traceback (most recent call last):\n  File 'a.py', line 1, in <module>\n"


@pytest.mark.parametrize(
    ("lines", "ranks", "causes"),
    [
        (SYSTEM, 16, ["unreachable-peer", "wrong-interface", "shared-memory"]),
        (SYSTEM, 8, ["shared-memory", "wrong-interface"]),
        ("ncclUnhandledCudaError: Call to CUDA function failed.", 16, ["unsupported-accelerator", "memory-full"]),
        ("ncclInvalidUsage: This usually reflects invalid usage of NCCL library.", 8, ["shared-accelerator"]),
        ("ncclRemoteError: A call failed possibly due to a network error", 16, ["peer-ended", "unreachable-peer"]),
        ("[2025-02-22 08:19:45 TP3] Init torch distributed begin.\n\n", 16, ["unreachable-peer", "wrong-interface"]),
        ("[TensorRT-LLM][INFO] Initializing MPI with thread mode 3\n", 16, ["library-release", "wrong-interface"]),
        ("[2025-02-22 08:19:45 TP3] Init torch distributed begin.", 8, ["acs", "iommu-translation"]),
        (f"{MEMBER.format(1, 2)}\n{MEMBER.format(0, 1)}", 16, ["absent-ranks", "unreachable-peer"]),
        (f"{TRACE}a.runner.util.NoValidHostFound: none of [1, 2]", 16, ["program-error"]),
        (f"{TRACE}[rank0]: KeyError: 'lm_head.weight'", 16, ["program-error"]),
    ],
)
def test_a_line_that_gives_no_reason_names_the_family_of_its_causes(lines: str, ranks: int, causes: list[str]) -> None:
    compared = read(PAIR, lines, ranks)
    assert compared is not None
    assert [each.name for each in compared.causes][: len(causes)] == causes
    assert all(each.weight < 0.4 and each.next for each in compared.causes)


@pytest.mark.parametrize(
    "lines",
    [
        "[TP3] Init torch distributed begin.\n[TP3] Load weight begin. avail mem=78.38 GB",
        "KeyError: 'lm_head.weight'",
        TRACE,
    ],
)
def test_a_start_that_goes_on_and_an_exception_without_traceback_name_nothing(lines: str) -> None:
    compared = read(PAIR, lines, 16)
    assert compared is None or not compared.causes


def test_a_family_is_silent_where_a_line_states_the_cause() -> None:
    compared = read(PAIR, f"{SYSTEM}\nsocketStartConnect: Connect to 10.0.0.8<4352> failed : Connection refused", 16)
    assert compared is not None
    assert [(each.name, each.weight) for each in compared.causes][:1] == [("unreachable-peer", 1.0)]
    assert all(each.evidence.startswith("line 2 ") for each in compared.causes)


@pytest.mark.parametrize(("second", "causes"), [("h-2", ["plugin-missing"]), ("h-1", [])])
def test_a_plugin_that_only_some_hosts_load_is_missing_on_the_others(second: str, causes: list[str]) -> None:
    lines = (
        "h-1:18:27 [5] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.\n"
        f"{second}:58:41 [0] NCCL INFO Plugin Path : /opt/hpcx/nccl_rdma_sharp_plugin/lib/libnccl-net.so"
    )
    compared = read(PAIR, lines, 16)
    assert compared is not None
    assert [each.name for each in compared.causes if each.name == "plugin-missing"] == causes


def test_ranks_that_all_started_wait_for_one_another() -> None:
    compared = read(PAIR, "\n".join(MEMBER.format(rank, rank + 1) for rank in range(8)), 16)
    assert compared is not None
    assert [each.name for each in compared.causes][:2] == ["unreachable-peer", "wrong-interface"]


@pytest.mark.parametrize(
    ("line", "causes"),
    [
        (
            "Waiting in store based barrier to initialize process group for rank: 3",
            ["absent-ranks", "unreachable-peer"],
        ),
        ("unable to connect to driver service on any of the following addresses: lo", ["unreachable-peer"]),
        ("[n1:153937] Read -1, expected 131072, errno = 1", ["invalid-setting"]),
        (
            "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
            ["driver-release", "missing-accelerator"],
        ),
        (
            'docker: could not select device driver "" with capabilities: [[gpu]].',
            ["library-release", "missing-accelerator"],
        ),
        ("UserWarning: TPU backend initialization is taking more than 60.0 seconds", ["absent-ranks"]),
        ("RuntimeError: CUDA error: unspecified launch failure", ["program-fault", "accelerator-fault"]),
        (
            "The actor is dead: Worker unexpectedly exits with a connection error code 2. End",
            ["host-memory-full"],
        ),
        (
            "2018/01/19 02:41 Failed to initialize NVML: could not load NVML library.",
            ["invalid-setting", "missing-accelerator"],
        ),
    ],
)
def test_what_has_a_second_cause_lists_it_below_the_first(line: str, causes: list[str]) -> None:
    """Published: NVIDIA/k8s-device-plugin issues 221 and 23 (the default runtime of Docker), HonuRobotics/dockwater
    pull 10 and coiled/feedback issue 338 (a driver that is not loaded), NVIDIA/dcgm-exporter issue 33,
    NVIDIA-NeMo/Speech issue 5819, jax-ml/jax 22436, opendatalab/MinerU 426, OpenRLHF/OpenRLHF 970,
    horovod/horovod 1969, deepinsight/insightface 1284.
    """
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert [each.name for each in compared.causes][: len(causes)] == causes


def test_every_family_has_members_and_every_member_a_meaning() -> None:
    named = {family for family, _ in FAMILIES} | {family for family, _ in PHASES}
    named |= {
        *OPERATIONS,
        "computed",
        "start",
        "launcher",
        "connecting",
        "silent",
        "midway",
        "members",
        "plugins",
        "program",
        "settings",
        "registry",
        "key",
        "library",
        "installed",
        "asserted",
    }
    assert named == set(ANYWHERE | ONE_NODE) == set(ANYWHERE | SEVERAL_NODES)
    members = [name for of in (ANYWHERE, ONE_NODE, SEVERAL_NODES) for causes in of.values() for name, _ in causes]
    assert set(members) <= set(MEANINGS)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update", "driver-release"),
        ("nvml error: driver/library version mismatch: unknown", "driver-release"),
        ("RuntimeError: [TensorRT-LLM][ERROR] Assertion failed: mpiSize == tp * pp (w.cpp:90)", "invalid-setting"),
        ("AssertionError: Engine world size (2 * 1) != Runtime world size (1)", "invalid-setting"),
    ],
)
def test_containers_and_engines_state_a_missing_driver_and_a_wrong_number_of_ranks(line: str, cause: str) -> None:
    """Published: NVIDIA/k8s-device-plugin issue 221, Tlntin/Qwen-TensorRT-LLM 123, NVIDIA/TensorRT-LLM 753."""
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert [each.name for each in compared.causes] == [cause]
