"""What a file of each tool states to the last value, with its line; `whole_files.txt` and `further_files.txt` have the
files and the values.

`reasons.txt` has why each part that they pass over is none, read against the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from clusterspec.exchange import import_formats
from clusterspec.exchange.import_result import FormatError, ImportResult, InputFile
from tests.effort import each, sampled
from tests.exchange.imports import read

FOLDER = Path(__file__).parent


def files_in(name: str) -> dict[str, str]:
    """The files of a table with their values, by their titles."""
    parts = (FOLDER / name).read_text("utf-8").split("\n=== ")[1:]
    return {title: rest.strip("\n") for title, _, rest in (part.partition("\n") for part in parts)}


REASONS = [line.split(" | ") for line in (FOLDER / "reasons.txt").read_text("utf-8").splitlines()]
FILES, FURTHER = files_in("whole_files.txt"), files_in("further_files.txt")
ENDINGS = {"fairseq2": ".yaml", "internevo": ".py", "olmo-core": ".py"}
"""Ends of the names of files that are recognized by them."""


def told(reading: ImportResult) -> Iterator[str]:
    """The values, the counts and the parts passed over of a reading, each after its line."""
    for given in reading.given:
        yield f"{given.at.line} {'.'.join(map(str, given.path))}{'+' * given.appended} {given.value!r}"
    for count in reading.counts:
        yield f"{count.at.line} # {count.name} {count.value!r}"
    for part in reading.unknown:
        yield f"{part.at.line} ? {part.what}"


@each("name", FILES | FURTHER)
def test_a_file_states_its_values_with_their_lines(name: str) -> None:
    text, _, wanted = (FILES | FURTHER)[name].rpartition("\n---\n")
    kind = name.split(": ", maxsplit=1)[0]
    reading = read(text.encode(), name=f"given{ENDINGS.get(kind, '.txt')}")
    assert reading.kind == kind
    assert sorted(told(reading)) == sorted(wanted.split("\n"))


@each("name", dict.fromkeys(name for name, *_ in REASONS))
def test_what_a_file_passes_over_has_its_reason(name: str) -> None:
    text, _, _ = FILES[name].rpartition("\n---\n")
    assert [[part.what, part.why] for part in read(text.encode()).unknown] == [
        reason for of_file, *reason in REASONS if of_file == name
    ]


SHORTER = [
    (name, at)
    for name, file in (FILES | FURTHER).items()
    for at in range(file.rpartition("\n---\n")[0].count("\n") + 1)
]


@each(("name", "at"), sampled(SHORTER, 880))
def test_a_file_without_one_line_is_read_or_refused(name: str, at: int) -> None:
    """What a file leaves out is no fault of the program: it states fewer values, or is a file of another kind."""
    text, kind = (FILES | FURTHER)[name].rpartition("\n---\n")[0], name.split(": ", maxsplit=1)[0]
    lines = text.split("\n")
    file = InputFile(f"given{ENDINGS.get(kind, '.txt')}", "\n".join(lines[:at] + lines[at + 1 :]).encode(), None)
    with suppress(FormatError):
        assert all(told(import_formats.format_named(kind).read(file)))
