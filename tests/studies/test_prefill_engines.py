"""Engines for prefill and for decode are judged by the rules of layouts, each at its own keys."""

from __future__ import annotations

from clusterspec.cluster.legality import layout_error_rules
from clusterspec.studies import study_text
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 8}}
workload:
  kind: serve
  model: {model}
  serving:
    input_tokens: 4000
    output_tokens: 500
    concurrency: 64
    disaggregated: {{prefill: {{replicas: 1, {prefill}}}, decode: {{replicas: 2, {decode}}}}}
layout: {{software: {software}}}
"""
SIDE = "workload.serving.disaggregated"
QWEN, DEEPSEEK, TRT = "qwen3-235b-a22b", "deepseek-v3", "trt-llm 1.1"
CASES: tuple[tuple[str, str, str, str, dict[str, str]], ...] = (  # at the degrees
    (QWEN, "sglang 0.5.10", "tp: 8", "tp: 8", {}),
    (QWEN, "sglang 0.5.10", "tp: 12", "tp: 8", {f"{SIDE}.prefill.tp": "heads-indivisible-by-tp"}),
    (QWEN, "sglang 0.5.10", "tp: 8", "tp: 12", {f"{SIDE}.decode.tp": "heads-indivisible-by-tp"}),
    # 16 ranks hold no groups of 6
    (QWEN, "sglang 0.5.10", "tp: 4, attention_dp: 4, ep: 6", "tp: 8", {f"{SIDE}.prefill.ep": "ep-not-dividing-ranks"}),
    # vLLM distributes experts over all ranks of an engine or none, SGLang over a part as well
    (QWEN, "vllm 0.14", "tp: 8, ep: 4", "tp: 8, ep: 8", {f"{SIDE}.prefill.ep": "framework-lacks-feature"}),
    (QWEN, "vllm 0.14", "tp: 8, ep: 8", "tp: 8, ep: 4", {f"{SIDE}.decode.ep": "framework-lacks-feature"}),
    (QWEN, "sglang 0.5.10", "tp: 8, ep: 4", "tp: 8", {}),
    # 94 layers on 5 stages: SGLang distributes them by itself
    (QWEN, "sglang 0.5.10", "tp: 8, pp: 3", "tp: 8", {}),
    # with attention data parallelism each rank of TensorRT-LLM is a replica of attention
    (DEEPSEEK, TRT, "tp: 2, attention_dp: 4, ep: 8", "tp: 8", {f"{SIDE}.prefill.tp": "framework-lacks-feature"}),
    (DEEPSEEK, TRT, "attention_dp: 8, ep: 8", "tp: 8", {}),
)  # fmt: skip


def test_engines_that_cannot_start_are_found_at_the_keys_of_their_side() -> None:
    for model, software, prefill, decode, wanted in CASES:
        study = study_text(SPEC.format(model=model, software=software, prefill=prefill, decode=decode), SETTINGS)
        rules = {"heads-indivisible-by-tp", "ep-not-dividing-ranks", "framework-lacks-feature"}
        found = {".".join(map(str, each.path)): each.rule for each in study.findings if each.rule in rules}
        assert found == wanted, (software, prefill, decode)
        assert layout_error_rules(study.design) == set(wanted.values())
