"""Rounds of equal requests in a closed loop, on an engine that mixes prompts with decoding."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

from clusterspec.records import NamedTuple


class Round(NamedTuple):
    """A round of the ``requests`` of an attention rank, each of which follows one that has ended.

    The request that comes first finds no other prompts and has a separate step. Requests that come while it runs share
    steps in groups of ``prompts``. Groups end ``apart`` steps after each other, as their prompts did one round before,
    and the first group as many after the first request. ``between`` decode steps pass from the first end until the
    first prompt starts. A decode step takes ``step`` seconds, the first prompt ``own``, the prompts of a group
    ``group``.

    Places count the first request as 0 and the groups from 1.
    """

    requests: float
    prompts: float
    between: float
    apart: float
    step: float
    own: float = 0.0
    group: float = 0.0

    def share_of_first(self, place: int) -> float:
        """The share of the first prompt that runs after the requests before a group have ended."""
        return min(1.0, max(0.0, 1 - place + self.between / self.apart))

    def groups_awaited(self, place: int) -> float:
        """The groups whose prompts run from the end of the requests before a group to its first tokens, its own one
        included.
        """
        return min(float(place), self.between / self.apart + 1)

    def first_token_seconds(self, place: int) -> float:
        """Seconds from the end of the requests before a group to its first tokens.

        A prompt that ends in the middle of a step lasts to the end of the step, which the next prompt fills.
        """
        decoding = max(0.0, self.between - place * self.apart) * self.step
        filled = self.group / self.apart / 2 if self.apart > 1 and place * self.prompts < self.requests - 1 else 0.0
        return decoding + self.share_of_first(place) * self.own + self.groups_awaited(place) * self.group + filled

    def delaying_prompts(self, place: int) -> float:
        """The prompts that run while the requests of a group decode: those of all others but the ones awaited."""
        if not place:
            return max(0.0, self.requests - 1)
        awaited = self.share_of_first(place) + self.groups_awaited(place) * self.prompts
        return max(0.0, self.requests - awaited)

    def mean(self, figure: Callable[[int], float]) -> float:
        """The mean over all requests of a ``figure`` of each place.

        >>> found = Round(requests=9.0, prompts=4.0, between=1, apart=1, step=0.02, own=0.05, group=0.08)
        >>> [round(found.first_token_seconds(place), 3) for place in (0, 1, 2)]  # 0.02 + 0.05; 0.05 + 0.08; 2 · 0.08
        [0.07, 0.13, 0.16]
        >>> round(found.mean(found.first_token_seconds), 4), [found.delaying_prompts(place) for place in (0, 1, 2)]
        (0.1367, [8.0, 4.0, 1.0])
        """
        left, place, total = self.requests - 1, 1, figure(0)
        while left > 0:
            many = left if place > self.between / self.apart + 1 else min(left, self.prompts)  # later groups are alike
            total, left, place = total + many * figure(place), left - many, place + 1
        return total / max(1.0, self.requests)

    @property
    def median_first_token(self) -> float:
        """The median of the seconds from the end of a request to the first token of the one that follows it."""
        middle = max(0.0, (self.requests - 1) / 2)
        places = (ceil(before / self.prompts) for before in (floor(middle), ceil(middle)))
        return sum(map(self.first_token_seconds, places)) / 2
