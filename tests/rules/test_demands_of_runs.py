"""Demands on accelerator-hours, kept checkpoints, requests of an engine and the power of a node."""

from __future__ import annotations

import pytest

from tests.rules.conftest import Check
from tests.rules.test_demand_quantities import findings_of_demands

TRAIN = """clusterspec: 1
description: "{text}"
cluster:
  platform: dgx-h100
  nodes: 16
  power: {{node: 10.2 kW}}
workload: {{kind: train, model: llama-3.1-8b, sequence_length: 8192, global_batch: 384, tokens: 1T}}
layout: {{framework: torchtitan, dp: 128, sharding: fsdp, micro_batch: 1}}
operations:
  checkpoint: {{interval: 30 min, pause: 10 s, write_time: 2 min, mode: asynchronous, keep: 20}}
"""
"""About 36,000 to 50,000 accelerator-hours, and 20 checkpoints of 112 GB."""
SERVED = """clusterspec: 1
description: "{text}"
cluster: {{platform: dgx-h200, nodes: 2}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: {{mean: 3000, max: 8000}}
    output_tokens: {{mean: 500, max: 900}}
    concurrency: 96
    load: closed
layout: {{framework: vllm, tp: 8, dp: 2}}
"""
TOKENS, KEEP, NODE, SEATS = (
    "workload.tokens",
    "operations.checkpoint.keep",
    "cluster.power.node",
    "workload.serving.concurrency",
)
TWINS = [
    (TRAIN, TOKENS, "The allocation is limited to {} GPU hours.", "20,000", "100,000"),
    (TRAIN, TOKENS, "Das Kontingent beträgt höchstens {} GPU-Stunden.", "20.000", "100.000"),
    (TRAIN, TOKENS, "Le comité nous accorde au plus {} heures GPU.", "20 000", "100 000"),
    (TRAIN, TOKENS, "El comité concede como máximo {} horas de GPU.", "20.000", "100.000"),
    (TRAIN, TOKENS, "The committee grants {} GPU-hours and not one more.", "20,000", "100,000"),
    (TRAIN, TOKENS, "配分は{}万GPU時間を上限とする。", "2", "10"),
    (TRAIN, TOKENS, "配额最多{}万GPU小时。", "2", "10"),
    (TRAIN, KEEP, "The kept checkpoints may take at most {} TB of the store.", "1.5", "3"),
    (TRAIN, KEEP, "Die aufbewahrten Checkpoints dürfen höchstens {} TB belegen.", "1,5", "3"),
    (TRAIN, KEEP, "Les points de contrôle ne doivent pas occuper plus de {} To.", "1,5", "3"),
    (TRAIN, KEEP, "Los puntos de control pueden ocupar como máximo {} TB.", "1,5", "3"),
    (SERVED, SEATS, "Each engine may hold at most {} requests at once.", "32", "64"),
    (SERVED, SEATS, "Jeder Motor darf höchstens {} Anfragen zugleich bearbeiten.", "32", "64"),
    (SERVED, SEATS, "Chaque moteur accepte au plus {} requêtes à la fois.", "32", "64"),
    (SERVED, SEATS, "Cada motor admite como máximo {} peticiones a la vez.", "32", "64"),
    (TRAIN, NODE, "A node must not draw more than {} kW.", "9", "11"),
    (TRAIN, NODE, "Jeder Knoten darf höchstens {} kW ziehen.", "9", "11"),
    (TRAIN, NODE, "Chaque nœud ne peut tirer que {} kW au plus.", "9", "11"),
    (TRAIN, NODE, "Cada nodo puede consumir como máximo {} kW.", "9", "11"),
]
"""A design, the key of a finding, a text, a figure that breaks it and one that the design keeps."""
OF_OTHERS = [
    (TRAIN, "The first pilot took 12,000 GPU hours."),
    (TRAIN, "A partner was granted at most 9,000 GPU hours."),
    (TRAIN, "In the year before, the committee granted no more than 8,000 GPU hours."),
    (TRAIN, "A checkpoint takes at most 0.2 TB."),
    (TRAIN, "Chaque point de contrôle occupe au plus 0,2 To."),
    (TRAIN, "The test took 2,000 GPU hours of the allocation."),
    (TRAIN, "The old checkpoints, at most 1 TB, lie on tape."),
    (TRAIN, "The home directories may take at most 1 TB."),
    (TRAIN, "The fans of each node draw at most 1 kW."),
    (TRAIN, "A storage server may draw at most 3 kW."),
    (TRAIN, "Jeder Switch darf höchstens 2 kW ziehen."),
    (SERVED, "Each user may have at most 2 requests at once."),
    (SERVED, "The former engines held at most 16 requests each."),
]
"""Texts with a figure of something else."""


@pytest.mark.parametrize(("design", "key", "text", "figure", "kept"), TWINS)
def test_a_text_with_a_figure_that_the_design_breaks_is_found(
    check: Check, design: str, key: str, text: str, figure: str, kept: str
) -> None:
    found = findings_of_demands(check, design.format(text=text.format(figure)))
    assert [".".join(map(str, each.path)) for each in found] == [key]
    assert not findings_of_demands(check, design.format(text=text.format(kept)))


@pytest.mark.parametrize(("design", "text"), OF_OTHERS)
def test_a_figure_of_something_else_is_no_demand(check: Check, design: str, text: str) -> None:
    assert not findings_of_demands(check, design.format(text=text))
