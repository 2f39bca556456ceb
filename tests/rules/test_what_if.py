"""Estimates of changed designs that rules compare with: the bounds of where another sharding is tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.what_if import WhatIf, fastest_fitting
from clusterspec.studies import study_text
from tests.analysis.jobs import JOBS
from tests.settings import SETTINGS

SERVING = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {concurrency: 16, input_tokens: 1000, output_tokens: 200}}
layout: {framework: vllm, tp: 2}
"""
ROLLOUT = (Path(__file__).resolve().parents[2] / "examples" / "qwen3-30b-grpo.yaml").read_text("utf-8")
RUN = """clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: {per}
  nodes: {nodes}
  scale_out: {{technology: infiniband-hdr, nics_per_node: 1, nic_bandwidth: 100 Gb/s}}
workload: {{model: llama-3.2-1b, sequence_length: 4096, global_batch: 512}}
layout: {{framework: fsdp, sharding: {sharding}, tp: {tp}, micro_batch: 1}}
"""


@pytest.mark.parametrize(
    ("per", "nodes", "tp", "sharding", "group"),
    [
        (2, 8, 1, "fsdp", 2),  # the smallest shard group
        (8, 2, 1, "fsdp", 8),  # the fewest domains
        (4, 4, 2, "fsdp", 2),
        (8, 2, 8, "fsdp", None),  # a group of one rank in each domain
        (8, 1, 1, "fsdp", None),  # inside one domain
        (8, 2, 1, "zero1", None),
    ],
)
def test_hsdp_is_tried_where_fsdp_crosses_domains_of_several_ranks(
    per: int, nodes: int, tp: int, sharding: str, group: int | None
) -> None:
    study = study_text(RUN.format(per=per, nodes=nodes, tp=tp, sharding=sharding), SETTINGS)
    design, written = study.design, study.design.spec.layout
    assert design.layout is not None and written is not None
    found = WhatIf(design, Legality(design, design.layout, written), study.plan, study.plan).hsdp
    if group is None:
        assert found is None
    else:
        assert found is not None and study.plan.step_seconds is not None
        assert found.changes == {"sharding": "hsdp", "shard_group": group}
        # 32 gathers of each of 1.2 billion weights over the NIC become one reduction of their gradients
        assert found.step_seconds < study.plan.step_seconds / 4


def test_only_layouts_that_fit_are_timed_and_each_as_an_estimate_of_its_own_has_it() -> None:
    """70 billion parameters on 64 H100 do not fit with every pipeline and recomputation."""
    text = RUN.format(per=8, nodes=8, tp=8, sharding="zero1").replace("llama-3.2-1b", "llama-3.1-70b")
    study = study_text(text.replace("framework: fsdp", "framework: megatron-core"), SETTINGS)
    design, written = study.design, study.design.spec.layout
    assert design.layout is not None and written is not None
    what_if = WhatIf(design, Legality(design, design.layout, written), study.plan, study.plan)
    tried = what_if.estimated_alternatives({"pp": pp, "recompute": kept} for pp in (1, 2) for kept in ("none", "full"))
    fitting = fastest_fitting(tried)
    assert [each for each in tried if "plan" in vars(each)] == [each for each in tried if each.fits]
    assert 0 < len(fitting) < len(tried)
    for each in tried:
        alone = what_if.with_layout(**each.changes)
        assert alone is not None
        assert (each.plan.step_seconds, each.memory_bytes) == (alone.step_seconds, alone.memory_bytes)


@pytest.mark.parametrize("job", [*JOBS.values(), SERVING, ROLLOUT])
def test_alternatives_that_save_enough_are_those_of_all_that_fit(job: str) -> None:
    """Whatever the share: memory and times do not depend on which of them is computed first."""
    facts = study_text(job, SETTINGS).facts()
    what_if, now = facts.what_if, facts.what_if.step_time
    changes: list[dict[str, object]] = [{"tp": tp, "pp": pp} for tp in (1, 2, 4) for pp in (1, 2)]
    changes += [{"recompute": kept} for kept in ("none", "full")]
    whole = what_if.fitting_alternatives(changes)
    assert whole or now is None or job == SERVING
    for least in (-10.0, 0.0, 0.02, 0.25):
        kept = [one for one in whole if now and 1 - one.step_seconds / now >= least]
        found = what_if.faster_alternatives(changes, least)
        assert [one.words for one in found] == [one.words for one in kept]
        for one, same in zip(found, kept, strict=True):
            assert one.plan == same.plan and one.stored == same.stored
            assert one.plan.memory_bytes == same.plan.memory_bytes == one.memory_bytes
            assert what_if.comparison_text(one) == what_if.comparison_text(same)


def test_the_same_change_is_estimated_once_and_another_change_is_another_plan() -> None:
    """Rules that ask for the same layout share its plan; each plan is that of a spec which states the change."""
    text = RUN.format(per=8, nodes=2, tp=2, sharding="zero1").replace("framework: fsdp", "framework: megatron-core")
    what_if = study_text(text, SETTINGS).facts().what_if
    none, full = what_if.with_layout(recompute="none"), what_if.with_layout(recompute="full")
    assert none is not None and what_if.with_layout(recompute="none") is none
    assert full is not None and what_if.with_layout(recompute="full") is full
    for plan, kept in ((none, "none"), (full, "full")):
        written = study_text(text.replace("micro_batch: 1", f"micro_batch: 1, recompute: {kept}"), SETTINGS).plan
        assert (plan.step_seconds, plan.memory_bytes) == (written.step_seconds, written.memory_bytes)
    assert full.memory_bytes is not None and none.memory_bytes is not None and full.memory_bytes < none.memory_bytes
