"""Families of legal layouts of a job, and their layouts. `cluster.legality` decides what is legal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

from clusterspec.analysis.searches.studied import NO_PINS, Choice, Family, Pins, Pipeline, SearchJob, Sharding, divisors
from clusterspec.catalog.releases import CHOSEN, undecided_combinations
from clusterspec.cluster.degrees import even_stages
from clusterspec.cluster.demands import Demands, LayoutNumbers, layout_uses, recomputation_uses, sharding_use
from clusterspec.cluster.layout import ORDER
from clusterspec.cluster.legality import (
    CONDITIONS,
    OF_MICRO_BATCHES,
    forbids_expert_parallel,
    forbids_pipeline,
    forbids_uneven_stages,
    refuses_combination,
    violated_conditions,
)
from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.columns import layout_of as with_degrees
from clusterspec.cost.batch.columns import variant_of
from clusterspec.records import replace

# The families of legal layouts of a job. Legality is decided by `cluster.legality`, as for rules; an illegal layout is

ALL = ("none", "zero1", "fsdp", "hsdp")
"""States that data-parallel ranks may shard if the framework's entry does not say."""
RECOMPUTE = ("none", "selective", "full")
MOST_MICRO_BATCH = 64
"""The maximum number of sequences in a micro-batch. Beyond it a step is compute-bound on every known accelerator."""
MOST_VIRTUAL_STAGES = 16
MOST_SHORTER = 3
"""Maximum number of virtual stages with one layer less: those with the embedding, the head and the loss."""


LATER = frozenset({"framework-lacks-feature"})
"""Conditions that `_combined_choices` evaluates later, when all choices are known."""
SCHEDULES = ("1f1b",)
"""Schedules with one stage per rank to search if the framework's entry does not list any. With several virtual stages
the schedule is always `interleaved`.
"""
WRITTEN = {"one-forward-one-backward": "1f1b"}
"""Schedules that catalog entries name differently than specs, because keys of entries begin with a letter."""


def families(job: SearchJob, pins: Pins = NO_PINS) -> Iterator[Family]:
    """Every family of legal layouts, smaller degrees first."""
    demands = job.demands
    for tp, cp, pp in _dense_degrees(job, demands, pins):
        dp = demands.ranks // (tp * cp * pp)
        if "dp" in pins and pins.values["dp"] != dp:
            continue
        pipelines: tuple[Pipeline, ...] | None = None
        for ep, expert_tp in _expert_degrees(job, demands, pins, (tp, cp, pp)):
            if pipelines is None:  # legal expert degrees have the same ones
                pipelines = tuple(_pipelines(job, demands, pins, (tp, cp, pp, ep, expert_tp)))
            if not pipelines:
                break
            shardings = tuple(_shardings(job, pins, pp, ep, dp * cp))
            orders = tuple(_axis_orders(job, pins, {"tp": tp, "cp": cp, "ep": ep, "dp": dp, "pp": pp}))
            recompute = tuple(str(each) for each in pins.choices("recompute", RECOMPUTE))
            if shardings and orders:
                degrees, parallel = (tp, cp, pp, ep, expert_tp), uses_sequence_parallel(job, tp)
                for chosen in _combined_choices(job, demands, degrees, (pipelines, shardings, recompute)):
                    yield Family(tp, cp, pp, dp, ep, expert_tp, parallel, *chosen, orders)


Product = tuple[tuple[Pipeline, ...], tuple[Sharding, ...], tuple[str, ...]]
"""Pipelines, shardings and recomputations that the framework combines with each other."""


def _combined_choices(
    job: SearchJob, demands: Demands, degrees: tuple[int, int, int, int, int], every: Product
) -> Iterator[Product]:
    """The choices of a family as products of choices that can be combined; a single product if the framework can
    combine all.
    """
    base = layout_uses(_layout_numbers(job, degrees, 1, 1), demands)
    pending = undecided_combinations(demands.refused, base - CHOSEN) if demands.refused else ()
    pipelines, shardings, recompute = every
    choosable = _choosable_uses(every) if pending else frozenset()
    if not any(all(clause & choosable for clause in each.required_use_sets) for each in pending):
        yield every
        return
    narrowed = replace(demands, refused=pending)
    together: dict[tuple[tuple[Pipeline, ...], str], list[Sharding]] = {}
    for (kind, of_kind), modules in product(_shardings_by_kind(shardings).items(), recompute):
        legal = _legal_pipelines(job, narrowed, degrees, pipelines, (kind, modules))
        together.setdefault((legal, modules), []).extend(of_kind)
    for (legal, names), kinds in _joined_recomputations(together):
        if legal:
            yield legal, kinds, names


