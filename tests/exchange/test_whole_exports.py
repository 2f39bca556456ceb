"""What an exporter writes of a design to the last option; `whole_exports.txt` has the designs and the texts."""

from __future__ import annotations

import json
from pathlib import Path

from clusterspec.exchange.exporters.registry import ExportInput, exporter_of
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

TEXT = Path(__file__).with_name("whole_exports.txt").read_text("utf-8").split("\n=== ")[1:]
EXPORTS = {part.split("\n", 1)[0]: part.split("\n", 1)[1].rstrip("\n").split("\n---\n") for part in TEXT}


@each("name", EXPORTS)
def test_an_exporter_writes_every_option_of_a_design(name: str) -> None:
    """300e9 tokens in steps of 288 × 8,192 are 127,157 steps; 96 sequences of 16 attention replicas are 1,536."""
    spec, wanted = EXPORTS[name]
    design = study_text(f"clusterspec: 1\nname: pod\n{spec}\n", SETTINGS).design
    written = exporter_of(name.split(": ", maxsplit=1)[0]).write(ExportInput(design)).content
    assert isinstance(written, str)
    assert [line for line in written.rstrip("\n").split("\n") if not line.startswith("#")] == wanted.split("\n")


def test_calculon_has_sizes_and_rates_to_six_digits() -> None:
    """85,520,809,984 B are 79.6474609375 GiB; 16 lanes of 32 GT/s carry 63.01538462 GB/s, 128 in 130 bits."""
    text = "clusterspec: 1\nname: pod\ncluster: {platform: dgx-h100, nodes: 2}\n"
    written = exporter_of("calculon").write(ExportInput(study_text(text, SETTINGS).design)).content
    system = json.loads(str(written))
    assert (system["mem1"]["GiB"], system["mem2"]["GBps"]) == (79.647461, 63.015385)
