"""Hostile files of inputs other than imports, through the command line: ``python -m tools.hostile_inputs [KIND…]``.

Specs, waivers, company catalogs, configurations, baselines, traces and logs. Each command has to end with an exit
status of the contract (0 to 2), without control characters in its output, within `SECONDS` and `MEBIBYTES`. Exit
status 1 where one does not.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.hostile import MEBIBYTES, SECONDS

MOST = 32 << 20
SPEC = b"clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2}\n"
SERVING = SPEC + b"workload: {model: llama-3.1-8b, serving: {arrivals: {trace: given.csv}}}\n"
ENTRY = b"id: own\nname: Own\nvendor: NVIDIA\n"
LOG = b"n1:1:2 [0] NCCL INFO NET/IB : No device found.\n"
BASELINE = b'{"format": 2, "findings": []}\n'
TRACE = b"arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,9,9\n"
TITLE = "\x1b]0;title\x07\x1b[2J"
"""What a terminal would obey: a new title, and an empty screen."""


def _repeated_bytes(unit: bytes, size: int = MOST - 8192) -> bytes:
    return unit * (size // len(unit))


def _aliases() -> bytes:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return ("\n".join(levels) + "\n").encode()


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda start: start,
    "empty": lambda start: b"",
    "deep lists": lambda start: start + b"[" * 200_000,
    "deep mappings": lambda start: start + b'{"a": ' * 100_000,
    "deep blocks": lambda start: start + b"".join(b" " * n + b"a:\n" for n in range(1_200)),
    "a million lines": lambda start: start + b"a\n" * 999_000,
    "one line to the limit": lambda start: start + b"a " * (MOST // 2 - 8192),
    "line feeds to the limit": lambda start: start + b"\n" * (MOST - 8192),
    "repeated to the limit": _repeated_bytes,
    "NUL": lambda start: start + b"\0" * 1_000 + start,
    "not UTF-8": lambda start: start + b"\xff\xfe\xfd" * 1_000,
    "UTF-16": lambda start: start.decode().encode("utf-16"),
    "huge numbers": lambda start: start + b"nodes: " + b"9" * 100_000 + b"\n",
    "1e400": lambda start: start.replace(b"2", b"1e400").replace(b"9", b"1e400"),
    "a chain of aliases": lambda start: _aliases() + start,
    "duplicate keys": lambda start: start + start,
    "terminal codes": lambda start: start + f'"own{TITLE}": "{TITLE}"\nname: {TITLE}\n# {TITLE}\n'.encode(),
    "escaped terminal codes": lambda start: start + b'"own\\e]0;t\\a\\e[2J": "\\e[2J"\n',
    "a formula": lambda start: start + b"=cmd|'/C calc'!A0,1,1\nname: \"=1+1\"\n",
    "binary": lambda start: start + bytes(range(256)) * 4_000,
}
"""Variants of a file by name, from a sound start of one."""


def _spec(folder: Path, data: bytes) -> list[str]:
    (folder / "spec.yaml").write_bytes(data)
    return ["check", "spec.yaml"]


def _waiver(folder: Path, data: bytes) -> list[str]:
    lines = data[: MOST // 16].split(b"\n")[:50_000]
    comments = b"\n".join(b"# clusterspec: ignore[" + line + b"] until 9999-99-99: x" for line in lines)
    (folder / "spec.yaml").write_bytes(SPEC + comments + b"\n")
    return ["check", "spec.yaml"]


def _catalog(folder: Path, data: bytes) -> list[str]:
    place = folder / "own" / "accelerators"
    place.mkdir(parents=True)
    (place / "own.yaml").write_bytes(data)
    (folder / "spec.yaml").write_bytes(SPEC)
    return ["check", "--catalog", "own", "spec.yaml"]


def _configuration(folder: Path, data: bytes) -> list[str]:
    (folder / "clusterspec.toml").write_bytes(data)
    return _spec(folder, SPEC)


def _baseline(folder: Path, data: bytes) -> list[str]:
    (folder / "base.json").write_bytes(data)
    return [*_spec(folder, SPEC), "--baseline", "base.json"]


def _trace(folder: Path, data: bytes) -> list[str]:
    (folder / "given.csv").write_bytes(data)
    return _spec(folder, SERVING)


def _linked_trace(folder: Path, data: bytes) -> list[str]:
    """A trace that a symbolic link fetches from outside the folder of the spec."""
    outside = folder.parent / f"{folder.name}-outside.csv"
    outside.write_bytes(data)
    (folder / "given.csv").symlink_to(outside)
    return _spec(folder, SERVING)


def _distant_trace(folder: Path, data: bytes) -> list[str]:
    (folder / "unused.csv").write_bytes(data)
    return _spec(folder, SERVING.replace(b"given.csv", b"../../../../etc/passwd"))


def _log(folder: Path, data: bytes) -> list[str]:
    (folder / "given.log").write_bytes(data)
    _spec(folder, SPEC)
    return ["diagnose", "spec.yaml", "given.log", "--ranks", "16"]


def _folder_of_logs(folder: Path, data: bytes) -> list[str]:
    """A folder with the file twice, in a folder of its own, and a link to their folder."""
    for rank in range(2):
        where = folder / "logs" / str(rank)
        where.mkdir(parents=True)
        (where / "given.log").write_bytes(data)
    (folder / "logs" / "again").symlink_to(folder / "logs")
    _spec(folder, SPEC)
    return ["diagnose", "spec.yaml", "logs", "--ranks", "16"]


def _accepted_log(folder: Path, data: bytes) -> list[str]:
    return ["accept", *_log(folder, data)[1:3]]


KINDS: dict[str, tuple[bytes, Callable[[Path, bytes], list[str]]]] = {
    "spec": (SPEC, _spec),
    "waiver": (b"shared-nic", _waiver),
    "catalog": (ENTRY, _catalog),
    "configuration": (b"[rules]\n", _configuration),
    "baseline": (BASELINE, _baseline),
    "trace": (TRACE, _trace),
    "linked trace": (TRACE, _linked_trace),
    "distant trace": (TRACE, _distant_trace),
    "log": (LOG, _log),
    "folder of logs": (LOG, _folder_of_logs),
    "accepted log": (LOG, _accepted_log),
}
"""Kinds of input: a sound start of a file, and what writes a file and returns the command that reads it."""


def faults_of(kind: str, variant: str) -> Iterator[str]:
    """What is wrong with the answer to a variant: nothing, or one text for each fault."""
    start, command = KINDS[kind]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "given"
        folder.mkdir()
        arguments = command(folder, VARIANTS[variant](start))
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "clusterspec", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (int(4 * SECONDS),) * 2)
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, space = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    if process.returncode not in (0, 1, 2):
        yield f"exit status {process.returncode} after {time.monotonic() - began:.1f} s: {printed[-200:]!r}"
    if seconds > SECONDS:
        yield f"{seconds:.1f} s"
    if space > MEBIBYTES:
        yield f"{space:.0f} MiB"
    if b"Traceback" in printed or any(code < 32 and code not in (9, 10) for code in printed):
        yield f"a traceback or control characters: {printed[:200]!r}"
    if process.returncode == 2 and printed.count(b"\n") > 2:
        yield f"{printed.count(10)} lines for one fault"


def main() -> int:
    count = bad = 0
    for kind in sys.argv[1:] or KINDS:
        for variant in VARIANTS:
            count += 1
            for fault in faults_of(kind, variant):
                bad += 1
                print(f"{kind}, {variant}: {fault}", flush=True)
    print(f"{count} variants, {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
