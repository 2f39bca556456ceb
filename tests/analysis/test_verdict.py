"""The verdict is one function of findings, waivers, fit and what was given; its cases are this table."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

import pytest

from clusterspec import analysis
from clusterspec.analysis.verdict import verdict
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.results.verdict import OF_PURCHASE, VerdictStatus
from clusterspec.source import Position, Span
from clusterspec.studies import Study, study_text
from tests.effort import telling
from tests.settings import SETTINGS

RUNS = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 2}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
layout: {framework: megatron-core, tp: 8, pp: 2}
"""
TIGHT = RUNS.replace("tp: 8, pp: 2", "tp: 8, pp: 1, micro_batch: 1").replace("nodes: 64", "nodes: 4")
"""Memory of 70B on 32 GPUs without pipeline stages: several times what fits."""
WAIVER = "# clusterspec: ignore-file[{}] until 2027-01-31: the supplier promised more memory\n"
SERVES = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, sequence_length: 8192, global_batch: 8}
layout: {tp: 8}
"""
UNPUBLISHED = """\
clusterspec: 1
cluster: {accelerator: tpu-8i, accelerators_per_node: 8, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1024, output_tokens: 1024, concurrency: 8}}
layout: {framework: vllm, tp: 8}
"""


def study(text: str) -> Study:
    return study_text(text, SETTINGS)


def judged(text: str) -> tuple[str, str, str]:
    """Status, reasons and what was not judged, each as one text."""
    found = analysis.estimate(study(text)).verdict
    return str(found.status), "; ".join(found.reasons), "; ".join(found.not_judged)


class Case(NamedTuple):
    """A spec, its status, and what its reasons and its unjudged parts must name."""

    text: str
    status: str
    reasons: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()


CASES = {
    "an open error fails": Case(RUNS.replace("tp: 8", "tp: 8, dp: 3"), "fails", ("1 open error: world-size-mismatch",)),
    "ranks that do not add up fail": Case(
        RUNS.replace("pp: 2", "pp: 3"),
        "fails",
        ("the ranks do not match the nodes: tp × cp × pp × dp is 504; the nodes of the layout hold 512",),
    ),
    "ranks that do not add up fail when waived": Case(
        WAIVER.format("world-size-mismatch, layers-indivisible-by-pp, global-batch-indivisible")
        + RUNS.replace("pp: 2", "pp: 3"),
        "fails",
        ("waived error", "the ranks do not match the nodes"),
    ),
    "more nodes than the cluster has fail": Case(
        RUNS.replace("tp: 8,", "nodes: 65, tp: 8,"), "fails", ("the layout uses 65 nodes; the cluster has 64",)
    ),
    "memory above the capacity fails": Case(TIGHT, "fails", ("does not fit: memory",)),
    "a spec without work is not judged": Case(
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n", "not-judged", (), ("memory and time",)
    ),
    "a spec without a layout is not judged": Case(
        RUNS[: RUNS.index("layout:")], "not-judged", (), ("the spec has no layout",)
    ),
    "serving without a load is not judged": Case(SERVES, "not-judged", (), ("time: the spec states no load",)),
    "serving on an accelerator without a published peak is not judged": Case(
        UNPUBLISHED, "not-judged", (), ("time: no peak of 16-bit products of TPU 8i is published",)
    ),
    "nodes without a known network fail": Case(
        RUNS.replace("spare_nodes: 2", "spare_nodes: 2, scale_out: {technology: unheard}"),
        "fails",
        ("unknown-catalog-id",),
        ("time: no network of known bandwidth connects the nodes",),
    ),
    "a value that cannot be read is left out": Case(
        RUNS.replace("pp: 2", "pp: 2, micro_batch: two, recompute: ful, tpp: 2, order: [tp]"),
        "fails",
        ("not read, and left out of all figures: ", "`micro_batch: two`", "and 2 more keys"),
    ),
    "a number without a unit is left out": Case(
        RUNS.replace("nodes: 64", "nodes: 64, scale_out: {nic_bandwidth: 10}"),
        "fails",
        ("left out of all figures: `nic_bandwidth: 10`",),
    ),
    "a price that cannot be read is left out": Case(
        RUNS + 'procurement: {currency: USD, prices: {node: "310,000"}}\n',
        "fails",
        ('left out of all figures: `node: "310,000"`',),
    ),
    "a text that is no YAML fails": Case("clusterspec: 1\ncluster: [", "fails", ("open error",), ("the cluster",)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_verdict_of_a_spec(case: Case) -> None:
    status, reasons, not_judged = judged(case.text)
    assert status == case.status, (reasons, not_judged)
    assert all(part in reasons for part in case.reasons), reasons
    assert all(part in not_judged for part in case.not_judged), not_judged


SCALES = {
    # the middle of the range of memory over capacity: the range is 0.9 to 1.1 of the middle
    0.50: VerdictStatus.CLEAR,
    0.90: VerdictStatus.CLEAR,
    0.92: VerdictStatus.RESERVATIONS,
    1.01: VerdictStatus.RESERVATIONS,
    1.10: VerdictStatus.RESERVATIONS,
    1.12: VerdictStatus.FAILS,
    5.25: VerdictStatus.FAILS,
}


@pytest.mark.parametrize(("scale", "status"), SCALES.items())
def test_the_range_of_memory_decides_where_nothing_else_does(scale: float, status: VerdictStatus) -> None:
    plan = study(RUNS).plan
    assert plan.memory is not None and plan.memory.capacity is not None
    capacity = plan.memory.capacity.value
    middle = scale * capacity
    filled = replace(plan)
    total = replace(plan.memory.total, value=middle, low=0.9 * middle, high=1.1 * middle)
    vars(filled)["memory"] = replace(plan.memory, total=total)
    found = verdict(filled)
    assert found.status is status
    assert any("85.5 GB" in reason for reason in found.reasons) is (status is not VerdictStatus.CLEAR)


def finding(severity: Severity) -> Finding:
    here = Span("spec.yaml", Position(1, 1), Position(1, 2))
    return Finding("shared-nic", severity, Confidence.CERTAIN, "two accelerators share one NIC", "", here, ())


@pytest.mark.parametrize(
    ("severity", "with_work", "without"),
    [
        (Severity.ERROR, VerdictStatus.FAILS, VerdictStatus.FAILS),
        (Severity.WARNING, VerdictStatus.RESERVATIONS, VerdictStatus.NOT_JUDGED),
        (Severity.NOTE, VerdictStatus.CLEAR, VerdictStatus.NOT_JUDGED),
    ],
)
def test_the_most_severe_open_finding_decides_the_verdict(
    severity: Severity, with_work: VerdictStatus, without: VerdictStatus
) -> None:
    assert verdict(study(RUNS).plan, (finding(severity),)).status is with_work
    assert verdict(study(RUNS[: RUNS.index("workload:")]).plan, (finding(severity),)).status is without


@pytest.mark.parametrize("rule", ["target-missed-at-load", "run-longer-than-target", "low-goodput"])
def test_a_target_that_is_missed_within_the_range_is_a_reservation(rule: str) -> None:
    """The finding is a note, and the area of the target is exceeded on the same page."""
    note = replace(finding(Severity.NOTE), rule=rule)
    found = verdict(study(RUNS).plan, (note,))
    assert found.status is VerdictStatus.RESERVATIONS
    assert found.reasons == ("a target may be missed: two accelerators share one NIC",)


def test_a_design_that_only_rules_of_the_purchase_stop_works_as_built() -> None:
    """All of them together as well; with one other rule, or a memory that does not fit, it does not."""
    own = [replace(finding(Severity.ERROR), rule=rule) for rule in sorted(OF_PURCHASE)]
    plan = study(RUNS).plan
    assert verdict(plan, own).of_purchase and verdict(plan, own[:1]).of_purchase
    assert not verdict(plan, [*own, finding(Severity.ERROR)]).of_purchase
    assert verdict(plan, [*own, finding(Severity.WARNING)]).of_purchase
    assert not verdict(plan).of_purchase


def test_a_waived_error_counts_as_an_error() -> None:
    broken = RUNS.replace("tp: 8", "tp: 8, dp: 3")
    waived = WAIVER.format("world-size-mismatch") + broken
    report = analysis.estimate(study(waived))
    assert not [finding for finding in report.findings if finding.rule == "world-size-mismatch"]
    assert report.verdict.status is VerdictStatus.FAILS
    (told,) = (one for one in report.to_json()["waived"] if one["rule"] == "world-size-mismatch")
    assert (told["reason"], told["until"]) == ("the supplier promised more memory", "2027-01-31")


@pytest.mark.parametrize(("nodes", "used"), [("", 512), ("nodes: 32, ", 256)])
def test_json_says_the_verdict_and_the_accelerators_used(nodes: str, used: int) -> None:
    told = json.loads(json.dumps(analysis.estimate(study(RUNS.replace("{framework", f"{{{nodes}framework"))).to_json()))
    assert set(told["verdict"]) == {"status", "reasons", "not_judged"}
    assert told["accelerators_used"] == used
    assert told["idle_nodes"] == (512 - used) // 8
    assert told["cluster"]["accelerators"] == 512


def test_the_figures_of_a_plan_that_fails_stay_numbers() -> None:
    told = analysis.estimate(study(TIGHT)).to_json()
    assert told["verdict"]["status"] == "fails"
    assert told["fits"] is False
    assert told["step_time"] > 0 and told["mfu"] > 0


RACK = """\
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 4608}
layout: {framework: megatron-core, ep: 64}
"""
SERVED = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1024, output_tokens: 256, concurrency: 8}}
layout: {framework: vllm, tp: 3}
"""
IMPOSSIBLE = {
    "ep-not-dividing-ranks": RACK,
    "experts-indivisible-by-ep": RACK.replace("ep: 64", "ep: 24"),
    "world-size-mismatch": RUNS.replace("tp: 8", "tp: 8, dp: 3"),
    "kv-heads-indivisible-by-tp": RUNS.replace("megatron-core, tp: 8", "torchtitan, tp: 16"),
    "global-batch-indivisible": RUNS.replace("global_batch: 512", "global_batch: 500"),
    "sharding-forbids-pipeline": RUNS.replace("megatron-core, tp: 8", "deepspeed, sharding: fsdp"),
    "layers-indivisible-by-pp": RUNS.replace("tp: 8, pp: 2", "pp: 128"),
    "heads-indivisible-by-tp": SERVED,
}
TIMES = ("step_time", "tokens_per_second_per_accelerator", "mfu", "hfu", "time_to_train", "serving")


