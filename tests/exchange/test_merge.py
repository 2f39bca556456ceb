"""A reading is written into a spec where it belongs; every character that was there stays."""

from __future__ import annotations

import pytest
from hypothesis import given as drawn
from hypothesis import strategies

from clusterspec.document import parse
from clusterspec.exchange.documents import flow_text, yaml_scalar
from clusterspec.exchange.import_result import (
    FileLine,
    FormatError,
    ImportBuilder,
    ImportedValue,
    ImportResult,
    combined_result,
)
from clusterspec.exchange.merge import _insertion_groups, merge, new_spec, spec_tree
from clusterspec.records import replace
from clusterspec.source import Source
from tests.effort import thorough
from tests.spec_keys import unknown_keys


def reading(
    *entries: tuple[str, object], appended: tuple[tuple[str, object], ...] = (), file: str = "log.txt"
) -> ImportResult:
    builder = ImportBuilder("test", file)
    for line, (path, value) in enumerate(entries, 1):
        builder.set(path, value, line)  # type: ignore[arg-type]
    for path, value in appended:
        builder.append(path, value, 9)  # type: ignore[arg-type]
    return builder.reading()


def value_of(text: str) -> object:
    document, problems = parse(Source("s", text))
    assert document is not None
    assert not problems
    return document.value


SPEC = """\
# a design
clusterspec: 1   # the version
cluster:
  platform: dgx-h100   # as ordered
  scale_up: {domain: 8}   # flow

  # the fabric
  scale_out:
    nics_per_node: 8
workload:
layout: {}
"""


def test_inserted_keys_change_nothing_else() -> None:
    merged = merge(
        SPEC,
        reading(
            ("cluster.nodes", 64),
            ("cluster.scale_up.topology", "switched"),
            ("cluster.scale_out.technology", "infiniband-ndr"),
            ("workload.model.layers", 80),
            ("layout.tp", 8),
            ("procurement.quoted_total", 12.5),
        ),
        "spec.yaml",
    )
    assert (
        merged.text
        == """\
# a design
clusterspec: 1   # the version
cluster:
  platform: dgx-h100   # as ordered
  scale_up: {domain: 8, topology: switched}   # flow

  # the fabric
  scale_out:
    nics_per_node: 8
    technology: infiniband-ndr  # log.txt:3
  nodes: 64  # log.txt:1
workload:
  model:
    layers: 80  # log.txt:4
layout: {tp: 8}
procurement:
  quoted_total: 12.5  # log.txt:6
"""
    )


def test_conflicting_values_of_the_spec_are_kept_and_listed() -> None:
    merged = merge(SPEC, reading(("cluster.scale_out.nics_per_node", 4), ("cluster.platform", "dgx-h100")), "s")
    assert merged.text == SPEC
    assert [held for _, held in merged.kept] == ["cluster.scale_out.nics_per_node is 8 on line 9"]
    assert len(merged.same) == 1


def test_a_rate_in_other_words_is_the_same_rate() -> None:
    text = "clusterspec: 1\ncluster:\n  scale_out:\n    nic_bandwidth: 50 GB/s\n"
    merged = merge(text, reading(("cluster.scale_out.nic_bandwidth", "400 Gb/s")), "s")
    assert (len(merged.same), merged.kept) == (1, ())


def test_a_scalar_where_a_mapping_is_needed_is_kept() -> None:
    text = "clusterspec: 1\nworkload:\n  model: llama-3.1-70b\n"
    merged = merge(text, reading(("workload.model.layers", 80)), "s")
    assert merged.text == text
    assert "workload.model is llama-3.1-70b on line 3" in merged.kept[0][1]


@pytest.mark.parametrize(
    "before", ["", "measured: []\n", "measured:\n  - {log: a}   # first\n", "measured: [{log: a}]\n"]
)
def test_items_are_appended_to_any_form_of_list_once(before: str) -> None:
    item = {"collective": "all-reduce", "size": "8 GiB"}
    text = "clusterspec: 1\n" + before
    once = merge(text, reading(appended=(("measured", item),)), "s")
    held = value_of(once.text)["measured"]  # type: ignore[index]
    assert held[-1] == item
    assert len(held) == 1 + ("log" in before)
    assert merge(once.text, reading(appended=(("measured", item),)), "s").text == once.text


