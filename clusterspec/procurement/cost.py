"""The cost of a design over its term and by year."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.cluster.fleet import named_engines
from clusterspec.cluster.model import Assumption, Design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.formulas.failures import goodput
from clusterspec.cost.interruptions import Interruptions, plan_interruptions
from clusterspec.cost.nameplates import charged_nodes, power_draw
from clusterspec.cost.plan import Plan
from clusterspec.cost.power import MachinePower, drawn_power
from clusterspec.cost.term import Term, computed_term
from clusterspec.procurement import total as totals
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.day import HourCost, costs_of_day, costs_of_hours, term_as_input
from clusterspec.procurement.parts import (
    time_with_interruptions,
)
from clusterspec.procurement.total import Inputs, hours_of_years
from clusterspec.procurement.unit_costs import (
    cost_of_million_tokens,
    cost_of_run,
    cost_of_second,
    costs_by_kind,
    used_accelerators,
)
from clusterspec.quantity import YEAR, Figure
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.source import Assumed, Computed
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import sum_of

# The cost of a design: over its term, by year, by run and by token


@dataclass(frozen=True)
class YearlyCost:
    """The cost of one year of the term, by part; the last year may be incomplete. Amounts in the currency of the
    spec, at the middle of every price range; ``low`` and ``high`` are the ends of the range of the year."""

    year: int
    parts: dict[str, float]
    low: float
    high: float

    @property
    def total(self) -> float:
        return sum_of(self.parts.values())


class UseCost(NamedTuple):
    """The cost of a million tokens and of one run if a machine is at work for a ``share`` of its term."""

    share: float
    stated: bool
    per_million_tokens: float
    per_run: float | None


HOURS_OF_WEEK = 168.0
OF_MACHINE = frozenset({"capital", "rent"})
"""The parts of a total that pay for the machine."""


@dataclass(frozen=True)
class Cost:
    """The cost of a design; every number is a term, or None if it cannot be computed.

    ``total`` is over the term, or the purchase alone where ``years`` is None. ``per_million_tokens`` counts the tokens
    of training, or the output tokens of a serving plan at its load. The job uses ``accelerators_used`` of
    ``accelerators``; `per_run` and `per_million_tokens` include the cost of idle nodes; in a fleet, where other jobs
    may have these nodes, they include only the share of ``charged_accelerators``. ``by_kind`` divides the cost of a
    serving plan among computed input, cached input and output tokens. ``of_day`` has the cost of a day whose load the
    spec states: with engines that follow it, with all engines at all hours, and of a million output tokens in the first
    case;
    ``of_hours`` of the engines of each hour. ``missing`` names what the total omits.
    """

    currency: str
    as_of: str | None
    years: float | None
    total: Term | None
    by_year: tuple[YearlyCost, ...]
    goodput: Term | None
    run: Term | None
    per_run: Term | None
    per_million_tokens: Term | None
    by_kind: tuple[Term, ...]
    of_day: tuple[Term, ...]
    of_hours: tuple[HourCost, ...]
    accelerators_used: float | None
    accelerators: int
    charged_accelerators: int
    watts: Term
    missing: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    utilization: float = 1.0
    nodes: int = 0
    """All nodes, spare ones included."""
    of_nodes: Term | None = None
    """The part of ``total`` for the nodes that are charged to the job, over the whole term: their share of the machine,
    and the energy that they draw. Spares, switches and racks are divided evenly among the nodes.
    """
    share: float | None = None
    """The share of the term for which a job of a fleet has its nodes; None for a job with nodes in several pools."""
    has_other_jobs: bool = False
    """Whether the total belongs to a pool of a fleet, and includes other jobs or idle nodes."""

    @property
    def billed(self) -> tuple[float, float] | None:
        """The low and high end of the bill of a fleet's job: the cost of its nodes for its share of the term."""
        if self.of_nodes is None or self.share is None:
            return None
        low, high = self.of_nodes.ends
        return self.share * low, self.share * high

    @property
    def of_machine(self) -> bool:
        """Whether the total includes the price or the rent of the machine, and not only its operation."""
        return self.total is not None and not OF_MACHINE.isdisjoint(part.name for part in self.total.parts)

    @property
    def per_hour_at_work(self) -> float | None:
        """The cost per accelerator and hour of planned work; for a job of a fleet, from the cost of its nodes. None
        without a term or without work.
        """
        own, used = self.of_nodes or self.total, self.accelerators_used
        if self.total is None or own is None or not self.years or not used or not self.utilization:
            return None
        return own.value / (hours_of_years(self.years) * used * self.utilization)

    @property
    def per_hour_of_job(self) -> float | None:
        """The cost of an hour of the job: the cost of the nodes that are charged to it, divided by the hours of the
        term in which the machine is in use. None without a term, and for a machine that is never used.
        """
        if self.of_nodes is None or not self.years or not self.utilization:
            return None
        return self.of_nodes.value / (hours_of_years(self.years) * self.utilization)

    @property
    def per_week(self) -> float | None:
        """The total divided by the weeks of the term, used or not, which is the cost of a week of delay. None for a
        term shorter than a week.
        """
        if self.total is None or not self.years or hours_of_years(self.years) < HOURS_OF_WEEK:
            return None
        return self.total.value * HOURS_OF_WEEK / hours_of_years(self.years)

    @property
    def rent_of_node(self) -> float | None:
        """The rent of one node over the whole term, to compare with the cost of buying and operating one. None if the
        nodes are purchased.
        """
        rent = next((part for part in (self.total.parts if self.total else ()) if part.name == "rent"), None)
        return rent.value / self.nodes if rent is not None and self.nodes else None

    @property
    def per_accelerator_hour(self) -> float | None:
        """The total divided by accelerators and hours of the term, used or not; None without a term."""
        if self.total is None or not self.years or not self.accelerators:
            return None
        return self.total.value / (self.accelerators * hours_of_years(self.years))


