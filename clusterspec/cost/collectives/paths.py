"""The links of one process group from a cluster and a placement: scale-up domain, PCIe and NICs; and their ceilings."""

from __future__ import annotations

from clusterspec.catalog.entries import Interconnect
from clusterspec.catalog.frameworks import version_numbers
from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, ScaleOut, ScaleUp
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cluster.scaleup import NODE_SCALE
from clusterspec.cost import assumed_figure
from clusterspec.cost.collectives import (
    EXCHANGE,
    HOST,
    NO_DELAYS,
    PAIR,
    REDUCTION,
    REDUCTION_CHANNELS,
    REDUCTION_RANKS,
    RING,
    THROUGH_HOST,
    Between,
    Delays,
    Inside,
    Paths,
    network_of,
)
from clusterspec.cost.formulas import collectives
from clusterspec.cost.formulas.collectives import shared_bandwidth, slot_rate
from clusterspec.quantity import Bandwidth, Figure, bus_factor
from clusterspec.records import dataclass
from clusterspec.source import Assumed, Computed, Written
from clusterspec.units import display, plural

CLOSE = 1e-9
"""Relative difference below which two rates are equal."""


# The links of one process group, from a cluster and a placement; every figure has its origin

MESHES = frozenset({"full-mesh", "partial-mesh"})


def group_paths(cluster: Cluster, group: Placement, inside: Inside | None = None) -> Paths | None:
    """The links of a group; ``None`` if it leaves its domain and the fabric is unknown. Known links ``inside`` an
    island can be passed, since they do not depend on the fabric.
    """
    node_is_island = group.nodes > 1 and group.ranks_per_domain < group.ranks_per_node
    if group.domains == 1:
        return Paths(group.ranks, group.nodes, inside or _inside_domain(cluster, group), None)
    if group.nodes == 1:
        return Paths(group.ranks, 1, inside or _inside_host(cluster, group.ranks), None)
    if cluster.scale_out is None:
        return None
    if inside is None:
        inside = _inside_host(cluster, group.ranks_per_node) if node_is_island else _inside_domain(cluster, group)
    islands = group.nodes if node_is_island else group.domains
    return Paths(group.ranks, group.nodes, inside, _between_islands(cluster, cluster.scale_out, group, islands))


def achieved_share(entry: Interconnect | None, names: tuple[str, ...], otherwise: Figure) -> Figure:
    """The first of the named shares that the entry has, else the assumption for its kind."""
    known = entry.achievable if entry else {}
    for name in names:
        if name in known:
            return known[name]
    why = str(otherwise.origin).removeprefix("assumed: ")
    return Figure(otherwise.value, "1", Assumed(f"{entry.id if entry else 'scale-up'}.{names[0]}", why))


def _inside_domain(cluster: Cluster, group: Placement) -> Inside:
    up, ranks = cluster.scale_up, group.ranks_per_domain
    packages = max(1, group.accelerators)
    ring = THROUGH_HOST if crosses_host_memory(cluster) else achieved_share(up.interconnect, ("ring", "link"), RING)
    if packages == 2 and up.topology in MESHES:
        ring = achieved_share(up.interconnect, ("pair", "ring", "link"), PAIR)
    exchange = achieved_share(up.interconnect, ("exchange",), Figure(EXCHANGE.value * ring.value, "1", EXCHANGE.origin))
    hops, crossed = _hops_and_crossing(cluster, group)
    exchange = Figure(exchange.value * crossed, "1", exchange.origin)
    line = _bandwidth_in_domain(cluster, group, packages)
    known = up.interconnect.achievable if up.interconnect else {}
    return Inside(
        tier="scale-up",
        topology=up.topology,
        ranks=ranks,
        line=line,
        peer=Bandwidth.one_way(min(up.peer_bandwidth, line).value, up.peer_bandwidth.origin),
        ring=ring,
        exchange=exchange,
        reduction=_reduction_share(cluster, ranks) if _library_reduces(cluster, group.domains) else None,
        chunks=_switch_chunks(cluster, group),
        low_latency=known.get("low_latency"),
        tree=known.get("tree"),
        hops="nvlink",
        reach=hops,
        ring_between=known.get("ring.between.rack") if ranks > NODE_SCALE else None,
        reduction_between=known.get("reduction.between.rack") if _library_keeps_rate(cluster, ranks) else None,
        held=known.get("ring.held"),
        start=known.get("low_latency.start"),
        hop=known.get("low_latency.hop"),
        launch=known.get("launch"),
        launch_rank=known.get("launch.rank"),
        low_latency_between=known.get("low_latency.between"),
        crossing=crossed,
    )


