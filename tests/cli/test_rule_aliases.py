"""A former name of a rule means the same as its present one, wherever a person or a file may name a rule."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from clusterspec.finding import ALIASES
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import page
from tests.cli.conftest import Call
from tests.effort import thorough

FORMER = [(rule, former) for rule, names in ALIASES.items() for former in names]
NAMES = pytest.mark.parametrize(("rule", "former"), FORMER)


def reported(call: Call, *words: str) -> list[str]:
    """The rules with findings in `spec.yaml`."""
    return [one["rule"] for one in json.loads(call("check", "spec.yaml", "--format", "json", *words).out)["findings"]]


def write_example(rule: str, before: str = "") -> None:
    """Writes the first example of a rule's page to `spec.yaml`, after some lines."""
    Path("spec.yaml").write_text(before + page(rule).fires[0].text)


@NAMES
def test_a_former_name_is_free_and_its_rule_exists(rule: str, former: str) -> None:
    assert rule in RULES
    assert former not in RULES
    assert page(former) is not None
    assert page(rule).rule.aliases == ALIASES[rule]


@NAMES
def test_explain_of_a_former_name_is_the_page_of_the_rule(call: Call, rule: str, former: str) -> None:
    assert call("explain", former) == call("explain", rule)
    assert json.loads(call("explain", former, "--format", "json").out)["rule"] == rule
    assert f"formerly {', '.join(ALIASES[rule])}" in call("explain", rule).out


@thorough
@NAMES
def test_a_waiver_of_a_former_name_waives(call: Call, rule: str, former: str) -> None:
    write_example(rule)
    assert rule in reported(call)
    write_example(rule, f"# clusterspec: ignore-file[{former}]: agreed with the supplier\n")
    assert {rule, "unused-waiver", "unreadable-waiver"}.isdisjoint(reported(call))


@thorough
@NAMES
def test_options_take_a_former_name(call: Call, rule: str, former: str) -> None:
    write_example(rule)
    assert set(reported(call, "--select", former)) - {"duplicate-key"} == {rule}
    assert rule not in reported(call, "--ignore", former)
    assert f"error[{rule}]" in call("check", "spec.yaml", "--error", former).out


@NAMES
def test_a_configuration_takes_a_former_name(call: Call, rule: str, former: str) -> None:
    write_example(rule)
    Path("clusterspec.toml").write_text(f'severity = {{"{former}" = "warning"}}\n')
    assert f"warning[{rule}]" in call("check", "spec.yaml").out
    Path("clusterspec.toml").write_text(f'[[overrides]]\npaths = ["*.yaml"]\nignore = ["{former}"]\n')
    assert rule not in reported(call)


@thorough
@NAMES
def test_the_first_name_remains_in_fingerprints(call: Call, rule: str, former: str) -> None:
    write_example(rule)
    found = json.loads(call("check", "spec.yaml", "--format", "sarif", "--select", rule).out)["runs"][0]
    mark = next(one for one in found["results"] if one["ruleId"] == rule)["partialFingerprints"]["clusterspec/v1"]
    hidden = {"fingerprint": mark, "rule": former, "file": "spec.yaml"}
    Path("known.json").write_text(json.dumps({"version": 2, "findings": [hidden]}))
    shown = reported(call, "--select", rule, "--baseline", "known.json")
    assert shown.count(rule) == reported(call, "--select", rule).count(rule) - 1
    described = next(one for one in found["tool"]["driver"]["rules"] if one["id"] == rule)
    assert described["deprecatedIds"] == [*ALIASES[rule]]


def test_a_fingerprint_of_a_renamed_rule_is_that_of_its_first_name(call: Call) -> None:
    Path("spec.yaml").write_text(
        "clusterspec: 1\ncluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1, pcie: 4}\n"
    )
    found = json.loads(call("check", "spec.yaml", "--format", "gitlab").out)
    mark = next(one["fingerprint"] for one in found if one["check_name"] == "pcie-generation-below-accelerator")
    assert (
        mark == sha256("\0".join(("pcie-behind-accelerator", "spec.yaml", "/cluster/pcie", "4")).encode()).hexdigest()
    )


def test_a_waiver_in_a_text_takes_a_former_name(call: Call) -> None:
    claim = "The all-reduce reaches 370 GB/s on four nodes.\n"
    Path("text.md").write_text(claim)
    assert "measurement-without-metric" in call("check", "text.md", "--format", "concise").out
    Path("text.md").write_text(f"<!-- clusterspec: ignore[metric-unsaid]: quoted -->\n{claim}")
    assert "measurement-without-metric" not in call("check", "text.md", "--format", "concise").out
