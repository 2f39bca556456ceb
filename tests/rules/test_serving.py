"""Severities of the rules of serving plans, by what no engine can do and by how far a prediction misses a target."""

from __future__ import annotations

import re

import pytest

from clusterspec.finding import Finding
from clusterspec.studies import study_text
from tests.settings import SETTINGS

from .conftest import Check

HEAD = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
MODEL = "workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 4000, output_tokens: 500, {load}}}}}\n"


def found(check: Check, load: str, layout: str = "tp: 8") -> dict[str, Finding]:
    text = HEAD + MODEL.format(load=load) + f"layout: {{{layout}}}\n"
    return {one.rule: one for one in check(text)}


@pytest.mark.parametrize(
    ("target", "rule", "severity"),
    [
        # 141 GB of weights over 8 × 3.35 TB/s take 5.2 ms.
        ("tpot: 5 ms", "tpot-target-unreachable", "error"),
        ("tpot: 7 ms", "tpot-target-unreachable", "warning"),
        # 2 × 70 G × 4,000 operations over 8 × 989 TFLOP/s take 70 ms.
        ("ttft: 60 ms", "ttft-target-unreachable", "error"),
        ("ttft: 110 ms", "ttft-target-unreachable", "warning"),
    ],
)
def test_a_target_below_the_roofline_is_an_error_and_one_below_the_prediction_a_warning(
    target: str, rule: str, severity: str, check: Check
) -> None:
    findings = found(check, f"concurrency: 1, targets: {{{target}}}")
    assert findings[rule].severity == severity
    assert "target-missed-at-load" not in findings


def test_a_target_that_one_request_meets_and_many_miss_is_a_matter_of_the_load(check: Check) -> None:
    assert found(check, "concurrency: 1, targets: {tpot: 25 ms}") == {}
    findings = found(check, "concurrency: 128, targets: {tpot: 25 ms}")
    assert findings["target-missed-at-load"].severity == "error"  # the prediction is twice the target
    findings = found(check, "concurrency: 96, targets: {tpot: 35 ms}")
    assert findings["target-missed-at-load"].severity == "warning"
    assert "tpot-target-unreachable" not in findings


def test_a_higher_percentile_of_requests_misses_a_target_that_the_median_meets(check: Check) -> None:
    load = "concurrency: 16, requests: 160, targets: {{ttft: 500 ms, percentile: {}}}"
    assert "target-missed-at-load" not in found(check, load.format(50))
    assert "target-missed-at-load" in found(check, load.format(99))


def test_requests_that_the_cache_holds_do_not_wait(check: Check) -> None:
    # 10 GB a rank of 77 GB hold about 1.4 M tokens: some 300 requests of 4,250.
    assert "concurrency-beyond-cache" not in found(check, "concurrency: 200")
    assert "concurrency-beyond-cache" in found(check, "concurrency: 1000")
    assert "concurrency-beyond-cache" not in found(check, "load: offline")


@pytest.mark.parametrize("rule", ["tight-memory", "activations-exceed-memory", "weights-leave-no-cache"])
def test_a_cache_that_fills_the_memory_is_no_flaw(rule: str, check: Check) -> None:
    assert rule not in found(check, "load: offline")


def test_weights_in_fewer_bytes_than_the_arithmetic_need_no_peak(check: Check) -> None:
    text = (
        "clusterspec: 1\ncluster: {accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 1}\n"
        "workload: {kind: serve, model: llama-3.1-70b, precision: %s, parameter_precision: fp8, "
        "serving: {input_tokens: 1000, output_tokens: 500, concurrency: 8}}\nlayout: {tp: 8}\n"
    )
    assert "precision-unsupported" not in {one.rule for one in check(text % "bf16")}
    assert "precision-unsupported" in {one.rule for one in check(text % "fp8")}


