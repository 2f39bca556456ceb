"""Sensitivity of a study to levers: each one step up and down."""

from __future__ import annotations

from collections.abc import Iterator

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
    for step in move_levers(studied.one.design, studied.variations, estimate, studied.cost):
        unit = LEVERS[step.key].unit if step.key in LEVERS else ""
        yield LeverRow(
            step.key, step.before, step.after, unit, step.step_time, step.memory, step.cost, step.fits, step.effect
        )
