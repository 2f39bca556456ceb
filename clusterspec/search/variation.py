"""Variations of a spec: some keys changed, and the result resolved like the original file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from clusterspec.cluster.model import Design
from clusterspec.document import Document, Places
from clusterspec.records import replace
from clusterspec.source import Path

Changes = Mapping[Path, object]
"""New values by key path, as YAML would hold them; None removes a key."""
DesignOf = Callable[[Document], Design]
"""Reads and resolves a document; calibrations of the spec hold for it too."""


class Variations:
    """The designs that follow from one document by changing keys; each is resolved once."""

    def __init__(self, document: Document, design_of: DesignOf) -> None:
        self._document, self._design_of = document, design_of
        self._designs: dict[tuple[tuple[Path, str], ...], Design] = {}

    def design(self, changes: Changes) -> Design:
        """The design of the document with these changes."""
        key = tuple(sorted((path, repr(value)) for path, value in changes.items()))
        if key not in self._designs:
            self._designs[key] = self._design_of(changed(self._document, changes))
        return self._designs[key]


def changed(document: Document, changes: Changes) -> Document:
    """The document with some values replaced; missing parent mappings of a new key are created.

    New values have no position in the text.
    """
    value: Any = deepcopy(document.value)
    for path, new in changes.items():
        _put(value, path, new)
    heads = tuple(changes)
    offsets = document.places.offsets
    kept = {path: offset for path, offset in offsets.items() if not any(_under(path, head) for head in heads)}
    return replace(document, value=value, places=Places(kept))


def _under(path: Path, head: Path) -> bool:
    return path[: len(head)] == head


def _put(value: Any, path: Path, new: object) -> None:
    *parents, last = path
    for key in parents:
        if not isinstance(value.get(key), dict):
            value[key] = {}
        value = value[key]
    if new is None:
        value.pop(last, None)
    else:
        value[last] = new


def divides(design: Design) -> bool:
    """Whether ranks and global batch divide over the layout; only then is the estimate of the work described."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None:
        return False
    there = layout.nodes * cluster.ranks_per_node
    whole = layout.ranks <= there if workload.serving is not None else layout.ranks == there
    return whole and (workload.kind == "serve" or workload.global_batch % (layout.dp * layout.micro_batch) == 0)