def test_line_ends_stay_what_they_were() -> None:
    merged = merge("clusterspec: 1\r\ncluster:\r\n  nodes: 2\r\n", reading(("cluster.platform", "dgx-h100")), "s")
    assert merged.text == "clusterspec: 1\r\ncluster:\r\n  nodes: 2\r\n  platform: dgx-h100  # log.txt:1\r\n"


def test_an_alias_is_not_written_through() -> None:
    text = "clusterspec: 1\ncluster: &c\n  nodes: 2\nlayout: *c\n"
    with pytest.raises(FormatError, match="cannot be inserted"):
        merge(text, reading(("layout.tp", 8)), "s")


@pytest.mark.parametrize("text", ["- a\n", "a: [\n", "x: 1\nx: 2\n", "\x00"])
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="cannot be read as a spec"):
        merge(text, reading(("cluster.nodes", 1)), "s")


def test_a_new_spec_holds_the_reading_and_names_its_source() -> None:
    found = reading(("workload.model.layers", 80), ("cluster.nodes", 4), appended=(("measured", {"ranks": 8}),))
    text = new_spec(found)
    assert value_of(text) == {"name": "imported", **spec_tree(found)}
    assert "layers: 80  # log.txt:1" in text


def test_two_files_that_differ_keep_the_first_and_list_the_second() -> None:
    one, other = reading(("cluster.nodes", 4)), reading(("cluster.nodes", 8), ("layout.tp", 2), file="b.txt")
    both = combined_result([one, other])
    assert spec_tree(both)["cluster"] == {"nodes": 4}
    assert spec_tree(both)["layout"] == {"tp": 2}
    assert [(each.what, each.why) for each in both.unknown] == [
        ("cluster.nodes: 8", "log.txt:1 states 4, which is kept")
    ]


@thorough
@drawn(strategies.text(strategies.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=30))
def test_any_text_comes_back_from_yaml(text: str) -> None:
    printable = "".join(c for c in text if c.isprintable())
    assert value_of(f"key: {yaml_scalar(printable)}\n") == {"key": printable}


VALUES = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers(-(10**9), 10**9)
    | strategies.text("aZ09:#-{}[], \"'", max_size=8),
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(strategies.text("ab:# -", max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@drawn(VALUES)
def test_any_value_comes_back_from_its_flow_form(value: object) -> None:
    assert value_of(f"key: {flow_text(value)}\n") == {"key": value}  # type: ignore[arg-type]


def test_every_key_that_is_named_is_a_key_of_the_spec() -> None:
    assert unknown_keys("exchange") == []


def test_a_new_spec_has_its_sections_in_the_order_of_the_format_whatever_was_read_first() -> None:
    builder = ImportBuilder("test", "a.txt")
    for path in ("procurement.currency", "layout.tp", "workload.model", "cluster.nodes"):
        builder.set(path, {"layout.tp": 8, "cluster.nodes": 4}.get(path, "USD"), 1)
    heads = [line.rstrip(":") for line in new_spec(builder.reading()).splitlines() if line[:1].isalpha()]
    assert heads == ["clusterspec: 1", "name: imported", "cluster", "workload", "layout", "procurement"]


def test_consecutive_items_of_one_list_are_inserted_together() -> None:
    keys = {name: ImportedValue((name,), 1, FileLine("a")) for name in ("a", "b")}
    items = [ImportedValue(("list",), number, FileLine("a"), appended=True) for number in range(4)]
    other = ImportedValue(("other",), 9, FileLine("a"), appended=True)
    replaced = replace(items[0], appended=False)
    values = [keys["a"], items[0], items[1], items[2], other, items[3], keys["b"], keys["b"], items[0], replaced]
    groups = _insertion_groups(values)
    assert [len(group) for group in groups] == [1, 3, 1, 1, 1, 1, 1, 1]
    assert [value for group in groups for value in group] == values, "in their order"
    assert _insertion_groups([]) == []
