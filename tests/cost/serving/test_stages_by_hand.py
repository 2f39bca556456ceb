"""Times of engines in pipeline stages and of several engines, whose divisors are 1 elsewhere, worked out by hand."""

from __future__ import annotations

from math import expm1, pi, sqrt

import pytest

from clusterspec.cost.formulas.queues import steps_wait
from clusterspec.cost.serving import flight_times, loads, steady
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding
from clusterspec.cost.serving.pools import Pools, prompt_seconds
from clusterspec.cost.serving.runs import FiniteRun, OpenRun
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.times import serving_pools
from clusterspec.cost.serving.waits import delays
from clusterspec.cost.serving.waits import prompts as waits
from clusterspec.cost.serving.waits.formed_steps import seconds_formed_ahead
from clusterspec.cost.serving.waits.prompts import StepsWithPrompts
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_day import HOURS, day

PLAN = """
cluster: {{platform: dgx-h100, nodes: 4}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 2000, output_tokens: 101, {load}}}}}
layout: {{framework: {framework}, tp: 4, pp: 2}}
"""


def pools(load: str, framework: str = "vllm") -> Pools:
    """Four engines, each of two stages of four H100."""
    found = serving_pools(clean(PLAN.format(load=load, framework=framework)))
    assert found is not None and found.decode.attention_ranks == 4 and found.decode.layout.pp == 2
    return found


CLOSED = pools("concurrency: 64, chunk_tokens: 4096, speculative: {tokens: 1, acceptance: 0.5}")
"""1.5 tokens in each step, over 100 gaps."""
OPEN = pools("request_rate: 4, chunk_tokens: 4096")
RUN = pools("concurrency: 64, requests: 640, chunk_tokens: 4096")
DECODE = StepTime((), 1.0, 0.02, 0.015)
PREFILL = StepTime((), 1.0, 0.1, 0.09)
STATE = Steady(
    *(8.0, 6.0, 4.0, DECODE, PREFILL, 0.3, 0.2, 0.1), *(1.5, 0.05, 0.001, 0.1, 3.0), wait=0.4, loading=0.1, outside=0.2
)


def test_a_prompt_waits_for_the_mean_rest_of_the_steps_at_a_rate() -> None:
    """Of steps of 20 ms a quarter takes 100 ms: 40 ms in the mean, and (0.75 × 0.4 + 0.25 × 10) / 80 = 35 ms of rest.

    Four requests a second on four engines take 0.1 × 3 / 2 of the two places; without that limit 0.4 × 100 / 40 × 0.5.
    A prompt waits for a place of all four engines.
    """
    shared = StepsWithPrompts(0.02, 0.1, 0.25, 3.0, 2.0, 0.4, 0.01)
    for rate, used in ((4.0, 0.15), (40.0, 0.5)):
        one = OPEN._replace(load=replace(OPEN.load, request_rate=rate))
        running = 0.035 + used * (3 - 1) * 0.1 / 2
        wanted = 0.5 * (running + 0.01) + steps_wait(used, 4 * 2.0, running * 0.5)
        assert waits._mixed_wait_at_rate(one, shared, 0.1, 0.2, 0.5) == pytest.approx(wanted), rate
    bursts = OPEN._replace(load=replace(OPEN.load, arrival_cv=3.0, request_rate=40.0))
    running, each = 0.035 + 0.05, 0.02 * 3 / 2 + 0.2 / 2  # a prompt adds 0.2 s over two stages
    wanted = 0.5 * (running + 0.01) + steps_wait(0.5, 4 * 2.0, running * 0.5)
    wanted += waits.variation_seconds(bursts, 0.5 * 0.1 * each / 0.04, each)
    assert waits._mixed_wait_at_rate(bursts, shared, 0.1, 0.2, 0.5) == pytest.approx(wanted)
    assert waits.variation_seconds(bursts, 0.5 * 0.1 * each / 0.04, each) > 0


