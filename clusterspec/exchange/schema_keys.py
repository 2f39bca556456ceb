"""Check of imported keys against the schema of this version."""

from __future__ import annotations

from clusterspec.document import schema_nodes
from clusterspec.exchange.import_result import ImportResult, SkippedPart, shown
from clusterspec.records import replace
from clusterspec.source import dotted
from clusterspec.spec.schema import schema


def with_known_keys(reading: ImportResult) -> ImportResult:
    """The import result with keys that the schema lacks listed as unknown."""
    root = schema()
    known = [each for each in reading.given if schema_nodes.at(root, each.path)]
    lost = [each for each in reading.given if each not in known]
    unknown = [
        SkippedPart(f"{dotted(each.path)}: {shown(each.value)}", "this version of the spec has no such key", each.at)
        for each in lost
    ]
    return replace(reading, given=tuple(known), unknown=(*reading.unknown, *unknown))
