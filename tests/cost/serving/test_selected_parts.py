"""Attention to selected or compressed keys without latent vectors: MiniMax-M3 and DeepSeek-V4, worked out by hand."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.parts.sparse import selects_keys
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_steps import numbers

CONTEXTS = (1.0, 100.0, 1000.0, 2048.0, 4096.0, 32768.0, 131072.0)
MODELS = ("minimax-m3", "deepseek-v4-flash", "deepseek-v4-pro")


@cache
def engine(model: str, tp: int = 8, cache: str = "bf16", platform: str = "dgx-h200") -> Engine:
    design = clean(
        f"cluster: {{platform: {platform}, nodes: 2}}\n"
        f"workload: {{kind: serve, model: {model}, precision: fp8, parameter_precision: fp8, kv_precision: {cache}, "
        "serving: {input_tokens: 4000, output_tokens: 200}}\n"
        f"layout: {{framework: sglang, tp: {tp}}}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None and selects_keys(found)
    return found


def test_layers_with_an_index_read_the_selected_keys_and_the_others_all() -> None:
    """MiniMax-M3 on 4 ranks: 57 of 60 layers with an index; one head of 128 for keys and values on each rank."""
    for context in (1000.0, 30000.0):
        step = decode_step(engine("minimax-m3", tp=4), 32.0, context)
        core, keys = numbers(step, "cache"), numbers(step, "index_keys")
        read = 32 * (57 * min(2048, context) + 3 * context) * 2 * 128 * 2
        assert [core["calls"], core["bytes_read"]] == pytest.approx([60, read / 60])
        assert [keys["calls"], keys["bytes_read"]] == pytest.approx([57, 32 * context * 128 * 2])
        assert keys["flops"] == pytest.approx(32 * context * 4 * 128 * 2)


def test_prompts_multiply_the_selected_keys() -> None:
    """The mean token of 4,096 sees 1,536 selected ones; scores of blocks of 128 tokens are written."""
    step = prompt_step(engine("minimax-m3", tp=4), 4096.0, 4096.0, 1.0)
    core, scores = numbers(step, "latent_attention"), numbers(step, "index_scores")
    assert core["flops"] == pytest.approx(2 * 4096 * 16 * 256 * (57 * 1536 + 3 * 2048))
    assert scores["flops"] == pytest.approx(4096 * 57 * 2048 * 4 * 128 * 2)
    assert scores["bytes_read"] == pytest.approx(4096 * 57 * 2048 * 38 / 128)
    assert "attention" not in {part.name for part in step.parts}


def test_compressed_layers_read_their_window_and_few_entries() -> None:
    """DeepSeek-V4 Flash: 21 layers select 512 of the entries of 4 tokens, 20 read all of 128 tokens, 2 a window alone;
    every rank reads them in full, with 64 rows of heads.
    """
    context = 32768.0
    step = decode_step(engine("deepseek-v4-flash"), 16.0, context)
    core, keys = numbers(step, "latent_attention"), numbers(step, "index_keys")
    entries = 21 * (128 + 512) + 20 * (128 + 256) + 2 * 128
    assert core["calls"] == 43
    assert core["bytes_read"] == pytest.approx(16 * entries * 512 * 2 / 43)
    assert core["flops"] == pytest.approx(16 * entries * 2 * 64 * 1024 / 43)
    assert [keys["calls"], keys["bytes_read"]] == pytest.approx([21, 16 * 8192 * 132])
    assert keys["flops"] == pytest.approx(16 * 8192 * 64 * 128 * 2)


def test_short_contexts_have_fewer_entries_than_the_selection() -> None:
    step = decode_step(engine("deepseek-v4-flash"), 16.0, 1024.0)
    entries = 21 * (128 + 256) + 20 * (128 + 8) + 2 * 128
    assert numbers(step, "latent_attention")["bytes_read"] == pytest.approx(16 * entries * 512 * 2 / 43)


def test_prompts_of_compressed_layers_see_half_of_their_entries() -> None:
    """Of 4,096 tokens, 1,024 light entries: the mean token sees 384 of at most 512, and 16 of 32 heavy ones."""
    step = prompt_step(engine("deepseek-v4-flash"), 4096.0, 4096.0, 1.0)
    core, scores = numbers(step, "latent_attention"), numbers(step, "index_scores")
    entries = 21 * (128 + 384) + 20 * (128 + 16)
    assert core["flops"] == pytest.approx(4096 * entries * 2 * 64 * 1024)
    assert scores["flops"] == pytest.approx(4096 * 21 * 512 * 64 * 128 * 2)
    assert scores["bytes_read"] == pytest.approx(4096 * 21 * 512 * 38)


def test_compressed_attention_has_five_gemms_and_its_index_three() -> None:
    """Flash: 43 layers of five, of shared experts with two and of routed ones with six, and 21 indices of three."""
    one = engine("deepseek-v4-flash")
    assert one.launches == one.host_launches == 43 * (5 + 2 + 6) + 21 * 3


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("platform", ["dgx-h200", "dgx-b200"])
def test_a_longer_context_or_prompt_never_costs_less(model: str, platform: str) -> None:
    one = engine(model, platform=platform)
    steps = [decode_step(one, 64.0, context).total for context in CONTEXTS]
    if platform == "dgx-h200":  # on B200 a call of 2 MB takes longer than one of 32 in the table of any attention
        assert steps == sorted(steps)
    prompts = [prompt_step(one, length, length, 1.0).total for length in CONTEXTS]
    assert prompts == sorted(prompts)


@pytest.mark.parametrize("model", MODELS)
def test_long_contexts_cost_less_than_dense_ones(model: str) -> None:
    one = engine(model)
    work = replace(one.workload, model=replace(one.model, sparse=None, compressed=None))
    dense = Engine.of(one.cluster, work, one.layout, one.replicas)
    assert dense is not None and not selects_keys(dense)
    assert decode_step(one, 64.0, 131072.0).total < decode_step(dense, 64.0, 131072.0).total
    assert prompt_step(one, 65536.0, 65536.0, 1.0).total < prompt_step(dense, 65536.0, 65536.0, 1.0).total
