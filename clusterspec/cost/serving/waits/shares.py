"""The share of a request's steps that also run prompts, in an open load on engines that mix prompts with decoding."""

from __future__ import annotations

from math import sqrt

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.compute import larger, power
from clusterspec.cost.formulas.queues import gamma_median, prompts_left_behind
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, is_open_run, prompts_per_step
from clusterspec.cost.serving.quantiles import beta_share, lengths_in_parts, smallest_reaching
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.waits.delays import prompts_of_run
from clusterspec.cost.serving.waits.prompts import steps_of_one_prompt
from clusterspec.records import NamedTuple

TAKEN = 0.01
"""Share of the places of a run that stay empty."""
ALL = 1 - 1e-6
"""The share of steps with prompts of an engine on which prompts always wait."""
SHARE_HALVINGS = 16
"""Bisection steps of a quantile of shares."""


def prompt_share_of_request(
    share: float,
    longer: float,
    chunks: float,
    steps: float,
    *,
    spread: float = 0.0,
    bunching: float = 0.0,
    engines: float = 1.0,
) -> float:
    """The share of a request's ``steps`` that hold a part of a prompt, on average over the requests of an open load.

    ``share`` is the share of all steps that hold a prompt, ``longer`` the time of a step with a prompt relative to one
    without. A prompt takes ``chunks`` steps, with the squared variation ``spread``; ``bunching`` is the squared
    variation of interarrival times minus one. A request starts to decode when its prompt ends, together with prompts
    that arrived earlier and still wait. Prompts take the share b of the time. A prompt leaves as many prompts behind as
    it finds (PASTA, Burke): b + b w / chunks if it waits for w steps with prompts. Averaged over all steps fewer are
    left, share (w + chunks / 2). A long output meets the difference in addition to ``share``; the first steps hold
    prompts with probability b. The harmonic sum interpolates between the two limits.

    A request goes to the one of several ``engines`` with the fewest requests. It finds prompts if all engines have
    some, with probability b to the power of √(2 (engines + 1)) − 1; on each of n engines it finds one n-th of the
    prompts.

    Source: the Pollaczek-Khinchine formula and H = λ G (Brumelle, "On the relation between customer and time averages
    in queues", J. Appl. Prob. 8, 1971); for several engines Sakasegawa, "An approximation formula L_q = α ρ^β /
    (1 − ρ)", Ann. Inst. Statist. Math. 29, 1977.

    Range: share > 0, share < 1, longer >= 1, chunks > 0, steps > 0, engines >= 1.

    >>> prompt_share_of_request(0.2, 1.0, 8, 31), round(prompt_share_of_request(0.2, 11.0, 4, 31), 3)
    (0.2, 0.466)
    >>> round(prompt_share_of_request(0.2, 11.0, 4, 1e6), 3)
    0.2
    >>> round(prompt_share_of_request(0.2, 11.0, 4, 31, engines=7), 3)  # found by 0.733³ = 0.394
    0.28
    """
    mean = 1 - share + share * longer
    busy = share * longer / mean
    found = power(busy, sqrt(2 * (engines + 1)) - 1)
    wait = busy * chunks * (1 + spread + bunching) * mean / (2 * (1 - share)) / engines
    left = mean * larger(0.0, found * (chunks + wait) - share * (wait * found / busy + chunks * (1 + spread) / 2))
    first = steps * larger(0.0, found - share)
    return share + left * first / (left + first) / steps if left and first else share


class PromptShares(NamedTuple):
    """The distribution, over requests of an open load, of the share of a request's steps that hold prompts.

    ``share`` is the share among all steps. A step with prompts takes ``longer`` times as long as one without, and a
    prompt takes ``chunks`` steps. ``spread`` is the squared variation of prompts, ``bunching`` the squared variation of
    interarrival times minus one. A sequence gains ``gained`` tokens in a step, which in a pipeline is that of one batch
    on one stage. Requests go to the one of ``engines`` with the fewest.
    """

    share: float
    longer: float
    chunks: float
    spread: float
    bunching: float
    gained: float
    engines: float = 1.0

    def mean(self, gaps: float) -> float:
        """The mean share of the steps of a request with ``gaps`` gaps between its tokens that hold prompts."""
        return prompt_share_of_request(
            *(self.share, self.longer, self.chunks, max(1.0, gaps / self.gained)),
            spread=self.spread,
            bunching=self.bunching,
            engines=self.engines,
        )

    def share_within(self, value: float, gaps: float) -> float:
        """The probability that at most the share ``value`` of the steps of a request hold prompts.

        A beta distribution with the mean of `mean` and the variance of a Poisson number of prompts, increased because
        each prompt lengthens the time in which others arrive. A beta variable keeps the share at most 1.
        """
        mean = self.mean(gaps)
        slowed = 1 - self.share + self.share * self.longer
        prompts = gaps / self.gained / (self.chunks * (1 + self.spread + self.bunching) * slowed * slowed)
        total = (1 - mean) * prompts
        return beta_share(value, mean * total, (1 - mean) * total)

    def prompt_share_at(self, share: float, outputs: list[tuple[float, float]]) -> float:
        """The share of steps with prompts that a ``share`` of the requests does not exceed. ``outputs`` are output
        lengths above one token, each with its share of the requests.
        """
        whole = sum(part for _, part in outputs)

        def share_within(value: float) -> float:
            return sum(part * self.share_within(value, length - 1) for length, part in outputs) / whole

        return smallest_reaching(share_within, share, 0.0, 1.0, SHARE_HALVINGS)


