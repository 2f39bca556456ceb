"""The cost of a design as a versioned result, with its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterspec.finding import Finding
from clusterspec.records import asdict, dataclass
from clusterspec.results import Input, Json, Tool, head
from clusterspec.results.estimate_json import assumption_json, term_json

if TYPE_CHECKING:
    from clusterspec.cost.term import Term
    from clusterspec.procurement.cost import Cost
    from clusterspec.procurement.neighbor import Neighbor


@dataclass(frozen=True, slots=True)
class CostReport:
    """The cost of one design; ``cost`` is None if its cluster cannot be resolved."""

    tool: Tool
    input: Input
    cost: Cost | None
    neighbor: Neighbor | None = None
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> Json:
        """The JSON document: amounts in ``currency``, ``term`` in seconds, shares as fractions."""
        return head(self.tool, self.input) | _body(self.cost, self.neighbor)


def _body(cost: Cost | None, neighbor: Neighbor | None) -> Json:
    from clusterspec.procurement.total import YEAR

    if cost is None:
        tokens = ("per_million_tokens", "per_million_output_tokens")
        names = ("currency", "as_of", "term", "total", "range", *tokens, "per_run", "goodput")
        return dict.fromkeys(names) | {"by_year": [], "parts": [], "assumptions": [], "not_counted": []}
    return {
        "currency": cost.currency or None,
        "as_of": cost.as_of,
        "term": cost.years * YEAR if cost.years else None,
        "total": _value(cost.total),
        "range": _range(cost.total),
        "by_year": [
            {"year": row.year, "total": row.total, "range": [row.low, row.high], **row.parts} for row in cost.by_year
        ],
        "parts": [term_json(part) for part in (cost.total.parts if cost.total else ())],
        "per_million_tokens": _value(cost.per_million_tokens),
        "per_million_output_tokens": _value(_of_output(cost.per_million_tokens)),
        "per_run": _value(cost.per_run),
        "goodput": _value(cost.goodput),
        "time_to_train_with_interruptions": _value(cost.run),
        "watts": cost.watts.value if cost.watts.parts else None,
        "watts_range": _range(cost.watts) if cost.watts.parts else None,
        "accelerators_used": cost.accelerators_used,
        "accelerators": cost.accelerators,
        "terms": [
            term_json(term)
            for term in (cost.total, cost.goodput, cost.run, cost.per_run, cost.per_million_tokens)
            if term is not None
        ],
        "neighbor": asdict(neighbor) if neighbor else None,
        "not_counted": list(cost.missing),
        "assumptions": [assumption_json(each) for each in cost.assumptions],
    }


def _of_output(term: Term | None) -> Term | None:
    """The cost of a million output tokens of a serving plan; None for training."""
    return term if term is not None and term.name == "per_million_output_tokens" else None


def _value(term: Term | None) -> float | None:
    return term.value if term else None


def _range(term: Term | None) -> list[float] | None:
    if term is None:
        return None
    return [term.value if end is None else end for end in (term.low, term.high)]
