"""Search of serving plans: what it shows is legal, meets the targets, and has the numbers of its estimate."""

from __future__ import annotations

import json
from math import inf
from typing import Any

import pytest

from clusterspec.analysis.rewrite import text_with_row
from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.serving import TIMES
from clusterspec.analysis.searches.serving_plans.separation import value_at_load
from clusterspec.analysis.searches.serving_plans.space import (
    design_of_plan,
    engine_counts,
    engines,
    own_plan,
    ranked_plans,
    rated_plan,
    replicated_plans,
    serving_job,
)
from clusterspec.analysis.searches.studied import Pins, SearchOptions
from clusterspec.finding import Severity
from clusterspec.results.search import LayoutRow, SearchReport
from clusterspec.studies import Study, study_text
from tests.effort import ALL_CASES, sampled, telling, thorough
from tests.settings import SETTINGS

DENSE: dict[str, Any] = {
    "clusterspec": 1,
    "cluster": {"platform": "dgx-h100", "nodes": 2},
    "workload": {
        "kind": "serve",
        "model": "llama-3.1-70b",
        "serving": {
            "input_tokens": 2000,
            "output_tokens": 500,
            "concurrency": 64,
            "targets": {"ttft": "1 s", "tpot": "40 ms"},
        },
    },
    "layout": {"framework": "vllm", "tp": 8},
}
EXPERT = DENSE | {
    "cluster": {"platform": "dgx-h200", "nodes": 2},
    "workload": DENSE["workload"] | {"model": "deepseek-v3", "precision": "fp8", "parameter_precision": "fp8"},
}


def study(described: dict[str, Any], **serving: object) -> Study:
    changed = json.loads(json.dumps(described))
    changed["workload"]["serving"] |= serving
    for key in [key for key, value in changed["workload"]["serving"].items() if value is None]:
        del changed["workload"]["serving"][key]
    return study_text(json.dumps(changed), SETTINGS)


SEARCHED: dict[tuple[object, ...], SearchReport] = {}
"""Searches by the text of the spec and by their options: several tests look at one."""


def found(one: Study, *, objective: str = "", top: int = 3, **pins: object) -> SearchReport:
    key = (one.source.text, objective or "accelerators", top, *sorted(pins.items()))
    if key not in SEARCHED:
        SEARCHED[key] = search(one, SearchOptions(pins, objective, top, explain=True))
    return SEARCHED[key]


def of(row: LayoutRow) -> dict[str, Any]:
    assert row.serving is not None
    return row.serving


@pytest.mark.parametrize("spec", sampled([DENSE, EXPERT], 4))
def test_every_plan_shown_meets_the_targets_and_has_no_error(spec: dict[str, Any]) -> None:
    one = study(spec)
    report = found(one)
    assert report.layouts and report.objective == "accelerators"
    assert not report.unsure and report.may_fit is not None
    assert 0 <= report.may_fit < report.fitting <= report.evaluated
    for row in report.layouts:
        assert row.surely_fits and 0 <= of(row)["idle"] == -of(row)["accelerators"] % 8
        written = study_text(text_with_row(one, row), SETTINGS)
        assert not [finding for finding in written.findings if finding.severity is Severity.ERROR]
        assert written.plan.serving is not None
        assert written.plan.serving.ttft <= 1.0 and written.plan.serving.tpot <= 0.040
        assert written.plan.serving.tpot == pytest.approx(of(row)["tpot"])
        assert written.plan.serving.accelerators == of(row)["accelerators"]


def test_the_best_plan_is_compared_with_the_next_one_and_with_that_of_the_spec() -> None:
    report = found(study(DENSE))
    best, second = map(of, report.layouts[:2])
    assert report.present is not None
    others = {"next": (report.layouts[1], second), "spec": (report.present, of(report.present))}
    assert [each.other for each in report.comparisons] == [*others]
    for each in report.comparisons:
        row, times = others[each.other]
        assert each.seconds == best["request_latency"] - times["request_latency"]
        assert each.memory == (report.layouts[0].memory or 0) - (row.memory or 0)
        assert [change for _, change in each.parts] == [best[key] - times[key] for key in TIMES]
    assert report.comparisons[1].seconds


def test_no_plan_with_fewer_accelerators_meets_the_targets() -> None:
    one = study(DENSE)
    job = serving_job(one.design)
    assert job is not None
    least = of(found(one).layouts[0])["accelerators"]
    rated = [rated_plan(job, plan, 85e9) for engine in engines(job) for plan in replicated_plans(job, engine)]
    assert min(each.times.accelerators for each in rated if each and each.meets) >= least


