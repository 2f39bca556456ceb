"""Errors of the CUDA and HIP runtimes and of verbs, by the texts and the names that every program prints of them.

Sources: `cudaGetErrorString` of CUDA 12.9 (`driver_types.h`), `hipGetErrorString` of ROCm 6.4, `enum ibv_wc_status` and
`ibv_wc_status_str` of linux-rdma/rdma-core (`libibverbs/verbs.h`, `libibverbs/verbs.c`), the names of these in UCX
(`src/uct/ib/mlx5/ib_mlx5_log.c`).
"""

from __future__ import annotations

import re

RUNTIME_TEXTS = {
    "driver-release": (
        "CUDA driver is a stub library",
        "API call is not supported in the installed CUDA driver",
        "a PTX JIT compilation failed",
        "PTX JIT compiler library not found",
        "integrity checks failed",
    ),
    "shared-accelerator": ("exclusive-thread device already in use by a different thread",),
    "mps": (
        "the remote procedural call between the MPS server",
        "the hardware resources required to create MPS client",
        "the hardware resources required to support device connections",
        "the hardware resources required to support MPS connections",
    ),
    "library": ("shared object initialization failed", "shared object symbol not found"),
    "no-device": ("invalid device ordinal", "no CUDA-capable device is detected", "no ROCm-capable device is detected"),
    "init-error": ("initialization error",),
    "no-kernel": ("invalid device function", "named symbol not found"),
    # MIC-DKFZ/nnUNet pull request 3020
    "kernel-image": ("device kernel image is invalid",),
    "kernel-fault": (
        "misaligned address",
        "invalid program counter",
        "an illegal instruction",
        "the launch timed out and was terminated",
        "operation not supported on global",
    ),
    "hardware": (
        "hardware stack error",
        "Invalid access of peer GPU memory over nvlink",
        "Memory page fault or contained error",
    ),
    "fabric-manager": ("external device is not ready",),
    "unknown-error": ("unknown error",),
    "misuse": (
        "invalid resource handle",
        "invalid device pointer",
        "context is destroyed",
        "operation not permitted when stream is capturing",
        "operation failed due to a previous error during capture",
        "dependency created on uncaptured work in another stream",
        "part or all of the requested memory range is already mapped",
        "resource already mapped",
        "cannot set while device is active in this process",
        "a kernel launch error has occurred due to cluster misconfiguration",
        "too many resources requested for launch",
        "too many blocks in cooperative launch",
    ),
    "os-call": ("OS call failed or operation not supported on this OS",),
    "ended": ("driver shutting down",),
}
"""Texts of errors by the statement that each makes."""
COMPLETIONS = {
    "protection": (r"IBV_WC_LOC_PROT_ERR", r"\b[Ll]ocal protection\b"),
    "unreachable": (r"IBV_WC_RETRY_EXC_ERR", r"(?<!RNR )\b[Tt]ransport [Rr]etry (?:count(?:er)?|exceeded)"),
    "not-ready": (r"IBV_WC_RNR_RETRY_EXC_ERR", r"\bRNR retry (?:count(?:er)? )?exceeded"),
    "remote-access": (
        r"IBV_WC_REM_(?:ACCESS|OP)_ERR",
        r"\b[Rr]emote (?:access|operation)(?: error)? (?:on mlx|\()",
        r"\b[Rr]emote (?:access|operation) error\b",
    ),
    "nic-fault": (r"IBV_WC_FATAL_ERR",),
    "invalid-request": (
        r"IBV_WC_(?:LOC_LEN|REM_INV_REQ)_ERR",  # NVIDIA/nccl pull request 2135: nodes of different MTU
        r"\b[Ll]ocal length\b(?: error| on mlx)",
        r"\b[Rr]emote invalid request\b",
    ),
    "cm-address": (r"RDMA_CM_EVENT_ADDR_ERROR", r"Received [0-9]{1,3} times ADDR_ERROR"),
    "cm-refused": (r"RDMA_CM_EVENT_(?:ROUTE_ERROR|UNREACHABLE|CONNECT_ERROR|REJECTED)",),
    "flushed": (r"IBV_WC_WR_FLUSH_ERR", r"Work Request Flushed Error"),
}
"""Statuses of requests, and events of connections, by the statement that each makes: their names, then their texts."""
_RUNTIME = (
    r"(?:Triton Error \[(?:CUDA|HIP)\]: |(?:CUDA|Cuda|cuda|HIP|Hip|hip)[\w ]{0,12} (?:[Ff]ailure|[Ee]rror)\b).{0,40}?"
)
STATUS_PATTERNS = (
    ("unknown-error", re.compile(r"(CUDA unknown error)")),  # PyTorch, of cudaErrorUnknown
    *(
        (statement, re.compile(rf"({_RUNTIME}(?:{'|'.join(map(re.escape, texts))}).{{0,20}})"))
        for statement, texts in RUNTIME_TEXTS.items()
    ),
    *((statement, re.compile(rf"((?:{'|'.join(words)}).{{0,60}})")) for statement, words in COMPLETIONS.items()),
)
"""Names of statements and the patterns of their lines."""
