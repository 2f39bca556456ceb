"""A fleet is its jobs, each on its part of a pool, with findings at the keys of the fleet's file."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path
from typing import Any

import yaml

from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.cost.plan import Plan
from clusterspec.finding import Finding
from clusterspec.procurement.bill import bill as bill_of
from clusterspec.procurement.cost import cost as cost_of
from clusterspec.source import dotted_path
from clusterspec.studies import Study, study_text, variation
from clusterspec.studies.fleet import FleetStudy
from tests.effort import ALL_CASES, thorough
from tests.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
SINGLE = [path for path in sorted((ROOT / "examples").glob("*.yaml")) if "\npools:" not in path.read_text("utf-8")]

POOLS = """clusterspec: 1
name: two
pools:
  train: {platform: dgx-b200, nodes: 16, spare_nodes: 1}
  serve: {platform: dgx-h200, nodes: 4}
jobs:
"""
TRAINING = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}"
WORK = TRAINING + ", layout: {framework: megatron-core, tp: 2}"


def study(text: str) -> Study:
    return study_text(text, SETTINGS, "fleet.yaml")


def fleet_of(text: str) -> FleetStudy:
    found = study(text).fleet
    assert found is not None
    return found


def as_fleet(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec of one cluster as a fleet of one pool and one job."""
    job = {key: spec[key] for key in ("workload", "layout", "operations") if key in spec}
    rest = {key: value for key, value in spec.items() if key not in {"cluster", *job}}
    return rest | {"pools": {"p": spec["cluster"]}, "jobs": {"j": {"pool": "p"} | job}}


def reports(findings: tuple[Finding, ...]) -> set[tuple[str, str, str]]:
    return {(one.rule, str(one.severity), one.message) for one in findings}


@thorough
def test_a_fleet_of_one_job_is_the_design_of_the_job() -> None:
    assert len(SINGLE) >= 6
    for path in SINGLE:
        spec = yaml.safe_load(path.read_text("utf-8"))
        single, whole = (study(yaml.safe_dump(value, sort_keys=False)) for value in (spec, as_fleet(spec)))
        assert whole.fleet is not None
        (job,) = whole.fleet.jobs.values()
        assert job.design == single.design, path.stem
        assert reports(whole.findings) == reports(single.findings), path.stem
        assert single.fleet is None


def test_the_description_of_a_fleet_is_held_against_no_single_pool_or_job() -> None:
    """That of a fleet of one is that of its design: see the test above."""
    text = POOLS.replace("name: two", "name: two\ndescription: 128 B200 train, 32 H200 serve")
    assert not study(text + f"  a: {{pool: train, {WORK}}}\n").errors


def test_the_power_budget_of_a_fleet_is_compared_with_no_single_pool() -> None:
    """17 DGX B200 of 14.3 kW draw 243 kW, the four DGX H200 of 10.2 kW 41 kW with them."""
    jobs = f"  a: {{pool: train, {WORK}}}\noperations: {{power_budget: 200 kW}}\n"
    assert [one.rule for one in study(POOLS + jobs).errors] == ["fleet-over-power-budget"]


def test_spares_are_judged_by_all_that_have_work_on_a_pool() -> None:
    """Two jobs fill 16 nodes, and trainer and rollout four: no node is idle, whatever one job or the trainer has."""
    bought = POOLS.replace(", spare_nodes: 1", "").replace("nodes: 4}", "nodes: 4}\npool_links: []")
    prices = "procurement: {currency: USD, prices: {node: 3}}\n"
    rl = "{algorithm: grpo, prompts_per_step: 64, input_tokens: 512, output_tokens: 900, rollout: {nodes: 2, tp: 1}}"
    tuned = f"  c: {{pool: serve, {WORK.split(', layout')[0][:-1]}, kind: rl, rl: {rl}}}, layout: {{nodes: 2}}}}\n"
    tuned = tuned.replace("sequence_length: 8192, global_batch: 256, ", "")
    text = (
        bought + f"  a: {{pool: train, nodes: 12, {WORK}}}\n  b: {{pool: train, nodes: 4, {WORK}}}\n" + tuned + prices
    )
    found = [one for one in study(text).findings if one.rule == "procurement-without-spares"]
    assert sorted(one.message.split(":")[0] for one in found) == [
        "16 nodes are bought without a spare",
        "4 nodes are bought without a spare",
    ]
    assert all("stops the job" in one.message for one in found)


