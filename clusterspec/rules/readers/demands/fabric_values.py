"""Counts of switches, cables and modules of the fabric, and rates of a node, as the demands of texts bound them."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cluster.fabric import Fabric
from clusterspec.rules.readers.demands.parts import Parts, Quantity, Value
from clusterspec.rules.readers.demands.places import number_of_key
from clusterspec.standard import sum_of
from clusterspec.units import display


def _count(number: Callable[[Fabric], float]) -> Callable[[Parts], Value | None]:
    """The value of a count of the fabric."""

    def value(parts: Parts) -> Value | None:
        fabric = parts.counts.fabric
        count = float(number(fabric)) if fabric is not None else 0.0
        return Value(count, count, "as the endpoints need") if count else None

    return value


def _cables(fabric: Fabric) -> float:
    return sum_of(float(each) for each in dict(fabric.cables).values())


def rate_to_store(parts: Parts) -> Value | None:
    """The bytes per second of a node from the storage system: the least of its share of the links and of what a client reaches."""
    store = "cluster.networks.storage"
    client = number_of_key(parts.spec, f"{store}.per_client")
    links = number_of_key(parts.spec, f"{store}.nics_per_node") * number_of_key(parts.spec, f"{store}.nic_bandwidth")
    rates = [each for each in (client, links) if each]
    return Value(min(rates), min(rates), "of one node") if rates else None


def injection(parts: Parts) -> Value | None:
    """The bytes per second that the NICs of a node send."""
    fabric = parts.cluster.scale_out if parts.cluster is not None else None
    if fabric is None or fabric.nic_bandwidth is None or not fabric.nics_per_node:
        return None
    rate = fabric.nics_per_node * fabric.nic_bandwidth.value
    return Value(rate, rate, f"{fabric.nics_per_node} NICs of {display(fabric.nic_bandwidth.value, 'B/s')}")


_FABRIC = "cluster.scale_out"
FABRIC_QUANTITIES = {
    "leaf switches": Quantity(_FABRIC, "the number of leaf switches", "switches", _count(lambda each: each.leaf_switches)),
    "spine switches": Quantity(_FABRIC, "the number of spine switches", "switches", _count(lambda each: each.spine_switches)),
    "all switches": Quantity(_FABRIC, "the number of switches", "switches", _count(lambda each: each.leaf_switches + each.spine_switches + each.core_switches)),
    "cables to leaves": Quantity(_FABRIC, "the number of cables between nodes and leaves", "cables", _count(lambda each: dict(each.cables).get("node_leaf", 0))),
    "cables to spines": Quantity(_FABRIC, "the number of cables between leaves and spines", "cables", _count(lambda each: dict(each.cables).get("leaf_spine", 0))),
    "all cables": Quantity(_FABRIC, "the number of cables", "cables", _count(_cables)),
    "modules": Quantity(_FABRIC, "the number of transceivers", "transceivers", _count(lambda each: each.transceivers)),
    "rate to the store": Quantity("cluster.networks.storage", "the rate of a node from the storage system", "B/s", rate_to_store, 0.02),
    "injection": Quantity(_FABRIC, "the rate of the NICs of a node", "B/s", injection, 0.02),
}  # fmt: skip
"""Quantities of the fabric by their subject."""
