"""The cost of a machine over its term: capital, energy, support, racks, or rent."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.cluster.model import Assumption, Cluster
from clusterspec.cost.energy import mean_price, parts_power, stated_pue
from clusterspec.cost.formulas.power import mean_draw
from clusterspec.cost.nameplates import PowerDraw
from clusterspec.cost.power import MachinePower
from clusterspec.cost.term import Term, computed_term, ranged_term
from clusterspec.money import Money
from clusterspec.procurement.amounts import line_price as line_price_of_quote
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.items import PRICED_AS
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.parts import (
    cost_of_part,
    drawn_energy_cost,
    energy_cost,
    line_price,
    node_rent,
    rack_rent,
    summed_term,
    yearly_cost,
)
from clusterspec.quantity import HOUR, YEAR, Figure
from clusterspec.records import dataclass, replace
from clusterspec.source import Assumed, Computed, Written
from clusterspec.spec.model import Price, ProcurementSpec
from clusterspec.units import percent

UTILIZATION = Figure(1.0, "1", Assumed("procurement.utilization", "the machine is always in use"))

Pick = Callable[[Price], float]
"""A function that selects the low end, middle or high end of a price range."""
PICKS: tuple[Pick, Pick, Pick] = (
    lambda price: Money.of(price).low,
    lambda price: Money.of(price).middle.low,
    lambda price: Money.of(price).high,
)


@dataclass(frozen=True)
class Inputs:
    """The inputs of the cost of a machine; ``years`` is None without a term."""

    cluster: Cluster
    bill: Bill
    power: PowerDraw
    procurement: ProcurementSpec
    years: float | None
    drawn: MachinePower | None = None
    """The power as drawn; None if unknown, in which case the energy is computed from nameplates."""
    part: float = 1.0
    """The part of the machine that is counted; ``drawn`` is the power of that part."""

    @property
    def currency(self) -> str:
        """The unit of every amount."""
        return self.bill.currency or "currency"

    @property
    def rented(self) -> bool:
        """Whether nodes are rented by the hour: there is an hourly price but no purchase price."""
        prices = self.procurement.prices or {}
        return prices.get("node_hour") is not None and prices.get("node") is None

    @property
    def pue(self) -> Figure:
        return stated_pue(self.procurement)

    @property
    def utilization(self) -> Figure:
        return _written_figure(self.procurement.utilization, "utilization") or UTILIZATION


def total_term(inputs: Inputs) -> Term | None:
    """The cost over the term, or of the purchase alone without a term; None if nothing has a price."""
    return ranged_over_picks(lambda pick: _total_of_pick(inputs, pick))


def ranged_over_picks(term_at: Callable[[Pick], Term | None]) -> Term | None:
    """A term at the middle of price ranges, with the terms at their ends as its range; None if it is not known."""
    low, mid, high = map(term_at, PICKS)
    return ranged_term(low, mid, high) if low and mid and high else None


def _total_of_pick(inputs: Inputs, pick: Pick) -> Term | None:
    parts = [part for part in _cost_parts(inputs, pick) if part is not None]
    currency = inputs.bill.currency or "currency"
    return summed_term("total", parts, currency) if parts else None


def _cost_parts(inputs: Inputs, pick: Pick) -> Iterator[Term | None]:
    yield _term_of_part(inputs, _capital_term(inputs.bill, pick))
    if inputs.years is None:
        return
    yield _term_of_part(inputs, _rent_term(inputs, pick, inputs.years))
    yield energy_term(inputs, pick, inputs.years)
    yield _term_of_part(inputs, _support_term(inputs, pick, inputs.years))
    yield _term_of_part(inputs, _rack_term(inputs, pick, inputs.years))


def _term_of_part(inputs: Inputs, whole: Term | None) -> Term | None:
    """A cost of the machine, reduced to the counted part of the machine."""
    if whole is None or inputs.part == 1:
        return whole
    figures = (
        ("machine", Figure(whole.value, whole.unit, Computed(whole.formula))),
        ("part", Figure(inputs.part, "1", Computed("nodes of the job / nodes"))),
    )
    term = computed_term(whole.name, cost_of_part, whole.unit, figures)
    return replace(term, inputs=figures[1:], parts=(replace(whole, name="machine"),))


def _capital_term(bill: Bill, pick: Pick) -> Term | None:
    lines = [_line_term(index, bill, pick) for index, item in enumerate(bill.items) if item.price is not None]
    return summed_term("capital", lines, bill.currency or "currency") if lines else None


def _line_term(index: int, bill: Bill, pick: Pick) -> Term:
    item = bill.items[index]
    assert item.unit_price is not None
    name = item.part.replace(" ", "_") if item.kind == "cable" else item.kind
    key = "quote" if item.quoted else f"prices.{PRICED_AS.get(item.kind, item.kind)}"
    inputs = (
        ("quantity", Figure(float(item.quantity), "1", Computed(item.derivation))),
        ("unit_price", Figure(pick(item.unit_price.price), bill.currency, Written(f"procurement.{key}"))),
    )
    return computed_term(name, line_price, bill.currency or "currency", inputs)


def _rent_term(inputs: Inputs, pick: Pick, years: float) -> Term | None:
    price = (inputs.procurement.prices or {}).get("node_hour")
    if price is None or not inputs.rented:
        return None
    nodes = Figure(float(inputs.cluster.all_nodes), "1", Written("cluster.nodes"))
    rate = Figure(pick(price), inputs.bill.currency, Written("procurement.prices.node_hour"))
    figures = (("nodes", nodes), ("node_hour", rate), ("hours", _hours_figure(years)))
    return computed_term("rent", node_rent, inputs.currency, figures)


def power_term(power: PowerDraw) -> Term:
    """The electrical power of the machine at full load, in watts. It has a range if node power is assumed.

    Without parts where the power of a node is not known: switches alone are not the power of the machine.
    """
    return ranged_term(*(_power_sum(power, pick) for pick in PICKS))


def _power_sum(power: PowerDraw, pick: Pick) -> Term:
    parts: list[Term] = []
    if power.node is None:
        return summed_term("watts", parts, "W")
    node = replace(power.node, value=pick(power.node_range)) if power.node_range else power.node
    parts.append(parts_power("nodes", power.nodes, node))
    if power.domain_overhead is not None:
        parts.append(parts_power("scale_up_and_conversion", power.domains, power.domain_overhead))
    if power.switch is not None and power.switches:
        parts.append(parts_power("switches", power.switches, power.switch))
    if power.racks and power.rack_overhead.value:
        parts.append(parts_power("rack_overhead", power.racks, power.rack_overhead))
    return summed_term("watts", parts, "W")


def energy_term(inputs: Inputs, pick: Pick, years: float) -> Term | None:
    price = mean_price(inputs.procurement, inputs.currency)
    drawn = _power_sum(inputs.power, pick)
    if price is None or inputs.rented or inputs.cluster.cloud or not drawn.parts:
        return None
    if inputs.drawn is not None and inputs.drawn.busy is not None:
        return _drawn_energy(inputs, pick, years, price)
    figures = (
        ("watts", Figure(drawn.value, "W", Computed(drawn.formula))),
        ("pue", inputs.pue),
        ("hours", _hours_figure(years)),
        ("utilization", inputs.utilization),
        ("electricity", _price_figure(inputs, price)),
    )
    term = computed_term("energy", energy_cost, inputs.bill.currency or "currency", figures)
    return _term_of_part(inputs, replace(term, inputs=figures[1:], parts=(drawn,)))


def _price_figure(inputs: Inputs, price: Term) -> Figure:
    """The price of a kWh as stated, or the mean of a tariff."""
    origin = Computed(price.formula) if inputs.procurement.tariff else Written("procurement.electricity")
    return Figure(price.value, inputs.bill.currency, origin)


def _drawn_energy(inputs: Inputs, pick: Pick, years: float, price: Term) -> Term:
    """The energy over the term from the power as drawn: under load for the utilization, idle for the rest."""
    assert inputs.drawn is not None and inputs.drawn.busy is not None
    busy, idle = (_figure_at_end(term, pick) for term in (inputs.drawn.busy, inputs.drawn.idle))
    parts = (("busy", busy), ("idle", idle), ("utilization", inputs.utilization))
    mean = computed_term("watts", mean_draw, "W", parts)
    figures = (
        ("watts", Figure(mean.value, "W", Computed(mean.formula))),
        ("pue", inputs.pue),
        ("hours", _hours_figure(years)),
        ("electricity", _price_figure(inputs, price)),
    )
    term = computed_term("energy", drawn_energy_cost, inputs.bill.currency or "currency", figures)
    return replace(term, inputs=figures[1:], parts=(mean,))


def constant_energy(inputs: Inputs, watts: Term, years: float) -> Term | None:
    """The energy of a constant power over the term, with its range; None if electricity has no price."""
    price = mean_price(inputs.procurement, inputs.currency)
    if price is None or inputs.rented or inputs.cluster.cloud:
        return None
    priced = _price_figure(inputs, price)

    def energy_at(pick: Pick) -> Term:
        figures = (
            ("watts", _figure_at_end(watts, pick)),
            ("pue", inputs.pue),
            ("hours", _hours_figure(years)),
            ("electricity", priced),
        )
        return computed_term("energy", drawn_energy_cost, inputs.currency, figures)

    return ranged_over_picks(energy_at)


def _figure_at_end(term: Term, pick: Pick) -> Figure:
    """The low end, middle or high end of a power."""
    low, high = term.ends
    return Figure((low, term.value, high)[PICKS.index(pick)], "W", Computed(term.formula))


def _support_term(inputs: Inputs, pick: Pick, years: float) -> Term | None:
    price = (inputs.procurement.prices or {}).get("support_per_year")
    if price is None:
        return None
    figure = Figure(pick(price), inputs.bill.currency, Written("procurement.prices.support_per_year"))
    return computed_term(
        "support", yearly_cost, inputs.currency, (("per_year", figure), ("years", _years_figure(years)))
    )


def _rack_term(inputs: Inputs, pick: Pick, years: float) -> Term | None:
    price, racks = (inputs.procurement.prices or {}).get("rack_per_month"), inputs.power.racks
    if price is None or racks is None:
        return None
    figures = (
        ("racks", Figure(float(racks), "1", Computed("nodes / nodes_per_rack, rounded up"))),
        ("per_month", Figure(pick(price), inputs.bill.currency, Written("procurement.prices.rack_per_month"))),
        ("years", _years_figure(years)),
    )
    return computed_term("racks", rack_rent, inputs.currency, figures)


def missing_costs(inputs: Inputs) -> Iterator[str]:
    """The costs missing from the sum, each with the key that would add it."""
    prices = inputs.procurement.prices or {}
    yield from inputs.bill.lacking
    if not inputs.rented:
        unpriced = (
            f"{item.part_label}: no price for `{PRICED_AS.get(item.kind, item.kind)}`" for item in inputs.bill.unpriced
        )
        yield from dict.fromkeys(unpriced)  # spares are priced as nodes
    if any(item.quoted for item in inputs.bill.items):
        yield from _other_quoted_lines(inputs)
    if inputs.procurement.discount:
        yield f"the discount of {percent(inputs.procurement.discount)} on the prices (`procurement.discount`)"
    if inputs.procurement.tax:
        yield f"the tax of {percent(inputs.procurement.tax)} on the prices (`procurement.tax`)"
    if inputs.years is None:
        yield "everything after the purchase: the term is not stated (`procurement.term`)"
        return
    if inputs.rented or inputs.cluster.cloud:
        return
    if mean_price(inputs.procurement, inputs.currency) is None:
        yield "electricity: its price is not stated (`procurement.electricity`)"
    yield from (f"energy of some parts: {text}" for text in inputs.power.missing)
    if "support_per_year" not in prices:
        yield "support: no price for `support_per_year`"
    if "rack_per_month" not in prices:
        yield "rack space: no price for `rack_per_month`"
    elif inputs.power.racks is None:
        yield "rack space: nodes of a rack are not stated (`cluster.power.nodes_per_rack`)"


def _other_quoted_lines(inputs: Inputs) -> Iterator[str]:
    """The priced lines of the quote that offer no part of the bill, such as support and installation."""
    priced = {PRICED_AS.get(item.kind, item.kind) for item in inputs.bill.items if item.quoted}
    for offered in offered_lines(inputs.procurement.quote or (), inputs.cluster):
        price = line_price_of_quote(offered.line)
        if offered.kind == "other" and price and offered.site_kind not in priced:
            yield f"{offered.line.part}: {Money.of(price, inputs.currency)} in the quote, for no part of the bill"


def cost_assumptions(inputs: Inputs, term: Term | None) -> tuple[Assumption, ...]:
    """The assumptions of the sum."""
    used = {figure.origin for part in (term.walk() if term else ()) for _, figure in part.inputs}
    known = (inputs.pue, inputs.utilization, *((inputs.power.node,) if inputs.power.node else ()))
    return tuple(
        (figure.origin.key, figure, figure.origin.why)
        for figure in known
        if isinstance(figure.origin, Assumed) and figure.origin in used
    )


def hours_of_years(years: float) -> float:
    """The hours of the given years of 365.25 days."""
    return years * YEAR / HOUR


def _hours_figure(years: float) -> Figure:
    return Figure(hours_of_years(years), "h", Written("procurement.term"))


def _years_figure(years: float) -> Figure:
    return Figure(years, "1", Written("procurement.term"))


def _written_figure(value: float | None, key: str) -> Figure | None:
    return None if value is None else Figure(float(value), "1", Written(f"procurement.{key}"))
