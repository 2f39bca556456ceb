"""Requests of an open load that several engines share, each of which goes to the engine with the fewest."""

from __future__ import annotations

from math import erfc, exp, expm1, sqrt

MOST_ENGINES = 256
"""More engines count as so many with as many requests each: the share with no idle engine changes by less than 0.06."""
MOST_IN_FLIGHT = 500.0
"""The largest mean number in flight whose distribution is summed term by term."""
NEGLIGIBLE = 1e-12
"""The probability from which on the further numbers in flight of a distribution are not summed."""
LEAST = 1e-300
"""The smallest share that is told from none."""
ROUNDS, CLOSE = 60, 1e-6
"""Iterations for the share of requests that find no idle engine at most, and the change at which they end."""


def share_finding_others(flight: float, engines: float = 1.0) -> float:
    """The share of the requests of an open load that find no idle engine, each with ``flight`` requests on average.

    Requests go to the engine with the fewest. None is idle only if as many requests as ``engines`` are in flight, which
    bounds the share.

    >>> share_finding_others(0.5) == 1 - exp(-0.5)
    True
    >>> [round(share_finding_others(each, 8), 2) for each in (0.6, 1.0, 1.5, 3.0)]  # counted: 0.08, 0.36, 0.72, 0.99
    [0.07, 0.33, 0.72, 1.0]
    """
    if engines <= 1:
        return -expm1(-flight)
    count = min(round(engines), MOST_ENGINES)
    return min(share_with_as_many(flight, count), _share_with_none_idle(flight, count))


def share_with_as_many(flight: float, engines: float) -> float:
    """The share of the time in which at least as many requests as ``engines``, rounded, are in flight: their number is
    Poisson distributed; a large one is taken as normal.

    >>> round(share_with_as_many(0.5, 2), 6)  # 1 - 2 e^-1
    0.264241
    """
    least = max(1, round(engines))
    mean = flight * least
    if mean > MOST_IN_FLIGHT:
        return erfc((least - 0.5 - mean) / sqrt(2 * mean)) / 2
    each, fewer = exp(-mean), 0.0
    for count in range(1, least + 1):
        fewer += each
        each *= mean / count
        if each < NEGLIGIBLE and count > mean:
            break
    return max(0.0, 1.0 - fewer)


def _share_with_none_idle(flight: float, engines: int) -> float:
    """The share of the requests that find no idle engine, if no engine has three.

    An engine gets a second request only if none is idle, and has it until one of the two ends, half of the time of a
    request: with a share p, flight engines p / 2 engines have two. The others have one request or none, as servers
    without a queue: p is Erlang's formula for so many of them, between whole numbers in equal ratios.

    Source: Erlang's loss formula, by its recursion over the servers (Cooper, Introduction to Queueing Theory, 1981,
    section 3.3); it holds for requests of any lengths.

    >>> round(_share_with_none_idle(0.5, 2), 3)  # 0.11 of two engines have two, 1.89 servers: (2 / 5)^0.89 / 2
    0.221
    >>> _share_with_none_idle(2.5, 4)
    1.0
    """
    offered, blocked = flight * engines, [1.0]
    for servers in range(1, engines + 1):
        blocked.append(max(LEAST, offered * blocked[-1] / (servers + offered * blocked[-1])))
    share = blocked[-1]
    for _ in range(ROUNDS):
        single = max(0.0, engines - offered * share / 2)
        whole = min(int(single), engines - 1)
        before, share = share, blocked[whole] * (blocked[whole + 1] / blocked[whole]) ** (single - whole)
        if abs(share - before) < CLOSE:
            break
    return share
