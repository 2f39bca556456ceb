"""Calls of a check without each part, key and figure that a design may lack: none of them may raise.

A part whose name ends in ``?`` may be absent, a section of a spec may lack each of its keys, and a resolved cluster,
workload or layout each of its optional fields. The other parts stay those of the whole design, so that the check meets
each absence alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from clusterspec.finding import Problem
from clusterspec.rules.engine import PartCache
from clusterspec.rules.facts import Facts
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import module
from tests.absences import DEPTH, SECTIONS, records_without

Check = Callable[..., Iterable[Problem]]
RESOLVED = {"cluster", "workload", "layout"}
IMPOSSIBLE = {
    ("data-loading-exposed", "networks.storage.metadata_rate"),
    ("delivery-misses-date", "procurement.delivery.milestones"),
}
"""Keys from which another part of the same check was computed, so that they are never absent alone."""


def parts_without(needs: Sequence[str], parts: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The parts of a check with one absence each, by what is absent."""
    for at, (need, part) in enumerate(zip(needs, parts, strict=True)):
        name = need.removesuffix("?")
        less: list[tuple[str, Any]] = [("", None)] if need[-1] == "?" and part is not None else []
        if type(part).__module__.startswith(SECTIONS):
            less += records_without(part, DEPTH)
        elif name in RESOLVED and part is not None:
            less += records_without(part, 0)
        for path, changed in less:
            yield f"{name}.{path}".rstrip("."), [*parts[:at], changed, *parts[at + 1 :]]


def failures_without_parts(check: Check, needs: Sequence[str], parts: Sequence[Any]) -> Iterator[tuple[str, Exception]]:
    """What a check raises in a design without one thing that it may lack, by what is absent."""
    for absent, given in parts_without(needs, parts):
        try:
            list(check(*given))
        except Exception as fault:
            yield absent, fault


def run_without_parts(rule: str, facts: Facts) -> None:
    """Fail where the check of a rule raises without a part that it may lack."""
    needs = RULES[rule][1]
    parts = PartCache(facts).arguments_of_check(needs) if needs else None
    if parts is None:
        return  # a lower layer reports it, or the design lacks a part that it needs
    for absent, fault in failures_without_parts(module(rule).check, needs, parts):
        if (rule, absent) not in IMPOSSIBLE:
            # NOTE: an assertion does not do: the engine catches every `Exception` of a rule.
            pytest.fail(f"{rule} raises {fault!r} in a design without {absent}")
