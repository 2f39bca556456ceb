"""Differences of fleets and of repositories as text, from figures that are given by hand."""

from __future__ import annotations

import csv
import io

from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.records import replace
from clusterspec.report import TextStyle, fleet_costs, fleet_diff_text, fleet_text, project_text
from clusterspec.report.fleet_search_text import fleet_search_text
from clusterspec.report.paper.blocks import Cards, PaperTable, Picture
from clusterspec.report.paper.fleet import composed_fleet
from clusterspec.results import Input, Tool
from clusterspec.results.decision import PRICE, Change, DiffReport, Effect, ProjectDiffReport, SpecDiff
from clusterspec.results.fleet import FleetDiffReport, JobUse, PoolUse
from clusterspec.results.fleet_search import Assignment, FleetSearchReport, JobOption
from clusterspec.source import Position, Span
from clusterspec.studies import study_text
from clusterspec.units import display, percent
from tests.analysis.test_fleets import HOURS
from tests.analysis.test_fleets import report as two_pools
from tests.report.columns import lines
from tests.settings import SETTINGS

TOOL, READ, WIDE = Tool("1", "1"), Input("spec.yaml", b""), TextStyle(width=240)
SPAN = Span("spec.yaml", Position(3, 1), Position(3, 2))
FEW = Finding("few-spines", Severity.WARNING, Confidence.LIKELY, "few spines", "h", SPAN, ("cluster",))
FULL = replace(FEW, rule="memory-exceeded", severity=Severity.ERROR, message="too much")
NOTHING = DiffReport(TOOL, READ, READ, (), (), (), ())
SLOWER = replace(NOTHING, changes=(Change(("layout", "tp"), 2, 4),), effects=(Effect("step time", "s", 2.0, 2.5),))

POOL = PoolUse(16, 12, 4, 0.75, 160e3, 5e6, "USD")
JOB = JobUse("a", 8, 0.5, 3600.0, 1e6)
FLEET_DIFF = FleetDiffReport(
    *(TOOL, READ, READ, {"same": NOTHING, "slower": replace(SLOWER, found=(FEW,))}, ("new",), ("old",)),
    old_pools={"a": POOL, "gone": POOL},
    new_pools={"a": replace(POOL, nodes=20, power=200e3), "b": POOL},
    found=(FEW, FULL),
    old_jobs={"same": JOB, "slower": JOB, "old": JOB},
    new_jobs={
        "same": JOB,
        "slower": replace(JOB, pool=None, nodes=None, share=1.0, elapsed=None, billed=None),
        "new": JOB,
    },
)


def test_a_fleet_shows_what_moved_of_its_pools_and_jobs() -> None:
    report = FLEET_DIFF
    found = lines(fleet_diff_text.fleet_diff_text(report, WIDE))
    rows = {line.split()[0]: line for line in found}
    assert "16 -> 20" in rows["a"] and "160 kW -> 200 kW" in rows["a"]
    assert "– -> 16" in rows["b"] and "16 -> –" in rows["gone"]
    assert "same a 8 50 % 1 h 1,000,000" in found
    assert "slower a -> – 8 -> – 50 % -> 100 % 1 h -> – 1,000,000 -> –" in found
    assert [line for line in found if line.startswith("Jobs")] == [
        *("Jobs added: new", "Jobs removed: old", "Jobs without a difference: same")
    ]
    told = [line for line in found if "too much" in line or "few spines" in line]
    assert len([line for line in told if "too much" in line]) == 1
    assert len([line for line in told if "few spines" in line]) == 1, "what is of a job is told with it alone"
    page = fleet_diff_text.fleet_diff_text(report, markdown=True)
    assert "## slower" in page and "## same" not in page and "| a |" in page and "- new" in page
    alone = replace(report, jobs={}, added=(), removed=(), found=(), old_jobs={}, new_jobs={})
    assert not any("Jobs" in line for line in lines(fleet_diff_text.fleet_diff_text(alone, WIDE)))


