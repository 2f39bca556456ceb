"""A key of a spec changes the lines of a launch that state it, and no other; `changed_keys.txt` has the lines.

Each part of the file is a format with the launch of one design, checked by hand, and below it each changed key with the
lines that go and come. A key without lines is not written. So every branch of a writer on a key is tried.
"""

from __future__ import annotations

from difflib import ndiff
from pathlib import Path

import pytest

from clusterspec.exchange.exporters.registry import NotExportable
from tests.exchange.test_exporters import exported, source

TEXT = Path(__file__).with_name("changed_keys.txt").read_text("utf-8").split("\n=== ")[1:]
WRITTEN = {part.split("\n", 1)[0]: part.rstrip("\n").split("\n>>> ") for part in TEXT}
TRAINS = {
    "cluster": {"platform": "dgx-h100", "nodes": "16", "scale_out": "{switch: quantum-2-qm9700}"},
    "workload": {"model": "llama-3.1-8b", "sequence_length": "8192", "global_batch": "256", "precision": "bf16"},
    "layout": {"tp": "2", "pp": "2", "cp": "1", "micro_batch": "1", "schedule": "1f1b", "recompute": "none"},
}
SERVES = {
    "cluster": {"platform": "dgx-h100", "nodes": "1"},
    "workload": {"kind": "serve", "model": "llama-3.1-70b"},
    "serving": {
        "input_tokens": "{mean: 1000, p99: 1900, max: 2000}",
        "output_tokens": "{mean: 250, p99: 480, max: 500}",
        "concurrency": "64",
        "max_sequences": "128",
        "chunk_tokens": "4096",
    },
    "layout": {"tp": "8", "pp": "1"},
}


def launch(name: str, changed: str = "") -> list[str]:
    """The lines of a launch of the design, with one key changed; a refusal is one line after `!`."""
    serves = name in {"vllm", "sglang"}
    parts = {section: dict(keys) for section, keys in (SERVES if serves else TRAINS).items()}
    if changed:
        key, _, value = changed.partition(" ")
        section, _, last = key.rpartition(".")
        parts[section][last] = value
    flows = {section: ", ".join(f"{key}: {value}" for key, value in keys.items()) for section, keys in parts.items()}
    work, layout = flows["workload"], flows["layout"]
    if serves:
        work, layout = f"{work}, serving: {{{flows['serving']}}}", f"framework: {name}, {layout}"
    try:
        return exported(name, source(flows["cluster"], f"workload: {{{work}}}\nlayout: {{{layout}}}\n")).splitlines()
    except NotExportable as fault:
        return [f"! {fault}"]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_changed_key_changes_the_lines_that_state_it(name: str) -> None:
    whole, *changes = WRITTEN[name]
    lines = whole.split("\n")[1:]
    assert launch(name) == lines
    for change in changes:
        key, *wanted = change.split("\n")
        found = launch(name, key)
        told = found if found[0].startswith("! ") else [row for row in ndiff(lines, found) if row[0] in "+-"]
        assert [row.rstrip() for row in told] == [row.rstrip() for row in wanted], key
