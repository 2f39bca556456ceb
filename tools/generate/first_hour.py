"""Runs the commands of docs/first-hour.md and writes their output below them.

Commands run in one process, in an empty folder with the flawed spec. Of shell syntax only ``>``, ``| head -n N`` and
``cat`` are supported, because the page is for people who type.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from clusterspec.cli import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first-hour.md"
BLOCK = re.compile(r"````console\n(.*?)````", re.DOTALL)
"""Four backticks, since the page of a rule has fences of its own."""
SERVING = PAGE.with_name("serving.md")
"""The page whose first block of YAML is the spec of a serving plan."""
FLAWED = """\
clusterspec: 1
name: flawed
cluster:
  platform: dgx-h100
  nodes: 16
  scale_up:
    bandwidth: 900 GB/s unidirectional
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 GB/s
workload:
  model: llama-3.1-70b
  sequence_length: 8192
  global_batch: 512
layout:
  tp: 16
  micro_bacth: 1
"""
DAY = "1796083200"
"""2026-12-01, as SOURCE_DATE_EPOCH: nothing on the page may depend on the clock."""


def page() -> str:
    """The page with the output of every command."""
    with workplace():
        return BLOCK.sub(lambda block: f"````console\n{session(block[1])}````", PAGE.read_text("utf-8"))


@contextlib.contextmanager
def workplace() -> Iterator[None]:
    """An empty folder with the flawed spec and that of a serving plan, and a fixed day."""
    before, day = Path.cwd(), os.environ.get("SOURCE_DATE_EPOCH")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "flawed.yaml").write_text(FLAWED, "utf-8")
        (Path(folder) / "serving.yaml").write_text(first_yaml(SERVING.read_text("utf-8")), "utf-8")
        os.chdir(folder)
        os.environ["SOURCE_DATE_EPOCH"] = DAY
        try:
            yield
        finally:
            os.chdir(before)
            if day is None:
                del os.environ["SOURCE_DATE_EPOCH"]
            else:
                os.environ["SOURCE_DATE_EPOCH"] = day


def first_yaml(text: str) -> str:
    """The first block of YAML of a page."""
    return text.split("```yaml\n", 1)[1].split("```", 1)[0]


def session(block: str) -> str:
    """The commands of a block, each followed by what it prints."""
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "\n".join(f"{command}\n{carried_out(command[2:])}" for command in commands)


def carried_out(command: str) -> str:
    """The output of one command."""
    found, _, target = command.partition(" > ")
    found, _, head = found.partition(" | head -n ")
    words = shlex.split(found)
    if words[0] == "cat":
        return Path(words[1]).read_text("utf-8")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        run(words[1:])
    if target:
        Path(target).write_text(out.getvalue(), "utf-8")
        return ""
    text = out.getvalue()
    return "".join(line + "\n" for line in text.splitlines()[: int(head)]) if head else text
