"""The specs that are measured."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "examples" / "dgx-h100-pod.yaml"
EIGHT = """\
clusterspec: 1
name: size
cluster: {{platform: dgx-h100, nodes: {nodes}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: {batch}}}
layout: {{tp: 2, micro_batch: 1}}
"""
CLEAN = EIGHT.format(nodes=4, batch=256)
FLAWED = CLEAN.replace("tp: 2", "tp: 3")
LINES = 500
"""Lines of the spec in the editor."""


def thousand_specs() -> list[str]:
    """1,000 different specs without a finding: eight batches on each of 125 sizes of one cluster."""
    sizes = [(nodes, 4 * nodes, max(1, 64 // nodes)) for nodes in range(1, 126)]
    return [
        EIGHT.format(nodes=nodes, batch=replicas * (least + more))
        for nodes, replicas, least in sizes
        for more in range(1, 9)
    ]


def long_spec() -> str:
    """The example of a pod with a supplier's quote and acceptance tests, 500 lines in all."""
    text = SPEC.read_text("utf-8") + "acceptance:\n"
    for nodes in range(4, 22):
        text += f"  - collective: all-reduce\n    nodes: {nodes}\n    size: 8 GiB\n    busbw: 300 GB/s\n"
    text += "procurement:\n  currency: USD\n  quote:\n"
    for number in range(1, (LINES - text.count("\n")) // 4 + 1):
        price = f"      unit_price: {100 + number}\n      price: {number * (100 + number)}\n"
        text += f"    - part: part {number}\n      quantity: {number}\n{price}"
    return text
