"""Resolves the load of a serving plan: over a day, by sessions whose caches are kept, and over experts."""

from __future__ import annotations

from clusterspec.cluster.requests import CacheTier, Day, ExpertLoad, Hours, Session
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.finding import Problem, Severity
from clusterspec.source import Path
from clusterspec.spec.model import CacheTierSpec, ExpertLoadSpec, ScalingSpec, ServingSpec
from clusterspec.units import plain
from clusterspec.units.display import joined_words

PATH: Path = ("workload", "serving")
DAY_MINUTES = 24 * 60


def minutes_of_hours(start: str, to: str) -> frozenset[int]:
    """The minutes of a day from ``start`` until ``to`` (``HH:MM``), of the next day where it is not after ``start``.

    >>> len(minutes_of_hours("22:00", "06:00")), min(minutes_of_hours("05:30", "06:00"))
    (480, 330)
    """
    first, end = _minute_of_day(start), _minute_of_day(to)
    return frozenset(range(first, end) if first < end else (*range(first, DAY_MINUTES), *range(end)))


def _minute_of_day(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def highest_rate(section: ServingSpec) -> float | None:
    """The highest request rate in the hours of a day; None if they state none above 0."""
    return max((hours.request_rate or 0.0 for hours in section.day or ()), default=0.0) or None


def resolve_day(section: ServingSpec, load: str, log: ResolutionLog) -> Day | None:
    """The request rates of a day, and how engines follow them; None if the spec has none for its load."""
    if section.day is None:
        if section.scaling is not None:
            message = "`scaling` needs `day`: it states how engines follow the load of a day"
            advice = "state `day`, or drop `scaling`"
            log.problems.append(Problem("unused-key", (*PATH, "scaling"), message, advice, Severity.NOTE))
        return None
    if load != "open" or section.request_rate is None:
        message = f"`day` changes the request rate, and the load is {load}"
        log.problems.append(Problem("keys-disagree", (*PATH, "day"), message, "state `request_rate`, or drop `day`"))
        return None
    rates = _rates_by_minute(section, section.request_rate, log)
    starts = [minute for minute in range(DAY_MINUTES) if minute == 0 or rates[minute] != rates[minute - 1]]
    ends = [*starts[1:], DAY_MINUTES]
    hours = tuple(Hours(start, end, rates[start]) for start, end in zip(starts, ends, strict=True))
    scaling, key = section.scaling or ScalingSpec(), "workload.serving.scaling"
    cold = scaling.cold_start.value if scaling.cold_start else None
    start = log.written_or_assumed(cold, f"{key}.cold_start", 0.0, "not stated: engines serve as soon as they start")
    early = scaling.ahead.value if scaling.ahead else None
    ahead = log.written_or_assumed(early, f"{key}.ahead", start, "the cold start: engines are started in time")
    least = log.written_or_assumed(scaling.min_replicas, f"{key}.min_replicas", 1, "one engine answers at any time")
    return Day(hours, start, ahead, least)


def _rates_by_minute(section: ServingSpec, highest: float, log: ResolutionLog) -> list[float]:
    """The request rate of each minute of the day. If hours overlap, the first entry that includes the minute counts."""
    found = [highest] * DAY_MINUTES
    earlier: dict[int, int] = {}
    for number, hours in enumerate(section.day or ()):
        if hours.starts is None or hours.to is None or hours.request_rate is None:
            continue
        path = (*PATH, "day", number)
        minutes = minutes_of_hours(hours.starts, hours.to)
        shared = minutes & earlier.keys()
        if shared:
            other = (section.day or ())[earlier[min(shared)]]
            message = (
                f"{len(shared) / 60:.3g} hours from {hours.starts} to {hours.to} are also in those from {other.starts} "
                f"to {other.to}"
            )
            log.problems.append(
                Problem("keys-disagree", (*path, "from"), message, "let each entry end where the next one begins")
            )
        if hours.request_rate > highest:
            message = (
                f"{plain(hours.request_rate)} requests a second from {hours.starts} to {hours.to} are more than "
                f"`request_rate`, {plain(highest)}, which is the highest of the day"
            )
            advice = f"set `request_rate: {plain(hours.request_rate)}`, for which the plan is then estimated"
            log.problems.append(Problem("keys-disagree", (*path, "request_rate"), message, advice))
        for minute in minutes - earlier.keys():
            found[minute] = min(hours.request_rate, highest)
            earlier[minute] = number
    return found


# Sessions, and the tiers of memory that keep their caches

SCOPES = {"host": "node", "nvme": "node", "remote": "plan"}
"""The default scope that shares a tier, by medium."""


def resolve_session(section: ServingSpec, prompt: int, log: ResolutionLog) -> Session | None:
    """The sessions of requests with prompts of ``prompt`` tokens on average; None, with a problem, if not known."""
    written, path = section.session, (*PATH, "session")
    if written is None:
        return None
    if section.prefix_hit is not None:
        message = "`session` says which tokens return, and `prefix_hit` what share of them the cache has"
        log.problems.append(Problem("keys-disagree", path, message, "keep one of the two"))
        return None
    missing = [key for key in ("turns", "think_time", "growth") if getattr(written, key) is None]
    for key in missing:
        log.report_missing((*path, key), "what the cache holds depends on it", "write it, or drop `session`")
    if missing or written.turns is None or written.think_time is None or written.growth is None:
        return None
    shared = written.shared_prefix or 0
    first = prompt - (written.turns - 1) / 2 * written.growth
    if first < max(1, shared):
        grown = f"{written.turns:,} turns that add {written.growth:,} tokens each"
        message = f"the prompts have {prompt:,} tokens on average, and {grown}: the first has {first:,.0f}" + (
            f", less than the shared prefix of {shared:,}" if shared else ""
        )
        advice = _session_advice(prompt, written.turns, written.growth, shared)
        log.problems.append(Problem("keys-disagree", path, message, advice))
        return None
    return Session(written.turns, written.think_time.value, written.growth, shared, first)


def _session_advice(prompt: int, turns: int, growth: int, shared: int) -> str:
    """The limit of each key, in tokens or turns, with which the first prompt holds the ``shared`` prefix and one token.

    ``prompt`` is the mean over ``turns`` prompts that grow by ``growth`` tokens each. A bound that a key cannot have
    is left out.

    >>> _session_advice(6000, 10, 1200, 2500).partition("; ")[2]
    'state at least 7,900, or `turns` of at most 6, `growth` of at most 777 or `shared_prefix` of at most 600'
    >>> _session_advice(100, 1, 50, 200).partition("; ")[2]
    'state at least 200, or `shared_prefix` of at most 100'
    """
    least, further = max(1, shared), turns - 1
    spare = 2 * (prompt - least)
    bounds = {
        "turns": 1 + spare // growth if growth and spare >= 0 else 0,
        "growth": spare // further if further else 0,
        "shared_prefix": (2 * prompt - further * growth) // 2 if shared else 0,
    }
    lower = joined_words([f"`{key}` of at most {bound:,}" for key, bound in bounds.items() if bound > 0], "or")
    mean = -(-(2 * least + further * growth) // 2)
    return f"`input_tokens` is the mean of all turns; state at least {mean:,}" + (f", or {lower}" if lower else "")


def resolve_cache_tiers(section: ServingSpec, log: ResolutionLog) -> tuple[CacheTier, ...]:
    """The tiers below the accelerator's memory, in the order written."""
    if not section.cache_tiers:
        return ()
    trace = section.arrivals.trace if section.arrivals else None
    if section.session is None and section.prefix_hit is None and trace is None:
        why = "`cache_tiers` keeps what returns"
        log.report_missing((*PATH, "session"), why, "describe the sessions, or state `prefix_hit`")
    found = [_resolved_tier(number, written, log) for number, written in enumerate(section.cache_tiers)]
    return tuple(tier for tier in found if tier is not None)


def _resolved_tier(number: int, written: CacheTierSpec, log: ResolutionLog) -> CacheTier | None:
    """One tier; None, with a problem, if a key is missing."""
    key = f"workload.serving.cache_tiers.{number}"
    missing = [name for name in ("medium", "capacity", "read") if getattr(written, name) is None]
    for name in missing:
        log.report_missing((*PATH, "cache_tiers", number, name), "the tier depends on it", "write it")
    if missing or written.medium is None or written.capacity is None or written.read is None:
        return None
    read = written.read.value
    scope = log.written_or_assumed(written.scope, f"{key}.scope", SCOPES[written.medium], "usual for this medium")
    write = written.write.value if written.write else log.assume(f"{key}.write", read, "as fast as it is read")
    return CacheTier(written.medium, written.capacity.value, read, write, scope, written.writes_per_day)


# How unevenly tokens select the experts

EXPERT_LOAD: Path = (*PATH, "expert_load")


def resolve_expert_load(written: str | ExpertLoadSpec | None, experts: int, log: ResolutionLog) -> ExpertLoad | None:
    """The load of the ``experts`` of a layer; None, with a problem, if it is not known."""
    if written is not None and not experts:
        message, advice = "`expert_load` needs a model with experts", "drop `expert_load`"
        log.problems.append(Problem("keys-disagree", EXPERT_LOAD, message, advice))
        return None
    if written is None or isinstance(written, str):
        return ExpertLoad() if written else None
    if not _states_one_load(written, log) or not _counts_every_expert(written, experts, log):
        return None
    return ExpertLoad(
        alpha=written.alpha or 0.0,
        ratio=written.max_over_mean,
        counts=tuple(map(float, written.counts or ())),
        balanced=written.placement == "balanced",
    )


def _states_one_load(written: ExpertLoadSpec, log: ResolutionLog) -> bool:
    ways = [name for name in ("alpha", "max_over_mean", "counts") if getattr(written, name) is not None]
    if written.law == "even":
        ways.append("law")
    if not ways:
        log.report_missing(
            (*EXPERT_LOAD, "alpha"), "the load of experts depends on it", "write the exponent of the power law"
        )
    elif len(ways) > 1:
        named = " and ".join(f"`{name}`" for name in ways)
        message = f"`expert_load` states {named}, each of which is a load of its own"
        log.problems.append(Problem("keys-disagree", EXPERT_LOAD, message, "keep one of them"))
    return len(ways) == 1


def _counts_every_expert(written: ExpertLoadSpec, experts: int, log: ResolutionLog) -> bool:
    counts = written.counts
    if counts is None or (len(counts) == experts and any(counts)):
        return True
    what = f"{len(counts):,} experts" if len(counts) != experts else "no tokens"
    message = f"`counts` has {what}, but a layer of the model has {experts:,} experts"
    advice = "write the tokens of every expert of one layer, or a sum over the layers"
    log.problems.append(Problem("keys-disagree", (*EXPERT_LOAD, "counts"), message, advice))
    return False
