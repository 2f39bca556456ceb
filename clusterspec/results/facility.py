"""Requirements of a machine on its data hall: power at the meter, racks, and the longest cable runs."""

from __future__ import annotations

from clusterspec.records import asdict, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AIR_RISE = 15.0
"""Kelvin by which air warms from the inlet to the outlet of a node, for the flow that is shown."""
RACK_UNITS = 42
"""The height of a rack that is assumed, in rack units."""
LIQUID_RISE = 10.0
"""Kelvin by which the water of a coolant loop warms."""


@dataclass(frozen=True)
class CableRun:
    """The cables of one level: their number, and the longest run in meters with its derivation; None if not known."""

    level: str
    cables: int
    meters: float | None
    how: str
    parts: str = ""
    """The modules or the cable of the level, where the spec or the catalog names them."""


@dataclass(frozen=True)
class Facility:
    """Watts at the meter, including cooling and conversion, for the planned work and at nameplates; None without a PUE.

    ``switches`` belong to the fabric, whose racks are not counted. ``units`` is the height of a node in rack units,
    None if the catalog does not have it. ``energy_of_year`` is in joules at the meter, with the planned work for the
    ``utilization`` and idle for the rest; None without a PUE or planned work.
    """

    pue: float | None
    meter_busy: float | None
    meter_peak: float | None
    switches: int
    units: int | None
    runs: tuple[CableRun, ...] = ()
    energy_of_year: float | None = None
    utilization: float = 1.0
    rows: int | None = None
    """Rows of racks with nodes, and the meters of a full one; None without a floor plan or the nodes of a rack."""
    row_meters: float | None = None
    carbon_of_year: float | None = None
    """Kilograms of CO2 equivalent of ``energy_of_year``; None without that or without a stated intensity."""

    air_flow: float | None = None
    """m³/s of air for the heat of the hall to air at a rise of `AIR_RISE`; None if that heat is unknown."""
    liquid_flow: float | None = None
    """m³/s of water for the heat of the hall to liquid at a rise of `LIQUID_RISE`."""
    node_units: int | None = None
    """Rack units of all nodes, including spares; None if the height of a node is unknown."""
    nodes_at_most: int | None = None
    """The maximum number of nodes per rack by their height and the power limit; None if the number of racks is
    known.
    """
    least_racks: int | None = None
    """The minimum number of racks, with that many nodes in each."""
    switch_units: int | None = None
    """Rack units of all switches of the fabric; None if the height of a switch is unknown."""
    switch_watts: float | None = None
    """Nameplate watts of all switches of the fabric; None if the power of a switch is unknown."""
    switch_racks: int | None = None
    """The minimum number of separate racks for the switches, by their height and any stated limit per rack."""
    all_meters: float | None = None
    """The total length in meters of all racks of nodes and switches in one row; None if either number is unknown."""
    supplies: int | None = None
    """The number of power supplies, each of ``supply_watts``, in a node or in a rack sold whole (``supplied``).
    ``supplies_needed`` of them carry its nameplate power. None if unknown.
    """
    supplied: str = ""
    supply_watts: float | None = None
    supplies_needed: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
