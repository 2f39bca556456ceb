"""The keys, and values that follow from them, that the subjects of demands are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.key_values import KILOWATT_HOUR
from clusterspec.rules.readers.written_numbers import numbers_within
from clusterspec.spec.model import Spec
from clusterspec.units import display, percent, plain


class Place(NamedTuple):
    """The key of a subject, what it is, its unit in messages, and the factor of its numbers to SI."""

    key: str
    what: str
    unit: str
    factor: float = 1.0
    of: Callable[[Spec], float] | None = None
    """The value that follows from the key and others; 0 where it does not. Without it, the value of the key."""


def _kept_time(spec: Spec) -> float:
    """Seconds that the kept checkpoints reach back: their number times the interval."""
    return number_of_key(spec, "operations.checkpoint.keep") * number_of_key(spec, "operations.checkpoint.interval")


def _tokens_of_step(spec: Spec) -> float:
    """The tokens of a step: the sequences of the batch times their length."""
    return number_of_key(spec, "workload.global_batch") * number_of_key(spec, "workload.sequence_length")


def _output_rate(spec: Spec) -> float:
    """The output tokens of a second: the request rate times the mean length of an answer."""
    mean = number_of_key(spec, "workload.serving.output_tokens.mean")
    length = value_of_key(spec, "workload.serving.output_tokens")
    tokens = mean or (float(length) if isinstance(length, int) else 0.0)
    return number_of_key(spec, "workload.serving.request_rate") * tokens


def _accelerators(spec: Spec) -> float:
    """The accelerators as stated, or the nodes times those of one."""
    counted = number_of_key(spec, "cluster.nodes") * number_of_key(spec, "cluster.accelerators_per_node")
    return number_of_key(spec, "cluster.accelerators") or counted


def _accelerators_of_engine(spec: Spec) -> float:
    """The accelerators of a serving engine: its ranks, where none shares attention and each has one accelerator."""
    if (
        value_of_key(spec, "workload.serving") is None
        or value_of_key(spec, "workload.serving.disaggregated") is not None
    ):
        return 0.0
    if value_of_key(spec, "layout.attention_dp") is not None or value_of_key(spec, "cluster.ranks_per_accelerator"):
        return 0.0
    return number_of_key(spec, "layout.tp") * (number_of_key(spec, "layout.pp") or 1.0)


def _lost_share(spec: Spec) -> float:
    """The share of the time that the target of the goodput lets be lost."""
    goodput = number_of_key(spec, "operations.targets.goodput")
    return 1 - goodput if goodput else 0.0


def _longest_run(spec: Spec) -> float:
    """The meters of the longest cable run between the tiers of the fabric, where that between leaf and spine is stated."""
    of_leaf, of_spine = (
        number_of_key(spec, f"cluster.scale_out.distance.{each}") for each in ("node_leaf", "leaf_spine")
    )
    return max(of_leaf, of_spine) if of_spine else 0.0


def _racks(spec: Spec) -> float:
    """The racks that the nodes fill, spare ones included."""
    of_rack = number_of_key(spec, "cluster.power.nodes_per_rack")
    nodes = number_of_key(spec, "cluster.nodes") + number_of_key(spec, "cluster.spare_nodes")
    return ceil(nodes / of_rack) if of_rack else 0.0


def number_of_key(spec: Spec, key: str) -> float:
    """The number that a key states; 0 without one."""
    return float(next(iter(numbers_within(value_of_key(spec, key))), 0.0))


_LOST = "% lost"
"""The unit of a share that is lost at a goodput."""
PLACES: Mapping[str, tuple[Place, ...]] = {
    "power": (Place("cluster.power.budget", "the power of the site", "W"),),
    "rack power": (Place("cluster.power.rack_limit", "the power of a rack", "W"),),
    "store": (Place("cluster.networks.storage.capacity", "the storage capacity", "B"),),
    "retention": (Place("cluster.networks.storage.capacity", "the storage capacity", "B"),),
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
    "token rate": (Place("workload.serving.request_rate", "the rate of output tokens", "tokens/s", of=_output_rate),),
    "context": (Place("workload.sequence_length", "the length of a sequence", "tokens"),),
    "batch": (Place("workload.global_batch", "the global batch", "sequences"),),
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
    "racks of a row": (Place("cluster.floor.racks_per_row", "the number of racks of a row", "racks"),),
    "nodes per rack": (Place("cluster.power.nodes_per_rack", "the number of nodes of a rack", "nodes"),),
    "leaf to spine": (Place("cluster.scale_out.distance.leaf_spine", "the distance between leaf and spine", "m"),),
    "node to leaf": (Place("cluster.scale_out.distance.node_leaf", "the distance between node and leaf", "m"),),
    "cable route": (
        Place("cluster.scale_out.distance.leaf_spine", "the longest cable run", "m", of=_longest_run),
        Place("cluster.scale_out.distance.node_leaf", "the longest cable run", "m"),
    ),
    "lost time": (Place("operations.targets.goodput", "the share of the time that is lost", _LOST, of=_lost_share),),
    "frontend rate": (Place("cluster.networks.frontend.bandwidth", "the rate of the frontend network", "B/s"),),
    "samples": (Place("workload.rl.samples_per_prompt", "the number of samples for each prompt", "samples"),),
    "discount": (Place("procurement.discount", "the discount", "%"),),
    "kept time": (
        Place("operations.checkpoint.keep", "the time that kept checkpoints reach back", "s", of=_kept_time),
    ),
    "checkpoint pause": (
        Place("operations.checkpoint.pause", "the pause of a checkpoint", "s"),
        Place("operations.checkpoint_time", "the pause of a checkpoint", "s"),
    ),
    "checkpoint write": (Place("operations.checkpoint.write_time", "the time to write a checkpoint", "s"),),
    "repair time": (
        Place("operations.repair_time", "the time of a repair", "s"),
        Place("procurement.support.response", "the response time of support", "s"),
    ),
    "goodput": (Place("operations.targets.goodput", "the goodput", "%"),),
    "whole answer": (Place("workload.serving.targets.end_to_end", "the time to the last token", "s"),),
    "tokens of a step": (Place("workload.global_batch", "the tokens of a step", "tokens", of=_tokens_of_step),),
    "accelerators of a license": (
        Place("cluster.accelerators", "the number of accelerators", "accelerators", of=_accelerators),
    ),
    "nodes of a license": (Place("cluster.nodes", "the number of nodes", "nodes"),),
    "nics": (Place("cluster.scale_out.nics_per_node", "the number of NICs of a node", "NICs"),),
    "accelerators of an engine": (
        Place("layout.tp", "the number of accelerators of an engine", "accelerators", of=_accelerators_of_engine),
    ),
    "racks": (Place("cluster.power.nodes_per_rack", "the number of racks", "racks", of=_racks),),
    "commitment": (
        Place("procurement.commitment", "the commitment", "s"),
        Place("procurement.term", "the commitment", "s"),
    ),
    "term": (Place("procurement.term", "the term", "s"),),
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


def written_value(spec: Spec, place: Place) -> str:
    """The value of a key as a message prints it."""
    if place.unit == _LOST:
        lost = _lost_share(spec)
        return f"{percent(1 - lost)}, which loses {percent(lost)}"
    if place.of is not None:
        return display(place.of(spec), "s") if place.unit == "s" else f"{plain(place.of(spec), 6)} {place.unit}"
    value = value_of_key(spec, place.key)
    numbers = [*numbers_within(value)]
    if place.unit == "%":
        return percent(numbers[0] * place.factor)
    if isinstance(value, dict):
        return ", ".join(str(getattr(each, "written", each)) for each in value.values())
    return str(getattr(value, "written", "") or f"{plain(numbers[0], 6)} {place.unit}".removesuffix(" 1"))


def stated_values(spec: Spec, places: Sequence[Place]) -> tuple[Place, list[float]] | None:
    """The first of some places with values in a spec, and these in SI; None without any."""
    for place in places:
        found = [place.of(spec)] if place.of is not None else numbers_within(value_of_key(spec, place.key))
        values = [each * place.factor for each in found if each]
        if values:
            return place, values
    return None


def value_of_key(spec: Spec, key: str) -> object:
    """The value of a key of a spec; None without one."""
    found: object = spec
    for name in key.split("."):
        found = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
        if found is None:
            return None
    return found
