"""The whole folders of a company: every fault in one run, and skeletons of entries to fill in."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from clusterspec.catalog import FOLDER_OF_KIND, KINDS, Catalog
from clusterspec.catalog.company import checked_files, entry_template, schema
from tests.catalog.test_company import COMPANY, WHOLE

DAY = date(2026, 11, 20)
FACT = re.compile(r"^#((?:  )+\S|notes:|  - )", re.MULTILINE)


def written(folder: Path, kind: str, text: str, id_: str = "mine") -> Path:
    place = folder / FOLDER_OF_KIND[kind]
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{id_}.yaml").write_text(text)
    return folder


def faults(folder: Path) -> dict[str, list[str]]:
    """The rules of the findings of each file, by its path in the folder."""
    return {
        Path(one.source.name).relative_to(folder).as_posix(): [finding.rule for finding in one.findings]
        for one in checked_files([folder])
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_is_a_valid_entry_with_and_without_its_commented_facts(kind: str, tmp_path: Path) -> None:
    text = entry_template(kind, "mine", DAY, FOLDER_OF_KIND[kind])
    assert faults(written(tmp_path, kind, text)) == {f"{FOLDER_OF_KIND[kind]}/mine.yaml": []}
    assert Catalog.open([tmp_path]).get(kind, "mine").name == "mine"
    whole = FACT.sub(r"\1", text)
    assert faults(written(tmp_path, kind, whole)) == {f"{FOLDER_OF_KIND[kind]}/mine.yaml": []}
    facts = schema()["$defs"][f"{kind}_facts"]["properties"]
    assert {name.partition(".")[0] for name in Catalog.open([tmp_path]).raw_entry(kind, "mine").facts} == set(facts)


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_states_only_marked_placeholders(kind: str, tmp_path: Path) -> None:
    raw = Catalog.open([written(tmp_path, kind, entry_template(kind, "mine", DAY, FOLDER_OF_KIND[kind]))]).raw_entry(
        kind, "mine"
    )
    assert [*raw.facts] == ["year"]
    assert raw.facts["year"].origin is not None
    assert "placeholder" in str(raw.facts["year"].origin)


def test_a_valid_folder_has_no_errors() -> None:
    assert [one.findings for one in checked_files([COMPANY]) if one.findings] == []


def test_every_fault_of_every_entry_is_found_in_one_run(tmp_path: Path) -> None:
    written(tmp_path, "accelerator", WHOLE.replace("96 GiB", "96 gb").replace("900 GB/s duplex", "900 GB/s"), "acme-x1")
    written(tmp_path, "nic", "kind: nic\n", "broken")
    written(tmp_path, "switch", "foo: [", "torn")
    written(tmp_path, "platform", "kind: switch\n", "other")
    assert faults(tmp_path) == {
        "accelerators/acme-x1.yaml": ["ambiguous-unit", "missing-direction"],
        "nics/broken.yaml": ["missing-key", "missing-key", "missing-key", "missing-key"],
        "platforms/other.yaml": ["missing-key", "missing-key", "missing-key", "missing-key"],
        "switches/torn.yaml": ["unreadable-yaml"],
    }


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("acelerators/acme-x1.yaml", "move it to accelerators/acme-x1.yaml"),
        ("acme-x1.yaml", "move it to accelerators/acme-x1.yaml"),
        ("hardware/accelerators/acme-x1.yaml", "move it to accelerators/acme-x1.yaml"),
        ("accelerators/acme-x1.yml", "rename it to acme-x1.yaml"),
    ],
)
def test_a_file_in_the_wrong_folder_is_named(place: str, advice: str, tmp_path: Path) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text(WHOLE)
    (found,) = [finding for one in checked_files([tmp_path]) for finding in one.findings]
    assert (found.rule, found.help) == ("catalog-entry-misplaced", advice)
    assert found.span.file.endswith(place)


def test_a_folder_of_the_wrong_kind_is_named(tmp_path: Path) -> None:
    written(tmp_path, "switch", WHOLE, "acme-x1")
    assert "catalog-entry-misplaced" in faults(tmp_path)["switches/acme-x1.yaml"]


def test_an_entry_names_entries_that_exist(tmp_path: Path) -> None:
    text = entry_template("platform", "mine", DAY, "platforms") + "notes: [none]\n"
    written(tmp_path, "platform", text.replace("facts:\n", "facts:\n  accelerator: h100-sxm-81gb\n"))
    (found,) = [finding for one in checked_files([tmp_path]) for finding in one.findings]
    assert (found.rule, found.span.start.line) == ("unknown-catalog-id", text[: text.index("facts:")].count("\n") + 2)
    assert "h100-sxm-80gb" in found.help
