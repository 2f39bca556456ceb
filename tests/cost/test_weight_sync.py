"""Transfers of weights to the engines of rollout: tensors, messages and rates, worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.catalog.models import Block, LinearAttention, Model
from clusterspec.cluster.model import Trainable, Workload
from clusterspec.cluster.samples import Rl
from clusterspec.cost.reinforcement import weights
from clusterspec.cost.reinforcement.weights import Messages, Sync
from clusterspec.records import replace
from clusterspec.studies import study_text
from tests.cost.plans import design, spec
from tests.cost.test_reinforcement import described, times
from tests.settings import SETTINGS

LINEAR = LinearAttention("gated-delta-net", 3, key_heads=4, value_heads=8, key_head_dim=64, value_head_dim=32)


def model(**changes: Any) -> Model:
    """Ten layers of softmax attention with dense networks."""
    found = design(spec())
    assert found.workload is not None
    return replace(found.workload.model, layers=10, block=None, gated_ffn=True, **changes)


TENSORS = [  # changes of the model, ranks that share the experts, and tensors of a checkpoint
    ({}, 1, 3 + 10 * (4 + 2 + 3)),
    ({"block": Block(bias="qkv")}, 1, 3 + 10 * (4 + 3 + 2 + 3)),
    ({"block": Block(bias="all")}, 1, 3 + 10 * (4 + 3 + 2 + 3)),
    ({"block": Block(qk_norm=True)}, 1, 3 + 10 * (4 + 2 + 2 + 3)),
    ({"linear": LINEAR}, 1, 3 + 10 * (4 + 2 + 3)),
    # four layers have 8 experts of 3 matrices, and a router
    ({"moe_layers": 4, "experts": 8}, 1, 3 + 10 * (4 + 2) + 6 * 3 + 4 * (1 + 24)),
    ({"moe_layers": 4, "experts": 8}, 4, 3 + 10 * (4 + 2) + 6 * 3 + 4 * (1 + 6)),
    ({"moe_layers": 4, "experts": 8, "shared_experts": 1}, 1, 3 + 10 * (4 + 2) + 6 * 3 + 4 * (1 + 3 + 24)),
    ({"moe_layers": 1, "experts": 3}, 2, 3 + 10 * (4 + 2) + 9 * 3 + 1 + 5),  # nine matrices on two ranks: five
]


@pytest.mark.parametrize(("changes", "ep", "tensors"), TENSORS)
def test_the_tensors_of_a_checkpoint_are_counted(changes: dict[str, Any], ep: int, tensors: int) -> None:
    one = replace(model(), **changes)
    assert weights.checkpoint_tensors(one, ep) == tensors


EXPERTS: dict[str, Any] = {"moe_layers": 4, "experts": 8}


def parts(**changes: Any) -> tuple[Workload, Rl]:
    found = design(described())
    assert found.workload is not None and found.workload.rl is not None
    return replace(found.workload, model=replace(model(), **changes)), found.workload.rl


@pytest.mark.parametrize(
    ("changes", "modules", "tensors"),
    [  # two tensors for each matrix with an adapter
        ({}, ("attention",), 2 * 4 * 10),
        ({}, ("ffn",), 2 * 3 * 10),
        ({}, ("attention", "ffn"), 2 * (4 + 3) * 10),
        (EXPERTS, ("ffn",), 2 * 3 * 6),
        (EXPERTS | {"shared_experts": 2}, ("ffn",), 2 * 3 * (6 + 4)),
        (EXPERTS, ("experts",), 2 * 3 * 8 * 4),
        ({"linear": LINEAR}, ("attention",), 2 * 4 * 10),
    ],
)
def test_adapters_alone_are_two_tensors_for_each_matrix(
    changes: dict[str, Any], modules: tuple[str, ...], tensors: int
) -> None:
    work, rl = parts(**changes)
    tuned = replace(work, trainable=Trainable("lora", 16, modules))
    assert weights.loaded_tensors(tuned, rl, 4) == tensors


@pytest.mark.parametrize(
    ("method", "load", "experts"),
    [  # 8 experts of 3 matrices in 4 layers, on 4 ranks of an engine
        ("nccl", "packed", 4 * 24),
        ("rdma", "packed", 4 * 24 / 4),
        ("disk", "packed", 4 * 24),
        ("nccl", "in-place", 4 * 3),
        ("rdma", "in-place", 4 * 3),
    ],
)
def test_ranks_load_their_own_experts_by_rdma_alone(method: str, load: str, experts: float) -> None:
    work, rl = parts(**EXPERTS)
    rl = replace(rl, sync=replace(rl.sync, method=method, load=load))
    assert weights.loaded_tensors(work, rl, 4) == 3 + 10 * 6 + 6 * 3 + 4 + experts


def test_seconds_of_a_transfer_are_those_of_its_bytes_tensors_and_messages() -> None:
    """20 GB at 10 GB/s, 1,000 tensors of 0.1 ms, 500 messages of 2 ms, and 0.5 s to stop."""
    one = Sync("nccl", 20e9, 20e9, 10e9, 1000.0, 1e-4, 0.5, 500.0, 2e-3)
    assert one.wire == pytest.approx(2.0)
    assert one.seconds == pytest.approx(2.0 + 0.1 + 1.0 + 0.5)
    assert (weights.SINGLE.value, weights.CROSSING.value) == (3.4e-4, 1.5e-3)
    mixed = Messages(inside=300.0, crossing=100.0)
    assert mixed.total == 400
    assert mixed.mean_seconds == pytest.approx((300 * 3.4e-4 + 100 * 1.5e-3) / 400)
    assert Messages(0.0, 0.0).mean_seconds == 3.4e-4


GATHERED = [  # tp, pp, ep, expert_tp, ranks of a domain; collectives inside and between domains
    # 83 - 13 = 3 + 10 * (2 + 2) + 6 * 2 + 4 = 59 tensors and 4 * 2 * 8 = 64 matrices of experts
    (1, 1, 1, 1, 8, 0, 0),
    (2, 1, 1, 1, 8, 59, 0),
    (2, 1, 1, 1, 1, 0, 59),
    (1, 1, 4, 1, 8, 64 / 4, 0),
    (2, 1, 4, 1, 8, 59 + 16, 0),
    (2, 1, 4, 1, 2, 59, 16),
    (2, 1, 4, 2, 8, 59 + 16 + 64, 0),
    (2, 1, 4, 2, 7, 59, 16 + 64),  # experts lie in 8 ranks
    (1, 2, 1, 1, 8, 59 + 64, 0),
    (1, 2, 4, 1, 8, 59 + 16 + 16, 0),
    (1, 2, 4, 1, 7, 16, 59 + 16),  # of 8 ranks in two stages
    (4, 2, 2, 1, 4, 59 + 32, 59 + 32),
]


@pytest.mark.parametrize(("tp", "pp", "ep", "expert_tp", "domain", "inside", "crossing"), GATHERED)
def test_collectives_of_single_tensors_are_counted_by_the_domains_of_their_ranks(
    tp: int, pp: int, ep: int, expert_tp: int, domain: int, inside: float, crossing: float
) -> None:
    layout = design(described()).layout
    assert layout is not None
    cut = replace(layout, sharding="optimizer", tp=tp, pp=pp, ep=ep, expert_tp=expert_tp)
    found = weights.gathering_collectives(model(**EXPERTS), cut, domain)
    assert (found.inside, found.crossing) == (inside, crossing)


@pytest.mark.parametrize(("domain", "inside", "crossing"), [(32, 181, 0), (31, 0, 181)])
@pytest.mark.parametrize("sharding", ["fsdp", "hsdp"])
def test_sharded_weights_are_gathered_once_over_all_ranks(
    sharding: str, domain: int, inside: float, crossing: float
) -> None:
    """3 + 10 * 6 + 6 * 3 + 4 * 25 = 181 tensors."""
    layout = design(described()).layout
    assert layout is not None
    cut = replace(layout, sharding=sharding, ranks=32)
    assert weights.gathering_collectives(model(**EXPERTS), cut, domain) == (inside, crossing)


SPLIT: dict[str, Any] = {"rollout": {"nodes": 2}, "placement": "split"}


@pytest.mark.parametrize(
    ("store", "rate"),
    [
        (None, 1.4e9),
        ("100 GB/s", 1.4e9),
        ("1 GB/s", 1e9 * 2 / 3),
        ("2.4 GB/s", 1.4e9),
        ("1.5 GB/s", 1.5e9 * 2 / 3),
    ],
)
def test_a_slow_store_takes_the_weights_once_and_delivers_them_to_every_node(store: str | None, rate: float) -> None:
    """Each of 16 accelerators reads its sixteenth: two passes of the weights, three of the two nodes and the writer."""
    whole = described(**SPLIT, weight_sync={"method": "disk"})
    if store is not None:
        whole["cluster"]["networks"] = {"storage": {"bandwidth": store}}
    found = times_of(whole)
    assert found.sent == pytest.approx(2 * found.weights)
    assert found.bandwidth == pytest.approx(rate)
    assert found.messages == 0


@pytest.mark.parametrize(
    ("storage", "wire", "stated"),
    [
        (
            {"bandwidth": "2 GB/s", "read": "1 GB/s"},
            1 / 2 + 2 / 1,
            1 / 2 + 2 / 1,
        ),  # one write, and a read by each of two nodes
        ({"bandwidth": "100 GB/s", "read": "50 GB/s"}, 2 / 1.4, 1 / 100 + 2 / 50),  # the assumed rate of one node
        ({"bandwidth": "100 GB/s", "per_client": "5 GB/s"}, 2 / 5, 2 / 5),  # its stated rate
        (None, 2 / 1.4, 0.0),
    ],
)
def test_files_are_written_once_and_read_by_every_node(
    storage: dict[str, str] | None, wire: float, stated: float
) -> None:
    """Seconds of one GB of weights; what the stated rates account for is less where the rate of a node is assumed."""
    whole = described(**SPLIT, weight_sync={"method": "disk"})
    if storage is not None:
        whole["cluster"]["networks"] = {"storage": storage}
    found = times_of(whole)
    assert found.wire / found.weights * 1e9 == pytest.approx(wire)
    assert found.stated_wire / found.weights * 1e9 == pytest.approx(stated)
    assert found.least_seconds == pytest.approx(found.seconds - found.wire + found.stated_wire)


@pytest.mark.parametrize(
    ("storage", "crossings"),
    [
        ({"pool": "train"}, 2),  # both nodes of rollout read the trainer's store over the link
        (None, 2),
        ({"bandwidth": "100 GB/s"}, 1),  # rollout has a store of its own
    ],
)
def test_files_cross_the_link_of_two_pools_once_for_each_node_without_a_store(
    storage: dict[str, str] | None, crossings: int
) -> None:
    whole = described(weight_sync={"method": "disk"}, placement="split", rollout={"pool": "serve", "nodes": 2, "tp": 1})
    machine = {key: value for key, value in whole.pop("cluster").items() if key != "nodes"}
    serve = machine | {"nodes": 2, "networks": {"storage": storage} if storage else {}}
    train = machine | {"nodes": 2, "networks": {"storage": {"bandwidth": "100 GB/s"}}}
    link = {"between": ["train", "serve"], "bandwidth": "8 Gb/s", "share": 0.5}
    job = {"pool": "train", "workload": whole.pop("workload"), "layout": whole.pop("layout")}
    fleet = whole | {"pools": {"train": train, "serve": serve}, "pool_links": [link], "jobs": {"rl": job}}
    whole_fleet = study_text(json.dumps(fleet), SETTINGS).fleet
    assert whole_fleet is not None
    found = whole_fleet.jobs["rl"].plan.rl
    assert found is not None
    assert found.sync.wire / found.sync.weights * 1e9 == pytest.approx(1 / 100 + crossings / 0.5)


def times_of(whole: dict[str, Any]) -> Sync:
    found = study_text(json.dumps(whole), SETTINGS).plan.rl
    assert found is not None
    return found.sync


def test_rates_of_broadcasts_are_those_of_both_tiers_in_turn() -> None:
    """450 GB/s into an accelerator of a node, 400 into a node: 1 / (1 / 450 + 1 / 400), of it 0.9; one NIC has 50."""
    whole, one = (times(**SPLIT, weight_sync={"method": "nccl", "ranks": each}).sync for each in ("all", "one"))
    assert whole.bandwidth == pytest.approx(0.9 / (1 / 450e9 + 1 / 400e9))
    assert one.bandwidth == pytest.approx(0.9 / (1 / 450e9 + 1 / 50e9))
    assert times(weight_sync={"method": "ipc"}).sync.bandwidth == pytest.approx(0.9 * 450e9)
    wide = times(layout={"tp": 4, "pp": 4}, weight_sync={"method": "ipc"}).sync  # a replica of two nodes
    assert wide.bandwidth == pytest.approx(0.9 * 400e9)
    sharded = times(layout={"framework": "fsdp", "sharding": "fsdp", "tp": 1}, weight_sync={"method": "ipc"}).sync
    assert sharded.bandwidth == pytest.approx(0.9 * 400e9)


@pytest.mark.parametrize(("precision", "scales"), [("bf16", 1), ("fp8", 2)])
def test_tensors_of_eight_bits_come_with_scales(precision: str, scales: int) -> None:
    found = times(weight_sync={"method": "ipc", "precision": precision}).sync
    assert found.tensors == scales * (3 + 28 * 12)


def test_a_rank_of_an_engine_has_its_experts_and_its_shard_of_all_other_weights() -> None:
    layout = design(described()).layout
    assert layout is not None
    dense, mixed = model(), model(**EXPERTS, experts_per_token=2, expert_ffn_hidden=1024)
    cut = replace(layout, tp=4, ep=2, expert_tp=2, pp=2)
    assert weights.rank_share(dense, cut) == pytest.approx(1 / 8)
    every = weights.rank_share(mixed, replace(cut, tp=1, ep=10**9, pp=1, expert_tp=1))  # all but the experts
    assert weights.rank_share(mixed, cut) == pytest.approx((every / 4 + (1 - every) / 4) / 2)
    assert weights.rank_share(mixed, replace(cut, expert_tp=1)) == pytest.approx((every / 4 + (1 - every) / 2) / 2)
