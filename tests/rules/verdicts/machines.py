"""Machines and runs: flaws and their near misses."""

from __future__ import annotations

from . import DENSE, MOE, POD, Verdict, layout

STORE = (
    "networks: {{storage: {{bandwidth: {} GB/s}}, frontend: {{nics_per_node: 2, nic_bandwidth: 200 Gb/s}}, "
    "out_of_band: {{nic_bandwidth: 1 Gb/s}}}}"
)
BIG = "workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 512}\n"


def stored(bandwidth: float, interval: str) -> str:
    """64 nodes that save 405.85B × 14 = 5.68 TB, with a failure every 90 h."""
    cluster = f"cluster: {{platform: dgx-h100, nodes: 64, {STORE.format(bandwidth)}}}\n"
    kept = f"checkpoint_interval: {interval}, burn_in: 72 h, mean_time_between_failures: 90 h"
    return f"{cluster}{BIG}operations: {{{kept}}}\n"


def rack(limit: str, platform: str = "gb200-nvl72", nodes: int = 18) -> str:
    return (
        f"cluster: {{platform: {platform}, nodes: {nodes}, power: {{rack_limit: {limit}, nodes_per_rack: {nodes}}}}}\n"
    )


def torus(tp: int) -> str:
    fabric = "scale_out: {placement: cluster-placement-group, collective_plugin: neuron}"
    cluster = f"cluster: {{platform: aws-trn2-48xlarge, nodes: 4, {fabric}}}\n"
    return layout(f"framework: neuronx-distributed, tp: {tp}", DENSE, cluster)


def ndr(rest: str, platform: str = "platform: dgx-h100") -> str:
    return f"cluster: {{{platform}, nodes: 8, scale_out: {{technology: infiniband-ndr, {rest}}}}}\n"


