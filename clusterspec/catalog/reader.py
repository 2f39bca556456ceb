"""Raw catalog entries: header, sources and facts, and typed access to quantities, counts and words. The header of
typed entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from clusterspec.finding import Problem
from clusterspec.quantity import Bandwidth, Figure, Peak, Quantity
from clusterspec.records import dataclass
from clusterspec.source import Assumed, Cited, Origin, Path
from clusterspec.units import UnitFault, read
from clusterspec.units.symbols import printed_capacity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    _T = TypeVar("_T", str, int, bool)
    """The types of plain facts."""

# Availability of parts


@dataclass(frozen=True)
class Status:
    """The availability of a part: announced, shipping or discontinued, as of an ISO date."""

    state: str
    as_of: str
    note: str = ""


# Catalog entries as written: header, sources and facts, before conversion to types

Plain = str | int | float | bool | list["Any"]
_WORDS = ("of", "prints", "scope", "basis", "note", "doubt", "since", "until")
"""Keys of a fact that qualify its value."""


@dataclass(frozen=True)
class Reference:
    """A source: title, address and date of access; ``recalled`` if it was cited from memory.

    ``quoted_in`` is a document that was read instead because it quotes the source, and ``copy`` its address.
    """

    title: str
    url: str = ""
    read: str = ""
    quoted_in: str = ""
    copy: str = ""
    recalled: bool = False

    @property
    def is_findable(self) -> bool:
        """Whether an address locates the document itself or its copy; the front page of a site locates neither."""
        return bool(self.copy) or bool(self.url.partition("://")[2].partition("/")[2])

    @property
    def is_unaddressed_copy(self) -> bool:
        """Whether it was read in a copy whose address was not recorded."""
        return bool(self.quoted_in) and not self.copy

    @property
    def named(self) -> str:
        return f"{self.title}, as quoted in {self.quoted_in}" if self.quoted_in else self.title


@dataclass(frozen=True)
class RejectedFigure:
    """A figure of a source that was not used, and the reason."""

    value: Plain
    source: str
    why: str


@dataclass(frozen=True)
class Fact:
    """A fact: its value and source, and for a bandwidth its scope and basis.

    ``origin`` is None if the entry has neither a source nor an assumption for it; ``also`` are other
    sources of the same figure; ``since`` is the first release of a framework in which it holds, ``until`` the first in
    which it no longer does.
    """

    name: str
    value: Plain
    path: Path
    origin: Cited | Assumed | None
    of: str = ""
    prints: str = ""
    scope: str = ""
    basis: str = ""
    note: str = ""
    doubt: str = ""
    since: str = ""
    until: str = ""
    rejected: tuple[RejectedFigure, ...] = ()
    also: tuple[Reference, ...] = ()
    reference: Reference | None = None
    """The source of a cited fact as the entry lists it."""
    bare: bool = False
    """Whether the fact is written as a plain value; its path is then that of the value."""


@dataclass(frozen=True)
class RawEntry:
    """A catalog file.

    ``exceptions`` gives the reason for each inconsistent sum. ``aliases`` are other product names; ``replaced_by`` is
    the id of the successor that the maker sells.
    """

    kind: str
    id: str
    name: str
    vendor: str
    status: Status
    sources: Mapping[str, Reference]
    facts: Mapping[str, Fact]
    achievable: Mapping[str, Fact]
    exceptions: Mapping[str, str]
    notes: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    replaced_by: str = ""


@dataclass(frozen=True)
class Entry:
    """The fields common to all typed entries; ``kind/id`` identifies one."""

    id: str
    name: str
    vendor: str
    status: Status
    notes: tuple[str, ...]

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


def read_raw_entry(data: Mapping[str, Any]) -> RawEntry:
    """The raw entry of a document that is valid by the schema of catalog entries."""
    status = data["status"]
    sources = {key: Reference(**value) for key, value in data.get("sources", {}).items()}
    writer = _Writer(f"{data['kind']}/{data['id']}", sources, data.get("source", ""))
    return RawEntry(
        kind=data["kind"],
        id=data["id"],
        name=data["name"],
        vendor=data.get("vendor", ""),
        status=Status(status["is"], status["as_of"], status.get("note", "")),
        sources=sources,
        facts={fact.name: fact for fact in writer.facts(data["facts"], ("facts",))},
        achievable={key: writer.fact(value, ("achievable", key)) for key, value in data.get("achievable", {}).items()},
        exceptions=data.get("exceptions", {}),
        notes=tuple(data.get("notes", ())),
        aliases=tuple(data.get("aliases", ())),
        replaced_by=data.get("replaced_by", ""),
    )


@dataclass(frozen=True)
class _Writer:
    """Converts the mappings of an entry to facts; ``source`` applies to facts that name none."""

    entry: str
    sources: Mapping[str, Reference]
    source: str

    def facts(self, data: Mapping[str, Any], path: Path) -> Iterator[Fact]:
        for key, value in data.items():
            if isinstance(value, dict) and "is" not in value:
                yield from self.facts(value, (*path, key))
            else:
                yield self.fact(value, (*path, key))

    def fact(self, written: Any, path: Path) -> Fact:
        words = written if isinstance(written, dict) else {"is": written}
        name = ".".join([str(key) for key in path[1:]])
        further: dict[str, Any] = {key: value for key, value in words.items() if key in _WORDS}
        if "not" in words:
            further["rejected"] = tuple(self.rejected_figure(each) for each in words["not"])
        if "also" in words:
            further["also"] = tuple(self.sources[key] for key in words["also"] if key in self.sources)
        origin: Cited | Assumed | None = None
        if "assumed" in words:
            origin = Assumed(f"{self.entry} {name}", words["assumed"])
        elif (reference := self.sources.get(words.get("source", self.source))) is not None:
            origin = self.citation(name, words, reference)
            further["reference"] = reference
        return Fact(name, words["is"], path, origin, bare=written is not words, **further)

    def citation(self, name: str, words: Mapping[str, Any], reference: Reference) -> Cited:
        doubts = "; ".join([words[key] for key in ("doubt", "note") if key in words])
        return Cited(self.entry, name, reference.named, reference.url, reference.read, doubts)

    def rejected_figure(self, words: Mapping[str, Any]) -> RejectedFigure:
        source = words.get("source", "")
        title = self.sources[source].named if source in self.sources else source
        return RejectedFigure(words["is"], title, words["why"])


# Quantities of catalog facts, for arithmetic, tables and documentation alike

_KINDS = ("rate", "bytes", "power", "time", "length")
"""Kinds of quantities. No two share a unit, so their order does not matter."""
_COUNTS = ("parameters", "active_parameters", "encoder_parameters")


def quantity_of(fact: Fact) -> Quantity | None:
    """The quantity of a fact, by its unit; None for words, bare numbers and lists."""
    if not isinstance(fact.value, str):
        return None
    peak = fact.name.startswith(("peak.", "sparse_peak."))
    return _first_reading(fact.value, ("peak",) if peak else ("count",) if fact.name in _COUNTS else (*_KINDS, "peak"))


@lru_cache(maxsize=256)
def _first_reading(text: str, kinds: tuple[str, ...]) -> Quantity | None:
    """The quantity of a text by the first of the given kinds that can read it."""
    for kind in kinds:
        try:
            return _quantity_of_text(text, kind)
        except UnitFault:
            continue
    return None


@lru_cache(maxsize=256)  # entries of one kind repeat figures
def _quantity_of_text(text: str, kind: str) -> Quantity:
    return read(text, kind)


def si_value(quantity: Quantity) -> float:
    """The value in SI units: a bandwidth per direction, a peak dense."""
    return quantity.dense if quantity.unit == "FLOP/s" else quantity.per_direction


class FactReader:
    """Typed access to a raw entry; ``problems`` has the errors of invalid facts."""

    def __init__(self, raw_entry: RawEntry) -> None:
        self.raw_entry = raw_entry
        self.problems: list[Problem] = []

    def has(self, name: str) -> bool:
        """Whether the entry has this fact."""
        return name in self.raw_entry.facts

    def is_cited(self, name: str) -> bool:
        """Whether a document states this fact."""
        fact = self._fact(name)
        return fact is not None and isinstance(fact.origin, Cited)

    def text(self, name: str, *choices: str) -> str | None:
        """A word or an id. If ``choices`` are given, any other word is recorded as a problem."""
        found = self._plain_value(name, str, "a word")
        if found is not None and choices and found not in choices:
            self.refuse(self.raw_entry.facts[name], "wrong-type", f"{name} is {found!r}, not {' or '.join(choices)}")
        return found

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._plain_value(name, bool, "true or false")

    def count(self, name: str) -> int | None:
        """A whole number."""
        return self._plain_value(name, int, "a whole number")

    def number(self, name: str) -> float | None:
        """A number without a unit."""
        fact = self._fact(name)
        quantity = self._read_quantity(fact, fact.value, "number") if fact else None
        return None if quantity is None else quantity.value

    def texts(self, name: str) -> tuple[str, ...]:
        """Several words."""
        return tuple(str(value) for value in self._listed_values(name))

    def printed_figure(self, name: str) -> str:
        """The figure as printed by the vendor; empty if the entry states no other form."""
        fact = self._fact(name)
        return printed_capacity(fact.prints) if fact else ""

    def counts(self, name: str) -> tuple[int, ...]:
        """Several whole numbers."""
        return tuple(value for value in self._listed_values(name) if isinstance(value, int))

    def figure(self, name: str, kind: str) -> Figure | None:
        """A quantity of a kind (a key of ``units.kinds.KINDS``) in SI units."""
        fact = self._fact(name)
        quantity = self._read_quantity(fact, fact.value, kind) if fact else None
        return Figure(quantity.value, quantity.unit, self._fact_origin(fact)) if fact and quantity else None

    def band(self, name: str) -> tuple[Figure, Figure] | None:
        """The lowest and the highest amount in US dollars."""
        fact, values = self._fact(name), self._listed_values(name)
        if fact is None:
            return None
        amounts = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if len(amounts) != 2 or len(values) != 2 or not 0 < amounts[0] <= amounts[1]:
            self.refuse(fact, "wrong-type", f"{name} is {fact.value!r}, not a lowest and a highest amount")
            return None
        origin = self._fact_origin(fact)
        return Figure(amounts[0], "USD", origin), Figure(amounts[1], "USD", origin)

    def bandwidth(self, name: str) -> Bandwidth | None:
        """A bandwidth per direction."""
        fact = self._fact(name)
        quantity = self._directed_quantity(fact, fact.value) if fact else None
        return Bandwidth.of(quantity, self._fact_origin(fact)) if fact and quantity else None

    def bandwidths(self, name: str) -> tuple[Bandwidth, ...]:
        """Several bandwidths per direction."""
        fact = self._fact(name)
        if fact is None:
            return ()
        quantities = (self._directed_quantity(fact, value) for value in self._listed_values(name))
        return tuple(Bandwidth.of(quantity, self._fact_origin(fact)) for quantity in quantities if quantity)

    def peaks(self, group: str) -> Mapping[str, Peak]:
        """Dense peaks by precision."""
        found: dict[str, Peak] = {}
        for name, fact in self.raw_entry.facts.items():
            if name.startswith(f"{group}.") and (quantity := self._read_quantity(fact, fact.value, "peak")):
                found[name.removeprefix(f"{group}.")] = Peak.dense(quantity.dense, self._fact_origin(fact))
        return found

    def peak(self, name: str) -> Peak | None:
        """A fact that states only a dense peak, without a sparse one."""
        fact = self._fact(name)
        quantity = self._read_quantity(fact, fact.value, "peak") if fact else None
        return Peak.dense(quantity.dense, self._fact_origin(fact)) if fact and quantity else None

    def achievable(self) -> Mapping[str, Figure]:
        """The measured figures: plain numbers are fractions, others are in SI units."""
        return {
            name: figure for name, fact in self.raw_entry.achievable.items() if (figure := self._achieved_figure(fact))
        }

    def _achieved_figure(self, fact: Fact) -> Figure | None:
        if isinstance(fact.value, int | float):
            return Figure(float(fact.value), "1", self._fact_origin(fact))
        if (quantity := quantity_of(fact)) is not None:
            return Figure(si_value(quantity), quantity.unit, self._fact_origin(fact))
        self._read_quantity(fact, fact.value, "peak")  # reports why the text is not a quantity
        return None

    def _fact(self, name: str) -> Fact | None:
        return self.raw_entry.facts.get(name)

    def _plain_value(self, name: str, kind: type[_T], words: str) -> _T | None:
        fact = self._fact(name)
        if fact is None:
            return None
        if type(fact.value) is kind:
            return fact.value
        self.refuse(fact, "wrong-type", f"{name} is {fact.value!r}, not {words}")
        return None

    def _listed_values(self, name: str) -> list[object]:
        fact = self._fact(name)
        if fact is None:
            return []
        return fact.value if isinstance(fact.value, list) else [fact.value]

    def _directed_quantity(self, fact: Fact, value: object) -> Quantity | None:
        quantity = self._read_quantity(fact, value, "bandwidth")
        if quantity is None or quantity.direction:
            return quantity
        message = f"{fact.name} is {quantity.written}, which does not state its direction"
        self.refuse(fact, "missing-direction", message, "append `duplex` or `per direction`")
        return None

    def _read_quantity(self, fact: Fact, value: object, kind: str) -> Quantity | None:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.refuse(fact, "wrong-type", f"{fact.name} is {value!r}, not a quantity")
            return None
        try:
            return _quantity_of_text(value, kind) if isinstance(value, str) else read(value, kind)
        except UnitFault as fault:
            self.refuse(fact, fault.rule, f"{fact.name}: {fault.message}", fault.help)
            return None

    def _fact_origin(self, fact: Fact) -> Origin:
        unsourced = "its entry names no source"  # which `checks` refuses
        return fact.origin or Assumed(f"{self.raw_entry.kind}/{self.raw_entry.id} {fact.name}", unsourced)

    def refuse(self, fact: Fact, rule: str, message: str, advice: str = "") -> None:
        """Records that a fact is invalid."""
        path = fact.path if fact.bare else (*fact.path, "is")
        self.problems.append(Problem(rule, path, message, advice))
