"""The values of a design that the demands of texts are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.demand_figures import MEASURES, DemandFigure, demand_figures
from clusterspec.rules.knowledge.demand_subjects import ABOVE, BELOW, OTHER
from clusterspec.rules.knowledge.demands import Demand, demands_in
from clusterspec.rules.knowledge.key_values import KILOWATT_HOUR
from clusterspec.rules.knowledge.written_numbers import NUMBER, number_in_text, numbers_within
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import percent, plain

SLACK = 0.05
"""Relative difference up to which a value keeps a demand: both may be rounded, as 32k and 32,768."""
SAME = 0.005
"""Relative difference up to which a figure of the sentence is that of the key."""
_NUMBER = pattern(NUMBER)
FARTHEST = 20.0
"""Ratio of a value to a demand from which the demand is probably of something else."""


class Place(NamedTuple):
    """The key of a subject, what it is, its unit in messages, and the factor of its numbers to SI."""

    key: str
    what: str
    unit: str
    factor: float = 1.0


PLACES: Mapping[str, tuple[Place, ...]] = {
    "power": (Place("cluster.power.budget", "the power of the site", "W"),),
    "rack power": (Place("cluster.power.rack_limit", "the power of a rack", "W"),),
    "store": (Place("cluster.networks.storage.capacity", "the storage capacity", "B"),),
    "store write": (Place("cluster.networks.storage.bandwidth", "the rate of writing to the storage system", "B/s"),),
    "store read": (
        Place("cluster.networks.storage.read", "the rate of reading from the storage system", "B/s"),
        Place("cluster.networks.storage.bandwidth", "the rate of reading from the storage system", "B/s"),
    ),
    "host memory": (Place("cluster.host_memory", "the memory of a host", "B"),),
    "prompt": (
        Place("workload.serving.input_tokens.max", "the longest prompt", "tokens"),
        Place("workload.rl.input_tokens.max", "the longest prompt", "tokens"),
        Place("workload.sequence_length", "the longest document", "tokens"),
    ),
    "answer": (
        Place("workload.serving.output_tokens.max", "the longest answer", "tokens"),
        Place("workload.rl.output_tokens.max", "the longest answer", "tokens"),
    ),
    "concurrency": (Place("workload.serving.concurrency", "the number of requests in flight", "requests"),),
    "request rate": (Place("workload.serving.request_rate", "the request rate", "requests/s"),),
    "first token": (Place("workload.serving.targets.ttft", "the time to the first token", "s"),),
    "token gap": (
        Place("workload.serving.targets.tpot", "the time between tokens", "s"),
        Place("workload.serving.targets.itl", "the time between tokens", "s"),
    ),
    "run time": (Place("operations.targets.run_time", "the time of the run", "s"),),
    "tokens": (Place("workload.tokens", "the number of tokens of the run", "tokens"),),
    "delivery": (Place("procurement.delivery.weeks", "the time of delivery", "weeks", 7 * DAY),),
    "advance": (Place("procurement.payment.order", "the share that is paid with the order", "%"),),
    "retained": (Place("procurement.payment.acceptance", "the share that is paid after acceptance", "%"),),
    "warranty": (Place("procurement.warranty", "the warranty", "s"),),
    "response": (Place("procurement.support.response", "the response time of support", "s"),),
    "checkpoint interval": (Place("operations.checkpoint.interval", "the interval between checkpoints", "s"),),
    "checkpoints kept": (Place("operations.checkpoint.keep", "the number of kept checkpoints", "checkpoints"),),
    "nodes per rack": (Place("cluster.power.nodes_per_rack", "the number of nodes of a rack", "nodes"),),
    "leaf to spine": (Place("cluster.scale_out.distance.leaf_spine", "the distance between leaf and spine", "m"),),
    "node to leaf": (Place("cluster.scale_out.distance.node_leaf", "the distance between node and leaf", "m"),),
    "samples": (Place("workload.rl.samples_per_prompt", "the number of samples for each prompt", "samples"),),
    "discount": (Place("procurement.discount", "the discount", "%"),),
    "pue": (Place("procurement.pue", "the PUE", "1"),),
    "percentile": (
        Place("workload.serving.targets.percentile", "the share of requests that meet the targets", "%", 0.01),
    ),
    "spare nodes": (Place("cluster.spare_nodes", "the number of spare nodes", "nodes"),),
    "restart time": (Place("operations.restart_time", "the time of a restart", "s"),),
    "prompts of a step": (Place("workload.rl.prompts_per_step", "the number of prompts of a step", "prompts"),),
    "support term": (Place("procurement.support.term", "the term of support", "s"),),
    "tax": (Place("procurement.tax", "the tax", "%"),),
    "electricity": (Place("procurement.electricity", "the price of a kWh", "1", 1 / KILOWATT_HOUR),),
    "burn-in": (Place("operations.burn_in", "the burn-in", "s"),),
}


BOUNDS = {ABOVE: "may be at most", BELOW: "has to be at least", OTHER: "is"}
"""The words of messages for how a demand binds."""


class Broken(NamedTuple):
    """A demand that a key breaks, with the key and its value as written."""

    demand: Demand
    place: Place
    written: str

    @property
    def what(self) -> str:
        """The subject of the demand, for messages."""
        return self.place.what

    @property
    def bound(self) -> str:
        """How the demand binds, for messages."""
        return BOUNDS[self.demand.subject.hurts]


def broken_demands(text: str, spec: Spec, others: frozenset[str] = frozenset()) -> Iterator[Broken]:
    """The demands of a text that a key of a spec breaks, one for each key, without those of ``others``; a text that also
    states what the key keeps has none.
    """
    own = {name: found for name, places in PLACES.items() if name not in others and (found := _stated(spec, places))}
    demands: dict[str, list[Demand]] = {}
    for each in demands_in(text) if own else ():
        if each.subject.name in own and not _is_of_nodes(each, spec):
            demands.setdefault(each.subject.name, []).append(each)
    for name, stated in demands.items():
        place, values = own[name]
        if all(_is_broken(each, one) for each in stated for one in values):
            yield Broken(stated[0], place, _written(spec, place))


def _written(spec: Spec, place: Place) -> str:
    """The value of a key as a message prints it."""
    value = _value_of_key(spec, place.key)
    numbers = [*numbers_within(value)]
    if place.unit == "%":
        return percent(numbers[0] * place.factor)
    if isinstance(value, dict):
        return ", ".join(str(getattr(each, "written", each)) for each in value.values())
    return str(getattr(value, "written", "") or f"{plain(numbers[0], 6)} {place.unit}".removesuffix(" 1"))


def unkept(text: str, subject: str, value: float) -> float:
    """The largest demand of a subject that a value breaks and none of its sentences states; 0 without one."""
    found = [each for each in demands_in(text) if each.subject.name == subject]
    return (
        max((each.value for each in found), default=0.0)
        if found and all(_is_broken(each, value) for each in found)
        else 0.0
    )


def _stated(spec: Spec, places: Sequence[Place]) -> tuple[Place, list[float]] | None:
    for place in places:
        values = [each * place.factor for each in numbers_within(_value_of_key(spec, place.key)) if each]
        if values:
            return place, values
    return None


def _value_of_key(spec: Spec, key: str) -> object:
    """The value of a key of a spec; None without one."""
    found: object = spec
    for name in key.split("."):
        found = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
        if found is None:
            return None
    return found


def _is_broken(demand: Demand, value: float) -> bool:
    """Whether a value breaks a demand, unless its sentence also states the value, or the value is so far from it that the demand is of
    something else.
    """
    ratio = value / demand.value if demand.value else 0.0
    if not 1 / FARTHEST < ratio < FARTHEST:
        return False
    unit = _unit_of(demand)
    if any(abs(each.value * factor / value - 1) < SAME for each in _like(demand) for factor in (1.0, unit)):
        return False
    above, below = ratio > 1 + SLACK, ratio < 1 - SLACK
    return above if demand.subject.hurts == ABOVE else below if demand.subject.hurts == BELOW else above or below


def _unit_of(demand: Demand) -> float:
    """The unit of a demand in SI, which other figures of its sentence may leave out: `nine days, at most fifteen`."""
    match = _NUMBER.search(demand.words)
    number = number_in_text(match[1]) if match is not None else 0.0
    return demand.value / number if number else 1.0


def _like(demand: Demand) -> list[DemandFigure]:
    """The figures of the sentence of a demand that have its measure, or no unit."""
    measures = MEASURES[demand.subject.measures]
    return [each for each in demand_figures(demand.sentence) if not each.powers or each.powers in measures]


def _is_of_nodes(demand: Demand, spec: Spec) -> bool:
    """Whether a power is that of some nodes of the design, which a rack or a site has to carry."""
    node = next(iter(numbers_within(_value_of_key(spec, "cluster.power.node"))), 0.0)
    return "power" in demand.subject.name and is_multiple(demand.value, node)


def is_multiple(power: float, node: float) -> bool:
    """Whether a power is that of a whole number of nodes, up to 2 % of one.

    >>> is_multiple(40.8e3, 10.2e3), is_multiple(38e3, 10.2e3), is_multiple(38e3, 0.0)
    (True, False, False)
    """
    number = round(power / node) if node else 0
    return 0 < number <= 64 and abs(power / node - number) < 0.02