def test_a_bill_names_the_pools_that_share_its_fabric() -> None:
    link = "pool_links: [{between: [train, serve], fabric: shared}]\n"
    for links, count in (("", 0), (link, 1)):
        bills = fleet_report(study(POOLS + f"  a: {{pool: train, {WORK}}}\n" + links), "bom").pool_bills
        for bill in bills.values():
            assert sum("shared fabric" in one for one in bill.bill.not_counted) == count


@thorough
def test_jobs_that_overfill_a_store_have_longer_runs() -> None:
    """Two jobs of 8,030,261,248 parameters save 14 bytes of each every minute: 1.874 GB/s each."""
    saving = "operations: {checkpoint: {interval: 60 s, mode: asynchronous}}\n"
    work = WORK.replace("batch: 256", "batch: 256, tokens: 1B")
    jobs = "".join(f"  {name}: {{pool: train, nodes: 8, {work}}}\n" for name in "ab")
    rate = 8_030_261_248 * 14 / 60
    for store, wait in ((40.0, 1.0), (2.5, 2 * rate / 2.5e9), (1.5, 2.0)):
        pools = POOLS.replace("spare_nodes: 1", f"networks: {{storage: {{bandwidth: {store} GB/s}}}}")
        report = fleet_report(study(pools + jobs + saving), "estimate")
        for name, use in report.jobs.items():
            run = report.estimates[name].plan.time_to_train
            assert run is not None
            assert use.elapsed is not None
            assert isclose(use.store_wait, wait, rel_tol=1e-6), store
            assert isclose(use.elapsed, run * wait, rel_tol=1e-6), store


def test_pools_with_one_store_share_it_and_buy_it_once() -> None:
    """Two jobs of 8,030,261,248 parameters save 14 bytes of each every minute, 3.747 GB/s together: a store of 2.5 GB/s
    makes both wait by 1.499 where their pools have it together, and neither where each pool has one. A pool that
    describes none buys none.
    """
    saving = "operations: {checkpoint: {interval: 60 s, mode: asynchronous}}\nprocurement: {prices: {storage: 100}}\n"
    jobs = f"  a: {{pool: train, {WORK}}}\n  b: {{pool: serve, {WORK}}}\n"
    store = "networks: {storage: {bandwidth: 2.5 GB/s}}"
    together = 2 * 8_030_261_248 * 14 / 60 / 2.5e9
    shared = "networks: {storage: {pool: train}}"
    for there, wait, bought in ((shared, together, 1), (store, 1.0, 2), ("spare_nodes: 0", 1.0, 1)):
        pools = POOLS.replace("spare_nodes: 1", store).replace("dgx-h200,", f"dgx-h200, {there},")
        fleet = study(pools + jobs + saving)
        uses = fleet_report(fleet, "estimate").jobs
        assert [isclose(uses[name].store_wait, wait, rel_tol=1e-6) for name in "ab"] == [True, True], there
        bills = fleet_report(fleet, "bom").pool_bills.values()
        assert sum(item.kind == "storage" for one in bills for item in one.bill.items) == bought, there
        over = [one for one in fleet.findings if one.rule == "store-overcommitted"]
        assert len(over) == (wait > 1), there


