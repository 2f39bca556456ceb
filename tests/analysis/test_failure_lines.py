"""Lines of libraries, launchers, schedulers and kernels: the one cause that each states."""

from __future__ import annotations

import pytest

from tests.analysis.test_program_lines import PAIR, read

WAITS = (
    "[rank{rank}]:[E x] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, "
    "OpType=ALLREDUCE, NumelIn={size},\n"
)
FAILURES = (
    ("/bin/bash: line 1: /usr/sbin/sshd: No such file or directory", "remote-login"),
    ("bash: orted: command not found", "remote-login"),
    ("n1:23:26 [0] enqueue.cc:58 NCCL WARN Cuda failure 'named symbol not found'", "unsupported-accelerator"),
    (
        "kernel driver does not appear to be running on this host (n1): /proc/driver/nvidia/version",
        "missing-accelerator",
    ),
    ("RuntimeError: Too many open files. Communication with the workers is no longer possible", "file-limit"),
    ("cudaDeviceEnablePeerAccess: peer access is not supported between these two devices", "peer-access-off"),
    ("RuntimeError: Can't enable access between nodes 0 and 1", "peer-access-off"),
    (
        "It appears as if there is not enough space for /dev/shm/vader_segment.n1.0 (the shared-memory backing",
        "shared-memory",
    ),
    (
        "join.py:258: UserWarning: Detected uneven input skew of greater than 1000. This means that rank 1",
        "ranks-diverge",
    ),
    (
        "NVRM: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x62) returned from status @ a.c:2874",
        "accelerator-fault",
    ),
    (
        "ld: warning: libcudart.so.8.0, needed by /usr/local/lib/libnccl.so.1, not found (try using -rpath)",
        "library-release",
    ),
    (
        "Timed out initializing process group in store based barrier on rank: 0 (world_size=4, worker_count=3)",
        "absent-ranks",
    ),
    (
        "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu",
        "invalid-setting",
    ),
    (
        "[CUDA_ERROR_NOT_PERMITTED] operation not permitted in expression cuMemCreate(&handle, size, &prop, 0)",
        "fabric-manager",
    ),
    ("WARN: device mlx5_3 cannot allocate buffer on the specified memory type. Skipping...", "gpudirect-refused"),
    ("WARN: GPU cannot map UAR of device mlx5_0. Skipping...", "invalid-setting"),
    ("ibgda.cpp:1601: non-zero status: 7 cannot register cq buf.", "locked-memory"),
    ("transport.cpp:416: non-zero status: 7 No devices selected.", "wrong-interface"),
    ("UCX utils: 4 NVIDIA GPU(s) were detected, but UCX CUDA support was not found!", "invalid-setting"),
    ("OSError: [Errno 28] No space left on device: '/dev/shm/a'", "shared-memory"),
    (
        "SafetensorError: Error while serializing: No space left on device (os error 28)",
        "storage-full",
    ),
    ("OSError: [Errno 30] Read-only file system: '/data'", "storage-fault"),
    ("OSError: [Errno 113] No route to host", "unreachable-peer"),
    ("[n1] FATAL: Transport retry count exceeded (synd 0x15 vend 0x81) opcode RDMA_READ", "unreachable-peer"),
    ("DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out task names:", "absent-ranks"),
    (
        "[n3:14313] ORTE_ERROR_LOG: Data unpack would read past end of buffer in file a.c",
        "mixed-releases",
    ),
    (
        "RuntimeError: [enforce fail at gloo/transport/tcp/device.cc:83] Unable to find interface for: [1]",
        "wrong-interface",
    ),
    ("RuntimeError: gloo/transport/tcp/pair.cc:799] connect [127.0.1.1]:26754: Connection refused", "wrong-interface"),
    (
        "nvshmem ibgda.cpp:nvshmemt_init:3626: neither nv_peer_mem, or nvidia_peermem detected. Skipping transport.",
        "gpudirect-refused",
    ),
    ("srun: error: n1: task 3: Out Of Memory", "host-memory-full"),
    ("XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 17.5G of 15.5G hbm.", "memory-full"),
    ("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", "shared-accelerator"),
    (
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 3, 2) but found (8, 0, 5)",
        "library-release",
    ),
    ("srun: error: Node failure on n7", "job-ended"),
    (
        WAITS.format(rank=0, size=9) + WAITS.format(rank=1, size=1),
        "ranks-diverge",
    ),
    (
        "EJ0003: [PID: 1] 2026-01-02-03:04:05.678.901 Failed to bind the IP port. Reason: The IP address and port have",
        "port-in-use",
    ),
    ("RuntimeError: EJ0002: [PID: 1] 2026-01-02-03:04:05.678.901 The network port is down.", "unstable-link"),
    (
        "CalledProcessError: Command 'ssh -o PasswordAuthentication=no n2 hostname' returned non-zero exit status 255.",
        "remote-login",
    ),
    ("Permission denied (publickey,password).", "remote-login"),
    ("E0302 7 rdma_transport.cpp:662] RdmaTransport: No available RNIC", "wrong-interface"),
    ("Test HIP failure common.cu:1129 'hipErrorInvalidDevice'", "missing-accelerator"),
    ("cudaErrorECCUncorrectable", "accelerator-fault"),
    ("jaxlib.XlaRuntimeError: INTERNAL: failed call to cuInit: CUDA_ERROR_NO_DEVICE", "missing-accelerator"),
    ("terminate called after throwing: cudaErrorIllegalAddress", "program-fault"),
    ("cudaErrorPeerAccessUnsupported (error 217) on CUDA API call to cudaIpcOpenMemHandle", "peer-access-off"),
    ("Failed to create a completion queue (CQ):", "locked-memory"),
    (
        "Worker failed with error 'No compiled cutlass_scaled_mm for CUDA device capability: 120.",
        "unsupported-accelerator",
    ),
    ("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", "unsupported-accelerator"),
    (
        "[c10d] The server socket has failed to bind to [::]:29 (errno: 98 - Address already in use).",
        "port-in-use",
    ),
    (
        "OSError: [Errno 98] error while attempting to bind on address (0.0.0.0, 8000): address already in use",
        "port-in-use",
    ),
    (
        "[ERROR] HCCL(7,python3): socket type[1], listen on ip[10.0.0.1] and specific port[16666] fail.",
        "port-in-use",
    ),
    (
        "EI0020: [PID: 12] 2026-01-02-03:04:05.678.901 Failed to enable listening for the host network adapter socket.",
        "port-in-use",
    ),
    (
        "h:1:2 [0] net_ib.cc:667 NCCL WARN NET/IB : collective mismatch error local size 32768 remote 1048576 addr 0",
        "ranks-diverge",
    ),
    ("error msg: Culprit rank 22; Error type: SIZE_OR_SYNTAX_MISMATCH, Expected input sizes: '[[9]]'", "ranks-diverge"),
    (
        "[enforce fail at gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 256000 vs 128000",
        "ranks-diverge",
    ),
    ("RuntimeError: [Rank 0]: Rank 3 failed to pass monitoredBarrier in 1800000 ms", "ranks-diverge"),
    (
        "EI0005: 2026-01-02-03:04:05.678 The arguments for collective communication are inconsistent between ranks",
        "ranks-diverge",
    ),
    (
        "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.",
        "unused-parameters",
    ),
    (
        "h:1:2 [0] NCCL WARN NET/IB : Attempted to connect incompatible devices: [0]mlx5_0:1/IB and [0]mlx5_1:1/RoCE",
        "wrong-interface",
    ),
    (
        "h:1:2 [0] NCCL WARN Mismatched NCCL version detected : rank 0 version 22703 rank 8 version 22605",
        "mixed-releases",
    ),
    (
        "[n1:1:0:1] ib_mlx5_log.c:143  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15)",
        "unreachable-peer",
    ),
    ("h:1:2 [0] NCCL WARN NET/IB : mlx5_0:1 Got non-fatal async event: port error(10)", "unstable-link"),
    (
        "mlx5_core 0000:5e:00.0: Port module event[error]: module 0, Cable error",
        "unstable-link",
    ),
    ("mlx5_core 0000:5e:00.0: poll_health:800:(pid 0): device's health compromised - reached miss count", "nic-fault"),
    (
        "[n1] UCX ERROR ibv_create_cq(cqe=4096) failed: Please set max locked memory (ulimit -l) to 'unlimited'",
        "locked-memory",
    ),
    (
        "OpenBLAS blas_thread_init: pthread_create failed for thread 34 of 64: Resource temporarily unavailable",
        "process-limit",
    ),
    ("RuntimeError: can't start new thread", "process-limit"),
    ("RuntimeError: CUDA error: system has unsupported display driver / cuda driver combination", "driver-release"),
    ("Failed to initialize NVML: Driver/library version mismatch", "driver-release"),
    (
        "Free memory on device (104.6/121.6 GiB) on startup is less than desired GPU memory utilization (0.9",
        "memory-full",
    ),
    ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "memory-full"),
    (
        "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried to",
        "host-memory-full",
    ),
    (
        "h:1:2 [0] NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0",
        "accelerator-fault",
    ),
    (
        "[9.1] NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None)",
        "accelerator-fault",
    ),
    ("Failed to initialize NVML: Unknown Error", "missing-accelerator"),
    (
        "ValueError: Tensor parallel size (8) cannot be larger than the number of available GPUs (4).",
        "missing-accelerator",
    ),
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "unsupported-accelerator"),
    ("RuntimeError: CUDA error: an illegal memory access was encountered", "program-fault"),
    (
        "Memory access fault by GPU node-4 (Agent handle: 0x55d) on address 0x7f2c. Reason: Page not present",
        "program-fault",
    ),
    ("        HW Thermal Slowdown               : Active", "throttled-clocks"),
    ("ImportError: /opt/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister", "library-release"),
    ("OSError: libcudart.so.12: cannot open shared object file: No such file or directory", "library-release"),
    (
        "ValueError: Error initializing torch.distributed: environment variable MASTER_ADDR expected, but not set",
        "invalid-setting",
    ),
    (
        "EI0001: 2026-01-02-03:04:05.678 Environment variable [HCCL_IF_IP] is invalid. Reason: it should be ip[]",
        "invalid-setting",
    ),
    ("OSError: [Errno 116] Stale file handle: '/data/iter_100'", "storage-fault"),
    ("RuntimeError: DataLoader timed out after 1800 seconds", "data-loading"),
    ("slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO PREEMPTION ***", "job-ended"),
    ("socket.gaierror: [Errno -2] Name or service not known", "name-resolution"),
    (
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients joined.",
        "absent-ranks",
    ),
)


