"""Completions and hover texts at a place of a text, worked by hand: ``|`` stands where the cursor is."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.cli.language_server import features
from clusterspec.cli.language_server.features import Place, completion_items, hover_text, path_at
from clusterspec.document import Document, parse
from clusterspec.rules.index import RULES
from clusterspec.source import Path as KeyPath
from clusterspec.source import Position, Source
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

CATALOG = Catalog.open()


def offered(text: str, folder: Path = Path("/nowhere")) -> dict[str, features.CompletionItem]:
    """The completions at the mark, by their text."""
    before, _, after = text.partition("|")
    line = before.count("\n")
    place = Place((before + after).split("\n"), line, len(before.rsplit("\n", 1)[-1]), folder)
    return {item.text: item for item in completion_items(place, CATALOG)}


@each(
    "text, some, none",
    [
        ("|", {"clusterspec", "cluster", "workload"}, {"platform", "tp"}),
        ("clusterspec: 1\n|", {"cluster", "workload"}, {"clusterspec", "nodes"}),
        ("cluster:\n  |", {"platform", "nodes"}, {"cluster", "workload"}),
        ("cluster:\n  nodes: 4\n  |\n  platform: x\n", {"accelerator"}, {"nodes", "platform"}),
        ("cluster:\n  platform: x\nlayout:\n  |", {"tp", "pp"}, {"platform"}),
        ("cluster:  # the machine\n  scale_out:\n    |", {"nic_bandwidth"}, {"platform", "nodes"}),
        ("layout:\n  tp: 2\n  overlap:\n    |", {"dp", "tp"}, {"sharding"}),
        ("layout:\n  tp: 2\n\ncluster:\n  |", {"nodes"}, {"tp", "layout"}),
        ("cluster:\n  power:\n  pl|", {"platform"}, {"node", "nodes_per_rack", "power"}),
        ("cluster:\n  platform: x\n  nodes: 4\n  |", {"power"}, {"platform", "nodes"}),
        ("measured:\n  - |", {"collective", "log"}, {"measured"}),
        ("measured:\n  - log: a\n    |", {"collective"}, {"log", "measured"}),
        (
            "measured:\n  - log: a\n  - size: 1 GiB\n    |\n    ranks: 8\n  - busbw: 1\n",
            {"log", "busbw"},
            {"size", "ranks"},
        ),
        ("layout: {|", {"tp", "framework"}, {"cluster"}),
        ("layout: {tp: 2, |", {"pp"}, {"cluster"}),
    ],
)
def test_the_keys_of_the_mapping_that_it_lacks_are_offered(text: str, some: set[str], none: set[str]) -> None:
    found = offered(text)
    assert some <= found.keys() and not none & found.keys()
    assert {item.kind for item in found.values()} == {"key"}
    assert all(found[key].detail for key in some), "each with its description"


@each(
    "text, kind, some",
    [
        ("cluster:\n  platform: |", "platform", {"dgx-h100"}),
        ("cluster:\n  platform: dgx|", "platform", {"dgx-h100"}),
        ("cluster: {nodes: 4, platform: |", "platform", {"dgx-h100"}),
        ("layout:\n  sharding: |", "value", {"fsdp", "zero1"}),
        ("layout: {sharding: |", "value", {"fsdp", "zero1"}),
        ("layout: {tp: 2, sharding: |}", "value", {"fsdp", "zero1"}),
        ("layout:\n  sequence_parallel: |", "value", {"true", "false"}),
        ("cluster:\n  scale_out:\n    topology: |", "value", {"rail-optimized", "fat-tree"}),
        ("cluster:\n  scale_out: {topology: |", "value", {"rail-optimized", "fat-tree"}),
        ("layout:\n  tp: 2  # clusterspec: ignore[|", "value", {"tight-memory"}),
        ("# clusterspec: ignore-file[tight-memory, |", "value", {"tight-memory"}),
    ],
)
def test_the_choices_of_a_key_are_offered(text: str, kind: str, some: set[str]) -> None:
    found = offered(text)
    assert some <= found.keys()
    assert {item.kind for item in found.values()} == {kind}


@each(
    "text",
    ["layout:\n  tp: 2  # |", "# see ignore[|", "# clusterspec: ignore[a] |", "a: 'x'  # clusterspec: ignore[a] and |"],
)
def test_a_comment_has_completions_in_the_brackets_of_a_waiver_alone(text: str) -> None:
    assert offered(text) == {}


def test_all_rules_can_be_waived_and_an_entry_is_offered_with_its_figures() -> None:
    assert offered("# clusterspec: ignore[|").keys() == RULES.keys()
    assert offered("cluster:\n  accelerator: |")["h100-sxm-80gb"].detail.startswith("H100 SXM5 80 GB · ")


def test_a_base_is_a_yaml_file_of_the_folder_or_of_the_one_above_inside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    (folder / ".git").mkdir()
    for name in ("b.yaml", "a.yml", "notes.md"):
        (folder / name).touch()
    (tmp_path / "above.yaml").touch()
    assert [*offered("extends: |", folder)] == ["a.yml", "b.yaml"], "the project ends at the folder"
    (folder / ".git").rmdir()
    (tmp_path / ".git").mkdir()
    assert [*offered("extends: |", folder)] == ["a.yml", "b.yaml", "../above.yaml"]
    monkeypatch.setattr(features, "MOST", 1)
    assert [*offered("extends: |", folder)] == ["a.yml", "../above.yaml"]
    assert [*offered("cluster:\n  extends: |", folder)] == [], "only at the top"


TEXT = """\
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 900 GB/s unidirectional}
workload:
  model: nobodys-model