def test_a_job_has_a_cost_of_its_run_where_its_pool_uses_the_store_of_another() -> None:
    """Engines on another pool have no cost of a run on one machine; a common store does not change it."""
    prices = "procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, prices: {node: 300000, storage: 1}}\n"
    jobs = f"  a: {{pool: train, {WORK}}}\n  b: {{pool: serve, {WORK}}}\n".replace(
        "workload: {", "workload: {tokens: 1T, "
    )
    found = []
    for there in ("networks: {storage: {bandwidth: 80 GB/s}}", "networks: {storage: {pool: train}}"):
        pools = POOLS.replace("spare_nodes: 1", "networks: {storage: {bandwidth: 80 GB/s}}")
        fleet = study(pools.replace("dgx-h200,", f"dgx-h200, {there},") + jobs + prices).fleet
        assert fleet is not None
        job = fleet.jobs["b"]
        cost = cost_of(job.design, job.plan, bill_of(job.design))
        assert cost is not None and cost.per_run is not None, there
        found.append(cost.per_run.value)
    assert isclose(*found, rel_tol=1e-5)


def test_jobs_that_read_more_than_their_store_gives_are_reported_where_each_alone_reads_less() -> None:
    """The rates of both jobs, by the bytes of a token, are below that of the store, and their sum is above it."""
    for width, count in ((2, 0), (12_000, 1)):
        work = WORK.replace("global_batch: 256", f"global_batch: 256, dataset_token_bytes: {width}")
        jobs = "".join(f"  {name}: {{pool: train, nodes: 8, {work}}}\n" for name in "ab")
        pools = POOLS.replace("spare_nodes: 1", "networks: {storage: {bandwidth: 1 TB/s, read: 15 GB/s}}")
        found = study(pools + jobs).findings
        assert sum(one.rule == "store-overcommitted" and "read" in one.message for one in found) == count, width
        assert not [one for one in found if "storage system gives the job's nodes" in one.message], width


@thorough
def test_jobs_on_one_link_have_what_the_others_leave_of_it() -> None:
    """Caches of 4,000 tokens are 80 layers x 8 heads x 128 x 2 x 2 x 4,000 = 1.311 GB; four a second are 5.243 GB/s.

    A link of 200 Gb/s carries 0.8 x 25 = 20 GB/s of them: each of two such jobs has (20 - 5.243) / 20 = 73.8 %. Of a
    link of 50 Gb/s it has half. One that runs in turn with another does not meet it.
    """
    engines = "disaggregated: {prefill: {pool: serve, replicas: 2, tp: 4}, decode: {replicas: 2, tp: 4}}"
    load = f"serving: {{input_tokens: 4000, output_tokens: 500, request_rate: 4, {engines}}}"
    work = f"workload: {{kind: serve, model: llama-3.1-70b, {load}}}, layout: {{framework: vllm}}"
    job, sent = f"pool: train, nodes: 1, {work}", 80 * 8 * 128 * 2 * 2 * 4000 * 4

    def reached(rate: float, jobs: str) -> FleetStudy:
        link = f"pool_links: [{{between: [train, serve], bandwidth: {rate} Gb/s}}]\n"
        return fleet_of(POOLS.replace("jobs:", link + "jobs:") + jobs)

    for rate, share in ((200, 1 - sent / 20e9), (50, 0.5)):
        both = reached(rate, f"  a: {{{job}}}\n  b: {{{job}}}\n")
        assert all(isclose(both.link_shares[name], share, rel_tol=1e-9) for name in "ab"), rate
        alone = reached(rate * share, f"  a: {{{job}}}\n").jobs["a"].plan.serving
        found = both.jobs["a"].plan.serving
        assert found is not None
        assert alone is not None
        assert isclose(found.ttft, alone.ttft, rel_tol=1e-9), rate
    in_turn = f"  a: {{share: 0.5, {job}}}\n  b: {{nodes_of: a, share: 0.5, {job}}}\n"
    assert not reached(50, in_turn).link_shares


