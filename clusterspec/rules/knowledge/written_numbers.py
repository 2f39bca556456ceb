"""The numbers that the sections of a spec state, whatever their key: a text may name any of them."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.patterns import pattern
from clusterspec.quantity import Figure, Quantity
from clusterspec.records import fields, is_dataclass
from clusterspec.spec.model import Spec

_SENTENCE_END = pattern(r"[.;#]\s")


def written_numbers(spec: Spec) -> Iterator[float]:
    """The numbers of all sections that describe the machine and its work: counts as integers, quantities in SI."""
    for section in (spec.cluster, spec.workload, spec.layout, spec.acceptance, spec.operations, spec.procurement):
        yield from numbers_within(section)


def numbers_within(value: object) -> Iterator[float]:
    """The numbers of a value of the spec, of its items or of its fields."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, Quantity | Figure):
        yield value.value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers_within(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from numbers_within(each)
    else:
        for each in fields(value) if is_dataclass(value) else ():
            yield from numbers_within(getattr(value, each.name))


def number_in_text(digits: str) -> float:
    """The value of digits with commas between thousands.

    >>> number_in_text("1,080.5")
    1080.5
    """
    return float(digits.replace(",", ""))


def sentences_of(text: str) -> list[str]:
    """The parts of a text between the ends of sentences; a comment begins another one.

    >>> sentences_of("Data: 1.2 PB. # the store")
    ['Data: 1.2 PB', '', 'the store']
    """
    return _SENTENCE_END.split(text)
