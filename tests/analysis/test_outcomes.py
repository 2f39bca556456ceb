"""What simulated requests experience, from requests of the test's own, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.simulation.outcomes import (
    POINTS,
    gap_percentiles,
    percentiles,
    queue_over_time,
    share_within_targets,
    simulated_targets,
    token_percentiles,
    waiting_at,
    waiting_share,
)
from clusterspec.analysis.simulation.ranks import Request
from clusterspec.cluster.requests import Serving
from tests.analysis.jobs import design_of
from tests.analysis.test_timetables import apart, timing
from tests.effort import each

SERVED = """
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {{input_tokens: 1000, output_tokens: 100, request_rate: 2{}}}
layout: {{framework: vllm}}
"""


def load(targets: str = "") -> Serving:
    work = design_of(SERVED.format(f", targets: {{{targets}}}" if targets else "")).workload
    assert work is not None and work.serving is not None
    return work.serving


def request(arrival: float, first: float, ended: float, output: int, admitted: float | None = None) -> Request:
    made = Request(0, arrival, 10, output)
    made.first, made.ended, made.admitted = first, ended, arrival if admitted is None else admitted
    return made


# times to the first token of 1, 2, 3 and 4 s; gaps of 0.1, 0.2 and 0.3 s; whole times of 2, 4, 6 and 4 s
FOUR = [
    request(0.0, 1.0, 2.0, 11),
    request(1.0, 3.0, 5.0, 11),
    request(2.0, 5.0, 8.0, 11),
    request(3.0, 7.0, 7.0, 1),
]


@each(
    ("values", "found"),
    [
        (range(1, 101), (50, 90, 99)),
        (range(1, 11), (5, 9, 10)),
        ([3, 1, 2], (2, 3, 3)),
        ([7], (7, 7, 7)),
        (range(1, 201), (100, 180, 198)),
    ],
)
def test_percentiles_are_values_of_nearest_rank(values: Any, found: tuple[float, ...]) -> None:
    assert tuple(percentiles(values)) == found


def test_tokens_after_the_first_share_the_time_between_first_and_last() -> None:
    """A request of one token has none."""
    found = token_percentiles(FOUR)
    assert found is not None and tuple(found) == pytest.approx((0.2, 0.3, 0.3))
    assert token_percentiles(FOUR[3:]) is None
    two = token_percentiles([request(0.0, 1.0, 1.5, 2)])
    assert two is not None and tuple(two) == (0.5, 0.5, 0.5)


def test_gaps_count_as_often_as_they_occur() -> None:
    assert gap_percentiles({}) is None
    found = gap_percentiles({0.1: 89.0, 0.5: 10.0, 9.0: 1.0})
    assert found is not None and tuple(found) == (0.1, 0.5, 9.0)
    assert tuple(gap_percentiles({0.3: 2.0}) or ()) == (0.3, 0.3, 0.3)


@each(
    ("targets", "share"),
    [
        ("", None),
        ("ttft: 4 s", 1.0),
        ("ttft: 3 s", 0.75),
        ("ttft: 2.9 s", 0.5),
        ("tpot: 0.31 s", 1.0),
        ("tpot: 0.25 s", 0.75),  # the request of one token has no gap to miss
        ("tpot: 0.05 s", 0.25),
        ("end_to_end: 6 s", 1.0),
        ("end_to_end: 4 s", 0.75),
        ("end_to_end: 3.9 s", 0.25),
        ("ttft: 3 s, tpot: 0.25 s, end_to_end: 2 s", 0.25),
    ],
)
def test_a_request_is_within_the_targets_if_it_meets_each(targets: str, share: float | None) -> None:
    assert share_within_targets(FOUR, load(targets)) == share


def test_a_token_gap_of_two_tokens_counts() -> None:
    two = [request(0.0, 1.0, 1.5, 2)]
    assert share_within_targets(two, load("tpot: 0.4 s")) == 0
    assert share_within_targets(two, load("tpot: 0.5 s")) == 1


def test_each_target_has_the_latency_at_its_percentile() -> None:
    wanted = load("ttft: 1 s, tpot: 1 s, itl: 1 s, end_to_end: 1 s, percentile: 75")
    found = {one.quantity: one for one in simulated_targets(FOUR, {0.1: 70.0, 0.7: 30.0}, wanted)}
    assert {name: (one.percentile, one.target) for name, one in found.items()} == dict.fromkeys(found, (75, 1.0))
    values = {name: one.value for name, one in found.items()}
    # of four values the third; of three gaps the third (ceil of 2.25); of 100 single gaps 70 are at most 0.1 s
    assert values == pytest.approx({"ttft": 3.0, "tpot": 0.3, "itl": 0.7, "end_to_end": 4.0})
    none = {one.quantity: one.value for one in simulated_targets(FOUR[3:], {}, wanted)}
    assert (none["tpot"], none["itl"]) == (None, None)


def test_waiting_is_the_time_before_admission_over_that_to_the_first_token() -> None:
    """Admitted 0.5 and 1.5 s after arrival and 0.25 s of the request's own time: 0.25 + 1.25 of 2 + 4 s."""
    requests = [request(0.0, 2.0, 3.0, 2, 0.5), request(1.0, 5.0, 6.0, 2, 2.5)]
    assert waiting_share(requests, timing(request=0.25)) == pytest.approx(0.25)
    assert waiting_share([request(0.0, 0.0, 1.0, 2)], timing(request=0.25)) == 0.0


