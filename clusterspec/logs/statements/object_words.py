"""Causes by classes of objects and of what happened to them, for errors in words that no other table has.

An object and an event stand in one line, at most `APART` characters from each other, in either order. Lines of the
exceptions of a program's own code, such as an index out of range, are left out, since they name objects of any kind.
"""

from __future__ import annotations

APART = 60
"""Characters between an object and what happened to it."""
_ABSENT = (
    r"(?:\b(?:not|never|n't) (?:be )?(?:yet )?(?:found|present|detected|visible|available|exist|configured|loaded"
    r"|initialized|set ?up|mounted|connected|started|active|enabled|reachable|recognized|ready)\b"
    r"|\b(?:missing|unavailable|offline|inactive|absent|lacks?|disconnected|unplugged|no such)\b|\bnone (?:found"
    r"|of)\b)"
)
_FAILED = (
    r"(?:\b(?:fail(?:ed|s|ure)?|(?:could|can|did|does|was)(?:n't| ?not)|unable|error|broken|lost|refused|unsuccessful"
    r"|abort(?:ed)?|crash(?:ed|es)?|unresolved|unhealthy|hung|hang|stuck)\b)"
)
_FULL = (
    r"(?:\b(?:not enough|insufficient|exhausted|exceed(?:s|ed|ing)?|(?:ran|run|is|are|was)? ?out of|too (?:small"
    r"|large|low"
    r"|many|few)|limit(?: of \S{1,20})? (?:is )?(?:reached|hit|exceeded)|at (?:100|9[0-9])% (?:capacity|usage)|low on"
    r"|reached (?:its|the|a) limit|over (?:its|the) limit|(?:does|do|will|can)(?:n't| ?not) fit)\b"
    r"|\blimit (?:\(\S{1,20}\) )?reached\b|\bis full\b|\blimit of [0-9.]{1,12} ?\w{0,4} is too low\b)"
)
_DENIED = (
    r"(?:\b(?:denied|not (?:be )?(?:allowed|permitted|authorized)|forbidden|unauthorized|block(?:ed|s)"
    r"|prevent(?:ed|s|ing)"
    r"|missing the \w{1,40} capability|rejected|disallowed|unprivileged)\b)"
)
_SILENT = (
    r"(?:\btim(?:ed|es|e)[ -]?outs?\b|\bno (?:response|answer|reply|heartbeat)|\b(?:not|n't) (?:respond\w{0,3}"
    r"|answer\w{0,3}"
    r"|repl(?:y|ied))|\bunresponsive\b|\bstopped\b|\bwent away\b|\bgone\b)"
)
_CLOSED = (
    r"(?:\b(?:clos(?:ed|es)|reset|restarted|terminated|died|exited|went away|gone|disconnected|vanished"
    r"|crashed|was killed)\b)"
)
_UNLIKE = (
    r"(?:\b(?:mismatch(?:es|ed)?|differ(?:s|ent|ing)?|incompatible|(?:does|do|did)(?:n't| ?not) match|not compatible"
    r"|unsupported|not supported|too old|too new|outdated|wrong|newer|older|upgrade|downgrade|update"
    r"|was built (?:for|with"
    r"|against)|requires?)\b)"
)
_BUSY = (
    r"(?:\b(?:in use|used by|busy|locked|occupied|held by|already (?:running|taken|open|acquired)"
    r"|another (?:process|instance|job|container))\b)"
)
_UNSUPPORTED = (
    r"(?:\b(?:do|does|did)(?:n't| ?not)(?: yet| currently)? support\b|\b(?:is|are) (?:currently )?only (?:supported"
    r"|compatible|available|allowed|valid|applicable|implemented)\b|\b(?:is|are) not (?:yet |currently )?(?:compatible"
    r"|applicable|(?:available|supported|validated|allowed) (?:for|with|on|when|in|by)\b)"
    r"|\b(?:only (?:supports?|supported|works?|compatible)|supports? only) \S"
    r"|\b(?:is|are) (?:supported|required) (?:for|with|when|if)\b"
    r"|\bincompatible with\b|\bmutually exclusive\b"
    r"|\b(?:cannot|must not|can't|can not) be (?:used|set|enabled|combined|both)\b"
    r"|\b(?:must|should|to) be (?:one of|either)\b"
    r"|\brequires? (?:--?\w|[\w.-]{1,60} ?={1,2} ?\S|[\w.-]{1,60} to be "
    r"|(?:an? |the )?(?:[\w.'-]{1,40} ){0,3}(?:backend|runner|executor|mode|model|attention|parallelism|checkpoint"
    r"|scheduling|serving)s?\b|[A-Z]\w{1,40} V[0-9]))"
)
_TORN = (
    r"(?:\b(?:corrupt(?:ed|ion)?|truncated|CRC|checksum|short read|incomplete read|bad magic|unexpected (?:end|EOF)"
    r"|i/o error|I/O error|read error|write error)\b)"
)
_DEVICE = (
    r"\b(?:GPU|NPU|TPU|HPU|XPU|DCU|accelerator|chip|NeuronCore|Neuron ?[Dd]evice|Gaudi|CUDA device"
    r"|HIP device)(?: ?#?[0-9]{1,3})?s?\b"
)
_NIC = (
    r"\b(?:NIC|HCA|adapter|RNIC|mlx[45]_[0-9]{1,3}|bnxt_re\S{0,4}|ionic_[0-9]{1,3}|irdma\w{0,4}|rdmap\w{1,12}"
    r"|efa_[0-9]{1,3}|ib[0-9]{1,2}|hsn[0-9])s?\b"
)
_STORE = (
    r"(?:\b(?:mount(?:ing|ed|s|point)?|file ?systems?|(?:checkpoint|data|shared|network|storage) (?:volume|disk"
    r"|drive|folder)"
    r"|PVC|PersistentVolume(?:Claim)?|NFS|Lustre|WekaFS|GPFS|BeeGFS|CephFS|gcsfuse|S3 mount\w{0,5}"
    r"|nvme[0-9]\w{0,6})\b"
    r"|/(?:fsx|lustre|scratch|gpfs|beegfs|weka)\b)"
)
_FILE = (
    r"\b(?:checkpoint|shard|safetensors|archive|weights? file|model file|data ?file|index file|\.(?:pt|bin"
    r"|npy|tar|parquet|arrow))\b"
)
_REMOTE = (
    r"(?:\b(?:https?://\S{1,200}|huggingface\S{0,12}|hub|registry|nvcr\.io|docker\.io|ghcr\.io|S3 bucket|bucket|GCS"
    r"|download(?:ing|ed|s)?|upload(?:ing|ed|s)?|pull(?:ing|ed)?(?! kv_?caches?\b)|tokenizer|artifact)s?\b)"
)
_REFUSED_BY_SERVER = (
    r"(?:\b(?:[45][0-9]{2}|tim(?:ed|e)[ -]?out|fail(?:ed|ure)?|unauthorized|AccessDenied|access denied|not found"
    r"|could not|cannot|unable|verif(?:y|ication)|retries|unreachable|unavailable|expired)\b)"
)
_SERVICE = (
    r"\b(?:daemon|service|agent|controller|scheduler|munged?|slurmctld|slurmdbd|slurmd|dockerd|containerd|kubelet"
    r"|persistenced|hostengine|nvidia-[a-z]\w{2,19}|opensm|etcd|redis|GCS server|API server|apiserver|raylet"
    r"|socket \S{1,80}\.sock)\b"
)
_RANKS = (
    r"\b(?:rank|worker|node|peer|host|process|replica|member|pod|participant|leader|head|stage|actor|task"
    r"|client)s?(?: [\w-]{1,20})?\b"
)
_LIBRARY = (
    r"(?:\b(?:lib[a-z][\w-]{1,40}\.so\S{0,12}|library|package|wheel|module|plugin|extension|flash[-_]attn|torch"
    r"|transformers"
    r"|triton|numpy|protobuf|nccl|NCCL|cudnn|cuDNN|cublas|cuBLAS|apex|xformers|vllm|deepspeed|megatron|jaxlib"
    r"|libtpu|CUDA (?:toolkit|[Ss]etup|runtime library))\b)"
)
OBJECTS = (
    ("remote-login", r"\b(?:ssh|passwordless|login|rsh|pdsh)\b", rf"(?:{_FAILED}|{_DENIED}|{_ABSENT})"),
    (
        "fabric-manager",
        r"\b(?:NVLink (?:fabric|domain)|NVSwitch(?:es)?|IMEX|[Ii]mex|[Ff]abric [Mm]anager|multicast object)\b",
        rf"(?:{_ABSENT}|{_FAILED}|{_SILENT}|\bdo not start\b)",
    ),
    (
        "gpudirect-refused",
        r"\b(?:(?:GPU|device|CUDA|HIP) (?:buffer|memory|pointer)s?|peer_?mem\w{0,8}|nvidia_peermem|dma-?buf)\b",
        r"(?:\bregist(?:er|ration)\w{0,4}\b|\bexport(?:ed|ing)?\b.{0,40}\bfail|\bnot loaded\b)",
    ),
    # the modules of the kernel that let NICs reach the memory of accelerators
    (
        "gpudirect-refused",
        r"\b(?:(?:nv|nvidia|amdgpu|ib)[-_ ]peer_?mem\w{0,6}|PeerDirect)\b",
        rf"(?:{_ABSENT}|{_FAILED}|\bwithout\b|\brequire[sd]?\b)",
    ),
    (
        "accelerator-fault",
        rf"(?:{_DEVICE}|\bNVLink(?: [0-9]{{1,2}})?s?\b|\bHBM\b|\brow remapp\w{{2,4}}\b)",
        r"\b(?:inactive|halted|hang|hung|unhealthy|reset|double[- ]bit|uncorrect\w{4,6}|ECC|remapp\w{2,4} (?:failed"
        r"|failure)|failed (?:diagnostics?|self[- ]test|health)"
        r"|health check failed|not respond\w{0,3}|unresponsive|faulty|is lost|dropped off|parity error)\b",
    ),
    (
        "wrong-interface container-permission",
        r"\b(?:RDMA|IB|InfiniBand|RoCE|EFA|verbs|uverbs|umad|rdma_cm) (?:device|context|HCA|port|channel)s?\b",
        r"\b(?:(?:fail\w{0,3}|unable|could(?:n't| ?not)|cannot) (?:to )?(?:open|access|get|find|query|initiali[sz]e"
        r"|create))\b",
    ),
    ("nic-fault", _NIC, r"\b(?:firmware|health check failed|fatal|internal error|reset|unresponsive|hung|faulty)\b"),
    (
        "unstable-link",
        r"\b(?:link|port|cable|transceiver|optics?|symbol errors?|SFP|QSFP)(?: [0-9]{1,4})?s?\b",
        r"\b(?:is |was |went )?(?:down|lost|unplugged|flapp\w{3,4}|above threshold|degraded|bad|dirty)\b",
    ),
    (
        "memory-full",
        rf"(?:{_DEVICE}|\b(?:HBM|VRAM|device|accelerator)\b)(?: memory| allocator)?",
        r"(?:\b(?:exhausted|not enough|insufficient|out of (?:memory|space)|(?:does|do|will|can)(?:n't"
        r"| ?not) fit|full|too small)\b)",
    ),
    ("memory-full", r"\b(?:GPU|HBM|VRAM|accelerator|device) (?:memory|space)\b|\bVRAM\b", _FULL),
    (
        "memory-full",
        r"\b(?:GPU|HBM|VRAM|accelerator|device)\b",
        r"\b[0-9.]{1,12} ?[KMGT]i?B (?:is |are )?(?:already )?(?:in use|used|occupied|allocated) ",
    ),
    (
        "kv-cache-full",
        r"\b(?:KV[- ]?(?:cache|pool|blocks?|slots?)|key[- ]value cache|cache (?:capacity|of keys and values"
        r"|blocks?))\b",
        _FULL,
    ),
    ("storage-full", rf"(?:{_STORE}|\b(?:disk|storage|inodes?|quota|space on (?:device|disk)|disk space)\b)", _FULL),
    ("shared-memory", r"(?:/dev/shm\b|\bshared[- ]memory\b|\bshm\b)", rf"(?:{_FULL}|{_FAILED}|{_ABSENT})"),
    ("locked-memory", r"\b(?:memlock|locked memory|pin(?:ned|ning) memory|page-?lock\w{0,3})\b", _FULL),
    ("file-limit", r"\b(?:file descriptors?|open files?|fds?|ulimit -n|nofile)\b", _FULL),
    (
        "process-limit",
        r"\b(?:threads?|pids?(?: cgroup)?|process(?:es)? (?:limit|count)|ulimit -u|nproc)\b",
        r"(?:\b(?:limit (?:is )?(?:reached|hit|exceeded)|exhausted|too many)\b|\bcannot (?:create|start|fork)\b)",
    ),
    (
        "host-memory-full",
        r"\b(?:host|system|CPU|RAM|swap|pinned|cgroup|container|pod|heap)(?: (?:RAM|memory))?\b(?<!device)",
        r"\b(?:low on memory|out of memory|memory (?:is )?(?:exhausted|limit)|RAM (?:limit|exhausted)|exhausted"
        r"|exceeded (?:its |the )?(?:host )?(?:RAM|memory)|OOM)\b",
    ),
    (
        "host-memory-full",
        r"\b(?:buffer|bytes|[KMG]i?B|memory|request|array|descriptor|object)\b",
        r"\b(?:failed|unable|could(?:n't| ?not)|cannot) to? ?(?:allocate|alloc|pin|mmap|reserve)\b",
    ),
    (
        "checkpoint-mismatch",
        r"\b(?:checkpoint|weights? file|state[_ ]dict|optimizer states?|saved (?:model|state))\b",
        r"(?:\b(?:has|have) [0-9]{1,6} \w{1,20} but\b|\bmissing (?:tensor|key|parameter|weight)s?\b"
        r"|\bunexpected (?:tensor|key|parameter|weight)s?\b"
        r"|\bsaved with\b.{0,60}\b(?:current|now|but|expected)\b|\bmismatch|\bdoes not match\b|\bdiffer)",
    ),
    (
        "missing-accelerator shared-accelerator",
        r"\bMIG (?:device|instance|profile|mode|geometry|partition|config\w{0,8})s?\b",
        rf"(?:{_FAILED}|{_ABSENT}|{_BUSY})",
    ),
    ("missing-accelerator", r"\bCDI (?:spec|device|cache|handler)s?\b", rf"(?:{_FAILED}|{_ABSENT})"),
    (
        "shared-accelerator",
        rf"(?:{_DEVICE}|\bdevice [0-9]{{1,3}}\b)",
        rf"(?:{_BUSY}|\b(?:two|several|multiple) (?:ranks|processes)\b)",
    ),
    (
        "container-permission",
        r"\b(?:container|seccomp|[Aa]pp[Aa]rmor|SELinux|cgroup|capabilit(?:y|ies)|CAP_[A-Z_]{3,20}"
        r"|SYS_[A-Z]{3,12}|user namespace)\b",
        rf"(?:{_DENIED}|\bmissing\b)",
    ),
    ("container-permission", r"\bx?cgroups?\b", _FAILED),
    # what users give to Open MPI and PRRTE (openpmix/prrte 52d5e4bb, src/mca/rmaps, src/mca/schizo: `help-*.txt`)
    (
        "invalid-setting",
        r"\b(?:directive|qualifier|modifier|rank ?file|host ?file|sequence file|affinity file|app(?:lication)? context"
        r"|(?:mapping|binding|ranking) (?:policy|request)|MCA (?:parameter|variable)|CPU list|command line option)s?\b",
        r"\b(?:un(?:recognized|known|supported)|contradict\w{0,4}|conflict\w{0,3}|invalid|malformed|missing|improper\w{0,2}"
        r"|not (?:recognized|supported|parseable|correct|in your allocation)|cannot|could not|does not support"
        r"|more than once|multiple|twice|too (?:few|many)|incorrect)\b",
    ),
    # namespaces of Linux; those of Kubernetes are settings
    (
        "container-permission",
        r"\b(?:user|mount|network|pid|PID|uts|UTS|ipc|IPC|cgroup|NEW(?:USER|NS|NET|PID|IPC|UTS)) namespaces?\b",
        rf"(?:{_DENIED}|{_FAILED}|\brequire[sd]?\b)",
    ),
    (
        "unsupported-accelerator",
        rf"(?:{_DEVICE}|\b(?:architecture|arch|compute capability|sm_?[0-9]{{2,3}}|gfx[0-9a-f]{{3,5}})\b)",
        r"\b(?:not supported|unsupported|no kernel|requires?|does not support|not implemented|not in the list"
        r"|not (?:compiled|built) for)\b",
    ),
    (
        "driver-release",
        r"\b(?:(?:GPU|kernel|NVIDIA|nvidia|amdgpu|ROCm|CUDA|display) (?:driver|module"
        r"|kernel module)(?: \w{1,12})?|KMD|DKMS|NVML|nvml)\b",
        rf"(?:{_UNLIKE}|{_ABSENT}|{_FAILED})",
    ),
    (
        "mixed-releases",
        r"\b(?:protocol|release|version|NCCL|Ray|MPI|build)s?(?: of \w{1,20}| version)?\b",
        r"\b(?:(?:does not|doesn't) match (?:the )?(?:head|peer|server|other|leader)|differs? (?:between|across)"
        r"|while (?:node|rank|worker|host) \S{1,20})",
    ),
    (
        "throttled-clocks",
        r"\b(?:clocks?|frequency|power|thermal|temperature)\b",
        r"\b(?:reduced|slowdown|throttl\w{2,4}|cap(?:ped)? reached|overheat\w{0,3}|above (?:the )?(?:limit"
        r"|threshold))\b",
    ),
    (
        "host-fault",
        r"\b(?:DIMM|memory module|CPU [0-9]{1,3}|socket [0-9]|kernel|motherboard|BMC|PCIe (?:root|bridge|switch))\b",
        r"\b(?:uncorrect\w{2,6}|oops|panic|machine check|MCE|(?-i:BUG:)|parity)\b",
    ),
    (
        "data-loading",
        r"\b(?:[Dd]ata ?[Ll]oaders?|prefetch\w{0,3}|input pipeline|dataset iterator)\b",
        rf"(?:{_SILENT}|\bempty\b|\bstarv\w{{2,4}}\b|\bdid not respond\b)",
    ),
    (
        "ranks-diverge",
        r"\b(?:ranks|processes|collectives?|all[_-]?(?:reduce|gather|to[_-]?all)|reduce[_-]?scatter|barrier"
        r"|broadcast)\b",
        r"(?:\btimed out\b|\bdiffer(?:s|ent)?\b|\bout of (?:order|sync)\b|\bmismatch|\bdesync\w{0,10}\b)",
    ),
    (
        "name-resolution",
        r"\b(?:DNS|hostnames?|host name|name server|FQDN|address of (?:host )?[a-z][\w.-]{1,60})\b",
        rf"(?:{_FAILED}|{_ABSENT}|\b(?:does not|not) resolve\b|\bcannot find\b)",
    ),
    (
        "wrong-interface",
        r"\b(?:interfaces?|network devices?|RDMA devices?|InfiniBand (?:HCA|device|adapter)s?"
        r"|loopback(?: address)?|docker0|subnet)\b",
        rf"(?:{_ABSENT}|\b[Nn]o (?:RDMA|InfiniBand|network)\b|\b(?:not routable|cannot connect|wrong|down)\b)",
    ),
    ("wrong-interface", r"\b(?:device|local|host|node|own|its) IP(?: address)?\b", rf"(?:{_FAILED}|{_ABSENT})"),
    (
        "wrong-interface",
        r"\b[Nn]o (?:valid |usable |active )?(?:InfiniBand|RDMA|EFA|RoCE|network) (?:HCA|device|adapter|interface"
        r"|NIC)s?\b",
        r"\b(?:found|detected|available|present|visible)\b",
    ),
    ("port-in-use", r"\b[Pp]orts? [0-9]{2,5}\b", rf"(?:{_BUSY}|\busing\b)"),
    (
        "unreachable-peer",
        r"(?:\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?|\b(?:RDMA|RoCE|(?-i:QP)|queue pair|GID|gid"
        r"|(?:RoCE|network|fabric) path|route|firewall|ping|endpoint|connection to)\b)",
        rf"(?:{_SILENT}|{_FAILED}|\bblock(?:s|ed)\b|\bunresolved\b|\bretries\b|\bno route\b)",
    ),
    (
        "job-ended",
        r"\b(?:job|spot|instance|node|wall ?time|time limit|reservation|allocation|pod|VM)\b",
        r"\b(?:preempt\w{0,4}|reclaimed|drained|(?:time )?limit (?:is )?(?:exceeded|reached)|evicted|cancell?ed"
        r"|deallocated|revoked|interrupted|maintenance)\b",
    ),
    ("peer-ended", _RANKS, rf"(?:{_CLOSED}|\bheartbeats?\b.{{0,30}}\bstopped\b|\bbroken pipe\b)"),
    (
        "peer-ended",
        r"\b(?:heartbeats?|[Bb]roken pipe|process group)\b",
        r"\b(?:stopped|lost|missed|while (?:send|receiv)ing|another (?:rank|process) failed)\b",
    ),
    (
        "absent-ranks",
        _RANKS.replace("client", "server"),
        r"\b(?:pending|missing|never (?:registered|joined|started|connected)|not (?:yet )?(?:registered|joined"
        r"|ready|started|scheduled)|did not (?:join|register|start|complete)|to come up|incomplete|waiting)\b",
    ),
    ("absent-ranks", r"\b(?:[Rr]endezvous|gang|quorum|barrier)\b", rf"(?:{_SILENT}|{_FAILED}|\bincomplete\b)"),
    (
        "missing-accelerator",
        rf"(?:{_DEVICE}|\bnvidia\.com/gpu\b|\bCUDA_VISIBLE_DEVICES\b|\bdevice (?:index|ordinal|id)\b|\bTPU chips?\b)",
        rf"(?:{_ABSENT}|\bout of range\b|\bhid(?:es|den)\b|\bexpected [0-9]{{1,4}}\b|\b[Nn]o (?:usable )?(?:GPU"
        rf"|NPU|TPU|accelerator)s?\b|\bfewer\b)",
    ),
    (
        "file-permission",
        r"(?:\b(?:director(?:y|ies)|file|folder|path|write to|access to|owner)\b|/[a-z]\w{1,20}/)",
        _DENIED,
    ),
    ("storage-fault", _STORE, rf"(?:{_FAILED}|{_ABSENT}|{_SILENT}|{_TORN}|\bbusy\b|\bread-only\b)"),
    ("storage-fault", rf"(?:{_FILE}|\bfile\b|\bread\b|/(?:fsx|lustre|scratch)\S{{0,60}})", _TORN),
    ("outside-server", _REMOTE, _REFUSED_BY_SERVER),
    ("stopped-service", _SERVICE, rf"(?:{_ABSENT}|{_SILENT}|{_FAILED}|\bnot running\b|\bdoes not exist\b)"),
    ("library-release", _LIBRARY, rf"(?:{_UNLIKE}|{_ABSENT}|\bsetup failed\b|\bABI\b|\bcannot load\b)"),
    (
        "program-fault",
        r"\b(?:kernel|worker|process|thread|engine)\b",
        r"\b(?:out-of-bounds|SIGSEGV|SIGBUS|SIGILL|SIGFPE|illegal access|core dump\w{0,2})\b",
    ),
    (
        "invalid-setting",
        r"\b(?:group|user|account|partition|queue|profile|runtime|resource|entr(?:y|ies)|label|namespace|secret)s?\b",
        rf"(?:{_ABSENT}|\bno matching\b|\b[Uu]nable to find\b|\b[Uu]nknown\b|\b[Ii]nvalid\b|\bdoes not exist\b)",
    ),
    (
        "invalid-setting",
        r"\b(?:arguments?|options?|flags?|parameters?|config(?:uration)?|key|setting|environment variable"
        r"|variable|field|value of|batch size|degree)\b",
        r"(?:\b(?:unknown|unrecognized|required|invalid|empty|conflict\w{0,4}|unset|not set|not (?:a )?valid"
        r"|mutually exclusive|must be|deprecated and removed|out of range)\b)",
    ),
    # a program that refuses what it is asked for, in the words of its arguments' checks: a feature with another one,
    # or a value (vllm-project/vllm v0.33.0, `vllm/config`; sgl-project/sglang v0.5.23, `srt/server_args.py`)
    (
        "invalid-setting",
        r"\b(?:Value|Assertion|NotImplemented|Config\w{0,8})Error: \S.{0,160}",
        _UNSUPPORTED,
    ),
)
"""Causes, objects and what happened to them, the more specific before the more common."""
PLACE = r"\S{0,200}\.(?:c|cc|cpp|cu|h|hpp|py|go|rs):[0-9]{1,6}\b\]?|File \"[^\"]{1,400}\", line [0-9]{1,6}"
"""The line of a source that an error names; it identifies no object."""
OF_A_PROGRAM = (
    r"\b(?:Type|Key|Index|Attribute|Name|UnboundLocal|Recursion|ZeroDivision|Overflow|UnicodeDecode"
    r"|UnicodeEncode|Syntax"
    r"|Indentation|Template|Parser|Integrity|StopIteration|Lookup)Error\b"
    r"|\bmount\b.{0,200}\b[Pp]ermission denied|\bTensor\b|\btensors\b|\bdtype\b"
    r"|\bshapes?\b"
)
"""Exceptions of a program's own code, and words of its arrays."""
