"""Engines in addition to the layout of a spec, and the findings about them at their own keys.

A spec of reinforcement learning describes two layouts: the trainer's in `layout`, and the engines' in
`workload.rl.rollout`. A serving plan with separate engines describes two as well: the prefill engines, and the decode
engines, whose layout is `layout`. Whether an engine can start (heads that divide, weights that fit, formats that the
accelerator executes) is decided by the rules of serving plans, for a plan with that layout.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec import rules
from clusterspec.cluster.model import Design
from clusterspec.cluster.sites import prefill_design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.finding import Problem, Severity
from clusterspec.records import fields, replace
from clusterspec.source import Path
from clusterspec.spec.model import EnginesSpec, RolloutSpec

ROLLOUT: Path = ("workload", "rl", "rollout")
SIDES: Path = ("workload", "serving", "disaggregated")
DEGREE_RULES = frozenset(
    {
        "ep-without-experts",
        "ep-not-dividing-ranks",
        "ffn-indivisible-by-tp",
        "heads-indivisible-by-tp",
        "kv-heads-indivisible-by-tp",
        "vocab-indivisible-by-tp",
        "fp8-blocks-cut-by-tp",
        "unaligned-precision-blocks",
        "indivisible-for-framework",
        "layers-indivisible-by-pp",
        "neuron-core-group-unsupported",
        "framework-lacks-feature",
    }
)
"""Rules about the degrees of an engine."""
RULES = DEGREE_RULES | {
    "unknown-choice",
    "unknown-release",
    "experts-indivisible-by-ep",
    "world-size-mismatch",
    "framework-not-on-accelerator",
    "library-not-on-accelerator",
    "precision-unsupported",
    "states-exceed-memory",
    "weights-leave-no-cache",
    "memory-fraction-too-high",
    "nodes-without-engine",
    "experts-wider-than-replica",
    "pipeline-where-model-fits",
    "tp-crosses-scale-up-domain",
    "tp-over-pcie",
    "tp-on-small-weights",
}
"""Rules about engines that do not depend on latencies or on the requests in flight."""
DEGREES = frozenset(each.name for each in fields(EnginesSpec)) - {"pool", "replicas"}
SPREAD = "tp-crosses-scale-up-domain"
"""A rule whose severity follows from the throughput of engines; of rollout, it follows from the step."""

OF_LAYOUT = "key-without-effect"
"""A rule that reports degrees of `layout` that separate engines do not use."""


def engine_problems(design: Design, facts: rules.Facts) -> list[Problem]:
    """The problems with engines that the layout does not describe: those that generate samples in reinforcement
    learning, and prefill engines of a serving plan with separate engines. None if the machine is unknown.
    """
    workload = design.workload
    if workload is None or design.cluster is None or design.catalog is None:
        return []
    if workload.rl is not None:
        return _rollout_problems(design, facts) if workload.rl.has_nodes else []
    return [*_prefill_problems(design, facts)]


def _prefill_problems(design: Design, facts: rules.Facts) -> Iterator[Problem]:
    """The problems with the degrees of engines for prefill."""
    engines = prefill_design(design)
    if engines is None:
        return
    for problem in rules.run_rules(facts.engine_facts(engines), DEGREE_RULES):
        found = _problem_at_side(problem, design, "prefill")
        if found is not None:
            yield replace(found, message=f"engines for prefill: {found.message}", fix=None)


def problem_at_decode_engines(design: Design, problem: Problem) -> Problem:
    """The problem, at the keys of the decode engines instead of `layout` if the spec states the degrees there."""
    if design.layout is None or not design.layout.separate_engines or problem.rule == OF_LAYOUT:
        return problem
    return _problem_at_side(problem, design, "decode") or problem


def _problem_at_side(problem: Problem, design: Design, side: str) -> Problem | None:
    """A problem with a degree of the layout, moved to the same key of one kind of engines; None for other problems."""
    key = problem.path[1] if len(problem.path) == 2 and problem.path[0] == "layout" else None
    if key not in DEGREES:
        return None
    work = design.spec.workload
    sides = work.serving.disaggregated if work is not None and work.serving is not None else None
    written = (getattr(sides, side) if sides is not None else None) or EnginesSpec()
    where: Path = (*SIDES, side) if getattr(written, str(key)) is None else (*SIDES, side, str(key))
    return replace(problem, path=where)


def _rollout_problems(design: Design, facts: rules.Facts) -> list[Problem]:
    """The problems with the engines that generate samples, at the keys of `workload.rl.rollout`."""
    from clusterspec.cost.reinforcement.rollout import rollout_design
    from clusterspec.cost.reinforcement.times import engine_nodes

    assert design.workload is not None and design.workload.rl is not None
    rl = design.workload.rl
    engines = rollout_design(design, rl, engine_nodes(rl))
    served = facts.engine_facts(engines, rules.PlannedDesign(engines))
    written = (design.spec.workload and design.spec.workload.rl and design.spec.workload.rl.rollout) or RolloutSpec()
    found = [_rollout_problem(problem, written) for problem in rules.run_rules(served, RULES)]
    return [
        replace(problem, severity=_spread_severity(design, facts)) if problem.rule == SPREAD else problem
        for problem in found
        if problem is not None
    ]


def _spread_severity(design: Design, facts: rules.Facts) -> Severity:
    """The severity of engines whose tensor parallelism leaves the domain, by the step time that engines inside a domain
    would save.
    """
    from clusterspec.cost.reinforcement.rollout import rollout_of
    from clusterspec.cost.reinforcement.times import composed_times, engine_nodes
    from clusterspec.rules.knowledge.shares import cost_severity

    times, plan = facts.rl, facts.timed
    if times is None or plan is None:
        return Severity.NOTE
    inside = {(*ROLLOUT, "tp"): times.rollout.engine.cluster.ranks_per_domain, (*ROLLOUT, "pp"): 1}
    changed = design_with_keys(design, inside)
    rl = changed.workload.rl if changed.workload else None
    rollout = rollout_of(changed, rl, engine_nodes(rl)) if rl else None
    if rollout is None or rollout.slots < 2:
        return Severity.NOTE  # the weights need the memory of more ranks
    saved = 1 - composed_times(plan, rollout).step / times.step
    low, high = times.band
    return Severity(cost_severity(saved, (low / times.step, high / times.step)))


def _rollout_problem(problem: Problem, written: RolloutSpec) -> Problem | None:
    """A problem of the serving design at the keys of the rollout; None for a problem of the machine or the model, which
    the trainer's design reports as well.
    """
    where = _engine_path(problem.path, written)
    if where is None:
        return None
    related = tuple(
        (path, text) for path, text in problem.related if isinstance(path, tuple) and path[:1] == ("cluster",)
    )
    return replace(problem, path=where, message=f"engines of rollout: {problem.message}", related=related, fix=None)


def _engine_path(path: Path, written: RolloutSpec) -> Path | None:
    for section in (("layout",), ("workload", "serving")):
        if path[: len(section)] == section:
            key = next(iter(path[len(section) :]), None)
            stated = any(each.name == key for each in fields(RolloutSpec)) and getattr(written, str(key)) is not None
            return (*ROLLOUT, key) if key is not None and stated else ROLLOUT
    if path == ("workload", "model"):  # a model that the engines do not support
        return (*ROLLOUT, "software") if written.software else ROLLOUT
    if path[:1] == ("workload",) and len(path) == 2 and path[1] in {"precision", "parameter_precision", "kv_precision"}:
        key = "kv_precision" if path[1] == "kv_precision" else "parameter_precision"
        return (*ROLLOUT, key) if getattr(written, key) is not None else None
    return None
