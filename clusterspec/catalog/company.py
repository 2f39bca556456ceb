"""Company entries: validation, templates, the spec keys that name entries, and faults of catalog folders."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from clusterspec import resources
from clusterspec.catalog import FOLDER_OF_KIND, KINDS, BrokenEntry, Catalog, Folders
from clusterspec.catalog.entries import REFUSED_SCOPES, Interconnect
from clusterspec.catalog.reader import RawEntry, read_raw_entry
from clusterspec.document import Document, decode, parse, read_bytes, to_finding, validate
from clusterspec.finding import Finding, Problem
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Path, Position, Source, Span

# Validation of company entries against the schema, before they are read


def entry_problems(document: Document, kind: str, name: str) -> list[Problem]:
    """The problems of a document as the catalog entry ``kind/name``."""
    problems = validate(document, schema())
    if problems:
        return problems
    misplaced = [*_misplaced_value_problem(document, "kind", kind), *_misplaced_value_problem(document, "id", name)]
    unlisted = _unlisted_source_problems(
        document.value.get("facts"), ("facts",), set(document.value.get("sources", {}))
    )
    return [*misplaced, *_unsourced_problems(read_raw_entry(document.value)), *unlisted]


def _misplaced_value_problem(document: Document, key: str, expected: str) -> Iterator[Problem]:
    written = document.value[key]
    if written != expected:
        message = f"{key} is `{written}`, but the path of the file implies `{expected}`"
        yield Problem("catalog-entry-misplaced", (key,), message, "change the value or move the file")


def _unsourced_problems(raw_entry: RawEntry) -> Iterator[Problem]:
    """The problems with figures without a source of the entry and without a reason for an assumption."""
    for fact in (*raw_entry.facts.values(), *raw_entry.achievable.values()):
        if fact.origin is None:
            message = f"{fact.name} has neither a source that this entry lists nor an assumption"
            help_ = "name one of `sources` in `source:`, or give a reason in `assumed:`"
            yield Problem("catalog-figure-unsourced", fact.path, message, help_)


def _unlisted_source_problems(value: Any, path: Path, sources: set[str]) -> Iterator[Problem]:
    """The problems with additional sources that the entry does not list."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        for number, source in enumerate(inner if key == "also" else ()):
            if source not in sources:
                message = f"`{source}` is not a source that this entry lists"
                yield Problem("catalog-figure-unsourced", (*path, "also", number), message, "name one of `sources`")
        yield from _unlisted_source_problems(inner, (*path, key), sources)


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of catalog entries."""
    text = (resources.schemas() / "catalog.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


# Keys of a spec whose value is the id of a catalog entry

KINDS_OF_KEYS = {
    "platform": "platform",
    "accelerator": "accelerator",
    "like": "accelerator",
    "interconnect": "interconnect",
    "technology": "interconnect",
    "nic": "nic",
    "switch": "switch",
    "model": "model",
    "cdus.model": "cdu",
    "base": "model",
    "framework": "framework",
}
"""The kind of entry that the value of a key names if the value is text. A key is listed with its parent key if the
parent decides the kind.
"""


def kind_of_key(path: Path) -> str | None:
    """The kind of the catalog entries that the key at a path names; None for a key that names none.

    >>> kind_of_key(("workload", "model")), kind_of_key(("cluster", "power", "cdus", "model")), kind_of_key(("tp",))
    ('model', 'cdu', None)
    """
    above = ".".join(map(str, path[-2:]))
    return KINDS_OF_KEYS.get(above) or KINDS_OF_KEYS.get(str(path[-1]))


def ids_of_key(catalog: Catalog, path: Path) -> tuple[str, ...]:
    """The ids that the key at a path accepts, including ids of invalid company entries; empty for a key that names no
    entry.
    """
    kind, refused = kind_of_key(path), REFUSED_SCOPES.get(str(path[-1]))
    ids = catalog.ids(kind) if kind is not None else ()
    return tuple(id_ for id_ in ids if _interconnect_scope(catalog, id_) != refused) if refused else ids


def _interconnect_scope(catalog: Catalog, id_: str) -> str:
    try:
        entry = catalog.find("interconnect", id_)
    except BrokenEntry:
        return ""
    return entry.scope if isinstance(entry, Interconnect) else ""


# Commented templates of catalog entries, generated from the schema

HEAD = """\
# {article} {kind} of your own: {place}/{id}.yaml in a folder that the configuration names under `catalog`.
# Every commented line below `facts` is a fact with an example: uncomment it and write the figure of your source, with
# its unit. A bandwidth states its direction, scope and basis; a peak states dense or sparse. A fact without a source
# is `assumed`, with the reason. `clusterspec catalog check` reports errors.
kind: {kind}
id: {id}
name: {id}
vendor: ACME
status: {{is: announced, as_of: {today}}}
sources:
  data-sheet:
    title: "ACME, data sheet of {id}, page 1"
    url: https://example.com/data-sheet
    read: {today}
