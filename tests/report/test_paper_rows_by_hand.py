"""Rows of layouts, costs, deliveries and comparisons in reports, from hand-made results."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.serving.explain import token_time_term
from clusterspec.cost.term import Term
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.records import replace
from clusterspec.report.paper import choices, comparison, delivery, differences, drawings, materials, serving, story
from clusterspec.report.paper.blocks import PaperTable, Picture, TableRow
from clusterspec.report.paper.comparison import ComparedRow
from clusterspec.results.decision import DiffReport, Effect
from clusterspec.results.facility import Facility
from clusterspec.results.full import FullReport
from clusterspec.results.machine import LayoutCell, LayoutGrid
from clusterspec.source import Position, Span
from clusterspec.standard import sum_of
from clusterspec.studies import study_text
from tests.report.test_charts import number, shapes
from tests.report.test_paper import SPECS, report
from tests.report.test_paper_words import ONE_LEAF, planned, trained
from tests.settings import SETTINGS

CELLS = (
    LayoutCell(1, 1, 4.0, 90e9, False),
    LayoutCell(1, 2, 2.5, 60e9, True, fits_with_reserve=True),
    LayoutCell(2, 1, 2.0, 79e9, True),
    LayoutCell(2, 2, 3.0, None, True, present=True, fits_with_reserve=True),
    LayoutCell(4, 1, None, None, None, "heads"),
    LayoutCell(4, 2, 3.0001, 20e9, True, fits_with_reserve=True),
)
GRID = LayoutGrid((1, 2, 4), (1, 2), CELLS, 80e9, 0.1)


def with_grid(grid: LayoutGrid | None) -> FullReport:
    return replace(trained(), layouts=grid)


def test_layouts_are_drawn_by_their_time_and_the_fastest_that_fit_are_listed() -> None:
    """2 s are the fastest, and 2.5 s of those that leave the reserve; 5 s would be the last color."""
    section = choices.layouts_section(with_grid(GRID))
    assert section is not None
    picture, table = section.blocks
    assert isinstance(picture, Picture) and isinstance(table, PaperTable)
    assert "; tp 1, pp 2 is the fastest that fits; hatched ones " in picture.caption
    assert 'aria-label="step time over 3 values of tp and 2 of pp; the fastest is 2 s"' in picture.svg
    titles = [box["text"] for box in shapes(picture.svg, "rect") if box["text"]]
    assert titles[:2] == ["tp 1, pp 1: 4 s, 90 GB", "tp 1, pp 2: 2.5 s, 60 GB"]
    assert titles[3:5] == ["tp 2, pp 2: 3 s", "tp 4, pp 1: heads"]
    assert [row.cells for row in table.rows] == [
        ("1", "2", "2.5 s", "60 GB", "−17 %"),
        ("2", "2", "3 s", "–", "this layout"),
        ("4", "2", "3 s", "20 GB", "the same"),
    ]
    assert [row.field for row in table.rows] == [f"layouts.cells[{at}]" for at in (1, 3, 5)]
    assert table.caption == "The fastest that leave 10 % of the memory free; search varies all settings"


@pytest.mark.parametrize("time", [2.0, 2.6, 3.2, 3.8, 4.4, 5.0, 9.0])
def test_the_color_of_a_layout_is_its_time_over_the_fastest(time: float) -> None:
    """One and a half times more is the last color."""
    cell = choices._heat_cell(replace(CELLS[0], step_time=time), 2.0)
    assert cell.level == pytest.approx(min(1.0, (time / 2 - 1) / 1.5))
    assert cell.hatched and not cell.marked


@pytest.mark.parametrize(
    ("grid", "blocks"),
    [
        (None, None),
        (replace(GRID, cells=CELLS[4:5]), None),  # none has a time
        (replace(GRID, cells=CELLS[:3]), 1),  # none is the present one
        (replace(GRID, cells=(CELLS[0], replace(CELLS[3], fits_with_reserve=False))), 1),
        (replace(GRID, cells=(CELLS[1], replace(CELLS[3], step_time=None))), 1),
        (GRID, 2),
    ],
)
def test_layouts_without_a_time_are_not_shown(grid: LayoutGrid | None, blocks: int | None) -> None:
    section = choices.layouts_section(with_grid(grid))
    assert (len(section.blocks) if section is not None else None) == blocks


def test_five_layouts_are_listed_at_most() -> None:
    many = tuple(replace(CELLS[1], step_time=2.0 + at, present=at == 0) for at in range(9))
    (table,) = choices._better_layouts(replace(GRID, cells=many))
    assert isinstance(table, PaperTable)
    assert [row.cells[2] for row in table.rows] == ["2 s", "3 s", "4 s", "5 s", "6 s"]


def test_parts_of_a_cost_have_their_share_and_range() -> None:
    cost = report(SPECS["priced"], "procurement").cost.cost
    assert cost is not None
    parts = Term("capital", 3e6, "1", "price", low=2e6, high=4e6), Term("energy", 1e6, "1", "kwh", low=1e6, high=1e6)
    changed = replace(cost, total=Term.total("total", parts, "1"), currency="USD")
    table = materials._cost_terms_table(changed)
    assert [row.cells for row in table.rows] == [
        ("capital", "3,000,000 USD", "2,000,000 USD to 4,000,000 USD", "75 %", "price"),
        ("energy", "1,000,000 USD", "", "25 %", "kwh"),
        ("total", "4,000,000 USD", "", "100 %", "capital + energy"),
    ]
    assert [(row.field, row.total) for row in table.rows] == [
        ("cost.parts[0]", False),
        ("cost.parts[1]", False),
        ("cost.terms[0]", True),
    ]


def cost_of(**changes: Any) -> FullReport:
    found = report(SPECS["priced"], "procurement")
    assert found.cost.cost is not None
    return replace(found, cost=replace(found.cost, cost=replace(found.cost.cost, **changes)))


def test_a_section_of_costs_needs_an_amount() -> None:
    whole = materials.cost_section(cost_of())
    assert whole is not None and isinstance(whole.blocks[0], Picture)
    assert materials.cost_section(cost_of(total=None)) is None
    assert materials.cost_section(cost_of(total=Term("total", 0.0, "1", "0"))) is None
    first = cost_of().cost.cost
    assert first is not None
    year = materials.cost_section(cost_of(by_year=first.by_year[:1]))
    assert year is not None and not isinstance(year.blocks[0], Picture), "one year needs no drawing"
    assert materials.cost_section(replace(cost_of(), cost=replace(cost_of().cost, cost=None))) is None


OPEN_ROW, SET_ROW = TableRow(("Payment", delivery.OPEN), "spec", "fair"), TableRow(("Warranty", "5 years"), "spec")


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        ((OPEN_ROW, SET_ROW), [OPEN_ROW.cells, SET_ROW.cells]),
        ((OPEN_ROW, SET_ROW, OPEN_ROW), [OPEN_ROW.cells, SET_ROW.cells, OPEN_ROW.cells]),
        ((OPEN_ROW, SET_ROW, OPEN_ROW, OPEN_ROW), [SET_ROW.cells, ("Not stated", "Payment, payment, payment")]),
        ((SET_ROW,), [SET_ROW.cells]),
    ],
)
def test_more_than_two_rows_that_nobody_stated_are_one(
    rows: tuple[TableRow, ...], cells: list[tuple[str, str]]
) -> None:
    assert [row.cells for row in delivery._combined_rows(rows)] == cells


@pytest.mark.parametrize(
    ("found", "pools", "answer"),
    [
        ({"5 years": ["a", "b"]}, 2, "5 years"),
        ({"5 years": ["a"]}, 2, "a: 5 years"),
        ({"5 years": ["a"], "3 years": ["b", "c"]}, 3, "a: 5 years; b, c: 3 years"),
        ({delivery.OPEN: ["a", "b"]}, 2, delivery.OPEN),
    ],
)
def test_an_answer_of_all_pools_stands_without_their_names(
    found: dict[str, list[str]], pools: int, answer: str
) -> None:
    assert delivery._row_of_pools("Warranty", found, pools).cells == ("Warranty", answer)


def finding(severity: Severity, message: str) -> Finding:
    place = Span("a.yaml", Position(1, 1), Position(1, 2))
    return Finding("few-spines", severity, Confidence.LIKELY, message, "help", place, ("cluster",))


def test_notes_are_no_findings_that_differ() -> None:
    """The most severe stand first, with the number of their field."""
    found = finding(Severity.NOTE, "n"), finding(Severity.WARNING, "w"), finding(Severity.ERROR, "e")
    (bullets,) = differences._finding_bullets("New", found, "against[0].found")
    assert bullets.items == (("error: e", "against[0].found[2]"), ("warning: w", "against[0].found[1]"))
    assert list(differences._finding_bullets("New", found[:1], "field")) == []


def test_figures_that_differ_have_their_change_and_a_mark_within_the_range() -> None:
    old = trained().estimate
    effects = Effect("step time", "s", 2.0, 3.0, None), Effect("MFU", "share", 0.4, 0.5, True)
    found = {1: DiffReport(old.tool, old.input, old.input, (), effects, (), ())}
    (table,) = differences._figures_blocks(found, ("A", "B"))
    assert isinstance(table, PaperTable)
    assert [row.cells for row in table.rows] == [("step time", "2 s", "3 s (+50 %)"), ("MFU", "40 %", "50 % (+25 %*)")]
    assert table.caption == "Figures that differ from those of A; * within the uncertainty of the model"
    plain = {1: replace(found[1], effects=effects[:1])}
    (table,) = differences._figures_blocks(plain, ("A", "B"))
    assert isinstance(table, PaperTable) and table.caption == "Figures that differ from those of A"
    assert list(differences._figures_blocks({1: replace(found[1], effects=())}, ("A", "B"))) == []


ROWS = {
    "time": ComparedRow("Time", "estimate.time", lambda each: float(len(each.tiers)), "s", -1),
    "rate": ComparedRow("Rate", "estimate.rate", lambda each: float(len(each.tiers)), "B/s", 1),
    "money": ComparedRow("Price", "bill.total", lambda each: 1e6 * len(each.tiers), "", -1),
    "share": ComparedRow("Share", "estimate.mfu", lambda each: len(each.tiers) / 10, "%", 0),
    "text": ComparedRow("Name", "estimate.name", lambda each: "" if len(each.tiers) > 4 else "b"),
}


@pytest.mark.parametrize(
    ("name", "cells", "best"),
    [
        ("time", ("Time", "5 s", "2 s (−60 %)"), {2}),
        ("rate", ("Rate", "5 B/s", "2 B/s (−60 %)"), {1}),
        ("money", ("Price", "5 M", "2 M (−60 %)"), {2}),
        ("share", ("Share", "50 %", "20 % (−60 %)"), set[int]()),
        ("text", ("Name", "–", "b"), set[int]()),
    ],
)
def test_a_compared_figure_has_its_change_and_the_best_is_marked(
    name: str, cells: tuple[str, ...], best: set[int]
) -> None:
    one, other = trained(), replace(trained(), tiers=trained().tiers[:2])
    row = comparison._compared_row(ROWS[name], (one, other))
    assert row is not None
    assert (row.cells, row.best) == (cells, frozenset(best))
    assert row.fields == ("", ROWS[name].field, f"against[0].{ROWS[name].field}")
    same = comparison._compared_row(ROWS[name], (other, other))
    assert same is not None and same.best == frozenset() and "(" not in same.cells[2]
    assert comparison._compared_row(ROWS[name]._replace(value=lambda each: None), (one, other)) is None


def test_quotes_compare_without_their_tax_and_files_tell_designs_of_one_title() -> None:
    # 4 nodes of 300,000 are 1.2 M; with 19 % tax 1.428 M. 4 of 310,000 are 1.24 M, 3.3 % more
    buying = "procurement: {{currency: EUR, quote: [{{part: DGX H100, quantity: 4, unit_price: {}}}]{}}}\n"
    head = f"clusterspec: 1\nname: pod\ncluster: {ONE_LEAF}\n"
    taxed, plain_ = (report(head + buying.format(*each)) for each in ((300000, ", tax: 0.19"), (310000, "")))
    quote = next(each for each in comparison.ROWS if each.label == "Quote, without tax")
    row = comparison._compared_row(quote, (taxed, plain_))
    assert row is not None and row.cells == ("Quote, without tax", "1.2 M EUR", "1.24 M EUR (+3.3 %)")
    assert row.best == {1}
    assert comparison._compared_row(quote, (trained(), trained())) is None
    assert replace(taxed, against=(plain_,)).names == ("A: this design", f"B: pod ({plain_.file})")


def test_amounts_in_two_currencies_and_times_of_unlike_work_do_not_compare() -> None:
    """Each is shown, without a change and without a mark."""
    one, other = trained(), replace(trained(), tiers=trained().tiers[:2])
    paid = replace(other, bill=replace(other.bill, bill=replace(other.bill.bill, currency="EUR")))
    row = comparison._compared_row(ROWS["money"], (one, paid))
    assert row is not None and (row.cells[1:], row.best) == (("5 M", "2 M EUR"), frozenset())
    timed = comparison._compared_row(ROWS["time"], (one, paid))
    assert timed is not None and timed.best == {2}, "seconds have no currency"
    idle = report(f"clusterspec: 1\ncluster: {ONE_LEAF}\n")
    step = ROWS["time"]._replace(field="estimate.step_time")
    unlike = comparison._compared_row(step, (one, replace(idle, tiers=one.tiers[:2])))
    assert unlike is not None and (unlike.cells[1:], unlike.best) == (("5 s", "2 s"), frozenset())


@pytest.mark.parametrize(
    ("switches", "units", "racks", "held"),
    [
        (12, 12, 1, [12]),
        (12, 24, 2, [6, 6]),
        (13, 13, 2, [7, 6]),
        (0, 12, 1, None),
        (12, None, 1, None),
        (12, 12, None, None),
    ],
)
def test_switches_are_spread_over_the_fewest_racks(
    switches: int, units: int | None, racks: int | None, held: list[int] | None
) -> None:
    hall = report("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n").facility
    assert isinstance(hall, Facility)
    changed = replace(hall, switches=switches, switch_units=units, switch_racks=racks)
    found = drawings._switches_in_racks(changed)
    assert (found.in_racks if found is not None else None) == held
    assert drawings._switches_in_racks(None) is None
    note = drawings._switch_note(changed, found)
    racks_said = f"{len(held)} rack{'s' if len(held) > 1 else ''}" if held else ""
    said = f"; {switches} switches (S) in {racks_said} of their own, or in those of nodes"
    unknown = "; racks of switches are not drawn: their height is not known"
    assert note == (said if held else unknown if switches else "")


def test_prompts_are_drawn_next_to_a_decode_step_where_they_take_time() -> None:
    """A token of an engine that prefills too takes more than its step; the rest is that of prompts."""
    times = study_text(SPECS["serving"], SETTINGS).plan.serving
    assert times is not None
    drawn = serving._step_picture(times)
    (title,) = [each["text"] for each in shapes(drawn.svg, "text") if each["text"].startswith("one decode step")]
    assert title == "one decode step, and its share of prompts"
    named = [each["text"] for each in shapes(drawn.svg, "text")]
    assert "prompts in the same step" in named
    step = sum_of(part.value for part in token_time_term(times).parts[0].parts)
    whole = times.tpot * times.tokens_per_step
    lane = [box for box in shapes(drawn.svg, "rect") if number(box, "height") == 34]
    widths = [number(box, "width") + 1 for box in lane]
    assert widths[-1] / sum(widths) == pytest.approx(1 - step / whole, abs=0.01)


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ((0.1, 0.3, 0.2), "the largest loss is second, 30 %"),
        ((-0.1, -0.3, 0.2), "the largest loss is third, 20 %"),
        ((0.0, 0.0, 0.0), None),
    ],
)
def test_the_largest_loss_is_told_with_the_change_that_pays_most(lost: tuple[float, ...], said: str | None) -> None:
    found = planned(mfu=0.4)
    losses = tuple(
        replace(found.losses[0], label=label, share=share)
        for label, share in zip(("first", "second", "third"), lost, strict=True)
    )
    step = story._loss_step(replace(found, losses=losses, gains=()))
    assert (step.text if step is not None else None) == (
        f"The step reaches 40 % of the peak: {said}." if said else None
    )
    gain = replace(found.gains[0], key="micro_batch", before=1, after=2, unit="", share=-0.125)
    paid = story._loss_step(replace(found, losses=losses, gains=(gain,)))
    assert paid is None or paid.text.endswith("change with the largest gain is micro batch 1 → 2, 12 % less time.")
    assert story._loss_step(replace(planned(mfu=None), losses=losses)) is None
