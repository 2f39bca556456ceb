"""Planted conflicts of a fleet, and sound fleets like them, by hand-worked numbers of nodes and rates."""

from __future__ import annotations

import pytest

from clusterspec.rules.knowledge.shared_links import uses_link_between
from clusterspec.source import dotted_path
from clusterspec.studies import study_text
from tests.effort import thorough
from tests.settings import SETTINGS

RACKS = "clusterspec: 1\npools:\n  p: {platform: gb200-nvl72, nodes: 54}\njobs:\n"
NODES = "clusterspec: 1\npools:\n  p: {platform: dgx-b200, nodes: 16, spare_nodes: 2}\njobs:\n"
SPLIT = {
    (18, 18, 18): False,
    (36, 18): False,
    (27, 27): False,
    (10, 8, 36): False,
    (26, 28): False,
    (30, 24): False,
    (20, 20, 14): False,
    (20, 17, 17): True,
    (12, 12, 12, 12): True,
    (9, 9, 9, 9, 9, 9): False,
    (10, 10, 10, 10): True,
}
"""Nodes of jobs on three domains of 18, and whether one job has to lie in more domains than its nodes need: 27 + 27 are
18 + 9 each, and the two nines complete a domain; 20 + 17 + 17 are a whole one, 2, 17 and 17, and two domains hold only
17 and 17."""


def fired(text: str, group: tuple[str, ...]) -> dict[str, list[str]]:
    """The paths at which each of some rules reports."""
    found: dict[str, list[str]] = {}
    for one in study_text(text, SETTINGS).findings:
        if one.rule in group:
            found.setdefault(one.rule, []).append(dotted_path(one.path))
    return found


def jobs(*rows: str) -> str:
    return "".join(f"  j{number}: {{pool: p{row}}}\n" for number, row in enumerate(rows))


@thorough
def test_jobs_of_racks_have_whole_domains_and_one_part() -> None:
    for nodes, split in SPLIT.items():
        text = RACKS + jobs(*(f", nodes: {count}" for count in nodes))
        found = [each.severity for each in study_text(text, SETTINGS).findings if each.rule == "jobs-split-domains"]
        shared = nodes in {(27, 27), (26, 28), (30, 24), (20, 20, 14)}
        assert found == (["error"] if split else ["warning"] if shared else []), nodes


BOOKED = {
    (", nodes: 16",): {},
    (", nodes: 17",): {"nodes-promised-twice": ["jobs.j0.nodes"]},
    (", nodes: 10", ", nodes: 6"): {},
    (", nodes: 10", ", nodes: 7"): {"nodes-promised-twice": ["jobs.j1.nodes"]},
    (", nodes: 10", ""): {},
    (", nodes: 16", ""): {"nodes-promised-twice": ["jobs.j1"]},
    ("", ""): {"nodes-promised-twice": ["jobs.j1"]},
    (", nodes: 16, share: 0.4", ", nodes_of: j0, share: 0.6"): {},
    (", nodes: 16, share: 0.5", ", nodes_of: j0, share: 0.6"): {"shares-exceed-term": ["jobs.j1.share"]},
    (", share: 1.5",): {"shares-exceed-term": ["jobs.j0.share"]},
    (", nodes_of: x, share: 0.5", ", nodes_of: x, share: 0.5"): {},
    (", nodes_of: x", ", nodes_of: x"): {"shares-exceed-term": ["jobs.j1.share"]},
    (", nodes: 8, layout: {nodes: 8}",): {},
    (", nodes: 8, layout: {nodes: 9}",): {"job-nodes-disagree": ["jobs.j0.layout.nodes"]},
}
"""Jobs on 16 nodes with two spares, and what is reported."""


def test_nodes_without_a_job_are_noted_unless_spares_are_stated() -> None:
    idle = {"pool-without-job": ["pools.p.nodes"]}
    bare = NODES.replace(", spare_nodes: 2", "")
    for text, nodes, wanted in ((bare, (9, 6), idle), (bare, (9, 7), {}), (NODES, (9, 6), {}), (bare, (15,), {})):
        rows = (f", nodes: {number}" for number in nodes)
        assert fired(text + jobs(*rows), ("pool-without-job",)) == wanted, nodes
    two = bare.replace("jobs:", "  q: {platform: dgx-h100, nodes: 4}\njobs:")
    for alone, wanted in ((15, idle), (16, {})):
        text = two + jobs(f", nodes: {alone}") + "  k: {pool: q}\n"
        assert fired(text, ("pool-without-job",)) == wanted, f"one job of each of two pools, {alone}"


