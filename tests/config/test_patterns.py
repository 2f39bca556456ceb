"""Patterns of ``.gitignore`` exclude what they exclude for git, in time that no pattern can make exponential."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clusterspec.config.patterns import (
    IgnoredPaths,
    Pattern,
    _gitignore_bytes,
    _gitignore_lines,
    compiled_patterns,
    exclusion_decision,
)
from clusterspec.config.patterns import matches as matches_below
from tests.effort import each, examples

PIECES = [
    "a",
    "b",
    "ab",
    "*",
    "?",
    "**",
    "/",
    "/**/",
    "**/",
    "!",
    "#",
    "\\",
    "\\*",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[b-a]",
    "[a",
    "[]",
    "[]a]",
    "[a-]",
    "[[:alpha:]]",
    ".y",
    "-",
]
NAMES = ["a", "b", "c", "ab", "abb", "a.y", "-", "*", "[a", "]", "a b", "!a", "#a", "\\"]
PATTERN = st.lists(st.sampled_from([*PIECES, " "]), min_size=1, max_size=6).map("".join)
PATH = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)


def matches(one: Pattern, parts: list[str], folder: bool) -> bool:
    return (folder or not one.folders) and len(parts) in one.matching_prefix_lengths(parts)


def excluded(lines: list[str], path: str) -> bool:
    """Whether a search of folders skips a file: it never enters an excluded folder."""
    parts, patterns = path.split("/"), compiled_patterns(tuple(lines))
    answer = None
    for number in range(1, len(parts) + 1):
        folder = number < len(parts)
        found = [not one.includes for one in patterns if matches(one, parts[:number], folder)]
        answer = found[-1] if found else answer
        if folder and found and answer:
            break
    return bool(answer)


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(PATTERN, min_size=1, max_size=4), paths=st.lists(PATH, min_size=1, max_size=20, unique=True))
def test_what_is_excluded_is_excluded_for_git(lines: list[str], paths: list[str], tmp_path: Path) -> None:
    if not (tmp_path / ".git").exists():
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    # Git lets a bracket reach over a slash; no list of ours does.
    lines = [line for line in lines if not any("[" in part.rpartition("]")[2] for part in line.split("/")[:-1])]
    (tmp_path / ".gitignore").write_text("\n".join(lines))
    command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"]
    said = subprocess.run(command, input="\0".join(paths), capture_output=True, text=True, check=False).stdout
    fields = said.split("\0")
    theirs = {fields[at + 3]: fields[at + 2] for at in range(0, len(fields) - 3, 4)}
    for path in paths:
        wanted = theirs[path] != "" and not theirs[path].startswith("!")
        assert excluded(lines, path) == wanted, (lines, path, theirs[path])


@pytest.mark.parametrize(
    ("lines", "path", "answer"),
    [
        (["legacy/"], "legacy/a.yaml", True),
        (["legacy/", "!legacy/a.yaml"], "legacy/a.yaml", False),
        (["!legacy/a.yaml", "legacy/"], "legacy/a.yaml", False),
        (["a.yaml", "!a.yaml", "a.yaml"], "legacy/a.yaml", True),
        (["legacy/**"], "legacy", None),
        (["/a.yaml"], "legacy/a.yaml", None),
        (["a.yaml "], "a.yaml", True),
        (["a*/"], "ab/ac", True),  # the folder above, though the name is that of no folder
        (["a*/"], "ac", None),
        (["a\\ "], "a ", True),
        (["[a-]x"], "-x", True),  # a hyphen at the end of a bracket is a letter
        (["[a-]x"], "bx", None),
        (["[-a]x"], "-x", True),
        (["[a-c-e]x"], "dx", None),  # after a range, too
        (["[a-c-e]x"], "-x", True),
        (["[\\]a]x"], "]x", True),
        (["\\", "!", "/", "[", "a//b"], "a/b", None),
    ],
)
def test_a_later_line_wins_over_an_earlier_one_and_a_file_over_its_folder(
    lines: list[str], path: str, answer: bool | None
) -> None:
    assert exclusion_decision(compiled_patterns(tuple(lines)), path, False) is answer


@pytest.mark.parametrize("line", ["*a" * 190 + "b", "a" + "*?" * 190 + "b", "**/a/" * 70 + "b", "[a]*" * 99 + "b"])
def test_no_pattern_takes_exponential_time(line: str) -> None:
    for path in ("a" * 4000, "a/" * 1000 + "a"):
        assert exclusion_decision(compiled_patterns((line,)), path, False) is None


ENDS_IN_SPACES = {"a\\\\ ": "a\\", "a\\\\\\ ": "a\\ ", "a\\  ": "a ", "a  ": "a"}
"""Patterns, and the one name that each matches: two backslashes are one of the name and protect no space."""


def test_a_space_at_the_end_counts_after_an_odd_number_of_backslashes() -> None:
    names = ["a", "a ", "a  ", "a\\", "a\\ ", "a\\\\", "a\\\\ "]
    for line, meant in ENDS_IN_SPACES.items():
        found = [name for name in names if exclusion_decision(compiled_patterns((line,)), name, False)]
        assert found == [meant], line


@each(
    ("patterns", "path", "folder", "answer"),
    [
        ([], "/r/a.yaml", False, False),
        (["*.yaml"], "/r/a.yaml", False, True),
        (["*.yaml"], "/r/b/a.yaml", False, True),
        (["*.yaml"], "/other/a.yaml", False, False),  # outside of the root
        (["*"], "/r", True, False),  # the root itself
        (["*"], "/r/..a", False, True),
        (["/b/"], "/r/b", True, True),
        (["/b/"], "/r/b", False, False),
        (["*.yaml", "!a.yaml"], "/r/a.yaml", False, False),
    ],
)
def test_paths_below_the_root_alone_match_its_patterns(
    patterns: list[str], path: str, folder: bool, answer: bool
) -> None:
    assert matches_below(patterns, Path("/r"), path, folder=folder) is answer


def test_the_deepest_list_decides_and_none_above_the_repository_counts(tmp_path: Path) -> None:
    (tmp_path / "r" / ".git").mkdir(parents=True)
    lists = {
        tmp_path / ".gitignore": b"*",
        tmp_path / "r" / ".gitignore": b"*.log\n\nout/\n",
        tmp_path / "r" / "a" / ".gitignore": b"!keep.log",
    }
    ignored = IgnoredPaths(str(tmp_path / "r" / "a"), lists.get)
    answers = {"x.log": True, "a/x.log": True, "a/keep.log": False, "keep.log": True, "x.yaml": False, "out/x": True}
    assert {name: ignored(str(tmp_path / "r" / name), folder=False) for name in answers} == answers
    out = str(tmp_path / "r" / "out")
    assert ignored(out, folder=True) and not ignored(out, folder=False)
    assert ignored(str(tmp_path / "x.yaml"), folder=False), "a path outside of the repository has the lists above it"
    alone = IgnoredPaths(str(tmp_path / "b"), lists.get)
    assert not alone(str(tmp_path / "b" / "x.yaml"), folder=False), "without a repository, only its own folder counts"


def test_a_list_of_ignored_files_has_2000_lines_and_256_kib_at_most(tmp_path: Path) -> None:
    place = tmp_path / ".gitignore"
    assert _gitignore_bytes(place) is None is _gitignore_bytes(tmp_path)
    place.write_bytes(b"a\n" * 200_000)
    assert _gitignore_bytes(place) == b"a\n" * 131_072
    assert _gitignore_lines(b"a\n\nb\xff") == ("a", "b\ufffd") and _gitignore_lines(None) == ()
    assert len(_gitignore_lines(b"a\n" * 3000)) == 2000
    assert _gitignore_lines(b"x" * 300_000) == ("x" * 262_144,)
