"""Laws of the catalog's power: every part has a figure or says why not, and says what the figure counts."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import PoweredPart
from clusterspec.source import Assumed
from tests.catalog.shipped import CATALOG

SYSTEM = {"accelerators", "processor", "host", "nics", "optics", "fans", "conversion", "switches"}
COUNTED = {
    "accelerator": {"module", "card", "processor", "host"},
    "platform": SYSTEM,
    "switch": {"fans", "conversion", "optics"},
    "nic": {"card"},
    "optics": {"end"},
    "storage-system": {"fans", "conversion"},
    "cdu": {"pumps"},
}
"""What a figure may count, by kind."""


def parts() -> Iterator[tuple[str, str, PoweredPart]]:
    for kind in COUNTED:
        for id_ in CATALOG.ids(kind):
            entry = CATALOG.get(kind, id_)
            assert isinstance(entry, PoweredPart), id_
            yield kind, id_, entry


def test_every_part_has_a_power_or_a_reason() -> None:
    """A rented platform has none: its price holds the power."""
    lacking = []
    for kind, id_, entry in parts():
        rented = kind == "platform" and CATALOG.platform(id_).cloud
        reason = CATALOG.raw_entry(kind, id_).facts.get("power.unpublished")
        given = reason is not None and isinstance(reason.origin, Assumed) and len(reason.origin.why) > 20
        if (entry.power is not None) + given + (rented and entry.power is None) != 1:
            lacking.append(f"{kind}/{id_}")
    assert lacking == []


def test_a_power_says_what_it_counts_and_its_typical_figure_is_below_the_largest() -> None:
    for kind, id_, entry in parts():
        counted = {*entry.power_includes}
        assert counted <= COUNTED[kind], (id_, counted)
        assert bool(counted) == (entry.power is not None), id_
        if entry.power is not None and entry.power_typical is not None:
            assert 0 < entry.power_typical.value <= entry.power.value, id_
        if entry.power_idle is not None:
            assert entry.power is not None, id_
            assert 0 < entry.power_idle.value < 0.4 * entry.power.value, id_


def test_a_node_draws_more_than_its_accelerators() -> None:
    """Except a node whose superchips its maker sets to a lower power than the largest of the part."""
    below = []
    for id_ in CATALOG.ids("platform"):
        node = CATALOG.platform(id_)
        each = CATALOG.accelerator(node.accelerator).power if node.accelerator else None
        accelerators = (node.accelerators_per_node or 0) * (each.value if each else 0.0)
        if node.power is not None and node.power.value <= accelerators:
            below.append(id_)
        if node.power is not None and node.rack_power is not None:
            nodes = (node.domain or 1) // (node.accelerators_per_node or 1)
            assert nodes * node.power.value < node.rack_power.value, id_
    assert below == ["gh200-quad"]
