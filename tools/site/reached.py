"""The modules of the package that the pages of the playground may import."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from clusterspec.analysis import HOMES
from tools.site.docstrings import BLOCKS, parsed

PACKAGE = "clusterspec"
PRUNED = (
    *(f"{PACKAGE}.{name}." for name in ("exchange", "analysis", "logs")),
    *(
        f"{PACKAGE}.cli.{name}"
        for name in (
            *("completions", "editor.server", "language_server.server"),
            *(f"commands.{name}" for name in ("catalog", "edit", "exchange", "logs", "measure")),
        )
    ),
    f"{PACKAGE}.studies.measured_logs",
)
"""Where modules may be left out: importers, diagnosis with its readers of logs, and what serves shells and editors."""
NO_VERBS = {"accept", "accepted_ranges", "diagnose", "failure_rates_of", "planned_tests", "simulate", "solve", "sweep"}
"""Functions of `clusterspec.analysis` that no page asks for."""
BY_NAME = (
    f"{PACKAGE}.exchange.exporters.",
    *(f"{PACKAGE}.analysis.{home}" for verb, home in HOMES.items() if verb not in NO_VERBS),
)
"""Modules that a registry names: reports hold what several exporters write, and verbs are found by their names."""
NOT_OF_PAGES = frozenset(
    {
        f"{PACKAGE}.library",  # for Python programs
        f"{PACKAGE}.cli.completions",  # for shells
        f"{PACKAGE}.cli.commands.catalog",  # reads pages of vendors
        f"{PACKAGE}.studies.measured_logs",  # a page has no other file than the spec
        f"{PACKAGE}.cli.commands.edit",  # starts the local server
        f"{PACKAGE}.cli.commands.exchange",  # `import` and `export`
        f"{PACKAGE}.cli.commands.logs",  # `diagnose` and `accept`
        f"{PACKAGE}.analysis.diagnosis",  # of logs
        f"{PACKAGE}.logs.statement_search",  # the messages of whole logs, which no spec holds
        f"{PACKAGE}.analysis.several_logs",
        f"{PACKAGE}.analysis.calibrated_failures",
        f"{PACKAGE}.cli.language_server.server",  # for editors
        f"{PACKAGE}.cli.commands.measure",  # runs on the accelerator at hand
    }
)
"""Modules whose imports do not count."""


def unreached_files(files: Mapping[str, bytes]) -> set[str]:
    """The paths of Python files of the package that no request of a page imports; ``files`` are those of the package by
    their path.
    """
    paths = {_module_of(path): path for path in files if path.endswith(".py")}
    kept = {module for module in paths if module.startswith(BY_NAME) or not module.startswith(PRUNED)}
    kept -= {module for module in NOT_OF_PAGES if module.startswith(PRUNED)}
    reached, waiting = set(kept), [*(kept - NOT_OF_PAGES)]
    while waiting:
        for module in _with_parents(_imported_names(files[paths[waiting.pop()]])):
            if module in paths and module not in reached | NOT_OF_PAGES:
                reached.add(module)
                waiting.append(module)
    return {path for module, path in paths.items() if module not in reached}


def _module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imported_names(text: bytes) -> Iterator[str]:
    """The names that a file may import, inside functions too, without imports for type checkers. Expressions, which
    hold no imports, are most of a file.
    """
    waiting: list[ast.AST] = [parsed(text.decode())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        waiting += [each for name in BLOCKS for each in getattr(node, name, ())]


def _with_parents(names: Iterable[str]) -> Collection[str]:
    """Dotted names and the packages around them."""
    return {".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 2)}