def test_prefill_engines_with_uneven_experts_are_found_as_well_as_those_that_decode(check: Check) -> None:
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h200, nodes: 4}\n"
        "workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, "
        "serving: {input_tokens: 1000, output_tokens: 500, concurrency: 64, redundant_experts: 8, "
        "disaggregated: {prefill: {attention_dp: 16, ep: 16}, decode: {attention_dp: 8, ep: 8}}}}\n"
    )
    paths = [
        ".".join(map(str, one.path))
        for one in check(text, "experts-indivisible-by-ep")
        if one.rule == "experts-indivisible-by-ep"
    ]
    assert paths == ["workload.serving.disaggregated.prefill"]


EIGHT = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
SMALL = "model: llama-3.1-70b, precision: fp8, parameter_precision: fp8"


def of_model(check: Check, model: str, load: str, layout: str, more: str = "") -> dict[str, Finding]:
    work = f"workload: {{kind: serve, {model}, serving: {{input_tokens: 1000, output_tokens: 1000, {load}}}}}\n"
    return {one.rule: one for one in check(f"{EIGHT}{work}layout: {{framework: vllm, {layout}}}\n{more}")}


def test_requests_beyond_the_default_share_of_the_memory_are_found(check: Check) -> None:
    # 36.3 GB of weights and 150 requests of 1,500 tokens at 164 kB, 36.9 GB, of 85.5 GB. The sampler keeps 4.7 GB free
    # (1,024 sequences x 128,256 words x 36 B), and the process has 1.5 GB: 93 %.
    few, many = (of_model(check, SMALL, f"concurrency: {4 * each}", "tp: 2") for each in (100, 150))
    assert "concurrency-beyond-cache" not in few
    assert "93 %" in many["concurrency-beyond-cache"].message
    stated = of_model(check, SMALL, "concurrency: 600, memory_fraction: 0.95", "tp: 2")
    assert "concurrency-beyond-cache" not in stated


def test_a_request_rate_beyond_the_default_share_of_the_memory_is_found(check: Check) -> None:
    """150 requests of 1,500 tokens are 36.9 GB: with 36.3 GB of weights and 6.2 GB of others 93 % of 85.5 GB."""
    few, many = (of_model(check, SMALL, f"request_rate: {rate}", "tp: 2") for rate in (11.5, 11.875))
    assert "concurrency-beyond-cache" not in few
    told = many["concurrency-beyond-cache"]
    assert told.path[-1] == "request_rate" and "93 %" in told.message
    assert told.help.startswith("write `memory_fraction: 0.95`") and "lower the request rate" in told.help


def test_a_cache_is_not_judged_where_the_weights_do_not_fit(check: Check) -> None:
    rules = of_model(check, "model: llama-3.1-70b", "concurrency: 512", "tp: 1")
    assert "states-exceed-memory" in rules and "concurrency-beyond-cache" not in rules


def test_advice_compares_plans_on_as_many_ranks(check: Check) -> None:
    # One engine of tp 4 and four idle ranks: two of tp 2 take its place, not four.
    whole, part = (
        of_model(check, "model: llama-3.1-8b", f"concurrency: {load}", layout)["tp-on-small-weights"]
        for load, layout in ((512, "tp: 4"), (256, "tp: 4, dp: 1"))
    )
    assert whole.message.rpartition("(")[2] == part.message.rpartition("(")[2]


def test_a_serving_plan_is_told_nothing_of_jobs_and_checkpoints(check: Check) -> None:
    more = (
        "operations: {checkpoint_interval: 1 min, checkpoint_time: 1 s, burn_in: 72 h}\n"
        "procurement: {currency: USD, prices: {node: 1}}\n"
    )
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4, networks: {storage: {bandwidth: 1 GB/s}}}\n"
        f"workload: {{kind: serve, {SMALL}, serving: {{input_tokens: 1000, output_tokens: 1000, concurrency: 64}}}}\n"
        f"layout: {{tp: 8}}\n{more}"
    )
    findings = check(text)
    assert not [one.rule for one in findings if "checkpoint" in one.rule]
    (spares,) = (one for one in findings if one.rule == "procurement-without-spares")
    assert "engines" in spares.message and "job" not in spares.message


