"""What resolving a spec shares: the log of assumptions and problems, catalog lookup, and the sources of a machine."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import (
    REFUSED_SCOPES,
    Accelerator,
    Interconnect,
    Kernels,
    Nic,
    Optics,
    Platform,
    Switch,
)
from clusterspec.catalog.models import Model
from clusterspec.catalog.reader import Entry
from clusterspec.cluster.model import Assumption
from clusterspec.finding import Problem
from clusterspec.quantity import Figure, Peak, Quantity
from clusterspec.records import dataclass, field
from clusterspec.source import Path, Written, dotted_path
from clusterspec.spec.model import ClusterSpec, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from clusterspec.catalog.facilities import Cdu, StorageSystem
    from clusterspec.logs.traces import TraceSummary

    T = TypeVar("T")
    E = TypeVar("E", bound=Entry)


@dataclass
class ResolutionLog:
    """The problems and assumptions of one spec, in the order in which keys are resolved."""

    spec: Spec
    problems: list[Problem] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    traces: Mapping[str, TraceSummary] = field(default_factory=dict)
    """The traces that the spec names and that could be read, by name."""

    def assume(self, key: str, value: T, why: str) -> T:
        """Assumes ``value`` for a key that the spec does not state, and lists the assumption."""
        self.assumptions.append((key, value, why))
        return value

    def written_or_assumed(self, written: T | None, key: str, default: T, why: str) -> T:
        """The written value, else the default as a listed assumption."""
        return written if written is not None else self.assume(key, default, why)

    def training_value(self, written: T | None, key: str, default: T, why: str, serves: bool) -> T:
        """The written value of a key that only training uses, else its default; not listed for a serving plan."""
        return default if serves and written is None else self.written_or_assumed(written, key, default, why)

    def unreadable(self, path: Path) -> bool:
        """Whether a finding already reports that the text of this key cannot be read."""
        return self.spec.unreadable(path)

    def report_missing(self, path: Path, why: str, remedy: str) -> None:
        """Reports a required key without a value, unless its text was unreadable."""
        if not self.unreadable(path):
            message = f"`{dotted_path(path)}` is missing: {why}"
            self.problems.append(Problem("missing-key", path, message, remedy))


def written_figure(quantity: Quantity, key: str) -> Figure:
    """A written quantity in SI, with its key."""
    return Figure(quantity.value, quantity.unit, Written(key))


def written_peak(quantity: Quantity, key: str) -> Peak | None:
    """A written peak; None if its text states neither dense nor sparse, which a finding reports."""
    return None if quantity.sparsity is None else Peak.dense(quantity.dense, Written(key))


# Catalog lookup of names; a problem with the nearest ids where there is no such name


MODEL_PATH: Path = ("workload", "model")


class Lookup:
    """The catalog, with problems recorded in the log."""

    def __init__(self, catalog: Catalog, log: ResolutionLog) -> None:
        self.catalog = catalog
        self.log = log

    def accelerator(self, name: str, path: Path) -> Accelerator | None:
        return self._find("accelerator", Accelerator, name, path)

    def interconnect(self, name: str, path: Path, usual: str = "") -> Interconnect | None:
        """An interconnect. An entry with a scope that the key does not accept (such as scale-up for a fabric
        technology) is rejected.

        ``usual`` is the interconnect of the accelerator, for the help about an unknown name.
        """
        entry = self._find("interconnect", Interconnect, name, path, usual)
        if entry is None or entry.scope != REFUSED_SCOPES[str(path[-1])]:
            return entry
        message = f"`{name}` is a {entry.scope} interconnect, which `{dotted_path(path)}` does not take"
        self.log.problems.append(Problem("unknown-catalog-id", path, message, "name one of the other kind"))
        return None

    def platform(self, name: str, path: Path) -> Platform | None:
        return self._find("platform", Platform, name, path)

    def nic(self, name: str, path: Path) -> Nic | None:
        return self._find("nic", Nic, name, path)

    def switch(self, name: str, path: Path) -> Switch | None:
        return self._find("switch", Switch, name, path)

    def optics(self, name: str, path: Path) -> Optics | None:
        return self._find("optics", Optics, name, path)

    def storage_system(self, name: str, path: Path) -> StorageSystem | None:
        from clusterspec.catalog.facilities import StorageSystem  # few specs name one

        return self._find("storage-system", StorageSystem, name, path)

    def cdu(self, name: str, path: Path) -> Cdu | None:
        from clusterspec.catalog.facilities import Cdu  # few specs name one

        return self._find("cdu", Cdu, name, path)

    def model(self, name: str, path: Path) -> Model | None:
        return self._find("model", Model, name, path)

    def named_entry(self, kind: str, name: str) -> Entry | None:
        """An entry that another entry names; None if the catalog lacks it."""
        return self.catalog.find(kind, name)

    def bus(self, generation: int) -> Interconnect | None:
        """The PCIe slot of a generation, 16 lanes wide."""
        entry = self.named_entry("interconnect", f"pcie-{generation}")
        return entry if isinstance(entry, Interconnect) else None

    def _find(self, kind: str, type_: type[E], name: str, path: Path, usual: str = "") -> E | None:
        entry = self.named_entry(kind, name)
        if isinstance(entry, type_):
            return entry
        from clusterspec.cluster.unknown_names import unknown_id_problem  # most specs have none

        self.log.problems.append(unknown_id_problem(self.catalog, kind, name, path, usual))
        named = self.catalog.ids_meant(kind, name)
        meant = self.named_entry(kind, named[0]) if len(named) == 1 else None
        return meant if isinstance(meant, type_) else None  # the rest is checked with the only entry of this name


# The sources that describe a machine: the spec, then the platform, then the accelerator


@dataclass(frozen=True)
class Parts:
    """The cluster section of the spec, and the entries that supply absent keys."""

    section: ClusterSpec
    platform: Platform | None
    accelerator: Accelerator
    nodes: int
    per_node: int
    """Accelerators of a node."""
    lookup: Lookup

    @property
    def log(self) -> ResolutionLog:
        return self.lookup.log

    @property
    def accelerators(self) -> int:
        return self.nodes * self.per_node


# Finds the table of measured kernels that holds for an accelerator

KEY = "cluster.kernels"


def kernel_table(accelerator: Accelerator, lookup: Lookup) -> Kernels | None:
    """The table that the accelerator's entry names, else a contemporary accelerator's table as an assumption."""
    name = accelerator.kernels
    if name is None:
        tables = _kernel_tables(lookup)
        alike = next((one.id for one in tables if one.stands_in_for == (accelerator.architecture or None)), None)
        name = alike or _contemporary_table(accelerator.year or 0, tables)
        if name is None:
            return None
        whose = "an accelerator of its architecture" if alike else "a contemporary"
        why = f"no kernels of {accelerator.id} are published: those of {whose}, scaled by its best matrix product"
        lookup.log.assume(KEY, name, why)
    entry = lookup.named_entry("kernels", name)
    return entry if isinstance(entry, Kernels) else None


def measured_part(accelerator: Accelerator, table: Kernels | None, lookup: Lookup) -> Accelerator | None:
    """The other accelerator on which the kernels of a table were measured."""
    if table is None or table.accelerator in {"", accelerator.id}:
        return None
    found = lookup.named_entry("accelerator", table.accelerator)
    return found if isinstance(found, Accelerator) else None


def _kernel_tables(lookup: Lookup) -> tuple[Kernels, ...]:
    tables = (lookup.named_entry("kernels", id_) for id_ in lookup.catalog.ids("kernels"))
    return tuple(one for one in tables if isinstance(one, Kernels))


def _contemporary_table(year: int, tables: tuple[Kernels, ...]) -> str | None:
    """The kernel table to use for accelerators of a year without measurements: the latest one for earlier years, else
    the earliest.
    """
    years = {one.stands_in_from: one.id for one in tables if one.stands_in_from}
    first = max((each for each in years if each <= year), default=min(years, default=0))
    return years.get(first)
