"""Severities of the rules of serving plans: what no engine can do is an error, what a load does is a warning."""

from __future__ import annotations

import pytest

from clusterspec.finding import Finding

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
        ("ttft: 80 ms", "ttft-target-unreachable", "warning"),
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


def test_prefill_engines_that_hold_experts_unevenly_are_found_beside_those_that_decode(check: Check) -> None:
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h200, nodes: 4}\n"
        "workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, "
        "serving: {input_tokens: 1000, output_tokens: 500, concurrency: 64, redundant_experts: 8, "
        "disaggregated: {prefill: {attention_dp: 16, ep: 16}, decode: {attention_dp: 8, ep: 8}}}}\n"
    )
    paths = [".".join(map(str, one.path)) for one in check(text) if one.rule == "experts-indivisible-by-ep"]
    assert paths == ["workload.serving.disaggregated.prefill"]
