"""Rules on a spec that lacks a required number: the problems that do not depend on that number.

Without `cluster.nodes`, `workload.sequence_length` or `workload.global_batch` no design resolves, so that one absent or
unreadable key would hide every other problem. The rules run with several substitute values. A problem that all of them
report in the same words does not depend on the value.
"""

from __future__ import annotations

from collections.abc import Collection

from clusterspec.finding import Problem
from clusterspec.rules.engine import RulesFailedError, run_rules
from clusterspec.rules.facts import Facts
from clusterspec.source import Path
from clusterspec.spec.model import Spec

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
"""Keys without effect on memory. Those of the two tiers affect times, and have a usual value in the catalog."""


def estimable(spec: Spec) -> bool:
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
    if workload is not None and workload.kind not in {"serve", "rl"} and workload.rl is None:
        keys = ("sequence_length", "global_batch")
        missing += [("workload", key) for key in keys if getattr(workload, key) is None]
    return missing


def _problems(facts: Facts, missing: Collection[Path], number: int, faults: dict[str, Exception]) -> list[Problem]:
    """The problems of the rules that need no estimate, with one substitute for each missing key; exceptions go to
    ``faults``, by rule.
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
