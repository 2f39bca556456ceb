"""The requests of a simulation and the rate that a plan sustains, counted by hand."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import inf

import pytest

from clusterspec.analysis.simulation import saturation
from clusterspec.analysis.simulation.caches import cache_sizes, session_arrivals
from clusterspec.analysis.simulation.day import _arrival_times
from clusterspec.analysis.simulation.plans import Simulation
from clusterspec.analysis.simulation.ranks import Limits
from clusterspec.analysis.simulation.run import _hits_by_size, _refuse_endless_work, _report_notes
from clusterspec.analysis.simulation.saturation import _probed_requests, sustained_rate
from clusterspec.analysis.simulation.traffic import SimulationFault, Traffic, plan_traffic
from clusterspec.cluster.requests import Session
from clusterspec.cost.serving.caches import bare_tiers
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools
from clusterspec.logs.traces import Arrival
from clusterspec.records import replace
from tests.analysis.jobs import design_of
from tests.analysis.test_timetables import A, B, limits, timing
from tests.effort import each, telling, thorough

SERVED = """
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 1000, output_tokens: 100, request_rate: 2, chunk_tokens: 500}
layout: {framework: vllm}
"""


@cache
def pools() -> Pools:
    found = bare_pools(design_of(SERVED))
    assert found is not None
    return found


@each(
    ("turns", "think", "rate", "running"),
    [(1, 0.0, 0.1, 2.0), (4, 30.0, 10.0, 10.0), (4, 0.0, 0.5, 2.0), (8, 5.0, 3.0, 40.0)],
)
def test_turns_of_conversations_come_at_their_rate_from_a_time_on_at_which_all_are_under_way(
    turns: int, think: float, rate: float, running: float
) -> None:
    """As many as are asked for, although the first conversations are left out; a turn waits for the answer before it.

    The mean of 400 times between turns is 1 / rate, within a third: the turns of a conversation come together.
    """
    found = session_arrivals(3, 400, Session(turns, think, 600, 400, 1000.0), 100, rate=rate, running=running)
    assert len(found) == 400
    times = [one.time for one in found]
    assert times[0] == 0.0 and times == sorted(times)
    assert times[-1] == pytest.approx(400 / rate, rel=0.33)
    assert {one.prompt for one in found} == {1000 + 600 * turn for turn in range(turns)}
    assert {one.prompt for one in found} == {1000 + 600 * turn for turn in range(turns)}
    by_conversation: dict[object, list[Arrival]] = {}
    for one in found:
        by_conversation.setdefault(next(name[0] for name, _ in one.blocks if isinstance(name, tuple)), []).append(one)
    for before, after in (pair for own in by_conversation.values() for pair in pairwise(own)):
        assert after.prompt == before.prompt + 600
        assert after.time - before.time >= running * (1 - 1e-9)
        assert think or after.time - before.time == pytest.approx(running)


def test_a_request_that_lost_its_cache_was_admitted_when_it_first_was() -> None:
    """B begins when the prompt of A ends; the cache of 17 tokens then overflows, and B waits again."""
    run = Simulation(timing(most=limits(tokens=17)), [A, B])
    run.run()
    assert run.preemption_count == 1 and [one.admitted for one in run.requests] == [0.0, 10.0]


def test_an_engine_admits_as_many_sequences_as_it_has_places_and_tokens() -> None:
    """While a first prompt runs for a second, three of 5 tokens come: two run at once, and the last when they end."""
    four = [Arrival(0.0, 1, 1), *[Arrival(0.5, 5, 3)] * 3]
    for most in (limits(sequences=2, chunk=10), limits(tokens=16, chunk=10, whole=True)):
        run = Simulation(timing(most=most), four)
        run.run()
        # 10 s of two prompts, two steps of 2 s, and 5 s of the last prompt
        assert [(one.admitted, one.first) for one in run.requests] == [(0, 1), (1, 11), (1, 11), (15, 20)]


def test_limits_hold_whole_sequences_and_at_least_one() -> None:
    made = [Limits(most, 1e6, None, whole=False, hit=0.0) for most in (0.2, 1.0, 2.9999999999, 2.9, 7.5)]
    assert [one.sequences for one in made] == [1, 1, 3, 2, 7]


@each(("places", "probed"), [(1.0, 2000), (333.0, 2000), (334.0, 2004), (1000.5, 6003), (1e6, 40_000)])
def test_six_times_the_places_of_a_plan_are_offered_to_find_what_it_sustains(places: float, probed: int) -> None:
    assert _probed_requests(places) == probed


@thorough
def test_a_plan_sustains_what_its_middle_three_fifths_complete() -> None:
    """With one place and ten seconds a request, the rate is a tenth, however long the first and the last take."""
    one = timing(most=limits(sequences=1))
    assert sustained_rate(one, [Arrival(5.0, 10, 1)], 1.0) == pytest.approx(0.1)
    # 10 s of a prompt and 3 of an answer, and 5 and 2: 20 s for two requests
    assert sustained_rate(one, [A, B], 1.0) == pytest.approx(0.1, rel=1e-3)
    assert sustained_rate(timing(), [Arrival(0.0, 1, 1, cached=1.0)] * 2, 1.0) == pytest.approx(1.0)


def test_the_first_and_the_last_fifth_of_the_requests_do_not_count() -> None:
    """Of 2,000 requests one after another, 401 take 1 s each, the next 1,200 take 10 s each, the last 399 take 20 s:
    12,000 s lie between the ends of the 401st and of the 1,601st.
    """
    seconds = [1] * 401 + [10] * 1200 + [20] * 399
    found = sustained_rate(timing(most=limits(sequences=1)), [Arrival(0.0, each, 1) for each in seconds], 1.0)
    assert found == pytest.approx(0.1, rel=1e-9)


def test_arrivals_of_a_rise_lie_within_its_seconds_at_its_rate() -> None:
    found = list(_arrival_times(1, 20.0, 100.0, 50.0))
    assert all(50.0 <= one < 150.0 for one in found) and found == sorted(found)
    assert len(found) == pytest.approx(2000, rel=0.1)
    assert not list(_arrival_times(1, 0.0, 100.0, 0.0)) and not list(_arrival_times(1, 5.0, 0.0, 0.0))


def test_hits_by_size_have_the_bytes_of_their_tokens_and_the_seconds_of_their_requests() -> None:
    """Five requests 2 s apart, each with the block of the one before: it is kept while one other arrives, 2 s."""
    here = pools()
    arrivals = [Arrival(2.0 * place, 100, 10, (("shared", 60), (place, 40)), ()) for place in range(5)]
    (plain,) = cache_sizes(arrivals)
    assert (plain.requests, plain.hit_rate) == pytest.approx((1.0, 4 * 60 / 500))
    # at the four arrivals but the first, the 100 tokens of the one before are kept
    assert plain.tokens == pytest.approx(100.0)
    (found,) = _hits_by_size(Traffic(arrivals, None, 0, "trace"), here)
    assert found[:4] == (100.0, 100.0 * bare_tiers(here)[0].token_bytes, plain.hit_rate, 1.0)
    assert found.seconds == pytest.approx(2.0)
    (closed,) = _hits_by_size(Traffic(arrivals, 2, 0, "trace"), here)
    assert closed.seconds is None


@each(
    ("prompt", "chunk", "count", "refused"),
    [(1000, None, 10, False), (1000, 1, 4_900, False), (1000, 1, 5_000, True), (2000, 2, 4_900, False)],
)
def test_a_simulation_takes_five_million_steps_with_prompts(
    prompt: int, chunk: int | None, count: int, refused: bool
) -> None:
    """A prompt of 1,000 tokens in chunks of one has 1,001 steps, on one rank in 5,000 of which each takes as long."""
    here = pools()
    made = here._replace(load=replace(here.load, chunk_tokens=chunk))
    arrivals = [Arrival(0.0, prompt, 1)] * count
    if not refused:
        return _refuse_endless_work(made, arrivals)
    with pytest.raises(SimulationFault, match="chunks of prompts on"):
        _refuse_endless_work(made, arrivals)
    return None


def test_a_request_as_long_as_the_cache_is_taken_and_a_longer_one_is_not() -> None:
    here = pools()
    held = int(here.tokens)
    _refuse_endless_work(here, [Arrival(0.0, held - 1, 1)])
    with pytest.raises(SimulationFault, match="does not fit in the cache"):
        _refuse_endless_work(here, [Arrival(0.0, held, 1)])


ALIKE, UNLIKE = [Arrival(0.0, 5, 5)] * 3, [Arrival(0.0, 5, 5), Arrival(0.0, 6, 5), Arrival(0.0, 5, 5)]


@each(
    ("traffic", "saturation", "preempted", "told"),
    [
        (Traffic(UNLIKE, None, 1, ""), None, 0, ()),
        (Traffic(UNLIKE, None, 1, ""), 2.0, 0, ()),  # a load of 2 requests a second
        (Traffic(UNLIKE, None, 1, ""), 1.99, 0, ("exceeds what the plan sustains",)),
        (Traffic(UNLIKE, None, 0, ""), 1.0, 0, ()),
        (Traffic(ALIKE, 2, 0, ""), None, 0, ("equally long",)),
        (Traffic(ALIKE, None, 0, ""), None, 0, ()),
        (Traffic(UNLIKE, 3, 0, ""), None, 0, ()),
        (Traffic(UNLIKE, 4, 0, ""), None, 0, ("fewer requests than the concurrency",)),
        (Traffic(UNLIKE, None, 1, "", full_after=1), None, 0, ()),
        (Traffic(UNLIKE, None, 1, "", full_after=2), None, 0, ("`--requests 4` is enough",)),
        (Traffic(UNLIKE, None, 0, "", full_after=2), None, 0, ()),
        (Traffic(UNLIKE * 2, 3, 3, ""), None, 0, ("`--requests 9` is enough",)),  # one round fills, one empties
        (Traffic(UNLIKE * 3, 3, 3, ""), None, 0, ()),
        (Traffic(UNLIKE, None, 0, ""), None, 3, ("lost their cache to older ones 3 times",)),
    ],
)
def test_a_note_is_told_where_its_distortion_is(
    traffic: Traffic, saturation: float | None, preempted: int, told: tuple[str, ...]
) -> None:
    found = list(_report_notes(pools(), traffic, saturation, preempted))
    assert len(found) == len(told) and all(words in note for words, note in zip(told, found, strict=True)), found


@telling(2)
@each(
    ("load", "output", "widest"),
    [
        ("concurrency: 4", "900", 1 / 9),
        ("request_rate: 2", "900", 1 / 9),
        ("request_rate: 2, requests: 400", "900", 1 / 9),
        ("concurrency: 4", "{mean: 900, p99: 900}", 0.0),  # the spec says that all are equal
        ("load: offline", "900", 0.0),  # formulas and published runs of it have equal requests
    ],
)
def test_lengths_of_which_the_mean_alone_is_stated_are_spread_around_it(load: str, output: str, widest: float) -> None:
    served = SERVED.replace("1000", "1800").replace("100,", f"{output},").replace("request_rate: 2", load)
    found = bare_pools(design_of(served))
    assert found is not None
    traffic = plan_traffic(found.load, 0, 4000, None)
    arrivals = traffic.arrivals[4:]  # the first of a loop start amid their answers
    for lengths, mean in (([one.output for one in arrivals], 900), ([one.prompt for one in arrivals], 1800)):
        assert sum(lengths) / len(lengths) == pytest.approx(mean, rel=0.005)
        assert max(lengths) == pytest.approx(mean * (1 + widest), rel=0.005)
        assert min(lengths) == pytest.approx(mean * (1 - widest), rel=0.005)
    assert ("drawn within 11 % of their stated means" in traffic.load) == bool(widest)
    longest = max(
        one.prompt + one.output for one in plan_traffic(found.load, 0, 4000, None, cached_tokens=2710.0).arrivals
    )
    assert longest <= 2710


@each(("places", "partial"), [(inf, 100), (100.0, 100), (60.0, 60), (59.5, 60)])
def test_only_requests_with_a_place_start_amid_their_answers(places: float, partial: int) -> None:
    """The others of a loop wait, and have their whole answers; one round comes first, and one last."""
    load = replace(pools().load, load="closed", concurrency=100, request_rate=None)
    found = plan_traffic(load, 0, 400, None, places=places)
    assert (found.partial, found.warm_up, found.cool_down) == (partial, 100, 100)
    assert min(one.output for one in found.arrivals[partial:]) > 0.85 * load.output_tokens
    assert sum(one.output for one in found.arrivals[:partial]) < 0.7 * partial * load.output_tokens


def test_equal_requests_of_a_loop_start_together() -> None:
    """They stay in step: none starts amid its answer. The first round is not counted."""
    load = replace(pools().load, load="closed", concurrency=100, request_rate=None, equal_outputs=True)
    found = plan_traffic(load, 0, 400, None)
    assert (found.partial, found.warm_up, found.cool_down) == (0, 100, 100)
    assert {one.output for one in found.arrivals} == {load.output_tokens}


def test_few_requests_on_a_full_plan_end_at_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten requests of 10 s each, one after another: six of them end in the 60 s after the third."""
    monkeypatch.setattr(saturation, "PROBED", 10)
    one = timing(most=limits(sequences=1))
    assert sustained_rate(one, [Arrival(5.0, 10, 1)], 1.0) == pytest.approx(0.1)
    assert sustained_rate(one, [A, B], 1.0) == pytest.approx(0.1, rel=0.1), "20 s for two requests"


@pytest.mark.parametrize(("places", "partial"), [(0.4, 1), (1.0, 1), (4.9, 4), (50.0, 20)])
def test_a_full_plan_starts_with_requests_amid_their_answers(
    monkeypatch: pytest.MonkeyPatch, places: float, partial: int
) -> None:
    """One for each place, of 20 requests; on separate prefill engines all have their prompts before them."""
    monkeypatch.setattr(saturation, "PROBED", 20)
    monkeypatch.setattr(saturation, "MOST_PROBED", 20)
    one = timing(most=limits(sequences=1))
    for engines, amid in ((one, partial), (replace(one, prefill=one.decode), 0)):
        found = saturation._offered_requests(engines, [Arrival(5.0, 10, 1)], places)
        assert len(found) == 20 and {request.time for request in found} == {0.0}
        assert [request.cached for request in found] == [9] * amid + [-1] * (20 - amid)
