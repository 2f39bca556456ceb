"""``make interrupt``: ends commands that write files at a hundred points each.

A file must be either the old or the new one. SIGKILL comes after delays spread over the run time of the command; the
target is then compared, byte by byte, with the old content and with the output of a complete run. SIGINT comes at as
many points: the program must exit with 130 and print no traceback, or have ended already.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from clusterspec import resources

ROOT = Path(__file__).resolve().parents[1]
POINTS = 100
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "SOURCE_DATE_EPOCH": "1796083200"}
PACKAGE = os.fsencode(ROOT / "clusterspec")
COMMANDS = {
    "--fix": (("check", "spec.yaml", "--fix"), "spec.yaml"),
    "--write-baseline": (("check", "spec.yaml", "--write-baseline", "known.json"), "known.json"),
    "report": (("report", "spec.yaml", "-o", "report.html"), "report.html"),
}
FLAW = "    bandwidth: 900 GB/s unidirectional\n"


def spec_with_flaw() -> str:
    """A spec with a flaw that has a certain fix."""
    text = (resources.templates() / "starter.yaml").read_text("utf-8")
    head, _, tail = text.partition("\ncluster:\n")
    return f"{head}\ncluster:\n  scale_up:\n{FLAW}{tail}"


def prepare(target: str) -> None:
    """The files before a run: a spec, and an older target."""
    Path("spec.yaml").write_text(spec_with_flaw())
    if target != "spec.yaml":
        Path(target).write_text("the old file\n")


def started_process(words: tuple[str, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "clusterspec", *words],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def outcome_after_signal(words: tuple[str, ...], delay: float, how: signal.Signals) -> tuple[int, bytes]:
    """The status and the standard error of a command that gets a signal after a delay."""
    process = started_process(words)
    time.sleep(delay)
    process.send_signal(how)
    _, error = process.communicate()
    return process.returncode, error


def outcomes(words: tuple[str, ...], target: str, points: int) -> Counter[str]:
    """How often the target was the old file, the new one, or broken, and how often an interrupt was not quiet."""
    prepare(target)
    before, since = Path(target).read_bytes(), time.monotonic()
    started_process(words).communicate()
    whole, after = time.monotonic() - since, Path(target).read_bytes()
    found: Counter[str] = Counter()
    for number in range(points):
        delay = 1.1 * whole * (number + 1) / points
        prepare(target)
        outcome_after_signal(words, delay, signal.SIGKILL)
        held = Path(target).read_bytes()
        found["old" if held == before else "new" if held == after else "BROKEN"] += 1
        prepare(target)
        status, error = outcome_after_signal(words, delay, signal.SIGINT)
        quiet = status in (0, 1, 130) and b"Traceback" not in error
        early = PACKAGE not in error  # Python itself was still starting
        found["interrupted" if quiet else "interrupted before the start" if early else "LOUD"] += 1
        held = Path(target).read_bytes()
        found["BROKEN"] += held not in (before, after)
    assert before != after
    return +found


def main(points: int) -> int:
    """Prints the outcomes of every command; 1 where a file was broken or an interrupt was not quiet."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, (words, target) in COMMANDS.items():
            found = outcomes(words, target, points)
            bad += found["BROKEN"] + found["LOUD"]
            print(f"{name}: " + ", ".join(f"{count} {what}" for what, count in sorted(found.items())), flush=True)
        os.chdir(ROOT)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else POINTS))
