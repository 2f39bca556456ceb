"""Sensitivity of a study to levers: each one step up and down."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import estimate
from clusterspec.exploration.studied import Studied, currency_of
from clusterspec.pipeline import Study
from clusterspec.results.search import LeverRow, SensitivityReport
from clusterspec.search.levers import LEVERS
from clusterspec.search.sensitivity import sensitivity as move_levers


def sensitivity(study: Study) -> SensitivityReport:
    """The effect of each lever one step up and down, with the others as in the spec."""
    plan = study.plan
    seconds = plan.serving.tpot if plan.serving is not None else plan.step_seconds
    memory = plan.memory_bytes
    if study.document is None or seconds is None:
        return SensitivityReport(study.settings.tool, study.input, seconds, memory, None, ())
    studied = Studied(study)
    return SensitivityReport(
        study.settings.tool,
        study.input,
        seconds,
        memory,
        studied.cost(study.design, plan),
        tuple(_lever_rows(studied)),
        currency_of(study),
    )


def _lever_rows(studied: Studied) -> Iterator[LeverRow]:
    design = studied.one.design
    sold = _sold_steps(design, studied.one.settings.catalog)
    for step in move_levers(design, studied.variations, estimate, studied.cost, sold):
        unit = LEVERS[step.key].unit if step.key in LEVERS else ""
        yield LeverRow(
            step.key, step.before, step.after, unit, step.step_time, step.memory, step.cost, step.fits, step.effect
        )


def _sold_steps(design: Design, catalog: Catalog) -> dict[str, tuple[float, ...]]:
    """The scale-up domains that platforms of the accelerator have, and whole domains of nodes."""
    cluster = design.cluster
    if cluster is None:
        return {}
    sold: dict[str, tuple[float, ...]] = {}
    platforms = (catalog.find("platform", id_) for id_ in catalog.ids("platform"))
    domains = {
        float(one.domain)
        for one in platforms
        if isinstance(one, Platform) and one.accelerator == cluster.accelerator.id and one.domain
    }
    if domains:
        sold["scale_up.domain"] = tuple(sorted(domains))
    whole = cluster.scale_up.domain // cluster.accelerators_per_node
    if 1 < whole <= cluster.nodes:
        sold["nodes"] = tuple(float(whole * factor) for factor in LEVERS["nodes"].steps)
    return sold
