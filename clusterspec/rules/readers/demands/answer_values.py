"""Latencies, places and caches of a service, and samples of a step, as the demands of texts bound them: from its plan."""

from __future__ import annotations

from clusterspec.rules.readers.demands.parts import Parts, Quantity, Value
from clusterspec.rules.readers.demands.places import value_of_key
from clusterspec.rules.readers.demands.reading import lexicon
from clusterspec.units import display

_SERVING = "workload.serving"
MEDIAN = 50.0


def predicted_latency(parts: Parts, which: str) -> Value | None:
    """The seconds of a latency of half of the requests, over the range of the prediction; None where a key states a target."""
    from clusterspec.cost.serving.percentiles import latency_range

    times, work = parts.plan.serving, parts.work
    load = work.serving if work is not None else None
    if times is None or load is None or value_of_key(parts.spec, f"{_SERVING}.targets.{which}") is not None:
        return None
    low, high = latency_range(times, load, which, MEDIAN)
    return Value(low, high, f"predicted {display(low, 's')} to {display(high, 's')} for half of the requests")


def first_token(parts: Parts) -> Value | None:
    """The seconds to the first token."""
    return predicted_latency(parts, "ttft")


def token_gap(parts: Parts) -> Value | None:
    """The seconds between tokens; None where a key states a target of either kind."""
    if value_of_key(parts.spec, f"{_SERVING}.targets.itl") is not None:
        return None
    return predicted_latency(parts, "tpot")


def _mean_latency(parts: Parts, which: str) -> Value | None:
    """The mean seconds of a latency, over the range of the prediction."""
    from clusterspec.cost.serving.latency import serving_range

    if parts.plan.serving is None:
        return None
    low, high = serving_range(parts.plan.serving, which)
    return Value(low, high, f"predicted {display(low, 's')} to {display(high, 's')}")


def mean_first_token(parts: Parts) -> Value | None:
    """The mean seconds to the first token."""
    return _mean_latency(parts, "ttft_mean")


def mean_gap(parts: Parts) -> Value | None:
    """The mean seconds between tokens."""
    return _mean_latency(parts, "tpot_mean")


def output_rate(parts: Parts) -> Value | None:
    """The output tokens of a second, where no key states the rate of requests."""
    from clusterspec.rules.readers.demands.job_values import throughput

    if parts.plan.serving is None or value_of_key(parts.spec, f"{_SERVING}.request_rate") is not None:
        return None
    return throughput(parts)


def rate_of_user(parts: Parts) -> Value | None:
    """The output tokens of a second that one user receives."""
    from clusterspec.cost.serving.percentiles import latency_range

    times, work = parts.plan.serving, parts.work
    load = work.serving if work is not None else None
    if times is None or load is None:
        return None
    low, high = latency_range(times, load, "tpot", MEDIAN)
    return Value(1 / high, 1 / low, f"predicted {display(low, 's')} to {display(high, 's')} a token")


def _demands_places(parts: Parts) -> bool:
    """Whether the sentence of a demand says that requests have to be held: one that only counts them does not."""
    found = lexicon().meanings(parts.sentence)
    return not {"floor", "least"}.isdisjoint(found) or {"must", "holding"} <= found


def requests_in_flight(parts: Parts) -> Value | None:
    """The most requests that the cache and the limit of sequences let run at once, where no key states the concurrency."""
    times = parts.plan.serving
    if times is None or value_of_key(parts.spec, f"{_SERVING}.concurrency") is not None or not _demands_places(parts):
        return None
    most = float(times.kv_capacity_sequences)
    sequences, layout = value_of_key(parts.spec, f"{_SERVING}.max_sequences"), parts.layout
    if isinstance(sequences, int) and layout is not None and not layout.separate_engines:
        most = min(most, float(sequences * layout.dp * layout.attention_dp))
    return Value(most, most, "by the cache and the limit of sequences") if most else None


