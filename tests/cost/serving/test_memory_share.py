"""A default share of the memory that requests raise is one value: in the plan, its memory, its assumptions, the launch
of its engines, and the same spec with the share written out.
"""

from __future__ import annotations

import re

import pytest

from clusterspec.cost.plan import Plan
from clusterspec.exchange.exporters.registry import EXPORTERS, ExportInput
from clusterspec.library import load
from clusterspec.report.estimate_text import cache_extent
from clusterspec.results.estimate_json import estimate_fields
from tests.analysis.jobs import study_of
from tests.effort import telling

KEY = "workload.serving.memory_fraction"
SPEC = """
cluster: {{platform: dgx-b200, nodes: 2}}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: fp8
  serving: {{input_tokens: 2000, output_tokens: 500, {load}}}
layout: {{framework: {framework}, tp: 4}}
"""
TOKEN = 327_680
"""Bytes of the cache of a token of Llama 3.1 70B in 16 bits: 2 · 80 layers · 8 heads · 128 · 2 bytes."""
FLAGS = {"vllm": "--gpu-memory-utilization", "sglang": "--mem-fraction-static"}


def planned(load: str, framework: str = "vllm") -> Plan:
    return study_of(SPEC.format(load=load, framework=framework)).plan


def launched_share(plan: Plan, framework: str) -> float:
    """The share of the memory in the launch of an engine."""
    exporter = next(each for each in EXPORTERS if each.name == framework)
    found = re.search(rf"{FLAGS[framework]} ([0-9.]+)", str(exporter.write(ExportInput(plan.design)).content))
    assert found is not None
    return float(found[1])


@telling(2)
@pytest.mark.parametrize(
    ("load", "share"),
    [
        ("request_rate: 20", 0.9),
        ("request_rate: 53.8", 0.93),  # 669 on each of 4 engines, 747 with 3 standard deviations, and 718 fit 0.9
        ("request_rate: 60", 0.95),
        ("concurrency: 2800", 0.9),  # 2,871 fit 0.9
        ("concurrency: 2872", 0.91),
        ("concurrency: 3000", 0.94),  # 750 an engine, 717.75 fit 0.9: 32.25 · 184.3 MB more of 192.6 GB are 3.1 %
        ("concurrency: 3200", 0.95),
        ("concurrency: 3200, memory_fraction: 0.9", 0.9),
        ("concurrency: 3200, memory_fraction: 0.97", 0.97),
    ],
)
@pytest.mark.parametrize("framework", ["vllm", "sglang"])
def test_a_raised_share_of_the_memory_is_one_value(load: str, share: float, framework: str) -> None:
    plan = planned(load, framework)
    work = plan.design.workload
    assert work is not None and work.serving is not None and plan.stored is not None and plan.serving is not None
    if framework == "vllm":  # SGLang keeps other buffers
        assert work.serving.memory_fraction == share
    share = work.serving.memory_fraction
    assumed = {key: value for key, value, _ in plan.assumptions}
    assert assumed.get(KEY, share) == share and (KEY in assumed) is ("memory_fraction" not in load)
    assert launched_share(plan, framework) == share
    if "request_rate" in load:
        assert f"all memory up to memory_fraction {share:g}," in cache_extent(plan)
    memory = plan.stored.capacity
    assert memory is not None and plan.design.cluster is not None
    whole = plan.design.cluster.accelerator.memory
    assert whole is not None and memory.value == pytest.approx(share * whole.value)
    held = plan.serving.kv_capacity_tokens * TOKEN / 16  # on each of 16 ranks
    counted = sum(line.value for line in plan.stored.rank.activations)
    if "request_rate" in load or plan.serving.offered > plan.serving.kv_capacity_sequences:
        assert held == pytest.approx(counted, rel=0.02)  # buffers are counted twice, within 2 GB


@telling(1)
@pytest.mark.parametrize("load", ["request_rate: 54", "request_rate: 60", "concurrency: 3000", "concurrency: 6000"])
def test_a_raised_share_that_is_written_changes_no_figure(load: str) -> None:
    """Neither of memory nor of times."""
    assumed = planned(load)
    share = next(value for key, value, _ in assumed.assumptions if key == KEY)
    written = planned(f"{load}, memory_fraction: {share:g}")
    one, other = (estimate_fields(each, None) for each in (assumed, written))
    for key in ("memory", "serving"):
        for name, value in one[key].items():
            if name not in {"max_concurrency"}:  # a share that may rise holds more of another load
                assert other[key][name] == value, (key, name)


def test_the_reason_of_a_raised_share_names_the_default_and_its_limit() -> None:
    rates = ("request_rate: 20", "request_rate: 54")
    default, raised = ({key: why for key, _, why in planned(rate).assumptions}[KEY] for rate in rates)
    named = default.removesuffix(", up to 0.95 if the requests in flight need more")
    assert named.startswith("the default of vLLM") and named != default
    assert raised == f"raised from 0.9, {named}, for the requests in flight, up to 0.95"


def test_a_design_lists_the_share_of_its_own_load() -> None:
    """The same design with a lower rate has the default again."""
    design = load("clusterspec: 1" + SPEC.format(load="request_rate: 60", framework="vllm"))
    designs = (design, design.with_workload(serving={"request_rate": 20.0}))
    assert [dict(each[:2] for each in one.assumptions)[KEY] for one in designs] == [0.95, 0.9]
