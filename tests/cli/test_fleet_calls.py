"""Commands on a fleet: a part is chosen with --job or --pool; what needs one design and gets none says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from clusterspec import load
from tests.cli.conftest import Call
from tests.effort import thorough
from tests.studies.test_fleets import POOLS, SINGLE, WORK, as_fleet

FLEET = POOLS + f"  a: {{pool: train, nodes: 8, {WORK}}}\n  b: {{pool: train, {WORK}}}\n  c: {{pool: serve, {WORK}}}\n"
REFUSED = {
    ("search", "x.yaml"): "needs one design: choose with --job (a, b, c), or all of them with --fleet",
    ("faults", "x.yaml"): "needs one design: choose with --job (a, b, c) or --pool (train, serve)",
    ("sensitivity", "x.yaml"): "needs one design: choose with --job (a, b, c)\n",
    ("simulate", "x.yaml"): "needs one design: choose with --job (no job of this fleet serves)",
    ("diff", "x.yaml", "one.yaml"): "x.yaml is a fleet, and the other spec one cluster: choose with --job or --pool",
    ("sweep", "axes.yaml"): "is a fleet, and `sweep` takes a spec of one cluster",
    ("search", "x.yaml", "--job", "d"): "no job is called 'd'; there are a, b, c",
    ("estimate", "x.yaml", "--pool", "d"): "no pool is called 'd'; there are train, serve",
    ("estimate", "one.yaml", "--job", "a"): "one.yaml describes one cluster",
}


def test_a_call_without_a_design_says_so_in_one_line(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    Path("one.yaml").write_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n")
    Path("axes.yaml").write_text("base: x.yaml\naxes: {layout.tp: [1, 2]}\n")
    for words, message in REFUSED.items():
        done = call(*words)
        assert done.status == 2, words
        assert message in done.error, words
        assert done.error.count("\n") == 1, words
    assert not Path("y.yaml").exists()


def test_a_chosen_job_is_estimated_as_a_design(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    made = json.loads(call("estimate", "x.yaml", "--job", "a", "--format", "json").out)
    pool = json.loads(call("estimate", "x.yaml", "--pool", "train", "--format", "json").out)
    assert made["cluster"]["nodes"] == pool["cluster"]["nodes"] == 16
    assert (made["accelerators_used"], pool["step_time"]) == (64, None)
    assert made["step_time"] > 0


@thorough
def test_a_job_names_the_nodes_of_its_pool_that_no_job_has(call: Call) -> None:
    """16 nodes: 8 and 5 of two jobs leave 3; a job of its own with 8 of them leaves 8, in either form."""
    two = POOLS + f"  a: {{pool: train, nodes: 8, {WORK}}}\n  b: {{pool: train, nodes: 5, {WORK}}}\n"
    one = POOLS + f"  a: {{pool: train, nodes: 8, {WORK}}}\n"
    job = WORK.replace(", layout: {", "\nlayout: {nodes: 8, ")
    alone = f"clusterspec: 1\ncluster: {{platform: dgx-b200, nodes: 16, spare_nodes: 1}}\n{job}\n"
    for text, words, idle in ((two, ("--job", "a"), 3), (one, ("--job", "a"), 8), (alone, (), 8)):
        Path("x.yaml").write_text(text)
        assert f"16 nodes, {idle} nodes idle" in call("estimate", "x.yaml", *words).out
        assert json.loads(call("estimate", "x.yaml", *words, "--format", "json").out)["idle_nodes"] == idle


def test_a_fleet_of_one_prints_the_figures_of_the_short_form(call: Call) -> None:
    path = next(path for path in SINGLE if path.stem == "bloom-176b")
    bought = {"currency": "USD", "term": "1 year", "electricity": 0.1, "prices": {"node": 3}}
    spec = yaml.safe_load(path.read_text("utf-8"))
    Path("x.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    verbs = ("estimate", "bom", "cost")
    single = [call(verb, "x.yaml") for verb in verbs]
    Path("x.yaml").write_text(yaml.safe_dump(as_fleet(spec), sort_keys=False))
    assert [call(verb, "x.yaml") for verb in verbs] == single
    spec |= {"procurement": bought}
    Path("x.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    plain = [json.loads(call(verb, "x.yaml", "--format", "json").out) for verb in verbs]
    Path("x.yaml").write_text(yaml.safe_dump(as_fleet(spec), sort_keys=False))
    for verb, short in zip(verbs, plain, strict=True):
        whole = json.loads(call(verb, "x.yaml", "--format", "json").out)
        assert {key: whole[key] for key in short if key != "input"} == {k: v for k, v in short.items() if k != "input"}
        assert {key: whole["jobs"]["j"][key] for key in short.keys() - {"version", "tool", "input"}} == {
            key: short[key] for key in short.keys() - {"version", "tool", "input"}
        }
        assert whole["pools"]["p"]["nodes"] == spec["cluster"]["nodes"]
        bill = whole["pools"]["p"]["cost"], whole["jobs"]["j"]["billed"]
        assert verb != "cost" or bill == (short["total"], short["total"])
        assert verb != "cost" or short["total"] > 0


PRICED = """clusterspec: 1
name: priced
pools:
  train: {platform: dgx-b200, nodes: 16, prices: {node: 500}}
  serve: {platform: dgx-h200, nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 300}}
