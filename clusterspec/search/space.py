"""The legal layouts of a job: families with the same degrees, and the choices inside each family.

A family fixes tp, cp, pp, dp, ep and expert_tp. Its layouts are the product of its choices: micro-batch with the
pipeline's schedule, sharding with its group, recomputation, and order of the axes. Legality is decided by
`cluster.legality`, as for rules; an illegal layout is never generated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, permutations, product
from typing import NamedTuple

from clusterspec.cluster.layout import ORDER
from clusterspec.cluster.legality import (
    BUILT_ON_MEGATRON,
    Demands,
    LayoutNumbers,
    forbids_expert_parallel,
    forbids_pipeline,
    violations,
)
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.records import dataclass

SHARDINGS: Mapping[str, tuple[str, ...]] = {
    "torchtitan": ("fsdp", "hsdp"),
    "fsdp": ("fsdp", "hsdp"),
    "maxtext": ("fsdp", "hsdp"),
    "deepspeed": ("none", "zero1", "zero2", "fsdp"),
    "megatron-deepspeed": ("none", "zero1", "zero2", "fsdp"),
    "internevo": ("none", "zero1"),
    "neuronx-distributed": ("none", "zero1"),
}
"""What data-parallel ranks can shard, by framework; Megatron Core and unnamed frameworks offer all of `ALL`."""
ALL = ("none", "zero1", "fsdp", "hsdp")
RECOMPUTE = ("none", "selective", "full")
MOST_MICRO_BATCH = 64
"""Sequences in one micro-batch, at most: beyond it a step is bound by arithmetic on every accelerator known."""
MOST_VIRTUAL_STAGES = 16


SCHEDULES: Mapping[str, tuple[str, ...]] = {
    "megatron-core": ("1f1b",),
    "nemo": ("1f1b",),
    "megatron-deepspeed": ("1f1b",),
    "deepspeed": ("1f1b",),
    "torchtitan": ("1f1b", "gpipe"),
    "maxtext": ("gpipe",),
    "neuronx-distributed": ("1f1b",),
}
"""Schedules of one stage a rank, by framework; with several virtual stages all run `interleaved`. Another framework,
or none, may run any of `cluster` schedules that its spec names, and is searched with 1f1b."""


class Pipeline(NamedTuple):
    """How micro-batches pass through the stages: sequences in one, stages of a rank, and the schedule."""

    micro_batch: int
    virtual_stages: int
    schedule: str


class Sharding(NamedTuple):
    """A sharding, and the ranks over which it splits the states (`Layout.shard_group`)."""

    kind: str
    group: int


@dataclass(frozen=True, slots=True)
class Pins:
    """Choices that the caller fixes, by the keys of the layout; an axis that is absent is searched."""

    values: Mapping[str, object]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def choices(self, key: str, otherwise: Sequence[object]) -> tuple[object, ...]:
        """The pinned value alone, else all of ``otherwise``."""
        return (self.values[key],) if key in self.values else tuple(otherwise)


@dataclass(frozen=True, slots=True)
class Family:
    """Layouts with the same degrees. The choices multiply: ``size`` layouts in all."""

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int
    expert_tp: int
    sequence_parallel: bool
    pipelines: tuple[Pipeline, ...]
    shardings: tuple[Sharding, ...]
    recompute: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        return len(self.pipelines) * len(self.shardings) * len(self.recompute) * len(self.orders)


class Choice(NamedTuple):
    """One layout of a family."""

    family: Family
    pipeline: Pipeline
    sharding: Sharding
    recompute: str
    order: tuple[str, ...]


def choices(family: Family) -> Iterator[Choice]:
    """The layouts of a family, one by one, in the order in which they are numbered."""
    for chosen in product(family.pipelines, family.shardings, family.recompute, family.orders):
        yield Choice(family, *chosen)


class Space:
    """All layouts of a search, numbered family by family."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)
        self.first = (0, *accumulate(family.size for family in self.families))
        """The number of the first layout of each family, and of all layouts together at the end."""

    @property
    def size(self) -> int:
        return self.first[-1]

    def choice(self, number: int) -> Choice:
        """The layout of a number from 0."""
        at = bisect_right(self.first, number) - 1
        family = self.families[at]
        rest, order = divmod(number - self.first[at], len(family.orders))
        rest, recompute = divmod(rest, len(family.recompute))
        pipeline, sharding = divmod(rest, len(family.shardings))
        return Choice(
            family,
            family.pipelines[pipeline],
            family.shardings[sharding],
            family.recompute[recompute],
            family.orders[order],
        )


