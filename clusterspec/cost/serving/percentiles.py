"""Latencies of a serving plan at percentiles, with their ranges."""

from __future__ import annotations

from math import exp, inf, log, sqrt

from clusterspec.cluster.requests import Serving, gaps_between
from clusterspec.cost.formulas.queues import two_waits_beyond, wait_above_median
from clusterspec.cost.formulas.serving import request_time
from clusterspec.cost.serving.constants import TAILS
from clusterspec.cost.serving.latency import ServingTimes, Stretched, range_factors, stretched_ends
from clusterspec.cost.serving.loads import PlaceWait
from clusterspec.cost.serving.quantiles import (
    clustered_quantile,
    compound_share,
    gamma_share,
    lengths_in_parts,
    quantile_of_sums,
    smallest_reaching,
)
from clusterspec.cost.serving.waits.held_prompts import steps_of_release
from clusterspec.cost.serving.waits.residual import quantile_behind_services
from clusterspec.cost.serving.waits.shares import output_parts


def tail_factors(
    times: ServingTimes, quantity: str, share: float, ends: tuple[float, float] | None = None
) -> tuple[float, float]:
    """The low and the high end of the range of ``ttft`` or ``tpot`` at a percentile (``share`` from 0.5 to 1), relative
    to the prediction.

    The ends at the median and at the 99th percentile were measured. Between the two they follow the exponential tail of
    waits; above the 99th they are constant. The factors are at least as wide as ``ends``, by default the factors at the
    median.
    """
    kind = "ttft apart" if quantity == "ttft" and times.regime == "apart" else quantity
    part = min(1.0, log(0.5 / (1 - share)) / log(0.5 / 0.01))
    least, most = ends or range_factors(times, quantity)
    low, high = (middle ** (1 - part) * end**part for middle, end in zip((least, most), TAILS[kind], strict=True))
    return min(least, low), max(most, high)


# Latencies at a percentile. TTFT is the time from a request to its first token, TPOT the mean time between the tokens
# of one request, ITL each single gap between two tokens, end to end the time from a request to its last token

MEDIAN = 50.0
LEAST_APART = 1e-3
"""The least share of prompts that no other follows within a step."""
LONG_WAITS = 0.9
"""In an open load, waits from this percentile on (as a share) have an exponential tail with their mean."""
LEAST_WAITING = 1e-7
"""Fewer requests than this share never wait for a place at a percentile that is asked for."""
LEAST_TAIL = 1e-9
FEWEST = 0.01
"""Prompts per step: with fewer, the work of two or more is as with so many. Less than one step in 20,000 has them."""
HIGHEST = 99.9
"""The percentile up to which the exponential tail of the waits is used."""
QUANTITIES = {
    "ttft": "time to first token",
    "tpot": "time per output token",
    "itl": "gap between tokens",
    "end_to_end": "end to end",
}
"""The latencies that targets may limit, by their key, as printed."""


def latency_at(times: ServingTimes, load: Serving, quantity: str, percentile: float) -> float:
    """The seconds that this percentage of the requests, or of the gaps, does not exceed; up to 50 the median."""
    share = max(MEDIAN, min(percentile, HIGHEST)) / 100
    if quantity == "ttft":
        return times.ttft if percentile <= MEDIAN else _first_token(times, load, share)
    if quantity == "tpot":
        return times.tpot if percentile <= MEDIAN else max(times.tpot, times.tpot_mean, _mean_gap(times, load, share))
    return single_gap(times, load, share) if quantity == "itl" else _end_to_end(times, load, share)


def latency_range(times: ServingTimes, load: Serving, quantity: str, percentile: float) -> tuple[float, float]:
    """The low and the high end of the range of a latency at a percentile, in seconds.

    A single gap is as uncertain as the mean gap. The range of the end-to-end latency adds those of the first token and
    of the remaining tokens.
    """
    value = latency_at(times, load, quantity, percentile)
    if quantity == "end_to_end":
        first = min(value, latency_at(times, load, "ttft", percentile))
        (low, high), (least, most) = (latency_factors(times, name, percentile) for name in ("ttft", "tpot"))
        return first * low + (value - first) * least, first * high + (value - first) * most
    low, high = latency_factors(times, "ttft" if quantity == "ttft" else "tpot", percentile)
    return value * low, value * high


