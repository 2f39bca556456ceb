"""``clusterspec diff REVISION [REVISION]``: compares all specs of a repository between two revisions, or between a
revision and the work tree.

A spec counts as changed if its file changed, or a file that it refers to, such as its base.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clusterspec import analysis
from clusterspec.analysis.comparison import lone_figures, named_findings
from clusterspec.analysis.fleets.results import fleet_diff
from clusterspec.cli import UsageFault
from clusterspec.cli.git import checked_out_spec, commit_of, git_output, root_of
from clusterspec.cli.terminal import Progress
from clusterspec.records import NamedTuple
from clusterspec.results.decision import ProjectDiffReport, SpecDiff

if TYPE_CHECKING:
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.studies import Study

MARK = r"^[\"']?clusterspec[\"']?[[:space:]]*:"
"""The key of a spec at the top level, as `git grep` looks for it."""
REFERS = r"^[[:space:]-]*[\"']?(extends|log)[\"']?[[:space:]]*:"
"""The keys that name other files."""
MOST_SPECS = 200
"""Maximum number of changed specs that are compared; further ones are only named."""


class Revisions(NamedTuple):
    """Two sides of a comparison: the old commit, and the new one, or None for the work tree."""

    root: Path
    old: str
    new: str | None


def revisions_of(old: str, new: str | None) -> Revisions | None:
    """The revisions that a call names, or None if it names specs.

    Raises `UsageFault` if one argument is a revision and the other a spec, or if there is no second spec.
    """
    if ":" in old or Path(old).exists():
        if new is None:
            raise UsageFault(f"{old}: name a second spec to compare with, or a git revision alone")
        return None
    if new is not None and (":" in new or Path(new).exists()):
        return None
    root = root_of(Path.cwd())
    for name in (old, new):
        if name is not None and commit_of(root, name) is None:
            raise UsageFault(f"{name}: no such file, and no such revision of this repository")
    return Revisions(root, old, new)


def project_diff(reader: StudyReader, revisions: Revisions, place: Path) -> tuple[ProjectDiffReport, list[Study]]:
    """The differences of all changed specs, and the new studies; copies of revisions are written to ``place``."""
    names = changed_specs(revisions)
    progress, entries, studies = Progress(), [], []
    for number, name in enumerate(names[:MOST_SPECS]):
        progress(f"compared {number} of {len(names)}: {name}")
        old = _study_at(reader, revisions, revisions.old, name, place / f"{number}-old")
        new = _study_at(reader, revisions, revisions.new, name, place / f"{number}-new")
        entry = spec_diff(name, old, new, _shown_names(revisions, name, f"{place}{os.sep}{number}-"))
        if entry is not None:
            entries.append(entry)
            studies += [new] if new is not None else []
    progress.erase()
    sides = revisions.old, revisions.new or "work tree"
    tool = reader.settings(revisions.root).tool
    return ProjectDiffReport(tool, *sides, (*entries,), (*names[MOST_SPECS:],)), studies


def _shown_names(revisions: Revisions, name: str, copies: str) -> tuple[dict[str, str], dict[str, str]]:
    """The names of copied files on both sides, by path: the revision and the path in it."""
    old, new = f"{copies}old{os.sep}", f"{copies}new{os.sep}"
    of_new = {new: f"{revisions.new}:"} if revisions.new else {os.path.relpath(revisions.root / name): name}
    return {old: f"{revisions.old}:"}, of_new


def spec_diff(
    name: str, old: Study | None, new: Study | None, names: tuple[dict[str, str], dict[str, str]]
) -> SpecDiff | None:
    """The difference of one spec; None if neither the spec nor its bases changed in content. ``names`` maps path
    prefixes of each side to names.
    """
    if old is None or new is None or old.document is None or new.document is None:
        only = new if old is None or old.document is None else old
        return _lone_spec(name, only, names[1], added=only is new) if only is not None else None
    if old.document.value == new.document.value:
        return None
    named = _names_of(old, names[0]), _names_of(new, names[1])
    if old.fleet is None and new.fleet is None:
        return SpecDiff(name, "changed", analysis.diff(old, new, named))
    both = old.fleet is not None and new.fleet is not None
    return SpecDiff(name, "changed", None, fleet=fleet_diff(old, new, named) if both else None)


def _lone_spec(name: str, study: Study, names: dict[str, str], *, added: bool) -> SpecDiff:
    """A spec that only one side has: its figures and, if new, its findings."""
    figures = () if study.fleet is not None else lone_figures(study, added=added)
    found = named_findings(study, _names_of(study, names)) if added else ()
    return SpecDiff(name, "added" if added else "removed", None, found, figures)


def _names_of(study: Study, names: dict[str, str]) -> dict[str, str]:
    """Names for path prefixes, and the name of the spec itself."""
    return names | {study.source.name: _shown_path(study.source.name, names)}


def _shown_path(path: str, names: dict[str, str]) -> str:
    start = next((start for start in names if path.startswith(start)), "")
    return names[start] + path.removeprefix(start) if start else path


def changed_specs(revisions: Revisions) -> list[str]:
    """The specs of both sides that changed or may have changed, as sorted names relative to the root."""
    changed = set(_changed_files(revisions))
    if not changed:
        return []
    specs = {*_matching_files(revisions, revisions.old, MARK), *_matching_files(revisions, revisions.new, MARK)}
    referring = {*_matching_files(revisions, revisions.old, REFERS), *_matching_files(revisions, revisions.new, REFERS)}
    return sorted(specs & (changed | referring))


def _changed_files(revisions: Revisions) -> Iterator[str]:
    sides = [revisions.old] if revisions.new is None else [revisions.old, revisions.new]
    words = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
    yield from _listed_names(git_output(revisions.root, "diff", *words, "--end-of-options", *sides, "--"))
    if revisions.new is None:
        yield from _listed_names(git_output(revisions.root, "ls-files", "--others", "--exclude-standard", "-z"))


def _matching_files(revisions: Revisions, side: str | None, pattern: str) -> Iterator[str]:
    """The YAML files of a side that have a line matching a pattern."""
    options = ("--name-only", "-z", "-I", "-E", "-e", pattern)
    where = ("--untracked",) if side is None else ()
    listed = _listed_names(git_output(revisions.root, "grep", *where, *options, *((side,) if side else ()), "--"))
    start = len(side) + 1 if side else 0
    return (name[start:] for name in listed if name.endswith((".yaml", ".yml")))


def _listed_names(output: bytes | None) -> list[str]:
    return [os.fsdecode(name) for name in (output or b"").split(b"\0") if name]


def _study_at(reader: StudyReader, revisions: Revisions, side: str | None, name: str, place: Path) -> Study | None:
    """The study of a spec on one side; None if the side lacks it."""
    whole = revisions.root / name
    if side is None:
        return reader.study(os.path.relpath(whole)) if whole.is_file() and not whole.is_symlink() else None
    place.mkdir()
    try:
        return reader.study_at(checked_out_spec(side, os.path.relpath(whole), place), whole.parent)
    except UsageFault:
        return None
