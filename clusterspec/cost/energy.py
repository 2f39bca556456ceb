"""Consequences of a machine's power: cost and carbon of energy, power of racks, rows and feeds, and heat flow."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Assumption, Cluster
from clusterspec.cost.formulas.power import (
    carbon_emitted,
    energy_price,
    feed_rating,
    feeds_capacity,
    power_of_parts,
    rack_draw,
)
from clusterspec.cost.heat import Heat, heat_of
from clusterspec.cost.nameplates import node_nameplates, overhead_of_rack
from clusterspec.cost.term import Term, computed_term, ranged_term
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, replace
from clusterspec.source import Assumed, Computed, Origin, Written
from clusterspec.spec.model import ClusterSpec, OperationsSpec, ProcurementSpec

PUE = Figure(
    1.54,
    "1",
    Assumed(
        "procurement.pue",
        "the average of data centers in the Uptime Institute Global Data Center Survey 2025;"
        " new facilities with liquid cooling state 1.1 to 1.3",
    ),
)
ELECTRICITY = "procurement.electricity"
FEEDS = {"N": (1, 0), "N+1": (3, 1), "2N": (2, 1)}
"""Feeds of a rack by redundancy, and how many of them may fail. Of N+1, two feeds carry the rack."""


def stated_pue(procurement: ProcurementSpec | None) -> Figure:
    """The power usage effectiveness of the site as stated, else the average of data centers."""
    stated = procurement.pue if procurement else None
    return PUE if stated is None else Figure(float(stated), "1", Written("procurement.pue"))


def tariff_minutes(procurement: ProcurementSpec) -> list[tuple[float | None, int]]:
    """The prices per kWh with the minutes of a day to which each applies; the last one applies to all remaining
    minutes.

    Where hours overlap, the first entry that includes a minute counts.
    """
    from clusterspec.cluster.serving_load import DAY_MINUTES, minutes_of_hours  # few specs state what energy costs

    taken: set[int] = set()
    found: list[tuple[float | None, int]] = []
    for hours in procurement.tariff or ():
        if hours.starts is None or hours.to is None or hours.price is None:
            continue
        own = minutes_of_hours(hours.starts, hours.to) - taken
        taken |= own
        found.append((float(hours.price), len(own)))
    rest = procurement.electricity
    return [*found, (None if rest is None else float(rest), DAY_MINUTES - len(taken))]


def mean_price(procurement: ProcurementSpec | None, currency: str) -> Term | None:
    """The mean price of a kWh over a day, drawn evenly; None if some minutes have no price."""
    if procurement is None:
        return None
    named, weighted = len(procurement.tariff or ()), 0.0
    prices = [(price, minutes) for price, minutes in tariff_minutes(procurement) if minutes]
    inputs: list[tuple[str, Figure]] = []
    for number, (price, minutes) in enumerate(prices, 1):
        if price is None:
            return None
        key = "procurement.tariff" if number <= named else ELECTRICITY
        inputs.append((f"price_{number}", Figure(price, currency, Written(key))))
        hours: Origin = Written(key) if number <= named else Computed("hours without a tariff")
        inputs.append((f"hours_{number}", Figure(minutes / 60, "h", hours)))
        weighted += price * minutes
    if len(prices) == 1 and not procurement.tariff:
        return Term("price", inputs[0][1].value, currency, "price_1", (inputs[0],))
    formula = "(" + " + ".join(f"price_{number} * hours_{number}" for number in range(1, len(prices) + 1)) + ") / 24"
    return Term("price", weighted / sum(minutes for _, minutes in prices), currency, formula, tuple(inputs))


def money_of(name: str, energy: Term, procurement: ProcurementSpec | None) -> Term | None:
    """The price of an amount of energy, with its range; None if the spec states no price of electricity."""
    currency = procurement.currency if procurement and procurement.currency else "currency"
    price = mean_price(procurement, currency)
    if price is None:
        return None
    figure = ("price", Figure(price.value, currency, Computed(price.formula)))
    return _energy_term(name, energy, energy_price, currency, ("pue", stated_pue(procurement)), figure, price=price)


def carbon_of(
    name: str, energy: Term, operations: OperationsSpec | None, procurement: ProcurementSpec | None
) -> Term | None:
    """The carbon of an energy in kg of CO2 equivalent with its range; None without a stated intensity.

    No intensity is assumed: the intensities of grids differ fiftyfold.
    """
    carbon = operations.carbon if operations else None
    if carbon is None or carbon.intensity is None:
        return None
    figure = ("intensity", Figure(float(carbon.intensity), "1", Written("operations.carbon.intensity")))
    return _energy_term(name, energy, carbon_emitted, "kg", ("pue", stated_pue(procurement)), figure)


def _energy_term(
    name: str,
    energy: Term,
    function: Callable[..., float],
    unit: str,
    *figures: tuple[str, Figure],
    price: Term | None = None,
) -> Term:
    """A formula of the joules of an energy and some figures, over the range of the energy."""

    def term_of_joules(joules: float) -> Term:
        figure = ("joules", Figure(joules, "J", Computed(energy.formula)))
        term = computed_term(name, function, unit, (figure, *figures))
        if price is None:
            return term
        return replace(term, inputs=term.inputs[:-1], parts=(price,))

    return _over_range(energy, term_of_joules)


def parts_power(name: str, count: float, each: Figure) -> Term:
    """The power of ``count`` equal parts in watts. ``each``: the power of one switch, stated or from the catalog."""
    number = Figure(float(count), "1", Computed(f"{name.replace('_', ' ')} installed"))
    return computed_term(name, power_of_parts, "W", (("count", number), ("watts_each", each)))


# Racks, rows and feeds, at the nameplates of nodes


@dataclass(frozen=True)
class Supply:
    """The nameplate power of a full rack, a full row and the hall in watts; the rating of each feed of a rack and the
    capacity of all feeds; and the heat. A field is None if the spec lacks its inputs.
    """

    rack: Term | None = None
    row: Term | None = None
    feed: Term | None = None
    feeds: int | None = None
    racks: int | None = None
    hall: Term | None = None
    all_feeds: Term | None = None
    heat: tuple[Heat, ...] = ()
    """The heat of a rack, a row and the hall, as far as it is known."""

    def to_json(self) -> dict[str, object]:
        """The document in watts; a rack has ``feeds`` feeds with a rating of ``feed`` each."""
        named = {name: self.terms[name] for name in ("rack", "row", "feed", "hall", "all_feeds")}
        values: dict[str, object] = {name: term.value if term else None for name, term in named.items()}
        values["range"] = {
            name: [term.low, term.high] if term and term.low is not None else None for name, term in named.items()
        }
        heat = {each.of: each.to_json() for each in self.heat}
        return values | {"feeds": self.feeds, "racks": self.racks, "heat": heat or None}

    @property
    def terms(self) -> dict[str, Term | None]:
        """The terms by name."""
        sums = {"rack": self.rack, "row": self.row, "feed": self.feed, "hall": self.hall, "all_feeds": self.all_feeds}
        return sums | {term.name: term for each in self.heat for term in (each.liquid, each.air)}


def supply(cluster: Cluster, section: ClusterSpec | None, hall: Term | None = None, switches: float = 0.0) -> Supply:
    """The power, the feeds and the heat of racks, rows and the hall of a machine.

    ``hall`` is the power of all parts at nameplates, including ``switches`` watts of the fabric's switches.
    """
    power = section.power if section else None
    whole = (heat_of("hall", without_switches(hall, switches), cluster, power, switches=switches),) if hall else ()
    nodes = node_nameplates(cluster)
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power else None)
    if section is None or per_rack is None or nodes is None:
        return Supply(hall=hall, heat=whole)
    rack = ranged_term(*(_power_of_rack(cluster, section, per_rack, node) for node in nodes))
    racks = -(-cluster.all_nodes // per_rack)
    count, spare = FEEDS.get((power.feeds if power else None) or "", (0, 0))
    row = _power_of_row(rack, racks, section)
    heat = tuple(heat_of(term.name, term, cluster, power) for term in (rack, row) if term is not None)
    feed, all_feeds = _load_of_feed("feed", feed_rating, rack, count, spare), None
    if hall is not None:
        all_feeds = _load_of_feed("all_feeds", feeds_capacity, hall, count, spare)
    return Supply(rack, row, feed, count or None, racks, hall, all_feeds, (*heat, *whole))


def _power_of_rack(cluster: Cluster, section: ClusterSpec, per_rack: int, node: Figure) -> Term:
    """The power of a full rack; ``node`` is the power of one node."""
    power = section.power
    stated = power is not None and power.nodes_per_rack is not None
    origin = Written("cluster.power.nodes_per_rack") if stated else Computed("nodes of the platform's rack")
    figures = (
        ("nodes_per_rack", _filled_count(per_rack, origin, cluster.all_nodes, "nodes + spare_nodes")),
        ("node", node),
        ("overhead", overhead_of_rack(cluster, power)),
    )
    return computed_term("rack", rack_draw, "W", figures)


def _filled_count(held: int, origin: Origin, installed: int, of_installed: str) -> Figure:
    """The number of nodes in a rack, or of racks in a row: its capacity, or the installed number if that is smaller."""
    return Figure(float(held), "1", origin) if held <= installed else Figure(installed, "1", Computed(of_installed))


def without_switches(hall: Term, switches: float) -> Term:
    """The power of a hall without the switches of its fabric, as a term."""
    figures = (
        ("hall", Figure(hall.value, "W", Computed(hall.formula))),
        ("switches", Figure(switches, "W", Computed("switches * watts_each"))),
    )
    return Term("nodes", hall.value - switches, "W", "hall - switches", figures)


def _power_of_row(rack: Term, racks: int, section: ClusterSpec) -> Term | None:
    held = section.floor.racks_per_row if section.floor else None
    if held is None:
        return None
    count = _filled_count(held, Written("cluster.floor.racks_per_row"), racks, "racks")

    def row_of(watts: float) -> Term:
        each = replace(rack, value=watts)
        return Term("row", watts * count.value, "W", "racks_per_row * rack", (("racks_per_row", count),), (each,))

    return _over_range(rack, row_of)


def _load_of_feed(name: str, function: Callable[..., float], whole: Term, count: int, spare: int) -> Term | None:
    if not count:
        return None
    figures = (
        ("feeds", Figure(float(count), "1", Computed("feeds of a rack, from cluster.power.feeds"))),
        ("spare", Figure(float(spare), "1", Computed("feeds that may fail"))),
    )

    def load_of(watts: float) -> Term:
        return computed_term(name, function, "W", (("watts", Figure(watts, "W", Computed(whole.formula))), *figures))

    return _over_range(whole, load_of)


def _over_range(whole: Term, function: Callable[[float], Term]) -> Term:
    """A term that depends on another term's value, evaluated over the range of that term."""
    low, high = (whole.value if end is None else end for end in (whole.low, whole.high))
    return ranged_term(function(low), function(whole.value), function(high))


def energy_assumptions(
    cluster: ClusterSpec | None, operations: OperationsSpec | None, procurement: ProcurementSpec | None
) -> tuple[Assumption, ...]:
    """Assumptions behind money, carbon and feeds that the spec does not state."""
    found: list[Assumption] = []
    priced = procurement is not None and (procurement.electricity is not None or procurement.tariff)
    if (priced or (operations is not None and operations.carbon)) and stated_pue(procurement) is PUE:
        assert isinstance(PUE.origin, Assumed)
        found.append((PUE.origin.key, PUE, PUE.origin.why))
    if procurement is not None and procurement.tariff:
        found.append(("hours of a day", "drawn evenly", "a job runs day and night; the tariff counts by its hours"))
    if cluster is not None and cluster.power is not None and cluster.power.feeds == "N+1":
        found.append(("feeds of a rack", "3 with N+1", "two feeds carry the rack and one is spare"))
    return tuple(found)
