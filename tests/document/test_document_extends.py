"""Laws of ``extends`` and of finding specs in folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.document import MAX_BASES, CannotOpenError, Document, load, merged_value, place_of_base, to_finding
from clusterspec.document.files import spec_paths
from clusterspec.finding import Problem
from clusterspec.source import Source

LEAVES = st.none() | st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2)
MAPPINGS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), LEAVES, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | LEAVES, max_size=3),
    max_leaves=8,
)


def holds_null(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and any(holds_null(item) for item in value.values()))


@given(MAPPINGS)
def test_merging_nothing_changes_nothing(base: Any) -> None:
    assert merged_value(base, {}) == base


@given(MAPPINGS, MAPPINGS)
def test_merging_twice_is_merging_once(base: Any, over: Any) -> None:
    assert merged_value(merged_value(base, over), over) == merged_value(base, over)


@given(MAPPINGS)
def test_merging_onto_nothing_removes_nulls(over: Any) -> None:
    assert not holds_null(merged_value({}, over))


@given(MAPPINGS, MAPPINGS)
def test_keys_of_the_extending_file_have_precedence(base: Any, over: Any) -> None:
    merged = merged_value(base, over)
    for key, item in over.items():
        if item is None:
            assert key not in merged
        elif not isinstance(item, dict):
            assert merged[key] == item
        else:
            assert merged[key] == merged_value(base.get(key), item)
    assert {key: merged[key] for key in base.keys() - over.keys()} == {k: base[k] for k in base.keys() - over.keys()}


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def loaded(path: Path) -> tuple[Document, list[Problem]]:
    document, problems = load(str(path))
    assert document is not None
    return document, problems


def test_a_chain_is_merged_from_the_far_end_and_places_keep_their_file(tmp_path: Path) -> None:
    written(
        tmp_path,
        top="extends: middle.yaml\na: {x: 1}\nd: [1]\n",
        middle="extends: far.yaml\na: {y: null, z: 3}\nb: null\n",
        far="a: {x: 0, y: 0}\nb: 0\nc: 0\nd: [1, 2, 3]\n",
    )
    document, problems = loaded(tmp_path / "top.yaml")
    assert problems == []
    assert document.value == {"extends": "middle.yaml", "a": {"x": 1, "z": 3}, "c": 0, "d": [1]}
    files = {path: Path(place.value.file).stem for path, place in document.places.items()}
    assert files[("a", "x")] == "top"
    assert files[("a", "z")] == "middle"
    assert files[("c",)] == "far"
    assert sorted(Path(name).stem for name in document.sources) == ["far", "middle", "top"]
    assert not document.partial


def test_the_name_of_a_base_has_the_place_in_the_file_that_names_it(tmp_path: Path) -> None:
    written(tmp_path, top="a: 1\nextends: middle.yaml\n", middle="b: 2\n", alone="a: 1\n")
    for name, line in (("top", 2), ("alone", None)):
        text = (tmp_path / f"{name}.yaml").read_text()
        document, _ = loaded(tmp_path / f"{name}.yaml")
        found = place_of_base(document, Source(str(tmp_path / f"{name}.yaml"), text))
        assert (found.start.line if found else None) == line, name
    document, _ = loaded(tmp_path / "top.yaml")
    assert place_of_base(document, Source("other.yaml", "")) is None, "the place is in another file"


def test_a_key_deleted_in_a_middle_file_stays_deleted(tmp_path: Path) -> None:
    written(tmp_path, top="extends: middle.yaml\n", middle="extends: far.yaml\na: null\n", far="a: 1\nb: 2\n")
    assert loaded(tmp_path / "top.yaml")[0].value == {"extends": "middle.yaml", "b": 2}


def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "specs").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    written(tmp_path, outside="a: 1\n")
    (tmp_path / "project" / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    written(
        tmp_path / "project",
        base="a: 1\n",
        list="- a\n",
        circle="extends: specs/spec.yaml\n",
        broken="a: [\n",
    )
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("../../outside.yaml", "which lies outside the project"),
        ("../link.yaml", "which lies outside the project"),
        ("/etc/passwd", "which lies outside the project"),
        ("missing.yaml", "which does not exist"),
        ("..", "which is not a file"),
        ("spec.yaml", "which forms a cycle"),
        ("../circle.yaml", "which forms a cycle"),
        ("../list.yaml", "whose top level is not a mapping"),
        ('"a\\0b"', "which cannot be opened"),
        ("x" * 5000, "which cannot be opened"),
    ],
)
def test_an_unreadable_base_is_reported_at_extends(tmp_path: Path, named: str, words: str) -> None:
    folder = project(tmp_path) / "specs"
    written(folder, spec=f"clusterspec: 1\nextends: {named}\nb: 2\n")
    document, problems = loaded(folder / "spec.yaml")
    assert [problem.rule for problem in problems] == ["unresolved-extends"]
    assert words in problems[0].message
    span = to_finding(problems[0], document, document.source).span
    assert (Path(span.file).name, span.start.column) in {("spec.yaml", 10), ("circle.yaml", 10)}
    assert document.partial
    assert document.value["b"] == 2


def test_a_base_inside_the_project_may_lie_above_the_spec(tmp_path: Path) -> None:
    folder = project(tmp_path) / "specs"
    written(folder, spec="extends: ../base.yaml\n")
    assert loaded(folder / "spec.yaml")[0].value["a"] == 1


def test_without_a_project_the_folder_of_the_spec_is_the_limit(tmp_path: Path) -> None:
    written(tmp_path, base="a: 1\n")
    written(tmp_path / "deep", spec="extends: ../base.yaml\n")
    assert [problem.rule for problem in loaded(tmp_path / "deep/spec.yaml")[1]] == ["unresolved-extends"]


def test_what_makes_a_project_is_said_where_a_base_lies_outside(tmp_path: Path) -> None:
    written(tmp_path, base="a: 1\n")
    written(tmp_path / "deep", spec="extends: ../base.yaml\n")
    [problem] = loaded(tmp_path / "deep/spec.yaml")[1]
    assert "no folder above this file has `clusterspec.toml`, `pyproject.toml` or `.git`" in problem.message
    assert problem.help == "create an empty `clusterspec.toml` in the folder that holds both files"
    (tmp_path / "clusterspec.toml").touch()
    assert loaded(tmp_path / "deep/spec.yaml")[1] == []
    (tmp_path / "deep" / "pyproject.toml").touch()
    [problem] = loaded(tmp_path / "deep/spec.yaml")[1]
    assert "the nearest folder above this file with `clusterspec.toml`" in problem.message


def test_a_broken_base_is_shown_where_it_is_broken(tmp_path: Path) -> None:
    folder = project(tmp_path) / "specs"
    written(folder, spec="extends: ../broken.yaml\nb: 2\n")
    document, problems = loaded(folder / "spec.yaml")
    assert [problem.rule for problem in problems] == ["unreadable-yaml"]
    assert Path(to_finding(problems[0], document, document.source).span.file).name == "broken.yaml"
    assert document.partial


def test_a_long_chain_ends(tmp_path: Path) -> None:
    for number in range(MAX_BASES + 2):
        written(tmp_path, **{f"s{number}": f"extends: s{number + 1}.yaml\n"})
    assert "chain of more than 16 files" in loaded(tmp_path / "s0.yaml")[1][0].message


@pytest.mark.parametrize("name", ["missing.yaml", ".", "a\0b"])
def test_a_file_that_cannot_be_opened_is_the_fault_of_the_caller(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotOpenError, match=r"[^\n]+"):
        load(str(tmp_path) + "/" + name)


def test_folders_are_searched_for_specs_and_files_are_taken_as_named(tmp_path: Path) -> None:
    written(
        tmp_path,
        **{
            "b": "clusterspec: 1\n",
            "a": "name: x\n'clusterspec': 1\n",
            "flow": "{clusterspec: 1}\n",
            "broken": "clusterspec: 1\na: [\n",
            "deep/c": "clusterspec: 1\n",
            "other": "kind: Deployment\n# clusterspec: 1\n",
            "derived": "# no key of its own\nextends: deep/c.yaml\nname: x\n",
            "deep/derived": "{extends: ../derived.yaml}\n",
            "of_other": "extends: other.yaml\n",
            "of_nothing": "extends: missing.yaml\n",
            "of_itself": "extends: of_itself.yaml\n",
            "of_list": "extends: [a.yaml]\n",
            "nested": "a: {clusterspec: 1}\n",
            "broken_other": "a: [\n",
            ".git/x": "clusterspec: 1\n",
            ".venv/x": "clusterspec: 1\n",
            "node_modules/x": "clusterspec: 1\n",
        },
    )
    (tmp_path / "text.txt").write_text("clusterspec: 1\n")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    (tmp_path / "again").symlink_to(tmp_path)
    found = [os.path.relpath(name, tmp_path) for name in spec_paths(str(tmp_path))]
    assert found == ["a.yaml", "b.yaml", "broken.yaml", "derived.yaml", "flow.yaml", "deep/c.yaml", "deep/derived.yaml"]
    assert spec_paths(str(tmp_path / "other.yaml")) == [str(tmp_path / "other.yaml")]
    assert spec_paths("-") == ["-"]
    with pytest.raises(FileNotFoundError):
        spec_paths(str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("name", "why"),
    [("gone.yaml", "gone.yaml: No such file or directory"), ("a\0b", "a\0b: a null character in the name")],
)
def test_a_file_that_cannot_be_opened_is_named_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(CannotOpenError) as raised:
        load(name)
    assert str(raised.value).startswith(why)
