"""Fault models: machines with a single fault, whose predicted bandwidth is compared with the measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.variation import Changes, with_values
from clusterspec.cost.collectives.algorithms import CHOICES
from clusterspec.records import dataclass
from clusterspec.units import display


@dataclass(frozen=True)
class FaultModel:
    """A fault: the machines that have it, each with a description, and the command that confirms it.

    ``across`` is true if only groups across scale-up domains show the fault, false if only groups inside a domain do,
    and None if both do. ``free`` is true if the faulty machines together predict nearly any bandwidth, so that a match
    is weak evidence.
    """

    name: str
    machines: Callable[[PlacedRun], Iterator[tuple[Cluster, str]]]
    next: str
    across: bool | None
    free: bool = False


def _socket_clusters(run: PlacedRun) -> Iterator[tuple[Cluster, str]]:
    """TCP sockets instead of RDMA, which the library uses on a proprietary network without a plugin."""
    fabric = run.cluster.scale_out
    if fabric is not None and fabric.technology.family != "tcp":
        changes: Changes = {("technology", "proprietary"): True, ("collective_plugin",): "none"}
        yield _with_fabric(run, changes), "TCP sockets instead of RDMA"


def _with_fabric(run: PlacedRun, changes: Changes) -> Cluster:
    """The cluster of a run with other values of its fabric."""
    return with_values(run.cluster, {("scale_out", *path): value for path, value in changes.items()})


def _fewer_nics(run: PlacedRun) -> Iterator[tuple[Cluster, str]]:
    fabric = run.cluster.scale_out
    count = fabric.nics_per_node if fabric else 0
    for used in (1, 2, 4):
        if used < count:
            yield _with_fabric(run, {("nics_per_node",): used}), f"{used} of {count} NICs"


def _clusters_without_gpudirect(run: PlacedRun) -> Iterator[tuple[Cluster, str]]:
    fabric = run.cluster.scale_out
    if fabric is not None and fabric.gpudirect_rdma and fabric.technology.rdma:
        changes: Changes = {("gpudirect_rdma",): False}
        yield _with_fabric(run, changes), "GPUDirect RDMA off: all traffic passes through host memory"


def _oversubscribed_clusters(run: PlacedRun) -> Iterator[tuple[Cluster, str]]:
    """Leaf uplinks oversubscribed more than the spec states; a group within one leaf does not show it."""
    fabric = run.cluster.scale_out
    for ratio in (2.0, 3.0, 4.0, 8.0):
        if fabric and ratio > fabric.taper:
            rate = fabric.nic_bandwidth.value * fabric.taper / ratio
            cluster = _with_fabric(run, {("nic_bandwidth", "value"): rate})
            yield cluster, f"a fabric level oversubscribed {ratio:g}:1 (the spec states {fabric.taper:g}:1)"


def _no_reduction(run: PlacedRun) -> Iterator[tuple[Cluster, str]]:
    if run.cluster.scale_up.in_network_reduction:
        cluster = with_values(run.cluster, {("scale_up", "in_network_reduction"): False})
        yield cluster, "no reduction in the switches of the domain (NVLS)"


def _older_slots(run: PlacedRun) -> Iterator[tuple[Cluster, str]]:
    host = run.cluster.pcie_host
    if host and host > 1:
        cluster = with_values(run.cluster, {("pcie_host",): host - 1})
        yield cluster, f"PCIe {host - 1} slots instead of the {host} of the spec"


FAULT_MODELS = (
    FaultModel(
        "socket-fall-back", _socket_clusters, "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET … 2>&1 | grep 'NET/'", True
    ),
    FaultModel("one-nic", _fewer_nics, "NCCL_DEBUG=INFO … 2>&1 | grep 'NET/IB : Using'; ibstat | grep -c Active", True),
    FaultModel(
        "gpudirect-off",
        _clusters_without_gpudirect,
        "lsmod | grep nvidia_peermem; NCCL_DEBUG=INFO … 2>&1 | grep -c GDRDMA",
        True,
    ),
    FaultModel(
        "oversubscribed-level",
        _oversubscribed_clusters,
        "run on the nodes of one leaf, then across leaves, and compare",
        True,
        free=True,
    ),
    FaultModel(
        "no-nvls",
        _no_reduction,
        "NCCL_DEBUG=INFO … 2>&1 | grep -i nvls; NCCL_NVLS_ENABLE=1; nvidia-smi -q | grep -i fabric",
        None,
    ),
    FaultModel("wrong-pcie-generation", _older_slots, "sudo lspci -vv | grep -E 'LnkCap:|LnkSta:' under load", None),
)
MAX_MISS = 0.25
"""Maximum relative difference between prediction and measurement at which a fault is likely."""
LOWERED = 0.95
"""If a fault lowers the predicted bandwidth to no less than this share, it would not be noticeable in the run."""


@dataclass(frozen=True)
class FaultFit:
    """A fault whose prediction in B/s is close to the measurement; ``miss`` is their relative difference.

    ``algorithm`` is the algorithm of the prediction if another one is predicted to be faster; else empty.
    """

    fault: FaultModel
    description: str
    predicted: float
    miss: float
    algorithm: str = ""

    @property
    def evidence(self) -> str:
        by = f" by the algorithm {self.algorithm}" if self.algorithm else ""
        return f"with {self.description} the cost model predicts {display(self.predicted, 'B/s')}{by}"


def _is_contradicted(run: PlacedRun, name: str) -> bool:
    """Whether the log states the opposite of a fault."""
    fabric, used = run.cluster.scale_out, run.nics_used
    rdma = bool(run.log_lines("gdr", "hcas", "ofi"))
    opposite = {
        "socket-fall-back": rdma and not run.log_lines("socket", "no-ib"),
        "one-nic": fabric is not None and used is not None and used >= fabric.nics_per_node,
        "gpudirect-off": bool(run.log_lines("gdr")) and not run.log_lines("no-gdr"),
        "no-nvls": any(text.isdecimal() and int(text) > 0 for text, _ in run.log_lines("nvls")),
    }
    return opposite.get(name, False)


def fault_fits(run: PlacedRun) -> list[FaultFit]:
    """The faults whose prediction at the largest size is close to the measurement, closest first."""
    last = run.largest
    found: dict[str, FaultFit] = {}
    for fault in FAULT_MODELS:
        if (fault.across is not None and fault.across != run.uses_network) or _is_contradicted(run, fault.name):
            continue
        for cluster, description in fault.machines(run):
            for predicted, algorithm in _lowered_bandwidths(run, cluster):
                miss = abs(last.measured / predicted - 1)
                best = found.get(fault.name)
                if miss <= MAX_MISS and (best is None or miss < best.miss):
                    found[fault.name] = FaultFit(fault, description, predicted, miss, algorithm)
    return sorted(found.values(), key=lambda fit: fit.miss)


def _lowered_bandwidths(run: PlacedRun, cluster: Cluster) -> Iterator[tuple[float, str]]:
    """The predicted bandwidths in B/s at the largest size on a machine with a fault, if the fault lowers them: for the
    fastest algorithm, and by name for each other algorithm that the library may choose.

    The library chooses by its own model, which ignores faults: its choice on a faulty machine may not be the fastest.
    If a log names its algorithm, only that one is possible.
    """
    last = run.largest
    fastest = run.predicted_cost(cluster, last.size)
    if fastest is not None and fastest.busbw <= LOWERED * last.expected:
        yield fastest.busbw, ""
    for name in () if run.series.algorithm else CHOICES[run.name]:
        cost, sound = (run.predicted_cost(each, last.size, name) for each in (cluster, run.cluster))
        if cost is None or sound is None or cost.algorithm != sound.algorithm:
            continue
        if cost.busbw <= LOWERED * sound.busbw:
            yield cost.busbw, cost.algorithm
