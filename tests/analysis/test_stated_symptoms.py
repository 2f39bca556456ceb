"""Causes that threads, and tables of symptoms, state: drawn and judged before their lines were read (2026-11-25).

The first draw, one query a class of faults, was of 25 threads: 16 causes were named first before anything was changed,
21 named. The second, of the symptoms of documents and a few threads, was of 16: 6 first, 6 named; the third, of
documents and the rules of a monitor of nodes, of 10: 2 first; the fourth, after these were mended, of 11 threads found
by their errors: 11 first. Of the others, these stay as they were:
ROCm/rocm-systems pull 7864 (an IPC handle refused: a setting first), NVIDIA/nccl issue 2077 (multicast groups of the
switches used up: the service of the switches first, as the warning says), NVIDIA/nccl issues 799 and 622 (a NIC without
an address, a port that is disabled: an unreachable peer first), NVIDIA/nvidia-container-toolkit issue 1227 (hidden
accelerators first, as of other threads), and of awslabs/awsome-distributed-training a rank without EFA and a module of
the program's own directory.
"""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_drawn_threads import Thread
from tests.analysis.test_program_lines import PAIR, read

FIRST = (
    Thread(
        "gpustack/gpustack/issues/2275",
        "gpu:77952:77952 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 172.21.0.1<57093"
        "> failed : Software caused connection abort",
        "wrong-interface",
    ),
    Thread(
        "NVIDIA/gpu-operator/issues/544",
        "nv-fabricmanager[3228]: fabric manager NVIDIA GPU driver interface version 530.30.02 don't match"
        " with driver v",
        "fabric-manager",
    ),
    Thread(
        "ollama/ollama/issues/12136",
        "ggml_cuda_init: failed to initialize CUDA: system not yet initialized",
        "fabric-manager",
    ),
    Thread(
        "pytorch/pytorch/pull/177472",
        "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'the operat"
        "ion cannot be ",
        "fabric-manager",
    ),
    Thread(
        "openucx/ucx/issues/8229",
        "[1652700000.1:n1:33:0]      ib_iface.c:947  UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory",
        "locked-memory",
    ),
    Thread(
        "vllm-project/vllm/issues/7074",
        "(RayWorkerWrapper pid=1890, ip=10.41.0.8) [rank8]:[E ProcessGroupGloo.cpp:144] Gloo connectFullM"
        "esh failed wit",
        "wrong-interface",
    ),
    Thread(
        "NVIDIA/aicr/pull/1662",
        "worker-0:55:90 [3] NCCL WARN NET/FasTrak connect() error: 111: Connection refused",
        "stopped-service",
    ),
    Thread(
        "NVIDIA/DCGM/issues/270",
        "ERROR [1514002:1514004] [[Health]] Detected a WARNING in health system Thermal: 'Detected clocks"
        " event due to thermal violation in GPU 2. Verify that the coolin",
        "throttled-clocks",
    ),
    Thread(
        "NVIDIA/nccl/issues/529",
        "NvYt-dcf441d17e21:97:221 [0] NCCL INFO NET/Socket : Using [0]ip6tnl0:fe80::e866:19ff:fe1e:a688%i"
        "p6tnl0<0> [1]v",
        "wrong-interface",
    ),
    Thread(
        "horovod/horovod/issues/789",
        "e53b7da88fea:2494:2756 [1] NCCL INFO NET : Using interface lo:127.0.0.1<0>",
        "wrong-interface",
    ),
    Thread(
        "aws/deep-learning-containers/pull/6469",
        "n1:7:7 [0] NCCL WARN Bootstrap: no socket interface found",
        "wrong-interface",
    ),
    Thread(
        "openucx/ucx/issues/9590",
        "GUID 0x1070fd0300370ea2 port ALL: [LinkDownedCounter == 25 (25.000)] [PortRcvErrors == 26 (26.00"
        "0)] [PortXmitD",
        "unstable-link",
    ),
    Thread(
        "NVIDIA/srt-slurm/pull/307",
        "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution",
        "accelerator-fault",
    ),
    Thread(
        "meta-pytorch/torchtune/issues/2093",
        "[rank5]:[E1129 11:56:57.205862232 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=28956, OpType=ALLREDUCE, Nume",
        "ranks-diverge",
    ),
    Thread(
        "deepspeedai/DeepSpeed/issues/7568",
        "[rank2]: RuntimeError: Detected mismatch between collectives on ranks. Rank 2 is running collect"
        "ive: Collectiv",
        "ranks-diverge",
    ),
    Thread(
        "hiyouga/EasyR1/issues/185",
        "(raylet) [2025-04-02 15:02:00,117 E 135782 135782] (raylet) node_manager.cc:3069: 1 Workers (tas"
        "ks / actors) killed due to memory pressure (OOM), 0 Workers cras",
        "host-memory-full",
    ),
    Thread(
        "NVIDIA/nccl/issues/302",
        "[56] crow-ib-7:7240:7240 [0] NCCL INFO NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_0:1/IB [2]mlx5_2:1/"
        "RoCE [3]mlx5_4\n"
        "[56] crow-ib-7:7240:7401 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with err"
        "or Invalid arg",
        "wrong-interface",
    ),
    Thread(
        "NVIDIA/TensorRT-LLM/pull/18373",
        "W ucx_utils.cpp:631] 4 NVIDIA GPU(s) were detected, but UCX CUDA support was not found!",
        "invalid-setting",
    ),
    Thread(
        "vllm-project/production-stack/issues/276",
        "Error while creating shared memory segment /dev/shm/nccl-F9ffgB (size 9637888)",
        "shared-memory",
    ),
    Thread(
        "awslabs/awsome-distributed-training/4.validation_and_observability/2.gpu-cluster-healthcheck/README.md#L473",
        "URL https://registry-1.docker.io/v2/public.ecr.aws/hpc-cloud/nccl-tests/manifests/latest returne"
        "d error code: ",
        "outside-server",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/verl/hyperpod-eks/rlvr/README.md#L156",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` wh"
        "en initializin",
        "kv-cache-full",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/verl/hyperpod-eks/rlvr/README.md#L180",
        "RuntimeError: PytorchStreamWriter failed writing file data/12: file write failed",
        "storage-full",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/verl/hyperpod-eks/rlvr/README.md#L204",
        "AssertionError: Expandable segments are not compatible with memory pool. Please track https://gi"
        "thub.com/pytor",
        "invalid-setting",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md#L552",
        "torch.distributed.DistBackendError: NCCL communicator was aborted on rank 3.",
        "peer-ended",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md#L388",
        "Traceback (most recent call last):\n"
        '  File "/x/transformers/models/auto/configuration_auto.py", line 1131, in from_pretrained\n'
        "KeyError: 'qwen3'",
        "library-release",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md#L564",
        "srun: error: unrecognized option '--container-image'",
        "invalid-setting",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md#L487",
        "RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasGemmEx( handle, opa, opb, m, n, k)`",
        "library-release",
    ),
    Thread(
        "awslabs/awsome-distributed-training/3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md#L210",
        "ValueError: Can't find a valid checkpoint at /fsx/qwen3-qlora/outputs/checkpoint-300",
        "checkpoint-mismatch",
    ),
    Thread(
        "awslabs/awsome-distributed-training/1.architectures/7.sagemaker-hyperpod-eks/nvidia-cloud-functions/docs/TROUBLESHOOTING.md#L184",
        "Failed to watch metrics: Error watching fields: The third-party Profiling module returned an unr"
        "ecoverable error",
        "unsupported-accelerator",
    ),
    Thread(
        "stas00/ml-engineering/compute/accelerator/nvidia/debug.md#L25",
        "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.",
        "accelerator-fault",
    ),
    Thread(
        "huggingface/trl/issues/397",
        "Duplicate GPU detected : rank 3 and rank 0 both on CUDA device f5000DistBackendError",
        "shared-accelerator",
    ),
    Thread(
        "NVIDIA/nccl/issues/1524",
        "node023:10214:10303 [0] transport/net_ib.cc:1909 NCCL WARN NET/IB : Got completion from peer 10."
        "1.3.201<33057> with status=9 opcode=0 len=0 vendor err 138 (Send",
        "unreachable-peer",
    ),
    Thread(
        "NVIDIA/nccl/issues/743",
        "[ 1200.1] mlx5_core 0000:81:00.0: wait_func:1151:(pid 1234): CREATE_MKEY(0x200) timeout. Will ca"
        "use a leak of a command resource",
        "iommu-translation",
    ),
    Thread(
        "volcengine/verl/docs/faq/faq.rst#L15",
        "[2025-04-02 15:02:00,117 E 135782 135782] core_worker.cc:201: Failed to register worker 0100ffff"
        " to Raylet. IOError: [RayletClient] Unable to register worker with raylet. No such file or direc"
        "tory",
        "process-limit",
    ),
    Thread(
        "volcengine/verl/docs/faq/faq.rst#L64",
        "NotImplementedError: TensorDict does not support membership checks with the `in` keyword. If you"
        " want to check",
        "library-release",
    ),
    Thread(
        "AI-Hypercomputer/maxtext/docs/tutorials/posttraining/rl_on_multi_host.md#L229",
        "ValueError: At most one of rollout_tensor_parallelism, rollout_data_parallelism can be -1 (auto-derived)",
        "invalid-setting",
    ),
    Thread(
        "scitix/sichek/components",
        "2025-01-01_10:10:10.123+0800: [E] VERBS RDMA failed to start, no valid verbsPorts defined.",
        "nic-fault",
    ),
    Thread(
        "scitix/sichek/components",
        "2025-01-01_10:10:10.123+0800: [E] This node is being expelled from the cluster",
        "storage-fault",
    ),
    Thread(
        "scitix/sichek/components",
        "mmfs: [E] Unable to contact any quorum nodes during cluster probe.",
        "storage-fault",
    ),
    Thread(
        "scitix/sichek/components",
        "[ 12.3] bond0: now running without any active interface!",
        "unstable-link",
    ),
    Thread(
        "scitix/sichek/components",
        "[ 12.3] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 slot:0 page:0x1)",
        "host-fault",
    ),
    Thread(
        "scitix/sichek/components",
        "[ 12.3] NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062)",
        "accelerator-fault",
    ),
    Thread(
        "scitix/sichek/components",
        "[ERROR] [tid 12] failed to find the member GPU handle 123456 in the multicast team setup request id 7",
        "fabric-manager",
    ),
    Thread(
        "aws/aws-ofi-nccl/issues/156",
        "worker-1:35:89 [5] ofi_process_cq:1039 NCCL WARN NET/OFI Request 0x7fbb944701b8 completed with error. RC: 20. "
        "Error: unknown error. Completed length: 0\n"
        "libfabric:35::efa:cq:rxr_cq_write_tx_error():243<warn> err: 20, prov_err: Not a directory (20)",
        "unreachable-peer",
    ),
    Thread(
        "pytorch/pytorch/issues/35710",
        "RuntimeError: cuda runtime error (802) : system not yet initialized at /opt/aten/src/THC/THCGeneral.cpp:50",
        "fabric-manager",
    ),
    Thread(
        "huggingface/huggingface_hub/issues/4134",
        "[warmup] fabric manager never reported Completed; trying anyway\n"
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized",
        "fabric-manager",
    ),
    Thread(
        "NVIDIA/nccl/issues/473",
        "#   Rank  0 Pid   1688 on    fastmoe device  0 [0x18] GeForce RTX 2080 Ti\n"
        "#   Rank  1 Pid   1688 on    fastmoe device  1 [0x3b] GeForce RTX 2080 Ti\n"
        "fastmoe: Test NCCL failure common.cu:777 'unhandled system error'",
        "shared-memory",
    ),
    Thread(
        "NVIDIA/nccl-tests/issues/14",
        "e6:31:31 [0] include/socket.h:311 WARN Socket creation failed : Address family not supported by protocol\n"
        "NCCL failure common.cu:874 'unhandled system error'",
        "wrong-interface",
    ),
    Thread(
        "pytorch/pytorch/issues/37004",
        "node08:27106:27302 [0] include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied",
        "shared-memory",
    ),
    Thread(
        "modelscope/FunASR/issues/2557",
        '  File "/usr/lib/python3.10/shutil.py", line 718, in rmtree\n    os.rmdir(path)\n'
        "FileNotFoundError: [Errno 2] No such file or directory: './train_outputs_full2/model.pt.ep0.5000'",
        "unshared-files",
    ),
    Thread("kuleshov-group/caduceus/issues/58", "OSError: [Errno 24] Too many open files", "file-limit"),
    Thread(
        "facebookresearch/detectron2/issues/3953",
        "RuntimeError: Too many open files. Communication with the workers is no longer possible.",
        "file-limit",
    ),
    Thread(
        "pytorch/pytorch/issues/14768",
        "RuntimeError: unable to open shared memory object </torch_30997_2076642173> in read-write mode",
        "file-limit",
    ),
    Thread(
        "NVIDIA/Megatron-LM/pull/5768",
        "ValueError: Can not use sequence paralllelism without tensor parallelism",
        "invalid-setting",
    ),
)


