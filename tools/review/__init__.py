"""The subjects that a reviewer examines, and the rounds of designs that were unseen when first checked.

``tools/review/subjects.toml`` assigns every rule to a subject. ``tests/review/rounds/ROUND.csv`` holds the designs of
a round: what its writer expects, and what ``check`` found before any change. ``docs/review.md`` shows both.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = ROOT / "tests" / "review" / "rounds"
DESIGNS = ROOT / "tests" / "review" / "designs"
FOUND, PLACED, MISSED, CLEAN, FALSE = "found", "found elsewhere", "missed", "clean", "false"
"""How the first check of a design ended; ``found elsewhere``: with another severity, or at a place that misleads."""


@dataclass(frozen=True)
class Subject:
    """One subject of a review, with the rules or groups (``group/*``) that look at it."""

    name: str
    title: str
    looks: str
    sources: tuple[str, ...]
    rules: tuple[str, ...]
    silent: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """One design of a round.

    ``rules`` are the rules that must report the flaw or, for a sound design, must not fire; ``first`` is the result of
    the check before any change.
    """

    round: str
    file: str
    subject: str
    kind: str
    severity: str
    path: str
    finding: str
    source: str
    first: str
    rules: tuple[str, ...]
    note: str

    @property
    def flawed(self) -> bool:
        """Whether the design has a flaw; else it is sound."""
        return self.kind == "flawed"

    @property
    def design(self) -> Path:
        """The file of the design."""
        return DESIGNS / self.round / self.file


@dataclass(frozen=True)
class Score:
    """Designs of one kind: how many there are, and how many were first judged as their writer expects."""

    right: int
    designs: int

    @property
    def text(self) -> str:
        """Count and share, or a dash where there is no design."""
        return f"{self.right} of {self.designs} ({self.right / self.designs:.0%})" if self.designs else "-"


def subjects() -> list[Subject]:
    """The map, in the order of its file."""
    rows = tomllib.loads((ROOT / "tools" / "review" / "subjects.toml").read_text("utf-8"))["subject"]
    return [
        Subject(
            row["name"], row["title"], row["looks"], tuple(row["sources"]), tuple(row["rules"]), tuple(row["silent"])
        )
        for row in rows
    ]


def rules_by_subject(rules: Iterable[tuple[str, str]], all_subjects: Sequence[Subject] = ()) -> dict[str, list[str]]:
    """The rules of each subject, from pairs of rule and group.

    A rule that a subject names belongs there; another one belongs to the subjects of its group.

    Raises:
        ValueError: a rule belongs to no subject, or a subject names a rule that does not exist.
    """
    pairs = list(rules)
    all_subjects = all_subjects or subjects()
    named = {rule for subject in all_subjects for rule in subject.rules if not rule.endswith("/*")}
    if strangers := named - {rule for rule, _ in pairs}:
        raise ValueError(f"subjects.toml names rules that do not exist: {', '.join(sorted(strangers))}")
    assigned = {
        subject.name: [
            rule
            for rule, group in pairs
            if rule in subject.rules or (rule not in named and f"{group.replace('-', '_')}/*" in subject.rules)
        ]
        for subject in all_subjects
    }
    covered = {rule for members in assigned.values() for rule in members}
    if lost := [rule for rule, _ in pairs if rule not in covered]:
        raise ValueError(f"rules without a subject in tools/review/subjects.toml: {', '.join(lost)}")
    return assigned


def rounds() -> dict[str, list[Case]]:
    """The cases of every round, by its name."""
    return {path.stem: cases(path) for path in sorted(ROUNDS.glob("*.csv"))}


def cases(path: Path) -> list[Case]:
    """The cases of one round's table."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [case(path.stem, row) for row in rows]


def case(name: str, row: dict[str, str]) -> Case:
    """The case of one row of the table of a round."""
    return Case(
        round=name,
        file=row["file"],
        subject=row["subject"],
        kind=row["kind"],
        severity=row["severity"],
        path=row["path"],
        finding=row["finding"],
        source=row["source"],
        first=row["first"],
        rules=tuple(row["rules"].split()),
        note=row["note"],
    )


def first_score(cases: Iterable[Case], kind: str) -> Score:
    """The first score of the designs of one kind; the severity and the place count."""
    first = [case.first for case in cases if case.kind == kind]
    return Score(sum(result in (FOUND, CLEAN) for result in first), len(first))