def test_a_repository_counts_its_specs_findings_and_sums() -> None:
    dear = replace(SLOWER, effects=(*SLOWER.effects, Effect(PRICE, "USD", 1e6, 2e6)), found=(FEW, FULL), fixed=(FEW,))
    specs = (
        SpecDiff("a.yaml", "changed", dear),
        SpecDiff("b<.yaml", "changed", replace(NOTHING, effects=(Effect(PRICE, "USD", 1e6, 1e6),), found=(FULL,))),
        SpecDiff("c.yaml", "added", None, (FEW,), (Effect(PRICE, "USD", None, 3e6), Effect("MFU", "share", None, 0.5))),
        SpecDiff("d.yaml", "removed", None, figures=(Effect(PRICE, "USD", 5e5, None),)),
        SpecDiff("g.yaml", "changed", replace(NOTHING, effects=(Effect(PRICE, "EUR", 1e6, 2e6),))),
    )
    report = ProjectDiffReport(TOOL, "main", "branch", specs, ("e.yaml",))
    found = lines(project_text.project_as_text(report, WIDE))
    assert found[0] == "main -> branch: 6 specs changed"
    rows = {line.split()[0]: line for line in found[1:7]}
    assert "2 s to 2.5 s (+25 %)" in rows["a.yaml"] and rows["a.yaml"].endswith("2, 1 error 1")
    assert rows["b<.yaml"].endswith("1 error") and rows["c.yaml"] == "c.yaml added 50 % 3,000,000 USD 1"
    assert rows["d.yaml"] == "d.yaml removed 500,000 USD"
    (total,) = (line for line in found if line.startswith(f"{PRICE}, sum of"))
    assert total == f"{PRICE}, sum of 4 specs: 2,500,000 USD to 6,000,000 USD (+140 %)"
    assert "not compared, since 5 are: e.yaml" in found
    assert "MFU 50 %" in found[found.index("c.yaml, added") :]
    assert any("few spines" in line for line in found)
    page = project_text.project_as_markdown(report)
    assert "<summary>a.yaml</summary>" in page and "<summary>b&lt;.yaml</summary>" in page
    assert "<summary>c.yaml</summary>" in page and "<summary>d.yaml</summary>" not in page
    assert "time per output token" not in page, "no spec serves"
    later = replace(NOTHING, effects=(Effect("time per output token", "s", 0.02, 0.03),))
    both = replace(report, specs=(*specs, SpecDiff("f.yaml", "changed", later)))
    assert "| time per output token |" in project_text.project_as_markdown(both)
    assert "20 ms to 30 ms (+50 %)" in project_text.project_as_text(both, WIDE)
    of_fleet = SpecDiff("fleet.yaml", "changed", None, fleet=FLEET_DIFF)
    for text in (project_text.project_as_text, project_text.project_as_markdown):
        assert "Jobs added: new" in text(replace(report, specs=(of_fleet,)))
    empty = ProjectDiffReport(TOOL, "main", "branch", ())
    assert project_text.project_as_text(empty, WIDE) == "main -> branch: no spec changed\n"


FLEET = """clusterspec: 1
name: two
pools:
  big: {platform: dgx-b200, nodes: 16}
  small: {platform: dgx-h200, nodes: 4}
jobs:
  first: {pool: big, nodes: 8, WORK}
  second: {pool: big, nodes: 6, share: 0.5, WORK}
""".replace(
    "WORK",
    "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1T},"
    " layout: {framework: megatron-core, tp: 2}",
)


def test_the_pages_of_a_fleet_have_the_nodes_of_each_job_and_those_without_one() -> None:
    """16 nodes: eight of a job, six of one for half of the term, which are three, and five; four of the other pool."""
    report = fleet_report(study_text(FLEET, SETTINGS, "fleet.yaml"), "cost")
    paper = composed_fleet(report)
    (cards, *pictures) = paper.sections[0].blocks
    assert isinstance(cards, Cards)
    assert next((card.label, card.value, card.note) for card in cards.cards) == ("Nodes", "20", "6 without a job")
    drawn = [picture.svg for picture in pictures if isinstance(picture, Picture)]
    for told in (">first: 8 nodes<", ">second 50 %: 6 nodes<", ">2 nodes without a job<", ">4 nodes without a job<"):
        assert told in drawn[0], told
    for told in ("first 8", "second 3", "without a job 5", "without a job 4"):
        assert told in drawn[1], told


def test_a_fleet_names_the_model_and_the_layout_of_each_job() -> None:
    """Of the jobs, those that are estimated show the model and the degrees of all axes."""
    paper = composed_fleet(fleet_report(study_text(FLEET, SETTINGS, "fleet.yaml"), "cost"))
    (jobs,) = (section for section in paper.sections if section.key == "jobs")
    table = jobs.blocks[0]
    assert isinstance(table, PaperTable)
    told = {row.cells[0]: row.cells[1:] for row in table.rows}
    assert told["first"][:2] == ("Llama 3.1 8B", "train")
    assert told["first"][2] == "tp 2 × cp 1 × pp 1 × dp 32; zero1", "one stage has no schedule"


def test_the_verdict_on_a_fleet_says_how_many_parts_its_costs_omit() -> None:
    """Nodes with a price alone leave the network and the operation out; without any price there is no sum."""
    unpriced = composed_fleet(fleet_report(study_text(FLEET, SETTINGS, "fleet.yaml"), "bom"))
    assert unpriced.verdict_block.partial == ""
    priced = FLEET + "procurement: {currency: USD, as_of: 2026-11-01, term: 4 y, prices: {node: 300000}}\n"
    report = fleet_report(study_text(priced, SETTINGS, "fleet.yaml"), "bom")
    omitted = {part for use in report.pools.values() for part in use.missing}
    assert len(omitted) > 1
    told = composed_fleet(report).verdict_block.partial
    assert told == f"the cost is a partial sum: {len(omitted)} parts not counted"


