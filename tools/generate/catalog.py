"""The catalog reference, and the generated index of all entries: rows and a version."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from clusterspec import resources
from clusterspec.catalog import KINDS, Catalog
from clusterspec.catalog.documented_facts import documented_facts
from clusterspec.catalog.export import catalog_row, index_text
from clusterspec.catalog.known_parts import known_parts
from clusterspec.catalog.reader import RawEntry
from clusterspec.catalog.views import FactView, entry_view, fact_remarks, figure_text
from clusterspec.source import Cited

HEAD = """# Catalog

<!-- Made from `catalog/` by `make docs`. -->

Every figure has a source, or the reason why it is assumed. Bandwidths are
printed as in their source, each with its direction, its scope (lane, link, pair, port, slot, device, node, switch)
and its basis (signaling, after line code, payload, measured). *As quoted in* means that the source itself was not
read, but the document named there, which quotes it. `clusterspec catalog show ID` prints an entry with every reading
of its bandwidths, `catalog compare ID ID…` puts entries side by side in one convention, `catalog export` writes every
fact as CSV, JSON, SQLite or Parquet, and `catalog audit` reports what no longer adds up or is due for review.
The schema of the JSON, [catalog-export.schema.json](../schemas/catalog-export.schema.json), gives the meaning and the
unit of every column; `--parquet FILE` needs `pip install 'clusterspec[parquet]'`.

Releases of the data have names of their own, such as `catalog-2026.12` ([what changed by value](../catalog/CHANGES.md);
[how to cite](../CITATION.cff)). SAMPLE

The data are licensed [CC BY 4.0](../catalog/LICENSE); the program has its own license.

Tables to sort by any column, in one convention: SORTABLE.
"""
FACTS_HEAD = """# Documented facts

<!-- Made from `catalog/documented-facts.csv` by `make docs`. -->

