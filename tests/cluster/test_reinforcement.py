"""Reinforcement learning as resolved: samples, nodes of the roles, and the packed sequences of the trainer, by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from clusterspec.cluster.model import Workload
from clusterspec.cluster.reinforcement import spread_tokens
from clusterspec.cluster.requests import Lengths
from clusterspec.cluster.samples import Rl
from clusterspec.cost.reinforcement.rollout import rollout_design
from clusterspec.records import replace
from clusterspec.source import dotted_path
from clusterspec.studies import study_text
from tests.cluster.resolving import assumed, resolve_text
from tests.settings import SETTINGS

SAMPLES = {"prompts_per_step": 60, "samples_per_prompt": 8, "input_tokens": 500, "output_tokens": {"mean": 1500}}


def spec_text(nodes: int, layout: Mapping[str, Any], rl: Mapping[str, Any]) -> str:
    """A spec of the roles on the nodes of a cluster."""
    spec = {
        "cluster": {"platform": "dgx-h100", "nodes": nodes},
        "workload": {"kind": "rl", "model": "qwen2.5-7b", "rl": {**SAMPLES, **rl}},
        "layout": {"framework": "megatron-core", "tp": 2, **layout},
    }
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items())


def resolved(
    nodes: int = 8, layout: dict[str, Any] | None = None, **rl: Any
) -> tuple[Rl, Workload, dict[str, Any], set[str]]:
    """The roles, the trainer's workload, the assumptions, and the keys with a problem."""
    design, problems = resolve_text(spec_text(nodes, layout or {}, rl))
    work = design.workload
    assert work is not None and work.rl is not None, problems
    return work.rl, work, assumed(design), {".".join(map(str, one.path)) for one in problems}


NODES: list[tuple[dict[str, Any], dict[str, Any], tuple[str, int, int], set[str]]] = [
    # what the section states, the layout, the placement with nodes of trainer and rollout, and keys with a problem
    ({}, {}, ("colocated", 8, 0), set()),
    ({}, {"nodes": 6}, ("colocated", 6, 0), set()),
    ({"placement": "split"}, {}, ("split", 4, 4), set()),
    ({"placement": "split"}, {"nodes": 3}, ("split", 3, 5), set()),
    ({"rollout": {"nodes": 3}}, {}, ("split", 5, 3), set()),
    ({"rollout": {"nodes": 3}}, {"nodes": 5}, ("split", 5, 3), set()),
    ({"rollout": {"nodes": 4}}, {"nodes": 5}, ("split", 5, 4), {"workload.rl.rollout.nodes"}),
    ({"rollout": {"nodes": 3}, "reference": {"nodes": 2}}, {}, ("split", 3, 3), set()),
    ({"placement": "split", "reward": {"model": "llama-3.1-8b", "nodes": 1}}, {}, ("split", 4, 3), set()),
]


def test_the_roles_share_the_nodes_of_the_cluster() -> None:
    for rl, layout, wanted, keys in NODES:
        found, _, _, problems = resolved(layout=layout, **rl)
        assert (found.placement, found.trainer_nodes, found.rollout_nodes) == wanted, (rl, layout)
        assert problems & {"workload.rl.rollout.nodes", "layout.nodes"} == keys, (rl, layout)


def test_a_job_without_its_samples_has_no_roles() -> None:
    for key in ("prompts_per_step", "input_tokens", "output_tokens"):
        design, problems = resolve_text(spec_text(8, {}, {key: None}))
        assert design.workload is None or design.workload.rl is None
        missing = [dotted_path(one.path) for one in problems if one.rule == "missing-key"]
        assert missing == [f"workload.rl.{key}"]
    each_once, _, taken, _ = resolved(samples_per_prompt=None)
    assert (each_once.samples_per_prompt, each_once.minibatches, each_once.epochs, each_once.turns) == (1, 1, 1, 1)
    assert (taken["workload.rl.samples_per_prompt"], taken["workload.rl.minibatches"]) == (1, 1)


