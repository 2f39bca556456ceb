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
from clusterspec.catalog.company import KINDS_OF_KEYS, entry_template
from clusterspec.cli.language_server.features import Place, completion_items
from clusterspec.document import parse
from clusterspec.source import Source
from clusterspec.studies import Settings, study_text
from tests.catalog.test_company_folders import DAY, written
from tests.cli.conftest import ROOT, Call
from tests.effort import each, telling, thorough

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


@thorough
def test_it_is_sound_draft_7_without_keywords_of_its_own() -> None:
    jsonschema.Draft7Validator.check_schema(EDITOR)
    assert EDITOR["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert not {word for word in keywords(EDITOR) if word.startswith("x-")} | keywords(EDITOR) & {"$defs"}


@each("path", SPECS)
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
        ({"clusterspec": 1, "cluster": {"platform": "acme-node"}}, False),
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


INTERCONNECTS = (("scale_out", "technology"), ("scale_up", "interconnect"))


def offered(node: dict[str, Any]) -> list[str]:
    return next((list(one["enum"]) for one in node.get("anyOf", ()) if "enum" in one), [])


def test_it_offers_the_ids_of_the_catalog() -> None:
    cluster, workload = EDITOR["properties"]["cluster"]["properties"], EDITOR["properties"]["workload"]["properties"]
    catalog = Catalog.open()
    assert offered(cluster["platform"]) == [*catalog.ids("platform")]
    assert offered(cluster["accelerator"]) == [*catalog.ids("accelerator")]
    taken = {key: offered(cluster[key]["properties"][name]) for key, name in INTERCONNECTS}
    assert {"infiniband-ndr", "roce-v2"} <= {*taken["scale_out"]} and "nvlink-4" not in taken["scale_out"]
    assert {"nvlink-4", "xgmi-mi300x"} <= {*taken["scale_up"]} and "infiniband-ndr" not in taken["scale_up"]
    assert {*taken["scale_out"], *taken["scale_up"]} == {*catalog.ids("interconnect")}
    assert offered(workload["model"]) == [*catalog.ids("model")]
    units = cluster["power"]["properties"]["cdus"]["properties"]["model"]
    assert offered(units) == [*catalog.ids("cdu")]
    assert {*KINDS_OF_KEYS.values()} <= {*catalog.kinds}


def test_the_command_prints_the_shipped_one_and_adds_the_ids_of_a_company(call: Call) -> None:
    assert call("schema", "--editor").out == SHIPPED.read_text("utf-8")
    written(Path("hardware"), "platform", entry_template("platform", "acme-node", DAY, "platforms"), "acme-node")
    own = json.loads(call("schema", "--catalog", "hardware").out)
    assert "acme-node" in offered(own["properties"]["cluster"]["properties"]["platform"])


def test_the_entry_of_schemastore_names_it() -> None:
    entry = json.loads((ROOT / "schemas" / "schemastore.json").read_text("utf-8"))
    assert entry["url"] == EDITOR["$id"]
    assert {"name", "description", "fileMatch", "url"} == entry.keys()


def findings_of_form(text: str) -> list[str]:
    """The rules of the schema, the units and the catalog's names that a spec breaks."""
    study = study_text(text, SETTINGS)
    return [one.rule for one in study.checked.findings if one.rule in OF_FORM]


SETTINGS = Settings.from_folder(ROOT)
OF_FORM = {
    "unreadable-yaml",
    "duplicate-key",
    "unsupported-spec-version",
    "unresolved-extends",
    "unknown-key",
    "unknown-choice",
    "wrong-type",
    "missing-key",
    "unreadable-quantity",
    "ambiguous-unit",
    "missing-unit",
    "wrong-unit",
    "missing-direction",
    "missing-sparsity",
    "unknown-catalog-id",
    "ambiguous-form-factor",
}
READ = [*SPECS, *sorted((ROOT / "tests" / "corpus").glob("*.yaml"))]


@pytest.mark.parametrize("path", READ, ids=lambda path: path.stem[:40])
def test_a_spec_whose_form_check_accepts_is_valid(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    document, _ = parse(Source(path.name, text))
    if document is None or findings_of_form(text):
        return
    errors = [one.message for one in jsonschema.Draft7Validator(EDITOR).iter_errors(document.value)]
    assert not errors


MUTATED = [
    ("nic_bandwidth: 400 Gb/s", "nic_bandwidth: 400"),
    ("nic_bandwidth: 400 Gb/s", "nic_bandwidth: 400 GB"),
    ("nic_bandwidth: 400 Gb/s", "nic_bandwidth: 400 gb/s"),
    ("nic_bandwidth: 400 Gb/s", "nic_bandwidth: 1 x 400 Gb/s (duplex)"),
    ("bandwidth: 900 GB/s duplex", "bandwidth: 900 GB/s"),
    ("bandwidth: 900 GB/s duplex", "bandwidth: 450 GB/s per direction"),
    ("bandwidth: 900 GB/s duplex", "bandwidth: 900"),
    ("platform: dgx-h100", "platform: dgx-h10"),
    ("platform: dgx-h100", "platform: DGX-H100"),
    ("technology: infiniband-ndr", "technology: nvlink-4"),
    ("technology: infiniband-ndr", "technology: roce-v2"),
    ("interconnect: nvlink-4", "interconnect: infiniband-ndr"),
    ("model: llama-3.1-8b", "model: llama-3.1"),
    ("model: llama-3.1-8b", "model: {base: llama-8b}"),
    ("switch: quantum-2-qm9700", "switch: quantum"),
    ("nic: connectx-7", "nic: connectx"),
    ("peak_flops: 989 TFLOP/s dense", "peak_flops: 989 TFLOP/s"),
    ("peak_flops: 989 TFLOP/s dense", "peak_flops: 989 TFLOPS without sparsity"),
    ("tokens: 1T", "tokens: 1e12"),
    ("tokens: 1T", "tokens: 1.5"),
    ("oversubscription: 2:1", "oversubscription: 2"),
    ("oversubscription: 2:1", "oversubscription: 2:1 down"),
    ("host_memory: 2 TB", "host_memory: 2"),
    ("host_memory: 2 TB", "host_memory: 1.8 TiB"),
    ("checkpoint_interval: 1 h", "checkpoint_interval: 1"),
    ("checkpoint_interval: 1 h", "checkpoint_interval: 90 minutes"),
]
WHOLE = """\
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  host_memory: 2 TB
  scale_up: {interconnect: nvlink-4, bandwidth: 900 GB/s duplex}
  scale_out:
    technology: infiniband-ndr
    nic: connectx-7
    nic_bandwidth: 400 Gb/s
    oversubscription: 2:1
    switch: quantum-2-qm9700
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 256
  tokens: 1T
  peak_flops: 989 TFLOP/s dense
operations: {checkpoint_interval: 1 h}
"""


@telling(1)
@each(("old", "new"), [("", ""), *MUTATED])
def test_it_agrees_with_check_on_quantities_and_names(old: str, new: str) -> None:
    assert old in WHOLE
    text = WHOLE.replace(old, new, 1)
    document, _ = parse(Source("spec.yaml", text))
    assert document is not None
    assert valid(document.value) == (not findings_of_form(text)), findings_of_form(text)


@pytest.mark.parametrize(
    ("text", "offered", "withheld"),
    [
        ("cluster:\n  scale_out:\n    technology: ", "infiniband-ndr", "nvlink-4"),
        ("cluster:\n  scale_up:\n    interconnect: ", "nvlink-4", "infiniband-ndr"),
        ("cluster:\n  power:\n    switch: ", "1.7 kW", "quantum-2-qm9700"),
        ("cluster:\n  pcie:\n    nic: ", "6", "connectx-7"),
        ("cluster:\n  scale_out:\n    switch: ", "quantum-2-qm9700", "1.7 kW"),
    ],
)
def test_completion_offers_what_the_key_takes(text: str, offered: str, withheld: str) -> None:
    lines = text.split("\n")
    found = {one.text: one.detail for one in completion_items(Place(lines, 2, len(lines[2]), ROOT), Catalog.open())}
    assert offered in found and withheld not in found
    if offered in ("infiniband-ndr", "nvlink-4", "quantum-2-qm9700"):
        assert " · " in found[offered]
