"""Timetables of simulated engines, worked out by hand: a step takes as many seconds as it computes tokens."""

from __future__ import annotations

from math import inf

import pytest

from clusterspec.analysis.simulation import outcomes
from clusterspec.analysis.simulation.plans import LateEngines, Links, Simulation, Timing
from clusterspec.analysis.simulation.ranks import Limits, Request
from clusterspec.analysis.simulation.run import _share_within, _steady_output
from clusterspec.analysis.simulation.steps import CacheRead, Curve, StepTables
from clusterspec.analysis.simulation.traffic import Traffic
from clusterspec.cluster.requests import Target
from clusterspec.logs.traces import Arrival
from clusterspec.records import replace
from tests.cost.serving.test_targets import plan

LOAD = plan("concurrency: 32")[1]

EACH, TWICE, NONE = Curve((1.0, 2.0), (1.0, 2.0)), Curve((1.0, 2.0), (2.0, 4.0)), Curve((1.0, 2.0), (0.0, 0.0))
A, B = Arrival(0.0, 10, 4), Arrival(0.0, 5, 3)
"""Prompts of 10 and of 5 tokens, for answers of 4 and of 3. Both come at once; the engine begins with the first."""


def tables(
    *, ranks: int = 1, drafted: float = 1.0, gained: float = 1.0, stages: int = 1, apart: bool = False
) -> StepTables:
    """A step takes a second for each token of the fullest of some ranks, two where all have as many."""
    working, shares = ((EACH,), (1.0,)) if ranks == 1 else ((EACH, TWICE), (1.0, float(ranks)))
    return StepTables(
        working,
        shares,
        NONE,
        (CacheRead(EACH, NONE),),
        NONE,
        ((inf, 0.0),),
        (0.0, 0.0),
        ranks,
        drafted,
        gained,
        stages,
        1.0,
        apart,
    )


def limits(
    *, sequences: float = 99.0, tokens: float = 1e6, chunk: int | None = None, whole: bool = False, hit: float = 0.0
) -> Limits:
    return Limits(sequences, tokens, chunk, whole=whole, hit=hit)


def timing(of: StepTables | None = None, most: Limits | None = None, engines: int = 1, request: float = 0.0) -> Timing:
    return Timing((of or tables(), most or limits(), engines), None, Links(), request)


def apart(*, early: bool = False) -> Timing:
    """A prefill and a decode engine; the links are taken for 2 and 3 s, 1 s of it during the prompt, 0.5 s pass."""
    sides = [
        (tables(), Limits(99.0, 1e6, None, whole=False, hit=0.0, apart=kind, early=early), 1)
        for kind in ("decode", "prefill")
    ]
    return Timing(sides[0], sides[1], Links(2.0, 3.0, 1.0, 0.5), 0.0)


