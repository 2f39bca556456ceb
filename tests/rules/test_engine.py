"""Rules are found by their names, asked only for what a spec has, and cannot hide one another."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest

import clusterspec
from clusterspec.catalog import Catalog
from clusterspec.cluster.fleet import Fleet
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.config import Config
from clusterspec.cost.plan import Plan
from clusterspec.finding import Confidence, Finding, Problem, Severity
from clusterspec.rules import (
    Facts,
    RulesFailedError,
    configured_findings,
    facts,
    is_rule_name,
    nearest_rules,
    parts,
    run_rules,
    summary_of,
)
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import module, page
from clusterspec.rules.parts import Thresholds, WrittenParts
from clusterspec.source import Position, Span, dotted_path
from clusterspec.spec.model import Spec
from clusterspec.studies import Settings, study_text
from tests.effort import each
from tests.settings import SETTINGS
from tests.spec_keys import unknown_keys

ROOT = Path(clusterspec.__file__).parent
POD = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 16, pp: 3}
"""


@each("name", RULES)
def test_a_rule_has_the_name_and_group_of_its_file(name: str) -> None:
    rule = page(name).rule
    file = Path(module(name).__file__ or "")
    assert (rule.name, rule.group) == (name, RULES[name][0])
    assert (file.stem, file.parent.name) == (name.replace("-", "_"), rule.group.replace("-", "_"))
    assert rule.severity is not Severity.ERROR or rule.confidence is not Confidence.HEURISTIC


@each("name", [name for name in RULES if RULES[name][1]])
def test_a_check_names_what_facts_have_and_in_their_types(name: str) -> None:
    """The engine hands each parameter the property of that name, and asks only where it is there."""
    hints = get_type_hints(module(name).check)
    assert hints.pop("return") == Iterator[Problem]
    assert tuple(parameter + "?" * optional(hint) for parameter, hint in hints.items()) == RULES[name][1]
    for parameter, hint in hints.items():
        assert hint in offered(parameter), parameter


@cache
def imported_names(module: ModuleType) -> dict[str, Any]:
    """What a module defines and imports, that for a type checker alone included."""
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.ImportFrom)]
    return vars(module) | {
        name.name: getattr(importlib.import_module(node.module or ""), name.name)
        for node in imports
        if node.module != "__future__"
        for name in node.names
    }


def optional(hint: Any) -> bool:
    return type(None) in get_args(hint)


@cache
def offered(parameter: str) -> tuple[Any, ...]:
    whole = {
        "spec": Spec,
        "catalog": Catalog,
        "design": Design,
        "thresholds": Thresholds,
        "today": date,
    }
    if parameter in whole:
        return (whole[parameter],)
    if parameter == "fleet":
        return (Fleet, Fleet | None)
    if parameter == "description":
        return (str, str | None)
    namespace = imported_names(facts) | imported_names(parts)
    found = vars(Facts).get(parameter) or vars(WrittenParts)[parameter]
    returned = get_type_hints(getattr(found, "fget", None) or found.func, namespace)["return"]
    return (returned, get_args(returned)[0]) if optional(returned) else (returned,)


def test_every_rule_mentioned_in_code_has_a_page() -> None:
    """Those of the catalog's own files, which no spec can meet, are found by the reference of the catalog."""
    sources = (file.read_text("utf-8") for file in ROOT.rglob("*.py"))
    spoken = {name for text in sources if NAMING.search(text) for name in names_in(ast.parse(text))}
    assert len(spoken) > 10
    assert {name for name in spoken if not name.startswith("catalog-")} - set(RULES) == set()


NAMERS = {"Problem", "Finding", "Reading", "_finding", "UnitFault"}
NAMING = re.compile(rf"\b(?:{'|'.join(NAMERS)})\(\s*\"|\brule=\"")


