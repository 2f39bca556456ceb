"""``python -m tools.release.conda dist``: the recipe of a built source distribution for conda-forge, format 1.

The form is that of https://conda-forge.org/docs/maintainer/example_recipes/pure-python (read 2026-11-21). Version,
dependencies and license are those of pyproject.toml, the hash that of the file.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"tree-sitter": "tree_sitter"}
"""The package whose name on conda-forge differs from that on PyPI, https://anaconda.org/conda-forge/tree_sitter."""


def conda_requirement(requirement: str) -> str:
    """A requirement of pyproject.toml as a recipe writes it: ``PyYAML>=6`` → ``pyyaml >=6``."""
    name, bounds = re.fullmatch(r"([A-Za-z0-9_-]+)(.*)", requirement.replace(" ", "")).groups()  # type: ignore[union-attr]
    return f"{NAMES.get(name.lower(), name.lower())} {bounds}".strip()


def recipe(source: Path) -> dict[str, object]:
    """The recipe for a source distribution ``clusterspec-VERSION.tar.gz``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    about, build = project["project"], project["build-system"]["requires"]
    version = source.name.removeprefix("clusterspec-").removesuffix(".tar.gz")
    floor = about["requires-python"].removeprefix(">=")
    return {
        "schema_version": 1,
        "context": {"version": version, "python_min": floor},
        "package": {"name": "clusterspec", "version": "${{ version }}"},
        "source": {
            "url": "https://pypi.org/packages/source/c/clusterspec/clusterspec-${{ version }}.tar.gz",
            "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        },
        "build": {
            "noarch": "python",
            "number": 0,
            "script": "${{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation",
            "python": {"entry_points": [f"{name} = {place}" for name, place in about["scripts"].items()]},
        },
        "requirements": {
            "host": ["python ${{ python_min }}.*", "pip", *map(conda_requirement, build)],
            "run": ["python >=${{ python_min }}", *map(conda_requirement, about["dependencies"])],
        },
        "tests": [
            {"python": {"imports": ["clusterspec"], "pip_check": True}},
            {"script": ["clusterspec init > spec.yaml", "clusterspec check spec.yaml"]},
        ],
        "about": {
            "homepage": "https://github.com/clusterspec/clusterspec",
            "repository": "https://github.com/clusterspec/clusterspec",
            "summary": about["description"],
            "license": about["license"],
            "license_file": about["license-files"],
        },
        "extra": {"recipe-maintainers": ["clusterspec"]},
    }


def main(folder: Path) -> int:
    """Print the recipe of the source distribution in a folder; 1 if there is not exactly one."""
    sources = list(folder.glob("clusterspec-*.tar.gz"))
    if len(sources) != 1:
        print(f"{folder} holds {len(sources)} source distributions; build one with `make release`", file=sys.stderr)
        return 1
    print(yaml.safe_dump(recipe(sources[0]), sort_keys=False, width=1000), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
