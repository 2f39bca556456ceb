"""The report of a study: its estimate, bill and cost with the tables of its kind, alone or compared with others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from clusterspec import document as documents
from clusterspec.analysis.acceptance_tests import planned_tests
from clusterspec.analysis.losses import single_change_gains, utilization_losses
from clusterspec.analysis.outputs import bill, cost, estimate, influences
from clusterspec.analysis.purchase.choices import choices
from clusterspec.analysis.purchase.gates import purchase_decision
from clusterspec.cluster.demands import demands_of
from clusterspec.cluster.legality import cut_heads, layout_error_rules
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.nearby_layouts import neighbor_degrees
from clusterspec.cluster.variation import design_with_keys, layout_changes
from clusterspec.cost.compute import Kernel
from clusterspec.cost.estimate import estimate as neighbor_plan
from clusterspec.cost.formulas.failures import best_interval, goodput
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.cost.layers import stage_groups
from clusterspec.cost.memory import Job, Rank
from clusterspec.cost.memory import fullest as memory
from clusterspec.cost.memory.explain import explained_memory
from clusterspec.cost.plan import Plan
from clusterspec.cost.storage import checkpoint_size
from clusterspec.procurement.cost import costs_by_use
from clusterspec.records import replace
from clusterspec.results.decision import DiffReport
from clusterspec.results.estimate_json import Provenance
from clusterspec.results.full import FullReport
from clusterspec.results.machine import KernelPoint, LayoutCell, LayoutGrid, Reliability, Roofline, StageMemory
from clusterspec.results.redaction import redact
from clusterspec.results.verdict import Purchase
from clusterspec.rules.advice.what_if import FULLEST, fits_with_reserve
from clusterspec.studies import Study, study_text

TENDER = "tender.yaml"
"""The name of a redacted spec, whatever file it was made from."""


def redacted_study(study: Study) -> Study:
    """The study of the redacted spec, from which no confidential value of a tender can be computed."""
    value = redact(study.document.value if study.document else None, study.spec.broken)
    return study_text(documents.dump(value), study.settings, TENDER, study.folder)


def report(
    study: Study,
    kind: str,
    audience: str | None = None,
    against: Sequence[Study] = (),
    *,
    live: bool = True,
) -> FullReport:
    """A report of a design, compared with others.

    ``audience`` defaults to the spec's audience, else to internal. Without ``live`` the report lacks the tables that
    only interactive figures use.
    """
    written = study.design.spec.document.audience if study.design.spec.document else None
    readers = audience or written or "internal"
    shown = redacted_study(study) if readers == "tender" else study
    others = [redacted_study(other) if readers == "tender" else other for other in against]
    whole = replace(
        _report_of_design(shown, kind, readers, live=live),
        against=tuple(
            replace(comparison_report(other, kind, readers), difference=difference(shown, other)) for other in others
        ),
    )
    if readers != "tender":
        whole = replace(whole, choices=study.part("choices", lambda: choices(study, whole), None))
    if shown is not study:
        study.failures.extend(shown.failures)
    return whole


def difference(study: Study, other: Study) -> DiffReport | None:
    """The differences of a compared design from the first one; None if either cannot be estimated."""
    from clusterspec.analysis.comparison import diff

    return other.part("difference", lambda: diff(study, other), None)


def _without_folders(study: Study) -> Provenance:
    """The provenance without folder names of the author's machine."""
    return Provenance(study.document, study.settings.catalog, folders=False)


