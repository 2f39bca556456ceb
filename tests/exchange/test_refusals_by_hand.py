"""What Megatron-LM refuses, and what targets state of windows, blocks and NICs: each with near misses, by records."""

from __future__ import annotations

import pytest

from clusterspec.catalog.models import Block, Window
from clusterspec.cluster.model import Layout, Workload
from clusterspec.exchange.exporters import maxtext_models, megatron, megatron_limits, netbox
from clusterspec.records import replace
from tests.designs import layout_of, machine_of, work_of

WORK = "cluster: {platform: dgx-h100, nodes: 2}\nworkload: {model: MODEL, sequence_length: 4096, global_batch: 32}\n"
DENSE, EXPERTS = (
    WORK.replace("MODEL", name) + "layout: {framework: megatron-core, tp: 2}\n"
    for name in ("llama-3.1-8b", "mixtral-8x7b")
)


def layout(**changes: object) -> Layout:
    base = {"tp": 1, "pp": 1, "cp": 1, "dp": 16, "expert_tp": 1, "expert_dp": 16, "sharding": "zero1"}
    return replace(layout_of(DENSE), **{**base, "offload_optimizer": 0.0, "sequence_parallel": True, **changes})  # type: ignore[arg-type]


def work(**changes: object) -> Workload:
    return replace(work_of(DENSE), **{"precision": "bf16", "optimizer": "adamw", **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cut", "changes", "refused"),
    [
        ({"sharding": "fsdp"}, {"optimizer": "lion"}, "Megatron-FSDP, which is fsdp, with lion"),
        ({"sharding": "hsdp"}, {"optimizer": "muon"}, "Megatron-FSDP, which is hsdp, with muon"),
        ({"sharding": "fsdp"}, {"optimizer": "adamw"}, ""),
        ({"sharding": "zero1"}, {"optimizer": "lion"}, ""),
        ({"offload_optimizer": 0.5}, {"optimizer": "lion"}, "to offload other than the states of Adam"),
        ({"offload_optimizer": 0.5}, {}, ""),
        ({"offload_optimizer": 0.5, "sharding": "none"}, {}, "without the distributed optimizer"),
        ({"offload_optimizer": 0.5, "sharding": "none", "dp": 1}, {}, ""),
        ({"offload_optimizer": 0.5, "sharding": "none", "dp": 1, "cp": 2}, {}, "without the distributed optimizer"),
        ({"sharding": "none"}, {}, ""),
        ({}, {"optimizer": "lion", "precision": "fp16"}, "lion in fp16"),
        ({}, {"optimizer": "muon", "precision": "fp16"}, "muon in fp16"),
        ({}, {"optimizer": "adam", "precision": "fp16"}, ""),
    ],
)
def test_megatron_refuses_what_its_optimizers_cannot_do(
    cut: dict[str, object], changes: dict[str, object], refused: str
) -> None:
    found = list(megatron_limits._refused_training(layout(**cut), work(**changes)))
    assert len(found) == bool(refused) and refused in "".join(found)


MOE = work_of(EXPERTS).model


@pytest.mark.parametrize(
    ("cut", "parts", "refused"),
    [
        ({"tp": 2, "sequence_parallel": False}, {}, "experts with tp and without sequence parallelism"),
        ({"tp": 2}, {}, ""),
        ({"tp": 1, "sequence_parallel": False}, {}, ""),
        ({"expert_tp": 2}, {"block": Block(bias="all")}, "biases of experts with expert_tp 2"),
        ({"expert_tp": 1}, {"block": Block(bias="all")}, ""),
        ({"expert_tp": 2}, {"block": Block(bias="qkv")}, ""),
        ({"expert_tp": 2}, {"block": None}, ""),
        ({"order": megatron_limits.PIPELINE_FIRST, "pp": 2, "expert_dp": 8}, {}, "this order of ranks"),
        ({"order": megatron_limits.PIPELINE_FIRST, "pp": 1, "expert_dp": 8}, {}, ""),
        ({"order": megatron_limits.PIPELINE_FIRST, "pp": 2}, {}, ""),
        ({"sharding": "hsdp", "shard_group": 4, "expert_dp": 6}, {}, "4 shard groups for 6"),
        ({"sharding": "hsdp", "shard_group": 4, "expert_dp": 8}, {}, ""),
        ({"sharding": "fsdp", "shard_group": 4, "expert_dp": 6}, {}, ""),
        ({"sharding": "hsdp", "shard_group": 16, "cp": 2, "expert_dp": 3}, {}, "2 shard groups for 3"),
        ({"cp": 2, "cp_method": "ring"}, {"window": Window(4096, 4)}, "windows with context parallelism by rings"),
        ({"cp": 2, "cp_method": "all-gather"}, {"window": Window(4096, 4)}, ""),
        ({"cp": 1, "cp_method": "ring"}, {"window": Window(4096, 4)}, ""),
    ],
)
def test_megatron_refuses_degrees_that_exclude_each_other(
    cut: dict[str, object], parts: dict[str, object], refused: str
) -> None:
    model = replace(MOE, **{"block": None, **parts})  # type: ignore[arg-type]
    found = list(megatron_limits._refused_layout(layout(**cut), model))
    assert len(found) == bool(refused) and refused in "".join(found)


@pytest.mark.parametrize(
    ("block", "changes", "lines", "omitted"),
    [
        (Block(), {}, [], ""),
        (Block(qk_norm=True), {}, ["use_qk_norm: true"], ""),
        (Block(qk_norm=True), {"norm_across_heads": True}, ["use_qk_norm: true"], "one norm of queries and keys"),
        (Block(norm_place="both"), {}, [], "norms after attention"),
        (Block(bias="qkv"), {}, ["attention_bias: true"], ""),
        (Block(bias="all"), {}, [], ""),
        (Block(router="sigmoid"), {}, [], "sigmoid scores of the router"),
        (Block(router="softmax"), {}, [], ""),
        (Block(router="sigmoid"), {"experts": 0}, [], ""),
        (Block(expert_bias=True), {}, [], "biases and groups of the router"),
        (Block(router_groups=8), {}, [], "biases and groups of the router"),
        (Block(router="sigmoid", router_scale=2.5), {"shared_experts": 1}, ["sigmoid", "2.5"], ""),
        (Block(), {"shared_experts": 1}, ["softmax"], ""),
    ],
)
def test_maxtext_states_the_parts_of_a_block_that_it_has(
    block: Block, changes: dict[str, object], lines: list[str], omitted: str
) -> None:
    left: list[str] = []
    model = replace(MOE, block=block, **changes)  # type: ignore[arg-type]
    names = {"softmax": "routed_score_func: softmax", "sigmoid": "routed_score_func: sigmoid"}
    names["2.5"] = "routed_scaling_factor: 2.5"
    assert list(maxtext_models._block_lines(model, block, left)) == [names.get(line, line) for line in lines]
    assert len(left) == bool(omitted) and omitted in "".join(left)


@pytest.mark.parametrize(("layers", "alternates"), [(16, True), (31, True), (32, False), (0, False)])
def test_megatron_alternates_layers_where_only_some_have_the_window(layers: int, alternates: bool) -> None:
    """Of 32 layers; a window of 4,096 tokens is 4,095 before the own one."""
    made = work(model=replace(work_of(DENSE).model, window=Window(4096, layers)))
    lines = list(megatron._model_arguments(layout(), made, []))
    assert "--window-size 4095,0" in lines
    assert any(line.startswith("--window-attn-skip-freq") for line in lines) is alternates


@pytest.mark.parametrize(
    ("nics", "planes", "names"),
    [
        (2, 1, ["nic0", "nic1"]),
        (2, 2, ["nic0-plane1", "nic0-plane2", "nic1-plane1", "nic1-plane2"]),
    ],
)
def test_ports_of_nics_are_named_by_their_plane_where_there_are_several(
    nics: int, planes: int, names: list[str]
) -> None:
    machine = machine_of(DENSE)
    assert machine.scale_out is not None
    fabric = replace(machine.scale_out, nics_per_node=nics, planes=planes)
    assert list(netbox._nic_ports(replace(machine, scale_out=fabric))) == names