@telling(2)
@pytest.mark.parametrize("rule", IMPOSSIBLE)
def test_a_layout_that_cannot_run_has_no_time_and_no_advice_about_times(rule: str) -> None:
    one = study(IMPOSSIBLE[rule])
    found = analysis.estimate(one)
    value = found.to_json()
    assert [value[name] for name in TIMES] == [None] * len(TIMES)
    assert (value["range"]["step_time"], value["communication"]) == (None, [])
    assert not any(term["seconds"] for term in value["terms"])
    assert value["memory"]["total"] > 0 and value["verdict"]["status"] == "fails"
    assert rule in " ".join(found.verdict.not_judged) and rule in one.plan.refused
    assert not [one for one in found.findings if "per step" in one.message + (one.help or "")]


@pytest.mark.parametrize("rule", IMPOSSIBLE)
def test_a_layout_that_cannot_run_fails_without_its_finding(rule: str) -> None:
    """The configuration of a team may leave the rule out."""
    one = study(IMPOSSIBLE[rule])
    assert rule in "; ".join(verdict(one.plan).reasons) or "the ranks do not match" in "; ".join(
        verdict(one.plan).reasons
    )


@telling(2)
@pytest.mark.parametrize("rule", IMPOSSIBLE)
def test_a_verdict_in_words_names_no_rule(rule: str) -> None:
    """A report prints messages, and what a rule reports where a team leaves its finding out."""
    one = study(IMPOSSIBLE[rule])
    for findings in (one.findings, ()):
        found = verdict(one.plan, findings, words=True)
        assert found.status is VerdictStatus.FAILS
        assert rule not in " ".join((*found.reasons, *found.not_judged))
        assert rule.replace("-", " ") in " ".join(found.not_judged)


def test_a_report_of_a_layout_that_cannot_run_states_no_time() -> None:
    found = analysis.report(study(RACK), "design", live=False).to_json()
    assert found["estimate"]["step_time"] is None and not found["reliability"]
    assert not [area for area in found["areas"] if area["unit"] == "s" and area["value"]]


def test_no_layout_that_cannot_run_is_offered() -> None:
    """tp 4 fits the memory of the rack, and 64 ranks of experts do not divide its 72 ranks with it either."""
    assert {each.rule for each in study(RACK).errors} == {"states-exceed-memory", "ep-not-dividing-ranks"}
    offered = next(each.help for each in study(RACK).errors if each.rule == "states-exceed-memory")
    assert "tp: 4" not in (offered or "")
