"""The cost terms of a purchase, with their formulas."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cost.formulas import formula
from clusterspec.cost.term import Term
from clusterspec.money import CurrencyMismatch
from clusterspec.standard import sum_of


def summed_term(name: str, parts: Sequence[Term], unit: str) -> Term:
    """The sum of parts whose names are identifiers. Raises `CurrencyMismatch` for a part in another unit."""
    for part in parts:
        if part.unit != unit:
            raise CurrencyMismatch(f"{part.name} is in {part.unit}, the sum {name} in {unit}")
    return Term(
        name,
        sum_of(part.value for part in parts),
        unit,
        " + ".join(part.name for part in parts) or "0",
        parts=tuple(parts),
    )


# Formulas of cost. Amounts in the currency of the spec, times in the unit of each name


@formula("quantity * unit_price")
def line_price(quantity: float, unit_price: float) -> float:
    """The price of a quantity of parts.

    >>> line_price(64, 310_000.0)
    19840000.0
    """
    return quantity * unit_price


@formula("watts / 1000 * pue * hours * utilization * electricity")
def energy_cost(watts: float, pue: float, hours: float, utilization: float, electricity: float) -> float:
    """The cost of electricity: IT power × PUE × hours × share of full load × price of a kWh.

    Source: PUE as in ISO/IEC 30134-2: facility energy divided by the energy of the IT equipment.

    >>> energy_cost(1_000_000.0, 1.3, 8_760.0, 0.85, 0.12)
    1161576.0
    """
    return watts / 1000 * pue * hours * utilization * electricity


@formula("watts / 1000 * pue * hours * electricity")
def drawn_energy_cost(watts: float, pue: float, hours: float, electricity: float) -> float:
    """The cost of electricity at a mean IT power: power × PUE × hours × price of a kWh.

    Source: PUE as in ISO/IEC 30134-2: facility energy divided by the energy of the IT equipment.

    >>> drawn_energy_cost(850_000.0, 1.3, 8_760.0, 0.12)
    1161576.0
    """
    return watts / 1000 * pue * hours * electricity


@formula("machine * part")
def cost_of_part(machine: float, part: float) -> float:
    """The cost of a part of a machine whose nodes cost the same each.

    Source: arithmetic.

    >>> cost_of_part(16_000_000.0, 0.25)
    4000000.0
    """
    return machine * part


@formula("per_year * years")
def yearly_cost(per_year: float, years: float) -> float:
    """The cost of a yearly payment over a number of years.

    >>> yearly_cost(400_000.0, 4)
    1600000.0
    """
    return per_year * years


@formula("racks * per_month * 12 * years")
def rack_rent(racks: float, per_month: float, years: float) -> float:
    """The rent of racks, paid per month.

    >>> rack_rent(16, 2_500.0, 4)
    1920000.0
    """
    return racks * per_month * 12 * years


@formula("nodes * node_hour * hours")
def node_rent(nodes: float, node_hour: float, hours: float) -> float:
    """The rent of nodes, paid per hour whether they are used or not.

    >>> node_rent(16, 98.32, 8_760.0)
    13780531.2
    """
    return nodes * node_hour * hours


@formula("total / (term * utilization) * charged / accelerators")
def cost_per_second(total: float, term: float, utilization: float, charged: float, accelerators: float) -> float:
    """The cost of a second of the job: the cost of the term, divided by its utilized seconds, times the fraction of
    accelerators that is charged to the job. ``term`` is in seconds.

    >>> cost_per_second(31_536_000.0, 31_536_000.0, 0.5, 512, 1_024)
    1.0
    """
    return total / (term * utilization) * charged / accelerators


@formula("total / term / accelerators * accelerator_hours")
def cost_of_accelerator_hours(total: float, term: float, accelerators: float, accelerator_hours: float) -> float:
    """The cost of accelerator-hours: their share of the cost of all hours, used or not; ``term`` is in hours.

    Source: arithmetic.

    >>> cost_of_accelerator_hours(35_040.0, 35_040.0, 8, 96.0)
    12.0
    """
    return total / term / accelerators * accelerator_hours


@formula("per_day / output_tokens * 1000000")
def cost_per_million_of_day(per_day: float, output_tokens: float) -> float:
    """The cost of a million output tokens over a day in which ``output_tokens`` are produced.

    Source: arithmetic.

    >>> cost_per_million_of_day(500.0, 2e9)
    0.25
    """
    return per_day / output_tokens * 1_000_000


@formula("per_second / (tokens_per_second * goodput) * 1000000")
def cost_per_million_tokens(per_second: float, tokens_per_second: float, goodput: float) -> float:
    """The cost of a million tokens; ``tokens_per_second`` is the rate of the whole job, ``goodput`` the fraction of
    productive time.

    >>> cost_per_million_tokens(1.0, 2_000_000.0, 0.5)
    1.0
    """
    return per_second / (tokens_per_second * goodput) * 1_000_000


@formula("per_second / output_tokens_per_second * 1000000")
def cost_per_million_output_tokens(per_second: float, output_tokens_per_second: float) -> float:
    """The cost of a million output tokens of a serving plan, its prompts included; ``output_tokens_per_second`` of the
    whole plan at its load.

    >>> cost_per_million_output_tokens(0.02, 10_000.0)
    2.0
    """
    return per_second / output_tokens_per_second * 1_000_000


@formula("per_second * share / tokens_per_second * 1000000")
def cost_per_million_of_share(per_second: float, share: float, tokens_per_second: float) -> float:
    """The cost of a million tokens of one kind, which take a ``share`` of the time of the accelerators of a plan.

    >>> round(cost_per_million_of_share(0.02, 0.25, 50_000.0), 6)
    0.1
    """
    return per_second * share / tokens_per_second * 1_000_000


@formula("time_to_train / goodput")
def time_with_interruptions(time_to_train: float, goodput: float) -> float:
    """The duration of a run with interruptions, in seconds; ``time_to_train`` is without interruptions.

    >>> time_with_interruptions(90.0, 0.9)
    100.0
    """
    return time_to_train / goodput


@formula("per_second * run")
def run_cost(per_second: float, run: float) -> float:
    """The cost of a run of ``run`` seconds, including interruptions.

    >>> run_cost(2.0, 100.0)
    200.0
    """
    return per_second * run
