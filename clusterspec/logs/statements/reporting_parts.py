"""The part of a library or of the kernel that reports an error: what its errors are about, whatever their words.

Libraries print the source file of a warning, and the kernel the driver. If no known line matches a warning, the part
that prints it at least shows the subject. Sources, by commit: NVIDIA/nccl 5067397c, ROCm/rccl 0cbce2a7,
aws/aws-ofi-nccl 2daf7d30, NVIDIA/nvshmem 2d7d25f, openucx/ucx 9466d104, ofiwg/libfabric af8ddbe9 (`src/log.c`),
ai-dynamo/nixl 8770b655, kvcache-ai/Mooncake 3b5a5941, ROCm/rocm-systems 1b1610fc (`projects/clr`),
kubernetes-sigs/dra-driver-nvidia-gpu 95932046, NVIDIA/k8s-device-plugin 1b826acc, pytorch/gloo, pytorch/pytorch,
vllm-project/vllm.
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
    # NIXL (`src/core`, `src/plugins`)
    (("library-release", "invalid-setting"), r"\bnixl_plugin_manager$"),
    (("stopped-service", "unreachable-peer"), r"\bnixl_(?:etcd|tcpstore|p2p)_\w{1,24}$|\bnixl_md_manager$"),
    (("invalid-setting", "program-error"), r"\bnixl_agent$"),
    (("unreachable-peer", "library-release"), r"\bucx_(?:backend|utils)$"),
    (("wrong-interface", "unreachable-peer"), r"\blibfabric_(?:backend|rail\w{0,12}|topology|common)$"),
    (("storage-fault", "gpudirect-refused"), r"\bgds(?:_mt)?_(?:backend|utils)$"),
    (("storage-fault", "outside-server"), r"\b(?:posix|hf3fs|gusli|obj|azure_blob|infinia)_(?:backend|client|utils)$"),
    # Mooncake (`mooncake-transfer-engine/src`, `mooncake-store/src`)
    (("wrong-interface", "nic-fault"), r"\brdma_(?:context|endpoint|transport)$"),
    (("unreachable-peer",), r"\b(?:worker_pool|tcp_transport|transfer_task)$"),
    (("peer-access-off", "fabric-manager"), r"\b(?:intranode_|mnnvl_|hip_)?(?:nvlink|hip)_transport$"),
    (
        ("stopped-service", "unreachable-peer"),
        r"\b(?:transfer_metadata\w{0,12}|master_client|ha_helper|http_metadata\w{0,8})$",
    ),
    (("storage-fault",), r"\b(?:storage_backend|file_storage|posix_file|uring_file|threefs_file)$"),
    # the runtime of HIP
    (("unsupported-accelerator", "library-release"), r"\bhip_(?:code_object|fatbin|module|platform)$|\bcomgrctx$"),
    (("memory-full",), r"\bhip_(?:memory|mempool\w{0,8})$|\brocmemory$"),
    (("peer-access-off",), r"\bhip_peer$"),
    (("missing-accelerator", "driver-release"), r"\b(?:hip_device\w{0,10}|hip_context|rocdevice)$"),
    # PyTorch (`torch/csrc/distributed/c10d`, `c10/cuda`)
    (("unreachable-peer", "absent-ranks"), r"c10d/(?:socket|TCPStore\w{0,16}|ProcessGroupGloo)$"),
    (("peer-access-off", "fabric-manager"), r"\b(?:CUDASymmetricMemory\w{0,8}|intra_node_comm)$"),
    (("memory-full",), r"\b(?:CUDA|HIP)CachingAllocator$"),
    (("missing-accelerator", "driver-release"), r"\b(?:CUDA|HIP)(?:Functions|Context)$"),
    # device plugins and drivers of Kubernetes
    (("fabric-manager",), r"\b(?:imex|computedomain|cdclique|cdstatus|client_nvfm)$"),
    (("missing-accelerator", "invalid-setting"), r"\b(?:nvml_\w{1,10}|nvlib|device_map|mig_\w{1,12}|migmgr)$"),
    # XLA and TensorFlow (`stream_executor`, `service/gpu`): a handle that a library of the device does not give
    (("library-release", "memory-full"), r"\b(?:cuda|rocm|hip|miopen)_(?:dnn|blas|fft|solver)\w{0,12}$"),
    (("library-release",), r"(?:compiler/xla|external/xla/xla)/(?!.*(?:tsl/|distributed/))|\bxla_util$"),
)
"""Causes of a part of a library, the likelier first, and the file that reports it, without its extension."""
_PROVIDER = r"^libfabric:[0-9]{1,9}:[0-9]{1,12}:[^:\s]{0,60}:[^:\s]{1,40}:"
"""What libfabric prints before the subsystem of a message: its process, the time, a prefix and the provider."""
DRIVERS = (
    # libfabric, by the subsystem of its providers
    (("gpudirect-refused", "locked-memory"), rf"{_PROVIDER}mr:"),
    (("unreachable-peer", "wrong-interface"), rf"{_PROVIDER}av:"),
    (("unreachable-peer", "nic-limit"), rf"{_PROVIDER}ep_ctrl:"),
    (("unreachable-peer", "nic-fault"), rf"{_PROVIDER}(?:ep_data|cq|eq|cntr):"),
    (("wrong-interface", "library-release"), rf"{_PROVIDER}(?:core|fabric|domain):"),
    (
        ("nic-fault",),
        r"\b(?:mlx[45]_\w{2,8}|bnxt_\w{2,4}|irdma|ionic\w{0,8}|i40e|ice|efa|hns3|hns_roce\w{0,6}|qed[er]|erdma|hfi1)\b",
    ),
    (("accelerator-fault", "driver-release"), r"\bNVRM: |\bamdgpu\b|\bamdkfd\b|\bnvidia(?:-\w{1,12})? 0000:"),
    # drivers of Gaudi, Neuron and Intel's accelerators (Linux 6.1, drivers/misc/habanalabs; aws-neuron-dkms)
    (
        ("accelerator-fault", "driver-release"),
        r"\bhabanalabs\b|\bneuron[0-9]{0,2}: |\bneuron:\w|\b(?:xe|i915) 0000:|\bamdxdna\b",
    ),
    (("iommu-translation", "host-fault"), r"\bAMD-Vi: |\bDMAR: |\barm-smmu"),
    (("host-fault", "accelerator-fault"), r"\bpcieport 0000:|\bpciehp\b"),
    # intel/llvm, unified runtime and Level Zero: a status of its own that no known line explains
    (
        ("library-release", "driver-release"),
        r"\bUR error\b|\b(?:UR|ZE|PI)_(?:RESULT_)?ERROR_[A-Z_]{3,40}\b|\bNative API failed\b|\[ZE\]: 0x"
        r"|\blevel_zero backend failed\b",
    ),
    # linux-rdma/rdma-core, infiniband-diags: a port of another link layer, or a device that may not be opened
    (("wrong-interface", "container-permission"), r"\b(?:ibwarn|iberror|ibpanic): "),
    (
        ("storage-fault",),
        r"\bnvme[0-9]|\bblk_update_request\b|\bbeegfs\b|\bGPFS\b|\b(?:lib)?ceph: |\bNFS: |\bEXT4-fs\b|\bXFS \(",
    ),
)
"""Causes of a driver of the kernel, and its name."""
_FILE = re.compile(r"(?<![\w./-])([\w./-]{1,200})\.(?:c|cc|cpp|cu|cuh|go|h|hpp|py|rs):[0-9]{1,6}\b")
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
