"""Severities of roles that wait and of weights that pass through files: what holds at both ends of the range."""

from __future__ import annotations

import pytest

from clusterspec.records import replace
from clusterspec.rules.reinforcement.unbalanced_roles import IDLE, _saved_shares, _severity_of_split
from clusterspec.studies import study_text
from tests.rules.conftest import Check
from tests.settings import SETTINGS

SPLIT = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: NODES, networks: {storage: STORE}}
workload:
  kind: rl
  model: qwen3-32b
  rl: {algorithm: grpo, prompts_per_step: 128, samples_per_prompt: 16, input_tokens: 500,
       output_tokens: {mean: 2500, p99: 7000, max: 8192}, minibatches: 4, max_staleness: AHEAD, placement: split,
       rollout: {nodes: ENGINES, framework: vllm, tp: 4}, weight_sync: {method: METHOD}}
layout: {framework: megatron-core, nodes: TRAINERS, tp: 8, recompute: full}
"""


def split(trainers: int, engines: int, store: str = "{}", method: str = "nccl", ahead: int = 1) -> str:
    text = SPLIT.replace("NODES", str(trainers + engines)).replace("ENGINES", str(engines)).replace("STORE", store)
    return text.replace("TRAINERS", str(trainers)).replace("METHOD", method).replace("AHEAD", str(ahead))


@pytest.mark.parametrize(
    ("trainers", "engines", "severity"),
    [
        (4, 12, "note"),  # the engines are idle for most of the step, but with slower rollout moved nodes save nothing
        (4, 48, "error"),  # of 48 nodes, half are enough at every end of the range
        (16, 1, "error"),  # one node generates for 16, at either end of the range
        (8, 4, "note"),
    ],
)
def test_a_role_that_waits_is_an_error_only_where_both_ends_of_the_range_save_a_quarter(
    trainers: int, engines: int, severity: str, check: Check
) -> None:
    found = [one for one in check(split(trainers, engines), "unbalanced-roles") if one.rule == "unbalanced-roles"]
    assert [str(one.severity) for one in found] == [severity]


def test_saved_shares_are_those_of_faster_and_slower_rollout() -> None:
    study = study_text(split(4, 12), SETTINGS)
    times = study.plan.rl
    assert times is not None
    fast, slow = _saved_shares(times, study.design, 6)
    assert fast > 0.4 > slow > 0
    assert _saved_shares(times, study.design, 0) == pytest.approx((0.0, 0.0))


@pytest.mark.parametrize(
    ("share", "saved", "least", "pool", "severity"),
    [
        (IDLE, 0.5, 0.25, None, "error"),
        (IDLE, 0.5, 0.24, None, "note"),
        (IDLE - 0.01, 0.5, 0.25, None, "warning"),
        (IDLE, 0.35, 0.25, None, "warning"),  # 0.35 of the step, and 0.24 at the low end of the range
        (IDLE, 0.3, 0.25, None, "note"),  # below the half-width of the range
        (0.95, 0.6, 0.6, "serve", "warning"),  # nodes of another pool cannot move
    ],
)
def test_severities_of_a_split_at_their_limits(
    share: float, saved: float, least: float, pool: str | None, severity: str
) -> None:
    times = study_text(split(4, 12), SETTINGS).plan.rl
    assert times is not None
    times = replace(times, rl=replace(times.rl, rollout_pool=pool))
    assert _severity_of_split(times, share, saved, (0.7, least)) == severity
    assert _severity_of_split(times, share, saved, (least, 0.7)) == severity


@pytest.mark.parametrize(
    ("store", "severity"),
    [
        ("{bandwidth: 2 GB/s}", "error"),  # the stated store alone takes most of the step
        ("{bandwidth: 200 GB/s}", "note"),  # the assumed rate of a node takes it
        ("{bandwidth: 200 GB/s, per_client: 1 GB/s}", "error"),  # the same rate as a stated one
        ("{}", "warning"),  # nothing is stated
    ],
)
def test_files_are_an_error_only_where_stated_rates_take_the_time(store: str, severity: str, check: Check) -> None:
    text = split(8, 8, store, "disk")
    found = [one for one in check(text, "weight-sync-exposed") if one.rule == "weight-sync-exposed"]
    assert [str(one.severity) for one in found] == [severity]
