"""The rate of an accelerator under a power cap."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster
from clusterspec.cost import assumed_figure
from clusterspec.cost.formulas.power import capped_rate
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
    "a cap below this share of the limit counts as this share, the least that accelerators accept",
)
"""The least share of the power limit that a power cap is assumed to allow."""


def capped_clock(cluster: Cluster) -> Figure | None:
    """The rate of products and attention under the power cap relative to the uncapped rate; None without a cap."""
    cap, own = cluster.accelerator_cap, cluster.accelerator.power
    if cap is None or own is None:
        return None
    set_to, measured = max(cap.value, LEAST_CAP.value * own.value), cluster.accelerator.power_idle
    idle = measured.value if measured else IDLE_SHARE.value * own.value
    why = f"sqrt(({set_to:g} W - {idle:g} W) / ({own.value:g} W - {idle:g} W))"
    return Figure(capped_rate(set_to, own.value, idle), "1", Computed(why))
