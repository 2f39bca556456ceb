from __future__ import annotations

import re
from typing import Any

import pytest

from clusterspec.analysis.levers.boundaries import solve
from clusterspec.analysis.levers.conditions import ConditionFault, parse
from clusterspec.analysis.levers.effects import sensitivity
from clusterspec.records import replace
from clusterspec.report import sensitivity_text, solve_text
from clusterspec.results import Input, Tool
from clusterspec.results.levers import SolveReport
from clusterspec.studies import study_text
from tests.analysis.jobs import study_of
from tests.effort import each, sampled, telling, thorough
from tests.settings import SETTINGS

JOB = """
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr, topology: fat-tree}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1T}
layout: {framework: megatron-core, tp: 2, pp: 1, micro_batch: 1, sharding: fsdp}
"""
SERVED = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {framework: vllm, tp: 8}
"""
STORED = JOB.replace(
    "nodes: 16,", "nodes: 16, networks: {storage: {bandwidth: 5 GB/s, per_client: 1 GB/s, slots: 4}},"
).replace("tokens: 1T}", "tokens: 1T}\noperations: {checkpoint: {interval: 10 min}}")
SENTENCES = [
    (
        STORED,
        "storage.bandwidth",
        "stall<=1%",
        r".* 4 clients of 1 GB/s reach 4 GB/s: `slots` and `cluster\.networks\.st",
    ),
    (JOB, "nodes", "time_to_train<=15d", r"time_to_train<=15d needs at least \d+ nodes? \(the design has 16 nodes\)\."),
    (JOB, "nodes", "time_to_train<=400d", r".* holds at every value tried; 1 node is the smallest \(the design has 16"),
    (JOB, "nic_bandwidth", "mfu>=0.99", r"mfu>=0\.99: not reachable: the best value is [\d.]+ %\."),
    (JOB, "nodes", "time_to_train<=1s", r"time_to_train<=1s: not reachable: the best value is [\d.]+ (days|h)\."),
    (JOB, "sequence_length", "fits", r"The plan fits in memory up to a sequence length of [\d,]+ tokens \(the design "),
    (SERVED, "concurrency", "tpot<=30ms", r"tpot<=30ms holds up to a concurrency of [\d,]+ requests \(the design "),
    (SERVED, "concurrency", "output_tokens_per_second>=1e9", r".*not reachable: the best value is [\d,.]+ tok/s\."),
]


def test_the_values_shown_are_the_ends_and_those_at_the_boundary() -> None:
    tried: list[tuple[float, float | None, bool]] = [(float(at), at / 2, at <= 40) for at in range(1, 101)]
    shown = solve_text._telling_values(tried, 39.0)
    assert len(shown) == 12 and (shown[0][0], shown[-1][0]) == (1.0, 100.0) and shown == sorted(shown)
    assert {37.0, 38.0, 39.0, 40.0, 41.0} <= {value for value, _, _ in shown}
    assert len(solve_text._telling_values(tried, None)) == 12


@thorough
def test_values_of_a_bisection_are_printed_apart() -> None:
    """Three digits of 152.4 and of 152.5 Gb/s would be two equal rows with unequal slowdowns."""
    text = solve_text.solve_as_text(solve(study_of(JOB), "nic_bandwidth", "slowdown<=3%"))
    shown = [line.split("  ")[1] for line in text.splitlines() if re.match(r"  [\d.]+ Gb/s", line)]
    assert len(shown) > 5 and len(set(shown)) == len(shown)


BOUNDARIES = [
    ("nic_bandwidth", "slowdown<=3%", r"rate of at least ([\d.]+ Gb/s)", "scale_out: {nic_bandwidth: VALUE, "),
    ("nic_bandwidth", "slowdown<=7%", r"rate of at least ([\d.]+ Gb/s)", "scale_out: {nic_bandwidth: VALUE, "),
    ("scale_up.bandwidth", "slowdown<=5%", r"of at least ([\d.]+ GB/s)",
     "scale_up: {bandwidth: VALUE each way}, scale_out: {"),
    ("oversubscription", "slowdown<=1%", r"oversubscription of ([\d.]+:1)", "scale_out: {oversubscription: VALUE, "),
]  # fmt: skip


@telling(2)
@pytest.mark.parametrize(("key", "condition", "value", "keys"), BOUNDARIES)
def test_a_printed_boundary_meets_its_condition_and_each_row_is_the_value_that_it_names(
    key: str, condition: str, value: str, keys: str
) -> None:
    """116.45 Gb/s printed as 116 is a value that does not meet the condition."""
    whole = study_of(JOB)
    text = solve_text.solve_as_text(solve(whole, key, condition))
    found = re.search(value, text.replace("\n", " "))
    assert found is not None and whole.plan.step_seconds is not None, text
    held = study_of(JOB.replace("scale_out: {", keys.replace("VALUE", found[1]))).plan
    assert parse(condition, whole.plan.step_seconds).holds(held)
    rows = [line.split("  ") for line in text.splitlines() if re.match(r"  [\d.]+", line)]
    labels = [row[1] for row in rows]
    assert len(labels) > 4 and len(set(labels)) == len(labels)


def test_a_metric_near_its_limit_is_printed_with_enough_digits() -> None:
    rows = ((1.0, 0.0300001, False), (2.0, 0.03, True), (3.0, 0.02, True))
    assert solve_text._distinct_metrics(_report_of("slowdown<=3%"), rows) == ["3.00001 %", "3 %", "2 %"]
    assert solve_text._distinct_metrics(_report_of("slowdown<=3%"), rows[1:]) == ["3 %", "2 %"]


def _report_of(condition: str) -> SolveReport:
    more: dict[str, Any] = {"metric": "slowdown", "metric_unit": "1"}
    return SolveReport(
        Tool("1", "1"), Input("x.yaml", b""), "nic_bandwidth", "B/s", condition, None, value=None, **more
    )


def test_nodes_of_several_roles_have_a_column_each() -> None:
    probes = ((1e9, 0.05, False), (2e9, 0.02, True))
    report = replace(_report_of("slowdown<=3%"), probes=probes)

    def rows(roles: dict[float, dict[str, int]]) -> list[list[str]]:
        text = solve_text.solve_as_text(replace(report, roles=roles))
        return [re.split(" {2,}", line.strip()) for line in text.splitlines()[-3:]]

    heads, first, second = rows({1e9: {"trainer": 4, "rollout": 2}, 2e9: {"trainer": 8}})
    assert heads == ["nic_bandwidth", "trainer", "rollout", "slowdown", "meets it"]
    assert first == ["8 Gb/s", "4", "2", "5 %", "no"] and second == ["16 Gb/s", "8", "0", "2 %", "yes"]
    text = solve_text.solve_as_text(replace(report, roles={1e9: {"trainer": 40, "rollout": 2}, 2e9: {"trainer": 8}}))
    assert [line.rstrip() for line in text.splitlines()[-3:]] == [  # numbers end below each other
        *("  nic_bandwidth  trainer  rollout  slowdown  meets it", "  8 Gb/s              40        2       5 %  no"),
        "  16 Gb/s              8        0       2 %  yes",
    ]
    for few in ({}, {1e9: {"trainer": 4}}):
        assert rows(few) == [
            *(["nic_bandwidth", "slowdown", "meets it"], ["8 Gb/s", "5 %", "no"], ["16 Gb/s", "2 %", "yes"])
        ]


@telling(2)
@pytest.mark.parametrize(("spec", "key", "condition", "sentence"), SENTENCES)
def test_a_boundary_is_a_sentence_with_units(spec: str, key: str, condition: str, sentence: str) -> None:
    text = solve_text.solve_as_text(solve(study_of(spec), key, condition))
    assert re.match(sentence, text.replace("\n", " ")), text
    assert not re.search(r"\d[eE][+-]?\d|\?", text.replace(condition, "")), text


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("time_to_train<=30", "invalid limit `30` of time_to_train: the limit needs a unit, such as `30 d`"),
        ("memory<=60", "invalid limit `60` of memory: the limit needs a unit, such as `60 GB`"),
        (
            "fleet_cost<=7,5M USD",
            "invalid limit `7,5M USD` of fleet_cost: write an amount, such as `20M` or `20000000`",
        ),
        ("mfu>=fast", "invalid limit `fast` of mfu: write a share, such as `40%` or `0.4`"),
        ("output_tokens_per_second>=50%", "invalid limit `50%` of output_tokens_per_second: write a number of tok/s"),
        ("time<=30d", "unknown metric `time`; did you mean `run_time` or `step_time`? Metrics: mfu, "),
    ],
)
def test_an_invalid_limit_is_told_what_to_write(condition: str, message: str) -> None:
    with pytest.raises(ConditionFault) as caught:
        parse(condition)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("written", ["20M", "20000000", "20,000k", "0.02B", "20 M"])
def test_an_amount_may_have_the_letter_of_a_budget(written: str) -> None:
    assert parse(f"fleet_cost<={written}").limit == 2e7


RACKS = """
cluster: {platform: gb200-nvl72, nodes: 36}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 288}
layout: {framework: megatron-core, tp: 4, pp: 1, micro_batch: 1, sharding: fsdp}
"""


@thorough
def test_sensitivity_moves_by_values_that_are_sold() -> None:
    """GB200 is sold in domains of 72 (18 nodes of 4) and 4; H100 in domains of 1, 2 and 4 (instances), 8 and 256."""
    steps = {(row.key, row.after) for row in sensitivity(study_of(RACKS)).levers}
    assert {after for key, after in steps if key == "nodes"} == {18, 72}
    assert {after for key, after in steps if key == "scale_up.domain"} <= {4, 72}
    assert {row.after for row in sensitivity(study_of(JOB)).levers if row.key == "scale_up.domain"} <= {1, 2, 4, 8, 256}


@thorough
def test_sensitivity_shows_no_row_without_effect() -> None:
    for spec in sampled((JOB, RACKS, SERVED), 8):
        text = sensitivity_text.sensitivity_as_text(sensitivity(study_of(spec)))
        assert not re.search(r"[+−]0\.0 %", text), text


MISSED = ((1.0, 0.2, False), (2.0, 0.2, False), (3.0, 0.2, False))
ANSWERS: list[tuple[str, str, str, float | None, dict[str, Any], str]] = [
    # key, condition, unit of the metric, present value, what else is known of the value 80, and the sentence
    ("nodes", "power_peak<=1 MW", "W", 16, {}, "power_peak<=1 MW holds up to 80 nodes (the design has 16 nodes)."),
    ("nodes", "power_peak>=1 MW", "W", None, {}, "power_peak>=1 MW needs at least 80 nodes."),
    ("nodes", "step_time<=1 s", "s", 1, {}, "step_time<=1 s needs at least 80 nodes (the design has 1 node)."),
    ("nodes", "power_peak<=1 MW", "W", None, {"free": True},
     "power_peak<=1 MW holds at every value tried; 80 nodes is the largest."),
    ("nodes", "step_time<=1 s", "s", None, {"free": True},
     "step_time<=1 s holds at every value tried; 80 nodes is the smallest."),
    ("oversubscription", "slowdown<=1%", "1", 1, {"catalog_step": 16.0},
     "slowdown<=1% holds up to an oversubscription of 80:1 (the design has 1:1); the next standard value that meets "
     "it: 16:1."),
    ("nic_bandwidth", "mfu>=40%", "1", None, {"value": 20e9, "catalog_step": 25e9},
     "mfu>=40% needs a NIC line rate of at least 160 Gb/s; the next standard value that meets it: 200 Gb/s."),
    ("nic_bandwidth", "mfu>=40%", "1", None, {"value": 25e9, "catalog_step": 25e9},
     "mfu>=40% needs a NIC line rate of at least 200 Gb/s."),
    ("scale_up.bandwidth", "mfu>=40%", "1", None, {"value": 3e11},
     "mfu>=40% needs a scale-up bandwidth of at least 300 GB/s each way."),
    ("concurrency", "tpot<=30ms", "s", 64, {"errors": {80.0: ("a", "b"), 9.0: ("c",)}},
     "tpot<=30ms holds up to a concurrency of 80 requests (the design has 64 requests). `check` finds an error in 80 "
     "itself: a, b."),
    ("concurrency", "ttft<=1s", "s", None,
     {"probes": ((80.0, 0.2, True), (81.0, 0.2, False), (90.0, 2.0, False)), "errors": {81.0: ("a",), 90.0: ("b",)}},
     "ttft<=1s holds up to a concurrency of 80 requests. At the next value tried, `check` finds an error: a."),
    ("concurrency", "output_tokens_per_second>=9", "tok/s", None, {"unsure": True},
     "output_tokens_per_second>=9 needs a concurrency of at least 80 requests. This plan may not fit: the upper "
     "end of its memory range does not."),
    ("request_rate", "targets", "", None, {"searched": True, "layout": {"tp": 8}, "value": 1234.4},
     "The spec meets its targets up to a request rate of 1,234/s. The best layout there: tp 8."),
    ("sequence_length", "fits", "", None, {"layout": {"tp": 8}},
     "The plan fits in memory up to a sequence length of 80 tokens."),
    ("nodes", "mfu>=40%", "1", 16, {"value": None, "why": "nothing does", "probes": MISSED},
     "mfu>=40%: nothing does."),
    ("nodes", "fits", "1", 16, {"value": None, "probes": (), "why": "`workload` is missing"},
     "Nothing to solve: `workload` is missing."),
]  # fmt: skip


@each(("key", "condition", "unit", "present", "more", "sentence"), ANSWERS)
def test_an_answer_says_the_direction_the_value_and_what_refuses_it(
    key: str, condition: str, unit: str, present: float | None, more: dict[str, Any], sentence: str
) -> None:
    own: dict[str, Any] = {"value": 80.0, "metric": re.split("[<>]", condition)[0], "metric_unit": unit or None} | more
    report = SolveReport(Tool("1", "1"), Input("x.yaml", b""), key, _unit(key), condition, present, **own)
    assert " ".join(solve_text.solve_as_text(report).split("values tried")[0].removesuffix("3 ").split()) == sentence


def _unit(key: str) -> str:
    return "B/s" if key.endswith("bandwidth") else "1"


TWO_JOBS = """clusterspec: 1
name: two
pools: {p: {platform: dgx-h100, nodes: 16}}
jobs:
  first: {pool: p, nodes: NODES, workload: WORK, layout: LAYOUT}
  second: {pool: p, nodes: 10, workload: WORK, layout: LAYOUT}
