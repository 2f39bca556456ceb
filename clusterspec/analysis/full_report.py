"""The report of a study: its estimate, bill and cost with the tables of its kind, alone or compared with others."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec import document as documents
from clusterspec.analysis.acceptance import planned_tests
from clusterspec.analysis.outputs import bill, cost, estimate, influences
from clusterspec.records import replace
from clusterspec.results.full import FullReport
from clusterspec.results.provenance import Provenance
from clusterspec.results.redaction import redact
from clusterspec.studies.study import Study, study_text

TENDER = "tender.yaml"
"""The name of a redacted spec, whatever file it was made from."""


def tender(study: Study) -> Study:
    """The study of the redacted spec, from which no confidential value of a tender can be computed."""
    value = redact(study.document.value if study.document else None, study.spec.broken)
    return study_text(documents.dump(value), study.settings, TENDER, study.folder)


def report(
    study: Study,
    kind: str,
    audience: str | None = None,
    against: Sequence[Study] = (),
    *,
    live: bool = True,
) -> FullReport:
    """A report of a design, compared with others.

    ``audience`` defaults to that of the spec, else internal. Without ``live`` the report lacks the tables that only
    interactive figures use.
    """
    written = study.design.spec.document.audience if study.design.spec.document else None
    readers = audience or written or "internal"
    shown = tender(study) if readers == "tender" else study
    others = [tender(other) if readers == "tender" else other for other in against]
    whole = replace(
        _report(shown, kind, readers, live=live), against=tuple(_compared(other, kind, readers) for other in others)
    )
    if shown is not study:
        study.failures.extend(shown.failures)
    return whole


def _without_folders(study: Study) -> Provenance:
    """The provenance without folder names of the author's machine."""
    return Provenance(study.document, study.settings.catalog, folders=False)


def _compared(study: Study, kind: str, audience: str) -> FullReport:
    """The part of a report that a comparison needs."""
    from clusterspec.analysis.machine import machine
    from clusterspec.analysis.training import reliability
    from clusterspec.analysis.verdict import areas
    from clusterspec.results.full import FullReport

    cluster, counted = study.design.cluster, bill(study)
    power = study.design.spec.cluster.power if study.design.spec.cluster else None
    drawn = study.part("machine", lambda: machine(cluster, counted.fabric, power) if cluster else None, None)
    return FullReport(
        kind=kind,
        audience=audience,
        today=study.settings.today,
        text=study.source.text,
        estimate=replace(estimate(study), provenance=_without_folders(study)),
        bill=counted,
        cost=cost(study),
        areas=study.part("areas", lambda: areas(study.plan, counted.bill, drawn.rack if drawn else None), ())
        if cluster
        else (),
        machine=drawn,
        reliability=study.part("reliability", lambda: reliability(study.plan), None),
    )


def _report(study: Study, kind: str, audience: str, *, live: bool) -> FullReport:
    """The report of one design, part by part."""
    from clusterspec.analysis.levers import sensitivity
    from clusterspec.analysis.machine import pod, tiers
    from clusterspec.analysis.serving_search import other_plans
    from clusterspec.analysis.survival import survival
    from clusterspec.analysis.training import layout_grid, roofline, stage_memory

    cluster = study.design.cluster
    power = study.design.spec.cluster.power if study.design.spec.cluster else None
    whole = replace(
        _compared(study, kind, audience),
        tiers=study.part("tiers", lambda: tiers(cluster, _without_folders(study)) if cluster else (), ()),
        tests=study.part("acceptance tests", lambda: planned_tests(study), ()),
        influences=influences(study),
    )
    if kind != "design" or cluster is None:
        return whole
    return replace(
        whole,
        sensitivity=study.part("sensitivity", lambda: sensitivity(study), None),
        plans=study.part("other plans", lambda: other_plans(study), None) if study.plan.serving else None,
        stages=study.part("stage memory", lambda: stage_memory(study.plan), ()),
        roofline=study.part("roofline", lambda: roofline(study.plan), None),
        layouts=study.part("layouts", lambda: layout_grid(study.plan), None),
        pod=study.part("pod", lambda: pod(cluster, power.nodes_per_rack if power else None), None),
        survival=study.part("survival", lambda: survival(study.design, live=live), None),
    )
