"""Causes of threads that were drawn by a rule stated before, and judged before anything was changed, each with its
address.

Of the 33 of the first draw (2026-11-25; queries for symptoms and causes of NCCL, RCCL, UCX, perftest, vLLM, SGLang,
JAX, Ray, Slurm, HCCL and device plugins, every hit that shows output and states the cause), 11 causes were named
first, and one named. Of the 25 of the second (errors of containers, RDMA, ROCm, checkpoints, shared files, Xids,
engines, launchers, libtpu and libraries of two releases), judged after the first was mended, 12 first, and one named.
Those in `NAMED` have another cause first.
"""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.results.diagnosis import ComparedCollective
from tests.analysis.test_diagnosis import cluster, diagnosed, log, names
from tests.analysis.test_drawn_threads import Thread
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import thorough

FIRST = (
    Thread(
        "vllm-project/vllm/issues/12132",
        "AssertionError: please set tensor_parallel_size (4) to less than max local gpu count (1)",
        "invalid-setting",
    ),
    Thread(
        "instructlab/training/pull/520",
        "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, "
        "NumelOut=1, Timeout(ms)=1) ran for 90 milliseconds before timing out.",
        "invalid-setting",
    ),
    Thread(
        "sgl-project/sglang/issues/5709",
        "[1.2] [h:7:0]  ucp_context.c:1774 UCX  WARN  UCP version is incompatible, required: 1.18, actual: 1.12\n"
        "nixl._bindings.nixlBackendError: NIXL_ERR_BACKEND",
        "library-release",
    ),
    Thread(
        "ROCm/legacy-rocm-build/issues/1386",
        "[ 1358.9] amdgpu 0000:83:00.0: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!",
        "accelerator-fault",
    ),
    Thread(
        "linux-rdma/perftest/issues/105",
        "Unable to create QP.\nFailed to create QP.\nCouldn't create IB resources",
        "library-release",
    ),
    Thread("lsgunth/perftest/issues/1", "Port number 1 state is Down", "unstable-link"),
    Thread(
        "NovaSky-AI/SkyRL/issues/284",
        "(Engine pid=7) code: -98, name: EADDRINUSE, message: address already in use\n"
        "(Engine pid=7) RuntimeError: Engine core initialization failed. See root cause above.",
        "port-in-use",
    ),
    Thread(
        "MiniMax-AI/MiniMax-01/issues/42",
        "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-x (size 7340384)",
        "shared-memory",
    ),
    Thread(
        "flashinfer-ai/flashinfer/issues/794",
        "importlib.metadata.PackageNotFoundError: flashinfer\n"
        "Exception: flashinfer with minimum required version 0.1.6 is not installed. Please uninstall the old version",
        "library-release",
    ),
    Thread(
        "GoogleCloudPlatform/ml-testing-accelerators/pull/183",
        'Error recorded from training: Could not interpret "10.0.0.1:8470,grpc://10.0.0.2:8470" as a host-port pair.',
        "invalid-setting",
    ),
    Thread(
        "NVIDIA/semantic-segmentation/issues/33",
        "RuntimeError: cuda runtime error (39) : uncorrectable ECC error encountered at /pytorch/THC.cpp:265",
        "accelerator-fault",
    ),
    Thread("gpustack/runtime/pull/27", "Config_Error_Ranktable(EI0014)", "invalid-setting"),
    Thread(
        "vllm-project/vllm-ascend/issues/405",
        "[rank0]: EJ0003: [PID: 9] Failed to bind the IP port. Reason: IP address and port have been bound already.",
        "port-in-use",
    ),
    Thread(
        "facebookincubator/submitit/issues/1710",
        "submitit.FailedJobError: sbatch: error: Parameter --gres=gpu:1 no longer acceptable, please switch to --gpus",
        "invalid-setting",
    ),
    Thread(
        "interTwin-eu/itwinai/issues/415",
        "sbatch: error: Batch job submission failed: Requested node configuration is not available",
        "invalid-setting",
    ),
    Thread(
        "3dem/relion/issues/877",
        "sbatch: error: Batch job submission failed: Invalid Trackable RESource (TRES) specification",
        "invalid-setting",
    ),
    Thread(
        "meta-pytorch/torchx/pull/1100",
        "sbatch: error: Failed to validate job spec. --gpus-per-task used without either --gpus or -n is not allowed.\n"
        "sbatch: error: Invalid generic resource (gres) specification",
        "invalid-setting",
    ),
    Thread(
        "mehta-lab/waveorder/issues/201",
        "srun: error: Unable to create step for job 7: Invalid generic resource (gres) specification",
        "invalid-setting",
    ),
    Thread(
        "facebookresearch/fairchem/pull/2138",
        "ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
        "invalid-setting",
    ),
    Thread("SymbioticLab/Justitia/issues/3", "failed to modify QP to RTR", "unreachable-peer"),
    Thread(
        "pytorch/pytorch/pull/40622",
        "h:9:9 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
        "shared-memory",
    ),
    Thread(
        "NVIDIA/TensorRT-LLM/issues/1021",
        "It appears as if there is not enough space for /dev/shm/vader_segment.a.0.c5 (the shared-memory backing",
        "shared-memory",
    ),
    Thread(
        "NVIDIA/nccl/issues/1043",
        "[Oct 31 2023 21:11:20] [ERROR] [tid 5] failed to find the GPU handle 12766911663723876521 in the multicast "
        "team request setup 4285537028137661651.",
        "fabric-manager",
    ),
    # the second draw
    Thread(
        "sony/nnabla-ext-cuda/pull/273",
        "ncclCommInitRank failed.\nNo space left on device while creating shared memory segment",
        "shared-memory",
    ),
    Thread(
        "datenlord/async-rdma/pull/107",
        "ERROR async_rdma::mr_allocator: RawMemoryRegion::register_from_pd failed Os { code: 12, kind: OutOfMemory, "
        'message: "Cannot allocate memory" }',
        "locked-memory",
    ),
    Thread(
        "ovis-hpc/ldms/issues/1474",
        "ZAP_RDMA [1.8](7) __rdma_buffer_pool_alloc:645 ibv_reg_mr() failed, errno: 12\nConnection failed/rejected.",
        "locked-memory",
    ),
    Thread(
        "deepspeedai/DeepSpeed/issues/5570",
        "[rank1]: size mismatch for model.norm.weight: copying a param with shape torch.Size([1024]) from",
        "checkpoint-mismatch",
    ),
    Thread(
        "huggingface/pytorch-image-models/pull/693",
        "FileNotFoundError: [Errno 2] No such file or directory: 'out/tmp.pth.tar' -> 'out/last.pth.tar'",
        "program-error",
    ),
    Thread("NVIDIA/open-gpu-kernel-modules/issues/507", "GPU has fallen off of the bus", "accelerator-fault"),
    Thread("pop-os/pop/issues/3363", 'nvidia error "GPU has fallen off the bus"', "accelerator-fault"),
    Thread(
        "eugr/spark-vllm-docker/issues/396",
        "23.25 GiB KV cache is needed, which is larger than the available KV cache memory (22.5 GiB).",
        "kv-cache-full",
    ),
    Thread(
        "vllm-project/vllm/issues/2418",
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in "
        "KV cache (3664). Try increasing",
        "kv-cache-full",
    ),
    Thread("deepspeedai/DeepSpeed/pull/5318", "KeyError: 'PDSH_SSH_ARGS_APPEND'", "invalid-setting"),
    Thread(
        "Mellanox/gpu_direct_rdma_access/issues/5",
        "Couldn't register GPU MR\ndeallocating RX GPU buffer",
        "gpudirect-refused",
    ),
    Thread(
        "uccl-project/mKernel/issues/26",
        "ibv_reg_dmabuf_mr (retain) failed: Invalid argument\nibv_reg_mr(gpu) failed: Bad address",
        "gpudirect-refused",
    ),
    Thread("jax-ml/jax/issues/10192", "libtpu.so already in use by another process", "shared-accelerator"),
    Thread(
        "rapidsai/cugraph/issues/4465",
        "E   ImportError: /a/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister",
        "library-release",
    ),
    Thread("VichyTong/CodeJudge/issues/2", "undefined symbol ncclCommRegister", "library-release"),
)
NAMED = (
    Thread(
        "NVIDIA-NeMo/Skills/issues/1059",
        "Value error, Tensor parallel size (16) cannot be larger than the number of available GPUs (8)",
        "invalid-setting",
    ),
    Thread(
        "linux-rdma/perftest/issues/54",
        "$ ./ib_write_bw -R -F -n10 -q1026 -s32 10.0.0.1\nEvent: RDMA_CM_EVENT_REJECTED; error: -111.",
        "nic-limit",
    ),
    Thread(
        "containers/crun/issues/1802",
        "E0627 10:12:47.588061       1 factory.go:68] Failed to initialize NVML: Unknown Error.",
        "library-release",
    ),
    Thread(
        "pytorch/pytorch/issues/40420", "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "accelerator-fault"
    ),
    Thread(
        "InternLM/lmdeploy/pull/4722",
        "Communication_Error_Bind_IP_Port(EJ0003): Failed to bind the IP port.",
        "shared-accelerator",
    ),
    Thread(
        "vllm-project/vllm/issues/15385",
        "gcs_rpc_client.h:151: Failed to connect to GCS at address 10.0.0.1:6379 within 5 seconds.",
        "library-release",
    ),
    Thread(
        "ray-project/ray/issues/20166",
        "gcs_worker_manager.cc:37: Reporting worker failure, worker id = 5, node id = 1, address = 127.0.0.1, "
        "exit_type = SYSTEM_ERROR_EXIT, has creation task exception = 0.",
        "mixed-releases",
    ),
    Thread(
        "ray-project/kuberay/issues/906",
        "WARNING utils.py:1415 -- Unable to connect to GCS at 10.0.0.1:8265. Check that (1) Ray GCS with matching",
        "mixed-releases",
    ),
    Thread(
        "jax-ml/jax/issues/10218",
        "E0410 21:04 30715 f758.cc:310] no server name supplied in dns URI",
        "library-release",
    ),
    # the second draw
    Thread(
        "Mellanox/k8s-rdma-sriov-dev-plugin/issues/29",
        "Couldn't get device attribute.\nUnable to create QP.\nFailed to create QP.",
        "locked-memory",
    ),
    Thread(
        "ROCm/legacy-rocm-build/issues/1549",
        'Unable to open /dev/kfd read-write: Permission denied\nroot is not member of "video" group, the default DRM',
        "container-permission",
    ),
    Thread(
        "ollama/ollama/issues/6685",
        "Could not initialize Tensile host: No devices found\nUnable to open /dev/kfd read-write: Permission denied",
        "container-permission",
    ),
    Thread(
        "pytorch/xla/issues/3214",
        "libtpu.so already in used by another process. Not attempting to load libtpu.so in this process.",
        "library-release",
    ),
)


