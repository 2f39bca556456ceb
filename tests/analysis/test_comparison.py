"""The design diff: changed keys, effects with their bands, findings that are new or fixed, and git revisions."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import BASE, Call
from tests.cli.test_trust import git
from tests.cli.test_written_files import FLAWED
from tests.cost.test_reinforcement import described
from tests.effort import telling, thorough


def compared(call: Call, old: str, new: str) -> dict[str, Any]:
    Path("old.yaml").write_text(old)
    Path("new.yaml").write_text(new)
    document: dict[str, Any] = json.loads(call("diff", "old.yaml", "new.yaml", "--format", "json").out)
    return document


def effects(document: dict[str, Any]) -> dict[str, tuple[Any, Any, Any]]:
    return {one["name"]: (one["old"], one["new"], one["within_band"]) for one in document["effects"]}


def test_a_spec_against_itself_changes_nothing(call: Call) -> None:
    document = compared(call, BASE, BASE)
    assert (document["changes"], document["effects"]) == ([], [])
    assert document["findings"] == {"new": [], "fixed": [], "unchecked": []}
    assert "No key differs" in call("diff", "old.yaml", "new.yaml").out


def test_doubling_the_nodes_doubles_the_machine_in_a_diff(call: Call) -> None:
    document = compared(call, BASE, BASE.replace("nodes: 4", "nodes: 8"))
    assert document["changes"] == [{"path": "/cluster/nodes", "old": 4, "new": 8}]
    found = effects(document)
    assert found["accelerators"] == (32, 64, None)
    assert found["node count"] == (4, 8, None)
    old, new, _ = found["bisection bandwidth"]
    assert (old, new) == (32 / 2 * 50e9, 64 / 2 * 50e9)
    assert found["step time"][0] > found["step time"][1]


@thorough
def test_a_small_change_of_time_is_within_the_uncertainty_of_the_model(call: Call) -> None:
    document = compared(call, BASE, BASE.replace("global_batch: 64", "global_batch: 64\n  data_loading: 1 ms"))
    old, new, within = effects(document)["step time"]
    assert old < new < 1.01 * old
    assert within is True
    assert "within the uncertainty of the model" in " ".join(call("diff", "old.yaml", "new.yaml").out.split())
    far = effects(compared(call, BASE, BASE.replace("8192", "65536")))["step time"]
    assert far[2] is False
    larger = effects(compared(call, BASE, BASE.replace("dgx-h100", "dgx-h200")))["memory headroom"]
    assert larger[2] is False, "the same bytes leave far more of a larger memory"


def test_a_slower_store_and_a_power_cap_change_figures(call: Call) -> None:
    """What an operator asks of a machine in service: the store at half of its rate, accelerators at 500 W."""
    store = BASE.replace("  nodes: 4", "  nodes: 4\n  networks: {storage: {bandwidth: 20 GB/s}}")
    slower = effects(compared(call, store, store.replace("20 GB/s", "10 GB/s")))
    for name in ("checkpoint, time to write", "checkpoint, time to read after a failure"):
        assert slower[name][1] == pytest.approx(2 * slower[name][0]), name
    name = "goodput, with failures and checkpoints"
    assert slower[name][1] < slower[name][0]
    capped = effects(compared(call, BASE, BASE.replace("  nodes: 4", "  nodes: 4\n  power: {accelerator_cap: 500 W}")))
    assert capped["power at work"][1] < capped["power at work"][0]
    assert capped["step time"][1] > capped["step time"][0]


def test_the_range_of_a_rate_is_that_of_the_rate_not_of_the_step(call: Call) -> None:
    found = effects(compared(call, BASE, BASE.replace("nodes: 4", "nodes: 8")))
    assert found["step time"][2] is False
    old, new, within = found["tokens per second of an accelerator"]
    assert new == pytest.approx(old, rel=0.05) and within is True


def test_numbers_that_json_lacks_are_written_as_in_yaml(call: Call) -> None:
    document = compared(call, BASE, BASE + "document: {revision: [.inf, -.inf, .nan]}\n")
    assert document["changes"][0]["new"] == {"revision": [".inf", "-.inf", ".nan"]}
    assert compared(call, BASE + "name_: .nan\n", BASE + "name_: .nan\n")["changes"] == []


def test_findings_are_new_or_fixed(call: Call) -> None:
    for old, new, kind in ((BASE, FLAWED, "new"), (FLAWED, BASE, "fixed")):
        findings = compared(call, old, new)["findings"]
        assert [one["rule"] for one in findings[kind]] == ["duplex-counted-as-one-way"]
        assert call("diff", "old.yaml", "new.yaml").status == (1 if kind == "new" else 0)


WIDE = BASE.replace("tp: 2", "tp: 3")
UNKNOWN = BASE.replace("tp: 2", "tp: 2\n  tpp: 3")


@telling(2)
@pytest.mark.parametrize(
    ("old", "new", "fixed", "unchecked"),
    [
        (WIDE, BASE, 4, 0),
        (WIDE, WIDE.replace("layout:\n  tp: 3\n", ""), 0, 4),  # the section of the findings is gone
        (WIDE, WIDE.split("workload:")[0] + "layout:\n  tp: 3\n", 0, 2),  # what their rules need is gone
        (UNKNOWN, BASE, 1, 0),  # the key was the fault
        (UNKNOWN, UNKNOWN.replace("layout:\n  tp: 2\n  tpp: 3\n", ""), 0, 1),
        (BASE.replace("layout:", "layuot:"), BASE, 1, 0),
        (BASE + "operations: {burn_in: 1 h}\n", BASE, 0, 1),
        (BASE + "operations: {burn_in: 1 h}\n", BASE + "operations: {burn_in: 72 h}\n", 1, 0),
        (FLAWED, "a: [", 0, 1),
    ],
)
def test_a_finding_of_a_removed_section_is_not_fixed(
    old: str, new: str, fixed: int, unchecked: int, call: Call
) -> None:
    findings = compared(call, old, new)["findings"]
    assert (len(findings["fixed"]), len(findings["unchecked"])) == (fixed, unchecked), findings
    done = call("diff", "old.yaml", "new.yaml")
    assert (done.out.count("\nfixed "), done.out.count("\nno longer checked ")) == (fixed, unchecked)


def test_a_key_deleted_or_added_is_absent_on_one_side(call: Call) -> None:
    document = compared(call, BASE, BASE.replace("  tp: 2\n", "  pp: 2\n"))
    assert {one["path"]: (one["old"], one["new"]) for one in document["changes"]} == {
        "/layout/tp": (2, None),
        "/layout/pp": (None, 2),
    }


@telling(1)
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_revision_is_compared_with_its_bases(form: str, call: Call) -> None:
    git("init", "-q", "-b", "main")
    Path("specs").mkdir()
    Path("specs/base.yaml").write_text(BASE)
    Path("specs/spec.yaml").write_text("clusterspec: 1\nextends: base.yaml\nname: one\n")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    Path("specs/base.yaml").write_text(BASE.replace("nodes: 4", "nodes: 8"))
    done = call("diff", "main:specs/spec.yaml", "specs/spec.yaml", "--format", form)
    assert done.status == 0, done.error
    assert "cluster.nodes" in done.out or '"/cluster/nodes"' in done.out
    assert "main:specs/spec.yaml" in done.out
    assert not list(Path().glob("clusterspec-*"))


@telling(1)
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_no_copy_of_a_revision_is_named(form: str, call: Call) -> None:
    """The fault lies in the base, on both sides; `fixed` and `new` name it as the caller would."""
    git("init", "-q", "-b", "main")
    Path("specs").mkdir()
    Path("specs/base.yaml").write_text(FLAWED)
    Path("specs/spec.yaml").write_text("clusterspec: 1\nextends: base.yaml\nname: one\n")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    Path("specs/base.yaml").write_text(BASE)
    for names in (("main:specs/spec.yaml", "specs/spec.yaml"), ("specs/spec.yaml", "main:specs/spec.yaml")):
        done = call("diff", *names, "--format", form)
        assert "duplex-counted-as-one-way" in done.out
        assert "clusterspec-" not in done.out + done.error and "/tmp" not in done.out + done.error
        assert form == "markdown" or "main:specs/base.yaml" in done.out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent:spec.yaml", "absent: no such revision"),
        ("main:absent.yaml", "no such file in this revision"),
        ("--upload-pack=x:spec.yaml", ""),
        ("absent.yaml", "No such file"),
        ("main:../../etc/passwd", "no such file in this revision"),
    ],
)
def test_an_unknown_revision_is_a_usage_error(name: str, said: str, call: Call) -> None:
    git("init", "-q", "-b", "main")
    Path("spec.yaml").write_text(BASE)
    git("add", ".")
    git("commit", "-q", "-m", "one")
    done = call("diff", "--", name, "spec.yaml")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert said in done.error


def test_amounts_of_two_currencies_are_not_compared(call: Call) -> None:
    def priced(currency: str) -> str:
        return f"{BASE}procurement: {{{currency}prices: {{node: 200000}}}}\n"

    for one, other in (("currency: USD, ", "currency: EUR, "), ("currency: USD, ", "")):
        document = compared(call, priced(one), priced(other))
        prices = [row for row in document["effects"] if row["name"] == "price of the priced items"]
        assert [(row["old"], row["new"]) for row in prices] == [(800_000, None), (None, 800_000)]
        assert "Prices are in USD in the old design" in document["caution"]
    assert compared(call, priced("currency: USD, "), priced("currency: USD, "))["caution"] is None


def test_a_price_given_as_a_range_counts_with_its_middle(call: Call) -> None:
    prices = "procurement: {currency: USD, prices: {node: [200000, 300000]}}\n"
    found = effects(compared(call, BASE + prices, BASE.replace("nodes: 4", "nodes: 8") + prices))
    assert found["price of the priced items"][:2] == (1_000_000, 2_000_000)


@thorough
def test_a_path_of_a_revision_is_relative_to_the_folder_or_the_repository(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q", "-b", "main")
    Path("east").mkdir()
    Path("east/spec.yaml").write_text(BASE)
    git("add", "east")
    git("commit", "-q", "-m", "one")
    monkeypatch.chdir("east")
    for name, status in (("spec.yaml", 0), ("./spec.yaml", 0), ("east/spec.yaml", 0), ("./east/spec.yaml", 2)):
        assert call("diff", f"HEAD:{name}", "spec.yaml").status == status, name


SERVED = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 8}}
layout: {tp: 2}
"""


