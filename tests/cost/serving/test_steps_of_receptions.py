"""The steps that run the prompts of a reception, worked out by hand from the arrivals of eight replicas."""

from __future__ import annotations

from math import exp

import pytest

from clusterspec.cost.formulas.experts import prompts_on_fullest, steps_of_fullest
from clusterspec.cost.serving.waits.prompts import step_ahead
from clusterspec.cost.serving.waits.receptions import LEAST, _reception, _steps_of
from clusterspec.cost.serving.waits.replica_steps import row_of_steps, seconds_of_step
from clusterspec.records import replace
from tests.cost.serving.test_replicas import eight


@pytest.mark.parametrize("each", [0.02, 0.4, 3.0, 9.0])
@pytest.mark.parametrize("budget", [1500, 8192])
def test_the_fullest_replica_decides_the_steps_and_the_mean_the_share(each: float, budget: int) -> None:
    """1.5 or 8.192 prompts of 1,000 tokens fit a step; a replica has some in a step, or as many as come fill steps."""
    pools, steps = eight(budget=budget)
    most = budget / 1000
    some = 1 - exp(-8 * each)
    count = max(1.0, steps_of_fullest(each, 8, most) / some)
    own = min(1.0, max(1 - exp(-each), each / most) / some / count)
    fullest = max(1.0, min(prompts_on_fullest(each, 8) / some / count, most))
    found = _steps_of(pools, each, steps)
    assert found[:2] == pytest.approx((count, own))
    ahead = step_ahead(pools, steps, 0.0)
    assert found[2] == pytest.approx(seconds_of_step(pools, fullest, 8 * each / some / count, ahead))


def test_a_prompt_of_several_steps_is_in_all_of_them() -> None:
    """Three steps a prompt, each of which takes a third of its seconds; one whole prompt fits a step."""
    pools, (decode, prompt) = eight(budget=1500)
    chunked = prompt._replace(steps=3.0, total=0.3, floor=0.0)
    count, own, seconds = _steps_of(pools, 0.4, (decode, chunked))
    some = 1 - exp(-3.2)
    assert count == pytest.approx(max(1.0, steps_of_fullest(0.4, 8, 1) / some) * 3)
    assert own == pytest.approx(min(1.0, max(1 - exp(-0.4), 0.4) / some * 3 / count))
    assert seconds == pytest.approx(chunked.lasting_after(step_ahead(pools, (decode, chunked), 0.0)) / 3)


@pytest.mark.parametrize("follow", [True, False])
def test_prompts_of_an_interval_come_together_and_others_while_they_run(follow: bool) -> None:
    """0.3 prompts a second in intervals of five steps of 10 ms, or in each decode step of 20 ms."""
    pools, steps = eight()
    pools = pools._replace(load=replace(pools.load, receive_interval=5))
    found = _reception(pools, (0.3, 0.02), steps, follow=follow)
    received = 0.3 * 5 * (0.01 / 0.02 if follow else 1.0)
    count, own, longer = _steps_of(pools, received, steps)
    meanwhile = 0.3 * (longer / 0.02 if follow else 1 - own)
    _, further, later = _steps_of(pools, meanwhile, steps)
    some = 1 - exp(-8 * max(LEAST, received))
    after = (1 - exp(-8 * meanwhile)) * row_of_steps(1.0, 8 * meanwhile)
    assert (found.waiting, found.some, found.number, found.longer) == pytest.approx((0.05, some, count, longer))
    assert (found.after, found.later) == pytest.approx((after, later))
    assert found.decoded == pytest.approx(5 + some * (count * (1 - own) + after * (1 - further)))