source: data-sheet
facts:
  year: {{is: {year}, assumed: "placeholder; write the year that the data sheet gives"}}
"""
TAIL = """\
#notes:
#  - Further remarks for the reader.
"""


def entry_template(kind: str, id_: str, today: date, place: str) -> str:
    """The text of a valid entry of a kind; ``place`` is the folder of its kind."""
    article = "An" if kind[0] in "aeiou" else "A"
    text = HEAD.format(article=article, kind=kind, id=id_, today=today.isoformat(), year=today.year, place=place)
    return text + "".join(f"{line}\n" for line in commented_facts(kind, ("year",))) + TAIL


def commented_facts(kind: str, stated_names: Container[str]) -> Iterator[str]:
    """The facts of a kind of entry, each commented out with an example, except ``stated_names`` (dotted)."""
    yield from _commented_fact_lines(schema()["$defs"][f"{kind}_facts"], 1, stated_names, "")


def _commented_fact_lines(node: dict[str, Any], depth: int, stated_names: Container[str], group: str) -> Iterator[str]:
    """The facts of a schema node, each commented out, with its description."""
    for key, fact in node.get("properties", {}).items():
        if f"{group}{key}" in stated_names:
            continue
        indent = "  " * depth
        description = str(fact.get("description", "")).replace("\n", " ")
        if "properties" in fact:
            yield f"#{indent}{key}:  # {description}"
            yield from _commented_fact_lines(fact, depth + 1, stated_names, f"{group}{key}.")
        else:
            yield f"#{indent}{key}: {flow_text(fact['examples'][0])}  # {description}"


def flow_text(value: Any) -> str:
    """A value in YAML flow style, quoted only if needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_text(item) for item in value) + "]"
    plain = isinstance(value, str) and value[:1].isalnum() and all(c.isalnum() or c in " /._-" for c in value)
    number = plain and value.replace(".", "").replace("-", "").isdigit()
    return value if plain and not number else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Origin:
    """The source of a model's sizes: the model's name and vendor, the address of the file, and the day of reading."""

    name: str
    vendor: str
    url: str
    read: date


MODEL_HEAD = """\
kind: model
id: {id}
name: {name}
vendor: {vendor}
status: {{is: shipping, as_of: {read}}}
sources:
  config:
    title: {title}
    url: {url}
    read: {read}
source: config
facts:
"""


class NewEntry(NamedTuple):
    """The text of an entry that a program wrote, with comments that list its open facts, and these facts."""

    text: str
    left_open: tuple[str, ...] = ()


def open_comments(left_open: Sequence[str]) -> Iterator[str]:
    """The comments of an entry about facts that a program left open.

    >>> list(open_comments(["memory: two figures"]))
    ['#  left open:', '#  memory: two figures']
    """
    if left_open:
        yield "#  left open:"
    yield from (f"#  {line}" for line in left_open)


def model_entry(
    id_: str, origin: Origin, facts: Mapping[str, Any], counts: Mapping[str, int], left_open: Sequence[str] = ()
) -> NewEntry:
    """A model entry from the sizes of its configuration, by dotted name, such as `latent_attention.kv`.

    ``counts`` are parameters counted from those sizes: assumptions, without biases. ``left_open`` are lines about facts
    that the configuration does not decide.
    """
    name, vendor, title, url = (
        json.dumps(text, ensure_ascii=False)
        for text in (origin.name, origin.vendor, f"config.json of {origin.name}", origin.url)
    )
    day = origin.read.isoformat()
    head = MODEL_HEAD.format(id=id_, name=name, vendor=vendor, title=title, url=url, read=day)
    groups: dict[str, Any] = {}
    for place, value in facts.items():
        group, _, key = place.partition(".")
        if key:
            groups.setdefault(group, {})[key] = value
        else:
            groups[place] = value
    reason = "counted from the sizes above, without biases"
    counted = {place: {"is": count, "assumed": reason} for place, count in counts.items()}
    lines = [f"  {place}: {flow_text(value)}" for place, value in (groups | counted).items()]
    return NewEntry(head + "".join(f"{line}\n" for line in [*lines, *open_comments(left_open)]), tuple(left_open))


# Faults of company catalog folders: entries that are invalid, misplaced, or refer to unknown ids

