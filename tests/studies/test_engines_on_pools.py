"""Engines on pools of their own: prefill for decode, and rollout for the trainer, over the link between them."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
import yaml

from clusterspec.analysis import search
from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.cluster.fleet import EnginesAway
from clusterspec.cost.serving.handoff import HANDOFF_SHARE
from clusterspec.document.parse import parse
from clusterspec.report.fleet_text import fleet_text
from clusterspec.source import Path as KeyPath
from clusterspec.source import Source
from clusterspec.studies import study_text
from clusterspec.studies.fleet_parts import FleetPart, part_value
from clusterspec.studies.variation import rewritten_study, varied_study
from tests.effort import thorough
from tests.settings import SETTINGS
from tests.studies.test_fleets import fleet_of

SERVED = """
clusterspec: 1
pools:
  decode: {{platform: dgx-h100, nodes: 2}}
  prefill: {{platform: {machine}, nodes: 2}}
pool_links: [{{between: [prefill, decode], {link}}}]
jobs:
  chat:
    pool: {job}
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 32
        disaggregated: {{prefill: {{{first}replicas: 2, tp: 8}}, decode: {{{second}replicas: 2, tp: 8}}}}
    layout: {{framework: vllm}}
"""
TRAINED = """
clusterspec: 1
pools:
  train: {{platform: dgx-h100, nodes: 4}}
  {pools}
jobs:
  rl:
    pool: train
    workload:
      kind: rl
      model: qwen2.5-7b
      rl:
        prompts_per_step: 128
        samples_per_prompt: 16
        input_tokens: 512
        output_tokens: {{mean: 2500, p99: 10000, max: 16384}}
        minibatches: 4
        max_staleness: 1
        placement: split
        rollout: {{{rollout}nodes: 2, tp: 1}}
        weight_sync: {{method: nccl}}
    layout: {{framework: megatron-core, tp: 2, recompute: full}}
