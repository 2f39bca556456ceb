"""Collectives of each axis: their kinds, sizes and the computation that they may overlap with, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.models import CompressedAttention, LinearAttention, SparseAttention
from clusterspec.cluster.model import Dispatcher, Layout, Workload
from clusterspec.cost import expert_traffic, traffic
from clusterspec.cost.compute import Shard
from clusterspec.cost.compute.expert_layer import Routing
from clusterspec.cost.layers import Mixer
from clusterspec.cost.parameters import Share
from clusterspec.cost.traffic import Transfer, Weights
from clusterspec.records import replace
from tests.cost.plans import design, spec
from tests.cost.test_worked_examples import shard

TOKENS = 1000.0
MODEL = replace(shard(TOKENS, 4096).model, head_dim=128, experts=64, experts_per_token=8)
ONE = replace(shard(TOKENS, 4096), model=MODEL, tp=1, expert_tp=1, rows=500.0, heads=8, kv_heads=2)
"""1,000 tokens of 4,096 elements in 2 bytes; 8 heads of 128 on a rank, 2 of keys and values."""
SIZE = 1000 * 4096 * 2
BLOCKS = {"mixing": 0.4, "network": 0.8}


def rank(model: dict[str, Any] | None = None, **changes: Any) -> Shard:
    return replace(ONE, model=replace(MODEL, **(model or {})), **changes)


def told(transfers: tuple[Transfer, ...]) -> list[tuple[str, str, float, float, float]]:
    return [(each.axis, each.collective, each.size, each.calls, each.overlap_window) for each in transfers]


def test_blocks_exchange_their_activations_over_tensor_parallelism() -> None:
    assert traffic.tensor_forward_transfers(ONE, BLOCKS) == traffic.tensor_backward_transfers(ONE, BLOCKS) == ()
    whole = [("tp", "all-reduce", SIZE, 1, 0.4), ("tp", "all-reduce", SIZE, 1, 0.8)]
    cut = rank(tp=2)
    assert told(traffic.tensor_forward_transfers(cut, BLOCKS)) == whole
    assert told(traffic.tensor_backward_transfers(cut, BLOCKS)) == whole
    pairs = [("tp", name, SIZE, 1) for name in ("all-gather", "reduce-scatter")] * 2
    parallel = rank(tp=2, sequence_parallel=True)
    forward = told(traffic.tensor_forward_transfers(parallel, BLOCKS))
    assert [each[:4] for each in forward] == pairs
    assert [each[4] for each in forward] == pytest.approx([0.2, 0.2, 0.4, 0.4])
    backward = traffic.tensor_backward_transfers(parallel, BLOCKS)
    assert [each.collective for each in backward] == [each[1] for each in pairs] + ["all-gather"] * 2
    assert [each.overlap_window for each in backward] == pytest.approx([0.1, 0.1, 0.2, 0.2, 0.1, 0.2])
    assert [each.hidden_by_default for each in backward] == [False] * 4 + [True] * 2
    kept = traffic.tensor_backward_transfers(rank(tp=2, sequence_parallel=True, gathers_again=False), BLOCKS)
    assert kept == backward[:4]


KEYS_VALUES = 1000 * 2 * 2 * (128 + 128)  # tokens, bytes, heads, and both widths
LINEAR = LinearAttention("gated-delta-net", 1, key_heads=4, value_heads=8, key_head_dim=64, value_head_dim=32)
SPARSE = {"sparse": SparseAttention(tokens=64, layers=1, index_heads=4, index_dim=32)}
LATENT = {"latent_kv": 512, "latent_rope": 64, "value_head_dim": 100}
CONTEXT = [  # the shard, the method, whether backward, and the transfers of a core of 0.9 s
    (rank(), "ring", False, []),
    (rank(cp=4, mixer=Mixer.NONE), "ring", False, []),
    (rank(cp=4), "ring", False, [("send-recv", KEYS_VALUES, 3, 0.9 / 4)]),
    (rank(cp=4), "ring", True, [("send-recv", 2 * KEYS_VALUES, 3, 0.9 / 4)]),
    (rank(cp=4), "all-gather", False, [("all-gather", 4 * KEYS_VALUES, 1, 0.0)]),
    (
        rank(cp=4),
        "all-gather",
        True,
        [("all-gather", 4 * KEYS_VALUES, 1, 0.0), ("reduce-scatter", 4 * KEYS_VALUES, 1, 0.0)],
    ),
    *(
        (
            rank(cp=4),
            "all-to-all",
            backward,
            [("all-to-all", 1000 * 2 * 8 * 128, 2, 0.0), ("all-to-all", KEYS_VALUES, 1, 0.0)],
        )
        for backward in (False, True)
    ),
    # an index ranks the keys of all tokens, so that they are gathered by any method
    (rank(SPARSE, cp=4), "ring", False, [("all-gather", 4 * KEYS_VALUES, 1, 0.0)]),
    (rank(SPARSE, cp=4), "all-to-all", False, [("all-gather", 4 * KEYS_VALUES, 1, 0.0)]),
    # latent attention: each head has its key, its value and the rotary part; with an index the latents and its keys
    (rank(LATENT, cp=4), "ring", False, [("send-recv", 1000 * 2 * 8 * (128 + 100 + 64), 3, 0.225)]),
    (rank(LATENT | SPARSE, cp=4), "ring", False, [("all-gather", 4 * 1000 * 2 * (512 + 64 + 32), 1, 0.0)]),
    # a recurrence: keys and queries of 4 * 64, values of 8 * 32, two gates of 8 heads; or a state of 8 * 64 * 32
    (
        rank({"linear": LINEAR}, cp=4, mixer=Mixer.LINEAR),
        "all-to-all",
        False,
        [("all-to-all", 2000 * (512 + 256 + 16), 1, 0.0), ("all-to-all", 2000 * 256, 1, 0.0)],
    ),
    (
        rank({"linear": LINEAR}, cp=4, mixer=Mixer.LINEAR),
        "ring",
        False,
        [("all-gather", 4 * 4 * 8 * 64 * 32, 1, 0.0)],
    ),
    (
        rank({"linear": LINEAR}, cp=4, mixer=Mixer.LINEAR),
        "all-gather",
        True,
        [("all-gather", 2 * 4 * 4 * 8 * 64 * 32, 1, 0.0)],
    ),
]


@pytest.mark.parametrize(("one", "method", "backward", "expected"), CONTEXT)
def test_context_parallel_ranks_exchange_keys_and_values_heads_or_states(
    one: Shard, method: str, backward: bool, expected: list[tuple[str, float, float, float]]
) -> None:
    exchange = traffic.context_backward_transfers if backward else traffic.context_forward_transfers
    found = told(exchange(one, method, 0.9))
    assert [each[1] for each in found] == [each[0] for each in expected]
    for each, wanted in zip(found, expected, strict=True):
        assert each[0] == "cp" and each[2:] == pytest.approx(wanted[1:])


def test_compressed_attention_sends_one_entry_for_several_tokens() -> None:
    """Three layers send a quarter of 128 and of 32 elements a token, one layer 128 / 16: (3 * 40 + 8) / 4 = 32."""
    part = CompressedAttention(1, 1, 1, 1, light_ratio=4, light_layers=3, heavy_ratio=16, heavy_layers=1, window=1)
    one = rank({"compressed": part} | SPARSE)
    assert traffic._key_value_width(one) == pytest.approx(32)
    assert traffic._key_value_width(rank({"compressed": part})) == pytest.approx((3 * 32 + 8) / 4)


ROUTING = Routing(leaving=4000.0, arriving=6000.0, experts=8.0, imbalance=1.5)


def test_tokens_are_dispatched_to_their_experts_and_combined() -> None:
    """500 rows, each to 8 experts, and the fullest rank half more; one byte of an element out, two back."""
    one, fp8 = rank(ep=8), Dispatcher("all-to-all", "fp8")
    found = expert_traffic.expert_transfers(one, ROUTING, fp8, 1, 0.6)
    assert told(found) == [
        ("ep", "all-to-all", 500 * 8 * 1.5 * 4096, 1, 0.3),
        ("ep", "all-to-all", 500 * 8 * 1.5 * 4096 * 2, 1, 0.3),
    ]
    assert [each.purpose for each in found] == ["dispatch", "combine"]
    assert [each.copies for each in found] == [0.0, 0.0], "a collective of NCCL sends no tokens one by one"
    assert expert_traffic.expert_transfers(rank(), ROUTING, fp8, 1, 0.6) == ()
    # experts that tensor parallelism cuts gather what arrives; without expert parallelism each token once
    both = expert_traffic.expert_transfers(rank(ep=8, expert_tp=2), ROUTING, fp8, 1, 0.6)
    assert told(both)[2:] == [(
        "expert_tp", name, 6000 * 1.5 * 4096 * 2, 1.0, 0.0
    ) for name in ("all-gather", "reduce-scatter")]  # fmt: skip
    alone = expert_traffic.expert_transfers(rank(expert_tp=2), ROUTING, fp8, 1, 0.6)
    assert told(alone) == [
        ("expert_tp", name, 500 * 2 * 4096 * 2, 1.0, 0.0) for name in ("all-gather", "reduce-scatter")
    ]


@pytest.mark.parametrize(
    ("kind", "ep", "domains", "most", "copies"),
    [
        ("all-to-all", 8, 4, None, 8.0),
        ("deepep", 8, 1, None, 8 * (1 - (7 / 8) ** 8)),  # once to each rank of one domain
        ("deepep", 8, 2, None, 2 * (1 - (1 / 2) ** 8)),  # once to each domain of two
        ("hybrid", 32, 4, None, 4 * (1 - (3 / 4) ** 8)),
        ("deepep", 32, 8, 3, 3.0),  # which the router limits
        ("deepep", 32, 8, 7, 8 * (1 - (7 / 8) ** 8)),
        ("deepep", 2, 8, None, 2 * (1 - (1 / 2) ** 8)),  # no more than ranks
    ],
)
def test_dispatchers_send_a_token_once_to_each_domain(
    kind: str, ep: int, domains: int, most: int | None, copies: float
) -> None:
    one = rank({"routing_max_nodes": most}, ep=ep)
    assert expert_traffic.copies_per_token(one, Dispatcher(kind), domains) == pytest.approx(copies)


@pytest.mark.parametrize("domains", [1, 2])
def test_kernels_of_a_dispatcher_send_inside_a_domain_and_forward_between_domains(domains: int) -> None:
    """500 rows to eight ranks, and the fullest rank half more; a copy crosses the fabric once for each domain, and is
    then forwarded to each rank that has one of its experts: 1 and 2 bytes of each of its numbers.
    """
    copies = 500 * 1.5 * 8 * (1 - (7 / 8) ** 8)
    fp8 = Dispatcher("hybrid", "fp8")
    found = expert_traffic.expert_transfers(rank(ep=8), ROUTING, fp8, domains, 0.6)
    assert [each.copies for each in found] == pytest.approx([copies, copies] if domains == 1 else [0, 0])
    forwarded = [copies * 4096, copies * 8192]
    assert [each.forwarded for each in found] == pytest.approx(forwarded if domains == 2 else [0, 0])
    one_node = expert_traffic.expert_transfers(rank({"routing_max_nodes": 1}, ep=8), ROUTING, fp8, 2, 0.6)
    assert one_node[0].forwarded == pytest.approx(500 * 1.5 * 4 * (1 - (3 / 4) ** 8) * 4096), "to the ranks of a node"
    sent = expert_traffic.expert_transfers(rank(ep=8), ROUTING, Dispatcher("all-to-all"), domains, 0.6)
    assert [(each.copies, each.forwarded) for each in sent] == [(0.0, 0.0)] * 2


def test_a_call_lasts_until_its_copies_are_sent_and_its_bytes_forwarded() -> None:
    """170 million at 85 million a second, or 280 GB at 140 GB/s: two seconds, unless the links need longer."""
    for sent in (Transfer("ep", "all-to-all", 1e9, copies=170e6), Transfer("ep", "all-to-all", 1e9, forwarded=280e9)):
        assert traffic.call_seconds(sent, 0.5) == pytest.approx(2.0)
        assert traffic.call_seconds(sent, 3.0) == 3.0
        assert traffic.call_seconds(replace(sent, copies=0.0, forwarded=0.0), 0.5) == 0.5


def parts(**layout: Any) -> tuple[Workload, Layout]:
    found = design(spec())
    assert found.workload is not None and found.layout is not None
    work = replace(found.workload, gradient_precision="fp32", parameter_precision="bf16")
    return work, replace(found.layout, stack=None, gradient_compression=1.0, **layout)


BOTH = Weights(1000.0, 300.0)
REDUCED = [  # sharding: the groups and kinds of reduction, what follows between shard groups, and the gathers
    ("none", [("dp_cp", "all-reduce", 4000), ("expert_dp", "all-reduce", 1200)], [], []),
    (
        "optimizer",
        [("dp_cp", "reduce-scatter", 4000), ("expert_dp", "reduce-scatter", 1200)],
        [],
        [("dp_cp", "all-gather", 2000), ("expert_dp", "all-gather", 600)],
    ),
    (
        "hsdp",
        [("shard", "reduce-scatter", 4000), ("expert_dp", "reduce-scatter", 1200)],
        [("replicate", "all-reduce", 500)],
        [("shard", "all-gather", 2000), ("expert_dp", "all-gather", 600)],
    ),
]


@pytest.mark.parametrize(("sharding", "reduced", "across", "gathered"), REDUCED)
def test_gradients_are_reduced_and_sharded_weights_gathered(
    sharding: str, reduced: list[Any], across: list[Any], gathered: list[Any]
) -> None:
    """Gradients of 4 bytes, weights of 2; shard groups of 8."""
    work, layout = parts(sharding=sharding, shard_group=8)
    for name, expected in (
        ("gradient_reductions", reduced),
        ("shard_group_reductions", across),
        ("weight_gathers", gathered),
    ):
        found = getattr(traffic, name)(BOTH, work, layout)
        assert [(each.axis, each.collective, each.size) for each in found] == expected
        assert len(getattr(traffic, name)(Weights(0.0), work, layout)) == 0
    assert traffic.gradient_bytes(work, replace(layout, gradient_compression=4.0)) == 1.0
    assert traffic.gradient_bytes(replace(work, gradient_precision="bf16"), layout) == 2.0


def test_experts_that_are_cut_as_other_weights_count_with_them() -> None:
    held = Share(dense=100.0, replicated=10.0, expert=1000.0, embedding=0.0, head=0.0, unit=0.0, units=1, shapes=0.0)
    for ep, expert_tp, tp, expected in (
        (1, 2, 2, (1110.0, 0.0)),
        (1, 1, 2, (110.0, 1000.0)),
        (2, 2, 2, (110.0, 1000.0)),
    ):
        found = Weights.of(held, parts(ep=ep, expert_tp=expert_tp, tp=tp)[1])
        assert (found.dense, found.expert) == expected
    assert BOTH + Weights(1.0, 2.0) == Weights(1001.0, 302.0)
    assert Weights(500.0, 150.0) == BOTH * 0.5


def test_narrower_sums_of_the_software_are_sent() -> None:
    found = design(spec(layout={"framework": "fsdp", "sharding": "fsdp", "tp": 1}))
    assert found.workload is not None and found.layout is not None and found.layout.stack is not None
    work = replace(found.workload, gradient_precision="fp32")
    layout = replace(found.layout, gradient_compression=1.0)
    for reduces, width in ((None, 4.0), ("bf16", 2.0), ("fp32", 4.0)):
        stack = replace(found.layout.stack, reduces=reduces)
        assert traffic.gradient_bytes(work, replace(layout, stack=stack)) == width
    narrow = replace(layout, stack=replace(found.layout.stack, reduces="fp32"))
    assert traffic.gradient_bytes(replace(work, gradient_precision="bf16"), narrow) == 2.0
