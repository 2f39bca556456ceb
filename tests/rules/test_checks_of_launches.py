"""Settings of launches in a text compared with the keys: each with the value that agrees and one that does not."""

# ruff: noqa: E501 (a case is one line of a table)

from __future__ import annotations

import json

from clusterspec import rules
from clusterspec.source import dotted_path
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

RULE = "launch-settings-off-keys"
TRAIN = """cluster: {platform: dgx-h100, nodes: 16}
workload: {model: MODEL, sequence_length: 8192, global_batch: 1024}
layout: {framework: megatron-core, LAYOUT}
"""
DENSE = TRAIN.replace("MODEL", "llama-3.1-8b")
CUT = DENSE.replace("LAYOUT", "tp: 2, pp: 4, cp: 2, micro_batch: 2, sharding: zero1")
INTERLEAVED = DENSE.replace("LAYOUT", "tp: 2, pp: 4, schedule: interleaved, virtual_stages: 2, sharding: zero1")
EXPERTS = TRAIN.replace("MODEL", "mixtral-8x7b").replace("LAYOUT", "tp: 2, ep: 4")
UNSHARDED = DENSE.replace("LAYOUT", "tp: 2, sharding: none")
SERVE = """cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, WORK serving: {input_tokens: {mean: 1000, max: 3000}, output_tokens: {mean: 100, max: 500}, concurrency: 8, max_sequences: 64, memory_fraction: 0.9 MORE}}
layout: {framework: vllm, tp: 8}
"""
SERVED = SERVE.replace("WORK", "").replace(" MORE", "")
PREFIXES = SERVE.replace("WORK", "").replace(" MORE", ", prefix_hit: 0.5")
SHARED = SERVE.replace("WORK", "").replace(" MORE", ", session: {turns: 4, shared_prefix: 400}")
FP8 = SERVE.replace("WORK", "parameter_precision: fp8,").replace(" MORE", "")
ROCE = """cluster:
  platform: mi300x-ubb8
  nodes: 4
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, flow_control: {pfc: true, lossless_priorities: [3]}}
"""
ONE_NIC = """cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: infiniband-ndr, nics_per_node: 1}
"""
BLACKWELL = "cluster: {platform: dgx-b200, nodes: 4}\n"
HOPPER = "cluster: {platform: dgx-h100, nodes: 4}\n"


@each(
    ("text", "spec", "key"),
    [
        *(
            row
            for flag, own, other, spec, key in (
                ("--tensor-parallel-size", "2", "4", CUT, "layout.tp"),
                ("--tensor-model-parallel-size", "2", "1", CUT, "layout.tp"),
                ("-tp", "2", "3", CUT, "layout.tp"),
                ("--pipeline-parallel-size", "4", "2", CUT, "layout.pp"),
                ("-pp", "4", "5", CUT, "layout.pp"),
                ("--context-parallel-size", "2", "1", CUT, "layout.cp"),
                ("--expert-model-parallel-size", "4", "8", EXPERTS, "layout.ep"),
                ("--micro-batch-size", "2", "1", CUT, "layout.micro_batch"),
                ("--global-batch-size", "1,024", "1,025", CUT, "workload.global_batch"),
                ("--seq-length", "8192", "4096", CUT, "workload.sequence_length"),
                ("--nnodes", "16", "17", CUT, "cluster.nodes"),
                ("--nproc-per-node", "8", "4", CUT, "cluster.accelerators_per_node"),
                ("--max-num-seqs", "64", "65", SERVED, "workload.serving.max_sequences"),
                ("--gpu-memory-utilization", "0.9", "0.85", SERVED, "workload.serving.memory_fraction"),
                ("--gpu-memory-utilization", "0.90", "0.9001", SERVED, "workload.serving.memory_fraction"),
                ("--tp-size", "8", "4", SERVED, "layout.tp"),
            )
            for row in ((f"{flag} {own}", spec, ""), (f"{flag}={other}", spec, key))
        ),
        ("--tp 2 and --tp 4", CUT, ""),
        # 3,000 tokens and answers of 500
        ("--max-model-len 3500", SERVED, ""),
        ("--max-model-len 3499", SERVED, "workload.serving.input_tokens"),
        ("--context-length 4096", SERVED, ""),
        ("--max-model-len 3499", CUT, ""),
        # caches of prompts on which the load counts
        ("--no-enable-prefix-caching", SERVED, ""),
        ("--no-enable-prefix-caching", PREFIXES, "workload.serving.prefix_hit"),
        ("--disable-radix-cache", SHARED, "workload.serving.session.shared_prefix"),
        # adapters: all eight, or as many as are excluded
        ("NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6", ROCE, "cluster.scale_out.nics_per_node"),
        ("NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7", ROCE, ""),
        ("NCCL_IB_HCA=^mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6", ROCE, ""),
        (
            "NCCL_IB_HCA=^mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
            ROCE,
            "cluster.scale_out.nics_per_node",
        ),
        ("NCCL_IB_HCA=^mlx5_0", ONE_NIC, ""),
        ("NCCL_IB_DISABLE=1", ROCE, "cluster.scale_out.technology"),
        ("NCCL_IB_DISABLE=0", ROCE, ""),
        # a traffic class of 96 to 127 has priority 3 by its upper three bits
        ("NCCL_IB_TC=96", ROCE, ""),
        ("NCCL_IB_TC=127", ROCE, ""),
        ("NCCL_IB_TC=95", ROCE, "cluster.scale_out.flow_control.lossless_priorities"),
        ("NCCL_IB_TC=128", ROCE, "cluster.scale_out.flow_control.lossless_priorities"),
        ("NCCL_IB_TC=95", ONE_NIC, ""),
        # software that knows the accelerator
        ("VLLM_FLASH_ATTN_VERSION=3", HOPPER, ""),
        ("VLLM_FLASH_ATTN_VERSION=3", BLACKWELL, "cluster.platform"),
        ("Driver R550 is installed.", HOPPER, ""),
        ("Driver R550 is installed.", BLACKWELL, "cluster.platform"),
        ("Driver R570 is installed.", BLACKWELL, ""),
        # flags that the layout excludes: 16 x 8 / (2 x 4) = 16 replicas of one sequence, four stages
        ("--use-distributed-optimizer", CUT, ""),
        ("--use-distributed-optimizer", UNSHARDED, "layout.sharding"),
        ("--rampup-batch-size 64 32 1000", INTERLEAVED, ""),
        ("--rampup-batch-size 65 32 1000", INTERLEAVED, "workload.global_batch"),
        ("--rampup-batch-size 48 32 1000", INTERLEAVED, "layout.pp"),
        ("--rampup-batch-size 16 32 1000", CUT, ""),
        # the width of the weights of a repository
        ("We serve acme/Llama-70B-FP8.", FP8, ""),
        ("We serve acme/Llama-70B-W8A8.", FP8, ""),
        *(
            (f"We serve acme/Llama-70B-{kind}.", FP8, "workload.parameter_precision")
            for kind in ("AWQ", "GPTQ", "GPTQ-Int4", "INT4", "NVFP4", "FP4", "W4A16")
        ),
        ("We serve acme/Llama-70B-FP8.", SERVED, "workload.parameter_precision"),
    ],
)
def test_a_setting_of_a_launch_agrees_with_its_key(text: str, spec: str, key: str) -> None:
    study = study_text(f"clusterspec: 1\ndescription: {json.dumps(text)}\n{spec}", SETTINGS)
    assert not study.loading, study.loading
    found = [dotted_path(one.path) for one in rules.run_rules(study.facts(), {RULE}) if one.rule == RULE]
    assert found == ([key] if key else []), found