"""
WORK = "{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}"
LAYOUT = "{framework: megatron-core, tp: 2, sharding: fsdp}"


@telling(1)
@pytest.mark.parametrize(
    ("nodes", "factor", "said"),
    [(2, 0.6, ""), (2, 0.3, " Its pool has 6 nodes for this job: 2 are missing."), (6, 2.2, "")],
)
def test_nodes_of_a_job_are_those_that_the_others_leave(nodes: int, factor: float, said: str) -> None:
    """Of 16 nodes another job has 10: a job may grow to 6. The step is about as long as the nodes are few."""
    text = TWO_JOBS.replace("NODES", str(nodes)).replace("WORK", WORK).replace("LAYOUT", LAYOUT)
    whole = study_text(text, SETTINGS)
    assert whole.fleet is not None
    job = whole.fleet.jobs["first"]
    limit = factor * (job.plan.step_seconds or 0.0)
    report = solve(job, "nodes", f"step_time<={limit:.3f} s", whole=whole)
    shown = solve_text.solve_as_text(report)
    assert report.available == report.to_json()["available"] == 6
    assert ("Its pool has" in shown) is bool(said) and said.strip() in " ".join(shown.split())
    assert said == "" or report.value == 8


@thorough
def test_a_design_of_its_own_has_no_pool_to_share() -> None:
    report = solve(study_of(JOB), "nodes", "time_to_train<=15d")
    assert report.available is None and "Its pool" not in solve_text.solve_as_text(report)
