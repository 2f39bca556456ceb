"""What libraries say of their own errors (hints, diagnostics and queries of NCCL), starts of ranks, specifications of
devices of containers, and settings that a program refuses: each with a line of the same form without a fault.
"""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import each

HINTS = (
    # NCCL 2.32: the hint behind a warning, and the lines of NCCL_RUN_DIAGNOSTICS and NCCL_RUN_RAS_DIAGNOSTICS
    (
        "n1:7:9 [0] NCCL INFO HINT: In many cases this error indicates that ACS is enabled, which breaks the GPU "
        "Direct RDMA protocol.",
        "acs",
    ),
    (
        "n1:7:9 [0] NCCL INFO HINT: In many cases this error indicates that the IMEX (NVLink fabric) service is not "
        "running or is misconfigured on MNNVL systems.",
        "fabric-manager",
    ),
    (
        "n1:7:9 [0] NCCL INFO HINT: In many cases this error indicates that an incorrect GID index is forced by "
        "NCCL_IB_GID_INDEX, or that a NIC's GID changed mid-run.",
        "invalid-setting",
    ),
    ("n1:7 NCCL DIAG [WARN] NVLink: inactive link(s) on rank(s) 3 across 8 ranks in comm 0xa1", "accelerator-fault"),
    (
        "n1:7 NCCL DIAG [WARN] ECC: uncorrected volatile errors on rank(s) 5 (worst=2) across 8 ranks",
        "accelerator-fault",
    ),
    ("n1:7 NCCL DIAG [INFO] IOMMU mode: enabled (DMA remapping) across 16 relevant device(s)", "iommu-translation"),
    (
        "n1:7 NCCL DIAG [INFO] NCCL environment: 2 NCCL_* env var(s) differ across ranks in comm 0xa1",
        "invalid-setting",
    ),
    (
        "n1:7 NCCL DIAG [INFO] NVIDIA graphics driver version: mismatch across 16 ranks in comm 0xa1, rank(s) 9 differ",
        "mixed-releases",
    ),
    ("n1:7 NCCL DIAG [INFO] net bw: failed: no usable IB device in comm 0xa1", "wrong-interface"),
    # the answers of ncclras, in text and as events
    ("  2 job processes are considered dead (unreachable via the RAS network)", "peer-ended"),
    (" [2026-02-03 04:05:06] PEER_DEAD: Process 77 on node 10.0.0.5 managing GPU 1", "peer-ended"),
    ("  Missing communicator data from 3 job processes", "peer-ended"),
)


@each(("line", "cause"), HINTS)
def test_what_a_library_says_of_its_error_is_the_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == cause


