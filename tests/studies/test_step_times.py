"""A measured step, or rate of GEMMs, replaces the catalog's rate of products, and nothing else."""

from __future__ import annotations

from math import prod
from pathlib import Path

import pytest

from clusterspec.cost.timing import design_tables
from clusterspec.studies import Study, study_text, variation
from tests.effort import telling
from tests.settings import SETTINGS

JOB = """clusterspec: 1
name: steps
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 32}
layout: {framework: megatron-core, tp: 2}
"""


def measured(text: str, folder: Path | None = None) -> Study:
    return study_text(f"{JOB}measured: [{{{text}}}]\n", SETTINGS, "x.yaml", folder)


def seconds(study: Study) -> float:
    assert study.plan.step_seconds is not None
    return study.plan.step_seconds


def widths(study: Study) -> tuple[float, float]:
    """The step over the low end of its range, and the high end over the step."""
    low, high = study.plan.step_time_range or (0.0, 0.0)
    return seconds(study) / low, high / seconds(study)


def share(study: Study) -> float:
    assert study.design.cluster is not None
    (only,) = study.design.cluster.measured
    return only.share.value


def rules(study: Study) -> list[tuple[str, str]]:
    return [(one.rule, one.message) for one in study.findings if one.path[:1] == ("measured",)]


def test_the_estimate_is_the_measured_step() -> None:
    """What is not products stays: the step minus communication and host is longer by the factor that the rate lost."""
    plain = study_text(JOB, SETTINGS)
    before = seconds(plain)
    assert share(measured(f"step_time: {before!r} s")) == pytest.approx(1.0, rel=1e-4)
    slow = measured(f"step_time: {1.3 * before!r} s")
    assert seconds(slow) == pytest.approx(1.3 * before, rel=1e-5)
    assert 1 / 1.6 < share(slow) < 1 / 1.3, "memory traffic and communication are no slower, so products are more so"
    assert not rules(plain)
    assert [rule for rule, _ in rules(slow)] == ["measured-time-above-range"]
    other: dict[tuple[str | int, ...], object] = {("layout", "tp"): 4}
    assert seconds(variation.rewritten_study(slow, other)) > 1.1 * seconds(variation.rewritten_study(plain, other))
    two = study_text(f"{JOB}measured: [{{step_time: {before!r} s}}, {{step_time: {1.4 * before!r} s}}]\n", SETTINGS)
    assert seconds(two) == pytest.approx(1.2 * before, rel=1e-5), "the median of both"
    assert widths(slow) == pytest.approx((1.03, 1.03)), "of the measured job"
    assert widths(two) == pytest.approx((1.2, 1.2)), "1.2 / 1.0 is more than 1.4 / 1.2"
    assert prod(widths(variation.rewritten_study(slow, other))) > prod(widths(variation.rewritten_study(plain, other)))


def test_of_several_jobs_a_step_is_that_of_none() -> None:
    job = "pool: p, nodes: 1, workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 16}, layout: {tp: 2}"
    head = "clusterspec: 1\npools: {p: {platform: dgx-h100, nodes: 2}}\nmeasured: [{step_time: 1.8 s}]\njobs:\n"
    for names in ("a", "ab"):
        fleet = study_text(head + "".join(f"  {name}: {{{job}}}\n" for name in names), SETTINGS)
        assert fleet.fleet is not None
        for each in fleet.fleet.jobs.values():
            assert (abs(seconds(each) - 1.8) < 1e-4) == (names == "a")
        told = (
            []
            if names == "a"
            else [("unused-measurement", "a step is measured, and 2 jobs may have run it: it is not used")]
        )
        assert rules(fleet) == told


