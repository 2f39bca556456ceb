"""Causes inside a host: access control of PCIe, peer access, settings, memory and the planned topology."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import next_step
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STRONG, WEAK
from clusterspec.results.diagnosis import Cause
from clusterspec.units import percent, plural

FEW_NUMA_NODES = 2
"""NUMA nodes of a host with two sockets and one NUMA node per socket."""
NEARLY_NOTHING = 0.25
"""Share of the expected bandwidth below which a configured topology file is a likely cause. Clouds usually configure
one.
"""


_DISABLED = "nvidia-smi topo -p2p rw: the reason that the driver gives; in a guest, the clique of its devices"


def access_control_causes(run: PlacedRun) -> Iterator[Cause]:
    """Access control services (ACS) in PCIe bridges, which redirect peer-to-peer traffic through the CPU."""
    following = "sudo lspci -vvv | grep -i 'ACSCtl: SrcValid+'; turn ACS off in the firmware or with setpci"
    pcie = run.cluster.scale_up.topology in {"pcie", "bridge"} or run.cluster.scale_up.domain == 1
    inside = not run.uses_network and pcie and run.cluster.accelerator.peer_to_peer is not False
    shared = [] if list(peer_access_causes(run)) else run.log_lines("p2p-host")  # the environment alone explains it
    redirected, refused = run.log_lines("acs-on"), run.log_lines("protection")
    if refused:  # NVIDIA/nccl issue 928
        evidence = (
            f"line {refused[0][1]} of the log: {refused[0][0]}: a NIC does not reach the memory of an accelerator"
        )
        yield Cause("acs", evidence, f"{following}; to test, set NCCL_NET_GDR_LEVEL=0", STATED)
    elif redirected and (inside or (run.uses_network and not run.log_lines("no-gdr"))):
        yield Cause("acs", f"line {redirected[0][1]} of the log: {redirected[0][0]}", following, STATED)
    elif inside and shared and not run.largest.measured:
        return  # traffic through the memory of the host is slow, and stops no run
    elif inside and shared:
        evidence = (
            f"line {shared[0][1]} of the log: {shared[0][0]}, through host memory instead of directly between devices"
        )
        whole = run.cluster.scale_up.topology == "pcie" or run.cluster.scale_up.domain == 1
        yield Cause("acs", evidence, following, STATED if whole else STRONG)
    elif inside or (run.uses_network and run.log_lines("gdr")):
        last = run.largest
        evidence = f"GPUDirect is on, and {percent(last.ratio)} of the expected bandwidth is reached"
        if inside:
            evidence = f"devices reach each other over PCIe alone, and {percent(last.ratio)} of it is reached"
        yield Cause("acs", evidence, following, WEAK)


def peer_access_causes(run: PlacedRun) -> Iterator[Cause]:
    """Peer access that is disabled by the environment, refused by the driver (NCCL, `src/graph/paths.cc`, line 402;
    NVIDIA/nccl issue 1329), or not supported by the accelerator.
    """
    for text, line in run.log_lines("environment"):
        if text in {"NCCL_P2P_DISABLE 1", "NCCL_P2P_LEVEL LOC", "NCCL_P2P_LEVEL 0"}:
            name, value = text.split()
            following = f"unset {name}, and run again"
            yield Cause("peer-access-off", f"line {line} of the log: {name}={value}", following, STATED)
    yield from _forced_peer_access(run)
    for text, line in () if run.uses_network else run.log_lines("p2p-disabled")[:1]:
        evidence = f"line {line} of the log: {text}, by the driver"
        yield Cause("peer-access-off", evidence, _DISABLED, STATED)
    shared = run.log_lines("p2p-host")
    if shared and run.cluster.accelerator.peer_to_peer is False and not run.uses_network:
        evidence = f"line {shared[0][1]} of the log: {shared[0][0]}; {run.cluster.accelerator.name} has no peer access"
        following = "write the bandwidth through host memory to scale_up.peer_bandwidth: no setting adds peer access"
        yield Cause("peer-access-off", evidence, following, STATED)


_THROUGH_THE_HOST = frozenset({"NCCL_P2P_LEVEL SYS", "NCCL_P2P_LEVEL PHB", "NCCL_P2P_LEVEL NODE", "NCCL_P2P_LEVEL 5"})
"""Settings that make accelerators write to each other through the CPU, where the library would otherwise use host
memory.
"""


def _forced_peer_access(run: PlacedRun) -> Iterator[Cause]:
    """Peer access through the CPU that the environment forces. CPUs forward such traffic slowly, most of all in an
    all-to-all (NVIDIA/nccl issue 1603, tinygrad/open-gpu-kernel-modules issue 17).
    """
    inside = run.has_result and not run.uses_network and run.cluster.scale_up.topology == "pcie"
    for text, line in run.log_lines("environment") if inside and run.log_lines("p2p-direct") else ():
        if text in _THROUGH_THE_HOST:
            name, value = text.split()
            evidence = f"line {line} of the log: {name}={value}: accelerators write to one another through the CPU"
            weight = STRONG if run.name == "all-to-all" else GIVEN
            yield Cause("invalid-setting", evidence, f"unset {name}, and run again", weight)


def host_setting_causes(run: PlacedRun) -> Iterator[Cause]:
    """Settings of the host that RCCL warns of (src/init.cc, lines 142 and 162)."""
    for text, line in run.log_lines("numa-balancing")[:1]:
        following = "sudo sysctl kernel.numa_balancing=0, and run again"
        yield Cause("numa-balancing", f"line {line} of the log: {text}", following, STRONG)
    for text, line in run.log_lines("fine-grain")[:1]:
        following = "export HSA_FORCE_FINE_GRAIN_PCIE=1, and run again"
        yield Cause("fine-grain-off", f"line {line} of the log: {text} is missing", following, STRONG)
    up = run.cluster.scale_up
    over_pcie = up.topology in {"pcie", "bridge"} or up.domain == 1  # as in ROCm/rccl issue 1129
    for text, line in run.log_lines("iommu")[:1]:
        following = "add iommu=pt to the kernel command line; the host's NPS setting limits traffic through memory"
        yield Cause(
            "iommu-translation", f"line {line} of the log: {text} is missing", following, STRONG if over_pcie else WEAK
        )


def memory_interleaving_causes(run: PlacedRun) -> Iterator[Cause]:
    """An AMD host with few NUMA nodes whose CPUs forward the traffic.

    NCCL prints the maker of the CPU (RCCL, src/graph/topo.cc, line 277; 2 is AMD). Published: NVIDIA/nccl issue 1285,
    NVIDIA/nccl-tests issues 74 and 293, where four NUMA nodes for each socket (NPS4) solved it.
    """
    amd = run.log_lines("amd-host")
    nodes = {text for text, _ in run.log_lines("numa-node")}
    up = run.cluster.scale_up
    through_host = run.log_lines("no-gdr") if run.uses_network else up.topology == "pcie" or up.domain == 1
    if amd and through_host and len(nodes) <= FEW_NUMA_NODES:
        evidence = (
            f"line {amd[0][1]} of the log: an AMD host with {plural(len(nodes), 'NUMA node')} whose CPUs relay the data"
        )
        following = "lscpu | grep 'NUMA node(s)'; set four NUMA nodes per socket (NPS4) in the firmware, and run again"
        yield Cause("numa-per-socket", evidence, following, STRONG)


def absent_links(run: PlacedRun) -> Iterator[Cause]:
    """Accelerators that reach each other over PCIe alone, where the design has direct links between all of them.

    Threads: tatsu-lab/stanford_alpaca issue 32 (a guest in which the provider had not set up NVLink),
    kohya-ss/sd-scripts issue 1434 (boards without NVLink).
    """
    up = run.cluster.scale_up
    linked = up.domain > 1 and up.topology not in {"pcie", "bridge"}
    for paths, line in run.log_lines("pcie-paths")[:1] if linked else ():
        evidence = f"line {line} of the log: the paths between its accelerators are {paths}, none is a direct link"
        yield Cause("no-direct-links", evidence, next_step("no-direct-links"), STRONG)


def topology_causes(run: PlacedRun) -> Iterator[Cause]:
    """A topology with PCIe links that the machine cannot have, or a topology file with nearly no bandwidth reached.

    Published: NVIDIA/nccl issue 749 (a link of 2.5 GT/s x1 in the file), 1240 (a graph of
    another machine), Azure/azurehpc-health-checks issue 142.
    """
    following = (
        "run with NCCL_TOPO_DUMP_FILE=system.xml, and compare that file with lspci -vt of the host; unset "
        "NCCL_TOPO_FILE NCCL_GRAPH_FILE"
    )
    for text, line in run.log_lines("slow-pcie")[:1]:
        evidence = f"line {line} of the log: a PCIe link of {text} GB/s, slower than one lane of a slot"
        yield Cause("wrong-topology", evidence, following, STATED)
    yield from _hidden_switches(run)
    for text, line in run.log_lines("environment"):
        if text.startswith(("NCCL_TOPO_FILE ", "NCCL_GRAPH_FILE ")):
            weight = STRONG if run.largest.ratio < NEARLY_NOTHING else GIVEN
            yield Cause("wrong-topology", f"line {line} of the log: {text.replace(' ', '=', 1)}", following, weight)


_HIDDEN = (
    "compare lspci -tv in the virtual machine and on its host with NCCL_TOPO_DUMP_FILE=system.xml; set "
    "NCCL_TOPO_FILE to a file with the switches of the host"
)


def _hidden_switches(run: PlacedRun) -> Iterator[Cause]:
    """Distant NICs on a node with one NIC per accelerator: a virtual machine hides the PCIe switch that each pair
    shares, unless a topology file describes it (NVIDIA/nccl issues 439, 1464 and 1843).
    """
    fabric = run.cluster.scale_out
    files = any(text.startswith("NCCL_TOPO_FILE ") for text, _ in run.log_lines("environment"))
    if files or not run.uses_network or fabric is None or fabric.nics_per_node < run.cluster.accelerators_per_node:
        return
    for text, line in run.log_lines("far-nic", "host-bridge", "other-socket")[:1]:
        distance = f"distance {text.split()[0]}" if text[0].isdigit() else text
        evidence = (
            f"line {line} of the log: {distance} between accelerator and NIC, and a node has {fabric.nics_per_node} "
            f"NICs for {run.cluster.accelerators_per_node} accelerators: a virtual machine, or a topology that the "
            "library does not know, may hide the PCIe switches"
        )
        yield Cause("wrong-topology", evidence, _HIDDEN, GIVEN)