def test_steps_with_prompts_share_the_seconds_that_prompts_add_over_the_stages() -> None:
    """0.1 prompts begin in a step of one stage, 10 of 20 ms, of which 1,920 / 2,000 fit, with 256 tokens: 0.2 s each
    over two stages.
    """
    chunked = PREFILL._replace(steps=3.0)
    found = waits._steps_with_prompts(CLOSED, (DECODE, chunked), 0.1, 0.2, 256.0)
    chunks, together = 2000 / (4096 - 256), (4096 - 256) / 2000
    mixed = -expm1(-0.1) * chunks
    assert (found.chunks, found.together, found.plain, found.mixed) == pytest.approx((chunks, together, 0.01, mixed))
    assert found.longer == pytest.approx(0.01 + 0.1 * 0.2 / 2 / mixed)
    assert found.used == pytest.approx(0.1 * chunks / together)


def test_prompts_of_a_run_that_starts_together_fill_steps_with_half_of_the_sequences() -> None:
    """32 requests on four engines are 8 each, of which 4 decode, 2 in each of two stages."""
    engine = RUN.prompts
    budget = (4096 - 2.0) / 2000
    step = prompt_step(engine, budget * 2000, 2000.0, 1.0, Decoding(2.0, 2000 + 101 / 2, 1.0))
    assert loads._starting_service(RUN, 32.0) == pytest.approx(step.lasting_seconds / 2 / budget / 4)
    alone = prompt_step(engine, 2000.0, 2000.0, 1.0, NOTHING)
    assert loads._starting_service(RUN, 4.0) == pytest.approx(alone.lasting_seconds / 2 / 4)
    many = prompt_step(engine, 4096.0, 2000.0, 1.0, NOTHING)  # 12 more prompts come: 3 of each engine
    assert loads._starting_service(RUN, 4.0, waiting=12.0) == pytest.approx(
        many.lasting_seconds / 2 / (4096 / 2000) / 4
    )


def test_a_closed_run_takes_turns_of_its_steady_state() -> None:
    found = loads.finite_run(RUN, STATE, 64.0, 0.25)
    turn = (0.02 / 1.5 + 8 * 0.001) * 100 / (8 * 4)
    waits, together = (0.25, 0.4, 0.4 + 0.1 + 0.3), 2.0  # a step of 4,096 tokens has room for two prompts of 2,000
    service = loads._starting_service(RUN, min(64.0, RUN.limit * 4))
    assert found == FiniteRun(640, 64, RUN.limit * 4, service, max(turn, 0.1 / 2 / 4), *waits, together * 4, 4.0)
    slow = loads.finite_run(RUN, STATE._replace(carried=1.0), 64.0, 0.25)
    assert slow.turn == pytest.approx(1.0 / 2 / 4)
    still = loads.finite_run(RUN, STATE._replace(rate=0.0), 64.0, 0.25)
    assert still.turn == still.service == service
    assert loads.finite_run(RUN, STATE, 1000.0, 0.25).concurrency == 640
    assert loads.finite_run(RUN, STATE, 640.0, 0.25).service == pytest.approx(
        loads._starting_service(RUN, min(640.0, RUN.limit * 4))
    )


def test_an_offline_run_is_its_waves() -> None:
    """8 sequences on each of four engines are 32 at once: 100 requests are three waves and 4 more."""
    one = pools("load: offline, requests: 100")
    full, last = (steady.decoding_seconds(one, each) for each in (8.0, 1.0))
    wanted = 100 * 0.1 / 2 / 4 + 100 * (3 * full + last)
    assert loads.offline_run_seconds(one, STATE) == pytest.approx(wanted)
    even = one._replace(load=replace(one.load, requests=96))
    assert loads.offline_run_seconds(even, STATE) == pytest.approx(96 * 0.1 / 2 / 4 + 100 * 3 * full)
    alone = one._replace(load=replace(one.load, requests=32))
    assert loads.offline_run_seconds(alone, STATE) == pytest.approx(
        32 * loads._starting_service(alone, 32.0) + 100 * full
    )
    assert loads.offline_run_seconds(RUN, STATE) is None
    assert loads.offline_run_seconds(one._replace(load=replace(one.load, requests=None)), STATE) is None