Times = list[tuple[float, float]]
TIMETABLES: dict[str, tuple[Timing, list[Arrival], Times, dict[float, float] | None]] = {
    # the times of the first and of the last token of each request; seconds between tokens, and how many waited so long
    "a prompt and its answer": (timing(), [A], [(10, 13)], {1: 3}),
    "an answer of one token": (timing(), [Arrival(0.0, 10, 1)], [(10, 10)], {}),
    # while B computes its 5 tokens, A decodes one in the same step; then both decode, a step of two tokens
    "a prompt beside a sequence": (timing(), [A, B], [(10, 20), (16, 20)], {6: 1, 2: 4}),
    # 4 + 4 of A; 2 of A and 2 of B; A decodes together with 3 of B; two tokens; one
    "chunks of four": (
        timing(most=limits(chunk=4)), [A, Arrival(0.0, 5, 2)], [(12, 19), (16, 18)], {4: 1, 2: 2, 1: 1},
    ),
    "one place": (timing(most=limits(sequences=1)), [A, B], [(10, 13), (18, 20)], {1: 5}),
    # 14 tokens of A and 8 of B do not fit 21 where a cache is reserved for whole requests; they fit 22
    "a cache too small": (timing(most=limits(tokens=21, whole=True)), [A, B], [(10, 13), (18, 20)], {1: 5}),
    "a cache just large enough": (
        timing(most=limits(tokens=22, whole=True)), [A, B], [(10, 20), (16, 20)], {6: 1, 2: 4},
    ),
    # 10 + 5 tokens and one more of A are 16 of 17; two more do not fit: B computes its prompt again after A
    "a cache that overflows": (timing(most=limits(tokens=17)), [A, B], [(10, 18), (16, 25)], None),
    # four tokens are computed in a step, of which two are kept
    "drafts": (timing(tables(drafted=4.0, gained=2.0)), [Arrival(0.0, 10, 5)], [(10, 18)], {4: 2}),
    # A stands still while B has its prompt
    "prompts alone": (timing(tables(apart=True)), [A, B], [(10, 20), (15, 19)], None),
    # half of the prompt on each stage; the second half of it and the answer follow
    "two stages": (timing(tables(stages=2)), [A], [(10, 13)], {1: 3}),
    "a cached half": (timing(most=limits(hit=0.5)), [A], [(5, 8)], {1: 3}),
    "six cached tokens, two seconds to read": (
        timing(), [A._replace(cached=6.0, loading=2.0)], [(6, 9)], {1: 3},
    ),
    "half a second before the engine": (timing(request=0.5), [A], [(10.5, 13.5)], {1: 3}),
    # B comes in the third of ten steps of A, whose end it awaits: 12 to 13
    "a request amid steps": (
        timing(), [Arrival(0.0, 10, 11), Arrival(12.5, 5, 2)], [(10, 26), (19, 21)], {1: 8, 6: 1, 2: 2},
    ),
    "two engines": (timing(engines=2), [A, B], [(10, 13), (5, 7)], {1: 5}),
    # 9 to 12 s on the links, and half a second; B 14 to 17
    "prefill of its own": (apart(), [A, B], [(12.5, 15.5), (17.5, 19.5)], {1: 5}),
    "a first token before the handoff": (apart(early=True), [A], [(10, 15.5)], {2.5: 1, 1: 3}),
    # one rank has 1 token and the other 4: 4 s, and a quarter of the 4 that as many on both would add; then 2 s, and 1
    "two ranks": (
        timing(tables(ranks=2)), [Arrival(0.0, 10, 3), Arrival(0.0, 4, 3)], [(10, 17), (15, 18)], {5: 1, 2: 2, 1: 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TIMETABLES)
def test_an_engine_keeps_the_timetable_worked_out_by_hand(name: str) -> None:
    given, arrivals, wanted, gaps = TIMETABLES[name]
    run = Simulation(given, arrivals)
    run.run()
    assert [(each.first, each.ended) for each in run.requests] == wanted
    assert gaps is None or run.gaps == gaps
    assert run.preemption_count == (name == "a cache that overflows")
    assert all(
        engine.requests == engine.expected == 0 and not any(r.requests for r in engine.ranks) for engine in run.decode
    )


def test_a_prefill_engine_that_forms_steps_ahead_takes_what_had_come_when_the_step_before_began() -> None:
    """The engine looks for requests 1 s after the start of a first step, and then whenever a step ends.

    B has come at 1 s, so that the second step is formed without C, and the third, formed at 6 s, without D.
    """
    steps = replace(tables(), floors=((inf, 1.0),))
    came = [Arrival(0.0, 6, 1), Arrival(0.5, 2, 1), Arrival(2.0, 2, 1), Arrival(7.0, 2, 1), Arrival(30.0, 2, 1)]

    def first_tokens(*, ahead: bool) -> list[float]:
        sides = [
            (steps, Limits(99.0, 1e6, 8, whole=False, hit=0.0, apart=kind, early=True, ahead=ahead), 1)
            for kind in ("decode", "prefill")
        ]
        run = Simulation(Timing(sides[0], sides[1], Links(), 0.0), came)
        run.run()
        return [each.first for each in run.requests]

    assert first_tokens(ahead=True) == [6, 8, 10, 12, 32]
    assert first_tokens(ahead=False) == [6, 10, 10, 12, 32]


def test_a_closed_loop_sends_a_request_when_another_ends() -> None:
    run = Simulation(timing(request=0.5), [A, B, B], 2)
    run.run()
    # A and B arrive at 0 and end together at 20.5; the third then comes 0.5 s later
    assert [(each.arrival, each.first, each.ended) for each in run.requests] == [
        (0.0, 10.5, 20.5),
        (0.0, 16.5, 20.5),
        (20.5, 26.0, 28.0),
    ]


def test_engines_that_start_late_get_requests_from_then_on() -> None:
    late = [A, B._replace(time=1.0), Arrival(4.0, 3, 1)]
    run = Simulation(timing(engines=2), late, late=LateEngines(0, 1, 4.0))
    run.run()
    assert [each.first for each in run.requests] == [10, 16, 7]
    assert [each.admitted for each in run.requests] == [0, 10, 4]


def finished(name: str) -> Simulation:
    given, arrivals, *_ = TIMETABLES[name]
    run = Simulation(given, arrivals)
    run.run()
    return run


def target(quantity: str, percentile: float, seconds: float) -> Target:
    return Target(quantity, percentile, seconds, quantity)


def test_outcomes_are_those_of_the_requests_of_a_timetable() -> None:
    """A: its first token after 10 s, three gaps in 10 s. B: after 16 s, two gaps in 4 s; five gaps in all."""
    run = finished("a prompt beside a sequence")
    assert outcomes.percentiles(map(outcomes.first_token_seconds, run.requests)) == (10, 16, 16)
    assert outcomes.percentiles(range(1, 201)) == (100, 180, 198)
    assert outcomes.token_percentiles(run.requests) == (2, 10 / 3, 10 / 3)
    assert outcomes.gap_percentiles(run.gaps) == (2, 6, 6)
    assert (
        outcomes.gap_percentiles({}) is None is outcomes.token_percentiles(finished("an answer of one token").requests)
    )
    targets = (("ttft", 50, 10), ("ttft", 51, 16), ("tpot", 50, 2), ("tpot", 90, 10 / 3), ("end_to_end", 99, 20),
               ("itl", 79, 2), ("itl", 81, 6))  # fmt: skip
    load = replace(LOAD, targets=tuple(target(name, at, 1.0) for name, at, _ in targets))
    assert [each[3] for each in outcomes.simulated_targets(run.requests, run.gaps, load)] == [s for *_, s in targets]


@pytest.mark.parametrize(
    ("limits", "share"),
    [
        ({"ttft": 9.9}, 0.0), ({"ttft": 10}, 0.5), ({"ttft": 16}, 1.0), ({"tpot": 2}, 0.5), ({"tpot": 3.4}, 1.0),
        ({"end_to_end": 19}, 0.0), ({"end_to_end": 20}, 1.0), ({"ttft": 10, "tpot": 2}, 0.0),
        ({"ttft": 16, "end_to_end": 20, "tpot": 2}, 0.5), ({"itl": 1}, None), ({}, None),
    ],
)  # fmt: skip
def test_a_request_is_within_its_targets_where_all_its_latencies_are(limits: dict[str, float], share: float) -> None:
    run = finished("a prompt beside a sequence")
    load = replace(LOAD, targets=tuple(target(name, 50, seconds) for name, seconds in limits.items()))
    assert outcomes.share_within_targets(run.requests, load) == share


def test_requests_wait_until_they_are_admitted() -> None:
    """With one place B waits for the 13 s of A, of the 10 and 18 s to both first tokens; 20 s in fiftieths."""
    given, arrivals, *_ = TIMETABLES["one place"]
    run = finished("one place")
    assert outcomes.waiting_share(run.requests, given) == 13 / 28
    later = Simulation(timing(most=limits(sequences=1), request=0.5), arrivals)
    later.run()
    assert outcomes.waiting_share(later.requests, later.timing) == 13 / 29
    queue = outcomes.queue_over_time(run.requests, run.ended)
    assert [(point[0], *point[1:]) for point in (queue[0], queue[32], queue[33], queue[50])] == [
        (0.0, 1, 1),
        (12.8, 1, 1),
        (pytest.approx(13.2), 0, 1),
        (20.0, 0, 0),
    ]
    assert len(queue) == 51


def test_a_load_counts_from_the_end_of_its_warm_up_to_its_last_admission() -> None:
    """Two thirds of the answer of the second request lie between 10 and 20 s; a run without warm-up counts whole."""
    run = Simulation(timing(), [Arrival(0.0, 1, 10), Arrival(10.0, 1, 9), Arrival(20.0, 1, 5)])
    for each, (arrival, first, ended) in zip(run.requests, ((0, 1, 2), (10, 12, 24), (20, 22, 30)), strict=True):
        each.arrival, each.first, each.ended = float(arrival), float(first), float(ended)
        each.admitted = each.arrival
    assert _steady_output(run.requests, Traffic([], None, 1, "")) == pytest.approx((2 / 3, 6, 10))
    assert _steady_output(run.requests, Traffic([], None, 0, "")) == (3, 24, 30)


@pytest.mark.parametrize(
    ("first", "last", "start", "end", "share"),
    [
        (0.0, 10.0, 0.0, 10.0, 1.0),
        (0.0, 10.0, 4.0, 20.0, 0.6),
        (0.0, 10.0, -5.0, 4.0, 0.4),
        (0.0, 10.0, 2.0, 4.0, 0.2),
        (0.0, 10.0, 10.0, 20.0, 0.0),
        (5.0, 5.0, 0.0, 5.0, 1.0),  # an answer of one token counts where it ends: at the end, not at the start
        (5.0, 5.0, 5.0, 9.0, 0.0),
        (5.0, 5.0, 6.0, 9.0, 0.0),
    ],
)
def test_an_answer_counts_by_its_share_within_the_time(
    first: float, last: float, start: float, end: float, share: float
) -> None:
    request = Request(0, 0.0, 10, 4)
    request.first, request.ended = first, last
    assert _share_within(request, start, end) == pytest.approx(share)
