"""Which of the keys that a file states this version of the spec has."""

from __future__ import annotations

from clusterspec.document import outline
from clusterspec.exchange.reading import Reading, Unknown, shown
from clusterspec.records import replace
from clusterspec.source import dotted
from clusterspec.spec.schema import schema


def with_known_keys(reading: Reading) -> Reading:
    """The reading with keys that the schema lacks listed as unknown."""
    root = schema()
    known = [each for each in reading.given if outline.at(root, each.path)]
    lost = [each for each in reading.given if each not in known]
    unknown = [
        Unknown(f"{dotted(each.path)}: {shown(each.value)}", "this version of the spec has no such key", each.at)
        for each in lost
    ]
    return replace(reading, given=tuple(known), unknown=(*reading.unknown, *unknown))
