"""The numbers behind the time of one optimizer step.

The tables fill these records and `clusterspec.cost.explain` creates terms from them. Seconds and bytes are those of one
rank.
"""

from __future__ import annotations

from clusterspec.cost.collectives.model import CollectiveCost
from clusterspec.cost.compute.kernels import Kernel
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.compute.rates import Rates
from clusterspec.cost.step import Exposure, StageTime, StepChoices, StepInputs, StepTimes
from clusterspec.cost.traffic import Transfer
from clusterspec.records import dataclass
from clusterspec.summation import sum_of

PHASES = ("forward", "backward", "recomputation")


@dataclass(frozen=True, slots=True)
class TransferTime:
    """All calls of one transfer: the seconds of one call, and the exposed time of all.

    ``overlap_window`` is the seconds of computation that each call overlaps with, ``pipelined`` the share of the
    traffic that runs inside the GEMMs around it.
    """

    transfer: Transfer
    cost: CollectiveCost
    overlap_window: float
    pipelined: float
    exposed: float

    @property
    def seconds(self) -> float:
        """Seconds of all calls on the wire."""
        return self.cost.device_seconds * self.transfer.calls


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """One pass over a part of the model: its kernels with their seconds, its transfers, and kernel launches.

    ``device`` sums the kernels, ``exposed`` the transfers; ``launches`` counts kernel launches by the host,
    ``expert_launches`` the experts that it launches one by one; ``launch`` is the seconds of launch overhead.
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


@dataclass(frozen=True, slots=True)
class PartTime:
    """One micro-batch through one part of the model: a layer, the embedding or the head.

    ``flops`` are those of the forward pass, ``recomputed_flops`` those of recomputation.
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


@dataclass(frozen=True, slots=True)
class ReplicaTransfers:
    """Transfers of data parallelism that run together, and their exposed time.

    ``seconds`` of each of ``transfers``, which run one after another.
    """

    exposure: Exposure
    transfers: tuple[Transfer, ...]
    costs: tuple[CollectiveCost, ...]
    gather: float
    """The rate of these transfers over that of the same collectives otherwise."""

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(cost.device_seconds / self.gather for cost in self.costs)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """The components of one optimizer step, and its times.

    ``parts`` are those of the slowest stage, each with the number of passes of a micro-batch through it;
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
