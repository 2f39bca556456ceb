"""Causes of runs that hung or stopped without a result, and the weights of evidence that all causes have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from clusterspec.analysis.diagnosis import service_steps
from clusterspec.analysis.diagnosis.call_causes import causes_of_calls, evidence_line
from clusterspec.analysis.diagnosis.copy_causes import copy_causes
from clusterspec.analysis.diagnosis.error_reasons import cause_of_reason
from clusterspec.analysis.diagnosis.nic_causes import failing_nics
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.possible_causes import POSSIBLE
from clusterspec.analysis.diagnosis.reason_causes import NEXT_OF_REASONS
from clusterspec.analysis.diagnosis.service_causes import UNSAID
from clusterspec.analysis.diagnosis.share_causes import share_causes
from clusterspec.analysis.diagnosis.stated_causes import (
    GIVEN,
    SLOWED,
    STATED,
    STEP_OF,
    STOPS,
    STRONG,
    UNFINISHED_STOPS,
    WEAK,
)
from clusterspec.logs.statements.catalogued_messages import MESSAGE, WEIGHTS
from clusterspec.logs.statements.refused_calls import CALL
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause
from clusterspec.units import plural

_SLOWS = frozenset(
    {
        "peer-access-off",
        "no-direct-links",
        "no-nvls",
        "few-channels",
        "latency-protocol",
        "numa-balancing",
        "fine-grain-off",
        "numa-per-socket",
        "socket-fall-back",
        "gpudirect-off",
        "one-nic",
        "few-nics",
        "nic-distance",
    }
)
"""Causes that slow a run but do not stop it."""
_INTERFACE = "run ip -br addr; set NCCL_SOCKET_IFNAME on all nodes to the interface that reaches the other nodes"
_GLOO = (
    "run ip -br addr; set GLOO_SOCKET_IFNAME on every node to the interface that reaches the others; without it, "
    "Gloo announces the address of the host's name"
)
_LISTENS = (
    "check with ss -ltn on the host of that address that its rank runs and listens, and read its log; rm the file "
    "of init_method=file:// before every run"
)
_DROPPED = "run ethtool -S IFACE | grep -E 'discard|out_of_sequence|pause' on both ends; turn PFC or ECN on"
_LAYERS = "run ibstat | grep 'Link layer' on every node; set NCCL_IB_HCA to NICs of one link layer on all of them"
_LAYER = re.compile(r":[0-9]{1,3}/(IB|RoCE)\b")
"""The link layer of a NIC in the list that NCCL prints."""
SYMPTOMS = frozenset({"program-fault", "peer-ended", "job-ended"})
"""Causes that an earlier error in the log explains, if there is one."""
NEXT_STEPS = {
    "plugin-missing": (
        "run ldconfig -p | grep libnccl-net on every node; check NCCL_NET_PLUGIN and LD_LIBRARY_PATH of every rank"
    ),
    "program-error": (
        "run the program on two accelerators of one node; if it gives the same error, the program is the cause"
    ),
    "few-nics": NEXT_OF_REASONS["few-nics"],
    "separate-jobs": service_steps.LAUNCHER,
    "unequal-accelerators": "nvidia-smi -L on every node: one kind of accelerator for a job, or work in proportion",
}
"""The next steps for causes that only catalogued messages name. The next steps of other causes take precedence."""
NEXT_STEPS |= {cause: step for _, cause, _, step, _ in POSSIBLE} | STEP_OF
_WEIGHT_OF = dict(zip(WEIGHTS, (STATED, STRONG, GIVEN), strict=True))
"""The weight of a cause, by how certainly a catalogued message indicates it."""
_ADDRESS = re.compile(r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b")
"""An IPv4 address in the text of a connection."""
_LOOPBACK = re.compile(r"\b(?:127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|localhost)\b|\[::1\]")
_FIRST_RANK = "set MASTER_ADDR, --master-addr or VLLM_HOST_IP of every rank to an address that the others reach"
_UNANSWERED = re.compile(r"[Rr]etry|RETRY|\b12\b")
"""The status of a request that was resent until its retries were exhausted."""
_UNDECIDED = re.compile(r"[Rr]etry|RETRY|\b12\b|\[Handshake\] Failed to modify QP")
"""The status of a request whose retries are exhausted, or a connection that an agent failed to establish for an unclear
reason: the peer, its link, or its NIC (sgl-project/sglang pulls 27730 and 29127).
"""
_NO_DATA = "No data available"
"""The message of libfabric if no device in the container matches a provider."""
_OF_GIDS = (("unreachable-peer", STATED), ("wrong-interface", STRONG), ("invalid-setting", GIVEN))
"""The causes, with weights, of a connection that uses a GID which the NIC does not have."""
_UNREAD_GID = re.compile(r"ncclIb|GID is NULL|Invalid gid\[|[Nn]o (?:suitable|usable|valid) GID")
"""A GID that is missing or unreadable before any connection. Possible causes are a missing address on the port, the NIC
itself, or the configured index; none is certain (NVIDIA/nccl issue 622, uccl-project/uccl issue 301).
"""
MOST_ABSENT = 0.25
"""If more than this share of the ranks report nothing, they are assumed to write to other files rather than to be late.
"""
Check = Callable[[PlacedRun], Iterator[Cause]]
_REASONS = (
    *("o space left on device", "nput/output error", "tale file handle", "ead-only file system"),
    *("annot allocate memory", "ermission denied"),
)
"""System errors that state a reason by themselves, whatever precedes them."""
_UNLOCK = {
    "acs": "sudo lspci -vvv | grep -i ACSCtl; turn ACS off in the firmware; or, to test, set NCCL_P2P_DISABLE=1",
    "iommu-translation": "add iommu=pt to the kernel command line, or turn the IOMMU off in the firmware",
}


def causes_of_a_hang(run: PlacedRun, checks: Sequence[Check]) -> Iterator[Cause]:
    """The causes of a run without a result: stated by its lines, or settings that block direct access over PCIe.

    Published: NVIDIA/nccl issues 257 and 2079, vllm-project/vllm issues 33041 and 51513, pytorch/pytorch issue 24081,
    where access control or the IOMMU redirected it.
    """
    yield from failing_nics(run)
    yield from stated_stops(run)
    yield from causes_of_calls(run)
    stated = (cause for check in checks for cause in check(run) if cause.evidence.startswith("line "))
    for cause in stated:
        yield replace(cause, weight=min(cause.weight, SLOWED)) if cause.name in _SLOWS else cause
    for text, line in run.log_lines("network-error")[:1] if run.log_lines("gdr") else ():
        evidence = (
            f"line {line} of the log: {text}, after ranks connected with GPUDirect"  # NVIDIA/nccl-tests issue 252
        )
        yield Cause("acs", evidence, "set NCCL_NET_GDR_LEVEL=0 to test it; turn ACS off in the firmware", GIVEN)
    closed = any("losed by" in text for text, _ in run.log_lines("peer-ended"))
    undecided = run.group.nodes > 1 and not closed and not run.log_lines("gdr", "unreachable")
    lost = run.log_lines("network-error")[:1] if undecided else ()
    for text, line in lost:  # deepspeedai/DeepSpeedExamples issue 845: an interface that reached no other node
        for name in ("unreachable-peer", "wrong-interface"):
            yield Cause(name, f"line {line} of the log: {text}{UNSAID}", _INTERFACE, GIVEN)
    for text, line in run.log_lines("bus-error")[:1]:  # NVIDIA/nccl issue 983
        evidence = f"line {line} of the log: {text}, which is how a write to a full /dev/shm ends"
        yield Cause("shared-memory", evidence, STOPS["shared-memory"][1], STRONG)
    yield from _possible_stops(run)
    yield from _possible_ends(run)
    over_pcie = not run.uses_network and run.cluster.scale_up.topology in {"pcie", "bridge"}
    for text, line in run.log_lines("p2p-direct")[:1] if over_pcie else ():
        evidence = f"line {line} of the log: {text} over PCIe, and no result after it"
        yield from (Cause(name, evidence, following, STRONG) for name, following in _UNLOCK.items())
    alone = over_pcie and len(run.benchmark.evidence) == 1  # NVIDIA/nccl issue 104
    for text, line in run.log_lines("empty-table") if alone else ():
        evidence = f"line {line} of the log: {text} is the last, and accelerators reach each other over PCIe"
        yield from (Cause(name, evidence, following, WEAK) for name, following in _UNLOCK.items())


def stops_of_one_rank(run: PlacedRun) -> Iterator[Cause]:
    """The causes of a stop in a program on one accelerator, where no peer and no link can be the cause."""
    yield from stated_stops(run)
    yield from causes_of_calls(run)
    yield from _possible_stops(run)
    yield from _possible_ends(run)


def _possible_stops(run: PlacedRun) -> Iterator[Cause]:
    """The causes that may have stopped the run, from lines that have several possible causes."""
    for text, line in run.log_lines("cache-starved"):  # vllm-project/vllm issue 23444
        yield Cause("kv-cache-full", f"line {line} of the log: {text}", STOPS["kv-cache-full"][1], STRONG)
    yield from copy_causes(run)
    yield from share_causes(run)
    for text, line in run.log_lines("transfer-refused")[:1]:  # kvcache-ai/Mooncake issue 3868
        following = (
            "run ibv_devinfo | grep active_mtu on both nodes, and give both the same MTU (to test, MC_MTU=1024); "
            "run show_gids"
        )
        yield Cause("unreachable-peer", f"line {line} of the log: {text}, as with ends of two MTUs", following, STRONG)
    for text, line in run.log_lines("shared-object")[:1]:  # pytorch/pytorch issue 14768: open files
        for name in ("file-limit", "shared-memory"):
            yield Cause(name, f"line {line} of the log: {text}{UNSAID}", STOPS[name][1], GIVEN)
    for text, line in run.log_lines("no-region")[:1] if run.log_lines("gpu-buffer") else ():  # linux-rdma/perftest 126
        evidence = f"line {line} of the log: {text}, of the memory of an accelerator"
        yield Cause("gpudirect-refused", evidence, STOPS["gpudirect-refused"][1], STRONG)
    for text, line in run.log_lines("parted")[:1]:  # pytorch/pytorch issue 118369: the program
        evidence = f"line {line} of the log: {text}; the program or the network delays one of them"
        yield Cause("ranks-diverge", evidence, STOPS["ranks-diverge"][1], GIVEN)
    for text, line in run.log_lines("waiting")[:1]:  # pytorch/pytorch issue 141069
        call, _, numbers = text.rpartition(" ")
        waiting = set(map(int, numbers.split(",")))
        absent = [rank for rank in range(run.group.ranks) if rank not in waiting]
        if absent and len(absent) <= MOST_ABSENT * run.group.ranks:
            those = f"{plural(len(absent), 'rank')}, the first rank {absent[0]}, {'do' if absent[1:] else 'does'} not"
            evidence = f"line {line} of the log: {plural(len(waiting), 'rank')} wait in {call}; {those}"
            yield Cause("ranks-diverge", evidence, STOPS["ranks-diverge"][1], GIVEN)


def _catalogued_causes(run: PlacedRun) -> Iterator[Cause]:
    """The causes of the messages that the catalog lists."""
    for each in run.benchmark.evidence:
        if each.name.startswith(MESSAGE):
            name, _, tells = each.name.removeprefix(MESSAGE).partition(" ")
            evidence = f"line {each.line} of the log: {each.text}"
            reason = cause_of_reason(name, tells, each.text)
            if reason:
                yield Cause(reason, evidence, NEXT_STEPS[reason], STRONG)
            yield Cause(
                name, evidence, NEXT_STEPS[name], min(_WEIGHT_OF[tells], GIVEN) if reason else _WEIGHT_OF[tells]
            )


_SLOWING = frozenset(
    {
        "gpudirect-refused",
        "plugin-mismatch",
        "plugin-missing",
        "throttled-clocks",
        "unstable-link",
        "wrong-pcie-generation",
        "wrong-topology",
    }
)
"""Causes that a run may survive, so that it is only slow."""


def messages_of_a_slow_run(run: PlacedRun) -> Iterator[Cause]:
    """The causes stated by library messages in a run that nevertheless finished (aws/aws-k8s-tester, pull 473)."""
    if run.has_result:
        yield from (each for each in _catalogued_causes(run) if each.name in _SLOWING)


def _possible_ends(run: PlacedRun) -> Iterator[Cause]:
    """The causes that may have ended the run, from single lines that state no cause."""
    yield from _catalogued_causes(run)
    for text, line in run.log_lines("rendezvous", "refused")[:1] if run.group.nodes > 1 else ():
        if _LOOPBACK.search(text):  # xorbitsai/inference pull 4818
            evidence = f"line {line} of the log: {text}: every host has that address for itself"
            yield Cause("wrong-interface", evidence, _FIRST_RANK, GIVEN)
    for evidence, name, why, following, weight in POSSIBLE:
        for text, line in run.log_lines(evidence)[:1]:
            yield Cause(name, f"line {line} of the log: {text}{why}", following, weight)


def refused_connections(run: PlacedRun) -> Iterator[Cause]:
    """The causes of a rank's trace of a connection whose warning the log does not show (NVIDIA/nccl issue 1000)."""
    for text, line in run.log_lines("socket-trace")[:1]:
        for name in ("wrong-interface", "unreachable-peer"):
            yield Cause(name, f"line {line} of the log: {text}, a connection that failed", _INTERFACE, WEAK)


