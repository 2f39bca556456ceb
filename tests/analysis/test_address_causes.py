"""Addresses and NICs that do not serve a run, and near logs with the same words of runs that they serve."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.analysis.test_trial_causes import LATE

LOST = "[E 1 1] gcs_rpc_client.h:179: Failed to connect to GCS at address 10.108.0.184:6379 within 5 seconds.\n"
SLICE = (
    "worker_pool.cpp:291] Worker: Process failed for slice (opcode: 1, source_addr: 0x7f8a, length: 65536, dest_addr: "
    "0x7f2a, local_nic: mlx5_5, peer_nic: 10.0.48.39:15992@{peer}, dest_rkey: 2, retry_cnt: 0): {status}\n"
)
PROBE = """  File "/workspace/vllm/utils.py", line 166, in get_ip
    s.connect(("8.8.8.8", 80))  # Doesn't need to be reachable
OSError: [Errno 101] Network is unreachable
"""


def _named(text: str) -> list[str]:
    found = read(PAIR, text, 16)
    return names(found) if found else []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"$ docker run -e MASTER_ADDR=127.0.0.1 vllm:0.7.3\n{LOST}", "wrong-interface"),
        (f"$ docker run -e MASTER_ADDR=10.108.0.184 vllm:0.7.3\n{LOST}", "unreachable-peer"),
        (PROBE, "wrong-interface"),
        (PROBE.replace("8.8.8.8", "10.0.0.7"), "unreachable-peer"),
        ("mlx5_5 connects to the target's mlx5_0 instead of the expected mlx5_5\n" + LOST, "wrong-interface"),
        ("mlx5_5 connects to the target's mlx5_5 as expected\n" + LOST, "unreachable-peer"),
        ("two of our GPU cards do not work together\n" + LATE, "accelerator-fault"),
        ("two of our GPU cards work together\n" + LATE, "ranks-diverge"),
        ("RuntimeError: Version mismatch\n", "mixed-releases"),
        ("[ERROR] Received import response from node id 0 with failure status 3\n", "fabric-manager"),
        (
            "pjrt_computation_client.cc:158] Non-OK-status: INVALID_ARGUMENT: Mismatched PJRT plugin PJRT API version "
            "(0.47) and framework PJRT API version 0.40).\n",
            "library-release",
        ),
    ],
)
def test_an_address_that_does_not_serve_the_run_is_its_cause(text: str, first: str) -> None:
    assert _named(text)[0] == first


@pytest.mark.parametrize(
    ("peer", "status", "named"),
    [
        ("mlx5_0", "transport retry counter exceeded", True),
        ("mlx5_5", "transport retry counter exceeded", False),
        ("mlx5_0", "local protection error", False),  # a request that its own host refused
    ],
)
def test_a_pair_of_unlike_nics_may_be_of_two_networks(peer: str, status: str, named: bool) -> None:
    assert ("wrong-interface" in _named(SLICE.format(peer=peer, status=status))) is named


ANNOUNCED = "n{0}:7:7 [0] NCCL INFO Bootstrap : Using {1}:10.2.0.{0}<0>\n"
REFUSED = "n2:7:9 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to {}<41121> failed : No route to host\n"
ROUTES = "10.2.0.0/16 dev {} proto kernel scope link src 10.2.3.4 metric 100\n"


@pytest.mark.parametrize(
    ("hosts", "address", "first"),
    [
        ((1, 2), "10.3.0.1", "wrong-interface"),
        ((1, 2), "10.2.0.1", "unreachable-peer"),  # the peer announced it
        ((2,), "10.2.0.1", "unreachable-peer"),  # the log of one of two nodes
    ],
)
def test_an_address_that_no_node_announces_is_of_another_interface(
    hosts: tuple[int, ...], address: str, first: str
) -> None:
    text = "".join(ANNOUNCED.format(host, "ens1") for host in hosts) + REFUSED.format(address)
    assert _named(text)[0] == first


@pytest.mark.parametrize(("other", "told"), [("eno1", True), ("ens1", False)])
def test_a_network_with_routes_over_two_interfaces_may_take_the_other_one(other: str, told: bool) -> None:
    text = REFUSED.format("10.2.0.1") + ROUTES.format("ens1") + ROUTES.format(other)
    found = read(PAIR, text, 16)
    assert found is not None
    wrong = next(cause for cause in found.causes if cause.name == "wrong-interface")
    assert ("is reached by ens1 and by eno1" in wrong.evidence) is told
