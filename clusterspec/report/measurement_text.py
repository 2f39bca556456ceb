"""Collectives, diagnoses and acceptance tests as text: measured and expected bandwidth by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec import report as grid
from clusterspec.cost.collectives.predict import REPEATS
from clusterspec.report import (
    PLAIN,
    TextStyle,
    errors_text,
    paragraph,
    plain_line,
    share_bar,
    text_table,
    wrapped_lines,
)
from clusterspec.results import CollectiveReport
from clusterspec.results.diagnosis import (
    OTHER_ACCELERATORS,
    AcceptanceOutcome,
    AcceptanceReport,
    Cause,
    ComparedCollective,
    DiagnosisReport,
    PlannedTest,
)
from clusterspec.units import display, percent, plural, portion

# A collective as printed by nccl-tests, with the ceiling and the expected bandwidth

HEADS = ("size", "time", "algbw", "busbw", "ceiling", "reached", "algorithm", "bound by", "tier")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
DECIMAL = ("B", "kB", "MB", "GB", "TB")
FIELDS = (
    "collective",
    "ranks",
    "size",
    "seconds",
    "low",
    "high",
    "algbw",
    "busbw",
    "ceiling_busbw",
    "bound_by",
    "tier",
    "algorithm",
)


def collective_text(report: CollectiveReport, style: TextStyle = PLAIN) -> str:
    """One row per size; bandwidths in GB/s as nccl-tests counts them."""
    if not report.rows:
        return f"Nothing can be predicted: {report.why}\n" + errors_text(report.findings, report.input.name, style)
    first = report.rows[0]
    tiers = list(dict.fromkeys(row.tier for row in report.rows))
    over = f"{style.paint('bold', first.collective)} over {plural(first.ranks, 'rank')}"
    where = ", which sends nothing" if first.ranks == 1 else f", {tiers[0]}" if len(tiers) == 1 else ""
    head = f"{over}{where}; bandwidths in GB/s\n\n"
    rows = [
        (
            size,
            display(row.seconds, "s"),
            *(f"{rate / 1e9:,.2f}" for rate in (row.algbw, row.busbw, row.ceiling_busbw)),
            portion(row.busbw / row.ceiling_busbw) if row.ceiling_busbw else "",
            row.algorithm,
            row.bound_by.removesuffix(" bandwidth"),
            row.tier,
        )
        for row, size in zip(report.rows, size_texts(report), strict=True)
    ]
    shown = len(HEADS) - 1 if len(tiers) == 1 else len(HEADS)
    table = grid.text_table(HEADS[:shown], [row[:shown] for row in rows], right=range(6), style=style)
    note = "Sizes and bandwidths as nccl-tests counts them; the ceiling is the line rate of the links."
    note += _form_of_algorithm(report)
    note += f" Nothing was measured for this prediction: {report.unmeasured}." if report.unmeasured else ""
    note_lines = [style.paint("dim", line) for line in wrapped_lines(note, style.measure)]
    return head + table + "\n" + "\n".join(note_lines) + "\n" + errors_text(report.findings, report.input.name, style)


def _form_of_algorithm(report: CollectiveReport) -> str:
    """A sentence if the ranks use a special form of the requested algorithm; else empty."""
    forms = dict.fromkeys(row.algorithm for row in report.rows if row.ranks > 1 and row.algorithm != report.algorithm)
    return f" On these ranks `{report.algorithm}` is `{next(iter(forms))}`." if report.algorithm and forms else ""


def size_texts(report: CollectiveReport) -> list[str]:
    """The sizes of the rows as given by the user; a bare number gets a unit."""
    asked = report.asked if len(report.asked) == len(report.rows) else ("",) * len(report.rows)
    return [
        " ".join(plain_line(text).split()) if any(c.isalpha() for c in text) else size_text(row.size)
        for row, text in zip(report.rows, asked, strict=True)
    ]


def size_text(size: float) -> str:
    """A size in the largest binary or decimal unit in which it is an integer, whichever is shorter.

    >>> size_text(2.0**30), size_text(16e6), size_text(1e9), size_text(100.0)
    ('1 GiB', '16 MB', '1 GB', '100 B')
    """
    found = []
    for base, names in ((1024, UNITS), (1000, DECIMAL)):
        steps = next((k for k in range(4, 0, -1) if size % base**k == 0), 0)
        found.append(f"{size / base**steps:,.0f} {names[steps]}")
    return min(found, key=len)


def collective_csv(report: CollectiveReport) -> str:
    """The fields as CSV, one row per size, in SI units."""
    return grid.csv_text(FIELDS, ([getattr(row, name) for name in FIELDS] for row in report.rows))


WORDS = {
    "expected": "as expected",
    "slow": "slower than expected",
    "fast": "faster than expected",
    "impossible": "impossible",
}
STYLES = {"pass": "green", "fail": "red", "impossible": "red", "not-run": "yellow"}


def diagnosis_text(report: DiagnosisReport, style: TextStyle = PLAIN) -> str:
    """Each collective with its sizes and causes, then the effect on the estimate."""
    parts = [_comparison_text(one, style) + _notes_text(one, style) for one in report.compared]
    unread = {why: [log for log, other in report.unread if other == why] for _, why in report.unread}
    parts += [
        paragraph(plain_line(f"{_first_names(logs)}: not compared: {why}"), style) for why, logs in unread.items()
    ]
    if report.moved is not None:
        parts.append(_moved_text(report))
    if report.written:
        parts.append("".join(f"{plain_line(f'wrote {each}')}\n" for each in report.written))
    return "\n".join(parts)


MOST_NAMED = 3
"""Maximum number of logs with the same reason against a comparison that a text names."""


def _first_names(logs: Sequence[str]) -> str:
    """The first names of logs, and how many more there are."""
    more = len(logs) - MOST_NAMED
    return ", ".join(logs[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _notes_text(comparison: ComparedCollective, style: TextStyle) -> str:
    """Notes that the log's devices are not the spec's and that some lines were not searched; else empty."""
    other = ""
    if comparison.other_devices and all(cause.name != OTHER_ACCELERATORS for cause in comparison.causes):
        warned = f"Warning: {comparison.other_devices}. Expected figures come from the spec; no measurement is written."
        other = "\n" + paragraph(plain_line(warned), style)
    return other + _left_out_text(comparison, style)


def _left_out_text(comparison: ComparedCollective, style: TextStyle) -> str:
    """A note that some lines of a log were not searched; empty if all were."""
    if not comparison.left_out:
        return ""
    said = f"{plural(comparison.left_out, 'line')} between the first and the last ones not searched: too many differ."
    return "\n" + paragraph(f"{said} Give the log of one rank, or the part with the first error.", style)


def _unfinished_text(comparison: ComparedCollective, style: TextStyle) -> str:
    """A log without a result of a collective, with the causes that its lines name."""
    title = f"{plural(comparison.ranks, 'rank')} on {plural(comparison.nodes, 'node')}"
    verdict = style.paint("red", "no result of a collective")
    sought = "Causes are sought in its lines."
    if comparison.assumed_ranks:
        sought += " The log states no ranks: those of the spec are assumed."
    lines = [
        f"{plain_line(comparison.log)}: {style.paint('bold', title)}: {verdict}",
        *wrapped_lines(sought, style.measure),
        "",
    ]
    if comparison.causes:
        lines += _likely_and_possible(comparison, style)
    elif comparison.error:
        said = f"Its first error ({comparison.error}) has none of the known causes"
        lines += wrapped_lines(plain_line(f"{said}: read the lines before it, of all ranks."), style.measure)
        lines += _unnamed_cause_lines(comparison, style)
    else:
        lines.append("Its lines name none of the known causes: run with NCCL_DEBUG=INFO, and NCCL_P2P_DISABLE=1 once.")
    return "\n".join(lines) + "\n"


def _comparison_text(comparison: ComparedCollective, style: TextStyle) -> str:
    if comparison.verdict == "unfinished":
        return _unfinished_text(comparison, style)
    last = comparison.largest
    title = f"{comparison.collective} over {plural(comparison.ranks, 'rank')} on {plural(comparison.nodes, 'node')}"
    color = "red" if comparison.verdict == "slow" else "green"
    verdict = style.paint(color, f"{WORDS[comparison.verdict]}: {percent(last.ratio)} at {_size_text(last.size)}")
    most = max(max(row.measured, row.high) for row in comparison.rows)
    rows = [
        (
            _size_text(row.size),
            f"{row.measured / 1e9:,.2f}",
            f"{row.expected / 1e9:,.2f}",
            f"{row.low / 1e9:,.2f} – {row.high / 1e9:,.2f}",
            percent(row.ratio),
            _comparison_bar(row.measured / most, row.expected / most),
        )
        for row in comparison.rows
    ]
    heads = ("size", "measured", "expected", "band", "ratio", "busbw in GB/s: █ measured, │ expected")
    table = text_table(heads, rows, right=range(5), style=style)
    lines = [f"{plain_line(comparison.log)}: {style.paint('bold', title)}: {verdict}", "", table]
    return "\n".join([*lines, *_likely_and_possible(comparison, style)]) + "\n"


UNDECIDED = "Not decided by this log: none of its lines states the cause. "
OF_ANOTHER = "Not decided by this log: another rank ended first, and the log of that rank has the reason."
SEVERAL = "Each of these is possible; its next step distinguishes it from the others."
ONE = "This one is possible; its next step shows whether it is the cause."


def _likely_and_possible(comparison: ComparedCollective, style: TextStyle) -> Iterator[str]:
    """The likely causes, then causes with little evidence, then causes that end in the same lines."""
    likely = [cause for cause in comparison.causes if cause.is_likely]
    possible = [cause for cause in comparison.causes if not cause.is_likely]
    if likely:
        yield style.paint("bold", "Likely causes, the likeliest first") + "\n"
        yield from _cause_lines(likely, 1, style)
        if not comparison.is_decided:
            yield from ("", *wrapped_lines(OF_ANOTHER, style.measure))
    elif comparison.verdict == "slow":
        parts = (
            "pairs of nodes, then single nodes" if comparison.nodes > 1 else "halves of the accelerators of the node"
        )
        yield f"None of the known causes explains the difference: compare {parts}."
    elif possible and comparison.verdict == "unfinished":
        yield from wrapped_lines(UNDECIDED + (SEVERAL if possible[1:] else ONE), style.measure)
    if possible:
        yield "\n" + style.paint("bold", "Possible, with little evidence") + "\n"
        yield from _cause_lines(possible, len(likely) + 1, style)
    if comparison.deciding:
        yield from (
            "",
            *wrapped_lines(plain_line(f"To decide between the first of them: {comparison.deciding}."), style.measure),
        )
    yield from _unnamed_cause_lines(comparison, style)


def _unnamed_cause_lines(comparison: ComparedCollective, style: TextStyle) -> Iterator[str]:
    """Causes that no log line names but that end in the same lines as the possible causes."""
    if comparison.alike:
        yield "\n" + style.paint("bold", "Not named by any line, but runs with these causes end in the same way") + "\n"
        for number, cause in enumerate(comparison.alike, len(comparison.causes) + 1):
            yield from wrapped_lines(plain_line(f"{number}. {cause.name}"), style.measure, then="   ")
            yield from wrapped_lines(plain_line(f"next: {cause.next}"), style.measure, first="   ", then="         ")


def _cause_lines(causes: Sequence[Cause], first: int, style: TextStyle) -> Iterator[str]:
    """The causes with their evidence and next step, numbered from ``first``."""
    for number, cause in enumerate(causes, first):
        yield from wrapped_lines(plain_line(f"{number}. {cause.name}: {cause.evidence}"), style.measure, then="   ")
        yield from wrapped_lines(plain_line(f"next: {cause.next}"), style.measure, first="   ", then="         ")


def _comparison_bar(measured: float, expected: float, width: int = 32) -> str:
    """A bar for the measured value, with a mark at the expected one."""
    drawn = share_bar(measured, width).ljust(width)
    at = min(width - 1, max(0, round(expected * width) - 1))
    return (drawn[:at] + "│" + drawn[at + 1 :]).rstrip()


def _moved_text(report: DiagnosisReport) -> str:
    moved = report.moved
    if moved is None or moved.before is None or moved.after is None:
        return "The spec has no step time that the measurements could change.\n"
    share = percent(moved.after / moved.before - 1, 2)
    sign = "+" if moved.after >= moved.before else ""
    before, after = display(moved.before, "s"), display(moved.after, "s")
    return f"Step time with these measurements: {before} → {after} ({sign}{share}).\n"


def acceptance_as_text(report: AcceptanceReport, style: TextStyle = PLAIN) -> str:
    """The tests with threshold, measurement and status."""
    rows = [
        (
            test.name,
            f"{test.threshold / 1e9:,.1f}",
            "" if test.measured is None else f"{test.measured / 1e9:,.1f}",
            style.paint(STYLES[test.status], test.status.replace("-", " ")),
            *((_drift_text(report, test),) if report.earlier is not None else ()),
            plain_line(test.why),
        )
        for test in report.tests
    ]
    since = ("since then",) if report.earlier is not None else ()
    heads = ("test", "at least", "measured", "status", *since, "why")
    table = text_table(heads, rows, right=(1, 2), wrap=(len(heads) - 1,), style=style)
    origin = "the spec" if report.stated else "the cost model (the spec has none)"
    lines = [f"Acceptance tests of {origin}; bus bandwidth in GB/s\n", table]
    reasons = dict.fromkeys(report.unmeasured.values())
    for why in reasons:
        names = ", ".join(name for name, own in report.unmeasured.items() if own == why)
        lines += [*wrapped_lines(f"{names}: a pass is weak evidence: {why}.", style.measure), ""]
    lines += [plain_line(f"{log}: not counted: {why}") for log, why in report.unused]
    lines += _changed_lines(report, style)
    lines += [plain_line(each) for each in _range_lines(report)]
    count = {status: sum(test.status == status for test in report.tests) for status in STYLES}
    impossible = f"{count['impossible']} impossible, " if count["impossible"] else ""
    lines.append(f"{count['pass']} passed, {count['fail']} failed, {impossible}{count['not-run']} not run")
    return "\n".join(lines) + "\n"


def _changed_lines(report: AcceptanceReport, style: TextStyle) -> list[str]:
    """The tests whose change since the earlier acceptance exceeds run-to-run variation, and what the change means."""
    changes = {test.name: report.drift(test) for test in report.tests if report.beyond_repeats(test)}
    found = list[str]()
    for worse, means in (
        (True, "`clusterspec diagnose` ranks the causes"),
        (False, "something was repaired or changed"),
    ):
        names = ", ".join(name for name, drift in changes.items() if drift is not None and (drift < 0) == worse)
        if names:
            than = (
                f"{'slower' if worse else 'faster'} than before, by more than the difference between two runs of "
                "one machine"
            )
            found += wrapped_lines(f"{names}: {than} ({percent(REPEATS, 2)}): {means}.", style.measure)
    return found


def _range_lines(report: AcceptanceReport) -> list[str]:
    """The files that were written, and the predicted range of each test before and after the measurements."""
    found = [f"wrote {each}" for each in report.written]
    for each in report.ranges:
        (low, high), (least, most) = each.before, each.after
        shown = f"{low / 1e9:,.1f}–{high / 1e9:,.1f} GB/s before, {least / 1e9:,.1f}–{most / 1e9:,.1f} GB/s from now on"
        found.append(f"{each.name}: predicted {shown}")
    return found


def _drift_text(report: AcceptanceReport, test: AcceptanceOutcome) -> str:
    """The change of a test since the earlier acceptance, with the value measured then."""
    drift, before = report.drift(test), report.earlier.get(test.name) if report.earlier is not None else None
    return f"{100 * drift:+.1f} % of {before / 1e9:,.1f}" if drift is not None and before else "not measured"


FORM = (
    "test",
    "nodes",
    "ranks",
    "size",
    "demanded",
    "threshold",
    "predicted",
    "ceiling",
    "measured",
    "status",
    "why",
    "command",
    "log",
    "sha256",
    "witness",
    "remedy",
)
"""Columns of the acceptance form: sizes in bytes, bus bandwidths in B/s; a witness signs by hand."""


def acceptance_csv(report: AcceptanceReport) -> str:
    """The acceptance form with the results filled in, one row a test."""
    plan = {test.name: test for test in report.plan}
    return grid.csv_text(FORM, (_form_row(test, plan.get(test.name)) for test in report.tests))


def _form_row(test: AcceptanceOutcome, planned: PlannedTest | None) -> tuple[object, ...]:
    known = planned.to_json() if planned is not None else {}
    filled = known | {
        "test": test.name,
        "threshold": test.threshold,
        "measured": test.measured,
        "status": test.status,
        "why": test.why,
        "log": "; ".join(log for log, _ in test.logs),
        "sha256": "; ".join(digest for _, digest in test.logs),
    }
    if test.status == "pass":
        filled["remedy"] = ""
    return tuple("" if filled.get(name) is None else filled[name] for name in FORM)


def _size_text(size: float) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{size / (1 << power):.4g} {unit}"
    return f"{size:.4g} B"
