"""Which figures of a design can be trusted: nothing is computed from a figure that is reported as wrong."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.domains import boundary


def reached(facts: Facts, cluster: Cluster, placement: Placement, name: str) -> str:
    """`boundary`, where the bandwidths that it rests on are not reported as wrong."""
    return "" if facts.slips.concern("nic", "scale-up", "peer") else boundary(cluster, placement, name)
