"""The machines among which a buyer chooses: the design, the compared ones, and other sizes of the same machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil

from clusterspec.analysis.purchase.gates import expected_amount
from clusterspec.analysis.purchase.serving_choices import (
    Changes,
    ServingMachine,
    holds_load,
    load_tokens,
    machine_of_size,
    searched_machines,
    tokens_within_targets,
)
from clusterspec.analysis.searches.fitting import fitting_machine
from clusterspec.analysis.searches.studied import QUOTED
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.finding import Severity
from clusterspec.money import Money
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost, cost
from clusterspec.records import replace
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import OF_PURCHASE, Choice, Choices
from clusterspec.source import Path
from clusterspec.spec.model import ProcurementSpec
from clusterspec.studies import Study, variation
from clusterspec.units import plural, term_text

SIZES = (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(3, 2), Fraction(2))
"""Sizes to compare, as multiples of the nodes that the job uses; if the job uses part of each scale-up domain, as
multiples of the cluster.
"""
OF_SIZE: tuple[Path, ...] = (
    ("cluster", "accelerators"),
    *(("cluster", "scale_out", key) for key in ("leaf_switches", "spine_switches", "core_switches", "links", "cables")),
    ("layout", "nodes"),
    ("layout", "dp"),
    ("acceptance",),
)
"""Keys that are invalid for a different number of nodes."""


def choices(study: Study, report: FullReport) -> Choices | None:
    """The machines that a buyer can choose from; None unless at least two have a price in the same currency and a
    figure for the planned work.
    """
    designs, kinds = (report, *report.against), ("design", *("option" for _ in report.against))
    found = [
        _choice_of_report(*each)
        for each in zip(designs, report.names, kinds, strict=True)
        if _planned_work(each[0]) == _planned_work(report)
    ]
    if found[0] is None:
        return None
    sizes = () if study.fleet_part else _serving_sizes(study) if report.serves else _other_node_counts(study)
    rows = tuple(row for row in (*found, *sizes) if row is not None)
    if len(rows) < 2 or len({row.amount.currency for row in rows}) > 1:
        return None
    unit = "1/s" if report.serves else "s"
    work = study.design.workload
    targeted = bool(work and work.serving and work.serving.targets)
    load = load_tokens(study.design) if report.serves else None
    best = recommended_row(rows, unit)
    less = any(row.kind not in OF_BUYER and holds_for_less(row, rows[0]) for row in rows)
    dear = best is not None and rows[best].amount.middle.low >= rows[0].amount.middle.low
    if less and dear and (targeted or load is not None):
        best = None  # what a reserve above the load is worth is the buyer's to say
    return Choices(unit, rows, best, load, targeted)


def recommended_row(rows: Sequence[Choice], unit: str) -> int | None:
    """The index of the choice recommended in `Choices.recommended`, counting from the design; None if no choice can be
    recommended.

    The buyer decides whether time is worth money, so no size of the machine that takes longer or costs more is
    recommended over a design that nothing rules out. Fewer ranks nearly always train a token for less.
    """
    works = [
        number
        for number, row in enumerate(rows)
        if not row.errors and not row.over_budget and row.surely_fits and row.holds_load and row.rent == rows[0].rent
    ]
    if 0 in works:
        sizes = {number for number in works if rows[number].kind not in OF_BUYER}
        works = [number for number in works if number not in sizes or is_no_worse(rows[number], rows[0], unit)]
    costs = [rows[number].per_million for number in works]
    by_token = None not in costs
    rank = {
        number: cost if by_token and cost is not None else _price_of_work(rows[number], unit)
        for number, cost in zip(works, costs, strict=True)
    }
    return min(works, key=rank.__getitem__, default=None)


AS_FAST = 1.01
"""The ratio of two run times up to which the longer run counts as equally fast."""


def _planned_work(report: FullReport) -> tuple[object, ...]:
    """The work by which designs are comparable: the model, and the tokens or the requests."""
    work = report.estimate.design.workload
    load = work.serving if work is not None else None
    asked = (load.input_tokens, load.output_tokens, load.targets) if load is not None else ()
    return (work.model.name, work.tokens, *asked) if work is not None else ()


OF_BUYER = frozenset({"design", "option"})
"""Kinds of choices that were written as specs."""


def is_no_worse(size: Choice, design: Choice, unit: str = "s") -> bool:
    """Whether a size of the machine does the work as fast as the design, or faster, and costs no more."""
    slower, faster = (size, design) if unit == "s" else (design, size)
    return slower.work <= AS_FAST * faster.work and size.amount.middle.low <= design.amount.middle.low


def holds_for_less(size: Choice, design: Choice) -> bool:
    """Whether a size of a serving machine sustains the load of the spec, has no errors and costs less than the
    design.
    """
    sound = not size.errors and size.surely_fits and size.holds_load
    return sound and size.amount.middle.low < design.amount.middle.low


def _price_of_work(choice: Choice, unit: str) -> float:
    """The price of a machine relative to its work rate, up to a constant factor."""
    price = choice.amount.middle.low
    return price * choice.work if unit == "s" else price / choice.work


def _choice_of_report(report: FullReport, name: str, kind: str) -> Choice | None:
    plan, counted, found = report.estimate.plan, report.bill.bill, report.cost.cost
    cluster, kept = report.estimate.design.cluster, report.reliability
    buying = report.estimate.design.spec.procurement
    amount = expected_amount(found, counted, buying) if found is not None else None
    work = tokens_within_targets(plan) if plan.serving else kept and kept.with_interruptions
    if cluster is None or amount is None or not work:
        return None
    errors = ((one.rule, one.path) for one in report.estimate.findings if one.severity is Severity.ERROR)
    return Choice(
        name,
        kind,
        cluster.all_nodes,
        amount,
        work,
        _machine_errors(errors),
        plan.surely_fits is not False,
        _rent_term(found, buying),
        _token_cost(found),
        _exceeds_budget(amount, buying),
        holds_load=plan.serving is None or holds_load(plan),
    )


def _machine_errors(errors: Iterable[tuple[str, Path]]) -> tuple[str, ...]:
    """The rules that find errors in the machine itself at any size. Errors about the purchase are excluded, and so are
    errors in a quote, which is for one machine only.
    """
    return tuple(sorted({rule for rule, path in errors if rule not in OF_PURCHASE and path[:2] not in QUOTED}))


def _token_cost(cost: Cost | None) -> float | None:
    """The cost of a million tokens."""
    return cost.per_million_tokens.value if cost is not None and cost.per_million_tokens is not None else None


def _exceeds_budget(amount: Money, buying: ProcurementSpec | None) -> bool:
    return bool(buying and buying.budget is not None and amount.low > float(buying.budget))


def _rent_term(cost: Cost | None, buying: ProcurementSpec | None) -> str:
    """The term of a rent as text; empty for a purchase."""
    rents = cost is not None and cost.total is not None and any(part.name == "rent" for part in cost.total.parts)
    return term_text(buying.term.value) if rents and buying and buying.term else ""


def _other_node_counts(study: Study) -> Iterator[Choice]:
    """Choices with the same layout on other numbers of nodes, as far as the batch divides. If the design does not fit
    in memory, also the smallest machine on which some layout fits.
    """
    for _, changes in _other_sizes(study):
        choice = _choice_of_size(variation.rewritten_study(study, changes))
        if choice is not None:
            yield choice
    cluster = study.design.cluster
    for fitting in fitting_machine(study, lambda nodes: _changes_of_size(study, cluster, nodes)) if cluster else ():
        choice = _choice_of_size(fitting.study)
        if choice is not None:
            yield replace(choice, kind="plan", settings=fitting.layout)


def _serving_sizes(study: Study) -> Iterator[Choice]:
    """Choices for serving on other numbers of nodes: with proportionally more or fewer engines, and with the engines
    that a search finds.
    """
    cluster = study.design.cluster
    if cluster is None or study.document is None:
        return
    for factor, changes in _other_sizes(study):
        if (machine := machine_of_size(study, changes, factor)) is not None:
            yield from _serving_choice(machine, "size")
    for machine in searched_machines(study, lambda nodes: _changes_of_size(study, cluster, nodes)):
        yield from _serving_choice(machine, "plan")


def _other_sizes(study: Study) -> Iterator[tuple[Fraction, Changes]]:
    """The multiples of the machine that consist of whole domains, and the changed keys of each."""
    cluster, layout = study.design.cluster, study.design.layout
    if cluster is None or layout is None or study.document is None:
        return
    unit = 1 if _is_slice(study, cluster) else nodes_of_domain(cluster)
    base = layout.nodes if layout.nodes_per_domain is None else cluster.nodes
    for factor in SIZES:
        nodes = int(base * factor)
        if nodes != cluster.nodes and nodes == base * factor and not nodes % unit and nodes:
            yield factor, _changes_of_size(study, cluster, nodes)


def _is_slice(study: Study, cluster: Cluster) -> bool:
    """Whether the machine is rented from a cloud as part of a larger domain. The size of the rented domain then follows
    from the size of the machine.
    """
    stated = study.spec.cluster.scale_up if study.spec.cluster else None
    free = stated is None or (stated.domain is None and stated.shape is None)
    whole = cluster.platform.domain if cluster.platform and cluster.cloud else None
    return free and whole is not None and cluster.accelerators <= cluster.scale_up.domain < whole


def _changes_of_size(study: Study, cluster: Cluster, nodes: int) -> Changes:
    """The changed keys for a machine with ``nodes`` nodes. If the spec states spare nodes, their number changes in
    proportion.
    """
    stated = study.spec.cluster is not None and study.spec.cluster.spare_nodes is not None
    spares = ceil(Fraction(cluster.spare_nodes * nodes, cluster.nodes)) if stated else None
    return dict.fromkeys(OF_SIZE) | {("cluster", "nodes"): nodes, ("cluster", "spare_nodes"): spares}


def _serving_choice(machine: ServingMachine, kind: str) -> Iterator[Choice]:
    """The choice for a serving machine, with the rules that refuse it; empty if the price is unknown."""
    other = machine.study
    found = _priced_choice(other, kind, machine.work, _machine_errors(other.error_places))
    if found is not None:
        yield replace(found, holds_load=holds_load(other.plan), engines=machine.engines)


def _choice_of_size(other: Study) -> Choice | None:
    """The choice for another size on which the layout is legal. Its errors include errors that the design also has.

    Reinforcement learning with a stated number of nodes per role allows no other size.
    """
    plan = other.plan
    kept = plan_interruptions(plan)
    if not other.has_figures or plan.time_to_train is None or kept is None or kept.share <= 0:
        return None
    errors = _machine_errors(other.error_places)
    if errors and plan.rl is not None:
        return None
    return _priced_choice(other, "size", plan.time_to_train / kept.share, errors)


def _priced_choice(other: Study, kind: str, work: float, errors: tuple[str, ...]) -> Choice | None:
    """The choice of another machine; None if it has no price."""
    cluster, buying = other.design.cluster, other.design.spec.procurement
    counted = bill(other.design)
    found = cost(other.design, other.plan, counted)
    amount = expected_amount(found, counted, buying) if found is not None else None
    if cluster is None or amount is None:
        return None
    return Choice(
        plural(cluster.nodes, "node"),
        kind,
        cluster.all_nodes,
        amount,
        work,
        errors,
        other.plan.surely_fits is not False,
        _rent_term(found, buying),
        _token_cost(found),
        _exceeds_budget(amount, buying),
    )
