"""Findings that a check repairs or ignores: ``--fix``, ``--unsafe-fixes`` and ``--diff``, and baselines."""

from __future__ import annotations

import argparse
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath

from clusterspec import rules
from clusterspec.cli import UsageFault
from clusterspec.cli.inputs import STDIN, StudyReader
from clusterspec.cli.output import write_whole
from clusterspec.cli.terminal import print_error
from clusterspec.document import applied_edits, apply_edits, decode, read_bytes
from clusterspec.document.files import Fault, fault_of, real_path
from clusterspec.finding import ALWAYS_REPORTED, Edit, Finding
from clusterspec.records import dataclass
from clusterspec.report import escaped_line, findings_machines, location_text, plain_line
from clusterspec.report.findings_machines import Baseline
from clusterspec.results import CheckReport
from clusterspec.source import Path, Position, Source
from clusterspec.studies import CheckedFile, Study
from clusterspec.units import plural

# ``check --fix``, ``--unsafe-fixes`` and ``--diff``: fixes of findings that preserve the YAML formatting.
#
# Every fixed text is checked before it is written or shown

MARK = "\ufeff"
LONGEST = 60
"""Maximum characters of an old or new text in the list of changes."""


@dataclass(frozen=True)
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
            yield f"{location_text(edit.span)}: fixed {rule}: {quoted_text(old)} → {quoted_text(edit.text)}"


Changes = Mapping[str, FileChange]
"""For every file that a fix changes its text before and after."""


def quoted_text(text: str) -> str:
    """A text on one line, shortened."""
    shown = " ".join(text.split())
    return f"`{shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + '…'}`" if shown else "nothing"


@dataclass(frozen=True)
class FixedFiles:
    """The changes made by fixes, and one line for each fix that was omitted because it would make its file worse."""

    changes: Changes
    refused: tuple[str, ...]


def fixed_files(
    reader: StudyReader, checked: Sequence[CheckedFile], unsafe: bool, texts: Mapping[str, str]
) -> FixedFiles:
    """The changes of the fixes, for files that have not changed since the check.

    Only the checked files themselves change, never their bases. ``unsafe`` adds suggestions to the safe fixes.
    ``texts`` has the texts of inputs that are not files, by name.
    """
    changes: dict[str, FileChange] = {}
    refused: list[str] = []
    for one in checked:
        name = one.input.name
        fixes = applicable_findings(one, unsafe)
        before = (texts.get(name) or present_text(name)) if fixes else None
        if before is None or before.removeprefix(MARK) != one.sources[name].text.removeprefix(MARK):
            continue
        trial = Trial(reader, STDIN if name in texts else name, before)
        kept = trial.harmless_findings(compatible_findings(fixes))
        refused += trial.refused
        rules = {edit: finding.rule for finding in reversed(kept) for edit in finding.edits}
        if (after := apply_edits(before, rules)) != before:
            edits = tuple((edit, rules[edit]) for edit in applied_edits(before, rules))
            changes[name] = FileChange(name, before, after, edits)
    return FixedFiles(changes, tuple(refused))


def applicable_findings(file: CheckedFile, unsafe: bool) -> list[Finding]:
    """The findings whose fixes apply and edit only the checked file: safe fixes, and suggestions if requested."""
    return [
        finding
        for finding in file.findings
        if (finding.fix_safe or unsafe) and {edit.span.file for edit in finding.edits} == {file.input.name}
    ]


