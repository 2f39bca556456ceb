"""The appendix and the acceptance plan of a report, from hand-made results."""

from __future__ import annotations

import pytest

from clusterspec.cost.term import Term
from clusterspec.finding import Finding, Severity
from clusterspec.records import replace
from clusterspec.report.paper import acceptance, appendix
from clusterspec.report.paper.blocks import Bullets, Code, Findings, PaperTable, Section, Terms, Text
from clusterspec.results.diagnosis import PlannedTest
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Influence
from clusterspec.source import Position, Source, Span
from tests.report.test_paper import own_parts
from tests.report.test_paper_rows_by_hand import finding
from tests.report.test_paper_words import ONE_LEAF, TRAINED, planned, trained


def placed(rule: str, severity: Severity, line: int = 1) -> Finding:
    place = Span("a.yaml", Position(line, 3), Position(line, 4))
    return replace(finding(severity, rule), rule=rule, span=place)


def listed(section: Section) -> list[tuple[str, int, str, str]]:
    (block,) = section.blocks[:1]
    assert isinstance(block, Findings)
    return [(one.finding.rule, one.row, one.line, one.field) for one in block.shown]


def test_findings_stand_by_severity_then_rule_with_their_lines() -> None:
    """The fields count as the JSON does; the line of a key that opens a mapping says nothing."""
    found = placed("b", Severity.NOTE), placed("a", Severity.NOTE, 2), placed("z", Severity.ERROR, 3)
    source = Source("a.yaml", "tp: 8\ncluster:\n  pp: 4\n")
    shown = listed(appendix.section_of_findings(found, {"a.yaml": source}))
    assert shown == [
        ("z", 3, "pp: 4", "findings[2]"),
        ("a", 2, "", "findings[1]"),
        ("b", 1, "tp: 8", "findings[0]"),
    ]
    assert [line for _, _, line, _ in listed(appendix.section_of_findings(found, {}))] == ["", "", ""]
    (text,) = appendix.section_of_findings((), {}).blocks
    assert isinstance(text, Text) and text.text == "The check found nothing."


@pytest.mark.parametrize(("count", "said"), [(60, None), (61, "1 more finding"), (63, "3 more findings")])
def test_sixty_findings_are_printed_and_the_rest_is_counted(count: int, said: str | None) -> None:
    section = appendix.section_of_findings([placed("a", Severity.NOTE)] * count, {})
    assert len(listed(section)) == min(count, 60)
    last = section.blocks[-1]
    told = last.text if isinstance(last, Text) else None
    assert told == (f"{said}: `clusterspec check` lists all." if said else None)


def test_a_tender_has_no_findings() -> None:
    assert appendix.findings_section(own_parts(TRAINED, "design", "tender")) is None
    assert appendix.findings_section(trained()) is not None


@pytest.mark.parametrize(
    ("column", "cut"),
    [
        # 130 columns of text after an indent of two: 20 columns before the place, and a whole word first
        (1, f"a{'bcd ' * 27}bc …"),
        (60, "… 0"),
        (133, "… 0"),
    ],
)
def test_a_long_line_is_cut_around_its_place(column: int, cut: str) -> None:
    words = " ".join(f"{number:02}" for number in range(60))
    shown = appendix.excerpt(f"  {words}  ", column)
    whole = shown.removeprefix("… ").removesuffix(" …")
    assert len(whole) <= appendix.LONGEST_LINE and whole in words
    assert shown.startswith("… ") is (column > 24)
    assert shown.endswith(" …") is (whole[-2:] != "59")
    start = words.index(whole)
    assert start <= max(0, column - 3) < start + len(whole) + 3, cut


@pytest.mark.parametrize(("length", "cut"), [(110, False), (111, True)])
def test_a_line_of_110_characters_is_whole(length: int, cut: bool) -> None:
    line = "a" * (length - 2) + " b"
    assert (appendix.excerpt(f"    {line}", 5) != line) is cut


def test_a_line_without_spaces_is_cut_in_a_word() -> None:
    assert appendix.excerpt("x" * 200, 1) == "x" * 110 + " …"


def test_a_place_far_to_the_right_shows_the_end_of_its_line() -> None:
    line = f"{'word ' * 30}end"
    assert appendix.excerpt(line, 200).endswith(" end")
    first = appendix.excerpt(line, 60)
    assert first.startswith("… word") and first.endswith("word …")
    assert line.index("word", 38) == 40, "the first whole word, 20 columns before the place"


ASSUMED = (("a", 1, "why a"), ("b", 2, "why b"), ("c", 3, "why c"), ("d", 4, "why d"))


def influenced(*effects: tuple[int, float, float], serves: bool = False) -> FullReport:
    found = planned({"assumptions": ASSUMED})
    influences = tuple(Influence(ASSUMED[at], None, step, memory) for at, step, memory in effects)
    return replace(found, influences=influences)


