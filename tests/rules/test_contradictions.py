"""Flaws planted one at a time in sound designs: each is found by its rule, at its key, with its severity."""

from __future__ import annotations

from clusterspec.source import dotted_path

from .conftest import Check

TRAIN = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8%s}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256%s}
layout: {framework: megatron-core, tp: 2%s}
"""
SERVE = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b%s, serving: {input_tokens: 2000, output_tokens: 400, concurrency: 32%s}}
layout: {tp: 8%s}
"""
PLANTED = """
train workload  precision: bf16, recipe: delayed                    -> key-without-effect warning workload.recipe
train workload  bf16_layers: {last: 2}                              -> key-without-effect warning workload.bf16_layers
train workload  loss_scaling: dynamic                               -> key-without-effect note workload.loss_scaling
train workload  quantization: awq                                   -> key-without-effect warning workload.quantization
train layout    sharding: zero1, gradient_sync: micro-batch          -> key-without-effect warning layout.gradient_sync
train layout    attention_dp: 2                                     -> key-without-effect warning layout.attention_dp
train layout    dispatcher: deepep                                  -> key-without-effect warning layout.dispatcher
serve serving   redundant_experts: 8             -> key-without-effect warning workload.serving.redundant_experts
serve workload  precision: fp8, bf16_layers: {first: 1}         -> key-without-effect warning workload.bf16_layers
serve layout    recompute: full                                     -> key-without-effect warning layout.recompute
train workload  document_tokens: 16384              -> documents-exceed-sequence error workload.document_tokens
serve workload  parameter_precision: fp8, quantization: awq -> quantization-off-weights error workload.quantization
serve serving   prefix_hit: 1                              -> optimistic-acceptance error workload.serving.prefix_hit
serve serving   speculative: {tokens: 1, acceptance: 0.8, method: mtp} \
    -> optimistic-acceptance error workload.serving.speculative.method
serve serving   targets: {ttft: {p50: 3 s, p99: 1 s}}  -> targets-contradict error workload.serving.targets.ttft.p99
serve serving   targets: {ttft: 1 s, end_to_end: 1 s} \
    -> request-target-unreachable error workload.serving.targets.end_to_end
train cluster   host_memory: 2 GB                          -> unusual-value error cluster.host_memory
train cluster   scale_out: {distance: {node_leaf: 30 km}}  -> unusual-value error cluster.scale_out.distance.node_leaf
train cluster   accelerator: {like: h100-sxm-80gb, power: 10.2 kW} \
    -> figure-of-sibling-part error cluster.accelerator.power
train workload  peak_flops: 7.9 PFLOP/s dense              -> peak-of-other-precision error workload.peak_flops
train cluster   accelerator: {like: mi250x, peak: {bf16: 989 TFLOP/s dense}} \
    -> peak-of-other-precision error cluster.accelerator.peak.bf16
train cluster   scale_up: {topology: torus, shape: [2, 4]} \
    -> interconnect-not-of-accelerator error cluster.scale_up.topology
train cluster   scale_out: {subnet_manager: switch, technology: roce-v2} \
    -> part-lacks-feature error cluster.scale_out.subnet_manager
train cluster   scale_out: {technology: infiniband-ndr, flow_control: {pfc: true, ecn: true}} \
    -> part-lacks-feature warning cluster.scale_out.flow_control
train cluster   scale_out: {collective_plugin: aws-ofi-nccl} \
    -> part-lacks-feature error cluster.scale_out.collective_plugin
train cluster   scale_out: {tiers: 2, core_switches: 4} -> surplus-fabric-parts error cluster.scale_out.core_switches
train cluster   networks: {storage: {bandwidth: 40 GB/s, capacity: 100 GB}} \
    -> storage-holds-few-checkpoints error cluster.networks.storage.capacity
serve layout    framework: torchtitan                 -> framework-lacks-feature warning layout.framework
serve serving   targets: {ttft: 3 s, end_to_end: 2 s}  -> targets-contradict error workload.serving.targets.end_to_end
"""
"""Design, section, keys -> rule, severity, place."""


SECTIONS = {"train": (TRAIN, ("cluster", "workload", "layout")), "serve": (SERVE, ("workload", "serving", "layout"))}


def _with(design: str, section: str, keys: str) -> str:
    """A sound design with further keys in one of its sections."""
    base, sections = SECTIONS[design]
    return base % tuple(f", {keys}" if keys and name == section else "" for name in sections)


def test_a_planted_flaw_is_found_at_its_key(check: Check) -> None:
    for line in PLANTED.replace("\\\n", "").strip().splitlines():
        planted, _, wanted = line.partition("->")
        design, section, keys = planted.split(maxsplit=2)
        rule, severity, key = wanted.split()
        sound = {(one.rule, one.path) for one in check(_with(design, section, ""))}
        found = check(_with(design, section, keys.strip()))
        assert (rule, severity, key) in {(one.rule, str(one.severity), dotted_path(one.path)) for one in found}, line
        assert rule not in {name for name, _ in sound}, line