@dataclass(frozen=True, slots=True)
class SearchJob:
    """What is searched: a machine, the work on it, and the layout whose other settings are kept."""

    cluster: Cluster
    workload: Workload
    layout: Layout

    @property
    def framework(self) -> str:
        return self.layout.framework

    @property
    def demands(self) -> Demands:
        """What every layout of the job has to satisfy."""
        work = self.workload
        framework = "" if self.framework == "custom" else self.framework
        ranks = self.layout.nodes * self.cluster.ranks_per_node
        return Demands(ranks, framework, work.model, work.global_batch, work.sequence_length)


NO_PINS = Pins({})


def families(job: SearchJob, pins: Pins = NO_PINS) -> Iterator[Family]:
    """Every family of legal layouts, smaller degrees first."""
    demands = job.demands
    for tp, cp, pp in _dense(job, demands, pins):
        dp = demands.ranks // (tp * cp * pp)
        if "dp" in pins and pins.values["dp"] != dp:
            continue
        for ep, expert_tp in _expert(job, demands, pins, (tp, cp, pp)):
            pipelines = tuple(_pipelines(job, demands, pins, (tp, cp, pp, ep, expert_tp)))
            if not pipelines:
                continue
            shardings = tuple(_shardings(job, pins, pp, ep, dp * cp))
            orders = tuple(_orders(job, pins, {"tp": tp, "cp": cp, "ep": ep, "dp": dp, "pp": pp}))
            recompute = tuple(str(each) for each in pins.choices("recompute", RECOMPUTE))
            if shardings and orders:
                yield Family(
                    tp, cp, pp, dp, ep, expert_tp, sequence_parallel(job, tp), pipelines, shardings, recompute, orders
                )


def sequence_parallel(job: SearchJob, tp: int) -> bool:
    """Whether a layout of the job with this tp is sequence-parallel: as in the job's own layout, where that has tp."""
    return tp > 1 and (job.layout.sequence_parallel or job.layout.tp == 1)


