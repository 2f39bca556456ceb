"""Common words of the errors of any program, and the cause that each suggests where no known line states one.

Words of the system are from `strerror` of the C library, words of clusters from the reasons of Kubernetes events.
"""

from __future__ import annotations

_OF_MODELS = (
    r"\b(?:(?:[Tt]okenizer|[Cc]onfig\w{0,10}|[Pp]rocessor|[Mm]odel) class|[Mm]odel (?:type|architecture)s?"
    r"|[Aa]rchitectures? \[|[Oo]perator \w{1,30}::|[Qq]uantization (?:method|type|config)|rope[ _](?:type|scaling))"
)
"""What a model's files name, and an operator that a library registers."""
SUGGESTIONS = (
    # devices and files that the system refuses, by the error and what the line names with it
    (
        "shared-accelerator",
        r"/dev/(?:vfio|accel|neuron|nvidia|kfd|dri|davinci|hl|xpu).{0,120}[Dd]evice or resource busy"
        r"|[Dd]evice or resource busy.{0,120}/dev/(?:vfio|accel|neuron|nvidia|kfd|dri|davinci|hl|xpu)",
    ),
    ("shared-memory", r"/dev/shm|shared memory|\bshm\b.{0,40}(?:size|too small|limit)"),
    ("shared-memory", r"</torch_[0-9_]{3,40}>|\bboost::interprocess::\w{1,40}"),
    ("shared-memory", r"unable to mmap [0-9]{1,18} bytes from file <[^>]{0,80}>: Cannot allocate memory"),
    ("shared-memory", r"DataLoader worker .{0,40}exited unexpectedly"),
    ("locked-memory", r"locked memory|memlock|MEMLOCK"),
    ("file-limit", r"\binotify\b.{0,60}(?:[Nn]o space|limit|[Tt]oo many)|[Tt]oo many open files"),
    (
        "nic-limit",
        r"(?:ibv_|[Mm]em_?[Rr]egister|MEM_REGISTER|\b(?:QP|CQ|SRQ|MR|MW)s?\b|queue pair).{0,120}[Nn]o space left",
    ),
    (
        "container-permission",
        r"/sys/fs/cgroup\S{0,200}.{0,60}(?:[Pp]ermission denied|[Oo]peration not permitted|[Rr]ead-only file system)",
    ),
    # machines that a cloud does not give: codes and texts of EC2, Compute Engine, Azure and OCI, and quotas of
    # Kubernetes on anything but storage (skypilot-org/skypilot v0.14.1, sky/backends/cloud_vm_ray_backend.py lines 580
    # to 610; aws/aws-parallelcluster 451cc532, cli/src/pcluster/validators/cluster_validators.py)
    (
        "absent-ranks",
        r"\b[Ii]nsufficient(?:Instance|Host|ReservedInstance)?Capacity\b|\b(?:Vcpu|Instance)LimitExceeded\b"
        r"|\bMaxSpotInstanceCountExceeded\b|\bZONE_RESOURCE_POOL_EXHAUSTED|\bSkuNotAvailable\b"
        r"|\b(?:Zonal)?AllocationFailed\b|\bOverconstrained(?:Zonal)?AllocationRequest\b|\b[Oo]ut of host capacity\b"
        r"|\b[Qq]uota(?:Exceeded\b|_EXCEEDED\b)|\bQUOTA_EXCEEDED\b|\bexceeding approved \w{3,60} Cores quota\b"
        r"|\b[Qq]uota '?\w{3,60}'? exceeded\. {1,3}Limit\b"
        r"|\bexceeded quota: (?!.{0,160}\brequested: \S{0,60}(?:storage|persistentvolumeclaims)).{0,300}\blimited: ",
    ),
    ("storage-full", r"[Nn]o space left|(?<!GCE )[Qq]uota exceeded|[Dd]isk (?:is )?full|\bover [0-9]{2,3}% full\b"),
    (
        "storage-fault",
        r"^(?!.{0,120}\bUCX {1,4}[A-Z]{4}).{0,800}?[Ii]nput/output error"
        r"|[Ss]tale (?:NFS )?file|[Rr]ead-only file system|[Nn]o locks available"
        r"|[Ss]tructure needs cleaning|[Tt]ransport endpoint|MountVolume|[Uu]nable to attach or mount volumes",
    ),
    # a lock of a file that the file system does not give, as where it is shared and has none
    (
        "storage-fault",
        r"\b(?:\w{0,20}[Ll]ock(?:s|Error|Timeout|file|ing)?|flock|fcntl|lmdb\S{0,40})\b.{0,120}"
        r"(?:temporarily unavailable|[Nn]o locks|not (?:supported|implemented)|could not be acquired|not acquired)"
        r"|\bdatabase is locked\b"
        r"|\b(?:could not|cannot|unable to|failed to) (?:acquire|obtain|get|take) (?:an? |the )?(?:file )?lock\b",
    ),
    ("storage-fault", r"\bGPU ?[Dd]irect ?Storage\b|\bcu[Ff]ile\w{0,40}|\bnvidia[-_]fs\b"),
    ("file-permission", r"[Kk]ey has (?:expired|been revoked)|[Rr]equired key not available|[Kk]ey was rejected"),
    ("library-release", r"[Ee]xec format error|cannot execute binary file|bad ELF|wrong ELF class"),
    ("invalid-setting", r"\bno runtime for \""),
    # a queue that the driver of the kernel refuses, since the user's library writes its commands otherwise
    ("library-release", r"\b(?:QP|CQ|SRQ|queue pair)\b.{0,160}: Bad address\b"),
    # what the clients of object stores of AWS print, and packages that a run without a network does not find
    (
        "outside-server",
        r"\bawscrt::|\bAWS_(?:ERROR|IO)_[A-Z_]{3,60}\b"
        r"|\b[Nn]etwork (?:connectivity|access) is (?:disabled|not available)\b"
        r"|\b[Ff]ailed to fetch\b.{0,40}\bhttps?://|\bconnect to https?://[\w.-]{1,80}\.(?:com?|io|org|ai|cn|net)\b",
    ),
    # a program that a launcher does not find: uv, runc, programs in Go
    ("library-release", r"\b[Ff]ailed to (?:spawn|exec(?:ute)?): |\bfork/exec /\S{1,200}: no such file or directory"),
    # the firmware that a driver loads, which its package or an initial file system lacks: amdgpu, habanalabs, xe
    (
        "driver-release",
        r"\b(?:amdgpu|NVRM|nvidia|habanalabs|i915|xe)\b.{0,80}"
        r"(?:[Ff]ailed to (?:load|get|request)|[Cc]annot load|[Cc]ould not load) .{0,60}\bfirmware\b"
        r"|\bDirect firmware load for (?:amdgpu|nvidia|habanalabs|i915|xe)/.{1,80} failed with error -2\b",
    ),
    # a build for another device than that of the machine: operators of Ascend, engines of TensorRT
    (
        "unsupported-accelerator",
        r"\b(?:does not|doesn't|do not|don't) match (?:the )?(?:current |actual |target |detected |running ){0,2}"
        r"(?:device|GPU|NPU|accelerator|chip|compute capability|architecture)\b",
    ),
    # a socket of a service on the same host
    (
        "stopped-service",
        r"(?:[Cc]onnect|[Dd]ial|open|access)\w{0,4} .{0,120}/(?:var/)?(?:run|tmp)/\S{0,120}sock\w{0,4}\b.{0,60}"
        r"(?:[Nn]o such file|refused)",
    ),
    # words of the standard library of C++ in an exception of Python: an extension that was built for other inputs
    (
        "library-release",
        r"\b_?[Mm]ap(?:_base)?::at\b|\b(?:vector|basic_string|array|deque)::(?:_M_)?\w{1,24}"
        r"|\bbad[_ ](?:optional_access|variant_access|any_cast|function_call)\b",
    ),
    (
        "checkpoint-mismatch",
        r"\b(?:saved|trained|written|created|sharded) (?:with|on|by|for|over) [0-9]{1,6} .{0,80}"
        r"\b(?:run|now|but|current\w{0,3}|loading|into|while)\b.{0,40}\b[0-9]{1,6}\b"
        r"|\b(?:[Cc]heckpoint|[Oo]ptimizer states?|[Ss]hards?)\b.{0,60}? (?:used?|ha[ds]|w(?:as|ere)|of) .{0,60}?"
        r"\b(?:size|degree|number|count) of [0-9]{1,6},? (?:but|while|and) .{0,60}?\b(?:current|this run|now)\b",
    ),
    (
        "library-release",
        r"\balready used by an? \w{1,30} (?:config|model|tokenizer|processor)\b"
        r"|[Tt]ried to register an? .{1,300}\bmultiple times"
        r"|\b(?:metric|op|operator|kernel|class|plugin|flag)\b.{0,40}\b(?:with the same name|name) already exists\b",
    ),
    (
        "program-error",
        r"\balready (?:been )?(?:registered|initiali[sz]ed|defined|called)\b|\binitiali[sz]e\b.{0,60}\btwice\b"
        r"|\b(?:has|have) not been initialized\b|(?:Assertion|Runtime)Error: .{0,120}\bis not initiali[sz]ed\b",
    ),
    (
        "host-fault",
        r"[Kk]ernel panic|soft lockup|hard LOCKUP|detected stalls? on CPUs|Machine [Cc]heck"
        r"|\bDIMM.{0,80}\b[Uu]ncorrect|\b[Uu]ncorrect.{0,80}[ _@#-]\w{0,8}DIMM|\bMemory .{0,20}\| Uncorrectable"
        r"|\bevent severity: (?:fatal|recoverable)\b|\bEDAC\b.{0,60}\bUE\b",
    ),
    (
        "job-ended",
        r"\bPreempted (?:by|in order to)\b|TaintManagerEviction|DeletionByTaintManager|DisruptionTarget"
        # notices of clouds before they take a machine, and of systemd when it stops
        r"|\btermination is imminent\b|\b[Ii]nterruption notice\b|\bPower key pressed\b"
        r"|\bSystem is (?:powering down|rebooting)\b|\bThe system will (?:power off|reboot) now\b"
        r"|\bNodeNotReady\b|\b[Nn]ode is not ready\b",
    ),
    ("kv-cache-full", r"KV cache.{0,60}(?:not enough|insufficient|too small|exceed|larger)"),
    (
        "memory-full",
        r"(?:GPU|CUDA|HIP|NPU|XPU|HBM|device|accelerator).{0,60}(?:[Oo]ut of memory|OOM\b|OutOfMemory)"
        r"|RESOURCE_EXHAUSTED.{0,120}(?:memory|[Rr]eserve|[Aa]llocat)",
    ),
    # what a user or a container may not do; "insufficient" alone is of memory
    (
        "container-permission",
        r"[Ii]nsufficient (?:[Pp]rivilege|[Pp]ermission|capabilit).{0,80}(?:\bdevices?\b|\bNVIDIA_|nvml|\bcontainer)"
        r"|(?:nvml|NVML|\bdevices?|\bcontainer).{0,60}[Ii]nsufficient (?:[Pp]rivilege|[Pp]ermission|capabilit)",
    ),
    ("file-permission", r"[Ii]nsufficient (?:[Pp]rivileges?|[Pp]ermissions?|rights)"),
    ("memory-full", r"\b[Ii]nsufficient (?:\w{1,20} )?(?:GPU|device|HBM) memory"),
    ("gpudirect-refused", r"\b[Rr]egister\w{0,12} ?(?:\w{1,12} ){0,3}?[Mm]emory ?[Rr]egions?\b.{0,80}[Ff]ail"),
    ("gpudirect-refused", r"\b[Ff]ail\w{0,3} to register (?:\w{1,12} ){0,3}(?:GPU|device|CUDA|HIP) (?:memory|buffer)"),
    ("host-memory-full", r"[Cc]annot allocate memory|[Oo]ut of memory|\bOOM\b|\bOOMKilled\b"),
    (
        "process-limit",
        r"\bulimit -u\b|\bmax user processes\b"
        r"|\b(?:fail\w{0,3}|unable|cannot|could not) (?:to )?(?:create|start|spawn|fork) .{0,20}\b(?:thread|process)\b",
    ),
    # a daemon whose socket takes no more connections (`connect(2)`, EAGAIN)
    (
        "stopped-service",
        r"[Cc]onnect\w{0,3} (?:to )?.{0,60}\bsock(?:et)?\b.{0,30}[Rr]esource temporarily unavailable"
        r"|\bconnect to .{1,60} at unix:/{1,3}\S{1,120}:",
    ),
    ("process-limit", r"[Rr]esource temporarily unavailable|fork rejected by pids controller"),
    (
        "port-in-use",
        r"[Aa]ddress (?:is )?(?:already )?in use|\b[Pp]ort .{0,30}(?:in use|occupied|already (?:bound|allocated))",
    ),
    ("outside-server", r"[Ff]ailed to pull (?:and unpack )?image|\bErrImagePull\b|pull access denied|toomanyrequests"),
    (
        "name-resolution",
        r"[Rr]esolve[sd]? to ['\"]?127\.|[Uu]nknown host|name resolution|[Nn]ame or service|nodename nor servname|"
        r"(?:not|n't|to) resolve(?! reference| \S{0,40} ?(?:function|symbol|API|module|import|dependenc))|"
        r"no such host|gaierror",
    ),
    ("unstable-link", r"\b(?:[Ll]ink|[Pp]ort)s? (?:is |are |went |status .{0,12})?(?:down|DOWN)\b"),
    (
        "wrong-interface",
        r"[Cc]annot assign requested address|[Nn]o usable (?:network )?interface|[Nn]o network interface",
    ),
    # servers outside of the cluster: registries of images, hubs of models, logs of experiments
    (
        "outside-server",
        r"\bAn error occurred \(\w{1,60}\) when calling the"
        r"|\bgoogle\.(?:api_core|cloud|auth)\.[\w.]{0,60}\.[A-Z]\w{2,40}: "
        r"|\b(?:botocore|google\.(?:api_core|cloud|auth)|azure\.\w{1,20}|gcsfs|s3fs|adlfs)\.[\w.]{0,60}"
        r"(?:Error|Exception)\b"
        r"|[Tt]oo [Mm]any [Rr]equests|\bwandb\b"
        r"|returned error code: [45][0-9]{2}\b|is not a valid model identifier|\bgated repo",
    ),
    (
        "absent-ranks",
        r"[Ww]aiting for .{0,40}\b(?:nodes|workers|ranks|peers|processes|hosts)\b.{0,60}\btimed out"
        r"|[Tt]im(?:ed ?out|eout) .{0,20}waiting for .{0,40}\b(?:nodes|workers|ranks|peers|processes|hosts)\b",
    ),
    ("invalid-setting", r"\b(?:UR[LI]|uri) is (?:invalid|not valid)|[Ii]nvalid port number|as a host-port pair"),
    # a daemon of Slurm, of accounts or of keys and values, by its name, that does not answer; exceptions of NATS
    # (nats-io/nats.py, nats/errors.py and nats/js/errors.py)
    (
        "stopped-service",
        r"\bnats\.(?:js\.)?errors\.\w{1,40}|\b(?:NoServers|NoResponders)Error\b"
        r"|\betcdserver: (?:no leader|request timed out)"
        r"|\b(?:slurmdbd|slurmctld|slurmd|munged?|etcd|mysqld?|mariadbd?|redis|nvidia-persistenced|nv-hostengine)\b.{0,80}"
        r"(?:[Cc]onnection refused|connect failure|not running|No such file)",
    ),
    (
        "unreachable-peer",
        r"[Cc]onnection (?:refused|timed out|abort)|timed out on send/recv|[Nn]o route to host|unreachable|\bGIDs?\b"
        r"|[Hh]ost is down|(?:[Uu]nable|[Ff]ailed|[Cc]annot|[Cc]ould not|[Cc]ouldn't) (?:to )?connect\b"
        r"|[Cc]onnect(?:ion)? .{0,60}\b(?:failed|timed out)|timeout waiting for task launch"
        r"|[Hh]andshake (?:\w{1,12} )?(?:failed|failure|error|timed out)",
    ),
    ("peer-access-off", r"peer.access"),
    ("gpudirect-refused", r"GPU ?[Dd]irect|\bGDR\b|peer_?mem\b|[Dd]ma-?buf"),
    ("fabric-manager", r"[Ff]abric ?[Mm]anager|NVSwitch|\bIMEX\b"),
    (
        "accelerator-fault",
        r"[Uu]ncorrectable|\bECC\b|[Hh]ardware error|\bXid\b|reset the (?:board|device|GPU)",
    ),
    (
        "driver-release",
        r"(?:[Dd]river|CUDA).{0,60}(?:too old|insufficient|older than|upgrade|does not support CUDA)",
    ),
    (
        "library-release",
        r"\bversion ['\"]?v?[0-9]+(?:\.[0-9]+\w{0,12}){1,4}['\"]? (?:is )?(?:not supported|unsupported)"
        r"|\b[Ss]upported versions (?:are|include)\b|execve\(\): [\w.+-]{1,60}: No such file"
        r"|\bexecutable file not found\b|\b[Pp]lugin\b.{0,40}(?:[Ii]nitialization failed|failed to (?:load|initialize))"
        r"|\b(?:[Cc]annot|[Cc]ould not|[Cc]ouldn't) (?:find|load|initialize) .{0,40}\bplugin\b",
    ),
    # names that a model's files have and the release of a library does not know
    (
        "library-release",
        rf"{_OF_MODELS}.{{0,60}}?\b(?:(?:do|does|is|are) not (?:yet |currently )?(?:exist|supported|recogni[sz]ed?"
        r"|registered|implemented)|[Uu]nknown|[Uu]nrecogni[sz]ed)\b(?!.{0,30}\b(?:GPU|device|accelerator)s?\b)"
        rf"|\b(?:[Uu]nknown|[Uu]nrecogni[sz]ed|[Uu]nsupported|not recogni[sz]e) (?:this )?{_OF_MODELS}"
        r"|\b[Cc]ould not run '[\w:.]{3,80}' with arguments|\b[Ww]eights[- ]only load"
        r"|\b[A-Z]\w{1,30} is required to (?:load|use|run|build|compile)\b",
    ),
    # a device or a capability below the least one, and a release other than a program takes
    (
        "unsupported-accelerator",
        r"\b(?:NVIDIA|GeForce|Tesla|Quadro|Instinct|Radeon|GPU|[Dd]evice)\b.{0,60}\b(?:is )?too old\b"
        r"|\b[Cc]apabilit(?:y|ies)\b (?:>=|of at least|[0-9.]{1,4} or)",
    ),
    (
        "library-release",
        r"\bonly supports? [A-Za-z][\w.+-]{0,30} v?[0-9][\w.]{0,12} (?:or|and) (?:higher|later|newer|above|lower|older)"
        r"|\bgot [A-Za-z][\w.+-]{0,30} version\b",
    ),
    # a kernel that is named after an architecture
    (
        "unsupported-accelerator",
        r"^(?=.{0,950}[_.]sm_?[0-9]{2,3}[a-z]?\b)(?=.{0,950}\b(?:[Kk]ernel|cubin|GEMM|gemm|attention)\b)"
        r".{0,400}?\b(?:[Ee]rror|[Ff]ail\w{0,4}|[Nn]o)\b",
    ),
    (
        "unsupported-accelerator",
        r"(?:not support|[Uu]nsupport).{0,60}(?:GPU|device|architecture|capability|gfx|\bsm_?\d)",
    ),
    (
        "wrong-interface",
        r"\b[Nn]o (?:\w{1,20} )?(?:InfiniBand|RDMA|EFA|RoCE|IB) (?:HCA|device|adapter|NIC)s? .{0,20}"
        r"(?:found|available|detected|visible)",
    ),
    (
        "missing-accelerator",
        r"\b[Nn]o .{0,30}(?:GPU|NPU|device|accelerator|gpu)s? .{0,20}(?:found|available|detected|visible)"
        r"|\b(?:[Nn]o|any|[Ii]nvalid|[Uu]nknown|only [0-9]{1,3}) (?:\w{1,20} )?(?:GPU|NPU|CUDA|HIP|ROCm|XPU)s?\b"
        r"|device < num_gpus|[Uu]nable to initialize backend '(?:tpu|cuda|rocm)'|[Yy]our machine only has"
        r"|requested gpus?:",
    ),
    (
        "library-release",
        r"undefined symbol|[Uu]ndefined reference|symbol lookup|cannot open shared object|version mismatch|incompatible"
        r"|[Nn]o module named|PackageNotFoundError|DistributionNotFound|ImportError"
        r"|[Cc]ommand not found|cannot find -l|build stopped|VersionConflict"
        r"|(?:\bsh|^[\w./-]{1,200}): [0-9]{1,6}: (?!(?=\w{0,60}_)\w{0,60}[A-Z])[\w.+-]{1,60}: not found$"
        r"|\bconfigure(?:\.ac:[0-9]{1,6})?: error: "
        r"|[Ff]ailed to import (?!docker|image)|(?:module|type object|Config' object|\b_C\b).{0,60} has no attribute"
        r"|'(?:\w{1,40}\.){1,6}\w{1,60}' object has no attribute"  # a type of an extension has its module's name
        r"|unexpected keyword argument"
        r"|[Rr]equires? .{0,60}(?:version|[<>]=) ?[0-9v=<>]|not installed\b",
    ),
    ("remote-login", r"publickey|[Hh]ost key verification|\bssh: |\bkex_exchange"),
    ("throttled-clocks", r"[Tt]hermal|[Oo]verheat|power (?:brake|cap)"),
    (
        "checkpoint-mismatch",
        r"\b(?:set|load(?:ing|ed)?|copy(?:ing)?)\b.{0,60}\bshape\b.{0,80}\b(?:which has|but|expected|current)\b"
        r"|\bshape\b.{0,80}\b(?:stored|saved|checkpoint)\w{0,3} shape\b"
        r"|state[_ ]dict.{0,80}(?:different|mismatch|[Mm]issing|[Uu]nexpected)|KeyError: '(?:\w{1,40}\.){2,8}weight'",
    ),
    (
        "storage-fault",
        r"^(?!.{0,200}\b(?:malloc|realloc|free|heap|stack)\b).{0,800}?[Cc]orrupt"
        r"|[Cc]hecksum|unexpected EOF|inline_container|PytorchStreamReader|deserializing header",
    ),
    (
        "invalid-setting",
        r"network namespace|\bnetns\b|[Hh]ostfile|\bmust be an? (?:absolu\w{1,2}|relative) path\b"
        r"|[Ii]nvalid (?:value|option|flag\b|argument for|configuration|--?\w)"
        r"|Misconfiguration|admission webhook .{1,120} denied the request|unrecognized (?:option|argument)s?\b",
    ),
    # a variable, by its form, that is missing
    (
        "invalid-setting",
        r"^[^:]{1,200}: line [0-9]{1,6}: \w{1,80}: (?:unbound variable|parameter (?:null or )?not set)\s{0,8}$"
        r"|\bsh: [0-9]{1,6}: (?=\w{0,60}_)(?=\w{0,60}[A-Z])\w{1,60}: not found$|\bMissing (?:argument|option) '?--?\w"
        r"|\b[A-Za-z]{1,12}_[A-Za-z0-9_]{2,60} (?:is |was |are )?unset"
        r"|\b[A-Za-z]{1,12}_[A-Za-z0-9_]{2,60} (?:is |was |are )?not (?:set|present|defined|exported|found in)"
        r"|\b(?:missing|undefined|unset) (?:the )?(?:environment )?variable",
    ),
    ("invalid-setting", r"\b(?:is|are) mutually exclusive\b"),
    ("invalid-setting", r"environment variable|divisible by|multiple of|world[ _]?size|parallel[ _]size"),
    ("data-loading", r"[Dd]ata ?[Ll]oader.{0,60}tim"),
    (
        "program-fault",
        r"[Ss]egmentation fault|SIGSEGV|[Ii]llegal (?:memory|instruction|address)",
    ),
    (
        "peer-ended",
        r"\b(?:[Ww]orker|[Rr]ank|[Pp]eer|[Nn]ode|[Aa]ctor)s?\b.{0,40}\b(?:died|crashed|lost|killed|dead)\b",
    ),
    ("unreachable-peer", r"\bP_?[Kk]ey\b|[Ss]ubnet manager|\b(?:MTU|LID)s?\b"),
    # options of the launch, by their form
    (
        "invalid-setting",
        r"(?:Value|Assertion|Runtime|Argument|NotImplemented|Config\w{0,12}|Validation)Error: .{0,200}?"
        r"(?:(?<!\w)--[a-z][\w-]{2,40}|`\w{2,40}="
        r"|\b(?:not|n't|in) ?(?:be )?compatible with\b|\b(?:cannot|can't|not) be used (?:with|together|when|for)\b"
        r"|\b(?:must|should|needs? to|has to) be (?:an? )?(?:\w{1,12} )?"
        r"(?:integer|number|float|string|boolean|power of|between|greater|larger|less|smaller|at (?:least|most)"
        r"|in the range)\b"
        r"|\b(?:is|are) (?:greater|larger|higher|more|less|smaller|lower|fewer) than\b"
        r"|\b(?:[Mm]ore|[Ff]ewer|[Ll]ess|[Ll]arger|[Ss]maller) (?:\w{1,20} ){0,3}[0-9][0-9,]{0,20} than\b"
        r"|\bmutually exclusive\b|\b(?:at most|exactly|only) one of\b|\b(?:At most|Exactly|Only) one of\b"
        r"|\b[Cc]an(?: ?not|'t) use .{1,60} without\b"
        r"|\b[Pp]lease (?:set|specify|enable|disable|unset|pass|increase|decrease|reduce)\b"
        r"|\b(?:must|should|needs? to|has to) be (?:set|specified|one of|enabled|disabled|provided)\b"
        r"|\b[Yy]ou (?:can(?:no|')t|can ?not|must|should|need to|have to|are (?:trying|attempting))\b"
        r"|\bmust be (?:in|of) the form\b"
        r"|\b[Cc]an only (?:work|be used) with\b|\b[Ii]nvalid (?:\w{1,24} ){1,4}specified\b"
        r"|\b[Uu]nsupported (?:\w{1,24} ){0,3}\w{1,24}: |\b(?:is not (?:a )?valid|not (?:yet )?supported)\b"
        r"|\b(?:must|should|needs? to|cannot|can't) .{0,40}\b(?:GPUs?|devices?|nodes?|ranks?|workers?|process(?:es)?)\b"
        r"|\b\w{0,30}[Pp]arallel\w{0,12}\b.{0,60}\b(?:must|should|needs?|cannot|can't)\b"
        r"|\b(?:must|should|needs?|cannot|can't|need to) .{0,60}\b\w{0,30}parallel\w{0,12}\b"
        r"|not supported (?:with|for|by|in)\b|\bonly supports?\b|[Uu]nknown \w{1,20}:)",
    ),
    ("file-permission", r"\bch(?:own|mod|grp|anging ownership)\b.{0,200}[Nn]ot permitted"),
    (
        "container-permission",
        r"[Oo]peration not permitted(?! when stream| on an event)|[Ff]unction not implemented",
    ),
    ("remote-login", r"\b[Aa]ccess denied for user\b|\bPAM\b"),
    ("file-permission", r"^(?!.{0,400}\bmount).{0,400}[Pp]ermission denied"),
    # a file that others hold open on a shared file system. Thread: triton-lang/triton issue 11512
    (
        "storage-fault",
        r"[Dd]evice or resource busy: ['\"]?/(?!dev/)|\b(?:rm|mv|rmdir): .{1,200}[Dd]evice or resource busy",
    ),
    ("shared-accelerator", r"[Dd]evice or resource busy"),
    # exceptions of the interfaces of clouds
    (
        "invalid-setting",
        r"\b(?:Invalid|Missing|Unsupported)\w{0,20}(?:Parameter|Argument|Value|Option|Input)\w{0,20}Exception\b",
    ),
    # a file of settings that an error names
    ("invalid-setting", r"(?<![\w/])[\w-]{1,40}\.(?:conf|cfg|ini|toml)\b"),
    ("program-error", r"\w{1,40}Error: .{0,160}\b(?:must|should|has to|needs to) be called (?:before|after)\b"),
    # calls of functions with arguments that they do not take
    (
        "program-error",
        r"\bTypeError: .{0,200}\b(?:missing \d+ required|takes \d+ positional|unexpected keyword argument)",
    ),
)
"""Causes and the common words of their errors, the more specific before the more common."""
SYSTEM_ERRORS = (
    *("Device or resource busy", "xec format error", "annot execute binary", "o locks available", "needs cleaning"),
    *("ransport endpoint", "ey has expired", "equired key not", "ost is down", "annot assign requested"),
    *("ermission denied", "o space left on device", "nput/output error", "tale file handle", "ead-only file system"),
    *("peration not permitted", "unction not implemented", "ccess denied for user"),
    *("temporarily unavailable", "annot allocate memory", "nodename nor servname"),
    *("Uncorrectable Machine Check", "Machine Check Exception", "Uncorrectable ECC"),
    *("has an invalid value", "command not found", "No route to host", "ernel panic", "soft lockup", "stalls on CPU"),
    *("does not match the current device", "Direct firmware load for ", "unrecognized option '--", " Caused by: "),
)
"""Words of errors of the system that are enough to show an error."""
EVENTS = (
    *("Failed to pull image", "MountVolume", "attach or mount volumes", "rejected by pids", "Preempted "),
    *(
        "NodeNotReady",
        "ode is not ready",
        "TaintManager",
        "DisruptionTarget",
        "event severity: ",
        "EDAC",
        "ErrImagePull",
    ),
    *("termination is imminent", "nterruption notice", "Power key pressed", "System is ", "The system will "),
    *("RESOURCE_POOL_EXHAUSTED", "QuotaExceeded", "InstanceCapacity", "fork/exec /", "not registered with GCS"),
    *("api_core.exceptions.", "% full", "kex_exchange", "VersionConflict", "wandb: Network", "object store is using"),
)
"""Words of events of clusters, of kernels and of services that are enough to show an error, although they name none."""
