"""Documents for purchasing: clauses of a request for proposals, and the bill as CSV and XLSX."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from math import floor, inf, log10

from clusterspec.cells import escaped_cell
from clusterspec.exchange.acceptance_cases import acceptance_cases
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, MissingPart, NotExportable, csv_table
from clusterspec.exchange.purchasing.numbers import written_number
from clusterspec.procurement.bill import SHEET, sheet_rows
from clusterspec.procurement.items import Item
from clusterspec.units import display, display_bits, plural, size_text

# Clauses of a request for proposals in Markdown: scope of supply, acceptance and delivery, without prices


def write_clauses(source: ExportInput) -> ExportedFile:
    """Numbered clauses. A supplier can answer each with yes, no or a figure."""
    sections = [
        ("Machine", _machine_lines(source)),
        ("Fabric", _fabric_lines(source)),
        ("Acceptance", _acceptance_lines(source)),
        ("Delivery and support", _delivery_lines(source)),
    ]
    lines = [f"# Requirements: {_plain_text(source.design.spec.name or 'cluster')}", ""]
    for number, (title, clauses) in enumerate(sections, 1):
        found = list(clauses)
        if found:
            lines += [f"## {number}. {title}", ""]
            lines += [f"{number}.{at} {clause}" for at, clause in enumerate(found, 1)]
            lines.append("")
    return ExportedFile("\n".join(lines))


def _plain_text(text: str) -> str:
    return "".join(c if c.isprintable() and c not in "|<>`*_#[]$&@~\\" else " " for c in text)


_CONNECTED = {
    "switched": "through switches",
    "full-mesh": "as a full mesh",
    "partial-mesh": "as a partial mesh",
    "torus": "as a torus",
    "ring": "as a ring",
    "bridge": "by bridges",
    "pcie": "over PCIe",
}


def _machine_lines(source: ExportInput) -> Iterator[str]:
    cluster = source.cluster
    spare = f" and {plural(cluster.spare_nodes, 'spare node')}" if cluster.spare_nodes else ""
    each = "each " if cluster.nodes > 1 else ""
    node = f"{each}with {plural(cluster.accelerators_per_node, 'accelerator')} {cluster.accelerator.name}"
    yield f"The supplier shall deliver {plural(cluster.nodes, 'node')}{spare}, {node}."
    if cluster.accelerator.memory:
        memory = display(_rounded_down(cluster.accelerator.memory.value), "B")
        yield f"Each accelerator shall have at least {memory} of memory, as its driver reports it."
    up = cluster.scale_up
    if up.domain > 1:
        yield (
            f"The {up.domain} accelerators of a scale-up domain shall be connected {_CONNECTED[up.topology]} with "
            f"at least {display(_rounded_down(up.bandwidth.value), 'B/s')} for each accelerator in each direction."
        )
    if cluster.pcie_host:
        yield f"Slots of accelerators and NICs shall be PCIe {cluster.pcie_host} or later, at full width."


def _rounded_down(value: float) -> float:
    """A minimum, rounded down to three digits so that the design's own value meets the clause.

    >>> _rounded_down(150.755e9), _rounded_down(537.6e9), _rounded_down(450e9)
    (150000000000.0, 537000000000.0, 450000000000.0)
    """
    if not 0 < value < inf:
        return value
    step = 10.0 ** (floor(log10(value)) - 2)
    return floor(value / step + 1e-9) * step


def _fabric_lines(source: ExportInput) -> Iterator[str]:
    scale_out = source.cluster.scale_out
    if scale_out is None:
        return
    yield (
        f"Each node shall have {plural(scale_out.nics_per_node, 'NIC')} of "
        f"{display_bits(scale_out.nic_bandwidth.value)} line rate per direction on {scale_out.technology.name}."
    )
    if scale_out.gpudirect_rdma:
        yield "NICs shall reach accelerator memory without passing through host memory (GPUDirect RDMA or equivalent)."
    taper = scale_out.taper
    word = "shall not be oversubscribed" if taper <= 1 else f"may be oversubscribed by no more than {taper:g}:1"
    yield f"The fabric {word} between any two halves of the nodes; the supplier shall state the ratio of each level."
    fabric = source.bill.fabric
    if fabric is not None:
        counts = {"leaf": fabric.leaf_switches, "spine": fabric.spine_switches, "core": fabric.core_switches}
        shown = ", ".join(plural(count, f"{name} switch") for name, count in counts.items() if count)
        total = sum(fabric.links.values())
        yield "The offer shall list switches and links by level."
        yield f"For comparison, the design counts {shown} and {plural(total, 'link')}."


def _acceptance_lines(source: ExportInput) -> Iterator[str]:
    tests, _, unclear = acceptance_cases(source.design)
    if unclear:
        raise MissingPart(unclear[0])
    for test in tests:
        runs = f" in {test.passes} of {plural(test.runs, 'run')}" if test.runs > 1 else ""
        groups = f" on each of {test.groups} sets of nodes" if test.groups > 1 else ""
        where = f"{test.collective} on {plural(test.nodes, 'node')} ({plural(test.ranks, 'rank')})"
        least = f"a bus bandwidth of at least {test.threshold / 1e9:.4g} GB/s as {test.tool} defines it"
        yield f"{where} of {size_text(test.size)} shall reach {least}{runs}{groups}, without wrong values."
    if tests:
        yield "The supplier shall hand over the unedited logs of all runs, with the lines of the debug output."


def _delivery_lines(source: ExportInput) -> Iterator[str]:
    terms, operations = source.design.spec.procurement, source.design.spec.operations
    weeks = getattr(getattr(terms, "delivery", None), "weeks", None)
    if weeks:
        yield f"Delivery shall be complete within {plural(int(weeks), 'week')} of the order."
    warranty = getattr(terms, "warranty", None)
    if warranty is not None:
        yield f"The warranty shall last {_plain_text(str(getattr(warranty, 'written', warranty)))}."
    if operations is not None and operations.burn_in is not None:
        duration = display(operations.burn_in.value, "s")
        yield f"Every node shall pass a burn-in of {duration} under load before acceptance."
    if operations is not None and operations.repair_time is not None:
        yield f"A failed node shall be repaired or replaced within {display(operations.repair_time.value, 's')}."


# Bill of materials as CSV and XLSX, with the columns that `import quotes` reads

DAY = (1980, 1, 1, 0, 0, 0)
"""Time stamp of all parts of a spreadsheet, so that equal bills give equal files: the earliest date in the ZIP
format.
"""
HEADS = ("kind", "part", "quantity", "unit_price", "price", "currency", "derivation")


def _bill_rows(source: ExportInput) -> list[tuple[object, ...]]:
    items = source.bill.items
    if not items:
        raise MissingPart(f"nothing can be counted: {source.bill.why}")
    return [_bill_row(item) for item in items]


def _bill_row(item: Item) -> tuple[object, ...]:
    unit, whole = (_price_cell(price.price if price else None) for price in (item.unit_price, item.price))
    derivation = f"{item.derivation}; assumed: {item.assumed}" if item.assumed else item.derivation
    return (item.kind, item.part, item.quantity, unit, whole, item.currency, derivation)


def _price_cell(price: object) -> object:
    """A price as a number, a range as two numbers with a dash, an empty cell without a price."""
    if isinstance(price, tuple):
        return f"{price[0]:.15g} - {price[1]:.15g}"
    return price


def _unambiguous_cell(cell: object) -> object:
    """A number as text that can be read in only one way: 12.375 is written with a fourth decimal, since it could also
    mean 12,375.
    """
    if isinstance(cell, float) and written_number(text := f"{cell:.15g}").ambiguous:
        return f"{text}0"
    return cell


def bill_as_csv(source: ExportInput) -> ExportedFile:
    """One row per item."""
    rows = [tuple(_unambiguous_cell(cell) for cell in row) for row in _bill_rows(source)]
    return ExportedFile(csv_table(HEADS, rows))


def bill_as_xlsx(source: ExportInput) -> ExportedFile:
    """One sheet with one row per item, and a formula for the sum where no price is a range. Raises `NotExportable` if
    openpyxl is missing.
    """
    rows = _bill_rows(source)
    ranges = any(isinstance(row[PRICE], str) and row[PRICE] for row in rows)
    name = "" if ranges or source.bill.total is None else "total" if source.bill.complete else "partial_sum"
    return _workbook_file("Bill of materials", HEADS, rows, name)


def price_sheet_as_xlsx(source: ExportInput) -> ExportedFile:
    """The bill without prices, for suppliers to fill in: the price of a line and the total are formulas of its quantity
    and unit price. Raises `NotExportable` if openpyxl is missing.
    """
    if not source.bill.items:
        raise MissingPart(f"nothing can be counted: {source.bill.why}")
    return _workbook_file("Price sheet", SHEET, sheet_rows(source.bill.items), "total", blank=True)


PRICE = HEADS.index("price")
WIDTHS = {"part": 34, "derivation": 60, "remark": 34, "delivery_weeks": 16, "warranty_years": 16}
"""Widths of columns in characters; 14 for the others."""
AMOUNT = "#,##0.00"


def _workbook_file(
    title: str, heads: Sequence[str], rows: Iterable[tuple[object, ...]], total: str, *, blank: bool = False
) -> ExportedFile:
    """A spreadsheet with one table. With ``total``, its last row has this name and the sums. With ``blank``, prices are
    formulas. Text that begins like a formula is written as text.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Font
        from openpyxl.utils import get_column_letter
    except ImportError:
        raise NotExportable('XLSX needs openpyxl: pip install "clusterspec[xlsx]"') from None
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    sheet.append([escaped_cell(head) for head in heads])
    for number, row in enumerate(rows, 2):
        cells = [escaped_cell(cell) for cell in row]
        if blank:
            cells[PRICE] = f'=IF(D{number}="","",C{number}*D{number})'
        sheet.append(cells)
    last = sheet.max_row
    if total:
        sheet.append([escaped_cell(total), "", None, None, f"=SUM(E2:E{last})"])
    for number, head in enumerate(heads):
        column = get_column_letter(number + 1)
        sheet.column_dimensions[column].width = WIDTHS.get(head, 14)
        sheet.cell(1, number + 1).font = Font(bold=True)
        if head in {"quantity", "unit_price", "price"}:
            for row_number in range(2, sheet.max_row + 1):
                sheet.cell(row_number, number + 1).number_format = "#,##0" if head == "quantity" else AMOUNT
    sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return ExportedFile(undated_workbook(out.getvalue()))


def undated_workbook(workbook: bytes) -> bytes:
    """A spreadsheet without the creation time that openpyxl writes into it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as given, zipfile.ZipFile(out, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"<dcterms:(created|modified)\b[^<]{0,200}</dcterms:\1>", b"", content)
            made.writestr(zipfile.ZipInfo(name, DAY), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