def _choosable_uses(every: Product) -> frozenset[str]:
    """The features that the choices of a family may use in addition to those that its degrees imply."""
    pipelines, shardings, recompute = every
    found = {"virtual-stages", "uneven-stages", *(each.schedule for each in pipelines)}
    found |= {sharding_use(each.kind) for each in shardings}
    return frozenset(found.union(*(recomputation_uses(modules) for modules in recompute)))


def _shardings_by_kind(shardings: Sequence[Sharding]) -> Mapping[str, list[Sharding]]:
    """The shardings of each kind, which differ in their groups."""
    found: dict[str, list[Sharding]] = {}
    for each in shardings:
        found.setdefault(each.kind, []).append(each)
    return found


def _legal_pipelines(
    job: SearchJob,
    demands: Demands,
    degrees: tuple[int, int, int, int, int],
    pipelines: Sequence[Pipeline],
    sharding_and_recompute: tuple[str, str],
) -> tuple[Pipeline, ...]:
    """The pipelines that the framework supports together with a sharding and a recomputation, whatever the micro-batch
    size.
    """
    refused: dict[tuple[int, str], bool] = {}
    sharding, recompute = sharding_and_recompute
    for each in pipelines:
        if (each.virtual_stages, each.schedule) not in refused:
            numbers = _layout_numbers(job, degrees, each.micro_batch, each.virtual_stages)
            chosen = replace(numbers, sharding=sharding, schedule=each.schedule, recompute=recompute)
            refused[each.virtual_stages, each.schedule] = refuses_combination(chosen, demands)
    return tuple(each for each in pipelines if not refused[each.virtual_stages, each.schedule])


def _joined_recomputations(
    together: Mapping[tuple[tuple[Pipeline, ...], str], Sequence[Sharding]],
) -> Iterator[tuple[tuple[tuple[Pipeline, ...], tuple[str, ...]], tuple[Sharding, ...]]]:
    """Recomputations, grouped by the pipelines and shardings with which they can be combined."""
    alike: dict[tuple[tuple[Pipeline, ...], tuple[Sharding, ...]], list[str]] = {}
    for (legal, modules), kinds in together.items():
        alike.setdefault((legal, tuple(kinds)), []).append(modules)
    for (legal, found), names in alike.items():
        yield (legal, tuple(names)), found


def uses_sequence_parallel(job: SearchJob, tp: int) -> bool:
    """Whether layouts with this tp use sequence parallelism: as in the job's layout if its tp is above 1, else always.
    False for tp 1.
    """
    return tp > 1 and (job.layout.sequence_parallel or job.layout.tp == 1)


def _dense_degrees(job: SearchJob, demands: Demands, pins: Pins) -> Iterator[tuple[int, int, int]]:
    model, every = job.workload.model, divisors(demands.ranks)
    stages = every if job.searches_pipelines else (1,)
    for tp in pins.choices("tp", every):
        for cp in pins.choices("cp", every):
            for pp in pins.choices("pp", stages):
                degrees = (int(str(tp)), int(str(cp)), int(str(pp)))
                if (
                    degrees[0] <= max(1, model.heads)
                    and _allows_stages(job, degrees[2], 1)
                    and _is_legal(job, demands, degrees)
                ):
                    yield degrees


