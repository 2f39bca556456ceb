"""Files of git revisions, read without hooks, filters or network, for ``--trust base`` and `main:cluster.yaml`."""

from __future__ import annotations

import argparse
import atexit
import os
import posixpath
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clusterspec import config as configuration
from clusterspec.cli import UsageFault
from clusterspec.config import Config
from clusterspec.document import LARGEST, Comment, Document, decode, parse
from clusterspec.records import replace

# Files of a git revision, read without hooks, filters, pager, external diff, network or shell

_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_EXTERNAL_DIFF": "",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat")
_REGULAR = (b"100644", b"100755")
"""Modes of files that are neither links nor submodules."""
LONGEST = 60
"""Timeout of git commands in seconds."""


def git_output(folder: Path, *words: str) -> bytes | None:
    """The output of a git plumbing command; None if it fails. Raises `UsageFault` if git is not installed."""
    command = ["git", "--no-pager", "--no-replace-objects", "--literal-pathspecs", *_SAFE, "-C", str(folder), *words]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _QUIET
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=LONGEST,
            env=environment,
        )
    except FileNotFoundError:
        raise UsageFault("Git is not installed, and reading a revision needs it") from None
    except (subprocess.TimeoutExpired, OSError, ValueError) as fault:
        raise UsageFault(f"git cannot be run: {type(fault).__name__}") from None
    return done.stdout if done.returncode == 0 else None


def root_of(folder: Path) -> Path:
    """The root of the repository of a folder. Raises `UsageFault` if there is none."""
    found = git_output(folder, "rev-parse", "--show-toplevel")
    if found is None:
        raise UsageFault(
            f"{folder}: not inside a Git repository, or the repository is owned by another user (see safe.directory)"
        )
    return Path(os.fsdecode(found.removesuffix(b"\n")))


