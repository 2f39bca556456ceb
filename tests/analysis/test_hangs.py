"""Runs that hung or stopped before a result: the causes that their lines name, from published threads."""

from __future__ import annotations

from pathlib import Path

import pytest

import clusterspec
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STRONG
from clusterspec.logs.benchmarks.readers import read_benchmark
from clusterspec.logs.statements.unfinished import read_unfinished
from tests.analysis.test_diagnosis import cluster, diagnosed, names
from tests.cli.conftest import Call, call  # noqa: F401
from tests.effort import telling

PCIE = "{accelerator: t4, accelerators_per_node: 4, nodes: 1, scale_up: {topology: pcie, domain: 4}}"
EFA = "{platform: aws-p4d-24xlarge, nodes: 2}"
SPARK = "{platform: dgx-spark, nodes: 3, scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s}}"
H100, PAIR = "{platform: dgx-h100, nodes: 2}", SPARK.replace("nodes: 3", "nodes: 2")
HALF = (
    "{platform: hgx-h100, accelerators_per_node: 4, nodes: 2, "
    "scale_out: {technology: infiniband-ndr, nics_per_node: 4}}"
)
GDR = "NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA"
DIRECT = "[0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer"
TIMED_OUT, SHARED, LOCKED, INTERFACE = "unreachable-peer", "shared-memory", "locked-memory", "wrong-interface"
FAMILY = "address  with family 0 is neither AF_INET(2) nor AF_INET6(10)"
ONE, DUPLICATE = "{platform: dgx-h100, nodes: 1}", "shared-accelerator"
REFUSED = "failed to open CUDA IPC handle : 217 peer access is not supported between these two devices"
USAGE = "ncclInvalidUsage: This usually reflects invalid usage of NCCL library."
LOOP = "NCCL INFO NET : Using interface lo:127.0.0.1<0>"
ACS = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"


