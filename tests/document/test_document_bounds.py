"""Laws of every limit of a document: what is accepted at the limit, and what is reported just beyond it."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from clusterspec.document import apply_edits, nearest_words, parse, to_finding, validate, waivers
from clusterspec.document import plain as plain_yaml
from clusterspec.document.files import DEEPEST, spec_paths
from clusterspec.document.model import LARGEST
from clusterspec.document.schema import edit_distance, near_words
from clusterspec.document.validation_error import coerced_text
from clusterspec.document.values import scalar_value
from clusterspec.finding import Edit, Problem
from clusterspec.source import Position, Source, Span
from tests.settings import TODAY

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 3, "maxLength": 4},
        "shape": {"type": "array", "minItems": 3, "maxItems": 4},
        "nodes": {"type": "integer", "minimum": 2, "maximum": 1000},
        "part": {"type": "number", "maximum": 1},
        "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5},
        "ttft": {"type": ["string", "object"], "additionalProperties": {"type": "string"}},
        "layout": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"tp": {"type": "integer"}, "pp": {"type": "integer"}, "order": {"type": "string"}},
        },
    },
}


def problems_of(text: str) -> list[Problem]:
    document, problems = parse(Source("t.yaml", text))
    assert document is not None
    return [*problems, *validate(document, SCHEMA)]


BOUNDS = [  # text, message and advice; no message for an accepted value
    ("name: a", "`name` has 1 character, and takes at least 3", "write text"),
    ("name: ab", "`name` has 2 characters, and takes at least 3", "write text"),
    ("name: abc", "", ""),
    ("name: abcd", "", ""),
    ("name: abcde", "`name` has 5 characters, and takes at most 4", "write text"),
    ("shape: []", "`shape` is empty", "write a list"),
    ("shape: [1]", "`shape` has 1 item, and takes at least 3", "write a list"),
    ("shape: [1, 2]", "`shape` has 2 items, and takes at least 3", "write a list"),
    ("shape: [1, 2, 3]", "", ""),
    ("shape: [1, 2, 3, 4]", "", ""),
    ("shape: [1, 2, 3, 4, 5]", "`shape` has 5 items, and takes at most 4", "write a list"),
    ("nodes: 1", "`1` is less than `nodes` can be", "write 2 or more"),
    ("nodes: 2", "", ""),
    ("nodes: 1000", "", ""),
    ("nodes: 1001", "`1001` is more than `nodes` can be", "write 1,000 or less"),
    ("part: 8", "`8` is more than `part` can be", "write 1 or less: a share, such as 0.08 for 8 %"),
    ("part: 1.2", "`1.2` is more than `part` can be", "write 1 or less"),
    ("share: 0", "`0` is less than `share` can be", "write a number more than 0"),
    ("share: 0.001", "", ""),
    ("share: 1.499", "", ""),
    ("share: 1.5", "`1.5` is more than `share` can be", "write a number less than 1.5"),
]


@pytest.mark.parametrize(("text", "message", "advice"), BOUNDS)
def test_a_value_is_accepted_at_its_limits_and_reported_beyond_them(text: str, message: str, advice: str) -> None:
    assert [(one.message, one.help) for one in problems_of(text)] == ([(message, advice)] if message else [])


@pytest.mark.parametrize(
    ("text", "advice", "safe"),
    [
        ("nods: 2", "did you mean `nodes`?", True),
        ("node_count: 2", "did you mean `nodes`?", False),  # a name of another program, whose value may differ
        ("nods: 2\nnodes: 2", "did you mean `nodes`?", None),  # the key is taken
        ("layout: {zp: 1}", "did you mean `pp` or `tp`?", None),
        ("tensor_parallel_size: 8", "write `tp` in `layout`", None),
        ("layout: {tensor: 8}", "did you mean `tp`?", False),
        ("order: a", "it belongs to `layout`", None),
        ("layout: {nodes: 1}", "it belongs to the top level", None),
        ("layout: {nnodes: {per_rack: 2}}", "write `nodes` at the top level", None),  # a mapping where a number belongs
        ("nodes: 2k", "write `2048` (2 × 1,024) or `2000`", None),
        ("layout: {nodes: a}", "the keys here are order, pp, tp", None),  # not a number of nodes
        ("ttft_p99: 2 s", "write `ttft: {p99: 2 s}`", None),
        ("P99-TTFT: 2 s", "write `ttft: {p99: 2 s}`", None),
        ("nodes_p99: 2", "did you mean `nodes`?", False),
        ("layout: {colour: 1}", "the keys here are order, pp, tp", None),
        ("layout: {order_of_axes: a}", "did you mean `order`?", False),
        ("layout: {order_of_axes: 1}", "did you mean `order`?", None),  # not a value of that key
        ("layout: {ordering: 1}", "the keys here are order, pp, tp", None),  # another word
    ],
)
def test_an_unknown_key_is_renamed_only_where_one_free_key_is_meant(text: str, advice: str, safe: bool | None) -> None:
    [problem] = problems_of(text)
    assert (problem.help, problem.fix.safe if problem.fix else None) == (advice, safe)


@pytest.mark.parametrize(
    ("text", "kind", "limits", "fix"),
    [
        ("1,000", "integer", {}, "1000"),
        ("1_000_000", "integer", {}, "1000000"),
        ("1,00", "integer", {}, None),
        ("1000,000", "integer", {}, None),
        ("64.0", "integer", {}, "64"),
        ("64.5", "integer", {}, None),
        ("64.5", "number", {}, "64.5"),
        ("40 %", "number", {}, "0.4"),
        ("40%", "number", {}, "0.4"),
        ("2.5 %", "number", {}, "0.025"),
        ("40  %", "number", {}, None),
        ("1000 %", "number", {}, None),
        ("1,25", "number", {}, "1.25"),
        ("0,24", "number", {}, "0.24"),
        ("1,250", "number", {}, "1250"),
        ("1,2500", "number", {}, None),
        ("9.500.000", "number", {}, "9500000"),
        ("9.500.000", "integer", {}, "9500000"),
        ("9.500.00", "number", {}, None),
        ("1,25", "number", {"maximum": 1}, None),
        ("8x8x16", "array", {"items": {"type": "integer"}}, "[8, 8, 16]"),
        ("4 × 4", "array", {"items": {"type": "integer"}}, "[4, 4]"),
        ("8x8x", "array", {"items": {"type": "integer"}}, None),
        ("8", "array", {"items": {"type": "integer"}}, None),
        ("8x8", "array", {"items": {"type": "string"}}, None),
        ("40 %", "integer", {}, None),
        ("100 %", "number", {"maximum": 1}, "1"),
        ("101 %", "number", {"maximum": 1}, None),
        ("2", "integer", {"minimum": 2, "maximum": 4}, "2"),
        ("1", "integer", {"minimum": 2, "maximum": 4}, None),
        ("4", "integer", {"minimum": 2, "maximum": 4}, "4"),
        ("5", "integer", {"minimum": 2, "maximum": 4}, None),
        ("1" * 29, "integer", {}, "1" * 29),
        ("064", "integer", {}, None),
        ("1" * 30, "integer", {}, None),
        ("true", "integer", {}, None),
        (".inf", "number", {}, None),
        ("12 Req/s", "number", {"x-units": ["/s", "req/s"]}, "12"),
        ("12/s", "number", {"x-units": ["/s", "req/s"]}, "12"),
        ("12 /min", "number", {"x-units": ["/s", "req/s"]}, None),
        ("12/s", "number", {}, None),
        ("YES", "boolean", {}, "true"),
        ("off", "boolean", {}, "false"),
        ("y", "boolean", {}, None),
        (2026, "string", {}, '"2026"'),
        (2026, "string", {"enum": ["a"]}, None),
    ],
)
def test_a_value_is_converted_only_where_one_reading_fits_the_key(
    text: Any, kind: str, limits: dict[str, Any], fix: str | None
) -> None:
    assert coerced_text(text, {"type": kind, **limits}, str(text)) == fix


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-5", -5),
        ("+5", 5),
        ("5.", 5.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1e", "1e"),
        ("-", "-"),
        (".", "."),
        ("+.inf", math.inf),
        ("-.INF", -math.inf),
        ("inf", "inf"),
        ("9" * 100, 10**100 - 1),
        ("9" * 101, 1e101),
        ("1e-300", 0.0),
        ("-1e-300", 0.0),
        ("1.1e-300", 1.1e-300),
        ("-1.1e-300", -1.1e-300),
    ],
)
def test_a_plain_scalar_is_a_decimal_number_or_text(text: str, value: object) -> None:
    assert (type(scalar_value(text)), scalar_value(text)) == (type(value), value)


@pytest.mark.parametrize(
    "value", ["-5", "-1.5", "-.5", "-5e3", "-a", "5", ".5", "a b", "a#b", "a:b", "'a' # c", "[1, 2]"]
)
def test_scalars_of_specs_are_read_as_plain_yaml(value: str) -> None:
    events = plain_yaml.plain_events(f"a: {value}\n")
    assert events is not None
    assert "scalar" in [one.kind for one in events]


@pytest.mark.parametrize("value", ["-", "- a", "--", "-+", "[1]#", "a: b", "a:", "&a", "*a", "!a", "%a", "@a"])
def test_scalars_with_a_second_meaning_are_left_to_the_full_parser(value: str) -> None:
    assert plain_yaml.plain_events(f"a: {value}\n") is None


@pytest.mark.parametrize(
    ("word", "known", "all_near", "found"),
    [
        ("abcd", ["abcx"], ["abcx"], ["abcx"]),  # four letters: one edit
        ("abcd", ["abxx"], [], []),
        ("abcde", ["abcxx"], ["abcxx"], ["abcxx"]),  # five letters: two edits
        ("abcde", ["abxxx"], [], []),
        ("abcde", ["abcdefg"], ["abcdefg"], ["abcdefg"]),
        ("abcde", ["abcdefgh"], [], []),
        ("abcde", ["abcdf", "abcff"], ["abcdf", "abcff"], ["abcdf"]),
        ("ab", ["ba"], ["ba"], ["ba"]),
        ("a", ["b"], [], []),  # every letter replaced
        ("scale-Out", ["scale_out", "scale_ouk"], ["scale_out"], ["scale_out"]),
        ("y" * 100, ["y" * 99], ["y" * 99], ["y" * 99]),
        ("y" * 101, ["y" * 100], [], []),
    ],
)
def test_a_word_is_near_within_one_edit_up_to_four_letters_and_two_above(
    word: str, known: list[str], all_near: list[str], found: list[str]
) -> None:
    assert near_words(word, known) == all_near
    assert nearest_words(word, known) == found


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("", "abc", 3), ("ab", "ba", 1), ("abc", "cba", 2), ("abcd", "badc", 2), ("aab", "aba", 1),
     ("kitten", "sitting", 3), ("ab", "bca", 3), ("xab", "ab", 1), ("abx", "ab", 1)],
)  # fmt: skip
def test_an_edit_inserts_deletes_replaces_or_swaps_neighbors(one: str, other: str, count: int) -> None:
    assert edit_distance(one, other) == count


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> Edit:
    return Edit(Span("t", Position(*start), Position(*end)), text)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ([edit((1, 2), (1, 3), "X"), edit((1, 3), (1, 4), "Y")], "aXYd\nef\n"),  # neighbors
        ([edit((1, 2), (1, 4), "X"), edit((1, 3), (1, 5), "Y")], "aXd\nef\n"),  # overlap by one character
        ([edit((1, 2), (1, 2), "X")], "aXbcd\nef\n"),  # insertion
        ([edit((1, 1), (1, 1), "X")], "Xabcd\nef\n"),
        ([edit((1, 3), (1, 2), "X")], "abcd\nef\n"),  # ends before its start
        ([edit((1, 4), (2, 2), "X")], "abcXf\n"),
        ([edit((2, 1), (3, 1), "")], "abcd\n"),
        ([edit((2, 3), (9, 9), "X")], "abcd\nefX"),  # beyond the end of the text
    ],
)
def test_edits_apply_where_they_neither_overlap_nor_end_before_their_start(changes: list[Edit], text: str) -> None:
    assert apply_edits("abcd\nef\n", changes) == text


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("a" * LARGEST, "", ""),
        ("a" * (LARGEST + 1), "the file is larger than 1024 KiB, the maximum", "1:1"),
        ("é" * (LARGEST // 2), "", ""),
        ("é" * (LARGEST // 2) + "a", "the file is larger than 1024 KiB, the maximum", "1:1"),
        ("%A\n" * 9 + "---\na: 1\n", "more than 8 lines begin with %", "9:1"),
        ("a: 1\nb: \x7f\n", "the character U+007F is not allowed in YAML", "2:4"),
        ("a: \x85", "a next-line character (U+0085) is not allowed in YAML", "1:4"),
        ("a: \ufffe", "the character U+FFFE is not allowed in YAML", "1:4"),
        ("a: \r1", "a carriage return without a line feed is not allowed in YAML", "1:4"),
        ("a: \udc80", "the byte 0x80 here is not UTF-8", "1:4"),
        ("a: \udcff", "the byte 0xFF here is not UTF-8", "1:4"),
        ("a: \ud800", "the character U+D800 is not allowed in YAML", "1:4"),
        ("a: \xa0\u2027\ue000\ufffd\U00010000\r\n", "", ""),
    ],
    ids=range(13),
)
def test_a_text_is_refused_for_its_size_its_directives_or_one_character(text: str, message: str, place: str) -> None:
    source = Source("t.yaml", text)
    document, problems = parse(source)
    found = [(one.message, str(one.span)) for one in (to_finding(each, document, source) for each in problems)]
    assert found == ([(message, f"t.yaml:{place}")] if message else [])


def test_folders_are_searched_to_a_depth_and_the_next_is_reported(tmp_path: Path) -> None:
    folder = tmp_path
    for depth in range(DEEPEST + 2):
        if depth >= DEEPEST - 1:
            (folder / "s.yaml").write_text("clusterspec: 1\n")
        folder /= "d"
        folder.mkdir()
    passed: list[str | None] = []
    found = spec_paths(str(tmp_path), passed_over=lambda fault: passed.append(fault.filename))
    assert [os.path.relpath(name, tmp_path).count("d/") for name in found] == [99, 100]
    assert passed == [str(tmp_path) + "/d" * 100]


def test_a_folder_at_the_greatest_depth_without_folders_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / ("d/" * DEEPEST)).mkdir(parents=True)
    assert spec_paths(str(tmp_path), passed_over=lambda fault: pytest.fail(str(fault))) == []


USED, SPARE = "shared-nic", "few-spines"


@pytest.mark.parametrize(
    ("text", "place", "fixed"),
    [
        ("a: 1  # clusterspec: ignore[few-spines]: x\nb: 2\n", "1:7", "a: 1\nb: 2\n"),
        ("# clusterspec: ignore[few-spines]: x\na: 1\n", "1:1", "a: 1\n"),
        (f"a: 1 # clusterspec: ignore[{SPARE}, {USED}]: x\n", "1:6", f"a: 1 # clusterspec: ignore[{USED}]: x\n"),
        (f"a: 1 # clusterspec: ignore[{USED},{SPARE}]: x [y]\n", "1:6", f"a: 1 # clusterspec: ignore[{USED}]: x [y]\n"),
    ],
)
def test_the_fix_of_an_unused_waiver_deletes_that_and_no_more(text: str, place: str, fixed: str) -> None:
    document, _ = parse(Source("t.yaml", text))
    assert document is not None
    found = [to_finding(Problem(USED, ("a",), ""), document, document.source)]
    [unused] = [one for one in waivers.open_findings(found, document, TODAY) if one.rule == "unused-waiver"]
    assert str(unused.span) == f"t.yaml:{place}"
    assert text.splitlines()[0][unused.span.start.column - 1 : unused.span.end.column - 1] == unused.written
    assert apply_edits(text, unused.edits) == fixed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: a\ncluster:\n  nodes: 4\nworkload:\n  model: b\n", True),
        ("cluster: {nodes: 4}\nlayout: {tp: 8}\n", True),
        ("cluster:\n  nodes: 4\n", False),  # of many programs
        ("values:\n  cluster:\n  workload:\n", False),
        ("clusterspec: 1\ncluster: {nodes: 4}\nlayout: {tp: 8}\n", False),
        ("# clusterspec: no\ncluster: {nodes: 4}\nlayout: {tp: 8}\n", False),
    ],
)
def test_a_file_of_a_folder_with_sections_and_without_the_key_is_told(tmp_path: Path, text: str, told: bool) -> None:
    file = tmp_path / "a.yml"
    file.write_text(text)
    named: list[str] = []
    found = spec_paths(str(tmp_path), unversioned=named.append)
    assert named == [str(file)] * told
    assert found == [str(file)] * text.startswith("clusterspec")
