"""Samples of a step of reinforcement learning and nodes of its roles, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.legality import _has_indivisible_rl
from clusterspec.cluster.reinforcement import _divisors_text, dividing_minibatches
from clusterspec.cluster.requests import Lengths
from clusterspec.cluster.samples import Rl, Role, WeightSync
from clusterspec.records import replace
from tests.cluster.resolving import clean

MACHINE = "cluster: {platform: dgx-h100, nodes: 4}\n"

SYNC = WeightSync("nccl", "bf16", 1e9)
INPUTS, OUTPUTS = Lengths(500, 900, None), Lengths(1500, 4000, 6000)
ROLES = (Role("reference", None, 2, False), Role("critic", None, None, True), Role("reward", "a", 3, False, "other"))
STEP = Rl(
    *("grpo", 60, 8, INPUTS, OUTPUTS, 2, 1.5, 4, 3, 1, "split", 5, 4, ROLES, SYNC),
)


def test_a_step_has_the_samples_of_its_prompts_each_with_prompt_and_output() -> None:
    assert (STEP.samples, STEP.updates) == (60 * 8, 4 * 3)
    assert (STEP.sample_tokens, STEP.step_tokens) == (2000, 480 * 2000)
    assert STEP.longest_sample == 900 + 6000, "the 99th percentile of prompts, and where outputs are cut"
    assert replace(STEP, inputs=replace(INPUTS, most=700)).longest_sample == 6700
    assert replace(STEP, outputs=replace(OUTPUTS, most=None)).longest_sample == 4900


def test_a_role_has_nodes_of_the_cluster_or_of_another_pool_or_those_of_the_trainer() -> None:
    assert [role.name for role in STEP.own_roles] == ["reference"]
    assert [role.name for role in STEP.roles_on_separate_nodes] == ["reference", "reward"]
    assert STEP.nodes == 5 + 4 + 2
    assert replace(STEP, rollout_pool="other").nodes == 5 + 2
    assert STEP.role("reward") == ROLES[2] and STEP.role("actor") is None


@pytest.mark.parametrize(
    ("changes", "has_nodes"),
    [
        ({}, True),
        ({"trainer_nodes": 0}, False),
        ({"rollout_nodes": 0}, False),
        ({"rollout_nodes": 0, "placement": "partial"}, False),
        ({"rollout_nodes": 0, "placement": "colocated"}, True),
        ({"rollout_nodes": 0, "rollout_pool": "other"}, True),
        ({"trainer_nodes": 0, "placement": "colocated"}, False),
    ],
)
def test_trainer_and_rollout_apart_from_it_need_a_node_each(changes: dict[str, Any], has_nodes: bool) -> None:
    assert replace(STEP, **changes).has_nodes is has_nodes


@pytest.mark.parametrize(
    ("minibatches", "divides", "replicas", "told"),
    [
        (7, 6, 1, "`minibatches: 6` or 8"),
        (7, 6, 16, "`minibatches: 6` or 10"),  # 480 / 8 = 60 samples are not even over 16 replicas, 48 are
        (7, 6, 7, "`minibatches: 6` or 8"),  # nothing is even over 7
        (9, 8, 240, "`minibatches: 2`"),  # of 480 samples 1 and 2 minibatches alone have 240 for each
        (481, 480, 1, "`minibatches: 480`"),
        (4, 4, 1, "`minibatches: 3` or 5"),
    ],
)
def test_minibatches_next_to_a_number_divide_the_samples(
    minibatches: int, divides: int, replicas: int, told: str
) -> None:
    assert dividing_minibatches(replace(STEP, minibatches=minibatches)) == divides
    assert _divisors_text(480, minibatches, replicas) == told


def test_a_run_has_as_many_whole_steps_as_train_its_tokens() -> None:
    """A step of 256 sequences of 4,096 tokens has 1,048,576; one of reinforcement learning its samples once."""
    work = clean(f"{MACHINE}workload: {{model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}}\n").workload
    assert work is not None
    for tokens, steps in ((None, None), (1.0, 1), (10 * 2.0**20, 10), (10 * 2.0**20 + 1, 11)):
        assert replace(work, tokens=tokens).steps_of_run == steps, tokens
    samples = replace(work, rl=STEP)
    assert samples.tokens_of_step == 960_000 / 12
    for tokens, steps in ((960_000.0, 1), (1_000_000.0, 2), (9_600_000.0, 10)):
        assert replace(samples, tokens=tokens).steps_of_run == steps, tokens


@pytest.mark.parametrize(
    ("nodes", "minibatches", "unfit"),
    [
        (11, 4, False),  # 5 of the trainer, 4 of rollout and 2 of the reference
        (10, 4, True),
        (5, 4, True),
        (4, 4, False),  # fewer than those of the trainer, which another rule reports
        (11, 7, True),  # 480 samples in 7 minibatches
    ],
)
def test_roles_have_nodes_of_the_cluster_and_minibatches_divide_the_samples(
    nodes: int, minibatches: int, unfit: bool
) -> None:
    design = clean(
        f"{MACHINE}workload: {{model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}}\nlayout: {{tp: 2}}\n"
    )
    assert design.cluster is not None and design.workload is not None and design.layout is not None
    cluster = replace(design.cluster, nodes=nodes)
    work = replace(design.workload, rl=replace(STEP, minibatches=minibatches))
    assert _has_indivisible_rl(replace(design, cluster=cluster, workload=work), design.layout) is unfit
    assert not _has_indivisible_rl(design, design.layout)
