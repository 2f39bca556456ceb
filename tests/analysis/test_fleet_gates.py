"""The purchase of a whole fleet: amounts and gates of all pools, worked out by hand from the prices of two pools."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from clusterspec.analysis.fleets import gates as fleet_gates
from clusterspec.analysis.fleets.gates import with_purchase
from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.records import replace
from clusterspec.report.paper.blocks import PaperTable
from clusterspec.report.paper.fleet_purchase import composed_purchase, decision_sentence
from clusterspec.results.fleet import FleetReport
from clusterspec.results.verdict import Gate, GateStatus, Purchase
from clusterspec.source import Position, Span
from clusterspec.studies import study_text
from tests.effort import thorough
from tests.settings import SETTINGS

TRAIN = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 100B}, layout: {tp: 2}"
BOUGHT = f"""\
clusterspec: 1
name: two
document: {{signatories: [CFO]}}
pools:
  train: {{platform: dgx-b200, nodes: 16, spare_nodes: 1, prices: {{node: [400000, 440000]}}}}
  serve: {{platform: dgx-h200, nodes: 8, prices: {{node: 300000}}}}
jobs:
  a: {{pool: train, {TRAIN}}}
  b: {{pool: serve, nodes: 4, {TRAIN}}}
operations: {{power_budget: 400 kW}}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 4 y
  warranty: 3 y
  delivery: {{weeks: 20}}
  budget: 9000000
  quote:
    - {{part: DGX B200 system, quantity: 19, unit_price: 410000}}
    - {{part: DGX H200 system, quantity: 6, unit_price: 290000}}
"""
RENTED = f"""\
clusterspec: 1
name: rented
pools:
  a: {{platform: aws-p5-48xlarge, nodes: 4, prices: {{node_hour: 50}}}}
  b: {{platform: aws-p5-48xlarge, nodes: 2, prices: {{node_hour: 60}}}}
jobs:
  run: {{pool: a, {TRAIN}}}
  chat:
    pool: b
    workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 1000, output_tokens: 100, concurrency: 64}}}}
    layout: {{framework: vllm}}
procurement: {{currency: USD, as_of: 2026-11-01, term: 90 d, budget: 700000}}
"""


@cache
def report(text: str) -> FleetReport:
    study = study_text(text, SETTINGS, "fleet.yaml")
    return with_purchase(study, fleet_report(study, "bom"))


def purchase(text: str = BOUGHT) -> Purchase:
    found = report(text).purchase
    assert found is not None
    return found


def gate(name: str, text: str = BOUGHT) -> Gate:
    (found,) = (one for one in purchase(text).gates if one.gate == name)
    return found


IN_PLACE = BOUGHT.replace("name: two", "name: two\ndescription: The eight H200 nodes are in place since 2024.").replace(
    "quantity: 19, unit_price: 410000}\n    - {part: DGX H200 system, quantity: 6, unit_price: 290000}",
    "quantity: 17, unit_price: 410000}",
)


@thorough
def test_a_pool_that_is_in_place_by_the_description_is_not_asked_of_the_supplier() -> None:
    """All 17 nodes of the pool that is bought are quoted; by the spec it costs 17 × 400,000 to 440,000."""
    nodes = [part for part in purchase(IN_PLACE).parts if part.kind.endswith("node")]
    assert [(part.needed, part.quoted, part.state) for part in nodes] == [(17, 17, "quoted")]
    assert "node" not in gate("quote", IN_PLACE).text
    expected = purchase(IN_PLACE).expected
    assert expected is not None
    assert (expected.low, expected.high) == (17 * 400_000, 17 * 440_000)
    without = IN_PLACE.replace(" are in place since 2024", "")
    assert "8 × H200 node" in gate("quote", without).text


TOKENS = "{input_tokens: 1000, output_tokens: 100, concurrency: 64}"
CHAT = f"workload: {{kind: serve, model: llama-3.1-8b, serving: {TOKENS}}}"
SERVED = f"""\
clusterspec: 1
name: served
pools:
  a: {{platform: hgx-h200, nodes: 4}}
  b: {{accelerator: l40s, accelerators_per_node: 4, nodes: 2}}
