"""What a search, a sweep, a bill and a difference print about figures that are given by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from clusterspec import analysis
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.procurement.neighbor import Neighbor
from clusterspec.records import replace
from clusterspec.report import TextStyle, cost_text, diff_text, layout_tables, search_text, sweep_text
from clusterspec.report.paper.decision import failure_phrase, headroom_text
from clusterspec.results import Input, Tool
from clusterspec.results.decision import PRICE, Change, CostReport, DiffReport, Effect
from clusterspec.results.levers import SweepRow
from clusterspec.results.search import Comparison, Grid, GridCell, LayoutRow, SearchReport
from clusterspec.results.verdict import Area, Gate, GateStatus, Purchase
from clusterspec.source import Position, Span
from clusterspec.studies import study_text
from tests.cli.conftest import BASE
from tests.report.columns import crooked, lines
from tests.settings import SETTINGS

TOOL, READ, WIDE = Tool("1", "1"), Input("spec.yaml", b""), TextStyle(width=200)
FAST = LayoutRow({"tp": 2, "pp": 1}, 2.0, 1.8, 2.2, 0.4, 40e9, fits=True, cost=1_234_567.6, surely_fits=True)
SLOW = LayoutRow({"tp": 4}, 2.01, None, None, None, 90e9, fits=False, tied=True, findings=("few-spines",))
UNSURE = replace(SLOW, fits=True, surely_fits=False, memory=60e9, tied=False, findings=("few-spines", "tight-memory"))


def report(*rows: LayoutRow, **more: Any) -> SearchReport:
    made = SearchReport(TOOL, READ, "step_time", 1200, 3, 4, rows, (), None, may_fit=2)
    return replace(made, **more)


def flat(text: str) -> str:
    """A text without its line ends. Its columns are straight."""
    assert not crooked(text), (crooked(text), text)
    return " ".join(text.split())


def cells(text: str) -> list[list[str]]:
    return [line.split() for line in lines(text)]


@pytest.mark.parametrize(
    ("row", "told"),
    [(FAST, "40 GB"), (SLOW, "90 GB x"), (UNSURE, "60 GB ?"), (replace(FAST, memory=None), "?")],
)
def test_memory_is_marked_where_it_does_not_or_may_not_fit(row: LayoutRow, told: str) -> None:
    assert layout_tables.memory_text(row) == told


def test_marks_are_explained_where_they_stand() -> None:
    unsure, over = "? may not fit: the upper end of the memory range exceeds the memory.", "x does not fit in memory."
    assert search_text.memory_note((FAST,)) == ""
    assert search_text.memory_note((FAST, SLOW)) == over
    assert search_text.memory_note((UNSURE, SLOW)) == f"{unsure} {over}"


def test_a_table_of_layouts_has_a_column_for_each_key_that_one_has() -> None:
    head, first, second = cells(layout_tables.layouts_table((FAST, SLOW), WIDE, "USD"))[:3]
    assert head == ["tp", "pp", "step", "range", "MFU", "memory", "USD", "a", "run"]
    assert first == ["1", "2", "1", "2", "s", "1.8", "s", "–", "2.2", "s", "40", "%", "40", "GB", "1,234,568"]
    assert second == ["2=", "4", "2.01", "s", "?", "90", "GB", "x"]
    narrow = layout_tables.layouts_table((FAST, SLOW), TextStyle(width=50))
    assert "tp 2, pp 1" in flat(narrow)


def test_a_search_counts_what_it_looked_at_and_dropped() -> None:
    text = flat(search_text.search_as_text(report(FAST, refused_by={"few-spines": 1, "tight-memory": 3}), WIDE))
    assert "1,200 layouts evaluated: 3 fit at the upper end of their memory range, 2 more may fit." in text
    assert "4 layouts dropped for an error: tight-memory (3), few-spines (1)." in text
    assert "Best by step time" in text and "Pareto" not in text and "No layout" not in text


def test_the_first_refused_layout_is_told_where_none_is_shown() -> None:
    one = replace(SLOW, step_time=2.5, errors=("few-spines", "tight-memory"))
    none = replace(report(), why="rules find an error in every layout kept", first_refused=one)
    text = flat(search_text.search_as_text(none, WIDE))
    assert (
        f"The first of them, {layout_tables.layout_text(SLOW.layout)}, takes 2.5 s a step (few-spines, tight-memory)."
        in text
    )


def test_a_faster_layout_behind_the_first_is_explained() -> None:
    told = "layout 2 takes 50 % less time than layout 1"
    slow, fast = replace(SLOW, step_time=2.0), replace(FAST, step_time=1.0)
    assert told in flat(search_text.search_as_text(report(slow, fast), WIDE))
    assert told not in flat(search_text.search_as_text(report(slow, replace(fast, tied=True)), WIDE))
    assert "less time" not in flat(search_text.search_as_text(report(fast, slow), WIDE))
    between = [replace(slow, step_time=each, tied=each == 1.0) for each in (1.0, 3.0, 2.0)]
    behind = "more warnings of `check` are last, even if they are faster."
    assert behind in flat(search_text.search_as_text(report(*between), WIDE))
    near = [replace(slow, step_time=each, tied=each == 1.0) for each in (1.0, 3.0, 2.98)]
    assert "are last" not in flat(search_text.search_as_text(report(*near), WIDE)), "1 % apart: memory decides"
    decided = "Among layouts whose step times differ by at most 1 %, the one with less memory is first."
    later = [replace(slow, step_time=each, tied=False) for each in (1.0, 3.0, 2.98)]
    assert decided in flat(search_text.search_as_text(report(*later), WIDE)), "3.0 is 0.7 % above 2.98"
    for times in ((1.0, 2.98, 3.0), (1.0, 3.0, 2.9)):
        rows = [replace(slow, step_time=each, tied=False) for each in times]
        assert decided not in flat(search_text.search_as_text(report(*rows), WIDE)), times
    assert "are last" not in flat(
        search_text.search_as_text(report(*sorted(between, key=lambda row: row.step_time or 0)), WIDE)
    )


def test_a_search_without_a_layout_says_why_and_how_small_it_gets() -> None:
    text = search_text.search_as_text(report(why="nothing fits", smallest=SLOW), WIDE)
    assert "No layout found: nothing fits. The smallest takes 90 GB." in text and "Best by" not in text
    assert (
        search_text.search_as_text(report(why="add a model", incomplete=True), WIDE)
        == "Nothing to search: add a model.\n"
    )


def test_findings_are_told_once_and_further_ones_with_their_layouts() -> None:
    own = replace(FAST, findings=("few-spines",))
    assert search_text.findings_text((own, UNSURE, SLOW, UNSURE), "layout").splitlines() == [
        "`check` reports with layout 1: few-spines.",
        "With layouts 2, 4 also tight-memory.",
    ]
    both = replace(UNSURE, findings=("tight-memory", "partial-mesh-group", "low-scale-up-bandwidth"))
    assert search_text.findings_text((own, UNSURE, both, both), "plan").splitlines()[1:] == [
        "With plans 2–4 also tight-memory.",
        "With plans 3–4 also partial-mesh-group and low-scale-up-bandwidth.",
    ]
    assert search_text.findings_text((FAST, SLOW), "plan") == "`check` reports with plan 2: few-spines."
    assert search_text.findings_text((FAST, FAST), "plan") == ""


@pytest.mark.parametrize(
    ("seconds", "other", "told"),
    [
        (-0.5, "next", "Layout 1 against layout 2: a step 500 ms shorter (a −500 ms, b +100 ms), memory +1 GB."),
        (
            0.25,
            "spec",
            "Layout 1 against the layout of the spec: a step 250 ms longer (a −500 ms, b +100 ms), memory +1 GB.",
        ),
        (0.0, "next", "Layout 1 against layout 2: a step the same (a −500 ms, b +100 ms), memory +1 GB."),
    ],
)
def test_a_comparison_names_what_makes_the_difference(seconds: float, other: str, told: str) -> None:
    found = Comparison(other, seconds, 1e9, (("a", -0.5), ("b", 0.1)))
    assert search_text.comparison_text(found, "layout", "a step") == told


def test_a_comparison_of_many_parts_sums_the_small_ones() -> None:
    parts = tuple((name, seconds) for name, seconds in zip("abcdef", (0.5, 0.4, 0.3, 0.2, 0.02, 0.01), strict=True))
    assert ", d +200 ms, all others +30 ms)" in search_text.comparison_text(
        Comparison("next", 1, 0, parts), "plan", "a"
    )


@pytest.mark.parametrize(
    ("best", "present", "told"),
    [
        (FAST, replace(FAST, step_time=2.5), "takes 2.5 s a step; the best one saves 20 % of that."),
        (FAST, replace(FAST, step_time=1.5), "takes 1.5 s a step; the best one found takes 2 s."),
        (FAST, SLOW, "would take 2.01 s a step if it fitted; the best one that fits takes 2 s."),
        (
            FAST,
            replace(UNSURE, step_time=4.0),
            "takes 4 s a step and may not fit in memory; the best one saves 50 % of that.",
        ),
        (None, SLOW, "would take 2.01 s a step if it fitted."),
        (None, FAST, "takes 2 s a step."),
    ],
)
def test_the_layout_of_the_spec_is_set_against_the_best(best: LayoutRow | None, present: LayoutRow, told: str) -> None:
    text = search_text.search_as_text(report(*((best,) if best else ()), present=present), WIDE)
    assert flat(text).endswith(f"The layout of the spec {told}")


def test_a_faster_layout_than_the_best_one_is_printed_with_what_check_finds_only_in_it() -> None:
    """1.9 s are 5 % less than 2 s; few-spines is found with both."""
    best = replace(FAST, findings=("few-spines",))
    fast = replace(FAST, step_time=1.9, memory=80e9, findings=("few-spines", "tight-memory"))
    text = flat(search_text.search_as_text(replace(report(best, present=fast), pareto=(fast, best)), WIDE))
    assert (
        "The first layout of the front takes 5 % less time than the best one above, and has findings of `check` that "
        "the best one lacks: tight-memory."
    ) in text
    assert text.endswith("takes 1.9 s a step; the best one found takes 2 s, without tight-memory.")
    for other in (replace(fast, findings=best.findings), replace(fast, step_time=2.1)):
        told = flat(search_text.search_as_text(replace(report(best, present=FAST), pareto=(other, best)), WIDE))
        assert "first layout of the front" not in told and "without tight-memory" not in told


def test_a_grid_marks_what_is_illegal_does_not_fit_and_is_present() -> None:
    grid = Grid(
        ("tp", "pp"),
        (GridCell(1, 1, 2.0, None, True, True), GridCell(1, 2, 3.0, None, False), GridCell(2, 1, None, None, None)),
    )
    head, first, second, *_ = cells(layout_tables.heat_table(grid, WIDE))
    assert (head, first, second) == (["1", "2"], ["1", "2", "s", "*", "3", "s", "x"], ["2", "·", "·"])


def test_rows_of_a_search_are_told_in_si_units() -> None:
    (first, second) = csv.DictReader(io.StringIO(layout_tables.search_csv(report(FAST, SLOW))))
    assert (first["tp"], first["pp"], first["step_time"], first["low"], first["high"]) == (
        "2",
        "1",
        "2.0",
        "1.8",
        "2.2",
    )
    assert (first["mfu"], first["memory"], first["fits"], first["cost"]) == (
        "0.4",
        "40000000000.0",
        "True",
        "1234567.6",
    )
    assert (second["pp"], second["low"], second["mfu"], second["tied"], second["findings"]) == (
        "",
        "",
        "",
        "True",
        "few-spines",
    )


SERVED: dict[str, Any] = {
    "ttft": 0.5,
    "tpot": 0.02,
    "at_percentile": {"percentile": 95.0, "ttft": 0.8, "tpot": 0.03},
    "accelerators": 16.0,
    "concurrency": 1200.0,
    "idle": 0,
    "replicas": 2,
    "tokens_per_second_per_user": 50.0,
    "output_tokens_per_second": 8000.0,
    "output_tokens_per_second_per_accelerator": 500.0,
    "meets_targets": True,
}
PLAN = LayoutRow({"tp": 8}, None, None, None, None, 40e9, fits=True, cost=1.255, serving=SERVED)
APART = replace(
    PLAN,
    serving=SERVED | {"disaggregated": {"prefill": {"tp": 4, "replicas": 2}, "decode": {"attention_dp": 8, "ep": 8}}},
)


def test_engines_are_told_with_their_number_and_degrees() -> None:
    assert sweep_text.engines_text(PLAN) == "2 × tp 8"
    assert sweep_text.engines_text(APART) == "2 × tp 4 prefill + 1 × adp 8 ep 8 decode"
    assert sweep_text.engines_text(replace(PLAN, layout={})) == "2 × tp 1"


def test_a_plan_has_the_latencies_of_its_percentile_and_the_front_its_medians() -> None:
    head, row = cells(sweep_text.plans_table((PLAN,), WIDE, "USD"))[:2]
    assert " ".join(head) == "engines accelerators TTFT p95 TPOT p95 tok/s/user tok/s/acc memory USD per M tokens"
    assert " ".join(row) == "1 2 × tp 8 16 800 ms 30 ms 50 500 40 GB 1.25"
    head, row = cells(sweep_text.plans_table((replace(PLAN, cost=None),), WIDE, "", fronted=True))[:2]
    assert " ".join(head) == "engines in flight TTFT TPOT tok/s/user tok/s/acc"
    assert " ".join(row) == "1 2 × tp 8 1,200 500 ms 20 ms 50 500"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"accelerators": 32.0, "output_tokens_per_second_per_accelerator": 400.0},
            "uses 16 fewer accelerators and generates 25 % more tokens per accelerator",
        ),
        (
            {"accelerators": 8.0, "output_tokens_per_second_per_accelerator": 1000.0},
            "uses 8 more accelerators and generates 50 % fewer tokens per accelerator",
        ),
    ],
)
def test_the_plan_of_the_spec_is_set_against_the_best(change: dict[str, float], told: str) -> None:
    other = replace(PLAN, serving=SERVED | change | {"meets_targets": False}, fits=False)
    text = sweep_text.serving_search_as_text(
        report(PLAN, objective="accelerators", present=other), TextStyle(width=400)
    )
    number = f"{change['accelerators']:.0f}"
    assert flat(text).endswith(
        f"The plan of the spec gives 8,000 output tokens per second on {number} accelerators and does not fit in "
        f"memory and misses its targets; the best one {told}."
    )
    same = sweep_text.serving_search_as_text(report(PLAN, objective="accelerators", present=PLAN), TextStyle(width=400))
    assert flat(same).endswith("on 16 accelerators; it is the best one found.")


def test_idle_accelerators_are_noted_and_the_nearest_plan_is_named() -> None:
    idle = replace(PLAN, serving=SERVED | {"idle": 2})
    counted = "throughput counts the accelerators in use, the cost of tokens all accelerators of the job."
    text = flat(sweep_text.serving_search_as_text(report(idle, objective="cost"), WIDE))
    assert f"leave accelerators of a node idle; {counted}" in text
    fewer = replace(PLAN, serving=SERVED | {"accelerators": SERVED["accelerators"] - 8})
    text = flat(sweep_text.serving_search_as_text(report(PLAN, fewer, objective="cost"), WIDE))
    assert f"Some plans leave accelerators idle; {counted}" in text
    free = [replace(one, cost=None) for one in (PLAN, fewer)]
    assert "idle" not in sweep_text.serving_search_as_text(report(*free, objective="cost"), WIDE)
    assert "idle" not in sweep_text.serving_search_as_text(report(PLAN, objective="cost"), WIDE)
    text = sweep_text.serving_search_as_text(report(why="none is fast enough", smallest=PLAN), WIDE)
    assert "The nearest, 2 × tp 8, reaches a TTFT p95 of 800 ms and a TPOT p95 of 30 ms." in flat(text)


def test_a_sweep_has_a_row_for_each_point() -> None:
    rows = [
        SweepRow({"cluster.nodes": 4}, 2.0, 0.4, 40e9, 1234.4, {"tp": 2}, fits=True),
        SweepRow({"cluster.nodes": 8}, why="no layout"),
    ]
    head, first, second = cells(sweep_text.sweep_as_text(rows, WIDE))
    assert head == ["nodes", "step", "MFU", "memory", "fits", "cost", "layout"]
    assert first == ["4", "2", "s", "40", "%", "40", "GB", "yes", "1,234", "tp", "2"]
    assert second == ["8", "no", "layout"]
    told = list(csv.DictReader(io.StringIO(sweep_text.sweep_csv(rows))))
    assert [row["cluster.nodes"] for row in told] == ["4", "8"]
    assert (told[0]["step_time"], told[0]["layout"], told[1]["cost"], told[1]["why"]) == (
        "2.0",
        "tp 2",
        "",
        "no layout",
    )
    served = [SweepRow({"nodes": 1}, serving=SERVED, cost=0.126, layout={"tp": 8}, fits=False)]
    head, row = cells(sweep_text.sweep_as_text(served, WIDE))
    assert " ".join(head) == "nodes TTFT TPOT tok/s tok/s/acc accelerators memory fits per M tokens layout"
    assert " ".join(row) == "1 500 ms 20 ms 8,000 500 16 no 0.13 tp 8"


FOUND = Finding(
    *("few-spines", Severity.WARNING, Confidence.LIKELY, "too few", "add one"),
    Span("spec.yaml", Position(3, 1), Position(3, 5)),
    ("cluster",),
)


@pytest.mark.parametrize(
    ("effect", "number", "told"),
    [
        (Effect("step time", "s", 2.0, 1.0), 2.0, "2 s"),
        (Effect("MFU", "share", 0.4, 0.5), 0.4, "40 %"),
        (Effect(PRICE, "USD", 1.0, 2.0), 1_234_567.6, "1,234,568 USD"),
        (Effect(PRICE, "", 1.0, 2.0), 1_234.4, "1,234"),
        (Effect("switches", "1", 8, 12), 12.0, "12"),
        (Effect("cost per run", "USD", 1.0, 2.0), 9_999.4, "9,999"),
        (Effect("cost per run", "USD", 1.0, 2.0), 10_000.4, "10,000"),
        (Effect("step time", "s", None, 2.0), None, "not known"),
        (Effect("oversubscription", "", 1.0, 7.0), 7.0, "7:1"),
    ],
)
def test_a_figure_of_a_difference_has_its_unit(effect: Effect, number: float | None, told: str) -> None:
    assert diff_text.effect_figure(effect, number) == told


@pytest.mark.parametrize(
    ("old", "new", "within", "told"),
    [
        (2.0, 3.0, False, "+50 %"),
        (2.0, 1.0, None, "−50 %"),
        (2.0, 2.1, True, "+5 % ≈"),
        (2.0, 19.98, None, "+899 %"),
        (2.0, 20.0, None, "× 10"),
        (124.0, 3072.0, None, "× 24.8"),
        (0.0, 1.0, False, ""),
        (None, 1.0, None, ""),
        (1.0, None, None, ""),
    ],
)
def test_a_change_has_its_sign_and_whether_it_is_significant(
    old: float | None, new: float | None, within: bool | None, told: str
) -> None:
    assert diff_text.relative_change_text(Effect("step time", "s", old, new, within)) == told


def test_a_difference_lists_keys_figures_and_findings() -> None:
    effects = (Effect("step time", "s", 2.0, 1.0, within_band=False),)
    error = replace(FOUND, rule="no-spines", severity=Severity.ERROR)
    whole = DiffReport(
        TOOL, READ, READ, (Change(("layout", "tp"), None, 4),), effects, (FOUND, error), (FOUND,), (), "why"
    )
    text, page = diff_text.diff_as_text(whole, WIDE), diff_text.diff_as_markdown(whole)
    assert ["layout.tp", "absent", "4"] in cells(text) and ["step", "time", "2", "s", "1", "s", "−50", "%"] in cells(
        text
    )
    assert text.index("new error[no-spines]") < text.index("new warning[few-spines]") < text.index("fixed warning")
    assert (
        "\nwhy\n" in text and "| step time | 2 s | 1 s | −50 % |" in page and "| fixed | warning | few-spines |" in page
    )
    nothing = diff_text.diff_as_text(DiffReport(TOOL, READ, READ, (), (), (), ()), WIDE)
    assert "No key differs." in nothing and "No figure changes." in nothing


@pytest.mark.parametrize(
    ("within", "told"),
    [((False, False), False), ((True, False), True), ((None, True), True), ((True, True), True), ((), False)],
)
def test_a_difference_says_what_its_sign_of_uncertainty_means_where_a_figure_has_it(
    within: tuple[bool | None, ...], told: bool
) -> None:
    effects = tuple(Effect(f"figure {number}", "s", 2.0, 2.1, each) for number, each in enumerate(within))
    report = DiffReport(TOOL, READ, READ, (), effects, (), ())
    for written in (diff_text.diff_as_text(report, WIDE), diff_text.diff_as_markdown(report)):
        assert ("within the uncertainty of the model" in written) is told


@pytest.mark.parametrize(("length", "shown"), [(60, "x" * 60), (61, "x" * 59 + "…")])
def test_a_long_value_is_cut(length: int, shown: str) -> None:
    assert diff_text.shown_value("x" * length) == shown


PRICES = "procurement: {currency: USD, as_of: 2026-11-01, prices: {node: [300000, 320000]}}\n"
TERM = PRICES.replace("prices:", "term: 2 years, electricity: 0.10 USD/kWh, prices:").replace(
    "electricity: 0.10 USD/kWh, ", ""
)


def test_a_bill_with_prices_has_its_sum_and_names_what_has_none() -> None:
    priced = analysis.bill(study_text(BASE + PRICES, SETTINGS))
    rows = cells(cost_text.bill_text(priced, TextStyle(width=240)))
    (nodes,) = (
        row for row in rows if "300,000–320,000" in " ".join(row) or ("1,200,000" in " ".join(row) and "node" in row)
    )
    assert "4" in nodes
    told = list(csv.DictReader(io.StringIO(cost_text.bill_csv(priced))))
    assert told[-1]["kind"] == "partial_sum" and {row["kind"] for row in told[:-1]} >= {"node"}
    plain = analysis.bill(study_text(BASE, SETTINGS))
    assert "price" not in cells(cost_text.bill_text(plain, TextStyle(width=240)))[0]
    assert "total" not in {row["kind"] for row in csv.DictReader(io.StringIO(cost_text.bill_csv(plain)))}


def test_a_cost_over_two_years_has_parts_shares_and_years() -> None:
    report = analysis.cost(study_text(BASE + TERM, SETTINGS))
    assert report.cost is not None and report.cost.total is not None
    text = cost_text.cost_text(report, TextStyle(width=240))
    assert "over 2 years, prices of 2026-11-01" in text and "Not counted" in text and "By year" in text
    told = list(csv.DictReader(io.StringIO(cost_text.cost_csv(report))))
    assert {row["year"] for row in told} >= {"", "1", "2"} and {row["currency"] for row in told} == {"USD"}
    total = next(row for row in told if row["part"] == "total" and not row["year"])
    assert float(total["low"]) == 4 * 300_000 and float(total["high"]) == 4 * 320_000
    bought = cost_text.cost_text(analysis.cost(study_text(BASE + PRICES, SETTINGS)), TextStyle(width=240))
    assert (
        "purchase only" in bought and "For running costs add `procurement.term`" in bought and "By year" not in bought
    )
    assert "reports the reason" in cost_text.cost_text(CostReport(TOOL, READ, None))


def test_a_smaller_neighbor_is_told_with_what_it_saves() -> None:
    report = analysis.cost(study_text(BASE + PRICES, SETTINGS))
    smaller = Neighbor(28, 4, saved=1_320_000.0, saved_on_fabric=120_000.4, tiers=(2, 3), switches=(12, 20))
    text = cost_text.cost_text(replace(report, neighbor=smaller), TextStyle(width=400))
    assert (
        "4 nodes fewer (28) take 12 switches instead of 20, 2 tiers instead of 3: "
        "120,000 USD less for the fabric, 1,320,000 USD less in all."
    ) in flat(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("late", "late"),
        (f"one; {'two ' * 9}", f"one; {'two ' * 9}"),
        (f"one: two; {'three ' * 30}", "one: two (all reasons below)"),
        ("w" * 200, "w" * 200),
    ],
)
def test_the_first_sentence_has_the_first_of_many_reasons_against_a_purchase(text: str, said: str) -> None:
    gate = Gate("design", GateStatus.FAILED, text, "")
    assert failure_phrase(gate, Purchase(None, "", None, (gate,))) == said


def test_a_difference_is_colored_by_what_is_better_beyond_the_ranges() -> None:
    effects = (
        Effect("step time", "s", 2.0, 2.5),
        Effect("MFU", "share", 0.4, 0.5),
        Effect("node count", "", 4, 8),
        Effect("energy per token", "J", 1.0, 1.1, within_band=True),
        Effect(PRICE, "USD", 2e6, 1e6),
    )
    made = diff_text.diff_as_text(
        DiffReport(TOOL, READ, READ, (), effects, (FOUND,), (FOUND,)), TextStyle(on=True, width=200)
    )
    rows = made.splitlines()[5:10]
    colors = ["red" if "\x1b[1;31m+" in row else "green" if "\x1b[32m" in row else "" for row in rows]
    assert colors == ["red", "green", "", "", "green"]
    assert "\x1b[1;33mnew warning[" in made and "\x1b[32mfixed warning[" in made


@pytest.mark.parametrize(("headroom", "text"), [
    (None, "–"), (0.25, "25 %"), (0.0, "0 %"), (-0.5, "−50 %"), (-1.0, "−100 %"), (-1.5, "2.5 × the limit"),
])  # fmt: skip
def test_a_margin_is_a_share_up_to_twice_the_limit_and_a_multiple_above(headroom: float | None, text: str) -> None:
    assert headroom_text(Area("power", "rack", 1.0, 1.0, "W", headroom, "good")) == text


def test_a_point_without_a_plan_keeps_the_columns_of_the_others() -> None:
    """Of two points one has no engines that fit: its cells are empty, and the table is still one of serving."""
    found = SweepRow({"cluster.nodes": 2}, serving=SERVED, memory=40e9, fits=True, layout={"tp": 8})
    without = SweepRow({"cluster.nodes": 1}, why="no plan fits")
    for rows in ([found, without], [without, found]):
        head, *lines = cells(sweep_text.sweep_as_text(rows, WIDE))
        assert {"TTFT", "TPOT", "tok/s", "accelerators"} <= {*head} and "MFU" not in head
        (row,) = [line for line in lines if line[:1] == ["1"]]
        assert " ".join(row) == "1 no plan fits"
    assert "TTFT" not in sweep_text.sweep_as_text([without], WIDE)
