"""Texts and tables of results made by hand: every figure of the result is in its row, in its unit."""

from __future__ import annotations

import csv
import io

import pytest

from clusterspec.cluster.requests import Hours
from clusterspec.cost.serving.day import DayPlan, HourPlan
from clusterspec.cost.term import Term
from clusterspec.records import replace
from clusterspec.report import TextStyle, cost_text
from clusterspec.report.estimate_rows import day_rows
from clusterspec.report.faults_text import faults_as_text, faults_csv, result_sentences
from clusterspec.report.fleet_search_text import fleet_search_text, options_csv
from clusterspec.report.machines_text import machines_csv, machines_text
from clusterspec.report.search_text import _fewer_nodes_text
from clusterspec.report.separation_text import separation_text
from clusterspec.report.simulation_text import simulation_as_text
from clusterspec.results import Input, Tool
from clusterspec.results.faults import FaultRow, FaultsReport, FirstYear, PairRow, Stock, YearlyGoodput
from clusterspec.results.fleet_search import Assignment, FleetSearchReport, JobOption
from clusterspec.results.machine_search import MachineRow, MachinesReport
from clusterspec.results.search import BreakEvenRow, LayoutRow, SearchReport, Separation, SeparationSide
from clusterspec.results.simulation import (
    HitsBySize,
    Percentiles,
    QueuePoint,
    SimulatedHours,
    SimulatedRise,
    SimulatedTarget,
    SimulationReport,
)
from tests.report.columns import lines

TOOL, INPUT = Tool("1", "2026-11-01"), Input("x.yaml", b"")
WIDE = TextStyle(width=400)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


FAULTS = FaultsReport(
    TOOL,
    INPUT,
    rows=(
        FaultRow("node", 64, 12.5, "stops", 0.0, None, 180.4, 9020.0, "no spare"),
        FaultRow("leaf switch", 1200, 0.25, "slows", 0.5, 12.5, 3.0, None, "one of two planes"),
        FaultRow("fan", None, None, "none", 0.0, 10.0, None, 0.0, "redundant"),
    ),
    step_time=10.0,
    hour=50.0,
    currency="USD",
    goodput=YearlyGoodput(0.95, 0.90, 0.96, 0.99),
    repairs={"node": 3, "leaf switch": 1200},
    assumptions=(),
    notes=("Nothing is stored.",),
    pairs=(
        PairRow(("NIC", "leaf switch"), "leaf", "in two planes", 1024, 0.5, "stops", True, None, 1.5, 75.0),
        PairRow(("NIC", "link"), "node", "", 8, None, "none", False, 10.0, None, None),
    ),
    first_year=FirstYear(2.5, YearlyGoodput(0.90, 0.80, 0.91, 0.97)),
    stock=Stock(0.95, 604800.0, {"node": 5}),
)


def test_the_failures_of_a_year_stand_in_their_rows() -> None:
    """A year has 8,766 hours, so that 5 % lost cost 8,766 × 50 × 0.05 = 21,915 USD, and 10 % twice as much."""
    text = lines(faults_as_text(FAULTS, WIDE))
    assert text[:8] == [
        "failed part count per year job step hours lost cost USD why",
        "node 64 12.5 stops – 180 9,020 no spare",
        "leaf switch 1,200 0.25 slows 12.5 s 3 – one of two planes",
        "fan – – unaffected 10 s – 0 redundant",
        "failed pair they share pairs per year job step hours lost",
        "NIC and leaf switch a leaf in two planes 1,024 0.5 stops * – 1.5",
        "NIC and link a node 8 – unaffected 10 s –",
        "* more than either failure alone",
    ]
    said = " ".join(text[8:])
    for sentence in (
        "A step takes 10 s without failures.",
        "95 % of the time; half of the years exceed 96 %; 9 of 10 years lie between 90 % and 99 %.",
        "Hours lost to failures and checkpoints cost 21,915 USD a year, in 95 % of the years at most 43,830.",
        "2.5 times as often: goodput 90 %, 9 of 10 machines between 80 % and 97 %;",
        "lost hours cost 43,830 USD, at 95 % at most 87,660.",
        "Parts in repair at the same time (95th percentile): 3 × node, 1,200 × leaf switch.",
        "Stock that suffices 95 % of the time with a lead time of 7 days: node 5.",
        "Nothing is stored.",
    ):
        assert sentence in said, sentence
    rows = table(faults_csv(FAULTS))
    assert [row["part"] for row in rows] == ["node", "leaf switch", "fan", "NIC and leaf switch", "NIC and link"]
    assert [row["hours_lost_per_year"] for row in rows] == ["180.4", "3.0", "", "1.5", ""]
    assert [row["bandwidth_lost"] for row in rows] == ["0.0", "0.5", "0.0", "", ""]
    assert rows[3]["why"] == "both share a leaf in two planes; more than either failure alone"
    assert {row["currency"] for row in rows} == {"USD"}
    exact = replace(FAULTS, goodput=YearlyGoodput(0.951264, 0.901264, 0.961264, 0.981264))
    assert FAULTS.first_year is not None
    exact = replace(
        exact, first_year=FAULTS.first_year._replace(goodput=YearlyGoodput(0.851264, 0.801264, 0, 0.871264))
    )
    said = " ".join(lines(faults_as_text(exact, WIDE)))
    assert (
        "95.13 % of the time; half of the years exceed 96.13 %; 9 of 10 years lie between 90.13 % and 98.13 %" in said
    )
    assert "goodput 85.13 %, 9 of 10 machines between 80.13 % and 87.13 %" in said
    unpriced = replace(FAULTS, hour=None, pairs=(), first_year=None, stock=None, step_time=None)
    text = lines(faults_as_text(unpriced, WIDE))
    assert text[1] == "node 64 12.5 stops – 180 no spare"
    assert text[4] == "No two parts of different kinds share a node, a leaf or a rack."
    assert "cost" not in " ".join(text)


