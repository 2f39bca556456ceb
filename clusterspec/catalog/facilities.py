"""Catalog entries of the machine's surroundings: storage systems and cooling distribution units."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog.entries import PoweredPart
from clusterspec.catalog.reader import FactReader
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.records import dataclass


@dataclass(frozen=True)
class StorageSystem(PoweredPart):
    """One storage system as sold: an appliance, or the nodes of the smallest cluster.

    ``read`` and ``write`` are B/s of large files over all clients, ``capacity`` the bytes that files can fill,
    ``nodes`` the number of its servers; it has ``ports`` with line rates of ``port_bandwidth`` (B/s per direction);
    ``power`` applies to the whole system.
    """

    read: Figure | None = None
    write: Figure | None = None
    capacity: Figure | None = None
    nodes: int | None = None
    rack_units: int | None = None
    ports: int | None = None
    port_bandwidth: Bandwidth | None = None

    @property
    def kind(self) -> str:
        return "storage-system"


@dataclass(frozen=True)
class Cdu(PoweredPart):
    """A cooling distribution unit.

    ``capacity`` are the watts of heat that it transfers if the loops differ by ``approach`` kelvin, ``flow`` the liters
    of coolant a minute that its pumps move; ``power`` is the draw of the unit itself.
    """

    capacity: Figure | None = None
    approach: Figure | None = None
    flow: Figure | None = None
    form: str = ""
    rack_units: int | None = None


def storage_system_fields(facts: FactReader) -> dict[str, Any]:
    """The fields of a storage system, power and header aside."""
    return {
        "read": facts.figure("read", "rate"),
        "write": facts.figure("write", "rate"),
        "capacity": facts.figure("capacity", "bytes"),
        "nodes": facts.count("nodes"),
        "rack_units": facts.count("rack_units"),
        "ports": facts.count("ports"),
        "port_bandwidth": facts.bandwidth("port_bandwidth"),
    }


def cdu_fields(facts: FactReader) -> dict[str, Any]:
    """The fields of a cooling distribution unit, power and header aside."""
    return {
        "capacity": facts.figure("capacity", "power"),
        "approach": facts.figure("approach", "number"),
        "flow": facts.figure("flow", "number"),
        "form": facts.text("form", "in-rack", "in-row", "sidecar") or "",
        "rack_units": facts.count("rack_units"),
    }
