"""Machines with one fault: what the cost model predicts for each is held against what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.exchange.diagnosis.compare import Run
from clusterspec.quantity import Bandwidth
from clusterspec.records import dataclass, replace
from clusterspec.units import say


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: the machines that have it, each with what is faulty in words, and the command that confirms it.

    ``across`` is true where only groups that leave a scale-up domain can show it, false where only groups inside one
    can, None where both can.
    """

    name: str
    machines: Callable[[Run], Iterator[tuple[Cluster, str]]]
    next: str
    across: bool | None


def _fabric(run: Run, change: Callable[[ScaleOut], ScaleOut | None], said: str) -> Iterator[tuple[Cluster, str]]:
    fabric = run.cluster.scale_out
    changed = change(fabric) if fabric is not None else None
    if changed is not None:
        yield replace(run.cluster, scale_out=changed), said


def _sockets(run: Run) -> Iterator[tuple[Cluster, str]]:
    """Kernel sockets instead of RDMA: what the library uses where a proprietary network has no plugin."""

    def change(fabric: ScaleOut) -> ScaleOut | None:
        if fabric.technology.family == "tcp":
            return None
        return replace(fabric, technology=replace(fabric.technology, proprietary=True), collective_plugin="none")

    return _fabric(run, change, "TCP sockets instead of RDMA")


def _fewer_nics(run: Run) -> Iterator[tuple[Cluster, str]]:
    fabric = run.cluster.scale_out
    count = fabric.nics_per_node if fabric else 0
    for used in (1, 2, 4):
        if used < count:
            yield from _fabric(run, lambda one, used=used: replace(one, nics_per_node=used), f"{used} of {count} NICs")  # type: ignore[misc]


def _staged(run: Run) -> Iterator[tuple[Cluster, str]]:
    def change(fabric: ScaleOut) -> ScaleOut | None:
        return replace(fabric, gpudirect_rdma=False) if fabric.gpudirect_rdma and fabric.technology.rdma else None

    return _fabric(run, change, "GPUDirect RDMA off: every byte passes host memory")


def _tapered(run: Run) -> Iterator[tuple[Cluster, str]]:
    """A leaf that tapers, where the spec has none as steep; a group of one leaf cannot show it."""
    fabric = run.cluster.scale_out
    for ratio in (2.0, 3.0, 4.0, 8.0):
        if fabric and ratio > fabric.taper:
            cluster = replace(run.cluster, scale_out=replace(fabric, nic_bandwidth=_part(fabric, ratio / fabric.taper)))
            yield cluster, f"a level of the fabric that tapers {ratio:g}:1 (the spec states {fabric.taper:g}:1)"


def _part(fabric: ScaleOut, ratio: float) -> Bandwidth:
    return replace(fabric.nic_bandwidth, value=fabric.nic_bandwidth.value / ratio)


def _no_reduction(run: Run) -> Iterator[tuple[Cluster, str]]:
    if run.cluster.scale_up.in_network_reduction:
        up = replace(run.cluster.scale_up, in_network_reduction=False)
        yield replace(run.cluster, scale_up=up), "no reduction in the switches of the domain (NVLS)"


def _older_slots(run: Run) -> Iterator[tuple[Cluster, str]]:
    host = run.cluster.pcie_host
    if host and host > 1:
        yield replace(run.cluster, pcie_host=host - 1), f"PCIe {host - 1} slots, and the spec states {host}"


FAULTS = (
    Fault("socket-fall-back", _sockets, "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET … 2>&1 | grep 'NET/'", True),
    Fault("one-nic", _fewer_nics, "NCCL_DEBUG=INFO … 2>&1 | grep 'NET/IB : Using'; ibstat | grep -c Active", True),
    Fault("gpudirect-off", _staged, "lsmod | grep nvidia_peermem; NCCL_DEBUG=INFO … 2>&1 | grep -c GDRDMA", True),
    Fault("oversubscribed-level", _tapered, "run on the nodes of one leaf, then across leaves, and compare", True),
    Fault(
        "no-nvls",
        _no_reduction,
        "NCCL_DEBUG=INFO … 2>&1 | grep -i nvls; NCCL_NVLS_ENABLE=1; nvidia-smi -q | grep -i fabric",
        None,
    ),
    Fault("wrong-pcie-generation", _older_slots, "sudo lspci -vv | grep -E 'LnkCap:|LnkSta:' under load", None),
)
CLOSE = 0.25
"""By how much a prediction may miss the measurement and still speak for its fault."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A fault whose prediction is close to what was measured; ``miss`` is by how much it misses."""

    fault: Fault
    said: str
    predicted: float
    miss: float

    @property
    def evidence(self) -> str:
        return f"with {self.said} the cost model gives {say(self.predicted, 'B/s')}"


def fits(run: Run) -> list[Fit]:
    """The faults whose prediction at the largest size is close to what was measured, the closest first."""
    last = run.largest
    found: dict[str, Fit] = {}
    for fault in FAULTS:
        if fault.across is not None and fault.across != (run.group.domains > 1):
            continue
        for cluster, said in fault.machines(run):
            predicted = run.predicted(cluster, last.size)
            if predicted is None or predicted > 0.95 * last.expected:
                continue  # this fault would not be seen here
            miss = abs(last.measured / predicted - 1)
            best = found.get(fault.name)
            if miss <= CLOSE and (best is None or miss < best.miss):
                found[fault.name] = Fit(fault, said, predicted, miss)
    return sorted(found.values(), key=lambda fit: fit.miss)
