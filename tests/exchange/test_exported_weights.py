"""Launches of serving load weights in the precision of the design, and have its attention replicas."""

from __future__ import annotations

import re

import pytest

from clusterspec.exchange.exporters.registry import ExportedFile, NotExportable, exporter_of
from tests.exchange.test_exporters import source

LOAD = "serving: {input_tokens: 1000, output_tokens: 500, concurrency: 16}"
ENGINES = ("vllm", "sglang", "trt-llm")


def written(kind: str, model: str, precision: str, layout: str = "tp: 8") -> ExportedFile:
    stated = f"parameter_precision: {precision}, " if precision else ""
    work = f"workload: {{kind: serve, model: {model}, {stated}{LOAD}}}\nlayout: {{{layout}}}\n"
    return exporter_of(kind).write(source("platform: dgx-h200, nodes: 1", work))


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
@pytest.mark.parametrize(
    ("model", "precision", "quantizes"),
    [
        ("llama-3.1-70b", "fp8", True),
        ("qwen3-32b", "fp8", True),  # its fp8 checkpoint has a repository of its own
        ("qwen3-32b", "", False),
        ("deepseek-v3", "fp8", False),  # published in fp8
        ("kimi-k2.5", "fp8", False),  # published with experts in int4
        ("gpt-oss-120b", "fp8", False),  # and in mxfp4
        ("deepseek-v3", "", False),
    ],
)
def test_weights_are_quantized_where_the_repository_holds_wider_ones(
    kind: str, model: str, precision: str, quantizes: bool
) -> None:
    file = written(kind, model, precision)
    assert ("--quantization fp8" in str(file.content)) is quantizes
    assert any("publisher's fp8 checkpoint" in each for each in file.omitted) is (model == "qwen3-32b" and quantizes)


@pytest.mark.parametrize("kind", ENGINES)
def test_weights_that_no_option_gives_are_named(kind: str) -> None:
    def named(model: str, precision: str) -> bool:
        return any(f"weights in {precision}" in each for each in written(kind, model, precision).omitted)

    assert named("deepseek-v3", "bf16")
    assert named("llama-3.1-70b", "int4")
    assert named("kimi-k2.5", "fp8")
    assert not named("llama-3.1-70b", "bf16")
    assert named("qwen3-32b", "fp8") is (kind == "trt-llm")


def test_attention_replicas_of_tensorrt_llm_are_single_ranks() -> None:
    with pytest.raises(NotExportable, match="no tp 4 within attention replicas"):
        written("trt-llm", "deepseek-v3", "", "tp: 4, ep: 8, attention_dp: 2")
    assert "--tp_size 8" in str(written("trt-llm", "deepseek-v3", "", "tp: 1, ep: 8, attention_dp: 8").content)


@pytest.mark.parametrize(("platform", "catalog"), [("dgx-h200", True), ("mi300x-ubb8", False)])
def test_workers_of_dynamo_have_an_image_of_the_catalog_on_nvidias_accelerators_alone(
    platform: str, catalog: bool
) -> None:
    work = f"workload: {{kind: serve, model: llama-3.1-8b, {LOAD}}}\nlayout: {{software: vllm 0.31, tp: 8}}\n"
    file = exporter_of("dynamo").write(source(f"platform: {platform}, nodes: 1", work))
    frontend, worker = re.findall(r"image: (\S+)", str(file.content))
    assert frontend.startswith("nvcr.io/") and worker.startswith("nvcr.io/") == catalog
    assert any("the image of the workers" in each for each in file.omitted) != catalog
