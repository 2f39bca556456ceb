"""What runs with what: designs that a framework's entry refuses, with their near misses, and what search proposes."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.searches.serving_plans.space import engines, serving_job
from clusterspec.cluster.legality import cut_blocks
from tests.analysis.jobs import design_of
from tests.catalog.shipped import CATALOG
from tests.rules.conftest import Check

LACKS, VENDOR = "framework-lacks-feature", "framework-not-on-accelerator"
BLOCKS, RELEASE, PRECISION = "fp8-blocks-cut-by-tp", "unknown-release", "precision-unsupported"
RULES = {LACKS, VENDOR, BLOCKS, RELEASE, PRECISION}
SPEC = """\
clusterspec: 1
cluster: {{accelerator: {machine}, accelerators_per_node: 8, nodes: 2}}
workload: {{{work}}}
layout: {{{layout}}}
"""
TRAIN = "model: llama-3.1-8b, sequence_length: 8192, global_batch: 256"
SERVE = "kind: serve, model: {model}, serving: {{input_tokens: 2000, output_tokens: 500, concurrency: 32{more}}}"
DRAFTED = SERVE.format(model="llama-3.1-70b", more=", speculative: {tokens: 3, acceptance: 0.7}")
PLAIN = SERVE.format(model="llama-3.1-70b", more="")
FP8 = ", precision: fp8, parameter_precision: fp8"
QWEN, DEEPSEEK = (SERVE.format(model=name, more="") + FP8 for name in ("qwen3-235b-a22b", "deepseek-v3"))

ROWS: list[tuple[str, str, str, dict[str, str]]] = [  # machine, workload, layout, and the rules with their severity
    ("h100-sxm-80gb", DRAFTED, "software: vllm 0.9, tp: 8, pp: 2", {LACKS: "error"}),
    ("h100-sxm-80gb", DRAFTED, "software: vllm 0.8.5, tp: 8, pp: 2", {LACKS: "error"}),
    ("h100-sxm-80gb", DRAFTED, "software: vllm 0.15, tp: 8, pp: 2", {LACKS: "error"}),
    ("h100-sxm-80gb", DRAFTED, "software: vllm 0.16, tp: 8, pp: 2", {}),
    ("h100-sxm-80gb", DRAFTED, "software: vllm 0.9, tp: 8", {}),
    ("h100-sxm-80gb", PLAIN, "software: vllm 0.9, tp: 8, pp: 2", {}),
    ("h100-sxm-80gb", DRAFTED, "software: sglang 0.5.21, tp: 8, pp: 2", {LACKS: "error"}),
    ("h100-sxm-80gb", DRAFTED, "framework: sglang, tp: 8, pp: 2", {}),  # the newest release does
    ("h100-sxm-80gb", DRAFTED, "framework: trt-llm, tp: 8, pp: 2", {}),  # not known
    ("h100-sxm-80gb", DRAFTED, "framework: custom, tp: 8, pp: 2", {}),
    ("h100-sxm-80gb", TRAIN, "framework: nemo, pp: 4, schedule: gpipe", {LACKS: "error"}),
    ("h100-sxm-80gb", TRAIN, "framework: nemo, pp: 1, schedule: gpipe", {}),
    ("h100-sxm-80gb", TRAIN, "framework: torchtitan, pp: 4, schedule: gpipe, sharding: fsdp", {}),
    ("h100-sxm-80gb", TRAIN, "pp: 4, schedule: gpipe", {}),
    ("mi300x", PLAIN, "framework: trt-llm, tp: 8", {VENDOR: "error"}),
    ("mi300x", PLAIN, "software: trt-llm 1.0, tp: 8", {VENDOR: "error"}),
    ("mi300x", PLAIN, "framework: sglang, tp: 8", {}),
    ("h100-sxm-80gb", TRAIN, "framework: neuronx-distributed, tp: 8", {VENDOR: "error"}),
    ("trainium2", TRAIN, "framework: neuronx-distributed, tp: 8", {}),
    ("tpu-v5p", TRAIN, "framework: megatron-core", {VENDOR: "error"}),
    ("tpu-v5p", TRAIN, "framework: maxtext", {}),
    ("trainium2", TRAIN, "framework: maxtext", {VENDOR: "error"}),
    ("h100-sxm-80gb", QWEN, "framework: vllm, tp: 8", {BLOCKS: "error"}),  # 1,536 / 8 = 192
    ("h100-sxm-80gb", QWEN, "framework: vllm, tp: 4", {}),  # 384 = 3 × 128
    ("h100-sxm-80gb", QWEN, "framework: sglang, tp: 8, ep: 8", {}),
    ("h100-sxm-80gb", QWEN, "framework: custom, tp: 8", {}),
    ("h100-sxm-80gb", QWEN.replace(FP8, ""), "framework: vllm, tp: 8", {}),
    ("h100-sxm-80gb", DEEPSEEK, "framework: vllm, tp: 16", {}),  # 18,432 / 16 and 2,048 / 16 are whole blocks
    ("h100-sxm-80gb", TRAIN, "software: megatron-core 9.1", {RELEASE: "note"}),
    ("h100-sxm-80gb", TRAIN, "software: maxtext 0.1, sharding: fsdp", {RELEASE: "note"}),
    ("h100-sxm-80gb", TRAIN, "software: megatron-core 0.15.2", {}),
    ("tpu-v5p", TRAIN + ", precision: fp16", "framework: maxtext", {PRECISION: "error"}),
    ("gaudi3", TRAIN + ", precision: fp16", "framework: custom", {}),
]


@pytest.mark.parametrize(("machine", "work", "layout", "wanted"), ROWS)
def test_a_design_that_the_release_refuses_is_found_and_its_near_miss_is_not(
    machine: str, work: str, layout: str, wanted: dict[str, str], check: Check
) -> None:
    findings = check(SPEC.format(machine=machine, work=work, layout=layout))
    assert {one.rule: one.severity.value for one in findings if one.rule in RULES} == wanted


@pytest.mark.parametrize(
    ("model", "tp", "expert_tp", "cut"),
    [
        ("deepseek-v3", 16, 16, []),  # 1,152 = 9 × 128 and 2,048 / 16 = 128
        ("deepseek-v3", 16, 32, [("expert_ffn_hidden", 2048, 32)]),
        ("step-3.7-flash", 8, 1, []),  # its makers run it so: 1,280 / 8 = 160
        ("deepseek-v3", 32, 1, [("ffn_hidden", 18432, 32), ("shared experts", 2048, 32)]),
        ("qwen3-235b-a22b", 8, 1, []),
        ("qwen3-235b-a22b", 8, 5, []),  # no whole number, which has its own rule
        ("llama-3.1-70b", 16, 1, []),  # no blocks are known
    ],
)
def test_a_share_of_a_rank_is_whole_blocks(model: str, tp: int, expert_tp: int, cut: list[tuple[Any, ...]]) -> None:
    assert list(cut_blocks(CATALOG.model(model), tp, expert_tp)) == cut


@pytest.mark.parametrize(
    ("work", "layout"),
    [(QWEN, "framework: vllm"), (DRAFTED, "software: sglang 0.5.21"), (DRAFTED, "software: vllm 0.9")],
)
def test_search_proposes_no_engine_that_the_framework_refuses(work: str, layout: str) -> None:
    def job_of(text: str) -> list[tuple[int, int, int]]:
        spec = SPEC.format(machine="h100-sxm-80gb", work=work, layout=text)
        job = serving_job(design_of(spec.removeprefix("clusterspec: 1\n")))
        assert job is not None
        return [(each.tp, each.expert_tp, each.pp) for each in engines(job)]

    found, every = set(job_of(layout)), set(job_of("framework: custom"))
    refused = every - found
    assert refused and found
    model = CATALOG.model("qwen3-235b-a22b")
    assert all(pp > 1 if work == DRAFTED else cut_blocks(model, tp, expert_tp) for tp, expert_tp, pp in refused)


LIBRARY = "library-not-on-accelerator"
NODES = """\
clusterspec: 1
cluster: {{accelerator: {machine}, accelerators_per_node: 8, nodes: 2, {keys}}}
"""


@pytest.mark.parametrize(
    ("machine", "keys", "wanted"),
    [
        ("b200-sxm-180gb", "software: [nvidia-driver 565.57, cuda 12.8]", {0: "error"}),
        ("b200-sxm-180gb", "software: [driver 570.86.15, CUDA v12.8, torch 2.7.1]", {}),
        ("b200-sxm-180gb", "software: [cuda 12.6, pytorch 2.6]", {0: "error", 1: "error"}),
        ("h100-sxm-80gb", "software: [nvidia-driver 535.129, cuda 12.2, pytorch 2.3]", {}),
        ("h100-sxm-80gb", "software: [cuda 11.7]", {0: "error"}),
        ("v100-sxm-32gb", "software: [cuda 12.8]", {}),
        ("v100-sxm-32gb", "software: [cuda 13.0]", {0: "error"}),
        ("mi355x", "software: [rocm 6.4]", {0: "error"}),
        ("mi355x", "software: [rocm 7.0.2]", {}),
        ("mi300x", "software: [cuda 12.8]", {0: "error"}),
        ("trainium2", "software: [neuron 2.19]", {0: "error"}),
        ("trainium2", "software: [neuron 2.26]", {}),
        ("b200-sxm-180gb", "software: [hpc-x 2.21]", {0: "note"}),  # no entry: nothing is compared
        ("b200-sxm-180gb", "software: [nvidia-drver 550]", {0: "warning"}),  # a slip of a name
        ("b200-sxm-180gb", "software: [vllm 0.6]", {0: "error"}),  # a framework, from before the accelerator
        ("b200-sxm-180gb", "software: [vllm 0.12]", {}),
        ("b200-sxm-180gb", "scale_out: {collective_library: nccl 2.23}", {"collective_library": "error"}),
        ("b200-sxm-180gb", "scale_out: {collective_library: nccl}", {}),
        ("b200-sxm-180gb", "scale_out: {collective_library: nvshmem 3.0}", {}),
        ("b200-sxm-180gb", "scale_out: {collective_library: nccl 2.26.2}", {}),
    ],
)
def test_a_release_of_a_library_is_compared_with_the_accelerator(
    machine: str, keys: str, wanted: dict[int | str, str], check: Check
) -> None:
    findings = check(NODES.format(machine=machine, keys=keys))
    assert {one.path[-1]: one.severity.value for one in findings if one.rule == LIBRARY} == wanted
