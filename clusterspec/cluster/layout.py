"""Resolves the software generation of a layout, and the layout: degrees, rank order, schedule, recomputation."""

from __future__ import annotations

from math import gcd

from clusterspec.catalog import Catalog
from clusterspec.catalog.frameworks import (
    OWN,
    UNNAMED,
    Capabilities,
    capabilities,
    framework_of,
)
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.degrees import (
    Degrees,
    job_nodes,
    nodes_per_domain,
    resolve_degrees,
    resolve_dispatcher,
    resolve_overlap,
    resolve_stages,
)
from clusterspec.cluster.legality import is_divisible_sequence
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.resolution import Lookup, ResolutionLog
from clusterspec.records import dataclass, replace
from clusterspec.source import Path
from clusterspec.spec.model import LayoutSpec, OffloadSpec, OptimizerStatesSpec, OverlapSpec, Spec
from clusterspec.standard import recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOFTWARE_KEY = "layout"
SOFTWARE_PATH: Path = ("layout", "software")
NEWEST_SOFTWARE = 2026
"""The newest year of software for which the cost model has figures."""


@dataclass(frozen=True)
class Software:
    """A framework, its year and release, its generation in the catalog (None: unknown), and its supported features."""

    framework: str
    year: int
    release: str | None
    stack: Stack | None
    capabilities: Capabilities


def resolve_software(section: LayoutSpec, lookup: Lookup, *, serves: bool = False) -> Software:
    """The software of a layout. ``serves`` is true for serving.

    A stated release takes precedence over a year. An unknown release is replaced by the nearest known release, as an
    assumption. A framework without stacks uses those of `OWN`; without a named framework, `UNNAMED` gives the stacks.
    """
    stated = LayoutSpec(framework=section.framework, software=section.software, software_year=section.software_year)
    software, log = _logged_software(stated, serves, lookup.catalog)
    lookup.log.assumptions += log.assumptions
    lookup.log.problems += log.problems
    return software


@recent(8)
def _logged_software(section: LayoutSpec, serves: bool, catalog: Catalog) -> tuple[Software, ResolutionLog]:
    """The software of a layout, with the log of assumptions and problems. It is cached, since most variations of a
    design keep the software.
    """
    lookup = Lookup(catalog, ResolutionLog(Spec("")))
    return _named_software(section, lookup, serves=serves), lookup.log


def _named_software(section: LayoutSpec, lookup: Lookup, *, serves: bool) -> Software:
    """The software of the keys that name it."""
    written = release = None
    if section.software is not None:
        from clusterspec.cluster.stated_software import named_release  # most specs state none

        written, release = named_release(section, section.software, lookup)
    named = _known_framework(section, lookup) or written
    name, framework = named or OWN, framework_of(named or UNNAMED, lookup.catalog)
    described = (framework.stacks if named else None) or name
    known = name != OWN and (serves or framework.trains)
    generations = _generation_ids(described, lookup) if known else {}
    found = None
    if release is not None:
        from clusterspec.cluster.stated_software import generation_of_release

        found = generation_of_release(framework, release, generations, lookup)
    if found is None:
        why = "the newest known" if release is None else f"the catalog has no release of {name}: the newest year"
        year = lookup.log.written_or_assumed(
            section.software_year, f"{SOFTWARE_KEY}.software_year", NEWEST_SOFTWARE, why
        )
        unknown = serves and not generations
        found = year, None, None if unknown else stack_of_year(named, year, generations, lookup)
    held = capabilities(framework, release, found[0], named=named is not None)
    return _with_full_sharding_memory(Software(name, *found, held), lookup)


def _with_full_sharding_memory(software: Software, lookup: Lookup) -> Software:
    """The software with the memory figures of its full-sharding implementation, if its catalog entry names one."""
    name = software.stack.full_sharding if software.stack is not None else None
    other = lookup.named_entry("stack", name) if name is not None else None
    if software.stack is None or not isinstance(other, Stack):
        return software
    memory = replace(other.memory, gradients=software.stack.memory.gradients)
    return replace(software, stack=replace(software.stack, fully_sharded=memory))


