"""``check --fix`` and ``--diff``: certain fixes written in place, the layout of the YAML kept."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from clusterspec.cli.output import write_whole
from clusterspec.document import apply_edits, decode, read_bytes
from clusterspec.finding import Edit
from clusterspec.pipeline import Checked

Changes = Mapping[str, tuple[str, str]]
"""For every file that a fix changes its text before and after."""
MARK = "\ufeff"


def fixed(found: Sequence[Checked]) -> Changes:
    """What the fixes change, in files that still hold what was checked."""
    edits: dict[str, list[Edit]] = {}
    texts: dict[str, str] = {}
    for one in found:
        for edit in (edit for finding in one.findings for edit in finding.edits):
            edits.setdefault(edit.span.file, []).append(edit)
            texts[edit.span.file] = one.sources[edit.span.file].text
    standing = {name: text for name in edits if (text := standing_text(name)) is not None}
    return {
        name: (before, after)
        for name, before in standing.items()
        if before.removeprefix(MARK) == texts[name].removeprefix(MARK)
        and (after := apply_edits(before, edits[name])) != before
    }


def standing_text(name: str) -> str | None:
    """The text of a file as it is now, with its byte order mark; None where no file has this name."""
    try:
        return decode(name, read_bytes(name)).text if Path(name).is_file() else None
    except OSError:
        return None


def difference(changes: Changes) -> str:
    """The changes as a unified diff."""
    parts = []
    for name, (before, after) in changes.items():
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
        parts += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(old, new, f"a/{name.lstrip('/')}", f"b/{name.lstrip('/')}")
        ]
    return "".join(parts)


def write(changes: Changes) -> None:
    """Writes every changed file whole."""
    for name, (_, after) in changes.items():
        write_whole(Path(name), after.encode("utf-8", "surrogateescape"))