jobs:
"""


def test_the_cost_of_a_pool_is_billed_by_nodes_and_share(call: Call) -> None:
    parts = ("nodes: 8, share: 0.5", "nodes_of: a, share: 0.25", "nodes: 4")
    rows = [f"  {name}: {{pool: train, {part}, {WORK}}}\n" for name, part in zip("abc", parts, strict=True)]
    Path("x.yaml").write_text(PRICED + "".join(rows) + "  d: {pool: serve}\n")
    made = json.loads(call("cost", "x.yaml", "--format", "json").out)
    assert {name: pool["cost"] for name, pool in made["pools"].items()} == {"train": 16 * 500, "serve": 4 * 300}
    billed = {name: job["billed"] for name, job in made["jobs"].items()}
    assert billed == {"a": 8 * 500 * 0.5, "b": 8 * 500 * 0.25, "c": 4 * 500, "d": 4 * 300}
    train = made["pools"]["train"]
    assert (train["used"], train["idle"], train["used_share"]) == (12, 4, (8 * 0.75 + 4) / 16)
    assert made["total"] is None
    shown = call("cost", "x.yaml").out
    assert "2,000 USD" in shown, "a is billed 8 × 500 / 2"
    assert "9,200 USD" in shown, "8,000 and 1,200"
    assert "Not known" not in shown
    Path("x.yaml").write_text(FLEET)
    assert call("cost", "x.yaml").out.endswith("Not known: add `procurement.prices`, `as_of` and `currency`.\n")
    Path("x.yaml").write_text(FLEET + "procurement: {currency: USD, as_of: 2026-11-01, prices: {core_switch: 300}}\n")
    assert "none of the stated prices is for a part of these pools" in call("cost", "x.yaml").out


@thorough
def test_the_fields_of_a_job_are_those_of_its_design(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    for verb in ("estimate", "bom", "cost"):
        whole = json.loads(call(verb, "x.yaml", "--format", "json").out)
        for name in "ac":
            single = json.loads(call(verb, "x.yaml", "--job", name, "--format", "json").out)
            of_file = {"version", "tool", "input", *whole["jobs"][name]} - single.keys()
            own = {"pool", "nodes", "share", "elapsed", "billed", "beside", "unit_cost", "store_wait", "link_share"}
            assert of_file == own
            wanted = {key: value for key, value in single.items() if key not in {"version", "tool", "input"}}
            assert {key: whole["jobs"][name][key] for key in wanted} == wanted, (verb, name)
            assert all(whole[key] is None for key in wanted if key not in {"name", "summary"}), verb


def test_the_table_of_a_fleet_has_a_row_for_each_job_and_pool(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    for words in (("estimate",), ("cost",), ("bom", "--format", "csv"), ("bom",), ("cost", "--format", "csv")):
        done = call(words[0], "x.yaml", *words[1:])
        names = ("train", "serve") if words[0] == "bom" else ("a", "b", "c", "train", "serve")
        shown = {line.partition(" ")[0].partition(",")[0] for line in done.out.splitlines()}
        shown |= {"train", "serve"} if words == ("cost", "--format", "csv") else set()
        assert set(names) <= shown, words
        assert done.status == 0, done.error


def test_two_fleets_differ_in_jobs_and_pools(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    Path("y.yaml").write_text(
        FLEET.replace("nodes: 8", "nodes: 4")
        .replace("  b: {pool: train, ", "  b: {pool: train, nodes: 8, ")
        .replace("  c: {pool", "  d: {pool")
    )
    made = json.loads(call("diff", "x.yaml", "y.yaml", "--format", "json").out)
    assert (made["added"], made["removed"], made["effects"]) == (["d"], ["c"], None)
    single = json.loads(call("diff", "x.yaml", "y.yaml", "--job", "a", "--format", "json").out)
    assert made["jobs"]["a"] == {key: single[key] for key in ("changes", "effects", "caution", "findings")}
    assert [change["new"] for change in made["jobs"]["a"]["changes"]] == [4]
    tables = {
        form: call("diff", "x.yaml", "y.yaml", "--job", "a", "--format", form).out for form in ("text", "markdown")
    }
    assert {form: "\n| " in table for form, table in tables.items()} == {"text": False, "markdown": True}
    assert (made["pools"]["train"]["used"], made["pools"]["train"]["old"]["used"]) == (12, 16)
    assert (made["uses"]["a"]["nodes"], made["uses"]["a"]["old"]["nodes"]) == (4, 8)
    for layout in ("text", "markdown"):
        done = call("diff", "x.yaml", "y.yaml", "--format", layout)
        assert "8 -> 4" in done.out.replace("&#62;", ">"), "of the nodes of a"
        assert done.status == 0 and "Jobs added: d" in done.out and "Jobs removed: c" in done.out
    Path("z.yaml").write_text(FLEET.replace("nodes: 8", "nodes: 30"))
    full = call("diff", "x.yaml", "z.yaml").out
    assert full.count("new error[nodes-promised-twice]") == 1, "a finding of no single job"
    assert "Jobs without a difference: c\n" in full and "No key differs" not in full


def test_the_report_of_a_fleet_has_its_jobs_pools_parts_and_findings(call: Call) -> None:
    Path("x.yaml").write_text(FLEET.replace("serve: {", "serve: {prices: {node: 987123}, "))
    assert call("report", "x.yaml", "-o", "x.html").status == 0
    page = Path("x.html").read_text("utf-8")
    assert all(f"<td>{name}</td>" in page or f">{name}<" in page for name in ("a", "b", "c", "train", "serve"))
    assert "DGX B200" in page
    materials = page.rpartition("Bill of materials")[2]
    assert all(f">{pool}<" in materials for pool in ("train", "serve")) and "DGX B200" in materials
    assert call("report", "x.yaml", "-o", "buy.html", "--kind", "procurement").status == 0
    bought = Path("buy.html").read_text("utf-8")
    assert all(words in bought for words in ("Before a signature", "Tests of train", "Tests of serve"))
    for options in (("--audience", "tender"), ("--against", "x.yaml")):
        done = call("report", "x.yaml", "-o", "y.html", *options)
        assert (done.status, Path("y.html").exists()) == (2, False), options
    assert call("report", "x.yaml", "--pool", "serve", "--audience", "tender", "-o", "z.html").status == 0
    assert "987123" not in Path("z.html").read_text("utf-8").replace(",", "")


def test_an_unreadable_file_is_no_fleet_and_no_cluster(call: Call) -> None:
    Path("x.yaml").write_text("clusterspec: [\n")
    assert call("estimate", "x.yaml", "--job", "a").status == 1


@thorough
def test_the_search_of_a_job_without_a_layout_keeps_to_its_nodes() -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}"
    single = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 16}}\n{work}\nlayout: {{nodes: 4}}\n"
    pools = "clusterspec: 1\npools: {p: {platform: dgx-h100, nodes: 16}}\n"
    fleet = load(pools + f"jobs: {{a: {{pool: p, nodes: 4, {work}}}, b: {{pool: p}}}}\n")
    pins = {"tp": 2, "pp": 1, "cp": 1}
    (best,), (wanted,) = (each.search(pins=pins, top=1).layouts for each in (fleet.jobs["a"], load(single)))
    assert (best.layout["nodes"], best.step_time) == (4, wanted.step_time)


def test_parts_of_a_fleet_are_designs_of_the_library() -> None:
    design = load(FLEET)
    assert [*design.jobs] == ["a", "b", "c"]
    assert design.jobs["a"].with_layout(tp=4).estimate().plan.step_time
    assert design.pools["serve"].cluster is not None
    assert load("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n").jobs == {}


SOLVED = """clusterspec: 1
pools:
  a: {platform: dgx-b200, nodes: 2, power: {node: 10 kW, switch: 1 kW}}
  b: {platform: dgx-h100, nodes: 3, power: {node: 8 kW, switch: 1 kW}}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node: 100000}}
