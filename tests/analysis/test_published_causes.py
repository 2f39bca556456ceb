"""Causes that published threads state, each with its address: the true cause is named first.

A case has the lines of the log that bear on the cause, the machine as far as the thread describes it, and the share of
the predicted bandwidth that was reached.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.analysis.test_diagnosis import DGX, cluster, diagnosed, log, names


class Case(NamedTuple):
    """A thread: its address, the machine of a spec, ranks, lines of the log, share reached, and the cause."""

    address: str
    machine: str
    ranks: int
    lines: str
    share: float
    cause: str


EFA = "{platform: aws-p4d-24xlarge, nodes: 2}"
PCIE = (
    "{accelerator: a100-pcie-80gb, accelerators_per_node: 1, nodes: 2, scale_up: {topology: pcie, domain: 1}, "
    "scale_out: {technology: infiniband-hdr, nics_per_node: 1, switch_ports: 40}}"
)
HGX = "{platform: hgx-a100, nodes: 2, scale_out: {technology: infiniband-hdr, nics_per_node: 4, switch_ports: 40}}"
ROCE = "{platform: hgx-h100, nodes: 2, scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 25 Gb/s}}"
TURING = "{accelerator: l4, accelerators_per_node: 2, nodes: 1, scale_up: {topology: pcie, domain: 1}}"
H100 = "{platform: dgx-h100, nodes: 2}"
INFO = "NCCL INFO "
FOUR = f"{INFO}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB"
CASES = (
    Case(
        "NVIDIA/nccl/issues/959",
        EFA,
        16,
        f"{INFO}NET/Plugin : No plugin found (libnccl-net.so).",
        0.05,
        "plugin-missing",
    ),
    Case(
        "NVIDIA/nccl/issues/229",
        EFA,
        16,
        f"NCCL WARN NET/OFI Could not find any optimal provider\n{INFO}Using network Socket",
        0.05,
        "plugin-missing",
    ),
    Case("NVIDIA-NeMo/RL/issues/1973", EFA, 16, f"{INFO}Using network Socket", 0.02, "plugin-missing"),
    Case(
        "aws/aws-ofi-nccl/issues/803",
        EFA,
        16,
        f"{INFO}NET/OFI Selected Provider is tcp (found 1 nics)",
        0.05,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/489",
        HGX,
        16,
        f"{FOUR}\n{INFO}Channel 00 : 15 -> 0 [receive] via NET/IB/0",
        0.3,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/1412",
        HGX,
        16,
        f"{FOUR}\n{INFO}Channel 00/0 : 0 -> 8 [send] via NET/IB/0",
        0.35,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/897",
        HGX,
        16,
        f"{FOUR}\n{INFO}9[1a] -> 2[6b] [send] via NET/IB/0/GDRDMA\n{INFO}9[1a] -> 2[6b] [receive] via NET/IB/1",
        0.5,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/1939",
        PCIE,
        2,
        f"{INFO}NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        0.3,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/1151",
        PCIE,
        2,
        f"{INFO}GPU Direct RDMA Disabled for GPU ca000 / HCA 0 (distance 7 > 4)",
        0.3,
        "nic-distance",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/284",
        PCIE,
        2,
        f"{INFO}NCCL_IB_DISABLE set by environment to 1.",
        0.02,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/451",
        ROCE,
        16,
        f"{INFO}NET/IB : No device found.\n{INFO}Using network Socket",
        0.2,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/941",
        PCIE,
        2,
        f"{INFO}NET/IB : No device found.\n{INFO}Using network Socket",
        0.1,
        "socket-fall-back",
    ),
    Case(
        "areal-project/AReaL/issues/639",
        PCIE,
        2,
        f"{INFO}NET/Socket : Using [0]bond0:200.8.184.2<0>",
        0.2,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/1591",
        HGX,
        16,
        f"{INFO}NCCL_IB_HCA set to mlx5_2\n{INFO}NET/IB : Using [0]mlx5_2:1/IB",
        0.25,
        "one-nic",
    ),
    Case(
        "NVIDIA/nccl/issues/428", TURING, 2, f"{INFO}NCCL_P2P_LEVEL set by environment to LOC", 0.3, "peer-access-off"
    ),
    Case(
        "NVIDIA/nccl/issues/606",
        TURING,
        2,
        f"{INFO}NCCL_P2P_LEVEL set by environment to LOC\n{INFO}Channel 00 : 0[c1] -> 1[c2] via SHM/direct/direct",
        0.3,
        "peer-access-off",
    ),
    Case(
        "uccl-project/uccl/issues/205",
        H100,
        16,
        f"{INFO}NCCL_MAX_NCHANNELS set by environment to 8",
        0.5,
        "few-channels",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=[case.address for case in CASES])
def test_the_cause_that_a_thread_states_comes_first(case: Case) -> None:
    machine = cluster(case.machine)
    compared = diagnosed(machine, log(machine, case.ranks, before=case.lines, scale=case.share))
    assert compared.verdict == "slow"
    assert names(compared)[0] == case.cause, [(cause.name, cause.weight) for cause in compared.causes]


IB = "NCCL INFO NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8))
USED = "NCCL INFO Channel 00/0 : 31[7] -> 0[0] [receive] via NET/IB/0/GDRDMA"


def test_a_cause_that_the_log_contradicts_is_not_named() -> None:
    for share in (0.02, 0.12, 0.25, 0.5):
        found = names(diagnosed(DGX, log(DGX, 32, before=f"{IB}\n{USED}\nNCCL INFO 16 nvls channels", scale=share)))
        assert not set(found) & {"one-nic", "few-nics", "socket-fall-back", "gpudirect-off", "no-nvls"}, (share, found)


def test_one_path_with_gpudirect_does_not_speak_for_all() -> None:
    without = USED.replace("NET/IB/0/GDRDMA", "NET/IB/3")
    assert "gpudirect-off" in names(diagnosed(DGX, log(DGX, 32, before=f"{IB}\n{USED}\n{without}", scale=0.4)))


def test_settings_of_host_and_environment_are_causes_where_the_log_states_them() -> None:
    lines = {
        "NCCL WARN NUMA auto balancing enabled which can lead to variability in performance!": "numa-balancing",
        'NCCL WARN Missing "HSA_FORCE_FINE_GRAIN_PCIE=1" from environment': "fine-grain-off",
        'NCCL WARN Missing "iommu=pt" from kernel command line': "iommu-translation",
        "NCCL INFO NCCL_MAX_NCHANNELS set by environment to 4": "few-channels",
        "NCCL INFO NCCL_PROTO set by environment to LL": "latency-protocol",
    }
    machine = cluster("{platform: mi300x-ubb8, nodes: 2}")
    for line, cause in lines.items():
        assert cause in names(diagnosed(machine, log(machine, 8, before=line, scale=0.4))), line


def test_devices_without_a_domain_share_a_node() -> None:
    machine = cluster(TURING)
    line = "NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"
    compared = diagnosed(machine, log(machine, 2, before=line, scale=0.3))
    assert names(compared)[0] == "acs"
    assert not set(names(compared)) & {"one-nic", "socket-fall-back"}
