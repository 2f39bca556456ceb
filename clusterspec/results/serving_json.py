"""The times of a serving plan as JSON: engines, hand-off, tiers, tails and a day."""

from __future__ import annotations

from clusterspec.cost.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.cluster.requests import Serving
    from clusterspec.cost.serving.handoff import Handoff
    from clusterspec.cost.serving.latency import ServingTimes
    from clusterspec.cost.serving.targets import Tail

Json = dict[str, "Any"]
RANGED = ("ttft", "tpot", "ttft_mean", "tpot_mean", "output_tokens_per_second")
"""The fields of a serving plan with a range."""
SERVING_FIELDS = (
    *RANGED,
    "request_latency",
    "kv_bytes_per_token",
    "kv_capacity_tokens",
    "kv_capacity_sequences",
    "max_concurrency",
    "prefill_share",
    "queue_share",
)


def serving_json(times: ServingTimes | None, load: Serving | None) -> Json | None:
    """The latencies (seconds) and throughput of a serving plan; None for training."""
    if times is None or load is None:
        return None
    from clusterspec.cost.serving.latency import serving_range  # not in training
    from clusterspec.cost.serving.targets import latency_tail, target_results

    ranges = {name: serving_range(times, name) for name in RANGED}
    out = {name: getattr(times, name) for name in SERVING_FIELDS}
    out |= {"output_tokens_per_second_per_accelerator": times.per_accelerator, "range": ranges}
    out |= {"at_percentile": _tail_json(latency_tail(times, load)), "speculative": load.draft_tokens > 0}
    out["queue_grows"] = times.queue_grows
    if times.experts:
        out["experts"] = times.experts._asdict()
    if times.sent:
        out["handoff"] = _handoff_json(times.sent, load)
    if times.tiers:
        out |= {"hit_rate": {each.medium: each.hit for each in times.tiers}, "cache_tiers": _tiers_json(times)}
    return out | {
        "targets": [
            {
                "quantity": each.target.quantity,
                "percentile": each.target.percentile,
                "target": each.target.seconds,
                "value": each.seconds,
                "range": list(each.range),
                "met": not each.missed,
            }
            for each in target_results(times, load)
        ]
    }


def with_day(served: Json | None, plan: Plan) -> Json | None:
    """The figures of a serving plan and of its day: minutes of the day, engines, accelerators, seconds."""
    day = plan.day if served is not None else None
    if served is None or day is None:
        return served
    hours = [
        {
            "from": each.hours.start,
            "to": each.hours.end,
            "request_rate": each.hours.rate,
            "prefill_replicas": each.prefill or None,
            "replicas": each.replicas,
            "accelerators": each.accelerators,
            "ttft": each.times.ttft if each.times else None,
            "ttft_p99": each.slowest,
            "tpot": each.times.tpot if each.times else None,
            "utilization": each.utilization,
            "served": each.served,
        }
        for each in day.hours
    ]
    return served | {
        "day": {
            "hours": hours,
            "accelerator_hours": day.accelerator_hours,
            "constant_accelerator_hours": day.constant_accelerator_hours,
            "requests": day.requests,
            "output_tokens": day.output_tokens,
            "late_starts": [each._asdict() for each in day.late],
        }
    }


def _handoff_json(handoff: Handoff, load: Serving) -> Json:
    """The handoff of a prompt: seconds until the decode engine has the cache, seconds that overlap with the prompt, and
    bytes on one rank.
    """
    return {
        "seconds": handoff.seconds,
        "transfer": handoff.transfer.seconds,
        "hidden": handoff.hidden_seconds,
        "bytes": handoff.transfer.size,
        "bandwidth": handoff.transfer.bandwidth,
        "descriptors": handoff.transfer.descriptors or None,
        "before_first_token": load.transfer.first_token == "decode",
    }


def _tiers_json(times: ServingTimes) -> list[Json]:
    """Each tier of the cache: seconds, bytes, B/s of one unit, shares of the input tokens."""
    return [
        {
            "medium": each.medium,
            "scope": each.scope,
            "units": each.units,
            "tokens": each.tokens,
            "retention": each.retention,
            "hit_rate": each.hit,
            "load": each.load,
            "read": each.read,
            "written": each.written,
            "busy": each.busy,
            "working_set": each.working_set,
            "writes_per_day": each.overwrites_per_day,
        }
        for each in times.tiers
    ]


def _tail_json(tail: Tail | None) -> Json | None:
    """The latencies at the percentile of the targets; None at the median."""
    if tail is None:
        return None
    ranges = {"ttft": list(tail.ttft_range), "tpot": list(tail.tpot_range)}
    return {"percentile": tail.percentile, "ttft": tail.ttft, "tpot": tail.tpot, "range": ranges}
