"""Likely causes of low bandwidth, ranked: causes that the log states precede causes that the cost model explains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.address_causes import address_causes
from clusterspec.analysis.diagnosis.call_causes import unrefuted_causes
from clusterspec.analysis.diagnosis.consequences import (
    follows_end_of_other_rank,
    is_own_exception,
    with_consequences_lowered,
    with_ends_last,
)
from clusterspec.analysis.diagnosis.device_steps import with_steps_of_devices
from clusterspec.analysis.diagnosis.explained_causes import with_explained_last
from clusterspec.analysis.diagnosis.families import SILENT, causes_of_a_silent_end, families_of_causes
from clusterspec.analysis.diagnosis.fault_models import FAULT_MODELS, FaultFit, fault_fits
from clusterspec.analysis.diagnosis.hangs import (
    SYMPTOMS,
    Check,
    causes_of_a_hang,
    explained_symptoms,
    messages_of_a_slow_run,
    refused_connections,
    stops_of_one_rank,
    suggested_causes,
    unreachable_peers,
)
from clusterspec.analysis.diagnosis.host_causes import (
    absent_links,
    access_control_causes,
    host_setting_causes,
    memory_interleaving_causes,
    peer_access_causes,
    topology_causes,
)
from clusterspec.analysis.diagnosis.nic_causes import unstable_links
from clusterspec.analysis.diagnosis.other_devices import other_device_causes, unequal_devices
from clusterspec.analysis.diagnosis.pair_causes import pair_causes
from clusterspec.analysis.diagnosis.place_causes import causes_left_open, causes_of_differences, with_shares
from clusterspec.analysis.diagnosis.placed_runs import BUILT_WITH_MPI, PlacedRun, are_containers_of_one_node
from clusterspec.analysis.diagnosis.refined_causes import with_machine_facts
from clusterspec.analysis.diagnosis.release_causes import causes_of_told_releases, release_causes
from clusterspec.analysis.diagnosis.slow_causes import is_reported_slow, with_symptoms
from clusterspec.analysis.diagnosis.socket_causes import plugin_causes, socket_causes
from clusterspec.analysis.diagnosis.stated_bandwidth import PLATEAU, direction_error
from clusterspec.analysis.diagnosis.stated_causes import STATED, STRONG, WEAK
from clusterspec.analysis.diagnosis.suspected_causes import suspicions
from clusterspec.analysis.diagnosis.trial_causes import with_trials
from clusterspec.analysis.diagnosis.worded_steps import with_steps_of_words
from clusterspec.cost.measured import above_links_text, largest_possible_busbw
from clusterspec.results.diagnosis import ABOVE_LINKS, Cause
from clusterspec.standard import median
from clusterspec.units import display, percent, plural, size_text

ONE_PORT_OF_TWO = 0.75
"""A bond that uses one of its two ports reaches at most this share of the expected bandwidth: half, plus a margin."""
FLAT = 0.9
"""If a quarter of the largest size reaches at least this share of its bandwidth, latency no longer limits the time."""
DIP = 0.7
"""Share of the median of neighboring sizes below which a size counts as delayed."""
NEXT_TO_NOTHING = 0.1
"""Below this share of the expected bandwidth, RDMA over Ethernet probably loses packets (NVIDIA/nccl issue 378)."""
COLLAPSE = 0.5
"""Share of the best bandwidth below which the bandwidth of the largest messages is a collapse, not a plateau."""
FEW_CHANNELS = 8
"""Channels that do not fill the links of an H100, where NCCL opens 16 to 32 (uccl-project/uccl issue 205)."""

_NEXT = {fault.name: fault.next for fault in FAULT_MODELS}


def causes(run: PlacedRun) -> tuple[Cause, ...]:
    """The likely causes of a slow run, likeliest first; for other runs only errors that hold at any speed."""
    return tuple(with_steps_of_words(with_steps_of_devices(run, _likely_causes(run))))


def _likely_causes(run: PlacedRun) -> tuple[Cause, ...]:
    """The causes that lines and figures show; reports of people add causes and change weights."""
    found = _shown_causes(run)
    if run.has_result and not found and run.largest.measured >= run.largest.low:
        return found
    found = (*found, *causes_of_differences(run), *causes_of_told_releases(run))
    suspected = tuple(suspicions(run, with_trials(run, found)))
    told = with_symptoms(run, with_shares(run, with_trials(run, (*found, *suspected))))
    left_open = () if is_reported_slow(run) else causes_left_open(run, told)
    return _by_likelihood(with_machine_facts(run, [*told, *left_open]))


def _shown_causes(run: PlacedRun) -> tuple[Cause, ...]:
    if not run.has_result:
        stops = causes_of_a_hang(run, (release_causes, *CHECKS)) if run.rows else stops_of_one_rank(run)
        likeliest = _ordered_causes(run, unrefuted_causes(run, (*_separate_jobs(run), *address_causes(run), *stops)))
        if all(
            each.name in SYMPTOMS or is_own_exception(run, each) or follows_end_of_other_rank(run, each)
            for each in likeliest
        ):
            families = families_of_causes(run, but=SILENT)
            others = (*causes_of_a_silent_end(run), *explained_symptoms(run, likeliest), *families)
            others = (*others, *refused_connections(run))
            likeliest = _ordered_causes(run, others)
        elif not any(each.is_likely for each in likeliest):
            likeliest = _ordered_causes(run, (*causes_of_a_silent_end(run), *likeliest, *suggested_causes(run)))
        return likeliest
    if impossible := impossible_causes(run):
        return impossible
    last = run.largest
    found = [cause for check in ALWAYS for cause in check(run)]
    if last.measured < last.low:
        found += other_device_causes(run)
        found += [cause for check in CHECKS for cause in check(run)]
        found += [_cause_of_fit(run, fit) for fit in fault_fits(run) if fit.fault.name not in _no_faults_of(run)]
        found += release_causes(run)
    return _by_likelihood(found)


def _no_faults_of(run: PlacedRun) -> frozenset[str]:
    """Faults that a test of one link cannot have: it uses no sockets, and accelerator memory only by an option."""
    if run.series.in_flight == 1:
        return frozenset()
    return frozenset({"socket-fall-back"} if run.log_lines("gpu-buffer") else {"socket-fall-back", "gpudirect-off"})


def impossible_causes(run: PlacedRun) -> tuple[Cause, ...]:
    """The cause of a figure that no run over the links of the spec reaches."""
    name, last = run.name, run.largest
    possible = largest_possible_busbw(run.cluster, name, run.group)
    if possible is None or last.measured <= possible:
        return ()
    following = (
        "compare the ranks and the nodes of the log with the command, its bus bandwidth with size and time, and its "
        "devices with the spec"
    )
    return (Cause(ABOVE_LINKS, above_links_text(last.measured, possible), following, STATED),)


def _ordered_causes(run: PlacedRun, causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Each cause once, likeliest first. Causes that only follow from the failure of another rank come last."""
    return _by_likelihood(with_explained_last(with_ends_last(run, with_consequences_lowered(run, causes))))


