"""Holds the sdist and the wheel against what they must and must not contain."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

from clusterspec import __version__

IN_SDIST = ("clusterspec/__init__.py", "tests/conftest.py", "docs/commands.md", "schemas/spec.schema.json", "Makefile",
            "tools/generate/__init__.py", "examples/dgx-h100-pod.yaml", "LICENSE", "CHANGELOG.md")  # fmt: skip
IN_WHEEL = (
    "clusterspec/__init__.py",
    "clusterspec/_data/schemas/spec.schema.json",
    "clusterspec/_data/catalog/VERSION",
    "clusterspec/_data/templates/editor/page.js",
)
LICENSES = ("LICENSE", "LICENSES/CC-BY-4.0.txt", "templates/fonts/LICENSE.txt", "templates/editor/LICENSES.txt")
"""The texts of the licenses of program, catalog, fonts and page, in both packages."""
NOWHERE = {"__pycache__", ".venv", ".git", "node_modules", ".hypothesis", ".mypy_cache", ".ruff_cache", "out", "dist"}
"""Folders that no package holds."""


def faults(folder: Path) -> list[str]:
    """Errors in the packages of a folder."""
    (sdist,), (wheel,) = sorted(folder.glob("*.tar.gz")), sorted(folder.glob("*.whl"))
    with tarfile.open(sdist) as archive:
        in_sdist = [name.partition("/")[2] for name in archive.getnames()]
    with zipfile.ZipFile(wheel) as package:
        in_wheel = package.namelist()
    found = [f"{sdist.name} lacks {name}" for name in IN_SDIST if name not in in_sdist]
    found += [f"{wheel.name} lacks {name}" for name in IN_WHEEL if name not in in_wheel]
    kept = {name.partition(".dist-info/licenses/")[2] for name in in_wheel}
    found += [f"{wheel.name} lacks the license {name}" for name in LICENSES if name not in kept]
    found += [f"{sdist.name} lacks the license {name}" for name in LICENSES if name not in in_sdist]
    found += [f"{name} should not be there" for name in (*in_sdist, *in_wheel) if is_stray(name)]
    return found + [f"{name} should not be in the wheel" for name in in_wheel if name.startswith(("tests/", "tools/"))]


def release_obstacles(version: str, changelog: str) -> list[str]:
    """Why a version cannot be released: the changelog begins with another version, or with one without a date."""
    head = next((line for line in changelog.splitlines() if line.startswith("## ")), "")
    named = head.removeprefix("## ").split(" ")[0]
    if named != version:
        return [f"CHANGELOG.md begins with {named or 'no version'}, and the version is {version}"]
    return [f"CHANGELOG.md gives no date of {version}: write the day of the release"] if "unreleased" in head else []


def is_stray(name: str) -> bool:
    """Whether a path in a package lies in a folder that no package holds, or is compiled."""
    return name.endswith(".pyc") or not NOWHERE.isdisjoint(name.split("/"))


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "the packages are complete")
    for why in release_obstacles(__version__, Path("CHANGELOG.md").read_text("utf-8")):
        print(f"not yet a release: {why}")
    sys.exit(bool(wrong))
