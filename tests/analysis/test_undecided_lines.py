"""Lines of calls, launchers and drivers that leave a cause open, and near misses of each."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling


@telling(2)
@pytest.mark.parametrize(
    ("line", "causes"),
    [
        # kubernetes-sigs/dra-driver-nvidia-gpu issues 892 and 1417
        (
            "CUDA error in cuMemImportFromShareableHandle: invalid resource handle",
            ["fabric-manager", "invalid-setting"],
        ),
        ("cuMemSetAccess() failed with CUDA_ERROR_NOT_SUPPORTED", ["fabric-manager", "invalid-setting"]),
        # kvcache-ai/Mooncake pull 1765
        (
            "E0101 00:00:00.000000 9 a.cpp:9] Failed to register memory 0x7f0: Resource temporarily unavailable [11]",
            ["nic-limit", "locked-memory"],
        ),
        # MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark issue 259
        (
            "n1:1:2 [0] misc/ibvwrap.cc:9 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
            ["locked-memory", "gpudirect-refused", "driver-release"],
        ),
        # openucx/ucx issue 6264: the limit of locked memory, or of the keys of a NIC
        (
            "E1 rdma_context.cpp:198] Failed to register memory 0x2e1c: Cannot allocate memory [12]",
            ["locked-memory", "gpudirect-refused", "driver-release", "nic-limit", "host-memory-full"],
        ),
        # openucx/ucx issue 5351
        (
            "[1.2] [h:3:0] ib_mlx5_dv.c:161 UCX  ERROR mlx5dv_devx_obj_create(QP) failed: Cannot allocate memory",
            ["nic-limit", "locked-memory"],
        ),
        # uccl-project/uccl issue 301
        (
            "F1 util_rdma.h:5] Check failed: ncclIbRoceGetVersionNum(name, port, candidate, &number)",
            ["unreachable-peer", "wrong-interface", "invalid-setting"],
        ),
        # NVIDIA/TensorRT-LLM issue 2286
        ("*** An error occurred in MPI_Init_thread", ["library-release", "invalid-setting"]),
        ("[n1:9] Local abort before MPI_INIT completed completed successfully", ["library-release", "invalid-setting"]),
        # TideDra/lmm-r1 issue 71
        (
            "Refer to the documentation on how to address the out of memory issue: "
            "https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html.",
            ["host-memory-full"],
        ),
        # theroyallab/tabbyAPI issue 387
        ("OSError: [Errno 28] No space left on device", ["storage-full", "shared-memory"]),
        ("OSError: [Errno 28] No space left on device: '/data/checkpoint'", ["storage-full"]),
        ("OSError: [Errno 28] No space left on device: '/dev/shm/a'", ["shared-memory"]),
        # ROCm/legacy-rocm-build issue 5724
        ("[9.1] amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE", ["driver-release"]),
        # aws/sagemaker-hyperpod-cli issue 367, vllm-project/vllm-ascend issue 14628
        ("2026/01/01 00:00:00 Error to get IB device: %v. No valid EFA devices found", ["wrong-interface"]),
        (
            "AssertionError: local_world_size (8) must be less than or equal to the number of visible devices (0).",
            ["missing-accelerator", "invalid-setting"],
        ),
        # pytorch/xla pull 8393, and the other statuses of XLA
        (
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Error loading program: Fatal error",
            ["memory-full", "invalid-setting"],
        ),
        ("JaxRuntimeError: UNIMPLEMENTED: no such operation", ["library-release", "unsupported-accelerator"]),
        ("XlaRuntimeError: UNAVAILABLE: failed", ["peer-ended", "unreachable-peer"]),
        ("XlaRuntimeError: INTERNAL: failed", ["program-fault", "library-release"]),
        ("XlaRuntimeError: FAILED_PRECONDITION: failed", ["library-release", "invalid-setting"]),
        # facebookincubator/submitit issue 1708: the refused message follows from the end
        (
            "slurmstepd: error: *** JOB 6 ON n1 CANCELLED AT 2026-01-01T02:06:12 DUE TO JOB REQUEUE ***\n"
            "slurmstepd: error: Failed to send MESSAGE_TASK_EXIT: Connection refused",
            ["job-ended"],
        ),
        # NVIDIA-NeMo/Automodel pull 2748: a limit of one minute
        (
            "[rank3]:[E101 00:00:00.1 ProcessGroupNCCL.cpp:6] [Rank 3] Watchdog caught collective operation timeout: "
            "WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=60000) ran for 60014 milliseconds",
            ["ranks-diverge", "invalid-setting"],
        ),
        # Wan-Video/Wan2.2 issue 29: the kernel ends one process, the launcher the others
        (
            "W0101 a/b/api.py:897] Sending process 4120 closing signal SIGTERM\n"
            "E0101 a/b/api.py:869] failed (exitcode: -9) local_rank: 3 (pid: 4123) of binary: /usr/bin/python3",
            ["host-memory-full", "peer-ended"],
        ),
        # NVIDIA/nccl pull 2135: nodes of different MTU
        ("n1:1:2 [0] NCCL WARN NET/IB: Got completion from peer x with status=1 opcode=0", ["unreachable-peer"]),
        ("poll: remote invalid request error", ["unreachable-peer"]),
        # openucx/ucx issue 2346: an Ethernet fabric without flow control
        (
            "[n1:1:0] ib_mlx5_log.c:1  UCX  ERROR Transport retry count exceeded on mlx5_1:1/RoCE (synd 0x15)",
            ["unreachable-peer", "packet-loss"],
        ),
        (
            "[n1:1:0] ib_mlx5_log.c:1  UCX  ERROR Transport retry count exceeded on mlx5_1:1/IB (synd 0x15)",
            ["unreachable-peer"],
        ),
        # sgl-project/sglang pull 30737, autoscriptlabs/nccl-mesh-plugin pull 12
        ("E0101 00:00:00.000001  8 rdma_context.cpp:2] GID is NULL, please check your GID index", ["unreachable-peer"]),
        ("n1:1:2 [0] NCCL WARN MESH: Bidirectional handshake failed", ["unreachable-peer"]),
        # facebookresearch/detectron2 issue 384, NVIDIA/TensorRT-LLM issue 10024
        ("RuntimeError: DataLoader worker (pid(s) 25) exited unexpectedly", ["host-memory-full", "shared-memory"]),
        ("Failed to deserialize data rail endpoints", ["mixed-releases", "invalid-setting"]),
        # jax-ml/jax issue 18391, ray-project/ray issue 11150, marin-community/marin issue 8934
        ("ncclGetUniqueId(&id) failed: Unable to load NCCL library.", ["library-release"]),
        ("E1001 00:00:00.000000001   1 tcp_server_posix.cc:2]    Failed accept4: Too many open files", ["file-limit"]),
        ("E0101 00:00:00.000001  2 a.cc:4] cudaFreeAsync: CUDA_ERROR_CONTAINED: Invalid access", ["accelerator-fault"]),
        # huggingface/optimum-habana pull 1550, opea-project/GenAIExamples issue 137
        (
            "RuntimeError: synNodeCreateWithId failed for node: conv with synStatus 26 [Generic failure].",
            ["unsupported-accelerator", "library-release"],
        ),
        ("RuntimeError: Graph compile failed. synStatus=synStatus 26 [Generic failure].", ["unsupported-accelerator"]),
        (
            "RuntimeError: synStatus=26 [Generic failure] Device acquire failed.",
            ["missing-accelerator", "shared-accelerator", "accelerator-fault", "driver-release"],
        ),
        # AI-Hypercomputer/maxtext pull 2041
        ("E0101 00:00:00.000000 9 a.cc:9] Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR", ["accelerator-fault"]),
        # awslabs/awsome-distributed-ai issue 1075
        (
            "Error: creating the add-on: InvalidParameterException: a feature is not supported for addon version: v1",
            ["invalid-setting"],
        ),
        # vllm-project/vllm issue 7896
        (
            "RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
            [
                *("unsupported-accelerator", "memory-full", "shared-accelerator"),
                *("driver-release", "accelerator-fault"),
            ],
        ),
        # meta-pytorch/torchft issue 304
        ("[a/0] got exception in pg configure: module 'torch._C' has no attribute '_reset_b'", ["library-release"]),
    ],
)
def test_a_line_that_leaves_its_cause_open_lists_what_it_may_be(line: str, causes: list[str]) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None and names(compared)[: len(causes)] == causes


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Retrying (Retry(total=4, connect=None, read=None)) after connection broken by "
        "'ReadTimeoutError(\"HTTPSConnectionPool(host='pypi.org', port=443): Read timed out. (read timeout=15)\")'",
        "cuMemSetAccess took 3 ms",
        "no exception in pg configure",
        "MPI_Init_thread returned in 2 s",
        "number of visible devices (8)",
        "I0101 00:00:00.000000 9 a.cc:9] UNAVAILABLE: retried",
        "INFO Detected SLICE_OK",
        "poll: status of a local length of 4",
        "INFO loaded the NCCL library, 12 open files",
        "INFO deserialized data rail endpoints",
        "handshake done, 0 failed later",
    ],
)
def test_a_near_miss_of_such_a_line_tells_nothing(line: str) -> None:
    assert read(PAIR, line, 16) is None


def test_the_limit_of_pytorch_itself_is_no_setting_of_a_program() -> None:
    line = (
        "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, "
        "NumelOut=1, Timeout(ms)=600000) ran for 600014 milliseconds before timing out."
    )
    compared = read(PAIR, line, 16)
    assert compared is not None and "invalid-setting" not in names(compared)


def test_an_unknown_warning_of_a_collective_library_is_the_error_of_a_log() -> None:
    compared = read(PAIR, "n1:1:2 [0] NCCL INFO cudaDev 0\nn1:1:2 [0] NCCL WARN XYZ: frobnication failed\n", 16)
    assert compared is not None and compared.error.startswith("line 2: n1:1:2 [0] NCCL WARN XYZ")


def test_a_request_that_is_not_retried_needs_its_server() -> None:
    line = "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded"
    compared = read(PAIR, line, 16)
    assert compared is not None and "outside-server" in names(compared)
