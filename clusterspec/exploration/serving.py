"""The best serving plans of a study, each checked by the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

from clusterspec import pipeline
from clusterspec.cluster.model import Design, Engines
from clusterspec.cluster.variation import revalued
from clusterspec.cost.plan import Plan
from clusterspec.cost.serving.targets import missed
from clusterspec.exploration.options import SearchOptions
from clusterspec.exploration.studied import POOLS, Studied, currency_of, errors_of, present_section, whole_section
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.results import Json
from clusterspec.results.estimate_json import serving_json
from clusterspec.results.search import LayoutRow, SearchReport, Section
from clusterspec.search.serving.rated import METRICS, OBJECTIVES, Rated
from clusterspec.search.serving.run import FoundPlans
from clusterspec.search.serving.run import search as run_search
from clusterspec.search.serving.space import ServingJob, serving_job
from clusterspec.search.space import Pins
from clusterspec.source import Path as KeyPath

NOTHING_TO_SEARCH = "a search needs a cluster, and requests (`workload.serving`) that resolve"
CONCURRENCY: KeyPath = ("workload", "serving", "concurrency")
SHOWN_IN_REPORTS = 5
ENGINE_KEYS = ("replicas", "tp", "attention_dp", "ep", "pp")
Progress = Callable[[int, int], None]


def default_objective(design: Design) -> str:
    """The default objective: fewest accelerators where the spec has targets, else most tokens per accelerator."""
    load = design.workload.serving if design.workload else None
    targeted = load is not None and (load.ttft_target is not None or load.tpot_target is not None)
    return "accelerators" if targeted else "tokens_per_accelerator"


def search_serving(study: Study, options: SearchOptions, progress: Progress) -> SearchReport:
    """The best legal plans that meet the targets at the load of a study, each checked by the rules."""
    study = _with_a_layout(study)
    objective = options.objective if options.objective in OBJECTIVES else default_objective(study.design)
    job = serving_job(study.design)
    if job is None or study.document is None:
        nothing = (objective, 0, 0, 0, (), (), None)
        return SearchReport(study.settings.tool, study.input, *nothing, why=NOTHING_TO_SEARCH)
    memory = job.cluster.accelerator.memory
    most = memory.value * (1 - options.min_headroom) if memory else inf
    found = run_search(job, Pins(options.pins), most, objective=objective, top=options.top, progress=progress)
    studied = Studied(study)
    rows, refused = _checked(studied, job, found.best, options.top)
    if objective == "cost":
        rows = sorted(rows, key=lambda row: inf if row.cost is None else row.cost)
    front, _ = _checked(studied, job, found.front, len(found.front))
    return SearchReport(
        study.settings.tool,
        study.input,
        objective,
        found.evaluated,
        found.meeting,
        refused,
        tuple(rows),
        tuple(front),
        present(studied) if study.plan.serving else None,
        smallest=_of_plan(studied, job, found.nearest) if found.nearest else None,
        why="" if rows else _why(found),
        currency=currency_of(study),
    )


def present(studied: Studied) -> LayoutRow:
    """The row of the plan of the spec."""
    job = serving_job(studied.one.design)
    pools = _pools_of(job) if job is not None else None
    return _row(studied, studied.one, present_section(studied.one), pools=pools)


def plans(study: Study) -> SearchReport:
    """The plans that a report shows: the best few that meet the targets, and the front."""
    return search_serving(study, SearchOptions({}, top=SHOWN_IN_REPORTS), lambda done, total: None)


def _with_a_layout(study: Study) -> Study:
    """The study, with an empty layout where the spec has none."""
    if study.document is None or study.design.layout is not None:
        return study
    return pipeline.rewritten(study, {("layout",): {}})


def _why(plans: FoundPlans) -> str:
    if not plans.evaluated:
        return "no legal engine fits in memory on the nodes of the layout with the keys that are fixed"
    return "a rule finds an error in every plan kept" if plans.meeting else "no plan meets the targets at the load"


def _checked(studied: Studied, job: ServingJob, kept: Iterable[Rated], top: int) -> tuple[list[LayoutRow], int]:
    """The first rows in which no rule finds an error, and the number of rejected rows before them."""
    rows: list[LayoutRow] = []
    refused = 0
    for each in kept:
        if len(rows) == top:
            break
        row = _of_plan(studied, job, each, strict=True)
        refused += row is None
        rows += [row] if row else []
    return rows, refused


def _of_plan(studied: Studied, job: ServingJob, rated: Rated, *, strict: bool = False) -> LayoutRow | None:
    """A row for a plan in place of the spec's, estimated and checked; with ``strict``, None where a rule finds an
    error.
    """
    section, pools = section_of(job, rated)
    changes = written(studied, job, rated)
    if rated.concurrency is not None:
        changes |= _only_concurrency(rated.concurrency)
    varied = pipeline.rewritten(studied.one, changes)
    if strict and errors_of(varied) - studied.machine_errors - _of_targets(rated):
        return None
    return _row(studied, varied, section, pools=pools)


def written(studied: Studied, job: ServingJob, rated: Rated) -> dict[KeyPath, object]:
    """The keys of a spec that hold the engines of a plan."""
    section, pools = section_of(job, rated)
    return {("layout",): whole_section(studied.one, section), POOLS: pools}


def best_by(design: Design, metric: str) -> tuple[ServingJob, Rated] | None:
    """The plan of a design that meets a condition on a metric most easily, if the cache holds its requests.

    The targets of the spec do not count, except for ``targets``. None where no plan fits or keeps up with the load.
    """
    job = serving_job(design)
    if job is None:
        return None
    if metric != "targets":
        job = replace(job, load=replace(job.load, ttft_target=None, tpot_target=None))
    memory = job.cluster.accelerator.memory
    objective = metric if metric in METRICS else "accelerators"
    found = run_search(job, Pins({}), memory.value if memory else inf, objective=objective, top=1, with_front=False)
    best = found.best[0] if found.best else found.nearest
    return (job, best) if best is not None else None


def _of_targets(rated: Rated) -> frozenset[str]:
    """The rules about latency targets, which plans of the front may violate."""
    return (
        frozenset() if rated.concurrency is None else frozenset({"tpot-target-unreachable", "ttft-target-unreachable"})
    )


def _only_concurrency(requests: int) -> dict[KeyPath, object]:
    """A closed load with a given number of requests in flight."""
    other: dict[KeyPath, object] = {("workload", "serving", key): None for key in ("request_rate", "load", "requests")}
    return {CONCURRENCY: requests} | other


def section_of(job: ServingJob, rated: Rated) -> tuple[Section, Json | None]:
    """The `layout` section of a plan, and its separate engines if any; defaults are omitted."""
    prefill, decode = rated.plan
    if prefill is not None:
        return {}, {"prefill": _engine(prefill), "decode": _engine(decode)}
    section = {key: getattr(decode, key) for key in ENGINE_KEYS[1:] if key == "tp" or getattr(decode, key) > 1}
    ranks, each = decode.replicas * decode.ranks, job.cluster.ranks_per_node
    nodes = -(-ranks // each)
    section |= {"dp": decode.replicas} if ranks != nodes * each else {}
    return section | ({"nodes": nodes} if nodes != job.cluster.nodes else {}), None


def _pools_of(job: ServingJob) -> Json | None:
    """The separate engines of the design; None if it has none."""
    prefill, decode = job.load.prefill, job.load.decode
    return {"prefill": _engine(prefill), "decode": _engine(decode)} if prefill and decode else None


def _engine(engine: Engines) -> Json:
    return {key: getattr(engine, key) for key in ENGINE_KEYS if key in {"replicas", "tp"} or getattr(engine, key) > 1}


def _row(studied: Studied, study: Study, section: Section, *, pools: Json | None = None) -> LayoutRow:
    """A row of a study whose layout is ``section``."""
    design, times = study.design, study.plan.serving
    assert times is not None and design.workload is not None and design.workload.serving is not None
    more = {
        "accelerators": times.accelerators,
        "replicas": design.layout.dp if design.layout else None,
        "idle": _idle(design),
        "tokens_per_second_per_user": 1 / times.tpot,
        "concurrency": times.offered,
        "meets_targets": not missed(times, design.workload.serving),
        "disaggregated": pools,
    }
    return LayoutRow(
        layout=whole_section(studied.one, section),
        step_time=None,
        low=None,
        high=None,
        mfu=None,
        memory=study.plan.memory_bytes,
        fits=study.plan.fits,
        cost=_cost(studied, design, study.plan),
        serving=(serving_json(times, design.workload.serving) or {}) | more,
    )


def _idle(design: Design) -> int:
    """Accelerators without an engine on the nodes that a plan uses."""
    cluster, layout = design.cluster, design.layout
    if cluster is None or layout is None:
        return 0
    nodes = -(-layout.ranks // cluster.ranks_per_node)
    return (nodes * cluster.ranks_per_node - layout.ranks) // cluster.ranks_per_accelerator


def _cost(studied: Studied, design: Design, plan: Plan) -> float | None:
    """The cost of a million output tokens if only the nodes of the plan are bought; None without prices."""
    if design.cluster is None or design.layout is None:
        return None
    bought = revalued(design, {("cluster", "nodes"): min(design.cluster.nodes, design.layout.nodes)})
    return studied.cost(bought, replace(plan, design=bought))
