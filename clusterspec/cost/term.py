"""The terms of an explanation: value, formula, inputs, parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import takewhile
from math import hypot, inf

from clusterspec.cost.formulas import EXPRESSIONS
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.source import Computed
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.entries import Accelerator

_PHASES = ("forward", "backward", "recomputation")
_AXES = (["expert", "tp"], ["tp"], ["cp"], ["ep"])
_COLLECTIVES = ("all_to_all", "all_gather", "all_reduce", "reduce_scatter", "send_recv")
# One line of a cost: a number, its formula, its inputs and its parts


@dataclass(frozen=True)
class Term:
    """A figure with its derivation.

    ``value`` in ``unit`` (``s``, ``B``, ``FLOP``, ``1`` …); ``formula`` an expression over the names of ``inputs`` and
    ``parts``, all of them identifiers, that gives the value; ``source`` the paper or manual behind the formula; ``low``
    and ``high`` the uncertainty range. The parts of a sum add up to its value.
    """

    name: str
    value: float
    unit: str
    formula: str
    inputs: tuple[tuple[str, Figure], ...] = ()
    parts: tuple[Term, ...] = ()
    source: str = ""
    low: float | None = None
    high: float | None = None

    @classmethod
    def total(cls, name: str, parts: tuple[Term, ...], unit: str = "s", formula: str = "") -> Term:
        """The sum of its parts."""
        formula = formula or (" + ".join(part.name for part in parts) or "0")
        return cls(name, sum_of(part.value for part in parts), unit, formula, parts=parts)

    @property
    def label(self) -> str:
        """The name for display.

        >>> Term("forward_expert_layer_ep_combine_all_to_all", 1.0, "s", "").label
        'forward, expert layer: ep combine (all-to-all)'
        """
        return _transfer_label(self.name) or self.name.replace("_", " ")

    @property
    def ends(self) -> tuple[float, float]:
        """The low and the high end of the uncertainty range, both the value for a term without one."""
        return self.value if self.low is None else self.low, self.value if self.high is None else self.high

    @property
    def is_sum(self) -> bool:
        """Whether the parts add up to the value; False for the factors of a product, and without parts.

        >>> Term.total("step", (Term("forward", 1.0, "s", ""), Term("backward", 2.0, "s", ""))).is_sum
        True
        >>> Term("cost", 0.2, "EUR", "joules * price", parts=(Term("price", 0.1, "EUR", ""),)).is_sum
        False
        """
        parts = sum_of(part.value for part in self.parts)
        return all(part.unit == self.unit for part in self.parts) and abs(parts - self.value) <= 1e-9 * abs(self.value)

    def walk(self) -> Iterator[Term]:
        """This term and every term below it."""
        yield self
        for part in self.parts:
            yield from part.walk()


def _transfer_label(name: str) -> str:
    """The label of a transfer in a pass. Its name combines the pass, the part of the model, the axis, the purpose of
    the transfer and the collective. Empty for other names.
    """
    phase, _, rest = name.partition("_")
    transfer, _, number = rest.rpartition("_")
    if not number.isdigit():
        transfer, number = rest, ""
    collective = next((each for each in _COLLECTIVES if transfer.endswith(f"_{each}")), "")
    if phase not in _PHASES or not collective:
        return ""
    words = transfer.removesuffix(f"_{collective}").split("_")
    for at in range(1, len(words)):
        axis = next((axis for axis in _AXES if words[at : at + len(axis)] == axis), None)
        if axis is not None:
            part, purpose = " ".join(words[:at]), " ".join(words[at + len(axis) :])
            sent = collective.replace("_", "-")
            sent = f"{purpose} ({sent})" if purpose else sent
            return f"{phase}, {part}: {'_'.join(axis)} {sent} {number}".rstrip()
    return ""


OUTSIDE = frozenset({"context", "communication_buffers"})
"""Parts of memory that are not included in the counters of a framework's allocator."""


