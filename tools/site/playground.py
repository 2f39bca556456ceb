"""The playground in a folder: page and worker built by Node from web/, Pyodide from the npm package, and the engine."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

from clusterspec.catalog import Catalog
from clusterspec.cli.editor.server import content_security_policy
from clusterspec.cli.starting import starting_spec
from clusterspec.config import Config
from clusterspec.studies import Settings
from tools.site.engine import ROOT, write_engine, write_lock

WEB = ROOT / "web"
GALLERY = ROOT / "examples" / "gallery"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
EXAMPLES = ("dgx-h100-pod", "gb200-nvl72", "llama-3-405b", "deepseek-v3-serving", "aws-p5-8b",
            "mi300x-pair", "trn2-serving", "lab-fleet")  # fmt: skip
SERVED = ("hgx-h200", "llama-3.3-70b")
"""Platform and model of the new spec for serving."""
LARGEST = 8_000_000
"""Bytes that a first visit may transfer, with files compressed as web servers do."""


def starting_specs() -> dict[str, str]:
    """Starting specs from ``clusterspec init``, for training and for serving."""
    settings = Settings(Catalog.open(), Config(), date.today())
    training = (ROOT / "templates" / "starter.yaml").read_text("utf-8")
    return {"for training": training, "for serving": starting_spec(settings, *SERVED, "serve")[0]}


def examples() -> dict[str, dict[str, str]]:
    """The specs to open, by group and name: those that need no other file."""
    folder = ROOT / "examples"
    paths = {"Examples": [folder / f"{name}.yaml" for name in EXAMPLES], "Gallery": sorted(GALLERY.glob("*.yaml"))}
    texts = {group: {path.stem: path.read_text("utf-8") for path in inside} for group, inside in paths.items()}
    return {"A new spec": starting_specs()} | {
        group: {name: text for name, text in inside.items() if not re.search("^extends:", text, re.MULTILINE)}
        for group, inside in texts.items()
    }


def transferred_bytes(folder: Path) -> int:
    """The bytes of the files of a folder as web servers send them, compressed."""
    return sum(len(gzip.compress(path.read_bytes(), 6)) for path in folder.rglob("*") if path.is_file())


def write_playground(target: Path) -> None:
    """Build the playground into a folder. Needs Node; npm compares the hashes of package-lock.json."""
    target.mkdir(parents=True, exist_ok=True)
    if not (WEB / "node_modules" / "pyodide").is_dir():
        subprocess.run(["npm", "ci", "--silent", "--ignore-scripts"], cwd=WEB, check=True)
    subprocess.run(["node", "build.mjs", str(target.resolve())], cwd=WEB, check=True)
    pyodide = WEB / "node_modules" / "pyodide"
    for name in PYODIDE:
        shutil.copy(pyodide / name, target / name)
    write_lock(pyodide / "pyodide-lock.json", target / "pyodide-lock.json")
    others = shutil.ignore_patterns("Noto*")  # which PDF alone needs
    shutil.copytree(ROOT / "templates" / "fonts", target / "fonts", dirs_exist_ok=True, ignore=others)
    write_engine(target, pyodide / "python_stdlib.zip", (ROOT / "examples" / f"{EXAMPLES[0]}.yaml").read_text("utf-8"))
    (target / "examples.json").write_text(json.dumps(examples()), "utf-8")
    _replace_in(target / "index.html", "POLICY", f'<meta http-equiv="Content-Security-Policy" content="{policy()}">')
    version = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(target.rglob("*")) if path.is_file()))
    _replace_in(target / "offline.js", "VERSION", version.hexdigest()[:16])


def policy() -> str:
    """The policy of the page: that of ``clusterspec edit``, and WebAssembly in a worker."""
    own = content_security_policy((ROOT / "templates" / "report.js").read_text("utf-8"))
    in_page = own.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
    return in_page.replace("; frame-ancestors 'none'", "") + "; worker-src 'self' blob:"


def _replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text, path
    path.write_text(text.replace(old, new), "utf-8")
