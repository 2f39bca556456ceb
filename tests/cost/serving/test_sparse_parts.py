"""Attention to the tokens that an index selects: DeepSeek-V3.2 and GLM-5."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec.cost.serving.engine import Decoding, Engine
from clusterspec.cost.serving.parts.launches import INDEX_GEMMS, INDEXED
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_steps import numbers
from tests.effort import telling

SELECTED, LAYERS = 2048, 61
CONTEXTS = (1.0, 100.0, 1000.0, 2000.0, 2048.0, 2100.0, 4096.0, 8192.0, 32768.0, 131072.0)


@cache
def engine(
    *, model: str = "deepseek-v3.2", cache: str = "bf16", tp: int = 8, platform: str = "dgx-h200", by: str = "vllm"
) -> Engine:
    design = clean(
        f"cluster: {{platform: {platform}, nodes: 2}}\n"
        f"workload: {{kind: serve, model: {model}, precision: fp8, parameter_precision: fp8, kv_precision: {cache}, "
        "serving: {input_tokens: 4000, output_tokens: 200}}\n"
        f"layout: {{framework: {by}, tp: {tp}}}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None
    return found


def dense(one: Engine) -> Engine:
    """The same engine without the index."""
    work = replace(one.workload, model=replace(one.model, sparse=None))
    found = Engine.of(one.cluster, work, one.layout, one.replicas)
    assert found is not None
    return found


ENGINES = [
    (model, kept, tp, platform)
    for model, tp in (("deepseek-v3.2", 8), ("deepseek-v3.2", 1), ("glm-5", 8))
    for kept in ("bf16", "fp8")
    for platform in ("dgx-h200", "dgx-b200")
]


@telling(2)
@pytest.mark.parametrize(("model", "kept", "tp", "platform"), ENGINES)
def test_contexts_below_the_selection_cost_no_less_than_dense_ones(
    model: str, kept: str, tp: int, platform: str
) -> None:
    one = engine(model=model, cache=kept, tp=tp, platform=platform)
    for sequences in (1.0, 16.0, 256.0):
        for context in CONTEXTS[:5]:
            assert decode_step(one, sequences, context).total >= decode_step(dense(one), sequences, context).total


@pytest.mark.parametrize(("model", "kept", "tp", "platform"), ENGINES)
def test_long_contexts_cost_no_more_than_dense_ones_and_their_index(
    model: str, kept: str, tp: int, platform: str
) -> None:
    """From four selections on, as far as the kernel of a narrow cache is slower than that of dense attention."""
    one = engine(model=model, cache=kept, tp=tp, platform=platform)
    other = dense(one)
    index = (INDEXED * LAYERS if model == "deepseek-v3.2" else INDEXED * 78) * one.rates.gemm_floor("bf16")
    for sequences in (16.0, 256.0):
        weights = decode_step(one, sequences, 1.0).total - decode_step(other, sequences, 1.0).total
        for context in CONTEXTS[7:]:
            step = decode_step(one, sequences, context)
            scores = next(part.seconds for part in step.parts if part.name == "index_keys")
            assert step.total <= decode_step(other, sequences, context).total + scores + max(index, weights)


@telling(2)
@pytest.mark.parametrize(("model", "kept", "tp", "platform"), ENGINES)
def test_a_longer_context_or_prompt_never_costs_less(model: str, kept: str, tp: int, platform: str) -> None:
    for by in ("vllm", "sglang"):
        one = engine(model=model, cache=kept, tp=tp, platform=platform, by=by)
        steps = [decode_step(one, 64.0, context).total for context in CONTEXTS]
        if platform == "dgx-h200":  # on B200 a call of 2 MB takes longer than one of 32 in the table of any attention
            assert steps == sorted(steps)
        prompts = [prompt_step(one, length, length, 1.0).total for length in CONTEXTS]
        assert prompts == sorted(prompts)


def test_a_step_reads_the_selected_tokens_and_the_keys_of_all() -> None:
    """576 elements of 16 bits for 2,048 tokens at most; 128 bytes and a scale of 4 for each token, on every rank."""
    for tp in (1, 8):
        one = engine(tp=tp)
        for context in (1000.0, 30000.0):
            step = decode_step(one, 32.0, context)
            core, keys = numbers(step, "latent_attention"), numbers(step, "index_keys")
            read = min(SELECTED, context)
            assert core["bytes_read"] == pytest.approx(32 * read * 576 * 2)
            assert core["flops"] == pytest.approx(32 * read * max(64, 128 / tp) * 2 * (2 * 512 + 64))
            assert core["rate"] == pytest.approx(0.62 * one.rates.rate_of_16_bits)
            assert keys["bytes_read"] == pytest.approx(32 * context * 132)
            assert keys["flops"] == pytest.approx(32 * context * 64 * 128 * 2)
            assert core["calls"] == keys["calls"] == LAYERS


def test_a_kernel_that_converts_a_narrow_cache_computes_the_whole_selection() -> None:
    for platform, read in (("dgx-h200", SELECTED), ("dgx-b200", 100)):
        core = numbers(decode_step(engine(cache="fp8", platform=platform), 32.0, 100.0), "latent_attention")
        assert core["bytes_read"] == pytest.approx(32 * read * 576)
    converted = engine(cache="fp8").rates
    assert converted.sparse_rate("fp8")[0] == pytest.approx(0.37 * converted.rate_of_16_bits)


def test_prompts_attend_to_the_selection_with_heads_filled_up_to_a_tile() -> None:
    """The mean token of 4,096 sees 1,536 selected ones: half of them 1,024, half 2,048."""
    for platform, rows in (("dgx-h200", 64), ("dgx-b200", 128)):
        one = engine(platform=platform)
        step = prompt_step(one, 4096.0, 4096.0, 1.0)
        core, scores = numbers(step, "latent_attention"), numbers(step, "index_scores")
        assert core["flops"] == pytest.approx(4096 * LAYERS * 1536 * rows * 2 * 1088)
        assert scores["flops"] == pytest.approx(4096 * LAYERS * 2048 * 64 * 128 * 2)
        assert scores["bytes_read"] == pytest.approx(4096 * LAYERS * 2048 * 38)
        assert "attention" not in {part.name for part in step.parts}


def test_the_last_tokens_of_a_long_prompt_see_the_whole_selection() -> None:
    core = numbers(prompt_step(engine(), 1000.0, 9000.0, 1.0), "latent_attention")
    assert core["flops"] == pytest.approx(1000 * LAYERS * SELECTED * 64 * 2 * 1088)


def test_layers_without_an_index_attend_to_the_selection_of_another() -> None:
    """GLM-5.2 has an index in 21 of 78 layers."""
    one = engine(model="glm-5.2")
    step, prompt = decode_step(one, 8.0, 30000.0), prompt_step(one, 1000.0, 30000.0, 1.0)
    core, keys = numbers(step, "latent_attention"), numbers(step, "index_keys")
    assert [core["calls"], core["bytes_read"]] == pytest.approx([78, 8 * SELECTED * 576 * 2])
    assert [keys["calls"], keys["bytes_read"]] == pytest.approx([21, 8 * 30000 * 132])
    assert one.launches - dense(one).launches == INDEXED * 21
    assert numbers(prompt, "latent_attention")["flops"] == pytest.approx(1000 * 78 * SELECTED * 64 * 2 * 1088)
    assert numbers(prompt, "index_scores")["flops"] == pytest.approx(1000 * 21 * 29500 * 32 * 128 * 2)


def test_few_heads_run_prompts_by_the_kernel_of_decoding_where_the_cache_is_narrow() -> None:
    for tp, rate in ((8, 0.37), (4, 0.62), (1, 0.62)):
        one = engine(cache="fp8", tp=tp)
        core = numbers(prompt_step(one, 1000.0, 1000.0, 1.0), "latent_attention")
        assert core["rate"] == pytest.approx(rate * one.rates.rate_of_16_bits)
        seen = SELECTED if tp == 8 else 500
        assert core["flops"] == pytest.approx(1000 * LAYERS * seen * max(64, 128 / tp) * 2 * 1088)


def test_some_software_runs_short_prompts_as_dense_attention() -> None:
    for by, length, absorbed in (("vllm", 2048.0, True), ("sglang", 2048.0, False), ("sglang", 2049.0, True)):
        names = {part.name for part in prompt_step(engine(by=by), length, length, 1.0).parts}
        assert ("latent_attention" in names, "attention" in names) == (absorbed, not absorbed)


def test_the_index_adds_its_kernels_of_which_the_host_counts_the_gemms() -> None:
    one = engine()
    assert one.launches - dense(one).launches == INDEXED * LAYERS
    assert one.host_launches - dense(one).host_launches == INDEX_GEMMS * LAYERS
    assert dense(one).launches == dense(one).host_launches


def test_accelerators_without_measured_kernels_of_an_index_have_rates_of_dense_attention() -> None:
    one = engine(platform="hgx-h20")
    rate, measured = one.rates.sparse_rate("bf16")
    assert (rate, measured) == (one.rates.attention_rate(16384.0), "attention.prefill")
    assert 0 < one.rates.index_rate[0] <= one.rates.peaks["fp8"]
    assert decode_step(one, 8.0, 10000.0, 2.0).total > decode_step(one, 8.0, 10000.0).total
    assert (
        prompt_step(one, 100.0, 100.0, 1.0, Decoding(4.0, 5000.0, 1.0)).total
        > prompt_step(one, 100.0, 100.0, 1.0).total
    )
