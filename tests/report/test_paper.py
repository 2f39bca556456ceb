"""Reports carry the JSON field of every number, have the same content twice, and give the verdict on the first page."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from clusterspec import analysis, studies
from clusterspec.analysis import full_report
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.records import replace
from clusterspec.report import paper
from clusterspec.report.paper.blocks import (
    Cards,
    Findings,
    LocatedFinding,
    NumberedSentences,
    PaperTable,
    Picture,
    TableColumn,
    TableRow,
    place_text,
    without_empty_columns,
)
from clusterspec.report.paper.comparison import comparison_section
from clusterspec.report.paper.compose import compose
from clusterspec.report.paper.drawings import machine_pictures
from clusterspec.results.full import FullReport
from clusterspec.source import Path as KeyPath
from clusterspec.source import Position, Span
from clusterspec.units import display, percent
from tests.effort import ALL_CASES, diagonal, sampled, telling, thorough
from tests.report.pages import contradicts, lookup, numbers_without_a_field, pieces
from tests.report.secrets import HOSTILE
from tests.report.test_estimate_text import SPEC, TOO_LARGE
from tests.settings import SETTINGS

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))
TELLING = ("dgx-h100-pod", "deepseek-v3", "trn2-serving")
"""A dense and a sparse model in training, and one that serves; `make test-all` takes all examples."""
PRICED = HOSTILE.replace("audience: tender", "audience: internal").replace("  - {log: secret-log.txt}\n", "")
SPECS = {
    **{path.stem: path.read_text("utf-8") for path in EXAMPLES if ALL_CASES or path.stem in TELLING},
    "priced": PRICED,
    "bare": "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n",
    "too-large": TOO_LARGE,
    "serving": (
        "clusterspec: 1\ncluster: {platform: dgx-h200, nodes: 2}\n"
        "workload: {kind: serve, model: deepseek-v3,"
        " serving: {input_tokens: 2048, output_tokens: 512, concurrency: 128}}\n"
        "layout: {framework: sglang, tp: 1, attention_dp: 16, ep: 16}\n"
    ),
    "serving-pools": (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2}\n"
        "workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500,"
        " concurrency: 32, targets: {ttft: 2 s, tpot: 40 ms, percentile: 90},"
        " speculative: {tokens: 2, acceptance: 0.7},"
        " disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 2, tp: 4}}}}\n"
        "procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, prices: {node: 310000}}\n"
    ),
    "no-yaml": "clusterspec: 1\ncluster: [",
    "no-cluster": "clusterspec: 1\nname: nothing\n",
    "long-names": SPEC.replace("name: pod", f"name: {'Überlänge-' * 18}漢字<script>alert(1)</script>"),
}

WHOLE = frozenset(SPECS) if ALL_CASES else frozenset(TELLING) - {"deepseek-v3"} | {"priced", "serving-pools"}
"""Specs whose reports have the parts that estimate other designs."""


def report(text: str, kind: str = "design", audience: str | None = None) -> FullReport:
    return made_report(text, kind, audience)


# NOTE: `cache` does not work on functions with defaults: a stated default and an absent one are different keys.
@cache  # a report is immutable, and takes a second without the grid of its live figure
def made_report(text: str, kind: str, audience: str | None) -> FullReport:
    one = studies.study_text(text, SETTINGS, "spec.yaml", EXAMPLES[0].parent)
    return analysis.report(one, kind, audience, live=False)


def own_parts(text: str, kind: str = "design", audience: str | None = None) -> FullReport:
    """A report without the parts that estimate other designs, which take nine tenths of its time."""
    return made_parts(text, kind, audience)


@cache
def made_parts(text: str, kind: str, audience: str | None) -> FullReport:
    one = studies.study_text(text, SETTINGS, "spec.yaml", EXAMPLES[0].parent)
    if audience == "tender":
        one = full_report.redacted_study(one)
    return full_report.comparison_report(one, kind, audience or "internal")


AS_WRITTEN = re.compile(
    r"(machine\.failures|faults\.rows|pod\.classes|tiers|groups|glossary)\[\d+\]\.(part|who|name|axis|term|bottleneck)"
    r"|areas\[\d+\]\.area|acceptance\.demanded\[\d+\]\.collective"
)
"""Fields whose words stand on the page as they do in the document, but for a capital letter."""


@pytest.mark.parametrize(("name", "kind"), diagonal(len(SPECS) + 1, [*SPECS], ["design", "procurement"]))
def test_every_number_carries_a_field_of_the_json_and_agrees_with_it(name: str, kind: str) -> None:
    full = (report if name in WHOLE else own_parts)(SPECS[name], kind)
    document = json.loads(json.dumps(full.to_json()))
    page = paper.paper_as_html(compose(full))
    assert numbers_without_a_field(page) == []
    for text, named in pieces(page):
        if named:
            value = lookup(document, named)
            assert not contradicts(text, named, value), (text, named, value)
            if isinstance(value, str) and AS_WRITTEN.fullmatch(named):
                assert text.casefold() == value.casefold(), (text, named, value)


@thorough
def test_a_number_of_the_page_is_that_of_its_field() -> None:
    full = report(SPEC)
    document = json.loads(json.dumps(full.to_json()))
    shown = {named: text for text, named in pieces(paper.paper_as_html(compose(full)))}
    found = {named: lookup(document, named) for named in shown}
    checked = 0
    for named, text in shown.items():
        plain = re.fullmatch(r"([\d,]+(?:\.\d+)?)", text)
        if plain and isinstance(found[named], int | float):
            assert float(plain[1].replace(",", "")) == pytest.approx(found[named], rel=0.01), named
            checked += 1
    assert checked > 10


@thorough
@pytest.mark.parametrize("kind", ["design", "procurement"])
def test_single_failures_of_a_report_are_those_of_faults_at_the_cost_of_cost(kind: str) -> None:
    full = report(SPECS["priced"], kind)
    found = analysis.faults(studies.study_text(SPECS["priced"], SETTINGS, "spec.yaml", EXAMPLES[0].parent))
    cost = full.cost.cost
    assert found.hour and cost and cost.total and cost.years
    assert found.hour * cost.years * 8766 == pytest.approx(cost.total.value)
    assert full.to_json()["faults"]["rows"] == found.to_json()["rows"]
    listed = pieces(paper.paper_as_html(compose(full)))
    assert {row.part for row in found.rows} == {text for text, named in listed if re.match(r"faults.*part$", named)}
    assert report(SPECS["priced"], kind, "tender").faults is None


def test_the_json_has_the_head_of_every_document() -> None:
    document = report(SPEC).to_json()
    assert list(document)[:3] == ["version", "tool", "input"]
    assert document["verdict"]["status"] in ("clear", "reservations")
    assert document["input"]["file"] == "spec.yaml"


@thorough
def test_the_json_gives_reasons_in_sentences() -> None:
    for kind, audience in (("procurement", "internal"), ("design", "tender"), ("design", "internal")):
        document = own_parts(SPECS["too-large"], kind, audience).to_json()
        rules = {finding["rule"] for finding in document["findings"]} or {"activations-exceed-memory"}
        reasons = document["verdict"]["reasons"]
        assert reasons and not [reason for reason in reasons for rule in rules if rule in reason], reasons


@telling(1)
@pytest.mark.parametrize("name", ["too-large", "no-yaml"])
def test_a_failing_design_is_a_draft(name: str) -> None:
    page = paper.paper_as_html(compose(report(SPECS[name])))
    assert "The design has errors" in page
    assert "DRAFT" in page


@telling(1)
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("too-large", "Do not sign: 1 gate fails"),
        ("bare", "Not ready to be signed"),
    ],
)
def test_the_first_page_states_whether_to_sign(name: str, word: str) -> None:
    assert word in paper.paper_as_html(compose(report(SPECS[name], "procurement")))


@thorough
def test_a_serving_plan_shows_its_times_first() -> None:
    page = paper.paper_as_html(compose(report(SPECS["serving"])))
    for name in ("Time to first token", "Time per output token", "Output tokens per second"):
        assert name in page
    assert 'data-field="estimate.serving.ttft"' in page


def test_a_valid_design_is_not_a_draft() -> None:
    assert "DRAFT" not in paper.paper_as_html(compose(report(SPEC)))


@telling(1)
@pytest.mark.parametrize("kind", ["design", "procurement"])
def test_the_figures_of_a_plan_that_does_not_fit_say_so(kind: str) -> None:
    page = paper.paper_as_html(compose(report(TOO_LARGE, kind)))
    cards = re.findall(r'<div class="card [^>]*>(.*?)</div>', page, re.S)
    times = [card for card in cards if "Step time" in card or "MFU" in card or "Tokens" in card or "Run" in card]
    assert len(times) == (4 if kind == "design" else 1)
    assert all("if it fitted" in card for card in times)


@thorough
def test_used_and_bought_are_printed_with_time_and_price() -> None:
    cards = re.findall(r'<div class="card [^>]*>(.*?)</div>', paper.paper_as_html(compose(report(SPEC))), re.S)
    for name in ("Step time", "Run with interruptions"):
        (card,) = (card for card in cards if name in card)
        assert "512 of 1,016" in card


def test_waivers_stand_on_the_first_page_with_reason_date_and_expiry() -> None:
    waived = "# clusterspec: ignore-file[undeclared-network] until 2027-01-31: the provider runs these\n" + SPEC
    waived += "procurement: {currency: USD, as_of: 2026-10-01, prices: {node: 310000}}\n"
    first = paper.paper_as_html(compose(report(waived, "procurement"))).partition('id="machine"')[0]
    for part in ("undeclared-network", "the provider runs these", "2027-01-31", "days"):
        assert part in first


def test_the_cover_has_no_file_path() -> None:
    one = studies.study_text(SPEC, SETTINGS, "/home/alice/secret/spec.yaml")
    page = paper.paper_as_html(compose(analysis.report(one, "procurement", live=False)))
    assert "alice" not in page
    assert "spec.yaml" in page


@pytest.mark.parametrize("kind", sampled(["design", "procurement"], 1))
def test_the_same_report_is_the_same_bytes(kind: str) -> None:
    for text, made in ((SPECS["bare"], made_report), (SPECS["serving-pools"], made_parts)):
        first, second = (paper.paper_as_html(compose(one(text, kind, None))) for one in (made, made.__wrapped__))
        assert first == second


@thorough
def test_designs_stand_side_by_side() -> None:
    one, other = (studies.study_text(text, SETTINGS) for text in (SPEC, SPEC.replace("pp: 2", "pp: 4")))
    full = analysis.report(one, "design", against=[other], live=False)
    page = paper.paper_as_html(compose(full))
    assert numbers_without_a_field(page) == []
    assert 'id="options"' in page
    assert 'data-field="against[0].estimate.step_time"' in page
    beside, alone = full.to_json()["against"][0], analysis.diff(one, other).to_json()
    assert beside["estimate"]["layout"]["pp"] == 4
    assert [beside["difference"][name] for name in ("changes", "effects")] == [alone["changes"], alone["effects"]]
    shown = dict(pieces(page))
    assert shown["layout.pp"] == "against[0].difference.changes[0]", "the changed key is named"
    offered = analysis.report(one, "procurement", "tender", against=[other], live=False).to_json()["against"][0]
    assert not any(offered["difference"]["findings"].values())
    assert any("%" in row.cells[2] for row in _times_beside(full, full.against[0]))
    plan = full.against[0].estimate.plan
    assert plan.design.workload is not None
    longer = replace(plan.design.workload, tokens=3e12)
    changed = replace(full.against[0].estimate, plan=replace(plan, design=replace(plan.design, workload=longer)))
    rows = _times_beside(full, replace(full.against[0], estimate=changed))
    assert rows and not any("%" in row.cells[2] or row.best for row in rows), "times of another work do not compare"


def _times_beside(full: FullReport, other: FullReport) -> list[TableRow]:
    section = comparison_section(replace(full, against=(other,)))
    assert section is not None and isinstance(section.blocks[0], PaperTable)
    return [row for row in section.blocks[0].rows if row.cells[0] in {"Step time", "Run with interruptions"}]


def test_nothing_is_loaded_from_outside_and_no_script_but_ours_runs() -> None:
    page = paper.paper_as_html(compose((report if ALL_CASES else own_parts)(SPECS["long-names"])))
    assert "default-src &#39;none&#39;" in page
    assert "<script>alert" not in page
    assert not re.search(r'src="|<link|@import|url\((?!data:)', page)
    assert all(link.startswith(("#", "https://")) for link in re.findall(r'href="([^"]*)"', page))
    assert len(page.encode()) < 2_000_000


TRAINING_WORDS = re.compile(
    r"gradient|optimizer|MFU|micro-batch|sequences of|step time|trained tokens|to train", re.IGNORECASE
)


@thorough
@pytest.mark.parametrize(
    ("name", "kind"), diagonal(3, ["serving", "serving-pools", "trn2-serving"], ["design", "procurement"])
)
def test_a_report_on_serving_has_no_training_sections(name: str, kind: str) -> None:
    page = paper.paper_as_html(compose((report if name in WHOLE else own_parts)(SPECS[name], kind)))
    body = re.sub(r"<(script|style)[^>]*>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert TRAINING_WORDS.findall(body) == []


@thorough
def test_a_report_on_serving_draws_the_front_and_lists_plans_within_the_targets() -> None:
    full = report(SPECS["serving-pools"])
    page = paper.paper_as_html(compose(full))
    assert full.plans is not None and 'data-chart="front"' in page
    assert 'data-field="plans.layouts' in page or "plans.why" in page
    document = full.to_json()
    assert [row["serving"]["meets_targets"] for row in document["plans"]["layouts"]] == [True] * len(
        document["plans"]["layouts"]
    )
    assert "Speculative figures" in page
    assert report(SPEC).plans is None


def test_the_verdict_by_area_sets_the_times_of_serving_against_their_targets() -> None:
    areas = {area.area: area for area in own_parts(SPECS["serving-pools"]).areas}
    assert areas["first token"].limit == 2.0 and areas["output token"].limit == 0.040
    assert areas["cache"].value == 32


@telling(1)
@pytest.mark.parametrize("name", ["dgx-h100-pod", "serving-pools", "priced"])
def test_each_sentence_on_how_it_works_leads_to_its_figure(name: str) -> None:
    whole = compose(report(SPECS[name]))
    told = [block for section in whole.sections for block in section.blocks if isinstance(block, NumberedSentences)]
    steps = [step for story in told for step in story.steps]
    assert 3 <= len(steps) <= 8 and [story.start for story in told] == [1, 4], "numbered on"
    assert {step.section for step in steps} <= {section.key for section in whole.sections}
    assert any(re.search(r"450 GB/s each way, between nodes 50 GB/s, 9 times less", step.text) for step in steps)


def story_texts(found: FullReport) -> list[str]:
    blocks = [block for section in compose(found).sections for block in section.blocks]
    return [step.text for block in blocks if isinstance(block, NumberedSentences) for step in block.steps]


def test_a_part_of_a_mesh_is_said_to_have_its_own_links_alone() -> None:
    """Two of eight Gaudi 3 share 75 GB/s each way, no more than their ports between nodes; all eight have 525."""
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}"
    spec = f"clusterspec: 1\ncluster: {{platform: gaudi3-hls, nodes: 2}}\n{work}\nlayout: {{tp: TP, micro_batch: 1}}\n"
    said = "tensor parallelism over 2 ranks stays inside, where the links between 2 accelerators have 75 GB/s."
    assert any(text.endswith(said) for text in story_texts(report(spec.replace("TP", "2"))))
    whole = story_texts(report(spec.replace("TP", "8")))
    assert any(text.endswith("so tensor parallelism over 8 ranks stays inside.") for text in whole)


def test_the_run_of_a_plan_that_does_not_fit_states_its_condition() -> None:
    work = "workload: {model: llama-3.1-405b, sequence_length: 8192, global_batch: 128, tokens: 100G}"
    spec = f"clusterspec: 1\ncluster: {{platform: dgx-a100, nodes: 16}}\n{work}\nlayout: {{tp: 8, pp: 16}}\n"
    (run,) = (text for text in story_texts(own_parts(spec)) if "so the run takes" in text)
    assert run.endswith(" days if it fitted.")


@thorough
def test_a_report_has_one_goodput_and_the_hours_of_slowed_steps_apart() -> None:
    """The job is stopped every 225 h (9,000 h of 40 nodes), by storage and racks, too. Links of two planes only slow
    it, and modules that fail once in five years are in repair for much of a year.
    """
    spec = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 40
  scale_out: {technology: roce-v2, topology: fat-tree, planes: 2, switch_ports: 64}
  networks: {storage: {bandwidth: 200 GB/s, capacity: 1 PB}}
  power: {nodes_per_rack: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 320, tokens: 1T}
layout: {micro_batch: 1}
operations: {node_mtbf: 9000 h, checkpoint: {interval: 30 min, pause: 8 s}, restart_time: 9 min, repair_time: 72 h}
"""
    for modules in (0, 0.2):
        rates = f"failures: {{optic: {{afr: {modules}}}, cable: {{afr: 0}}, switch: {{afr: 0}}}}, restart_time"
        full = report(spec.replace("restart_time", rates))
        assert full.reliability is not None and full.faults is not None and full.faults.goodput is not None
        assert full.faults.goodput.mean == pytest.approx(full.reliability.goodput)
        page = paper.paper_as_html(compose(full)).replace("\xa0", " ")
        assert ("Failures that only slow steps take another " in page) is bool(modules)