def names_in(tree: ast.AST) -> Iterator[str]:
    """Rule names that code gives to problems and findings, in any of the ways in which it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first = node.args[0] if node.args else None
            named = [keyword.value for keyword in node.keywords if keyword.arg == "rule"]
            for value in [first] * (called in NAMERS) + named:
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and "-" in value.value:
                    yield value.value


def facts_of(text: str, settings: Settings) -> Facts:
    return study_text(text, settings).facts()


def test_a_rule_that_crashes_hides_no_other(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ModuleType("clusterspec.rules.layout.broken_rule")

    def check(layout: object) -> Iterator[Problem]:
        raise ZeroDivisionError(layout.__class__.__name__)

    broken.check = check  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, broken.__name__, broken)
    before = [problem.rule for problem in run_rules(facts_of(POD, settings))]
    monkeypatch.setitem(RULES, "broken-rule", ("layout", ("layout",)))
    module.cache_clear()
    with pytest.raises(RulesFailedError) as caught:
        run_rules(facts_of(POD, settings))
    assert [problem.rule for problem in caught.value.problems] == before != []
    assert str(caught.value) == "rule broken-rule failed: ZeroDivisionError: Layout"


@each(
    ("crashed", "others"),
    [(1, ""), (2, " (also r1)"), (5, " (also r1, r2, r3, r4)"), (7, " (also r1, r2, r3, r4 and 2 more)")],
)
def test_a_crash_names_four_other_rules_and_counts_the_rest(crashed: int, others: str) -> None:
    fault = RulesFailedError([], [(f"r{number}", ValueError("no")) for number in range(crashed)])
    assert str(fault) == f"rule r0 failed: ValueError: no{others}"


@each("name", RULES)
def test_a_rule_yields_to_rules_that_exist_and_never_in_a_circle(name: str) -> None:
    assert all(name not in page(other).rule.yields_to for other in page(name).rule.yields_to)


ONE_FIGURE = [
    # what is wrong, and the one rule that tells of it
    ("cluster: {platform: dgx-h100, nodes: 8, pcie: 4}", "nic-exceeds-pcie-slot", "cluster.pcie"),
    (
        "cluster: {platform: dgx-h100, nodes: 8, scale_up: {interconnect: nvlink-5}}",
        "interconnect-not-of-accelerator",
        "cluster.scale_up.interconnect",
    ),
    (
        "cluster: {platform: dgx-h100, nodes: 4, scale_up: {domain: 64}}",
        "domain-not-whole-nodes",
        "cluster.scale_up.domain",
    ),
    (
        "cluster: {platform: dgx-h100, nodes: 8, scale_out: {nics_per_node: 6}}",
        "uneven-nics",
        "cluster.scale_out.nics_per_node",
    ),
    (
        "cluster: {platform: gaudi2-hls, nodes: 1, scale_up: {topology: full-mesh, "
        "bandwidth: 300 GB/s unidirectional, peer_bandwidth: 37.5 GB/s unidirectional}}",
        "mesh-bandwidth-mismatch",
        "cluster.scale_up.bandwidth",
    ),
]


@pytest.mark.parametrize(("cluster", "rule", "at"), ONE_FIGURE)
def test_one_wrong_figure_gives_one_finding(cluster: str, rule: str, at: str, settings: Settings) -> None:
    findings = study_text(f"clusterspec: 1\n{cluster}\n", settings).findings
    assert [finding.rule for finding in findings if dotted_path(finding.path) == at] == [rule]


def test_a_rule_runs_only_with_its_inputs(settings: Settings) -> None:
    facts = facts_of("clusterspec: 1\n", settings)
    assert run_rules(facts) == []
    assert (facts.cluster, facts.layout, facts.workload) == (None, None, None)


def test_a_plan_is_estimated_at_most_once_and_advice_only_where_a_rule_has_fired(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    estimate = WhatIf._plan_with_memory

    def counted(self: WhatIf, changes: Changes) -> Plan | None:
        asked.append("again")
        return estimate(self, changes)

    monkeypatch.setattr(WhatIf, "_plan_with_memory", counted)
    sound = POD.replace("tp: 16, pp: 3", "tp: 2").replace("llama-3.1-70b", "llama-3.1-8b")
    study = study_text(sound, settings)
    assert run_rules(study.facts()) == []
    assert asked == []
    run_rules(facts_of(POD.replace("pp: 3", "pp: 2"), settings))
    assert 0 < len(asked) < 40


def test_names_are_known_and_misspellings_are_met_with_the_nearest() -> None:
    assert is_rule_name("shared-nic") and not is_rule_name("shared-nics")
    assert nearest_rules("tp-crosses-scaleup-domain")[0] == "tp-crosses-scale-up-domain"
    assert nearest_rules("xyzzy") == []
    assert summary_of("shared-nic") == page("shared-nic").summary
    assert summary_of("no-such-rule") == "no-such-rule"


def finding(confidence: str = "certain", severity: str = "warning") -> Finding:
    span = Span("spec.yaml", Position(1, 1), Position(1, 2))
    return Finding("shared-nic", Severity(severity), Confidence(confidence), "message", "", span, ())


@pytest.mark.parametrize(
    ("config", "found", "severities"),
    [
        (Config(), finding(), ["warning"]),
        (Config(select=("few-spines",)), finding(), []),
        (Config(select=("shared-nic",)), finding(), ["warning"]),
        (Config(ignore=("shared-nic",)), finding(), []),
        (Config(error=("shared-nic",)), finding("heuristic", "note"), ["error"]),
        (Config(severity={"shared-nic": Severity.NOTE}), finding(), ["note"]),
        (Config(profile="strict"), finding(), ["error"]),
        (Config(profile="strict"), finding("likely"), ["error"]),
        (Config(profile="strict"), finding("heuristic"), ["warning"]),
        (Config(profile="strict"), finding("certain", "note"), ["note"]),
        (Config(profile="strict", severity={"shared-nic": Severity.NOTE}), finding(), ["note"]),
    ],
)
def test_a_team_chooses_rules_and_severities(config: Config, found: Finding, severities: list[str]) -> None:
    assert [str(chosen.severity) for chosen in configured_findings([found], config)] == severities


def test_a_configured_threshold_replaces_the_default(settings: Settings) -> None:
    text = POD.replace("tp: 16, pp: 3", "tp: 8, pp: 4")
    patient = Settings(settings.catalog, Config(thresholds={"pipeline-bubble": 0.5}), settings.today)
    own = {finding.rule for finding in study_text(text, settings).findings}
    lenient = {finding.rule for finding in study_text(text, patient).findings}
    strict = Settings(settings.catalog, Config(thresholds={"pipeline-bubble": 0.01}), settings.today)
    assert "pipeline-bubble" not in own | lenient
    assert "pipeline-bubble" in {finding.rule for finding in study_text(text, strict).findings}


def test_every_key_that_is_named_is_a_key_of_the_spec() -> None:
    assert unknown_keys("rules") == []


UNREAD = [  # an example of a page, a change of one of its keys, and whether the rule still judges
    ("procurement-without-spares", "silent", "spare_nodes: 4", "spares: 4"),  # another name for the key
    ("procurement-without-spares", "silent", "spare_nodes: 4", "spare_nodes: four"),
    ("no-placement-policy", "fires", "placement: none", "placement: near"),
    ("incomplete-cost-inputs", "silent", "electricity: 0.12", "electricity: 0.12 EUR/kWh"),
]


@pytest.mark.parametrize(("rule", "kind", "written", "unread"), UNREAD)
def test_a_key_that_cannot_be_read_does_not_count_as_absent(rule: str, kind: str, written: str, unread: str) -> None:
    example = getattr(page(rule), kind)[0].text
    assert example.count(written) == 1
    found = study_text(example.replace(written, unread), SETTINGS).checked.findings
    assert rule not in {each.rule for each in found}
    assert {"unknown-key", "wrong-type", "unknown-choice"} & {each.rule for each in found}


@pytest.mark.parametrize("misspelled", ["tensor_parallel: 4", "tp: four", "tp: 4 GPUs"])
def test_a_product_with_an_unread_factor_is_not_compared(misspelled: str) -> None:
    spec = POD.replace("tp: 16, pp: 3", f"{misspelled}, pp: 2, dp: 8")
    rules = [each.rule for each in study_text(spec, SETTINGS).checked.findings]
    assert "world-size-mismatch" not in rules
    wrong = POD.replace("tp: 16, pp: 3", "tp: 2, pp: 2, dp: 8")
    assert "world-size-mismatch" in [each.rule for each in study_text(wrong, SETTINGS).checked.findings]