def _hops_and_crossing(cluster: Cluster, group: Placement) -> tuple[float, float]:
    """Hops to the farthest rank of a torus (0 elsewhere), and the share of line rate that an all-to-all can use: the k
    ranks of a package share its links, and use them for all bytes except those to the other k − 1.
    """
    if cluster.scale_up.topology != "torus" or not cluster.scale_up.shape:
        ranks, packages = group.ranks_per_domain, max(1, group.accelerators)
        each = ranks / packages
        return 0.0, (ranks - 1) / (each * (ranks - each)) if packages > 1 else 1.0
    from clusterspec.cost.collectives.torus import torus_exchange_share, torus_hops

    return torus_hops(cluster, group), torus_exchange_share(cluster, group)


def _bandwidth_in_domain(cluster: Cluster, group: Placement, packages: int) -> Bandwidth:
    """The bandwidth of a rank to the other ranks of its group in its domain.

    Ranks of one package share its links: ranks of the same group forward each other's traffic, ranks of different
    groups divide the links.
    """
    up = cluster.scale_up
    in_package = group.ranks_per_domain / packages / cluster.ranks_per_accelerator
    if up.topology == "torus" and up.shape:
        from clusterspec.cost.collectives.torus import torus_bandwidth

        return _part_of_links(torus_bandwidth(cluster, group), in_package if packages > 1 else 1.0)
    if up.topology in MESHES and packages > 1:
        from clusterspec.cost.formulas.topologies import mesh_bandwidth

        links = min(mesh_bandwidth(up.peer_bandwidth.value, packages), up.bandwidth.value)
        return Bandwidth.one_way(
            links * in_package, Computed(f"{packages - 1} peers × {up.peer_bandwidth.value:.4g} B/s")
        )
    slowest = _slowest_pair(up)
    tapered = shared_bandwidth(slowest.value * in_package, 1, max(1.0, up.oversubscription))
    return Bandwidth.one_way(tapered, slowest.origin)


def _part_of_links(links: Bandwidth, part: float) -> Bandwidth:
    """The bandwidth of the ``part`` of a package's links that one group uses while other groups use the rest."""
    if part >= 1.0:
        return links
    known = links.origin.formula if isinstance(links.origin, Computed) else f"{links.value:.4g} B/s"
    return Bandwidth.one_way(links.value * part, Computed(f"{part:.3g} of the links of a chip, {known}"))


def _slowest_pair(up: ScaleUp) -> Bandwidth:
    """The bandwidth per direction that a ring over all accelerators of a domain can use. Over PCIe every transfer is
    between two slots, so that the slowest pair limits it.
    """
    return min(up.bandwidth, up.peer_bandwidth) if up.topology == "pcie" else up.bandwidth


def _reduction_share(cluster: Cluster, ranks: int) -> Figure | None:
    """The share of line rate that in-switch reduction reaches; ``None`` if it is not used."""
    up = cluster.scale_up
    if not up.in_network_reduction or ranks < minimum_reduced_ranks(up.interconnect).value:
        return None
    names = ("reduction.rack", "reduction") if ranks > NODE_SCALE else ("reduction",)
    return achieved_share(up.interconnect, names, REDUCTION)


