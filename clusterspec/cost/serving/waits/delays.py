"""The sequences of a step, and those whose prompts delay the tokens of a request."""

from __future__ import annotations

from math import inf, sqrt

from clusterspec.cost.formulas.queues import bunched_requests, median_prompts_amid_run, prompts_amid_run
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.parts.step import unevenly_loaded_ranks
from clusterspec.cost.serving.pools import Pools, is_open_run
from clusterspec.cost.serving.quantiles import decoded_tokens

LEAST_MET = 1e-6
"""The smallest share of the requests of a run that one request meets; if requests arrive at even intervals, it may meet
none.
"""


def sequences_of_step(pools: Pools, met: float) -> Decoding:
    """The sequences that decode in one step of an attention rank with ``met`` of them."""
    load = pools.load
    context = load.input_tokens + decoded_tokens(load)
    return Decoding(max(1.0, met / pools.decode.layout.pp), context, 1.0 + load.draft_tokens)


def bunched_sequences(pools: Pools, sequences: float) -> float:
    """Additional concurrent sequences of a rank that a request meets because arrivals come in bursts; 0 unless open
    load.
    """
    load, ranks = pools.load, pools.decode.attention_ranks
    if load.load != "open" or load.arrival_cv == 1 or load.output_tokens == 1:
        return 0.0
    return bunched_requests(sequences * ranks, load.arrival_cv**2 - 1) / ranks


def own_sequence(pools: Pools) -> float:
    """The sequences that a step of an open-load request has in addition to those that the request meets: the request
    itself, (n + 1) / 2n on average over ``n`` engines, since a request goes to the engine with the fewest.

    The number of randomly arriving requests in flight is Poisson distributed, so a decoding request sees, in addition
    to itself, the mean number in flight. This is exact if the time per token grows in proportion to the sequences,
    whatever the lengths: the probability of n in flight is then proportional to the product of the times with 1 to n
    sequences. The emptiest of n engines has n / 2 - 1 / 2n fewer sequences than the mean of all engines and the new
    request.

    Source: Cohen, "The multiple phase service network with generalized processor sharing", Acta Informatica 12, 1979.
    """
    load, ranks = pools.load, pools.decode.attention_ranks
    if load.load != "open" or load.output_tokens == 1:
        return 0.0
    return (ranks + 1) / (2 * ranks) if unevenly_loaded_ranks(pools.decode) == 1 else 1 / ranks


def delaying_sequences(
    pools: Pools, sequences: float, each: tuple[float, float], part: float, *, full: bool = False
) -> float:
    """Sequences of a rank whose prompts delay each output token. ``each`` has the seconds of one token without prompts,
    and the prompt seconds that one sequence adds per output token.

    In a closed loop, or if requests always queue (``full``), the prompts of other sequences delay a request, its own
    prompt does not: s − (1 − load) of s sequences delay it, where load is the time of s prompts over the time per
    token. In a run, only the share ``part`` of the prompts delays a request.
    """
    load, ranks, (step, prompt) = pools.load, unevenly_loaded_ranks(pools.decode), each
    if load.load == "open" and not (full and is_open_run(load)):
        return part * sequences
    if pools.in_one_wave:
        return min(part * sequences, most_sequences_delayed_in_wave(pools, sequences))
    if pools.in_groups:
        from clusterspec.cost.serving.waits.waves import delaying_prompts_in_step

        return part * delaying_prompts_in_step(pools, sequences_of_step(pools, sequences), step)
    looped = load.load in {"offline", "open"} or (load.concurrency is not None and load.load == "closed")
    if not looped or not prompt:
        return sequences
    prompt *= part
    least = step + prompt * (sequences - 1 / ranks)
    token = (least + sqrt(least * least + 4 * prompt * prompt * sequences / ranks)) / 2
    return part * max(0.0, (token - step) / prompt)


def most_sequences_delayed_in_wave(pools: Pools, sequences: float) -> float:
    """The most sequences of a rank whose prompts delay a request of a run in one wave: each gap of the request has one
    step, and no step exceeds the token budget.
    """
    if pools.decode.separates_prompts:
        return inf
    from clusterspec.cost.serving.waits.carried import full_prompt_step

    prompts = full_prompt_step(pools, sequences * pools.decode.attention_ranks).prompts
    return pools.load.gaps / pools.load.tokens_per_step * prompts


def prompts_of_run(pools: Pools, sequences: float = inf, *, full: bool = False) -> tuple[float, float]:
    """The prompts that delay a request in a run relative to a steady state: for the median request, and on average.

    In a run with an arrival rate a request meets only later prompts (`prompts_amid_run`); a rank has ``sequences``. If
    such requests are equal and always queue for places (``full``), the requests of all places start and end together on
    engines that run all waiting prompts before any request decodes.

    In a closed loop each of the last requests meets only the prompts after its own, so their share is uniform between 0
    and 1; all earlier requests meet as many as in a steady state. Where prompts have separate steps, equal requests
    sent at once start and end together, in waves.
    """
    load = pools.load
    if pools.in_waves:
        return 0.5, 0.5
    if is_open_run(load):
        if full and pools.equal_requests and pools.decode.separates_prompts:
            return 0.5, 0.5
        met = min(1.0, max(LEAST_MET, sequences * pools.decode.attention_ranks / float(load.requests or 1)))
        return median_prompts_amid_run(met), prompts_amid_run(met)
    if not load.requests or not (pools.sent_at_once or (load.concurrency is not None and load.load == "closed")):
        return 1.0, 1.0
    started = load.requests if pools.sent_at_once else load.concurrency or 1
    last = min(float(started), pools.limit * pools.decode.attention_ranks) / load.requests
    if pools.decode.prompts_alone and pools.sent_at_once and load.output_lengths is None:
        return 0.5, 0.5
    return min(1.0, 0.5 / last), 1 - last / 2
