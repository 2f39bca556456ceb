"""Small designs with their plans, made once, and records of them with other figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.times import serving_pools
from clusterspec.records import replace
from clusterspec.studies import Study, study_text
from tests.settings import SETTINGS

R = TypeVar("R")
TRAINED = """
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 32}
layout: {framework: megatron-core, tp: 2}
"""
SERVED = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 512, output_tokens: 128, concurrency: 16}}
layout: {framework: vllm, tp: 1}
"""
APART = """
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: serve
  model: llama-3.1-8b
  serving:
    input_tokens: 512
    output_tokens: 128
    request_rate: 4
    disaggregated: {prefill: {replicas: 2, tp: 1}, decode: {replicas: 8, tp: 1}}
layout: {framework: vllm}
"""
REINFORCED = """
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: rl
  model: qwen2.5-7b
  rl:
    prompts_per_step: 64
    samples_per_prompt: 8
    input_tokens: 512
    output_tokens: {mean: 1000, p99: 3000, max: 4096}
    placement: colocated
    rollout: {framework: vllm, tp: 4}
layout: {framework: megatron-core, tp: 2, recompute: full}
"""


@cache
def study_of(text: str) -> Study:
    """The study of a spec without its version."""
    return study_text("clusterspec: 1\nname: test\n" + text.lstrip("\n"), SETTINGS)


def plan_of(text: str) -> Plan:
    return study_of(text).plan


def machine_of(text: str) -> Cluster:
    cluster = study_of(text).design.cluster
    assert cluster is not None
    return cluster


def work_of(text: str) -> Workload:
    workload = study_of(text).design.workload
    assert workload is not None
    return workload


def layout_of(text: str) -> Layout:
    layout = study_of(text).design.layout
    assert layout is not None
    return layout


def times_of(text: str) -> ServingTimes:
    times = plan_of(text).serving
    assert times is not None
    return times


def engines_of(text: str) -> Pools:
    """The engines of a serving plan with their load."""
    found = serving_pools(study_of(text).design)
    assert found is not None
    return found


def with_steps(engine: Engine, steps: Mapping[Any, StepTime]) -> Engine:
    """An engine that has timed these steps of prompts, by tokens, length, busy ranks and decoding sequences."""
    made = replace(engine)
    made.steps.update(steps)
    return made


def changed(record: R, changes: Mapping[str, object]) -> R:
    """A record with other values at fields, named as ``state.prefill.steps``. Raises TypeError or ValueError for a
    field that a record does not have.
    """
    for path, value in changes.items():
        first, _, rest = path.partition(".")
        new: Any = changed(getattr(record, first), {rest: value}) if rest else value
        any_: Any = record
        record = any_._replace(**{first: new}) if isinstance(record, tuple) else replace(any_, **{first: new})
    return record
