"""Changes of a few mappings in the text of a spec; everything else stays as its author wrote it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from clusterspec import document as documents
from clusterspec.analysis.searches.rl_splits import placement_json
from clusterspec.cluster.fleet import engines_on_other_pools
from clusterspec.cluster.variation import Changes
from clusterspec.document.values import dump
from clusterspec.records import NamedTuple
from clusterspec.results.fleet_search import Assignment
from clusterspec.results.search import LayoutRow, RlSplit, SearchReport, Section
from clusterspec.source import Path, Source, value_at
from clusterspec.standard import pattern
from clusterspec.studies import Study, study_text
from clusterspec.studies.fleet_parts import FleetPart, mapping_at
from clusterspec.studies.variation import plain_value, with_value_at

LAYOUT: Path = ("layout",)
SERVING: Path = ("workload", "serving")
_PLAIN = pattern(r"[A-Za-z_][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*|[0-9]+ [A-Za-z]+(/[a-z])?( [a-z]+)?")
"""Strings that YAML reads as strings without quotes, unless they are `_RESERVED`."""
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


class TextEdit(NamedTuple):
    """A replacement of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


def text_with_row(study: Study, row: LayoutRow) -> str:
    """The text of the spec with the layout of a row and, for a serving plan, its separate engines."""
    wanted: dict[Path, Mapping[str, object]] = {LAYOUT: row.layout}
    serving = _serving_section(study, row)
    if serving is not None:
        wanted[SERVING] = serving
    return _text_with_mappings(study, wanted)


def text_with_best(whole: Study, study: Study, report: SearchReport) -> str:
    """The text of a spec with the best layout. For reinforcement learning it has the fastest placement, or is unchanged
    if the spec's step is as fast.
    """
    best, times = report.layouts[0], study.plan.rl
    if report.splits:
        fastest = report.splits[0]
        slower = times is None or fastest.step_time < times.step
        return text_with_split(whole, study, best, fastest) if slower else whole.source.text
    return text_with_job_row(whole, study, best) if study.fleet_part is not None else text_with_row(study, best)


# The file of a fleet


def text_with_job_row(whole: Study, job: Study, row: LayoutRow) -> str:
    """The text of a fleet after one job takes the layout of a row, including separate engines of a serving plan. The
    job's number of nodes changes if the layout uses another number.
    """
    assert job.fleet_part is not None
    part = job.fleet_part[1]
    written = mapping_at(whole.document.value if whole.document else None, ("jobs", part.job or ""))
    serving = _serving_section(job, row)
    if serving is not None:
        serving = _with_pools_as_written(serving, mapping_at(written, SERVING))
    changes = _job_changes(job, part, row, written)
    return _text_with_job(whole, part.job or "", row.layout, serving, changes)


def text_with_assignment(whole: Study, assignment: Assignment) -> str:
    """The text of a fleet with the pools, nodes and layouts of an assignment in its jobs.

    A job with engines on several pools stays as written, as it does in the search.
    """
    study = whole
    for name, option in assignment.jobs.items():
        written = mapping_at(study.document.value if study.document else None, ("jobs", name))
        job = (whole.spec.jobs or {}).get(name)
        if option.layout is None or job is None or engines_on_other_pools(job):
            continue
        requests = mapping_at(written, SERVING)
        serving: Mapping[str, object] | None = None
        if option.serving is not None and option.disaggregated != requests.get("disaggregated"):
            own = {key: value for key, value in requests.items() if key != "disaggregated"}
            serving = own | ({"disaggregated": option.disaggregated} if option.disaggregated else {})
        placement = _placement_changes(written, option.rl) if option.rl is not None else {}
        changes: dict[Path, object] = {("pool",): option.pool, **placement}
        if "nodes_of" not in written:
            changes["nodes",] = option.nodes
        rollout = mapping_at(option.rl, ("rollout",)).get("nodes") or 0
        layout = {**option.layout, "nodes": option.nodes - rollout}
        study = _study_of_text(study, _text_with_job(study, name, layout, serving, changes))
    return study.source.text