def _library_reduces(cluster: Cluster, domains: int) -> bool:
    """Whether the collective library reduces in the switches of a domain. True if the spec states no release.

    NCCL does so from 2.17 on inside one domain ("NVLS algorithm for allreduce, intra-node only"), from 2.18 on with a
    tree between domains ("NVLS+Tree"): notes in the commits of the tags v2.17.1-1 and v2.18.1-1.
    """
    release = _nccl_release(cluster)
    return release is None or release >= (2, 17 if domains == 1 else 18)


def _library_keeps_rate(cluster: Cluster, ranks: int) -> bool:
    """Whether reduction in the switches of racks keeps most of its rate over more than two of them. True if the spec
    states no release.

    NCCL has chosen channels and chunks by topology for it since 2.30 (notes in the commit b3aeda4 of 24 March 2026).
    """
    release = _nccl_release(cluster)
    return ranks > NODE_SCALE and (release is None or release >= (2, 30))


def _library_relays(cluster: Cluster) -> bool:
    """Whether the collective library sends through another rank's NIC in the node; True if its release is not stated.

    NCCL does so from 2.12 on ("PXN": notes in the commit of the tag v2.12.7-1).
    """
    release = _nccl_release(cluster)
    return release is None or release >= (2, 12)


def _nccl_release(cluster: Cluster) -> tuple[int, ...] | None:
    """The release of NCCL; ``None`` if the spec states none, or names another library."""
    stated = cluster.scale_out.collective_library if cluster.scale_out else None
    library, _, release = (stated or "").partition(" ")
    if library.lower() != "nccl" or not release.strip():
        return None
    return version_numbers(release.strip().removeprefix("v"))


def minimum_reduced_ranks(entry: Interconnect | None) -> Figure:
    """The smallest number of ranks for which the library reduces in the switches of a domain. With fewer ranks a ring
    is as fast.
    """
    return achieved_share(entry, ("reduction.ranks",), REDUCTION_RANKS)


def _switch_chunks(cluster: Cluster, group: Placement) -> int:
    """The number of chunks per rank in the switches, one for each channel of an in-switch reduction."""
    name = "reduction.channels" if group.domains == 1 else "reduction.channels.domains"
    return int(achieved_share(cluster.scale_up.interconnect, (name,), REDUCTION_CHANNELS).value)


def _inside_host(cluster: Cluster, ranks: int) -> Inside:
    """The PCIe links of a node that has no other scale-up interconnect."""
    up, slot = cluster.scale_up, slot_rate(cluster.pcie_host) if cluster.pcie_host else None
    pair = _slowest_pair(up)
    known = slot if slot is not None and up.topology != "pcie" else pair.value
    entry = up.interconnect if up.topology == "pcie" else None
    origin = pair.origin if up.topology == "pcie" else Computed(f"PCIe {cluster.pcie_host} x16")
    line = Bandwidth.one_way(known / cluster.ranks_per_accelerator, origin)
    ring = THROUGH_HOST if crosses_host_memory(cluster) else achieved_share(entry, ("ring",), HOST)
    return Inside("host", "pcie", ranks, line, line, ring, ring, None, 1, None, None, "pci")


def crosses_host_memory(cluster: Cluster) -> bool:
    """Whether the accelerators of a node exchange data through host memory. They do if their driver blocks peer access
    over PCIe, unless the spec states ``peer_bandwidth``; a stated ``bandwidth`` describes only the slots.
    """
    origin = cluster.scale_up.peer_bandwidth.origin
    stated = isinstance(origin, Written) and origin.key == "cluster.scale_up.peer_bandwidth"
    return cluster.scale_up.topology == "pcie" and cluster.accelerator.peer_to_peer is False and not stated


