"""Laws of reading YAML: what a text means, where it stands, and that nothing in it can hurt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clusterspec.document import Document, decode, parse, text_at, to_finding
from clusterspec.document.model import LARGEST, read_bytes
from clusterspec.document.parse import MAX_ALIASES, MAX_DEPTH, MAX_NODES
from clusterspec.document.values import scalar_value
from clusterspec.finding import Problem
from clusterspec.source import Position, Source
from tests.effort import each, thorough

YAMLISH = st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#\n\t 01.~<=\\é\r"), max_size=60)
LETTERS = st.characters(
    exclude_categories=["Cs", "Cc", "Cn", "Co"], exclude_characters="\u2028\u2029\ufeff", include_characters="\n\t"
)
TEXTS = st.text(LETTERS, max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda each: not 0 < abs(each) <= 1e-300)  # read as 0
)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=20
)


def read(text: str) -> Document:
    document, problems = parse(Source("t.yaml", text))
    assert document is not None, problems
    assert problems == []
    return document


def faults(text: str) -> list[Problem]:
    return parse(Source("t.yaml", text))[1]


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def dump(tree: Any, **options: Any) -> str:
    return str(yaml.dump(tree, Dumper=Dumper, **options))


def old_yaml_reads_alike(tree: Any) -> bool:
    """Whether PyYAML, which follows YAML 1.1, quotes every text that we would not read as text."""
    if isinstance(tree, dict):
        return all(old_yaml_reads_alike(part) for pair in tree.items() for part in pair)
    if isinstance(tree, list):
        return all(old_yaml_reads_alike(part) for part in tree)
    return not isinstance(tree, str) or isinstance(scalar_value(tree), str) or not isinstance(yaml.safe_load(tree), str)


@given(st.binary(max_size=200))
@example(b"\xff\xfea\x00")
@example(b"a: \xff")
@example(b"")
@example(b"\xef\xbb\xbfa: 1")
def test_any_bytes_at_all_give_a_document_or_a_reason(data: bytes) -> None:
    source = decode("t.yaml", data)
    document, problems = parse(source)
    assert document is not None or problems
    every_finding_points_into_the_text(document, problems, source)


@given(YAMLISH)
def test_anything_like_yaml_gives_a_document_or_a_reason(text: str) -> None:
    source = Source("t.yaml", text)
    document, problems = parse(source)
    assert document is not None or problems
    every_finding_points_into_the_text(document, problems, source)


@given(st.text(max_size=80))
def test_any_text_at_all_even_half_surrogates_gives_a_document_or_a_reason(text: str) -> None:
    document, problems = parse(Source("t.yaml", text))
    assert document is not None or problems


def every_finding_points_into_the_text(document: Document | None, problems: list[Problem], source: Source) -> None:
    lines = source.text.removeprefix("\ufeff").split("\n")
    for problem in problems:
        span = to_finding(problem, document, source).span
        for place in (span.start, span.end):
            assert 1 <= place.line <= len(lines)
            assert 1 <= place.column <= len(lines[place.line - 1]) + 1
        assert span.start <= span.end


@thorough
@given(TREES, st.booleans(), st.booleans())
def test_a_tree_that_is_dumped_reads_back_the_same(tree: Any, flow: bool, unicode: bool) -> None:
    assume(old_yaml_reads_alike(tree))
    assert read(dump(tree, default_flow_style=flow, allow_unicode=unicode)).value == tree


@given(TREES, st.booleans())
def test_the_text_at_a_place_reads_back_as_the_value_there(tree: Any, flow: bool) -> None:
    assume(old_yaml_reads_alike(tree))
    document = read(dump(tree, default_flow_style=flow, allow_unicode=True))
    for path, place in document.places.items():
        value = document.value
        for key in path:
            value = value[key]
        indented = " " * (place.value.start.column - 1) + text_at(document, path)
        assert read(indented).value == value
        if path and isinstance(path[-1], str):
            assert place.key is not None
            assert place.key.start <= place.value.start


@each(
    ("text", "value"),
    [
        ("1:1", "1:1"), ("2:1", "2:1"), ("no", "no"), ("on", "on"), ("yes", "yes"), ("Off", "Off"), ("y", "y"),
        ("2026-11-01", "2026-11-01"), ("2026-11-01 10:00:00", "2026-11-01 10:00:00"), ("0o17", "0o17"),
        ("0x1F", "0x1F"), ("1_000", "1_000"), ("190:20:30", "190:20:30"), ("0b1", "0b1"), ("=", "="),
        ("nan", "nan"), ("inf", "inf"), ("1e", "1e"), ("+", "+"), (".", "."), ("4 TB", "4 TB"), ("\u0664", "\u0664"),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None), ("64", 64), ("-3", -3),
        ("+5", 5), ("010", "010"), ("4.5", 4.5), (".5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("-1.5E-3", -0.0015),
        ("'64'", "64"), ('"true"', "true"), ("'~'", "~"),
    ],
)  # fmt: skip
def test_only_the_core_schema_turns_words_into_other_things(text: str, value: Any) -> None:
    found = read(f"k: {text}").value["k"]
    assert found == value
    assert type(found) is type(value)


def test_infinity_and_nan_are_floats_only_with_their_dot() -> None:
    value = read("[.inf, -.INF, .nan]").value
    assert value[:2] == [float("inf"), -float("inf")]
    assert value[2] != value[2]


def test_an_endless_integer_is_not_converted() -> None:
    assert read("a: " + "9" * 5000).value["a"] == float("inf")
    assert read("a: " + "9" * 60).value["a"] == int("9" * 60)


def test_columns_count_code_points_even_after_wide_text() -> None:
    document = read("'日本😀': 7\nb: ['é😀', x] # ü\nc: 1\n")
    assert document.places[("日本😀",)].value.start == Position(1, 8)
    assert document.places[("b", 1)].value.start == Position(2, 11)
    assert (document.comments[0].line, document.comments[0].column) == (2, 14)
    assert document.places[("c",)].value.start == Position(3, 4)


def test_a_byte_order_mark_takes_no_column() -> None:
    assert read("\ufeffa: 1").places[("a",)].value.start == Position(1, 4)


def test_windows_line_ends_change_nothing() -> None:
    text = "a: 1\nb:\n  - x # y\n  - |\n    t\n    u\n"
    unix, windows = read(text), read(text.replace("\n", "\r\n"))
    assert windows.value == unix.value
    assert windows.comments == unix.comments
    assert windows.places[("b", 0)] == unix.places[("b", 0)]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\nb: 2\na: 3", "3:1", "`a` is already set on line 1; many programs silently use the last value"),
        ("a: {b: 1, 'b': 2}", "1:11", "`b` is already set on line 1; many programs silently use the last value"),
        ("a: {<<: {b: 1}}", "1:5", "merge keys (<<) are refused"),
        ("a: !foo 1", "1:4", "the tag !foo is refused"),
        ("a: !!str 1", "1:4", "the tag !!str is refused"),
        ("a: 1\n1: 2", "2:1", "1 is not a key: keys are text"),
        ("true: 2", "1:1", "true is not a key: keys are text"),
        ("? [a]\n: 2", "1:3", "a list or mapping is not a key: keys are text"),
        ("a: &x b\n*x : 2", "2:1", "an alias is not a key: keys are text"),
        ("a: 1\n---\nb: 2", "2:1", "a second document begins here"),
        ("a: *x", "1:4", "the alias *x names no anchor above it"),
        ("a: &x [*x]", "1:8", "the alias *x is inside the value that it refers to"),
        ("a:\n\tb: 1", "2:1", "a tab in place of spaces"),
        ("a: @b", "1:4", "a value cannot start with `@`"),
        ("a: b: c", "1:5", "not YAML: unexpected second `:`"),
        ("a: [1, 2", "1:4", "not YAML: a `[` is not closed"),
        ("a: 'b\nc: d", "1:4", "not YAML: a quote is not closed"),
        ("a: \x00", "1:4", "a NUL character is not allowed in YAML"),
        ("é: \x1b", "1:4", "the character U+001B is not allowed in YAML"),
        ("a: b\rc: d", "1:5", "a carriage return without a line feed is not allowed in YAML"),
        ("a: b\u2028", "1:5", "a line separator (U+2028) is not allowed in YAML"),
        ("a: \ud800", "1:4", "the character U+D800 is not allowed in YAML"),
        ("%A\n" * 9 + "---", "9:1", "more than 8 lines begin with %"),
    ],
)  # fmt: skip
def test_refusals_have_a_message_and_a_place(text: str, place: str, words: str) -> None:
    document, problems = parse(Source("t.yaml", text))
    finding = to_finding(problems[0], document, Source("t.yaml", text))
    assert (str(finding.span), finding.message) == (f"t.yaml:{place}", words)
    assert finding.rule == ("duplicate-key" if "already set" in words else "unreadable-yaml")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a: \xff", "the byte 0xFF here is not UTF-8"),
        ("é: ".encode() + b"\xc3(", "the byte 0xC3 here is not UTF-8"),
        ("a: 1".encode("utf-16"), "the file is encoded in UTF-16 or UTF-32"),
        (b"a: " + b"x" * LARGEST, "the file is larger than 1024 KiB, the maximum"),
    ],
)
def test_bytes_that_are_not_text_are_reported(data: bytes, words: str) -> None:
    document, problems = parse(decode("t.yaml", data))
    assert document is None
    assert [problem.message for problem in problems] == [words]


def test_the_first_of_two_equal_keys_is_kept_and_both_are_shown() -> None:
    source = Source("t.yaml", "a: 1\nb: 2\na: 3\n")
    document, problems = parse(source)
    assert document is not None
    assert document.value == {"a": 1, "b": 2}
    finding = to_finding(problems[0], document, source)
    assert [str(span) for span, _ in finding.related] == ["t.yaml:1:1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * (MAX_DEPTH + 1), "nested deeper than 32 levels"),
        ("[" * 500_000, "nested deeper than 32 levels"),
        ("- " * 100_000, "nested deeper than 32 levels"),
        ("? " * 100_000, "nested deeper than 32 levels"),
        ("- &a " + "[" * 20 + "]" * 20 + "\n- " + "[" * 20 + "*a" + "]" * 20, "nested deeper than 32 levels"),
        ("[" + "1," * MAX_NODES + "]", "more than 20000 values in one document"),
        ("a: &a x\nb: [" + "*a," * (MAX_ALIASES + 1) + "]", "more than 200 aliases in one file"),
        ("a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
            f"{n}: &{n} [{f'*{o},' * 9}]\n" for o, n in zip("abcde", "bcdef", strict=True)
        ), "more than 20000 values in one document"),
    ],
    ids=["depth", "brackets", "dashes", "questions", "alias depth", "nodes", "aliases", "billion laughs"],
)  # fmt: skip
def test_each_limit_has_its_own_words(text: str, words: str) -> None:
    document, problems = parse(Source("t.yaml", text))
    assert document is None
    assert [problem.message for problem in problems] == [words]


def test_within_the_limits_nothing_is_refused() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH).value
    assert len(read("[" + "1," * (MAX_NODES - 1) + "]").value) == MAX_NODES - 1
    assert read("a: &a x\nb: [" + "*a," * MAX_ALIASES + "]").value["b"] == ["x"] * MAX_ALIASES


def test_an_alias_is_a_copy_with_a_place_of_its_own() -> None:
    document = read("a: &x {b: 1}\nc: *x\n")
    assert document.value == {"a": {"b": 1}, "c": {"b": 1}}
    assert document.value["a"] is not document.value["c"]
    assert text_at(document, ("a",)) == "{b: 1}"
    assert text_at(document, ("c",)) == "*x"
    assert text_at(document, ("c", "b")) == "1"


def test_comments_are_found_where_they_are_and_nowhere_else() -> None:
    text = "# top\na: 'x # no' # one\nb: |  # two\n  c # no\n # three\nd: e#no\nf: [1, # four\n 2]\n#end"
    comments = read(text).comments
    assert [comment.text for comment in comments] == ["# top", "# one", "# two", "# three", "# four", "#end"]
    assert [comment.alone for comment in comments] == [True, False, False, True, False, True]


HALF_WRITTEN = [
    *(
        "a: {b: ",
        "a: [1, ",
        "a: {b: 1, c: d: 2}",
        "a:\n  b: 1\n c: 2",
        "- a\n b: 1",
        "a: |x\n  b",
        "a: 'b' c",
        "a: & b",
    ),
    *(
        "  a: 1\nb: 2",
        "a: {b}}",
        "a: ,",
        "a: 1\n\tb: 2",
        "a\tb: {c: 1}",
        "a: {b? c: 1}",
        "a: {b:, c: 1}",
        'a: "b\n',
        "? a\n b",
    ),
]


def problems_of(text: str) -> list[Problem]:
    return parse(Source("t.yaml", text))[1]


def test_the_parser_in_python_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the playground, and where PyYAML was built without libyaml: also of texts that are half written, and of those
    that only one of both reads."""
    text = "a: &x [1, 'é']  # c\nb: {c: *x}\nd: |\n   t\n"
    fast, unread = read(text), [problems_of(one) for one in HALF_WRITTEN]
    assert len({problem.message for problems in unread for problem in problems}) >= 8
    monkeypatch.setitem(__import__("sys").modules, "yaml.cyaml", None)
    slow = read(text)
    assert (slow.value, slow.places, slow.comments) == (fast.value, fast.places, fast.comments)
    assert [problems_of(one) for one in HALF_WRITTEN] == unread


