"""Laws of the estimate as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from tests.cost.plans import MIXTRAL, design, plan, seconds, spec
from tests.effort import examples, sampled, steps, telling, thorough

LAYOUTS: tuple[dict[str, Any], ...] = (
    {"tp": 1},
    {"tp": 8},
    {"tp": 8, "sequence_parallel": False},
    {"tp": 2, "pp": 4},
    {"tp": 1, "pp": 4, "schedule": "interleaved", "virtual_stages": 2},
    {"tp": 1, "pp": 4, "schedule": "zero-bubble"},
    {"tp": 1, "pp": 4, "schedule": "dualpipe"},
    {"tp": 1, "pp": 2, "schedule": "gpipe"},
    {"tp": 1, "cp": 4},
    {"tp": 1, "cp": 2, "cp_method": "all-gather"},
    {"tp": 1, "cp": 2, "cp_method": "all-to-all"},
    {"tp": 1, "sharding": "fsdp", "framework": "torchtitan"},
    {"tp": 2, "sharding": "hsdp", "shard_group": 4, "framework": "maxtext"},
    {"tp": 1, "sharding": "none", "framework": "megatron-deepspeed", "software_year": 2022},
    {"tp": 1, "sharding": "zero2", "recompute": "full", "framework": "fsdp", "software_year": 2023},
    {"tp": 2, "recompute": "selective", "framework": "internevo"},
    {"tp": 2, "fused_kernels": False, "captured_graphs": True, "loss": "fused", "framework": "nanotron"},
)
EXPERTS: tuple[dict[str, Any], ...] = (
    {"tp": 1, "ep": 8},
    {"tp": 2, "ep": 4, "expert_tp": 1},
    {"tp": 4, "ep": 2},
    {"ep": 1},
)
SMALL_EXPERTS: tuple[dict[str, Any], ...] = (
    {"tp": 1, "ep": 8, "dispatcher": "hybrid"},
    {"tp": 1, "ep": 32},
    {"tp": 1, "pp": 2, "ep": 16, "recompute": ["expert"], "software_year": 2026},
)
PLANS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    *(({}, layout) for layout in LAYOUTS),
    *(({"model": MIXTRAL}, layout) for layout in EXPERTS),
    *(({"model": "qwen3-30b-a3b", "precision": "fp8"}, layout) for layout in SMALL_EXPERTS),
]


@telling(2)
@pytest.mark.parametrize(("workload", "layout"), PLANS)
def test_parts_sum_to_the_whole(workload: dict[str, Any], layout: dict[str, Any]) -> None:
    whole = plan(workload=workload, layout=layout).step_time
    assert whole is not None
    for term in whole.walk():
        if term.parts:
            assert term.value == pytest.approx(sum(part.value for part in term.parts))


@telling(2)
@pytest.mark.parametrize(("workload", "layout"), PLANS)
def test_no_time_is_negative(workload: dict[str, Any], layout: dict[str, Any]) -> None:
    found = plan(workload=workload, layout=layout)
    assert found.step_time is not None
    assert all(term.value >= 0 for term in found.step_time.walk())
    assert all(-1e-12 <= row.exposed <= row.seconds * (1 + 1e-9) for row in found.communication)


@telling(2)
@pytest.mark.parametrize(("workload", "layout"), PLANS)
def test_no_step_is_faster_than_its_arithmetic_at_the_peak(workload: dict[str, Any], layout: dict[str, Any]) -> None:
    found = plan(workload=workload, layout=layout)
    assert found.step_time and found.mfu and found.hfu
    assert 0 < found.mfu <= found.hfu < 1


@pytest.mark.parametrize("layout", SMALL_EXPERTS)
def test_more_work_for_each_token_is_never_faster(layout: dict[str, Any]) -> None:
    def with_(**changes: int) -> float:
        return seconds(workload={"model": {"base": "qwen3-30b-a3b", **changes}, "precision": "fp8"}, layout=layout)

    plain = with_()
    assert plain < with_(experts_per_token=16)
    assert plain < with_(expert_ffn_hidden=1536)


@pytest.mark.parametrize(("workload", "layout"), sampled(PLANS, 40))
def test_a_faster_link_never_hurts(workload: dict[str, Any], layout: dict[str, Any]) -> None:
    slow, fast = (
        seconds({"scale_out": {"nic_bandwidth": f"{rate} Gb/s"}}, workload=workload, layout=layout)
        for rate in (100, 400)
    )
    assert fast <= slow
    slow, fast = (
        seconds({"scale_up": {"bandwidth": f"{rate} GB/s duplex"}}, workload=workload, layout=layout)
        for rate in (300, 900)
    )
    assert fast <= slow


@pytest.mark.parametrize(("workload", "layout"), sampled(PLANS, 32))
def test_a_faster_accelerator_never_hurts(workload: dict[str, Any], layout: dict[str, Any]) -> None:
    def with_(**figures: Any) -> float:
        return seconds({"accelerator": {"like": "h100-sxm-80gb", **figures}}, workload=workload, layout=layout)

    assert with_(peak={"bf16": "1500 TFLOP/s dense"}) <= with_(peak={"bf16": "900 TFLOP/s dense"})
    assert with_(memory_bandwidth="4 TB/s") <= with_(memory_bandwidth="2 TB/s")
    assert with_(power="700 W") <= with_(power="500 W")


def test_the_same_spec_in_other_units_gives_the_same_answer() -> None:
    one = {"scale_out": {"nic_bandwidth": "400 Gb/s"}, "scale_up": {"bandwidth": "900 GB/s duplex"}}
    other = {"scale_out": {"nic_bandwidth": "50 GB/s"}, "scale_up": {"bandwidth": "450 GB/s unidirectional"}}
    assert seconds(one) == pytest.approx(seconds(other))


@pytest.mark.parametrize(
    "layout", [{"tp": 1}, {"tp": 8, "pp": 4}, {"tp": 1, "sharding": "fsdp", "framework": "torchtitan"}]
)
def test_more_nodes_never_raise_the_rate_of_one_accelerator(layout: dict[str, Any]) -> None:
    rates = [
        plan({"nodes": nodes}, workload={"global_batch": 32 * nodes}, layout=layout).tokens_per_second_per_accelerator
        for nodes in (4, 16, 64, 256)
    ]
    known = [rate for rate in rates if rate is not None]
    assert len(known) == len(rates)
    assert known == sorted(known, reverse=True)


def test_more_recomputation_takes_longer_and_lowers_mfu() -> None:
    none, selective, full = (plan(layout={"recompute": how}) for how in ("none", "selective", "full"))
    assert none.step_time and selective.step_time and full.step_time
    assert none.step_time.value < selective.step_time.value < full.step_time.value
    assert none.mfu and none.hfu and full.mfu and full.hfu
    assert none.hfu == none.mfu > full.mfu
    assert full.mfu < full.hfu <= full.mfu * 4 / 3


@thorough
def test_less_overlap_is_never_faster() -> None:
    for layout in LAYOUTS:
        bare = dict.fromkeys(("tp", "cp", "ep", "dp", "pp"), False)
        assert seconds(layout=layout) <= seconds(layout={**layout, "overlap": bare}) * (1 + 1e-9)


def test_fused_kernels_and_captured_graphs_never_hurt() -> None:
    for layout in LAYOUTS[::4]:
        ways: tuple[dict[str, Any], ...] = (
            {"fused_kernels": False},
            {},
            {"fused_kernels": True},
            {"fused_kernels": True, "captured_graphs": True},
        )
        found = [plan(layout={**layout, **way}) for way in ways]
        times = [one.step_time.value for one in found if one.step_time]
        assert times == sorted(times, reverse=True)
        assert times[0] > times[-1]
        eager, fused = (one.memory.activations.value for one in (found[0], found[2]) if one.memory)
        assert eager > fused


@pytest.mark.parametrize(("chip", "graph"), [("tpu-v4", True), ("h100-sxm-80gb", False)])
def test_a_program_of_no_known_framework_runs_as_a_graph_on_a_tpu(chip: str, graph: bool) -> None:
    """XLA compiles whatever runs on a TPU (Introduction to Cloud TPU); a spec may still state what it does not fuse."""
    machine = {"platform": None, "accelerator": chip, "accelerators_per_node": 4, "scale_up": {"domain": 8}, "nodes": 2}
    layout = {"framework": "custom", "tp": 1}
    unstated, compiled, eager = (
        seconds(machine, layout={**layout, **way})
        for way in (
            {},
            {"fused_kernels": True, "captured_graphs": True},
            {"fused_kernels": False, "captured_graphs": False},
        )
    )
    assert compiled <= unstated < eager
    assert (unstated == compiled) is graph


def test_captured_graphs_leave_single_experts_to_the_host() -> None:
    """128 experts on a rank, two launches for each product of each: the device waits for them, and for nothing else."""
    workload, waits = {"model": "nemotron-3-super", "precision": "fp8"}, {}
    layout = {"tp": 1, "ep": 4, "micro_batch": 1, "software_year": 2026}
    for captured in (True, False):
        found = plan(workload=workload, layout={**layout, "captured_graphs": captured}).step_time
        assert found is not None
        waits[captured] = {term.name for term in found.walk() if term.name.endswith("launching") and term.value}
    ways = ("forward", "backward")
    assert waits[True] == {f"{way}{part}_launching" for way in ways for part in ("", "_expert_layer")}
    assert waits[False] == {*waits[True], "forward_embedding_launching"}


def test_a_loss_that_keeps_fewer_logits_never_hurts() -> None:
    for layout in ({"tp": 1, "sharding": "fsdp", "recompute": "full", "framework": "fsdp"}, {"tp": 8}):
        found = [plan(layout={**layout, "loss": loss}) for loss in ("plain", "fused", "chunked")]
        held = [one.memory.total.value for one in found if one.memory]
        times = [one.step_time.value for one in found if one.step_time]
        assert held == sorted(held, reverse=True) and held[0] > held[-1]
        assert times == sorted(times, reverse=True) and times[0] > times[-1]


def test_a_compiled_loss_moves_each_logit_four_times() -> None:
    """Two bytes are read for the maximum, for the sum and for the gradient, and two are written: 8 where a fused loss,
    which scales its gradient in a pass of its own, moves 10; kept are 6 bytes, between the 4 of a fused and the 12 of a
    plain loss.
    """
    layout = {"tp": 1, "sharding": "fsdp", "recompute": "full", "framework": "fsdp"}
    plans = {loss: plan(layout={**layout, "loss": loss}) for loss in ("plain", "compiled", "fused")}
    seconds, held = {}, {}
    for loss, found in plans.items():
        assert found.step_time is not None and found.memory is not None
        held[loss] = found.memory.total.value
        seconds[loss] = sum(term.value for term in found.step_time.walk() if term.name.endswith("head_loss"))
    assert seconds["compiled"] == pytest.approx(seconds["fused"] * 8 / 10)
    assert (held["compiled"] - held["fused"]) / (held["plain"] - held["fused"]) == pytest.approx(2 / 8)


def test_gathered_inputs_that_are_kept_are_whole() -> None:
    def kept(tp: int, framework: str) -> float:
        found = plan(layout={"tp": tp, "framework": framework, "fused_kernels": False}).memory
        assert found is not None
        return found.activations.value

    assert kept(1, "nanotron") == kept(1, "custom")
    assert kept(4, "nanotron") > 1.1 * kept(4, "custom")


def test_sequence_parallelism_shards_replicated_work() -> None:
    assert seconds(layout={"tp": 8}) < seconds(layout={"tp": 8, "sequence_parallel": False})


def test_virtual_stages_shrink_the_bubble() -> None:
    def bubble(**layout: Any) -> float:
        whole = plan(layout={"tp": 1, "pp": 4, **layout}).step_time
        assert whole is not None
        return next(term.value for term in whole.walk() if term.name == "pipeline_bubble")

    once, twice = bubble(), bubble(schedule="interleaved", virtual_stages=2)
    assert once / 2 == pytest.approx(twice, rel=0.05)
    assert bubble(schedule="zero-bubble") < once


def test_rates_follow_from_the_step() -> None:
    found = plan(workload={"tokens": "1T"})
    assert (
        found.step_time and found.mfu and found.model_flops_per_accelerator and found.tokens_per_second_per_accelerator
    )
    tokens = 128 * 8192
    assert found.tokens_per_second_per_accelerator == pytest.approx(tokens / found.step_time.value / 32)
    assert found.mfu == pytest.approx(found.model_flops_per_accelerator / 989.4e12)
    assert found.time_to_train == pytest.approx(1e12 / tokens * found.step_time.value)


def test_two_ranks_an_accelerator_count_as_one_accelerator() -> None:
    found = plan(
        {"platform": None, "accelerator": "tpu-v7x", "accelerators_per_node": 4, "nodes": 16},
        layout={"framework": "maxtext", "software_year": 2026, "tp": 1},
    )
    assert found.step_time and found.design.layout and found.tokens_per_second_per_accelerator
    assert found.design.layout.ranks == 128
    assert found.tokens_per_second_per_accelerator == pytest.approx(128 * 8192 / found.step_time.value / 64)


def test_the_band_holds_the_prediction() -> None:
    for workload in ({}, {"model": MIXTRAL}):
        found = plan(workload=workload)
        assert found.step_time and found.step_time_range
        low, high = found.step_time_range
        assert low < found.step_time.value < high


@pytest.mark.parametrize(
    ("framework", "width", "hides"), [("fsdp", 2, True), ("torchtitan", 4, True), ("maxtext", 4, False)]
)
def test_shard_groups_are_summed_as_the_framework_does_it(framework: str, width: int, hides: bool) -> None:
    """The all-reduce between shard groups: in the precision of the software, during the backward pass or after it."""
    one = plan(
        layout={"framework": framework, "sharding": "hsdp", "tp": 1, "pp": 1, "shard_group": 8, "micro_batch": 1}
    )
    assert one.step and one.design.workload and one.parameters
    across = next(each for each in one.step.replicas if each.exposure.name == "sum_across_shard_groups")
    assert across.transfers[0].size == pytest.approx(width * one.parameters / 8, rel=0.01)
    assert (across.exposure.exposed < 0.9 * across.exposure.seconds) is hides


def test_a_release_narrows_the_band() -> None:
    """The same software, by the year alone and by its release."""
    base = {"framework": "megatron-core", "tp": 4, "pp": 2, "micro_batch": 1}
    by_year, by_release = (
        plan(layout={**base, **software}) for software in ({"software_year": 2025}, {"software": "megatron-core 0.15"})
    )
    assert by_year.step_time_range and by_release.step_time_range
    assert by_year.step_time and by_release.step_time
    assert by_year.step_time.value == by_release.step_time.value
    assert by_year.step_time_range[0] < by_release.step_time_range[0]
    assert by_year.step_time_range[1] > by_release.step_time_range[1]


def test_experts_widen_the_band() -> None:
    dense, experts = plan(), plan(workload={"model": MIXTRAL})
    assert dense.step_time_range and experts.step_time_range
    assert dense.step_time_range[1] / dense.step_time_range[0] < experts.step_time_range[1] / experts.step_time_range[0]


def lacks_time(found: Plan) -> bool:
    return found.step_time is None and found.mfu is None and found.step_time_range is None and not found.communication


def test_parts_that_cannot_be_computed_are_none() -> None:
    whole = spec()
    assert lacks_time(estimate(design({key: whole[key] for key in ("clusterspec", "name", "cluster")})))
    no_layout = estimate(design({key: value for key, value in whole.items() if key != "layout"}))
    assert lacks_time(no_layout)
    assert no_layout.parameters == pytest.approx(8.03e9, rel=0.01)
    serving = plan(workload={"kind": "serve"})
    assert lacks_time(serving)
    assert serving.memory is not None
    a100 = plan({"platform": None, "accelerator": "a100-sxm-80gb"}, workload={"precision": "fp8"})
    assert lacks_time(a100)
    assert a100.parameters and a100.memory


def test_a_peak_that_the_author_states_counts() -> None:
    assert seconds(workload={"peak_flops": "2000 TFLOP/s dense"}) < seconds()


def test_an_accelerator_without_figures_is_estimated_and_says_what_was_assumed() -> None:
    found = plan({"platform": None, "accelerator": "trainium2", "accelerators_per_node": 16})
    assert found.step_time is not None
    assert {"trainium2 sustained.bf16", "trainium2 attention"} <= {key for key, _, _ in found.assumptions}


def test_constants_of_experts_and_recurrence_are_assumed_only_where_the_model_has_them() -> None:
    dense, routed = (plan(workload={"model": name}) for name in ("llama-3.1-70b", "mixtral-8x7b"))
    named = [{key.rpartition(" ")[2] for key, _, _ in each.assumptions} for each in (dense, routed)]
    assert {"unevenness", "router.bytes", "routing.launches"} <= named[1] - named[0]
    assert not any(name.startswith("scan.") for name in named[0] | named[1])
    assert named[0] & {"tile.depth", "fusion", "jitter"} == {"tile.depth", "fusion", "jitter"}


def test_the_work_of_an_estimate_does_not_grow_with_the_cluster() -> None:
    """Each machine is estimated for the first time, with a sequence of its own length: none finds results of another
    test. The estimate before them reads the catalog and the tables.
    """
    job = {"sequence_length": 7936}
    before, small, large = (
        design(spec({"nodes": nodes}, workload=job | {"global_batch": 64 * nodes}, layout={"tp": 2}))
        for nodes in (3, 2, 12_500)
    )
    estimate(before)
    few, many = (steps(lambda which=which: estimate(which)) for which in (small, large))  # type: ignore[misc]
    assert many < 1.25 * few


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    nodes=st.sampled_from([1, 2, 8, 500, 10**6]),
    tp=st.integers(1, 9),
    pp=st.integers(1, 7),
    cp=st.integers(1, 4),
    ep=st.integers(1, 16),
    batch=st.integers(1, 4096),
    model=st.sampled_from(["llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "gpt3-175b"]),
    precision=st.sampled_from(["bf16", "fp8", "fp32", "fp16"]),
    attention=st.sampled_from(["flash", "plain"]),
    framework=st.sampled_from(["megatron-core", "custom", "deepspeed", "fsdp", "maxtext", "neuronx-distributed"]),
)
def test_every_valid_layout_is_estimated_or_has_none(
    nodes: int, batch: int, model: str, precision: str, attention: str, framework: str, **degrees: int
) -> None:
    found = plan(
        {"nodes": nodes},
        workload={"model": model, "global_batch": batch, "precision": precision, "attention": attention},
        layout={"framework": framework, **degrees},
    )
    assume(found.step_time is not None)
    assert found.step_time is not None
    assert 0 < found.step_time.value < float("inf")


ODD: tuple[dict[str, Any], ...] = (
    {"base": "llama-3.1-8b", "experts": 7, "experts_per_token": 64, "moe_layers": 7},
    {"base": "llama-3.1-8b", "moe_layers": 1},
    {"base": "llama-3.1-8b", "heads": 1, "kv_heads": 2, "head_dim": 1, "vocab": 1},
    {"base": "deepseek-v3", "layers": 1, "hidden": 1},
    {"base": "mixtral-8x7b", "layers": 10**6, "hidden": 10**9},
)


@pytest.mark.parametrize("model", ODD)
@pytest.mark.parametrize("layout", [{"tp": 1}, {"tp": 1000}, {"pp": 999}, {"ep": 64, "expert_tp": 10**12}])
def test_absurd_model_sizes_do_not_crash_an_estimate(model: dict[str, Any], layout: dict[str, Any]) -> None:
    assert 0 < seconds(workload={"model": model}, layout=layout) < float("inf")
