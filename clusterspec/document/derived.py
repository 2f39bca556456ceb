"""Findings of specs that are checked together, where a finding lies in the text of a base.

Many specs may read one base. A fault that it has by itself is its own; any other belongs to the spec that extends it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from clusterspec.document.files import real_path
from clusterspec.finding import Finding
from clusterspec.records import dataclass, replace
from clusterspec.source import Position, Span

MOST_NAMED = 5
"""Specs that inherit a finding and are named with it; the last note counts the others."""

Fault = tuple[str, str, str, str, Position, Position]
"""A rule, a severity, a message, the file with symlinks resolved, and the start and end of the span."""


@dataclass(frozen=True, slots=True)
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
    """The identity of a finding across specs; a finding at ``extends`` has the identity of the finding in its base."""
    span = finding.base or finding.span
    message = finding.message.removeprefix(f"{finding.base}: ") if finding.base else finding.message
    return finding.rule, str(finding.severity), message, real_path(span.file), span.start, span.end


def attributed_findings(files: Sequence[FileFindings]) -> list[Finding]:
    """The findings of files that are checked together, each at the file that has to change.

    A finding in a base is reported once, at the base, if the base is one of the files and has it alone; the specs that
    inherit it are named. Otherwise it is reported in each spec, at its ``extends``, with the base as related place.
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
    """The base that introduces a fault: the one that inherits it from no other base with the fault."""
    bases = [one for one in having if real_path(one.name) in file.bases]
    return next((one for one in bases if not any(real_path(each.name) in one.bases for each in bases)), None)


def _finding_at_place(file: FileFindings, finding: Finding, heirs: Sequence[Span]) -> Finding:
    """A finding at its reported place, with the specs that inherit it."""
    if file.extends is not None and file.in_base(finding):
        finding = finding_at_extends(finding, file.extends)
    if not heirs:
        return finding
    notes = ["inherits this"] * min(MOST_NAMED, len(heirs))
    if len(heirs) > MOST_NAMED:
        notes[-1] += f", as {len(heirs) - MOST_NAMED} more do"
    related = (*finding.related, *zip(heirs, notes, strict=False))
    return replace(finding, related=related, heirs=tuple(dict.fromkeys(one.file for one in heirs)))
