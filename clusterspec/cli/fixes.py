"""``check --fix``, ``--unsafe-fixes`` and ``--diff``: fixes of findings that preserve the YAML formatting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clusterspec.cli.output import write_whole
from clusterspec.document import applied_edits, apply_edits, decode, read_bytes
from clusterspec.finding import Edit
from clusterspec.pipeline import Checked
from clusterspec.records import dataclass
from clusterspec.report.ink import disarmed, located, plain
from clusterspec.source import Source

MARK = "\ufeff"
LONGEST = 60
"""Characters of an old or a new text that the list of changes repeats."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after the fixes, with the edits and their rules."""

    name: str
    before: str
    after: str
    edits: tuple[tuple[Edit, str], ...]

    def lines(self) -> Iterator[str]:
        """One line per edit: position, rule, old and new text."""
        rows = Source(self.name, self.before.removeprefix(MARK))
        for edit, rule in self.edits:
            start, end = edit.span.start, edit.span.end
            old = rows.line(start.line)[start.column - 1 : end.column - 1 if end.line == start.line else None]
            yield f"{located(edit.span)}: fixed {rule}: {quoted(old)} → {quoted(edit.text)}"


Changes = Mapping[str, FileChange]
"""For every file that a fix changes its text before and after."""


def quoted(text: str) -> str:
    """A text on one line, shortened."""
    shown = " ".join(text.split())
    return f"`{shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + '…'}`" if shown else "nothing"


def fixed(checked: Sequence[Checked], unsafe: bool, given: Mapping[str, str]) -> Changes:
    """The changes of the fixes, for files that have not changed since the check.

    ``unsafe`` adds suggestions to the safe fixes. ``given`` has the texts of inputs that are not files, by name.
    """
    rules: dict[str, dict[Edit, str]] = {}
    texts: dict[str, str] = {}
    for one in checked:
        for finding in (finding for finding in one.findings if finding.fix_safe or unsafe):
            for edit in finding.edits:
                rules.setdefault(edit.span.file, {}).setdefault(edit, finding.rule)
                texts[edit.span.file] = one.sources[edit.span.file].text
    present = {name: text for name in rules if (text := given.get(name) or present_text(name)) is not None}
    return {
        name: FileChange(
            name, before, after, tuple((edit, rules[name][edit]) for edit in applied_edits(before, rules[name]))
        )
        for name, before in present.items()
        if before.removeprefix(MARK) == texts[name].removeprefix(MARK)
        and (after := apply_edits(before, rules[name])) != before
    }


def present_text(name: str) -> str | None:
    """The current text of a file, with its byte order mark; None if there is no such file."""
    try:
        return decode(name, read_bytes(name)).text if Path(name).is_file() else None
    except OSError:
        return None


def difference(changes: Changes) -> str:
    """The changes as a unified diff."""
    parts = []
    for change in changes.values():
        lines = compared(change)
        if any(line.startswith(" ") and not harmless(line) for line in lines):
            lines = compared(change, context=0)
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


def harmless(line: str) -> bool:
    """Whether an unchanged line is neither a command to a CI runner nor able to reorder what a terminal shows."""
    return disarmed(line) == line and all(sign.isprintable() or sign in "\t\r\n" for sign in line)


def compared(change: FileChange, context: int = 3) -> list[str]:
    """The lines of the unified diff of a file, with the file's line ends."""
    name = plain(change.name).lstrip("/")
    old, new = (text.removesuffix("\n").split("\n") for text in (change.before, change.after))
    old, new = ([f"{line}\n" for line in rows[:-1]] + rows[-1:] for rows in (old, new))
    old[-1] += "\n" * change.before.endswith("\n")
    new[-1] += "\n" * change.after.endswith("\n")
    import difflib

    return list(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=context))


def write(changes: Changes) -> None:
    """Write all changed files."""
    for name, change in changes.items():
        write_whole(Path(name), change.after.encode("utf-8", "surrogateescape"))