def test_a_diff_of_serving_plans_has_their_latencies(call: Call) -> None:
    document = compared(call, SERVED, SERVED.replace("concurrency: 8", "concurrency: 512"))
    old, new, within = effects(document)["time per output token"]
    assert old < new and within is False
    assert effects(document)["output tokens per second"][2] is False
    assert document["caution"] is None


def test_a_diff_of_reinforcement_learning_has_the_step_of_all_roles(call: Call) -> None:
    """With staleness 1 the step is the longer of two roles, not their sum; an update takes as long as before."""
    whole = described(placement="split", rollout={"nodes": 2})
    whole["workload"]["tokens"] = "100B"
    ahead = deepcopy(whole)
    ahead["workload"]["rl"]["max_staleness"] = 1
    found = effects(compared(call, json.dumps(whole), json.dumps(ahead)))
    old, new, _ = found["step time of all roles"]
    assert new < old
    before, after, _ = found["time to train"]
    assert after / before == pytest.approx(new / old)
    assert not {"step time", "update of a minibatch", "weight sync"} & found.keys()


@thorough
def test_speculative_figures_are_not_compared_with_plain_ones_without_a_caution(call: Call) -> None:
    drafted = SERVED.replace("concurrency: 8", "concurrency: 8, speculative: {tokens: 3, acceptance: 0.7}")
    document = compared(call, SERVED, drafted)
    assert "3 draft tokens at 70 %" in document["caution"] and "not comparable" in document["caution"]
    assert "not comparable" in call("diff", "old.yaml", "new.yaml").out
    assert "not comparable" in call("diff", "old.yaml", "new.yaml", "--format", "markdown").out
    assert compared(call, drafted, drafted.replace("concurrency: 8", "concurrency: 16"))["caution"] is None


