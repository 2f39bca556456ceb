"""``make bench``: how fast, in ratios measured in one run, since machines differ.

Start-up is measured with bytecode compiled, against a Python that does nothing and against yamllint and
check-jsonschema, the public tools that read the same spec (the extra ``bench``).
"""

from __future__ import annotations

import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
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
from clusterspec.search.evaluate import evaluation
from clusterspec.search.space import SearchJob, Space, families

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


CLEAN = EIGHT.format(nodes=4, batch=256)
FLAWED = CLEAN.replace("tp: 2", "tp: 3")
BARE, CHECK = "an empty Python", "clusterspec check"
RATIOS = (
    (CHECK, "yamllint", 1.2),
    (CHECK, "check-jsonschema", 0.3),
    ("clusterspec check, failing", CHECK, 1.5),
    ("clusterspec --version", BARE, 2.5),
    ("clusterspec --help", BARE, 2.5),
)
"""What is compared with what, and the ratio to reach."""


def start_up() -> None:
    """Processor seconds of whole processes, bytecode compiled, beside the public tools on the same spec."""
    compileall.compile_dir(Path(clusterspec.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        clean, flawed = Path(folder) / "clean.yaml", Path(folder) / "flawed.yaml"
        clean.write_text(CLEAN)
        flawed.write_text(FLAWED)
        tools = Path(sys.executable).parent
        schema = str(ROOT / "schemas" / "spec.schema.json")
        ours = (sys.executable, "-m", "clusterspec")
        commands = {
            "an empty Python": (sys.executable, "-c", "pass"),
            "yamllint": (str(tools / "yamllint"), "-d", "relaxed", str(clean)),
            "check-jsonschema": (str(tools / "check-jsonschema"), "--schemafile", schema, str(clean)),
            "clusterspec --version": (*ours, "--version"),
            "clusterspec --help": (*ours, "--help"),
            "clusterspec check": (*ours, "check", str(clean)),
            "clusterspec check, failing": (*ours, "check", str(flawed)),
            "clusterspec estimate": (*ours, "estimate", str(SPEC)),
        }
        commands = {name: words for name, words in commands.items() if Path(words[0]).exists()}
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(11):  # in turn, so that all meet the same noise
            for name, words in commands.items():
                seconds[name].append(processor_seconds(*words))
    found = {name: statistics.median(times) for name, times in seconds.items()}
    for name, time_ in found.items():
        print(f"{name:28} {time_ * 1e3:6.0f} ms")
    for one, other, limit in RATIOS:
        if one in found and other in found:
            ratio = found[one] / found[other]
            print(f"{one} / {other}: {ratio:.2f} (to reach: {limit}){'' if ratio <= limit else '  missed'}")


def processor_seconds(*words: str) -> float:
    """The processor seconds of one process and its children."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=False, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    inside()
    growth()
    searches()
