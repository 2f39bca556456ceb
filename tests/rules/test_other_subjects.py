"""Figures of another subject are not compared with the keys, while the same words about the design are.

In ``other_subjects.txt`` a line `@ rule` is followed by the keys of a design. Below them `-` begins a flawed text, and
`+` one whose figure is of another subject: a later stage, another party, room, contract or store.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clusterspec import rules
from clusterspec.studies import study_text
from tests.settings import SETTINGS

TEXTS = Path(__file__).with_name("other_subjects.txt")


def rows(table: Path = TEXTS) -> Iterator[tuple[str, str, str]]:
    """Each rule of a table with the keys, and a line with its sign."""
    for block in table.read_text("utf-8").split("@ ")[1:]:
        rule, *lines = block.splitlines()
        keys = "\n".join(line for line in lines if line[:2] not in ("- ", "+ "))
        yield from ((rule, keys, line) for line in lines if line[:2] in ("- ", "+ "))


def is_found(rule: str, keys: str, text: str) -> bool:
    """Whether a rule reports more than a note."""
    study = study_text(f"clusterspec: 1\ndescription: {text!r}\n{keys}\n", SETTINGS)
    assert not study.loading and not study.reading
    return any(each.rule == rule and str(each.severity) != "note" for each in rules.run_rules(study.facts(), {rule}))


def test_a_figure_of_another_subject_is_not_compared_and_one_of_the_design_is() -> None:
    wrong = [(rule, line) for rule, keys, line in rows() if is_found(rule, keys, line[2:]) != (line[0] == "-")]
    assert wrong == []
