"""The defaults of serving software: by generation, unless the spec states them, and each as an assumption."""

from __future__ import annotations

import pytest

from clusterspec.cluster.requests import Serving
from clusterspec.cluster.serving import SHARED_CHUNK
from clusterspec.records import replace
from tests.cluster.resolving import assumed, clean, resolve_text
from tests.cluster.test_serving import REQUESTS, plan

RAISED = "up to 0.95 if the requests in flight need more"


def found(framework: str, serving: str = REQUESTS) -> tuple[Serving, dict[str, str]]:
    """The requests on a framework, and the reason of each assumption."""
    design = plan(serving, f"{{framework: {framework}, tp: 8}}")
    assert design.workload.serving is not None
    return design.workload.serving, {key: why for key, _, why in design.assumptions}


@pytest.mark.parametrize(
    ("framework", "of_free", "whole", "named", "rest"),
    [
        ("vllm, software: vllm 0.5", False, False, "vLLM 0.1 to 0.6.1", RAISED),
        ("vllm, software: vllm 0.7", False, False, "vLLM 0.6.2 to 0.7", RAISED),
        ("vllm, software: vllm 0.9", False, False, "vLLM, from 0.8", RAISED),
        ("sglang", False, False, "SGLang, from 0.5.10", RAISED),
        ("trt-llm, software: trt-llm 0.21", True, True, "TensorRT-LLM to 0.21", "of the memory left by the weights"),
        ("trt-llm, software: trt-llm 1.0", True, True, "TensorRT-LLM, from 1.0", "of the memory left by the weights"),
        ("custom", False, False, "most software", RAISED),
    ],
)
def test_a_generation_divides_the_memory_by_its_own_rule(
    framework: str, of_free: bool, whole: bool, named: str, rest: str
) -> None:
    serving, why = found(framework)
    assert (serving.of_free, serving.whole_requests) == (of_free, whole)
    assert (serving.memory_fraction, serving.chunk_tokens, serving.max_sequences) == (0.9, 8192, None)
    reason = why["workload.serving.memory_fraction"]
    assert reason.startswith(f"the default of {named}") and reason.endswith(rest)
    shared = f", {SHARED_CHUNK}" if framework == "sglang" else ""
    assert why["workload.serving.chunk_tokens"] == reason.removesuffix(f", {rest}") + shared


@pytest.mark.parametrize(
    ("software", "alone"), [("vllm 0.7", True), ("vllm 0.8", False), ("sglang 0.5", True), ("trt-llm 1.0", False)]
)
def test_prompts_share_steps_with_decoding_unless_the_release_schedules_either(software: str, *, alone: bool) -> None:
    stack = plan(REQUESTS, f"{{framework: {software.split(maxsplit=1)[0]}, software: {software}, tp: 8}}").layout.stack
    assert stack.serving.prompts_alone == alone


@pytest.mark.parametrize(("replicas", "tokens"), [(1, 8192), (4, 2048), (8, 1024), (9, 8192), (32, 8192)])
def test_replicas_share_a_default_of_the_engine_that_leaves_them_usual_chunks(replicas: int, tokens: int) -> None:
    serving, _ = found("sglang")
    assert serving.chunk_of_replica(replicas) == tokens
    assert replace(serving, chunk_of_engine=False).chunk_of_replica(replicas) == 8192


@pytest.mark.parametrize(
    ("machine", "framework", "chunk"),
    [
        ("a100-sxm-80gb", "vllm", 2048),
        ("h100-sxm-80gb", "vllm", 8192),
        ("l40s", "vllm", 2048),
        ("l40s", "sglang", 4096),
        ("b200-sxm-180gb", "sglang", 16384),
        ("a100-sxm-80gb", "sglang", 8192),
    ],
)
def test_the_default_of_a_chunk_follows_the_accelerator(machine: str, framework: str, chunk: int) -> None:
    text = (
        f"cluster: {{accelerator: {machine}, accelerators_per_node: 8, nodes: 1}}\n"
        "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 100, output_tokens: 100}}\n"
        f"layout: {{framework: {framework}}}\n"
    )
    work = clean(text).workload
    assert work is not None and work.serving is not None and work.serving.chunk_tokens == chunk


@pytest.mark.parametrize(
    ("written", "of_free", "raised"),
    [
        ("", True, False),
        (", concurrency: 8", True, True),
        (", memory_fraction: 0.8", False, False),  # a share of the whole memory, as the key defines it
        (", memory_fraction: 0.8, concurrency: 8", False, False),
        (", request_rate: 2", True, True),
    ],
)
def test_a_stated_fraction_is_of_all_memory_and_never_raised(written: str, of_free: bool, raised: bool) -> None:
    serving, why = found("trt-llm", REQUESTS + written)
    assert (serving.of_free, serving.raised) == (of_free, raised)
    assert ("workload.serving.memory_fraction" in why) == ("memory_fraction" not in written)