@pytest.mark.parametrize(
    "line",
    [
        "n1:7 NCCL DIAG [OK] NVLink: 18 links per GPU, all active at consistent speed across 8 ranks in comm 0xa1",
        "n1:7 NCCL DIAG [OK] ECC: no uncorrected volatile errors across 8 ranks in comm 0xa1",
        "n1:7 NCCL DIAG [OK] IOMMU mode: passthrough across 16 relevant device(s) on 8/8 ranks in comm 0xa1",
        "n1:7 NCCL DIAG [OK] NCCL environment: NCCL_* env vars consistent across 8 ranks in comm 0xa1",
        "n1:7 NCCL DIAG [OK] NVIDIA graphics driver version: 580.1 consistent across 16 ranks in comm 0xa1",
        "    0         8         4         1         4        32   RUNNING      OK",
        "n1:7:9 [0] NCCL INFO RAS client listening socket at ::1<28028>",
    ],
)
def test_diagnostics_of_a_healthy_job_name_nothing(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not compared.causes


def start(rank: int, host: str, device: str, communicator: str = "0xab", state: str = "START") -> str:
    return (
        f"{host}:4{rank}:7{rank} [0] NCCL INFO ncclCommInitRank comm 0x5{rank} rank {rank} nranks 16 cudaDev 0 "
        f"nvmlDev 0 busId {device} commId {communicator} - Init {state}"
    )


@pytest.mark.parametrize(
    ("lines", "shared"),
    [
        ([start(0, "n1", "1b000"), start(1, "n1", "1b000")], True),
        ([start(0, "n1", "1b000"), start(1, "n1", "1b000"), start(2, "n1", "2c000")], True),
        ([start(0, "n1", "1b000"), start(1, "n1", "2c000")], False),
        ([start(0, "n1", "1b000"), start(1, "n2", "1b000")], False),
        ([start(0, "n1", "1b000"), start(1, "n1", "1b000", "0xcd")], False),
        ([start(0, "n1", "1b000"), start(0, "n1", "1b000")], False),
        ([start(0, "n1", "1b000"), start(1, "n1", "1b000"), start(0, "n1", "1b000", state="COMPLETE")], False),
    ],
)
def test_ranks_that_start_on_one_device_share_it_unless_they_complete(lines: list[str], shared: bool) -> None:
    compared = read(PAIR, "\n".join([*lines, "RuntimeError: NCCL error 'invalid usage'"]), 16)
    assert compared is not None
    assert (names(compared)[:1] == ["shared-accelerator"]) is shared


@pytest.mark.parametrize(("elements", "differ"), [(4096, True), (8192, False)])
def test_reports_of_two_ranks_that_share_a_stream_are_read(elements: int, differ: bool) -> None:
    """The text of one process stands within a report of the other: a warning that begins before the end of its line."""
    torn = (
        "[rank{0}]:[E616 13:41:10.90 ProcessGroupNCCL.cpp:565] [Rank {0}] Watchdog caught collective operatng file "
        "closedion timeout: WorkNCCL(SeqNum=9, OpType=_ALLGATHER_BASE, NumelIn={1}, NumelOut=2, Timeout(ms)=6) ran"
    )
    compared = read(PAIR, "\n".join((torn.format(0, 8192), torn.format(1, elements))), 16)
    assert compared is not None
    weights = {one.name: one.weight for one in compared.causes}
    assert (weights.get("ranks-diverge", 0) == 1) is differ


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", "invalid-setting"),
        ("Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=7", "missing-accelerator"),
        ('failed to stat CDI host device "/dev/dri/card3": no such file or directory', "invalid-setting"),
        ('failed to stat CDI host device "/dev/nvidia5": no such file or directory', "missing-accelerator"),
        ("slurmstepd: error: pyxis: seccomp filter failed: Invalid argument", "library-release"),
        ("slurmstepd: error: pyxis: seccomp filter failed: Function not implemented", "container-permission"),
    ],
)
def test_a_specification_without_any_device_is_a_setting_and_one_device_is_absent(line: str, first: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == first


@each(
    ("line", "refused"),
    (
        ("ValueError: Foo MoE backend 'BAR' does not support the configuration since it has no such layout.", True),
        ("ValueError: Sparse offload is not compatible with pipeline parallelism", True),
        ("NotImplementedError: chunked prefill is only supported with the new runner", True),
        ("ValueError: trace replay requires --enable-foo", True),
        ("AssertionError: overlap and offload are mutually exclusive", True),
        ("ValueError: sequence length must be positive", False),
        ("ValueError: expected 3 columns, got 4", False),
        ("ValueError: Tensor of that dtype is only supported with 2 dimensions", False),
        ("the docs say that it does not support pipelines", False),
    ),
)
def test_a_program_that_refuses_a_combination_has_a_setting(line: str, refused: bool) -> None:
    compared = read(PAIR, line, 16)
    found = names(compared)[:1] if compared is not None else []
    assert (found == ["invalid-setting"]) is refused


@each(
    ("line", "first"),
    (
        ("qsub: Job violates queue and/or server resource limits", "invalid-setting"),
        ("qsub: submit error (Unknown queue MSG=cannot locate queue)", "invalid-setting"),
        ("sbatch: error: cli_filter plugin terminated with error", "invalid-setting"),
        ("MPIDI_OFI_init_local(580): OFI fi_fabric failed (ofi_init.c:580:f:Invalid argument)", "wrong-interface"),
        ("create_endpoint(2473): OFI endpoint open failed (ofi_init.c:2473:f:Input/output error)", "wrong-interface"),
        ("MPIDI_CH3I_RDMA_init(446):  rdma_ring_boot_hca(99)..: cannot create qp", "locked-memory"),
        ("RuntimeError: optimizer state was of a group size of 16, but the current one has 8", "checkpoint-mismatch"),
        ("ValueError: Checkpoint was written at a degree of 4 but now there are 2 ranks", "checkpoint-mismatch"),
    ),
)
def test_queues_providers_and_checkpoints_of_other_sizes_are_named(line: str, first: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == first


@each(
    "line", ("qsub: 1234.server1", "job 12 was submitted by qsub", "OFI endpoint open: mlx5_0", "checkpoint of size 7")
)
def test_plain_lines_of_submissions_and_providers_name_no_cause(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not names(compared)