MACHINES = (
    MachineRow(
        "small",
        4,
        "rail-optimized",
        {},
        32,
        {"tp": 8, "nodes": 4},
        None,
        2.0,
        0.45,
        7200.0,
        8000.0,
        None,
        60e9,
        False,
        1_500_000.4,
        12.0,
        40e3,
        ("optics",),
    ),
    MachineRow("large", 1024, "", {}, 8192, None, why="no layout fits", missed=("cost 9 > 8",)),
    MachineRow(
        "serving",
        2,
        "",
        {},
        16,
        {"tp": 8},
        None,
        serving={"ttft": 1.5, "tpot": 0.02},
        power=20e3,
        missed=("REQUEST LATENCY 4 s > 3 s", "cost not known: no price for `node`"),
    ),
)


def test_machines_stand_with_their_titles_or_what_they_miss() -> None:
    best = {"cheapest": MACHINES[0]}
    report = MachinesReport(TOOL, INPUT, "x", ("cost <= 8",), MACHINES, best, (MACHINES[0],), "EUR")
    text = lines(machines_text(report, WIDE))
    assert text[0] == "x: 3 machines compared, 1 meets all limits (cost <= 8); 1 cannot be judged."
    assert " ".join(text[1:4]) == (
        "Cheapest small, 4 nodes, 32 accelerators, rail-optimized: 2 s, 2 h, 40 kW, 1,500,000 EUR. Layout: tp 8. It may"
        " not fit: the upper end of its memory range exceeds the memory."
    )
    assert text[4:9] == [
        "Machines",
        "machine nodes fabric time MFU run power cost",
        "small 4 rail-optimized 2 s 45 % 2 h 40 kW 1,500,000 EUR cheapest",
        "large 1,024 – – – – – – no layout fits; misses cost",
        "serving 2 – 1.5 s / 20 ms – – 20 kW – misses REQUEST LATENCY; cost not known",
    ]
    assert " ".join(text[9:]).endswith(
        "cost: of the purchase, since `procurement.term` is not stated. cost not known: no price for `node`. Some costs"
        " leave out: optics."
    )
    praised = replace(report, best={"cheapest": MACHINES[2]}, pareto=MACHINES[2:])
    assert "serving 2 – 1.5 s / 20 ms – – 20 kW – misses REQUEST LATENCY; cost not known" in lines(
        machines_text(praised, WIDE)
    ), "what misses is not praised"
    many = replace(report, machines=MACHINES[1:2] * 43, best={}, pareto=MACHINES[:1], whole_term=True)
    text = lines(machines_text(many, WIDE))
    assert text[0].startswith("x: 43 machines compared, 0 meet all limits")
    assert text[2] == "machine nodes time MFU run power cost", "no column of fabrics that are all alike"
    assert "3 more with --format csv or json." in text and "cost: over the term." in " ".join(text)
    rows = table(machines_csv(report))
    assert [row["best"] for row in rows] == ["cheapest", "", ""]
    assert [row["pareto"] for row in rows] == ["True", "False", "False"]
    assert [row["tpot"] for row in rows] == ["", "", "0.02"]
    assert [row["time_to_train"] for row in rows] == ["7200.0", "", ""]
    assert [row["time_to_train_with_interruptions"] for row in rows] == ["8000.0", "", ""]


