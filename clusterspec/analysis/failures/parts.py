"""The verb ``faults``: the effect on the job of one failed part, or of two parts that fail at nearly the same time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from clusterspec.analysis.failures.lost_hours import YearlyLoss, first_year_factor, hours_lost, rate_variance
from clusterspec.analysis.levers.conditions import TARGETS, Condition
from clusterspec.analysis.outputs import cost
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.failures import PartRate
from clusterspec.cost.plan import Plan
from clusterspec.money import Money
from clusterspec.quantity import HOUR, YEAR
from clusterspec.records import replace
from clusterspec.results.faults import SOFTWARE, FaultRow, FaultsReport, FirstYear, Stock, YearlyGoodput
from clusterspec.rules.knowledge.failing_engines import ENGINES
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.spec.model import OperationsSpec
from clusterspec.standard import sum_of
from clusterspec.studies import Study


def faults(study: Study, *, pairs: bool = False) -> FaultsReport:
    """The failures of single parts by class, most hours lost first; with ``pairs``, also of two parts at once."""
    design = study.design
    empty = FaultsReport(study.settings.tool, study.input, (), None, None, "", None, {}, ())
    if design.cluster is None:
        return replace(empty, notes=("the cluster cannot be resolved; `clusterspec check` reports the reason",))
    plan = study.plan if study.has_figures else None
    machine = FailingMachine(design, plan.whole_step.seconds if plan else None, plan.parameters if plan else None)
    hour, currency = _cost_of_hour(study)
    found = with_broken_targets(machine, machine.rows(hour), plan)
    rows = tuple(sorted(found, key=lambda row: (-(row.hours or 0.0), -(row.failures or 0.0))))
    both = None
    if pairs:
        from clusterspec.analysis.failures.pairs import pair_rows

        both = tuple(
            sorted(
                pair_rows(machine, hour), key=lambda row: (not row.worse, -(row.hours or 0.0), -(row.failures or 0.0))
            )
        )
    return replace(
        empty,
        rows=rows,
        pairs=both,
        step_time=machine.step,
        used=machine.used,
        hour=hour,
        currency=currency if hour is not None else "",
        goodput=yearly_goodput(machine),
        repairs=machine.repairs(rows),
        first_year=first_year(machine, rows),
        stock=priced_stock(machine.stock(rows, early_factor(machine) or 1.0), study, machine),
        assumptions=machine.assumptions(),
        notes=(*machine.notes(), *incomplete_keys(machine.operations)),
    )


BOUGHT_AS: Mapping[str, Mapping[str, int]] = {
    "node": {"node": 1},
    "leaf switch": {"leaf_switch": 1},
    "spine switch": {"spine_switch": 1},
    "core switch": {"core_switch": 1},
    "NIC": {"nic": 1},
    **{f"{name} link": {"cable": 1, "transceiver": 2} for name in ("NIC-leaf", "leaf-spine", "spine-core")},
}
"""The kinds of part in `procurement.prices` that replace a failed part. A failed link needs a new cable or a module at
either end; cables with fixed ends have no modules.
"""


def priced_stock(stock: Stock | None, study: Study, machine: FailingMachine) -> Stock | None:
    """The stock of spare parts with its price, as far as `procurement.prices` has one. Single accelerators have no
    price.
    """
    procurement = study.spec.procurement
    if stock is None or procurement is None or not procurement.prices:
        return stock
    known, unpriced = list[Money](), list[str]()
    for part, number in stock.parts.items():
        fixed = part.endswith("link") and machine.has_fixed_ends(part)
        kinds = {kind: each for kind, each in BOUGHT_AS.get(part, {}).items() if kind != "transceiver" or not fixed}
        prices = [(procurement.prices.get(kind), each) for kind, each in kinds.items()]
        if not number or not prices or any(price is None for price, _ in prices):
            unpriced += [part] if number else []
            continue
        currency = procurement.currency or ""
        known += [Money.of(price, currency) * (each * number) for price, each in prices if price is not None]
    return stock._replace(price=Money.total(known) if known else None, unpriced=tuple(unpriced))


def _cost_of_hour(study: Study) -> tuple[float | None, str]:
    """The cost of an hour of the job, in a currency; None if prices or the term are not stated."""
    found = cost(study).cost
    hour = found.per_hour_of_job if found is not None else None
    return hour, found.currency if found is not None and hour is not None else ""


def early_factor(machine: FailingMachine) -> float | None:
    """The ratio of hardware failures in the first year to hardware failures in a later year; None unless the spec
    states both figures of early failures.
    """
    early, burn_in = machine.operations.early_failures, machine.operations.burn_in
    if early is None or early.ratio is None or early.half_life is None or not early.half_life.value:
        return None
    return first_year_factor(early.ratio, early.half_life.value, burn_in.value if burn_in else 0.0, YEAR)


def first_year(machine: FailingMachine, rows: Iterable[FaultRow]) -> FirstYear | None:
    """The goodput of the first year with its early failures; None if the spec does not state them."""
    factor = early_factor(machine)
    goodput = yearly_goodput(machine, factor) if factor is not None else None
    if factor is None or goodput is None:
        return None
    return FirstYear(factor, goodput, factor * sum_of(row.slowed or 0.0 for row in rows))


def incomplete_keys(operations: OperationsSpec) -> Iterator[str]:
    """Stated keys about early failures and the stock of parts that are insufficient on their own."""
    early, stock = operations.early_failures, operations.stock
    if early is not None and (early.ratio is None or early.half_life is None):
        yield "The first year is not computed: `operations.early_failures` takes `ratio` and `half_life`."
    if stock is not None and stock.lead_time is None:
        yield "The stock is not computed: `operations.stock` takes `lead_time`."


def yearly_goodput(machine: FailingMachine, factor: float = 1.0) -> YearlyGoodput | None:
    """The goodput of a year, and its spread by chance and by the ranges of the rates. Hardware failures are multiplied
    by ``factor``.

    If the failures of a year take more hours than expected, they are assumed to be more in number, not longer.
    """
    if machine.kept is None:
        return None
    usual, losses = _yearly_losses(machine, 1.0).values(), _yearly_losses(machine, factor)
    expected = sum_of(each.failures * each.mean for each in usual)
    if not expected:
        return YearlyGoodput(*[machine.goodput_of_year()] * 4)
    often = sum_of(each.failures for each in losses.values()) / sum_of(each.failures for each in usual)
    mean, hours = hours_lost([*losses.values()], _common_variance(machine.failures(), losses))
    low, middle, high = (
        machine.goodput_of_year(often * hours[share] / mean, hours[share] / expected) for share in (0.95, 0.5, 0.05)
    )
    return YearlyGoodput(machine.goodput_of_year(often, mean / expected), low, middle, high)


def _yearly_losses(machine: FailingMachine, factor: float) -> Mapping[str, YearlyLoss]:
    """The failures per year that stop the job, by class, with the hours that each takes. The time since the last
    checkpoint is uniformly distributed over the checkpoint interval.
    """
    interval = machine.kept.interval.value / HOUR if machine.kept is not None else 0.0
    return {
        part.name: YearlyLoss(rate.yearly * (1.0 if part.name == SOFTWARE else factor), each - interval / 2, interval)
        for part, rate, each in machine.stops
        if rate.yearly
    }


def _common_variance(rates: Mapping[str, PartRate], losses: Mapping[str, YearlyLoss]) -> float:
    """The relative variance of a year's lost hours that results from the uncertainty of the rates: variance over
    squared mean.

    A machine that is worse than others is assumed to be worse in all parts, which gives the widest spread.
    """
    whole = sum_of(each.failures * each.mean for each in losses.values())
    known = ((rates[part], loss.failures * loss.mean / whole) for part, loss in losses.items())
    return sum_of(share * math.sqrt(rate_variance(rate.yearly, rate.low, rate.high)) for rate, share in known) ** 2


# The targets of a spec that one failed part breaks


SLOWDOWN = "operations.targets.max_single_failure_slowdown"
SERVED = "workload.serving.targets"


def with_broken_targets(machine: FailingMachine, rows: Iterable[FaultRow], plan: Plan | None) -> Iterator[FaultRow]:
    """The rows, each with the keys of the targets that the whole machine meets but the machine without the row's part
    misses.
    """
    stated = machine.operations.targets
    most = stated.max_single_failure_slowdown if stated is not None else None
    serves = plan is not None and _meets_targets(plan)
    tiers = {part.name: part.tier for part in machine.classes}
    met: dict[float, bool] = {}
    for row in rows:
        broken = []
        if most is not None and machine.step and row.step_time and row.step_time / machine.step - 1 > most:
            broken.append(SLOWDOWN)
        if serves and plan is not None and tiers.get(row.part) == ENGINES and row.lost:
            if row.lost not in met:
                met[row.lost] = row.lost < 1 and _meets_after_loss(plan, row.lost)
            broken += [] if met[row.lost] else [SERVED]
        yield replace(row, breaks=tuple(broken))


def _meets_targets(plan: Plan) -> bool:
    """Whether a serving plan has targets, and meets them; False for a plan that trains."""
    work = plan.design.workload
    if work is None or work.serving is None or not work.serving.targets or work.serving.prefill is not None:
        return False
    return Condition(TARGETS, TARGETS, at_most=False, limit=1.0).value(plan) == 1.0


def _meets_after_loss(plan: Plan, lost: float) -> bool:
    """Whether the engines that are left meet the targets under the load of all."""
    layout, cluster = plan.design.layout, plan.design.cluster
    assert layout is not None and cluster is not None
    left = layout.dp - round(lost * layout.dp)
    nodes = cluster.nodes_of_ranks(left * (layout.ranks // layout.dp))
    return _meets_targets(
        legal_estimate(design_with_keys(plan.design, {("layout", "dp"): left, ("layout", "nodes"): nodes}))
    )
