"""The table of a collective over several sizes, as nccl-tests prints it, with the ceiling beside it."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.groups import contiguous
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.model import CollectiveCost
from clusterspec.cost.collectives.predict import collective
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One size of a table: bytes as nccl-tests counts them, seconds, bytes per second."""

    collective: str
    ranks: int
    size: float
    seconds: float
    low: float
    high: float
    algbw: float
    busbw: float
    ceiling_busbw: float
    bound_by: str
    tier: str
    algorithm: str

    @property
    def least_busbw(self) -> float:
        """Bus bandwidth at the slow end of the uncertainty range, in B/s: the least that a sound machine shows."""
        return self.busbw * self.seconds / self.high if self.high else self.busbw

    @classmethod
    def of(cls, cost: CollectiveCost) -> CollectiveRow:
        """The plain numbers of a cost."""
        return cls(
            cost.name,
            cost.ranks,
            cost.size,
            cost.seconds,
            cost.low,
            cost.high,
            cost.algbw,
            cost.busbw,
            cost.ceiling_busbw,
            cost.bound_by,
            cost.tier,
            cost.algorithm,
        )


def table(
    cluster: Cluster, name: str, ranks: int, sizes: Sequence[float], algorithm: str | None = None
) -> tuple[CollectiveRow, ...]:
    """A collective over the first ``ranks`` ranks, for each size in bytes.

    Raises `CollectiveUnavailableError` as `collective` does.
    """
    group = contiguous(cluster, ranks)
    return tuple(CollectiveRow.of(collective(cluster, name, group, size, algorithm)) for size in sizes)
