"""Memory of serving plans, worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.analysis.verdict import verdict as verdict_of
from clusterspec.cost.memory.fullest import memory_use
from clusterspec.cost.term import MemoryUse
from clusterspec.studies import study_text
from tests.settings import SETTINGS

REQUESTS = {"input_tokens": 3000, "output_tokens": 1000, "concurrency": 64}
H100 = 85_520_809_984.0
"""Bytes that nvidia-smi reports of an H100 with 80 GB (81,559 MiB)."""


def used(work: dict[str, Any], layout: dict[str, Any], *, model: Any = "llama-3.1-8b", nodes: int = 1) -> MemoryUse:
    spec = {
        "clusterspec": 1,
        "name": "test",
        "cluster": {"platform": "dgx-h100", "nodes": nodes},
        "workload": {"kind": "serve", "model": model, **work},
        "layout": layout,
    }
    found, _ = memory_use(study_text(json.dumps(spec), SETTINGS).design)
    assert found is not None
    return found


def leaf(found: MemoryUse, name: str) -> float:
    return sum(term.value for term in found.total.walk() if term.name == name)


def test_the_cache_of_llama_8b_is_128_kib_a_token() -> None:
    """2 × 32 layers × 8 heads × 128 × 2 bytes = 131,072; 64 requests of 3,000 + 500 tokens in eight replicas."""
    found = used({"serving": REQUESTS}, {"tp": 1})
    assert leaf(found, "key_value_cache") == 8 * 3500 * 131_072
    halved = used({"serving": REQUESTS, "kv_precision": "fp8"}, {"tp": 1})
    assert leaf(halved, "key_value_cache") == 8 * 3500 * 131_072 / 2


def test_tensor_parallelism_divides_the_cache_by_heads() -> None:
    """All 64 requests in one replica of 8 ranks, each with one of the 8 heads."""
    assert leaf(used({"serving": REQUESTS}, {"tp": 8}), "key_value_cache") == 64 * 3500 * 131_072 / 8


def test_a_static_batch_ends_together() -> None:
    found = used({"serving": {**REQUESTS, "load": "static"}}, {"tp": 1})
    assert leaf(found, "key_value_cache") == 8 * 4000 * 131_072


def test_latents_are_not_divided() -> None:
    """DeepSeek-V3 keeps 512 + 64 numbers a token and layer on every rank. The second stage is the fuller: 30 layers,
    all with experts, and the head.
    """
    work = {"parameter_precision": "fp8", "serving": {**REQUESTS, "concurrency": 16}}
    found = used(work, {"tp": 8, "pp": 2}, model="deepseek-v3", nodes=2)
    assert leaf(found, "key_value_cache") == pytest.approx(16 * 3500 * 30 * 576 * 2)


def test_replicas_of_attention_share_the_requests() -> None:
    work = {"parameter_precision": "fp8", "serving": REQUESTS}
    found = used(work, {"tp": 1, "attention_dp": 16, "ep": 16}, model="deepseek-v3", nodes=2)
    assert leaf(found, "key_value_cache") == pytest.approx(4 * 3500 * 61 * 576 * 2)


def test_experts_have_their_own_precision_and_copies() -> None:
    """gpt-oss style: 58 layers × 256 experts × 3 × 7168 × 2048 weights of DeepSeek-V3, over 16 ranks."""
    experts = 58 * 256 * 3 * 7168 * 2048
    work = {"parameter_precision": "bf16", "expert_parameter_precision": "mxfp4", "serving": REQUESTS}
    layout = {"tp": 1, "attention_dp": 16, "ep": 16}
    found = used(work, layout, model="deepseek-v3", nodes=2)
    assert leaf(found, "served_experts") == pytest.approx(experts * 17 / 32 / 16)
    copied = used({**work, "serving": {**REQUESTS, "redundant_experts": 32}}, layout, model="deepseek-v3", nodes=2)
    assert leaf(copied, "served_experts") == pytest.approx(experts * 17 / 32 / 16 * 288 / 256)
    assert leaf(copied, "served_weights") == leaf(found, "served_weights")


def test_the_capacity_is_the_share_that_engines_may_fill() -> None:
    whole = used({"serving": REQUESTS}, {"tp": 1})
    assert whole.error == 0, "errors of published peaks are known of training alone"
    assert whole.capacity is not None and whole.capacity.value == pytest.approx(0.9 * H100)
    part = used({"serving": {**REQUESTS, "memory_fraction": 0.5}}, {"tp": 1})
    assert part.capacity is not None and part.capacity.value == pytest.approx(0.5 * H100)


def test_requests_beyond_the_cache_wait() -> None:
    """A million requests fill what weights and buffers leave, and the plan fits."""
    found = used({"serving": {**REQUESTS, "concurrency": 1_000_000}}, {"tp": 1})
    assert found.capacity is not None
    assert found.total.value == pytest.approx(found.capacity.value)
    offline = used({"serving": {"input_tokens": 3000, "output_tokens": 1000, "load": "offline"}}, {"tp": 1})
    assert offline.total.value == pytest.approx(found.capacity.value)


def test_an_engine_that_cannot_hold_one_request_does_not_fit() -> None:
    """One request of two million tokens takes 262 GB."""
    found = used({"serving": {**REQUESTS, "input_tokens": 2_000_000, "concurrency": 1}}, {"tp": 1})
    assert leaf(found, "key_value_cache") == pytest.approx(2_001_000 * 131_072)
    assert found.fits is False


def test_engines_run_no_more_sequences_than_they_may() -> None:
    found = used({"serving": {**REQUESTS, "max_sequences": 2}}, {"tp": 1})
    assert leaf(found, "key_value_cache") == 2 * 3500 * 131_072


def test_a_batch_without_requests_is_counted_at_full_length() -> None:
    found = used({"sequence_length": 4096, "global_batch": 16}, {"tp": 8})
    assert leaf(found, "key_value_cache") == 16 * 4096 * 131_072 / 8
    assert found.capacity is not None and found.capacity.value == H100


def test_a_step_of_prefill_has_its_activations() -> None:
    """8,192 tokens × (2 × 4096 + 2 × 14336 / 4) × 2 bytes."""
    found = used({"serving": REQUESTS}, {"tp": 4})
    assert leaf(found, "step_activations") == 8192 * (2 * 4096 + 2 * 14336 / 4) * 2
    small = used({"serving": {**REQUESTS, "chunk_tokens": 512}}, {"tp": 4})
    assert leaf(small, "step_activations") == leaf(found, "step_activations") / 16


def test_buffers_hold_the_copies_that_other_replicas_may_send() -> None:
    """Of DeepSeek-V3 a token has copies for 8 experts, each with two rows of 7,168 elements in 16 bits: the outputs of
    the first GEMM, 2 × 2048, are narrower. TensorRT-LLM takes the tokens of a whole step, vLLM 32,768 at a time.
    """

    def received(framework: str, *, replicas: int = 8, **requests: Any) -> float:
        work = {
            "precision": "fp8",
            "parameter_precision": "fp8",
            "serving": REQUESTS | {"chunk_tokens": 8192} | requests,
        }
        layout = {"framework": framework, "tp": 16 // replicas, "attention_dp": replicas, "ep": 16}
        return leaf(used(work, layout, model="deepseek-v3", nodes=2), "received_copies")

    row = 8 * (7168 + 7168) * 2
    assert received("trt-llm") == 7 * 8192 * row
    assert received("vllm") == 3 * 8192 * row
    assert received("trt-llm", chunk_tokens=1024) == 7 * 1024 * row == received("vllm", chunk_tokens=1024)
    assert received("sglang") == 0  # its share of the memory leaves the rest for them
    assert received("trt-llm", replicas=1) == 0
    apart = {"prefill": {"attention_dp": 8, "ep": 8}, "decode": {"attention_dp": 8, "ep": 8}}
    assert received("trt-llm", disaggregated=apart) == 0


def test_shards_of_experts_have_outputs_as_wide_as_their_share() -> None:
    """Qwen3-30B-A3B on two ranks: 2 × 768 outputs of the first GEMM of a whole expert, half of them on a shard; both
    are narrower than 2,048, as those of gpt-oss (2 × 2,880 of 2,880) are not.
    """
    work = {"serving": REQUESTS | {"chunk_tokens": 1000}}

    def received(model: str, ep: int) -> float:
        layout = {"framework": "trt-llm", "tp": 1, "attention_dp": 2, "ep": ep}
        return leaf(used(work, layout, model=model), "received_copies")

    assert received("qwen3-30b-a3b", 2) == received("qwen3-30b-a3b", 1) == 1000 * 8 * 2 * 2048 * 2
    assert received("gpt-oss-120b", 2) == 1000 * 4 * (2880 + 2 * 2880) * 2
    assert received("gpt-oss-120b", 1) == 1000 * 4 * (2880 + 2880) * 2


def test_of_separate_engines_the_fullest_counts() -> None:
    """Prefill on 8 ranks holds twice the experts of decode on 16, and one prompt of 4,000 tokens a replica."""
    engines = {"prefill": {"tp": 8}, "decode": {"attention_dp": 16, "ep": 16}}
    separate = {"parameter_precision": "fp8", "serving": {**REQUESTS, "concurrency": 1024, "disaggregated": engines}}
    found = used(separate, {}, model="deepseek-v3", nodes=3)
    assert leaf(found, "served_experts") == pytest.approx(58 * 256 * 3 * 7168 * 2048 / 8)
    assert leaf(found, "key_value_cache") == pytest.approx(4000 * 61 * 576 * 2)


@pytest.mark.parametrize(("kept", "each"), [("fp8", 2.0), ("nvfp4", 2.0), ("bf16", 2.0), ("fp32", 4.0)])
def test_quantization_leaves_the_tables_in_16_bits(kept: str, each: float) -> None:
    """Llama 3.1 8B has an embedding and a head of 128,256 × 4,096 weights each."""
    found = used({"parameter_precision": kept, "serving": REQUESTS}, {"tp": 1})
    assert leaf(found, "served_tables") == 2 * 128_256 * 4096 * each


def test_a_cache_that_fills_the_memory_fits_and_weights_that_nearly_do_may_not() -> None:
    """Offline requests take the memory that the weights leave; 72.7 GB of weights and one request leave no room."""

    def verdict(model: str, load: str) -> tuple[str, tuple[float, float]]:
        text = (
            "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
            f"workload: {{kind: serve, model: {model}, parameter_precision: fp8, precision: fp8, "
            f"serving: {{{load}}}}}\n"
            "layout: {tp: 1}"
        )
        one = study_text(text, SETTINGS)
        assert one.plan.memory_range is not None and one.plan.memory_capacity == pytest.approx(0.9 * H100)
        return str(verdict_of(one.plan).status), one.plan.memory_range

    status, (low, high) = verdict("llama-3.1-8b", "input_tokens: 3000, output_tokens: 1000, load: offline")
    assert status == "clear" and low < high == pytest.approx(0.9 * H100)
    status, (low, high) = verdict("llama-3.1-70b", "input_tokens: 5000, output_tokens: 1000, concurrency: 8")
    assert status == "reservations" and low < 0.9 * H100 < high
