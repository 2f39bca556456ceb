"""Laws of storage systems and cooling units named by their catalog ids: what is stated wins, several add up."""

from __future__ import annotations

import pytest

from clusterspec.catalog.facilities import Cdu, StorageSystem
from clusterspec.quantity import Quantity
from tests.catalog.shipped import CATALOG
from tests.cluster.resolving import resolve_text

MACHINE = "cluster:\n  platform: gb300-nvl72\n  nodes: 36\n"
STORE = MACHINE + "  networks: {{storage: {{system: wekapod-nitro-wps155{more}}}}}\n"
LOOP = MACHINE + "  power: {{cooling: liquid, cdus: {{count: 3, model: {model}{more}}}}}\n"
READ, WRITE, CAPACITY = 568e9, 256e9, 484e12


def figures(text: str) -> tuple[float | None, ...]:
    design, problems = resolve_text(text)
    assert problems == []
    machine = design.spec.cluster
    store = machine.networks.storage if machine is not None and machine.networks is not None else None
    assert store is not None
    return tuple(value(each) for each in (store.read, store.bandwidth, store.capacity))


def value(quantity: Quantity | None) -> float | None:
    return quantity.value if quantity is not None else None


@pytest.mark.parametrize("count", [1, 2, 7])
def test_storage_systems_add_up(count: int) -> None:
    assert figures(STORE.format(more=f", systems: {count}")) == (count * READ, count * WRITE, count * CAPACITY)


def test_one_system_is_meant_where_no_number_is_stated() -> None:
    assert figures(STORE.format(more="")) == (READ, WRITE, CAPACITY)


def test_a_stated_figure_of_the_store_wins() -> None:
    assert figures(STORE.format(more=", systems: 2, bandwidth: 100 GB/s")) == (2 * READ, 100e9, 2 * CAPACITY)


def test_what_a_system_does_not_publish_stays_unknown() -> None:
    text = STORE.format(more="").replace("wekapod-nitro-wps155", "ieit-as13000")
    assert figures(text) == (380e9, None, 172032 * 2**30)


def test_each_figure_of_the_catalog_is_listed_as_an_assumption() -> None:
    design, _ = resolve_text(STORE.format(more=", systems: 2"))
    listed = {key: (value, why) for key, value, why in design.assumptions if key.startswith("cluster.networks")}
    assert listed == {
        "cluster.networks.storage.read": ("1.14 TB/s", "2 systems wekapod-nitro-wps155 of 568 GB/s each"),
        "cluster.networks.storage.bandwidth": ("512 GB/s", "2 systems wekapod-nitro-wps155 of 256 GB/s each"),
        "cluster.networks.storage.capacity": ("968 TB", "2 systems wekapod-nitro-wps155 of 484 TB each"),
    }


@pytest.mark.parametrize(
    ("model", "more", "watts"),
    [
        ("vertiv-coolchip-cdu-1350", "", 1.35e6),
        ("coolit-chx2000", "", 2e6),
        ("vertiv-coolchip-cdu-1350", ", capacity: 1 MW", 1e6),
    ],
)
def test_a_cooling_unit_has_the_capacity_of_its_model_unless_another_is_stated(
    model: str, more: str, watts: float
) -> None:
    design, problems = resolve_text(LOOP.format(model=model, more=more))
    assert problems == []
    machine = design.spec.cluster
    assert machine is not None
    assert machine.power is not None
    assert machine.power.cdus is not None
    assert value(machine.power.cdus.capacity) == watts


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (STORE.format(more="").replace("wekapod-nitro-wps155", "no-such-store"), "networks.storage.system"),
        (LOOP.format(model="no-such-cdu", more=""), "power.cdus.model"),
        (LOOP.format(model="dgx-h100", more=""), "power.cdus.model"),
    ],
)
def test_an_unknown_id_is_a_problem_at_its_key(text: str, path: str) -> None:
    _, problems = resolve_text(text)
    assert [(each.rule, ".".join(map(str, each.path))) for each in problems] == [
        ("unknown-catalog-id", f"cluster.{path}")
    ]


def test_every_shipped_unit_states_its_heat_and_every_store_a_rate() -> None:
    """A rate is below the line rate of the ports that are published."""
    for id_ in CATALOG.ids("cdu"):
        unit = CATALOG.get("cdu", id_)
        assert isinstance(unit, Cdu)
        assert unit.capacity is not None
        assert 50e3 < unit.capacity.value < 5e6
    for id_ in CATALOG.ids("storage-system"):
        store = CATALOG.get("storage-system", id_)
        assert isinstance(store, StorageSystem)
        rates = [each.value for each in (store.read, store.write) if each is not None]
        facts = CATALOG.raw_entry("storage-system", id_).facts
        ports = facts["ports"].value if "ports" in facts else None
        line = 50e9 if "400 Gb/s" in str(facts["port_bandwidth"].value if "port_bandwidth" in facts else "") else 25e9
        assert rates
        assert ports is None or max(rates) < float(str(ports)) * line, id_
