"""Figures of a text are compared with the keys that their units, nouns and the words around them name.

In ``stated_keys.txt`` a line `@ name` is followed by the keys of a design. Below them `-` begins a flawed sentence,
with the key that it contradicts in front of it, and `+` one without a flaw: bounds, plans, former values, parts, and
figures of something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clusterspec import rules
from clusterspec.rules.readers.statements.stated_keys import wrong_statements
from clusterspec.studies import Study, study_text
from tests.settings import SETTINGS

DESIGNS = Path(__file__).with_name("stated_keys.txt").read_text("utf-8").split("@ ")[1:]
RULES = {"description-off-settings", "description-off-keys"}


def rows() -> Iterator[tuple[str, str, str, str]]:
    """The keys of each design with a sign, the key that a sentence contradicts, and the sentence."""
    for design in DESIGNS:
        lines = design.splitlines()[1:]
        keys = "\n".join(line for line in lines if line[:2] not in ("- ", "+ "))
        for line in lines:
            if line.startswith("- "):
                key, _, text = line[2:].partition(": ")
                yield keys, "-", key, text
            elif line.startswith("+ "):
                yield keys, "+", "", line[2:]


def found(keys: str, text: str) -> list[str]:
    study: Study = study_text(f"clusterspec: 1\ndescription: {text!r}\n{keys}\n", SETTINGS)
    return [each.message for each in rules.run_rules(study.facts(), RULES) if each.rule in RULES]


def test_a_figure_contradicts_the_key_that_its_words_name_and_no_other_figure_does() -> None:
    wrong = []
    for keys, sign, key, text in rows():
        messages = found(keys, text)
        if (sign == "+" and messages) or (sign == "-" and not (len(messages) == 1 and key in messages[0])):
            wrong.append((sign, key, text, messages))
    assert wrong == []


def test_two_wrong_figures_of_one_key_are_ambiguous_and_a_right_one_explains_the_other() -> None:
    own = {"procurement.pue": [1.3]}
    assert [each.words for each in wrong_statements("The PUE is 1.2.", own)] == ["PUE is 1.2"]
    assert list(wrong_statements("The PUE is 1.2. The PUE is 1.4.", own)) == []
    assert list(wrong_statements("The PUE is 1.2. The PUE is 1.3.", own)) == []
