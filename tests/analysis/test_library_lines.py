"""Warnings of libraries and of the kernel: what each states first, and what it leaves possible."""

from __future__ import annotations

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling

LINES = (
    ("h:1 [0] NCCL WARN MNNVL (cliqueSize 8) is available but not working on this system. Check", "fabric-manager"),
    ("h:1 [0] NCCL WARN CUDA Driver version found is 11040. Minimum requirement is 11080", "driver-release"),
    ("h:1 [0] NCCL WARN Multiple Ranks are using the same GPU/Partition. Set NCCL", "shared-accelerator"),
    ("h:1 [0] NCCL WARN Unable to use GIN: Peermem is not supported, and device 3 does not support DMA-BUF.",
     "gpudirect-refused"),
    ("h:1 [0] NCCL WARN No transport found for rank 1[a1000] -> rank 0[1000]", "invalid-setting"),
    ("h:1 [0] NCCL WARN NET/Socket : No usable listening interface found", "wrong-interface"),
    ("h:1 [0] NCCL WARN Coll 2 size 8 symmetric registration check failed on rank 3: recv", "ranks-diverge"),
    ("#0-0 (fa93) MISMATCH\n  Communicator ranks have different AllGather operation counts", "ranks-diverge"),
    ("h:1 [0] NCCL WARN Could not find NIC for rank 3 in NVLS graph", "wrong-topology"),
    ("h:1 [0] NCCL WARN NET/IB: Fatal error. Detected 2 failed devices out of 2 devices on the send", "unstable-link"),
    ("h:1 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<9> with status=10 opcode=1 len=0", "acs"),
    ("NET/OFI Unable to insert remote address into address vector for device 1", "unreachable-peer"),
    ("libfabric:35:1::efa:cq:rxr_cq_write_tx_error():243<warn> err: 20", "unreachable-peer"),
    ("h:1 [0] NCCL WARN NET/OFI EFA provider requires at least libfabric version 1.22.0.", "plugin-mismatch"),
    ("ibgda.cpp no active IB device that supports GPU-initiated communication is found, exiting", "wrong-interface"),
    ("WARN: device erdma_0 is not enumerated as an mlx5 device. Skipping...", "wrong-interface"),
    ("libfabric:9:1:0::cxi:ep_data: Request error: 5, VNI_NOT_FOUND", "invalid-setting"),
    ("n1 UCX DIAG GDAKI not supported, please add NVreg_RegistryDwords=\"PeerMappingOverride=1;\"", "invalid-setting"),
    ("n1 UCX ERROR mlx5_0: Couldn't enable GPUDirect RDMA. Please make sure nv_peer_mem", "gpudirect-refused"),
    ("n1 UCX WARN network device 'mlx5_9:1' is not available, please use one or more of", "invalid-setting"),
    ("n1 UCX WARN network devices 'mlx5_0:1','mlx5_9:1' are not available, please use one or more of: 'bond0'(tcp), "
     "'lo'(tcp)", "library-release"),
    ("n1 UCX WARN network devices 'mlx5_0:1','mlx5_9:1' are not available, please use one or more of: 'lo'(tcp), "
     "'mlx5_1:1'(ib)", "invalid-setting"),
    ("n1 UCX WARN network device 'eth9' is not available, please use one or more of: 'lo'(tcp)", "invalid-setting"),
    (" Failed to modify QP 1 to RTR", "unreachable-peer"),
    (" Failed status transport retry counter exceeded (12): wr_id 0 syndrom 0x81", "unreachable-peer"),
    (" mtu mismatch: local=4096, remote=1024", "unreachable-peer"),
    (" Unable to find the Infiniband/RoCE device", "wrong-interface"),
    (" Port number 1 state is Down", "unstable-link"),
    ("[n1][[3,1],2][btl_tcp.c:6] received unexpected process identifier [[3,1],3]", "wrong-interface"),
    ("[8.1] AMD-Vi: Event logged [IO_PAGE_FAULT device=81:00.0 domain=0x1 address=0x0]", "iommu-translation"),
    ("[8.1] DMAR: [DMA Write NO_PASID] Request device [81:00.0] fault addr 0x1", "iommu-translation"),
    ("[8.1] mlx5_core 0000:81:00.0: wait_func:1137:(pid 9): CREATE_MKEY(0x200) timeout. Will cause a leak of a command "
     "resource", "iommu-translation"),
    ("[8.1] pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010", "accelerator-fault"),
    ("[8.1] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 44 LTSSM Fault Up", "accelerator-fault"),
    ("[8.1] amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!", "accelerator-fault"),
    ("[8.1] nfs: server 10.0.0.9 not responding, still trying", "storage-fault"),
    ("[8.1] LustreError: 11-0: scratch-OST0003: operation ost_write failed: rc = -5", "storage-fault"),
    ("Warning  FailedScheduling  2m  default-scheduler  0/5 nodes are available: 5 Insufficient rdma/hca.",
     "absent-ranks"),
    ("[2.1] mlx5_core 0000:61:00.0: mlx5_cmd_check:795:(pid 9): ALLOC_UAR(0x802) failed, status limits exceeded(0x8)",
     "nic-limit"),
    ("[8.1] bnxt_re bnxt_re0: CQP timeout waiting for firmware", "nic-fault"),
    ("[8.1] pci 0000:c1:00.0: 126.016 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:c0:01.0 "
     "(capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)", "wrong-pcie-generation"),
    ("\t\tLnkSta:\tSpeed 16GT/s (ok), Width x8 (downgraded)", "wrong-pcie-generation"),
    ("Failed to allocate device vector A (error code system not yet initialized)!", "fabric-manager"),
    ("CUDA error 401 'the operation cannot be performed in the present state'.", "fabric-manager"),
    ("cudaErrorMpsConnectionFailed: MPS client failed to connect to the MPS control daemon", "invalid-setting"),
    ("nvlink fatal   : Input file 'a.cubin' newer than toolkit (118 vs 115)", "library-release"),
    ("ibv_exp_query_device: invalid comp_mask !!! (comp_mask = 0x2 valid_mask = 0x1)", "library-release"),
)  # fmt: skip


@telling(2)
@pytest.mark.parametrize(("line", "cause"), LINES)
def test_a_warning_names_its_cause_first(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[0] == cause, [(each.name, each.weight) for each in compared.causes]


def test_sizes_that_differ_are_of_the_program_or_of_settings() -> None:
    """Published: NVIDIA/nccl issue 969, whose ranks had other environments."""
    line = "h:1 [0] NCCL WARN NET/IB : req 0/1 tag 0 peer a<9> collective mismatch error, local size 8 remote size 4"
    compared = read(PAIR, line, 16)
    assert compared is not None and names(compared) == ["ranks-diverge", "invalid-setting"]


@pytest.mark.parametrize(
    "line",
    [
        "[8.1] mlx5_core 0000:81:00.0 eth0: Link up",
        "[8.1] AMD-Vi: Interrupt remapping enabled",
        "[8.1] DMAR: IOMMU enabled",
        "[8.1] amdgpu 0000:c1:00.0: amdgpu: ring gfx uses VM inv eng 0 on hub 0",
        "[8.1] EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "Port number 1 state is Active",
        "# nccl-tests version 2.17.6 nccl-headers=22805 nccl-library=22805",
        "ROCm version  : 7.2.4.0-93",
    ],
)
def test_a_healthy_line_states_nothing(line: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is None or not compared.causes