def test_a_pipe_that_nobody_writes_to_is_empty_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert read_bytes(tmp_path / "pipe.yaml") == b""


def test_no_more_of_an_endless_file_is_read_than_shows_that_it_is_too_large() -> None:
    assert len(read_bytes("/dev/zero")) == LARGEST + 1


@pytest.mark.parametrize("count", [MAX_DEPTH + 1, 900, 1500, 100_000])
def test_the_first_bracket_too_deep_is_named_wherever_the_parser_stops(count: int) -> None:
    """Releases of libyaml stop at a depth of their own, or read to the end; other parsers have their own."""
    for before, column in (("", MAX_DEPTH + 1), ("a: ", MAX_DEPTH + 3)):
        document, (problem,) = parse(Source("t.yaml", before + "[" * count))
        assert document is None and problem.span is not None
        assert (problem.message, problem.span.start.column) == ("nested deeper than 32 levels", column)


@pytest.mark.parametrize("other", ["", "1: 3\n", "b: !x 3\n", "? [x]\n: 3\n"])
def test_a_repeated_key_has_the_path_of_the_first_whatever_else_is_wrong(other: str) -> None:
    _, problems = parse(Source("spec.yaml", f"c: {{a: 1,\n a: 2}}\n{other}"))
    assert [(one.rule, one.path) for one in problems] == [("duplicate-key", ("c", "a"))] + [
        ("unreadable-yaml", ())
    ] * bool(other)
