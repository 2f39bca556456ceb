"""The step that runs when a prompt comes, and the lead of the host over the device."""

from __future__ import annotations

from math import exp, expm1
from random import Random

import pytest

from clusterspec.cost.serving.caches import turn_prompts
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.times import serving_pools
from clusterspec.cost.serving.waits.formed_steps import seconds_formed_ahead
from clusterspec.cost.serving.waits.prompts import seconds_of_prompts
from clusterspec.cost.serving.waits.running_steps import lead_of_launch, rest_after
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_serving_laws import BASE, MACHINE, PLAN

SETTINGS = [
    (mixed, plain, longer, launching)
    for mixed in (0.0, 0.2, 0.7, 0.95)
    for plain in (0.005, 0.02)
    for longer in (0.02, 0.06)
    for launching in (0.0, 0.03, 0.09)
]


@pytest.mark.parametrize(("mixed", "plain", "longer", "launching"), SETTINGS)
def test_the_lead_of_the_host_keeps_itself(mixed: float, plain: float, longer: float, launching: float) -> None:
    """From one step to the next: all of a plain step, and of one with prompts what is left after its launch."""
    lead = lead_of_launch(mixed, plain, longer, launching)
    after = (1 - mixed) * plain + mixed * max(0.0, longer - max(0.0, launching - lead))
    assert after == pytest.approx(lead)
    assert 0 <= lead <= (1 - mixed) * plain + mixed * longer + 1e-12


def test_a_launch_within_a_step_takes_nothing_from_the_lead() -> None:
    assert lead_of_launch(1.0, 0.02, 0.06, 0.05) == 0.06
    assert lead_of_launch(0.25, 0.02, 0.06, 0.03) == pytest.approx(0.03)  # 0.75 · 0.02 + 0.25 · 0.06


def rest_by_drawing(mixed: float, plain: float, longer: float, late: float, random: Random) -> float:
    end = 0.0
    while end <= late:
        end += longer if random.random() < mixed else plain
    return end - late


@pytest.mark.parametrize(("mixed", "late"), [(0.1, 0.004), (0.1, 0.03), (0.5, 0.05), (0.5, 0.01), (0.9, 0.04)])
def test_the_rest_of_a_step_is_that_of_drawn_steps(mixed: float, late: float) -> None:
    random = Random(3)
    drawn = [rest_by_drawing(mixed, 0.012, 0.1, late, random) for _ in range(20_000)]
    assert rest_after(mixed, 0.012, 0.1, (late, late)) == pytest.approx(sum(drawn) / len(drawn), rel=0.03)


@pytest.mark.parametrize(("mixed", "late"), [(0.0, 0.02), (0.1, 0.004), (0.1, 0.03), (0.5, 0.05), (0.9, 0.15)])
def test_the_rest_after_any_time_of_an_interval_is_the_mean_of_those_at_all_its_times(
    mixed: float, late: float
) -> None:
    every = [rest_after(mixed, 0.012, 0.1, (0.003 + late * (part + 0.5) / 4000,) * 2) for part in range(4000)]
    found = rest_after(mixed, 0.012, 0.1, (0.003, 0.003 + late))
    assert found == pytest.approx(sum(every) / len(every), rel=1e-3)


def test_shorter_steps_never_lengthen_the_rest_after_an_overhead_that_varies() -> None:
    """After none to 16 ms: at one moment alone, 8 ms, steps of 8 ms would end just before it, of 9 ms just after."""
    rests = [rest_after(0.0, plain / 1000, 0.1, (0.0, 0.016)) for plain in range(3, 30)]
    assert rests == sorted(rests)
    assert rest_after(0.0, 0.008, 0.1, (0.008, 0.008)) > 5 * rest_after(0.0, 0.009, 0.1, (0.008, 0.008))


def pools_of(**changes: object) -> Pools:
    keys = BASE | {"machine": MACHINE.format(bandwidth=3350, memory=80)} | changes
    found = serving_pools(clean(PLAN.format(**keys)))
    assert found is not None
    return found


DECODE, PREFILL = StepTime((), 1.0, 0.02, 0.015), StepTime((), 1.0, 0.1, 0.09)


def test_a_step_formed_ahead_holds_a_prompt_up_where_another_request_is_there() -> None:
    """8 sequences over 255 gaps: the share of steps with prompts is 1 − e^(−r), and each is 0.08 r over it longer."""
    closed, random, prompts = pools_of(), pools_of(load="request_rate: 4"), 8 / 255
    mixed = -expm1(-prompts)
    engine, longer = closed.decode, 0.02 + 0.08 * prompts / mixed
    assert engine.most_in_graphs < 2048
    launching = engine.host_floor(2048.0, 8 + prompts / mixed)
    lead = lead_of_launch(mixed, 0.02, longer, launching)
    assert 0.02 < lead < 0.024
    assert seconds_formed_ahead(closed, 8.0, (DECODE, PREFILL), 0.08) == pytest.approx(63 / 64 * lead)
    # at random times more prompts come in longer steps: 31.4 ms of step have 0.0314 of them, 1.39 a second
    rate, often = prompts / (0.02 + 0.08 * prompts), mixed
    for _ in range(50):
        longer = 0.02 + 0.08 * prompts / often
        often = (1 - exp(-rate * 0.02)) / (exp(-rate * longer) + 1 - exp(-rate * 0.02))
    lead = lead_of_launch(often, 0.02, longer, engine.host_floor(2048.0, 8 + prompts / often))
    assert seconds_formed_ahead(random, 8.0, (DECODE, PREFILL), 0.08) == pytest.approx((1 - exp(-8)) * lead)
    for load in ("static", "offline"):
        other = closed._replace(load=replace(closed.load, load=load))
        assert seconds_formed_ahead(other, 8.0, (DECODE, PREFILL), 0.08) == 0
    single = closed._replace(load=replace(closed.load, output_tokens=1))
    assert seconds_formed_ahead(single, 8.0, (DECODE, PREFILL), 0.08) == 0


def test_steps_of_turns_last_as_long_as_the_mean_of_short_and_long_ones() -> None:
    """Of eight turns one has a long prompt: the others last as long as their launch, the mean prompt no longer."""
    session = "session: {turns: 8, think_time: 20 s, growth: 1500}"
    pools = pools_of(framework="sglang", model="llama-3.1-8b", input=8000, load=f"concurrency: 24, {session}")
    pools = pools._replace(load=replace(pools.load, prefix_hit=0.81))
    load, engine = pools.load, pools.prompts
    turns = [each for each in turn_prompts(load) if each.share]
    apart = [(each.share, prompt_step(engine, each.fresh, each.length, 1.0).lasting_seconds) for each in turns]
    found = sum(share * seconds for share, seconds in apart)
    assert sum(each.share * each.fresh for each in turns) == pytest.approx(load.fresh_tokens)
    assert seconds_of_prompts(pools, 1.0) == pytest.approx(found)
    assert found > prompt_step(engine, load.fresh_tokens, float(load.input_tokens), 1.0).lasting_seconds
