"""What `make test` leaves to `make test-all`."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
DECORATED = re.compile(r"^((?:@.*\n(?:[ )\]}].*\n)*)*)def test_", re.MULTILINE)


def test_a_file_whose_thorough_tests_are_left_out_has_others() -> None:
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text("utf-8")
        if "@thorough\n" in text:
            marks = [match[1] for match in DECORATED.finditer(text)]
            thorough = sum("@thorough" in each for each in marks)
            assert 0 < thorough < len(marks) / 2, path