def _known_framework(section: LayoutSpec, lookup: Lookup) -> str | None:
    """The framework of the key of this name, also by another name; a problem where the catalog has no such id."""
    known = lookup.catalog.ids("framework")
    if section.framework is None or section.framework in known:
        return section.framework
    from clusterspec.cluster.unknown_names import framework_named, unknown_framework_problem  # most specs have none

    lookup.log.problems.append(unknown_framework_problem(section.framework, lookup))
    return framework_named(section.framework, lookup)  # the rest is checked with the only framework of this name


def _generation_ids(framework: str, lookup: Lookup) -> dict[int, str]:
    """First years and ids of a framework's generations."""
    found = {}
    for name in lookup.catalog.ids("stack"):
        family, _, year = name.rpartition("-")
        if family == framework and year.isdigit():
            found[int(year)] = name
    return found


def stack_of_year(framework: str | None, year: int, generations: dict[int, str], lookup: Lookup) -> Stack | None:
    """The newest generation not after the year, else the first. Reads one file."""
    stands_in = OWN if framework else framework_of(UNNAMED, lookup.catalog).stacks or ""
    known = generations or _generation_ids(stands_in, lookup)
    if not known:
        return None
    name = known[max((each for each in known if each <= year), default=min(known))]
    if not generations:
        lookup.log.assume(f"{SOFTWARE_KEY}.stack", name, f"the catalog has no generation of {framework or OWN}")
    stack = lookup.named_entry("stack", name)
    return stack if isinstance(stack, Stack) else None


# Resolves the parallel layout: degrees, order of ranks, stages, schedule, and software behavior

LAYOUT_KEY = "layout"
ONCE_PER_STEP = (
    "as stages of PyTorch and Llama 3 (arXiv 2407.21783, 3.3); the high end of memory includes whole gradients"
)
ORDER = ("tp", "cp", "ep", "dp", "pp")


def resolve_layout(
    section: LayoutSpec, cluster: Cluster, workload: Workload | None, software: Software, log: ResolutionLog
) -> Layout:
    """The resolved layout. Invalid values, which rules report, are replaced so that everything else can be checked: dp
    by the largest that fits (at least 1), an incomplete order by a complete one, a shard group by its gcd with dp × cp.
    """
    nodes = job_nodes(section, cluster)
    degrees = resolve_degrees(section, software.capabilities, nodes * cluster.ranks_per_node, workload, log)
    cp_method = _cp_method(section, degrees, log)
    sharding, serves = _resolved_sharding(section, software, workload, log), _is_serving(workload)
    micro_batch = log.training_value(section.micro_batch, f"{LAYOUT_KEY}.micro_batch", 1, "the smallest", serves)
    states = _state_settings(section, serves, log)
    layout = Layout(
        framework=software.framework,
        software_year=software.year,
        ranks=_job_ranks(degrees, workload),
        nodes=nodes,
        tp=degrees.tp,
        attention_dp=degrees.attention_dp,
        cp=degrees.cp,
        ep=degrees.ep,
        expert_tp=degrees.expert_tp,
        redundant_experts=degrees.redundant_experts,
        pp=degrees.pp,
        dp=degrees.dp,
        expert_dp=degrees.expert_dp,
        sequence_parallel=_is_sequence_parallel(
            section, degrees, workload, log, capabilities=software.capabilities, ring=cp_method != "all-to-all"
        ),
        cp_method=cp_method,
        sharding=sharding,
        shard_group=_shard_group_size(section, sharding, degrees, cluster, log),
        order=_rank_order(section, log),
        schedule=_resolved_schedule(section, degrees, serves, log),
        virtual_stages=degrees.virtual_stages,
        stage_layers=resolve_stages(section, degrees, workload, log),
        micro_batch=micro_batch,
        micro_batches=_micro_batches(workload, degrees.dp, micro_batch),
        recompute=_resolved_recomputation(section, serves, log),
        **states,
        overlap=resolve_overlap(section, degrees, software.stack, log, sharding),
        dispatcher=resolve_dispatcher(section, degrees, cluster, workload, stack=software.stack, log=log),
    )
    written = _with_stated_settings(layout, section, software, cluster, workload)
    stack = written.stack
    if section.gradient_sync is None and written.pp > 1 and stack is not None and stack.may_keep_gradients(sharding):
        log.assume(f"{LAYOUT_KEY}.gradient_sync", "step", ONCE_PER_STEP)
    return written


