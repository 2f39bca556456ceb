"""Communication time over link rates, as tables that figures interpolate."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SPAN = 4.0
"""Rates vary from a quarter to four times those of the spec."""
TAPERS = (1.0, 8.0)
STAGES = 8


@dataclass(frozen=True)
class Strategy:
    """A single kind of parallelism: a description of the layout, and the axes of its traffic."""

    name: str
    axes: tuple[str, ...]
    note: str


STRATEGIES = (
    Strategy("TP", ("tp", "expert_tp"), "tensor parallelism over one domain, at most 8 ranks"),
    Strategy("PP", ("pp",), f"{STAGES} pipeline stages"),
    Strategy("DDP", ("dp_cp", "expert_dp"), "gradients reduced over all ranks, nothing sharded"),
    Strategy("FSDP", ("dp_cp", "expert_dp", "shard", "replicate"), "parameters sharded over all ranks"),
    Strategy("HSDP", ("dp_cp", "expert_dp", "shard", "replicate"), "sharded in one domain, replicated across"),
    Strategy("EP", ("ep",), "experts over one domain, at most 8 ranks"),
)


@dataclass(frozen=True)
class WireCase:
    """A strategy with a number of nodes and a model: its curves (the lowest counts), the seconds of computation, and at
    the spec's rates the seconds of communication, of exposed communication and of the pipeline bubble.

    ``memory`` is the bytes on the fullest accelerator; ``fits`` is None if it or the capacity is not known.
    """

    strategy: str
    nodes: int
    model: str
    compute: float
    communication: float
    exposed: float
    bubble: float
    memory: float | None
    fits: bool | None
    curve: Curve
    alternatives: tuple[Curve, ...] = ()
    """The curves of other algorithms, if oversubscription slows these by another factor."""

    @property
    def curves(self) -> tuple[Curve, ...]:
        return (self.curve, *self.alternatives)


@dataclass(frozen=True)
class Survival:
    """The tabulated cases. ``bandwidth`` (B/s per direction per accelerator) and ``nic`` (B/s per NIC) are those of the
    spec, ``error`` is the largest relative interpolation error over ``checked`` positions.
    """

    nodes: tuple[int, ...]
    models: tuple[tuple[str, float], ...]
    bandwidth: float
    nic: float
    taper: float
    sequences: int
    cases: tuple[WireCase, ...]
    error: float
    checked: int

    def to_json(self) -> dict[str, Any]:
        return {
            "nodes": list(self.nodes),
            "models": [{"name": name, "parameters": count} for name, count in self.models],
            "bandwidth": self.bandwidth,
            "nic": self.nic,
            "taper": self.taper,
            "span": SPAN,
            "tapers": list(TAPERS),
            "sequences": self.sequences,
            "strategies": [{"name": one.name, "note": one.note} for one in STRATEGIES],
            "cases": [
                {
                    "strategy": case.strategy,
                    "nodes": case.nodes,
                    "model": case.model,
                    "compute": case.compute,
                    "exposed": case.exposed,
                    "bubble": case.bubble,
                    "memory": case.memory,
                    "fits": case.fits,
                    **case.curve.to_json(),
                    "alternatives": [one.to_json() for one in case.alternatives],
                }
                for case in self.cases
            ],
            "error": self.error,
            "checked": self.checked,
        }


@dataclass(frozen=True)
class Curve:
    """A table of logarithms of seconds.

    ``tables`` hold a row for each of ``x`` (logarithm of the scale-up bandwidth) and a column for each of ``y``
    (logarithm of the NIC rate; with ``ratio``, of the NIC rate over that bandwidth). With ``joint``, the NIC rate is
    first divided by the oversubscription times ``crossing``, the share of the traffic that crosses it, where that is
    above 1; otherwise there is a table for each of ``z`` (logarithm of the oversubscription).
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    z: tuple[float, ...]
    joint: bool
    ratio: bool
    tables: tuple[tuple[tuple[float, ...], ...], ...]
    crossing: float = 1.0

    def to_json(self) -> dict[str, Any]:
        """Rounded to five digits of the logarithm: 0.001 % of the seconds."""

        def short(values: Sequence[float]) -> list[float]:
            return [round(value, 5) for value in values]

        return {
            "x": short(self.x),
            "y": short(self.y),
            "z": short(self.z),
            "joint": self.joint,
            "crossing": self.crossing,
            "ratio": self.ratio,
            "tables": [[short(row) for row in table] for table in self.tables],
        }