def test_a_job_on_a_part_of_a_pool_is_a_layout_on_that_many_nodes() -> None:
    part = f"  a: {{pool: train, nodes: 6, {WORK}}}\n"
    fleet = fleet_of(POOLS + part + f"  b: {{pool: train, {WORK}}}\n  c: {{pool: serve}}\n")
    single = study(
        "clusterspec: 1\ncluster: {platform: dgx-b200, nodes: 16, spare_nodes: 1}\n"
        + WORK.replace(", layout", "\nlayout").replace("tp: 2", "tp: 2, nodes: 6")
    )
    nodes = {name: job.nodes for name, job in fleet.fleet.jobs.items()}
    assert nodes == {"a": 6, "b": 10, "c": 4}, "b takes what a leaves of 16, and c the whole pool"
    plans: list[Plan] = [fleet.jobs["a"].plan, single.plan]
    assert plans[0].step_time == plans[1].step_time
    assert plans[0].memory_bytes == plans[1].memory_bytes
    assert fleet.fleet.pools["train"].idle_nodes == 0


def test_jobs_in_turn_have_the_same_nodes() -> None:
    turns = "  a: {pool: train, nodes: 12, share: 0.5}\n  b: {pool: train, nodes_of: a, share: 0.5}\n"
    fleet = fleet_of(POOLS + turns + "  c: {pool: serve, nodes: 3}\n").fleet
    (turn,) = fleet.pools["train"].sets
    assert (turn.jobs, turn.nodes, fleet.jobs["b"].nodes) == (("a", "b"), 12, 12)
    assert (fleet.pools["train"].idle_nodes, fleet.pools["serve"].idle_nodes) == (4, 1)


PLACES = {
    "layout: {framework: megatron-core, tp: 3}": ("jobs.a.layout.tp", "heads-indivisible-by-tp"),
    "layout: {tpp: 3}": ("jobs.a.layout.tpp", "unknown-key"),
    "nodes: 20": ("jobs.a.nodes", "nodes-promised-twice"),
    "layout: {nodes: 20}": ("jobs.a.layout.nodes", "nodes-promised-twice"),
}


def test_findings_are_at_the_keys_of_the_file() -> None:
    for text, (path, rule) in PLACES.items():
        found = study(POOLS + f"  a: {{pool: train, {TRAINING}, {text}}}\n  c: {{pool: serve}}\n").findings
        assert {(dotted_path(one.path), one.span.start.line) for one in found if one.rule == rule} == {(path, 7)}, text
        assert all(one.path[0] in {"pools", "jobs"} for one in found if one.path), text


def test_a_flaw_of_a_pool_is_reported_once() -> None:
    text = POOLS.replace("dgx-h200, nodes: 4", "dgx-h200, nodes: 4, scale_up: {bandwidth: 900 GB/s}")
    found = study(text + "  a: {pool: serve, nodes: 2}\n  b: {pool: serve, nodes: 2}\n  c: {pool: train}\n").findings
    (direction,) = [one for one in found if one.rule == "missing-direction"]
    assert dotted_path(direction.path) == "pools.serve.scale_up.bandwidth"
    assert direction.span.start.line == 5
    assert "h200-sxm-141gb" in direction.message, "the catalog's reading of the figure is named"
    assert direction.edits[0].span == direction.span


def test_a_flaw_of_two_pools_has_the_higher_severity() -> None:
    """Energy left out is a note for 4 nodes and a warning for 24, whichever pool is named first."""
    pools = ["small: {platform: dgx-h200, nodes: 4}", "large: {platform: dgx-h100, nodes: 24}"]
    for first, second in (pools, pools[::-1]):
        text = f"clusterspec: 1\npools:\n  {first}\n  {second}\njobs: {{a: {{pool: small}}}}\n"
        found = study(text + "procurement: {currency: EUR, term: 3 years, prices: {node: 1}}\n").findings
        assert [one.severity for one in found if one.rule == "incomplete-cost-inputs"] == ["warning"]


