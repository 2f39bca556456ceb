"""Measure everything, and print the missed goals."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial

from clusterspec import rules, studies
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.cost.estimate import estimate
from tools.benchmark.editor import keystrokes
from tools.benchmark.processes import print_batch_time, start_up
from tools.benchmark.searches import searches
from tools.benchmark.specs import EIGHT, SPEC


def median(action: Callable[[], object], times: int) -> float:
    """The median seconds of an action, after one run that is not counted."""
    action()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def settings() -> studies.Settings:
    return studies.Settings(Catalog.open(), Config(), date(2026, 11, 20))


def print_step_times() -> None:
    shared = settings()
    text = SPEC.read_text("utf-8")
    one = studies.study_text(text, shared)
    print(f"{'read and resolve':28} {median(lambda: studies.study_text(text, shared), 30) * 1e3:6.2f} ms")
    print(f"{'estimate':28} {median(lambda: estimate(one.design), 30) * 1e3:6.2f} ms")
    assert one.plan  # worked out before the clock runs
    print(f"{'all rules, plan at hand':28} {median(lambda: rules.run_rules(one.facts()), 30) * 1e3:6.2f} ms")


def print_growth() -> None:
    shared = settings()
    seconds = {}
    for nodes in (1, 12_500):
        one = studies.study_text(EIGHT.format(nodes=nodes, batch=64 * nodes), shared)
        seconds[nodes] = median(partial(estimate, one.design), 30)
    ratio = seconds[12_500] / seconds[1]
    print(f"{'estimate on 100,000':28} {seconds[12_500] * 1e3:6.2f} ms  {ratio:5.2f} × the time on eight")


if __name__ == "__main__":
    start_up()
    print_batch_time()
    keystrokes()
    print_step_times()
    print_growth()
    searches(settings())
