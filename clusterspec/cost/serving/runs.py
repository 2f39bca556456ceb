"""Runs of a stated number of requests: the waits of the requests that start together, and the duration of the run."""

from __future__ import annotations

from math import asinh, ceil, exp, floor, hypot, inf, log, sqrt

from clusterspec.cost.serving.quantiles import smallest_reaching
from clusterspec.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.state import WaitTail

MOST_SHARE = 1 - 1e-6
"""The largest share of requests for which a tail is finite."""
MOST_SETS = 64
"""Number of sets of places that are counted individually."""
ROUNDED = 1e-9
"""Relative tolerance of the number of full sets of places."""
SHARPNESS = 1.5
"""The power in which the inverses of two limits of a wait are added. In simulated queues of 50 to 1,000 prompts at 0.5
to 1 of the capacity, mean waits are within 13 % of the result and 99th percentiles within 22 %.
"""
WALKED = 1.3
"""The p-th quantile of the waits in a random walk over their mean is (1 + 1.3) · p to the power of 1.3: at the median
0.93 and at the 99th percentile 2.27, of 300 simulated walks of 200 steps 0.96 and 2.35.
"""


class FiniteRun(NamedTuple):
    """A closed loop of ``requests`` in total, ``concurrency`` in flight and ``places`` running at once. Times in
    seconds.

    The first ``concurrency`` requests start together. Requests with a place wait for the prompts before theirs; the
    plan completes one prompt per ``service``. The other requests wait for a running request to end, one per ``turn``.
    Later requests wait as in the steady state: ``queued`` for a place, and ``varied`` for other prompts, with an
    exponential tail. Where requests stay in step, the run has ``waves`` of ``concurrency`` requests that all start
    together.
    ``prompt`` is the time from getting a place to the first token.

    The first prompt of each of ``lanes`` engines runs alone, since it comes first: the steps of attention replicas run
    together. The other prompts share steps of at most ``together`` prompts in the whole plan, and all prompts of a step
    end with the step. On attention replicas they run during the last ``joined`` seconds of the first prompt. All that
    start together wait ``cold`` for kernels that are compiled first. ``started`` more than have a place start with
    them.

    ``tail`` is the distribution of the wait for other prompts in a steady state, where it is known. Where equal
    requests stay in step, their median wait is ``above`` longer than the mean one.

    If requests are ``alike``, those with a place end in the order and at the intervals in which they started, and their
    successors start likewise: each set of requests waits for the end of the set before it.
    """

    requests: float
    concurrency: float
    places: float
    service: float
    turn: float
    queued: float
    varied: float
    prompt: float
    together: float = 1.0
    lanes: float = 1.0
    cold: float = 0.0
    waves: float = 1.0
    started: float = 0.0
    joined: float = 0.0
    alike: bool = False
    tail: WaitTail | None = None
    above: float = 0.0

    @property
    def _counted_requests(self) -> float:
        """The requests of a run; the first ``concurrency`` of them start together."""
        return self.requests / self.waves

    @property
    def starting(self) -> tuple[tuple[float, float, float], ...]:
        """The requests that start together, first those with a place, then the rest: for each group its share of all
        requests and its shortest and longest wait. Only the first of several waves waits for kernels to compile.
        """
        waiting = tuple((share, low + self.cold, high + self.cold) for share, low, high in self._starting_warm)
        if self.waves <= 1:
            return waiting
        cold = tuple((share / self.waves, low, high) for share, low, high in waiting)
        return cold + tuple((share * (1 - 1 / self.waves), low, high) for share, low, high in self._starting_warm)

    @property
    def _starting_warm(self) -> tuple[tuple[float, float, float], ...]:
        """`starting` where all kernels are compiled."""
        placed = min(self.places, self.concurrency)
        first = min(self.places + self.started, self.concurrency)
        alone = min(self.lanes, first)
        last = max(0.0, (first - alone) * self.service - self.joined)
        least = max(0.0, min(self.together, first - alone) * self.service - self.joined)
        sooner = self.prompt + placed * max(0.0, self.turn - self.service) / 2  # places that were taken at once end so
        others = max(last, placed * self.turn - sooner)
        longest = max(others, (self.concurrency - first + placed) * self.turn - sooner)
        waiting = (self.concurrency - first) / self._counted_requests
        return (
            (alone / self._counted_requests, 0.0, 0.0),
            ((first - alone) / self._counted_requests, least, last),
            *(self._later_sets if self.alike else ((waiting, others, longest),)),
        )

    @property
    def _later_sets(self) -> tuple[tuple[float, float, float], ...]:
        """The groups of `starting` for equal requests that find no place, in sets as large as the number of places."""
        found: list[tuple[float, float, float]] = []
        begun, cycle = self.places, self.places * self.turn
        while begun < self.concurrency:
            count = min(self.places, self.concurrency - begun)
            sets = len(found) + 1
            if sets == MOST_SETS:  # the steps between so many are of no account
                count = self.concurrency - begun
            width = (count - self.lanes) * self.service if sets < MOST_SETS else count * self.turn
            found.append((count / self._counted_requests, sets * cycle, sets * cycle + max(0.0, width)))
            begun += count
        return tuple(found)

    @property
    def mean(self) -> float:
        """The mean wait.

        >>> round(FiniteRun(640, 64, 64, 0.1, 1.0, 0.0, 0.0, 0.0).mean, 6)  # every tenth: 31.5 others
        0.315
        """
        together = sum(share * (low + high) / 2 for share, low, high in self.starting)
        return together + (1 - self.concurrency / self._counted_requests) * (self.queued + self.varied)

    @property
    def last(self) -> float:
        """The wait of the last of the requests that start together."""
        return self.cold + max(high for share, _, high in self._starting_warm if share > 0)

    @property
    def _seconds_of_others(self) -> float:
        """Seconds of the prompts of all other requests that run."""
        return max(0.0, min(self.places, self.concurrency) - 1) * self.service

    def wait_at(self, share: float) -> float:
        """The wait that a share of the requests does not exceed; requests that start together wait evenly spread times.

        Later ones wait no longer than for the prompts of all others that run.

        >>> round(FiniteRun(64, 64, 64, 0.1, 1.0, 0.0, 0.0, 0.0).wait_at(0.5), 6)  # 31 of 63 from 0.1 to 6.3 s
        3.150794
        >>> round(FiniteRun(6400, 4, 64, 0.1, 1.0, 0.0, 0.2, 0.0).wait_at(0.99), 6)  # not 0.98 s
        0.3
        """
        together, later = self.starting, 1 - self.concurrency / self._counted_requests

        def share_within(seconds: float) -> float:
            found = sum(
                part * (min(1.0, max(0.0, (seconds - low) / (high - low))) if high > low else float(seconds >= low))
                for part, low, high in together
            )
            return found + later * self._share_of_later_within(seconds)

        top = max(self.last, self.queued + self.varied + self.above)
        return smallest_reaching(share_within, share * (1 - 1e-12), 0.0, top) if top else 0.0

    def _share_of_later_within(self, seconds: float) -> float:
        """The share of the requests that do not start together which waits no longer than ``seconds``."""
        if self.tail is not None:
            return 1.0 if seconds >= self._longest_of_later else 1 - self.tail.share_beyond(seconds - self.queued)
        over = seconds - self.queued - self.above - self.varied * (1 - log(2))
        return 0.0 if over < 0 else 1 - exp(-over / self.varied) if self._varies_beyond(seconds) else 1.0

    def _varies_beyond(self, seconds: float) -> bool:
        """Whether some of the later requests may wait longer than ``seconds``."""
        return self.varied > 0 and seconds < self._longest_of_later

    @property
    def _longest_of_later(self) -> float:
        """The longest wait of the requests that do not start together: for the prompts of all others that run."""
        return self.queued + max(self.varied, self._seconds_of_others)

    def seconds(self, latency: float, final: float) -> float:
        """The duration of the run: the steady-state rounds of ``latency`` each, the longest wait among the requests
        that start together, and the ``final`` seconds from then to the end.

        >>> round(FiniteRun(640, 64, 64, 0.1, 1.0, 0.0, 0.0, 0.0).seconds(20.0, 20.0), 6)  # 6.3 s to start
        206.3
        """
        if self.waves > 1:
            return self.waves * (self.last - self.cold + final) + self.cold
        return (self.requests - self.concurrency) / self.concurrency * latency + self.last + final

    @property
    def requests_of_last_round(self) -> float:
        """The requests that start last, one on each place that is not at its end: all that are in flight, or fewer.

        >>> [FiniteRun(each, 32, 64, 0.1, 1.0, 0.0, 0.0, 0.0).requests_of_last_round for each in (96, 100, 31)]
        [32, 4, 31]
        """
        flight = min(self.requests, self.concurrency)
        return self.requests - (ceil(self.requests / flight - ROUNDED) - 1) * flight

    def seconds_of_rounds(self, latency: float, final: float) -> float:
        """The duration of a run of equal requests that all have places. Each starts when an equal one ends, so that a
        place runs as many requests as the others, or one more: rounds of ``latency`` each, and a last one of ``final``
        seconds after the wait of its requests, in proportion to their number.

        >>> round(FiniteRun(100, 32, 64, 0.1, 1.0, 0.0, 0.0, 0.0).seconds_of_rounds(10.0, 8.0), 6)  # 3.1 s for 32
        38.3875
        """
        flight, left = min(self.requests, self.concurrency), self.requests_of_last_round
        rounds = ceil(self.requests / flight - ROUNDED) - 1
        return rounds * latency + (self.last - self.cold) * left / flight + self.cold + final