def test_a_design_whose_fabric_cannot_be_counted_is_no_cheaper(call: Call) -> None:
    prices = "{node: 300000, nic: 1500, leaf_switch: 20000, spine_switch: 20000, cable: 500}"
    text = (
        "clusterspec: 1\nname: pod\n"
        "cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}}\n"
        f"procurement: {{currency: USD, term: 3 years, prices: {prices}}}\n"
    )
    Path("old.yaml").write_text(text)
    Path("new.yaml").write_text(text.replace("infiniband-ndr", "infiniband-ndr, nic_bandwidth: 800 Gb/s"))
    effects = {
        each["name"]: each
        for each in json.loads(call("diff", "old.yaml", "new.yaml", "--format", "json").out)["effects"]
    }
    assert effects["price of the priced items"]["old"] is not None
    assert effects["price of the priced items"]["new"] is None
    assert effects["leaf switch count"]["old"] == 4 and effects["leaf switch count"]["new"] is None


def test_revisions_are_compared_spec_by_spec_with_what_they_extend(call: Call) -> None:
    """Files of a base and of a derived spec, one that is added, one that stays, and one of another kind."""
    git("init", "-q")
    Path("team").mkdir()
    Path("base.yaml").write_text(BASE)
    Path("team/derived.yaml").write_text("clusterspec: 1\nextends: ../base.yaml\nlayout: {tp: 4}\n")
    Path("same.yaml").write_text(BASE)
    git("add", ".")
    git("commit", "-q", "-m", "old")
    Path("base.yaml").write_text(BASE.replace("nodes: 4", "nodes: 8"))
    Path("values.yaml").write_text("nodes: 3\n")
    Path("new <b>.yaml").write_text(FLAWED)
    whole = json.loads(call("diff", "HEAD", "--format", "json").out)
    diffs = {one["file"]: one["diff"] for one in whole["specs"]}
    accelerators = {name: effects(diff)["accelerators"][:2] if diff else None for name, diff in diffs.items()}
    assert accelerators == {"base.yaml": (32, 64), "team/derived.yaml": (32, 64), "new <b>.yaml": None}
    assert [one["change"] for one in whole["specs"]] == ["changed", "added", "changed"]
    assert [(one["name"], one["old"], one["new"]) for one in whole["totals"]] == [("accelerators", 64, 160)]
    git("add", ".")
    git("commit", "-q", "-m", "new")
    again = json.loads(call("diff", "HEAD~1", "HEAD", "--format", "json").out)
    assert [one["change"] for one in again["specs"]] == [one["change"] for one in whole["specs"]]
    back = json.loads(call("diff", "HEAD", "HEAD~1", "--format", "json").out)
    assert [one["change"] for one in back["specs"]] == ["changed", "removed", "changed"]
    assert call("diff", "HEAD").out.startswith("HEAD -> work tree: no spec changed")
    table = call("diff", "HEAD~1", "HEAD", "--format", "markdown")
    assert table.status == 1  # the new spec has an error
    assert "| base.yaml | changed |" in table.out
    assert "<b>" not in table.out
    (added,) = (one for one in again["specs"] if one["change"] == "added")
    errors = [one["rule"] for one in added["findings"] if one["severity"] == "error"]
    assert errors and {one["file"] for one in added["findings"]} == {"HEAD:new <b>.yaml"}
    (removed,) = (one for one in back["specs"] if one["change"] == "removed")
    assert [(one["old"], one["new"]) for one in removed["figures"]] == [
        (one["new"], one["old"]) for one in added["figures"]
    ]
    assert effects({"effects": added["figures"]})["accelerators"][:2] == (None, 32)
    assert f"| new | error | {errors[0]} |" in table.out
    assert f"new error[{errors[0]}] HEAD:new <b>.yaml:" in " ".join(call("diff", "HEAD~1", "HEAD").out.split())


