"""Changes that people try on a run that fails, by the words in which they report them.

The names of variables and options are those of NCCL (its page of environment variables), Gloo, PyTorch, UCX,
Open MPI, Docker, Kubernetes, Slurm and Linux (`kernel-parameters.txt`).
"""

from __future__ import annotations

_OFF = r"(?:disabl(?:e[ds]?|ing)|turn(?:ed|ing)? off|switch(?:ed|ing)? off)"
_ON = r"(?:enabl(?:e[ds]?|ing)|turn(?:ed|ing)? on|load(?:ed|ing)?|start(?:ed|ing)?|modprobe|install(?:ed|ing)?)"
_OTHER = (
    r"(?:(?:up|down)grad(?:e[ds]?|ing)|updat(?:e[ds]?|ing)|re-?install(?:ed|ing)?|install(?:ed|ing)?|revert(?:ed|ing)?"
    r"|roll(?:ed|ing)? back|switch(?:ed|ing)?|mov(?:ed|ing)|chang(?:ed|ing)|go(?:ing)? back|went back"
    r"|bump(?:ed|ing)?|rebuil[dt]|rebuilding|pinn?(?:ed|ing)?)"
)
"""Verbs of another release."""
_AT = r"(?:with|using|us(?:e|ed)|on|under|in|run(?:ning)?)"
"""Words before a release that is named by its number."""
_THE = r"(?: (?:the|to|from|my|our|all|a|an|its|both|latest|new(?:er|est)?|older|NVIDIA|GPU|CUDA|system|version)){0,4}"
_GROWN = r"(?:increas(?:e[ds]?|ing)|rais(?:e[ds]?|ing)|longer|larger|bigger|higher|extend(?:ed|ing)?|set(?:ting)?)"
_SHRUNK = r"(?:reduc(?:e[ds]?|ing)|decreas(?:e[ds]?|ing)|lower(?:ed|ing)?|smaller|fewer|halv(?:e[ds]?|ing))"
_NEW_PART = r"\b(?:replac|exchang|swapp?|reseat|RMA|repair)(?:e[ds]?|ed|ing|'d|ment of)?"
_LEFT_OUT = r"\b(?:exclud|remov|drop|dropp|drain|cordon|avoid|skip|skipp|tak|took)(?:e[ds]?|ed|ing|s)?"
DRIVER_NUMBER = r"\b(?:4[0-9]{2}|5[0-9]{2}|6[0-9]{2})\.[0-9]{2,3}(?:\.[0-9]{2})?\b"
"""A release of NVIDIA's driver, as `nvidia-smi` prints it."""
CHANGES: tuple[tuple[str, str], ...] = (
    # transports and features of the collective library
    (
        "no-peer-access",
        r"NCCL_P2P_DISABLE\b(?! ?= ?[\"']?0)|NCCL_P2P_LEVEL ?= ?[\"']?(?:NVL|LOC|PIX|PXB|0|1|2)\b"
        rf"|{_OFF} (?:the )?(?:P2P|peer[- ]to[- ]peer|(?:GPU )?peer access)\b|\bP2P (?:is |was )?(?:disabled|off)\b"
        r"|--disable-custom-all-reduce",
    ),
    ("no-shared-memory", r"NCCL_SHM_DISABLE\b(?! ?= ?[\"']?0)"),
    (
        "no-rdma",
        r"NCCL_IB_DISABLE\b(?! ?= ?[\"']?0)|NCCL_NET ?= ?[\"']?Socket"
        rf"|{_OFF} (?:the )?(?:IB|InfiniBand|RDMA|RoCE)\b",
    ),
    (
        "no-gpudirect",
        r"NCCL_NET_GDR_LEVEL ?= ?[\"']?(?:0|LOC|PIX)\b|NCCL_NET_GDR_READ ?= ?[\"']?0|NCCL_IB_CUDA_SUPPORT ?= ?[\"']?0"
        rf"|{_OFF} (?:the )?(?:GDR(?:DMA)?|GPU ?Direct(?: RDMA)?)\b|NCCL_DMABUF_ENABLE ?= ?[\"']?0",
    ),
    ("no-multicast", rf"NCCL_NVLS_ENABLE ?= ?[\"']?0|{_OFF} (?:the )?(?:NVLS|NVLink SHARP|multicast)\b"),
    ("no-virtual-memory", r"NCCL_CUMEM(?:_HOST)?_ENABLE ?= ?[\"']?0"),
    ("algorithm", r"NCCL_(?:ALGO|PROTO) ?=|NCCL_LL_THRESHOLD|NCCL_LL128_\w{3,20}|NCCL_PXN_DISABLE|NCCL_LAUNCH_MODE"),
    ("queue-pairs", r"NCCL_IB_(?:QPS_PER_CONNECTION|SPLIT_DATA_ON_QPS|ADAPTIVE_ROUTING)|\badaptive routing\b"),
    ("channels", r"NCCL_(?:MIN|MAX)_(?:NCHANNELS|CTAS)|NCCL_NCHANNELS_PER_NET_PEER"),
    ("topology-file", r"NCCL_TOPO_FILE"),
    (
        "interface",
        r"(?:NCCL|GLOO|TP|NVSHMEM_BOOTSTRAP_UID)_SOCKET_IFNAME|NCCL_OOB_NET_IFNAME|(?:btl|oob)_tcp_if_(?:in|ex)clude"
        r"|\bnetwork[- ]interface\b|VLLM_HOST_IP",
    ),
    ("nic-list", r"NCCL_IB_HCA|UCX_NET_DEVICES|NVSHMEM_HCA_\w{3,20}|NCCL_CROSS_NIC"),
    ("gid", r"(?:NCCL|UCX|NVSHMEM)_IB_GID_INDEX|NCCL_IB_ROCE_VERSION_NUM|\bGID index\b|MC_GID_INDEX"),
    # network and host
    ("mtu", r"\bMTU\b"),
    ("flow-control", r"NCCL_IB_(?:TC|SL)\b|\b(?:traffic class|PFC|ECN|DCQCN|flow control|pause frames?)\b"),
    (
        "firewall",
        r"\b(?:firewall\w{0,3}|ufw|iptables|nftables|security groups?|NetworkPolic(?:y|ies))\b|防火墙"
        r"|\bopen(?:ed|ing)? (?:up )?(?:the |all )?ports?\b",
    ),
    (
        "iommu",
        r"\b(?:amd_|intel_)?iommu ?= ?(?:off|pt|soft)\b"
        rf"|{_OFF} (?:the )?(?:IOMMU|VT-?d|AMD-Vi|virtualization)\b|\b(?:IOMMU|VT-?d) (?:is |was "
        rf"|had been )?(?:disabled|off)\b",
    ),
    (
        "acs",
        rf"{_OFF} (?:the )?(?:PCIe? )?(?:ACS|access control services?)\b|\bACS (?:is |was )?(?:disabled|off)\b"
        r"|\bsetpci\b|\bACSCtl\b",
    ),
    ("numa", r"\bnuma_balancing\b|\bNUMA balancing\b|\bNPS ?=? ?[124]\b"),
    ("binding", r"--bind-to\b|\bnumactl\b|--cpu-bind\b|\bCPU (?:affinity|binding|pinning)\b|--cpus-per-task\b"),
    (
        "peer-memory",
        rf"{_ON} (?:the )?(?:nvidia[-_]peermem|nv_peer_mem\w{{0,3}})\b"
        r"|\bnv(?:idia[-_]peermem|_peer_mem\w{0,3}) (?:module |is |was |had been ){0,3}(?:loaded|installed)\b",
    ),
    ("unified-memory", r"modprobe (?:-r )?nvidia[-_]uvm|nvidia-modprobe\b|\bload(?:ed|ing)? (?:the )?nvidia[-_]uvm\b"),
    (
        "fabric-manager",
        r"(?:\bstart|install|enabl|restart|updat|upgrad|downgrad)\w{0,4} (?:\w{1,12} ){0,3}"
        r"(?:nvidia-)?(?:fabric ?-?manager|imex)\b",
    ),
    ("power", r"\bpower (?:limit|cap)\b|\block(?:ed|ing)? (?:the )?(?:GPU )?clocks?\b|\bpersistence mode\b"),
    # containers
    ("host-ipc", r"--ipc[ =]host|\bhostIPC\b"),
    ("shared-memory-size", r"--?shm[-_]size|\bshm[-_ ]size\b|/dev/shm\b|\bemptyDir\b|\bshared memory (?:size|limit)\b"),
    ("locked-memory", r"\bmemlock\b|ulimit -l\b|\bIPC_LOCK\b|\bMEMLOCK\b"),
    ("open-files", r"ulimit -n\b|\bnofile\b|LimitNOFILE"),
    ("privileged", r"--privileged|\bprivileged(?: mode| container|: true)|\bSYS_(?:PTRACE|NICE|ADMIN)\b|\bseccomp\b"),
    ("host-network", r"--net(?:work)?[ =]host|\bhostNetwork\b|\bhost network\b"),
    # releases
    (
        "driver",
        rf"\b{_OTHER}{_THE} (?:nvidia[- ])?drivers?\b|\b(?:nvidia )?drivers? (?:version )?(?:to |from |is "
        rf"|was )?(?:{DRIVER_NUMBER}"
        rf"|[456][0-9]{{2}}\b)|\b{_OTHER}{_THE} {DRIVER_NUMBER}|\bnokaslr\b|\bdisable_hmm\b",
    ),
    ("nccl-release", rf"\b{_OTHER}{_THE} NCCL\b(?! ?_)|\bNCCL[ -]?(?:version )?v?2\.[0-9]{{1,2}}(?:\.[0-9]{{1,2}})?\b"),
    ("kernel", rf"\b{_OTHER}{_THE} (?:Linux )?kernel\b|\bkernel (?:version )?[3-6]\.[0-9]{{1,2}}\b"),
    (
        "library",
        rf"\b{_OTHER}{_THE} (?:PyTorch|torch|torchvision|transformers|accelerate|deepspeed|Megatron\S{{0,20}}|NeMo"
        r"|flash[-_ ]?attn|flash-attention|apex|transformer[-_ ]engine|triton|xformers|horovod|openmpi|open mpi|HPC-?X"
        r"|UCX|libfabric|aws-ofi-nccl|cuDNN|CUDA|CUDA toolkit|Python|conda env\w{0,8}|environment|image|container image"
        r"|packages?|MOFED|MLNX_OFED|OFED)\b"
        rf"|\b{_AT} (?:the )?(?:PyTorch|torch|transformers|accelerate|deepspeed|CUDA|Python|UCX|libfabric|Open ?MPI)"
        r"[ =-]{1,2}(?:version )?v?[0-9]|\bunset(?:ting)? LD_(?:LIBRARY_PATH|PRELOAD)\b",
    ),
    ("firmware", rf"\b{_OTHER}{_THE} (?:BIOS|firmware|SBIOS|VBIOS)\b"),
    # program and launch
    ("no-workers", r"\bnum_workers ?[=:]? ?(?:to )?0\b|--num[-_]workers[ =]0\b|\bpin_memory ?= ?False\b"),
    ("timeout", rf"{_GROWN}.{{0,40}}\btime-?outs?\b|distributed-timeout-minutes|\bddp_timeout\b|NCCL_TIMEOUT"),
    ("batch", rf"{_SHRUNK} (?:\w{{1,12}} ){{0,3}}(?:batch|micro|sequence|context|max_(?:model_len|seq))"),
    ("unused", r"\bfind_unused_parameters ?= ?True\b|\bfind_unused_parameters\b"),
    ("expandable", r"\bexpandable_segments\b"),
    (
        "device-choice",
        r"torch\.cuda\.set_device|--gpus?-bind\b|--gpus-per-task\b|\bLOCAL_RANK\b|\bset_device\b",
    ),
    ("host-name", r"/etc/hosts\b|\bhostname resolution\b|\bDNS\b|\bMASTER_ADDR\b.{0,40}\bIP\b|--local[-_]addr\b"),
    (
        "drop-last",
        r"\bdrop_last ?= ?True\b|\bdrop_last\b|\bsame (?:number|amount) of (?:batches|samples|steps)\b|\bJoin\b",
    ),
    ("shared-files", r"\bshared (?:file ?system|storage|disk|path)\b|\bNFS\b"),
    # parts
    ("exchanged-accelerator", rf"{_NEW_PART} (?:\w{{1,12}} ){{0,4}}?(?:GPUs?|cards?|accelerators?|nodes?|boards?)\b"),
    (
        "exchanged-cable",
        rf"{_NEW_PART} (?:\w{{1,12}} ){{0,4}}?(?:cables?|transceivers?|optics?|DACs?|fib(?:er|re)s?)\b",
    ),
    ("exchanged-nic", rf"{_NEW_PART} (?:\w{{1,12}} ){{0,4}}?(?:NICs?|HCAs?|adapters?)\b"),
    ("excluded-accelerator", rf"{_LEFT_OUT} (?:\w{{1,12}} ){{0,4}}?(?:GPU|card|accelerator)s?\b(?! ?=)"),
    ("excluded-node", rf"{_LEFT_OUT} (?:\w{{1,12}} ){{0,4}}?(?:node|host|machine|server)s?\b(?! ?=)"),
    ("excluded-nic", rf"{_LEFT_OUT} (?:\w{{1,12}} ){{0,4}}?(?:NIC|HCA|adapter|port|mlx5_[0-9]{{1,2}})s?\b(?! ?=)"),
    (
        "restart",
        r"\b(?:reboot|power[- ]?cycl|restart)(?:ed|ing|e[ds]?)?\b(?! (?:the )?(?:docker|container|training|job))",
    ),
    ("one-node", r"\b(?:single|one|1)[- ](?:node|machine|server|host)\b|\bwithin (?:a|one) node\b|\bintra-?node\b"),
)
"""Names of changes and the words that report one; letters of both cases are alike."""
RELEASES = frozenset({"driver", "nccl-release", "kernel", "library", "firmware", "restart"})
"""Changes after which a run that worked may fail."""