def test_rollout_on_a_pool_has_all_its_nodes_unless_it_states_some() -> None:
    """The trainer has those of its own pool; a pool without nodes has one."""
    for pool, rollout, nodes in (({"nodes": 3}, {}, 3), ({"nodes": 3}, {"nodes": 2}, 2), ({}, {}, 1)):
        rl = SAMPLES | {"rollout": {"pool": "engines"} | rollout}
        spec = {
            "cluster": {"platform": "dgx-h100", "nodes": 8},
            "pools": {"engines": {"platform": "dgx-h100"} | pool},
            "workload": {"kind": "rl", "model": "qwen2.5-7b", "rl": rl},
            "layout": {"framework": "megatron-core", "tp": 2},
        }
        design, _ = resolve_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items()))
        assert design.workload is not None and design.workload.rl is not None
        assert (design.workload.rl.trainer_nodes, design.workload.rl.rollout_nodes) == (8, nodes)


def test_a_colocated_job_has_the_used_nodes_of_each_whole_domain() -> None:
    """36 trays are two racks of 18, of which 16 each are 32 nodes; stated nodes count first."""
    for layout, nodes in (({"nodes_per_domain": 16}, 32), ({"nodes_per_domain": 16, "nodes": 16}, 16), ({}, 36)):
        spec = {
            "cluster": {"platform": "gb200-nvl72", "nodes": 36},
            "workload": {"kind": "rl", "model": "qwen2.5-7b", "rl": SAMPLES},
            "layout": {"framework": "megatron-core", "tp": 2, **layout},
        }
        design, _ = resolve_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items()))
        assert design.workload is not None and design.workload.rl is not None and design.layout is not None
        assert (design.workload.rl.trainer_nodes, design.layout.nodes) == (nodes, nodes)
        engines = rollout_design(design, design.workload.rl, nodes)
        assert engines.layout is not None and engines.layout.nodes_per_domain == design.layout.nodes_per_domain


def test_engines_have_the_weights_of_the_trainer_and_not_of_the_checkpoint() -> None:
    """DeepSeek-V3 is published in fp8 and gpt-oss with experts in mxfp4; the trainer sends bf16 unless stated."""
    for model in ("deepseek-v3", "gpt-oss-120b"):
        for stated, wanted in (({}, "bf16"), ({"parameter_precision": "fp8"}, "fp8")):
            spec = {
                "cluster": {"platform": "dgx-h100", "nodes": 32},
                "workload": {"kind": "rl", "model": model, "rl": SAMPLES | {"rollout": {"tp": 8} | stated}},
                "layout": {"framework": "megatron-core", "tp": 8},
            }
            design, _ = resolve_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in spec.items()))
            assert design.workload is not None and design.workload.rl is not None
            served = rollout_design(design, design.workload.rl, 32).workload
            assert served is not None
            assert (served.parameter_precision, served.expert_parameter_precision) == (wanted, wanted)


JUDGE = {"model": "llama-3.1-8b"}
LACKING = [  # of eight nodes: the roles, the trainer's nodes, nodes found, the key, and the message
    ({"rollout": {"nodes": 8}}, {}, (0, 8), "workload.rl.rollout.nodes",
     "rollout has 8 of the 8 nodes, which leaves none for the trainer"),
    ({"rollout": {"nodes": 9}}, {}, (0, 9), "workload.rl.rollout.nodes",
     "rollout has 9 of the 8 nodes, which leaves none for the trainer"),
    ({"placement": "split"}, {"nodes": 8}, (8, 0), "layout.nodes",
     "the trainer has 8 of the 8 nodes, which leaves none for rollout"),
    ({"rollout": {"nodes": 4}, "reward": JUDGE | {"nodes": 4}}, {}, (0, 4), "workload.rl.rollout.nodes",
     "rollout has 4 and reward 4 of the 8 nodes, which leaves none for the trainer"),
    ({"placement": "split", "reward": JUDGE | {"nodes": 8}}, {}, (0, 0), "workload.rl.reward.nodes",
     "reward has 8 of the 8 nodes, which leaves none for the trainer and rollout"),
    ({"placement": "colocated", "reward": JUDGE | {"nodes": 8}}, {}, (0, 0), "workload.rl.reward.nodes",
     "reward has 8 of the 8 nodes, which leaves none for the trainer"),
]  # fmt: skip


