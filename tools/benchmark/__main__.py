"""Measures everything, and prints what is missed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial

from clusterspec import pipeline, rules
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.cost.estimate import estimate
from clusterspec.search.evaluate import evaluation
from clusterspec.search.space import SearchJob, Space, families
from tools.benchmark.editor import keystrokes
from tools.benchmark.processes import many, start_up
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


def settings() -> pipeline.Settings:
    return pipeline.Settings(Catalog.open(), Config(), date(2026, 11, 20))


def inside() -> None:
    shared = settings()
    text = SPEC.read_text("utf-8")
    one = pipeline.study_text(text, shared)
    print(f"{'read and resolve':28} {median(lambda: pipeline.study_text(text, shared), 30) * 1e3:6.2f} ms")
    print(f"{'estimate':28} {median(lambda: estimate(one.design), 30) * 1e3:6.2f} ms")
    assert one.plan  # worked out before the clock runs
    print(f"{'all rules, plan at hand':28} {median(lambda: rules.judge(one.facts()), 30) * 1e3:6.2f} ms")


def growth() -> None:
    shared = settings()
    seconds = {}
    for nodes in (1, 12_500):
        one = pipeline.study_text(EIGHT.format(nodes=nodes, batch=64 * nodes), shared)
        seconds[nodes] = median(partial(estimate, one.design), 30)
    ratio = seconds[12_500] / seconds[1]
    print(f"{'estimate on 100,000':28} {seconds[12_500] * 1e3:6.2f} ms  {ratio:5.2f} × the time on eight")


JOBS = {
    "llama-3.1-70b on 256": ("llama-3.1-70b", 32, 2048),
    "deepseek-v3 on 2,048": ("deepseek-v3", 256, 4096),
    "gpt3-175b on 4,096": ("gpt3-175b", 512, 4096),
}
SEARCHED = """\
clusterspec: 1
name: space
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload: {{model: {model}, sequence_length: 4096, global_batch: {batch}}}
layout: {{framework: megatron-core, tp: 1, micro_batch: 1}}
"""


def searches() -> None:
    """Every layout of a job with time and memory, on one core: with empty tables, and again with full ones."""
    shared = settings()
    for name, (model, nodes, batch) in JOBS.items():
        design = pipeline.study_text(SEARCHED.format(model=model, nodes=nodes, batch=batch), shared).design
        assert design.cluster and design.workload and design.layout
        job = SearchJob(design.cluster, design.workload, design.layout)
        space, evaluate = Space(tuple(families(job))), evaluation(design, job)
        spent = []
        for _ in range(2):
            start = time.process_time()
            layouts = sum(len(block.number) for block in evaluate(space))
            spent.append(time.process_time() - start)
        rate, filling = layouts / spent[1], spent[0] - spent[1]
        print(f"{name:28} {layouts:>10,} layouts  {rate / 1e6:5.2f} million a second  tables filled in {filling:.1f} s")


if __name__ == "__main__":
    start_up()
    many()
    keystrokes()
    inside()
    growth()
    searches()
