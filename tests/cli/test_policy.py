"""Rules of a company: declarative, over resolved figures, and unable to do anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call
from tests.effort import telling

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


@telling(2)
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
        ("serving.ttft < 1", True),  # a name that exists and has no value in a training design
        ('spec.cluster.platform in ["dgx-h100", "dgx-b200"]', True),
        ('"400 Gb/s" >= "50 GB/s"', True),  # as quantities, not as texts
        ('"9 GB/s unidirectional" > "10 GB/s unidirectional"', False),
        ("min(cluster.nodes, 2) == 2", True),
    ],
)
def test_a_company_rule_reports_specs_that_violate_its_condition(demand: str, holds: bool, call: Call) -> None:
    write(demand)
    findings = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    found = [(one["rule"], one["severity"], one["path"], one["line"]) for one in findings]
    assert found == ([] if holds else [("own/small", "error", "/cluster/nodes", 5)])


def test_a_company_rule_without_a_severity_is_a_warning(call: Call) -> None:
    write("cluster.nodes <= 2")
    rules = next(path for path in Path().rglob("*.yaml") if "severity: error" in path.read_text())
    rules.write_text(rules.read_text().replace("severity: error", ""))
    findings = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    assert [(one["rule"], one["severity"]) for one in findings] == [("own/small", "warning")]


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


@telling(2)
@pytest.mark.parametrize(
    ("demand", "why"),
    [
        ("min([]) > 1", "empty"),
        ("-" * 490 + "1 > 2", "nested too deeply"),
        ('[1] < ["a"]', "not supported"),
        ("1 / 0 > 2", "division by zero"),
        ("cluster.nodes / (cluster.nodes - 4) > 2", "division by zero"),
        ("cluster.nodes % 0 == 1", "modulo"),
        ('"a" * 9999999 == "b"', "'a' is not a number"),
        ("cluster.nodes", "`cluster.nodes` is 4, neither true nor false"),
        ("not cluster.nodes", "neither true nor false"),
        ("layout.framework or 1 > 2", "neither true nor false"),
        ('cluster.nodes > "many"', "'many' is not a quantity"),
        ('spec.name > "a"', "'base' is not a quantity"),
        ('"1 GB" < "2 GB/s"', "have different units"),
        ("4 in cluster.nodes", "not iterable"),
        ('step_time + "a" > 1', "'a' is not a number"),
    ],
)
@pytest.mark.parametrize("key", ["assert", "when"])
def test_a_condition_that_cannot_be_evaluated_is_an_error(key: str, demand: str, why: str, call: Call) -> None:
    write(*((demand,) if key == "assert" else ("1 > 2", demand)))
    Path("policy/own.yaml").write_text(Path("policy/own.yaml").read_text().replace("severity: error", "severity: note"))
    done = call("check", "spec.yaml", "--debug", "--format", "json")
    [found] = json.loads(done.out)["findings"]
    assert (done.status, done.error, found["rule"], found["severity"]) == (1, "", "own/small", "error")
    assert why in found["message"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("cluster.ndoes", "cluster.nodes"),
        ("clutser.nodes", "cluster"),
        ("step_tme", "step_time"),
        ("serving.ttf", "serving.ttft"),
        ("memory.totals", "memory.total"),
        ("spec.cluster.nics_per_nod", ""),
        ("spec.cluster.scale_out.nics_per_nod", "spec.cluster.scale_out.nics_per_node"),
        ("spec.workload.model.layer", "spec.workload.model.layers"),
        ("cluster.nodes.count", ""),
        ("cluster.scale_out.nic_bandwidth", "spec.cluster.scale_out.nic_bandwidth"),  # a key, and no figure
        ("cluster.scale_out.fast", ""),
        ("absent", ""),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_the_nearest(name: str, meant: str, call: Call) -> None:
    for demand, when in ((f"{name} > 2", "1 > 0"), ("1 > 0", f"1 > 2 and {name} > 2")):
        write(demand, when)
        done = call("check", "spec.yaml")
        assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
        assert (f"did you mean `{meant}`?" in done.error) == bool(meant)


def test_a_name_like_no_other_is_refused_with_those_that_exist(call: Call) -> None:
    write("cluster.scale_out.fast > 2")
    error = call("check", "spec.yaml").error
    assert "there are cluster.scale_out.bandwidth_per_accelerator, cluster.scale_out.oversubscription" in error


def test_a_company_rule_is_explained_as_any_other(call: Call) -> None:
    write("cluster.nodes <= 2")
    done = call("explain", "own/small")
    assert done.status == 0 and done.out.startswith("# own/small\n\nour pods have at most two nodes\n")
    for line in ("when: cluster.nodes > 0", "assert: cluster.nodes <= 2", "severity: error", "at: cluster.nodes"):
        assert f"- {line}\n" in done.out
    assert "own.yaml" in done.out
    body = json.loads(call("explain", "own/small", "--format", "json").out)
    assert (body["rule"], body["page"].splitlines()[0]) == ("own/small", "# own/small")
    for name, told in (("own/large", "no company rule is called 'own/large'"), ("own", "the group of company rules")):
        refused = call("explain", name)
        assert (refused.status, refused.out) == (2, "") and f"{told}" in refused.error
        assert "there are own/small" in refused.error
    Path("clusterspec.toml").unlink()
    assert "the configuration of this folder names no rules" in call("explain", "own/small").error


def test_the_key_at_which_a_rule_reports_exists(call: Call) -> None:
    write("cluster.nodes <= 2")
    Path("policy/own.yaml").write_text(
        Path("policy/own.yaml").read_text().replace("at: cluster.nodes", "at: cluster.node")
    )
    done = call("check", "spec.yaml")
    assert (done.status, "did you mean `cluster.nodes`?" in done.error) == (2, True)


def test_the_names_of_conditions_are_those_of_an_estimate() -> None:
    from clusterspec import load
    from clusterspec.results.estimate_json import estimate_fields, figure_names

    load_of_server = "{input_tokens: 1000, output_tokens: 500, concurrency: 8, targets: {tpot: 50 ms, percentile: 99}}"
    work = f"workload: {{kind: serve, model: llama-3.1-8b, serving: {load_of_server}}}\nlayout: {{tp: 2}}\n"
    served = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 1}}\n{work}"
    for text in (BASE, served):
        found = estimate_fields(load(text, today="2026-11-20").plan, None)
        assert found.keys() == figure_names().keys()
        for name, names in figure_names().items():
            if names is not None and found[name] is not None:
                assert {*found[name]} == {*names}, name
                for inner, further in names.items():
                    if further is not None and found[name][inner] is not None:
                        assert {*found[name][inner]} == {*further}


def test_no_file_of_rules_is_left_out_silently(call: Call) -> None:
    write("cluster.nodes <= 4")
    for number in range(200):
        Path(f"policy/a{number}.yaml").write_text("rules: []\n")
    done = call("check", "spec.yaml")
    assert (done.status, len(done.error.splitlines())) == (2, 1)