BARE = "accelerator: h100-sxm-80gb, accelerators_per_node: 8"
POD_OF_32 = (
    "cluster: {platform: dgx-h100, nodes: 30, spare_nodes: 2, scale_out: {technology: infiniband-ndr, "
    "topology: fat-tree, oversubscription: 2:1, pod_nodes: 32}}\n"
    "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1200}\n"
    "layout: {tp: 2}\n"
)
MACHINES = [
    Verdict(
        # 5.68 TB / 2 GB/s = 2,840 s of an interval of 1,800 s
        "checkpoint-outlasts-interval",
        stored(2, "30 min"),
        "cluster.networks.storage.bandwidth",
        "error",
        "faster storage system",
        stored(40, "30 min"),
        "47.3 min",
    ),
    Verdict(
        # 5.68 TB / 10 GB/s = 568 s, 32 % of 1,800 s
        "checkpoint-outlasts-interval",
        stored(10, "30 min"),
        "cluster.networks.storage.bandwidth",
        "warning",
        "asynchronous",
        stored(10, "4 h"),
        "32 %",
    ),
    Verdict(
        # 512 accelerators fail every 50,700 / 512 = 99 h; 70.6B × 14 / 40 GB/s = 24.7 s: √(2 × 99 h × 24.7 s) = 70 min
        "checkpoint-interval-off-optimum",
        f"cluster: {{platform: dgx-h100, nodes: 64, {STORE.format(40)}}}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\n"
        "operations: {checkpoint_interval: 8 h, burn_in: 72 h}\n",
        "operations.checkpoint_interval",
        "note",
        "69.9 min",
        f"cluster: {{platform: dgx-h100, nodes: 64, {STORE.format(40)}}}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\n"
        "operations: {checkpoint_interval: 3 h, burn_in: 72 h}\n",
        "none is stated",
    ),
    Verdict(
        # 18 trays of 5.4 kW draw 97.2 kW, the rack with its switch trays 120 kW
        "rack-over-power-limit",
        rack("119 kW"),
        "cluster.power.nodes_per_rack",
        "error",
        "use a rack with more power",
        rack("121 kW"),
        "22.8 kW",
    ),
    Verdict(
        "rack-over-power-limit",
        rack("40 kW", "dgx-h100", 4),
        "cluster.power.nodes_per_rack",
        "error",
        "use at most 3 nodes per rack, in 2 racks",
        rack("41 kW", "dgx-h100", 4),
        "40.8 kW",
    ),
    Verdict(
        "group-off-torus-axis",
        torus(8),
        "layout.tp",
        "note",
        "16, 32 or 64",
        torus(32),  # 2 × 4 chips: a ring closes around them
    ),
    Verdict(
        "one-way-counted-as-duplex",
        ndr("nic_bandwidth: 400 Gb/s duplex"),
        "cluster.scale_out.nic_bandwidth",
        "error",
        "write `400 Gb/s`, or `200 Gb/s`",
        ndr("nic_bandwidth: 800 Gb/s duplex"),
        "1/2 of the 800 Gb/s duplex of dgx-h100",
    ),
    Verdict(
        "one-way-counted-as-duplex",
        ndr("nics_per_node: 8, nic_bandwidth: 400 Gb/s duplex", BARE),
        "cluster.scale_out.nic_bandwidth",
        "warning",
        "`400 Gb/s`",
        ndr("nics_per_node: 8, nic_bandwidth: 200 Gb/s", BARE),
    ),
    Verdict(
        "nic-rate-off-technology",
        ndr("nics_per_node: 8, nic: connectx-6, nic_bandwidth: 400 Gb/s", BARE),
        "cluster.scale_out.nic_bandwidth",
        "error",
        "`nic_bandwidth`",
        ndr("nics_per_node: 8, nic: connectx-7, nic_bandwidth: 400 Gb/s", BARE),
        "200 Gb/s",
    ),
    Verdict(
        "no-port-for-fabric-manager",
        "cluster:\n  platform: dgx-h100\n  nodes: 128\n"
        "  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9790, topology: rail-optimized}\n",
        "cluster.nodes",
        "error",
        "extra_endpoints",
        # 72 ports down on each of 8 leaves are the 576 NICs of 144 nodes, and the switch has a management port
        "cluster:\n  platform: gb300-nvl72\n  nodes: 144\n"
        "  scale_out: {technology: infiniband-xdr, switch: quantum-x800-q3400, topology: fat-tree}\n",
        "1,024 NICs",
    ),
    Verdict(
        "roce-without-flow-control",
        "cluster: {platform: mi300x-ubb8, nodes: 8, scale_out: {technology: roce-v2}}\n",
        "cluster.scale_out.flow_control",
        "note",
        "flow_control: {pfc: true, ecn: true}",
        "cluster: {platform: mi300x-ubb8, nodes: 8}\n",
    ),
    Verdict(
        "low-scale-up-bandwidth",
        layout("tp: 2", cluster="cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}\n"),
        "cluster.scale_up",
        "note",
        "prefer pp and dp",
        layout("tp: 1", cluster="cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}\n"),
        "27.4 times",  # 864 GB/s over the 31.5 GB/s of PCIe 4 x16
    ),
    Verdict(
        "ep-crosses-scale-up-domain",
        layout("tp: 1, ep: 16", MOE.replace("mixtral-8x7b", "deepseek-v3")),
        "layout.ep",
        "warning",
        "use an ep of up to 8",
        layout("tp: 1, ep: 16, overlap: {ep: true}", MOE.replace("mixtral-8x7b", "deepseek-v3")),
        "2 scale-up domains",
    ),
    Verdict(
        "unusual-value",
        ndr('oversubscription: "1:4"'),
        "cluster.scale_out.oversubscription[0]",
        "warning",
        "down : up",
        ndr('oversubscription: "1:2"'),
        "1:2 to 16:1",
    ),
    Verdict(
        "unusual-value",
        "cluster: {platform: dgx-h100, nodes: 1}\nprocurement: {currency: EUR, as_of: 2026-11-01, electricity: 14}\n",
        "procurement.electricity",
        "error",
        "14 cents are 0.14",
        "cluster: {platform: dgx-h100, nodes: 1}\nprocurement: {currency: JPY, as_of: 2026-11-01, electricity: 14}\n",
        "0.02 to 0.6",
    ),
    Verdict(
        "offload-exceeds-host-memory",
        # 8 ranks × 70.6B / 8 × 12 B / dp 2, by zero1 over two nodes: 847 GB / 2 = 423 GB and buffers in 256 GB
        "cluster: {platform: dgx-h100, nodes: 2, host_memory: 256 GB}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}\n"
        "layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}\n",
        "layout.offload",
        "error",
        "smaller share",
        "cluster: {platform: dgx-h100, nodes: 2, host_memory: 1 TB}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}\n"
        "layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}\n",
        "423 GB",
    ),
    Verdict(
        "offload-exceeds-host-memory",
        "cluster: {platform: dgx-h100, nodes: 2, host_memory: 512 GB}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}\n"
        "layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 1}}\n",
        "layout.offload",
        "warning",
        "smaller share",
        "cluster: {platform: dgx-h100, nodes: 2, host_memory: 512 GB}\n"
        "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}\n"
        "layout: {tp: 8, sharding: zero1, recompute: full, offload: {optimizer: 0.9}}\n",
        "83 %",
    ),
    Verdict(
        # 30 + 4 nodes in pods of 32
        "job-larger-than-pod",
        POD_OF_32.replace("spare_nodes: 2", "spare_nodes: 4"),
        "cluster.spare_nodes",
        "warning",
        "use 28 nodes",
        POD_OF_32,
        "2 of 4 spare nodes",
    ),
]

