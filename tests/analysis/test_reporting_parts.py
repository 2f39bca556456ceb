"""Errors that no known line states: the runtime's texts, the reporting part of a library, and messages of launchers.

Published: NVIDIA/nccl issues 1029 (initialization error) and 1573 (GIDs of a container), LLMServe/DistServe issue 56
(stub library), aws/aws-ofi-nccl issues 476 and 1226 (topology), aws-samples/aws-do-eks pull 54 and pytorch/pytorch
issue 68893 (addresses of the link alone), awslabs/awsome-distributed-ai issue 312 (a peer without memory),
uccl-project/uccl pull 803 (GIDs), pocopico/rp-ext issue 129 and mwrnd/innova2_flex_xcku15p_notes issue 8 (NICs that do
not start), NVIDIA/ai-cloud-validation issue 643 (shared memory before a crash), openucx/ucx issue 8440,
NVIDIA/pyxis issue 88, NVIDIA/deepops issue 409 and ArjunaCluster/ArjunaUsers issue 216 (Open MPI and PMIx),
Mellanox/nv_peer_memory issue 8 and NVIDIA/gdrcopy issue 13 (modules), ROCm/legacy-rocm-build issue 1798 (device files),
linux-rdma/perftest issues 126 and 280 (memory of accelerators), mlcommons/training issue 442 (devices of MIG),
NVIDIA/nccl issue 1716 (settings), NVIDIA/open-gpu-kernel-modules issue 1150 (a previous Xid), ROCm/ROCm-docker issue
112, nanoporetech/dorado issue 812 and pytorch/pytorch issue 130181 (no device), deepseek-ai/DeepEP issue 55 (a library
without IBGDA), k8snetworkplumbingwg/sriov-network-device-plugin issue 342 and Mellanox/k8s-rdma-shared-dev-plugin issue
84 (network namespaces), Lightning-AI/pytorch-lightning pull 5155 (ranks that save alone) and NVIDIA-NeMo/RL pull 3504
(a file system that blocks).
"""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.launcher_lines import LAUNCHER_PATTERNS, launcher_statements
from clusterspec.logs.statements.reporting_parts import causes_of_part
from clusterspec.logs.statements.statement_search import log_evidence
from clusterspec.logs.statements.status_texts import COMPLETIONS, RUNTIME_TEXTS
from clusterspec.logs.statements.suggestions import suggested_causes
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, read
from tests.effort import telling


def first(lines: str) -> str:
    compared = read(PAIR, lines, 16)
    assert compared is not None, lines
    return (*names(compared), "")[0]


@telling(2)
@pytest.mark.parametrize(
    ("statement", "text"), [(statement, text) for statement, texts in RUNTIME_TEXTS.items() for text in texts]
)
@pytest.mark.parametrize(
    "around", ["n:1:2 [0] NCCL WARN Cuda failure '{}'", "RuntimeError: HIP error: {}", "cuda error 7 ({})"]
)
def test_every_text_of_the_runtime_names_a_cause_in_any_program(statement: str, text: str, around: str) -> None:
    line = around.format(text)
    assert statement in {each.name for each in log_evidence(line)}
    assert first(line)