def _between_islands(cluster: Cluster, fabric: ScaleOut, group: Placement, islands: int) -> Between:
    network = network_of(fabric, cluster.accelerator.unified_memory)
    slower = _crossing_delays(cluster, group, islands)
    sharing = max(1, group.groups_per_node)
    own = network.line * fabric.nics_per_node / cluster.ranks_per_node
    slots = _slot_bandwidth(cluster, group.ranks_per_node, own)

    def lines_behind(delay: float) -> _IslandLines:
        node = min(shared_bandwidth(network.line * fabric.nics_per_node, sharing, delay), slots)
        return _IslandLines.of(cluster, group, islands, sharing, (node, own / delay, max(network.line, own) / delay))

    lines = lines_behind(slower.ring)
    others = lines if slower is NO_DELAYS else lines_behind(slower.exchange)
    derivation = f"{fabric.nics_per_node} NICs of {display(network.line, 'B/s')}"
    if lines.partial:
        derivation = (
            f"the NICs of {plural(lines.least, 'rank')} in the emptiest island, {display(network.line, 'B/s')} each"
        )
    derivation += f" among {sharing} groups" if sharing > 1 else ""
    origin = Computed(derivation + slower.described(slower.ring))
    tree = lines_behind(slower.tree).line if slower.tree > slower.ring else None
    return Between(
        tier="scale-out",
        islands=islands,
        line=Bandwidth.one_way(lines.line, origin),
        exchange=Bandwidth.one_way(others.exchange, Computed(derivation + slower.described(slower.exchange))),
        sender=Bandwidth.one_way(lines.sender, origin),
        branches=Bandwidth.one_way(tree, Computed(derivation + slower.described(slower.tree))) if tree else None,
        share=_share_of_lone_ranks(cluster, network.line, network.share),
        latency=network.latency,
        chunk_latency=network.chunk_latency,
        switch_chunk=fabric.technology.achievable.get("reduction.chunk"),
        protocols=network.protocols,
        algorithms=frozenset(fabric.technology.algorithms),
        overlapped=network.overlapped,
        reduces=fabric.in_network_reduction and fabric.technology.in_network_reduction,
        relays=_library_relays(cluster),
        rails_apart=fabric.topology == "rail-only" and not group.rail_aligned,
        low_latency=network.low_latency,
        rendezvous=network.rendezvous,
        eager=network.eager,
        tree=network.tree,
        overlaps_rings=network.overlaps_rings,
    )


LONE_RANK = assumed_figure(
    "collectives",
    "rank alone on its node",
    32e9,
    "through each NIC of 400 Gb/s: 31.9 and 32.2 GB/s of two H200, 36.7 of two B200 (google/dranet 7b7661a),"
    " where eight ranks of a node reach 46 to 48",
    "B/s",
)


def _share_of_lone_ranks(cluster: Cluster, line: float, share: Figure) -> Figure:
    """The achieved share of ``line``, the rate of a NIC in B/s per direction. It is lower if each node has one rank,
    because few channels then drive the NIC.
    """
    if cluster.ranks_per_node > 1 or LONE_RANK.value >= share.value * line:
        return share
    return Figure(LONE_RANK.value / line, "1", LONE_RANK.origin)


@dataclass(frozen=True)
class _IslandLines:
    """The line rate, in B/s, of the island that limits a group, counting only the NICs of ranks that take part.

    ``line`` is the line rate of the emptiest island: a ring, a tree and a gather send as many bytes through it as
    through a full one. ``exchange`` is the rate at which a full island takes as long as the slowest one does in an
    all-to-all, where an island of r of n ranks sends r (n − r) parts. ``sender`` is the rate of one rank that sends
    alone.
    ``least`` is the ranks in the emptiest island; ``partial`` is true if fewer NICs than those of a node limit the
    group.
    """

    line: float
    exchange: float
    sender: float
    least: int
    partial: bool

    @classmethod
    def of(
        cls, cluster: Cluster, group: Placement, islands: int, sharing: int, rates: tuple[float, float, float]
    ) -> _IslandLines:
        """The lines of a group. ``rates`` are, in B/s, the rates of one node, of the NICs of one rank, and of the
        nearest NIC; ``sharing`` groups share a node.
        """
        node, own, nearest = rates
        nodes = max(1.0, group.nodes / islands)
        by_node = islands == group.nodes
        fullest = group.ranks_per_node if by_node else group.ranks_per_domain
        least = group.least_in_node if by_node else group.least_in_domain
        taking_part = min(least * sharing, cluster.ranks_per_node * nodes)
        used = max(nearest, own * taking_part) / sharing
        uneven = fullest * (group.ranks - fullest) / (least * (group.ranks - least))
        whole = node * nodes
        partial = used < whole * (1 - CLOSE)
        return cls(min(whole, used), min(whole, used * uneven), min(node, nearest), least, partial)