@dataclass(frozen=True)
class MemoryUse:
    """Bytes on the fullest accelerator, all its ranks together; each part a term.

    ``capacity`` is that accelerator's memory, None if not known. ``elsewhere`` is the accelerator if it belongs to
    prefill engines on another pool. ``kept`` are bytes that the allocator may hold without a tensor and returns when
    memory is short. ``error`` is the half-width in bytes that the range gains because published peaks differ from their
    prediction by more than its parts do. Published peaks should lie in ``range``.
    """

    total: Term
    weights: Term
    gradients: Term
    optimizer: Term
    activations: Term
    other: Term
    capacity: Figure | None
    elsewhere: Accelerator | None = None
    kept: float = 0.0
    error: float = 0.0

    @property
    def range(self) -> tuple[float, float] | None:
        """The range, in bytes, of the memory peaks of jobs that run. Errors of the parts, ``error`` and ``kept`` are
        assumed to be independent. The range ends at the capacity unless the range of ``total`` exceeds it, since the
        allocator releases what it keeps when memory is short.
        """
        low, high, value = self.total.low, self.total.high, self.total.value
        if low is None or high is None:
            return None
        there = inf if self.capacity is None else self.capacity.value
        held = value + hypot(high - value, self.kept, self.error)
        least = low if low > there else max(0.0, value - hypot(value - low, self.error))
        return least, max(high, min(held, there))

    @property
    def allocator(self) -> float:
        """Bytes that the framework's allocator holds at the peak; ``total`` is what the driver reports.

        The context of the driver and the buffers of the collective library are allocated outside it.
        """
        outside = (part.value for part in self.other.parts if isinstance(part, Term) and part.name in OUTSIDE)
        return self.total.value - sum(outside)

    @property
    def fits(self) -> bool | None:
        """Whether the total is at most the capacity; None if that is not known."""
        return None if self.capacity is None else self.total.value <= self.capacity.value


# Leaves of an explanation: a formula, its expression, and its inputs

Inputs = tuple[tuple[str, Figure], ...]


class ExpandedArgument(NamedTuple):
    """An argument computed from figures: its value, its expression, and the figures by name."""

    value: float
    expression: str
    inputs: Inputs


Argument = Figure | ExpandedArgument
Repeats = tuple[tuple[str, Figure], ...]


def leaf_term(
    name: str, function: Callable[..., float], arguments: Mapping[str, Argument], repeats: Repeats = (), unit: str = "s"
) -> Term:
    """The term of a formula: the value of ``function`` for the named arguments, times each of ``repeats``."""
    value = function(**{key: argument.value for key, argument in arguments.items()})
    for _, times in repeats:
        value *= times.value
    inputs = [*repeats]
    expanded = []
    for key, argument in arguments.items():
        if isinstance(argument, ExpandedArgument):
            expanded.append((key, argument.expression))
            inputs += argument.inputs
        else:
            inputs.append((key, argument))
    text = written_expression(function, tuple(expanded), tuple(key for key, _ in repeats))
    return Term(name, value, unit, text, tuple(dict(inputs).items()), source=formula_source(function))


@cache
def written_expression(
    function: Callable[..., float], expanded: tuple[tuple[str, str], ...], repeats: tuple[str, ...]
) -> str:
    """The expression of a function with some parameters written out, multiplied by the repeats."""
    names = {key: f"({expression})" for key, expression in expanded}
    text = EXPRESSIONS[function]
    if names:
        text = re.sub(r"[a-z_]\w*", lambda found: names.get(found[0], found[0]), text)
    return " * ".join([*repeats, f"({text})"]) if repeats else text


@cache
def formula_source(function: Callable[..., float]) -> str:
    """The source that the docstring of a formula names; empty if it names none."""
    lines = (function.__doc__ or "").partition("Source: ")[2].split("\n")
    return " ".join(takewhile(bool, map(str.strip, lines))).rstrip(".")


def computed_figure(value: float, why: str, unit: str = "1") -> Figure:
    """A figure derived from others."""
    return Figure(value, unit, _computed_origin(why))


def named_count(name: str, value: float) -> tuple[str, Figure]:
    """A number with its name, as an input of a term."""
    return name, Figure(float(value), "1", Computed(name))


@lru_cache(maxsize=1024)
def _computed_origin(why: str) -> Computed:
    return Computed(why)


@lru_cache(maxsize=1024)
def identifier(text: str) -> str:
    """A name as an identifier of the printed grammar.

    >>> identifier("query, key, value: input gradient")
    'query_key_value_input_gradient'
    """
    return re.sub(r"\W+", "_", text).strip("_").lower()


# Terms computed by formulas, and their ranges

NamedFigures = Sequence[tuple[str, Figure]]


def computed_term(name: str, formula: Callable[..., float], unit: str, inputs: NamedFigures) -> Term:
    """The value of a formula at its inputs, as a term that prints the formula's expression."""
    value = formula(**{key: figure.value for key, figure in inputs})
    return Term(name, value, unit, EXPRESSIONS[formula], tuple(inputs))


def ranged_term(low: Term, middle: Term, high: Term) -> Term:
    """The middle term with the low and high terms as its range, also for each part; without a range if they are
    equal.
    """
    parts = tuple(map(ranged_term, low.parts, middle.parts, high.parts))
    ends = sorted((low.value, high.value))
    spread = (None, None) if ends[0] == ends[1] else (ends[0], ends[1])
    return replace(middle, parts=parts, low=spread[0], high=spread[1])
