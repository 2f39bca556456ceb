"""The software generation of a layout, by its release or its year."""

from __future__ import annotations

import re

from clusterspec.catalog.entries import Stack
from clusterspec.cluster.lookup import Lookup
from clusterspec.finding import Problem
from clusterspec.records import dataclass, replace
from clusterspec.source import Path
from clusterspec.spec.model import LayoutSpec

KEY = "layout"
PATH: Path = ("layout", "software")
SAME_SOFTWARE = {"nemo": "megatron-core", "deepspeed": "megatron-deepspeed"}
"""Frameworks that share another one's kernels and schedules."""
SERVING = frozenset({"vllm", "sglang", "trt-llm"})
"""Frameworks whose generations in the catalog describe serving."""
CALENDAR = frozenset({"nemo"})
"""Frameworks that number releases by year and month (NeMo containers: 25.11 is of November 2025)."""
USUAL = "megatron-core"
"""The framework whose generations are assumed for one that the catalog lacks."""
NEWEST_SOFTWARE = 2026
"""The newest year of software for which the cost model has figures."""


@dataclass(frozen=True, slots=True)
class Software:
    """A framework, its year and release, and its generation in the catalog (None: unknown)."""

    framework: str
    year: int
    release: str | None
    stack: Stack | None


def resolve_software(
    section: LayoutSpec, lookup: Lookup, frameworks: frozenset[str], *, serves: bool = False
) -> Software:
    """The software of a layout. ``frameworks`` are the names that the format allows; ``serves`` says what it is for.

    A release precedes a year. An unknown release is replaced by the nearest known one, as an assumption; a framework
    without entries by another one.
    """
    name, release = _written(section, lookup, frameworks)
    framework = section.framework or name or "custom"
    known = SAME_SOFTWARE.get(framework, framework)
    generations = _generations(known, lookup) if serves or known not in SERVING else {}
    find = _of_calendar if framework in CALENDAR else _of_release
    found = find(framework, release, generations, lookup) if release is not None else None
    if found is not None:
        return _sharded(found, lookup)
    why = "the newest known" if release is None else f"the catalog has no release of {framework}: the newest year"
    year = lookup.log.either(section.software_year, f"{KEY}.software_year", NEWEST_SOFTWARE, why)
    if serves and not generations:
        return Software(framework, year, None, None)
    return _sharded(Software(framework, year, None, _of_year(framework, year, generations, lookup)), lookup)


def _sharded(software: Software, lookup: Lookup) -> Software:
    """The software, with the memory of the stack whose full sharding it uses."""
    name = software.stack.full_sharding if software.stack is not None else None
    other = lookup.known("stack", name) if name is not None else None
    if software.stack is None or not isinstance(other, Stack):
        return software
    memory = replace(other.memory, gradients=software.stack.memory.gradients)
    return replace(software, stack=replace(software.stack, fully_sharded=memory))


def _written(section: LayoutSpec, lookup: Lookup, frameworks: frozenset[str]) -> tuple[str | None, str | None]:
    """Framework and release of ``software``; a problem where the framework is unknown or a different one."""
    if section.software is None:
        return None, None
    name, _, release = section.software.partition(" ")
    name = name.lower()
    if name not in frameworks:
        message = f"`{section.software}` does not name a framework of the format"
        _report(lookup, message, f"write one of {', '.join(sorted(frameworks))}, and its release")
        return None, None
    if section.framework is not None and name != section.framework:
        message = f"`software` is a release of {name}, and `framework` is {section.framework}"
        _report(lookup, message, "name the same framework in both, or drop one of them")
        return None, None
    return name, release.strip().removeprefix("v")


def _report(lookup: Lookup, message: str, remedy: str) -> None:
    lookup.log.problems.append(Problem("unknown-choice", PATH, message, remedy))


def _generations(framework: str, lookup: Lookup) -> dict[int, str]:
    """First years and ids of a framework's generations."""
    found = {}
    for name in lookup.catalog.ids("stack"):
        family, _, year = name.rpartition("-")
        if family == framework and year.isdigit():
            found[int(year)] = name
    return found


def _of_calendar(framework: str, release: str, generations: dict[int, str], lookup: Lookup) -> Software | None:
    """The generation of the year that a release names, `None` where it names none."""
    numbers = version(release)
    if len(numbers) < 2 or not 1 <= numbers[1] <= 12 or not 20 <= numbers[0] < 100:
        return None
    year = 2000 + numbers[0]
    return Software(framework, year, f"{framework} {release}", _of_year(framework, year, generations, lookup))


def _of_release(framework: str, release: str, generations: dict[int, str], lookup: Lookup) -> Software | None:
    """The nearest known release at or below the written one (else the oldest), with its generation."""
    entries = [lookup.known("stack", generations[year]) for year in sorted(generations)]
    stacks = [stack for stack in entries if isinstance(stack, Stack)]
    known = {name: (stack, year or stack.year) for stack in stacks for name, year in map(dated, stack.releases)}
    if not known:
        return None
    ordered, wanted = sorted(known, key=version), version(release)
    nearest = next((name for name in reversed(ordered) if version(name) <= wanted), ordered[0])
    if version(nearest) != wanted[: len(version(nearest))]:
        why = f"the nearest release to {release} in the catalog"
        lookup.log.assume(f"{KEY}.software", f"{framework} {nearest}", why)
    stack, year = known[nearest]
    return Software(framework, year, f"{framework} {nearest}", stack)


def dated(release: str) -> tuple[str, int | None]:
    """A release of the catalog and its year, `None` where the entry does not state it.

    >>> dated("0.7 (2024)"), dated("0.16")
    (('0.7', 2024), ('0.16', None))
    """
    name, _, year = release.partition(" (")
    return name, int(year.removesuffix(")")) if year else None


def version(release: str) -> tuple[int, ...]:
    """The numbers of a release, for comparison; a part that is not a number ends it.

    >>> version("0.15.1"), version("1.3.0rc1"), version("2026.1")
    ((0, 15, 1), (1, 3, 0), (2026, 1))
    """
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+-]", release.lower())[0]))


def _of_year(framework: str, year: int, generations: dict[int, str], lookup: Lookup) -> Stack | None:
    """The newest generation not after the year, else the first. Reads one file."""
    known = generations or _generations(USUAL, lookup)
    if not known:
        return None
    name = known[max((each for each in known if each <= year), default=min(known))]
    if not generations:
        lookup.log.assume(f"{KEY}.stack", name, f"the catalog has no generation of {framework}")
    stack = lookup.known("stack", name)
    return stack if isinstance(stack, Stack) else None