@telling(2)
@pytest.mark.parametrize(
    ("address", "machine", "ranks", "lines", "cause"),
    [
        ("NVIDIA/nccl/issues/2079", PCIE, 2, f"{DIRECT}\n{ACS}", "acs"),
        ("vllm-project/vllm/issues/51513", PCIE, 2, f"{DIRECT.replace('direct pointer', 'CUMEM')}\n{ACS}", "acs"),
        ("pytorch/pytorch/issues/24081", PCIE, 4, DIRECT, "acs"),
        ("local-inference-lab/rtx6kpro/issues/15", PCIE, 2, f"{DIRECT}\n{ACS}", "acs"),
        (  # solved by NCCL_IB_GID_INDEX=3: the machines are under different switches
            "pytorch/pytorch/issues/81628",
            H100,
            16,
            "NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> with error 12, opcode 0, len 0, vendor err 129",
            "unreachable-peer",
        ),
        (  # solved by the right MTU; peer access was off on purpose
            "NVIDIA/nccl/issues/709",
            "{platform: dgx-a100, nodes: 1}",
            8,
            "NCCL INFO NCCL_P2P_DISABLE set by environment to 1\n"
            "NCCL WARN NET/IB : Got completion with error 12, opcode 32736, len 32736, vendor err 129",
            "unreachable-peer",
        ),
        ("NVIDIA/nccl/issues/426", H100, 16, "NCCL WARN NET/IB : Got completion with error 12, opcode 1", TIMED_OUT),
        ("NVIDIA/nccl/issues/342", PCIE, 4, "NCCL WARN Call to posix_fallocate failed: No space left", "shared-memory"),
        ("NVIDIA/nccl/issues/290", PCIE, 4, f"NCCL WARN Call to posix_fallocate failed : No space\n{DIRECT}", SHARED),
        ("NVIDIA/nccl/issues/525", PCIE, 4, "NCCL WARN Call to posix_fallocate failed : No space left", SHARED),
        (
            "pytorch/ci-infra/pull/490",
            PCIE,
            4,
            "NCCL WARN Error: failed to extend /dev/shm/nccl-WU88OE to 9637892",
            SHARED,
        ),
        ("NVIDIA/nccl/issues/328", PCIE, 4, "NCCL WARN Call to shm_open failed : Permission denied", SHARED),
        (
            "huggingface/transformers/issues/11658",
            PCIE,
            4,
            "NCCL WARN Error while creating shared memory segment x",
            SHARED,
        ),
        (
            "NVIDIA/nccl-tests/issues/206",
            H100,
            8,
            "NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot",
            LOCKED,
        ),
        ("vllm-project/vllm/issues/19613", H100, 8, "NCCL WARN Call to ibv_reg_dmabuf_mr failed with error", LOCKED),
        ("NVIDIA/nccl/issues/1267", H100, 16, f"NCCL WARN ncclSocketInit: connecting to {FAMILY}", "mixed-releases"),
        ("marin-community/marin/issues/6940", H100, 16, "NCCL WARN Bootstrap : no socket interface found", INTERFACE),
        ("horovod/horovod/issues/584", H100, 16, f"{LOOP}\nNCCL WARN connect timeout : Connection refused", INTERFACE),
        ("horovod/horovod/issues/636", H100, 16, "NCCL INFO NET : Using interface enp5s0:fe80::4%enp5s0<0>", INTERFACE),
        ("aws/aws-ofi-nccl/issues/241", EFA, 16, "NCCL WARN NET/OFI Couldn't set FI_OPT_EFA_X", "plugin-mismatch"),
        ("eugr/spark-vllm-docker/issues/252", SPARK, 3, "NCCL WARN ibv_modify_qp failed with 110", TIMED_OUT),
        ("NVIDIA/nccl/issues/976", ONE, 8, "nvls.cc:165 NCCL WARN Cuda failure 'invalid argument'", "fabric-manager"),
        ("NVIDIA/nccl-tests/issues/264", ONE, 8, "Test CUDA failure 'system not yet initialized'", "fabric-manager"),
        ("NVIDIA/Megatron-LM/issues/661", ONE, 8, f"{USAGE}\nDuplicate GPU detected : rank 3 and rank 0", DUPLICATE),
        ("huggingface/accelerate/issues/2246", H100, 16, "NCCL WARN Duplicate GPU detected : rank 6 and 4", DUPLICATE),
        ("horovod/horovod/issues/3929", ONE, 8, "NCCL WARN Duplicate GPU detected : rank 6 and rank 0", DUPLICATE),
        (
            "Lightning-AI/pytorch-lightning/issues/14986",
            H100,
            8,
            "NCCL WARN rank 1 of 8 ranks has already checked in",
            DUPLICATE,
        ),
        (
            "hiyouga/EasyR1/issues/579",
            PCIE,
            2,
            f"{USAGE}\nCuda failure 217 'peer access is not supported'",
            "peer-access-off",
        ),
        ("ray-project/ray_lightning/issues/24", PCIE, 2, f"{DIRECT}\nNCCL WARN {REFUSED}", "peer-access-off"),
        ("NVIDIA/nccl/issues/733", H100, 16, "NCCL WARN NET/IB : Got completion with error 12, opcode 1", TIMED_OUT),
        (  # releases that name the status before its number
            "NVIDIA/nccl/issues/2219",
            H100,
            16,
            "NCCL WARN NET/IB: Got completion from peer x status=IBV_WC_RETRY_EXC_ERR(12) opcode=0 vendor_err=129",
            TIMED_OUT,
        ),
        (  # GIDs of a container that do not begin at 0
            "NVIDIA/nccl/issues/551",
            HALF,
            8,
            "NCCL WARN Call to ibv_modify_qp failed with error No such device",
            "unreachable-peer",
        ),
        (  # a GID index that moved
            "tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark/issues/38",
            PAIR,
            2,
            "NCCL WARN Call to ibv_modify_qp failed with 22 Invalid argument",
            "unreachable-peer",
        ),
        (  # no address of IP on the machine
            "NVIDIA/nccl/issues/210",
            H100,
            4,
            "NCCL WARN Socket creation failed : Address family not supported by protocol",
            "wrong-interface",
        ),
        (
            "sgl-project/sglang/issues/3820",
            H100,
            16,
            "NCCL WARN socketPollConnect: Connect to 10.0.0.4<56849> returned 113(No route to host)",
            "unreachable-peer",
        ),
        (
            "NVIDIA/nccl/issues/928",
            H100,
            16,
            f"{GDR}\nNCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> with error 4, opcode 0, vendor err 81",
            "acs",
        ),
        (
            "NVIDIA/nccl-tests/issues/252",
            HALF,
            8,
            f"{GDR}\nhost: Test NCCL failure common.cu:303 'remote process exited or there was a network error / '",
            "acs",
        ),
        (
            "luxingcom/aicad-nccl-optimization/issues/1",
            SPARK,
            3,
            "NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out",
            "unreachable-peer",
        ),
        (
            "aws/aws-ofi-nccl/issues/584",
            EFA,
            16,
            "NCCL WARN NET/OFI Unable to register memory (type = 2) for device 0. RC: -22, Error: Invalid argument",
            "plugin-mismatch",
        ),
        (
            "NVIDIA/nccl/issues/451",
            "{platform: dgx-h100, nodes: 2}",
            16,
            "NCCL INFO NET/Socket : Using [0]bond0:200.1.93.2<0>",
            "socket-fall-back",
        ),
    ],
)
def test_the_lines_of_a_run_without_a_result_name_the_cause(
    address: str, machine: str, ranks: int, lines: str, cause: str
) -> None:
    started = read_unfinished(f"# Rank {ranks - 1} Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{lines}\n")
    assert started is not None
    compared = diagnosed(cluster(machine), started)
    assert names(compared)[0] == cause, (address, names(compared))
    assert compared.verdict == "unfinished" and not compared.rows