def test_sequences_without_prompts_decode_at_the_pace_of_their_stage() -> None:
    """12 sequences are 6 in each of two stages; a step gains 1.5 tokens of each and computes two."""
    step = decode_step(CLOSED.decode, 6.0, 2000 + 101 / 2, 2.0)
    assert steady.decoding_seconds(CLOSED, 12.0) == pytest.approx(step.total / 1.5)
    assert delays.sequences_of_step(CLOSED, 12.0) == Decoding(6.0, 2000 + 101 / 2, 2.0)
    assert delays.sequences_of_step(CLOSED, 0.5).sequences == 1.0
    least = decode_step(CLOSED.decode, 1.0, 2000 + 101 / 2, 2.0)
    assert steady.decoding_seconds(CLOSED, 0.1) == pytest.approx(least.total / 1.5)


def test_an_open_run_takes_turns_of_its_full_engines() -> None:
    run = pools("request_rate: 6, requests: 200, chunk_tokens: 4096")
    now = steady.steady_state(run, 4.0)
    full = steady.state_without_wait(run, run.limit)  # a request has its place while its prompt is computed
    found = loads.open_run(run, now)
    service = loads._starting_service(run, 4.0 * 4, 200.0)
    assert found.turn == pytest.approx((full.prompt + 100 * full.tpot) / (run.limit * 4))
    assert (found.requests, found.rate, found.places) == (200, 6, run.limit * 4)
    assert found.service == pytest.approx(service)
    walk = service * (2 / 3 * sqrt(2 / pi) * sqrt(200) - 0.5826)
    assert now.tail is not None and found.walk == pytest.approx(walk)
    even = now.tail.window / 2  # the rest of a step, at any length of the run
    limited = ((now.wait - even) ** -1.5 + walk**-1.5) ** (-2 / 3)
    assert found.varied == pytest.approx(even + limited)
    added = steady.decoding_seconds(run, run.limit) - steady.decoding_seconds(run, 1 / 4)
    assert found.sooner == pytest.approx(run.limit * 4 / 6 * max(0.0, added / full.tpot) / 6)
    taken = now._replace(sequences=run.limit, wait=1e9)
    assert loads.open_run(run, taken).turn == found.turn
    assert loads.open_run(run, taken).varied == pytest.approx(
        even + loads._starting_service(run, run.limit * 4, 200.0) * (2 / 3 * sqrt(2 / pi) * sqrt(200) - 0.5826)
    )


def test_requests_of_a_run_queue_for_places_that_end_at_turns() -> None:
    """Ten a second at 50 places, one of which ends every 0.2 s: each request waits 0.1 s longer than the one before."""
    run = OpenRun(200.0, 10.0, 50.0, 0.2, 0.0, service=0.15, sooner=0.5)
    assert (run.added_interval, run.lag, run.unqueued_requests) == pytest.approx((0.1, 0.05, 25 + 0.5 / 0.1))
    assert run.queue_wait(50.0) == pytest.approx(0.05 * 50)
    assert run.queue_wait(51.0) == pytest.approx(max(0.05 * 51, 0.1 * (51 - 30)))
    assert run.queue_wait(150.0) == pytest.approx(0.1 * (150 - 30))
    calm = run._replace(turn=0.1, service=0.1)
    assert (calm.added_interval, calm.lag, calm.unqueued_requests, calm.queue_wait(100.0)) == (0.0, 0.0, 25.0, 0.0)


def test_requests_that_start_together_wait_in_three_groups() -> None:
    """50 of 80 have a place: the first waits for none, the last for 49 prompts of 0.1 s. The other 30 wait until places
    come free: one a turn of 0.5 s from 50 turns on, sooner by a prompt and by half of what a turn is longer than a
    prompt, 50 times.
    """
    run = FiniteRun(200.0, 80.0, 50.0, 0.1, 0.5, 1.0, 2.0, 3.0)
    sooner = 3.0 + 50 * 0.4 / 2
    alone, placed, (others, first, longest) = run.starting
    assert alone == pytest.approx((1 / 200, 0.0, 0.0))
    assert placed == pytest.approx((49 / 200, 0.1, 4.9))
    assert (others, first, longest) == pytest.approx((30 / 200, 50 * 0.5 - sooner, 80 * 0.5 - sooner))
    mean = 49 / 200 * (0.1 + 4.9) / 2 + 0.15 * (first + longest) / 2 + (1 - 80 / 200) * 3.0
    assert run.mean == pytest.approx(mean) and run.last == pytest.approx(longest)
    quick = run._replace(turn=0.05)  # a place is free before the last prompt of the first ones ran
    assert quick.starting[2][1:] == pytest.approx((4.9, 4.9))
    assert run._replace(concurrency=40.0).starting[1] == pytest.approx((39 / 200, 0.1, 3.9))
    assert run._replace(concurrency=40.0).last == pytest.approx(3.9)