def _crossing_delays(cluster: Cluster, group: Placement, islands: int) -> Delays:
    """The factor by which the oversubscribed levels that a group crosses slow its collectives."""
    levels = fabric_levels(cluster)
    if all(levels[index].oversubscription <= 1 for index in group.levels):
        return NO_DELAYS
    from clusterspec.cost.collectives.oversubscription import crossing_delays

    return crossing_delays(cluster, levels, group, islands)


def _slot_bandwidth(cluster: Cluster, ranks: int, own: float) -> float:
    """B/s of a node's ranks through their PCIe slots, per direction; at least the rate of the ranks' own NICs."""
    if cluster.pcie_host is None:
        return float("inf")
    return ranks * max(own, slot_rate(cluster.pcie_host) / cluster.ranks_per_accelerator)


# Upper bounds of bus bandwidth: that of links at line rate, without protocol overhead or latency

IN_DOMAIN = frozenset({"nvls", "nvls-tree"})
"""Algorithms that reduce in the switches of a scale-up domain."""
IN_FABRIC = frozenset({"collnet"})
"""Algorithms that reduce in the switches of the scale-out network."""


def busbw_ceiling(name: str, paths: Paths, algorithm: str | None = None, *, reduces: bool) -> float:
    """The bus bandwidth in B/s that the links of the group allow; for two or more ranks.

    ``reduces`` says whether the switches of the domain can reduce, with or without a gain. With an ``algorithm``,
    reduction in switches counts only if that algorithm uses it.
    """
    if name == "send-recv":
        return _send_ceiling(paths)
    inside = _inside_ceiling(name, paths, reduces=reduces and (algorithm is None or algorithm in IN_DOMAIN))
    if paths.between is None:
        return inside
    return min(inside, _ceiling_between_islands(name, paths, reduces=algorithm is None or algorithm in IN_FABRIC))


def _send_ceiling(paths: Paths) -> float:
    inside = paths.inside.peer.value if paths.inside.ranks > 1 else float("inf")
    return min(inside, paths.between.sender.value) if paths.between else inside


def _inside_ceiling(name: str, paths: Paths, *, reduces: bool) -> float:
    inside: Inside = paths.inside
    if inside.ranks == 1:
        return float("inf")
    if name == "all-to-all":
        return inside.line.value * inside.crossing * (paths.ranks - 1) / (inside.ranks - 1)
    gain = 1.0
    if reduces and name == "all-reduce":
        gain = max(1.0, collectives.bus_bandwidth_ceiling(inside.ranks, 1.0))
    return inside.line.value * gain


def _ceiling_between_islands(name: str, paths: Paths, *, reduces: bool) -> float:
    between, ranks, m = paths.between, paths.ranks, paths.inside.ranks
    assert between is not None
    line = between.line.value
    if name == "all-to-all":
        exchange = between.exchange.value / m
        return float(collectives.exchange_bandwidth_ceiling(ranks, m, exchange)) if ranks > m else float("inf")
    if name == "broadcast":
        return line
    if name == "all-reduce" and reduces and between.reduces:
        return line * bus_factor(name, ranks)
    return float(collectives.island_bandwidth_ceiling(ranks, between.islands, line * between.islands / ranks))
