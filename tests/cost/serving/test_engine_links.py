"""Links of engines by hand: those of an exchange inside a domain and between domains, and one between two machines."""

from __future__ import annotations

from math import inf

import pytest

from clusterspec.cluster.sites import PoolLink
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.explain import prefill_step_term
from clusterspec.cost.serving.handoff import link_seconds, linked_transfers, side_transfers
from clusterspec.cost.serving.parts.experts import exchange_parts
from clusterspec.cost.serving.plan_engines import bare_pools, pools_with_link
from clusterspec.cost.serving.targets import meets_targets, target_result
from clusterspec.records import replace
from tests.cost.serving.test_handoff import plan, times
from tests.cost.serving.test_steps import engine


def test_an_exchange_uses_the_links_of_a_domain_until_it_has_several() -> None:
    """Inside a node NVLink carries it, at its share of the line; from two nodes on the NICs do, at theirs."""
    for nodes in (1, 2):
        wide = engine("deepseek-v3", f"tp: 1, attention_dp: {8 * nodes}, ep: {8 * nodes}", nodes=nodes)
        links = wide.exchange_links
        assert links is not None and links.domains == nodes
        assert (
            links.between == (inf if nodes == 1 else 50e9 * 15 / 8) and links.inside == 450e9
        )  # 8 of 15 peers are away
        single = wide.rates.single
        if nodes == 1:
            line = links.inside * single.get("exchange.line", constants.EXCHANGE_LINE.value)
        else:
            line = links.between * single.get("exchange.network", constants.NETWORK.value)
        (part,) = exchange_parts(wide, 64.0, 8.0 * nodes)
        assert part.numbers["bandwidth"] == pytest.approx(line)
        assert exchange_parts(replace(wide, exchange_links=None), 64.0, 8.0) == ()
    assert exchange_parts(engine(), 64.0, 1.0) == ()


@pytest.mark.parametrize(("platform", "ranks"), [("dgx-a100", 8), ("dgx-h100", 4), ("dgx-h200", 8), ("dgx-b200", 8)])
def test_large_all_reduces_of_engines_take_as_long_as_those_of_the_collective_library(
    platform: str, ranks: int
) -> None:
    """32 MB: custom kernels end below, so that engines run the library, whose times other logs gave. A table whose
    sizes are read in elements of 16 bits instead of bytes is a factor of two off.
    """
    found = engine("llama-3.1-70b", f"tp: {ranks}", platform=platform)
    assert found.tensor_links is not None and found.tensor_links.direct
    size = 32 * 2**20 * (1 - 1e-9)
    table = found.rates.all_reduce_seconds(ranks, size, found.tensor_links.inside)
    assert table == pytest.approx(found.tensor_links.library_all_reduce_seconds(size), rel=0.25)


def test_a_link_between_two_machines_is_shared_by_the_ranks_that_send_over_it() -> None:
    """The caches of three prefill engines pass the link one after another, each at its whole rate."""
    found = bare_pools(plan().design)
    assert found is not None and found.has_prefill_engines
    pools = found._replace(prompts=found.prompts.times(3))
    layouts = pools.prompts.layout, pools.decode.layout
    clusters = pools.prompts.cluster, pools.decode.cluster
    for total, limited in ((1e15, False), (1e9, True)):
        link = PoolLink(total, inf, 0.02)
        found = pools_with_link(pools, link)
        sides = linked_transfers(clusters, pools.decode.workload, layouts, 8000.0, link)
        whole = 3 * link_seconds(pools.decode.workload, layouts[0], 8000.0, link)
        assert found.transfer == (max(sides[0].seconds, whole), sides[1].seconds)
        assert (found.transfer[0] == whole) is limited and found.link is link
        assert found.sent is not None and found.sent.seconds == max(side.seconds for side in sides)


def test_a_cache_is_sent_over_the_links_of_one_machine_or_over_none() -> None:
    """Three nodes: the rank's NIC of 50 GB/s; one domain of all: the link of NVLink; without either, no transfer."""
    design = plan().design
    assert design.cluster is not None and design.workload is not None and design.layout is not None
    both = design.layout, design.layout
    sides = side_transfers(design.cluster, design.workload, both, 8000.0)
    assert sides is not None and sides[0].bandwidth == pytest.approx(0.8 * 50e9)
    scale_up = replace(design.cluster.scale_up, domain=design.cluster.accelerators)
    one = side_transfers(replace(design.cluster, scale_up=scale_up), design.workload, both, 8000.0)
    assert one is not None and one[0].bandwidth == pytest.approx(0.8 * scale_up.peer_bandwidth.value)
    assert side_transfers(replace(design.cluster, scale_out=None), design.workload, both, 8000.0) is None


def test_two_ranks_of_an_accelerator_share_its_links() -> None:
    design = plan().design
    assert design.cluster is not None and design.workload is not None and design.layout is not None
    halves = replace(design.cluster, ranks_per_accelerator=2)
    for link, whole in ((PoolLink(1e15, inf, 0.0), 50e9), (PoolLink(1e15, 80e9, 0.0), 10e9)):
        both = design.layout, design.layout
        (side, _) = linked_transfers((halves, halves), design.workload, both, 8000.0, link)
        (one, _) = linked_transfers((design.cluster,) * 2, design.workload, both, 8000.0, link)
        assert one.bandwidth == pytest.approx(0.8 * whole) and side.bandwidth == pytest.approx(0.4 * whole)
    sides = side_transfers(halves, design.workload, (design.layout, design.layout), 8000.0)
    assert sides is not None and sides[0].bandwidth == sides[1].bandwidth == pytest.approx(0.4 * 50e9)


def test_the_step_of_a_prompt_is_told_where_its_term_lies() -> None:
    found = times()
    term, place = prefill_step_term(found)
    assert place == ".parts[0].parts[0]" and term.value == pytest.approx(found.prefill.total / found.prefill.steps)
    varied = replace(found, typical_prompt=0.5)
    term, place = prefill_step_term(varied)
    assert place == ".parts[0].parts[0].parts[0]"
    assert term.value == pytest.approx(found.prefill.total / found.prefill.steps)


def test_a_target_is_met_by_a_latency_of_as_much_and_missed_by_a_longer_one() -> None:
    found = times()
    load = plan().design.workload.serving  # type: ignore[union-attr]
    assert load is not None
    median = next(one for one in load.targets if one.quantity == "ttft")._replace(percentile=50.0)
    first = target_result(found, load, median)
    assert first.target is median and first.seconds == pytest.approx(found.ttft)
    for seconds, met in ((first.seconds, True), (first.seconds * (1 - 1e-6), False)):
        aimed = replace(load, targets=(median._replace(seconds=seconds),))
        assert meets_targets(found, aimed) is met
    assert meets_targets(found, replace(load, targets=()))
