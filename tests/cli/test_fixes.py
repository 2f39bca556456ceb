"""--fix writes what is certain: quantities with one reading and misspelt keys. Names are suggestions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call

PARTS = """\
clusterspec: 1
name: parts
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_up:
    interconnect: nvlink-4
    topology: switched
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: fat-tree
    switch: quantum-2-qm9700
"""
NAMES = [
    (PARTS, "accelerator: h100-sxm-80gb", "accelerator: l40"),
    (PARTS, "accelerator: h100-sxm-80gb", "accelerator: mi300"),
    (PARTS, "accelerator: h100-sxm-80gb", "accelerator: h100-sxm-80g"),
    (PARTS, "interconnect: nvlink-4", "interconnect: nvlink-44"),
    (PARTS, "topology: switched", "topology: switcht"),
    (PARTS, "topology: fat-tree", "topology: fat-tre"),
    (PARTS, "technology: infiniband-ndr", "technology: infiniband-ndrr"),
    (PARTS, "switch: quantum-2-qm9700", "switch: quantum-2-qm970"),
    (BASE, "platform: dgx-h100", "platform: gb200-nvl72x8"),
    (BASE, "platform: dgx-h100", "platform: dgx-h10"),
    (BASE, "model: llama-3.1-8b", "model: llama-3.1-8bb"),
    (BASE, "clusterspec: 1", "clusterspec: 2"),
    (BASE, "tp: 2", "tp: 2\n  sharding: zero"),
    (BASE, "tp: 2", "tp: 2\n  framework: megatron-cor"),
    (BASE, "tp: 2", "tp: 2\n  tensor_parallel: 4"),
    (BASE, "tp: 2", "tpp: 2"),
]


@pytest.mark.parametrize(("text", "old", "new"), NAMES, ids=lambda text: text[:40].strip())
def test_a_catalog_id_is_changed_only_by_unsafe_fixes(text: str, old: str, new: str, call: Call) -> None:
    assert old in text
    flawed = text.replace(old, new)
    Path("spec.yaml").write_text(flawed)
    done = call("check", "spec.yaml", "--fix", "--format", "json")
    assert Path("spec.yaml").read_text() == flawed
    assert done.error == "fixed 0 files\n"
    assert done.status == 1
    assert not any(finding.get("fix", {}).get("safe") for finding in json.loads(done.out)["findings"])


@pytest.mark.parametrize(
    ("old", "new", "fixed"),
    [
        ("nodes: 4", "nodse: 4", "nodes: 4"),
        ("global_batch: 64", "globalBatch: 64", "global_batch: 64"),
        ("tp: 2", "TP: 2", "tp: 2"),
        ("tp: 2", "tp: 2\n  sequence_parallel: yes", "tp: 2\n  sequence_parallel: true"),
        ("global_batch: 64", "global_batch: 64\n  expected_mfu: 40", "global_batch: 64\n  expected_mfu: 0.4"),
        ("sequence_length: 8192", "sequence_length: 8_192", "sequence_length: 8192"),
    ],
)
def test_safe_fixes_are_applied_and_printed_with_their_line(old: str, new: str, fixed: str, call: Call) -> None:
    flawed = BASE.replace(old, new)
    Path("spec.yaml").write_text(flawed)
    done = call("check", "spec.yaml", "--fix")
    assert Path("spec.yaml").read_text() == BASE.replace(old, fixed)
    rows = zip(flawed.split("\n"), BASE.replace(old, fixed).split("\n"), strict=True)
    changed = [number for number, (before, after) in enumerate(rows, 1) if before != after]
    assert done.error.startswith(f"spec.yaml:{changed[0]}:")
    assert done.error.endswith("fixed 1 file\n")


def test_suggestions_are_shown_and_written_only_when_asked_for(call: Call) -> None:
    flawed = BASE.replace("dgx-h100", "dgx-h10")
    Path("spec.yaml").write_text(flawed)
    assert "(--unsafe-fixes)" in call("check", "spec.yaml").out
    assert "+  platform: dgx-h100" in call("check", "spec.yaml", "--diff", "--unsafe-fixes").out
    assert Path("spec.yaml").read_text() == flawed
    done = call("check", "spec.yaml", "--unsafe-fixes")
    assert (done.status, Path("spec.yaml").read_text()) == (0, BASE)
    assert done.error.startswith("spec.yaml:4:13: fixed unknown-catalog-id: `dgx-h10` → `dgx-h100`")
