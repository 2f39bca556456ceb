"""Keys of a spec whose value is the id of a catalog entry."""

from __future__ import annotations

from clusterspec.catalog.entries import Interconnect
from clusterspec.catalog.library import BrokenEntry, Catalog

KINDS_OF_KEYS = {
    "platform": "platform",
    "accelerator": "accelerator",
    "like": "accelerator",
    "interconnect": "interconnect",
    "technology": "interconnect",
    "nic": "nic",
    "switch": "switch",
    "model": "model",
    "base": "model",
}
"""The kind of entry that the value of a key names, where it is a text."""
REFUSED_SCOPES = {"interconnect": "scale-out", "technology": "scale-up"}
"""The scope of interconnects that a key does not take."""


def ids_of_key(catalog: Catalog, key: str) -> tuple[str, ...]:
    """The ids that a key of `KINDS_OF_KEYS` takes; an invalid company entry counts as one of them."""
    ids, refused = catalog.ids(KINDS_OF_KEYS[key]), REFUSED_SCOPES.get(key)
    return tuple(id_ for id_ in ids if _scope(catalog, id_) != refused) if refused else ids


def _scope(catalog: Catalog, id_: str) -> str:
    try:
        entry = catalog.find("interconnect", id_)
    except BrokenEntry:
        return ""
    return entry.scope if isinstance(entry, Interconnect) else ""
