"""Replacement of the layout section in the text of a spec."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from clusterspec.document.dump import dump
from clusterspec.pipeline import Study
from clusterspec.results.search import LayoutRow, Section


def with_row(study: Study, row: LayoutRow) -> str:
    """The text of the spec with the layout of a row, and with its separate engines where it is a serving plan.

    The `workload` section is rewritten where its engines change; comments outside changed sections are kept.
    """
    sections: dict[str, object] = {"layout": dict(row.layout)}
    workload = _workload(study, row)
    if workload is not None:
        sections["workload"] = workload
    text = study.source.text
    if not _in_blocks(study, sections):
        whole = dict(study.document.value) if study.document and isinstance(study.document.value, dict) else {}
        return dump(whole | sections)
    for name in sorted(sections, key=lambda name: -_line(study, name)):
        text = _with_section(study, text, name, sections[name])
    return text


def with_layout(study: Study, section: Section) -> str:
    """The text of the spec with this layout; comments outside the section are kept."""
    return _with_section(study, study.source.text, "layout", dict(section))


def _in_blocks(study: Study, sections: Collection[str]) -> bool:
    """Whether each present section starts on its own line; a document in flow style is rewritten."""
    places = [study.document.places.get((name,)) for name in sections] if study.document else []
    return all(
        place is None or place.key is None or place.key.file != study.source.name or place.key.start.column == 1
        for place in places
    )


def _workload(study: Study, row: LayoutRow) -> Any:
    """The workload with the separate engines of a serving plan; None where they are as written."""
    written = (
        study.document.value.get("workload") if study.document and isinstance(study.document.value, dict) else None
    )
    serving = written.get("serving") if isinstance(written, dict) else None
    if row.serving is None or not isinstance(written, dict) or not isinstance(serving, dict):
        return None
    pools = row.serving["disaggregated"]
    if pools == serving.get("disaggregated"):
        return None
    served = {key: value for key, value in serving.items() if key != "disaggregated"}
    if pools is not None:
        served["disaggregated"] = pools
    return {**written, "serving": served}


def _line(study: Study, name: str) -> int:
    """The line of a section; beyond all lines where the file has none."""
    place = study.document.places.get((name,)) if study.document else None
    if place is None or place.key is None or place.key.file != study.source.name:
        return len(study.source.text) + 1
    return place.key.start.line


def _with_section(study: Study, text: str, name: str, section: object) -> str:
    """The text with one section replaced; it is appended if the file has none (a base may have it).

    Lines before the section are as in the source.
    """
    lines = text.splitlines(keepends=True)
    block = dump({name: section})
    place = study.document.places.get((name,)) if study.document else None
    if place is None or place.key is None or place.key.file != study.source.name:
        return text + ("" if text.endswith("\n") or not text else "\n") + block
    first, last = place.key.start.line - 1, place.value.end.line - 1
    if place.value.end.column == 1 and last > first:
        last -= 1
    return "".join([*lines[:first], block, *lines[last + 1 :]])
