"""The cost of a design, and its differences from another design, as versioned results."""

from __future__ import annotations

from math import isfinite

from clusterspec.finding import Finding
from clusterspec.records import asdict, dataclass
from clusterspec.results import Input, Json, Result, Tool, common_fields, finding_json, result_repr
from clusterspec.results.estimate_json import assumption_json, term_json
from clusterspec.source import Path, pointer
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.cost.term import Term
    from clusterspec.procurement.cost import Cost
    from clusterspec.procurement.neighbor import Neighbor
    from clusterspec.results.fleet import FleetDiffReport


# The cost of a design as a versioned result, with its JSON


@dataclass(frozen=True)
class CostReport(Result):
    """The cost of one design; ``cost`` is None if its cluster cannot be resolved."""

    tool: Tool
    input: Input
    cost: Cost | None
    neighbor: Neighbor | None = None
    findings: tuple[Finding, ...] = ()

    __repr__ = result_repr

    def to_json(self) -> Json:
        """The JSON document: amounts in ``currency``, ``term`` in seconds, shares as fractions."""
        return common_fields(self.tool, self.input) | _cost_json(self.cost, self.neighbor)


def _cost_json(cost: Cost | None, neighbor: Neighbor | None) -> Json:
    from clusterspec.quantity import YEAR

    if cost is None:
        return _unknown_cost_json()
    return {
        "currency": cost.currency or None,
        "as_of": cost.as_of,
        "term": cost.years * YEAR if cost.years else None,
        "total": _term_value(cost.total),
        "range": _term_range(cost.total),
        "by_year": [
            {"year": row.year, "total": row.total, "range": [row.low, row.high], **row.parts} for row in cost.by_year
        ],
        "parts": [term_json(part) for part in (cost.total.parts if cost.total else ())],
        "per_million_tokens": _term_value(cost.per_million_tokens),
        "per_million_output_tokens": _term_value(_output_token_cost(cost.per_million_tokens)),
        "per_million": {term.name.split("_")[2]: term.value for term in cost.by_kind},
        "per_run": _term_value(cost.per_run),
        "per_accelerator_hour": cost.per_accelerator_hour,
        "per_hour_at_work": cost.per_hour_at_work,
        "per_week": cost.per_week,
        "rent_of_node": cost.rent_of_node,
        "per_day": _day_costs(cost),
        "goodput": _term_value(cost.goodput),
        "time_to_train_with_interruptions": _term_value(cost.run),
        "watts": cost.watts.value if cost.watts.parts else None,
        "watts_range": _term_range(cost.watts) if cost.watts.parts else None,
        "accelerators_used": cost.accelerators_used,
        "accelerators": cost.accelerators,
        "accelerators_charged": cost.charged_accelerators,
        "terms": [
            term_json(term)
            for term in (cost.total, cost.goodput, cost.run, cost.per_run, cost.per_million_tokens)
            if term is not None
        ],
        "neighbor": asdict(neighbor) if neighbor else None,
        "not_counted": list(cost.missing),
        "assumptions": [assumption_json(each) for each in cost.assumptions],
    }


def _unknown_cost_json() -> Json:
    tokens = ("per_million_tokens", "per_million_output_tokens")
    names = (
        *("currency", "as_of", "term", "total", "range", *tokens, "per_million", "per_run"),
        *("per_accelerator_hour", "per_hour_at_work", "per_week", "rent_of_node", "per_day", "goodput"),
    )
    return dict.fromkeys(names) | {"by_year": [], "parts": [], "assumptions": [], "not_counted": []}


def _day_costs(cost: Cost) -> Json | None:
    """The costs of a day: with engines that follow the load, with all engines at all hours, and per million output
    tokens; and the costs of its hours, given in minutes of the day.
    """
    names = ("engines_follow_load", "all_engines", "per_million_output_tokens")
    found: Json = dict(zip(names, (term.value for term in cost.of_day), strict=False))
    if not found:
        return None
    hours = [each._asdict() for each in cost.of_hours]
    return found | {"hours": [{"from": each.pop("start"), "to": each.pop("end"), **each} for each in hours]}


def _output_token_cost(term: Term | None) -> Term | None:
    """The cost of a million output tokens of a serving plan; None for training."""
    return term if term is not None and term.name == "per_million_output_tokens" else None


def _term_value(term: Term | None) -> float | None:
    return term.value if term else None


def _term_range(term: Term | None) -> list[float] | None:
    if term is None:
        return None
    return [term.value if end is None else end for end in (term.low, term.high)]


# Differences between two designs: keys, figures with their ranges, findings


@dataclass(frozen=True)
class Change:
    """A changed key; a value is None if the spec lacks the key."""

    path: Path
    old: Any
    new: Any

    def to_json(self) -> Json:
        return {"path": pointer(self.path), "old": json_value(self.old), "new": json_value(self.new)}


