"""What drafting takes before a step verifies the tokens: the passes of one layer and of heads, worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.cost.drafters import drafter_weights
from clusterspec.cost.formulas.serving import launch_time
from clusterspec.cost.memory.fullest import design_memory
from clusterspec.cost.serving.constants import Part
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.step_times import decode_step, layer_and_head, prompt_step
from clusterspec.studies import study_text
from tests.cost.serving.test_steps import engine, numbers
from tests.settings import SETTINGS

SPECULATED = """\
clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: bf16
  parameter_precision: bf16
  serving: {{input_tokens: 1000, output_tokens: 100, concurrency: 8, memory_fraction: 0.9{}}}
layout: {{framework: vllm, tp: 8}}
"""
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
    plain, one = engine("llama-3.1-70b", "tp: 8", drafted("ngram")), engine("llama-3.1-70b", "tp: 8", drafted(method))
    step, single = decode_step(one, 16.0, 1000.0, 5.0), layer_and_head(decode_step(plain, 16.0, 1000.0).parts, 80)
    found = numbers(step, "drafting")
    assert found == pytest.approx({"drafts": 4.0, "layers": layers, **single})
    seconds = 4 * (layers * single["layer"] + single["head"])
    assert step.total - decode_step(plain, 16.0, 1000.0, 5.0).total == pytest.approx(seconds)
    beside = Decoding(16.0, 1000.0, 5.0)
    mixed, before = (prompt_step(each, 1000.0, 1000.0, 1.0, beside).total for each in (one, plain))
    assert mixed - before == pytest.approx(seconds), "also in a step with prompts"
    assert decode_step(one, 16.0, 1000.0).total == decode_step(plain, 16.0, 1000.0).total, "nothing is drafted"


def test_matches_in_the_prompt_are_free_and_a_draft_model_of_unknown_size_is_left_out() -> None:
    engines = [engine("llama-3.1-70b", "tp: 8", drafted(each)) for each in ("ngram", "draft-model")]
    found = [decode_step(each, 16.0, 1000.0, 5.0) for each in engines]
    assert found[0].total == found[1].total
    assert all("drafting" not in {part.name for part in step.parts} for step in found)


@pytest.mark.parametrize("method", ["eagle", "medusa"])
def test_a_simulated_step_drafts_as_long_as_that_of_the_formulas(method: str) -> None:
    one = engine("llama-3.1-70b", "tp: 8", drafted(method))
    load = one.workload.serving
    assert load is not None
    step = decode_step(one, 16.0, load.input_tokens + load.output_tokens / 2, 5.0)
    drafting = next(part.seconds for part in step.parts if part.name == "drafting")
    assert StepTables.of(one).drafting_seconds(16.0) == pytest.approx(drafting, rel=0.01)
    assert StepTables.of(engine("llama-3.1-70b", "tp: 8", drafted("ngram"))).drafting_seconds(16.0) == 0.0


def test_more_drafts_than_are_accepted_soon_cost_more_than_they_gain() -> None:
    """With an acceptance that falls with their number, 16 drafts of a layer and a head gain less than 4."""
    few, many = (
        decode_step(engine("llama-3.1-70b", "tp: 8", drafted("eagle", tokens)), 16.0, 1000.0, tokens + 1.0).total
        for tokens in (4, 16)
    )
    assert few / (1 + 4 * 0.6) < many / (1 + 16 * 0.2)


def drafted_weights(model: str, method: str, keys: str = "tp: 8") -> dict[str, float]:
    found = engine(model, keys, drafted(method))
    return {kind.name: kind.weights for kind in drafter_weights(found.workload, found.layout)}


def test_what_drafts_has_weights_of_its_own() -> None:
    """Llama 3.1 70B: attention 8192 × (2 × 8192 + 2 × 1024), network 3 × 8192 × 28672, projection 2 × 8192², five
    norms. DeepSeek-V3: 256 experts of 3 × 7168 × 2048. Each of 8 ranks has an eighth.
    """
    layer = 8192 * (2 * 8192 + 2 * 1024) + 3 * 8192 * 28672 + 2 * 8192**2 + 5 * 8192
    assert drafted_weights("llama-3.1-70b", "eagle") == pytest.approx({"draft weights": layer / 8})
    heads = 4 * (8192**2 + 8192 * 128256)
    assert drafted_weights("llama-3.1-70b", "medusa") == pytest.approx({"draft weights": heads / 8})
    modules = drafted_weights("deepseek-v3", "mtp")
    assert modules["draft experts"] == pytest.approx(256 * 3 * 7168 * 2048 / 8)
    assert 0 < modules["draft weights"] < 0.1 * modules["draft experts"]
    for method in ("ngram", "draft-model"):
        assert drafted_weights("llama-3.1-70b", method) == {}


@pytest.mark.parametrize(("method", "layers"), [("eagle", 1), ("mtp", 1), ("medusa", 0), ("ngram", 0)])
def test_layers_that_draft_keep_keys_and_values(method: str, layers: int) -> None:
    """A token of a layer of Llama 3.1 70B on one of 8 ranks: 2 × 128 × 2 B."""
    one, plain = engine("llama-3.1-70b", "tp: 8", drafted(method)), engine("llama-3.1-70b", "tp: 8", "")
    assert one.reserved_bytes(1000.0) - plain.reserved_bytes(1000.0) == pytest.approx(layers * 1000 * 512)
    assert one.sequence_bytes(1000.0) == plain.sequence_bytes(1000.0), "the steps of the model read none of it"


@pytest.mark.parametrize("method", ["eagle", "medusa"])
def test_what_drafts_takes_memory_from_the_cache(method: str) -> None:
    plans = {
        each: study_text(SPECULATED.format(f", speculative: {{tokens: 4, acceptance: 0.6, method: {each}}}"), SETTINGS)
        for each in ("ngram", method)
    }
    bare, own = (plans[each].plan for each in ("ngram", method))
    assert bare.serving is not None and own.serving is not None
    memory = design_memory(own.design)
    assert memory is not None
    weights = {"eagle": 990_003_200, "medusa": 4 * (8192**2 + 8192 * 128256)}[method]
    lines = {line.name: line.value for line in memory.rank.weights}
    assert lines["draft weights"] == pytest.approx(2 * weights / 8, rel=1e-3)
    kept = bare.serving.kv_capacity_tokens * bare.serving.kv_bytes_per_token
    left = own.serving.kv_capacity_tokens * own.serving.kv_bytes_per_token
    assert kept - left == pytest.approx(2 * weights, rel=0.01)


@pytest.mark.parametrize(("model", "method"), [("deepseek-v3", "mtp"), ("llama-3.1-70b", "eagle")])
def test_a_method_that_is_not_stated_is_a_listed_assumption(model: str, method: str) -> None:
    text = SPECULATED.replace("llama-3.1-70b", model)
    plans = [
        study_text(text.format(f", speculative: {{tokens: 4{more}}}"), SETTINGS)
        for more in ("", f", acceptance: 0.0, method: {method}")
    ]
    silent, stated = plans
    listed = {key: value for key, value, _ in silent.design.assumptions}
    keys = [f"workload.serving.speculative.{key}" for key in ("method", "acceptance")]
    assert [listed[key] for key in keys] == [method, 0.0]
    assert not {*keys} & {key for key, *_ in stated.design.assumptions}
    assert silent.plan.serving is not None and stated.plan.serving is not None
    assert silent.plan.serving.tpot == stated.plan.serving.tpot