def wait_in_growing_queue(growth: float, varied: float) -> float:
    """Seconds that a request spends in a queue that has grown by ``growth`` seconds since the start of a run. Without
    growth, requests that come irregularly wait ``varied`` seconds.

    The wait is the maximum of a random walk. A small drift adds half of the growth, since the maximum is on average in
    the middle of the walk (arcsine law). A queue that never empties adds the whole growth: bursts then lengthen the
    wait of some requests and shorten the wait of others. Between the two, a walk with the mean maximum w and the drift
    d of n steps has d n / 2 + √((d n / 2)² + w²): for a large drift d n + w² / d n, where w² is 2 / π of the variance
    of the steps, and 1 / 2 of it is exact.

    Source: Feller, An introduction to probability theory and its applications, volume 2, chapter XII.

    >>> wait_in_growing_queue(0.0, 3.0), wait_in_growing_queue(8.0, 0.0), wait_in_growing_queue(8.0, 3.0)
    (3.0, 8.0, 9.0)
    """
    return growth / 2 + hypot(growth / 2, varied)


def smooth_minimum(first: float, second: float) -> float:
    """A smooth minimum of two limits: close to the smaller limit if they differ, and below both if they are similar.

    >>> smooth_minimum(2.0, inf), round(smooth_minimum(1.0, 1.0), 4), smooth_minimum(0.0, 3.0)
    (2.0, 0.63, 0.0)
    """
    low, high = sorted((first, second))
    return low / float((1 + (low / high) ** SHARPNESS) ** (1 / SHARPNESS)) if low > 0 else 0.0