@pytest.mark.parametrize("thread", FIRST, ids=lambda each: each.address)
def test_the_cause_that_a_thread_or_document_states_is_named_first(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None
    assert names(compared)[0] == thread.cause


SETTINGS_FRAME = (
    'Traceback (most recent call last):\n  File "/x/{}.py", line 3, in f\n    raise E\nValueError: no row {}'
)


@pytest.mark.parametrize(
    ("file", "cause"),
    [
        ("vllm/config/parallel", "invalid-setting"),
        ("vllm/engine/arg_utils", "invalid-setting"),
        ("sglang/srt/server_args", "invalid-setting"),
        ("sglang/srt/arg_groups/validation_hook", "invalid-setting"),
        ("megatron/training/arguments", "invalid-setting"),
        ("transformers/training_args", "invalid-setting"),
        ("train", "program-error"),
        ("reconfigure", "program-error"),
        ("vllm/v1/core/sched", "program-error"),
    ],
)
def test_an_exception_of_a_file_that_checks_settings_is_of_a_setting(file: str, cause: str) -> None:
    compared = read(PAIR, SETTINGS_FRAME.format(file, 7), 16)
    assert compared is not None
    assert names(compared) == [cause]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "h:1:2 [0] NCCL WARN socketStartConnect: Connect to 172.21.0.7<5> failed : Connection refused",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL WARN socketStartConnect: Connect to 172.16.0.1<5> failed : Connection refused",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/RoCE ; OOB eth0:10.0.0.1<0>",
            "wrong-interface",
        ),
        (
            "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/IB ; OOB eth0:10.0.0.1<0>\n"
            "h:1:2 [0] NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
            "wrong-interface",
        ),
        ("[LinkDownedCounter == 0]\nUCX  ERROR Transport retry count exceeded on mlx5_0:1/IB", "unstable-link"),
        ("Got completion from peer 10.0.0.2<1> with status=19 opcode=0", "unreachable-peer"),
        ("pyxis: imported docker image after 401 layers", "outside-server"),
        ("srun: error: n3: task 3: Exited with exit code 1", "invalid-setting"),
        ("ValueError: at most 4 values may follow", "invalid-setting"),
    ],
)
def test_a_near_miss_of_a_stated_symptom_does_not_name_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or names(compared)[:1] != [cause]


def test_queue_pairs_that_find_no_memory_reach_a_limit_of_the_nic_first() -> None:
    line = "h:1:2 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Cannot allocate memory"
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:2] == ["nic-limit", "locked-memory"]
