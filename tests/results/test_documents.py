"""The JSON documents of results: what a reader finds in each field, and what a field without a value holds."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from clusterspec import analysis
from clusterspec.catalog import Catalog
from clusterspec.document.waivers import WaivedFinding, Waiver
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.records import replace
from clusterspec.results import EstimateReport, Input, Tool
from clusterspec.results.decision import DiffReport
from clusterspec.results.estimate_json import Provenance
from clusterspec.results.faults import FaultsReport
from clusterspec.results.fleet import FleetDiffReport, FleetReport, PoolUse
from clusterspec.results.fleet_search import Assignment, FleetSearchReport, JobOption
from clusterspec.results.full import FullReport
from clusterspec.results.levers import SensitivityReport, SolveReport
from clusterspec.results.machine_search import MachineRow, MachinesReport
from clusterspec.results.serving_json import serving_json
from clusterspec.results.simulation import Percentiles, SimulatedHours, SimulatedTarget, SimulationReport
from clusterspec.results.survival import Curve, Survival
from clusterspec.results.verdict import Gate, GateStatus, Purchase, Verdict, VerdictStatus
from clusterspec.source import Cited, Position, Span, Written
from clusterspec.studies import study_text
from tests.cli.conftest import BASE
from tests.settings import SETTINGS, TODAY

TOOL, READ = Tool("1.2", "2026.1"), Input("folder/spec.yaml", b"clusterspec: 1\n")
PRICED = "procurement: {currency: USD, term: 4 years, prices: {node: 300000}}\n"
SERVING = BASE.partition("workload:")[0] + (
    "workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1024,"
    " output_tokens: 256, concurrency: 8, targets: {ttft: 1 us, tpot: 10 s, percentile: 90}}}\nlayout: {tp: 8}\n"
)


def finding(severity: Severity = Severity.WARNING) -> Finding:
    at, other = (Span(f"folder/{name}.yaml", Position(3, 10), Position(3, 12)) for name in ("spec", "parts"))
    return Finding("few-spines", severity, Confidence.LIKELY, "m", "h", at, ("cluster",), related=((other, "see"),))


def document_of(result: Any) -> dict[str, Any]:
    return dict(result.to_json())


ROW = MachineRow("a.yaml", 4, "fat-tree", {})


@pytest.mark.parametrize(
    ("result", "key", "given", "value"),
    [
        (DiffReport(TOOL, READ, READ, (), (), (), ()), "caution", "caution", "not comparable"),
        (SolveReport(TOOL, READ, "nodes", "1", "fits", 4.0), "why", "why", "no layout"),
        (SensitivityReport(TOOL, READ, 1.0, None, None, ()), "why", "why", "no layout"),
        (SensitivityReport(TOOL, READ, 1.0, None, None, ()), "currency", "currency", "USD"),
        (ROW, "why", "why", "no layout"),
        (ROW, "layout", "layout", {"tp": 8}),
        (MachinesReport(TOOL, READ, "a", (), (), {}, ()), "currency", "currency", "USD"),
        (FleetSearchReport(TOOL, READ, "a", "time", "s", (), None, ()), "currency", "currency", "USD"),
        (FleetSearchReport(TOOL, READ, "a", "time", "s", (), None, ()), "why", "why", "no assignment"),
        (MachinesReport(TOOL, READ, "a", (), (), {}, ()), "cheapest", "best", {"cheapest": ROW}),
        (Purchase(None, "", None, ()), "basis", "basis", "the quote"),
        (FaultsReport(TOOL, READ, (), 2.0, None, "", None, {}, ()), "currency", "currency", "USD"),
        (SimulatedHours(0, 60, 1.0, 0, 4, 32.0), "prefill_replicas", "prefill", 2),
        (SimulatedHours(0, 60, 1.0, 0, 4, 32.0), "ttft", "ttft", Percentiles(1.0, 2.0, 3.0)),
    ],
)
def test_a_field_without_a_value_is_null_and_one_with_a_value_has_it(
    result: Any, key: str, given: str, value: object
) -> None:
    assert document_of(result)[key] is None
    named_tuple = isinstance(result, SimulatedHours)
    held = result._replace(**{given: value}) if named_tuple else replace(result, **{given: value})
    wanted = ROW if isinstance(value, dict) and given == "best" else value
    assert document_of(held)[key] == (wanted.to_json() if isinstance(wanted, Percentiles | MachineRow) else wanted)


def test_output_tokens_have_a_price_in_serving_alone() -> None:
    train, serve = (analysis.cost(study_text(text + PRICED, SETTINGS)).to_json() for text in (BASE, SERVING))
    assert train["per_million_tokens"] and train["per_million_output_tokens"] is None
    assert serve["per_million_output_tokens"] == serve["per_million_tokens"] > 0


def test_a_target_of_serving_is_met_where_its_value_is_below() -> None:
    plan = study_text(SERVING, SETTINGS).plan
    assert plan.design.workload is not None
    made = serving_json(plan.serving, plan.design.workload.serving)
    assert made is not None
    assert {each["quantity"]: each["met"] for each in made["targets"]} == {"ttft": False, "tpot": True}
    assert made["at_percentile"]["percentile"] == 90 and made["at_percentile"]["ttft"] > made["ttft"]
    median = study_text(SERVING.replace("percentile: 90", "percentile: 50"), SETTINGS).plan
    assert median.design.workload is not None
    at_median = serving_json(median.serving, median.design.workload.serving)
    assert at_median is not None and at_median["at_percentile"] is None
    assert serving_json(plan.serving, None) is None and serving_json(None, plan.design.workload.serving) is None


CATALOG = Catalog.open()


@pytest.mark.parametrize(
    ("origin", "catalog", "told"),
    [
        (Cited("accelerator/h100-sxm-80gb", "memory", "entry"), CATALOG, True),
        (Cited("accelerator/h100-sxm-80gb", "memory", "entry", url="https://stated"), CATALOG, False),
        (Cited("accelerator/h100-sxm-80gb", "memory", "entry"), None, False),
        (Cited("accelerator/h100-sxm-80gb", "no_such_fact", "entry"), CATALOG, False),
        (Cited("accelerator/no-such-entry", "memory", "entry"), CATALOG, False),
    ],
)
def test_a_citation_is_told_with_the_document_that_the_catalog_names(
    origin: Cited, catalog: Catalog | None, told: bool
) -> None:
    found = Provenance(catalog=catalog).resolved_origin(origin)
    if not told:
        assert found == origin
    else:
        assert isinstance(found, Cited) and found.url.startswith("https://") and found.source != "entry"


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("layout.tp", "{}:11: tp: 2"),
        ("workload.model.layers", "{}:7: model: llama-3.1-8b"),  # of the catalog model that this line names
        ("operations.mtbf", "spec: operations.mtbf"),
    ],
)
def test_a_written_figure_is_told_with_the_line_that_states_it(key: str, told: str) -> None:
    document = study_text(BASE, SETTINGS).document
    assert document is not None
    assert Provenance(document).text(Written(key)) == told.format(document.source.name)
    assert Provenance().text(Written(key)) == str(Written(key))


def verdict_of(findings: tuple[Finding, ...], *statuses: VerdictStatus) -> Verdict:
    estimate = analysis.estimate(study_text(BASE, SETTINGS))
    estimates = {
        f"job{at}": replace(estimate, verdict=Verdict(status, (f"reason {at}",), ("memory",)))
        for at, status in enumerate(statuses)
    }
    return FleetReport(TOOL, READ, "f", {}, {}, {}, {}, estimates, {}, findings).verdict


def test_a_fleet_is_as_good_as_its_worst_job_and_fails_by_one_error() -> None:
    clear, reserved, fails = VerdictStatus.CLEAR, VerdictStatus.RESERVATIONS, VerdictStatus.FAILS
    assert verdict_of((), clear, clear).status is clear
    mixed = verdict_of((finding(),), clear, reserved)
    assert mixed.status is reserved and mixed.reasons == ("job0: reason 0", "job1: reason 1")
    assert mixed.not_judged == ("job0: memory", "job1: memory")
    assert verdict_of((), reserved, fails, clear).status is fails
    assert verdict_of((finding(), finding(Severity.ERROR)), clear).status is fails


def test_the_difference_of_two_fleets_has_each_job_once_and_both_uses_of_a_pool() -> None:
    one = DiffReport(TOOL, READ, READ, (), (), (), (), caution="other model")
    old, new = PoolUse(4, 4, 0, 1.0, 4e4, None, ""), PoolUse(8, 6, 2, 0.75, 8e4, None, "")
    made = FleetDiffReport(TOOL, READ, READ, {"a": one}, ("b",), (), {"p": old}, {"p": new}, (finding(),)).to_json()
    assert {*made["jobs"]["a"]} == {"changes", "effects", "caution", "findings"}
    assert made["jobs"]["a"]["caution"] == "other model"
    figures = {"nodes": 8, "used": 6, "idle": 2, "power": 8e4, "cost": None}
    before = {"nodes": 4, "used": 4, "idle": 0, "power": 4e4, "cost": None}
    assert made["pools"] == {"p": figures | {"old": before}} and made["added"] == ["b"]
    assert len(made["findings"]["new"]) == 1 and made["findings"]["fixed"] == []


def report_of(text: str, **more: Any) -> FullReport:
    one = study_text(text, SETTINGS)
    estimate: EstimateReport = replace(analysis.estimate(one), input=READ, findings=(finding(),), waived=(WAIVED,))
    return FullReport("design", "own", TODAY, text, estimate, analysis.bill(one), analysis.cost(one), **more)


WAIVED = WaivedFinding(finding(), Waiver(None, ("few-spines",), None, None, "agreed"))  # type: ignore[arg-type]


SIGNED = BASE + "document: {author: A, signatories: [B, C]}\nacceptance: [{collective: all-reduce, busbw: 300 GB/s}]\n"
DIFFERENCE = DiffReport(TOOL, READ, Input("folder/old.yaml", b""), (), (), (finding(),), ())


def test_a_report_names_its_signatories_its_tests_and_files_without_folders() -> None:
    made = report_of(SIGNED, difference=DIFFERENCE).to_json()
    assert made["document"]["signatories"] == ["B", "C"]
    assert [one["collective"] for one in made["acceptance"]["demanded"]] == ["all-reduce"]
    assert "folder" not in str({**made, "spec": ""})
    for rows in (made["findings"], made["difference"]["findings"]["new"]):
        assert [(row["file"], row["related"][0]["file"]) for row in rows] == [("spec.yaml", "parts.yaml")]
    for rows in (made["waived"], made["estimate"]["waived"]):
        assert [(row["file"], row["reason"]) for row in rows] == [("spec.yaml", "agreed")]
    assert not {"version", "tool", "input"} & {*made["estimate"], *made["cost"], *made["bill"], *made["difference"]}
    assert {*made["difference"]} == {"changes", "effects", "caution", "findings"}
    bare = report_of(BASE).to_json()
    assert (bare["title"], report_of(BASE.replace("name: base\n", "")).title) == ("base", "spec.yaml")
    assert (bare["document"]["signatories"], bare["acceptance"]["demanded"], bare["difference"]) == ([], [], None)


def test_a_tender_shows_no_findings_and_a_design_report_no_signature() -> None:
    whole = report_of(BASE, difference=DIFFERENCE, purchase=Purchase(None, "", None, (Gate("a", GateStatus.MET, ""),)))
    tender = replace(whole, audience="tender").to_json()
    assert (tender["findings"], tender["waived"], tender["difference"]["findings"]["new"]) == ([], [], [])
    assert whole.signing is None and replace(whole, kind="procurement").signing is whole.purchase
    assert not whole.serves and report_of(SERVING).serves


def test_a_simulation_prints_the_times_of_the_formulas_with_its_own() -> None:
    times, target = Percentiles(1.0, 2.0, 3.0), SimulatedTarget("ttft", 90.0, 1.0, 2.0)
    load = (1, 90, 10, "open", 2, 16.0)  # seed, requests, of which warm up, load, engines, accelerators
    figures: Any = (*load, times, None, None, times, 0.5, {}, 4.0, 400.0, None, 0, (0.25, 0.01), (target,), 0.1, ())
    made = SimulationReport(TOOL, READ, *figures).to_json()
    assert made["formulas"] == {"ttft": 0.25, "tpot": 0.01} and made["tpot"] is None and "day" not in made
    target_row = {"quantity": "ttft", "percentile": 90.0, "target": 1.0, "value": 2.0, "met": False}
    assert made["targets"] == [target_row]


def test_an_assignment_names_each_job_once() -> None:
    made = Assignment({"a": JobOption("a", "p", 4, layout={"tp": 8})}, 9.0, 0.0).to_json()
    assert made["jobs"]["a"]["pool"] == "p" and "job" not in made["jobs"]["a"]
    assert (made["objective"], made["gap"]) == (9.0, 0.0)


def test_a_curve_of_communication_has_five_digits_and_the_tables_their_span() -> None:
    third = (1 / 3,)
    assert Curve(third, third, third, True, True, ((third,),)).to_json()["tables"] == [[[0.33333]]]
    made = Survival((2, 4), (("m", 8e9),), 4.5e11, 5e10, 1.0, 16, (), 0.004, 7).to_json()
    # a quarter to four times the rates of the spec, and up to an oversubscription of 8:1
    assert made["strategies"][1] == {"name": "PP", "note": "8 pipeline stages"}
    assert (made["span"], made["tapers"]) == (4.0, [1.0, 8.0]) and (made["error"], made["checked"]) == (0.004, 7)


def test_the_digest_of_the_input_is_its_sha_256() -> None:
    published = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, appendix B.1
    assert Input("abc.yaml", b"abc").sha256 == published == hashlib.sha256(b"abc").hexdigest()
    assert Input("spec.yaml").sha256 is None