def test_sections_of_the_file_hold_for_all_parts_and_own_ones_win() -> None:
    fleet = fleet_of(
        POOLS.replace("nodes: 4}", "nodes: 4, prices: {node: 300}}")
        + "  a: {pool: train, operations: {repair_time: 2 h}}\n  b: {pool: serve}\n"
        + "operations: {repair_time: 24 h, burn_in: 72 h}\n"
        + "procurement: {currency: USD, prices: {node: 400, cable: 1}, budget: 10000}\n"
    )
    repair = [each.spec.operations.repair_time for each in fleet.jobs.values() if each.spec.operations]
    assert [time.value for time in repair if time] == [2 * 3600.0, 24 * 3600.0]
    bought = [each.spec.procurement for each in fleet.jobs.values()]
    assert [each.prices for each in bought if each] == [{"node": 400, "cable": 1}, {"node": 300, "cable": 1}]
    assert all(each and each.budget is None for each in bought), "a budget is for all pools"


def test_a_waiver_holds_for_the_job_that_it_stands_at() -> None:
    job = f"    nodes: 2\n    {TRAINING}\n    layout: {{framework: megatron-core, tp: 3}}"
    waived = "  # clusterspec: ignore[heads-indivisible-by-tp]: to show a waiver"
    text = POOLS + f"  a:\n    pool: train\n{job}{waived}\n  b:\n    pool: serve\n{job}\n"
    found = study(text).findings
    assert [dotted_path(one.path) for one in found if one.rule == "heads-indivisible-by-tp"] == ["jobs.b.layout.tp"]
    assert "unused-waiver" not in [one.rule for one in found]


HOSTILE = {
    "no pools": "clusterspec: 1\njobs: {a: {pool: b}}\n",
    "no jobs": "clusterspec: 1\npools: {a: {platform: dgx-h100, nodes: 2}}\n",
    "empty": "clusterspec: 1\npools: {}\njobs: {}\n",
    "null": "clusterspec: 1\npools:\njobs:\n",
    "lists": "clusterspec: 1\npools: []\njobs: [1]\n",
    "jobs that are a number": "clusterspec: 1\npools: {a: {platform: dgx-h100, nodes: 2}}\njobs: 5\n",
    "a pool that is text": "clusterspec: 1\npools: {a: b}\njobs: {c: {pool: a}}\n",
    "a job that is text": "clusterspec: 1\npools: {a: {platform: dgx-h100, nodes: 2}}\njobs: {c: a}\n",
    "a name with a line break": 'clusterspec: 1\npools: {"a\\nb": {nodes: 2}}\njobs: {c: {pool: "a\\nb"}}\n',
    "a job of itself": "clusterspec: 1\npools: {a: {platform: dgx-h100}}\njobs: {c: {pool: a, nodes_of: c}}\n",
    "procurement that is text": POOLS + "  c: {pool: train}\nprocurement: cheap\noperations: [1]\n",
    "no nodes": "clusterspec: 1\npools: {a: {platform: dgx-h100}}\njobs: {c: {pool: a}, d: {pool: a, nodes: 3}}\n",
    "share zero": POOLS + "  c: {pool: train, share: 0}\n",
    "many": "clusterspec: 1\npools: {a: {platform: dgx-h100, nodes: 2}}\njobs: {"
    + ", ".join(f"j{number}: {{pool: a, nodes: 1}}" for number in range(60))
    + "}\n",
}


def test_no_fleet_crashes_the_check() -> None:
    for what, text in HOSTILE.items():
        found = study(text)
        assert found.checked.fault is None, what
        assert found.findings, what
        assert found.logs == ()


VALUES: list[object] = [None, 0, -1, 10**18, "", "2:1", [], {}, [{}], True, "a\x00b"]


def test_no_value_of_a_key_crashes_the_check_of_a_fleet() -> None:
    document = study((ROOT / "examples" / "lab-fleet.yaml").read_text("utf-8")).document
    assert document is not None
    paths = [path for path in document.places if path]
    for number, path in enumerate(paths[:: 1 if ALL_CASES else 16]):
        value = VALUES[number % len(VALUES)]
        changed = variation.changed_document(document, {path: value}).value
        found = study(json.dumps(changed))
        assert found.checked.fault is None, (path, value)
        if found.fleet is not None:
            assert fleet_report(found, "estimate").to_json()["jobs"].keys() <= {"pretrain", "tune", "grpo", "chat"}
