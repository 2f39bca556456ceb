"""A PDF is one for archives and for screen readers, carries its files, and is the same bytes every time."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from clusterspec import analysis, studies
from clusterspec.report import paper
from clusterspec.report.paper.blocks import (
    Paper,
    PaperTable,
    Section,
    TableColumn,
    TableRow,
    VerdictBlock,
)
from clusterspec.report.paper.compose import compose
from clusterspec.report.paper.fonts import OTHER_FACES, drawable_page
from tests.cli.conftest import skip_without_pdf
from tests.effort import sampled, thorough
from tests.report.test_paper import PRICED, own_parts, report
from tests.settings import SETTINGS

pypdf = pytest.importorskip("pypdf")
NAMED = PRICED.replace("Tender for a training cluster", "Cluster \U0010fff0\U0010fff1 \u05e8\u05dd").replace(
    "cable: 919193", "cable: 900"
)
"""With a title in Hebrew, and in characters for private use, which no font has."""
BARE = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n"


@cache
def written(kind: str) -> bytes:
    skip_without_pdf()
    return paper.paper_as_pdf(compose(own_parts(NAMED, kind)))


def reader(kind: str) -> Any:
    return pypdf.PdfReader(io.BytesIO(written(kind)))


@cache
def texts(kind: str) -> tuple[str, ...]:
    """The text of each page."""
    return tuple(page.extract_text() for page in reader(kind).pages)


def short(whole: Paper, sections: int) -> Paper:
    """The first sections of a paper: setting a page takes a third of a second."""
    return replace(whole, sections=whole.sections[:sections])


@thorough
def test_the_same_report_is_the_same_bytes() -> None:
    skip_without_pdf()
    one = studies.study_text(BARE, SETTINGS, "spec.yaml")
    first, again = (
        paper.paper_as_pdf(short(compose(analysis.report(one, "procurement", live=False)), 1)) for _ in "12"
    )
    assert first == again


@thorough
def test_a_report_that_ends_shortly_after_a_page_is_set_closer() -> None:
    """33 rows end on a sixth of the second page and are set on one; 42 fill two fifths of it, which is too much."""
    skip_without_pdf()
    columns = (TableColumn("row"), TableColumn("text"))
    for count, pages in ((33, 1), (42, 2)):
        rows = tuple(TableRow((f"row {number}", "text"), "field") for number in range(count))
        section = Section("rows", "Rows", (PaperTable(columns, rows, "field"),))
        bare = Paper(
            "t", "k", "s", "", VerdictBlock("w", "plain", (), ()), (), (section,), "c", "t", "2026-01-01", "a", "d"
        )
        assert len(pypdf.PdfReader(io.BytesIO(paper.paper_as_pdf(bare))).pages) == pages, count


def test_it_says_that_it_is_archival_and_accessible() -> None:
    found = reader("procurement")
    metadata = found.trailer["/Root"]["/Metadata"].get_object().get_data().decode()
    assert re.search(r'pdfaid:part="?>?3', metadata.replace("'", '"')) or "<pdfaid:part>3" in metadata
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata
    assert metadata.count("<rdf:RDF") == 1
    root = found.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"] is True or bool(root["/MarkInfo"]["/Marked"])
    assert root["/Lang"] == "en"
    assert "/StructTreeRoot" in root
    assert found.outline


def test_the_spec_and_the_bill_are_attached() -> None:
    files = reader("procurement").attachments
    assert set(files) == {"spec.yaml", "bill.csv", "price-sheet.csv"}
    assert files["spec.yaml"][0].decode() == NAMED
    assert files["bill.csv"][0].decode().startswith("kind,part,quantity")
    listed = [one.get_object() for one in reader("procurement").trailer["/Root"]["/AF"]]
    relations = [(one["/UF"], one["/AFRelationship"]) for one in listed]
    assert relations == [("spec.yaml", "/Source"), ("bill.csv", "/Data"), ("price-sheet.csv", "/Data")]


def test_only_the_shipped_fonts_are_used() -> None:
    names = {
        str(font.get_object()["/BaseFont"])
        for page in reader("procurement").pages
        for font in page["/Resources"].get("/Font", {}).values()
    }
    families = {re.sub(r"^/[A-Z]{6}[+]|-Semi-Bold$", "", name) for name in names}
    assert families == {"Inter", "JetBrains-Mono", "Noto-Sans-Hebrew"}


@thorough
def test_a_character_that_no_font_has_is_named() -> None:
    text = " ".join(" ".join(texts("procurement")).split())
    assert "(unnamed character)(unnamed character)" in text and "[U+" not in text
    assert "has U+10FFF0, U+10FFF1" in text


def test_names_in_other_scripts_are_drawn_with_the_fonts_of_the_package_or_of_the_system() -> None:
    names = "北京 東京 서울 الرياض תל אביב दिल्ली กรุงเทพ"
    page, told = drawable_page(f"<style></style><p>{names}</p>", ())
    assert names in page and told == ""
    assert [family for _, family in OTHER_FACES if f"font-family:'{family}'" in page] == [one for _, one in OTHER_FACES]
    assert drawable_page("<p>ក</p>", ((0x1780, 0x17FF),)) == ("<p>ក</p>", "")
    page, told = drawable_page("<p>ក</p>", ())
    assert page == "<p>ka</p>" and "has U+1780" in told and "fonts-noto-core" in told


@thorough
def test_every_figure_has_its_text_alternative() -> None:
    skip_without_pdf()
    whole = compose(report(PRICED))
    pictures = [block for section in whole.sections for block in section.blocks if block.kind == "picture"]
    drawn = sampled(pictures, 25)
    whole = replace(whole, sections=(replace(whole.sections[0], blocks=tuple(drawn)),))
    root = pypdf.PdfReader(io.BytesIO(paper.paper_as_pdf(whole))).trailer["/Root"]
    figures = [each for each in elements(root["/StructTreeRoot"]) if each.get("/S") == "/Figure"]
    assert len(figures) == len(drawn) > 5
    for figure in figures:
        assert len(str(figure["/Alt"])) > 20


def test_headings_descend_one_level_at_a_time_and_cells_name_their_headers() -> None:
    found = list(elements(reader("procurement").trailer["/Root"]["/StructTreeRoot"]))
    levels = [int(str(each["/S"])[2:]) for each in found if re.fullmatch(r"/H[1-6]", str(each.get("/S")))]
    assert levels[0] == 1 and levels.count(1) == 1 and len(levels) > 8
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    names = {str(each["/ID"]) for each in found if each.get("/S") == "/TH"}
    cells = [{str(name) for name in each["/A"]["/Headers"]} for each in found if each.get("/S") == "/TD"]
    assert len(cells) > 100 and all(headers and headers <= names for headers in cells)


def elements(node: Any) -> Iterator[Any]:
    """The elements of a structure tree, depth first."""
    node = node.get_object()
    if isinstance(node, list):
        for each in node:
            yield from elements(each)
    elif hasattr(node, "get"):
        yield node
        if "/K" in node:
            yield from elements(node["/K"])


def test_signatures_stand_on_one_page_with_what_is_signed() -> None:
    pages = [" ".join(text.split()) for text in texts("procurement")]
    (signed,) = (page for page in pages if "Waivers accepted" in page)
    assert "SecretSignatory" in signed
    assert re.search(r"[0-9a-f]{64}", signed.replace(" ", ""))


@thorough
def test_a_draft_is_stamped_on_every_page() -> None:
    skip_without_pdf()
    data = paper.paper_as_pdf(short(compose(own_parts(NAMED.replace("tp: 8", "tp: 7"), "procurement")), 4))
    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    assert len(pages) > 2
    assert all("DRAFT" in page.extract_text() for page in pages)
