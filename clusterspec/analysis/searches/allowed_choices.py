"""Choices of a key that a design may have: no rule rejects them, whatever they cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from clusterspec import rules
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import design_with_keys
from clusterspec.finding import Severity
from clusterspec.source import Path
from clusterspec.studies import Study

CHOICE_RULES = frozenset(
    {
        "framework-lacks-feature",
        "integer-training",
        "missing-collective-plugin",
        "model-overflows-fp16",
        "placement-excludes-setting",
        "precision-unsupported",
        "precision-without-gain",
        "schedule-stage-mismatch",
        "sharding-forbids-pipeline",
    }
)
"""The rules whose errors exclude a choice of a key whatever the choice costs in time or memory."""


def choice_filter(study: Study) -> Callable[[str, str], bool]:
    """A function that returns whether a design may have a choice of a key that its spec leaves open.

    A plugin for the accelerators of another vendor, or a format in which nothing trains, is none that the design may
    have. The cost of a choice in time or memory does not reject it: only rules that are errors at any cost reject
    choices.
    """
    facts = study.facts()

    def rejections(design: Design) -> frozenset[tuple[str, Path]]:
        problems = rules.run_rules(facts.for_spec(design.spec, design), CHOICE_RULES)
        return frozenset((each.rule, each.path) for each in problems if each.severity is Severity.ERROR)

    known = cache(lambda: rejections(study.design))

    def allows(key: str, choice: str) -> bool:
        path = tuple(key.split("."))
        new = rejections(design_with_keys(study.design, {path: choice})) - known()
        return all(at != path for _, at in new)

    return allows