def _with_stated_settings(
    layout: Layout, section: LayoutSpec, software: Software, cluster: Cluster, workload: Workload | None
) -> Layout:
    """The layout with the release of its software, and with only those settings that the spec states."""
    return replace(
        layout,
        software=software.release,
        stack=_stack_as_run(section, software.stack, compiled=cluster.accelerator.compiled),
        capabilities=software.capabilities,
        stated=_stated_settings(section),
        separate_engines=_has_separate_engines(workload),
        gradient_sync=section.gradient_sync or layout.gradient_sync,
        recompute_layers=section.recompute_layers,
        nodes_per_domain=nodes_per_domain(section, cluster),
    )


def _stated_settings(section: LayoutSpec) -> frozenset[str]:
    """The keys, such as `overlap.ep`, that the spec states although they have a default that depends on the rest of the
    layout.
    """
    stated = {key for key in ("cp_method", "dispatcher") if getattr(section, key) is not None}
    overlap = section.overlap or OverlapSpec()
    return frozenset(stated | {f"overlap.{axis}" for axis in ("ep", "dp", "pp") if getattr(overlap, axis) is not None})


def _stack_as_run(section: LayoutSpec, stack: Stack | None, *, compiled: bool) -> Stack | None:
    """The software with the kernel options that the layout states, such as fusion and captured graphs.

    Software whose entry does not say how its kernels are made runs as a graph on an accelerator of ``compiled``
    programs, unless the layout states otherwise.
    """
    if stack is None:
        return None
    graph = True if compiled and stack.memory.may_be_plain else None
    captured = section.captured_graphs if section.captured_graphs is not None else graph
    return replace(
        _software_of_pipelines(section, stack),
        fused=section.fused_kernels if section.fused_kernels is not None else graph,
        fused_update=section.fused_optimizer is not False,
        captured=captured or False,
        loss=section.loss,
        fused_experts=section.fused_experts or False,
    )


def _software_of_pipelines(section: LayoutSpec, stack: Stack) -> Stack:
    """The software with its handling of pipeline gradients. Unless `gradient_sync` is `micro-batch`, pipelines may keep
    whole gradients and reduce them once per step, if the entry allows it or if the spec names no framework.
    """
    unnamed = section.framework is None and section.software is None
    if not (unnamed or stack.memory.may_keep_in_pipelines):
        return stack
    return stack.with_pipelines(may_keep=section.gradient_sync != "micro-batch")


def _state_settings(section: LayoutSpec, serves: bool, log: ResolutionLog) -> dict[str, Any]:
    """How the states of the optimizer, gradients and activations are kept: precisions, compression and offloading."""
    offload = section.offload or OffloadSpec()
    written, key = section.optimizer_states or OptimizerStatesSpec(), f"{LAYOUT_KEY}.optimizer_states"
    master = log.training_value(written.master, f"{key}.master", "fp32", "usual", serves)
    return {
        "master_precision": master,
        "moments_precision": log.training_value(written.moments, f"{key}.moments", "fp32", "usual", serves),
        "offload_optimizer": offload.optimizer or 0.0,
        "offload_activations": offload.activations or 0.0,
        "gradient_compression": float(section.gradient_compression or 1.0),
    }


def _has_separate_engines(workload: Workload | None) -> bool:
    return workload is not None and workload.serving is not None and workload.serving.decode is not None


def _job_ranks(degrees: Degrees, workload: Workload | None) -> int:
    """Ranks of the job on its machine; with separate engines, the ranks of prefill and decode."""
    prefill = workload.serving.prefill if workload is not None and workload.serving is not None else None
    same_pool = prefill is not None and prefill.pool is None
    return degrees.ranks + (prefill.replicas * prefill.ranks if prefill is not None and same_pool else 0)


def _is_serving(workload: Workload | None) -> bool:
    return workload is not None and workload.kind == "serve"


