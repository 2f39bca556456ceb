"""Lines of engines, training programs and kernels that state why a run is slow or stopped."""

from __future__ import annotations

import re

from clusterspec.logs.statements.build_lines import BUILD_PATTERNS
from clusterspec.logs.statements.engine_lines import ENGINE_PATTERNS
from clusterspec.logs.statements.exit_lines import EXIT_PATTERNS
from clusterspec.logs.statements.fact_lines import FACT_PATTERNS
from clusterspec.logs.statements.failure_lines import FAILURE_PATTERNS
from clusterspec.logs.statements.framework_lines import FRAMEWORK_PATTERNS
from clusterspec.logs.statements.launcher_lines import LAUNCHER_PATTERNS
from clusterspec.logs.statements.library_lines import LIBRARY_PATTERNS
from clusterspec.logs.statements.platform_lines import PLATFORM_PATTERNS

_HOLDERS = r"(?:Process [0-9]{1,9} has [0-9.]{1,9} GiB memory in use\. ?){2}"
"""Two processes that hold memory of the device according to PyTorch; in a container, one may be the program itself."""
PROGRAM_PATTERNS = (
    # vLLM before V1 (vllm/core/scheduler.py), SGLang (python/sglang/srt/managers/scheduler.py; until 0.4 other words)
    (
        "cache-full",
        re.compile(r"(preempted by PreemptionMode\.\w{1,20} mode because there is not enough KV cache space)"),
    ),
    ("cache-full", re.compile(r"((?:KV cache pool is full\. Retract|[Dd]ecode out of memory happened).{0,60})")),
    # vLLM (vllm/worker/worker.py; V1: vllm/v1/core/kv_cache_utils.py), SGLang (model_runner.py)
    (
        "cache-full",
        re.compile(
            r"(max seq len \([0-9]{1,9}\) is larger than the maximum number of tokens that can be stored in KV cache "
            r"\([0-9]{1,9}\))"
        ),
    ),
    (
        "cache-full",
        re.compile(r"(.{0,20} is needed, which is larger than the available KV cache memory)"),
    ),
    ("cache-full", re.compile(r"(No available memory for the cache blocks)")),
    ("cache-full", re.compile(r"(Not enough memory\. Please try to increase --mem-fraction-static)")),
    # PyTorch (c10/cuda/CUDACachingAllocator.cpp) and XLA
    (
        "out-of-memory",
        re.compile(
            r"((?:CUDA|HIP|XPU|NPU) out of memory\. Tried to allocate [0-9.]{1,9} \w{1,5})"
            rf"(?!.{{0,300}}?{_HOLDERS})"
        ),
    ),
    ("crowded-device", re.compile(rf"(out of memory\. Tried to allocate .{{0,300}}?{_HOLDERS})")),
    ("out-of-memory", re.compile(r"(RESOURCE_EXHAUSTED: Out of memory.{0,80})")),
    (
        "out-of-memory",
        re.compile(
            r"((?:RESOURCE_EXHAUSTED|Resource exhausted): (?:Attempting to (?:reserve|allocate)|Ran out of memory"
            r"|Failed to allocate) .{1,80})"
        ),
    ),
    # the kernel (mm/oom_kill.c), Slurm, PyTorch
    ("host-memory", re.compile(r"((?:Memory cgroup out|Out) of memory: Killed process [0-9]{1,9}.{0,40})")),
    ("host-memory", re.compile(r"([Dd]etected [0-9]{1,6} oom[_-]kill event.{0,60})")),
    ("host-memory", re.compile(r"(DataLoader worker \(pid[^)]{1,40}\) is killed by signal: Killed)")),
    ("host-memory", re.compile(r"(Workers \(tasks / actors\) killed due to memory pressure)")),  # Ray
    ("host-memory", re.compile(r"(Task was killed due to the node running low on memory)")),
    ("host-memory", re.compile(r"(exceeds the memory usage threshold of [0-9.]{1,8})")),
    ("host-memory", re.compile(r"(documentation on how to address the out of memory issue: .{0,80}ray-oom.{0,20})")),
    # PyTorch: full shared memory, and descriptors of it that no process may open any more
    ("shared-memory", re.compile(r"(might be caused by insufficient shared memory|workers are out of shared memory)")),
    ("shared-memory", re.compile(r"(unable to (?:open|write to) .{1,80}: No space left on device)")),
    ("shared-memory", re.compile(r"(\[Errno 28\] No space left on device.{0,9}/dev/shm.{0,40})")),
    ("bus-error", re.compile(r"(Caught signal 7 \(Bus error)")),
    ("open-files", re.compile(r"(OSError: \[Errno 24\] Too many open files|received 0 items of ancdata)")),
    ("open-files", re.compile(r"(Too many open files\. Communication with the workers)")),
    # a limit of watches of files (inotify(7): `max_user_watches`, `max_user_instances`), not of storage
    (
        "open-files",
        re.compile(r"(\binotify_?(?:add_watch|init1?)\b.{0,60}(?:[Nn]o space left on device|[Tt]oo many open files))"),
    ),
    ("shared-object", re.compile(r"(unable to open shared memory object <[^>]{1,80}> in read-write mode)(?!:)")),
    # the CUDA runtime in any program: cudaErrorSystemNotReady, cudaErrorInsufficientDriver, cudaErrorNoDevice
    (
        "fabric-manager",
        re.compile(r"(?:802|CUDA|[Ee]rror|[Ff]ailed|[Cc]ouldn't)\W.{0,80}?(system not yet initialized)"),
    ),
    # locks of files. Threads: bcbio/bcbio-nextgen issue 2707 and h5py/h5py issue 1101 (HDF5), GEOS-DEV/GEOS issue 1482
    # (ROMIO)
    (
        "storage-fault",
        re.compile(
            r"(file locking disabled on this file system|unable to lock file, errno = [0-9]{1,3}"
            r"|mounted with the 'flock' option)"
        ),
    ),
    # EADDRINUSE by its number. Thread: huggingface/accelerate issue 1649
    ("port", re.compile(r"(\bsocket error: errno:? 98\b)")),
    # an index beyond a table: the number of a token (PyTorch, `cuda/Indexing.cu`), or the class of a label. Threads:
    # huggingface/transformers issue 1848, and NVIDIA/garak issue 199 (a position)
    ("embedding-index", re.compile(r"(indexSelect\w{5,20}Index.{0,160}`srcIndex < srcSelectDimSize`)")),
    ("embedding-index", re.compile(r"(IndexError: index out of range in self)")),
    ("index-assert", re.compile(r"(device-side assert triggered|\bt >= 0 && t < n_classes\b|\bcudaErrorAssert\b)")),
    ("driver-release", re.compile(r"(The NVIDIA driver on your system is too old)")),
    # the driver's first call by the number of its result (`cuda.h`)
    (
        "fabric-manager",
        re.compile(r"(\bcuInit(?:\(0\))? (?:returned|failed)(?: with)?(?: error)?(?: code)?\W{0,3}\b802\b)"),
    ),
    (
        "driver-release",
        re.compile(r"(\bcuInit(?:\(0\))? (?:returned|failed)(?: with)?(?: error)?(?: code)?\W{0,3}\b80[34]\b)"),
    ),
    ("no-device", re.compile(r"(\bcuInit(?:\(0\))? (?:returned|failed)(?: with)?(?: error)?(?: code)?\W{0,3}\b100\b)")),
    (
        "unknown-error",
        re.compile(r"(\bcuInit(?:\(0\))? (?:returned|failed)(?: with)?(?: error)?(?: code)?\W{0,3}\b999\b)"),
    ),
    ("no-device", re.compile(r"(No CUDA GPUs are available)")),
    # Python; a path of shared memory is not storage
    (
        "storage",
        re.compile(r"(\[Errno (?:28|122)\] (?:No space left on device|Disk quota exceeded))(?!.{0,9}/dev/shm)"),
    ),
    ("unnamed-device", re.compile(r"(\[Errno 28\] No space left on device)\W{0,3}$")),
    # the driver of NVIDIA; Xids of other numbers are in `xids.csv`, 144 to 150 are errors of NVLink 5
    ("hardware", re.compile(r"(NVRM: Xid .{1,40}: (?:14[4-9]|150), [\w ]{1,40} Fatal.{0,60})")),
    ("link-event", re.compile(r"(NVRM: Xid .{1,40}: (?:14[4-9]|150), [\w ]{1,40} Nonfatal.{0,60})")),
    (
        "driver-release",
        re.compile(
            r"(NVRM: .{0,120}(?:is not supported by (?:open )?nvidia\.ko|requires use of the NVIDIA open).{0,40})"
        ),
    ),
    ("hardware", re.compile(r"(fallen off (?:of )?the bus(?: and is not responding)?)")),
    ("hardware", re.compile(r"(Unable to determine the device handle for GPU.{1,80})")),
    # amdgpu (amdgpu_ras.c)
    ("hardware", re.compile(r"(uncorrectable hardware error\(.{1,60}\))")),
    ("hardware", re.compile(r"([0-9]{1,9} new uncorrectable hardware errors detected in .{1,40})")),
    # PyTorch with TORCH_DISTRIBUTED_DEBUG=DETAIL, NCCL with NCCL_CHECKS_DISABLE=0 before 2.5
    ("diverging", re.compile(r"(Detected mismatch between collectives on ranks.{0,120})")),
    ("diverging", re.compile(r"(NCCL WARN Mismatched collective detected.{0,80})")),
    # Mooncake (transfer engine): the status of a transfer as libibverbs words it, and the handshake
    ("unreachable", re.compile(r"Process failed for slice .{1,400}?\): (transport retry counter exceeded)")),
    ("unreachable", re.compile(r"(\[Handshake\] Failed to modify QP to RTR.{0,100})")),
    ("transfer-refused", re.compile(r"Process failed for slice .{1,400}?\): (remote invalid request error)")),
    ("peer-memory", re.compile(r"(Failed to register memory 0x\w{1,16}: Bad address)")),
    # PyTorch (torch/csrc/distributed/c10d/socket.cpp): the store at which ranks meet
    ("rendezvous", re.compile(r"(client socket has timed out after \w{1,12} while trying to connect to .{1,60})")),
    ("rendezvous", re.compile(r"(CoordinationService/RegisterTask)")),  # JAX, where a worker never reaches the first
    ("rendezvous", re.compile(r"(connection to the C10d store has failed)")),
    ("rendezvous", re.compile(r"(client socket has failed to connect to any network address of .{1,60})")),
    # the same, and NCCL: an address of the network 0.0.0.0/8, which no host has
    (
        "number-address",
        re.compile(
            r"(\b[Cc]onnect(?:ing)? to (?:\[::ffff:)?0\.(?!0\.0\.[01]\b)(?:[0-9]{1,3}\.){2}[0-9]{1,3}\b.{0,40})"
        ),
    ),
    # NCCL and aws-ofi-nccl: no network at all, and a NIC of another network namespace (ENODEV)
    ("no-network", re.compile(r"(Failed to initialize any NET plugin)")),
    ("no-network", re.compile(r"(fi_getinfo(?:\(\) call failed)?: (?:-61 \()?No data available)")),
    ("foreign-nic", re.compile(r"(ibv_modify_qp failed with (?:error )?(?:19 )?No such device.{0,60})")),
)
"""Names of statements and the patterns of their lines, as the sources of these programs word them."""
_OF_ANY_PROGRAM = (
    "bus-error",
    "fabric-manager",
    "hardware",
    "locked-memory",
    "open-files",
    "peer-limit",
    "peer-refused",
    "protection",
    "registration",
    "shared-accelerator",
    "shared-memory",
    "unreachable",
)
_PATTERNS = (
    *PROGRAM_PATTERNS,
    *FAILURE_PATTERNS,
    *LIBRARY_PATTERNS,
    *LAUNCHER_PATTERNS,
    *PLATFORM_PATTERNS,
    *FRAMEWORK_PATTERNS,
    *ENGINE_PATTERNS,
    *BUILD_PATTERNS,
    *EXIT_PATTERNS,
    *FACT_PATTERNS,
)
OF_DEVICES = ("power-cap", "resting-link")
"""What device tools print about clocks and links, which may show the device at work or at rest."""
STATING = frozenset(
    {
        "bound-cores",
        "busy-disk",
        "cache-starved",
        "called-option",
        "data-share",
        "data-wait",
        "failing-nic",
        "far-copies",
        "host-copies",
        "host-governor",
        "lost-graphs",
        "low-clocks",
        "narrow-link",
        "preparing",
        "slow-device",
        "slow-peer-access",
        "stalled-peer-access",
        "reverse-name",
        "scarce-devices",
        "stopped-group",
        "store-wait",
        "uneven-shares",
        "ungraphed",
        "unlike-copies",
        "unlike-links",
        "unlike-widths",
        "unregistered",
        "unseen-by-program",
        "unseen-device",
        *_OF_ANY_PROGRAM,
        *(name for name, _ in _PATTERNS),
    }
) - {
    *("version-code", "rocm-release", "no-gdr", "gpu-buffer", *OF_DEVICES),
}
"""Names of statements that make a text a log, also where no line is of a collective library."""
