"""Arrivals and lengths of simulated requests, drawn from a process."""

from __future__ import annotations

from math import log
from random import Random

from clusterspec.cluster.requests import Lengths
from clusterspec.logs.traces import MOST_ROW_TOKENS, Arrival

SPREAD = 1 / 9
"""Relative spread of lengths for which only the mean is stated. InferenceX draws prompts and answers from 0.8 to 1 of
the longest (SemiAnalysisAI/InferenceX at 843c625, `random_range_ratio` of benchmark_serving.py).
"""


def drawn_times(seed: int, count: int, rate: float, cv: float) -> list[float]:
    """Times of requests that arrive at a rate per second, with a coefficient of variation ``cv`` between them.

    1 is a Poisson process, others are gamma-distributed: above 1 the requests come in bursts.
    """
    random, now, found = Random(seed), 0.0, []
    shape = 1 / (cv * cv)
    for _ in range(count):
        now += random.expovariate(rate) if cv == 1 else random.gammavariate(shape, cv * cv / rate)
        found.append(now)
    return found


def drawn_lengths(seed: str, count: int, mean: int, lengths: Lengths | None) -> list[int]:
    """Lengths in tokens, drawn from a distribution or all equal to the mean."""
    if lengths is None:
        return [mean] * count
    random, sigma = Random(seed), lengths.log_deviation
    middle = log(lengths.mean) - sigma * sigma / 2
    most = lengths.most or MOST_ROW_TOKENS
    return [max(1, min(most, round(random.lognormvariate(middle, sigma)))) for _ in range(count)]


def with_spread(seed: str, lengths: list[int], spread: float) -> list[int]:
    """Lengths in tokens, each with a factor between 1 - ``spread`` and 1 + ``spread``."""
    random = Random(seed)
    return [max(1, round(each * random.uniform(1 - spread, 1 + spread))) for each in lengths]


def with_partial_outputs(arrivals: list[Arrival], in_flight: int, seed: int) -> list[Arrival]:
    """Requests of a closed loop, where the first ``in_flight`` start with a random part of their output left.

    The loop thereby starts in its steady state. Otherwise equal requests that start together would end together, and
    their successors' prompts would always come in waves.
    """
    random = Random(f"amid {seed}")
    first = [
        each._replace(output=max(1, round(each.output * random.random())), cached=each.prompt - 1)
        for each in arrivals[:in_flight]
    ]
    return [*first, *arrivals[in_flight:]]
