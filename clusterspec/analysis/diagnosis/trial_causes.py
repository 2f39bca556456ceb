"""Causes from attempted remedies: a remedy that helped supports the causes that it circumvents; a remedy without effect
contradicts them.

The words come from the people who report a run (`logs.reports.trials`, `logs.reports.scopes`). A remedy often
circumvents several causes: the likelier first, as published threads have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import NOT_ON_ONE_NODE, causes_of_reasons, next_step
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STEP_OF, STRONG, WEAK
from clusterspec.logs.reports.outcomes import HELPED, VAIN
from clusterspec.logs.reports.scopes import SCOPE
from clusterspec.logs.reports.slow_symptoms import SYMPTOM
from clusterspec.logs.reports.stated_reasons import REASON
from clusterspec.logs.reports.trials import TRIAL
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

_Weighed = tuple[tuple[str, float], ...]
_ACS = "sudo lspci -vvv | grep -i ACSCtl; turn ACS off in the firmware of the host, and iommu=pt on its command line"
_LINKS = "nvidia-smi nvlink -s and -e, nvidia-smi topo -p2p r; the release of the fabric manager against the driver's"
_REACH = "run nc -vz between the nodes, to the ports of all ranks; check the firewall rules for that interface"
_INTERFACE = "keep the setting for every rank; ip -br addr names the interface that reaches the other nodes"
_SETTING = "keep that setting for every rank; look up in the documentation of the program why its default does not fit"
_RELEASE = "keep that release; search the notes and issues of the release that fails for these words"
_PATHS = next_step("shared-paths")
_MODULE = "run nvidia-modprobe -u -c=0 at boot, before any container, and check ls -l /dev/nvidia-uvm"
_GPUDIRECT = "run lsmod | grep peermem on every node, and load the module at boot (/etc/modules-load.d)"
OVER_PCIE: _Weighed = (("acs", STRONG), ("iommu-translation", STRONG))
"""Causes that block direct access of accelerators over PCIe (NVIDIA/nccl issue 257, vllm-project/vllm issue 33041)."""
HELPING: dict[str, tuple[_Weighed, str]] = {
    "no-own-all-reduce": ((("acs", GIVEN), ("iommu-translation", GIVEN), ("library-release", GIVEN)), _ACS),
    "backend": ((("library-release", STRONG), ("invalid-setting", GIVEN)), _RELEASE),
    "no-shared-memory": ((("shared-memory", STATED),), STEP_OF["shared-memory"]),
    "shared-memory": ((("shared-memory", STATED),), STEP_OF["shared-memory"]),
    "no-rdma": (
        (("unreachable-peer", STRONG), ("gpudirect-refused", GIVEN), ("locked-memory", WEAK)),
        "run ib_write_bw between the same nodes without and with --use_cuda=0, to see which of the two fails",
    ),
    "threads": ((("host-bound", STATED), ("core-binding", GIVEN)), next_step("host-bound")),
    "job-memory": ((("host-memory-full", STATED),), next_step("host-memory-full")),
    "rdma": ((("socket-fall-back", STATED),), next_step("socket-fall-back")),
    "peer-access": ((("peer-access-off", STRONG),), next_step("peer-access-off")),
    "no-gpudirect": ((("acs", STRONG), ("gpudirect-refused", STRONG), ("iommu-translation", GIVEN)), _ACS),
    "peer-memory": ((("gpudirect-refused", STATED),), _GPUDIRECT),
    "no-plugin": ((("plugin-mismatch", STRONG),), STEP_OF["plugin-mismatch"]),
    "interface": ((("wrong-interface", STATED),), _INTERFACE),
    "mixed-releases": ((("mixed-releases", STATED),), STEP_OF["mixed-releases"]),
    "gid": (
        (("unreachable-peer", STATED), ("invalid-setting", GIVEN)),
        "run show_gids on every node, and use one index of RoCE v2",
    ),
    "mtu": (
        (("unreachable-peer", STATED),),
        "compare ip link and ibv_devinfo on every node with the ports of the switch; all must have one MTU",
    ),
    "no-multicast": ((("fabric-manager", STRONG), ("library-release", GIVEN)), STEP_OF["fabric-manager"]),
    "domain-service": (
        (("fabric-manager", STATED),),
        (
            "run nvidia-imex-ctl -N and systemctl status nvidia-fabricmanager on every node; check "
            "/dev/nvidia-caps-imex-channels"
        ),
    ),
    "no-virtual-memory": (
        (("library-release", GIVEN), ("fabric-manager", GIVEN), ("container-permission", WEAK)),
        _RELEASE,
    ),
    "locked-memory": ((("locked-memory", STATED),), STEP_OF["locked-memory"]),
    "open-files": ((("file-limit", STATED),), STEP_OF["file-limit"]),
    "privileges": (
        (("container-permission", STATED),),
        (
            "find the capability, device or system call that it needs: try --cap-add and --device one at a time, not "
            "--privileged"
        ),
    ),
    "host-network": ((("wrong-interface", STRONG), ("unreachable-peer", STRONG)), _REACH),
    "no-iommu": ((("iommu-translation", STATED),), _ACS),
    "launch-order": ((("concurrent-communicators", STRONG),), next_step("concurrent-communicators")),
    "no-acs": ((("acs", STATED),), _ACS),
    "firewall": ((("unreachable-peer", STATED),), _REACH),
    "flow-control": (
        (("packet-loss", STATED),),
        ("configure PFC and ECN alike on all ports of NICs and switches; check with ethtool -S"),
    ),
    "cable": ((("unstable-link", STATED),), "run ibqueryerrors, or mlxlink -c, after some hours under load"),
    "accelerator": ((("accelerator-fault", STATED),), STEP_OF["accelerator-fault"]),
    "node": (
        (("accelerator-fault", GIVEN), ("unstable-link", GIVEN), ("nic-fault", WEAK), ("host-fault", WEAK)),
        "compare dmesg, dcgmi diag -r 3 and ib_write_bw of the node that was left out with a node that works",
    ),
    "reboot": (
        (("accelerator-fault", GIVEN), ("driver-release", GIVEN), ("fabric-manager", WEAK)),
        "read what the driver printed in dmesg of the boot before (journalctl -k -b -1)",
    ),
    "port": ((("port-in-use", STATED),), STEP_OF["port-in-use"]),
    "less-memory": ((("memory-full", STRONG), ("kv-cache-full", WEAK)), STEP_OF["memory-full"]),
    "longer-limit": ((("invalid-setting", STRONG), ("ranks-diverge", GIVEN)), _SETTING),
    "fine-grain": (
        (("fine-grain-off", STATED), ("library-release", GIVEN)),
        "keep the setting for every rank, or use ROCm 5.7 or later",
    ),
    "topology": (
        (("wrong-topology", STATED),),
        "compare NCCL_TOPO_DUMP_FILE with the file; check /etc/nccl.conf and ~/.nccl.conf",
    ),
    "numa-balancing": ((("numa-balancing", STATED),), "set sysctl kernel.numa_balancing=0 on every node, at boot"),
    "numa-per-socket": ((("numa-per-socket", STATED),), "set NPS4 in the firmware of every node"),
    "queue-pairs": ((("shared-paths", STRONG), ("bonded-ports", STRONG), ("oversubscribed-level", GIVEN)), _PATHS),
    "adaptive-routing": ((("shared-paths", STATED),), _PATHS),
    "binding": ((("core-binding", STATED),), next_step("core-binding")),
    "nic": ((("nic-fault", STRONG), ("unstable-link", STRONG)), STEP_OF["nic-fault"]),
    "data-workers": ((("data-loading", STRONG), ("shared-memory", GIVEN)), STEP_OF["data-loading"]),
    "more-workers": ((("data-loading", STRONG), ("host-bound", GIVEN)), STEP_OF["data-loading"]),
    "fewer-workers": (
        (("host-bound", STRONG), ("host-memory-full", GIVEN), ("shared-memory", GIVEN)),
        next_step("host-bound"),
    ),
    "local-data": ((("data-loading", STRONG), ("storage-fault", GIVEN)), STEP_OF["data-loading"]),
    "slot": ((("wrong-pcie-generation", STRONG), ("accelerator-fault", GIVEN)), next_step("wrong-pcie-generation")),
    "drive": ((("storage-fault", STATED),), STEP_OF["storage-fault"]),
    "file-caches": ((("host-memory-full", STRONG), ("storage-fault", WEAK)), STEP_OF["host-memory-full"]),
    "larger-work": ((("small-work", STRONG), ("host-bound", GIVEN)), next_step("small-work")),
    "no-compilation": ((("kernel-compilation", STRONG),), next_step("kernel-compilation")),
    "host-clocks": ((("host-bound", STRONG),), next_step("host-bound")),
    "exclusive-node": ((("shared-accelerator", STRONG), ("core-binding", GIVEN)), STEP_OF["shared-accelerator"]),
    "host-work": ((("host-bound", STRONG),), next_step("host-bound")),
    "pauses": ((("periodic-pauses", STRONG), ("host-bound", GIVEN)), next_step("periodic-pauses")),
    "other-programs": ((("host-bound", STRONG), ("shared-accelerator", GIVEN)), next_step("host-bound")),
    "equal-data": ((("ranks-diverge", STATED),), STEP_OF["ranks-diverge"]),
    "unused-parameters": ((("unused-parameters", STATED),), STEP_OF["unused-parameters"]),
    "shared-files": ((("unshared-files", STATED),), next_step("unshared-files")),
    "unified-memory": ((("driver-release", STATED), ("missing-accelerator", GIVEN)), _MODULE),
    "kernel-options": ((("driver-release", STATED),), _RELEASE),
    "channels": ((("few-channels", STATED),), _SETTING),
    "clock": ((("clock-skew", STATED),), "run chronyc tracking on every node"),
    "names": ((("name-resolution", STATED),), "run getent hosts on all names on every node"),
    "login": ((("remote-login", STATED),), STEP_OF["remote-login"]),
    "device-choice": ((("shared-accelerator", STRONG), ("missing-accelerator", GIVEN)), STEP_OF["shared-accelerator"]),
    "no-graphs": ((("library-release", GIVEN), ("program-fault", GIVEN)), _RELEASE),
    "library-path": ((("library-release", STRONG), ("plugin-missing", GIVEN)), STEP_OF["library-release"]),
    "clocks": ((("throttled-clocks", STATED),), STEP_OF["throttled-clocks"]),
    "setting": ((("invalid-setting", STRONG),), _SETTING),
    "release of driver": ((("driver-release", STATED),), _RELEASE),
    "release of nic-firmware": (
        (("nic-fault", STRONG),),
        ("run mlxfwmanager on every node, and install one firmware release"),
    ),
    "release of network-plugin": ((("plugin-mismatch", STATED),), _RELEASE),
    "release of kernel": ((("driver-release", STRONG), ("library-release", GIVEN)), _RELEASE),
    "release of host-firmware": (
        (("wrong-pcie-generation", GIVEN), ("acs", GIVEN), ("driver-release", WEAK)),
        (
            "compare lspci -vv of the slot (LnkSta, ACSCtl) and dmidecode -s bios-version of every node with a node "
            "that works"
        ),
    ),
    "release of image": (
        (("library-release", STRONG), ("driver-release", STRONG), ("plugin-mismatch", GIVEN)),
        "compare uname -r, modinfo of the drivers, fi_info --version and the libraries of both images",
    ),
    "release of library": ((("library-release", STATED),), _RELEASE),
}
"""The causes that a remedy circumvents, with the weight of each, and the next step. `no-peer-access` is apart, as it
depends on the links."""
SLOW: dict[str, tuple[_Weighed, str]] = {
    "peer-memory": ((("gpudirect-off", STATED),), _GPUDIRECT),
    "interface": ((("one-nic", STRONG), ("wrong-interface", STRONG)), _INTERFACE),
    "mtu": (
        (("invalid-setting", STRONG),),
        "compare ip link on every node with the ports of the switch; all must have one MTU, 9000 for RoCE",
    ),
    "privileges": (
        (("socket-fall-back", STRONG), ("container-permission", STRONG)),
        "use docker run --device=/dev/infiniband --cap-add=IPC_LOCK, and check NCCL_DEBUG=INFO … 2>&1 | grep 'NET/'",
    ),
    "library-path": ((("plugin-missing", STRONG), ("library-release", GIVEN)), STEP_OF["library-release"]),
    "less-memory": (
        (("host-memory-full", GIVEN), ("data-loading", GIVEN), ("memory-full", WEAK)),
        STEP_OF["host-memory-full"],
    ),
}
"""The causes that each remedy circumvents, and the next step, for a slow run."""
_PEER_ACCESS: _Weighed = (("fabric-manager", GIVEN), ("accelerator-fault", GIVEN), ("library-release", WEAK))
_OF_ANY_RUN = frozenset({"device-choice", "binding", "more-workers", "fewer-workers", "larger-work"})
"""Remedies that any command may have: if a run fails with them, nothing follows."""
_OF_RELEASES = (
    f"{TRIAL}{HELPED} release of ",
    *(f"{REASON}{cause}" for cause in ("library-release", "release-fault", "plugin-mismatch", "driver-release")),
)
"""Statements that a release has the fault, which a setting then only circumvents."""
LOWERED = 0.1
"""The weight that a contradicted cause has at most, if no line states it."""
_NETWORK = frozenset(
    {
        *("unreachable-peer", "wrong-interface", "packet-loss", "unstable-link", "absent-ranks", "name-resolution"),
        *("socket-fall-back", "plugin-missing", "plugin-mismatch", "gpudirect-refused", "gpudirect-off", "nic-fault"),
        *("mixed-releases", "bonded-ports", "remote-login", "oversubscribed-level", "unshared-files"),
    }
)
_OF_A_NODE = frozenset(
    {
        *(
            "memory-full",
            "unsupported-accelerator",
            "driver-release",
            "program-error",
            "shared-memory",
            "program-fault",
        ),
        *("peer-access-off", "fabric-manager", "checkpoint-mismatch", "kv-cache-full"),
    }
)
_PEERS = frozenset(
    {"acs", "iommu-translation", "peer-access-off", "shared-memory", "fabric-manager", "numa-per-socket"}
)
_OF_ONE_DEVICE = frozenset({"unsupported-accelerator", "driver-release", "program-error", "checkpoint-mismatch"})
_HARDWARE = frozenset(
    {"accelerator-fault", "nic-fault", "unstable-link", "host-fault", "nic-distance", "throttled-clocks"}
)
_ALIKE = frozenset({"library-release", "program-error", "invalid-setting", "release-fault", "unsupported-accelerator"})
_CONTAINER = frozenset(
    {
        "container-permission",
        "shared-memory",
        "locked-memory",
        "wrong-interface",
        "wrong-topology",
        "missing-accelerator",
    }
)
_OF_MEMORY = frozenset({"memory-full", "host-memory-full", "storage-full"})
_OF_SIZES = frozenset(
    {"gpudirect-refused", "locked-memory", "packet-loss", "unreachable-peer", "shared-memory", "memory-full"}
)
"""Causes that short messages do not show: a path with a smaller MTU, a region that cannot be registered."""
_OF_NUMBERS = frozenset(
    {"file-limit", "nic-limit", "process-limit", "unstable-link", "nic-fault", "oversubscribed-level", "shared-paths"}
)
"""Causes that more nodes make likelier: limits per process or NIC, and one bad part of many."""
_LINKS_FAIL = frozenset({"unstable-link", "packet-loss", "nic-fault", "oversubscribed-level"})
SCOPES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "one-node": (_NETWORK, _OF_A_NODE),
    "one-device": (_PEERS, _OF_ONE_DEVICE),
    "some-nodes": (_HARDWARE, _ALIKE),
    "slower-network": (_NETWORK, _OF_A_NODE | _OF_MEMORY | {"data-loading", "ranks-diverge"}),
    "small-sizes": (_OF_SIZES, frozenset({"name-resolution", "absent-ranks", "remote-login", "port-in-use"})),
    "few-nodes": (_OF_NUMBERS, _OF_A_NODE | _OF_MEMORY),
    "one-of-devices": (_HARDWARE | {"wrong-pcie-generation", "shared-accelerator", "core-binding"}, _ALIKE),
    "outside-container": (_CONTAINER, frozenset({"accelerator-fault", "acs", "unstable-link", "nic-fault"})),
    "link-tests": (frozenset(), _LINKS_FAIL),
    "library-tests": (
        frozenset({"library-release", "program-error", "invalid-setting", "ranks-diverge"}),
        _LINKS_FAIL | {"acs", "iommu-translation", "fabric-manager"},
    ),
}
"""The causes that the place of a fault supports and contradicts, such as a run that works on one node and not on
several.
"""
RAISED = 0.05
"""The weight that such a place adds to a cause that it supports, so that it precedes other causes of its weight."""


_OF_COLLECTIVES = re.compile(r"\b[NR]CCL\b.{0,60}?\b[0-9]{1,2}\.[0-9]{1,2}", re.IGNORECASE)
"""A release of the library of collectives itself: another one without the fault shows that it is of that release."""
_OF_OTHERS = re.compile(
    r"\b(?:PyTorch|torch|vLLM|SGLang|TensorRT|UCX|NVSHMEM|CUDA|cu1[0-9]|ROCm|plugin|libfabric|ofi|MPI|HPC-?X|OFED|drivers?)\b",
    re.IGNORECASE,
)
"""Other libraries, to whose release that of the library of collectives may not fit."""


_OF_A_PLUGIN = re.compile(
    r"\bNET/(?!IB\b|Socket\b|Plugin\b)[A-Za-z][\w-]{1,30}\b.{0,80}\b(?:[Ff]ail|[Ee]rror|[Uu]nable)"
)
"""An error line of a network plugin, which names itself behind NET (NVIDIA/nccl, `src/include/nccl_net.h`)."""


def causes_of_trials(run: PlacedRun) -> Iterator[Cause]:
    """The causes that successful remedies of a report circumvent. Causes between nodes count only on a machine of
    several nodes, because reports often omit the number of nodes of a run.
    """
    by_release = any(each.name.startswith(_OF_RELEASES) for each in run.benchmark.evidence)
    for each in run.benchmark.evidence:
        outcome, _, remedy = each.name.removeprefix(TRIAL).partition(" ")
        if not each.name.startswith(TRIAL) or outcome != HELPED:
            continue
        found, following = _circumvented_causes(run, remedy)
        if remedy == "release of library" and _OF_COLLECTIVES.search(each.text) and not _OF_OTHERS.search(each.text):
            found = (("release-fault", STATED), ("library-release", STRONG))
        elif remedy == "release of library" and _failing_plugins(run):
            found = (("plugin-mismatch", STATED), ("library-release", STRONG))
        for name, weight in found:
            if run.cluster.nodes > 1 or name not in NOT_ON_ONE_NODE:
                weighed = min(weight, WEAK) if remedy == "setting" and by_release else weight
                yield Cause(name, f"line {each.line} of the log: {each.text}", following, weighed)


def _failing_plugins(run: PlacedRun) -> list[str]:
    """The errors of the log that a network plugin of the collective library reports: another release of the library
    has another interface to it.
    """
    return [each.text for each in run.benchmark.evidence if _OF_A_PLUGIN.search(each.text)]


def _circumvented_causes(run: PlacedRun, remedy: str) -> tuple[_Weighed, str]:
    """The causes that a remedy circumvents on the machine of a run, and the next step."""
    if remedy == "no-peer-access":
        over_pcie = run.cluster.scale_up.topology in {"pcie", "bridge"}
        return (OVER_PCIE, _ACS) if over_pcie else (_PEER_ACCESS, _LINKS)
    slow = run.has_result or any(each.name.startswith(SYMPTOM) for each in run.benchmark.evidence)
    return (SLOW.get(remedy) if slow else None) or HELPING[remedy]


def with_trials(run: PlacedRun, causes: Iterable[Cause]) -> list[Cause]:
    """The causes that trials and reasons support, before the others; causes that trials or the place of the fault
    contradict weigh less, unless a line states them.
    """
    supported = [*_without_shared_memory(run, causes_of_trials(run)), *causes_of_reasons(run)]
    helped = {each.name for each in supported}
    vain = _causes_of_vain_remedies(run) - helped
    scopes = [SCOPES[each.name.removeprefix(SCOPE)] for each in run.benchmark.evidence if each.name.startswith(SCOPE)]
    return [*supported, *(_cause_after_trials(each, vain, scopes) for each in causes)]


def _without_shared_memory(run: PlacedRun, causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes, with little weight on shared memory if a run without peer access, which uses it, succeeded
    (determined-ai/determined issue 8915, in which each of the two settings helped).
    """
    sound = any(each.name == f"{TRIAL}{HELPED} no-peer-access" for each in run.benchmark.evidence)
    for cause in causes:
        yield replace(cause, weight=WEAK) if sound and cause.name == "shared-memory" else cause


def _causes_of_vain_remedies(run: PlacedRun) -> set[str]:
    """The causes against which a tried remedy changed nothing."""
    remedies = [
        each.name.removeprefix(f"{TRIAL}{VAIN} ")
        for each in run.benchmark.evidence
        if each.name.startswith(f"{TRIAL}{VAIN} ")
    ]
    remedies = [remedy for remedy in remedies if remedy not in _OF_ANY_RUN]
    return {name for remedy in remedies for name, weight in _circumvented_causes(run, remedy)[0] if weight >= STRONG}


def _cause_after_trials(
    cause: Cause, ruled_out: set[str], scopes: list[tuple[frozenset[str], frozenset[str]]]
) -> Cause:
    """A cause with its weight after trials and places; a cause that a line states keeps its weight."""
    if cause.weight >= STATED:
        return cause
    if cause.name in ruled_out or any(cause.name in against for _, against in scopes):
        return replace(cause, weight=min(cause.weight, LOWERED))
    raised = any(cause.name in supported for supported, _ in scopes)
    return replace(cause, weight=round(cause.weight + RAISED, 3)) if raised else cause
