from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cluster import resolve
from clusterspec.cluster.degrees import even_stages
from clusterspec.spec.model import LayoutSpec
from tests.cluster.resolving import assumed, catalog, clean, layout_of

H100 = "cluster: {platform: dgx-h100, nodes: 16}\n"
RACKS = "cluster: {platform: gb200-nvl72, nodes: 72}\n"
WORK = "workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 512}\n"


def test_dp_is_what_is_left() -> None:
    layout = layout_of(f"{H100}layout: {{tp: 8, pp: 4}}")
    assert (layout.ranks, layout.dp, layout.nodes) == (128, 4, 16)


@pytest.mark.parametrize(("keys", "dp"), [("tp: 8, pp: 3", 5), ("tp: 3", 42), ("tp: 256", 1), ("tp: 8, dp: 99", 16)])
def test_degrees_that_do_not_divide_the_ranks_leave_the_largest_possible_dp(keys: str, dp: int) -> None:
    assert layout_of(f"{H100}layout: {{{keys}}}").dp == dp


def test_degrees_count_ranks_not_packages() -> None:
    trainium = layout_of("cluster: {platform: aws-trn2-48xlarge, nodes: 2}\nlayout: {tp: 32}")
    assert (trainium.ranks, trainium.dp) == (128, 4)


def test_the_defaults_are_listed() -> None:
    keys = assumed(clean(f"{H100}{WORK}layout: {{tp: 8, pp: 4}}"))
    assert keys["layout.cp"] == keys["layout.ep"] == keys["layout.micro_batch"] == 1
    assert keys["layout.sequence_parallel"] is True
    assert keys["layout.sharding"] == "zero1"
    assert keys["layout.schedule"] == "1f1b"
    assert keys["layout.recompute"] == "none"
    assert keys["layout.order"] == ("tp", "cp", "ep", "dp", "pp")
    assert keys["layout.overlap.dp"] is True and keys["layout.overlap.tp"] == "partial"
    assert keys["layout.optimizer_states.master"] == "fp32"
    assert "layout.tp" not in keys and "layout.pp" not in keys


@pytest.mark.parametrize(
    ("length", "keys", "parallel"),
    [
        (4096, "tp: 8", True),
        (4100, "tp: 8", False),  # 512.5 tokens a rank
        (4100, "tp: 2, cp: 2", True),
        (4097, "tp: 2, cp: 2", True),  # cp does not divide it either, which a rule reports
        (4104, "tp: 8, cp: 2", False),  # 2,052 tokens of a cp rank over 8
        (4100, "tp: 8, sequence_parallel: true", True),
    ],
)
def test_a_length_that_tp_does_not_divide_is_assumed_not_to_be_shared(length: int, keys: str, parallel: bool) -> None:
    work = WORK.replace("8192", str(length))
    assert str(length) in work
    layout = layout_of(f"{H100}{work}layout: {{{keys}}}")
    assert layout.sequence_parallel is parallel


@pytest.mark.parametrize("framework", ["torchtitan", "fsdp", "maxtext"])
def test_some_frameworks_shard_fully(framework: str) -> None:
    assert layout_of(f"{H100}layout: {{framework: {framework}}}").sharding == "fsdp"


@pytest.mark.parametrize(
    ("framework", "expert_tp"), [("megatron-core", 4), ("nemo", 4), ("megatron-deepspeed", 1), ("torchtitan", 1)]
)
def test_expert_tp_is_tp_in_megatron_core_and_nemo(framework: str, expert_tp: int) -> None:
    layout = layout_of(f"{H100}layout: {{framework: {framework}, tp: 4, ep: 8}}")
    assert layout.expert_tp == expert_tp
    assert layout.expert_dp == layout.ranks // (expert_tp * 8)


def test_the_schedule_is_interleaved_with_virtual_stages() -> None:
    assert layout_of(f"{H100}layout: {{pp: 4, virtual_stages: 2}}").schedule == "interleaved"
    assert layout_of(f"{H100}layout: {{pp: 4, virtual_stages: 2, schedule: 1f1b}}").schedule == "1f1b"


def test_a_shard_group_is_the_ranks_of_a_domain_over_tp() -> None:
    assert layout_of(f"{H100}layout: {{sharding: hsdp, tp: 2}}").shard_group == 4
    assert layout_of(f"{H100}layout: {{sharding: hsdp, shard_group: 16}}").shard_group == 16
    assert layout_of(f"{H100}layout: {{sharding: fsdp, cp: 2, tp: 4}}").shard_group == 32
    assert layout_of(f"{H100}layout: {{sharding: none}}").shard_group == 1


def test_a_shard_group_always_divides_its_replicas() -> None:
    layout = layout_of(f"{H100}layout: {{sharding: hsdp, shard_group: 12}}")
    assert layout.dp % layout.shard_group == 0