def test_the_numbers_of_the_search_are_those_of_an_estimate() -> None:
    one = study(EXPERT)
    job = serving_job(one.design)
    assert job is not None and one.plan.serving is not None
    plan = own_plan(job)
    assert plan in list(replicated_plans(job, next(each for each in engines(job) if (each.tp, each.ep) == (8, 1))))
    mine = rated_plan(job, plan, 200e9)
    assert mine is not None
    assert mine.times.tpot == pytest.approx(one.plan.serving.tpot, rel=1e-12)
    assert mine.memory == pytest.approx(one.plan.memory_bytes, rel=1e-12)
    assert design_of_plan(job, plan).layout == one.design.layout


def test_the_front_trades_the_tokens_of_a_user_for_those_of_an_accelerator() -> None:
    front = [of(row) for row in found(study(DENSE)).pareto]
    users = [each["tokens_per_second_per_user"] for each in front]
    accelerators = [each["output_tokens_per_second_per_accelerator"] for each in front]
    assert len(front) > 3
    assert users == sorted(users, reverse=True) and accelerators == sorted(accelerators)
    assert len(set(accelerators)) == len(accelerators)


@telling(1)
@pytest.mark.parametrize(
    ("objective", "field", "sign"),
    [
        ("accelerators", "accelerators", 1),
        ("tokens_per_user", "tokens_per_second_per_user", -1),
        *([("tokens_per_accelerator", "output_tokens_per_second_per_accelerator", -1)] if ALL_CASES else []),
    ],
)
def test_an_objective_orders_the_plans(objective: str, field: str, sign: int) -> None:
    pins: dict[str, Any] = {} if ALL_CASES or objective == "accelerators" else {"pools": "aggregated"}
    shown = found(study(DENSE), objective=objective, **pins).layouts
    assert len(shown) > 1
    values = [sign * of(row)[field] for row in shown if row.findings == shown[0].findings]
    assert values == sorted(values)


@telling(1)
@pytest.mark.parametrize("objective", ["accelerators", "cost", "tokens_per_accelerator"])
def test_plans_that_serve_one_load_are_ordered_by_the_time_of_a_token(objective: str) -> None:
    """Two nodes serve 2 requests a second of 500 tokens: the 1,000 tokens/s of plans differ by rounding alone."""
    job = serving_job(study(DENSE, concurrency=None, request_rate=2).design)
    assert job is not None
    rated = [rated_plan(job, (None, each), inf) for each in engines(job, Pins({}))]
    whole = [one for one in rated if one is not None and one.meets and one.times.accelerators == 16]
    assert len(whole) > 2 and {f"{one.times.output_tokens_per_second:.3g}" for one in whole} == {"1e+03"}
    times = [one.times.tpot for one in ranked_plans(reversed(whole), objective)]
    assert times == sorted(times)


@thorough
def test_a_stricter_percentile_never_takes_fewer_accelerators() -> None:
    targets = {"ttft": "500 ms", "tpot": "40 ms"}
    counts = []
    for percentile in (50, 99):
        rows = found(study(DENSE, targets=targets | {"percentile": percentile}, requests=640)).layouts
        counts.append(of(rows[0])["accelerators"] if rows else float("inf"))
    assert counts[0] <= counts[1]


def test_without_a_plan_the_nearest_is_shown_with_the_reason() -> None:
    report = found(study(DENSE, targets={"tpot": "1 ms"}), pools="aggregated")
    assert report.layouts == () and "targets" in report.why
    assert report.smallest is not None and of(report.smallest)["tpot"] > 0.001


@thorough
def test_fixed_degrees_are_kept_and_pools_may_be_chosen() -> None:
    assert {row.layout["tp"] for row in found(study(DENSE), tp=4).layouts} == {4}
    few: dict[str, Any] = {} if ALL_CASES else {"tp": 8}
    report = found(study(EXPERT), pools="disaggregated", **few)
    assert all(of(row)["disaggregated"] for row in report.layouts)
    report = found(study(EXPERT if ALL_CASES else DENSE), pools="aggregated")
    assert not any(of(row)["disaggregated"] for row in report.layouts)


@thorough
def test_an_arrival_rate_that_no_plan_sustains_is_met_by_none() -> None:
    assert found(study(DENSE, concurrency=None, request_rate=2, targets=None)).layouts
    assert not found(study(DENSE, concurrency=None, request_rate=10_000, targets=None)).layouts


