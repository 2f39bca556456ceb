"""The tables of ``docs/catalog/*.html``: every entry a row, every figure a number to sort by."""

from __future__ import annotations

import re

import pytest

from clusterspec.catalog import KINDS
from tests.catalog.shipped import CARDS, CATALOG
from tools.generate.catalog_tables import FACTS, table_page, table_pages


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_is_a_row_as_wide_as_the_heading(kind: str) -> None:
    page = table_page(kind)
    width = page.count("<th>")
    rows = re.findall(r"<tr>(<td.*?)</tr>", page)
    assert [row.split("</td>")[0].removeprefix("<td>") for row in rows] == [*CATALOG.ids(kind)]
    assert {row.count("<td") for row in rows} == {width}
    assert f"docs/catalog/{kind}.html" in table_pages()


@pytest.mark.parametrize("kind", KINDS)
def test_no_column_is_empty(kind: str) -> None:
    known = {name for each in CARDS if each.kind == kind for name in each.facts}
    assert [name for name in FACTS[kind] if name not in known] == []


def test_a_bandwidth_is_sorted_per_direction() -> None:
    row = next(row for row in table_page("accelerator").splitlines() if "<td>h100-sxm-80gb</td>" in row)
    assert '<td data-v="4.5e+11">450 GB/s</td>' in row
    assert '<td data-v="9.894e+14">989.4 TFLOP/s</td>' in row
