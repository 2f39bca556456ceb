"""Whatever a spec says, every command answers: never a traceback, never a place outside the file, never long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Call
from tests.cli.hostile import HOSTILE
from tests.effort import examples, steps, thorough

MOST = 8_000_000
"""Calls that a command may make for one file; an example takes some 50,000."""
quickly = settings(
    max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def answer(call: Call, data: bytes, *words: str) -> tuple[int, str]:
    """What a command says of a text; with --debug an internal error comes through as it is."""
    Path("spec.yaml").write_bytes(data)
    done = []
    steps(lambda: done.append(call(words[0], "spec.yaml", *words[1:], "--debug")), most=MOST)
    (made,) = done
    assert made.status in (0, 1), made.error
    assert all(line.startswith("clusterspec: ") or "[" in line for line in made.error.splitlines()), made.error
    assert bool(made.error) <= (made.status == 1)  # the findings that make figures conditional, and the reason of a 1
    return made.status, made.out


def refused(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


def parsed(text: str) -> Any:
    """JSON as strict readers take it: without NaN and infinities."""
    return json.loads(text, parse_constant=refused)


@thorough
@quickly
@given(data=HOSTILE)
def test_every_finding_lies_inside_the_file(data: bytes, call: Call) -> None:
    status, out = answer(call, data, "check", "--format", "json")
    document = parsed(out)
    assert status == (1 if document["summary"]["error"] else 0)
    lines = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n")
    for finding in document["findings"]:
        assert finding["file"] == "spec.yaml"
        assert finding["message"]
        for line, column in (("line", "column"), ("end_line", "end_column")):
            assert 1 <= finding[line] <= len(lines), finding
            assert 1 <= finding[column] <= len(lines[finding[line] - 1]) + 1, finding


@pytest.mark.parametrize("words", [("estimate",), ("bom",), ("collective", "all-reduce", "--ranks", "1")], ids=str)
@quickly
@given(data=HOSTILE)
def test_every_command_answers_in_json(words: tuple[str, ...], data: bytes, call: Call) -> None:
    _, out = answer(call, data, *words, "--format", "json")
    assert parsed(out)["version"] == 1


@pytest.mark.parametrize("form", ["text", "concise", "sarif", "junit", "github", "gitlab", "markdown"])
@settings(quickly, max_examples=examples(3))
@given(data=HOSTILE)
def test_every_format_holds_any_finding(form: str, data: bytes, call: Call) -> None:
    from xml.etree import ElementTree

    _, out = answer(call, data, "check", "--format", form)
    assert "\x1b" not in out
    if form in ("sarif", "gitlab"):
        parsed(out)
    if form == "junit":
        ElementTree.fromstring(out)


@pytest.mark.parametrize("command", ["estimate", "bom"])
@settings(quickly, max_examples=examples(3))
@given(data=HOSTILE)
def test_every_text_can_be_shown(command: str, data: bytes, call: Call) -> None:
    _, out = answer(call, data, command)
    assert "\x1b" not in out
    assert out.endswith("\n")


@thorough
@settings(quickly, max_examples=examples(3))
@given(data=HOSTILE, kind=st.sampled_from(["design", "procurement"]))
def test_every_report_can_be_written(data: bytes, kind: str, call: Call) -> None:
    Path("spec.yaml").write_bytes(data)
    done = call("report", "spec.yaml", "-o", "out.html", "--kind", kind, "--debug")
    assert done.status in (0, 1), done.error
    assert Path("out.html").read_bytes().startswith(b"<!doctype html>")


@settings(quickly, max_examples=examples(5))
@given(data=HOSTILE)
def test_fixing_comes_to_an_end_and_breaks_no_yaml(data: bytes, call: Call) -> None:
    Path("spec.yaml").write_bytes(data)
    readable = "unreadable-yaml" not in call("check", "spec.yaml", "--format", "concise", "--debug").out
    for _ in range(5):
        before = Path("spec.yaml").read_bytes()
        done = call("check", "spec.yaml", "--fix", "--format", "concise", "--debug")
        assert done.status in (0, 1), done.error
        if Path("spec.yaml").read_bytes() == before:
            break
    else:
        raise AssertionError("every fix leaves something to fix")
    assert not readable or "unreadable-yaml" not in done.out
