"""Files of the shipped catalog and of company folders.

No file is opened here. A catalog folder has one folder per kind (``accelerators``, ``nics`` …)
with one file per entry, named by its id. Later catalog folders have precedence.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path as FilePath

FOLDER_OF_KIND = {
    "accelerator": "accelerators",
    "interconnect": "interconnects",
    "nic": "nics",
    "switch": "switches",
    "platform": "platforms",
    "model": "models",
    "stack": "stacks",
    "kernels": "kernels",
}
"""The folder of each kind."""
KINDS = tuple(FOLDER_OF_KIND)
"""The kinds of entries, in display order."""

_LONGEST = 64  # characters of a name that are compared with ids; no id is longer


class UnreadableFolder(Exception):
    """Raised if a catalog folder cannot be read; the message names it."""


class Folders:
    """The files of several catalogs; later ones override earlier ones. ``without`` excludes entries by kind and id."""

    def __init__(self, folders: Sequence[FilePath], without: Collection[tuple[str, str]] = ()) -> None:
        self.folders = tuple(folders)
        self._without = frozenset(without)
        self._files: dict[str, dict[str, str]] = {}

    def files(self, kind: str) -> Mapping[str, str]:
        """The path of the file of each id of a kind, sorted; listed on first use."""
        if kind not in self._files:
            found = sorted(self._listed(kind).items())
            self._files[kind] = {id_: file for id_, file in found if (kind, id_) not in self._without}
        return self._files[kind]

    def _listed(self, kind: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for folder in self.folders:
            place = f"{folder}/{FOLDER_OF_KIND[kind]}"
            try:
                names = os.listdir(place)  # noqa: PTH208
            except (FileNotFoundError, NotADirectoryError):
                continue
            except PermissionError as fault:
                raise UnreadableFolder(f"the catalog folder {place}: {fault.strerror}") from None
            found |= {name.removesuffix(".yaml"): f"{place}/{name}" for name in names if name[1:].endswith(".yaml")}
        return found

    def ids(self, kind: str) -> tuple[str, ...]:
        """All ids of a kind."""
        return tuple(self.files(kind))

    def family(self, kind: str, text: str) -> tuple[str, ...]:
        """The ids of a family: ``h100`` has the SXM, PCIe and NVL parts.

        These are the ids that start with the name and continue with a non-digit (``h10`` has none).
        """
        name = _plain(text)
        if len(name) < 2 or name in self.files(kind):
            return ()
        return tuple(each for each in self.ids(kind) if each.startswith(name) and not each[len(name)].isdigit())

    def nearest(self, kind: str, text: str) -> tuple[str, ...]:
        """The three ids most similar to a text: those of its family first, then by spelling."""
        from difflib import get_close_matches

        name, ids = _plain(text), self.ids(kind)
        alike = (*self.family(kind, name), *get_close_matches(name, ids, n=6, cutoff=0.4))
        return tuple(dict.fromkeys(alike))[:3]


def _plain(text: str) -> str:
    return "-".join(text[:_LONGEST].lower().replace("_", " ").split())
