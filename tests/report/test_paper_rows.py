"""Rows, cells and pictures of a report from figures that are given by hand: each appears where its figure is known."""

from __future__ import annotations

import re

import pytest

from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.analysis.groups import rank_groups
from clusterspec.analysis.tiers import tiers
from clusterspec.cost.term import Term
from clusterspec.records import replace
from clusterspec.report import paper
from clusterspec.report.paper.blocks import PaperTable, Section, TableColumn, TableRow
from clusterspec.report.paper.cards import headline_cards
from clusterspec.report.paper.choices import _own_row
from clusterspec.report.paper.comparison import ComparedRow, _cell_text
from clusterspec.report.paper.compose import _longest_sequence_text, _stage_pictures, compose
from clusterspec.report.paper.differences import single_key_changes
from clusterspec.report.paper.drawings import _node_picture
from clusterspec.report.paper.failures import _goodput_blocks
from clusterspec.report.paper.fleet import _bill_section
from clusterspec.report.paper.materials import _unit_cost_rows, never_counted_text
from clusterspec.report.paper.serving import _plans_table
from clusterspec.report.paper.steps import LEAST, drawn_pass, schedule_picture
from clusterspec.report.paper.story import _domain_step, _memory_step, _pipeline_step
from clusterspec.report.paper.words import worded_section
from clusterspec.results.machine import LongestSequence, Operation, Schedule, StageMemory
from clusterspec.results.search import LayoutRow
from clusterspec.spec.model import ProcurementSpec, QuoteLine
from clusterspec.studies import study_text
from clusterspec.units import display, percent, portion
from tests.analysis.test_fleets import report as two_pools
from tests.effort import thorough
from tests.report.test_charts import shapes
from tests.report.test_estimate_text import SPEC
from tests.report.test_paper import SPECS, own_parts, report
from tests.settings import SETTINGS


def test_the_memory_of_stages_is_drawn_of_two_or_more_and_the_longest_sequence_says_what_ends_it() -> None:
    bare = report(SPECS["bare"])
    stages = tuple(StageMemory(number, 1e9, 1e9, number * 1e9, 1e9, 0.0, (3 + number) * 1e9) for number in (1, 2, 3))
    drawn = [_stage_pictures(replace(bare, stages=stages[:count]), 80e9) for count in range(4)]
    assert [len(pictures) for pictures in drawn] == [0, 0, 1, 1]
    assert "stage 1: 4 GB; stage 2: 5 GB" in drawn[2][0].svg
    assert _longest_sequence_text(replace(bare, longest=None)) == ()
    for known, reached, words in (
        (131_072, True, "the model takes 131,072 at most"),
        (None, True, "longer ones were not tried"),
        (None, False, "has 40,960 tokens, in steps of 1,024"),
    ):
        (text,) = _longest_sequence_text(replace(bare, longest=LongestSequence(40_960, 1024, known, reached)))
        assert words in text.text and "40,960 tokens" in text.text


def test_a_run_with_interruptions_is_shown_where_its_length_is_known() -> None:
    full = report(SPEC)
    kept = full.reliability
    assert kept is not None and kept.time_to_train is not None and kept.with_interruptions is not None
    both = {"reliability.time_to_train", "reliability.with_interruptions"}
    unknown = replace(kept, time_to_train=None), replace(kept, with_interruptions=None)
    for each, fields in ((kept, both), *((one, set[str]()) for one in unknown)):
        _, reached, _ = _goodput_blocks(each, None)
        assert isinstance(reached, PaperTable)
        assert {row.field for row in reached.rows} & both == fields