def latency_factors(times: ServingTimes, quantity: str, percentile: float) -> tuple[float, float]:
    """The low and high ends of the range of ``ttft`` or ``tpot`` at a percentile, as factors of the prediction."""
    if percentile <= MEDIAN:
        return range_factors(times, quantity)
    ends = None
    if times.stretched is not None and quantity == "ttft":
        ends = _factors_of_longer_times(times, times.stretched, percentile)
    return tail_factors(times, quantity, min(percentile, HIGHEST) / 100, ends)


def _factors_of_longer_times(
    times: ServingTimes, stretched: Stretched, percentile: float
) -> tuple[float, float] | None:
    """For an open load, the range of the time to first token at a percentile above the median, relative to the plan's
    own: in the plans at the ends of the range of a step all times are shorter or longer. The queue of a load above the
    capacity adds the same seconds to the median and to the percentile.
    """
    value = latency_at(times, stretched.load, "ttft", percentile)
    low, high = (
        each * latency_at(stretched.times_with(each), stretched.load, "ttft", percentile)
        for each in stretched_ends(times, stretched)
    )
    return (low / value, high / value) if value else None


def _first_token(times: ServingTimes, load: Serving, share: float) -> float:
    """The time to first token that a ``share`` of the requests (above 0.5) does not exceed, in seconds.

    Waits in a steady state have an exponential tail. In a finite run the slowest requests are in the initial burst,
    where each waits for those ahead of it: the position in the burst is the percentile. Prompt time is proportional to
    the prompt's length where lengths vary.
    """
    found = _first_token_in_place(times, load, share)
    return _with_wait_for_place(times.place, times.ttft - times.place.median, found - times.place.median, share)


def _with_wait_for_place(place: PlaceWait, median: float, found: float, share: float) -> float:
    """A latency at a ``share`` of the requests, including the wait for a place; ``found`` is the latency without it.
    Above its ``median`` without that wait, the latency is assumed to have an exponential tail.
    """
    if place.share < LEAST_WAITING:
        return found
    longer = max(LEAST_TAIL * place.mean, (found - median) / wait_above_median(1.0, share))

    def share_within(seconds: float) -> float:
        over = seconds - median
        alone = (1 - place.share) * exp(-over / longer)
        waiting = exp(-over / place.mean) + two_waits_beyond(over, longer, place.mean)
        return 1 - (alone + place.share * waiting) / 2

    return smallest_reaching(share_within, share, median, max(found, median + place.mean))


def _first_token_in_place(times: ServingTimes, load: Serving, share: float) -> float:
    """`_first_token` with only the median wait for a place under an open load."""
    tail = times.state.tail
    if tail is not None and times.run is None and load.input_lengths is None and not times.turns:
        return times.ttft + tail.wait_at(share) - tail.wait_at(MEDIAN / 100)
    held = 0.0 if times.run is not None else _mean_wait_until_release(times, load)
    burst, varied = _burst_wait(times, share), max(0.0, _varied_wait(times, load) - held)
    burst += 2.0 * held * (share - MEDIAN / 100)  # it may be anything between none and twice its mean
    burst -= times.median_gap * max(0.0, 1 - wait_above_median(1.0, share) / wait_above_median(1.0, LONG_WAITS))
    if load.input_lengths is None and not times.turns:
        return times.ttft + times.median_gap + wait_above_median(varied, share) + burst
    if load.load == "open" and load.input_lengths is not None and times.run is None and varied:
        return max(times.ttft, _behind_drawn_prompts(times, load, varied, share) + burst)
    return max(times.ttft, quantile_of_sums(_prompt_times(times, load), varied, share) + burst)


def _behind_drawn_prompts(times: ServingTimes, load: Serving, varied: float, share: float) -> float:
    """The time to first token at a ``share`` of the requests of an open load whose prompts have drawn lengths: who
    waits is most often behind a long prompt, which runs for the largest share of the time.
    """
    parts = _prompt_times(times, load)
    typical = times.ttft + times.median_gap - times.prompt_time * times.typical_prompt
    services = [(max(LEAST_TAIL * times.prompt_time, value - typical), part) for value, part in parts]
    tail = times.state.tail
    wait = tail.share * tail.mean if tail is not None else varied
    return quantile_behind_services(parts, wait, services, min(1.0, times.prompt_load), share)


def _varied_wait(times: ServingTimes, load: Serving) -> float:
    """The part of the mean wait that varies among requests of a steady state.

    In a closed loop all requests wait equally long for another to end. The number of requests that do not wait for
    prompts is Poisson distributed (machine-repair model), so the number that waits varies by its square root.
    """
    if times.run is not None:
        return 0.0
    if times.varied is not None:
        return times.varied
    if times.state.tail is not None:
        return times.state.tail.exponential_mean
    if load.concurrency is None:
        return times.wait
    return min(times.wait - times.queued, times.prompt_time * sqrt(max(1.0, times.sequences)))