@pytest.mark.parametrize(("line", "cause"), FAILURES)
def test_a_line_of_a_library_or_launcher_states_one_likely_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert [each.name for each in compared.causes if each.weight > 0.5] == [cause]
    assert compared.causes[0].evidence.startswith("line 1 of the log: ")


@pytest.mark.parametrize(
    ("line", "causes"),
    [
        ("[engine] FATAL: write of shard 7 failed: no space left on volume", ["storage-full"]),
        ("launcher: error: port 8998 on n2 is already occupied", ["port-in-use"]),
        ("E0302 store.cc:7] failed to reach n2: connection timed out", ["unreachable-peer"]),
        ("ERROR: GPU 3: out of memory while growing the arena", ["memory-full"]),
        ("step failed: driver 470 is too old for this build", ["driver-release"]),
        ("INFO retry 3: error: connection timed out", []),
        ("finished with 0 errors: no space left unused", []),
        ("no space left on volume", []),
        ("ValueError: learning rate must be positive", []),
    ],
)
def test_common_words_of_an_error_suggest_a_cause_with_little_evidence(line: str, causes: list[str]) -> None:
    compared = read(PAIR, line, 16)
    assert [each.name for each in compared.causes] == causes if compared else not causes
    assert not compared or all(each.weight < 0.5 for each in compared.causes)


