"""``python -m tools.review``: checks the designs of the rounds again and compares with their first results.

``python -m tools.review draft FOLDER TABLE`` prints, for the rows of a writer's table, what ``check`` finds in each
design, so that a person can judge it: a round is judged by people, once, before anything is changed.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from clusterspec import library
from tools.review import Case, rounds

DAY = "2026-11-21"
"""The date of every check of a round: releases and waivers do not change with the day of the test."""


def fired_severities(path: Path) -> dict[str, str]:
    """The rules that find something in a design, each with the worst of its findings: severity, path and message."""
    worst_last = sorted(library.load(path, today=DAY).findings, key=lambda each: -each.severity.rank)
    return {each.rule: f"{each.severity} at {'.'.join(map(str, each.path))}: {each.message}" for each in worst_last}


def is_met(case: Case) -> bool:
    """Whether the present check reports the flaw of a design or, for a sound design, reports its false findings as
    notes or not at all.
    """
    now = fired_severities(case.design)
    reported = {rule for rule, text in now.items() if case.flawed or not text.startswith("note ")}
    return bool(set(case.rules) & reported) == case.flawed


def print_draft(folder: Path, table: Path) -> None:
    """Prints expectation and findings side by side."""
    with table.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            print(f"\n## {row['file']} [{row['kind']} {row['severity']}] {row['path']}\n   expects: {row['finding']}")
            for rule, text in fired_severities(folder / row["file"]).items():
                print(f"   - {rule}: {text}")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["draft"]:
        print_draft(Path(arguments[1]), Path(arguments[2]))
        return 0
    for name, members in rounds().items():
        mended = [case for case in members if case.rules]
        print(f"{name}: {sum(map(is_met, mended))} of {len(mended)} mended designs hold, {len(members)} designs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