def test_every_status_of_a_request_names_a_cause() -> None:
    lines = {
        "protection": "send failed: IBV_WC_LOC_PROT_ERR",
        "unreachable": "completion status IBV_WC_RETRY_EXC_ERR, vendor 0x81",
        "not-ready": "completion status IBV_WC_RNR_RETRY_EXC_ERR",
        "remote-access": "poll: remote access error on qp 7",
        "nic-fault": "poll: IBV_WC_FATAL_ERR",
        "invalid-request": "poll: local length error on qp 7",
        "flushed": "poll: Work Request Flushed Error",
        "cm-address": "rping: RDMA_CM_EVENT_ADDR_ERROR, error -19",
        "cm-refused": "cma event RDMA_CM_EVENT_REJECTED, error 8",
    }
    assert {*lines} == {*COMPLETIONS}
    found = {name: first(line) for name, line in lines.items()}
    assert found == {
        "protection": "acs",
        "unreachable": "unreachable-peer",
        "not-ready": "peer-ended",
        "remote-access": "acs",
        "nic-fault": "nic-fault",
        "invalid-request": "unreachable-peer",
        "flushed": "peer-ended",
        "cm-address": "wrong-interface",
        "cm-refused": "unreachable-peer",
    }


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("n:1:2 [0] graph/paths.cc:77 NCCL WARN Something new about a path", "wrong-topology"),
        ("n:1:2 [0] graph/xml.h:101 NCCL WARN Attribute speed of node nic not found", "wrong-topology"),
        ("n:1:2 [0] graph/xml.h:76 NCCL WARN Error : too many XML nodes (max 256)", "wrong-topology"),
        ("n:1:2 [0] misc/nvmlwrap.cc:9 NCCL WARN nvmlNew() failed", "driver-release"),
        ("n:1:2 [0] misc/gdrwrap.cc:220 NCCL WARN gdr_open refused", "gpudirect-refused"),
        ("n:1:2 [0] transport/nvls.cc:9 NCCL WARN no handle", "fabric-manager"),
        ("n:1:2 [0] misc/ibvwrap.cc:9 NCCL WARN Call to ibv_new failed", "nic-fault"),
        ("n:1:2 [0] NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument", "unreachable-peer"),
        ("n:1:2 [0] NCCL WARN NCCL_NVLS_ENABLE is 1, and ranks share a device", "invalid-setting"),
        ("[1.5] [n:9:0] mm_xpmem.c:70 UCX  ERROR failed to attach", "shared-memory"),
        ("[1.5] [n:9:0] ib_iface.c:11 UCX  ERROR new kind of failure", "unreachable-peer"),
        ("[1.5] [n:9:0] ib_device.c:13 UCX  ERROR ibv_create_ah(dgid=::1) failed: No such device", "unreachable-peer"),
        ("libfabric:12:1700000000::efa:mr:efa_mr_new():7<warn> Failed to frob", "gpudirect-refused"),
        ("libfabric:12:1700000000::cxi:ep_ctrl:cxip_new():7<warn> Failed to frob", "unreachable-peer"),
        ("libfabric:12:1700000000:core:verbs:fabric:vrb_new():7<warn> Failed to frob", "wrong-interface"),
        ("E1128 10:00:00.123456 1 nixl_plugin_manager.cpp:9] Failed to frob", "library-release"),
        ("E1128 10:00:00.123456 1 rdma_context.cpp:9] Failed to frob", "wrong-interface"),
        ("E1128 10:00:00.123456 1 computedomain.go:9] error frobbing", "fabric-manager"),
        (":1:hip_code_object.cpp:762 : 1 us: [pid:1 tid:0x7] Failed to frob", "unsupported-accelerator"),
        ("[W1128 10:00:00.1 c10d/TCPStore.cpp:9] frob failed", "unreachable-peer"),
        ("mlx5_core 0000:01:00.0: mlx5_load_one failed with error code -22", "nic-fault"),
        ("bnxt_en 0000:41:00.0: Error (timeout: 500015) msg {0x0 0x0} len:0", "nic-fault"),
        ("amdgpu: probe of 0000:03:00.0 failed with error -22", "accelerator-fault"),
        ("gdrdrv: Unknown symbol nvidia_p2p_get_pages (err -22)", "library-release"),
        ("modprobe: ERROR: could not insert 'nv_peer_mem': Invalid argument", "library-release"),
        ("Unable to open /dev/kfd read-write: Permission denied", "missing-accelerator"),
        ("cuda runtime error (101) : invalid device ordinal at Module.cpp:33", "missing-accelerator"),
        ("NCCL WARN NET/OFI Request 0x7f completed with error. RC: 5. Error: Invalid receiver queue pair number (QPN)",
         "peer-ended"),
        ("NVRM: Xid (PCI:0000:dc:00): 45, pid=1, name=p, Ch 1 caused by previous Xid 149", "accelerator-fault"),
        ("NVRM: Xid (PCI:0000:dc:00): 109, pid=1, name=p", "accelerator-fault"),
        ("NETDEV WATCHDOG: ens1 (bnxt_en): transmit queue 3 timed out", "nic-fault"),
        ("neighbour: arp_cache: neighbor table overflow!", "unreachable-peer"),
        ("INFO: task python:77 blocked for more than 120 seconds.", "storage-fault"),
        ("Error: couldn't find any HIP devices", "missing-accelerator"),
        ("[error] Invalid CUDA device index 1, there are 1 visible CUDA devices.", "missing-accelerator"),
        ("RuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED", "missing-accelerator"),
        ("nvlink error : Undefined reference to 'state_d' in 'a.o'", "library-release"),
        ("Exiting.. can not change : incorrect RDMA subsystem network namespace", "invalid-setting"),
        ("tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and wait", "ranks-diverge"),
        ("Step 500: loss 1.7\nSaving checkpoint for step 500...", "storage-fault"),
        ("Loading safetensors checkpoint shards: 12%", "storage-fault"),
        ("e1.77PSM2 no hfi units are active (err=23)", "unstable-link"),
        ("srun: error: Unable to allocate resources: Requested node configuration is not available", "absent-ranks"),
    ],
)  # fmt: skip
def test_an_error_without_known_words_is_of_the_part_that_reports_it(line: str, cause: str) -> None:
    assert first(line) == cause