@pytest.mark.parametrize(
    ("value", "first", "unit", "text"),
    [
        (None, 1.0, "s", "–"),
        ("2 racks", "1 rack", "", "2 racks"),
        (3.0, None, "s", "3 s"),
        (3.0, "–", "s", "3 s"),
        (3.0, 0.0, "s", "3 s"),
        (3.0, 2.0, "s", "3 s (+50 %)"),
        (1.0, 2.0, "s", "1 s (−50 %)"),
        (0.3, 0.4, "%", "30 % (−25 %)"),
    ],
)
def test_a_cell_of_a_comparison_has_its_change_from_the_first_design(
    value: float | str | None, first: float | str | None, unit: str, text: str
) -> None:
    row = ComparedRow("label", "field", lambda _: value, unit)
    assert _cell_text(row, value, first, report(SPECS["bare"])) == text


def test_the_cost_of_the_work_has_a_row_for_each_unit_that_is_known() -> None:
    """Nodes of 8 accelerators cost 100 USD an hour; the job has half of the 16, and works half of the time."""
    full, rented = report(SPECS["bare"]), two_pools().costs["a"]
    assert rented is not None and full.purchase is not None and rented.years == 4
    year = replace(rented.by_year[0], parts={"energy": 5000.0})
    cost = replace(
        rented,
        run=Term("run", 2 * 86400.0, "s", ""),
        per_run=Term("cost", 2e6, "1", ""),
        per_million_tokens=Term("tokens", 0.5, "1", ""),
        by_year=(year,),
        utilization=0.5,
    )
    rows = {
        "cost.per_run": ("One run of 48 h", "2,000,000 USD"),
        "cost.per_million_tokens": ("A million trained tokens", "0.5 USD"),
        "cost.per_accelerator_hour": ("An accelerator hour of the term, used or not", "12.5 USD"),
        "cost.per_week": ("A week of the machine, at work or delayed", "269 k USD"),  # 16 nodes × 100 × 168 hours
        "cost.rent_of_node": (RENTED, "3.51 M USD"),  # 100 × 4 × 8766 hours
        "cost.per_hour_at_work": (WORKED, "25 USD"),  # 8 of 16 nodes × 100 / (64 accelerators × half of the time)
        "cost.by_year[0].energy": ("Energy of a year of the pool with all its jobs", "5,000 USD"),
    }
    sole = list(_unit_cost_rows(full, replace(cost, has_other_jobs=False)))[-1]
    assert sole.cells == ("Energy of a year", "5,000 USD")
    for given, priced, gone in (
        (full, cost, set[str]()),
        (replace(full, purchase=None), cost, set[str]()),
        (replace(full, purchase=replace(full.purchase, basis="rent")), cost, {"cost.per_hour_at_work"}),
        (full, replace(cost, run=None), {"cost.per_run"}),
        (full, replace(cost, per_run=None), {"cost.per_run"}),
        (full, replace(cost, per_million_tokens=None), {"cost.per_million_tokens"}),
        (full, replace(cost, total=None), {*OF_TOTAL}),
        (full, replace(cost, by_year=()), {"cost.by_year[0].energy"}),
        (full, replace(cost, by_year=(replace(year, parts={}),)), {"cost.by_year[0].energy"}),
    ):
        made = {row.field: row.cells for row in _unit_cost_rows(given, priced)}
        assert made == {field: cells for field, cells in rows.items() if field not in gone}, gone


@pytest.mark.parametrize(
    ("buying", "said"),
    [
        (None, "No tax is stated, and no amount includes one"),
        (ProcurementSpec(quoted_total=1000), "No tax is stated, and no amount includes one"),
        (ProcurementSpec(tax=0.19), "No amount includes the tax of 19 %, which applies to quotes"),
        (
            ProcurementSpec(quoted_total=1000, tax=0.19),
            "Only amounts in the terms of the quote include the tax of 19 %",
        ),
        (ProcurementSpec(quote=(QuoteLine(part="node"),), tax=0.19), "Only amounts in the terms of the quote include"),
    ],
)
def test_a_stated_tax_is_in_the_amounts_of_a_quote_alone(buying: ProcurementSpec | None, said: str) -> None:
    text = never_counted_text(buying)
    assert text.startswith(said) and "insurance" in text
    assert not re.search(r"tax[^.]*the spec has no keys", text), "the spec has a key for a tax"