def cost(design: Design, plan: Plan | None, bill: Bill) -> Cost | None:
    """The cost of a design with its plan and bill; None if the cluster cannot be resolved.

    Source of the shares: total cost of ownership as capital and operating cost over a term, undiscounted.
    """
    cluster = design.cluster
    if cluster is None:
        return None
    procurement = design.spec.procurement or ProcurementSpec()
    years = procurement.term.value / YEAR if procurement.term else None
    away = any(named_engines(design.spec.workload))  # of a job on several machines, this is the cost of one
    drawn = power_draw(cluster, bill.fabric, design.spec.cluster.power if design.spec.cluster else None)
    at_work = drawn_power(plan, bill.fabric, whole=True) if plan is not None else None
    inputs = Inputs(cluster, bill, drawn, procurement, years, at_work)
    whole = own = totals.total_term(inputs)
    if design.shares_machine and design.layout is not None:
        own_draw = drawn_power(plan, bill.fabric) if plan is not None else None
        own = totals.total_term(replace(inputs, drawn=own_draw, part=charged_nodes(design, cluster) / cluster.nodes))
    kept = plan_interruptions(plan) if plan is not None else None
    share = _goodput_term(kept) if kept else None
    run = _run_term(plan, share)
    second = None if away else cost_of_second(inputs, own, plan)
    return Cost(
        currency=bill.currency,
        as_of=procurement.as_of,
        years=years,
        total=whole,
        by_year=yearly_costs(whole, years) if whole and years else (),
        goodput=share,
        run=run,
        per_run=cost_of_run(second, run),
        per_million_tokens=cost_of_million_tokens(second, plan, share),
        by_kind=tuple(costs_by_kind(second, plan)) if second and plan and plan.serving else (),
        of_day=() if away else costs_of_day(inputs, whole, plan),
        of_hours=() if away else costs_of_hours(inputs, whole, plan),
        accelerators_used=used_accelerators(design),
        accelerators=cluster.accelerators,
        charged_accelerators=charged_nodes(design, cluster) * cluster.accelerators_per_node,
        watts=totals.power_term(drawn),
        missing=(*totals.missing_costs(inputs), *_endless_run_texts(plan, kept)),
        assumptions=_distinct_assumptions(
            *totals.cost_assumptions(inputs, whole),
            *_power_assumptions(whole, at_work),
            *_interruption_assumptions(kept),
        ),
        utilization=inputs.utilization.value,
        nodes=cluster.all_nodes,
        of_nodes=own,
    )


