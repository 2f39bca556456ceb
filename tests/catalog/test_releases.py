"""Releases of the data: what changed by value, how one is cut, and the sample that was looked up."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from clusterspec.catalog.open_data import fact_records
from tests.catalog.shipped import CATALOG
from tests.effort import thorough
from tools.release import data

SAMPLES = {"sample_2026_11.csv": 1708, "sample_2026_12.csv": 60}
ENTRY = "kind: nic\nid: a\nstatus: {is: shipping, as_of: 2026-11-20}\nfacts: {ports: %s, year: {is: 2026, source: s}}\n"


def test_changes_are_by_value_and_not_by_source_or_note() -> None:
    before = data.facts_of({"a": ENTRY % "{is: 1, source: x}"})
    assert data.changes(before, data.facts_of({"a": ENTRY % "{is: 1, source: y, note: read again}"})).changed == {}
    assert data.changes(before, data.facts_of({"a": ENTRY % "2"})).changed == {"nic/a": (("ports", "1", "2"),)}
    assert data.changes(before, {}).removed == ("nic/a",)
    assert data.changes({}, before).added == ("nic/a",)


def test_a_page_of_changes_counts_what_it_lists() -> None:
    found = data.Changes(("nic/b",), (), {"nic/a": (("ports", "1", "2"), ("year", "2025", "–"))}, {"nic/a": 3})
    text = data.page("catalog-2026.12", "catalog-2026.11", found)
    assert "1 entries added, 0 removed, 2 figures of 1 entries changed, 3 figures added to 1 entries" in text
    assert "| nic/a | ports | 1 | 2 |" in text
    assert "Parts without" not in text
    with_parts = data.Changes((), (), {}, {}, ("Micron 9650", "Samsung PM1763"))
    assert "Parts without an entry added: Micron 9650, Samsung PM1763.\n" in data.page("b", "a", with_parts)


def test_added_parts_are_those_that_the_release_before_lacks() -> None:
    head, old, new = "kind,name,vendor\n", "drive,PM1763,Samsung\n", "drive,9650,Micron\n"
    assert data.added_parts(head + old, head + old + new) == ("Micron 9650",)
    assert data.added_parts(head + old + new, head + old) == ()


def test_a_release_has_a_month_for_a_name() -> None:
    for name in ("catalog-2026.13", "2026.11", "catalog-26.11"):
        with pytest.raises(SystemExit, match="not a release of the data"):
            data.cut(name, "2026-11-21")


def test_citation_and_changes_name_the_last_release() -> None:
    last = data.releases()[-1]
    assert f"version: {last['release']}\ndate-released: {last['day']}\n" in data.CITATION.read_text("utf-8")
    assert f"## {last['release']}\n" in (data.CATALOG / "CHANGES.md").read_text("utf-8")


@thorough
def test_the_sample_is_of_figures_that_the_catalog_has() -> None:
    rows = []
    for name, count in SAMPLES.items():
        drawn = list(csv.DictReader(Path(__file__).with_name(name).read_text("utf-8").splitlines()))
        assert len(drawn) == count
        rows += drawn
    assert len(rows) == len({row["fact"] for row in rows})
    kinds = sorted({row["fact"].partition("/")[0] for row in rows})
    found = {record["fact_id"]: record["written"] for record in fact_records(CATALOG, kinds)}
    gone = [row["fact"] for row in rows if row["fact"] not in found]
    changed = [row for row in rows if row["verdict"] != "wrong" and found.get(row["fact"]) != row["written"]]
    assert (gone, changed) == ([], [])