def output_parts(load: Serving) -> list[tuple[float, float]]:
    """Lengths of outputs, each with its share of the requests."""
    return lengths_in_parts(load.output_lengths) if load.output_lengths else [(float(load.output_tokens), 1.0)]


def prompt_shares(pools: Pools, now: Steady) -> PromptShares | None:
    """The shares of steps that contain prompts in a steady state. None if requests do not arrive at a rate, if prompts
    run in separate steps or on separate engines, or if the steps of several attention ranks wait for each other.
    """
    load, engine = pools.load, pools.decode
    apart = pools.has_prefill_engines or engine.prompts_alone or unevenly_loaded_ranks(engine) > 1
    if load.load != "open" or apart or not now.carried or load.output_tokens < 2:
        return None
    drafted = max(1.0, now.sequences / engine.layout.pp) * (1.0 + load.draft_tokens)
    chunks, together = steps_of_one_prompt(pools, now.prefill, drafted)
    chunks /= together
    stages = engine.layout.pp
    gained = now.tokens_per_step / stages  # in a step of one batch on one stage, on average
    share = now.sequences * gained / load.gaps * chunks
    longer = 1 + now.carried / chunks / now.decode.total
    spread = load.input_lengths.variation if load.input_lengths else 0.0
    bunching = (load.arrival_cv**2 - 1) / engine.attention_ranks
    engines = pools.engines_of_choice
    return PromptShares(min(ALL, share), longer, chunks, spread, bunching, gained, engines)


def fills_places(pools: Pools, now: Steady) -> bool:
    """Whether the requests of a run at a rate, with those whose prompts are computed, take all places."""
    taken = now.sequences + now.rate * now.prompt / pools.decode.attention_ranks
    return is_open_run(pools.load) and taken >= (1 - TAKEN) * pools.limit


def mean_token_seconds(now: Steady, shares: PromptShares | None, pools: Pools) -> float:
    """The mean time per output token with the prompts that are unfinished when a request starts to decode, in
    seconds.
    """
    met = _sequences_met(now, shares, pools)
    return now.mean_token if met is None else now._replace(met=met).mean_token


def _sequences_met(now: Steady, shares: PromptShares | None, pools: Pools) -> float | None:
    """The sequences whose prompts delay the mean request of an open load; None if a state has them already."""
    part = prompts_of_run(pools, now.sequences)[1]
    if runs_prompts_first(pools):
        return now.delaying + _prompts_before_decoding(pools, now)
    if shares is None or not shares.share or fills_places(pools, now):
        return None
    return now.sequences / shares.share * shares.mean(pools.load.gaps) * part


def runs_prompts_first(pools: Pools) -> bool:
    """Whether engines of an open load without an end run all prompts that came, in steps of their own, before they
    decode.
    """
    load, engine = pools.load, pools.decode
    first = engine.prompts_alone and not pools.has_prefill_engines and load.receive_interval == 1
    return first and load.load == "open" and not load.requests and load.output_tokens > 1


def _prompts_before_decoding(pools: Pools, now: Steady) -> float:
    """The prompts that delay a request after its own prompt: those that its prompt leaves behind, and those that arrive
    while these run.
    """
    each, load = now.rate / pools.decode.attention_ranks, _load_of_prompts(pools, now)
    busy = min(1.0, each * now.prompt / pools.decode.layout.pp)
    left = prompts_left_behind(busy, load, max(1.0, prompts_per_step(pools)), engines=pools.engines_of_choice)
    return left / (1 - load)


def _load_of_prompts(pools: Pools, now: Steady) -> float:
    """The share of the time of an engine for prompts in steps without decoding sequences."""
    each = now.rate / pools.decode.attention_ranks
    return min(constants.MOST_LOAD, each * now.carried / pools.decode.layout.pp)


def with_unfinished_prompts(now: Steady, shares: PromptShares | None, pools: Pools) -> Steady:
    """The state with the added delay from prompts that are unfinished when a request starts to decode. A run whose
    requests queue for places is a loop, and the state of the loop includes the queue.
    """
    met = _sequences_met(now, shares, pools)
    if met is None:
        return now
    if shares is None:
        return now._replace(typical=_median_prompts(pools, now, met), met=met)
    median = shares.prompt_share_at(0.5, [(float(pools.load.output_tokens), 1.0)])
    typical = now.sequences / shares.share * median * prompts_of_run(pools, now.sequences)[0]
    return now._replace(typical=typical, met=met)


def _median_prompts(pools: Pools, now: Steady, met: float) -> float:
    """The number of prompts that delay the median request, from the number ``met`` that delays the mean request. The
    variance of the number of sequential prompts is its mean divided by (1 - load)².
    """
    free = 1 - _load_of_prompts(pools, now)
    return gamma_median(met, met * free * free) if met else 0.0