def comparison_report(study: Study, kind: str, audience: str) -> FullReport:
    """The parts of a report that need no other design: its estimate, bill, cost, machine and goodput."""
    from clusterspec.analysis.areas import verdict_areas
    from clusterspec.analysis.machine import machine
    from clusterspec.analysis.verdict import verdict
    from clusterspec.results.full import FullReport

    cluster, counted = study.design.cluster, bill(study)
    power = study.design.spec.cluster.power if study.design.spec.cluster else None
    found = replace(estimate(study), provenance=_without_folders(study))
    peak = found.drawn.peak.value if found.drawn and found.drawn.peak else None
    drawn = study.part("machine", lambda: machine(cluster, counted.fabric, power, peak) if cluster else None, None)
    # readers of a paper do not know the rules by name
    found = replace(found, verdict=verdict(study.plan, found.findings, found.waived, words=True))
    return FullReport(
        kind=kind,
        audience=audience,
        today=study.settings.today,
        text=study.source.text,
        estimate=found,
        bill=counted,
        cost=cost(study),
        areas=study.part("areas", lambda: verdict_areas(study.plan, counted.bill, drawn.rack if drawn else None), ())
        if cluster
        else (),
        machine=drawn,
        reliability=study.part("reliability", lambda: reliability(study.plan), None),
    )


def purchase_report(study: Study) -> FullReport:
    """The part of a procurement report that a pool of a fleet needs: bill, cost, gates and acceptance tests."""
    compared = comparison_report(study, "procurement", "internal")
    return replace(
        compared,
        purchase=_purchase_of_report(study, compared),
        tests=study.part("acceptance tests", lambda: planned_tests(study), ()),
    )


def _purchase_of_report(study: Study, compared: FullReport) -> Purchase | None:
    return study.part("purchase", lambda: purchase_decision(compared, study.remarks), None)


def _report_of_design(study: Study, kind: str, audience: str, *, live: bool) -> FullReport:
    """The report of one design, part by part."""
    from clusterspec.analysis.facility import facility
    from clusterspec.analysis.failures.parts import faults
    from clusterspec.analysis.tiers import tiers

    cluster = study.design.cluster
    compared = comparison_report(study, kind, audience)
    fabric = compared.bill.bill.fabric
    whole = replace(
        compared,
        purchase=_purchase_of_report(study, compared) if audience != "tender" else None,
        tiers=study.part("tiers", lambda: tiers(cluster, _without_folders(study), fabric) if cluster else (), ()),
        tests=study.part("acceptance tests", lambda: planned_tests(study), ()),
        facility=study.part(
            "facility", lambda: facility(study.design, compared.bill.bill, compared.estimate.drawn), None
        ),
        influences=influences(study),
        uses=study.part("cost by use", lambda: costs_by_use(study.design, study.plan, compared.bill.bill), ())
        if audience != "tender"
        else (),
        faults=study.part("failures", lambda: faults(study), None) if cluster and audience != "tender" else None,
    )
    if kind != "design" or cluster is None:
        return whole
    return _with_parts_for_engineers(study, cluster, whole, audience, live=live)


def _with_parts_for_engineers(
    study: Study, cluster: Cluster, whole: FullReport, audience: str, *, live: bool
) -> FullReport:
    """The report with the additional parts of a design report, which a procurement report omits."""
    from clusterspec.analysis.groups import framework_launch, rank_groups, sized_collectives
    from clusterspec.analysis.levers.effects import sensitivity
    from clusterspec.analysis.levers.survival import survival
    from clusterspec.analysis.networks import network_choices
    from clusterspec.analysis.paths import pod_topology
    from clusterspec.analysis.schedule import schedule
    from clusterspec.analysis.searches.fitting import longest_sequence
    from clusterspec.analysis.searches.serving import other_plans

    power = study.design.spec.cluster.power if study.design.spec.cluster else None
    fabric, known = whole.bill.bill.fabric, _without_folders(study)
    moved = study.part("sensitivity", lambda: sensitivity(study), None)
    grid = study.part("layouts", lambda: layout_grid(study.plan), None)
    return replace(
        whole,
        sensitivity=moved,
        losses=study.part("losses", lambda: utilization_losses(study.plan), ()),
        gains=study.part("gains", lambda: single_change_gains(study.plan, moved, grid), ()),
        plans=study.part("other plans", lambda: other_plans(study), None) if study.plan.serving else None,
        stages=study.part("stage memory", lambda: stage_memory(study.plan), ()),
        longest=study.part("longest sequence", lambda: longest_sequence(study.plan), None),
        roofline=study.part("roofline", lambda: roofline(study.plan), None),
        schedule=study.part("schedule", lambda: schedule(study.plan), None),
        layouts=grid,
        groups=study.part("groups of ranks", lambda: rank_groups(study.plan), ()),
        collectives=study.part("collectives by size", lambda: sized_collectives(study, whole.tests), ()),
        launch=study.part("launch", lambda: framework_launch(study.design), None) if audience != "tender" else None,
        networks=study.part(
            "networks", lambda: network_choices(study.design, study.settings.catalog, fabric, known), ()
        ),
        pod=study.part("pod", lambda: pod_topology(cluster, power, fabric), None),
        survival=study.part("survival", lambda: survival(study.design, live=live), None),
    )


