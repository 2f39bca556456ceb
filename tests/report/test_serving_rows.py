"""The rows of a serving plan in a report, from changed times and loads."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.explain import first_token_time_term, token_time_term
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import QUANTITIES
from clusterspec.cost.term import Term
from clusterspec.records import replace
from clusterspec.report.charts.bars import StackPart
from clusterspec.report.charts.log_plots import FrontPoint
from clusterspec.report.estimate_rows import latency_rows
from clusterspec.report.paper import serving
from clusterspec.report.paper.blocks import PaperTable, Picture, Text
from clusterspec.results.full import FullReport
from clusterspec.results.search import LayoutRow
from clusterspec.standard import sum_of
from clusterspec.units import display, plain
from tests.designs import SERVED, times_of, work_of
from tests.report.test_charts import shapes
from tests.report.test_paper import SPECS, own_parts, report
from tests.report.test_paper_words import trained


def served(name: str = "serving") -> tuple[FullReport, ServingTimes, Serving]:
    found = own_parts(SPECS[name])
    plan = found.estimate.plan
    assert plan.serving is not None and plan.design.workload is not None and plan.design.workload.serving is not None
    return found, plan.serving, plan.design.workload.serving


@pytest.mark.parametrize(
    ("load", "offered", "said"),
    [
        ("closed", 128.4, "The figures are for 128 requests in flight, 2,048 input and 512 output tokens each; a "
         "request that ends is replaced at once."),
        ("open", 2.0, "The figures are for 3.5 requests per second, which result in 2 requests in flight, 2,048 input "
         "and 512 output tokens each."),
        ("static", 1.0, "The figures are for one batch of 1 request in flight, 2,048 input and 512 output tokens each,"
         " which start and end together."),
        ("offline", 0.2, "The figures are for as many requests as the cache holds: 1 request in flight, 2,048 input "
         "and 512 output tokens each."),
    ],
)  # fmt: skip
def test_the_load_is_told_by_its_kind(load: str, offered: float, said: str) -> None:
    _, times, stated = served()
    kind: Any = load
    assert serving._load_sentence(replace(times, offered=offered), replace(stated, load=kind, request_rate=3.5)) == said


def test_drafted_tokens_are_printed_with_the_load() -> None:
    _, times, load = served()
    drafting = replace(load, draft_tokens=1, draft_acceptance=0.7)
    assert serving._load_sentence(times, drafting).endswith(
        " Speculative figures: 1 drafted token a step, 70 % accepted; they are not comparable with figures without "
        "speculation."
    )
    assert "Speculative" not in serving._load_sentence(times, load)


@pytest.mark.parametrize(
    ("name", "changes", "load", "cells"),
    [
        ("serving", {"prefill_share": 0.255}, "closed", ("Share of the engines' time on prefill", "26 %")),
        ("serving", {"prefill_share": 0.255}, "static", ("Share of prefill in the time of the batch", "26 %")),
        ("serving-pools", {"prefill_busy": 0.8}, "closed", ("Utilization of the prefill engines", "80 %")),
        ("serving-pools", {"prefill_busy": 1.4}, "closed", ("Utilization of the prefill engines", "100 %")),
    ],
)
def test_the_load_of_prefill_is_that_of_its_engines(
    name: str, changes: dict[str, Any], load: Any, cells: tuple[str, str]
) -> None:
    _, times, stated = served(name)
    row = serving._prefill_row(changed(times, changes), replace(stated, load=load))
    assert row.cells == (*cells, "–", "–")
    assert row.field == ("" if name == "serving-pools" else "estimate.serving.prefill_share")


def changed(times: ServingTimes, changes: dict[str, Any]) -> ServingTimes:
    """Times with other values, also of those that are worked out when they are read."""
    made = replace(times)

    class Changed(type(made)):  # type: ignore[misc]
        pass

    for name, value in changes.items():
        setattr(Changed, name, value)
        vars(made).pop(name, None)
    object.__setattr__(made, "__class__", Changed)
    return made


@pytest.mark.parametrize(("load", "said"), [(0.456, "46 %"), (1.2, "100 %")])
def test_links_that_limit_prefill_are_told_instead_of_its_engines(load: float, said: str) -> None:
    _, times, stated = served("serving-pools")
    row = serving._prefill_row(changed(times, {"links_limit_prefill": True, "prompt_load": load}), stated)
    assert row.cells[:2] == ("Utilization of the links for caches, which limit prefill", said)


def test_times_stand_with_the_rates_of_an_accelerator_and_of_a_user() -> None:
    _, times, load = served()
    table = serving._times_table(times, load)
    rows = {row.cells[0]: row for row in table.rows}
    mean, rate = rows["Time to first token, mean"], rows["Output tokens per second"]
    assert mean.cells[1] == display(times.ttft_mean, "s") and mean.fields[1:3] == (
        "estimate.serving.ttft_mean",
        "estimate.serving.range.ttft_mean",
    )
    assert rate.cells[1] == display(times.output_tokens_per_second, "1") and rate.cells[3] == "–"
    assert rows["Output tokens per second of an accelerator"].cells[1] == display(times.per_accelerator, "1")
    assert rows["Output tokens per second of a user"].cells[1] == display(1 / times.tpot, "1")
    assert rows["Request latency"].cells == ("Request latency", display(times.request_latency, "s"), "–", "–")


def test_percentiles_stand_below_their_median_with_the_targets() -> None:
    """Targets at the 90th percentile: each latency has a row of its median and one of that percentile."""
    _, times, load = served("serving-pools")
    found = {row.cells[0]: (row.cells[3], row.fields) for row in serving._latency_rows(times, load)}
    assert list(found)[:4] == [
        *("Time to first token, median", "Time to first token, percentile 90"),
        *("Time per output token, median", "Time per output token, percentile 90"),
    ]
    assert found["Time to first token, median"][0] == "–"
    assert found["Time to first token, percentile 90"][0].startswith("2 s")
    assert found["Time per output token, percentile 90"][0].startswith("40 ms")
    assert found["Time to first token, median"][1][2] == "estimate.serving.range.ttft"
    assert found["Time to first token, percentile 90"][1][1].startswith("estimate.serving.")


ORDER = [*QUANTITIES]
FIRST, TOKEN, GAP, WHOLE = QUANTITIES.values()
P90, P95, P99 = (f"  percentile {number}" for number in (90, 95, 99))
TTFT_99, TPOT_99 = "at_percentile.ttft", "at_percentile.tpot"


@pytest.mark.parametrize(
    ("targets", "rows"),
    [
        ("{}", [(FIRST, 0, "ttft"), (TOKEN, 0, "tpot")]),
        # the highest percentile of both latencies has fields of its own, any other is that of its target
        (
            "{ttft: {p50: 1 s, p95: 2 s}, tpot: {p99: 60 ms}}",
            [
                (FIRST, 1, "ttft"),
                (P95, 1, "targets[1].value"),
                (P99, 0, TTFT_99),
                (TOKEN, 0, "tpot"),
                (P99, 1, TPOT_99),
            ],
        ),
        # other latencies have rows where they have targets, and their percentiles no other latency
        (
            "{itl: {p99: 80 ms}, ttft: {p50: 1 s}}",
            [(FIRST, 1, "ttft"), (TOKEN, 0, "tpot"), (GAP, 0, ""), (P99, 1, "targets[1].value")],
        ),
        (
            "{end_to_end: {p50: 9 s, p90: 12 s}, tpot: {p90: 50 ms}}",
            [
                *((FIRST, 0, "ttft"), (P90, 0, TTFT_99), (TOKEN, 0, "tpot"), (P90, 1, TPOT_99)),
                *((WHOLE, 1, "targets[1].value"), (P90, 1, "targets[2].value")),
            ],
        ),
    ],
)
def test_latencies_have_the_fields_of_the_plan_of_its_highest_percentile_or_of_their_target(
    targets: str, rows: list[tuple[str, int, str]]
) -> None:
    text = SERVED.replace("concurrency: 16}", f"concurrency: 16, targets: {targets}}}")
    load = work_of(text).serving
    assert load is not None
    found = list(latency_rows(times_of(text), load))
    assert [(row.title, int(row.target is not None), row.field) for row in found] == rows
    assert [(row.target.quantity, row.target.percentile) for row in found if row.target] == [
        (target.quantity, target.percentile)
        for target in sorted(load.targets, key=lambda one: ORDER.index(one.quantity))
    ]


def test_parts_of_a_step_have_their_share_and_the_step_is_the_sum() -> None:
    step = Term("decode_step", 4.0, "s", "read_weights + kv", parts=(
        Term("read_weights", 3.0, "s", "w"), Term("idle", 0.0, "s", "0"), Term("kv", 1.0, "s", "k"),
    ))  # fmt: skip
    table = serving._parts_table(step, "field", "decode step")
    assert [(row.cells, row.field, row.total) for row in table.rows] == [
        (("read weights", "3 s", "75 %", "w"), "field.parts[0]", False),
        (("kv", "1 s", "25 %", "k"), "field.parts[2]", False),
        (("decode step", "4 s", "100 %", "read weights + kv"), "field", True),
    ]
    assert table.columns[0].label == "Part of a decode step"


def test_parts_without_a_color_of_their_own_take_spare_ones_in_order() -> None:
    parts = tuple(Term(name, 1.0, "s", "x") for name in ("dense", "a", "b", "c", "d", "e", "cache"))
    assert [part.tint for part in serving._colored_parts(parts)] == [
        *("forward", "pp", "dp", "gradients", "weights", "other", "activations"),
    ]


@pytest.mark.parametrize(("targets", "most", "said"), [(False, 7, None), (True, 1024, "1,024"), (True, 0, "none")])
def test_the_cache_has_the_requests_within_targets_where_there_are_targets(
    targets: bool, most: int, said: str | None
) -> None:
    _, times, load = served("serving-pools")
    stated = load if targets else replace(load, targets=())
    table = serving._cache_table(changed(times, {"most_in_flight": most}), stated)
    rows = {row.cells[0]: (row.cells[1], row.field) for row in table.rows}
    assert rows["A token"] == (display(times.kv_bytes_per_token, "B"), "estimate.serving.kv_bytes_per_token")
    assert rows["Requests that all engines hold, on average"][0] == f"{times.places:,}"
    within = rows.get("Requests in flight within the targets")
    assert (within[0] if within is not None else None) == said


def test_waits_before_a_token_are_drawn_by_part() -> None:
    found, times, _ = served()
    first, step = serving.request_pictures(found)
    assert (first.caption, first.field) == ("Time to first token by part", "estimate.terms[0]")
    assert (step.caption, step.field) == ("Time of a decode step by part", "estimate.terms[1]")
    names = [each["text"] for each in shapes(first.svg, "text")]
    assert "the median of the time to first token" in names
    term = first_token_time_term(times)
    inputs = {name: figure.value for name, figure in term.inputs}
    parts = [inputs["wait"], inputs["request"], *(part.value for part in term.parts)]
    rest = term.value - sum_of(parts)
    drawn = [display(value, "s") for value in (*parts, rest) if value > 0.002 * term.value]
    assert [
        part.rpartition(" ")[0].rpartition(" ")[2] + " " + part.rpartition(" ")[2]
        for part in first.svg.partition('aria-label="')[2].partition('"')[0].split("; ")
    ] == drawn
    assert serving.request_pictures(trained()) == ()
    prompt = serving._prompt_picture(times)
    steps = times.prefill.steps
    said = f"one step of prefill, one of {plain(steps, 2)} of a prompt" if steps > 1 else "one step of prefill"
    assert any(each["text"] == said for each in shapes(prompt.svg, "text"))
    whole = serving._prompt_picture(changed(times, {"prefill": times.prefill._replace(steps=1.0)}))
    assert any(each["text"] == "one step of prefill" for each in shapes(whole.svg, "text"))
    halves = serving._prompt_picture(changed(times, {"prefill": times.prefill._replace(steps=2.5)}))
    assert any(each["text"] == "one step of prefill, one of 2.5 of a prompt" for each in shapes(halves.svg, "text"))


def test_a_part_below_two_thousandths_is_not_drawn() -> None:
    parts = [StackPart("large", "forward", 1.0, "1 s"), StackPart("small", "tp", 0.0021, "2.1 ms")]
    names = ("title", "caption")
    assert 'aria-label="large 1 s; small 2.1 ms"' in serving._timeline_picture(parts, 1.0, names, "[0]").svg
    assert 'aria-label="large 1 s"' in serving._timeline_picture(parts, 1.05, names, "[0]").svg


def test_a_serving_section_needs_times_and_a_load() -> None:
    found, times, _ = served()
    section = serving.serving_section(found)
    assert section is not None and [type(block) for block in section.blocks] == [
        *(PaperTable, Picture, PaperTable, PaperTable, PaperTable),
    ]
    (*_, prompt, decode) = section.blocks
    assert isinstance(prompt, PaperTable) and prompt.field.startswith(serving.FIRST_TOKEN)
    assert isinstance(decode, PaperTable) and decode.field == serving.STEP
    whole = token_time_term(times).parts[0]
    assert decode.rows[-1].cells[:2] == ("decode step", display(whole.value, "s"))
    assert serving.serving_section(trained()) is None
    plan = replace(found.estimate.plan, serving=None)
    assert serving.serving_section(replace(found, estimate=replace(found.estimate, plan=plan))) is None


POINTS = FrontPoint(50.0, 1000.0, "8 engines", "64"), FrontPoint(100.0, 500.0, "4 engines", "16")


def test_plans_of_the_front_are_numbered_and_the_design_has_a_mark() -> None:
    table = serving._front_table(POINTS, FrontPoint(7.2, 600.0, "own", "32"))
    assert [(row.cells, row.field) for row in table.rows] == [
        (("1", "8 engines", "64", "50", "1,000"), "plans.pareto[0]"),
        (("2", "4 engines", "16", "100", "500"), "plans.pareto[1]"),
        (("◆", "this design", "32", "7.2", "600"), "plans.present"),
    ]
    assert len(serving._front_table(POINTS, None).rows) == 2


SEARCHED = """
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8}}
layout: {framework: vllm, tp: 1}
"""
"""A load with few plans, which a report searches in a second."""


def planned_rows(count: int, cost: float | None = None) -> tuple[LayoutRow, ...]:
    figures = {
        **{"accelerators": 16, "ttft": 0.5, "tpot": 0.02, "at_percentile": None, "disaggregated": None, "replicas": 2},
        **{"output_tokens_per_second": 1600.0, "output_tokens_per_second_per_accelerator": 100.0},
        **{"tokens_per_second_per_user": 50.0, "concurrency": 32.0},
    }
    return tuple(
        LayoutRow({"tp": 8}, None, None, None, None, None, True, cost, serving=figures | {"concurrency": 32.0 + at})
        for at in range(count)
    )


@pytest.mark.parametrize(
    ("layouts", "pareto", "why", "blocks"),
    [
        (0, 1, "none meets them", None),
        (0, 2, "none meets them", [Picture, PaperTable, Text]),
        (0, 2, "", [Picture, PaperTable]),
        (1, 0, "", [PaperTable]),
        (1, 1, "", [PaperTable]),
        (1, 2, "", [Picture, PaperTable, PaperTable]),
    ],
)
def test_a_front_has_two_plans_and_a_table_one(layouts: int, pareto: int, why: str, blocks: list[type] | None) -> None:
    found = report(SEARCHED)
    assert found.plans is not None
    plans = replace(found.plans, layouts=planned_rows(layouts), pareto=planned_rows(pareto), why=why)
    section = serving.plans_section(replace(found, plans=plans))
    assert ([type(block) for block in section.blocks] if section is not None else None) == blocks
    if section is not None:
        assert section.lead.startswith(f"{plans.evaluated:,} plans evaluated; {plans.fitting:,} ")
    assert serving.plans_section(trained()) is None
