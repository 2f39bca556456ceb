"""Memory of a batch: columns of layouts give what each layout gives by itself."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import fields, replace
from typing import Any

import pytest

from clusterspec.cost.layers import LayerSet, stage_groups
from clusterspec.cost.memory import Job, Rank
from clusterspec.cost.memory import fullest as memory
from clusterspec.cost.parameters import Share
from tests.cost.memory.designs import design, experts, model
from tests.effort import ALL_CASES, each, sampled

np = pytest.importorskip("numpy")

LATENT = experts(latent_q=256, latent_kv=128, latent_rope=32, kv_heads=16)
MODELS = {"dense": model(), "experts": experts(), "latent": LATENT}
DEGREES = (
    "ranks",
    "tp",
    "cp",
    "ep",
    "expert_tp",
    "pp",
    "dp",
    "expert_dp",
    "shard_group",
    "micro_batch",
    "micro_batches",
)
"""The numbers of a layout; everything else is a word that groups a batch."""


def families() -> list[tuple[str, dict[str, Any]]]:
    words = [
        {"framework": name, "sharding": sharding, "recompute": recompute, "software_year": year}
        for name in ("megatron-core", "megatron-deepspeed", "torchtitan", "maxtext", "internevo")
        for sharding in ("none", "zero1", "zero2", "fsdp")
        for recompute, year in (("none", 2024), ("selective", 2026), ("full", 2023), (("norm", "expert"), 2026))
    ]
    return [(name, each) for name in MODELS for each in words]


def job_and_ranks(of: str, cut: dict[str, Any]) -> tuple[Job, list[Rank]]:
    whole = design(MODELS[of], **cut)
    assert whole.workload and whole.layout
    job = Job.of(whole, whole.workload, whole.layout)
    groups = stage_groups(job.model, whole.layout)
    return job, [Rank.of(job, group.first, group.chunks) for group in groups]


def column(values: list[float]) -> Any:
    return np.asarray(values, dtype=float)


def batch(jobs: list[Job], ranks: list[Rank]) -> tuple[Job, Rank]:
    """One job and one rank whose numbers are columns."""
    degrees: dict[str, Any] = {name: column([getattr(job.layout, name) for job in jobs]) for name in DEGREES}
    share = {field.name: column([getattr(rank.share, field.name) for rank in ranks]) for field in fields(Share)}
    rank = replace(
        ranks[0],
        share=Share(**share),
        passes={kind: column([each.passes[kind] for each in ranks]) for kind in LayerSet},
        in_flight=column([each.in_flight for each in ranks]),
        inputs=column([each.inputs for each in ranks]),
        outputs=column([each.outputs for each in ranks]),
        head=column([each.head for each in ranks]),
    )
    return replace(jobs[0], layout=replace(jobs[0].layout, **degrees)), rank


@each(("of", "words"), sampled(families(), 2 * len(list(families()))))
def test_a_column_of_layouts_gives_what_each_gives(of: str, words: dict[str, Any]) -> None:
    chance = random.Random(str((of, words)))
    rows: dict[frozenset[LayerSet], list[tuple[Job, Rank]]] = defaultdict(list)
    for _ in range(8 if ALL_CASES else 2):
        tp = chance.choice([1, 2, 4])
        cut = {"tp": tp, "cp": chance.choice([1, 2]), "pp": chance.choice([1, 2, 4]), "dp": chance.choice([1, 2, 8])}
        cut |= {"sequence_parallel": True, "ep": chance.choice([1, 2, 4]), "expert_tp": chance.choice([1, tp])}
        job, ranks = job_and_ranks(of, {**words, **cut, "micro_batches": chance.choice([1, 3, 8])})
        for rank in ranks:
            rows[rank.kinds].append((job, rank))
    for same in rows.values():
        jobs, ranks = [job for job, _ in same], [rank for _, rank in same]
        each = [memory.training_memory(job, rank).total for job, rank in same]
        together = memory.training_memory(*batch(jobs, ranks)).total
        assert np.asarray(together).tolist() == pytest.approx(each, rel=1e-12)