def json_value(value: Any) -> Any:
    """A value of a spec with NaN and infinities as their YAML text, since JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return f".{value}" if value > 0 else "-.inf" if value < 0 else ".nan"
    return value


@dataclass(frozen=True)
class Effect:
    """A figure of both designs, in SI units; None if it could not be computed.

    ``within_band`` means that the ranges of the figures overlap, so that the difference is not significant. It is None
    for figures without a range.
    """

    name: str
    unit: str
    old: float | None
    new: float | None
    within_band: bool | None = None

    def to_json(self) -> Json:
        return {"name": self.name, "unit": self.unit, "old": self.old, "new": self.new, "within_band": self.within_band}


@dataclass(frozen=True)
class DiffReport(Result):
    """The difference of two designs. ``unchecked`` are findings of the old design that the new design cannot have,
    because it lacks their section or the facts that their rule needs.
    """

    tool: Tool
    old: Input
    new: Input
    changes: tuple[Change, ...]
    effects: tuple[Effect, ...]
    found: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    unchecked: tuple[Finding, ...] = ()
    caution: str = ""
    """Why figures of the two designs are not comparable; empty if they are."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        return common_fields(self.tool, self.new) | {
            "against": self.old.to_json(),
            "changes": [one.to_json() for one in self.changes],
            "effects": [one.to_json() for one in self.effects],
            "caution": self.caution or None,
            "findings": {
                "new": [finding_json(one) for one in self.found],
                "fixed": [finding_json(one) for one in self.fixed],
                "unchecked": [finding_json(one) for one in self.unchecked],
            },
        }


PRICE = "price of the priced items"
SHARE = "share"
"""The unit of a figure that is a share between 0 and 1."""


SUMMED = ("accelerators", PRICE)
"""Effects that are sums over machines."""


@dataclass(frozen=True)
class SpecDiff:
    """One spec of a repository: ``added``, ``removed`` or ``changed``, with the difference of its two sides.

    ``figures`` belong to an added or removed spec, which has no difference; ``found`` are the findings of an added
    spec, all of them new.
    """

    path: str
    change: str
    report: DiffReport | None
    found: tuple[Finding, ...] = ()
    figures: tuple[Effect, ...] = ()
    fleet: FleetDiffReport | None = None

    @property
    def differences(self) -> DiffReport | FleetDiffReport | None:
        """The difference of a changed spec; None for a spec that only one side has."""
        return self.report or self.fleet

    def effect(self, name: str) -> Effect | None:
        """A figure by name; None if it did not change or is not known."""
        effects = self.report.effects if self.report else self.figures
        return next((each for each in effects if each.name == name), None)

    def amounts(self, name: str) -> tuple[float | None, float | None]:
        """A figure before and after: 0 on a side without the spec, None if unknown."""
        effect = self.effect(name)
        old, new = (effect.old, effect.new) if effect is not None else (None, None)
        return (0.0 if self.change == "added" else old), (0.0 if self.change == "removed" else new)

    def to_json(self) -> Json:
        """The file, the kind of change, and its difference; a new spec has its findings, a spec on one side only its
        figures.
        """
        made: Json = {"file": self.path, "change": self.change}
        made["diff"] = self.differences.to_json() if self.differences else None
        if self.change == "added":
            made["findings"] = [finding_json(one) for one in self.found]
        if self.change != "changed":
            made["figures"] = [one.to_json() for one in self.figures]
        return made


@dataclass(frozen=True)
class ProjectDiffReport(Result):
    """The difference of all specs of a repository. ``skipped`` are changed specs beyond the number that is compared."""

    tool: Tool
    old: str
    new: str
    specs: tuple[SpecDiff, ...]
    skipped: tuple[str, ...] = ()

    __repr__ = result_repr

    @property
    def totals(self) -> tuple[Effect, ...]:
        """Sums of the effects that are additive over machines: accelerators, and prices in one currency.

        A single spec has no sum, nor does an effect with an unknown amount on either side.
        """
        sums = []
        for name in SUMMED:
            specs = [(spec, effect) for spec in self.specs if (effect := spec.effect(name)) is not None]
            for unit in dict.fromkeys(effect.unit for _, effect in specs):
                pairs = [spec.amounts(name) for spec, effect in specs if effect.unit == unit]
                olds, news = ([each for each in side if each is not None] for side in zip(*pairs, strict=True))
                if len(pairs) > 1 and len(olds) == len(news) == len(pairs):
                    sums.append(Effect(name, unit, sum_of(olds), sum_of(news)))
        return tuple(sums)

    def to_json(self) -> Json:
        return common_fields(self.tool, Input(None)) | {
            "old": self.old,
            "new": self.new,
            "specs": [each.to_json() for each in self.specs],
            "totals": [each.to_json() for each in self.totals],
            "skipped": [*self.skipped],
        }
