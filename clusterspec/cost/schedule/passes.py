"""The seconds of passes over some layers, by what they are spent on, and what they sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from clusterspec.cost.term import Communication


@dataclass(frozen=True, slots=True)
class Seconds:
    """Seconds of one rank: matrix products, attention cores, memory-bound kernels, waiting for the
    host to launch, and the communication of each axis that nothing hides."""

    matmul: float = 0.0
    attention: float = 0.0
    memory: float = 0.0
    launch: float = 0.0
    tp: float = 0.0
    cp: float = 0.0
    ep: float = 0.0

    @property
    def compute(self) -> float:
        """What device and host take without communication."""
        return self.matmul + self.attention + self.memory + self.launch

    @property
    def total(self) -> float:
        return self.compute + self.tp + self.cp + self.ep

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, times: float) -> Seconds:
        return Seconds(*(getattr(self, f.name) * times for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Passes:
    """One micro-batch through some layers: forward, backward, what runs again in between, and what was sent.

    ``flops`` are those of the forward pass, ``flops_again`` those that recomputation adds.
    """

    forward: Seconds = Seconds()
    backward: Seconds = Seconds()
    recomputed: Seconds = Seconds()
    sent: tuple[Communication, ...] = ()
    flops: float = 0.0
    flops_again: float = 0.0

    @property
    def total(self) -> float:
        return self.forward.total + self.return_time

    @property
    def return_time(self) -> float:
        """Seconds of the way back: what runs again, and the backward pass."""
        return self.backward.total + self.recomputed.total

    def __add__(self, other: Passes) -> Passes:
        return Passes(
            self.forward + other.forward,
            self.backward + other.backward,
            self.recomputed + other.recomputed,
            self.sent + other.sent,
            self.flops + other.flops,
            self.flops_again + other.flops_again,
        )

    def __mul__(self, times: float) -> Passes:
        sent = tuple(repeated(row, times) for row in self.sent)
        seconds = (self.forward * times, self.backward * times, self.recomputed * times)
        return Passes(*seconds, sent, self.flops * times, self.flops_again * times)


def repeated(row: Communication, times: float) -> Communication:
    """The same communication so many times."""
    return replace(
        row, calls=row.calls * times, bytes=row.bytes * times, seconds=row.seconds * times, exposed=row.exposed * times
    )


def gathered(rows: Iterable[Communication]) -> tuple[Communication, ...]:
    """One row for each collective of each axis, in order of first appearance."""
    found: dict[tuple[str, str, int], Communication] = {}
    for row in rows:
        key = (row.axis, row.collective, row.ranks)
        before = found.get(key)
        found[key] = row if before is None else _sum(before, row)
    return tuple(found.values())


def _sum(one: Communication, other: Communication) -> Communication:
    return replace(
        one,
        calls=one.calls + other.calls,
        bytes=one.bytes + other.bytes,
        seconds=one.seconds + other.seconds,
        exposed=one.exposed + other.exposed,
    )