REFERENCES = {
    "framework": {"base": "framework", "stacks": "framework"},
    "accelerator": {
        "scale_up.interconnects": "interconnect",
        "scale_out.technology": "interconnect",
        "kernels": "kernels",
    },
    "kernels": {"accelerator": "accelerator"},
    "platform": {
        "accelerator": "accelerator",
        "interconnect": "interconnect",
        "technologies": "interconnect",
        "nic": "nic",
    },
}
"""Facts whose value is the id of another entry, with the kind of that entry."""
DEEPEST = 3
"""Folders below a catalog folder that are searched for misplaced entries."""
MOST = 1_000
"""Largest number of files of a catalog folder that are searched for misplaced entries."""


@dataclass(frozen=True)
class CheckedFile:
    """A file of a catalog folder with its findings."""

    source: Source
    findings: tuple[Finding, ...]


def checked_files(folders: Sequence[FilePath]) -> Iterator[CheckedFile]:
    """The YAML files of catalog folders with their findings; entries may refer to each other and to shipped ones.

    Raises `NotADirectoryError` if a folder does not exist, `UnreadableFolder` if it cannot be read.
    """
    whole = Catalog.open(folders)
    for folder in folders:
        own, files = Catalog.open([folder]), Folders([folder])
        for kind in KINDS:
            for id_, file in files.files(kind).items():
                yield CheckedFile(_file_source(FilePath(file)), _entry_faults(own, whole, kind, id_))
        yield from (_misplaced_file(file, why, help_) for file, why, help_ in _misplaced_files(folder))


def _entry_faults(company_catalog: Catalog, catalog: Catalog, kind: str, id_: str) -> tuple[Finding, ...]:
    try:
        company_catalog.get(kind, id_)
    except BrokenEntry as broken:
        return broken.findings
    return tuple(
        company_catalog.finding(kind, id_, problem)
        for problem in _unknown_id_problems(catalog, company_catalog.raw_entry(kind, id_))
    )


def _unknown_id_problems(catalog: Catalog, entry: RawEntry) -> Iterator[Problem]:
    """The problems with references to unknown ids."""
    for name, kind in REFERENCES.get(entry.kind, {}).items():
        fact = entry.facts.get(name)
        value = fact.value if fact else []
        for id_ in value if isinstance(value, list) else [value]:
            if fact and str(id_) not in catalog.ids(kind):
                near = catalog.nearest_ids(kind, str(id_))
                advice = f"did you mean {', '.join(near)}?" if near else f"`clusterspec catalog list {kind}` lists them"
                yield Problem("unknown-catalog-id", fact.path, f"no {kind} `{id_}` in the catalog", advice)


def _misplaced_files(folder: FilePath) -> Iterator[tuple[FilePath, str, str]]:
    """The YAML files of a catalog folder that are not read, each with the reason and the advice."""
    places = {place: kind for kind, place in FOLDER_OF_KIND.items()}
    found = (file for file in sorted(folder.rglob("*.y*ml"))[:MOST] if file.suffix in {".yaml", ".yml"})
    for file in found:
        *parents, _ = file.relative_to(folder).parts
        if any(part.startswith(".") for part in file.relative_to(folder).parts) or len(parents) > DEEPEST:
            continue
        if len(parents) == 1 and parents[0] in places:
            if file.suffix == ".yml":
                yield file, "an entry is a file with the suffix .yaml", f"rename it to {file.stem}.yaml"
            continue
        why = f"{'/'.join(parents)} is not a folder of entries" if parents else "this is outside the folders of entries"
        near = get_close_matches(parents[0], places, n=1) if parents else []
        known = ", ".join(FOLDER_OF_KIND.values())
        kind = _named_kind(file)
        place = FOLDER_OF_KIND.get(kind or "", near[0] if near else "")
        yield (
            file,
            f"{why}; it is not read",
            f"move it to {place}/{file.stem}.yaml" if place else f"entries are in the folders {known}",
        )


def _named_kind(file: FilePath) -> str | None:
    """The kind that a misplaced entry states; None if it states none."""
    try:
        document, _ = parse(decode(str(file), read_bytes(file)))
    except OSError:
        return None
    value = document.value if document is not None else None
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else None


def _file_source(file: FilePath) -> Source:
    try:
        return decode(str(file), read_bytes(file))
    except OSError:
        return Source(str(file), "")


def _misplaced_file(file: FilePath, why: str, help_: str) -> CheckedFile:
    source, top = _file_source(file), Position(1, 1)
    span = Span(source.name, top, top)
    return CheckedFile(
        source, (to_finding(Problem("catalog-entry-misplaced", (), why, help_, span=span), None, source),)
    )
