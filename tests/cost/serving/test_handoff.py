"""The handoff of a prompt's cache: bytes, descriptors, overlap with prefill, and what the first token waits for."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from pathlib import Path

import pytest

from clusterspec.cluster.sites import PoolLink
from clusterspec.cost.serving.handoff import (
    CacheTransfer,
    Handoff,
    link_seconds,
    linked_transfers,
    request_cache_bytes,
    side_transfers,
    slower_transfer,
)
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.times import pools_with_engines, serving_pools, serving_times
from clusterspec.records import replace
from clusterspec.studies import Settings, Study, study_text

SPEC = """\
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 3
  scale_out: {{nics_per_node: 8, nic_bandwidth: {nic} Gb/s}}
workload:
  kind: serve
  model: {model}
  serving:
    input_tokens: 8000
    output_tokens: {output}
    {load}
    chunk_tokens: 2000
    targets: {{ttft: 5 s, itl: {{p99: 1 s}}}}
    disaggregated: {{prefill: {{replicas: 1, tp: 8}}, decode: {{replicas: 2, tp: {decode}}}, transfer: {{{transfer}}}}}
layout: {{framework: vllm}}
"""


def plan(transfer: str = "", **changes: object) -> Study:
    base: dict[str, object] = {
        "nic": 400,
        "model": "llama-3.1-70b",
        "output": 101,
        "load": "concurrency: 8",
        "decode": 8,
    }
    return study_text(SPEC.format(**(base | changes), transfer=transfer), Settings.from_folder(Path.cwd()))


def times(transfer: str = "", **changes: object) -> ServingTimes:
    found = serving_times(plan(transfer, **changes).design)
    assert found is not None
    return found


def moved(transfer: str, **changes: object) -> CacheTransfer:
    sent = times(transfer, **changes).sent
    assert sent is not None
    return sent.transfer


def test_each_block_of_keys_and_of_values_in_each_layer_is_a_descriptor() -> None:
    # 8,000 tokens are 500 blocks of 16, for keys and for values of 80 layers; latent attention keeps one run a layer
    assert moved("block_tokens: 16").descriptors == 500 * 2 * 80
    assert moved("block_tokens: 64", model="deepseek-v3").descriptors == 125 * 61
    # eight shards of the heads sent to engines of four: a sender has one part, a receiver two, of each block
    assert moved("block_tokens: 16", decode=4).descriptors == 2 * 500 * 2 * 80
    # 80,000 of 1.4 µs take longer than 328 MB at 0.8 × 50 GB/s; those of 256 tokens do not
    assert moved("block_tokens: 16").seconds == pytest.approx(80_000 * 1.4e-6)
    size = 327_680 * 8000 / 8
    assert moved("block_tokens: 256").seconds == pytest.approx(size / 40e9)
    assert moved("").seconds == pytest.approx(size / 40e9)
    assert moved("bandwidth: 100 Gb/s").seconds == pytest.approx(size / (0.8 * 12.5e9))


def test_the_ranks_of_an_engine_send_its_cache_once_between_them() -> None:
    """8,000 tokens of 327,680 B, by 8 shards of the heads or by stages: on one machine, and on two with a link."""
    one = plan().design
    assert one.cluster is not None and one.workload is not None and one.layout is not None
    layouts = [replace(one.layout, tp=tp, pp=pp) for tp, pp in ((8, 1), (4, 2), (2, 1), (1, 4))]
    for own, other in pairwise([*layouts, layouts[0]]):
        here = side_transfers(one.cluster, one.workload, (own, other), 8000.0)
        away = linked_transfers((one.cluster, one.cluster), one.workload, (own, other), 8000.0, PoolLink(1e9, 1e9, 0.0))
        assert here is not None
        for sent, received in (here, away):
            assert sent.size * own.tp * own.pp == received.size * other.tp * other.pp == 327_680 * 8000


def test_a_cache_sent_in_parts_overlaps_with_its_prompt() -> None:
    found = {send: times(f"send: {send}", nic=100) for send in ("whole", "chunk", "layer")}
    sent = {send: each.sent for send, each in found.items()}
    whole, chunk, layer = (sent[send] for send in ("whole", "chunk", "layer"))
    assert whole and chunk and layer
    assert (whole.pieces, chunk.pieces, layer.pieces) == (1, 4, 80)
    link = whole.transfer.seconds
    assert link < found["whole"].prompt_time  # so that only the last part is exposed
    assert [each.seconds - 0.06 for each in (whole, chunk, layer)] == pytest.approx([link, link / 4, link / 80])
    assert layer.hidden_seconds == pytest.approx(link * 79 / 80)
    # a link slower than the prompt exposes what it has not sent: 1 s of transfer, of which half a second overlaps
    slow = Handoff(0.0, CacheTransfer(1e9, 1e9), pieces=10, computing=0.5)
    assert slow.seconds == pytest.approx(1 - 0.45)


def test_a_first_token_sent_before_the_transfer_moves_it_to_the_first_gap() -> None:
    after, before = times(nic=25), times("first_token: prefill", nic=25)
    assert after.sent is not None and before.handoff == after.handoff
    joining = after.handoff + 0.5 * after.tpot
    assert before.ttft == pytest.approx(after.ttft - joining)
    assert before.tpot == pytest.approx(after.tpot + joining / 100)
    assert before.request_latency == pytest.approx(after.request_latency)
    for found, first_gap in ((after, 0.0), (before, joining)):
        load = plan().design.workload.serving  # type: ignore[union-attr]
        assert load is not None
        # one gap in a hundred is the first of its request
        assert latency_at(found, load, "itl", 99.5) == pytest.approx(found.decode.total + first_gap)
        assert latency_at(found, load, "itl", 98.0) == pytest.approx(found.decode.total)


def test_a_faster_link_and_larger_blocks_never_hurt() -> None:
    for transfer, load in (
        ("", "concurrency: 64"),
        ("send: layer", "request_rate: 2"),
        ("block_tokens: 16, send: chunk, first_token: prefill", "concurrency: 64"),
    ):
        by_link = [times(transfer, nic=nic, load=load) for nic in (10, 50, 400)]
        for slow, fast in pairwise(by_link):
            assert fast.request_latency <= slow.request_latency * (1 + 1e-9)
            assert fast.output_tokens_per_second >= slow.output_tokens_per_second * (1 - 1e-9)
    by_block = [times(f"block_tokens: {block}").ttft for block in (16, 32, 256)]
    assert all(large <= small * (1 + 1e-9) for small, large in pairwise(by_block))


def test_links_carry_no_more_prompts_than_they_have_time_for() -> None:
    found = times(nic=4, load="concurrency: 256", output=50)
    assert found.sent is not None
    rate = found.output_tokens_per_second / 50
    assert rate <= 1.001 / found.sent.transfer.seconds
    assert rate < 0.5 * times(load="concurrency: 256", output=50).output_tokens_per_second / 50


def test_engines_that_wait_for_links_are_not_busy() -> None:
    """At the same rate engines compute for the same share of the time, over whichever links; busy are the links."""
    fast, slow = (times(nic=nic, load="request_rate: 0.5") for nic in (400, 4))
    assert not fast.links_limit_prefill
    assert fast.prefill_busy == pytest.approx(fast.prompt_load, rel=1e-12)
    assert slow.links_limit_prefill
    assert slow.prompt_load > slow.prefill_busy == pytest.approx(fast.prefill_busy)
    assert slow.prompt_load == pytest.approx(0.5 * slow.state.service)


def test_a_wide_decode_engine_receives_from_several_prefill_engines_at_once() -> None:
    """Each of eight ranks receives an eighth of a cache, of which a sender of tp 2 sends a half: four times as long."""
    design = plan("block_tokens: 16").design
    assert design.cluster is not None and design.workload is not None and design.layout is not None
    narrow, wide = replace(design.layout, tp=2), replace(design.layout, tp=8)
    sides = side_transfers(design.cluster, design.workload, (narrow, wide), 8000)
    assert sides is not None
    assert sides[0].size == pytest.approx(4 * sides[1].size)
    assert (sides[0].descriptors, sides[1].descriptors) == (4 * 500 * 2 * 80, 500 * 2 * 80)
    assert slower_transfer(sides) == sides[0]


LINKS = [  # B/s of all nodes, of one node, and what a rank sends with: of 8 ranks to a node and to an engine
    (PoolLink(1e15, inf, 0.0), 50e9),  # its own NIC of 400 Gb/s
    (PoolLink(1e15, 80e9, 0.0), 10e9),  # an eighth of its node
    (PoolLink(40e9, inf, 0.0), 5e9),  # an eighth of the link, since the ranks of an engine send together
    (PoolLink(40e9, 16e9, 0.0), 2e9),
]


@pytest.mark.parametrize(("link", "line"), LINKS)
def test_a_rank_sends_to_another_machine_over_the_narrowest_part(link: PoolLink, line: float) -> None:
    """A prompt of 8,000 tokens of 327,680 bytes, an eighth of it on each rank; 0.8 of a link is reached."""
    design = plan("block_tokens: 16").design
    assert design.cluster is not None and design.workload is not None and design.layout is not None
    whole, layout = 8000 * 327_680, replace(design.layout, tp=8)
    for side in linked_transfers((design.cluster,) * 2, design.workload, (layout, layout), 8000, link):
        assert (side.size, side.bandwidth) == pytest.approx((whole / 8, 0.8 * line))
        assert side.descriptors == 500 * 2 * 80
    assert link_seconds(design.workload, layout, 8000, link) == pytest.approx(whole / (0.8 * link.total))
    slow = plan("bandwidth: 100 Gb/s").design
    assert slow.cluster is not None and slow.workload is not None
    (side, _) = linked_transfers((slow.cluster,) * 2, slow.workload, (layout, layout), 8000, link)
    assert (side.bandwidth, side.descriptors) == pytest.approx((0.8 * min(line, 12.5e9), 0.0))


def test_a_cache_is_sent_where_prefill_has_engines_of_its_own() -> None:
    design = plan().design
    assert request_cache_bytes(design) == pytest.approx(8000 * 327_680)
    assert design.workload is not None and design.workload.serving is not None
    together = replace(design.workload, serving=replace(design.workload.serving, prefill=None))
    assert request_cache_bytes(replace(design, workload=together)) is None
    assert request_cache_bytes(replace(design, layout=None)) is None


def test_engines_of_each_side_are_counted_apart() -> None:
    pools = serving_pools(plan().design)
    assert pools is not None
    more, _ = pools_with_engines(pools, (2, 5), 3.0)
    assert (pools.prompts.replicas, pools.decode.replicas, pools.load.request_rate) == (1, 2, None)
    assert (more.prompts.replicas, more.decode.replicas, more.load.request_rate) == (2, 5, 3.0)
    together = pools._replace(prompts=pools.decode)
    same, _ = pools_with_engines(together, (2, 5), 3.0)
    assert (same.prompts.replicas, same.decode.replicas) == (5, 5), "engines that prefill their own prompts"
