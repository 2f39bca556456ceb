"""Lines of engines, training programs and kernels: what each states, and what near ones do not state."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.statements.unfinished import read_unfinished
from clusterspec.report.measurement_text import diagnosis_text
from clusterspec.results import Input
from clusterspec.results.diagnosis import ComparedCollective, DiagnosisReport
from tests.analysis.test_diagnosis import cluster, names
from tests.settings import SETTINGS

H100, PAIR = "{platform: dgx-h100, nodes: 1}", "{platform: dgx-h100, nodes: 2}"
PCIE = "{accelerator: l4, accelerators_per_node: 4, nodes: 1, scale_up: {topology: pcie, domain: 4}}"
INTERFACE = "wrong-interface"
SLICE = "Worker: Process failed for slice (opcode: 1, length: 65536, peer_nic: 10.0.0.2:1@mlx5_1, retry_cnt: 0): "
HEADING = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw"
)
UNITS = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
DEVICES = "\n".join(f"#  Rank {rank} Group  0 Pid 1 on host device {rank} [0x0{rank}] NVIDIA L4" for rank in range(4))


def read(machine: str, text: str, ranks: int) -> ComparedCollective | None:
    """The diagnosis of a text; None if no line of it states anything."""
    started = read_unfinished(text)
    if started is None:
        return None
    found = diagnosis_of(cluster(machine), [("a.log", started)], LogOverrides(None, ranks))
    assert not found.unread
    return found.compared[0]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "Sequence group 7 preempted by PreemptionMode.SWAP mode because there is not enough KV cache space.",
            "kv-cache-full",
        ),
        ("[1 TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_token_ratio: 0.5", "kv-cache-full"),
        (
            "ValueError: The model's max seq len (9000) is larger than the maximum number of tokens that can be stored "
            "in KV cache (800). Try",
            "kv-cache-full",
        ),
        (
            "To serve one request, 9.5 GiB KV cache is needed, which is larger than the available KV cache memory",
            "kv-cache-full",
        ),
        ("ValueError: No available memory for the cache blocks. Try increasing it", "kv-cache-full"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total", "memory-full"),
        ("RuntimeError: HIP out of memory. Tried to allocate 576.00 MiB (GPU 3; 15.98 GiB total", "memory-full"),
        ("jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes", "memory-full"),
        ("RuntimeError: DataLoader worker (pid 12) is killed by signal: Killed.", "host-memory-full"),
        ("[9.1] Memory cgroup out of memory: Killed process 4711 (python3) total-vm:99kB", "host-memory-full"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks", "host-memory-full"),
        (
            "(raylet) node_manager.cc:1: 2 Workers (tasks / actors) killed due to memory pressure (OOM)",
            "host-memory-full",
        ),
        ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "host-memory-full"),
        ("ERROR: Unexpected bus error. This might be caused by insufficient shared memory (shm).", "shared-memory"),
        ("[h:1:0:2] Caught signal 7 (Bus error: nonexistent physical address)", "shared-memory"),
        ("OSError: [Errno 24] Too many open files", "file-limit"),
        ("RuntimeError: received 0 items of ancdata", "file-limit"),
        ("RuntimeError: cuda runtime error (802) : system not yet initialized at THCGeneral.cpp:50", "fabric-manager"),
        ("ggml_cuda_init: failed to initialize CUDA: system not yet initialized", "fabric-manager"),
        ("RuntimeError: Unexpected error. Error 802: system not yet initialized", "fabric-manager"),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 11070).", "driver-release"),
        ("RuntimeError: No CUDA GPUs are available", "missing-accelerator"),
        ("RuntimeError: CUDA error: invalid device ordinal", "missing-accelerator"),
        (
            "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1)",
            "library-release",
        ),
        ("[9.1] NVRM: fallen off the bus and is not responding to commands.", "accelerator-fault"),
        ("[9.1] NVRM: Xid (PCI:0000:1b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x0)", "accelerator-fault"),
        ("Unable to determine the device handle for GPU0000:03:00.0: Unknown Error", "accelerator-fault"),
        ("[1.0] amdgpu 0000:83:00.0: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT)", "accelerator-fault"),
        (
            "amdgpu 0000:9d:00.0: socket: 6, 2 new uncorrectable hardware errors detected in umc block",
            "accelerator-fault",
        ),
        ("OSError: [Errno 28] No space left on device", "storage-full"),
        ("OSError: [Errno 122] Disk quota exceeded: '/data/iter_100'", "storage-full"),
        ("h:1:2 [0] rdma_init:79 NCCL WARN NET/OFI OFI fi_getinfo() call failed: No data available", "wrong-interface"),
        ("fi_getinfo: -61 (No data available)", "wrong-interface"),
        ("RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running", "ranks-diverge"),
        ("h:1:2 [0] init.cc:1247 NCCL WARN Mismatched collective detected, please check", "ranks-diverge"),
        (f"{SLICE}transport retry counter exceeded", "unreachable-peer"),
        (f"{SLICE}remote invalid request error", "unreachable-peer"),
        ("E1 rdma_context.cpp:198] Failed to register memory 0x2e1cbac200: Bad address [14]", "gpudirect-refused"),
        ("h:1:2 [0] plugin/net.cc:366 NCCL WARN Failed to initialize any NET plugin", "wrong-interface"),
        ("h:1:2 [0] NCCL WARN Call to ibv_modify_qp failed with error Network is unreachable", "unreachable-peer"),
    ],
)
def test_a_line_that_states_a_cause_is_the_only_likely_one(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert [each.name for each in compared.causes if each.weight > 0.5] == [cause]
    assert compared.causes[0].evidence.startswith("line 1 of the log: ")


@pytest.mark.parametrize("word", ["error ", "19 "])
def test_a_gid_that_a_container_lacks_is_of_an_unreachable_peer_or_a_wrong_interface(word: str) -> None:
    """Published: NVIDIA/nccl issues 551 (another index) and 925 (another NIC)."""
    compared = read(PAIR, f"h:1:2 [0] NCCL WARN Call to ibv_modify_qp failed with {word}No such device, on dev a", 16)
    assert compared is not None
    assert names(compared) == ["unreachable-peer", "wrong-interface", "invalid-setting"]
    assert all("show_gids within the container" in each.next for each in compared.causes)


@pytest.mark.parametrize(
    "line",
    [
        "INFO loggers.py:118] Engine 000: Running: 8 reqs, Waiting: 0 reqs, GPU KV cache usage: 91.2%",
        "INFO kv_cache_utils.py:634] GPU KV cache size: 643,232 tokens",
        "[1 TP0] Decode batch, #running-req: 6, #token: 1920, token usage: 0.94, #queue-req: 5,",
        "[9.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01",
        "[9.1] pcieport 0000:00:03.0: AER: Corrected error received: 0000:00:03.0",
        "I1 rdma_context.cpp:125] RDMA device: mlx5_6, LID: 8, GID: (GID_Index 0) fe:80",
        "UserWarning: This DataLoader worker pool will create 16 worker processes in total.",
        "[1.0] amdgpu 0000:9d:00.0: socket: 6, 1533 new correctable hardware errors detected in xgmi_wafl block",
        "OSError: [Errno 2] No such file or directory: 'train.bin'",
        "cannot read config: Too many open files",
        "the coordinator is not ready: system not yet initialized",
        "h:1:2 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so: cannot open shared object file: No such file",
        "h:1:2 [1] NCCL INFO dlvsym failed on mlx5dv_reg_dmabuf_mr - /lib/libmlx5.so.1: undefined symbol: mlx5dv_reg",
        "h:1:2 [0] NCCL INFO NET/Plugin: Failed to find ncclCollNetPlugin symbol (>= v5).",
        "        HW Thermal Slowdown               : Not Active",
        "INFO Trying again: port 29500 may be used by another process",
        "HCCL INFO EI9999 is the code of inner errors",
        "WARNING 01-02 03:04:05 utils.py:9] Marlin requires compute capability 8.0; another kernel is used",
        "if (error == cudaErrorMemoryAllocationHint) retry();",
        "ssh n2 hostname returned exit status 0",
        "If you see CUDA out of memory, reduce the batch size.",
    ],
)
def test_a_line_of_a_healthy_program_states_nothing(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not compared.causes


@pytest.mark.parametrize(
    ("line", "causes"),
    [
        (
            "[c10d] The client socket has timed out after 600000ms while trying to connect to (10.0.0.4, 41723).",
            ["unreachable-peer", INTERFACE, "absent-ranks", "name-resolution"],
        ),
        (
            "RuntimeError: unable to open shared memory object </torch_3> in read-write mode",
            ["file-limit", "shared-memory"],
        ),
        (
            "RendezvousConnectionError: The connection to the C10d store has failed.",
            ["unreachable-peer", INTERFACE, "absent-ranks", "name-resolution"],
        ),
        (
            "DEADLINE_EXCEEDED\nRPC: /tensorflow.CoordinationService/RegisterTask",
            ["unreachable-peer", INTERFACE, "absent-ranks", "name-resolution"],
        ),
        (
            "EI0006: [PID: 12] 2026-01-02-03:04:05.678 Getting socket times out. Reason: Remote Rank did not send",
            ["ranks-diverge", "unreachable-peer", "absent-ranks"],
        ),
        (
            "RuntimeError: [enforce fail at inline_container.cc:857] . PytorchStreamWriter failed writing file data/3",
            ["storage-full", "storage-fault"],
        ),
        ("dial tcp 10.43.0.1:443: connect: connection refused", ["unreachable-peer", "absent-ranks"]),
        ("RuntimeError: DataLoader worker (pid(s) 1) exited\nexitcode  : -9 (pid: 12)", ["host-memory-full"]),
        ("h:1:2 [0] NCCL WARN socketProgress: Connection closed by remote peer n2<51159>", ["peer-ended"]),
        ("slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***", ["job-ended"]),
        ("[9.1] NVRM: Xid (PCI:0000:1b:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x0)", ["accelerator-fault"]),
    ],
)
def test_a_line_with_several_causes_makes_each_possible_and_none_likely(line: str, causes: list[str]) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared) == causes
    text = diagnosis_text(DiagnosisReport(SETTINGS.tool, Input("a.yaml", None), (compared,), ()))
    assert "Possible, with little evidence" in text and "Likely causes" not in text


VLLM = (
    "INFO 07-28 06:40:59 [loggers.py:118] Engine 000: Avg prompt throughput: 9.0 tokens/s, Avg generation throughput: "
    "{rate} tokens/s, Running: 8 reqs, Waiting: {waiting} reqs, GPU KV cache usage: {usage}%, Prefix cache hit rate: 1%"
)
OLD_VLLM = VLLM.replace("Waiting: {waiting} reqs", "Swapped: 0 reqs, Pending: {waiting} reqs")
SGLANG = (
    "[1 TP0] Decode batch, #running-req: 6, #token: 1920, token usage: {share}, cuda graph: True, gen throughput "
    "(token/s): {rate}, #queue-req: {waiting},"
)


@pytest.mark.parametrize("form", [VLLM, OLD_VLLM, SGLANG])
@pytest.mark.parametrize(
    ("loads", "named"),
    [
        ([(2000.0, 0, 0.8), (900.0, 40, 1.0), (800.0, 60, 1.0)], True),
        ([(2000.0, 0, 0.8), (1900.0, 40, 1.0), (1800.0, 60, 1.0)], False),  # a benchmark without a limit
        ([(2000.0, 0, 0.8), (900.0, 40, 0.5), (800.0, 60, 0.5)], False),  # another limit than the cache
        ([(2000.0, 0, 0.8), (900.0, 0, 1.0)], False),  # the end of a run
    ],
)
def test_an_engine_whose_throughput_falls_while_requests_wait_for_the_cache_has_too_little_of_it(
    form: str, loads: list[tuple[float, int, float]], named: bool
) -> None:
    """Published: vllm-project/vllm issue 23444."""
    lines = (form.format(rate=rate, waiting=waiting, usage=100 * use, share=use) for rate, waiting, use in loads)
    compared = read(H100, "\n".join(lines), 8)
    if named:
        assert compared is not None
        said = "line 2 of the log: up to 60 requests wait for a full KV cache, and 850 of 2,000 tokens/s are generated"
        assert [(each.name, each.evidence) for each in compared.causes] == [("kv-cache-full", said)]
    else:
        assert compared is None


@pytest.mark.parametrize(
    ("waiting", "group", "named"),
    [
        ((1, 2, 3, 4, 5, 6, 7), "", True),
        ((1, 2, 3, 4, 5, 6, 7), "PG ID 0 PG GUID 0(default_pg) ", True),
        ((1, 2, 3, 4, 5, 6, 7), "PG ID 3 PG GUID 9 ", False),  # ranks of a part, numbered from 0
        ((0, 1, 2, 3, 4, 5, 6, 7), "", False),
        ((0, 1, 2, 3), "", False),  # the others may be in another file
    ],
)
def test_few_ranks_that_do_not_wait_with_the_others_may_be_late(
    waiting: tuple[int, ...], group: str, named: bool
) -> None:
    lines = (
        f"[rank{rank}]:[E x] [{group}Rank {rank}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=19, OpType=ALLREDUCE, NumelIn=1"
        for rank in waiting
    )
    compared = read(H100, "\n".join(lines), 8)
    assert compared is not None
    assert [each.name for each in compared.causes if each.weight >= 0.4] == (["ranks-diverge"] if named else [])
    assert not named or compared.causes[0].evidence.endswith("1 rank, the first rank 0, does not")
    assert named or ("ranks-diverge" in names(compared)) == (len(waiting) < 8 or bool(group))


@pytest.mark.parametrize(
    ("machine", "tail", "named"),
    [
        (PCIE, f"{HEADING}\n{UNITS}\n", ["acs", "iommu-translation"]),
        (PCIE, f"{HEADING}\nsomething else\n", []),
        (H100, f"{HEADING}\n{UNITS}\n", []),
    ],
)
def test_an_empty_table_over_pcie_may_be_blocked_access(machine: str, tail: str, named: list[str]) -> None:
    """Published: NVIDIA/nccl issue 104, whose log has no other line."""
    compared = read(machine, f"# Using devices\n{DEVICES}\n#\n{tail}", 4)
    assert compared is not None
    assert names(compared) == named


def test_an_error_of_the_library_without_a_reason_names_what_it_is_most_often_with_little_evidence() -> None:
    """Published: xorbitsai/inference issue 2836, where shared memory was too small."""
    compared = read(H100, "RuntimeError: NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details)", 8)
    assert compared is not None
    assert names(compared) == ["shared-memory", "wrong-interface"]
    assert all(each.weight < 0.4 for each in compared.causes)


def test_a_program_of_one_accelerator_is_read_for_what_it_states() -> None:
    compared = read(H100, "CUDA error: uncorrectable ECC error encountered", 1)
    assert compared is not None
    assert (names(compared), compared.ranks) == (["accelerator-fault"], 1)


@pytest.mark.parametrize(
    "line",
    [
        "[WARNING] [training.py:2199:run] This node is a straggler!",
        "STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks: {3}",
        "STRAGGLER DETECTION WARNING: Some GPUs performance dropped. Affected ranks: {3}",
    ],
)
def test_a_straggler_may_have_lower_clocks_a_fault_or_another_job(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared) == ["throttled-clocks"]
    assert all(each.weight < 0.5 for each in compared.causes)
    assert [each.name for each in compared.alike] == ["accelerator-fault", "shared-accelerator"]


@pytest.mark.parametrize(
    "line",
    [
        "Fault nodes are: [] with reason: , and stragglers are: [] with reason: ",
        "exclude_straggler: The node will exit if it is a straggler in network check and exclude_straggler is True.",
        "GPU relative performance: Best performing 3/8 ranks:",
    ],
)
def test_a_check_for_stragglers_that_found_none_states_nothing(line: str) -> None:
    assert read(PAIR, line, 16) is None