class OpenRun(NamedTuple):
    """A run of ``requests`` that arrive at a ``rate`` per second, ``places`` of which run at once. Times in seconds.

    While all places are taken, one request ends per ``turn``, and requests without a place queue. ``varied`` is the
    mean wait for other prompts, with an exponential tail, as far as no queue grows. A full prefill step completes one
    prompt per ``service``; prompts that arrive faster queue. The first requests, one for each place, end ``sooner`` on
    average than a turn allows, since they decode together with fewer others. ``alike`` requests end at exactly the
    intervals at which they arrived.

    ``tail`` is the distribution of the wait for other prompts in a steady state, where it is known. Whatever the rate,
    irregular arrivals let the prompts of a run wait ``walk`` seconds on average, no longer: it ends before they do.

    Irregular arrivals also take all places at times although there are enough on average. A share of ``waiting``
    requests then finds no place and waits ``placing`` seconds with an exponential tail, at most ``placed_walk`` on
    average.
    """

    requests: float
    rate: float
    places: float
    turn: float
    varied: float
    service: float = 0.0
    sooner: float = 0.0
    alike: bool = False
    tail: WaitTail | None = None
    walk: float = inf
    waiting: float = 0.0
    placing: float = 0.0
    placed_walk: float = inf

    @property
    def irregular(self) -> float:
        """The mean wait in seconds that irregular arrivals cause as far as no queue grows: for prompts and for a place.

        >>> OpenRun(200.0, 10.0, 50.0, 0.1, 0.5, waiting=0.25, placing=2.0).irregular
        1.0
        """
        return self.varied + smooth_minimum(self.waiting * self.placing, self.placed_walk)

    def _wait_for_place(self, share: float) -> float:
        """The wait for a place that a ``share`` of the requests does not exceed, as far as no queue grows."""
        late = log(self.waiting / (1 - share)) if self.waiting > 1 - share else 0.0
        return smooth_minimum(late * self.placing, self.placed_walk * (1 + WALKED) * float(share**WALKED))

    @property
    def added_interval(self) -> float:
        """Seconds by which the interval between completions exceeds the interval between arrivals, at full engines."""
        return max(0.0, self.turn - 1 / self.rate)

    @property
    def lag(self) -> float:
        """Seconds by which ``service`` exceeds the interval between arrivals."""
        return max(0.0, self.service - 1 / self.rate)

    @property
    def unqueued_requests(self) -> float:
        """The number of requests by which waits for a place lag behind waits that grow with every request."""
        return self.places / 2 + (self.sooner / self.added_interval if self.added_interval else 0.0)

    def queue_wait(self, number: float) -> float:
        """The wait of request ``number`` for a place, or for the prompts before it if that is longer.

        Requests end at the intervals at which they arrived. The wait therefore rises by the same amount with every full
        set of places. Unless requests are alike, it is interpolated between sets in proportion to the number.

        >>> run = OpenRun(200.0, 10.0, 50.0, 0.2, 0.0)  # each takes 10 s, the places are taken after 5 s
        >>> run.queue_wait(50.0), run.queue_wait(75.0), run.queue_wait(125.0)
        (0.0, 5.0, 10.0)
        >>> run._replace(rate=8.0, service=0.25).queue_wait(40.0)  # 0.25 s apart instead of 0.125
        5.0
        >>> run._replace(sooner=1.0).queue_wait(75.0)
        4.0
        >>> alike = run._replace(alike=True)  # all of a set wait equally long
        >>> alike.queue_wait(51.0), alike.queue_wait(100.0), alike.queue_wait(101.0)
        (5.0, 5.0, 10.0)
        """
        prompts = self.lag * number
        if self.alike and self.places:
            number = max(self.places, self.places * (floor(number / self.places * (1 - ROUNDED)) + 0.5))
        return (
            max(prompts, self.added_interval * (number - self.unqueued_requests)) if number > self.places else prompts
        )

    @property
    def mean(self) -> float:
        """The mean wait, interpolated between sets.

        >>> OpenRun(200.0, 10.0, 50.0, 0.2, 0.0).mean  # those of 50 each wait 0, 5, 10 and 15 s
        7.5
        >>> OpenRun(200.0, 10.0, 50.0, 0.2, 0.0, 0.14).mean, OpenRun(200.0, 10.0, 50.0, 0.05, 0.0, 0.2).mean
        (7.75, 10.0)
        >>> OpenRun(200.0, 10.0, 50.0, 0.2, 0.0, sooner=1.0).mean  # three of four wait a second less
        6.75
        >>> OpenRun(200.0, 10.0, 50.0, 0.1, 0.5).mean  # no queue grows
        0.5
        """
        longer, behind, last, start = self.added_interval, self.lag, self.requests, self.unqueued_requests
        met = self.places if longer <= behind else max(self.places, longer * start / (longer - behind))
        first = last if longer <= behind else min(last, met)
        whole = self._sum_of_waits(0.0, behind * first, behind, first)
        if first < last:
            whole += self._sum_of_waits(longer * (first - start), longer * (last - start), longer, last - first)
        return whole / last

    def _sum_of_waits(self, low: float, high: float, slope: float, count: float) -> float:
        """The sum of the mean waits of ``count`` requests whose waits in a queue rise from ``low`` to ``high``."""
        if not slope:
            return count * self.irregular

        varied = self.irregular

        def sum_up_to(wait: float) -> float:
            half = wait / 2
            area = varied * varied * asinh(half / varied) if varied else 0.0
            return half * half + half * hypot(half, varied) + area

        return (sum_up_to(high) - sum_up_to(low)) / slope

    @property
    def last(self) -> float:
        """The wait of the last request for a place."""
        return self.queue_wait(self.requests)

    def wait_at(self, share: float) -> float:
        """The wait in seconds that a ``share`` of the requests does not exceed; later requests wait longer.

        >>> round(OpenRun(200.0, 10.0, 50.0, 0.1, 0.5).wait_at(0.5), 9)  # no queue grows
        0.5
        """
        growth, most = self.queue_wait(share * self.requests), min(share, MOST_SHARE)
        prompts, place = self._irregular_wait(most, growth), self._wait_for_place(most)
        together = max(prompts + self.irregular - self.varied, self.varied + place) if place else prompts
        return wait_in_growing_queue(growth, together)

    def _irregular_wait(self, share: float, growth: float) -> float:
        """The wait for irregular prompts that a ``share`` of the requests does not exceed, if no queue grows.

        It is the wait of the steady state, at most that of a random walk. While a queue grows by ``growth`` seconds,
        later requests wait longer than earlier ones, so the result averages over the late ones.
        """
        if self.tail is None:
            return smooth_minimum(self.varied * (1 - log(2) - log(1 - share)), self._queue_wait(share))
        even = min(self.tail.window / 2, self.varied)
        found = even + smooth_minimum(self.tail.wait_at(share) - even, self._queue_wait(share))
        mean = even + min(found - even, 3 / 2 * sqrt(share) * (self.varied - even))  # of those at this place of the run
        return mean + (found - mean) * (1 / (1 + growth / self.walk) if self.walk else 1.0)

    def _queue_wait(self, share: float) -> float:
        return self.walk * (1 + WALKED) * float(share**WALKED)

    def requests_with_last(self, decoding: float, alone: float) -> float:
        """Mean number of requests that decode together with the last one, after which no prompts come. Each decodes for
        ``decoding`` seconds amid the prompts of others, for ``alone`` seconds without.

        Requests end in the order in which they began. Until then they gain tokens in the time that the engines do not
        spend on prompts. Requests that have gained all their tokens end evenly; if none has gained any, all end with
        the last one.

        >>> run = OpenRun(200.0, 10.0, 500.0, 0.0, 0.0)
        >>> run.requests_with_last(10.0, 10.0)  # 100 of them, which end evenly
        50.0
        >>> run.requests_with_last(40.0, 40.0)  # all for 20 s, half of them for 20 s
        150.0
        >>> run._replace(service=0.1).requests_with_last(40.0, 10.0)  # the engines had no time for anything but prompts
        200.0
        """
        began = self.requests / self.rate + self.last
        together = min(self.requests * min(1.0, decoding / began), self.places)
        free = min(began, decoding) * max(0.0, 1 - self.rate * self.service)
        return together * (1 - min(1.0, free / alone) / 2) if alone else together

    def seconds(self, latency: float) -> float:
        """The duration of the run in seconds: all arrivals, then the wait and the ``latency`` of the last request.

        >>> OpenRun(200.0, 10.0, 50.0, 0.2, 0.5).seconds(10.0)
        47.4
        """
        return (self.requests - 1) / self.rate + self.last + latency