OF_TOTAL = ("cost.per_accelerator_hour", "cost.per_hour_at_work", "cost.per_week", "cost.rent_of_node")
RENTED = "Rent of a node over the term; buying is cheaper where node, network and operation cost less"
WORKED = "An accelerator hour with planned work; renting is cheaper below this price"


@pytest.mark.parametrize(("costs", "cells"), [((None, None), []), ((1.234, None), ["1.23", "–"])])
def test_plans_have_a_column_of_costs_where_one_is_known(costs: tuple[float | None, ...], cells: list[str]) -> None:
    serving = {
        "accelerators": 1024,
        "ttft": 0.5,
        "tpot": 0.02,
        "at_percentile": None,
        "output_tokens_per_second": 12_345.6,
        "output_tokens_per_second_per_accelerator": 12.06,
        "disaggregated": None,
        "replicas": 128,
    }
    rows = tuple(LayoutRow({"tp": 8}, None, None, None, None, None, True, cost, serving=serving) for cost in costs)
    table = _plans_table(rows, "tokens_per_user", "USD")
    assert [column.label for column in table.columns][6:] == (["USD a million"] if cells else [])
    for row, cost in zip(table.rows, cells or ["", ""], strict=True):
        assert row.cells[1:] == ("1,024", "500 ms", "20 ms", "12,346", "12", *([cost] if cost else []))


def test_the_parts_of_a_drawn_pass_sum_to_its_kernels_launches_and_links() -> None:
    record = study_text(SPEC, SETTINGS).plan.step
    assert record is not None
    for part, _ in record.parts:
        for name, phase in part.phases:
            drawn = drawn_pass(name, phase)
            device = sum(each.value for each in drawn.device)
            assert device == pytest.approx(sum(float(seconds) for _, seconds in phase.kernels) + max(0.0, phase.launch))
            assert len({each.label for each in drawn.device}) == len(drawn.device) <= 4
            wires = sum(each.value for each, _ in drawn.links)
            sent = sum(float(each.seconds) for each in phase.transfers)
            assert sent - 4 * LEAST * float(phase.total) <= wires <= sent * (1 + 1e-9)
            assert sum(each.value for each in drawn.exposed) <= float(phase.exposed) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("code", "cells"),
    [(False, ("watts of DGX H100", "power in kW × PUE")), (True, ("watts of dgx-h100", "watts / 1000 * pue"))],
)
def test_a_formula_is_written_in_words_and_a_command_as_it_is(code: bool, cells: tuple[str, ...]) -> None:
    columns = TableColumn("Part"), TableColumn("How", key="formula")
    rows = (TableRow(("watts of dgx-h100", "watts / 1000 * pue"), "cost"),)
    table = PaperTable(columns, rows, "cost", code=code)
    (found,) = worded_section(Section("cost", "Cost", (table,)), {"dgx-h100": "DGX H100"}).blocks
    assert isinstance(found, PaperTable) and found.rows[0].cells == cells


@pytest.mark.parametrize(
    ("recomputation", "backward", "bars"),
    [
        # 376 units for 4 s are 94 for one: a forward pass of 1 s, then 3 s of which a third or nothing is recomputation
        (1.0, 2.0, [(62, 94), (156, 94), (250, 188)]),
        (0.0, 3.0, [(62, 94), (156, 282)]),
        (0.0, 0.0, [(62, 94), (156, 282)]),
    ],
)
def test_a_backward_pass_begins_with_its_part_of_recomputation(
    recomputation: float, backward: float, bars: list[tuple[float, float]]
) -> None:
    passes = (Operation(0, False, 0, 0, 0.0, 1.0), Operation(0, True, 0, 0, 1.0, 4.0))
    found = Schedule("1f1b", 1, 1, 1, 1, 1.0, recomputation, backward, 0.0, 4.0, 4.0, passes)
    (picture,) = schedule_picture(found)
    paths = [re.fullmatch(r"M([\d.]+) [\d.]+h([\d.]+)v.*", each["d"]) for each in shapes(picture.svg, "path")]
    found_bars = [(float(path[1]), float(path[2])) for path in paths if path]
    assert found_bars == [pytest.approx(bar, abs=0.4) for bar in bars]