def test_a_step_log_is_that_of_the_spec_or_is_refused(tmp_path: Path) -> None:
    """torchtitan prints tokens per second of a device: 32 sequences of 8,192 tokens on 16 at 9,000 take 1.82 s."""
    run = tmp_path / "run.log"
    lines = [
        f"step: {number}  loss:  9.0  memory: 60.00GiB  tps: 9,000  tflops: 400.0  mfu: 41%" for number in range(9)
    ]
    run.write_text("\n".join(lines))
    assert seconds(measured("step_log: run.log", tmp_path)) == pytest.approx(32 * 8192 / 16 / 9000, rel=1e-4)
    sizes = (
        "using world size: 16, data-parallel size: 4, context-parallel size: 1, "
        "tensor-model-parallel size: 4, pipeline-model-parallel size: 1\n"
    )
    step = " iteration        {}/ 500 | elapsed time per iteration (ms): 1900.0 | global batch size:    {} |\n"
    for batch, head, why in ((32, sizes, "tp 4, and the spec has 2"), (64, "", "global_batch 64, and the spec has 32")):
        run.write_text(head + "".join(step.format(number, batch) for number in range(1, 9)))
        ((rule, message),) = rules(measured("step_log: run.log", tmp_path))
        assert (rule, message.endswith(why)) == ("unreadable-log", True), message
    for text, rule in (("step_log: none.log", "unreadable-log"), ("step_time: 90 s", "unused-measurement")):
        study = measured(text, tmp_path)
        assert [name for name, _ in rules(study)] == [rule]
        assert seconds(study) == seconds(study_text(JOB, SETTINGS))


@telling(1)
@pytest.mark.parametrize(("factor", "severity"), [(0.2, "error"), (0.8, "warning"), (1.2, None)])
def test_a_step_that_no_rate_of_the_machine_explains_is_a_finding(factor: float, severity: str | None) -> None:
    """At twice the catalog's rate of products a step has a shortest time, which measures nothing else can beat."""
    ((_, message),) = rules(study_text(JOB + "measured: [{step_time: 1 ms}]\n", SETTINGS))
    shortest = float(message.partition(" give ")[2].split()[0])
    study = study_text(f"{JOB}measured: [{{step_time: {factor * shortest!r} s}}]\n", SETTINGS)
    found = [str(each.severity) for each in study.findings if each.rule == "unused-measurement"]
    assert found == ([severity] if severity else [])


def test_a_variation_does_not_report_waivers_that_only_the_written_spec_needs() -> None:
    """The waived finding is about tp 2 x ep 8; without tp the groups stay inside a node."""
    text = JOB.replace("llama-3.1-8b, sequence_length: 8192", "mixtral-8x7b, sequence_length: 4096")
    waived = "tp: 2, ep: 8}  # clusterspec: ignore[ep-crosses-scale-up-domain]: as the last run"
    spec = study_text(text.replace("tp: 2}", waived), SETTINGS)
    assert [each.finding.rule for each in spec.checked.waived] == ["ep-crosses-scale-up-domain"]
    other: dict[tuple[str | int, ...], object] = {("layout", "tp"): 1}
    assert "unused-waiver" not in {each.rule for each in variation.rewritten_study(spec, other).findings}


def test_a_step_of_a_machine_that_cannot_be_resolved_is_not_used() -> None:
    unknown = study_text(JOB.replace("h100", "no-such-part") + "measured: [{step_time: 2 s}]\n", SETTINGS)
    assert unknown.design.cluster is None
    assert [name for name, _ in rules(unknown)] == ["unused-measurement"]


# Rates of GEMMs alone

UNUSED = "GEMMs in {} at {} are measured, and {}: they are not used"


def rates(study: Study) -> dict[str, float]:
    """FLOP/s of one rank by kernel family, as its products and attention are timed."""
    tables = design_tables(study.design)
    assert tables is not None and tables.rates is not None
    return dict(tables.rates.speed.rates)