_ENDS_OF_ONE = frozenset({"program-fault", "host-memory-full"})
"""Causes that end one process, after which the others end: a crash, or a kill by the kernel for lack of memory."""


def _by_likelihood(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Each cause once, likeliest first. The end of another process comes after an equally likely cause of that end."""
    causes = tuple(causes)
    faults = {each.weight for each in causes if each.name in _ENDS_OF_ONE}
    best: dict[str, Cause] = {}
    for cause in sorted(causes, key=lambda each: (-each.weight, each.name == "peer-ended" and each.weight in faults)):
        best.setdefault(cause.name, cause)
    return tuple(best.values())


def _cause_of_fit(run: PlacedRun, fit: FaultFit) -> Cause:
    measured = f"{fit.evidence}; {display(run.largest.measured, 'B/s')} was measured"
    weight = (WEAK if fit.fault.free else STRONG) * (1 - fit.miss)
    return Cause(fit.fault.name, measured, fit.fault.next, round(weight, 3))


def _too_few_nics(run: PlacedRun) -> Iterator[Cause]:
    fabric, used = run.cluster.scale_out, run.nics_used
    if not run.uses_network or fabric is None or used is None:
        return
    if used >= fabric.nics_per_node:
        for text, line in run.log_lines("only-adapter") if used > 1 else ():
            evidence = f"line {line} of the log: all channels use NIC {text} of {used}"
            yield Cause("one-nic", evidence, _NEXT["one-nic"], STRONG)
        return
    line = (run.log_lines("hcas") or run.log_lines("socket"))[0][1]
    name = "one-nic" if used == 1 else "few-nics"
    evidence = f"line {line} of the log: {used} of {fabric.nics_per_node} NICs are used"
    limited = [text for text, _ in run.log_lines("environment") if text.startswith("NCCL_IB_HCA")]
    if limited:
        evidence += f" ({limited[0].replace(' ', '=', 1)})"
    yield Cause(name, evidence, _NEXT["one-nic"], STATED)


def _gpudirect_causes(run: PlacedRun) -> Iterator[Cause]:
    if not run.uses_network:
        return
    fabric, used = run.cluster.scale_out, run.log_lines("gdr")
    for text, line in run.log_lines("environment"):
        if text in {"NCCL_NET_GDR_LEVEL LOC", "NCCL_NET_GDR_LEVEL 0"}:
            evidence = f"line {line} of the log: {text.replace(' ', '=', 1)}"
            yield Cause("gpudirect-off", evidence, "unset NCCL_NET_GDR_LEVEL, and run again", STATED)
    for text, line in run.log_lines("no-gdr")[:1]:
        if fabric is None or fabric.technology.rdma:
            some = f", as line {used[0][1]} has it" if used else ""
            evidence = f"line {line} of the log: {text}, without GDRDMA{some}"
            explained = used or run.log_lines("other-socket")  # the distance is why
            yield Cause("gpudirect-off", evidence, _NEXT["gpudirect-off"], STRONG if explained else STATED)


def _nic_distance(run: PlacedRun) -> Iterator[Cause]:
    """NICs that are too distant for GPUDirect; none if the environment sets the distance limit."""
    limited = any(text.startswith("NCCL_NET_GDR_LEVEL") for text, _ in run.log_lines("environment"))
    for _, line in run.log_lines("other-socket")[:1]:
        if run.uses_network:
            evidence = f"line {line} of the log: accelerator and NIC are connected through the other socket (SYS)"
            following = "nvidia-smi topo -m; use the NIC of the socket of each accelerator (NCCL_IB_HCA), or move it"
            yield Cause("nic-distance", evidence, following, STATED if run.log_lines("no-gdr") else STRONG)
    for _, line in run.log_lines("host-bridge")[:1]:  # without GPUDirect the path is shown through the host, too
        if run.uses_network and run.log_lines("gdr") and not run.log_lines("no-gdr"):
            evidence = f"line {line} of the log: GPUDirect crosses the host bridge of the processor (PHB)"
            following = (
                "nvidia-smi topo -m; use a NIC below the PCIe switch of the accelerator, or NCCL_NET_GDR_LEVEL=PXB"
            )
            yield Cause("nic-distance", evidence, following, STRONG)
    for text, line in run.log_lines("far-nic")[:1]:
        if run.uses_network and not limited:
            distance, most = text.split()
            evidence = f"line {line} of the log: GPUDirect is not used at distance {distance}, more than {most}"
            following = "nvidia-smi topo -m; use the NIC below the PCIe switch of each accelerator (NCCL_IB_HCA)"
            yield Cause("nic-distance", evidence, following, STATED)


def _disabled_nvls(run: PlacedRun) -> Iterator[Cause]:
    if not run.cluster.scale_up.in_network_reduction:
        return
    for text, line in run.log_lines("no-nvls")[:1]:
        yield Cause("no-nvls", f"line {line} of the log: NVLS {text}", _NEXT["no-nvls"], STATED)
    for text, line in run.log_lines("nvls")[:1]:
        if text == "0":
            yield Cause("no-nvls", f"line {line} of the log: 0 nvls channels", _NEXT["no-nvls"], STATED)
    for text, line in run.log_lines("environment"):
        if text.startswith("NCCL_NVLS_ENABLE 0"):
            yield Cause("no-nvls", f"line {line} of the log: NCCL_NVLS_ENABLE=0", "unset NCCL_NVLS_ENABLE", STATED)


def _channels_and_protocol(run: PlacedRun) -> Iterator[Cause]:
    """Settings of the environment that limit the bandwidth of large messages."""
    for text, line in run.log_lines("environment"):
        name, _, value = text.partition(" ")
        shown = f"line {line} of the log: {name}={value}"
        if name == "NCCL_MAX_NCHANNELS" and value.isdecimal() and int(value) <= FEW_CHANNELS:
            yield Cause("few-channels", shown, f"unset {name}, and run again", STRONG)
        if name == "NCCL_PROTO" and value.upper() in {"LL", "LL128", "LL,LL128"} and run.largest.size >= PLATEAU:
            yield Cause("latency-protocol", shown, f"unset {name}, and run again", STRONG)


def _channels_of_nics(run: PlacedRun) -> Iterator[Cause]:
    """Fewer than two channels per NIC on a node that uses all of its NICs.

    Published: ROCm/rccl pull request 1366 (a topology without an entry in the library gets eight channels).
    """
    fabric = run.cluster.scale_out
    limited = any(text.startswith("NCCL_MAX_NCHANNELS") for text, _ in run.log_lines("environment"))
    if not run.uses_network or fabric is None or limited or list(_too_few_nics(run)):
        return
    for text, line in run.log_lines("channels")[:1]:
        if int(text) < 2 * fabric.nics_per_node and fabric.nics_per_node > 1:
            evidence = f"line {line} of the log: {text} channels for {fabric.nics_per_node} NICs"
            following = "set NCCL_MIN_NCHANNELS to twice the NICs or more, and run again"
            yield Cause("few-channels", evidence, following, STRONG)


def _bonded_port_causes(run: PlacedRun) -> Iterator[Cause]:
    """Bonds that use only one port: the library opens one queue pair per connection, and a bond maps it to one port
    (NVIDIA/nccl, issue 1015). More queue pairs may still map to the same port (NVIDIA/nccl-tests, issue 191).
    """
    fabric = run.cluster.scale_out
    if not run.uses_network or fabric is None or not fabric.technology.rdma or run.largest.ratio > ONE_PORT_OF_TWO:
        return
    pairs = [text for text, _ in run.log_lines("environment") if text.startswith("NCCL_IB_QPS_PER_CONNECTION")]
    several = any(text.split()[1].isdecimal() and int(text.split()[1]) > 1 for text in pairs)
    for text, line in run.log_lines("hcas")[:1]:
        if bond := re.search(r"\b\w{0,20}bond\w{0,10}", text.split("OOB")[0]):
            evidence = f"line {line} of the log: {bond[0]} is a bond"
            following = "NCCL_IB_QPS_PER_CONNECTION=4 NCCL_IB_SPLIT_DATA_ON_QPS=0, or list the ports one by one"
            if several:
                following = f"list the ports one by one: {pairs[0].replace(' ', '=', 1)} is set already"
            yield Cause("bonded-ports", evidence, following, STRONG)


def _packet_loss(run: PlacedRun) -> Iterator[Cause]:
    """RDMA over Ethernet with almost no bandwidth, or less for larger messages: symptoms of packet loss.

    Published: NVIDIA/nccl issues 306 and 378, where maintainers name missing flow control (pause frames or PFC).
    """
    fabric = run.cluster.scale_out
    if not run.uses_network or fabric is None or fabric.technology.family != "roce" or not run.log_lines("hcas", "gdr"):
        return
    last, following = run.largest, "ethtool -S IFACE | grep -E 'discard|out_of_sequence|pause'; turn PFC or ECN on"
    best = max((row for row in run.rows if row.size >= 1 << 20), key=lambda row: row.measured, default=last)
    if best.measured * COLLAPSE > last.measured and best.size < last.size:
        evidence = (
            f"{display(best.measured, 'B/s')} at {size_text(best.size)}, {display(last.measured, 'B/s')} at "
            f"{size_text(last.size)}: larger messages are slower, over Ethernet"
        )
        yield Cause("packet-loss", evidence, following, STRONG)
    elif last.ratio < NEXT_TO_NOTHING:
        evidence = f"RDMA over Ethernet reaches {percent(last.ratio)} of the expected bandwidth"
        yield Cause("packet-loss", evidence, following, STRONG)


def _network_inside_domain(run: PlacedRun) -> Iterator[Cause]:
    """Ranks of one node or domain that cannot reach each other: they run in separate containers (NVIDIA/nccl, issues
    1536 and 1781), or the service that connects the domain is missing.
    """
    more_nodes = any((each.nodes or 1) > run.group.nodes for each in run.benchmark.series)
    if run.uses_network or (more_nodes and not are_containers_of_one_node(run.cluster, run.series)):
        return
    sent = [(text, line) for text, line in run.log_lines("gdr", "no-gdr") if text.startswith(("/GDRDMA", "NET/"))]
    sent += [(text, line) for text, line in run.log_lines("socket") if text.isdecimal()]
    for _, line in sorted(sent, key=lambda each: each[1])[:1]:
        following = (
            "run the ranks of a node in one container with shared /dev/shm; between nodes of a domain, see "
            "nvidia-smi -q (Fabric) and nvidia-imex"
        )
        evidence = f"line {line} of the log: a channel via NET, although all ranks are in one scale-up domain"
        yield Cause("network-inside-domain", evidence, following, STATED)


def _slow_size(run: PlacedRun) -> Iterator[Cause]:
    """A size above 1 MiB that is far slower than its neighbors: an intermittent delay."""
    rows = [row for row in run.rows if row.size >= 1 << 20]
    for before, row, after in zip(rows, rows[1:], rows[2:], strict=False):
        usual = median((before.ratio, after.ratio))
        if row.ratio < DIP * usual and row.measured < DIP * min(before.measured, after.measured):
            evidence = (
                f"{size_text(row.size)} reaches {percent(row.ratio)} of the expected, its neighbors {percent(usual)}"
            )
            following = _narrowing_step(run, "run pairs of nodes in turn (all_reduce_perf on 2 nodes each)")
            yield Cause("straggler", evidence, following, STRONG)
            return


def _small_messages(run: PlacedRun) -> Iterator[Cause]:
    last = run.largest
    before = [row.measured for row in run.rows if row.size * 4 <= last.size]
    flat = bool(before) and before[-1] >= FLAT * last.measured  # openucx/ucx pull 10955
    if last.size < PLATEAU and run.series.in_flight == 1 and not flat:
        evidence = f"the largest size is {size_text(last.size)}: latency dominates at this size, not bandwidth"
        yield Cause("small-messages", evidence, "run again with -b 8M -e 8G -f 2", STRONG)


def _wrong_results(run: PlacedRun) -> Iterator[Cause]:
    if run.series.wrong:
        evidence = f"{run.series.wrong} values of the results are wrong"
        following = f"dcgmi diag -r 3; {_narrowing_step(run, 'run each node alone with -c 1')}"
        yield Cause("wrong-results", evidence, following, STATED)


def _separate_jobs(run: PlacedRun) -> Iterator[Cause]:
    """Copies of the benchmark that ran side by side (NVIDIA/nccl-tests issue 182), whatever their bandwidth."""
    alone = run.log_lines("process-count")
    if run.series.jobs > 1 and alone:
        evidence = f"line {alone[0][1]} of the log: rank 0 of {run.series.jobs} jobs prints it"
        yield Cause("separate-jobs", evidence, "mpirun of the MPI that the benchmark was built with", STATED)
    elif run.series.jobs > 1:
        evidence = (
            f"the log lists rank 0 of {run.series.jobs} jobs: each has {plural(run.group.ranks, 'rank')} of its own"
        )
        yield Cause("separate-jobs", evidence, BUILT_WITH_MPI, STATED)


def _narrowing_step(run: PlacedRun, by_node: str) -> str:
    """The next step towards the slow or faulty part: by nodes, or by accelerators where the run is on one node."""
    part = (
        by_node if run.group.nodes > 1 else "run half of the accelerators (CUDA_VISIBLE_DEVICES), then the other half"
    )
    return f"{part}, until the one at fault remains"


ALWAYS: tuple[Check, ...] = (_wrong_results, _separate_jobs, direction_error)
"""Checks that apply at any speed: wrong results, jobs that were not joined, and a wrong figure in the spec."""
CHECKS: tuple[Check, ...] = (
    messages_of_a_slow_run,
    plugin_causes,  # causes before their symptoms, which have the same weight
    _nic_distance,
    socket_causes,
    _too_few_nics,
    _gpudirect_causes,
    _disabled_nvls,
    access_control_causes,
    unequal_devices,
    peer_access_causes,
    _channels_and_protocol,
    _channels_of_nics,
    _bonded_port_causes,
    _network_inside_domain,
    _packet_loss,
    unstable_links,
    unreachable_peers,
    host_setting_causes,
    memory_interleaving_causes,
    absent_links,
    topology_causes,
    pair_causes,
    _slow_size,
    _small_messages,
)
