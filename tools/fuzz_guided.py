"""``make fuzz`` where Atheris installs: inputs guided by the branches that they reach.

An input names what it is for (a spec as a structure, a spec as bytes, a quantity, running text, a configuration, rules
of a company, a baseline) and a command or writer. libFuzzer keeps in ``out/fuzz`` what reaches a new branch, and goes
on from there in the next run. An input on which the program fails is written to ``out/fuzz-failures`` and ends the run.

    python -m tools.fuzz_guided SECONDS
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pkgutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "out" / "fuzz"
FAILED = ROOT / "out" / "fuzz-failures"
FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown")
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("check", "spec.yaml", "--format", form) for form in FORMATS),
    ("check", "spec.yaml", "--diff", "--unsafe-fixes"),
    ("estimate", "spec.yaml"),
    ("estimate", "spec.yaml", "--format", "json"),
    ("estimate", "spec.yaml", "--assumptions"),
    ("bom", "spec.yaml"),
    ("cost", "spec.yaml"),
    ("diff", "other.yaml", "spec.yaml"),
    ("report", "spec.yaml", "-o", "report.json"),
    *(
        ("export", kind, "spec.yaml")
        for kind in ("sbatch", "nccl-env", "megatron", "vllm", "bom-csv", "cabling", "rfp")
    ),
)


LARGEST = 8192
"""Bytes of an input."""
UNTOUCHED = ("clusterspec.__main__", "clusterspec.cli.language_server")
"""Modules that no target runs."""
QUANTITIES = (b"900 GB/s duplex", b"8 x 400 Gb/s", b"2:1", b"989 TFLOP/s dense", b"96 GiB", b"40 %", b"3 us")
PROSE = b"| GPU | NVLink |\n|---|---|\n| H100 | 900 GB/s unidirectional |\n\nEach node has 8 x 400 Gb/s NICs.\n"
CONFIGURATION = (
    b'ignore = ["units"]\nthresholds = {pipeline-bubble = 0.2}\n[[overrides]]\npaths = ["a/"]\nerror = ["few-spines"]\n'
)
POLICY = (
    b'rules:\n  - {name: a, when: cluster.nodes > 2, assert: "min(layout.tp, 2) <= 8", message: m, severity: error}\n'
)


class FailedError(Exception):
    """A command ended with status 3."""


def called(words: tuple[str, ...]) -> None:
    """Runs a command; raises `FailedError` where it fails."""
    from clusterspec.cli import run

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        status = run(list(words))
    if status == 3:
        raise FailedError(f"{' '.join(words)}: {said.getvalue()}")


def quantity(data: bytes) -> None:
    """Reads a quantity as every kind."""
    from clusterspec.units import KINDS, UnitFault, read
    from clusterspec.units.readings import readings

    text = data.decode("utf-8", "replace")
    for kind in KINDS:
        with contextlib.suppress(UnitFault):
            read(text, kind)
    with contextlib.suppress(UnitFault):
        readings(text)


def targets() -> tuple[Callable[[bytes], Any], ...]:
    """The targets that an input may have."""
    from hypothesis import HealthCheck, Phase, given, settings

    from tests.cli.hostile import HOSTILE, TEXTS

    sound = next(iter(TEXTS.values()))

    @settings(deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck])
    @given(HOSTILE)
    def structure(text: bytes) -> None:
        Path("spec.yaml").write_bytes(text)
        called(COMMANDS[sum(text) % len(COMMANDS)])

    handle: Any = structure  # Hypothesis adds an attribute that its types leave out
    fuzz_structure = handle.hypothesis.fuzz_one_input

    def bytes_(data: bytes) -> None:
        Path("spec.yaml").write_bytes(data[1:])
        called(COMMANDS[data[0] % len(COMMANDS)])

    def file(name: str, *words: str) -> Callable[[bytes], None]:
        def run_target(data: bytes) -> None:
            Path("spec.yaml").write_bytes(sound)
            Path(name).write_bytes(data)
            called(words)

        return run_target

    Path("policy").mkdir()
    Path("other.yaml").write_bytes(sound)
    Path("policy.toml").write_text('rules = ["policy"]\n')
    return (
        fuzz_structure,
        fuzz_structure,
        bytes_,
        quantity,
        file("text.md", "check", "text.md"),
        file("own.toml", "check", "spec.yaml", "--config", "own.toml"),
        file("policy/own.yaml", "check", "spec.yaml", "--config", "policy.toml"),
        file("known.json", "check", "spec.yaml", "--baseline", "known.json"),
    )


def write_first_inputs() -> None:
    """Write the inputs of the first run: sound and hostile files, each for its target."""
    from tests.cli.hostile import TEXTS

    corpus = [path.read_bytes() for path in sorted((ROOT / "tests" / "corpus").iterdir()) if path.is_file()]
    seeds = {f"spec-{number}": b"\x02\x00" + data for number, data in enumerate([*TEXTS.values(), *corpus])}
    seeds |= {f"quantity-{number}": b"\x03" + text for number, text in enumerate(QUANTITIES)}
    seeds |= {"prose": b"\x04" + PROSE, "configuration": b"\x05" + CONFIGURATION, "policy": b"\x06" + POLICY}
    seeds |= {"baseline": b"\x07" + b'{"version": 1, "findings": [{"fingerprint": "a", "rule": "b", "file": "c"}]}'}
    for name, data in seeds.items():
        if len(data) <= LARGEST and not (KEPT / name).exists():
            (KEPT / name).write_bytes(data)


def main(seconds: int) -> None:
    """Fuzzes for some seconds; libFuzzer ends the process, with another status than 0 after a failure."""
    import atheris

    with atheris.instrument_imports(include=["clusterspec"], enable_loader_override=False):
        import clusterspec

        for module in pkgutil.walk_packages(clusterspec.__path__, "clusterspec."):
            if not module.name.startswith(UNTOUCHED):
                importlib.import_module(module.name)

    KEPT.mkdir(parents=True, exist_ok=True)
    FAILED.mkdir(parents=True, exist_ok=True)
    os.chdir(tempfile.mkdtemp())
    kinds = targets()

    def run_target(data: bytes) -> None:
        if len(data) > 2:
            kinds[data[0] % len(kinds)](data[1:])

    write_first_inputs()
    limits = (f"-max_len={LARGEST}", "-len_control=0", "-timeout=30")
    options_ = [f"-max_total_time={seconds}", *limits, f"-artifact_prefix={FAILED}/"]
    atheris.Setup([sys.argv[0], *options_, str(KEPT)], run_target)
    atheris.Fuzz()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
