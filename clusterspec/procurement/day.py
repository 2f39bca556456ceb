"""The cost of a day, and of each of its hours, for a serving plan whose engines follow the load."""

from __future__ import annotations

from clusterspec.cost.term import Term, computed_term
from clusterspec.procurement.parts import cost_of_accelerator_hours, cost_per_million_of_day
from clusterspec.procurement.total import Inputs, hours_of_years
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, replace
from clusterspec.source import Computed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.plan import Plan


class HourCost(NamedTuple):
    """The cost of the engines between two minutes of the day with one load, in the currency of the spec.

    ``amount`` covers all these hours; ``per_million_output_tokens`` is None without requests. Only the cost of the
    whole day counts engines that start ahead of the load.
    """

    start: int
    end: int
    accelerators: float
    amount: float
    per_million_output_tokens: float | None


def costs_of_day(inputs: Inputs, whole: Term | None, plan: Plan | None) -> tuple[Term, ...]:
    """The cost of the accelerator-hours of a day: as engines follow its load, with all engines at all hours, and of a
    million output tokens in the first case. Accelerators without an engine are assumed to do other work.
    """
    day = plan.day if plan is not None else None
    if whole is None or not inputs.years or day is None:
        return ()
    figures = (
        ("total", Figure(whole.value, whole.unit, Computed(whole.formula))),
        ("term", Figure(hours_of_years(inputs.years), "h", Computed("procurement.term"))),
        ("accelerators", Figure(float(inputs.cluster.accelerators), "1", Computed("nodes * accelerators_per_node"))),
    )
    found = []
    for name, hours in (
        ("per_day", day.accelerator_hours),
        ("per_day_of_all_engines", day.constant_accelerator_hours),
    ):
        used = ("accelerator_hours", Figure(hours, "h", Computed("hours * accelerators of the engines that run")))
        found.append(
            ranged_product(computed_term(name, cost_of_accelerator_hours, whole.unit, (*figures, used)), whole)
        )
    if not day.output_tokens:
        return tuple(found)
    tokens = ("output_tokens", Figure(day.output_tokens, "1", Computed("requests * output_tokens")))
    term = computed_term(
        "per_million_output_tokens_of_day", cost_per_million_of_day, whole.unit, (term_as_input(found[0]), tokens)
    )
    return (*found, ranged_product(term, found[0]))


def costs_of_hours(inputs: Inputs, whole: Term | None, plan: Plan | None) -> tuple[HourCost, ...]:
    """The cost of each hour of a day: its accelerator-hours times their price."""
    day = plan.day if plan is not None else None
    if whole is None or not inputs.years or day is None:
        return ()
    term, owned = hours_of_years(inputs.years), float(inputs.cluster.accelerators)
    each = day.output_tokens / day.requests if day.requests else 0.0
    found = []
    for hour in day.hours:
        (start, end, rate), used = hour.hours, hour.accelerators
        amount = cost_of_accelerator_hours(whole.value, term, owned, used * (end - start) / 60)
        tokens = rate * (end - start) * 60 * each
        found.append(HourCost(start, end, used, amount, cost_per_million_of_day(amount, tokens) if tokens else None))
    return tuple(found)


def term_as_input(term: Term) -> tuple[str, Figure]:
    """A term as an input of another."""
    return term.name, Figure(term.value, term.unit, Computed(term.formula))


def ranged_product(term: Term, *factors: Term) -> Term:
    """A product with the combined range of its factors."""
    low = high = term.value
    for factor in factors:
        if factor.value:
            low *= factor.ends[0] / factor.value
            high *= factor.ends[1] / factor.value
    return replace(term, low=low, high=high) if low < high else term
