"""What resolving a spec shares: the log of assumptions and problems, catalog lookup, and the sources of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

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
from clusterspec.catalog.models import Entry, Model
from clusterspec.cluster.model import Assumption
from clusterspec.finding import Fix, Problem, Replacement
from clusterspec.origin import Written
from clusterspec.quantity import Bandwidth, Figure, Peak, Quantity
from clusterspec.records import dataclass, field
from clusterspec.source import Path, dotted_path
from clusterspec.spec.model import ClusterSpec, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.logs.traces import TraceSummary

T = TypeVar("T")


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

    def written_for_training(self, written: T | None, key: str, default: T, why: str, serves: bool) -> T:
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


def written_bandwidth(quantity: Quantity, key: str) -> Bandwidth:
    """A written bandwidth, per direction, with its key."""
    return Bandwidth.of(quantity, Written(key))


def written_figure(quantity: Quantity, key: str) -> Figure:
    """A written quantity in SI, with its key."""
    return Figure(quantity.value, quantity.unit, Written(key))


def written_peak(quantity: Quantity, key: str) -> Peak | None:
    """A written peak; None where its text states neither dense nor sparse, which a finding reports."""
    return None if quantity.sparsity is None else Peak.dense(quantity.dense, Written(key))


# Catalog lookup of names; a problem with the nearest ids where there is no such name

E = TypeVar("E", bound=Entry)

CLEARLY_MEANT = 0.85
"""Similarity (Ratcliff and Obershelp) above which the nearest id is offered as a fix."""
CLEAR_LEAD = 0.05
"""Lead of the nearest id over the next one that this requires."""
LONGEST = 64
"""Characters of a name that are compared; no id is longer."""
LISTED = 12
"""Members of a family that a message lists."""


class Lookup:
    """The catalog, with problems recorded in the log."""

    def __init__(self, catalog: Catalog, log: ResolutionLog) -> None:
        self.catalog = catalog
        self.log = log

    def accelerator(self, name: str, path: Path) -> Accelerator | None:
        return self._find("accelerator", Accelerator, name, path)

    def interconnect(self, name: str, path: Path, usual: str = "") -> Interconnect | None:
        """An interconnect. One with a scope that the key does not take (such as a scale-up one as technology) is
        rejected.

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

    def model(self, name: str, path: Path) -> Model | None:
        return self._find("model", Model, name, path)

    def named_entry(self, kind: str, name: str) -> Entry | None:
        """An entry that another entry names; None where the catalog lacks it."""
        return self.catalog.find(kind, name)

    def bus(self, generation: int) -> Interconnect | None:
        """The PCIe slot of a generation, 16 lanes wide."""
        entry = self.named_entry("interconnect", f"pcie-{generation}")
        return entry if isinstance(entry, Interconnect) else None

    def _find(self, kind: str, type_: type[E], name: str, path: Path, usual: str = "") -> E | None:
        entry = self.named_entry(kind, name)
        if isinstance(entry, type_):
            return entry
        self.log.problems.append(unknown_id_problem(self.catalog, kind, name, path, usual))
        return None


def unknown_id_problem(catalog: Catalog, kind: str, name: str, path: Path, usual: str = "") -> Problem:
    """The problem of a name without an entry: a family of entries, or a name similar to others.

    ``usual`` is the entry that other parts of the design suggest; the help lists it first.
    """
    if kind in {"accelerator", "platform"} and (slice_ := _slice_remedy(name, catalog)):
        return Problem("unknown-catalog-id", path, f"`{name}` names a slice, not {_kind_with_article(kind)}", slice_)
    if kind == "platform" and (server := _server_problem(name, path, catalog)):
        return server
    named, family, near = catalog.ids_named(kind, name), catalog.family(kind, name), catalog.nearest(kind, name)
    if len(named) == 1:
        message = f"`{name}` is a name of the {kind} `{named[0]}`, and no id of the catalog"
        help_ = f"write `{named[0]}`{_precision_remedy(name) if kind == 'model' else ''}"
        return Problem("unknown-catalog-id", path, message, help_, fix=_fix_to_id(named[0], path))
    if kind == "accelerator" and len(family) > 1:
        return _ambiguous_family_problem(name, path, family)
    if len(family) > len(near):
        help_ = f"write one of: {_listed_ids(family)}"
    elif near:
        help_ = f"nearest: {', '.join(near)}"
    else:
        help_ = f"`clusterspec catalog list` shows every {kind}"
    network = catalog.find("interconnect", name) if kind == "nic" else None
    if isinstance(network, Interconnect) and network.scope == "scale-out":
        help_ = _technology_remedy(network, catalog)
    help_ = f"{usual}; {help_}" if usual else help_
    help_ += "; `--catalog DIR` adds entries of your own"
    meant = family[0] if len(family) == 1 else _clearly_meant_id(name[:LONGEST].lower(), near)
    others = " and ".join(_kind_with_article(other) for other in catalog.kinds_of(name))
    message = f"the catalog has no {kind} `{name}`"
    if others:
        message = f"`{name}` is {others}, not {_kind_with_article(kind)}"
    return Problem("unknown-catalog-id", path, message, help_, fix=_fix_to_id(meant, path) if meant else None)


