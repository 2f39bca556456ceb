"""Clauses of a request for proposals in Markdown: scope of supply, acceptance and delivery, without prices."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.exchange.acceptance import acceptance_cases
from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput, MissingPart
from clusterspec.logs.sizes import size_text
from clusterspec.units import display, display_bits, plural


def write(source: ExportInput) -> ExportedFile:
    """Numbered clauses, each of which a supplier can answer with yes, no or a figure."""
    sections = [
        ("Machine", _machine(source)),
        ("Fabric", _fabric(source)),
        ("Acceptance", _acceptance(source)),
        ("Delivery and support", _delivery(source)),
    ]
    lines = [f"# Requirements: {_plain(source.design.spec.name or 'cluster')}", ""]
    for number, (title, clauses) in enumerate(sections, 1):
        found = list(clauses)
        if found:
            lines += [f"## {number}. {title}", ""]
            lines += [f"{number}.{at} {clause}" for at, clause in enumerate(found, 1)]
            lines.append("")
    return ExportedFile("\n".join(lines))


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() and c not in "|<>`*_#[]$&@~\\" else " " for c in text)


def _machine(source: ExportInput) -> Iterator[str]:
    cluster = source.cluster
    spare = f" and {plural(cluster.spare_nodes, 'spare node')}" if cluster.spare_nodes else ""
    node = f"each with {cluster.accelerators_per_node} accelerators {cluster.accelerator.name}"
    yield f"The supplier shall deliver {plural(cluster.nodes, 'node')}{spare}, {node}."
    if cluster.accelerator.memory:
        memory = display(cluster.accelerator.memory.value, "B")
        yield f"Each accelerator shall have at least {memory} of memory, as its driver reports it."
    up = cluster.scale_up
    if up.domain > 1:
        yield (
            f"The {up.domain} accelerators of a scale-up domain shall be connected as {up.topology} with at least "
            f"{display(up.bandwidth.value, 'B/s')} for each accelerator in each direction."
        )
    if cluster.pcie_host:
        yield f"Slots of accelerators and NICs shall be PCIe {cluster.pcie_host} or later, at full width."


def _fabric(source: ExportInput) -> Iterator[str]:
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


def _acceptance(source: ExportInput) -> Iterator[str]:
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


def _delivery(source: ExportInput) -> Iterator[str]:
    terms, operations = source.design.spec.procurement, source.design.spec.operations
    weeks = getattr(getattr(terms, "delivery", None), "weeks", None)
    if weeks:
        yield f"Delivery shall be complete within {plural(int(weeks), 'week')} of the order."
    warranty = getattr(terms, "warranty", None)
    if warranty is not None:
        yield f"The warranty shall last {_plain(str(getattr(warranty, 'written', warranty)))}."
    if operations is not None and operations.burn_in is not None:
        duration = display(operations.burn_in.value, "s")
        yield f"Every node shall pass a burn-in of {duration} under load before acceptance."
    if operations is not None and operations.repair_time is not None:
        yield f"A failed node shall be repaired or replaced within {display(operations.repair_time.value, 's')}."
