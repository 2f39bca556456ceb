"""The framework and the release that a spec names, and the generation of the catalog that has it."""

from __future__ import annotations

from clusterspec.catalog.frameworks import Framework, release_and_year, version_numbers
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.layout import SOFTWARE_KEY, SOFTWARE_PATH, stack_of_year
from clusterspec.cluster.resolution import Lookup
from clusterspec.finding import Problem
from clusterspec.spec.model import LayoutSpec

Generation = tuple[int, str | None, Stack | None]
"""The year, the known release, and the stack of a framework."""


def named_release(section: LayoutSpec, written: str, lookup: Lookup) -> tuple[str | None, str | None]:
    """Framework and release of ``software``, as written; a problem where the framework is unknown or another one."""
    name, _, release = written.partition(" ")
    name, known = name.lower(), lookup.catalog.ids("framework")
    if name not in known:
        from clusterspec.cluster.unknown_names import unknown_software_problem  # most specs have none

        lookup.log.problems.append(unknown_software_problem(written, lookup))
        return None, None
    if section.framework is not None and name != section.framework:
        message = f"`software` is a release of {name}, but `framework` is {section.framework}"
        advice = "name the same framework in both, or drop one of them"
        lookup.log.problems.append(Problem("unknown-choice", SOFTWARE_PATH, message, advice))
        return None, None
    return name, release.strip().removeprefix("v")


def generation_of_release(
    framework: Framework, release: str, generations: dict[int, str], lookup: Lookup
) -> Generation | None:
    """The generation of a release, `None` where the catalog has none; ``generations`` are the ids by year."""
    find = _calendar_generation if framework.calendar else _released_software
    return find(framework, release, generations, lookup)


def _calendar_generation(
    framework: Framework, release: str, generations: dict[int, str], lookup: Lookup
) -> Generation | None:
    """The generation of the year that a release names, `None` where it names none."""
    numbers = version_numbers(release)
    if len(numbers) < 2 or not 1 <= numbers[1] <= 12 or not 20 <= numbers[0] < 100:
        return None
    year = 2000 + numbers[0]
    return year, f"{framework.id} {release}", stack_of_year(framework.id, year, generations, lookup)


def _released_software(
    framework: Framework, release: str, generations: dict[int, str], lookup: Lookup
) -> Generation | None:
    """The nearest known release at or below the written one (else the oldest), with its generation.

    A framework with its own release numbers takes the stack of the release's year.
    """
    entries = [lookup.named_entry("stack", generations[year]) for year in sorted(generations)]
    stacks = [stack for stack in entries if isinstance(stack, Stack)]
    known: dict[str, tuple[Stack | None, int]] = {
        name: (stack, year or stack.year) for stack in stacks for name, year in map(release_and_year, stack.releases)
    }
    if framework.stacks not in {None, framework.id}:
        known = {
            name: (stack_of_year(framework.id, year, generations, lookup), year)
            for name, year in framework.releases.items()
            if year is not None
        }
    if not known:
        return None
    ordered, wanted = sorted(known, key=version_numbers), version_numbers(release)
    nearest = next((name for name in reversed(ordered) if version_numbers(name) <= wanted), ordered[0])
    if version_numbers(nearest) != wanted[: len(version_numbers(nearest))]:
        why = f"the nearest release to {release} in the catalog"
        lookup.log.assume(f"{SOFTWARE_KEY}.software", f"{framework.id} {nearest}", why)
    stack, year = known[nearest]
    return year, f"{framework.id} {nearest}", stack