def _placement_changes(written: Mapping[str, object], rl: Mapping[str, object]) -> Changes:
    """The keys that change the placement of rollout to the placement in ``rl``. The transfer method for weights is
    removed if the placement kind changes.
    """
    at: Path = ("workload", "rl")
    rollout = mapping_at(rl, ("rollout",))
    changes: dict[Path, object] = {(*at, key): rl[key] for key in ("placement", "max_staleness")}
    changes |= {(*at, "rollout", key): rollout.get(key) for key in ("nodes", "tp")}
    if mapping_at(written, at).get("placement") != rl["placement"]:
        changes[*at, "weight_sync", "method"] = None
    return changes


def text_with_split(whole: Study, study: Study, row: LayoutRow, split: RlSplit) -> str:
    """The text of a spec, or of a fleet for the job of ``study``, after a placement of reinforcement learning is
    applied. If the placement belongs to the best layout, the layout of the row is applied too.
    """
    part = study.fleet_part[1] if study.fleet_part is not None else None
    at: Path = ("jobs", part.job or "") if part is not None else ()
    text = whole.source.text
    if split.layout != "spec":
        text = text_with_job_row(whole, study, row) if part is not None else text_with_row(study, row)
    laid = _study_of_text(whole, text)
    written = mapping_at(laid.document.value if laid.document else None, at)
    layout = mapping_at(written, LAYOUT)
    changes = dict(_placement_changes(written, placement_json(split)))
    if part is None or "nodes" in layout:
        changes[*LAYOUT, "nodes"] = split.trainer_nodes
    if "dp" in layout:
        changes[*LAYOUT, "dp"] = None
    return text_with_changes(laid, {(*at, *path): value for path, value in changes.items()})


def _text_with_job(
    whole: Study, job: str, section: Section, serving: Mapping[str, object] | None, changes: Changes
) -> str:
    """The text of a fleet with another layout, other requests and other keys for one job. The job states its nodes; its
    layout states them only if it already did.
    """
    at: Path = ("jobs", job)
    layout = dict(section)
    if "nodes" not in mapping_at(whole.document.value if whole.document else None, (*at, *LAYOUT)):
        layout.pop("nodes", None)
    wanted: dict[Path, Mapping[str, object]] = {(*at, *LAYOUT): layout}
    if serving is not None:
        wanted[*at, *SERVING] = serving
    study = _study_of_text(whole, _text_with_mappings(whole, wanted))
    return text_with_changes(study, {(*at, *path): value for path, value in changes.items()})


def _with_pools_as_written(serving: Mapping[str, object], written: Mapping[str, object]) -> Mapping[str, object]:
    """Requests whose separate engines name the same pools as the file of the fleet."""
    if "disaggregated" not in serving:
        return serving
    found = {}
    for side, engines in mapping_at(serving, ("disaggregated",)).items():
        pool = mapping_at(written, ("disaggregated", side)).get("pool")
        own = {key: value for key, value in engines.items() if key != "pool"}
        found[side] = ({"pool": pool} if pool is not None else {}) | own
    return {**serving, "disaggregated": found}


def _job_changes(job: Study, part: FleetPart, row: LayoutRow, written: Mapping[str, object]) -> Changes:
    """The job's own keys that change with a row. Its nodes change if the engines take fewer. Its pool changes if the
    spec has engines on two pools but the row has one kind of engine.
    """
    separate, nodes = row.serving is not None and row.serving["disaggregated"], row.layout.get("nodes")
    if row.serving is None or (separate and part.away) or "nodes_of" in written or nodes is None:
        return {}
    present = part.nodes or (job.design.cluster.nodes if job.design.cluster else None)
    if part.away:
        return {("pool",): part.pool, ("nodes",): nodes}
    return {("nodes",): nodes} if nodes != present else {}


def _study_of_text(study: Study, text: str) -> Study:
    """The study of another text of a file."""
    return study_text(text, study.settings, study.source.name, study.folder)


def text_with_layout(study: Study, section: Section) -> str:
    """The text of the spec with this layout."""
    return _text_with_mappings(study, {LAYOUT: section})


