"""Uncertainty ranges of the predicted times and throughput of a serving plan."""

from __future__ import annotations

from math import log

from clusterspec.cost.serving.constants import RANGES, TAILS
from clusterspec.cost.serving.times import ServingTimes

RANGED = {
    "ttft": "ttft",
    "tpot": "tpot",
    "ttft_mean": "ttft",
    "tpot_mean": "tpot",
    "output_tokens_per_second": "output_tokens_per_second",
}
"""The fields of a serving plan with a range, and the quantity of each."""


def serving_range(times: ServingTimes, name: str) -> list[float]:
    """The low and the high end of a field in `RANGED`."""
    low, high = factors(times, RANGED[name])
    value: float = getattr(times, name)
    return [value * low, value * high]


def factors(times: ServingTimes, quantity: str) -> tuple[float, float]:
    """The ends of the range of a quantity over its prediction.

    The time to first token is least certain with separate prefill engines, which queue, and with experts.
    """
    if quantity != "ttft":
        return RANGES[quantity]
    if times.offered <= 1.0:
        return RANGES["ttft alone"]
    if times.handoff > 0:
        return RANGES["ttft apart"]
    routed = any(part.name == "experts" for part in times.prefill.parts)
    return RANGES["ttft experts" if routed else "ttft"]


def tail_factors(times: ServingTimes, quantity: str, share: float) -> tuple[float, float]:
    """The ends of the range of ``ttft`` or ``tpot`` at a percentile (``share`` from 0.5 to 1) over its prediction.

    Those of the median and of the 99th percentile were measured. Between them the ends follow the exponential tail of
    waits; above, they are those of the 99th.
    """
    kind = "ttft apart" if quantity == "ttft" and times.handoff > 0 else quantity
    part = min(1.0, log(0.5 / (1 - share)) / log(0.5 / 0.01))
    low, high = (
        middle ** (1 - part) * end**part for middle, end in zip(factors(times, quantity), TAILS[kind], strict=True)
    )
    return low, high