@pytest.mark.parametrize(("rl", "layout", "nodes", "key", "message"), LACKING)
def test_a_role_without_a_node_has_no_figures(
    rl: dict[str, object], layout: dict[str, int], nodes: tuple[int, int], key: str, message: str
) -> None:
    """No node is invented for it: the design has no layout, nor memory or time, and no assumption gives it nodes."""
    study = study_text(spec_text(8, layout, rl), SETTINGS)
    found = study.design.workload
    assert found is not None and found.rl is not None and not found.rl.has_nodes
    assert (found.rl.trainer_nodes, found.rl.rollout_nodes) == nodes
    assert study.design.layout is None and study.plan.memory is None and study.plan.whole_step.seconds is None
    assert [(dotted_path(one.path), one.message) for one in study.errors if one.rule == "keys-disagree"] == [
        (key, message)
    ]
    assert not {"layout.nodes", "workload.rl.rollout.nodes"} & set(assumed(study.design))


@pytest.mark.parametrize(
    ("rl", "layout", "timed"),
    [
        ({"rollout": {"nodes": 7}}, {}, True),  # one node is left for the trainer
        ({"rollout": {"nodes": 4}}, {"nodes": 4}, True),
        ({"rollout": {"nodes": 4}}, {"nodes": 5}, False),  # nine nodes of eight
        ({"placement": "colocated", "reward": JUDGE | {"nodes": 7}}, {}, True),
        ({"placement": "colocated", "reward": JUDGE | {"nodes": 7}}, {"nodes": 2}, False),
    ],
)
def test_roles_with_more_nodes_than_the_cluster_have_no_time(
    rl: dict[str, object], layout: dict[str, int], timed: bool
) -> None:
    study = study_text(spec_text(8, layout, rl), SETTINGS)
    assert (study.plan.whole_step.seconds is not None) is timed
    assert study.plan.refused == (frozenset() if timed else {"keys-disagree"})


def test_two_roles_need_two_nodes() -> None:
    for layout, key, found_nodes in (({}, "workload.rl.placement", (1, 0)), ({"nodes": 1}, "layout.nodes", (1, 0))):
        found, _, _, problems = resolved(nodes=1, layout=layout, placement="split")
        assert (found.trainer_nodes, found.rollout_nodes) == found_nodes
        assert key in problems


def test_an_algorithm_brings_its_models_and_named_ones_are_added() -> None:
    table = {
        "ppo": ["reference", "critic"],
        "grpo": ["reference"],
        "rloo": ["reference"],
        "dapo": [],
    }
    for algorithm, names in table.items():
        found, _, _, _ = resolved(algorithm=algorithm)
        assert [role.name for role in found.roles] == names
        found, _, _, _ = resolved(algorithm=algorithm, reward={"model": "llama-3.1-8b", "offload": True})
        assert [role.name for role in found.roles] == [*names, "reward"]
        assert (found.roles[-1].nodes, found.roles[-1].offload) == (None, True)


def test_weights_travel_by_the_placement_and_in_the_precision_of_the_engines() -> None:
    found, _, said, _ = resolved()
    assert (found.sync.method, found.sync.precision, found.sync.bucket, found.sync.ranks) == (
        "ipc",
        "bf16",
        2.0**30,
        "all",
    )
    assert said["workload.rl.weight_sync.method"] == "ipc"
    found, _, said, _ = resolved(rollout={"nodes": 2, "parameter_precision": "fp8"}, weight_sync={"bucket": "2 GiB"})
    assert (found.sync.method, found.sync.precision, found.sync.bucket) == ("nccl", "fp8", 2.0**31)
    assert said["workload.rl.weight_sync.precision"] == "fp8"


