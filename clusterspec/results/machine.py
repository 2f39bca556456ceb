"""The machine in a report: levels, racks, failures, tiers and path classes."""

from __future__ import annotations

from typing import Any

from clusterspec.records import asdict, dataclass


@dataclass(frozen=True, slots=True)
class MachineLevel:
    """A level of the machine from the nodes upward: ``links`` are its uplinks, ``ratio`` its oversubscription."""

    name: str
    count: int
    links: int
    ratio: float | None
    nodes: int | None


@dataclass(frozen=True, slots=True)
class Failure:
    """The impact of one failed part: the fraction of bandwidth lost, and what loses it."""

    part: str
    lost: float
    who: str


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack: ``watts`` is the full-load power of its nodes and overhead; ``limit`` the maximum of the rack."""

    nodes: int
    racks: int
    watts: float | None
    limit: float | None
    node_watts: float | None
    overhead: float


@dataclass(frozen=True, slots=True)
class Machine:
    """The numbers of a machine: racks, rails and levels as described by the spec."""

    accelerators: int
    accelerators_per_node: int
    nodes: int
    spare_nodes: int
    domain: int
    domains: int
    nics_per_node: int
    rails: int
    planes: int
    topology: str
    nodes_per_leaf: int
    rows: tuple[MachineLevel, ...]
    failures: tuple[Failure, ...]
    rack: Rack | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PathClass:
    """Pairs whose path goes up to the same level: the parts on the path, including switches.

    ``bandwidth`` is the line rate of the bottleneck if only this pair sends, ``shared`` if all accelerators send,
    ``predicted`` the prediction for a long message, all in B/s per direction. ``latency`` is in seconds.
    """

    name: str
    nodes: int
    parts: tuple[str, ...]
    switches: int
    bandwidth: float
    bottleneck: str
    shared: float
    predicted: float | None
    latency: float | None


@dataclass(frozen=True, slots=True)
class Pod:
    """The topology of a machine: nodes in groups of ``block`` under one leaf, and the classes of pairs from the domain
    outward; a pair belongs to the first class whose ``nodes`` include both. ``shape`` is that of a torus domain.
    """

    nodes: int
    accelerators_per_node: int
    nics_per_node: int
    domain_nodes: int
    domain: int
    rails: int
    block: int
    racks: int
    topology: str
    shape: tuple[int, ...]
    classes: tuple[PathClass, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier per accelerator, in B/s per direction, bytes and seconds; None if unknown.

    ``line_rate`` is nominal (memory: reads plus writes), ``predicted`` that of a long send-recv (a long all-gather in
    a domain), ``measured`` the same with measurements. ``crossover`` is the message size that takes twice the
    latency; ``fall`` is the ratio of the line rate to that of the next outer tier.
    """

    name: str
    kind: str
    accelerators: int
    line_rate: float
    duplex: float | None
    bits: float
    predicted: float | None
    measured: float | None
    latency: float | None
    crossover: float | None
    fall: float | None
    origin: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
