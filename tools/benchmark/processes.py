"""Whole processes: start-up compared with other programs, and 1,000 specs."""

from __future__ import annotations

import compileall
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import clusterspec
from tools.benchmark.specs import CLEAN, FLAWED, ROOT, SPEC, thousand_specs

BARE, CHECK = "an empty Python", "clusterspec check"
RATIOS = (
    (CHECK, "yamllint", 1.2),
    (CHECK, "check-jsonschema", 0.3),
    ("clusterspec check, failing", CHECK, 1.5),
    ("clusterspec --version", BARE, 2.5),
    ("clusterspec --help", BARE, 2.5),
)
"""Pairs to compare, with the ratio to reach."""
TIMES = 11
THOUSAND = 2.0
"""Processor seconds to reach for 1,000 specs."""


def start_up() -> None:
    """Processor seconds of whole processes with compiled bytecode, compared with public tools on the same spec."""
    compileall.compile_dir(Path(clusterspec.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        clean, flawed = Path(folder) / "clean.yaml", Path(folder) / "flawed.yaml"
        clean.write_text(CLEAN)
        flawed.write_text(FLAWED)
        tools = Path(sys.executable).parent
        schema = str(ROOT / "schemas" / "spec.schema.json")
        script = tools / "clusterspec"  # what users run, as yamllint's; `python -m` takes 5 % longer
        ours = (str(script),) if script.exists() else (sys.executable, "-m", "clusterspec")
        commands = {
            BARE: (sys.executable, "-c", "pass"),
            "yamllint": (str(tools / "yamllint"), "-d", "relaxed", str(clean)),
            "check-jsonschema": (str(tools / "check-jsonschema"), "--schemafile", schema, str(clean)),
            "clusterspec --version": (*ours, "--version"),
            "clusterspec --help": (*ours, "--help"),
            CHECK: (*ours, "check", str(clean)),
            "clusterspec check, failing": (*ours, "check", str(flawed)),
            "clusterspec estimate": (*ours, "estimate", str(SPEC)),
        }
        commands = {name: words for name, words in commands.items() if Path(words[0]).exists()}
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for words in commands.values():
            processor_seconds(*words)  # once before: bytecode is written, files are in memory
        for _ in range(TIMES):  # in turn, so that all meet the same noise
            for name, words in commands.items():
                seconds[name].append(processor_seconds(*words))
    found = {name: statistics.median(times) for name, times in seconds.items()}
    for name, time_ in found.items():
        print(f"{name:28} {time_ * 1e3:6.0f} ms")
    for one, other, limit in RATIOS:
        if one in found and other in found:
            ratio = found[one] / found[other]
            print(f"{one} / {other}: {ratio:.2f} (to reach: {limit}){'' if ratio <= limit else '  missed'}")


def print_batch_time() -> None:
    """Processor seconds of one check of 1,000 specs, all its processes together."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(thousand_specs()):
            (Path(folder) / f"{number:04}.yaml").write_text(text)
        words = (sys.executable, "-m", "clusterspec", "check", folder)
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        assert "nothing found" in done.stdout, done.stdout[-2000:]
        spent = statistics.median(processor_seconds(*words) for _ in range(3))
    missed = "" if spent <= THOUSAND else "  missed"
    print(f"{'1,000 specs':28} {spent:6.2f} s (to reach: {THOUSAND}){missed}")


def processor_seconds(*words: str) -> float:
    """The processor seconds of one process and its children."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=False, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
