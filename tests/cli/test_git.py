"""Files of git revisions: which are read, under which names, and what is refused."""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

import pytest

from clusterspec.cli import UsageFault, git
from clusterspec.config import Config
from clusterspec.document import Document, parse
from clusterspec.source import Source
from tests.effort import each

SPEC = "clusterspec: 1\nextends: base/common.yaml\nmeasured: [{log: logs/a.txt}, {log: 7}, 3]\n"
FILES = {
    "clusterspec.toml": 'profile = "strict"\n',
    "specs/spec.yaml": SPEC,
    "specs/base/common.yaml": "extends: ../../shared.yaml\ncluster: {nodes: 4}\n",
    "specs/logs/a.txt": "log of the base\n",
    "shared.yaml": "name: shared\n",
    "catalog/nics/own.yaml": "id: own\n",
    "catalog/notes.txt": "no entry\n",
    "catalog/.gitignore": "*.tmp\n",
    "run.sh": "true\n",
}
CI = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_MERGE_REQUEST_DIFF_BASE_SHA")
Repository = tuple[Path, str]


def ran(folder: Path, *words: str) -> str:
    found = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True)
    return found.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with one commit, whose files have changed since, and the hash of the commit."""
    root = tmp_path_factory.mktemp("repository").resolve()
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "run.sh").chmod(0o755)
    (root / "link.yaml").symlink_to("shared.yaml")
    ran(root, "init", "--quiet", "--initial-branch=main")
    ran(root, "add", ".")
    ran(root, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--message=one")
    for name in ("shared.yaml", "clusterspec.toml"):
        (root / name).write_text("")
    return root, ran(root, "rev-parse", "HEAD")


@pytest.fixture
def at_base(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The repository as the working folder, with its commit as the base."""
    root, commit = repository
    monkeypatch.chdir(root)
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", commit)
    git.choose_base(argparse.Namespace(base_revision=None, trust="base"))
    git.base_ignores.cache_clear()
    return root, commit


@each(
    "path, text",
    [
        ("shared.yaml", "name: shared\n"),
        ("run.sh", "true\n"),
        ("specs/logs/a.txt", "log of the base\n"),
        ("link.yaml", None),
        ("specs", None),
        ("absent.yaml", None),
        ("*.yaml", None),
    ],
)
def test_regular_files_of_a_commit_are_read_and_nothing_else(
    path: str, text: str | None, repository: Repository
) -> None:
    found = git.blob_bytes(*repository, path)
    assert (found.decode() if found is not None else None) == text


def test_the_objects_of_a_folder_are_those_of_its_files(repository: Repository) -> None:
    root, commit = repository
    whole, part = git.tree_objects(root, commit, ""), git.tree_objects(root, commit, "catalog")
    assert set(whole) == set(FILES) and set(part) == {"nics/own.yaml", "notes.txt", ".gitignore"}
    assert git.blob_of(root, part["nics/own.yaml"]) == b"id: own\n"
    assert whole["catalog/nics/own.yaml"] == part["nics/own.yaml"]
    assert git.tree_objects(root, commit, "absent") == {}
    assert git.blob_of(root, "0" * 40) is None


def test_a_revision_is_a_commit_and_an_option_is_none(repository: Repository) -> None:
    root, commit = repository
    assert [git.commit_of(root, name) for name in ("main", commit, commit[:9])] == [commit] * 3
    assert [git.commit_of(root, name) for name in ("other", "--help", "main:shared.yaml")] == [None] * 3
    assert git.root_of(root / "specs") == root


def test_outside_a_repository_and_without_git_the_reason_is_told(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageFault, match="not inside a Git repository"):
        git.root_of(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageFault, match="Git is not installed"):
        git.root_of(repository[0])


