"""Causes of calls that the system refused: by the call and the error that a line names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STEP_OF, STRONG, WEAK
from clusterspec.logs.statements.refused_calls import CALL, NO_PATH
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

_REACH = "run show_gids, and ping and ib_write_bw between the NICs of that pair; open the ports of all ranks"
_INTERFACE = (
    "run ip -br addr; set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to the interface that reaches the other nodes"
)
_TCP = "set btl_tcp_if_include and oob_tcp_if_include of Open MPI likewise"
_DEVICES = {
    "gid": (
        "run show_gids within the container for the indices of its NICs; unset NCCL_IB_GID_INDEX, or set it to one "
        "of them"
    ),
    "open": (
        "check ls -l /dev/infiniband within the container; use docker run --device=/dev/infiniband --cap-add=IPC_LOCK"
    ),
    "device": (
        "ls -ln /dev/kfd /dev/dri /dev/nvidia* within the container, and id: docker run --device=/dev/kfd "
        "--device=/dev/dri --group-add of the group that owns them, or --gpus all"
    ),
    "exchange": (
        "check that the host of that address is up; the connection was made before: look for a firewall or an address "
        "translation between the nodes that ends idle connections, and for lost packets (ss -ti)"
    ),
    "provider": (
        "fi_info -v within the job: the provider, its attributes and its release; on Slingshot the key of the job: "
        "SLINGSHOT_VNIS of every rank, srun --network=single_node_vni, mpirun --prtemca ras_base_launch_orted_on_hn 1"
    ),
}
_IPC = (
    "run with NCCL_P2P_DISABLE=1; docker run --ipc=host --pid=host; unset PYTORCH_CUDA_ALLOC_CONF=expandable_segments "
    "and HSA_ENABLE_IPC_MODE_LEGACY"
)
_NEXT = {
    "unreachable-peer": _REACH,
    "wrong-interface": f"{_INTERFACE}; {_TCP}",
    **STEP_OF,
    "invalid-setting": _IPC,
    "container-permission": _DEVICES["device"],
}
CALLS: dict[tuple[str, str], tuple[tuple[str, float], ...]] = {
    # openucx/ucx issue 6264 (keys of memory), ofiwg/libfabric issues of pinned memory, MiaAI-Lab (a kernel)
    ("register", "ENOMEM"): (
        *(("locked-memory", GIVEN), ("gpudirect-refused", WEAK), ("driver-release", WEAK)),
        *(("nic-limit", WEAK), ("host-memory-full", WEAK)),
    ),
    # objects that the firmware of a NIC makes, not the kernel: openucx/ucx issue 5351
    ("firmware", "ENOMEM"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    ("firmware", "EAGAIN"): (("nic-limit", STRONG),),
    ("firmware", "EREMOTEIO"): (("nic-limit", GIVEN), ("nic-fault", GIVEN)),
    ("firmware", "EINVAL"): (("library-release", GIVEN), ("nic-limit", GIVEN)),
    ("firmware", "EPERM"): (("container-permission", STRONG),),
    # objects that a provider of libfabric makes on its own host: without a key of the job, or for a feature that its
    # release lacks. open-mpi/ompi issue 12038, uiuc-hpc/lci issue 110 (keys of Slingshot), KhiopsML/khiops issue 307
    ("provider", "EOPNOTSUPP"): (("invalid-setting", STRONG), ("library-release", GIVEN)),
    ("provider", "EINVAL"): (("invalid-setting", GIVEN), ("library-release", GIVEN)),
    ("provider", "EPERM"): (("container-permission", STRONG), ("invalid-setting", GIVEN)),
    ("provider", "EACCES"): (("container-permission", STRONG), ("invalid-setting", GIVEN)),
    ("register", "EAGAIN"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    ("create", "EAGAIN"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    ("register", "EFAULT"): (("gpudirect-refused", STATED),),
    ("register", "EINVAL"): (("gpudirect-refused", STRONG),),
    ("register", "EPERM"): (("gpudirect-refused", STRONG), ("locked-memory", GIVEN)),
    ("register", "EOPNOTSUPP"): (("gpudirect-refused", STRONG),),
    ("register", "EREMOTEIO"): (("gpudirect-refused", STRONG), ("nic-fault", GIVEN)),
    # a limit of locked memory, or more entries than the NIC has: jcxue/RDMA-Tutorial issue 6
    ("create", "ENOMEM"): (("locked-memory", GIVEN), ("nic-limit", GIVEN)),
    ("create", "EPERM"): (("locked-memory", STRONG),),
    ("create", "EREMOTEIO"): (("nic-fault", STRONG),),
    ("init", "EINVAL"): (("nic-fault", STRONG), ("invalid-setting", GIVEN)),
    ("init", "ENODEV"): (("wrong-interface", STRONG), ("nic-fault", GIVEN)),
    ("init", "EREMOTEIO"): (("nic-fault", STRONG),),
    ("address", "EREMOTEIO"): (("unreachable-peer", STRONG), ("nic-fault", GIVEN)),
    ("address", "EINVAL"): (("unreachable-peer", STRONG), ("wrong-interface", GIVEN)),
    ("address", "ENOMEM"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    **{("address", error): (("unreachable-peer", STATED),) for error in NO_PATH},
    # a library and a module of the kernel of two releases: openucx/ucx issue 5469
    **{
        ("query", error): (("library-release", STRONG), ("driver-release", GIVEN), ("nic-fault", WEAK))
        for error in ("ENOTTY", "EOPNOTSUPP")
    },
    ("gid", "EINVAL"): (("invalid-setting", GIVEN), ("wrong-interface", GIVEN), ("unreachable-peer", WEAK)),
    ("open", "ENOENT"): (("wrong-interface", STRONG),),
    ("open", "EPERM"): (("wrong-interface", STRONG),),
    ("open", "EACCES"): (("wrong-interface", STRONG),),
    ("open", "ENODEV"): (("wrong-interface", STRONG),),
    ("open", "ENOMEM"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    **{
        ("device", error): (("missing-accelerator", STATED), ("container-permission", GIVEN))
        for error in ("EACCES", "ENOENT")
    },
    ("device", "EPERM"): (("container-permission", STRONG), ("missing-accelerator", STRONG)),
    ("register", "ENOSPC"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    ("create", "ENOSPC"): (("nic-limit", STRONG), ("locked-memory", GIVEN)),
    # Linux, mm/mlock.c and io_uring/rsrc.c: pages that are locked count against RLIMIT_MEMLOCK
    ("lock", "ENOMEM"): (("locked-memory", STRONG), ("host-memory-full", GIVEN)),
    ("lock", "EAGAIN"): (("locked-memory", STRONG),),
    ("lock", "EPERM"): (("locked-memory", STRONG), ("container-permission", GIVEN)),
    ("shm", "ENOSPC"): (("shared-memory", STATED),),
    ("shm", "ENOENT"): (("shared-memory", STRONG),),
    ("shm", "EACCES"): (("shared-memory", STRONG),),
    ("shm", "EPERM"): (("shared-memory", STRONG),),
    ("shm", "ENOMEM"): (("shared-memory", STRONG),),
    ("bind", "EADDRINUSE"): (("port-in-use", STATED),),
    ("bind", "EADDRNOTAVAIL"): (("wrong-interface", STRONG), ("invalid-setting", WEAK)),
    ("connect", "bridge"): (("wrong-interface", STATED), ("unreachable-peer", GIVEN)),
    ("connect", "EAFNOSUPPORT"): (("wrong-interface", STRONG),),
    # connect(2): the host itself has no route to that network, such as one that its interface does not join
    ("connect", "ENETUNREACH"): (("wrong-interface", STRONG), ("unreachable-peer", GIVEN)),
    # NVIDIA/nccl issue 1619: what was connected before, and no longer answers, as with a firewall that drops idle
    # connections
    ("exchange", "ETIMEDOUT"): (("unreachable-peer", STRONG),),
    ("multicast", "EPERM"): (("fabric-manager", STRONG),),
    ("multicast", "EINVAL"): (("fabric-manager", STRONG),),
    ("multicast", "EOPNOTSUPP"): (("fabric-manager", STRONG),),
    ("mapping", "EOPNOTSUPP"): (("fabric-manager", STRONG), ("invalid-setting", GIVEN), ("driver-release", WEAK)),
    ("mapping", "EINVAL"): (("fabric-manager", STRONG), ("invalid-setting", GIVEN), ("driver-release", WEAK)),
    ("ipc", "EINVAL"): (
        *(("invalid-setting", STRONG), ("peer-access-off", GIVEN)),
        *(("driver-release", GIVEN), ("shared-memory", WEAK)),
    ),
    ("ipc", "EPERM"): (("invalid-setting", STRONG), ("peer-access-off", GIVEN)),
    ("ipc", "EOPNOTSUPP"): (("peer-access-off", STRONG), ("invalid-setting", GIVEN)),
}
"""The causes of a refused call, by the call and its error, the likelier first.

