"""Quantities of a design that the demands of texts bound, each from the cluster and cost models, and the demands that they break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.quantity import HOUR, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.answer_values import ANSWER_QUANTITIES
from clusterspec.rules.readers.demands.bill_values import BILL_QUANTITIES, paid_after_acceptance, paid_with_order
from clusterspec.rules.readers.demands.demand import Demand
from clusterspec.rules.readers.demands.fabric_values import FABRIC_QUANTITIES
from clusterspec.rules.readers.demands.job_values import JOB_QUANTITIES
from clusterspec.rules.readers.demands.parts import Parts, Quantity, Value
from clusterspec.rules.readers.demands.power_values import (
    carbon_of_term,
    facility_watts,
    heat_to_air,
    heat_to_water,
    idle_watts,
    node_watts,
    rack_watts,
    row_watts,
    yearly_carbon,
    yearly_energy,
)
from clusterspec.rules.readers.demands.quantity_subjects import QUANTITY_SUBJECTS
from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.demands.run_values import (
    checkpoint_read,
    cold_start,
    cost_of_failure,
    flops_of_run,
    lost_work,
    passes_of_run,
    steps_of_run,
    time_of_acceptance,
    time_of_run,
    weight_transfer,
)
from clusterspec.rules.readers.demands.service_values import (
    reach_of_leaves,
    reach_of_spines,
    requests_of_engine,
    whole_answer,
)
from clusterspec.rules.readers.demands.site_values import SITE_QUANTITIES
from clusterspec.rules.readers.demands.subjects import ABOVE, OTHER
from clusterspec.rules.readers.demands.totals import (
    all_accelerators,
    all_nodes,
    device_memory,
    paid_before_acceptance,
    paid_before_delivery,
    share_before_acceptance,
    spare_share,
)
from clusterspec.rules.readers.demands.values import BOUNDS, SAME, has_value, is_of_nodes
from clusterspec.units import display, percent

OF_KEYS = frozenset(
    {
        "racks",
        "first token",
        "token gap",
        "token rate",
        "concurrency",
        "run time",
        "rack power",
        "whole answer",
        "leaf to spine",
        "node to leaf",
    }
)
"""Subjects of a key that the design gives where the key is not stated."""
NAMES = frozenset({*OF_KEYS, *(each.name for each in QUANTITY_SUBJECTS)})
EXACT = 0.005
"""Relative difference up to which a quantity keeps a demand: both are rounded."""
FARTHEST_OTHER = 5.0
"""The same ratio where a text states the quantity itself."""
FARTHEST = 20.0
"""Ratio of a quantity to a demand from which the demand is probably of something else."""


class BrokenQuantity(NamedTuple):
    """A demand that a quantity of the design breaks."""

    demand: Demand
    quantity: Quantity
    value: Value

    @property
    def message(self) -> str:
        """What the text demands, and what the design gives."""
        found = self.value.low if self.demand.hurts == ABOVE else self.value.high
        number = written_quantity(found, self.quantity.unit)
        bound = f"{self.quantity.what} {BOUNDS[self.demand.hurts]} `{self.demand.words}`"
        return f"according to the text, {bound}, but it is {number}: {self.value.how}"


def written_quantity(value: float, unit: str) -> str:
    """A value with its unit as messages print it.

    >>> written_quantity(921600.0, "W"), written_quantity(0.03, "%"), written_quantity(4.5, "passes"), written_quantity(3.6e12, "J")
    ('922 kW', '3 %', '4.5 passes', '1,000 MWh')
    """
    if unit == "%":
        return percent(value)
    if unit == "money" and abs(value) < _SMALL_SUM:
        return f"{value:,.4g}"
    if unit in _LARGE:
        scale, name = _LARGE[unit]
        return f"{value / scale:,.0f} {name}".strip()
    if value >= 1e4 and unit in {"tokens", "tokens/s", "requests"}:
        return f"{value:,.0f} {unit}"
    return display(value, unit) if unit in {"W", "s", "B", "B/s"} else f"{value:,.4g} {unit}"


_SMALL_SUM = 100.0
"""Sum of money below which messages print decimals."""
_LARGE = {
    "J": (3.6e9, "MWh"),
    "kg": (1e3, "t"),
    "money": (1.0, ""),
    "money a year": (1 / YEAR, "a year"),
    "steps": (1.0, "steps"),
    "accelerators": (1.0, "accelerators"),
    "accelerator-hours": (HOUR, "accelerator-hours"),
}
"""Units of large figures, with the unit of messages and its size."""


def broken_quantities(text: str, parts: Parts, names: frozenset[str] = NAMES) -> Iterator[BrokenQuantity]:
    """The demands of a text that a quantity of the design breaks, one for each quantity and for each figure at a key; none where a
    demand of the text on the quantity is kept.
    """
    told = set()
    demands: dict[str, list[Demand]] = {}
    for each in demands_in(text):
        if each.subject.name in names:
            demands.setdefault(each.subject.name, []).append(each)
    for name, stated in demands.items():
        quantity = QUANTITIES[name]
        if name == "rack power" and any(is_of_nodes(each, parts.spec) for each in stated):
            continue
        figure = quantity.key, stated[0].words, stated[0].sentence
        if figure in told:
            continue
        values = [quantity.of(parts._replace(sentence=each.sentence)) for each in stated]
        first = values[0]
        if first is not None and all(
            value is not None and _is_broken(each, value, quantity.slack)
            for each, value in zip(stated, values, strict=True)
        ):
            told.add(figure)
            yield BrokenQuantity(stated[0], quantity, first)


def _is_broken(demand: Demand, value: Value, slack: float) -> bool:
    """Whether every value of a range breaks a demand whose sentence states none of them."""
    found = value.low if demand.hurts == ABOVE else value.high
    ratio = found / demand.value if demand.value else 0.0
    farthest = FARTHEST_OTHER if demand.hurts == OTHER else FARTHEST
    if not 1 / farthest < ratio < farthest or any(has_value(demand, each, SAME) for each in (value.low, value.high)):
        return False
    if demand.hurts == OTHER:
        return not value.low * (1 - slack) <= demand.value <= value.high * (1 + slack)
    return ratio > 1 + slack if demand.hurts == ABOVE else ratio < 1 - slack


TOKENS = "workload.tokens"
_SHARE_KEY, _NODES = "cluster.power.liquid_share", "cluster.nodes"
QUANTITIES: Mapping[str, Quantity] = {
    "heat to water": Quantity(_SHARE_KEY, "the heat of the machine to the liquid", "W", heat_to_water, 0.03),
    "delivered heat": Quantity(_SHARE_KEY, "the heat of the machine to the liquid", "W", heat_to_water, 0.03),
    "heat to air": Quantity(_SHARE_KEY, "the heat of the machine to the air", "W", heat_to_air, 0.03),
    "idle power": Quantity("cluster.power.node_idle", "the power of the machine without work", "W", idle_watts),
    "facility power": Quantity(
        "cluster.power.budget", "the power of the machine with its cooling", "W", facility_watts
    ),
    "row power": Quantity("cluster.floor.racks_per_row", "the power of a row", "W", row_watts),
    "energy of a year": Quantity("procurement.utilization", "the energy of a year", "J", yearly_energy, 0.02),
    "carbon of a year": Quantity("operations.carbon.intensity", "the carbon of a year", "kg", yearly_carbon, 0.02),
    "carbon of the term": Quantity("operations.carbon.intensity", "the carbon of the term", "kg", carbon_of_term, 0.02),
    "passes": Quantity(TOKENS, "the number of passes over the data", "passes", passes_of_run, 0.02),
    "steps": Quantity(TOKENS, "the number of steps", "steps", steps_of_run, 0.02),
    "lost work": Quantity("operations.checkpoint.interval", "the work that a failure costs", "s", lost_work, 0.05),
    "checkpoint read": Quantity(
        "cluster.networks.storage.read", "the time to read a checkpoint", "s", checkpoint_read, 0.05
    ),
    "weight transfer": Quantity("workload.rl.weight_sync", "the time to send new weights", "s", weight_transfer, 0.03),
    "cold start": Quantity("cluster.networks.storage.read", "the start of an engine", "s", cold_start, 0.03),
    "device memory": Quantity("cluster.nodes", "the memory of all accelerators", "B", device_memory, 0.08),
    "all accelerators": Quantity(_NODES, "the number of accelerators", "accelerators", all_accelerators),
    "all nodes": Quantity(_NODES, "the number of nodes", "nodes", all_nodes),
    "acceptance time": Quantity(
        "acceptance.0.duration", "the time of the acceptance tests", "s", time_of_acceptance, 0.02
    ),
    "compute": Quantity(TOKENS, "the computation of the run", "FLOP", flops_of_run, 0.03),
    "rack power": Quantity("cluster.power.nodes_per_rack", "the power of a rack", "W", rack_watts, 0.01),
    "whole answer": Quantity("workload.serving.targets", "the time to the last token", "s", whole_answer),
    "leaf to spine": Quantity(
        "cluster.scale_out.optics.leaf_spine", "the reach from leaf to spine", "m", reach_of_spines
    ),
    "node to leaf": Quantity("cluster.scale_out.optics.node_leaf", "the reach from node to leaf", "m", reach_of_leaves),
    "run time": Quantity("description", "the time of the run", "s", time_of_run, 0.02),
    "spare share": Quantity("cluster.spare_nodes", "the share of spare nodes", "%", spare_share, 0.02),
    "paid before delivery": Quantity(
        "procurement.payment.order", "the money paid before delivery", "money", paid_before_delivery
    ),
    "share paid before acceptance": Quantity(
        "procurement.payment.delivery", "the share that is paid before acceptance", "%", share_before_acceptance
    ),
    "paid before acceptance": Quantity(
        "procurement.payment.order", "the money paid before acceptance", "money", paid_before_acceptance
    ),
    "money after acceptance": Quantity(
        "procurement.payment.acceptance", "the money paid after acceptance", "money", paid_after_acceptance, 0.02
    ),
    "money with the order": Quantity(
        "procurement.payment.order", "the money paid with the order", "money", paid_with_order, 0.02
    ),
    "cost of a failure": Quantity(
        "operations.checkpoint.interval", "the time that a failure costs", "s", cost_of_failure, 0.03
    ),
    "requests of an engine": Quantity(
        "workload.serving.concurrency", "the number of requests of an engine", "requests", requests_of_engine
    ),
    "power of a node": Quantity("cluster.power.node", "the power of a node", "W", node_watts, 0.02),
    **BILL_QUANTITIES,
    **SITE_QUANTITIES,
    **JOB_QUANTITIES,
    **ANSWER_QUANTITIES,
    **FABRIC_QUANTITIES,
}