"""
SHARED = "fabric: shared"
LINK = "pool_links: [{between: [train, roll], fabric: shared}]"


def served(link: str = SHARED, machine: str = "dgx-h100", job: str = "decode", *, both: bool = False) -> Any:
    first = "pool: prefill, " if job == "decode" or both else ""
    second = "pool: decode, " if job == "prefill" or both else ""
    text = SERVED.format(link=link, machine=machine, job=job, first=first, second=second)
    return fleet_of(text)


def trained(rollout: str, pools: str) -> Any:
    return fleet_of(TRAINED.format(rollout=rollout, pools=pools))


def rules_of(fleet: Any) -> set[str]:
    problems, fault = fleet.problems_and_fault
    assert fault is None, fault
    return {problem.rule for problem in problems}


def test_equal_machines_on_one_fabric_are_one_machine() -> None:
    """Two pools of the same machine on one fabric give the times of one pool with the nodes of both."""
    one = fleet_of(
        SERVED.format(link=SHARED, machine="dgx-h100", job="decode", first="", second="")
        .replace("nodes: 2}", "nodes: 4}", 1)
        .replace("  prefill: {platform: dgx-h100, nodes: 2}\n", "")
        .replace("pool_links: [{between: [prefill, decode], fabric: shared}]\n", "")
    )
    same, apart = one.jobs["chat"].plan.serving, served().jobs["chat"].plan.serving
    assert same is not None
    assert apart.ttft == pytest.approx(same.ttft, rel=1e-9)
    assert apart.output_tokens_per_second == pytest.approx(same.output_tokens_per_second, rel=1e-9)
    alone, away = (
        fleet.jobs["rl"].plan.rl
        for fleet in (
            trained("", ""),
            trained("pool: roll, ", f"roll: {{platform: dgx-h100, nodes: 2}}\n{LINK}"),
        )
    )
    assert away.rl.trainer_nodes == 4
    assert alone.rl.trainer_nodes == 2
    assert away.rollout.batch == pytest.approx(alone.rollout.batch, rel=1e-12)
    assert away.sync.seconds == pytest.approx(alone.sync.seconds, rel=1e-12)
    assert away.accelerators == 48


def test_the_pool_of_the_job_may_be_that_of_either_engine() -> None:
    """A job on the pool of its prefill engines has the times of the same job on the pool of its decode engines."""
    first, second = (served(job=name).jobs["chat"].plan.serving for name in ("decode", "prefill"))
    assert first.ttft == second.ttft
    assert first.tpot == second.tpot
    for name, both in (("decode", False), ("prefill", False), ("decode", True), ("prefill", True)):
        fleet = served(job=name, both=both)
        assert "world-size-mismatch" not in rules_of(fleet), (name, both)
        assert fleet.jobs["chat"].plan.serving.ttft == first.ttft, (name, both)
        assert {pool: fleet.fleet.job_node_count(pool, "chat") for pool in ("decode", "prefill")} == {
            "decode": 2,
            "prefill": 2,
        }


def test_the_handoff_crosses_the_link() -> None:
    """A cache of 4,000 × 327,680 bytes takes its bytes over 0.8 of a 100 Gb/s link, and the latency of the link."""
    bytes_ = 4000 * 80 * 2 * 8 * 128 * 2
    slow = served("bandwidth: 100 Gb/s, latency: 30 ms").jobs["chat"].plan.serving
    assert slow.sent.transfer.seconds == pytest.approx(bytes_ / (HANDOFF_SHARE * 12.5e9))
    near = served("bandwidth: 100 Gb/s").jobs["chat"].plan.serving
    assert slow.sent.passing - near.sent.passing == pytest.approx(0.030)
    rates = [served(f"bandwidth: {rate} Gb/s").jobs["chat"].plan.serving for rate in (10, 40, 400, 4000)]
    for thin, wide in pairwise(rates):
        assert wide.ttft <= thin.ttft
        assert wide.output_tokens_per_second >= thin.output_tokens_per_second
    carried = HANDOFF_SHARE * 10e9 / 8 / bytes_  # prompts per second
    assert rates[0].output_tokens_per_second <= 1.01 * carried * 500


def test_a_faster_prefill_machine_answers_sooner() -> None:
    slow, fast = (served(machine=machine).jobs["chat"].plan.serving for machine in ("dgx-h100", "dgx-b200"))
    assert fast.ttft < slow.ttft
    assert fast.accelerators == 32


def test_engines_take_nodes_of_their_pools() -> None:
    """Nodes of engines count as promised; pools without a link, and pools that do not exist, are errors."""
    assert not rules_of(served()) & {"pool-without-job", "nodes-promised-twice", "engines-without-link"}
    linked = f"roll: {{platform: dgx-h200, nodes: 1}}\n{LINK}"
    assert "nodes-promised-twice" in rules_of(trained("pool: roll, ", linked))
    unlinked = trained("pool: roll, ", "roll: {platform: dgx-h200, nodes: 2}")
    assert "engines-without-link" in rules_of(unlinked)
    assert unlinked.jobs["rl"].plan.rl is None
    text = fleet_text(fleet_report(unlinked.study, "estimate"))
    assert text.split("\nrl ")[1].split()[5:8] == ["100", "%", "–"], "an update is not shown as the step of all roles"
    assert "unknown-pool" in rules_of(trained("pool: rol, ", linked))


def test_nodes_of_engines_on_the_pool_of_the_job_follow_from_their_ranks() -> None:
    """Four prefill engines of eight ranks take four nodes of six. Stated nodes have to hold them."""
    text = SERVED.format(link=SHARED, machine="dgx-h200", job="prefill", first="", second="pool: decode, ")
    text = text.replace("dgx-h200, nodes: 2", "dgx-h200, nodes: 6").replace("replicas: 2", "replicas: 4", 1)
    fleet = fleet_of(text)
    assert fleet.fleet.job_node_count("prefill", "chat") == 4
    assert fleet.fleet.pools["prefill"].idle_nodes == 2
    few, enough = (text.replace("pool: prefill\n", f"pool: prefill\n    nodes: {nodes}\n") for nodes in (3, 5))
    assert "job-nodes-disagree" in rules_of(fleet_of(few))
    assert "job-nodes-disagree" not in rules_of(fleet_of(enough))
    for nodes, conflict in ((2, False), (3, True)):
        beside = f"{text}  tune:\n    pool: prefill\n    nodes: {nodes}\n    workload: {{model: llama-3.1-8b}}\n"
        assert ("nodes-promised-twice" in rules_of(fleet_of(beside))) is conflict


@thorough
def test_a_search_combines_engines_of_both_pools() -> None:
    """The fewest accelerators that meet the targets are those of all pairs of tensor-parallel engines by hand: 70B in
    16 bits takes two H200 or four H100 at least, and each pool has two nodes.
    """
    targets = "targets: {ttft: 2 s, tpot: 40 ms}\n        disaggregated:"
    text = SERVED.format(link=SHARED, machine="dgx-h200", job="decode", first="pool: prefill, ", second="")
    one = fleet_of(text.replace("disaggregated:", targets)).jobs["chat"]
    report = search(one, SearchOptions({"pools": "disaggregated"}, top=3))
    best = report.layouts[0].serving
    assert best is not None and best["meets_targets"]
    assert {row.serving["disaggregated"]["prefill"]["pool"] for row in report.layouts if row.serving} == {"prefill"}
    sides: KeyPath = ("workload", "serving", "disaggregated")
    meeting = []
    for prompts, answers in product([(1, 2), (2, 2), (1, 4), (1, 8)], [(1, 4), (2, 4), (1, 8), (2, 8)]):
        (first, tp), (second, wide) = prompts, answers
        pair = {"prefill": {"pool": "prefill", "replicas": first, "tp": tp}, "decode": {"replicas": second, "tp": wide}}
        times = rewritten_study(one, {sides: pair}).plan.serving
        if times is not None and times.ttft <= 2 and times.tpot <= 0.04:
            meeting.append(times.accelerators)
    assert best["accelerators"] == min(meeting)


def test_an_unknown_pool_leaves_the_findings_of_other_jobs() -> None:
    """A store of 900 GB/s is too large for what the other job of the pool saves."""
    store = "networks: {storage: {bandwidth: 900 GB/s, capacity: 1 PB}}"
    text = TRAINED.format(rollout="pool: nowhere, ", pools="").replace("nodes: 4}", f"nodes: 4, {store}}}")
    work = "{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}"
    text += f"  tune: {{pool: train, nodes: 2, workload: {work}}}\n"
    found = rules_of(fleet_of(text + "operations: {checkpoint_interval: 1 h}\n"))
    assert {"unknown-pool", "storage-oversized-for-checkpoints"} <= found


ONE_MACHINE = """
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
"""


@pytest.mark.parametrize(
    ("workload", "at"),
    [
        (
            """  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 4000
    output_tokens: 500
    concurrency: 32
    disaggregated: {prefill: {pool: other, replicas: 2, tp: 8}, decode: {replicas: 2, tp: 8}}