def table_rows(section: Section, number: int = 0) -> list[tuple[tuple[str, ...], str]]:
    block = section.blocks[number]
    assert isinstance(block, PaperTable)
    return [(row.cells, row.field) for row in block.rows]


def test_assumptions_stand_by_their_effect_and_those_without_one_apart() -> None:
    section = appendix.assumptions_section(influenced((1, 0.1, 0.0), (3, -0.2, 0.05), (2, 0.0, 0.0)))
    assert section is not None and section.title == "Assumptions and constants by effect"
    assert table_rows(section) == [
        (("d", "4", "−20 %", "+5 %", "why d"), "estimate.assumptions[3]"),
        (("b", "2", "+10 %", "", "why b"), "estimate.assumptions[1]"),
    ]
    assert [cells[0] for cells, _ in table_rows(section, 1)] == ["a", "c"]
    captions = [block.caption for block in section.blocks if isinstance(block, PaperTable)]
    assert captions == ["", "Without a separate effect on this design"]
    silent = appendix.assumptions_section(influenced())
    assert silent is not None and [block.caption for block in silent.blocks if isinstance(block, PaperTable)] == [""]
    assert appendix.assumptions_section(planned({"assumptions": ()})) is None


def test_ten_assumptions_are_decisive_at_most() -> None:
    many = tuple((f"key{number:02}", number, "why") for number in range(14))
    found = replace(
        planned({"assumptions": many}), influences=tuple(Influence(one, None, 0.01 + one[1] / 100, 0.0) for one in many)
    )
    section = appendix.assumptions_section(found, decisive=True)
    assert section is not None and section.title == "Decisive assumptions"
    assert [cells[0] for cells, _ in table_rows(section)] == [f"key{number:02}" for number in range(13, 3, -1)]
    assert appendix.assumptions_section(replace(found, influences=()), decisive=True) is None


def test_a_derivation_has_two_levels_of_parts_that_are_not_zero() -> None:
    leaf = Term("third", 1.0, "s", "x")
    deep = Term.total("second", (leaf,))
    top = Term.total("first", (deep, Term("empty", 0.0, "s", "0"), Term("other", 2.0, "s", "y", source="paper")))
    lowest = replace(top, parts=(replace(deep, parts=(replace(leaf, parts=(Term("fourth", 1.0, "s", "z"),)),)),))
    section = appendix.formulas_section(planned({"step_time": lowest, "memory": None}).estimate.plan)
    assert section is not None and section.appendix
    (block,) = section.blocks
    assert isinstance(block, PaperTable)
    root = "estimate.terms[0]"
    assert [(row.cells[0], row.field, row.depth, row.total) for row in block.rows] == [
        ("first", root, 0, True),
        ("second", f"{root}.parts[0]", 1, False),
        ("third", f"{root}.parts[0].parts[0]", 2, False),
    ]
    plain = appendix.formulas_section(planned({"step_time": top, "memory": None}).estimate.plan)
    assert plain is not None
    cells = [cells for cells, _ in table_rows(plain)]
    assert cells[3] == ("other", "2 s", "y", "paper") and [name for name, *_ in cells] == [
        *("first", "second", "third", "other"),
    ]
    assert table_rows(plain)[3][1] == f"{root}.parts[2]", "an empty part keeps its number"
    assert appendix.formulas_section(planned({"step_time": None, "memory": None}).estimate.plan) is None


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("a * " + "b" * 86, "a * " + "b" * 86),
        ("a * " + "b" * 87, "long; printed by `--explain name`"),
        (" + ".join(["abcd"] * 14), "sum of its 14 parts"),
    ],
)
def test_a_formula_of_more_than_90_characters_is_told_in_words(formula: str, said: str) -> None:
    assert appendix.formula_reference(formula, "name") == said


def test_the_sources_of_a_cluster_and_of_a_plan_are_those_of_their_figures() -> None:
    """A machine without work has the sources of its accelerator and its links; a fabric adds that of its adapters."""
    alone = appendix.sources_section(own_parts("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"))
    assert alone is not None and alone.appendix
    facts = {fact for cells, _ in table_rows(alone) for fact in cells[3].split("; ")}
    assert {"accelerator/h100-sxm-80gb memory", "accelerator/h100-sxm-80gb memory_bandwidth"} <= facts
    assert [cells[:2] for cells, _ in table_rows(alone)] == sorted(cells[:2] for cells, _ in table_rows(alone))
    found = appendix.sources_section(trained())
    assert found is not None and len(table_rows(found)) >= len(table_rows(alone))
    none = replace(trained().estimate.plan.design, cluster=None)
    assert appendix.sources_section(planned({"step_time": None, "memory": None}, design=none)) is None


def test_the_glossary_has_the_words_that_sections_say() -> None:
    section = Section("step", "Step", (Text("The MFU of a step."),))
    (terms,) = appendix.glossary_section(trained(), [section, None]).blocks
    assert isinstance(terms, Terms)
    names = [name for name, _, _ in terms.rows]
    assert any(name.startswith("MFU") for name in names) and not any("NVLink" in name for name in names)
    assert appendix.glossary_section(trained(), [Section("x", "Qqq", ())]).blocks == ()


