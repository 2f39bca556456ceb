"""What engines leave out of a design by the kernels and connectors that a launch names, as notes of an export."""

from __future__ import annotations

import pytest

from clusterspec.exchange.exporters.registry import NotExportable, exporter_of
from tests.exchange.test_exporters import PLAN, SERVING, plan, pod, source

MIXED = PLAN.replace("    disaggregated: {{prefill: {prefill}, decode: {decode}}}\n", "{more}")


@pytest.mark.parametrize(
    ("more", "layout", "told"),
    [
        ("", "tp: 1, attention_dp: 8, ep: 8, dispatcher: deepep", True),
        ("    captured_graphs: false\n", "tp: 1, attention_dp: 8, ep: 8, dispatcher: deepep", False),
        ("", "tp: 1, attention_dp: 8, ep: 8", False),
    ],
)
def test_engines_of_both_phases_capture_no_graphs_with_kernels_for_many_tokens(
    more: str, layout: str, told: bool
) -> None:
    software = f"vllm 0.33.0, {layout}"
    file = exporter_of("vllm").write(pod(1, rest=MIXED.format(software=software, more=more)))
    assert any("captured graphs" in each for each in file.omitted) is told
    assert ("--enforce-eager" in str(file.content)) is ("false" in more)


@pytest.mark.parametrize(("stages", "told"), [(2, True), (1, False)])
def test_stages_of_separate_engines_are_told(stages: int, told: bool) -> None:
    prefill = f"{{replicas: 1, tp: {8 // stages}, pp: {stages}, ep: {8 // stages}}}"
    file = exporter_of("vllm").write(plan("vllm 0.33.0", prefill, "{replicas: 1, tp: 8, ep: 8}", nodes=2))
    assert any("NixlPushConnector" in each for each in file.omitted) is told


@pytest.mark.parametrize("kind", ["dynamo", "llm-d"])
@pytest.mark.parametrize(
    ("work", "why"),
    [
        ("workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512}\nlayout: {tp: 8}\n", "is training"),
        (f"workload: {{kind: serve, model: llama-3.1-8b, {SERVING}}}\nlayout: {{tp: 8}}\n", "names no engine"),
        (
            f"workload: {{kind: serve, model: llama-3.1-8b, {SERVING}}}\nlayout: {{software: trt-llm 1.2.0}}\n",
            "of trt-llm",
        ),
    ],
)
def test_a_graph_of_engines_needs_a_design_that_serves_and_names_its_engine(kind: str, work: str, why: str) -> None:
    with pytest.raises(NotExportable, match=why):
        exporter_of(kind).write(source("platform: dgx-h100, nodes: 1", work))