def text_with_changes(study: Study, changes: Changes) -> str:
    """The text of the spec with other values, of the types of `spec.model` or plain; None removes a key."""
    if study.document is None:
        return study.source.text
    whole: object = _own_value(study, study.source.text)
    for path, value in changes.items():
        whole = with_value_at(whole, path, plain_value(value))
    own = _own_value(study, study.source.text)
    sections = {_innermost_mapping(own, path) for path in changes}
    outer = [path for path in sections if not any(path != one and path[: len(one)] == one for one in sections)]
    found = {path: value_at(whole, *path) for path in outer}
    return _text_with_mappings(study, {path: value for path, value in found.items() if isinstance(value, dict)})


def _innermost_mapping(written: Mapping[str, object], path: Path) -> Path:
    """The path of the innermost existing mapping above a key; the section's path if the section is absent."""
    inner = [path[:size] for size in range(1, len(path)) if isinstance(value_at(written, *path[:size]), dict)]
    return inner[-1] if inner else path[:1]


def _serving_section(study: Study, row: LayoutRow) -> Mapping[str, object] | None:
    """The requests with the separate engines of a serving plan; None if they are as written."""
    written = value_at(study.document.value if study.document else None, *SERVING)
    if (
        row.serving is None
        or not isinstance(written, dict)
        or row.serving["disaggregated"] == written.get("disaggregated")
    ):
        return None
    kept = {key: value for key, value in written.items() if key != "disaggregated"}
    return kept | ({"disaggregated": row.serving["disaggregated"]} if row.serving["disaggregated"] else {})


def _text_with_mappings(study: Study, mappings: Mapping[Path, Mapping[str, object]]) -> str:
    """The text with the mappings at some paths replaced. The text is edited key by key; if that does not yield the
    wanted values, the whole document is written again.
    """
    text = study.source.text
    edits = [edit for path, value in mappings.items() for edit in _edits_of(study, path, value)]
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    whole = _own_value(study, study.source.text)
    for path, value in mappings.items():
        _set_value(whole, path, dict(value))
    return text if _own_value(study, text) == whole else dump(whole)


def _own_value(study: Study, text: str) -> dict[str, object]:
    """The value of a text itself, without the bases that it extends."""
    document, _ = documents.parse(Source(study.source.name, text))
    return dict(document.value) if document is not None and isinstance(document.value, dict) else {}


def _set_value(value: dict[str, object], path: Path, new: object) -> None:
    for key in path[:-1]:
        inner = value.get(str(key))
        value[str(key)] = inner = dict(inner) if isinstance(inner, dict) else {}
        value = inner
    value[str(path[-1])] = new


def _edits_of(study: Study, path: Path, mapping: Mapping[str, object]) -> Iterator[TextEdit]:
    """The edits that turn the mapping at a path into the wanted one; a missing section is appended."""
    text, entries = study.source.text, _mapping_entries(study, path)
    place = study.document.places.get(path) if study.document else None
    if not entries and place is not None and place.value.file == study.source.name:
        start, end = study.document.places.offsets[path][3:] if study.document else (0, 0)
        yield TextEdit(start, end, (" " if text[start - 1] == ":" else "") + _flow_text(mapping))
        return
    if not entries and len(path) > 1 and _mapping_entries(study, path[:-1]):
        whole = value_at(study.document.value if study.document else None, *path[:-1])
        yield from _edits_of(study, path[:-1], {**whole, str(path[-1]): dict(mapping)})
        return
    if not entries:
        begin = "" if text.endswith("\n") or not text else "\n"
        lines = "".join(f"  {key}: {_flow_text(value)}\n" for key, value in mapping.items())
        yield TextEdit(len(text), len(text), f"{begin}{path[-1]}:\n{lines}")
        return
    present = value_at(study.document.value if study.document else None, *path)
    assert isinstance(present, dict)
    missing = {key: value for key, value in mapping.items() if key not in entries}
    kept = [key for key in entries if key in mapping]
    edit = _FlowMapping(text, entries, kept) if _is_flow(study, path) else _BlockMapping(text, entries, kept)
    yield from edit.additions(missing)  # before those of inner mappings, which end where the outer one does
    yield from (edit.removal(key) for key in entries if key not in mapping)
    for key in (key for key in kept if mapping[key] != present[key]):
        new = mapping[key]
        if (
            isinstance(new, Mapping)
            and isinstance(present[key], dict)
            and new
            and _mapping_entries(study, (*path, key))
        ):
            yield from _edits_of(study, (*path, key), new)
        else:
            yield edit.replacement(key, new)


