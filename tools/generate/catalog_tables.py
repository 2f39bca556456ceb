"""A table of each kind of entry that can be sorted by any column, as one HTML file without libraries.

Figures stand in one convention, so that a column can be compared: bandwidths per direction, peaks
dense, bytes in decimal units. The pages in Markdown print them as their sources do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from html import escape

from clusterspec.catalog import KINDS, Catalog
from clusterspec.catalog.open_data import LICENSE_URL
from clusterspec.catalog.views import EntryView, FactView, entry_view

POWER = ("power.typical", "power.max")

FACTS = {
    "accelerator": (
        *("year", "memory", "memory_bandwidth", "peak.bf16", "peak.fp8", "peak.fp4", "scale_up.bandwidth"),
        *("scale_up.domains", "scale_out.nic_bandwidth", *POWER),
    ),
    "interconnect": ("scope", "family", "generation", "year", "lane.bandwidth", "link.bandwidth", "bandwidth"),
    "nic": ("ports", "port_bandwidth", "pcie", "lanes", "cages", "connector", "power.max"),
    "switch": ("ports", "port_bandwidth", "capacity", "cages", "connector", "splits", "rack_units", *POWER),
    "optics": ("type", "reach_class", "media", "bandwidth", "ports", "reach", "cages", "top", *POWER),
    "storage-system": ("read", "write", "capacity", "nodes", "rack_units", "power.max"),
    "cdu": ("capacity", "approach", "flow", "form", "rack_units"),
    "platform": (
        *("accelerator", "accelerators_per_node", "domain", "scale_up_bandwidth", "nics_per_node", "nic_bandwidth"),
        *("node_bandwidth", "cages", "rack_units", *POWER),
    ),
    "model": (
        *("parameters", "active_parameters", "layers", "hidden", "heads", "kv_heads", "experts"),
        *("experts_per_token", "vocab", "max_sequence_length"),
    ),
    "framework": ("base", "purposes"),
    "library": ("vendors", "releases"),
    "stack": ("year", "selective"),
    "kernels": ("accelerator", "year"),
    "failure-rate": ("afr", "failures", "parts", "observed", "range.low", "range.high", "repair"),
}
_DIGITS = 4
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 2em; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .25em .6em; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap; }}
td[data-v] {{ text-align: right; }}
td:not([data-v], :empty, :first-child) {{ white-space: normal; min-width: 11em; max-width: 26em; }}
th button {{ font: inherit; font-weight: bold; border: 0; background: none; padding: 0; cursor: pointer; }}
</style>
<h1>{title}</h1>
<p>{intro}</p>
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
<script>
const body = document.querySelector("tbody"), heads = [...document.querySelectorAll("th")];
heads.forEach((head, column) => head.onclick = () => {{
  const down = head.ariaSort === "descending" ? 1 : -1;
  const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
  heads.forEach(each => each.ariaSort = null);
  head.ariaSort = down < 0 ? "descending" : "ascending";
  const rows = [...body.rows].sort((a, b) => {{
    const [x, y] = [key(a), key(b)];
    if (x === "" || y === "") return (x === "") - (y === "");
    return down * (isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y);
  }});
  body.append(...rows);
}});
</script>
</html>
"""


_INTRO = """Made from <code>catalog/</code> by <code>make docs</code>; the data are licensed
<a href="{license}">CC BY 4.0</a>. Bandwidths are per direction, peaks dense, bytes decimal.
A click on a heading sorts by it. Each figure's source: <a href="{kind}.md">{kind}.md</a>."""


def sortable(title: str, intro: str, columns: Iterable[str], body: str) -> str:
    """A page with one table that can be sorted by its headings; ``intro`` and ``body`` (rows) are HTML."""
    head = "".join(f"<th><button>{escape(name)}</button></th>" for name in columns)
    return _PAGE.format(title=escape(title), intro=intro, head=head, body=body)


def table_pages() -> dict[str, Callable[[], str]]:
    """One sortable table for each kind of entry, by its path from the root."""
    return {f"docs/catalog/{kind}.html": partial(table_page, kind) for kind in KINDS}


def table_page(kind: str) -> str:
    """All entries of a kind, one a row; an empty cell where an entry lacks the fact."""
    catalog = Catalog.open()
    entries = [entry_view(catalog.raw_entry(kind, name)) for name in catalog.ids(kind)]
    columns = ("id", "name", "vendor", "status", *FACTS[kind])
    body = "\n".join(_row(entry) for entry in entries)
    return sortable(f"Catalog: {kind}", _INTRO.format(license=LICENSE_URL, kind=kind), columns, body)


def _row(entry: EntryView) -> str:
    lines = {line.name: line for line in entry.facts}
    words = (entry.id, entry.name, entry.vendor, entry.status.state)
    cells = [f"<td>{escape(word)}</td>" for word in words]
    return f"<tr>{''.join(cells)}{''.join(_cell(lines.get(name)) for name in FACTS[entry.kind])}</tr>"


def _cell(line: FactView | None) -> str:
    if line is None:
        return "<td></td>"
    if line.value is None:
        return f"<td>{escape(line.written)}</td>"
    return f'<td data-v="{line.value:.6g}">{escape(line.decimal_text(_DIGITS))}</td>'
