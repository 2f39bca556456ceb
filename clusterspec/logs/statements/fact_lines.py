"""Lines by which tools and people state a fact of a machine: a module that is not loaded, a copy that arrives with
errors, memory that may not be shared.
"""

from __future__ import annotations

import re

_ABSENT = r"(?:not|n't|isn't|wasn't) (?:been )?(?:loaded|installed|open(?:ed)?|running|available|found|enabled|present)"
_NIC = r"(?:mlx5|bnxt_re|irdma|hsi|ib|eth|rdma|bond|roce)_?[0-9]{1,3}\b"
_RDMA = r"[\w,]{0,80}\b(?:all|ib|rc|dc|ud|srd|gga)(?:_\w{1,8})?\b"
_ADAPTER = r"\b(?:EFA|efa|RDMA|HCAs?|InfiniBand|IB devices?|mlx5\w{0,8}|ibv_devinfo|ibv_devices|fi_info|NICs?)\b"
_ON_HOST = r"(?:on|in) (?:the |my |our |a )?(?:hosts?|VMs?|bare[- ]metal|instance|node)\b"
_IN_BOX = r"\b(?:in|inside|within) (?:the |a |my |our )?(?:docker|containers?|pods?|podman|image)\b"
_ABSENCE = r"(?:\b(?:not|nothing|never|none|no)\b|n't\b)"
FACT_PATTERNS = (
    # modprobe(8) of a kernel for which a module was not built
    ("module-unbuilt", re.compile(r"(\bFATAL: Module \S{2,60} not found in directory /lib/modules/\S{1,60})")),
    # modprobe(8) of kmod; and its absence in words (NVIDIA/nccl-tests issue 257, uccl-project/uccl issue 937)
    (
        "peer-memory",
        re.compile(
            r"(\bFATAL: Module (?:nvidia[-_]peermem|nv_peer_mem|efa_nv_peermem|amdp2p|ib_peer_mem)\S{0,8} not found)"
        ),
    ),
    (
        "peer-memory",
        re.compile(
            rf"(\b(?:nvidia|efa_nv|nv)[-_]peer_?mem(?:ory)? (?:(?:is|was|module|kernel|driver) ){{0,3}}{_ABSENT})"
        ),
    ),
    (
        "peer-memory",
        re.compile(
            r"(\b(?:loads?|ha(?:s|ve)|with) no [`']?(?:nvidia[-_]peermem|nv_peer_mem|ib_peer_mem|amdp2p|peer_?mem)\b)"
        ),
    ),
    # gdrcopy's device, as tools of a shell miss it
    ("copy-device", re.compile(r"((?:cannot (?:access|open|stat)|open\w{0,6}).{0,8}/dev/gdrdrv.{0,60})")),
    # memory with a handle of the fabric, which a process may create with a channel of IMEX alone (CUDA driver API,
    # `CU_MEM_HANDLE_TYPE_FABRIC`; microsoft/mscclpp issue 467, kvcache-ai/Mooncake issue 1297)
    (
        "fabric-handle",
        re.compile(r"(\bcuMemCreate\b.{0,120}?(?:operation not permitted|CUDA_ERROR_NOT_PERMITTED|: 800\b))"),
    ),
    # what simpleP2P of NVIDIA/cuda-samples prints of data that a peer wrote (`simpleP2P.cu`)
    ("copied-wrong", re.compile(r"(\bVerification error @ element [0-9]{1,9}: val = \S{1,20}, ref = \S{1,20})")),
    # the daemon of IMEX, of memory that another node may not import (kubernetes-sigs/dra-driver-nvidia-gpu issue 948)
    (
        "imex-refused",
        re.compile(
            r"(\b(?:Failed to get (?:new memory reference|export ref for UUID)"
            r"|Received import response from node id [0-9]{1,6} with failure status)\b.{0,80})"
        ),
    ),
    # determined-ai/determined issue 8915
    (
        "failing-pair",
        re.compile(
            r"(\b(?:[Tt]wo|2) of (?:the|these|our|my) (?:\w{1,12} ){0,2}(?:GPUs?|cards?|accelerators?)\b.{0,20}"
            r"\b(?:do not|don't|cannot|can't|never) work together)"
        ),
    ),
    # addresses that a launch gives its ranks (vllm-project/vllm issue 19543)
    (
        "own-loopback",
        re.compile(
            r"((?:\b(?:(?:VLLM|SGLANG)_HOST_IP|MASTER_ADDR|HEAD_NODE_ADDRESS)="
            r"|--(?:node-ip-address|master[-_]addr)[ =])"
            r"[\"']?(?:127\.0\.0\.1|localhost|::1)\b)"
        ),
    ),
    # how Python programs find the address of their host (vllm-project/vllm issue 2857)
    ("address-probe", re.compile(r"(\bs(?:ock)?\.connect\(\(\"8\.8\.8\.8\", ?[0-9]{1,5}\)\))")),
    (
        "other-nic",
        re.compile(
            rf"(\b{_NIC}.{{0,60}}?\b(?:connect|talk|send)s? to .{{0,60}}?\b{_NIC}"
            rf".{{0,60}}? instead of .{{0,60}}?\b{_NIC})"
        ),
    ),
    # both NICs of a request of Mooncake (`worker_pool.cpp`; kvcache-ai/Mooncake issue 2467)
    (
        "unlike-pair",
        re.compile(r"\b(local_nic: ([\w.-]{2,40}), .{0,200}?\bpeer_nic: [^\s@,]{3,80}@(?!\2\b)[\w.-]{2,40})"),
    ),
    # the transports that UCX may use, without one of RDMA (openucx/ucx, `src/ucp/core/ucp_context.c`)
    ("tcp-transports", re.compile(rf"(\bUCX_TLS ?= ?[\"']?(?!{_RDMA})[a-z_,]{{0,40}}\btcp\b[\w,]{{0,40}})")),
    # an adapter that a host has and a container on it has not
    ("hidden-adapter", re.compile(rf"({_ADAPTER}.{{0,40}}? {_ON_HOST}.{{0,40}}?{_ABSENCE}.{{0,30}}?{_IN_BOX})")),
    ("hidden-adapter", re.compile(rf"({_ABSENCE}.{{0,40}}?{_IN_BOX}.{{0,40}}?{_ADAPTER}.{{0,40}}? {_ON_HOST})")),
    (
        "releases",
        re.compile(
            r"(\b(?:ha[ds]|have|having|r[au]n|runs|running) (?:an? )?different (?:[\w-]{1,12} ){0,2}versions?"
            r" (?:than|from|of|on)\b.{0,40})"
        ),
    ),
    # what PyTorch says of a process that may use one or two cores (`torch/utils/data/dataloader.py`)
    ("few-cores", re.compile(r"(\bsuggested max number of worker in current system is [12](?![0-9]))")),
    # a limit below 10 MB as the kernel and as shells print it (proc(5), `ulimit -a`)
    ("low-memlock", re.compile(r"(\bMax locked memory {1,24}[0-9]{1,7} {1,24}[0-9a-z]{1,20} {1,24}bytes)")),
    ("low-memlock", re.compile(r"(\bulimit: max locked memory: cannot modify limit)")),  # bash, a hard limit below it
    ("low-memlock", re.compile(r"(\bmax locked memory {1,24}\(kbytes, -l\) {1,4}[0-9]{1,4}(?![0-9]))")),
    # files of a shared file system (errno(3)). Thread: ISEEKYAN/Megatron-LM pull 196
    (
        "storage-fault",
        re.compile(r"(OSError: \[Errno (?:14\] Bad address|61\] No data available|121\] Remote I/O error).{0,60})"),
    ),
    # a file of a checkpoint of one step. Thread: NVIDIA/Megatron-LM issue 632
    (
        "absent-part",
        re.compile(
            r"(FileNotFoundError: .{1,200}?\b(?:iter|global_?step|checkpoint|epoch|step)[_-][0-9]{1,12}/[\w./-]{1,120})"
        ),
    ),
    # Ray, without the lines below it (gpustack/gpustack issue 2691)
    ("releases", re.compile(r"(\bRuntimeError: Version mismatch)(?!: )")),
    # a plugin and a framework of two releases (pytorch/xla issue 6949)
    ("library", re.compile(r"(\bMismatched .{0,60}?\bversion \(?[0-9.]{1,12}\)? and .{0,60}?version \(?[0-9.]{1,12})")),
)
"""Names of statements and the patterns of their lines."""
