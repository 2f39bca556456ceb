"""What an exporter writes, the importer of its format reads as the design states it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from clusterspec.exchange import import_formats
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, exporter_of
from clusterspec.exchange.import_result import InputFile, SeveralParts
from tests.effort import sampled
from tools.export_targets import TARGETS, designs

NAMES = {"torchtitan": "design.py", "maxtext": "design.yml", "dynamo": "design.yaml"}


def exports(kind: str) -> Iterator[tuple[ExportInput, ExportedFile]]:
    """The designs that an exporter accepts, one for each text that it writes."""
    seen = set()
    for design in sampled(designs(TARGETS[kind].software), 80):
        with contextlib.suppress(NotExportable):
            written = exporter_of(kind).write(design)
            if written.content not in seen:
                seen.add(written.content)
                yield design, written


def stated(design: ExportInput) -> dict[str, object]:
    """What a design states of its layout and batches."""
    layout, work = design.layout, design.workload
    return {
        "layout.tp": layout.tp,
        "layout.pp": layout.pp,
        "layout.cp": layout.cp,
        "layout.ep": layout.ep,
        "layout.attention_dp": layout.attention_dp,
        "layout.dp": layout.dp,
        "layout.sharding": str(layout.sharding),
    } | ({"workload.global_batch": work.global_batch} if work.kind == "train" else {})


@pytest.mark.parametrize("kind", ["megatron", "maxtext", "torchtitan", "vllm", "sglang", "dynamo"])
def test_what_an_exporter_writes_is_read_as_the_design_states_it(kind: str) -> None:
    compared = 0
    for design, written in exports(kind):
        file = InputFile(NAMES.get(kind, "design.sh"), str(written.content).encode())
        with contextlib.suppress(SeveralParts):  # engines of two roles as two launches
            reading = import_formats.guessed_format(file).read(file)
            found = {".".join(map(str, each.path)): each.value for each in reading.given}
            for path, value in stated(design).items():
                if path in found and not any(line.startswith(f"{value}:") for line in written.omitted):
                    compared += 1
                    assert (path, found[path]) == (path, value)
    assert compared > 20
