"""Every rule has a whole page, and the examples on it are true."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from clusterspec import rules
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.rules.index import RULES, THRESHOLDS
from clusterspec.rules.pages import HEADINGS, OPTIONAL, module, page
from clusterspec.source import dotted_path
from tests.effort import ALL_CASES, each

from .conftest import Check
from .messages import arithmetic, wrong_arithmetic
from .test_near_misses import verdict

# Examples that are texts, not specs, are run by tests/prose.
FIRES = [(name, number) for name in RULES for number, example in enumerate(page(name).fires) if not example.prose]
SILENT = [(name, number) for name in RULES for number, example in enumerate(page(name).silent) if not example.prose]
VERDICTS = [line.split() for line in Path(__file__).with_name("page_severities.txt").read_text("utf-8").splitlines()]
"""The severity of each example that fires, kept by hand: a changed severity is a decision."""
SEVERITY = {(name, number): severity for name, *given in VERDICTS for number, severity in enumerate(given)}


def of_rule(findings: list[Finding], name: str) -> list[Finding]:
    return [finding for finding in findings if finding.rule == name]


@each("name", RULES)
def test_a_page_has_every_heading_and_examples_of_both_kinds(name: str) -> None:
    seen = page(name)
    assert tuple(seen.sections) == tuple(one for one in HEADINGS if one in seen.sections or one not in OPTIONAL)
    assert all(seen.sections.values())
    assert seen.silent and seen.fires
    assert seen.summary.endswith(".") and "\n" not in seen.summary
    assert seen.sections["When to ignore it"].startswith(("Ignore it ", "Do not ignore "))
    assert "- " in seen.sections["Sources"]


def source(name: str) -> str:
    """The text of a rule's file."""
    folder = Path(rules.__file__).parent / RULES[name][0].replace("-", "_")
    return (folder / f"{name.replace('-', '_')}.py").read_text("utf-8")


BY_COST = {
    "step_severity",
    "cost_severity",
    "what_if.severity",
    "what_if.idle_severity",
    "gain.severity",
    "found.severity",
}
"""What turns a predicted loss into a severity."""


@cache  # parsing the file of every rule takes seconds: not where tests are collected
def severities(name: str) -> set[str]:
    """The severities that a rule's file gives: its own, the words in its code, and what it takes from shared code."""
    seen = page(name).rule
    code = ast.parse(source(name)).body[1:]
    nodes = [node for statement in code for node in ast.walk(statement)]
    found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    shown = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute | ast.Name)}
    assumed = {"error", "warning"} if "counts.severity" in shown else set()
    words = {str(one) for one in Severity}
    by_cost = words if shown & BY_COST else {"note", "warning"} if "target_severity" in shown else set()
    by_cost -= {"note"} if "EXACT" in shown else set()
    limited = any(isinstance(node, ast.keyword) and node.arg == "most" for node in nodes)
    return (found & words) | {str(seen.severity)} | assumed | (by_cost - {"error"} if limited else by_cost)


def test_some_rules_have_several_severities() -> None:
    several = {name for name in RULES if len(severities(name)) > 1}
    assert {"oversubscribed-fabric", "too-few-switches", "dp-reduction-exposed", "tight-memory"} <= several


@each("name", RULES)
def test_a_page_names_every_severity_of_its_rule(name: str) -> None:
    if len(severities(name)) == 1:
        return  # the line below its title states it
    said = " ".join(page(name).sections.values())
    prose = re.sub(r"```.*?```", "", said, flags=re.DOTALL)
    assert {word for word in severities(name) if not re.search(rf"\b{word}s?\b", prose)} == set()


def test_each_example_that_fires_has_a_severity() -> None:
    assert list(SEVERITY) == FIRES


@each(("name", "number"), FIRES)
def test_a_rule_fires_on_its_page_where_the_page_says(name: str, number: int, check: Check) -> None:
    example = page(name).fires[number]
    wanted = "" if example.path == "." else example.path
    findings = check(example.text, name)
    found = of_rule(findings, name)
    assert [dotted_path(finding.path) for finding in found] == [wanted], [str(one.rule) for one in findings]
    for finding in found:
        assert str(finding.severity) == SEVERITY[name, number]
        assert finding.message and not finding.message.endswith(".")
        assert finding.confidence is not Confidence.HEURISTIC or finding.severity is not Severity.ERROR
        if finding.edits:
            word = "safe" if finding.fix_safe else "unsafe"
            assert re.search(rf"\bis {word}\b", page(name).sections.get("Fix safety", "")), f"a fix that is {word}"


def test_the_arithmetic_of_messages_is_right(check: Check) -> None:
    """Shares, ratios and products follow from the figures printed with them, in the digits printed."""
    found = [each for name, number in FIRES for each in check(page(name).fires[number].text, name)]
    messages = sorted({f"{each.message}; {each.help}" for each in found})
    assert [wrong for message in messages for wrong in wrong_arithmetic(message)] == []
    assert sum(1 for message in messages for _ in arithmetic(message)) > 60


@each("name", RULES)
def test_a_page_has_options_where_its_rule_has_a_threshold(name: str) -> None:
    """With the configuration key, and the default that the rule's file has."""
    told = page(name).sections.get("Options", "")
    assert bool(told) == (name in THRESHOLDS)
    if told:
        default = getattr(module(name), "MARGIN", None) or module(name).MOST
        key, value = re.findall(r"`thresholds = \{([\w-]+) = ([\d.]+)\}`", told)[0]
        assert (key, float(value)) == (name, default)
        assert f"default is {value}" in told


@each("name", RULES)
def test_a_page_states_the_safety_of_fixes_where_its_rule_writes_them(name: str) -> None:
    code = source(name).split('"""', 2)[2]
    writes = "value_fix(" in code or "deviation.problem(" in code
    assert not writes or "Fix safety" in page(name).sections


@each(("name", "number"), SILENT)
def test_a_rule_is_silent_on_its_near_miss(name: str, number: int, check: Check) -> None:
    """The rule alone in `make test`: the other rules take most of a check."""
    text = page(name).silent[number].text
    if ALL_CASES or not RULES[name][1]:  # problems of YAML, keys and values, which no check of facts reports
        assert of_rule(check(text), name) == []
    else:
        assert verdict(text, name)[0] == "silent"
