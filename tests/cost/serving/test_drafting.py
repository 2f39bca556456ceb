"""What drafting takes before a step verifies the tokens: the passes of one layer and of heads, worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.cost.formulas.serving import launch_time
from clusterspec.cost.serving.constants import Part
from clusterspec.cost.serving.drafting import layer_and_head
from clusterspec.cost.serving.engine import Decoding
from tests.cost.serving.test_steps import engine, numbers

LAUNCHES = {"launches": 320.0, "each": 5e-6, "host": 1e-3, "sequences": 16.0, "sequence": 1e-5}
PARTS = (
    Part("dense", lambda x: x, {"x": 8e-3}, {}),
    Part("head", lambda x: x, {"x": 5e-4}, {}),
    Part("cache", lambda x: x, {"x": 1.6e-3}, {}),
    Part("launch", launch_time, LAUNCHES, {}),
)
"""A step of 80 layers, whose kernels are launched in 1.6 ms."""


def test_a_drafting_layer_takes_as_long_as_a_layer_of_the_model() -> None:
    """8 ms of GEMMs, 1.6 ms of the cache and 1.6 ms of launches over 80 layers; the host works once for all passes."""
    assert layer_and_head(PARTS, 80) == pytest.approx({"layer": 0.14e-3, "head": 0.5e-3})


def drafted(method: str, tokens: int = 4) -> str:
    return f", speculative: {{tokens: {tokens}, acceptance: 0.6{method and f', method: {method}'}}}"


@pytest.mark.parametrize(("method", "layers"), [("eagle", 1.0), ("mtp", 1.0), ("medusa", 0.0)])
def test_heads_on_the_model_draft_before_each_step(method: str, layers: float) -> None:
    plain, one = engine("llama-3.1-70b", "tp: 8", drafted("")), engine("llama-3.1-70b", "tp: 8", drafted(method))
    step, single = one.decode(16.0, 1000.0, 5.0), layer_and_head(plain.decode(16.0, 1000.0).parts, 80)
    found = numbers(step, "drafting")
    assert found == pytest.approx({"drafts": 4.0, "layers": layers, **single})
    seconds = 4 * (layers * single["layer"] + single["head"])
    assert step.total - plain.decode(16.0, 1000.0, 5.0).total == pytest.approx(seconds)
    beside = Decoding(16.0, 1000.0, 5.0)
    mixed, before = (each.prefill(1000.0, 1000.0, 1.0, beside).total for each in (one, plain))
    assert mixed - before == pytest.approx(seconds), "also in a step with prompts"
    assert one.decode(16.0, 1000.0).total == plain.decode(16.0, 1000.0).total, "nothing is drafted"


@pytest.mark.parametrize("method", ["ngram", "draft-model"])
def test_matches_in_the_prompt_are_free_and_a_draft_model_of_unknown_size_is_left_out(method: str) -> None:
    found, plain = (engine("llama-3.1-70b", "tp: 8", drafted(each)).decode(16.0, 1000.0, 5.0) for each in (method, ""))
    assert found.total == plain.total and "drafting" not in {part.name for part in found.parts}


@pytest.mark.parametrize("method", ["eagle", "medusa"])
def test_a_simulated_step_drafts_as_long_as_that_of_the_formulas(method: str) -> None:
    one = engine("llama-3.1-70b", "tp: 8", drafted(method))
    load = one.workload.serving
    assert load is not None
    step = one.decode(16.0, load.input_tokens + load.output_tokens / 2, 5.0)
    drafting = next(part.seconds for part in step.parts if part.name == "drafting")
    assert StepTables.of(one).drafting_seconds(16.0) == pytest.approx(drafting, rel=0.01)
    assert StepTables.of(engine("llama-3.1-70b", "tp: 8", drafted("ngram"))).drafting_seconds(16.0) == 0.0


def test_more_drafts_than_are_accepted_soon_cost_more_than_they_gain() -> None:
    """With an acceptance that falls with their number, 16 drafts of a layer and a head gain less than 4."""
    few, many = (
        engine("llama-3.1-70b", "tp: 8", drafted("eagle", tokens)).decode(16.0, 1000.0, tokens + 1.0).total
        for tokens in (4, 16)
    )
    assert few / (1 + 4 * 0.6) < many / (1 + 16 * 0.2)
