"""The report of a study, alone or compared with others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clusterspec import document as documents
from clusterspec.records import replace
from clusterspec.results.provenance import Provenance
from clusterspec.results.redaction import redact

if TYPE_CHECKING:
    from clusterspec.results.full import FullReport
    from clusterspec.results.search import SearchReport, SensitivityReport

from clusterspec.pipeline.outputs import bill, cost, estimate, influences, planned_tests
from clusterspec.pipeline.studies import Study, study_text

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
    levers_of: Callable[[Study], SensitivityReport] | None = None,
    plans_of: Callable[[Study], SearchReport | None] | None = None,
) -> FullReport:
    """A report of a design, compared with others.

    ``audience`` defaults to that of the spec, else internal. Without ``live`` the report lacks the tables that only
    interactive figures use; ``levers_of`` returns the sensitivities of the reported design, ``plans_of`` other plans
    of one that serves.
    """
    written = study.design.spec.document.audience if study.design.spec.document else None
    readers = audience or written or "internal"
    shown = tender(study) if readers == "tender" else study
    others = [tender(other) if readers == "tender" else other for other in against]
    whole = _report(shown, kind, readers, live=live)
    if levers_of is not None and kind == "design":
        whole = replace(whole, sensitivity=shown.part("sensitivity", lambda: levers_of(shown), None))
    if plans_of is not None and kind == "design" and shown.plan.serving is not None:
        whole = replace(whole, plans=shown.part("other plans", lambda: plans_of(shown), None))
    whole = replace(whole, against=tuple(_compared(other, kind, readers) for other in others))
    if shown is not study:
        study.failures.extend(shown.failures)
    return whole


def _without_folders(study: Study) -> Provenance:
    """The provenance without folder names of the author's machine."""
    return Provenance(study.document, study.settings.catalog, folders=False)


def _compared(study: Study, kind: str, audience: str) -> FullReport:
    """The part of a report that a comparison needs."""
    from clusterspec.results.areas import areas
    from clusterspec.results.full import FullReport
    from clusterspec.results.machine import machine
    from clusterspec.results.reliability import reliability

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
    from clusterspec.results.kernels import roofline
    from clusterspec.results.layout_grid import layout_grid
    from clusterspec.results.pod import pod
    from clusterspec.results.stage_memory import stage_memory
    from clusterspec.results.survival import survival
    from clusterspec.results.tiers import tiers

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
        stages=study.part("stage memory", lambda: stage_memory(study.plan), ()),
        roofline=study.part("roofline", lambda: roofline(study.plan), None),
        layouts=study.part("layouts", lambda: layout_grid(study.plan), None),
        pod=study.part("pod", lambda: pod(cluster, power.nodes_per_rack if power else None), None),
        survival=study.part("survival", lambda: survival(study.design, live=live), None),
    )
