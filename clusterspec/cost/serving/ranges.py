"""The ranges of the predicted times and throughput of a serving plan."""

from __future__ import annotations

from clusterspec.cost.serving.constants import UNCERTAINTY
from clusterspec.cost.serving.times import ServingTimes

RANGED = {
    "ttft": "ttft",
    "tpot": "tpot",
    "ttft_mean": "ttft",
    "tpot_mean": "tpot",
    "output_tokens_per_second": "output_tokens_per_second",
}
"""The fields of a serving plan that have a range, and the uncertainty that each has."""


def serving_range(found: ServingTimes, name: str) -> list[float]:
    """The low and the high end of a field in `RANGED`."""
    value, width = getattr(found, name), UNCERTAINTY[RANGED[name]]
    return [value * (1 - width), value * (1 + width)]
