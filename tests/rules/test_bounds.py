"""A rule begins at the threshold that its page states: reported on one side of it, silent on the other."""

from __future__ import annotations

import pytest

from .conftest import Check
from .test_verdicts import of
from .verdicts import DENSE, POD


def fill(design: str, value: object) -> str:
    """A design with a value in place of ``{}``; doubled braces are single ones."""
    return design.replace("{}", str(value)).replace("{{", "{").replace("}}", "}")


BOUNDS = [
    # a rule, a design at its threshold that it reports, and the next one that it does not
    (
        "single-nic-across-sockets",
        "cluster: {{accelerator: l40s, accelerators_per_node: 8, nodes: {}, scale_out: {{"
        "technology: roce-v2, nics_per_node: 1, nic_bandwidth: 200 Gb/s, flow_control: {{pfc: true, ecn: true}}}}}}\n",
        2,
        1,
    ),
    (
        "single-nic-across-sockets",
        "cluster: {{accelerator: l40s, accelerators_per_node: {}, nodes: 2, scale_out: {{"
        "technology: roce-v2, nics_per_node: 1, nic_bandwidth: 200 Gb/s, flow_control: {{pfc: true, ecn: true}}}}}}\n",
        4,
        2,
    ),
    (
        "optimistic-mfu",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: {}}}\n",
        0.601,
        0.6,
    ),
    (
        "impossible-mfu",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, expected_mfu: {}}}\n",
        1.01,
        1.0,
    ),
    (
        "full-utilization-assumed",
        POD + "procurement: {{currency: USD, as_of: 2026-11-01, utilization: {}}}\n",
        0.96,
        0.95,
    ),
    ("impossible-utilization", POD + "procurement: {{currency: USD, as_of: 2026-11-01, utilization: {}}}\n", 1.01, 1.0),
    ("impossible-pue", POD + "procurement: {{currency: USD, as_of: 2026-11-01, pue: {}}}\n", 0.99, 1.0),
    ("short-burn-in", POD + "operations: {{burn_in: {}}}\n", "47 h", "48 h"),
    # 2.34 failures in 1,000 node-days are one in 53.4 days of 8 nodes
    (
        "optimistic-failure-rate",
        POD + "operations: {{burn_in: 72 h, mean_time_between_failures: {}}}\n",
        "54 days",
        "53 days",
    ),
    (
        "checkpoint-outlasts-interval",
        POD + "operations: {{burn_in: 72 h, checkpoint_interval: 600 s, checkpoint_time: {}}}\n",
        "61 s",
        "60 s",
    ),
    # √(2 × 10 h × 60 s) = 34.6 min
    (
        "checkpoint-interval-off-optimum",
        POD + "operations: {{burn_in: 72 h, checkpoint_time: 60 s, "
        "mean_time_between_failures: 10 h, checkpoint_interval: {}}}\n",
        "70 min",
        "69 min",
    ),
    (
        "checkpoint-interval-off-optimum",
        POD + "operations: {{burn_in: 72 h, checkpoint_time: 60 s, "
        "mean_time_between_failures: 10 h, checkpoint_interval: {}}}\n",
        "17 min",
        "18 min",
    ),
    # 8 × 700 W = 5.6 kW
    (
        "node-power-below-accelerators",
        "cluster: {{platform: dgx-h100, nodes: 8, power: {{node: {}}}}}\n",
        "5.59 kW",
        "6.17 kW",
    ),
    # 10.2 kW less 15 % is 8.67 kW
    ("node-power-off-catalog", "cluster: {{platform: dgx-h100, nodes: 8, power: {{node: {}}}}}\n", "8.6 kW", "8.7 kW"),
    (
        "few-spines",
        "cluster: {{platform: dgx-h100, nodes: 63, scale_out: {{technology: infiniband-ndr, switch_ports: 144, "
        "topology: rail-optimized, leaf_switches: 8, spine_switches: {}}}}}\n",
        6,
        7,
    ),
    (
        "few-spines",
        "cluster: {{platform: dgx-h100, nodes: {}, scale_out: {{technology: infiniband-ndr, switch_ports: 144, "
        "topology: rail-optimized, leaf_switches: 8, spine_switches: 5}}}}\n",
        33,
        32,
    ),
    # 8 spines are needed: 10 % more are 8.8
    (
        "surplus-fabric-parts",
        "cluster: {{platform: dgx-h100, nodes: 64, scale_out: {{technology: infiniband-ndr, "
        "switch_ports: 64, topology: rail-optimized, leaf_switches: 16, spine_switches: {}}}}}\n",
        9,
        8,
    ),
    (
        "injection-called-bisection",
        "cluster: {{platform: dgx-h100, nodes: 64, scale_out: {{bisection: {} TB/s}}}}\n",
        13.5,
        13.4,
    ),
    # 988.4 GB × 10 / 0.8 = 12.36 TB
    (
        "storage-holds-few-checkpoints",
        "cluster: {{platform: dgx-h100, nodes: 64, networks: {{storage: {{bandwidth: 40 GB/s, "
        "capacity: {} TB}}, frontend: {{nics_per_node: 2, nic_bandwidth: 200 Gb/s}}, "
        "out_of_band: {{nic_bandwidth: 1 Gb/s}}}}}}\n"
        "workload: {{model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}\n",
        12.3,
        12.4,
    ),
    # 988.4 GB in 5 % of 30 min are 10.98 GB/s; ten times that 109.8
    (
        "storage-oversized-for-checkpoints",
        "cluster: {{platform: dgx-h100, nodes: 64, networks: {{storage: {{bandwidth: {} GB/s}}, "
        "frontend: {{nics_per_node: 2, nic_bandwidth: 200 Gb/s}}, out_of_band: {{nic_bandwidth: 1 Gb/s}}}}}}\n"
        "workload: {{model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}}\n"
        "operations: {{checkpoint_interval: 30 min, burn_in: 72 h}}\n",
        110,
        109,
    ),
    (
        "tp-over-pcie",
        "cluster: {{accelerator: l40s, accelerators_per_node: 8, nodes: 1}}\n" + DENSE + "layout: {{tp: {}}}\n",
        4,
        2,
    ),
    (
        "fsdp-regathers-every-microbatch",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 16384, global_batch: {}}}\n"
        "layout: {{tp: 1, sharding: fsdp, recompute: full}}\n",
        320,
        256,
    ),
    (
        "single-microbatch-per-step",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: {}}}\nlayout: {{tp: 1}}\n",
        64,
        128,
    ),
    (
        "few-microbatches",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: {}}}\n"
        "layout: {{pp: 8, virtual_stages: 4}}\n",
        248,
        256,
    ),
    (
        "fewer-microbatches-than-stages",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: {}}}\nlayout: {{pp: 8}}\n",
        56,
        64,
    ),
    # 7 / (m + 7) is 10.4 % for 60 micro-batches and 10.6 % for 59
    (
        "pipeline-bubble",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: {}}}\nlayout: {{pp: 8}}\n",
        472,
        480,
    ),
    (
        "run-shorter-than-step",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: {}}}\n",
        2_097_151,
        2_097_152,
    ),
    (
        "parameter-count-mismatch",
        "name: pod-{}b\n" + POD + "workload:\n  model: {{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, "
        "ffn_hidden: 14336, vocab: 128256, gated_ffn: true}}\n  sequence_length: 8192\n  global_batch: 256\n",
        9,
        8,
    ),
    (
        "acceptance-exceeds-cluster",
        POD + "acceptance:\n  - {{collective: all-reduce, nodes: {}, size: 8 GiB, busbw: 330 GB/s}}\n",
        9,
        8,
    ),
    (
        "measured-ranks-exceed-cluster",
        POD + "measured:\n  - {{collective: all-reduce, ranks: {}, size: 8 GiB, busbw: 330 GB/s}}\n",
        72,
        64,
    ),
    (
        "endpoints-exceed-fabric",
        "cluster: {{platform: dgx-h100, nodes: {}, scale_out: {{technology: infiniband-ndr, "
        "switch: quantum-2-qm9700, topology: fat-tree, tiers: 2}}}}\n",
        257,
        256,
    ),
    (
        "too-few-cables",
        "cluster: {{platform: dgx-h100, nodes: 64, scale_out: {{technology: infiniband-ndr, "
        "switch: quantum-2-qm9700, topology: rail-optimized, cables: {{node_leaf: {}, leaf_spine: 512}}}}}}\n",
        511,
        512,
    ),
    (
        "frontend-slower-than-storage",
        "cluster: {{platform: dgx-h100, nodes: 8, networks: {{frontend: {{nics_per_node: 2, "
        "nic_bandwidth: 200 Gb/s}}, storage: {{bandwidth: {} GB/s}}, out_of_band: {{nic_bandwidth: 1 Gb/s}}}}}}\n",
        401,
        400,
    ),
    (
        "experts-per-token-exceeds-experts",
        POD + "workload:\n  model: {{base: mixtral-8x7b, experts: 8, experts_per_token: {}}}\n"
        "  sequence_length: 4096\n  global_batch: 256\n",
        9,
        8,
    ),
    (
        "sequence-exceeds-model-context",
        POD + "workload: {{model: gpt3-175b, sequence_length: {}, global_batch: 256}}\n",
        2049,
        2048,
    ),
    (
        "unusual-head-dimension",
        POD + "workload:\n  model: {{layers: 32, hidden: 4096, heads: 16, kv_heads: 16, head_dim: {}, "
        "ffn_hidden: 11008, vocab: 32000}}\n"
        "  sequence_length: 4096\n  global_batch: 256\n",
        257,
        256,
    ),
    (
        "unusual-head-dimension",
        POD + "workload:\n  model: {{layers: 32, hidden: 2048, heads: 16, kv_heads: 16, head_dim: {}, "
        "ffn_hidden: 8192, vocab: 32000}}\n"
        "  sequence_length: 4096\n  global_batch: 256\n",
        31,
        32,
    ),
    # GPT-3 at hidden 4,096 with 32 heads: 5 × 32 × s / 4,096 above 34 from s = 871 on
    (
        "plain-attention-on-long-sequence",
        POD + "workload: {{model: llama-3.1-8b, sequence_length: {}, global_batch: 256, "
        "attention: plain}}\nlayout: {{tp: 1, recompute: none}}\n",
        872,
        868,
    ),
]


@pytest.mark.parametrize(("rule", "design", "reported", "silent"), BOUNDS, ids=lambda one: str(one)[:40].strip())
def test_a_rule_starts_at_its_documented_threshold(
    rule: str, design: str, reported: object, silent: object, check: Check
) -> None:
    assert len(of(rule, fill(design, reported), check)) == 1
    assert of(rule, fill(design, silent), check) == []
