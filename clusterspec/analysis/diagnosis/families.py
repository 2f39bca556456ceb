"""Families of causes, for logs without a line that states the cause: the causes that a line leaves open, and the
measurement that decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.service_causes import UNSAID
from clusterspec.analysis.diagnosis.stated_causes import WEAK
from clusterspec.results.diagnosis import Cause

_SYSTEM = "NCCL_DEBUG=WARN: the line above this one names the call that failed; "
_SHM = f"{_SYSTEM}df -h /dev/shm in the container, then --ipc=host"
_REACH = f"{_SYSTEM}nc -vz between the nodes; docker run --net=host"
_INTERFACE = f"{_SYSTEM}ip -br addr; set NCCL_SOCKET_IFNAME to the interface that reaches the other nodes"
_DEVICE = "NCCL_DEBUG=WARN: 'Cuda failure' on the line above this one names the error; "
_FIRST = "the first error of every rank, by time: one that has none was stopped, one that has another is the cause; "
_HANG = "py-spy dump of every rank: the same call in all is the network, another call in one is the program; "
_ALONE = "all_reduce_perf of nccl-tests with the same ranks: if it also hangs, the program is not the cause; "
_BLOCKED = "ps -eo pid,stat,wchan of every rank: state D and nfs_… or cl_… is the file system; "
_P2P = f"{_ALONE}then with NCCL_P2P_DISABLE=1: if that runs, it is this"

_MULTICAST = (
    f"{_ALONE}then with NCCL_NVLS_ENABLE=0: if that runs, systemctl status nvidia-fabricmanager, of the release of the "
    "driver"
)
_RELEASE = (
    "pip show of the library that raises it, against the releases that the program requires; its release notes and "
    "issues for that message"
)

SEVERAL_NODES = {
    "plugins": (
        ("plugin-missing", "ldconfig -p | grep nccl-net on every node: the same plugin in all images, or in none"),
    ),
    "system-call": (("unreachable-peer", _REACH), ("wrong-interface", _INTERFACE), ("shared-memory", _SHM)),
    "start": (
        ("unreachable-peer", f"{_ALONE}nc -vz from every node to the first one's port"),
        ("wrong-interface", f"{_ALONE}set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to one interface on all nodes"),
        ("absent-ranks", "the number of ranks that printed this line, against the number that the job waits for"),
    ),
    "connecting": (
        ("unreachable-peer", f"{_ALONE}nc -vz and ib_write_bw from every node to the others"),
        ("wrong-interface", f"{_ALONE}set NCCL_SOCKET_IFNAME and NCCL_IB_HCA to one network on all nodes"),
        ("absent-ranks", "the number of ranks that printed this line, against the number that the job waits for"),
    ),
    "silent": (
        ("unreachable-peer", f"{_ALONE}ib_write_bw between each pair of NICs; the ports of all ranks open"),
        ("wrong-interface", f"{_ALONE}set NCCL_SOCKET_IFNAME and NCCL_IB_HCA to one network on all nodes"),
        ("ranks-diverge", f"{_HANG}TORCH_NCCL_TRACE_BUFFER_SIZE=2000 records the calls"),
        ("acs", f"{_ALONE}NCCL_NET_GDR_LEVEL=LOC and NCCL_P2P_DISABLE=1 in turn: if one of them runs, it is this"),
    ),
    "midway": (
        ("ranks-diverge", f"{_HANG}TORCH_NCCL_TRACE_BUFFER_SIZE=2000 records the calls"),
        ("data-loading", f"{_HANG}a rank without a batch; the number of batches of every rank"),
        ("packet-loss", f"{_ALONE}for an hour; ethtool -S of every NIC before and after it"),
        ("accelerator-fault", "dmesg | grep -i xid and dcgmi diag -r 3 on every host"),
    ),
    "timeout": (
        ("ranks-diverge", f"{_HANG}TORCH_NCCL_TRACE_BUFFER_SIZE=2000 records the calls"),
        ("unreachable-peer", f"{_ALONE}ib_write_bw between the nodes"),
    ),
}
"""Possible causes of each family if ranks are on several nodes, likeliest first, each with the measurement that
decides.

