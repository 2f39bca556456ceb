"""What must hold of memory whatever the layout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.catalog.models import LinearAttention, Model, Window
from clusterspec.cost.memory.fullest import memory_use
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.source import Assumed
from tests.cost.expressions import evaluate
from tests.cost.memory.designs import design, experts, model
from tests.cost.plans import plan

LATENT = experts(latent_q=256, latent_kv=128, latent_rope=32, kv_heads=16)
HYBRID = experts(linear=LinearAttention("gated-delta", 4, 16, 16, 64, 64), window=Window(128, 2), expert_latent=256)
MODELS = st.sampled_from([model(), experts(), LATENT, HYBRID, model(tied_embeddings=True, gated_ffn=False)])
FRAMEWORKS = st.sampled_from(
    ["megatron-core", "megatron-deepspeed", "internevo", "torchtitan", "fsdp", "maxtext", "nanotron", "custom"]
)
DEGREES = st.sampled_from([1, 2, 4])
SHARDING = ("none", "zero1", "zero2", "fsdp")
SCHEDULES = ("1f1b", "zero-bubble", "gpipe", "dualpipe")
STATES = ("weights", "gradients", "optimizer")


def used(of: Model, work: dict[str, Any] | None = None, **cut: Any) -> MemoryUse:
    found, _ = memory_use(design(of, work, **cut))
    assert found is not None
    return found


def kept(found: MemoryUse) -> float:
    """Bytes of states that stay from step to step: what is only gathered or being reduced does not count."""
    passing = {"gathered_layers", "gathered_tables", "layer_being_reduced", "placeholders", "widened_gradient"}
    terms: list[Term] = [part for name in STATES for part in getattr(found, name).parts]
    return sum(term.value for term in terms if term.name not in passing)


LAYOUTS = st.fixed_dictionaries(
    {
        "tp": DEGREES,
        "cp": st.sampled_from([1, 2]),
        "pp": DEGREES,
        "dp": DEGREES,
        "framework": FRAMEWORKS,
        "software_year": st.sampled_from([2022, 2024, 2026]),
        "sharding": st.sampled_from(SHARDING),
        "schedule": st.sampled_from(SCHEDULES),
        "micro_batch": DEGREES,
        "micro_batches": st.integers(1, 16),
        "recompute": st.sampled_from(["none", "selective", "full"]),
    }
)
WORK = st.fixed_dictionaries(
    {
        "precision": st.sampled_from(["bf16", "fp16", "fp8", "fp4", "fp32", "tf32"]),
        "attention": st.sampled_from(["flash", "plain"]),
        "optimizer": st.sampled_from(["adam", "adamw", "sgd", "momentum", "lion", "adafactor", "muon"]),
        "parameter_precision": st.sampled_from(["bf16", "fp32", "fp8"]),
    }
)


@given(MODELS, WORK, LAYOUTS)
def test_parts_sum_to_the_whole_and_lie_in_their_range(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    for term in used(of, work, **cut).total.walk():
        assert term.unit == "B" and term.value >= 0 and term.formula
        assert term.low is not None and term.high is not None
        assert term.low <= term.value <= term.high
        if term.parts:
            assert sum(part.value for part in term.parts) == pytest.approx(term.value)


@given(MODELS, WORK, LAYOUTS)
def test_every_assumed_input_is_listed(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    found, assumptions = memory_use(design(of, work, **cut))
    assert found is not None
    keys = {key for key, _, _ in assumptions}
    inputs = [figure.origin for term in found.total.walk() for _, figure in term.inputs]
    assert {origin.key for origin in inputs if isinstance(origin, Assumed)} <= keys


@given(MODELS, WORK, LAYOUTS)
def test_memory_shrinks_when_more_replicas_share(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    """Two replicas and up: the first sharding brings gathering with it, and a communicator."""
    few, many = ({**cut, "dp": dp, "cp": 1} for dp in (2, 8))
    assert used(of, work, **many).total.value <= used(of, work, **few).total.value


@given(MODELS, WORK, LAYOUTS)
def test_states_shrink_when_sharding_grows(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    """In a framework that keeps gradients in their stated precision; FSDP in a pipeline leaves weights gathered."""
    chosen = {**cut, "dp": 4, "framework": "megatron-core", "software_year": 2026}
    sums = [kept(used(of, work, **{**chosen, "sharding": sharding})) for sharding in SHARDING]
    assert sums == sorted(sums, reverse=True)


@given(MODELS, WORK, LAYOUTS, st.integers(1, 15))
def test_more_micro_batches_never_need_less(of: Model, work: dict[str, Any], cut: dict[str, Any], more: int) -> None:
    few = used(of, work, **cut)
    many = used(of, work, **{**cut, "micro_batches": cut["micro_batches"] + more})
    assert many.total.value >= few.total.value * (1 - 1e-12)


@given(MODELS, WORK, LAYOUTS)
def test_no_schedule_holds_more_than_gpipe_and_none_less_than_1f1b(
    of: Model, work: dict[str, Any], cut: dict[str, Any]
) -> None:
    sums = [used(of, work, **{**cut, "schedule": name}).total.value for name in ("1f1b", "zero-bubble", "gpipe")]
    assert sums[0] <= sums[1] * (1 + 1e-12) <= sums[2] * (1 + 1e-11)


@given(MODELS, WORK, LAYOUTS)
def test_recomputation_never_needs_more_of_what_is_stored(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    whole, full = (_stored(used(of, work, **{**cut, "recompute": name})) for name in ("none", "full"))
    assert full <= whole
    assert full <= _stored(used(of, work, **{**cut, "recompute": "selective"})) or cut["framework"] == "maxtext"


def _stored(found: MemoryUse) -> float:
    passing = {"working_space", "logits_and_loss", "context_exchange", "outputs_kept", "pipeline_buffers"}
    return sum(part.value for part in found.activations.parts if part.name not in passing)


@given(MODELS, WORK, LAYOUTS)
def test_twice_the_tensor_parallelism_never_needs_more(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    """Between degrees above one: the first brings a communicator."""
    chosen = {**cut, "sequence_parallel": True}
    two, four = (used(of, work, **{**chosen, "tp": tp}).total.value for tp in (2, 4))
    assert four <= two * (1 + 1e-12)


@given(MODELS, WORK, LAYOUTS)
def test_longer_sequences_and_larger_micro_batches_never_need_less(
    of: Model, work: dict[str, Any], cut: dict[str, Any]
) -> None:
    short = used(of, work, **cut).total.value
    assert used(of, {**work, "sequence_length": 4096}, **cut).total.value >= short
    assert used(of, work, **{**cut, "micro_batch": 2 * cut["micro_batch"]}).total.value >= short


@given(MODELS, LAYOUTS)
def test_flash_attention_never_needs_more_than_plain(of: Model, cut: dict[str, Any]) -> None:
    flash, plain = (used(of, {"attention": kind}, **cut).total.value for kind in ("flash", "plain"))
    assert flash <= plain


@given(MODELS, LAYOUTS)
def test_optimizers_rank_by_what_they_keep(of: Model, cut: dict[str, Any]) -> None:
    sums = [used(of, {"optimizer": name}, **cut).optimizer.value for name in ("sgd", "momentum", "muon", "adam")]
    assert sums == sorted(sums)


@given(MODELS, LAYOUTS)
def test_what_is_offloaded_is_not_on_the_device(of: Model, cut: dict[str, Any]) -> None:
    none, half, gone = (
        used(of, **{**cut, "pp": 1, "offload_optimizer": share}).optimizer.value for share in (0.0, 0.5, 1.0)
    )
    assert gone == 0
    assert half == pytest.approx(none / 2)


@given(MODELS, WORK, LAYOUTS, st.sampled_from([2, 4]))
def test_an_accelerator_holds_all_its_ranks(of: Model, work: dict[str, Any], cut: dict[str, Any], ranks: int) -> None:
    one = used(of, work, **cut)
    several, _ = memory_use(design(of, work, ranks_per_accelerator=ranks, **cut))
    assert several is not None
    assert several.total.value == pytest.approx(ranks * one.total.value)
    assert several.capacity == one.capacity


def test_the_fullest_of_uneven_stages_decides() -> None:
    of = model()
    even = used(of, pp=4, stage_layers=(2, 2, 2, 2)).total.value
    assert used(of, pp=4, stage_layers=(1, 1, 5, 1)).total.value > even
    assert used(of, pp=4, stage_layers=(5, 1, 1, 1)).total.value > used(of, pp=4, stage_layers=(1, 1, 1, 5)).total.value


def test_the_last_stage_counts_where_the_head_is_what_fills_it() -> None:
    of = model(vocab=1_000_000)
    assert any(part.name == "logits_and_loss" for part in used(of, pp=4, micro_batches=1).activations.parts)


def test_a_sharded_optimizer_widens_narrow_gradients_only() -> None:
    """DeepSpeed keeps an fp32 copy of its part of 16-bit gradients, and none of fp32 gradients."""
    narrow, wide = (
        used(model(), {"precision": "fp16", "gradient_precision": kept}, dp=2, framework="megatron-deepspeed")
        for kept in ("fp16", "fp32")
    )
    assert wide.gradients.value == pytest.approx(2 * narrow.gradients.value)
    assert any(part.name.startswith("fp32_gradients") for part in narrow.optimizer.parts)
    assert all(not part.name.startswith("fp32_gradients") for part in wide.optimizer.parts)


def test_a_design_without_workload_has_no_memory_estimate() -> None:
    whole = design(model())
    for lacking in (replace(whole, cluster=None), replace(whole, workload=None), replace(whole, layout=None)):
        assert memory_use(lacking) == (None, ())
    assert whole.layout is not None
    assert memory_use(replace(whole, layout=replace(whole.layout, stage_layers=()))) == (None, ())


def test_fit_is_unknown_without_memory_capacity() -> None:
    whole = design(model())
    assert whole.cluster is not None
    accelerator = replace(whole.cluster.accelerator, memory=None)
    found, _ = memory_use(replace(whole, cluster=replace(whole.cluster, accelerator=accelerator)))
    assert found is not None and found.fits is None and found.total.value > 0


def test_a_cluster_of_any_size_takes_the_same_time() -> None:
    """Nothing is enumerated rank by rank: a pipeline of a thousand stages is looked at in a handful."""
    from clusterspec.cost.layers import stage_groups
    from clusterspec.cost.memory import Job
    from clusterspec.cost.memory.fullest import candidates_for_fullest

    whole = design(model(layers=1003), pp=1000, dp=100)
    assert whole.workload is not None and whole.layout is not None
    job = Job.of(whole, whole.workload, whole.layout)
    assert len(candidates_for_fullest(job, stage_groups(job.model, job.layout))) <= 10


def test_up_to_64_kinds_of_stages_are_all_looked_at_and_of_more_the_telling_ones() -> None:
    """Of 65 kinds: both ends, and the 16 of most layers and of most micro-batches in flight."""
    from clusterspec.cost.layers import Chunk, StageGroup
    from clusterspec.cost.memory import Job
    from clusterspec.cost.memory.fullest import candidates_for_fullest

    def groups(number: int) -> tuple[StageGroup, ...]:
        layers = range(number, 0, -1)
        return tuple(
            StageGroup(at, 1, (Chunk(each, each, 0, 0, each, 0, at == 0, at == number - 1),))
            for at, each in enumerate(layers)
        )

    whole = design(model(layers=130), pp=65, dp=1)
    assert whole.workload is not None and whole.layout is not None
    job = Job.of(whole, whole.workload, whole.layout)
    assert candidates_for_fullest(job, groups(64)) == list(groups(64))
    few = candidates_for_fullest(job, groups(65))
    assert [each.first for each in few] == [*range(16), 64]


class TestServing:
    """Weights and key-value cache."""

    WORK = {"kind": "serve", "global_batch": 16}  # noqa: RUF012

    def test_the_cache_is_two_bytes_for_each_key_and_value(self) -> None:
        of = model()
        found = used(of, self.WORK, micro_batches=None)
        assert found.activations.value == 2 * 16 * 2048 * of.layers * 2 * of.kv_heads * of.head_dim
        assert found.gradients.value == found.optimizer.value == 0

    def test_latent_attention_caches_its_latent(self) -> None:
        found = used(LATENT, self.WORK, micro_batches=None)
        assert found.activations.value == 2 * 16 * 2048 * LATENT.layers * (128 + 32)

    def test_a_cache_is_cut_no_further_than_heads_go(self) -> None:
        of = model(kv_heads=2)
        two, four = (used(of, self.WORK, micro_batches=None, tp=tp).activations.value for tp in (2, 4))
        assert two == four


def test_the_terms_of_one_design_match_the_golden_text() -> None:
    """The names that people see with `--explain`."""
    found = used(experts(), {"sequence_length": 1024}, tp=2, ep=2, dp=2, expert_tp=1, recompute="selective")
    names = [term.name for term in found.total.walk()]
    assert names == [
        "memory", "weights", "weights_dense", "weights_expert", "gradients", "gradients_dense", "gradients_expert",
        "placeholders", "optimizer", "master_weights_dense", "master_weights_expert", "moments_dense",
        "moments_expert", "activations", "normalizations", "attention", "feed_forward", "experts", "router",
        "shared_experts", "logits_and_loss", "other", "context", "communication_buffers", "fragmentation",
    ]  # fmt: skip


@given(MODELS, WORK, LAYOUTS)
def test_every_leaf_follows_from_its_inputs_by_its_formula(
    of: Model, work: dict[str, Any], cut: dict[str, Any]
) -> None:
    for leaf in _leaves(used(of, work, **cut).total):
        numbers = {name: figure.value for name, figure in leaf.inputs}
        assert evaluate(leaf.formula, numbers) == pytest.approx(leaf.value, rel=1e-9)


def _leaves(term: Term) -> list[Term]:
    return [each for each in term.walk() if not each.parts]


@given(MODELS, WORK, LAYOUTS)
def test_every_leaf_says_where_it_comes_from(of: Model, work: dict[str, Any], cut: dict[str, Any]) -> None:
    for leaf in _leaves(used(of, work, **cut).total):
        assert leaf.value == 0 or leaf.inputs


def _names(found: MemoryUse) -> set[str]:
    return {term.name for term in found.total.walk()}


DEEPSPEED, TITAN = {"framework": "megatron-deepspeed"}, {"framework": "torchtitan", "software_year": 2024}
FULL = {"sharding": "fsdp", "dp": 2, **TITAN}


@pytest.mark.parametrize(
    ("name", "without", "with_it"),
    [
        ("context_exchange", {"cp": 1}, {"cp": 2}),
        ("pipeline_buffers", {"pp": 1, **DEEPSPEED}, {"pp": 2, **DEEPSPEED}),
        ("outputs_kept", {"pp": 1, **TITAN}, {"pp": 2, **TITAN}),
        ("gathered_layers", {"sharding": "fsdp", "dp": 1}, {"sharding": "fsdp", "dp": 2}),
        ("gathered_layers", {**FULL, "pp": 2}, FULL),  # a pipeline leaves the weights of FSDP gathered
        ("gathered_weights_dense", FULL, {**FULL, "pp": 2}),
        ("layer_being_reduced", {"sharding": "zero1", "dp": 4}, {"sharding": "fsdp", "dp": 4}),
        ("communication_buffers", {"dp": 1}, {"dp": 2}),
        ("widened_gradient", {"framework": "megatron-core"}, DEEPSPEED),
        ("placeholders", TITAN, {"framework": "megatron-core"}),
    ],
)
def test_unused_terms_are_left_out(name: str, without: dict[str, Any], with_it: dict[str, Any]) -> None:
    small = {"vocab": 1000}  # the peak is in the backward pass, not at the loss
    assert name not in _names(used(model(**small), **without))
    several = used(model(vocab=1_000_000), **with_it) if name == "outputs_kept" else used(model(**small), **with_it)
    assert name in _names(several)


@pytest.mark.parametrize(("vocab", "tp"), [(1_000, 1), (256_000, 1), (256_000, 4)])
def test_the_largest_gradient_is_widened_alone(vocab: int, tp: int) -> None:
    """DeepSpeed adds bf16 gradients to those in fp32 tensor by tensor: 4 B for each weight of the largest table, or of
    half a layer.
    """
    of = model(vocab=vocab)
    layer = of.hidden * (2 * of.hidden + 2 * of.kv_heads * of.head_dim + 3 * of.ffn_hidden)
    found = next(
        term.value for term in used(of, None, tp=tp, **DEEPSPEED).total.walk() if term.name == "widened_gradient"
    )
    assert found == pytest.approx(4 * max(vocab * of.hidden, layer / 2) / tp, rel=2e-3)


def test_a_model_that_runs_operation_by_operation_keeps_what_each_reads() -> None:
    """Per number: a norm its fp32 input and its quotient in addition to its output; a gate its activation as well."""
    plain, fused = (
        {part.name: part.value for part in used(model(), framework=name).activations.parts}
        for name in ("deepspeed", "megatron-deepspeed")
    )
    assert plain["normalizations"] == pytest.approx((4 + 2 + 2) / (2 + 2) * fused["normalizations"])
    assert plain["feed_forward"] == pytest.approx(8 / 6 * fused["feed_forward"])


def test_the_results_of_an_unfused_update_take_the_place_of_activations() -> None:
    """Denominators of all updates, 2 bytes a weight in addition to moments in 16 bits, when activations are gone: of 8
    billion weights they take more than 64 tokens, and less than 65,536.
    """
    for tokens in (64, 65_536):
        work = {"sequence_length": tokens, "global_batch": 1, "gradient_precision": "bf16"}
        states: dict[str, Any] = {
            "tp": 1,
            "sharding": "none",
            "optimizer_states": {"master": "none", "moments": "bf16"},
        }
        one, other = (
            plan({"nodes": 1, "accelerators_per_node": 1}, workload=work, layout=states | more).memory
            for more in ({}, {"fused_optimizer": False})
        )
        assert one is not None and other is not None
        more = other.optimizer.value - one.optimizer.value
        half = one.weights.value  # 2 bytes a weight
        assert more == pytest.approx(max(0.0, half - one.activations.value), rel=1e-6, abs=1.0)
        assert (more > 0) == (tokens == 64)
