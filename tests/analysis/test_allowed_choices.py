"""The alternatives of assumptions: choices that a design may have, with which `check` finds no error at their key."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec.analysis.levers.influence import OF_QUESTION, other_choices
from clusterspec.analysis.outputs import influences
from clusterspec.analysis.searches.allowed_choices import CHOICE_RULES, choice_filter
from clusterspec.finding import Severity
from clusterspec.rules.pages import is_rule_name, module
from clusterspec.studies import Study, study_text, variation
from tests.effort import each, sampled, steps, thorough
from tests.settings import SETTINGS

TRAINIUM = """clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}
layout: {framework: neuronx-distributed, tp: 32, pp: 8, micro_batch: 1}
"""
A3_MEGA = """clusterspec: 1
cluster: {platform: gcp-a3-mega, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2, pp: 1, micro_batch: 1}
"""
INSTINCT = """clusterspec: 1
cluster: {platform: azure-nd-mi300x-v5, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {framework: torchtitan, sharding: hsdp, shard_group: 8, micro_batch: 2}
"""
TPU = """clusterspec: 1
cluster: {platform: tpu-v6e, nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {framework: maxtext, sharding: fsdp, recompute: full, micro_batch: 2}
"""
INTERLEAVED = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 4, pp: 4, virtual_stages: 5, micro_batch: 1}
"""
CALLS = 8_000
"""Calls of functions for each assumption: some three estimates and the rules of choices, where a check takes 20,000."""
SPECS = {"trainium": TRAINIUM, "a3": A3_MEGA, "instinct": INSTINCT, "tpu": TPU, "interleaved": INTERLEAVED}
PLUGIN, PRECISION = "cluster.scale_out.collective_plugin", "workload.precision"
CHOICES: list[tuple[str, str, str, bool]] = [
    ("trainium", PLUGIN, "nccl-tcpx", False),  # of Google's GPUs
    ("trainium", PLUGIN, "neuron", True),
    ("a3", PLUGIN, "aws-ofi-nccl", False),  # of AWS's network
    ("a3", PLUGIN, "nccl-fastrak", True),
    ("instinct", PRECISION, "int8", False),  # most gradients round to zero
    ("instinct", PRECISION, "fp8", True),
    ("instinct", PRECISION, "nvfp4", False),  # of another vendor
    ("instinct", "workload.attention", "plain", True),  # takes more memory, which the row says
    ("interleaved", "layout.schedule", "gpipe", False),  # runs one stage on each rank
    ("interleaved", "layout.schedule", "dualpipe", False),  # Megatron Core has none
    ("interleaved", "layout.sharding", "none", True),
]


@cache
def study(name: str) -> Study:
    return study_text(SPECS[name], SETTINGS)


@each(("name", "key", "choice", "allowed"), CHOICES)
def test_a_choice_is_allowed_unless_a_rule_rejects_it_at_any_cost(
    name: str, key: str, choice: str, allowed: bool
) -> None:
    assert choice_filter(study(name))(key, choice) is allowed


@thorough
@pytest.mark.parametrize("name", sampled(SPECS, 4))
def test_no_listed_alternative_draws_an_error_at_its_key_but_for_memory(name: str) -> None:
    one = study(name)
    found = influences(one)
    assert any(each.assumption[0] == "workload.attention" for each in found)
    for influence in found:
        if isinstance(influence.against, str):
            path = tuple(influence.assumption[0].split("."))
            stated = variation.rewritten_study(one, {path: influence.against}).findings
            errors = {each.rule for each in stated if each.path == path and each.severity is Severity.ERROR}
            assert errors <= {"activations-exceed-memory", "states-exceed-memory"}, influence


def test_gradients_are_not_summed_in_eight_bits_or_fewer() -> None:
    """On 128 TPU v6e gradients in fp4 would save 1.3 % of the step, and vanish."""
    listed = {each.assumption[0]: each.against for each in influences(study("tpu"))}
    assert listed.get("workload.gradient_precision") in {None, "bf16", "fp16"}
    assert listed[PRECISION] == "int8", "MaxText trains in int8"


@each("name", sampled(SPECS, 4))
def test_no_other_rule_rejects_a_choice_whatever_it_costs(name: str) -> None:
    one = study(name)
    open_keys = [(key, value) for key, value, _ in one.design.assumptions if isinstance(value, str)]
    for key, value in open_keys:
        path = tuple(key.split("."))
        for choice in other_choices(one.design, key, value) if key not in OF_QUESTION else ():
            stated = variation.rewritten_study(one, {path: choice}).problems_and_fault[0]
            found = {each.rule for each in stated if each.path == path and each.severity is Severity.ERROR}
            at_any_cost = {rule for rule in found if is_rule_name(rule) and not _is_of_cost(rule)}
            assert at_any_cost <= CHOICE_RULES, (key, choice)


@thorough
@each("name", sampled(SPECS, 4))
def test_influences_take_no_whole_check_for_each_alternative(name: str) -> None:
    influences(study(name))
    again = study_text(SPECS[name], SETTINGS)
    assert len(again.plan.assumptions) > 60
    assert again.checked.fault is None
    steps(lambda: influences(again), most=CALLS * len(again.plan.assumptions))


def _is_of_cost(rule: str) -> bool:
    """Whether a rule is an error only where a design exceeds memory or loses much time."""
    usual = module(rule).RULE
    return bool(usual.severity is not Severity.ERROR or usual.group == "memory")