@thorough
def test_a_plan_may_use_a_part_of_a_node() -> None:
    """141 GB of weights and two requests fit two H100, which read them in 26 ms at 80 % of their bandwidth."""
    one = study(DENSE | {"cluster": {"platform": "dgx-h100", "nodes": 1}}, concurrency=2, max_sequences=16)
    report = found(one, pools="aggregated")
    assert of(report.layouts[0])["accelerators"] == 2 and of(report.layouts[0])["idle"] == 6
    assert dict(report.layouts[0].layout) == {"framework": "vllm", "tp": 2, "dp": 1}
    written = study_text(text_with_row(one, report.layouts[0]), SETTINGS)
    assert {finding.rule for finding in written.findings if finding.severity is not Severity.NOTE} <= {
        finding.rule for finding in one.findings
    }


@thorough
def test_the_plan_of_the_spec_is_among_those_compared() -> None:
    """Three engines of one node and a half, which no step of the search has."""
    spec = DENSE | {"cluster": {"platform": "dgx-h100", "nodes": 9}, "layout": {"framework": "vllm", "tp": 24, "dp": 3}}
    job = serving_job(study(spec).design)
    assert job is not None and own_plan(job)[1].ranks == 24
    one = study(DENSE | {"layout": {"framework": "vllm", "tp": 8}}, targets={"tpot": "25 ms"})
    report = found(one, objective="tokens_per_user", pools="aggregated")
    assert report.present is not None and of(report.present)["meets_targets"]
    assert of(report.layouts[0])["tpot"] <= of(report.present)["tpot"]


@thorough
def test_separate_engines_that_cannot_run_are_in_no_plan() -> None:
    """The 128 experts and 32 copies are not divisible by 24 ranks: not in the spec's plan, nor with other engines."""
    pools = {"prefill": {"replicas": 1, "tp": 8}, "decode": {"replicas": 1, "tp": 1, "attention_dp": 24, "ep": 24}}
    more = {"redundant_experts": 32, "disaggregated": pools, "targets": None}
    spec = DENSE | {"cluster": {"platform": "dgx-h100", "nodes": 4}, "layout": {"framework": "sglang"}}
    spec["workload"] = spec["workload"] | {"model": "qwen3-235b-a22b"}
    one = study(spec, **more)
    assert "experts-indivisible-by-ep" in {each.rule for each in one.findings}
    plans = [(row.serving or {})["disaggregated"] for row in found(one, top=100).layouts]
    assert plans and not any(each and each["decode"].get("ep") == 24 for each in plans)


def test_tensor_parallelism_without_a_scale_up_interconnect_stays_inside_a_node() -> None:
    cluster = {"accelerator": "l40s", "accelerators_per_node": 4, "nodes": 2, "scale_out": {"technology": "roce-v2"}}
    spec = DENSE | {"cluster": cluster, "workload": DENSE["workload"] | {"model": "llama-3.1-8b"}}
    job = serving_job(study(spec).design)
    assert job is not None
    assert {each.tp for each in engines(job)} == {1, 2, 4}


def test_all_engines_that_fit_are_tried_up_to_sixteen() -> None:
    assert engine_counts(0) == [] and engine_counts(16) == list(range(1, 17)) and engine_counts(40)[-1] == 40


@thorough
def test_headroom_keeps_a_share_of_the_memory_free_in_every_plan() -> None:
    """Of 85.5 GB, 40 % free leaves 51 GB: 141 GB of weights need four ranks at least."""
    whole = study(DENSE).design.cluster
    assert whole is not None and whole.accelerator.memory is not None
    limit = whole.accelerator.memory.value
    for share in (0.2, 0.4) if ALL_CASES else (0.4,):
        found = search(study(DENSE, memory_fraction=1 - share), SearchOptions(top=3, min_headroom=share))
        assert found.layouts
        assert all(row.memory is not None and row.memory <= (1 - share) * limit for row in found.layouts)


def test_a_load_of_whole_requests_gives_in_proportion_to_what_is_wanted() -> None:
    """On 16 accelerators: where 4.4 requests are wanted four are served, and count 1.1 times; one is the least."""
    job = serving_job(study(DENSE, targets=None).design)
    assert job is not None
    plan = own_plan(job)
    four, one = (rated_plan(job, plan, inf, requests) for requests in (4, 1))
    assert four is not None and one is not None
    assert value_at_load(job, plan, 4.4 / 16) == pytest.approx(four.per_accelerator * 1.1)
    assert value_at_load(job, plan, 0.16 / 16) == pytest.approx(one.per_accelerator * 0.16)
