"""Causes of threads whose first post has a log of several lines, drawn by a rule stated before, each with its address.

The rule (2026-11-25): queries for slow collectives, and for errors of NCCL, RCCL, UCX, PyTorch, vLLM, SGLang,
Megatron, DeepSpeed, NeMo and Kubernetes; every issue whose stored excerpts show the output of the post and state the
cause, and that no test names yet. Of the 23 that were left, 12 causes were named first before anything was changed, and
two logs were rightly without a cause. Of the others, three stay as they were: NVIDIA/nccl issue 644 (the launcher binds
ranks to cores, which no line shows), NVIDIA/nccl issue 291 (a fault of a release that the log does not name), and
NVIDIA/nccl-tests issue 27 (the last lines of two tables, without a row).
"""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.logs.benchmarks.nccl_rows import read_log
from clusterspec.logs.benchmarks.readers import read_benchmark
from tests.analysis.test_diagnosis import cluster, names
from tests.analysis.test_drawn_threads import Thread
from tests.analysis.test_program_lines import PAIR, read

MISSED = (
    Thread(
        "NVIDIA/nccl/issues/573",
        "h:9:9 [0] graph/xml.cc:332 NCCL WARN Could not find real path of "
        "/sys/class/pci_bus/0000:01/../../0000:01:00.0\n"
        "h:9:9 [0] NCCL INFO graph/xml.cc:469 -> 2",
        "library-release",
    ),
    Thread(
        "NVIDIA/gpu-operator/issues/85",
        "Resolving Linux kernel version...\nCould not resolve Linux kernel version\nUnmounting NVIDIA driver rootfs...",
        "driver-release",
    ),
    Thread(
        "NVIDIA/gpu-operator/issues/190",
        "Installing Linux kernel headers...\n"
        "**Error: Unable to find a match: kernel-devel-4.18.0-240.22.1.el8_3.x86_64**",
        "driver-release",
    ),
    Thread(
        "GoogleCloudPlatform/container-engine-accelerators/issues/140",
        "E: Unable to locate package linux-headers-5.3.0-1029-gcp",
        "driver-release",
    ),
    # the trace of a rank whose warning is not shown
    Thread(
        "NVIDIA/nccl/issues/1000",
        "n3:2330:2658 [2] NCCL INFO misc/socket.cc:567 -> 2\nn3:2330:2658 [2] NCCL INFO misc/socket.cc:618 -> 2\n"
        "n3:2330:2658 [2] NCCL INFO bootstrap.cc:270 -> 2\nn3:2330:2658 [2] NCCL INFO init.cc:1350 -> 2",
        "wrong-interface",
    ),
    Thread(
        "NVIDIA/nccl-tests/issues/92",
        "Abort(3712399) on node 0 (rank 0 in comm 0): Fatal error in PMPI_Init: Other MPI error, error stack:\n"
        "MPIR_pmi_kvs_get(227).......: PMI_KVS_Get returned -1",
        "library-release",
    ),
    Thread(
        "horovod/horovod/issues/2686",
        "Available Tensor Operations:\n    [ ] NCCL\n    [ ] DDL\n    [ ] CCL\n    [ ] MPI\n    [X] Gloo",
        "library-release",
    ),
)
KNOWN = (
    Thread(
        "horovod/horovod/issues/288",
        "n1:24:201 [0] misc/ibvwrap.cu:61 WARN Failed to open libibverbs.so[.1]\n"
        "n1:24:201 [0] INFO Using internal Network Socket\n"
        "n1:24:201 [0] INFO NET : Using interface ib0:192.168.11.1<0>\n"
        "n1:24:201 [0] INFO NET/Socket : 1 interfaces found",
        "socket-fall-back",
    ),
    Thread(
        "NVIDIA/nccl/issues/653",
        "201: :41367:41367 [1] enqueue.cc:422 NCCL WARN Error : no algorithm/protocol available",
        "invalid-setting",
    ),
    Thread("kubeflow/mpi-operator/issues/501", "/etc/mpi/kubexec.sh: 11: /opt/kube/kubectl: not found", "remote-login"),
    Thread("NVIDIA/cloudai/issues/720", "bash: line 1: /usr/sbin/sshd: No such file or directory", "remote-login"),
    Thread(
        "NVIDIA/k8s-device-plugin/issues/60",
        "2018/06/29 08:52:25 Failed to initialize NVML: could not load NVML library.\n"
        "2018/06/29 08:52:25 If this is a GPU node, did you set the docker default runtime to `nvidia`?",
        "invalid-setting",
    ),
    Thread(
        "facebookresearch/ViewDiff/issues/24",
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\n"
        "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1000",
        "shared-accelerator",
    ),
    Thread(
        "vllm-project/vllm/issues/5094",
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
        "wrong-interface",
    ),
)


