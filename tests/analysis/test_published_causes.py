"""Causes that published threads state, each with its address: the true cause is named first.

A case has the lines of the log that bear on the cause, the machine as far as the thread describes it, and the share of
the predicted bandwidth that was reached. Where a thread describes a host in words (an AMD CPU, a topology file with a
link of 2.5 GT/s x1, NUMA balancing that is on), the line is the one that the library prints of such a host.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from clusterspec.records import replace
from clusterspec.report.measurement_text import diagnosis_text
from clusterspec.results import Input
from clusterspec.results.diagnosis import LIKELY, DiagnosisReport
from tests.analysis.test_diagnosis import DGX, cluster, diagnosed, log, names
from tests.effort import sampled, thorough
from tests.settings import SETTINGS


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
GEFORCE = "{accelerator: rtx-4090, accelerators_per_node: 8, nodes: 1, scale_up: {topology: pcie, domain: 8}}"
ROCE_H100 = (
    "{platform: hgx-h100, nodes: 2, "
    "scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, switch_ports: 64}}"
)
VOLTA = (
    "{accelerator: v100-sxm-32gb, accelerators_per_node: 8, nodes: 2, scale_up: {topology: full-mesh, domain: 8}, "
    "scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s, switch_ports: 32}}"
)
BONDS = ROCE_H100.replace("nics_per_node: 8", "nics_per_node: 4")
ONE_NIC = (
    "{platform: hgx-a100, nodes: 2, "
    "scale_out: {technology: roce-v2, nics_per_node: 1, nic_bandwidth: 200 Gb/s, switch_ports: 40}}"
)
A100 = "{platform: hgx-a100, nodes: 1}"
A100_PCIE = "{accelerator: a100-pcie-80gb, accelerators_per_node: 8, nodes: 1, scale_up: {topology: pcie, domain: 8}}"
H200 = "{platform: hgx-h200, nodes: 2, scale_out: {technology: infiniband-ndr, nics_per_node: 8, switch_ports: 64}}"
VOLTA_EDR = (
    "{accelerator: v100-sxm-32gb, accelerators_per_node: 8, nodes: 2, scale_up: {topology: full-mesh, domain: 8}, "
    "scale_out: {technology: infiniband-edr, nics_per_node: 4, switch_ports: 32}}"
)
VOLTA_PCIE = VOLTA_EDR.replace("full-mesh", "pcie").replace("nics_per_node: 4", "nics_per_node: 1")
SPARK = "{platform: dgx-spark, nodes: 2, scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s}}"
ONE_200 = ONE_NIC.replace("hgx-a100", "hgx-h100")
ROCE_PCIE = PCIE.replace("infiniband-hdr, nics_per_node: 1", "roce-v2, nics_per_node: 1, nic_bandwidth: 100 Gb/s")
INFO = "NCCL INFO "
BONDED = f"{INFO}NET/IB : Using " + " ".join(f"[{n}]mlx5_bond_{n}:1/RoCE" for n in range(4))
FOUR = f"{INFO}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB"
EIGHT = f"{INFO}NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8))
USED_TWO = f"{INFO}NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE"
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
        "pytorch/pytorch/issues/111424",
        H100,
        16,
        f"{INFO}NET/IB : No device found.\n{INFO}NET/Socket : Using [0]eth0:10.0.0.1<0>",
        0.04,
        "socket-fall-back",
    ),
    Case(
        "dstackai/dstack/issues/2712",
        H100,
        16,
        f"{INFO}Failed to open libibverbs.so[.1]\n{INFO}NET/Socket : Using [0]eth0:10.0.0.1<0>",
        0.05,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/347",
        HGX,
        16,
        f"{FOUR}\n{INFO}Pattern 4, crossNic 0, nChannels 4, bw 40.000000/40.000000, type NVL/SYS, sameChannels 1\n"
        f"{INFO}Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0",
        0.5,
        "nic-distance",
    ),
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
        "NVIDIA/nccl/issues/1285",
        GEFORCE,
        8,
        f"{INFO}CPU/0 (1/2/-1)\n{INFO}+ SYS[16.0] - CPU/1",
        0.4,
        "numa-per-socket",
    ),
    Case(
        "ROCm/rccl/issues/1562",
        "{platform: mi300x-ubb8, nodes: 1}",
        8,
        "NCCL WARN NUMA auto balancing enabled which can lead to variability in the RCCL performance!",
        0.5,
        "numa-balancing",
    ),
    Case(
        "NVIDIA/nccl/issues/749",
        ROCE,
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE\n{INFO}+ PCI[0.2] - PCI/FFFFFF000 (104c823200000000)",
        0.02,
        "wrong-topology",
    ),
    Case(
        "Azure/azurehpc-health-checks/issues/142",
        "{platform: azure-nd-h200-v5, nodes: 1}",
        8,
        f"{INFO}NCCL_TOPO_FILE set by environment to /azure-nhc/topofiles/ndv5-topo.xml",
        0.035,
        "wrong-topology",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/128",
        HGX,
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/IB ; OOB ib0:10.0.0.1<0>",
        0.25,
        "one-nic",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/29",
        VOLTA,
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE\n{INFO}Ring 00 : 15 -> 0 [receive] via NET/IB/0",
        0.5,
        "gpudirect-off",
    ),
    Case(
        "uccl-project/uccl/issues/205",
        H100,
        16,
        f"{INFO}NCCL_MAX_NCHANNELS set by environment to 8",
        0.5,
        "few-channels",
    ),
    Case(
        "NVIDIA/nccl/issues/1676",
        "{platform: dgx-a100, nodes: 2}",
        16,
        "\n".join(f"{INFO}NET/IB : GPU Direct RDMA Disabled for HCA {n} 'mlx5_{n}'" for n in range(3)),
        10 / 180,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/1343",  # solved by modprobe nvidia_peermem; the thread states no bandwidth
        "{accelerator: a40, accelerators_per_node: 8, nodes: 2, scale_up: {topology: pcie, domain: 2}, "
        "scale_out: {technology: infiniband-ndr, nics_per_node: 2, switch_ports: 64}}",
        16,
        f"{INFO}NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        0.4,
        "gpudirect-off",
    ),
    Case(
        "sgl-project/sglang/pull/1427",  # an image without libibverbs; the thread states neither machine nor bandwidth
        H100,
        16,
        f"{INFO}Failed to open libibverbs.so[.1]\n{INFO}NET/Socket : Using [0]ib0:10.0.0.1<0>",
        0.05,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nvidia-container-toolkit/issues/1877",  # an image without libibverbs; the catalog has no A2
        TURING.replace(
            "nodes: 1", "nodes: 2, scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 25 Gb/s}"
        ),
        4,
        f"{INFO}NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.\n"
        f"{INFO}Failed to open libibverbs.so[.1]\n{INFO}NET/Socket : Using [0]eth0:10.0.0.1<0>",
        0.2,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/949",  # 27 of 50 GB/s in a virtual machine, 48 GB/s with the settings of access control
        HGX.replace("nics_per_node: 4", "nics_per_node: 2"),
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB\n"
        f"{INFO}Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA",
        27 / 50,
        "acs",
    ),
    Case(
        "vllm-project/vllm/issues/6610",  # a container without the devices of the adapters
        ROCE,
        16,
        f"{INFO}NET/IB : No device found.\n{INFO}NET/Socket : Using [0]eth0:10.5.6.103<0>\n{INFO}Using network Socket",
        0.05,
        "socket-fall-back",
    ),
    Case(
        "vllm-project/vllm/issues/9920",  # solved by turning access control and the IOMMU off
        "{accelerator: l40s, accelerators_per_node: 2, nodes: 1, scale_up: {topology: pcie, domain: 2}}",
        2,
        f"{INFO}Channel 00 : 1[1] -> 0[0] via SHM/direct/direct",
        0.3,
        "acs",
    ),
    Case(
        "NVIDIA/nccl/issues/304",  # a test that fails, not a slow one; the thread prints the bridges
        ROCE,
        16,
        f"{USED_TWO}\n\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-",
        0.3,
        "acs",
    ),
    Case(
        "hiyouga/LlamaFactory/issues/6111",
        H100,
        16,
        f"{INFO}NCCL_IB_DISABLE set by environment to 0.\n{INFO}NET/IB : No device found.\n{INFO}Using network Socket",
        0.03,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/1537",
        ROCE,
        16,
        f"{USED_TWO}\n{INFO}NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        0.5,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/152",  # nv_peer_mem was loaded on one of two nodes
        HGX,
        16,
        f"{INFO}Channel 00 : 0[7000] -> 8[7000] [send] via NET/IB/1/GDRDMA\n"
        f"{INFO}Channel 00 : 0[7000] -> 8[7000] [receive] via NET/IB/0",
        0.4,
        "gpudirect-off",
    ),
    Case(
        "ecmwf/WeatherGenerator/issues/1261",
        "{accelerator: gh200-96gb, accelerators_per_node: 4, nodes: 2, "
        "scale_out: {technology: slingshot-11, nics_per_node: 4}}",
        8,
        f"{INFO}NET/Plugin : No plugin found (libnccl-net.so).\n{INFO}Using network Socket",
        0.1,
        "plugin-missing",
    ),
    Case("NVIDIA/nccl/issues/1015", BONDS, 16, BONDED, 0.5, "bonded-ports"),
    Case(
        "NVIDIA/nccl-tests/issues/191",  # 240 of 400 Gb/s with eight queue pairs; bonds are not recommended
        BONDS,
        16,
        f"{BONDED}\n{INFO}NCCL_IB_QPS_PER_CONNECTION set by environment to 8.",
        0.6,
        "bonded-ports",
    ),
    Case(
        "NVIDIA/nccl/issues/1781",  # ranks of one node in pods of their own
        "{platform: hgx-h100, nodes: 1}",
        8,
        f"{INFO}Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA",
        0.1,
        "network-inside-domain",
    ),
    Case(
        "NVIDIA/nccl/issues/324",  # the same in containers; the thread states no bandwidth
        VOLTA.replace("accelerators_per_node: 8, nodes: 2", "accelerators_per_node: 2, nodes: 1").replace(
            "domain: 8", "domain: 2"
        ),
        2,
        f"{INFO}Channel 00 : 0[4f000] -> 1[50000] [send] via NET/Socket/0",
        0.03,
        "network-inside-domain",
    ),
    Case(
        "NVIDIA/nccl/issues/797",  # two pods of a node; the thread states no bandwidth
        "{platform: hgx-a100, nodes: 1}",
        2,
        f"{INFO}Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0",
        0.1,
        "network-inside-domain",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/265",  # 240 of 395 Gb/s through a bond
        BONDS.replace("nics_per_node: 4", "nics_per_node: 1"),
        16,
        f"{INFO}NET/IB : Using [0]mlx5_bond_0:1/RoCE",
        240 / 395,
        "bonded-ports",
    ),
    Case(
        "NVIDIA/nccl/issues/378",  # 0.x of 10 GB/s: a switch without flow control
        VOLTA.replace("nodes: 2", "nodes: 4"),
        32,
        f"{USED_TWO}\n{INFO}Channel 00 : 15 -> 0 [receive] via NET/IB/0/GDRDMA",
        0.03,
        "packet-loss",
    ),
    Case(
        "ROCm/rccl/issues/1129",  # a test that hung until iommu=pt was set; the catalog has no MI100
        "{accelerator: mi350p, accelerators_per_node: 2, nodes: 1, scale_up: {topology: pcie, domain: 2}}",
        2,
        'NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!',
        0.3,
        "iommu-translation",
    ),
    Case(
        "Azure/aks-rdma-infiniband/pull/36",  # a virtual machine without its topology file or NCCL_NET_GDR_LEVEL=SYS
        "{platform: azure-nd-h100-v5, nodes: 2}",
        16,
        f"{EIGHT}\n{INFO}Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0",
        0.3,
        "gpudirect-off",
    ),
    Case(
        "tonyd2wild/DeepSeek-v4-Flash-Vision-Exp-DSpark-1M-NVFP4-KV-2x-DGX-Spark/pull/35",  # 98 of 161 Gb/s
        "{platform: dgx-spark, nodes: 2, scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s}}",
        2,
        f"{INFO}NET/IB : Using [0]rocep1s0f1:1/RoCE ; OOB enP7s7:10.0.0.1<0>",
        98 / 161,
        "one-nic",
    ),
    Case(
        "facebookresearch/maskrcnn-benchmark/issues/628",
        VOLTA,
        16,
        f"NCCL WARN Failed to open libibverbs.so[.1]\n{INFO}Using internal Network Socket\n"
        f"{INFO}NET/Socket : 1 interfaces found",
        0.05,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/228",
        A100,
        8,
        f"{INFO}NCCL_P2P_LEVEL set by environment to LOC\n{INFO}Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct",
        0.1,
        "peer-access-off",
    ),
    Case(
        "NVIDIA/nccl/issues/841",
        A100_PCIE,
        8,
        f"{INFO}NCCL_P2P_DISABLE set by environment to 1\n{INFO}CPU/0 (1/2/-1)\n{INFO}+ SYS[10.0] - CPU/1",
        0.4,
        "peer-access-off",
    ),
    Case(
        "aws/aws-ofi-nccl/issues/67",
        EFA,
        16,
        f"NCCL WARN NET/OFI Couldn't find any optimal provider\n{INFO}Using network Socket",
        0.05,
        "plugin-missing",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/256",
        H200,
        16,
        f"{INFO}CPU/0-0 (1/2/-1)\n{INFO}+ PCI[0.2] - PCI/0-65000 (104c823200000000)",
        0.3,
        "wrong-topology",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/112",
        ONE_NIC,
        16,
        f"{INFO}NCCL_IB_HCA set to mlx5_0\n{INFO}NET/IB : Using [0]mlx5_0:1/RoCE [RO]\n"
        f"{INFO}Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0/GDRDMA",
        0.41,
        "acs",
    ),
    Case(
        "NVIDIA/nccl/issues/905",
        HGX,
        16,
        f"{FOUR}\nNCCL WARN NET/IB : Got async event : port error",
        0.5,
        "unstable-link",
    ),
    Case(
        "NVIDIA/nccl/issues/214",
        VOLTA_EDR,
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/IB [2]mlx5_4:1/IB [3]mlx5_6:1/IB\n"
        f"{INFO}Ring 00 : 15 -> 0 [receive] via NET/IB/0",
        0.5,
        "gpudirect-off",
    ),
    Case(
        "Mellanox/nv_peer_memory/issues/56",
        VOLTA_EDR.replace("nics_per_node: 4", "nics_per_node: 1"),
        16,
        f"{INFO}NET/Socket : Using [0]ib0:192.168.11.1<0>\n{INFO}NET/IB : Using [0]mlx5_0:1/IB ; OOB ib0:<0>"
        f"\n{INFO}Ring 00 : 3 -> 4 [receive] via NET/IB/0",
        0.5,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/1303",
        ROCE_H100,
        16,
        f"{INFO}NCCL_TOPO_FILE set by environment to /root/topo2.xml\n{EIGHT}",
        0.11,
        "wrong-topology",
    ),
    Case(
        "sgl-project/sglang/pull/1427",
        H100,
        16,
        f"{INFO}Failed to open libibverbs.so[.1]\n{INFO}NET/Socket : Using [0]ib0:10.0.0.1<0>",
        0.04,
        "socket-fall-back",
    ),
    Case(
        "vllm-project/vllm/pull/42075",
        ONE_200,
        16,
        f"{INFO}NET/IB : No device found.\n{INFO}Using network Socket",
        0.8,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl-tests/issues/293",
        PCIE,
        2,
        f"{INFO}Pattern 4, crossNic 0, nChannels 1, bw 12.0/12.0, type LOC/SYS, sameChannels 1\n"
        f"{INFO}Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IBext_v8/0",
        0.05,
        "nic-distance",
    ),
    Case(
        "Azure/azhpc-images/issues/327",
        A100_PCIE.replace("8", "4"),
        4,
        f"{INFO}NCCL_TOPO_FILE set by environment to /opt/microsoft/ndv4-topo.xml",
        0.3,
        "wrong-topology",
    ),
    Case(
        "Mellanox/nv_peer_memory/issues/50",
        ROCE_PCIE,
        2,
        f"{INFO}Pattern 4, crossNic 0, nChannels 1, bw 12.0/12.0, type LOC/PHB, sameChannels 1\n"
        f"{INFO}Channel 00 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA",
        0.2,
        "nic-distance",
    ),
    Case(
        "NVIDIA/dgx-spark-playbooks/pull/103",
        SPARK,
        2,
        f"{INFO}NET/IB : Using [0]rocep1s0f0:1/RoCE",
        0.5,
        "one-nic",
    ),
    Case(
        "ROCm/rccl/pull/1366",
        "{platform: mi300x-ubb8, nodes: 2}",
        16,
        f"{INFO}8 coll channels, 0 collnet channels, 0 nvls channels, 8 p2p channels, 2 p2p channels per peer",
        0.3,
        "few-channels",
    ),
    Case(
        "NVIDIA/nccl/issues/1519",
        "{platform: gcp-a3-megagpu-8g, nodes: 2}",
        16,
        f"{INFO}NET/Plugin: No plugin found (libnccl-net.so)\n{INFO}NET/Socket : Using [0]enp0s12:10.0.0.1<0>",
        0.05,
        "plugin-missing",
    ),
    Case(
        "Azure/aks-rdma-infiniband/pull/36",
        H100,
        16,
        f"{EIGHT}\n{INFO}Pattern 4, crossNic 0, nChannels 8, bw 20.0/20.0, type NVL/SYS, sameChannels 1\n"
        f"{INFO}Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0",
        0.3,
        "nic-distance",
    ),
    Case(
        "NVIDIA/nccl/issues/981",
        PCIE.replace("node: 1", "node: 2").replace("domain: 1", "domain: 2"),
        4,
        f"{INFO}NET/IB : Using [0]mlx5_2:1/IB [1]mlx5_3:1/IB\n"
        + "\n".join(f"{INFO}Channel 0{n}/0 : 2[0] -> 0[0] [receive] via NET/IB/0/GDRDMA" for n in range(4)),
        0.5,
        "one-nic",
    ),
    Case(
        "awslabs/awsome-distributed-ai/issues/386",
        "{platform: aws-p5-48xlarge, nodes: 2}",
        16,
        f"{INFO}Channel 13/0 : 0[0] -> 8[0] [receive] via NET/Socket/0",
        0.05,
        "plugin-missing",
    ),
    Case(
        "Lightning-AI/pytorch-lightning/issues/2771",
        ONE_NIC.replace("roce-v2", "infiniband-hdr").replace(", nic_bandwidth: 200 Gb/s", ""),
        16,
        f"{INFO}NET/IB : No device found.\n{INFO}NET/Socket : Using [0]lo:127.0.0.1<0>",
        0.05,
        "socket-fall-back",
    ),
    Case(
        "NVIDIA/nccl/issues/1392",
        HGX,
        16,
        f"{INFO}NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        0.4,
        "gpudirect-off",
    ),
    Case(
        "ROCm/rccl/issues/1377",
        "{platform: mi300x-ubb8, nodes: 2}",
        16,
        f"{EIGHT}\n{INFO}Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0",
        0.3,
        "gpudirect-off",
    ),
    Case(
        "ROCm/amdgpu/issues/102",  # on a machine of two accelerators each
        "{platform: mi300x-ubb8, nodes: 2}",
        16,
        f"{INFO}NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
        0.4,
        "gpudirect-off",
    ),
    Case(
        "NVIDIA/nccl/issues/371",  # 6.1 instead of 9.2 GB/s; solved by NCCL_NET_GDR_READ=1
        VOLTA_PCIE,
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/IB\n{INFO}Channel 00 : 0 -> 8 [send] via NET/IB/0\n"
        f"{INFO}Channel 00 : 8 -> 0 [receive] via NET/IB/0/GDRDMA",
        0.66,
        "gpudirect-off",
    ),
    Case(
        "apptainer/singularity/issues/4921",  # nv_peer_mem of the host; the thread states neither machine nor bandwidth
        VOLTA_PCIE,
        16,
        f"{INFO}NET/IB : Using [0]mlx5_0:1/IB\n{INFO}Ring 00 : 7[7000] -> 8[4000] [send] via NET/IB/0",
        0.5,
        "gpudirect-off",
    ),
)


@thorough
@pytest.mark.parametrize("case", sampled(CASES, len(CASES) // 2), ids=lambda case: case.address)
def test_the_cause_that_a_thread_states_comes_first(case: Case) -> None:
    machine = cluster(case.machine)
    compared = diagnosed(machine, log(machine, case.ranks, before=case.lines, scale=case.share))
    assert compared.verdict == "slow"
    assert names(compared)[0] == case.cause, [(cause.name, cause.weight) for cause in compared.causes]


@thorough
@pytest.mark.parametrize("case", sampled(CASES, len(CASES) // 4), ids=lambda case: case.address)
def test_lines_that_every_rank_prints_are_one_cause(case: Case) -> None:
    """A log of several ranks repeats its lines: the first is the evidence, and the causes are the same."""
    machine = cluster(case.machine)
    twice = f"{case.lines}\n{case.lines}"
    once, repeated = (
        diagnosed(machine, log(machine, case.ranks, before=lines, scale=case.share)).causes
        for lines in (case.lines, twice)
    )
    assert [(cause.name, cause.evidence) for cause in repeated] == [(cause.name, cause.evidence) for cause in once]


FIVE = "NCCL INFO Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0/GDRDMA"
NONE_OF_THE_KNOWN = {
    "NVIDIA/nccl/issues/2409": (
        ROCE_H100,
        8,
        0.49,
    ),  # 231 of 470 GB/s: a fault of the platform and a setting of its owners
    "NVIDIA/nccl/issues/1403": (
        ROCE_H100.replace("nics_per_node: 8", "nics_per_node: 4"),
        4,
        0.3,
    ),  # enhanced connections
    "NVIDIA/nccl/issues/1272": (HGX.replace("nodes: 2", "nodes: 8"), 4, 18.3 / 24.2),  # NCCL 2.20, on eight nodes
    "NVIDIA/nccl/issues/820": (HGX, 4, 0.5),  # the firmware of a PCIe switch exchanged two NICs
    "NVIDIA/nccl/issues/325": (HGX, 4, 25 / 39),  # routes of the fabric that collide
    "NVIDIA/nccl/issues/2035": ("{platform: hgx-b300, nodes: 4}", 8, 200 / 760),  # a fault of NCCL 2.29.7
    "NVIDIA/nccl/issues/1222": (ROCE_H100.replace("nodes: 2", "nodes: 4"), 8, 0.75),  # a fault of NCCL 2.20.3
    "NVIDIA/nccl-tests/issues/106": (HGX, 4, 49 / 88),  # one of the nodes is slow
    "ROCm/TheRock/issues/7903": (  # RCCL of ROCm 7.14 was built with fault injection
        "{platform: mi300x-ubb8, nodes: 2, "
        "scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, switch_ports: 64}}",
        8,
        0.6,
    ),
    "ROCm/legacy-rocm-build/issues/5717": (  # a fault of RCCL in ROCm 7.1.1
        "{platform: mi300x-ubb8, nodes: 2, "
        "scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, switch_ports: 64}}",
        8,
        0.5,
    ),
}


@thorough
def test_no_cause_is_likely_where_a_thread_states_one_that_no_log_shows() -> None:
    for address, (machine, nics, share) in NONE_OF_THE_KNOWN.items():
        used = "NCCL INFO NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/RoCE" for n in range(nics))
        text = cluster(machine)
        ranks = text.nodes * text.ranks_per_node
        compared = diagnosed(text, log(text, ranks, before=f"{used}\n{FIVE}", scale=share))
        assert compared.verdict == "slow", address
        likely = [cause.name for cause in compared.causes if cause.weight >= LIKELY]
        assert not likely, (address, likely)
        shown = diagnosis_text(DiagnosisReport(SETTINGS.tool, Input("pod.yaml"), (compared,), ()))
        assert "None of the known causes explains the difference" in shown, address


def test_a_host_that_interleaves_memory_is_named_where_data_passes_it() -> None:
    """Two NUMA nodes of AMD: named on PCIe, not with eight nodes, not between switched accelerators, not on Intel."""
    nodes = "\n".join(f"{INFO}+ SYS[16.0] - CPU/{n}" for n in range(1, 8))
    for machine, lines, named in (
        (GEFORCE, f"{INFO}CPU/0 (1/2/-1)\n{INFO}+ SYS[16.0] - CPU/1", True),
        (GEFORCE, f"{INFO}CPU/0 (1/2/-1)\n{nodes}", False),
        (GEFORCE, f"{INFO}CPU/0 (1/1/2)\n{INFO}+ SYS[16.0] - CPU/1", False),
        ("{platform: dgx-h100, nodes: 1}", f"{INFO}CPU/0 (1/2/-1)", False),
    ):
        host = cluster(machine)
        found = names(diagnosed(host, log(host, 8, before=lines, scale=0.4)))
        assert ("numa-per-socket" in found) is named, (machine, lines)


def test_accelerators_whose_driver_has_no_peer_access_are_not_a_fault_of_bridges() -> None:
    host = cluster(GEFORCE)
    found = names(
        diagnosed(host, log(host, 8, before=f"{INFO}Channel 00 : 1[1] -> 2[2] via SHM/direct/direct", scale=0.4))
    )
    assert found[0] == "peer-access-off" and "acs" not in found


@thorough
def test_a_nic_behind_the_other_socket_is_named() -> None:
    machine = cluster(HGX)
    pattern = f"{INFO}Pattern 4, crossNic 0, nChannels 1, bw 24.000000/10.000000, type NVL/SYS, sameChannels 1"
    assert "nic-distance" in names(diagnosed(machine, log(machine, 16, before=pattern, scale=0.4)))
    near = pattern.replace("NVL/SYS", "NVL/PIX")
    assert "nic-distance" not in names(diagnosed(machine, log(machine, 16, before=near, scale=0.4)))


IB = "NCCL INFO NET/IB : Using " + " ".join(f"[{n}]mlx5_{n}:1/IB" for n in range(8))
USED = "NCCL INFO Channel 00/0 : 31[7] -> 0[0] [receive] via NET/IB/0/GDRDMA"


@thorough
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


def test_larger_messages_that_are_slower_over_ethernet_are_lost_packets() -> None:
    """Not over InfiniBand, whose flow control loses none, and not where one size in the middle is delayed."""
    ethernet, other = cluster(ROCE_H100), cluster(H100)
    for machine, named in ((ethernet, True), (other, False)):
        text = log(machine, 16, before=f"{EIGHT}\n{FIVE}")
        points = text.series[0].points
        worse = [replace(point, busbw=point.busbw * (0.2 if point.size > 1 << 28 else 0.6)) for point in points]
        lossy = replace(text, series=(replace(text.series[0], points=tuple(worse)),))
        assert ("packet-loss" in names(diagnosed(machine, lossy))) is named
