"""What is read as plain YAML is read as libyaml reads it; what may mean anything else is left to PyYAML."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.document import plain, values
from clusterspec.document.plain import Event, pyyaml_events
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import page
from tests.cli.conftest import ROOT
from tests.effort import each, sampled

ENTRIES = sorted((ROOT / "catalog").glob("*/*.yaml"))
FILES = [*sorted((ROOT / "examples").glob("*.yaml")), *sampled(ENTRIES, len(ENTRIES) // 2)]
PAGES = [page(name) for name in RULES]
TEXTS = sorted({each.text for page in PAGES for each in (*page.fires, *page.silent) if not each.prose})
SMALL = [text for text in TEXTS if len(text) < 900]
PIECES = [*" \n:-,[]{}#'\"?&*!|>%@`.aA01é\\", "  ", "\n  ", ": ", "- ", "# ", " #", "\n- ", "{}", "[]", '""', "''"]
PIECES += ["---", "...", "<<", "key: ", "\n\n", "~", "null", "\u00a0", ".5", "-1", "a: ", "x: {", "b", "c:", ", "]


def shape(events: list[Event], text: str) -> list[tuple[object, ...]]:
    """What the composer uses of events: a block collection has no end of its own."""
    found: list[tuple[object, ...]] = []
    flow: list[bool] = []
    for one in events:
        if one.kind in {"mapping", "list"}:
            flow.append(text[one.start : one.start + 1] in {"{", "["})
            found.append((one.kind, one.start))
        elif one.kind == "end":
            found.append(("end", one.end if flow.pop() else None))
        elif one.kind != "document":
            found.append((one.kind, one.start, one.end, one.value, one.bare, one.block, one.anchor, one.tag))
    return found


def agrees(text: str) -> bool:
    """Whether a text is plain; fails where it is, and libyaml reads it otherwise; so for its value alone."""
    events = plain.plain_events(text)
    agrees_in_value(text)
    if events is None:
        return False
    try:
        expected = shape(list(pyyaml_events(text)), text)
    except yaml.YAMLError as fault:
        raise AssertionError(f"read as plain, but it is no YAML: {fault}\n{text!r}") from fault
    assert shape(events, text) == expected, text
    return True


def agrees_in_value(text: str) -> None:
    """Fails where the value of a text is read line by line, and libyaml reads another one."""
    try:
        value = values.value_of_lines(text)
    except plain.NotPlainError:
        return
    try:
        expected = values.value_of_events(pyyaml_events(text))
    except yaml.YAMLError as fault:
        raise AssertionError(f"read line by line, but it is no YAML: {fault}\n{text!r}") from fault
    assert repr(value) == repr(expected), text


@each("length", (1, 2, 199, 998, 999, 1000, 1023, 1024, 1025, 1026))
def test_a_key_of_any_length_is_read_as_libyaml_reads_it(length: int) -> None:
    words = ("long " * length)[: length - 1] + "k"
    for key in ("k" * length, words):
        assert agrees(f"{key}: 1\nother: 2\n") is (length < 1000)


@each("text", ("1.inf", ".inf", "-.Inf", "+.INF", ".nan", ".NaN", "1e3", "1.", "+.5", "3f", "7 n", ".5 N", "0x1F", "-"))
def test_a_scalar_that_starts_as_a_number_has_the_value_of_its_event(text: str) -> None:
    agrees_in_value(f"a: {text}\nb: {{c: {text}}}\n")


@each("path", FILES)
def test_every_example_and_catalog_entry_is_plain(path: object) -> None:
    assert agrees(path.read_text("utf-8"))  # type: ignore[attr-defined]


def test_nearly_every_spec_of_a_page_is_plain() -> None:
    some = sampled(TEXTS, len(TEXTS))
    assert len(some) > 100
    assert sum(map(agrees, some)) > 0.99 * len(some)


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
def test_generated_texts_are_read_alike_by_both_parsers(text: str) -> None:
    agrees(text)


@given(
    st.sampled_from(SMALL),
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 3), st.sampled_from(["", *PIECES])), min_size=1, max_size=3),
)
def test_changed_specs_are_read_alike_by_both_parsers(text: str, changes: list[tuple[int, int, str]]) -> None:
    for at, removed, piece in changes:
        text = text[:at] + piece + text[at + removed :]
    agrees(text)


@each(
    "text",
    [
        "",
        "# only a comment\n",
        "a:\n",
        "a: b\n  c\n",
        "a: 'b\n  c'\n",
        "a: |\n  b\n",
        "a: &x b\n",
        "a: !!str b\n",
        "a: *x\n",
        'a: "\\n"\n',
        "a:\tb\n",
        "a: b\r\n",
        "--- \na: b\n",
        "a: b: c\n",
        "? a\n: b\n",
        "a: [b: c]\n",
        "a: [b,]\n",
        "a: {b}\n",
        "a: {b: }\n",
        "a: [b\nc]\n",
        "a:\n- b\n - c\n",
        "a:\n- b:\n- c\n",
        "- - a\n",
        "'a': b\n",
        "a: - b\n",
        "a: @b\n",
    ],
)
def test_ambiguous_scalars_are_left_to_the_full_parser(text: str) -> None:
    assert plain.plain_events(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "a:\n- b\n- c\nd: e\n",
        "a:\n  b:\n  - c\n  - d: e\n    f: g\n  h: i\nj: k\n",
        "- a:\n  - b\n  - c\n  d:\n  - {e: f}\n- g\n",
        "a: # why\n\n# list\n- b\n",
        "a:\n- b:\n  - c:\n    - d\n- e\n",
    ],
)
def test_a_list_at_the_column_of_its_key_is_plain(text: str) -> None:
    assert agrees(text)


@each(
    ("text", "value"),
    [
        ("a:\n  - 1\n", {"a": [1]}),
        ("a:\n- 1\n- 2\n", {"a": [1, 2]}),
        ("- a:\n  - 1\n", [{"a": [1]}]),
        ("- a:\n    b: 1\n", [{"a": {"b": 1}}]),
        ("a:\n  b:\n  - 1\n", {"a": {"b": [1]}}),
        ("a:\n  - b:\n    - 1\n    c: 2\n", {"a": [{"b": [1], "c": 2}]}),
        *((text, None) for text in ("a:\nb: 1\n", "- a:\n- b: 1\n", "- a:\n  b: 1\n", "a:\n")),  # without a value
        *((text, None) for text in ("a:\n  b:\n- 1\n", "a:\n  b:\n c: 1\n", "a:\n  b:\n  c: 1\n")),
    ],
)
def test_the_value_after_a_key_is_read_line_by_line_where_it_is_further_in(text: str, value: object) -> None:
    if value is None:
        with pytest.raises(plain.NotPlainError):
            values.value_of_lines(text)
    else:
        assert values.value_of_lines(text) == value
        agrees_in_value(text)


@each(
    ("text", "value"),
    [
        ("a: [1, 2]\n", {"a": [1, 2]}),
        ("a: [ 1 , [2, b] ] # why\n", {"a": [1, [2, "b"]]}),
        ("a: {b: [1], c: 2}\n", {"a": {"b": [1], "c": 2}}),
        ("a: { b: {c: [], d: {}}, e: 'f, g' }\n", {"a": {"b": {"c": [], "d": {}}, "e": "f, g"}}),
        ("- {a: [x, 'it''s'], b: \"c\"}\n", [{"a": ["x", "it's"], "b": "c"}]),
        *((text, None) for text in ("a: [1\n", "a: [1] 2\n", "a: [[1] [2]]\n", "a: {b: [1] c: 2}\n")),
        *((text, None) for text in ("a: {b: [1], b: 2}\n", "a: {b: [1], c}\n", "a: [1]# b\n")),
    ],
)
def test_collections_of_one_line_are_read_line_by_line(text: str, value: object) -> None:
    if value is None:
        with pytest.raises(plain.NotPlainError):
            values.value_of_lines(text)
    else:
        assert values.value_of_lines(text) == value
        agrees_in_value(text)


LINES = st.tuples(st.integers(0, 3), st.sampled_from(["a:", "b: 1", "- c", "- d: 2", "- e:", "f: [g]", "# h", ""]))


@given(st.lists(LINES, max_size=9))
def test_lists_and_mappings_of_any_indentation_are_read_alike(lines: list[tuple[int, str]]) -> None:
    text = "".join(f"{' ' * indent}{line}\n" for indent, line in lines)
    agrees(text)
    agrees_in_value(text)


def test_nesting_beyond_what_is_accepted_is_not_plain() -> None:
    assert plain.plain_events("a: " + "[" * 5000 + "]" * 5000) is None
