"""Findings as text: with a code frame, in one line each, or as GitHub annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from clusterspec.finding import Finding, Severity
from clusterspec.report import PLAIN, TextStyle, location_text, plain_line, text_table, text_width, wrapped_lines
from clusterspec.results import INCOMPLETE, NOTHING_CHECKED, CheckReport
from clusterspec.source import Source, Span
from clusterspec.units import plural
from clusterspec.units.display import joined_words

LONG = 12
"""Number of findings above which the text ends with a table of them by rule, since their beginning has scrolled off."""

MOST_RULES = 12
"""Number of rules that this table lists; further ones are counted."""


def findings_as_text(report: CheckReport, style: TextStyle = PLAIN, *, quiet: bool = False) -> str:
    """Findings with their source lines, and a summary unless ``quiet``."""
    frames = [framed_finding(finding, report.sources, style) for finding in report.findings]
    if quiet:
        return "\n".join(frames)
    table = [rule_table(report, style)] if len(report.findings) > LONG else []
    return "\n".join([*frames, *table, summary_line(report, style), *baseline_lines(report)]) + "\n"


def framed_finding(finding: Finding, sources: Mapping[str, Source], style: TextStyle) -> str:
    """A finding: message, position, source line, and advice; advice that the fix repeats is printed once."""
    label = f"{finding.severity}[{finding.rule}]:"
    lines = folded_lines(label, style.severity(finding.severity, label), finding.message, "  ", style)
    lines += frame_lines(finding.span, finding.severity, sources, style)
    lines += [
        f"{style.paint('blue', '   = ')}see {location_text(span)}: {plain_line(note)}" for span, note in finding.related
    ]
    repeated = bool(finding.edits) and help_names_fix(finding.help, finding.fix_description)
    if finding.help and not repeated:
        lines += folded_lines("   = help:", style.paint("blue", "   = ") + "help:", finding.help, "     ", style)
    if finding.edits:
        name, how = ("fix", "") if finding.fix_safe else ("suggestion", " (--fix --unsafe-fixes)")
        painted = style.paint("green", "   = ") + f"{name}:"
        question, mark, rest = finding.help.partition("? ") if repeated else ("", "", "")
        advice = finding.help if repeated else finding.fix_description
        text = f"{question}?{how}. {rest}" if mark and how else advice + how
        lines += folded_lines(f"   = {name}:", painted, text, "     ", style)
    return "\n".join(lines) + "\n"


def help_names_fix(help_: str, fix: str) -> bool:
    """Whether the help begins with the fix and offers nothing else, so that one line can show both.

    >>> help_names_fix("did you mean `tp`?", "write `tp`"), help_names_fix("write `4` or `8`", "write `4`")
    (True, False)
    """
    said, done = help_.replace("`", ""), fix.replace("`", "")
    return said == done or said.startswith((f"{done};", f"{done}:", f"did you mean {done.removeprefix('write ')}?"))


def folded_lines(label: str, painted: str, message: str, indent: str, style: TextStyle) -> list[str]:
    """A label and a message wrapped to the width; the label is colored afterwards."""
    first, *rest = wrapped_lines(f"{label} {plain_line(message)}", style.measure, then=indent)
    return [painted + first[len(label) :], *rest]


def frame_lines(span: Span, severity: Severity, sources: Mapping[str, Source], style: TextStyle) -> list[str]:
    """The position, the previous line for context, the line, and a marker under it."""
    bar = style.painter("blue")
    number = span.start.line
    gutter = max(2, len(str(number)))
    columns = style.width - gutter - 3
    out = [f"{' ' * gutter}{bar('-->')} {location_text(span)}"]
    source = sources.get(span.file)
    if source is None or not source.line(number).strip():
        return out
    shown = [number] if number == 1 or not source.line(number - 1).strip() else [number - 1, number]
    out.append(f"{' ' * gutter} {bar('|')}")
    first = window_start(source.line(number), span, columns)
    cuts = [cut_line(source.line(line), columns, first if line == number else 0) for line in shown]
    out += [
        f"{bar(str(line).rjust(gutter))} {bar('|')} {text}".rstrip() for line, text in zip(shown, cuts, strict=True)
    ]
    out.append(
        f"{' ' * gutter} {bar('|')} {style.severity(severity, marker_line(source.line(number), span, columns, first))}"
    )
    return out


ELLIPSIS = "…"
LEAD = 20
"""Columns shown before the marked part of a line that is too long to be shown whole; at most half of the columns."""


def window_start(line: str, span: Span, columns: int) -> int:
    """The index of the first character shown: 0, or shortly before the marked part if that would otherwise be out of
    view.
    """
    start, end = marked_range(line, span)
    if text_width(line[: min(end, start + columns)]) < columns or text_width(line[: start + 1]) <= columns // 2:
        return 0
    return max(0, start - min(LEAD, columns // 2))


def cut_line(line: str, columns: int, first: int) -> str:
    """A line from a character on, truncated to the columns of the terminal."""
    shown = (ELLIPSIS if first else "") + plain_line(line[first : first + columns + 1].replace("\t", " "))
    if text_width(shown) <= columns and len(line) <= first + columns + 1:
        return shown
    while text_width(shown) >= columns:
        shown = shown[: min(columns, len(shown)) - 1]
    return shown + ELLIPSIS


def marker_line(line: str, span: Span, columns: int, first: int) -> str:
    """The marker under the part of a line in a span, with the line shown from character ``first``."""
    start, end = marked_range(line, span)
    before = _shown_width(line[first:start]) + (1 if first else 0)
    marked = _shown_width(line[start : min(end, start + columns)])
    return " " * before + "^" * min(max(1, marked), max(1, columns - before))


def _shown_width(part: str) -> int:
    """The columns that a part of a line takes when shown. The escape of a hidden character is longer than the
    character.
    """
    return text_width(plain_line(part.replace("\t", " ")))


def marked_range(line: str, span: Span) -> tuple[int, int]:
    """The first and last character of a span on its first line."""
    end = span.end.column - 1 if span.end.line == span.start.line else len(line.rstrip())
    return span.start.column - 1, end


def summary_line(report: CheckReport, style: TextStyle = PLAIN) -> str:
    """The numbers of findings and files, in one line, or two where the terminal is narrow."""
    files = plural(len(report.inputs), "file")
    if not report.inputs:
        return style.paint("yellow", NOTHING_CHECKED)
    if not report.findings and not report.failed:
        text = f"Nothing new: {files} checked." if report.hidden else f"All clear: {files} checked, nothing found."
        return style.paint("green", text)
    counts = [
        style.severity(Severity(level), plural(number, level)) for level, number in report.summary.items() if number
    ]
    if report.failed:
        counts.append(style.paint("red", f"{plural(len(report.failed), 'incomplete check')} ({INCOMPLETE})"))
    counted, advice = f"{joined_words(counts)} in {files}.", "`clusterspec explain RULE` describes a rule."
    if not report.findings:
        return counted
    fits = text_width(counted) + 1 + len(advice) <= style.width
    return counted + (" " if fits else "\n") + advice


MOST_STALE = 10
"""Number of stale entries of a baseline that are listed; further ones are counted."""


def baseline_lines(report: CheckReport) -> list[str]:
    """The number of findings hidden by a baseline, and its stale entries, one per line."""
    if report.hidden is None:
        return []
    lines = [f"The baseline hides {plural(report.hidden, 'finding')}."]
    lines += [
        f"The baseline holds {rule} in {plain_line(file)}, which no finding matches: update the baseline with "
        "--write-baseline."
        for rule, file in report.stale[:MOST_STALE]
    ]
    if len(report.stale) > MOST_STALE:
        more = plural(len(report.stale) - MOST_STALE, "further entry", "further entries")
        lines.append(f"{more} of the baseline no longer match a finding.")
    return lines


def rule_statistics(report: CheckReport) -> str:
    """The number of findings by rule, most frequent first, and the total."""
    counted = Counter((finding.rule, finding.severity) for finding in report.findings)
    ordered = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    rows = [(f"{number:,}", str(severity), rule) for (rule, severity), number in ordered]
    table = text_table(("findings", "severity", "rule"), rows, right=(0,)) if rows else ""
    return table + "\n" * bool(rows) + summary_line(report) + "\n"


def rule_table(report: CheckReport, style: TextStyle) -> str:
    """The findings by rule, most severe and most frequent first: their number and, if it fits, the first position."""
    counted = Counter((finding.severity.rank, finding.rule) for finding in report.findings)
    first = {(finding.severity.rank, finding.rule): finding for finding in reversed(report.findings)}
    ordered = sorted(counted, key=lambda each: (each[0], -counted[each], each[1]))
    rows = [
        (f"{counted[each]:,}", str(first[each].severity), each[1], location_text(first[each].span))
        for each in ordered[:MOST_RULES]
    ]
    heads = ("findings", "severity", "rule", "first at")
    fits = sum(max(text_width(row[k]) for row in (heads, *rows)) + 2 for k in range(len(heads))) - 2 <= style.width
    shown = len(heads) - (not fits)
    table = text_table(heads[:shown], [row[:shown] for row in rows], right=(0,))
    more = len(ordered) - len(rows)
    return table + (f"and {plural(more, 'further rule')}\n" if more else "")


def findings_as_lines(report: CheckReport, style: TextStyle = PLAIN) -> str:
    """One line per finding, in compiler format: file:line:column: severity[rule] message."""
    rows = [
        f"{location_text(f.span)}: {style.severity(f.severity, f'{f.severity}[{f.rule}]')} {plain_line(f.message)}"
        for f in report.findings
    ]
    return "".join(row + "\n" for row in rows)


def findings_as_github(report: CheckReport) -> str:
    """GitHub workflow commands, shown as annotations of a pull request."""
    notes = (
        f"::{'error' if report.failed else 'warning'} title=clusterspec::{escaped_value(note)}" for note in report.notes
    )
    return "".join(
        f"{line}\n" for line in (*(github_annotation(report, finding) for finding in report.findings), *notes)
    )


COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_annotation(report: CheckReport, finding: Finding) -> str:
    start, end = finding.span.start, finding.span.end
    properties = {
        "title": f"clusterspec ({finding.rule})",
        "file": report.name_of(finding).repository,
        "line": str(start.line),
        "col": str(start.column),
        "endLine": str(end.line),
        "endColumn": str(end.column),
    }
    if start.line != end.line:  # GitHub rejects columns of multi-line spans
        del properties["col"], properties["endColumn"]
    options = ",".join(f"{name}={escaped_value(value, ':,')}" for name, value in properties.items())
    body = finding.message + (f"\n{finding.help}" if finding.help else "")
    return f"::{COMMANDS[finding.severity]} {options}::{escaped_value(body)}"


def escaped_value(value: str, also: str = "") -> str:
    """A value escaped for GitHub workflow commands."""
    for mark_ in "%\r\n" + also:
        value = value.replace(mark_, f"%{ord(mark_):02X}")
    return plain_line(value)
