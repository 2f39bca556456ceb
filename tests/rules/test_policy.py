"""Conditions of company rules, evaluated on figures of the test's own, and the files that they are read from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clusterspec.finding import Severity
from clusterspec.rules.policy import LONGEST, MOST, CompanyRule, PolicyFault, condition_tree, load, run_company_rules
from tests.effort import each

FIGURES: dict[str, Any] = {
    "cluster": {"nodes": 4, "accelerators": 32, "scale_up": {"bandwidth": 450e9}},
    "layout": {"tp": 8, "dp": 4},
    "spec": {"name": "base", "cluster": {"platform": "dgx-h100"}},
}


def problems(demand: str, when: str | None = None) -> list[Any]:
    condition = None if when is None else condition_tree(when)
    rule = CompanyRule("own/it", condition, condition_tree(demand), "too few", "buy", Severity.NOTE, "cluster.nodes")
    return run_company_rules([rule], FIGURES)


@each(
    ("demand", "holds"),
    [
        ("cluster.nodes > 4", False),
        ("cluster.nodes >= 4", True),
        ("cluster.nodes < 4", False),
        ("cluster.nodes <= 4", True),
        ("cluster.nodes == 4", True),
        ("cluster.nodes != 4", False),
        ("cluster.nodes in [2, 4]", True),
        ("cluster.nodes in (2, 5)", False),
        ("cluster.nodes not in [2, 5]", True),
        ("2 < cluster.nodes < 5", True),
        ("2 < cluster.nodes < 3", False),
        ("5 < cluster.nodes < 6", False),
        ("cluster.nodes + 4 == 8", True),
        ("cluster.nodes - 1 == 3", True),
        ("cluster.nodes * layout.tp == cluster.accelerators", True),
        ("cluster.nodes / 8 == 0.5", True),
        ("cluster.nodes // 3 == 1", True),
        ("cluster.nodes % 3 == 1", True),
        ("-cluster.nodes == 0 - 4", True),
        ("abs(2 - cluster.nodes) == 2", True),
        ("min(cluster.nodes, 9) == 4", True),
        ("max(cluster.nodes, 9) == 9", True),
        ("len([1, 2, 3]) == 3", True),
        ("not cluster.nodes > 2", False),
        ("cluster.nodes > 2 and layout.tp > 8", False),
        ("cluster.nodes > 2 and layout.tp >= 8", True),
        ("cluster.nodes > 4 or layout.tp >= 8", True),
        ("cluster.nodes > 4 or layout.tp > 8", False),
        ("spec.name == 'base'", True),
        ("spec.cluster.platform != 'dgx-h100'", False),
        # 450e9 bytes per second in one direction are 900 GB/s in both together
        ("cluster.scale_up.bandwidth == '900 GB/s duplex'", True),
        ("cluster.scale_up.bandwidth > '449 GB/s unidirectional'", True),
        ("cluster.scale_up.bandwidth > '451 GB/s unidirectional'", False),
        ("'3600 Gb/s unidirectional' <= cluster.scale_up.bandwidth", True),
        ("'9 GB/s unidirectional' < '10 GB/s unidirectional'", True),
        ("'80 Gb/s unidirectional' >= '10 GB/s unidirectional'", True),
    ],
)
def test_a_condition_means_what_its_arithmetic_says(demand: str, holds: bool) -> None:
    found = [(one.rule, one.path, one.message, one.help, one.severity) for one in problems(demand)]
    assert found == ([] if holds else [("own/it", ("cluster", "nodes"), "too few", "buy", Severity.NOTE)])


def test_a_rule_asks_only_where_its_condition_holds() -> None:
    assert problems("cluster.nodes > 4", "layout.tp == 8")
    assert not problems("cluster.nodes > 4", "layout.tp == 4")


@each("demand", ["serving.ttft < 1", "spec.layout.pp == 2", "cluster.nodes > spec.cluster.nodes"])
def test_a_name_without_a_value_silences_its_rule_and_no_other(demand: str) -> None:
    silent = CompanyRule("own/a", None, condition_tree(demand), "a", "", Severity.ERROR, "")
    heard = CompanyRule("own/b", None, condition_tree("cluster.nodes > 4"), "b", "", Severity.ERROR, "")
    assert [one.rule for one in run_company_rules([silent, heard], FIGURES)] == ["own/b"]


@each(
    ("demand", "why"),
    [
        ("cluster.nodes / 0 == 1", "division by zero"),
        ("cluster.nodes", "`cluster.nodes` is 4, neither true nor false"),
        ("not cluster.nodes", "`cluster.nodes` is 4, neither true nor false"),
        ("spec.name * 2 == 'basebase'", "'base' is not a number"),
        ("-spec.name == 1", "'base' is not a number"),
        ("True + 1 == 2", "True is not a number"),
        ("cluster.nodes > spec.name", "'base' is not a quantity"),
        ("'1 GB' < '1 s'", "'1 GB' and '1 s' have different units"),
    ],
)
def test_a_condition_that_cannot_be_evaluated_is_reported_with_its_reason(demand: str, why: str) -> None:
    (found,) = problems(demand)
    assert found.message == f"the conditions of own/it cannot be evaluated: {why}"
    assert (found.help, found.path) == ("correct the rule, or its `when`", ("cluster", "nodes"))


@each(
    ("condition", "why"),
    [
        ("open('a')", "only min, max, abs and len can be called"),
        ("cluster.nodes.real()", "only min, max, abs and len can be called"),
        ("cluster._nodes > 1", "contains Attribute, which is not allowed in a condition"),
        ("[one for one in [1]] == [1]", "contains ListComp, which is not allowed in a condition"),
        ("cluster.nodes >", "is not a valid condition"),
        ("1 == " + "1" * (LONGEST - 4), "is not a valid condition"),
        ("cluster.node > 1", "no name `cluster.node` exists; did you mean `cluster.nodes`"),
        ("spec.cluster.node > 1", "no name `spec.cluster.node` exists; did you mean `spec.cluster.nodes`"),
        ("cluster.nodes.of > 1", "no name `cluster.nodes.of` exists"),
    ],
)
def test_a_condition_that_no_design_can_meet_is_refused(condition: str, why: str) -> None:
    with pytest.raises(PolicyFault) as fault:
        condition_tree(condition)
    assert why.removesuffix("`") in str(fault.value)


def test_a_condition_may_be_as_long_as_the_limit() -> None:
    assert condition_tree(f"cluster.nodes >= 1{' ' * (LONGEST - 18)}")


RULE = "- {name: NAME, assert: cluster.nodes > 1, message: too few}\n"


def test_rules_are_read_from_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "b.yml").write_text("rules:\n" + RULE.replace("NAME", "last"), "utf-8")
    first = (
        "- {name: first, when: layout.tp > 1, assert: cluster.nodes > 1, message: m, severity: error, at: layout.tp}"
    )
    (tmp_path / "a.yaml").write_text(f"rules:\n{first}\n" + RULE.replace("NAME", "second-rule"), "utf-8")
    (tmp_path / "c.txt").write_text("no rules", "utf-8")
    found = load([tmp_path])
    assert [(rule.name, rule.severity, rule.at, rule.help) for rule in found] == [
        ("own/first", Severity.ERROR, "layout.tp", ""),
        ("own/second-rule", Severity.WARNING, "", ""),
        ("own/last", Severity.WARNING, "", ""),
    ]
    assert [rule.when is None for rule in found] == [False, True, True]


@each(
    ("rules", "why"),
    [
        (RULE.replace("NAME", "a") * 2, "a rule own/a exists already"),
        (
            "- {name: a, assert: cluster.nodes > 1}",
            "rule 1: lacks message; the keys are assert, at, help, message, name",
        ),
        (RULE.replace("NAME", "a") + "- {name: b, assert: '1 == 1', message: m, sort: s}", "rule 2: unknown key sort"),
        ("- {name: a b, assert: '1 == 1', message: m}", "its name must be lower-case words joined by `-`"),
        (f"- {{name: {'a' * 61}, assert: '1 == 1', message: m}}", "its name must be lower-case words joined by `-`"),
        (
            "- {name: a, assert: '1 == 1', message: m, severity: fatal}",
            "severity must be error, warning or note, not 'fatal'",
        ),
        ("- {name: a, assert: '1 == 1', message: m, at: cluster.node}", "no name `cluster.node` exists"),
        ("- {name: a, assert: '1 == 1', message: 5}", "rule 1: it must be a mapping of texts"),
        ("- name", "rule 1: it must be a mapping of texts"),
        ("  name: a", "holds no list `rules` of at most 200"),
        ((RULE.replace("NAME", "a") * (MOST + 1)), "holds no list `rules` of at most 200"),
    ],
)
def test_a_file_with_an_invalid_rule_is_refused(rules: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(f"rules:\n{rules}\n", "utf-8")
    with pytest.raises(PolicyFault, match=r"own\.yaml: ") as fault:
        load([tmp_path])
    assert why in str(fault.value)


def test_a_folder_holds_as_many_files_as_the_limit(tmp_path: Path) -> None:
    for number in range(MOST):
        (tmp_path / f"{number}.yaml").write_text("rules: []\n", "utf-8")
    assert load([tmp_path]) == ()
    (tmp_path / "more.yml").write_text("rules: []\n", "utf-8")
    with pytest.raises(PolicyFault, match="holds more than 200 files"):
        load([tmp_path])
    with pytest.raises(PolicyFault, match="is not a folder"):
        load([tmp_path / "more.yml"])


def test_as_many_rules_as_the_limit_and_the_longest_name_are_read(tmp_path: Path) -> None:
    names = ["a" * 60, *(f"rule-{number}" for number in range(MOST - 1))]
    (tmp_path / "own.yaml").write_text("rules:\n" + "".join(RULE.replace("NAME", name) for name in names), "utf-8")
    assert [rule.name.removeprefix("own/") for rule in load([tmp_path])] == names
