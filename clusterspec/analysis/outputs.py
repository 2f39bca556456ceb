"""The results of a study, one function per command."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.results import BillReport, CollectiveReport, EstimateReport
from clusterspec.studies import Study

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.analysis.fleets.costs import FleetCosts
    from clusterspec.cost.collectives.predict import CollectiveRow
    from clusterspec.cost.power import MachinePower
    from clusterspec.cost.storage import StorageUse
    from clusterspec.results.decision import CostReport
    from clusterspec.results.verdict import Influence


def estimate(study: Study) -> EstimateReport:
    """The estimate of a design: memory, time and communication."""
    from clusterspec.analysis.verdict import validity_condition, verdict
    from clusterspec.cluster.degrees import idle_nodes
    from clusterspec.cluster.sites import job_accelerators
    from clusterspec.cost.estimate import unmeasured_step_time
    from clusterspec.cost.headline import headline_terms
    from clusterspec.results.estimate_json import Provenance

    checked, plan = study.checked, study.plan
    return EstimateReport(
        study.settings.tool,
        study.input,
        plan,
        verdict(plan, checked.findings, checked.waived),
        validity_condition(plan),
        job_accelerators(plan.design),
        study.fleet_part[1].idle if study.fleet_part else idle_nodes(plan.design),
        tuple(headline_terms(plan)),
        unmeasured_step_time(plan),
        checked.findings,
        study.sources,
        checked.waived,
        study.settings.today,
        Provenance(study.document, study.settings.catalog),
        study.part("power", lambda: _power_as_drawn(study), None),
        study.part("storage", lambda: _storage_used(study), None),
    )


def _storage_used(study: Study) -> StorageUse | None:
    """The transfers between the job and its storage system; None if the spec describes no networks other than the
    fabric.
    """
    written = study.design.spec.cluster
    if written is None or written.networks is None:
        return None
    from clusterspec.cost.storage import storage_use

    return storage_use(study.plan)


def _power_as_drawn(study: Study) -> MachinePower | None:
    """The power of the machine as drawn, and the energy of its run, interruptions included."""
    from clusterspec.cluster.fabric import counted_fabric
    from clusterspec.cost.power import drawn_power

    plan = study.plan
    if study.design.cluster is None:
        return None
    run = plan.time_to_train
    if run is not None:
        from clusterspec.cost.interruptions import plan_interruptions  # few designs state a run

        kept = plan_interruptions(plan)
        run = run if kept is None else run / kept.share if kept.share > 0 else None
    return drawn_power(plan, counted_fabric(study.design), run=run)


def influences(study: Study) -> tuple[Influence, ...]:
    """The assumptions that move the step time or the memory of a design by more than 1 %, largest first."""
    from clusterspec.analysis.levers.influence import largest_influence, ranked_influences
    from clusterspec.analysis.searches.allowed_choices import choice_filter

    found, allows = [], choice_filter(study)
    for assumption in study.plan.assumptions:
        with study.failure_noted(f"influence of {assumption[0]}"):
            found.append(largest_influence(study.plan, assumption, allows))
    return ranked_influences(found)


def collective(
    study: Study,
    name: str,
    ranks: int,
    sizes: Sequence[float],
    algorithm: str | None = None,
    *,
    stated_sizes: Sequence[str] = (),
    processes: str | None = None,
) -> CollectiveReport:
    """A collective of ``ranks`` ranks over ``sizes`` in bytes; ``stated_sizes`` are the sizes as given by the user.

    ``processes``: one for each ``rank``, or one for all ranks of a ``node``; None for one on a node, else one per rank.

    Without rows, but with the reason, if the cluster cannot be resolved or its ranks are not connected.
    """
    from clusterspec.cost.collectives import CollectiveUnavailableError
    from clusterspec.cost.collectives.evidence import unmeasured_part
    from clusterspec.cost.collectives.predict import collective_table

    rows: tuple[CollectiveRow, ...] = ()
    why = "the cluster cannot be resolved; `clusterspec check` reports the reason"
    if study.design.cluster is not None:
        try:
            rows, why = collective_table(study.design.cluster, name, ranks, sizes, algorithm, processes=processes), ""
        except CollectiveUnavailableError as fault:
            why = str(fault)
    cluster = study.design.cluster
    open_ = unmeasured_part(cluster, rows[0].tier) if cluster is not None and rows else ""
    return CollectiveReport(
        study.settings.tool, study.input, rows, why, study.checked.findings, tuple(stated_sizes), open_, algorithm or ""
    )


def bill(study: Study) -> BillReport:
    """The bill of materials with prices."""
    from clusterspec.procurement.bill import bill as counted

    return BillReport(study.settings.tool, study.input, counted(study.design), study.checked.findings)


def cost(study: Study, fleet: FleetCosts | None = None) -> CostReport:
    """The cost of a design over its term, by year, run and token; ``fleet`` has costs already computed for its
    fleet.
    """
    from clusterspec.analysis.fleets.costs import cost_in_fleet
    from clusterspec.procurement.bill import bill as counted
    from clusterspec.procurement.neighbor import cheaper_neighbor
    from clusterspec.results.decision import CostReport

    items = counted(study.design)
    found = study.part("cost", lambda: cost_in_fleet(study, fleet), None)
    neighbor = study.part("cheaper neighbor", lambda: cheaper_neighbor(study.design, items), None)
    return CostReport(study.settings.tool, study.input, found, neighbor, study.checked.findings)
