"""The numbers behind the time of one optimizer step."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.collectives import CollectiveCost
from clusterspec.cost.compute import Kernel
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.compute.rates import Rates
from clusterspec.cost.step import Exposure, StageTime, StepChoices, StepInputs, StepTimes
from clusterspec.cost.traffic import Transfer, call_seconds
from clusterspec.records import dataclass, replace
from clusterspec.standard import sum_of

PHASES = ("forward", "backward", "recomputation")


@dataclass(frozen=True)
class TransferTime:
    """All calls of one transfer: the seconds of one call, and the exposed seconds of all calls.

    ``overlap_window`` is the seconds of computation that each call can overlap with; ``pipelined`` the share of the
    traffic that runs inside neighboring GEMMs.
    """

    transfer: Transfer
    cost: CollectiveCost
    overlap_window: float
    pipelined: float
    exposed: float

    @property
    def seconds(self) -> float:
        """Seconds of all calls on the wire, or while kernels send their copies."""
        return call_seconds(self.transfer, self.cost.device_seconds) * self.transfer.calls


@dataclass(frozen=True)
class PhaseTime:
    """One pass over a part of the model: its kernels with their seconds, its transfers, and kernel launches.

    ``device`` sums the kernels, ``exposed`` the transfers; ``launches`` counts kernel launches by the host,
    ``expert_launches`` the launches of single experts; ``launch`` is the launch overhead in seconds.
    """

    kernels: tuple[tuple[Kernel, float], ...]
    transfers: tuple[TransferTime, ...]
    device: float
    exposed: float
    launches: float
    expert_launches: float
    launch: float

    @property
    def total(self) -> float:
        return self.device + self.exposed + self.launch


@dataclass(frozen=True)
class PartTime:
    """One micro-batch through one part of the model: a layer, the embedding or the head.

    ``flops`` counts the forward pass, ``recomputed_flops`` the recomputation.
    """

    name: str
    forward: PhaseTime
    backward: PhaseTime
    recomputation: PhaseTime
    flops: float
    recomputed_flops: float

    @property
    def time(self) -> StageTime:
        """Seconds by pass."""
        return StageTime(self.forward.total, self.backward.total, self.recomputation.total)

    @property
    def phases(self) -> tuple[tuple[str, PhaseTime], ...]:
        """Each pass with its name."""
        return tuple(zip(PHASES, (self.forward, self.backward, self.recomputation), strict=True))


@dataclass(frozen=True)
class ReplicaTransfers:
    """Data-parallel transfers that run in one phase, and their exposed seconds.

    ``seconds`` has the time of each of ``transfers``, which run one after another.
    """

    exposure: Exposure
    transfers: tuple[Transfer, ...]
    costs: tuple[CollectiveCost, ...]
    gather: float
    """The rate of these transfers over that of the same collectives otherwise."""

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(cost.device_seconds / self.gather for cost in self.costs)


@dataclass(frozen=True)
class StepRecord:
    """The components of one optimizer step, and its times.

    ``parts`` belong to the slowest stage, each with the number of passes of a micro-batch through it;
    ``chunk_share`` is the share of micro-batches in each (half of them in DualPipe); ``sends`` transfer one micro-batch
    to the next stage.
    """

    parts: tuple[tuple[PartTime, int], ...]
    chunk_share: float
    sends: tuple[TransferTime, ...]
    replicas: tuple[ReplicaTransfers, ...]
    inputs: StepInputs
    choices: StepChoices
    times: StepTimes
    rates: Rates
    software: SoftwareBehavior

    @property
    def seconds(self) -> float:
        """Seconds of the step."""
        return self.times.total

    @property
    def computing(self) -> float:
        """Seconds of the step in which kernels run or wait for launch, in all passes."""
        phases = (count * (phase.device + phase.launch) for part, count in self.parts for _, phase in part.phases)
        return self.chunk_share * self.inputs.micro_batches * sum_of(phases)

    @property
    def flops(self) -> float:
        """FLOPs of the forward pass of one micro-batch on the slowest stage."""
        return sum_of(count * part.flops for part, count in self.parts)

    @property
    def recomputed_flops(self) -> float:
        """FLOPs that recomputation adds to it."""
        return sum_of(count * part.recomputed_flops for part, count in self.parts)


# Communication of a step: one row per collective of each axis

UNCOUNTED = "first_and_last_layer"
"""Exposed time of transfers that other rows already count."""


@dataclass(frozen=True)
class Communication:
    """Communication of one axis of the layout in one step, per accelerator.

    ``bytes`` the size as nccl-tests counts it, summed over ``calls``; ``seconds`` the time on the wire summed over the
    calls, ``exposed`` the part not overlapped with computation.
    """

    axis: str
    collective: str
    tier: str
    ranks: int
    calls: float
    bytes: float
    seconds: float
    exposed: float


Sent = tuple[Communication, CollectiveCost]
"""A row, and one call of its collective."""


def communication_rows(record: StepRecord) -> tuple[Communication, ...]:
    """One row for each collective of each axis, in the order of their first use in a step."""
    found: dict[tuple[str, str, int], Communication] = {}
    for row, _ in transfer_rows(record):
        key = (row.axis, row.collective, row.ranks)
        before = found.get(key)
        found[key] = row if before is None else _summed_row(before, row)
    return tuple(found.values())


def transfer_rows(record: StepRecord) -> Iterator[Sent]:
    """A row for every transfer of a step."""
    repeats = record.chunk_share * record.inputs.micro_batches
    for part, count in record.parts:
        for _, phase in part.phases:
            yield from (_transfer_row(one, repeats * count) for one in phase.transfers)
    repeats = 2 * record.inputs.micro_batches * record.inputs.virtual_stages
    yield from (_transfer_row(one, repeats) for one in record.sends)
    for group in record.replicas:
        yield from _replica_rows(group)


def _transfer_row(one: TransferTime, repeats: float) -> Sent:
    transfer, cost = one.transfer, one.cost
    row = Communication(
        axis=transfer.axis,
        collective=transfer.collective,
        tier=cost.tier,
        ranks=cost.ranks,
        calls=repeats * transfer.calls,
        bytes=repeats * transfer.size * transfer.calls,
        seconds=repeats * one.seconds,
        exposed=repeats * one.exposed,
    )
    return row, cost


def _replica_rows(group: ReplicaTransfers) -> Iterator[Sent]:
    """The exposed time of transfers that run together, divided in proportion to their times."""
    repeats, whole = group.exposure.repeats, group.exposure.seconds
    counted = 0.0 if group.exposure.name == UNCOUNTED else repeats
    for transfer, cost, seconds in zip(group.transfers, group.costs, group.seconds, strict=True):
        row = Communication(
            axis=transfer.axis,
            collective=transfer.collective,
            tier=cost.tier,
            ranks=cost.ranks,
            calls=counted,
            bytes=counted * transfer.size,
            seconds=counted * seconds,
            exposed=repeats * group.exposure.exposed * seconds / whole,
        )
        yield row, cost


def _summed_row(one: Communication, other: Communication) -> Communication:
    return replace(
        one,
        calls=one.calls + other.calls,
        bytes=one.bytes + other.bytes,
        seconds=one.seconds + other.seconds,
        exposed=one.exposed + other.exposed,
    )
