"""The hours of a serving plan's day, each simulated with the engines that the hour needs, and the load increases to
which engines are added too late.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.analysis.simulation.arrivals import drawn_times
from clusterspec.analysis.simulation.outcomes import (
    first_token_seconds,
    percentiles,
    share_within_targets,
    simulated_targets,
    token_percentiles,
)
from clusterspec.analysis.simulation.plans import LateEngines, Simulation, Timing, plan_timing
from clusterspec.analysis.simulation.traffic import plan_traffic, steady_flight
from clusterspec.cost.serving.day import HourPlan, LateStart, day_plan
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools, cache_handoff
from clusterspec.cost.serving.times import pools_with_engines
from clusterspec.results.simulation import SimulatedHours, SimulatedRise
from clusterspec.studies import Study

MOST_HOUR = 5_000
"""Largest number of requests of the hours with one load."""
MOST_RISE = 50_000
"""Largest number of requests after a rise of the load."""
BEFORE = 0.2
"""Requests before a rise divided by requests after it."""


def simulated_day(study: Study, seed: int, requests: int | None) -> tuple[SimulatedHours, ...]:
    """The hours of a day; empty if the spec states none.

    Hours with the same load and engines are simulated once. Conversations have the hits of the formulas.
    """
    pools, day = bare_pools(study.design), day_plan(study.design)
    if pools is None or day is None:
        return ()
    late = {each.minute: each for each in day.late}
    known: dict[float, SimulatedHours] = {}
    found = []
    for before, plan in zip((day.hours[-1], *day.hours[:-1]), day.hours, strict=True):
        if plan.hours.rate not in known:
            known[plan.hours.rate] = _simulated_hours(pools, plan, seed, min(MOST_HOUR, requests or MOST_HOUR))
        start, end = plan.hours.start, plan.hours.end
        rise = _simulated_rise(pools, (before, plan), late[start], seed) if start in late else None
        found.append(known[plan.hours.rate]._replace(start=start, end=end, rise=rise))
    return tuple(found)


def _simulated_hours(pools: Pools, plan: HourPlan, seed: int, requests: int) -> SimulatedHours:
    """Hours with one load; without figures where there are no requests or no engines."""
    bare = SimulatedHours(0, 0, plan.hours.rate, plan.prefill, plan.replicas, plan.accelerators)
    if plan.times is None:
        return bare
    own, timing = _plan_of_hour(pools, plan)
    flight = steady_flight(own, plan.times)
    traffic = plan_traffic(own.load, seed, max(requests, ceil(5 * flight)), None, flight)
    run = Simulation(timing, traffic.arrivals)
    run.run()
    counted = traffic.counted_requests(run.requests)
    return bare._replace(
        requests=len(counted),
        ttft=percentiles([first_token_seconds(each) for each in counted]),
        tpot=token_percentiles(counted),
        end_to_end=percentiles([each.ended - each.arrival for each in counted]),
        goodput=share_within_targets(counted, own.load),
        targets=tuple(simulated_targets(counted, run.gaps, own.load)),
    )


def _plan_of_hour(pools: Pools, plan: HourPlan) -> tuple[Pools, Timing]:
    """The engines that an hour's load needs, and their timing."""
    assert plan.times is not None
    own, _ = pools_with_engines(pools, (plan.prefill, plan.replicas), plan.hours.rate)
    sent = cache_handoff(own, plan.times.prompt_time, plan.times.prefill.steps)
    return own, plan_timing(own, own.tokens, sent)


def _simulated_rise(pools: Pools, sides: tuple[HourPlan, HourPlan], late: LateStart, seed: int) -> SimulatedRise | None:
    """The simulated requests after a rise of the load, until the queue is empty or the hours end; None if the load then
    has no times.
    """
    before, now = sides
    if now.times is None:
        return None
    own, timing = _plan_of_hour(pools, now)
    seconds = min(late.drained or 1e9, (now.hours.end - now.hours.start) * 60.0, MOST_RISE / now.hours.rate)
    lead = BEFORE * seconds if before.times is not None else 0.0
    times = [
        *_arrival_times(seed, before.hours.rate, lead, 0.0),
        *_arrival_times(seed + 1, now.hours.rate, seconds, lead),
    ]
    if not times:
        return None
    traffic = plan_traffic(own.load, seed, len(times), None)
    arrivals = [each._replace(time=time) for each, time in zip(traffic.arrivals, times, strict=True)]
    run = Simulation(timing, arrivals, late=LateEngines(before.prefill, before.replicas, lead + late.late))
    run.run()
    counted = [each for each in run.requests if each.arrival >= lead]
    if not counted:
        return None
    ttft = percentiles([first_token_seconds(each) for each in counted])
    return SimulatedRise(late.late, len(counted), seconds, ttft, share_within_targets(counted, own.load))


def _arrival_times(seed: int, rate: float, seconds: float, start: float) -> Iterator[float]:
    """Times of Poisson arrivals within some seconds from a start."""
    count = ceil(2 * rate * seconds + 100) if rate and seconds else 0
    return (start + time for time in drawn_times(seed, count, rate, 1.0) if time < seconds) if count else iter(())