def compatible_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The findings whose fixes can be applied together. If two write one key or overlap, the first is kept.

    A fix is applied whole or not at all. Safe fixes have precedence over suggestions.
    """
    kept: list[Finding] = []
    edits: set[Edit] = set()
    keys: set[Path] = set()
    spans: list[tuple[Position, Position]] = []
    for finding in sorted(findings, key=lambda one: not one.fix_safe):
        new = [edit for edit in finding.edits if edit not in edits]
        if any(edit.keys & keys or overlaps_spans(edit, spans) for edit in new):
            continue
        kept.append(finding)
        edits.update(new)
        for edit in new:
            keys |= edit.keys
            insort(spans, (edit.span.start, edit.span.end))
    return kept


def overlaps_spans(edit: Edit, spans: Sequence[tuple[Position, Position]]) -> bool:
    """Whether an edit overlaps a span. The spans are sorted and disjoint."""
    start, end = edit.span.start, edit.span.end
    at = bisect_left(spans, (start, start))
    after = at < len(spans) and (spans[at][0] < end or spans[at][0] == start)
    return after or (at > 0 and spans[at - 1][1] > start)


MOST_TRIED = 50
"""Largest number of fixes of one file that are tried singly after applying all of them made the file worse."""


class Trial:
    """Applies fixes to the text of a file on trial, and refuses fixes that make the file worse."""

    def __init__(self, reader: StudyReader, name: str, before: str) -> None:
        self.reader, self.name, self.text = reader, name, before
        self.before = reader.changed_study(name, before)
        self.refused: list[str] = []

    def harmless_findings(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings whose fixes, applied together, do not make the file worse."""
        if not self.harm(findings):
            return [*findings]
        kept: list[Finding] = []
        for number, finding in enumerate(findings):
            why = self.harm([*kept, finding]) if number < MOST_TRIED else f"more than {MOST_TRIED} fixes were tried"
            if why:
                self.refused.append(f"{location_text(finding.span)}: not fixed {finding.rule}: {plain_line(why)}")
            else:
                kept.append(finding)
        return kept

    def harm(self, findings: Sequence[Finding]) -> str:
        """A description of the new errors that the fixes of the given findings cause; empty if there are none.

        An error that the file had before, or that only shows because more of the file can be checked, is no harm.
        """
        edits = [edit for finding in findings for edit in finding.edits]
        after = self.reader.changed_study(self.name, apply_edits(self.text, edits))
        if after.checked.fault is not None and self.before.checked.fault is None:
            return "the fixed file cannot be checked"
        known = self.before.errors_before_waivers
        for (rule, path), problem in after.errors_before_waivers.items():
            if (rule, path) not in known and not was_present(self.before, findings, after, rule, path):
                return f"the fixed file would have error[{rule}]: {problem.message}"
        return ""


def was_present(before: Study, findings: Sequence[Finding], after: Study, rule: str, path: Path) -> bool:
    """Whether a new error was present before the fixes of ``findings``, and only becomes visible because more can be
    checked now.
    """
    edits = [edit for finding in findings for edit in finding.edits]
    if rule in ALWAYS_REPORTED or any(path in edit.keys for edit in edits):
        return False
    if rule in before.unchecked or all(finding.fix_safe for finding in findings):
        return True
    if any(edit.renames and path[: len(edit.path)] == (*edit.path[:-1], edit.text) for edit in edits):
        return True
    return (rule, path) in {(one.rule, one.path) for one in after.problems} and any(
        getattr(before.design, part) is None and getattr(after.design, part) is not None
        for part in ("cluster", "workload", "layout")
    )


def present_text(name: str) -> str | None:
    """The current text of a file, with its byte order mark; None if there is no such file."""
    try:
        return decode(name, read_bytes(name)).text if FilePath(name).is_file() else None
    except OSError:
        return None


def unified_diff(changes: Changes) -> str:
    """The changes as a unified diff."""
    parts = []
    for change in changes.values():
        lines = diff_lines(change)
        if any(line.startswith(" ") and not is_harmless(line) for line in lines):
            lines = diff_lines(change, context=0)
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


def is_harmless(line: str) -> bool:
    """Whether an unchanged line is neither a command to a CI runner nor able to reorder the output of a terminal."""
    return escaped_line(line) == line and all(sign.isprintable() or sign in "\t\r\n" for sign in line)


def diff_lines(change: FileChange, context: int = 3) -> list[str]:
    """The lines of the unified diff of a file, with the file's line ends."""
    name = plain_line(change.name).lstrip("/")
    old, new = (text.removesuffix("\n").split("\n") for text in (change.before, change.after))
    old, new = ([f"{line}\n" for line in rows[:-1]] + rows[-1:] for rows in (old, new))
    old[-1] += "\n" * change.before.endswith("\n")
    new[-1] += "\n" * change.after.endswith("\n")
    import difflib

    return list(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=context))