Published: NVIDIA/nccl issue 1634 (plugins), pytorch/pytorch issue 23363 and NVIDIA/nccl issue 375 (system calls),
sgl-project/sglang issue 2658 (start), NVIDIA/nccl issues 447 and 719 (silent), pytorch/pytorch issue 118369 (timeouts).
"""
ONE_NODE = {
    "plugins": (("plugin-missing", "find / -name 'libnccl-net*': the same LD_LIBRARY_PATH for every rank"),),
    "system-call": (("shared-memory", _SHM), ("wrong-interface", _INTERFACE)),
    "start": (("acs", _P2P), ("iommu-translation", _P2P), ("absent-ranks", "ps of the ranks: is each one started?")),
    "connecting": (("acs", _P2P), ("iommu-translation", _P2P)),
    "silent": (
        ("acs", _P2P),
        ("iommu-translation", _P2P),
        ("ranks-diverge", f"{_HANG}TORCH_NCCL_TRACE_BUFFER_SIZE=2000 records the calls"),
        ("driver-release", "dmesg | grep -i nvrm; the same run with another release of the driver"),
    ),
    "midway": (
        ("ranks-diverge", f"{_HANG}TORCH_NCCL_TRACE_BUFFER_SIZE=2000 records the calls"),
        ("data-loading", f"{_HANG}a rank without a batch; the number of batches of every rank"),
        ("accelerator-fault", "dmesg | grep -i xid and dcgmi diag -r 3 on the host"),
    ),
    "timeout": (
        ("ranks-diverge", f"{_HANG}TORCH_NCCL_TRACE_BUFFER_SIZE=2000 records the calls"),
        ("acs", _P2P),
    ),
}
"""Suspected causes and their tests for ranks on one node, by the family of the error. Sources: NVIDIA/nccl issue 473
and HRNet/DEKR issue 18 (containers), NVIDIA/nccl issue 257 (ACS, IOMMU).
"""
ANYWHERE = {
    "device-call": (
        ("unsupported-accelerator", f"{_DEVICE}torch.cuda.get_arch_list() names the accelerator's architecture?"),
        ("memory-full", f"{_DEVICE}nvidia-smi during the start"),
        ("shared-accelerator", f"{_DEVICE}print LOCAL_RANK and CUDA_VISIBLE_DEVICES of every rank"),
        ("driver-release", f"{_DEVICE}nvidia-smi and torch.version.cuda: a driver that is new enough for it"),
        ("accelerator-fault", f"{_DEVICE}dmesg | grep -i xid on every host; the same run without each host in turn"),
    ),
    "launcher": (  # NVIDIA/TensorRT-LLM issue 2405
        (
            "library-release",
            "ldd of mpi4py's module against the MPI of mpirun: one MPI, of the release it was built for",
        ),
        ("wrong-interface", "mpirun --mca btl_tcp_if_include and --mca oob_tcp_if_include: an interface of all nodes"),
    ),
    "arguments": (
        (
            "shared-accelerator",
            "NCCL_DEBUG=WARN names the ranks; print LOCAL_RANK and CUDA_VISIBLE_DEVICES of each",
        ),
        ("missing-accelerator", "nvidia-smi -L on every node, against the ranks that start there"),
    ),
    "argument": (
        ("library-release", "grep libnccl /proc/PID/maps: one library, of the release that the program was built with"),
        ("program-error", "NCCL_DEBUG=WARN names the argument; the program on two accelerators of one node"),
    ),
    "remote": (("peer-ended", _FIRST), ("unreachable-peer", f"{_FIRST}dmesg | grep -i link on its host")),
    "exhausted": (
        (
            "memory-full",
            "the same program with half of the batch, or half of the cache: it starts where memory is short",
        ),
        ("invalid-setting", "the limit that the line names, such as the size of a message or a quota"),
    ),
    "precondition": (("library-release", _RELEASE), ("invalid-setting", "the condition that the line names")),
    "unimplemented": (
        ("library-release", _RELEASE),
        ("unsupported-accelerator", "the same program on another generation"),
    ),
    "misfit": (
        ("program-error", "the operation that the line names, with the shapes and types that the program gives it"),
        ("invalid-setting", "the same program with the sizes and the mesh of its example"),
        ("library-release", _RELEASE),
    ),
    "unavailable": (("peer-ended", _FIRST), ("unreachable-peer", "nc -vz from every node to the address of that line")),
    "internal": (("program-fault", "the same program on one accelerator"), ("library-release", _RELEASE)),
    "members": (
        ("absent-ranks", "the starts in the logs of all nodes; srun with --ntasks-per-node as the devices of a node"),
        ("unreachable-peer", "nc -vz from every node to MASTER_ADDR and MASTER_PORT"),
    ),
    "saving": (
        ("storage-fault", f"{_BLOCKED}ls and a write to that directory from every node"),
        ("ranks-diverge", f"{_BLOCKED}a rank that saves alone while the others wait in a collective"),
    ),
    "locking": (
        ("storage-fault", f"{_BLOCKED}flock -n of a file in that directory from every node; a local cache instead"),
        ("peer-ended", "a process that ended may have left it: fuser -v of that file on every node; remove it if none"),
        ("kernel-compilation", "a build that still runs: nvcc, ptxas or ninja in ps of that host"),
    ),
    "compiling": (
        ("kernel-compilation", "nvcc, ptxas or ninja in ps of the host; if none runs, a lock in the cache is stale"),
        ("ranks-diverge", f"{_HANG}a rank that has the kernels waits for one that still compiles them"),
    ),
    "loading": (
        ("storage-fault", f"{_BLOCKED}a read of that file from every node"),
        ("data-loading", f"{_BLOCKED}the bandwidth of the file system with several readers"),
    ),
    "settings": (
        ("invalid-setting", "the option or key that the message names, against the model and the number of devices"),
    ),
    "registry": (
        (
            "library-release",
            "pip show transformers, against the release that the model's page names (transformers_version)",
        ),
    ),
    "key": (
        ("invalid-setting", "grep of that key in the file of settings, and in the one that the program's release has"),
        (
            "program-error",
            "the program on one accelerator: with the same error, the program or its settings are the cause",
        ),
    ),
    "library": (
        ("invalid-setting", "the arguments of the call that the traceback ends with, and the settings they come from"),
        (
            "program-error",
            "the program on one accelerator: with the same error, the program or its settings are the cause",
        ),
    ),
    "installed": (
        ("library-release", _RELEASE),
        (
            "program-error",
            "the program on one accelerator: with the same error, the program is the cause, else the cluster",
        ),
        ("invalid-setting", "the settings of its own example: if the program fails too, they are not the cause"),
    ),
    "computed": (
        (
            "program-error",
            "the program on one accelerator: with the same error, the program is the cause, else the cluster",
        ),
        ("library-release", _RELEASE),
        ("invalid-setting", "the settings of its own example: if the program fails too, they are not the cause"),
    ),
    "program": (
        (
            "program-error",
            "the program on one accelerator: with the same error, the program is the cause, else the cluster",
        ),
    ),
    "weights operation": (
        (
            "checkpoint-mismatch",
            "the names of the tensors in the checkpoint (model.safetensors.index.json) against those that the model's "
            "code of this release loads: another quantization or conversion, or a model that a later release supports",
        ),
        ("library-release", _RELEASE),
    ),
    "model operation": (
        (
            "library-release",
            "the release of transformers that the model's config.json names (transformers_version), and the first "
            "release of the engine that lists the model, against pip list",
        ),
        ("checkpoint-mismatch", "the model's config.json against the one on its page: an edited or an older file"),
    ),
    "compile operation": (
        (
            "unsupported-accelerator",
            "nvidia-smi --query-gpu=compute_cap --format=csv, or rocminfo, against what the library of that kernel is "
            "built for",
        ),
        ("library-release", "nvcc --version and torch.version.cuda: one release; its compiler and headers installed"),
    ),
    "rendezvous operation": (
        ("absent-ranks", "the number of ranks that started, against the number that the job waits for"),
        ("unreachable-peer", "nc -vz from every node to MASTER_ADDR and MASTER_PORT"),
    ),
    "device operation": (
        ("missing-accelerator", "nvidia-smi -L within the container; CUDA_VISIBLE_DEVICES of every rank"),
        ("driver-release", "nvidia-smi and torch.version.cuda: a driver that is new enough for it"),
    ),
    "download operation": (
        (
            "outside-server",
            "curl -I of that server from the node; a proxy, a token, or files that are downloaded in advance",
        ),
        ("invalid-setting", "the name of the model or of the file, as its page has it"),
    ),
    "start operation": (
        ("library-release", "the program that the traceback starts: which PROGRAM, and its release, on every node"),
        ("program-error", "the same command by hand: what it prints"),
    ),
    "import operation": (
        ("library-release", _RELEASE),
        ("program-error", "python -c 'import NAME' for the module of the last frame, on one accelerator"),
    ),
    "asserted": (
        (
            "program-error",
            "the program on one accelerator: with the same error, the program is the cause, else the cluster",
        ),
        ("library-release", _RELEASE),
    ),
}
"""Suspected causes and their tests for any placement of ranks, by the family of the error. Source: NCCL,
`src/nccl.h.in` and "Troubleshooting", on the meaning of each result.
"""


SILENT = ("connecting", "silent")
"""The families of logs that end with a line of a communicator, without an error."""


def families_of_causes(run: PlacedRun, families: Collection[str] = (), but: Collection[str] = ()) -> Iterator[Cause]:
    """The causes of the families named in log lines, each with the measurement that distinguishes it from the others.
    ``families`` limits them to the named ones; ``but`` excludes families.
    """
    members = ANYWHERE | (SEVERAL_NODES if run.group.nodes > 1 else ONE_NODE)
    for family, causes in members.items():
        if family in but or (families and family not in families):
            continue
        for text, line in run.log_lines(f"family {family}")[:1]:
            evidence = f"line {line} of the log: {text}{UNSAID}"
            for name, following in causes:
                if name != "ranks-diverge" or not _all_ranks_wait_in_one_call(run):
                    yield Cause(name, evidence, following.removesuffix("; "), WEAK)


_OVER_PCIE = frozenset({"acs", "iommu-translation"})
"""Causes that cannot affect traffic on direct links between accelerators."""


def causes_of_a_silent_end(run: PlacedRun) -> Iterator[Cause]:
    """The causes of a run whose log ends with a communicator line and has no error."""
    direct = not run.uses_network and run.cluster.scale_up.topology not in {"pcie", "bridge"}
    reduced = direct and any(text != "0" for text, _ in run.log_lines("nvls"))
    for family in SILENT if reduced else ():
        for text, line in run.log_lines(f"family {family}")[:1]:  # NVIDIA/nccl issue 1706
            evidence = f"line {line} of the log: {text}, and the switches are to reduce (NVLS){UNSAID}"
            yield Cause("fabric-manager", evidence, _MULTICAST, WEAK)
    for each in families_of_causes(run, families=SILENT):
        if not direct or each.name not in _OVER_PCIE:
            yield each


def _all_ranks_wait_in_one_call(run: PlacedRun) -> bool:
    """Whether all ranks wait in the same call, so that no rank has diverged from the others."""
    waiting = (text.rpartition(" ")[2].split(",") for text, _ in run.log_lines("waiting"))
    return any(set(map(int, ranks)) >= set(range(run.group.ranks)) for ranks in waiting)