jobs:
  long:
    pool: a
    share: 0.5
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 1B}
    layout: {framework: megatron-core, tp: 2}
"""


@thorough
def test_conditions_on_a_fleet_add_up_all_pools(call: Call) -> None:
    """By hand: pool b draws 3 × 8 kW and a switch of 1 kW; of 56 kW pool a may take 3 nodes of 10 kW and a switch."""
    Path("x.yaml").write_text(SOLVED)

    def solved(until: str, *chosen: str) -> dict[str, Any]:
        done = call("solve", "x.yaml", *chosen, "--for", "nodes", "--until", until, "--format", "json")
        found: dict[str, Any] = json.loads(done.out)
        return found

    assert solved("fleet_power<=56 kW", "--pool", "a")["value"] == 3
    assert solved("fleet_cost<=750000", "--pool", "a")["value"] == 4, "three nodes of pool b cost 300,000"
    whole, paused = (
        {each["value"]: each["metric"] for each in solved(f"{name}<=1 h", "--job", "long")["probes"] if each["metric"]}
        for name in ("time_to_train", "elapsed")
    )
    both = whole.keys() & paused.keys()
    assert both
    assert all(paused[nodes] == 2 * whole[nodes] for nodes in both)
    refused = call("solve", "x.yaml", "--for", "nodes", "--until", "fleet_power<=56 kW")
    assert (refused.status, refused.error.count("\n")) == (2, 1)
