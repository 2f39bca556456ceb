"""Calls that the system refuses: the cause follows from the call and the error together, in whatever words."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.call_causes import CALLS
from clusterspec.logs.statements.refused_calls import TELLING, refused_call
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, read


def test_every_error_that_tells_a_cause_has_one() -> None:
    assert {(call, error) for call, errors in TELLING.items() for error in errors} == set(CALLS)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("E1 engine.cpp:7] ibv_reg_mr(0x7f00, 64) failed: Cannot allocate memory", "locked-memory"),
        ("h:1 [0] NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address", "gpudirect-refused"),
        ("  what():  ibv_reg_mr failed (errno 14) (Ib failure: Bad address)", "gpudirect-refused"),
        ("transport.cpp:88 registering the GPU memory: Invalid argument", "gpudirect-refused"),
        ("fi_mr_regattr() returned: Operation not supported", "gpudirect-refused"),
        ("n1 UCX ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory", "locked-memory"),
        ("error modifying QP to RTR: Network is unreachable", "unreachable-peer"),
        ("ibv_create_ah(dgid=fe80::1) failed: Connection timed out", "unreachable-peer"),
        ("open /dev/infiniband/uverbs0: Permission denied", "wrong-interface"),
        ("rdma_create_event_channel: No such device", "wrong-interface"),
        ("shm_open(/psm_7) failed: No such file or directory", "shared-memory"),
        ("[Errno 28] No space left on device while writing /dev/shm/x", "shared-memory"),
        ("bind(0.0.0.0:29500): Address already in use", "port-in-use"),
        ("NCCL WARN ibv_reg_mr_iova2 failed, errno 14", "gpudirect-refused"),
        ("E0101 verbs.cpp:9] ibv_open_device returned NULL, errno=19", "wrong-interface"),
        ("bind to 10.1.2.3 failed: Cannot assign requested address", "wrong-interface"),
        ("btl_tcp_endpoint.c connect() to 172.17.0.1 failed: Connection refused (111)", "wrong-interface"),
        ("tcp: could not connect to 192.168.122.1:7000, Connection timed out", "wrong-interface"),
        ("cuMulticastAddDevice: operation not supported", "fabric-manager"),
        ("btl_ofi_component.c:581 cxi0 failed fi_domain with err=Function not implemented", "invalid-setting"),
        ("gasnet_ofi.c:1365: fi_endpoint failed: -22(Invalid argument)", "invalid-setting"),
        ("E1 net.cpp:7] fi_enable(ep) returned: Operation not permitted", "container-permission"),
        ("hipIpcGetMemHandle -> 1 (invalid argument)", "invalid-setting"),
        ("[ERROR] (setup.c:184: errno: Cannot allocate memory) Failed to create qp", "locked-memory"),
        ("mlock(addr=0x7f00 length=4096) failed: Cannot allocate memory", "locked-memory"),
        ("io_uring_queue_init: Cannot allocate memory", "locked-memory"),
        ("cudaHostRegister: Operation not permitted", "locked-memory"),
        ("mmap of a table failed: Cannot allocate memory", "host-memory-full"),
        ("h:1 [0] misc/socket.cc NCCL WARN Socket creation failed : Address family not supported", "wrong-interface"),
    ],
)
def test_the_call_and_the_error_name_the_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == cause, [(each.name, each.weight) for each in compared.causes]


def test_an_error_refutes_what_the_name_of_its_call_alone_would_mean() -> None:
    """Published: microsoft/mscclpp issue 657, memory of an accelerator that the NIC does not reach."""
    compared = read(PAIR, "h:1 [0] NCCL WARN Call to ibv_reg_mr failed with error Bad address", 16)
    assert compared is not None and "locked-memory" not in names(compared)
    compared = read(PAIR, "h:1 [0] NCCL WARN Call to ibv_reg_mr failed", 16)
    assert compared is not None and names(compared)[0] == "locked-memory"


def test_memory_for_an_object_of_a_nic_leaves_open_which_limit_refuses_it() -> None:
    """Published: jcxue/RDMA-Tutorial issue 6, more entries of a queue than the NIC has."""
    compared = read(PAIR, "errno: Cannot allocate memory) Failed to create qp", 16)
    assert compared is not None and names(compared) == ["locked-memory", "nic-limit"]
    assert not any(each.is_likely for each in compared.causes)


def test_a_bridge_is_wrong_between_hosts_alone() -> None:
    line = "connect() to 172.17.0.1 failed: Connection refused (111)"
    inside, between = read(H100, line, 8), read(PAIR, line, 16)
    assert between is not None and "wrong-interface" in names(between)
    assert inside is None or "wrong-interface" not in names(inside)


@pytest.mark.parametrize(
    "line",
    [
        "rm: cannot remove '/dev/shm/hsakmt_shared_mem': Operation not permitted",
        "DEBUG connect to 172.17.0.1: Connection refused",
        "INFO connect to 10.0.0.1 returned Connection refused, retrying",
        "open(model.safetensors): No such file or directory",
        "mkdir /data: Permission denied",
        "fi_tsend: Function not implemented",
        "fi_domain: No data available",
        "ibv_reg_mr: errno 0, size 22",
    ],
)
def test_other_lines_are_no_refused_calls(line: str) -> None:
    assert refused_call(line) is None


def test_a_state_that_concerns_no_peer_is_a_fault_of_the_nic() -> None:
    """Published: openucx/ucx issue 9468, where new firmware solved it; RTR alone concerns the peer."""
    first = {}
    for state in ("INIT", "RTR"):
        compared = read(PAIR, f"n1 UCX ERROR Failed to modify UD QP to {state} on mlx5_0: Invalid argument", 16)
        assert compared is not None
        first[state] = names(compared)[0]
    assert first == {"INIT": "nic-fault", "RTR": "unreachable-peer"}


def test_memory_for_queue_pairs_is_a_limit_of_the_process_or_of_the_nic() -> None:
    """Published: openucx/ucx issues 8684 (the process), 6049 (the NIC, which the kernel tells) and 8336."""
    compared = read(PAIR, "n1 UCX ERROR failed to create UD QP TX wr:256 sge:6: Cannot allocate memory", 16)
    assert compared is not None and names(compared) == ["locked-memory", "nic-limit"]
    kernel = (
        "[2.1] mlx5_core 0000:61:00.0: mlx5_cmd_check:795:(pid 9): ALLOC_UAR(0x802) failed, status limits exceeded(0x8)"
    )
    compared = read(PAIR, f"n1 UCX ERROR ibv_open_device(mlx5_0) failed: Cannot allocate memory\n{kernel}", 16)
    assert compared is not None and names(compared)[0] == "nic-limit"


def test_a_wrapped_message_is_read_as_one() -> None:
    """Published: hpcaitech/ColossalAI issue 2407 (an exception) and open-mpi/ompi issue 4963 (a help message)."""
    for text in (
        "Error: [third_party/gloo/gloo/transport/tcp/pair.cc:799] connect\n[127.0.1.1]:29591: Connection refused",
        "  Message:    connect() to 172.17.0.1:1024 failed\n  Error:      Connection refused (111)",
    ):
        compared = read(PAIR, text, 16)
        assert compared is not None and names(compared)[0] == "wrong-interface", text


def test_an_address_of_the_link_alone_is_a_wrong_interface_first() -> None:
    """Published: verl-project/verl issue 726."""
    compared = read(
        PAIR, "socketStartConnect: Connect to 169.254.0.1<40815> failed : Software caused connection abort", 16
    )
    assert compared is not None and names(compared) == ["wrong-interface", "unreachable-peer"]