def test_engines_begin_alone_prompts_share_steps_and_all_wait_for_compilation() -> None:
    """Two engines begin at once; 48 prompts follow, four in a step, of which none ends before 0.4 s."""
    run = FiniteRun(200.0, 80.0, 50.0, 0.1, 0.5, 1.0, 2.0, 3.0, together=4.0, lanes=2.0, cold=0.6)
    alone, placed, others = run.starting
    assert alone == pytest.approx((2 / 200, 0.6, 0.6))
    assert placed == pytest.approx((48 / 200, 0.6 + 0.4, 0.6 + 4.8))
    assert others[1:] == pytest.approx((0.6 + 25 - 13, 0.6 + 40 - 13))
    few = run._replace(concurrency=4.0)  # two share what would be a step of four
    assert few.starting[1] == pytest.approx((2 / 200, 0.6 + 0.2, 0.6 + 0.2))
    assert run._replace(concurrency=1.0).starting[0] == pytest.approx((1 / 200, 0.6, 0.6))
    joined = run._replace(joined=0.3)  # of attention replicas, during later steps of the first prompt
    assert joined.starting[1] == pytest.approx((48 / 200, 0.6 + 0.1, 0.6 + 4.5))
    assert run._replace(joined=9.0).starting[1] == pytest.approx((48 / 200, 0.6, 0.6))


def test_a_late_start_leaves_requests_that_the_engines_work_off() -> None:
    """For 240 s more come than are served; the new engines serve what they can beyond the rate."""
    found = day(f"day: [{HOURS}], scaling: {{cold_start: 5 min, ahead: 1 min}}")
    (late,) = found.late
    now = next(each for each in found.hours if each.hours.rate == 24)
    assert now.capacity > 24
    assert late.drained == pytest.approx(240 + late.waiting / (now.capacity - 24))
    assert late.wait == pytest.approx(late.waiting / now.capacity)
    for each in found.hours:
        assert each.capacity > each.hours.rate and each.utilization == pytest.approx(each.hours.rate / each.capacity)


def test_a_pipeline_forms_no_step_ahead() -> None:
    """Nor an engine that drafts tokens."""
    assert seconds_formed_ahead(CLOSED, 8.0, (DECODE, PREFILL), 0.1) == 0
    assert seconds_formed_ahead(OPEN, 8.0, (DECODE, PREFILL), 0.1) == 0


QUIET = '{from: "00:00", to: "06:00", request_rate: 0}'


def test_hours_without_requests_keep_the_engines_that_always_run() -> None:
    """Two engines of four accelerators for six hours; prefill engines as many, where they are separate."""
    kept = day(f"request_rate: 24, day: [{QUIET}], scaling: {{min_replicas: 2}}")
    night, noon = kept.hours
    assert (night.prefill, night.replicas, night.accelerators, night.times, night.served) == (0, 2, 8.0, None, True)
    assert (night.capacity, night.utilization, night.slowest) == (0.0, None, None)
    assert noon.replicas > 2 and noon.times is not None and noon.utilization is not None
    assert kept.requests == 18 * 3600 * 24 and kept.output_tokens == kept.requests * 300
    none = day(f"request_rate: 24, day: [{QUIET}], scaling: {{min_replicas: 0}}")
    assert (none.hours[0].replicas, none.hours[0].accelerators) == (0, 0.0)
    apart = "disaggregated: {prefill: {replicas: 8, tp: 4}, decode: {replicas: 8, tp: 4}}, "
    split = day(f"{apart}request_rate: 24, day: [{QUIET}], scaling: {{min_replicas: 3}}", "{framework: vllm}")
    assert (split.hours[0].prefill, split.hours[0].replicas, split.hours[0].accelerators) == (3, 3, 24.0)
    most = day(f"{apart}request_rate: 24, day: [{QUIET}], scaling: {{min_replicas: 30}}", "{framework: vllm}")
    assert (most.hours[0].prefill, most.hours[0].replicas) == (8, 8)
    assert most.accelerator_hours == pytest.approx(most.constant_accelerator_hours) == pytest.approx(24 * 64)