def explained_symptoms(run: PlacedRun, symptoms: Sequence[Cause]) -> Iterator[Cause]:
    """The causes that other errors suggest for some symptoms, followed by the symptoms. Without symptoms, only the
    suggested causes.
    """
    lines = {evidence_line(each) for each in symptoms}
    suggested = list(suggested_causes(run))
    for each in suggested:
        if each.name not in SYMPTOMS and evidence_line(each) not in lines:
            yield replace(each, weight=GIVEN if symptoms else WEAK)
    yield from symptoms
    yield from suggested


def suggested_causes(run: PlacedRun) -> Iterator[Cause]:
    """The causes suggested by common words of an error, for a run without a result and without any other known cause.

    Lines with such a reason come before lines that state only the failed part.
    """
    for each in sorted(run.benchmark.evidence, key=lambda each: not any(words in each.text for words in _REASONS)):
        cause = each.name.removeprefix("suggests ")
        if cause != each.name:
            yield Cause(cause, f"line {each.line} of the log: {each.text}", NEXT_STEPS[cause], WEAK)


def unreachable_peers(run: PlacedRun) -> Iterator[Cause]:
    """Connections that the network refuses or never answers, and obstacles to opening a connection."""
    yield from _wrong_interface(run)  # before what follows from it
    unanswered = any(_UNANSWERED.search(text) for text, _ in run.log_lines("unreachable"))
    for text, line in run.log_lines("link-counter")[:1] if unanswered else ():  # openucx/ucx issue 9590
        evidence = f"line {line} of the log: {text}, and requests that no peer answers"
        yield Cause("unstable-link", evidence, NEXT_STEPS["unstable-link"], STATED)
    for text, line in run.log_lines("unreachable")[:1]:
        following = "run show_gids, and ping and ib_write_bw between the NICs of that pair; open the ports of all ranks"
        lost = _may_lose_packets(run, text)
        unsure = lost or _UNDECIDED.search(text) is not None
        weight = STRONG if unsure else STATED
        stuck = [before for _, before in run.log_lines("stuck") if before < line]
        if stuck and _UNANSWERED.search(text):  # marin-community/marin issue 7869: it was ended
            weight = WEAK
        yield Cause("unreachable-peer", f"line {line} of the log: {text}", following, weight)
        if lost:  # openucx/ucx issue 2346
            evidence = f"line {line} of the log: {text}, as when an Ethernet fabric drops its packets"
            yield Cause("packet-loss", evidence, _DROPPED, GIVEN)
        yield from _possible_ends_of_a_connection(run, text, line)
    yield from stated_stops(run)


