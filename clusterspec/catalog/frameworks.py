"""Frameworks of training and serving: what each supports and requires, by release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from clusterspec.catalog.reader import Entry, Fact, FactReader, Status
from clusterspec.records import dataclass, field, replace
from clusterspec.source import Cited, Origin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from clusterspec.catalog import Catalog
    from clusterspec.catalog.releases import Combination, Multiple, ReleaseFault

    _Line = TypeVar("_Line", "Statement", "Requirement")
    _Named = TypeVar("_Named", "Combination", "Multiple")

GROUP = "features."
SUPPORT = "support."
MULTIPLES = "multiples."
OWN = "custom"
"""The name in results of the framework of a layout that names none."""
UNNAMED = "unnamed"
"""The id of the entry with the requirements for layouts that name no framework. Its stacks also apply to frameworks
without stacks of their own.
"""


@dataclass(frozen=True)
class Feature:
    """Whether a framework has a feature: ``value`` from release ``since`` on and before release ``until``.

    Outside these releases the opposite holds. An empty release is no bound. The years are those of the two releases,
    None if the entry does not date them.
    """

    value: bool
    since: str = ""
    until: str = ""
    since_year: int | None = None
    until_year: int | None = None
    origin: Origin | None = None
    note: str = ""

    @property
    def is_sourced(self) -> bool:
        """Whether a document states it; otherwise it is assumed."""
        return isinstance(self.origin, Cited)

    def holds(self, release: tuple[int, ...], year: int) -> bool:
        """The value in a release, or in a year where no release is given (an empty tuple)."""
        if release:
            inside = (not self.since or release >= version_numbers(self.since)) and (
                not self.until or release < version_numbers(self.until)
            )
        else:
            inside = (self.since_year or year) <= year and (self.until_year is None or year < self.until_year)
        return self.value is inside


@dataclass(frozen=True)
class Statement:
    """A line of the support matrix: a combination of uses, and the releases that support it."""

    combination: Combination
    feature: Feature


@dataclass(frozen=True)
class Requirement:
    """A number that must be a multiple of another, and the releases that require it."""

    multiple: Multiple
    feature: Feature


@dataclass(frozen=True)
class Framework(Entry):
    """A framework. Facts that its entry does not state are inherited from its ``base``.

    ``vendors`` are the vendors of the accelerators on which it runs (empty: not known), ``purposes`` are ``train`` and
    ``serve``, ``stacks`` is the framework whose stacks describe its time and memory, ``synonyms`` are other names,
    ``run_by`` the programs that run it underneath. ``releases`` has the year of each release, oldest first;
    ``calendar``: they are numbered by year and month.

    """

    base: str | None = None
    vendors: tuple[str, ...] = ()
    vendors_sourced: bool = False
    """Whether a document states the vendors; otherwise they are assumed."""
    purposes: tuple[str, ...] = ()
    stacks: str | None = None
    calendar: bool = False
    releases: Mapping[str, int | None] = field(default_factory=dict)
    base_releases: Mapping[str, str] = field(default_factory=dict)
    """The release of the base framework that each release builds on, oldest first."""
    synonyms: tuple[str, ...] = ()
    run_by: tuple[str, ...] = ()
    features: Mapping[str, Feature] = field(default_factory=dict)
    statements: Mapping[str, Statement] = field(default_factory=dict)
    """The lines of the support matrix, by their text."""
    multiples: Mapping[str, Requirement] = field(default_factory=dict)
    """The numbers that have to be multiples, by their text."""

    @property
    def trains(self) -> bool:
        """Whether it trains; a framework without stated purposes may."""
        return not self.purposes or "train" in self.purposes

    def with_base(self, base: Framework) -> Framework:
        """This framework, with the base's facts for those that it does not state.

        If the framework has its own release numbers, ``base_releases`` maps each release to one of the base; otherwise
        base releases are matched by year.
        """
        own = self.calendar or bool(self.releases)
        read = self._with_own_release_numbers if own else _with_base_release_numbers
        return replace(
            self,
            vendors=self.vendors or base.vendors,
            vendors_sourced=self.vendors_sourced if self.vendors else base.vendors_sourced,
            purposes=self.purposes or base.purposes,
            stacks=self.stacks or base.stacks or base.id,
            releases=self.releases if own else base.releases,
            features={name: read(each) for name, each in base.features.items()} | dict(self.features),
            statements=_lines_read(base.statements, read) | dict(self.statements),
            multiples=_lines_read(base.multiples, read) | dict(self.multiples),
        )

    def _with_own_release_numbers(self, feature: Feature) -> Feature:
        """A base's feature with the release numbers of this framework; empty if none of its releases builds on the
        base's release.
        """
        return replace(
            feature, since=self._first_release_on_base(feature.since), until=self._first_release_on_base(feature.until)
        )

    def _first_release_on_base(self, release: str) -> str:
        """The first release of this framework that builds on a base release or a later one; empty if none does."""
        wanted = version_numbers(release) if release else ()
        upon = (own for own, base in self.base_releases.items() if wanted and version_numbers(base) >= wanted)
        return next(upon, "")


def _with_base_release_numbers(feature: Feature) -> Feature:
    return feature


def _lines_read(lines: Mapping[str, _Line], convert: Callable[[Feature], Feature]) -> dict[str, _Line]:
    """The support lines of a base framework, with their features converted by ``convert``."""
    return {text: replace(each, feature=convert(each.feature)) for text, each in lines.items()}


@dataclass(frozen=True)
class Library(Framework):
    """A driver, toolkit or library, with the support matrix and the published faults of its releases."""

    faults: tuple[ReleaseFault, ...] = ()


@dataclass(frozen=True)
class Capabilities:
    """The features of a framework in one release or year. ``named`` says whether the spec names the framework."""

    framework: Framework
    features: Mapping[str, bool]
    named: bool = True
    refused: tuple[Statement, ...] = ()
    """The lines of the support matrix whose combination it is known not to support."""
    release: str | None = None
    """Framework and release as the spec names them; None where it names none."""
    required: tuple[Requirement, ...] = ()
    """The numbers that have to be multiples of others."""

    @property
    def written(self) -> str:
        """The framework as results name it."""
        return self.framework.id if self.named else OWN

    def has(self, feature: str) -> bool:
        """Whether the framework is known to have a feature."""
        return self.features.get(feature) is True

    def refuses(self, feature: str) -> bool:
        """Whether the framework is known not to have a feature."""
        return self.features.get(feature) is False

    @property
    def lists_release(self) -> bool:
        """Whether the entry lists the release in the spec, or the release that it patches."""
        numbers = version_numbers((self.release or "").partition(" ")[2])
        return any(numbers[: len(known)] == known for known in map(version_numbers, self.framework.releases))

    def members(self, group: str) -> tuple[str, ...]:
        """The features of a group that the framework is known to have."""
        start = f"{group}."
        return tuple(
            name.removeprefix(start) for name, held in self.features.items() if held and name.startswith(start)
        )


NOTHING_KNOWN = Capabilities(Framework(OWN, "", "", Status("shipping", ""), ()), {}, named=False)
"""The capabilities of a framework without an entry."""


def capabilities(framework: Framework, release: str | None, year: int, *, named: bool = True) -> Capabilities:
    """The features of a framework in a release, or in a year where the release is not known."""
    numbers = version_numbers(release or "")
    if framework.calendar and not _is_calendar(numbers):
        numbers = ()  # another numbering, which cannot be compared

    def holds(feature: Feature) -> bool:
        return feature.holds(numbers if feature.since or feature.until else (), year)

    held = {name: holds(each) for name, each in framework.features.items()}
    refused = tuple(each for each in framework.statements.values() if not holds(each.feature))
    required = tuple(each for each in framework.multiples.values() if holds(each.feature))
    written = f"{framework.id} {release}" if release is not None else None
    return Capabilities(framework, held, named, refused, written, required)


def framework_of(name: str, catalog: Catalog) -> Framework:
    """The framework with a name, with facts inherited from its bases; an empty one where the catalog lacks it."""
    chain: list[Framework] = []
    following: str | None = name
    while following is not None and following not in {each.id for each in chain}:
        entry = catalog.find("framework", following)
        if not isinstance(entry, Framework):
            break
        chain.append(entry)
        following = entry.base
    found = chain.pop() if chain else replace(NOTHING_KNOWN.framework, id=name)
    for each in reversed(chain):
        found = each.with_base(found)
    return found


def named_library(name: str, catalog: Catalog) -> Library | None:
    """The library with a name or alias, upper and lower case alike; None if the catalog has no such library."""
    wanted = name.lower()
    if wanted not in catalog.ids("library"):
        entries = (catalog.find("library", each) for each in catalog.ids("library"))
        return next((each for each in entries if isinstance(each, Library) and wanted in each.synonyms), None)
    found = catalog.find("library", wanted)
    return found if isinstance(found, Library) else None


def _is_calendar(release: tuple[int, ...]) -> bool:
    """Whether the numbers of a release are a year and a month: (25, 11) is November 2025.

    >>> _is_calendar((25, 11)), _is_calendar((26, 2, 1)), _is_calendar((2, 5, 0))
    (True, True, False)
    """
    return len(release) > 1 and release[0] % 100 >= 20 and 1 <= release[1] <= 12


def release_and_base(release: str) -> tuple[str, str]:
    """A release and the release of the base that it builds on.

    >>> release_and_base("0.3 on 0.16")
    ('0.3', '0.16')
    """
    name, _, base = release.partition(" on ")
    return name, base


def release_and_year(release: str) -> tuple[str, int | None]:
    """The release and its year as written in the catalog; the year is `None` if the entry does not state it.

    >>> release_and_year("0.7 (2024)"), release_and_year("0.16")
    (('0.7', 2024), ('0.16', None))
    """
    name, _, year = release.partition(" (")
    return name, int(year.removesuffix(")")) if year else None


# Conversion of catalog facts to a framework


def features(facts: FactReader, releases: Mapping[str, int | None]) -> Iterator[tuple[str, Feature]]:
    """The features of an entry by name, with the years of its releases."""
    for name, fact in facts.raw_entry.facts.items():
        if name.startswith(GROUP) and (found := _stated_feature(facts, fact, releases)) is not None:
            yield name.removeprefix(GROUP), found


def support_statements(facts: FactReader, releases: Mapping[str, int | None]) -> Iterator[tuple[str, Statement]]:
    """The lines of the support matrix of an entry, by their text."""
    for text, named, feature in _parsed_facts(facts, releases, SUPPORT, _parsed_combination):
        yield text, Statement(named, feature)


def required_multiples(facts: FactReader, releases: Mapping[str, int | None]) -> Iterator[tuple[str, Requirement]]:
    """The requirements of an entry that one number is a multiple of another, by their text."""
    for text, named, feature in _parsed_facts(facts, releases, MULTIPLES, _parsed_multiple):
        yield text, Requirement(named, feature)


def _parsed_combination(text: str) -> Combination:
    from clusterspec.catalog.releases import combination  # entries of few frameworks state any

    return combination(text)


def _parsed_multiple(text: str) -> Multiple:
    from clusterspec.catalog.releases import multiple

    return multiple(text)


def _parsed_facts(
    facts: FactReader, releases: Mapping[str, int | None], start: str, parsed: Callable[[str], _Named]
) -> Iterator[tuple[str, _Named, Feature]]:
    """The facts whose names begin with ``start``, with the parsed rest of the name. A name that cannot be parsed is
    recorded as a problem.
    """
    for name, fact in facts.raw_entry.facts.items():
        if not name.startswith(start) or (found := _stated_feature(facts, fact, releases)) is None:
            continue
        text = name.removeprefix(start)
        try:
            yield text, parsed(text), found
        except UnreadableCombination as fault:
            facts.refuse(fact, "unknown-choice", str(fault), "`docs/company-catalogs.md` lists the uses")


def _stated_feature(facts: FactReader, fact: Fact, releases: Mapping[str, int | None]) -> Feature | None:
    """The feature that a fact states. If the value is neither true nor false: None, and a problem."""
    value = facts.flag(fact.name)
    if value is None:
        return None
    years = (_release_year(facts, fact, fact.since, releases), _release_year(facts, fact, fact.until, releases))
    return Feature(value, fact.since, fact.until, *years, fact.origin, fact.note)


def _release_year(facts: FactReader, fact: Fact, release: str, releases: Mapping[str, int | None]) -> int | None:
    """The year of a release that bounds a feature. A release that the entry does not list is a problem."""
    if release and release not in releases:
        facts.refuse(fact, "unknown-choice", f"{fact.name} names release {release}, which `releases` does not list")
    return releases.get(release)


@lru_cache(maxsize=256)  # legality asks for each layout
def version_numbers(release: str) -> tuple[int, ...]:
    """The numbers of a release, for comparison; a part that is not a number ends it.

    >>> version_numbers("0.15.1"), version_numbers("1.3.0rc1"), version_numbers("2026.1")
    ((0, 15, 1), (1, 3, 0), (2026, 1))
    """
    if not release or (release.isascii() and release.replace(".", "").isdecimal()):
        return tuple(int(part) for part in release.split(".") if part)
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+-]", release.lower())[0]))


class UnreadableCombination(ValueError):
    """Raised for a text that names an unknown use."""
