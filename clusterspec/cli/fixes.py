"""``check --fix`` and ``--diff``: certain fixes written in place, the layout of the YAML kept."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from clusterspec.cli.output import write_whole
from clusterspec.document import apply_edits
from clusterspec.pipeline import Study


def fixed(studies: Sequence[Study]) -> dict[str, tuple[str, str]]:
    """For every file that a fix changes its text before and after; standard input has no file to change."""
    found: dict[str, tuple[str, str]] = {}
    for one in studies:
        edits = [edit for finding in one.findings for edit in finding.edits]
        for name in dict.fromkeys(edit.span.file for edit in edits):
            source = one.sources.get(name)
            if source is None or not Path(name).is_file():
                continue
            before = found[name][0] if name in found else source.text
            after = apply_edits(found[name][1] if name in found else before, [e for e in edits if e.span.file == name])
            if after != before:
                found[name] = (before, after)
    return found


def difference(changes: dict[str, tuple[str, str]]) -> str:
    """The changes as a unified diff."""
    parts = []
    for name, (before, after) in changes.items():
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
        parts += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
        ]
    return "".join(parts)


def write(changes: dict[str, tuple[str, str]]) -> None:
    """Writes every changed file whole."""
    for name, (_, after) in changes.items():
        write_whole(Path(name), after.encode("utf-8", "surrogateescape"))
