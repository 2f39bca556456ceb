"""A study with variations of its spec: other layouts, machines and workloads."""

from __future__ import annotations

from functools import cached_property

from clusterspec import pipeline
from clusterspec.cluster.model import Design
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term
from clusterspec.document import Document
from clusterspec.finding import Severity
from clusterspec.pipeline import Study
from clusterspec.procurement.bill import Bill, bill
from clusterspec.procurement.cost import Cost, cost
from clusterspec.results.search import Section
from clusterspec.search.space import SearchJob
from clusterspec.search.variation import Variations, changed
from clusterspec.source import Path as KeyPath

KEPT_KEYS = (
    "framework",
    "software",
    "software_year",
    "nodes",
    "nodes_per_domain",
    "cp_method",
    "offload",
    "optimizer_states",
    "gradient_compression",
    "overlap",
    "dispatcher",
)
"""Keys of the spec's own layout that every layout of a search keeps."""
POOLS: KeyPath = ("workload", "serving", "disaggregated")
"""The separate engines of a serving plan."""


class Studied:
    """A study with the variations of its document."""

    def __init__(self, one: Study) -> None:
        self.one = one
        assert one.document is not None
        self.variations = Variations(one.document, self._design_of)
        self._bills: dict[str, Bill] = {}

    def _design_of(self, document: Document) -> Design:
        return pipeline.study_document(document, self.one).design

    def with_layout(self, section: Section | None) -> Document:
        """The document with another layout section; None leaves it out."""
        assert self.one.document is not None
        layout = None if section is None else whole_section(self.one, section)
        return changed(self.one.document, {("layout",): layout})

    @cached_property
    def machine_errors(self) -> frozenset[str]:
        """Rules that find an error in the spec without any layout."""
        return errors_of(pipeline.study_document(self.with_layout(None), self.one))

    def cost(self, design: Design, plan: Plan) -> float | None:
        """The cost of one run, else of the term, or of a million output tokens; None where prices are missing."""
        if design.spec.procurement is None or not design.spec.procurement.prices or design.cluster is None:
            return None
        key = repr((design.cluster.nodes, design.cluster.spare_nodes, design.cluster.scale_out))
        if key not in self._bills:
            self._bills[key] = bill(design)
        found = cost(design, plan, self._bills[key])
        term = _term(plan, found) if found else None
        return term.value if term else None


def _term(plan: Plan, cost: Cost) -> Term | None:
    """The cost in search results: per million output tokens for serving; of the run, else of the term, for training."""
    return cost.per_million_tokens if plan.serving is not None else cost.per_run or cost.total


def errors_of(study: Study) -> frozenset[str]:
    """Rules that find an error in a study."""
    return frozenset(found.rule for found in study.checked.findings if found.severity is Severity.ERROR)


def currency_of(study: Study) -> str:
    """The currency of the prices of a study; empty if it states none."""
    return (study.spec.procurement.currency if study.spec.procurement else None) or ""


def present_section(study: Study) -> Section:
    """The layout section of the spec; empty if there is none."""
    written = study.document.value.get("layout") if study.document and isinstance(study.document.value, dict) else None
    return dict(written) if isinstance(written, dict) else {}


def whole_section(study: Study, section: Section) -> dict[str, object]:
    """A layout section with the settings of the spec that search does not vary."""
    kept = {key: value for key, value in present_section(study).items() if key in KEPT_KEYS}
    return kept | dict(section)


def job_of(design: Design) -> SearchJob | None:
    """The input of a search from the design; None if it lacks a cluster, a training workload or a layout."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or workload.kind != "train":
        return None
    return SearchJob(cluster, workload, layout)
