"""The rate of an accelerator under a power cap, and of a part whose power limit is below that of the measured part."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.cost import assumed_figure
from clusterspec.cost.formulas.power import capped_rate, limited_share
from clusterspec.quantity import Figure
from clusterspec.source import Computed

IDLE_SHARE = assumed_figure(
    "power",
    "idle",
    0.1,
    "an idle accelerator draws 70 to 140 W; nodes of 8 draw 1.5 to 2.9 kW then (power logs of MLPerf Training 4.0 and"
    " Inference 2.1, 4.1 and 5.1)",
)
"""The share of its power limit that an idle accelerator draws, where the catalog has no measurement."""
LEAST_CAP = assumed_figure(
    "power",
    "least_cap",
    0.2,
    "lowest cap that accelerators accept, as a share of the limit; a lower cap counts as this share",
)
"""The lowest share of the power limit that a power cap can set, by assumption."""


def clock_factors(cluster: Cluster, lowered: tuple[float, float] | None) -> tuple[tuple[str, Figure], ...]:
    """The factors, by name, by which power limits lower the catalog's rates.

    ``lowered`` are the watts of the accelerator's limit and of the measurements, where the limit is lower: the clock is
    f ∝ P^(1/3), since P ∝ f V² and V ∝ f.
    """
    factors = []
    if lowered is not None:
        limit, board = lowered
        why = Computed(f"({limit:g} W / {board:g} W)^(1/3)")
        factors.append(("clock", Figure((limit / board) ** (1 / 3), "1", why)))
    capped = capped_clock(cluster)
    if capped is not None:
        factors.append(("capped", capped))
    return tuple(factors)


def capped_clock(cluster: Cluster) -> Figure | None:
    """The rate of products and attention under the power cap relative to the uncapped rate; None without a cap."""
    cap, own = cluster.accelerator_cap, cluster.accelerator.power
    if cap is None or own is None:
        return None
    set_to, measured = max(cap.value, LEAST_CAP.value * own.value), cluster.accelerator.power_idle
    idle = measured.value if measured else IDLE_SHARE.value * own.value
    why = f"sqrt(({set_to:g} W - {idle:g} W) / ({own.value:g} W - {idle:g} W))"
    return Figure(capped_rate(set_to, own.value, idle), "1", Computed(why))


def limited_clock(chip: Accelerator, measured: Accelerator | None) -> float:
    """The factor, at most 1, by which a lower power limit reduces the product rate of a chip compared to another part
    of the same chip with ``measured`` kernels. 1 if the chip has its own kernels, or if a power, peak or number of
    compute units is unknown.
    """
    if (
        measured is None
        or chip.kernels is None
        or None in (chip.power, measured.power, chip.compute_units, measured.compute_units)
    ):
        return 1.0
    own, other = (_per_unit(one) for one in (chip, measured))
    idle = (
        measured.power_idle.value / (measured.compute_units or 1)
        if measured.power_idle
        else IDLE_SHARE.value * other[0]
    )
    if not own[1] or not other[1]:
        return 1.0
    return limited_share(own[0], other[0], idle, peak=own[1], measured=other[1])


def _per_unit(chip: Accelerator) -> tuple[float, float]:
    """Watts and dense FLOP/s at 16 bits of one compute unit; 0 where they are unknown."""
    peak, units = chip.peaks.get("bf16") or chip.peaks.get("fp16"), float(chip.compute_units or 1)
    return (chip.power.value / units if chip.power else 0.0), (peak.value / units if peak else 0.0)