RUN = "workload: {{model: {}, sequence_length: 8192, global_batch: {}, tokens: {}}}\nlayout: {{tp: 1}}\n"
SMALL = (
    "workload:\n"
    "  model: {{layers: 24, hidden: 1024, heads: 16, kv_heads: 16, ffn_hidden: 4096, vocab: 51200}}\n"
    "  sequence_length: 512\n  global_batch: {}\n  tokens: 24.6B\nlayout: {{tp: 1}}\n"
)
"""354M parameters, as in the experiments: the critical batch of 24.6B tokens is 2,580 sequences of 512."""
WORK = [
    Verdict(
        # 1T tokens: 2,580 × 512 × (1000 / 24.6)^0.47 = 7.54M tokens; 4 × that are 3,681 sequences of 8,192
        "batch-beyond-critical-size",
        "cluster: {platform: dgx-h100, nodes: 128}\n" + RUN.format("llama-3.1-8b", 4096, "1T"),
        "workload.global_batch",
        "note",
        "919 sequences",
        "cluster: {platform: dgx-h100, nodes: 128}\n" + RUN.format("llama-3.1-8b", 3072, "1T"),
        "7.54M, extrapolated",
    ),
    Verdict(
        "batch-beyond-critical-size",
        "cluster: {platform: dgx-h100, nodes: 8}\n" + SMALL.format(5200),
        "workload.global_batch",
        "warning",
        "sweep",
        "cluster: {platform: dgx-h100, nodes: 8}\n" + SMALL.format(2560),
        "1.32M, where it was measured",
    ),
    Verdict(
        "batch-beyond-critical-size",
        "cluster: {platform: dgx-h100, nodes: 8}\n" + SMALL.format(2600),
        "workload.global_batch",
        "note",
        "sweep",
        "cluster: {platform: dgx-h100, nodes: 8}\n" + SMALL.format(2560),
        "1.32M, where it was measured",
    ),
    Verdict(
        "optimistic-mfu",
        "cluster: {platform: dgx-h100, nodes: 8, scale_out: {nics_per_node: 1}}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, expected_mfu: 0.45}\n"
        "layout: {tp: 1, sharding: zero1, recompute: full}\n",
        "workload.expected_mfu",
        "warning",
        "predicted MFU",
        "cluster: {platform: dgx-h100, nodes: 8, scale_out: {nics_per_node: 1}}\n"
        "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, expected_mfu: 0.15}\n"
        "layout: {tp: 1, sharding: zero1, recompute: full}\n",
        "45 %",
    ),
    Verdict(
        "optimistic-mfu",
        POD + DENSE.replace("}", ", expected_mfu: 0.61}"),
        "workload.expected_mfu",
        "warning",
        "0.40",
        POD + DENSE.replace("}", ", expected_mfu: 0.6}"),
        "61 %",
    ),
]
