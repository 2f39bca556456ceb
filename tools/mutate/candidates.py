"""The tests that can notice a change of a line, from recordings of the blocks that each test runs."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import Executor
from functools import cache
from pathlib import Path
from typing import TypedDict

from tools.mutate.copies import call, files_of, kept_files
from tools.mutate.places import ROOT, TOP

KEPT = ROOT / "out" / "mutate"
PROGRAM = (
    "clusterspec/",
    "catalog/",
    "schemas/",
    "templates/",
    "examples/",
    "tests/",
    "tools/mutate/runs.py",
    "tools/mutate/blocks.py",
)
"""What a recording depends on, in addition to its test file."""
LONGEST = 3600
"""Seconds of processor time for the recordings of a package."""


class RecordedTest(TypedDict):
    """One test: its name, its seconds of processor time, whether it starts processes or reads the source of the
    package, and the blocks that it runs.
    """

    name: str
    seconds: float
    starts: bool
    reads: bool
    blocks: dict[str, list[int]]


class Recording(TypedDict):
    """One test file: whether its tests pass on the unchanged program, and what runs at collection and in each test."""

    passes: bool
    before: dict[str, list[int]]
    tests: list[RecordedTest]


class Failing(Exception):
    """Tests fail on the unchanged program, so that a failure would prove nothing."""


@cache
def program_key() -> str:
    """A hash of the files that recordings depend on, the test files aside."""
    digest = hashlib.sha256()
    for name in sorted(kept_files()):
        if name.startswith(PROGRAM) and not Path(name).name.startswith("test_"):
            digest.update(name.encode() + (ROOT / name).read_bytes())
    return digest.hexdigest()


def file_key(file: str) -> str:
    """A hash of the program and of a test file."""
    return hashlib.sha256(program_key().encode() + (ROOT / file).read_bytes()).hexdigest()


def recordings(package: str, folders: list[Path], pool: Executor) -> dict[str, Recording]:
    """The recordings of the test files of a package: kept ones where nothing changed, new ones from the copies."""
    place = KEPT / f"{package}.json"
    kept = json.loads(place.read_text("utf-8")) if place.is_file() else {}
    keys = {file: file_key(file) for file in files_of(package)}
    missing = [file for file, key in keys.items() if key not in kept]
    missing.sort(key=lambda file: (ROOT / file).stat().st_size)
    part = "clusterspec" if package == TOP else f"clusterspec/{package}"
    shares = [(folder, missing[number :: len(folders)]) for number, folder in enumerate(folders)]
    for found in pool.map(lambda share: new_recordings(part, *share), shares):
        kept |= {keys[file]: recording for file, recording in found.items()}
    result: dict[str, Recording] = {file: kept[key] for file, key in keys.items()}
    if failing := [file for file, recording in result.items() if not recording["passes"]]:
        raise Failing(f"{package}: tests fail unchanged, so a failure would prove nothing: {', '.join(failing)}")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({key: kept[key] for key in keys.values()}), "utf-8")
    return result


def new_recordings(part: str, folder: Path, files: list[str]) -> dict[str, Recording]:
    """New recordings of test files in a copy, of the blocks of ``part``."""
    if not files:
        return {}
    done = call(folder, ["record", part, *files], LONGEST)
    if done.returncode:
        raise Failing(done.stderr[-2000:])
    found: dict[str, Recording] = json.loads(done.stdout)
    return found


def candidates(file: str, line: int, recordings: dict[str, Recording]) -> list[str]:
    """The tests that can notice a change of a block, in the order to try.

    First come tests that run the block; then tests that read the source of the package, such as those on the keys that
    it names; then, with these, tests after any of them in their files, to which a cache or a constant may hand what the
    block returned, those that run the same module before others; then tests that start processes. Within these, the
    shortest come first.
    """
    found: list[tuple[int, float, str]] = []
    for recording in recordings.values():
        ran = line in recording["before"].get(file, ())
        for test in recording["tests"]:
            runs = line in test["blocks"].get(file, ())
            ran = ran or runs or test["reads"]
            if ran or test["starts"]:
                group = 0 if runs else 3 if not ran else 1 if file in test["blocks"] else 2
                found.append((group, test["seconds"], test["name"]))
    return [name for _, _, name in sorted(found)]
