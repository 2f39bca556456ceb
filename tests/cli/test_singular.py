"""One of a thing is singular in what every command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Call

PLURALS = (
    r"rank|node|engine|accelerator|replica|stage|rack|switche|link|spare|domain|group|sequence|expert|copie|sample|NIC|"
    r"optic|cable|row|line|file|key|spine|plane|request|host|pool|job|port|tray|chip|layer|step|year|month|week|day|hour|"
    r"head|prompt|point|layout|plan|part|finding|error|test|value|run|token"
)
WRONG = re.compile(rf"(?<![\d.,:/×=] )(?<![\d.,:/×=])\b1 (?:[a-z-]+ )?(?:{PLURALS})s\b")
TRAINED = """clusterspec: 1
name: one
cluster: {platform: dgx-h100, nodes: 1, spare_nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 8, tokens: 10B}
layout: {framework: megatron-core, tp: 8}
operations: {spares: {lead_time: 1 week}, repair_time: 24 h}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node: 300000}}
"""
ALONE = """clusterspec: 1
name: alone
cluster: {accelerator: h100-sxm-80gb, nodes: 1, accelerators_per_node: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, concurrency: 1}}
layout: {framework: vllm, tp: 1}
"""
IDLE = """clusterspec: 1
name: idle
cluster: {platform: dgx-h100, nodes: 2, scale_out: {technology: infiniband-ndr, nics_per_node: 1}}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 1}}
layout: {framework: vllm, tp: 1, dp: 1}
"""
COMMANDS = (
    "check", "estimate", "cost", "faults", "bom", "report --format md", "simulate --requests 10",
    "solve --for nodes --until fits",
)  # fmt: skip
EXPORTS = ("rfp", "mpirun", "slurm-topology", "nccl-env", "vllm", "megatron")


@pytest.mark.parametrize("text", [TRAINED, ALONE, IDLE], ids=["trained", "alone", "idle"])
def test_one_is_singular(text: str, call: Call) -> None:
    Path("one.yaml").write_text(text)
    calls = [(name, "one.yaml", *options) for name, *options in map(str.split, COMMANDS)]
    calls += [("export", kind, "one.yaml") for kind in EXPORTS]
    for words in calls:
        done = call(*words)
        printed = " ".join(f"{done.out} {done.error}".split())
        assert not (found := WRONG.search(printed)), (words, printed[found.start() - 60 : found.end() + 30])


def test_what_is_no_count_of_one_is_not_searched_for() -> None:
    for sound in ("1 rank", "tp 1 × ep 8 ranks", "11 ranks", "1.1 nodes", "of 1: ranks", "1,001 nodes"):
        assert not WRONG.search(sound), sound
    for wrong in ("of 1 ranks", "with 1 spare nodes", "the 1 NICs"):
        assert WRONG.search(wrong), wrong
