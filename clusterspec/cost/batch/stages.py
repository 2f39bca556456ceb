"""The contents of the pipeline stages of many layouts, by degrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.index import Numbers, PairIndex
from clusterspec.cost.parameters import Chunk
from clusterspec.cost.stages import StageGroup
from clusterspec.cost.timing import Content
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class StageKind:
    """Stages of one layout with equal contents: their count, their `Content`, and the chunks of the first of them."""

    count: int
    content: Content
    chunks: tuple[Chunk, ...]


def kinds_of(groups: dict[Content, list[StageGroup]]) -> list[StageKind]:
    """The kinds of stages of a layout, in order of their first stage."""
    return [StageKind(sum(one.count for one in same), content, same[0].chunks) for content, same in groups.items()]


class StageTable:
    """The kinds of stages for each pair of pp and virtual stages."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self._index = PairIndex(library)
        self.kinds: list[list[StageKind]] = []
        self._columns: list[list[Array]] = []
        self._lengths = library.zeros(0, "int64")

    def number(self, pp: Numbers, virtual_stages: Numbers, compute: Callable[[int], list[StageKind]]) -> Numbers:
        """The number of the pair in each row; ``compute`` returns the kinds for the row at a position."""
        found, fresh = self._index.fresh(pp, virtual_stages)
        if fresh is not None:
            self.kinds += map(compute, fresh.tolist())
            self._columns = list(self._filled())
            self._lengths = self.library.asarray([len(kinds) for kinds in self.kinds])
        return found

    def _filled(self) -> Iterator[list[Array]]:
        """For each position in the list of kinds: stage counts and contents. A layout with fewer kinds has a count of
        zero there, with the contents of its first kind.
        """
        for place in range(max(map(len, self.kinds))):
            rows = [
                (kinds[place].count, *kinds[place].content) if place < len(kinds) else (0, *kinds[0].content)
                for kinds in self.kinds
            ]
            yield [self.library.asarray(column, "float64") for column in zip(*rows, strict=True)]

    def columns(self, numbers: Numbers) -> Iterator[Sequence[Array]]:
        """For each position in the list of kinds: the count of such stages, and the numbers of their `Content`."""
        most = int(self._lengths.take(numbers.values).max())
        for place in self._columns[:most]:
            yield [column.take(numbers.values) for column in place]
