"""The catalog of hardware, models and software: shipped and company files, and entries by kind and id.

Every figure has a source. Each file is read on first access.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path as FilePath

from clusterspec import resources
from clusterspec.catalog.reader import RawEntry, read_raw_entry
from clusterspec.document import Document, decode, parse, read_bytes, to_finding
from clusterspec.document.values import yaml_value
from clusterspec.finding import Finding, Problem
from clusterspec.records import dataclass
from clusterspec.source import Source
from clusterspec.standard import cast, pattern
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.entries import Accelerator, Interconnect, Nic, Platform, Switch
    from clusterspec.catalog.models import Model
    from clusterspec.catalog.reader import Entry


# Files of the shipped catalog and of company folders

FOLDER_OF_KIND = {
    "accelerator": "accelerators",
    "interconnect": "interconnects",
    "nic": "nics",
    "switch": "switches",
    "optics": "optics",
    "storage-system": "storage-systems",
    "cdu": "cdus",
    "platform": "platforms",
    "model": "models",
    "framework": "frameworks",
    "library": "libraries",
    "stack": "stacks",
    "kernels": "kernels",
    "failure-rate": "failure-rates",
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
            found = sorted(self._listed_files(kind).items())
            self._files[kind] = {id_: file for id_, file in found if (kind, id_) not in self._without}
        return self._files[kind]

    def _listed_files(self, kind: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for folder in self.folders:
            place = f"{folder}/{FOLDER_OF_KIND[kind]}"
            try:
                shipped = place.startswith(_shipped_folder())
                found |= _shipped_files(place, os.stat(place).st_mtime_ns) if shipped else _files_of(place)  # noqa: PTH116
            except (FileNotFoundError, NotADirectoryError):
                continue
            except PermissionError as fault:
                raise UnreadableFolder(f"the catalog folder {place}: {fault.strerror}") from None
        return found

    def ids(self, kind: str) -> tuple[str, ...]:
        """All ids of a kind."""
        return tuple(self.files(kind))

    def family(self, kind: str, text: str) -> tuple[str, ...]:
        """The ids of a family: ``h100`` has the SXM, PCIe and NVL parts.

        These ids start with the name, and the name's number does not continue: ``h10`` has no family, and ``gpt-3``
        does not include ``gpt-3.6b``.
        """
        name = _plain_text(text)
        if len(name) < 2 or name in self.files(kind):
            return ()
        return tuple(each for each in self.ids(kind) if each.startswith(name) and each[len(name)] not in _OF_NUMBERS)

    def nearest_ids(self, kind: str, text: str) -> tuple[str, ...]:
        """The three ids most similar to a text: by family, by common words, by common part, and by spelling.

        ``gpt-3`` has the words of ``gpt3-175b``, and ``hdr`` is one of ``infiniband-hdr``. ``hgx-mi300x`` has the part
        of ``mi300x-ubb8``: the words with letters and digits identify a part.
        """
        from difflib import get_close_matches

        name, ids = _plain_text(text), self.ids(kind)
        words = {word for word in name.split("-") if not word.isdigit() and not word.isalpha()}
        shared = {each: len(words.intersection(each.split("-"))) for each in ids}
        most = max(1, *shared.values()) if ids else 1
        of_part = [each for each, count in shared.items() if count == most]
        bare, bare_words = f"-{_bare_words(name)}-", set(_bare_words(name).split("-"))
        alike = (
            *self.family(kind, name),
            *(each for each in ids if len(bare) > 4 and bare in f"-{_bare_words(each)}-"),
            *(each for each in ids if bare_words == set(_bare_words(each).split("-"))),
            *get_close_matches(name, of_part, n=3, cutoff=0.0),
            *get_close_matches(name, ids, n=6, cutoff=0.55),
        )
        return tuple(dict.fromkeys(alike))[:3]


def _files_of(place: str) -> dict[str, str]:
    """The path of the file of each id in a folder. Raises `OSError`."""
    names = os.listdir(place)  # noqa: PTH208
    return {name.removesuffix(".yaml"): f"{place}/{name}" for name in names if name[1:].endswith(".yaml")}


@cache
def _shipped_files(place: str, _changed: int) -> dict[str, str]:
    """The files of a shipped folder, listed once in a process."""
    return _files_of(place)


_OF_NUMBERS = frozenset("0123456789.")


def _plain_text(text: str) -> str:
    return "-".join(text[:_LONGEST].lower().replace("_", " ").split())


def _bare_words(name: str) -> str:
    """A name with letters and numbers separated: ``gpt3-175b`` and ``gpt-3-175b`` are the same."""
    return "-".join(pattern(r"[a-z]+|[0-9.]+").findall(name))


# The catalog: entries by kind and id, each file read on first access


@dataclass(eq=False)
class UnknownEntry(LookupError):
    """Raised for an unknown id; ``nearest`` has up to three similar ids."""

    kind: str
    id: str
    nearest: tuple[str, ...]

    def __str__(self) -> str:
        offer = (
            f"; did you mean {', '.join(self.nearest)}?" if self.nearest else "; `clusterspec catalog list` lists all"
        )
        return f"no {self.kind} `{self.id}` in the catalog{offer}"


@dataclass(eq=False)
class BrokenEntry(ValueError):
    """Raised if a file is not a valid catalog entry; ``findings`` give the reasons."""

    kind: str
    id: str
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        first, others = self.findings[0], len(self.findings) - 1
        more = f" (and {plural(others, 'more fault')}; `clusterspec catalog check` lists them)" if others else ""
        return f"catalog entry {self.kind}/{self.id}: {first.span}: {first.message}{more}"


@cache
def _shipped_entry(file: FilePath, _changed: int) -> RawEntry:
    """A shipped entry, read once in a process; only its values are read, since our tests check the shipped files."""
    return read_raw_entry(yaml_value(file.read_text("utf-8")))


@cache
def _built_shipped_entry(kind: str, file: FilePath, changed: int) -> tuple[Entry, list[Problem]]:
    """A shipped entry as built, and its problems: all catalogs of a process hold the same object."""
    return _built_entry(kind, _shipped_entry(file, changed))


def _built_entry(kind: str, raw: RawEntry) -> tuple[Entry, list[Problem]]:
    """The typed entry of a raw one, and the problems of its facts."""
    from clusterspec.catalog.build import BUILDERS  # not needed to list, search or show
    from clusterspec.catalog.reader import FactReader

    reader = FactReader(raw)
    return BUILDERS[kind](reader), reader.problems


@cache
def _shipped_folder() -> str:
    """The prefix of the file names of shipped entries."""
    return f"{resources.catalog()}/"


class Catalog:
    """The entries of the shipped catalog and of company folders, which add to or override it.

    Lookups raise `UnknownEntry` for an unknown id and `BrokenEntry` for an invalid file. An entry is
    read once.
    """

    def __init__(self, folders: Sequence[FilePath], without: Collection[tuple[str, str]] = ()) -> None:
        self._folders = Folders(folders, without)
        self._entries: dict[tuple[str, str], Entry] = {}

    @classmethod
    def open(cls, folders: Sequence[FilePath] = ()) -> Catalog:
        """The shipped catalog and company folders; the last folder has precedence. No file is read yet.

        Raises `NotADirectoryError` if a company folder does not exist.
        """
        for folder in folders:
            if not folder.is_dir():
                raise NotADirectoryError(f"the catalog folder {folder} is not a folder")
        return cls((resources.catalog(), *folders))

    def without_broken_entries(self) -> tuple[Catalog, tuple[BrokenEntry, ...]]:
        """This catalog without its invalid company entries, and the exceptions that these entries raised."""
        broken: dict[tuple[str, str], BrokenEntry] = {}
        for kind in KINDS:
            for id_ in self.ids(kind):
                try:
                    if not self.is_shipped(kind, id_):
                        self.get(kind, id_)
                except BrokenEntry as fault:
                    broken[kind, id_] = fault
        return Catalog(self._folders.folders, broken), tuple(broken.values())

    def finding(self, kind: str, id_: str, problem: Problem) -> Finding:
        """A problem of an entry as a finding with its position in the file."""
        return self._entry_findings(kind, id_, [problem])[0]

    @cached_property
    def version(self) -> str:
        """The version of the shipped catalog, a date and a digest; with ``+`` if company folders are added."""
        shipped = (resources.catalog() / "VERSION").read_text(encoding="utf-8").strip()
        return shipped + "+" * (len(self._folders.folders) > 1)

    def ids(self, kind: str) -> tuple[str, ...]:
        """All ids of a kind, without opening a file."""
        return self._folders.ids(kind)

    def ids_named(self, kind: str, text: str) -> tuple[str, ...]:
        """The ids of a kind whose product, instance type or checkpoint has this name."""
        from clusterspec.catalog.names import ids_of_name  # only for names that are no ids

        return tuple(id_ for id_ in ids_of_name(kind, text) if id_ in self._folders.files(kind))

    def ids_meant(self, kind: str, text: str) -> tuple[str, ...]:
        """The ids of a kind with this name, else the platforms of this series, else those with its words: one, or those
        of a family of parts.
        """
        from clusterspec.catalog.names import ids_with_words  # only for names that are no ids

        found = self.ids_named(kind, text)
        if not found and kind == "platform":
            from clusterspec.catalog.series_names import ids_of_series

            found = ids_of_series(text)
        return tuple(id_ for id_ in found or ids_with_words(kind, text) if id_ in self._folders.files(kind))

    def nearest_ids(self, kind: str, text: str) -> tuple[str, ...]:
        """Up to three ids of a kind: ids with this name, then the most similar ids."""
        return tuple(dict.fromkeys((*self.ids_named(kind, text), *self._folders.nearest_ids(kind, text))))[:3]

    def family(self, kind: str, text: str) -> tuple[str, ...]:
        """The ids that a family name (``h100``, ``mi300``) could mean; none if it is itself an id."""
        return self._folders.family(kind, text)

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of entry."""
        return KINDS

    def kinds_of(self, id_: str) -> tuple[str, ...]:
        """The kinds that have an entry of this id: ``tpu-v5p`` is an accelerator and a platform."""
        return tuple(kind for kind in KINDS if id_ in self._folders.files(kind))

    def get(self, kind: str, id_: str) -> Entry:
        """The entry of a kind and an id."""
        entry = self._entries.get((kind, id_))
        if entry is None:
            if self.is_shipped(kind, id_):
                file = self._entry_file(kind, id_)
                entry, problems = _built_shipped_entry(kind, file, file.stat().st_mtime_ns)
            else:
                entry, problems = _built_entry(kind, self.raw_entry(kind, id_))
            if problems:
                raise BrokenEntry(kind, id_, self._entry_findings(kind, id_, problems))
            self._entries[kind, id_] = entry
        return entry

    def find(self, kind: str, id_: str) -> Entry | None:
        """The entry of a kind and an id; None if there is none."""
        return self.get(kind, id_) if id_ in self._folders.files(kind) else None

    def accelerator(self, id_: str) -> Accelerator:
        return cast("Accelerator", self.get("accelerator", id_))

    def interconnect(self, id_: str) -> Interconnect:
        return cast("Interconnect", self.get("interconnect", id_))

    def nic(self, id_: str) -> Nic:
        return cast("Nic", self.get("nic", id_))

    def switch(self, id_: str) -> Switch:
        return cast("Switch", self.get("switch", id_))

    def platform(self, id_: str) -> Platform:
        return cast("Platform", self.get("platform", id_))

    def model(self, id_: str) -> Model:
        return cast("Model", self.get("model", id_))

    def platforms_with(self, accelerator: str) -> tuple[Platform, ...]:
        """The platforms that have an accelerator, by id."""
        every = map(self.platform, self.ids("platform"))
        return tuple(one for one in every if one.accelerator == accelerator)

    def raw_entry(self, kind: str, id_: str) -> RawEntry:
        """The entry as written: all facts with sources, notes and doubts."""
        if self.is_shipped(kind, id_):
            file = self._entry_file(kind, id_)
            return _shipped_entry(file, file.stat().st_mtime_ns)
        source, document, problems = self._entry_document(kind, id_)
        if document is None or problems:
            raise BrokenEntry(kind, id_, tuple(to_finding(problem, document, source) for problem in problems))
        return read_raw_entry(document.value)

    def is_shipped(self, kind: str, id_: str) -> bool:
        """Whether an entry is the shipped one rather than a company's."""
        return self._file_name(kind, id_).startswith(_shipped_folder())

    def _entry_file(self, kind: str, id_: str) -> FilePath:
        return FilePath(self._file_name(kind, id_))

    def _file_name(self, kind: str, id_: str) -> str:
        file = self._folders.files(kind).get(id_)
        if file is None:
            raise UnknownEntry(kind, id_, self.nearest_ids(kind, id_))
        return file

    def _entry_document(self, kind: str, id_: str) -> tuple[Source, Document | None, list[Problem]]:
        file = self._entry_file(kind, id_)
        try:
            source = decode(str(file), read_bytes(file))
        except OSError as fault:
            unread = Problem("unreadable-yaml", (), f"cannot be read: {fault.strerror}")
            return Source(str(file), ""), None, [unread]
        document, problems = parse(source)
        if document is not None and not self.is_shipped(kind, id_):
            from clusterspec.catalog.company import entry_problems  # not needed for shipped entries

            problems = [*problems, *entry_problems(document, kind, id_)]  # the shipped entries are checked by our tests
        return source, document, problems

    def _entry_findings(self, kind: str, id_: str, problems: Sequence[Problem]) -> tuple[Finding, ...]:
        source, document, _ = self._entry_document(kind, id_)
        return tuple(to_finding(problem, document, source) for problem in problems)
