"""Predicted bandwidths for messages, where no figure that they rest on is reported as wrong."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.rules.knowledge.domains import boundary
from clusterspec.rules.knowledge.slips import Slips


def reached(slips: Slips, cluster: Cluster, placement: Placement, name: str) -> str:
    """`boundary`; empty where a bandwidth that it rests on is reported as wrong."""
    return "" if slips.concern("nic", "scale-up", "peer") else boundary(cluster, placement, name)
