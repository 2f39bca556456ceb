"""The page on reinforcement learning: its specs are estimated without an error, and its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clusterspec.cli import run
from clusterspec.finding import Severity
from clusterspec.studies import study_text
from tests.settings import SETTINGS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reinforcement.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^\$ clusterspec (.*)$", TEXT, re.MULTILINE)


def test_the_specs_of_the_page_are_estimated_without_an_error() -> None:
    learning, tuning = (study_text(block, SETTINGS) for block in BLOCKS)
    assert learning.plan.rl is not None and tuning.plan.step is not None
    for one in (learning, tuning):
        assert not [finding for finding in one.findings if finding.severity is Severity.ERROR]


def test_every_command_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reasoning.yaml").write_text(BLOCKS[0], "utf-8")
    monkeypatch.chdir(tmp_path)
    printed = []
    for command in COMMANDS:
        assert run(shlex.split(command)) == 0, command
        printed.append(capsys.readouterr().out)
    assert "Roles of one step" in printed[1]
    assert "max(training + sync" in printed[2]
    assert "Placements of rollout" in printed[3]


def test_the_batch_of_the_page_is_that_of_its_spec() -> None:
    """2,048 samples in 4 minibatches; four samples of 3,012 tokens in a sequence of 16,896; 32 ranks with tp 2."""
    design = study_text(BLOCKS[0], SETTINGS).design
    work, layout = design.workload, design.layout
    assert work is not None and work.rl is not None and layout is not None
    assert (work.rl.samples, round(work.rl.sample_tokens), work.sequence_length) == (2048, 3012, 16896)
    assert (work.global_batch, layout.dp) == (128, 16)
    for figure in ("2,048 samples", "3,012 tokens", "16,896 tokens", "128 sequences, 8 on each", "16 replicas"):
        assert figure in TEXT
    texts = (BLOCKS[0].replace("  rl:\n", f"  global_batch: {batch}\n  rl:\n", 1) for batch in (512, 128, 256))
    found = [[one.rule for one in study_text(text, SETTINGS).errors] for text in texts]
    assert found == [[], [], ["keys-disagree"]]  # samples, sequences that hold them, neither
