"""Flaws planted one at a time in sound designs: each is found by its rule, at its key, with its severity."""

from __future__ import annotations

from clusterspec.source import dotted

from .conftest import Check

TRAIN = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256%s}
layout: {framework: megatron-core, tp: 2%s}
"""
SERVE = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b%s, serving: {input_tokens: 2000, output_tokens: 400, concurrency: 32%s}}
layout: {framework: vllm, tp: 8%s}
"""
PLANTED = """
train workload  precision: bf16, recipe: delayed                    -> key-without-effect warning workload.recipe
train workload  loss_scaling: dynamic                               -> key-without-effect note workload.loss_scaling
train workload  quantization: awq                                   -> key-without-effect warning workload.quantization
train layout    attention_dp: 2                                     -> key-without-effect warning layout.attention_dp
train layout    dispatcher: deepep                                  -> key-without-effect warning layout.dispatcher
serve serving   redundant_experts: 8             -> key-without-effect warning workload.serving.redundant_experts
serve layout    recompute: full                                     -> key-without-effect warning layout.recompute
train workload  document_tokens: 16384              -> documents-exceed-sequence error workload.document_tokens
serve workload  parameter_precision: fp8, quantization: awq -> quantization-off-weights error workload.quantization
serve serving   prefix_hit: 1                              -> optimistic-acceptance error workload.serving.prefix_hit
serve serving   speculative: {tokens: 1, acceptance: 0.8, method: mtp} \
    -> optimistic-acceptance error workload.serving.speculative.method
serve serving   targets: {ttft: {p50: 3 s, p99: 1 s}}  -> targets-contradict error workload.serving.targets.ttft.p99
serve serving   targets: {ttft: 3 s, end_to_end: 2 s}  -> targets-contradict error workload.serving.targets.end_to_end
"""
"""Design, section, keys -> rule, severity, place."""


def _with(design: str, section: str, keys: str) -> str:
    """A sound design with further keys in one of its sections."""
    base, sections = {"train": (TRAIN, ("workload", "layout")), "serve": (SERVE, ("workload", "serving", "layout"))}[
        design
    ]
    return base % tuple(f", {keys}" if keys and name == section else "" for name in sections)


def test_a_planted_flaw_is_found_at_its_key(check: Check) -> None:
    for line in PLANTED.replace("\\\n", "").strip().splitlines():
        planted, _, wanted = line.partition("->")
        design, section, keys = planted.split(maxsplit=2)
        rule, severity, key = wanted.split()
        sound = {(one.rule, one.path) for one in check(_with(design, section, ""))}
        found = check(_with(design, section, keys.strip()))
        assert (rule, severity, key) in {(one.rule, str(one.severity), dotted(one.path)) for one in found}, line
        assert rule not in {name for name, _ in sound}, line
