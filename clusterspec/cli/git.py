"""Files of a git revision, read without hooks, filters, pager, external diff, network or shell."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from clusterspec.cli import UsageFault

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


def git(folder: Path, *words: str) -> bytes | None:
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
        raise UsageFault("git is not installed, and revisions are read with it") from None
    except (subprocess.TimeoutExpired, OSError, ValueError) as fault:
        raise UsageFault(f"git cannot be run: {type(fault).__name__}") from None
    return done.stdout if done.returncode == 0 else None


def root_of(folder: Path) -> Path:
    """The root of the repository of a folder. Raises `UsageFault` if there is none."""
    found = git(folder, "rev-parse", "--show-toplevel")
    if found is None:
        raise UsageFault(f"{folder}: not in a git repository, or one of another owner")
    return Path(os.fsdecode(found.removesuffix(b"\n")))


def commit_of(root: Path, revision: str) -> str | None:
    """The commit hash of a revision; None if it does not exist."""
    found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.decode("ascii", "replace").strip() if found else None


def blob(root: Path, commit: str, path: str) -> bytes | None:
    """The bytes of a file in a commit; None if there is no such file. ``path`` is relative to the root."""
    entry = git(root, "ls-tree", "-z", "--full-tree", commit, "--", path)
    if not entry or not entry.startswith(_REGULAR):
        return None  # absent, a folder, a submodule or a symlink
    return blob_of(root, _object(entry))


def blob_of(root: Path, object_: str) -> bytes | None:
    """The bytes of an object; None if there is none."""
    return git(root, "cat-file", "blob", object_)


def tree(root: Path, commit: str, path: str) -> dict[str, str]:
    """The objects of the regular files of a folder of a commit, by path; empty if the folder is absent."""
    listed = git(root, "ls-tree", "-r", "-z", "--full-tree", f"{commit}:{path}") or b""
    entries = (entry.partition(b"\t") for entry in listed.split(b"\0") if entry.startswith(_REGULAR))
    return {os.fsdecode(name): _object(words) for words, _, name in entries if b".." not in name.split(b"/")}


def _object(entry: bytes) -> str:
    return entry.split(b"\t")[0].split()[2].decode("ascii", "replace")