"""


def document() -> Document:
    found, _ = parse(Source("spec.yaml", TEXT))
    assert found is not None
    return found


@each(
    "line, column, path, on_key",
    [
        (2, 1, ("cluster",), True),
        (2, 8, ("cluster",), True),
        (3, 3, ("cluster", "platform"), True),
        (3, 13, ("cluster", "platform"), False),
        (3, 21, ("cluster", "platform"), False),
        (5, 14, ("cluster", "scale_up", "bandwidth"), True),
        (5, 26, ("cluster", "scale_up", "bandwidth"), False),
        (5, 13, ("cluster", "scale_up"), False),
    ],
)
def test_a_place_is_on_a_key_or_in_the_innermost_value(line: int, column: int, path: KeyPath, on_key: bool) -> None:
    assert path_at(document(), Position(line, column)) == (path, on_key)


@each(
    "line, column, some, none",
    [
        (3, 4, ["**cluster.platform**", "catalog"], ["```text"]),
        (3, 15, ["```text\n", "DGX H100"], ["**cluster.platform**"]),
        (4, 4, ["**cluster.nodes**"], ["```"]),
        (5, 30, ["```text\n", "GB/s", "# duplex-counted-as-one-way", "\n\n---\n\n"], ["**cluster"]),
        (7, 12, [], ["```", "**"]),
    ],
)
def test_a_hover_tells_the_key_the_entry_the_readings_or_the_page(
    line: int, column: int, some: list[str], none: list[str]
) -> None:
    findings = [one for one in study_text(TEXT, SETTINGS).findings if one.rule == "duplex-counted-as-one-way"]
    assert len(findings) == 1
    found = hover_text(document(), CATALOG, findings, Position(line, column))
    assert [part for part in some if part not in found] == [] == [part for part in none if part in found]
    assert bool(some) == bool(found)


def test_a_finding_of_another_file_has_no_page_here() -> None:
    findings = list(study_text(TEXT, SETTINGS, "base.yaml").findings)
    assert "# duplex-counted-as-one-way" not in hover_text(document(), CATALOG, findings, Position(5, 30))
