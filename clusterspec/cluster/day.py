"""Resolves the load of a serving plan over a day; minutes of hours of a day."""

from __future__ import annotations

from clusterspec.cluster.requests import Day, Hours
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.finding import Problem, Severity
from clusterspec.source import Path
from clusterspec.spec.model import ScalingSpec, ServingSpec
from clusterspec.units import plain

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
    """The highest request rate in the hours of a day; None where they state none above 0."""
    return max((hours.request_rate or 0.0 for hours in section.day or ()), default=0.0) or None


def resolve_day(section: ServingSpec, load: str, log: ResolutionLog) -> Day | None:
    """The request rates of a day, and how engines follow them; None where the spec has none for its load."""
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
    """The request rate of each minute; where hours overlap, the first entry that names a minute counts."""
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