@pytest.mark.parametrize("thread", FIRST, ids=lambda each: each.address)
def test_the_cause_that_a_fresh_thread_states_is_named_first(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None and names(compared)[0] == thread.cause


@pytest.mark.parametrize("thread", NAMED, ids=lambda each: each.address)
def test_the_cause_that_a_fresh_thread_states_is_named(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None and thread.cause in names(compared)[1:]


@pytest.mark.parametrize(
    "line",
    [
        "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "Reporting worker failure, worker id = 5, exit_type = INTENDED_EXIT, has creation task exception = 0",
        "Port number 1 state is Active",
        "KeyError: 'input_ids'",
        "KeyError: 'lm_head.weight'",
    ],
)
def test_a_near_miss_of_a_fresh_thread_states_no_setting(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or "invalid-setting" not in names(compared)


ALONE = "This test requires exactly two processes"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("kfd: open(/dev/kfd) failed, errno=13", "missing-accelerator"),
        ("rdma: ibv_reg_mr() failed, errno: 14", "gpudirect-refused"),
        ("store: bind to 0.0.0.0 failed, errno: 98", "port-in-use"),
        ("shm_open() failed, errno 28", "shared-memory"),
        ("qp: ibv_modify_qp failed, errno: 113", "unreachable-peer"),
        ("qp: ibv_modify_qp failed, errno: 101", "unreachable-peer"),
        ("qp: ibv_modify_qp failed, errno: 111", "unreachable-peer"),
    ],
)
def test_an_error_of_the_system_is_read_by_its_number(line: str, cause: str) -> None:
    """The numbers of Linux (`include/uapi/asm-generic/errno-base.h` and `errno.h`)."""
    compared = read(PAIR, line, 16)
    assert compared is not None and names(compared)[0] == cause


def test_an_identity_of_a_host_that_is_set_is_a_possible_cause_of_a_stop() -> None:
    """NVIDIA/nccl issue 879: two nodes with one `NCCL_HOSTID` were one node to the library."""
    refused = "n0:1:2 [0] proxy.cc:808 NCCL WARN Proxy Call to rank 1 failed (Connect)"
    compared = read(PAIR, f"n0:1:2 [0] NCCL INFO NCCL_HOSTID set by environment to 1.\n{refused}", 16)
    assert compared is not None
    assert "invalid-setting" in names(compared)
    assert "invalid-setting" not in names(read(PAIR, refused, 16) or compared)


def test_jobs_of_one_process_each_are_told_from_a_job_of_another_number() -> None:
    """pmodels/mpich issue 7289: `mpirun` of another MPI starts every process as a job of its own."""
    apart = read(PAIR, f"{ALONE}\n{ALONE}", 2)
    assert apart is not None and names(apart) == ["separate-jobs", "invalid-setting"]
    assert "rank 0 of 2 jobs" in apart.causes[0].evidence and "nccl-tests" not in apart.causes[0].next
    one = read(PAIR, ALONE, 2)
    assert one is not None and names(one) == ["invalid-setting"]
    of_every_rank = read(PAIR, f"{ALONE} \n{ALONE} ", 2)  # NVSHMEM
    assert of_every_rank is not None and names(of_every_rank) == ["invalid-setting"]


EFA = cluster("{platform: aws-p4d-24xlarge, nodes: 2}")
SOCKET = "n1:9:9 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [send] via NET/Socket/0\n"
PROVIDER = (
    "[1,10]<stderr>:libfabric:22:1725400706::efa:domain:efa_domain_hmem_info_init_cuda():169<warn> Failed to register "
    "CUDA buffer with the EFA device, FI_HMEM transfers that require peer to peer support will fail.\n"
)


@thorough
def test_a_plugin_whose_provider_prints_lines_is_not_missing() -> None:
    """aws/aws-k8s-tester pull request 473: GPUDirect is refused, and channels are of sockets."""
    assert names(diagnosed(EFA, log(EFA, 16, before=SOCKET, scale=0.05)))[0] == "plugin-missing"
    found = names(diagnosed(EFA, log(EFA, 16, before=SOCKET + PROVIDER, scale=0.05)))
    assert found[0] == "gpudirect-refused" and "plugin-missing" not in found


@thorough
def test_a_message_of_a_cause_that_stops_a_run_does_not_slow_one() -> None:
    """`Prefill out of memory` of SGLang states a full cache, which no finished benchmark had."""
    stops = "Prefill out of memory. Try to lower your batch size\n"
    found = names(diagnosed(EFA, log(EFA, 16, before=SOCKET + PROVIDER + stops, scale=0.05)))
    assert found[0] == "gpudirect-refused" and "kv-cache-full" not in found


DGX = cluster("{platform: dgx-h100, nodes: 2}")
NETWORK = "n0:1:1 [0] NCCL INFO Using network Socket\n"


def table(before: str, busbw: float) -> str:
    """A table of two ranks without a list of devices, as a log has it whose head is cut off. ``busbw`` is in GB/s."""
    rows = [
        f"{size} {size // 4} float sum -1 {size / busbw / 1e3:.2f} {busbw:.2f} {busbw:.2f} 0"
        for size in (1 << power for power in range(20, 34))
    ]
    title = "#  size  count  type  redop  root  time  algbw  busbw #wrong\n"
    return f"./all_reduce_perf -b 1M -e 8G -f 2\n{before}{title}" + "\n".join(rows) + "\n"


@thorough
@pytest.mark.parametrize(
    "before",
    [
        NETWORK + NETWORK.replace("n0", "n1"),
        f"mpirun -np 2 -H n0:1,n1:1 ./all_reduce_perf -b 1M -e 8G -f 2\n{NETWORK}",
        f"{NETWORK}n0:1:1 [0] NCCL INFO comm 0x5 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0\n",
    ],
    ids=["hosts of lines", "hosts of the launch", "nodes of the communicator"],
)
def test_a_table_without_a_list_of_devices_has_the_hosts_that_its_lines_tell(before: str) -> None:
    compared = diagnosed_pair(table(before, 1.0))
    assert compared.nodes == 2
    assert names(compared) == ["socket-fall-back"] and compared.causes[0].weight == 1


def test_sockets_are_possible_where_nothing_tells_the_hosts() -> None:
    compared = diagnosed_pair(table(NETWORK, 1.0))
    assert compared.nodes == 1
    assert names(compared) == ["socket-fall-back"] and compared.causes[0].weight == 0.4
    assert "it lists no hosts" in compared.causes[0].evidence
    assert not diagnosed_pair(table(NETWORK.replace("Socket", "IB"), 1.0)).causes
    adapter = "n0:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB\n"
    assert "socket-fall-back" not in names(diagnosed_pair(table(NETWORK + adapter, 1.0)))


def diagnosed_pair(text: str) -> ComparedCollective:
    """The diagnosis of a table of two ranks on two DGX H100."""
    found = diagnosis_of(DGX, [("a.log", read_benchmark(text))], LogOverrides(None, 2))
    assert not found.unread
    return found.compared[0]
