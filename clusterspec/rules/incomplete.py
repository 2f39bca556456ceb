"""Rules on a spec that lacks a required number: the problems that do not depend on that number.

Without `cluster.nodes`, `workload.sequence_length` or `workload.global_batch` no design resolves, so that one absent or
unreadable key would hide every other problem. The rules run with several substitute values. A problem that all of them
report in the same words does not depend on the value.
"""

from __future__ import annotations

from collections.abc import Collection

from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.rules.engine import run_rules
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
    """The further problems that hold for every value of the missing keys."""
    specs = [_filled(facts.spec, number) for number in range(3)]
    if None in specs:
        return []
    found = [{_key(one): one for one in _problems(facts, spec)} for spec in specs if spec]
    old = {_key(one) for one in known}
    return [one for key, one in found[0].items() if key not in old and all(key in others for others in found[1:])]


def _filled(spec: Spec, number: int) -> Spec | None:
    """The spec with substitute values for missing keys; None where it lacks none of them."""
    filled: set[Path] = set()
    cluster, workload = spec.cluster, spec.workload
    if cluster is not None and cluster.nodes is None:
        cluster = replace(cluster, nodes=STAND_INS["nodes"][number])
        filled.add(("cluster", "nodes"))
    if workload is not None and workload.kind != "serve":
        if workload.sequence_length is None:
            workload = replace(workload, sequence_length=STAND_INS["sequence_length"][number])
            filled.add(("workload", "sequence_length"))
        if workload.global_batch is None:
            workload = replace(workload, global_batch=STAND_INS["global_batch"][number])
            filled.add(("workload", "global_batch"))
    return replace(spec, cluster=cluster, workload=workload, broken=spec.broken - filled) if filled else None


def _problems(facts: Facts, spec: Spec) -> list[Problem]:
    """The problems of the rules that need no estimate."""
    from clusterspec.cluster.resolve import resolve

    design, problems = resolve(spec, facts.catalog)
    return [*problems, *run_rules(facts.for_spec(spec, design))]


def _key(problem: Problem) -> tuple[str, Path, str]:
    return problem.rule, problem.path, problem.message