def test_the_spec_of_a_tender_says_so() -> None:
    assert appendix.spec_section(own_parts(TRAINED, "design", "tender")).title == "The spec of this tender"
    section = appendix.spec_section(trained())
    assert section.title == "The spec" and section.blocks == (Code(trained().text, "spec"),)


TESTS = (
    PlannedTest("all-reduce", 1, 8, 8 * 2.0**30, "scale-up", "nccl-tests", "all_reduce -b 8G", 1e9, 2e9, 3e9, "links",
                remedy="reseat"),
    PlannedTest("all-gather", 4, 32, 1e9, "scale-out", "nccl-tests", "", 4e9, 5e9, 6e9, "NICs", demanded=7e9,
                remedy="cables"),
    PlannedTest("reduce", 4, 32, 1e6, "scale-out", "nccl-tests", "", 4e9, 5e9, 6e9, "NICs", remedy="reseat"),
)  # fmt: skip
DEMANDS = """
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 360 GB/s, scope: every-4-nodes, pass: 9 of 10}
  - {algbw: 100 GB/s, duration: 2 h}
  - {duration: 72 h}
"""


def test_the_form_of_the_tests_has_demands_or_proposals_and_blanks() -> None:
    found = replace(trained(), tests=TESTS)
    form, commands, remedies = acceptance.acceptance_blocks(found)
    assert isinstance(form, PaperTable) and isinstance(commands, PaperTable) and isinstance(remedies, Bullets)
    assert [row.cells[:7] for row in form.rows] == [
        ("1. all-reduce, scale-up", "1 node, 8 ranks", "8 GiB", "–", "1 GB/s", "2 GB/s", "3 GB/s"),
        ("2. all-gather, scale-out", "4 nodes, 32 ranks", "1 GB", "7 GB/s", "–", "5 GB/s", "6 GB/s"),
        ("3. reduce, scale-out", "4 nodes, 32 ranks", "1 MB", "–", "4 GB/s", "5 GB/s", "6 GB/s"),
    ]
    assert {row.cells[7:] for row in form.rows} == {("", "", "", "□")}
    assert [row.field for row in form.rows] == [f"acceptance.plan[{number}]" for number in range(3)]
    assert form.form and form.caption == "" and commands.caption == "Commands" and commands.code
    assert [row.cells for row in commands.rows] == [
        ("1. nccl-tests", "all_reduce -b 8G"),
        ("2. nccl-tests", "by the benchmark of the vendor"),
        ("3. nccl-tests", "by the benchmark of the vendor"),
    ]
    assert remedies.items == (
        ("tests 1, 3: reseat", "acceptance.plan[0].remedy"),
        ("test 2: cables", "acceptance.plan[1].remedy"),
    )
    named = acceptance.acceptance_blocks(replace(found, tests=TESTS[1:]), "pools[0].acceptance", "pool a")
    assert [block.caption for block in named if isinstance(block, PaperTable)] == [
        *("Tests of pool a", "Commands for pool a"),
    ]
    plain = named[1]
    assert isinstance(plain, PaperTable) and not plain.code and plain.field == "pools[0].acceptance.plan"


def test_a_demanded_test_is_written_as_in_the_spec() -> None:
    found = own_parts(f"clusterspec: 1\ncluster: {ONE_LEAF}\n{DEMANDS}")
    blocks = acceptance.acceptance_blocks(replace(found, tests=()))
    (table,) = blocks
    assert isinstance(table, PaperTable) and table.caption == "Tests required by the spec"
    assert [row.cells for row in table.rows] == [
        ("all-reduce", "4", "8 GiB", "360 GB/s busbw", "any", "every 4 nodes", "9 of 10", "–"),
        ("–", "–", "–", "100 GB/s algbw", "any", "–", "–", "2 h"),
        ("–", "–", "–", "–", "any", "–", "–", "72 h"),
    ]
    assert [row.field for row in table.rows] == [f"acceptance.demanded[{number}]" for number in range(3)]
    of_pool = acceptance.acceptance_blocks(replace(found, tests=()), "acceptance", "pool a")[0]
    assert isinstance(of_pool, PaperTable) and of_pool.caption == "Tests of pool a required by the spec"
    section = acceptance.acceptance_section(replace(found, tests=()))
    assert section is not None and section.title == "Acceptance plan"
    assert acceptance.acceptance_section(replace(trained(), tests=())) is None


def test_measured_shares_have_a_row_each() -> None:
    log = "{collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 180 GB/s}"
    section = appendix.measurements_section(own_parts(f"clusterspec: 1\ncluster: {ONE_LEAF}\nmeasured: [{log}]\n"))
    assert section is not None
    ((cells, field),) = table_rows(section)
    assert cells[0] == "all-reduce" and field == "estimate.measured[0]"
    assert appendix.measurements_section(trained()) is None
