"""Expectations about specs, in separate files: ``step_time<=35s``, ``no error``, ``fires quote-off-bill``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clusterspec import document as documents
from clusterspec import resources, rules
from clusterspec.analysis.levers.conditions import METRICS, RELATIVE, TARGETS, Condition, ConditionFault, parse
from clusterspec.analysis.searches.sweeps import key_path, located_text, unknown_key_problem
from clusterspec.cost.plan import Plan
from clusterspec.document.conforms import Schema
from clusterspec.document.model import locate
from clusterspec.finding import Problem, Severity, current_name
from clusterspec.records import dataclass
from clusterspec.results.expectations import FailedExpectation, TestOutcome
from clusterspec.studies import Study, variation
from clusterspec.units import display, percent

MOST_FINDINGS = 3
"""Largest number of findings that the reason of a missed expectation names."""


class ExpectationFault(ValueError):
    """Raised for an invalid file of tests, with a one-line message."""


@dataclass(frozen=True)
class Test:
    """One test: the line of its name, its spec, the changed keys, and the expectations."""

    line: int
    name: str
    spec: Path
    changed: Mapping[str, object]
    expect: tuple[str, ...]


def read_tests(path: Path) -> tuple[Test, ...]:
    """The tests of a file. Raises `ExpectationFault` with file, line and column, and `OSError`.

    Names of keys, rules and metrics that do not exist are refused, so that no test passes by mistake.
    """
    source = documents.decode(str(path), documents.read_bytes(path))
    document, problems = documents.parse(source)
    if document is None:
        raise ExpectationFault(located_text(problems[0], document, source))
    problems = [*problems, *documents.validate(document, tests_schema())]
    problems = problems or [*_unknown_name_problems(document.value["tests"], path.parent)]
    if problems:
        raise ExpectationFault(located_text(problems[0], document, source))
    return tuple(
        Test(
            locate(document, ("tests", at, "name")).start.line,
            one["name"],
            path.parent / one["spec"],
            one.get("set", {}),
            tuple(one["expect"]),
        )
        for at, one in enumerate(document.value["tests"])
    )


@cache
def tests_schema() -> Schema:
    """The schema of a file of tests."""
    loaded: Schema = json.loads((resources.schemas() / "test.schema.json").read_text("utf-8"))
    return loaded


def _unknown_name_problems(tests: list[dict[str, Any]], folder: Path) -> Iterator[Problem]:
    """A name in a file of tests that does not exist."""
    root = documents.project_root(folder.resolve())
    for at, one in enumerate(tests):
        spec = (folder / one["spec"]).resolve()
        if not spec.is_file() or not spec.is_relative_to(root):
            yield Problem("wrong-type", ("tests", at, "spec"), f"{one['spec']} is not a file of this project", "")
        for name in one.get("set", {}):
            if unknown := unknown_key_problem(("tests", at, "set", name), name):
                yield unknown
        for number, text in enumerate(one["expect"]):
            try:
                expected_verdict(text)
            except ConditionFault as fault:
                yield Problem("wrong-type", ("tests", at, "expect", number), str(fault), "")


Verdict = Callable[[Study, Study], str]
"""A function that returns why an expectation about a study fails, empty if it does not. The second argument is the
study of the unchanged spec.
"""


def expected_verdict(text: str) -> Verdict:
    """The expectation that a text states. Raises `ConditionFault`."""
    word, _, name = text.strip().partition(" ")
    if word == "no" and name in {severity.value for severity in Severity}:
        return lambda study, _: _findings_text(study, lambda one: one.severity.rank <= Severity(name).rank)
    if word in {"fires", "silent"}:
        rule = current_name(name.strip())
        if not rules.rule_exists(rule):
            near = rules.nearest_rules(rule)
            raise ConditionFault(f"no rule is called {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
        if word == "silent":
            return lambda study, _: _findings_text(study, lambda one: one.rule == rule)
        return lambda study, _: "" if any(one.rule == rule for one in study.findings) else "the rule finds nothing"
    parse(text, others=("no error", "fires RULE", "silent RULE"))
    return lambda study, unchanged: _missed_condition(text, study, unchanged)


def _findings_text(study: Study, unwanted: Callable[[Any], bool]) -> str:
    """The unwanted findings of a study."""
    found = [one for one in study.findings if unwanted(one)]
    named = [f"line {one.span.start.line}: [{one.rule}] {one.message}" for one in found[:MOST_FINDINGS]]
    more = [f"and {len(found) - MOST_FINDINGS} more"] if len(found) > MOST_FINDINGS else []
    return "; ".join([*named, *more])


def _missed_condition(text: str, study: Study, unchanged: Study) -> str:
    """The reason why a condition on the figures of a study is not met; empty if it is met."""
    if not study.has_figures:
        errors = _findings_text(study, lambda one: one.severity is Severity.ERROR)
        return f"there is no estimate, because of errors: {errors}"
    if study.fleet is not None:
        return "a fleet has no estimate of its own: test its findings, or the spec of a job"
    condition = parse(text, unchanged.plan.whole_step.seconds if unchanged.has_figures else None)
    value = condition.value(study.plan)
    if value is None:
        if condition.metric != TARGETS:
            return "the estimate has no such figure"
        is_served = study.plan.serving is not None
        return (
            "the spec states no targets" if is_served else "they are latencies of a serving plan, but the spec has none"
        )
    return "" if condition.holds(study.plan) else _missed_limit(condition, value, study.plan, unchanged.plan)


def _missed_limit(condition: Condition, value: float, plan: Plan, unchanged: Plan) -> str:
    """Text with the value of a metric that misses its limit."""
    if condition.metric in METRICS:
        fits = "" if condition.fits(plan) is not False else f", and it {_fit_text(plan)}"
        shown = percent(value, 4) if "%" in condition.text else display(value, METRICS[condition.metric][0], 4)
        return f"it is {shown}{fits}"
    if condition.metric == RELATIVE and not condition.admits(value):
        times = [display(one.whole_step.seconds or 0.0, "s", 4) for one in (plan, unchanged)]
        return f"it is {percent(value)}: a step takes {times[0]}, and {times[1]} in the unchanged spec"
    if condition.fits(plan) is False and plan.fullest_bytes is not None:
        return f"it {_fit_text(plan)}: {display(plan.fullest_bytes, 'B')} of {plan.capacity_text}"
    return "the plan misses targets of its spec" if condition.metric == TARGETS else f"it {_fit_text(plan)}"


def _fit_text(plan: Plan) -> str:
    """Text for a plan whose memory range exceeds the capacity: ``may not fit in memory``."""
    low = plan.fullest_range[0] if plan.fullest_range is not None else plan.fullest_bytes
    word = "does" if low is None or plan.memory_capacity is None or low > plan.memory_capacity else "may"
    return f"{word} not fit in memory"


def outcome_of_test(file: str, test: Test, study: Study) -> TestOutcome:
    """The outcome of a test, from the study of its spec."""
    changes = {key_path(name): value for name, value in test.changed.items()}
    changed = variation.rewritten_study(study, changes) if changes and study.document is not None else study
    reasons = ((text, expected_verdict(text)(changed, study)) for text in test.expect)
    missed = tuple(FailedExpectation(text, why) for text, why in reasons if why)
    return TestOutcome(file, test.line, test.name, str(test.spec), len(test.expect), missed)
