"""Jobs small enough that every layout can be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

from clusterspec import studies
from clusterspec.analysis.searches.studied import Choice, Family, SearchJob, job_of
from clusterspec.cluster.model import Design

DENSE = """
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 32}
layout: {framework: megatron-core, tp: 2}
"""
EXPERT = """
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 16}
layout: {framework: megatron-core, tp: 2, ep: 4}
"""
SHARDED = """
cluster: {platform: dgx-a100, nodes: 2}
workload: {model: llama-2-7b, sequence_length: 4096, global_batch: 32}
layout: {framework: torchtitan}
"""
TORUS = """
cluster: {platform: tpu-v5p, nodes: 4}
workload: {model: llama-2-7b, sequence_length: 4096, global_batch: 32}
layout: {framework: maxtext}
"""
UNEVEN = """
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.2-3b, sequence_length: 4096, global_batch: 16}
layout: {framework: megatron-core, tp: 2}
"""
JOBS = {"dense": DENSE, "expert": EXPERT, "sharded": SHARDED, "torus": TORUS, "uneven": UNEVEN}


@cache
def settings() -> studies.Settings:
    """Those of the folder, with one catalog for all tests."""
    return studies.Settings.from_folder(Path(__file__).parent)


def study_of(text: str) -> studies.Study:
    return studies.study_text("clusterspec: 1\nname: test\n" + text.lstrip("\n"), settings())


def design_of(text: str) -> Design:
    return study_of(text).design


def job(text: str) -> SearchJob:
    found = job_of(design_of(text))
    assert found is not None
    return found


def choices(family: Family) -> Iterator[Choice]:
    """The layouts of a family, in the order of their numbers."""
    for chosen in product(family.pipelines, family.shardings, family.recompute, family.orders):
        yield Choice(family, *chosen)