def test_the_queue_counts_those_that_came_and_were_not_admitted() -> None:
    """Of 50 steps to 10 s, at 2.0 s three have come and one is admitted; at 5.0 s three, and one has ended."""
    requests = [
        request(0.0, 1.0, 5.0, 2, 1.0),
        request(1.0, 4.0, 9.0, 2, 4.0),
        request(2.0, 6.0, 10.0, 2, 5.0),
    ]
    found = queue_over_time(requests, 10.0)
    assert len(found) == POINTS + 1
    at = {point.time: (point.waiting, point.running) for point in found}
    assert [at[second] for second in (0.0, 1.0, 2.0, 4.0, 5.0, 9.0, 10.0)] == [
        (1, 0),
        (1, 1),
        (2, 1),
        (1, 2),
        (0, 2),
        (0, 1),
        (0, 0),
    ]


def waiting_twice() -> list[Request]:
    """Two requests of one prefill engine, admitted at once: prompts from 0 and 4 s on, of 4 s each. The decode engine
    gets them at 5 and 9 s, and has a place for the second one when the first has ended, at 12 s.
    """
    found = []
    for began, handed, placed, ended in ((0.0, 5.0, 5.0, 12.0), (4.0, 9.0, 12.0, 20.0)):
        made = request(0.0, placed, ended, 8)
        made.began, made.handed, made.placed = began, handed, placed
        found.append(made)
    return found


def test_a_request_waits_for_its_prompt_and_for_its_place_in_a_decode_engine() -> None:
    """Of 5 + 12 s to both first tokens the second waits 4 + 3; early first tokens come at 4 and 8 s, after 4 s."""
    late, early = waiting_twice(), waiting_twice()
    two = apart()
    assert waiting_share(late, two) == pytest.approx(7 / 17)
    assert waiting_at(late, (0.0, 3.9, 4.0, 8.9, 9.0, 11.9, 12.0)) == [1, 1, 0, 0, 1, 1, 0]
    at = {round(point.time, 1): (point.waiting, point.running) for point in queue_over_time(late, 20.0)}
    assert [at[second] for second in (0.0, 4.0, 9.2, 12.0, 20.0)] == [(1, 1), (0, 2), (1, 1), (0, 1), (0, 0)]
    for one, first in zip(early, (4.0, 8.0), strict=True):
        one.first = first
    assert waiting_share(early, apart(early=True)) == pytest.approx(4 / 12)


def test_reading_cached_tokens_is_no_wait() -> None:
    made = request(0.0, 3.0, 4.0, 2, 2.0)
    made.began, made.loading = 2.0, 1.5
    assert waiting_share([made], timing()) == pytest.approx(0.5 / 3)
