"""The network tiers of a design in the form that simulators use: inside a domain or node, and between those."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import Between, Inside, Paths
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.stack import allowed_protocols, crossing_latency, near_hop_latency, start_latency
from clusterspec.exchange.exporters.registry import ExportInput, MissingPart, NotExportable
from clusterspec.records import dataclass


@dataclass(frozen=True)
class NetworkTiers:
    """The links of a design by tier; None for a tier that it does not have.

    ``near`` is the number of accelerators of one domain, or of one node without domains. The hops are the seconds of
    one message between two accelerators, and the start is the seconds before the first hop; all are for the protocol of
    small messages.
    """

    cluster: Cluster
    near: int
    inside: Inside | None
    between: Between | None
    near_start: float
    near_hop: float
    far_start: float
    far_hop: float

    @property
    def near_name(self) -> str:
        """The name of the near tier."""
        up = self.cluster.scale_up
        return (up.interconnect.name if up.interconnect else up.topology) if up.domain > 1 else "PCIe of a node"

    @property
    def nic_bandwidth_per_accelerator(self) -> float:
        """Line rate of the NICs of one accelerator, B/s per direction; 0 without a fabric."""
        return self.cluster.nic_bandwidth_per_accelerator or 0.0


def network_tiers(source: ExportInput) -> NetworkTiers:
    """The tiers of a design. Raises `NotExportable` if an accelerator is not exactly one rank of one tier."""
    cluster = source.cluster
    near = _near_accelerators(cluster)
    if cluster.accelerators < 2:
        raise NotExportable("a single accelerator has no network")
    inside = _paths(cluster, near) if near > 1 else None
    whole = _paths(cluster, cluster.accelerators) if near < cluster.accelerators else None
    if whole is not None and whole.between is None:
        raise MissingPart("the fabric between the nodes is not known")
    start, hop = _near_latency(inside)
    far_start, far_hop = _far_latency(whole)
    return NetworkTiers(
        cluster=cluster,
        near=near,
        inside=inside.inside if inside else None,
        between=whole.between if whole else None,
        near_start=start,
        near_hop=hop,
        far_start=far_start,
        far_hop=far_hop,
    )


def _near_accelerators(cluster: Cluster) -> int:
    domain, node = cluster.scale_up.domain, cluster.accelerators_per_node
    if cluster.ranks_per_accelerator > 1:
        raise NotExportable(f"{cluster.accelerator.name} is {cluster.ranks_per_accelerator} ranks; one each is written")
    if 1 < domain < node:
        raise NotExportable(f"a node of {node} accelerators has several scale-up domains, of {domain} each")
    return min(domain if domain > 1 else node, cluster.accelerators)


def _paths(cluster: Cluster, accelerators: int) -> Paths:
    found = group_paths(cluster, contiguous_placement(cluster, accelerators))
    if found is None:
        raise MissingPart("the spec has no scale_out between its nodes")
    return found


def _near_latency(paths: Paths | None) -> tuple[float, float]:
    """Seconds before the first hop of a small message, and seconds per hop, inside a domain."""
    if paths is None:
        return 0.0, 0.0
    protocol = next(allowed_protocols(paths))
    return start_latency(protocol, protocol.ring, paths), near_hop_latency(protocol, protocol.ring_hops, paths)


def _far_latency(paths: Paths | None) -> tuple[float, float]:
    """Seconds before the first hop of a small message, and seconds per hop, over the fabric."""
    if paths is None or paths.between is None:
        return 0.0, 0.0
    protocol = next(allowed_protocols(paths))
    hop = crossing_latency(protocol, protocol.ring_hops["net"], paths.between)
    return start_latency(protocol, protocol.ring, paths), hop


def network_omissions(tiers: NetworkTiers) -> Iterator[str]:
    """Notes on parts of a design that tiers with one bandwidth each cannot express."""
    cluster = tiers.cluster
    fabric = cluster.scale_out if tiers.between is not None else None
    if cluster.spare_nodes:
        yield f"{cluster.spare_nodes} spare nodes"
    if cluster.scale_up.oversubscription > 1 and tiers.inside is not None:
        yield f"oversubscription of the domain, {cluster.scale_up.oversubscription:g}:1"
    if fabric is not None:
        planes = f" and its {fabric.planes} planes" if fabric.planes > 1 else ""
        yield f"the switches of the fabric ({fabric.topology}), their load balancing{planes}"
        if fabric.taper > 1:
            yield f"oversubscription of the fabric, {fabric.taper:g}:1: written is the line rate of the NICs"
        if tiers.between is not None and tiers.between.reduces:
            yield "reduction in the switches of the fabric"
