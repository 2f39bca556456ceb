"""The text of a spec with another layout section, everything else as its author wrote it."""

from __future__ import annotations

from clusterspec.document.dump import dump
from clusterspec.pipeline import Study
from clusterspec.results.search import Section


def with_layout(one: Study, section: Section) -> str:
    """The text of the spec with this layout; comments outside the section are kept.

    The section is appended where the spec's own file has none (a base may have it).
    """
    text = one.source.text
    lines = text.splitlines(keepends=True)
    block = dump({"layout": dict(section)})
    place = one.document.places.get(("layout",)) if one.document else None
    if place is None or place.key is None or place.key.file != one.source.name:
        return text + ("" if text.endswith("\n") or not text else "\n") + block
    first, last = place.key.start.line - 1, place.value.end.line - 1
    if place.value.end.column == 1 and last > first:
        last -= 1
    return "".join([*lines[:first], block, *lines[last + 1 :]])
