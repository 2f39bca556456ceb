"""Runs each rule whose parts the spec has. A rule that crashes does not affect the others.

Without `cluster.nodes`, `workload.sequence_length` or `workload.global_batch` no design resolves, so that one absent or
unreadable key would hide every other problem. The rules then run with several substitute values. A problem that all of
them report in the same words does not depend on the value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from clusterspec.catalog import BrokenEntry
from clusterspec.finding import Problem
from clusterspec.rules import index
from clusterspec.rules.facts import Facts
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import module
from clusterspec.rules.rule import key_path
from clusterspec.source import Path
from clusterspec.spec.model import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SILENT: dict[str, Callable[..., object]] = getattr(index, "SILENT", {})  # absent while the index is regenerated


MOST_NAMED = 4
"""Largest number of further rules that the message names when several crash."""


class RulesFailedError(Exception):
    """Some rules crashed. ``problems`` come from the other rules, ``faults`` are the exceptions by rule."""

    def __init__(self, problems: list[Problem], faults: list[tuple[str, Exception]]) -> None:
        self.problems = problems
        self.faults = faults
        name, fault = faults[0]
        others = ", ".join(other for other, _ in faults[1 : MOST_NAMED + 1])
        further = f" and {len(faults) - 1 - MOST_NAMED} more" if len(faults) - 1 > MOST_NAMED else ""
        more = f" (also {others}{further})" if others else ""
        super().__init__(f"rule {name} failed: {type(fault).__name__}: {fault}{more}")

    def __reduce__(self) -> tuple[type[RulesFailedError], tuple[list[Problem], list[tuple[str, Exception]]]]:
        """The arguments for unpickling in another process; by default only the message would be passed on."""
        return RulesFailedError, (self.problems, self.faults)


class _AbsentPartError(Exception):
    """Raised where a required part is absent."""


class PartCache(dict[str, "Any"]):
    """The parts of a design by name, each computed on first use. The name of an optional part ends in ``?``.

    ``absent`` are the required parts found to be missing.
    """

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        self.facts = facts
        self.absent: set[str] = set()

    def __missing__(self, need: str) -> Any:
        part = getattr(self.facts, need.removesuffix("?"))
        if part is None and need[-1] != "?":
            self.absent.add(need)
            raise _AbsentPartError
        self[need] = part
        return part

    def arguments_of_check(self, needs: tuple[str, ...]) -> list[Any] | None:
        """The parts that a check takes, in order; None if a required one is absent."""
        try:
            return [*map(self.__getitem__, needs)]
        except _AbsentPartError:
            return None


def run_rules(facts: Facts, names: Collection[str] = RULES) -> list[Problem]:
    """The problems of all rules, or of those with some ``names``, in the order of the index.

    Where several rules report one figure, only the most precise rule's problem is kept.

    Raises `RulesFailedError` after the last rule when one of them crashed.
    """
    problems: list[Problem] = []
    faults: list[tuple[str, Exception]] = []
    parts = PartCache(facts)
    for name in RULES if names is RULES else _in_order(names):
        needs = RULES[name][1]
        if not needs or not parts.absent.isdisjoint(needs):
            continue
        try:
            known = parts.arguments_of_check(needs)
            if known is not None and not (name in _SILENT and _SILENT[name](*known)):
                problems += _judgeable_problems(facts.spec, module(name).check(*known))
        except Exception as fault:
            faults.append((name, fault))
    problems = _doubted_problems(unsuperseded_problems(problems), facts)
    if faults:
        raise RulesFailedError(problems, faults) from faults[0][1]
    return problems


def _in_order(names: Collection[str]) -> list[str]:
    """Those among some names that are rules, in the order of the index: a search asks about few rules many times."""
    return sorted(RULES.keys() & {*names}, key=_places().__getitem__)


@cache
def _places() -> dict[str, int]:
    return {name: place for place, name in enumerate(RULES)}


def _judgeable_problems(spec: Spec, problems: Iterable[Problem]) -> list[Problem]:
    """The problems that do not depend on a key whose text could not be read or whose name is misspelled.

    The value of such a key is unknown, and another finding reports the key. For example, `spares: 2` (a misspelled
    `spare_nodes`) does not mean that the machine has no spare nodes.
    """
    unread = [path for path in spec.broken if path]
    if not unread:
        return [*problems]
    return [
        one
        for one in problems
        if not any(one.path[: len(path)] == path for path in unread)
        and not any(spec.unreadable(key_path(at)) for at in module(one.rule).RULE.reads)
    ]


@contextmanager
def collected_problems(faults: list[Exception]) -> Iterator[list[Problem]]:
    """A list for the problems that some rules find. The exception of rules that failed is added to ``faults``, and the
    problems of the other rules to the list. Raises `BrokenEntry`.
    """
    problems: list[Problem] = []
    try:
        yield problems
    except RulesFailedError as crash:
        if isinstance(crash.__cause__, BrokenEntry):
            raise crash.__cause__ from None
        problems += crash.problems
        faults.append(crash)
    except BrokenEntry:
        raise
    except Exception as fault:
        faults.append(fault)


def unchecked_rules(facts: Facts) -> frozenset[str]:
    """The rules that cannot judge the design: it lacks a part that they need, or they judge times and the plan has
    none. A plan has no times, for example, if the replicas do not divide the batch.
    """
    parts = PartCache(facts)
    absent = {name for name, (_, needs) in RULES.items() if needs and parts.arguments_of_check(needs) is None}
    plan = facts.plan
    if plan is not None and plan.step is None and plan.serving is None:
        absent |= {name for name, (group, needs) in RULES.items() if _judges_time(group, needs)}
    return frozenset(absent)


def _judges_time(group: str, needs: tuple[str, ...]) -> bool:
    """Whether a rule judges predicted times; rules about memory use only the bytes of a plan."""
    return "timed" in needs or ("plan" in needs and group != "memory")


def unsuperseded_problems(problems: list[Problem]) -> list[Problem]:
    """The problems without those whose rule yields to another rule at the same key."""
    reported = {(problem.path, problem.rule) for problem in problems}
    return [
        problem
        for problem in problems
        if not any((problem.path, other) in reported for other in module(problem.rule).RULE.yields_to)
    ]


def _doubted_problems(problems: list[Problem], facts: Facts) -> list[Problem]:
    """The problems, those found in the description with the doubt that its other sentences cast on them."""
    if not any(problem.path == _DESCRIPTION for problem in problems):
        return problems
    from clusterspec.rules.readers.doubt import doubted_problem  # most specs have no such problem

    text = " ".join(facts.remarks.split())
    return [doubted_problem(each, text) if each.path == _DESCRIPTION else each for each in problems]


_DESCRIPTION = ("description",)
STAND_INS = {"nodes": (2, 48, 1000), "sequence_length": (1024, 8192, 4000), "global_batch": (64, 1024, 3000)}
"""Substitute values for each key: different in size and in their divisors."""


NOT_IN_THE_ESTIMATE = {
    ("workload", "expected_mfu"),
    ("workload", "tokens"),
    ("cluster", "accelerators"),
    ("cluster", "spare_nodes"),
    ("cluster", "networks"),
    ("cluster", "power"),
    ("cluster", "scale_up"),
    ("cluster", "scale_out"),
}
"""Keys without effect on memory. `scale_up` and `scale_out` affect times, and the catalog has their usual values."""


def is_estimable(spec: Spec) -> bool:
    """Whether an estimate is reliable: every key that it uses is absent or readable.

    An unreadable key gets its default, which is not what the author described.
    """
    return not any(
        path[:1] in {("cluster",), ("workload",), ("layout",)} and path[:2] not in NOT_IN_THE_ESTIMATE
        for path in spec.broken
    )


def check_incomplete(facts: Facts, known: Collection[Problem] = ()) -> list[Problem]:
    """The further problems that hold for every value of the missing keys.

    Raises `RulesFailedError`, with these problems, when a rule crashed.
    """
    missing = _substituted_keys(facts)
    if not missing:
        return []
    faults: dict[str, Exception] = {}
    found = [{_problem_key(one): one for one in _problems(facts, missing, number, faults)} for number in range(3)]
    old = {_problem_key(one) for one in known}
    kept = [one for key, one in found[0].items() if key not in old and all(key in others for others in found[1:])]
    if faults:
        raise RulesFailedError(kept, [*faults.items()]) from next(iter(faults.values()))
    return kept


def _substituted_keys(facts: Facts) -> list[Path]:
    """The absent keys of a spec that get substitute values. A cluster that states its accelerators lacks no nodes."""
    cluster, workload = facts.spec.cluster, facts.spec.workload
    unsized = cluster is not None and cluster.nodes is None and facts.design.cluster is None
    missing: list[Path] = [("cluster", "nodes")] if unsized else []
    if workload is not None and workload.implied_kind not in {"serve", "rl"}:
        keys = ("sequence_length", "global_batch")
        missing += [("workload", key) for key in keys if getattr(workload, key) is None]
    return missing


def _problems(facts: Facts, missing: Collection[Path], number: int, faults: dict[str, Exception]) -> list[Problem]:
    """The problems that rules find when each missing key has one substitute value; exceptions are added to ``faults``,
    by rule.
    """
    from clusterspec.cluster.variation import changed_spec, design_of_changed_spec  # most specs lack no key

    spec = changed_spec(facts.spec, {path: STAND_INS[str(path[-1])][number] for path in missing})
    design, problems = design_of_changed_spec(facts.design, spec)
    try:
        return [*problems, *run_rules(facts.for_spec(spec, design))]
    except RulesFailedError as crash:
        faults.update(crash.faults)
        return [*problems, *crash.problems]


def _problem_key(problem: Problem) -> tuple[str, Path, str]:
    return problem.rule, problem.path, problem.message