def _resolved_sharding(section: LayoutSpec, software: Software, workload: Workload | None, log: ResolutionLog) -> str:
    """The sharding of model states; none in serving, where replicas are independent."""
    if _is_serving(workload):
        return section.sharding or "none"
    if software.capabilities.has("defaults.full_sharding"):
        return log.written_or_assumed(
            section.sharding, f"{LAYOUT_KEY}.sharding", "fsdp", f"what {software.framework} does"
        )
    return log.written_or_assumed(
        section.sharding, f"{LAYOUT_KEY}.sharding", "zero1", "the distributed optimizer is usual"
    )


def _is_sequence_parallel(
    section: LayoutSpec,
    degrees: Degrees,
    workload: Workload | None,
    log: ResolutionLog,
    *,
    capabilities: Capabilities,
    ring: bool,
) -> bool:
    """Whether ranks of tp share the sequence outside the products; assumed where the framework can divide it so."""
    if degrees.tp == 1:
        return bool(section.sequence_parallel)
    length = workload.sequence_length if workload is not None and workload.kind == "train" else 0
    divides = is_divisible_sequence(length, degrees.tp, degrees.cp, capabilities, ring=ring)
    why = "usual with tp" if divides else f"{length:,} tokens do not divide as tp and cp require"
    return log.written_or_assumed(section.sequence_parallel, f"{LAYOUT_KEY}.sequence_parallel", divides, why)


def _cp_method(section: LayoutSpec, degrees: Degrees, log: ResolutionLog) -> str:
    if degrees.cp == 1:
        return section.cp_method or "ring"
    return log.written_or_assumed(section.cp_method, f"{LAYOUT_KEY}.cp_method", "ring", "usual")


def _shard_group_size(
    section: LayoutSpec, sharding: str, degrees: Degrees, cluster: Cluster, log: ResolutionLog
) -> int:
    """Number of ranks that share sharded states: the ranks of one hsdp group, else dp × cp; 1 without sharding."""
    replicas = degrees.dp * degrees.cp
    if sharding != "hsdp":
        return 1 if sharding == "none" else replicas
    if section.shard_group is not None:
        return gcd(section.shard_group, replicas)
    group = gcd(max(1, cluster.ranks_per_domain // degrees.tp), replicas)
    return log.assume(f"{LAYOUT_KEY}.shard_group", group, "the ranks of one domain over tp")


def _rank_order(section: LayoutSpec, log: ResolutionLog) -> tuple[str, ...]:
    if section.order is None:
        return log.assume(f"{LAYOUT_KEY}.order", ORDER, "usual")
    halves = {"dp_shard", "dp_replicate"} & set(section.order)
    known = set(ORDER) - {"dp"} | halves if len(halves) == 2 else set(ORDER)
    axes = ("dp" if axis in halves and len(halves) == 1 else axis for axis in section.order)
    kept = tuple(dict.fromkeys(axis for axis in axes if axis in known))
    missing = tuple(axis for axis in ORDER if axis in known and axis not in kept)  # of one rank each, else an error
    last = kept[-1:] if kept[-1:] == ("pp",) else ()  # Megatron-LM asks whether the order as written ends in pp
    return kept[: len(kept) - len(last)] + missing + last


def _resolved_schedule(section: LayoutSpec, degrees: Degrees, serves: bool, log: ResolutionLog) -> str:
    interleaved = degrees.virtual_stages > 1
    default = "interleaved" if interleaved else "1f1b"
    if degrees.pp == 1:
        return section.schedule or default
    why = "a rank has several virtual stages" if interleaved else "usual"
    return log.training_value(section.schedule, f"{LAYOUT_KEY}.schedule", default, why, serves)


def _micro_batches(workload: Workload | None, dp: int, micro_batch: int) -> int | None:
    if workload is None or workload.kind != "train":
        return None
    return max(1, workload.global_batch // (dp * micro_batch))


def _resolved_recomputation(section: LayoutSpec, serves: bool, log: ResolutionLog) -> str | tuple[str, ...]:
    if section.recompute is None and serves:
        return "none"
    if section.recompute is None:
        return log.assume(f"{LAYOUT_KEY}.recompute", "none", "activations are stored unless recomputation is stated")
    return section.recompute
