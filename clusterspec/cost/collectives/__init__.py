"""Collectives on the tiers of a cluster: algorithms, protocols, and the choice among them.

This module holds the records of a collective: the links of a group by tier, the timed candidates, the cost; and the
achieved bandwidth of the network.
"""

from __future__ import annotations

from math import inf

from clusterspec.cluster.model import ScaleOut
from clusterspec.cost import assumed_figure, cited_figure
from clusterspec.cost.formulas.collectives import overlapped_time, pipelined_time, time_at_busbw
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.records import dataclass
from clusterspec.source import Assumed, Cited
from clusterspec.standard import cached_property

LINKS = "links"
RING = assumed_figure(
    LINKS, "ring", 0.8, "rings reach 0.70 to 0.82 of NVLink and xGMI and 0.9 or more of ICI and Gaudi (entries)"
)
PAIR = assumed_figure(LINKS, "pair", 0.75, "two accelerators of a mesh share one link: 0.745 of it on MI300X")
EXCHANGE = assumed_figure(
    LINKS,
    "exchange over ring",
    0.95,
    "without the local copy, all-to-alls of 512 MiB over 8 ranks reach 0.93 to 0.97 of rings on A100, H100 and B200 "
    "(nccl-tests, aiconfigurator), and 0.89 on MI355X",
)
REDUCTION = assumed_figure(LINKS, "reduction", 0.6, "reduction in NVSwitch reaches 0.49 to 0.69 of NVLink 4 and 5")
REDUCTION_RANKS = assumed_figure(
    LINKS, "reduction.ranks", 5, "SHARP gains from five ranks on NVLink 4, six on NVLink 5"
)
REDUCTION_CHANNELS = assumed_figure(LINKS, "reduction.channels", 32, "as NVLink 5 between domains")
HOST = assumed_figure(LINKS, "pcie", 0.76, "NCCL expects 12 of the 15.75 GB/s of a PCIe 3 x16 slot")
THROUGH_HOST = cited_figure(
    LINKS,
    "through host",
    0.38,
    Cited(
        "stack/nccl",
        "through host memory",
        "two RTX 4090, whose driver blocks direct access: 12 of the 31.5 GB/s of a PCIe 4 slot",
        "https://gist.github.com/muellerzr/fbfabd0fc02ac259f0a47d6a51b36d0e",
        "2026-11-21",
    ),
    "1",
)
NETWORKS = "networks"
RING_BETWEEN = assumed_figure(NETWORKS, "ring", 0.9, "by judgment, the lowest share of the families with RDMA")
"""Share of line rate that rings achieve, where an entry has no figure."""
LATENCY = assumed_figure(NETWORKS, "latency", 5e-6, "by judgment, somewhat above RoCE", "s")
"""Seconds that one crossing adds to the network hop of NCCL, if an entry has no figure."""
WITHOUT_DIRECT = assumed_figure(
    NETWORKS, "without gpudirect", 0.5, "without GPUDirect RDMA every byte crosses the accelerator's slot twice"
)
SOCKETS = Cited(
    "stack/nccl",
    "socket fall-back",
    "aws-ofi-nccl issue 803: 5.4 GB/s per node without the plugin, 122.6 with it",
    "https://github.com/aws/aws-ofi-nccl/issues/803",
    "2026-11-20",
)
SOCKET_RATE = cited_figure(NETWORKS, "sockets", 5.4e9, SOCKETS, "B/s")
SOCKET_LATENCY = assumed_figure(NETWORKS, "sockets.latency", 50e-6, "as the entry of Ethernet with TCP sockets", "s")


# The links of a process group by tier, candidate algorithms of a collective over them, and its cost

NAMES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")
"""The supported collectives, as nccl-tests names them."""


class CollectiveUnavailableError(Exception):
    """Raised where a collective cannot be timed; the message has the reason."""