def test_a_measured_rate_of_gemms_is_that_of_products_and_nothing_else() -> None:
    """H100: 989.4 TFLOP/s × 0.803 × 0.9 = 715.0 of its products sustained, by the catalog."""
    plain, slow = study_text(JOB, SETTINGS), measured("gemm_rate: 500 TFLOP/s dense")
    assert seconds(measured("gemm_rate: 715.037 TFLOP/s dense")) == pytest.approx(seconds(plain), rel=1e-3)
    assert rates(slow) == pytest.approx({**rates(plain), "matmul_bf16": 500e12}), "attention keeps its rate"
    assert seconds(slow) > 1.1 * seconds(plain)
    assert not rules(slow)
    assert rates(measured("gemm_rate: 1000 TFLOP/s sparse"))["matmul_bf16"] == pytest.approx(500e12)
    two = study_text(f"{JOB}measured: [{{gemm_rate: 500 TFLOP/s dense}}, {{gemm_rate: 600 TFLOP/s dense}}]\n", SETTINGS)
    assert rates(two)["matmul_bf16"] == pytest.approx(550e12), "the median of both"
    wider = variation.rewritten_study(slow, {("layout", "tp"): 4})
    assert rates(wider)["matmul_bf16"] == pytest.approx(500e12), "the machine keeps it under another layout"


def test_a_rate_of_one_precision_leaves_the_others() -> None:
    job = JOB.replace("global_batch: 32", "global_batch: 32, precision: fp8") + "measured: [{gemm_rate: "
    plain = study_text(job.removesuffix("measured: [{gemm_rate: "), SETTINGS)
    narrow = study_text(job + "1300 TFLOP/s dense}]\n", SETTINGS)
    wide = study_text(job + "500 TFLOP/s dense, precision: fp16}]\n", SETTINGS)
    assert rates(narrow) == pytest.approx({**rates(plain), "matmul_fp8": 1300e12}), "the workload's, if none is named"
    assert rates(wide) == pytest.approx({**rates(plain), "matmul_bf16": 500e12}), "16 bits have one share of the peak"


def test_a_measured_rate_of_gemms_is_of_the_clock_at_hand() -> None:
    """At 450 W instead of 700, the catalog's rate falls by (450 / 700)^(1/3) = 0.863, a measured one does not."""
    chip = "{accelerator: {like: h100-sxm-80gb, power: 450 W}, accelerators_per_node: 8, nodes: 2}"
    limited = JOB.replace("{platform: dgx-h100, nodes: 2}", chip)
    plain = study_text(limited, SETTINGS)
    seen = study_text(limited + "measured: [{gemm_rate: 500 TFLOP/s dense}]\n", SETTINGS)
    assert rates(plain)["matmul_bf16"] == pytest.approx(0.863 * 715.0e12, rel=2e-3)
    assert rates(seen) == pytest.approx({**rates(plain), "matmul_bf16": 500e12})


def test_a_rate_of_gemms_that_the_part_cannot_have_is_not_used() -> None:
    plain, peak = study_text(JOB, SETTINGS), "the peak of h100-sxm-80gb "
    sustained = "training sustains 715 TFLOP/s by the catalog, more than 4 times that"
    wider = "the GEMMs of the workload are in bf16"
    for text, told in {
        "gemm_rate: 1040 TFLOP/s dense": UNUSED.format("bf16", "1.04 PFLOP/s", f"{peak}is 989 TFLOP/s"),
        "gemm_rate: 178 TFLOP/s dense": UNUSED.format("bf16", "178 TFLOP/s", sustained),
        "gemm_rate: 1 PFLOP/s dense, precision: fp4": UNUSED.format("fp4", "1 PFLOP/s", wider),
    }.items():
        study = measured(text)
        assert rules(study) == [("unused-measurement", told)]
        assert rates(study) == rates(plain)
    for used in (179, 1038):  # a quarter of 715.04, and 1.05 times the peak of 989.4
        study = measured(f"gemm_rate: {used} TFLOP/s dense")
        assert not rules(study) and rates(study)["matmul_bf16"] == pytest.approx(used * 1e12)
    served = JOB.replace("global_batch: 32", "global_batch: 32, kind: serve").replace("framework: megatron-core, ", "")
    study = study_text(f"{served}measured: [{{gemm_rate: 700 TFLOP/s dense}}]\n", SETTINGS)
    told = UNUSED.format("bf16", "700 TFLOP/s", "engines run measured kernels")
    assert rules(study) == [("unused-measurement", told)]
