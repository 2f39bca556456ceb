"""Explanation of a name of an estimate: a term, a headline figure, a flow, or an assumption."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.term import Term
from clusterspec.report.assumed import value_text
from clusterspec.report.grid import grid
from clusterspec.report.ink import PLAIN, Ink, wrapped
from clusterspec.report.step_parts import breakdown
from clusterspec.results import EstimateReport
from clusterspec.results.estimate_json import terms
from clusterspec.results.headline import headline, sent_term
from clusterspec.units import display, percent

ALIASES = {"step time": "step", "one optimizer step": "step"}
"""Printed names of terms that have another one."""
SHARES = frozenset({"MFU", "HFU"})


def names(report: EstimateReport) -> list[str]:
    """The names that can be explained, without duplicates: terms, headline figures, flows, assumptions."""
    found = [term.name for term in explainable(report)]
    return list(dict.fromkeys([*found, *(key for key, _, _ in report.plan.assumptions)]))


def explainable(report: EstimateReport) -> Iterator[Term]:
    """All terms, starting with the headline figures."""
    yield from headline(report.plan)
    for root in terms(report.plan):
        yield from root.walk()
    for row in report.plan.communication:
        yield sent_term(row)


def explain(report: EstimateReport, name: str, ink: Ink = PLAIN) -> str | None:
    """The explanation of a printed name, with formula, inputs and their origins; None for an unknown name.

    An axis (``tp``) stands for all its communication.
    """
    wanted = _folded(name)
    wanted = ALIASES.get(wanted, wanted)
    found = [term for term in explainable(report) if _folded(term.name) == wanted]
    found = found[:1] or [sent_term(row) for row in report.plan.communication if _folded(row.axis) == wanted]
    if found:
        return "\n".join(explained(term, report, ink) for term in found)
    for key, value, why in report.plan.assumptions:
        if wanted in (_folded(key), _folded(key.rpartition(" ")[2])):
            lines = wrapped(why, ink.measure, "  assumed  ", " " * 11)
            return "\n".join([f"{ink.paint('bold', key)} = {value_text(value)}", *lines]) + "\n"
    return None


def _folded(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").replace("-", " ").split())


def explained(term: Term, report: EstimateReport, ink: Ink = PLAIN) -> str:
    """A term with its formula, source and range, its inputs with their origins, and its parts."""
    value = percent(term.value) if term.name in SHARES else display(term.value, term.unit)
    lines = [f"{ink.paint('bold', term.name)} = {value}"]
    lines += wrapped(term.formula, ink.measure, "  formula  ", " " * 11)
    if term.source:
        lines += wrapped(term.source, ink.measure, "  source   ", " " * 11)
    if term.low is not None and term.high is not None:
        lines.append(f"  range    {display(term.low, term.unit)} to {display(term.high, term.unit)}")
    out = "\n".join(lines) + "\n"
    if term.inputs:
        rows = [
            (f"  {name}", display(figure.value, figure.unit, 4), report.provenance.text(figure.origin))
            for name, figure in term.inputs
        ]
        out += "\n" + grid(("  input", "value", "where from"), rows, right=(1,), wrap=(2,), ink=ink)
    if term.parts:
        out += "\n" + breakdown(term, ink, depth=2)
    return out
