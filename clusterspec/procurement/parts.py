"""Racks and electrical power of a machine, and the cost terms with their formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.cluster.degrees import domain_overhead, nodes_of_rack
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.planes import parts_needed
from clusterspec.cost.term import EXPRESSIONS, Term, formula
from clusterspec.money import CurrencyMismatch
from clusterspec.origin import Assumed, Computed, Written
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, replace
from clusterspec.spec.model import PowerSpec
from clusterspec.summation import sum_of
from clusterspec.units import display, plural

# Racks and electrical power of nodes, spare nodes, switches and scale-up domains

HOST_SHARES = (0.4, 1.1)
"""Power of the rest of a node (processors, NICs, fans, conversion) per watt of its accelerators, lowest and highest.

The ratings of DGX-1, DGX-2 and DGX A100, H100, H200, B200 and B300 give 0.46 to 1.08. An HGX H100 measured at most
8.4 kW in training, that is 0.50 (Latif et al., Single-Node Power Demand During AI Training, IEEE Access 13, 2025).
"""
WHY = (
    "the accelerators plus 0.4 to 1.1 of their power for the rest of the node: DGX systems of seven generations are"
    " rated at 0.46 to 1.08, an HGX H100 measured 0.50; state the power of your server"
)


@dataclass(frozen=True, slots=True)
class PowerDraw:
    """The power of each part of the machine at full load in watts; None if unknown.

    ``nodes`` and ``switches`` are the installed numbers, including spares. ``node_range`` is the range of a node whose
    power is assumed. ``domain_overhead`` is what a rack-scale domain draws besides its nodes. ``racks`` is None if
    `cluster.power.nodes_per_rack` is missing; racks with only switches are not counted.
    """

    node: Figure | None
    nodes: int
    switch: Figure | None
    switches: int
    rack_overhead: Figure
    racks: int | None
    domain_overhead: Figure | None = None
    domains: int = 0
    node_range: tuple[float, float] | None = None
    accelerator: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """The figures missing from the sum."""
        lacking = []
        if self.node is None:
            why = f"; the catalog has no power of {self.accelerator}" if self.accelerator else ""
            lacking.append(f"power of a node (`cluster.power.node`){why}")
        if self.switch is None and self.switches:
            lacking.append("power of a switch (`cluster.power.switch`)")
        if self.racks is None and self.rack_overhead.value:
            lacking.append("number of racks with an overhead (`cluster.power.nodes_per_rack`)")
        return tuple(lacking)


def power_draw(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> PowerDraw:
    """The power of the machine from the spec, else from the catalog entries of platform and switch.

    A node without either is its accelerators and an assumed share for the rest.
    """
    per_rack = written.nodes_per_rack if written else None
    switches = fabric.leaf_switches + fabric.spine_switches + fabric.core_switches if fabric else 0
    stated = written.rack_overhead if written else None
    low, high = _assumed_range(cluster) if cluster.node_power is None else (None, None)
    middle = Figure((low + high) / 2, "W", Assumed("cluster.power.node", WHY)) if low and high else None
    return PowerDraw(
        node=cluster.node_power or middle,
        nodes=cluster.all_nodes,
        switch=_switch_power(cluster, written),
        switches=switches,
        rack_overhead=Figure(stated.value if stated else 0.0, "W", Written("cluster.power.rack_overhead")),
        racks=parts_needed(cluster.all_nodes, per_rack) if per_rack else None,
        domain_overhead=_rack_overhead(cluster) if stated is None else None,
        domains=parts_needed(cluster.all_nodes, nodes_of_rack(cluster.platform) if cluster.platform else 1),
        node_range=(low, high) if low and high else None,
        accelerator=cluster.accelerator.id,
    )


def rack_power(cluster: Cluster, written: PowerSpec) -> float | None:
    """Watts of a full rack: its nodes, and the stated overhead or the switches of whole domains; None if not known."""
    if cluster.node_power is None or written.nodes_per_rack is None:
        return None
    return cluster.node_power.value * written.nodes_per_rack + overhead_of_rack(cluster, written)


def overhead_of_rack(cluster: Cluster, written: PowerSpec) -> float:
    """Watts of a rack besides its nodes: as stated, else those of the whole rack-scale domains in it."""
    if written.rack_overhead is not None:
        return written.rack_overhead.value
    if cluster.platform is None or written.nodes_per_rack is None:
        return 0.0
    return domain_overhead(cluster) * (written.nodes_per_rack // nodes_of_rack(cluster.platform))


def it_power(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> tuple[float, str] | None:
    """Watts of nodes, spares, switches, domains and racks at full load, with the sum as text; None if a part lacks."""
    draw = power_draw(cluster, fabric, written)
    if draw.missing or draw.node is None:
        return None
    parts = [(draw.nodes, "node", draw.node.value)]
    parts += [(draw.switches, "switch", draw.switch.value)] if draw.switch and draw.switches else []
    parts += [(draw.domains, "rack-scale domain", draw.domain_overhead.value)] if draw.domain_overhead else []
    parts += [(draw.racks, "rack", draw.rack_overhead.value)] if draw.racks and draw.rack_overhead.value else []
    how = " + ".join(f"{plural(count, name)} of {display(each, 'W')}" for count, name, each in parts)
    return sum_of(count * each for count, _, each in parts), how


def _assumed_range(cluster: Cluster) -> tuple[float, float] | tuple[None, None]:
    """The power of a node with an unknown server, as (low, high) in watts; None without the power of accelerators."""
    if cluster.accelerator.power is None:
        return None, None
    accelerators = cluster.accelerators_per_node * cluster.accelerator.power.value
    low, high = (accelerators * (1 + share) for share in HOST_SHARES)
    return low, high


def _rack_overhead(cluster: Cluster) -> Figure | None:
    watts = domain_overhead(cluster)
    return Figure(watts, "W", Computed("rack_power - nodes_of_rack * node_power")) if watts else None


def _switch_power(cluster: Cluster, written: PowerSpec | None) -> Figure | None:
    if written is not None and written.switch is not None:
        return Figure(written.switch.value, "W", Written("cluster.power.switch"))
    switch = cluster.scale_out.switch if cluster.scale_out else None
    return switch.power if switch else None


# Cost terms, computed from formulas at the low, middle and high price

Inputs = Sequence[tuple[str, Figure]]


def computed_term(name: str, formula: Callable[..., float], unit: str, inputs: Inputs) -> Term:
    """The value of a formula at its inputs, as a term that prints the formula's expression."""
    value = formula(**{key: figure.value for key, figure in inputs})
    return Term(name, value, unit, EXPRESSIONS[formula], tuple(inputs))


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