def test_direct_access_over_pcie_may_hang_behind_the_iommu() -> None:
    """NVIDIA/nccl issue 257 and vllm-project/vllm issue 33041; not where links join the accelerators."""
    started = read_unfinished(f"# Rank 1 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{DIRECT}\n")
    assert started is not None
    assert "iommu-translation" in names(diagnosed(cluster(PCIE), started))
    assert not names(diagnosed(cluster("{platform: dgx-h100, nodes: 1}"), started))


def test_a_log_without_a_result_is_diagnosed_but_not_accepted(call: Call) -> None:  # noqa: F811
    Path("pod.yaml").write_text(f"clusterspec: 1\nname: pod\ncluster: {PCIE}\n")
    log = Path("nccl.log")
    log.write_text(f"# Rank 1 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{DIRECT}\n")
    report = clusterspec.diagnose("pod.yaml", [log])
    assert [each["verdict"] for each in report.to_json()["verdicts"]] == ["unfinished"]
    done = call("diagnose", "pod.yaml", "nccl.log")
    assert done.status == 1 and "no result" in done.out and "without a result" in done.error
    assert call("accept", "pod.yaml", "nccl.log").status == 2
    log.write_text("NCCL INFO Bootstrap\n")
    assert "none of the known causes" in call("diagnose", "pod.yaml", "nccl.log", "--ranks", "2").out
    log.write_text("a text of no tool\n")
    assert call("diagnose", "pod.yaml", "nccl.log").status == 2


def test_values_out_of_bounds_are_wrong_results() -> None:
    """NVIDIA/nccl issue 2408: the last line of a benchmark counts them, also where its columns were cut."""
    row = "1073741824 268435456 float sum -1 10000.0 107.37 187.90"
    text = f"all_reduce_perf\n# Rank 7 Group 0 Pid 1 on host device 7 [0x01] NVIDIA H100\n{row}\n{{}}\n"
    for end, wrong in (("# Out of bounds values : 12 FAILED", 12), ("# Out of bounds values : 0 OK", 0)):
        assert read_benchmark(text.format(end)).series[0].wrong == wrong


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "h: Test CUDA failure common.cu:1 'CUDA driver version is insufficient for CUDA runtime version'",
            "driver-release",
        ),
        ("NCCL WARN Cuda failure 804 'forward compatibility was attempted on non supported HW'", "driver-release"),
        ("h: Test CUDA failure common.cu:1 'invalid device ordinal'", "missing-accelerator"),
        ("h: Test HIP failure common.cu:1 'no ROCm-capable device is detected'", "missing-accelerator"),
        ("NCCL WARN Cuda failure 711 'peer mapping resources exhausted'", "peer-limit"),
        ("NCCL WARN Net : Socket creation failed : Too many open files", "file-limit"),
        ("[3] bootstrap.cc:106 CCOM WARN Call to accept failed : Too many open files", "file-limit"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "accelerator-fault"),
        ("[9.1] NVRM: Xid (PCI:0000:5d:00): 79, pid=1, GPU has fallen off the bus.", "accelerator-fault"),
        ("include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'", "memory-full"),
        (
            "ncclUnhandledCudaError: Call to CUDA function failed, NCCL version 2.29.3\nLast error:\n"
            "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401",
            "fabric-manager",
        ),
    ],
)
def test_an_error_of_the_runtime_or_the_system_names_what_it_is_about(line: str, cause: str) -> None:
    """Each ends a run whatever the network does, and nothing else is named with certainty.

    Published: NVIDIA/nccl issues 51 and 550, NVIDIA/nccl-tests issues 98, 165 and 263, InternLM/lmdeploy issue 1108,
    aws-neuron/aws-neuron-sdk issue 713, pytorch/pytorch pull request 177472.
    """
    started = read_unfinished(f"# Rank 15 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{line}\nNCCL INFO end\n")
    assert started is not None
    compared = diagnosed(cluster(H100), started)
    assert [each.name for each in compared.causes if each.weight == 1] == [cause]


