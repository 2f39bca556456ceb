"""The counted fabric, and the parts that the spec states as ordered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from clusterspec.cluster.fabric import Fabric, count_fabric
from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster, Level
from clusterspec.records import dataclass
from clusterspec.spec.model import LinkCounts, ScaleOutSpec


@dataclass(frozen=True)
class FabricCount:
    """The fabric that the endpoints need, counted once for all rules."""

    fabric: Fabric | None
    """None where the customer has no fabric, or it cannot be counted."""
    planned: bool
    """Whether the spec plans its fabric: it states a switch, its ports, levels or a number of leaves."""
    severity: str
    """Severity of a fabric that cannot be built: a warning where the ports of a switch are only assumed."""


def fabric_count(cluster: Cluster | None, written: ScaleOutSpec | None, assumed: Mapping[str, str]) -> FabricCount:
    """The counted fabric of a cluster."""
    found = count_fabric(cluster, written) if cluster else None
    planned = bool(written and (written.switch or written.switch_ports or written.leaf_switches or written.levels))
    severity = "warning" if "cluster.scale_out.switch" in assumed else "error"
    return FabricCount(found if isinstance(found, Fabric) else None, planned, severity)


@dataclass(frozen=True)
class OrderedLinks:
    """Links of one level as ordered: the key, and the number. Cables count with their links per cable."""

    at: str
    links: int
    how: str


def ordered_links(written: ScaleOutSpec, level: str, usual: int = 1) -> OrderedLinks | None:
    """The stated links of a level, or its cables times the links per cable; None where neither is stated.

    ``usual`` are the links of a cable where the spec states none.
    """
    return next(links_and_cables(written, level, usual), None)


def links_and_cables(written: ScaleOutSpec, level: str, usual: int = 1) -> Iterator[OrderedLinks]:
    """The stated links of a level, then its stated cables, which may disagree; ``usual`` as in `ordered_links`."""
    links = getattr(written.links or LinkCounts(), level)
    if links is not None:
        yield OrderedLinks(f"cluster.scale_out.links.{level}", links, f"{links:,} links")
    cables = getattr(written.cables or LinkCounts(), level)
    if cables is not None:
        carried = getattr(written.links_per_cable or LinkCounts(), level) or usual
        each = f" of {carried} links" if carried > 1 else ""
        yield OrderedLinks(f"cluster.scale_out.cables.{level}", cables * carried, f"{cables:,} cables{each}")


def crossed_levels(cluster: Cluster, nodes: int) -> Iterator[Level]:
    """The levels that the job's traffic crosses, since their blocks are smaller than the job."""
    yield from (level for level in fabric_levels(cluster) if level.nodes is None or nodes > level.nodes)


def oversubscription(cluster: Cluster, nodes: int) -> float:
    """The product of the ratios (down over up) of the levels that the job's traffic crosses; 1 where it crosses
    none.
    """
    return prod(level.oversubscription for level in crossed_levels(cluster, nodes))


def oversubscription_key(cluster: Cluster) -> str:
    """The key that states the ratios."""
    by_level = cluster.scale_out is not None and bool(cluster.scale_out.levels)
    return f"cluster.scale_out.{'levels' if by_level else 'oversubscription'}"