def test_the_trainer_packs_a_whole_number_of_samples_into_a_sequence() -> None:
    """480 samples of 500 + 1500 tokens: a sequence of 8,192 tokens holds 4, and 32 replicas divide 160 sequences of 3,
    filled to 6,000 / 8,192. Of 240 samples, which 32 does not divide, 60 sequences hold 4 each. 7 minibatches do not
    divide 480, and 6 do: 80 samples, 20 sequences of 4 each."""
    longest: dict[str, Any] = {"output_tokens": {"mean": 1500, "max": 7692}}
    rl, work, said, problems = resolved(**longest)
    assert (rl.samples, rl.sample_tokens, work.sequence_length) == (480, 2000, 8192)
    assert (work.global_batch, problems) == (160, set())
    assert work.fill == pytest.approx(6000 / 8192)
    assert work.document_length == pytest.approx(min(6000, 2000 + spread_tokens(rl)))
    assert said["workload.sequence_length"] == 8192
    rl, work, _, problems = resolved(**longest, minibatches=2)
    assert (work.global_batch, problems) == (60, set())
    assert work.fill == pytest.approx(8000 / 8192)
    _, work, _, problems = resolved(**longest, minibatches=7)
    assert (work.global_batch, problems) == (20, {"workload.rl.minibatches"})
    _, work, said, _ = resolved(layout={"tp": 4, "cp": 2}, output_tokens={"mean": 1500, "max": 7690})
    assert work.sequence_length == said["workload.sequence_length"] == 8192, "8,190 padded to a multiple of 4 × 2 × 2"


def test_only_context_parallelism_cuts_a_sequence_into_two_parts_for_each_rank() -> None:
    """500 + 7,686 = 8,186 tokens: 4 ranks of tensor parallelism need a multiple of 4, with cp 2 one of 4 × 2 × 2."""
    for cp, length in ((1, 8188), (2, 8192)):
        _, work, said, _ = resolved(layout={"tp": 4, "cp": cp}, output_tokens={"mean": 1500, "max": 7686})
        assert work.sequence_length == said["workload.sequence_length"] == length


def test_answers_without_a_percentile_are_log_normal() -> None:
    """exp(2.3263 × 0.7 − 0.7² / 2) = 3.9885 times the mean of 1,500 tokens."""
    found, _, said, _ = resolved()
    assert (found.outputs, said["workload.rl.output_tokens.p99"]) == (Lengths(1500, 5982, None), 5982)


def test_a_token_lies_in_a_sample_longer_than_the_mean() -> None:
    """Prompts of one length and answers of 1,000 tokens with a standard deviation of 500: 250,000 / 2,000 = 125."""
    rl, _, _, _ = resolved()
    answers = Lengths(1000, 1000, None)
    even = replace(rl, inputs=Lengths(1000, 1000, None), outputs=answers)
    assert spread_tokens(even) == 0
    spread = replace(rl, inputs=Lengths(1000, 1000, None), outputs=Lengths(1000, 2500, None))
    variance = 1000**2 * spread.outputs.variation
    assert variance > 0
    assert spread_tokens(spread) == pytest.approx(variance / 2000)
    cut = replace(spread, outputs=Lengths(1000, 2500, 100))
    assert spread_tokens(cut) == pytest.approx(min(variance, 50**2) / cut.sample_tokens)


@pytest.mark.parametrize(
    ("layout", "batch"),
    [
        ({"tp": 2}, 160),  # 32 replicas divide 160 sequences of 3 samples, and no 120 of 4
        ({"tp": 2, "pp": 2}, 160),  # 16 do so, too
        ({"tp": 2, "cp": 2}, 160),
        ({"tp": 2, "pp": 4}, 120),  # 8 divide 120
        ({"tp": 2, "cp": 2, "pp": 2}, 120),
        ({"tp": 2, "pp": 4, "micro_batch": 2}, 160),  # 8 replicas with two sequences in each micro-batch
        ({"tp": 8}, 120),
    ],
)
def test_as_many_samples_share_a_sequence_as_the_replicas_divide(layout: dict[str, Any], batch: int) -> None:
    """64 accelerators by tp × cp × pp; 480 samples of 2,000 tokens, of which 8,192 hold 4."""
    _, work, _, _ = resolved(layout=layout, output_tokens={"mean": 1500, "max": 7692})
    assert (work.sequence_length, work.global_batch) == (8192, batch)
