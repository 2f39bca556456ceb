"""A line left out of a file takes its values with it and what follows from them: every other value stays.

So each guard of a reader for a key that is absent is tried. `left_out.txt` has what follows from each line.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import sampled
from tests.exchange.imports import read
from tests.exchange.test_whole_files import FILES, told

TEXT = Path(__file__).with_name("left_out.txt").read_text("utf-8").split("\n=== ")[1:]
FOLLOWING = {part.split("\n", 1)[0]: part.rstrip("\n").split("\n")[1:] for part in TEXT}
LONG = {"megatron"}
"""Files that take long to read; others of their format are tried."""


def values(lines: list[str], rows: list[str]) -> Counter[str]:
    """The values of all lines but the one left out, with what follows from it."""
    found = Counter(lines)
    for row in rows:
        _, sign, value = row.split(" ", 2)
        found[value] += 1 if sign == "+" else -1
    assert min(found.values(), default=0) >= 0, f"no value to lose: {found}"
    return +found


@pytest.mark.parametrize("name", [name for name in FILES if name not in LONG])
def test_a_line_that_is_left_out_takes_its_values_with_it(name: str) -> None:
    text, _, wanted = FILES[name].rpartition("\n---\n")
    lines, stated = text.split("\n"), [row.split(" ", 1) for row in wanted.split("\n")]
    wrong = []
    for at in sampled(range(1, len(lines) + 1), len(lines) + 1):
        rows = [row for row in FOLLOWING.get(name, ()) if row.split(" ")[0] == str(at)]
        cut = "\n".join(lines[: at - 1] + lines[at:]).encode()
        if f"{at} ~" in rows:
            continue
        if rows and rows[0].split(" ")[1] == "!":
            with pytest.raises(FormatError) as refused:
                read(cut)
            assert rows[0].partition("! ")[2] in str(refused.value), at
        else:
            left = values([value for line, value in stated if line != str(at)], rows)
            found = Counter(row.split(" ", 1)[1] for row in told(read(cut)))
            wrong += [(at, "-", value) for value in (left - found).elements()]
            wrong += [(at, "+", value) for value in (found - left).elements()]
    assert wrong == []


def test_what_follows_from_a_line_is_of_a_file_that_is_read() -> None:
    assert set(FOLLOWING) <= set(FILES) and not set(FOLLOWING) & LONG