SIMULATED = SimulationReport(
    TOOL,
    INPUT,
    seed=7,
    requests=1000,
    warm_up=100,
    load="8 requests a second",
    engines=2,
    accelerators=16.0,
    ttft=Percentiles(0.5, 1.0, 2.0),
    tpot=Percentiles(0.02, 0.03, 0.04),
    itl=None,
    end_to_end=Percentiles(5.0, 9.0, 20.0),
    goodput=0.91,
    hit_rate={"host": 0.25},
    request_rate=7.5,
    output_tokens_per_second=3000.0,
    saturation=9.25,
    preemptions=3,
    expected=(0.75, 0.025),
    targets=(SimulatedTarget("ttft", 99.0, 2.0, 2.0), SimulatedTarget("end_to_end", 50.0, 4.0, 5.0)),
    queue_share=0.13,
    queue=tuple(QueuePoint(float(at), at, 2 * at) for at in range(23)),
    cache_sizes=(HitsBySize(1e6, 2e12, 0.5, 1500.0, 60.0), HitsBySize(2e6, 4e12, 0.75, 3000.0, None)),
    notes=("One trace.",),
)


def test_a_simulation_has_percentiles_rates_and_the_queue() -> None:
    """Of 23 points every second one is shown."""
    text = lines(simulation_as_text(SIMULATED, WIDE))
    queue = [f"{at} {at} {2 * at}" for at in range(0, 23, 2)]
    heading = "1,000 requests on 2 engines (16 accelerators): 8 requests a second, seed 7. The first 100 do not count."
    assert " ".join(text).startswith(heading)
    assert text[text.index("latency p50 p90 p99 formula") + 1 :] == [
        "time to first token 500 ms 1 s 2 s 750 ms",
        "time per output token 20 ms 30 ms 40 ms 25 ms",
        "end to end 5 s 9 s 20 s",
        "within targets 91 % of requests",
        "ttft p99 2 s, target 2 s: met",
        "end to end p50 5 s, target 4 s: missed",
        "waiting for prefill 13 % of the time to first token",
        "read from host 25 % of the input tokens",
        "throughput 3,000 output tokens per second",
        "requests 7.5/s",
        "sustained at most 9.25/s",
        "Queue over time",
        "time in s waiting running",
        *queue,
        "Hits of one cache of all engines, by its size",
        "size of the input tokens keeps a block for",
        "2 TB 50 % 1,500 requests, 60 s",
        "4 TB 75 % 3,000 requests",
        "One trace.",
    ]


OPTIONS = (
    JobOption("train", "a", 8, {"tp": 4, "nodes": 8}, None, 2.0, 0.4, 86400.0, None, 70e9, False, 5000.0, 3.6e9),
    JobOption(
        "chat",
        "b",
        1200,
        {"tp": 8},
        None,
        serving={"ttft": 1.0, "tpot": 0.05},
        missed=("tpot 50 ms > 40 ms",),
        cost=700.0,
    ),
    JobOption("train", "b", 4, why="not searched", least=172800.0),
    JobOption("train", "b", 2, why="does not fit"),
)


def test_assignments_stand_with_their_value_and_how_far_a_better_one_may_be() -> None:
    best = Assignment({"train": OPTIONS[0], "chat": OPTIONS[1]}, 5700.0, 0.02)
    other, present = Assignment({"train": OPTIONS[0]}, 6000.0, 0.0), Assignment({"train": OPTIONS[0]}, 7600.0, None)
    report = FleetSearchReport(TOOL, INPUT, "x", "cost", "", (best, other), present, OPTIONS, "USD")
    text = lines(fleet_search_text(report, WIDE))
    assert text[:14] == [
        "x: 4 choices of job, pool and nodes compared.",
        "Best by cost: 5,700 USD; a better assignment is at most 2 % lower",
        "job pool nodes layout time run cost",
        "train a 8 tp 4 ? 2 s 24 h 5,000 USD",
        "chat b 1,200 tp 8 1 s / 50 ms – 700 USD",
        "Number 2 by cost: 6,000 USD",
        "job pool nodes layout time run cost",
        "train a 8 tp 4 ? 2 s 24 h 5,000 USD",
        "The spec (train on 8 of a, with its own layouts): 7,600 USD; the best one saves 25 %.",
        "Choices",
        "job pool nodes time run cost",
        "train a 8 2 s 24 h 5,000 USD best",
        "train b 2 – – – does not fit",
        "chat b 1,200 1 s / 50 ms – 700 USD best",
    ]
    assert "Not searched: train on b (at least 48 h)." in " ".join(text[14:])
    late = replace(report, present=Assignment({"chat": OPTIONS[1]}, 1.0, None), assignments=(), why="chat is late")
    said = " ".join(lines(fleet_search_text(late, WIDE)))
    assert "No assignment: chat is late." in said
    assert "it misses chat: tpot 50 ms > 40 ms." in said and "saves" not in said
    faster = replace(report, objective="time", unit="s", assignments=(replace(best, objective=7200.0, gap=0.0),))
    assert lines(fleet_search_text(faster, WIDE))[1:4] == [
        "Best by time: 2 h",
        "job pool nodes layout time run",
        "train a 8 tp 4 ? 2 s 24 h",
    ]
    proven = lines(fleet_search_text(replace(faster, options=OPTIONS[:2]), WIDE))
    assert proven[1] == "Best by time: 2 h; proven"
    rows = table(options_csv(report))
    assert [row["chosen"] for row in rows] == ["True", "True", "False", "False"]
    assert [row["elapsed"] for row in rows] == ["86400.0", "", "", ""]
    assert [row["least"] for row in rows] == ["", "", "172800.0", ""]