def test_nodes_that_lie_across_leaves_are_drawn_below_one_leaf_of_whole_nodes() -> None:
    """42 ports down hold the eight links of five nodes; 132 nodes take 26 leaves, so some nodes lie on two."""
    fabric = "{technology: infiniband-ndr, topology: fat-tree, switch: quantum-2-qm9700, oversubscription: 2:1}"
    full = report(f"clusterspec: 1\ncluster: {{platform: dgx-b200, nodes: 132, scale_out: {fabric}}}\n")
    texts = [picture.svg for picture in machine_pictures(full)]
    assert any("up to 42 links from nodes to each; 5 whole nodes with 40 accelerators" in text for text in texts)
    assert any("26 blocks" in text and "for 132 nodes, some of them on two leaves" in text for text in texts)


def test_compared_designs_share_one_table_of_keys_and_one_of_figures() -> None:
    """B differs in pp alone and C in the platform alone: each shows the value of A for the key of the other."""
    texts = (SPEC, SPEC.replace("pp: 2", "pp: 4"), SPEC.replace("dgx-h100", "dgx-h200"))
    one, *others = (studies.study_text(text, SETTINGS) for text in texts)
    full = analysis.report(one, "procurement", against=others, live=False)
    section = next(each for each in compose(full).sections if each.key == "options")
    tables = {block.columns[0].label: block for block in section.blocks if isinstance(block, PaperTable)}
    keys = {row.cells[0]: row.cells[1:] for row in tables["Key"].rows}
    assert keys["pipeline parallelism"] == ("2", "4", "2")
    assert keys["platform"] == ("DGX H100", "DGX H100", "DGX H200")
    steps = next(row for row in tables["Figure"].rows if row.cells[0] == "step time")
    assert "%" not in steps.cells[1] and all("%" in cell for cell in steps.cells[2:])
    assert [field.partition("]")[0] for field in steps.fields[2:]] == ["against[0", "against[1"]


