"""--fix writes what is certain: quantities with one reading and misspelt keys. Names are suggestions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusterspec.cli import UsageFault
from clusterspec.cli.fixes import FileChange, write_changes
from clusterspec.finding import Edit
from clusterspec.source import Position, Span
from tests.cli.conftest import BASE, Call
from tests.effort import telling, thorough

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


@thorough
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


@telling(2)
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
    assert "(--fix --unsafe-fixes)" in call("check", "spec.yaml").out
    assert "+  platform: dgx-h100" in call("check", "spec.yaml", "--diff", "--unsafe-fixes").out
    assert Path("spec.yaml").read_text() == flawed
    done = call("check", "spec.yaml", "--unsafe-fixes")
    assert (done.status, Path("spec.yaml").read_text()) == (1, flawed)
    assert "+  platform: dgx-h100" in done.error and "nothing is written without --fix" in done.error
    done = call("check", "spec.yaml", "--fix", "--unsafe-fixes")
    assert (done.status, Path("spec.yaml").read_text()) == (0, BASE)
    assert done.error.startswith("spec.yaml:4:13: fixed unknown-catalog-id: `dgx-h10` → `dgx-h100`")


@pytest.mark.parametrize(
    ("layout", "fixed"),
    [
        ("tensor_parallel: 4\n  TP: 2", "tensor_parallel: 4\n  tp: 2"),  # the safe fix has precedence
        ("tensor_parallel: 4\n  tensor_model_parallel_size: 2", "tp: 4\n  tensor_model_parallel_size: 2"),
        ("tp: 2\n  zero_stage: three", "tp: 2\n  zero_stage: three"),  # `sharding: three` is no choice
        ("tp: 2\n  zero: 2\n  zero_stage: three", "tp: 2\n  zero: 2\n  zero_stage: three"),
        ("tp: 2\n  zero_stage: fsdp", "tp: 2\n  sharding: fsdp"),
    ],
)
def test_two_fixes_of_one_key_are_never_both_applied_and_none_makes_a_file_worse(
    layout: str, fixed: str, call: Call
) -> None:
    Path("spec.yaml").write_text(BASE.replace("tp: 2", layout))
    done = call("check", "spec.yaml", "--fix", "--unsafe-fixes", "--format", "json")
    assert Path("spec.yaml").read_text() == BASE.replace("tp: 2", fixed)
    assert "duplicate-key" not in done.out
    assert ("not fixed unknown-key: the fixed file would have error[unknown-choice]" in done.error) == (
        "zero_stage: three" in fixed
    )


def test_a_fix_that_reveals_an_error_is_written(call: Call) -> None:
    """With its number of nodes the machine can be resolved, and tp 16 turns out to cross nodes of 8."""
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodse: 4").replace("tp: 2", "tp: 24"))
    done = call("check", "spec.yaml", "--fix", "--format", "concise")
    assert "nodes: 4" in Path("spec.yaml").read_text()
    assert done.status == 1 and "unknown-key" not in done.out


def test_a_suggestion_that_leads_to_an_error_is_not_written(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule proposes tp 3, which does not divide the heads of the model."""
    from clusterspec.finding import Fix, Problem, Replacement
    from clusterspec.rules.pages import module

    wrong = Fix("use 3", (Replacement(("layout", "tp"), "3"),))
    found = Problem("unusual-value", ("layout", "tp"), "2 is unusual", fix=wrong)
    monkeypatch.setattr(module("unusual-value"), "check", lambda *_: [found])
    monkeypatch.setattr("clusterspec.rules.engine._SILENT", {})
    Path("spec.yaml").write_text(BASE)
    done = call("check", "spec.yaml", "--fix", "--unsafe-fixes")
    assert Path("spec.yaml").read_text() == BASE
    assert "spec.yaml:11:7: not fixed unusual-value: the fixed file would have error[" in done.error


@pytest.mark.parametrize("words", [("spec.yaml",), ("one.yaml", "spec.yaml")], ids=len)
def test_a_fix_writes_no_file_that_was_not_named(words: tuple[str, ...], call: Call) -> None:
    flawed = BASE.replace("nodes: 4", "nodse: 4")
    Path("base.yaml").write_text(flawed)
    for name in ("spec.yaml", "one.yaml"):
        Path(name).write_text("clusterspec: 1\nextends: base.yaml\nname: other\n")
    done = call("check", *words, "--fix", "--unsafe-fixes", "--format", "json")
    assert Path("base.yaml").read_text() == flawed
    assert done.status == 1
    call("check", *words, "base.yaml", "--fix")
    assert Path("base.yaml").read_text() == BASE


def test_a_file_that_was_saved_during_the_check_keeps_what_was_saved(tmp_path: Path) -> None:
    """An editor saves the first file after it was read: the other one is fixed, and the call says which was left."""
    saved, other = (tmp_path / name for name in ("saved.yaml", "other.yaml"))
    for file in (saved, other):
        file.write_text("nodes: 4\n", "utf-8")
    changes = {
        str(file): FileChange(str(file), "nodes: 4\n", "nodes: 8\n", ((Edit(span_of(str(file)), "8"), "typo"),))
        for file in (saved, other)
    }
    saved.write_text("nodes: 16\n", "utf-8")
    with pytest.raises(UsageFault, match=r"saved\.yaml: changed while it was checked"):
        write_changes(changes)
    assert saved.read_text("utf-8") == "nodes: 16\n"
    assert other.read_text("utf-8") == "nodes: 8\n"


def span_of(file: str) -> Span:
    return Span(file, Position(1, 8), Position(1, 9))