def test_the_wait_of_a_prompt_is_that_of_the_kind_of_steps_of_its_engine() -> None:
    """Steps of prompts alone in a loop and in an open load; else steps that also decode, of what a rank has. On each of
    two stages a step of 20 ms takes 10, and a prompt adds half of its 0.2 s.
    """
    steps = (DECODE, PREFILL)
    loop, open_ = pools("concurrency: 64", "sglang"), pools("request_rate: 4", "sglang")
    assert loop.decode.prompts_alone and open_.decode.prompts_alone and not CLOSED.decode.prompts_alone
    assert [flight_times._budget_limits_places(each) for each in (loop, open_, CLOSED)] == [False, False, True]
    found = waits.mixed_prompt_wait(loop, steps, 0.1, 0.2, (16.0, 0.5))  # other batches decode while prompts run
    assert found == pytest.approx(waits._wait_amid_steps_of_prompts(loop, 0.01, 0.1, loop.share_with_others))
    lone = loop._replace(decode=replace(loop.decode, layout=replace(loop.decode.layout, pp=1)))
    found = waits.mixed_prompt_wait(lone, steps, 0.1, 0.2, (16.0, 0.5))
    assert found == pytest.approx(waits._wait_before_steps_of_prompts(lone, 0.02, 0.1, 0.2))
    found = waits.mixed_prompt_wait(open_, steps, 0.1, 0.2, (16.0, 0.5))
    assert found == pytest.approx(waits._wait_amid_steps_of_prompts(open_, 0.01, 0.1, 0.5))
    shared = waits._steps_with_prompts(OPEN, steps, 0.1, 0.2, 16.0)
    for load, busy in (("open", 0.5), ("static", 1.0)):
        one = OPEN._replace(load=replace(OPEN.load, load=load))
        wanted = waits._mixed_wait_at_rate(one, shared, 0.1, 0.2, busy)
        assert waits.mixed_prompt_wait(one, steps, 0.1, 0.2, (16.0, 0.5)) == pytest.approx(wanted)
    shared = waits._steps_with_prompts(CLOSED, steps, 0.1, 0.2, 16.0)
    loop_wait = waits._mixed_wait_in_loop(CLOSED, shared, 64)
    most = 0.01 + (64 / 4 - 1) * prompt_seconds(CLOSED.decode, PREFILL)
    assert waits.mixed_prompt_wait(CLOSED, steps, 0.1, 0.2, (16.0, 0.5)) == pytest.approx(min(loop_wait, most))


APART = """
cluster: {platform: dgx-h200, nodes: 3}
workload:
  kind: serve
  model: qwen3-235b-a22b
  precision: fp8
  serving:
    input_tokens: 2000
    output_tokens: 101
    concurrency: 64
    disaggregated: {prefill: {replicas: 2, attention_dp: 8, ep: 8}, decode: {attention_dp: 8, ep: 8}}
layout: {framework: sglang}
"""


def test_ranks_of_a_prefill_engine_are_busy_with_the_prompts_of_their_rate() -> None:
    """8 sequences on each of 8 ranks that gain a token in 50 ms end 64 / 100 / 0.05 = 12.8 requests a second, for two
    engines of eight ranks: one rank, and 7 / 8 of the others while prompts run together with it.
    """
    apart = serving_pools(clean(APART))
    assert apart is not None and apart.prompts.replicas == 2 and apart.decode.attention_ranks == 8
    alone = prompt_step(apart.prompts, 2000.0, 2000.0, 8.0).total
    for sequences in (0.5, 8.0):
        rate = sequences * 8 / 100 / 0.05
        assert steady._busy_ranks(apart, sequences, 0.05) == pytest.approx(min(8.0, 1 + rate / 2 * alone * 7 / 8))
    assert steady._busy_ranks(apart, 1e6, 0.05) == 8 and steady._busy_ranks(CLOSED, 8.0, 0.05) == 1