def test_a_pool_without_a_known_power_is_named_with_the_key_that_states_it() -> None:
    """TPU v5p has no published power; with 4 kW a node the pool draws 64 times that."""
    unknown = FLEET.replace("{platform: dgx-h200, nodes: 4}", "{platform: tpu-v5p, nodes: 64}")
    report = fleet_report(study_text(unknown, SETTINGS, "fleet.yaml"), "estimate")
    told = fleet_text.power_gap_text(report)
    assert told.startswith("The power of pool small is not known") and "`power.node`" in told
    assert told in " ".join(fleet_text.fleet_text(report, WIDE).split())
    stated = unknown.replace("nodes: 64}", "nodes: 64, power: {node: 4 kW}}")
    report = fleet_report(study_text(stated, SETTINGS, "fleet.yaml"), "estimate")
    assert report.pools["small"].power == 64 * 4e3
    assert fleet_text.power_gap_text(report) == ""


SHARED_SUPPORT = """
clusterspec: 1
name: two pools
pools: {a: {platform: dgx-h100, nodes: 16}, b: {platform: dgx-h200, nodes: 8}}
jobs: {}
procurement: {currency: USD, as_of: 2026-11-01, term: 3 years, prices: {node: 300000, support_per_year: 400000}}
"""


def test_support_of_all_pools_is_told_to_count_in_each() -> None:
    told = "`support_per_year` counts once for each of 2 pools; a pool may state its own under `prices`."
    report = fleet_report(study_text(SHARED_SUPPORT, SETTINGS), "cost")
    assert [report.pools[name].parts["support"] for name in "ab"] == [3 * 400e3, 3 * 400e3]
    assert told in lines(fleet_text.fleet_cost_text(report, WIDE))
    alone = fleet_report(
        study_text(SHARED_SUPPORT.replace(", b: {platform: dgx-h200, nodes: 8}", ""), SETTINGS), "cost"
    )
    assert told not in fleet_text.fleet_cost_text(alone, WIDE)


def test_the_table_of_jobs_has_the_figures_of_their_estimates_and_their_bills() -> None:
    """Eight nodes of 100 USD an hour for the term, four for half of it, and four that serve."""
    report = two_pools()
    rows = {row["job"]: row for row in csv.DictReader(io.StringIO(fleet_text.fleet_csv(report)))}
    assert [(row["pool"], row["nodes"], row["share"]) for row in rows.values()] == [
        ("train", "8", "1.0"),
        ("train", "4", "0.5"),
        ("serve", "4", "1.0"),
    ]
    for name, nodes, kind in (("a", 8, "run"), ("b", 2, "run"), ("c", 4, "million tokens")):
        row, plan, use = rows[name], report.estimates[name].plan, report.jobs[name]
        assert plan.serving is None or (row["ttft"], row["tpot"]) == (str(plan.serving.ttft), str(plan.serving.tpot))
        assert (row["step_time"], row["mfu"]) == tuple(str(each or "") for each in (plan.step_seconds, plan.mfu))
        assert (row["memory"], row["elapsed"]) == (str(plan.memory_bytes), str(use.elapsed or ""))
        assert float(row["billed"]) == nodes * 100 * HOURS
        billed, unit = fleet_costs._money_cells(report, name, use)
        assert billed == f"{nodes * 100 * HOURS:,} USD" and unit == f"{use.unit_cost:,.2f} USD a {kind}"
        more = fleet_costs._money_cells(report, name, replace(use, unit_cost=1234.5))
        assert more[1] == f"1,234 USD a {kind}"
        assert fleet_costs._money_cells(report, name, replace(use, unit_cost=None, billed=None)) == ("–", "–")


def test_the_row_of_a_job_has_the_figures_of_its_own_estimate() -> None:
    report = two_pools()
    for name, use in report.jobs.items():
        plan = report.estimates[name].plan
        row = fleet_text._job_row(report, name)
        assert row[:4] == (name, use.pool, str(use.nodes), percent(use.share))
        times = (
            display(plan.step_time.value, "s")
            if plan.step_time
            else f"{display(plan.serving.ttft, 's')} / {display(plan.serving.tpot, 's')}"
            if plan.serving
            else "–"
        )
        assert row[4:6] == (times, percent(plan.mfu) if plan.mfu else "–"), name
        assert row[6].startswith(display(plan.memory_bytes or 0.0, "B")), name
    unknown = replace(report, estimates={})
    assert fleet_text._job_row(unknown, "a")[4:] == ("–",) * 4


def test_a_spec_as_good_as_the_best_assignment_is_told_so() -> None:
    """100 s against 100 s, and 80 s, which saves 20 %."""

    def told(best: float) -> str:
        present, found = (Assignment({"a": JobOption("a", "p", 2, elapsed=time)}, time, 0.0) for time in (100.0, best))
        report = FleetSearchReport(TOOL, READ, "x", "time", "s", (found,), present, ())
        return " ".join(fleet_search_text(report, WIDE).split())

    assert "100 s; no assignment is better." in told(100.0)
    assert "100 s; the best one saves 20 %." in told(80.0)
