"""``make bench``: how fast, in ratios measured in one run, since machines differ.

Start-up is measured with bytecode compiled, against a Python that does nothing and against the
import of jsonschema alone, which any validator in Python pays.
"""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import clusterspec
from clusterspec import pipeline, rules
from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.cost.estimate import estimate

ROOT = Path(__file__).resolve().parents[1]
SPEC = ROOT / "examples" / "dgx-h100-pod.yaml"
EIGHT = """\
clusterspec: 1
name: size
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: {batch}}}
layout: {{tp: 2, micro_batch: 1}}
"""


def median(action: Callable[[], object], times: int) -> float:
    """The median seconds of an action, after one run that is not counted."""
    action()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def process(*words: str) -> Callable[[], object]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return lambda: subprocess.run([sys.executable, *words], check=False, capture_output=True, env=environment)


def start_up() -> None:
    compileall.compile_dir(Path(clusterspec.__file__).parent, quiet=1)
    nothing = median(process("-c", "pass"), 9)
    for name, words in {
        "import jsonschema, yaml": ("-c", "import jsonschema, yaml"),
        "clusterspec convert": ("-m", "clusterspec", "convert", "1 GB"),
        "clusterspec catalog list": ("-m", "clusterspec", "catalog", "list"),
        "clusterspec check": ("-m", "clusterspec", "check", str(SPEC)),
        "clusterspec estimate": ("-m", "clusterspec", "estimate", str(SPEC)),
    }.items():
        seconds = median(process(*words), 9)
        print(f"{name:28} {seconds * 1e3:6.0f} ms  {seconds / nothing:5.1f} × an empty Python")


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


if __name__ == "__main__":
    start_up()
    inside()
    growth()