@each(
    "given, environment, wanted",
    [
        (None, {}, ["origin/HEAD", "origin/main", "origin/master"]),
        ("v1", {"GITHUB_BASE_REF": "main"}, ["v1"]),
        (None, {"GITHUB_BASE_REF": "main"}, ["origin/main"]),
        (None, {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "dev"}, ["origin/dev"]),
        (None, {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "abc"}, ["abc"]),
        (None, dict(zip(CI, ("main", "dev", "abc"), strict=True)), ["abc", "origin/main", "origin/dev"]),
    ],
)
def test_the_base_is_that_of_the_call_or_of_the_change_under_review(
    given: str | None, environment: dict[str, str], wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    git.choose_base(argparse.Namespace(base_revision=given, trust="base"))
    assert git.base_candidates() == wanted
    git.choose_base(argparse.Namespace(base_revision=None, trust="base"))


def test_a_base_revision_needs_trust_in_the_base() -> None:
    with pytest.raises(UsageFault, match="--base-revision requires --trust base"):
        git.choose_base(argparse.Namespace(base_revision="main", trust="all"))


def test_a_base_that_is_not_here_is_named(at_base: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", "f" * 40)
    monkeypatch.setenv("GITHUB_BASE_REF", "gone")
    git.repository_and_base.cache_clear()
    with pytest.raises(UsageFault, match=f"no revision {'f' * 40} or origin/gone here; fetch it"):
        git.bytes_at_base(at_base[0] / "shared.yaml")
    git.repository_and_base.cache_clear()


def test_bytes_are_those_of_the_base_and_none_outside(at_base: Repository, tmp_path: Path) -> None:
    root, _ = at_base
    assert git.bytes_at_base(root / "shared.yaml") == b"name: shared\n"
    assert git.bytes_at_base(Path("specs/../shared.yaml")) == b"name: shared\n"
    assert git.bytes_at_base(root / "absent" / "folder.yaml") is None
    assert git.relative_to_root(root / "specs" / "new.yaml", root) == "specs/new.yaml"
    assert git.relative_to_root(tmp_path / "spec.yaml", root) is None
    (tmp_path / "way").symlink_to(root / "specs")
    assert git.relative_to_root(tmp_path / "way" / "spec.yaml", root) == "specs/spec.yaml"


def test_the_configuration_is_that_of_the_base_in_the_nearest_folder(at_base: Repository) -> None:
    root, _ = at_base
    for folder in (root, root / "specs", root / "specs" / "base"):
        assert git.base_config(folder).profile == "strict"


def test_a_folder_of_the_base_is_copied_once_with_its_yaml_alone(
    at_base: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, commit = at_base
    args = argparse.Namespace(base_copies=str(tmp_path))
    copied = git.base_folder(root / "catalog", root, args)
    assert copied == tmp_path / commit / "catalog"
    assert [path.relative_to(copied).as_posix() for path in copied.rglob("*") if path.is_file()] == ["nics/own.yaml"]
    (copied / "nics" / "own.yaml").write_text("kept")
    assert (git.base_folder(root / "catalog", root, args) / "nics" / "own.yaml").read_text() == "kept"
    assert git.base_folder(tmp_path, root, args) == tmp_path, "outside the repository"
    found = git.config_with_base_folders(Config(catalog=(root / "catalog",), rules=(tmp_path,)), root, args)
    assert (found.catalog, found.rules) == ((copied,), (tmp_path,))
    with pytest.raises(UsageFault, match="folder specs/logs holds no YAML in the base"):
        git.base_folder(root / "specs" / "logs", root, args)
    monkeypatch.setattr(git, "MOST", 1)
    with pytest.raises(UsageFault, match="folder specs holds more than 1 files"):
        git.base_folder(root / "specs", root, args)
    monkeypatch.setattr(git, "MOST", 2)
    monkeypatch.setattr(git, "LARGEST_BASE", 9)
    assert (git.base_folder(root / "specs", root, args) / "spec.yaml").read_text() == SPEC[:10], "so that it is refused"


def test_the_ignored_files_are_those_of_the_base(at_base: Repository) -> None:
    root, _ = at_base
    content_of = git.base_ignores(root)
    assert content_of(root / "catalog" / ".gitignore") == b"*.tmp\n"
    assert content_of(root / ".gitignore") is None and content_of(root / "shared.yaml") is None


@each(
    "name, wanted",
    [
        ("main:spec.yaml", ("main", "spec.yaml")),
        ("main:a:b.yaml", ("main", "a:b.yaml")),
        ("spec.yaml", None),
        (":spec.yaml", None),
        ("main:", None),
    ],
)
def test_a_name_with_a_colon_is_a_revision_and_a_path(name: str, wanted: tuple[str, str] | None) -> None:
    assert git.revision_of(name) == wanted


def test_a_file_with_a_colon_in_its_name_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main:spec.yaml").touch()
    assert git.revision_of("main:spec.yaml") is None and git.revision_of("main:other.yaml") is not None


@pytest.mark.parametrize(
    ("folder", "path"), [(".", "specs/spec.yaml"), ("specs", "spec.yaml"), ("specs", "specs/spec.yaml")]
)
def test_a_spec_of_a_revision_comes_with_its_bases_and_logs(
    folder: str, path: str, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository[0] / folder)
    spec = git.checked_out_spec("main", path, tmp_path)
    assert spec == tmp_path / "specs" / "spec.yaml" and (tmp_path / ".git").is_dir()
    names = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()}
    assert names == {"specs/spec.yaml", "specs/base/common.yaml", "specs/logs/a.txt", "shared.yaml"}
    assert (tmp_path / "shared.yaml").read_text() == "name: shared\n", "as committed, not as changed since"


@each(
    "revision, path, told",
    [
        ("gone", "specs/spec.yaml", "gone: no such revision"),
        ("main", "spec.yaml", "main:spec.yaml: no such file in this revision"),
        ("main", "./specs/none.yaml", "no such file in this revision"),
        ("main", "link.yaml", "no such file in this revision"),
    ],
)
def test_a_revision_or_file_that_is_not_there_is_named(
    revision: str, path: str, told: str, at_base: Repository, tmp_path: Path
) -> None:
    with pytest.raises(UsageFault, match=told):
        git.checked_out_spec(revision, path, tmp_path)


def test_a_spec_of_a_revision_brings_a_bounded_number_of_files(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository[0])
    monkeypatch.setattr(git, "MOST_FILES", 2)
    git.checked_out_spec("main", "specs/spec.yaml", tmp_path)
    assert len([file for file in tmp_path.rglob("*") if file.is_file()]) == 2


def read(text: str, name: str) -> Document:
    document, _ = parse(Source(name, text))
    assert document is not None
    return document


@each(
    "text, kept",
    [
        ("a: 1  # same\nb: 2\n", ["# same"]),
        ("# same\na: 1\nb: 2\n", ["# same"]),
        ("a: 1\nb: 2  # same\n", []),
        ("a: 1  # other\nb: 2\n", []),
        ("\n\na: 3  # same\nb: 2\n", ["# same"]),
    ],
)
def test_a_comment_counts_where_the_base_has_it_at_the_same_key(text: str, kept: list[str]) -> None:
    found = git.document_with_waivers_of(read(text, "spec.yaml"), {"spec.yaml": b"a: 1  # same\nb: 2\n"})
    assert [one.text for one in found.comments] == kept


def test_a_new_file_has_no_comment_of_the_base() -> None:
    assert not git.document_with_waivers_of(read("a: 1  # same\n", "spec.yaml"), {"spec.yaml": None}).comments


def test_variables_of_git_and_its_settings_do_not_reach_the_command(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, commit = repository
    monkeypatch.setenv("GIT_DIR", os.devnull)
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    assert git.commit_of(root, "main") == commit