class _Entry(NamedTuple):
    """The offsets of a key and of its value."""

    key: int
    key_end: int
    start: int
    end: int


def _mapping_entries(study: Study, path: Path) -> dict[str, _Entry]:
    """The entries of the mapping at a path, in their order; none if it is not in the text of the study itself."""
    if study.document is None:
        return {}
    own = {
        str(key[-1]): _Entry(*found[1:])
        for key, found in study.document.places.offsets.items()
        if len(key) == len(path) + 1 and key[:-1] == path and study.document.places[key].value.file == study.source.name
    }
    return dict(sorted(own.items(), key=lambda each: each[1].key))


def _is_flow(study: Study, path: Path) -> bool:
    assert study.document is not None
    return study.source.text[study.document.places.offsets[path][3]] == "{"


class _FlowMapping(NamedTuple):
    """Edits of a mapping in braces."""

    text: str
    entries: Mapping[str, _Entry]
    kept: list[str]

    def removal(self, key: str) -> TextEdit:
        """The edit that removes a key with its comma."""
        names = list(self.entries)
        at = names.index(key)
        if any(name in self.kept for name in names[:at]):
            return TextEdit(self.entries[names[at - 1]].end, self.entries[key].end, "")
        after = self.entries[names[at + 1]].key if at + 1 < len(names) else self.entries[key].end
        return TextEdit(self.entries[key].key, after, "")

    def replacement(self, key: str, value: object) -> TextEdit:
        """The edit that replaces a value."""
        return TextEdit(self.entries[key].start, self.entries[key].end, self._value_text(value))

    def additions(self, more: Mapping[str, object]) -> Iterator[TextEdit]:
        """The edits that add keys after the last key that stays."""
        if self.kept and more:
            end, quote = self.entries[self.kept[-1]].end, '"' if self._is_quoted else ""
            added = "".join(f", {quote}{key}{quote}: {self._value_text(value)}" for key, value in more.items())
            yield TextEdit(end, end, added)

    @property
    def _is_quoted(self) -> bool:
        return all(self.text[entry.key] == '"' for entry in self.entries.values())

    def _value_text(self, value: object) -> str:
        return json.dumps(value) if self._is_quoted else _flow_text(value)


class _BlockMapping(NamedTuple):
    """Edits of a mapping with a line for each key."""

    text: str
    entries: Mapping[str, _Entry]
    kept: list[str]

    def removal(self, key: str) -> TextEdit:
        """The edit that removes the lines of a key."""
        return TextEdit(self._line_number(key), self._line_end(key), "")

    def replacement(self, key: str, value: object) -> TextEdit:
        """The edit that replaces a value, on one line."""
        entry = self.entries[key]
        if "\n" not in self.text[entry.key : entry.end]:
            return TextEdit(entry.start, entry.end, _flow_text(value))
        return TextEdit(entry.key_end, self._line_end(key), f": {_flow_text(value)}\n")

    def additions(self, more: Mapping[str, object]) -> Iterator[TextEdit]:
        """The edits that add lines after the last key."""
        if more:
            last = list(self.entries)[-1]
            end = self._line_end(last)
            begin = "" if self.text[:end].endswith("\n") else "\n"
            indent = self.text[self._line_number(last) : self.entries[last].key]
            yield TextEdit(
                end, end, begin + "".join(f"{indent}{key}: {_flow_text(value)}\n" for key, value in more.items())
            )

    def _line_number(self, key: str) -> int:
        return self.text.rfind("\n", 0, self.entries[key].key) + 1

    def _line_end(self, key: str) -> int:
        end = self.entries[key].end
        if self.text[:end].endswith("\n"):
            return end
        found = self.text.find("\n", end)
        return len(self.text) if found < 0 else found + 1


def _flow_text(value: object) -> str:
    """A plain value as YAML on one line.

    >>> _flow_text({"tp": 8, "order": ["tp", "dp"], "schedule": "1f1b", "sequence_parallel": False})
    '{tp: 8, order: [tp, dp], schedule: "1f1b", sequence_parallel: false}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow_text(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow_text, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value)
