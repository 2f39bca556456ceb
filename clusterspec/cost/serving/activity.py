"""What accelerators of serving engines do, as shares of the time."""

from __future__ import annotations

import math

from clusterspec.cluster.requests import Serving
from clusterspec.cost.activity import Activity
from clusterspec.cost.serving.constants import LAUNCH, Part
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.standard import sum_of

COLLECTIVES = ("all_reduce", "norm_all_reduce", "expert_exchange")
"""Parts of a serving step that move data between accelerators."""


def serving_activity(times: ServingTimes, peak: float | None, load: Serving) -> Activity:
    """The activity of engines: prefill is products; a decode step reads memory, exchanges data, and waits for its host.

    ``peak`` is the dense FLOP/s of one rank. Under an open load, a decoding engine has no request for
    ``exp(-requests)`` of the time, because the number of randomly arriving requests is Poisson distributed. Separate
    prefill engines are idle while they have no prompt.
    """
    share, prefill = 0.0, min(1.0, max(0.0, times.prefill_share * _computing_share(times)))
    if load.prefill is not None and load.decode is not None:
        prompts, answers = (side.replicas * side.ranks for side in (load.prefill, load.decode))
        share, prefill = prompts / (prompts + answers), 0.0
    requests = times.sequences * times.coupled_ranks + prefill
    idle = min(1.0 - prefill, math.exp(-requests)) if load.load == "open" else 0.0
    decoding = _decoding_activity(times, peak, 1.0 - prefill - idle)
    loaded = min(1.0, max(0.0, times.prompt_load))
    return Activity(
        share * loaded + (1 - share) * prefill,
        (1 - share) * decoding.memory,
        (1 - share) * decoding.host,
        share * (1 - loaded) + (1 - share) * idle,
        decoding.arithmetic,
    )


def _computing_share(times: ServingTimes) -> float:
    """Prompts lengthen decode steps: the share of this additional time in which accelerators compute the prompts, at
    most 1. In the rest of that time the host launches the steps while their sequences decode.
    """
    prompt, decode = times.prefill, times.decode
    if times.prompts_alone or times.starts_together or prompt.floor <= prompt.total or not times.carried_prefill:
        return 1.0
    return min(1.0, max(0.0, prompt.device - prompt.steps * decode.device) / times.carried_prefill)


def _decoding_activity(times: ServingTimes, peak: float | None, working: float) -> Activity:
    """The activity of decode steps that take the share ``working`` of the time."""
    parts = times.decode.parts
    host, collectives = (
        sum_of(part.seconds for part in parts if part.name in names) for names in ((LAUNCH,), COLLECTIVES)
    )
    whole = sum_of(part.seconds for part in parts)
    kernels = whole - host - collectives
    if kernels <= 0:
        return Activity(0.0, working)
    arithmetic = min(1.0, sum_of(map(_flops_of, parts)) / (peak * kernels)) if peak else 0.0
    return Activity(0.0, working * kernels / whole, working * host / whole, 0.0, arithmetic)


def _flops_of(part: Part) -> float:
    return part.numbers.get("flops", 0.0) * part.numbers.get("calls", 1.0)
