"""Roles on separate nodes that take turns are judged by what sharing the nodes, or running ahead, would save."""

from __future__ import annotations

import pytest

from clusterspec.studies import study_text
from tests.rules.conftest import Check
from tests.settings import SETTINGS

SPLIT = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload:
  kind: rl
  model: qwen2.5-32b
  rl: {algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 8, input_tokens: 400,
       output_tokens: {mean: 6000, LENGTHS},
       minibatches: 4, max_staleness: 0, placement: split, rollout: {nodes: 4, tp: 4}}
layout: {framework: megatron-core, nodes: 4, tp: 4, pp: 2, recompute: full}
"""
EVEN = SPLIT.replace("LENGTHS", "p99: 6600, max: 7000")
LONG = SPLIT.replace("LENGTHS", "p99: 24000, max: 32000").replace("qwen2.5-32b", "qwen2.5-7b").replace(" pp: 2,", "")
POOLS = """clusterspec: 1
pools: {train: {platform: dgx-h100, nodes: 4}, serve: {platform: dgx-h100, nodes: 4}}
pool_links: [{between: [train, serve], bandwidth: 1.6 Tb/s, latency: 10 us}]
jobs:
  rl:
    pool: train
    workload:
      kind: rl
      model: qwen2.5-32b
      rl: {algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 8, input_tokens: 400,
        output_tokens: {mean: 6000, p99: 6600, max: 7000},
        minibatches: 4, max_staleness: 0, placement: split, rollout: {pool: serve, nodes: 4, tp: 4}}
    layout: {framework: megatron-core, nodes: 4, tp: 4, pp: 2, recompute: full}
"""


@pytest.mark.parametrize(
    ("text", "severity", "colocated"),
    [
        (EVEN, "error", True),  # half of the machine always waits: on all nodes the roles take about half of the step
        (LONG, "warning", True),  # the longest samples take as long on twice the nodes; they hide behind one step ahead
        (POOLS, "warning", False),  # of two machines, none can take both roles; running ahead changes the samples
    ],
)
def test_roles_in_turn_are_judged_by_what_the_remedy_saves(
    text: str, severity: str, colocated: bool, check: Check
) -> None:
    found = [one for one in check(text, "unbalanced-roles") if one.rule == "unbalanced-roles"]
    assert [(str(one.severity), one.path[-1]) for one in found] == [(severity, "max_staleness")]
    assert "max_staleness: 1" in found[0].help and ("colocated" in found[0].help) is colocated


def test_the_nodes_that_wait_are_half_of_the_step_of_even_roles() -> None:
    """Rollout and training of about the same length on four nodes each take about their mean on eight."""
    times = study_text(EVEN, SETTINGS).plan.rl
    assert times is not None
    assert times.step == pytest.approx(times.rollout.batch + times.training_seconds + times.sync.seconds + times.switch)
    together = study_text(EVEN.replace("split", "colocated").replace("{nodes: 4, tp: 4}", "{tp: 4}").replace(
        "nodes: 4, ", "nodes: 8, "), SETTINGS).plan.rl  # fmt: skip
    assert together is not None and together.step / times.step < 0.7
