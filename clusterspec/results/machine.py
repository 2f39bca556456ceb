"""The machine and a training layout in a report: levels, failures, tiers, kernels, memory, goodput and losses."""

from __future__ import annotations

from clusterspec.records import asdict, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The machine in a report: levels, racks, failures, tiers and path classes


@dataclass(frozen=True)
class MachineLevel:
    """A level of the machine from the nodes upward: ``links`` counts its uplinks, ``ratio`` is its oversubscription.

    ``ports`` counts all ports of its switches and ``used`` the connected ones, over all planes; None for nodes, and
    where the number of switch ports is unknown.
    """

    name: str
    count: int
    links: int
    ratio: float | None
    nodes: int | None
    ports: int | None = None
    used: int | None = None


@dataclass(frozen=True)
class MoreNodes:
    """The number of nodes that the machine can still add: on the same tiers of ``switches``, in its ``racks``, and
    within its ``power`` budget at nameplate power. None if the spec sets no limit or a figure is unknown.
    """

    switches: int | None
    racks: int | None
    power: int | None


@dataclass(frozen=True)
class Failure:
    """The impact of one failed part: the fraction of bandwidth lost, and its owner."""

    part: str
    lost: float
    who: str


@dataclass(frozen=True)
class Rack:
    """A rack: ``watts`` is the power of its nodes at full load and its overhead, ``least`` that with nodes of assumed
    power at the low end of their range; ``limit`` the maximum of the rack.
    """

    nodes: int
    racks: int
    watts: float | None
    limit: float | None
    node_watts: float | None
    overhead: float
    least: float | None = None


@dataclass(frozen=True)
class Machine:
    """The numbers of a machine: racks, rails and levels as described by the spec.

    ``bisection`` is the bandwidth of the fabric between two halves of the accelerators, in B/s per direction, where all
    send and each level tapers as stated; ``free_leaf_ports`` are ports of the leaves, over all planes, to which neither
    a node nor an extra endpoint connects. Both are None without a fabric of leaves.
    """

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
    bisection: float | None = None
    free_leaf_ports: int | None = None
    more_nodes: MoreNodes | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class PathHop:
    """A part on a path: ``seconds`` that it adds to a short message, for the reason in ``why``; None if unknown.

    ``rate`` is the line rate of the link into it if only this pair sends, ``shared`` if all accelerators send, in B/s
    per direction; None for the first part, and where a link has no rate of its own.
    """

    part: str
    seconds: float | None
    why: str = ""
    rate: float | None = None
    shared: float | None = None


@dataclass(frozen=True)
class PathClass:
    """Pairs whose path goes up to the same level: the parts on the path, including switches.

    ``bandwidth`` is the line rate of the bottleneck if only this pair sends, ``shared`` if all accelerators send,
    ``predicted`` the prediction for long messages then, all in B/s per direction. ``latency`` applies to one short
    message, in seconds; the ``hops`` add up to it where it is known.
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
    hops: tuple[PathHop, ...] = ()


@dataclass(frozen=True)
class Pod:
    """The topology of a machine: groups of ``block`` nodes under one leaf, and the classes of pairs from the domain
    outward. A pair belongs to the first class whose ``nodes`` include both of its nodes. ``shape`` is the shape of a
    torus domain.
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


