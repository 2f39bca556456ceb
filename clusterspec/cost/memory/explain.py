"""Memory as terms: the lines of the fullest rank, each with the formula that computed it.

Each leaf, evaluated from its inputs, gives its value; the parts of a sum add up to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from clusterspec.catalog.framework_memory import FrameworkMemory
from clusterspec.cluster.model import Design
from clusterspec.cost.expressions import EXPRESSIONS
from clusterspec.cost.memory.constants import COMMUNICATOR
from clusterspec.cost.memory.line import Lines, MemoryLine
from clusterspec.cost.memory.peak_memory import RankMemory
from clusterspec.cost.memory.reasons import FACTORS, NUMBERS
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.origin import Cited, Computed, Origin, Written
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.summation import sum_of

UNIT = "B"
OF_MODEL = {"hidden": "hidden", "vocab": "vocab", "heads": "heads", "head_dim": "head_dim", "rope": "latent_rope"}
"""Numbers that are sizes of the model, by the name of the size."""


def explained(design: Design, rank: RankMemory, ranks: int, capacity: Figure | None) -> MemoryUse:
    """The terms of one accelerator, whose ``ranks`` ranks all hold as much as ``rank``."""
    peak, explanation = rank.peak, _MemoryExplanation(design, ranks)
    parts = {
        "weights": explanation.section("weights", (*rank.weights, *peak.weights)),
        "gradients": explanation.section("gradients", (*rank.gradients, *peak.gradients)),
        "optimizer": explanation.section("optimizer", rank.optimizer),
        "activations": explanation.section(_activations(design), (*rank.activations, *peak.activations)),
        "other": explanation.section("other", rank.reserved),
    }
    return MemoryUse(total=summed("memory", parts.values()), **parts, capacity=capacity)


def _activations(design: Design) -> str:
    """What fills the memory of activations: the cache where the design serves."""
    return "cache" if design.workload is not None and design.workload.kind == "serve" else "activations"


def summed(name: str, parts: Iterable[Term]) -> Term:
    """The sum of its parts. Their errors are assumed to be independent and add in quadrature."""
    kept = tuple(part for part in parts if part.value)
    added = Term.total(name, kept, UNIT)
    below = sum_of((part.value - _low(part)) ** 2 for part in kept) ** 0.5
    above = sum_of((_high(part) - part.value) ** 2 for part in kept) ** 0.5
    return replace(added, low=added.value - below, high=added.value + above)


def _low(term: Term) -> float:
    return term.value if term.low is None else term.low


def _high(term: Term) -> float:
    return term.value if term.high is None else term.high


@cache
def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text)


class _MemoryExplanation:
    """Creates the terms of the lines of one design."""

    def __init__(self, design: Design, ranks: int) -> None:
        self.design, self.ranks = design, ranks
        layout = design.layout
        self.framework = layout.stack.memory_of(layout.sharding) if layout and layout.stack else FrameworkMemory()

    def section(self, name: str, lines: Lines) -> Term:
        """The sum of the lines that are not zero."""
        several = ((each.times("ranks_per_accelerator", self.ranks) if self.ranks > 1 else each) for each in lines)
        return summed(name, (self._leaf(each) for each in several if each.value))

    def _leaf(self, line: MemoryLine) -> Term:
        factors = [(name, factor) for name, factor in line.factors if factor != 1 or name in {"passes"}]
        expression = EXPRESSIONS[line.formula]
        text = " * ".join([*(name for name, _ in factors), f"({expression})"]) if factors else expression
        numbers = [(name, self._number(line, name, number)) for name, number in line.numbers.items()]
        inputs = [(name, Figure(factor, "1", Computed(FACTORS[name]))) for name, factor in factors]
        low, high = line.ends
        value = line.value
        name = _identifier(line.name)
        return Term(
            name, value, UNIT, text, (*inputs, *numbers), source=line.source, low=value * low, high=value * high
        )

    def _number(self, found: MemoryLine, name: str, number: float) -> Figure:
        """One number of a line with its unit and origin."""
        assumed = self._assumed(found, name)
        if assumed is not None:
            return assumed
        line = found.name.removeprefix("window ")
        unit, why = NUMBERS[line, name] if (line, name) in NUMBERS else NUMBERS["", name]
        return Figure(float(number), unit, self._origin(name, why))

    def _assumed(self, line: MemoryLine, name: str) -> Figure | None:
        """The assumed figure of the framework for a number, where it is one."""
        spreads = {
            ("context", "each"): self.framework.context,
            ("logits and loss", "width"): self.framework.logits,
            ("fragmentation", "each"): self.framework.fragmentation,
            ("communication buffers", "each"): COMMUNICATOR,
        }
        spread = spreads.get((line.name, name))
        return None if spread is None else spread.figure

    def _origin(self, name: str, why: str) -> Origin:
        """The origin of a size of the model, else the derivation of the number."""
        workload = self.design.workload
        if name not in OF_MODEL or workload is None:
            return Computed(why)
        key = OF_MODEL[name]
        written = self.design.spec.workload.model if self.design.spec.workload else None
        if written is not None and not isinstance(written, str) and getattr(written, key, None) is not None:
            return Written(f"workload.model.{key}")
        model = workload.model
        return Cited(f"model/{model.id}", key, model.name) if model.id else Computed(why)
