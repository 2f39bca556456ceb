"""A PDF is one for archives and for screen readers, carries its files, and is the same bytes every time."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

import pytest

from clusterspec import analysis, studies
from clusterspec.report import paper
from clusterspec.report.paper.compose import compose
from tests.cli.conftest import skip_without_pdf
from tests.report.test_paper import PRICED
from tests.settings import SETTINGS

pypdf = pytest.importorskip("pypdf")
NAMED = PRICED.replace("Tender for a training cluster", "Cluster 漢字").replace("cable: 919193", "cable: 900")


@cache
def written(kind: str) -> bytes:
    skip_without_pdf()
    one = studies.study_text(NAMED, SETTINGS, "spec.yaml")
    return paper.paper_as_pdf(compose(analysis.report(one, kind, live=False)))


def reader(kind: str) -> Any:
    return pypdf.PdfReader(io.BytesIO(written(kind)))


def test_the_same_report_is_the_same_bytes() -> None:
    one = studies.study_text(NAMED, SETTINGS, "spec.yaml")
    again = paper.paper_as_pdf(compose(analysis.report(one, "procurement", live=False)))
    assert again == written("procurement")


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
    assert set(files) == {"spec.yaml", "bill.csv"}
    assert files["spec.yaml"][0].decode() == NAMED
    assert files["bill.csv"][0].decode().startswith("kind,part,quantity")


def test_only_the_shipped_font_is_used() -> None:
    names = {
        str(font.get_object()["/BaseFont"])
        for page in reader("procurement").pages
        for font in page["/Resources"].get("/Font", {}).values()
    }
    assert names and all("Inter" in name for name in names), names


def test_a_character_that_the_font_lacks_is_named() -> None:
    text = " ".join(page.extract_text() for page in reader("procurement").pages)
    assert "[U+6F22][U+5B57]" in text.replace(" ", "").replace("\n", "")
    assert "lacks U+5B57, U+6F22" in " ".join(text.split())


def test_signatures_stand_on_one_page_with_what_is_signed() -> None:
    pages = [" ".join(page.extract_text().split()) for page in reader("procurement").pages]
    (signed,) = (page for page in pages if "Waivers accepted" in page)
    assert "SecretSignatory" in signed
    assert re.search(r"[0-9a-f]{64}", signed.replace(" ", ""))


def test_a_draft_is_stamped_on_every_page() -> None:
    skip_without_pdf()
    one = studies.study_text(NAMED.replace("tp: 8", "tp: 7"), SETTINGS, "spec.yaml")
    data = paper.paper_as_pdf(compose(analysis.report(one, "procurement", live=False)))
    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    assert all("DRAFT" in page.extract_text() for page in pages)
