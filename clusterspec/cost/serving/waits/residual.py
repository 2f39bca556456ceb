"""Waits behind services that take unequal times."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, pairwise
from math import exp

from clusterspec.cost.serving.quantiles import smallest_reaching
from clusterspec.records import NamedTuple

Parts = list[tuple[float, float]]
"""Seconds, each with its share of the requests."""


def quantile_behind_services(parts: Parts, wait: float, services: Parts, busy: float, share: float) -> float:
    """The quantile of a wait plus one of several times, drawn with the given shares, which contain the mean ``wait``.

    A share of at most ``busy`` of the requests waits: for the rest of a running service (uniformly distributed), and
    for the exponentially distributed service of earlier requests, which accounts for the rest of the mean. ``services``
    have their shares of the requests; a service of twice the seconds runs for twice as long.

    Source: the Pollaczek-Khinchine formula as a geometric sum of residual services (Asmussen, Applied Probability and
    Queues, 2003, section VIII.5).
    """
    whole = sum(seconds * part for seconds, part in services)
    rest = sum(seconds * seconds * part for seconds, part in services) / whole / 2
    waiting = min(busy, wait / rest)
    further = max(0.0, wait / waiting - rest) if waiting else 0.0
    running = RunningServices.of([(seconds, seconds * part / whole) for seconds, part in services], further)

    def share_within(seconds: float) -> float:
        overs = [(seconds - value + wait, part) for value, part in parts]
        return sum(part * (1 - waiting * running.share_beyond(over)) for over, part in overs if over >= 0)

    low = min(value for value, _ in parts) - wait
    return smallest_reaching(share_within, share, low, max(value for value, _ in parts) + wait)


class RunningServices(NamedTuple):
    """Services of ``seconds`` in ascending order, one of which runs, before an exponential time of mean ``further``.

    Sums over services, by the number of the shorter ones: of their shares ``before`` and of their rates ``often``, each
    a share over the seconds; and of the exponential times that have ``ended`` by the end of the last of them.
    """

    seconds: list[float]
    before: list[float]
    often: list[float]
    ended: list[float]
    further: float

    @classmethod
    def of(cls, running: Parts, further: float) -> RunningServices:
        """The services that run, each with the probability that it does."""
        ordered = sorted(running)
        seconds, rates = [each for each, _ in ordered], [part / each for each, part in ordered]
        kept = [exp((low - high) / further) if further else 0.0 for low, high in pairwise([0.0, *seconds])]
        ended = accumulate(zip(kept, rates, strict=True), lambda sum_, new: sum_ * new[0] + new[1], initial=0.0)
        before = accumulate((part for _, part in ordered), initial=0.0)
        return cls(seconds, list(before), list(accumulate(rates, initial=0.0)), list(ended), further)

    def share_beyond(self, over: float) -> float:
        """The probability that the rest of the running service, any part of it alike, and the exponential time together
        exceed ``over`` seconds.

        >>> one, followed = (RunningServices.of([(4.0, 1.0)], further) for further in (0.0, 1.0))
        >>> one.share_beyond(3.0), one.share_beyond(5.0)
        (0.25, 0.0)
        >>> round(followed.share_beyond(5.0), 6) == round((exp(-1) - exp(-5)) / 4, 6)
        True
        """
        shorter, further = bisect_left(self.seconds, over), self.further
        longer = self.often[-1] - self.often[shorter]
        found = max(0.0, self.before[-1] - self.before[shorter] - over * longer)
        if not further:
            return found
        none = exp(-over / further)
        last = exp((self.seconds[shorter - 1] - over) / further) if shorter else 0.0
        return found + further * (longer * (1 - none) + self.ended[shorter] * last - self.often[shorter] * none)
