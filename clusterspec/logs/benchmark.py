"""The content of a benchmark log, independent of the tool: series of sizes, pairwise bandwidths and evidence."""

from __future__ import annotations

from clusterspec.logs.evidence import Evidence
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class SizePoint:
    """A message size of a series: bytes as nccl-tests counts them, seconds, bus bandwidth in B/s per direction."""

    size: float
    seconds: float | None
    busbw: float
    line: int


@dataclass(frozen=True, slots=True)
class Series:
    """A collective over message sizes. Fields that the log lacks are None; ``wrong`` counts wrong results."""

    collective: str | None
    ranks: int | None
    nodes: int | None
    points: tuple[SizePoint, ...]
    algorithm: str | None = None
    wrong: int = 0

    @property
    def largest(self) -> SizePoint:
        """The point of the largest size, closest to peak bandwidth."""
        return max(self.points, key=lambda point: point.size)


@dataclass(frozen=True, slots=True)
class PairTable:
    """Bandwidths between pairs of accelerators of a node in B/s, without the diagonal.

    ``both_ways`` is set if the figures sum both directions.
    """

    name: str
    accelerators: int
    values: tuple[float, ...]
    both_ways: bool
    line: int

    @property
    def slowest(self) -> float:
        """The bandwidth of the slowest pair in B/s per direction."""
        return min(self.values) / (2 if self.both_ways else 1)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The content of a log. ``remarks`` explain how units were determined and what was skipped, each with its line."""

    tool: str
    series: tuple[Series, ...] = ()
    pairs: tuple[PairTable, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[tuple[str, int], ...] = ()
