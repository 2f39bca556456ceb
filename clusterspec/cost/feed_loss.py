"""Power of a node after the loss of one feed, from the power supplies on the other feeds."""

from __future__ import annotations

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.model import Cluster
from clusterspec.cost.energy import FEEDS
from clusterspec.records import NamedTuple
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display

POWER = "power"
"""The tier name for the loss of a feed, which lowers the power of the accelerators."""


class FeedLoss(NamedTuple):
    """The effect of a lost feed: ``lost`` is the share by which each accelerator has to lower its power; 0 if the
    remaining supplies carry the full load. With ``is_least``, only the accelerators' power is known and ``lost`` is a
    lower bound.
    """

    lost: float
    why: str
    is_least: bool = False


class Supplies(NamedTuple):
    """``number`` power supplies of ``each`` watts that carry ``load`` watts of ``nodes`` nodes: a rack, or one node."""

    number: int
    each: float
    load: float
    nodes: int
    what: str


def supplies_of(cluster: Cluster, power: PowerSpec | None) -> Supplies | None:
    """The supplies of a node as stated, else the platform's; None if they or their load are not known."""
    stated, platform, node = power.supplies if power else None, cluster.platform, cluster.node_power
    if stated is not None and stated.count and stated.power is not None:
        return Supplies(stated.count, stated.power.value, node.value, 1, "node") if node is not None else None
    if platform is None or not platform.supplies or platform.supply_power is None:
        return None
    if platform.rack_power is not None:
        rack = platform.rack_power.value, nodes_of_rack(platform)
        return Supplies(platform.supplies, platform.supply_power.value, *rack, "rack")
    return Supplies(platform.supplies, platform.supply_power.value, node.value, 1, "node") if node is not None else None


def _supplies_of_accelerators(cluster: Cluster, power: PowerSpec) -> Supplies | None:
    """The stated supplies of a node, loaded with the power of its accelerators only, which is a lower bound of the
    node's power.
    """
    stated, own = power.supplies, cluster.accelerator_cap or cluster.accelerator.power
    if stated is None or not stated.count or stated.power is None or own is None or cluster.node_power is not None:
        return None
    return Supplies(stated.count, stated.power.value, own.value * cluster.accelerators_per_node, 1, "node")


def feed_loss(cluster: Cluster, power: PowerSpec) -> FeedLoss | None:
    """The effect of one lost feed of ``N+1`` or ``2N`` on nodes whose supplies are spread evenly over the feeds.

    None if the supplies or the power of an accelerator are not known. For a node of unknown power, only the
    accelerators count: None if the remaining supplies carry the accelerators, because the draw of the rest of the node
    is unknown.
    """
    own, found = cluster.accelerator_cap or cluster.accelerator.power, supplies_of(cluster, power)
    least = _supplies_of_accelerators(cluster, power) if found is None else None
    found = found or least
    if own is None or found is None or power.feeds is None:
        return None
    left = found.number - parts_needed(found.number, FEEDS[power.feeds][0])
    given = left * found.each
    carried = (
        f"{left} of {found.number} power supplies of a {found.what} are left, {display(given, 'W')} for"
        f" {display(found.load, 'W')}{' of its accelerators alone' if least is not None else ''}"
    )
    short = found.load - given
    if short <= 0 and least is not None:
        return None
    if short <= 0:
        return FeedLoss(0.0, f"feeds are {power.feeds}: {carried}")
    each = short / (found.nodes * cluster.accelerators_per_node)
    return FeedLoss(
        min(1.0, each / own.value),
        f"feeds are {power.feeds}, but {carried}: at full load the {found.what} is throttled",
        least is not None,
    )