def _server_problem(name: str, path: Path, catalog: Catalog) -> Problem | None:
    """The problem of a platform that is a server of another maker, whose boards have entries; None for other names."""
    from clusterspec.catalog.servers import boards_of_server  # only for names that are no ids
    from clusterspec.document.schema import alternatives_text

    held = boards_of_server(name, catalog)
    if not held:
        return None
    message = f"`{name}` is a server that holds a board of the catalog, and no id"
    help_ = f"write {alternatives_text(list(held))}, and the NICs of the server"
    fix = _fix_to_id(held[0], path) if len(held) == 1 else None
    return Problem("unknown-catalog-id", path, message, help_, fix=fix)


def _precision_remedy(name: str) -> str:
    """The key to add to a model id for the precision that a checkpoint name states; empty if it states none."""
    from clusterspec.catalog.names import quantized_precision  # only for names that are no ids

    kept = quantized_precision(name)
    return f", and `parameter_precision: {kept}` unless it is stated" if kept else ""


def _technology_remedy(network: Interconnect, catalog: Catalog) -> str:
    """The remedy for a NIC that was given as the technology of its network."""
    entries = (catalog.get("nic", id_) for id_ in catalog.ids("nic"))
    nics = [nic.id for nic in entries if isinstance(nic, Nic) and _runs_at_port_rate(nic, network)]
    adapter = f"`nic` as one of {_listed_ids(nics)}" if nics[1:] else f"`nic: {nics[0]}`" if nics else ""
    adapter = adapter or "no `nic`: the catalog has no adapter of this network"
    return f"write `technology: {network.id}` and {adapter}"


def _runs_at_port_rate(nic: Nic, network: Interconnect) -> bool:
    """Whether an adapter has ports for a network, at the network's usual rate if it has one."""
    port, usual = nic.port_bandwidth, network.bandwidth
    return network.family in nic.families and (usual is None or (port is not None and port.value == usual.value))


def _fix_to_id(id_: str, path: Path) -> Fix:
    return Fix(f"write `{id_}`", (Replacement(path, id_),))


def _slice_remedy(name: str, catalog: Catalog) -> str:
    """The keys that describe a slice of this name; empty where the name is not that of a slice.

    >>> _slice_remedy("v5p-512", Catalog.open())
    'write `accelerator: tpu-v5p` and `accelerators: 256`: the name counts TensorCores, of which a chip has two'
    """
    from clusterspec.catalog.slices import slice_of_name  # only for names that are no ids

    found = slice_of_name(name, catalog)
    if found is None:
        return ""
    chip, chips = found.chip, found.chips
    if found.shape:
        return f"write `accelerator: {chip.id}`, `accelerators: {chips}` and `scale_up: {{shape: {list(found.shape)}}}`"
    several = {2: "TensorCores, of which a chip has two"}.get(chip.units_of_slices)
    counts = several or ("chips" if chip.units_of_slices == 1 else f"units, of which a chip has {chip.units_of_slices}")
    return f"write `accelerator: {chip.id}` and `accelerators: {chips}`: the name counts {counts}"


def _kind_with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _ambiguous_family_problem(name: str, path: Path, family: tuple[str, ...]) -> Problem:
    message = f"`{name}` is a family of {len(family)} parts that differ in form factor or memory"
    return Problem("ambiguous-form-factor", path, message, f"write one of: {_listed_ids(family)}")


def _listed_ids(ids: Sequence[str]) -> str:
    """The first ids, with a sign that there are more."""
    return ", ".join(ids[:LISTED]) + (" …" if len(ids) > LISTED else "")


def _clearly_meant_id(name: str, near: tuple[str, ...]) -> str:
    from difflib import SequenceMatcher

    scores = [SequenceMatcher(None, name, id_).ratio() for id_ in near] + [0.0, 0.0]
    return near[0] if scores[0] >= CLEARLY_MEANT and scores[0] - max(scores[1:]) >= CLEAR_LEAD else ""


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
    """The table that the accelerator's entry names, else that of a contemporary, as an assumption."""
    name = accelerator.kernels
    if name is None:
        name = _contemporary_table(accelerator.year or 0, lookup)
        if name is None:
            return None
        why = (
            f"no kernels of {accelerator.id} are published: those of a contemporary, scaled by its best matrix product"
        )
        lookup.log.assume(KEY, name, why)
    entry = lookup.named_entry("kernels", name)
    return entry if isinstance(entry, Kernels) else None


def _contemporary_table(year: int, lookup: Lookup) -> str | None:
    """The kernel table to use for accelerators of a year without measurements: the latest one for earlier years, else
    the earliest.
    """
    tables = (lookup.named_entry("kernels", id_) for id_ in lookup.catalog.ids("kernels"))
    years = {one.stands_in_from: one.id for one in tables if isinstance(one, Kernels) and one.stands_in_from}
    first = max((each for each in years if each <= year), default=min(years, default=0))
    return years.get(first)
