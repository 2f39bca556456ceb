"""The tiers as one process group sees them, the ways to do a collective over them, and what it costs."""

from __future__ import annotations

from clusterspec.cost.formulas.alpha_beta import overlapped, pipelined
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.records import dataclass

NAMES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")
"""The collectives that are known, as nccl-tests names them."""


class CollectiveUnavailableError(Exception):
    """A collective cannot be timed; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Inside:
    """The tier inside an island (a domain, or a node without one), as one rank of the group sees it.

    ``ranks`` of the group in the fullest island; ``line`` what one rank sends to all others together,
    ``peer`` to one of them, both at line rate, B/s per direction; ``ring``, ``exchange`` and
    ``reduction`` the shares of the line that rings, direct exchanges and the switches' own reduction
    reach (``reduction`` is ``None`` where there is none or the group is too small for it);
    ``chunks`` how many chunks the switches hold for each rank; ``low_latency`` the most that the
    protocol LL carries, ``tree`` the most that a tree over more than two islands does, both bus
    bandwidth; ``hops`` whose latencies count (``nvlink`` or ``pci``);
    ``reach`` the hops to the farthest rank of a torus.
    """

    tier: str
    topology: str
    ranks: int
    line: Bandwidth
    peer: Bandwidth
    ring: Figure
    exchange: Figure
    reduction: Figure | None
    chunks: int
    low_latency: Figure | None
    tree: Figure | None
    hops: str
    reach: float = 0.0

    @property
    def ring_rate(self) -> float:
        """B/s that a ring really gets."""
        return self.line.value * self.ring.value


@dataclass(frozen=True, slots=True)
class Between:
    """The tier between islands.

    ``line`` is what one island of the group sends at line rate, its share among the groups that use
    the same NICs and behind tapered switches; ``sender`` what a single rank sends; ``share`` the part
    of it that is reached; ``latency`` what one crossing adds to the network hop of the stack, seconds.
    ``protocols`` are those that the network can carry; ``overlapped`` where CPU threads move the data;
    ``reduces`` where the switches reduce; ``rails_apart`` where no switch joins the rails, so that
    data changes rails inside an island only.
    """

    tier: str
    islands: int
    line: Bandwidth
    sender: Bandwidth
    share: Figure
    latency: Figure
    protocols: frozenset[str]
    overlapped: bool
    reduces: bool
    rails_apart: bool

    @property
    def rate(self) -> float:
        """B/s that an island of the group really sends."""
        return self.line.value * self.share.value


@dataclass(frozen=True, slots=True)
class Paths:
    """All paths of one group."""

    ranks: int
    nodes: int
    inside: Inside
    between: Between | None

    @property
    def tier(self) -> str:
        """The outermost tier that the group crosses."""
        return self.between.tier if self.between else self.inside.tier

    @property
    def islands(self) -> int:
        return self.between.islands if self.between else 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """One algorithm with one protocol on one group: what it takes for any size.

    ``latency`` and ``launch`` in seconds; ``inside`` and ``between`` the seconds that each byte of the
    size takes on either tier, which send at the same time; ``held`` the seconds to send what the full
    pipeline holds; ``overlapped`` where the latency runs beside the sending.
    """

    algorithm: str
    protocol: str
    latency: float
    inside: float
    between: float
    held: float
    launch: float
    overlapped: bool = False

    @property
    def per_byte(self) -> float:
        """Seconds of the slower tier for each byte of the size."""
        return max(self.inside, self.between)

    def queued(self, size: float) -> float:
        """Seconds of ``size`` bytes on the device, launching left out; ``size`` may be a column."""
        sending = self.per_byte * size
        if self.overlapped:
            return overlapped(self.latency, sending)
        return pipelined(self.latency, sending, self.held)


@dataclass(frozen=True, slots=True)
class CollectiveCost:
    """One collective over one group.

    ``size`` in bytes as nccl-tests counts it (the whole buffer of an all-gather, a reduce-scatter
    and an all-to-all); ``seconds`` the time that nccl-tests would print; ``sending`` the seconds that
    bandwidth alone takes; ``low`` and ``high`` what the uncertainty of the origins allows; ``algbw``,
    ``busbw`` and ``ceiling_busbw`` in bytes per second, 0 where nothing is sent. ``tier`` is the
    outermost tier that the group crosses, ``bound_by`` what takes most of the time. ``paths`` and
    ``candidate`` are what it was worked out from, None where nothing is sent.
    """

    name: str
    algorithm: str
    protocol: str
    tier: str
    ranks: int
    size: float
    seconds: float
    sending: float
    low: float
    high: float
    algbw: float
    busbw: float
    ceiling_busbw: float
    bound_by: str
    paths: Paths | None = None
    candidate: Candidate | None = None

    @property
    def queued(self) -> float:
        """Seconds on the device alone: a training step queues its collectives long before they run."""
        return self.seconds - (self.candidate.launch if self.candidate else 0.0)

    @property
    def uncertainty(self) -> float:
        """Half the width of its band over its time; 0 where nothing is sent."""
        return (self.high - self.low) / (2 * self.seconds) if self.seconds else 0.0
