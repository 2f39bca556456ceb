"""Failure rates of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, sqrt

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.cost.failures import published_time_between_failures, stated_time_between_failures
from clusterspec.records import dataclass
from clusterspec.spec.model import ClusterSpec, FailuresSpec, OperationsSpec
from clusterspec.standard import pattern

GPU_VENDORS = frozenset({"NVIDIA", "AMD"})


def stated_part_failures(
    failures: FailuresSpec, cluster: Cluster, written: ClusterSpec | None
) -> Iterator[tuple[str, int, float]]:
    """Each kind of part with spares and a stated failure rate: its kind, its number in the machine, and its failures
    per part and year.

    Transceivers are counted only if the spec states their number.
    """
    fabric = cluster.scale_out
    links = written.scale_out if written is not None else None
    numbers = (
        ("accelerator", cluster.accelerators),
        ("nic", cluster.nodes * fabric.nics_per_node if fabric is not None else 0),
        ("optic", (links.transceivers or 0) if links is not None else 0),
    )
    for kind, number in numbers:
        rate = getattr(failures, kind)
        if number and rate is not None and rate.afr is not None:
            yield kind, number, rate.afr


PART_WORDS = {
    "accelerator": pattern(r"(?i)\b(?:gpus?|accelerators?|chips?|[abhv]\d00s?|gb\d00s?|mi\d{3}[ax]?|sxm\d?|oam)\b"),
    "nic": pattern(r"(?i)\b(?:nics?|hcas?|adapters?|connectx\S*|thor\S*|pollara)\b"),
    "optic": pattern(r"(?i)\b(?:optics|optical|transceivers?|twin-port|osfp|qsfp\S*)\b"),
}
"""Patterns of the names of parts that are kept as spares, as texts use them."""


@dataclass(frozen=True)
class FailureRate:
    """Seconds between failures of the whole job."""

    stated: float | None
    """The stated value for the job, else the stated value for one node divided by the number of nodes."""
    usual: float | None
    """The expected value for a job of this size at the catalog's rates, which come from the training of Llama 3."""
    best: float | None = None
    """The value for a job of this size on the most reliable published fleet."""
    of_gpus: bool = True
    """Whether the accelerators are GPUs, as in the training of Llama 3."""


def failure_rate(
    operations: OperationsSpec | None, cluster: Cluster | None, nodes: int | None, catalog: Catalog
) -> FailureRate:
    """The failure rate of a job on some nodes."""
    usual = best = None
    if cluster is not None and nodes:
        usual, _, best = published_time_between_failures(cluster, nodes, catalog)
    stated = stated_time_between_failures(operations, nodes) if operations is not None else None
    of_gpus = cluster is None or cluster.accelerator.vendor in GPU_VENDORS
    return FailureRate(stated.value if stated else None, usual, best, of_gpus)


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
