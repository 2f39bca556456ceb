"""Every printed formula gives its printed value, and the parts of every sum add up to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clusterspec import studies
from clusterspec.cost.plan import Plan
from clusterspec.results.estimate_json import estimate_fields
from tests.cost.expressions import evaluate
from tests.cost.plans import MIXTRAL, plan
from tests.effort import ALL_CASES, examples, thorough
from tests.settings import SETTINGS

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
RUNS = Path(__file__).resolve().parents[1] / "accuracy" / "runs.jsonl"


def holds(term: dict[str, Any]) -> None:
    """A term of the JSON and all below it follow from their own inputs and parts."""
    parts, inputs = term["parts"], term["inputs"]
    names = {each["name"]: each["value"] for each in (*inputs, *parts)}
    assert len(names) == len(parts) + len(inputs), term["name"]
    assert all(name.isidentifier() for name in (term["name"], *names))
    assert evaluate(term["formula"], names) == pytest.approx(term["value"], rel=1e-9, abs=1e-30), term
    if parts:
        assert sum(part["value"] for part in parts) == pytest.approx(term["value"], rel=1e-9, abs=1e-30)
    for part in parts:
        holds(part)


def explained(found: Plan) -> None:
    document = json.loads(json.dumps(estimate_fields(found, None)))
    (step,) = (term for term in document["terms"] if term["name"] == "step")
    assert step["value"] == pytest.approx(document["step_time"], rel=1e-9)
    holds(step)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_formula_of_an_example_gives_its_value(path: Path) -> None:
    found = studies.study_file(path, SETTINGS).plan
    if found.step is not None:
        explained(found)


@thorough
def test_every_formula_of_published_runs_gives_its_value() -> None:
    """Every seventh run has all frameworks, accelerators and years."""
    for line in RUNS.read_text("utf-8").splitlines()[:: 7 if ALL_CASES else 28]:
        found = studies.study_text(json.dumps(json.loads(line)["spec"]), SETTINGS).plan
        if found.step is not None:
            explained(found)


@settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(
    nodes=st.sampled_from([1, 2, 8, 64]),
    model=st.sampled_from(["llama-3.1-8b", MIXTRAL, "deepseek-v3"]),
    precision=st.sampled_from(["bf16", "fp8", "fp32"]),
    attention=st.sampled_from(["flash", "plain"]),
    cut=st.fixed_dictionaries(
        {
            "framework": st.sampled_from(["megatron-core", "deepspeed", "torchtitan", "fsdp", "maxtext", "internevo"]),
            "software_year": st.integers(2021, 2026),
            "tp": st.sampled_from([1, 2, 8]),
            "cp": st.sampled_from([1, 2]),
            "cp_method": st.sampled_from(["ring", "all-gather", "all-to-all"]),
            "pp": st.sampled_from([1, 2, 4]),
            "ep": st.sampled_from([1, 4]),
            "schedule": st.sampled_from(["1f1b", "gpipe", "zero-bubble", "dualpipe"]),
            "sharding": st.sampled_from(["none", "zero1", "zero2", "fsdp", "hsdp"]),
            "recompute": st.sampled_from(["none", "selective", "full"]),
            "offload": st.sampled_from([{"optimizer": 0}, {"optimizer": 0.5}]),
            "overlap": st.sampled_from([{}, {"tp": "none", "dp": False, "pp": False}, {"tp": "full", "ep": True}]),
        }
    ),
)
def test_every_formula_of_any_layout_gives_its_value(
    nodes: int, model: str, precision: str, attention: str, cut: dict[str, Any]
) -> None:
    found = plan(
        {"nodes": nodes}, workload={"model": model, "precision": precision, "attention": attention}, layout=cut
    )
    assume(found.step is not None)
    explained(found)


def test_copies_of_narrow_tokens_explain_their_seconds() -> None:
    """On eight B200 the tokens of 2 kB wait for the kernels that send them, and no longer for their links."""
    work = {"model": "nemotron-3-super", "sequence_length": 8192, "global_batch": 8}
    cut = {"tp": 1, "ep": 8, "dispatcher": "hybrid", "software_year": 2026}
    found = plan({"platform": "dgx-b200", "nodes": 1}, workload=work, layout=cut)
    assert found.step_time is not None
    rates = [dict(term.inputs)["copy_rate"].value for term in found.step_time.walk() if "copies" in dict(term.inputs)]
    assert rates and set(rates) == {85e6}
    explained(found)


def test_tokens_forwarded_in_two_nodes_explain_their_seconds() -> None:
    """On two nodes of eight B200 each the kernels of DeepEP forward more slowly than the NICs send."""
    work = {"model": "qwen3-30b-a3b", "global_batch": 16}
    cut = {"tp": 1, "ep": 16, "dispatcher": "deepep", "software_year": 2026}
    found = plan({"platform": "dgx-b200", "nodes": 2}, workload=work, layout=cut)
    assert found.step_time is not None
    leaves = [dict(term.inputs) for term in found.step_time.walk()]
    assert {leaf["forward_rate"].value for leaf in leaves if "forwarded" in leaf} == {140e9}
    explained(found)


def test_figures_of_leaves_have_origins() -> None:
    """Figures of an entry are cited or assumed with a reason, and what follows from others says how."""
    whole = plan(layout={"tp": 8}).step_time
    assert whole is not None
    figures = {name: figure for term in whole.walk() for name, figure in term.inputs}
    assert {"peak", "matmul", "sustained", "memory_bandwidth", "interference", "line", "share"} <= set(figures)
    assert all(str(figure.origin).split(": ", 1)[1] for figure in figures.values())


def test_a_leaf_counts_equal_kernels_only_where_there_are_several() -> None:
    whole = plan(layout={"tp": 2, "cp": 2}).step_time
    assert whole is not None
    counts = {dict(term.inputs)["kernels"].value for term in whole.walk() if "kernels" in dict(term.inputs)}
    assert counts and min(counts) > 1


def test_leaves_give_the_hand_worked_values() -> None:
    """The output projection of Llama 3.1 8B on one H100 at tp 1: 2 × 8192 × 4096 × 4096 FLOPs in each layer, for
    128 / 32 micro-batches, at the peak of 989.4 TFLOP/s times the shares that the leaf prints."""
    whole = plan(layout={"tp": 1}).step_time
    assert whole is not None
    leaf = next(term for term in whole.walk() if term.name == "forward_dense_layer_attention_output")
    inputs = {name: figure.value for name, figure in leaf.inputs}
    assert inputs["flops"] == 2 * 8192 * 4096 * 4096
    assert (inputs["micro_batches"], inputs["layers"]) == (4, 32)
    rate = 989.4e12
    for share in ("matmul", "sustained", "products", "fill"):
        assert 0.5 < inputs.get(share, 1.0) <= 1.1
        rate *= inputs.get(share, 1.0)
    assert leaf.value == pytest.approx(4 * 32 * inputs["flops"] / rate, rel=1e-3)
