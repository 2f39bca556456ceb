"""How a design runs: process groups, expected collectives by size, and the launch."""

from __future__ import annotations

from clusterspec.records import asdict, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class RankGroups:
    """The groups of one axis: ``groups`` groups of ``ranks`` ranks each; ``stride`` is the distance of neighboring
    ranks in a group.

    ``first`` names the ranks of the first group. ``ranks_per_node``, ``nodes`` and ``domains`` belong to the group
    that is spread most. ``crossed`` are the switch levels that some group crosses, from the leaf upward.
    """

    axis: str
    ranks: int
    groups: int
    stride: int
    first: str
    ranks_per_node: int
    nodes: int
    domains: int
    crossed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class SizedCollective:
    """A collective on ``ranks`` of ``nodes``, by size in bytes: its seconds and its bus bandwidth in B/s.

    ``curve`` has the size and the bus bandwidth at more sizes, and ``half_size`` is the size from which the bus
    bandwidth is at least half the bandwidth of the largest message.
    """

    collective: str
    nodes: int
    ranks: int
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]
    busbw: tuple[float, ...]
    curve: tuple[tuple[float, float], ...] = ()
    half_size: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Launch:
    """The file with which the framework of a design starts it; ``omitted`` lists what the format cannot express."""

    kind: str
    text: str
    omitted: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
