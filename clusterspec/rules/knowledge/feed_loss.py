"""Power of a node after the loss of one feed, from the power supplies on the other feeds."""

from __future__ import annotations

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.model import Cluster
from clusterspec.cost.energy import FEEDS
from clusterspec.records import NamedTuple
from clusterspec.units import display

POWER = "power"
"""The tier of a loss that lowers the power of the accelerators."""


class FeedLoss(NamedTuple):
    """``lost`` is the share by which the power of each accelerator has to fall; 0 where the supplies that are left
    carry the full load.
    """

    lost: float
    why: str


def feed_loss(cluster: Cluster, feeds: str) -> FeedLoss | None:
    """The effect of one lost feed of ``N+1`` or ``2N`` on nodes whose supplies are spread evenly over the feeds.

    None where the supplies of the platform, or the power of a node or an accelerator, are not known.
    """
    platform, own = cluster.platform, cluster.accelerator_cap or cluster.accelerator.power
    if platform is None or not platform.supplies or platform.supply_power is None or own is None:
        return None
    watts, nodes = platform.rack_power or cluster.node_power, nodes_of_rack(platform) if platform.rack_power else 1
    if watts is None:
        return None
    count = platform.supplies
    left = count - parts_needed(count, FEEDS[feeds][0])
    given = left * platform.supply_power.value
    what = "rack" if platform.rack_power else "node"
    carried = (
        f"{left} of {count} power supplies of a {what} are left, {display(given, 'W')} for {display(watts.value, 'W')}"
    )
    short = watts.value - given
    if short <= 0:
        return FeedLoss(0.0, f"feeds are {feeds}: {carried}")
    each = short / (nodes * cluster.accelerators_per_node)
    return FeedLoss(
        min(1.0, each / own.value), f"feeds are {feeds}, but {carried}: at full load the {what} is throttled"
    )