def test_each_node_is_promised_once() -> None:
    rules = ("nodes-promised-twice", "shares-exceed-term", "job-nodes-disagree", "pool-without-job", "unknown-pool")
    for rows, wanted in BOOKED.items():
        assert fired(NODES + jobs(*rows), rules) == wanted, rows


def test_stores_are_shared_by_jobs_at_the_same_time_only() -> None:
    store = ", networks: {storage: {bandwidth: 40 GB/s}}}"
    pool = NODES.replace(", spare_nodes: 2}", store).replace("jobs:\n", "")
    # 70.6B parameters at 14 bytes are 988 GB: 33 GB/s while one job saves for 30 s, 66 GB/s for two
    operations = "operations: {checkpoint_interval: %s, checkpoint_time: 30 s}\n"
    work = ", workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}"
    together = jobs(f", nodes: 8{work}", f", nodes: 8{work}")
    in_turn = jobs(f", share: 0.5{work}", f", nodes_of: j0, share: 0.5{work}")
    cases = {(together, "30 min"): ["warning"], (in_turn, "30 min"): [], (together, "40 s"): ["error"]}
    for (rows, interval), wanted in cases.items():
        found = study_text(pool + operations % interval + "jobs:\n" + rows, SETTINGS).findings
        assert [str(one.severity) for one in found if one.rule == "store-overcommitted"] == wanted, interval


PRICED = """clusterspec: 1
pools:
  a: {platform: dgx-b200, nodes: 2}
  b: {platform: dgx-h200, nodes: NODES}
procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, prices: {node: 300000}}
jobs:
  one: {pool: a}
  two: {pool: b}
"""


def test_findings_at_keys_of_all_pools_name_the_pool_where_pools_differ() -> None:
    """Two and four nodes of eight NICs have 16 and 32 cables at one key; nothing is said of pools that are alike."""
    for nodes, pools in (("4", ["pool `a`: ", "pool `b`: "]), ("2", [""])):
        found = study_text(PRICED.replace("NODES", nodes), SETTINGS).findings
        told = [one.message for one in found if one.rule == "unpriced-part"]
        assert len(told) == len(pools)
        assert all(message.startswith(f"{pool}no price for") for message, pool in zip(told, pools, strict=True)), told


MACHINES = "a: {platform: dgx-h100, nodes: 4}, b: {platform: dgx-h200, nodes: 4}, c: {platform: hgx-h200, nodes: 4}"
SPREAD = [
    # pools of prefill and of decode for a job of pool `a`, and the pools between which its caches may travel
    ("", "", ""),
    ("", ", pool: b", "ab"),
    (", pool: b", "", "ab"),
    (", pool: b", ", pool: c", "ab ac bc"),
]


def test_a_job_uses_the_links_between_its_pools() -> None:
    for prefill, decode, links in SPREAD:
        engines = f"{{prefill: {{tp: 8, replicas: 1{prefill}}}, decode: {{tp: 8, replicas: 1{decode}}}}}"
        serving = f"{{input_tokens: 2000, output_tokens: 500, concurrency: 8, disaggregated: {engines}}}"
        work = f"{{kind: serve, model: llama-3.1-70b, serving: {serving}}}"
        job_text = f"pool: a, workload: {work}, layout: {{framework: vllm}}"
        text = f"clusterspec: 1\npools: {{{MACHINES}}}\njobs: {{j: {{{job_text}}}}}\n"
        fleet = study_text(text, SETTINGS).fleet
        assert fleet is not None
        job = fleet.fleet.jobs["j"]
        assert [ends for ends in ("ab", "ac", "bc") if uses_link_between(job, frozenset(ends))] == links.split(), (
            prefill,
            decode,
        )


JUDGES = [
    # keys of the reward model of a job on four nodes of H100, and its time over that on one of these
    ("nodes: 1", 1.0),
    ("nodes: 2, pool: b", 0.5),  # two nodes of H200, with the peak of H100
    ("nodes: 1, pool: d", 989.4 / 148),  # one of H20
]
H20 = "d: {accelerator: h20-96gb, accelerators_per_node: 8, nodes: 2}"


