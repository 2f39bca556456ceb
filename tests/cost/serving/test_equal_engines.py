"""Laws of designs with equal engines: what differs between them moves no time and no byte."""

from __future__ import annotations

import pytest

from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_with_keys, with_values
from clusterspec.cost.estimate import estimate
from clusterspec.cost.serving.equal_engines import _group_sizes, _have_equal_links, have_equal_engines
from clusterspec.records import replace
from clusterspec.source import Path
from tests.cluster.resolving import clean
from tests.effort import telling

PLAN = """
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload:
  kind: serve
  model: {model}
  precision: bf16
  serving: {{input_tokens: 2048, output_tokens: 256, {load}}}
layout: {{framework: {framework}, tp: {tp}}}
"""
APART = "concurrency: 64, disaggregated: {prefill: {replicas: 2, tp: 4}, decode: {replicas: 2, tp: 4}}"
PLANS = {
    "one node": {"nodes": 1, "model": "llama-3.1-70b", "load": "concurrency: 64", "framework": "vllm", "tp": 8},
    "two nodes": {"nodes": 2, "model": "llama-3.1-405b", "load": "concurrency: 64", "framework": "vllm", "tp": 16},
    "engines apart": {"nodes": 2, "model": "llama-3.1-70b", "load": APART, "framework": "sglang", "tp": 4},
    "rate": {"nodes": 2, "model": "qwen3-30b-a3b", "load": "request_rate: 8", "framework": "sglang", "tp": 2},
}
UNREAD: dict[Path, object] = {
    ("workload", "attention"): "plain",
    ("layout", "order"): ("tp", "cp", "ep", "pp", "dp"),
    ("layout", "sequence_parallel"): True,
    ("layout", "overlap", "dp"): False,
    ("layout", "overlap", "pp"): False,
}
"""Values that no engine reads, of keys that a spec of training states."""
FABRIC: dict[Path, object] = {
    ("cluster", "scale_out", "gpudirect_rdma"): False,
    ("cluster", "scale_out", "in_network_reduction"): True,
}
"""Values of the fabric, which engines within a node do not read."""
READ: dict[Path, object] = {
    ("workload", "kv_precision"): "fp8",
    ("workload", "serving", "captured_graphs"): False,
    ("workload", "serving", "memory_fraction"): 0.5,
    ("layout", "overlap", "ep"): True,
    ("layout", "software_year"): 2024,
    ("cluster", "scale_out", "nics_per_node"): 4,
    ("cluster", "nodes"): 4,
}
"""Values that change a time, the memory, or the number of engines, in some of the plans."""


def design(plan: str) -> Design:
    return clean(PLAN.format(**PLANS[plan]))


@telling(2)
@pytest.mark.parametrize("plan", PLANS)
def test_designs_with_equal_engines_have_equal_times_and_memory(plan: str) -> None:
    base = design(plan)
    expected = estimate(base)
    assert expected.serving is not None
    inside = {} if plan == "two nodes" else FABRIC
    for path, value in (UNREAD | inside).items():
        other = design_with_keys(base, {path: value})
        assert other != base, path
        assert have_equal_engines(expected.design, other), path
        found = estimate(other)
        assert found.serving is not None
        assert (found.serving.tpot, found.serving.ttft) == (expected.serving.tpot, expected.serving.ttft), path
        assert (found.memory_bytes, found.fits) == (expected.memory_bytes, expected.fits), path


@pytest.mark.parametrize("plan", PLANS)
def test_no_engines_are_equal_that_read_another_value(plan: str) -> None:
    base = design(plan)
    for path, value in READ.items():
        assert not have_equal_engines(base, design_with_keys(base, {path: value})), path


def test_no_engines_are_equal_on_accelerators_of_other_memory() -> None:
    base = design("one node")
    assert not have_equal_engines(base, with_values(base, {("cluster", "accelerator", "memory", "value"): 96e9}))


def test_engines_that_leave_a_node_read_its_fabric() -> None:
    base = design("two nodes")
    path: Path = ("cluster", "scale_out", "gpudirect_rdma")
    other = design_with_keys(base, {path: False})
    one, slower = estimate(base).serving, estimate(other).serving
    assert one is not None and slower is not None and slower.tpot > one.tpot
    assert not have_equal_engines(base, other)


def test_a_raised_share_of_the_memory_is_compared_as_it_was_before() -> None:
    text = PLAN.format(**PLANS["one node"] | {"load": "concurrency: 1200"})
    base = clean(text)
    raised = estimate(base).design
    assert raised.workload is not None and base.workload is not None
    assert raised.workload.serving != base.workload.serving
    assert have_equal_engines(raised, base)
    stated = clean(text.replace("1200", "1200, memory_fraction: 0.95"))
    assert not have_equal_engines(raised, stated)
    assert not have_equal_engines(stated, clean(text.replace("1200", "1200, memory_fraction: 0.9")))


def test_designs_that_train_are_not_compared() -> None:
    training = clean("""cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 128}
""")
    assert not have_equal_engines(training, training)
    assert have_equal_engines(design("rate"), design("rate"))


def test_groups_of_an_engine_are_its_tensor_parallel_ranks_its_replicas_and_its_stages() -> None:
    """2 ranks, 2 × 4 of all replicas of attention and 2 × 4 × 3 of all stages; those of prefill engines as well."""
    one = design("engines apart")
    assert one.layout is not None
    assert _group_sizes(one) == {4}
    whole = design("two nodes")
    assert whole.layout is not None and whole.workload is not None
    cut = replace(whole, layout=replace(whole.layout, tp=2, attention_dp=4, pp=3))
    assert _group_sizes(cut) == {2, 8, 24}
    assert _group_sizes(replace(whole, layout=replace(whole.layout, tp=1, attention_dp=1, pp=1))) == set()


def test_links_are_equal_where_those_of_all_groups_are() -> None:
    """Four nodes with and without RDMA from the memory of accelerators: alike inside a node, unlike across."""
    one = design("two nodes")
    other = design_with_keys(one, {("cluster", "scale_out", "gpudirect_rdma"): False})
    assert one.cluster is not None and other.cluster is not None
    for sizes, equal in (({8}, True), ({16}, False), ({8, 16}, False), (set(), True)):
        assert _have_equal_links((one.cluster, other.cluster), frozenset(sizes)) is equal, sizes