def data_parallel_degrees(job: SearchJob, pins: Pins) -> frozenset[int]:
    """Every dp that the ranks, heads, layers and sequence permit, whatever the batch."""
    ranks = job.demands.ranks
    return frozenset(ranks // (tp * cp * pp) for tp, cp, pp in _dense_degrees(job, job.demands, pins))


def _is_legal(job: SearchJob, demands: Demands, degrees: tuple[int, int, int]) -> bool:
    tp, cp, pp = degrees
    if demands.ranks % (tp * cp * pp) or (
        pp > 1 and job.workload.model.tied_embeddings and job.layout.capabilities.refuses("pipeline.tied_embeddings")
    ):
        return False
    later = LATER | OF_MICRO_BATCHES | {"ffn-indivisible-by-tp"}
    return not violated_conditions(_layout_numbers(job, (tp, cp, pp, 1, tp), 1, 1), demands, later)


def _layout_numbers(
    job: SearchJob, degrees: tuple[int, int, int, int, int], micro_batch: int, virtual: int
) -> LayoutNumbers:
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
        sequence_parallel=uses_sequence_parallel(job, tp),
        own_stages=has_uneven_stages(job, pp * virtual),
        ring=layout.cp_method != "all-to-all",
    )


def _expert_degrees(
    job: SearchJob, demands: Demands, pins: Pins, dense: tuple[int, int, int]
) -> Iterator[tuple[int, int]]:
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
            if not violated_conditions(_layout_numbers(job, degrees, 1, 1), demands, OF_MICRO_BATCHES):
                yield degrees[3], degrees[4]


