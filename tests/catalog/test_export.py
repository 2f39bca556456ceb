"""``catalog export``: every fact with its source and its license, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json

import pytest

from clusterspec import resources
from clusterspec.catalog.export import COLUMNS, LICENSE_URL, export_csv, export_json
from clusterspec.cli import run
from tests.catalog.shipped import CARDS, CATALOG, every_fact


@pytest.fixture(scope="module")
def table() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export_csv(CATALOG))))


def test_every_fact_of_every_entry_is_a_row(table: list[dict[str, str]]) -> None:
    facts = [(each.kind, each.id) for each in CARDS for _ in every_fact(each)]
    assert sorted((row["kind"], row["id"]) for row in table) == sorted(facts)
    assert tuple(table[0]) == COLUMNS


def test_every_row_says_its_license_and_its_catalog(table: list[dict[str, str]]) -> None:
    assert {(row["license"], row["catalog"]) for row in table} == {("CC-BY-4.0", CATALOG.version)}


def test_every_row_has_a_source_or_a_reason(table: list[dict[str, str]]) -> None:
    figures = [row for row in table if row["kind"] != "model"]
    assert [row for row in figures if not row["source"] and not row["assumed"]] == []


def test_a_row_has_one_convention_and_the_printed_figure(table: list[dict[str, str]]) -> None:
    rows = {(row["id"], row["fact"]): row for row in table}
    nvlink = rows["h100-sxm-80gb", "scale_up.bandwidth"]
    assert (nvlink["written"], nvlink["value"], nvlink["unit"]) == ("900 GB/s duplex", "450000000000.0", "B/s")
    assert (nvlink["scope"], nvlink["basis"]) == ("device", "line-code")
    assert nvlink["url"].startswith("https://")
    assert len(nvlink["read"]) == len("2026-11-20")


def test_json_says_its_license_and_holds_the_same_rows(table: list[dict[str, str]]) -> None:
    body = export_json(CATALOG)
    assert (body["license"], body["license_url"]) == ("CC-BY-4.0", LICENSE_URL)
    facts = body["facts"]
    assert isinstance(facts, list)
    assert [(one["id"], one["fact"]) for one in facts] == [(row["id"], row["fact"]) for row in table]


def test_the_folder_of_the_data_holds_the_license() -> None:
    text = (resources.catalog() / "LICENSE").read_text("utf-8")
    assert "CC BY 4.0" in text
    assert LICENSE_URL in text


@pytest.mark.parametrize("words", [["nic"], ["nics"], ["--kind", "nic"], ["--kind", "nics"]])
def test_the_command_exports_the_kinds_it_is_asked_for(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "export", *words]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["kind"] for row in found} == {"nic"}
    assert {row["id"] for row in found} == {*CATALOG.ids("nic")}


def test_the_command_exports_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "export", "switches", "--format", "json"]) == 0
    assert {one["kind"] for one in json.loads(capsys.readouterr().out)["facts"]} == {"switch"}
