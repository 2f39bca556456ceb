"""Generates ``docs/review.md`` from the map of a review and from its rounds."""

from __future__ import annotations

from tools.generate.rules import rules
from tools.review import PLACED, Case, Subject, first_score, rounds, rules_by_subject, subjects

HEAD = """# What a review looks at

`clusterspec check` reviews a design as an expert of the field would. This page lists the checks by subject, the sources
of each subject, and what no rule checks. The last part has the first score of every blind round: designs by writers who
had read neither the rules nor earlier designs, scored before anything was changed.
This page is generated from `tools/review/subjects.toml` and `tests/review/rounds`.
"""
ROUNDS = """
## Rounds

A flawed design has one flaw. The flaw is found if a finding states it with a fitting severity, at a place where a
reader would look. A sound design is right if it has no false error or warning. Only the first score counts: the designs
of finished rounds are regression tests, and a score on them means nothing.
"""
LAST = 20
"""Rounds of the table by subject: enough for each subject, and none of long ago."""
COLUMNS = "flaws found | found with another severity | sound designs without a false finding"


def page() -> str:
    """The text of the page."""
    known = subjects()
    of = rules_by_subject([(name, group) for name, group, _ in rules()], known)
    numbered = {round_number(name): cases for name, cases in rounds().items()}
    newest = {str(number): numbered[number] for number in sorted(numbered, reverse=True)}
    last = [case for cases in [*newest.values()][:LAST] for case in cases]
    return "".join(
        [
            HEAD,
            *(section(subject, of[subject.name]) for subject in known),
            ROUNDS,
            f"\n### The last {LAST} rounds by subject\n\n{score_table('subject', cases_by_subject(last))}",
            f"\n### Every round, the newest first\n\n{score_table('round', newest)}",
        ]
    )


def round_number(name: str) -> int:
    """The number of a round: 207 of ``round-207``."""
    return int(name.rpartition("-")[2])


def section(subject: Subject, rules_of_subject: list[str]) -> str:
    """What is checked in one subject, by which rules, and what is not checked."""
    links = ", ".join(f"[{rule}](rules/{rule}.md)" for rule in rules_of_subject)
    silent = "; ".join(subject.silent) or "no known error"
    return (
        f"\n## {subject.title}\n\nLooks at {subject.looks}.\n\nSources: {'; '.join(subject.sources)}.\n\n"
        f"Rules ({len(rules_of_subject)}): {links}.\n\nNot looked at: {silent}.\n"
    )


def score_table(heading: str, groups: dict[str, list[Case]]) -> str:
    """The first scores of groups of designs, a row for each, and of all of them."""
    rows = "".join(f"| {name} | {score_cells(members)} |\n" for name, members in groups.items())
    everything = [case for members in groups.values() for case in members]
    return f"| {heading} | {COLUMNS} |\n|---|---|---|---|\n{rows}| **all** | {score_cells(everything)} |\n"


def score_cells(cases: list[Case]) -> str:
    """The first scores of some designs as cells of a row."""
    elsewhere = sum(case.first == PLACED for case in cases)
    return f"{first_score(cases, 'flawed').text} | {elsewhere} | {first_score(cases, 'sound').text}"


def cases_by_subject(cases: list[Case]) -> dict[str, list[Case]]:
    """The cases of each subject, by name."""
    return {
        subject: [case for case in cases if case.subject == subject] for subject in sorted({c.subject for c in cases})
    }