USES = (0.25, 0.5, 0.75, 1.0)
"""Utilizations of the term for which a cost is shown, in addition to the stated one."""


def costs_by_use(design: Design, plan: Plan, bill: Bill) -> tuple[UseCost, ...]:
    """The cost of the work at other utilizations of the term; empty if no token cost is known."""
    buying = design.spec.procurement
    stated = buying.utilization if buying else None
    found = []
    for share in sorted({*USES, 1.0 if stated is None else stated}):
        other = cost(design_with_keys(design, {("procurement", "utilization"): share}), plan, bill)
        if other is None or other.per_million_tokens is None or not other.of_machine:
            return ()
        run = other.per_run.value if other.per_run is not None else None
        found.append(UseCost(share, share == stated, other.per_million_tokens.value, run))
    return tuple(found)


def _distinct_assumptions(*assumptions: Assumption) -> tuple[Assumption, ...]:
    """The assumptions in their order, each key once: the sum and the power of the nodes both rest on the PUE."""
    return tuple({each[0]: each for each in assumptions}.values())


def _power_assumptions(whole: Term | None, power: MachinePower | None) -> tuple[Assumption, ...]:
    """Assumptions about the power draw after the energy in a total."""
    used = whole is not None and any(part.name == "energy" for part in whole.parts)
    return power.assumptions if used and power is not None and power.busy is not None else ()


def yearly_costs(whole: Term, years: float) -> tuple[YearlyCost, ...]:
    """The total by year: capital in the first, everything else evenly over the term.

    >>> capital, energy = Term("capital", 90.0, "USD", ""), Term("energy", 30.0, "USD", "")
    >>> [row.total for row in yearly_costs(Term("total", 120.0, "USD", "", parts=(capital, energy)), 1.5)]
    [110.0, 10.0]
    """
    rows = []
    for year in range(ceil(years - 1e-9)):
        share = min(1.0, years - year) / years
        shares = {part.name: (float(year == 0) if part.name == "capital" else share) for part in whole.parts}
        parts = {part.name: part.value * shares[part.name] for part in whole.parts}
        low, high = (
            sum_of((part.value if end is None else end) * shares[part.name] for part, end in ends)
            for ends in ([(part, part.low) for part in whole.parts], [(part, part.high) for part in whole.parts])
        )
        rows.append(YearlyCost(year + 1, parts, low, high))
    return tuple(rows)


def _endless_run_texts(plan: Plan | None, interruptions: Interruptions | None) -> Iterator[str]:
    """A text for the cost of a run whose goodput is 0, which is omitted because the run never ends."""
    if plan is not None and interruptions is not None and interruptions.share <= 0:
        named = "one run and a million tokens" if plan.time_to_train is not None else "a million tokens"
        yield f"{named}: the goodput is 0, so that the run never ends (`operations.checkpoint`)"


def _goodput_term(interruptions: Interruptions) -> Term:
    low, high = sorted((interruptions.low, interruptions.high))
    term = computed_term("goodput", goodput, "1", interruptions.figures)
    return replace(term, low=low, high=high) if low < high else term


def _run_term(plan: Plan | None, share: Term | None) -> Term | None:
    """Seconds of the whole run with its interruptions."""
    if plan is None or plan.time_to_train is None or share is None or share.value <= 0:
        return None
    inputs = (("time_to_train", Figure(plan.time_to_train, "s", Computed("steps * step_time"))), term_as_input(share))
    term = computed_term("run", time_with_interruptions, "s", inputs)
    ends = [time_with_interruptions(plan.time_to_train, end) for end in (share.high, share.low) if end]
    return replace(term, low=ends[0], high=ends[1]) if len(ends) == 2 else term


def _interruption_assumptions(interruptions: Interruptions | None) -> tuple[Assumption, ...]:
    figures = interruptions.assumed if interruptions else ()
    return tuple((f.origin.key, f, f.origin.why) for f in figures if isinstance(f.origin, Assumed))