def test_facts_of_the_catalog_are_written_in_words_where_a_column_names_them() -> None:
    """A keyword of the layout keeps its own words, and an accelerator names what the figure is a share of."""
    columns = TableColumn("Assumed", key="key"), TableColumn("For"), TableColumn("Why", key="why")
    names = {"h200": "H200", "stack-2026": "Megatron-LM"}
    cells = (
        ("layout.micro_batch", "h200 peak.bf16; h200 power.max", "what stack-2026 does"),
        ("h200 memory", "h200 memory", "by count"),
        ("stack/stack-2026 memory.fragmentation", "h200 scale_up.peer_bandwidth", "h200 peak.bf16"),
        ("layout.overlap.dp", "h200 new_fact.of_it", "by count"),
    )
    table = PaperTable(columns, tuple(TableRow(each, "field") for each in cells), "field")
    (found,) = worded_section(Section("assumptions", "Assumptions", (table,)), names).blocks
    assert isinstance(found, PaperTable)
    assert [row.cells for row in found.rows] == [
        ("micro-batch size", "H200: peak rate, bf16; H200: maximum power", "what Megatron-LM does"),
        ("H200: memory bandwidth", "H200: memory", "by count"),
        ("Megatron-LM: reserved over allocated memory", "H200: scale-up bandwidth of a pair", "H200 peak.bf16"),
        ("overlap: data parallelism", "H200: new fact, of it", "by count"),
    ]


NODE = """\
clusterspec: 1
name: node
cluster:
  platform: {platform}
  nodes: 18
"""


@pytest.mark.parametrize(
    ("platform", "said"),
    [("gb300-nvl72", "host, PCIe 5; NICs, PCIe 6"), ("gb200-nvl72", "host, PCIe 5"), ("tpu-v7x", "host")],
)
def test_a_node_is_drawn_with_the_pcie_of_its_nics_where_it_is_another(platform: str, said: str) -> None:
    cluster = study_text(NODE.format(platform=platform), SETTINGS).design.cluster
    assert cluster is not None
    assert f">{said}<" in _node_picture(cluster).svg


def test_a_section_that_one_design_alone_has_is_listed_key_by_key() -> None:
    """A changed value and a list stay whole: only sections that are added or removed are divided."""
    fabric = {"technology": "roce-v2", "links": {"node_leaf": 8}}
    path = ("cluster", "scale_out")
    divided = [(("technology",), "roce-v2"), (("links", "node_leaf"), 8)]
    assert list(single_key_changes(path, None, fabric)) == [((*path, *rest), None, value) for rest, value in divided]
    assert list(single_key_changes(path, fabric, None)) == [((*path, *rest), value, None) for rest, value in divided]
    assert list(single_key_changes(path, "dgx-h100", fabric)) == [(path, "dgx-h100", fabric)]
    assert list(single_key_changes(path, None, [1])) == [(path, None, [1])]
    assert list(single_key_changes(path, 4, 8)) == [(path, 4, 8)]


FLEET = """\
clusterspec: 1
name: fleet
pools:
  new: {platform: dgx-b200, nodes: 4, prices: {node: 400000}}
jobs:
  a: {pool: new, workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}, layout: {tp: 1}}
procurement: {currency: EUR, as_of: 2026-11-01, term: 4 years}
"""