@pytest.mark.parametrize(
    ("written", "percentile"), [("", 50.0), ("targets: {ttft: 1 s}", 50.0), ("targets: {percentile: 99.9}", 99.9)]
)
def test_targets_hold_at_the_median_unless_a_percentile_is_stated(written: str, percentile: float) -> None:
    serving, _ = found("vllm", f"{REQUESTS}, {written}" if written else REQUESTS)
    assert serving.percentile == percentile
    assert [each[:3] for each in serving.targets] == ([("ttft", percentile, 1.0)] if "ttft" in written else [])


@pytest.mark.parametrize(
    ("software", "year", "release"),
    [
        ("nemo 25.11", 2025, "nemo 25.11"),
        ("nemo 25.12", 2025, "nemo 25.12"),
        ("nemo 25.13", 2026, None),  # no month
        ("nemo 25.0", 2026, None),
        ("nemo 20.1", 2020, "nemo 20.1"),
        ("nemo 19.12", 2026, None),  # before the first container
        ("nemo 99.1", 2099, "nemo 99.1"),
        ("nemo 100.1", 2026, None),
        ("nemo 25", 2026, None),  # a year alone
    ],
)
def test_a_release_by_year_and_month_names_its_year(software: str, year: int, release: str | None) -> None:
    text = (
        "cluster: {platform: dgx-h100, nodes: 4}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}\n"
    )
    design = clean(f"{text}layout: {{software: {software}}}")
    assert design.layout is not None
    assert (design.layout.software_year, design.layout.software) == (year, release)
    assert ("layout.software_year" in assumed(design)) == (release is None)


@pytest.mark.parametrize(
    ("framework", "model", "weights", "cache"),
    [
        ("trt-llm", "llama-3.1-70b", "fp8", "fp8"),
        ("trt-llm", "llama-3.1-70b", "fp4", "fp8"),
        ("trt-llm", "llama-3.1-70b", "bf16", "bf16"),
        ("trt-llm", "deepseek-v3", "fp8", "bf16"),
        ("vllm", "llama-3.1-70b", "fp8", "bf16"),
    ],
)
def test_the_cache_follows_quantized_weights_where_the_software_follows_checkpoints(
    framework: str, model: str, weights: str, cache: str
) -> None:
    design = clean(
        "cluster: {platform: dgx-b200, nodes: 1}\n"
        f"workload: {{kind: serve, model: {model}, parameter_precision: {weights}, serving: {{{REQUESTS}}}}}\n"
        f"layout: {{framework: {framework}, tp: 8}}\n"
    )
    assert design.workload is not None and design.workload.kv_precision == cache
    assert assumed(design)["workload.kv_precision"] == cache


@pytest.mark.parametrize(
    ("accelerator", "table", "part", "assumes"),
    [
        ("h100-sxm-80gb", "hopper", None, False),  # it was measured itself
        ("h200-sxm-141gb", "hopper-h200", None, False),
        ("a100-sxm-40gb", "ampere", "a100-sxm-80gb", False),  # the same die with another memory
        ("l4", "ada", "l40s", True),  # of the architecture of measured kernels
        ("a30", "ampere", "a100-sxm-80gb", True),
        ("mi325x", "cdna3", "mi300x", False),  # the same die with another memory
        ("gaudi3", "hopper", "h100-sxm-80gb", True),  # of 2024: after the tables from 2022, before those from 2025
        ("tpu-v7x", "blackwell", "b200-sxm-180gb", True),  # of 2025
        ("v100-sxm-32gb", "hopper", "h100-sxm-80gb", True),  # of 2018: before all tables
    ],
)
def test_kernels_are_of_the_accelerator_its_architecture_or_its_year(
    accelerator: str, table: str, part: str | None, assumes: bool
) -> None:
    machine = f"cluster: {{accelerator: {accelerator}, nodes: 1, accelerators_per_node: 8}}\n"
    serves = f"workload: {{kind: serve, model: llama-3.1-8b, serving: {{{REQUESTS}}}}}\n"
    design, _ = resolve_text(machine + serves)
    cluster = design.cluster
    assert cluster is not None and cluster.kernels is not None and cluster.kernels.id == table
    assert (cluster.kernels_part.id if cluster.kernels_part else None) == part
    assert ("cluster.kernels" in assumed(design)) is assumes


def test_training_uses_no_kernels_of_serving() -> None:
    cluster = clean(
        "cluster: {platform: dgx-a100, nodes: 1}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 8}\n"
    ).cluster
    assert cluster is not None and (cluster.kernels, cluster.kernels_part) == (None, None)
