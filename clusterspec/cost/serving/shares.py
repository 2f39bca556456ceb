"""The share of a request's steps that also run prompts, in an open load on engines that mix prompts with decoding."""

from __future__ import annotations

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.queues import prompt_share_of_request
from clusterspec.cost.serving.delays import prompts_of_run
from clusterspec.cost.serving.loads import fills_places
from clusterspec.cost.serving.parts import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import beta_share, lengths_in_parts, smallest_reaching
from clusterspec.cost.serving.steady import Steady
from clusterspec.cost.serving.waits import steps_of_one_prompt
from clusterspec.records import NamedTuple

ALL = 1 - 1e-6
"""The share of steps with prompts of an engine on which prompts always wait."""
SHARE_HALVINGS = 16
"""Bisection steps of a quantile of shares."""


class PromptShares(NamedTuple):
    """The distribution, over requests of an open load, of the share of a request's steps that hold prompts.

    ``share`` is the share among all steps. A step with prompts takes ``longer`` times as long as one without, and a
    prompt takes ``chunks`` steps. ``spread`` is the squared variation of prompts, ``bunching`` the squared variation of
    interarrival times minus one. A sequence gains ``gained`` tokens in a step.
    """

    share: float
    longer: float
    chunks: float
    spread: float
    bunching: float
    gained: float

    def mean(self, gaps: float) -> float:
        """The mean share of the steps of a request with ``gaps`` gaps between its tokens that hold prompts."""
        return prompt_share_of_request(
            *(self.share, self.longer, self.chunks, max(1.0, gaps / self.gained)),
            spread=self.spread,
            bunching=self.bunching,
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

    def at(self, share: float, outputs: list[tuple[float, float]]) -> float:
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
    share = now.sequences * now.tokens_per_step / load.gaps * chunks
    longer = 1 + now.carried / engine.layout.pp / chunks / now.decode.total
    spread = load.input_lengths.variation if load.input_lengths else 0.0
    bunching = (load.arrival_cv**2 - 1) / engine.attention_ranks
    return PromptShares(min(ALL, share), longer, chunks, spread, bunching, now.tokens_per_step)


def with_prompts_left(now: Steady, shares: PromptShares | None, pools: Pools) -> Steady:
    """The state with the added delay from prompts that are unfinished when a request starts to decode. A run whose
    requests queue for places is a loop, whose state has it.
    """
    if shares is None or not shares.share or fills_places(pools, now):
        return now
    load, each = pools.load, now.sequences / shares.share
    median = shares.at(0.5, [(float(load.output_tokens), 1.0)])
    typical, mean = prompts_of_run(pools, now.sequences)
    return now._replace(typical=each * median * typical, met=each * shares.mean(load.gaps) * mean)