def tokens_in_cache(parts: Parts) -> Value | None:
    """The tokens that the caches of all engines hold."""
    times = parts.plan.serving
    held = float(times.kv_capacity_tokens) if times is not None else 0.0
    return Value(held, held, "on all engines") if held else None


def hits_of_cache(parts: Parts) -> Value | None:
    """The share of the input tokens that is in a cache, as stated or from conversations."""
    times = parts.plan.serving
    hit = times.prefix_hit if times is not None else 0.0
    return Value(hit, hit, "of the input tokens") if hit else None


def cached_time(parts: Parts) -> Value | None:
    """The seconds for which a tier of memory keeps a conversation: the accelerators, where the sentence names them, else the longest."""
    times = parts.plan.serving
    tiers = times.tiers if times is not None else ()
    if not tiers:
        return None
    found = max(tiers, key=lambda each: each.retention)
    if any(each in parts.sentence.lower() for each in ("gpu", "accelerator", "hbm")):
        found = tiers[0]
    return Value(found.retention, found.retention, f"kept in the memory of the {found.medium}")


def samples_of_step(parts: Parts) -> Value | None:
    """The samples of a step of reinforcement learning."""
    rl = parts.spec.workload.rl if parts.spec.workload is not None else None
    if rl is None or not rl.prompts_per_step or not rl.samples_per_prompt:
        return None
    count = float(rl.prompts_per_step * rl.samples_per_prompt)
    return Value(count, count, f"{rl.prompts_per_step:,} prompts with {rl.samples_per_prompt:,} samples each")


def samples_a_second(parts: Parts) -> Value | None:
    """The samples of a second over the whole step."""
    samples, times = samples_of_step(parts), parts.plan.rl if parts.work is not None and parts.work.rl else None
    if samples is None or times is None:
        return None
    low, high = times.band
    return Value(samples.low / high, samples.low / low, f"{samples.low:,.0f} in a step of {display(times.step, 's')}")


def bytes_of_weights(parts: Parts) -> Value | None:
    """The bytes of new weights that are sent in each step."""
    times = parts.plan.rl if parts.work is not None and parts.work.rl is not None else None
    return Value(times.sync.weights, times.sync.weights, "of all weights") if times is not None else None


ANSWER_QUANTITIES = {
    "first token": Quantity(_SERVING, "the time to the first token", "s", first_token, 0.02),
    "token gap": Quantity(_SERVING, "the time between tokens", "s", token_gap, 0.02),
    "concurrency": Quantity(f"{_SERVING}.max_sequences", "the number of requests in flight", "requests", requests_in_flight, 0.05),
    "mean time to the first token": Quantity(_SERVING, "the mean time to the first token", "s", mean_first_token, 0.02),
    "mean time between tokens": Quantity(_SERVING, "the mean time between tokens", "s", mean_gap, 0.02),
    "token rate": Quantity(_SERVING, "the rate of output tokens", "tokens/s", output_rate, 0.02),
    "rate of a user": Quantity(_SERVING, "the rate of a user", "tokens/s", rate_of_user, 0.02),
    "tokens in the cache": Quantity(f"{_SERVING}.memory_fraction", "the tokens that the cache holds", "tokens", tokens_in_cache, 0.1),
    "hits of the cache": Quantity(f"{_SERVING}.prefix_hit", "the share of tokens from the cache", "%", hits_of_cache, 0.02),
    "cached time": Quantity(f"{_SERVING}.session", "the time that a conversation stays in the cache", "s", cached_time, 0.1),
    "samples of a step": Quantity("workload.rl.samples_per_prompt", "the number of samples of a step", "samples", samples_of_step),
    "samples a second": Quantity("workload.rl.rollout", "the rate of samples", "samples/s", samples_a_second, 0.02),
    "bytes of new weights": Quantity("workload.rl.weight_sync", "the size of new weights", "B", bytes_of_weights, 0.03),
}  # fmt: skip
"""Quantities of services and of reinforcement learning by their subject."""
