"""The part of a library or of the kernel that reports an error: what its errors are about, whatever their words.

Libraries print the source file of a warning, and the kernel the driver. Of a warning that no known line states, the
part tells at least the subject. Sources, by commit: NVIDIA/nccl 5067397c, ROCm/rccl 0cbce2a7, aws/aws-ofi-nccl
2daf7d30, NVIDIA/nvshmem 2d7d25f, openucx/ucx 9466d104, pytorch/gloo, vllm-project/vllm.
"""

from __future__ import annotations

import re

PARTS = (
    # NCCL and RCCL (`src`)
    (("wrong-topology",), r"graph/(?:xml|topo|paths|rome_models)"),
    # the plan follows settings too, such as NCCL_HOSTID. Thread: NVIDIA/nccl issue 879
    (("wrong-topology", "invalid-setting"), r"graph/(?:search|connect|rings|trees)"),
    (("shared-memory",), r"(?:misc/shmutils|transport/shm)"),
    (("driver-release",), r"(?:cuda|nvml|rocm|rocm_smi_|archinfo_?|amdsmi_)wrap"),
    (("fabric-manager",), r"transport/(?:nvls|multicast)|mnnvl"),
    (("peer-access-off", "shared-memory"), r"transport/p2p|ipcsocket"),
    (("gpudirect-refused",), r"gdrwrap|gdr_copy|cuda_copy|rocm_copy"),
    (("nic-fault", "wrong-interface"), r"(?:net_ib|ib_plugin|ibvwrap|mlx5dvwrap|ibv\w{0,8}wrap)"),
    (("unreachable-peer", "wrong-interface"), r"misc/socket|net_socket|bootstrap|gloo/transport"),
    (("peer-ended",), r"\bproxy|\bras/|shm_broadcast"),
    (("plugin-mismatch",), r"\bplugin/|nccl_ofi_|nccl_net_ofi|platform-aws"),
    (("invalid-setting",), r"misc/(?:param|argcheck)"),
    (("memory-full",), r"allocator|mem_manager|\balloc\b|mem_heap"),
    # UCX (`src/uct`), NVSHMEM (`src/modules/transport`), vLLM
    (("shared-memory",), r"\b(?:mm|posix|sysv|xpmem|cma|knem)_\w{1,24}"),
    (("peer-access-off",), r"\b(?:cuda_ipc|rocm_ipc|custom_all_reduce)"),
    (("unreachable-peer", "nic-fault"), r"\b(?:ib|rc|ud|dc|gga)_\w{1,32}|\b(?:ibrc|ibgda|ibdevx)\b|transport_ib"),
    (("unreachable-peer",), r"\btcp_\w{1,32}|\bsock\b"),
    # XLA and TensorFlow (`stream_executor`, `service/gpu`): a handle that a library of the device does not give
    (("library-release", "memory-full"), r"\b(?:cuda|rocm|hip|miopen)_(?:dnn|blas|fft|solver)\w{0,12}$"),
    (("library-release",), r"(?:compiler/xla|external/xla/xla)/(?!.*(?:tsl/|distributed/))|\bxla_util$"),
)
"""Causes of a part of a library, the likelier first, and the file that reports it, without its extension."""
DRIVERS = (
    (
        ("nic-fault",),
        r"\b(?:mlx[45]_\w{2,8}|bnxt_\w{2,4}|irdma|ionic\w{0,8}|i40e|ice|efa|hns3|hns_roce\w{0,6}|qed[er]|erdma|hfi1)\b",
    ),
    (("accelerator-fault", "driver-release"), r"\bNVRM: |\bamdgpu\b|\bamdkfd\b|\bnvidia(?:-\w{1,12})? 0000:"),
    # intel/llvm, unified runtime and Level Zero: a status of its own that no known line explains
    (
        ("library-release", "driver-release"),
        r"\bUR error\b|\b(?:UR|ZE|PI)_(?:RESULT_)?ERROR_[A-Z_]{3,40}\b|\bNative API failed\b|\[ZE\]: 0x"
        r"|\blevel_zero backend failed\b",
    ),
    # linux-rdma/rdma-core, infiniband-diags: a port of another link layer, or a device that may not be opened
    (("wrong-interface", "container-permission"), r"\b(?:ibwarn|iberror|ibpanic): "),
    (("storage-fault",), r"\bnvme[0-9]|\bblk_update_request\b|\bbeegfs\b|\bGPFS\b"),
)
"""Causes of a driver of the kernel, and its name."""
_FILE = re.compile(r"(?<![\w./-])([\w./-]{1,200})\.(?:c|cc|cpp|cu|cuh|h|hpp|py):[0-9]{1,6}\b")
_PARTS = tuple((causes, re.compile(words)) for causes, words in PARTS)
_DRIVERS = tuple((causes, re.compile(words)) for causes, words in DRIVERS)


def causes_of_part(line: str) -> tuple[str, ...]:
    """The causes that the reporting part of a line of an error is about; none if it names no known part.

    >>> causes_of_part("n1:7:9 [0] graph/xml.h:101 NCCL WARN Attribute arch of node cpu not found")
    ('wrong-topology',)
    >>> causes_of_part("mlx5_core: probe of 0000:01:00.0 failed with error -22")
    ('nic-fault',)
    >>> causes_of_part("train.py:7 failed")
    ()
    """
    file = _FILE.search(line)
    if file is not None:
        for causes, words in _PARTS:
            if words.search(file[1]):
                return causes
    return next((causes for causes, words in _DRIVERS if words.search(line)), ())