def test_only_the_line_after_last_error_is_one_of_the_library() -> None:
    """PyTorch repeats the last warning without its prefix; other lines of a program are not the library's."""
    head = "# Rank 15 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\nNCCL INFO init\n"
    for before, named in (("Last error:\n", True), ("Last error:\nan empty line\n", False), ("", False)):
        started = read_unfinished(f"{head}{before}open(data.bin): Too many open files\n")
        assert started is not None
        assert ("file-limit" in names(diagnosed(cluster(H100), started))) is named


NAMED = "NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth2"
NO_FAMILY = (
    "Last error:\nncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)"
)


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        (f"{NAMED}\n{NO_FAMILY}", INTERFACE),  # NVIDIA/nccl issue 1837: no interface of that name
        (f"{NAMED}\nNCCL INFO Bootstrap : Using eth2:10.0.0.1<0>\n{NO_FAMILY}", "mixed-releases"),
        (f"NCCL INFO NCCL_SOCKET_IFNAME set by environment to ^docker0\n{NO_FAMILY}", "mixed-releases"),
        ("RuntimeError: Gloo connectFullMesh failed with [pair.cc:144] no error", INTERFACE),  # sglang issue 3226
        (f"{GDR.replace('/GDRDMA', '')}\n[h:1] Signal: Bus error (7)", SHARED),  # NVIDIA/nccl issue 983
    ],
)
def test_an_interface_that_no_line_uses_is_wrong_and_a_bus_error_is_full_memory(lines: str, cause: str) -> None:
    started = read_unfinished(f"# Rank 15 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{lines}\n")
    assert started is not None
    found = names(diagnosed(cluster(H100), started))
    assert found[0] == cause and not {INTERFACE, "mixed-releases"} <= set(found)


WATCHDOG = (
    "[E1] [{group}Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={number}, OpType={kind}, N"
)
CALLED = (
    "h:1:2 [{rank}] NCCL INFO {kind}: opCount 28c sendbuff 0x7f recvbuff 0x7f count 99 datatype 7 op 0 root 0 "
    "comm 0x55b{rank}{of} [nranks=4] stream 0x55"
)


@pytest.mark.parametrize(
    ("calls", "named"),
    [
        ([(0, 808, "ALLREDUCE", ""), (1, 808, "ALLREDUCE", ""), (2, 800, "BROADCAST", "")], True),
        ([(rank, 808, "ALLREDUCE", "") for rank in range(4)], False),
        ([(0, 808, "ALLREDUCE", "PG 1 "), (1, 800, "BROADCAST", "PG 2 ")], False),
        ([(0, 808, "ALLREDUCE", ""), (0, 800, "BROADCAST", ""), (1, 800, "BROADCAST", "")], False),  # of two groups
    ],
)
def test_ranks_of_one_group_in_different_collectives_part_by_their_program(
    calls: list[tuple[int, int, str, str]], named: bool
) -> None:
    text = "\n".join(WATCHDOG.format(rank=rank, number=n, kind=kind, group=group) for rank, n, kind, group in calls)
    started = read_unfinished(f"# Rank 3 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{text}\n")
    assert started is not None
    compared = diagnosed(cluster(ONE), started)
    assert [each.name for each in compared.causes if each.weight >= 0.4] == (["ranks-diverge"] if named else [])
    assert not named or "ALLREDUCE number 808 by 2 ranks, BROADCAST number 80" in compared.causes[0].evidence


