"""The engine of the playground as one archive: the package without docstrings that no page shows, its data, and the
pure-Python parts of what it imports, from the wheels that requirements/run.txt pins by their hashes. What checks,
estimates, costs and reports import is compiled when the site is built (web/compile.mjs), so that the page does not.

NumPy and WeasyPrint are left out: the search of the package goes on without columns, and reports are HTML. rpds, the
one library in Rust that is needed, has a stand-in of three collections (`tools.site.rpds`).
"""

from __future__ import annotations

import io
import json
import lzma
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tools.site.docstrings import without_docstrings
from tools.site.reached import unreached_files

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("attrs", "flexcache", "flexparser", "jinja2", "jsonschema", "jsonschema-specifications", "markupsafe",
             "pint", "platformdirs", "pyyaml", "referencing")  # fmt: skip
"""Libraries that the package imports, directly or indirectly, except the omitted ones, and except typing-extensions,
which the others need on earlier versions of Python only."""
KEPT = {".py", ".json", ".txt", ".typed"}
"""Suffixes of the wheel files that are kept: no compiled ones, since all of these libraries work without."""
OWN_TESTS = {"benchmarks", "tests", "testsuite"}
"""Folders of a library that hold its own tests, which the engine does not run."""
UNUSED_OF_LIBRARIES = frozenset({
    "jinja2/ext.py", "jinja2/meta.py", "jinja2/nativetypes.py", "jinja2/sandbox.py", "jsonschema/__main__.py",
    "jsonschema/cli.py", "platformdirs/__main__.py", "platformdirs/android.py", "platformdirs/ios.py",
    "platformdirs/macos.py", "platformdirs/testing.py", "platformdirs/windows.py",
    "pint/matplotlib.py", "pint/pint_convert.py", "pint/testing.py",
})  # fmt: skip
"""Modules of the libraries that no answer of the engine imports: extensions of templates, command lines, tests, and
folders of other systems.
"""
DATA = ("schemas", "catalog", "templates")
LEFT_OUT = frozenset(
    {
        "catalog/CHANGES.md",
        "catalog/known-parts.csv",
        "catalog/messages.csv",
        "catalog/sxids.csv",
        "catalog/exceptions.csv",
        "catalog/cause-reports.csv",
        "catalog/cause-terms.csv",
        "catalog/release-faults.csv",
        "catalog/slow-symptoms.csv",
        "schemas/catalog-export.schema.json",
        "schemas/catalog.schema.json",
        "schemas/check.schema.json",
        "schemas/editor.schema.json",
        "schemas/schemastore.json",
        "schemas/sweep.schema.json",
        "schemas/test.schema.json",
    }
)
"""Data that no verb of the page reads (`clusterspec.cli.editor.verbs.VERBS`): changes of the catalog between releases,
parts without entries for `catalog`, messages of logs for `diagnose`, and schemas for editors, readers and
catalogs of companies.
"""
UNUSED = frozenset({
    "_aix_support", "_ast_unparse", "_markupbase", "_pydatetime", "_pyio", "_pyrepl", "antigravity",
    "asyncio.__main__", "asyncio.proactor_events", "asyncio.tools", "asyncio.windows_events",
    "asyncio.windows_utils", "bdb", "cProfile", "cmd", "code", "colorsys", "compileall",
    "concurrent.futures.interpreter", "concurrent.futures.process", "concurrent.interpreters", "configparser",
    "ctypes._aix", "ctypes._layout", "ctypes.macholib", "ctypes.util", "doctest", "email._header_value_parser",
    "email.contentmanager", "email.generator", "email.headerregistry", "email.mime", "email.policy", "filecmp",
    "fileinput", "ftplib", "getopt", "getpass", "graphlib", "html.parser", "http", "imaplib", "json.__main__",
    "json.tool", "logging.config", "logging.handlers", "mailbox", "mimetypes", "modulefinder", "multiprocessing",
    "netrc", "nturl2path", "optparse", "pathlib.types", "pdb", "pickletools", "plistlib", "poplib", "profile",
    "pstats", "pty", "py_compile", "pyclbr", "pydoc", "rlcompleter", "runpy", "sched", "shelve", "smtplib",
    "socketserver", "sqlite3", "ssl", "sre_compile", "sre_constants", "sre_parse", "symtable", "sysconfig.__main__",
    "tabnanny", "tarfile", "this", "timeit", "trace", "tracemalloc", "tty", "turtle", "unittest", "urllib.request",
    "urllib.robotparser", "wave", "webbrowser", "wsgiref", "xml.dom", "xml.etree", "xml.sax", "xmlrpc", "zipapp",
    "zipfile.__main__", "zoneinfo",
})  # fmt: skip
"""Modules of the standard library that no answer of the engine imports: terminals, mail, debuggers, tests."""
KEPT_ENCODINGS = "__init__|aliases|ascii|charmap|cp437|cp1252|idna|latin_1|punycode|.*_escape|utf_.*"
"""The encodings that are kept: Unicode, and those of zip archives."""


def pinned(requirements: Path = ROOT / "requirements" / "run.txt") -> str:
    """The lines of the lock that pin `LIBRARIES`, with their hashes."""
    blocks = re.split(r"^(?=[a-z0-9-]+==)", requirements.read_text("utf-8"), flags=re.MULTILINE)
    chosen = [block.partition("    # via")[0] for block in blocks if block.partition("==")[0] in LIBRARIES]
    assert len(chosen) == len(LIBRARIES), "requirements/run.txt lacks a library of the engine"
    return "".join(chosen)


