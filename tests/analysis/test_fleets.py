"""The use and the bill of the pools of a fleet, worked out by hand from a price of a node-hour."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec.analysis.fleets.results import fleet_diff, fleet_report
from clusterspec.finding import Severity
from clusterspec.results.fleet import FleetReport
from clusterspec.studies import Study, study_text
from tests.effort import telling
from tests.settings import SETTINGS

TRAIN = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1B}, layout: {tp: 2}"
SERVE = (
    "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, concurrency: 64}}"
)
FLEET = f"""\
clusterspec: 1
name: two
pools:
  train: {{platform: dgx-h100, nodes: 16}}
  serve: {{platform: dgx-h100, nodes: 4}}
jobs:
  a: {{pool: train, nodes: 8, {TRAIN}}}
  b: {{pool: train, nodes: 4, share: 0.5, {TRAIN}}}
  c: {{pool: serve, {SERVE}, layout: {{framework: vllm}}}}
procurement: {{currency: USD, term: 4 years, prices: {{node_hour: 100}}}}
"""
HOURS = 4 * 8766


def study(text: str = FLEET) -> Study:
    return study_text(text, SETTINGS, "fleet.yaml")


@cache
def report() -> FleetReport:
    return fleet_report(study(), "estimate")


def test_a_pool_is_used_by_the_nodes_and_the_shares_of_its_jobs() -> None:
    """Of 16 nodes eight are used always, four half of the time, and four never."""
    train, serve = report().pools["train"], report().pools["serve"]
    assert (train.nodes, train.used, train.idle, train.used_share) == (16, 12, 4, (8 + 4 * 0.5) / 16)
    assert (serve.nodes, serve.used, serve.idle, serve.used_share) == (4, 4, 0, 1.0)
    assert (train.cost, serve.cost, train.currency) == (16 * 100 * HOURS, 4 * 100 * HOURS, "USD")
    assert train.parts == {"rent": train.cost}


def test_a_job_is_billed_its_nodes_for_its_share_of_the_term() -> None:
    found = report()
    assert {name: job.billed for name, job in found.jobs.items()} == {
        "a": 8 * 100 * HOURS,
        "b": 4 * 100 * HOURS * 0.5,
        "c": 4 * 100 * HOURS,
    }
    for name, nodes, share in (("a", 8, 1.0), ("b", 4, 0.5)):
        job, run, cost = found.jobs[name], found.estimates[name].plan.time_to_train, found.costs[name]
        assert run is not None and cost is not None and cost.goodput is not None
        assert (job.pool, job.nodes, job.share, job.store_wait, job.link_share) == ("train", nodes, share, 1.0, 1.0)
        assert job.elapsed == pytest.approx(run / share), "the other half of the time it stands still"
        assert job.unit_cost == pytest.approx(nodes * 100 * run / cost.goodput.value / 3600)
    serving = found.estimates["c"].plan.serving
    assert serving is not None and found.jobs["c"].elapsed is None
    assert found.jobs["c"].unit_cost == pytest.approx(4 * 100 / 3600 / serving.output_tokens_per_second * 1e6)


@telling(1)
@pytest.mark.parametrize("utilization", ["", ", utilization: 0.8"])
def test_the_runs_of_the_term_cost_what_the_job_is_billed(utilization: str) -> None:
    """Of bought nodes, with the energy that each job draws: four years at work, over the time of a run with its
    interruptions, times the cost of one; of a serving plan the millions of its tokens.
    """
    prices = f"prices: {{node: 300000}}, electricity: 0.1{utilization}}}"
    found = fleet_report(study(FLEET.replace("prices: {node_hour: 100}}", prices)), "estimate")
    train, at_work = found.pools["train"], HOURS * 3600 * (0.8 if utilization else 1.0)
    assert train.cost is not None and train.parts["energy"] > 0
    for name, share in (("a", 1.0), ("b", 0.5)):
        use, cost = found.jobs[name], found.costs[name]
        assert cost is not None and cost.run is not None and use.unit_cost is not None
        assert use.unit_cost * at_work * share / cost.run.value == pytest.approx(use.billed)
    use, serving = found.jobs["c"], found.estimates["c"].plan.serving
    assert serving is not None and use.unit_cost is not None
    assert use.unit_cost * at_work * serving.output_tokens_per_second / 1e6 == pytest.approx(use.billed)


def test_the_difference_of_two_fleets_names_jobs_that_came_and_went() -> None:
    other = fleet_diff(study(), study(FLEET.replace("  b: ", "  d: ").replace("nodes: 8", "nodes: 6")))
    assert (other.added, other.removed, [*other.jobs]) == (("d",), ("b",), ["a", "c"])
    assert [(use["a"].nodes, use["a"].billed) for use in (other.old_jobs, other.new_jobs)] == [
        (8, 8 * 100 * HOURS),
        (6, 6 * 100 * HOURS),
    ]
    assert (other.old_pools["train"].idle, other.new_pools["train"].idle) == (4, 6)
    with pytest.raises(ValueError, match="not a fleet"):
        fleet_diff(study(), study("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n"))


def test_the_verdict_of_a_fleet_in_words_has_the_messages_of_its_jobs() -> None:
    """Without prices of energy the cost of a purchase leaves energy out, a warning of every job."""
    found = fleet_report(study(FLEET.replace("node_hour: 100", "node: 300000")), "estimate")
    warned = [one for one in found.findings if one.severity is Severity.WARNING]
    assert warned and any(one.rule in " ".join(found.verdict.reasons) for one in warned)
    told = found.verdict_in_words
    assert told.status is found.verdict.status and told.reasons
    for one in warned:
        assert one.rule not in " ".join(told.reasons)
    assert any(one.message in reason for one in warned for reason in told.reasons)


APART = """\
clusterspec: 1
pools:
  prompts: {platform: dgx-h100, nodes: 2}
  answers: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [prompts, answers], bandwidth: 10 Gb/s}]
jobs:
  chat:
    pool: answers
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 8000
        output_tokens: 200
        request_rate: 2
        disaggregated: {prefill: {pool: prompts, replicas: 2, tp: 8}, decode: {replicas: 2, tp: 8}}
    layout: {framework: vllm}
"""


def test_the_verdict_of_a_fleet_begins_with_the_errors_that_no_job_has() -> None:
    """2 requests of 8,000 tokens with 327,680 B of cache each are 5.2 GB/s, over a link of 1.25 GB/s at most."""
    found = fleet_report(study(APART), "estimate")
    (shared,) = (one for one in found.findings if one.rule == "jobs-exceed-pool-link")
    assert shared.path[0] == "pool_links" and "5.24 GB/s" in shared.message
    assert found.verdict.reasons[0] == "1 open error: jobs-exceed-pool-link"
    assert found.verdict_in_words.reasons[0] == shared.message
    assert sum(shared.message in reason for reason in found.verdict_in_words.reasons) == 1


def test_a_finding_of_a_job_is_told_of_the_job_alone() -> None:
    """A rack of the pool of `a` and `b` that exceeds its limit is an error of each of them."""
    found = fleet_report(
        study(FLEET.replace("nodes: 16}", "nodes: 16, power: {nodes_per_rack: 4, rack_limit: 20 kW}}")), "estimate"
    )
    errors = [one for one in found.findings if one.rule == "rack-over-power-limit"]
    assert errors and all(one.path[0] == "pools" for one in errors)
    reasons = found.verdict_in_words.reasons
    assert [reason[:3] for reason in reasons if errors[0].message in reason] == ["a: ", "b: "]
