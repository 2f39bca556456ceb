"""What the plain statements of a text contradict: keys with another value, and quantities of the design above a ceiling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.readers.demands.bill_values import price_of_purchase
from clusterspec.rules.readers.demands.parts import Parts, Value
from clusterspec.rules.readers.demands.places import number_of_key
from clusterspec.rules.readers.demands.power_values import machine_watts, watts_of_full_rack
from clusterspec.rules.readers.demands.run_values import lost_work
from clusterspec.rules.readers.demands.site_values import racks_of_nodes
from clusterspec.rules.readers.key_values import KILOWATT_HOUR
from clusterspec.rules.readers.statements.plain_statements import CEILING, FACT, PlainStatement, plain_statements
from clusterspec.spec.model import Spec
from clusterspec.units import display, display_bits

SAME = 0.01
"""Relative difference up to which a statement rounds a value."""
ROUNDED_RATIO = 0.05
"""The same for ratios, which texts state with one or two digits."""
GIGABYTES_OF_A_GIBIBYTE = 1.073741824
"""Vendors print the binary size of a memory with decimal prefixes."""


class WrongFact(NamedTuple):
    """A key for which a text states another value, with the words of the text and the value of the key."""

    key: str
    words: str
    value: str


def wrong_facts(
    text: str, spec: Spec, cluster: Cluster, layout: Layout | None, own: Mapping[str, Sequence[float]]
) -> Iterator[WrongFact]:
    """The keys for which a text states one value, which differs from all values of ``own``, and from those that only plain
    statements are compared with.
    """
    stated: dict[str, list[PlainStatement]] = {}
    for each in plain_statements(text):
        if each.kind.sense == FACT:
            stated.setdefault(each.kind.name, []).append(each)
    if not stated:
        return
    values = {**own, **_further_values(spec, cluster, layout)}
    for key, found in stated.items():
        right = [each for each in values.get(key, ()) if each]
        if found[0].kind.measure == "tariff":
            right += [each * 100 for each in right]  # a price in cents
        same = ROUNDED_RATIO if found[0].kind.measure == "ratio" else SAME
        if right and len({each.value for each in found}) == 1 and not _is_among(found[0].value, right, same):
            yield WrongFact(key, found[0].words, _value_text(key, found[0].kind.measure, right[0]))


def _is_among(value: float, others: Sequence[float], same: float) -> bool:
    return any(abs(value - each) <= same * abs(each) for each in others)


def _further_values(spec: Spec, cluster: Cluster, layout: Layout | None) -> dict[str, tuple[float, ...]]:
    """The values of keys that other readers of texts compare with more care, as their words are general."""
    nodes = (cluster.nodes, cluster.all_nodes, *((layout.nodes,) if layout is not None else ()))
    found: dict[str, tuple[float, ...]] = {"cluster.nodes": tuple(map(float, nodes))}
    machine, buying, fabric = spec.cluster, spec.procurement, cluster.scale_out
    found["cluster.accelerators"] = (
        float(cluster.accelerators),
        float(cluster.all_nodes * cluster.accelerators_per_node),
    )
    if layout is not None:
        found["cluster.accelerators"] += (float(layout.ranks),)
    if (memory := cluster.accelerator.memory) is not None:
        found["cluster.accelerator.memory"] = (memory.value, memory.value / GIGABYTES_OF_A_GIBIBYTE)
    if cluster.node_power is not None:
        found["cluster.power.node"] = (cluster.node_power.value,)
    if fabric is not None and (
        ratios := [level.oversubscription for level in fabric.levels] or fabric.oversubscription
    ):
        found["cluster.scale_out.oversubscription"] = (prod(ratios), *ratios)
    if machine is not None and machine.networks is not None and (store := machine.networks.storage) is not None:
        rates = (store.bandwidth, store.read, store.per_client, store.nic_bandwidth)
        found["cluster.networks.storage.bandwidth"] = tuple(each.per_direction for each in rates if each is not None)
    if spec.operations is not None and spec.operations.burn_in is not None:
        found["operations.burn_in"] = (spec.operations.burn_in.value,)
    if buying is not None and buying.prices and "node" in buying.prices:
        found["procurement.prices.node"] = price_ends(buying.prices["node"])
    return found


def _value_text(key: str, measure: str, value: float) -> str:
    if measure == "rate":
        return display_bits(value) if key.endswith("nic_bandwidth") else display(value, "B/s")
    if measure == "tariff":
        return f"{value * KILOWATT_HOUR:.4g}"
    if measure == "ratio":
        return f"{value:g}:1"
    unit = {"watts": "W", "time": "s", "size": "B"}.get(measure)
    return display(value, unit) if unit is not None else f"{value:,.10g}"


class BrokenCeiling(NamedTuple):
    """A quantity of the design above a ceiling of the text: the key that decides it, the words of the ceiling, and a message."""

    key: str
    words: str
    message: str


def broken_ceilings(text: str, parts: Parts) -> Iterator[BrokenCeiling]:
    """The ceilings in plain statements of a text that the design exceeds, one for each quantity."""
    told: set[str] = set()
    for each in plain_statements(text):
        if each.kind.sense != CEILING or each.kind.name in told:
            continue
        what, key, unit, of = _QUANTITIES[each.kind.name]
        value = of(parts)
        if value is not None and value.low > each.value * (1 + SAME):
            told.add(each.kind.name)
            number = display(value.low, unit) if unit else f"{value.low:,.10g}"
            bound = f"according to the text, {what} may be at most `{each.words}`"
            yield BrokenCeiling(
                key,
                each.words,
                f"{bound}, but {f'it is {number}: {value.how}' if value.how else f'`{key}` is {number}'}",
            )


def _value_of(key: str) -> Callable[[Parts], Value | None]:
    """The function that returns the number of a key in SI."""

    def value(parts: Parts) -> Value | None:
        number = number_of_key(parts.spec, key)
        return Value(number, number, "") if number else None

    return value


_TARGETS = "workload.serving.targets"
_QUANTITIES: Mapping[str, tuple[str, str, str, Callable[[Parts], Value | None]]] = {
    "power": ("the power of the machine", "cluster.power", "W", machine_watts),
    "rack power": ("the power of a rack", "cluster.power.nodes_per_rack", "W", watts_of_full_rack),
    "racks": ("the number of racks", "cluster.power.nodes_per_rack", "", racks_of_nodes),
    "purchase": ("the price", "procurement.prices", "", price_of_purchase),
    f"{_TARGETS}.ttft": ("the time to the first token", f"{_TARGETS}.ttft", "s", _value_of(f"{_TARGETS}.ttft")),
    f"{_TARGETS}.tpot": ("the time between tokens", f"{_TARGETS}.tpot", "s", _value_of(f"{_TARGETS}.tpot")),
    "lost work": ("the work that a failure costs", "operations.checkpoint.interval", "s", lost_work),
}
"""What a ceiling is of, the key that decides it, its unit in messages, and its value."""
