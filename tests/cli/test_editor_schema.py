"""The JSON Schema for editors: it offers the ids of the catalog, and accepts what the schema of the spec accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from clusterspec.catalog import Catalog
from clusterspec.catalog.references import KINDS_OF_KEYS
from clusterspec.catalog.skeleton import skeleton
from tests.catalog.test_company_folders import DAY, written
from tests.cli.conftest import ROOT, Call

SHIPPED = ROOT / "schemas" / "editor.schema.json"
EDITOR: dict[str, Any] = json.loads(SHIPPED.read_text("utf-8"))
FULL: dict[str, Any] = json.loads((ROOT / "schemas" / "spec.schema.json").read_text("utf-8"))
SPECS = sorted((ROOT / "examples").glob("*.yaml"))


def valid(spec: Any) -> bool:
    return bool(jsonschema.Draft7Validator(EDITOR).is_valid(spec))


def keywords(node: Any) -> set[str]:
    """Every keyword of a schema; names of properties and definitions are none."""
    if isinstance(node, list):
        return set().union(*(keywords(one) for one in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found = set(node)
    for key, value in node.items():
        if key in ("properties", "definitions"):
            found |= set().union(*(keywords(one) for one in value.values()))
        elif key not in ("examples", "enum", "default"):
            found |= keywords(value)
    return found


def test_it_is_sound_draft_7_without_keywords_of_its_own() -> None:
    jsonschema.Draft7Validator.check_schema(EDITOR)
    assert EDITOR["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert not {word for word in keywords(EDITOR) if word.startswith("x-")} | keywords(EDITOR) & {"$defs"}


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_example_is_valid(path: Path) -> None:
    assert valid(yaml.safe_load(path.read_text("utf-8")))


def test_every_example_of_a_key_is_valid_where_the_schema_of_the_spec_says_so() -> None:
    for section, node in FULL["properties"].items():
        for name, key in node.get("properties", {}).items():
            for example in key.get("examples", ()):
                spec = {"clusterspec": 1, "cluster": {}} | {section: {name: example}}
                assert valid(spec) == jsonschema.Draft202012Validator(FULL).is_valid(spec), (section, name)


@pytest.mark.parametrize(
    ("spec", "sound"),
    [
        ({"clusterspec": 1, "extends": "../base.yaml"}, True),
        ({"clusterspec": 1}, False),
        ({"clusterspec": 1, "cluster": {"platform": "dgx-h100"}}, True),
        ({"clusterspec": 1, "cluster": {"platform": "acme-node"}}, True),
        ({"clusterspec": 1, "cluster": {"platform": 8}}, False),
        ({"clusterspec": 1, "cluster": {"plattform": "dgx-h100"}}, False),
        ({"clusterspec": 1, "cluster": {"nodes": "many"}}, False),
        ({"clusterspec": 1, "cluster": {"pcie": {"nic": 6}}}, True),
        ({"extends": "base.yaml"}, False),
    ],
)
def test_it_accepts_valid_specs(spec: Any, sound: bool) -> None:
    assert valid(spec) is sound


def keys(node: Any, definitions: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key of the spec, through mappings and references."""
    for branch in (*node.get("anyOf", ()), *node.get("allOf", ())):
        yield from keys(branch, definitions, path)
    if "$ref" in node:
        yield from keys(definitions[node["$ref"].rpartition("/")[2]], definitions, path)
    for name, one in node.get("properties", {}).items():
        yield (*path, name)
        yield from keys(one, definitions, (*path, name))


KEYS = sorted(set(keys(EDITOR, EDITOR["definitions"])) - {("clusterspec",), ("extends",)})


def test_null_deletes_any_key_of_a_base() -> None:
    assert len(KEYS) > 150
    for path in KEYS:
        value: Any = None
        for name in reversed(path):
            value = {name: value}
        base = {"clusterspec": 1, "extends": "../base.yaml"}
        found = [one.message for one in jsonschema.Draft7Validator(EDITOR).iter_errors(base | value)]
        assert all("required" in one for one in found), (path, found)


def offered(node: dict[str, Any]) -> list[str]:
    return next((list(one["enum"]) for one in node.get("anyOf", ()) if "enum" in one), [])


def test_it_offers_the_ids_of_the_catalog() -> None:
    cluster, workload = EDITOR["properties"]["cluster"]["properties"], EDITOR["properties"]["workload"]["properties"]
    catalog = Catalog.open()
    assert offered(cluster["platform"]) == [*catalog.ids("platform")]
    assert offered(cluster["accelerator"]) == [*catalog.ids("accelerator")]
    assert offered(cluster["scale_out"]["properties"]["technology"]) == [*catalog.ids("interconnect")]
    assert offered(workload["model"]) == [*catalog.ids("model")]
    assert {*KINDS_OF_KEYS.values()} <= {*catalog.kinds}


def test_the_command_prints_the_shipped_one_and_adds_the_ids_of_a_company(call: Call) -> None:
    assert call("schema", "--editor").out == SHIPPED.read_text("utf-8")
    written(Path("hardware"), "platform", skeleton("platform", "acme-node", DAY, "platforms"), "acme-node")
    own = json.loads(call("schema", "--editor", "--catalog", "hardware").out)
    assert "acme-node" in offered(own["properties"]["cluster"]["properties"]["platform"])


def test_the_entry_of_schemastore_names_it() -> None:
    entry = json.loads((ROOT / "schemas" / "schemastore.json").read_text("utf-8"))
    assert entry["url"] == EDITOR["$id"]
    assert {"name", "description", "fileMatch", "url"} == entry.keys()