@pytest.mark.parametrize(
    "line",
    [
        "n:1:2 [0] misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]",
        "n:1:2 [0] graph/topo.cc:7 NCCL INFO no error",
        "mlx5_core 0000:01:00.0: firmware version: 14.32.1010",
        "train.py:7: step 9 failed to improve",
    ],
)
def test_a_warning_that_a_run_outlives_suggests_nothing(line: str) -> None:
    assert not list(suggested_causes(line))


def test_a_crash_ranks_behind_the_error_before_it() -> None:
    lines = "[1.5] [n:9:0] mm_iface.c:737 UCX  ERROR mm_iface failed to allocate receive FIFO\nn: Segmentation fault"
    compared = read(PAIR, lines, 16)
    assert compared is not None and names(compared) == ["shared-memory", "program-fault"]
    assert first("n: Segmentation fault") == "program-fault"


def test_an_address_of_the_link_alone_is_of_a_wrong_interface() -> None:
    for address in ("169.254.170.23<39417>", "fe80::6c4c:e2ff:fe6c:7c2b%10<41371>"):
        line = f"n:1:2 [0] NCCL INFO socketPollConnect: connect to {address} returned Connection refused, retrying"
        assert first(line) == "wrong-interface"


def test_a_region_of_an_accelerator_is_refused_by_the_nic() -> None:
    assert first("Couldn't allocate MR") == "locked-memory"
    assert first("allocated GPU buffer address at 0000010013000000\nCouldn't allocate MR") == "gpudirect-refused"


MESSAGES = (
    ("The program was started by \"srun\",\nbut OMPI was not built with SLURM's PMI support and therefore\ncannot run.",
     "library-release"),
    ("-------------------------\nA requested component was not found, or was unable to be opened. This\nmeans a lot.",
     "library-release"),
    ("An ORTE daemon has unexpectedly failed after launch and before\ncommunicating back to mpirun.", "remote-login"),
    ("There are not enough slots available in the system to satisfy the 16\nslots that were requested",
     "invalid-setting"),
    ("At least one pair of MPI processes are unable to reach each other for\nMPI communications.", "unreachable-peer"),
    ("WARNING: Open MPI failed to TCP connect to a peer MPI process.  This\nshould not happen.", "unreachable-peer"),
    ("The openib BTL failed to initialize while trying to allocate some\nlocked memory.", "locked-memory"),
    ("It appears as if there is not enough space for /tmp/x (the shared-memory backing\nfile).", "shared-memory"),
    ("Open MPI detected an inbound MPI TCP connection request from a peer\nthat appears to be part of this MPI job, "
     "but it is from an IP address that is\nunexpected.", "wrong-interface"),
)  # fmt: skip


@pytest.mark.parametrize(("message", "cause"), MESSAGES)
def test_a_wrapped_message_of_a_launcher_names_its_cause(message: str, cause: str) -> None:
    assert first(message) == cause


def test_a_message_ends_at_a_rule_and_is_counted_once() -> None:
    line = "An ORTE daemon has unexpectedly failed after launch and before"
    assert list(launcher_statements(f"{line}\n\n{line}\n")) == [
        ("launch", "ORTE daemon has unexpectedly failed after launch", 1)
    ]
    assert not list(
        launcher_statements("An ORTE daemon has unexpectedly failed\n-------------------------\nafter launch")
    )
    assert not list(launcher_statements("daemon has " * 1_000))


def test_parts_are_of_files_and_drivers_alone() -> None:
    assert causes_of_part("/opt/x/hipify/src/transport/shm.cc:9 NCCL WARN new") == ("shared-memory",)
    assert causes_of_part("the graph/xml file was not found") == ()
    assert len({name for name, _ in LAUNCHER_PATTERNS}) > 10


def test_a_part_suggests_nothing_where_a_line_states_the_cause() -> None:
    lines = "n:1:2 [0] graph/xml.h:9 NCCL WARN new\nRuntimeError: CUDA error: out of memory"
    compared = read(H100, lines, 8)
    assert compared is not None and names(compared) == ["memory-full"]
