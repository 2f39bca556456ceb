"""A measured time per output token replaces the catalog's rate of kernels, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusterspec.cost.serving.latency import ServingTimes, serving_range
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.studies import Study, study_text, variation
from tests.effort import thorough
from tests.settings import SETTINGS

PLAN = """clusterspec: 1
name: served
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 300, concurrency: 32}}
layout: {framework: vllm, tp: 8}
"""
RESULT = {
    "duration": 100.0,
    "completed": 320,
    "failed": 0,
    "num_prompts": 320,
    "request_rate": "inf",
    "max_concurrency": 32,
    "total_input_tokens": 320 * 2000,
    "total_output_tokens": 320 * 300,
    "output_throughput": 960.0,
    "mean_tpot_ms": 30.0,
}


def measured(text: str, folder: Path | None = None) -> Study:
    return study_text(f"{PLAN}measured: [{text}]\n", SETTINGS, "x.yaml", folder)


def times(study: Study) -> ServingTimes:
    assert study.plan.serving is not None
    return study.plan.serving


def rules(study: Study) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in study.findings if one.path[:1] == ("measured",)]


def rate(study: Study) -> float:
    assert study.design.cluster is not None
    (only,) = study.design.cluster.measured
    return only.share.value


@thorough
def test_the_time_per_output_token_is_the_measured_one() -> None:
    plain = study_text(PLAN, SETTINGS)
    before = times(plain).tpot_mean
    assert rate(measured(f"{{tpot: {before!r} s}}")) == pytest.approx(1.0, rel=1e-4)
    slow = measured(f"{{tpot: {1.5 * before!r} s}}")
    assert times(slow).tpot_mean == pytest.approx(1.5 * before, rel=1e-5)
    assert rate(slow) < 1 / 1.5, "collectives and launches take as long as before, so kernels are slower than the token"
    assert times(slow).ttft > times(plain).ttft, "prompts run on the same kernels"
    two = measured(f"{{tpot: {before!r} s}}, {{tpot: {1.4 * before!r} s}}")
    assert times(two).tpot_mean == pytest.approx(1.2 * before, rel=1e-5), "the median of both"
    assert not rules(plain) + rules(two)
    assert [rule for rule, _ in rules(slow)] == ["measured-time-above-range"]


def test_parts_of_a_step_are_as_much_slower_as_their_kernels() -> None:
    plain, slow = study_text(PLAN, SETTINGS), measured("{tpot: 30 ms}")
    found, usual = ({part.name: part.seconds for part in times(each).decode.parts} for each in (slow, plain))
    fixed = {"all_reduce", "launch"}
    for name, seconds in found.items():
        factor = 1.0 if name in fixed else 1 / rate(slow)
        if name != "launch":  # its floor is that of a kernel, and part of it lies inside of products
            assert seconds == pytest.approx(factor * usual[name], rel=0.05), name


def test_all_rates_of_an_engine_follow_the_measured_one() -> None:
    cluster = study_text(PLAN, SETTINGS).design.cluster
    assert cluster is not None
    plain, half = (KernelRates.of(cluster.accelerator, cluster.kernels, measured=share) for share in (1.0, 0.5))
    assert plain is not None and half is not None
    assert half.bandwidth == plain.bandwidth / 2
    assert half.peaks == {name: peak / 2 for name, peak in plain.peaks.items()}


@thorough
def test_the_measured_load_is_as_certain_as_its_measurement_and_others_are_not() -> None:
    slow = measured("{tpot: 30 ms}")
    low, high = serving_range(times(slow), "tpot")
    assert (times(slow).tpot / low, high / times(slow).tpot) == pytest.approx((1.03, 1.03))
    assert serving_range(times(measured("{tpot: 28 ms}, {tpot: 32 ms}")), "tpot_mean")[1] == pytest.approx(
        30e-3 * 30 / 28, rel=1e-4
    )
    other: dict[tuple[str | int, ...], object] = {("workload", "serving", "concurrency"): 64}
    more = times(variation.rewritten_study(slow, other))
    usual = times(variation.rewritten_study(study_text(PLAN, SETTINGS), other))
    assert more.tpot_mean > 1.2 * usual.tpot_mean, "the kernels are as slow at another load"
    assert serving_range(more, "tpot")[1] / more.tpot == pytest.approx(serving_range(usual, "tpot")[1] / usual.tpot)


def test_a_load_test_is_that_of_the_spec_or_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"

    def with_result(**changed: object) -> Study:
        file.write_text(json.dumps(RESULT | changed))
        return measured("{load_test: bench.json}", tmp_path)

    assert times(with_result()).tpot_mean == pytest.approx(30e-3, rel=1e-5)
    longer = with_result(total_input_tokens=320 * 2080, mean_tpot_ms=22.0)
    assert not rules(longer), "4 % longer prompts are the same load"
    assert times(longer).tpot_mean == pytest.approx(22e-3, rel=1e-5)
    for changed, why in (
        ({"max_concurrency": 64}, "concurrency 64, and the spec has 32"),
        ({"total_input_tokens": 320 * 1000}, "input_tokens 1000, and the spec has 2000"),
        ({"mean_tpot_ms": 0.0}, "has no mean time per output token"),
    ):
        ((rule, message),) = rules(with_result(**changed))
        assert (rule, message.endswith(why)) == ("unreadable-log", True), message
    assert [name for name, _ in rules(measured("{load_test: none.json}", tmp_path))] == ["unreadable-log"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PLAN + "measured: [{tpot: 900 ms}]\n", "it is not used"),
        (PLAN.replace("h100", "no-such-part") + "measured: [{tpot: 30 ms}]\n", "and the spec serves nothing"),
        (
            "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
            "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 32}\nlayout: {tp: 2}\n"
            "measured: [{tpot: 30 ms}]\n",
            "and the spec serves nothing",
        ),
    ],
)
def test_a_time_that_no_rate_explains_is_not_used(text: str, why: str) -> None:
    ((rule, message),) = rules(study_text(text, SETTINGS))
    assert (rule, message.endswith(why)) == ("unused-measurement", True), message