def test_the_first_page_of_reinforcement_learning_has_the_step_of_all_roles() -> None:
    full = (report if ALL_CASES else own_parts)((EXAMPLES[0].parent / "qwen3-30b-grpo.yaml").read_text("utf-8"))
    times = full.estimate.plan.rl
    assert times is not None and full.gains == ()
    cards, roles, *_ = compose(full).sections[0].blocks
    assert isinstance(cards, Cards) and isinstance(roles, Picture)
    shown = {card.label: card.value for card in cards.cards}
    assert shown["Step, all roles"] == display(times.step, "s")
    assert shown["MFU"] == percent(times.mfu or 0.0) and times.mfu != full.estimate.plan.mfu
    assert "waiting" in roles.svg


def test_findings_with_one_remedy_are_told_together() -> None:
    def found(rule: str, line: int, remedy: str, path: KeyPath = ()) -> LocatedFinding:
        place = Position(line, 1)
        one = Finding(rule, Severity.NOTE, Confidence.LIKELY, "message", remedy, Span("a.yaml", place, place), path)
        return LocatedFinding(one, line, "", "")

    shown = (found("a", 5, "mend"), found("a", 8, "mend"), found("a", 9, "leave"), found("b", 9, "leave"))
    groups = Findings(shown).groups
    assert groups == [shown[:2], shown[2:3], shown[3:]]
    assert [place_text(group) for group in groups] == ["lines 5, 8", "line 9", "line 9"]
    error = (replace(shown[0], finding=replace(shown[0].finding, severity=Severity.ERROR)),)
    assert (Findings((*shown, *error)).severe, Findings((*shown, *error)).notes) == ([error], groups)
    of_fleet = (found("a", 5, "mend", ("pools", "post", "nodes")), found("a", 8, "mend", ("jobs", "chat", "layout")))
    assert place_text(of_fleet) == "pool post, job chat · lines 5, 8"


