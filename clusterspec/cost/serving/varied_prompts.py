"""How the prompts of drawn lengths, and of the turns of conversations, compare with the mean prompt."""

from __future__ import annotations

from functools import partial
from itertools import accumulate

from clusterspec.cost.serving.pools import Pools, prompt_seconds
from clusterspec.cost.serving.quantiles import lengths_in_parts
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.steady import prompt_seconds_with_decoding
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.records import NamedTuple

HALF = 0.5 - 1e-9
"""The share of the requests that the median has on either side."""


class VariedPrompts(NamedTuple):
    """The median prompt time over the mean, the share of the mean prompt's time that grows with its length, and the
    prompt times of conversations over the mean, each with its share of the requests. ``longer`` holds lengths above the
    mean, divided by the mean, with their prompt times divided by that of the mean length, in ascending order; it is
    empty without drawn lengths.
    """

    typical: float
    growing: float
    turns: tuple[tuple[float, float], ...]
    longer: tuple[tuple[float, float], ...] = ()


def prompts_of_lengths(pools: Pools, now: Steady) -> VariedPrompts:
    """The prompts of a load in the state ``now``."""
    turns, growing = _prompts_of_turns(pools, now), _growing_share(pools, now)
    typical = _median_of_parts(turns) if turns else 1 - growing * (1 - pools.load.typical_prompt)
    return VariedPrompts(typical, growing, turns, _longer_prompts(pools, now))


def _longer_prompts(pools: Pools, now: Steady) -> tuple[tuple[float, float], ...]:
    """Lengths of prompts above the mean, each twice the previous one up to the longest that counts, and their times.

    A long prompt takes more than in proportion: attention grows with the square of its length, and its chunks share
    steps with the sequences that decode.
    """
    load = pools.load
    if load.input_lengths is None or not now.prompt:
        return ()
    longest = lengths_in_parts(load.input_lengths)[-1][0] / load.input_tokens
    parts = [1.0]
    while parts[-1] < longest:
        parts.append(min(longest, 2 * parts[-1]))
    times = [
        prompt_seconds_with_decoding(pools, now.sequences, part * load.fresh_tokens, part * load.input_tokens)
        for part in parts
    ]
    return tuple((part, seconds / times[0]) for part, seconds in zip(parts, times, strict=True))


def _prompts_of_turns(pools: Pools, now: Steady) -> tuple[tuple[float, float], ...]:
    """Prompt times of conversations relative to the mean prompt, each with its share of the requests, in ascending
    order; empty without conversations.
    """
    if pools.load.session is None or not now.prompt:
        return ()
    from clusterspec.cost.serving.caches import turn_prompts

    load, at_load = pools.load, partial(prompt_seconds_with_decoding, pools, now.sequences)
    mean = at_load(load.fresh_tokens, float(load.input_tokens))
    found = ((at_load(*each[:2]), each.share) for each in turn_prompts(load))
    return tuple(sorted((seconds / mean, share) for seconds, share in found if share))


def _growing_share(pools: Pools, now: Steady) -> float:
    """The share of the mean prompt's time that is proportional to length: twice the time saved by half the tokens. The
    rest reads weights and launches kernels.
    """
    load, engine = pools.load, pools.prompts
    if load.input_lengths is None or not now.prompt:
        return 1.0
    fresh, length, busy = load.fresh_tokens, load.input_tokens, engine.layout.attention_dp
    whole, half = (
        prompt_seconds(engine, prompt_step(engine, max(1.0, part * fresh), part * length, float(busy)))
        for part in (1.0, 0.5)
    )
    return max(0.0, min(1.0, 2 * (whole - half) / now.prompt))


def _median_of_parts(parts: tuple[tuple[float, float], ...]) -> float:
    """The median of ``parts``, which are values in order with their shares; the mean of two values that halve the
    distribution.
    """

    def first_value_past_half(some: tuple[tuple[float, float], ...]) -> float:
        sums = accumulate(share for _, share in some)
        return next(value for (value, _), below in zip(some, sums, strict=True) if below > HALF)

    return (first_value_past_half(parts) + first_value_past_half(parts[::-1])) / 2
