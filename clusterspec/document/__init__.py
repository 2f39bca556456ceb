"""YAML documents with the position of every key and value.

`load` reads a file and the bases that its ``extends`` names, merged; `parse` reads a text; `validate` checks a document
against a JSON Schema; `to_finding` turns problems into findings; `waivers.open_findings` removes waived findings;
`files.spec_paths` searches folders.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from pathlib import Path as FilePath

from clusterspec.document.model import (
    LARGEST,
    Comment,
    Document,
    Place,
    Places,
    applied_edits,
    apply_edits,
    decode,
    encode,
    read_bytes,
    text_at,
    to_finding,
)
from clusterspec.document.parse import parse, with_hidden_keys
from clusterspec.document.schema import intended_keys, load_violation_texts, nearest_words, validate
from clusterspec.document.values import dump
from clusterspec.finding import Problem
from clusterspec.records import dataclass, replace
from clusterspec.source import Path, Source, Span
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "LARGEST",
    "CannotOpenError",
    "Comment",
    "Document",
    "Place",
    "Places",
    "applied_edits",
    "apply_edits",
    "decode",
    "dump",
    "encode",
    "intended_keys",
    "load",
    "load_source",
    "load_violation_texts",
    "marked_root",
    "merged_value",
    "nearest_words",
    "parse",
    "project_root",
    "read_bytes",
    "text_at",
    "to_finding",
    "validate",
    "with_hidden_keys",
]


# Resolution of ``extends``: a base spec of the project whose keys a spec adds to, replaces or deletes

KEY = "extends"
ROOT_MARKS = ("clusterspec.toml", "pyproject.toml", ".git")
KEY_OF_SPECS = "clusterspec"
_TOP_KEY = pattern(rb"""^(?:\xef\xbb\xbf)?["']?clusterspec["']?\s*:""", re.MULTILINE)
MAX_BASES = 16


class _UnresolvedError(Exception):
    """Raised, with the reason and the advice, if a base cannot be read."""

    def __init__(self, why: str, advice: str = "name a spec inside the project, relative to this file") -> None:
        super().__init__(why)
        self.advice = advice


@dataclass(frozen=True)
class _Project:
    """The root folder of allowed bases, the files already read, and the top-level keys of a spec."""

    root: FilePath
    seen: set[FilePath]
    keys: Collection[str]


def project_root(folder: FilePath) -> FilePath:
    """The nearest parent folder with a project marker, else ``folder``; symlinks are resolved."""
    return marked_root(folder) or folder.resolve()


def marked_root(folder: FilePath) -> FilePath | None:
    """The nearest parent folder with a project marker; None outside of any project. Symlinks are resolved."""
    folder = folder.resolve()
    return next((candidate for candidate in (folder, *folder.parents) if _is_project_folder(candidate)), None)


def _is_project_folder(folder: FilePath) -> bool:
    """Whether a folder holds a project marker."""
    return any(os.path.exists(folder / mark) for mark in ROOT_MARKS)  # noqa: PTH110 — never raises


def extended_document(
    document: Document, folder: FilePath, keys: Collection[str] = ()
) -> tuple[Document, list[Problem]]:
    """A document of ``folder`` with its bases merged in, and the problems with them.

    A base that cannot be read gives an unresolved-extends problem and a document marked partial.
    """
    named = _named_base(document)
    if named is None:
        return document, []
    chain: list[Document] = [document]
    problems: list[Problem] = []
    project = _Project(project_root(folder), {(folder / FilePath(document.source.name).name).resolve()}, keys)
    while named is not None:
        try:
            folder, base, further = _base_document(chain[-1], folder, named, project)
        except _UnresolvedError as error:
            problems.append(_unresolved_problem(chain, named, str(error), error.advice))
            break
        problems += further
        if base is None:
            break
        chain.append(base)
        named = _named_base(base)
    return _folded_document(chain, partial=named is not None), problems


def _named_base(document: Document) -> str | None:
    """The value of ``extends``; None if it is not text, which schema validation reports."""
    value = document.value.get(KEY) if isinstance(document.value, dict) else None
    return value if isinstance(value, str) else None


def _unresolved_problem(chain: list[Document], named: str, why: str, advice: str) -> Problem:
    place = chain[-1].places[(KEY,)]
    return Problem(
        "unresolved-extends", (KEY,), f"extends names {_shortened_text(named)}, {why}", advice, span=place.value
    )


def _shortened_text(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"


def _base_document(
    document: Document, folder: FilePath, named: str, project: _Project
) -> tuple[FilePath, Document | None, list[Problem]]:
    """The base of a document in ``folder``: its folder, its document, and the problems with its text."""
    target = folder / named
    data = _base_bytes(target, project)
    name = os.path.normpath(os.path.join(os.path.dirname(document.source.name), named))  # noqa: PTH118, PTH120
    base, problems = parse(decode(name, data))
    if project.keys and not _is_meant_as_spec(base, data, project.keys):
        raise _UnresolvedError("which is not a spec: its top level has no `clusterspec: 1`")
    if base is not None and not isinstance(base.value, dict):
        raise _UnresolvedError("whose top level is not a mapping")
    return target.parent, base, problems


def _is_meant_as_spec(base: Document | None, data: bytes, keys: Collection[str]) -> bool:
    """Whether a file has the key of specs, or only keys that a spec may have at its top level."""
    if base is None:
        return _TOP_KEY.search(data) is not None
    return not isinstance(base.value, dict) or KEY_OF_SPECS in base.value or base.value.keys() <= {*keys}


def _base_bytes(target: FilePath, project: _Project) -> bytes:
    try:
        resolved = target.resolve()
        if not resolved.is_relative_to(project.root):
            raise _outside_project_error(project.root)
        if resolved in project.seen:
            raise _UnresolvedError("which forms a cycle")
        if len(project.seen) > MAX_BASES:
            raise _UnresolvedError(f"which makes a chain of more than {MAX_BASES} files")
        if not resolved.is_file():
            raise _UnresolvedError("which is not a file" if resolved.exists() else "which does not exist")
        project.seen.add(resolved)
        return read_bytes(resolved)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a cycle of symlinks before Python 3.13
        reason = getattr(error, "strerror", None) or "not a file name"
        raise _UnresolvedError(f"which cannot be opened: {reason.lower()}") from None


def _outside_project_error(root: FilePath) -> _UnresolvedError:
    """The error for a base outside of the project, with the definition of a project."""
    marks = "`clusterspec.toml`, `pyproject.toml` or `.git`"
    if _is_project_folder(root):
        why = f"which lies outside the project, the nearest folder above this file with {marks}"
        return _UnresolvedError(why, "copy the base into the project")
    why = f"which lies outside the project: no folder above this file has {marks}, so its own folder is the project"
    return _UnresolvedError(why, "create an empty `clusterspec.toml` in the folder that holds both files")


def is_derived_spec(document: Document | None, folder: FilePath) -> bool:
    """Whether a document without the key of specs gets it from its bases. All bases must be readable."""
    if document is None or _named_base(document) is None:
        return False
    merged, problems = extended_document(document, folder)
    return not problems and isinstance(merged.value, dict) and KEY_OF_SPECS in merged.value


def place_of_base(document: Document | None, source: Source) -> Span | None:
    """The place of the name of the base in a source; None without one."""
    place = document.places.get((KEY,)) if document is not None else None
    return place.value if place and place.value.file == source.name else None


def _folded_document(chain: list[Document], *, partial: bool) -> Document:
    """A chain of documents as one; the first has precedence."""
    value, places = chain[-1].value, chain[-1].places
    for over in reversed(chain[:-1]):
        under = {key: item for key, item in value.items() if key != KEY}
        value = merged_value(under, over.value)
        places = _merged_places(value, over.places, places)
    return replace(
        chain[0],
        value=value,
        places=places,
        comments=tuple(comment for document in chain for comment in document.comments),
        sources={document.source.name: document.source for document in reversed(chain)},
        partial=partial or any(document.partial for document in chain),
    )


def merged_value(base: Any, value: Any) -> Any:
    """``value`` merged over ``base``: mappings key by key, other values replace, null deletes a key.

    >>> merged_value({"a": 1, "b": {"c": 2, "d": 3}}, {"a": None, "b": {"d": 4}})
    {'b': {'c': 2, 'd': 4}}
    """
    if not isinstance(value, dict):
        return value
    merged = dict(base) if isinstance(base, dict) else {}
    for key, item in value.items():
        if item is None:
            merged.pop(key, None)
        else:
            merged[key] = merged_value(merged.get(key), item)
    return merged


def _merged_places(value: Any, over: Places, under: Places) -> Places:
    offsets = {}
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        offsets[path] = over.offsets.get(path) or under.offsets[path]
        children = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        waiting.extend(((*path, key), child) for key, child in children)
    return Places(offsets)


STDIN = "-"


class CannotOpenError(Exception):
    """Raised, with a one-line reason, if a file cannot be opened."""


def load(path: str, stdin_filename: str = STDIN) -> tuple[Document | None, list[Problem]]:
    """The document of a file, or of standard input for ``-``, and the problems with its text and bases.

    ``stdin_filename`` is the file name in findings of standard input. Raises `CannotOpenError` if
    the file cannot be opened.
    """
    if path == STDIN:
        data = sys.stdin.buffer.read(LARGEST + 1)
        return load_source(decode(stdin_filename, data), FilePath.cwd())
    try:
        data = read_bytes(path)
    except OSError as error:
        raise CannotOpenError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        raise CannotOpenError(f"{path}: a null character in the name") from None
    return load_source(decode(path, data), FilePath(path).parent)


def load_source(source: Source, folder: FilePath, keys: Collection[str] = ()) -> tuple[Document | None, list[Problem]]:
    """The document of a text in ``folder``, with its bases merged in, and the problems found.

    Bytes that are not UTF-8 are expected as lone surrogates (``errors="surrogateescape"``). With ``keys``, the
    top-level keys of a spec, a base that is not a spec is rejected, so that none of its content is printed.
    """
    document, problems = parse(source)
    if document is None:
        return None, problems
    document, further = extended_document(document, folder, keys)
    return document, problems + further