def ranged_term(low: Term, middle: Term, high: Term) -> Term:
    """The middle term with the range of the other two, part by part; without a range if they are equal."""
    parts = tuple(map(ranged_term, low.parts, middle.parts, high.parts))
    ends = sorted((low.value, high.value))
    spread = (None, None) if ends[0] == ends[1] else (ends[0], ends[1])
    return replace(middle, parts=parts, low=spread[0], high=spread[1])


# Formulas of cost. Amounts in the currency of the spec, times in the unit of each name


@formula("quantity * unit_price")
def line_price(quantity: float, unit_price: float) -> float:
    """The price of a quantity of parts.

    >>> line_price(64, 310_000.0)
    19840000.0
    """
    return quantity * unit_price


@formula("count * watts_each")
def power_of_parts(count: float, watts_each: float) -> float:
    """The electrical power of a number of parts at full load, in watts.

    >>> power_of_parts(64, 10_200.0)
    652800.0
    """
    return count * watts_each


@formula("watts / 1000 * pue * hours * utilization * electricity")
def energy_cost(watts: float, pue: float, hours: float, utilization: float, electricity: float) -> float:
    """The cost of electricity: IT power × PUE × hours × share of full load × price of a kWh.

    Source: PUE as in ISO/IEC 30134-2: energy of the facility over that of the IT equipment.

    >>> energy_cost(1_000_000.0, 1.3, 8_760.0, 0.85, 0.12)
    1161576.0
    """
    return watts / 1000 * pue * hours * utilization * electricity


@formula("watts / 1000 * pue * hours * electricity")
def drawn_energy_cost(watts: float, pue: float, hours: float, electricity: float) -> float:
    """The cost of electricity at a mean IT power: power × PUE × hours × price of a kWh.

    Source: PUE as in ISO/IEC 30134-2: energy of the facility over that of the IT equipment.

    >>> drawn_energy_cost(850_000.0, 1.3, 8_760.0, 0.12)
    1161576.0
    """
    return watts / 1000 * pue * hours * electricity


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


@formula("total / (term * utilization) * used / accelerators")
def cost_per_second(total: float, term: float, utilization: float, used: float, accelerators: float) -> float:
    """The cost of a second of the job: the cost of the term, divided by its utilized seconds, times the fraction of
    accelerators used. ``term`` is in seconds.

    >>> cost_per_second(31_536_000.0, 31_536_000.0, 0.5, 512, 1_024)
    1.0
    """
    return total / (term * utilization) * used / accelerators


@formula("per_second / (tokens_per_second * goodput) * 1000000")
def cost_per_million_tokens(per_second: float, tokens_per_second: float, goodput: float) -> float:
    """The cost of a million tokens; ``tokens_per_second`` is of the whole job, ``goodput`` the fraction of productive
    time.

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