_TCP = re.compile(r"[Cc]onnect (?:to|failed|timeout|returned)\b")
"""A connection over TCP that the operating system refused or did not make."""


def _possible_ends_of_a_connection(run: PlacedRun, text: str, line: int) -> Iterator[Cause]:
    """Further causes of a failed TCP connection: an interface that the library chose by itself, or no listening process
    on a host that answers.

    Published: espnet/espnet issue 4466 (hosts with a public and a private address) and 1940 (an address that an earlier
    run left in the file of a store).
    """
    if not _TCP.search(text):
        return
    chosen = any(name.startswith("NCCL_SOCKET_IFNAME") for name, _ in run.log_lines("environment"))
    if run.group.nodes > 1 and not chosen:
        evidence = f"line {line} of the log: {text}, over an interface that the library chose"
        yield Cause("wrong-interface", evidence, _INTERFACE, GIVEN)
    if "refused" in text:
        evidence = f"line {line} of the log: {text}: that host answers, and no process listens there"
        yield Cause("absent-ranks", evidence, _LISTENS, GIVEN)


def _may_lose_packets(run: PlacedRun, text: str) -> bool:
    """Whether a request was sent over Ethernet until its retries were used up: its peer cannot be reached, or a fabric
    without flow control drops packets.
    """
    fabric = run.cluster.scale_out
    ethernet = fabric is not None and fabric.technology.family == "roce"
    return _UNANSWERED.search(text) is not None and ("RoCE" in text or (ethernet and "/IB" not in text))


