"""Levers of a serving plan above and below its capacity."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.report.sensitivity_text import sensitivity_as_text, sensitivity_csv
from clusterspec.results.levers import LeverRow, SensitivityReport
from tests.analysis.jobs import study_of
from tests.effort import thorough

SPEC = """
cluster: {{platform: dgx-h200, nodes: 2}}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: fp8
  parameter_precision: fp8
  serving:
    input_tokens: 3000
    output_tokens: 200
    request_rate: {rate}
    disaggregated: {{prefill: {{replicas: 2, tp: 4}}, decode: {{replicas: 2, tp: 4}}}}
layout: {{framework: vllm}}
"""


def moved(rate: float) -> tuple[SensitivityReport, dict[tuple[str, object], LeverRow]]:
    found = analysis.sensitivity(study_of(SPEC.format(rate=rate)))
    return found, {(row.key, row.after): row for row in found.levers}


def tokens(**changes: object) -> float:
    text = SPEC.format(rate=25)
    for key, value in changes.items():
        text = text.replace(f"{key}: 3000", f"{key}: {value}")
    found = study_of(text).plan.serving
    assert found is not None
    return found.output_tokens_per_second


def test_levers_of_an_overloaded_plan_are_ranked_by_its_throughput() -> None:
    """Shorter prompts have a longer time per token, since more of them decode: what they gain is throughput."""
    found, rows = moved(25)
    assert found.queue_grows and found.output_tokens_per_second == pytest.approx(tokens())
    for length in (2048, 4096):
        row = rows["input_tokens", float(length)]
        assert row.output_tokens_per_second == pytest.approx(tokens(input_tokens=length))
        assert row.effect == pytest.approx(tokens(input_tokens=length) / tokens() - 1)
    shorter, longer = rows["input_tokens", 2048.0].effect, rows["input_tokens", 4096.0].effect
    assert shorter is not None and longer is not None and shorter > 0.4 and longer < -0.2
    for rate in (16.0, 32.0):  # both are above the capacity, too
        assert rows["request_rate", rate].effect == pytest.approx(0, abs=1e-9)
    effects = [abs(row.effect or 0.0) for row in found.levers if not row.errors]
    assert effects == sorted(effects, reverse=True)
    text = sensitivity_as_text(found)
    assert text.startswith("The queue grows without end: full engines produce 2,7") and "throughput  tokens/s" in text
    assert "request_rate 25/s → 32/s" in text and "on the throughput" in text
    assert max(map(len, text.splitlines())) <= 100
    head, *lines = sensitivity_csv(found).splitlines()
    assert ",output_tokens_per_second,queue_grows," in head and lines[0].split(",")[7] == "True"
    assert found.to_json()["queue_grows"] is True


def test_levers_of_a_plan_that_serves_its_load_are_ranked_by_the_time_per_token() -> None:
    """A step to a load above the capacity says that the queue grows there."""
    found, rows = moved(8)
    assert found.queue_grows is False
    row = rows["request_rate", 16.0]
    assert row.queue_grows and row.effect is not None and row.effect > 0
    assert not rows["request_rate", 4.0].queue_grows
    text = sensitivity_as_text(found)
    assert "time per token" in text.splitlines()[0] and "q of full engines: the queue grows" in text
    (line,) = (line for line in text.splitlines() if line.startswith("request_rate") and "16/s" in line)
    assert " ms q " in line


@thorough
def test_a_training_plan_has_no_queue() -> None:
    text = "cluster: {platform: dgx-h100, nodes: 1}\nworkload: {kind: train, model: llama-3.1-8b, {}}\n"
    text = text.replace("{}", "sequence_length: 4096, global_batch: 16")
    found = analysis.sensitivity(study_of(text + "layout: {tp: 2, micro_batch: 1}\n"))
    assert found.levers and found.queue_grows is None and found.output_tokens_per_second is None
    assert "queue_grows" not in sensitivity_csv(found)