The rule [text-contradicts-documentation](rules/text-contradicts-documentation.md) reports sentences of a spec that
claim the contrary of one of these. A row of the table also has the words of the claim, in the notation that
`clusterspec/catalog/documented_facts.py` describes.
"""
SAMPLES = Path(__file__).resolve().parents[2] / "tests" / "catalog"
TITLES = {
    "accelerator": "Accelerators",
    "interconnect": "Interconnects",
    "nic": "Network adapters",
    "switch": "Switches",
    "optics": "Optics and cables",
    "storage-system": "Storage systems",
    "cdu": "Cooling distribution units",
    "platform": "Platforms",
    "model": "Models",
    "framework": "Frameworks",
    "library": "Drivers, toolkits and libraries",
    "stack": "Software stacks",
    "kernels": "Measured kernels",
    "failure-rate": "Failure rates",
}
RUN = frozenset({"model", "framework", "library"})
"""Kinds of parts that run on hardware."""
MACHINES = frozenset({"accelerator", "platform", "processor"})
"""Kinds of parts that compute."""
WITHOUT_ENTRY = (
    "Parts without an entry: no source states the figures of a design. `clusterspec catalog search` finds them."
)


def raw_entries(kind: str) -> list[RawEntry]:
    catalog = Catalog.open()
    return [catalog.raw_entry(kind, name) for name in catalog.ids(kind)]


def rows_of_all() -> str:
    """``catalog/index.json``."""
    return index_text([raw_entry for kind in KINDS for raw_entry in raw_entries(kind)])


def version() -> str:
    """``catalog/VERSION``: the latest day of a status, and a digest of all entries."""
    files = sorted(resources.catalog().rglob("*.yaml"))
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
    latest = max(raw_entry.status.as_of for kind in KINDS for raw_entry in raw_entries(kind))
    return f"{latest}-{digest[:8]}\n"


def page() -> str:
    """The front page: how to read an entry, and one line for each."""
    sortable = ", ".join(f"[{TITLES[kind].lower()}](catalog/{kind}.html)" for kind in KINDS)
    return "\n".join(
        [
            HEAD.replace("SORTABLE", sortable).replace("SAMPLE", sample_text()),
            *(line for kind in KINDS if raw_entries(kind) for line in _front(kind)),
            *_parts_without_entries(),
        ]
    )


def sample_text() -> str:
    """The results for figures that were drawn at random and looked up at their sources."""
    files = sorted(SAMPLES.glob("sample_*.csv"))
    rows = [row for file in files for row in csv.DictReader(file.read_text("utf-8").splitlines())]
    confirmed, wrong = (sum(row["verdict"] == verdict for row in rows) for verdict in ("confirmed", "wrong"))
    return (
        f"Of {len(rows)} figures with a source that were drawn at random in November and December 2026, {confirmed}"
        f" were confirmed at it or\nelsewhere, {wrong} were wrong, and {len(rows) - confirmed - wrong} could not be"
        " opened, recounted or decided (`tests/catalog/sample_2026_*.csv`)."
    )


def kind_pages() -> dict[str, Callable[[], str]]:
    """One page for each kind of entry, by its path from the root."""
    return {f"docs/catalog/{kind}.md": partial(kind_page, kind) for kind in KINDS if raw_entries(kind)}


def kind_page(kind: str) -> str:
    """All entries of a kind, every fact with its source."""
    parts = [f"# {TITLES[kind]}\n\nMade from `catalog/` by `make docs`; [how to read this](../catalog.md).\n"]
    return "\n".join([*parts, *(line for raw_entry in raw_entries(kind) for line in _section(raw_entry))])


def documented_facts_page() -> str:
    """The facts of documentation that texts are compared with."""
    rows = (f"| {fact.id} | {fact.severity} | {fact.fact} | [source]({fact.source}) |" for fact in documented_facts())
    return "\n".join([FACTS_HEAD, "| fact | severity | what the documentation says | |\n|---|---|---|---|", *rows, ""])


def _front(kind: str) -> Iterator[str]:
    yield f"## {TITLES[kind]}\n"
    yield "| id | name | status | main figures |\n|---|---|---|---|"
    for raw_entry in raw_entries(kind):
        short, link = catalog_row(raw_entry), f"[{raw_entry.id}](catalog/{kind}.md#{_anchor(raw_entry.id)})"
        yield f"| {link} | {raw_entry.name} | {short.status} | {short.headline} |"
    yield ""


def _parts_without_entries() -> Iterator[str]:
    """The sections on parts that are known by name alone: machines, what is around them, and what runs on them."""
    parts = list(known_parts())
    for title, in_section in (
        ("Accelerators and machines known by name", [each for each in parts if each.kind in MACHINES]),
        (
            "Networks, storage, power and cooling known by name",
            [each for each in parts if each.kind not in MACHINES | RUN],
        ),
        ("Models and software known by name", [each for each in parts if each.kind in RUN]),
    ):
        yield f"## {title}\n"
        yield WITHOUT_ENTRY
        yield ""
        yield "| part | kind | status | stated | unknown | source |\n|---|---|---|---|---|---|"
        for each in in_section:
            source = f"[{each.source}]({each.url}), {each.read}"
            status = f"{each.status} {each.year}".rstrip()
            yield f"| {each.vendor} {each.name} | {each.kind} | {status} | {each.states} | {each.unknown} | {source} |"
        yield ""


def _anchor(name: str) -> str:
    return name.replace(".", "")


def _section(raw_entry: RawEntry) -> Iterator[str]:
    whole = entry_view(raw_entry)
    vendor = f", {raw_entry.vendor}" if raw_entry.vendor else ""
    note = f" ({raw_entry.status.note})" if raw_entry.status.note else ""
    yield f"## {raw_entry.id}\n"
    yield f"{raw_entry.name}{vendor}; {raw_entry.status.state} as of {raw_entry.status.as_of}{note}.\n"
    yield "| fact | figure | source |\n|---|---|---|"
    for line in (*whole.facts, *whole.achievable):
        yield f"| {line.name} | {_figure(line)} | {_source(line)} |"
    yield ""
    for name, why in raw_entry.exceptions.items():
        yield f"The sum of *{name}* does not close: {why}.\n"
    for text in raw_entry.notes:
        yield f"{text}\n"


def _figure(line: FactView) -> str:
    prints = [f"printed as {line.fact.prints}"] if line.fact.prints else []
    return "; ".join([figure_text(line.fact), *prints, *fact_remarks(line.fact)]).replace("|", "\\|")


def _source(line: FactView) -> str:
    origin = line.fact.origin
    if not isinstance(origin, Cited):
        return f"assumed: {origin.why}" if origin else ""
    also = "".join(f"; also [{one.named}]({one.url})" for one in line.fact.also)
    if not origin.url:
        return origin.source + also
    return f"[{origin.source}]({origin.url}), read {origin.read}{also}"
