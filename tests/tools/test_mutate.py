"""The mutation test: what it changes, which tests it tries first, and when nothing can notice a change."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.effort import each, thorough
from tools.mutate.__main__ import killed_share, score_line
from tools.mutate.blocks import Notes, block_line
from tools.mutate.candidates import RecordedTest, Recording, candidates
from tools.mutate.copies import KILLED, SURVIVED, UNDECIDED, files_of
from tools.mutate.places import Mutator, mutate, other_constant, sample, sample_across
from tools.mutate.runs import Recorder

MODULE = '''"""A module."""
from __future__ import annotations
LIMIT = 3
@staticmethod
def least(numbers, most=LIMIT):
    """The least."""
    if not numbers:
        return most
    for number in numbers:
        if number < 0:
            raise ValueError
    else:
        number = 0
    try:
        return min(numbers)
    except TypeError:
        return None
'''


@each(
    ("expression", "changed"),
    [
        ("a < b", ["a <= b"]),
        ("a is not None", ["a is None"]),
        ("a + 2", ["a + 3", "a - 2"]),
        ("a + 'text'", []),
        ("not a", ["a"]),
        ("a and b", ["a or b"]),
        ("max(a, 0.5)", ["max(a, 1.001)", "min(a, 0.5)"]),
        ("f('error', 'layout.tp', 'a')", ["f('warning', 'layout.tp', 'a')", "f('error', 'layout.tp_of_another', 'a')"]),
        ("f'{a + 1} GB'", []),
        ("True", []),
    ],
)
def test_each_operator_number_and_word_is_changed_alone(expression: str, changed: list[str]) -> None:
    counted = Mutator(-1)
    counted.visit(ast.parse(expression))
    found = [ast.unparse(Mutator(number).visit(ast.parse(expression))) for number in range(counted.seen)]
    assert sorted(found) == sorted(changed)


def test_another_value_is_never_the_same_value() -> None:
    for value in (0, -1, 7, 0.0, 0.5, -0.001, "error", "cluster.nodes"):
        assert other_constant(value) not in {None, value}
    assert [other_constant(value) for value in (True, None, "words", b"error")] == [None] * 4


def test_a_mutation_changes_the_line_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("a = 1\nb = a * 2\n", "utf-8")
    found = [mutate(path, number) for number in range(3)]
    assert [(each.line, each.what, each.text.splitlines()[each.line - 1]) for each in found] == [
        (1, "1 → 2", "a = 2"),
        (2, "2 → 3", "b = a * 3"),
        (2, "Mult → Div", "b = a / 2"),
    ]


@thorough
def test_a_seed_gives_one_sample() -> None:
    drawn = sample_across(["units", "spec"], 5, 3)
    assert drawn == sample_across(["units", "spec"], 5, 3) != sample_across(["units", "spec"], 5, 4)
    assert sum(map(len, drawn.values())) == 5
    assert len(set(sample("spec", 4, 1))) == 4


@each(
    ("line", "block"),
    [(1, 1), (3, 1), (4, 1), (5, 1), (6, 6), (7, 6), (8, 8), (9, 6), (10, 10), (11, 11), (13, 13), (15, 15), (17, 17)],
)
def test_a_line_belongs_to_the_innermost_block(line: int, block: int) -> None:
    assert block_line(MODULE, line) == block


def test_notes_name_the_blocks_that_ran_and_change_nothing_else() -> None:
    notes = Notes()
    names: dict[str, object] = {"__mutate_notes__": notes.ran}
    exec(notes.code("module.py", MODULE, "module.py"), names)
    assert (names["__doc__"], notes.newly_run_lines()) == ("A module.", {"module.py": [1]})
    least = names["least"]
    assert callable(least)
    assert (least.__doc__, least([]), sorted(notes.newly_run_lines()["module.py"])) == ("The least.", 3, [6, 8])
    assert (least([2, 1]), sorted(notes.newly_run_lines()["module.py"])) == (1, [6, 10, 13, 15])
    assert not notes.newly_run_lines()


def recording(*tests: tuple[str, float, str, list[int]], before: list[int]) -> Recording:
    found = [
        RecordedTest(
            name=name,
            seconds=seconds,
            starts=does == "starts",
            reads=does == "reads",
            blocks={"module.py": blocks} if blocks else {},
        )
        for name, seconds, does, blocks in tests
    ]
    return Recording(passes=True, before={"module.py": before}, tests=found)


RECORDINGS = {
    "a": recording(("earlier", 1, "", []), ("slow", 9, "", [6]), ("later", 1, "", []), before=[1]),
    "b": recording(("quick", 2, "", [6, 8]), ("same module", 3, "", [8]), before=[1]),
    "c": recording(("other", 1, "", [8]), ("starts", 1, "starts", []), before=[]),
    "d": recording(("before", 1, "", []), ("reads", 4, "reads", []), ("after", 5, "", []), before=[]),
}


@each(
    ("line", "names"),
    [
        (6, ["quick", "slow", "same module", "later", "reads", "after", "starts"]),
        (8, ["other", "quick", "same module", "starts", "reads", "after"]),
        (1, ["quick", "same module", "slow", "earlier", "later", "reads", "after", "starts"]),
        (10, ["reads", "after", "starts"]),
    ],
)
def test_tests_that_run_the_block_come_first_and_tests_before_it_never(line: int, names: list[str]) -> None:
    assert candidates("module.py", line, RECORDINGS) == names


@each(
    ("event", "path", "imports", "noted"),
    [
        ("open", "/top/part/a.py", False, (True, False)),
        ("open", "/top/part/a.py", True, (False, False)),  # an import reads it, no test
        ("open", "/top/part/a.txt", False, (False, False)),
        ("open", "/top/other/a.py", False, (False, False)),
        ("open", 3, False, (False, False)),
        ("subprocess.Popen", "/top/part/a.py", False, (False, True)),
        ("import", "/top/part/a.py", False, (False, False)),
    ],
)
def test_a_test_that_reads_source_or_starts_a_process_is_noted(
    event: str, path: object, imports: bool, noted: tuple[bool, bool]
) -> None:
    recorder = Recorder(Notes(), "/top/part/")
    recorder.notes.imports = imports
    recorder.heard(event, (path, "r", 0))
    assert (recorder.reads, recorder.starts) == noted


def test_an_undecided_mutation_is_not_killed() -> None:
    counts = Counter({KILLED: 3, SURVIVED: 1, UNDECIDED: 1})
    assert killed_share(counts) == pytest.approx(0.6)
    assert score_line("units", counts) == "units: 3 of 5 killed, 1 undecided (60%)"
    assert killed_share(Counter()) == 1


def test_golden_pages_and_the_browser_judge_nothing() -> None:
    assert "tests/test_generated.py" not in files_of("modules")
    assert {Path(name).parent.as_posix() for name in files_of("modules")} == {"tests"}
    assert not [name for name in files_of("report") if "browser" in name]
