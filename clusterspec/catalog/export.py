"""The catalog as text: summary rows, pages of entries and comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from clusterspec import resources
from clusterspec.catalog import Catalog
from clusterspec.catalog.frameworks import SUPPORT
from clusterspec.catalog.reader import RawEntry
from clusterspec.catalog.views import Comparison, EntryView, FactPair, FactView, fact_remarks, figure_text, value_text
from clusterspec.document import nearest_words
from clusterspec.records import asdict, dataclass
from clusterspec.source import Cited
from clusterspec.standard import cached_property
from clusterspec.units import plain
from clusterspec.units.symbols import printed_capacity

# Summary rows of entries, as shown by ``catalog list`` and ``catalog search``


@dataclass(frozen=True)
class CatalogRow:
    """The summary of an entry.

    ``headline`` has its main figures as written; ``year`` is the year of first shipment, or None; ``aliases`` are the
    other names by which it is sold, its part numbers, and the repository of a model's checkpoint.
    """

    kind: str
    id: str
    name: str
    vendor: str
    status: str
    as_of: str
    year: int | None
    headline: str
    aliases: str = ""

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return asdict(self)

    @cached_property
    def words(self) -> str:
        """The searched text, in lower case."""
        parts = (f"{self.kind}/{self.id}", self.name, self.vendor, self.status, self.headline, self.aliases)
        return " ".join(parts).lower()


def catalog_rows(catalog: Catalog, kinds: Sequence[str] = ()) -> tuple[CatalogRow, ...]:
    """The rows of a catalog by kind and id, optionally of some kinds only.

    Raises `BrokenEntry` for an invalid company entry.
    """
    shipped = {(each.kind, each.id): each for each in shipped_rows()}
    found = [
        shipped[kind, name] if catalog.is_shipped(kind, name) else catalog_row(catalog.raw_entry(kind, name))
        for kind in kinds or catalog.kinds
        for name in catalog.ids(kind)
    ]
    return tuple(found)


def filtered_rows(rows: Sequence[CatalogRow], vendor: str = "", since: int | None = None) -> tuple[CatalogRow, ...]:
    """The rows whose vendor contains a text, ignoring case, and whose year is ``since`` or later.

    Parts without a year are excluded if ``since`` is given.
    """
    return tuple(
        each
        for each in rows
        if vendor.lower() in each.vendor.lower() and (since is None or (each.year is not None and each.year >= since))
    )


def nearest_vendors(rows: Sequence[CatalogRow], text: str) -> list[str] | None:
    """The vendors whose name, or a word of it, is most similar to a text. None if the text is contained in a vendor's
    name.

    >>> nearest_vendors([CatalogRow("nic", "connectx-7", "ConnectX-7", "NVIDIA", "shipping", "", 2022, "")], "nvidea")
    ['NVIDIA']
    """
    vendors = {each.vendor for each in rows if each.vendor}
    if any(text.lower() in vendor.lower() for vendor in vendors):
        return None
    words = {word: vendor for vendor in sorted(vendors, reverse=True) for word in vendor.split() if len(word) > 3}
    forms = words | {vendor: vendor for vendor in vendors}
    return sorted({forms[form] for form in nearest_words(text, forms)})


def catalog_row(raw_entry: RawEntry) -> CatalogRow:
    """The row of one raw entry."""
    headline = " · ".join(part for part in _HEADLINES[raw_entry.kind](raw_entry) if part)
    year, repository = raw_entry.facts.get("year"), raw_entry.facts.get("repository")
    names = (*raw_entry.aliases, *_new_part_numbers(raw_entry))
    return CatalogRow(
        raw_entry.kind,
        raw_entry.id,
        raw_entry.name,
        raw_entry.vendor,
        raw_entry.status.state,
        raw_entry.status.as_of,
        year.value if year and isinstance(year.value, int) else None,
        headline,
        ", ".join((*names, *([str(repository.value)] if repository else []))),
    )


def _new_part_numbers(raw_entry: RawEntry) -> Iterator[str]:
    """The part numbers of an entry that are not among its names."""
    numbers = raw_entry.facts.get("part_numbers")
    names = {each.lower() for each in (raw_entry.id, raw_entry.name, *raw_entry.aliases)}
    listed = numbers.value if numbers is not None and isinstance(numbers.value, list | tuple) else ()
    yield from (str(each) for each in listed if str(each).lower() not in names)


def index_text(raw_entries: Sequence[RawEntry]) -> str:
    """The text of ``catalog/index.json``: the rows of all raw entries, one per line."""
    lines = ",\n".join(json.dumps(catalog_row(raw_entry).to_json(), ensure_ascii=False) for raw_entry in raw_entries)
    return f"[\n{lines}\n]\n"


@cache
def shipped_rows() -> tuple[CatalogRow, ...]:
    """The rows of all shipped entries, from their index, read once."""
    text = (resources.catalog() / "index.json").read_text(encoding="utf-8")
    return tuple(CatalogRow(**values) for values in json.loads(text))


def _accelerator_figures(raw_entry: RawEntry) -> Iterator[str]:
    memory = raw_entry.facts.get("memory")
    yield (printed_capacity(memory.prints) or str(memory.value)) if memory else ""
    yield _fact_text(raw_entry, "memory_bandwidth")
    precision = "bf16" if "peak.bf16" in raw_entry.facts else "fp16"
    peak = _fact_text(raw_entry, f"peak.{precision}")
    yield peak and f"{peak} {precision}"
    yield _fact_text(raw_entry, "scale_up.bandwidth")


def _interconnect_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield _fact_text(raw_entry, "scope")
    yield _fact_text(raw_entry, "bandwidth")
    ports = _fact_text(raw_entry, "node_ports")
    yield ports and f"{ports} ports per node"


def _nic_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_fact_text(raw_entry, 'ports')} × {_fact_text(raw_entry, 'port_bandwidth')}"
    slot = _fact_text(raw_entry, "pcie")
    yield slot and f"PCIe {slot}"


def _switch_figures(raw_entry: RawEntry) -> Iterator[str]:
    ports, rate = _fact_text(raw_entry, "ports"), _fact_text(raw_entry, "port_bandwidth")
    yield f"{ports} × {rate}" if ports else f"{rate}, number of ports not published"
    yield _fact_text(raw_entry, "families")


def _optics_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_fact_text(raw_entry, 'type')}, {_fact_text(raw_entry, 'media')}"
    yield _fact_text(raw_entry, "bandwidth")
    yield _fact_text(raw_entry, "reach")
    yield _fact_text(raw_entry, "cages")


def _storage_figures(raw_entry: RawEntry) -> Iterator[str]:
    for name, what in (("read", "read"), ("write", "write"), ("capacity", "")):
        value = _fact_text(raw_entry, name)
        yield value and f"{value} {what}".rstrip()


def _cdu_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_fact_text(raw_entry, 'capacity')} of heat"
    yield _fact_text(raw_entry, "form")


def _platform_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield f"{_fact_text(raw_entry, 'accelerators_per_node')} × {_fact_text(raw_entry, 'accelerator')}"
    domain = _fact_text(raw_entry, "domain")
    yield domain and f"domain {domain}"
    nics = _fact_text(raw_entry, "nics_per_node")
    rate = _fact_text(raw_entry, "nic_bandwidth")
    yield nics and (f"{nics} × {rate}" if rate else f"{nics} NICs, rate not published")
    yield _fact_text(raw_entry, "technologies").split(", ")[0]


def _model_figures(raw_entry: RawEntry) -> Iterator[str]:
    size = raw_entry.facts.get("parameters")
    yield (size.prints or str(size.value)) if size else ""
    yield f"{_fact_text(raw_entry, 'layers')} layers of {_fact_text(raw_entry, 'hidden')}"
    experts = _fact_text(raw_entry, "experts")
    yield experts and f"{experts} experts, {_fact_text(raw_entry, 'experts_per_token')} per token"


def _framework_figures(raw_entry: RawEntry) -> Iterator[str]:
    base, vendors = _fact_text(raw_entry, "base"), _fact_text(raw_entry, "vendors")
    yield base and f"as {base}"
    yield _fact_text(raw_entry, "purposes")
    yield vendors and f"on accelerators of {vendors}"


def _stack_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield _fact_text(raw_entry, "frameworks")
    yield f"from {_fact_text(raw_entry, 'year')}"


def _kernel_figures(raw_entry: RawEntry) -> Iterator[str]:
    yield f"measured on {_fact_text(raw_entry, 'accelerator')}"
    yield f"{len(raw_entry.achievable)} figures"


def _failure_figures(raw_entry: RawEntry) -> Iterator[str]:
    rate, failures = _fact_text(raw_entry, "afr"), _fact_text(raw_entry, "failures")
    parts, observed = _fact_text(raw_entry, "parts"), _fact_text(raw_entry, "observed")
    yield f"{rate} failures a year" if rate else f"{failures} failures of {parts} in {observed}"
    yield f"{_fact_text(raw_entry, 'range.low')} to {_fact_text(raw_entry, 'range.high')} a year"


_HEADLINES: dict[str, Callable[[RawEntry], Iterator[str]]] = {
    "accelerator": _accelerator_figures,
    "interconnect": _interconnect_figures,
    "nic": _nic_figures,
    "switch": _switch_figures,
    "optics": _optics_figures,
    "storage-system": _storage_figures,
    "cdu": _cdu_figures,
    "platform": _platform_figures,
    "model": _model_figures,
    "framework": _framework_figures,
    "library": _framework_figures,
    "stack": _stack_figures,
    "kernels": _kernel_figures,
    "failure-rate": _failure_figures,
}


def _fact_text(raw_entry: RawEntry, name: str) -> str:
    fact = raw_entry.facts.get(name)
    return value_text(fact.value) if fact else ""


# Catalog entries as terminal text: pure functions of rows, views and comparisons

_INDENT = 4


def list_text(rows: Sequence[CatalogRow], width: int) -> str:
    """A table of rows, one block per kind."""
    blocks = []
    for kind in dict.fromkeys(row.kind for row in rows):
        of_kind = [row for row in rows if row.kind == kind]
        cells = [(row.id, "" if row.status == "shipping" else row.status, row.headline) for row in of_kind]
        blocks.append("\n".join([f"{kind} ({len(of_kind)})", *_table_lines(cells, width)]))
    return "\n\n".join(blocks) + "\n" if blocks else "no catalog entry matches\n"


def show_text(view: EntryView, width: int) -> str:
    """A complete entry: each figure with equivalents and the number of its source."""
    numbers = {source: number for number, source in enumerate(_distinct_sources(view), 1)}
    matrix = [line for line in view.facts if line.name.startswith(SUPPORT)]
    facts = [line for line in view.facts if not line.name.startswith(SUPPORT)]
    parts = [_entry_title(view), "", *_fact_lines(facts, numbers, width)]
    if matrix:
        parts += [
            "",
            "support matrix (the opposite holds outside the releases)",
            *_matrix_lines(matrix, numbers, width),
        ]
    if view.achievable:
        parts += ["", "measured", *_fact_lines(view.achievable, numbers, width)]
    parts += _titled_list("inconsistent sums", [f"{name}: {why}" for name, why in view.exceptions.items()], width)
    parts += _titled_list("also sold as", view.aliases, width)
    parts += _titled_list("replaced by", [view.replaced_by] if view.replaced_by else [], width)
    parts += _titled_list("notes", view.notes, width)
    parts += _titled_list(
        "sources", [f"[{number}] {_citation_text(source)}" for source, number in numbers.items()], width
    )
    return "\n".join(parts) + "\n"


def compare_text(comparison: Comparison, width: int) -> str:
    """Two entries side by side; ``=`` if they agree, else the ratio of right to left."""
    left, right = comparison.left, comparison.right
    header = ("", f"{left.kind}/{left.id}", f"{right.kind}/{right.id}", "")
    cells = [
        header,
        *((pair.name, _side_text(pair.left), _side_text(pair.right), _ratio_text(pair)) for pair in comparison.pairs),
    ]
    return "\n".join(_table_lines(cells, width)) + "\n"


def _entry_title(view: EntryView) -> str:
    vendor = f" ({view.vendor})" if view.vendor else ""
    note = f", {view.status.note}" if view.status.note else ""
    return f"{view.kind}/{view.id}: {view.name}{vendor}\n{view.status.state} as of {view.status.as_of}{note}"


def _distinct_sources(view: EntryView) -> dict[Cited, None]:
    """The distinct sources, in the order of the facts."""
    origins = [line.fact.origin for line in (*view.facts, *view.achievable)]
    return dict.fromkeys(_bare_source(origin) for origin in origins if isinstance(origin, Cited))


def _bare_source(origin: Cited) -> Cited:
    return Cited("", "", origin.source, origin.url, origin.read)


def _citation_text(source: Cited) -> str:
    return ", ".join(part for part in (source.source, source.url, source.read and f"read {source.read}") if part)


def _fact_lines(lines: Sequence[FactView], numbers: dict[Cited, int], width: int) -> Iterator[str]:
    names = [line.name.removeprefix("achievable.") for line in lines]
    column = max((len(name) for name in names), default=0) + 2
    for name, line in zip(names, lines, strict=True):
        figure = f"{name:<{column}}{_figure_text(line)}  {_source_mark(line, numbers)}".rstrip()
        yield from [figure] if len(figure) <= width else _between_words(figure, width, "", " " * _INDENT)
        yield from _wrapped_details(line, width)


def _matrix_lines(lines: Sequence[FactView], numbers: dict[Cited, int], width: int) -> Iterator[str]:
    """The support matrix, releases first, since the list of combinations is long."""
    figures = [f"{_figure_text(line)}  {_source_mark(line, numbers)}".rstrip() for line in lines]
    column = max(map(len, figures)) + 2
    for figure, line in zip(figures, lines, strict=True):
        yield f"{figure:<{column}}{line.name.removeprefix(SUPPORT)}"
        yield from _wrapped_details(line, width)


def _wrapped_details(line: FactView, width: int) -> Iterator[str]:
    import textwrap  # its patterns take a millisecond, and rules read lists of entries without printing them

    for text in _detail_lines(line):
        yield from textwrap.wrap(
            text, max(width, 40), initial_indent=" " * _INDENT, subsequent_indent=" " * (_INDENT + 2)
        )


def _figure_text(line: FactView) -> str:
    prints = f", printed as {line.fact.prints}" if line.fact.prints else ""
    return figure_text(line.fact) + prints


def _source_mark(line: FactView, numbers: dict[Cited, int]) -> str:
    origin = line.fact.origin
    if isinstance(origin, Cited):
        return f"[{numbers[_bare_source(origin)]}]"
    return "assumed" if origin else ""


def _detail_lines(line: FactView) -> Iterator[str]:
    if line.readings:
        yield " · ".join(f"{counted} {text}" for counted, text in line.readings.items())
    if line.fact.origin and not isinstance(line.fact.origin, Cited):
        yield f"assumed: {line.fact.origin.why}"
    if line.fact.also:
        yield f"also in {'; '.join(one.named for one in line.fact.also)}"
    yield from fact_remarks(line.fact)


def _titled_list(title: str, texts: Sequence[str], width: int) -> list[str]:
    """A titled list that is wrapped only between words, so that addresses can be copied."""
    indent = " " * _INDENT
    wrapped = [_between_words(text, width, indent, indent) for text in texts]
    return ["", title, *(line for lines in wrapped for line in lines)] if texts else []


def _between_words(text: str, width: int, first: str, then: str) -> list[str]:
    import textwrap

    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )


def _side_text(line: FactView | None) -> str:
    return "-" if line is None else line.written


def _ratio_text(pair: FactPair) -> str:
    if pair.ratio is None:
        return "=" if pair.left and pair.right and pair.left.written == pair.right.written else ""
    return "=" if pair.ratio == 1 else f"× {plain(pair.ratio)}"


def _table_lines(cells: Sequence[tuple[str, ...]], width: int) -> Iterator[str]:
    """Columns as wide as their longest cell, with lines truncated at ``width`` (0: not truncated)."""
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
        yield line if not width or len(line) <= width else line[: width - 1] + "…"
