"""The bytecode of the modules that commands load, in one file.

Python finds, compares and reads the bytecode of each module separately. For the 260 modules of a check that takes a
sixth of the run time. A command therefore writes their bytecode to one file in ``__pycache__``, from which later
commands load it.

The file can be deleted at any time, and is not used where its checksum is wrong. It holds for one version of Python and
of the program in one folder. A module is loaded from it only while size and modification time of its source are
unchanged, as Python does it; other modules are imported as usual.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
from binascii import crc32
from importlib.machinery import ModuleSpec, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, ModuleType

    Row = tuple[str, int, int, int, int]
    """A source file in the package, its size and modification time, and the start and end of its bytecode."""
    Kept = tuple[str, str, tuple[int, int], bytes | memoryview]
    """The name of a module, its source file in the package with size and modification time, and its bytecode."""

PACKAGE = os.path.dirname(os.path.abspath(__file__))
FILE = f"{PACKAGE}/__pycache__/modules.{sys.implementation.cache_tag}-{sys.flags.optimize}.bytecode"
START = 12
"""Bytes at the start of the file: the CRC-32 of all that follows, and the length of the table, which comes next."""
WORTHWHILE = 20
"""The number of modules missing in the file from which it is rewritten."""


class Loader(SourceFileLoader):
    """A loader of a module from bytecode in memory."""

    bytecode: memoryview

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The empty module. Its attributes are set here, since the import system would first look each up in vain."""
        module = type(sys)(spec.name)
        module.__dict__.update(
            __loader__=self, __package__=spec.parent, __spec__=spec, __file__=spec.origin, __cached__=spec.cached
        )
        return module

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = marshal.loads(self.bytecode)
        return code


class Finder:
    """A module finder that reads from the bytecode file of a version of the program."""

    def __init__(self, version: str) -> None:
        self.key = sys.hexversion, version, PACKAGE
        self.rows: dict[str, Row] = {}
        self.absent: list[str] = []
        """The modules of the package that were searched for, and are not in the file or have changed."""
        self.content = memoryview(b"")
        with contextlib.suppress(OSError):
            with open(FILE, "rb") as file:
                given = memoryview(file.read())
            if crc32(given[4:]) == int.from_bytes(given[:4], "little") and len(given) > START:
                end = START + int.from_bytes(given[4:START], "little")
                key, rows = marshal.loads(given[START:end])
                if key == self.key:
                    self.rows, self.content = rows, given[end:]

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """The import spec of a module; None if the file lacks it, or its source has changed."""
        if not name.startswith("clusterspec."):
            return None
        file, *written, begin, end = self.rows.get(name, ("", 0, 0, 0, 0))
        path = f"{PACKAGE}/{file}"
        if not file or state(path) != (*written,):
            self.absent.append(name)
            return None
        loader = Loader(name, path)
        loader.bytecode = self.content[begin:end]
        spec = ModuleSpec(name, loader, origin=path)
        spec.has_location, spec.cached = True, FILE
        if file.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(path)]
        return spec

    def keep(self) -> None:
        """Rewrite the file if many of the loaded modules are missing in it; write errors are ignored."""
        if len(self.absent) < WORTHWHILE or sys.dont_write_bytecode or sys.pycache_prefix:
            return
        specs = (getattr(sys.modules.get(name), "__spec__", None) for name in self.absent)
        with contextlib.suppress(OSError):
            added = [*compiled(spec for spec in specs if spec and type(spec.loader) is SourceFileLoader)]
            if added:
                write(self.key, [*self.present(), *added])

    def present(self) -> Iterator[Kept]:
        """The modules of the file whose source is unchanged."""
        for name, (file, size, changed, begin, end) in self.rows.items():
            if state(f"{PACKAGE}/{file}") == (size, changed):
                yield name, file, (size, changed), self.content[begin:end]


def compiled(specs: Iterable[ModuleSpec]) -> Iterator[Kept]:
    """The modules with a current bytecode file of Python, each with its bytecode."""
    for spec in specs:
        path, known = str(spec.origin), state(str(spec.origin))
        if known and spec.cached and path.startswith(f"{PACKAGE}{os.sep}"):
            try:
                with open(spec.cached, "rb") as file:
                    head, bytecode = file.read(16), file.read()
            except OSError:
                continue
            flags, changed, size = (int.from_bytes(head[at : at + 4], "little") for at in (4, 8, 12))
            if (flags, changed, size) == (0, known[1] // 10**9 & 0xFFFFFFFF, known[0]):
                yield spec.name, path[len(PACKAGE) + 1 :].replace(os.sep, "/"), known, bytecode


def write(key: tuple[int, str, str], modules: Iterable[Kept]) -> None:
    """Write the file with what it holds for and its modules, atomically.

    Processes that run at the same time write a draft each.
    """
    parts: list[bytes | memoryview] = []
    rows: dict[str, Row] = {}
    length = 0
    for name, file, (size, changed), bytecode in modules:
        rows[name] = file, size, changed, length, length + len(bytecode)
        length += len(bytecode)
        parts.append(bytecode)
    table = marshal.dumps((key, rows))
    content = b"".join((len(table).to_bytes(START - 4, "little"), table, *parts))
    draft = f"{FILE}.{os.urandom(8).hex()}"
    try:
        with open(draft, "xb") as out:
            out.write(crc32(content).to_bytes(4, "little") + content)
        os.replace(draft, FILE)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def state(path: str) -> tuple[int, int] | None:
    """Size in bytes and modification time in nanoseconds of a file; None if it cannot be read."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def use(version: str) -> Finder:
    """Import modules from the file from now on, if it is of this version of the program."""
    finder = Finder(version)
    sys.meta_path.insert(0, finder)
    return finder
