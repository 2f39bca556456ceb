"""The explanation of any name that an estimate prints: a term, a headline figure, a flow, or an assumption."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.cost.headline import sent_term
from clusterspec.cost.term import Term
from clusterspec.records import NamedTuple
from clusterspec.report import PLAIN, TextStyle, paragraph, text_table, wrapped_lines
from clusterspec.report.breakdown_text import breakdown_text
from clusterspec.report.estimate_rows import TERMS_OF_ROWS, losses_text, value_text
from clusterspec.results import EstimateReport
from clusterspec.results.estimate_json import root_terms
from clusterspec.units import display, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.results.machine import Loss

ALIASES = {"step time": "step", "one optimizer step": "step", "weight sync": "sync"}
"""Printed names of terms that have another one."""
SHARES = frozenset({"MFU", "MFU of updates", "HFU"})
WIDER = ("memory.error", "memory.kept")
"""Assumptions that widen the range of memory without belonging to one of its parts."""
MOST_EXPLAINED = 4
"""Maximum number of terms with the same name that are explained; further ones are only named."""


class PlacedTerm(NamedTuple):
    """A term, and the names of the terms that contain it, outermost first."""

    term: Term
    path: tuple[str, ...] = ()

    def walk(self) -> Iterator[PlacedTerm]:
        """This term and every term below it."""
        yield self
        for part in self.term.parts:
            yield from PlacedTerm(part, (*self.path, self.term.name)).walk()

    def is_called(self, folded: str) -> bool:
        """Whether the term has this folded name, either its own or its own after the name of a term that
        contains it.
        """
        own = {_folded_name(self.term.name), _folded_name(self.term.label)}
        return folded in own or any(f"{_folded_name(whole)} {name}" == folded for whole in self.path for name in own)


def explainable_names(report: EstimateReport) -> list[str]:
    """The names that can be explained, without duplicates: terms, headline figures, flows, assumptions."""
    found = [term.name for term in explainable_terms(report)]
    return list(dict.fromkeys([*found, *(key for key, _, _ in report.plan.assumptions)]))


def explainable_terms(report: EstimateReport) -> Iterator[Term]:
    """All terms, starting with the headline figures."""
    return (each.term for each in placed_terms(report))


def placed_terms(report: EstimateReport) -> Iterator[PlacedTerm]:
    """All terms with their places, starting with the headline figures."""
    yield from map(PlacedTerm, report.headlines)
    for root in root_terms(report.plan):
        yield from PlacedTerm(root).walk()
    for flow in report.plan.communication:
        yield PlacedTerm(sent_term(flow))
    for shown in (report.drawn, report.storage):
        for term in shown.terms.values() if shown else ():
            yield from PlacedTerm(term).walk()


def explanation_text(
    report: EstimateReport, name: str, style: TextStyle = PLAIN, losses: Sequence[Loss] = ()
) -> str | None:
    """The explanation of a printed name, with formula, inputs and their origins; None for an unknown name.

    If parts of several figures have the name, all are explained, each with the figure that it belongs to. The name of
    the figure before that of the part, such as ``prefill dense``, selects one. An axis (``tp``) stands for all its
    communication, and a row such as ``energy`` for all terms that it shows. That of MFU ends with the ``losses`` below
    the peak.
    """
    wanted = _folded_name(name)
    wanted = ALIASES.get(wanted, wanted)
    if wanted == "step" and report.plan.rl is not None:
        wanted = "rl step"
    found = _terms_called(report, wanted) or [PlacedTerm(each) for each in _terms_of_row(report, wanted)]
    if found:
        lost = (
            [losses_text(losses, report.plan.mfu, style)]
            if wanted == ("mfu of updates" if report.plan.is_update else "mfu") and losses
            else []
        )
        shown = [term_text(each.term, report, style, each.path) for each in found[:MOST_EXPLAINED]]
        return "\n".join([*shown, *lost, *_advice_on_duplicate_names(found, style)])
    for key, value, why in report.plan.assumptions:
        if wanted in (_folded_name(key), _folded_name(key.rpartition(" ")[2])):
            lines = wrapped_lines(why, style.measure, "  assumed  ", " " * 11)
            return "\n".join([f"{style.paint('bold', key)} = {value_text(value)}", *lines]) + "\n"
    return None


def _terms_called(report: EstimateReport, folded: str) -> list[PlacedTerm]:
    """The terms with a folded name: a whole figure if there is one, else all distinct parts with this name."""
    found = [each for each in placed_terms(report) if each.is_called(folded)]
    whole = next((each for each in found if not each.path), None)
    differing = {(each.term.name, each.term.value, each.term.inputs): each for each in reversed(found)}
    return [whole] if whole is not None else [*differing.values()][::-1]


def _terms_of_row(report: EstimateReport, folded: str) -> list[Term]:
    """The terms of a printed row that combines several: all communication of an axis, or those listed in
    `TERMS_OF_ROWS`.
    """
    found = [sent_term(flow) for flow in report.plan.communication if _folded_name(flow.axis) == folded]
    several = {_folded_name(term.name): term for term in explainable_terms(report)} if not found else {}
    return found or [several[name] for name in TERMS_OF_ROWS.get(folded, ()) if name in several]


def _advice_on_duplicate_names(terms: Sequence[PlacedTerm], style: TextStyle) -> Iterator[str]:
    """Advice on how to request one of several parts that have the same name."""
    names = []
    for each in terms if len(terms) > 1 else ():
        others = {name for other in terms if other is not each for name in other.path}
        own = next((name for name in each.path if name not in others), None)
        names += [f"`--explain '{own} {each.term.name}'`"] if own is not None else []
    if names:
        yield paragraph(f"One of them alone: {', '.join(names)}.", style)


def _folded_name(name: str) -> str:
    """A name without case and punctuation."""
    return " ".join(re.sub(r"[-_,:()]", " ", name.lower()).split())


def _beyond_parts_text(term: Term, report: EstimateReport) -> str:
    """The assumptions that widen the range of the memory beyond the ranges of its parts; empty for other terms."""
    if term is not report.plan.memory_term:
        return ""
    keys = [key for key, _, _ in report.plan.assumptions if key in WIDER]
    return f"with {' and '.join(keys)} in addition to the ranges of its parts" if keys else ""


def term_text(term: Term, report: EstimateReport, style: TextStyle = PLAIN, path: Sequence[str] = ()) -> str:
    """A term with its formula, source and range, the origins of its inputs, and its parts.

    ``path`` are the names of the terms that it is a part of, the outermost first.
    """
    value = percent(term.value) if term.name in SHARES else display(term.value, term.unit)
    lines = [f"{style.paint('bold', term.name)} = {value}"]
    if path:
        lines += wrapped_lines(" of ".join(reversed(path)), style.measure, "  part of  ", " " * 11)
    lines += wrapped_lines(term.formula, style.measure, "  formula  ", " " * 11)
    if term.source:
        lines += wrapped_lines(term.source, style.measure, "  source   ", " " * 11)
    if term.low is not None and term.high is not None:
        lines.append(f"  range    {display(term.low, term.unit)} to {display(term.high, term.unit)}")
        lines += wrapped_lines(_beyond_parts_text(term, report), style.measure, " " * 11, " " * 11)
    out = "\n".join(lines) + "\n"
    if term.inputs:
        rows = [
            (f"  {name}", display(figure.value, figure.unit, 4), report.provenance.text(figure.origin))
            for name, figure in term.inputs
        ]
        out += "\n" + text_table(("  input", "value", "where from"), rows, right=(1,), wrap=(2,), style=style)
    if term.parts:
        out += "\n" + breakdown_text(term, style, depth=2)
    return out