def _mean_wait_until_release(times: ServingTimes, load: Serving) -> float:
    """Mean seconds for which prompts are held until all attention replicas have one."""
    prompts = times.sequences * times.tokens_per_step / load.gaps
    steps = steps_of_release(load, times.coupled_ranks, prompts)
    return (steps - 1.0) / 2 * times.tpot * times.tokens_per_step


def _prompt_times(times: ServingTimes, load: Serving) -> list[tuple[float, float]]:
    """The times to the first token of prompts of varied lengths after a mean wait, each with its share of the
    requests.
    """
    typical = times.ttft + times.median_gap
    parts = times.turns
    if load.input_lengths is not None:
        parts = tuple(
            (prompt_over_mean(times.growing, times.longer, length / load.input_tokens), part)
            for length, part in lengths_in_parts(load.input_lengths)
        )
    elif not times.turns:
        return [(typical, 1.0)]
    return [(typical + times.prompt_time * (each - times.typical_prompt), part) for each, part in parts]


def prompt_over_mean(growing: float, longer: tuple[tuple[float, float], ...], length: float) -> float:
    """The time of a prompt of a ``length`` over the mean length, over the time of a prompt of the mean length.

    ``growing`` is the share of the latter that is in proportion to its length, ``longer`` the times of longer prompts.

    >>> longer = ((1.0, 1.0), (2.0, 2.2), (4.0, 5.2))
    >>> [round(prompt_over_mean(0.8, longer, each), 6) for each in (0.5, 1.0, 1.5, 3.0, 4.0)]
    [0.6, 1.0, 1.6, 3.7, 5.2]
    """
    if length <= 1 or len(longer) < 2:
        return 1 + growing * (length - 1)
    below = max(0, sum(part < length for part, _ in longer[:-1]) - 1)
    (part, low), (end, high) = longer[below : below + 2]
    return low + (high - low) * (length - part) / (end - part)


def _burst_wait(times: ServingTimes, share: float) -> float:
    """Seconds that the request at percentile ``share`` of a run waits more than the median one."""
    return times.run.wait_at(share) - times.wait - times.burst[0] if times.run is not None else 0.0


def _mean_gap(times: ServingTimes, load: Serving, share: float) -> float:
    """The mean gap between the tokens of one request that a ``share`` of the requests does not exceed, in seconds.

    Equal requests in a batch share all steps and so have equal means. In a run that starts together without replacing
    finished requests, the prompts of all others delay the first requests, and no prompt delays the last ones.

    If lengths vary or arrivals are irregular, the number of prompts that start during an output is Poisson
    distributed, with the largest relative variation over short outputs. In an open load on engines that mix prompts
    with decoding, `PromptShares` gives the distribution, with the prompts that are unfinished when decoding starts.
    """
    if times.most_met is not None and times.output_tokens >= 2:
        met = min(share * times.sequences, times.most_met)
        return times.tpot + (met - times.decoding_sequences) * times.state.each_token
    varied = load.input_lengths or load.output_lengths or load.load == "open"
    prompts = times.sequences / load.gaps * times.coupled_ranks
    if not varied or not times.carried_prefill or times.output_tokens < 2:
        return times.tpot
    if times.shares is not None and times.shares.share:
        found = times.shares.prompt_share_at(share, [each for each in output_parts(load) if each[0] >= 2])
        return (
            times.tpot
            + (found / times.shares.share * times.sequences - times.decoding_sequences) * times.state.each_token
        )
    each = times.carried_prefill / times.stages[1] / times.coupled_ranks
    spread = 1.0 + (load.input_lengths.variation if load.input_lengths else 0.0)
    base = times.tpot - prompts * each
    parts = [
        (prompts * (length - 1), length - 1, part) for length, part in output_parts(load) if length >= 2
    ]  # prompts during an output, and its gaps

    def share_within(seconds: float) -> float:
        return sum(
            part * compound_share((seconds - base) * gaps / each, count, spread) for count, gaps, part in parts
        ) / sum(part for _, _, part in parts)

    return smallest_reaching(share_within, share, base, base + each)


