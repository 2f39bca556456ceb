"""Releases of software: their numbers, and the published faults of a library by release."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.catalog.reader import Fact, FactReader
from clusterspec.origin import Cited
from clusterspec.records import dataclass

FAULTS = "faults."
EFFECTS = ("slow", "stops", "wrong")
PLACES = ("in a node", "over nodes")
FABRICS = ("roce", "infiniband", "efa", "tcp")
HOSTS = ("amd host",)
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")


def version_numbers(release: str) -> tuple[int, ...]:
    """The numbers of a release, for comparison; a part that is not a number ends it.

    >>> version_numbers("0.15.1"), version_numbers("1.3.0rc1"), version_numbers("2026.1")
    ((0, 15, 1), (1, 3, 0), (2026, 1))
    """
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+-]", release.lower())[0]))


@dataclass(frozen=True)
class ReleaseFault:
    """A published fault of the releases from ``since`` on and before ``until``; an empty one is no bound.

    ``effect`` is `slow`, `stops` or `wrong`. Empty conditions hold for every run: ``place`` and ``fabric``, ``host``,
    ``architectures`` of accelerators, and ``collectives``. ``setting`` is an environment variable that has to be set.
    """

    effect: str
    since: str = ""
    until: str = ""
    place: str = ""
    fabric: str = ""
    host: str = ""
    architectures: tuple[str, ...] = ()
    collectives: tuple[str, ...] = ()
    setting: str = ""
    note: str = ""
    url: str = ""

    def holds_in(self, release: str) -> bool:
        """Whether a release has the fault.

        >>> ReleaseFault("slow", since="2.16.2", until="2.16.5").holds_in("2.16.2+cuda11.8")
        True
        """
        numbers = version_numbers(release)
        return (not self.since or numbers >= version_numbers(self.since)) and (
            not self.until or numbers < version_numbers(self.until)
        )


def release_faults(read: FactReader) -> Iterator[ReleaseFault]:
    """The published faults of an entry. One whose conditions cannot be read is a problem."""
    for name, fact in read.raw_entry.facts.items():
        if name.startswith(FAULTS) and read.flag(name):
            if (found := _fault(name.removeprefix(FAULTS), fact)) is not None:
                yield found
            else:
                read.refuse(fact, "unknown-choice", f"{name} has a condition that is none of those of a run")


def _fault(text: str, fact: Fact) -> ReleaseFault | None:
    """The fault of a text such as `slow + over nodes + roce + on gfx942/gfx950`; None where a part is unknown."""
    effect, *parts = text.split(" + ")
    conditions: dict[str, str] = {}
    for part in parts:
        kind = _condition_of(part)
        if kind is None:
            return None
        conditions[kind] = part
    if effect not in EFFECTS:
        return None
    return ReleaseFault(
        effect,
        fact.since,
        fact.until,
        place=conditions.get("place", ""),
        fabric=conditions.get("fabric", ""),
        host=conditions.get("host", ""),
        architectures=_alternatives(conditions.get("on", "").removeprefix("on ")),
        collectives=_alternatives(conditions.get("of", "")),
        setting=conditions.get("with", "").removeprefix("with "),
        note=fact.note,
        url=fact.origin.url if isinstance(fact.origin, Cited) else "",
    )


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split("/")))


def _condition_of(part: str) -> str | None:
    """Which condition a part of the text is; None where it is none."""
    for kind, parts in (("place", PLACES), ("fabric", FABRICS), ("host", HOSTS)):
        if part in parts:
            return kind
    if part.startswith(("on ", "with ")):
        return part.partition(" ")[0]
    return "of" if all(each in COLLECTIVES for each in part.split("/")) else None