jobs:
  large: {{pool: a, {CHAT}, layout: {{framework: vllm, tp: 2}}}}
  small: {{pool: b, {CHAT}, layout: {{framework: vllm, tp: 1}}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {{part: HGX H200 server, quantity: 4, unit_price: 290000}}
    - {{part: server with four L40S, quantity: 2, unit_price: 60000}}
"""


def test_engines_within_nodes_ask_the_supplier_for_no_fabric() -> None:
    assert gate("quote", SERVED).status is not GateStatus.FAILED
    assert not {"switch", "cable", "transceiver"} & {part.kind for part in purchase(SERVED).parts}
    across = SERVED.replace("framework: vllm, tp: 2}", "framework: vllm, tp: 8, pp: 2}")
    assert "leaf switch" in gate("quote", across).text


def test_the_amount_to_sign_is_the_quote_for_all_pools_with_the_sum_of_their_bills() -> None:
    """19 × 410,000 + 6 × 290,000; by the spec 17 × 400,000 to 440,000, and 8 × 300,000."""
    found = purchase()
    assert found.basis == "quote"
    assert found.amount is not None and found.amount.price == 19 * 410_000 + 6 * 290_000
    assert found.expected is not None and found.expected.price == (9_200_000, 9_880_000)


def test_more_nodes_of_one_accelerator_do_not_stand_for_lacking_nodes_of_another() -> None:
    """The quote has as many nodes as all pools need together, 25, but two H200 too few, at 290,000 each."""
    states = {part.kind: (part.needed, part.quoted, part.state) for part in purchase().parts}
    assert states["B200 node"] == (17, 19, "surplus")
    assert states["H200 node"] == (8, 6, "short")
    found = gate("quote")
    assert found.status is GateStatus.FAILED
    assert "2 × H200 node (580 k USD)" in found.text


def test_nodes_that_a_quote_does_not_tell_apart_are_counted_together() -> None:
    text = BOUGHT.replace("DGX B200 system", "GPU server").replace("DGX H200 system", "GPU server, small")
    parts = {part.kind: (part.needed, part.quoted, part.state) for part in purchase(text).parts}
    assert parts["node"] == (25, 25, "quoted")


def test_the_budget_of_a_fleet_covers_all_pools_and_what_the_quote_lacks() -> None:
    """9.53 M as quoted and 0.58 M that are lacking, of 9 M."""
    found = gate("budget")
    assert found.status is GateStatus.FAILED
    assert found.text.startswith("10.1 M USD, with 580 k USD for parts without a quote")
    assert gate("budget", BOUGHT.replace("9000000", "11000000")).status is GateStatus.MET


def test_power_is_judged_by_the_budget_of_all_pools() -> None:
    assert gate("power").status is GateStatus.MET
    assert gate("power").text.endswith("of the budget of 400 kW")
    assert gate("power", BOUGHT.replace("400 kW", "300 kW")).status is GateStatus.FAILED
    assert gate("power", BOUGHT.replace("operations: {power_budget: 400 kW}\n", "")).status is GateStatus.OPEN


@thorough
def test_nodes_without_a_job_leave_the_gate_of_the_use_open_with_their_price() -> None:
    """Four nodes of H200 at 300,000."""
    assert gate("use").status is GateStatus.OPEN
    assert "4 of 8 on serve (1.2 M USD) have no job" in gate("use").text
    assert "1 of 8 on serve (300 k USD) has no job" in gate("use", BOUGHT.replace("nodes: 4,", "nodes: 7,")).text
    assert gate("use", BOUGHT.replace("nodes: 4, workload", "workload")).status is GateStatus.MET


def test_a_gate_that_all_pools_answer_alike_says_it_once() -> None:
    assert gate("warranty").text == "3 years, 1 year less than the term of 4 years"
    assert gate("acceptance").text == "no test is demanded (`acceptance`); this report proposes some"
    own = BOUGHT.replace("nodes: 8, ", "nodes: 8, acceptance: [{collective: all-reduce, nodes: 4, busbw: 300 GB/s}], ")
    assert gate("acceptance", own).status is GateStatus.OPEN
    assert gate("acceptance", own).text.startswith("train: no test is demanded")
    assert gate("acceptance", own).text.endswith("serve: 1 test demanded")


@thorough
def test_an_error_of_one_job_fails_the_gate_of_the_design_in_its_name() -> None:
    found = gate("design", BOUGHT.replace("layout: {tp: 2}", "layout: {tp: 3}", 1))
    assert found.status is GateStatus.FAILED
    assert found.text.startswith("a: ")


@pytest.mark.parametrize(
    "severities", [found for many in range(3) for found in product(Severity, repeat=many)], ids=str
)
def test_the_worst_finding_about_a_fleet_decides_on_the_gate_of_its_design(severities: tuple[Severity, ...]) -> None:
    """In addition to jobs without findings; a note does not count, and each finding that counts is told."""
    at = Span("fleet.yaml", Position(1, 1), Position(1, 2))
    findings = [
        Finding("unequal-pools", severity, Confidence.LIKELY, f"{number}: {severity}", "", at, ())
        for number, severity in enumerate(severities)
    ]
    whole = report(BOUGHT)
    clear = {name: replace(one, findings=(), sources={}) for name, one in whole.estimates.items()}
    alone = fleet_gates._design_gate(replace(whole, estimates=clear, findings=()))
    found = fleet_gates._design_gate(replace(whole, estimates=clear, findings=tuple(findings)))
    worst = min((one.rank for one in severities), default=Severity.NOTE.rank)
    expected = {Severity.ERROR.rank: GateStatus.FAILED, Severity.WARNING.rank: GateStatus.OPEN}
    assert found.status is expected.get(worst, alone.status)
    told = [one.message for one in findings if one.severity is not Severity.NOTE]
    assert all(message in found.text for message in told) and (told or found.text == alone.text)


def test_a_rent_after_the_last_run_of_a_pool_is_a_risk_and_that_of_a_service_is_not() -> None:
    """Pool a is rented at 4 × 50 an hour; its only run ends early. Pool b serves until the end of the term."""
    elapsed = report(RENTED).jobs["run"].elapsed
    assert elapsed is not None
    assert purchase(RENTED).basis == "rent"
    (risk,) = (one for one in purchase(RENTED).risks if one.risk == "rent after the runs")
    assert risk.money is not None
    assert abs(risk.money.low - 4 * 50 * (90 * 24 - elapsed / 3600)) < 2
    assert gate("term", RENTED).status is GateStatus.OPEN
    assert gate("warranty", RENTED).status is GateStatus.NOT_NEEDED


def test_the_paper_of_a_purchase_has_the_gates_and_the_tests_of_each_pool() -> None:
    paper = composed_purchase(report(BOUGHT))
    assert (paper.kind, paper.draft, paper.signatories) == ("Procurement report", True, ("CFO",))
    sections = {section.key: section for section in paper.sections}
    captions = [block.caption for block in sections["acceptance"].blocks if isinstance(block, PaperTable)]
    assert [one for one in captions if one.startswith("Tests")] == ["Tests of train", "Tests of serve"]
    (quote,) = (one for one in sections["materials"].blocks if getattr(one, "field", "") == "purchase.quote")
    assert isinstance(quote, PaperTable)
    assert [row.cells[0] for row in quote.rows[:2]] == ["B200 node", "H200 node"]
    assert [name for name, *_ in paper.attachments] == ["price-sheet-train.csv", "price-sheet-serve.csv"]


def test_the_first_sentence_names_all_machines_and_the_amount() -> None:
    told = decision_sentence(report(BOUGHT), purchase())
    assert told.startswith(
        "Proposed purchase: 17 nodes of DGX B200 (136 accelerators) and 8 nodes of DGX H200 (64 accelerators) "
        "for 9.53 M USD (as quoted; 9.2 – 9.88 M USD at the prices of the spec)."
    )
    assert "Do not sign: the quote lacks parts worth 580 k USD." in told


def test_every_field_of_the_decision_is_in_the_json_of_the_report() -> None:
    document = report(BOUGHT).to_json()
    assert document["purchase"]["status"] == "do not sign"
    assert len(document["pools"]["serve"]["acceptance"]["plan"]) == 4


def test_a_fleet_with_an_unknown_machine_has_no_decision() -> None:
    broken = report(BOUGHT.replace("dgx-h200", "dgx-x999"))
    assert broken.purchase is None
    assert composed_purchase(broken).kind == "Procurement report"