def test_a_lone_spec_and_an_unknown_revision_are_refused(call: Call) -> None:
    git("init", "-q")
    Path("base.yaml").write_text(BASE)
    for name, reason in (("base.yaml", "name a second spec"), ("nowhere", "no such revision"), ("-x", "")):
        done = call("diff", name)
        assert (done.status, done.out) == (2, "")
        assert reason in done.error


EXPOSED = (
    "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 16}\n"
    "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 128, gradient_precision: fp32}\n"
    "layout: {framework: megatron-core}\n"
)


@pytest.mark.parametrize(("batch", "word"), [(200, "unchecked"), (8192, "fixed")])
def test_what_a_plan_without_a_step_cannot_show_is_not_fixed(batch: int, word: str, call: Call) -> None:
    """200 sequences do not divide among 128 replicas, so that no step is known; 64 micro-batches hide the reduction."""
    document = compared(call, EXPOSED, EXPOSED.replace("global_batch: 128", f"global_batch: {batch}"))
    gone = {kind: {one["rule"] for one in document["findings"][kind]} for kind in ("fixed", "unchecked")}
    exposed = {"dp-reduction-exposed", "full-precision-gradient-reduction"}
    assert exposed <= gone[word] and not exposed & gone["fixed" if word == "unchecked" else "unchecked"]
