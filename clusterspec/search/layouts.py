"""Layouts found by search, as resolved layouts and as sections of a spec."""

from __future__ import annotations

from clusterspec.cluster.model import Layout
from clusterspec.cluster.stages import even_stages
from clusterspec.cost.batch import layout_of as with_degrees
from clusterspec.records import replace
from clusterspec.search.families import uneven
from clusterspec.search.space import Choice, SearchJob

Section = dict[str, object]
"""The `layout` section of a spec: keys and plain values."""


def layout_of(job: SearchJob, choice: Choice) -> Layout:
    """The layout of a choice; settings that the search does not vary are those of the job's layout."""
    family, pipeline = choice.family, choice.pipeline
    variant = replace(
        job.layout,
        sequence_parallel=family.sequence_parallel,
        sharding=choice.sharding.kind,
        order=choice.order,
        schedule=pipeline.schedule,
        recompute=choice.recompute,
    )
    degrees = {axis: getattr(family, axis) for axis in ("tp", "cp", "ep", "expert_tp", "pp", "dp")}
    degrees |= {"virtual_stages": pipeline.virtual_stages, "micro_batch": pipeline.micro_batch}
    return with_degrees(variant, job.workload, degrees | {"shard_group": choice.sharding.group})


def section_of(job: SearchJob, choice: Choice) -> Section:
    """The `layout` section of a choice: the keys that the search varies, without defaults."""
    family, pipeline = choice.family, choice.pipeline
    section: Section = {"tp": family.tp}
    section |= {axis: getattr(family, axis) for axis in ("cp", "ep", "pp") if getattr(family, axis) > 1}
    if (job.workload.model.experts and family.expert_tp != family.tp) or family.ep > 1:
        section["expert_tp"] = family.expert_tp
    if pipeline.virtual_stages > 1:
        section["virtual_stages"] = pipeline.virtual_stages
    elif family.pp > 1 and pipeline.schedule != "1f1b":
        section["schedule"] = pipeline.schedule
    stages = family.pp * pipeline.virtual_stages
    if uneven(job, stages):
        section["stage_layers"] = list(even_stages(job.workload.model.layers, stages))
    section |= {"micro_batch": pipeline.micro_batch, "sharding": choice.sharding.kind}
    if choice.sharding.kind == "hsdp":
        section["shard_group"] = choice.sharding.group
    if choice.recompute != "none":
        section["recompute"] = choice.recompute
    if family.tp > 1 and not family.sequence_parallel:
        section["sequence_parallel"] = False
    moving = [axis for axis in choice.order if axis != "tp" and getattr(family, axis) > 1]
    if moving != [axis for axis in ("cp", "ep", "dp", "pp") if getattr(family, axis) > 1]:
        section["order"] = list(choice.order)
    return section
