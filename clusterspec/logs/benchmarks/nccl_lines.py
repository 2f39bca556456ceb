"""Statements of `NCCL_DEBUG=INFO` lines about transports, plugins, GPUDirect, algorithms and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

NCCL_PATTERNS = (
    ("version", re.compile(r"(?:NCCL|RCCL) version\s*+:?\s*+([0-9][0-9A-Za-z.+:_-]{2,40})")),
    ("socket", re.compile(r"NET/Socket\s*:\s*Using\s+(.{1,200})")),
    ("socket", re.compile(r"\bvia NET/Socket/([0-9]+)")),
    ("socket", re.compile(r"Using (?:internal )?[Nn]etwork (Socket)\b")),
    ("hcas", re.compile(r"NET/IB\s*:\s*Using\s+(.{1,2000})")),
    ("no-ib", re.compile(r"NET/IB\s*:\s*(No device found)")),
    ("ofi", re.compile(r"NET/OFI (?:Selected|selected|Using) (?:provider|Provider)\S*\s+(?:is )?(.{1,100})")),
    ("shared-identity", re.compile(r"(NCCL_HOSTID set by environment to .{1,60})")),
    ("provider", re.compile(r"(libfabric:[0-9]{1,9}:[0-9]{1,12}:.{0,20}:efa:)")),
    ("network", re.compile(r"Using network (\S{2,40})")),
    (
        "no-plugin",
        re.compile(r"NET/Plugin\s*:\s*((?:No plugin found|Could not find|Failed to find|Plugin load).{0,80})"),
    ),
    ("no-plugin", re.compile(r"NET/OFI ?:? ?(Could(?: not|n't) find any optimal provider)")),
    ("port-error", re.compile(r"Got async (?:error )?event ?: ?(port error)")),
    ("gdr", re.compile(r"via NET/\S{1,30}?(/GDRDMA)")),
    (
        "no-gdr",
        re.compile(
            r"via (NET/(?:IB|IBext\S{0,6}|OFI|AWS Libfabric|Libfabric|FasTrak|GPUDirectTCPX\S*)/[0-9]+)"
            r"(?:\([0-9]{1,7}\))?(?:\s|$)"  # the rank in parentheses whose proxy sends, before GDRDMA if it is used
        ),
    ),
    ("gdr", re.compile(r"GPU Direct RDMA (Enabled) for (?:HCA|GPU)")),
    ("no-gdr", re.compile(r"GPU Direct RDMA (Disabled) for (?:HCA|GPU)")),
    ("far-nic", re.compile(r"GPU Direct RDMA Disabled for .{1,80}\(distance ([0-9]+) > ([0-9]+)\)")),
    ("numa-balancing", re.compile(r"(NUMA auto balancing enabled)")),
    ("fine-grain", re.compile(r"Missing \"(HSA_FORCE_FINE_GRAIN_PCIE=1)\"")),
    ("iommu", re.compile(r"Missing \"(iommu=pt)\"")),
    ("amd-host", re.compile(r"\bCPU/[0-9A-Fa-f-]{1,20} \((1/2)/-?[0-9]+\)")),
    ("numa-node", re.compile(r"(?:INFO|-) CPU/([0-9A-Fa-f]{1,8}(?:-[0-9A-Fa-f]{1,8})?)\b")),
    ("slow-pcie", re.compile(r"\+ PCI\[(0\.[0-9]{1,4})\] - PCI/")),
    ("other-socket", re.compile(r"crossNic .{0,80}? type \S{2,4}/(SYS)\b")),
    ("host-bridge", re.compile(r"crossNic .{0,80}? type \S{2,4}/(PHB)\b")),
    ("channels", re.compile(r"\b([0-9]{1,4}) coll channels\b")),
    ("nvls", re.compile(r"(?<![0-9])([0-9]+) nvls channels")),
    ("no-nvls", re.compile(r"NVLS multicast support is (not available)")),
    ("group", re.compile(r"\bn[rR]anks ([0-9]+) .{0,200}?nNodes ([0-9]+)")),
    ("group-of-node", re.compile(r"\bnNodes ([0-9]+) localRanks ([0-9]+)")),
    ("acs-on", re.compile(r"(ACSCtl:\s*SrcValid[+-] (?=.{0,80}?(?:ReqRedir|CmpltRedir)\+).{1,120})")),
    ("p2p-direct", re.compile(r"via (P2P/(?:direct pointer|IPC|CUMEM|indirect)\S{0,40})")),
    ("unreachable", re.compile(r"(ibv_modify_qp failed with .{1,60})")),
    (
        "unreachable",
        re.compile(
            r"([Cc]onnect (?:to .{1,80} )?(?:failed : |timeout : |returned )(?:[0-9]{1,3}\()?"
            r"(?:No route to host|Network is unreachable|Connection (?:refused|timed out)))"
        ),
    ),
    ("unreachable", re.compile(r"(Socket creation failed : (?!Too many open files|Address family).{1,60})")),
    ("open-files", re.compile(r"(?:[NR]CCL|CCOM WARN)\b.{0,200}(Too many open files)")),
    # cudaErrorInsufficientDriver, cudaErrorCompatNotSupportedOnDevice and cudaErrorUnsupportedPtxVersion
    ("driver-release", re.compile(r"(CUDA driver version is insufficient for CUDA runtime version)")),
    ("driver-release", re.compile(r"(forward compatibility was attempted on non supported HW)")),
    ("driver-release", re.compile(r"(the provided PTX was compiled with an unsupported toolchain)")),
    # cudaErrorInvalidDevice and cudaErrorNoDevice, and as HIP words them
    ("no-device", re.compile(r"(invalid device ordinal|no (?:CUDA|ROCm)-capable device is detected)")),
    ("out-of-memory", re.compile(r"((?:Cuda|CUDA|HIP) failure (?:[0-9]{1,4} )?.out of memory)")),
    ("hardware", re.compile(r"(uncorrectable (?:ECC|NVLink) error.{0,40})")),
    ("peer-limit", re.compile(r"(peer mapping resources exhausted)")),  # cudaErrorTooManyPeers
    # ibv_wc_status of rdma-core (libibverbs/verbs.h): 12 retries exceeded, 4 local protection error
    (
        "unreachable",
        re.compile(
            r"(Got completion (?:from peer .{1,80} )?(?:with )?"
            r"(?:error |status=)(?:IBV_WC_[A-Z_]{1,24}\()?12\b.{0,40})"
        ),
    ),
    (
        "protection",
        re.compile(
            r"(Got completion (?:from peer .{1,80} )?(?:with )?"
            r"(?:error |status=)(?:IBV_WC_[A-Z_]{1,24}\()?4\b.{0,40})"
        ),
    ),
    ("network-error", re.compile(r"(remote process exited or there was a network error)")),
    ("registration", re.compile(r"(NET/OFI Unable to register memory .{0,120})")),
    ("registration", re.compile(r"(NET/OFI Couldn't set FI_OPT_\w{1,80})")),
    ("registration", re.compile(r"NET/Plugin.{1,200}?((?:undefined symbol|version `).{1,80})")),
    ("shared-memory", re.compile(r"((?:posix_fallocate|shm_open) failed ?: .{1,60})")),
    ("shared-memory", re.compile(r"(failed to extend /dev/shm/.{1,100})")),
    ("shared-memory", re.compile(r"(Error while (?:creating|attaching to) shared memory segment .{1,80})")),
    (
        "bus-error",
        re.compile(r"(Signal: Bus error|received signal SIGBUS|signal: Bus error|Bus error \(core dumped\))"),
    ),
    ("no-region", re.compile(r"(\bmem(?:ory)? registration failed\b.{0,40})")),  # NVSHMEM, ibgda.cpp
    ("no-region", re.compile(r"(ibv_reg_(?:mr\w{0,8}|dmabuf_mr) failed(?! with error \w{2,20} \w).{0,60})")),
    ("locked-memory", re.compile(r"(ibv_create_(?:cq|qp) failed(?! with error \w{2,20} \w).{0,60})")),
    ("family", re.compile(r"(address .{0,80}with family [0-9]{1,8} is neither AF_INET.{0,40})")),
    ("family", re.compile(r"(Message truncated : received [0-9]{1,12} bytes instead of [0-9]{1,12})")),
    ("fabric-manager", re.compile(r"(nvls\.cc:[0-9]{1,5} NCCL WARN Cuda failure .{0,60})")),
    ("fabric-manager", re.compile(r"(failure .{0,60}system not yet initialized)")),
    ("fabric-manager", re.compile(r"(Failed to bind NVLink SHARP \(NVLS\) Multicast memory)")),
    ("shared-accelerator", re.compile(r"(Duplicate GPU detected ?: .{1,80})")),
    ("shared-accelerator", re.compile(r"(rank [0-9]{1,7} of [0-9]{1,7} ranks has already checked in)")),
    ("peer-refused", re.compile(r"(failed to open CUDA IPC handle ?: .{1,80})")),
    ("peer-refused", re.compile(r"(peer access is not supported.{0,40})")),
    ("interface", re.compile(r"(?:Bootstrap|NET/Socket|NET) ?: Using (?:interface )?(?:\[[0-9]+\])?([\w.@-]{1,40}):")),
    ("gloo", re.compile(r"(Gloo connectFullMesh failed.{0,120})")),
    ("no-interface", re.compile(r"([Nn]o (?:socket |IP )?interface found.{0,60})")),
    (
        "local-interface",
        re.compile(r"Using (?:interface )?(?:\[[0-9]\])?((?:lo|docker[0-9]{1,3}|virbr[0-9]{1,3}):\S{1,60})"),
    ),
    ("local-interface", re.compile(r"(?:Using interface |Socket ?: Using .{0,200}?)(\S{1,40}:fe80::\S{1,60})")),
    ("p2p-host", re.compile(r"via (SHM/\S{1,40})")),
    ("p2p-disabled", re.compile(r"(P2P is disabled between connected GPUs [0-9]{1,6} and [0-9]{1,6})")),
    ("environment", re.compile(r"\b((?:NCCL|RCCL|FI)_[A-Z0-9_]{2,40}) set by environment to (\S{1,80}?)\.?(?:\s|$)")),
    ("environment", re.compile(r"'((?:NCCL|RCCL)_[A-Z0-9_]{2,40})=([^'\n]{1,80})'")),
    ("environment", re.compile(r"\b((?:NCCL|RCCL)_[A-Z0-9_]{2,40})=['\"]([^'\"\n]{1,80})['\"]")),
    ("environment", re.compile(r"(?<!')\b((?:NCCL|RCCL)_[A-Z0-9_]{2,40})=(?!['\"])(\S{1,80})")),
    ("environment", re.compile(r"\b(FI_[A-Z0-9_]{2,40})=(\S{1,80})")),
    ("environment", re.compile(r"\b(CUDA_LAUNCH_BLOCKING)['\"]?[=:] ?['\"]?(1)\b")),
)
"""Names of statements and the patterns of their lines."""
_OF_A_LIBRARY = r"\S{1,80}:[0-9]{1,9}:[0-9]{1,9} \[[0-9]{1,3}\] (?:NCCL|RCCL) INFO "
_ROW_CUT = re.compile(
    r"(\s{0,20}[0-9]{1,18}\s{1,20}[0-9]{1,18}\s{1,12}\w{1,12}\s{1,12}\w{1,12}\s{1,12}(?:-1|[0-9]))" + _OF_A_LIBRARY
)
"""The begin of a row, after which a line of the library follows: nccl-tests print a row in three parts."""
_REST = re.compile(
    r"(\s{0,20}[0-9]{1,12}(?:\.[0-9]{1,4})?(?:\s{1,12}[0-9]{1,9}\.[0-9]{1,4}){2}\s{1,12}(?:N/A|[0-9]))"
    rf"(?:[0-9]{{0,14}}\s{{0,8}}$|{_OF_A_LIBRARY})"
)
"""Time, bandwidths and wrong values of one of the two halves of such a row."""


def lines_with_whole_rows(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a log without lines of the library, each with its number. If the library printed within a row
    (NCCL_DEBUG_SUBSYS=COLL or TUNING), the parts of the row form one line.

    >>> told = "h:1:1 [0] NCCL INFO AllReduce: 8 Bytes\\n"
    >>> list(lines_with_whole_rows(f"8 2 float sum -1{told}  5.0  0.00  0.00  0{told} 4.0  0.00  0.00  0"))
    [(1, '8 2 float sum -1  5.0  0.00  0.00  0 4.0  0.00  0.00  0')]
    """
    row, at, parts = "", 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        told = "CCL INFO " in line
        rest = _REST.match(line) if row else None
        if rest:
            row, parts = row + rest[1], parts + 1
        elif not told or _ROW_CUT.match(line):
            if parts:
                yield at, row
            row, parts = "", 0
        if begin := _ROW_CUT.match(line) if told and not rest else None:
            row, at = begin[1], number
        if parts == BOTH:
            yield at, row
            row, parts = "", 0
        if not told and not rest:
            yield number, line
    if parts:
        yield at, row


BOTH = 2
"""Halves of a row: results in another buffer than the data, and in place."""
