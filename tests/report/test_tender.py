"""No byte of a tender gives away what the allow-list leaves out, whatever the kind and the format."""

from __future__ import annotations

import io
import json
import re
import zlib
from pathlib import Path

import pytest

from clusterspec import analysis, studies
from clusterspec.report.paper.blocks import PaperTable
from clusterspec.report.paper.delivery import ASKED as ASKED_OF_THE_OFFER
from clusterspec.report.paper.delivery import delivery_section
from tests.cli.conftest import Call, skip_without_pdf
from tests.effort import diagonal, sampled
from tests.report.secrets import HOSTILE, SECRETS
from tests.settings import SETTINGS

KINDS = ["design", "procurement"]
OFFSETS = re.compile(rb"^[0-9 ]+")
"""The numbers and places of its objects that an object stream of a PDF begins with: they hold nothing of the spec."""
ASKED: list[tuple[str, ...]] = [(), ("--audience", "tender")]
PDFS = sampled([(kind, asked) for kind in reversed(KINDS) for asked in reversed(ASKED)], 1)
"""A PDF is the page of the same report, which is searched in all cases, with what the writer of PDF adds."""


def found(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if secret.encode() in data]


def written(call: Call, suffix: str, kind: str, asked: tuple[str, ...]) -> bytes:
    spec = HOSTILE if not asked else HOSTILE.replace(", audience: tender", "")
    Path("secret-log.txt").write_text("# nThread 1\n")
    Path("spec.yaml").write_text(spec)
    options = () if kind == "design" and not asked else ("--kind", kind)
    done = call("report", "spec.yaml", "-o", f"out.{suffix}", *options, *asked)
    assert done.status in (0, 1), done.error
    assert found((done.out + done.error).encode()) == []
    return Path(f"out.{suffix}").read_bytes()


@pytest.mark.parametrize(("kind", "asked"), diagonal(2, KINDS, ASKED))
def test_the_page_holds_no_secret(kind: str, asked: tuple[str, ...], call: Call) -> None:
    assert found(written(call, "html", kind, asked)) == []


@pytest.mark.parametrize(("kind", "asked"), PDFS, ids=str)
def test_the_pdf_holds_no_secret_in_streams_text_or_attachments(kind: str, asked: tuple[str, ...], call: Call) -> None:
    skip_without_pdf()
    import pypdf

    data = written(call, "pdf", kind, asked)
    assert found(data) == []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S):
        try:
            assert found(OFFSETS.sub(b"", zlib.decompress(stream))) == []
        except zlib.error:
            assert found(stream) == []
    pages = pypdf.PdfReader(io.BytesIO(data))
    text = "\n".join(page.extract_text() for page in pages.pages)
    assert "Tender for a training cluster" in " ".join(text.split())
    assert found(text.replace("\n", "").encode()) == []
    assert found(json.dumps({str(key): str(value) for key, value in (pages.metadata or {}).items()}).encode()) == []
    for files in pages.attachments.values():
        assert all(found(content) == [] for content in files)


def test_the_same_words_are_found_where_the_report_is_internal(call: Call) -> None:
    Path("secret-log.txt").write_text("# nThread 1\n")
    Path("spec.yaml").write_text(HOSTILE)
    call("report", "spec.yaml", "-o", "out.html", "--audience", "internal", "--kind", "procurement")
    shown = found(Path("out.html").read_bytes())
    assert {"317,171", "SecretDescription", "SecretSignatory"} <= set(shown)


def test_a_tender_demands_what_the_spec_demands_and_asks_for_the_rest() -> None:
    asked = HOSTILE.replace("delivery: {weeks: 20,", "warranty: 3 years\n  delivery: {weeks: 20,")
    section = delivery_section(analysis.report(studies.study_text(asked, SETTINGS), "procurement", live=False))
    assert section is not None
    (table,) = section.blocks
    assert isinstance(table, PaperTable)
    assert {row.cells[0]: row.cells[1] for row in table.rows} == {
        "Delivery": "20 weeks after the order",
        "Warranty": "3 years",
        "Support": ASKED_OF_THE_OFFER,
        "Repair time": ASKED_OF_THE_OFFER,
        "Burn-in": "72 h",
        "Power of a node at most": ASKED_OF_THE_OFFER,
        "Weight of a node": ASKED_OF_THE_OFFER,
        "Price of each line": "on the attached price sheet",
    }
