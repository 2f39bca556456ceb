"""Whether search separates prefill from decode, why, and from where on."""

from __future__ import annotations

import json

import pytest

from clusterspec.analysis.searches.serving import search_serving
from clusterspec.analysis.searches.serving_plans.separation import nearest_crossing
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.report.separation_text import separation_text
from clusterspec.results.search import Separation
from clusterspec.studies import Study
from tests.analysis.jobs import study_of
from tests.effort import thorough

SPEC = """\
clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 2}}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: fp8
  parameter_precision: fp8
  serving: {{input_tokens: {input}, output_tokens: 500, {load}}}
layout: {{framework: vllm, tp: 8}}
"""


def separation(load: str, tokens: int = 3000, **pins: object) -> Separation:
    study: Study = study_of(SPEC.format(input=tokens, load=load))
    found = search_serving(study, SearchOptions(pins, top=1), lambda done, total: None).separation
    assert found is not None
    return found


def test_a_break_even_is_bracketed_and_bisected() -> None:
    for edge in (10.0, 3000.0, 1e5):
        found = nearest_crossing("x", 1000.0, lambda value, edge=edge: value > edge, 1.0, 1e6)  # type: ignore[misc]
        if edge == 1e5:
            assert (found.value, found.better_above, found.high) == (None, False, 1000.0 * 64)
        elif edge == 10.0:
            assert (found.value, found.better_above, found.low) == (None, True, 1000.0 / 64)
        else:
            assert found.value == pytest.approx(edge, rel=0.05)
            assert found.better_above
    below = nearest_crossing("x", 1000.0, lambda value: value < 3000, 1.0, 1e6)
    assert below.value == pytest.approx(3000, rel=0.05)
    assert not below.better_above
    # limits, and values at which nothing works, end the search
    assert nearest_crossing("x", 10.0, lambda value: True, 5.0, 50.0)[2:] == (None, True, 10.0, 40.0)
    assert nearest_crossing("x", 10.0, lambda value: True if value < 100 else None, 5.0, 1e9).high == 40.0


def test_long_prompts_with_a_tight_token_target_are_computed_on_separate_engines() -> None:
    found = separation("concurrency: 64, targets: {ttft: 2 s, tpot: 25 ms}")
    assert found.separate and found.together and found.apart
    assert found.apart.meets_targets
    rows = {each.quantity: each for each in found.break_even}
    assert set(rows) == {"input_tokens", "requests_per_accelerator", "link_bandwidth"}
    link = rows["link_bandwidth"]
    assert link.separate_above  # a faster link never makes separate engines worse
    assert link.value is None or link.value < link.present
    text = separation_text(found)
    assert text.startswith("Separate engines for prefill and decode: ")
    assert "handoff takes" in text and "prompts above" in text
    assert json.dumps(found.to_json())


@thorough
def test_short_prompts_without_targets_are_not_separated() -> None:
    found = separation("concurrency: 64", tokens=64)
    assert found.separate is False and found.together and found.apart
    assert found.together.value > found.apart.value
    assert separation_text(found).startswith("One kind of engine: ")


def test_a_search_of_one_kind_of_plan_compares_nothing() -> None:
    found = separation("concurrency: 64, load: static")
    assert found.separate is None
    assert "no prompts that arrive while others decode" in separation_text(found)
    fixed = separation("concurrency: 64", pools="disaggregated", tp=8)
    assert fixed.separate is None and fixed.together is None
    assert "is fixed" in separation_text(fixed)
