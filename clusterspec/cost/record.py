"""The numbers behind the time of one optimizer step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from clusterspec.cost.collectives.model import Candidate, CollectiveCost, Paths
from clusterspec.cost.compute.kernels import Kernel
from clusterspec.cost.compute.rates import Rates
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.formulas import collectives
from clusterspec.cost.step import Exposure, StageTime, StepChoices, StepInputs, StepTimes
from clusterspec.cost.term import EXPRESSIONS, Communication, Expanded, computed_figure
from clusterspec.cost.traffic import Transfer
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, replace
from clusterspec.summation import sum_of

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
        """Seconds of all calls on the wire."""
        return self.cost.device_seconds * self.transfer.calls


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


# Communication of a step: one row per collective of each axis, and the time of a collective as an expression

UNCOUNTED = "first_and_last_layer"
"""Exposed time of transfers that other rows already count."""


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


# The time of a collective as an expression over its size, its links and its latencies


def expanded_seconds(cost: CollectiveCost, prefix: str = "") -> Expanded:
    """Seconds of one call on the device, without launch time; ``prefix`` begins every name."""
    if cost.candidate is None or cost.paths is None:
        return Expanded(0.0, "0", ())
    line, share = _slowest_line(cost.paths, cost.candidate)
    article = "an" if cost.name.startswith("a") else "a"
    what = f"{article} {cost.name} over {cost.ranks} ranks by {cost.algorithm} ({cost.protocol}, {cost.tier})"
    traffic = cost.candidate.per_byte * line.value * share.value
    inputs = {
        "latency": computed_figure(cost.candidate.latency_of(cost.size), f"latency of {what}", "s"),
        "size": computed_figure(cost.size, f"{cost.name}, as nccl-tests counts it", "B"),
        "traffic": computed_figure(traffic, "bytes on the slower tier for each byte of the size"),
        "line": line,
        "share": share,
    }
    if not cost.candidate.overlapped:
        inputs["held"] = computed_figure(
            cost.candidate.held, "sending the content of a full stage of the pipeline", "s"
        )
        inputs["stages"] = computed_figure(cost.candidate.stages, "stages of the pipeline")
    value = cost.candidate.device_seconds(cost.size)
    overlapped: bool = cost.candidate.overlapped
    formula: Callable[..., float] = collectives.overlapped_time if overlapped else collectives.pipelined_time
    if cost.device_seconds > value * (1 + 1e-12):
        return _line_rate_seconds(cost, prefix)
    named = tuple((prefix + key, figure) for key, figure in inputs.items())
    return Expanded(value, _seconds_expression(formula, prefix), named)


@cache
def _seconds_expression(formula: Callable[..., float], prefix: str) -> str:
    """The expression of the time of a collective over its size and its links."""
    sending = f"({prefix}size * {prefix}traffic / ({prefix}line * {prefix}share))"
    names = {"latency": f"{prefix}latency", "sending": sending, "filling": f"{prefix}held", "stages": f"{prefix}stages"}
    return " ".join(_expanded_word(word, names) for word in EXPRESSIONS[formula].split())


def _expanded_word(word: str, names: dict[str, str]) -> str:
    bare = word.strip("()")
    return word.replace(bare, names[bare]) if bare in names else word


def _line_rate_seconds(cost: CollectiveCost, prefix: str) -> Expanded:
    """The time at line rate, where that exceeds the prediction of the algorithm."""
    assert cost.candidate is not None
    inputs = {
        "size": computed_figure(cost.size, f"{cost.name}, as nccl-tests counts it", "B"),
        "bus_factor": computed_figure(cost.busbw / cost.algbw, "bus bandwidth over algorithm bandwidth"),
        "ceiling": computed_figure(cost.ceiling_busbw, "bus bandwidth at line rate", "B/s"),
        "launch": computed_figure(
            cost.candidate.launch, "launch time, which a queued collective does not wait for", "s"
        ),
    }
    expression = f"{prefix}size * {prefix}bus_factor / {prefix}ceiling - {prefix}launch"
    return Expanded(cost.device_seconds, expression, tuple((prefix + key, figure) for key, figure in inputs.items()))


def _slowest_line(paths: Paths, candidate: Candidate) -> tuple[Figure, Figure]:
    """The line rate of the tier that sends for longest, and the share of the rate that the algorithm achieves."""
    send = candidate.algorithm == "send"
    if paths.between is not None and candidate.between >= candidate.inside:
        exchanged = candidate.algorithm in ("direct", "staged")
        line = paths.between.exchange if exchanged else paths.between.line
        return paths.between.sender if send else line, paths.between.share
    inside = paths.inside
    if candidate.algorithm.startswith("nvls") and inside.reduction is not None:
        return inside.line, inside.reduction
    if candidate.algorithm in ("direct", "staged") and candidate.protocol == "Simple":
        return inside.line, inside.exchange
    return inside.peer if send else inside.line, inside.ring