def test_columns_without_a_value_are_left_out() -> None:
    columns = tuple(TableColumn(name) for name in "abc")
    rows = tuple(TableRow((name, "–", "1"), name, best=frozenset({2})) for name in "xy")
    shown = without_empty_columns(PaperTable(columns, rows, ""))
    assert isinstance(shown, PaperTable)
    assert [column.label for column in shown.columns] == ["a", "c"]
    assert [row.cells for row in shown.rows] == [("x", "1"), ("y", "1")] and shown.rows[0].best == {1}
    form = PaperTable(columns, rows, "", form=True)
    assert without_empty_columns(form) is form


@thorough
def test_a_figure_from_a_long_line_names_its_key_alone() -> None:
    """A mapping on one line of 100 characters is no source that a reader finds a number in."""
    fabric = "scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}"
    line = f"cluster: {{platform: hgx-h200, nodes: 4, {fabric}}}"
    full = report(f"clusterspec: 1\n{line}\n{SPEC[SPEC.index('workload') :]}", "procurement")
    origin = next(tier.origin for tier in full.tiers if tier.kind == "scale-out")
    assert origin.endswith("spec.yaml:2: nic_bandwidth: 400 Gb/s")


def test_no_line_of_prose_on_a_screen_breaks_between_a_number_and_its_unit() -> None:
    page = paper.paper_as_html(compose(report(SPEC)))
    steps = re.findall(r'<ol class="story.*?</ol>', page, re.DOTALL)
    assert steps and "\xa0" in steps[0]
    assert re.search(r"\d (?:%|GB|µs|TB/s)", "".join(steps)) is None
