"""How often failures stop a job."""

from __future__ import annotations

from math import exp, sqrt

from clusterspec.cost.failures import ACCELERATOR_BETWEEN_FAILURES
from clusterspec.rules.facts import Facts


def usual_time_between_failures(facts: Facts) -> float | None:
    """Seconds between failures of a job of this size at the rate of Llama 3's training."""
    nodes, cluster = job_nodes(facts), facts.cluster
    if cluster is None or not nodes:
        return None
    return ACCELERATOR_BETWEEN_FAILURES.value / (nodes * cluster.accelerators_per_node)


def time_between_failures(facts: Facts) -> float | None:
    """Seconds between failures of the whole job: as stated, else of one node over the nodes of the job."""
    operations = facts.operations
    if operations is None:
        return None
    if operations.mean_time_between_failures is not None:
        return operations.mean_time_between_failures.value
    nodes = job_nodes(facts)
    if operations.node_mtbf is None or not nodes:
        return None
    return operations.node_mtbf.value / nodes


def job_nodes(facts: Facts) -> int | None:
    """Nodes that the job uses; all of them without a layout."""
    if facts.layout is not None:
        return facts.layout.nodes
    return facts.cluster.nodes if facts.cluster else None


def poisson_percentile(mean: float, share: float) -> int:
    """The smallest number that a Poisson variable does not exceed with probability ``share``.

    >>> poisson_percentile(8.0, 0.95)
    13
    """
    if mean > 500:  # the normal limit
        from statistics import NormalDist

        return round(mean + NormalDist().inv_cdf(share) * sqrt(mean))
    chance = total = exp(-mean)
    number = 0
    while total < share:
        number += 1
        chance *= mean / number
        total += chance
    return number