def commit_of(root: Path, revision: str) -> str | None:
    """The commit hash of a revision; None if it does not exist."""
    found = git_output(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.decode("ascii", "replace").strip() if found else None


def blob_bytes(root: Path, commit: str, path: str) -> bytes | None:
    """The bytes of a file in a commit; None if there is no such file. ``path`` is relative to the root."""
    entry = git_output(root, "ls-tree", "-z", "--full-tree", commit, "--", path)
    if not entry or not entry.startswith(_REGULAR):
        return None  # absent, a folder, a submodule or a symlink
    return blob_of(root, _object_name(entry))


def blob_of(root: Path, object_: str) -> bytes | None:
    """The bytes of an object; None if there is none."""
    return git_output(root, "cat-file", "blob", object_)


def tree_objects(root: Path, commit: str, path: str) -> dict[str, str]:
    """The objects of the regular files of a folder of a commit, by path; empty if the folder is absent."""
    listed = git_output(root, "ls-tree", "-r", "-z", "--full-tree", f"{commit}:{path}") or b""
    entries = (entry.partition(b"\t") for entry in listed.split(b"\0") if entry.startswith(_REGULAR))
    return {os.fsdecode(name): _object_name(words) for words, _, name in entries if b".." not in name.split(b"/")}


def _object_name(entry: bytes) -> str:
    return entry.split(b"\t")[0].split()[2].decode("ascii", "replace")


# ``--trust base``: the configuration, waivers and baseline of the base revision of a change

_named: list[str] = []
"""The revision named in the call."""


def choose_base(args: argparse.Namespace) -> None:
    """Set the base revision of a call. Raises `UsageFault` if it is given without ``--trust base``."""
    revision = args.base_revision
    if revision and args.trust != "base":
        raise UsageFault("--base-revision requires --trust base")
    _named[:] = [revision] if revision else []
    repository_and_base.cache_clear()


def base_candidates() -> list[str]:
    """The candidates for the base revision; the first that exists is used."""
    if _named:
        return list(_named)
    environment = os.environ.get
    targets = [environment("GITHUB_BASE_REF"), environment("CI_MERGE_REQUEST_TARGET_BRANCH_NAME")]
    branches = [f"origin/{target}" for target in targets if target]
    commit = environment("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    return [*([commit] if commit else []), *branches] or ["origin/HEAD", "origin/main", "origin/master"]


@cache
def repository_and_base(folder: Path) -> tuple[Path, str]:
    """The root of the repository and the base commit. Raises `UsageFault` if there is none."""
    root = root_of(folder)
    for revision in base_candidates():
        if commit := commit_of(root, revision):
            return root, commit
    raise UsageFault(
        f"--trust base: no revision {' or '.join(base_candidates())} here; fetch it, or name --base-revision"
    )


def bytes_at_base(path: Path) -> bytes | None:
    """The bytes of a file in the base revision; None if it is absent."""
    place = Path(os.path.abspath(path))  # noqa: PTH100 - a link is not followed
    folder = next(one for one in place.parents if one.is_dir())
    root, commit = repository_and_base(folder.resolve())
    relative = relative_to_root(place, root)
    return None if relative is None else blob_bytes(root, commit, relative)


def relative_to_root(path: Path, root: Path) -> str | None:
    """A path relative to the root of its repository; None if it is outside. Inner symlinks are not resolved."""
    place = Path(os.path.abspath(path))  # noqa: PTH100
    folder = next(one for one in place.parents if one.is_dir())
    for whole in (place, folder.resolve() / place.relative_to(folder)):
        if whole.is_relative_to(root):
            return whole.relative_to(root).as_posix()
    return None


def base_config(folder: Path) -> Config:
    """The configuration of a folder in the base revision. Raises `ConfigFault` and `UsageFault`."""
    root, _ = repository_and_base(folder)
    for candidate in (folder, *folder.parents):
        for name in (configuration.FILE, "pyproject.toml"):
            data = bytes_at_base(candidate / name)
            config = configuration.read(candidate / name, data) if data is not None else Config()
            if config.file is not None:
                return config
        if candidate == root:
            break
    return Config()


def document_with_base_waivers(document: Document) -> Document:
    """The document without comments that are not at the same keys in the base revision."""
    return document_with_waivers_of(document, {name: bytes_at_base(Path(name)) for name in document.sources})


def document_with_waivers_of(document: Document, base: Mapping[str, bytes | None]) -> Document:
    """The document without comments that are not at the same keys in the ``base`` of its files; None for a new file."""
    held = {name: _base_comments(name, data) for name, data in base.items()}
    keys = _keys_by_line(document)
    kept = (
        one
        for one in document.comments
        if (one.text.strip(), keys.get(_comment_position(one))) in held.get(one.file, ())
    )
    return replace(document, comments=tuple(kept))


def _base_comments(name: str, data: bytes | None) -> frozenset[tuple[str, object]]:
    """The comments of a file in the base revision, each with the keys on its line or the next one."""
    document = parse(decode(name, data))[0] if data is not None else None
    if document is None:
        return frozenset()
    keys = _keys_by_line(document)
    return frozenset((one.text.strip(), keys.get(_comment_position(one))) for one in document.comments)


def _comment_position(comment: Comment) -> tuple[str, int]:
    return comment.file, comment.line + comment.alone


def _keys_by_line(document: Document) -> dict[tuple[str, int], frozenset[object]]:
    """The key paths whose key or value begins on each line."""
    found: dict[tuple[str, int], set[object]] = {}
    for path, place in document.places.items():
        span = place.key or place.value
        found.setdefault((span.file, span.start.line), set()).add(path)
    return {line: frozenset(paths) for line, paths in found.items()}


# Folders of the base revision, for ``--trust base``: catalogs, company rules and ``.gitignore`` files

MOST = 5_000
"""Largest number of files of a folder that are read; the shipped catalog has some 400."""
LARGEST_BASE = 1024 * 1024
"""Bytes of the largest file that is read."""


def config_with_base_folders(config: Config, folder: Path, args: argparse.Namespace) -> Config:
    """The configuration of a folder, with catalogs and rules of the base revision.

    Raises `UsageFault` if the base revision lacks a folder of catalogs or rules.
    """
    return replace(
        config,
        catalog=tuple(base_folder(path, folder, args) for path in config.catalog),
        rules=tuple(base_folder(path, folder, args) for path in config.rules),
    )


def base_folder(path: Path, folder: Path, args: argparse.Namespace) -> Path:
    """A copy of a folder from the base revision; the path itself if it is outside the repository.

    Raises `UsageFault` if the base revision lacks it or it has too many files.
    """
    root, commit = repository_and_base(folder)
    relative = relative_to_root(path, root)
    if relative is None:
        return path
    copied = _copies_folder(args) / commit / relative
    if not copied.is_dir():
        _copy_files(root, commit, relative, copied)
    return copied


@cache
def base_ignores(folder: Path) -> Callable[[Path], bytes | None]:
    """A function that returns the bytes of a ``.gitignore`` in the base revision; None if there is none."""
    root, commit = repository_and_base(folder)
    found = {
        root / name: one for name, one in tree_objects(root, commit, "").items() if Path(name).name == ".gitignore"
    }

    def content_of(path: Path) -> bytes | None:
        return blob_of(root, found[path]) if path in found else None

    return content_of


def _copies_folder(args: argparse.Namespace) -> Path:
    """The temporary folder of this call, shared by its worker processes."""
    if getattr(args, "base_copies", None) is None:
        args.base_copies = tempfile.mkdtemp(prefix="clusterspec-")
        atexit.register(_remove_copies, args.base_copies, os.getpid())
    return Path(args.base_copies)


def _remove_copies(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_files(root: Path, commit: str, relative: str, target: Path) -> None:
    """Copy the regular files of a folder of a commit atomically."""
    found = {
        name: one for name, one in tree_objects(root, commit, relative).items() if name.endswith((".yaml", ".yml"))
    }
    if not found:
        raise UsageFault(f"--trust base: the folder {relative} holds no YAML in the base revision")
    if len(found) > MOST:
        raise UsageFault(f"--trust base: the folder {relative} holds more than {MOST} files")
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent))
    for name, one in found.items():
        place = made / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((blob_of(root, one) or b"")[: LARGEST_BASE + 1])
    try:
        made.rename(target)
    except OSError:
        if not target.is_dir():  # another process has copied it in the meantime
            raise
        shutil.rmtree(made, ignore_errors=True)


# Specs of git revisions (`main:cluster.yaml`) with their bases and logs, copied to a separate folder

MOST_FILES = 64
"""The maximum number of files of a revision, bases and logs together, that one spec may refer to."""


def revision_of(name: str) -> tuple[str, str] | None:
    """The revision and path of a name; None if it is an existing file."""
    revision, colon, path = name.partition(":")
    return (revision, path) if colon and revision and path and not Path(name).exists() else None


def checked_out_spec(revision: str, path: str, folder: Path) -> Path:
    """The spec of a revision, copied to a folder with the files it refers to. Raises `UsageFault`."""
    root = root_of(Path.cwd())
    commit = commit_of(root, revision)
    if commit is None:
        raise UsageFault(f"{revision}: no such revision")
    here = Path.cwd().resolve().relative_to(root).as_posix()
    start = posixpath.normpath(posixpath.join(here, path))
    of_root = [] if path.startswith(("./", "../")) else [posixpath.normpath(path)]
    for candidate in [start, *of_root]:
        if blob_bytes(root, commit, candidate) is not None:
            start = candidate
            break
    else:
        raise UsageFault(f"{revision}:{path}: no such file in this revision")
    (folder / ".git").mkdir(exist_ok=True)  # the project root, beyond which `extends` cannot refer
    _copy_revision(root, commit, start, folder)
    return folder / start


def _copy_revision(root: Path, commit: str, start: str, folder: Path) -> None:
    """Copy a file of a commit and the files it refers to."""
    waiting, written = [start], set[str]()
    while waiting and len(written) < MOST_FILES:
        name = waiting.pop()
        if name in written or name.startswith(("..", "/")):
            continue
        data = blob_bytes(root, commit, name)
        written.add(name)
        if data is None:
            continue
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        if name.endswith((".yaml", ".yml", ".json")) and len(data) <= LARGEST:
            document, _ = parse(decode(name, data))
            waiting += [
                posixpath.normpath(posixpath.join(posixpath.dirname(name), one)) for one in _referenced_files(document)
            ]


def _referenced_files(document: Any) -> list[str]:
    """The files that a spec refers to."""
    value = document.value if document is not None else None
    if not isinstance(value, dict):
        return []
    measured = value.get("measured")
    logs = [one.get("log") for one in measured if isinstance(one, dict)] if isinstance(measured, list) else []
    return [one for one in (value.get("extends"), *logs) if isinstance(one, str) and "\0" not in one]
