"""Figures of storage systems and cooling distribution units that a spec names by their catalog ids."""

from __future__ import annotations

from functools import partial

from clusterspec.cluster.resolution import Lookup
from clusterspec.quantity import Figure, Quantity
from clusterspec.records import replace
from clusterspec.spec.model import ClusterSpec, NetworkSpec, NetworksSpec, PowerSpec
from clusterspec.units import display, plural

STORAGE = "cluster.networks.storage"
CDUS = "cluster.power.cdus"


def with_named_parts(machine: ClusterSpec, lookup: Lookup) -> ClusterSpec:
    """The machine with the catalog figures of the storage systems and cooling units that it names. Figures stated in
    the spec have precedence, and each catalog figure is listed as an assumption.
    """
    networks, power = _resolved_networks(machine.networks, lookup), _resolved_power(machine.power, lookup)
    return replace(machine, networks=networks, power=power)


def _resolved_networks(written: NetworksSpec | None, lookup: Lookup) -> NetworksSpec | None:
    store = written.storage if written is not None else None
    if written is None or store is None or store.system is None:
        return written
    return replace(written, storage=_resolved_storage(store, store.system, lookup))


def _resolved_storage(store: NetworkSpec, name: str, lookup: Lookup) -> NetworkSpec:
    """A storage network with the figures of its systems."""
    system = lookup.storage_system(name, (*STORAGE.split("."), "system"))
    if system is None:
        return store
    count = store.systems or 1
    given = partial(_figure_of_systems, count=count, id_=system.id, lookup=lookup)
    return replace(
        store,
        bandwidth=given("bandwidth", store.bandwidth, system.write),
        read=given("read", store.read, system.read),
        capacity=given("capacity", store.capacity, system.capacity),
    )


def _figure_of_systems(
    key: str, written: Quantity | None, figure: Figure | None, *, count: int, id_: str, lookup: Lookup
) -> Quantity | None:
    """The written figure, else the sum over the storage systems."""
    if written is not None or figure is None:
        return written
    each = display(figure.value, figure.unit)
    return _assumed_quantity(
        f"{STORAGE}.{key}", figure, count, f"{plural(count, 'system')} {id_} of {each} each", lookup
    )


def _resolved_power(written: PowerSpec | None, lookup: Lookup) -> PowerSpec | None:
    cdus = written.cdus if written is not None else None
    if written is None or cdus is None or cdus.model is None:
        return written
    unit = lookup.cdu(cdus.model, (*CDUS.split("."), "model"))
    if unit is None or unit.capacity is None or cdus.capacity is not None:
        return written
    capacity = _assumed_quantity(f"{CDUS}.capacity", unit.capacity, 1, f"that of {unit.id}", lookup)
    return replace(written, cdus=replace(cdus, capacity=capacity))


def _assumed_quantity(key: str, figure: Figure, count: int, why: str, lookup: Lookup) -> Quantity:
    """The figure of the given parts together as a quantity of the spec, listed as an assumption."""
    value = figure.value * count
    text = display(value, figure.unit)
    lookup.log.assume(key, text, why)
    return Quantity(value, figure.unit, text)