@dataclass(frozen=True)
class Inside:
    """The tier inside an island (a domain, or a node without one), as seen by one rank of the group.

    ``ranks`` of the group in the fullest island. ``line`` is the bandwidth of one rank to all others together, ``peer``
    its bandwidth to one of them, both at line rate in B/s per direction. ``ring``, ``exchange`` and ``reduction`` are
    the shares of the line that rings, direct exchanges and in-switch reduction reach; ``reduction`` is ``None`` where
    the switches do not reduce or the group is too small. ``chunks`` is the number of chunks that the switches hold per
    rank. ``low_latency`` is the limit of the LL protocol, ``tree`` the limit of a tree, and ``ring_between`` the limit
    of a ring over more than two islands, all as bus bandwidth. ``hops`` names the link whose latencies count
    (``nvlink`` or ``pci``); ``reach`` is the number of hops to the farthest rank of a torus. ``held`` is the number of
    chunks of each channel that a full ring holds. ``start`` is the time in seconds of LL before its first hop, and of
    every collective on a torus; ``hop`` is LL's time for each hop; both are ``None`` where nobody measured them.
    ``launch`` is the time in seconds until all ranks of one node run the kernel; each further rank of one process adds
    ``launch_rank``. ``low_latency_between`` is the limit of LL between nodes with these links, if tests show one.
    ``crossing`` is the share of the line that the links leave an all-to-all, which ``exchange`` includes: its bytes
    cross several links of a torus.
    ``reduction_between`` is the share of the rate over two islands that reduction in their switches keeps over more.
    """

    tier: str
    topology: str
    ranks: int
    line: Bandwidth
    peer: Bandwidth
    ring: Figure
    exchange: Figure
    reduction: Figure | None
    chunks: int
    low_latency: Figure | None
    tree: Figure | None
    hops: str
    reach: float = 0.0
    ring_between: Figure | None = None
    held: Figure | None = None
    start: Figure | None = None
    hop: Figure | None = None
    launch: Figure | None = None
    launch_rank: Figure | None = None
    low_latency_between: Figure | None = None
    crossing: float = 1.0
    reduction_between: Figure | None = None

    @property
    def ring_rate(self) -> float:
        """B/s that a ring achieves."""
        return self.line.value * self.ring.value


@dataclass(frozen=True)
class Delays:
    """The factors, at least 1, by which oversubscribed levels slow a group compared to its NICs: ``ring`` also applies
    to chains and in-switch reduction, ``exchange`` to an all-to-all. ``oversubscription`` is the product of the ratios
    (down over up) of the levels that the group crosses.
    """

    ring: float
    tree: float
    exchange: float
    oversubscription: float

    def described(self, delay: float) -> str:
        """The last words of the derivation of a rate; empty if no level is oversubscribed."""
        if self.oversubscription <= 1:
            return ""
        levels = f"levels oversubscribed {self.oversubscription:g}:1"
        if delay >= self.oversubscription:
            return f", behind {levels}"
        return f", {delay:.3g} times slower behind {levels}" if delay > 1 else f", enough uplinks of {levels}"