def stated_stops(run: PlacedRun) -> Iterator[Cause]:
    """The causes that the log itself names for the stop of the run."""
    stops = STOPS if run.has_result else {**STOPS, **UNFINISHED_STOPS}
    for name, (evidence, following) in stops.items():
        for text, line in run.log_lines(evidence)[:1]:
            several = run.group.nodes > 1 and not _unused_interface(run)
            if name != "mixed-releases" or several:  # on one node a fault of NCCL: NVIDIA/nccl issue 2057
                yield Cause(name, f"line {line} of the log: {text}", following, STATED)
    for text, line in run.log_lines("releases")[:1]:
        yield Cause("mixed-releases", f"line {line} of the log: {text}", STOPS["mixed-releases"][1], STATED)


def _wrong_interface(run: PlacedRun) -> Iterator[Cause]:
    """Selected interfaces with addresses that are not reachable from other hosts, and settings that match no interface.

    Published: horovod/horovod issues 584 (loopback) and 636 (addresses of the link alone), marin-community/marin issue
    6940 (a name that fits no interface).
    """
    for text, line in run.log_lines("no-interface")[:1]:
        yield Cause("wrong-interface", f"line {line} of the log: {text}", _INTERFACE, STATED)
    for text, line in run.log_lines("no-network")[:1]:  # getainode/ainode pull 87, aws/aws-ofi-nccl 1020
        following = (
            "ls /dev/infiniband within the container, and ibv_devinfo with its own rdma-core, as new as the driver; "
            "docker run --device=/dev/infiniband --ulimit memlock=-1"
        )
        refused = _NO_DATA in text or "Unable to open device" in text
        weight = STRONG if refused else STATED  # ofiwg/libfabric issue 12708
        yield Cause("wrong-interface", f"line {line} of the log: {text}", following, weight)
        if "Unable to open device" in text:  # NVIDIA/nccl issue 2428: a device that the container may not open
            yield Cause("container-permission", f"line {line} of the log: {text}", following, STRONG)
        elif refused:
            yield Cause("container-permission", f"line {line} of the log: {text}{UNSAID}", following, GIVEN)
    for text, line in run.log_lines("mixed-fabrics")[:1]:
        yield Cause("wrong-interface", f"line {line} of the log: {text}", _LAYERS, STATED)
    yield from _unlike_nics(run)
    for text, line in run.log_lines("foreign-nic")[:1]:  # NVIDIA/nccl issues 551 (index) and 925 (NIC)
        evidence = f"line {line} of the log: {text}: the container does not have that GID of the NIC"
        following = "show_gids within the container; set NCCL_IB_HCA and NCCL_IB_GID_INDEX to what it lists"
        unread = _UNREAD_GID.search(text) is not None
        for name, weight in _OF_GIDS:
            yield Cause(name, evidence, following, min(weight, GIVEN) if unread else weight)
    for text, line in run.log_lines("no-address")[:1]:  # NVIDIA/nccl-tests issue 14: a container without a network
        evidence = f"line {line} of the log: {text}: no interface has an address that the library can use"
        yield Cause("wrong-interface", evidence, f"{_INTERFACE}; docker run --net=host", STRONG)
    named = _unused_interface(run)
    for text, line in run.log_lines("family")[:1] if named else ():
        evidence = f"line {line} of the log: {text}; NCCL_SOCKET_IFNAME={named}, and no line uses it"
        yield Cause("wrong-interface", evidence, _INTERFACE, STATED)
    for text, line in run.log_lines("gloo")[:1]:
        yield Cause("wrong-interface", f"line {line} of the log: {text}", _GLOO, STRONG)
    stopped = not run.has_result and run.group.nodes > 1 and not run.log_lines("gdr", "no-gdr", "hcas")
    elsewhere = any(_ADDRESS.search(text) for text, _ in run.log_lines("unreachable"))
    for text, line in run.log_lines("local-interface")[:1] if stopped else ():
        evidence = f"line {line} of the log: {text}, an address that reaches no other node"
        yield Cause("wrong-interface", evidence, _INTERFACE, STRONG if ":fe80:" in text and elsewhere else STATED)