Published: microsoft/mscclpp issue 657 (EFAULT), NVIDIA/nccl-tests issue 206 (ENOMEM), horovod/horovod issue 310 (an
address of Docker's bridge), ROCm/rocm-systems issue 2209 and ROCm/rccl issue 1454 (IPC handles; of the latter the
driver of the kernel has none), NVIDIA/nccl issue 290 (ENOSPC), kubernetes-sigs/dra-driver-nvidia-gpu issues 892 and
1417 (memory that the IMEX of another domain keeps from a device), kvcache-ai/Mooncake pull 1765 (EAGAIN: memory keys of
processes that ended), MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark issue 259 (ENOMEM of only one kernel).
"""
_WIDE = frozenset({"locked-memory", "unreachable-peer", "shared-memory", "invalid-setting", "storage-full"})
"""Causes that other statements derive only from the name of a call."""


def causes_of_calls(run: PlacedRun) -> Iterator[Cause]:
    """The causes of the calls that lines of a run without a result name with an error of the system."""
    for each in run.benchmark.evidence:
        for name, weight in _causes_of_statement(run, each.name):
            following = _DEVICES.get(each.name.removeprefix(CALL).partition(" ")[0], _NEXT[name])
            yield Cause(name, f"line {each.line} of the log: {each.text}", following, weight)


def _causes_of_statement(run: PlacedRun, statement: str) -> tuple[tuple[str, float], ...]:
    """The causes of a statement `call CALL ERROR`; none for other statements."""
    call, _, error = statement.removeprefix(CALL).partition(" ")
    if not statement.startswith(CALL) or (error == "bridge" and run.group.nodes == 1):
        return ()  # an address of a bridge is wrong between nodes alone
    return CALLS.get((call, error), ())


def unrefuted_causes(run: PlacedRun, causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes, except those in `_WIDE` that contradict the error on their own line.

    Causes that the error does not have are omitted; the error limits the weight of the others.
    """
    stated = ((each.line, _causes_of_statement(run, each.name)) for each in run.benchmark.evidence)
    meant = {f"line {line}": dict(meanings) for line, meanings in stated if meanings}
    for cause in causes:
        weights = meant.get(evidence_line(cause))
        if weights is None or cause.name not in _WIDE:
            yield cause
        elif cause.name in weights:
            yield replace(cause, weight=min(cause.weight, weights[cause.name]))


def evidence_line(cause: Cause) -> str:
    """The log line that a cause is based on, such as `line 7`; the whole text of the evidence if it names no line."""
    return cause.evidence.partition(" of the log")[0]