def write_changes(changes: Changes) -> None:
    """Writes all changed files. Files saved by another program in the meantime are not written; `UsageFault` is raised
    for them.
    """
    saved = []
    for name, change in changes.items():
        if present_text(name) == change.before:
            write_whole(FilePath(name), change.after.encode("utf-8", "surrogateescape"))
        else:
            saved.append(name)
    if saved:
        raise UsageFault(
            f"{', '.join(map(plain_line, saved))}: changed while it was checked, so no fix was written: run again"
        )


# ``--baseline`` and ``--write-baseline``

LARGEST_BASELINE = 4 << 20
"""Bytes of a baseline that are read; a finding takes some 170."""


def report_with_baseline(args: argparse.Namespace, reader: StudyReader, report: CheckReport) -> CheckReport:
    """The report without the findings in the baselines that are read and written.

    Raises `UsageFault` for a baseline that cannot be read or names an unknown rule.
    """
    if args.write_baseline:
        text = findings_machines.baseline_as_text(report)
        write_whole(FilePath(args.write_baseline), text.encode())
        print_error(
            f"wrote {plural(len(findings_machines.baseline_entries(report)), 'finding')} to {args.write_baseline}"
        )
        return findings_machines.report_beyond_baseline(report, findings_machines.parsed_baseline(text))
    if not args.baseline:
        return report
    path = FilePath(args.baseline)
    try:
        read = findings_machines.parsed_baseline(_baseline_bytes(path, args.trust).decode("utf-8"))
    except UnicodeDecodeError:
        raise UsageFault(f"--baseline {path}: not a clusterspec baseline") from None
    except (OSError, ValueError) as fault:
        raise UsageFault(f"--baseline {path}: {getattr(fault, 'strerror', None) or fault}") from None
    refuse_unknown_rules(path, read, reader, report)
    return findings_machines.report_beyond_baseline(report, read, Inheritance(reader, report))


def refuse_unknown_rules(path: FilePath, baseline: Baseline, reader: StudyReader, report: CheckReport) -> None:
    """Raises `UsageFault` if an entry of the baseline names a rule that exists neither in the program nor among the
    company rules for the entry's file.
    """
    files = {report.names[one.name].project: one.name for one in report.inputs if one.name in report.names}
    for entry in sorted(baseline.known):
        own = [rule.name for rule in reader.settings_of(files[entry.file]).own_rules] if entry.file in files else []
        if not rules.rule_exists(entry.rule, own):
            meant = rules.nearest_rules(entry.rule, limit=1, others=own)
            advice = f"did you mean {meant[0]}?" if meant else "`clusterspec explain` lists the rules"
            raise UsageFault(f"--baseline {path}: no rule is called {entry.rule[:60]!r}; {advice}")


class Inheritance:
    """Determines whether a finding reported at ``extends`` is also a finding of the base itself. Each base is checked
    once.
    """

    def __init__(self, reader: StudyReader, report: CheckReport) -> None:
        self.reader = reader
        self.inputs = {real_path(one.name) for one in report.inputs}
        self.faults: dict[str, set[Fault]] = {}

    def __call__(self, finding: Finding) -> bool:
        base = finding.base.file if finding.base else ""
        if not base or real_path(base) in self.inputs:
            return False
        if base not in self.faults:
            self.faults[base] = {fault_of(one) for one in self.reader.checked_file(base).findings}
        return fault_of(finding) in self.faults[base]


def _baseline_bytes(path: FilePath, trust: str) -> bytes:
    """The bytes of a baseline; with ``--trust base``, from the base revision."""
    if trust == "base":
        from clusterspec.cli.git import bytes_at_base

        found = bytes_at_base(path)
        if found is None:
            raise UsageFault(f"--baseline {path} does not exist in the base revision")
        data = found
    elif not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise UsageFault(f"--baseline {path}: {what}; `--write-baseline FILE` writes one")
    else:
        with path.open("rb") as file:
            data = file.read(LARGEST_BASELINE + 1)
    if len(data) > LARGEST_BASELINE:
        raise UsageFault(f"--baseline {path}: larger than {LARGEST_BASELINE >> 20} MiB, the maximum")
    return data
