"""`check` reads the quantities of running text."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import ROOT, Call
from tests.effort import sampled, thorough

NOTES = """\
# Notes

NVLink 4 moves 900 GB/s unidirectional between two H100.
The node has 8 x 400 Gb/s = 400 Gb/s of network.
"""


def test_wrong_quantities_of_a_document_are_findings_with_lines(call: Call) -> None:
    Path("notes.md").write_text(NOTES)
    done = call("check", "notes.md", "--format", "json")
    found = json.loads(done.out)["findings"]
    assert done.status == 1
    assert {finding["line"] for finding in found} == {3, 4}
    assert "duplex-counted-as-one-way" in {finding["rule"] for finding in found}


def test_right_quantities_stay_silent(call: Call) -> None:
    Path("notes.txt").write_text(NOTES.replace("900", "450").replace("= 400 Gb/s", "= 3.2 Tb/s"))
    assert call("check", "notes.txt").status == 0


def test_standard_input_is_what_its_name_says(call: Call) -> None:
    done = call("check", "-", "--stdin-filename", "notes.md", "--format", "concise", stdin=NOTES.encode())
    assert done.out.startswith("notes.md:3:")


def test_a_folder_is_not_searched_for_text(call: Call) -> None:
    Path("notes.md").write_text(NOTES)
    assert json.loads(call("check", ".", "--format", "json").out)["inputs"] == []


def test_a_text_beyond_the_size_limit_is_refused(call: Call) -> None:
    Path("huge.txt").write_bytes(b"400 Gb/s " * 200_000)
    done = call("check", "huge.txt")
    assert (done.status, done.out) == (2, "")


@thorough
def test_the_documentation_has_no_findings(call: Call) -> None:
    """The command reads what `tests/prose/test_documentation.py` reads page by page, without the gallery and the page
    of all models, which is larger than the command reads.
    """
    left_out = {ROOT / "docs" / "gallery.md", ROOT / "docs" / "catalog" / "model.md"}
    written = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - left_out
    pages = [str(path) for path in sampled(sorted(written), 20)]
    document = json.loads(call("check", *pages, "--format", "json").out)
    assert len(document["inputs"]) == len(pages)
    assert document["findings"] == []
