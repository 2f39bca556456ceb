"""``catalog export``: every fact with its source and its license, as CSV, JSON, SQLite and Parquet."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from clusterspec import resources
from clusterspec.catalog.open_data import (
    COLUMNS,
    CONVENTION,
    LICENSE_URL,
    NUMBERS,
    SCHEMA_URL,
    export_csv,
    export_json,
)
from clusterspec.cli import run
from clusterspec.document.conforms import conforms
from tests.catalog.shipped import CARDS, CATALOG, every_fact
from tests.effort import sampled, thorough


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


@thorough
def test_json_says_its_license_and_holds_the_same_rows(table: list[dict[str, str]]) -> None:
    body = export_json(CATALOG)
    assert (body["license"], body["license_url"]) == ("CC-BY-4.0", LICENSE_URL)
    facts = body["facts"]
    assert isinstance(facts, list)
    assert [(one["id"], one["fact"]) for one in facts] == [(row["id"], row["fact"]) for row in table]


def test_a_fact_has_one_id(table: list[dict[str, str]]) -> None:
    ids = [row["fact_id"] for row in table]
    assert len({*ids}) == len(ids)
    assert "accelerator/h100-sxm-80gb#peak.bf16" in ids


def test_a_sparse_peak_has_the_printed_figure_and_not_its_dense_half(table: list[dict[str, str]]) -> None:
    rows = {row["fact_id"]: row for row in table}
    assert float(rows["accelerator/b300-sxm-288gb#sparse_peak.fp4"]["value"]) == 18e15
    assert float(rows["accelerator/h100-sxm-80gb#sparse_peak.bf16"]["value"]) == pytest.approx(1979e12, rel=1e-3)


def test_a_price_has_its_ends_and_a_year_is_a_number(table: list[dict[str, str]]) -> None:
    """Eight H200 at CoreWeave: 20.93 dollars an hour when they may be taken back, 50.44 on demand."""
    rows = {row["fact_id"]: row for row in table}
    rent, year = rows["platform/coreweave-h200#market.rent"], rows["accelerator/mi355x#year"]
    assert (rent["low"], rent["high"], rent["unit"], rent["value"]) == ("2.61625", "6.305", "USD/h", "")
    assert (float(year["value"]), year["unit"], year["low"]) == (2025, "1", "")
    assert {row["fact"] for row in table if row["low"]} == {"market.rent", "market.price"}


def test_a_row_says_how_its_figure_is_known(table: list[dict[str, str]]) -> None:
    known = {row["evidence"] for row in table}
    assert known == {"document", "copy", "copy without address", "assumed"}
    for row in table:
        assert (row["evidence"] == "assumed") == bool(row["assumed"]), row["fact_id"]
        assert (row["evidence"] == "copy") == bool(row["copy"]), row["fact_id"]


def test_the_database_holds_what_the_table_holds(table: list[dict[str, str]], tmp_path: Path) -> None:
    target = tmp_path / "catalog.sqlite"
    assert run(["catalog", "export", "accelerators", "--sqlite", str(target)]) == 0
    of_kind = {row["fact_id"]: row for row in table if row["kind"] == "accelerator"}
    with closing(sqlite3.connect(target)) as database:
        found = dict(database.execute("SELECT fact_id, written FROM facts"))
        rejected = {name for (name,) in database.execute("SELECT DISTINCT fact_id FROM rejected_readings")}
        (aliases,) = database.execute("SELECT aliases FROM entries WHERE id = 'h20-141gb'").fetchone()
    assert found == {name: row["written"] for name, row in of_kind.items()}
    assert rejected == {name for name, row in of_kind.items() if row["not"]}
    assert aliases == "NVIDIA H20-3e"


def test_the_parquet_file_has_the_rows_and_columns_of_the_table(table: list[dict[str, str]], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    target = tmp_path / "catalog.parquet"
    assert run(["catalog", "export", "--parquet", str(target)]) == 0
    found = parquet.read_table(target)
    assert tuple(found.column_names) == COLUMNS
    types = {name: "double" if name in NUMBERS else "string" for name in COLUMNS}
    assert {field.name: str(field.type) for field in found.schema} == types
    for name in COLUMNS:
        printed: list[Any] = [row[name] for row in table]
        numbers = [float(one) if one else None for one in printed] if name in NUMBERS else printed
        assert found.column(name).to_pylist() == numbers, name
    said = {key.decode(): value.decode() for key, value in found.schema.metadata.items()}
    assert (said["license"], said["license_url"]) == ("CC-BY-4.0", LICENSE_URL)
    assert (said["catalog"], said["convention"], said["schema"]) == (CATALOG.version, CONVENTION, SCHEMA_URL)


def test_one_call_writes_one_file(tmp_path: Path) -> None:
    assert run(["catalog", "export", "--sqlite", str(tmp_path / "a"), "--parquet", str(tmp_path / "b")]) == 2
    assert not any(tmp_path.iterdir())


SCHEMA: dict[str, Any] = json.loads((resources.schemas() / "catalog-export.schema.json").read_text("utf-8"))
FACT: dict[str, Any] = SCHEMA["$defs"]["fact"]


def without_format(node: dict[str, Any]) -> dict[str, Any]:
    """A node of a schema without `format`, which is an annotation to jsonschema, too."""
    return {key: value for key, value in node.items() if key != "format" or not isinstance(value, str)}


@thorough
def test_the_whole_export_is_what_its_schema_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["catalog", "export", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    asserted = json.loads(json.dumps(SCHEMA), object_hook=without_format)
    assert conforms(document, asserted, asserted)
    some = {key: sampled(document[key], 40) for key in ("facts", "entries")}  # 6 s for all rows
    jsonschema.validate(document | some, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert document["$schema"] == SCHEMA["$id"] == SCHEMA_URL
    assert {*SCHEMA["properties"]} == {*document, "faults"}
    assert {*SCHEMA["$defs"]["entry"]["properties"]} == {*document["entries"][0]}


def test_the_schema_describes_every_column_and_names_every_unit(table: list[dict[str, str]]) -> None:
    assert tuple(FACT["properties"]) == tuple(FACT["required"]) == COLUMNS
    shapes = [SCHEMA, *SCHEMA["$defs"].values()]
    assert [key for shape in shapes for key, one in shape.get("properties", {}).items() if not one["description"]] == []
    assert {row["unit"] for row in table} == {*FACT["properties"]["unit"]["examples"]}


@cache
def facts_of_accelerators() -> list[dict[str, Any]]:
    facts = export_json(CATALOG, ["accelerator"])["facts"]
    assert isinstance(facts, list)
    return facts


@pytest.mark.parametrize(
    "change",
    [
        {"unit": ""},
        {"value": "3350 GB/s"},
        {"value": None, "low": 1.0, "high": 2.0},
        {"evidence": "assumed"},
        {"scope": "rack"},
        {"not": [{"is": "2000 GB/s"}]},
        {"also": [{"source": "a data sheet", "url": "", "read": None}]},
    ],
)
def test_the_schema_refuses_a_figure_without_unit_kind_or_source(change: dict[str, Any]) -> None:
    (fact,) = (one for one in facts_of_accelerators() if one["fact_id"] == "accelerator/h100-sxm-80gb#memory_bandwidth")
    described = jsonschema.Draft202012Validator({"$ref": "#/$defs/fact", "$defs": SCHEMA["$defs"]})
    assert described.is_valid(fact)
    assert not described.is_valid(fact | change)


def test_an_alias_names_one_entry_and_a_replacement_exists() -> None:
    names = [(each.kind, alias) for each in CARDS for alias in each.aliases]
    assert len({*names}) == len(names)
    for each in CARDS:
        assert not each.replaced_by or each.replaced_by in CATALOG.ids(each.kind), each.id


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
