"""Prints the lowest version of each dependency that pyproject.toml allows, as requirements of pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = ("dask", "lsp", "xlsx")


def lowest() -> list[str]:
    """One requirement a package, pinned to the version after `>=`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name in EXTRAS for one in extras.get(name, ()))]
    found: dict[str, str] = {}
    for requirement in wanted:
        if match := re.match(r"([A-Za-z0-9_.-]+)\s*>=\s*([0-9.]+)", requirement):
            found.setdefault(match[1].lower(), f"{match[1]}=={match[2]}")
    return sorted(found.values())


if __name__ == "__main__":
    print("\n".join(lowest()))
