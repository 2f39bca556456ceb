"""The laws that every serving plan obeys, and what breaks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import ceil
from statistics import fmean, median

from clusterspec.analysis.simulation.outcomes import first_token_seconds
from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.analysis.simulation.traffic import SimulationFault
from clusterspec.cost.serving.latency import ServingTimes
from tools.serving_laws.plans import DrawnPlan, Spec, changed, study_of, times_of

SLACK = 0.01
"""Relative difference below which two figures count as equal."""
AGREEMENT = 0.15
"""Relative difference up to which formulas and simulation agree in light load and in loops."""
LIGHT = 0.1
"""A light load as a share of the highest rate."""
LOADS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Rates at which waits are compared, as shares of the highest one."""
FLIGHTS = (1, 2, 4, 8, 16)
"""Requests in flight for each attention replica at which loops are compared."""
HITS = (0.0, 0.3, 0.6)
SIMULATED, ROUNDS = 400, 4
"""The fewest requests of one simulation, and how often they replace those in flight: an open load reaches its steady
state once the first outputs have ended.
"""
FIGURES = ("ttft", "ttft_mean", "tpot")
Broken = tuple[str, float]
"""Which law is broken, and by how much: the relative difference in the wrong direction."""
Timed = Callable[[Spec], ServingTimes | None]
"""The times of a spec; None if it does not run."""


def broken_laws(plan: DrawnPlan, timed: Timed = times_of, slack: float = SLACK) -> Iterator[Broken]:
    """What a plan, whose specs are ``timed``, breaks by more than ``slack``."""
    for law in (_of_links, _of_hits, _of_loads, _of_flights, _of_memory):
        yield from ((name, size) for name, size in law(plan, timed) if size > slack)


def _rise(name: str, before: ServingTimes | None, after: ServingTimes | None) -> Iterator[Broken]:
    """The latencies that rise from one state to one that is nowhere worse."""
    if before is not None and after is not None:
        for each in FIGURES:
            yield f"{name}: {each} rises", getattr(after, each) / getattr(before, each) - 1


def _of_links(plan: DrawnPlan, timed: Timed) -> Iterator[Broken]:
    """A faster scale-up link never hurts: half and twice the bandwidth of 200 GB/s a direction."""
    loaded = plan.loaded(load="closed", concurrency=4 * plan.replicas)
    slow, fast = (
        timed(changed(loaded, "cluster.scale_up", bandwidth=f"{rate} GB/s unidirectional")) for rate in (100, 400)
    )
    yield from _rise("faster link", slow, fast)


def _of_hits(plan: DrawnPlan, timed: Timed) -> Iterator[Broken]:
    """A higher hit rate of the prefix cache never hurts, at half of the highest rate and in a loop.

    Pipelines are left out: a prompt of two steps passes their stages sooner than a longer one of one step.
    """
    if plan.spec["layout"]["pp"] > 1:
        return
    loops = plan.loaded(load="closed", concurrency=4 * plan.replicas)
    for kind, loaded in (("open", plan.loaded(load="open", request_rate=0.5 * plan.highest)), ("loop", loops)):
        found = [timed(changed(loaded, "workload.serving", prefix_hit=hit)) for hit in HITS]
        for before, after in pairwise(found):
            yield from _rise(f"more hits, {kind}", before, after)


def _of_loads(plan: DrawnPlan, timed: Timed) -> Iterator[Broken]:
    """More load never shortens the mean or the median time to the first token of an open load."""
    found = [timed(plan.loaded(load="open", request_rate=share * plan.highest)) for share in LOADS]
    for before, after in pairwise(found):
        if before is not None and after is not None and not after.queue_grows:
            for each in ("ttft", "ttft_mean"):
                yield f"more load: {each} falls", getattr(before, each) / getattr(after, each) - 1


def _of_flights(plan: DrawnPlan, timed: Timed) -> Iterator[Broken]:
    """More requests in flight never lower the throughput of a loop."""
    found = [timed(plan.loaded(load="closed", concurrency=each * plan.replicas)) for each in FLIGHTS]
    for before, after in pairwise(found):
        if before is not None and after is not None:
            fall = before.output_tokens_per_second / after.output_tokens_per_second - 1
            yield "more in flight: throughput falls", fall


def _of_memory(plan: DrawnPlan, timed: Timed) -> Iterator[Broken]:
    """More memory never lowers the highest concurrency."""
    loaded = plan.loaded(load="closed", concurrency=plan.replicas)
    name = loaded["cluster"]["accelerator"]
    memory = study_of(loaded).design.cluster.accelerator.memory  # type: ignore[union-attr]
    assert memory is not None
    more = {"like": name, "memory": f"{1.25 * memory.value / 1e9:.3f} GB"}
    before, after = timed(loaded), timed(changed(loaded, "cluster", accelerator=more))
    if before is not None and after is not None:
        yield "more memory: concurrency falls", before.kv_capacity_sequences / after.kv_capacity_sequences - 1


def disagreements(plan: DrawnPlan) -> Iterator[tuple[str, float]]:
    """The formulas over the simulation, less one, in light load and in loops, for each figure."""
    loads = {"light": plan.loaded(load="open", request_rate=LIGHT * plan.highest)}
    loads |= {f"loop of {each}": plan.loaded(load="closed", concurrency=each * plan.replicas) for each in (1, 4)}
    for name, spec in loads.items():
        yield from ((f"{name}: {figure}", error) for figure, error in _errors(spec))


def _errors(spec: Spec) -> Iterator[tuple[str, float]]:
    """The formulas over the simulation of a spec, less one."""
    study = study_of(spec)
    found = study.plan.serving if study.plan is not None else None
    if found is None:
        return
    flight = found.state.rate * found.request_latency
    try:
        run = simulated_load(study, requests=max(SIMULATED, ceil(ROUNDS * flight)))
    except SimulationFault:
        return  # no cache holds a whole request
    first = [first_token_seconds(each) for each in run.counted]
    simulated = {"ttft": median(first), "ttft_mean": fmean(first), "tpot": run.latencies["tpot"].p50}
    yield from ((name, getattr(found, name) / seconds - 1) for name, seconds in simulated.items() if seconds)
