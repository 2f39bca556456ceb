"""Catalog lookup of names; a problem with the nearest ids where there is no such name."""

from __future__ import annotations

from typing import TypeVar

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Entry, Interconnect, Model, Nic, Platform, Switch
from clusterspec.catalog.references import REFUSED_SCOPES
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.finding import Fix, Problem, Replacement
from clusterspec.source import Path, dotted

E = TypeVar("E", bound=Entry)

CLEARLY_MEANT = 0.85
"""Similarity (Ratcliff and Obershelp) above which the nearest id is offered as a fix."""
CLEAR_LEAD = 0.05
"""Lead of the nearest id over the next one that this requires."""
LONGEST = 64
"""Characters of a name that are compared; no id is longer."""
LISTED = 8
"""Members of a family that a message lists."""

SLICES = {
    "v4": ("tpu-v4", 2),
    "v5p": ("tpu-v5p", 2),
    "v5e": ("tpu-v5e", 1),
    "v5litepod": ("tpu-v5e", 1),
    "v6e": ("tpu-v6e", 1),
}
"""Chips, and the units of one that the names of its slices count (docs.cloud.google.com/tpu/docs/v5p and v6e)."""


class Lookup:
    """The catalog, with problems recorded in the log."""

    def __init__(self, catalog: Catalog, log: ResolutionLog) -> None:
        self.catalog = catalog
        self.log = log

    def accelerator(self, name: str, path: Path) -> Accelerator | None:
        return self._find("accelerator", Accelerator, name, path)

    def interconnect(self, name: str, path: Path, usual: str = "") -> Interconnect | None:
        """An interconnect; one of a scope that the key does not take (a scale-up one as technology) is rejected.

        ``usual`` is the interconnect of the accelerator, for the help about an unknown name.
        """
        entry = self._find("interconnect", Interconnect, name, path, usual)
        if entry is None or entry.scope != REFUSED_SCOPES[str(path[-1])]:
            return entry
        message = f"`{name}` is a {entry.scope} interconnect, which `{dotted(path)}` does not take"
        self.log.problems.append(Problem("unknown-catalog-id", path, message, "name one of the other kind"))
        return None

    def platform(self, name: str, path: Path) -> Platform | None:
        return self._find("platform", Platform, name, path)

    def nic(self, name: str, path: Path) -> Nic | None:
        return self._find("nic", Nic, name, path)

    def switch(self, name: str, path: Path) -> Switch | None:
        return self._find("switch", Switch, name, path)

    def model(self, name: str, path: Path) -> Model | None:
        return self._find("model", Model, name, path)

    def known(self, kind: str, name: str) -> Entry | None:
        """An entry that another entry names; None where the catalog lacks it."""
        return self.catalog.find(kind, name)

    def bus(self, generation: int) -> Interconnect | None:
        """The PCIe slot of a generation, 16 lanes wide."""
        entry = self.known("interconnect", f"pcie-{generation}")
        return entry if isinstance(entry, Interconnect) else None

    def _find(self, kind: str, type_: type[E], name: str, path: Path, usual: str = "") -> E | None:
        entry = self.known(kind, name)
        if isinstance(entry, type_):
            return entry
        self.log.problems.append(unknown(self.catalog, kind, name, path, usual))
        return None


def unknown(catalog: Catalog, kind: str, name: str, path: Path, usual: str = "") -> Problem:
    """The problem of a name without an entry: a family of entries, or a name similar to others.

    ``usual`` is the entry that other parts of the design suggest; the help lists it first.
    """
    if kind in {"accelerator", "platform"} and (slice_ := _slice(name)):
        return Problem("unknown-catalog-id", path, f"`{name}` names a slice, not {_article(kind)}", slice_)
    family, near = catalog.family(kind, name), catalog.nearest(kind, name)
    if kind == "accelerator" and len(family) > 1:
        return _ambiguous(name, path, family)
    help_ = f"nearest: {', '.join(near)}" if near else f"`clusterspec catalog list` shows every {kind}"
    help_ = f"{usual}; {help_}" if usual else help_
    help_ += "; `--catalog DIR` adds entries of your own"
    meant = family[0] if len(family) == 1 else _clearly_meant(name[:LONGEST].lower(), near)
    fix = Fix(f"write `{meant}`", (Replacement(path, meant),)) if meant else None
    return Problem("unknown-catalog-id", path, f"the catalog has no {kind} `{name}`", help_, fix=fix)


def _slice(name: str) -> str:
    """The keys that describe a TPU slice of this name; empty where the name is not that of a slice.

    >>> _slice("v5p-512")
    'write `accelerator: tpu-v5p` and `accelerators: 256`: the name counts TensorCores, of which a chip has two'
    >>> _slice("v6e-256"), _slice("h100-80")
    ('write `accelerator: tpu-v6e` and `accelerators: 256`: the name counts chips', '')
    """
    generation, _, number = name[:LONGEST].lower().removeprefix("tpu-").partition("-")
    chip, cores = SLICES.get(generation, ("", 0))
    if not cores or not (number.isascii() and number.isdigit()) or int(number) < cores or int(number) % cores:
        return ""
    counts = "chips" if cores == 1 else "TensorCores, of which a chip has two"
    return f"write `accelerator: {chip}` and `accelerators: {int(number) // cores}`: the name counts {counts}"


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _ambiguous(name: str, path: Path, family: tuple[str, ...]) -> Problem:
    listed = ", ".join(family[:LISTED]) + (" …" if len(family) > LISTED else "")
    message = f"`{name}` is a family of {len(family)} parts that differ in form factor or memory"
    return Problem("ambiguous-form-factor", path, message, f"write one of: {listed}")


def _clearly_meant(name: str, near: tuple[str, ...]) -> str:
    from difflib import SequenceMatcher

    scores = [SequenceMatcher(None, name, id_).ratio() for id_ in near] + [0.0, 0.0]
    return near[0] if scores[0] >= CLEARLY_MEANT and scores[0] - max(scores[1:]) >= CLEAR_LEAD else ""