def _unlike_nics(run: PlacedRun) -> Iterator[Cause]:
    """NICs with two link layers in one run, after a failed connection between NICs. A rank can reach only NICs of its
    own kind (NVIDIA/nccl issue 302).
    """
    refused = any(each.name.startswith(f"{CALL}address") for each in run.benchmark.evidence)
    if not refused and not run.log_lines("unreachable"):
        return
    for text, line in run.log_lines("hcas")[:1]:
        layers = set(_LAYER.findall(text.split("OOB")[0]))
        if len(layers) > 1:
            evidence = f"line {line} of the log: NICs of InfiniBand and of Ethernet are used side by side"
            yield Cause("wrong-interface", evidence, _LAYERS, STATED)


def _unused_interface(run: PlacedRun) -> str:
    """The value of NCCL_SOCKET_IFNAME, if no line of the log uses an interface that it matches; empty otherwise.

    Published: NVIDIA/nccl issue 1837, where the library continues with an address that was never set.
    """
    used = [text for text, _ in run.log_lines("interface")]
    for text, _ in run.log_lines("environment"):
        name, _, value = text.partition(" ")
        if name == "NCCL_SOCKET_IFNAME" and not value.startswith("^"):
            wanted = tuple(part for part in value.removeprefix("=").split(",") if part)
            return "" if any(each.startswith(wanted) for each in used) else value
    return ""