def test_a_model_on_another_pool_takes_the_time_that_its_accelerators_need() -> None:
    samples = "algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 300"
    seconds: list[float] = []
    for keys, ratio in JUDGES:
        work = f"{{kind: rl, model: qwen2.5-7b, rl: {{{samples}, reward: {{model: qwen2.5-72b, {keys}}}}}}}"
        job = f"pool: a, workload: {work}, layout: {{framework: megatron-core, nodes: 2}}"
        text = f"clusterspec: 1\npools: {{{MACHINES}, {H20}}}\njobs: {{j: {{{job}}}}}\n"
        found = study_text(text, SETTINGS).fleet
        assert found is not None and found.jobs["j"].plan is not None
        rl = found.jobs["j"].plan.rl
        assert rl is not None
        told = {part.role: part.seconds for part in rl.parts}
        seconds.append(told["reward"])
        assert seconds[-1] == pytest.approx(seconds[0] * ratio, rel=1e-3), keys
        generating = 0 if "pool" in keys else 1  # the node that the others of the job leave
        assert rl.accelerators == 8 * (2 + generating + int(keys[7]))


ROLES = [
    # keys of a job on pool `a` whose engines are on pool `b`
    "workload: {kind: rl, model: qwen2.5-7b, rl: {prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512,"
    " output_tokens: 300, rollout: {pool: b, nodes: 2, tp: 1}}}, layout: {framework: megatron-core}",
    "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 200, concurrency: 32,"
    " disaggregated: {prefill: {pool: b, nodes: 2, tp: 1}, decode: {pool: a, nodes: 2, tp: 1}}}}",
]


@pytest.mark.parametrize("keys", ROLES)
def test_the_machine_of_engines_on_another_pool_is_checked_as_its_own(keys: str) -> None:
    machine = "platform: dgx-h100, nodes: 2, scale_out: {technology: roce-v2, nic_bandwidth"
    rule = ("nic-rate-off-technology",)
    for pool, rates in {"a": ("4000 Gb/s", "400 Gb/s"), "b": ("400 Gb/s", "4000 Gb/s")}.items():
        pools = ", ".join(f"{name}: {{{machine}: {rate}}}}}" for name, rate in zip("ab", rates, strict=True))
        links = "pool_links: [{between: [a, b], bandwidth: 800 Gb/s}]"
        text = f"clusterspec: 1\npools: {{{pools}}}\n{links}\njobs: {{j: {{pool: a, {keys}}}}}\n"
        assert fired(text, rule) == {rule[0]: [f"pools.{pool}.scale_out.nic_bandwidth"]}, pool


def test_the_nodes_of_a_cheaper_pool_are_nodes() -> None:
    """5 used servers at $82,000 and 4 new ones at $268,000: neither line is far from the nodes of its own pool."""
    text = """clusterspec: 1
pools:
  used: {platform: dgx-a100, nodes: 4, spare_nodes: 1}
  new: {platform: hgx-h200, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: "DGX A100 server, refurbished", quantity: USED, unit_price: 82000}
    - {part: "HGX H200 server", quantity: 4, unit_price: 268000}
"""
    for used, missing in ((5, False), (4, True)):
        findings = study_text(text.replace("USED", str(used)), SETTINGS).findings
        found = [one for one in findings if one.rule == "fleet-quote-off-bill"]
        assert any("nodes" in one.message and one.severity == "error" for one in found) is missing, used


HALLS = """clusterspec: 1
description: "{remarks}"
pools:
  train: {{platform: dgx-h200, nodes: 31, scale_out: {{topology: rail-optimized, switch_ports: 64}}}}
  serve: {{platform: dgx-b200, nodes: 4, scale_out: {{topology: single-switch, switch_ports: 64}}}}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
{lines}
"""
ENGINES = '    - {part: "DGX B200 node", quantity: 4, unit_price: 1}\n'
ALL = '    - {part: "DGX H200 node", quantity: 31, unit_price: 1}\n' + ENGINES
CHASSIS = '    - {{part: "QM9700 switch", quantity: {}, unit_price: 1}}\n'
LEAF = '    - {part: "leaf switch 64 x 400G", quantity: 1, unit_price: 1}\n'


@pytest.mark.parametrize(
    ("remarks", "lines", "wrong"),
    [
        # 31 x 8 / 32 are 8 leaves, with 4 spines 12, and the leaf of the other pool
        ("x", ALL + CHASSIS.format(12) + LEAF, False),
        ("x", ALL + CHASSIS.format(9) + LEAF, True),
        # the nodes of one pool exist, and so do its switches
        ("The H200 nodes exist already.", ENGINES + CHASSIS.format(1), False),
        ("x", ENGINES + CHASSIS.format(1), True),
    ],
)
def test_switches_of_a_quote_are_those_of_the_pools_that_it_has(remarks: str, lines: str, wrong: bool) -> None:
    findings = study_text(HALLS.format(remarks=remarks, lines=lines), SETTINGS).findings
    loud = [one for one in findings if one.rule == "fleet-quote-off-bill" and one.severity != "note"]
    assert any("switch" in one.message or "nodes" in one.message for one in loud) == wrong, loud
