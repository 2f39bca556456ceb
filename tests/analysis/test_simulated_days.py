"""The hours of a day, simulated: each has the engines that it needs, and requests wait for those that start late."""

from __future__ import annotations

import pytest

from clusterspec.analysis.simulation.day import simulated_day
from tests.cost.serving.test_day import HOURS, study


def test_each_hour_is_simulated_with_its_engines_and_late_ones_make_requests_wait() -> None:
    hours = HOURS.replace("rate: 3", "rate: 0.3").replace("rate: 24", "rate: 3")
    late = "scaling: {cold_start: 1 min, ahead: 0 s}, targets: {ttft: 3 s}"
    one = study(f"day: [{hours}], {late}", lengths="input_tokens: 8000, output_tokens: 1000")
    planned = one.plan.day
    assert planned is not None
    found = simulated_day(one, 0, 100)
    assert [(each.start, each.end, each.replicas) for each in found] == [
        (each.hours.start, each.hours.end, each.replicas) for each in planned.hours
    ]
    for each, plan in zip(found, planned.hours, strict=True):
        assert each.ttft is not None and each.tpot is not None and plan.times is not None
        assert each.tpot.p50 == pytest.approx(plan.times.tpot, rel=0.15)
        assert each.goodput is not None and each.goodput > 0.95
    busy = next(each for each in found if each.rise is not None)
    assert busy.start == 8 * 60 and busy.rise is not None and busy.ttft is not None and busy.rise.goodput is not None
    assert busy.rise.ttft.p99 > 10 * busy.ttft.p99 and busy.rise.goodput < 0.9
    assert not simulated_day(study("request_rate: 3"), 0, 100)
