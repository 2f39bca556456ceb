"""The load of a day: its minutes, where hours overlap or exceed the highest rate, and how engines follow it."""

from __future__ import annotations

import pytest

from clusterspec.cluster.requests import Day, Hours, gaps_between
from clusterspec.cluster.serving_load import highest_rate, minutes_of_hours
from clusterspec.finding import Problem
from clusterspec.spec.model.requests import DayHoursSpec, ServingSpec
from tests.cluster.resolving import assumed, resolve_text

SERVING = "input_tokens: 1000, output_tokens: 100"


def day_of(keys: str) -> tuple[Day | None, list[Problem], dict[str, object]]:
    design, problems = resolve_text(
        "cluster: {platform: dgx-h100, nodes: 2}\n"
        f"workload: {{kind: serve, model: llama-3.1-8b, serving: {{{SERVING}, {keys}}}}}\nlayout: {{tp: 8}}"
    )
    assert design.workload is not None and design.workload.serving is not None
    said = {key.rpartition(".")[2]: value for key, value in assumed(design).items() if ".scaling." in key}
    return design.workload.serving.day, problems, said


@pytest.mark.parametrize(
    ("start", "to", "first", "last", "count"),
    [
        ("00:00", "00:01", 0, 0, 1),
        ("08:30", "09:15", 510, 554, 45),
        ("09:00", "09:00", 0, 1439, 1440),  # the whole day
        ("23:59", "00:01", 0, 1439, 2),
        ("22:00", "00:00", 1320, 1439, 120),
    ],
)
def test_hours_are_the_minutes_until_their_end(start: str, to: str, first: int, last: int, count: int) -> None:
    found = minutes_of_hours(start, to)
    assert (min(found), max(found), len(found)) == (first, last, count)


def test_the_highest_rate_is_that_of_the_busiest_hours() -> None:
    rates = tuple(DayHoursSpec(request_rate=rate) for rate in (2.0, None, 3.0, 0.0))
    assert highest_rate(ServingSpec(day=rates)) == 3.0
    assert highest_rate(ServingSpec(day=rates[3:])) is highest_rate(ServingSpec()) is None


NIGHT = "{from: '22:00', to: '06:00', request_rate: 1}"
NOON = "{from: '12:00', to: '13:30', request_rate: 8}"


def test_a_day_has_the_rate_of_the_service_outside_its_hours() -> None:
    day, problems, said = day_of(f"request_rate: 5, day: [{NIGHT}]")
    hours = (Hours(0, 360, 1.0), Hours(360, 1320, 5.0), Hours(1320, 1440, 1.0))
    assert (day, problems) == (Day(hours, 0.0, 0.0, 1), [])
    assert said == {"cold_start": 0.0, "ahead": 0.0, "min_replicas": 1}


def test_engines_start_ahead_by_their_cold_start_unless_the_spec_states_otherwise() -> None:
    day, _, said = day_of(f"request_rate: 5, day: [{NIGHT}], scaling: {{cold_start: 90 s}}")
    assert day is not None and day[1:] == (90.0, 90.0, 1)
    assert said == {"ahead": 90.0, "min_replicas": 1}
    day, _, said = day_of(
        f"request_rate: 5, day: [{NIGHT}], scaling: {{cold_start: 90 s, ahead: 20 s, min_replicas: 2}}"
    )
    assert day is not None and day[1:] == (90.0, 20.0, 2) and said == {}


def test_hours_never_exceed_the_highest_rate_of_the_day() -> None:
    day, (problem,), _ = day_of(f"request_rate: 5, day: [{NIGHT}, {NOON}]")
    assert day is not None and day.hours[1:3] == (Hours(360, 1320, 5.0), Hours(1320, 1440, 1.0))
    assert problem.path == ("workload", "serving", "day", 1, "request_rate")
    assert "8 requests a second from 12:00 to 13:30 are more than `request_rate`, 5" in problem.message
    equal, problems, _ = day_of(f"request_rate: 8, day: [{NOON}]")
    assert equal is not None and equal.hours == (Hours(0, 1440, 8.0),) and problems == []


def test_of_hours_that_overlap_the_first_entry_counts() -> None:
    early = "{from: '05:30', to: '08:00', request_rate: 2}"
    day, (problem,), _ = day_of(f"request_rate: 5, day: [{NIGHT}, {early}]")
    assert day is not None
    assert day.hours[:3] == (Hours(0, 360, 1.0), Hours(360, 480, 2.0), Hours(480, 1320, 5.0))
    assert problem.path == ("workload", "serving", "day", 1, "from")
    assert problem.message == "0.5 hours from 05:30 to 08:00 are also in those from 22:00 to 06:00"


def test_only_a_load_of_arriving_requests_has_a_day() -> None:
    day, problems, _ = day_of(f"concurrency: 8, day: [{NIGHT}]")
    assert day is None and [one.path[-1] for one in problems] == ["day"]
    assert "the load is closed" in problems[0].message
    day, problems, _ = day_of("request_rate: 5, scaling: {cold_start: 90 s}")
    assert day is None and [(one.rule, one.path[-1]) for one in problems] == [("unused-key", "scaling")]
    assert day_of("request_rate: 5")[:2] == (None, [])


@pytest.mark.parametrize(("tokens", "gaps"), [(0, 1), (1, 1), (2, 1), (3, 2), (100, 99)])
def test_tokens_have_one_gap_fewer(tokens: int, gaps: int) -> None:
    assert gaps_between(tokens) == gaps