def test_common_words_suggest_nothing_where_a_line_states_the_cause() -> None:
    compared = read(PAIR, "RuntimeError: CUDA error: out of memory\nlauncher: error: port 8998 is occupied", 16)
    assert compared is not None
    assert [each.name for each in compared.causes] == ["memory-full"]


@pytest.mark.parametrize(
    ("lines", "causes"),
    [
        ("transport.cpp:282: init failed for transport: IBGDA", ["invalid-setting", "gpudirect-refused"]),
        ("ibgda.cpp:2234: NULL value Unable to create ah.", ["unreachable-peer", "library-release", "invalid-setting"]),
        ("ORTE was unable to reliably start one or more daemons.", ["remote-login", "unreachable-peer"]),
        (
            "ssh: Could not resolve hostname w-3: Name or service not known\n"
            "ORTE was unable to reliably start one or more daemons.",
            ["name-resolution", "remote-login", "unreachable-peer"],
        ),
        ("ORTE has lost communication with a remote daemon.", ["peer-ended", "unreachable-peer"]),
        ("SignalException: Process 40121 got signal: 1", ["job-ended"]),
        ("SignalException: Process 40121 got signal: 11", []),
    ],
)
def test_lines_of_launchers_that_give_no_reason_list_possible_causes(lines: str, causes: list[str]) -> None:
    """Published: awslabs/awsome-distributed-ai issue 868, kubeflow/mpi-operator issue 152, pytorch/pytorch 76894."""
    compared = read(PAIR, lines, 16)
    assert [each.name for each in compared.causes] == causes if compared else not causes