@pytest.mark.parametrize("thread", [*MISSED, *KNOWN], ids=lambda each: each.address)
def test_the_cause_that_a_whole_thread_states_is_named_first(thread: Thread) -> None:
    compared = read(PAIR, thread.lines, 16)
    assert compared is not None and names(compared)[0] == thread.cause


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("Proceeding with Linux kernel version 5.4.0-62-generic", "driver-release"),
        ("Unable to find a match: htop", "driver-release"),
        ("E: Unable to locate package numactl", "driver-release"),
        ("n3:2:2 [2] NCCL INFO misc/socket.cc:567 -> 6", "wrong-interface"),
        ("PMI_KVS_Get took 3 ms", "library-release"),
        ("    [X] NCCL", "library-release"),
        ("- [ ] NCCL on every node", "library-release"),
    ],
)
def test_a_near_miss_of_a_whole_thread_states_no_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or cause not in names(compared)


def test_a_trace_of_a_connection_adds_no_cause_to_one_that_a_warning_states() -> None:
    full = "n:1:1 [0] misc/socket.cc:400 NCCL WARN Call to socket failed : Too many open files\n"
    compared = read(PAIR, full + "n:1:1 [0] NCCL INFO misc/socket.cc:500 -> 2", 16)
    assert compared is not None and names(compared) == ["file-limit"]


HEADING = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
ROW = "{0} {1} float sum -1 {2:.2f} {3:.2f} {4:.2f} 0 {2:.2f} {3:.2f} {4:.2f} 0\n"


def rows(sizes: list[int], algbw: float, busbw: float) -> str:
    """Rows of a table without a list of devices; bandwidths in GB/s."""
    return HEADING + "".join(ROW.format(size, size // 4, size / algbw / 1e3, algbw, busbw) for size in sizes)


MIB = 2**20


def test_rows_without_bus_bandwidth_are_of_one_rank() -> None:
    """NVIDIA/nccl-tests issue 294: sixteen processes print among each other, and no list of devices is shown."""
    among = rows([128 * MIB, 128 * MIB, 512 * MIB, 512 * MIB, 256 * MIB, 256 * MIB], 300, 0)
    log = read_log("mpirun -np 16 ./all_reduce_perf -b 128M -g 1\n" + among)
    assert (log.ranks, log.jobs, len(log.tables)) == (1, 2, 0)
    assert "2 copies of the benchmark" in refusal(among), "whatever the collective"
    alone = rows([128 * MIB, 256 * MIB, 512 * MIB], 300, 0)
    assert read_log(alone).jobs == 1 and "it has one rank" in refusal(alone)


def test_a_sweep_of_one_size_that_is_repeated_is_one_job() -> None:
    assert read_log(rows([128 * MIB] * 4, 300, 0)).jobs == 1


@pytest.mark.parametrize(("algbw", "busbw"), [(0.01, 0.0), (0.02, 0.01), (300, 150)])
def test_a_bus_bandwidth_that_is_rounded_to_nothing_does_not_state_one_rank(algbw: float, busbw: float) -> None:
    log = read_log(rows([MIB, 2 * MIB], algbw, busbw))
    assert (log.ranks, log.jobs) == (None, 1)


def refusal(text: str) -> str:
    """Why a log is not compared."""
    machine = cluster("{platform: dgx-h100, nodes: 2}")
    return diagnosis_of(machine, [("a.log", read_benchmark(text))], LogOverrides()).unread[0][1]
