"""``--trust base``: the configuration, waivers and baseline of the base revision of a change.

The base revision is ``--base-revision``, else the target branch of the pull request (GitHub) or merge request
(GitLab), else the default branch of ``origin``.
"""

from __future__ import annotations

import argparse
import os
from functools import cache
from pathlib import Path

from clusterspec import config as configuration
from clusterspec.cli import UsageFault
from clusterspec.cli.git import blob, commit_of, root_of
from clusterspec.config import Config
from clusterspec.document import Comment, Document, decode, parse
from clusterspec.records import replace

_named: list[str] = []
"""The revision that the call names."""


def choose(args: argparse.Namespace) -> None:
    """Set the base revision of a call. Raises `UsageFault` if it is given without ``--trust base``."""
    revision = args.base_revision
    if revision and args.trust != "base":
        raise UsageFault("--base-revision requires --trust base")
    _named[:] = [revision] if revision else []
    base.cache_clear()


def candidates() -> list[str]:
    """The candidates for the base revision; the first that exists is used."""
    if _named:
        return list(_named)
    environment = os.environ.get
    targets = [environment("GITHUB_BASE_REF"), environment("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")]
    branches = [f"origin/{target}" for target in targets if target]
    commit = environment("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    return [*([commit] if commit else []), *branches] or ["origin/HEAD", "origin/main", "origin/master"]


@cache
def base(folder: Path) -> tuple[Path, str]:
    """The root of the repository and the base commit. Raises `UsageFault` if there is none."""
    root = root_of(folder)
    for revision in candidates():
        if commit := commit_of(root, revision):
            return root, commit
    raise UsageFault(f"--trust base: no revision {' or '.join(candidates())} here; fetch it, or name --base-revision")


def at_base(path: Path) -> bytes | None:
    """The bytes of a file in the base revision; None if it is absent."""
    place = Path(os.path.abspath(path))  # noqa: PTH100 - a link is not followed
    folder = next(one for one in place.parents if one.is_dir())
    root, commit = base(folder.resolve())
    relative = relative_to_root(place, root)
    return None if relative is None else blob(root, commit, relative)


def relative_to_root(path: Path, root: Path) -> str | None:
    """A path relative to the root of its repository; None if it is outside. Symlinks inside are not resolved."""
    place = Path(os.path.abspath(path))  # noqa: PTH100
    folder = next(one for one in place.parents if one.is_dir())
    for whole in (place, folder.resolve() / place.relative_to(folder)):
        if whole.is_relative_to(root):
            return whole.relative_to(root).as_posix()
    return None


def base_config(folder: Path) -> Config:
    """The configuration of a folder in the base revision. Raises `ConfigFault` and `UsageFault`."""
    root, _ = base(folder)
    for candidate in (folder, *folder.parents):
        for name in (configuration.FILE, "pyproject.toml"):
            data = at_base(candidate / name)
            config = configuration.read(candidate / name, data) if data is not None else Config()
            if config.file is not None:
                return config
        if candidate == root:
            break
    return Config()


def with_base_waivers(document: Document) -> Document:
    """The document without comments that the base revision does not have at the same keys."""
    held = {name: _comments(name) for name in document.sources}
    keys = _keys(document)
    kept = (one for one in document.comments if (one.text.strip(), keys.get(_line(one))) in held.get(one.file, ()))
    return replace(document, comments=tuple(kept))


def _comments(name: str) -> frozenset[tuple[str, object]]:
    """The comments of a file in the base revision, each with the keys on its line or the next one."""
    data = at_base(Path(name))
    document = parse(decode(name, data))[0] if data is not None else None
    if document is None:
        return frozenset()
    keys = _keys(document)
    return frozenset((one.text.strip(), keys.get(_line(one))) for one in document.comments)


def _line(comment: Comment) -> tuple[str, int]:
    return comment.file, comment.line + comment.alone


def _keys(document: Document) -> dict[tuple[str, int], frozenset[object]]:
    """The key paths whose key or value begins on each line."""
    found: dict[tuple[str, int], set[object]] = {}
    for path, place in document.places.items():
        span = place.key or place.value
        found.setdefault((span.file, span.start.line), set()).add(path)
    return {line: frozenset(paths) for line, paths in found.items()}
