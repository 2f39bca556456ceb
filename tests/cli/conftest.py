"""Runs the command line as a person would, in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from clusterspec.cli import run

ROOT = Path(__file__).resolve().parents[2]
BASE = """\
clusterspec: 1
name: base
cluster:
  platform: dgx-h100
  nodes: 4
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 64
layout:
  tp: 2
"""


@dataclass(frozen=True)
class Done:
    """What a call left behind."""

    status: int
    out: str
    error: str


Call = Callable[..., Done]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """``call("check", "x.yaml", stdin=b"…")`` in an empty folder, on a fixed day."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796083200")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_BASE_REF", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def carried_out(*words: str, stdin: bytes = b"") -> Done:
        said, complained = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(said, encoding="utf-8", write_through=True))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(complained, encoding="utf-8", write_through=True))
        status = run(words)
        texts = [stream.getvalue().decode() for stream in (said, complained)]
        return Done(status, *texts)

    return carried_out


def skip_without_pdf() -> None:
    """WeasyPrint may be missing, or the libraries beneath it."""
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError) as why:
        pytest.skip(f"no PDF here: {why}")