@pytest.mark.parametrize(
    ("rate", "severity"),
    [
        # 256 tokens a request: the engines produce 1,850 a second, that is 7.2 requests, and 2,460 at the high end
        (4, None),
        (7.5, "note"),
        (8, "warning"),
        (9, "error"),
        (10, "error"),
        (12, "error"),
    ],
)
def test_a_load_above_the_throughput_queues_without_end(rate: float, severity: str | None, check: Check) -> None:
    text = f"""clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 1}}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: fp8
  parameter_precision: fp8
  serving: {{input_tokens: 4096, output_tokens: 256, request_rate: {rate}}}
layout: {{framework: vllm, tp: 4}}
"""
    found = {one.rule: str(one.severity) for one in check(text)}
    assert found.get("requests-queue") == severity
    assert severity in {None, "note"} or "concurrency-beyond-cache" not in found


def test_a_percentile_of_unequal_prompts_may_miss_a_target_on_an_idle_engine(check: Check) -> None:
    """Prompts of 6,000 tokens take some 0.25 s; one of 100 has 60,000."""
    load = "request_rate: 0.1, load: open, input_tokens: {{mean: 6000, p99: 60000}}, "
    load += "targets: {{ttft: {{p50: 800 ms, p99: {}}}}}"
    model = MODEL.replace("input_tokens: 4000, ", "")
    assert "input_tokens" not in model
    rules = {}
    for limit in ("1 s", "60 s"):
        findings = check(HEAD + model.format(load=load.format(limit)) + "layout: {tp: 8}\n")
        rules[limit] = {one.rule: one for one in findings}
    late = rules["1 s"]["ttft-target-unreachable"]
    assert late.path[-1] == "p99" and "percentile 99 of prompts" in late.message
    assert "ttft-target-unreachable" not in rules["60 s"]


RACK = """clusterspec: 1
cluster: {{platform: gb200-nvl72, nodes: 18}}
workload:
  kind: serve
  model: deepseek-r1
  precision: fp4
  parameter_precision: fp8
  expert_parameter_precision: nvfp4
  kv_precision: fp8
  serving:
    input_tokens: 8192
    output_tokens: 1024
    concurrency: {flight}
    disaggregated:
      prefill: {{replicas: {engines}, attention_dp: 4, ep: 4}}
      decode: {{replicas: 1, attention_dp: 32, ep: 32}}
layout: {{framework: trt-llm}}
"""


def test_a_closed_load_that_waits_for_busy_prefill_engines_has_a_finding_with_what_ends_nearly_as_often(
    check: Check,
) -> None:
    """Six engines prefill some 53 prompts a second; 2,048 requests that all decode would end 1.6 times as often."""
    told = next(
        one for one in check(RACK.format(flight=2048, engines=6), "requests-queue") if one.rule == "requests-queue"
    )
    assert str(told.severity) == "note" and told.path[-1] == "prefill" and "always busy" in told.message
    advice = re.search(r"use (\d+) prefill engines, or ([\d,]+) requests in flight", told.help)
    assert advice is not None
    engines, fewer = (int(each.replace(",", "")) for each in advice.groups())
    assert 6 < engines <= 10 and 600 < fewer < 1500
    for flight, number in ((fewer, 6), (2048, engines), (64, 6)):
        assert "requests-queue" not in {one.rule for one in check(RACK.format(flight=flight, engines=number))}
    twice = {one.rule for one in check(RACK.format(flight=2048, engines=2))}
    assert "unbalanced-pools" in twice and "requests-queue" not in twice
    rates = [_output_tokens(RACK.format(flight=flight, engines=6)) for flight in (fewer, 2048)]
    assert rates[0] == pytest.approx(rates[1], rel=0.1)


def _output_tokens(text: str) -> float:
    found = study_text(text, SETTINGS).plan.serving
    assert found is not None
    return found.output_tokens_per_second
