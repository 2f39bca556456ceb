"""Rules on a spec that lacks a number which the design needs: what holds whatever the number is.

Without `cluster.nodes`, `workload.sequence_length` or `workload.global_batch` no design resolves, and one key that
is absent or unreadable would hide every other fault. The rules are asked with several values in its place, and a
problem that all of them give in the same words does not depend on it.
"""

from __future__ import annotations

from collections.abc import Collection

from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.rules.engine import judge
from clusterspec.rules.facts import Facts
from clusterspec.source import Path
from clusterspec.spec.model import Spec

STAND_INS = {"nodes": (2, 48, 1000), "sequence_length": (1024, 8192, 4000), "global_batch": (64, 1024, 3000)}
"""Values that stand in for each key: unlike in size and in their divisors."""


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
"""Keys that change no memory. Those of the two tiers change times, and have a usual value in the catalog."""


def estimable(spec: Spec) -> bool:
    """Whether an estimate can be relied on: no key that it takes was given and could not be read.

    A key that could not be read takes its default, and what follows from that is not what the author described.
    """
    return not any(
        path[:1] in {("cluster",), ("workload",), ("layout",)} and path[:2] not in NOT_IN_THE_ESTIMATE
        for path in spec.broken
    )


def judge_incomplete(facts: Facts, known: Collection[Problem] = ()) -> list[Problem]:
    """The problems beyond the known ones that hold for every value of the keys that are missing, if any is."""
    specs = [_filled(facts.spec, number) for number in range(3)]
    if None in specs:
        return []
    found = [{_key(one): one for one in _problems(facts, spec)} for spec in specs if spec]
    old = {_key(one) for one in known}
    return [one for key, one in found[0].items() if key not in old and all(key in others for others in found[1:])]


def _filled(spec: Spec, number: int) -> Spec | None:
    """The spec with stand-ins for what it lacks; None where it lacks none of the keys."""
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
    """What the rules that need no estimate find in a spec."""
    from clusterspec.cluster.resolve import resolve

    design, problems = resolve(spec, facts.catalog)
    return [*problems, *judge(facts.for_spec(spec, design))]


def _key(problem: Problem) -> tuple[str, Path, str]:
    return problem.rule, problem.path, problem.message
