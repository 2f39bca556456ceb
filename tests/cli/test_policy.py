"""Rules of a company: declarative, over resolved figures, and unable to do anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call

RULE = """\
rules:
  - name: small
    when: {when}
    assert: {demand}
    message: our pods have at most two nodes
    severity: error
    at: cluster.nodes
"""


def write(demand: str, when: str = "cluster.nodes > 0") -> None:
    Path("policy").mkdir(exist_ok=True)
    Path("policy/own.yaml").write_text(RULE.format(demand=json.dumps(demand), when=json.dumps(when)))
    Path("clusterspec.toml").write_text('rules = ["policy"]\n')
    Path("spec.yaml").write_text(BASE)


@pytest.mark.parametrize(
    ("demand", "holds"),
    [
        ("cluster.nodes <= 2", False),
        ("cluster.nodes == 4", True),
        ("cluster.nodes in [2, 4]", True),
        ("cluster.accelerators == 8 * cluster.nodes", True),
        ("layout.dp * layout.tp == cluster.accelerators", True),
        ('cluster.scale_up.bandwidth >= "900 GB/s duplex"', True),
        ('cluster.scale_up.bandwidth > "450 GB/s unidirectional"', False),
        ('memory.total < "1 GB"', False),
        ('spec.name == "base"', True),
        ("not cluster.nodes > 2", False),
        ("absent.name > 2", True),
        ("1 / 0 > 2", True),
        ('"a" * 9999999 == "b"', True),
        ("min(cluster.nodes, 2) == 2", True),
    ],
)
def test_a_company_rule_reports_specs_that_violate_its_condition(demand: str, holds: bool, call: Call) -> None:
    write(demand)
    findings = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    found = [(one["rule"], one["severity"], one["path"], one["line"]) for one in findings]
    assert found == ([] if holds else [("own/small", "error", "/cluster/nodes", 5)])


def test_a_company_rule_can_be_selected_waived_and_skipped(call: Call) -> None:
    write("cluster.nodes <= 2")
    assert call("check", "spec.yaml").status == 1
    assert call("check", "spec.yaml", "--ignore", "own/small").status == 0
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 4  # clusterspec: ignore[own/small]: agreed"))
    assert call("check", "spec.yaml").out.startswith("All clear")
    write("cluster.nodes <= 2", when="cluster.nodes > 100")
    assert call("check", "spec.yaml").status == 0


@pytest.mark.parametrize(
    "demand",
    [
        "__import__('os').system('touch caught')",
        "open('/etc/passwd')",
        "cluster.__class__",
        "[x for x in [1]]",
        "lambda: 1",
        "9 ** 9 ** 9",
        "cluster[0]",
        "f'{cluster}'",
        "cluster.nodes >",
        "",
    ],
)
def test_an_invalid_condition_is_a_usage_error(demand: str, call: Call) -> None:
    write(demand)
    done = call("check", "spec.yaml")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert not Path("caught").exists()


@pytest.mark.parametrize(
    "text", ["", "rules: 3", "- a", "rules: [3]", "rules: [{name: a}]", "a: [", "rules: [{nam: a}]"]
)
def test_a_file_that_holds_no_rules_is_refused(text: str, call: Call) -> None:
    write("1 > 0")
    Path("policy/own.yaml").write_text(text)
    assert call("check", "spec.yaml").status == 2


def test_the_rules_of_a_company_are_a_group(call: Call) -> None:
    write("cluster.nodes <= 2")
    assert call("check", "spec.yaml", "--select", "own").status == 1
    assert call("check", "spec.yaml", "--ignore", "own").status == 0
    Path("clusterspec.toml").write_text('rules = ["policy"]\nignore = ["own"]\n')
    assert call("check", "spec.yaml").status == 0
    Path("clusterspec.toml").write_text("")
    assert call("check", "spec.yaml", "--select", "own").out.startswith("All clear")


@pytest.mark.parametrize("key", ["select", "ignore", "error"])
def test_a_company_rule_that_does_not_exist_is_refused_and_its_waiver_reported(key: str, call: Call) -> None:
    write("cluster.nodes <= 4")
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 4  # clusterspec: ignore[own/smal]: agreed"))
    assert "no rule is called `own/smal`" in call("check", "spec.yaml").out
    Path("clusterspec.toml").write_text(f'rules = ["policy"]\n{key} = ["own/smal"]\n')
    for words in (("check", "spec.yaml"), ("config",)):
        done = call(*words)
        assert (done.status, done.out) == (2, "")
        assert "did you mean own/small?" in done.error


@pytest.mark.parametrize("demand", ["min([]) > 1", "-" * 490 + "1 > 2", '[1] < ["a"]'])
def test_a_condition_without_a_value_reports_nothing(demand: str, call: Call) -> None:
    write(demand)
    done = call("check", "spec.yaml", "--debug")
    assert (done.status, done.error) == (0, "")


def test_no_file_of_rules_is_left_out_silently(call: Call) -> None:
    write("cluster.nodes <= 4")
    for number in range(200):
        Path(f"policy/a{number}.yaml").write_text("rules: []\n")
    done = call("check", "spec.yaml")
    assert (done.status, len(done.error.splitlines())) == (2, 1)
