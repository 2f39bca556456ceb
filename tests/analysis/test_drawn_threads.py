"""Causes of threads that were drawn and judged before their lines were read, each with its address.

Of the 40 of the first draw, 26 causes were named first, and 8 logs refused, before anything was changed; of the 23 of
the second, 14 first, and one rightly as none of the known. Those in `NAMED` have another cause first.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import thorough


class Thread(NamedTuple):
    """A thread: its address, lines that tell of its cause in the form that programs print them, and the cause."""

    address: str
    lines: str
    cause: str


FIRST = (
    # the first draw
    Thread(
        "horovod/horovod/issues/2431",
        "what():  [enforce fail at gloo/transport/tcp/device.cc:1] ifa != nullptr. Unable to find address for: ens1",
        "wrong-interface",
    ),
    Thread(
        "vllm-project/vllm/issues/13121",
        "RuntimeError: Gloo connectFullMesh failed with [gloo/transport/tcp/pair.cc:144] no error",
        "wrong-interface",
    ),
    Thread(
        "wilicc/gpu-burn/issues/1",
        "[9.1] pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010\n"
        "[9.2] NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.",
        "accelerator-fault",
    ),
    Thread(
        "rwth-i6/returnn/issues/1486",
        "Unable to determine the device handle for GPU0000:03:00.0: Unknown Error",
        "accelerator-fault",
    ),
    Thread(
        "illinois-scicomp/machine-shop-maintenance/issues/80",
        "[9.1] NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.",
        "accelerator-fault",
    ),
    Thread("NVIDIA/nvidia-docker/issues/1730", "Failed to initialize NVML: Unknown Error", "missing-accelerator"),
    Thread(
        "huggingface/nanotron/issues/204",
        "[default0]:Grouping texts in chunks of 9:   8%|# | 7/99 [02:32<30:38, 4866.01 examples/s]\n"
        "[default2]:[E1] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE)",
        "ranks-diverge",
    ),
    Thread("EleutherAI/bergson/issues/444", "Watchdog caught collective operation timeout", "ranks-diverge"),
    Thread(
        "marin-community/marin/pull/1933",
        "XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: a. Timed out task names:",
        "absent-ranks",
    ),
    Thread(
        "sql-machine-learning/elasticdl/issues/1895",
        "ERROR:root:[gloo/transport/tcp/unbound_buffer.cc:8] Timed out waiting 60000ms for recv operation to complete",
        "ranks-diverge",
    ),
    Thread(
        "open-mmlab/mmdetection/issues/2406",
        "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed",
        "host-memory-full",
    ),
    Thread(
        "pytorch/pytorch/issues/5040",
        "RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error.",
        "shared-memory",
    ),
    Thread(
        "deepspeedai/DeepSpeed/issues/4907",
        "Command 'ssh -o PasswordAuthentication=no 10.0.0.9 hostname' returned non-zero exit status 255.",
        "remote-login",
    ),
    Thread(
        "open-mpi/ompi/issues/12232",
        "Open MPI detected an inbound MPI TCP connection request from a peer\nthat appears to be part of this MPI job\n"
        "but it is from an IP address that is\nunexpected.  This is highly unusual.",
        "wrong-interface",
    ),
    Thread(
        "k8snetworkplumbingwg/sriov-cni/issues/348",
        "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) for device a",
        "library-release",
    ),
    Thread(
        "nyu-systems/Grendel-GS/issues/9",
        "[c10d] The IPv6 network addresses of (n1, 9) cannot be retrieved (gai error: -3 - Temporary failure in name",
        "name-resolution",
    ),
    Thread(
        "meta-pytorch/monarch/pull/1571",
        "[c10d] The IPv6 network addresses of (n1.internal, 9) cannot be retrieved (gai error: -2 - Name or service",
        "name-resolution",
    ),
    Thread(
        "jade-hpc-gpu/jade-hpc-gpu.github.io/issues/194",
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "accelerator-fault",
    ),
    Thread(
        "rwth-i6/returnn/issues/1802",
        "ImportError: libtorch_cuda.so: undefined symbol: ncclMemFree",
        "library-release",
    ),
    Thread(
        "awslabs/awsome-distributed-ai/issues/1225",
        "OSError: [Errno 28] No space left on device\nRuntimeError: unexpected pos 704 vs 598",
        "storage-full",
    ),
    Thread(
        "NVIDIA/hpc-container-maker/issues/239",
        "ERROR: CUDA driver version is insufficient for CUDA runtime version in a.cpp at line 1 (error-code 35)",
        "driver-release",
    ),
    Thread("NVIDIA/nccl/issues/1726", "NCCL WARN Attribute arch of node cpu not found", "wrong-topology"),
    Thread(
        "fal-ai-community/video-diffusion-speedrun/issues/2",
        "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a (size 7340384)",
        "shared-memory",
    ),
    Thread(
        "jchengai/planTF/issues/28",
        "(raylet) node_manager.cc:3: 12 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers",
        "host-memory-full",
    ),
    Thread("thu-coai/CDial-GPT/issues/103", "RuntimeError: Address already in use", "port-in-use"),
    Thread("deepseek-ai/DeepEP/issues/707", "RuntimeError: DeepEP error: timeout (dispatch CPU)", "library-release"),
    Thread(
        "NVIDIA/NVSentinel/issues/155",
        "[9.1] NVRM: The NVIDIA probe routine failed for 1 device(s).",
        "accelerator-fault",
    ),
    Thread(
        "pytorch/pytorch/issues/186591",
        "ImportError: libtorch_cuda.so: undefined symbol: ncclCommResume",
        "library-release",
    ),
    # the second draw
    Thread(
        "NVIDIA/enroot/issues/88",
        "nvidia-container-cli: permission error: capability change failed: operation not permitted",
        "container-permission",
    ),
    Thread(
        "NVIDIA/enroot/issues/234",
        "slurmstepd: error: pyxis:     nvidia-container-cli: container error: file lookup failed: /proc/9/root/a/etc/"
        "debian_version: permission denied",
        "library-release",
    ),
    Thread(
        "Dao-AILab/flash-attention/issues/784",
        "ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN2at4_ops15sum_IntList_out4callE",
        "library-release",
    ),
    Thread(
        "NVIDIA/TransformerEngine/issues/2771",
        "ImportError: transformer_engine_torch.so: undefined symbol: _ZN3c104cuda29c10_cuda_check_implementationEi",
        "library-release",
    ),
    Thread(
        "NVIDIA/nccl/issues/147",
        "\n".join(
            f"n1:1:{device} [{device}] NCCL INFO Broadcast: opCount 0 sendbuff 0x1 recvbuff 0x1 count {count} datatype"
            f" 6 op 0 root 0 comm 0x{device}2 [nranks=4] stream 0x5"
            for device, count in enumerate((25503912, 53, 53, 53))
        ),
        "ranks-diverge",
    ),
    Thread(
        "speechbrain/speechbrain/issues/2401",
        "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE), but Rank 0 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=3, OpType=BROADCAST)",
        "ranks-diverge",
    ),
    Thread(
        "kyuz0/amd-strix-halo-vllm-toolboxes/issues/6",
        "RuntimeError: No HIP GPUs are available",
        "missing-accelerator",
    ),
    Thread("ROCm/vllm/pull/893", "RuntimeError: No CUDA GPUs are available", "missing-accelerator"),
    Thread(
        "ROCm/ROCm-docker/issues/116",
        "Unable to open /dev/kfd read-write: Permission denied",
        "missing-accelerator",
    ),
    Thread(
        "horovod/horovod/issues/429",
        "Stalled ops:\nallreduce.avg_loss [missing ranks: 1]",
        "ranks-diverge",
    ),
    Thread(
        "ArjunaCluster/ArjunaUsers/issues/52",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=191.batch cgroup.",
        "host-memory-full",
    ),
    Thread(
        "coqui-ai/STT/issues/2238",
        "slurmstepd: error: Job 7 exceeded memory limit (626359956 > 512000000), being killed",
        "host-memory-full",
    ),
    Thread("hafs-community/HAFS/issues/101", "srun: error: n01: task 4: Out Of Memory", "host-memory-full"),
    Thread(
        "ZettaAI/zetta_utils/issues/671",
        "slurmstepd: error: *** JOB 4 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
        "job-ended",
    ),
    Thread(
        "aws-neuron/aws-neuron-sdk/issues/1017",
        "ImportError: libneuronpjrt.so: undefined symbol: nrt_tensor_copy, version NRT_2.0.0",
        "library-release",
    ),
    Thread(
        "aws-neuron/aws-neuron-sdk/issues/192",
        "nrtd[1]: [NRTD:InitTongas] Failed to initialize devices, error:2",
        "driver-release",
    ),
    Thread(
        "NVIDIA/gpu-driver-container/issues/735",
        "fabric manager NVIDIA GPU driver interface version 590.48 don't match with driver version 580.126.",
        "fabric-manager",
    ),
    Thread(
        "dstackai/dstack/issues/2348",
        "UserWarning: CUDA initialization: Unexpected error. Error 802: system not yet initialized",
        "fabric-manager",
    ),
    Thread("NVIDIA-NeMo/RL/issues/4027", "RuntimeError: DeepEP error: timeout (dispatch CPU)", "library-release"),
    # of a third draw, cut short at five threads: four named first, the one of Neuron not
    Thread(
        "microsoft/mscclpp/issues/335",
        "[1.1] [h1:7:0] ib_iface.c:1 UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory",
        "locked-memory",
    ),
    Thread(
        "NVIDIA/cudf-spark/pull/7632",
        "[1.1] [h1:7:0] ib_iface.c:1 UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory",
        "locked-memory",
    ),
    Thread(
        "ComputationalRadiationPhysics/picongpu/pull/4962",
        "OPAL ERROR: Unreachable in file pmix3x_client.c at line 112\n"
        "but OMPI was not built with SLURM's PMI support and therefore cannot",
        "library-release",
    ),
    Thread(
        "NVIDIA/nccl/issues/769",
        "h1:1:2 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 1.\n"
        "h1:1:2 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
        "unreachable-peer",
    ),
    Thread(
        "aws-neuron/aws-neuron-samples/issues/44",
        "ERROR  TDRV:tdrv_get_dev_info                       No neuron device available\n"
        "RuntimeError: Neuron runtime cannot be initialized; cannot determine the number of available NeuronCores",
        "shared-accelerator",
    ),
)
NAMED = (
    Thread(
        "pytorch/pytorch/issues/67547",
        "RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.",
        "name-resolution",
    ),
    Thread(
        "jax-ml/jax/issues/23599",
        "UNAVAILABLE: Task /job:jax_worker/replica:0/task:0 heartbeat timeout. This indicates that the remote task",
        "ranks-diverge",
    ),
)
NONE = (
    Thread(
        "aws-neuron/aws-neuron-sdk/issues/742",
        "RuntimeError: INVALID_ARGUMENT: NEFF is invalid; it could be broken or hacked",
        "",
    ),
    Thread("NVIDIA/enroot/issues/140", "enroot-mount: failed to mount: /home/a at /tmp/b: Permission denied", ""),
)


@thorough
@pytest.mark.parametrize("thread", FIRST, ids=lambda each: each.address)
def test_the_cause_that_a_thread_states_is_named_first(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None
    assert names(compared)[0] == thread.cause


@pytest.mark.parametrize("thread", NAMED, ids=lambda each: each.address)
def test_the_cause_that_a_thread_states_is_named(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None
    assert thread.cause in names(compared)


@pytest.mark.parametrize("thread", NONE, ids=lambda each: each.address)
def test_an_error_of_none_of_the_known_causes_is_answered_so(thread: Thread) -> None:
    compared = read(PAIR, f"[ERROR] hook returned 1\n{thread.lines}", 16)
    assert compared is not None
    assert not compared.causes and compared.error
