"""The steady state of a serving plan, and the distribution of a wait, as records."""

from __future__ import annotations

from math import exp, expm1, inf, log

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.quantiles import smallest_reaching
from clusterspec.records import NamedTuple

LEAST_LOAD = 1e-6
"""The smallest load for which the decay is computed, and the smallest share of the time in which sequences decode."""


class WaitTail(NamedTuple):
    """The distribution of a wait, in seconds: ``least``, for a share ``met`` of the prompts ``ahead`` and an even part
    up to ``window``, and for a ``share`` of them a part with an exponential tail of ``mean`` seconds.
    """

    least: float
    window: float
    share: float
    mean: float
    met: float = 1.0
    ahead: float = 0.0

    @property
    def of_all(self) -> float:
        """The mean wait of all prompts.

        >>> [WaitTail(1.0, 2.0, 0.5, 4.0, *met).of_all for met in ((), (0.5,), (0.5, 3.0))]
        [4.0, 3.5, 5.0]
        """
        return self.least + self.met * (self.ahead + self.window / 2) + self.share * self.mean

    def share_beyond(self, seconds: float) -> float:
        """The share of the prompts that wait longer than ``seconds``.

        >>> WaitTail(1.0, 2.0, 0.0, 4.0).share_beyond(1.5), WaitTail(1.0, 0.0, 0.5, 4.0).share_beyond(1.0)
        (0.75, 0.5)
        >>> WaitTail(1.0, 2.0, 0.0, 4.0, 0.5).share_beyond(1.5)
        0.375
        >>> [WaitTail(1.0, 2.0, 0.0, 4.0, 0.5, 3.0).share_beyond(each) for each in (1.5, 4.0, 5.0)]
        [0.5, 0.5, 0.25]
        """
        over = seconds - self.least
        if over < 0:
            return 1.0
        found = self.met * (self._share_beyond(over - self.ahead, self.window) if over >= self.ahead else 1.0)
        return found if self.met == 1 else found + (1 - self.met) * self._share_beyond(over, 0.0)

    def _share_beyond(self, over: float, window: float) -> float:
        """The share of waits whose uniform part (up to ``window``) and tail add up to more than ``over`` seconds."""
        mean = self.mean
        if not window or not mean:
            even = max(0.0, 1 - over / window) if window else 0.0
            return even + (self.share * exp(-over / mean) if mean else 0.0) * (1 - even)
        if over >= window:
            return self.share * mean / window * (exp((window - over) / mean) - exp(-over / mean))
        even = 1 - over / window
        return even + self.share * mean / window * -expm1(-over / mean)

    def wait_at(self, share: float) -> float:
        """The wait that a ``share`` of the prompts does not exceed."""
        return smallest_reaching(
            lambda seconds: 1 - self.share_beyond(seconds),
            share,
            0.0,
            self.least + self.ahead + self.window + self.mean,
        )

    @property
    def exponential_mean(self) -> float:
        """The mean of an exponential wait whose 99th percentile exceeds its median by as much."""
        return (self.wait_at(0.99) - self.wait_at(0.5)) / log(50)

    def for_share(self, met: float, ahead: float, sooner: float = 0.0) -> WaitTail:
        """The same mean wait where only a share ``met`` of the prompts finds a running step.

        ``ahead`` seconds of the mean are those of steps that were formed before. ``sooner`` of these seconds are no
        delay, as the host launches the prompt meanwhile: they are in the mean time of a prompt, which is so much longer
        for prompts that find no running step.

        >>> found = WaitTail(1.0, 3.0, 0.0, 4.0).for_share(0.5, 1.0, 0.25)
        >>> found == WaitTail(1.25, 2.0, 0.0, 4.0, 0.5, 1.5), found.of_all
        (True, 2.5)
        """
        met = max(LEAST_LOAD, met)
        window = max(0.0, self.window - 2 * ahead) / met
        return self._replace(least=self.least + sooner, met=met, ahead=(ahead - sooner) / met, window=window)


class Steady(NamedTuple):
    """A steady state: a decode step, the steps and seconds of a prompt, and the resulting times.

    ``sequences`` of one attention rank decode concurrently. Each is delayed by the prompts of ``delaying`` sequences;
    for the median request of a run or an open load the number is ``typical``, for the mean request ``met`` (None:
    ``delaying``). ``carried`` is the seconds that one prompt adds to the decode steps of the same engine,
    ``each_token`` the part of it in one gap between tokens; ``share`` is the share of engine time spent on prompts.
    ``service`` is the seconds per prompt of an attention rank that runs prompts, ``wait`` the queueing time,
    ``loading`` the seconds to read cached tokens. A request spends ``outside`` seconds outside the engines or between
    them. ``rate`` is the requests per second of the plan. ``ahead`` is the part of the wait for a step that was formed
    before the prompt came; ``tail`` is the distribution of the wait, if known, and the median prompt waits
    ``median_above`` longer than the mean one where equal requests stay in step. ``capacity`` is the highest rate that
    the plan serves, if requests arrive without end at a rate near it.
    """

    sequences: float
    typical: float
    delaying: float
    decode: StepTime
    prefill: StepTime
    prompt: float
    service: float
    carried: float
    tokens_per_step: float
    tpot: float
    each_token: float
    share: float
    rate: float
    wait: float
    loading: float
    outside: float
    met: float | None = None
    ahead: float = 0.0
    tail: WaitTail | None = None
    median_above: float = 0.0
    capacity: float = inf

    @property
    def typical_token(self) -> float:
        """The time per output token of the median request, in seconds."""
        return self.tpot + (self.typical - self.delaying) * self.each_token

    @property
    def mean_token(self) -> float:
        """The mean time per output token of a request, in seconds."""
        return self.tpot if self.met is None else self.tpot + (self.met - self.delaying) * self.each_token

    @property
    def full_token(self) -> float:
        """The time per output token if the prompts of all sequences, its own included, delay it, in seconds."""
        return self.decode.total / self.tokens_per_step + self.sequences * self.each_token

    @property
    def before_decode(self) -> float:
        """Seconds from arrival to the start of decoding: queueing, reading cached tokens, and the prompt."""
        return self.wait + self.loading + self.prompt

    def requests_in_flight(self, ranks: int) -> float:
        """Requests in flight on the whole plan, including those queued, in prefill, or outside the engines."""
        return self.sequences * ranks + self.rate * (self.before_decode + self.outside)
