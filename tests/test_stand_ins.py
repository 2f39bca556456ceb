"""Tests use the records and functions of the program, not objects that stand for them.

A stand-in has the attributes that a function read when its test was written. It keeps the test passing when a field is
renamed or becomes optional. A record built directly, or `replace` of one of a real design, does not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.test_architecture import dotted_name

TESTS = Path(__file__).resolve().parent
MADE = {
    "SimpleNamespace",
    "types.SimpleNamespace",
    "object.__new__",
    "Mock",
    "MagicMock",
    "mock.Mock",
    "mock.MagicMock",
}
"""Calls that make an object with any attributes, or one of a class without its fields."""
HINTS = re.compile(r"SimpleNamespace|object\.__new__|Mock|\btype\(|setattr\(")
"""What stands in a file that may have stand-ins: its syntax tree is read."""
LIBRARIES = {
    "editor/test_site.py": "MkDocs",
    "exchange/test_microbenchmarks.py": "PyTorch",
    "report/test_page_setting.py": "WeasyPrint",
}
"""Files whose stand-ins are objects of a library."""
LEFT: dict[str, int] = {
    "analysis/test_checked_points.py": 1,
    "analysis/test_influence.py": 1,
    "cli/test_bad_input.py": 1,
    "cli/test_fixes.py": 1,
    "cli/test_many_files.py": 9,
    "cli/test_missing_libraries.py": 1,
    "cli/test_parallel.py": 3,
    "cost/measured/test_logs.py": 1,
    "cost/serving/test_concurrency_laws.py": 2,
    "logs/test_searched_part.py": 1,
    "rules/conftest.py": 1,
    "rules/test_engine.py": 1,
}
"""Files that still have stand-ins for what is ours, and how many. Numbers fall; no file is added."""


def stand_ins(tree: ast.AST) -> list[str]:
    """The calls that make an object in place of one of the program, or replace a function or class of it.

    A constant may be set, such as a limit that a test would take long to reach.
    """
    return [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_stand_in(node)]


def _is_stand_in(call: ast.Call) -> bool:
    name = dotted_name(call.func)
    if name.rpartition(".")[2] == "setattr" and name != "setattr":
        return _replaces_what_is_ours(call)
    return name in MADE or (name == "type" and len(call.args) == 3)


def _replaces_what_is_ours(call: ast.Call) -> bool:
    target = call.args[0]
    path = str(target.value) if isinstance(target, ast.Constant) else dotted_name(target)
    name = call.args[1].value if len(call.args) == 3 and isinstance(call.args[1], ast.Constant) else path
    value = call.args[-1]
    number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    if number or isinstance(value, ast.BinOp):
        return False
    return path.partition(".")[0] not in sys.stdlib_module_names and not str(name).rpartition(".")[2].isupper()


def found_by_file() -> Counter[str]:
    """How many stand-ins each file of the tests has."""
    texts = {path: path.read_text("utf-8") for path in TESTS.rglob("*.py")}
    return +Counter(
        {
            path.relative_to(TESTS).as_posix(): len(stand_ins(ast.parse(text)))
            for path, text in texts.items()
            if HINTS.search(text)
        }
    )


def test_stand_ins_for_what_is_ours_become_fewer() -> None:
    found = found_by_file()
    assert {name: count for name, count in found.items() if name not in LIBRARIES} == LEFT
    assert LIBRARIES.keys() <= found.keys()
    for name in LIBRARIES:
        made = stand_ins(ast.parse((TESTS / name).read_text("utf-8")))
        assert not [each for each in made if ".setattr(" in each], name


@pytest.mark.parametrize(
    ("code", "counted"),
    [
        ("job: Any = SimpleNamespace(workload=None)", 1),
        ("plan = SimpleNamespace(memory=SimpleNamespace(total=1.0))", 2),
        ("made = object.__new__(Trial)", 1),
        ("type('Plan', (), {'fits': True})", 1),
        ("type(found) is Plan", 0),
        ("Mock(spec=Plan)", 1),
        ("monkeypatch.setattr(waves, 'step_ahead', lambda *_: 1.0)", 1),
        ("monkeypatch.setattr('clusterspec.analysis.check', crash)", 1),
        ("monkeypatch.setattr(module('unusual-value'), 'check', crash)", 1),
        ("monkeypatch.setattr(quotes, 'MOST_LINES', 200)", 0),
        ("monkeypatch.setattr(quotes, limit, 200)", 0),
        ("monkeypatch.setattr(quotes, 'rows_of', None)", 1),
        ("monkeypatch.setattr(os, 'cpu_count', lambda: 8)", 0),
        ("monkeypatch.setattr('shutil.which', lambda _: None)", 0),
        ("setattr(record, 'nodes', 2)", 0),
        ("replace(plan, memory=None)", 0),
    ],
)
def test_objects_of_any_attributes_and_replaced_functions_are_stand_ins(code: str, counted: int) -> None:
    assert HINTS.search(code) is not None or not counted
    assert len(stand_ins(ast.parse(code))) == counted
