"""Input and output of exporters."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from functools import cached_property

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.legality import refusals
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.procurement.bill import Bill, bill
from clusterspec.records import dataclass
from clusterspec.results.cells import safe


class NotExportable(Exception):
    """Raised, with the reason, if a design cannot be written in a format."""


class MissingPart(NotExportable):
    """Raised, with the reason, if a spec has no part, or none that can be resolved, that a format needs."""


@dataclass(frozen=True)
class ExportInput:
    """A resolved design."""

    design: Design

    @property
    def name(self) -> str:
        """The name of the design, in characters that file systems and schedulers accept."""
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in (self.design.spec.name or "cluster").lower())
        return plain.strip("-")[:48] or "cluster"

    @property
    def cluster(self) -> Cluster:
        if self.design.cluster is None:
            raise MissingPart("the cluster cannot be resolved; `clusterspec check` reports the reason")
        return self.design.cluster

    @property
    def layout(self) -> Layout:
        if self.design.layout is None:
            raise MissingPart("the spec has no layout that can be resolved")
        refused = refusals(self.design)
        if refused:
            raise MissingPart(f"the layout cannot run ({', '.join(sorted(refused))}); `clusterspec check` reports why")
        return self.design.layout

    @property
    def workload(self) -> Workload:
        if self.design.workload is None:
            raise MissingPart("the spec has no workload that can be resolved")
        return self.design.workload

    @cached_property
    def bill(self) -> Bill:
        return bill(self.design)

    @property
    def fabric(self) -> Fabric:
        if self.bill.fabric is None:
            raise (NotExportable if self.design.cluster else MissingPart)(f"there is no fabric: {self.bill.why}")
        return self.bill.fabric


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """The content of an exported file, and the parts of the design that the format cannot express."""

    content: str | bytes
    omitted: tuple[str, ...] = ()


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated values; cells are escaped so that spreadsheets read none as a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([safe("" if cell is None else cell) for cell in row] for row in rows)
    return out.getvalue()