""",
            "workload.serving.disaggregated.prefill.pool",
        ),
        (
            """  kind: rl
  model: qwen2.5-7b
  rl: {prompts_per_step: 128, input_tokens: 512, output_tokens: 2500, rollout: {pool: other, nodes: 2}}
layout: {tp: 2}
""",
            "workload.rl.rollout.pool",
        ),
    ],
)
def test_engines_of_one_machine_name_no_pool(workload: str, at: str) -> None:
    """They are designed on the machine all the same, so that the rest is judged."""
    found = study_text(ONE_MACHINE + workload, SETTINGS)
    assert [(each.rule, ".".join(map(str, each.path))) for each in found.problems] == [("unknown-pool", at)]
    assert found.plan.serving is not None or found.plan.rl is not None
    wider = varied_study(found, {("cluster", "nodes"): 6})
    assert [each.rule for each in wider.problems] == ["unknown-pool"]
    assert wider.plan.serving is not None or wider.plan.rl is not None


def test_states_of_prefill_engines_are_compared_with_the_memory_of_their_own_pool() -> None:
    """671B parameters in fp8 on eight ranks of 80 GB, with decode engines that fit on sixteen of 141 GB."""
    text = """
clusterspec: 1
pools: {prompts: {platform: dgx-h100, nodes: 1}, answers: {platform: dgx-h200, nodes: 2}}
pool_links: [{between: [prompts, answers], fabric: shared}]
jobs:
  r1:
    pool: answers
    workload:
      kind: serve
      model: deepseek-v3
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 32
        disaggregated:
          prefill: {pool: prompts, replicas: 1, tp: 8, ep: 8}
          decode: {replicas: 1, tp: 8, attention_dp: 2, ep: 16}
    layout: {framework: sglang}
"""
    (found,) = (each for each in study_text(text, SETTINGS).findings if each.rule == "states-exceed-memory")
    assert found.path == ("jobs", "r1", "workload", "serving", "disaggregated", "prefill")
    assert "of the prefill engines" in found.message and "90 % of 85.5 GB, sold as 80 GB" in found.message


def test_an_unknown_machine_hides_no_key_of_the_trainer_and_claims_none_is_missing() -> None:
    work = "workload: {kind: rl, model: MODEL, rl: {prompts_per_step: 64, input_tokens: 512, output_tokens: 1500}}"
    text = f"clusterspec: 1\ncluster: {{platform: dgx-h1000, nodes: 2}}\n{work}\nlayout: {{tp: 2}}\n"
    for model, paths in (("qwen2.5-7b", ["platform"]), ("qwen2.5-7c", ["platform", "model"])):
        errors = study_text(text.replace("MODEL", model), SETTINGS).errors
        assert [(each.rule, each.path[-1]) for each in errors] == [("unknown-catalog-id", path) for path in paths]


def test_a_job_takes_only_the_links_between_its_own_pools() -> None:
    """A third pool, and its links to both, belong to other jobs."""
    written = yaml.safe_load(
        SERVED.format(link=SHARED, machine="dgx-h100", job="decode", first="pool: prefill, ", second="")
    )
    own, others = {"between": ["prefill", "decode"]}, [{"between": [pool, "other"]} for pool in ("decode", "prefill")]
    written["pools"]["other"] = {"platform": "dgx-h200", "nodes": 1}
    written["pool_links"] = [others[0], own, others[1], {"between": "unreadable"}, 7]
    away = EnginesAway("prefill", "prefill", ("workload", "serving", "disaggregated", "prefill"), 2)
    document, _ = parse(Source("fleet.yaml", yaml.safe_dump(written)))
    assert document is not None
    value = part_value(document, FleetPart("decode", "chat", away=(away,)))
    assert value["pool_links"] == [own]
    assert set(value["pools"]) == {"prefill"}
