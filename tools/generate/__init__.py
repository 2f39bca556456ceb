"""Pages that are made, not written: each from what the program itself uses."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from clusterspec.catalog import Catalog
from clusterspec.cli.completions import editor_schema

ROOT = Path(__file__).resolve().parents[2]


def pages() -> dict[str, Callable[[], str]]:
    """Every generated file, by its path from the root, with the function that generates its text."""
    return _reference_pages() | _catalog_pages() | _example_pages() | _rule_pages()


def _reference_pages() -> dict[str, Callable[[], str]]:
    """What the program reads and computes: commands, keys, settings, formats, formulas, units."""
    from tools.generate import commands, configuration, exchange, figures, formulas, prose, spec, units

    return {
        "docs/commands.md": commands.page,
        "docs/spec.md": spec.page,
        "docs/configuration.md": configuration.page,
        "docs/exchange.md": exchange.page,
        "docs/formulas.md": formulas.page,
        "docs/prose.md": prose.page,
        "README.md": figures.readme,
        "clusterspec/units/table.py": units.table,
    }


def _catalog_pages() -> dict[str, Callable[[], str]]:
    """The catalog, and the ids of its entries for editors."""
    from tools.generate import catalog, catalog_tables

    return {
        "docs/catalog.md": catalog.page,
        **catalog.kind_pages(),
        "docs/documented-facts.md": catalog.documented_facts_page,
        **catalog_tables.table_pages(),
        "catalog/index.json": catalog.rows_of_all,
        "catalog/VERSION": catalog.version,
        "schemas/editor.schema.json": lambda: editor_schema(Catalog.open()),
    }


def _example_pages() -> dict[str, Callable[[], str]]:
    """Pages with the output of examples."""
    from tools.generate import figures, first_hour, gallery, notebook, understand

    return {
        "docs/first-hour.md": first_hour.page,
        "docs/gallery.md": gallery.page,
        "docs/gallery.html": gallery.table_page,
        "docs/notebook.ipynb": notebook.page,
        "docs/step.svg": figures.timeline,
        "docs/understand.md": understand.page,
        **understand.drawings(),
    }


def _rule_pages() -> dict[str, Callable[[], str]]:
    """The rules: their index, overview and pages, and the scores of reviews."""
    from tools.generate import review, rules

    return {
        "clusterspec/rules/index.py": rules.index,
        "docs/review.md": review.page,
        "docs/rules.md": rules.overview,
        **rules.rule_pages(),
    }


PARTS_OF_PROGRAM = frozenset({"clusterspec/units/table.py", "clusterspec/rules/index.py", "catalog/index.json"})
"""Generated files that the program reads to make others; a separate process writes them first."""


def stale_files(names: Collection[str] = ()) -> list[str]:
    """The generated files, all or some, whose text on disk is not what would be made now."""
    made = pages()
    return [name for name in names or made if _read(ROOT / name) != made[name]()]


def write(names: Collection[str] = ()) -> list[str]:
    """Write the stale ones among the files (all or some) and return their names."""
    changed = stale_files(names)
    for name in changed:
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(pages()[name](), "utf-8")
    return changed


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.is_file() else None
