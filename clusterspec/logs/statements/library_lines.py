"""Warnings of collective, network and kernel libraries about something that a run lacks, each in the words of its
source.

Sources, by commit: NVIDIA/nccl 5067397c (`src`), ROCm/rccl 0cbce2a7 (`src`), aws/aws-ofi-nccl 2daf7d30 (`src`),
NVIDIA/nvshmem 2d7d25f (`src/modules/transport`), openucx/ucx 9466d104 (`src/uct`, `src/ucp`), linux-rdma/perftest
00b55b6 (`src`), and of the kernel its drivers mlx5_core, amdgpu, nfs, lustre, AER, AMD-Vi and DMAR.
"""

from __future__ import annotations

import re

from clusterspec.logs.statements.status_texts import STATUS_PATTERNS

_AS_WIDE = "|".join(rf"x{width} link at \S{{1,20}} \(capable of .{{1,40}} x{width} link" for width in (4, 8, 16))
_RESTING = rf"\bpci [0-9a-f:.]{{7,16}}: .{{1,60}}limited by 2\.5 GT/s PCIe (?:{_AS_WIDE})"
"""What the bus prints, before a driver is loaded, about a link at full width and its initial speed: a device at rest.
"""
_ONLY_SOCKETS = (
    r"network devices? '\w{1,20}:[0-9]{1,3}'.{0,300} not available, please use one or more of: "
    r"'[^']{1,40}'\(tcp\)(?:, '[^']{1,40}'\(tcp\)){0,40}(?!,)"
)
"""Requested ports of RDMA devices, none of which UCX lists: all of its interfaces are TCP."""
LIBRARY_PATTERNS = (
    # NVIDIA/nccl 5067397c, src/include/checks.h: a call that the library itself made. NVIDIA/TensorRT-LLM issue 4238
    (
        "own-call",
        re.compile(r"(\.(?:cc|cu|h):[0-9]{1,5} (?:NCCL|RCCL) WARN (?:Cuda|HIP) failure (?:1 )?'invalid argument')"),
    ),
    *STATUS_PATTERNS,
    # releases: the head of nccl-tests 2.17 and of RCCL
    ("version-code", re.compile(r"\bnccl-library=([0-9]{5,6})\b")),
    ("rocm-release", re.compile(r"\bROCm version\s{0,3}: ?([0-9]{1,3}(?:\.[0-9]{1,4}){1,3})")),
    # NCCL and RCCL
    ("imex", re.compile(r"(MNNVL \(cliqueSize [0-9]{1,6}\) is available but not working.{0,80})")),
    ("driver-release", re.compile(r"((?:CUDA|ROCr) Driver version found is [0-9]{1,9}\. Minimum requirement.{0,20})")),
    ("shared-accelerator", re.compile(r"(Multiple Ranks are using the same GPU.{0,20})")),
    ("peer-memory", re.compile(r"(Peermem is not supported, and device [0-9]{1,4} does not support DMA-BUF)")),
    ("no-transport", re.compile(r"(No transport found for rank [0-9]{1,7}\[\w{1,9}\] -> rank [0-9]{1,7})")),
    ("no-interface", re.compile(r"(No (?:usable listening interface|interface found in the same subnet).{0,60})")),
    ("socket-trace", re.compile(r"(misc/socket\.cc:[0-9]{1,5} -> 2)\b")),  # ncclSystemError (src/nccl.h.in)
    ("diverging", re.compile(r"(symmetric registration check failed on rank [0-9]{1,7}.{0,80})")),
    ("diverging", re.compile(r"(Communicator ranks have different \w{1,30} operation counts)")),  # RAS
    ("wrong-plan", re.compile(r"(Could not find (?:NET with|NIC for rank|any local path from).{1,60})")),
    ("wrong-plan", re.compile(r"(Attribute \w{1,30} of node \w{1,30} not found|too many XML nodes.{0,20})")),
    ("wrong-plan", re.compile(r"((?:TOPO/NET(?! : (?:Importing|Made vNic))|XML Mismatch|XML Graph) ?:? .{1,80})")),
    ("link-down", re.compile(r"(Detected [0-9]{1,4} failed devices out of [0-9]{1,4} devices)")),
    ("foreign-nic", re.compile(r"((?:read failed in|Check failed: ) ?ncclIb(?:RoceGetVersionNum|GetGidIndex).{0,40})")),
    ("foreign-nic", re.compile(r"(ibv_create_ah\(.{1,300}failed: No such device|\bInvalid gid\[.{0,40})")),  # UCX
    ("gid-changed", re.compile(r"(NET/IB : \S{1,40} GID table changed)")),
    (
        "remote-access",
        re.compile(r"(Got completion (?:from peer .{1,80} )?(?:with )?(?:error |status=)1[01]\b.{0,40})"),
    ),
    (
        "invalid-request",
        re.compile(r"(Got completion (?:from peer .{1,80} )?(?:with )?(?:error |status=)[19]\b.{0,40})"),
    ),
    ("flushed", re.compile(r"(Got completion (?:from peer .{1,80} )?(?:with )?(?:error |status=)5\b.{0,40})")),
    ("not-ready", re.compile(r"(Got completion (?:from peer .{1,80} )?(?:with )?(?:error |status=)13\b.{0,40})")),
    ("unequal", re.compile(r"(collective mismatch error, local size [0-9]{1,12} remote size [0-9]{1,12})")),
    ("unequal", re.compile(r"(message truncated : receiving [0-9]{1,12} bytes instead of [0-9]{1,12})")),
    # aws-ofi-nccl and the EFA provider of libfabric
    ("efa-peer", re.compile(r"(Unable to insert remote address into address vector.{0,60})")),
    ("efa-peer", re.compile(r"(Failed to insert address for peer rank.{0,40}|fi_av_insert (?:call )?failed.{0,40})")),
    ("queue-gone", re.compile(r"(Invalid receiver queue pair number.{0,10})")),
    (
        "efa-peer",
        re.compile(
            r"(NET/OFI Request .{1,40}completed with error\. RC: [0-9]{1,6}(?!.{0,20}Invalid receiver queue).{0,60})"
        ),
    ),
    ("efa-peer", re.compile(r"(efa_rdm_\w{1,20}_handle_error\(\):[0-9]{1,6}<warn> err: .{1,80})")),
    ("efa-peer", re.compile(r"(rxr_cq_write_[tr]x_error.{0,80}|efa_\w{1,40}error.{0,40}prov_err\w{0,3}: .{1,60})")),
    ("efa-peer", re.compile(r"((?:Unreachable|Unresponsive) (?:remote|receiver).{0,80})")),
    ("registration", re.compile(r"(EFA provider requires at least libfabric version [0-9.]{1,12})")),
    ("no-gdr", re.compile(r"(GDR disabled on GDR-supported instance type).{0,40}")),
    # NVSHMEM
    ("no-network", re.compile(r"(no active IB device that supports GPU-initiated communication is found)")),
    ("no-network", re.compile(r"(device \S{1,40} is not enumerated as an mlx5 device)")),
    # libfabric's provider of Slingshot
    ("setting", re.compile(r"\b(VNI_NOT_FOUND)\b")),
    ("unreachable", re.compile(r"\berr(?:or)?: .{0,20}\b(UNDELIVERABLE)\b")),
    # UCX
    ("device-uar", re.compile(r"(GDAKI not supported, please add NVreg_RegistryDwords)")),
    ("peer-memory", re.compile(r"(GDAKI not supported, please load Nvidia peermem driver)")),
    ("peer-memory", re.compile(r"(Couldn't enable GPUDirect RDMA.{0,40})")),
    ("shared-memory", re.compile(r"(Not enough memory to write total of [0-9]{1,18} bytes.{0,60})")),
    ("open-files", re.compile(r"(maximal number of files that could be opened.{0,60})")),
    ("ucx-device", re.compile(rf"(?!{_ONLY_SOCKETS})(network devices? .{{1,60}} (?:is|are) not available.{{0,60}})")),
    ("ucx-without-verbs", re.compile(rf"({_ONLY_SOCKETS})")),
    (
        "ucx-device",
        re.compile(r"(no \w[\w -]{0,40} transport to .{1,60}: (?:Unsupported operation|Destination is unr).{0,20})"),
    ),
    # perftest
    ("unreachable", re.compile(r"([Ff]ailed to modify QP (?:(?:0x)?\w{1,8} |state )?to RT[RS].{0,60})")),
    ("unreachable", re.compile(r"(Unable to Connect the HCA's through the link)")),
    ("unreachable", re.compile(r"(Failed status (?:transport retry counter exceeded \()?12\b.{0,40})")),
    ("protection", re.compile(r"(Failed status 4: wr_id .{0,40})")),
    ("peer-operation", re.compile(r"(Failed status (?:9|10|11): wr_id .{0,40})")),
    ("not-ready", re.compile(r"(Failed status 13: wr_id .{0,40})")),
    ("mtu", re.compile(r"(\w{1,20} mismatch: local=\w{1,20}, remote=\w{1,20})")),
    ("no-network", re.compile(r"(Unable to find the Infiniband/RoCE device|Did not detect devices)")),
    ("port-down", re.compile(r"(Port number [0-9]{1,3} state is (?:Down|DOWN|Armed|Polling))")),
    ("port-waits", re.compile(r"(Port number [0-9]{1,3} state is Init\w{0,10})")),
    ("no-region", re.compile(r"(Couldn't allocate MR)")),
    ("peer-memory", re.compile(r"(Couldn't register GPU MR)")),  # Mellanox/gpu_direct_rdma_access issue 5
    # Open MPI
    ("tcp-mixed", re.compile(r"(received unexpected process identifier)")),
    ("tcp-mixed", re.compile(r"(accepted a TCP connection from what appears to be a.{0,60})")),
    # the kernel
    (
        "iommu-fault",
        re.compile(r"(AMD-Vi: (?:Event logged \[)?(?:IO_PAGE_FAULT|Completion-Wait loop timed out).{0,40})"),
    ),
    ("iommu-fault", re.compile(r"(DMAR: (?:\[DMA .{1,80}|DRHD: handling fault.{0,40}))")),
    ("command-lost", re.compile(r"(mlx5_core .{1,120}Will cause a leak of a command resource)")),
    (
        "device-lost",
        re.compile(r"(AER: (?:Multiple )?Uncorrect(?:ed|able).{0,60}|PCIe Bus Error: severity=Uncorrected.{0,60})"),
    ),
    ("hardware", re.compile(r"(NVRM: The NVIDIA probe routine failed.{0,40})")),
    ("hardware", re.compile(r"(nvidia-nvswitch\S{0,6}: SXid .{1,40}: [0-9]{1,6}, Fatal.{0,60})")),
    ("link-event", re.compile(r"(nvidia-nvswitch\S{0,6}: SXid .{1,40}: [0-9]{1,6}, Non-fatal.{0,60})")),
    ("hardware", re.compile(r"(amdgpu .{1,60}(?:xgmi .{0,30}link .{0,20}error|bad page threshold).{0,40})")),
    # AMD's scheduler of queues, whose firmware the driver loads. Thread: ROCm/legacy-rocm-build issue 5724
    ("driver-reset", re.compile(r"(amdgpu: SMU: (?:response:0xFFFFFFFF|I'm not done with your previous).{0,60})")),
    ("queue-scheduler", re.compile(r"(amdgpu: MES (?:failed to respond|might be in unrecoverable state).{0,40})")),
    ("driver-reset", re.compile(r"(amdgpu .{1,60}(?:ring \S{1,20} timeout|GPU reset begin).{0,40})")),
    ("kernel-fault", re.compile(r"(amdgpu: .{0,20}\[(?:gfx|mm)hub[0-9]{0,2}\] .{0,20}page fault.{0,40})")),
    ("storage-fault", re.compile(r"(nfs: server \S{1,80} not responding.{0,20})")),
    ("storage", re.compile(r"(LustreError: .{1,120}rc = -(?:28|122)\b)")),
    ("storage-fault", re.compile(r"(Lustre(?:Error)?: .{1,120}(?:was lost|timed out|evicted|-EIO|-5\b).{0,40})")),
    ("storage-fault", re.compile(r"((?:EXT4|XFS|BTRFS)\S{0,3} (?!.{0,40}mounted).{0,40}(?:error|I/O).{0,60})")),
    ("throttled", re.compile(r"(temperature above threshold, cpu clock throttled)")),
    # Linux, arcturus_ppt.c, aldebaran_ppt.c and smu_v13_0_6_ppt.c. Thread: ROCm/legacy-rocm-build issue 1468
    ("throttled", re.compile(r"(GPU (?:thermal throttling temperature reached|is throttled), expect perf.{0,60})")),
    (
        "nic-limit",
        re.compile(r"(mlx[45]_\w{1,20}.{0,80}failed, status (?:limits exceeded|no resources|exceed lim).{0,40})"),
    ),
    ("nic-limit", re.compile(r"(efa_[0-9]{1,3}: Failed to process command .{1,60} err -12)")),
    ("nic-fault", re.compile(r"(mlx[45]_\w{1,20}.{0,80}failed, status internal error.{0,40})")),
    (
        "nic-fault",
        re.compile(
            r"((?:bnxt_re|bnxt_en|irdma|ionic\w{0,8}|hns3?)\b.{1,80}"
            r"(?:CQP timeout|firmware .{0,20}unresponsive|fatal).{0,40})"
        ),
    ),
    # drivers/pci/pci.c, `__pcie_print_link_status`
    (
        "slow-link",
        re.compile(
            rf"^(?!.{{0,60}}{_RESTING}).{{0,200}}?"
            r"(available PCIe bandwidth, limited by .{1,60}\(capable of .{1,60}\))"
        ),
    ),
    # arch/x86/mm/fault.c, arch/x86/kernel/dumpstack.c: a module of the kernel fails
    (
        "kernel-oops",
        re.compile(
            r"(BUG: (?:kernel NULL pointer dereference|unable to handle (?:kernel|page)).{0,40}"
            r"|\bOops: [0-9a-f]{4} \[#1\]"
            r"|\bkernel BUG at \S{1,80}|general protection fault.{0,40}\[#1\]|Unable to handle kernel .{1,60})"
        ),
    ),
    ("slow-link", re.compile(r"(LnkSta:\s{0,4}Speed .{1,40}Width x[0-9]{1,2} \(downgraded\))")),
    ("resting-link", re.compile(r"(LnkSta:\s{0,4}Speed .{1,20} \(downgraded\), Width x[0-9]{1,2}(?! \(downgraded)\b)")),
    # the CUDA runtime in the words of its samples, and MPS
    ("fabric-manager", re.compile(r"(error code system not yet initialized)")),
    ("no-device", re.compile(r"(error code (?:no CUDA-capable device|invalid device).{0,30})")),
    ("driver-release", re.compile(r"(error code CUDA driver version is insufficient)")),
    (
        "fabric-manager",
        re.compile(r"((?:CUDA|Cuda|cuda).{0,40}the operation cannot be performed in the present state)"),
    ),
    ("mps", re.compile(r"(MPS (?:client failed to connect to|server is not ready).{0,60})")),
    # releases that do not fit one another
    ("library", re.compile(r"(newer than toolkit.{0,30})")),
    (
        "library",
        re.compile(r"(Loaded runtime CuDNN library: .{1,20} but source was compiled with.{0,20})"),
    ),  # openxla/xla
    ("library", re.compile(r"(ibv_exp_query_device: invalid comp_mask)")),
    ("library", re.compile(r"((?:ABI|API) (?:version )?mismatch(?!: the client).{0,80})")),
    (
        "library",
        re.compile(r"(compiled (?:with|against) .{1,40}\b(?:but|while) .{0,20}(?:running|found|loaded|linked).{0,40})"),
    ),
    # modules of the kernel, and memory of accelerators in perftest
    # drivers of accelerators
    (
        "driver-module",
        re.compile(
            r"(\b(?:amdgpu|amdkfd|nvidia(?:_uvm|_drm|_modeset)?|habanalabs|i915|xe): "
            r"(?:disagrees about version of symbol|Unknown symbol) \w{1,60})"
        ),
    ),
    (
        "module",
        re.compile(
            r"(\b(?!(?:amdgpu|amdkfd|nvidia(?:_uvm|_drm|_modeset)?|habanalabs|i915|xe):)\w{1,40}: "
            r"(?:disagrees about version of symbol|Unknown symbol) \w{1,60}"
            r"|could not insert (?:module )?\S{1,60}: .{1,60}|version magic '.{1,60})"
        ),
    ),
    (
        "peer-module",
        re.compile(
            r"((?:nv_peer_mem|nvidia[_-]peermem|gdrdrv)\b.{0,20}(?:version of symbol|nknown symbol|: Inv).{0,40})"
        ),
    ),
    (
        "gpu-buffer",
        re.compile(
            r"((?:allocated|DMA-BUF for) GPU buffer.{0,40}|Send Buffer on DEVICE.{0,20}Receive Buffer on DEVICE)"
        ),
    ),
    ("fabric-inactive", re.compile(r"(no (?:hfi|HFI) units are active.{0,20})")),  # PSM2
    ("hardware", re.compile(r"(NVRM: Xid .{1,200}caused by previous Xid (?:48|6[34]|7[49]|9[245]|119|1[2-5][0-9])\b)")),
    ("nic-fault", re.compile(r"(mlx5_core .{1,80}assert_(?:var|exit_ptr|callra)\b.{0,40})")),
    ("nic-fault", re.compile(r"(NETDEV WATCHDOG: .{1,60}transmit queue .{0,20}timed out)")),
    ("table-full", re.compile(r"(neighbor table overflow|nf_conntrack: .{0,20}table full.{0,20})")),
    (
        "cpu-stall",
        re.compile(
            r"(rcu\w{0,12} (?:self-)?detected stalls? on CPU.{0,20}|BUG: soft lockup - CPU#[0-9]{1,4} stuck.{0,30}"
            r"|Watchdog detected hard LOCKUP.{0,20})"
        ),
    ),
    ("task-blocked", re.compile(r"(task \S{1,60} blocked for more than [0-9]{1,6} seconds)")),
    # Horovod (`common/stall_inspector.cc`)
    ("stalled", re.compile(r"(submitted to be reduced, gathered or broadcasted by subset of ranks)")),
    # Slurm; a step gets what its job holds (DragonHPC/dragon issue 61, read on 2026-11-25)
    (
        "step-refused",
        re.compile(
            r"(Unable to create step for job [0-9]{1,12}: (?:Requested node configuration|More processors requested"
            r"|Memory required by task|Invalid generic resource|Requested nodes? (?:is|are) not).{0,60})"
        ),
    ),
    (
        "submission-refused",
        re.compile(
            r"(\bsbatch: error: (?:Parameter .{1,80}|Failed to validate job spec.{0,80}|Invalid \w.{1,60}specification"
            r"|Batch job submission failed: (?:Requested node configuration"
            r"|Invalid|Memory specification|CPU count|More processors|Requested time).{0,80}))"
        ),
    ),
    # what OpenPBS, Torque and a site's own filter of submissions refuse (openpbs 0a1ad891, adaptivecomputing/torque
    # 029d81fe, `pbs_error_db.h`; SchedMD/slurm 822e5a58, `src/sbatch/opt.c`)
    (
        "queue-refused",
        re.compile(
            r"(\bqsub: (?:submit error \()?(?:Job (?:exceeds queue|violates queue|rejected by all possible"
            r"|exceeds server)|Illegal (?:attribute|value)|Unknown (?:queue|resource|node)|Undefined attribute"
            r"|Resource (?:limit exceeds|invalid)|Queue does not allow|Mutually exclusive|Cannot have"
            r"|submit filter returned an error).{0,120})"
        ),
    ),
    (
        "queue-refused",
        re.compile(r"(\b(?:cli_filter|job_submit) plugin (?:terminated with|returned an?) error.{0,9})"),
    ),
    ("unplaced", re.compile(r"(Requested node configuration is not available|Invalid generic resource .{1,40})")),
    # Kubernetes
    (
        "unplaced",
        re.compile(
            r"(FailedScheduling(?!.{0,80}AssumePod failed).{0,160}|[0-9]{1,5}/[0-9]{1,5} nodes are available: .{1,120})"
        ),
    ),
)
"""Names of statements and the patterns of their lines."""
