"""Files of specs: names relative to project and repository, and the search of folders."""

from __future__ import annotations

import errno
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path as FilePath

from clusterspec.document import is_derived_spec, project_root
from clusterspec.document.model import LARGEST, decode, read_bytes
from clusterspec.document.parse import parse
from clusterspec.finding import Finding
from clusterspec.records import dataclass, replace
from clusterspec.source import Position, Span
from clusterspec.standard import pattern

# File names independent of the current folder: relative to the project and to the repository


@dataclass(frozen=True)
class FileName:
    """The path of a file from the root of its project, used in fingerprints, and of its repository.

    Both use ``/``. The repository is the nearest parent folder with ``.git``, else the project.
    """

    project: str
    repository: str


def file_names(names: Iterable[str]) -> dict[str, FileName]:
    """The names of files, by the names given by the caller."""
    return {name: file_name(name) for name in names}


def file_name(name: str) -> FileName:
    """The names of a file, which need not exist; symlinks in its folder are resolved."""
    folder, last = os.path.split(os.path.abspath(name))  # noqa: PTH100 - as the caller wrote it, `..` taken out
    try:
        return FileName(*(before + last for before in _folder_prefixes(folder)))
    except (OSError, ValueError, RuntimeError):  # a name that no folder can have
        return FileName(name, name)


@lru_cache(maxsize=4096)
def _folder_prefixes(folder: str) -> tuple[str, str]:
    """Prefixes of the names of a folder's files: the path from the root of the project and from the root of the
    repository.
    """
    place = os.path.realpath(folder)
    relative = (os.path.relpath(place, root).replace(os.sep, "/") for root in _project_and_repository(folder))
    project, repository = ("" if path == "." else f"{path}/" for path in relative)
    return project, repository


def _project_and_repository(folder: str) -> tuple[str, str]:
    """The roots of the project and of the repository of a folder."""
    project = project_root(FilePath(folder))
    for candidate in (project, *project.parents):
        if os.path.exists(candidate / ".git"):  # noqa: PTH110 - never raises
            return str(project), str(candidate)
    return str(project), str(project)


def real_path(name: str) -> str:
    """The path of a file with symlinks resolved."""
    return _cached_real_path(os.path.abspath(name))  # noqa: PTH100


@lru_cache(maxsize=4096)
def _cached_real_path(name: str) -> str:
    try:
        return os.path.realpath(name)
    except (OSError, ValueError):
        return name


# Search for spec files in paths and folders

_SUFFIXES = (".yaml", ".yml")
TEXTS = (".md", ".markdown", ".txt", ".rst")
"""Suffixes of running text, whose quantities are checked where a file is named, or included by the configuration."""
DEEPEST = 100
"""Folders below each other that are searched."""
_SKIPPED = {"node_modules", "__pycache__"}
_NAMES_KEY = pattern(rb"""cluster[-_ ]?spec["']?\s*:""", re.IGNORECASE)
_TOP_KEY = pattern(rb"""(?:^|\r)(?:\xef\xbb\xbf)?["']?cluster[-_ ]?spec["']?\s*:""", re.MULTILINE | re.IGNORECASE)
_EXTENDS = pattern(rb"""(?:^|\r)(?:\xef\xbb\xbf)?["']?extends["']?\s*:""", re.MULTILINE)
_FIRST_KEY = pattern(rb"""(?:[ ]*(?:#[^\n]*)?\r?\n)*+cluster[-_ ]?spec:(?=[ \r\n])""", re.IGNORECASE)
"""The key at the very start of a text, after comments: it then is a key of the top mapping, or the text is broken."""
_CLUSTER, _WORK = (pattern(key, re.MULTILINE) for key in (rb"^cluster:[ \r\n]", rb"^(?:workload|layout):[ \r\n]"))
"""Sections of a spec at the top level."""
_SPELT = pattern("cluster[-_ ]?spec", re.IGNORECASE)


PassedOver = Callable[[OSError], None]
"""Called with the error of an unreadable file or folder, which has its ``filename``."""


Skipped = Callable[[str, bool], bool]
"""Whether a search passes over a path, which is a folder where the second argument is true."""
Included = Callable[[str], bool]
"""Whether a search includes a running text."""


def may_be_spec(text: str) -> bool:
    """Whether a text seems to have the key of a spec at its top level. The YAML is not parsed.

    >>> may_be_spec("name: a\\nclusterspec: 1\\n"), may_be_spec("{clusterspec: 1}"), may_be_spec("kind: clusterspec\\n")
    (True, True, False)
    """
    data = text.encode("utf-8", "replace")
    flow = text.lstrip("\ufeff \t\r\n").startswith("{")
    return bool(_TOP_KEY.search(data) or (flow and _NAMES_KEY.search(data)))


