"""Formulas of queues of requests and prompts. Times in seconds."""

from __future__ import annotations

from math import log, pi, sqrt

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import larger


@formula("max(0, concurrency - places) / places * output_tokens * tpot")
def queue_wait(concurrency: float, places: float, output_tokens: float, tpot: float) -> float:
    """The wait of a request where more requests are in flight than there are places.

    Source: Little, Operations Research 9(3), 1961.

    >>> queue_wait(150, 100, 1000, 0.02)
    10.0
    """
    return larger(0.0, concurrency - places) / places * output_tokens * tpot


@formula("busy * prompt / 2 + load * load / (2 * (1 - load)) * service")
def prompt_wait(load: float, service: float, busy: float, prompt: float) -> float:
    """The mean wait of a prompt: half of the running step with probability ``busy``, and the prompts before it.

    ``service`` is the time of each at a ``load`` below 1, ``prompt`` that of a step.

    Source: the Pollaczek–Khinchine formula of a queue with one server and equal service times (M/D/1), of which the
    residual step is the first part.

    >>> prompt_wait(0.5, 0.2, 0.5, 0.2)
    0.1
    """
    return busy * prompt / 2 + load * load / (2 * (1 - load)) * service


def most_load(requests: float) -> float:
    """The utilization at which the wait in an open queue is that of a closed loop which keeps its server busy.

    The mean queue of n requests in such a loop, with equal service times, is √(n / π): 1 − 1 / (1 + 2 √(n / π)).

    Source: the diffusion limit of the machine-repair model at balanced load (Iglehart, "Limiting diffusion
    approximations for the many server queue and the repairman problem", J. Appl. Prob. 2, 1965).

    >>> round(most_load(1), 3), round(most_load(1000), 3)
    (0.53, 0.973)
    """
    return 1 - 1 / (1 + 2 * sqrt(requests / pi))


@formula("load / (load + spread * (1 - load))")
def wave_load(load: float, spread: float) -> float:
    """The utilization of a server while requests arrive that started together and have spread over part of
    their cycle.

    ``load`` is that of the whole cycle, of which ``spread`` is the part of the idle time that arrivals fill.

    Source: arithmetic.

    >>> wave_load(0.5, 0.25), wave_load(0.5, 1.0)
    (0.8, 0.5)
    """
    return load / (load + spread * (1 - load))


def wait_at(mean: float, share: float) -> float:
    """The wait at a percentile over the median wait, for exponentially distributed waits.

    Source: Kingman, "The single server queue in heavy traffic", Proc. Camb. Phil. Soc. 57(4), 1961.

    >>> wait_at(1.0, 0.5), round(wait_at(2.0, 0.95), 3)
    (0.0, 4.605)
    """
    return mean * log(0.5 / (1 - share))


@formula("max(0, requests - 1) / 2 * service / rounds")
def burst_wait(requests: float, service: float, rounds: float) -> float:
    """The addition to the mean wait of ``rounds`` times as many prompts, where ``requests`` prompts of a rank start at
    once.

    Source: the mean position in a queue of ``requests``; arithmetic.

    >>> burst_wait(65, 0.05, 10)
    0.16
    """
    return larger(0.0, requests - 1) / 2 * service / rounds


def burst_wait_at(mean: float, of_burst: float, share: float) -> float:
    """The queueing time at a percentile of the requests of a run, of which the fraction ``of_burst`` starts together.

    ``mean`` is the mean queueing time of all requests of the run; the last request of the burst waits ``2 mean /
    of_burst``.

    Source: the positions in a queue; arithmetic.

    >>> round(burst_wait_at(0.5, 0.1, 0.95), 6), burst_wait_at(0.5, 0.1, 0.5)
    (5.0, 0.0)
    """
    return larger(0.0, share - (1 - of_burst)) / of_burst * 2 * mean / of_burst
