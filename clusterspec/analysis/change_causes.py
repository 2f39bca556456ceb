"""Causes that the outcome of a reported change supports or contradicts.

A change that helps points at what it circumvents or mends; one that changes nothing speaks against it. Published:
NVIDIA/nccl issues 257 and 2079 (peer access over PCIe), 426 (GID), 709 (MTU), 207 and 352 (firewalls), 473 (shared
memory), 360 (isolated containers), NVIDIA/nccl-tests issue 252 (GPUDirect), dmlc/xgboost issue 11242 and
Lightning-AI/pytorch-lightning issue 19425 (drivers), NVIDIA/nccl issue 2167 (multicast).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.fault_models import FAULT_MODELS
from clusterspec.analysis.open_causes import BETWEEN_NODES
from clusterspec.analysis.placed_runs import PlacedRun
from clusterspec.analysis.stated_causes import GIVEN, STATED, STEP_OF, STRONG, WEAK
from clusterspec.logs.reported_changes import BEGAN, CHANGE, HARMED, HELPED, UNCHANGED
from clusterspec.logs.stated_reasons import REASON, SURE
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

_PEER = (("acs", STRONG), ("iommu-translation", STRONG), ("driver-release", GIVEN), ("accelerator-fault", WEAK))
_RELEASE = (("release-fault", STRONG), ("library-release", GIVEN))
HELPS: dict[str, tuple[tuple[str, float], ...]] = {
    "no-peer-access": _PEER,
    "no-shared-memory": (("shared-memory", STRONG), ("container-permission", WEAK)),
    "no-rdma": (("unreachable-peer", STRONG), ("acs", GIVEN), ("nic-fault", WEAK), ("locked-memory", WEAK)),
    "no-gpudirect": (("acs", STRONG), ("iommu-translation", GIVEN), ("gpudirect-refused", GIVEN)),
    "no-multicast": (("fabric-manager", STRONG), ("release-fault", GIVEN)),
    "no-virtual-memory": (("container-permission", STRONG), ("release-fault", GIVEN), ("driver-release", GIVEN)),
    "algorithm": (("release-fault", STRONG),),
    "queue-pairs": (("shared-paths", STRONG), ("bonded-ports", GIVEN)),
    "channels": (("few-channels", STRONG),),
    "topology-file": (("wrong-topology", STATED),),
    "interface": (("wrong-interface", STATED),),
    "nic-list": (("wrong-interface", STRONG), ("unreachable-peer", GIVEN)),
    "gid": (("unreachable-peer", STATED), ("invalid-setting", GIVEN)),
    "mtu": (("unreachable-peer", STATED),),
    "flow-control": (("packet-loss", STATED),),
    "firewall": (("unreachable-peer", STATED),),
    "iommu": (("iommu-translation", STATED), ("acs", STRONG)),
    "acs": (("acs", STATED),),
    "numa": (("numa-balancing", STRONG), ("numa-per-socket", STRONG)),
    "binding": (("core-binding", STATED),),
    "peer-memory": (("gpudirect-refused", STATED), ("gpudirect-off", STRONG)),
    "unified-memory": (("driver-release", STATED), ("missing-accelerator", GIVEN)),
    "fabric-manager": (("fabric-manager", STATED),),
    "power": (("throttled-clocks", STATED),),
    "host-ipc": (("shared-memory", STATED),),
    "shared-memory-size": (("shared-memory", STATED),),
    "locked-memory": (("locked-memory", STATED),),
    "open-files": (("file-limit", STATED),),
    "privileged": (("container-permission", STATED),),
    "host-network": (("wrong-interface", STATED), ("unreachable-peer", GIVEN)),
    "driver": (("driver-release", STATED),),
    "nccl-release": _RELEASE,
    "kernel": (("driver-release", STRONG),),
    "library": (("library-release", STATED),),
    "firmware": (("nic-fault", GIVEN), ("host-fault", GIVEN), ("accelerator-fault", GIVEN)),
    "no-workers": (("data-loading", STRONG), ("shared-memory", GIVEN), ("host-memory-full", GIVEN)),
    "timeout": (("ranks-diverge", STRONG), ("invalid-setting", GIVEN)),
    "batch": (("memory-full", STRONG),),
    "unused": (("unused-parameters", STATED),),
    "expandable": (("gpudirect-refused", STRONG), ("invalid-setting", GIVEN)),
    "device-choice": (("shared-accelerator", STATED),),
    "host-name": (("name-resolution", STATED),),
    "drop-last": (("ranks-diverge", STATED),),
    "shared-files": (("unshared-files", STATED),),
    "exchanged-accelerator": (("accelerator-fault", STATED),),
    "exchanged-cable": (("unstable-link", STATED),),
    "exchanged-nic": (("nic-fault", STATED),),
    "excluded-accelerator": (("accelerator-fault", STRONG),),
    "excluded-node": (("accelerator-fault", STRONG), ("unstable-link", GIVEN), ("nic-fault", GIVEN)),
    "excluded-nic": (("nic-fault", STRONG), ("unstable-link", STRONG), ("unreachable-peer", GIVEN)),
    "restart": (("accelerator-fault", GIVEN), ("driver-release", GIVEN), ("fabric-manager", WEAK)),
    "one-node": (("unreachable-peer", GIVEN), ("wrong-interface", GIVEN)),
}
"""What a change that helps points at: causes, the likelier first."""
FAILS_SINCE: dict[str, tuple[tuple[str, float], ...]] = {
    "driver": (("driver-release", STATED),),
    "nccl-release": _RELEASE,
    "kernel": (("driver-release", STATED),),
    "library": (("library-release", STATED),),
    "firmware": (("nic-fault", GIVEN), ("host-fault", GIVEN)),
    "restart": (("driver-release", GIVEN), ("fabric-manager", GIVEN), ("missing-accelerator", GIVEN)),
}
"""What a run that fails since a change points at."""
CONTRADICTED: dict[str, tuple[str, ...]] = {
    "no-peer-access": ("acs", "iommu-translation", "peer-access-off"),
    "no-shared-memory": ("shared-memory",),
    "no-rdma": ("packet-loss", "gpudirect-refused", "gpudirect-off", "nic-fault", "unstable-link", "locked-memory"),
    "no-gpudirect": ("gpudirect-refused", "gpudirect-off"),
    "no-multicast": ("fabric-manager",),
    "iommu": ("iommu-translation",),
    "acs": ("acs",),
    "driver": ("driver-release",),
    "host-ipc": ("shared-memory",),
    "shared-memory-size": ("shared-memory",),
    "locked-memory": ("locked-memory",),
    "open-files": ("file-limit",),
    "privileged": ("container-permission",),
    "batch": ("memory-full",),
    "unused": ("unused-parameters",),
    "no-workers": ("data-loading",),
    "topology-file": ("wrong-topology",),
    "fabric-manager": ("fabric-manager",),
    "host-network": ("wrong-interface",),
}
"""What a change that alters nothing speaks against."""
UNLIKELY = 0.15
"""The weight of a cause that the outcome of a change contradicts."""
_NEXT = {fault.name: fault.next for fault in FAULT_MODELS} | STEP_OF
_OTHER = {
    "acs": "sudo lspci -vvv | grep -i ACSCtl: turn ACS off in the firmware or with setpci",
    "iommu-translation": "iommu=pt on the kernel command line, or the IOMMU off in the firmware",
    "unreachable-peer": "show_gids, ip -br addr and ib_write_bw between those NICs; the ports of all ranks open",
    "wrong-interface": "ip -br addr; NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME of one network on all nodes",
    "name-resolution": "getent hosts of every node's name on every node; or addresses in place of names",
    "release-fault": "the release notes of the collective library: a release without that fault on all nodes",
    "shared-paths": "counters of the ports of each leaf switch under load: some full, others idle; adaptive routing, "
    "or NCCL_IB_QPS_PER_CONNECTION=4 and more entropy of UDP source ports",
    "clock-skew": "chronyc tracking on every host",
    "plugin-missing": "ldconfig -p | grep libnccl-net on every node; NCCL_NET_PLUGIN and LD_LIBRARY_PATH of every rank",
    "nic-distance": "nvidia-smi topo -m; the NIC below the PCIe switch or on the socket of each accelerator",
    "core-binding": "mpirun --bind-to none or numa; taskset -pc of a rank: cores of the socket of its accelerator",
    "wrong-topology": "NCCL_TOPO_DUMP_FILE=system.xml, compared with lspci -tv of the host",
    "packet-loss": "ethtool -S IFACE | grep -E 'discard|out_of_sequence|pause' on both ends: PFC and ECN on the path",
    "bonded-ports": "give the library the ports singly, or NCCL_IB_QPS_PER_CONNECTION=4",
    "few-channels": "unset NCCL_MAX_NCHANNELS; NCCL_MIN_NCHANNELS of twice the NICs",
    "numa-balancing": "sysctl kernel.numa_balancing=0 on every host",
    "numa-per-socket": "NPS4 in the firmware of AMD hosts",
    "unstable-link": "ibqueryerrors, or mlxlink -d DEVICE -c: reseat or replace that cable",
    "container-permission": "docker run --cap-add=SYS_PTRACE --cap-add=SYS_NICE; securityContext of the pod",
    "unshared-files": "df of that directory on every node: one shared file system, or a copy on each",
    "host-fault": "ras-mc-ctl --errors; ipmitool sel list; the release of the firmware on all hosts",
    "gpudirect-off": "lsmod | grep nvidia_peermem on every host",
}


def causes_of_changes(run: PlacedRun) -> Iterator[Cause]:
    """The causes that reported changes and reasons point at; those between nodes only for a run on several."""
    for change, outcome, text, line in _reported_changes(run):
        if outcome == HARMED:
            yield Cause("invalid-setting", _evidence(text, line), STEP_OF["invalid-setting"], STATED)
        pointed = HELPS if outcome == HELPED else FAILS_SINCE if outcome == BEGAN else {}
        for name, weight in pointed.get(change, ()):
            if run.group.nodes > 1 or name not in BETWEEN_NODES - {"wrong-interface"}:
                yield Cause(name, _evidence(text, line), next_step(name), weight)

    for each in run.benchmark.evidence:
        name, _, certainty = each.name.removeprefix(REASON).partition(" ")
        if each.name.startswith(REASON) and (run.group.nodes > 1 or name not in BETWEEN_NODES - {"wrong-interface"}):
            yield Cause(name, _evidence(each.text, each.line), next_step(name), STRONG if certainty == SURE else WEAK)


def with_contradicted_last(run: PlacedRun, found: Iterable[Cause]) -> Iterator[Cause]:
    """The causes. One that a change would have mended or circumvented, and did not, weighs at most `UNLIKELY`."""
    refuted = {
        name
        for change, outcome, _, _ in _reported_changes(run)
        if outcome == UNCHANGED
        for name in CONTRADICTED.get(change, ())
    }
    pointed = {cause.name for cause in causes_of_changes(run)}
    for cause in found:
        yield replace(cause, weight=min(cause.weight, UNLIKELY)) if cause.name in refuted - pointed else cause


def _reported_changes(run: PlacedRun) -> Iterator[tuple[str, str, str, int]]:
    """The reported changes: name, outcome, sentence and line."""
    for each in run.benchmark.evidence:
        if each.name.startswith(CHANGE):
            change, _, outcome = each.name.removeprefix(CHANGE).partition(" ")
            yield change, outcome, each.text, each.line


def _evidence(text: str, line: int) -> str:
    return f"line {line} of the log reports: {text}"


def next_step(name: str) -> str:
    """What to do about a cause that the outcome of a change points at."""
    return _OTHER.get(name) or _NEXT[name]
