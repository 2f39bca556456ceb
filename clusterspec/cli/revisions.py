"""Specs of git revisions (`main:cluster.yaml`) with their bases and logs, copied to a separate folder."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from clusterspec.cli import UsageFault
from clusterspec.cli.git import blob, commit_of, root_of
from clusterspec.document import LARGEST, decode, parse

MOST = 64
"""Files of a revision that one spec may name, bases and logs together."""


def revision_of(name: str) -> tuple[str, str] | None:
    """The revision and path of a name; None if it is an existing file."""
    revision, colon, path = name.partition(":")
    return (revision, path) if colon and revision and path and not Path(name).exists() else None


def checked_out(revision: str, path: str, folder: Path) -> Path:
    """The spec of a revision, copied to a folder with the files it refers to. Raises `UsageFault`."""
    root = root_of(Path.cwd())
    commit = commit_of(root, revision)
    if commit is None:
        raise UsageFault(f"{revision}: no such revision")
    here = Path.cwd().resolve().relative_to(root).as_posix()
    start = posixpath.normpath(posixpath.join(here, path))
    of_root = [] if path.startswith(("./", "../")) else [posixpath.normpath(path)]
    for candidate in [start, *of_root]:
        if blob(root, commit, candidate) is not None:
            start = candidate
            break
    else:
        raise UsageFault(f"{revision}:{path}: no such file in this revision")
    (folder / ".git").mkdir(exist_ok=True)  # the project root, beyond which `extends` cannot refer
    _copy(root, commit, start, folder)
    return folder / start


def _copy(root: Path, commit: str, start: str, folder: Path) -> None:
    """Copy a file of a commit and the files it refers to."""
    waiting, written = [start], set[str]()
    while waiting and len(written) < MOST:
        name = waiting.pop()
        if name in written or name.startswith(("..", "/")):
            continue
        data = blob(root, commit, name)
        written.add(name)
        if data is None:
            continue
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        if name.endswith((".yaml", ".yml", ".json")) and len(data) <= LARGEST:
            document, _ = parse(decode(name, data))
            waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(name), one)) for one in _named(document)]


def _named(document: Any) -> list[str]:
    """The files that a spec refers to."""
    value = document.value if document is not None else None
    if not isinstance(value, dict):
        return []
    measured = value.get("measured")
    logs = [one.get("log") for one in measured if isinstance(one, dict)] if isinstance(measured, list) else []
    return [one for one in (value.get("extends"), *logs) if isinstance(one, str) and "\0" not in one]