TOGETHER = SeparationSide({"tp": 8}, None, 16.0, 1.0, 0.05, 900.0, 1000.4, True, 1.0, 0.4, 0.0)
APART = SeparationSide({"tp": 8}, {}, 24.0, 1.0, 0.05, 900.0, 1500.6, True, 1.0, 1.2, 0.03)
BREAKS = (
    BreakEvenRow("input_tokens", 4000.0, 1207.9, True, 100.0, 1e5),
    BreakEvenRow("link_bandwidth", 50e9, 2.5e9, True, 1e9, 1e12),
    BreakEvenRow("concurrency", 64.0, None, False, 1.0, 1024.0),
)


def test_separate_engines_are_named_with_their_reason_and_their_break_evens() -> None:
    """2.5e9 B/s are 20 Gb/s; prefill engines are at most 100 % busy."""
    found = Separation(True, "", True, TOGETHER, APART, BREAKS)
    assert separation_text(found) == (
        "Separate engines for prefill and decode: 24 accelerators, each with 1,501 output tokens per second, against"
        " 16 accelerators, each with 1,000 output tokens per second with one kind of engine. Prefill takes 40 % of the"
        " time of one kind of engine and delays its decode steps; a handoff takes 30 ms, and separate prefill engines"
        " are 100 % busy. By output tokens per accelerator at the best load within the targets, the plan with separate"
        " engines is better for prompts above 1,200 tokens and links above 20 Gb/s per accelerator. It is not better"
        " for any loads tried (1 to 1,000 requests in flight)."
    )
    never = [replace(each, value=None, separate_above=False) for each in BREAKS[:2]]
    assert separation_text(replace(found, break_even=(*never, BREAKS[2]))).endswith(
        "By output tokens per accelerator at the best load within the targets, the plan with separate engines is not"
        " better for any prompts tried (100 to 100,000 tokens), any links tried (8 to 8,000 Gb/s per accelerator) or"
        " any loads tried (1 to 1,000 requests in flight)."
    )
    every = replace(BREAKS[2], separate_above=True)
    assert "is better for all loads tried (1 to 1,000 requests in flight)." in separation_text(
        replace(found, break_even=(every,))
    )
    other = separation_text(replace(found, separate=False, targeted=False, break_even=BREAKS[:1]))
    assert other.startswith("One kind of engine: 16 accelerators") and "at the load, the plan" in other
    for excess, limit, text in (
        (1.25, "tpot p99", "the target of tpot p99 1.25 times"),
        (1.04, "end_to_end p90", "the target of end to end p90 by 4 %"),
        (2.0, "cache", "the requests that its cache holds 2.00 times"),
        (3.0, "rate", "the requests a second that it sustains 3.00 times"),
    ):
        late = replace(found, together=replace(TOGETHER, meets_targets=False, excess=excess, limit=limit))
        assert separation_text(late).endswith(
            "no plan with one kind of engine meets the targets at the load; the closest, on "
            f"{round(TOGETHER.accelerators)} accelerators, exceeds {text}."
        )
    assert separation_text(Separation(None, "the spec fixes it")).endswith("were not compared: the spec fixes it.")
    assert separation_text(Separation(None, "")) == ""


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (None, "not known"),
        (Term("a", 999.994, "1", "a"), "999.99 USD"),
        (Term("a", 1000.6, "1", "a"), "1,001 USD"),
        (Term("a", 50.0, "1", "a", low=40.004, high=2000.4), "40 – 2,000 USD"),
        (Term("a", 50.0, "1", "a", low=40.0), "50 USD"),
        (Term("a", 50.0, "1", "a", high=60.0), "50 USD"),
    ],
)
def test_an_amount_has_cents_below_a_thousand_and_its_range(term: Term | None, text: str) -> None:
    assert cost_text._amount_text(term, "USD") == text