def library_files() -> dict[str, bytes]:
    """The Python files of the libraries by path, without docstrings, from wheels whose hashes pip has compared."""
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "lock.txt"
        lock.write_text(pinned(), "utf-8")
        call = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
        subprocess.run(
            [sys.executable, "-m", "pip", *call, "--require-hashes", f"--dest={folder}", f"--requirement={lock}"],
            check=True,
        )
        for wheel in sorted(Path(folder).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                for name in (one for one in archive.namelist() if not one.endswith("/")):
                    licensed = ".dist-info/" in name and "LICENSE" in name.upper()
                    used = Path(name).suffix in KEPT and not OWN_TESTS & {*Path(name).parts}
                    if licensed or (used and name not in UNUSED_OF_LIBRARIES):
                        data = archive.read(name)
                        if name.endswith(".py"):
                            data = without_docstrings(data.decode(), is_page=False).encode()
                        found[name] = data
    return found


def own_files() -> dict[str, bytes]:
    """The package and its data, where a wheel has them, without the modules that no page imports."""
    found: dict[str, bytes] = {}
    for path in sorted(path for path in (ROOT / "clusterspec").rglob("*") if path.suffix in KEPT):
        found[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    for name in unreached_files(found):
        del found[name]
    for name in (name for name in found if name.endswith(".py")):
        is_page = name.startswith("clusterspec/rules/") or name == "clusterspec/__init__.py"
        found[name] = without_docstrings(found[name].decode(), is_page=is_page).encode()
    for name in DATA:
        for path in sorted(path for path in (ROOT / name).rglob("*") if path.is_file()):
            place = path.relative_to(ROOT)
            if place.as_posix() in LEFT_OUT:
                continue
            if "editor" not in place.parts and path.suffix != ".woff2":  # what the page itself has
                found[f"clusterspec/_data/{place.as_posix()}"] = path.read_bytes()
    return found


def compiled(standard: Mapping[str, bytes], engine: Mapping[str, bytes], first: str) -> tuple[dict[str, bytes], ...]:
    """The files of the standard library that Python needs to unpack the engine, and all others, with byte code
    (``.pyc``) for Python files that a check, an estimate, its cost and a report of the spec ``first`` import.

    Pyodide's Python compiles them, which needs Node.
    """
    with tempfile.TemporaryDirectory() as folder:
        parts = {"standard": standard, "engine": engine}
        for part, files in parts.items():
            for name, data in files.items():
                path = Path(folder, part, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        fonts = Path(folder, "engine", "clusterspec", "_data", "templates", "fonts")  # reports have them, from the page
        for path in (ROOT / "templates" / "fonts").glob("*.woff2"):
            shutil.copy(path, fonts)
        write_zip(Path(folder, "standard.zip"), standard)
        Path(folder, "first.yaml").write_text(first, "utf-8")
        subprocess.run(["node", "compile.mjs", folder], cwd=ROOT / "web", check=True)
        for path in fonts.glob("*.woff2"):
            path.unlink()
        written = {part: sorted(path for path in Path(folder, part).rglob("*") if path.is_file()) for part in parts}
        return tuple({path.relative_to(Path(folder, part)).as_posix(): path.read_bytes() for path in paths}
                     for part, paths in written.items())  # fmt: skip


def write_engine(folder: Path, library: Path, first: str) -> None:
    """Write ``python_stdlib.zip`` and ``engine.tar.xz`` into a folder; ``library`` is Pyodide's standard library, and
    ``first`` the spec that the page opens first. The same sources give the same bytes."""
    stand_in = (ROOT / "tools" / "site" / "rpds.py").read_bytes()
    with zipfile.ZipFile(library) as whole:
        standard = {name: whole.read(name) for name in whole.namelist() if is_used(name)}
    engine = library_files() | own_files() | {"rpds/__init__.py": stand_in}
    standard, engine = compiled(standard, engine, first)
    write_zip(folder / "python_stdlib.zip", standard)
    write_archive(folder / "engine.tar.xz", engine)


def write_archive(target: Path, files: Mapping[str, bytes]) -> None:
    """Write files as an archive, compressed as a whole.

    Names are short enough for the plain header of a tar, which is what web/src/worker.js reads.
    """
    assert all(name.isascii() and len(name) < 100 for name in files)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    target.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def write_zip(target: Path, files: Mapping[str, bytes]) -> None:
    """Write files as an archive from which Python imports."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


def is_used(name: str) -> bool:
    """Whether the engine needs a file of the archive of the standard library."""
    if name.startswith("encodings/"):
        return re.fullmatch(rf"encodings/({KEPT_ENCODINGS})\.py", name) is not None
    parts = name.removesuffix(".py").split("/")
    prefixes = {".".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    return name.endswith((".py", ".txt")) and not prefixes & UNUSED


def write_lock(source: Path, target: Path) -> None:
    """Write Pyodide's list of packages without packages: the engine has its own."""
    target.write_text(json.dumps(json.loads(source.read_text("utf-8")) | {"packages": {}}), "utf-8")
