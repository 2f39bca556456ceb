"""What a benchmark log states, whatever tool wrote it: series of sizes, links between pairs, and evidence."""

from __future__ import annotations

from clusterspec.logs.evidence import Evidence
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """One size of a series: bytes as nccl-tests counts them, seconds, and bus bandwidth in B/s per direction."""

    size: float
    seconds: float | None
    busbw: float
    line: int


@dataclass(frozen=True, slots=True)
class Series:
    """One collective over some sizes. What the log does not state is None; ``wrong`` counts wrong results."""

    collective: str | None
    ranks: int | None
    nodes: int | None
    points: tuple[Point, ...]
    algorithm: str | None = None
    wrong: int = 0

    @property
    def largest(self) -> Point:
        """The largest size, where a collective comes closest to its plateau."""
        return max(self.points, key=lambda point: point.size)


@dataclass(frozen=True, slots=True)
class PairTable:
    """Bandwidths between pairs of accelerators of one node, in B/s, the diagonal left out.

    ``both_ways`` where the figures add the two directions.
    """

    name: str
    accelerators: int
    values: tuple[float, ...]
    both_ways: bool
    line: int

    @property
    def slowest(self) -> float:
        """B/s per direction between the slowest pair."""
        return min(self.values) / (2 if self.both_ways else 1)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """All that one log states. ``remarks`` say how units were decided, and what was passed over, each with a line."""

    tool: str
    series: tuple[Series, ...] = ()
    pairs: tuple[PairTable, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[tuple[str, int], ...] = ()
