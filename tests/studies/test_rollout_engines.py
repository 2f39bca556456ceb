"""Engines of rollout are judged by the rules of serving plans, at the keys of the rollout."""

from __future__ import annotations

from typing import Any

from clusterspec.finding import Problem
from clusterspec.spec.model import RolloutSpec
from clusterspec.studies import study_text
from clusterspec.studies.engines import _rollout_problem
from tests.effort import each, thorough
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
cluster: {{platform: {platform}, nodes: 16}}
workload:
  kind: rl
  model: {model}
  sequence_length: 8192
  rl:
    {{prompts_per_step: 128, samples_per_prompt: 8, input_tokens: 500, output_tokens: 1500, max_staleness: 1,
      rollout: {{nodes: 8, {rollout}}}}}
layout: {{framework: megatron-core, tp: 8, recompute: full}}
"""
CASES = (
    ("dgx-h100", "llama-3.1-70b", "tp: 1", "states-exceed-memory", "workload.rl.rollout.tp"),
    ("dgx-h100", "qwen2.5-7b", "tp: 8", "heads-indivisible-by-tp", "workload.rl.rollout.tp"),
    ("mi300x-ubb8", "qwen3-8b", "framework: trt-llm", "framework-not-on-accelerator", "workload.rl.rollout.framework"),
    (
        "dgx-h100",
        "qwen3-8b",
        "memory_fraction: 0.99",
        "memory-fraction-too-high",
        "workload.rl.rollout.memory_fraction",
    ),
    ("dgx-h100", "qwen3-8b", "software: vllm 0.3, tp: 1", "framework-lacks-feature", "workload.rl.rollout.software"),
    ("dgx-a100", "qwen3-8b", "parameter_precision: fp8", "", ""),  # weights of 8 bits are widened
    ("dgx-h100", "qwen3-8b", "tp: 2", "", ""),
)


@thorough
def test_engines_that_cannot_start_are_found_at_their_keys() -> None:
    for platform, model, rollout, rule, path in CASES:
        findings = study_text(SPEC.format(platform=platform, model=model, rollout=rollout), SETTINGS).findings
        found = {
            (each.rule, ".".join(map(str, each.path))) for each in findings if "engines of rollout" in each.message
        }
        assert found == ({(rule, path)} if rule else set()), (rollout, found)


def test_engines_across_domains_are_as_grave_as_the_step_that_they_lose() -> None:
    """With answers of 1,500 tokens the trainer sets the step, and rollout may be slower; with 6,000 rollout does. The
    weights of a model of 405B need two nodes, so that no engine inside one is left."""
    text = SPEC.format(platform="dgx-h100", model="qwen3-32b", rollout="tp: 16")
    assert _across(text) == ["note"]
    assert _across(text.replace("output_tokens: 1500", "output_tokens: 6000")) == ["error"]
    assert _across(text.replace("tp: 16", "tp: 64")) == ["error"]
    assert _across(text.replace("tp: 16", "tp: 8")) == []
    assert _across(SPEC.format(platform="dgx-h100", model="llama-3.1-405b", rollout="tp: 16")) == ["note"]


def _across(text: str) -> list[str]:
    """The severities of tensor parallelism of engines beyond a domain."""
    findings = study_text(text, SETTINGS).findings
    return [
        str(each.severity)
        for each in findings
        if each.rule == "tp-crosses-scale-up-domain" and "engines of rollout" in each.message
    ]


PATHS = [  # a key of the serving design, the keys of the rollout that are stated, and the key of the problem there
    ("layout.tp", {"tp": 2}, "workload.rl.rollout.tp"),
    ("layout.tp", {}, "workload.rl.rollout"),
    ("layout.recompute", {"tp": 2}, "workload.rl.rollout"),  # no key of a rollout
    ("workload.serving.memory_fraction", {"memory_fraction": 0.9}, "workload.rl.rollout.memory_fraction"),
    ("workload.model", {"software": "vllm"}, "workload.rl.rollout.software"),
    ("workload.model", {}, "workload.rl.rollout"),
    ("workload.precision", {"parameter_precision": "fp8"}, "workload.rl.rollout.parameter_precision"),
    ("workload.kv_precision", {"kv_precision": "fp8"}, "workload.rl.rollout.kv_precision"),
    ("workload.kv_precision", {"parameter_precision": "fp8"}, None),
    ("workload.sequence_length", {"tp": 2}, None),  # the trainer's design reports it as well
    ("cluster.nodes", {"tp": 2}, None),
]


@each(("path", "stated", "at"), PATHS)
def test_a_problem_of_the_engines_is_at_the_key_of_the_rollout(
    path: str, stated: dict[str, Any], at: str | None
) -> None:
    beside = (("cluster", "nodes"), "here"), (("layout", "tp"), "there")
    problem = Problem("a-rule", tuple(path.split(".")), "no", related=beside)
    found = _rollout_problem(problem, RolloutSpec(**stated))
    assert (".".join(map(str, found.path)) if found else None) == at
    if found:
        assert found.message == "engines of rollout: no"
        assert found.related == ((("cluster", "nodes"), "here"),), "keys of the machine are in the spec"
