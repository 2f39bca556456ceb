"""Sentences by which a run works with one release and fails with another one."""

from __future__ import annotations

import re

from clusterspec.logs.reports.outcomes import HELPED, WORSE, outcome_of
from clusterspec.logs.reports.trial_words import VERSION

_SIDES = re.compile(r"[,;] | ?\(|[.!] (?=[A-Z])|,? \b(?:and|but|however|while|whereas|though)\b ")
"""What divides a sentence whose sides have different outcomes."""
_NUMBER = re.compile(rf"(?<![\w.:-]){VERSION}(?![.\w%:/]|\s?(?:[KMGT]i?[Bb]|[kmu]?s\b|x\b|%|hours?\b|tok))")
"""The number of a release, other than an amount, a time or an address of four parts."""
_ADDRESS = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}$")


def works_with_one_of_two(line: str) -> bool:
    """Whether the sides of a sentence name one release each, of which one works and the other fails.

    >>> works_with_one_of_two("Since Foo v3.8.2 the run fails, with v3.8.1 all works fine.")
    True
    >>> works_with_one_of_two("it fails in 0.3.8.post1(but it succeeds in 0.3.7.post2)")
    True
    >>> works_with_one_of_two("It works with 2.7.0, and with 2.7.1 it works, too"), works_with_one_of_two("2.7.0 fails")
    (False, False)
    """
    worked, failed = set[str](), set[str]()
    for side in _SIDES.split(line):
        releases = {each for each in _NUMBER.findall(side) if not _ADDRESS.match(each)}
        if len(releases) == 1:
            outcome = outcome_of(side)
            fails = bool(outcome and outcome != HELPED) or (not outcome and WORSE.search(side) is not None)
            (worked if outcome == HELPED else failed if fails else set[str]()).update(releases)
    return len(worked) == 1 and len(failed) == 1 and worked != failed