NO_DELAYS = Delays(1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Between:
    """The tier between islands.

    - ``line`` is the line rate of the island with the fewest ranks of the group: these ranks' share of NICs, which
      several groups and oversubscribed switches may reduce
    - ``exchange`` is the same for an all-to-all, for an island with the most ranks
    - ``sender`` applies to a single rank, ``branches`` to trees, where they are slower than rings
    - ``share`` is the achieved share of it
    - ``latency`` is the seconds that one crossing of LL adds to the network hop of the stack, ``chunk_latency`` the
      same for LL128 and Simple
    - ``rendezvous`` applies to LL for messages above ``eager`` bytes, which wait for the receiver; both are optional
    - ``switch_chunk`` is the chunk in bytes that the network's plugin sets for reduction in the switches of an island
    - ``protocols`` are the protocols that the network can carry, ``algorithms`` the algorithms that its settings allow
      for an all-reduce (empty: all)
    - ``overlapped`` where CPU threads move the data
    - ``reduces`` where the switches reduce
    - ``relays`` where the library sends through NICs of other ranks
    - ``rails_apart`` is true if no switch connects the rails, so data changes rails only inside an island
    - ``low_latency`` is the bus bandwidth limit of the LL protocol on this network, if lower than that of the
      accelerators
    - ``tree`` the share of the rings' rate that trees over more than two islands reach, if the network has its own
      figure
    - ``overlaps_rings`` whether the latency of whole chunks overlaps with sending in rings over as many
    """

    tier: str
    islands: int
    line: Bandwidth
    exchange: Bandwidth
    sender: Bandwidth
    share: Figure
    latency: Figure
    chunk_latency: Figure
    switch_chunk: Figure | None
    protocols: frozenset[str]
    algorithms: frozenset[str]
    overlapped: bool
    reduces: bool
    relays: bool
    rails_apart: bool
    low_latency: Figure | None = None
    rendezvous: Figure | None = None
    eager: Figure | None = None
    tree: Figure | None = None
    overlaps_rings: bool = False
    branches: Bandwidth | None = None

    @property
    def tree_line(self) -> Bandwidth:
        """The line rate of an island in a tree over the islands."""
        return self.branches or self.line

    @property
    def tree_rate(self) -> float:
        """B/s that an island of the group achieves in a tree."""
        return self.tree_line.value * self.share.value

    @property
    def rate(self) -> float:
        """B/s that an island of the group achieves."""
        return self.line.value * self.share.value

    @property
    def exchange_rate(self) -> float:
        """B/s that an island of the group achieves in an all-to-all."""
        return self.exchange.value * self.share.value


@dataclass(frozen=True)
class Paths:
    """All links of one group, by tier. ``processes`` is ``rank`` if each rank has its own process, ``node`` if one
    process drives all ranks of a node, and None if it is not stated.
    """

    ranks: int
    nodes: int
    inside: Inside
    between: Between | None
    processes: str | None = None

    @property
    def tier(self) -> str:
        """The outermost tier that the group crosses."""
        return self.between.tier if self.between else self.inside.tier

    @property
    def islands(self) -> int:
        return self.between.islands if self.between else 1


@dataclass(frozen=True)
class Candidate:
    """One algorithm with one protocol on one group, timed for any size.

    - ``latency`` and ``launch`` in seconds
    - ``inside`` and ``between`` are seconds per byte of the size on either tier; both tiers send at the same time
    - ``held`` is the time in seconds to send the contents of a full pipeline
    - ``overlapped`` where latency overlaps with sending
    - ``stages`` the number of pipelines one after another, each with ``held``
    - ``posting`` the time in seconds that a process which posts for all ranks needs at least for one call
    - ``late`` the seconds that messages wait for their receivers, of sizes of ``eager`` bytes and above
    """

    algorithm: str
    protocol: str
    latency: float
    inside: float
    between: float
    held: float
    launch: float
    overlapped: bool = False
    stages: float = 1.0
    posting: float = 0.0
    late: float = 0.0
    eager: float = inf

    def latency_of(self, size: float) -> float:
        """Seconds of latency of ``size`` bytes, which may be a column."""
        return self.latency + self.late * (size >= self.eager) if self.late else self.latency

    @property
    def per_byte(self) -> float:
        """Seconds per byte of the size on the slower tier."""
        return max(self.inside, self.between)

    def device_seconds(self, size: float) -> float:
        """Seconds of ``size`` bytes on the device, without launch time; ``size`` may be a column."""
        sending, latency = self.per_byte * size, self.latency_of(size)
        if self.overlapped:
            return overlapped_time(latency, sending)
        return pipelined_time(latency, sending, self.held, self.stages)


@dataclass(frozen=True)
class CollectiveCost:
    """One collective over one group.

    - ``size`` in bytes as nccl-tests counts it (the whole buffer of an all-gather, a reduce-scatter and an all-to-all)
    - ``seconds`` the time that nccl-tests would print
    - ``sending`` the seconds that bandwidth alone takes
    - ``low`` and ``high`` the uncertainty range
    - ``algbw``, ``busbw`` and ``ceiling_busbw`` in bytes per second, 0 if nothing is sent
    - ``tier`` is the outermost tier that the group crosses, ``bound_by`` the bottleneck
    - ``paths`` and ``candidate`` are the inputs of the prediction, None if nothing is sent
    """

    name: str
    algorithm: str
    protocol: str
    tier: str
    ranks: int
    size: float
    seconds: float
    sending: float
    low: float
    high: float
    algbw: float
    busbw: float
    ceiling_busbw: float
    bound_by: str
    paths: Paths | None = None
    candidate: Candidate | None = None

    @cached_property
    def device_seconds(self) -> float:
        """Seconds on the device: a training step queues its collectives long before they run."""
        if self.candidate is None:
            return self.seconds
        wire = time_at_busbw(self.size, self.ceiling_busbw, self.busbw / self.algbw)
        return max(self.candidate.device_seconds(self.size), wire - self.candidate.launch)

    @property
    def uncertainty(self) -> float:
        """Half the width of the uncertainty range relative to the time; 0 if nothing is sent."""
        return (self.high - self.low) / (2 * self.seconds) if self.seconds else 0.0


# Achieved bandwidth and latency of the network between nodes: technology, plugin, and fallback to TCP sockets

NO_PLUGIN = frozenset({"none"})
ALL_PROTOCOLS = frozenset({"LL", "LL128", "Simple"})
SOCKET_PROTOCOLS = frozenset({"Simple"})
"""Protocols assumed over TCP sockets where a plugin is missing, as over GPUDirect-TCPX."""


@dataclass(frozen=True)
class Network:
    """One NIC's line rate (B/s), the achieved share of that rate, and the latency of a crossing in seconds, for LL and
    for chunks.

    ``low_latency`` is the limit of the LL protocol as bus bandwidth, where the network has one of its own;
    ``rendezvous`` the latency of LL for messages above ``eager`` bytes; ``tree`` the share of a ring's rate that trees
    over more than two islands reach; ``overlaps_rings`` whether the latency of whole chunks overlaps
    with sending in rings over as many.
    """

    line: float
    share: Figure
    latency: Figure
    chunk_latency: Figure
    protocols: frozenset[str]
    overlapped: bool
    low_latency: Figure | None = None
    rendezvous: Figure | None = None
    eager: Figure | None = None
    tree: Figure | None = None
    overlaps_rings: bool = False


def network_of(fabric: ScaleOut, unified_memory: bool = False) -> Network:
    """The achieved bandwidth and latency of the fabric, by its technology and plugin.

    Accelerators with ``unified_memory`` share the memory of the host, so no byte crosses a slot twice without GPUDirect
    RDMA. Two DGX Spark, which have none, gather at 18.9 to 21.0 GB/s over a port of 25 GB/s
    (https://github.com/NVIDIA/dgx-spark-playbooks/issues/25).
    """
    entry = fabric.technology
    line = fabric.nic_bandwidth.value
    if falls_back_to_sockets(fabric):
        rate = min(1.0, SOCKET_RATE.value / (line * fabric.nics_per_node))
        return Network(
            line, Figure(rate, "1", SOCKETS), SOCKET_LATENCY, SOCKET_LATENCY, SOCKET_PROTOCOLS, overlapped=True
        )
    share = _ring_share(fabric)
    if not fabric.gpudirect_rdma and entry.rdma and not unified_memory:
        share = Figure(share.value * WITHOUT_DIRECT.value, "1", WITHOUT_DIRECT.origin)
    latency = _network_figure(fabric, "latency", LATENCY)
    return Network(
        line,
        share,
        latency,
        entry.achievable.get("latency.chunk", latency),
        protocols=frozenset(entry.protocols) or ALL_PROTOCOLS,
        overlapped=entry.overlapped_latency,
        low_latency=entry.achievable.get("low_latency"),
        rendezvous=entry.achievable.get("latency.rendezvous"),
        eager=entry.achievable.get("eager"),
        tree=entry.achievable.get("tree"),
        overlaps_rings=entry.overlapped_rings,
    )


def _ring_share(fabric: ScaleOut) -> Figure:
    """The share of the line that a ring reaches. Where processors copy the bytes of each connection, a line that is
    slower than their copies carries its payload whole.
    """
    share, known = _network_figure(fabric, "ring", RING_BETWEEN), fabric.technology.achievable
    copies, payload = known.get("ring.connection"), known.get("ring.payload")
    if copies is None or payload is None:
        return share
    slow = min(payload.value, copies.value / fabric.nic_bandwidth.value)
    return share if slow <= share.value else Figure(slow, "1", copies.origin)


def falls_back_to_sockets(fabric: ScaleOut) -> bool:
    """Whether the library falls back to TCP sockets of the kernel.

    That is the case where a proprietary technology has no plugin, or the plugin of another technology.
    """
    entry, plugin = fabric.technology, fabric.collective_plugin
    if not entry.proprietary or plugin is None:
        return False
    return plugin in NO_PLUGIN or (bool(entry.plugins) and plugin not in entry.plugins)


def _network_figure(fabric: ScaleOut, name: str, otherwise: Figure) -> Figure:
    """A figure of the technology's entry, else the assumption for all networks."""
    figure = fabric.technology.achievable.get(name)
    origin = Assumed(f"{fabric.technology.id}.{name}", str(otherwise.origin).removeprefix("assumed: "))
    return figure or Figure(otherwise.value, otherwise.unit, origin)
