"""The heat of a machine at nameplate power: the parts removed by a liquid loop and by the air of the data hall."""

from __future__ import annotations

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Assumption, Cluster
from clusterspec.cost.formulas.power import heat_to_air, heat_to_liquid
from clusterspec.cost.nameplates import it_power, node_cooling, power_draw
from clusterspec.cost.term import Term, computed_term, ranged_term
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Assumed, Computed, Written
from clusterspec.spec.model import PowerSpec

SHARE = "cluster.power.liquid_share"
COLD_PLATES = (
    "cold plates take up 70 to 95 % of the heat, the rest leaves by air: 6.2 of 6.6 kW of a tray of GB300 NVL72 "
    "(epium.com, after Morgan Stanley), 85 to 95 % of a rack (yobitel.com, direct-to-chip liquid cooling), 70 to 80 %"
    " of a node (qj.lastscene.com, ?p=9641); all read 2026-11-21"
)
SHARES = {
    "air": (0.0, 0.0, 0.0),
    "liquid": (0.7, 0.85, 0.95),
    "immersion": (1.0, 1.0, 1.0),
}
"""Shares of the heat of nodes that go to the liquid, by cooling: low, middle, high."""


@dataclass(frozen=True)
class Heat:
    """The heat of a full rack, a full row or the hall in watts, to liquid and to air, over the range of the share."""

    of: str
    liquid: Term
    air: Term

    def to_json(self) -> dict[str, object]:
        """Watts, each with its range."""
        both = {"liquid": self.liquid, "air": self.air}
        return {name: term.value for name, term in both.items()} | {
            "range": {name: [term.low, term.high] for name, term in both.items()}
        }


def liquid_shares(cluster: Cluster, written: PowerSpec | None) -> tuple[Figure, Figure, Figure]:
    """The share of the heat of nodes that goes to the liquid, as stated, sold or assumed: low, middle, high."""
    if written is not None and written.liquid_share is not None:
        stated = Figure(written.liquid_share, "1", Written(SHARE))
        return stated, stated, stated
    cooling, _ = node_cooling(cluster, written)
    sold = cluster.platform.liquid_share if cluster.platform and cooling == "liquid" else None
    if sold is not None:
        return sold, sold, sold
    low, middle, high = (Figure(value, "1", Assumed(SHARE, COLD_PLATES)) for value in SHARES[cooling])
    return low, middle, high


class CoolingUnits(NamedTuple):
    """The cooling distribution units of one coolant loop.

    ``spare`` of the ``installed`` units may fail; each takes up at most ``capacity`` watts of heat.
    """

    installed: int
    capacity: float
    spare: int

    def carried_watts(self, failed: int) -> float:
        """Watts of heat that the loop takes up without the ``failed`` units."""
        return max(0, self.installed - failed) * self.capacity


def cooling_units(written: PowerSpec | None) -> CoolingUnits | None:
    """The units that the spec states; None without their number and capacity."""
    cdus = written.cdus if written is not None else None
    if cdus is None or cdus.count is None or cdus.capacity is None:
        return None
    spare = {"N+1": 1, "2N": cdus.count // 2}.get(cdus.redundancy or "N", 0)
    return CoolingUnits(cdus.count, cdus.capacity.value, spare)


def loop_heat(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> tuple[float, float, float] | None:
    """Watts of the heat of the whole machine to liquid at nameplates, over the range of the share: low, middle, high.

    None if the power of a node is not known.
    """
    drawn = it_power(cluster, fabric, written)
    if drawn is None:
        return None
    draw = power_draw(cluster, fabric, written)
    switches = draw.switch.value * draw.switches if draw.switch is not None else 0.0
    share_of_switches = float(_cools_switches(cluster))
    low, middle, high = (
        heat_to_liquid(drawn[0] - switches, share.value, switches, share_of_switches)
        for share in liquid_shares(cluster, written)
    )
    return low, middle, high


def _cools_switches(cluster: Cluster) -> bool:
    """Whether the switches of the fabric are sold with liquid cooling only."""
    switch = cluster.scale_out.switch if cluster.scale_out else None
    return switch is not None and switch.cooling == ("liquid",)


def heat_of(name: str, watts: Term, cluster: Cluster, written: PowerSpec | None, *, switches: float = 0.0) -> Heat:
    """The heat of nodes that draw ``watts`` and of fabric switches that draw ``switches`` watts.

    Switches are air-cooled unless they are sold only with liquid cooling.
    """
    low, middle, high = liquid_shares(cluster, written)
    in_loop = _cools_switches(cluster)
    figures = (
        ("watts", Figure(watts.value, "W", Computed(watts.formula))),
        ("switches", Figure(switches, "W", Computed("switches * watts_each"))),
        (
            "switch_share",
            Figure(float(in_loop), "1", Computed("1 where the switches are sold with liquid cooling only")),
        ),
    )

    def term(of: str, share: Figure) -> Term:
        function = heat_to_liquid if of == "liquid" else heat_to_air
        return computed_term(f"heat_{name}_{of}", function, "W", (figures[0], ("share", share), *figures[1:]))

    return Heat(
        name,
        ranged_term(term("liquid", low), term("liquid", middle), term("liquid", high)),
        ranged_term(term("air", high), term("air", middle), term("air", low)),
    )


def heat_assumptions(cluster: Cluster, written: PowerSpec | None) -> tuple[Assumption, ...]:
    """The assumed share of heat that cold plates remove; empty if the spec states the share, or if all heat goes to one
    medium.
    """
    share = liquid_shares(cluster, written)[1]
    if not isinstance(share.origin, Assumed) or share.value in (0.0, 1.0):
        return ()
    return ((SHARE, share, share.origin.why),)