def is_derived(text: str, path: FilePath) -> bool:
    """Whether the text of a file extends a spec. The text itself lacks the key of specs."""
    data = text.encode("utf-8", "replace")
    return _may_extend(data) and is_derived_spec(parse(decode(str(path), data))[0], path.parent)


def _may_extend(data: bytes) -> bool:
    """Whether a text may have the key of a base at its top level."""
    flow = b"extends" in data and data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return flow or _EXTENDS.search(data) is not None


def spec_paths(
    path: str,
    *,
    only_specs: bool = False,
    passed_over: PassedOver = lambda _: None,
    skipped: Skipped = lambda _, __: False,
    included: Included = lambda _: False,
    unversioned: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """The specs of a path, sorted by name. A file, or ``-``, is returned as given. A folder gives every YAML file whose
    top mapping has the key ``clusterspec`` in any case, directly or from its base, and every ``included`` running text.

    Hidden folders, ``node_modules`` and symlinked folders are skipped, and with ``only_specs`` also
    files that are neither specs nor included. Files of a folder with the sections of a spec and without its key are
    ``unversioned``. Raises `OSError` if ``path`` does not exist or is an unreadable folder.
    """
    if path == "-":
        return [path]
    if FilePath(path).is_dir():
        os.scandir(path).close()
        wanted_names = []
        for name, entry in _candidate_files(path, passed_over, skipped, included):
            if _is_checked_file(name, passed_over, entry):
                wanted_names.append(name)
            elif _has_sections_alone(name, entry):
                unversioned(name)
        return wanted_names
    FilePath(path).stat()
    wanted = not only_specs or (_may_be_checked(path, included) and _is_checked_file(path, passed_over, FilePath(path)))
    return [path] if wanted and not (only_specs and skipped(path, False)) else []


def _may_be_checked(name: str, included: Included) -> bool:
    """Whether a file may be a spec (with any suffix if it is named explicitly) or is an included text."""
    return not name.lower().endswith(TEXTS) or included(name)


def _is_checked_file(name: str, passed_over: PassedOver, entry: os.DirEntry[str] | FilePath) -> bool:
    return (_is_text if name.lower().endswith(TEXTS) else _is_spec)(name, passed_over, entry)


def _candidate_files(
    folder: str, passed_over: PassedOver, skipped: Skipped, included: Included
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The YAML files and the included texts below a folder."""
    left = [(folder, 0)]
    while left:
        where, depth = left.pop()
        folders, files = _folder_entries(where, passed_over)
        if depth == DEEPEST and folders:
            passed_over(OSError(errno.ELOOP, f"more than {DEEPEST} folders deep", where))
            folders = []
        for entry in files:
            if _may_be_checked(entry.path, included) and not skipped(entry.path, False):
                yield entry.path, entry
        below = [os.path.join(where, name) for name in folders]  # noqa: PTH118
        left += [(path, depth + 1) for path in reversed(below) if not skipped(path, True)]


def _folder_entries(folder: str, passed_over: PassedOver) -> tuple[list[str], list[os.DirEntry[str]]]:
    """The folders that are searched and the YAML files and texts in a folder, each in order of name."""
    folders, files = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not _is_folder(entry):
                    if entry.name.endswith(_SUFFIXES) or entry.name.lower().endswith(TEXTS):
                        files.append(entry)
                elif not entry.name.startswith(".") and entry.name not in _SKIPPED and not entry.is_symlink():
                    folders.append(entry.name)
    except OSError as fault:
        passed_over(fault)
    return sorted(folders), sorted(files, key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str] | FilePath) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_text(name: str, passed_over: PassedOver, entry: os.DirEntry[str] | FilePath) -> bool:
    """Whether a running text is a file of the project that can be read, and not too long."""
    try:
        if not _is_file(entry) or (entry.is_symlink() and _leads_out_of_project(FilePath(name))):
            return False
        if len(read_bytes(name)) > LARGEST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), name)
    except OSError as fault:
        passed_over(fault)
        return False
    return True


def _is_spec(name: str, passed_over: PassedOver, entry: os.DirEntry[str] | FilePath) -> bool:
    """Whether a file is a spec; one with invalid YAML is if the key starts a line."""
    try:
        if not _is_file(entry) or (entry.is_symlink() and _leads_out_of_project(FilePath(name))):
            return False
        data = read_bytes(name)
    except OSError as fault:
        passed_over(fault)
        return False
    if _FIRST_KEY.match(data):
        return True
    if not _NAMES_KEY.search(data) and not _may_extend(data):
        return False
    document, _ = parse(decode(name, data))
    if document is None:
        return _TOP_KEY.search(data) is not None
    own = isinstance(document.value, dict) and any(_SPELT.fullmatch(key) for key in document.value)
    return own or is_derived_spec(document, FilePath(name).parent)


def _has_sections_alone(name: str, entry: os.DirEntry[str]) -> bool:
    """Whether a YAML file looks like a spec without the key of specs: it has `cluster` and another section at its top
    level.
    """
    if name.lower().endswith(TEXTS) or not _is_file(entry) or entry.is_symlink():
        return False
    with suppress(OSError):
        data = read_bytes(name)
        return bool(_CLUSTER.search(data) and _WORK.search(data)) and not _NAMES_KEY.search(data)
    return False


def _leads_out_of_project(path: FilePath) -> bool:
    """Whether a symlink points outside the project."""
    return not path.resolve().is_relative_to(project_root(path.parent))


# Findings of specs that are checked together, where a finding lies in the text of a base: many specs may read one base;
# a fault that it has by itself is its own, and any other belongs to the spec that extends it

MOST_NAMED = 5
"""Maximum number of inheriting specs named with a finding; the last note counts the rest."""

Fault = tuple[str, str, str, str, Position, Position]
"""A rule, a severity, a message, the file with symlinks resolved, and the start and end of the span."""


@dataclass(frozen=True)
class FileFindings:
    """The findings of a file, the place of its ``extends``, and its bases with symlinks resolved."""

    name: str
    findings: Sequence[Finding]
    extends: Span | None = None
    bases: frozenset[str] = frozenset()

    def in_base(self, finding: Finding) -> bool:
        """Whether a finding lies in a base."""
        return self.extends is not None and finding.span.file != self.name


def fault_of(finding: Finding) -> Fault:
    """The identity of a finding across specs. A finding reported at ``extends`` has the same identity as the finding in
    its base.
    """
    span = finding.base or finding.span
    message = finding.message.removeprefix(f"{finding.base}: ") if finding.base else finding.message
    return finding.rule, str(finding.severity), message, real_path(span.file), span.start, span.end


def attributed_findings(files: Sequence[FileFindings]) -> list[Finding]:
    """The findings of files that are checked together, each at the file that has to change.

    A finding in a base is reported once, at the base, if the base is one of the files and has the finding by itself;
    the report names the specs that inherit it. Otherwise it is reported in each spec, at its ``extends``, with the base
    as related place.
    """
    if not any(file.bases for file in files):
        return [finding for file in files for finding in file.findings]
    having: defaultdict[Fault, list[FileFindings]] = defaultdict(list)
    for file in files:
        for finding in file.findings:
            having[fault_of(finding)].append(file)
    heirs: defaultdict[tuple[Fault, str], list[Span]] = defaultdict(list)
    kept: list[tuple[FileFindings, Finding]] = []
    for file in files:
        for finding in file.findings:
            fault = fault_of(finding)
            owner = _owner_file(file, having[fault]) if file.in_base(finding) else None
            if owner is not None and file.extends is not None:
                heirs[fault, owner.name].append(file.extends)
            else:
                kept.append((file, finding))
    placed = [(file, _finding_at_place(file, one, heirs.get((fault_of(one), file.name), ()))) for file, one in kept]
    order = {file.name: number for number, file in enumerate(files)}
    return [one for _, one in sorted(placed, key=lambda pair: (order[pair[0].name], pair[1].span.start))]


def finding_at_extends(finding: Finding, extends: Span) -> Finding:
    """A finding in a base as one of the spec that extends it, without the fix: other specs may read the base."""
    return replace(
        finding,
        span=extends,
        base=finding.span,
        message=f"{finding.span}: {finding.message}",
        related=((finding.span, "in the base"), *finding.related),
        edits=(),
        fix_description="",
        fix_safe=False,
    )


def _owner_file(file: FileFindings, having: Sequence[FileFindings]) -> FileFindings | None:
    """The base that introduces a fault: a base of ``file`` that has the fault and does not inherit it."""
    bases = [one for one in having if real_path(one.name) in file.bases]
    return next((one for one in bases if not any(real_path(each.name) in one.bases for each in bases)), None)


def _finding_at_place(file: FileFindings, finding: Finding, heirs: Sequence[Span]) -> Finding:
    """A finding where it is reported: at ``extends`` if it lies in a base, with the specs that inherit it."""
    if file.extends is not None and file.in_base(finding):
        finding = finding_at_extends(finding, file.extends)
    if not heirs:
        return finding
    notes = ["inherits this"] * min(MOST_NAMED, len(heirs))
    if len(heirs) > MOST_NAMED:
        notes[-1] += f", as {len(heirs) - MOST_NAMED} more do"
    related = (*finding.related, *zip(heirs, notes, strict=False))
    return replace(finding, related=related, heirs=tuple(dict.fromkeys(one.file for one in heirs)))