ORDERS = [
    (("tp", "dp", "pp", "cp", "ep"), ("tp", "dp", "pp", "cp", "ep")),
    (("pp", "tp"), ("pp", "tp", "cp", "ep", "dp")),
    (("tp", "dp", "pp"), ("tp", "dp", "cp", "ep", "pp")),
    (("tp", "ep", "dp", "pp"), ("tp", "ep", "dp", "cp", "pp")),
    (("tp", "tp", "cp", "ep", "dp", "pp"), ("tp", "cp", "ep", "dp", "pp")),
    (("tp", "dp_shard", "cp", "ep", "dp_replicate", "pp"), ("tp", "dp_shard", "cp", "ep", "dp_replicate", "pp")),
    (("tp", "cp", "ep", "dp_shard", "pp"), ("tp", "cp", "ep", "dp", "pp")),
    (("tp", "nonsense"), ("tp", "cp", "ep", "dp", "pp")),
]


@pytest.mark.parametrize(("written", "order"), ORDERS)
def test_an_order_is_kept_and_completed(written: tuple[str, ...], order: tuple[str, ...]) -> None:
    spec = clean(f"{H100}layout: {{tp: 8}}").spec
    design, _ = resolve(replace(spec, layout=LayoutSpec(order=written)), catalog())
    assert design.layout is not None and design.layout.order == order


def test_nodes_per_domain_limits_each_domain() -> None:
    layout = layout_of(f"{RACKS}layout: {{nodes_per_domain: 16, tp: 8}}")
    assert (layout.nodes, layout.ranks, layout.nodes_per_domain) == (64, 256, 16)
    some = layout_of(f"{RACKS}layout: {{nodes_per_domain: 16, nodes: 32, tp: 8}}")
    assert some.ranks == 128
    whole = layout_of(f"{RACKS}layout: {{nodes_per_domain: 18}}")
    assert (whole.nodes, whole.nodes_per_domain) == (72, None)


def test_a_job_may_use_fewer_nodes_than_there_are() -> None:
    layout = layout_of(f"{H100}{WORK}layout: {{nodes: 8, tp: 8}}")
    assert (layout.ranks, layout.dp, layout.micro_batches) == (64, 8, 64)


def test_indivisible_layers_are_split_evenly_and_listed() -> None:
    design = clean(f"{H100}{WORK}layout: {{tp: 8, pp: 16}}")
    assert design.layout is not None
    assert design.layout.stage_layers == (7, *(8,) * 14, 7)
    assert assumed(design)["layout.stage_layers"] == design.layout.stage_layers
    assert "layout.stage_layers" not in assumed(clean(f"{H100}{WORK}layout: {{tp: 8, pp: 2}}"))


def test_layers_of_ranks_are_cut_into_their_virtual_stages() -> None:
    layout = layout_of(f"{H100}{WORK}layout: {{tp: 8, pp: 2, virtual_stages: 3, stage_layers: [60, 66]}}")
    assert layout.stage_layers == (20, 22, 20, 22, 20, 22)


@given(layers=st.integers(1, 500), stages=st.integers(1, 200))
def test_stages_hold_all_layers_and_differ_by_one_at_most(layers: int, stages: int) -> None:
    cut = even_stages(layers, stages)
    assert len(cut) == stages and sum(cut) == layers
    assert max(cut) - min(cut) <= 1
    longer = [at for at, number in enumerate(cut) if number > min(cut)]
    if longer:  # in the middle, and where that is impossible one nearer to the start
        assert longer == list(range(longer[0], longer[-1] + 1)) and stages - 1 - longer[-1] - longer[0] in {0, 1}


@pytest.mark.parametrize(
    ("nodes", "layout", "used"),
    [
        (36, "{nodes_per_domain: 16}", 32),  # two whole domains of 18 trays
        (35, "{nodes_per_domain: 16}", 16),  # one whole domain
        (4, "{nodes_per_domain: 16}", 4),  # not a whole domain: what there is
        (10, "{nodes_per_domain: 8}", 8),
        (36, "{nodes_per_domain: 18}", 36),  # the whole domain is no restriction
        (36, "{nodes: 20}", 20),
        (36, "{nodes: 20, nodes_per_domain: 16}", 20),
        (36, "{tp: 1}", 36),
    ],
)
def test_a_job_uses_the_stated_nodes_of_each_whole_domain(nodes: int, layout: str, used: int) -> None:
    text = f"cluster: {{platform: gb200-nvl72, nodes: {nodes}}}\n{WORK}layout: {layout}"
    assert layout_of(text).nodes == used


@pytest.mark.parametrize(
    ("layout", "once"),
    [
        ("pp: 2, sharding: zero2", True),
        ("pp: 2, sharding: fsdp", True),
        ("pp: 2, sharding: zero2, framework: custom", True),
        ("pp: 1, sharding: zero2", False),  # no pipeline
        ("pp: 2", False),  # gradients are not sharded
        ("pp: 2, sharding: zero2, gradient_sync: step", False),  # stated
        ("pp: 2, sharding: zero2, gradient_sync: micro-batch", False),
        ("pp: 2, sharding: zero2, framework: deepspeed", False),  # known of the framework
    ],
)
def test_pipelines_of_no_known_framework_are_assumed_to_reduce_gradients_once(layout: str, once: bool) -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}"
    design = clean(f"cluster: {{platform: dgx-h100, nodes: 4}}\n{work}\nlayout: {{tp: 2, {layout}}}\n")
    assert assumed(design).get("layout.gradient_sync") == ("step" if once else None)
