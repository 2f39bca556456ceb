"""The flaw of a text is found in other words, and right sentences with the same words and figures are silent.

In ``paraphrases_of_operations.txt`` a line `@ rule number` names an example of a page; the lines below it replace its
description: `-` begins a flawed one, `+` a right one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

import yaml

from clusterspec.rules.pages import page
from tests.effort import each, sampled

from .test_near_misses import verdict

LINES = FilePath(__file__).with_name("paraphrases_of_operations.txt").read_text("utf-8").splitlines()


def rows() -> Iterator[tuple[str, str, bool]]:
    """Each description with its rule and the number of its example, and whether it is flawed."""
    example = ""
    for line in LINES:
        if line.startswith("@ "):
            example = line.removeprefix("@ ")
        else:
            yield example, line[2:], line.startswith("- ")


def spec_with(example: str, description: str) -> str:
    """The spec of an example with another description."""
    rule, number = example.split()
    spec = yaml.safe_load(page(rule).fires[int(number)].text)
    return str(yaml.safe_dump(spec | {"description": description}, sort_keys=False, allow_unicode=True, width=10_000))


@each("example, description, flawed", sampled([row for row in rows() if row[2]], 250))
def test_a_flaw_is_found_in_other_words(example: str, description: str, flawed: bool) -> None:
    assert flawed
    assert verdict(spec_with(example, description), example.partition(" ")[0])[0] != "silent", description


@each("example, description, flawed", sampled([row for row in rows() if not row[2]], 250))
def test_right_sentences_with_the_same_words_are_silent(example: str, description: str, flawed: bool) -> None:
    assert not flawed
    assert verdict(spec_with(example, description), example.partition(" ")[0])[0] == "silent", description
