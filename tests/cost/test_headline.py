"""The printed figures of an estimate: each is what its formula gives with the inputs it names."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.cost.term import Term
from clusterspec.studies import study_text
from tests.settings import SETTINGS

TRAINS = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 5}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 128, tokens: 1e12}
layout: {framework: megatron-core, nodes: 4, tp: 4, pp: 2, recompute: full}
"""
SERVES = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 1000, output_tokens: 200, concurrency: 16, targets: {ttft: 2 s, tpot: 50 ms}}
layout: {framework: vllm, tp: 2}
"""


def headlines(text: str) -> dict[str, Term]:
    report = analysis.estimate(study_text(text, SETTINGS))
    return {term.name: term for term in report.headlines}


@pytest.mark.parametrize("text", [TRAINS, SERVES], ids=["training", "serving"])
def test_each_figure_is_its_formula_of_its_inputs(text: str) -> None:
    checked = [term for term in headlines(text).values() if term.inputs and not term.parts]
    for term in checked:
        values = {name: figure.value for name, figure in term.inputs}
        assert eval(term.formula, {}, values) == pytest.approx(term.value, rel=1e-12), term.name
    assert len(checked) >= 3


def test_the_figures_of_training_hand_worked() -> None:
    """32 of 40 accelerators work; 128 sequences of 4096 tokens are 524,288 tokens a step."""
    report = analysis.estimate(study_text(TRAINS, SETTINGS))
    found, step = headlines(TRAINS), report.plan.step_seconds
    assert step is not None
    assert report.accelerators_used == 32
    assert report.used_text() == "32 of 40 accelerators"
    assert found["tokens per second"].value == pytest.approx(524_288 / (step * 32))
    assert found["time to train"].value == pytest.approx(1e12 / 524_288 * step)
    multiplied = 8_030_261_248 - 128_256 * 4096  # the input embedding is looked up, not multiplied
    per_token = 6 * multiplied + 12 * 32 * 4096 * 4096
    assert found["MFU"].value == pytest.approx(found["tokens per second"].value * per_token / 989.4e12, rel=1e-3)
    assert found["HFU"].value == pytest.approx(4 / 3 * found["MFU"].value, rel=0.05)
    assert found["parameters"].value == 8_030_261_248
    assert found["active parameters"].value == found["parameters"].value


def test_the_figures_of_serving_hand_worked() -> None:
    """A request takes its first token and 199 more; 16 requests in flight make 16 × 200 tokens in that time."""
    found = headlines(SERVES)
    first, each = found["time to first token"].value, found["time per output token"].value
    assert found["request latency"].value == pytest.approx(first + 199 * each)
    assert found["output tokens per second"].value == pytest.approx(16 * 200 / found["request latency"].value)
    assert found["highest concurrency"].value >= 16