def test_the_bill_of_a_fleet_names_parts_and_keys_in_words() -> None:
    """The identifiers of the platform and of the switches, and keys, are those of a spec, not of a bill."""
    (section,) = _bill_section(fleet_report(study_text(FLEET, SETTINGS), "bom"))
    (table,) = section.blocks
    assert isinstance(table, PaperTable)
    cells = [cell for row in table.rows for cell in row.cells]
    assert "DGX B200" in cells and "Quantum-2 QM9700, leaf (assumed)" in cells
    assert not [cell for cell in cells if re.search(r"dgx-|-qm\d|cluster\.", cell)]


ROLLOUT = """\
clusterspec: 1
name: grpo
cluster: {platform: dgx-h200, nodes: 2}
workload:
  kind: rl
  model: qwen3-8b
  sequence_length: 8192
  rl:
    algorithm: grpo
    prompts_per_step: 64
    samples_per_prompt: 8
    input_tokens: 300
    output_tokens: {mean: 2000, max: 8000}
    minibatches: 2
    placement: colocated
    rollout: {framework: vllm, tp: 1, memory_fraction: 0.75}
layout: {framework: megatron-core, tp: 4, recompute: full}
"""


def test_the_memory_of_a_shared_accelerator_is_stated_of_the_update_and_of_rollout() -> None:
    """Rollout takes three quarters of 151 GB, and the update a part of that: neither alone is the memory in use."""
    found = own_parts(ROLLOUT)
    (card,) = (card for card in headline_cards(found) if card.label.startswith("Memory"))
    step = _memory_step(found)
    assert step is not None
    held = found.estimate.plan.rl.memory.rollout if found.estimate.plan.rl and found.estimate.plan.rl.memory else 0.0
    assert 0.75 * 150e9 < held < 151e9
    assert card.label == "Memory" and f"rollout holds {display(held, 'B')}" in card.note
    assert f"an update {display(found.estimate.plan.memory_bytes or 0.0, 'B')}" in card.note
    assert step.text.startswith("In an update ") and step.text.endswith(f" In rollout it holds {display(held, 'B')}.")


SPREAD = """
cluster: {platform: gb200-nvl72, nodes: 144}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 1152}
layout: {framework: megatron-core, tp: 1, pp: 2, ep: EXPERTS, recompute: full}
"""


@thorough
def test_the_story_keeps_experts_inside_a_domain_only_where_no_group_spans_two() -> None:
    """A domain of 72 ranks holds 9 groups of 8; of groups of 32 the third has ranks 64 to 95, of two domains."""
    for experts, words in (
        (8, "expert parallelism over 8 ranks stays inside"),
        (32, "some of its groups span 2 domains"),
    ):
        found = own_parts(SPREAD.replace("EXPERTS", str(experts)))
        plan, said = found.estimate.plan, found.estimate.provenance
        assert plan.design.cluster is not None
        crossed = tiers(plan.design.cluster, said, found.bill.bill.fabric)
        step = _domain_step(replace(found, groups=rank_groups(plan), tiers=crossed))
        assert step is not None and words in step.text
        assert ("stays inside" in step.text) == (experts == 8)


@thorough
def test_findings_name_rules_and_lines_of_the_spec_to_engineers_and_to_nobody_else() -> None:
    """Commands stay code; what the spec says does not."""
    text = SPREAD.replace("EXPERTS", "32") + "procurement: {currency: USD, term: 4 years, prices: {node: 245000}}\n"
    pages = {}
    for kind in ("design", "procurement"):
        whole = paper.paper_as_html(compose(own_parts(text, kind)))
        pages[kind] = whole[whole.index('id="findings"') :].split("</section>", 1)[0]
    rules = {finding.rule for finding in own_parts(text).estimate.findings}
    assert {"ep-crosses-scale-up-domain", "undated-prices"} <= rules
    assert {rule for rule in rules if rule in pages["design"]} == rules and "<pre>" in pages["design"]
    assert not any(rule in pages["procurement"] for rule in rules) and "<pre>" not in pages["procurement"]
    code = re.findall("<code>([^<]*)</code>", pages["procurement"])
    assert all(each.startswith("clusterspec ") for each in code), code
    assert re.search("<code>[a-z_]+: ", pages["design"]) and "have no date: they cannot" in pages["procurement"]