def divisors(number: int) -> tuple[int, ...]:
    """Every divisor, ascending.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    small = [side for side in range(1, int(number**0.5) + 1) if number % side == 0]
    return tuple(sorted({*small, *(number // side for side in small)}))


def _dense(job: SearchJob, demands: Demands, pins: Pins) -> Iterator[tuple[int, int, int]]:
    model = job.workload.model
    for tp in pins.choices("tp", divisors(demands.ranks)):
        for cp in pins.choices("cp", divisors(demands.ranks)):
            for pp in pins.choices("pp", divisors(demands.ranks)):
                degrees = (int(str(tp)), int(str(cp)), int(str(pp)))
                if degrees[0] <= max(1, model.heads) and degrees[2] <= model.layers and _legal(job, demands, degrees):
                    yield degrees


def _legal(job: SearchJob, demands: Demands, degrees: tuple[int, int, int]) -> bool:
    tp, cp, pp = degrees
    if demands.ranks % (tp * cp * pp) or (
        pp > 1 and job.framework == "torchtitan" and job.workload.model.tied_embeddings
    ):
        return False
    broken = violations(_numbers(job, (tp, cp, pp, 1, tp), 1, 1), demands)
    return not broken - {"global-batch-indivisible", "microbatches-indivisible-by-pp", "ffn-indivisible-by-tp"}


def _numbers(job: SearchJob, degrees: tuple[int, int, int, int, int], micro_batch: int, virtual: int) -> LayoutNumbers:
    tp, cp, pp, ep, expert_tp = degrees
    layout = job.layout
    return LayoutNumbers(
        tp=tp,
        cp=cp,
        ep=ep,
        expert_tp=expert_tp,
        pp=pp,
        virtual_stages=virtual,
        micro_batch=micro_batch,
        interleaved=virtual > 1,
        sequence_parallel=sequence_parallel(job, tp),
        own_stages=False,
        ring=layout.cp_method != "all-to-all",
    )


def _expert(job: SearchJob, demands: Demands, pins: Pins, dense: tuple[int, int, int]) -> Iterator[tuple[int, int]]:
    """Expert degrees; a model without experts has ep 1."""
    tp, cp, pp = dense
    experts = job.workload.model.experts
    if not experts:
        yield 1, tp
        return
    of_stage = demands.ranks // pp
    for ep in pins.choices("ep", divisors(experts)):
        for expert_tp in pins.choices("expert_tp", divisors(tp)):
            degrees = (tp, cp, pp, int(str(ep)), int(str(expert_tp)))
            if of_stage % (degrees[3] * degrees[4]) or (
                degrees[3] == 1 and degrees[4] != tp and "expert_tp" not in pins
            ):
                continue
            broken = violations(_numbers(job, degrees, 1, 1), demands)
            if not broken - {"global-batch-indivisible", "microbatches-indivisible-by-pp"}:
                yield degrees[3], degrees[4]


def _pipelines(
    job: SearchJob, demands: Demands, pins: Pins, degrees: tuple[int, int, int, int, int]
) -> Iterator[Pipeline]:
    """Micro-batches, virtual stages and schedules that are legal together."""
    tp, cp, pp, *_ = degrees
    dp = demands.ranks // (tp * cp * pp)
    batch, layers = job.workload.global_batch, job.workload.model.layers
    micro = divisors(batch // dp) if batch % dp == 0 else ()
    virtual = divisors(layers // pp) if pp > 1 else (1,)
    for size in pins.choices("micro_batch", [each for each in micro if each <= MOST_MICRO_BATCH]):
        for stages in pins.choices("virtual_stages", [each for each in virtual if each <= MOST_VIRTUAL_STAGES]):
            pair = int(str(size)), int(str(stages))
            if not violations(_numbers(job, degrees, *pair), demands):
                yield from (Pipeline(*pair, schedule) for schedule in _schedules(job, pins, pp, pair[1]))


def _schedules(job: SearchJob, pins: Pins, pp: int, virtual: int) -> tuple[str, ...]:
    if virtual > 1:
        return ("interleaved",) if pins.values.get("schedule", "interleaved") == "interleaved" else ()
    if pp == 1:
        return ("1f1b",)
    found = pins.choices("schedule", SCHEDULES.get(job.framework, ("1f1b",)))
    return tuple(str(each) for each in found if each != "interleaved")


def _shardings(job: SearchJob, pins: Pins, pp: int, ep: int, replicas: int) -> Iterator[Sharding]:
    year, framework = job.layout.software_year, job.framework
    for kind in pins.choices("sharding", SHARDINGS.get(framework, ALL)):
        name = str(kind)
        if pp > 1 and forbids_pipeline(framework, year, name):
            continue
        if ep > 1 and forbids_expert_parallel(framework, year, name):
            continue
        if name == "hsdp":
            groups = pins.choices("shard_group", [each for each in divisors(replicas) if 1 < each < replicas])
            yield from (Sharding(name, int(str(group))) for group in groups)
        elif replicas > 1 or name == "none" or len(SHARDINGS.get(framework, ALL)) == 1 or "sharding" in pins:
            yield Sharding(name, 1 if name == "none" else replicas)


def _orders(job: SearchJob, pins: Pins, degrees: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Orders of the axes from the fastest varying. tp is first; axes of degree 1 keep the place of the default order.

    Megatron with experts asks for pp as the last axis.
    """
    if "order" in pins:
        yield tuple(str(axis) for axis in pins.values["order"])  # type: ignore[attr-defined]
        return
    moving = [axis for axis in ORDER if axis != "tp" and degrees[axis] > 1]
    last = job.framework in BUILT_ON_MEGATRON and degrees["ep"] > 1 and degrees["pp"] > 1
    for order in permutations(moving):
        if not last or order[-1] == "pp":
            turn = iter(order)
            yield tuple(next(turn) if axis in moving else axis for axis in ORDER)
