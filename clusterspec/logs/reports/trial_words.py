"""Remedies that people try against a fault, by the words in which they report them: settings, options, services, parts.

Each name stands for one thing that was changed. `logs.reports.trials` finds these in sentences that report an outcome,
and `analysis.diagnosis.trial_causes` has the causes that an outcome supports or excludes.
"""

from __future__ import annotations

OFF = (
    r"(?i:disabl\w{1,4}|turn(?:ed|ing)? off|switch(?:ed|ing)? off|without|unset\w{0,4}|remov\w{1,3}"
    r"|delet\w{1,3}|\bno\b)"
)
"""Words before a thing that was taken away."""
_AWAY = rf"\b{OFF} (?:the |using |all |any )?"
_NOT_ZERO = r"(?! ?[:=] ?[\"']?0)"
"""No value of zero after a setting that turns something off, which turns it on again."""
REMEDIES: tuple[tuple[str, str], ...] = (
    ("threads", r"\b(?:OMP|MKL)_NUM_THREADS\b"),
    (
        "job-memory",
        r"--mem(?:-per-(?:cpu|gpu))?[ =][0-9]|\b(?:larger|higher|more|increas\w{1,4}|rais\w{1,3}) (?:the )?memory"
        r" (?:limits?|requests?|resources?)\b",
    ),
    ("host-work", r"\b\w{1,30}(?:_ON_|_TO_|_on_|_to_)(?:CPU|cpu)\b|\b\w{0,30}cpu_offload\b"),
    ("pauses", r"\bgc\.(?:collect|disable|freeze)\b|\bgarbage[- ]collect\w{1,4}\b"),
    (
        "other-programs",
        r"\b(?:clos|shut|stopp|kill|quit|end)\w{0,4} (?:down )?[^.;\n]{0,40}?\b(?:windows?|editors?|browsers?|programs?"
        r"|applications?|desktop)\b",
    ),
    ("rdma", r"\bNCCL_IB_DISABLE\b ?[:=] ?[\"']?0"),
    ("peer-access", r"\bNCCL_P2P_DISABLE\b ?[:=] ?[\"']?0"),
    (
        "no-peer-access",
        rf"\bNCCL_P2P_DISABLE\b{_NOT_ZERO} ?[=:]? ?[\"']?1?|\bNCCL_P2P_LEVEL ?= ?[\"']?(?:LOC|0)\b"
        r"|\bNCCL_P2P_DIRECT_DISABLE\b"
        rf"|{_AWAY}(?:NCCL |GPU |PCIe |CUDA |direct )?(?:P2P|peer[- ]to[- ]peer|peer access)\b"
        rf"|{_AWAY}GGML_CUDA_P2P\b|\b(?:P2P|peer access|GGML_CUDA_P2P) (?:is |was )?(?:off|disabled|unset)\b",
    ),
    ("no-own-all-reduce", r"\bdisable[-_]custom[-_]all[-_]?reduce\b|\bFORCE_NCCL_ALL_REDUCE_STRATEGY\b"),
    (
        "backend",
        r"\b(?:switch|chang)(?:ed|ing) (?:\w{1,20} ){0,6}(?:backend|transport)s?\b|--[\w-]{0,40}backend\b",
    ),
    ("no-shared-memory", r"\bNCCL_SHM_DISABLE\b"),
    ("shared-memory", r"\bshm[-_]size\b|/dev/shm\b|--ipc[ =]host\b|\bhostIPC\b|\bshared memory size\b"),
    (
        "no-rdma",
        rf"\bNCCL_IB_DISABLE\b{_NOT_ZERO}|\bNCCL_NET ?= ?[\"']?Socket\b|\bFI_PROVIDER ?= ?[\"']?(?:tcp|sockets)\b"
        r"|\bUCX_TLS ?= ?[\"']?tcp\b"
        rf"|{_AWAY}(?:IB|InfiniBand|RDMA|RoCE|EFA)\b|\b(?:over|via|with|using) (?:plain )?(?:TCP|sockets?|Ethernet)\b",
    ),
    (
        "no-gpudirect",
        r"\bNCCL_IB_CUDA_SUPPORT ?= ?[\"']?0|\bNCCL_NET_GDR_LEVEL ?= ?[\"']?(?:0|LOC)\b"
        r"|\bUCX_IB_GPU_DIRECT_RDMA ?= ?[\"']?(?:n|no|0)\b"
        rf"|\bNCCL_NET_GDR_DISABLE\b|{_AWAY}(?:GDR|GPU ?Direct|GPUDirect[ -]RDMA|GDRDMA)\b",
    ),
    (
        "peer-memory",
        r"\b(?:nvidia|efa_nv|nv)[-_]peer_?mem(?:ory)?\b|\bnv_peer_mem(?:ory)?\b|\bNCCL_DMABUF_ENABLE ?= ?[\"']?1"
        r"|\bgdrdrv\b",
    ),
    ("no-plugin", r"\bNCCL_NET_PLUGIN ?= ?[\"']?none\b"),
    (
        "interface",
        r"\b\w{0,24}_(?:SOCKET_IFNAME|IFACE)\b|\b(?:VLLM|SGLANG)_HOST_IP\b|\bUCX_NET_DEVICES\b"
        r"|\bNCCL_IB_(?:HCA|MERGE_NICS)\b|\bHCCL_IF_IP\b|\b(?:btl|oob)_tcp_if_(?:in|ex)clude\b"
        r"|\bNVSHMEM_HCA_(?:LIST|PE_MAPPING)\b"
        r"|--node-ip-address\b|\b(?:right|correct|same|proper) (?:network )?(?:interface|NIC)s?\b|\binterface name\b",
    ),
    (
        "mixed-releases",
        r"\bsame (?:\w{1,12} ){0,3}(?:version|release|image|build|container)s? (?:on|of|for|in)"
        r" (?:all|both|every|each)\b",
    ),
    ("gid", r"\b\w{0,24}GID_INDEX\b|\bGID index\b|\bROCE_VERSION_NUM\b"),
    ("mtu", r"\b\w{0,24}_MTU ?=|\bMTU\b|\bjumbo frames?\b"),
    (
        "no-multicast",
        rf"\bNCCL_NVLS_ENABLE ?=? ?[\"']?0|\b\w{{1,24}}_DISABLE_NVLS\b|{_AWAY}(?:NVLS|NVLink SHARP|multicast)\b",
    ),
    (
        "domain-service",
        r"\bNCCL_MNNVL_ENABLE\b|\bNVSHMEM_DISABLE_MNNVL\b|\bIMEX\b|\bnvidia-imex\b|\b[Ff]abric[- ]?[Mm]anager\b",
    ),
    ("no-virtual-memory", r"\bNCCL_CUMEM(?:_HOST)?_ENABLE ?= ?[\"']?0|\bNVSHMEM_DISABLE_CUDA_VMM\b"),
    ("locked-memory", r"\bmemlock\b|\bulimit -l\b|\bIPC_LOCK\b|\bLimitMEMLOCK\b"),
    ("open-files", r"\bulimit -n\b|\bnofile\b|\bLimitNOFILE\b"),
    (
        "privileges",
        r"--privileged\b|\bprivileged(?:: ?true| (?:mode|container|pod))\b|\bSYS_(?:PTRACE|ADMIN|NICE)\b|\bseccomp\b"
        r"|--cap-add\b|\bapparmor\b",
    ),
    ("host-network", r"--net(?:work)?[ =]host\b|\bhostNetwork\b|\bhost network(?:ing)?\b"),
    (
        "no-iommu",
        r"\b(?:intel_|amd_)?iommu ?= ?(?:pt|off|soft)\b"
        rf"|{_AWAY}(?:IOMMU|VT-d|AMD-Vi)\b|\b(?:IOMMU|VT-d) (?:is |was |to )?(?:off|disabled?|passthrough|pt)\b",
    ),
    ("no-acs", rf"{_AWAY}(?:PCIe? )?ACS\b|\bACS (?:is |was )?(?:off|disabled)\b|\bdisable_acs_redir\b"),
    (
        "firewall",
        r"\b(?:firewalld?|iptables|nftables|ufw|NetworkPolicy|[Ss]ecurity [Gg]roups?)\b"
        r"|\bopen(?:ing|ed)? (?:up )?(?:the |all |these |those )?(?:\w{1,12} )?ports\b",
    ),
    ("flow-control", r"\b(?:PFC|ECN|DCQCN|flow control|pause frames|lossless)\b"),
    (
        "cable",
        r"\b(?:swap|replac|reseat|chang|exchang)\w{1,4} (?:\w{1,12} ){0,3}"
        r"(?:cables?|transceivers?|optics?|DACs?|QSFP\w{0,4}|switch ports?)\b",
    ),
    (
        "accelerator",
        r"\b(?:swap|replac|exchang|reseat)\w{1,4} (?:\w{1,12} ){0,3}(?:GPUs?|cards?|accelerators?|baseboard|HGX)\b"
        r"|\bRMA\b",
    ),
    (
        "node",
        r"\b(?:exclud|drain|cordon|remov|replac|swap)\w{1,4} (?:\w{1,12} ){0,3}(?:nodes?|hosts?|machines?)\b"
        r"|\b(?:different|another|other) (?:set of |pair of )?(?:nodes?|hosts?|machines?)\b",
    ),
    ("reboot", r"\breboot\w{0,3}\b|\bpower[- ]cycl\w{1,3}\b|\brestart\w{0,3} (?:the |both |all )?(?:nodes?|hosts?)\b"),
    (
        "nic",
        r"\b(?:swap|replac|reseat|exchang)\w{1,4} (?:\w{1,12} ){0,3}(?:NICs?|HCAs?|adapters?)\b"
        r"|\b(?:tak|exclud|remov|disabl|dropp?)\w{1,4} (?:\w{1,12} ){0,3}"
        r"(?:NIC|HCA|adapter|mlx5_[0-9]{1,2})s?\b(?! ?=)",
    ),
    ("port", r"\b(?:different|another|other|free|new) port\b|\bMASTER_PORT\b|--master[_-]port\b"),
    (
        "less-memory",
        r"\b(?:smaller|lower|reduc\w{1,4}|decreas\w{1,4}) (?:the )?(?:\w{1,12} )?(?:batch|sequence|context|memory)\b"
        r"|\bgpu[-_]memory[-_]utilization\b|\bmem[-_]fraction[-_]static\b|\bmax[-_]model[-_]len\b",
    ),
    ("longer-limit", r"\b(?:increas|rais|longer|larger|higher|extend)\w{0,4} (?:\w{1,20} ){0,3}timeouts?\b"),
    ("data-workers", r"\bnum_workers ?[=:]? ?(?:to )?0\b|--num[-_]workers[ =]0\b|\bpersistent_workers\b"),
    (
        "more-workers",
        r"\bworkers (?:parameter )?(?:is |was )?set to [1-9]|\b(?:more|rais\w{1,3}|increas\w{1,4}|higher|larger"
        r"|add(?:ed|ing)) (?:\w{1,8} ){0,3}"
        r"(?:(?:data ?loader |loader )?workers|num_workers|workers_per_gpu|prefetch\w{0,8})\b",
    ),
    (
        "fewer-workers",
        r"\b(?:fewer|less|reduc\w{1,4}|lower\w{0,3}|decreas\w{1,4}) (?:\w{1,8} ){0,3}"
        r"(?:(?:data ?loader |loader )?workers|num_workers|workers_per_gpu)\b",
    ),
    (
        "local-data",
        r"\b(?:cop(?:y|ied|ying)|mov(?:e|ed|ing)|stag(?:e|ed|ing)|stor(?:e|ed|ing)|put(?:ting)?|convert\w{0,3}"
        r"|cach(?:e|ed|ing)) [^.;\n]{0,60}?(?:\b(?:local(?:ly)?|SSDs?|NVMe|RAM ?disk|tmpfs|scratch|LMDB|TFRecords?)\b"
        r"|/dev/shm\b|/tmp\b)",
    ),
    (
        "slot",
        r"\b(?:mov(?:e|ed|ing)|chang(?:e|ed|ing)|us(?:e|ed|ing)|swap\w{0,4}|put|plug\w{0,4}) [^.;\n]{0,40}?"
        r"\b(?:slots?|risers?)\b|\b(?:both|all|each) (?:\w{1,12} ){0,2}(?:at|on|in) (?:PCIe? )?x(?:8|16)\b"
        r"|\bforc\w{1,3} (?:PCIe )?gen ?[1-6]\b",
    ),
    (
        "drive",
        r"\b(?:swap|replac|exchang)\w{1,4} [^.;\n]{0,30}?\b(?:hard drives?|disks?|SSDs?|drives?)\b"
        r"|\b(?:hard drives?|disks?|SSDs?|drives?) (?:was|were|is|are) (?:swapp|replac|exchang)ed\b",
    ),
    ("file-caches", r"\bdrop_caches\b|\bvfs_cache_pressure\b"),
    ("larger-work", r"\b(?:larger|bigger|increas\w{1,4}|rais\w{1,3}) (?:the )?(?:\w{1,12} )?batch(?:[- ]size|es)?\b"),
    ("no-compilation", rf"{_AWAY}(?:torch\.compile|compilation|autotun\w{{1,4}}|cudnn\.benchmark)\b"),
    ("host-clocks", r"\b(?:governor|cpupower|C-?states?|performance mode|turbo boost)\b"),
    (
        "exclusive-node",
        r"--exclusive\b|\b(?:no other|without other|kill(?:ed|ing)|stopp(?:ed|ing)) (?:the )?(?:other )?(?:jobs?"
        r"|processes)\b",
    ),
    ("equal-data", r"\bdrop_last\b|\bsame (?:number|amount) of (?:batches|samples|steps)\b"),
    ("unused-parameters", r"\bfind_unused_parameters\b"),
    ("shared-files", r"\bshared (?:file ?system|storage|directory)\b|\bdata[-_]cache[-_]path\b"),
    (
        "unified-memory",
        r"\bmodprobe (?:-r )?nvidia[-_]uvm\b|\bnvidia-modprobe\b|\bload\w{0,3} (?:the )?nvidia[-_]uvm\b",
    ),
    ("kernel-options", r"\bnokaslr\b|\bdisable_hmm\b"),
    ("fine-grain", r"\bHSA_FORCE_FINE_GRAIN_PCIE\b"),
    ("topology", r"\bNCCL_(?:TOPO|GRAPH)_FILE\b|\btopolog(?:y|ies) (?:XML )?files?\b|\bgraph (?:XML )?file\b"),
    ("numa-balancing", rf"\bnuma_balancing\b|{_AWAY}(?:automatic )?NUMA balancing\b"),
    ("numa-per-socket", r"\bNPS ?[= ]?[124]\b"),
    ("adaptive-routing", r"\bNCCL_IB_ADAPTIVE_ROUTING\b|\badaptive routing\b"),
    (
        "binding",
        r"--bind-to\b|\bnumactl\b|--cpu-bind\b|\bCPU (?:affinity|binding|pinning)\b|--cpus-per-task\b"
        r"|\bcpus_per_task\b|\birqbalance\b|\bCPU (?:limit|request|quota)s?\b",
    ),
    ("queue-pairs", r"\bNCCL_IB_QPS_PER_CONNECTION\b|\bNCCL_IB_SPLIT_DATA_ON_QPS\b"),
    ("channels", r"\bNCCL_(?:MIN_NCHANNELS|NCHANNELS_PER_NET_PEER|MIN_CTAS)\b"),
    ("clock", r"\b(?:NTP|ntpd|chronyd?|clock sync\w{0,14})\b"),
    ("names", r"/etc/hosts\b|\bDNS\b|\bresolv\.conf\b"),
    ("login", r"\bpassword-?less (?:ssh|login)\b|\bssh[- ]keys?\b|\bauthorized_keys\b"),
    (
        "device-choice",
        r"\b(?:CUDA|HIP|ROCR|ASCEND_RT|NEURON_RT|TPU)_VISIBLE_(?:DEVICES|CORES|CHIPS)\b|\bZE_AFFINITY_MASK\b"
        r"|\b(?:torch\.cuda\.)?set_device\b|--gpus?-bind\b|--gpus-per-task\b|\bdevice_id ?=",
    ),
    ("launch-order", r"\bNCCL_LAUNCH_ORDER_IMPLICIT\b|\bCUDA_DEVICE_MAX_CONNECTIONS\b ?[=:]? ?[\"']?1?\b"),
    ("no-graphs", rf"\benforce[-_]eager\b|\bdisable[-_]cuda[-_]graph\b|{_AWAY}(?:CUDA|HIP) graphs?\b"),
    ("library-path", r"\bLD_(?:LIBRARY_PATH|PRELOAD)\b"),
    (
        "clocks",
        r"\bnvidia-smi (?:-i [0-9,]{1,20} )?-(?:pl|lgc|ac|pm)\b|--lock-gpu-clocks\b|\bpersistence mode\b"
        r"|\bnvpmodel\b|\bpower (?:limit|cap)\b|\bthermal paste\b|\b(?:better )?cooling\b|\bfans? (?:speed|to|at"
        r"|curve)\b",
    ),
)
"""Names of remedies and the words that report them."""
FAULTS: tuple[tuple[str, str], ...] = (
    (
        "mixed-releases",
        r"\bdifferent (?:\w{1,12} ){0,2}(?:versions?|releases?|builds?|images?)\b|\bversions? (?:mismatch|differ)"
        r"|\bmismatch\w{0,4} (?:of|in|between) (?:\w{1,16} ){0,3}(?:versions?|releases?)\b",
    ),
    ("no-acs", r"\b(?:PCIe )?ACS\b"),
    ("no-iommu", r"\bIOMMU\b|\bVT-d\b"),
    ("cable", r"\b(?:cables?|transceivers?|optics|DACs?)\b"),
    ("accelerator", r"\b(?:bad|faulty|broken|defective|dying) (?:GPU|card|accelerator)s?\b"),
    ("node", r"\b(?:bad|faulty|broken|defective) (?:nodes?|hosts?|machines?)\b"),
    ("clocks", r"\bthrottl\w{2,4}\b"),
)
"""Words for blamed things that name no remedy."""
BLAMABLE = frozenset(
    {
        *("peer-memory", "interface", "gid", "mtu", "domain-service", "locked-memory", "open-files", "privileges"),
        *(
            "firewall",
            "flow-control",
            "cable",
            "clock",
            "names",
            "login",
            "topology",
            "numa-balancing",
            "shared-memory",
        ),
    }
)
"""Remedies of a thing that may be at fault itself."""
CHANGES = (
    r"\b(?:(?:up|down)grad\w{1,4}|updat(?:ed|ing)|roll(?:ed|ing)? ?back|revert\w{0,4}|pin(?:ned|ning)"
    r"|(?:newer|newest|latest|older|new) (?:\w{1,12} )?(?:version|release|driver|kernel|image|container|firmware|build)"
    r"|(?:re)?install(?:ed|ing)|(?:re)?buil(?:t|ding)|rebuild|recompil\w{1,4}"
    r"|replac(?:ed|ing)|swap(?:ped|ping)|switch(?:ed|ing) (?:back )?(?:to|from)|mov(?:ed|ing) to"
    r"|(?:other|another|different) (?:\w{1,12} ){0,2}(?:versions?|releases?|drivers?|images?|environments?|builds?)"
    r"|(?:delet|recreat|re-creat)(?:ed|ing)|(?:one|only|single) change"
    r"|(?:following|another|other|different) (?:\w{1,12} ){0,4}(?:AMI|image|version|release)"
    r"|regression)\b"
)
"""Words of a change of a release."""
USES = (
    r"\b(?:us(?:es?|ed|ing)|with|on|to|in|sett?(?:ing)?|export(?:ed|ing)?|add(?:ed|ing)?|pass(?:ed|ing)|version|release"
    rf"|before|until|{OFF})\b"
)
"""Words between an outcome and the change that led to it."""
TOOLS = (
    r"\b(?:ib_\w{1,20}|\w{1,30}_perf|osu_\w{1,30}|perftest|nccl-tests|rccl-tests|iperf3?|ping|nvidia-smi|rocm-smi"
    r"|nvbandwidth|ucx_perftest|ucx_info|fi_\w{1,20}|telnet|nc|ibv_\w{1,30})\b"
)
"""Programs that test a part; that one of them works is no remedy."""
PARTS: tuple[tuple[str, str], ...] = (
    (
        "driver",
        r"\b(?:NVIDIA |GPU |CUDA |amdgpu |open |kernel ){0,4}(?:drivers?|kernel modules?)\b|\bnvidia-open\b"
        r"|[a-z]-dkms\b|\b[Nn][Vv][Ii][Dd][Ii][Aa][- ][3-9][0-9]{2}\.[0-9]{2,3}\b"
        r"|\b[4-6][0-9]{2}\.[0-9]{2,3}\.[0-9]{2}\b",
    ),
    ("nic-firmware", r"\bfirmware\b|\bfw\b"),
    ("network-plugin", r"\blibfabric\b|\b(?:EFA|efa) installer\b|\bofi-nccl\b|\bnet(?:work)? plugin\b|\brccl-net\b"),
    ("kernel", r"\b(?:Linux )?kernel\b"),
    ("host-firmware", r"\b(?:BIOS|UEFI|BMC)\b"),
    ("image", r"\bAMIs?\b|\b(?:container|Docker|VM|machine|OS|host) images?\b"),
    (
        "library",
        r"\b(?:NCCL|RCCL|oneCCL|PyTorch|torch|vLLM|SGLang|TensorRT-LLM|UCX|NVSHMEM|CUDA|ROCm|DeepEP|NIXL|Mooncake"
        r"|Ray|MPI|Open ?MPI|mpi4py|HPC-?X|OFED|rdma-core|transformers|triton|flashinfer|Megatron\w{0,6}|DeepSpeed|JAX"
        r"|jaxlib|libtpu|MSCCL\w{0,3}|GDRCopy|gloo|libcxi|library|package|wheel|images?|container image|toolkit"
        r"|software|enviro\w{1,8}|venv|commit [0-9a-f]{6,40}|(?:PR|pull request) ?#?[0-9]{2,6})\b"
        r"|\blib[a-z][\w+]{1,30}-(?:dev|devel)\b|\b(?:rdmacm|ibverbs|infiniband)-(?:utils|diags)\b",
    ),
)
"""The kind of a change, the more specific before the more common."""
VERSION = r"\bv?[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,6}){0,2}(?:[-.]?(?:rc|post|dev|a|b)[0-9]{0,8})?\b"
"""A number of a release."""
SINCE = (
    r"\b(?:since|after|when|once) (?:\w{1,12} ){0,6}(?:up(?:grad|dat)|downgrad)\w{1,4}\b"
    r"|\b(?:since (?:the )?(?:commit|PR|pull request|merge|nightly)|starting (?:from|with)|introduced (?:in|by))\b"
    r"|\b(?:regression (?:in|since|from|of)|incompatib\w{3,5} with)\b"
    r"|\bonly (?:appear|happen|occur|fail|hang|reproduc)\w{0,4} (?:with|on|in|since|after|from)\b"
    r"|\bbisect\w{0,5} (?:\w{1,12} ){0,3}(?:to|return|point|show|identif|found|find)\w{0,5}\b"
)
"""Words of a release since which a run has the fault."""