@pytest.mark.parametrize(("number", "weight"), [(808, 1.0), (800, 0.4)])
def test_only_different_collectives_of_one_number_prove_that_a_program_parts_its_ranks(
    number: int, weight: float
) -> None:
    """A rank that is behind may be held back by the network: in logs of argonne-lcf/alcf-nccl-tests by a plugin."""
    calls = [(0, 808, "ALLREDUCE"), (1, 808, "ALLREDUCE"), (2, number, "BROADCAST")]
    text = "\n".join(WATCHDOG.format(rank=rank, number=at, kind=kind, group="") for rank, at, kind in calls)
    started = read_unfinished(f"# Rank 3 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{text}\n")
    assert started is not None
    assert [(each.name, each.weight) for each in diagnosed(cluster(ONE), started).causes] == [("ranks-diverge", weight)]


@pytest.mark.parametrize(
    ("kinds", "of", "named"),
    [
        (("AllReduce", "AllReduce", "AllGather"), "000", True),  # ROCm/rccl issue 429
        (("AllReduce", "AllReduce", "AllReduce"), "000", False),
        (("Send", "Recv", "Recv"), "000", False),
        (("AllReduce", "AllReduce", "AllGather", "AllReduce"), "0001", False),  # a rank with two communicators
    ],
)
def test_calls_of_one_number_are_the_same_on_all_ranks(kinds: tuple[str, ...], of: str, named: bool) -> None:
    lines = (CALLED.format(rank=at % 3, kind=kind, of=of[at]) for at, kind in enumerate(kinds))
    started = read_unfinished("# Rank 3 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n" + "\n".join(lines) + "\n")
    assert started is not None
    assert ("ranks-diverge" in names(diagnosed(cluster(ONE), started))) is named


@pytest.mark.parametrize(
    ("waiting", "those"),
    [
        (range(8), None),
        (range(7), "7 ranks wait in ALLREDUCE number 808; 1 rank, the first rank 7, does not"),
        (range(1, 8), "7 ranks wait in ALLREDUCE number 808; 1 rank, the first rank 0, does not"),
        (range(6), "6 ranks wait in ALLREDUCE number 808; 2 ranks, the first rank 6, do not"),
        (range(5), None),  # of eight ranks more than a quarter, which other files may have
    ],
)
def test_few_ranks_that_do_not_wait_hold_back_the_others(waiting: range, those: str | None) -> None:
    text = "\n".join(WATCHDOG.format(rank=rank, number=808, kind="ALLREDUCE", group="") for rank in waiting)
    started = read_unfinished(f"# Rank 7 Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{text}\n")
    assert started is not None
    found = [(each.name, each.evidence, each.weight) for each in diagnosed(cluster(ONE), started).causes]
    told = [("ranks-diverge", f"line 2 of the log: {those}", GIVEN)] if those else []
    assert [each for each in found if each[0] == "ranks-diverge" and "wait in" in each[1]] == told


@pytest.mark.parametrize(
    ("lines", "name", "evidence", "weight"),
    [
        (
            f"{GDR}\nnode: remote process exited or there was a network error",
            "acs",
            "after ranks connected with",
            GIVEN,
        ),
        ("[h:1] Signal: Bus error (7)", SHARED, "which is how a write to a full /dev/shm ends", STRONG),
        (DIRECT, "acs", "over PCIe, and no result after it", STRONG),
        (DIRECT, "iommu-translation", "over PCIe, and no result after it", STRONG),
    ],
)
def test_a_line_with_several_causes_has_the_weight_of_what_it_tells(
    lines: str, name: str, evidence: str, weight: float
) -> None:
    machine, last = (HALF, 7) if lines.startswith(GDR) else (PCIE, 3)
    started = read_unfinished(f"# Rank {last} Group 0 Pid 1 on host device 1 [0x01] NVIDIA\n{lines}\n")
    assert started is not None
    (found,) = (each for each in diagnosed(cluster(machine), started).causes if each.name == name)
    assert evidence in found.evidence and f"line {3 if chr(10) in lines else 2} of the log: " in found.evidence
    assert found.weight == weight