def _pipelines(
    job: SearchJob, demands: Demands, pins: Pins, degrees: tuple[int, int, int, int, int]
) -> Iterator[Pipeline]:
    """Micro-batches, virtual stages and schedules that are legal together."""
    tp, cp, pp, *_ = degrees
    dp = demands.ranks // (tp * cp * pp)
    batch = job.workload.global_batch
    micro = divisors(batch // dp) if batch % dp == 0 else ()
    virtual = [each for each in range(1, MOST_VIRTUAL_STAGES + 1) if _has_even_stages(job, pp, each)]
    allowed = [
        (int(str(each)), _legal_schedules(job, pins, pp, int(str(each))))
        for each in pins.choices("virtual_stages", virtual)
        if _allows_stages(job, pp, int(str(each)))
        and not violated_conditions(_layout_numbers(job, degrees, 1, int(str(each))), demands, LATER | OF_MICRO_BATCHES)
    ]
    for size in pins.choices("micro_batch", [each for each in micro if each <= MOST_MICRO_BATCH]):
        for stages, schedules in allowed:
            numbers = _layout_numbers(job, degrees, int(str(size)), stages)
            if schedules and not any(CONDITIONS[name](numbers, demands) for name in OF_MICRO_BATCHES):
                yield from (Pipeline(int(str(size)), stages, schedule) for schedule in schedules)


def has_uneven_stages(job: SearchJob, stages: int) -> bool:
    """Whether stages differ in their number of layers."""
    return job.workload.model.layers % stages != 0


def _shorter_stages(job: SearchJob, stages: int) -> int:
    """Number of stages with one layer less than the rest."""
    return -job.workload.model.layers % stages


def _has_even_stages(job: SearchJob, pp: int, virtual: int) -> bool:
    """Whether the search includes this number of virtual stages: only if few stages are shorter than the others."""
    if pp == 1:
        return virtual == 1
    return virtual == 1 or _shorter_stages(job, pp * virtual) <= MOST_SHORTER


def _allows_stages(job: SearchJob, pp: int, virtual: int) -> bool:
    """Whether the model fills the stages, and the framework runs stages of these lengths."""
    stages = pp * virtual
    if stages > job.workload.model.layers:
        return False
    refused = forbids_uneven_stages(job.layout.capabilities, virtual, _shorter_stages(job, stages))
    return not has_uneven_stages(job, stages) or not refused


def _legal_schedules(job: SearchJob, pins: Pins, pp: int, virtual: int) -> tuple[str, ...]:
    if virtual > 1:
        return ("interleaved",) if pins.values.get("schedule", "interleaved") == "interleaved" else ()
    if pp == 1:
        return ("1f1b",)
    found = pins.choices("schedule", _single_stage_schedules(job) or SCHEDULES)
    return tuple(str(each) for each in found if each != "interleaved")


def _single_stage_schedules(job: SearchJob) -> tuple[str, ...]:
    """The schedules of one stage a rank that the framework is known to have."""
    return tuple(WRITTEN.get(name, name) for name in job.layout.capabilities.members("schedule"))


def _shardings(job: SearchJob, pins: Pins, pp: int, ep: int, replicas: int) -> Iterator[Sharding]:
    held = job.layout.capabilities
    kinds = held.members("sharding") or ALL
    for kind in pins.choices("sharding", kinds):
        name = str(kind)
        if pp > 1 and forbids_pipeline(held, name):
            continue
        if ep > 1 and forbids_expert_parallel(held, name):
            continue
        if name == "hsdp":
            groups = pins.choices("shard_group", [each for each in divisors(replicas) if 1 < each < replicas])
            yield from (Sharding(name, int(str(group))) for group in groups)
        elif replicas > 1 or name == "none" or len(kinds) == 1 or "sharding" in pins:
            yield Sharding(name, 1 if name == "none" else replicas)


def _axis_orders(job: SearchJob, pins: Pins, degrees: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Orders of the axes from the fastest varying. tp is first; axes of degree 1 keep the place of the default order.

    Some frameworks require pp as the last axis with experts.
    """
    if "order" in pins:
        yield tuple(str(axis) for axis in pins.values["order"])  # type: ignore[attr-defined]
        return
    moving = [axis for axis in ORDER if axis != "tp" and degrees[axis] > 1]
    last = degrees["ep"] > 1 and degrees["pp"] > 1
    last = last and job.layout.capabilities.has("requires.pp_last_with_experts")
    for order in permutations(moving):
        if not last or order[-1] == "pp":
            turn = iter(order)
            yield tuple(next(turn) if axis in moving else axis for axis in ORDER)


# Layouts found by search, as resolved layouts and as sections of a spec

Section = dict[str, object]
"""The `layout` section of a spec: keys and plain values."""


def layout_of(job: SearchJob, choice: Choice) -> Layout:
    """The layout of a choice. Settings that the search does not vary are those of the job's layout."""
    family, pipeline = choice.family, choice.pipeline
    variant = variant_of(
        job.layout,
        sequence_parallel=family.sequence_parallel,
        sharding=choice.sharding.kind,
        order=choice.order,
        schedule=pipeline.schedule,
        recompute=choice.recompute,
        recompute_layers=None,
    )
    degrees = {axis: getattr(family, axis) for axis in ("tp", "cp", "ep", "expert_tp", "pp", "dp")}
    degrees |= {"virtual_stages": pipeline.virtual_stages, "micro_batch": pipeline.micro_batch}
    return with_degrees(variant, job.workload, degrees | {"shard_group": choice.sharding.group})


def section_of(job: SearchJob, choice: Choice) -> Section:
    """The `layout` section of a choice: the keys that the search varies, without defaults."""
    family, pipeline = choice.family, choice.pipeline
    section: Section = {"tp": family.tp}
    section |= {axis: getattr(family, axis) for axis in ("cp", "ep", "pp") if getattr(family, axis) > 1}
    if (job.workload.model.experts and family.expert_tp != family.tp) or family.ep > 1:
        section["expert_tp"] = family.expert_tp
    if pipeline.virtual_stages > 1:
        section["virtual_stages"] = pipeline.virtual_stages
    elif family.pp > 1 and pipeline.schedule != "1f1b":
        section["schedule"] = pipeline.schedule
    stages = family.pp * pipeline.virtual_stages
    if has_uneven_stages(job, stages):
        section["stage_layers"] = list(even_stages(job.workload.model.layers, stages))
    section |= {"micro_batch": pipeline.micro_batch, "sharding": choice.sharding.kind}
    if choice.sharding.kind == "hsdp":
        section["shard_group"] = choice.sharding.group
    if choice.recompute != "none":
        section["recompute"] = choice.recompute
    if family.tp > 1 and not family.sequence_parallel:
        section["sequence_parallel"] = False
    moving = [axis for axis in choice.order if axis != "tp" and getattr(family, axis) > 1]
    if moving != [axis for axis in ("cp", "ep", "dp", "pp") if getattr(family, axis) > 1]:
        section["order"] = list(choice.order)
    return section