def single_gap(times: ServingTimes, load: Serving, share: float) -> float:
    """The gap between two tokens at a share of all gaps: a decode step, longer by the chunks of prompts in it.

    Requests that arrive in bursts meet more prompts than a step holds on average: the other prompts of the burst.
    """
    step = times.decode.total
    if times.joining and 1 / gaps_between(times.output_tokens) > 1 - share:
        return step + times.joining
    if load.prefill is not None or load.load == "static" or not times.carried_prefill:
        return step
    met = max(times.sequences, times.state.delaying) if times.shares is not None else times.sequences
    ended = met * times.tokens_per_step / load.gaps
    chunks, stages = times.prefill.steps, times.stages[1]
    if chunks > 1 and not times.prompts_alone:
        longer = max(0.0, times.prefill.total / chunks - step) / stages
        return step + longer if min(1.0, ended * chunks * times.coupled_ranks) > 1 - share else step
    fresh = max(1.0, load.fresh_tokens)
    most = max(1.0, (load.chunk_tokens or fresh) // fresh)
    every = max(load.receive_interval, steps_of_release(load, times.coupled_ranks, ended))
    if share <= 1 - 1 / every and every > 1:  # prompts start after one of so many steps
        return step
    share = 1 - (1 - share) * every
    prompts, each = ended * every * times.coupled_ranks, times.carried_prefill / stages / times.coupled_ranks
    if load.input_lengths is None:
        return (
            step + min(most, clustered_quantile(prompts, prompt_burst_factor(times, load, step + each), share)) * each
        )
    return step + min(most, _prompts_in_step(load, prompts, share)) * each


def prompt_burst_factor(times: ServingTimes, load: Serving, step: float) -> float:
    """The ratio of the prompts that reach an attention rank within a ``step`` of some seconds to the number at random
    arrivals; 1 without bursts.

    Requests go to the engine with the fewest, so in turn. For a gamma process over n ranks, the times between requests
    of one rank have n times the shape.
    """
    if load.load != "open" or load.arrival_cv <= 1 or not load.request_rate or not times.state.tpot:
        return 1.0
    own = times.sequences / (load.gaps * times.state.tpot)  # requests a second of one rank
    shape = load.request_rate / own / load.arrival_cv**2 if own else inf
    if shape >= 1:
        return 1.0
    return max(1.0, exp(-own * step) / max(LEAST_APART, 1 - gamma_share(shape * own * step, shape)))


def _prompts_in_step(load: Serving, prompts: float, share: float) -> float:
    """The work of prompts of varied lengths at a share of the steps, in prompts of mean length.

    A step has a Poisson count of them, ``prompts`` on average: none, one of a drawn length, or a sum.
    """
    assert load.input_lengths is not None
    none, one = exp(-prompts), prompts * exp(-prompts)
    parts = [(length / load.input_tokens, part) for length, part in lengths_in_parts(load.input_lengths)]
    mean, spread = _several_prompts(max(FEWEST, prompts), 1.0 + load.input_lengths.variation)

    def share_within(work: float) -> float:
        single = sum(part for length, part in parts if length <= work)
        return none + one * single + (1 - none - one) * compound_share(work, mean, spread)

    return 0.0 if none >= share else smallest_reaching(share_within, share, 0.0, 1.0)


def _several_prompts(prompts: float, square: float) -> tuple[float, float]:
    """The mean of the work of the prompts in a step with two or more of them, and its variance over the mean; a step
    has ``prompts`` on average. Their sizes have the mean 1, and ``square`` is the mean of their squares.
    """
    one = prompts * exp(-prompts)
    several = 1 - exp(-prompts) - one
    mean = (prompts - one) / several
    squares = (prompts * square + prompts**2 - one * square) / several
    return mean, squares / mean - mean


def _end_to_end(times: ServingTimes, load: Serving, share: float) -> float:
    """The time of a whole request at a share of the requests: its first token, and its outputs at the mean gap."""
    firsts = _prompt_times(times, load)
    burst, varied = _burst_wait(times, share), _varied_wait(times, load)
    if load.output_lengths is None and load.input_lengths is None:
        return request_time(latency_at(times, load, "ttft", 100 * share), load.output_tokens, times.tpot)
    sums = [
        (first + max(0.0, length - 1) * times.tpot, here * part)
        for first, here in firsts
        for length, part in output_parts(load)
    ]
    if times.place.share < LEAST_WAITING:
        return quantile_of_sums(sums, varied, share) + burst
    median, found = (quantile_of_sums(sums, varied, at) + burst - times.place.median for at in (MEDIAN / 100, share))
    return (
        _with_wait_for_place(times.place, median, found, share) if share > MEDIAN / 100 else found + times.place.median
    )
