"""Searches of whole spaces on one core: enumeration, tables, rate, and all together."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from clusterspec import studies
from clusterspec.analysis.searches.space.families import families
from clusterspec.analysis.searches.space.run import Limits, search
from clusterspec.analysis.searches.space.searches import evaluation
from clusterspec.analysis.searches.studied import SearchJob, Space

T = TypeVar("T")


class Searched(NamedTuple):
    """A model on so many nodes with a global batch, and the most processor seconds that its whole search may take; None
    where there is no goal.
    """

    model: str
    nodes: int
    batch: int
    whole: float | None = None


JOBS = {
    "llama-3.1-70b on 256": Searched("llama-3.1-70b", 32, 2048),
    "gpt3-175b on 4,096": Searched("gpt3-175b", 512, 4096, whole=8.0),
    "deepseek-v3 on 2,048": Searched("deepseek-v3", 256, 4096),
    "qwen3-235b-a22b on 512": Searched("qwen3-235b-a22b", 64, 2048),
    "qwen3-next-80b-a3b on 256": Searched("qwen3-next-80b-a3b", 32, 2048),
    "nemotron-3-super on 256": Searched("nemotron-3-super", 32, 2048),
}
"""GPT-3 may take 4 s on two cores."""
RATE = 2e6
"""Layouts a second and core with time and memory, to reach."""
FILLED = 3.0
"""Seconds to fill the tables of two million layouts, at most."""
SPEC = """\
clusterspec: 1
name: space
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload: {{model: {model}, sequence_length: 4096, global_batch: {batch}}}
layout: {{framework: megatron-core, tp: 1, micro_batch: 1}}
"""


def searches(settings: studies.Settings) -> None:
    """Prints the searches side by side, in processor seconds."""
    columns = ("layouts", "million/s", "enumeration", "tables", "whole search")
    print(f"{'':28}" + "".join(f"{name:>14}" for name in columns))
    for name, job in JOBS.items():
        spec = SPEC.format(model=job.model, nodes=job.nodes, batch=job.batch)
        found, missed = row_and_missed_goals(studies.study_text(spec, settings), job)
        print(f"{name:28}" + "".join(f"{text:>14}" for text in found) + "".join(f"  {each}: missed" for each in missed))


def row_and_missed_goals(study: studies.Study, goals: Searched) -> tuple[list[str], list[str]]:
    """One row, and the goals that are missed."""
    design = study.design
    assert design.cluster and design.workload and design.layout
    job = SearchJob(design.cluster, design.workload, design.layout)
    space, enumeration = timed_result(lambda: Space(tuple(families(job))))
    evaluate = evaluation(design, job)
    memory = job.cluster.accelerator.memory
    limits = Limits(memory.value if memory else None)
    _, first = timed_result(lambda: search(space, evaluate, limits, top=5))
    _, second = timed_result(lambda: search(space, evaluate, limits, top=5))
    layouts, again = timed_result(lambda: sum(len(block.number) for block in evaluate(space)))
    tables, whole = first - second, enumeration + first
    missed = {
        "rate": layouts / again < RATE,
        "tables": tables > FILLED * max(1.0, layouts / 2e6),
        "whole search": goals.whole is not None and whole > goals.whole,
    }
    figures = [
        f"{layouts:,}",
        f"{layouts / again / 1e6:.1f}",
        f"{enumeration:.2f} s",
        f"{tables:.2f} s",
        f"{whole:.2f} s",
    ]
    return figures, [goal for goal, is_missed in missed.items() if is_missed]


def timed_result(action: Callable[[], T]) -> tuple[T, float]:
    """The result of an action, and its processor seconds."""
    start = time.process_time()
    found = action()
    return found, time.process_time() - start
