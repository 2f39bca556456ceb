"""``python -m tools.peers``: runs adapters and keeps what the peers predict in ``tests/accuracy/peers``."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
import venv
from functools import cache
from pathlib import Path
from typing import Any

from tools.peers import rows

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "accuracy" / "peers"
SECONDS = 1800


@cache
def peers() -> dict[str, Any]:
    """The table of peers, without those that are not run."""
    return {name: one for name, one in _table().items() if name != "not_run"}


@cache
def not_run() -> dict[str, str]:
    """Peers that are not run, each with the reason."""
    return dict(_table()["not_run"])


def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("peers.toml").read_text("utf-8"))


def recorded_prediction(name: str) -> dict[str, Any]:
    """The recorded prediction of a peer; None if none was recorded."""
    file = KEPT / f"{name}.json"
    found: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {"answers": {}}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.peers", description=__doc__)
    parser.add_argument("peers", nargs="*", metavar="NAME", help="peers to run (default: all on registries)")
    parser.add_argument("--source", type=Path, help="the folder of a peer that is on no registry, at its pinned commit")
    chosen = parser.parse_args()
    for name in chosen.peers or [name for name, one in peers().items() if "package" in one]:
        run(name, chosen.source)


def run(name: str, source: Path | None = None) -> None:
    """Run one peer on all rows of its kind, and keep its answers."""
    peer = peers()[name]
    given = getattr(rows, peer["kind"])()
    if "package" in peer:
        python, path = _installed(name, peer["package"]), []
    elif source is None:
        print(f"{name}: on no registry; its recorded predictions are kept (--source DIR runs it)")
        return
    else:
        own = ROOT / "out" / "peers" / name / "bin" / "python"
        python, path = own if own.exists() else Path(sys.executable), [str(source)]
    call = [str(python), "-m", f"tools.peers.adapters.{name}"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *path])}
    done = subprocess.run(
        call, input=json.dumps(given), capture_output=True, text=True, env=environment, timeout=SECONDS, check=False
    )
    if done.returncode:
        print(f"{name}: did not run; its recorded predictions are kept: {done.stderr.strip().splitlines()[-1:]}")
        return
    answers = {row: _rounded_figures(one) for row, one in json.loads(done.stdout).items()}
    record = {
        "peer": name,
        "of": peer.get("package") or peer["commit"],
        "rows": rows.digest(peer["kind"], answers),
        "answers": answers,
    }
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(record, indent=0, sort_keys=True) + "\n", "utf-8")
    print(f"{name}: {sum('figures' in one for one in answers.values())} of {len(answers)} rows predicted")


def _rounded_figures(figures: dict[str, Any]) -> dict[str, Any]:
    if "figures" not in figures:
        return figures
    return {"figures": {key: float(f"{value:.6g}") for key, value in figures["figures"].items()}}


def _installed(name: str, package: str) -> Path:
    """The interpreter of the peer's own environment, made where it is not there."""
    folder = ROOT / "out" / "peers" / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
    return python


if __name__ == "__main__":
    main()
