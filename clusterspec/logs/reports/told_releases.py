"""Releases of software that a text names, and published faults of releases whose symptoms it tells.

A row of `release-faults.csv` of the catalog is a fault: the software, the first release that has it and the first that
has it no more (an empty one is not stated), its symptoms, and the notes or the thread that state it. Symptoms are parts
divided by ``;``, each with its alternatives divided by ``|``: a text has an alternative if one of its clauses has all
of its words, near each other (`cause_terms`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from clusterspec import resources
from clusterspec.logs.reports.cause_terms import are_near, words_in_clauses, words_of
from clusterspec.logs.text_lines import MOST_LINES, lines_of
from clusterspec.records import NamedTuple

FILE = "release-faults.csv"
KNOWN = "known fault "
"""The prefix of the names of statements that a text has the symptoms of a published fault; its row follows."""
BEFORE = "<"
"""The sign before a release of which a text names all earlier ones."""
LONGEST = 600
"""Characters of a line that is read for releases."""
NAMES = {row["software"]: row["forms"] for row in resources.catalog_table("software-names.csv")}
"""The names of software, each with a pattern of the forms that texts have."""
_BETWEEN = (
    r"(?: library)?(?:[ _-]?(?:versions?|releases?|package))?[ \t:=|(@`'\"*_-]{0,12}"
    r"(?:(?P<before>before|prior to|older than|earlier than|below|<) ?)?(?:is |to )?v?"
)
_NUMBER = r"(?P<number>[0-9]{1,3}(?:\.[0-9]{1,4}){1,3}|[3-9][0-9]{2}(?![0-9]))"
_DRIVER = re.compile(r"[3-9][0-9]{2}(?:\.[0-9]{2,3}){0,2}")
"""The number of a release of a driver, which may have no second part, unlike that of other software."""
_NO_VALUE = r"(?!\s?(?:[gmk]i?b|%|x\b))"
_SOFTWARE = tuple(NAMES)
_NAMED = "|".join(f"(?P<s{place}>{words})" for place, words in enumerate(NAMES.values()))
_FIRST = "acdefgjlmnoprstuv"
"""The first letters of all forms of the names: other places of a line are passed over."""
_RELEASES = re.compile(rf"(?<![a-z0-9])(?=[{_FIRST}])(?:{_NAMED}){_BETWEEN}{_NUMBER}{_NO_VALUE}")
"""The release of software in a line in lowercase letters."""


class NamedRelease(NamedTuple):
    """A release of software that a line of a text names, with `BEFORE` where it means the earlier ones."""

    software: str
    release: str
    line: int


class KnownFault(NamedTuple):
    """A published fault of the releases of software from ``since`` on and before ``until``, with its symptoms."""

    software: str
    since: str
    until: str
    symptoms: tuple[tuple[frozenset[str], ...], ...]
    note: str
    source: str


@cache
def known_faults() -> tuple[KnownFault, ...]:
    """The faults of the catalog, in the order of the table."""
    return tuple(_fault_of_row(row) for row in resources.catalog_table(FILE))


def _fault_of_row(row: Mapping[str, str]) -> KnownFault:
    bounds = (row["since"], row["until"])
    return KnownFault(row["software"], *bounds, _symptoms(row["symptoms"]), row["note"], row["source"])


def _symptoms(text: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """The words of each alternative of each part of the symptoms."""
    return tuple(tuple(frozenset(words_of(each)) for each in part.split("|")) for part in text.split(";"))


def told_releases(text: str) -> Iterator[NamedRelease]:
    """The releases that the lines of a text name, each with its first line.

    >>> list(told_releases("We use torch==2.7.0 with\\nNCCL version 2.26.2+cuda12.2"))
    [NamedRelease(software='pytorch', release='2.7.0', line=1), NamedRelease(software='nccl', release='2.26.2', line=2)]
    >>> list(told_releases("EFA device plugin prior to 0.5.10, at 5.1 GB/s"))
    [NamedRelease(software='efa-device-plugin', release='<0.5.10', line=1)]
    """
    seen = set[tuple[str, str]]()
    for number, line in enumerate(lines_of(text), 1):
        if number > MOST_LINES:
            return
        for software, release in _releases_of_line(line[:LONGEST]):
            if (software, release) not in seen:
                seen.add((software, release))
                yield NamedRelease(software, release, number)


def _releases_of_line(line: str) -> Iterator[tuple[str, str]]:
    """The releases of a line, each with its software."""
    for found in _RELEASES.finditer(line.lower()):
        software = next(name for place, name in enumerate(_SOFTWARE) if found[f"s{place}"])
        if _is_a_release(software, found["number"]):
            yield software, f"{BEFORE if found['before'] else ''}{found['number']}"


def _is_a_release(software: str, number: str) -> bool:
    """Whether a number has the form of the releases of some software."""
    return bool(_DRIVER.fullmatch(number)) if software == "nvidia-driver" else "." in number


def fault_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The published faults whose symptoms a text has and whose software it names, with each release that it names;
    whether that release has the fault is left to the reader.

    >>> list(fault_statements("Our job hangs since we pass device_id, with PyTorch 2.7.0."))[0][1:]
    ('2.7.0', 1)
    >>> list(fault_statements("Our job hangs with PyTorch 2.7.0."))
    []
    """
    told = tuple(told_releases(text))
    named = {each.software for each in told}
    faults = [(place, fault) for place, fault in enumerate(known_faults()) if fault.software in named]
    clauses = tuple(words_in_clauses(text)) if faults else ()
    for place, fault in faults:
        if all(any(_are_told(words, clauses) for words in part) for part in fault.symptoms):
            yield from (
                (f"{KNOWN}{place}", each.release, each.line) for each in told if each.software == fault.software
            )


def _are_told(words: frozenset[str], clauses: Iterable[Mapping[str, Sequence[int]]]) -> bool:
    """Whether a clause has all of some words near each other; each clause is its words with their places."""
    return any(words <= clause.keys() and are_near(words, clause) for clause in clauses)