# A training layout in a report: kernels on the roofline, memory of stages, neighboring layouts, and goodput


def roofline(plan: Plan) -> Roofline | None:
    """The kernels with FLOPs, from the record of the step time."""
    cluster, work, record = plan.design.cluster, plan.design.workload, plan.step
    if cluster is None or work is None or record is None or work.peak is None:
        return None
    memory = cluster.accelerator.memory_bandwidth
    if memory is None:
        return None
    pairs = [
        (kernel, seconds, count)
        for part, count in record.parts
        for _, phase in part.phases
        for kernel, seconds in phase.kernels
    ]
    ranks = cluster.ranks_per_accelerator
    return Roofline(work.peak.value / ranks, memory.value / ranks, tuple(_kernel_points(pairs)))


def _kernel_points(pairs: list[tuple[Kernel, float, int]]) -> list[KernelPoint]:
    """The kernels with FLOPs, summed by name."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for kernel, seconds, count in pairs:
        if kernel.flops > 0 and kernel.traffic > 0:
            row = sums[kernel.name.partition(":")[0]]
            for number, value in enumerate((kernel.flops, kernel.traffic, seconds)):
                row[number] += count * float(value)
    return [
        KernelPoint(name, flops, traffic, spent, flops / traffic, flops / spent)
        for name, (flops, traffic, spent) in sums.items()
        if spent > 0
    ]


def layout_grid(present: Plan) -> LayoutGrid | None:
    """The grid of degrees around the present layout; None if there is no training layout."""
    design = present.design
    cluster, work, layout = design.cluster, design.workload, design.layout
    if cluster is None or work is None or layout is None or work.kind != "train" or design.spec.layout is None:
        return None
    tps, pps = neighbor_degrees(cluster, work, layout)
    cells = tuple(_layout_cell(present, tp, pp) for tp in tps for pp in pps)
    memory = cluster.accelerator.memory
    return LayoutGrid(tps, pps, cells, memory.value if memory else None, 1 - FULLEST)


def _layout_cell(present: Plan, tp: int, pp: int) -> LayoutCell:
    design, layout = present.design, present.design.layout
    assert layout is not None
    here = (tp, pp) == (layout.tp, layout.pp)
    other = design if here else design_with_keys(design, layout_changes({"tp": tp, "pp": pp}))
    refused = sorted(layout_error_rules(other))
    if refused or other.layout is None:
        return LayoutCell(tp, pp, None, None, None, _illegal_reason(other, refused), here, tuple(refused))
    plan = present if here else neighbor_plan(other, present.tables)
    return LayoutCell(
        tp, pp, plan.step_seconds, plan.memory_bytes, plan.fits, "", here, fits_with_reserve=fits_with_reserve(plan)
    )


def _illegal_reason(design: Design, rules: Sequence[str]) -> str:
    """The reason why a layout is not legal: the numbers of the most informative condition, else the name of its
    rule.
    """
    if design.cluster is None or design.layout is None or design.workload is None:
        return "the layout does not resolve"
    layout, model, demands = design.layout, design.workload.model, demands_of(design)
    cut = layout.tp * layout.pp * layout.cp
    known = {
        "world-size-mismatch": f"tp × cp × pp = {cut} does not divide {demands.ranks} ranks",
        "heads-indivisible-by-tp": next(
            (f"tp {layout.tp} does not divide {count} {name}" for name, count in cut_heads(model) if count % layout.tp),
            "",
        ),
        "kv-heads-indivisible-by-tp": f"{model.kv_heads} key-value heads do not distribute over tp {layout.tp}",
        "layers-indivisible-by-pp": f"{model.layers} layers do not fill {layout.pp * layout.virtual_stages} stages",
        "global-batch-indivisible": f"dp {layout.dp} does not divide the batch of {design.workload.global_batch}",
    }
    return next((words for name, words in known.items() if name in rules), rules[0])


FACTORS = tuple(2.0 ** (power / 2) for power in range(-8, 9))
"""Multiples of the planned interval at which goodput is tabulated: from a sixteenth to sixteen times."""


def reliability(plan: Plan) -> Reliability | None:
    """The reliability of a training plan; None without a step time."""
    found = plan_interruptions(plan)
    if found is None:
        return None
    between, interval = found.between.value, found.interval.value
    checkpoint, restart = found.checkpoint.value, found.restart.value
    curve = tuple(
        (each, max(0.0, float(goodput(each, between, checkpoint, restart))))
        for each in (interval * factor for factor in FACTORS)
    )
    whole = plan.time_to_train
    return Reliability(
        between=between,
        interval=interval,
        checkpoint=checkpoint,
        restart=restart,
        goodput=found.share,
        low=min(found.low, found.high),
        high=max(found.low, found.high),
        failures_per_day=86_400 / between,
        time_to_train=whole,
        with_interruptions=whole / found.share if whole and found.share > 0 else None,
        curve=curve,
        origins={name: str(figure.origin) for name, figure in found.figures},
        best_interval=best_interval(between, checkpoint) if checkpoint > 0 else None,
        checkpoint_bytes=_checkpoint_bytes(plan),
    )


def _checkpoint_bytes(plan: Plan) -> float | None:
    work = plan.design.workload
    whole = plan.parameters is not None and work is not None and work.trainable is None
    return checkpoint_size(plan.parameters).value if whole and plan.parameters is not None else None


MOST = 16
"""The maximum number of stages in a table. If there are more stages, the report shows the first, the last and evenly
spaced ones.
"""


def stage_memory(plan: Plan) -> tuple[StageMemory, ...]:
    """The stages of a training layout with two or more; empty otherwise."""
    design = plan.design
    cluster, work, layout = design.cluster, design.workload, design.layout
    if cluster is None or work is None or layout is None or work.kind != "train" or layout.pp < 2:
        return ()
    job = Job.of(design, work, layout)
    chunks = {
        stage: group.chunks
        for group in stage_groups(job.model, job.layout)
        for stage in range(group.first, group.first + group.count)
    }
    found = []
    for stage in _listed_stages(len(chunks)):
        rank = Rank.of(job, stage, chunks[stage])
        filled = memory.rank_memory(job, rank, memory.LayerMemory.of(job, rank.kinds))
        use = explained_memory(design, memory.Memory(job, filled, cluster.ranks_per_accelerator, None))
        parts = (use.weights, use.gradients, use.activations, use.optimizer, use.other, use.total)
        found.append(StageMemory(stage + 1, *(part.value for part in parts)))
    return tuple(found)


def _listed_stages(stages: int) -> list[int]:
    """The stages that are listed.

    >>> _listed_stages(3), len(_listed_stages(100)), _listed_stages(100)[-1]
    ([0, 1, 2], 16, 99)
    """
    if stages <= MOST:
        return list(range(stages))
    return [round(number * (stages - 1) / (MOST - 1)) for number in range(MOST)]