@dataclass(frozen=True)
class Tier:
    """A tier per accelerator, in B/s per direction, bytes and seconds; None if unknown.

    ``line_rate`` is nominal (memory: reads plus writes). ``predicted`` applies to long messages when all accelerators
    send: an all-gather in a domain, else send-recv; ``measured`` the same with measurements. ``latency`` applies to one
    short message between two accelerators, and ``crossover`` the size of one that takes twice as long. ``fall`` is the
    ratio of the line rate to the line rate of the next outer tier.
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


# A training layout in a report: kernels, memory of stages, neighboring layouts, and goodput


@dataclass(frozen=True)
class KernelPoint:
    """A kernel, summed over the passes and layers of a micro-batch on the slowest stage: FLOPs, bytes and seconds."""

    name: str
    flops: float
    traffic: float
    seconds: float
    intensity: float
    rate: float


@dataclass(frozen=True)
class Roofline:
    """The kernels of one rank with the dense peak in FLOP/s and the memory bandwidth in B/s of that rank."""

    peak: float
    bandwidth: float
    kernels: tuple[KernelPoint, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Operation:
    """One pass of a micro-batch over a virtual stage (``chunk``) of a pipeline stage, between two times in seconds."""

    stage: int
    backward: bool
    micro_batch: int
    chunk: int
    start: float
    end: float


@dataclass(frozen=True)
class Schedule:
    """A pipeline schedule with the operations of the first ``drawn`` of ``micro_batches``.

    On the slowest stage, ``forward``, ``recomputation`` and ``backward`` are the seconds of one micro-batch, ``idle``
    the waiting seconds. ``predicted`` is the estimate for the drawn operations, ``simulated`` the end of the last one.
    """

    name: str
    stages: int
    virtual_stages: int
    micro_batches: int
    drawn: int
    forward: float
    recomputation: float
    backward: float
    idle: float
    predicted: float
    simulated: float
    operations: tuple[Operation, ...]

    def to_json(self) -> dict[str, Any]:
        """Without the operations."""
        return {name: value for name, value in asdict(self).items() if name != "operations"}


@dataclass(frozen=True)
class LayoutCell:
    """A layout of the grid; None if it is not legal, for the reason in ``why``."""

    tp: int
    pp: int
    step_time: float | None
    memory: float | None
    fits: bool | None
    why: str = ""
    present: bool = False
    errors: tuple[str, ...] = ()
    """The rules that find an error in the layout."""
    fits_with_reserve: bool = False
    """Whether it can run and leaves the grid's reserve of memory free."""


@dataclass(frozen=True)
class LayoutGrid:
    """The cells by tp and pp; ``capacity`` is the memory of an accelerator in bytes, and recommended layouts leave the
    share ``reserve`` of it free.
    """

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cells: tuple[LayoutCell, ...]
    capacity: float | None
    reserve: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Reliability:
    """Seconds between failures, between checkpoints, per checkpoint and per restart, each with its origin; ``goodput``
    is the fraction of productive time. ``curve`` is goodput over the checkpoint interval, and ``best_interval`` the
    interval with the least lost time by Young's approximation. ``checkpoint_bytes`` is the size of one checkpoint, None
    if only a part of the model is trained.
    """

    between: float
    interval: float
    checkpoint: float
    restart: float
    goodput: float
    low: float
    high: float
    failures_per_day: float
    time_to_train: float | None
    with_interruptions: float | None
    curve: tuple[tuple[float, float], ...]
    origins: dict[str, str]
    best_interval: float | None = None
    checkpoint_bytes: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class LongestSequence:
    """The longest sequence in ``tokens`` that fits in memory with the layout, in multiples of ``step``.

    ``model`` is the longest sequence of the model, if that ends the trials; ``reached`` says that the longest one tried
    fits.
    """

    tokens: int
    step: int
    model: int | None
    reached: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class StageMemory:
    """Memory in bytes of an accelerator of a pipeline stage; stages count from 1."""

    stage: int
    weights: float
    gradients: float
    activations: float
    optimizer: float
    other: float
    total: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Loss:
    """A loss from the peak of the accelerators: ``seconds`` of a step, and their ``share`` of it."""

    name: str
    label: str
    seconds: float
    share: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Gain:
    """One change that shortens the time for a token by ``-share``; ``field`` is where the report has its figures."""

    key: str
    before: object
    after: object
    unit: str
    share: float
    field: str

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "from": self.before, "to": self.after, "unit": self.unit, "effect": self.share}