def test_the_hours_of_a_simulated_day_stand_with_their_engines_and_rises() -> None:
    half, token = Percentiles(0.5, 1.0, 2.0), Percentiles(0.02, 0.03, 0.04)
    rise = SimulatedRise(90.0, 1234, 600.0, half, 0.5)
    busy = SimulatedHours(480, 1320, 12.3456, 2, 6, 64.0, 1000, half, token, half, 0.9123, rise)
    idle = SimulatedHours(1320, 480, 0.0, 0, 1, 8.0)
    text = lines(simulation_as_text(replace(SIMULATED, day=(busy, idle)), WIDE))
    start = text.index("hours requests/s engines first token p50 p99 per token p50 p99 within targets") + 1
    assert text[start : start + 3] == [
        "08:00 to 22:00 12.3 2 + 6 500 ms 2 s 20 ms 40 ms 91.2 %",
        "22:00 to 08:00 0 1",
        "from 08:00 engines are 90 s late: first token p50 500 ms, p99 2 s of 1,234 requests in 10 min, 50 % within the"
        " targets",
    ]
    bare = simulation_as_text(replace(SIMULATED, day=(busy._replace(rise=rise._replace(goodput=None)),)), WIDE)
    assert "requests in 10 min\n" in bare


def test_the_hours_of_a_day_stand_with_their_load_and_engines() -> None:
    """12.3456 of 49.3824 requests a second are a quarter of what the engines sustain."""
    busy = HourPlan(Hours(480, 1325, 12.3456), 2, 6, 1064.4, None, False, 49.3824, 1.5)
    idle = HourPlan(Hours(1325, 480, 0.5), 0, 1, 8.0, None, True, 0.0)
    late = "more than the engines serve within the targets"
    assert list(day_rows(DayPlan((busy, idle), 0.0, 0.0, 0.0, 0.0, ()))) == [
        ("08:00 to 22:05", "12.3", "2 + 6", "1,064", "25 %", "", "1.5 s", "", late),
        ("22:05 to 08:00", "0.5", "1", "8", "", "", "", "", ""),
    ]


def test_a_layout_on_fewer_nodes_says_what_it_saves_and_how_to_search_there() -> None:
    best = LayoutRow({"tp": 8}, 4.0, None, None, None, None, True)
    fewer = replace(best, layout={"tp": 2, "cp": 1, "pp": 4, "nodes": 1024}, step_time=3.0)
    report = SearchReport(TOOL, INPUT, "step_time", 1, 1, 0, (best,), (), None)
    begin, end = "with 1,024 nodes (`layout.nodes`) the best layout (tp 2, pp 4) takes 3 s a step", "searches there."
    search = "`--set layout.nodes=1024`"
    saved = f"Fewer nodes are faster: {begin}, 25 % less than layout 1. {search} {end}"
    assert _fewer_nodes_text(report, fewer) == saved
    assert _fewer_nodes_text(replace(report, unsure=True), fewer) == saved.replace(", 25 % less than layout 1", "")
    alone = f"Fewer nodes have a layout: {begin}. {search} {end}"
    assert _fewer_nodes_text(replace(report, layouts=()), fewer) == alone
    domain = _fewer_nodes_text(report, replace(fewer, layout={"nodes_per_domain": 16}))
    assert domain.startswith(
        "Fewer nodes are faster: with 16 nodes of each domain (`layout.nodes_per_domain`) the best"
    )
    assert "`--set layout.nodes_per_domain=16`" in domain


@pytest.mark.parametrize(
    ("repairs", "said"),
    [
        ({"node": 0, "NIC": 0}, "none"),
        ({"node": 2, "NIC": 0}, "2 × node, no others"),
        ({"node": 2, "NIC": 1}, "2 × node, 1 × NIC"),
    ],
)
def test_only_parts_that_wait_for_a_repair_are_listed(repairs: dict[str, int], said: str) -> None:
    found = list(result_sentences(replace(FAULTS, repairs=repairs)))
    assert f"Parts in repair at the same time (95th percentile): {said}." in found
