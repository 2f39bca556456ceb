"""Times of a serving plan at the percentile of its targets, and whether they are met."""

from __future__ import annotations

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.serving import wait_at
from clusterspec.cost.serving.times import ServingTimes

MEDIAN = 50.0
HIGHEST = 99.9
"""The percentile above which the exponential tail of the waits is not followed."""


def ttft_at(found: ServingTimes, percentile: float) -> float:
    """The time to the first token that ``percentile`` of the requests do not exceed; the median up to 50.

    The waits have an exponential tail, with the mean of a steady state, or of the burst at the start of a finite run.
    """
    if percentile <= MEDIAN:
        return found.ttft
    mean = max(found.wait, found.wait + found.ttft_mean - found.ttft)
    return found.ttft + wait_at(mean, min(percentile, HIGHEST) / 100)


def tpot_at(found: ServingTimes, percentile: float) -> float:
    """The time of an output token that ``percentile`` of the requests do not exceed.

    All requests of a batch share its steps, so that the percentiles of a request's mean lie close together.
    """
    return found.tpot if percentile <= MEDIAN else max(found.tpot, found.tpot_mean)


def missed(found: ServingTimes, load: Serving) -> tuple[str, ...]:
    """The targets that a plan does not meet at its load: ``ttft``, ``tpot``, both or none."""
    first = load.ttft_target is not None and ttft_at(found, load.percentile) > load.ttft_target
    each = load.tpot_target is not None and tpot_at(found, load.percentile) > load.tpot_target
    return tuple(name for name, late in (("ttft", first), ("tpot", each)) if late)
