"""Shares and spaces that are 1 or 0 in most plans: of indexed layers, of caches, and of the power of racks."""

from __future__ import annotations

import pytest

from clusterspec.cost.compute import sparse_attention
from clusterspec.cost.nameplates import power_draw
from clusterspec.cost.serving.caches import _spare_tokens
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.steady import steady_state
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.spec.model import PowerSpec
from tests.cluster.resolving import clean, cluster_of
from tests.cost.compute.test_kernels import shard


def test_an_index_chooses_keys_in_its_share_of_the_layers() -> None:
    """In half of the layers attention runs over the chosen keys, at the width of latents; in the others over all."""
    whole, _ = shard({"model": "deepseek-v3.2", "sequence_length": 16384}, tp=1, ep=1)
    part = whole.model.sparse
    assert part is not None and sparse_attention.indexed_share(whole, part) == 1
    half = replace(part, layers=whole.model.full_layers // 2)
    share = sparse_attention.indexed_share(whole, half)
    assert 0 < share < 1
    none = replace(part, layers=0)
    some, every, never = (
        sum(kernel.flops for kernel in sparse_attention.index_core(whole, each).forward) for each in (half, part, none)
    )
    assert some == pytest.approx(share * every + (1 - share) * never, rel=1e-9) and every != never
    scores = [
        sum(kernel.flops for kernel in sparse_attention.index_scores(whole, each).forward) for each in (half, part)
    ]
    assert scores[0] == pytest.approx(share * scores[1])


SERVED = """
cluster: {{platform: dgx-h100, nodes: 2}}
workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 2000, output_tokens: 100, {load}}}}}
layout: {{framework: vllm{tp}}}
"""


def test_spare_tokens_are_those_that_running_requests_leave() -> None:
    """A request in flight has its prompt and half of its output; a prefill engine one prompt."""
    pools = bare_pools(clean(SERVED.format(load="concurrency: 8", tp=", tp: 8")))
    assert pools is not None
    now = steady_state(pools, 4.0)
    for sequences, spare in ((4.0, 100_000 - 4 * 2050), (0.0, 100_000), (60.0, 0.0)):
        space = pools._replace(tokens=100_000.0)
        assert _spare_tokens(space, now._replace(sequences=sequences)) == pytest.approx(spare)
    apart = bare_pools(clean(SERVED.format(load="disaggregated: {prefill: {tp: 4}, decode: {tp: 4}}", tp="")))
    assert apart is not None and apart.has_prefill_engines
    for held, spare in ((5000.0, 3000.0), (2000.0, 0.0), (500.0, 0.0)):
        assert _spare_tokens(apart._replace(prompt_tokens=held), now) == spare


def test_a_stated_overhead_of_racks_replaces_that_of_the_machine_as_sold() -> None:
    rack = cluster_of("cluster: {platform: gb200-nvl72, nodes: 36}")
    sold = power_draw(rack, None, None)
    assert (sold.domains, sold.racks, sold.nodes) == (2, 2, 36) and sold.domain_overhead is not None
    assert sold.rack_overhead.value == 0
    stated = power_draw(rack, None, PowerSpec(rack_overhead=Quantity(3e3, "W", "3 kW")))
    assert stated.domain_overhead is None and stated.rack_overhead.value == 3e3
    node = power_draw(cluster_of("cluster: {platform: dgx-h100, nodes: 9}"), None, PowerSpec(nodes_per_rack=4))
    assert (node.domains, node.racks, node.nodes) == (9, 3, 9)