@thorough
def test_the_step_says_what_its_range_rests_on_where_no_step_is_measured() -> None:
    text = SPREAD.replace("EXPERTS", "8")
    known, measured, tender = (
        compose(own_parts(one, "design", audience))
        for one, audience in ((text, None), (text + "measured: [{step_time: 9 s}]\n", None), (text, "tender"))
    )
    leads = [next(section.lead for section in page.sections if section.key == "step") for page in (known, measured)]
    assert "adds these uncertainties in quadrature. Software: ±" in leads[0]
    assert "leave open" not in leads[1] and not any("leave open" in section.lead for section in tender.sections)


PIPELINE = """
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {framework: megatron-core, tp: 4, pp: PP, recompute: full}
"""


def test_the_story_tells_what_a_pipeline_idles_from_two_stages_on() -> None:
    """Two stages, 16 micro-batches: filling and draining idle 1 of 17 slots, about 6 % of a step."""
    assert _pipeline_step(own_parts(PIPELINE.replace("PP", "1"))) is None
    found = own_parts(PIPELINE.replace("PP", "2"))
    step, times = _pipeline_step(found), found.estimate.plan.step
    assert step is not None and times is not None
    assert step.text.startswith("2 pipeline stages work on 16 micro-batches in turn: filling")
    assert times.times.bubble / times.seconds == pytest.approx(1 / 17, rel=0.15)
    assert f"costs {portion(times.times.bubble / times.seconds)} of a step" in step.text
    parts = _pipeline_step(own_parts(PIPELINE.replace("PP", "2, virtual_stages: 4")))
    assert parts is not None and "in turn, each stage in 4 parts: filling" in parts.text


@pytest.mark.parametrize(("model", "fits"), [("llama-3.1-8b", True), ("llama-3.1-405b", False)])
def test_the_design_among_the_layouts_says_the_memory_that_it_lacks(model: str, fits: bool) -> None:
    found = own_parts(PIPELINE.replace("PP", "2").replace("llama-3.1-8b", model))
    (row,) = _own_row(found)
    held = found.estimate.plan.memory_bytes
    assert held is not None and row.fits is fits
    assert (f"; does not fit: {display(held, 'B')}" in row.note) is not fits
    assert row.wire == pytest.approx(sum(each.seconds for each in found.estimate.plan.communication))


def test_utilization_of_all_roles_has_a_card_where_it_is_known() -> None:
    found = own_parts(ROLLOUT)
    rl = found.estimate.plan.rl
    assert rl is not None and rl.mfu is not None
    cards = {card.label: card for card in headline_cards(found)}
    assert cards["MFU"].value == percent(rl.mfu) and cards["MFU"].note.startswith("of all roles")


def test_fewer_cables_than_links_are_explained() -> None:
    """A cable with fixed ends joins two links of 400 Gb/s in ports of 800 Gb/s: 298 modules are 149 pieces."""
    cables = "{part: AOC 400G 30m, quantity: 128, unit_price: 700, price: 89600}"
    full = report(
        "clusterspec: 1\ncluster: {platform: dgx-b200, nodes: 16, spare_nodes: 1}\n"
        "procurement: {currency: EUR, as_of: 2026-11-01, prices: {node: 415000}, quote: ["
        f"{{part: DGX B200, quantity: 17, unit_price: 415000, price: 7055000}}, {cables}]}}\n",
        "procurement",
    )
    page = paper.paper_as_html(compose(full))
    assert (
        "The bill counts 296 links. The quote offers cables with fixed ends, which need no modules and may carry two "
        "links each" in page
    )
    assert "149 pieces do for all links." in page
