"""The cost of a million output tokens, worked out by hand from the throughput of the plan."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.results.decision import CostReport
from clusterspec.studies.study import Study, study_text
from tests.settings import SETTINGS

TEXT = """
clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 1}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 1000, output_tokens: 500, concurrency: 32}}}}
layout: {{tp: {tp}}}
procurement: {{currency: USD, term: 4 years, prices: {{node: {node}}}, utilization: 0.5}}
"""


def studied(tp: int = 8, node: str = "315576") -> Study:
    return study_text(TEXT.format(tp=tp, node=node), SETTINGS)


def cost(one: Study) -> CostReport:
    return analysis.cost(one)


def test_a_million_output_tokens_cost_the_seconds_in_which_they_are_made() -> None:
    one = studied()
    assert one.plan.serving is not None
    # 315,576 USD over 4 × 365.25 days, half of which the machine works: 0.005 USD a second.
    wanted = 0.005 / one.plan.serving.output_tokens_per_second * 1e6
    body = cost(one).to_json()
    assert body["per_million_output_tokens"] == pytest.approx(wanted)
    assert body["per_million_tokens"] == body["per_million_output_tokens"]
    assert body["per_run"] is None and body["goodput"] is None


def test_its_range_spans_those_of_the_price_and_of_the_throughput() -> None:
    fixed, ranged = (cost(studied(node=node)).cost for node in ("300000", "[200000, 400000]"))
    assert fixed is not None and ranged is not None
    one, other = fixed.per_million_tokens, ranged.per_million_tokens
    assert one is not None and other is not None
    assert one.low and one.high and other.low and other.high
    assert one.low < one.value < one.high
    assert other.low == pytest.approx(one.low * 2 / 3) and other.high == pytest.approx(one.high * 4 / 3)


def test_training_has_no_cost_of_output_tokens() -> None:
    text = TEXT.format(tp=8, node="300000").replace("kind: serve, ", "")
    text = text.replace(
        "serving: {input_tokens: 1000, output_tokens: 500, concurrency: 32}", "global_batch: 64, sequence_length: 4096"
    )
    body = cost(study_text(text, SETTINGS)).to_json()
    assert body["per_million_output_tokens"] is None and body["per_million_tokens"] is not None


def test_the_kinds_of_tokens_share_the_cost() -> None:
    for hit in (0.0, 0.5):
        one = study_text(
            TEXT.format(tp=8, node="315576").replace("concurrency", f"prefix_hit: {hit}, concurrency"), SETTINGS
        )
        times, body = one.plan.serving, cost(one).to_json()
        assert times is not None
        kinds, whole = body["per_million"], body["per_million_output_tokens"]
        # two tokens of a prompt for each of the output
        found = kinds["generated"] + 2 * (1 - hit) * kinds["input"] + 2 * hit * kinds.get("cached", 0.0)
        assert found == pytest.approx(whole)
        assert kinds["generated"] == pytest.approx(whole * (1 - times.prefill_share))
        assert ("cached" in kinds) == (hit > 0) and kinds.get("cached", 0.0) < kinds["input"] < kinds["generated"]
